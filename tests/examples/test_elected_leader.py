"""The elected leader: each property is violated by a fault, and no bound hides one in a log."""

from __future__ import annotations

import importlib
from dataclasses import replace

import pytest

from schedproof.api import System, check_records, model_check
from schedproof.model.lang import Action, IntRange, Machine, Model
from tests.support.places import ROOT


@pytest.fixture
def module(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "examples" / "elected-leader"))
    return importlib.import_module("election.model")


def with_action(model: Model, name: str, **changes) -> Model:
    """The model with a changed action."""

    def changed(action: Action) -> Action:
        return replace(action, **changes) if action.name == name else action

    assert any(action.name == name for action in model.actions)
    return replace(model, actions=[changed(action) for action in model.actions])


def verdict(model: Model, name: str) -> str:
    (result,) = model_check(model, {}, only=[name])
    return result.reach


@pytest.mark.long(seconds=12)
def test_jobs_of_a_dead_leader_must_be_taken_again(module):
    leads, newest, j = module.leads, module.is_newest, module.j
    forgetful = with_action(module.FENCED, "take", when=[leads, newest, j.is_("Waiting")])
    assert verdict(forgetful, "all-is-done").startswith("refuted in")
    impatient = with_action(module.FENCED, "take", when=[leads, j.is_("Waiting", "Running")])
    assert verdict(impatient, "no-step-back").startswith("refuted in")


@pytest.mark.long(seconds=12)
def test_each_fair_action_is_needed(module):
    (prop,) = [each for each in module.FENCED.properties if each.name == "all-is-done"]
    for name in prop.weak:
        if name == "refuse":  # a refused leader takes nothing, and another one works
            continue
        unfair = replace(prop, weak=[action for action in prop.weak if action != name])
        assert verdict(replace(module.FENCED, properties=[unfair]), "all-is-done").startswith("refuted in"), name


def test_a_log_knows_no_bound_of_terms(module):
    names = {"Node": ["a", "b"], "Job": ["x"], "Queue": ["q"], "Timer": ["t", "u"], "Call": ["c"], "Beat": ["m", "k"]}
    far = 10**6
    header = {
        "schedproof": 1,
        "system": "elected-leader",
        "objects": names,
        "rigid": {"Timer": {"node": {"t": "a", "u": "b"}}},
        "start": {
            "Queue": {"q": {"term": far}},
            "Node": {"a": {"state": "Follower"}},
            "Timer": {"t": {"state": "armed"}},
        },
    }
    lead = [{"action": "expire_patience"}, {"action": "run_patience", "state": {"Node": {"a": {"term": far + 1}}}}]
    takes = {"action": "take", "parameters": {"n": "a"}, "state": {"Job": {"x": {"term": far + 1}}}}
    assert check_records(System.of(module.FENCED), header, [*lead, takes]).verdict == "conforms"
    takes["state"] = {"Job": {"x": {"term": far}}}
    assert check_records(System.of(module.FENCED), header, [*lead, takes]).verdict == "violates"


def test_a_range_of_terms_would_reject_the_log(module):
    node = module.FENCED.machine(module.Node)
    narrow = replace(node, attributes=[replace(each, type=IntRange(0, 3)) for each in node.attributes])
    assert isinstance(narrow, Machine)
    names = {"Node": ["a"], "Timer": ["t"], "Call": ["c"], "Beat": ["m", "k"]}
    start = {"Queue": {"q0": {"term": 3}}, "Node": {"a": {"state": "Follower"}}, "Timer": {"t": {"state": "armed"}}}
    header = {"schedproof": 1, "system": "elected-leader", "objects": names | {"Queue": ["q0"]}, "start": start}
    header["rigid"] = {"Timer": {"node": {"t": "a"}}}
    records = [{"action": "expire_patience"}, {"action": "run_patience"}]
    machines = [narrow if each.sort == module.Node else each for each in module.FENCED.machines]
    assert check_records(System.of(module.FENCED), header, records).verdict == "conforms"
    assert (
        check_records(System.of(replace(module.FENCED, machines=machines, bound={})), header, records).verdict
        == "violates"
    )
