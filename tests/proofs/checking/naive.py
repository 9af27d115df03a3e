"""A second, literal implementation of the language's meaning: slow, without plans, packed sets or caches.

States are the tuples of the package, so that both can be compared; all else is values as a reader sees them. What fires is computed
backwards: of each event who has to fire it, and for that, of what its rules ask about, who fires that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from typing import Any

import networkx as nx

from schedproof.model.lang import (
    Action,
    AlwaysCanReach,
    BoolType,
    EnumType,
    Function,
    Integer,
    IntRange,
    Invariant,
    LeadsTo,
    LifeCycle,
    Machine,
    Property,
    Ref,
    Relation,
    Rule,
    SetOf,
    Sort,
    StepInvariant,
    Type,
    Var,
)
from schedproof.model.lang import Sequence as Sequential
from schedproof.model.lang import terms as t
from schedproof.model.semantics import Instance, State
from schedproof.proofs.verdict import Verdict

Chosen = tuple[str, tuple[Any, ...]]
"""An action and the values of its parameters."""
Event = tuple[str, str]
"""A sort and an event of it."""
Fired = Mapping[Event, Mapping[int, Mapping[str, Any]]]


class Wrong(Exception):
    """The model is not well-formed here."""


@dataclass(frozen=True)
class World:
    """What a term speaks of: a state, what its variables stand for, the row that it is in, who fires what, the state after."""

    instance: Instance
    state: State
    bound: Mapping[str, Any] = field(default_factory=dict)
    row: Event = ("", "")
    fired: Cascade | None = None
    after: State = ()

    def binding(self, **values: Any) -> World:
        """With further variables."""
        return replace(self, bound={**self.bound, **values})

    # What is there.

    def values(self, kind: Type) -> list[Any]:
        """All values of a type; of references those that name an object."""
        match kind:
            case Ref(sort):
                return list(range(self.instance.sizes[sort.name]))
            case SetOf(sort):
                many = range(self.instance.sizes[sort.name])
                return [frozenset(n for n in many if mask >> n & 1) for mask in range(2 ** len(many))]
            case IntRange(low, high):
                return list(range(low, high + 1))
            case EnumType(values):
                return list(values)
        return [False, True]

    def read(self, sort: str, name: str, who: int) -> Any:
        """An attribute of an object; its state, if that is called ""."""
        machine = self.instance.model.machine(sort)
        if not name:
            return machine.states[self.state[self.instance.slot(sort) + who]].name
        attribute = machine.attribute(name)
        assert attribute is not None
        kind = attribute.type
        if not attribute.rigid:
            number = self.state[self.instance.slot(sort, name) + who]
            if isinstance(kind, Function):
                return self.unpacked(kind, number)
            if isinstance(kind, Sequential):
                return self.listed(kind, number)
            if isinstance(kind, Relation):
                return frozenset(each for n, each in enumerate(self.tuples(kind)) if number >> n & 1)
            return shown(kind, number)
        if isinstance(kind, Function):
            given = self.instance.rigid[sort, name][who] if (sort, name) in self.instance.rigid else {}
            return {**self.unpacked(kind, 0), **{k if isinstance(k, tuple) else (k,): v for k, v in given.items()}}
        if (sort, name) in self.instance.rigid:
            return self.instance.rigid[sort, name][who]
        if attribute.initial is not None:
            return attribute.initial
        nothing = {Ref: None, SetOf: frozenset(), Relation: frozenset()}
        return nothing[type(kind)] if type(kind) in nothing else self.values(kind)[0]

    def unpacked(self, kind: Function, number: int) -> dict[tuple[int, ...], Any]:
        """The values of a function: of each tuple the distance of its value from the first one, in base 2 ** bits."""
        result, base = {}, 2 ** self.bits(kind.to)
        for each in self.tuples(kind):
            number, code = divmod(number, base)
            if isinstance(kind.to, Ref):
                result[each] = None if code == 0 else code - 1
            else:
                result[each] = shown(kind.to, code + (kind.to.low if isinstance(kind.to, IntRange) else 0))
        return result

    def repacked(self, kind: Function, values: Mapping[tuple[int, ...], Any]) -> int:
        """The other way."""
        number, base = 0, 2 ** self.bits(kind.to)
        for each in reversed(self.tuples(kind)):
            first = {Ref: -1}.get(type(kind.to), kind.to.low if isinstance(kind.to, IntRange) else 0)
            number = number * base + packed(kind.to, values[each]) - first
        return number

    def listed(self, kind: Sequential, number: int) -> tuple[Any, ...]:
        """The items of a sequence, as digits: 0 is no item, 1 the first value."""
        items: list[Any] = []
        while number:
            number, digit = divmod(number, 2 ** self.digit(kind.of))
            value = digit - 1 + first_number(kind.of)
            items.append(shown(kind.of, value))
        return tuple(items)

    def unlisted(self, kind: Sequential, items: Sequence[Any]) -> int:
        """The other way."""
        number = 0
        for item in reversed(items):
            number = number * 2 ** self.digit(kind.of) + packed(kind.of, item) - first_number(kind.of) + 1
        return number

    def digit(self, kind: Type) -> int:
        """How many bits an item has: for no item, its values, and of a range for a value outside of it."""
        many = 1 + {Ref: 1, IntRange: 1}.get(type(kind), 0) + len(self.values(kind))
        return next(n for n in range(1, 64) if 2**n >= many)

    def bits(self, kind: Type) -> int:
        """How many bits a value of a function has; a range has a code more."""
        many = {Ref: 1, IntRange: 1}.get(type(kind), 0) + len(self.values(kind))
        return next(n for n in range(1, 64) if 2**n >= many)

    def tuples(self, kind: Relation | Function) -> list[tuple[int, ...]]:
        """All that may be in a relation, in the order of the bits of a packed state."""
        return list(product(*(range(self.instance.sizes[sort.name]) for sort in kind.sorts)))

    # What terms are.

    def sort(self, term: t.Term) -> str:
        """Of what names an object."""
        kind = self.kind(term)
        assert isinstance(kind, Ref)
        return kind.sort.name

    def kind(self, term: t.Term) -> Type | None:
        """The type of what names something."""
        model = self.instance.model
        match term:
            case t.Var():
                return term.type
            case t.Me():
                return Ref(model.machine(self.row[0]).sort)
            case t.Given(name):
                return model.machine(self.row[0]).parameters(self.row[1])[name]
            case t.Attr(of, name):
                attribute = model.machine(self.sort(of)).attribute(name)
                return None if attribute is None else attribute.type
            case t.After(part):
                return self.kind(part)
            case t.Apply(base):
                function = self.kind(base)
                if isinstance(function, Sequential):
                    return function.of
                assert isinstance(function, Function)
                return function.to
            case t.Appended(base) | t.Sliced(base):
                return self.kind(base)
        return None

    def who(self, term: t.Term) -> int:
        """The object that a term names; there has to be one."""
        number = self.value(term)
        if number is None:
            raise Wrong("nobody is asked")
        return int(number)

    def value(self, term: t.Term) -> Any:
        """What a term is here."""
        match term:
            case t.Var(name):
                return self.bound[name]
            case t.Me():
                return self.bound["me"]
            case t.Given(name):
                return self.bound[f"given {name}"]
            case t.Nothing():
                return None
            case t.EmptySet():
                return frozenset()
            case t.Constant(value):
                return value
            case t.Attr(of, name):
                return self.read(self.sort(of), name, self.who(of))
            case t.Is(of, states):
                return self.read(self.sort(of), "", self.who(of)) in states
            case t.Equal(left, right):
                # Nothing is the empty set, or the empty sequence.
                both = [() if each == frozenset() else each for each in (self.value(left), self.value(right))]
                return both[0] == both[1]
            case t.Less(left, right, or_equal):
                one, other = self.value(left), self.value(right)
                return one <= other if or_equal else one < other
            case t.Sum(left, right, sign):
                return self.value(left) + sign * self.value(right)
            case t.Has(base, element):
                # Whose set it is, is not asked if nothing is looked for.
                element_value = self.value(element)
                return element_value is not None and element_value in self.value(base)
            case t.Adjusted(base, element, present):
                members, one = self.value(base), self.value(element)
                if one is None:
                    return members
                return members | {one} if present else members - {one}
            case t.Those(var, where):
                return frozenset(n for n in self.values(var.type) if self.binding(**{var.name: n}).value(where))
            case t.TuplesOf(several, where):
                chosen = (w for w in self.choosing(several) if w.value(where))
                return frozenset(tuple(w.bound[v.name] for v in several) for w in chosen)
            case t.Apply(base, element) if isinstance(self.kind(base), Sequential):
                items, at = tuple(self.value(base)), self.value(element)
                if not 0 <= at < len(items):
                    raise Wrong("no item is read")
                return items[at]
            case t.Length(of):
                return len(self.value(of))
            case t.Appended(base, item):
                return (*self.value(base), self.value(item))
            case t.Sliced(base, at, first):
                items, end = tuple(self.value(base)), max(0, self.value(at))
                return items[:end] if first else items[end:]
            case t.Apply(base, element):
                at = self.value(element)
                if at is None:
                    raise Wrong("a function is read at nobody")
                return self.value(base)[at if isinstance(at, tuple) else (at,)]
            case t.Updated(base, element, new):
                values, at, to = self.value(base), self.value(element), self.value(new)
                return values if at is None else {**values, (at if isinstance(at, tuple) else (at,)): to}
            case t.FunctionOf(several, new):
                return {tuple(w.bound[v.name] for v in several): w.value(new) for w in self.choosing(several)}
            case t.Count(several, where):
                return [bool(w.value(where)) for w in self.choosing(several)].count(True)
            case t.Tuple(parts):
                one = tuple(self.value(part) for part in parts)
                return None if None in one else one
            case t.Fires(of, event, payload):
                assert self.fired is not None
                fired_payload = self.fired[self.sort(of), event].get(self.who(of))
                return fired_payload is not None and all(
                    fired_payload[name] == self.value(expected) for name, expected in payload
                )
            case t.And(parts):
                return all(self.value(part) for part in parts)
            case t.Or(parts):
                return any(self.value(part) for part in parts)
            case t.Not(part):
                return not self.value(part)
            case t.Implies(premise, conclusion):
                return not self.value(premise) or self.value(conclusion)
            case t.Iff(left, right):
                return bool(self.value(left)) == bool(self.value(right))
            case t.After(part):
                return replace(self, state=self.after).value(part)
            case t.Quantified(universal, variables, body):
                every = (bool(w.value(body)) for w in self.choosing(variables))
                return all(every) if universal else any(every)
        raise AssertionError(term)

    def choosing(self, variables: Sequence[Var]) -> Iterator[World]:
        """With all values of further variables."""
        names = [v.name for v in variables]
        # Sequences of these models are short.
        every = [range(9) if isinstance(v.type, Integer) else self.values(v.type) for v in variables]
        for values in product(*every):
            yield self.binding(**dict(zip(names, values, strict=True)))


def first_number(kind: Type) -> int:
    """The first value of a type, as a packed state has it."""
    return -1 if isinstance(kind, Ref) else kind.low if isinstance(kind, IntRange) else 0


def shown(kind: Type, number: int) -> Any:
    """A value of a packed state as a reader sees it."""
    match kind:
        case Ref():
            return None if number < 0 else number
        case SetOf():
            return frozenset(n for n in range(64) if number >> n & 1)
        case EnumType(values):
            return values[number]
        case BoolType():
            return bool(number)
    return number


def packed(kind: Type, value: Any) -> int:
    """The other way; a number that is none of its range is wrong."""
    match kind:
        case Ref():
            return -1 if value is None else int(value)
        case SetOf():
            return sum(2**n for n in value)
        case EnumType(values):
            return values.index(value)
        case IntRange(low, high):
            if not low <= value <= high:
                raise Wrong("out of range")
        case Integer(lowest):
            if lowest is not None and value < lowest:
                raise Wrong("not a natural number")
    return int(value)


class Cascade(dict[Event, Mapping[int, Mapping[str, Any]]]):
    """Who fires what in a step, computed when it is asked for."""

    def __init__(self, before: World, action: Action) -> None:
        self._before, self._action = before, action

    def __missing__(self, event: Event) -> Mapping[int, Mapping[str, Any]]:
        payloads: dict[int, dict[str, Any]] = {}
        for world, head in self._heads(event):
            payload = {name: world.value(value) for name, value in head.payload}
            if payloads.setdefault(world.who(head.of), payload) != payload:
                raise Wrong("one event with two payloads")
        self[event] = payloads
        return payloads

    def _heads(self, event: Event) -> Iterator[tuple[World, t.Fires]]:
        start = replace(self._before, fired=self)
        for root in self._action.fires:
            if (start.sort(root.of), root.event) == event:
                yield start, root
        for rule in start.instance.model.rules:
            if (start.sort(rule.fires.of), rule.fires.event) == event:
                yield from ((world, rule.fires) for world in self._caused(start, rule))

    def _caused(self, start: World, rule: Rule) -> Iterator[World]:
        if isinstance(rule.on, Action):
            if rule.on.name != self._action.name:
                return
            conditions = list(rule.when)
        else:
            # Its own variables: the action's of the same name are others.
            start, conditions = replace(start, bound={}), [rule.on, *rule.when]
        free = {n: v for part in (*conditions, rule.fires) for n, v in t.free_variables(part).items()}
        for world in start.choosing([v for n, v in free.items() if n not in start.bound]):
            if all(world.value(condition) for condition in conditions):
                yield world


def choices(instance: Instance, state: State, action: Action) -> list[World]:
    """The ways to take an action."""
    begin = World(instance, state)
    return [w for w in begin.choosing(action.parameters) if all(w.value(condition) for condition in action.when)]


def step(world: World, action: Action) -> World:
    """The same with what fires, and the state after."""
    instance, fired = world.instance, Cascade(world, action)
    result = list(world.state)
    for sort, machine in ((m.sort.name, m) for m in instance.model.machines):
        busy: set[int] = set()
        for event in sorted({row.event for row in instance.model.table(sort)}):
            for who, payload in fired[sort, event].items():
                if who in busy:
                    raise Wrong("two events of one object")
                busy.add(who)
                for name, value in _written(world, machine, event, who, payload).items():
                    result[instance.slot(sort, name) + who] = value
    return replace(world, fired=fired, after=tuple(result))


def _written(world: World, machine: Machine, event: str, who: int, payload: Mapping[str, Any]) -> dict[str, int]:
    sort = machine.sort.name
    rows = world.instance.model.table(sort)
    fitting = [r for r in rows if r.event == event and r.source == world.read(sort, "", who)]
    if not fitting:
        raise Wrong("no row")
    [row] = fitting
    given = {"me": who, **{f"given {name}": value for name, value in payload.items()}}
    inside = replace(world, bound=given, row=(sort, event))
    result = {"": [s.name for s in machine.states].index(row.target)}
    kept = {a.name: a.type for a in world.instance.attributes(sort)}
    for name, value in row.sets:
        if name in kept:
            kind = kept[name]
            if isinstance(kind, Sequential):
                result[name] = inside.unlisted(kind, tuple(inside.value(value)))
            elif isinstance(kind, Function):
                result[name] = inside.repacked(kind, inside.value(value))
            elif isinstance(kind, Relation):
                members = inside.value(value)
                result[name] = sum(2**n for n, each in enumerate(inside.tuples(kind)) if each in members)
            else:
                result[name] = packed(kind, inside.value(value))
    return result


@dataclass
class Graph:
    """All that can be reached: states with their depths, what can be done in each, and where that is not well-formed.

    ``wrong`` are (state, action, values of its parameters; None, if it cannot be said who may take it). ``cut`` is what leads too far.
    """

    instance: Instance
    depth: dict[State, int]
    steps: dict[State, dict[Chosen, World]]
    wrong: list[tuple[State, str, tuple[Any, ...] | None]]
    cut: dict[State, set[Chosen]] = field(default_factory=dict)

    @cached_property
    def transitions(self) -> int:
        """All, loops included."""
        return sum(len(steps) for steps in self.steps.values())

    def per_action(self) -> dict[str, int]:
        """The same of each action that is ever taken."""
        names = [name for steps in self.steps.values() for name, _ in steps]
        return {name: names.count(name) for name in set(names)}

    def network(self, without: Sequence[str] = ()) -> nx.DiGraph[State]:
        """As networkx has graphs."""
        steps_graph: nx.DiGraph[State] = nx.DiGraph()
        steps_graph.add_nodes_from(self.depth)
        for state, steps in self.steps.items():
            steps_graph.add_edges_from((state, w.after) for (name, _), w in steps.items() if name not in without)
        return steps_graph


def explore(instance: Instance) -> Graph:
    """Breadth first."""
    begin = instance.initial()
    graph = Graph(instance, {begin: 0}, {}, [])
    waiting = [begin]
    for state in waiting:
        graph.steps[state] = {}
        for action in instance.model.actions:
            try:
                able = choices(instance, state, action)
            except Wrong:
                graph.wrong.append((state, action.name, None))
                continue
            for world in able:
                chosen = tuple(world.bound[v.name] for v in action.parameters)
                try:
                    done = step(world, action)
                except Wrong:
                    graph.wrong.append((state, action.name, chosen))
                    continue
                if _too_far(instance, done.after):
                    graph.cut.setdefault(state, set()).add((action.name, chosen))
                    continue
                graph.steps[state][action.name, chosen] = done
                if done.after not in graph.depth:
                    graph.depth[done.after] = graph.depth[state] + 1
                    waiting.append(done.after)
    return graph


def _too_far(instance: Instance, state: State) -> bool:
    """Some number is beyond its bound, or a sequence is too long."""
    for machine in instance.model.machines:
        for attribute in instance.attributes(machine.sort.name):
            if isinstance(kind := attribute.type, Sequential):
                world, start = World(instance, state), instance.slot(machine.sort.name, attribute.name)
                every = state[start : start + instance.sizes[machine.sort.name]]
                if any(len(world.listed(kind, number)) > kind.at_most for number in every):
                    return True
    for (sort, name), bound in instance.model.bound.items():
        if name not in [a.name for a in instance.attributes(sort)]:
            continue
        for who in range(instance.sizes[sort]):
            number = state[instance.slot(sort, name) + who]
            if isinstance(bound, tuple):
                lowest, highest = bound
                if number < lowest or number > highest:
                    return True
            elif abs(number) > bound:
                return True
    return any(
        machine.sort.disposable and len(_unused(instance, state, machine)) < _at_once(instance, machine.sort.name)
        for machine in instance.model.machines
    )


def _at_once(instance: Instance, sort: str) -> int:
    """The most objects of a sort that an action creates: how often its guard asks for one that is absent."""
    model = instance.model
    return max(
        sum(
            isinstance(c, t.Is)
            and isinstance(c.of.type, Ref)
            and c.of.type.sort.name == sort
            and c.states == ("Absent",)
            for c in a.when
            if isinstance(getattr(c, "of", None), t.Var)
        )
        for a in model.actions
    )


def _unused(instance: Instance, state: State, machine: Machine) -> set[str]:
    """The names of absent objects of a sort to which no object refers."""
    described = instance.describe(state)
    absent = {name for name, fields in described[machine.sort.name].items() if fields["state"] == "Absent"}
    for other in instance.model.machines:
        for attribute in instance.attributes(other.sort.name):
            for fields in described[other.sort.name].values():
                absent -= _named(attribute.type, fields[attribute.name], machine.sort)
    return absent


def _named(kind: Type, value: Any, sort: Sort) -> set[Any]:
    """The objects of a sort that a value names, as it is described."""
    match kind:
        case Ref(of) | SetOf(of) | Sequential(Ref(of)):
            return set(value if isinstance(value, list) else [value]) if of == sort else set()
        case Relation(sorts):
            return {each[place] for each in value for place, of in enumerate(sorts) if of == sort}
        case Function(sorts, to):
            return {
                name
                for at, to_value in value
                for of, name in zip([*sorts, to], [*([at] if isinstance(at, str) else at), to_value], strict=True)
                if of in (sort, Ref(sort))
            }
    return set()


Answer = tuple[Verdict, int | None]
"""A verdict, and how many steps the shortest run to what refutes it has; None where nothing is said of that."""


def check(graph: Graph, prop: Property) -> Answer:
    """What a property is on a graph."""
    match prop:
        case Invariant():
            moments = [(graph.depth[s], World(graph.instance, s)) for s in graph.depth]
            return _safe(graph, prop, moments)
        case StepInvariant():
            return _safe(
                graph,
                prop,
                [
                    (graph.depth[s] + 1, world)
                    for s, steps in graph.steps.items()
                    for (name, _), world in steps.items()
                    if not prop.on or name in prop.on
                ],
            )
    if isinstance(prop, LifeCycle) and _lives(graph, prop):  # its run has no wrong step
        return Verdict.PROVED, None
    if graph.wrong:
        return Verdict.UNDETERMINED, None
    if isinstance(prop, LifeCycle):
        return (Verdict.UNDETERMINED if graph.cut else Verdict.REFUTED), None
    assert isinstance(prop, AlwaysCanReach | LeadsTo)
    try:
        result = _reached(graph, prop)
    except Wrong:
        return Verdict.REFUTED, None
    if result is not None:
        return (Verdict.UNDETERMINED, None) if result == ("open",) else (Verdict.REFUTED, result[0])  # type: ignore[return-value]
    return (Verdict.PROVED if _is_met(graph, prop) else Verdict.UNDETERMINED), None


def _safe(graph: Graph, prop: Invariant | StepInvariant, moments: Sequence[tuple[int, World]]) -> Answer:
    broken: list[int] = []
    met = False
    for length, moment in moments:
        try:
            fitting = [w for w in moment.choosing(prop.over) if prop.given is None or w.value(prop.given)]
            met = met or bool(fitting)
            if not all(w.value(prop.then) for w in fitting):
                broken.append(length)
        except Wrong:
            broken.append(length)
    if broken:
        return Verdict.REFUTED, min(broken)
    return (Verdict.PROVED if met and not graph.wrong else Verdict.UNDETERMINED), None


def deadlock(graph: Graph) -> int | None:
    """How near a state is in which no action is enabled, wherever it leads; None if there is none.

    Raises:
        Wrong: it cannot be said of some action who may take it.
    """
    ended = [
        depth
        for state, depth in graph.depth.items()
        if not any(choices(graph.instance, state, action) for action in graph.instance.model.actions)
    ]
    return min(ended, default=None)


def _where(graph: Graph, world: World, formula: t.Term | None) -> set[State]:
    return {s for s in graph.depth if formula is None or replace(world, state=s).value(formula)}


def _is_met(graph: Graph, prop: AlwaysCanReach | LeadsTo) -> bool:
    """In some state its premise is so; of what leads to something, not where that is so at once."""
    for world in World(graph.instance, ()).choosing(prop.over):
        start = _where(graph, world, prop.given)
        if start - (_where(graph, world, prop.goal) if isinstance(prop, LeadsTo) else set()):
            return True
    return False


def _reached(graph: Graph, prop: AlwaysCanReach | LeadsTo) -> tuple[int | str | None] | None:
    """How near a state is that refutes it, if there is one; "open" if one may, depending on what is too far."""
    bad, is_open, starts, arrives = [], False, False, False
    for world in World(graph.instance, ()).choosing(prop.over):
        start, goal = _where(graph, world, prop.given), _where(graph, world, prop.goal)
        if isinstance(prop, AlwaysCanReach):
            network = graph.network(prop.without)
            reaching = goal.union(*(nx.ancestors(network, s) for s in goal))
            for s in start - reaching:
                ahead = {s, *nx.descendants(network, s)}
                if any(name not in prop.without for a in ahead for name, _ in graph.cut.get(a, ())):
                    is_open = True
                else:
                    bad.append(graph.depth[s])
        else:
            avoiding = graph.network()
            avoiding.remove_nodes_from(goal)
            start -= goal
            left = start.union(*(nx.descendants(avoiding, s) for s in start))
            if _stays(graph, prop, left):
                return (None,)
            starts = starts or bool(start)
            arrives = arrives or any(w.after in goal for s in left for w in graph.steps[s].values())
    # If nothing arrives, every fair run goes too far, and nothing says what it does there.
    is_open = is_open or bool(starts and not arrives and graph.cut)
    return (min(bad),) if bad else ("open",) if is_open else None


def _stays(graph: Graph, prop: LeadsTo, region: set[State]) -> bool:
    """A fair run can stay in a region for ever: tried with each set of strongly connected states that can be all it sees."""
    network = graph.network(prop.without).subgraph(region)
    for part in map(set, nx.strongly_connected_components(network)):
        able = [{_owed(graph, c) for c in (*graph.steps[s], *graph.cut.get(s, ()))} for s in part]
        used = {
            _owed(graph, chosen)
            for s in part
            for chosen, w in graph.steps[s].items()
            if w.after in part and chosen[0] not in prop.without
        }
        if any(name in prop.weak and (name, how) not in used for name, how in set.intersection(*able)):
            continue  # as many states as can be are in it: with fewer of them the same is always possible, too
        missed = {c for c in set.union(*able) if c[0] in prop.strong and c not in used}
        if not missed or _stays(
            graph,
            prop,
            {s for s in part if not missed & {_owed(graph, c) for c in (*graph.steps[s], *graph.cut.get(s, ()))}},
        ):
            return True
    return False


def _owed(graph: Graph, chosen: Chosen) -> Chosen:
    """What fairness counts: an action with what is there already; of a parameter that the guard asks to be absent, anybody will do."""
    name, how = chosen
    action = graph.instance.model.action(name)
    fresh = [
        any(
            isinstance(c, t.Is) and isinstance(c.of, Var) and c.of.name == v.name and c.states == ("Absent",)
            for c in action.when
        )
        for v in action.parameters
    ]
    return name, tuple(value for value, is_fresh in zip(how, fresh, strict=True) if not is_fresh)


def _lives(graph: Graph, prop: LifeCycle) -> bool:
    """Some object can go through the states of a life, one after the other."""
    sort, instance = prop.sort.name, graph.instance

    def alive(who: int) -> bool:
        def stands(state: State) -> Any:
            return World(instance, state).read(sort, "", who)

        states = {instance.initial()} if stands(instance.initial()) == prop.states[0] else set()
        for now, then in zip(prop.states, [*prop.states[1:], None], strict=True):
            resting = graph.network().subgraph([s for s in graph.depth if stands(s) == now])
            states = states.union(*(nx.descendants(resting, s) for s in states))
            if then is None:
                break
            states = {w.after for s in states for w in graph.steps[s].values() if stands(w.after) == then}
        return bool(states)

    return any(alive(who) for who in range(instance.sizes[sort]))
