"""The speed of exploring threads and locks, compiled and interpreted: ``python benchmarks/locks.py``.

Each measurement is a separate process, and includes loading the compiled search. The two engines alternate. The table has the
medians of their processor time, and of the peak memory beyond that of the process before it explores. Both must find the same.
"""

from __future__ import annotations

import multiprocessing
import resource
import statistics
import time
from collections.abc import Mapping
from itertools import permutations
from pathlib import Path
from typing import NamedTuple

import click
from rich.console import Console
from rich.table import Table

from schedproof.model.locks import Locks, parse, read
from schedproof.proofs.locks.explore import explore_all

MERGE = Path(__file__).parents[1] / "model" / "systems" / "yunikorn_merge"

NEVER = 1 << 60
"""A state count that is never reached, so that the search stays interpreted."""


class Counts(NamedTuple):
    """The result of one measurement; ``memory`` is in KiB."""

    complete: bool
    problems: int
    states: int
    seconds: float
    memory: int


def threads(count: int, server: bool) -> Locks:
    """Threads with six acquisitions over three locks, each in another order; with ``server``, one more that serves the first."""
    text = "objects: {a: mutex, b: mutex, c: mutex}\n" + ("channels: {asked: 1}\n" if server else "") + "threads:\n"
    for n, order in enumerate(list(permutations("abc"))[:count]):
        steps = [f"lock {lock}: []" for lock in order * 2] + (["send asked"] if server and n == 0 else [])
        text += f"  thread{n + 1}:\n" + "".join(f"    - {step}\n" for step in steps)
    return parse(text + ("  server:\n    - serve: [receive asked, lock a: []]\n" if server else ""), "made.yaml")


class Case(NamedTuple):
    """Lock files that are explored in turn; with ``reduced``, the interpreted search also takes releases first."""

    locks: list[Locks]
    reduced: bool = True


CASES: Mapping[str, Case] = {
    "six threads, six acquisitions over three locks": Case([threads(6, False)]),
    "five, and one that serves": Case([threads(5, True)]),
    "five, and one that serves; interpreted: all steps": Case([threads(5, True)], reduced=False),
    "deadlocks of YuniKorn's merge": Case([read(file) for file in sorted((MERGE / "deadlocks").glob("*.yaml"))]),
    "designs of YuniKorn's merge": Case([read(file) for file in sorted((MERGE / "locks").glob("*.yaml"))]),
}


def measure(name: str, pays: int | None) -> Counts:
    """One measurement, in this process."""
    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    reduced = CASES[name].reduced or pays is None
    explorations = [explore_all(locks, reduced=reduced, pays=pays) for locks in CASES[name].locks]
    seconds = time.process_time() - start
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    problems = sum(len(each.problems) for each in explorations)
    return Counts(
        all(each.complete for each in explorations),
        problems,
        sum(each.states for each in explorations),
        seconds,
        memory,
    )


@click.command()
@click.option("--runs", type=click.IntRange(1), default=3, show_default=True, help="Of each way.")
def main(runs: int) -> None:
    """Measure the exploration of threads, and print the ratios."""
    table = Table("case", "states", "s", "MiB", "states, compiled", "s", "MiB", "times faster")
    for name, case in CASES.items():
        by_reduction: dict[int | None, list[Counts]] = {NEVER: [], None: []}
        for _ in range(runs):
            for pays, of in by_reduction.items():
                with multiprocessing.get_context("spawn").Pool(1) as pool:
                    of.append(pool.apply(measure, (name, pays)))
        same = {each[: 3 if case.reduced else 2] for of in by_reduction.values() for each in of}
        assert len(same) == 1, f"{name}: they find different things"
        row, seconds = [], []
        for of in by_reduction.values():
            seconds.append(statistics.median(each.seconds for each in of))
            memory = statistics.median(each.memory for each in of) / 1024
            row += [f"{of[0].states:,}", f"{seconds[-1]:.2f}", f"{memory:.0f}"]
        table.add_row(name, *row, f"{seconds[0] / seconds[1]:.1f}")
    Console(width=160).print(table)


if __name__ == "__main__":
    main()
