"""The speed and memory of the compiled engine: ``python benchmarks/explore.py``.

Each row is the median of several runs in one process. Beside it stands the rate of random reads from a table of the same size,
which no exploration with such a table can exceed. Compiling is measured without the cache, and separately from the rates.
A second table compares the time of checking all properties with that of counting states.

Where SPIN is installed, it searches the same states: from the exported model, and from an independent model (``hived.pml``),
with and without the invariants of the latter.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import click
import numpy as np
from numba import njit
from rich.console import Console
from rich.table import Table
from spin import IS_INSTALLED, spin

from schedproof.model.registry.discovery import system
from schedproof.model.semantics import Instance, instances
from schedproof.proofs.checking.engine import Engine, Exploring
from schedproof.proofs.checking.model_check import model_check
from schedproof.proofs.compiled import Reached, explore, watch
from schedproof.proofs.compiled.llvm import Machine
from schedproof.proofs.compiled.steps import program
from schedproof.proofs.exploration import explore as interpreted
from schedproof.proofs.exploration.safety import SAFETY
from schedproof.proofs.export import promela
from schedproof.proofs.verdict import Verdict

T = TypeVar("T")


@dataclass(frozen=True)
class Case:
    """A variant at a scope; of several configurations, the one with the most states."""

    system: str
    variant: str
    scope: dict[str, int]

    @property
    def name(self) -> str:
        """The name in the table."""
        at = " x ".join(str(n) for n in self.scope.values())
        return f"{self.system} {self.variant} {at}".strip()

    def instance(self) -> Instance:
        """The largest configuration."""
        model = system(self.system).variants[self.variant]
        all_instances = list(instances(model, {**model.default_scope, **self.scope}))
        return max(all_instances, key=lambda i: explore(i).state_count) if len(all_instances) > 1 else all_instances[0]


CASES = [
    *(Case("hived", "as-written", {"PodGroup": g, "Cell": c}) for g, c in ((4, 4), (5, 4), (5, 5))),
    Case("beaker", "as-written", {}),
    Case("jobmon", "repaired", {}),
]
WITH_PROPERTIES = [CASES[2], Case("jobmon", "repaired", {}), Case("yunikorn", "repaired", {})]

BY_HAND = [
    "pending-holds-nothing",
    "preempting-has-cells",
    "preempting-uses-nothing",
    "allocated-is-not-preempted",
    "deleted-holds-nothing",
    "free-cell",
    "used-cell",
    "reserved-cell",
    "reserving-cell",
    "preemptor-outranks-victim",
]
"""The properties of HiveD that ``hived.pml`` has."""

LARGE = [Case("hived", "as-written", {"PodGroup": 6, "Cell": 5})]


@njit(cache=True)
def _read(table: Any, count: int) -> int:
    """Reads at random places; the reads do not depend on each other."""
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
    """The seconds that ``work`` takes, and its result."""
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def median(instance: Instance, threads: int, runs: int) -> tuple[float, Reached]:
    """The median seconds of some runs after a first one, which loads code, and the result of the last run."""
    explore(instance, threads=threads, traced=0)
    times = []
    for _ in range(runs):
        seconds, reached = timed(lambda: explore(instance, threads=threads, traced=0))
        times.append(seconds)
    return statistics.median(times), reached


def watching(instance: Instance, names: Sequence[str], runs: int) -> float:
    """The median seconds of some runs that check properties, after a first one."""
    props = [instance.model.property(name) for name in names]
    watch(instance, props)
    return statistics.median(timed(lambda: watch(instance, props))[0] for _ in range(runs))


def compiling(instance: Instance) -> float:
    """The seconds that compiling an instance takes."""
    return timed(lambda: Machine([program(instance, instance.model.actions).text], cached=False))[0]


@dataclass(frozen=True)
class Measurement:
    """The measurements of one case."""

    case: Case
    instance: Instance
    reached: Reached
    compiled: float
    one: float
    two: float
    interpreted: float
    reads: float

    @property
    def rate(self) -> float:
        """States a second, in one thread."""
        return self.reached.state_count / self.one

    def row(self) -> list[str]:
        """The row of the first table."""
        reached = self.reached
        return [
            self.case.name,
            f"{reached.state_count:,}",
            f"{reached.transition_count:,}",
            f"{self.compiled:.1f}",
            f"{self.one:.2f}",
            f"{self.rate:,.0f}",
            f"{self.one / self.two:.2f}",
            f"{self.rate / self.interpreted:,.0f}",
            f"{reached.bytes_per_state:.1f}",
            f"{self.reads / 1e6:,.0f} M",
            f"{reached.transition_count / self.one / self.reads:.0%}",
        ]


def measured(case: Case, runs: int) -> Measurement:
    """Measures a case with the compiled engine, and a part of it with the interpreted one."""
    instance = case.instance()
    compiled = compiling(instance)
    one, reached = median(instance, 1, runs)
    two, _ = median(instance, 2, runs)
    seconds, slow = timed(lambda: interpreted.explore(instance, symmetry=False, limit=20_000))
    return Measurement(
        case,
        instance,
        reached,
        compiled,
        one,
        two,
        len(slow.states) / seconds,
        random_reads(reached.parts[0].keys.nbytes),
    )


def with_properties(case: Case, runs: int) -> list[str]:
    """The row of a case in the second table, for its largest configuration: its safety properties, and all its properties.

    Raises:
        RuntimeError: a property is undetermined, although its premise is met.
    """
    instance = case.instance()
    model = replace(instance.model, configurations=lambda _: [instance.rigid])
    safe = [p.name for p in model.properties if isinstance(p, SAFETY)]
    how = Exploring(Engine.COMPILED, symmetry=False)
    counting, reached = median(instance, 1, runs)
    seconds = []
    for only in (safe, []):
        model_check(model, case.scope, only=only, how=how)
        times = []
        for _ in range(runs):
            took, results = timed(lambda: model_check(model, case.scope, only=only, how=how))  # noqa: B023
            times.append(took)
        seconds.append(statistics.median(times))
        if unknown := [r.name for r in results if r.verdict is Verdict.UNDETERMINED and not r.vacuous]:
            raise RuntimeError(f"{case.name}: undetermined: {', '.join(unknown)}")
    return [
        case.name,
        f"{reached.state_count:,}",
        f"{counting:.2f}",
        f"{len(safe)}",
        f"{seconds[0]:.2f}",
        f"{seconds[0] / counting:.1f}",
        f"{len(results)}",
        f"{seconds[1]:.2f}",
        f"{seconds[1] / counting:.1f}",
    ]


CHECK = """
import sys
from schedproof.model.registry.discovery import system
from schedproof.proofs.checking.engine import Engine, Exploring
from schedproof.proofs.checking.model_check import model_check
name, variant, scope, *only = sys.argv[1:]
sizes = {sort: int(n) for sort, n in (each.split("=") for each in scope.split(","))}
how = Exploring(Engine.COMPILED, symmetry=False)
results = model_check(system(name).variants[variant], sizes, only=only, how=how)
sys.exit(any(r.verdict != "proved" for r in results) or len(results) != len(only))
"""


def whole_process_with(case: Case, only: Sequence[str]) -> float:
    """The seconds of a whole process that checks properties which hold, with an empty cache."""
    command = [sys.executable, "-P", "-c", CHECK, case.system, case.variant, _option(case), *only]
    return _fresh(command)


def whole_process(case: Case) -> float:
    """The seconds of the whole command that counts the states of a case, with an empty cache."""
    command = [sys.executable, "-P", "-m", "schedproof", "explore", case.system, "--variant", case.variant]
    command += ["--scope", _option(case), "--no-symmetry", "--counts-only", "--engine", "compiled"]
    return _fresh([*command, "--max-states", "1000000000"])


def _option(case: Case) -> str:
    return ",".join(f"{sort}={n}" for sort, n in case.scope.items())


def _fresh(command: Sequence[str]) -> float:
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "SCHEDPROOF_CACHE": folder}
        return timed(lambda: subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL))[0]


def beside_spin(measurement: Measurement, runs: int) -> Iterator[list[str]]:
    """The rows of the SPIN table: the exported model and the independent one, with and without partial-order reduction.

    Large cases run once: all states, in SPIN's fastest configuration.

    Raises:
        RuntimeError: SPIN fails, or finds another number of states.
    """
    case = measurement.case
    texts = {} if case in LARGE else {"exported": (promela(measurement.instance).text, [])}
    rates = dict.fromkeys(("exported", "by hand"), measurement.rate)
    # The command explores all configurations, but the row has one: compare only if there is one.
    wholes = {"exported": statistics.median(whole_process(case) for _ in range(runs)) if case.scope else None}
    if case.system == "hived":
        by_hand = (Path(__file__).parent / "hived.pml").read_text("utf-8")
        defines = [f"GROUPS={case.scope['PodGroup']}", f"CELLS={case.scope['Cell']}"]
        texts["by hand"] = (by_hand, defines)
        texts["by hand, with properties"] = (by_hand, [*defines, "PROPERTIES"])
        wholes["by hand"] = wholes["exported"]
        rates["by hand, with properties"] = measurement.reached.state_count / watching(
            measurement.instance, BY_HAND, runs
        )
        wholes["by hand, with properties"] = statistics.median(whole_process_with(case, BY_HAND) for _ in range(runs))
    for name, (text, defines) in texts.items():
        whole = wholes[name]
        for reduced in (False,) if case in LARGE else (False, True):
            runs_of_spin = []
            for _ in range(runs):
                with tempfile.TemporaryDirectory() as folder:
                    runs_of_spin.append(
                        spin(text, Path(folder), measurement.reached.state_count, defines=defines, reduced=reduced)
                    )
            search = statistics.median(each.search for each in runs_of_spin)
            process = statistics.median(each.whole for each in runs_of_spin)
            if not reduced and {each.states for each in runs_of_spin} != {measurement.reached.state_count}:
                raise RuntimeError(
                    f"SPIN finds {runs_of_spin[0].states} states, and we {measurement.reached.state_count}"
                )
            rate = runs_of_spin[0].states / search
            yield [
                case.name,
                f"{name}{', reduced' if reduced else ''}",
                f"{runs_of_spin[0].states:,}",
                f"{search:.2f}",
                f"{rate:,.0f}",
                f"{rates[name] / rate:.1f}" if runs_of_spin[0].states == measurement.reached.state_count else "",
                f"{process:.1f}",
                f"{whole:.1f}" if whole is not None else "",
                f"{process / whole:.1f}" if whole is not None else "",
                f"{runs_of_spin[0].bytes_per_state:.0f}",
            ]


COLUMNS = [
    "system, variant, scope", "states", "transitions", "compile s", "one thread s", "states/s", "two threads, times as fast",
    "interpreted, times as fast", "bytes a state", "random reads/s", "transitions of random reads",
]  # fmt: skip
PROPERTY_COLUMNS = [
    "system, variant, scope", "states", "counting s", "properties of states and steps", "checked s", "times the counting",
    "all properties", "checked s", "times the counting",
]  # fmt: skip
SPIN_COLUMNS = [
    "system, variant, scope", "SPIN on the text", "states", "search s", "states/s", "ours, times as fast", "whole process s",
    "ours s", "times as long", "bytes a state",
]  # fmt: skip


@click.command()
@click.option("--runs", type=click.IntRange(1), default=5, show_default=True, help="Of which the median is taken.")
@click.option(
    "--spin-runs", type=click.IntRange(0), default=5, show_default=True, help="The same of SPIN; 0: without it."
)
@click.option("--large", is_flag=True, help="Also what takes minutes and gigabytes; once.")
def main(runs: int, spin_runs: int, large: bool) -> None:
    """Measure the compiled exploration, in one thread and two, beside the interpreted one, SPIN and the memory's own limit."""
    explored, checked, spins = Table(*COLUMNS), Table(*PROPERTY_COLUMNS), Table(*SPIN_COLUMNS)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["SCHEDPROOF_CACHE"] = folder
        for case in CASES + (LARGE if large else []):
            once = case in LARGE
            of_case = measured(case, 1 if once else runs)
            _report(explored, of_case.row())
            if IS_INSTALLED and spin_runs:
                for row in beside_spin(of_case, 1 if once else spin_runs):
                    _report(spins, row)
        for case in WITH_PROPERTIES:
            _report(checked, with_properties(case, runs))
    console = Console(width=200)
    console.print(explored)
    console.print(checked)
    if IS_INSTALLED and spin_runs:
        console.print(spins)
    elif spin_runs:
        console.print("SPIN is not installed (apt-get install spin gcc)")


def _report(table: Table, row: list[str]) -> None:
    table.add_row(*row)
    click.echo(" | ".join(row), err=True)


if __name__ == "__main__":
    main()
