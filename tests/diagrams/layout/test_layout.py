"""Graphs that a page lays out: every node and arrow is drawn, nothing overlaps, and the library is the one that is pinned."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from schedproof.diagrams.from_model import diagram, picture_names
from schedproof.diagrams.layout import layout_scripts, vendored
from schedproof.diagrams.layout.graph import graph, legend
from schedproof.diagrams.player.page import embedded
from schedproof.diagrams.representation import Diagram, Edge, EdgeKind, Mark, Node, NodeKind
from schedproof.model.registry.discovery import systems
from schedproof.model.systems.hived import AS_WRITTEN, REPAIRED
from tests.support.browsing import Opened
from tests.support.needs import needs_chromium

DRAW = "document.body.append(drawGraph(JSON.parse(document.getElementById('data').textContent)));"


def page(data: Any) -> str:
    scripts = "".join(f"<script>{script}</script>" for script in (*layout_scripts(), DRAW))
    return f'<!DOCTYPE html><body><script type="application/json" id="data">{embedded(data)}</script>{scripts}'


def test_nobody_has_edited_the_library() -> None:
    assert hashlib.sha256(vendored.SCRIPT.read_bytes()).hexdigest() == vendored.DIGEST
    assert vendored.SCRIPT.read_text("utf-8").startswith(
        f"/* {vendored.PACKAGE} {vendored.VERSION}, {vendored.LICENCE}"
    )
    assert "Permission is hereby granted" in vendored.LICENCE_FILE.read_text("utf-8")
    assert vendored.SCRIPT.stat().st_size < 62_000


@pytest.mark.long(seconds=5)
def test_the_library_is_what_the_registry_has(tmp_path: Path) -> None:
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    try:
        archive = vendored.download(tmp_path)
    except subprocess.CalledProcessError:
        pytest.skip("the npm registry cannot be reached")
    assert vendored.built(archive) == (vendored.SCRIPT.read_text("utf-8"), vendored.LICENCE_FILE.read_text("utf-8"))


def test_another_archive_is_refused(tmp_path: Path) -> None:
    archive = tmp_path / "dagre.tgz"
    archive.write_bytes(b"another")
    with pytest.raises(ValueError, match="its hash differs"):
        vendored.built(archive)


@needs_chromium
@pytest.mark.parametrize("name", ["PodGroup", "Cell", "triggers"])
def test_every_node_and_arrow_is_drawn(opened: Opened, name: str) -> None:
    drawn = diagram(REPAIRED, name, since=AS_WRITTEN)
    shown = opened(page(graph(drawn)))
    start = any(node.initial for node in drawn.nodes)
    assert shown.locator(".node").count() == len(drawn.nodes)
    assert shown.locator(".edge").count() == len(drawn.edges) + start
    texts = shown.locator("svg text").all_text_contents()
    assert {node.label for node in drawn.nodes} <= set(texts)
    assert {label for edge in drawn.edges for label in edge.labels} <= set(", ".join(texts).split(", "))


OVERLAPPING = """() => {
  const boxes = [...document.querySelectorAll(".node > path:first-of-type")].map((each) => each.getBoundingClientRect());
  return boxes.flatMap((a, n) => boxes.slice(n + 1).filter((b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom)).length;
}"""

OUTSIDE = """() => {
  const svg = document.querySelector("svg").getBoundingClientRect();
  return [...document.querySelectorAll("svg text, .node")].map((each) => each.getBoundingClientRect())
    .filter((each) => each.left < svg.left - 1 || each.right > svg.right + 1 || each.top < svg.top - 1 || each.bottom > svg.bottom + 1).length;
}"""


@needs_chromium
@pytest.mark.long(seconds=30, one_in=12)
def test_no_nodes_of_any_picture_overlap(opened: Opened) -> None:
    for system in systems().values():
        for name in picture_names(system.base):
            shown = opened(page(graph(diagram(system.base, name))), viewport={"width": 4000, "height": 4000})
            assert (shown.evaluate(OVERLAPPING), shown.evaluate(OUTSIDE)) == (0, 0), (system.name, name)
            shown.close()


ODD = Diagram(
    "odd",
    (
        Node("a", "</script><b>", NodeKind.STATE, initial=True, mark=Mark.ADDED),
        Node("b", "b", NodeKind.STATE, details=("one", "two"), final=True, alarm=True),
        Node("constructor", "c", NodeKind.EVENT),
    ),
    (
        Edge("a", "a", EdgeKind.TRANSITION, ("stay",)),
        Edge("a", "b", EdgeKind.TRANSITION, ("x",), ("line 3",)),
        Edge("a", "b", EdgeKind.PREVENTS, ("y",), mark=Mark.REMOVED),
        Edge("b", "constructor", EdgeKind.WAITS_FOR, alarm=True),
    ),
    alarm="it is odd",
    since="before",
)


@needs_chromium
def test_loops_parallel_arrows_and_odd_names_are_drawn(opened: Opened) -> None:
    shown = opened(page(graph(ODD)))
    assert (shown.locator(".node").count(), shown.locator(".edge").count()) == (3, 5)
    assert "</script><b>" in shown.locator("svg text").all_text_contents()
    assert shown.locator("title").all_text_contents()[1:] and "line 3" in shown.locator("title").all_text_contents()


def test_a_legend_explains_what_a_picture_uses() -> None:
    assert list(legend(ODD)) == [
        "double border: final",
        "dashed line with a bar from A to B: B happens only where A does not",
        "dashed arrow from A to B: A waits for B",
        "thick: added since before",
        "dashed, grey: removed since before",
        "thick and red: it is odd",
    ]
    assert json.loads(json.dumps(graph(ODD)))["boxes"] == []
