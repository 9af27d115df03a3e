"""Values of terms in many states at once: a column has one number for each state.

The meaning is that of :mod:`schedproof.model.semantics.evaluate`; a test compares the two. Only terms that are always defined
have a column: no attribute of an attribute.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedproof.model.lang import EnumType, Ref, Relation, Type
from schedproof.model.lang import terms as t
from schedproof.model.lang.types import Sequence as SequenceType
from schedproof.model.semantics import Instance, State

Column = NDArray[np.int64]
"""One value for each state; references, enumeration values and sets as in a packed state."""


Truths = NDArray[np.bool_]
"""A truth value for each state."""


Values = NDArray[np.int8]
"""The value of a feature in each state."""

MOST_KEPT = 32 << 20
"""The most values of features that are kept of the states of one instance."""


class Unsupported(Exception):
    """A term has no column: it may be undefined, or speaks of steps."""


def has_column(formula: t.Term) -> bool:
    """Whether a formula has a column: :meth:`States.truth` has a case for each part."""
    match formula:
        case t.Constant(bool()) | t.Is(t.Var()) | t.Attr(t.Var()):
            return True
        case t.Equal(left, right) | t.Less(left, right):
            return _has_value(left) and _has_value(right)
        case t.Has(base, element):
            return _has_value(base) and all(
                map(_has_value, element.parts if isinstance(element, t.Tuple) else [element])
            )
        case t.Not() | t.And() | t.Or() | t.Implies() | t.Iff():
            return all(map(has_column, t.children(formula)))
        case t.Quantified(_, variables, body):
            return all(isinstance(v.type, Ref) for v in variables) and has_column(body)
    return False


def _has_value(term: t.Term) -> bool:
    match term:
        case t.Var(_, kind):
            return isinstance(kind, Ref)
        case t.Nothing() | t.EmptySet() | t.Constant() | t.Attr(t.Var()):
            return True
        case t.Sum(left, right):
            return _has_value(left) and _has_value(right)
    return False


@dataclass(frozen=True, eq=False)
class States:
    """States of one instance, as a matrix with a row for each state."""

    instance: Instance
    matrix: NDArray[np.int64]

    @classmethod
    def of(cls, instance: Instance, states: Sequence[State]) -> States:
        """The matrix of packed states. Sets, functions and sequences may have more than 63 bits."""
        try:
            matrix = np.array(states, np.int64)
        except OverflowError:
            matrix = np.array(states, object)
        return cls(instance, matrix.reshape(len(states), instance.width))

    def keeping(self, history: frozenset[tuple[str, str]]) -> States:
        """The states with these history attributes only, each once."""
        instance = replace(self.instance, with_history=bool(history), history=history or None)
        if instance == self.instance:
            return self
        slots = [self.instance.slot(*field) + n for field in instance.layout for n in range(instance.sizes[field[0]])]
        kept = self.matrix[:, slots]
        if kept.dtype == object:  # what is left may fit
            return States.of(instance, list(dict.fromkeys(map(tuple, kept.tolist()))))
        return States(instance, kept[np.sort(first_of_each(kept))])

    def values_of(self, key: str, objects: tuple[int, ...], value: Callable[[], Values]) -> Values:
        """What ``value`` gives for a feature that ``key`` identifies, of these objects; it is kept while there is room."""
        at = key, objects
        if at not in self._values:
            given = value()
            if (len(self._values) + 1) * len(self.matrix) > MOST_KEPT:
                return given
            self._values[at] = given
        return self._values[at]

    @cached_property
    def _values(self) -> dict[tuple[str, tuple[int, ...]], Values]:
        return {}

    @cached_property
    def _all(self) -> Column:
        return np.zeros(len(self.matrix), np.int64)

    def value(self, term: t.Term, bound: Mapping[str, int], like: Type | None = None) -> Column:
        """The column of a term that is not a formula.

        Args:
            bound: the object of each free variable.
            like: the type of a quoted value.

        Raises:
            Unsupported: the term has no column.
        """
        match term:
            case t.Var(name):
                return self._all + bound[name]
            case t.Nothing():
                return self._all - 1
            case t.EmptySet():
                return self._all
            case t.Constant(value):
                if isinstance(value, str):
                    assert isinstance(like, EnumType)
                    return self._all + like.values.index(value)
                return self._all + int(value)
            case t.Sum(left, right, sign):
                return self.value(left, bound) + sign * self.value(right, bound)
            case t.Attr(t.Var(name, Ref(sort)), attribute):
                return self._attribute(sort.name, attribute, bound[name])
        raise Unsupported(type(term).__name__)

    def _attribute(self, sort: str, name: str, number: int) -> Column:
        attribute = self.instance.model.machine(sort).attribute(name)
        if attribute is None:
            raise Unsupported(f"{sort}.{name}")
        if attribute.rigid and not self.instance.rigid_in_state:
            return self._all + self.instance.rigid_values(sort, attribute)[number]
        if not attribute.rigid and attribute not in self.instance.attributes(sort):
            raise Unsupported(f"{sort}.{name} is history")
        column: Column = self.matrix[:, self.instance.slot(sort, name) + number]
        return column

    def state(self, sort: str, number: int) -> Column:
        """The machine state of an object, by its position."""
        column: Column = self.matrix[:, self.instance.slot(sort) + number]
        return column

    def truth(self, term: t.Term, bound: Mapping[str, int]) -> Truths:
        """Whether a formula holds, for each state.

        Raises:
            Unsupported: the formula has no column.
        """
        # A formula about a sort without objects is one value, whatever the state.
        return np.broadcast_to(np.asarray(self._truth(term, bound), np.bool_), self._all.shape)

    def _truth(self, term: t.Term, bound: Mapping[str, int]) -> Any:
        match term:
            case t.Constant(bool(value)):
                return self._all == (0 if value else 1)
            case t.Is(t.Var(name, Ref(sort)), states):
                names = [s.name for s in self.instance.model.machine(sort).states]
                return np.isin(self.state(sort.name, bound[name]).astype(np.int64), [names.index(s) for s in states])
            case t.Equal(left, right):
                return self.value(left, bound, self._type(right)) == self.value(right, bound, self._type(left))
            case t.Less(left, right, or_equal):
                one, other = self.value(left, bound), self.value(right, bound)
                return one <= other if or_equal else one < other
            case t.Has(base, element):
                return self._has(base, element, bound)
            case t.Not(part):
                return ~self.truth(part, bound)
            case t.And(parts):
                return np.logical_and.reduce([self.truth(each, bound) for each in parts])
            case t.Or(parts):
                return np.logical_or.reduce([self.truth(each, bound) for each in parts])
            case t.Implies(premise, conclusion):
                return ~self.truth(premise, bound) | self.truth(conclusion, bound)
            case t.Iff(left, right):
                return self.truth(left, bound) == self.truth(right, bound)
            case t.Quantified(universal, variables, body):
                every = [self.truth(body, {**bound, **chosen}) for chosen in self.choices(variables)]
                return (np.logical_and if universal else np.logical_or).reduce(every)
            case t.Attr():
                return self.value(term, bound) != 0
        raise Unsupported(type(term).__name__)

    def choices(self, variables: Sequence[t.Var]) -> Iterator[dict[str, int]]:
        """Every choice of objects for some variables.

        Raises:
            Unsupported: a variable is not an object.
        """
        domains = []
        for v in variables:
            if not isinstance(v.type, Ref):
                raise Unsupported("a variable that is not an object")
            domains.append(range(self.instance.sizes[v.type.sort.name]))
        for numbers in product(*domains):
            yield dict(zip((v.name for v in variables), numbers, strict=True))

    def _has(self, base: t.Term, element: t.Term, bound: Mapping[str, int]) -> Any:
        masks, kind = self.value(base, bound), self._type(base)
        if isinstance(kind, SequenceType):
            return self._has_item(masks, kind, self.value(element, bound, kind.of))
        objects = element.parts if isinstance(element, t.Tuple) else (element,)
        number, some = self._all, self._all == 0
        dimensions = self.instance.dimensions(kind) if isinstance(kind, Relation) else (0,)
        for part, size in zip(objects, dimensions, strict=True):
            each = self.value(part, bound)
            some = some & (each >= 0)
            number = number * size + each
        inside = (masks >> np.maximum(number, 0)) & 1
        return some & (inside == 1)

    def _has_item(self, sequences: Column, kind: SequenceType, values: Column) -> Truths:
        """Whether sequences have items; none is no item."""
        items, is_reference = self.instance.items(kind), isinstance(kind.of, Ref)
        pairs = zip(sequences.tolist(), values.tolist(), strict=True)
        return np.array([not (is_reference and v < 0) and items.has(s, v) for s, v in pairs], np.bool_)

    def _type(self, term: t.Term) -> Type | None:
        match term:
            case t.Var(_, kind):
                return kind
            case t.Attr(t.Var(_, Ref(sort)), name):
                attribute = self.instance.model.machine(sort).attribute(name)
                return attribute.type if attribute is not None else None
        return None


def first_of_each(rows: NDArray[Any]) -> NDArray[np.intp]:
    """Where each different row is first. Two that share a hash would count as one: a sample less, which is harmless."""
    words = _mixed(packed(rows))
    factors = np.random.default_rng(1).integers(1 << 62, size=words.shape[1], dtype=np.uint64) | np.uint64(1)
    first: NDArray[np.intp] = np.unique((words * factors).sum(axis=1, dtype=np.uint64), return_index=True)[1]
    return first


def packed(rows: NDArray[Any]) -> NDArray[np.uint64]:
    """The rows in words of 64 bits: there are few of them where numbers are small, and fewest of truth values."""
    small = np.packbits(rows, axis=1) if rows.dtype == bool else rows
    if small.dtype.itemsize > 1:
        return small.astype(np.int64).view(np.uint64)
    filled = np.zeros((len(small), -(-small.shape[1] // 8) * 8), np.uint8)
    filled[:, : small.shape[1]] = small.view(np.uint8)
    return filled.view(np.uint64)


def _mixed(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Other words, one for each: a difference in high bits only would vanish in a sum of products."""
    words = (words ^ (words >> np.uint64(31))) * np.uint64(0x9E3779B97F4A7C15)
    return words ^ (words >> np.uint64(29))
