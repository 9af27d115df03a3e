"""Silences: what can happen in a model, and the table of its document has no row for it.

A model has no such step, because a condition keeps the event from the object: a guard, or the condition of a rule, asks for
another state. Where the document does not state that condition, it is silent about what happens then.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from schedproof.model.lang import NONE, Action, Model, Property, StepInvariant
from schedproof.model.lang import terms as t
from schedproof.model.lang.infer import sort_of
from schedproof.model.lang.properties import Invariant
from schedproof.model.lang.types import Ref
from schedproof.model.lang.wording import show_term
from schedproof.proofs.checking.model_check import model_check
from schedproof.proofs.verdict import Counterexample, Verdict

from .sources import fired


@dataclass(frozen=True)
class Silence:
    """An event that would reach an object in states without a row for it, if one condition were not there.

    Attributes:
        by: the action or the rule whose condition keeps the event away: ``action start``.
        line: of the document that the action or the rule cites; None if it cites none.
        condition: the condition, in words.
        sort: the name of the object's sort.
        event: the name of the event.
        runs: state without a row -> a shortest run to where the event would occur.
    """

    by: str
    line: int | None
    condition: str
    sort: str
    event: str
    runs: Mapping[str, Counterexample]

    @property
    def text(self) -> str:
        """The silence in one line."""
        cites = f" (line {self.line})" if self.line is not None else ""
        states = ", ".join(f"{state} ({_steps(run)})" for state, run in self.runs.items())
        return f"{self.by}{cites}: only if {self.condition}; no row of {self.sort} has {self.event} from {states}"

    def as_json(self) -> dict[str, Any]:
        """The silence as ``coverage --silences --json`` prints it."""
        return {
            "by": self.by,
            "line": self.line,
            "condition": self.condition,
            "sort": self.sort,
            "event": self.event,
            "runs": {state: [step.as_json() for step in run.steps] for state, run in self.runs.items()},
        }


@dataclass(frozen=True)
class Withheld:
    """An event that one condition keeps from the states without a row for it, whether or not a run leads there.

    Attributes:
        by: the action or the rule whose condition keeps the event away, by its name in a ledger: ``action start``.
        condition: the condition, in words.
        sort: the name of the object's sort.
        event: the name of the event.
        states: the states without a row.
    """

    by: str
    condition: str
    sort: str
    event: str
    states: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """It as ``findings --json`` prints it."""
        return {
            "by": self.by,
            "condition": self.condition,
            "sort": self.sort,
            "event": self.event,
            "states": list(self.states),
        }


def _steps(run: Counterexample) -> str:
    many = len(run.steps)
    return "at the beginning" if not many else f"after {many} step{'' if many == 1 else 's'}"


@dataclass(frozen=True)
class _Question:
    """A property that is violated where a silence is."""

    prop: Property
    sort: str
    event: str
    state: str
    element: str
    line: int | None
    condition: str

    @property
    def by(self) -> str:
        """The element for readers: the name of a rule is a sentence, and stands in quotes."""
        kind, _, name = self.element.partition(" ")
        return f"rule {name!r}" if kind == "rule" else self.element


def silences(model: Model, scope: Mapping[str, int] | None = None) -> list[Silence]:
    """The silences of a model that exploration meets: what rules withhold, then what actions do.

    What follows from a trigger is seldom meant to stop half-way, while each action has objects for which it is meant.
    Actions with parameters that are sets are left out: no property can range over sets.

    Args:
        model: the model.
        scope: sort name -> number of objects, instead of the model's default.

    Raises:
        ScopeError: the scope is impossible.
    """
    questions = {each.prop.name: each for each in [*_of_rules(model), *_of_actions(model)]}
    asked = model.asking([each.prop for each in questions.values()])
    results = model_check(asked, scope or {}) if questions else []
    by_condition: dict[tuple[str, int | None, str, str, str], dict[str, Counterexample]] = {}
    for result in results:
        if (
            (q := questions.get(result.name))
            and result.verdict is Verdict.REFUTED
            and result.counterexample is not None
        ):
            key = (q.by, q.line, q.condition, q.sort, q.event)
            by_condition.setdefault(key, {})[q.state] = result.counterexample
    return [Silence(*key, runs) for key, runs in by_condition.items()]


def withheld(model: Model) -> list[Withheld]:
    """All that conditions of a model may keep from states without a row; exploration is not needed."""
    states: dict[tuple[str, str, str, str], list[str]] = {}
    for q in [*_of_rules(model), *_of_actions(model)]:
        states.setdefault((q.element, q.condition, q.sort, q.event), []).append(q.state)
    return [Withheld(*key, tuple(some)) for key, some in states.items()]


def loose_ends(model: Model) -> list[str]:
    """States that no row leaves, events that nothing fires, and rows that no condition allows; exploration is not needed.

    In the last, the document says what an event does in a state, and each action and rule that fires it excludes this state.
    """
    lines, allowed = [], _allowed(model)
    for machine in model.machines:
        rows = model.table(machine.sort)
        left = {row.source for row in rows if row.target != row.source}
        final = [state.name for state in machine.states if state.name not in left and len(machine.states) > 1]
        if final:
            lines.append(f"{machine.sort}: no row leaves {', '.join(final)}")
        of_sort = fired(model, machine.sort.name)
        if unfired := [event for event in _events(model, machine.sort.name) if event not in of_sort]:
            lines.append(f"{machine.sort}: nothing fires {', '.join(unfired)}")
        excluded = [
            f"{row.event} from {row.source}"
            for row in rows
            if row.event in of_sort and row.source not in allowed[machine.sort.name, row.event]
        ]
        if excluded:
            lines.append(f"{machine.sort}: every condition excludes {', '.join(excluded)}")
    return lines


def _allowed(model: Model) -> Mapping[tuple[str, str], set[str]]:
    """(sort, event) -> the states in which the conditions of some action or rule that fires it let the receiver be."""
    allowed: dict[tuple[str, str], set[str]] = {}
    firings = [(firing, action.when) for action in model.actions for firing in action.fires]
    for firing, when in [*firings, *((rule.fires, rule.when) for rule in model.rules)]:
        machine = model.machine(sort_of(model, firing.of, {}))
        states = {state.name for state in machine.states}
        for condition in _each_condition(when):
            negated = isinstance(condition, t.Not)
            listed = condition.part if isinstance(condition, t.Not) else condition
            if isinstance(listed, t.Is) and repr(listed.of) == repr(firing.of):
                states = states - set(listed.states) if negated else states & set(listed.states)
        allowed.setdefault((machine.sort.name, firing.event), set()).update(states)
    return allowed


def _uncovered(model: Model, firing: t.Fires, conditions: Iterable[t.Term]) -> Iterator[tuple[int, str, str]]:
    """(position of a condition on the receiver's state, sort, state without a row) of a firing.

    A condition is on the state whether it lists the states that may be, or, in a negation, those that may not.
    """
    machine = model.machine(sort_of(model, firing.of, {}))
    have = {row.source for row in model.table(machine.sort) if row.event == firing.event}
    for at, condition in enumerate(conditions):
        if any(isinstance(part, t.Is) and repr(part.of) == repr(firing.of) for part in t.subterms(condition)):
            for state in machine.states:
                if state.name not in have and not state.unreachable:
                    yield at, machine.sort.name, state.name


def _of_actions(model: Model) -> Iterator[_Question]:
    for action in model.actions:
        if not all(isinstance(each.type, Ref) for each in action.parameters):
            continue
        when = _each_condition(action.when)
        for firing in action.fires:
            for at, sort, state in _uncovered(model, firing, when):
                prop = Invariant(
                    name=f"action {action.name} {firing.event} {at} {state}",
                    says="",
                    over=action.parameters,
                    given=_but_for(when, at, firing.of, state),
                    then=~t.Is(firing.of, (state,)),
                )
                condition = show_term(when[at])
                yield _Question(prop, sort, firing.event, state, f"action {action.name}", action.line, condition)


def _of_rules(model: Model) -> Iterator[_Question]:
    for rule in model.rules:
        on = rule.on
        if isinstance(on, Action) and on.crash:
            continue  # what a crash does not take is durable
        when = _each_condition(rule.when)
        for at, sort, state in _uncovered(model, rule.fires, when):
            # Another rule may say what happens to the object in that state.
            idle = [~t.Fires(rule.fires.of, event, ()) for event in _events(model, sort)]
            given = t.And((_but_for(when, at, rule.fires.of, state), *idle))
            known = on.parameters if isinstance(on, Action) else ()
            free = {name: v for part in (*rule.when, rule.fires.of) for name, v in t.free_variables(part).items()}
            free |= {} if isinstance(on, Action) else t.free_variables(on.of)
            over = [v for name, v in free.items() if name not in {each.name for each in known}]
            prop = StepInvariant(
                name=f"rule {rule.name} {rule.fires.event} {at} {state}",
                says="",
                over=over,
                on=[on.name] if isinstance(on, Action) else (),
                given=given if isinstance(on, Action) else t.Fires(on.of, on.event, ()) & given,
                then=~t.Is(rule.fires.of, (state,)),
            )
            condition = show_term(when[at])
            yield _Question(prop, sort, rule.fires.event, state, f"rule {rule.name}", rule.line, condition)


def _each_condition(when: Iterable[t.Term]) -> list[t.Term]:
    """The conditions of a ``when``, also those that it joins in one conjunction."""
    return [condition for part in when for condition in t.conjuncts(part)]


def _but_for(conditions: Sequence[t.Term], at: int, receiver: t.Term, state: str) -> t.Term:
    """All conditions but one, and that the receiver is in a state. A receiver that is an attribute may be NONE."""
    exists = [receiver != NONE] if isinstance(receiver, t.Attr) else []
    others = [each for number, each in enumerate(conditions) if number != at]
    return t.And((*exists, *others, t.Is(receiver, (state,))))


def _events(model: Model, sort: str) -> list[str]:
    """The events of a sort, in the order of its table."""
    return list(dict.fromkeys(row.event for row in model.table(sort)))
