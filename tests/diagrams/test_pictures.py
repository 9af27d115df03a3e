"""Pictures: the arrows are the document's, and every format says the same.

What is expected is written out by hand from the document's figures and its sections "Events"; the
readers of DOT and Mermaid below share no code with the renderers.
"""

from __future__ import annotations

import re
import struct
import subprocess
import sys
import xml.etree.ElementTree as ET
import zlib
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from schedproof.diagrams.errors import DiagramError
from schedproof.diagrams.explored import explored_at
from schedproof.diagrams.from_model import diagram
from schedproof.diagrams.images import fingerprint, is_intact, png_fingerprint, svg_fingerprint
from schedproof.diagrams.mermaid import identifiers
from schedproof.diagrams.render import render, write_diagram
from schedproof.diagrams.representation import Diagram, EdgeKind, Mark
from schedproof.model.lang import Model
from schedproof.model.lang.triggers import caused
from schedproof.model.semantics import instances, stepper_of
from schedproof.model.systems.hived import AS_WRITTEN, REPAIRED
from schedproof.proofs.exploration.explore import explore
from tests.support.clocks import CLOCKS
from tests.support.needs import needs_dot
from tests.support.picture_readers import (
    Arrow,
    arrows,
    blemishes,
    flowchart_arrows,
    laid_out,
    mermaid_arrows,
    stretch,
    text,
)
from tests.support.rows import each_row
from tests.support.sample import thinned
from tests.support.toys import MUTEX

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


# --- What is drawn ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("machine", FIGURES)
def test_a_machine_has_exactly_the_arrows_of_its_figure(machine: str) -> None:
    assert arrows(diagram(AS_WRITTEN, machine)) == FIGURES[machine]


def test_parallel_arrows_are_one_arrow_with_all_its_events() -> None:
    drawn = {(edge.source, edge.target): edge.labels for edge in diagram(AS_WRITTEN, "PodGroup").edges}
    assert len(drawn) == len(diagram(AS_WRITTEN, "PodGroup").edges) == 10
    assert drawn["Preempting", "Pending"] == ("e5", "ec")


def test_states_show_crashes_and_where_life_begins_and_ends() -> None:
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
    at_root = {pair for pair in causes - crash if ROOTS.get(pair[0]) == pair[1]}
    others = {(ROOTS.get(source, source), target) for source, target in causes - crash - at_root}
    return (
        crash == {("crash", "PodGroup.ec"), ("crash", "Cell.ec")}
        and at_root == {(action, event) for action, event in ROOTS.items() if event}
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


@each_row("action", [each.name for each in AS_WRITTEN.actions])
def test_a_picture_of_an_action_has_its_cascade_only(action: str) -> None:
    """What some step of the action fires in an exploration is in it; an event that it cannot cause is not."""
    drawn = diagram(AS_WRITTEN, actions=[action])
    (instance,) = instances(AS_WRITTEN, {"PodGroup": 2, "Cell": 2})
    stepper, fired = stepper_of(instance), set[str]()
    for state in explore(instance).states:
        for choice in stepper.choices(state, AS_WRITTEN.action(action)):
            fired |= {f"{sort}.{event}" for sort, event in stepper.step(state, choice).fired}
    names = {node.name for node in drawn.nodes}
    assert {action, *fired} <= names
    assert names - {action} == {f"{sort}.{event}" for sort, event in caused(AS_WRITTEN, action)}
    whole = diagram(AS_WRITTEN)
    assert set(drawn.edges) == {edge for edge in whole.edges if {edge.source, edge.target} <= names}
    assert drawn.title.endswith(f", only {action}")


def test_a_picture_of_a_sort_has_its_events_and_what_fires_them() -> None:
    drawn, whole = diagram(AS_WRITTEN, sorts=["Cell"]), diagram(AS_WRITTEN)
    events = {node.name for node in whole.nodes if node.name.startswith("Cell.")}
    causes = {edge.source for edge in whole.edges if edge.target in events}
    names = {node.name for node in drawn.nodes}
    assert names == events | causes and names < {node.name for node in whole.nodes}
    both = {node.name for node in diagram(AS_WRITTEN, sorts=["Cell"], actions=["allocate"]).nodes}
    assert both < names and "allocate" in both and "preempt" not in both


def test_a_machine_of_an_action_has_the_rows_that_it_fires() -> None:
    assert arrows(diagram(AS_WRITTEN, "PodGroup", actions=["allocate"])) == {
        ("Pending", "e0", "Allocated"),
        ("Preempting", "e5", "Pending"),
    }
    assert arrows(diagram(AS_WRITTEN, "PodGroup", actions=["preempt", "delete_pending"])) <= POD_GROUP


@pytest.mark.parametrize("since", [AS_WRITTEN, REPAIRED])
def test_the_part_of_a_sort_marks_only_what_differs(since: Model) -> None:
    """An event that fires the sort's events in one variant only is in both parts."""
    model = REPAIRED if since is AS_WRITTEN else AS_WRITTEN
    whole = {node.name: node.mark for node in diagram(model, since=since).nodes}
    for sort in model.sorts:
        for node in diagram(model, since=since, sorts=[sort.name]).nodes:
            assert node.mark == whole[node.name], (sort.name, node.name)


@each_row("action", [action.name for action in AS_WRITTEN.actions])
def test_states_of_an_action_are_not_marked_as_added(action: str) -> None:
    """Both variants have them; only the rows differ."""
    for sort in ("PodGroup", "Cell"):
        with suppress(DiagramError):
            drawn = diagram(REPAIRED, sort, since=AS_WRITTEN, actions=[action])
            assert {node.mark for node in drawn.nodes} == {Mark.SAME}


def test_a_filtered_picture_is_compared_with_the_same_part() -> None:
    whole = diagram(REPAIRED, since=AS_WRITTEN)
    part = diagram(REPAIRED, since=AS_WRITTEN, actions=["crash"])
    names = {node.name for node in part.nodes}
    assert {edge for edge in part.edges if edge.mark is not Mark.SAME} <= set(whole.edges)
    assert "crash" in names and "allocate" not in names


def test_a_picture_of_nothing_is_refused() -> None:
    with pytest.raises(DiagramError, match="has nothing of vacate; name other sorts or actions"):
        diagram(AS_WRITTEN, "PodGroup", actions=["vacate"])


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


@pytest.mark.long
def test_the_text_does_not_depend_on_the_run() -> None:
    code = (
        "from schedproof.diagrams.gallery import pages, pictures; import hashlib, dataclasses;"
        "from schedproof.model.registry.discovery import systems; beaker = systems()['beaker'];"
        "batch = dataclasses.replace(beaker, variants={'batch': beaker.variants['batch']});"
        "drawn = list(pictures({'beaker': batch}));"
        "print(hashlib.sha256(repr((drawn, pages(drawn))).encode()).hexdigest())"
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


# --- Seeded faults ----------------------------------------------------------------------------------------------------


@each_row("number", range(len(AS_WRITTEN.rows)))
def test_a_forgotten_row_is_seen(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("schedproof.model.lang.check._check", lambda model: None)
    lost = AS_WRITTEN.rows[number]
    wrong = replace(AS_WRITTEN, rows=[row for row in AS_WRITTEN.rows if row is not lost])
    drawn = diagram(wrong, lost.sort.name)
    assert FIGURES[lost.sort.name] - arrows(drawn) == {(lost.source, lost.event, lost.target)}
    assert mermaid_arrows(text(drawn, "mermaid")) != FIGURES[lost.sort.name]


@each_row("number", range(len(AS_WRITTEN.rules)))
def test_a_forgotten_rule_is_seen(number: int) -> None:
    wrong = replace(AS_WRITTEN, rules=[rule for i, rule in enumerate(AS_WRITTEN.rules) if i != number])
    assert not as_documented(diagram(wrong))


# --- SVG and PNG -----------------------------------------------------------------------------------------------------


@needs_dot
def test_svg_is_well_formed_white_and_carries_its_dots_hash() -> None:
    drawn = diagram(AS_WRITTEN, "Cell")
    source = text(drawn, "svg")
    page = next(ET.fromstring(source).iter("{http://www.w3.org/2000/svg}polygon"))
    assert page.get("fill") in ("white", "#ffffff")
    assert svg_fingerprint(source) == fingerprint(text(drawn, "dot"))
    assert is_intact(source) and not is_intact(source.replace("Free", "Idle"))


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
@pytest.mark.parametrize("format", thinned(["svg", "png"], 2))
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


PICTURES = ["PodGroup", "Cell", "triggers"]


@needs_dot
@each_row("model", [AS_WRITTEN, REPAIRED], ids=lambda m: m.variant)
@each_row("name", PICTURES)
def test_every_label_is_legible(model: Model, name: str) -> None:
    laid = laid_out(text(diagram(model, name, since=AS_WRITTEN), "dot"))
    assert len(laid.nodes) >= 4 and len(laid.edges) >= 10
    assert blemishes(laid) == []
    assert laid.width < 1200 * max(1, stretch()), "points; a page of a screen"


@needs_dot
@pytest.mark.parametrize("layout", ["layout=circo", "layout=neato"])
def test_a_bad_layout_is_seen(layout: str) -> None:
    good = text(diagram(AS_WRITTEN, "PodGroup"), "dot")
    bad = good.replace("rankdir=LR", layout)
    assert bad != good and blemishes(laid_out(bad))


# --- Errors and files ------------------------------------------------------------------------------------------------


def test_an_unknown_machine_is_refused_with_the_others_names() -> None:
    with pytest.raises(DiagramError, match=r"no machine 'Pod' .* choose from PodGroup, Cell, triggers"):
        diagram(AS_WRITTEN, "Pod")


def test_an_unknown_format_is_refused_with_the_others_names() -> None:
    with pytest.raises(DiagramError, match=r"unknown format 'gif'; choose from svg, png, dot, mermaid"):
        render(diagram(AS_WRITTEN), "gif")


@pytest.mark.parametrize("format", ["svg", "png"])
def test_without_graphviz_its_package_is_named_nothing_written(
    format: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(DiagramError, match=r"the program 'dot' is missing; .*apt-get install graphviz"):
        write_diagram(diagram(AS_WRITTEN, "Cell"), format, tmp_path / "cell")
    assert list(tmp_path.iterdir()) == []
    for always in ("dot", "mermaid"):
        write_diagram(diagram(AS_WRITTEN, "Cell"), always, tmp_path / always)
        assert (tmp_path / always).read_text() == render(diagram(AS_WRITTEN, "Cell"), always)


def test_what_cannot_be_written_is_one_message_and_no_change(tmp_path: Path) -> None:
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


def test_pictures_of_explorations_say_within_which_bounds() -> None:
    assert explored_at(CLOCKS, {}) == "Node=2 within time <= 2, seen <= 2, -2 <= debt <= 0"
    assert explored_at(MUTEX, {"Process": 3}) == "Process=3,Lock=1"
