"""The speed and memory of validating fully observed records: ``python benchmarks/validator.py``.

The traces are random runs of HiveD (as-written). Groups are allocated, preempt each other, are deleted and return under their
names, and the scheduler crashes. Every record has its action, all parameters and the whole state afterwards. Records that
bring a group back are counted separately. Times are processor time of one core, with the parsing of lines.
"""

from __future__ import annotations

import gc
import random
import resource
import time
import tracemalloc
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from multiprocessing import get_context
from typing import Any

import click
import orjson
from rich.console import Console
from rich.table import Table

from schedproof.model.registry.discovery import system
from schedproof.model.semantics import Instance, State, Stepper
from schedproof.model.systems.hived import AS_WRITTEN
from schedproof.proofs.traces.engine.watch import Watch

RARE = {"crash": 0.3, "delete_pending": 0.3}
"""Weights of actions that would otherwise end most runs early."""


@dataclass(frozen=True)
class Trace:
    """A trace: its header, its lines (each with whether it is fully observed), and the number of states that it visits."""

    header: Mapping[str, Any]
    lines: list[tuple[bool, bytes]]
    states: int


def random_trace(size: int, length: int, seed: int = 1) -> Trace:
    """A random run with ``size`` groups and cells, and ``length`` records."""
    rng = random.Random(seed)
    groups, cells = [f"g{i}" for i in range(size)], [f"c{i}" for i in range(size)]
    outranks = {name: groups[:i] for i, name in enumerate(groups)}
    names = {"PodGroup": groups, "Cell": cells}
    rigid = {("PodGroup", "outranks"): [frozenset(range(i)) for i in range(size)]}
    instance = Instance(AS_WRITTEN, {"PodGroup": size, "Cell": size}, rigid, names=names)
    header = {"schedproof": 1, "system": "hived", "objects": names, "rigid": {"PodGroup": {"outranks": outranks}}}
    lines: list[tuple[bool, bytes]] = []
    seen: set[State] = set()
    for full, record, state in _run(instance, rng, outranks):
        seen.add(state)
        lines.append((full, orjson.dumps(record)))
        if len(lines) == length:
            return Trace(header, lines, len(seen))
    raise AssertionError("a run without end has ended")


def _run(
    instance: Instance, rng: random.Random, outranks: Mapping[str, list[str]]
) -> Iterator[tuple[bool, dict[str, Any], State]]:
    stepper, state = Stepper(instance), instance.initial()
    groups = list(instance.object_names("PodGroup"))
    deleted = [s.name for s in AS_WRITTEN.machine("PodGroup").states].index("Deleted")
    kinds = {a.name: {v.name: v.type for v in a.parameters} for a in AS_WRITTEN.actions}
    while True:
        ended = [i for i in range(len(groups)) if state[i] == deleted]
        if ended and rng.random() < 0.5:
            back = rng.choice(ended)
            state = (*state[:back], 0, *state[back + 1 :])
            present = [name for i, name in enumerate(groups) if i == back or i not in ended]
            rigid = {"PodGroup": {"outranks": {name: outranks[name] for name in present}}}
            yield False, {"objects": {"PodGroup": [groups[back]]}, "rigid": rigid}, state
            continue
        by_action: dict[str, list[Any]] = {}
        for step in stepper.steps(state):
            by_action.setdefault(step.choice.action, []).append(step)
        (action,) = rng.choices(list(by_action), [RARE.get(name, 1.0) for name in by_action])
        step = rng.choice(by_action[action])
        state = step.after
        parameters = {n: instance.show(kinds[action][n], v) for n, v in step.choice.parameters}
        yield True, {"action": action, "parameters": parameters, "state": instance.describe(state)}, state


def checked(trace: Trace) -> tuple[list[float], list[float], Watch]:
    """Seconds per fully observed record, averaged over its stretch, and per other record; with the watch."""
    watch, full, others = Watch(system("hived"), None, trace.header), list[float](), list[float]()
    at = 0
    while at < len(trace.lines):
        kind, end = trace.lines[at][0], at
        while end < len(trace.lines) and trace.lines[end][0] is kind:
            end += 1
        began = time.process_time()
        for _, line in trace.lines[at:end]:
            watch.take(orjson.loads(line))
        spent = (time.process_time() - began) / (end - at)
        (full if kind else others).extend([spent] * (end - at))
        at = end
    return full, others, watch


def measured(size: int, records: int) -> tuple[list[str], list[float]]:
    """One row of the table, and the records a second of each tenth of the trace."""
    # The trace is made in another process, so that its garbage is neither measured nor collected here.
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        trace = pool.submit(random_trace, size, records).result()
    gc.freeze()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    full, others, watch = checked(trace)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert watch.open, watch.report().text()
    cuts = [len(full) * i // 10 for i in range(11)]
    tenths = [(end - start) / sum(full[start:end]) for start, end in pairwise(cuts)]
    tracemalloc.start()
    kept = Watch(system("hived"), None, trace.header)
    for _, line in trace.lines[:20_000]:
        kept.take(orjson.loads(line))
    memory = tracemalloc.get_traced_memory()[0]
    row = [
        f"{size} x {size}",
        f"{sum(len(line) for whole, line in trace.lines if whole) / len(full):.0f}",
        f"{trace.states:,}",
        f"{len(full) / sum(full):,.0f}",
        f"{len(others) / sum(others):,.0f}",
        f"{tenths[-1] / tenths[0]:.2f}",
        f"{memory / 1024:,.0f}",
        f"{peak / 1024:,.1f} (+{(peak - before) / 1024:,.1f})",
    ]
    return row, tenths


@click.command()
@click.option("--records", default=100_000, show_default=True, help="Records of each trace.")
@click.option("--sizes", default="2,3,4,5", show_default=True, help="Numbers of groups, and of cells.")
def main(records: int, sizes: str) -> None:
    """Prints one row for each size, and then one for each tenth of the traces."""
    table = Table(
        "groups x cells", "bytes", "states", "records/s", "back/s", "last/first", "kept, KiB", "peak, MiB (by checking)"
    )
    by_tenth = Table("records/s of tenth", *map(str, range(1, 11)))
    for size in map(int, sizes.split(",")):
        # A separate process: memory that one size leaves behind would slow down the next.
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            row, tenths = pool.submit(measured, size, records).result()
        table.add_row(*row)
        by_tenth.add_row(row[0], *(f"{rate:,.0f}" for rate in tenths))
    console = Console(width=max(120, Console().width))
    console.print(table)
    console.print(by_tenth)


if __name__ == "__main__":
    main()
