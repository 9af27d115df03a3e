"""Small models at random that use all of the language: well-typed by the way they are made, and mostly well-formed, not always.

What would nearly always be ill-formed has a condition against it most of the time: an event is fired where the table has a row for it,
a number grows where it is not at its end, and rules ask that nothing else befalls their object.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count, product
from math import prod
from random import Random
from typing import Any

import networkx as nx

from schedproof.model.lang import (
    EMPTY,
    NONE,
    Action,
    AlwaysCanReach,
    Attribute,
    BoolType,
    DeadlockFree,
    Document,
    EnumType,
    Event,
    Function,
    Int,
    IntRange,
    Invariant,
    LeadsTo,
    LifeCycle,
    Machine,
    Model,
    ModelError,
    Nat,
    Property,
    Ref,
    Relation,
    Rigid,
    Row,
    Rule,
    SetOf,
    Sort,
    State,
    StepInvariant,
    Term,
    Type,
    Var,
    after,
    each,
    ended,
    exists,
    forall,
    iff,
    implies,
    me,
    new,
    those,
    variable,
)
from schedproof.model.lang import Sequence as Sequential
from schedproof.model.lang import count as count_of
from schedproof.model.lang import given as parameter
from schedproof.model.lang import length as length_of
from schedproof.model.lang.check import checked
from schedproof.model.lang.model import common_parameters
from schedproof.model.lang.terms import After, Constant, Equal, Fires, Given, Less, firings, subterms
from schedproof.model.semantics import Instance
from schedproof.proofs.exploration.explore import explore

MODE, NUMBER, TRUTH = EnumType(("low", "mid", "high")), IntRange(-1, 2), BoolType()
FEWEST, MOST = 16, 400
"""States of a model that is worth comparing, and soon compared."""

Key = tuple[str, str]
"""A sort and an event."""


@dataclass(frozen=True)
class Scope:
    """What a term may speak of: what is named, with its type; events that may be asked about; history; the state after."""

    named: tuple[tuple[Term, Type], ...] = ()
    asked: Sequence[Key] = ()
    history: bool = False
    after: bool = False

    def and_(self, *variables: Var) -> Scope:
        """With further variables; one of the same name is no longer meant."""
        names = {v.name for v in variables}
        kept = [(term, kind) for term, kind in self.named if not (isinstance(term, Var) and term.name in names)]
        return replace(self, named=(*kept, *((v, v.type) for v in variables)))

    def of(self, kind: Type, *, surely: bool = False) -> list[Term]:
        """What is named and of this type; ``surely`` without references that may name nobody."""
        return [x for x, its in self.named if its == kind and not (surely and isinstance(x, Given))]


class Maker:
    """Makes one model, as the chances fall.

    Attributes:
        grows: numbers may pass the ends of ``NUMBER``.
        recorded: the share of attributes that are history.
    """

    grows, recorded = False, 0.1

    def __init__(self, chance: Random) -> None:
        self.chance, self._numbers = chance, count()
        many = chance.choice([1, 2, 2])
        self.sorts = [Sort(name, name.lower()) for name in "AB"[:many]]
        self.sizes = {s.name: chance.choice([2, 3] if many == 1 else [1, 2, 2]) for s in self.sorts}
        self.states = {s.name: [f"S{n}" for n in range(chance.choice([2, 2, 3]))] for s in self.sorts}
        self.attributes = {s.name: self._attributes() for s in self.sorts}
        self.order = [
            (s.name, f"e{n}") for s in self.sorts for n in range(chance.choice([3, 4] if many == 1 else [2, 3]))
        ]
        chance.shuffle(self.order)
        self.events = {key: {f"p{n}": self._type() for n in range(chance.choice([0, 0, 1, 2]))} for key in self.order}
        self.happens: set[Key] = set()
        self.caused_by_rules: set[Key] = set()
        self.needs: dict[Key, list[Callable[[Term], Term]]] = {key: [] for key in self.order}

    def often(self, share: float) -> bool:
        """True so often."""
        return self.chance.random() < share

    def sort(self, name: str) -> Sort:
        """By its name."""
        return next(s for s in self.sorts if s.name == name)

    # What is declared.

    def _type(self) -> Type:
        sort = self.chance.choice(self.sorts)
        return self.chance.choice([TRUTH, NUMBER, MODE, Ref(sort), SetOf(sort)])

    def _attributes(self) -> list[Attribute]:
        attributes = []
        for n in range(self.chance.choice([1, 2, 3])):
            kind = self._type()
            initial = self._constant(kind) if kind in (TRUTH, NUMBER, MODE) and self.often(0.5) else None
            rigid = self.often(0.35)
            history = not rigid and self.often(self.recorded)
            attributes.append(Attribute(f"x{n}", kind, rigid=rigid, history=history, initial=initial))
        if self.often(0.25):
            attributes.append(Attribute("first", TRUTH, rigid=True))
        return attributes

    def _constant(self, kind: Type) -> Any:
        match kind:
            case IntRange(low, high):
                return self.chance.randint(low, high)
            case EnumType(values):
                return self.chance.choice(values)
        return self.often(0.5)

    def machine(self, sort: Sort, rows: Sequence[Row]) -> Machine:
        """A sort's, whose table is made already."""
        names = self.states[sort.name]
        first = next((a.name for a in self.attributes[sort.name] if a.name == "first"), "")
        begins = {names[-1]: first} if first else {}
        table = nx.DiGraph([(n, n) for n in names])
        table.add_edges_from((r.source, r.target) for r in rows if r.sort == sort)
        starts = [names[0], *begins]
        reached = set(starts).union(*(nx.descendants(table, n) for n in starts))
        states = [State(n, unreachable=n not in reached, begins=begins.get(n, "")) for n in names]
        events = [Event(name, its) for (of, name), its in self.events.items() if of == sort.name and its]
        return Machine(sort, states, self.attributes[sort.name], events)

    def rows(self) -> list[Row]:
        """All tables; each event has a row at least."""
        drawn = []
        for key in self.order:
            name, event = key
            sources = [s for s in self.states[name] if self.often(0.6)] or [self.chance.choice(self.states[name])]
            self.needs[key].append(lambda x, sources=sources: x.is_(*sources))  # type: ignore[misc]
            named = ((me, Ref(self.sort(name))), *((parameter(p), kind) for p, kind in self.events[key].items()))
            for source in sources:
                sets = {
                    a.name: self._update(key, a, Scope(named, history=a.history))
                    for a in self.attributes[name]
                    if not a.rigid and self.often(0.6)
                }
                target = self.chance.choice(self.states[name])
                drawn.append(Row(self.sort(name), event, source, target, **sets))
        return drawn

    def _update(self, key: Key, attribute: Attribute, scope: Scope) -> Term:
        old = getattr(me, attribute.name)
        if attribute.type == NUMBER and not attribute.history and self.often(0.6):
            up = self.often(0.6)
            name, end = attribute.name, NUMBER.high if up else NUMBER.low
            if not self.grows:
                self.needs[key].append(lambda x: ~(getattr(x, name) == end))
            return old + 1 if up else old - 1
        if isinstance(attribute.type, SetOf) and self.often(0.5):
            one = self._one(attribute.type.sort, scope)
            if one is not None:
                return old.with_(one) if self.often(0.6) else old.without(one)
        if self.often(0.4) and (term := self.read(attribute.type, scope)) is not None:
            return term
        return self.value(attribute.type, scope, 1)

    # Terms.

    def somebody(self, sort: Sort, scope: Scope) -> Term | None:
        """What surely names an object, mostly; None if nothing is named that could."""
        sure = scope.of(Ref(sort), surely=not self.often(0.03))
        if self.often(0.05) and (links := self._links(sort, scope)):
            return self.chance.choice(links)
        return self.chance.choice(sure) if sure else None

    def _links(self, sort: Sort, scope: Scope) -> list[Term]:
        return [
            getattr(x, a.name)
            for x, kind in scope.named
            if isinstance(kind, Ref) and not isinstance(x, Given)
            for a in self.attributes[kind.sort.name]
            if a.type == Ref(sort) and (scope.history or not a.history)
        ]

    def read(self, kind: Type, scope: Scope) -> Term | None:
        """An attribute of this type of somebody, if there is one."""
        terms = []
        for sort in self.sorts:
            who = self.somebody(sort, scope)
            if who is not None:
                readable = [
                    a for a in self.attributes[sort.name] if a.type == kind and (scope.history or not a.history)
                ]
                terms += [getattr(who, a.name) for a in readable]
        return self.chance.choice(terms) if terms else None

    def value(self, kind: Type, scope: Scope, depth: int) -> Term:
        """Of any type."""
        ways: list[Term | None] = [*scope.of(kind), self.read(kind, scope)]
        match kind:
            case BoolType():
                ways += [self.formula(scope, depth - 1)] if depth > 0 else [Constant(self.often(0.5))]
            case IntRange() | EnumType():
                ways.append(Constant(self._constant(kind)))
            case Ref():
                ways.append(NONE)
            case SetOf(sort):
                ways.append(EMPTY)
                if depth > 0:
                    x = self.variable(sort, scope)
                    ways.append(those(x, self.formula(scope.and_(x), depth - 1)))
                    if (one := self._one(sort, scope)) is not None:
                        ways.append(self.value(kind, scope, depth - 1).with_(one))
        return self.chance.choice([w for w in ways if w is not None])

    def variable(self, kind: Sort | Type, scope: Scope) -> Var:
        """A new one; seldom one of a name that is known already, but its type too."""
        type_ = Ref(kind) if isinstance(kind, Sort) else kind
        known = [x for x in scope.of(type_) if isinstance(x, Var)]
        if known and self.often(0.1):
            return self.chance.choice(known)
        return variable(type_, f"v{next(self._numbers)}")

    def formula(self, scope: Scope, depth: int) -> Term:
        """A condition."""
        if depth > 0 and self.often(0.6):
            return self._joined(scope, depth - 1)
        for _ in range(20):
            if (atom := self._atom(scope)) is not None:
                later = scope.after and self.often(0.4) and not list(firings(atom)) and not reads_after(atom)
                return after(atom) if later else atom
        x = self.variable(self.chance.choice(self.sorts), scope)
        return exists(x, self.formula(scope.and_(x), 0))

    def _joined(self, scope: Scope, depth: int) -> Term:
        one = self.formula(scope, depth)
        match self.chance.choice(["and", "or", "not", "implies", "iff", "all", "some", "pairs"]):
            case "and":
                return one & self.formula(scope, depth)
            case "or":
                return one | self.formula(scope, depth)
            case "not":
                return ~one
            case "implies":
                return implies(one, self.formula(scope, depth))
            case "iff":
                return iff(one, self.formula(scope, depth))
            case "pairs":
                x = self.variable(self.chance.choice([*self.sorts, NUMBER, MODE]), scope)
                y = self.variable(self.chance.choice(self.sorts), scope.and_(x))
                binder = self.chance.choice([forall, exists])
                over = [x] if x.name == y.name else [x, y]
                return binder(over, self.formula(scope.and_(*over), depth))
            case kind:
                x = self.variable(self.chance.choice(self.sorts), scope)
                return (forall if kind == "all" else exists)(x, self.formula(scope.and_(x), depth))

    def _atom(self, scope: Scope) -> Term | None:
        sort = self.chance.choice(self.sorts)
        match self.chance.choice(["is", "is", "same", "flag", "less", "mode", "link", "has", "fires", "fires"]):
            case "is":
                who = self.somebody(sort, scope)
                states = self.states[sort.name]
                some = self.chance.sample(states, self.chance.randint(1, len(states) - 1))
                return who.is_(*some) if who is not None else None
            case "same":
                who = self.somebody(sort, scope)
                return who == self.value(Ref(sort), scope, 0) if who is not None else None
            case "flag":
                flag = self.read(TRUTH, scope)
                return flag if flag is None or self.often(0.5) else flag == self.value(TRUTH, scope, 0)
            case "less":
                number, other = self.read(NUMBER, scope), self.value(NUMBER, scope, 0)
                if number is None:
                    return None
                ways = [number < other, number <= other, other < number, number == other, number < other + 1]
                return self.chance.choice(ways)
            case "mode":
                mode = self.read(MODE, scope)
                return mode == self.value(MODE, scope, 0) if mode is not None else None
            case "link":
                link = self.read(Ref(sort), scope)
                return link == self.value(Ref(sort), scope, 0) if link is not None else None
            case "has":
                members = self.read(SetOf(sort), scope)
                one = self._one(sort, scope)
                return members.has(one) if members is not None and one is not None else None
        return self._asked(scope)

    def _one(self, sort: Sort, scope: Scope) -> Term | None:
        """What may be in a set, or nobody."""
        ways = [*scope.of(Ref(sort)), *(self._links(sort, scope) if self.often(0.5) else [])]
        return self.chance.choice(ways) if ways else None

    def _asked(self, scope: Scope) -> Term | None:
        """Whether an event happens, seldom with which parameter."""
        if not scope.asked:
            return None
        sort, event = self.chance.choice(scope.asked)
        who = scope.of(Ref(self.sort(sort)), surely=True)
        if not who:
            return None
        simple = {n: k for n, k in self.events[sort, event].items() if not isinstance(k, SetOf)}
        given = {n: self.value(k, replace(scope, asked=()), 0) for n, k in simple.items() if self.often(0.3)}
        return self.chance.choice(who).fires(event, **given)

    # What happens.

    def caused(self, key: Key, who: Term, scope: Scope) -> Fires:
        """An event, with all its parameters."""
        inside = replace(scope, asked=())
        return who.fires(key[1], **{n: self.value(kind, inside, 1) for n, kind in self.events[key].items()})

    def ready(self, key: Key, who: Term) -> list[Term]:
        """What must be so, lest the event be ill-formed; all of it, but for now and then."""
        return [need(who) for need in self.needs[key] if self.often(0.96)]

    def action(self, number: int) -> Action:
        """One or two objects, and at times a value; what it fires comes early in the order of events."""
        roots = self.order[: max(2, len(self.order) // 2)]
        fired = self.chance.sample(roots, 2 if self.often(0.25) else 1)
        over = [variable(self.sort(sort), f"{sort.lower()}{n}") for n, (sort, _) in enumerate(fired)]
        if self.often(0.4):
            over.append(variable(self._type(), "c"))
        scope = Scope().and_(*over)
        when = [need for key, x in zip(fired, over, strict=False) for need in self.ready(key, x)]
        if len(fired) == 2 and over[0].type == over[1].type and self.often(0.9):
            when.append(~(over[0] == over[1]))
        # There are many sets to choose from: a condition on the members selects one.
        chosen = over[-1]
        if isinstance(chosen.type, SetOf) and self.often(0.7):
            x = self.variable(chosen.type.sort, scope)
            when.append(forall(x, implies(chosen.has(x), self.formula(scope.and_(x), 0))))
        if self.often(0.4):
            when.insert(self.chance.randrange(len(when) + 1), self.formula(scope, 1))
        # The attributes in which objects differ make a difference.
        if (rigid := self._asymmetry(over[0])) is not None and self.often(0.6):
            when.append(rigid)
        fires = [self.caused(key, x, scope) for key, x in zip(fired, over, strict=False)]
        self.happens.update(fired)
        return Action(f"act{number}", over, when, fires, "", crash=self.often(0.1))

    def _asymmetry(self, x: Var) -> Term | None:
        """A condition on a rigid attribute of an object, if it has a simple one."""
        assert isinstance(x.type, Ref)
        rigid = [a for a in self.attributes[x.type.sort.name] if a.rigid and a.type in (TRUTH, NUMBER, MODE)]
        if not rigid:
            return None
        one = self.chance.choice(rigid)
        return getattr(x, one.name) == self._constant(one.type)

    def rule(self, number: int, actions: Sequence[Action]) -> Rule | None:
        """From an action, or an event of its, to a later event; None if there is no later one."""
        on: Action | Fires
        if self.often(0.4):
            on = self.chance.choice(actions)
            scope = Scope().and_(*on.parameters)
            begin = max(self.order.index(self._key(f, on.parameters)) for f in on.fires)
            when = []
        else:
            # Most of what is looked at does happen.
            likely = [
                key for key in self.order[:-1] if key in (self.caused_by_rules if self.often(0.5) else self.happens)
            ]
            sort, event = self.chance.choice(likely if likely and self.often(0.9) else self.order[:-1])
            begin = self.order.index((sort, event))
            x = variable(self.sort(sort), "x")
            scope = Scope().and_(x)
            simple = {n: k for n, k in self.events[sort, event].items() if not isinstance(k, SetOf)}
            payload = {
                n: variable(k, f"g{n}") for n, k in simple.items() if self.often(0.4) and k in (TRUTH, NUMBER, MODE)
            }
            on = x.fires(event, **payload)
            scope, when = scope.and_(*payload.values()), []
        later = self.order[begin + 1 :]
        if not later:
            return None
        key = self.chance.choice(later)
        y = variable(self.sort(key[0]), "y")
        scope = replace(scope.and_(y), asked=self.order[: self.order.index(key)])
        when += self.ready(key, y)
        # Nothing else befalls it.
        rivals = [other for other in scope.asked if other[0] == key[0]]
        when += [~y.fires(event) for _, event in rivals if self.often(0.95)]
        for _ in range(self.chance.choice([0, 1, 1, 2])):
            when.insert(self.chance.randrange(len(when) + 1), self.formula(scope, self.chance.choice([0, 0, 1])))
        self.happens.add(key)
        self.caused_by_rules.add(key)
        return Rule(f"rule{number}", on, when, self.caused(key, y, replace(scope, asked=())))

    def _key(self, firing: Fires, parameters: Sequence[Var]) -> Key:
        assert isinstance(firing.of, Var) and isinstance(firing.of.type, Ref)
        return firing.of.type.sort.name, firing.event

    # The properties.

    def properties(self, actions: Sequence[Action], model: Model) -> list[Property]:
        """Some of each kind."""
        names = [a.name for a in actions]

        def some() -> list[str]:
            return [n for n in names if self.often(0.4)]

        drawn: list[Property] = []
        for n in range(3):
            over, scope = self._over(n == 1)
            premise = self.formula(scope, 0) if self.often(0.5) else None
            drawn.append(Invariant(name=f"state{n}", says="", over=over, given=premise, then=self.formula(scope, 2)))
        for n in range(2):
            on = some() if self.often(0.4) else []
            over, scope = self._over(False)
            scope = replace(scope.and_(*common_parameters(model, on)), after=True, asked=self.order)
            premise = self.formula(scope, 0) if self.often(0.6) else None
            then = self.formula(scope, 1)
            drawn.append(StepInvariant(name=f"step{n}", says="", over=over, on=on, given=premise, then=then))
        for n in range(2):
            over, scope = self._over(n == 1)
            start, goal = self.formula(scope, 0), self.formula(scope, 1)
            drawn.append(
                AlwaysCanReach(name=f"reach{n}", says="", over=over, given=start, goal=goal, without=some()[:1])
            )
        for n in range(2):
            over, scope = self._over(n == 1)
            start, goal = self.formula(scope, 0), self.formula(scope, 1)
            weak, strong = some(), some()
            without = [name for name in some() if name not in (*weak, *strong)]
            fair: Mapping[str, Any] = {"weak": weak, "strong": strong, "without": without}
            drawn.append(LeadsTo(name=f"leads{n}", says="", over=over, given=start, goal=goal, **fair))
        sort = self.chance.choice(self.sorts)
        life = [self.states[sort.name][0]]
        for _ in range(self.chance.randint(1, 3)):
            life.append(self.chance.choice([s for s in self.states[sort.name] if s != life[-1]]))
        return [*drawn, LifeCycle(name="life", says="", sort=sort, states=life)]

    def _over(self, history: bool) -> tuple[list[Var], Scope]:
        over = [
            variable(s, f"o{n}") for n, s in enumerate(self.chance.choices(self.sorts, k=self.chance.choice([1, 1, 2])))
        ]
        return over, Scope(history=history).and_(*over)

    def rigid(self) -> Rigid:
        """Different values of rigid attributes, for most of those that may have them."""
        return {
            (sort.name, a.name): [self._of(a.type) for _ in range(self.sizes[sort.name])]
            for sort in self.sorts
            for a in self.attributes[sort.name]
            if a.rigid and self.often(0.7)
        }

    def _of(self, kind: Type) -> Any:
        match kind:
            case Ref(sort):
                return self.chance.choice([None, *range(self.sizes[sort.name])])
            case SetOf(sort):
                return frozenset(n for n in range(self.sizes[sort.name]) if self.often(0.5))
        return self._constant(kind)

    def model(self) -> Model:
        """All of it.

        Raises:
            ModelError: it is none.
        """
        rows = self.rows()
        actions = [self.action(n) for n in range(self.chance.choice([2, 3, 4]))]
        rules = [r for n in range(self.chance.choice([1, 2, 3, 4])) if (r := self.rule(n, actions)) is not None]
        rigid = self.rigid()
        plain = Model(
            system="random",
            variant="random",
            about="",
            document=Document("", ""),
            machines=[self.machine(s, rows) for s in self.sorts],
            rows=rows,
            actions=actions,
            rules=rules,
            properties=[],
            default_scope=self.sizes,
            configurations=lambda sizes: [rigid],
        )
        return checked(replace(checked(plain), properties=self.properties(actions, plain)))


@dataclass
class Drawn:
    """A model that is worth comparing, and how many came before it that are not: refused, too small, or too large."""

    model: Model
    refused: int = 0
    small: int = 0
    large: int = 0

    def instance(self, *, with_history: bool = False) -> Instance:
        """In its only configuration."""
        [rigid] = self.model.configurations(self.model.default_scope)
        return Instance(self.model, dict(self.model.default_scope), rigid, with_history)


class IntegerMaker(Maker):
    """Makes models whose numbers have no end, but a bound; their deadlocks are asked about, too."""

    grows, recorded = True, 0.25

    def _type(self) -> Type:
        return NUMBER if self.often(0.5) else super()._type()

    def model(self) -> Model:
        """All of it.

        Raises:
            ModelError: it is none.
        """
        ranged, bound = super().model(), dict[tuple[str, str], int | tuple[int, int]]()

        def endless(sort: Sort, a: Attribute) -> Attribute:
            if a.type != NUMBER or (a.rigid and self.often(0.5)):
                return a
            initial = a.initial or 0
            kind = Nat if initial >= 0 and self.often(0.3) else Int  # type: ignore[operator]
            if not a.rigid:
                high = max(int(initial), self.chance.choice([0, 1, 1, 2, 2, 3]))
                bound[sort.name, a.name] = high if kind == Nat or self.often(0.4) else (min(-1, int(initial)), high)
                if kind == Int and bound[sort.name, a.name] == high < abs(int(initial)):
                    bound[sort.name, a.name] = abs(int(initial))
            return replace(a, type=kind)

        machines = [
            replace(
                m,
                attributes=[endless(m.sort, a) for a in m.attributes],
                events=[
                    replace(e, parameters={n: Int if k == NUMBER else k for n, k in e.parameters.items()})
                    for e in m.events
                ],
            )
            for m in ranged.machines
        ]
        if not bound:
            raise ModelError("model", ranged.place, "it has no integers", "draw another")
        rigid = ranged.configurations(ranged.default_scope)
        low = [{k: [abs(v) if type(v) is int else v for v in vs] for k, vs in each.items()} for each in rigid]
        properties = [*ranged.properties, DeadlockFree(name="lives", says="")]
        return checked(
            replace(ranged, machines=machines, bound=bound, properties=properties, configurations=lambda sizes: low)
        )


class RelationMaker(Maker):
    """Makes models of which each sort has a relation of two sorts, or of three."""

    def __init__(self, chance: Random) -> None:
        super().__init__(chance)
        kinds = [self._relation() for _ in self.sorts]
        for sort in self.sorts:
            kind = self.chance.choice(kinds)
            rigid = self.often(0.2)
            tuples = prod(self.sizes[each.name] for each in kind.sorts) * self.sizes[sort.name]
            history = not rigid and tuples <= 8 and self.often(0.2)  # a larger one takes too many values
            relation = Attribute("r", kind, rigid=rigid, history=history)
            self.attributes[sort.name] = [relation, *self.attributes[sort.name][:1]]
            self.order.insert(0, (sort.name, "put"))
            self.events[sort.name, "put"] = {f"p{n}": Ref(of) for n, of in enumerate(kind.sorts)}
            self.needs[sort.name, "put"] = []

    def _relation(self) -> Relation:
        return Relation(*(self.chance.choice(self.sorts) for _ in range(self.chance.choice([2, 2, 2, 3]))))

    def _update(self, key: Key, attribute: Attribute, scope: Scope) -> Term:
        if isinstance(attribute.type, Relation) and self.often(0.7):
            objects = self._tuple(attribute.type, scope)
            if objects is not None:
                old = getattr(me, attribute.name)
                return old.with_(*objects) if self.often(0.7) else old.without(*objects)
        return super()._update(key, attribute, scope)

    def rows(self) -> list[Row]:
        """All tables. That an entry is put writes it, mostly."""
        return [self._writing(row) if row.event == "put" else row for row in super().rows()]

    def _writing(self, row: Row) -> Row:
        relation = self.attributes[row.sort.name][0]
        if relation.rigid or self.often(0.1):
            return row
        objects = [parameter(name) for name in self.events[row.sort.name, "put"]]
        value = me.r.with_(*objects) if self.often(0.75) else me.r.without(*objects)
        return Row(row.sort, row.event, row.source, row.target, **{**dict(row.sets), "r": value})

    def action(self, number: int) -> Action:
        """The first ones each write an entry of a relation."""
        if number >= len(self.sorts) or self.often(0.2):
            return super().action(number)
        key = (self.sorts[number].name, "put")
        x = variable(self.sorts[number], "x")
        objects = {name: variable(kind, f"y{name}") for name, kind in self.events[key].items()}
        scope = Scope().and_(x, *objects.values())
        when = [*self.ready(key, x), *([self.formula(scope, 0)] if self.often(0.6) else [])]
        self.happens.add(key)
        return Action(f"act{number}", [x, *objects.values()], when, [x.fires("put", **objects)], "")

    def _tuple(self, kind: Relation, scope: Scope) -> list[Term] | None:
        """What may be in a relation, or has nobody at a place."""
        objects = [each for sort in kind.sorts if (each := self._one(sort, scope)) is not None]
        return objects if len(objects) == len(kind.sorts) else None

    def value(self, kind: Type, scope: Scope, depth: int) -> Term:
        """Of any type."""
        if not isinstance(kind, Relation):
            return super().value(kind, scope, depth)
        ways: list[Term | None] = [self.read(kind, scope), EMPTY]
        over = [variable(sort, f"v{next(self._numbers)}") for sort in kind.sorts]
        ways.append(those(over, self.formula(replace(scope.and_(*over), after=False), max(0, depth - 1))))
        if depth > 0 and (objects := self._tuple(kind, scope)) is not None:
            ways.append(self.value(kind, scope, depth - 1).with_(*objects))
        return self.chance.choice([w for w in ways if w is not None])

    def _counted(self, scope: Scope) -> Term:
        """How many objects, or values, are in some way, beside a number, or beside how many are in another."""
        over = [
            variable(kind, f"v{next(self._numbers)}")
            for kind in self.chance.choices(self.sorts, k=self.chance.choice([1, 1, 2]))
        ]
        number = count_of(over, self.formula(scope.and_(*over), 0))
        if self.often(0.04):
            x = variable(NUMBER if self.often(0.3) else Ref(self.sorts[0]), f"v{next(self._numbers)}")
            return number <= count_of(x, self.formula(scope.and_(x), 0))
        limit = self.chance.choice([0, 1, 1, 2, 3])
        ways = [
            number <= limit,
            number < limit,
            number == limit,
            Constant(limit) <= number,
            Constant(limit) < number + 1,
        ]
        return self.chance.choice(ways)

    def _atom(self, scope: Scope) -> Term | None:
        if self.often(0.08):
            return self._counted(replace(scope, asked=(), after=False))
        if self.often(0.3):
            kind = self.chance.choice([a.type for its in self.attributes.values() for a in its if a.name == "r"])
            assert isinstance(kind, Relation)
            related, objects = self.read(kind, scope), self._tuple(kind, scope)
            if related is not None and objects is not None:
                return related.has(*objects)
        return super()._atom(scope)

    def _of(self, kind: Type) -> Any:
        if not isinstance(kind, Relation):
            return super()._of(kind)
        every = product(*(range(self.sizes[sort.name]) for sort in kind.sorts))
        return frozenset(each for each in every if self.often(0.5))


class FunctionMaker(Maker):
    """Makes models of which each sort has a function of one object, or of two, to values of any type."""

    def __init__(self, chance: Random) -> None:
        super().__init__(chance)
        kinds = [self._function() for _ in self.sorts]
        for sort in self.sorts:
            kind = self.chance.choice(kinds)
            rigid = self.often(0.2)
            tuples = prod(self.sizes[each.name] for each in kind.sorts) * self.sizes[sort.name]
            values = {TRUTH: 2, MODE: 3}.get(kind.to, 4)
            history = not rigid and values**tuples <= 64 and self.often(0.3)  # more histories take too long
            function = Attribute("f", kind, rigid=rigid, history=history)
            self.attributes[sort.name] = [function, *self.attributes[sort.name][:1]]
            self.order.insert(0, (sort.name, "put"))
            parameters: dict[str, Type] = {f"p{n}": Ref(of) for n, of in enumerate(kind.sorts)}
            self.events[sort.name, "put"] = {**parameters, "to": kind.to}
            self.needs[sort.name, "put"] = []

    def _function(self) -> Function:
        sorts = [self.chance.choice(self.sorts) for _ in range(self.chance.choice([1, 1, 1, 2]))]
        return Function(*sorts, to=self.chance.choice([TRUTH, NUMBER, MODE, Ref(self.chance.choice(self.sorts))]))

    def _arguments(self, kind: Function, scope: Scope) -> tuple[Term, ...] | None:
        """What the function may be read at, or has nobody at a place, seldom."""
        objects = [one for sort in kind.sorts if (one := self.somebody(sort, scope)) is not None]
        return tuple(objects) if len(objects) == len(kind.sorts) else None

    def read(self, kind: Type, scope: Scope) -> Term | None:
        """An attribute of this type of somebody, or a value of a function."""
        if isinstance(kind, Function) or self.often(0.4):
            return super().read(kind, scope)
        for sort in self.sorts:
            function = self.attributes[sort.name][0]
            assert isinstance(function.type, Function)
            who, at = self.somebody(sort, scope), self._arguments(function.type, scope)
            if (
                who is not None
                and at is not None
                and function.type.to == kind
                and (scope.history or not function.history)
            ):
                return self._later(who.f, scope)[at] if self.often(0.3) else self._later(who.f[at], scope)
        return super().read(kind, scope)

    def _later(self, term: Term, scope: Scope) -> Term:
        return after(term) if scope.after and self.often(0.3) and not reads_after(term) else term

    def _update(self, key: Key, attribute: Attribute, scope: Scope) -> Term:
        kind = attribute.type
        if not isinstance(kind, Function) or self.often(0.3):
            return super()._update(key, attribute, scope)
        objects = [one for sort in kind.sorts if (one := self._one(sort, scope)) is not None]
        if len(objects) < len(kind.sorts):
            return super()._update(key, attribute, scope)
        base = each(self._over_of(kind), self.value(kind.to, scope, 0)) if self.often(0.2) else me.f
        to = self.value(kind.to, scope, 0)
        if kind.to == NUMBER and self.often(0.25):  # at times outside of the range
            to = to + 1 if self.often(0.5) else to - 1
        return base.with_(*objects, to=to)

    def _over_of(self, kind: Function) -> list[Var]:
        return [variable(sort, f"v{next(self._numbers)}") for sort in kind.sorts]

    def rows(self) -> list[Row]:
        """All tables. That a value is put writes it, mostly."""
        return [self._writing(row) if row.event == "put" else row for row in super().rows()]

    def _writing(self, row: Row) -> Row:
        if self.attributes[row.sort.name][0].rigid or self.often(0.1):
            return row
        *objects, to = [parameter(name) for name in self.events[row.sort.name, "put"]]
        return Row(row.sort, row.event, row.source, row.target, **{**dict(row.sets), "f": me.f.with_(*objects, to=to)})

    def action(self, number: int) -> Action:
        """The first ones each write a value of a function."""
        if number >= len(self.sorts) or self.often(0.2):
            return super().action(number)
        key = (self.sorts[number].name, "put")
        x = variable(self.sorts[number], "x")
        values: dict[str, Any] = {name: variable(kind, f"y{name}") for name, kind in self.events[key].items()}
        scope = Scope().and_(x, *values.values())
        over = [x, *values.values()]
        if self.often(0.5):
            values["to"] = self.value(self.events[key]["to"], scope, 0)
            over.pop()
            scope = Scope().and_(*over)
            values["to"] = self.value(self.events[key]["to"], scope, 0)
        when = [*self.ready(key, x), *([self.formula(scope, 0)] if self.often(0.6) else [])]
        self.happens.add(key)
        return Action(f"act{number}", over, when, [x.fires("put", **values)], "")

    def value(self, kind: Type, scope: Scope, depth: int) -> Term:
        """Of any type."""
        if not isinstance(kind, Function):
            return super().value(kind, scope, depth)
        over = self._over_of(kind)
        made = each(over, self.value(kind.to, replace(scope.and_(*over), after=False), 0))
        ways: list[Term | None] = [self.read(kind, scope), made, made]
        return self.chance.choice([w for w in ways if w is not None])

    def _of(self, kind: Type) -> Any:
        if not isinstance(kind, Function):
            return super()._of(kind)
        every = product(*(range(self.sizes[sort.name]) for sort in kind.sorts))
        return {
            at if len(at) > 1 else at[0]: super(FunctionMaker, self)._of(kind.to) for at in every if self.often(0.8)
        }


class SequenceMaker(Maker):
    """Makes models of which each sort has a sequence of values of any type. The bound of its length is often met."""

    def __init__(self, chance: Random) -> None:
        super().__init__(chance)
        self.kinds = [self._sequence() for _ in self.sorts]
        for sort in self.sorts:
            kind = self.chance.choice(self.kinds)
            self.attributes[sort.name] = [
                Attribute("q", kind, history=self.often(0.15)),
                *self.attributes[sort.name][:1],
            ]
            self.order.insert(0, (sort.name, "put"))
            self.events[sort.name, "put"] = {"to": kind.of}
            self.needs[sort.name, "put"] = []

    def _sequence(self) -> Sequential:
        kind = self.chance.choice([TRUTH, NUMBER, MODE, Ref(self.chance.choice(self.sorts))])
        return Sequential(kind, at_most=self.chance.choice([1, 2] if kind in (TRUTH, MODE) else [1]))

    def _made(self, kind: Sequential, scope: Scope, depth: int) -> Term | None:
        """A sequence of somebody, or a part of one, or with more items."""
        whole = super().read(kind, scope)
        if whole is None or depth <= 0 or self.often(0.3):
            return whole
        if self.often(0.5):
            item = self.value(kind.of, scope, 0)
            return (whole if self.often(0.8) else EMPTY).append(item)
        return whole[: self._number(scope)] if self.often(0.5) else whole[self._number(scope) :]

    def _number(self, scope: Scope) -> Term:
        """A number of items, or an index; seldom one that no sequence has."""
        kind = self.chance.choice(self.kinds)
        whole = super().read(kind, scope)
        if whole is None or self.often(0.5):
            return Constant(self.chance.choice([0, 0, 0, 1, 1, 2]))
        return length_of(whole) - 1 if self.often(0.6) else length_of(whole)

    def read(self, kind: Type, scope: Scope) -> Term | None:
        """An attribute of this type of somebody, or an item of a sequence."""
        if isinstance(kind, Sequential):
            return self._made(kind, scope, 1 if self.often(0.4) else 0)
        if kind == NUMBER and self.often(0.1):
            whole = super().read(self.chance.choice(self.kinds), scope)
            return None if whole is None else length_of(whole)
        for of in self.kinds:
            if of.of == kind and self.often(0.15) and (whole := super().read(of, scope)) is not None:
                return whole[self._number(scope)]
        return super().read(kind, scope)

    def _atom(self, scope: Scope) -> Term | None:
        if self.often(0.6):
            return super()._atom(scope)
        kind = self.chance.choice(self.kinds)
        whole = super().read(kind, scope)
        if whole is None:
            return super()._atom(scope)
        i = variable(Nat, f"i{next(self._numbers)}")
        item, limit = self.value(kind.of, scope.and_(i), 0), length_of(whole)
        ways: list[Term | None] = [
            whole.has(self.value(kind.of, scope, 0)),
            whole == EMPTY,
            Equal(whole, self.value(kind, scope, 1)),
            limit <= self._number(scope),
            forall(i, implies((i < limit) & ~(whole[i] == item), whole[i] == whole[limit - 1])),
            exists(i, (i < limit) & (whole[i] == item)),
            exists(i, (i <= limit - 2) & (whole[i] == whole[i + 1])),
        ]
        return self.chance.choice(ways)

    def rows(self) -> list[Row]:
        """All tables. That a value is put appends it, mostly."""
        return [self._writing(row) if row.event == "put" else row for row in super().rows()]

    def _writing(self, row: Row) -> Row:
        if self.often(0.1):
            return row
        q = me.q.append(parameter("to"))
        q = q if self.often(0.6) else q[1:] if self.often(0.5) else me.q[1:].append(parameter("to"))
        return Row(row.sort, row.event, row.source, row.target, **{**dict(row.sets), "q": q})

    def action(self, number: int) -> Action:
        """The first ones each put a value into a sequence."""
        if number >= len(self.sorts) or self.often(0.2):
            return super().action(number)
        key = (self.sorts[number].name, "put")
        x, to = variable(self.sorts[number], "x"), variable(self.events[key]["to"], "to")
        scope = Scope().and_(x, to)
        when = [*self.ready(key, x), *([self.formula(scope, 0)] if self.often(0.6) else [])]
        self.happens.add(key)
        return Action(f"act{number}", [x, to], when, [x.fires("put", to=to)], "")

    def value(self, kind: Type, scope: Scope, depth: int) -> Term:
        """Of any type."""
        if not isinstance(kind, Sequential):
            return super().value(kind, scope, depth)
        made = self._made(kind, scope, 1)
        return EMPTY if made is None or self.often(0.15) else made


def reads_after(term: Term) -> bool:
    """Whether a part of a term is read in the state after a step."""
    return any(isinstance(part, After) for part in subterms(term))


class LaterMaker(RelationMaker, IntegerMaker):
    """Makes models whose step invariants compare values after a step with values before it: of integers, relations and all else."""

    recorded = 0.1

    def _later(self, term: Term, scope: Scope) -> Term:
        return after(term) if scope.after and self.often(0.4) and not reads_after(term) else term

    def read(self, kind: Type, scope: Scope) -> Term | None:
        """An attribute of this type of somebody, often after the step."""
        term = super().read(kind, scope)
        return None if term is None else self._later(term, scope)

    def _links(self, sort: Sort, scope: Scope) -> list[Term]:
        return [self._later(term, scope) for term in super()._links(sort, scope)]

    def _atom(self, scope: Scope) -> Term | None:
        atom = super()._atom(scope)
        if not isinstance(atom, Less | Equal) or list(firings(atom)) or reads_after(atom):
            return atom
        return replace(atom, left=self._later(atom.left, scope))

    def properties(self, actions: Sequence[Action], model: Model) -> list[Property]:
        """Those of step invariants are several."""
        drawn = super().properties(actions, model)
        over, scope = self._over(False)
        scope = replace(scope, after=True, asked=self.order)
        return [
            *drawn,
            *(StepInvariant(name=f"later{n}", says="", over=over, then=self.formula(scope, 1)) for n in range(3)),
        ]


class DisposableMaker(Maker):
    """Makes models whose objects of the first sort are created, and end."""

    recorded = 0.0

    def model(self) -> Model:
        """All of it.

        Raises:
            ModelError: it is none.
        """
        lasting = super().model()
        sort = replace(self.sorts[0], disposable=True)
        states = self.states[sort.name]
        x = variable(sort, "x")

        def names(kind: Type) -> bool:
            match kind:
                case Sequential(of):
                    return names(of)
                case Function(sorts, to):
                    return sort in sorts or names(to)
                case Relation(sorts):
                    return sort in sorts
            return isinstance(kind, Ref | SetOf) and kind.sort == sort

        def lives(machine: Machine) -> Machine:
            about = machine.sort.name == sort.name
            attributes = [
                replace(
                    a,
                    rigid=a.rigid and not (about or names(a.type)),
                    history=a.history and not names(a.type),
                )
                for a in machine.attributes
            ]
            if not about:
                return replace(machine, attributes=attributes)
            return replace(
                machine, sort=sort, attributes=attributes, states=[replace(s, begins="") for s in machine.states]
            )

        machines = [lives(m) for m in lasting.machines]
        kept = {(m.sort.name, a.name) for m in machines for a in m.attributes if a.rigid}
        rigid = [{k: v for k, v in each.items() if k in kept} for each in lasting.configurations(self.sizes)]
        born = Action("create", [x], [new(x)], [x.fires("born")], "{x} is created")
        dies = Action("end", [x], [x.is_(states[-1])], [x.fires("dies")], "{x} ends")
        rows = [Row(sort, "born", "Absent", states[0]), Row(sort, "dies", states[-1], "Absent")]
        of_objects = {a.name for a in lasting.actions if any(v.type == Ref(sort) for v in a.parameters)}

        def followed(prop: Property) -> Property:
            if isinstance(prop, LifeCycle) and prop.sort == sort:
                end = [] if self.often(0.5) else ["Absent"]
                return replace(prop, sort=sort, states=["Absent", *prop.states, *end])
            if isinstance(prop, AlwaysCanReach | LeadsTo):
                for v in prop.over:
                    if v.type == Ref(sort):
                        prop = replace(prop, goal=prop.goal | ended(v))
            if isinstance(prop, LeadsTo):
                weak = {*prop.weak, *(of_objects & {*prop.strong})}
                if self.often(0.5):
                    weak.add("end")
                prop = replace(prop, weak=sorted(weak), strong=[n for n in prop.strong if n not in of_objects])
            return prop

        sizes = {**self.sizes, sort.name: max(2, self.sizes[sort.name])}
        properties = [*map(followed, lasting.properties), DeadlockFree(name="lives", says="")]
        return checked(
            replace(
                lasting,
                machines=machines,
                rows=[*lasting.rows, *rows],
                actions=[*lasting.actions, born, dies],
                properties=[*map(self._creates, properties)],
                default_scope=sizes,
                configurations=lambda sizes: rigid,
            )
        )

    def _creates(self, prop: Property) -> Property:
        """Fairness of the action that creates, mostly."""
        if not isinstance(prop, LeadsTo) or self.often(0.3):
            return prop
        kind = "weak" if self.often(0.6) else "strong"
        return replace(prop, **{kind: [*getattr(prop, kind), "create"]})


class DisposableRelationMaker(DisposableMaker, RelationMaker):
    """Makes models with relations between objects of which some are created, and end."""


class UnrecordedMaker(DisposableMaker):
    """Makes models with disposable objects and without history."""

    def __init__(self, chance: Random) -> None:
        super().__init__(chance)
        self.attributes = {sort: [replace(a, history=False) for a in of] for sort, of in self.attributes.items()}


class DisposableSequenceMaker(UnrecordedMaker, SequenceMaker):
    """Makes models with sequences, of objects that are created, and end, too."""


class DisposableFunctionMaker(UnrecordedMaker, FunctionMaker):
    """Makes models with functions of objects, and to objects, that are created, and end."""


def random_model(seed: int, make: type[Maker] = Maker) -> Drawn:
    """The same for the same seed."""
    refused = small = large = 0
    for attempt in count():
        maker = make(Random(f"{seed} {attempt}"))
        try:
            drawn = Drawn(maker.model(), refused, small, large)
        except ModelError:
            refused += 1
            continue
        exploration = explore(drawn.instance(), symmetry=False, limit=MOST)
        if not exploration.complete:
            large += 1
        elif exploration.state_count < FEWEST:
            small += 1
        else:
            return drawn
    raise AssertionError
