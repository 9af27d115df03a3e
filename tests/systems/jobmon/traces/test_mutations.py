"""Logs of Jobmon from random runs of the shipped model, as they are and mutated, checked by the validator and by hand.

The checks by hand share no code with the validator. Both must agree on the verdict and on the record.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from schedproof.proofs.traces import LogVerdict, ValidationReport, check_trace
from tests.support.sample import thinned
from tests.systems.jobmon.traces.brute_force_dumps import validate_dumps
from tests.systems.jobmon.traces.brute_force_lines import validate_audit, validate_events
from tests.systems.jobmon.traces.logs import (
    EVENT_TEXTS,
    INSTANCE,
    RUN,
    TASK,
    WORKFLOW,
    audit,
    dumps,
    events,
    hide,
    leave_out,
    walk,
)

STATUSES = {"task": TASK, "task_instance": INSTANCE, "workflow_run": RUN, "workflow": WORKFLOW}
CHUNKS = [3, *(pytest.param(n, marks=pytest.mark.long(one_in=32)) for n in (0, 1, 2, 4, 5))]
INSTANCES = "".join(INSTANCE.values())


def checked(records: list[dict[str, Any]], tmp_path: Path) -> ValidationReport:
    path = tmp_path / "trace"
    path.write_text("\n".join(map(json.dumps, records)), "utf-8")
    return check_trace("jobmon", path)


def record_of(report: ValidationReport) -> int | None:
    assert report.verdict is not LogVerdict.UNDETERMINED, report.note
    return report.first_nonconformance.record if report.first_nonconformance else None


# --- As they are


@pytest.mark.long
def test_the_runs_see_enough() -> None:
    """Every state of a task and of a run is visited, and of an instance too."""
    unobserved = {"Task": set(TASK), "TaskInstance": {*INSTANCE, "Absent"}, "WorkflowRun": {*RUN, "Absent"}}
    for seed in range(200):
        for moment in walk(seed):
            for sort, states in unobserved.items():
                states -= {fields["state"] for fields in moment.shown[sort].values()}
        if not any(unobserved.values()):
            return
    raise AssertionError(f"never visited: {unobserved}")


@pytest.mark.long(one_in=12)
@pytest.mark.parametrize("chunk", CHUNKS)
def test_runs_of_the_model_conform(chunk: int, tmp_path: Path) -> None:
    """As dumps, with states skipped and tables left out, as audit rows, and as events."""
    lengths: Counter[str] = Counter()
    for seed in range(chunk * 10, chunk * 10 + 10):
        sparse = dumps(seed, sparse=1 + seed % 9)
        less = dumps(seed)
        leave_out(less, random.Random(f"less {seed}"))
        for kind, records in {"dumps": sparse, "audit": audit(seed), "events": events(seed)}.items():
            lengths[kind] += len(records)
            if records:
                report = checked(records, tmp_path)
                assert report.verdict is LogVerdict.CONFORMS, (seed, kind, report.text())
        # What is left out may leave too much open, but no run then fails to conform.
        assert checked(less, tmp_path).verdict is not LogVerdict.VIOLATES, seed
    assert min(lengths.values()) > 50, lengths


def conform_as_far_as_shown(seeds: Iterable[int], tmp_path: Path) -> Counter[str]:
    seen: Counter[str] = Counter()
    for seed in seeds:
        records = dumps(seed, sparse=1 + seed % 9)
        hide(records, random.Random(f"hide {seed}"))
        report = checked(records, tmp_path)
        assert report.verdict is not LogVerdict.VIOLATES, (seed, report.text())
        seen[report.verdict.value] += 1
    return seen


@pytest.mark.long
def test_what_is_hidden_is_no_nonconformance(tmp_path: Path) -> None:
    """In 8, 19 and 26 more comes after the last dump that has a table."""
    seen = conform_as_far_as_shown([0, 4, 7, 8, 12, 18, 19, 20, 26, 28], tmp_path)
    assert set(seen) == {"conforms"}


@pytest.mark.long(seconds=15, one_in=12)
def test_what_is_hidden_is_no_nonconformance_in_more_runs(tmp_path: Path) -> None:
    seen = conform_as_far_as_shown(range(44, 90), tmp_path)
    assert seen["conforms"] > 35, seen


@pytest.mark.long(one_in=9)
def test_runs_break_properties_by_name(tmp_path: Path) -> None:
    """What the shipped machine does not keep is found in its logs: each a property that the model says is broken."""
    unbroken = {"task-is-the-image-of-its-instance", "the-client-moves-only-its-own", "one-live-instance"}
    for seed in range(240):
        unbroken -= {b.requirement.property for b in checked(dumps(seed), tmp_path).breaks}
        if not unbroken:
            return
    raise AssertionError(f"never broken: {unbroken}")


# --- Dumps


def mutate_dumps(records: list[dict[str, Any]], rng: random.Random) -> None:
    """Another status, another count, a dump or a row less, two dumps exchanged."""
    record = rng.choice(records)
    table = rng.choice(["task", "task", "task_instance", "task_instance", "workflow_run", "workflow"])
    rows = record[table]
    match rng.randrange(7):
        case 0 | 1 | 2 if rows:
            rng.choice(rows)["status"] = rng.choice(list(STATUSES[table].values()))
        case 3:
            rng.choice(record["task"])["num_attempts"] = rng.randrange(4)
        case 4 if len(records) > 2:
            records.remove(record)
        case 5:
            other = rng.choice(records)
            for name in STATUSES:
                record[name], other[name] = other[name], record[name]
        case 6 if rows and table in ("task_instance", "workflow_run"):
            rows.remove(rng.choice(rows))


def compare_dumps(seeds: range, tmp_path: Path) -> Counter[str]:
    seen: Counter[str] = Counter()
    for seed in seeds:
        rng = random.Random(f"mutate dumps {seed}")
        records = dumps(seed, sparse=1 + seed % 8)
        for _ in range(1 + seed % 2):
            mutate_dumps(records, rng)
        report = checked(records, tmp_path)
        assert record_of(report) == validate_dumps(records), (seed, report.text())
        seen[report.verdict.value] += 1
    return seen


@pytest.mark.long(one_in=12)
@pytest.mark.parametrize("chunk", CHUNKS)
def test_dumps(chunk: int, tmp_path: Path) -> None:
    seen = compare_dumps(range(chunk * 20, chunk * 20 + 20), tmp_path)
    assert min(seen["conforms"], seen["violates"]) >= 3, seen


@pytest.mark.long(seconds=9, one_in=32)
@pytest.mark.parametrize("first", range(120, 520, 100))
def test_more_dumps(first: int, tmp_path: Path) -> None:
    seen = compare_dumps(range(first, first + 100), tmp_path)
    assert min(seen["conforms"], seen["violates"]) >= 10, seen


def test_a_queued_task_without_a_row_of_its_instance(tmp_path: Path) -> None:
    """No dump shows an instance at all: a row was taken out of the last one."""
    assert compare_dumps(range(500, 501), tmp_path)["violates"]


# --- Audit rows


def mutate_audit(rows: list[dict[str, Any]], rng: random.Random) -> None:
    row, other = rng.choice(rows), rng.choice(rows)
    match rng.randrange(7):
        case 0:
            row["new_status"] = rng.choice("GQIORDEAF")
        case 1:
            row["previous_status"] = rng.choice([*"GQIORDEAF", None])
        case 2 if len(rows) > 2:
            rows.remove(row)
        case 3:
            row["exited_at"] = rng.choice([None, row["entered_at"], row["entered_at"] + 2])
        case 4:
            for name in ("previous_status", "new_status"):
                row[name], other[name] = other[name], row[name]
        case 5:
            row["task_id"] = rng.randrange(2)
        case _:
            row["new_status"], row["exited_at"] = "E", rng.choice([None, row["entered_at"]])


def csv_of(rows: list[dict[str, Any]]) -> str:
    lines = [",".join(rows[0])]
    return "\n".join([*lines, *(",".join("" if v is None else str(v) for v in row.values()) for row in rows)])


@pytest.mark.long
@pytest.mark.parametrize("chunk", thinned(range(5), 5))
def test_audit_rows(chunk: int, tmp_path: Path) -> None:
    """As JSON and as CSV."""
    seen: Counter[str] = Counter()
    for seed in range(chunk * 40, chunk * 40 + 40):
        rng, rows = random.Random(f"mutate audit {seed}"), audit(seed)
        for _ in range(seed % 3):
            mutate_audit(rows, rng)
        report = checked(rows, tmp_path)
        assert record_of(report) == validate_audit(rows), (seed, report.text())
        (tmp_path / "trace.csv").write_text(csv_of(rows), "utf-8")
        assert record_of(check_trace("jobmon", tmp_path / "trace.csv")) == record_of(report)
        seen[report.verdict.value] += 1
    assert min(seen["conforms"], seen["violates"]) >= 8, seen


# --- Events


def mutate_events(lines: list[dict[str, Any]], rng: random.Random) -> None:
    of_instances = [line for line in lines if "task_instance_id" in line]
    line, other = rng.choice(lines), rng.choice(lines)
    match rng.randrange(7):
        case 0 if of_instances:
            line = rng.choice(of_instances)
            texts = [
                *EVENT_TEXTS.values(),
                "Task instance transitioned to error state",
                "Task instance killed (KILL_SELF to ERROR_FATAL)",
            ]
            line["event"] = rng.choice(texts).format(n=line["task_instance_id"])
            line["error_state"] = rng.choice("EZUWF")
        case 1 if len(lines) > 2:
            lines.remove(line)
        case 2:
            for name in {*line, *other} - {"timestamp"}:
                line[name], other[name] = other.get(name), line.get(name)
            for each in (line, other):
                for name in [name for name, value in each.items() if value is None]:
                    del each[name]
        case 3 if of_instances:
            line = rng.choice(of_instances)
            line["event"] = line["event"].replace(f"instance {line['task_instance_id']} ", "instance ")
            line["task_instance_id"] = rng.randrange(3)
        case 4 if "old_status" in line:
            line[rng.choice(["old_status", "new_status"])] = rng.choice(list(RUN.values()))
            line["event"] = f"Workflow run transitioned from {line['old_status']} to {line['new_status']}"
        case _ if of_instances:
            line = rng.choice(of_instances)
            event = rng.choice(["Untimely transition rejected", "Invalid TaskInstance transition"])
            asked = {"current_status": rng.choice(INSTANCES), "requested_status": rng.choice(INSTANCES)}
            refusal = {
                "timestamp": line["timestamp"],
                "event": event,
                "task_instance_id": line["task_instance_id"],
                **asked,
            }
            lines.insert(lines.index(line) + 1, refusal)


@pytest.mark.long
@pytest.mark.parametrize("chunk", thinned(range(6), 6))
def test_events(chunk: int, tmp_path: Path) -> None:
    seen: Counter[str] = Counter()
    for seed in range(chunk * 20, chunk * 20 + 20):
        rng, lines = random.Random(f"mutate events {seed}"), events(seed)
        if not lines:
            continue
        for _ in range(seed % 3):
            mutate_events(lines, rng)
        report = checked(lines, tmp_path)
        assert record_of(report) == validate_events(lines), (seed, report.text(), lines)
        seen[report.verdict.value] += 1
    assert min(seen["conforms"], seen["violates"]) >= 4, seen
