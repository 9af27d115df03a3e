"""How the commands of a page are run: in a shell, or, which is cheaper, in a copy of a process that has schedproof loaded."""

from __future__ import annotations

import multiprocessing
import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import settings

from schedproof.cli import main
from tests.docs.pages import is_plain

COPIES = multiprocessing.get_context("forkserver")
"""Of a process without threads: one that has threads, as this one may have, cannot be copied safely."""

LOADED = ["schedproof.cli.app", "schedproof.testing.collected", "schedproof.testing.driver", "schedproof.testing"]
"""No more: Hypothesis draws from the constants of modules that are loaded, and a page shows what it finds."""

COPIES.set_forkserver_preload([*LOADED, "z3", "numba", "networkx", "jinja2"])

SCRIPTS = Path(sys.executable).parent

Ended = tuple[int, str, str]
"""Exit code, standard output, standard error."""


def in_a_shell(line: str, folder: Path) -> Ended:
    """Runs a command in bash, with our programs first in PATH."""
    path = f"{SCRIPTS}{os.pathsep}{os.environ['PATH']}"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    done = subprocess.run(
        ["bash", "-c", line], cwd=folder, env={**environment, "PATH": path}, capture_output=True, text=True
    )
    return done.returncode, done.stdout, done.stderr


def in_a_copy(line: str, folder: Path) -> Ended:
    """As :func:`in_a_shell`; but ``schedproof`` and ``pytest`` are called in a copy of a process that has them loaded.

    That they are there as programs is seen in other tests: the README's, and that of xdist.
    """
    program, *arguments = shlex.split(line)
    if program not in ("schedproof", "pytest") or not is_plain(line):
        return in_a_shell(line, folder)
    out, err = folder.parent / "stdout", folder.parent / "stderr"
    child = COPIES.Process(target=call, args=(program, arguments, folder, out, err))
    child.start()
    child.join()
    assert child.exitcode is not None
    return child.exitcode, out.read_text(), err.read_text()


def call(program: str, arguments: Sequence[str], folder: Path, out: Path, err: Path) -> None:
    """What such a copy does: it becomes the program, as far as anybody can see."""
    os.chdir(folder)
    for number, file in ((1, out), (2, err)):
        os.dup2(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False)  # noqa: SIM115
    for name in [name for name in os.environ if name.startswith("PYTEST_")]:
        del os.environ[name]
    if program == "pytest":
        settings.register_profile("few", max_examples=15, derandomize=True)
        settings.load_profile("few")
        options = [f"-pno:{plugin}" for plugin in ("cacheprovider", "xdist", "anyio", "hypothesispytest")]
        options += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # of what is loaded already
        sys.exit(int(pytest.main([*arguments, *options])))
    sys.exit(int(main(arguments)))
