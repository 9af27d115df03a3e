"""Differences between the sources of a system's tables: the document's text, its figures, and the implementation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from schedproof.model.lang import Model, Row
from schedproof.model.lang.infer import sort_of
from schedproof.model.registry.system import System

FIGURE = "figure"
"""Marks, in the citation of a row, that only a figure has it."""


class Kind(StrEnum):
    """Which source has a row, and which lacks it."""

    FIGURE_ONLY = "in a figure, not in the text"
    NOT_RUN = "in the document, not in the implementation"
    RUN_ONLY = "in the implementation, not in the document"
    NEVER_FIRED = "in the implementation, which never fires the event"


@dataclass(frozen=True)
class Difference:
    """A row of a table that some source lacks; ``cited`` is the line or fact it comes from."""

    kind: Kind
    sort: str
    event: str
    source: str
    target: str
    cited: str

    @property
    def text(self) -> str:
        """The difference as one line for a reader."""
        stays = " (it stays)" if self.source == self.target else ""
        return f"{self.sort}, {self.event}: {self.source} -> {self.target}{stays} ({self.cited})"

    def as_json(self) -> dict[str, Any]:
        """The difference as ``--json`` prints it."""
        return {
            "kind": str(self.kind),
            "sort": self.sort,
            "event": self.event,
            "source": self.source,
            "target": self.target,
            "cited": self.cited,
        }


def differences(system: System) -> list[Difference]:
    """The rows of the documented events (``system.tables``) that some source lacks, in the order of the tables.

    The implementation is the variant that logs are checked against. A sort without documented events is not compared.
    """
    return [difference for sort in system.tables for difference in _of(system, sort)]


def _of(system: System, sort: str) -> Iterator[Difference]:
    runs = system.variants[system.validated_by]
    written, run = _rows(system, system.base.table(sort)), _rows(system, runs.table(sort))
    of_runs = fired(runs, sort)
    for kind, rows in (
        (Kind.FIGURE_ONLY, [row for row in written.values() if FIGURE in row.fact]),
        (Kind.NOT_RUN, [row for key, row in written.items() if key not in run]),
        (Kind.RUN_ONLY, [row for key, row in run.items() if key not in written]),
        # A variant that fires no event of a machine does not model that machine.
        (Kind.NEVER_FIRED, [row for row in run.values() if of_runs and row.event not in of_runs]),
    ):
        for row in rows:
            cited = f"line {row.line}" if row.line is not None else f"fact {row.fact}"
            yield Difference(kind, sort, row.event, row.source, row.target, cited)


def fired(model: Model, sort: str) -> set[str]:
    """The events of a sort that an action or a trigger rule fires."""
    firings = [*(f for action in model.actions for f in action.fires), *(rule.fires for rule in model.rules)]
    return {firing.event for firing in firings if sort_of(model, firing.of, {}) == sort}


def _rows(system: System, rows: tuple[Row, ...]) -> dict[tuple[str, str, str], Row]:
    return {(r.event, r.source, r.target): r for r in rows if r.event in system.tables[r.sort.name]}
