"""The looks and the words of the legend that all renderers share.

Colour is never the only sign: line style or words repeat it, for readers and printers without colour.
Text is dark on light fills. Pictures have a white background of their own, so that they fit on a dark page.
"""

from __future__ import annotations

from dataclasses import dataclass

from schedproof.model.lang import Durability

from .representation import Diagram, Edge, EdgeKind, Mark, Node, NodeKind

PAPER, INK, QUIET = "#ffffff", "#1f2328", "#57606a"


@dataclass(frozen=True)
class Look:
    """How a node looks: a name, its ``meaning`` for the legend, fill and border."""

    name: str
    meaning: str
    fill: str
    border: str
    dashed: bool = False


STATES = {
    Durability.PERSISTENT: Look("persistent", "survives a crash", "#d9ebff", "#1f5fa8"),
    Durability.VOLATILE: Look("volatile", "lost in a crash", "#fff1cc", "#9a6700", dashed=True),
    Durability.DERIVED: Look("derived", "follows from what survives", "#e1f3e1", "#3f7a3f"),
}
PLAIN = Look("state", "", "#eef1f4", QUIET)
GROUP = Look("any / each of", "its arrow starts at each of the states named", PAPER, QUIET, dashed=True)
ACTION = Look("action", "where a step begins", "#e3e8ef", INK)
CRASH = Look("crash", "of the scheduler", "#ffe3e0", "#b3261e", dashed=True)
ALARM = Look("alarm", "", "#ffe3e0", "#b3261e")
"""The look of a warning: it is also thicker, and the legend explains it."""
PAIR = Look("pair", "", "#e1f3e1", "#3f7a3f")
OWNER = Look("owner", "", "#d9ebff", "#1f5fa8")
RESOURCE = Look("resource", "", "#fff1cc", "#9a6700")
GROUPS = (
    ("#d9ebff", "#1f5fa8"), ("#fff1cc", "#9a6700"), ("#e1f3e1", "#3f7a3f"), ("#eee3fa", "#6b3fa0"), ("#d5f2f0", "#1b7a74"),
    ("#fde3ef", "#a8326b"), ("#e9ebc8", "#6c6f1c"), ("#f3e3d6", "#8a4b1d"),
)  # fmt: skip
"""Fill and border of the clusters in order; they repeat if there are more clusters."""

SQUARE = (NodeKind.EVENT, NodeKind.RESOURCE)
"""The kinds of nodes that are drawn with corners; all others are round."""

ARROWS = {
    EdgeKind.TRANSITION: INK, EdgeKind.CAUSES: INK, EdgeKind.PREVENTS: "#b3261e",
    EdgeKind.HELD_BY: INK, EdgeKind.WAITS_FOR: QUIET, EdgeKind.MAY_ACQUIRE: INK,
    EdgeKind.SENDS: INK, EdgeKind.ASIDE: QUIET,
}  # fmt: skip
MARKS = {Mark.ADDED: "#1a7f37", Mark.REMOVED: "#6e7781"}
EDGE_WORDS = {
    EdgeKind.CAUSES: "A causes B",
    EdgeKind.PREVENTS: "B happens only where A does not",
    EdgeKind.HELD_BY: "A is held by B",
    EdgeKind.WAITS_FOR: "A waits for B",
    EdgeKind.SENDS: "A sends to B",
    EdgeKind.MAY_ACQUIRE: "who holds A may acquire B",
}


def looks(diagram: Diagram) -> dict[str, Look]:
    """The look of each node, by its name, without marks."""
    groups = {
        name: Look(cluster.name, "" if diagram.boxed else "its events", *GROUPS[position % len(GROUPS)])
        for position, cluster in enumerate(diagram.clusters)
        for name in cluster.nodes
    }
    return {node.name: groups.get(node.name) or _look(node) for node in diagram.nodes}


def _look(node: Node) -> Look:
    if node.alarm:
        return ALARM
    match node.kind:
        case NodeKind.ACTION:
            return ACTION
        case NodeKind.CRASH:
            return CRASH
        case NodeKind.GROUP:
            return GROUP
        case NodeKind.PAIR:
            return PAIR
        case NodeKind.OWNER:
            return OWNER
        case NodeKind.RESOURCE:
            return RESOURCE
        case _:
            return PLAIN if node.durability is None else STATES[node.durability]


def explained(diagram: Diagram) -> tuple[Look, ...]:
    """The looks that a legend of ``diagram`` explains, each once, in the order of the nodes."""
    return tuple(look for look in dict.fromkeys(looks(diagram).values()) if look.meaning)


def used_marks(diagram: Diagram) -> tuple[Mark, ...]:
    """The marks that a legend of ``diagram`` explains."""
    found = {node.mark for node in diagram.nodes} | {edge.mark for edge in diagram.edges}
    return tuple(mark for mark in MARKS if mark in found)


def mark_words(diagram: Diagram, mark: Mark) -> str:
    """The meaning of a mark, for example "added since as-written"."""
    return f"{mark.value} since {diagram.since}"


def alarm_words(diagram: Diagram) -> str:
    """The explanation of the warnings for the legend; "" if the picture has none."""
    if not any(node.alarm for node in diagram.nodes) and not any(edge.alarm for edge in diagram.edges):
        return ""
    return f"thick and red: {diagram.alarm}"


def colour(edge: Edge) -> str:
    """The colour of an arrow: the alarm's, its mark's, or its kind's."""
    return ALARM.border if edge.alarm else MARKS.get(edge.mark, ARROWS[edge.kind])


def in_lines(labels: tuple[str, ...], width: int = 24) -> tuple[str, ...]:
    """Labels joined by commas, in lines of about ``width`` characters."""
    lines: list[str] = []
    for label in labels:
        if lines and len(lines[-1]) + len(label) + 2 <= width:
            lines[-1] += f", {label}"
        else:
            if lines:
                lines[-1] += ","
            lines.append(label)
    return tuple(lines)
