"""Which earlier record brought an object into the state that a record contradicts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from schedproof.proofs.traces import NonconformanceReport, check_records, check_trace
from schedproof.proofs.traces.engine import origins
from schedproof.proofs.traces.engine.trace_steps import TraceSteps
from tests.support.places import DATA

Record = Mapping[str, Any]

CELLS = {"schedproof": 1, "system": "hived", "objects": {"PodGroup": ["low", "high"], "Cell": ["a", "b"]}}
OPEN = {"schedproof": 1, "system": "hived", "objects": {"Cell": ["a", "b"]}}
WAIT: Record = {"state": {}}
"""A record of which nothing changes."""


def allocate(group: str, *cells: str) -> Record:
    return {"action": "allocate", "parameters": {"p": group, **({"K": list(cells)} if cells else {})}}


def violation(header: Record, *records: Record) -> NonconformanceReport:
    """The report on the last record, which does not conform."""
    report = check_records("hived", header, records).first_nonconformance
    assert report is not None and report.record == len(records)
    return report


def since(report: NonconformanceReport) -> dict[str, tuple[int, str]]:
    return {name: (origin.record, origin.says) for origin in report.origins for name in origin.fields}


@pytest.mark.parametrize("fast", [True, False])
@pytest.mark.parametrize("header", [CELLS, OPEN])
def test_the_record_that_a_refused_step_runs_into(header: Record, fast: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the fast path, and as the places of objects move because others appear."""
    if not fast:
        monkeypatch.setattr(TraceSteps, "fast_run", lambda *_: None)
    records = [allocate("low", "a"), {"crash": True}, allocate("high", "b"), WAIT, allocate("low", "a")]
    report = violation(header, *records)
    assert since(report)["low.state"] == (1, "allocate(p=low, K={a})")
    assert "    since record 1 (line 1), allocate(p=low, K={a}): low.state" in report.text()


def test_a_difference_names_it_too() -> None:
    """And what never changed has its value from the start."""
    report = violation(
        CELLS, WAIT, allocate("low", "a"), WAIT, {"state": {"Cell": {"a": {"state": "Free"}, "b": {"state": "Used"}}}}
    )
    assert since(report) == {
        "a.state": (2, "allocate(p=low, K={a})"), "a.user": (2, "allocate(p=low, K={a})"), "a.reserver": (0, ""),
        "b.state": (0, ""), "b.user": (0, ""), "b.reserver": (0, ""),
    }  # fmt: skip
    assert report.as_json()["before"]["a"] == {"state": "Used", "user": "low", "reserver": None}
    assert report.as_json()["origins"][0] == {
        "record": 2, "line": 2, "says": "allocate(p=low, K={a})", "fields": ["a.state", "a.user"]
    }  # fmt: skip
    assert any(line.startswith("    since the start: a.reserver, b.state") for line in report.text())


def test_an_uncertain_value_has_no_origin() -> None:
    """Record 1 says not which cell it was: record 2 shows it, and only since then it is certain."""
    free = {"state": {"Cell": {"a": {"state": "Free"}}}}
    report = violation(CELLS, allocate("low"), {"state": {"Cell": {"a": {"state": "Used"}}}}, free)
    assert since(report)["a.state"] == (2, "observation")
    assert "a.state" not in since(violation(CELLS, allocate("low"), {"state": {"Cell": {"a": {"state": "Reserved"}}}}))


def test_an_origin_that_is_no_longer_kept_is_older(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(origins, "MOST_RECORDS", 10)
    report = violation(CELLS, allocate("low", "a"), *[WAIT] * 20, allocate("low", "a"))
    assert since(report)["low.state"] == (12, "")
    assert "    since before record 12 (line 12): low.state" in report.text()


def test_nor_one_beyond_more_states_than_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(origins, "MOST_STATES", 1)
    report = violation(
        CELLS,
        allocate("low"),
        {"state": {"Cell": {"a": {"state": "Used", "user": "low"}, "b": {"state": "Free"}}}},
        allocate("low", "a"),
    )
    assert "low.state" not in since(report)


def test_wide_states_are_kept_for_fewer_records(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(origins, "MOST_VALUES", 50)
    report = violation(CELLS, allocate("low", "a"), *[WAIT] * 20, allocate("low", "a"))
    assert since(report)["low.state"][1] == "" and since(report)["low.state"][0] > 10


def test_a_format_of_one_system_has_them_too() -> None:
    """They are the lines that the excerpt finds in another way: by leaving out all other lines of the log."""
    report = check_trace("hived", DATA / "hived" / "s-17-cancel-one-of-two-pods.jsonl", shorten=True)
    nonconformance = report.first_nonconformance
    assert nonconformance is not None and {origin.line for origin in nonconformance.origins} == {5, 10}
    assert [line for line, _ in report.excerpt] == [1, 5, 10, nonconformance.line]
