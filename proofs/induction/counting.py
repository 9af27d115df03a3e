"""Counts in proofs: a count that is compared with a number says that so many, or no more, objects are distinct."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from schedproof.model.lang import Var
from schedproof.model.lang import terms as t

from .rewrite import substitute

MOST_DISTINCT = 6
"""For how many distinct objects a formula is written; a greater number is left to explorations."""

LEFT = f"a count is compared with no number below {MOST_DISTINCT}, and proofs know nothing of it"
"""Why a property is undetermined whose count is left as it is."""


def without_counts(term: t.Equal | t.Less) -> t.Term | None:
    """A comparison of a count with a number as a formula that does not count; None for any other comparison.

    ``count(x, A) <= 1`` becomes "there are no two distinct x with A".
    """
    (left, added), (right, to_right) = _apart(term.left), _apart(term.right)
    difference = to_right - added
    if isinstance(left, t.Count) and right is None:
        counted, number = left, difference
    elif isinstance(right, t.Count) and left is None:
        counted, number = right, -difference
    else:
        return None
    if isinstance(term, t.Equal):
        fewest, more = _at_least(counted, number), _negated(_at_least(counted, number + 1))
        return None if fewest is None or more is None else t.And((fewest, more))
    if counted is left:
        return _negated(_at_least(counted, number + term.or_equal))
    return _at_least(counted, number + (not term.or_equal))


def _apart(term: t.Term) -> tuple[t.Term | None, int]:
    """A number as a term, None for 0, and what is added to it."""
    match term:
        case t.Constant(int(number)) if not isinstance(number, bool):
            return None, number
        case t.Sum(left, right, sign):
            (one, first), (other, second) = _apart(left), _apart(right)
            if other is None:
                return one, first + sign * second
            if one is None and sign > 0:
                return other, first + second
        case t.After(part):
            inside, number = _apart(part)
            if isinstance(inside, t.Count):
                # How many there are after the step: how many are so after it.
                return t.Count(inside.variables, t.After(inside.where, place=term.place), place=inside.place), number
    return term, 0


def _negated(term: t.Term | None) -> t.Term | None:
    return None if term is None else t.Not(term, place=term.place)


def _at_least(counted: t.Count, number: int) -> t.Term | None:
    """The formula that so many tuples are distinct; None if they are too many to write."""
    if number <= 0:
        return t.Constant(True, place=counted.place)
    if number > MOST_DISTINCT:
        return None
    free = t.free_variables(counted)
    fresh = (name for n in count() if (name := f"counted#{n}") not in free)  # no name in a model has this form
    copies = [[Var(next(fresh), v.type) for v in counted.variables] for _ in range(number)]
    parts: list[t.Term] = []
    for copy in copies:
        where = counted.where
        for old, new in zip(counted.variables, copy, strict=True):
            where = substitute(where, old.name, new)
        parts.append(where)
    for n, one in enumerate(copies):
        for other in copies[:n]:
            same = [t.Equal(a, b) for a, b in zip(one, other, strict=True)]
            parts.append(t.Not(same[0] if len(same) == 1 else t.And(tuple(same))))
    return t.Quantified(False, tuple(v for copy in copies for v in copy), t.both(parts), place=counted.place)


def counts_left(term: t.Term) -> Iterator[t.Count]:
    """The counts of a term that proofs cannot do without."""
    if isinstance(term, t.Equal | t.Less) and (reduced := without_counts(term)) is not None:
        term = reduced
    if isinstance(term, t.Count):
        yield term
    for part in t.children(term):
        yield from counts_left(part)
