"""Freedom from deadlock: what a search on plain graphs says, in both explorations, with symmetry and without."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from random import Random
from typing import Any

import networkx as nx
import pytest

from schedproof.model.lang import Action, DeadlockFree, Model, Property, exists, forall
from schedproof.model.lang.terms import Constant, Or
from schedproof.model.registry.discovery import systems
from schedproof.model.semantics import Instance, instances, stepper_of
from schedproof.model.systems.hived import AS_WRITTEN, REPAIRED
from schedproof.proofs import compiled
from schedproof.proofs.checking.engine import Engine, Exploring
from schedproof.proofs.checking.model_check import model_check
from schedproof.proofs.exploration import safety
from schedproof.proofs.exploration.explore import Exploration, explore
from schedproof.proofs.verdict import Result, Verdict
from tests.support.random_graphs import EDGES, model_of, names, random_edges, reachable, x
from tests.support.sample import thinned
from tests.support.toys import MUTEX, WORKSHOP, lock, p, w


def lacking(model: Model, *removed: str) -> Model:
    """A model without some actions, and without properties."""
    actions = [a for a in model.actions if a.name not in removed]
    assert len(actions) == len(model.actions) - len(removed)
    rules = [r for r in model.rules if not isinstance(r.on, Action) or r.on.name not in removed]
    return dataclasses.replace(model, actions=actions, rules=rules, properties=[], refuted=frozenset())


WAYS = [(engine, symmetry) for engine in (Engine.INTERPRETED, Engine.COMPILED) for symmetry in (True, False)]


def checked(model: Model, scope: Mapping[str, int], prop: Property) -> Result:
    """What is said of a deadlock_free: the same with either engine, with and without symmetry."""
    asked = dataclasses.replace(model, properties=[prop], refuted=frozenset())
    results = []
    for engine, symmetry in WAYS:
        [result] = model_check(asked, scope, only=[prop.name], how=Exploring(engine, symmetry))
        results.append(result)
    summaries = {(r.verdict, r.vacuous, r.counterexample and len(r.counterexample.steps)) for r in results}
    assert len(summaries) == 1, summaries
    plain = [r.counterexample for r, (_, symmetry) in zip(results, WAYS, strict=True) if not symmetry]
    assert plain[0] == plain[1], "the engines report different runs"
    return results[0]


def deadlock_free(**parts: Any) -> DeadlockFree:
    """A deadlock_free of freedom from deadlock."""
    return DeadlockFree(name="p", says="it goes on", **parts)


# --- Graphs ----------------------------------------------------------------------------------------------------------


def random_ends(seed: int) -> tuple[EDGES, int, set[int], set[str]]:
    """A graph, its size, the nodes where it may end, and the actions that do not count."""
    random = Random(5000 + seed)
    size = random.randrange(2, 7)
    edges = random_edges(random, size)
    actions = sorted({a for _, a, _ in edges})
    ends = set(random.sample(range(size), random.randrange(0, size)))
    return edges, size, ends, set(random.sample(actions, random.randrange(0, len(actions))))


def dead_ends(seed: int) -> set[int]:
    """The reachable nodes without an edge that counts, other than those where it may end."""
    edges, size, ends, without = random_ends(seed)
    graph: nx.MultiDiGraph[int] = nx.MultiDiGraph()
    graph.add_nodes_from(range(size))
    graph.add_edges_from((a, b) for a, name, b in edges if name not in without)
    return {n for n in reachable(edges, 0) if graph.out_degree(n) == 0 and n not in ends}


SEEDS = range(60)


@pytest.mark.parametrize("seed", thinned(SEEDS, 4))
def test_a_deadlock_is_a_node_without_an_edge(seed: int) -> None:
    edges, size, ends, without = random_ends(seed)
    prop = deadlock_free(ended=exists(x, x.is_(*names(ends))) if ends else None, without=sorted(without))
    result = checked(model_of(edges, size, prop), {}, prop)
    dead, reached = dead_ends(seed), reachable(edges, 0)
    expected = Verdict.REFUTED if dead else Verdict.PROVED if reached - ends else Verdict.UNDETERMINED
    assert result.verdict is expected and result.vacuous is (reached <= ends)
    if dead:
        graph = nx.DiGraph([(0, 0), *((a, b) for a, _, b in edges)])
        assert result.counterexample is not None
        assert len(result.counterexample.steps) == min(nx.shortest_path_length(graph, 0, n) for n in dead)


def test_the_random_graphs_are_of_every_kind() -> None:
    """Else the comparison above would show little."""
    dead = [seed for seed in SEEDS if dead_ends(seed)]
    vacuous = [seed for seed in SEEDS if reachable(random_ends(seed)[0], 0) <= random_ends(seed)[2]]
    assert min(len(dead), len(vacuous), len(SEEDS) - len(dead) - len(vacuous)) >= 5
    assert len([seed for seed in dead if random_ends(seed)[3]]) >= 5, "some actions do not count"


def test_a_step_that_changes_nothing_is_a_step() -> None:
    standing = model_of(((0, "a", 1), (1, "b", 1)), 2)
    assert checked(standing, {}, deadlock_free()).verdict is Verdict.PROVED
    result = checked(standing, {}, deadlock_free(without=["b"]))
    assert result.verdict is Verdict.REFUTED and result.counterexample is not None
    assert result.counterexample.problem == (
        "property p is violated by a deadlock: in the final state no action is enabled apart from b"
    )


def test_where_nothing_counts_nothing_can_happen() -> None:
    walk = model_of(((0, "a", 1), (1, "b", 0)), 2)
    result = checked(walk, {}, deadlock_free(without=["a", "b"]))
    assert result.verdict is Verdict.REFUTED and result.counterexample is not None
    assert result.counterexample.steps == ()


def test_a_limit_proves_nothing() -> None:
    line = model_of(tuple((n, "a", n + 1) for n in range(5)), 6, deadlock_free())
    for engine in (Engine.INTERPRETED, Engine.COMPILED):
        how = Exploring(engine, max_states=2)
        [result] = model_check(line, {}, only=["p"], how=how)
        assert result.verdict in (Verdict.UNDETERMINED, Verdict.REFUTED)
    [result] = model_check(line, {}, only=["p"], how=Exploring(Engine.INTERPRETED, max_states=2))
    assert result.verdict is Verdict.UNDETERMINED, "what was not expanded is no deadlock"


# --- Models that a reader knows --------------------------------------------------------------------------------------


def test_processes_that_are_let_in_one_by_one() -> None:
    assert checked(MUTEX, {}, deadlock_free()).verdict is Verdict.PROVED
    # Who is inside stays there: then another that tries can only be scared away, or not even that.
    staying = lacking(MUTEX, "leave")
    assert checked(staying, {}, deadlock_free()).verdict is Verdict.PROVED
    result = checked(staying, {}, deadlock_free(without=["scare"]))
    assert result.verdict is Verdict.REFUTED and result.counterexample is not None
    assert [s.action for s in result.counterexample.steps] == ["try", "try", "enter"]
    held = deadlock_free(without=["scare"], ended=exists(lock, lock.is_("Held")))
    assert checked(staying, {}, held).verdict is Verdict.PROVED
    inside = deadlock_free(without=["scare"], ended=forall(p, p.is_("Inside")))
    assert checked(staying, {"Process": 1}, inside).verdict is Verdict.PROVED
    assert checked(staying, {"Process": 2, "Lock": 2}, inside).verdict is Verdict.PROVED
    assert checked(staying, {"Process": 3, "Lock": 2}, inside).verdict is Verdict.REFUTED


def test_random_walks_meet_deadlocks() -> None:
    """They report the run that leads there."""
    staying = lacking(MUTEX, "leave", "scare")
    [instance] = instances(staying, {"Process": 3, "Lock": 2})
    walked = compiled.walk(instance, [deadlock_free()], steps=1000, length=50, seed=1)
    [failed] = [watched.failed() for watched in walked.watches]
    assert failed is not None
    run = [s.action for s in safety.counterexample(walked, failed).steps]
    assert sorted(run) == ["enter"] * 2 + ["try"] * 3, "two are inside, and one waits for ever"


def test_an_action_that_chooses_a_set() -> None:
    """The deadlock_free quantifies over what the language lets only actions choose."""
    result = checked(WORKSHOP, {"Worker": 2, "Tool": 1}, deadlock_free(without=["take", "mend", "drop", "kick"]))
    assert result.verdict is Verdict.REFUTED and result.counterexample is not None
    assert result.counterexample.steps == (), "at the start no tool is taken, and none can line up"
    busy = deadlock_free(without=["take", "mend", "drop", "kick"], ended=forall(w, w.is_("Idle")))
    assert checked(WORKSHOP, {"Worker": 1, "Tool": 1}, busy).verdict is Verdict.REFUTED
    result = checked(WORKSHOP, {"Worker": 2, "Tool": 1}, busy)
    assert result.counterexample is not None
    assert [s.action for s in result.counterexample.steps] == ["take", "line_up"], "the other one lines up, once"


def test_only_a_crash_is_left_where_all_groups_are_deleted() -> None:
    for model in (AS_WRITTEN, REPAIRED):
        kept = model.property("something-can-happen-until-all-is-deleted")
        assert checked(model, {"PodGroup": 2, "Cell": 2}, kept).verdict is Verdict.PROVED
        assert isinstance(kept, DeadlockFree)
        result = checked(model, {"PodGroup": 2, "Cell": 2}, dataclasses.replace(kept, ended=None))
        assert result.verdict is Verdict.REFUTED and result.counterexample is not None
        assert [s.action for s in result.counterexample.steps] == ["delete_pending"] * 2


def test_a_group_that_can_not_be_deleted_is_noticed() -> None:
    """Seeded fault: what preempts is not deleted, and its victims' pods never go; or it is not deleted when it has cells."""
    kept = AS_WRITTEN.property("something-can-happen-until-all-is-deleted")
    scope = {"PodGroup": 2, "Cell": 2}
    for removed, verdict in (
        (["delete_pending"], Verdict.PROVED),  # it can be allocated, and deleted then
        (["delete_preempting"], Verdict.PROVED),  # it can wait for the others, and complete
        (["delete_allocated", "preempt"], Verdict.REFUTED),
        (["delete_preempted", "vacate", "delete_preempting", "delete_pending"], Verdict.REFUTED),
    ):
        seeded = lacking(AS_WRITTEN, *removed)
        assert checked(seeded, scope, kept).verdict is verdict, removed


# --- How many states have no step ------------------------------------------------------------------------------------


def stuck_in(instance: Instance) -> int:
    """Of every state, whether its steps, taken one by one, are none."""
    stepper = stepper_of(instance)
    return sum(1 for state in explore(instance, symmetry=False).states if not list(stepper.steps(state)))


SMALL: list[tuple[Model, dict[str, int]]] = [
    (lacking(MUTEX, "leave", "scare"), {"Process": 3}),
    (MUTEX, {}),
    (WORKSHOP, {}),
    (AS_WRITTEN, {"PodGroup": 2, "Cell": 2}),
    (lacking(AS_WRITTEN, "crash"), {"PodGroup": 2, "Cell": 3}),
    *[(next(iter(systems()[name].variants.values())), {}) for name in ("jobmon", "yunikorn", "yunikorn-merge")],
]


def counts_of(instance: Instance) -> set[int]:
    """What both explorations say, with symmetry and without, in one thread and two."""
    counts = {explore(instance, symmetry=symmetry).stuck_count for symmetry in (True, False)}
    for symmetry in (True, False):
        counts |= {compiled.explore(instance, symmetry=symmetry, threads=n).stuck_count for n in (1, 2)}
    return counts


@pytest.mark.parametrize(("model", "scope"), thinned(SMALL, 4), ids=lambda one: getattr(one, "system", ""))
def test_all_count_the_same_states_without_a_step(model: Model, scope: dict[str, int]) -> None:
    instance = next(instances(model, {**model.default_scope, **scope}))
    assert counts_of(instance) == {stuck_in(instance)}


def representatives_only(self: Exploration) -> int:
    """Seeded fault: symmetric states are not counted."""
    return sum(1 for edges in self.edges if not edges)


def the_last_action(self: compiled.Reached) -> int:
    """Seeded fault: the place beside it in the array is read."""
    return sum(int(part.seen[self.program.seen.stuck - 1]) for part in self.parts)


@pytest.mark.parametrize(("kind", "wrong"), [(Exploration, representatives_only), (compiled.Reached, the_last_action)])
def test_a_wrong_count_is_noticed(kind: Any, wrong: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kind, "stuck_count", property(wrong))
    model, scope = SMALL[0]
    instance = next(instances(model, {**model.default_scope, **scope}))
    assert counts_of(instance) != {stuck_in(instance)}


def test_some_of_these_have_states_without_a_step() -> None:
    """Else the comparison above would show little."""
    counts = [stuck_in(next(instances(model, {**model.default_scope, **scope}))) for model, scope in SMALL]
    assert len([n for n in counts if n]) >= 4


def test_what_was_not_expanded_is_not_counted() -> None:
    [instance] = instances(AS_WRITTEN, {"PodGroup": 2, "Cell": 3})
    assert explore(instance, limit=20).stuck_count == 0


# --- Seeded faults: wrong ways ---------------------------------------------------------------------------------------

RIGHT = safety.something_can_happen


def all_count(model: Model, prop: DeadlockFree) -> Any:
    """What is left out is not."""
    return RIGHT(model, dataclasses.replace(prop, without=[]))


def no_end(model: Model, prop: DeadlockFree) -> Any:
    """It may never end."""
    return RIGHT(model, dataclasses.replace(prop, ended=None))


def the_first_counts(model: Model, prop: DeadlockFree) -> Any:
    """Only one action is looked at."""
    right = RIGHT(model, prop)
    assert isinstance(right.then, Or)
    return dataclasses.replace(right, then=Or(right.then.parts[:1]))


def guards_do_not_count(model: Model, prop: DeadlockFree) -> Any:
    """Any action is enabled."""
    bare = [dataclasses.replace(a, when=[Constant(True)]) for a in model.actions]
    return dataclasses.replace(RIGHT(dataclasses.replace(model, actions=bare), prop))


@pytest.mark.parametrize("wrong", [all_count, no_end, the_first_counts, guards_do_not_count])
def test_a_wrong_meaning_is_noticed(wrong: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(safety, "something_can_happen", wrong)
    noticed = 0
    for seed in SEEDS:
        edges, size, ends, without = random_ends(seed)
        prop = deadlock_free(ended=exists(x, x.is_(*names(ends))) if ends else None, without=sorted(without))
        [result] = model_check(model_of(edges, size, prop), {}, only=["p"])
        noticed += (result.verdict is Verdict.REFUTED) != bool(dead_ends(seed))
    assert noticed >= 3


def test_an_action_that_fires_nothing_of_its_own_is_enabled() -> None:
    """An action may have no parameters, and its guard none to bind."""
    clock = model_of(((0, "a", 1),), 2)
    ticks = Action("tick", [], [], [], "time goes on")
    assert checked(clock, {}, deadlock_free()).verdict is Verdict.REFUTED
    assert (
        checked(dataclasses.replace(clock, actions=[*clock.actions, ticks]), {}, deadlock_free()).verdict
        is Verdict.PROVED
    )


def test_without_crashes_a_crash_is_no_way_on() -> None:
    """Whether or not the deadlock_free says so."""
    returns = dataclasses.replace(
        model_of(((0, "a", 1), (1, "b", 0)), 2, deadlock_free()), configurations=lambda sizes: [{}]
    )
    crash = dataclasses.replace(returns.action("b"), crash=True)
    model = dataclasses.replace(returns, actions=[crash if a.name == "b" else a for a in returns.actions])
    for engine in (Engine.INTERPRETED, Engine.COMPILED):
        for crashes, verdict in ((True, Verdict.PROVED), (False, Verdict.REFUTED)):
            [result] = model_check(model, {}, only=["p"], how=Exploring(engine, crash=crashes))
            assert result.verdict is verdict
