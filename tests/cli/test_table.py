"""``schedproof table``: the outcome matrix of a machine, compared with matrices that were written down by hand."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from schedproof.cli import main
from schedproof.cli.matrix import NO_OP, NO_ROW, matrix
from schedproof.cli.tables import table
from schedproof.model.lang import EMPTY, NONE, Row
from schedproof.model.registry.discovery import systems
from tests.support.places import DATA
from tests.support.rows import each_row

YUNIKORN = DATA / "yunikorn" / "application-matrix.txt"

FIGURE = {
    # HiveD's figure of the pod groups (line 14 of its document), with the events that are described from line 47 on.
    "Pending": {"e0": "Allocated", "e1": "Preempting", "e8": "Deleted"},
    "Preempting": {"e2": "Allocated", "e5": "Pending", "e7": "Deleted", "ec": "Pending"},
    "Allocated": {"e3": "Deleted", "e6": "BeingPreempted"},
    "BeingPreempted": {"e4": "Deleted", "ec": "Allocated"},
    "Deleted": {},
}


def test_pod_groups() -> None:
    outcome_matrix = matrix(systems()["hived"].base, "PodGroup")
    assert set(outcome_matrix.events) == {event for row in FIGURE.values() for event in row}
    assert outcome_matrix.outcomes == {(s, e): FIGURE[s].get(e, NO_ROW) for s in FIGURE for e in outcome_matrix.events}
    assert (outcome_matrix.moves, outcome_matrix.no_ops, outcome_matrix.errors) == (11, 0, 39)


def test_events_that_only_write_attributes_stand_apart() -> None:
    outcome_matrix = matrix(systems()["hived"].base, "Cell")
    assert outcome_matrix.bookkeeping == {"e3": ["Reserving"], "e6": ["Reserved"]}
    assert not {"e3", "e6"} & set(outcome_matrix.events)


def test_what_a_no_op_is() -> None:
    """A row that stays and writes nothing, or history only; one that writes an attribute does something."""
    model = systems()["hived"].base
    group, cell = (model.machine(name).sort for name in ("PodGroup", "Cell"))
    rows = [
        Row(group, "e0", "Allocated", "Allocated"),
        Row(group, "e1", "Deleted", "Deleted", placement=EMPTY),
        Row(cell, "e0", "Reserved", "Reserved", user=NONE),
        Row(cell, "idle", "Free", "Free"),
    ]
    changed = replace(model, rows=[*model.rows, *rows])
    groups, cells = matrix(changed, "PodGroup"), matrix(changed, "Cell")
    assert groups.outcomes["Allocated", "e0"] == groups.outcomes["Deleted", "e1"] == NO_OP
    assert (groups.moves, groups.no_ops, groups.errors) == (11, 2, 37)
    assert cells.outcomes["Reserved", "e0"] == "Reserved"
    assert cells.outcomes["Free", "idle"] == NO_OP and "idle" in cells.events


def test_the_command(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["table", "hived", "PodGroup"]) == 0
    head, states, *_ = out = capfd.readouterr().out.splitlines()
    assert head == "PodGroup of hived as-written"
    assert states.split() == ["state", "e0", "e1", "e2", "e3", "e4", "e5", "e6", "e7", "e8", "ec"]
    assert out[4].split() == ["Allocated", "-", "-", "-", "Deleted", "-", "-", "BeingPreempted", "-", "-", "-"]
    assert out[-1] == "5 x 10: 11 moves, 0 no-ops, 39 errors"
    assert main(["table", "hived", "Cell", "--variant", "as-written"]) == 0
    assert "only write attributes, with the states in which they may come: e3 (Reserving)" in capfd.readouterr().out


def test_json(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["table", "hived", "PodGroup", "--json", "-"]) == 0
    output = json.loads(capfd.readouterr().out)
    assert (output["system"], output["variant"], output["sort"]) == ("hived", "as-written", "PodGroup")
    assert output["outcomes"]["Pending"] == {e: FIGURE["Pending"].get(e, "-") for e in output["events"]}
    assert (output["moves"], output["no_ops"], output["errors"], output["bookkeeping"]) == (11, 0, 39, {})


@each_row(
    ("arguments", "message"),
    [
        (["nosuch", "PodGroup"], "unknown system 'nosuch'"),
        (["hived", "PodGrup"], "unknown machine of hived as-written 'PodGrup'; did you mean PodGroup? choose from PodGroup, Cell"),
        (["hived", "PodGroup", "--variant", "nosuch"], "unknown variant of hived 'nosuch'"),
        (["hived"], "missing argument 'SORT'"),
        (["hived", "Cell", "--json", "/no/such/folder/x"], "does not exist; create it first"),
    ],
)  # fmt: skip
def test_mistakes(arguments: list[str], message: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["table", *arguments]) == 2
    out, err = capfd.readouterr()
    assert not out and message in err and err.count("\n") == 1


@pytest.mark.long
def test_every_machine_has_a_matrix(capfd: pytest.CaptureFixture[str]) -> None:
    """A cell per state and event, each of the kinds there are; a machine without states has none to show."""
    for system in systems().values():
        for model in system.variants.values():
            for machine in model.machines:
                outcome_matrix = matrix(model, machine.sort.name)
                assert len(outcome_matrix.outcomes) == len(machine.states) * len(outcome_matrix.events)
                assert outcome_matrix.moves + outcome_matrix.no_ops + outcome_matrix.errors == len(
                    outcome_matrix.outcomes
                )
                code = main(["table", system.name, machine.sort.name, "--variant", model.variant])
                assert code == (0 if machine.states else 2), machine.sort
    assert "Traceback" not in capfd.readouterr().err


def test_the_core_application_of_yunikorn() -> None:
    """The matrix as it was observed by running the real v0.12.2 table, copied by hand: 11 x 6 cells."""
    (_, *events), *rows = (line.split() for line in YUNIKORN.read_text("utf-8").splitlines())
    expected = {(s, e): outcome for s, *outcomes in rows for e, outcome in zip(events, outcomes, strict=True)}
    assert len(expected) == 66
    outcome_matrix = matrix(systems()["yunikorn"].variants["v0.12.2"], "Application")
    assert set(outcome_matrix.events) - set(events) == {"discard"}, (
        "a partition takes its applications along (fact 1.2)"
    )
    assert {key: outcome_matrix.outcomes[key] for key in expected} == expected
    assert [list(expected.values()).count(each) for each in (NO_OP, NO_ROW)] == [1, 46]


def test_a_title_longer_than_the_table_is_one_line(capfd: pytest.CaptureFixture[str]) -> None:
    table("lease fenced at Worker=2,Lease=1: every reachable state", ["a", "b"], [["1", "2"]])
    assert capfd.readouterr().out.splitlines() == [
        "lease fenced at Worker=2,Lease=1: every reachable state",
        "a  b",
        "1  2",
    ]
