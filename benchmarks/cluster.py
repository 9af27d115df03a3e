"""Exploration by workers beside one process: ``python benchmarks/cluster.py``.

Each row is the median of several runs without symmetry, of the search alone: workers have started, and code is compiled.
Processor time is that of the command and of all processes that it has started; a busy machine changes it less than the seconds.
A second table says whose it is: of workers in their own code and in the system's, of the command, and of Ray's processes. The row of
threads does the same exchange without Ray. So what it takes more than one process is the price of two parts on this machine.
The table also has the mean time that a process with states waited for a processor that others used, and that it slept: for buckets and
turns. On a machine without other work the search takes what is left without the former.

How fast two of them can be depends on what two processors of the machine share: memory, its caches, or a core. A crew that is ``beside another``,
as in ``--crew "one process" --crew "one process beside another"``, is measured while another process does the same search over and over.

With ``--memory`` states that do not fit go to files: ``python benchmarks/cluster.py --scope PodGroup=6,Cell=6 --memory 4G --runs 1``.
Large searches can be measured one by one, as ``--crew local:2``.
"""

from __future__ import annotations

import multiprocessing
import os
import statistics
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path

import click
import psutil
from rich.console import Console
from rich.table import Table

from schedproof.cli import scopes
from schedproof.cli.sizes import Size
from schedproof.model.registry.discovery import system
from schedproof.model.semantics import Instance, instances
from schedproof.proofs.cluster import Address, RemoteWorkers, connected
from schedproof.proofs.cluster.crew import RemotePart
from schedproof.proofs.compiled import Reached, explore
from schedproof.proofs.exploration.limits import room


@dataclass(frozen=True)
class Measurement:
    """The search by one crew.

    Attributes:
        seconds, processor: the elapsed time and the processor time.
        memory: the greatest resident memory of one process with states, in bytes.
        shares: the processor time of the last run, by whose it is; and of its processes with states how long they waited and slept.
    """

    name: str
    seconds: float
    processor: float
    memory: int
    shares: Mapping[str, float]
    reached: Reached

    def row(self, alone: Measurement) -> list[str]:
        """The row of the table; ``alone`` is the crew that it is compared with."""
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
def crew(name: str) -> Iterator[tuple[RemoteWorkers | None, int]]:
    """The workers of a row, and the number of threads; None for those of this process."""
    number, _, unit = name.partition(" ")
    with nullcontext() if unit else connected(Address.of(name)) as workers:
        yield workers, int(number) if unit == "threads" else 1


@contextmanager
def beside(another: bool, instance: Instance) -> Iterator[None]:
    """If there is another process, it does the same search until the context ends."""
    if not another:
        yield
        return
    process = multiprocessing.get_context("fork").Process(target=search_forever, args=(instance,))
    process.start()
    try:
        yield
    finally:
        process.kill()
        process.join()


def search_forever(instance: Instance) -> None:
    """Searches over and over, until somebody ends the process."""
    while True:
        explore(instance)


def measured(name: str, instance: Instance, runs: int, memory: int | None) -> Measurement:
    """Measures the search by one crew, after a first search of a few states.

    Args:
        name: ``one process``, ``2 threads``, or the address of workers; of each also what is ``beside another`` process.
        memory: the bytes that all of its processes may use; None for no limit.
    """
    kind, another, _ = name.partition(" beside another")
    with beside(bool(another), instance), crew(kind) as (workers, threads):
        explore(instance, workers=workers, threads=threads, limit=100_000)
        seconds, processor, most, shares = [], [], 0, Counter[str]()
        if memory is not None:
            memory = memory // len(workers) if workers else room(memory, psutil.Process().memory_info().rss)
        for _ in range(runs):
            before, ready, began = processor_times(), scheduled(workers), time.perf_counter()
            reached = explore(instance, workers=workers, threads=threads, memory=memory)
            seconds.append(time.perf_counter() - began)
            shares = processor_times()
            shares.subtract(before)
            processor.append(sum(shares.values()))
            ran, waited = (after - b for after, b in zip(scheduled(workers), ready, strict=True))
            shares |= {WAITED: waited, SLEPT: seconds[-1] - ran - waited}
            most = max(most, *(each.memory_info().rss for each in family() if workers is None or is_worker(each)))
    return Measurement(name, statistics.median(seconds), statistics.median(processor), most, shares, reached)


def family() -> list[psutil.Process]:
    """This process and those that it has started, without one that others are measured beside."""
    others = {each.pid for each in multiprocessing.active_children()}
    return [psutil.Process(), *(each for each in psutil.Process().children(recursive=True) if each.pid not in others)]


def is_worker(process: psutil.Process) -> bool:
    """Whether a process is a worker of Ray that has states."""
    return "ray::Host" in " ".join(process.cmdline())


WORKERS, SYSTEM, COMMAND, RAY = SHARES = "workers", "of these in the system", "command", "Ray's processes"
"""Whose processor time it is."""

WAITED, SLEPT = "a process with states waited", "and slept"
COLUMNS_OF_TIME = (*SHARES, WAITED, SLEPT)


def scheduled(workers: RemoteWorkers | None) -> tuple[float, float]:
    """The mean seconds that main threads with states have run, and that they have waited for a processor, on Linux."""
    having = [each.pid for each in family() if workers is None or is_worker(each)][: len(workers) if workers else 1]
    texts = [Path(f"/proc/{pid}/schedstat").read_text().split() for pid in having]
    ran, waited = (sum(int(text[n]) for text in texts) / len(texts) / 1e9 for n in (0, 1))
    return ran, waited


def processor_times() -> Counter[str]:
    """The seconds of processor time of all processes, by whose it is."""
    times: Counter[str] = Counter(dict.fromkeys(SHARES, 0))
    for process in family():
        with suppress(psutil.Error):
            user, system = process.cpu_times()[:2]
            if is_worker(process):
                times[WORKERS] += user
                times[SYSTEM] += system
            else:
                times[COMMAND if process.pid == os.getpid() else RAY] += user + system
    return times


@click.command()
@click.option("--runs", type=click.IntRange(1), default=3, show_default=True, help="Of which the median is taken.")
@click.option("--scope", default="PodGroup=6,Cell=5", show_default=True, help="The objects of HiveD.")
@click.option("--memory", type=Size(), metavar="SIZE", help="Use at most SIZE; workers share it.")
@click.option(
    "--crew", "crews", multiple=True, metavar="CREW", default=("one process", "2 threads", "local:1", "local:2"),
    show_default=True, help="Measure CREW, and compare it with the first one; repeatable."
)  # fmt: skip
def main(runs: int, scope: str, memory: int | None, crews: tuple[str, ...]) -> None:
    """Measure the exploration of HiveD as written by one process, by threads, and by workers on this machine."""
    model = system("hived").variants["as-written"]
    [instance] = instances(model, scopes.scope(model, scope))
    table, whose = Table(*COLUMNS), Table("crew", *(f"{share}, s" for share in COLUMNS_OF_TIME))
    first: Measurement | None = None
    for each in (measured(name, instance, runs, memory) for name in crews):
        first = first or each
        table.add_row(*each.row(first))
        whose.add_row(each.name, *(f"{each.shares[share]:.1f}" for share in COLUMNS_OF_TIME))
        click.echo(" | ".join(each.row(first)), err=True)
    Console(width=200).print(table, whose)


if __name__ == "__main__":
    main()
