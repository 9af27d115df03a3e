"""Exploration by workers beside one process: ``python benchmarks/cluster.py``.

Each row is the median of several runs without symmetry, of the search alone: workers have started, and code is compiled.
Processor time is that of the command and of all processes that it has started; a busy machine changes it less than the seconds.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass

import click
import psutil
from rich.console import Console
from rich.table import Table

from schedproof.model.registry.discovery import system
from schedproof.model.semantics import Instance, instances
from schedproof.proofs.cluster import Address, RemoteWorkers, connected
from schedproof.proofs.cluster.crew import RemotePart
from schedproof.proofs.compiled import Reached, explore


@dataclass(frozen=True)
class Measurement:
    """The search by one crew.

    Attributes:
        seconds, processor: the elapsed time and the processor time.
        memory: the greatest resident memory of one process with states, in bytes.
    """

    name: str
    seconds: float
    processor: float
    memory: int
    reached: Reached

    def row(self, alone: Measurement) -> list[str]:
        """The row of the table; ``alone`` is one process."""
        reached = self.reached
        sent = sum(part.tally.sent for part in reached.parts if isinstance(part, RemotePart))
        return [
            self.name,
            f"{reached.state_count:,}",
            f"{reached.transition_count:,}",
            f"{self.seconds:.1f}",
            f"{reached.state_count / self.seconds:,.0f}",
            f"{alone.seconds / self.seconds:.2f}",
            f"{self.processor:.1f}",
            f"{self.processor / alone.processor:.2f}",
            f"{sent / reached.transition_count:.1f}",
            f"{self.memory >> 20:,}",
        ]


COLUMNS = [
    "crew", "states", "transitions", "s", "states/s", "times as fast", "processor s", "times the processor time",
    "bytes sent a transition", "memory of a process, MiB",
]  # fmt: skip


@contextmanager
def crew(name: str) -> Iterator[RemoteWorkers | None]:
    """The workers of a row; None for one process."""
    with nullcontext() if name == "one process" else connected(Address.of(name)) as workers:
        yield workers


def measured(name: str, instance: Instance, runs: int) -> Measurement:
    """Measures the search by one crew, after a first search of a few states."""
    with crew(name) as workers:
        explore(instance, workers=workers, limit=100_000)
        seconds, processor, memory = [], [], 0
        for _ in range(runs):
            before, began = processor_time(), time.perf_counter()
            reached = explore(instance, workers=workers)
            seconds.append(time.perf_counter() - began)
            processor.append(processor_time() - before)
            memory = max(memory, *(each.memory_info().rss for each in family() if workers is None or is_worker(each)))
    return Measurement(name, statistics.median(seconds), statistics.median(processor), memory, reached)


def family() -> list[psutil.Process]:
    """This process and those that it has started."""
    return [psutil.Process(), *psutil.Process().children(recursive=True)]


def is_worker(process: psutil.Process) -> bool:
    """Whether a process is a worker of Ray that has states."""
    return "ray::Host" in " ".join(process.cmdline())


def processor_time() -> float:
    """The seconds of processor time of all processes."""
    total = 0.0
    for process in family():
        with suppress(psutil.Error):
            total += sum(process.cpu_times()[:2])
    return total


@click.command()
@click.option("--runs", type=click.IntRange(1), default=3, show_default=True, help="Of which the median is taken.")
@click.option("--groups", type=click.IntRange(1), default=6, show_default=True, help="Pod groups of HiveD.")
@click.option("--cells", type=click.IntRange(1), default=5, show_default=True, help="Cells of HiveD.")
@click.option(
    "--workers", type=click.IntRange(1), multiple=True, default=(1, 2), show_default=True, help="Workers; repeatable."
)
def main(runs: int, groups: int, cells: int, workers: tuple[int, ...]) -> None:
    """Measure the exploration of HiveD as written by one process, and by workers on this machine."""
    [instance] = instances(system("hived").variants["as-written"], {"PodGroup": groups, "Cell": cells})
    table = Table(*COLUMNS)
    alone = measured("one process", instance, runs)
    for each in (alone, *(measured(f"local:{n}", instance, runs) for n in workers)):
        table.add_row(*each.row(alone))
        click.echo(" | ".join(each.row(alone)), err=True)
    Console(width=200).print(table)


if __name__ == "__main__":
    main()
