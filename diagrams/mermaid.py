"""A picture as Mermaid text: a state diagram for a machine, a flowchart for triggers and charts.

A chart needs dashed arrows, which Mermaid's state diagrams lack.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import count
from textwrap import wrap

from .representation import Diagram, Edge, EdgeKind, Mark, Node, NodeKind
from .style import INK, MARKS, PAPER, QUIET, SQUARE, NodeStyle, alarm_words, colour, in_lines, mark_words, node_styles

LINKS = {EdgeKind.PREVENTS: "-. not .-x", EdgeKind.WAITS_FOR: "-.->", EdgeKind.ASIDE: "-.->"}
"""The links of a flowchart that are not plain arrows."""

RESERVED = {
    "accdescr", "acctitle", "as", "class", "classdef", "click", "default", "direction", "end", "flowchart", "graph",
    "linkstyle", "note", "state", "style", "subgraph",
}  # fmt: skip
"""Words of Mermaid that cannot name a node, in lower case."""


def mermaid(diagram: Diagram) -> str:
    """``diagram`` as Mermaid text; deterministic."""
    ids = identifiers(node.name for node in diagram.nodes)
    states = all(node.kind in (NodeKind.STATE, NodeKind.GROUP) for node in diagram.nodes)
    body = _state_diagram(diagram, ids) if states and not diagram.boxed else _flowchart(diagram, ids)
    title = diagram.title.replace('"', "'")
    return "\n".join(["---", f'title: "{title}"', "---", *body, ""])


def identifiers(names: Iterable[str]) -> dict[str, str]:
    """A Mermaid identifier for each name: letters, digits and underscores; all are different."""
    by_name: dict[str, str] = {}
    for name in names:
        plain = re.sub(r"\W", "_", name, flags=re.ASCII)
        while plain.lower() in RESERVED or plain in by_name.values():
            plain += "_"
        by_name[name] = plain
    return by_name


def _state_diagram(diagram: Diagram, ids: dict[str, str]) -> list[str]:
    lines = ["stateDiagram-v2", "    direction LR"]
    for node in diagram.nodes:
        details = (" ".join(node.details),) if node.kind is NodeKind.GROUP and node.details else node.details
        words = [*details, *_mark(diagram, node.mark)]
        more = f" ({', '.join(words)})" if words else ""
        lines.append(f'    state "{_quoted(node.label)}{more}" as {ids[node.name]}')
    lines += [f"    [*] --> {ids[node.name]}" for node in diagram.nodes if node.initial]
    for edge in diagram.edges:
        # Mermaid's state diagrams have no coloured arrows: marks are words.
        more = "".join(f" ({word})" for word in _mark(diagram, edge.mark))
        lines.append(f"    {ids[edge.source]} --> {ids[edge.target]} : {_quoted(', '.join(edge.labels))}{more}")
    lines += [f"    {ids[node.name]} --> [*]" for node in diagram.nodes if node.final]
    return lines + _classes(diagram, ids)


def _flowchart(diagram: Diagram, ids: dict[str, str]) -> list[str]:
    lines = ["flowchart LR"]
    for node in diagram.nodes:
        text = "<br/>".join(_quoted(line) for line in (node.label, *node.details, *_mark(diagram, node.mark)))
        left, right = ("[", "]") if node.kind in SQUARE else ("([", "])")
        lines.append(f'    {ids[node.name]}{left}"{text}"{right}')
    lines += _boxes(diagram, ids)
    links = []
    for number, edge in enumerate(diagram.edges):
        words = "<br/>".join(_quoted(line) for line in in_lines(edge.labels))
        link = LINKS.get(edge.kind, "-->") + (f'|"{words}"|' if words else "")
        lines.append(f"    {ids[edge.source]} {link} {ids[edge.target]}")
        if (ink := colour(edge)) != INK:
            links.append(f"    linkStyle {number} stroke:{ink},color:{ink}{_width(edge)}")
    return lines + _ends(diagram, ids) + links + _classes(diagram, ids) + _legend(diagram, ids)


def _boxes(diagram: Diagram, ids: dict[str, str]) -> list[str]:
    """A box around each cluster, if the picture asks for boxes."""
    lines = []
    for number, cluster in enumerate(diagram.clusters if diagram.boxed else ()):
        inside = [f"        {ids[name]}" for name in cluster.nodes]
        name, border = _free(f"box{number}", ids), node_styles(diagram)[cluster.nodes[0]].border
        lines += [f'    subgraph {name}["{_quoted(cluster.name)}"]', *inside, "    end"]
        lines.append(f"    style {name} fill:{PAPER},stroke:{border},color:{border}")
    return lines


def _ends(diagram: Diagram, ids: dict[str, str]) -> list[str]:
    """Lines for a start dot with arrows to the initial states, and a ring with arrows from the final states.

    These arrows must come last, since Mermaid styles arrows by number.
    """
    lines = []
    for what, shape, fill in (("begin", '((" "))', INK), ("over", '(((" ")))', PAPER)):
        name = _free(what, ids)
        ends = [ids[node.name] for node in diagram.nodes if (node.initial if what == "begin" else node.final)]
        if ends:
            lines += [f"    {name}{shape}", f"    style {name} fill:{fill},stroke:{INK}"]
            lines += [f"    {name} --> {each}" if what == "begin" else f"    {each} --> {name}" for each in ends]
    return lines


def _free(name: str, ids: dict[str, str]) -> str:
    """``name``, or one like it that is not the identifier of a node."""
    return next(n for n in (f"{name}{'_' * i}" for i in count()) if n not in ids.values())


def _legend(diagram: Diagram, ids: dict[str, str]) -> list[str]:
    """The note and alarm of a picture, as a box below it."""
    remarks = [text for text in (diagram.note, alarm_words(diagram)) if text]
    if not remarks:
        return []
    name = _free("legend", ids)
    words = "<br/>".join(_quoted(line) for text in remarks for line in wrap(text, 60, break_on_hyphens=False))
    return [f'    {name}["{words}"]', f"    style {name} fill:{PAPER},stroke:none,color:{QUIET}"]


def _width(edge: Edge) -> str:
    return (
        ",stroke-width:3px"
        if edge.mark is Mark.ADDED or edge.alarm
        else ",stroke-dasharray:6 4"
        if edge.mark is Mark.REMOVED
        else ""
    )


def _mark(diagram: Diagram, mark: Mark) -> list[str]:
    return [] if mark is Mark.SAME else [mark_words(diagram, mark)]


def _quoted(text: str) -> str:
    """``text`` with the characters that end or change a Mermaid label written as entities."""
    return re.sub(r"[\"#;<>:`{}|\[\]()]", lambda match: f"#{ord(match.group())};", text)


def _classes(diagram: Diagram, ids: dict[str, str]) -> list[str]:
    """One class for each style, and one for each mark."""
    members: dict[tuple[str, str], list[str]] = {}
    for node in diagram.nodes:
        node_style = node_styles(diagram)[node.name]
        members.setdefault(_class_of(node_style, node), []).append(ids[node.name])
    lines = [f"    classDef {name} {style}" for name, style in members]
    return lines + [
        f"    class {','.join(identifiers_of_class)} {name}" for (name, _), identifiers_of_class in members.items()
    ]


def _class_of(node_style: NodeStyle, node: Node) -> tuple[str, str]:
    """Name and style of the class of a node."""
    is_removed = node.mark is Mark.REMOVED
    border = MARKS.get(node.mark, node_style.border)
    style = f"fill:{PAPER if is_removed else node_style.fill},stroke:{border},color:{border if is_removed else INK}"
    style += ",stroke-dasharray:6 4" if node_style.dashed or is_removed else ""
    style += ",stroke-width:3px" if node.mark is Mark.ADDED or node.alarm else ""
    name = re.sub(r"\W", "_", node_style.name, flags=re.ASCII) + "Look"
    return (name if node.mark is Mark.SAME else f"{name}_{node.mark.value}"), style
