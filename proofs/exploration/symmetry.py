"""Symmetry: states that differ only by a renaming of interchangeable objects are explored once.

Objects of a sort are interchangeable if no rigid attribute distinguishes them. Properties are closed formulas, so they cannot
distinguish them either. Counts stay exact: a representative counts for its orbit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations, product
from math import factorial, prod

from schedproof.model.lang import Function, Ref, Relation, SetOf
from schedproof.model.lang.infer import value_type
from schedproof.model.lang.types import Sequence as SequenceType
from schedproof.model.semantics import Instance, State, tuples

MOST_PERMUTATIONS = 720
"""The limit of renamings of sorts that others refer to; beyond it, further sorts are not reduced."""


class Symmetry:
    """The renamings of an instance's interchangeable objects.

    Attributes:
        renamings: of sorts that others refer to: the new number of each object, by sort.
        fields: the fields that these renamings change.
        ordered: a sort that no other sort refers to, reduced by sorting its objects; "" for none.
        columns: the slots in a state where the fields of ``ordered`` begin.
    """

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        sorts = [s for s in instance.sizes if instance.sizes[s] > 1 and _interchangeable(instance, s)]
        sortable = [s for s in sorts if not _referred(instance, s)]
        self._sorted = sortable[:1]
        renamed = [s for s in sorts if s not in self._sorted]
        while prod(factorial(instance.sizes[s]) for s in renamed) > MOST_PERMUTATIONS:
            renamed.pop()
        self.sorts = tuple(self._sorted + renamed)
        choices = [[(s, perm) for perm in permutations(range(instance.sizes[s]))] for s in renamed]
        self.renamings = [dict(choice) for choice in product(*choices)] if renamed else [{}]
        self.ordered = self._sorted[0] if self._sorted else ""
        self.columns = _starts(instance, self.ordered) if self.ordered else []
        self.fields = list(_fields(instance, frozenset(renamed)))

    def images(self, state: State) -> set[State]:
        """One state for each of ``renamings``, each with the objects of ``ordered`` sorted."""
        return {self._in_order(self._rename(state, renaming)) for renaming in self.renamings}

    def canonical(self, state: State) -> State:
        """The representative of the orbit of ``state``."""
        if len(self.renamings) == 1:
            return self._in_order(state)
        return min(self.images(state))

    def orbit(self, state: State) -> int:
        """The number of states that are renamings of ``state``."""
        total = 0
        for image in self.images(state):
            ways = 1
            for sort in self._sorted:
                columns = self._columns(image, sort)
                ways *= factorial(len(columns)) // prod(factorial(columns.count(c)) for c in set(columns))
            total += ways
        return total

    def _columns(self, state: State, sort: str) -> list[tuple[int, ...]]:
        size = self.instance.sizes[sort]
        starts = _starts(self.instance, sort)
        return [tuple(state[start + i] for start in starts) for i in range(size)]

    def _in_order(self, state: State) -> State:
        result = list(state)
        for sort in self._sorted:
            starts = _starts(self.instance, sort)
            for i, column in enumerate(sorted(self._columns(state, sort))):
                for start, value in zip(starts, column, strict=True):
                    result[start + i] = value
        return tuple(result)

    def _rename(self, state: State, renaming: dict[str, tuple[int, ...]]) -> State:
        if not renaming:
            return state
        result = list(state)
        for field in self.fields:
            to = renaming.get(field.sort, range(field.size))
            names = renaming[field.names] if field.names else ()
            for i, j in enumerate(to):
                value = state[field.slot + i]
                if field.places:
                    value = field.renamed(value, renaming)
                elif names and field.is_set:
                    value = sum(1 << k for n, k in enumerate(names) if value >> n & 1)
                elif names and value >= 0:
                    value = names[value]
                result[field.slot + j] = value
        return tuple(result)


@dataclass(frozen=True)
class _Field:
    """A machine's state or an attribute that a renaming changes.

    Attributes:
        slot: where its values begin in a state, one for each of ``size`` objects.
        names: the renamed sort whose objects the values name; "" for none.
        is_set: whether the values are sets of these objects.
        places: of a relation or a function with renamed objects, the sort and the number of objects of each place; else empty.
        bits: how many bits each tuple has in a value.
    """

    sort: str
    slot: int
    size: int
    names: str = ""
    is_set: bool = False
    places: Places = ()
    bits: int = 1

    def renamed(self, mask: int, renaming: Mapping[str, Sequence[int]]) -> int:
        """A relation, or a function, with the objects of every place renamed."""
        to = renamed_bits(renamed_tuples(self.places, renaming), self.bits)
        return sum(1 << to[n] for n in range(mask.bit_length()) if mask >> n & 1)


Places = tuple[tuple[str, int], ...]
"""The sort and the number of objects of each place of a relation."""


def renamed_tuples(places: Places, renaming: Mapping[str, Sequence[int]]) -> list[int]:
    """The new number of each tuple if the objects of some sorts are renamed: a place without a renaming keeps its object."""
    to = [renaming.get(sort, range(size)) for sort, size in places]
    dimensions = [size for _, size in places]
    return [tuples.number(each, dimensions) for each in product(*to)]


def renamed_bits(to: Sequence[int], bits: int) -> Sequence[int]:
    """The new number of each bit of a value, if each tuple has several and goes to the place in ``to``."""
    return to if bits == 1 else [tuple_number * bits + n for tuple_number in to for n in range(bits)]


def _bits(instance: Instance, kind: Relation | Function) -> int:
    return instance.packing(kind).bits if isinstance(kind, Function) else 1


def _fields(instance: Instance, renamed: frozenset[str]) -> Iterator[_Field]:
    for machine in instance.model.machines:
        sort = machine.sort.name
        if machine.states and sort in renamed:
            yield _Field(sort, instance.slot(sort), instance.sizes[sort])
        for attribute in instance.attributes(sort):
            kind = attribute.type
            if isinstance(kind, Relation | Function):
                if sort in renamed or any(each.name in renamed for each in kind.sorts):
                    places = tuple(zip((s.name for s in kind.sorts), instance.dimensions(kind), strict=True))
                    slot = instance.slot(sort, attribute.name)
                    yield _Field(sort, slot, instance.sizes[sort], places=places, bits=_bits(instance, kind))
                continue
            names = kind.sort.name if isinstance(kind, Ref | SetOf) and kind.sort.name in renamed else ""
            if names or sort in renamed:
                slot = instance.slot(sort, attribute.name)
                yield _Field(sort, slot, instance.sizes[sort], names, isinstance(kind, SetOf))


def _starts(instance: Instance, sort: str) -> list[int]:
    fields = [""] if instance.model.machine(sort).states else []
    return [instance.slot(sort, f) for f in fields + [a.name for a in instance.attributes(sort)]]


def _interchangeable(instance: Instance, sort: str) -> bool:
    everyone, machine_sort = (1 << instance.sizes[sort]) - 1, instance.model.machine(sort).sort
    for machine in instance.model.machines:
        for attribute in machine.attributes:
            # A renaming moves the bits of a function, and does not change the objects that its values or a sequence's items name.
            if isinstance(kind := attribute.type, Function | SequenceType) and value_type(kind) == Ref(machine_sort):
                return False
            if not attribute.rigid:
                continue
            values = instance.rigid_values(machine.sort.name, attribute)
            if machine.sort.name == sort and len(set(values)) > 1:
                return False
            if isinstance(attribute.type, Ref) and attribute.type.sort.name == sort and any(v >= 0 for v in values):
                return False
            one_set = isinstance(attribute.type, SetOf) and attribute.type.sort.name == sort
            if one_set and any(v not in (0, everyone) for v in values):
                return False
            if isinstance(attribute.type, Relation | Function) and not _keeps(instance, sort, attribute.type, values):
                return False
    return True


def _keeps(instance: Instance, sort: str, kind: Relation | Function, values: Sequence[int]) -> bool:
    """Whether every renaming of the objects of ``sort`` keeps the values of a relation or of a function.

    Exchanges of neighbours generate all renamings.
    """
    places = tuple(zip((s.name for s in kind.sorts), instance.dimensions(kind), strict=True))
    field, size = _Field("", 0, 0, places=places, bits=_bits(instance, kind)), instance.sizes[sort]
    exchanges = [[*range(i), i + 1, i, *range(i + 2, size)] for i in range(size - 1)]
    return all(field.renamed(value, {sort: exchange}) == value for exchange in exchanges for value in set(values))


def _referred(instance: Instance, sort: str) -> bool:
    return any(
        (isinstance(a.type, Ref | SetOf) and a.type.sort.name == sort)
        or (isinstance(a.type, Relation | Function) and any(each.name == sort for each in a.type.sorts))
        for m in instance.model.machines
        for a in instance.attributes(m.sort.name)
    )
