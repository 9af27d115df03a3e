"""The rows of a template in many states: each once, however many choices of objects show it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from .columns import States, Values
from .features import Template

MOST_CHOICES = 300
"""The most choices of objects that are looked at in the states of one size; of more, those at even distances."""

AT_ONCE = 200_000
"""The most rows that are looked up together, one for each state and each choice of objects."""

Hashes = NDArray[np.uint64]
"""A hash of each row. Two rows that share one count as one. That is unlikely, and harmless: nothing is concluded from rows."""

ABSENT = np.uint64(0)
"""Stands for a choice of objects of which one is absent: it has no row."""

Bits = NDArray[np.uint8]
"""A truth value of each row, in the bits of bytes."""

T = TypeVar("T")


class OutOfTime(Exception):
    """The rows of some samples are missing: what is true of the others may not be true of these."""


class Bitmaps:
    """Which rows have which value. What is asked about many rows is answered from their bits, which are made when first needed.

    Attributes:
        every: all rows.
    """

    def __init__(self, matrix: Values) -> None:
        self.matrix = matrix
        self.every: Bits = np.packbits(np.ones(len(matrix), np.bool_))
        self._having: dict[tuple[int, int], Bits] = {}

    def having(self, feature: int, value: int) -> Bits:
        """The rows that have a value of a feature."""
        key = feature, value
        if key not in self._having:
            self._having[key] = np.packbits(self.matrix[:, feature] == value)
        return self._having[key]

    def lacking(self, feature: int, values: Collection[int]) -> Bits:
        """The rows that have none of some values of a feature."""
        lacking = self.every
        for value in values:
            lacking = lacking & ~self.having(feature, value)
        return lacking

    def values(self, feature: int, among: Collection[int], rows: Bits) -> frozenset[int]:
        """Those of some values of a feature that some of these rows have."""
        return frozenset(value for value in among if (self.having(feature, value) & rows).any())


@dataclass
class Rows:
    """The different rows of a template: the values of its features for each choice of objects in each sample."""

    template: Template
    matrix: NDArray[np.int8] = field(init=False)
    read: int = 0
    """How many of the samples were read."""

    def __post_init__(self) -> None:
        self.matrix = np.zeros((0, len(self.template.features)), np.int8)
        self._hashes = np.array([ABSENT])
        self._bitmaps = Bitmaps(self.matrix)

    @property
    def bitmaps(self) -> Bitmaps:
        """Which of the rows have which value."""
        if self._bitmaps.matrix is not self.matrix:
            self._bitmaps = Bitmaps(self.matrix)
        return self._bitmaps

    def has(self, matrix: Values) -> NDArray[np.bool_]:
        """Which rows of a matrix are among these."""
        hash_of = hash_table(matrix.shape[1])
        hashes = np.zeros(len(matrix), np.uint64)
        for n, values in enumerate(matrix.T):
            hashes += hash_of[n][values.view(np.uint8)]
        places = np.minimum(np.searchsorted(self._hashes, hashes), len(self._hashes) - 1)
        return np.asarray(self._hashes[places] == hashes)

    def extend(self, states: Sequence[States], halt: Callable[[], str] = lambda: "") -> None:
        """Adds the rows of the states that were not there before. Rows that are added twice change nothing.

        Raises:
            OutOfTime: ``halt`` says so; some rows are missing.
        """
        if self.read == len(states):
            return
        parts, known = [self.matrix], _Known(self._hashes)
        try:
            for each in states[self.read :]:
                reading = _Reading(self.template, each)
                choices = at_even_distances(self.template.assignments(each), MOST_CHOICES)
                together = max(1, AT_ONCE // max(1, len(each.matrix)))
                for first in range(0, len(choices), together):
                    if halt():
                        raise OutOfTime
                    parts += reading.new_rows(choices[first : first + together], known)
                self.read += 1
        finally:
            self.matrix, self._hashes = np.asfortranarray(np.concatenate(parts)), known.hashes  # it is read by columns


@cache
def hash_table(features: int) -> NDArray[np.uint64]:
    """The random numbers whose sum is the hash of a row: one for each value of each feature, which is a byte."""
    return np.random.default_rng(1).integers(1 << 64, size=(features, 256), dtype=np.uint64)


class _Known:
    """A growing set of hashes.

    Most hashes are known: a table has one of them in each slot, so few have to be looked for among all.

    Attributes:
        hashes: sorted; :data:`ABSENT` is always one of them.
    """

    def __init__(self, hashes: Hashes) -> None:
        self.hashes = hashes
        bits = max(16, (4 * len(hashes)).bit_length())
        self._shift = np.uint64(64 - bits)
        self._table = np.zeros(1 << bits, np.uint64)
        self._table[hashes >> self._shift] = hashes
        self._first = np.zeros(1 << bits, np.intp)

    def add(self, hashes: Hashes) -> NDArray[np.intp]:
        """Adds hashes, and says where each new one is first, in order."""
        slots = hashes >> self._shift
        places = np.flatnonzero(self._table[slots] != hashes)
        slots = slots[places]
        self._first[slots[::-1]] = places[::-1]
        self._table[slots] = hashes[self._first[slots]]
        repeated = (self._first[slots] != places) & (self._table[slots] == hashes[places])
        places = places[~repeated]
        different, first = np.unique(hashes[places], return_index=True)
        new = self.hashes[np.minimum(np.searchsorted(self.hashes, different), len(self.hashes) - 1)] != different
        if new.any():
            self.hashes = np.sort(np.concatenate([self.hashes, different[new]]), kind="stable")
        return np.sort(places[first[new]])


class _Reading:
    """Reads the rows of a template in the states of one size. What several choices of objects share is read once."""

    def __init__(self, template: Template, states: States) -> None:
        self._template, self._states = template, states
        self._read: dict[tuple[int, ...], tuple[Values, Hashes]] = {}
        self._read_for_few: dict[tuple[int, ...], tuple[Values, Hashes]] = {}
        self._hash_of = hash_table(len(template.features))

    def new_rows(self, choices: Sequence[Mapping[str, int]], known: _Known) -> Iterator[Values]:
        """The rows of some choices of objects whose hashes are not known, in the order of the choices; they are known then."""
        new = known.add(np.concatenate([self._hashes(bound) for bound in choices]))
        numbers, states = np.divmod(new, max(1, len(self._states.matrix)))
        for n in np.unique(numbers):
            at = states[numbers == n]
            rows = np.empty((len(at), len(self._template.features)), np.int8)
            for number, (_, features) in enumerate(self._template.by_variables):
                rows[:, features] = self._values(number, choices[n])[0][at]
            yield rows
        self._read_for_few.clear()

    def _hashes(self, bound: Mapping[str, int]) -> Hashes:
        """The hash of the row of a choice of objects in each state."""
        total = np.zeros(len(self._states.matrix), np.uint64)
        for number in range(len(self._template.by_variables)):
            total += self._values(number, bound)[1]
        present = self._template.present(self._states, bound)
        return total if present is None else np.where(present, total, ABSENT)

    def _values(self, number: int, bound: Mapping[str, int]) -> tuple[Values, Hashes]:
        """The values of features that read the same variables, and for each state the sum of their hashes."""
        names, features = self._template.by_variables[number]
        shared = len(names) < len(self._template.variables)
        read, at = self._read if shared else self._read_for_few, (number, *(bound[name] for name in names))
        if at not in read:
            values = [self._template.value(n, self._states, bound) for n in features]
            total = np.zeros(len(self._states.matrix), np.uint64)
            for n, each in zip(features, values, strict=True):
                total += self._hash_of[n][each.view(np.uint8)]
            read[at] = np.stack(values, axis=1), total
        return read[at]


def every_row(template: Template, states: States) -> Values:
    """The different rows of all choices of objects, in the order of the choices."""
    choices, none = list(template.assignments(states)), np.zeros((0, len(template.features)), np.int8)
    if not choices:
        return none
    return np.concatenate([none, *_Reading(template, states).new_rows(choices, _Known(np.array([ABSENT])))])


def at_even_distances(every: Iterator[T], most: int) -> list[T]:
    """All, or at most so many at even distances."""
    listed = list(every)
    return listed if len(listed) <= most else listed[:: -(-len(listed) // most)]
