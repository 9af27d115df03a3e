"""Raft as etcd logs it: traces that conform, that are cut or reordered, and of nodes that break a rule; proofs and explorations."""

from __future__ import annotations

import importlib
import json
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from schedproof.api import model_check, prove
from schedproof.model.lang import NONE, Model, Row, me
from schedproof.model.registry.discovery import every
from schedproof.proofs.traces import check_trace
from schedproof.proofs.traces.errors import TraceError
from tests.support.places import ROOT

FOLDER = ROOT / "examples" / "raft"


@pytest.fixture
def part(monkeypatch):
    """Imports a module of the example."""
    monkeypatch.syspath_prepend(str(FOLDER))
    return importlib.import_module


@pytest.fixture
def check(tmp_path, part):
    """The report on the lines of a trace."""
    raft = every(FOLDER).system("raft")

    def report(lines: list[str]):
        path = tmp_path / "trace.ndjson"
        path.write_text("\n".join(lines) + "\n", "utf-8")
        return check_trace(raft, path)

    return report


def trace_of(cluster: ModuleType, events: int, seed: int, fault: str = "") -> list[str]:
    made = cluster.Cluster(["1", "2", "3"], seed, fault, calm=False)
    made.run(events)
    return made.lines[:events]


def written() -> list[str]:
    """The trace of the example."""
    return (FOLDER / "elections.ndjson").read_text("utf-8").splitlines()


def event_of(line: str) -> dict:
    return json.loads(line)["event"]


def test_the_trace_of_the_example_conforms(check):
    report = check(written())
    assert report.verdict == "conforms" and report.format == "etcd-raft"


def test_a_trace_without_an_event_is_flagged(check):
    lines = written()
    missing = {"BecomeCandidate", "BecomeLeader", "Replicate"}
    places = [i for i, line in enumerate(lines) if event_of(line)["name"] in missing]
    assert {event_of(lines[i])["name"] for i in places} == missing
    for place in places[::3]:
        assert check(lines[:place] + lines[place + 1 :]).verdict == "violates", event_of(lines[place])


def test_a_message_before_it_is_sent_is_flagged(check):
    lines = written()
    checked = 0
    for place, line in enumerate(lines):
        event = event_of(line)
        if not event["name"].startswith("Receive") or event["msg"]["from"] == event["msg"]["to"]:
            continue
        sent = [i for i in range(place) if event_of(lines[i]).get("msg") == event["msg"]]
        if len(sent) == 1 and checked < 6:
            checked += 1
            late = [*lines[: sent[0]], *lines[sent[0] + 1 : place + 1], lines[sent[0]], *lines[place + 1 :]]
            assert check(late).verdict == "violates", event
    assert checked == 6


def test_an_answer_before_it_is_saved_is_flagged(check):
    lines = written()
    (place,) = [i for i, line in enumerate(lines) if event_of(line)["name"] == "SendRequestVoteResponse"][2:3]
    by = event_of(lines[place])["nid"]
    saves = [
        i for i in range(place, len(lines)) if (event_of(lines[i])["nid"], event_of(lines[i])["name"]) == (by, "Ready")
    ]
    assert check(lines[: saves[0]] + lines[saves[0] + 1 :]).verdict == "violates"


def test_a_trace_whose_beginning_is_cut_is_refused(check):
    with pytest.raises(TraceError, match="has no InitState"):
        check(written()[30:])


def test_a_line_that_is_cut_is_refused(check):
    lines = written()
    with pytest.raises(TraceError, match="not JSON"):
        check([*lines[:100], lines[100][:50]])


def test_a_change_of_members_is_refused(check):
    lines = written()
    lines[100] = lines[100].replace('["1", "2", "3"]', '["1", "2"]')
    with pytest.raises(TraceError, match="the members change"):
        check(lines)


FAULTS = {
    "sends-before-saving": (1, "m.sender.saved_term"),
    "keeps-conflicting-entries": (43, "length"),
    "commits-old-terms": (1, "n.segment"),
    "votes-twice": (1, "n.vote"),
}


@pytest.mark.long(seconds=6)
def test_nodes_that_break_a_rule_are_found(check, part):
    cluster = part("cluster")
    assert set(FAULTS) == set(cluster.FAULTS)
    for fault, (seed, reason) in FAULTS.items():
        report = check(trace_of(cluster, 1200, seed, fault))
        assert report.verdict == "violates" and reason in report.first_nonconformance.reason, fault


@pytest.mark.long(seconds=10)
def test_nodes_that_break_none_conform(check, part):
    cluster = part("cluster")
    for seed in (1, 2, 43):
        assert check(trace_of(cluster, 1200, seed)).verdict == "conforms", seed


def with_rows(model: Model, event: str, **sets: object) -> Model:
    """The model whose nodes set other values at an event."""

    def changed(row: Row) -> Row:
        if (row.sort.name, row.event) != ("Node", event):
            return row
        return Row(row.sort, row.event, row.source, row.target, **{**dict(row.sets), **sets})

    return replace(model, rows=[changed(row) for row in model.rows])


@pytest.mark.long(seconds=120, one_in=12)
def test_election_safety_is_proved_for_any_number(part):
    etcd = part("raft.properties").ETCD
    induction = prove(etcd)
    assert [prop.name for prop in etcd.properties if not induction.proved(prop.name)] == []


@pytest.mark.long(seconds=120, one_in=12)
def test_logs_of_two_nodes_match(part):
    small = part("raft.properties").SMALL
    verdicts = {result.name: str(result.reach) for result in model_check(small, {})}
    assert all(reach.startswith("holds") for reach in verdicts.values()), verdicts


@pytest.mark.long(seconds=120, one_in=12)
def test_a_model_that_breaks_a_rule_is_refuted(part):
    small = replace(part("raft.properties").SMALL, bound=part("raft.model").bounds(1, 1))
    forgets = with_rows(small, "restart", term=0, vote=NONE)
    (result,) = model_check(forgets, {}, only=["one-vote-elected-elected"])
    assert str(result.reach).startswith("refuted in")
    shortens = with_rows(small, "take", length=me.length)
    (result,) = model_check(shortens, {}, only=["logs-are-whole"])
    assert str(result.reach).startswith("refuted in")


def test_the_model_is_short():
    assert len(Path(FOLDER / "raft" / "model.py").read_text("utf-8").splitlines()) <= 300
