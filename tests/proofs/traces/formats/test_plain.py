"""The plain trace format: runs of the model come back as conforming, changed ones do not."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from schedproof.model.lang import Model
from schedproof.model.registry.discovery import system
from schedproof.model.semantics import Instance, Stepper
from schedproof.model.systems.hived import AS_WRITTEN, REPAIRED
from schedproof.proofs import traces as validator
from schedproof.proofs.traces import LogVerdict, ValidationReport, check_records, check_trace
from schedproof.proofs.traces.engine.watch import Watch
from tests.support.places import REFERENCE

PACKAGE = Path(validator.__file__).parent
HEADER: dict[str, Any] = {
    "schedproof": 1,
    "system": "hived",
    "objects": {"PodGroup": ["low", "mid", "high"], "Cell": ["a", "b", "c"]},
    "rigid": {"PodGroup": {"outranks": {"mid": ["low"], "high": ["low", "mid"]}}},
}
GROUPS = HEADER["objects"]["PodGroup"]


def check(lines: list[Any], tmp_path: Path, variant: str = "as-written") -> ValidationReport:
    path = tmp_path / "trace.jsonl"
    path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines), "utf-8")
    return check_trace("hived", path, variant)


def violates_at(report: ValidationReport) -> int | None:
    assert report.verdict is not LogVerdict.UNDETERMINED, report.note
    return report.first_nonconformance.record if report.first_nonconformance else None


def walk(model: Model, seed: int, length: int) -> list[dict[str, Any]]:
    """A random run of the model: each step as a record with the complete state after it."""
    rng = random.Random(seed)
    outranks = {("PodGroup", "outranks"): [frozenset(range(i)) for i in range(3)]}
    instance = Instance(model, {"PodGroup": 3, "Cell": 3}, outranks, names=HEADER["objects"])
    stepper, state, records = Stepper(instance), instance.initial(), []
    for _ in range(length):
        # Deletions are rarer than the rest, or every run would soon be over.
        options = list(stepper.steps(state))
        lively = [s for s in options if not s.choice.action.startswith("delete") and s.choice.action != "crash"]
        step = rng.choice(lively if lively and rng.random() < 0.7 else options)
        types = {v.name: v.type for v in model.action(step.choice.action).parameters}
        state = step.after
        records.append(
            {
                "action": step.choice.action,
                "parameters": {n: instance.show(types[n], v) for n, v in step.choice.parameters},
                "state": instance.describe(state),
            }
        )
    return records


@pytest.mark.parametrize("model", [AS_WRITTEN, REPAIRED], ids=lambda m: m.variant)
@pytest.mark.parametrize("seed", range(10))
class TestRunsOfTheModel:
    def test_conform(self, model: Model, seed: int, tmp_path: Path) -> None:
        records = walk(model, seed, 25)
        report = check([HEADER, *records], tmp_path, model.variant)
        assert violates_at(report) is None and report.records == 25

    def test_conform_when_little_is_known(self, model: Model, seed: int, tmp_path: Path) -> None:
        """Leaving out parameters and observations takes no explanation away."""
        rng = random.Random(seed)
        records = walk(model, seed, 12)
        for record in records:
            for name in list(record["parameters"]):
                if rng.random() < 0.5:
                    del record["parameters"][name]
            for sort, objects in record["state"].items():
                record["state"][sort] = {n: fields for n, fields in objects.items() if rng.random() < 0.7}
        assert violates_at(check([HEADER, *records], tmp_path, model.variant)) is None

    def test_a_changed_observation_violates_at_once(self, model: Model, seed: int, tmp_path: Path) -> None:
        """Steps with all parameters are deterministic: the state after record k is the one written
        there, so any other value in it has no explanation, and no record before it changed."""
        rng = random.Random(seed)
        records = walk(model, seed, 20)
        k = rng.randrange(20)
        sort = rng.choice(["PodGroup", "Cell"])
        name = rng.choice(HEADER["objects"][sort])
        fields = records[k]["state"][sort][name]
        field = rng.choice(sorted(fields))
        states = [s.name for s in model.machine(sort).states]
        values: list[str | None] = states if field == "state" else [None, *GROUPS]
        fields[field] = rng.choice([v for v in values if v != fields[field]])
        assert violates_at(check([HEADER, *records], tmp_path, model.variant)) == k + 1

    def test_a_disabled_step_violates(self, model: Model, seed: int, tmp_path: Path) -> None:
        """Nothing happens to a Deleted group: whatever it is said to do does not conform at that record."""
        records = walk(model, seed, 15)
        deleted = [i for i, r in enumerate(records) if r["state"]["PodGroup"]["mid"]["state"] == "Deleted"]
        if not deleted:
            records.append({"action": "delete_pending", "parameters": {"p": "mid"}})
            state = records[-2]["state"]["PodGroup"]["mid"]["state"]
            expected = None if state == "Pending" else len(records)
        else:
            records.insert(deleted[0] + 1, {"action": "delete_pending", "parameters": {"p": "mid"}})
            expected = deleted[0] + 2
        assert violates_at(check([HEADER, *records], tmp_path, model.variant)) == expected


class TestReading:
    def test_the_readme_example(self, tmp_path: Path) -> None:
        text = (REFERENCE / "trace-formats.md").read_text("utf-8")
        example, *_ = re.findall(r"```jsonl\n(.*?)```", text, re.DOTALL)
        report = check(example.splitlines(), tmp_path)
        assert violates_at(report) is None and report.records == 6
        assert violates_at(check(example.replace('"Reserved"', '"Free"').splitlines(), tmp_path)) == 3

    def test_a_trace_without_records_is_undetermined(self, tmp_path: Path) -> None:
        """Nothing was checked."""
        assert check([HEADER], tmp_path).verdict is LogVerdict.UNDETERMINED
        assert check_records("hived", HEADER, []).verdict is LogVerdict.UNDETERMINED

    def test_the_readme_names_every_action(self) -> None:
        text = (REFERENCE / "trace-formats.md").read_text("utf-8")
        for action in AS_WRITTEN.actions:
            assert f"`{action.name}({', '.join(v.name for v in action.parameters)})`" in text

    def test_the_schema_accepts_the_example(self) -> None:
        schema = json.loads((PACKAGE / "formats" / "plain.schema.json").read_text("utf-8"))
        jsonschema.Draft202012Validator.check_schema(schema)
        text = (REFERENCE / "trace-formats.md").read_text("utf-8")
        example, *_ = re.findall(r"```jsonl\n(.*?)```", text, re.DOTALL)
        for line in example.splitlines():
            jsonschema.validate(json.loads(line), schema)
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({"action": 1}, schema)

    def test_a_missing_parameter_may_be_anything(self, tmp_path: Path) -> None:
        cells = {"Cell": {"a": {"user": None}, "b": {"user": "low"}}}
        lines = [HEADER, {"action": "allocate"}, {"state": cells}]
        assert violates_at(check(lines, tmp_path)) is None
        # But one group was given one set of cells: two users cannot come of one step.
        two = {"Cell": {"a": {"user": "mid"}, "b": {"user": "low"}}}
        assert violates_at(check([HEADER, {"action": "allocate"}, {"state": two}], tmp_path)) == 2

    def test_an_observation_is_no_step(self, tmp_path: Path) -> None:
        seen = {"state": {"PodGroup": {"low": {"state": "Allocated"}}}}
        assert violates_at(check([HEADER, seen], tmp_path)) == 1

    def test_the_guard_is_named(self, tmp_path: Path) -> None:
        lines = [
            HEADER,
            {"action": "allocate", "parameters": {"p": "mid", "K": ["a"]}},
            {"action": "preempt", "parameters": {"p": "low", "K": ["a", "b"]}},
        ]
        nonconformance = check(lines, tmp_path).first_nonconformance
        assert nonconformance is not None and nonconformance.record == 2
        refused = nonconformance.candidates[0].refused[0]
        assert refused.line == 63 and "p = low" in refused.says and "c = a: Used user mid" in refused.says

    def test_an_observed_state_that_breaks_a_property_names_it(self, tmp_path: Path) -> None:
        (record,) = walk(AS_WRITTEN, 3, 1)
        record["state"]["Cell"]["c"] = {"state": "Reserving", "user": "low", "reserver": "high"}
        nonconformance = check([HEADER, record], tmp_path).first_nonconformance
        assert nonconformance is not None
        broken = {p.property: p.line for p in nonconformance.requirements}
        assert broken["reserving-cell"] == 149

    def test_events_stand_for_the_actions_that_begin_with_them(self, tmp_path: Path) -> None:
        by_action = [{"action": "allocate", "parameters": {"p": "low", "K": ["a"]}}, {"action": "crash"}]
        by_event = [{"event": "PodGroup.e0", "object": "low", "parameters": {"K": ["a"]}}, {"event": "crash"}]
        end = {"state": {"PodGroup": {"low": {"state": "Allocated"}}, "Cell": {"a": {"user": "low"}}}}
        for records in (by_action, by_event):
            assert violates_at(check([HEADER, *records, end], tmp_path)) is None

    def test_without_rigid_later_groups_outrank_earlier_ones(self, tmp_path: Path) -> None:
        header = {k: v for k, v in HEADER.items() if k != "rigid"}
        up = [
            {"action": "allocate", "parameters": {"p": "mid", "K": ["a"]}},
            {"action": "preempt", "parameters": {"p": "high", "K": ["a"]}},
        ]
        assert violates_at(check([header, *up], tmp_path)) is None
        down = json.loads(json.dumps(up).replace('"high"', '"low"'))
        assert violates_at(check([header, *down], tmp_path)) == 2


class TestUndetermined:
    def test_too_many_states(self) -> None:
        # Three groups times seven sets of cells: 21 states explain the record.
        assert (
            Watch(system("hived"), None, HEADER, limit=21).take({"action": "allocate"}).verdict is LogVerdict.CONFORMS
        )
        result = Watch(system("hived"), None, HEADER, limit=20).take({"action": "allocate"}, 2)
        assert result.verdict is LogVerdict.UNDETERMINED and "record 1 (line 2)" in result.note

    def test_too_many_choices(self, tmp_path: Path) -> None:
        header: Mapping[str, Any] = {**HEADER, "objects": {**HEADER["objects"], "Cell": [f"c{i}" for i in range(60)]}}
        report = check([header, {"action": "allocate"}], tmp_path)
        assert report.verdict is LogVerdict.UNDETERMINED and "choices" in report.note
        record = {"action": "allocate", "parameters": {"p": "low", "K": ["c0", "c59"]}}
        assert violates_at(check([header, record], tmp_path)) is None
