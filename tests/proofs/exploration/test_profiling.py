"""``profile``: its counts follow from the facts of every step, and it reports what never happens."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from schedproof.cli import main
from schedproof.model.lang import Action, Model, Rule
from schedproof.model.lang import terms as t
from schedproof.model.lang.infer import sort_of
from schedproof.model.registry.discovery import systems
from schedproof.model.semantics import Instance, Moment, Profiler, Step, Stepper, compile_term, instances, profiled
from schedproof.model.semantics.step import Stepper as Plain
from schedproof.model.systems.hived import AS_WRITTEN
from schedproof.proofs.exploration.explore import explore
from schedproof.proofs.exploration.profiling import Profile, profile, together
from tests.proofs.compiled.test_beside_interpreted import TORN
from tests.support.registry import put
from tests.support.sample import thinned
from tests.support.toys import MUTEX, WORKSHOP, w, x

SMALL: list[tuple[Model, dict[str, int], int]] = [
    (MUTEX, {"Process": 3, "Lock": 2}, 0),
    (WORKSHOP, {}, 0),
    (AS_WRITTEN, {"PodGroup": 2, "Cell": 2}, 0),
    *[(next(iter(systems()[name].variants.values())), {}, 0) for name in ("yunikorn", "yunikorn-merge", "jobmon")],
]


def instance_of(model: Model, scope: dict[str, int], configuration: int = 0) -> Instance:
    """One configuration of a model at a scope."""
    return list(instances(model, {**model.default_scope, **scope}))[configuration]


# --- By the facts of every step --------------------------------------------------------------------------------------


def ways(instance: Instance, rule: Rule, state: Any, step: Step) -> int | None:
    """In how many ways a rule wants something fired, by trying all objects; None: what it looks at has not happened."""
    conditions = [*([] if isinstance(rule.on, Action) else [rule.on]), *rule.when]
    known: dict[str, t.Var] = {}
    if isinstance(rule.on, Action):
        if rule.on.name != step.choice.action:
            return None
        known = {v.name: v for v in rule.on.parameters}
    elif (sort_of(instance.model, rule.on.of, {}), rule.on.event) not in step.fired:
        return None
    scope = dict(known)
    for part in (*conditions, rule.fires):
        scope |= {n: v for n, v in t.free_variables(part).items() if n not in scope}
    free = [v for n, v in scope.items() if n not in known]
    holds = [compile_term(instance, c, scope) for c in conditions]
    number = 0
    for values in product(*(instance.domain(v.type) for v in free)):
        bound = {v.name: value for v, value in zip(free, values, strict=True)}
        if known:
            bound |= dict(step.choice.parameters)
        number += all(h(Moment(state, dict(bound), step.fired)) for h in holds)
    return number


def by_hand(instance: Instance) -> tuple[dict[str, tuple[int, ...]], dict[str, tuple[int, ...]]]:
    """Of actions: states asked and enabled, steps, new states, and steps that change nothing; of rules: asked, fired, firings."""
    stepper = Stepper(instance)
    states = explore(instance, symmetry=False).states
    enabled, steps, idle, new = Counter[str](), Counter[str](), Counter[str](), Counter[str]()
    asked, fired, firings = Counter[str](), Counter[str](), Counter[str]()
    known = {instance.initial()}
    for state in states:
        all_steps = list(stepper.steps(state))
        enabled.update({s.choice.action for s in all_steps})
        for step in all_steps:
            steps[step.choice.action] += 1
            idle[step.choice.action] += step.after == state
            new[step.choice.action] += step.after not in known
            known.add(step.after)
            for rule in instance.model.rules:
                matches = ways(instance, rule, state, step)
                if matches is not None:
                    asked[rule.name] += 1
                    fired[rule.name] += matches > 0
                    firings[rule.name] += matches
    actions, rules = instance.model.actions, instance.model.rules
    return (
        {a.name: (len(states), enabled[a.name], steps[a.name], new[a.name], idle[a.name]) for a in actions},
        {r.name: (asked[r.name], fired[r.name], firings[r.name]) for r in rules},
    )


def counted(result: Profile) -> tuple[dict[str, tuple[int, ...]], dict[str, tuple[int, ...]]]:
    """The same of a profile."""
    return (
        {a.name: (a.asked, a.enabled, a.steps, a.new, a.idle) for a in result.actions},
        {r.name: (r.asked, r.fired, r.firings) for r in result.rules},
    )


@pytest.mark.parametrize(
    ("model", "scope", "configuration"), thinned(SMALL, 3, first=2), ids=lambda one: getattr(one, "system", "")
)
def test_counts_are_those_of_every_step(model: Model, scope: dict[str, int], configuration: int) -> None:
    instance = instance_of(model, scope, configuration)
    result, plain = profile(instance), explore(instance, symmetry=False)
    assert counted(result) == by_hand(instance)
    assert (result.states, result.transitions, result.complete) == (plain.state_count, plain.transition_count, True)
    assert sum(a.steps for a in result.actions) == result.transitions
    assert sum(a.new for a in result.actions) == result.states - 1, "all but the initial one were found by a step"


def test_these_have_rules_that_fire_and_rules_that_do_not() -> None:
    """Else the comparison above would show little."""
    rules = [r for model, scope, n in SMALL for r in profile(instance_of(model, scope, n)).rules]
    assert len([r for r in rules if 0 < r.fired < r.asked]) >= 5
    assert len([r for r in rules if r.firings > r.fired]) >= 3


def test_objects_are_tried_as_often_as_the_plan_has_it() -> None:
    """Who has one parameter and no condition that says which, is tried with each object in each state."""
    result = profile(instance_of(AS_WRITTEN, {"PodGroup": 3, "Cell": 2}))
    tried = {a.name: a.tried for a in result.actions}
    assert tried["complete"] == tried["delete_pending"] == 3 * result.states
    assert tried["vacate"] == 2 * result.states
    assert tried["crash"] == 0


def test_times_are_parts_of_each_other() -> None:
    result = profile(instance_of(AS_WRITTEN, {"PodGroup": 2, "Cell": 2}))
    assert all(a.guard_seconds > 0 for a in result.actions)
    assert sum(r.seconds for r in result.rules) < sum(a.step_seconds for a in result.actions) < result.seconds


def test_the_slowest_parts_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seeded fault: each look of one rule takes a hundred ticks of the clock, and all else takes one."""
    now = [0]

    def clock() -> float:
        now[0] += 1
        return float(now[0])

    right = Plain._follow

    def slow(self: Any, rule: Any, *rest: Any) -> int:
        now[0] += 100 * (rule.head.cause.name == "e3 frees its cells")
        return right(self, rule, *rest)

    monkeypatch.setattr(profiled, "perf_counter", clock)
    monkeypatch.setattr(Plain, "_follow", slow)
    result = profile(instance_of(AS_WRITTEN, {"PodGroup": 2, "Cell": 2}))
    asked = {r.name: r.asked for r in result.rules}
    assert {r.name: r.seconds - r.asked for r in result.rules} == {
        name: 100.0 * asked[name] * (name == "e3 frees its cells") for name in asked
    }
    slowest = max(result.actions, key=lambda a: a.step_seconds)
    assert slowest.name == "delete_allocated", "that is the action whose cascades it is a part of"


def test_what_is_not_explored_is_not_counted() -> None:
    instance = instance_of(AS_WRITTEN, {})
    result = profile(instance, limit=50)
    assert not result.complete and all(a.asked < 60 for a in result.actions)
    calm = profile(instance, crash=False)
    assert "crash" not in {a.name for a in calm.actions}
    assert {r.name for r in profile(instance).rules} - {r.name for r in calm.rules} == {
        "crash takes every PodGroup",
        "crash takes every Cell",
    }
    assert calm.never_fired == []


def test_configurations_are_put_together() -> None:
    model = next(iter(systems()["jobmon"].variants.values()))
    each = [profile(instance_of(model, {}, n)) for n in (0, 3)]
    both = together(each)
    assert both.states == sum(p.states for p in each)
    one, other = (counted(p) for p in each)
    for sums, a, b in zip(counted(both), one, other, strict=True):
        assert sums == {name: tuple(i + j for i, j in zip(a[name], b[name], strict=True)) for name in a}


# --- What never happens ----------------------------------------------------------------------------------------------

DEAD = dataclasses.replace(
    WORKSHOP,
    actions=[*WORKSHOP.actions, Action("wish", [w], [w.is_("Idle"), w.jobs > 1], [w.fires("drop", mood="calm")], "")],
    rules=[
        *WORKSHOP.rules,
        Rule("it is never so", x.fires("taken"), [x.by == w, w.is_("Busy")], w.fires("kicked")),
        Rule("it never happens", next(a for a in WORKSHOP.actions if a.name == "kick"), [x.is_("Free")], x.fires("dropped")),
    ],
)  # fmt: skip
"""Seeded fault: a Free tool is nobody's; who takes it, takes a Free one, and only a Taken one is kicked from; nobody has two jobs."""


def test_a_dead_rule_and_a_dead_action_are_reported() -> None:
    assert not profile(instance_of(WORKSHOP, {})).never_fired
    result = profile(instance_of(DEAD, {}))
    assert [a.name for a in result.never_enabled] == ["wish"]
    assert {r.name for r in result.never_fired} == {"it is never so", "it never happens"}
    assert all(r.asked for r in result.never_fired), "what they look at does happen"


def test_the_command_reports_what_never_happens(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    jobmon = systems()["jobmon"]
    put(monkeypatch, {**systems(), "jobmon": dataclasses.replace(jobmon, variants={"toy": DEAD})})
    json_file = tmp_path / "profile.json"
    assert main(["profile", "jobmon", "--json", str(json_file)]) == 0
    out = capsys.readouterr().out
    assert "never enabled at this scope: action wish\n" in out
    times = next(a.steps for a in profile(instance_of(DEAD, {})).actions if a.name == "take")
    assert (
        f"never fired at this scope: rule 'it is never so': it was asked in {times} steps, and its condition never held"
        in out
    )
    content = json.loads(json_file.read_text())
    assert content["never_enabled"] == ["wish"] and content["never_fired"] == ["it is never so", "it never happens"]
    assert content["topologies"] == 1 and content["complete"] is True and content["ill_formed"] is False
    shown = profile(instance_of(DEAD, {}))
    assert (content["states"], content["transitions"]) == (shown.states, shown.transitions)
    assert {a["name"]: a["steps"] for a in content["actions"]} == {a.name: a.steps for a in shown.actions}
    assert main(["profile", "jobmon", "--max-states", "5"]) == 0
    out = capsys.readouterr().out
    assert "in what was explored" in out and "stopped early: the first " in out


def test_ill_formed_steps_are_not_counted(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    result = profile(instance_of(TORN, {}))
    assert result.ill_formed and [a.name for a in result.never_enabled] == ["a"], "its only step is one"
    put(monkeypatch, {**systems(), "jobmon": dataclasses.replace(systems()["jobmon"], variants={"toy": TORN})})
    assert main(["profile", "jobmon"]) == 0
    assert "there are ill-formed steps, which are not counted" in capsys.readouterr().out


def test_mistakes_are_reported(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["profile", "hivd"]) == 2
    assert "hived" in capsys.readouterr().err
    assert main(["profile", "hived", "--scope", "Cell=0"]) == 2
    assert main(["profile", "hived", "--max-states", "0"]) == 2


# --- Seeded faults: wrong profilers ----------------------------------------------------------------------------------


def remembering(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is remembered is not counted again."""
    right = Profiler.step
    known: dict[Any, Step] = {}

    def step(self: Any, state: Any, choice: Any) -> Step:
        fires = choice, state[0]
        step_after = right(self, state, choice) if fires not in known else Plain.step(self, state, choice)
        known[fires] = step_after
        return step_after

    monkeypatch.setattr(Profiler, "step", step)


def each_way_is_a_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """A rule that fires twice in a step is counted twice."""
    right = profiled.Cost.add

    def add(self: Any, ways: int, seconds: float) -> None:
        right(self, ways, seconds)
        self.held += max(0, ways - 1)

    monkeypatch.setattr(profiled.Cost, "add", add)


def only_what_fires_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A rule that was looked at in vain is not counted."""
    right = profiled.Cost.add

    def add(self: Any, ways: int, seconds: float) -> None:
        if ways:
            right(self, ways, seconds)

    monkeypatch.setattr(profiled.Cost, "add", add)


@pytest.mark.parametrize("wrong", [remembering, each_way_is_a_step, only_what_fires_is_asked])
def test_a_wrong_profiler_is_noticed(wrong: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong(monkeypatch)
    instance = instance_of(WORKSHOP, {})
    assert counted(profile(instance)) != by_hand(instance)
