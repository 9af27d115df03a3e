"""The graph that workers keep, without Ray: the edges, verdicts and runs of one process, also after workers were lost."""

from __future__ import annotations

import dataclasses
import itertools
import random
import tracemalloc
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from schedproof.model.lang import AlwaysCanReach, Attribute, LeadsTo, LifeCycle, Model, Ref, implies
from schedproof.model.semantics import Instance, instances, stepper_of
from schedproof.model.systems.hived import AS_WRITTEN
from schedproof.proofs import compiled
from schedproof.proofs.checking import engine
from schedproof.proofs.checking.engine import Engine, Exploring
from schedproof.proofs.checking.model_check import model_check
from schedproof.proofs.cluster import RemoteWorkers, graph_edges, graph_part, liveness, room
from schedproof.proofs.cluster import spread as kernel
from schedproof.proofs.cluster.graph import ClusterGraph, require_room
from schedproof.proofs.cluster.graph_part import GraphPart
from schedproof.proofs.cluster.halting import HaltedCalls
from schedproof.proofs.exploration.limits import Halted, LostWorker, Saving
from schedproof.proofs.exploration.recorded_run import instance_of
from schedproof.proofs.verdict import Result, Verdict
from tests.proofs.cluster.local_hosts import LocalHosts
from tests.proofs.cluster.same import VARIANTS, smallest
from tests.support.random_graphs import (
    EDGES,
    SEEDS,
    by_hand,
    can_reach_without,
    fair_lasso,
    model_of,
    names,
    required,
    verdict_without,
    x,
)
from tests.support.random_models import random_model
from tests.support.sample import seed_of_today, thinned

SMALL = {"PodGroup": 2, "Cell": 2}

KINDS = (LifeCycle, AlwaysCanReach, LeadsTo)


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """The workers keep every graph, and send few messages at a time; returns the number of properties by kind."""
    monkeypatch.setattr(engine, "GATHERED", 0)
    monkeypatch.setattr(graph_edges, "BATCH", 1 << 10)
    monkeypatch.setattr(graph_edges, "ROWS", 64)
    asked, right = Counter[str](), liveness.answer

    def answer(graph: ClusterGraph, prop: Any) -> Any:
        asked[prop.kind] += 1
        return right(graph, prop)

    monkeypatch.setattr("schedproof.proofs.cluster.crew.answer", answer)
    return asked


def alone(model: Model) -> list[Result]:
    """The results of one process for the properties that need the full graph."""
    return _results(model, Exploring(Engine.COMPILED))


def spread(model: Model, hosts: LocalHosts, **how: Any) -> list[Result]:
    """Those of workers."""
    return _results(model, Exploring(Engine.COMPILED, workers=RemoteWorkers(hosts), **how))


def _results(model: Model, how: Exploring) -> list[Result]:
    names = [p.name for p in model.properties if isinstance(p, KINDS)]
    return model_check(model, model.default_scope, only=names, how=how) if names else []


def assert_same(model: Model, results: Sequence[Result], others: Sequence[Result]) -> None:
    """The same verdicts; the same runs, or for loops as long ones, which are closed."""
    assert [r.name for r in results] == [r.name for r in others]
    for one, other in zip(results, others, strict=True):
        assert (one.verdict, one.note, one.vacuous) == (other.verdict, other.note, other.vacuous), one.name
        if one.counterexample is None or one.counterexample.loops_from is None:
            assert one.counterexample == other.counterexample
            continue
        assert other.counterexample is not None
        assert one.counterexample.problem == other.counterexample.problem
        assert one.counterexample.loops_from == other.counterexample.loops_from
        assert len(one.counterexample.steps) == len(other.counterexample.steps)
        assert_closed(model, one)


def assert_closed(model: Model, result: Result) -> None:
    """The loop of a lasso ends where it begins."""
    assert result.counterexample is not None and result.counterexample.recorded is not None
    run = result.counterexample.recorded
    instance = instance_of(model, run)
    stepper, states = stepper_of(instance), [instance.initial()]
    for choice in run.choices:
        states.append(stepper.step(states[-1], choice).after)
    assert result.counterexample.loops_from is not None
    assert states[-1] == states[result.counterexample.loops_from]


# --- The same as in one process ------------------------------------------------------------------------------------------


@pytest.mark.long(one_in=32)
@pytest.mark.parametrize(("system", "variant"), VARIANTS)
def test_the_same_of_every_variant(system: str, variant: str, kept: Counter[str]) -> None:
    model, _ = smallest(system, variant)
    assert_same(model, spread(model, LocalHosts(2)), alone(model))
    assert sum(kept.values()) == sum(isinstance(p, KINDS) for p in model.properties)


@pytest.mark.long
@pytest.mark.parametrize("count", thinned([3, 1, 2, 5], 4))
def test_any_number_of_workers_says_the_same(count: int, kept: Counter[str]) -> None:
    assert_same(AS_WRITTEN, spread(AS_WRITTEN, LocalHosts(count)), alone(AS_WRITTEN))
    assert min(kept[kind.kind] for kind in KINDS) > 0


@pytest.mark.usefixtures("kept")
@pytest.mark.parametrize("seed", thinned(SEEDS, 72, first=60))
def test_the_same_on_graphs_at_random(seed: int) -> None:
    """And what a closure and a search for lassos say, which are not searches of this kind."""
    for model, verdict in ((required(seed), by_hand(seed)), (can_reach_without(seed), verdict_without(seed))):
        expected = alone(model)
        for count in (1, 2, 3):
            results = spread(model, LocalHosts(count))
            assert_same(model, results, expected)
            assert {r.name: r.verdict for r in results}["p"] is verdict


@pytest.mark.usefixtures("kept")
@pytest.mark.parametrize(
    ("edges", "given", "strong"),
    thinned(
        [
            pytest.param(
                ((0, "a", 1), (1, "a", 2), (2, "a", 3), (3, "a", 3), (0, "b", 4)), {2}, set(), id="starts-late"
            ),
            pytest.param(
                ((0, "a", 1), (1, "a", 1), (0, "b", 2), (2, "b", 3), (3, "b", 2), (2, "c", 4)),
                {0},
                {"c"},
                id="found-before",
            ),
        ],
        2,
    ),
)
def test_fair_loops_that_few_graphs_have(edges: EDGES, given: set[int], strong: set[str]) -> None:
    """Only after a start that is not initial; and when another component is searched again, in vain."""
    weak = {"a", "b"}
    assert fair_lasso(edges, given, {4}, weak, strong, set())
    start, goal = x.is_(*names(given)), x.is_("s4")
    model = model_of(
        edges,
        5,
        LeadsTo(
            name="p", says="", over=[x], given=start, goal=goal, weak=sorted(weak), strong=sorted(strong), without=[]
        ),
    )
    expected = alone(model)
    for count in (1, 2, 3):
        results = spread(model, LocalHosts(count))
        assert_same(model, results, expected)
        assert {r.name: r.verdict for r in results}["p"] is Verdict.REFUTED


@pytest.mark.usefixtures("kept")
@pytest.mark.parametrize(("count", "turned"), [(1, 0), (2, 0), (2, 1), (2, 2), (2, 3), (3, 0)])
def test_of_two_fair_loops_the_nearer_one_is_taken(count: int, turned: int) -> None:
    """Both are as far from the start; one has one step, the other one two.

    Args:
        turned: other names for the states, which give them other owners.
    """
    start, near, far, beyond = ((n + turned) % 5 + 1 for n in range(1, 5))
    before = turned + 1
    edges = (
        (0, "a", before), (before, "a", start), (0, "b", near), (start, "b", near), (near, "a", near),
        (start, "a", far), (far, "a", beyond), (beyond, "a", far), (0, "c", 6),
    )  # fmt: skip
    loop = LeadsTo(
        name="p", says="", over=[x], given=x.is_(f"s{start}"), goal=x.is_("s6"), weak=["a"], strong=[], without=[]
    )
    model = model_of(edges, 7, loop)
    [result] = spread(model, LocalHosts(count))
    assert_same(model, [result], alone(model))
    assert result.counterexample is not None
    assert (result.counterexample.loops_from, len(result.counterexample.steps)) == (3, 4)


@pytest.mark.usefixtures("kept")
@pytest.mark.parametrize("count", [1, 2, 3])
def test_of_several_stuck_states_the_nearest_is_taken(count: int) -> None:
    """Each of three objects is stuck as soon as it has moved: one may have, or all of them."""
    stuck = AlwaysCanReach(name="p", says="", over=[x], goal=x.is_("s0"))
    model = dataclasses.replace(model_of(((0, "a", 1), (1, "a", 2)), 3, stuck), default_scope={"Thing": 3})
    [result] = spread(model, LocalHosts(count))
    assert_same(model, [result], alone(model))
    assert result.counterexample is not None
    assert len(result.counterexample.steps) == 1


@pytest.fixture
def merged(monkeypatch: pytest.MonkeyPatch) -> None:
    """What components have is merged after every message and every node; larger graphs than these have too much to keep."""
    monkeypatch.setattr(graph_edges, "BATCH", 20)
    monkeypatch.setattr(graph_part, "MOST_USED", 0)
    monkeypatch.setattr(graph_part, "MOST_PAIRS", 0)
    monkeypatch.setattr(graph_part, "KEYS", 0)


@pytest.mark.usefixtures("kept", "merged")
@pytest.mark.parametrize("seed", thinned(SEEDS, 30))
def test_choices_that_components_take_are_merged(seed: int) -> None:
    for count in (1, 2):
        assert {r.name: r.verdict for r in spread(required(seed), LocalHosts(count))}["p"] is by_hand(seed)


@pytest.mark.usefixtures("kept", "merged")
@pytest.mark.parametrize("enabled", [(0, 1, 2), (0,), (1,), (2,)])
@pytest.mark.parametrize("count", [1, 2])
def test_choices_that_components_miss_are_merged(enabled: tuple[int, ...], count: int) -> None:
    """A loop of three states, left by ``d``, which is enabled in all of them or in one."""
    edges = ((0, "a", 1), (1, "a", 2), (2, "a", 0), *((n, "d", 3) for n in enabled))
    weak, strong = (["a"], ["d"]) if len(enabled) == 1 else (["d"], [])
    assert not fair_lasso(edges, {0}, {3}, set(weak), set(strong), set())
    start, goal = x.is_("s0"), x.is_("s3")
    ends = LeadsTo(name="p", says="", over=[x], given=start, goal=goal, weak=weak, strong=strong, without=[])
    [result] = spread(model_of(edges, 4, ends), LocalHosts(count))
    assert result.verdict is Verdict.PROVED


@pytest.mark.usefixtures("kept")
def test_stuck_states_of_a_property_are_not_those_of_the_next() -> None:
    props = [AlwaysCanReach(name=f"p{n}", says="", over=[x], given=x.is_(f"s{n}"), goal=x.is_("s0")) for n in (1, 2)]
    model = model_of(((0, "a", 1), (0, "b", 2)), 3, *props)
    results = spread(model, LocalHosts(2))
    assert_same(model, results, alone(model))
    assert [len(r.counterexample.steps) for r in results if r.counterexample is not None] == [1, 1]


@pytest.mark.parametrize("seed", thinned(range(60), 60))
def test_the_same_of_models_at_random(seed: int, kept: Counter[str]) -> None:
    model = random_model(seed).model
    assert_same(model, spread(model, LocalHosts(2)), alone(model))


def hived() -> Instance:
    """A small instance."""
    [instance] = instances(AS_WRITTEN, {"PodGroup": 3, "Cell": 3})
    return instance


@pytest.mark.usefixtures("kept")
def test_the_edges_are_those_of_one_process() -> None:
    """States are compared by their words: numbers differ."""
    hosts = LocalHosts(3)
    workers = RemoteWorkers(hosts)
    reached = compiled.explore(hived(), workers=workers)
    graph = ClusterGraph(reached, reached.parts[0].search)  # type: ignore[attr-defined]
    plain = compiled.graph_of(compiled.explore(hived()))
    parts: list[GraphPart] = [host._searches[0]._graph for host in hosts._hosts]  # type: ignore[union-attr]
    words: dict[int, tuple[int, ...]] = {}
    for me, part in enumerate(parts):
        for states, first, some in part._block(7):
            for n in range(some):
                row = states[n * part._words : (n + 1) * part._words]
                words[(first + n) * 3 + me] = tuple(int(w) for w in row)
    assert len(words) == plain.size
    width = len(words[graph.initial])
    rows = [tuple(int(w) for w in plain.words[n * width : (n + 1) * width]) for n in range(plain.size)]
    number_of = {row: n for n, row in enumerate(rows)}
    edges, reversed_edges = list[tuple[int, int, int]](), list[tuple[int, int, int]]()
    for number, its in words.items():
        part, node = parts[number % 3], number // 3
        n = number_of[its]
        assert part._depths[node] == plain.depths[n]
        to = slice(part._offsets[node], part._offsets[node + 1])
        pairs = [(int(c), number_of[words[int(t)]]) for t, c in zip(part._targets[to], part._choices[to], strict=True)]
        span = slice(plain.offsets[n], plain.offsets[n + 1])
        assert pairs == list(zip(plain.choices[span].tolist(), plain.targets[span].tolist(), strict=True))
        edges += [(n, choice, target) for choice, target in pairs]
        back = slice(part._back[node], part._back[node + 1])
        reversed_edges += [
            (number_of[words[int(s)]], int(c), n) for s, c in zip(part._sources[back], part._by[back], strict=True)
        ]
    assert Counter(edges) == Counter(reversed_edges)
    assert len(edges) == len(plain.targets)


# --- Seeded faults -------------------------------------------------------------------------------------------------------


def _no_trim(self: GraphPart, backward: bool) -> None:
    """Seeded: every node counts as one that no edge leads to."""
    self._degrees[:] = 0
    RIGHT_TRIM(self, backward)


def _all_fair(self: GraphPart, *arguments: Any) -> Any:
    """Seeded: what another worker says of a component is not heard."""
    return RIGHT_CONCLUDE(self, *((np.empty(0, np.int64), np.empty(0, np.int64)) for _ in arguments))


def _without_others(self: GraphPart, *arguments: Any) -> Any:
    """Seeded: what others send is dropped."""
    return RIGHT_GO(self)


RIGHT_TRIM, RIGHT_CONCLUDE, RIGHT_GO = GraphPart.trim, GraphPart.conclude, GraphPart.go


@pytest.mark.usefixtures("kept")
@pytest.mark.parametrize(
    ("method", "wrong"), thinned([("trim", _no_trim), ("conclude", _all_fair), ("go", _without_others)], 3, first=2)
)
def test_wrong_searches_are_noticed(method: str, wrong: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(GraphPart, method, wrong)

    def is_right(seed: int) -> bool:
        try:
            results = spread(required(seed), LocalHosts(2))
        except (AssertionError, ValueError, IndexError, StopIteration):
            return False  # a wrong loop need not have a run
        return {r.name: r.verdict for r in results}["p"] is by_hand(seed)

    assert not all(is_right(seed) for seed in itertools.islice(SEEDS, 40))


# --- What does not fit, and workers that are lost -----------------------------------------------------------------------


@pytest.mark.usefixtures("kept")
def test_a_graph_that_is_too_large_leaves_properties_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """And says what was explored; properties of states and steps have their verdicts."""
    monkeypatch.setattr(room, "memory_left", lambda: 1000)
    how = Exploring(Engine.COMPILED, workers=RemoteWorkers(LocalHosts(2)))
    results = {r.name: r for r in model_check(AS_WRITTEN, {}, how=how)}
    open_ones = {name for name, r in results.items() if r.verdict is Verdict.UNDETERMINED}
    kinds = {results[name].kind for name in open_ones}
    assert kinds == {kind.kind for kind in KINDS}
    note = results["preempting-ends"].note
    assert note.startswith("all 1,512 states were explored, but their graph takes 0 MiB on the machine ")
    assert note.endswith(", which has 0 MiB left")


def test_a_long_life_cycle_takes_the_memory_that_is_kept_for_it() -> None:
    """For each of its states, beside a short one; what the search for one object takes is freed before that for the next."""
    reached = compiled.explore(hived(), workers=RemoteWorkers(LocalHosts(1)))
    search = reached.parts[0].search  # type: ignore[attr-defined]
    graph = ClusterGraph(reached, search)
    [life] = [p for p in AS_WRITTEN.properties if p.name == "cell-life-without-preemption"]
    assert isinstance(life, LifeCycle)

    def peak_of(states: int) -> int:
        asked = dataclasses.replace(life, states=(list(life.states[:2]) * states)[:states])
        liveness.answer(graph, asked)  # without what is compiled at first
        tracemalloc.start()
        liveness.answer(graph, asked)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return peak

    each = (peak_of(400) - peak_of(200)) / 200 / reached.state_count
    assert room.PER_LIFE - 1 < each <= room.PER_LIFE + 0.1
    [short], [long] = (search.results(search.call(0, "room", states)) for states in (200, 400))
    assert long.needed - short.needed == 200 * room.PER_LIFE * reached.state_count


def test_memory_is_kept_for_the_longest_life_cycle() -> None:
    """Of those of the model, which has shorter ones too."""
    lives = [len(p.states) for p in AS_WRITTEN.properties if isinstance(p, LifeCycle)]
    assert len(set(lives)) > 1
    asked = list[int]()

    class Noting(LocalHosts):
        def call(self, worker: int, method: str, *arguments: Any, returns: int = 1) -> list[Any]:
            if arguments[1:2] == ("room",):
                asked.append(arguments[2])
            return super().call(worker, method, *arguments, returns=returns)

    reached = compiled.explore(hived(), workers=RemoteWorkers(Noting(2)))
    require_room(reached, reached.parts[0].search)  # type: ignore[attr-defined]
    assert asked == [max(lives)] * 2


def test_memory_that_is_left_is_that_of_a_container(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "CONTAINER", tmp_path)
    whole = room.memory_left()
    assert whole > 5_000_000
    (tmp_path / "memory.max").write_text("6000000\n")
    (tmp_path / "memory.current").write_text("1000000\n")
    assert room.memory_left() == 5_000_000
    (tmp_path / "memory.max").write_text("max\n")
    assert room.memory_left() > 5_000_000


@pytest.mark.usefixtures("kept")
@pytest.mark.long
def test_workers_lost_with_the_graph_change_no_verdict(tmp_path: Path) -> None:
    """At calls drawn for today, after the search."""
    expected = alone(AS_WRITTEN)
    searched, hosts = LocalHosts(2), LocalHosts(2)
    compiled.explore(hived(), workers=RemoteWorkers(searched), saving=Saving(tmp_path / "search", 1000))
    spread(AS_WRITTEN, hosts, checkpoint=Saving(tmp_path / "all", 1000))
    assert hosts.calls > 2 * searched.calls
    rng = random.Random(seed_of_today("graph"))
    for n in range(4):
        notes = list[str]()
        lost = LocalHosts(2, [rng.randrange(searched.calls + 2, hosts.calls)])
        workers = RemoteWorkers(lost, notes.append)
        how = Exploring(Engine.COMPILED, workers=workers, checkpoint=Saving(tmp_path / str(n), 1000))
        assert_same(AS_WRITTEN, _results(AS_WRITTEN, how), expected)
        assert lost.replaced == len(notes) == 1
        assert notes[0].endswith("it is replaced, and the graph is made anew from the checkpoint")


@pytest.mark.usefixtures("kept")
def test_a_graph_that_no_longer_fits_after_a_loss_ends_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hosts, left = LocalHosts(2), iter([1 << 30, 1 << 30, 1000, 1000])
    spread(AS_WRITTEN, hosts, checkpoint=Saving(tmp_path / "all", 1000))
    monkeypatch.setattr(room, "memory_left", lambda: next(left))
    with pytest.raises(LostWorker, match=r"cannot be made anew: all 1,512 states were explored, but their graph takes"):
        spread(AS_WRITTEN, LocalHosts(2, [hosts.calls - 20]), checkpoint=Saving(tmp_path / "lost", 1000))


@pytest.mark.usefixtures("kept")
def test_truths_of_a_property_are_not_kept_for_the_next() -> None:
    """They take a bit for each state and binding, which the room for a graph does not count."""
    hosts = LocalHosts(2)
    spread(AS_WRITTEN, hosts)
    graphs = [search._graph for host in hosts._hosts if host is not None for search in host._searches.values()]
    assert graphs
    assert {len(graph._held) for graph in graphs} == {1}


def test_a_node_that_goes_on_is_put_on_the_stack_once() -> None:
    """Its label grows each time that its messages are full, before it has sent all of them."""
    offsets, targets, choices = np.array([0, 3], np.int64), np.array([1, 3, 5], np.uint32), np.zeros(3, np.uint16)
    allowed, inside, queued = np.ones(1, np.bool_), np.ones(1, np.bool_), np.ones(1, np.bool_)
    labels, stack, state = np.zeros(1, np.uint32), np.zeros(4, np.uint32), np.array([-1, 0, 1, 0], np.int64)
    recent = np.full((8, 2), kernel.NONE, np.uint32)
    sent: list[tuple[int, int]] = []
    for label in range(2, 12):
        numbers, payloads, counts = np.zeros((2, 1), np.uint32), np.zeros((2, 1), np.uint32), np.zeros(2, np.int64)
        kernel.emit(
            offsets, targets, choices, allowed, labels, 2, 0, 1, stack, state, queued, recent, numbers, payloads, counts
        )
        sent += [(int(numbers[1, k]), int(payloads[1, k])) for k in range(counts[1])]
        if label < 6:
            more = np.array([label], np.uint32)
            kernel.take_label(np.zeros(1, np.uint32), more, 1, 2, stack, state, inside, labels, queued)
            assert state[kernel.SIZE] <= 1
    assert {(number, 5) for number in (1, 3, 5)} <= set(sent)


@pytest.mark.usefixtures("kept")
def test_without_a_checkpoint_a_worker_lost_ends_it() -> None:
    with pytest.raises(
        LostWorker, match=r"^worker [12] of 2 was lost, and with it its part of the graph; with --check"
    ):
        spread(AS_WRITTEN, LocalHosts(2, [400]))


@pytest.mark.usefixtures("kept")
def test_workers_that_are_lost_with_each_graph_end_it(tmp_path: Path) -> None:
    hosts = LocalHosts(2, range(400, 4000, 60))
    with pytest.raises(LostWorker, match=r"this happened 4 times while properties were checked; give each worker more"):
        spread(AS_WRITTEN, hosts, checkpoint=Saving(tmp_path, 1000))


@pytest.mark.usefixtures("kept")
@pytest.mark.parametrize("seed", [13, 25])
def test_an_undefined_formula_has_the_same_message(seed: int) -> None:
    """Models at random, of which a property reads an attribute of NONE."""
    model = random_model(seed).model
    expected = alone(model)
    assert any("reads an object that does not exist" in r.counterexample.problem for r in expected if r.counterexample)
    assert_same(model, spread(model, LocalHosts(3)), expected)


@pytest.mark.usefixtures("kept")
@pytest.mark.parametrize("at", range(4))
@pytest.mark.parametrize("count", [1, 2, 3])
def test_an_undefined_goal_is_reported_before_a_premise(at: int, count: int) -> None:
    """The goal is undefined in one state, and the premise in the three others: workers know of different formulas."""
    goal = implies(x.is_(f"s{at}"), x.next.is_("s0"))
    given = implies(~x.is_(f"s{at}"), x.next.next == x)
    plain = model_of(
        tuple((n, "a", n + 1) for n in range(3)), 4, AlwaysCanReach(name="p", says="", over=[x], given=given, goal=goal)
    )
    machine = dataclasses.replace(plain.machines[0], attributes=[Attribute("next", Ref(x.type.sort))])
    model = dataclasses.replace(plain, machines=[machine])
    [result] = spread(model, LocalHosts(count))
    assert_same(model, [result], alone(model))
    assert result.counterexample is not None
    assert result.counterexample.problem.endswith(": the state of NONE is read")


# --- Interrupts ----------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("kept")
def test_an_interrupt_leaves_the_properties_open_that_follow() -> None:
    """At a moment drawn for today: those before have their verdicts, and no loss of a worker is reported."""
    expected, asked = {r.name: r for r in alone(AS_WRITTEN)}, itertools.count()
    spread(AS_WRITTEN, LocalHosts(2), halt=lambda: str(next(asked))[:0])
    rng, questions = random.Random(seed_of_today("interrupts")), next(asked)
    assert questions > 300
    for last in (5, *rng.sample(range(20, questions), 5)):
        at = itertools.count()
        halt = lambda at=at, last=last: "interrupted" if next(at) >= last else ""  # noqa: E731
        results = spread(AS_WRITTEN, LocalHosts(2), halt=halt)
        decided = [r for r in results if r.note != "interrupted"]
        assert_same(AS_WRITTEN, decided, [expected[r.name] for r in decided])
        assert {r.verdict for r in results[len(decided) :]} == {Verdict.UNDETERMINED}
        assert results[: len(decided)] == decided


@pytest.mark.usefixtures("kept")
def test_after_an_interrupt_no_search_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would wait for workers that are still busy: those that have a graph, and properties that read history are left."""
    reasons, right = list[str](), liveness.answer

    def answer(graph: ClusterGraph, prop: Any) -> Any:
        reasons.append("interrupted")
        return right(graph, prop)

    monkeypatch.setattr("schedproof.proofs.cluster.crew.answer", answer)
    expected = {r.name: r for r in model_check(AS_WRITTEN, SMALL, how=Exploring(Engine.COMPILED))}
    searches = []
    for halt in (None, lambda: "".join(reasons[:1])):
        reasons.clear()
        hosts = LocalHosts(2)
        workers = RemoteWorkers(hosts)
        how = Exploring(Engine.COMPILED, symmetry=False, workers=workers, halt=halt)
        results = model_check(AS_WRITTEN, SMALL, how=how)
        assert {r.name for r in results} == set(expected)
        assert {r.note for r in results if r.verdict is not expected[r.name].verdict} <= {"interrupted"}
        searches.append(next(workers._numbers))
    assert searches[1] == 1 < searches[0]


def test_no_result_is_waited_for_when_there_is_a_reason_to_stop() -> None:
    """A worker may need long for one: here it never ends."""
    waits = list[float]()

    class Endless:
        def are_there(self, refs: Sequence[Any], seconds: float) -> bool:
            waits.append(seconds)
            return False

    calls = HaltedCalls(Endless(), lambda: "interrupted" if len(waits) == 3 else "")  # type: ignore[arg-type]
    with pytest.raises(Halted, match=r"^interrupted$"):
        calls.results([None])
    assert sum(waits) <= 2
