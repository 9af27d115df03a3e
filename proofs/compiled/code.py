"""The small imperative language into which steps are compiled: integers, arrays, bit masks and loops.

Every value is a 64-bit integer; truth values are 0 and 1. Jumps are structured: ``Leave`` ends the enclosing block of its label.
The code generator (:mod:`.llvm`) knows nothing of models.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Local:
    """The value of a variable."""

    name: str


@dataclass(frozen=True, slots=True)
class Item:
    """An element of an array."""

    array: str
    index: Expr


@dataclass(frozen=True, slots=True)
class Binary:
    """``left op right``; comparisons are signed and give 0 or 1, ``>>`` shifts in zeros."""

    op: str
    left: Expr
    right: Expr


Expr = int | Local | Item | Binary


@dataclass(frozen=True, slots=True)
class Set:
    """Assigns to a variable."""

    name: str
    value: Expr


@dataclass(frozen=True, slots=True)
class Put:
    """Assigns to an element of an array."""

    array: str
    index: Expr
    value: Expr


@dataclass(frozen=True, slots=True)
class If:
    """Runs ``then`` if the condition is not 0."""

    condition: Expr
    then: Sequence[Stmt]


@dataclass(frozen=True, slots=True)
class Each:
    """Runs ``body`` for the number of each bit of ``mask``, from the lowest; evaluates the mask once."""

    name: str
    mask: Expr
    body: Sequence[Stmt]


@dataclass(frozen=True, slots=True)
class Count:
    """Runs ``body`` for each number from ``low`` to ``high``, both included; evaluates the bounds once."""

    name: str
    low: Expr
    high: Expr
    body: Sequence[Stmt]


@dataclass(frozen=True, slots=True)
class Block:
    """Runs ``body``; ``Leave`` of this label ends it."""

    label: str
    body: Sequence[Stmt]


@dataclass(frozen=True, slots=True)
class Leave:
    """Jumps behind the enclosing block of this label."""

    label: str


Stmt = Set | Put | If | Each | Count | Block | Leave


@dataclass(frozen=True)
class Function:
    """A function of arrays (``pointers``) and numbers (``numbers``) that returns a number.

    Args:
        scratch: local arrays by name, with their lengths.
        tables: constant arrays by name.
    """

    name: str
    pointers: Sequence[str]
    numbers: Sequence[str]
    body: Sequence[Stmt]
    result: Expr
    scratch: dict[str, int] = field(default_factory=dict)
    tables: dict[str, Sequence[int]] = field(default_factory=dict)


def leaves(body: Sequence[Stmt], label: str) -> bool:
    """Whether the statements jump out of an enclosing block of this label."""
    inner = [s.then if isinstance(s, If) else s.body for s in body if isinstance(s, If | Each | Count | Block)]
    return any(isinstance(s, Leave) and s.label == label for s in body) or any(leaves(each, label) for each in inner)


def binary(op: str, left: Expr, right: Expr) -> Expr:
    """``left op right``, evaluated at compile time where possible."""
    if isinstance(left, int) and isinstance(right, int):
        return _COMPUTED[op](left, right)
    if op in "&*" and 0 in (left, right):
        return 0
    if op in "|+^" and left == 0:
        return right
    if op in ("|", "+", "-", "^", "<<", ">>") and right == 0:
        return left
    return Binary(op, left, right)


_COMPUTED: dict[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "<<": lambda a, b: a << b,
    ">>": lambda a, b: a >> b,
    "==": lambda a, b: int(a == b),
    "!=": lambda a, b: int(a != b),
    "<": lambda a, b: int(a < b),
    "<=": lambda a, b: int(a <= b),
}


def bit(number: Expr) -> Expr:
    """The mask of one object."""
    return binary("<<", 1, number)


def negated(truth: Expr) -> Expr:
    """The negation of a truth value: 1 for 0, and 0 for 1."""
    return binary("^", truth, 1)


def member(mask: Expr, number: Expr) -> Expr:
    """Whether the mask has the bit of this number, which must not be negative."""
    return binary("&", binary(">>", mask, number), 1)
