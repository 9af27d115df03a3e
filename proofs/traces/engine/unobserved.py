"""Whether a model, by its text, can depend on the existence of an object.

The check evaluates each variable that may stand for the object, with three truth values. The third is "it depends".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import EllipsisType

from schedproof.model.lang import Action, Model, Rule
from schedproof.model.lang import terms as t
from schedproof.model.lang.infer import sort_of
from schedproof.model.lang.types import BoolType, EnumType, Function, Integer, IntRange, Ref, Relation, SetOf, Type
from schedproof.model.lang.types import Sequence as SequenceType

Truth = bool | None
"""None: it depends."""


@dataclass(frozen=True)
class Unobserved:
    """An object of ``sort`` in ``state``. Subclasses add what else is known about it."""

    model: Model
    sort: str
    state: str

    def stands_for(self, v: t.Var) -> bool:
        """Whether a variable may stand for the object."""
        return isinstance(v.type, Ref) and v.type.sort.name == self.sort

    def elsewhere(self, term: t.Term, v: t.Var) -> bool:
        """Whether ``term`` surely means another object, or a set without it, if ``v`` stands for the object."""
        raise NotImplementedError

    def never_given(self, of: t.Term, event: str, name: str) -> bool:
        """Whether no cause of the event on an object passes this one as the parameter ``name``."""
        raise NotImplementedError

    def known_value(self, attribute: str) -> t.Value | EllipsisType | None:
        """The value of an attribute of it: None for no object and the empty set, ... if unknown."""
        return ...

    def unobserved_by(self, rule: Rule) -> bool:
        """Whether no variable of the rule can stand for the object while all conditions of the rule hold."""
        conditions = [*rule.when, *([rule.on] if isinstance(rule.on, t.Fires) else [])]
        known = {v.name for v in rule.on.parameters} if isinstance(rule.on, Action) else set()
        free = {n: v for part in [*conditions, rule.fires] for n, v in t.free_variables(part).items()}
        return not any(
            name not in known and self.stands_for(v) and self.all_of(conditions, v) is not False
            for name, v in free.items()
        ) and all(self.unobserved(part) for part in [*conditions, rule.fires])

    def unobserved(self, term: t.Term) -> bool:
        """Whether no quantifier and no set in ``term`` depends on the object."""
        match term:
            case t.Quantified(universal, bound, body):
                if any(self.stands_for(v) and self.truth(body, v) is not universal for v in bound):
                    return False
            case t.Those(var, where):
                if self.stands_for(var) and self.truth(where, var) is not False:
                    return False
            case t.TuplesOf(several, where) | t.Count(several, where):
                if any(self.stands_for(v) and self.truth(where, v) is not False for v in several):
                    return False
            case t.FunctionOf(several) if not _is_first(self.model, term):
                if any(self.stands_for(v) for v in several):
                    return False  # the object has a value that is not the first one
        return all(self.unobserved(part) for part in t.children(term))

    def all_of(self, conditions: Iterable[t.Term], v: t.Var) -> Truth:
        """Whether all conditions hold if ``v`` is the object."""
        return _all(self.truth(c, v) for c in conditions)

    def truth(self, term: t.Term, v: t.Var) -> Truth:
        """The value of a formula if ``v`` is the object."""
        match term:
            case t.Constant(constant) if isinstance(constant, bool):
                return constant
            case t.Is(of, states) if _is(of, v):
                return self.state in states
            case t.Attr(of, name) if _is(of, v):
                value = self.known_value(name)
                return value if isinstance(value, bool) else None
            case t.Fires(of) if _is(of, v):
                return False  # no row leaves its state, or the rules that fire the event are checked themselves
            case t.Fires(of, event, payload):
                return False if any(_is(x, v) and self.never_given(of, event, n) for n, x in payload) else None
            case t.Equal(left, right):
                return self._equal(left, right, v)
            case t.Has(base, element) if _is(element, v) and self.elsewhere(base, v):
                return False
            case t.Has(base, t.Tuple(parts)) if any(_is(part, v) for part in parts) and self.elsewhere(base, v):
                return False
            case t.Has(t.Attr(of, name), _) if _is(of, v) and self.known_value(name) is None:
                return False
            case t.Not(part):
                value = self.truth(part, v)
                return None if value is None else not value
            case t.And(parts):
                return _all(self.truth(p, v) for p in parts)
            case t.Or(parts):
                return _any(self.truth(p, v) for p in parts)
            case t.Implies(premise, conclusion):
                before = self.truth(premise, v)
                return _any([None if before is None else not before, self.truth(conclusion, v)])
            case t.Iff(left, right):
                of_left, of_right = self.truth(left, v), self.truth(right, v)
                return None if of_left is None or of_right is None else of_left is of_right
            case t.Quantified(universal, bound, body) if v.name not in {b.name for b in bound}:
                of_body = self.truth(body, v)  # over no objects, "every" holds and "some" does not
                return of_body if of_body is universal else None
            case _:
                return None

    def _equal(self, left: t.Term, right: t.Term, v: t.Var) -> Truth:
        for one, other in ((left, right), (right, left)):
            if _is(one, v) and (self.elsewhere(other, v) or isinstance(other, t.Nothing)):
                return False
            if isinstance(one, t.Attr) and _is(one.of, v) and (value := self.known_value(one.name)) is not ...:
                if isinstance(other, t.Nothing):
                    return value is None
                if isinstance(other, t.Constant):
                    return value == other.value
                if value is None and (
                    isinstance(other, t.Me) or (isinstance(other, t.Var) and isinstance(other.type, Ref))
                ):
                    return False  # the other side is an object
        return None


@dataclass(frozen=True)
class Ended(Unobserved):
    """An object in a state that no row leaves, and that no changing attribute refers to."""

    def makes_no_difference(self) -> bool:
        """Whether nothing in the model depends on its existence."""
        model = self.model
        terms: list[t.Term] = []
        for action in model.actions:
            terms += [*action.when, *action.fires]
            for v in action.parameters:
                if isinstance(v.type, SetOf) and v.type.sort.name == self.sort:
                    return False  # its role as an element of the set is not analysed
                if self.stands_for(v) and self.all_of(action.when, v) is not False:
                    return False
        for rule in model.rules:
            terms += [*rule.when, *([rule.on] if isinstance(rule.on, t.Fires) else []), rule.fires]
        terms += [value for row in model.rows for _, value in row.sets]
        return all(self.unobserved_by(rule) for rule in model.rules) and all(
            self.unobserved(term) and self.only_asked(term) for term in terms
        )

    def only_asked(self, term: t.Term) -> bool:
        """Whether ``term`` uses rigid sets of the sort's objects only for membership tests."""
        if isinstance(term, t.Has):
            parts: Sequence[t.Term] = [
                *(t.children(term.set) if isinstance(term.set, t.Attr) else [term.set]),
                term.element,
            ]
        else:
            parts = t.children(term)
            if isinstance(term, t.Attr) and term.name in self.rigid_sets:
                return False
        return all(self.only_asked(part) for part in parts)

    @cached_property
    def rigid_sets(self) -> frozenset[str]:
        """The names of the rigid attributes that are sets of the sort's objects, or relations with them."""
        attributes = [a for m in self.model.machines for a in m.attributes if a.rigid]
        return frozenset(
            a.name
            for a in attributes
            if (isinstance(a.type, SetOf) and a.type.sort.name == self.sort)
            or (isinstance(a.type, Relation | Function) and any(each.name == self.sort for each in a.type.sorts))
        )

    def never_given(self, of: t.Term, event: str, name: str) -> bool:
        """Follows causes of causes as well. Triggers have no cycle, so this terminates."""
        if not isinstance(of, t.Var) or not isinstance(of.type, Ref):
            return False
        causes = [(f, a.when) for a in self.model.actions for f in a.fires]
        causes += [
            (r.fires, [*r.when, *([r.on] if isinstance(r.on, t.Fires) else r.on.when)]) for r in self.model.rules
        ]
        for head, conditions in causes:
            if head.event == event and (not isinstance(head.of, t.Var) or head.of.type == of.type):
                given = dict(head.payload).get(name)
                if not isinstance(given, t.Var) or not self.stands_for(given):
                    return False
                if self.all_of(conditions, given) is not False:
                    return False
        return True

    def elsewhere(self, term: t.Term, v: t.Var) -> bool:
        """Whether ``term`` is a non-rigid attribute of another object: such an attribute does not refer to this one."""
        if isinstance(term, t.Attr) and isinstance(term.of, t.Me):  # the object of a row, and this one has none
            named = [a for m in self.model.machines if (a := m.attribute(term.name)) is not None]
            return not any(a.rigid or isinstance(a.type, IntRange | Integer) for a in named)
        if not isinstance(term, t.Attr) or not isinstance(term.of, t.Var) or term.of.name == v.name:
            return False
        kind = term.of.type
        if not isinstance(kind, Ref) or self.stands_for(term.of):
            return False  # another variable of the sort may stand for the object too
        attribute = self.model.machine(kind.sort).attribute(term.name)
        return attribute is not None and not attribute.rigid and not isinstance(attribute.type, IntRange | Integer)


@dataclass(frozen=True)
class Unnamed(Unobserved):
    """An object that took part in no step: it is in its initial state, and no changing attribute refers to it.

    Attributes:
        named: the variables that stand for other objects, or sets of them.
    """

    named: frozenset[str] = frozenset()

    def noticed_by(self, action: Action) -> bool:
        """Whether a step of ``action``, whose parameters are all other objects, depends on its existence."""
        inside = replace(self, named=frozenset(v.name for v in action.parameters))
        if not all(inside.unobserved(term) for term in [*action.when, *action.fires]):
            return True
        reached = {(action.name, ""), *((sort_of(self.model, f.of, {}), f.event) for f in action.fires)}
        left = list(self.model.rules)
        while triggered := [r for r in left if _looks_at(self.model, r) in reached]:
            for rule in triggered:
                left.remove(rule)
                its = inside if isinstance(rule.on, Action) else self
                if not its.unobserved_by(rule):
                    return True
                reached.add((sort_of(self.model, rule.fires.of, {}), rule.fires.event))
        rows = [row for row in self.model.rows if (row.sort.name, row.event) in reached]
        return not all(self.unobserved(value) for row in rows for _, value in row.sets)

    def unobserved(self, term: t.Term) -> bool:
        """As in the base class; a binder hides the parameter of the same name."""
        bound = {v.name for v in term.variables} if isinstance(term, t.Quantified) else set()
        bound |= (
            {v.name for v in t.bound_by(term)}
            if isinstance(term, t.Those | t.TuplesOf | t.FunctionOf | t.Count)
            else set()
        )
        if bound & self.named:
            return replace(self, named=self.named - bound).unobserved(term)
        return super().unobserved(term)

    def stands_for(self, v: t.Var) -> bool:
        """As in the base class; parameters do not."""
        return v.name not in self.named and super().stands_for(v)

    def never_given(self, of: t.Term, event: str, name: str) -> bool:
        """True: only a rule could, by a variable that stands for the object, and rules are checked themselves."""
        return True

    def elsewhere(self, term: t.Term, v: t.Var) -> bool:
        """Whether ``term`` is a parameter, or an attribute that changes: neither refers to an unobserved object."""
        if isinstance(term, t.Var):
            return term.name in self.named
        if not isinstance(term, t.Attr):
            return False
        owners = [m.attribute(term.name) for m in self.model.machines]
        return all(
            a is None or (not a.rigid and isinstance(a.type, Ref | SetOf | Relation | SequenceType)) for a in owners
        )

    def known_value(self, attribute: str) -> t.Value | EllipsisType | None:
        """Its initial value; ... for a rigid attribute, which may have any value."""
        declared = self.model.machine(self.sort).attribute(attribute)
        if declared is None or declared.rigid:
            return ...
        if declared.initial is not None:
            return declared.initial
        match declared.type:
            case Ref() | SetOf() | Relation():
                return None
            case Function() | SequenceType():
                return ...
            case BoolType():
                return False
            case IntRange(low, _):
                return low
            case Integer(low):
                return low or 0
            case EnumType(values):
                return values[0]


def noticing(model: Model, sorts: Iterable[str]) -> frozenset[str]:
    """The actions whose steps may depend on unobserved objects of ``sorts``, even if all parameters are named."""
    names = set()
    for sort in sorts:
        states = model.machine(sort).states
        first = [s.name for i, s in enumerate(states) if i == 0 or s.begins] or [""]
        unnamed = [Unnamed(model, sort, state) for state in first]
        names |= {a.name for a in model.actions if any(u.noticed_by(a) for u in unnamed)}
    return frozenset(names)


def _looks_at(model: Model, rule: Rule) -> tuple[str, str]:
    return (rule.on.name, "") if isinstance(rule.on, Action) else (sort_of(model, rule.on.of, {}), rule.on.event)


def _is(term: t.Term, v: t.Var) -> bool:
    return isinstance(term, t.Var) and term.name == v.name


def _all(values: Iterable[Truth]) -> Truth:
    truths: Sequence[Truth] = list(values)
    return False if False in truths else None if None in truths else True


def _any(values: Iterable[Truth]) -> Truth:
    truths: Sequence[Truth] = list(values)
    return True if True in truths else None if None in truths else False


def _is_first(model: Model, term: t.FunctionOf) -> bool:
    """Whether a row gives an attribute a function that has the first value of its type everywhere."""
    kinds = [
        attribute.type
        for row in model.rows
        for name, value in row.sets
        if any(part is term for part in t.subterms(value))
        and (attribute := model.machine(row.sort).attribute(name)) is not None
    ]
    return all(isinstance(kind, Function) and _is_first_value(kind.to, term.value) for kind in kinds)


def _is_first_value(kind: Type, value: t.Term) -> bool:
    match kind, value:
        case Ref(), t.Nothing():
            return True
        case BoolType(), t.Constant(first):
            return first is False
        case EnumType(values), t.Constant(first):
            return first == values[0]
        case IntRange(low, _), t.Constant(first):
            return first == low
        case Integer(low), t.Constant(first):
            return first == (low or 0)
    return False
