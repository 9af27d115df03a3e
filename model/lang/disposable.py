"""Disposable sorts: a request, a message. Its objects begin when an action creates them, and are absent again when they end.

A disposable sort is written out when the model is made: a state ``Absent``, before and after each life; in every guard, rule,
quantifier and property that its objects are present; in every row that begins or ends a life that all attributes have their
first values. The engines get an ordinary model. Writing out a model twice changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

from schedproof.model.errors import require

from . import terms as t
from .arguments import word
from .errors import ModelError, Place
from .machine import Attribute, Machine, Row, State
from .properties import (
    AlwaysCanReach,
    DeadlockFree,
    Invariant,
    LeadsTo,
    LifeCycle,
    Property,
    Recovery,
    Restored,
    StepInvariant,
)
from .rules import Action, Effect, Rule
from .types import BoolType, EnumType, Function, Integer, IntRange, Ref, Relation, SetOf, Sort, Type, mentions
from .types import Sequence as SequenceType
from .wording import show_term

ABSENT = "Absent"
"""The state of an object of a disposable sort before and after its life."""


@word
def new(of: t.Term) -> t.Is:
    """In the guard of an action: its parameter ``of`` is an object that the action creates."""
    require("of", of, t.Term, "a variable, for example new(r)")
    return t.Is(of, (ABSENT,))


@word
def ended(of: t.Term) -> t.Is:
    """``of`` has ended: in ``after(...)``, and in the goal of a property that follows one object."""
    require("of", of, t.Term, "an object, for example ended(r)")
    return t.Is(of, (ABSENT,))


def unreferenced(machines: Sequence[Machine], var: t.Var) -> list[t.Term]:
    """The conditions that no attribute refers to an object, one for each attribute that could, and each place of a relation."""
    assert isinstance(var.type, Ref)
    conditions: list[t.Term] = []
    for owner, attribute in _references(machines, var.type.sort.name):
        holder = _beside(var, f"any_{owner.name}", owner)
        value = t.Attr(holder, attribute.name, place=var.place)
        for beside, refers in _ways(attribute.type, value, var):
            refers_not = t.Not(refers, place=var.place)
            conditions.append(t.Quantified(True, (holder, *beside), refers_not, place=var.place))
    return conditions


def _beside(var: t.Var, name: str, sort: Sort) -> t.Var:
    """A variable of a condition about ``var``, which a quantifier must not bind."""
    return t.Var(f"{name}_" if name == var.name else name, Ref(sort), place=var.place)


def _ways(kind: Type, value: t.Term, var: t.Var) -> Iterator[tuple[tuple[t.Var, ...], t.Term]]:
    """The ways in which a value refers to an object: the other objects of a tuple, and the condition.

    A tuple of a relation may have the object at several places.
    """
    if isinstance(kind, Relation):
        others = [_beside(var, f"at_{n}", sort) for n, sort in enumerate(kind.sorts)]
        for place, each in enumerate(others):
            if each.type == var.type:
                before, behind = others[:place], others[place + 1 :]
                element = t.Tuple((*before, var, *behind), place=var.place)
                yield (*before, *behind), t.Has(value, element, place=var.place)
    elif isinstance(kind, Function):
        others = [_beside(var, f"at_{n}", sort) for n, sort in enumerate(kind.sorts)]
        for place, each in enumerate(others):
            if each.type == var.type:
                yield (
                    (*others[:place], *others[place + 1 :]),
                    _not_first(kind, value, [*others[:place], var, *others[place + 1 :]]),
                )
        if kind.to == var.type:
            yield tuple(others), t.Equal(_applied(value, others), var, place=var.place)
    elif isinstance(kind, Ref):
        yield (), t.Equal(value, var, place=var.place)
    else:
        yield (), t.Has(value, var, place=var.place)


def _applied(function: t.Term, objects: Sequence[t.Var]) -> t.Apply:
    place = function.place
    return t.Apply(function, objects[0] if len(objects) == 1 else t.Tuple(tuple(objects), place=place), place=place)


def _not_first(kind: Function, function: t.Term, objects: Sequence[t.Var]) -> t.Term:
    """The condition that a function has another value than the first one of its type."""
    value = _applied(function, objects)
    if isinstance(kind.to, BoolType):
        return value
    first = _first_of(kind.to, function.place)
    return t.Not(t.Equal(value, first, place=function.place), place=function.place)


def created_by(action: Action, sort: Sort | None = None) -> frozenset[str]:
    """The names of the parameters that an action creates, of any disposable sort or of one."""
    return frozenset(
        c.of.name
        for c in action.when
        if _asks_for_new(c)
        and isinstance(c.of.type, Ref)
        and (c.of.type.sort.disposable if sort is None else c.of.type.sort == sort)
    )


def created_at_once(actions: Sequence[Action], sort: Sort) -> int:
    """The most objects of a disposable sort that one action creates; at least 1."""
    return max((len(created_by(a, sort)) for a in actions), default=0) or 1


def least(actions: Sequence[Action], sort: Sort) -> int:
    """The least objects of a sort that a scope has: of a disposable one, twice as many as an action creates."""
    return 2 * created_at_once(actions, sort) if sort.disposable else 1


def spare(machines: Sequence[Machine], actions: Sequence[Action], sort: Sort) -> t.Term:
    """Whatever action comes next, the objects of a disposable sort are there that it creates."""
    number = created_at_once(actions, sort)
    next_ones = tuple(t.Var(f"next_{n}_{sort.name}", Ref(sort), place=sort.place) for n in range(number))
    free = [c for var in next_ones for c in (new(var), *unreferenced(machines, var))]
    different = [t.Not(t.Equal(a, b, place=sort.place), place=sort.place) for a, b in combinations(next_ones, 2)]
    return t.Quantified(False, next_ones, t.And((*free, *different), place=sort.place), place=sort.place)


@dataclass(frozen=True)
class Parts:
    """The parts of a model that its disposable sorts change."""

    machines: Sequence[Machine]
    rows: Sequence[Row]
    actions: Sequence[Action]
    rules: Sequence[Rule]
    properties: Sequence[Property]

    @property
    def well_shaped(self) -> bool:
        """Whether all parts are of the right classes. What is not, :mod:`.shapes` refuses later."""
        lists: list[tuple[object, type]] = [
            (self.machines, Machine), (self.rows, Row), (self.actions, Action), (self.rules, Rule), (self.properties, Property)
        ]  # fmt: skip
        if not all(_are(values, kind) for values, kind in lists):
            return False
        lists = [each for m in self.machines for each in ((m.states, State), (m.attributes, Attribute))]
        for a in self.actions:
            lists += [(a.parameters, t.Var), (a.when, t.Term), (a.fires, t.Fires)]
        for rule in self.rules:
            lists += [(rule.when, t.Term), ([rule.fires], t.Fires), ([rule.on], (Action, t.Fires))]  # type: ignore[list-item]
        for prop in self.properties:
            formulas = [vars(prop).get(name) for name in ("given", "then", "goal", "ended")]
            lists += [(getattr(prop, "over", ()), t.Var), ([f for f in formulas if f is not None], t.Term)]
            lists += [(getattr(prop, name, ()), str) for name in ("weak", "strong", "states")]
            lists += [(getattr(prop, "restores", ()), Restored)]
        return all(_are(values, kind) for values, kind in lists)


def _are(values: object, kind: type) -> bool:
    return isinstance(values, list | tuple) and all(isinstance(value, kind) for value in values)


def written_out(model: Parts) -> dict[str, Any]:
    """The fields of a model that its disposable sorts change.

    Raises:
        ModelError: the model mixes two lives of an object, or creates or ends objects in another way.
    """
    return _Written(model).fields() if model.well_shaped else {}


class _Written:
    """A model with its disposable sorts written out."""

    def __init__(self, model: Parts) -> None:
        self.model = model
        self.machines = [self._machine(machine) for machine in model.machines]
        self.disposable = {machine.sort.name for machine in self.machines if machine.sort.disposable}
        self.creating = {(r.sort.name, r.event) for r in model.rows if self._disposable(r.sort) and r.source == ABSENT}

    def fields(self) -> dict[str, Any]:
        """The fields that change."""
        return {
            "machines": self.machines,
            "rows": [self._row(row) if self._disposable(row.sort) else self._sets(row) for row in self.model.rows],
            "actions": [self._action(action) for action in self.model.actions],
            "rules": [self._rule(rule) for rule in self.model.rules],
            "properties": [self._property(prop) for prop in self.model.properties],
        }

    def _disposable(self, sort: Sort) -> bool:
        return sort.name in self.disposable

    def _machine(self, machine: Machine) -> Machine:
        element = f"machine {machine.sort}"
        for attribute in machine.attributes:
            kind = attribute.type
            refers = any(m.sort.disposable and mentions(kind, m.sort.name) for m in self.model.machines)
            if attribute.rigid and (refers or machine.sort.disposable):
                problem = (
                    f"attribute {attribute.name} is rigid, but its value would outlive an object of a disposable sort"
                )
                raise ModelError(
                    element, attribute.place, problem, "set it in the row that creates the object", name="rigid"
                )
            if attribute.history and refers:
                problem = f"attribute {attribute.name} is history, and refers to objects of a disposable sort"
                remedy = "leave out history=True, or record a truth value or a number"
                raise ModelError(element, attribute.place, problem, remedy, name="history")
        if not machine.sort.disposable:
            return machine
        if machine.sort.single:
            problem = "it is both single and disposable"
            raise ModelError(f"sort {machine.sort}", machine.sort.place, problem, "leave out one", name="disposable")
        names = [state.name for state in machine.states]
        if names[:1] == [ABSENT] and len(names) > 1:
            return machine
        if not names or ABSENT in names:
            problem = f"a disposable sort has the state {ABSENT} and others"
            raise ModelError(element, machine.place, problem, f"list its states without {ABSENT}", name="states")
        return replace(machine, states=[State(ABSENT, place=machine.sort.place), *machine.states])

    def _row(self, row: Row) -> Row:
        """A row of a disposable sort: the first and the last of a life give attributes their first values."""
        if ABSENT not in (row.source, row.target):
            if (row.sort.name, row.event) in self.creating:
                problem = f"{row.event} creates a {row.sort}, so it happens to none that is present"
                raise ModelError(f"row {row.name}", row.place, problem, "name another event", name=row.event)
            return self._sets(row)
        if row.source == row.target:
            problem = f"it keeps the {row.sort} absent"
            raise ModelError(f"row {row.name}", row.place, problem, "name a state in which it is present", name=ABSENT)
        attributes = next(m for m in self.machines if m.sort.name == row.sort.name).attributes
        first = {a.name: value for a in attributes if (value := first_value(a)) is not None}
        if row.target == ABSENT:
            for name, value in _authored(row):
                if name in first and show_term(value) != show_term(first[name]):
                    problem = f"it sets {name} of a {row.sort} that ends"
                    raise ModelError(f"row {row.name}", row.place, problem, "leave it out", name=name)
        return self._sets(row, first)

    def _sets(self, row: Row, first: Mapping[str, t.Term] = {}) -> Row:
        """A row that also sets the attributes of ``first``, with its quantifiers over objects that are present."""
        for name, value in _authored(row):
            self._refuse_each(row, name, value)
        values = {name: self._term(value) for name, value in _authored(row)}
        made = Row(row.sort, row.event, row.source, row.target, line=row.line, fact=row.fact)
        object.__setattr__(made, "sets", tuple({**first, **values}.items()))
        object.__setattr__(made, "first", frozenset(first) - frozenset(values))
        object.__setattr__(made, "place", row.place)
        return made

    def _refuse_each(self, row: Row, name: str, value: t.Term) -> None:
        """Refuses a function that has other values than the first one at objects that are absent."""
        machine = next((m for m in self.machines if m.sort == row.sort), None)
        attribute = machine.attribute(name) if machine is not None else None
        for part in t.subterms(value):
            if not isinstance(part, t.FunctionOf) or not any(self._is_disposable(v) for v in part.variables):
                continue
            kind = attribute.type if attribute is not None else None
            if isinstance(kind, Function) and show_term(part.value) == show_term(_first_of(kind.to, part.place)):
                continue
            problem = f"each(...) gives {name} a value at objects of a disposable sort that are absent"
            remedy = "give the first value to all, and others with with_(..., to=...)"
            raise ModelError(f"row {row.name}", row.place, problem, remedy, name=name)

    def _action(self, action: Action) -> Action:
        element = f"action {action.name}"
        for var in action.parameters:
            if isinstance(var.type, SetOf) and self._disposable(var.type.sort):
                problem = f"its parameter {var.name} is a set of objects of a disposable sort"
                raise ModelError(element, var.place, problem, "take one object, or use those(...)", name=var.name)
        objects = [v for v in action.parameters if self._is_disposable(v)]
        created = {c.of.name: c for c in action.when if _asks_for_new(c)}
        fresh = [v for v in objects if v.name in created]
        if stray := [c for c in created.values() if c.of.name not in {v.name for v in fresh}]:
            problem, name = f"{stray[0].of.name} is not of a disposable sort", stray[0].of.name
            raise ModelError(element, stray[0].place, problem, 'write Sort("Request", "r", disposable=True)', name=name)
        generated = [c for v in fresh for c in unreferenced(self.machines, v)]
        generated += [t.Not(t.Equal(a, b, place=b.place), place=b.place) for a, b in combinations(fresh, 2)
                      if a.type == b.type]  # fmt: skip
        known = {show_term(c) for c in generated}
        rest = [c for c in action.when if not _asks_for_new(c) and show_term(c) not in known]
        for var in fresh:
            for condition in rest:
                if var.name in t.free_variables(condition):
                    problem = f"its guard reads {var.name}, which the action creates"
                    raise ModelError(element, condition.place, problem, f"read only new({var.name})", name=var.name)
            if not any(self._creates(firing, var) for firing in action.fires):
                problem = f"it has new({var.name}), but fires no event that creates {var.name}"
                raise ModelError(
                    element,
                    created[var.name].place,
                    problem,
                    f'fire an event with a row from "{ABSENT}"{self._forgotten_rows(var)}',
                    name=var.name,
                )
        for firing in action.fires:
            self._refuse_creation(element, firing, fresh)
        kept = [self._present(v) for v in objects if v.name not in created]
        shown = {show_term(c) for c in rest}
        guard = [*(c for c in kept if show_term(c) not in shown), *created.values(), *generated, *map(self._term, rest)]
        return replace(action, when=guard, fires=[self._firing(f) for f in action.fires])

    def _forgotten_rows(self, var: t.Var) -> str:
        """What to add to the remedy, if the model has no row of the sort."""
        if any(row.sort.name == _sort(var) for row in self.model.rows):
            return ""
        return f"; the model has no row of {_sort(var)}: for a channel, unpack its rows"

    def _creates(self, firing: t.Fires, var: t.Var) -> bool:
        return (
            isinstance(firing.of, t.Var) and firing.of.name == var.name and (_sort(var), firing.event) in self.creating
        )

    def _refuse_creation(self, element: str, firing: t.Fires, fresh: Sequence[t.Var]) -> None:
        """Refuses an event that creates an object, unless it is fired on a new one."""
        if firing.event not in {event for _, event in self.creating} or any(self._creates(firing, v) for v in fresh):
            return
        kind = self._kind(firing.of)
        if kind and (kind, firing.event) not in self.creating:
            return  # another sort's event of the same name
        problem = f"it fires {firing.event}, which creates an object, on one that is not new"
        raise ModelError(
            element, firing.place, problem, "let an action fire it on a parameter with new(...)", name=firing.event
        )

    def _kind(self, of: t.Term) -> str:
        """The sort of the object that a variable or an attribute of an object names; empty of another term."""
        if isinstance(of, t.Var):
            return _sort(of) if isinstance(of.type, Ref) else ""
        if not isinstance(of, t.Attr) or not (owner := self._kind(of.of)):
            return ""
        machine = next((m for m in self.machines if m.sort.name == owner), None)
        attribute = machine.attribute(of.name) if machine is not None else None
        return attribute.type.sort.name if attribute is not None and isinstance(attribute.type, Ref) else ""

    def _rule(self, rule: Rule) -> Rule:
        _refuse_effect(rule.fires)
        self._refuse_creation(f"rule {rule.name}", rule.fires, ())
        known = {v.name for v in rule.on.parameters} if isinstance(rule.on, Action) else set()
        conditions = [*([rule.on] if isinstance(rule.on, t.Fires) else []), *rule.when]
        # An object of which an event happens is present, or created by the action.
        happens = _happening(conditions)
        free: dict[str, t.Var] = {}
        for part in (*conditions, rule.fires):
            free |= t.free_variables(part)
        added = [
            self._present(v)
            for name, v in free.items()
            if self._is_disposable(v) and name not in known and name not in happens
        ]
        shown = {show_term(c) for c in rule.when}
        when = [*(c for c in added if show_term(c) not in shown), *map(self._term, rule.when)]
        on = self._firing(rule.on) if isinstance(rule.on, t.Fires) else rule.on
        return replace(rule, on=on, when=when, fires=self._firing(rule.fires))

    def _property(self, prop: Property) -> Property:
        match prop:
            case Invariant() | StepInvariant():
                given = self._given(prop.over, prop.given)
                return replace(prop, given=given, then=self._term(prop.then))
            case AlwaysCanReach() | LeadsTo():
                self._follows_lives(prop)
                given = self._given(prop.over, prop.given)
                changed: dict[str, Any] = {"given": given, "goal": self._term(prop.goal)}
                return replace(prop, **changed)
            case DeadlockFree(ended=t.Term() as final):
                return replace(prop, ended=self._term(final))
            case LifeCycle(sort=sort, states=states) if self._disposable(sort):
                if ABSENT in states[1:-1]:
                    problem = f"its states pass {ABSENT}, but a life ends there"
                    raise ModelError(
                        f"property {prop.name}", prop.place, problem, "follow one life of an object", name=ABSENT
                    )
            case Recovery(restores=restores):
                for each in restores:
                    if any(self._is_disposable(v) for v in each.over):
                        problem = "it restores objects of a disposable sort"
                        raise ModelError(f"property {prop.name}", prop.place, problem, "restore what refers to them")
                restored = [
                    replace(each, what=self._term(each.what), durable=self._term(each.durable)) for each in restores
                ]
                return replace(prop, restores=restored)
            case _:
                pass
        return prop

    def _follows_lives(self, prop: AlwaysCanReach | LeadsTo) -> None:
        """Refuses a property that would go on with the next life of an object, and strong fairness that would."""
        element = f"property {prop.name}"
        alternatives = {show_term(each) for each in _disjuncts(prop.goal)}
        for var in prop.over:
            if self._is_disposable(var) and show_term(ended(var)) not in alternatives:
                problem = f"its goal does not say what holds once {var.name} has ended"
                remedy = f"add | ended({var.name}); a StepInvariant can say in which state it may end"
                raise ModelError(element, prop.goal.place, problem, remedy, name=var.name)
        if not isinstance(prop, LeadsTo):
            return
        actions = {action.name: action for action in self.model.actions}
        for name in prop.strong:
            if (action := actions.get(name)) is None:
                continue
            created = {c.of.name for c in action.when if _asks_for_new(c) and isinstance(c.of, t.Var)}
            objects = [v for v in action.parameters if self._is_disposable(v) and v.name not in created]
            if objects:
                problem = f"{name} acts on {objects[0].name}, of which each life may be too short to be fair to"
                raise ModelError(element, prop.place, problem, "name it in weak", name=name)

    def _given(self, over: Sequence[t.Var], given: t.Term | None) -> t.Term | None:
        # An object of which an event happens is present, or created by it.
        happens = _happening(t.conjuncts(given)) if given is not None else set()
        parts = [self._present(v) for v in over if self._is_disposable(v) and v.name not in happens]
        known = {show_term(c) for c in t.conjuncts(given)} if given is not None else set()
        parts = [c for c in parts if show_term(c) not in known]
        if given is not None:
            parts.append(self._term(given))
        return t.both(parts) if parts else None

    def _is_disposable(self, var: t.Var) -> bool:
        return isinstance(var.type, Ref) and self._disposable(var.type.sort)

    def _present(self, var: t.Var) -> t.Term:
        # Not a list of the other states: a change of the model may add one.
        return t.Not(ended(var), place=var.place)

    def _firing(self, firing: t.Fires) -> t.Fires:
        _refuse_effect(firing)
        payload = tuple((name, self._term(value)) for name, value in firing.payload)
        return replace(firing, payload=payload)

    def _term(self, term: t.Term) -> t.Term:
        """A term whose quantifiers and sets are about objects that are present."""
        _refuse_effect(term)
        result = t.rebuilt(term, self._term)
        match result:
            case t.Quantified(universal, variables, body):
                present = [self._present(v) for v in variables if self._is_disposable(v)]
                if present and not self._is_about(body, present, universal):
                    inside: t.Term = t.And((*present, body), place=body.place)
                    if universal and isinstance(body, t.Implies) and _has_numbers(variables):
                        # The limit of a number stays in the premise.
                        inside = t.Implies(
                            t.And((*present, body.premise), place=body.place), body.conclusion, place=body.place
                        )
                    elif universal:
                        inside = t.Implies(t.both(present), body, place=body.place)
                    return replace(result, body=inside)
            case t.Those() | t.TuplesOf() | t.Count():
                present = [self._present(v) for v in t.bound_by(result) if self._is_disposable(v)]
                if present and not self._is_about(result.where, present, universal=False):
                    return replace(result, where=t.And((*present, result.where), place=result.where.place))
        return result

    def _is_about(self, body: t.Term, present: Sequence[t.Term], universal: bool) -> bool:
        """Whether the body of a quantifier already requires that its objects are present."""
        if universal and not isinstance(body, t.Implies):
            return False
        parts = [show_term(part) for part in t.conjuncts(body.premise if isinstance(body, t.Implies) else body)]
        return parts[: len(present)] == [show_term(part) for part in present]


def _has_numbers(variables: Sequence[t.Var]) -> bool:
    """Whether a quantifier is over numbers without a bound, whose limit is a condition."""
    return any(isinstance(v.type, Integer) for v in variables)


def _refuse_effect(term: t.Term) -> None:
    """Refuses an effect that no action fires: its conditions would be lost."""
    if isinstance(term, Effect):
        of = show_term(term.of)
        problem = f"{term.event} of {of} stands outside the firings of an action, where its conditions are lost"
        remedy = f"write it among the firings of an action; a formula asks {of}.fires({term.event!r})"
        raise ModelError(term.event, term.place, problem, remedy, name=term.event)


def _references(machines: Sequence[Machine], sort: str) -> Iterator[tuple[Sort, Attribute]]:
    """The attributes that refer to objects of a sort, with their owners."""
    for machine in machines:
        for attribute in machine.attributes:
            if mentions(attribute.type, sort):
                yield machine.sort, attribute


def _authored(row: Row) -> list[tuple[str, t.Term]]:
    """The values that the model's author gives in a row, without the first values that were written out before."""
    return [(name, value) for name, value in row.sets if name not in row.first]


def _asks_for_new(condition: t.Term) -> bool:
    return isinstance(condition, t.Is) and isinstance(condition.of, t.Var) and condition.states == (ABSENT,)


def _happening(conditions: Sequence[t.Term]) -> set[str]:
    """The names of the variables of whose objects an event happens."""
    return {c.of.name for c in conditions if isinstance(c, t.Fires) and isinstance(c.of, t.Var)}


def _sort(var: t.Var) -> str:
    assert isinstance(var.type, Ref)
    return var.type.sort.name


def _disjuncts(term: t.Term) -> list[t.Term]:
    return [each for part in term.parts for each in _disjuncts(part)] if isinstance(term, t.Or) else [term]


def first_value(attribute: Attribute) -> t.Term | None:
    """The first value of an attribute as a term; None of a type that is none."""
    if attribute.initial is not None:
        return t.Constant(attribute.initial, place=attribute.place)
    return _first_of(attribute.type, attribute.place)


def _first_of(kind: Type, place: Place) -> t.Term:
    """The first value of a type."""
    match kind:
        case Ref():
            return t.Nothing(place=place)
        case SetOf() | Relation() | SequenceType():
            return t.EmptySet(place=place)
        case Function(sorts, to):
            variables = tuple([t.Var(f"at_{n}", Ref(sort), place=place) for n, sort in enumerate(sorts)])
            return t.FunctionOf(variables, _first_of(to, place), place=place)
        case EnumType(values):
            return t.Constant(values[0], place=place)
        case IntRange(low):
            return t.Constant(low, place=place)
        case Integer(low):
            return t.Constant(low or 0, place=place)
        case _:
            return t.Constant(False, place=place)
