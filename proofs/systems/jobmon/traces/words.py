"""What the readers of Jobmon's formats share: letters and names of states, times, and what can follow what."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

import networkx as nx

from schedproof.model.lang import Document, Invariant, Model, Row, StepInvariant
from schedproof.model.lang.properties import Property
from schedproof.model.lang.types import Ref
from schedproof.model.systems.jobmon.shipped import SHIPPED, tables
from schedproof.model.systems.jobmon.shipped.machines import MACHINES
from schedproof.model.systems.jobmon.sorts import DOCUMENT
from schedproof.proofs.traces.errors import TraceError
from schedproof.proofs.traces.files.lines import Line
from schedproof.proofs.traces.reports.report import Requirement

SCHEMA = Path(__file__).parent / "formats.schema.json"

FACTS = Document("jobmon.md", "Jobmon as implemented")
"""What says of the machine that runs what the document does not."""

LETTERS: Mapping[str, Mapping[str, str]] = {
    "TaskInstance": tables.TASK_INSTANCE_STATES,
    "Task": tables.TASK_STATES,
    "WorkflowRun": tables.WORKFLOW_RUN_STATES,
    "Workflow": tables.WORKFLOW_STATES,
}
"""Per machine: letter -> the state's name in the model."""

SHIPPED_TABLES: Mapping[str, Sequence[Row]] = {
    "TaskInstance": tables.TASK_INSTANCE_TABLE,
    "Task": tables.TASK_TABLE,
    "WorkflowRun": tables.WORKFLOW_RUN_TABLE,
    "Workflow": tables.WORKFLOW_TABLE,
}
"""Per machine: the table that the shipped server asks."""

CALLED = {"TaskInstance": "instance", "Task": "task", "WorkflowRun": "run", "Workflow": "workflow"}


def fits(model: Model) -> bool:
    """The model has the machines that run."""
    return [m.sort for m in model.machines] == [m.sort for m in MACHINES]


def table_of(model: Model, sort: str) -> list[Row]:
    """The table that a variant's server asks: the shipped one without the rows that the variant drops, and those that it adds."""
    dropped = {row.name for row in SHIPPED.table(sort)} - {row.name for row in model.table(sort)}
    return [*(row for row in SHIPPED_TABLES[sort] if row.name not in dropped), *added(model, sort)]


def added(model: Model, sort: str) -> list[Row]:
    """The moves that a variant adds to what is shipped."""
    shipped = {row.name for row in SHIPPED.table(sort)}
    return [row for row in model.table(sort) if row.name not in shipped and row.source != row.target]


def property_of(prop: Property) -> Requirement:
    """A property with where it is made: lines are those of the document."""
    document = FACTS if prop.line is None else DOCUMENT
    return Requirement(prop.name, prop.says, document.name, prop.line, prop.sentence)


def over_objects(prop: Invariant | StepInvariant) -> bool:
    """The property speaks of objects only, and not of numbers too: objects are all that is gone through."""
    return all(isinstance(v.type, Ref) for v in prop.over)


def not_kept(model: Model) -> list[StepInvariant]:
    """The properties about steps that the machine does not keep: those that a log may break."""
    steps = [p for p in model.properties if isinstance(p, StepInvariant)]
    return [p for p in steps if p.name in model.refuted and over_objects(p)]


def state_of(sort: str, status: str, line: Line, where: str, constants: bool = False) -> str:
    """The state that a letter (or, if ``constants``, a name such as ERROR_FATAL) stands for.

    Raises:
        TraceError: it stands for none.
    """
    letters = LETTERS[sort]
    found = letters.get(status)
    if found is None and constants:
        found = {_constant(name): name for name in letters.values()}.get(status)
    if found is None:
        known = ", ".join(f"{letter} ({name})" for letter, name in letters.items())
        raise line.error(f"{where}: unknown status {status!r:.60} of {CALLED[sort]}s; choose from {known}")
    return found


def _constant(name: str) -> str:
    """A state as constants of programs are written: NoHeartbeat as NO_HEARTBEAT."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).upper()


def letter(sort: str, state: str) -> str:
    """A state with its letter in front, as messages show it."""
    return next((f"{short} ({name})" for short, name in LETTERS[sort].items() if name == state), state)


STAMP = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d")
"""How a time begins: one without seconds is cut off, or too rough to be compared."""

LATEST = 1e18
"""No number beyond it is a time, in whatever unit."""


class Clock:
    """Times in the order of a file: all numbers, or all texts in ISO 8601."""

    def __init__(self) -> None:
        self.last: tuple[float, Any, int] | None = None

    def goes_on(self, time: Any, line: Line, where: str) -> None:
        """Takes the time of the next record.

        Raises:
            TraceError: it is no time, before the one of an earlier record, or a number where that is a text.
        """
        now = as_time(time, line, where)
        if self.last is not None and isinstance(time, str) is not isinstance(self.last[1], str):
            _, before, number = self.last
            raise line.error(
                f"{where}: {time!r} and {before!r} of line {number} cannot be compared; write all times as numbers, or all as texts"
            )
        if self.last is not None and now < self.last[0]:
            _, before, number = self.last
            raise line.error(
                f"{where}: {time!r} is before {before!r} of line {number}; records stand in the order of time"
            )
        self.last = (now, time, line.number)


def as_time(time: Any, line: Line, where: str) -> float:
    """A time as a number.

    Raises:
        TraceError: it is none.
    """
    if isinstance(time, str) and re.fullmatch(r"\d{1,18}(\.\d{1,9})?", time, re.ASCII):
        time = float(time)
    if isinstance(time, int | float) and not isinstance(time, bool) and abs(time) < LATEST:
        return float(time)
    try:
        found = datetime.fromisoformat(str(time) if STAMP.match(str(time)) else "")
    except ValueError:
        raise line.error(
            f'{where}: {time!r:.60} is not a time; write a number or a text such as "2026-02-01T12:00:00"'
        ) from None
    # A time without a zone is the database's own: only the order counts.
    return (found if found.tzinfo else found.replace(tzinfo=_UTC)).timestamp()


_UTC = datetime.fromisoformat("2000-01-01T00:00:00+00:00").tzinfo


@lru_cache(maxsize=64)
def _moves(model_rows: tuple[tuple[str, str], ...]) -> nx.DiGraph[str]:
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_edges_from(model_rows)
    return graph


def moves(model: Model, sort: str) -> nx.DiGraph[str]:
    """Which state a row of the machine leads to from which."""
    return _moves(tuple((row.source, row.target) for row in model.table(sort) if row.source != row.target))


def led_to(model: Model, sort: str, state: str) -> frozenset[str]:
    """The states from which rows lead to ``state``, and itself."""
    graph = moves(model, sort)
    return frozenset({state} | (set(nx.ancestors(graph, state)) if state in graph else set()))


def led_from(model: Model, sort: str, state: str) -> frozenset[str]:
    """The states to which rows lead from ``state``, and itself."""
    graph = moves(model, sort)
    return frozenset({state} | (set(nx.descendants(graph, state)) if state in graph else set()))


def refuse_release(release: str | None) -> None:
    """Jobmon's formats are those of its newest releases only."""
    if release is not None:
        raise TraceError("traces of jobmon do not differ between versions; leave the version out")
