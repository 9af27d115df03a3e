"""Folds arrows of one event into one arrow from a box that lists the source states.

A cancellation from each of seven states, or a change of condition from every state, would hide the rest of a picture.
No information is lost: the box lists every state that it stands for.
"""

from __future__ import annotations

from dataclasses import replace

from .representation import Diagram, Edge, EdgeKind, Mark, Node, NodeKind
from .style import in_lines

FEWEST, FEWEST_LOOPS = 4, 3
"""The fewest arrows of one event that are folded: arrows into one state, and arrows from states back to themselves."""

ANY = "any of"
EACH = "each of"
"""The heading of the box: its arrows lead to one state, or each state leads back to itself."""

STATES = (NodeKind.STATE, NodeKind.PAIR)

Key = tuple[str | None, str, Mark]
"""The key of arrows that are folded into one: target (None: each leads back to its source), event and mark."""


def folded(diagram: Diagram) -> Diagram:
    """``diagram`` with one arrow for each event that leads from many states to one, or from many to themselves.

    Arrows from the same states share a box. Only transitions between states are folded.
    Call this before :func:`merged`, while each arrow has one label.
    """
    states = [node.name for node in diagram.nodes if node.kind in STATES]
    together: dict[Key, list[Edge]] = {}
    loops: dict[Key, list[Edge]] = {}
    for edge in diagram.edges:
        if edge.kind is EdgeKind.TRANSITION:
            event = ", ".join(edge.labels)
            together.setdefault((edge.target, event, edge.mark), []).append(edge)
            if edge.source == edge.target:
                loops.setdefault((None, event, edge.mark), []).append(edge)
    boxes: dict[tuple[str, tuple[str, ...], Mark], Node] = {}
    arrows: list[Edge] = []
    replaced: set[int] = set()
    for (target, _, mark), parallel in [*loops.items(), *together.items()]:
        parallel = [edge for edge in parallel if id(edge) not in replaced]
        if len(parallel) < (FEWEST_LOOPS if target is None else FEWEST):
            continue
        replaced |= {id(edge) for edge in parallel}
        sources = tuple(name for name in states if name in {edge.source for edge in parallel})
        heading = EACH if target is None else ANY
        # Loops of two marks at one box would overlap each other's labels.
        key = heading, sources, mark if target is None else Mark.SAME
        box = boxes.setdefault(key, _box(heading, sources, diagram, len(boxes)))
        notes = tuple(dict.fromkeys(note for edge in parallel for note in edge.notes))
        arrows.append(replace(parallel[0], source=box.name, target=target or box.name, notes=notes))
    kept = tuple(edge for edge in diagram.edges if id(edge) not in replaced)
    return replace(diagram, nodes=(*diagram.nodes, *boxes.values()), edges=(*kept, *arrows))


def unfolded(diagram: Diagram) -> Diagram:
    """``diagram`` without boxes: with an arrow for each state that a box stands for."""
    members = {node.name: node.members for node in diagram.nodes if node.kind is NodeKind.GROUP}
    edges = tuple(
        replace(edge, source=source, target=source if edge.target in members else edge.target)
        for edge in diagram.edges
        for source in members.get(edge.source, (edge.source,))
    )
    return replace(diagram, nodes=tuple(n for n in diagram.nodes if n.name not in members), edges=edges)


def _box(heading: str, sources: tuple[str, ...], diagram: Diagram, number: int) -> Node:
    kinds = [node.kind for node in diagram.nodes if node.kind in STATES]
    what = kinds[0].value
    every = len(sources) == len(kinds)
    label = f"{heading.split()[0]} {what}" if every else f"{heading} {len(sources)} {what}s"
    details = () if every else in_lines(sources, 30)
    return Node(f"({heading} {number})", label, NodeKind.GROUP, details=details, members=sources)
