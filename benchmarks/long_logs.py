"""Validation of long logs in which objects keep appearing and ending: ``python benchmarks/long_logs.py``.

The logs are random runs of HiveD (as-written) with a million records. Every tenth record names a new group, which is deleted
within twenty records. Groups are allocated, preempt each other and complete, and the scheduler crashes. Every record has its
action, all parameters, and the state afterwards of the cells and of the present groups. In one log, groups appear as they are
named. In the other, the record introduces them and says which groups they outrank.

The measured work is that of ``schedproof validate`` with the lines of a file, on one core. The log is written before.
"""

from __future__ import annotations

import random
import re
import resource
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import click
import orjson
import psutil
from rich.console import Console
from rich.table import Table

from schedproof.model.registry.discovery import system
from schedproof.model.semantics import Instance, State, Stepper
from schedproof.model.systems.hived import AS_WRITTEN
from schedproof.proofs.traces.engine.watch import Watch
from schedproof.proofs.traces.files.lines import text_lines

PLACES, CELLS = 4, 5
"""The greatest number of groups at a time, and the number of cells."""

NEW, LIFE = 10, 20
"""The number of records between new groups, and the greatest number of records in a group's life."""

BLOCK, BLOCKS = 500, 200
"""The number of records in a stretch, after which no group is left, and the number of stretches, which recur with other names."""

ENDS = {"delete_allocated", "delete_preempted", "delete_preempting", "delete_pending", "complete", "vacate"}
"""The actions that bring groups nearer to their end."""

DELETED = [s.name for s in AS_WRITTEN.machine("PodGroup").states].index("Deleted")


@dataclass
class Run:
    """A run under construction: the state, and for each place its group's number and the record that named it."""

    introduced: bool
    rng: random.Random
    stepper: Stepper
    state: State
    groups: list[tuple[int, int] | None]

    def records(self) -> list[dict[str, Any]] | None:
        """A stretch of records; None if a group did not end in time."""
        written: list[dict[str, Any]] = []
        for at in range(BLOCK):
            came: dict[str, Any] = {}
            if at % NEW == 0:
                if (place := next((i for i, group in enumerate(self.groups) if group is None), None)) is None:
                    return None
                came = self.arrive(place, at)
            written.append({**came, **self.step(at)})
            if any(group is not None and at - group[1] >= LIFE for group in self.groups):
                return None
        return written if not any(self.groups) else None

    def arrive(self, place: int, at: int) -> dict[str, Any]:
        """Puts a new group into a place; returns the fields by which a record introduces it."""
        occupied = [i for i, group in enumerate(self.groups) if group is not None]
        below = [i for i in occupied if self.introduced and self.rng.random() < 0.7]
        ranks = self.stepper.instance.slot("PodGroup", "outranks")
        state = list(self.state)
        state[self.stepper.instance.slot("PodGroup") + place] = 0
        for i in range(PLACES):
            state[ranks + i] &= ~(1 << place)
        below += [j for i in below for j in range(PLACES) if state[ranks + i] >> j & 1 and j not in below]
        state[ranks + place] = sum(1 << i for i in {i for i in below if self.groups[i] is not None})
        self.state = tuple(state)
        self.groups[place] = at // NEW, at
        names = self.names()
        if not self.introduced:
            return {}
        outranks = {names[place]: [names[i] for i in range(PLACES) if state[ranks + place] >> i & 1]}
        return {"objects": {"PodGroup": [names[place]]}, "rigid": {"PodGroup": {"outranks": outranks}}}

    def step(self, at: int) -> dict[str, Any]:
        """Takes a step of the run; returns its record."""
        steps = list(self.stepper.steps(self.state))
        old = [i for i, group in enumerate(self.groups) if group is not None and at - group[1] > LIFE // 2]
        if old or at >= BLOCK - LIFE:
            steps = [s for s in steps if s.choice.action in ENDS] or [s for s in steps if s.choice.action == "crash"]
            urgent = [s for s in steps if any(n == "p" and v in old for n, v in s.choice.parameters)]
            steps = urgent or steps
        by_action: dict[str, list[Any]] = {}
        for step in steps:
            by_action.setdefault(step.choice.action, []).append(step)
        names, instance = self.names(), self.stepper.instance
        step = self.rng.choice(by_action[self.rng.choice(list(by_action))])
        self.state = step.after
        kinds = {v.name: v.type for v in AS_WRITTEN.action(step.choice.action).parameters}
        shown = Instance(AS_WRITTEN, instance.sizes, names={"PodGroup": names, "Cell": [f"c{i}" for i in range(CELLS)]})
        state = shown.describe(self.state)
        state["PodGroup"] = {n: state["PodGroup"][n] for n, g in zip(names, self.groups, strict=True) if g is not None}
        for place in range(PLACES):
            if self.state[instance.slot("PodGroup") + place] == DELETED:
                self.groups[place] = None
        parameters = {n: shown.show(kinds[n], v) for n, v in step.choice.parameters}
        return {"action": step.choice.action, "parameters": parameters, "state": state}

    def names(self) -> list[str]:
        """The names of the groups, to be filled in later; empty places have placeholders."""
        return [f"@{group[0]}@" if group is not None else f"none{i}" for i, group in enumerate(self.groups)]


def blocks(introduced: bool, seed: int) -> Iterator[list[bytes]]:
    """Stretches of a log, as pieces with the numbers of groups between them."""
    instance = Instance(AS_WRITTEN, {"PodGroup": PLACES, "Cell": CELLS}, rigid_in_state=True)
    stepper, rng = Stepper(instance), random.Random(seed)
    empty = list(instance.initial())
    empty[instance.slot("PodGroup") : instance.slot("PodGroup") + PLACES] = [DELETED] * PLACES
    while True:
        records = Run(introduced, rng, stepper, tuple(empty), [None] * PLACES).records()
        if records is not None:
            yield re.split(rb"@(\d+)@", b"".join(orjson.dumps(record) + b"\n" for record in records))


def write_log(path: Path, records: int, introduced: bool, seed: int = 1) -> None:
    """Writes a log of ``records`` records."""
    rng, source = random.Random(seed), blocks(introduced, seed)
    stretches = [next(source) for _ in range(BLOCKS)]
    header = {"schedproof": 1, "system": "hived", "objects": {"Cell": [f"c{i}" for i in range(CELLS)]}}
    with path.open("wb") as file:
        file.write(orjson.dumps(header) + b"\n")
        for number in range(records // BLOCK):
            pieces = list(rng.choice(stretches))
            first = number * (BLOCK // NEW)
            pieces[1::2] = [b"job-%d" % (first + int(group)) for group in pieces[1::2]]
            file.write(b"".join(pieces))


def measured(introduced: bool, records: int) -> tuple[list[float], list[int], int]:
    """Seconds and resident memory (KiB) of each tenth, and the peak memory (KiB)."""
    seconds, memory = list[float](), list[int]()
    process = psutil.Process()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log"
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            pool.submit(write_log, path, records, introduced).result()
        with path.open("rb") as file:
            lines = text_lines(file, str(path))
            watch = Watch(system("hived"), None, next(lines).object())
            for _ in range(10):
                began = time.process_time()
                for line in islice(lines, records // 10):
                    record = line.object()
                    watch.take(record.value, record)
                seconds.append(time.process_time() - began)
                memory.append(process.memory_info().rss >> 10)
    assert watch.open, watch.report().text()
    return seconds, memory, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def rows(introduced: bool, records: int) -> Sequence[Sequence[str]]:
    """The rows of the table for one log."""
    seconds, memory, peak = measured(introduced, records)
    rates = [records / 10 / spent for spent in seconds]
    what = "introduced" if introduced else "as they are named"
    lines = [
        [what, str(i), f"{r:,.0f}", f"{m / 1024:,.1f}"] for i, (r, m) in enumerate(zip(rates, memory, strict=True), 1)
    ]
    total = [what, "all", f"{records / sum(seconds):,.0f}", f"peak {peak / 1024:,.1f}"]
    return [*lines, total, [what, "last/first", f"{rates[-1] / rates[0]:.2f}", f"{memory[-1] / memory[0]:.2f}"]]


@click.command()
@click.option("--records", default=1_000_000, show_default=True, help="Records of each log; a multiple of 5,000.")
def main(records: int) -> None:
    """Prints records a second of processor time, and memory, for each tenth of the logs."""
    table = Table("groups appear", "tenth", "records/s", "memory, MiB")
    for introduced in (False, True):
        # A separate process: memory that one log leaves behind would slow down the next.
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            for row in pool.submit(rows, introduced, records).result():
                table.add_row(*row)
        table.add_section()
    Console().print(table)


if __name__ == "__main__":
    main()
