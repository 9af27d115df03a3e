"""Mutated copies of runs in the plain format, checked by the validator and by a brute-force search.

A run of the model is written down with as much of it as a random logger would say: some steps unlogged, some parameters and
most of the state left out, events for actions. Then a field gets another legal value, a record is dropped, or two change places.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from typing import Any

import pytest

from schedproof.model.semantics import Instance, Stepper
from schedproof.model.systems.hived import AS_WRITTEN
from schedproof.proofs.traces import LogVerdict, check_records
from tests.systems.hived.traces import brute_force_plain as brute_plain

GROUPS, CELLS = ["low", "mid", "high"], ["a", "b"]
OUTRANKS = {"low": [], "mid": ["low"], "high": ["low", "mid"]}
HEADER: dict[str, Any] = {
    "schedproof": 1,
    "system": "hived",
    "objects": {"PodGroup": GROUPS, "Cell": CELLS},
    "rigid": {"PodGroup": {"outranks": OUTRANKS}},
}
EVENTS = {"allocate": "e0", "preempt": "e1", "complete": "e2", "delete_allocated": "e3", "delete_preempted": "e4"}
Trace = list[dict[str, Any]]
SEED = 7


def logged_run(rng: random.Random, length: int, unlogged: int) -> Trace:
    """A random run in the words of a logger that leaves out at most ``unlogged`` steps in a row."""
    outranks = {("PodGroup", "outranks"): [frozenset(range(i)) for i in range(3)]}
    instance = Instance(AS_WRITTEN, {"PodGroup": 3, "Cell": 2}, outranks, names=HEADER["objects"])
    stepper, state, records, left = Stepper(instance), instance.initial(), list[dict[str, Any]](), unlogged
    openness = rng.random()
    for _ in range(length):
        options = [s for s in stepper.steps(state) if not s.choice.action.startswith("delete") or rng.random() < 0.3]
        step = rng.choice(options)
        state, name = step.after, step.choice.action
        if left and rng.random() < 0.4:
            left -= 1
            continue
        spare, left = left, unlogged
        types = {v.name: v.type for v in AS_WRITTEN.action(name).parameters}
        shown = {n: instance.show(types[n], v) for n, v in step.choice.parameters}
        record: dict[str, Any] = {"parameters": {n: v for n, v in shown.items() if rng.random() < openness}}
        if name == "crash":
            record = {"crash": True}
        elif name in EVENTS and rng.random() < 0.3:
            record = {"event": f"PodGroup.{EVENTS[name]}", "object": shown["p"]}
        elif spare and rng.random() < 0.3:
            record = {}  # the step is one of those before the observation
        else:
            record["action"] = name
        seen = {
            sort: {
                obj: {k: v for k, v in fields.items() if rng.random() < 0.9}
                for obj, fields in objects.items()
                if rng.random() < openness
            }
            for sort, objects in instance.describe(state).items()
        }
        records.append({**record, "state": seen})
    return records


def flipped(records: Trace, rng: random.Random) -> None:
    """A field gets another legal value."""
    places = [(r, s, o, f) for r in records for s, objs in r["state"].items() for o, fs in objs.items() for f in fs]
    if not places:
        return
    record, sort, obj, field = rng.choice(places)
    states = [s.name for s in AS_WRITTEN.machine(sort).states]
    values: list[str | None] = [*states] if field == "state" else [None, *GROUPS]
    fields = record["state"][sort][obj]
    fields[field] = rng.choice([v for v in values if v != fields[field]])


def dropped(records: Trace, rng: random.Random) -> None:
    """A record is missing."""
    records.pop(rng.randrange(len(records)))


def swapped(records: Trace, rng: random.Random) -> None:
    """Two records change places."""
    one, two = rng.sample(range(len(records)), 2)
    records[one], records[two] = records[two], records[one]


def checked_alike(numbers: range) -> Counter[tuple[str, str]]:
    """Checks mutants by both checks; how often which mutation got which verdict."""
    outcomes: Counter[tuple[str, str]] = Counter()
    for number in numbers:
        rng = random.Random(SEED * 100_000 + number)
        unlogged = rng.choice([0, 0, 0, 1, 2])
        records = logged_run(rng, rng.randrange(4, 9 if unlogged else 20), unlogged)
        if len(records) < 2:
            continue
        header = {**HEADER, "unlogged": unlogged}
        assert brute_plain.check(header, records) == ("conforms", None), number
        mutation = rng.choice([flipped, dropped, swapped])
        mutation(records, rng)
        records = json.loads(json.dumps(records))
        shorten = number % 20 == 0
        report = check_records("hived", header, records, shorten=shorten)
        record = report.first_nonconformance.record if report.first_nonconformance else None
        assert (str(report.verdict), record) == brute_plain.check(header, records), (
            f"mutant {number}: {header} {records}"
        )
        if record is not None and shorten:
            first, *rest = report.shortened
            repeated = check_records("hived", first, rest)
            assert repeated.first_nonconformance is not None and repeated.first_nonconformance.record == len(rest), (
                number
            )
        outcomes[mutation.__name__, str(report.verdict)] += 1
    return outcomes


@pytest.mark.long
@pytest.mark.parametrize("numbers", [range(15), pytest.param(range(15, 75), marks=pytest.mark.long(one_in=32))])
def test_mutants_are_checked_alike(numbers: range) -> None:
    outcomes = checked_alike(numbers)
    # The comparison says little if nearly all mutants are checked the same way.
    mutations = ("flipped", "dropped", "swapped")
    assert all(sum(outcomes[each, verdict] for each in mutations) >= 5 for verdict in ("violates", "conforms")), (
        outcomes
    )
    if len(numbers) > 30:
        assert all(outcomes[each, verdict] for each in mutations for verdict in ("violates", "conforms")), outcomes


@pytest.mark.long
def test_nobody_is_accused_whom_an_unnamed_cell_would_clear() -> None:
    """With two more cells than the run has, brute force finds what an open world allows: any of them, at any time."""
    more = {**HEADER, "objects": {"PodGroup": GROUPS, "Cell": [*CELLS, "x", "y"]}}
    open_cells = {**HEADER, "objects": {"PodGroup": GROUPS}}
    verdicts: Counter[str] = Counter()
    cleared = 0
    for number in range(80):
        rng = random.Random(SEED * 200_000 + number)
        unlogged = rng.choice([0, 0, 0, 1])
        records = logged_run(rng, rng.randrange(3, 6 if unlogged else 12), unlogged)
        if len(records) < 2:
            continue
        rng.choice([flipped, dropped, swapped])(records, rng)
        records = json.loads(json.dumps(records))
        report = check_records("hived", {**open_cells, "unlogged": unlogged}, records)
        record = report.first_nonconformance.record if report.first_nonconformance else None
        expected = brute_plain.check({**more, "unlogged": unlogged}, records)
        if report.verdict is LogVerdict.UNDETERMINED:
            cleared += expected[0] == "conforms"
        else:
            assert (str(report.verdict), record) == expected, f"mutant {number}: {unlogged} {records}"
        verdicts[str(report.verdict)] += 1
    assert min(verdicts["violates"], verdicts["conforms"], verdicts["undetermined"], cleared) >= 3, (verdicts, cleared)


@pytest.mark.long(one_in=12)
def test_many_mutants_are_checked_alike() -> None:
    outcomes = checked_alike(range(1_000, 1_500))
    assert sum(outcomes.values()) >= 470
