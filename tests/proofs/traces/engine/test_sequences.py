"""Logs with sequences: long ones are validated as they are, objects appear and end, and wrong items are flagged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from schedproof.model.lang import Sequence
from schedproof.model.registry.system import System
from schedproof.model.semantics import Instance, Run
from schedproof.proofs.traces import LogVerdict, TraceError, ValidationReport, check_records
from schedproof.proofs.traces.formats.writing import as_itf, as_plain
from tests.proofs.traces.engine.changed_runs import changes_noticed
from tests.support.logs import NATURALS
from tests.support.random_models import SequenceMaker

Log = list[dict[str, Any]]
HEADER = {"schedproof": 1, "system": "logs", "objects": {"Node": ["n0"], "Job": ["a"]}}
ENDLESS = replace(
    NATURALS,
    actions=[replace(a, when=a.when[:1]) if a.name in ("lead", "write") else a for a in NATURALS.actions],
)
"""Terms and logs without an end."""


def system(model: Any = ENDLESS) -> System:
    return System("logs", "Logs", {"toy": model}, validated_by="toy")


def log(many: int, seed: int) -> Log:
    """What one node does at random, by an implementation that has lists; jobs come."""
    rng, records = Random(seed), Log()
    term, entries, queue, jobs = 0, list[int](), list[str](), 1
    while len(records) < many:
        match rng.choice(["lead", "write", "write", "write", "cut", "push", "pop"]):
            case "lead":
                term += 1
                records.append({"action": "lead", "parameters": {"n": "n0"}, "state": {"Node": {"n0": {"term": term}}}})
            case "write":
                entries.append(term)
                record = {
                    "action": "write",
                    "parameters": {"n": "n0"},
                    "state": {"Node": {"n0": {"log": list(entries)}}},
                }
                records.append(record)
            case "cut" if len(entries) > 1:
                entries.pop()
                records.append(
                    {"action": "cut", "parameters": {"n": "n0"}, "state": {"Node": {"n0": {"log": list(entries)}}}}
                )
            case "push" if len(queue) < 4:
                name, jobs = f"job{jobs}", jobs + 1
                queue.append(name)
                records.append({"objects": {"Job": [name]}})
                record = {
                    "action": "push",
                    "parameters": {"n": "n0", "j": name},
                    "state": {"Node": {"n0": {"queue": list(queue)}}},
                }
                records.append(record)
            case "pop" if queue:
                queue.pop(0)
                records.append(
                    {"action": "pop", "parameters": {"n": "n0"}, "state": {"Node": {"n0": {"queue": list(queue)}}}}
                )
    return records


def verdict(records: Log) -> ValidationReport:
    return check_records(system(), HEADER, records)


def test_long_logs_conform_beyond_the_bound_of_explorations() -> None:
    report = verdict(log(300, 1))
    assert report.verdict is LogVerdict.CONFORMS
    assert max(len(r["state"]["Node"]["n0"].get("log", [])) for r in log(300, 1) if "state" in r) > 50


def last(records: Log, action: str) -> dict[str, Any]:
    """The fields of the node in the last record of an action."""
    fields: dict[str, Any] = [r for r in records if r.get("action") == action][-1]["state"]["Node"]["n0"]
    return fields


def wrong_entry(records: Log) -> None:
    last(records, "write")["log"][-1] += 1


def truncated(records: Log) -> None:
    last(records, "write")["log"].pop(0)


def reordered(records: Log) -> None:
    fields = max(
        (r["state"]["Node"]["n0"] for r in records if r.get("action") == "push"), key=lambda f: len(f["queue"])
    )
    fields["queue"].reverse()


@pytest.mark.parametrize("corrupt", [wrong_entry, truncated, reordered])
def test_a_wrong_sequence_is_flagged(corrupt: Callable[[Log], None]) -> None:
    records = log(80, 3)
    corrupt(records)
    assert verdict(records).verdict is LogVerdict.VIOLATES


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (3, "write a list of its items, each Nat"),
        (["x"], "is not a value of type Nat"),
        ([-1], "is not a value of type Nat"),
        ([1 << 70], "more than a sequence holds, whose numbers have 63 bits"),
    ],
)
def test_what_is_no_sequence_is_refused(value: object, message: str) -> None:
    with pytest.raises(TraceError, match=message):
        verdict([{"state": {"Node": {"n0": {"log": value}}}}])


def an_item_more_or_less(instance: Instance, kind: Any, value: int, rng: Random) -> int:
    items = instance.items(kind)
    return items.sliced(value, 1, first=False) if value else items.appended(value, items.low)


@pytest.mark.long
@pytest.mark.parametrize("write", [as_plain, as_itf])
def test_random_runs_conform_and_other_items_do_not(write: Callable[[Run], str], tmp_path: Path) -> None:
    assert changes_noticed(range(8), SequenceMaker, Sequence, an_item_more_or_less, write, tmp_path / "run.json") >= 3


def test_a_report_writes_sequences_as_such() -> None:
    """A set has other brackets."""
    lead, write = {"action": "lead", "parameters": {"n": "n0"}}, {"action": "write", "parameters": {"n": "n0"}}
    report = check_records(system(NATURALS), HEADER, [lead, write, {"state": {"Node": {"n0": {"log": [7]}}}}])
    assert report.first_nonconformance is not None
    (change,) = report.first_nonconformance.unexplained
    text = "\n".join(change.text())
    assert "write(n=n0) is possible here, and gives [1, 1]" in text
    assert "cut(n=n0) needs 1 < the length of n.log: n0.log is [1] since record 2" in text
    cut = check_records(system(NATURALS), HEADER, [lead, write, {"action": "cut", "parameters": {"n": "n0"}}])
    assert cut.first_nonconformance is not None
    assert "(n = n0: Up term 1 log [1] queue [] kinds [drop])" in cut.first_nonconformance.reason
