"""Memoizes what steps write by how integers compare, not by their values: a log of growing numbers repeats few cases.

A function of states is evaluated once with integers that record what is asked of them. Sums stay linear in the slots of the
state, and each comparison is a test on slots. So the function's reads and tests form a tree, whose leaves are linear, too.

Steps that differ only in the objects of some sorts share a tree: it reads the objects that a step is given.

A tree that is used often is compiled (:mod:`.compiled_tree`). Questions and leaves are Python expressions of ``state`` and
``at``, the offsets of the objects. So the tree and its compiled form cannot differ in them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple, NoReturn

from schedproof.model.lang.types import Integer

from .compiled_tree import MISSING, Compiled, Node, compiled
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


Read = Sequence[int]
"""A state, of which single slots are read."""

Offsets = tuple[int, ...]

MOST_FUNCTIONS = 10_000
"""How many expressions keep their functions for other trees."""

WALKS = 50
"""A tree is compiled after so many uses for each of its cases: compiling a case takes as long as about 40 uses save."""

MOST_CASES = 1000
"""A larger tree is not compiled."""


class Case(NamedTuple):
    """A function of states, as one of several that do the same with different objects.

    Attributes:
        function: gives the slots with their new values, or None. It may add, subtract and compare the integers of a state, as
            terms do. Most other uses are noticed and not remembered, but not an integer as an index.
        offsets: the numbers of the objects, after a 0.
        places: the slots of the objects, each as the first slot of its field and the position of the object in ``offsets``.
    """

    function: Callable[[State], Writes | None]
    offsets: tuple[int, ...] = (0,)
    places: Mapping[int, tuple[int, int]] = MappingProxyType({})


class OtherObject(Exception):
    """A function reads or writes an object of an exchanged sort that is none of its own."""


class RememberedWrites:
    """What functions of states write, which remembers the cases of all.

    Args:
        integers: the slots of integers.
        exchanged: the slots of all objects of the sorts whose objects differ from function to function.
    """

    def __init__(self, integers: frozenset[int], exchanged: frozenset[int] = frozenset()) -> None:
        self._integers, self._exchanged = integers, exchanged
        self._tree: Node | None = None
        self._computed = self._reused = self._walked = 0
        self._compiled: Compiled | None = None

    def __call__(self, state: Read, case: Case) -> Writes | None:
        """What the function of ``case`` writes in a state.

        Raises:
            OtherObject: it reads or writes an object of an exchanged sort that is not in ``case``.
        """
        node, offsets = self._tree, case.offsets
        writes: Writes | None
        if self._compiled is not None:
            writes = self._compiled(state, offsets)
            if writes is not MISSING:
                self._reused += 1
                return writes
        while node is not None:
            slot, position, function, ways, _ = node
            if slot >= 0:
                node = ways.get(state[slot + offsets[position]])
            elif ways:
                node = ways.get(function(state, offsets))
            else:
                self._reused += 1
                self._walked += 1
                if self._walked > WALKS * self._computed:
                    self._compile()
                writes = function(state, offsets)
                return writes
        if self._computed > MANY and self._computed > self._reused:
            self._tree = self._compiled = None
            return case.function(tuple(state))
        return self._learn(state, case)

    def _learn(self, state: Read, case: Case) -> Writes | None:
        traced = _TracedState(state)
        traced.integers, traced.asked = self._integers, {}
        try:
            written = case.function(traced)
        except _Untraceable:
            return case.function(tuple(state))
        leaf = _refusing()
        if written is not None:
            leaf = _writing([(self._place(slot, case), *self._linear(value, case)) for slot, value in written])
        self._computed += 1
        self._walked = 0
        root: dict[int, Node] = {} if self._tree is None else {0: self._tree}
        ways, answer = root, 0
        for question, next_answer in traced.asked.items():
            node = ways.get(answer) or ways.setdefault(answer, self._node(question, case))
            ways, answer = node[3], next_answer
        ways[answer] = leaf
        self._tree = root[0]
        writes: Writes | None = leaf[2](state, case.offsets)
        return writes

    def _compile(self) -> None:
        self._walked = 0
        if self._tree is not None and self._computed <= MOST_CASES:
            self._compiled = compiled(self._tree)

    def _place(self, slot: int, case: Case) -> _Place:
        if slot not in self._exchanged:
            return slot, 0
        if slot not in case.places:
            raise OtherObject
        return case.places[slot]

    def _node(self, question: int | Test, case: Case) -> Node:
        if isinstance(question, int):
            place = self._place(question, case)
            return (*place, None, {}, _read(place))
        terms, constant, less = question
        source = _test(self._terms(terms, case), constant, less)
        return -1, 0, _function(source), {}, source

    def _terms(self, terms: Terms, case: Case) -> _Terms:
        return tuple([(self._place(slot, case), factor) for slot, factor in terms])

    def _linear(self, value: int, case: Case) -> tuple[_Terms, int]:
        return (self._terms(value.terms, case), value.constant) if isinstance(value, _Traced) else ((), value)


_Place = tuple[int, int]
"""A slot, and the position of the offset that is added to it."""

_Terms = tuple[tuple[_Place, int], ...]


def _slot(place: _Place) -> str:
    slot, position = place
    return f"{slot} + at[{position}]" if position else f"{slot}"


def _read(place: _Place) -> str:
    return f"state[{_slot(place)}]"


def _test(terms: _Terms, constant: int, less: bool) -> str:
    """A comparison with 0."""
    return f"{_sum(terms, constant)} {'<' if less else '=='} 0"


def _sum(terms: _Terms, constant: int) -> str:
    """A linear term."""
    parts = [f"+ {constant}"] if constant or not terms else []
    for place, factor in sorted(terms, key=lambda term: -term[1]):
        times = "" if abs(factor) == 1 else f"{abs(factor)} * "
        parts.append(f"{'+' if factor > 0 else '-'} {times}{_read(place)}")
    return " ".join(parts).removeprefix("+ ")


def _writing(sums: Sequence[tuple[_Place, _Terms, int]]) -> Node:
    """A leaf that writes: slots, with the terms and the constant of their new values."""
    source = f"[{', '.join(f'({_slot(place)}, {_sum(terms, constant)})' for place, terms, constant in sums)}]"
    if any(terms or position for (_, position), terms, _ in sums):
        return -1, 0, _function(source), {}, source
    fixed = [(slot, constant) for (slot, _), _, constant in sums]
    return -1, 0, lambda state, at: fixed, {}, source


def _refusing() -> Node:
    """A leaf of a step that is not enabled."""
    return -1, 0, lambda state, at: None, {}, "None"


@lru_cache(MOST_FUNCTIONS)
def _function(source: str) -> Callable[[Read, Offsets], Any]:
    """An expression as a function."""
    function: Callable[[Read, Offsets], Any] = eval(f"lambda state, at: {source}")
    return function


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
