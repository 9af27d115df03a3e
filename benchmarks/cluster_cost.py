"""A model of what an exploration by workers costs: ``python benchmarks/cluster_cost.py``.

It measures the processor time of all workers at several scopes of HiveD with 1, 2 and 4 workers on this machine. It fits

    processor seconds = transitions * (step + exchange * (1 - 1 / workers)) + depth * workers * turn

by least squares: ``step`` is the cost of a transition, ``exchange`` that of one whose target another worker owns, and ``turn`` that of a
worker at each depth. Then it measures searches of few states with up to 16 workers, whose time is that of the command, which hands out
the turns: ``call`` for each pair of workers and depth. A turn ends when a message is full, so full ones are calls too. Where processors
are free,

    seconds = processor seconds / workers + (depth * workers ** 2 + bytes sent / bytes of a message) * call

More workers than were measured are an extrapolation: it assumes equal shares, as fast a processor for each, and a network that carries
the bytes.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import click
import numpy as np
import psutil
from cluster import family, is_worker
from rich.console import Console
from rich.table import Table

from schedproof.model.registry.discovery import system
from schedproof.model.semantics import instances
from schedproof.proofs.cluster import Address, connected
from schedproof.proofs.cluster.crew import RemotePart
from schedproof.proofs.cluster.worker import BATCH
from schedproof.proofs.compiled import explore

BYTES_A_STATE, BYTES_A_WORD = 6 / 0.9, 8 / 0.65 + 8 / 6
"""Of a worker's memory: the predecessor; and by word the table, whose load is 0.65 on average, and a frontier of a sixth of the states."""

PROCESS, BUCKET = 276 << 20, 5 << 20
"""Bytes of a worker without states, and of its messages to another worker."""


@dataclass(frozen=True)
class Measurement:
    """A search: its size, and the processor time of its workers."""

    workers: int
    states: int
    transitions: int
    depth: int
    seconds: float
    elapsed: float
    sent: int

    @property
    def row(self) -> list[float]:
        """The factors of the three costs."""
        return factors(self.transitions, self.depth, self.workers)


def factors(transitions: int, depth: int, workers: int) -> list[float]:
    """What the costs of a step, of an exchange and of a turn are multiplied with."""
    return [transitions, transitions * (1 - 1 / workers), depth * workers]


@dataclass(frozen=True)
class Cost:
    """Seconds of a step, of an exchange, of a turn, and of a call; and bytes sent for a transition to another worker."""

    step: float
    exchange: float
    turn: float
    sent: float
    call: float

    def time(self, transitions: int, depth: int, workers: int) -> float:
        """The seconds of a search, where every worker has a processor."""
        calls = depth * workers**2 + self.sent * transitions * (1 - 1 / workers) / BATCH
        return self.seconds(transitions, depth, workers) / workers + calls * self.call

    def seconds(self, transitions: int, depth: int, workers: int) -> float:
        """The processor time of all workers."""
        return float(np.dot([self.step, self.exchange, self.turn], factors(transitions, depth, workers)))

    @staticmethod
    def of(measured: Sequence[Measurement], small: Sequence[Measurement]) -> Cost:
        """The costs that fit measurements best, by relative error; none is below 0. ``small`` are searches of few states."""
        rows = np.array([m.row for m in measured]) / np.array([[m.seconds] for m in measured])
        kept = [0, 1, 2]
        while True:
            best, *_ = np.linalg.lstsq(rows[:, kept], np.ones(len(rows)), rcond=None)
            if best.min() >= 0:
                break
            kept.remove(kept[int(best.argmin())])
        costs = np.zeros(3)
        costs[kept] = best
        shared = [m for m in measured if m.workers > 1]
        sent = sum(m.sent for m in shared) / sum(m.transitions * (1 - 1 / m.workers) for m in shared)
        call = float(np.median([m.elapsed / m.depth / m.workers**2 for m in small]))
        return Cost(*(float(each) for each in costs), float(sent), call)


def measured(scope: tuple[int, int], workers: int, runs: int) -> Measurement:
    """The cheapest of several searches, after a first one of a few states."""
    [instance] = instances(system("hived").variants["as-written"], {"PodGroup": scope[0], "Cell": scope[1]})
    best: Measurement | None = None
    with connected(Address(workers=workers)) as crew:
        explore(instance, workers=crew, limit=100_000)
        for _ in range(runs):
            before, began = worker_seconds(), time.perf_counter()
            reached = explore(instance, workers=crew)
            elapsed, seconds = time.perf_counter() - began, worker_seconds() - before
            sent = sum(part.tally.sent for part in reached.parts if isinstance(part, RemotePart))
            size = reached.state_count, reached.transition_count, reached.depth
            if best is None or seconds < best.seconds:
                best = Measurement(workers, *size, seconds, elapsed, sent)
    assert best is not None
    return best


def worker_seconds() -> float:
    """The processor time of all workers."""
    return sum(sum(each.cpu_times()[:2]) for each in family() if _works(each))


def _works(process: psutil.Process) -> bool:
    try:
        return is_worker(process)
    except psutil.Error:
        return False


@click.command()
@click.option("--runs", type=click.IntRange(1), default=2, show_default=True, help="Of which the cheapest counts.")
@click.option("--largest", is_flag=True, help="Also measure 58 million states.")
@click.option("--states", type=click.IntRange(1), default=10**9, show_default=True, help="To extrapolate to.")
@click.option("--branching", type=float, default=11.0, show_default=True, help="Transitions a state there.")
@click.option("--depth", type=click.IntRange(1), default=30, show_default=True, help="The depth there.")
def main(runs: int, largest: bool, states: int, branching: float, depth: int) -> None:
    """Measure, fit, compare, and extrapolate."""
    scopes = [(5, 4), (5, 5), *([(6, 5)] if largest else [])]
    rows = [measured(scope, workers, runs) for scope in scopes for workers in (1, 2, 4)]
    small = [measured((3, 3), workers, 3) for workers in (8, 16)]
    for m in small:
        click.echo(f"{m.workers} workers: {m.states:,} states of depth {m.depth} in {m.elapsed:.2f} s")
    cost = Cost.of(rows, small)
    click.echo(
        f"step {cost.step * 1e9:.0f} ns, exchange {cost.exchange * 1e9:.0f} ns, turn {cost.turn * 1e3:.1f} ms, "
        f"call {cost.call * 1e3:.2f} ms, "
        f"{cost.sent:.1f} bytes for a transition to another worker"
    )
    table = Table("states", "transitions", "workers", "processor s, measured", "by the model", "error", "elapsed s")
    for m in rows:
        model = cost.seconds(m.transitions, m.depth, m.workers)
        table.add_row(
            f"{m.states:,}", f"{m.transitions:,}", str(m.workers), f"{m.seconds:.2f}", f"{model:.2f}",
            f"{100 * (model / m.seconds - 1):+.0f} %", f"{m.elapsed:.2f}",
        )  # fmt: skip
    Console(width=120).print(table)
    click.echo(f"extrapolated to {states:,} states of one word, {branching:g} transitions each, depth {depth}:")
    table = Table("workers", "s", "GiB of a worker", "MiB/s sent by a worker")
    for workers in (4, 8, 16, 32, 64, 128):
        transitions = int(states * branching)
        seconds = cost.time(transitions, depth, workers)
        memory = states / workers * (BYTES_A_STATE + BYTES_A_WORD) + PROCESS + BUCKET * workers
        sent = transitions * (1 - 1 / workers) * cost.sent / workers / seconds
        table.add_row(str(workers), f"{seconds:,.0f}", f"{memory / 2**30:.1f}", f"{sent / 2**20:.0f}")
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
