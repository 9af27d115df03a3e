"""Logs and walks of YuniKorn, mutated, checked by the validator and by checks that share no code with it.

The originals are random runs of tables and triggers that were copied by hand. Validator and check must agree on the verdict, on
the record, and on the releases that explain the log; for walks, on the properties about states that are broken.
"""

from __future__ import annotations

import copy
import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from schedproof.proofs.traces import LogVerdict, ValidationReport, check_trace
from tests.support.sample import thinned
from tests.systems.yunikorn.traces.brute_force import (
    CODES,
    OBJECT,
    tables,
    validate_events,
    validate_log,
    validate_statelog,
)
from tests.systems.yunikorn.traces.brute_force_walk import broken_properties, random_walk, validate_walk
from tests.systems.yunikorn.traces.logs import events, log, statelog

STATES = sorted({state for pair in tables("1.0-1.5")["Application"].items() for state in (pair[0][0], pair[1])})
STATE_PROPERTIES = {
    "new-has-no-asks", "accepted-has-no-allocation", "starting-has-one-allocation", "completing-has-nothing",
    "completed-has-nothing", "failing-has-something-left", "failed-has-nothing",
}  # fmt: skip

Verdict = tuple[str, int | None, tuple[str, ...]]


def checked(text: str, tmp_path: Path) -> tuple[Verdict, ValidationReport]:
    path = tmp_path / "trace"
    path.write_text(text, "utf-8")
    report = check_trace("yunikorn", path)
    assert report.verdict is not LogVerdict.UNDETERMINED, report.note
    record = report.first_nonconformance.record if report.first_nonconformance else None
    return (report.verdict.value, record, tuple(report.releases)), report


# --- State logs


def mutate_statelog(applications: list[dict[str, Any]], rng: random.Random) -> None:
    application = rng.choice(applications)
    entries = application.get("stateLog") or []
    match rng.randrange(8):
        case 0 if entries:
            rng.choice(entries)["applicationState"] = rng.choice(STATES)
        case 1 if entries:
            entries.pop(rng.randrange(len(entries)))
        case 2 if entries:
            entries.insert(rng.randrange(len(entries)), copy.deepcopy(rng.choice(entries)))
        case 3 if len(entries) > 1:
            at = rng.randrange(len(entries) - 1)
            entries[at], entries[at + 1] = entries[at + 1], entries[at]
        case 4 if entries:
            rng.choice(entries)["time"] += rng.choice([-1, 1, 10**10])
        case 5:
            application.pop("stateLog", None)
        case 6:
            application["stateLog"] = rng.choice([[], None, entries])
        case _:
            application["applicationState"] = rng.choice(STATES)


@pytest.mark.parametrize("chunk", thinned(range(4), 4))
def test_state_logs(chunk: int, tmp_path: Path) -> None:
    seen: Counter[str] = Counter()
    for seed in range(chunk * 45, chunk * 45 + 45):
        rng = random.Random(f"mutate statelog {seed}")
        applications = statelog(seed)
        for _ in range(seed % 3):
            mutate_statelog(applications, rng)
        text = json.dumps(applications, indent=rng.choice([None, 1]))
        verdict, _ = checked(text, tmp_path)
        assert verdict == validate_statelog(text), text
        seen[verdict[0]] += 1
    assert min(seen["conforms"], seen["violates"]) >= 10, seen


# --- Events


def mutate_events(records: list[dict[str, Any]], rng: random.Random) -> None:
    at, other = rng.randrange(len(records)), rng.randrange(len(records))
    match rng.randrange(6):
        case 0:
            records[at]["eventChangeDetail"] = rng.choice([*CODES, 300, 302, 0])
        case 1:
            records.insert(other, dict(records[at]))
        case 2:
            records[at], records[other] = records[other], records[at]
        case 3:
            records[at]["objectID"] = records[other]["objectID"]
        case 4:
            records[at]["eventChangeType"] = rng.choice([1, 2, 3])
        case _:
            if len(records) > 1:
                records.pop(at)


@pytest.mark.parametrize("chunk", thinned(range(4), 4))
def test_events(chunk: int, tmp_path: Path) -> None:
    seen: Counter[str] = Counter()
    for seed in range(chunk * 45, chunk * 45 + 45):
        rng = random.Random(f"mutate events {seed}")
        records = events(seed)
        for _ in range(seed % 3):
            mutate_events(records, rng)
        batch = {"InstanceUUID": "u", "LowestID": 0, "HighestID": 9, "EventRecords": records}
        lines = [json.dumps(batch)] if seed % 2 else [json.dumps(record) for record in records]
        verdict, _ = checked("\n".join(lines), tmp_path)
        assert verdict == validate_events(lines), lines
        seen[verdict[0]] += 1
    assert min(seen["conforms"], seen["violates"]) >= 10, seen


# --- Log lines


def mutate_log(lines: list[str], rng: random.Random) -> None:
    changes = [n for n, line in enumerate(lines) if "transition" in line]
    if not changes:
        return
    at = rng.choice(changes)
    start = lines[at].index("{")
    fields = json.loads(lines[at][start:])
    match rng.randrange(7):
        case 0:
            lines.pop(at)
        case 6:
            stays = {**fields, "source": fields["destination"]}
            lines.insert(at + 1, lines[at][:start] + json.dumps(stays))
        case 1:
            lines.insert(rng.choice(changes), lines[at])
        case 2:
            other = rng.choice(changes)
            lines[at], lines[other] = lines[other], lines[at]
        case which:
            message = next(
                m
                for m in (*lines[at].split("\t"), fields.get("msg"), fields.get("M"))
                if m and m.endswith("transition")
            )
            kind = next(k for k, m in KINDS.items() if m == message)
            table = tables("1.0-1.5")[kind] if kind != "object" else OBJECT
            if which == 3:
                fields["event"] = rng.choice(sorted({e for _, e in table}))
            else:
                fields["source" if which == 4 else "destination"] = rng.choice(
                    sorted({*(s for s, _ in table), *table.values()})
                )
            lines[at] = lines[at][:start] + json.dumps(fields)


KINDS = {
    "Application": "Application state transition",
    "object": "object transition",
    "app": "shim app state transition",
    "task": "shim task state transition",
    "node": "shim node state transition",
    "scheduler": "scheduler shim state transition",
}


@pytest.mark.parametrize("chunk", thinned(range(4), 4))
def test_log_lines(chunk: int, tmp_path: Path) -> None:
    seen: Counter[str] = Counter()
    for seed in range(chunk * 45, chunk * 45 + 45):
        rng = random.Random(f"mutate log {seed}")
        lines = log(seed)
        for _ in range(seed // 3 % 3):
            mutate_log(lines, rng)
        verdict, _ = checked("\n".join(lines), tmp_path)
        assert verdict == validate_log(lines), "\n".join(lines)
        seen[verdict[0]] += 1
    assert min(seen["conforms"], seen["violates"]) >= 10, seen


# --- Walks


def mutate_walk(walk: dict[str, Any], rng: random.Random) -> str:
    steps = walk["steps"]
    at = rng.randrange(len(steps))
    step = steps[at]
    match rng.randrange(7):
        case 0:
            step["state"] = rng.choice(STATES)
        case 1:
            name = rng.choice(["pending", "allocated", "allocatedPlaceholder", "asks", "allocations"])
            step[name] = max(0, step[name] + rng.choice([-1, 1]))
        case 2:
            name = rng.choice(["stateTimer", "placeholderTimer"])
            step[name] = not step[name]
        case 3:
            step["stateUpdates"] = rng.choice([None, ["Running:runApplication"], ["Failing:failApplication"]])
        case 4:
            walk["placeholderAsk"] = rng.randrange(4)
        case 5:
            walk["gangStyle"] = "Hard" if walk["gangStyle"] == "Soft" else "Soft"
        case _ if step["op"] in ("removeAsk", "removeAllocation", "stateTimeout", "placeholderTimeout"):
            steps.pop(at)
    return json.dumps(walk)


def validate_walks(seeds: range, tmp_path: Path) -> tuple[Counter[str], set[str], set[str]]:
    """How many conform and how many do not, and the states and the violated properties of what conforms."""
    seen: Counter[str] = Counter()
    states: set[str] = set()
    requirements: set[str] = set()
    for seed in seeds:
        rng = random.Random(f"mutate walk {seed}")
        walk = random_walk(seed, after_the_end=seed % 4 == 0)
        for _ in range(max(0, seed % 5 - 2)):
            if walk["steps"]:
                mutate_walk(walk, rng)
        verdict, report = checked(json.dumps(walk), tmp_path)
        expected = validate_walk(walk)
        assert verdict[:2] == (("conforms", None) if expected is None else ("violates", expected)), json.dumps(walk)
        upto = len(walk["steps"]) if expected is None else expected - 1
        broken: list[set[str]] = [set() for _ in range(upto)]
        for b in report.breaks:
            broken[b.record - 1] |= {str(b.requirement.property)} & STATE_PROPERTIES
        assert broken == broken_properties({**walk, "steps": walk["steps"][:upto]}), json.dumps(walk)
        seen[verdict[0]] += 1
        states |= {step["state"] for step in walk["steps"][:upto]}
        requirements |= {name for names in broken for name in names}
    return seen, states, requirements


VISITED = {"Accepted", "Starting", "Running", "Completing", "Completed", "Resuming", "Failing", "Failed", "Expired"}


@pytest.mark.long
def test_walks(tmp_path: Path) -> None:
    """Every state that a walk can visit is visited."""
    seen, states, requirements = validate_walks(range(45), tmp_path)
    assert min(seen["conforms"], seen["violates"]) >= 10, seen
    assert states == VISITED
    assert requirements >= {"accepted-has-no-allocation", "starting-has-one-allocation"}


@pytest.mark.long(one_in=18)
def test_more_walks(tmp_path: Path) -> None:
    """Every property about states that a walk can break is broken by some walk.

    The first ask ends New, and the last placeholder ends Failing, each in the same call.
    """
    seen, states, requirements = validate_walks(range(45, 700), tmp_path)
    assert min(seen["conforms"], seen["violates"]) >= 150, seen
    assert states == VISITED
    assert requirements == STATE_PROPERTIES - {"new-has-no-asks", "failing-has-something-left"}
