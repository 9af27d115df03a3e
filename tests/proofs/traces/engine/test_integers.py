"""Logs with integers of any size: the fast path takes them, none is rounded, and each wrong one is flagged."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from schedproof.model.registry.system import System
from schedproof.model.semantics import Choice, IllFormed, Instance, Run, Stepper, Undefined, bounds_of, instances
from schedproof.proofs.exploration.explore import explore
from schedproof.proofs.traces import LogVerdict, TraceError, ValidationReport, check_records, check_trace
from schedproof.proofs.traces.engine import fast_path, known_steps
from schedproof.proofs.traces.engine.trace_steps import TraceSteps
from schedproof.proofs.traces.engine.unobserved import noticing
from schedproof.proofs.traces.files import lines
from schedproof.proofs.traces.formats.writing import as_itf, as_plain
from schedproof.service.strict import parse
from tests.support.clocks import ACTIONS, CLOCKS, clocks
from tests.support.random_models import Drawn, IntegerMaker, random_model
from tests.support.rows import each_row

SYSTEM = System("clocks", "Clocks", {"toy": CLOCKS}, validated_by="toy")
NAMES = ["n0", "n1", "n2"]
FAR = [0, 10**3, 10**9, 2**53 - 3, 2**63 - 3, 2**64 - 3, 10**30]
"""Where times begin. In the range of a few steps are the ends of what floats and 64 bits hold exactly."""

Log = list[dict[str, Any]]


def header(start: int) -> dict[str, Any]:
    each = {name: {"time": start, "seen": start, "debt": -start} for name in NAMES}
    return {"schedproof": 1, "system": "clocks", "objects": {"Node": NAMES}, "start": {"Node": each}}


class Clock:
    """A node as the document has it: an implementation, independent of the model."""

    def __init__(self, start: int) -> None:
        self.time, self.seen, self.debt = start, start, -start

    def shown(self) -> dict[str, int]:
        return {"time": self.time, "seen": self.seen, "debt": self.debt}


def log(start: int, many: int, seed: int = 1) -> Log:
    """What nodes do at random, each record with the node that changed."""
    rng, clocks, records = Random(seed), {name: Clock(start) for name in NAMES}, Log()
    while len(records) < many:
        name, other = rng.choice(NAMES), rng.choice(NAMES)
        one, given = clocks[name], {"a": name}
        match rng.choice(["tick", "tick", "sync", "note", "owe", "lower"]):
            case "tick" as action:
                one.time += 1
            case "sync" as action if one.time < clocks[other].time:
                one.time, given["b"] = clocks[other].time, other
            case "note" as action:
                one.seen = one.time
            case "owe" as action:
                one.debt -= 1
            case "lower" as action if one.seen > 0:
                one.seen -= 1
            case _:
                continue
        records.append({"action": action, "parameters": given, "state": {"Node": {name: one.shown()}}})
    return records


def written(path: Path, start: int, records: Log) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in [header(start), *records]))
    return path


def first_wrong(report: ValidationReport) -> int | None:
    """The number of the record that does not conform."""
    return report.first_nonconformance.record if report.first_nonconformance is not None else None


# --- Integers of any size ---------------------------------------------------------------------------------------------


@each_row("start", FAR)
def test_the_fast_path_takes_every_record(start: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(TraceSteps, "step")
    report = check_trace(SYSTEM, written(tmp_path / "log.jsonl", start, log(start, 300)))
    assert (report.verdict, report.records) == (LogVerdict.CONFORMS, 300)


def test_the_work_does_not_depend_on_the_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many steps are computed, whatever the numbers are, and no table of numbers is made."""
    computed = [0]
    find = known_steps.KnownSteps._find

    def counted(self: known_steps.KnownSteps, *args: Any) -> Any:
        computed[0] += 1
        return find(self, *args)

    monkeypatch.setattr(known_steps.KnownSteps, "_find", counted)
    counts = []
    for start in (10**3, 10**9, 10**30):
        computed[0] = 0
        assert check_records(SYSTEM, header(start), log(start, 2000)).verdict is LogVerdict.CONFORMS
        counts.append(computed[0])
    assert counts[0] == counts[1] == counts[2] < 100


@pytest.mark.parametrize("start", FAR)
def test_a_number_that_differs_by_one_is_flagged(start: int, tmp_path: Path) -> None:
    rng = Random(start)
    for n in range(12):
        records = log(start, 40, seed=n)
        at = rng.randrange(len(records))
        (fields,) = records[at]["state"]["Node"].values()
        name = rng.choice(["time", "seen", "debt"])
        fields[name] += rng.choice([-1, 1]) if name == "debt" or fields[name] else 1
        report = check_trace(SYSTEM, written(tmp_path / "log.jsonl", start, records))
        assert first_wrong(report) == at + 1, (start, n, name)


CUT: list[Callable[[int], int]] = [
    lambda value: int(float(value)),
    lambda value: value & (1 << 32) - 1,
    lambda value: (value + (1 << 63)) % (1 << 64) - (1 << 63),
]
"""How an implementation may lose a part of a number: a float, and integers of 32 and 64 bits."""


@pytest.mark.parametrize("cut", CUT, ids=["float", "32 bits", "64 bits"])
def test_numbers_that_an_implementation_cut_are_flagged(cut: Callable[[int], int], tmp_path: Path) -> None:
    start = 2**63 + 1
    records = log(start, 60)
    for record in records:
        for fields in record["state"]["Node"].values():
            fields |= {name: max(cut(value), 0) if name != "debt" else cut(value) for name, value in fields.items()}
    report = check_trace(SYSTEM, written(tmp_path / "log.jsonl", start, records))
    assert report.verdict is LogVerdict.VIOLATES


def test_unobserved_numbers_follow_from_the_steps(tmp_path: Path) -> None:
    """Only the last record shows numbers."""
    start = 10**12
    records = log(start, 200)
    full = deepcopy(records)
    every = {name: next(r for r in reversed(full) if r["parameters"]["a"] == name) for name in NAMES}
    for record in records:
        del record["state"]
    records.append({"state": {"Node": {name: each["state"]["Node"][name] for name, each in every.items()}}})
    assert check_records(SYSTEM, header(start), records).verdict is LogVerdict.CONFORMS
    records[-1]["state"]["Node"]["n1"]["time"] += 1
    assert first_wrong(check_records(SYSTEM, header(start), records)) == len(records)


def test_unlogged_steps_and_unnamed_nodes_are_found() -> None:
    start = 10**9
    unlogged = {**header(start), "unlogged": 3}
    three = {"state": {"Node": {"n0": {"time": start + 3}, "n1": {"time": start}}}}
    assert check_records(SYSTEM, unlogged, [three]).verdict is LogVerdict.CONFORMS
    assert check_records(SYSTEM, {**unlogged, "unlogged": 2}, [three]).verdict is LogVerdict.VIOLATES
    ahead = {"action": "sync", "parameters": {"a": "n1"}, "state": {"Node": {"n1": {"time": start + 1}}}}
    tick = {"action": "tick", "parameters": {"a": "n0"}}
    assert check_records(SYSTEM, header(start), [tick, ahead]).verdict is LogVerdict.CONFORMS


def test_a_new_node_begins_at_the_initial_number() -> None:
    open_log = {"schedproof": 1, "system": "clocks"}
    tick = {"action": "tick", "parameters": {"a": "new"}, "state": {"Node": {"new": {"time": 1, "seen": 0, "debt": 0}}}}
    assert check_records(SYSTEM, open_log, [tick]).verdict is LogVerdict.CONFORMS
    assert noticing(CLOCKS, ["Node"]) == frozenset()


# --- Formats ------------------------------------------------------------------------------------------------------


def runs() -> Iterator[Run]:
    """Shortest runs to the states of an exploration."""
    (instance,) = instances(CLOCKS, {"Node": 2})
    exploration = explore(instance, symmetry=False, limit=3000)
    for number in range(97, len(exploration.states), 97):
        states, choices = [exploration.states[number]], list[Choice]()
        while (parent := exploration.parents[number]) is not None:
            number, choice = parent
            states.insert(0, exploration.states[number])
            choices.insert(0, choice)
        yield Run(instance, choices, states)


@pytest.mark.parametrize("write", [as_plain, as_itf])
def test_runs_of_an_exploration_conform_as_logs(write: Callable[[Run], str], tmp_path: Path) -> None:
    lengths = set()
    for run in runs():
        path = tmp_path / "run.json"
        path.write_text(write(run))
        assert check_trace(SYSTEM, path).verdict is LogVerdict.CONFORMS
        lengths.add(len(run.choices))
    assert max(lengths) >= 4


def walk(model: Drawn, many: int, rng: Random) -> Run:
    """Steps at random, whatever the bounds of explorations are."""
    instance = model.instance()
    stepper, states, choices = Stepper(instance), [instance.initial()], list[Choice]()
    with suppress(IllFormed, Undefined):
        while len(choices) < many and (steps := list(stepper.steps(states[-1]))):
            step = rng.choice(steps)
            choices.append(step.choice)
            states.append(step.after)
    return Run(instance, choices, states)


def integers(instance: Instance) -> list[int]:
    """The slots of integers without a bound."""
    return [
        instance.slot(sort, name) + number
        for sort, name in instance.model.integers
        if any(a.name == name for a in instance.attributes(sort))
        for number in range(instance.sizes[sort])
    ]


def both_ways(system: System, path: Path) -> ValidationReport:
    """The report, which is the same without the fast path."""
    report = check_trace(system, path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TraceSteps, "fast_run", lambda *_: None)
        assert check_trace(system, path) == report
    return report


@pytest.mark.long
@pytest.mark.parametrize(
    "seeds", [range(8), pytest.param(range(8, 40), marks=pytest.mark.long(one_in=32))], ids=["few", "many"]
)
def test_random_runs_conform_and_numbers_one_off_do_not(seeds: range, tmp_path: Path) -> None:
    """A record has the action and the whole state, so one step explains it, or none."""
    beyond = wrong = 0
    for seed in seeds:
        rng, model = Random(seed), random_model(seed, IntegerMaker)
        run = walk(model, 12, rng)
        system = System.of(model.model)
        slots = integers(run.instance)
        if not run.choices or not slots:
            continue
        beyond += not bounds_of(run.instance).has(run.states[-1])
        path = tmp_path / "run.jsonl"
        path.write_text(as_plain(run))
        assert both_ways(system, path).verdict is LogVerdict.CONFORMS
        at = rng.randrange(len(run.choices))
        slot = rng.choice(slots)
        changed = list(run.states)
        changed[at + 1] = tuple(v + (n == slot) for n, v in enumerate(changed[at + 1]))
        path.write_text(as_plain(replace(run, states=changed)))
        assert first_wrong(both_ways(system, path)) == at + 1
        wrong += 1
    assert beyond >= 1 and wrong >= len(seeds) / 2


MAPPING = """\
schedproof-mapping: 1
system: clocks
{lines}header:
  objects: {{Node: [n0, n1, n2]}}
  start: {{Node: {{n0: {{time: {start}}}, n1: {{time: {start}}}, n2: {{time: {start}}}}}}}
lines:
- action: tick
  parameters: {{a: who}}
  state: {{Node: [{{object: who, time: "{time}"}}]}}
"""


@each_row("start", FAR)
@each_row("form", ["number", "text", "line of text"])
def test_mappings_read_integers_of_any_size(start: int, form: str, tmp_path: Path) -> None:
    times = [start + 1, start + 2, start + 3]
    pattern = "pattern: '(?P<what>\\w+) (?P<who>\\w+) at (?P<time>\\d+)'\n" if form == "line of text" else ""
    query = "time" if form == "number" else "to_number(time)"
    mapping, path = tmp_path / "mapping.yaml", tmp_path / "log"
    mapping.write_text(MAPPING.format(lines=pattern, start=start, time=query))
    for wrong in (0, 1):
        shown = [*times[:-1], times[-1] + wrong]
        values = [time if form == "number" else str(time) for time in shown]
        as_json = [json.dumps({"what": "tick", "who": "n0", "time": value}) for value in values]
        as_text = [f"tick n0 at {value}" for value in values]
        path.write_text("\n".join(as_text if pattern else as_json) + "\n")
        report = check_trace(SYSTEM, path, mapping=mapping)
        assert first_wrong(report) == (3 if wrong else None)


def test_bodies_of_requests_keep_integers_exact() -> None:
    body = json.dumps(log(10**30, 3)).encode()
    assert parse(body) == log(10**30, 3)


@each_row("value", [-1, 1.0, 1e9, True, "3", None, [3]])
def test_what_is_no_integer_of_the_type_is_refused(value: object) -> None:
    record = {"state": {"Node": {"n0": {"time": value}}}}
    with pytest.raises(TraceError, match=r"state\.Node\.n0\.time: .*(Nat|whole number from 0)"):
        check_records(SYSTEM, header(3), [record])


# --- Reports ----------------------------------------------------------------------------------------------------------


def test_what_would_explain_a_number_is_said() -> None:
    start = 10**9
    ahead = [{"action": "tick", "parameters": {"a": "n1"}}, {"action": "tick", "parameters": {"a": "n1"}}]
    report = check_records(SYSTEM, header(start), [*ahead, {"state": {"Node": {"n0": {"time": start + 7}}}}])
    assert report.first_nonconformance is not None
    (change,) = report.first_nonconformance.unexplained
    text = [line.strip().partition(" (support/")[0] for line in change.text()]
    assert text == [
        "what would explain n0.time from 1000000000 to 1000000007:",
        "row tick from Up",
        "tick(a=n0) is possible here, and gives 1000000001",
        "row adopt from Up",
        "sync(a=n0, b=n1) is possible here, and gives 1000000002",
    ]


def test_the_numbers_of_a_false_condition_are_said() -> None:
    start = 10**9
    sync = {"action": "sync", "parameters": {"a": "n0", "b": "n1"}, "state": {"Node": {"n0": {"time": start + 1}}}}
    report = check_records(SYSTEM, header(start), [sync])
    assert report.first_nonconformance is not None
    (change,) = report.first_nonconformance.unexplained
    needs = "sync(a=n0, b=n1) needs a.time < b.time: n0.time is 1000000000"
    assert any(needs in line and "n1.time is 1000000000" in line for line in change.text())


def test_a_nat_below_0_is_said_of_the_object_in_the_log() -> None:
    unguarded = clocks(actions=[replace(each, when=[]) if each.name == "lower" else each for each in ACTIONS])
    system = System("clocks", "Clocks", {"toy": unguarded}, validated_by="toy")
    named = {"schedproof": 1, "system": "clocks", "objects": {"Node": ["master"]}}
    report = check_records(system, named, [{"action": "lower", "parameters": {"a": "master"}}])
    assert report.first_nonconformance is not None
    assert "master fires lower, which sets seen to -1, outside of Nat" in report.first_nonconformance.reason


# --- Seeded faults: a number that is cut in the reader of logs --------------------------------------------------------


def test_a_rounded_number_in_a_file_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "LONG", 1 << 200)
    with pytest.raises((AssertionError, TraceError)):
        test_a_number_that_differs_by_one_is_flagged(10**30, tmp_path)


def test_a_cut_number_in_the_fast_path_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def cut(self: Mapping[int, int], value: int) -> int:
        return value & (1 << 64) - 1

    monkeypatch.setattr(fast_path, "PLAIN", (bool,))
    monkeypatch.setattr(fast_path._Integers, "__missing__", cut)
    with pytest.raises(AttributeError):
        test_the_fast_path_takes_every_record.row(10**30, tmp_path, monkeypatch)
