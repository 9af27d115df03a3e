"""Lays out calls and lists of Python as ``ruff format`` does: in one line, with the items in one line, or a line for each item."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

WIDTH = 120


@dataclass(frozen=True)
class Group:
    """A call or a list: ``opening`` ends with its bracket, which ``closing`` closes."""

    opening: str
    items: Sequence[Item]
    closing: str

    def __str__(self) -> str:
        return f"{self.opening}{', '.join(map(str, self.items))}{self.closing}"


Item = str | Group
"""A piece of Python: plain text is never broken."""


def call(name: str, *items: Item) -> Group:
    """A call."""
    return Group(f"{name}(", items, ")")


def listing(items: Sequence[Item], name: str = "") -> Group:
    """A list, or a keyword argument that is one."""
    return Group(f"{name}=[" if name else "[", items, "]")


def laid_out(item: Item, indent: str = "", after: str = "") -> list[str]:
    """The lines of a piece of Python; ``after`` follows it."""
    line = f"{indent}{item}{after}"
    if len(line) <= WIDTH or isinstance(item, str):
        return [line]
    inside = f"{indent}    {', '.join(map(str, item.items))}"
    if len(inside) <= WIDTH:
        body = [inside]
    else:
        body = [line for each in item.items for line in laid_out(each, f"{indent}    ", ",")]
    return [f"{indent}{item.opening}", *body, f"{indent}{item.closing}{after}"]
