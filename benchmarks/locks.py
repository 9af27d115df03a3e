"""How fast threads and their locks are explored, compiled and interpreted: ``python benchmarks/locks.py``.

Each measurement is a process of its own, which includes loading the compiled search. Both ways alternate; the table has the medians
of their processor time, and what they need at most of memory beyond what the process has before it explores. Both must find the same.
"""

from __future__ import annotations

import multiprocessing
import resource
import statistics
import time
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import click
from rich.console import Console
from rich.table import Table

from schedproof.model.locks import Locks, parse, read
from schedproof.proofs.locks.explore import PAYS, explore_all

MERGE = Path(__file__).parents[1] / "model" / "systems" / "yunikorn_merge"

NEVER = 1 << 60
"""Interpreted throughout."""


class Found(NamedTuple):
    """What one measurement gives: of what was found, and what it took."""

    states: int
    moves: int
    complete: bool
    problems: int
    seconds: float
    memory: int


def threads(count: int, server: bool) -> Locks:
    """Threads with six acquisitions over three locks, beginning with different ones, and one that serves the first of them."""
    text = "objects: {a: mutex, b: mutex, c: mutex}\n" + ("channels: {asked: 1}\n" if server else "") + "threads:\n"
    for n in range(count):
        steps = [f"lock {'abc'[(n + k) % 3]}: []" for k in range(6)] + (["send asked"] if server and n == 0 else [])
        text += f"  thread{n + 1}:\n" + "".join(f"    - {step}\n" for step in steps)
    return parse(text + ("  server:\n    - serve: [receive asked, lock a: []]\n" if server else ""), "made.yaml")


CASES: Mapping[str, list[Locks]] = {
    "six threads, six acquisitions over three locks": [threads(6, False)],
    "the same with a thread that serves": [threads(6, True)],
    "deadlocks of YuniKorn's merge": [read(file) for file in sorted((MERGE / "deadlocks").glob("*.yaml"))],
    "designs of YuniKorn's merge": [read(file) for file in sorted((MERGE / "locks").glob("*.yaml"))],
}
"""Descriptions that are explored one after the other."""


def measure(name: str, pays: int) -> Found:
    """One measurement, in this process."""
    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    found = [explore_all(locks, pays=pays) for locks in CASES[name]]
    seconds = time.process_time() - start
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    problems = sum(len(each.problems) for each in found)
    states, moves = sum(each.states for each in found), sum(each.moves for each in found)
    return Found(states, moves, all(each.complete for each in found), problems, seconds, memory)


@click.command()
@click.option("--runs", type=click.IntRange(1), default=3, show_default=True, help="Of each way.")
def main(runs: int) -> None:
    """Measure the exploration of threads, and print the ratios."""
    table = Table("case", "states", "interpreted, s", "compiled, s", "ratio", "interpreted, MiB", "compiled, MiB")
    for name in CASES:
        found: dict[int, list[Found]] = {NEVER: [], PAYS: []}
        for _ in range(runs):
            for pays, of in found.items():
                with multiprocessing.get_context("spawn").Pool(1) as pool:
                    of.append(pool.apply(measure, (name, pays)))
        assert len({each[:4] for of in found.values() for each in of}) == 1, f"{name}: they find different things"
        slow, fast = (statistics.median(each.seconds for each in of) for of in found.values())
        memory = [f"{statistics.median(each.memory for each in of) / 1024:.0f}" for of in found.values()]
        table.add_row(name, f"{found[PAYS][0].states:,}", f"{slow:.2f}", f"{fast:.2f}", f"{slow / fast:.1f}", *memory)
    Console(width=160).print(table)


if __name__ == "__main__":
    main()
