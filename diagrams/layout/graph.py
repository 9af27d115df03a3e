"""A picture as plain data: the page's script lays it out and draws it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from schedproof.diagrams.dot import DASHED
from schedproof.diagrams.representation import Diagram, Edge, EdgeKind, Mark, Node
from schedproof.diagrams.style import (
    EDGE_WORDS,
    INK,
    MARKS,
    SQUARE,
    NodeStyle,
    alarm_words,
    colour,
    explained,
    in_lines,
    mark_words,
    node_styles,
    used_marks,
)


def graph(diagram: Diagram) -> dict[str, Any]:
    """The nodes, arrows and boxes of a picture, each with its look."""
    styles = node_styles(diagram)
    return {
        "ink": INK,
        "nodes": [_node(node, styles[node.name]) for node in diagram.nodes],
        "edges": [_edge(edge) for edge in diagram.edges],
        "boxes": [
            {"label": each.name, "nodes": list(each.nodes), "border": styles[each.nodes[0]].border}
            for each in (diagram.clusters if diagram.boxed else ())
        ],
    }


def _node(node: Node, style: NodeStyle) -> dict[str, Any]:
    is_removed = node.mark is Mark.REMOVED
    return {
        "id": node.name,
        "label": node.label,
        "details": list(node.details),
        "fill": "" if is_removed else style.fill,
        "border": MARKS.get(node.mark, style.border),
        "dashed": style.dashed or is_removed,
        "square": node.kind in SQUARE,
        "double": node.final,
        "thick": node.mark is Mark.ADDED or node.alarm,
        "initial": node.initial,
    }


def _edge(edge: Edge) -> dict[str, Any]:
    return {
        "source": edge.source,
        "target": edge.target,
        "lines": list(in_lines(edge.labels)),
        "notes": "; ".join(edge.notes),
        "colour": colour(edge),
        "dashed": edge.kind in DASHED or edge.mark is Mark.REMOVED,
        "barred": edge.kind is EdgeKind.PREVENTS,
        "thick": edge.mark is Mark.ADDED or edge.alarm,
    }


def legend(diagram: Diagram) -> Iterator[str]:
    """How to read the picture, a line for each sign."""
    for style in explained(diagram):
        yield f"{style.name}: {style.meaning}{' (dashed border)' if style.dashed else ''}"
    if any(node.final for node in diagram.nodes):
        yield "double border: final"
    kinds = {edge.kind for edge in diagram.edges}
    for kind, words in EDGE_WORDS.items():
        if kind in kinds:
            line = (
                "dashed line with a bar" if kind is EdgeKind.PREVENTS else "dashed arrow" if kind in DASHED else "arrow"
            )
            yield f"{line} from A to B: {words}"
    yield from (
        f"{'thick' if mark is Mark.ADDED else 'dashed, grey'}: {mark_words(diagram, mark)}"
        for mark in used_marks(diagram)
    )
    yield from filter(None, (diagram.note, alarm_words(diagram)))
