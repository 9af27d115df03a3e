"""A tree of questions about a state, as one compiled Python function: no loop, and no call for a question."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

Compiled = Callable[[Sequence[int], tuple[int, ...]], Any]
"""A function of a state and of offsets."""

Node = tuple[int, int, Any, "dict[int, Node]", str]
"""The slot to read, or -1; the position of its offset; else the question as a function; the next node for each answer.

Last, the question as an expression of ``state`` and ``at``. A leaf has no next node: the question is the tree's value.
"""

MISSING = object()
"""What a compiled tree returns if it lacks an answer."""

MOST_WAYS = 8
"""A question with more answers looks them up in a dictionary."""

DEEPEST = 200
"""A tree with a longer path is not compiled."""


def compiled(tree: Node) -> Compiled | None:
    """The tree as one function; None if it is too deep."""
    leaves = dict[int, int]()
    try:
        _count(tree, leaves, DEEPEST)
    except OverflowError:
        return None
    return _Writer(leaves).function(tree)


def _count(node: Node, leaves: dict[int, int], deepest: int) -> int:
    """Counts the leaves below each node.

    Raises:
        OverflowError: a path is longer than ``deepest``.
    """
    if not deepest:
        raise OverflowError
    ways = node[3]
    leaves[id(node)] = sum([_count(way, leaves, deepest - 1) for way in ways.values()]) if ways else 1
    return leaves[id(node)]


class _Writer:
    """Writes the functions of a tree.

    Args:
        leaves: how many leaves are below each node, by its ``id``.
    """

    def __init__(self, leaves: dict[int, int]) -> None:
        self._leaves = leaves
        self._names: dict[str, object] = {"MISSING": MISSING}

    def function(self, tree: Node) -> Compiled:
        lines: list[str] = []
        self._write(tree, " ", lines)
        body, offsets = "\n".join(lines), list[str]()
        while f"at[{len(offsets) + 1}]" in body:
            offsets.append(f"a{len(offsets) + 1}")
            body = body.replace(f"at[{len(offsets)}]", offsets[-1])
        start = [f" {name} = at[{n}]" for n, name in enumerate(offsets, 1)]
        code = "\n".join(["def function(state, at):", *start, body])
        names = dict(self._names)
        exec(code, names)
        return names["function"]  # type: ignore[return-value]

    def _write(self, node: Node, indent: str, lines: list[str]) -> None:
        """Writes a node. The way with the most leaves is not indented, so that few levels are."""
        ways, source = node[3:]
        while ways:
            if len(ways) > MOST_WAYS:
                name = f"ways{len(self._names)}"
                self._names[name] = {}
                self._names[name] = {answer: self.function(way) for answer, way in ways.items()}
                lines.append(f"{indent}way = {name}.get({source})")
                lines.append(f"{indent}return MISSING if way is None else way(state, at)")
                return
            *others, (answer, last) = sorted(ways.items(), key=lambda way: self._leaves[id(way[1])])
            if others:
                lines.append(f"{indent}answer = {source}")
                source = "answer"
            for each, way in others:
                lines.append(f"{indent}if answer == {each}:")
                self._write(way, indent + " ", lines)
            lines.append(f"{indent}if ({source}) != {answer}: return MISSING")
            ways, source = last[3:]
        lines.append(f"{indent}return {source}")
