"""The types of attributes, parameters and variables."""

from __future__ import annotations

from dataclasses import dataclass, field

from schedproof.model.errors import shown

from .arguments import declaration
from .digest import FLAG
from .errors import ModelError, Place, calling_place


@declaration
@dataclass(frozen=True)
class Sort:
    """A kind of object: any number of objects in proofs, ``n`` objects in an exploration.

    Args:
        name: the name.
        short: the letter in the names of its objects in counterexamples (g0, g1, ...).
        single: whether there is exactly one object, as one clock. Proofs assume it, scopes and logs cannot have more.
        disposable: whether actions create its objects, and they are gone when they end, as requests: see :mod:`.disposable`.
    """

    name: str
    short: str
    single: bool = field(default=False, compare=False, repr=False, kw_only=True, metadata={FLAG: True})
    disposable: bool = field(default=False, compare=False, repr=False, kw_only=True, metadata={FLAG: True})
    place: Place = field(default_factory=calling_place, compare=False, repr=False)

    def __post_init__(self) -> None:
        for what, name in (("name", self.name), ("short", self.short)):
            if not (isinstance(name, str) and name.strip()):
                problem = f"its {what} is {shown(name)}"
                raise ModelError(f"sort {self.name}", self.place, problem, 'write for example Sort("Job", "j")')
        for what, flag in (("single", self.single), ("disposable", self.disposable)):
            if not isinstance(flag, bool):
                problem = f"{what} is {shown(flag)}"
                raise ModelError(f"sort {self.name}", self.place, problem, f"write {what}=True", name=what)

    def __str__(self) -> str:
        return self.name


@declaration
@dataclass(frozen=True)
class BoolType:
    """True or false."""

    def __str__(self) -> str:
        return "Bool"


@declaration
@dataclass(frozen=True)
class IntRange:
    """The integers from ``low`` to ``high``, both included."""

    low: int
    high: int

    def __post_init__(self) -> None:
        for bound in (self.low, self.high):
            if not isinstance(bound, int) or isinstance(bound, bool):
                problem = f"a bound is {shown(bound)}, not a whole number"
                raise ModelError("IntRange", calling_place(), problem, "write for example IntRange(0, 3)")

    def __str__(self) -> str:
        return f"{self.low}..{self.high}"


@declaration
@dataclass(frozen=True)
class Integer:
    """The integers without an upper bound: ``Int`` has all, ``Nat`` those from 0.

    Proofs and logs know no bound. An exploration takes no step beyond ``Model.bound``, and its verdicts say so.

    Args:
        low: the lowest value, or None.
    """

    low: int | None = None

    def __str__(self) -> str:
        return {None: "Int", 0: "Nat"}.get(self.low, f"{self.low}..")

    def __call__(self) -> Integer:
        """The type itself, so that ``Nat()`` may be written like ``BoolType()``."""
        return self

    def __contains__(self, value: int) -> bool:
        return self.low is None or self.low <= value


Int, Nat = Integer(), Integer(0)


@declaration
@dataclass(frozen=True)
class EnumType:
    """One of a few named ``values``; the first is initial unless declared otherwise."""

    values: tuple[str, ...]

    def __post_init__(self) -> None:
        if isinstance(self.values, str) or not all(isinstance(value, str) and value for value in self.values):
            problem = f"values is {shown(self.values)}, not several names"
            raise ModelError("EnumType", calling_place(), problem, 'write for example EnumType(("batch", "service"))')

    def __str__(self) -> str:
        return "{" + ", ".join(self.values) + "}"


@declaration
@dataclass(frozen=True)
class Ref:
    """An object of ``sort``, or none."""

    sort: Sort

    def __str__(self) -> str:
        return f"{self.sort.name} or none"


@declaration
@dataclass(frozen=True)
class SetOf:
    """A set of objects of ``sort``; an attribute of this type is a relation."""

    sort: Sort

    def __str__(self) -> str:
        return f"set of {self.sort.name}"


@declaration
@dataclass(frozen=True, init=False)
class Relation:
    """A set of tuples of objects, one object of each of ``sorts``: data per pair, triple, ... of objects.

    An attribute of this type relates its own object to the others: ``Attribute("between", Relation(Node, Node))`` of
    ``Node`` is a relation of three nodes. ``Relation(B, C)`` is not another sort with an object for each pair.

    Args:
        sorts: two or more sorts, in the order in which ``has``, ``with_`` and ``without`` take the objects.
    """

    sorts: tuple[Sort, ...]

    def __init__(self, *sorts: Sort) -> None:
        example = "write for example Relation(Worker, Job)"
        for each in sorts:
            if not isinstance(each, Sort):
                problem = f"{shown(each)} is not a sort"
                raise ModelError("Relation", calling_place(), problem, example)
        if len(sorts) < 2:
            instead = f"SetOf({sorts[0]})" if sorts else "two sorts or more"
            problem = f"it has {len(sorts) or 'no'} sort{'' if len(sorts) == 1 else 's'}"
            raise ModelError("Relation", calling_place(), problem, f"write {instead}")
        object.__setattr__(self, "sorts", sorts)

    def __str__(self) -> str:
        return f"set of ({', '.join(sort.name for sort in self.sorts)})"


Scalar = BoolType | IntRange | Integer | EnumType | Ref
"""The types of the values of a function."""


@declaration
@dataclass(frozen=True, init=False)
class Function:
    """A value for each object, or for each tuple of objects: a clock that a node has of every other node.

    An attribute of this type has its own object as a further argument: ``Attribute("clock", Function(Node, to=Nat))`` of
    ``Node`` is a number for each two nodes. It begins with the first value of ``to`` everywhere: false, the first name, none,
    the lowest number, or 0 of an ``Int``.

    Args:
        sorts: one sort or more, in the order in which ``f[a, b]`` and ``f.with_(a, b, to=value)`` take the objects.
        to: the type of the values: ``BoolType()``, an ``IntRange``, ``Int``, ``Nat``, an ``EnumType`` or a ``Ref``.
    """

    sorts: tuple[Sort, ...]
    to: Scalar

    def __init__(self, *sorts: Sort, to: Scalar | None = None) -> None:
        example = "write for example Function(Node, to=IntRange(0, 3))"
        for each in sorts:
            if not isinstance(each, Sort):
                raise ModelError("Function", calling_place(), f"{shown(each)} is not a sort", example)
        if not sorts:
            raise ModelError("Function", calling_place(), "it has no sort", example)
        if not isinstance(to, Scalar):
            problem = "it has no type of its values" if to is None else f"its values are {shown(to)}"
            remedy = "for a set of objects, write a Relation" if isinstance(to, SetOf | Relation) else example
            raise ModelError("Function", calling_place(), problem, remedy, name=None if to is None else "to")
        object.__setattr__(self, "sorts", sorts)
        object.__setattr__(self, "to", to)

    def __str__(self) -> str:
        return f"function of ({', '.join(sort.name for sort in self.sorts)}) to {self.to}"


@declaration
@dataclass(frozen=True)
class Sequence:
    """Values in an order: a queue, or a log whose entries have an index. It begins empty.

    ``s[i]`` is the item at index ``i``, from 0; ``length(s)``; ``s.append(x)``; ``s[:n]`` are the first ``n`` items, ``s[n:]`` those
    after them, as of a list in Python. Proofs and logs know no greatest length. An exploration takes no step to a sequence of
    more than ``at_most`` items, and its verdicts say so.

    Args:
        of: the type of the items: ``BoolType()``, an ``IntRange``, ``Int``, ``Nat``, an ``EnumType`` or a ``Ref``.
        at_most: the greatest length in an exploration.
    """

    of: Scalar
    at_most: int

    def __post_init__(self) -> None:
        example = "write for example Sequence(Nat, at_most=3)"
        if not isinstance(self.of, Scalar):
            remedy = f"write Sequence(Ref({self.of}), at_most=3)" if isinstance(self.of, Sort) else example
            raise ModelError("Sequence", calling_place(), f"its items are {shown(self.of)}", remedy, name="of")
        if type(self.at_most) is not int or self.at_most < 1:
            problem = f"at_most is {shown(self.at_most)}, not a number from 1"
            raise ModelError("Sequence", calling_place(), problem, example, name="at_most")

    def __str__(self) -> str:
        return f"sequence of {self.of}"


Type = BoolType | IntRange | Integer | EnumType | Ref | SetOf | Relation | Function | Sequence


def integer_of(kind: Type) -> Integer | None:
    """The integers without a bound that values of a type are, or that a function or a sequence has; None for all other types."""
    if isinstance(kind, Function):
        kind = kind.to
    if isinstance(kind, Sequence):
        kind = kind.of
    return kind if isinstance(kind, Integer) else None


def mentions(kind: Type, sort: str) -> bool:
    """Whether a value of a type may name an object of a sort."""
    match kind:
        case Ref(of) | SetOf(of):
            return of.name == sort
        case Relation(sorts):
            return any(of.name == sort for of in sorts)
        case Function(sorts, to):
            return any(of.name == sort for of in sorts) or mentions(to, sort)
        case Sequence(of):
            return mentions(of, sort)
        case _:
            return False
