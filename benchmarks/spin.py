"""SPIN on a Promela model, timed, for comparison with the explorations."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

IS_INSTALLED = all(shutil.which(tool) for tool in ("spin", "gcc"))
"""Whether SPIN and its compiler are installed."""

DEPTH = 100_000
"""The initial depth limit of SPIN's search; a larger stack costs time."""


@dataclass(frozen=True)
class Spun:
    """The result of SPIN, and its times.

    Args:
        states: stored states.
        transitions: taken transitions.
        search: seconds of the search.
        whole: seconds with generating and compiling the verifier.
        bytes_per_state: without the stack of its depth-first search.
    """

    states: int
    transitions: int
    search: float
    whole: float
    bytes_per_state: float


def spin(text: str, folder: Path, states: int, *, defines: Sequence[str] = (), reduced: bool = False) -> Spun:
    """SPIN's depth-first search for safety, with the fastest options of its manual.

    Args:
        states: the expected number of states, from which table and stack get suitable sizes.
        defines: definitions for the preprocessor.
        reduced: use partial-order reduction.

    Raises:
        RuntimeError: SPIN fails.
    """
    (folder / "model.pml").write_text(text, "utf-8")
    flags = ["-O3", "-DSAFETY", "-DVECTORSZ=8192", *([] if reduced else ["-DNOREDUCE"])]
    start = time.perf_counter()
    _run(["spin", *(f"-D{d}" for d in defines), "-a", "model.pml"], folder)
    _run(["gcc", *flags, "-w", "-o", "pan", "pan.c"], folder)
    made = time.perf_counter() - start
    depth, table = DEPTH, max(18, states.bit_length())
    while True:
        start = time.perf_counter()
        out = _run(["./pan", f"-m{depth}", f"-w{table}"], folder)
        search = time.perf_counter() - start
        if "max search depth too small" not in out:
            break
        depth *= 10
    if "errors: 0" not in out:
        raise RuntimeError(f"SPIN does not come to an end:\n{out}")
    stored, matched = (int(_number(rf"^ *(\d+) states, {what}", out)) for what in ("stored", "matched"))
    memory = (
        float(_number(r"([\d.]+)\tactual memory usage for states", out))
        if "actual memory" in out
        else float(_number(r"([\d.]+)\tequivalent memory usage for states", out))
    )
    places = float(_number(r"([\d.]+)\tmemory used for hash table", out))
    return Spun(stored, stored + matched - 1, search, made + search, (memory + places) * (1 << 20) / stored)


def _run(command: Sequence[str], folder: Path) -> str:
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, env={**os.environ, "LC_ALL": "C"}
    )
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} fails:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def _number(pattern: str, text: str) -> str:
    match = re.search(pattern, text, re.MULTILINE)
    if match is None:
        raise RuntimeError(f"SPIN says nothing like {pattern!r}:\n{text}")
    return match[1]
