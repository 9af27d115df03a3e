"""What can always still happen and what must happen, against searches of another kind on many small graphs."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from contextlib import suppress
from random import Random
from typing import Any

import networkx as nx
import pytest

from schedproof.model.lang import (
    AlwaysCanReach,
    Invariant,
    LeadsTo,
    LifeCycle,
    Model,
    ModelError,
    StepInvariant,
    after,
    variables,
)
from schedproof.model.lang.check import checked
from schedproof.model.semantics import Choice, Instance, Moment, Stepper, compile_term, instances
from schedproof.model.systems.hived import REPAIRED
from schedproof.proofs.checking.model_check import model_check
from schedproof.proofs.exploration import liveness
from schedproof.proofs.exploration.liveness import NO_RUN
from schedproof.proofs.verdict import Counterexample, Result, Verdict
from tests.support.random_graphs import (
    EDGES,
    SEEDS,
    Thing,
    by_hand,
    can_reach_without,
    model_of,
    names,
    random_edges,
    random_without,
    reachable,
    required,
    stuck_without,
    verdict_without,
    x,
)
from tests.support.rows import each_row
from tests.support.toys import MUTEX, WORKSHOP


def verdict_on(model: Model) -> Result:
    """The verdict on the model's only property."""
    [result] = [r for r in model_check(model, {}) if r.name == "p"]
    return result


# --- Always can reach ------------------------------------------------------------------------------------------------


@each_row("seed", range(60))
def test_always_can_reach_is_what_the_closure_says(seed: int) -> None:
    random = Random(seed)
    size = random.randrange(2, 6)
    edges = random_edges(random, size)
    given = set(random.sample(range(size), random.randrange(1, size + 1)))
    goal = set(random.sample(range(size), random.randrange(1, size)))
    prop = AlwaysCanReach(name="p", says="", over=[x], given=x.is_(*names(given)), goal=x.is_(*names(goal)))
    result = verdict_on(model_of(edges, size, prop))
    starts = reachable(edges, 0) & given
    stuck = {n for n in starts if not reachable(edges, n) & goal}
    expected = Verdict.REFUTED if stuck else Verdict.PROVED if starts else Verdict.UNDETERMINED
    assert result.verdict is expected
    if stuck:
        assert result.counterexample is not None
        graph = nx.DiGraph([(0, 0), *((a, b) for a, _, b in edges)])
        assert len(result.counterexample.steps) == min(nx.shortest_path_length(graph, 0, n) for n in stuck)


@each_row("seed", range(80))
def test_reaching_without_some_actions_is_what_the_closure_says(seed: int) -> None:
    result = verdict_on(can_reach_without(seed))
    assert result.verdict is verdict_without(seed)
    if result.verdict is Verdict.REFUTED:
        assert result.counterexample is not None
        graph = nx.DiGraph([(0, 0), *((a, b) for a, _, b in random_without(seed)[0])])
        nearest = min(nx.shortest_path_length(graph, 0, n) for n in stuck_without(seed))
        assert len(result.counterexample.steps) == nearest, "the way to where it is stuck may take any action"


def test_leaving_actions_out_makes_a_difference() -> None:
    """Else the comparison above would show little."""
    differs = [seed for seed in range(80) if random_without(seed)[4] and stuck_without(seed) != stuck_with(seed)]
    assert len(differs) >= 10


def stuck_with(seed: int) -> set[int]:
    """The same if all actions may be taken."""
    edges, _, given, goal, _ = random_without(seed)
    return {n for n in reachable(edges, 0) & given if not reachable(edges, n) & goal}


def test_an_unknown_action_cannot_be_left_out() -> None:
    prop = AlwaysCanReach(name="p", says="", over=[x], goal=x.is_("s0"), without=["a", "stroll"])
    with pytest.raises(ModelError, match=r"property p.*unknown action 'stroll'.*choose from a, b"):
        checked(model_of(((0, "a", 1), (1, "b", 0)), 2, prop))


# --- Leads to --------------------------------------------------------------------------------------------------------


@each_row("seed", SEEDS)
def test_leads_to_is_what_a_search_for_lassos_says(seed: int) -> None:
    model = required(seed)
    result = verdict_on(model)
    assert result.verdict is by_hand(seed)
    if result.verdict is Verdict.REFUTED:
        assert result.counterexample is not None
        prop = model.property("p")
        assert isinstance(prop, LeadsTo)
        assert_lasso(model, prop, result.counterexample, {"Thing": 1})


def test_the_random_properties_are_of_every_kind() -> None:
    """Else the comparison above would show little."""
    verdicts = [by_hand(seed) for seed in SEEDS]
    assert all(verdicts.count(kind) >= 15 for kind in Verdict)


def assert_lasso(model: Model, prop: LeadsTo, shown: Counterexample, scope: Mapping[str, int]) -> None:
    """The run can be taken step by step, its end repeats, it is fair, and it goes on from ``given`` without the goal."""
    [instance] = instances(model, scope)
    stepper, states, choices = Stepper(instance), [instance.initial()], []
    for step in shown.steps:
        types = {v.name: v.type for v in model.action(step.action).parameters}
        choice = Choice(step.action, tuple((n, instance.read(types[n], v)) for n, v in step.parameters.items()))
        assert stepper.enabled(states[-1], choice)
        states.append(stepper.step(states[-1], choice).after)
        choices.append(choice)
    assert shown.loops_from is not None
    loop = states[shown.loops_from :]
    assert loop[0] == loop[-1], "it does not come back"
    used = set(choices[shown.loops_from :])
    assert not {c.action for c in used} & set(prop.without)
    enabled = [{s.choice for s in stepper.steps(state)} for state in loop]
    assert {c for c in set.intersection(*enabled) if c.action in prop.weak} <= used
    assert {c for c in set.union(*enabled) if c.action in prop.strong} <= used
    assert any(starves(instance, prop, bound, states) for bound in bindings(instance, prop)), "the goal is met"


def bindings(instance: Instance, prop: LeadsTo) -> Iterator[dict[str, int]]:
    """All choices of the property's objects."""
    combinations: list[dict[str, int]] = [{}]
    for var in prop.over:
        combinations = [{**bound, var.name: value} for bound in combinations for value in instance.domain(var.type)]
    yield from combinations


def starves(instance: Instance, prop: LeadsTo, bound: dict[str, int], states: list[Any]) -> bool:
    """For these objects ``given`` holds somewhere, and from there on the goal never does."""
    scope = {v.name: v for v in prop.over}
    given, goal = compile_term(instance, prop.given, scope), compile_term(instance, prop.goal, scope)
    return any(
        given(Moment(state, dict(bound))) and not any(goal(Moment(later, dict(bound))) for later in states[n:])
        for n, state in enumerate(states)
    )


# --- Fairness, on a model that a reader knows -----------------------------------------------------------------------


def test_weak_fairness_lets_a_process_starve_strong_does_not() -> None:
    results = {r.name: r for r in model_check(MUTEX, {})}
    assert results["weakly-fair-entry"].verdict is Verdict.REFUTED
    assert results["strongly-fair-entry"].verdict is Verdict.PROVED
    assert results["entry-of-the-scared"].verdict is Verdict.REFUTED
    assert results["leaving"].verdict is Verdict.PROVED


@pytest.mark.parametrize("name", ["weakly-fair-entry", "entry-of-the-scared"])
@pytest.mark.parametrize("processes", [2, pytest.param(3, marks=pytest.mark.long(one_in=32))])
def test_the_starving_runs_are_fair_and_can_be_replayed(name: str, processes: int) -> None:
    scope = {"Process": processes, "Lock": 1}
    [result] = model_check(MUTEX, scope, only=[name])
    prop = MUTEX.property(name)
    assert isinstance(prop, LeadsTo) and result.counterexample is not None
    assert_lasso(MUTEX, prop, result.counterexample, scope)


def test_a_process_alone_does_not_starve() -> None:
    [result] = model_check(MUTEX, {"Process": 1}, only=["weakly-fair-entry"])
    assert result.verdict is Verdict.PROVED


def test_a_preemptor_waits_for_ever_if_no_victim_need_be_deleted() -> None:
    """Fairness to fewer actions than the model declares: the property is then refuted, by a run that stands still."""
    right = REPAIRED.property("preempting-ends")
    assert isinstance(right, LeadsTo)
    prop = LeadsTo(name="p", says="", over=right.over, given=right.given, goal=right.goal, weak=["complete"])
    scope = {"PodGroup": 2, "Cell": 2}
    [result] = model_check(amended(REPAIRED, prop), scope, only=["p"])
    assert result.verdict is Verdict.REFUTED and result.counterexample is not None
    assert_lasso(REPAIRED, prop, result.counterexample, scope)
    [result] = model_check(REPAIRED, scope, only=["preempting-ends"])
    assert result.verdict is Verdict.PROVED


def amended(model: Model, *props: Any) -> Model:
    """``model`` with further properties."""
    return dataclasses.replace(model, properties=[*model.properties, *props])


# --- Vacuous --------------------------------------------------------------------------------------------------------

NEVER = x.is_("s2")
WALK: EDGES = ((0, "a", 1), (1, "b", 0))
VACUOUS = [
    Invariant(name="p", says="", over=[x], given=NEVER, then=x.is_("s0")),
    StepInvariant(name="p", says="", over=[x], given=NEVER, then=after(x.is_("s0"))),
    AlwaysCanReach(name="p", says="", over=[x], given=NEVER, goal=x.is_("s0")),
    LeadsTo(name="p", says="", over=[x], given=NEVER, goal=x.is_("s0")),
]


def test_a_premise_with_the_goal_already_true_proves_nothing() -> None:
    """Its premise is true in a reachable state, so "never true" would be wrong."""
    prop = LeadsTo(name="p", says="so it goes", over=[x], given=x.is_("s1"), goal=x.is_("s1"))
    result = verdict_on(model_of(WALK, 3, prop))
    assert result.verdict is Verdict.UNDETERMINED
    assert result.note == "vacuous: wherever its premise is true, its goal is true already at Thing=1"


@pytest.mark.parametrize("prop", VACUOUS, ids=lambda prop: prop.kind)
def test_a_premise_that_is_never_true_proves_nothing(prop: Any) -> None:
    result = verdict_on(model_of(WALK, 3, prop))
    assert result.verdict is Verdict.UNDETERMINED
    assert result.note.startswith("vacuous: its premise is never true")


# --- Life cycles ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("states", "verdict"),
    [
        (["s0", "s1", "s2"], Verdict.PROVED),
        (["s0", "s1", "s0", "s1"], Verdict.PROVED),
        (["s0", "s2"], Verdict.REFUTED),
        (["s0", "s1", "s2", "s0"], Verdict.REFUTED),
    ],
)
def test_a_life_cycle_goes_through_exactly_these_states(states: list[str], verdict: Verdict) -> None:
    edges: EDGES = ((0, "a", 1), (1, "b", 0), (1, "c", 2))
    result = verdict_on(model_of(edges, 3, LifeCycle(name="p", says="so it goes", sort=Thing, states=states)))
    assert result.verdict is verdict
    if states == ["s0", "s1", "s2", "s0"]:
        assert result.counterexample is not None
        assert result.counterexample.problem.endswith(f"the farthest that can happen is s0 -> s1 -> s2; {NO_RUN}")


def test_a_goal_that_reads_no_object_is_refuted_and_no_traceback() -> None:
    """Which worker has a tool that nobody has?"""
    tool = variables(WORKSHOP.sorts[1], "y")[0]
    for prop in (
        AlwaysCanReach(name="p", says="the worker is idle", over=[tool], goal=tool.by.is_("Idle")),
        LeadsTo(name="p", says="the worker is idle", over=[tool], given=tool.by.is_("Busy"), goal=tool.is_("Free")),
    ):
        [result] = model_check(amended(WORKSHOP, prop), {}, only=["p"])
        assert result.verdict is Verdict.REFUTED and result.counterexample is not None
        assert "it reads an object that does not exist" in result.counterexample.problem


# --- Seeded faults: wrong searches -----------------------------------------------------------------------------------

RIGHT = liveness._fair_loops


def strong_as_weak(exploration: Any, region: set[int], prop: LeadsTo) -> list[set[int]]:
    """Strong fairness is taken for weak."""
    return RIGHT(exploration, region, dataclasses.replace(prop, weak=[*prop.weak, *prop.strong], strong=[]))


def weak_as_strong(exploration: Any, region: set[int], prop: LeadsTo) -> list[set[int]]:
    """Weak fairness is taken for strong."""
    return RIGHT(exploration, region, dataclasses.replace(prop, weak=[], strong=[*prop.weak, *prop.strong]))


def for_ever_all_the_same(exploration: Any, region: set[int], prop: LeadsTo) -> list[set[int]]:
    """What is not taken for ever may be taken for ever."""
    return RIGHT(exploration, region, dataclasses.replace(prop, without=[]))


def never_still(exploration: Any, region: set[int], prop: LeadsTo) -> list[set[int]]:
    """Runs that stand still are forgotten."""
    loops = RIGHT(exploration, region, prop)
    return [loop for loop in loops if any(e.target in loop for s in loop for e in exploration.edges[s])]


@pytest.mark.parametrize("wrong", [strong_as_weak, weak_as_strong, for_ever_all_the_same, never_still])
def test_a_wrong_search_for_fair_loops_is_noticed(wrong: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(liveness, "_fair_loops", wrong)

    def verdict(seed: int) -> Verdict | None:
        with suppress(AssertionError):  # a wrong loop need not have a tour
            return verdict_on(required(seed)).verdict
        return None

    assert any(verdict(seed) is not by_hand(seed) for seed in SEEDS)


RIGHT_BACK = liveness._predecessors


@pytest.mark.parametrize(
    "wrong",
    [
        lambda exploration, without: RIGHT_BACK(exploration, ()),
        lambda exploration, without: RIGHT_BACK(exploration, without[:1]),
    ],
    ids=["all actions are taken", "one action is left out"],
)
def test_a_wrong_search_without_some_actions_is_noticed(wrong: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(liveness, "_predecessors", wrong)
    assert any(verdict_on(can_reach_without(seed)).verdict is not verdict_without(seed) for seed in range(80))
