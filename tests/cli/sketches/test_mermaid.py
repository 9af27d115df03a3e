"""State diagrams of Mermaid as sketches: what an arrow means, and what is noted where a table has no place for it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedproof.cli.sketches.reading import read
from schedproof.model.registry.errors import UserError
from tests.cli.sketches.files import noted, sketch, sketches, table
from tests.support.growth import assert_grows_less
from tests.support.rows import each_row


def drawn(folder: Path, *lines: str):
    return sketch(folder, "x.mmd", "\n".join(["stateDiagram-v2", *lines]))


def test_arrows_are_moves_and_the_dot_is_the_beginning(tmp_path):
    machine = drawn(
        tmp_path,
        "Busy --> Idle : stop",
        "[*] --> Idle",
        "Idle --> Busy : start",
        "Idle --> Off : switch",
        "Off --> [*]",
    )
    assert table(machine) == {("stop", "Busy", "Idle"), ("start", "Idle", "Busy"), ("switch", "Idle", "Off")}
    assert [state.name for state in machine.states] == ["Idle", "Busy", "Off"]
    assert machine.notes == []


def test_a_diagram_is_recognised_by_its_text(tmp_path):
    assert len(sketch(tmp_path, "states.txt", "stateDiagram-v2\nA --> B : go\n").moves) == 1


def test_labels_list_events_with_guard_and_effect(tmp_path):
    machine = drawn(tmp_path, "Idle --> Busy : start [a, b] / log, resume")
    assert table(machine) == {("start", "Idle", "Busy"), ("resume", "Idle", "Busy")}
    assert noted(machine) == [
        (2, "the guard [a, b] of start is not in the model"),
        (2, "the effect 'log' of start is not in the model"),
    ]
    assert [machine.notes[0].span.column, machine.notes[0].span.end_column] == [23, 27]


def test_an_arrow_without_a_label_gets_an_event_and_a_note(tmp_path):
    machine = drawn(tmp_path, "Idle --> Busy")
    assert table(machine) == {("to_busy", "Idle", "Busy")}
    assert noted(machine) == [(2, "the arrow from Idle to Busy names no event")]


def test_an_event_with_two_targets_becomes_two_events(tmp_path):
    """With the guard of each, since that decides."""
    machine = drawn(tmp_path, "A --> B : go [x]", "A --> C : go [y]", "B --> C : go")
    assert table(machine) == {("go_to_b", "A", "B"), ("go_to_c", "A", "C"), ("go", "B", "C")}
    assert [(note.event, note.span.line) for note in machine.notes] == [("go_to_b", 2), ("go_to_c", 3), ("go_to_c", 3)]


def test_a_choice_is_an_event_for_each_way(tmp_path):
    machine = drawn(
        tmp_path, "state c <<choice>>", "A --> c : check", "c --> B : [ok]", "c --> C : [else]", "C --> c : again"
    )
    assert table(machine) == {
        ("check_to_b", "A", "B"), ("check_to_c", "A", "C"), ("again_to_b", "C", "B"), ("again_to_c", "C", "C"),
    }  # fmt: skip


def test_conditions_and_the_end_after_a_choice_are_noted(tmp_path):
    """Mermaid's own documents write the condition of a way without brackets."""
    machine = drawn(
        tmp_path, "state c <<choice>>", "A --> c : check", "c --> B : if n < 0", "c --> C : n = 0", "c --> [*]"
    )
    assert table(machine) == {("check_to_b", "A", "B"), ("check_to_c", "A", "C")}
    assert set(noted(machine)) == {
        (4, "the guard [if n < 0] of check is not in the model"),
        (5, "the guard [n = 0] of check is not in the model"),
        (5, "check leads from A to B and C"),
        (6, "the arrow from c to [*] leads to no state"),
    }
    assert noted(drawn(tmp_path, "state c <<choice>>", "A --> B : go", "A --> c : check")) == [
        (4, "no arrow leaves the choice c")
    ]


def test_the_innermost_arrow_counts_at_any_depth(tmp_path):
    """Unless it has a guard: where that is false, the outer arrow is taken."""
    lines = ("[*] --> A", "state A {", "state B {", "C --> D : go", "}", "B --> E : stop", "}", "A --> X : stop")
    machine = drawn(tmp_path, *lines)
    assert table(machine) == {("go", "C", "D"), ("stop", "C", "E"), ("stop", "D", "E"), ("stop", "E", "X")}
    guarded = drawn(tmp_path, *lines[:5], "B --> E : stop [ready]", *lines[6:])
    assert {("stop_to_e", "C", "E"), ("stop_to_x", "C", "X")} < table(guarded)


@pytest.mark.parametrize(
    "note", ['note "floating" as N1', "Note left of A : text", "note right of A\n A --> Z : z\nEnd Note"]
)
def test_a_note_ends_where_it_ends(tmp_path, note):
    machine = drawn(tmp_path, "A --> B : go", note, "B --> C : go")
    assert table(machine) == {("go", "A", "B"), ("go", "B", "C")} and machine.notes == []


def test_time_is_linear_in_the_states(tmp_path):
    """No arrow looks at all others."""

    def read(count):
        machine = drawn(tmp_path, *[f"s{n} --> s{n + 1} : go" for n in range(count)])
        assert (machine.ends, machine.endless, len(machine.way(f"s{count - 1}"))) == ([f"s{count}"], [], count)

    assert_grows_less(read, 1_250, 10_000, than=24)


def test_arrows_of_a_state_with_states_inside(tmp_path):
    """From it: from each state inside that has no such arrow of its own. To it: to the state in which it begins."""
    machine = drawn(
        tmp_path, "[*] --> Off", "Off --> On : push", "state On {", "[*] --> Low", "Low --> High : turn",
        "High --> Hot : pull", "}", "On --> Off : pull",
    )  # fmt: skip
    assert table(machine) == {
        ("push", "Off", "Low"), ("turn", "Low", "High"), ("pull", "High", "Hot"), ("pull", "Low", "Off"), ("pull", "Hot", "Off"),
    }  # fmt: skip
    assert machine.notes == []


@each_row(
    ("lines", "line", "problem"),
    [
        (["state f <<fork>>", "A --> f : go"], 2, "the fork f is read as a state"),
        (["A --> B : go", "B --> A : back", "A --> [*]"], 4, "A can end, and can go on"),
        (["A --> B : go", 'state "any state" as C', "A --> C : no"], 4, "C is no state to go to"),
        (["A --> B : go", "A --> C : no", "state C {", "[*] --> C", "D --> E : on", "}"], 3, "C is no state to go to"),
        (
            ["A --> B : go", "state c <<choice>>", "A --> C : no", "state C {", "[*] --> c", "c --> D", "}"],
            4,
            "C is no state to go to",
        ),
        (["state A {", "B --> C : go"], 2, "the state A is not closed, so all lines below are inside it"),
        (["A --> B : go", "--"], 3, "parallel regions are read as one machine"),
        (["A --> B : go", "if (x) {"], 3, "this line is not understood"),
        (["[*] --> A : new", "A --> B : go"], 2, "'new' creates an object"),
        (["[*] --> A", "[*] --> B", "A --> B : go"], 3, "B is a second initial state"),
        (["A --> B : go", "B --> [*] : delete"], 3, "the arrow from B to [*] leads to no state"),
        (["A --> B : go", "state B {", "C --> D : x", "}"], 2, "B does not say where it begins"),
        (
            ["state c <<choice>>", "A --> c : go", "c --> B", "c --> [*]"],
            5,
            "the arrow from c to [*] leads to no state",
        ),
        (["state c <<choice>>", "A --> B : go", "c --> B : x"], 4, "the arrow from the choice c is not in the model"),
        (["state c <<choice>>", "[*] --> c", "c --> A : x", "A --> B : go"], 3, "c is no state to begin in"),
    ],
)
def test_what_has_no_place_in_a_table_is_noted(tmp_path, lines, line, problem):
    assert (line, problem) in noted(drawn(tmp_path, *lines))


def test_names_labels_and_looks(tmp_path):
    machine = drawn(
        tmp_path, "direction LR", "%% a remark", 'state "Being Preempted (volatile)" as Being_Preempted', 'state "it waits" as W',
        "W:::hot --> Being_Preempted : e#40;1#41;", "W : until a host is free", "note right of W", "  W --> nowhere", "end note",
        "note left of W : hi", "classDef hot fill:#fff", "class W hot",
    )  # fmt: skip
    assert [(s.name, s.about, s.durability.value) for s in machine.states] == [
        ("Being Preempted", "", "volatile"),
        ("W", "it waits; until a host is free", "persistent"),
    ]
    assert table(machine) == {("e(1)", "W", "Being Preempted")} and machine.notes == []


def test_each_diagram_of_a_markdown_file_is_a_machine(tmp_path):
    text = (
        "# Two\n```mermaid\n---\ntitle: The job\n---\nstateDiagram-v2\nA --> B : go\n```\n```sh\nA --> B : no\n```\n"
        "```mermaid\nstateDiagram\nC --> D : on\n```\n```mermaid\nflowchart LR\n```\n"
    )
    _, machines = sketches(tmp_path, "x.md", text)
    assert [(m.name, table(m)) for m in machines] == [("The job", {("go", "A", "B")}), ("", {("on", "C", "D")})]


FRAGMENTS = ["A", "B", "[*]", "-->", ":", "go", "[x]", "/", "state", "{", "}", "<<choice>>", '"L"', "as", "--", ",", "note", "any state", "é"]  # fmt: skip


@pytest.mark.parametrize("fence", ["```mermaid %s ```", "~~~mermaid %s ~~~", "::: mermaid %s :::"])
def test_a_code_block_ends_at_its_fence(tmp_path, fence):
    text = f"# Orders\n\n{fence}\n\nPlaced --> Lost : this is no diagram\n".replace(
        " %s ", "\nstateDiagram\nA --> B : go\n"
    )
    machine = sketch(tmp_path, "x.md", text)
    assert table(machine) == {("go", "A", "B")} and machine.notes == []


def test_a_semicolon_ends_a_statement(tmp_path):
    """But not one of an entity."""
    machine = drawn(tmp_path, "[*] --> A;", "A --> B : go;", "B --> A : back#59;", "A --> C : x ; ;")
    assert table(machine) == {("go", "A", "B"), ("back;", "B", "A"), ("x", "A", "C")} and machine.notes == []
    assert noted(drawn(tmp_path, "A --> B : go", "A; B"))[0] == (3, "this line is not understood")


@settings(max_examples=150, deadline=None)
@given(st.lists(st.lists(st.sampled_from(FRAGMENTS), max_size=6).map(" ".join), max_size=9))
def test_any_lines_are_a_sketch_or_an_error(tmp_path_factory, lines):
    path = tmp_path_factory.getbasetemp() / "any.mmd"
    path.write_text("\n".join(["stateDiagram-v2", *lines]))
    try:
        (machine,) = read(path, None)[1]
    except UserError:
        return
    names = [state.name for state in machine.states]
    assert {name for _, *ends in table(machine) for name in ends} <= set(names)
    assert len({(m.event, m.source) for m in machine.moves}) == len(machine.moves)
