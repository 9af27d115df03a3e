"""Explorations against models written a second time by hand: the same states, steps and shortest paths."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import networkx as nx
import pytest

from schedproof.model.lang import Model, Row, Rule, StepInvariant, forall, implies
from schedproof.model.lang.model import common_parameters
from schedproof.model.semantics import Instance, Moment, State, Stepper, compile_term, instances
from schedproof.model.systems.hived import AS_WRITTEN, REPAIRED
from schedproof.proofs.checking import engine
from schedproof.proofs.checking.engine import Engine, Exploring
from schedproof.proofs.checking.model_check import model_check, reads_history
from schedproof.proofs.exploration import safety
from schedproof.proofs.exploration.explore import Exploration, explore
from schedproof.proofs.exploration.symmetry import Symmetry
from schedproof.proofs.verdict import Result, Verdict
from tests.proofs.exploration.independent_models import (
    Graph,
    Person,
    Thing,
    Workshop,
    as_written,
    per_action,
    reachable,
    repaired,
    workshop,
)
from tests.support.sample import thinned
from tests.support.toys import MUTEX, WORKSHOP
from tests.systems.hived.traces import brute_force as brute_hived


def explored(model: Model, scope: Mapping[str, int], **options: Any) -> Exploration:
    """The exploration of the only configuration of ``model`` at ``scope``."""
    [instance] = instances(model, scope)
    return explore(instance, **options)


def graph_of(exploration: Exploration, read: Callable[[Instance, State], Any]) -> Graph[Any]:
    """An exploration without symmetry, in the states of the independent model."""
    states = [read(exploration.instance, state) for state in exploration.states]
    assert len(set(states)) == len(states), "two states of the model are one by hand"
    edges = [Counter((e.choice.action, states[e.target]) for e in edges) for edges in exploration.edges]
    return dict(zip(states, edges, strict=True))


def hived_state(instance: Instance, state: State) -> brute_hived.State:
    """A state as the check of traces has it."""
    shown = instance.describe(state)
    groups = tuple((name, str(group["state"])) for name, group in sorted(shown["PodGroup"].items()))
    cells = tuple(
        (name, brute_hived.Cell(cell["state"], cell["user"], cell["reserver"]))  # type: ignore[arg-type]
        for name, cell in sorted(shown["Cell"].items())
    )
    return brute_hived.State(groups, cells)


def workshop_state(instance: Instance, state: State) -> Workshop:
    """A state as the workshop by hand has it."""

    def number(name: Any) -> int | None:
        return None if name is None else int(name[1:])

    def numbers(names: Any) -> frozenset[int]:
        return frozenset(int(name[1:]) for name in names)

    shown: Any = instance.describe(state)
    people = tuple(
        Person(w["state"] == "Busy", number(w["holds"]), w["tired"], w["mood"], w["jobs"], numbers(w["knows"]))
        for w in shown["Worker"].values()
    )
    things = tuple(Thing(number(x["by"]), x["wear"], numbers(x["queue"])) for x in shown["Tool"].values())
    for x in shown["Tool"].values():
        assert (x["state"] == "Taken") == (x["by"] is not None)
    return people, things


HIVED = [(2, 2), (3, 2), (2, 3), (3, 3)]

# The counts of two further models of HiveD, written by others from the same choices.
PUBLISHED = {
    ("as-written", 2, 2): (47, 158),
    ("as-written", 3, 2): (354, 1579),
    ("as-written", 3, 3): (1512, 7706),
    ("repaired", 2, 2): (28, 97),
    ("repaired", 3, 2): (131, 595),
    ("repaired", 3, 3): (607, 3163),
}


@pytest.mark.parametrize(("groups", "cells"), HIVED)
@pytest.mark.parametrize(
    ("model", "steps"), [(AS_WRITTEN, as_written), (REPAIRED, repaired)], ids=["written", "repaired"]
)
def test_hived_has_just_the_states_and_steps_of_the_hand_model(
    model: Model, steps: Any, groups: int, cells: int
) -> None:
    start = brute_hived.initial([f"g{n}" for n in range(groups)], [f"c{n}" for n in range(cells)])
    by_hand = reachable(start, steps)
    exploration = explored(model, {"PodGroup": groups, "Cell": cells}, symmetry=False)
    assert graph_of(exploration, hived_state) == by_hand
    assert exploration.per_action() == per_action(by_hand)
    totals = exploration.state_count, exploration.transition_count
    assert totals == PUBLISHED.get((model.variant, groups, cells), totals)


@pytest.mark.parametrize(("workers", "tools"), thinned([(1, 1), (2, 1), (1, 2), (3, 1)], 3, first=2))
def test_the_workshop_has_just_the_states_and_steps_by_hand(workers: int, tools: int) -> None:
    by_hand = reachable(((Person(),) * workers, (Thing(),) * tools), workshop)
    exploration = explored(WORKSHOP, {"Worker": workers, "Tool": tools}, symmetry=False)
    assert graph_of(exploration, workshop_state) == by_hand
    assert exploration.per_action() == per_action(by_hand)


@pytest.mark.parametrize("processes", [1, 2, 3, 4])
def test_the_mutex_has_as_many_states_as_can_be_counted(processes: int) -> None:
    """Nobody inside: each process is Away or Trying. One inside: so is each of the others."""
    exploration = explored(MUTEX, {"Process": processes, "Lock": 1})
    assert exploration.state_count == 2**processes + processes * 2 ** (processes - 1)


# --- Shortest --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("symmetry", [False, True])
@pytest.mark.parametrize(("model", "scope"), [(AS_WRITTEN, {"PodGroup": 3, "Cell": 2}), (WORKSHOP, {})])
def test_depths_are_distances_and_paths_are_shortest_runs(model: Model, scope: dict[str, int], symmetry: bool) -> None:
    exploration = explored(model, scope, symmetry=symmetry)
    distance = nx.single_source_shortest_path_length(
        nx.DiGraph((n, edge.target) for n, edges in enumerate(exploration.edges) for edge in edges), 0
    )
    assert [distance[n] for n in range(len(exploration.states))] == exploration.depths
    assert exploration.depth == max(distance.values())
    stepper = Stepper(exploration.instance)
    reducer = Symmetry(exploration.instance)
    for number in range(0, len(exploration.states), 7):
        path, now = exploration.path(number), exploration.instance.initial()
        for choice in path:
            assert stepper.enabled(now, choice)
            now = stepper.step(now, choice).after
        assert len(path) == distance[number]
        assert (reducer.canonical(now) if symmetry else now) == exploration.states[number]


def refuted(results: list[Result]) -> dict[str, int]:
    """The refuted properties with the lengths of their counterexamples."""
    return {
        r.name: len(r.counterexample.steps)
        for r in results
        if r.verdict is Verdict.REFUTED and r.counterexample is not None
    }


def test_counterexamples_of_hived_are_as_short_as_by_hand() -> None:
    """Two properties written again over the states of the independent model."""
    start = brute_hived.initial(["g0", "g1", "g2"], ["c0", "c1", "c2"])
    by_hand = reachable(start, as_written)
    graph = nx.DiGraph((state, after) for state, edges in by_hand.items() for _, after in edges)
    distance = nx.single_source_shortest_path_length(graph, start)

    def has_cells(state: brute_hived.State) -> bool:
        users = {cell.user for _, cell in state.cells}
        return all(name in users for name, at in state.groups if at == "Allocated")

    def preempted_by_somebody(state: brute_hived.State) -> bool:
        victims = {cell.user for _, cell in state.cells if cell.state == "Reserving"}
        return all(name in victims for name, at in state.groups if at == "BeingPreempted")

    lengths = refuted(model_check(AS_WRITTEN, {}, only=["allocated-has-cells", "preemption-ongoing"]))
    assert lengths == {
        "allocated-has-cells": min(d for state, d in distance.items() if not has_cells(state)),
        "preemption-ongoing": min(d for state, d in distance.items() if not preempted_by_somebody(state)),
    }


# --- Symmetry --------------------------------------------------------------------------------------------------------

SYMMETRIC = [
    (AS_WRITTEN, {"PodGroup": 3, "Cell": 3}),
    (REPAIRED, {"PodGroup": 3, "Cell": 3}),
    (WORKSHOP, {"Worker": 2, "Tool": 1}),
    (WORKSHOP, {"Worker": 1, "Tool": 3}),
    (WORKSHOP, {"Worker": 3, "Tool": 1}),
    (MUTEX, {"Process": 3, "Lock": 1}),
    (MUTEX, {"Process": 2, "Lock": 2}),
]


@pytest.mark.long
@pytest.mark.parametrize(("model", "scope"), SYMMETRIC)
def test_symmetry_changes_no_count(model: Model, scope: dict[str, int]) -> None:
    full, reduced = explored(model, scope, symmetry=False), explored(model, scope)
    assert reduced.symmetry is not None and len(reduced.states) < len(full.states)
    assert reduced.state_count == full.state_count
    assert reduced.transition_count == full.transition_count
    assert reduced.per_action() == full.per_action()
    assert reduced.depth == full.depth


@pytest.mark.parametrize(("model", "scope"), thinned(SYMMETRIC, 3, first=2))
def test_renamings_have_one_representative_the_orbit_counts_them(model: Model, scope: dict[str, int]) -> None:
    full = explored(model, scope, symmetry=False)
    symmetry = Symmetry(full.instance)
    orbits = Counter(symmetry.canonical(state) for state in full.states)
    assert all(symmetry.canonical(state) == state for state in orbits)
    assert all(symmetry.orbit(state) == number for state, number in orbits.items())


@pytest.mark.parametrize(
    ("model", "scope"), thinned([(AS_WRITTEN, {"PodGroup": 3, "Cell": 2}), (WORKSHOP, {}), (MUTEX, {})], 3, first=2)
)
def test_symmetry_changes_no_verdict_and_no_length(model: Model, scope: dict[str, int]) -> None:
    full, reduced = (model_check(model, scope, how=Exploring(symmetry=each)) for each in (False, True))
    assert [(r.name, r.verdict) for r in full] == [(r.name, r.verdict) for r in reduced]
    assert refuted(full) == refuted(reduced)
    assert len(refuted(full)) >= 2


def test_cells_are_interchangeable_groups_of_unlike_rank_are_not() -> None:
    [instance] = instances(AS_WRITTEN, {"PodGroup": 3, "Cell": 3})
    assert Symmetry(instance).sorts == ("Cell",)
    equals = Instance(AS_WRITTEN, {"PodGroup": 3, "Cell": 3}, {("PodGroup", "outranks"): [frozenset()] * 3})
    assert set(Symmetry(equals).sorts) == {"PodGroup", "Cell"}


def test_a_symmetry_that_ignores_ranks_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seeded fault: every sort is taken for interchangeable, whatever its rigid attributes say."""
    right = explored(AS_WRITTEN, {"PodGroup": 3, "Cell": 2}, symmetry=False)
    monkeypatch.setattr("schedproof.proofs.exploration.symmetry._interchangeable", lambda instance, sort: True)
    wrong = explored(AS_WRITTEN, {"PodGroup": 3, "Cell": 2})
    assert wrong.state_count != right.state_count


def test_a_symmetry_that_forgets_references_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seeded fault: objects that others refer to are sorted by their columns, and the references stay behind."""
    right = explored(WORKSHOP, {"Worker": 3, "Tool": 1}, symmetry=False)
    monkeypatch.setattr("schedproof.proofs.exploration.symmetry._referred", lambda instance, sort: False)
    wrong = explored(WORKSHOP, {"Worker": 3, "Tool": 1})
    assert (wrong.state_count, wrong.transition_count) != (right.state_count, right.transition_count)


# --- Limits, crashes and ill-formed models ---------------------------------------------------------------------------


def test_an_exploration_cut_short_says_so_and_proves_nothing() -> None:
    assert not explored(AS_WRITTEN, {}, limit=20).complete
    results = {r.name: r for r in model_check(AS_WRITTEN, {}, how=Exploring(max_states=20))}
    proved = {name for name, r in results.items() if r.verdict is Verdict.PROVED}
    assert proved == {"one-user-per-cell", "groups-meet-only-at-cells"}, "only what holds by construction"
    assert results["well-formed"].note.startswith("stopped after")


def test_without_crashes_no_crash_is_taken() -> None:
    exploration = explored(AS_WRITTEN, {"PodGroup": 2, "Cell": 2}, crash=False)
    assert "crash" not in exploration.per_action()
    assert exploration.per_action()["allocate"] > 0


def ill_formed(symmetry: bool) -> tuple[Model, Result]:
    """The workshop less the row for being sent away, and what is said of it."""
    rows = [Row(row.sort, "kicked", "Idle", "Idle") if row.event == "kicked" else row for row in WORKSHOP.rows]
    model = replace(WORKSHOP, rows=rows)
    [result] = model_check(model, {}, only=["well-formed"], how=Exploring(symmetry=symmetry))
    return model, result


@pytest.mark.parametrize("symmetry", [False, True])
def test_an_ill_formed_step_is_refuted_by_a_shortest_run_to_it(symmetry: bool) -> None:
    """A worker takes the tool, another lines up, and the first must go: three steps."""
    _, result = ill_formed(symmetry)
    assert result.verdict is Verdict.REFUTED and result.counterexample is not None
    assert [step.action for step in result.counterexample.steps] == ["take", "line_up", "kick"]
    assert "fires kicked in state Busy, where the table has no row for it" in result.counterexample.problem


@pytest.mark.parametrize("symmetry", [False, True])
def test_other_properties_are_checked_past_an_ill_formed_step(symmetry: bool) -> None:
    model, _ = ill_formed(symmetry)
    [result] = model_check(model, {}, only=["never-tired"], how=Exploring(symmetry=symmetry))
    assert result.verdict is Verdict.REFUTED and result.counterexample is not None
    assert [step.action for step in result.counterexample.steps] == ["take"]


def test_a_dropped_rule_is_noticed_beside_the_hand_model() -> None:
    """The comparison of graphs can fail: less any one rule, the workshop is another."""
    by_hand = reachable(((Person(),) * 2, (Thing(),)), workshop)
    for rule in WORKSHOP.rules:
        assert isinstance(rule, Rule)
        less = replace(WORKSHOP, rules=[r for r in WORKSHOP.rules if r is not rule])
        assert graph_of_all(less) != by_hand, rule.name


def graph_of_all(model: Model) -> object:
    """The graph of a wrong workshop; None if a state of it has no counterpart by hand."""
    try:
        return graph_of(explored(model, {"Worker": 2, "Tool": 1}, symmetry=False), workshop_state)
    except AssertionError:
        return None


# --- Step invariants, checked while the graph grows -------------------------------------------------------------------


def step_properties(model: Model) -> list[StepInvariant]:
    """The step invariants of a model, and each with its conclusion denied: most of those are broken somewhere."""
    right = [p for p in model.properties if isinstance(p, StepInvariant)]
    return [*right, *(replace(p, name=f"not {p.name}", then=~p.then) for p in right)]


def broken_step(exploration: Exploration, prop: StepInvariant) -> int | None:
    """The length of a shortest run to a step that breaks it, by looking at each step of the finished graph."""
    model, stepper = exploration.instance.model, Stepper(exploration.instance)
    scope = {v.name: v for v in common_parameters(model, prop.on)}
    body = prop.then if prop.given is None else implies(prop.given, prop.then)
    holds = compile_term(exploration.instance, forall(list(prop.over), body) if prop.over else body, scope)
    for number, state in enumerate(exploration.states):
        for step in stepper.steps(state):
            concerned = not prop.on or step.choice.action in prop.on
            if concerned and not holds(Moment(state, dict(step.choice.parameters), step.fired, step.after)):
                return exploration.depths[number] + 1
    return None


STEPPED = [(WORKSHOP, {}), (AS_WRITTEN, {"PodGroup": 2, "Cell": 2}), (REPAIRED, {"PodGroup": 2, "Cell": 2})]


@pytest.mark.parametrize("symmetry", [False, True])
@pytest.mark.parametrize(("model", "scope"), thinned(STEPPED, 3), ids=["workshop", "written", "repaired"])
def test_step_invariants_are_checked_as_on_the_finished_graph(model: Model, scope: Any, symmetry: bool) -> None:
    asked = [p for p in step_properties(model) if not reads_history(model, p)]
    lengths = refuted(
        model_check(replace(model, properties=asked, refuted=frozenset()), scope, how=Exploring(symmetry=symmetry))
    )
    graph = explored(model, scope, symmetry=False)
    assert lengths == {p.name: length for p in asked if (length := broken_step(graph, p)) is not None}
    assert lengths and len(lengths) < len(asked)


def test_a_step_checked_by_another_step_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seeded fault: what fires and the parameters are those of the step, the state after is the state before."""
    right = safety._moment
    monkeypatch.setattr(safety, "_moment", lambda state, step: right(state, replace(step, after=state)))
    asked = step_properties(WORKSHOP)
    graph = explored(WORKSHOP, {}, symmetry=False)
    expected = {p.name: length for p in asked if (length := broken_step(graph, p)) is not None}
    assert refuted(model_check(replace(WORKSHOP, properties=asked, refuted=frozenset()), {})) != expected


# --- One exploration for all that is asked ----------------------------------------------------------------------------


def explorations(monkeypatch: pytest.MonkeyPatch, model: Model, scope: Mapping[str, int], **options: Any) -> int:
    """How often an instance is explored."""
    calls = []

    def counted(*args: Any, **rest: Any) -> Exploration:
        calls.append(rest)
        return explore(*args, **rest)

    for module in (safety, engine):
        monkeypatch.setattr(module, "explore", counted)
    how = Exploring(Engine.INTERPRETED, symmetry=options.pop("symmetry", True))
    model_check(model, scope, how=how, **options)
    defaults = {"crash": True, "limit": None}
    assert all(call | defaults == call for call in calls), "each exploration is asked the same way"
    return len(calls)


def test_safety_and_liveness_share_a_graph_without_symmetry(monkeypatch: pytest.MonkeyPatch) -> None:
    assert explorations(monkeypatch, MUTEX, {}, symmetry=False) == 1
    assert explorations(monkeypatch, MUTEX, {}) == 2, "what follows single objects sees them all"
    assert explorations(monkeypatch, MUTEX, {"Process": 1, "Lock": 1}) == 1, "one object of each sort: no symmetry"
    assert explorations(monkeypatch, MUTEX, {}, only=["leaving"]) == 1
    assert explorations(monkeypatch, MUTEX, {}, only=["held"]) == 1


@pytest.mark.parametrize(
    "options", thinned([{}, {"crash": False}, {"max_states": 30}], 3), ids=["all", "no crash", "limit"]
)
def test_what_is_shared_changes_no_verdict(options: Any) -> None:
    """Asked alone, each property is checked on an exploration of its own."""
    scope = {"PodGroup": 2, "Cell": 2}
    how = Exploring(**options)
    together = {r.name: r.verdict for r in model_check(REPAIRED, scope, how=how)}
    for name, verdict in together.items():
        [alone] = [r for r in model_check(REPAIRED, scope, only=[name], how=how) if r.name == name]
        assert alone.verdict is verdict, name
