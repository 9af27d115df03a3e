"""Computes one step: the least set of firings closed under the rules, then all updates at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from operator import itemgetter

from schedproof.model.lang import terms as t
from schedproof.model.lang.infer import sort_of
from schedproof.model.lang.machine import Attribute, Row
from schedproof.model.lang.model import Model
from schedproof.model.lang.rules import Action, Rule
from schedproof.model.lang.triggers import trigger_graph
from schedproof.model.lang.types import Function, Integer, IntRange, Type
from schedproof.model.lang.types import Sequence as SequenceType

from .evaluate import Eval, Firings, Moment, Owner, Undefined, compile_term, compile_value, reads, search
from .instance import Instance, State
from .remember import Remembered
from .search import Search

Writes = list[tuple[int, int]]
"""The writes of a step: slots of the state with their new values."""

Causes = dict[tuple[str, str, int], Action | Rule]
"""The cause of each firing: (sort, event, object number) -> the action or the rule."""


class IllFormed(Exception):
    """The model allows a step that it must not.

    An object fires twice, or in a state without a row for the event, or a number leaves its range.
    """


@dataclass(frozen=True)
class Choice:
    """An action with its parameters chosen: (name, encoded value) pairs."""

    action: str
    parameters: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True)
class Step:
    """An enabled choice, its firings, and the state after."""

    choice: Choice
    fired: Firings = field(compare=False, hash=False)
    after: State


@dataclass(frozen=True)
class _Update:
    """A row's new value for an attribute, whose values begin at ``slot``."""

    slot: int
    attribute: Attribute
    value: Eval


MOST_KNOWN = 200_000
"""The limit for states of which a guard keeps the choices. Beyond it all are dropped: a log whose integers grow has no end of them."""


@dataclass(frozen=True)
class _Head:
    """A firing that a rule or action causes: the event key, the object, the payload."""

    key: tuple[str, str]
    who: Eval
    payload: tuple[tuple[str, Eval], ...]
    cause: Action | Rule


@dataclass(frozen=True)
class _Rule:
    """A rule on an event (``after``), or on an action if ``after`` is None."""

    after: tuple[str, str] | None
    when: Search[Moment]
    head: _Head


@dataclass(frozen=True)
class _Cascade:
    """The firings of an action, and the rules that can follow, each after the rules that its conditions depend on."""

    roots: Sequence[_Head]
    rules: Sequence[_Rule]


class _Guard:
    """The choices for which an action's guard holds.

    Most states differ in slots that the guard does not read. So it is evaluated once for all states with the same
    values in the slots that it reads.
    """

    def __init__(self, instance: Instance, action: Action) -> None:
        self._action, self._names = action.name, [v.name for v in action.parameters]
        self._search = search(instance, {}, action.parameters, action.when)
        fields = {field for condition in action.when for field in reads(instance, condition)}
        self.slots = frozenset(
            instance.slot(sort, name) + i for sort, name in fields for i in range(instance.sizes[sort])
        )
        self._read = _reader(self.slots)
        self._known: dict[object, tuple[Choice, ...]] = {}

    def choices(self, state: State) -> tuple[Choice, ...]:
        """Every choice of parameters for which it holds in ``state``.

        Raises:
            Undefined: the guard reads an attribute of NONE.
        """
        read = self._read(state)
        known = self._known.get(read)
        if known is None:
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            moment = Moment(state)
            known = self._known[read] = tuple(
                Choice(self._action, tuple([(n, moment.bound[n]) for n in self._names]))
                for _ in self._search.solutions(moment)
            )
        return known


Offered = tuple[int, Sequence[Choice] | Undefined]
"""The number of an action with its choices, if any; or the error that prevents computing them."""


class _Guards:
    """Guards that are looked up together: one of them reads all slots that the others read.

    Most actions are disabled in most states. Looking up each guard separately would take most of the time.
    """

    def __init__(self, first: _Guard) -> None:
        self.slots, self.read = first.slots, _reader(first.slots)
        self.guards: list[tuple[int, _Guard]] = []
        self.known: dict[object, Sequence[Offered]] = {}

    def learn(self, state: State) -> Sequence[Offered]:
        """Computes the choices of all guards in a state and stores them."""
        offered: list[Offered] = []
        for number, guard in self.guards:
            try:
                choices = guard.choices(state)
            except Undefined as error:
                offered.append((number, error))
            else:
                if choices:
                    offered.append((number, choices))
        self.known[self.read(state)] = offered
        return offered


_number: Callable[[Offered], int] = itemgetter(0)


def _reader(slots: frozenset[int]) -> Callable[[State], object]:
    return itemgetter(*sorted(slots)) if slots else lambda state: ()


def looked_at(model: Model, on: Action | t.Fires) -> tuple[str, str]:
    """The node of the trigger graph that a rule depends on, or fires."""
    return (on.name, "") if isinstance(on, Action) else (sort_of(model, on.of, {}), on.event)


def ordered_rules(model: Model) -> list[tuple[tuple[str, str], Rule, tuple[str, str]]]:
    """The rules in an order in which each comes after all rules that its conditions depend on.

    Returns:
        For each: its cause (an action's name and "", or a sort and an event), the rule, and the event that it fires.
    """
    order = {node: i for i, node in enumerate(trigger_graph(model).sorted())}
    # Sorting by the rule's own event suffices: all that its conditions mention precedes it in the graph.
    ordered = sorted(model.rules, key=lambda r: order[looked_at(model, r.fires)])
    return [(looked_at(model, r.on), r, looked_at(model, r.fires)) for r in ordered]


def _written(state: State, writes: Writes) -> State:
    result = list(state)
    for slot, value in writes:
        result[slot] = value
    return tuple(result)


def _goes_outside(attribute: Attribute, value: int) -> str:
    """What an update does that leaves the type of its attribute."""
    kind = attribute.type
    if isinstance(kind, Function):
        return f"gives {attribute.name} a value outside of {kind.to}"
    if isinstance(kind, SequenceType):
        return f"appends an item to {attribute.name} outside of {kind.of}"
    return f"sets {attribute.name} to {value}, outside of {kind}"


def _by(head: _Head) -> str:
    return f"{type(head.cause).__name__.lower()} {head.cause.name} ({head.cause.place})"


def stepper_of(instance: Instance) -> Stepper:
    """The stepper of ``instance``, made once: explorations, reports and replays of counterexamples share it."""
    cached: Stepper | None = vars(instance).get("_stepper")
    if cached is None:
        cached = Stepper(instance)
        object.__setattr__(instance, "_stepper", cached)
    return cached


class Stepper:
    """Computes the steps of an instance.

    A cascade is computed stratum by stratum along the trigger graph, from the state before.
    """

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        model = instance.model
        self._ordered = ordered_rules(model)
        self._numbers = {m.sort.name: {s.name: i for i, s in enumerate(m.states)} for m in model.machines}
        self._table = {(r.sort.name, r.event, self._numbers[r.sort.name][r.source]): r for r in model.rows}
        self._slots = {m.sort.name: instance.slot(m.sort.name) for m in model.machines if m.states}
        # Filled on demand: many a stepper takes a few steps only.
        self._guards: dict[str, _Guard] = {}
        self._cascades: dict[str, _Cascade] = {}
        self._rules: dict[int, _Rule] = {}
        self._rows: dict[tuple[str, str, int], tuple[int, list[_Update]]] = {}
        self._effects: dict[Choice, Remembered[tuple[Firings, Writes]]] = {}

    def _cascade(self, name: str) -> _Cascade:
        """The firings of an action, and the rules that they can lead to."""
        if name not in self._cascades:
            action = self.instance.model.action(name)
            roots = [self._head(f, {v.name: v for v in action.parameters}, action) for f in action.fires]
            nodes, rules = {(name, ""), *(head.key for head in roots)}, []
            for number, (on, rule, event) in enumerate(self._ordered):
                if on in nodes:
                    if number not in self._rules:
                        self._rules[number] = self._rule(rule)
                    rules.append(self._rules[number])
                    nodes.add(event)
            self._cascades[name] = _Cascade(roots, rules)
        return self._cascades[name]

    def _row(self, sort: str, event: str, source: int) -> tuple[int, list[_Update]] | None:
        """The target of a row of the table, and its updates."""
        key = sort, event, source
        row = self._table.get(key)
        if row is None:
            return None
        compiled = self._rows[key] = self._numbers[sort][row.target], self._updates(row)
        return compiled

    def _updates(self, row: Row) -> list[_Update]:
        """The updates of a row, except for attributes that this instance leaves out."""
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
        plan = search(self.instance, known, list(free.values()), conditions)
        head = self._head(rule.fires, {**known, **free}, rule)
        return _Rule(None if isinstance(rule.on, Action) else looked_at(self.instance.model, rule.on), plan, head)

    def choices(self, state: State, action: Action) -> Sequence[Choice]:
        """Every choice of parameters for which the guard of ``action`` holds in ``state``.

        Raises:
            Undefined: the guard reads an attribute of NONE.
        """
        return self.chooser(action)(state)

    def chooser(self, action: Action) -> Callable[[State], Sequence[Choice]]:
        """``choices`` of one action as a function, for callers with many states."""
        return self._guard(action).choices

    def _guard(self, action: Action) -> _Guard:
        guard = self._guards.get(action.name)
        if guard is None:
            guard = self._guards[action.name] = _Guard(self.instance, action)
        return guard

    def offers(self, actions: Sequence[Action]) -> Callable[[State], Sequence[Offered]]:
        """A function that gives the enabled actions of a state with their choices, in the order of ``actions``.

        If a guard reads an attribute of NONE, the function gives the error in place of the choices.
        """
        guards = [self._guard(action) for action in actions]
        groups: list[_Guards] = []
        for number, guard in sorted(enumerate(guards), key=lambda each: -len(each[1].slots)):
            group = next((g for g in groups if guard.slots <= g.slots), None)
            if group is None:
                groups.append(group := _Guards(guard))
            group.guards.append((number, guard))
        asked = [(group.read, group.known, group.learn) for group in groups]

        def offers(state: State) -> Sequence[Offered]:
            offered: list[Offered] = []
            for read, known, learn in asked:
                of_group = known.get(read(state))
                if of_group is None:
                    of_group = learn(state)
                if of_group:
                    offered += of_group
            offered.sort(key=_number)
            return offered

        return offers

    def enabled(self, state: State, choice: Choice) -> bool:
        """True if the guard of the action holds for this choice."""
        action = self.instance.model.action(choice.action)
        moment = Moment(state, dict(choice.parameters))
        scope = {v.name: v for v in action.parameters}
        return all(compile_term(self.instance, c, scope)(moment) for c in action.when)

    def firings(self, state: State, choice: Choice, causes: Causes | None = None) -> Firings:
        """The cascade of a choice; ``causes`` receives the first cause of each firing.

        Raises:
            IllFormed: an object fires two events, or one event with two payloads.
            Undefined: an attribute of NONE is read.
        """
        fired: Firings = {}
        parameters = dict(choice.parameters)
        moment = Moment(state, parameters, fired)
        busy: dict[tuple[str, int], tuple[str, str]] = {}
        cascade = self._cascades.get(choice.action) or self._cascade(choice.action)
        for head in cascade.roots:
            self._fire(moment, head, busy, causes)
        for rule in cascade.rules:
            if rule.after is None or rule.after in fired:
                # Each rule has its own variables, whatever their names.
                self._follow(rule, Moment(state, parameters.copy(), fired), busy, causes)
        return fired

    def _follow(
        self, rule: _Rule, moment: Moment, busy: dict[tuple[str, int], tuple[str, str]], causes: Causes | None
    ) -> int:
        """Fires the event of a rule for each solution of its conditions; returns the number of solutions."""
        ways = 0
        for _ in rule.when.solutions(moment):
            self._fire(moment, rule.head, busy, causes)
            ways += 1
        return ways

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
            Undefined: an update reads an attribute of NONE.
        """
        return _written(state, self._writes(state, fired))

    def _writes(self, state: State, fired: Firings) -> Writes:
        result: Writes = []
        for (sort, event), objects in fired.items():
            slot = self._slots[sort]
            for who, payload in objects.items():
                source = state[slot + who]
                row = self._rows.get((sort, event, source)) or self._row(sort, event, source)
                if row is None:
                    machine = self.instance.model.machine(sort)
                    name = self.instance.object_names(sort)[who]
                    raise IllFormed(
                        f"{name} fires {event} in state {machine.states[state[slot + who]].name}, where the table has no row for it"
                    )
                target, updates = row
                result.append((slot + who, target))
                if updates:
                    moment = Moment(state, {"me": who, **{f"given {n}": v for n, v in payload.items()}}, fired)
                    for update in updates:
                        value = update.value(moment)
                        result.append((update.slot + who, value))
                        if not self._inside(update.attribute.type, value):
                            name, attribute = self.instance.object_names(sort)[who], update.attribute
                            does = _goes_outside(attribute, value)
                            raise IllFormed(f"{name} fires {event}, which {does} ({attribute.place})")
        return result

    def _inside(self, kind: Type, value: int) -> bool:
        """Whether a packed value is in its type: each value of a function, and each item of a sequence."""
        if isinstance(kind, IntRange):
            return kind.low <= value <= kind.high
        if isinstance(kind, Function):
            return self.instance.packing(kind).within(value, kind)
        if isinstance(kind, SequenceType):
            return self.instance.items(kind).within(value, kind)
        return not isinstance(kind, Integer) or value in kind

    def effect(self, choice: Choice, state: State) -> tuple[Firings, Writes]:
        """The firings and the writes of the step of an enabled choice.

        Raises:
            IllFormed, Undefined: the model is not well-formed here.
        """
        fired = self.firings(state, choice)
        return fired, self._writes(state, fired)

    def step(self, state: State, choice: Choice) -> Step:
        """The step of an enabled choice.

        Raises:
            IllFormed, Undefined: the model is not well-formed here.
        """
        effect = self._effects.get(choice)
        if effect is None:
            effect = self._effects[choice] = Remembered(partial(self.effect, choice))
        fired, writes = effect(state)
        return Step(choice, fired, _written(state, writes))

    def steps(self, state: State, actions: Sequence[Action] | None = None) -> Iterator[Step]:
        """Every step from ``state``, in the order of the model's actions.

        Raises:
            IllFormed, Undefined: the model is not well-formed here.
        """
        for action in actions if actions is not None else self.instance.model.actions:
            for choice in self.choices(state, action):
                yield self.step(state, choice)
