"""One step: the least set of firings closed under the rules, then all updates at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from operator import itemgetter

import networkx as nx

from ..lang import terms as t
from ..lang.check import sort_of, trigger_graph
from ..lang.machine import Attribute, Row
from ..lang.rules import Action, Rule
from ..lang.types import IntRange
from .evaluate import Eval, Firings, Moment, Owner, Undefined, compile_term, compile_value, reads, search
from .instance import Instance, State
from .search import Search

Causes = dict[tuple[str, str, int], Action | Rule]
"""What caused a firing: (sort, event, object number) -> the action or the rule."""


class IllFormed(Exception):
    """A step that the model must not allow: an object fires twice, or where its table has no row, or
    a number leaves its range."""


@dataclass(frozen=True)
class Choice:
    """An action with its parameters chosen: (name, encoded value) pairs."""

    action: str
    parameters: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True)
class Step:
    """An enabled choice, what fires, and the state after."""

    choice: Choice
    fired: Firings = field(compare=False, hash=False)
    after: State


@dataclass(frozen=True)
class _Update:
    """A row's new value for an attribute, whose values begin at ``slot``."""

    slot: int
    attribute: Attribute
    value: Eval


@dataclass(frozen=True)
class _Head:
    """What a rule or action causes: the event key, the object, the payload."""

    key: tuple[str, str]
    who: Eval
    payload: tuple[tuple[str, Eval], ...]
    cause: Action | Rule


@dataclass(frozen=True)
class _Rule:
    """A rule that looks at an action (``on``) or at what an event (``after``) leads to."""

    on: str | None
    after: tuple[str, str] | None
    when: Search[Moment]
    head: _Head


class _Guard:
    """What an action's guard holds for.

    A state differs from most others in what the guard does not read. So it is asked once for all states
    that are the same in what it does read.
    """

    def __init__(self, instance: Instance, action: Action) -> None:
        self._action, self._names = action.name, [v.name for v in action.parameters]
        self._search = search(instance, {}, action.parameters, action.when)
        fields = {field for condition in action.when for field in reads(instance, condition)}
        slots = [instance.slot(sort, name) + i for sort, name in sorted(fields) for i in range(instance.sizes[sort])]
        self._read: Callable[[State], object] = itemgetter(*slots) if slots else lambda state: ()
        self._known: dict[object, tuple[Choice, ...]] = {}

    def choices(self, state: State) -> tuple[Choice, ...]:
        """Every choice of parameters for which it holds in ``state``.

        Raises:
            Undefined: an attribute of no object is read.
        """
        read = self._read(state)
        known = self._known.get(read)
        if known is None:
            moment = Moment(state)
            known = self._known[read] = tuple(
                Choice(self._action, tuple([(n, moment.bound[n]) for n in self._names]))
                for _ in self._search.solutions(moment)
            )
        return known


def _by(head: _Head) -> str:
    return f"{type(head.cause).__name__.lower()} {head.cause.name} ({head.cause.place})"


class Stepper:
    """The steps of an instance.

    A cascade is computed stratum by stratum along the trigger graph, from the state before.
    """

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        model = instance.model
        self._guards = {a.name: _Guard(instance, a) for a in model.actions}
        self._roots = {
            a.name: [self._head(f, {v.name: v for v in a.parameters}, a) for f in a.fires] for a in model.actions
        }
        order = {node: i for i, node in enumerate(nx.topological_sort(trigger_graph(model)))}
        # A rule must run after everything that it asks about: after its head's predecessors.
        rules = sorted(model.rules, key=lambda r: order[sort_of(model, r.fires.of, {}), r.fires.event])
        known = [self._rule(rule) for rule in rules]
        self._rules = {a.name: self._cascade(a, known) for a in model.actions}
        self._slots = {m.sort.name: instance.slot(m.sort.name) for m in model.machines if m.states}
        self._rows = {
            (r.sort.name, r.event, self._number(r.sort.name, r.source)): (
                self._number(r.sort.name, r.target),
                self._updates(r),
            )
            for r in model.rows
        }

    def _number(self, sort: str, state: str) -> int:
        return [s.name for s in self.instance.model.machine(sort).states].index(state)

    def _updates(self, row: Row) -> list[_Update]:
        """What a row sets, less the attributes that this instance leaves out."""
        sort, sets = row.sort.name, dict(row.sets)
        return [
            _Update(
                self.instance.slot(sort, attribute.name),
                attribute,
                compile_value(self.instance, sets[attribute.name], attribute.type, {}, Owner(sort, row.event)),
            )
            for attribute in self.instance.attributes(sort)
            if attribute.name in sets
        ]

    def _head(self, firing: t.Fires, scope: dict[str, t.Var], cause: Action | Rule) -> _Head:
        sort = sort_of(self.instance.model, firing.of, scope)
        kinds = self.instance.model.machine(sort).parameters(firing.event)
        payload = tuple((n, compile_value(self.instance, v, kinds[n], scope)) for n, v in firing.payload)
        return _Head((sort, firing.event), compile_term(self.instance, firing.of, scope), payload, cause)

    def _rule(self, rule: Rule) -> _Rule:
        known = {v.name: v for v in rule.on.parameters} if isinstance(rule.on, Action) else {}
        conditions = [*([rule.on] if isinstance(rule.on, t.Fires) else []), *rule.when]
        free: dict[str, t.Var] = {}
        for part in (*conditions, rule.fires):
            free |= {n: v for n, v in t.free_variables(part).items() if n not in known and n not in free}
        found = search(self.instance, known, list(free.values()), conditions)
        head = self._head(rule.fires, {**known, **free}, rule)
        if isinstance(rule.on, Action):
            return _Rule(rule.on.name, None, found, head)
        return _Rule(None, (sort_of(self.instance.model, rule.on.of, {}), rule.on.event), found, head)

    def _cascade(self, action: Action, rules: Sequence[_Rule]) -> list[_Rule]:
        """The rules that can play a part in a step of ``action``, in their order: those that its firings lead to."""
        fire = {head.key for head in self._roots[action.name]}
        mine = []
        for rule in rules:
            if rule.on == action.name or (rule.after is not None and rule.after in fire):
                mine.append(rule)
                fire.add(rule.head.key)
        return mine

    def choices(self, state: State, action: Action) -> Sequence[Choice]:
        """Every choice of parameters for which the guard of ``action`` holds in ``state``.

        Raises:
            Undefined: an attribute of no object is read.
        """
        return self._guards[action.name].choices(state)

    def enabled(self, state: State, choice: Choice) -> bool:
        """The guard of the action holds for this choice."""
        action = self.instance.model.action(choice.action)
        moment = Moment(state, dict(choice.parameters))
        scope = {v.name: v for v in action.parameters}
        return all(compile_term(self.instance, c, scope)(moment) for c in action.when)

    def firings(self, state: State, choice: Choice, causes: Causes | None = None) -> Firings:
        """The cascade of a choice; ``causes`` is filled with what caused each firing first.

        Raises:
            IllFormed: an object fires two events, or one event with two payloads.
            Undefined: an attribute of no object is read.
        """
        fired: Firings = {}
        parameters = dict(choice.parameters)
        moment = Moment(state, parameters, fired)
        busy: dict[tuple[str, int], tuple[str, str]] = {}
        for head in self._roots[choice.action]:
            self._fire(moment, head, busy, causes)
        for rule in self._rules[choice.action]:
            if rule.after is None or rule.after in fired:
                # Its own variables: another rule's of the same name are others.
                own = Moment(state, parameters.copy(), fired)
                for _ in rule.when.solutions(own):
                    self._fire(own, rule.head, busy, causes)
        return fired

    def _fire(
        self, moment: Moment, head: _Head, busy: dict[tuple[str, int], tuple[str, str]], causes: Causes | None
    ) -> None:
        who = head.who(moment)
        if who < 0:
            raise Undefined(f"{_by(head)} fires {head.key[1]} on no {head.key[0]}")
        payload = {name: value(moment) for name, value in head.payload}
        before = busy.setdefault((head.key[0], who), head.key)
        same = moment.fired.setdefault(head.key, {}).setdefault(who, payload)
        if before != head.key or same != payload:
            name = self.instance.object_names(head.key[0])[who]
            raise IllFormed(f"{name} fires twice in one step: {before[1]} and {head.key[1]}, by {_by(head)}")
        if causes is not None:
            causes.setdefault((*head.key, who), head.cause)

    def apply(self, state: State, fired: Firings) -> State:
        """The state after all of ``fired`` at once.

        Raises:
            IllFormed: an object is not in a source state of its event, or a number leaves its range.
            Undefined: an update reads an attribute of no object.
        """
        result = list(state)
        for (sort, event), objects in fired.items():
            slot = self._slots[sort]
            for who, payload in objects.items():
                row = self._rows.get((sort, event, state[slot + who]))
                if row is None:
                    machine = self.instance.model.machine(sort)
                    name = self.instance.object_names(sort)[who]
                    raise IllFormed(
                        f"{name} fires {event} in state {machine.states[state[slot + who]].name}, where the table has no row for it"
                    )
                target, updates = row
                result[slot + who] = target
                if updates:
                    moment = Moment(state, {"me": who, **{f"given {n}": v for n, v in payload.items()}}, fired)
                    for update in updates:
                        value = result[update.slot + who] = update.value(moment)
                        kind = update.attribute.type
                        if isinstance(kind, IntRange) and not kind.low <= value <= kind.high:
                            name = self.instance.object_names(sort)[who]
                            raise IllFormed(
                                f"{name} fires {event}, which sets {update.attribute.name} to {value}, "
                                f"outside of {kind} ({update.attribute.place})"
                            )
        return tuple(result)

    def step(self, state: State, choice: Choice) -> Step:
        """The step of an enabled choice.

        Raises:
            IllFormed, Undefined: the model is not well-formed here.
        """
        fired = self.firings(state, choice)
        return Step(choice, fired, self.apply(state, fired))

    def steps(self, state: State, actions: Sequence[Action] | None = None) -> Iterator[Step]:
        """Every step from ``state``, in the order of the model's actions.

        Raises:
            IllFormed, Undefined: the model is not well-formed here.
        """
        for action in actions if actions is not None else self.instance.model.actions:
            for choice in self.choices(state, action):
                yield self.step(state, choice)
