"""Compiled trigger rules: the firings that one firing may cause."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from schedproof.model.lang import Action, Model, Rule
from schedproof.model.lang import terms as t
from schedproof.model.lang.infer import sort_of
from schedproof.model.lang.triggers import trigger_graph
from schedproof.model.semantics.evaluate import Eval, Moment, compile_term, compile_value
from schedproof.model.semantics.instance import Instance

Key = tuple[str, str]
"""An event of a sort as (sort, event), or an action as (name, "")."""


@dataclass(frozen=True)
class Caused:
    """A firing that a rule or an action causes, by object number; negative if it names no object."""

    who: int
    payload: dict[str, int]


@dataclass(frozen=True)
class Trigger:
    """A rule (or one root firing of an action) in a system with finitely many objects.

    ``rank`` is the position of its event in the trigger graph. Conditions may require that events fire or do not fire:
    they are decided once every firing of lower rank has happened.
    """

    cause: Action | Rule
    key: Key
    rank: int
    on: t.Fires | None
    free: tuple[tuple[str, Sequence[int]], ...]
    conditions: tuple[Eval, ...]
    who: Eval
    payload: tuple[tuple[str, Eval], ...]

    def __str__(self) -> str:
        return f"{type(self.cause).__name__.lower()} '{self.cause.name}' ({self.cause.place})"

    def caused(
        self, moment: Moment, object_number: int = -1, payload: Mapping[str, int] | None = None
    ) -> Iterator[Caused]:
        """Every firing that this trigger causes because ``on`` has happened to an object.

        Args:
            moment: the state before the cascade, the firings so far, the action's parameters.
            object_number, payload: the object that ``on`` has happened to, and the payload; left out if an action
                triggers.
        """
        known = dict(moment.bound) if self.on is None else self._matched(object_number, payload or {})
        names = [name for name, _ in self.free if name not in known]
        domains = [domain for name, domain in self.free if name not in known]
        if any(name in known and known[name] not in domain for name, domain in self.free):
            return  # the pattern's variable stands for an object, but the payload has none
        for values in product(*domains):
            context = Moment(moment.state, {**known, **dict(zip(names, values, strict=True))}, moment.fired)
            if all(condition(context) for condition in self.conditions):
                yield Caused(self.who(context), {name: value(context) for name, value in self.payload})

    def _matched(self, object_number: int, payload: Mapping[str, int]) -> dict[str, int]:
        """The variables that the pattern ``on`` binds when it matches a firing.

        It binds plain variables only. The pattern is also the first condition, which compares everything else in it.
        """
        assert self.on is not None
        known = {name.name: payload[key] for key, name in self.on.payload if isinstance(name, t.Var)}
        if isinstance(self.on.of, t.Var):
            known[self.on.of.name] = object_number
        return known


def ranks(model: Model) -> dict[Key, int]:
    """Each event's position in a topological order of the trigger graph: causes before effects."""
    return {node: i for i, node in enumerate(trigger_graph(model).sorted())}


def triggers(instance: Instance) -> dict[Key, list[Trigger]]:
    """The triggers of each action and each event: root firings first, then rules in the model's order."""
    order = ranks(instance.model)
    by_cause: dict[Key, list[Trigger]] = {}
    for action in instance.model.actions:
        by_cause[action.name, ""] = [_trigger(instance, order, action, None, action, (), f) for f in action.fires]
    for rule in instance.model.rules:
        if isinstance(rule.on, Action):
            made = _trigger(instance, order, rule, None, rule.on, rule.when, rule.fires)
            by_cause[rule.on.name, ""].append(made)
        else:
            made = _trigger(instance, order, rule, rule.on, None, (rule.on, *rule.when), rule.fires)
            by_cause.setdefault((sort_of(instance.model, rule.on.of, {}), rule.on.event), []).append(made)
    return by_cause


def _trigger(
    instance: Instance,
    order: Mapping[Key, int],
    cause: Action | Rule,
    on: t.Fires | None,
    action: Action | None,
    conditions: Sequence[t.Term],
    head: t.Fires,
) -> Trigger:
    parameters = {v.name: v for v in action.parameters} if action else {}
    used = {n: v for part in (*conditions, head) for n, v in t.free_variables(part).items()}
    scope = {**used, **parameters}
    key = (sort_of(instance.model, head.of, scope), head.event)
    kinds = instance.model.machine(key[0]).parameters(head.event)
    return Trigger(
        cause=cause,
        key=key,
        rank=order[key],
        on=on,
        free=tuple((n, instance.domain(v.type)) for n, v in used.items() if n not in parameters),
        conditions=tuple(compile_term(instance, c, scope) for c in conditions),
        who=compile_term(instance, head.of, scope),
        payload=tuple((n, compile_value(instance, v, kinds[n], scope)) for n, v in head.payload),
    )
