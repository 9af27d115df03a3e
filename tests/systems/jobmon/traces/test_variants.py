"""Which variants check a log of Jobmon, and that the repaired one does so by its own tables."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from schedproof.cli import main
from schedproof.impl.systems.jobmon import requests as ask
from schedproof.impl.systems.jobmon.store import MemoryStore
from schedproof.model.registry.discovery import systems
from schedproof.model.systems.jobmon import REPAIRED, SHIPPED
from schedproof.proofs.systems.jobmon.traces.words import SHIPPED_TABLES, table_of
from schedproof.proofs.traces import LogVerdict, check_trace
from tests.support.places import DATA
from tests.support.rows import each_row
from tests.support.sample import thinned
from tests.systems.jobmon.server.bench import Bench
from tests.systems.jobmon.traces.logs import dumps
from tests.systems.jobmon.traces.test_logs import events_of

LOGS = DATA / "jobmon"
SAMPLES = sorted(path.name for path in LOGS.iterdir() if path.name != "README.md")

NOT_REPAIRED = {
    "audit-retries.jsonl": 14,  # a task runs before its instance is launched
    "does-not-conform-audit-done-is-left.csv": 4,  # likewise
    "does-not-conform-dumps-two-live-instances.jsonl": 2,
    "does-not-conform-dumps-two-runs.jsonl": 2,  # the second run is registered while the first is on its way
    "does-not-conform-events-running-after-done.jsonl": 3,
    "dumps-an-end-is-left.jsonl": 1,  # the task is not the image of its instance
    "dumps-two-live-instances.jsonl": 3,
}
"""The records at which what happened cannot happen any more."""


def verdict(records: Iterable[Any], tmp_path: Path, variant: str) -> bool:
    """Whether the records conform."""
    path = tmp_path / "trace"
    path.write_text("\n".join(json.dumps(record) for record in records), "utf-8")
    report = check_trace("jobmon", path, variant)
    assert report.variant == variant and report.verdict is not LogVerdict.UNDETERMINED
    return report.verdict is LogVerdict.CONFORMS


@pytest.mark.long
@each_row("name", SAMPLES)
@each_row("variant", systems()["jobmon"].variants)
def test_checked_or_refused_in_one_line(variant: str, name: str, capfd: pytest.CaptureFixture[str]) -> None:
    status = main(["validate", "jobmon", str(LOGS / name), "--variant", variant])
    out, err = capfd.readouterr()
    if variant not in ("shipped", "repaired"):
        assert status == 2 and not out and len(err.splitlines()) == 1
        assert err.rstrip().endswith(f"does not fit the variant {variant!r}; choose from shipped, repaired")
    else:
        assert status in (0, 1) and out.startswith(f"jobmon {variant}: ") and not err


@each_row("name", SAMPLES)
def test_the_repaired_machine_checks_by_its_own_tables(name: str) -> None:
    report = check_trace("jobmon", LOGS / name, "repaired")
    nonconformance = report.first_nonconformance
    assert (nonconformance.record if nonconformance else None) == NOT_REPAIRED.get(name), report.text()
    assert not report.breaks  # it keeps all its properties


def test_tables() -> None:
    for sort, table in SHIPPED_TABLES.items():
        assert table_of(SHIPPED, sort) == table
    moves = {(row.source, row.target) for row in table_of(REPAIRED, "TaskInstance")}
    assert not any("KillSelf" in move for move in moves)
    assert ("Running", "ErrorFatal") in moves and ("Instantiated", "Running") not in moves


@pytest.mark.parametrize("seed", thinned(range(8), 4))
def test_runs_of_the_repaired_machine_conform(seed: int, tmp_path: Path) -> None:
    assert verdict(dumps(seed, variant="repaired"), tmp_path, "repaired")


@pytest.mark.parametrize(
    ("texts", "shipped", "repaired"),
    [
        ("I O R D", True, True),
        ("#IE R", True, False),  # a wrapper waits until its instance is launched
        ("O K", True, False),  # what is to end is marked, and keeps its state
        ("I O X !E", True, True),
        ("R #FD", True, True),  # it has ended without a line
        ("R #RD", False, True),  # its lease has run out
        ("R #RQ", True, True),
        ("R ~RQ", False, False),
        ("D R", False, False),
    ],
)
def test_events(texts: str, shipped: bool, repaired: bool, tmp_path: Path) -> None:
    conform = [verdict(events_of(*texts.split()), tmp_path, variant) for variant in ("shipped", "repaired")]
    assert conform == [shipped, repaired]


@each_row("way", ["QIORD", "QIORE", "QIORZ", "QIW", "QIORTU", "QIOX"])
@each_row("most", [1, 2])
def test_the_audit_of_the_reference_implementation_conforms(way: str, most: int, tmp_path: Path) -> None:
    bench = Bench(MemoryStore())
    bench.register(ask.TaskSpec("a", "true", max_attempts=most))
    bench.run()
    bench.queue()
    bench.bring(1, way[-1])
    assert verdict([vars(audit) for audit in bench.store.snapshot().audits], tmp_path, "repaired")


@each_row(
    ("source", "target", "shipped", "repaired"),
    [
        ("Q", "F", False, True),  # a run that ends gives up what was still queued
        ("Q", "G", True, True),  # a resume, or such an end
        ("Q", "E", False, True),  # on the way to G
        ("R", "A", True, True),  # in one row, as 3.7 writes it (facts 2.2)
        ("I", "A", False, False),  # what has not started had no resources
        ("I", "R", True, False),
        ("D", "G", False, False),
    ],
)
def test_audit_rows(source: str, target: str, shipped: bool, repaired: bool, tmp_path: Path) -> None:
    row = {"id": 1, "task_id": 7, "previous_status": source, "new_status": target, "entered_at": 0}
    row["exited_at"] = 0 if target == "E" else None
    assert [verdict([row], tmp_path, variant) for variant in ("shipped", "repaired")] == [shipped, repaired]
