"""Verdicts, and how far they reach."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from schedproof.model.semantics import scope_text


class Verdict(enum.StrEnum):
    """There are three; only an expected one is green, and undetermined never is."""

    PROVED = "proved"
    REFUTED = "refuted"
    UNDETERMINED = "undetermined"


class Method(enum.StrEnum):
    """How a verdict was reached."""

    INDUCTION = "induction"
    """For any number of objects."""
    EXPLORATION = "exploration"
    """Of every reachable state at a scope."""
    CONSTRUCTION = "construction"
    """No state of the encoding can violate it."""


class Disagreement(Exception):
    """Two independent ways gave different answers: the build stops."""

    exit_code = 1
    headline = "two engines disagree: "


@dataclass(frozen=True)
class FieldChange:
    """One field of one object: old and new value; the event that changed it, and what caused that."""

    object: str
    field: str
    before: Any
    after: Any
    event: str
    cause: str
    line: int | None
    fact: str = ""

    def as_json(self) -> dict[str, Any]:
        """For ``--json``."""
        return {
            "object": self.object,
            "field": self.field,
            "before": self.before,
            "after": self.after,
            "event": self.event,
            "rule": self.cause,
            "line": self.line,
            "fact": self.fact,
        }


@dataclass(frozen=True)
class TraceStep:
    """One step of a counterexample, with names instead of numbers."""

    action: str
    parameters: Mapping[str, object]
    says: str
    line: int | None
    changes: Sequence[FieldChange]
    fact: str = ""

    def as_json(self) -> dict[str, Any]:
        """For ``--json``."""
        return {
            "action": self.action,
            "parameters": dict(self.parameters),
            "changes": [c.as_json() for c in self.changes],
        }


@dataclass(frozen=True)
class ObjectFacts:
    """What is true of one object: in ``text`` as a reader sees it, in ``fields`` by name."""

    object: str
    text: str
    fields: Mapping[str, Any]
    sort: str = ""


@dataclass(frozen=True)
class Counterexample:
    """Why a property fails: a run from the initial state (``loops_from`` marks a lasso's loop), or,
    with ``start``, one step from a state that induction could not exclude.

    Args:
        problem: which property is violated for which objects, without a full stop.
        setting: the rigid facts of the objects that the run is about, of those that have some and stand for themselves.
        end: the fields in the final state of the objects that ``problem`` names.
        objects: every object of the run, introduced: its sort and its rigid facts.
        initial: the fields of these objects in the initial state.
    """

    steps: Sequence[TraceStep]
    problem: str
    loops_from: int | None = None
    start: Mapping[str, Any] | None = None
    setting: Sequence[ObjectFacts] = ()
    end: Sequence[ObjectFacts] = ()
    objects: Sequence[ObjectFacts] = ()
    initial: Sequence[ObjectFacts] = ()

    @property
    def ending(self) -> str:
        """``end`` in one line, empty if nothing is named."""
        return "; ".join(facts.text for facts in self.end)

    def as_json(self) -> dict[str, Any]:
        """For ``--json``."""
        found: dict[str, Any] = {
            "setting": facts_as_json(self.setting),
            "steps": [s.as_json() for s in self.steps],
            "problem": self.problem,
            "end": facts_as_json(self.end),
        }
        if self.loops_from is not None:
            found["loops_from"] = self.loops_from
        if self.start is not None:
            found["start"] = self.start
        return found


def facts_as_json(facts: Sequence[ObjectFacts]) -> dict[str, Any]:
    """Objects by name, each with its facts."""
    return {each.object: dict(each.fields) for each in facts}


@dataclass(frozen=True)
class Result:
    """A property's verdict by one method."""

    name: str
    kind: str
    verdict: Verdict
    method: Method
    scope: Mapping[str, int] | None
    seconds: float = field(compare=False)
    counterexample: Counterexample | None = None
    note: str = ""
    vacuous: bool = False
    configurations: int = 1
    """How many of them were explored; then ``scope`` is the most objects of a sort in one of them."""

    @property
    def reach(self) -> str:
        """How far the verdict reaches, in the words of the table."""
        if self.verdict is Verdict.UNDETERMINED:
            return f"undetermined: {self.note}"
        at = scope_text(self.scope or {})
        if self.verdict is Verdict.REFUTED:
            steps = len(self.counterexample.steps) if self.counterexample else 0
            ways = {0: "refuted", 1: "refuted in 1 step"}
            reached = ways.get(steps, f"refuted in {steps} steps")
            return f"{reached} at {at}" if at else f"{reached} in the model itself"
        match self.method:
            case Method.INDUCTION:
                return "proved (any number)"
            case Method.CONSTRUCTION:
                return "by construction"
            case Method.EXPLORATION:
                several = f"in {self.configurations} configurations of up to" if self.configurations > 1 else "at"
                return f"holds {several} {at}"
