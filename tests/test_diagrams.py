"""Pictures: the arrows are the document's, every format says the same, and the gallery is fresh.

What is expected is written out by hand from the document's figures and its sections "Events"; the
readers of DOT and Mermaid below share no code with the renderers.
"""

from __future__ import annotations

import json
import re
import shutil
import struct
import subprocess
import sys
import xml.etree.ElementTree as ET
import zlib
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path

import pytest
from schedproof.diagrams import Diagram, DiagramError, EdgeKind, Mark, diagram, render, write_diagram
from schedproof.diagrams import gallery as gallery_module
from schedproof.diagrams.gallery import FOLDER, main, regenerate, registered, stale
from schedproof.diagrams.images import fingerprint, png_fingerprint, svg_fingerprint
from schedproof.diagrams.mermaid import identifiers
from schedproof.model.hived import AS_WRITTEN, REPAIRED
from schedproof.model.lang import Model

needs_dot = pytest.mark.skipif(shutil.which("dot") is None, reason="needs graphviz's dot (Debian package graphviz)")

Arrow = tuple[str, str, str]
Point = tuple[float, float]
Box = tuple[float, float, float, float]

# The two figures, arrow by arrow: source, event, target.
POD_GROUP: set[Arrow] = {
    ("Pending", "e0", "Allocated"),
    ("Pending", "e1", "Preempting"),
    ("Preempting", "e2", "Allocated"),
    ("Allocated", "e3", "Deleted"),
    ("BeingPreempted", "e4", "Deleted"),
    ("Preempting", "e5", "Pending"),
    ("Preempting", "ec", "Pending"),
    ("Allocated", "e6", "BeingPreempted"),
    ("BeingPreempted", "ec", "Allocated"),
    ("Preempting", "e7", "Deleted"),
    ("Pending", "e8", "Deleted"),
}
CELL: set[Arrow] = {
    ("Free", "e0", "Used"),
    ("Used", "e1", "Free"),
    ("Used", "e2", "Reserving"),
    ("Reserving", "e3", "Reserving"),
    ("Reserving", "e4", "Used"),
    ("Reserving", "ec", "Used"),
    ("Free", "e5", "Reserved"),
    ("Reserved", "e6", "Reserved"),
    ("Reserved", "e7", "Free"),
    ("Reserved", "ec", "Free"),
    ("Reserved", "e8", "Used"),
    ("Reserving", "e9", "Reserved"),
}
FIGURES = {"PodGroup": POD_GROUP, "Cell": CELL}

# What the sections "Events" say. The model's actions stand for the events that their conditions
# describe; those of e0 and e1 also choose the cells, so cells are triggered by them directly.
ROOTS = {
    "allocate": "PodGroup.e0",
    "preempt": "PodGroup.e1",
    "complete": "PodGroup.e2",
    "delete_allocated": "PodGroup.e3",
    "delete_preempted": "PodGroup.e4",
    "delete_preempting": "PodGroup.e7",
    "delete_pending": "PodGroup.e8",
    "vacate": "Cell.e9",
    "crash": "",  # e_c, of everything at once
}
TRIGGERS = {
    ("PodGroup.e0", "Cell.e0"), ("PodGroup.e0", "Cell.e8"),
    ("PodGroup.e1", "Cell.e2"), ("PodGroup.e1", "Cell.e3"), ("PodGroup.e1", "Cell.e6"), ("PodGroup.e1", "Cell.e5"),
    ("PodGroup.e2", "Cell.e8"),
    ("PodGroup.e3", "Cell.e1"), ("PodGroup.e4", "Cell.e1"),
    ("PodGroup.e5", "Cell.e4"), ("PodGroup.e5", "Cell.e7"),
    ("PodGroup.e7", "Cell.e4"), ("PodGroup.e7", "Cell.e7"),
    ("Cell.e2", "PodGroup.e6"),
    ("Cell.e3", "PodGroup.e5"), ("Cell.e6", "PodGroup.e5"), ("Cell.e8", "PodGroup.e5"),
}  # fmt: skip
# "All the *other* cells" of e5 (lines 106 and 108): those that are not being overwritten. By the figure, e3 overwrites
# Reserving cells (the others take e4), e6 and e8 overwrite Reserved ones (the others take e7).
PREVENTS = {("Cell.e3", "Cell.e4"), ("Cell.e6", "Cell.e7"), ("Cell.e8", "Cell.e7")}


def arrows(drawn: Diagram) -> set[Arrow]:
    return {(edge.source, label, edge.target) for edge in drawn.edges for label in edge.labels}


# --- What is drawn ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("machine", FIGURES)
def test_a_machine_has_exactly_the_arrows_of_its_figure(machine: str) -> None:
    assert arrows(diagram(AS_WRITTEN, machine)) == FIGURES[machine]


def test_parallel_arrows_are_one_arrow_with_all_its_events() -> None:
    drawn = {(edge.source, edge.target): edge.labels for edge in diagram(AS_WRITTEN, "PodGroup").edges}
    assert len(drawn) == len(diagram(AS_WRITTEN, "PodGroup").edges) == 10
    assert drawn["Preempting", "Pending"] == ("e5", "ec")


def test_states_show_what_a_crash_does_to_them_and_where_life_begins_and_ends() -> None:
    groups = {n.name: n for n in diagram(AS_WRITTEN, "PodGroup").nodes}
    assert {name: n.durability and n.durability.value for name, n in groups.items()} == {
        "Pending": "persistent", "Allocated": "persistent", "Deleted": "persistent",
        "Preempting": "volatile", "BeingPreempted": "volatile",
    }  # fmt: skip
    assert [n.name for n in groups.values() if n.initial] == ["Pending"]
    assert [n.name for n in groups.values() if n.final] == ["Deleted"]
    cells = {n.name: n for n in diagram(AS_WRITTEN, "Cell").nodes}
    assert {name: n.durability and n.durability.value for name, n in cells.items()} == {
        "Free": "derived", "Used": "derived", "Reserved": "volatile", "Reserving": "volatile",
    }  # fmt: skip
    assert [n.name for n in cells.values() if n.initial] == ["Free"]
    assert [n.name for n in cells.values() if n.final] == []


def as_documented(drawn: Diagram) -> bool:
    """The arrows of a picture of triggers are exactly those written out above."""
    causes = {(e.source, e.target) for e in drawn.edges if e.kind is EdgeKind.CAUSES}
    crash = {pair for pair in causes if pair[0] == "crash"}
    own = {pair for pair in causes - crash if ROOTS.get(pair[0]) == pair[1]}
    others = {(ROOTS.get(source, source), target) for source, target in causes - crash - own}
    return (
        crash == {("crash", "PodGroup.ec"), ("crash", "Cell.ec")}
        and own == {(action, event) for action, event in ROOTS.items() if event}
        and others == TRIGGERS
        and {(e.source, e.target) for e in drawn.edges if e.kind is EdgeKind.PREVENTS} == PREVENTS
    )


@pytest.mark.parametrize("name", [None, "triggers"])
def test_triggers_are_those_of_the_documents_operations(name: str | None) -> None:
    drawn = diagram(AS_WRITTEN, name)
    assert as_documented(drawn)
    assert [(c.name, len(c.nodes)) for c in drawn.clusters] == [("PodGroup", 10), ("Cell", 11)]


def test_what_the_repaired_variant_changes_is_marked() -> None:
    groups = diagram(REPAIRED, "PodGroup", since=AS_WRITTEN)
    marked = {(e.source, e.labels, e.target, e.mark) for e in groups.edges if e.mark is not Mark.SAME}
    assert marked == {("BeingPreempted", ("e10",), "Allocated", Mark.ADDED)}
    assert arrows(groups) == POD_GROUP | {("BeingPreempted", "e10", "Allocated")}
    assert all(e.mark is Mark.SAME for e in diagram(REPAIRED, "Cell", since=AS_WRITTEN).edges)
    triggers = diagram(REPAIRED, since=AS_WRITTEN)
    assert {(n.name, n.mark) for n in triggers.nodes if n.mark is not Mark.SAME} == {
        ("PodGroup.e10", Mark.ADDED),
        ("vacate", Mark.REMOVED),
    }
    assert {(e.source, e.target, e.kind, e.mark) for e in triggers.edges if e.mark is not Mark.SAME} == {
        ("PodGroup.e4", "Cell.e9", EdgeKind.CAUSES, Mark.ADDED),
        ("Cell.e4", "PodGroup.e10", EdgeKind.CAUSES, Mark.ADDED),
        ("Cell.e2", "PodGroup.e10", EdgeKind.PREVENTS, Mark.ADDED),
        ("vacate", "Cell.e9", EdgeKind.CAUSES, Mark.REMOVED),
    }
    assert all(e.mark is Mark.SAME for e in diagram(REPAIRED).edges)


def test_what_only_the_older_variant_has_is_put_back() -> None:
    groups = diagram(AS_WRITTEN, "PodGroup", since=REPAIRED)
    assert [(e.labels, e.mark) for e in groups.edges if e.mark is not Mark.SAME] == [(("e10",), Mark.REMOVED)]
    triggers = diagram(AS_WRITTEN, since=REPAIRED)
    assert "PodGroup.e10" in next(c.nodes for c in triggers.clusters if c.name == "PodGroup")


# --- Every format says the same --------------------------------------------------------------------------------------


def text(drawn: Diagram, format: str) -> str:
    rendered = render(drawn, format)
    assert isinstance(rendered, str)
    return rendered


def mermaid_arrows(source: str) -> set[Arrow]:
    """The arrows of a Mermaid state diagram, its ends left out."""
    lines = re.findall(r"^\s*(\w+) --> (\w+) : (.+)$", source, re.MULTILINE)
    return {(a, event.strip(), b) for a, b, label in lines for event in label.split("(")[0].split(",")}


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
    for edge in graph["edges"]:
        texts = [op for op in edge.get("_ldraw_", []) if op["op"] == "T"]
        box = None
        for op in texts:
            (x, y), half = op["pt"], op["width"] / 2
            line = (x - half, y - 2, x + half, y + 11)  # from base line to top of a capital, and a little air
            box = line if box is None else (*map(min, box[:2], line[:2]), *map(max, box[2:], line[2:]))
        curve = next(op["points"] for op in edge["_draw_"] if op["op"] in "bB")
        tail, head = names[edge["tail"]], names[edge["head"]]
        if tail != "(start)":
            edges.append((tail, head, " ".join(op["text"] for op in texts), box, _along(curve)))
    return Laid(float(graph["bb"].split(",")[2]), nodes, edges)


def _along(curve: list[Point]) -> list[Point]:
    """Points on a chain of cubic Bezier curves."""
    found = []
    for start in range(0, len(curve) - 1, 3):
        ends = curve[start : start + 4]
        for step in range(41):
            t = step / 40
            weights = [(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3]
            found.append(tuple(sum(w * point[axis] for w, point in zip(weights, ends, strict=True)) for axis in (0, 1)))
    return [(x, y) for x, y in found]


@pytest.mark.parametrize("machine", FIGURES)
def test_mermaid_has_the_arrows_of_the_figure(machine: str) -> None:
    source = text(diagram(AS_WRITTEN, machine), "mermaid")
    assert mermaid_arrows(source) == FIGURES[machine]
    first, last = ("Pending", ["Deleted"]) if machine == "PodGroup" else ("Free", [])
    assert re.findall(r"\[\*\] --> (\w+)", source) == [first]
    assert re.findall(r"(\w+) --> \[\*\]", source) == last


@needs_dot
@pytest.mark.parametrize("machine", FIGURES)
def test_dot_has_the_arrows_of_the_figure(machine: str) -> None:
    edges = laid_out(text(diagram(AS_WRITTEN, machine), "dot")).edges
    read = {(a, event.strip(), b) for a, b, label, *_ in edges for event in label.split(",")}
    assert read == FIGURES[machine]


@pytest.mark.parametrize("model", [AS_WRITTEN, REPAIRED], ids=lambda m: m.variant)
def test_mermaid_has_the_triggers_of_the_picture(model: Model) -> None:
    drawn = diagram(model, since=AS_WRITTEN)
    links = flowchart_arrows(text(drawn, "mermaid"))
    assert links["-->"] == {(e.source, e.target) for e in drawn.edges if e.kind is EdgeKind.CAUSES}
    assert links["-. not .-x"] == {(e.source, e.target) for e in drawn.edges if e.kind is EdgeKind.PREVENTS}


def test_a_mermaid_link_style_belongs_to_the_link_that_it_means() -> None:
    source = text(diagram(REPAIRED, since=AS_WRITTEN), "mermaid")
    links = re.findall(r"^\s*(\w+) (?:-->|-\. not \.-x) (\w+)$", source, re.MULTILINE)
    green = [links[int(n)] for n in re.findall(r"linkStyle (\d+) stroke:#1a7f37", source)]
    assert sorted(green) == [("Cell_e2", "PodGroup_e10"), ("Cell_e4", "PodGroup_e10"), ("PodGroup_e4", "Cell_e9")]


@needs_dot
def test_dot_has_the_triggers_of_the_picture() -> None:
    drawn = diagram(AS_WRITTEN)
    edges = laid_out(text(drawn, "dot")).edges
    assert sorted((a, b) for a, b, *_ in edges) == sorted((e.source, e.target) for e in drawn.edges)


def test_the_text_does_not_depend_on_the_run() -> None:
    code = (
        "from schedproof.diagrams.gallery import registered, texts; import hashlib;"
        "print(hashlib.sha256(repr(texts(registered())).encode()).hexdigest())"
    )
    runs = {
        subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert len(runs) == 1


def test_mermaid_names_avoid_its_words_and_each_other() -> None:
    assert identifiers(["end", "a.b", "a b", "State"]) == {
        "end": "end_",
        "a.b": "a_b",
        "a b": "a_b_",
        "State": "State_",
    }


def test_labels_cannot_break_the_mermaid_text() -> None:
    drawn = diagram(AS_WRITTEN, "Cell")
    odd = replace(drawn, nodes=(replace(drawn.nodes[0], label='a "b" <c>: d;'), *drawn.nodes[1:]))
    line = next(line for line in text(odd, "mermaid").splitlines() if line.endswith(" as Free"))
    assert line == '    state "a #34;b#34; #60;c#62;#58; d#59; (derived)" as Free'


# --- Planted bugs ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", range(len(AS_WRITTEN.rows)))
def test_a_forgotten_row_is_seen(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("schedproof.model.lang.check.check_model", lambda model: None)
    lost = AS_WRITTEN.rows[number]
    wrong = replace(AS_WRITTEN, rows=[row for row in AS_WRITTEN.rows if row is not lost])
    drawn = diagram(wrong, lost.sort.name)
    assert FIGURES[lost.sort.name] - arrows(drawn) == {(lost.source, lost.event, lost.target)}
    assert mermaid_arrows(text(drawn, "mermaid")) != FIGURES[lost.sort.name]


@pytest.mark.parametrize("number", range(len(AS_WRITTEN.rules)))
def test_a_forgotten_rule_is_seen(number: int) -> None:
    wrong = replace(AS_WRITTEN, rules=[rule for i, rule in enumerate(AS_WRITTEN.rules) if i != number])
    assert not as_documented(diagram(wrong))


# --- SVG and PNG -----------------------------------------------------------------------------------------------------


@needs_dot
def test_svg_is_well_formed_has_a_white_page_and_carries_the_hash_of_its_dot() -> None:
    drawn = diagram(AS_WRITTEN, "Cell")
    source = text(drawn, "svg")
    page = next(ET.fromstring(source).iter("{http://www.w3.org/2000/svg}polygon"))
    assert page.get("fill") in ("white", "#ffffff")
    assert svg_fingerprint(source) == fingerprint(text(drawn, "dot"))


@needs_dot
def test_png_stays_valid_and_carries_the_hash_of_its_dot() -> None:
    drawn = diagram(AS_WRITTEN, "Cell")
    image = render(drawn, "png")
    assert isinstance(image, bytes)
    assert png_fingerprint(image) == fingerprint(text(drawn, "dot"))
    kinds, at = [], 8
    while at < len(image):
        (length,) = struct.unpack(">I", image[at : at + 4])
        body, (crc,) = image[at + 4 : at + 8 + length], struct.unpack(">I", image[at + 8 + length : at + 12 + length])
        assert zlib.crc32(body) == crc
        kinds.append(body[:4])
        at += 12 + length
    assert kinds[:2] == [b"IHDR", b"tEXt"] and kinds[-1] == b"IEND" and b"IDAT" in kinds


@needs_dot
@pytest.mark.parametrize("format", ["svg", "png"])
def test_graphviz_warns_of_nothing(format: str) -> None:
    """Unknown fonts, for example, are warned of only where something is drawn."""
    for model in (AS_WRITTEN, REPAIRED):
        for name in PICTURES:
            source = text(diagram(model, name, since=AS_WRITTEN), "dot").encode()
            done = subprocess.run(["dot", f"-T{format}"], input=source, capture_output=True, check=True)
            assert done.stderr == b""


@pytest.mark.parametrize("broken", [b"", b"GIF89a", b"\x89PNG\r\n\x1a\n", b"\x89PNG\r\n\x1a\n\0\0\0\x05tEXtabc"])
def test_what_is_no_png_of_ours_carries_no_hash(broken: bytes) -> None:
    assert png_fingerprint(broken) is None


def blemishes(laid: Laid) -> list[str]:
    """What keeps a reader from reading: labels and nodes over each other, arrows through either."""
    boxes = {**laid.nodes, **{f"{a}-{label}->{b}": box for a, b, label, box, _ in laid.edges if box}}
    found = [
        f"{one} and {two} overlap"
        for (one, p), (two, q) in combinations(boxes.items(), 2)
        if p[0] < q[2] and q[0] < p[2] and p[1] < q[3] and q[1] < p[3]
    ]
    for tail, head, label, _, curve in laid.edges:
        for name, (left, bottom, right, top) in boxes.items():
            if name not in (tail, head) and any(left < x < right and bottom < y < top for x, y in curve):
                found.append(f"{tail}-{label}->{head} runs through {name}")
    return found


PICTURES = ["PodGroup", "Cell", "triggers"]


@needs_dot
@pytest.mark.parametrize("model", [AS_WRITTEN, REPAIRED], ids=lambda m: m.variant)
@pytest.mark.parametrize("name", PICTURES)
def test_every_label_is_legible(model: Model, name: str) -> None:
    laid = laid_out(text(diagram(model, name, since=AS_WRITTEN), "dot"))
    assert len(laid.nodes) >= 4 and len(laid.edges) >= 10
    assert blemishes(laid) == []
    assert laid.width < 1200, "points; a page of a screen"


@needs_dot
@pytest.mark.parametrize("layout", ["layout=circo", "layout=neato"])
def test_a_bad_layout_is_seen(layout: str) -> None:
    good = text(diagram(AS_WRITTEN, "PodGroup"), "dot")
    bad = good.replace("rankdir=LR", layout)
    assert bad != good and blemishes(laid_out(bad))


# --- Errors and files ------------------------------------------------------------------------------------------------


def test_an_unknown_machine_is_refused_with_the_names_of_the_others() -> None:
    with pytest.raises(DiagramError, match=r"no machine 'Pod' .* choose one of: PodGroup, Cell, triggers"):
        diagram(AS_WRITTEN, "Pod")


def test_an_unknown_format_is_refused_with_the_names_of_the_others() -> None:
    with pytest.raises(DiagramError, match=r"unknown format 'gif'; choose one of: svg, png, dot, mermaid"):
        render(diagram(AS_WRITTEN), "gif")


@pytest.mark.parametrize("format", ["svg", "png"])
def test_without_graphviz_the_package_is_named_and_nothing_is_written(
    format: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(DiagramError, match=r"no 'dot' program .*apt-get install graphviz"):
        write_diagram(diagram(AS_WRITTEN, "Cell"), format, tmp_path / "cell")
    assert list(tmp_path.iterdir()) == []
    for always in ("dot", "mermaid"):
        write_diagram(diagram(AS_WRITTEN, "Cell"), always, tmp_path / always)
        assert (tmp_path / always).read_text() == render(diagram(AS_WRITTEN, "Cell"), always)


def test_what_cannot_be_written_is_one_message_and_changes_nothing(tmp_path: Path) -> None:
    drawn = diagram(AS_WRITTEN, "Cell")
    with pytest.raises(DiagramError, match=r"cannot write .*none/cell\.dot: No such file or directory"):
        write_diagram(drawn, "dot", tmp_path / "none" / "cell.dot")
    with pytest.raises(DiagramError, match=r"Is a directory"):
        write_diagram(drawn, "dot", tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_failed_write_keeps_the_old_file_and_leaves_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "cell.dot"
    path.write_text("old")

    def full(self: Path, data: bytes) -> int:
        with self.open("wb") as file:
            file.write(data[:10])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(DiagramError, match="No space left on device"):
        write_diagram(diagram(AS_WRITTEN, "Cell"), "dot", path)
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["cell.dot"]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    write_diagram(diagram(AS_WRITTEN, "Cell"), "mermaid", tmp_path / "link")
    assert (tmp_path / "link").is_symlink() and "stateDiagram" in (tmp_path / "real").read_text()


# --- The gallery -----------------------------------------------------------------------------------------------------


def test_the_gallery_is_fresh() -> None:
    """If this fails: python -m schedproof.diagrams.gallery"""
    assert stale(registered()) == []
    assert main(["--check"]) == 0


def test_the_gallery_shows_hived_in_both_variants() -> None:
    wanted = {f"hived/{v}/{name}.svg" for v in ("as-written", "repaired") for name in ("PodGroup", "Cell", "triggers")}
    assert wanted <= {path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*.svg")}


def test_every_link_of_the_gallerys_page_leads_to_a_file() -> None:
    links = re.findall(r"\]\(([^)]+)\)", (FOLDER / "README.md").read_text())
    assert len(links) >= 6 * 5
    assert [link for link in links if not (FOLDER / link).is_file()] == []


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    return Path(shutil.copytree(FOLDER, tmp_path / "gallery"))


CELL_PICTURE = "hived/as-written/Cell"


@pytest.mark.parametrize("ending", ["svg", "png", "dot", "mmd"])
def test_a_missing_file_is_stale(copy: Path, ending: str) -> None:
    (copy / f"{CELL_PICTURE}.{ending}").unlink()
    assert stale(registered(), copy) == [f"{CELL_PICTURE}.{ending}: missing"]


@pytest.mark.parametrize("name", ["hived/as-written/Pod.svg", "old/Cell.dot", "notes.txt", ".Cell.dot.17.part"])
def test_an_extra_file_is_stale(copy: Path, name: str) -> None:
    (copy / name).parent.mkdir(exist_ok=True)
    (copy / name).write_text("")
    assert stale(registered(), copy) == [f"{name}: nothing draws it"]


@pytest.mark.parametrize("name", ["README.md", f"{CELL_PICTURE}.dot", f"{CELL_PICTURE}.mmd"])
def test_an_edited_text_is_stale(copy: Path, name: str) -> None:
    (copy / name).write_text((copy / name).read_text().replace("e9", "e10"))
    assert stale(registered(), copy) == [f"{name}: not what the model gives now"]


@pytest.mark.parametrize("ending", ["svg", "png"])
def test_an_image_of_another_picture_is_stale(copy: Path, ending: str) -> None:
    shutil.copy(copy / f"hived/as-written/PodGroup.{ending}", copy / f"{CELL_PICTURE}.{ending}")
    assert stale(registered(), copy) == [f"{CELL_PICTURE}.{ending}: drawn from other DOT"]


def test_a_changed_model_makes_its_pictures_stale(monkeypatch: pytest.MonkeyPatch) -> None:
    rules = AS_WRITTEN.rules[:-1]
    systems = {"hived": {"as-written": replace(AS_WRITTEN, rules=rules), "repaired": REPAIRED}}
    assert {
        f"hived/as-written/triggers.{ending}: {why}"
        for ending, why in [
            ("dot", "not what the model gives now"),
            ("mmd", "not what the model gives now"),
            ("svg", "drawn from other DOT"),
            ("png", "drawn from other DOT"),
        ]
    } <= set(stale(systems))
    monkeypatch.setattr(gallery_module, "registered", lambda: systems)
    assert main(["--check"]) == 1


@needs_dot
def test_drawing_again_makes_the_gallery_fresh_and_removes_what_nothing_draws(tmp_path: Path) -> None:
    systems = {"hived": registered()["hived"]}
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "Gone.svg").write_text("")
    regenerate(systems, tmp_path)
    assert stale(systems, tmp_path) == []


def test_drawing_without_graphviz_is_exit_2_and_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    before = {path: path.stat().st_mtime_ns for path in FOLDER.rglob("*")}
    assert main([]) == 2
    assert "apt-get install graphviz" in capsys.readouterr().err
    assert {path: path.stat().st_mtime_ns for path in FOLDER.rglob("*")} == before
