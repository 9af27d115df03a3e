"""Mutated copies of recorded runs, checked by the validator and by a brute-force search.

The two share no code: ``brute_force`` was written from the description of the trace format and
the document's two figures alone. They must agree on the verdict and on the record.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from schedproof.proofs.traces import check_trace
from tests.support.places import DATA
from tests.systems.hived.traces import brute_force as brute_hived

LOGS = DATA / "hived"
SEED = 20140729
Trace = list[dict[str, Any]]  # header and records


def leaf_group_exchanged(trace: Trace, rng: random.Random) -> str:
    """A leaf's user or reserver becomes another group, or none; or the two are exchanged."""
    record = rng.choice(trace[1:])
    address, leaf = rng.choice(sorted(record["state"]["leaf"].items()))
    if "using" in leaf and "reserving" in leaf and rng.random() < 0.3:
        leaf["using"], leaf["reserving"] = leaf["reserving"], leaf["using"]
        return f"record {record['i']}: user and reserver of {address} exchanged"
    role = rng.choice(["using", "reserving"])
    others = [g for g in (None, *(g["name"] for g in trace[0]["groups"])) if g != leaf.get(role)]
    new = rng.choice(others)
    leaf.pop(role, None)
    if new is not None:
        leaf[role] = new
    return f"record {record['i']}: {role} of {address} is now {new}"


def group_state_changed(trace: Trace, rng: random.Random) -> str:
    """A group in the table gets another state."""
    record = rng.choice([r for r in trace[1:] if r["state"]["groups"]])
    name, group = rng.choice(sorted(record["state"]["groups"].items()))
    group["state"] = rng.choice([s for s in ("Allocated", "Preempting", "BeingPreempted") if s != group["state"]])
    return f"record {record['i']}: {name} is now {group['state']}"


def record_dropped(trace: Trace, rng: random.Random) -> str:
    """A record is missing."""
    return f"record {trace.pop(rng.randrange(1, len(trace)))['i']} dropped"


def two_swapped(trace: Trace, rng: random.Random) -> str:
    """Two records change places, half of the time neighbours."""
    one = rng.randrange(1, len(trace) - 1)
    two = one + 1 if rng.random() < 0.5 else rng.randrange(one + 1, len(trace))
    trace[one], trace[two] = trace[two], trace[one]
    return f"records {trace[two]['i']} and {trace[one]['i']} swapped"


def _from_on(trace: Trace, rng: random.Random) -> list[dict[str, Any]]:
    """One record, a few, or all from one on."""
    first = rng.randrange(1, len(trace))
    return trace[first : first + rng.choice([1, 3, len(trace)])]


def pod_changed(trace: Trace, rng: random.Random) -> str:
    """A pod is gone, or in another state, for a while."""
    records = _from_on(trace, rng)
    name = rng.choice(sorted({pod for record in trace[1:] for pod in record["pods"]}))
    state = rng.choice([None, None, "waiting", "binding", "bound"])
    for record in records:
        if state is None:
            record["pods"].pop(name, None)
        elif name in record["pods"]:
            record["pods"][name]["state"] = state
    return f"records {records[0]['i']} to {records[-1]['i']}: pod {name} is {state or 'gone'}"


def priority_changed(trace: Trace, rng: random.Random) -> str:
    """A group runs at another priority for a while: its own, or as an opportunistic one."""
    records, priority = _from_on(trace, rng), rng.choice([-1, 0, 5, 10, 1000])
    name = rng.choice(trace[0]["groups"])["name"]
    how = rng.choice(["prio", "no virtual placement", "lazily preempted"])
    for record in records:
        if entry := record["state"]["groups"].get(name):
            if how == "prio":
                entry["prio"] = priority
            elif how == "lazily preempted":
                entry["lazy_preempted_by"] = "another"
            else:
                entry.pop("pod_vcells", None)
    return f"records {records[0]['i']} to {records[-1]['i']}: {name} {how} {priority}"


def crash_added(trace: Trace, rng: random.Random) -> str:
    """The number of crashes is one higher for a while."""
    records = _from_on(trace, rng)
    for record in records:
        record["epoch"] += 1
    return f"records {records[0]['i']} to {records[-1]['i']}: one crash more"


def call_changed(trace: Trace, rng: random.Random) -> str:
    """A call is of another kind, or about another group."""
    record = rng.choice(trace[1:])
    record["op"] = rng.choice(["Schedule", "AddAllocatedPod", "DeleteAllocatedPod", "DeleteUnallocatedPod", "Bind"])
    record["args"]["group"] = rng.choice(trace[0]["groups"])["name"]
    return f"record {record['i']}: {record['op']} of {record['args']['group']}"


def entry_removed(trace: Trace, rng: random.Random) -> str:
    """A group is not in the table for a while."""
    records, name = _from_on(trace, rng), rng.choice(trace[0]["groups"])["name"]
    for record in records:
        record["state"]["groups"].pop(name, None)
    return f"records {records[0]['i']} to {records[-1]['i']}: {name} is not in the table"


Mutation = Callable[[Trace, random.Random], str]

MUTATIONS: list[Mutation] = [
    leaf_group_exchanged,
    group_state_changed,
    record_dropped,
    two_swapped,
]
OTHERS: list[Mutation] = [pod_changed, priority_changed, crash_added, call_changed, entry_removed]
"""Mutations of what else the reading rules read."""


def mutant(path: Path, number: int, kinds: Sequence[Mutation] = MUTATIONS) -> tuple[str, list[str]]:
    """The ``number``-th mutated copy of a trace: what was done, and its lines."""
    rng = random.Random(f"{SEED} {path.stem} {number}")
    trace = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    done = kinds[number % len(kinds)](trace, rng)
    return done, [json.dumps(line) for line in trace]


def checked_by_both(path: Path, numbers: range, scratch: Path, kinds: Sequence[Mutation] = MUTATIONS) -> Counter[str]:
    """Checks mutants of ``path`` by both checks and counts the verdicts."""
    verdicts: Counter[str] = Counter()
    for number in numbers:
        done, lines = mutant(path, number, kinds)
        scratch.write_text("\n".join(lines) + "\n", "utf-8")
        report = check_trace("hived", scratch)
        record = report.first_nonconformance.record if report.first_nonconformance else None
        where = f"{path.stem}, mutant {number}: {done}"
        assert (str(report.verdict), record) == brute_hived.check(lines), where
        verdicts[report.verdict] += 1
    return verdicts


@pytest.mark.long
def test_forty_mutants_are_checked_alike(tmp_path: Path) -> None:
    paths = sorted(LOGS.glob("*.jsonl"))
    assert len(paths) == 5
    verdicts: Counter[str] = Counter()
    for path in paths:
        verdicts += checked_by_both(path, range(8), tmp_path / "mutant.jsonl")
    assert verdicts.total() == 40
    # The comparison says little if nearly all mutants are checked the same way.
    assert verdicts["violates"] >= 12 and verdicts["conforms"] >= 4


@pytest.mark.long
def test_mutants_of_pods_priorities_crashes_calls_checked_alike(tmp_path: Path) -> None:
    verdicts: Counter[str] = Counter()
    for path in sorted(LOGS.glob("*.jsonl")):
        verdicts += checked_by_both(path, range(12), tmp_path / "mutant.jsonl", OTHERS)
    assert verdicts["violates"] >= 14 and verdicts["conforms"] >= 9
