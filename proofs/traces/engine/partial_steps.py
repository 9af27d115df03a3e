"""The steps of a partly observed model.

A step counts if it agrees with the observed fields under some guess of the others. So there are more steps here than in
the model: a record that none of them explains, the model does not explain.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import product
from typing import Any

from schedproof.model.lang import Action, Model, Row, Rule
from schedproof.model.lang import terms as t
from schedproof.model.lang.infer import sort_of
from schedproof.model.lang.properties import Invariant, StepInvariant
from schedproof.model.lang.terms import Fires
from schedproof.model.lang.triggers import TriggerGraph, trigger_graph
from schedproof.model.lang.types import Ref
from schedproof.model.semantics import Remembered, Undefined

from .partial import NOBODY, UNKNOWN, EvaluationContext, Guesses, Obj, Reading, Values, View, compiled, every_guess


class _NoRow(Exception):
    """A followed object fires where its table has no row, or fires twice."""


_Effect = tuple[frozenset[tuple[Obj, str]], tuple[tuple[int, Any], ...]]
"""The firings, and the changed values as (position, new value)."""


@dataclass(frozen=True)
class PartialStep:
    """A step: the action with the objects of its parameters, the firings, and the values after."""

    action: str
    bound: tuple[tuple[str, Obj], ...]
    fired: frozenset[tuple[Obj, str]]
    after: Values


@dataclass(frozen=True)
class Plan:
    """The part of a model that can change the followed fields: (sort, attribute) pairs, "" for the state."""

    model: Model
    fields: frozenset[tuple[str, str]]

    @staticmethod
    def of(view: View) -> Plan:
        """The plan for all views that follow the same fields."""
        return Plan(view.model, frozenset((sort, name) for sort, name, _ in view.follows))

    @cached_property
    def _graph(self) -> TriggerGraph:
        return trigger_graph(self.model)

    @cached_property
    def _visible(self) -> frozenset[tuple[str, str]]:
        """The events and actions that can change a followed field."""
        changing = {
            (row.sort.name, row.event)
            for row in self.model.rows
            if ((row.sort.name, "") in self.fields and row.source != row.target)
            or any((row.sort.name, name) in self.fields for name, _ in row.sets)
        }
        ancestors = {a for key in changing if key in self._graph for a in self._graph.ancestors(key)}
        return frozenset(changing | ancestors)

    @cached_property
    def actions(self) -> Sequence[tuple[Action, Sequence[Reading]]]:
        """The actions that can change a followed field, each with its guard.

        Observed conditions come first, to save guesses.
        """
        guarded = []
        for action in self.model.actions:
            if (action.name, "") in self._visible:
                guarded.append((action, [compiled(part) for part in sorted(action.when, key=self._asks_unobserved)]))
        return guarded

    def _asks_unobserved(self, term: t.Term) -> bool:
        """Whether the term reads a state that is not followed."""
        if isinstance(term, t.Is) and (sort_of(self.model, term.of, {}), "") not in self.fields:
            return True
        return isinstance(term, t.Quantified | t.Count) or any(self._asks_unobserved(part) for part in t.children(term))

    @cached_property
    def rules(self) -> Sequence[tuple[Rule, tuple[str, str], Sequence[t.Var]]]:
        """The rules in causal order, each with what triggers it and its own variables."""
        order = {node: at for at, node in enumerate(self._graph.sorted())}
        ordered = []
        for rule in self.model.rules:
            head = (sort_of(self.model, rule.fires.of, {}), rule.fires.event)
            if head not in self._visible:
                continue
            known = {v.name for v in rule.on.parameters} if isinstance(rule.on, Action) else set()
            if isinstance(rule.on, Action):
                on = (rule.on.name, "")
            else:
                on = (sort_of(self.model, rule.on.of, {}), rule.on.event)
            conditions = [*([rule.on] if isinstance(rule.on, Fires) else []), *rule.when, rule.fires]
            free = {n: v for part in conditions for n, v in t.free_variables(part).items() if n not in known}
            ordered.append((order[head], rule, on, list(free.values())))
        return [(rule, on, free) for _, rule, on, free in sorted(ordered, key=lambda entry: entry[0])]

    @cached_property
    def rows(self) -> Mapping[tuple[str, str, str], Row]:
        """The rows of all tables, by sort, event and source."""
        return {(r.sort.name, r.event, r.source): r for r in self.model.rows}

    @cached_property
    def leading(self) -> Mapping[tuple[str, str], Sequence[Row]]:
        """The rows of each event."""
        rows: dict[tuple[str, str], list[Row]] = {}
        for row in self.model.rows:
            rows.setdefault((row.sort.name, row.event), []).append(row)
        return rows


@dataclass(frozen=True)
class PartialSteps:
    """The steps of a view that change a followed field."""

    view: View
    plan: Plan

    def _sources(self, obj: Obj, event: str) -> frozenset[str]:
        """The states in which an object that is not followed can fire the event, given the states that it may be in."""
        may_be = self.view.may_be.get(obj)
        rows = self.plan.leading.get((obj[0], event), ())
        return frozenset(row.source for row in rows if may_be is None or row.target in may_be)

    def steps(self, values: Values) -> Iterator[PartialStep]:
        """Every step from ``values`` that changes something."""
        seen: set[tuple[str, Values]] = set()
        for name, bound, effects in self._ways:
            for fired, writes in effects(values):
                after = list(values)
                for place, value in writes:
                    after[place] = value
                step = PartialStep(name, bound, fired, tuple(after))
                if step.after != values and (name, step.after) not in seen:
                    seen.add((name, step.after))
                    yield step

    @cached_property
    def _ways(self) -> Sequence[tuple[str, tuple[tuple[str, Obj], ...], Remembered[Sequence[_Effect]]]]:
        """Each action with each choice of its parameters, and its effects.

        Effects are cached by the values that they read.
        """
        ways = []
        for action, guard in self.plan.actions:
            names = [v.name for v in action.parameters]
            for chosen in product(*(self._domain(v) for v in action.parameters)):
                bound = tuple(zip(names, chosen, strict=True))
                ways.append((action.name, bound, Remembered(partial(self._effects, action, guard, dict(bound)))))
        return ways

    def _effects(
        self, action: Action, guard: Sequence[Reading], bound: dict[str, Obj], values: Values
    ) -> Sequence[_Effect]:
        """The effects of a choice under all guesses, without duplicates."""
        effects = every_guess(partial(self._effect, action, guard, bound, values))
        return list(dict.fromkeys(effect for effect in effects if effect is not None))

    def _domain(self, variable: t.Var) -> Sequence[Obj]:
        assert isinstance(variable.type, Ref), variable
        sort = variable.type.sort.name
        return [(sort, number) for number in range(self.view.sizes[sort])]

    def _effect(
        self, action: Action, guard: Sequence[Reading], bound: dict[str, Obj], values: Values, guesses: Guesses
    ) -> _Effect | None:
        fired: dict[tuple[Obj, str], Mapping[str, Any]] = {}
        context = EvaluationContext(self.view, values, bound, guesses, fired)
        try:
            if not all(condition(context) for condition in guard):
                return None
            for root in action.fires:
                self._fire(context, root, fired)
            for rule, on, free in self.plan.rules:
                if on[1] == "" and on[0] != action.name:
                    continue
                if on[1] and not any(obj[0] == on[0] and event == on[1] for obj, event in fired):
                    continue
                self._follow(context, rule, free, fired)
            writes = self._writes(context, fired)
        except (Undefined, _NoRow):
            return None
        return frozenset(fired), tuple(writes)

    def _follow(
        self,
        context: EvaluationContext,
        rule: Rule,
        free: Sequence[t.Var],
        fired: dict[tuple[Obj, str], Mapping[str, Any]],
    ) -> None:
        for way in product(*(self._domain(v) for v in free)):
            inner = context.bind(dict(zip((v.name for v in free), way, strict=True)))
            if isinstance(rule.on, Fires) and not compiled(rule.on)(inner):
                continue
            if all(compiled(condition)(inner) for condition in rule.when):
                self._fire(inner, rule.fires, fired)

    def _fire(self, context: EvaluationContext, firing: Fires, fired: dict[tuple[Obj, str], Mapping[str, Any]]) -> None:
        who: Obj = compiled(firing.of)(context)
        if who == NOBODY:
            raise Undefined(f"{firing.event} of nobody")
        if self._is_followed(who):
            if any(obj == who and event != firing.event for obj, event in fired):
                raise _NoRow
        elif not context.narrow(who, self._sources(who, firing.event)):
            raise _NoRow
        fired[who, firing.event] = {name: compiled(value)(context) for name, value in firing.payload}

    def _is_followed(self, obj: Obj) -> bool:
        return (obj[0], "", obj[1]) in self.view.places

    def _writes(
        self, context: EvaluationContext, fired: Mapping[tuple[Obj, str], Mapping[str, Any]]
    ) -> list[tuple[int, Any]]:
        places, writes = self.view.places, []
        for (obj, event), payload in fired.items():
            sort, number = obj
            if not self._is_followed(obj):
                continue
            row = self.plan.rows.get((sort, event, context.before[places[sort, "", number]]))
            if row is None:
                raise _NoRow
            writes.append((places[sort, "", number], row.target))
            inner = context.bind({"me": obj, **{f"given {name}": value for name, value in payload.items()}})
            for name, term in row.sets:
                where = (sort, name, number)
                if where in places:
                    writes.append((places[where], compiled(term)(inner)))
                elif where in self.view.fixed:
                    value = compiled(term)(inner)
                    if value is not UNKNOWN and value != self.view.fixed[where]:
                        raise _NoRow
        return writes

    # --- Properties

    def breaks(self, prop: StepInvariant, before: Values, step: PartialStep) -> bool:
        """Whether the step violates the property under every guess."""
        if prop.on and step.action not in prop.on:
            return False
        fired: dict[tuple[Obj, str], Any] = dict.fromkeys(step.fired)
        for way in product(*(self._domain(v) for v in prop.over)):
            bound = {**dict(step.bound), **dict(zip((v.name for v in prop.over), way, strict=True))}

            def broken(guesses: Guesses, bound: dict[str, Any] = bound) -> bool:
                return _broken(prop, EvaluationContext(self.view, before, bound, guesses, fired, step.after))

            if all(every_guess(broken)):
                return True
        return False

    def violates(self, prop: Invariant, values: Values) -> tuple[tuple[str, Obj], ...] | None:
        """The objects for which the state violates the property under every guess; None if there are none."""
        for way in product(*(self._domain(v) for v in prop.over)):
            bound = dict(zip((v.name for v in prop.over), way, strict=True))

            def broken(guesses: Guesses, bound: dict[str, Any] = bound) -> bool:
                return _broken(prop, EvaluationContext(self.view, values, dict(bound), guesses))

            if all(every_guess(broken)):
                return tuple(bound.items())
        return None


def _broken(prop: Invariant | StepInvariant, context: EvaluationContext) -> bool:
    try:
        return (prop.given is None or bool(compiled(prop.given)(context))) and not compiled(prop.then)(context)
    except Undefined:
        return False
