"""CSV tables as sketches."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedproof.cli.sketches.reading import read
from schedproof.model.registry.errors import UserError
from tests.cli.sketches.files import noted, sketch, sketches, table
from tests.support.rows import each_row

JOBS = """from,event,to,guard
Idle,start,Busy,a host is free
Busy,stop,Idle,
"""


@each_row(
    "text",
    [
        JOBS,
        JOBS.replace(",", ";"),
        JOBS.replace(",", "\t"),
        JOBS.replace(",", " | ").replace("\n", "\r\n"),
        "\ufeff# a remark\n\n" + JOBS,
        JOBS.replace("from,event,to", "State,Trigger,Next state"),
        JOBS.replace("Idle,start", '"Idle", "start"'),
    ],
)
def test_a_line_is_a_move_however_it_is_delimited(tmp_path, text):
    machine = sketch(tmp_path, "jobs.csv", text)
    assert table(machine) == {("start", "Idle", "Busy"), ("stop", "Busy", "Idle")}
    assert [problem for _, problem in noted(machine)] == ["the guard 'a host is free' of start is not in the model"]
    assert machine.states[0].name == "Idle"


def test_stars_are_every_state_and_the_beginning(tmp_path):
    """An event that a state has itself does not come from the star."""
    text = "from,event,to\nA,go,B\n*,stop,C\nB,stop,A\n[*],,B\n"
    machine = sketch(tmp_path, "x.csv", text)
    assert table(machine) == {("go", "A", "B"), ("stop", "B", "A"), ("stop", "A", "C"), ("stop", "C", "C")}
    assert machine.states[0].name == "B"


def test_two_stars_of_one_event_are_two_events(tmp_path):
    """Neither is dropped: conditions decide between them."""
    machine = sketch(tmp_path, "x.csv", "from,event,to\nA,go,B\n*,reset,A\n*,reset,B\n")
    resets = {(f"reset_to_{target.lower()}", source, target) for source in "AB" for target in "AB"}
    assert table(machine) == {("go", "A", "B")} | resets


def test_a_line_ends_where_an_editor_ends_it(tmp_path):
    """Old Macs end lines with CR; a separator of Unicode is a part of a name."""
    (tmp_path / "x.csv").write_bytes("from,event,to\rA,go\u2028on,B\r".encode())
    source, (machine,) = read(tmp_path / "x.csv", None)
    assert table(machine) == {("go on", "A", "B")} and source.text_of(machine.moves[0].span).startswith("A,go")


@pytest.mark.parametrize("name", ["jobs.txt", "jobs"])
def test_a_table_is_recognised_by_its_first_line(tmp_path, name):
    assert len(sketch(tmp_path, name, JOBS).moves) == 2
    with pytest.raises(UserError, match="add --kind"):
        sketch(tmp_path, name, JOBS.replace("event", "when"))


def test_a_column_names_the_machine(tmp_path):
    _, machines = sketches(tmp_path, "x.csv", "machine,from,event,to\nJob,A,go,B\nHost,A,take,B\nJob,B,back,A\n")
    assert [(m.name, len(m.moves)) for m in machines] == [("Job", 2), ("Host", 1)]


def test_a_note_points_to_its_cell(tmp_path):
    source, (machine,) = sketches(tmp_path, "x.csv", 'from,event,to,who\nA,go,B,"Ann, Bob"\n')
    (note,) = machine.notes
    assert source.excerpt(note.span).splitlines()[1:] == ['2 | A,go,B,"Ann, Bob"', "  |         ^^^^^^^^"]


@settings(max_examples=150, deadline=None)
@given(st.text(st.sampled_from('A*,;"\n\r #[é'), max_size=40))
def test_any_text_is_a_table_or_an_error(tmp_path_factory, text):
    path = tmp_path_factory.getbasetemp() / "any.csv"
    path.write_text(f"from,event,to\n{text}", newline="")
    try:
        (machine,) = read(path, None)[1]
    except UserError:
        return
    assert len({(m.event, m.source) for m in machine.moves}) == len(machine.moves) > 0
