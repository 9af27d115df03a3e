"""Verdicts of properties, and the states and scopes that they cover."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from schedproof.model.lang.properties import LifeCycle
from schedproof.model.notebook import InNotebook, numbered, paragraph, table
from schedproof.model.semantics import Choice, scope_text


class Verdict(enum.StrEnum):
    """The three verdicts.

    ``verify`` succeeds only if each verdict is the expected one. ``UNDETERMINED`` is never expected.
    """

    PROVED = "proved"
    """The property holds; :attr:`Result.for_any_number` is false if this was found out for one scope only."""
    REFUTED = "refuted"
    """A run from the initial state violates the property, no run has the life cycle, or a liveness property reads a field of NONE."""
    UNDETERMINED = "undetermined"
    """Neither was found, or the premise of the property is never true at the explored scope."""


NOT_WELL_FORMED = "the model is not proved well-formed"
"""Why a property is undetermined whose own obligations are proved."""

NOT_INDUCTIVE = "not inductive"
"""The note of an obligation that a step fails."""


def any_number(bounds: Mapping[str, int], of: str = "any number") -> str:
    """``of``, limited to the numbers of objects that the axioms allow: ``any number, at most 1 Clock``."""
    return ", ".join([of, *(f"at most {most} {sort}" for sort, most in bounds.items())])


def assuming(names: Sequence[str]) -> str:
    """What a verdict says of the assumptions with these names: ``, assuming renew < lease``; "" without any."""
    *others, last = names or [""]
    return f", assuming {', '.join(others)}{' and ' if others else ''}{last}" if names else ""


class Method(enum.StrEnum):
    """How a verdict was found."""

    INDUCTION = "induction"
    """A proof for any number of objects."""
    EXPLORATION = "exploration"
    """A search of every reachable state at a scope."""
    CONSTRUCTION = "construction"
    """A property that no state of the encoding can violate."""


class Disagreement(Exception):
    """Two independent engines gave contradictory verdicts, so one of them is wrong."""

    exit_code = 1
    headline = "two engines disagree: "


@dataclass(frozen=True)
class FieldChange:
    """A change of one field of one object in a step.

    Attributes:
        object: the name of the object.
        field: "state", or the name of an attribute.
        before: the value before the step.
        after: the value after the step.
        event: the event that changed the field.
        cause: the action or trigger rule that fired the event.
        line: of the document, from which the row comes.
        fact: the id of a fact, if the row comes from no line.
    """

    object: str
    field: str
    before: Any
    after: Any
    event: str
    cause: str
    line: int | None
    fact: str = ""

    def as_json(self) -> dict[str, Any]:
        """The change as ``--json`` prints it."""
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
    """One step of a counterexample, with names instead of numbers.

    Attributes:
        action: the name of the action.
        parameters: name -> value.
        says: the step in plain words.
        line: the line of the document that the action is read from.
        changes: what the step changes.
        fact: the id of a fact, if the action comes from no line.
        ill_formed: why the step is ill-formed, so that no state follows it; empty for a well-formed step.
    """

    action: str
    parameters: Mapping[str, Any]
    says: str
    line: int | None
    changes: Sequence[FieldChange]
    fact: str = ""
    ill_formed: str = ""

    def as_json(self) -> dict[str, Any]:
        """The step as ``--json`` prints it."""
        entry: dict[str, Any] = {
            "action": self.action,
            "parameters": dict(self.parameters),
            "says": self.says,
            "line": self.line,
            "fact": self.fact,
            "changes": [c.as_json() for c in self.changes],
        }
        return {**entry, "ill_formed": self.ill_formed} if self.ill_formed else entry


@dataclass(frozen=True)
class ObjectFacts:
    """Facts about one object.

    Attributes:
        object: its name.
        text: the facts in words.
        fields: the facts by the name of the field.
        sort: the name of its sort.
    """

    object: str
    text: str
    fields: Mapping[str, Any]
    sort: str = ""


@dataclass(frozen=True)
class RecordedRun:
    """The run of a counterexample in the numbers of its instance, so that it can be repeated.

    Attributes:
        sizes: sort name -> number of objects.
        rigid: the rigid values of the configuration: sort, attribute, and a value for each object, encoded as in a state.
        with_history: whether the states include history attributes.
        choices: the choice of each step.
        bound: the property's variables for which it is violated -> encoded value.
    """

    sizes: Mapping[str, int]
    rigid: tuple[tuple[str, str, tuple[int, ...]], ...]
    with_history: bool
    choices: tuple[Choice, ...]
    bound: Mapping[str, int]


@dataclass(frozen=True)
class Counterexample(InNotebook):
    """Why a property fails: a run from the initial state, or a counterexample to induction.

    Attributes:
        steps: the run, one action after the other.
        problem: the violated property and the objects that violate it, without a full stop.
        loops_from: the index of the step at which a lasso's loop begins.
        start: the state that induction could not exclude; then ``steps`` is one step from it.
        setting: rigid facts of the run's objects; left out are objects without any, and those that reports do not introduce (``Machine(introduced=False)``).
        end: the fields of the objects that ``problem`` names, in the final state; left out are those that are none, empty or
            false.
        objects: every object of the run, with its sort and its rigid facts.
        initial: the fields of these objects in the initial state. A field that is not there is none, empty or false.
        initial_state: the initial state itself violates the property.
        recorded: the run in numbers, None if it is not a run of the model from the initial state; internal.
    """

    steps: Sequence[TraceStep]
    problem: str
    loops_from: int | None = None
    start: Mapping[str, Any] | None = None
    setting: Sequence[ObjectFacts] = ()
    end: Sequence[ObjectFacts] = ()
    objects: Sequence[ObjectFacts] = ()
    initial: Sequence[ObjectFacts] = ()
    initial_state: bool = False
    recorded: RecordedRun | None = field(default=None, compare=False, repr=False)

    @property
    def _in_words(self) -> str:
        return "\n".join([*(f"{n}. {step.says}" for n, step in enumerate(self.steps, 1)), self.problem])

    def _repr_html_(self) -> str:
        return numbered(step.says for step in self.steps) + paragraph(self.problem)

    @property
    def ending(self) -> str:
        """``end`` in one line; empty if ``problem`` names no objects."""
        return "; ".join(facts.text for facts in self.end)

    def as_json(self) -> dict[str, Any]:
        """The counterexample as ``--json`` prints it."""
        content: dict[str, Any] = {
            "setting": facts_as_json(self.setting),
            "objects": objects_as_json(self.objects),
            "initial": facts_as_json(self.initial),
            "steps": [s.as_json() for s in self.steps],
            "problem": self.problem,
            "end": facts_as_json(self.end),
        }
        if self.loops_from is not None:
            content["loops_from"] = self.loops_from
        if self.start is not None:
            content["start"] = self.start
        return content


def facts_as_json(facts: Sequence[ObjectFacts]) -> dict[str, Any]:
    """The facts by the object's name."""
    return {each.object: dict(each.fields) for each in facts}


def objects_as_json(facts: Sequence[ObjectFacts]) -> dict[str, Any]:
    """Each object's sort and rigid values, by the object's name."""
    return {each.object: {"sort": each.sort, "rigid": dict(each.fields)} for each in facts}


MOST_LISTED = 5
"""The most names of actions, and of rules, that :attr:`Unfired.text` lists."""


@dataclass(frozen=True)
class Unfired:
    """What never happens at a scope.

    Attributes:
        actions: the actions that are never taken.
        rules: the rules that never fire, without those that only follow from these actions.
        where: the explored scope, in words.
    """

    actions: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    where: str = field(compare=False, default="")

    @property
    def text(self) -> str:
        """The names in one line; empty if everything happens."""
        parts = []
        for noun, names in (("action", self.actions), ("rule", self.rules)):
            if names:
                more = [f"{len(names) - MOST_LISTED} more"] if len(names) > MOST_LISTED else []
                listed = [*(repr(name) if " " in name else name for name in names[:MOST_LISTED]), *more]
                parts.append(f"{noun}{'s' if len(names) > 1 else ''} {', '.join(listed)}")
        return "; ".join(parts)

    def as_json(self) -> dict[str, Any]:
        """The names as ``--json`` prints them."""
        return {"actions": list(self.actions), "rules": list(self.rules)}


@dataclass(frozen=True)
class Result(InNotebook):
    """The verdict of one method on one property.

    Attributes:
        name: the name of the property.
        kind: its kind, for example "invariant".
        verdict: the verdict.
        method: the engine that produced it.
        scope: sort name -> number of objects of the exploration; None if the verdict is about any number.
        seconds: the time that it took.
        counterexample: why the property is refuted, or where induction failed.
        note: why the verdict is undetermined, or the reason of a construction.
        vacuous: the premise of the property was never true.
        configurations: the number of explored configurations; if above 1, ``scope`` has the largest number of objects
            of each sort.
        lemmas: the other invariants that a proof by induction uses.
        within: the bounds of integers in an exploration that took no step beyond them, such as ``term <= 3``; empty if there was
            no such step.
        bounds: the largest number of objects by sort, where the axioms bound it. A proof by induction covers no more.
        unfired: of ``well-formed``, the actions and rules that never happened in the exploration of ``verify``; None if unknown.
        assuming: the names of the assumptions on which it rests that the property holds: see ``Model.assuming``. Of an exploration,
            those that its configurations meet.
    """

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
    lemmas: Sequence[str] = ()
    bounds: Mapping[str, int] = field(default_factory=dict)
    within: str = ""
    unfired: Unfired | None = None
    assuming: Sequence[str] = ()

    @property
    def _in_words(self) -> str:
        run = f"\n{self.counterexample._in_words}" if self.counterexample is not None else ""
        return f"{self.name}: {self.reach}{run}"

    def _repr_html_(self) -> str:
        run = self.counterexample._repr_html_() if self.counterexample is not None else ""
        return table("", ["property", "kind", "verdict"], [[self.name, self.kind, self.reach]]) + run

    @property
    def for_any_number(self) -> bool:
        """Whether the property is proved for any number of objects that the axioms allow.

        False for a property that an exploration found to hold at its scope: more objects may violate it.
        """
        return self.verdict is Verdict.PROVED and self.method is not Method.EXPLORATION

    def as_json(self) -> dict[str, Any]:
        """The result as ``--json`` prints it."""
        entry: dict[str, Any] = {
            "name": self.name,
            "kind": self.kind,
            "verdict": str(self.verdict),
            "method": str(self.method),
            "scope": dict(self.scope) if self.scope is not None else None,
            "seconds": round(self.seconds, 4),
        }
        if self.configurations > 1:
            entry["topologies"] = self.configurations
        if self.note:
            entry["note"] = self.note
        if self.lemmas:
            entry["lemmas"] = list(self.lemmas)
        if self.bounds:
            entry["bounds"] = dict(self.bounds)
        if self.within:
            entry["within"] = self.within
        if self.unfired is not None and self.unfired.text:
            entry["unfired"] = self.unfired.as_json()
        if self.assuming:
            entry["assuming"] = list(self.assuming)
        if self.counterexample is not None:
            entry["counterexample"] = self.counterexample.as_json()
        return entry

    @property
    def reach(self) -> str:
        """The verdict with its scope, as the table of ``verify`` shows it."""
        if self.verdict is Verdict.UNDETERMINED:
            return f"undetermined: {self.note}"
        at = scope_text(self.scope or {})
        if self.verdict is Verdict.REFUTED:
            steps = len(self.counterexample.steps) if self.counterexample else 0
            # A life cycle that cannot happen has no run, and neither has a model that is wrong in itself.
            at_once = (
                "refuted in the initial state"
                if self.counterexample and self.counterexample.initial_state
                else "refuted"
            )
            ways = {0: at_once, 1: "refuted in 1 step"}
            reached = ways.get(steps, f"refuted in {steps} steps")
            return f"{reached} at {at}" if at else f"{reached} in the model itself"
        match self.method:
            case Method.INDUCTION:
                return f"proved ({any_number(self.bounds)}){assuming(self.assuming)}"
            case Method.CONSTRUCTION:
                return "by construction"
            case Method.EXPLORATION:
                some = "some of " if self.kind == LifeCycle.kind else ""  # one configuration with the run is enough
                number = self.configurations
                several = f"in {some}{number} configurations of up to" if number > 1 else "at"
                within = f" within {self.within}" if self.within else ""
                return f"holds {several} {at}{within}{assuming(self.assuming)}"
