"""The data of a live page: the lanes follow what the model says of each object."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

import pytest

from schedproof.diagrams.player import live
from schedproof.diagrams.player.data import Played, ValueType
from schedproof.diagrams.player.live import LiveRuns
from schedproof.model.registry.discovery import system
from schedproof.model.registry.system import System
from schedproof.proofs.exploration.counterexample_text import shown
from schedproof.proofs.traces import LogVerdict
from schedproof.proofs.traces.engine.explained import ExplainedRecord, ExplainedRun, Explanations
from schedproof.proofs.traces.engine.watch import Watch
from tests.proofs.traces.engine.test_explained import HIVED, blurred
from tests.proofs.traces.engine.test_long_logs import LISTED, OPEN, Run
from tests.support.clocks import CLOCKS as MODEL
from tests.support.sample import thinned

CLOCKS = System("clocks", "Clocks", {"toy": MODEL}, validated_by="toy")


class Live:
    """A trace and the data of its page."""

    def __init__(self, header: dict[str, Any] = HIVED) -> None:
        self.watch = Watch(system("hived"), None, header)
        self.explanations = Explanations.of(self.watch.header)
        self.runs = LiveRuns(self.watch.model, self.explanations)

    def run(self) -> ExplainedRun:
        self.explanations.learn(self.watch.kept)
        return self.explanations.run(self.watch.kept)

    def played(self) -> Played:
        run = self.run()
        self.runs.keep(self.watch.kept[0].number)
        return self.runs.played(run)


def explained_runs(header: dict[str, Any], seed: int) -> Iterator[tuple[Live, ExplainedRun, ExplainedRecord]]:
    """A trace at every twelfth record while it conforms, the run that explains it, and the run's last record."""
    opened = Live(header)
    for record in blurred(Run(seed, header is LISTED).records(60), random.Random(seed)):
        if opened.watch.take(record).verdict is not LogVerdict.CONFORMS:
            return
        if opened.watch.records % 12 == 0:
            run = opened.run()
            yield opened, run, run.records[-1]


def ends(played: Played) -> dict[str, dict[str, str]]:
    """The fields of each lane after the last step, as the page computes them."""
    fields = {lane.name: dict(lane.initial) for lane in played.lanes}
    for step in played.steps:
        for firing in step.firings:
            for field, (before, after) in firing.changes.items():
                if firing.object in fields:
                    assert fields[firing.object][field] == before
                    fields[firing.object][field] = after
    return fields


@pytest.mark.parametrize("seed", thinned(range(4), 4))
@pytest.mark.parametrize("header", [OPEN, LISTED], ids=["open", "listed"])
def test_lanes_end_where_the_run_ends(seed: int, header: dict[str, Any]) -> None:
    compared = 0
    for opened, run, after in explained_runs(header, seed):
        played = opened.runs.played(run)
        described = after.objects.instance.describe(after.after)
        lanes = {lane.name: lane.sort for lane in played.lanes}
        for name, fields in ends(played).items():
            if name in described[lanes[name]]:
                compared += 1
                assert fields == {f: shown(v) for f, v in described[lanes[name]][name].items()}
    assert compared > 20, "the comparison says something"


def slots(played: Played) -> list[Any]:
    """The state that expressions read at the end, as the page computes it."""
    state = list(played.vocabulary.initial)
    for step in played.steps:
        for slot, value in step.writes:
            state[slot] = value
    return state


def read(played: Played, kind: ValueType, value: Any) -> object:
    """A value of the page's vocabulary, as an instance describes it."""
    names = played.vocabulary.sorts[kind.sort].objects if kind.sort else ()
    match kind.kind:
        case "ref":
            return None if value < 0 else names[value]
        case "set":
            return [name for n, name in enumerate(names) if int(value) >> n & 1]
        case "enum":
            return kind.values[value]
        case "bool":
            return bool(value)
    return value


@pytest.mark.parametrize("seed", thinned(range(4), 4))
@pytest.mark.parametrize("header", [OPEN, LISTED], ids=["open", "listed"])
def test_expressions_read_the_states_of_the_run(seed: int, header: dict[str, Any]) -> None:
    """Objects come and go, and states have other numbers for them; the page has one number for each name."""
    compared = 0
    for opened, run, after in explained_runs(header, seed):
        opened.runs.expand(run)
        played = opened.runs.played(run)
        state = slots(played)
        for sort, objects in after.objects.instance.describe(after.after).items():
            words = played.vocabulary.sorts[sort]
            for name, fields in objects.items():
                number = words.objects.index(name)
                for field, value in fields.items():
                    if field == "state":
                        assert words.states[state[words.slot + number]] == value
                        continue
                    place = words.fields[field]
                    raw = place.values[number] if place.slot is None else state[place.slot + number]
                    shown_value = read(played, place.type, raw)
                    if isinstance(shown_value, list):
                        assert sorted(shown_value) == sorted(value)
                    else:
                        assert shown_value == value
                    compared += 1
        stepper = opened.explanations.stepper(after.objects)
        enabled = [
            choice for action in stepper.instance.model.actions for choice in stepper.choices(after.after, action)
        ]
        position = played.branches.positions[-1]
        assert position is not None
        assert len(played.branches.states[position]) == min(len(enabled), live.MOST_ENABLED)
    assert compared > 20, "the comparison says something"


def test_the_run_s_own_step_is_among_the_enabled_ones() -> None:
    opened = Live()
    opened.watch.take({"action": "allocate", "parameters": {"p": "g", "K": ["a"]}})
    opened.watch.take({"action": "crash"})
    run = opened.run()
    assert opened.runs.played(run).branches.positions == (None, None, None), "nothing is computed yet"
    opened.runs.expand(run)
    played = opened.runs.played(run)
    for step, position, number in zip(played.steps, played.branches.positions, played.branches.run_steps, strict=False):
        assert position is not None and number is not None
        enabled = played.branches.steps[played.branches.states[position][number].step]
        assert (enabled.action, enabled.parameters, enabled.writes) == (step.action, step.parameters, step.writes)


def test_an_interrupted_expansion_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each call computes at least one more step, however little time it has."""
    opened = Live()
    opened.watch.take({"action": "allocate", "parameters": {"p": "g", "K": ["a"]}})
    run, compute = opened.run(), LiveRuns._step_of
    calls: list[str] = []

    def one_a_call(self: LiveRuns, *arguments: Any) -> Any:
        if calls:
            raise TimeoutError
        calls.append("")
        return compute(self, *arguments)

    monkeypatch.setattr(LiveRuns, "_step_of", one_a_call)
    progress = [opened.runs.progress]
    while True:
        calls.clear()
        try:
            opened.runs.expand(run)
            break
        except TimeoutError:
            progress.append(opened.runs.progress)
            assert progress[-1] > progress[-2]
    monkeypatch.undo()
    assert None not in opened.runs.played(run).branches.positions


def test_steps_say_which_record_they_explain() -> None:
    opened = Live()
    opened.watch.take({"action": "allocate", "parameters": {"p": "g", "K": ["a"]}})
    opened.watch.take({"state": {"PodGroup": {"g": {"state": "Deleted"}}}, "unlogged": 1})
    played = opened.played()
    assert [step.says for step in played.steps] == [
        "g is allocated {a} (record 1)",
        "all pods of g, which was allocated, are deleted (no record, before record 2)",
    ]
    assert played.steps[0].firings[0].line == 49  # "Pending -> Allocated" of the document
    assert played.quotes["49"]


def test_objects_of_two_sorts_with_one_name_have_two_lanes() -> None:
    opened = Live({**HIVED, "objects": {"PodGroup": ["x"], "Cell": ["x", "b"]}})
    opened.watch.take({"action": "allocate", "parameters": {"p": "x", "K": ["x"]}})
    played = opened.played()
    assert [lane.name for lane in played.lanes] == ["PodGroup x", "Cell x", "b"]
    assert {each: fields["state"] for each, fields in ends(played).items()} == {
        "PodGroup x": "Allocated",
        "Cell x": "Used",
        "b": "Free",
    }


def test_a_name_that_a_new_object_takes_is_a_step() -> None:
    opened = Live(LISTED)
    for _ in range(2):
        opened.watch.take({"objects": {"PodGroup": ["g"]}})
        opened.watch.take({"action": "delete_pending", "parameters": {"p": "g"}})
    played = opened.played()
    assert [step.says for step in played.steps] == [
        "all pods of g, which was pending, are deleted (record 2)",
        "g is a new object (record 3)",
        "all pods of g, which was pending, are deleted (record 4)",
    ]
    assert ends(played)["g"]["state"] == "Deleted"


def test_of_many_objects_those_in_the_last_steps_have_lanes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "MOST_LANES", 3)
    opened = Live({**HIVED, "objects": {"PodGroup": ["g", "h"], "Cell": ["a", "b", "c"]}})
    opened.watch.take({"action": "allocate", "parameters": {"p": "g", "K": ["a"]}})
    opened.watch.take({"action": "allocate", "parameters": {"p": "h", "K": ["b"]}})
    lanes = [lane.name for lane in opened.played().lanes]
    assert len(lanes) == 3 and {"h", "b"} <= set(lanes)


def test_only_what_the_last_run_shows_is_kept() -> None:
    opened = Live(LISTED)
    for number in range(1000):
        name = f"g{number}"
        opened.watch.take({"objects": {"PodGroup": [name]}})
        opened.watch.take({"action": "delete_pending", "parameters": {"p": name}})
        if number % 50 == 0:
            opened.played()
    played = opened.played()
    assert len(played.steps) == len(opened.runs._steps) <= 200
    assert len(opened.runs._cascades) <= live.MOST_CASCADES


@pytest.mark.parametrize("start", [0, 2**53 - 2, 10**30])
def test_pages_have_integers_of_any_size(start: int) -> None:
    """What a script reads as a number is exact: JSON's numbers are floats there."""
    header = {"schedproof": 1, "system": "clocks", "objects": {"Node": ["n0", "n1"]}}
    watch = Watch(CLOCKS, None, {**header, "start": {"Node": {"n0": {"time": start, "debt": -start}}}})
    explanations = Explanations.of(watch.header)
    for action in [{"a": "n0"}, {"a": "n1", "b": "n0"}, {"a": "n0"}, {"a": "n0"}]:
        assert (
            watch.take({"action": "sync" if "b" in action else "tick", "parameters": action}).verdict
            is LogVerdict.CONFORMS
        )
    explanations.learn(watch.kept)
    played = LiveRuns(watch.model, explanations).played(explanations.run(watch.kept))
    sent = json.loads(json.dumps(played.as_json()), parse_int=float)
    state = list(sent["vocabulary"]["initial"])
    for step in sent["steps"]:
        for slot, value in step["writes"]:
            state[int(slot)] = value
    node = sent["vocabulary"]["sorts"]["Node"]
    for name, (time, debt) in {"n0": (start + 3, -start), "n1": (start + 1, 0)}.items():
        for field, expected in (("time", time), ("debt", debt)):
            value = state[int(node["fields"][field]["slot"]) + node["objects"].index(name)]
            assert int(value) == expected
    assert ends(played)["n0"]["time"] == str(start + 3)
