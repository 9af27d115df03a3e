"""Memoizes what steps write by how integers compare, not by their values: a log of growing numbers repeats few cases.

A function of states is evaluated once with integers that record what is asked of them. Sums stay linear in the slots of the
state, and each comparison is a test on slots. So the function's reads and tests form a tree, whose leaves are linear, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

from schedproof.model.lang.types import Integer

from .instance import Instance, State
from .remember import MANY, Slots, only_slots

Writes = list[tuple[int, int]]
"""Slots with their new values."""

Terms = tuple[tuple[int, int], ...]
"""A linear term without its constant: slots with their factors, by slot."""

Test = tuple[Terms, int, bool]
"""A comparison with 0: the terms, the constant, and whether the sum is less than 0 or else equal to it."""


def integer_slots(instance: Instance) -> frozenset[int]:
    """The slots of a state that have integers without a bound."""
    model, rigid = instance.model, instance.model.rigid_attributes if instance.rigid_in_state else {}
    fields = [(m.sort.name, a) for m in model.machines for a in instance.attributes(m.sort.name)]
    fields += [(sort, a) for (sort, _), a in rigid.items()]
    return frozenset(
        instance.slot(sort, a.name) + n
        for sort, a in fields
        if isinstance(a.type, Integer)
        for n in range(instance.sizes[sort])
    )


Sums = tuple[tuple[int, Terms, int], ...]
"""What a step writes: slots, with the terms and the constant of their new values."""

Path = tuple[dict[int | Test, int], Sums | None]
"""What a function asks of a state, with the answers, in order; and what it writes, or None.

A question is a slot, of which the answer is the value, or a test.
"""


class RememberedWrites:
    """A function from a state to what a step writes, which remembers its cases.

    Args:
        function: gives the slots with their new values, or None. It may add, subtract and compare the integers of a state, as
            terms do. Most other uses are noticed and not remembered, but not an integer as an index.
        integers: the slots of integers.
        known: gives the path of a state, if it is known otherwise; None to trace the function.
    """

    def __init__(
        self,
        function: Callable[[State], Writes | None],
        integers: frozenset[int],
        known: Callable[[Sequence[int]], Path | None] | None = None,
    ) -> None:
        self._function, self._integers, self._path_of = function, integers, known or self._traced
        self._tree: _Node | None = None
        self._computed = self._reused = 0

    def __call__(self, state: Sequence[int]) -> Writes | None:
        leaf = self._leaf(state)
        return leaf[0](state) if leaf is not None else self._function(tuple(state))

    def path(self, state: Sequence[int]) -> Path | None:
        """What the function asks of the state, and what it writes; None if that cannot be traced."""
        leaf = self._leaf(state)
        return leaf[1] if leaf is not None else None

    def _leaf(self, state: Sequence[int]) -> _Leaf | None:
        node = self._tree
        while node is not None:
            slot, test, ways, leaf = node
            if slot >= 0:
                node = ways.get(state[slot])
            elif test is not None:
                node = ways.get(test(state))
            else:
                self._reused += 1
                return leaf
        if self._computed > MANY and self._computed > self._reused:
            self._tree = None
            return None
        path = self._path_of(state)
        return self._learn(path) if path is not None else None

    def _learn(self, path: Path) -> _Leaf:
        self._computed += 1
        asked, writes = path
        leaf = _writing(writes) if writes is not None else _nothing, path
        root: dict[int, _Node] = {} if self._tree is None else {0: self._tree}
        ways, answer = root, 0
        for question, next_answer in asked.items():
            node = ways.get(answer) or ways.setdefault(answer, _node(question))
            ways, answer = node[2], next_answer
        ways[answer] = (-1, None, {}, leaf)
        self._tree = root[0]
        return leaf

    def _traced(self, state: Sequence[int]) -> Path | None:
        traced = _TracedState(state)
        traced.integers, traced.asked = self._integers, {}
        try:
            writes = self._function(traced)
        except _Untraceable:
            return None
        sums = None if writes is None else tuple([(slot, *_linear(value)) for slot, value in writes])
        return traced.asked, sums


def renamed(path: Path, names: Mapping[int, int]) -> Path:
    """A path whose slots have other names; a slot that is not in ``names`` keeps its own."""

    def in_terms(terms: Terms) -> Terms:
        return tuple(sorted([(names.get(slot, slot), factor) for slot, factor in terms]))

    asked: dict[int | Test, int] = {
        names.get(each, each) if isinstance(each, int) else (in_terms(each[0]), *each[1:]): answer
        for each, answer in path[0].items()
    }
    writes = path[1] and tuple([(names.get(slot, slot), in_terms(terms), n) for slot, terms, n in path[1]])
    return asked, writes


_Leaf = tuple[Callable[[Sequence[int]], Writes | None], Path]
"""What the step writes, as a function of states; and the path to the leaf."""

_Node = tuple[int, Callable[[Sequence[int]], bool] | None, "dict[int, _Node]", _Leaf | None]
"""The slot to read, or -1 and a test, with the next node for each answer; or a leaf."""


def _node(question: int | Test) -> _Node:
    return (question, None, {}, None) if isinstance(question, int) else (-1, _test(*question), {}, None)


def _test(terms: Terms, constant: int, less: bool) -> Callable[[Sequence[int]], bool]:
    """A comparison as a function of states."""
    match terms:
        case ((i, 1), (j, -1)) if less:
            return lambda state: state[i] + constant < state[j]
        case ((i, -1), (j, 1)) if less:
            return lambda state: state[j] + constant < state[i]
        case ((i, 1), (j, -1)) | ((j, -1), (i, 1)):
            return lambda state: state[i] + constant == state[j]
    total = _sum(terms, constant)
    return (lambda state: total(state) < 0) if less else (lambda state: total(state) == 0)


def _sum(terms: Terms, constant: int) -> Callable[[Sequence[int]], int]:
    """A linear term as a function of states."""
    match terms:
        case ():
            return lambda state: constant
        case ((i, 1),):
            return lambda state: state[i] + constant
    return lambda state: sum([factor * state[slot] for slot, factor in terms], constant)


def _linear(value: int) -> tuple[Terms, int]:
    return (value.terms, value.constant) if isinstance(value, _Traced) else ((), value)


def _nothing(state: Sequence[int]) -> None:
    """What a step that is not enabled writes."""


def _writing(sums: Sums) -> Callable[[Sequence[int]], Writes]:
    """What a step writes, as a function of states."""
    fixed = [(slot, constant) for slot, _, constant in sums]
    moving = [(at, slot, _sum(terms, constant)) for at, (slot, terms, constant) in enumerate(sums) if terms]
    if not moving:
        return lambda state: fixed

    def writes(state: Sequence[int]) -> Writes:
        result = fixed.copy()
        for at, slot, value in moving:
            result[at] = slot, value(state)
        return result

    return writes


class _Untraceable(Exception):
    """An integer was used otherwise than in sums and comparisons."""


class _TracedState(Slots):
    """A state that records which slots are read, and what is asked of its integers."""

    integers: frozenset[int]
    asked: dict[Any, int]
    """Slots with the values read, and tests with their answers, in order."""

    def __getitem__(self, slot: int) -> int:  # type: ignore[override]
        if type(slot) is not int or slot < 0:
            only_slots()
        value = tuple.__getitem__(self, slot)
        if slot in self.integers:
            return _Traced.of(value, ((slot, 1),), 0, self.asked)
        self.asked[slot] = value
        return value


class _Traced(int):
    """An integer of a state, or a sum of such: ``terms`` and ``constant`` say which."""

    terms: Terms
    constant: int
    asked: dict[Any, int]

    @staticmethod
    def of(value: int, terms: Terms, constant: int, asked: dict[Any, int]) -> int:
        """An integer with its terms; a plain one if there are none."""
        if not terms:
            return value
        traced = _Traced(value)
        traced.terms, traced.constant, traced.asked = terms, constant, asked
        return traced

    def _plus(self, other: object, factor: int, scale: int = 1) -> int:
        if not isinstance(other, int):
            _untraceable()
        terms = {slot: scale * each for slot, each in self.terms}
        constant = scale * self.constant
        if isinstance(other, _Traced):
            for slot, each in other.terms:
                terms[slot] = terms.get(slot, 0) + factor * each
            constant += factor * other.constant
        else:
            constant += factor * other
        kept = tuple(sorted((slot, each) for slot, each in terms.items() if each))
        value = scale * int.__int__(self) + factor * int.__int__(other)
        return _Traced.of(value, kept, constant, self.asked)

    def _compared(self, difference: int, less: bool) -> bool:
        """Whether a difference is less than 0, or 0."""
        value = int.__int__(difference)
        answer = value < 0 if less else value == 0
        if isinstance(difference, _Traced):
            self.asked[difference.terms, difference.constant, less] = answer
        return answer

    def __add__(self, other: object) -> int:
        return self._plus(other, 1)

    __radd__ = __add__

    def __sub__(self, other: object) -> int:
        return self._plus(other, -1)

    def __rsub__(self, other: object) -> int:
        return self._plus(other, 1, -1)

    def __mul__(self, other: object) -> int:
        if isinstance(other, _Traced) or not isinstance(other, int):
            _untraceable()
        return self._plus(0, 1, other)

    __rmul__ = __mul__

    def __lt__(self, other: object) -> bool:
        return self._compared(self._plus(other, -1), True)

    def __gt__(self, other: object) -> bool:
        return self._compared(self._plus(other, 1, -1), True)

    def __le__(self, other: object) -> bool:
        return not self > other

    def __ge__(self, other: object) -> bool:
        return not self < other

    def __eq__(self, other: object) -> bool:
        return self._compared(self._plus(other, -1), False)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def _refused(self, *_: object) -> NoReturn:
        _untraceable()

    __hash__ = __bool__ = __int__ = __index__ = __float__ = __str__ = __repr__ = __format__ = _refused
    __neg__ = __abs__ = __invert__ = __and__ = __or__ = __xor__ = __lshift__ = __rshift__ = _refused
    __rand__ = __ror__ = __rxor__ = __rlshift__ = __rrshift__ = __pow__ = __rpow__ = _refused
    __floordiv__ = __rfloordiv__ = __truediv__ = __rtruediv__ = __mod__ = __rmod__ = __divmod__ = __rdivmod__ = _refused


def _untraceable() -> NoReturn:
    raise _Untraceable
