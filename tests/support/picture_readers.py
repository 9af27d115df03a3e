"""Readers of pictures that share no code with the renderers: Mermaid text, and DOT as graphviz lays it out."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import combinations

from schedproof.diagrams.dot import FONT
from schedproof.diagrams.render import render
from schedproof.diagrams.representation import Diagram, NodeKind

Arrow = tuple[str, str, str]
"""Source, event, target."""
Point = tuple[float, float]
Box = tuple[float, float, float, float]


def arrows(drawn: Diagram) -> set[Arrow]:
    """The arrows of a picture, one for each state that a box names, read off what is written in the box."""
    states = {node.name for node in drawn.nodes if node.kind in (NodeKind.STATE, NodeKind.PAIR)}
    boxes = {
        node.name: (node.label, _named(" ".join(node.details)) or states)
        for node in drawn.nodes
        if node.kind is NodeKind.GROUP
    }
    return _unfolded(((e.source, label, e.target) for e in drawn.edges for label in e.labels), boxes)


def _named(words: str) -> set[str]:
    return {name.strip() for name in words.split(",") if name.strip()}


def _unfolded(drawn: Iterable[Arrow], boxes: Mapping[str, tuple[str, set[str]]]) -> set[Arrow]:
    """Arrows that start at a box as arrows that start at each of its states, and end there if it says "each"."""
    result = set()
    for source, event, target in drawn:
        label, sources = boxes.get(source, ("", {source}))
        assert target not in boxes or (target == source and label.startswith("each"))
        result |= {(state, event, state if target in boxes else target) for state in sources}
    return result


def text(drawn: Diagram, format: str) -> str:
    rendered = render(drawn, format)
    assert isinstance(rendered, str)
    return rendered


def mermaid_arrows(source: str) -> set[Arrow]:
    """The arrows of a Mermaid state diagram, its ends left out."""
    labels = {ident: label for label, ident in re.findall(r'^\s*state "([^"]*)" as (\w+)$', source, re.MULTILINE)}
    boxes = {
        ident: (label, _named("".join(re.findall(r"\((.*)\)", label))))
        for ident, label in labels.items()
        if re.match(r"(any|each) (of|state)", label)
    }
    states = {ident for ident in labels if ident not in boxes}
    boxes = {ident: (label, named or states) for ident, (label, named) in boxes.items()}
    lines = re.findall(r"^\s*(\w+) --> (\w+) : (.+)$", source, re.MULTILINE)
    return _unfolded(((a, e.strip(), b) for a, b, label in lines for e in label.split("(")[0].split(",")), boxes)


def flowchart_arrows(source: str) -> dict[str, set[tuple[str, str]]]:
    """The arrows of a Mermaid flowchart, by their link."""
    names = {}
    for ident, label in re.findall(r'^\s*(\w+)\(?\["?([^"<]+)', source, re.MULTILINE):
        names[ident] = label.replace(" ", ".")
    links: dict[str, set[tuple[str, str]]] = {"-->": set(), "-. not .-x": set()}
    for a, link, b in re.findall(r"^\s*(\w+) (-->|-\. not \.-x) (\w+)$", source, re.MULTILINE):
        links[link].add((names[a], names[b]))
    return links


@dataclass(frozen=True)
class Laid:
    """A picture as graphviz lays it out, in points: boxes are (left, bottom, right, top)."""

    width: float
    nodes: dict[str, Box]
    edges: list[tuple[str, str, str, Box | None, list[Point]]]
    """Tail, head, label, box of the label, points of the curve; without the edge to the initial state."""


def laid_out(source: str) -> Laid:
    done = subprocess.run(["dot", "-Tjson"], input=source, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    graph = json.loads(done.stdout)
    names, nodes = {}, {}
    for node in graph["objects"]:
        if "pos" in node:
            names[node["_gvid"]] = node["name"]
            x, y = (float(number) for number in node["pos"].split(","))
            w, h = 36 * float(node["width"]), 36 * float(node["height"])
            nodes[node["name"]] = (x - w, y - h, x + w, y + h)
    edges = []
    for edge in graph.get("edges", []):
        texts = [op for op in edge.get("_ldraw_", []) if op["op"] == "T"]
        box = None
        for op in texts:
            (x, y), width = op["pt"], op["width"]
            left = x - width * {"l": 0, "c": 0.5, "r": 1}[op["align"]]
            line = (left, y - 2, left + width, y + 11)  # from base line to top of a capital, and a little air
            box = line if box is None else (*map(min, box[:2], line[:2]), *map(max, box[2:], line[2:]))
        curve = next(op["points"] for op in edge["_draw_"] if op["op"] in "bB")
        tail, head = names[edge["tail"]], names[edge["head"]]
        if tail != "(start)":
            edges.append((tail, head, " ".join(op["text"] for op in texts), box, _along(curve)))
    return Laid(float(graph["bb"].split(",")[2]), nodes, edges)


ALPHABET = "abcdefghijklmnopqrstuvwxyz"
HELVETICA = 12.726
"""How wide the alphabet is in Helvetica, of size 1; fonts that stand in for it are as wide."""


@cache
def stretch() -> float:
    """How wide letters are here, compared with Helvetica: graphviz takes another font where that is not installed."""
    size = 20
    page = f'digraph {{ a [label={ALPHABET} fontname="{FONT}" fontsize={size} shape=plain] }}'
    left, _, right, _ = laid_out(page + "\n").nodes["a"]
    return (right - left) / (HELVETICA * size)


def _along(curve: list[Point]) -> list[Point]:
    """Points on a chain of cubic Bezier curves."""
    points = []
    for start in range(0, len(curve) - 1, 3):
        ends = curve[start : start + 4]
        for step in range(41):
            t = step / 40
            weights = [(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3]
            points.append(
                tuple(sum(w * point[axis] for w, point in zip(weights, ends, strict=True)) for axis in (0, 1))
            )
    return [(x, y) for x, y in points]


def blemishes(laid: Laid) -> list[str]:
    """What keeps a reader from reading: labels and nodes over each other, arrows through either."""
    boxes = {**laid.nodes, **{f"{a}-{label}->{b}": box for a, b, label, box, _ in laid.edges if box}}
    problems = [
        f"{one} and {two} overlap"
        for (one, p), (two, q) in combinations(boxes.items(), 2)
        if p[0] < q[2] and q[0] < p[2] and p[1] < q[3] and q[1] < p[3]
    ]
    for tail, head, label, _, curve in laid.edges:
        for name, (left, bottom, right, top) in boxes.items():
            if name not in (tail, head) and any(left < x < right and bottom < y < top for x, y in curve):
                problems.append(f"{tail}-{label}->{head} runs through {name}")
    return problems
