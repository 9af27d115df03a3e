"""How fast the compiled exploration is, and what it keeps: ``python benchmarks/explore.py``.

Each row is the median of several runs, all in one process; a table of the same size is read at random places beside it, which
no exploration with such a table can beat. Compiling is measured without the cache, and is not part of the rates.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import click
import numpy as np
from numba import njit
from rich.console import Console
from rich.table import Table
from schedproof.model.semantics import Instance, instances
from schedproof.model.systems import SYSTEMS
from schedproof.proofs import explore as interpreted
from schedproof.proofs.compiled import Reached, explore
from schedproof.proofs.compiled.llvm import Machine
from schedproof.proofs.compiled.steps import program

T = TypeVar("T")


@dataclass(frozen=True)
class Case:
    """A variant at a scope; of several topologies the one with the most states is taken."""

    system: str
    variant: str
    scope: dict[str, int]

    @property
    def name(self) -> str:
        """As the table has it."""
        at = " x ".join(str(n) for n in self.scope.values())
        return f"{self.system} {self.variant} {at}".strip()

    def instance(self) -> Instance:
        """The largest topology."""
        model = SYSTEMS[self.system].variants[self.variant]
        found = list(instances(model, {**model.default_scope, **self.scope}))
        return max(found, key=lambda i: explore(i).state_count) if len(found) > 1 else found[0]


CASES = [
    *(Case("hived", "as-written", {"PodGroup": g, "Cell": c}) for g, c in ((4, 4), (5, 4), (5, 5))),
    Case("beaker", "as-written", {}),
    Case("jobmon", "repaired", {}),
]
LARGE = [Case("hived", "as-written", {"PodGroup": 6, "Cell": 5})]


@njit(cache=True)
def _read(table: Any, count: int) -> int:
    """Reads at random places, none of which waits for another."""
    total, x, size = np.uint64(0), np.uint64(88172645463325252), np.uint64(len(table))
    for _ in range(count):
        x ^= x << np.uint64(13)
        x ^= x >> np.uint64(7)
        x ^= x << np.uint64(17)
        total += table[((x >> np.uint64(32)) * size) >> np.uint64(32)]
    return total


def random_reads(size: int) -> float:
    """Random reads a second of 8 bytes each from an array of ``size`` bytes."""
    table, count = np.ones(max(1, size // 8), np.uint64), 20_000_000
    _read(table, 1000)
    return count / timed(lambda: _read(table, count))[0]


def timed(work: Callable[[], T]) -> tuple[float, T]:
    """How long it takes, and what comes of it."""
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def median(instance: Instance, threads: int, runs: int) -> tuple[float, Reached]:
    """The median time of some runs after a first one, which loads code, and what the last one found."""
    explore(instance, threads=threads)
    times = []
    for _ in range(runs):
        seconds, found = timed(lambda: explore(instance, threads=threads))
        times.append(seconds)
    return statistics.median(times), found


def compiling(instance: Instance) -> float:
    """How long it takes to compile an instance."""
    return timed(lambda: Machine([program(instance, instance.model.actions).steps], cached=False))[0]


def rows(cases: list[Case], runs: int) -> Iterator[list[str]]:
    """The table's rows, as they are measured."""
    for case in cases:
        instance = case.instance()
        compiled = compiling(instance)
        one, found = median(instance, 1, runs)
        two, _ = median(instance, 2, runs)
        seconds, slow = timed(lambda instance=instance: interpreted.explore(instance, symmetry=False, limit=20_000))
        rate = found.state_count / one
        reads = random_reads(found.parts[0].keys.nbytes)
        yield [
            case.name,
            f"{found.state_count:,}",
            f"{found.transition_count:,}",
            f"{compiled:.1f}",
            f"{one:.2f}",
            f"{rate:,.0f}",
            f"{one / two:.2f}",
            f"{rate / (len(slow.states) / seconds):,.0f}",
            f"{found.bytes_per_state:.1f}",
            f"{found.transition_count / one / reads:.0%}",
        ]


COLUMNS = [
    "system, variant, scope", "states", "transitions", "compile s", "one thread s", "states/s", "two threads, times as fast",
    "interpreted, times as fast", "bytes a state", "transitions of random reads",
]  # fmt: skip


@click.command()
@click.option("--runs", type=click.IntRange(1), default=5, show_default=True, help="Of which the median is taken.")
@click.option("--large", is_flag=True, help="Also what takes minutes and gigabytes.")
def main(runs: int, large: bool) -> None:
    """Measure the compiled exploration, in one thread and two, beside the interpreted one and the memory's own limit."""
    table = Table(*COLUMNS)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["SCHEDPROOF_CACHE"] = folder
        for row in rows(CASES + (LARGE if large else []), runs):
            table.add_row(*row)
            click.echo(" | ".join(row), err=True)
    Console(width=200).print(table)


if __name__ == "__main__":
    main()
