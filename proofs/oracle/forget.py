"""Which objects have ended so that nothing can be seen of them any more.

An endless log names endlessly many objects. One that has ended may be forgotten if no guard, rule or update of the
model could tell that it is still there. That is decided from the text of the model alone: every variable that may
stand for it is put to the test, with three truth values, of which the third is "it depends".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from schedproof.model.lang import Model
from schedproof.model.lang import terms as t
from schedproof.model.lang.types import IntRange, Ref, SetOf
from schedproof.model.semantics import Instance, State

Truth = bool | None
"""None: it depends."""


def forgettable(model: Model) -> Mapping[str, frozenset[str]]:
    """By sort, the states that are never left, and in which an object that nothing refers to makes no difference."""
    known: Mapping[str, frozenset[str]] | None = vars(model).get("_forgettable")
    if known is not None:
        return known
    found = {}
    for machine in model.machines:
        sort = machine.sort.name
        final = [s.name for s in machine.states if all(row.source != s.name for row in model.table(sort))]
        found[sort] = frozenset(s for s in final if _Test(model, sort, s).makes_no_difference())
    object.__setattr__(model, "_forgettable", found)  # a model never changes, and is asked for every trace
    return found


def refers(instance: Instance, state: State, sort: str, number: int) -> bool:
    """Another object has a reference to this one, or a set with it; rigid sets do not count (see ``only_asked``)."""
    for machine in instance.model.machines:
        owner = machine.sort.name
        for attribute in machine.attributes:
            kind = attribute.type
            if not isinstance(kind, Ref | SetOf) or kind.sort.name != sort or attribute.history:
                continue
            if attribute.rigid:
                values: Sequence[int] = [] if isinstance(kind, SetOf) else instance.rigid_values(owner, attribute)
            else:
                start = instance.slot(owner, attribute.name)
                values = state[start : start + instance.sizes[owner]]
            for i, value in enumerate(values):
                named = value == number if isinstance(kind, Ref) else bool(value >> number & 1)
                if named and (owner, i) != (sort, number):
                    return True
    return False


@dataclass(frozen=True)
class _Test:
    """Puts an object of ``sort`` in ``state``, to which no attribute that changes refers, for each variable."""

    model: Model
    sort: str
    state: str

    def makes_no_difference(self) -> bool:
        model = self.model
        terms: list[t.Term] = []
        for action in model.actions:
            terms += [*action.when, *action.fires]
            for v in action.parameters:
                if isinstance(v.type, SetOf) and v.type.sort.name == self.sort:
                    return False  # whether it can be chosen as an element is another question
                if self.stands_for(v) and self.all_of(action.when, v) is not False:
                    return False
        for rule in model.rules:
            conditions = [*rule.when, *([rule.on] if isinstance(rule.on, t.Fires) else [])]
            terms += [*conditions, rule.fires]
            known = {v.name for v in rule.on.parameters} if not isinstance(rule.on, t.Fires) else set()
            free = {n: v for part in [*conditions, rule.fires] for n, v in t.free_variables(part).items()}
            for name, v in free.items():
                if name not in known and self.stands_for(v) and self.all_of(conditions, v) is not False:
                    return False
        terms += [value for row in model.rows for _, value in row.sets]
        return all(self.unseen(term) and self.only_asked(term) for term in terms)

    def only_asked(self, term: t.Term) -> bool:
        """Of rigid sets of the sort's objects, ``term`` only asks whether they contain something."""
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
        """The names of the rigid attributes that are sets of the sort's objects."""
        attributes = [a for m in self.model.machines for a in m.attributes if a.rigid]
        return frozenset(a.name for a in attributes if isinstance(a.type, SetOf) and a.type.sort.name == self.sort)

    def stands_for(self, v: t.Var) -> bool:
        return isinstance(v.type, Ref) and v.type.sort.name == self.sort

    def unseen(self, term: t.Term) -> bool:
        """No quantifier and no set in ``term`` can tell."""
        match term:
            case t.Quantified(universal, bound, body):
                if any(self.stands_for(v) and self.truth(body, v) is not universal for v in bound):
                    return False
            case t.Those(var, where):
                if self.stands_for(var) and self.truth(where, var) is not False:
                    return False
        return all(self.unseen(part) for part in t.children(term))

    def all_of(self, conditions: Iterable[t.Term], v: t.Var) -> Truth:
        return _all(self.truth(c, v) for c in conditions)

    def truth(self, term: t.Term, v: t.Var) -> Truth:
        """The value of a formula if ``v`` is the object."""
        match term:
            case t.Constant(constant) if isinstance(constant, bool):
                return constant
            case t.Is(of, states) if self.it(of, v):
                return self.state in states
            case t.Fires(of) if self.it(of, v):
                return False  # its table has no row from here
            case t.Fires(of, event, payload):
                return False if any(self.it(x, v) and self.never_given(of, event, n) for n, x in payload) else None
            case t.Equal(left, right):
                for one, other in ((left, right), (right, left)):
                    if self.it(one, v) and (self.elsewhere(other, v) or isinstance(other, t.Nothing)):
                        return False
                return None
            case t.Has(base, element) if self.it(element, v) and self.elsewhere(base, v):
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
                mine, yours = self.truth(left, v), self.truth(right, v)
                return None if mine is None or yours is None else mine is yours
            case t.Quantified(universal, bound, body) if v.name not in {b.name for b in bound}:
                found = self.truth(body, v)  # over no objects at all, "every" holds and "some" does not
                return found if found is universal else None
            case _:
                return None

    def never_given(self, of: t.Term, event: str, name: str) -> bool:
        """Nothing that causes the event on the object names this one in its payload. (Triggers have no cycle, so this ends.)"""
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

    @staticmethod
    def it(term: t.Term, v: t.Var) -> bool:
        return isinstance(term, t.Var) and term.name == v.name

    def elsewhere(self, term: t.Term, v: t.Var) -> bool:
        """An attribute, not rigid, of another object: it does not refer to this one."""
        if not isinstance(term, t.Attr) or not isinstance(term.of, t.Var) or term.of.name == v.name:
            return False
        kind = term.of.type
        if not isinstance(kind, Ref) or self.stands_for(term.of):
            return False  # another variable of the sort may stand for the object as well
        attribute = self.model.machine(kind.sort).attribute(term.name)
        return attribute is not None and not attribute.rigid and not isinstance(attribute.type, IntRange)


def _all(values: Iterable[Truth]) -> Truth:
    found: Sequence[Truth] = list(values)
    return False if False in found else None if None in found else True


def _any(values: Iterable[Truth]) -> Truth:
    found: Sequence[Truth] = list(values)
    return True if True in found else None if None in found else False
