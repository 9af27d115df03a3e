"""The node styles and the words of the legend that all renderers share.

Colour is never the only sign: line style or words repeat it, for readers and printers without colour.
Text is dark on light fills. Pictures have a white background of their own, so that they fit on a dark page.
"""

from __future__ import annotations

from dataclasses import dataclass

from schedproof.model.lang import Durability

from .representation import Diagram, Edge, EdgeKind, Mark, Node, NodeKind

PAPER, INK, QUIET = "#ffffff", "#1f2328", "#57606a"


@dataclass(frozen=True)
class NodeStyle:
    """How a node looks: a name, its ``meaning`` for the legend, fill and border."""

    name: str
    meaning: str
    fill: str
    border: str
    dashed: bool = False


STATES = {
    Durability.PERSISTENT: NodeStyle("persistent", "survives a crash", "#d9ebff", "#1f5fa8"),
    Durability.VOLATILE: NodeStyle("volatile", "lost in a crash", "#fff1cc", "#9a6700", dashed=True),
    Durability.DERIVED: NodeStyle("derived", "follows from what survives", "#e1f3e1", "#3f7a3f"),
}
PLAIN = NodeStyle("state", "", "#eef1f4", QUIET)
GROUP = NodeStyle("any / each of", "its arrow starts at each of the states named", PAPER, QUIET, dashed=True)
ACTION = NodeStyle("action", "where a step begins", "#e3e8ef", INK)
CRASH = NodeStyle("crash", "of the scheduler", "#ffe3e0", "#b3261e", dashed=True)
ALARM = NodeStyle("alarm", "", "#ffe3e0", "#b3261e")
"""The style of a warning: it is also thicker, and the legend explains it."""
PAIR = NodeStyle("pair", "", "#e1f3e1", "#3f7a3f")
OWNER = NodeStyle("owner", "", "#d9ebff", "#1f5fa8")
RESOURCE = NodeStyle("resource", "", "#fff1cc", "#9a6700")
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


def node_styles(diagram: Diagram) -> dict[str, NodeStyle]:
    """The style of each node, by its name, without marks."""
    groups = {
        name: NodeStyle(cluster.name, "" if diagram.boxed else "its events", *GROUPS[position % len(GROUPS)])
        for position, cluster in enumerate(diagram.clusters)
        for name in cluster.nodes
    }
    return {node.name: groups.get(node.name) or _style_of(node) for node in diagram.nodes}


def _style_of(node: Node) -> NodeStyle:
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


def explained(diagram: Diagram) -> tuple[NodeStyle, ...]:
    """The styles that a legend of ``diagram`` explains, each once, in the order of the nodes."""
    return tuple(node_style for node_style in dict.fromkeys(node_styles(diagram).values()) if node_style.meaning)


def used_marks(diagram: Diagram) -> tuple[Mark, ...]:
    """The marks that a legend of ``diagram`` explains."""
    marks = {node.mark for node in diagram.nodes} | {edge.mark for edge in diagram.edges}
    return tuple(mark for mark in MARKS if mark in marks)


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
