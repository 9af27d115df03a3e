"""Functions that all readers of Jobmon's formats use: letters and names of states, times, and reachable states."""

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
"""The document about the machine that runs, where :data:`DOCUMENT` is silent."""

LETTERS: Mapping[str, Mapping[str, str]] = {
    "TaskInstance": tables.TASK_INSTANCE_STATES,
    "Task": tables.TASK_STATES,
    "WorkflowRun": tables.WORKFLOW_RUN_STATES,
    "Workflow": tables.WORKFLOW_STATES,
}
"""Per machine, maps a letter to the state's name in the model."""

SHIPPED_TABLES: Mapping[str, Sequence[Row]] = {
    "TaskInstance": tables.TASK_INSTANCE_TABLE,
    "Task": tables.TASK_TABLE,
    "WorkflowRun": tables.WORKFLOW_RUN_TABLE,
    "Workflow": tables.WORKFLOW_TABLE,
}
"""Per machine, the table that the shipped server checks."""

CALLED = {"TaskInstance": "instance", "Task": "task", "WorkflowRun": "run", "Workflow": "workflow"}


def fits(model: Model) -> bool:
    """Whether the model has the machines of the shipped Jobmon, whose records are what a log can show: the database's."""
    records = [attribute for m in model.machines if m.sort.name in LETTERS for attribute in m.attributes]
    return [m.sort for m in model.machines] == [m.sort for m in MACHINES] and all(
        attribute.durable or attribute.rigid for attribute in records
    )


def table_of(model: Model, sort: str) -> list[Row]:
    """Returns the table that a variant's server checks.

    It is the shipped one, without the rows that the variant drops, and with those that it adds.
    """
    dropped = {row.name for row in SHIPPED.table(sort)} - {row.name for row in model.table(sort)}
    return [*(row for row in SHIPPED_TABLES[sort] if row.name not in dropped), *added(model, sort)]


def added(model: Model, sort: str) -> list[Row]:
    """Returns the moves that a variant adds to the shipped ones."""
    shipped = {row.name for row in SHIPPED.table(sort)}
    return [row for row in model.table(sort) if row.name not in shipped and row.source != row.target]


def property_of(prop: Property) -> Requirement:
    """Returns a property with its source: line numbers are those of the document."""
    document = FACTS if prop.line is None else DOCUMENT
    return Requirement(prop.name, prop.says, document.name, prop.line, prop.sentence)


def over_objects(prop: Invariant | StepInvariant) -> bool:
    """Whether the property quantifies over objects only, not over numbers: validation enumerates only objects."""
    return all(isinstance(v.type, Ref) for v in prop.over)


def not_kept(model: Model) -> list[StepInvariant]:
    """Returns the step invariants that the machine violates: a log may break them."""
    steps = [p for p in model.properties if isinstance(p, StepInvariant)]
    return [p for p in steps if p.name in model.refuted and over_objects(p)]


def state_of(sort: str, status: str, line: Line, where: str, constants: bool = False) -> str:
    """Returns the state of a letter, or, with ``constants``, of a name such as ERROR_FATAL.

    Raises:
        TraceError: there is no such state.
    """
    letters = LETTERS[sort]
    state = letters.get(status)
    if state is None and constants:
        state = {_constant(name): name for name in letters.values()}.get(status)
    if state is None:
        known = ", ".join(f"{letter} ({name})" for letter, name in letters.items())
        raise line.error(f"{where}: unknown status {status!r:.60} of {CALLED[sort]}s; choose from {known}")
    return state


def _constant(name: str) -> str:
    """A state as a constant of a program: NO_HEARTBEAT for NoHeartbeat."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).upper()


def letter(sort: str, state: str) -> str:
    """Returns a state with its letter in front, as messages show it."""
    return next((f"{short} ({name})" for short, name in LETTERS[sort].items() if name == state), state)


STAMP = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d")
"""The beginning of a time: a time without seconds is cut off, or too coarse to compare."""

LATEST = 1e18
"""A number beyond this is not a time, in any unit."""


class Clock:
    """Checks that the times of a file increase: all are numbers, or all are texts in ISO 8601."""

    def __init__(self) -> None:
        self.last: tuple[float, Any, int] | None = None

    def goes_on(self, time: Any, line: Line, where: str) -> None:
        """Checks and keeps the time of the next record.

        Raises:
            TraceError: it is not a time, is before that of an earlier record, or mixes numbers and texts.
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
    """Returns a time as a number.

    Raises:
        TraceError: it is not a time.
    """
    if isinstance(time, str) and re.fullmatch(r"\d{1,18}(\.\d{1,9})?", time, re.ASCII):
        time = float(time)
    if isinstance(time, int | float) and not isinstance(time, bool) and abs(time) < LATEST:
        return float(time)
    try:
        moment = datetime.fromisoformat(str(time) if STAMP.match(str(time)) else "")
    except ValueError:
        raise line.error(
            f'{where}: {time!r:.60} is not a time; write a number or a text such as "2026-02-01T12:00:00"'
        ) from None
    # A time without a zone has the database's zone: only the order counts.
    return (moment if moment.tzinfo else moment.replace(tzinfo=_UTC)).timestamp()


_UTC = datetime.fromisoformat("2000-01-01T00:00:00+00:00").tzinfo


@lru_cache(maxsize=64)
def _moves(model_rows: tuple[tuple[str, str], ...]) -> nx.DiGraph[str]:
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_edges_from(model_rows)
    return graph


def moves(model: Model, sort: str) -> nx.DiGraph[str]:
    """Returns the graph of a machine's rows, from state to state."""
    return _moves(tuple((row.source, row.target) for row in model.table(sort) if row.source != row.target))


def led_to(model: Model, sort: str, state: str) -> frozenset[str]:
    """Returns ``state`` and the states from which rows lead to it."""
    graph = moves(model, sort)
    return frozenset({state} | (set(nx.ancestors(graph, state)) if state in graph else set()))


def led_from(model: Model, sort: str, state: str) -> frozenset[str]:
    """Returns ``state`` and the states to which rows lead from it."""
    graph = moves(model, sort)
    return frozenset({state} | (set(nx.descendants(graph, state)) if state in graph else set()))


def refuse_release(release: str | None) -> None:
    """Refuses a release: Jobmon's formats are those of its newest releases only."""
    if release is not None:
        raise TraceError("traces of jobmon do not differ between versions; leave the version out")
