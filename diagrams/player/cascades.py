"""The firings of a step, each with the action or the rule that caused it and the firing that triggered the rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from schedproof.model.lang import Action, Rule, Var
from schedproof.model.lang import terms as t
from schedproof.model.lang.triggers import trigger_graph
from schedproof.model.lang.wording import show_exactly
from schedproof.model.semantics import Causes, Choice, Firings, Moment, State, Stepper, compile_term, search
from schedproof.model.semantics.evaluate import NOBODY, Eval, sort_of_term
from schedproof.model.semantics.search import Search
from schedproof.proofs.exploration.counterexample_text import shown
from schedproof.proofs.verdict import FieldChange, TraceStep

from .data import Cause, Firing, PlayedStep
from .formulas import Position
from .vocabulary import Encoder

Key = tuple[str, str, int]
"""A firing: sort, event, object number."""


@dataclass(frozen=True)
class _Trigger:
    """A rule on an event, compiled: its search, the object that it fires on, and the object whose event triggers it."""

    sort: str
    event: str
    when: Search[Moment]
    target: Eval
    source: Eval


class Cascades:
    """Finds the causes of firings; compiles each rule once."""

    def __init__(self, stepper: Stepper) -> None:
        self.stepper, self._instance = stepper, stepper.instance
        self.encoder = Encoder(stepper.instance)
        self._triggers: dict[str, _Trigger] = {}
        order = trigger_graph(self._instance.model).sorted()
        self._order = {node: n for n, node in enumerate(order)}

    def firings(
        self, state: State, choice: Choice, changed: Sequence[FieldChange]
    ) -> tuple[Firings, tuple[Firing, ...]]:
        """The firings of a well-formed step, in numbers and for the page.

        Args:
            changed: the fields that the step changes.

        Raises:
            IllFormed, Undefined: the step is not well-formed.
        """
        causes: Causes = {}
        fired = self.stepper.firings(state, choice, causes)
        # A cause comes before its effects.
        keys = sorted(causes, key=lambda key: (self._order[key[0], key[1]], key[2]))
        numbers = {key: n for n, key in enumerate(keys)}
        changes: dict[tuple[str, str], dict[str, tuple[str, str]]] = {}
        for each in changed:
            changes.setdefault((each.object, each.event), {})[each.field] = shown(each.before), shown(each.after)
        return fired, tuple(self._firing(state, choice, fired, key, causes[key], numbers, changes) for key in keys)

    def _firing(
        self,
        state: State,
        choice: Choice,
        fired: Firings,
        key: Key,
        cause: Action | Rule,
        numbers: Mapping[Key, int],
        changes: Mapping[tuple[str, str], Mapping[str, tuple[str, str]]],
    ) -> Firing:
        sort, event, number = key
        name = self._instance.object_names(sort)[number]
        machine = self._instance.model.machine(sort)
        source = machine.states[state[self._instance.slot(sort) + number]].name
        row = next(r for r in self._instance.model.table(machine.sort) if (r.event, r.source) == (event, source))
        return Firing(
            name,
            f"{sort}.{event}",
            self._cause(state, choice, fired, key, cause, numbers),
            row.source,
            row.target,
            row.line,
            row.fact,
            changes.get((name, f"{sort}.{event}"), {}),
            self.encoder.payload(sort, event, fired[sort, event][number]),
        )

    def _cause(
        self,
        state: State,
        choice: Choice,
        fired: Firings,
        key: Key,
        cause: Action | Rule,
        numbers: Mapping[Key, int],
    ) -> Cause:
        if isinstance(cause, Action):
            return Cause(cause.name, False, "", cause.line, cause.fact, None)
        conditions = [*([cause.on] if isinstance(cause.on, t.Fires) else []), *cause.when]
        condition = show_exactly(t.both(conditions)) if conditions else ""
        trigger = self._trigger(cause)
        firing = None
        if trigger is not None:
            moment = Moment(state, dict(choice.parameters), fired)
            for _ in trigger.when.solutions(moment):
                if trigger.target(moment) == key[2]:
                    firing = numbers[trigger.sort, trigger.event, trigger.source(moment)]
                    break
        return Cause(cause.name, True, condition, cause.line, cause.fact, firing)

    def _trigger(self, rule: Rule) -> _Trigger | None:
        """The compiled rule; None for a rule on an action."""
        if isinstance(rule.on, Action):
            return None
        if rule.name not in self._triggers:
            conditions = [rule.on, *rule.when]
            free: dict[str, Var] = {}
            for part in (*conditions, rule.fires):
                free |= {n: v for n, v in t.free_variables(part).items() if n not in free}
            self._triggers[rule.name] = _Trigger(
                sort_of_term(self._instance, rule.on.of, free, NOBODY),
                rule.on.event,
                search(self._instance, {}, list(free.values()), conditions),
                compile_term(self._instance, rule.fires.of, free),
                compile_term(self._instance, rule.on.of, free),
            )
        return self._triggers[rule.name]


def play(cascades: Cascades, before: State, choice: Choice, step: TraceStep) -> tuple[Position, PlayedStep]:
    """A step for the page, and the position of the run after it.

    Args:
        before: the state before the step.
        choice, step: the step, in numbers and in words.
    """
    encoder = cascades.encoder
    if step.ill_formed:
        return Position(before), PlayedStep(
            step.says, step.action, step.line, step.fact, (), step.ill_formed, encoder.parameters(choice)
        )
    fired, firings = cascades.firings(before, choice, step.changes)
    after = cascades.stepper.apply(before, fired)
    return Position(after, before, choice, fired), PlayedStep(
        step.says,
        step.action,
        step.line,
        step.fact,
        firings,
        "",
        encoder.parameters(choice),
        encoder.writes(before, after),
    )
