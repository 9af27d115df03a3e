"""Where text, figures and v0.12.2 differ, row by row: against what the facts say of it (sections 0 to 4)."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from schedproof.cli import main
from schedproof.cli.commands import findings as command
from schedproof.model.lang import Row
from schedproof.model.registry.discovery import system, systems
from schedproof.model.systems.yunikorn import AS_WRITTEN, V0_12_2
from schedproof.model.systems.yunikorn.sorts import Application
from schedproof.proofs.verification.findings import repeated
from schedproof.proofs.verification.sources import Difference, Kind, differences

Move = tuple[str, str, str]


def moves_of(kind: Kind, sort: str, listed: list[Difference] | None = None) -> set[Move]:
    """The moves of one machine among the differences of a kind."""
    rows = differences(system("yunikorn")) if listed is None else listed
    return {(d.event, d.source, d.target) for d in rows if d.kind is kind and d.sort == sort}


def test_what_only_the_figures_have() -> None:
    """The text has no way back to Running, nothing of Resuming, and calls Failed final (lines 22 to 26)."""
    assert moves_of(Kind.FIGURE_ONLY, "Application") == {
        ("run", "Completing", "Running"),
        ("run", "Resuming", "Accepted"),
        ("resume", "New", "Resuming"),
        ("resume", "Accepted", "Resuming"),
        ("expire", "Failed", "Expired"),
    }
    loops = {("start", "Active", "Active"), ("stop", "Stopped", "Stopped"), ("remove", "Draining", "Draining")}
    assert moves_of(Kind.FIGURE_ONLY, "Queue") == moves_of(Kind.FIGURE_ONLY, "Partition") == loops


def test_what_only_v0_12_2_has() -> None:
    """Section 0, last column: of the core's application one loop, of the shim's all loops and two moves, two of a task."""
    assert moves_of(Kind.RUN_ONLY, "Application") == {("run", "Running", "Running")}
    moves = {move for move in moves_of(Kind.RUN_ONLY, "ShimApplication") if move[1] != move[2]}
    event = "ReleaseAppAllocationAsk"
    assert moves == {(event, "Accepted", "Running"), (event, "Reserving", "Running")}
    assert len(moves_of(Kind.RUN_ONLY, "ShimApplication")) == 2 + 9
    assert moves_of(Kind.RUN_ONLY, "Task") == {
        ("TaskAllocated", "Completed", "Completed"),
        ("CompleteTask", "Completed", "Completed"),
    }
    for sort in ("Queue", "Partition", "ShimNode", "ShimScheduler"):
        assert not moves_of(Kind.RUN_ONLY, sort)


def test_nothing_of_the_document_is_missing_in_v0_12_2() -> None:
    assert not [d for d in differences(system("yunikorn")) if d.kind is Kind.NOT_RUN]


def test_what_nothing_fires() -> None:
    """Section 1.2: nobody rejects; section 2: nobody starts or stops, and partitions are not removed but deleted."""
    assert moves_of(Kind.NEVER_FIRED, "Application") == {("reject", "New", "Rejected")}
    assert {event for event, _, _ in moves_of(Kind.NEVER_FIRED, "Queue")} == {"start", "stop"}
    assert {event for event, _, _ in moves_of(Kind.NEVER_FIRED, "Partition")} == {"start", "stop", "remove"}
    assert not moves_of(Kind.NEVER_FIRED, "ShimApplication"), "the shim is not in this variant: see components"


def test_a_row_that_is_lost_or_added_is_listed() -> None:
    lost = replace(
        V0_12_2,
        rows=[r for r in V0_12_2.rows if (r.event, r.source) != ("complete", "Starting")],
        properties=[],
        refuted=frozenset(),
    )
    variants = {"as-written": AS_WRITTEN, "v0.12.2": lost}
    listed = differences(replace(system("yunikorn"), variants=variants))
    assert moves_of(Kind.NOT_RUN, "Application", listed) == {("complete", "Starting", "Completing")}
    more = replace(
        V0_12_2,
        rows=[*V0_12_2.rows, Row(Application, "fail", "Failed", "Failed", line=26)],
        properties=[],
        refuted=frozenset(),
    )
    listed = differences(replace(system("yunikorn"), variants={"as-written": AS_WRITTEN, "v0.12.2": more}))
    assert ("fail", "Failed", "Failed") in moves_of(Kind.RUN_ONLY, "Application", listed)


def test_systems_without_tables_of_their_own_have_none() -> None:
    assert not differences(systems()["hived"]) and not differences(systems()["beaker"])


def findings_output(capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["findings", "yunikorn"]) == 0
    output = capsys.readouterr().out
    lines = output.splitlines()
    assert "yunikorn: 11 rows of tables: in a figure, not in the text (v0.12.2)" in lines
    assert "  Application, run: Running -> Running (it stays) (fact 1, application_state.go:92)" in lines
    return output


def test_findings_lists_the_differences(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Below the findings, for which this system is explored: here they are left out."""
    monkeypatch.setattr(command, "find", lambda system, variants: [])
    monkeypatch.setattr(command, "defects", lambda system, variants, progress, originals=None: [])
    findings_output(capsys)


@pytest.mark.long(one_in=12)
def test_findings_lists_the_differences_below_the_findings(capsys: pytest.CaptureFixture[str]) -> None:
    output = findings_output(capsys)
    violated = {
        name
        for model in system("yunikorn").variants.values()
        for name in model.refuted - repeated(system("yunikorn"), model)
    }
    assert not {name for name in violated if not re.search(rf"\b{name}\b", output)}
