"""The compiled exploration against the interpreted one: the same states in the same order, steps, verdicts and runs."""

from __future__ import annotations

import dataclasses
import itertools
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

from schedproof.model.lang import (
    AlwaysCanReach,
    LeadsTo,
    Model,
    Property,
    Rigid,
    Row,
    StepInvariant,
    after,
    exists,
    variables,
)
from schedproof.model.lang import terms as t
from schedproof.model.registry.discovery import systems
from schedproof.model.semantics import (
    Choice,
    IllFormed,
    Instance,
    State,
    Undefined,
    check_scope,
    fitted,
    instances,
    stepper_of,
)
from schedproof.model.systems.hived import AS_WRITTEN, REPAIRED
from schedproof.model.systems.hived.machines import c, p
from schedproof.proofs import cache, compiled
from schedproof.proofs.checking.engine import Engine, Exploring
from schedproof.proofs.checking.model_check import model_check
from schedproof.proofs.compiled import liveness as compiled_liveness
from schedproof.proofs.compiled import llvm, part, paths, search, steps
from schedproof.proofs.compiled.code import Expr, Local, Put, Set, binary, bit
from schedproof.proofs.compiled.part import MOST_STATES
from schedproof.proofs.compiled.recorder import Recorder
from schedproof.proofs.compiled.steps import Condition, Steps, program
from schedproof.proofs.compiled.terms import Terms
from schedproof.proofs.exploration import relevance
from schedproof.proofs.exploration.explore import explore
from schedproof.proofs.exploration.limits import ALL_REFUTED, Enough
from schedproof.proofs.exploration.symmetry import Symmetry
from schedproof.proofs.verdict import Method, Result, Verdict
from tests.support.random_graphs import SEEDS, by_hand, can_reach_without, model_of, required, verdict_without, x
from tests.support.rows import each_row
from tests.support.sample import thinned
from tests.support.toys import MUTEX, WORKSHOP


def alone(model: Model, rigid: Rigid) -> Model:
    """The model in one configuration only."""
    return dataclasses.replace(model, configurations=partial(_just, rigid))


def _just(rigid: Rigid, sizes: Mapping[str, int]) -> list[Rigid]:
    return [rigid]


def instance_of(
    model: Model, scope: Mapping[str, int], configuration: int = 0, *, with_history: bool = False
) -> Instance:
    """A model at a scope in one of its configurations."""
    sizes = check_scope(model, scope)
    rigid = list(model.configurations(sizes))[configuration]
    return Instance(model, fitted(sizes, rigid), rigid, with_history)


def assert_same_graph(instance: Instance, threads: int = 1, *, crash: bool = True) -> int:
    """Both explorations have the same states by number, and the same edges in the same order; networkx counts them too.

    Returns:
        The number of states.
    """
    plain = explore(instance, symmetry=False, crash=crash)
    reached = compiled.explore(instance, crash=crash, threads=threads)
    assert reached.complete
    assert (reached.state_count, reached.transition_count) == (plain.state_count, plain.transition_count)
    assert reached.per_action() == plain.per_action()
    assert (reached.depth, reached.stuck_count) == (plain.depth, plain.stuck_count)
    assert reached.frontier_count == plain.frontier_count
    assert (reached.ill_formed is None) == (plain.ill_formed is None)
    graph = compiled.graph_of(reached)
    if threads == 1:
        assert_same_recorded(graph, compiled.explore(instance, crash=crash, record=True))
    assert [graph.state(n) for n in range(graph.size)] == plain.states
    assert graph.depths[: graph.size].tolist() == plain.depths
    edges = [graph.edges[n] for n in range(graph.size)]
    cut = {n: [e.choice for e in each if e.target == graph.size] for n, each in enumerate(edges)}
    assert {n: each for n, each in cut.items() if each} == plain.cut
    edges = [[e for e in each if e.target < graph.size] for each in edges]
    assert edges == plain.edges
    whole: nx.MultiDiGraph[int] = nx.MultiDiGraph()
    whole.add_nodes_from([0])
    whole.add_edges_from((n, edge.target) for n in range(graph.size) for edge in edges[n])
    lengths = nx.single_source_shortest_path_length(whole, 0)
    assert sum(1 for n, degree in whole.out_degree() if degree == 0 and not cut[n]) == reached.stuck_count
    assert (len(lengths), whole.number_of_edges()) == (reached.state_count, reached.transition_count)
    assert [lengths[n] for n in range(graph.size)] == plain.depths
    numbers = {state: n for n, state in enumerate(plain.states)}
    parts = len(reached.parts)
    ends = [
        end_of(instance, reached.path(place * parts + p))
        for p, part in enumerate(reached.parts)
        for place in range(0, part.count, max(1, part.count // 40))
    ]
    assert all(plain.depths[numbers[state]] == length for state, length in ends), "a run is not a shortest one"
    some = range(0, graph.size, max(1, graph.size // 40))
    assert [end_of(instance, graph.path(n)) for n in some] == [(plain.states[n], plain.depths[n]) for n in some]
    return graph.size


def assert_same_recorded(graph: compiled.Graph, recorded: compiled.Reached) -> None:
    """A search that records edges has the same graph as a second pass over the states, and the same numbers, counts and runs."""
    reached, part = graph.reached, recorded.parts[0]
    assert isinstance(part, Recorder) and part.records
    for name in ("state_count", "depth", "stuck_count", "frontier_count", "ill_formed"):
        assert getattr(recorded, name) == getattr(reached, name), name
    assert (recorded.per_action(), recorded.up_to()) == (reached.per_action(), reached.up_to())
    assert_same_arrays(graph, compiled.graph_of(recorded))
    some = range(0, graph.size, max(1, graph.size // 40))
    assert [recorded.path(n) for n in some] == [reached.path(n) for n in some]


def assert_same_arrays(graph: compiled.Graph, another: compiled.Graph) -> None:
    """Two graphs have the same states and edges by number."""
    for name in ("words", "depths", "whence", "offsets", "targets", "choices"):
        first, second = getattr(graph, name), getattr(another, name)
        assert first.dtype == second.dtype and np.array_equal(first, second), name
    assert graph.beyond == another.beyond


def end_of(instance: Instance, run: Sequence[Choice]) -> tuple[State, int]:
    """Where a run ends, and its length."""
    stepper, now = stepper_of(instance), instance.initial()
    for choice in run:
        now = stepper.step(now, choice).after
    return now, len(run)


def assert_same_quotient(instance: Instance, threads: int = 1) -> None:
    """With symmetry both explorations have as many representatives, that stand for as many states and steps."""
    plain = explore(instance)
    reached = compiled.explore(instance, symmetry=True, threads=threads)
    assert (reached.symmetry is None) == (plain.symmetry is None)
    assert (reached.representatives, reached.state_count) == (plain.representatives, plain.state_count)
    assert (reached.transition_count, reached.per_action()) == (plain.transition_count, plain.per_action())
    assert (reached.depth, reached.stuck_count) == (plain.depth, plain.stuck_count)
    assert reached.frontier_count == plain.frontier_count
    for number in range(threads):
        for place in range(0, reached.parts[number].count, max(1, reached.parts[number].count // 20)):
            end, length = end_of(instance, reached.path(place * threads + number))
            known = end if plain.symmetry is None else plain.symmetry.canonical(end)
            assert plain.depths[plain.states.index(known)] == length


def checked(model: Model, scope: Mapping[str, int], engine: Engine, **how: Any) -> list[Result]:
    """What an engine says of all properties, but for the time that it took."""
    results = model_check(model, scope, how=Exploring(engine, **{"symmetry": False, **how}))
    return [dataclasses.replace(r, seconds=0.0) for r in results]


def assert_same_verdicts(model: Model, scope: Mapping[str, int], **how: Any) -> list[Result]:
    """Both engines report the same of all properties, with the same runs."""
    results = checked(model, scope, Engine.COMPILED, **how)
    assert results == checked(model, scope, Engine.INTERPRETED, **how)
    return results


# --- Small ones of all systems ---------------------------------------------------------------------------------------

SMALL: list[tuple[Model, dict[str, int]]] = [
    (AS_WRITTEN, {"PodGroup": 1, "Cell": 1}),
    (AS_WRITTEN, {"PodGroup": 2, "Cell": 3}),
    (REPAIRED, {"PodGroup": 3, "Cell": 2}),
    (MUTEX, {}),
    (MUTEX, {"Process": 4, "Lock": 3}),
    (WORKSHOP, {}),
    (WORKSHOP, {"Worker": 3, "Tool": 1}),
]

TORN = model_of(((0, "a", 1), (0, "b", 0), (1, "b", 0)), 2)
TORN = dataclasses.replace(
    TORN,
    actions=[
        dataclasses.replace(a, fires=[x.fires("a"), x.fires("b")] if a.name == "a" else a.fires) for a in TORN.actions
    ],
)
"""Two events happen to one object in one step."""
UNPREPARED = dataclasses.replace(
    WORKSHOP,
    rows=[Row(r.sort, "kicked", "Idle", "Idle") if r.event == "kicked" else r for r in WORKSHOP.rows],
)
"""Something happens to an object that is in a state which has no row for it."""


@pytest.mark.parametrize("model", [TORN, UNPREPARED])
def test_the_same_ill_formed_steps(model: Model) -> None:
    assert_same_graph(instance_of(model, {}))
    results = {r.name: r for r in assert_same_verdicts(model, {})}
    assert results["well-formed"].verdict is Verdict.REFUTED


@pytest.mark.parametrize(("model", "scope"), SMALL)
@pytest.mark.parametrize("threads", [1, 2, pytest.param(3, marks=pytest.mark.long)])
def test_the_same_states_and_edges(model: Model, scope: Mapping[str, int], threads: int) -> None:
    assert_same_graph(instance_of(model, scope), threads)


@pytest.mark.parametrize(("model", "scope"), thinned(SMALL[1:], 6))
def test_the_same_verdicts_and_runs(model: Model, scope: Mapping[str, int]) -> None:
    assert_same_verdicts(model, scope)


@pytest.mark.parametrize("system", thinned([s for s in systems() if s != "hived"], 2))
def test_the_same_of_a_small_configuration_of_every_system(system: str) -> None:
    model = next(iter(systems()[system].variants.values()))
    assert_same_graph(instance_of(model, {}))


@each_row("threads", [1, 2, 3])
@each_row("error", [KeyboardInterrupt, MemoryError])
def test_what_goes_wrong_in_one_thread_ends_all(
    threads: int, error: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    """And none waits for it."""
    right, number = part.Part.deepen, itertools.count()

    def deepen(self: Any) -> None:
        if next(number) == 3 * threads - 1:
            raise error
        right(self)

    monkeypatch.setattr(part.Part, "deepen", deepen)
    before = threading.active_count()
    with pytest.raises(error):
        compiled.explore(instance_of(AS_WRITTEN, {}), threads=threads)
    assert threading.active_count() == before


@pytest.mark.parametrize("threads", thinned([1, 2, 3], 3, first=1))
def test_a_limit_is_kept_to_a_bucket_and_proves_nothing_past_it(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(part, "ROOM", 64)
    reached = compiled.explore(instance_of(AS_WRITTEN, {}), threads=threads, limit=100)
    assert not reached.complete and 100 < reached.state_count < 1512
    results = {r.name: r for r in checked(AS_WRITTEN, {}, Engine.COMPILED, max_states=100, threads=threads)}
    assert {r.verdict for r in results.values() if r.method is Method.EXPLORATION} <= {
        Verdict.UNDETERMINED,
        Verdict.REFUTED,
    }
    assert results["well-formed"].note.startswith("stopped after")


def test_without_crashes() -> None:
    assert_same_graph(instance_of(AS_WRITTEN, {"PodGroup": 2, "Cell": 2}), crash=False)
    assert_same_verdicts(REPAIRED, {"PodGroup": 2, "Cell": 2}, crash=False)


GIVEN_A_USER = [
    # The objects that change are those to try,
    (c.user != p) & after(c.user == p),
    # but not where another variable of the same name is meant,
    c.is_("Used") & exists(c, after(c.user == p)) & p.is_("Pending"),
    # nor where the premise holds without any change.
    c.is_("Free") & after(c.is_("Free", "Used")) & p.is_("Pending"),
    # nor where it holds without a change because of an event at another object.
    c.fires("e1") & after(p.is_("Pending")),
    # Where the premise needs a change, the state before is not asked,
    c.is_("Free") & after(c.is_("Used") & (c.user == p)),
    # and conditions on one object come before those on two.
    (c.user != p) & p.is_("Pending") & after((c.user == p) & c.is_("Used") & p.is_("Allocated")),
]


def premise_of(given: t.Term, engine: Engine) -> str:
    """What an engine says of a property of HiveD that this premise refutes wherever it is met."""
    prop = StepInvariant(name="never", says="", over=[c, p], given=given, then=p.is_("Deleted") & ~p.is_("Deleted"))
    model = dataclasses.replace(AS_WRITTEN, properties=[prop], refuted=frozenset())
    (result,) = model_check(model, {"PodGroup": 2, "Cell": 2}, only=["never"], how=Exploring(engine))
    return result.reach


@pytest.mark.parametrize("given", GIVEN_A_USER)
def test_premises_on_changed_objects_are_met_alike(given: t.Term) -> None:
    assert premise_of(given, Engine.COMPILED) == premise_of(given, Engine.INTERPRETED) != "", str(given)
    assert "refuted" in premise_of(given, Engine.COMPILED)


def test_a_change_that_is_overlooked_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seeded: only changes of the reserver are looked for."""
    wrong = relevance.Change("c", "Cell", ("reserver",), t.Constant(False))
    monkeypatch.setattr(steps, "change_of", lambda model, over, given: wrong)
    assert premise_of(GIVEN_A_USER[0], Engine.COMPILED) != premise_of(GIVEN_A_USER[0], Engine.INTERPRETED)


def test_a_premise_that_needs_no_change_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seeded: every premise is taken for one that no unchanged object meets."""
    stays = c.is_("Free") & after(c.is_("Free")) & p.is_("Pending")
    right = premise_of(stays, Engine.INTERPRETED)
    assert premise_of(stays, Engine.COMPILED) == right

    def wrong(model: Model, over: Sequence[t.Var], premise: t.Term | None) -> relevance.Change | None:
        change = relevance.change_of(model, over, premise)
        return dataclasses.replace(change, unchanged=None) if change is not None else None

    monkeypatch.setattr(steps, "change_of", wrong)
    assert premise_of(stays, Engine.COMPILED) != right


SYMMETRIC: list[tuple[Model, dict[str, int]]] = [
    *SMALL,
    (REPAIRED, {"PodGroup": 2, "Cell": 4}),
    (WORKSHOP, {"Worker": 2, "Tool": 2}),
]


@pytest.mark.parametrize(("model", "scope"), SYMMETRIC)
@pytest.mark.parametrize("threads", [1, pytest.param(2, marks=pytest.mark.long)])
def test_the_same_representatives(model: Model, scope: Mapping[str, int], threads: int) -> None:
    assert_same_quotient(instance_of(model, scope), threads)
    if model in (AS_WRITTEN, REPAIRED):
        assert_same_quotient(instance_of(model, scope, with_history=True), threads)


@pytest.mark.parametrize(("model", "scope"), thinned(SYMMETRIC[1:], 6))
def test_symmetry_changes_no_verdict_and_no_length(model: Model, scope: Mapping[str, int]) -> None:
    """The gate of its soundness; and the interpreted exploration reports exactly the same runs."""
    reduced = assert_same_verdicts(model, scope, symmetry=True)
    for one, other in zip(reduced, checked(model, scope, Engine.COMPILED), strict=True):
        assert (one.name, one.verdict, one.vacuous) == (other.name, other.verdict, other.vacuous)
        assert (one.counterexample is None) == (other.counterexample is None)
        if one.counterexample is not None and other.counterexample is not None:
            assert len(one.counterexample.steps) == len(other.counterexample.steps)


def goals() -> Model:
    """HiveD with more goals than are searched for at once; the last property reads an attribute of NONE."""
    every = [a.name for a in AS_WRITTEN.actions]
    without = [[], ["crash"], [], every, ["crash"], ["delete_pending", "crash"]]
    sought = [p.is_("Deleted"), p.is_("Deleted"), p.is_("Allocated"), p.is_("Pending"), p.is_("Allocated"), c.user == p]
    props: list[Property] = [
        AlwaysCanReach(name=f"goal{n}", says="", over=[p, c], given=p.is_("Pending"), goal=goal, without=without[n])
        for n, goal in enumerate(sought)
    ]
    undefined = AlwaysCanReach(name="undefined", says="", over=[c], goal=c.user.is_("Pending"))
    waits = LeadsTo(name="waits", says="", over=[p, c], given=p.is_("Pending"), goal=c.is_("Used"), weak=every)
    kept = [each for each in AS_WRITTEN.properties if isinstance(each, LeadsTo)]
    # Their premises are never true for the last binding, of two variables that are the same group.
    [another] = variables(p.type.sort, "another")
    apart = [
        dataclasses.replace(
            each, name=f"{each.name}-{n}", over=[p, another], given=~(p == another) & each.given, goal=goal
        )
        for each in kept
        for n, goal in enumerate([each.goal, ~(p == another)])
    ]
    return dataclasses.replace(AS_WRITTEN, properties=[*props, undefined, waits, *kept, *apart], refuted=frozenset())


@pytest.mark.parametrize("together", [64, 3, 1])
@pytest.mark.parametrize("sweeps", [True, False], ids=["sweeps", "reversed edges"])
def test_goals_are_searched_for_together(together: int, sweeps: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also those that leave out other actions, and where sweeps give up."""
    monkeypatch.setattr(compiled_liveness, "TOGETHER", together)
    if not sweeps:
        monkeypatch.setattr(paths, "spread", lambda *arguments: False)
    results = assert_same_verdicts(goals(), {"PodGroup": 2, "Cell": 2})
    verdicts = {r.name: r.verdict for r in results}
    assert verdicts["goal0"] is verdicts["goal1"] is Verdict.PROVED
    assert verdicts["goal3"] is Verdict.PROVED, "it is there already"
    assert verdicts["undefined"] is Verdict.REFUTED


def test_what_is_said_of_whole_runs_refuses_symmetry() -> None:
    with pytest.raises(ValueError, match="without symmetry"):
        compiled.graph_of(compiled.explore(instance_of(AS_WRITTEN, {}), symmetry=True))


@pytest.mark.long(seconds=10, one_in=12)
def test_symmetry_leaves_a_fortieth_of_the_states_of_hived() -> None:
    """The counts of all states are found without it, too."""
    instance = instance_of(AS_WRITTEN, {"PodGroup": 5, "Cell": 5})
    full, reduced = compiled.explore(instance, traced=0), compiled.explore(instance, symmetry=True)
    counts = 5_768_317, 64_366_840, 14
    assert (full.state_count, full.transition_count, full.depth) == counts
    assert (reduced.state_count, reduced.transition_count, reduced.depth) == counts
    assert reduced.per_action() == full.per_action()
    assert (full.representatives, reduced.representatives) == (5_768_317, 143_156)
    assert full.bytes_per_state <= 12


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("symmetry", [False, True])
def test_runs_are_the_same_whether_or_not_they_are_kept(symmetry: bool, threads: int) -> None:
    """What is not kept is found by the same search once more, as far as it has to go."""
    instance = instance_of(AS_WRITTEN, {"PodGroup": 3, "Cell": 2})
    kept, repeated = (
        compiled.explore(instance, symmetry=symmetry, threads=threads, traced=traced) for traced in (MOST_STATES, 0)
    )
    assert sum(p.parents.nbytes + p.choices.nbytes for p in repeated.parts) == 0
    numbers = [n * threads + p for p, each in enumerate(kept.parts) for n in range(0, each.count, 7)]
    assert len(numbers) > 20
    for number in numbers:
        assert repeated.path(number) == kept.path(number)
    early = compiled.explore(instance, symmetry=symmetry, threads=threads, traced=0)
    assert early.path(numbers[1]) == kept.path(numbers[1])
    assert early._traced(numbers[1])[0].count < early.parts[0].count
    some = compiled.explore(instance, symmetry=symmetry, threads=threads, traced=50)
    assert [(len(p.parents), len(p.choices)) for p in some.parts] == [(50, 50)] * threads
    assert [some.path(number) for number in numbers] == [kept.path(number) for number in numbers]
    assert max(numbers) >= 50 * threads


def test_a_predecessor_of_another_thread_may_not_be_kept() -> None:
    """One thread has found more states than another one at some depth: of a state that is kept, an earlier one is not."""
    instance = instance_of(AS_WRITTEN, {"PodGroup": 3, "Cell": 2})
    kept = compiled.explore(instance, threads=2)
    later = []
    for number in (n * 2 + thread for thread, each in enumerate(kept.parts) for n in range(each.count)):
        at = number
        while kept._depth(at) > 0 and at // 2 <= number // 2:
            at, _ = kept.parts[at % 2].origin(at // 2)
        if at // 2 > number // 2:
            later.append(number)
    assert later
    for number in later:
        some = compiled.explore(instance, threads=2, traced=number // 2 + 1, code=kept.program)
        assert some.path(number) == kept.path(number)


@pytest.mark.parametrize("threads", [1, 2])
def test_one_thread_ends_a_search_within_a_depth(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The violations that it has noted when all properties are refuted are those that a whole search notes."""
    monkeypatch.setattr(part, "ROOM", 1)
    instance = dataclasses.replace(instance_of(AS_WRITTEN, {"PodGroup": 3, "Cell": 3}), with_history=True)
    props = [AS_WRITTEN.property(n) for n in ("allocated-fully", "placements-are-disjoint", "recovery-from-durable")]
    whole, early = (
        compiled.watch(instance, props, threads=threads, enough=enough) for enough in (None, Enough(until_refuted=True))
    )
    assert early[0].stopped == ALL_REFUTED
    failed = [
        [check and check.failed for check in (each.failed() for each in watches)] for _, watches in (whole, early)
    ]
    assert all(failed[0])
    depths = [[whole[0]._depth(check[0]) for check in each if check] for each in failed]
    assert depths[0] == depths[1]
    expanded = whole[0].up_to()[max(depths[0]) + 1]
    assert early[0].representatives == expanded if threads > 1 else early[0].representatives < expanded
    if threads == 1:
        assert failed[0] == failed[1]


@pytest.mark.parametrize("threads", [1, 2])
def test_a_search_with_other_numbers_is_noticed(threads: int) -> None:
    """Seeded fault: the search that is made once more takes its actions in another order."""
    instance = instance_of(AS_WRITTEN, {"PodGroup": 2, "Cell": 2})
    kept, repeated = (compiled.explore(instance, threads=threads, traced=traced) for traced in (MOST_STATES, 0))
    other = program(instance, list(reversed(instance.model.actions)))
    repeated = dataclasses.replace(repeated, program=other)
    numbers = [n * threads + p for p, each in enumerate(kept.parts) for n in range(each.count)]
    assert [repeated.path(n) for n in numbers] != [kept.path(n) for n in numbers]


@pytest.mark.parametrize("seed", thinned(range(0, 300, 4), 6))
def test_the_same_verdicts_and_runs_on_graphs_at_random(seed: int) -> None:
    for model, verdict in ((required(seed), by_hand(seed)), (can_reach_without(seed), verdict_without(seed))):
        [result] = [r for r in assert_same_verdicts(model, {}) if r.name == "p"]
        assert result.verdict is verdict


@pytest.mark.parametrize("seed", thinned(range(0, 300, 12), 5))
def test_goals_are_reached_without_their_own_actions(seed: int) -> None:
    """Properties that leave out other actions are not searched for together."""
    model = can_reach_without(seed)
    [prop] = model.properties
    assert isinstance(prop, AlwaysCanReach)
    every = [a.name for a in model.actions]
    others = [dataclasses.replace(prop, name=f"p{n}", without=out) for n, out in enumerate([[], every, every[:1]])]
    results = assert_same_verdicts(dataclasses.replace(model, properties=[*others, prop]), {})
    assert next(r.verdict for r in results if r.name == "p") is verdict_without(seed)


# --- All systems at three scopes -------------------------------------------------------------------------------------


def three(model: Model) -> list[tuple[dict[str, int], int]]:
    """Three scopes of a model, or three of its configurations, which are of different scopes."""
    configurations = len(list(model.configurations(check_scope(model, {}))))
    if configurations > 1:
        return [({}, n) for n in sorted({0, configurations // 2, configurations - 1})]
    sorts = list(model.default_scope)
    return [({}, 0), ({sorts[0]: 2}, 0), ({sorts[-1]: 2}, 0)]


ALL = [
    pytest.param(model, scope, configuration, id=f"{system.name} {model.variant} {scope or ''}{configuration}")
    for system in systems().values()
    for model in system.variants.values()
    for scope, configuration in three(model)
]


@pytest.mark.long(one_in=32)
@pytest.mark.parametrize(("model", "scope", "configuration"), ALL)
def test_the_same_of_every_variant_at_three_scopes(model: Model, scope: dict[str, int], configuration: int) -> None:
    instance = instance_of(model, scope, configuration)
    if compiled.explore(instance, limit=200_000).stopped:
        pytest.skip("more states than are interpreted in a minute")
    states = assert_same_graph(instance)
    if states <= 10_000:  # beyond that it takes a minute to interpret
        assert_same_quotient(instance, 2)
        assert_same_verdicts(alone(model, instance.rigid), scope)


# --- Seeded faults: wrong compilers ----------------------------------------------------------------------------------


def differs(model: Model, scope: Mapping[str, int]) -> bool:
    """The comparison with the interpreted exploration notices something."""
    try:
        assert_same_graph(instance_of(model, scope))
        assert_same_verdicts(model, scope)
    except (AssertionError, StopIteration, IllFormed, Undefined):
        return True
    return False


def always_found(self: Terms, choose: Sequence[t.Var], conditions: Sequence[t.Term], moment: Any) -> Expr:
    """There always is such an object."""
    return 1


RIGHT_MASK, RIGHT_JOINED, RIGHT_UNPACK = Terms._mask, Terms._joined, Terms.unpack
RIGHT_FIRE, RIGHT_FLIP, RIGHT_CHECK = Steps._fire, Steps._flip, Steps._check
RIGHT_FIRING = Steps._firing


def not_is_ignored(self: Terms, term: t.Term, var: t.Var, moment: Any) -> Expr | None:
    """The objects that are not, are those that are."""
    return RIGHT_MASK(self, term.part if isinstance(term, t.Not) else term, var, moment)


def first_part_only(self: Terms, parts: Sequence[t.Term], moment: Any, decisive: int) -> Expr:
    """Of a conjunction the first part counts."""
    return RIGHT_JOINED(self, parts[:1], moment, decisive)


def last_object_forgotten(self: Terms, read: Any, of: str, words: str) -> None:
    """The state of the last object is taken for the first value."""
    fields = {
        key: dataclasses.replace(f, positions=f.positions[:-1]) if len(f.positions) > 1 else f
        for key, f in self.layout.fields.items()
    }
    right, self.layout = self.layout, dataclasses.replace(self.layout, fields=fields)
    RIGHT_UNPACK(self, read, of, words)
    self.layout = right


def fires_what_fires(self: Steps, firing: t.Fires, event: Any, moment: Any) -> None:
    """Two events of one object in one step are no mistake, and the second one's parameters count."""
    sort, name = event
    who = self.terms.some(firing.of, moment)
    kinds = self.instance.model.machine(sort).parameters(name)
    values = [(n, self.terms.value(v, moment, kinds[n])) for n, v in firing.payload]
    fires = f"{sort}.{name} fires"
    self.terms.emit(Set(fires, binary("|", Local(fires), bit(who))))
    for n, value in values:
        self.terms.emit(Put(self.terms.payload(sort, name, n), who, value))


def first_object_changes(self: Steps, sort: str, name: str, who: Expr, changed: Expr) -> None:
    """Whatever changes, it is the first object that changes."""
    RIGHT_FLIP(self, sort, name, 0, changed)


def premise_ignored(self: Steps, number: int, condition: Condition, *rest: Any) -> None:
    """A condition is checked where its premise does not hold, too."""
    RIGHT_CHECK(self, number, dataclasses.replace(condition, given=None), *rest)


def firings_of_the_last_step(self: Steps, step: Expr, place: int) -> Expr:
    """All steps of a state have the firings of the last one."""
    return RIGHT_FIRING(self, 0, place)


NOTICING: list[tuple[Model, dict[str, int]]] = [(WORKSHOP, {}), (AS_WRITTEN, {"PodGroup": 2, "Cell": 2}), (TORN, {})]

SEEDED = [
    (Terms, "exists", always_found),
    (Terms, "_mask", not_is_ignored),
    (Terms, "_joined", first_part_only),
    (Terms, "unpack", last_object_forgotten),
    (Steps, "_fire", fires_what_fires),
    (Steps, "_flip", first_object_changes),
    (Steps, "_check", premise_ignored),
    (Steps, "_firing", firings_of_the_last_step),
]


@pytest.mark.parametrize(("model", "scope"), NOTICING)
def test_conditions_on_more_firings_than_are_kept(
    model: Model, scope: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are checked where each step is taken."""
    monkeypatch.setattr(steps, "MOST_FIRINGS", 0)
    assert_same_verdicts(model, scope)


@pytest.mark.parametrize(
    ("where", "name", "wrong"), thinned(SEEDED, 3, first=2), ids=[wrong.__name__ for _, _, wrong in SEEDED]
)
def test_a_wrong_compiler_is_noticed(where: type, name: str, wrong: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(where, name, wrong)
    assert any(differs(model, scope) for model, scope in NOTICING)


def nobody_is_renamed(symmetry: Symmetry, layout: Any) -> Any:
    """What names objects keeps their old names."""
    right = RIGHT_QUOTIENT(symmetry, layout)
    return right._replace(kinds=np.zeros_like(right.kinds))


def last_field_is_no_matter(symmetry: Symmetry, layout: Any) -> Any:
    """Objects are ordered by all that is said of them but the last."""
    right = RIGHT_QUOTIENT(symmetry, layout)
    return right._replace(columns=right.columns[:-1])


def one_renaming_is_forgotten(symmetry: Symmetry, layout: Any) -> Any:
    """All renamings but one, if there are several."""
    right = RIGHT_QUOTIENT(symmetry, layout)
    return right._replace(targets=right.targets[: max(1, len(right.targets) - 1)])


RIGHT_QUOTIENT = search.quotient


@pytest.mark.parametrize("wrong", [nobody_is_renamed, last_field_is_no_matter, one_renaming_is_forgotten])
def test_a_wrong_symmetry_is_noticed(wrong: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "quotient", wrong)

    def notices(model: Model, scope: Mapping[str, int]) -> bool:
        try:
            assert_same_quotient(instance_of(model, scope))
        except (AssertionError, StopIteration, ValueError):
            return True
        return False

    assert any(notices(model, scope) for model, scope in SYMMETRIC)


@pytest.mark.parametrize("threads", [1, pytest.param(2, marks=pytest.mark.long)])
@pytest.mark.parametrize("states", thinned([300, 0, 10**9], 3))
def test_optimized_code_finds_the_same(states: int, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Small searches are not optimized, large ones from some depth on."""
    built = []
    real = llvm.Machine._compiled
    monkeypatch.setattr(
        llvm.Machine, "_compiled", lambda self, text, level: built.append(level) or real(self, text, level)
    )
    monkeypatch.setattr(llvm, "MACHINE_CODE", cache.Cache("unused", most=0))
    monkeypatch.setenv("SCHEDPROOF_CACHE", "/dev/null/nowhere")
    instance = instance_of(REPAIRED, {"PodGroup": 3, "Cell": 3})
    monkeypatch.setattr(llvm, "PAYS", states / len(program(instance, instance.model.actions).text))
    reached, known = compiled.explore(instance, threads=threads), explore(instance, symmetry=False)
    assert (reached.state_count, reached.per_action(), reached.depth) == (
        known.state_count,
        known.per_action(),
        known.depth,
    )
    assert known.state_count > 300
    assert list(dict.fromkeys(built)) == {0: [2], 300: [0, 2], 10**9: [0]}[states]


def test_optimized_code_of_the_cache_is_used_at_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    built = []
    real = llvm.Machine._compiled
    monkeypatch.setattr(
        llvm.Machine, "_compiled", lambda self, text, level: built.append(level) or real(self, text, level)
    )
    monkeypatch.setenv("SCHEDPROOF_CACHE", str(tmp_path))
    instance = instance_of(REPAIRED, {"PodGroup": 2, "Cell": 2})
    counts = explore(instance, symmetry=False).per_action()
    for pays in (0, 10**9):
        monkeypatch.setattr(llvm, "PAYS", pays)
        assert compiled.explore(instance).per_action() == counts
    assert built == [llvm.LEVEL]


def test_what_llvm_gets_wrong_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """``x & table[i + 1]`` on a processor with bmi2."""
    monkeypatch.setattr(llvm, "MACHINE_CODE", cache.Cache("unused", most=0))
    monkeypatch.setenv("SCHEDPROOF_CACHE", "/dev/null/nowhere")
    instance = list(instances(systems()["yunikorn"].variants["v0.12.2"], {}))[1]
    known = explore(instance, symmetry=False).state_count
    assert compiled.explore(instance).state_count == known
    if not llvm.llvm.get_host_cpu_features().get("bmi2"):
        pytest.skip("this processor has no bmi2")
    monkeypatch.setattr(llvm, "WITHOUT", set())
    if compiled.explore(instance).state_count == known:  # another version, or tuned for another processor
        pytest.skip("this LLVM gets it right on this processor")


EVERY_VARIANT = [model for system in systems().values() for model in system.variants.values()]


@pytest.mark.long(one_in=32)
@pytest.mark.parametrize("model", EVERY_VARIANT, ids=lambda model: f"{model.system} {model.variant}")
def test_optimized_code_of_every_variant_finds_the_same(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(llvm, "PAYS", 0)
    seen = 0
    for instance in list(instances(model, {}))[:4]:
        known = explore(instance, symmetry=False, limit=3000)
        if known.complete:
            reached = compiled.explore(instance)
            assert (reached.state_count, reached.per_action()) == (known.state_count, known.per_action())
            seen += 1
    large = {("jobmon", each) for each in ("repaired", "runs-read-then-write", "runs-check-then-write")}
    assert seen or (model.system, model.variant) in large | {("beaker", "shipped-concurrent")}, (
        "its configurations have more states"
    )


def test_machine_code_of_another_program_is_noticed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """So would be a cache that mixes programs up."""
    monkeypatch.setenv("SCHEDPROOF_CACHE", str(tmp_path))
    monkeypatch.setattr(cache.Cache, "_path", lambda self, where, key: tmp_path / "one")
    monkeypatch.setattr(cache, "_digest", lambda key, content: bytes(32))
    compiled.explore(instance_of(REPAIRED, {"PodGroup": 2, "Cell": 2}))
    assert differs(AS_WRITTEN, {"PodGroup": 2, "Cell": 2})


def strong_as_weak(graph: Any, prop: LeadsTo) -> Any:
    """Strong fairness is taken for weak."""
    return RIGHT_EDGES(graph, dataclasses.replace(prop, weak=[*prop.weak, *prop.strong], strong=[]))


def weak_as_strong(graph: Any, prop: LeadsTo) -> Any:
    """Weak fairness is taken for strong."""
    return RIGHT_EDGES(graph, dataclasses.replace(prop, weak=[], strong=[*prop.weak, *prop.strong]))


def for_ever_all_the_same(graph: Any, prop: LeadsTo) -> Any:
    """What is not taken for ever may be taken for ever."""
    return RIGHT_EDGES(graph, dataclasses.replace(prop, without=[]))


RIGHT_EDGES = compiled_liveness._fair_edges


@pytest.mark.long
@pytest.mark.parametrize("wrong", [strong_as_weak, weak_as_strong, for_ever_all_the_same])
def test_a_wrong_search_for_fair_loops_is_noticed(wrong: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled_liveness, "_fair_edges", wrong)

    def verdict(seed: int) -> Verdict | None:
        with suppress(AssertionError):  # a wrong loop need not have a tour
            [result] = [r for r in checked(required(seed), {}, Engine.COMPILED) if r.name == "p"]
            return result.verdict
        return None

    assert any(verdict(seed) is not by_hand(seed) for seed in SEEDS)
