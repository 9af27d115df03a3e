"""A picture as DOT text, for graphviz."""

from __future__ import annotations

from html import escape
from textwrap import wrap

import graphviz

from .representation import Diagram, Edge, EdgeKind, Mark, Node, NodeKind
from .style import (
    ALARM,
    ARROWS,
    EDGE_WORDS,
    INK,
    MARKS,
    PAPER,
    QUIET,
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

FONT = "Helvetica,Arial,sans-serif"
"""A font family whose widths graphviz knows without font libraries, so that it prints no warnings."""

DASHED = (EdgeKind.PREVENTS, EdgeKind.WAITS_FOR, EdgeKind.ASIDE)

WIDEST = 80
"""The characters in a line of the legend."""

START = "(start)"
"""The name of the dot from which an arrow leads to the initial state. No state has this name."""


def dot(diagram: Diagram) -> str:
    """``diagram`` as DOT text: deterministic, and without the graphviz program.

    Colours distinguish clusters; boxes enclose them only if the picture asks for them.
    In a cascade the events of two machines alternate, so boxes around each machine's events would tangle the arrows.
    """
    cascade = any(node.kind in (NodeKind.ACTION, NodeKind.EVENT) for node in diagram.nodes)
    graph = graphviz.Digraph()
    graph.attr(
        "graph",
        bgcolor=PAPER,
        fontname=FONT,
        fontcolor=INK,
        fontsize="13",
        label=_caption(diagram),
        labelloc="b",
        nodesep="0.2" if cascade else "0.5",
        pad="0.2",
        rankdir="LR",
        ranksep="0.7" if cascade else "0.55",
        tooltip=diagram.title,
    )
    graph.attr("node", fontname=FONT, fontcolor=INK, fontsize="14", shape="box")
    graph.attr("edge", fontname=FONT, fontsize="13", arrowsize="0.8")
    styles = node_styles(diagram)
    with graph.subgraph() as column:
        # A step reads from left to right: the actions are in the first column.
        roots = [node for node in diagram.nodes if node.kind in (NodeKind.ACTION, NodeKind.CRASH)]
        column.attr(rank="min")
        for node in roots:
            _node(column, node, styles[node.name])
    for node in diagram.nodes:
        if node not in roots:
            _node(graph, node, styles[node.name])
    if diagram.boxed:
        for number, cluster in enumerate(diagram.clusters):
            with graph.subgraph(name=f"cluster_{number}") as box:
                border = styles[cluster.nodes[0]].border
                box.attr(
                    label=f"<<b>{escape(cluster.name)}</b>>",
                    color=border,
                    fontcolor=border,
                    labelloc="t",
                    labeljust="l",
                    style="rounded",
                    margin="14",
                )
                for name in cluster.nodes:
                    box.node(name)
    for node in diagram.nodes:
        if node.initial:
            graph.node(START, label="", shape="circle", style="filled", fillcolor=INK, width="0.16", tooltip="initial")
            graph.edge(START, node.name, color=INK)
    for edge in diagram.edges:
        _edge(graph, edge)
    return str(graph.source)


def _node(graph: graphviz.Digraph, node: Node, node_style: NodeStyle) -> None:
    is_removed = node.mark is Mark.REMOVED
    styles = ["filled"] if node.kind in SQUARE else ["rounded", "filled"]
    graph.node(
        node.name,
        label=_label(node, MARKS[node.mark] if is_removed else INK),
        style=",".join([*styles, "dashed"] if node_style.dashed or is_removed else styles),
        fillcolor=PAPER if is_removed else node_style.fill,
        color=MARKS.get(node.mark, node_style.border),
        penwidth="2.5" if node.mark is Mark.ADDED or node.alarm else "1.3",
        peripheries="2" if node.final else "1",
        tooltip=", ".join([node.label, *node.details, *(["initial"] * node.initial), *(["final"] * node.final)]),
    )


def _label(node: Node, ink: str) -> str:
    small = "".join(f'<br/><font point-size="11" color="{QUIET}">{escape(line)}</font>' for line in node.details)
    return f'<<font color="{ink}"><b>{escape(node.label)}</b></font>{small}>'


def _edge(graph: graphviz.Digraph, edge: Edge) -> None:
    ink, notes = colour(edge), "; ".join(edge.notes)
    words = "<br/>".join(escape(line) for line in in_lines(edge.labels))
    attributes = {
        # The padding keeps the text off the lines.
        "label": words and f'<<table border="0" cellpadding="4"><tr><td>{words}</td></tr></table>>',
        "color": ink,
        "fontcolor": ink,
        "tooltip": notes,
        "labeltooltip": notes,
        "arrowhead": "tee" if edge.kind is EdgeKind.PREVENTS else "normal",
        "style": "dashed" if edge.kind in DASHED or edge.mark is Mark.REMOVED else "solid",
        "penwidth": "2" if edge.mark is Mark.ADDED or edge.alarm else "1.1",
    }
    graph.edge(edge.source, edge.target, **{key: value for key, value in attributes.items() if value})


def _caption(diagram: Diagram) -> str:
    """Title and legend as the graph's own label, so that they do not affect the layout."""
    boxes = [
        f'<td bgcolor="{node_style.fill}" border="1" color="{node_style.border}"{" style=" + chr(34) + "dashed" + chr(34) if node_style.dashed else ""}>'
        f"{escape(node_style.name)}</td><td>{escape(node_style.meaning)}   </td>"
        for node_style in explained(diagram)
    ]
    if any(node.final for node in diagram.nodes):
        boxes.append("<td>double border: final</td>")
    kinds = {edge.kind for edge in diagram.edges}
    signs = {
        EdgeKind.CAUSES: "A → B",
        EdgeKind.PREVENTS: "A - -| B",
        EdgeKind.HELD_BY: "A → B",
        EdgeKind.WAITS_FOR: "A - → B",
    }
    arrows = [_words(f"{sign}: {EDGE_WORDS[kind]}", ARROWS[kind]) for kind, sign in signs.items() if kind in kinds]
    arrows += [_words(mark_words(diagram, mark), MARKS[mark]) for mark in used_marks(diagram)]
    rows = [f'<td height="26" valign="bottom"><b>{escape(diagram.title)}</b></td>']
    rows += [f"<td>{_row(cells)}</td>" for cells in (boxes, arrows) if cells]
    for text, ink in ((diagram.note, QUIET), (alarm_words(diagram), ALARM.border)):
        lines = wrap(text, WIDEST, break_on_hyphens=False)
        rows += [f'<td><font color="{ink}">{escape(line)}</font></td>' for line in lines]
    table = "".join(f"<tr>{row}</tr>" for row in rows)
    return f'<<table border="0" cellborder="0" cellspacing="2">{table}</table>>'


def _words(text: str, ink: str) -> str:
    return f'<td><font color="{ink}">{escape(text)}   </font></td>'


def _row(cells: list[str]) -> str:
    return f'<table border="0" cellborder="0" cellspacing="4" cellpadding="2"><tr>{"".join(cells)}</tr></table>'
