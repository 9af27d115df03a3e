"""How great the numbers of terms may be: engines that count with 32 or 64 bits refuse what would wrap around."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from schedproof.model.lang import terms as t
from schedproof.model.lang.infer import sort_of
from schedproof.model.lang.types import Function, Integer, IntRange
from schedproof.model.lang.types import Sequence as SequenceType

from .bounds import range_of
from .evaluate import NOBODY, Owner, sort_of_term, type_of_term
from .instance import Instance


class Magnitudes:
    """Limits of absolute values, in the states of an exploration of ``instance``."""

    def __init__(self, instance: Instance) -> None:
        self._instance = instance
        self._sums: dict[tuple[int, Owner], tuple[t.Term, int]] = {}

    def of(self, term: t.Term, variables: Mapping[str, t.Var], me: Owner) -> int:
        """A limit of a number's absolute value. Sums of multiples grow fast: ``16 * (16 * c.n)`` has 256 parts.

        Args:
            term: a number.
            variables: by name, as far as they are other ones than in the term.
            me: the sort and the event of a table row.

        Raises:
            ModelError: an integer has no bound.
        """
        match term:
            case t.Sum(left, right):
                known = self._sums.get((id(term), me))
                if known is None:
                    total = self.of(left, variables, me) + self.of(right, variables, me)
                    known = self._sums[id(term), me] = term, total  # the term stays, so no other one gets its identity
                return known[1]
            case t.Constant(value):
                return abs(int(value))
            case t.Given(name):
                return self._argument(me, name)
            case t.After(part):
                return self.of(part, variables, me)
            case t.Length(sequence):
                return longest(self._instance, sequence, variables, me)
            case t.Count(over):
                return prod(len(self._instance.domain(v.type)) for v in over)
        kind = type_of_term(self._instance, term, variables, me)
        if isinstance(kind, IntRange):
            return max(-kind.low, kind.high)
        assert isinstance(kind, Integer)
        if isinstance(term, t.Apply):
            return self._of_function(term.base, variables, me)
        assert isinstance(term, t.Attr)
        sort = sort_of_term(self._instance, term.of, variables, me)
        attribute = self._instance.model.machine(sort).attribute(term.name)
        assert attribute is not None
        rigid = attribute.rigid
        numbers = (
            self._instance.rigid_values(sort, attribute) if rigid else range_of(self._instance.model, sort, term.name)
        )
        return max(map(abs, numbers), default=0)

    def ranged(self, binder: t.Quantified, variables: Mapping[str, t.Var], me: Owner) -> tuple[t.Var, ...]:
        """The variables of a quantifier, those of type ``Nat`` as numbers up to the greatest that their limit has."""
        scope, ranged = dict(variables), []
        for var in binder.variables:
            if isinstance(var.type, Integer):
                limit = t.limit_of(binder, var)
                assert limit is not None
                var = t.Var(var.name, IntRange(0, max(0, self.of(limit.right, scope, me))), place=var.place)
            scope[var.name] = var
            ranged.append(var)
        return tuple(ranged)

    def _of_function(self, function: t.Term, variables: Mapping[str, t.Var], me: Owner) -> int:
        """A limit of the absolute values that a function, or the items of a sequence, without a bound have."""
        attribute = function.part if isinstance(function, t.After) else function
        assert isinstance(attribute, t.Attr)
        sort = sort_of_term(self._instance, attribute.of, variables, me)
        declared = self._instance.model.machine(sort).attribute(attribute.name)
        assert declared is not None
        if not declared.rigid:
            return max(map(abs, range_of(self._instance.model, sort, attribute.name)))
        assert isinstance(declared.type, Function)
        packing = self._instance.packing(declared.type)
        numbers = self._instance.rigid_values(sort, declared)
        return max((abs(value) for number in numbers for value in packing.all(number)), default=0)

    def _argument(self, me: Owner, name: str) -> int:
        """Of an event's parameter: the greatest argument, which may lie outside of the range that the event declares."""
        model = self._instance.model
        firings = [(f, {v.name: v for v in a.parameters}) for a in model.actions for f in a.fires]
        firings += [(r.fires, {}) for r in model.rules]
        return max(
            (
                self.of(dict(firing.payload)[name], scope, NOBODY)
                for firing, scope in firings
                if firing.event == me.event and sort_of(model, firing.of, scope) == me.sort
            ),
            default=0,
        )


def longest(instance: Instance, sequence: t.Term, variables: Mapping[str, t.Var], me: Owner) -> int:
    """The greatest length that a sequence has in the states of an exploration."""
    match sequence:
        case t.Appended(base):
            return longest(instance, base, variables, me) + 1
        case t.Sliced(base):
            return longest(instance, base, variables, me)
        case t.After(part):
            return longest(instance, part, variables, me)
        case t.EmptySet():
            return 0
    kind = type_of_term(instance, sequence, variables, me)
    assert isinstance(kind, SequenceType)
    return kind.at_most
