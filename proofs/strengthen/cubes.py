"""Clauses that exclude a state and are true of all samples: the search behind an inference.

A *cube* is a part of a row: values of some features that no row of the samples has together. Its negation is a clause.
The features at which a row of the samples differs from the row to exclude are a set; a cube is a hitting set of these sets.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .columns import first_of_each, packed
from .features import Feature, Template
from .rows import Bitmaps, Bits, Rows

Row = NDArray[np.int8]

MOST_CUBES, MOST_OTHERS = 60, 600
"""The most cubes of one size for one row, and the most together with those that do not read all variables."""

MOST_NODES = 40_000
"""The most nodes of one search."""


NEAREST = 2_000
"""Cubes are looked for among so many rows first, those that differ least from the row to exclude."""

MOST_LEAST = 500
"""The most sets whose supersets are left out."""


@dataclass(frozen=True)
class Clause:
    """A disjunction: for every choice of distinct objects, some feature has one of its allowed values.

    Attributes:
        literals: each feature with its allowed values.
    """

    template: Template
    literals: tuple[tuple[Feature, frozenset[int]], ...]

    @property
    def key(self) -> str:
        """Identifies the clause."""
        return " | ".join(sorted(f"{feature.key} in {sorted(allowed)}" for feature, allowed in self.literals))

    @property
    def names(self) -> list[str]:
        """The variables that it uses, in the order of the template."""
        used = {name for feature, _ in self.literals for name in feature.names}
        return [v.name for v in self.template.variables if v.name in used]

    @property
    def reads_all_variables(self) -> bool:
        """Whether it uses all variables of its template that range over many objects.

        A clause about fewer objects is one of a smaller template. It may be violated where there are no others, and the rows
        of this template do not show that.
        """
        return self.template.is_read_by(feature for feature, _ in self.literals)

    @property
    def groups(self) -> list[frozenset[str]]:
        """Its variables that range over many objects; those that it excludes only where something ties them together are one group."""
        tied: list[frozenset[str]] = []
        for feature, allowed in self.literals:
            its = frozenset(feature.names) & self.template.many.keys()
            for names in [its] if feature.ties and 1 not in allowed else [frozenset([name]) for name in its]:
                touching = [group for group in tied if group & names]
                tied = [group for group in tied if not group & names] + ([names.union(*touching)] if names else [])
        return tied

    @property
    def doubtful(self) -> bool:
        """Whether samples seldom suffice to show that it does not hold: it is scattered, or compares rigid numbers only.

        Each run has few of the values that rigid numbers may have, whatever else happens in it.
        """
        return self.scattered or any(feature.rigid for feature, _ in self.literals)

    @property
    def scattered(self) -> bool:
        """Whether some of its objects are excluded although nothing ties them to the others, and these are of several sorts.

        A literal without variables counts as one more object. Samples seldom suffice to show that two objects which have
        nothing to do with each other may be in any two states.
        """
        groups = self.groups
        about_any = sum(not feature.names for feature, _ in self.literals)
        sorts = {self.template.many[name] for group in groups for name in group}
        return len(groups) + about_any > 1 and len(sorts) + about_any > 1

    def fails(self, rows: NDArray[np.int8]) -> NDArray[np.bool_]:
        """For each row of its template, whether it violates the clause."""
        failing = np.ones(len(rows), np.bool_)
        for feature, allowed in self.literals:
            excluded = np.ones(256, np.bool_)
            excluded[[*allowed]] = False
            failing &= excluded[rows[:, self.template.places[feature]]]
        return failing

    def narrowed(self, rows: Bitmaps) -> Clause:
        """The clause with as few allowed values as some rows permit, of the first literal first; literals without any are left out.

        Args:
            rows: of its template; none violates the clause.
        """
        literals = self.literals
        places = self.template.places
        lacking = {feature: rows.lacking(places[feature], allowed) for feature, allowed in self.literals}
        for feature, allowed in self.literals:
            others = tuple(each for each in literals if each[0] is not feature)
            beside = np.bitwise_and.reduce([rows.every, *(lacking[other] for other, _ in others)])
            allowed = rows.values(places[feature], allowed, beside)
            lacking[feature] = rows.lacking(places[feature], allowed)
            literals = (*others, (feature, allowed)) if allowed else others
        return Clause(self.template, literals)

    def implies(self, other: Clause) -> bool:
        """Whether each of its literals implies one of the other clause."""
        allowed = {feature.key: its for feature, its in other.literals}
        return all(its <= allowed.get(feature.key, frozenset()) for feature, its in self.literals)


class Difference:
    """A row to exclude beside the rows of the samples: where it differs from each.

    Attributes:
        rows: the samples.
        row: the row to exclude.
        possible: whether no sample is the row itself.
    """

    def __init__(self, rows: Rows, row: Row) -> None:
        self.rows, self.row = rows, row
        counts = np.count_nonzero(rows.matrix != row, axis=1)
        self.possible = bool(counts.all())
        self._sets, self._settled = np.zeros((0, len(row)), np.bool_), 0
        if self.possible:
            nearest = counts.argpartition(NEAREST)[:NEAREST] if len(counts) > NEAREST else np.arange(len(counts))
            self._hit_also(rows.matrix[nearest])

    def _hit_also(self, matrix: NDArray[np.int8]) -> None:
        """Looks at some more rows of the samples."""
        differs = np.concatenate([self._sets, matrix != self.row])
        differs = differs[first_of_each(differs)]
        self._sets = differs = least(differs[np.argsort(differs.sum(axis=1), kind="stable")])
        self._at = [[int(n) for n in np.flatnonzero(each)] for each in differs]
        self._whole = (1 << len(differs)) - 1
        self._hit = [_mask(differs[:, n]) for n in range(differs.shape[1])]

    def clauses(self, size: int) -> Iterator[Clause]:
        """The clauses of ``size`` literals that exclude the row and hold in all samples: minimal ones, then some that say less.

        Each is given with as few allowed values as the samples permit, then as it is. A minimal clause about objects that
        nothing ties together may hold only because the samples are small: where something ties these objects in the
        row, the clause about objects that are tied like this is given, too.
        """
        for cube in self.cubes(size):
            yield self.widened(cube)
            yield self._plain(cube)
        for cube in self.cubes(size - 1) if size > 1 else ():
            for tie in self._ties(self._plain(cube).groups):
                clause = self.widened(cube, tie)
                if all(allowed for _, allowed in clause.literals):
                    yield clause
                yield self._plain((*cube, tie))

    def _plain(self, cube: Sequence[int]) -> Clause:
        features = self.rows.template.features
        return Clause(self.rows.template, tuple((features[n], features[n].domain - {int(self.row[n])}) for n in cube))

    def _ties(self, groups: Sequence[frozenset[str]]) -> Iterator[int]:
        """The features that tie objects of several groups together in the row."""
        for n, feature in enumerate(self.rows.template.features if len(groups) > 1 else ()):
            if feature.ties and self.row[n] == 1 and sum(not group.isdisjoint(feature.names) for group in groups) > 1:
                yield n

    def cubes(self, size: int) -> list[tuple[int, ...]]:
        """The sets of ``size`` features, none of which can be left out, whose values in the row no sample has together.

        Each reads all variables of the template: what fewer objects never have together is in the rows of a smaller template.

        They are looked for among the rows that differ least. A row that has them nevertheless is looked at from then on.
        """
        if size - 1 > self._settled:  # of the sets that seem to be enough, some may not be
            self.cubes(size - 1)
        while self.possible:
            cubes = self._cubes(size)
            alike = [first for cube in cubes for first in self._alike(cube)]
            if not alike:
                self._settled = max(size, self._settled)
                return [cube for cube in cubes if self._reads_all(cube)]
            self._hit_also(self.rows.matrix[alike])
        return []

    def _alike(self, cube: Sequence[int]) -> list[int]:
        """The first row of the samples that has the values of the row at some features; none if there is no such row."""
        alike = np.bitwise_and.reduce([self._has_value_of_row(n) for n in cube])
        return [8 * int(byte) + int(np.unpackbits(alike[byte]).argmax()) for byte in np.flatnonzero(alike)[:1]]

    def _has_value_of_row(self, n: int) -> Bits:
        """Which rows of the samples have the value of the row at a feature."""
        return self.rows.bitmaps.having(n, int(self.row[n]))

    def widened(self, cube: Sequence[int], tie: int | None = None) -> Clause:
        """The clause of a cube, with as few allowed values as the samples permit: those that some row has beside the rest of the cube.

        Args:
            tie: a further feature that must have the value of the row.
        """
        bitmaps, template = self.rows.bitmaps, self.rows.template
        excluded = {n: self._has_value_of_row(n) for n in (*cube, *(() if tie is None else (tie,)))}
        allowed = {} if tie is None else {tie: template.features[tie].domain - {int(self.row[tie])}}
        for n in cube:
            beside = np.bitwise_and.reduce([bitmaps.every, *(excluded[m] for m in excluded if m != n)])
            allowed[n] = bitmaps.values(n, template.features[n].domain, beside)
            excluded[n] = bitmaps.lacking(n, allowed[n])
        return Clause(template, tuple((template.features[n], allowed[n]) for n in excluded))

    def _cubes(self, size: int) -> list[tuple[int, ...]]:
        cubes: dict[tuple[int, ...], None] = {}
        nodes = reading_all = 0

        def extend(chosen: tuple[int, ...], left: int, banned: frozenset[int]) -> None:
            nonlocal nodes, reading_all
            nodes += 1
            if reading_all >= MOST_CUBES or len(cubes) >= MOST_OTHERS or nodes > MOST_NODES:
                return
            if not left:
                if len(chosen) == size and _minimal(self._hit, chosen, self._whole):
                    cubes[tuple(sorted(chosen))] = None
                    reading_all += self._reads_all(chosen)
                return
            if len(chosen) == size:
                return
            for n in self._at[(left & -left).bit_length() - 1]:
                if n not in banned:
                    extend((*chosen, n), left & ~self._hit[n], banned)
                    banned = banned | {n}

        extend((), self._whole, frozenset())
        return list(cubes)

    def _reads_all(self, cube: Sequence[int]) -> bool:
        template = self.rows.template
        return template.is_read_by(template.features[n] for n in cube)


def least(sets: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The sets, smallest first, without those that contain another one: what hits the others hits these, too.

    The search for contained sets ends after :data:`MOST_LEAST` of them.
    """
    words, places = packed(sets), np.arange(len(sets))
    kept: list[int] = []
    while len(words) and len(kept) < MOST_LEAST:
        kept.append(int(places[0]))
        others = ((words & words[0]) != words[0]).any(axis=1)
        words, places = words[others], places[others]
    return sets[[*kept, *places]]


def _mask(bits: NDArray[np.bool_]) -> int:
    return int.from_bytes(np.packbits(bits, bitorder="little").tobytes(), "little")


def _minimal(hit: Sequence[int], chosen: Sequence[int], whole: int) -> bool:
    for n in chosen:
        others = 0
        for m in chosen:
            others |= hit[m] if m != n else 0
        if others == whole:
            return False
    return True
