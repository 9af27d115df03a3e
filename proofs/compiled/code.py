"""The small imperative language that steps are compiled through: whole numbers, arrays, bit masks, loops.

Everything is a 64-bit integer; truth is 0 or 1. Jumps are structured: ``Leave`` ends the block of that label that it
stands in. What prints it (:mod:`.llvm`) knows nothing of models.
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
    """``left op right``; comparisons are signed and give 0 or 1, ``>>`` fills with zeros."""

    op: str
    left: Expr
    right: Expr


Expr = int | Local | Item | Binary


@dataclass(frozen=True, slots=True)
class Set:
    """A variable gets a value."""

    name: str
    value: Expr


@dataclass(frozen=True, slots=True)
class Put:
    """An element of an array gets a value."""

    array: str
    index: Expr
    value: Expr


@dataclass(frozen=True, slots=True)
class If:
    """``then`` if the condition is not 0."""

    condition: Expr
    then: Sequence[Stmt]


@dataclass(frozen=True, slots=True)
class Each:
    """``body`` for the number of each bit of ``mask``, from the lowest; the mask is read once."""

    name: str
    mask: Expr
    body: Sequence[Stmt]


@dataclass(frozen=True, slots=True)
class Count:
    """``body`` for each number from ``low`` to ``high``, both included; these are read once."""

    name: str
    low: Expr
    high: Expr
    body: Sequence[Stmt]


@dataclass(frozen=True, slots=True)
class Block:
    """``body``, which ``Leave`` of this label ends."""

    label: str
    body: Sequence[Stmt]


@dataclass(frozen=True, slots=True)
class Leave:
    """Goes on behind the enclosing block of this label."""

    label: str


Stmt = Set | Put | If | Each | Count | Block | Leave


@dataclass(frozen=True)
class Function:
    """A function of arrays (``pointers``) and numbers (``numbers``) that gives a number.

    Args:
        scratch: arrays of its own by name, with their lengths.
        tables: arrays that never change.
    """

    name: str
    pointers: Sequence[str]
    numbers: Sequence[str]
    body: Sequence[Stmt]
    result: Expr
    scratch: dict[str, int] = field(default_factory=dict)
    tables: dict[str, Sequence[int]] = field(default_factory=dict)


def leaves(body: Sequence[Stmt], label: str) -> bool:
    """Whether there is a jump out of the block of this label, around these statements."""
    inner = [s.then if isinstance(s, If) else s.body for s in body if isinstance(s, If | Each | Count | Block)]
    return any(isinstance(s, Leave) and s.label == label for s in body) or any(leaves(each, label) for each in inner)


def binary(op: str, left: Expr, right: Expr) -> Expr:
    """``left op right``, computed here where that needs no machine."""
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
    """1 for 0, and 0 for 1."""
    return binary("^", truth, 1)


def member(mask: Expr, number: Expr) -> Expr:
    """Whether the mask has the bit of this number, which is not negative."""
    return binary("&", binary(">>", mask, number), 1)
