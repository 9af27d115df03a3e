"""What suites cover, how short they are, and what is said of the rest: against counts by hand and brute force."""

from __future__ import annotations

import heapq
import itertools
import random
from collections.abc import Iterator
from dataclasses import replace

import networkx as nx
import pytest

from schedproof.model.lang import Action, Document, Invariant, Machine, Model, Row, Rule, Sort, State, exists, variables
from schedproof.model.semantics import Choice, instances, stepper_of
from schedproof.model.systems.hived import AS_WRITTEN, REPAIRED
from schedproof.model.systems.yunikorn import AS_WRITTEN as YUNIKORN
from schedproof.proofs.coverage import Cover, Proof, Suite, Why, generate, unreached
from schedproof.proofs.coverage import postman as postman_module
from schedproof.proofs.coverage.goals import goals_of
from schedproof.proofs.coverage.graph import Edge, Graph, explored
from schedproof.proofs.coverage.postman import cost, every_edge
from schedproof.proofs.coverage.search import ByStep, search_for
from schedproof.proofs.coverage.unreached import _no_action, _no_row, _no_state, _proved
from schedproof.proofs.coverage.walk import is_run, steps_of, trimmed, walks
from tests.support.rows import each_row
from tests.support.sample import thinned
from tests.support.toys import MUTEX, WORKSHOP

# The processes at one lock, once more by hand.

Joint = tuple[tuple[str, str], int, tuple[str, str, str]]
"""The states of both processes, who holds the lock (-1: nobody), and the last row of each object."""

ROWS = {
    "try": "Process.try: Away -> Trying",
    "enter": "Process.enter: Trying -> Inside",
    "leave": "Process.leave: Inside -> Away",
    "flee": "Process.flee: Trying -> Away",
    "close": "Lock.close: Open -> Held",
    "open": "Lock.open: Held -> Open",
}


def by_hand(now: Joint) -> Iterator[tuple[str, dict[int, str], Joint]]:
    """The steps: the action, the row of each object that moves, and what comes of it."""
    processes, holder, last = now

    def then(action: str, p: int, to: str, holds: int, rows: dict[int, str]) -> tuple[str, dict[int, str], Joint]:
        after = (to, processes[1]) if p == 0 else (processes[0], to)
        remembered = tuple(rows.get(n, last[n]) for n in range(3))
        return action, rows, (after, holds, remembered)  # type: ignore[return-value]

    for p in (0, 1):
        if processes[p] == "Away":
            yield then("try", p, "Trying", holder, {p: "try"})
        if processes[p] == "Trying":
            yield then("scare", p, "Away", holder, {p: "flee"})
            if holder == -1:
                yield then("enter", p, "Inside", p, {p: "enter", 2: "close"})
        if holder == p:
            yield then("leave", p, "Away", -1, {p: "leave", 2: "open"})


START: Joint = (("Away", "Away"), -1, ("", "", ""))


def said_by_hand(cover: Cover, before: Joint, action: str, rows: dict[int, str], after: Joint) -> set[str]:
    match cover:
        case Cover.STATES:
            return {f"Process.{s}" for s in after[0]} | {"Lock.Held" if after[1] >= 0 else "Lock.Open"}
        case Cover.ACTIONS:
            return {action}
        case Cover.TRANSITIONS:
            return {ROWS[row] for row in rows.values()}
        case Cover.PAIRS:
            pairs = {(before[2][n], row) for n, row in rows.items() if before[2][n]}
            return {f"{ROWS[a]}, then {ROWS[b].partition('.')[2]}" for a, b in pairs}


def distances_by_hand(cover: Cover) -> dict[str, int]:
    distances = {"Process.Away": 0, "Lock.Open": 0} if cover is Cover.STATES else {}
    layer, seen, depth = [START], {START}, 0
    while layer:
        depth += 1
        after = []
        for now in layer:
            for action, rows, then in by_hand(now):
                for goal in said_by_hand(cover, now, action, rows, then):
                    distances.setdefault(goal, depth)
                if then not in seen:
                    seen.add(then)
                    after.append(then)
        layer = after
    return distances


def fewest_steps_by_hand(cover: Cover) -> int:
    """Of all suites, with any number of sequences: a shortest way through what has been covered so far."""
    every = frozenset(distances_by_hand(cover))
    first = frozenset({"Process.Away", "Lock.Open"} if cover is Cover.STATES else ())
    queue: list[tuple[int, int, Joint, frozenset[str]]] = [(0, 0, START, first)]
    done, count = set(), itertools.count(1)
    while queue:
        steps, _, now, covered = heapq.heappop(queue)
        if covered == every:
            return steps
        if (now, covered) in done:
            continue
        done.add((now, covered))
        heapq.heappush(queue, (steps, next(count), START, covered))
        for action, rows, then in by_hand(now):
            more = covered | said_by_hand(cover, now, action, rows, then)
            heapq.heappush(queue, (steps + 1, next(count), then, more))
    raise AssertionError("nothing covers it")


def test_the_goals_of_a_machine_are_counted_by_hand() -> None:
    assert [len(goals_of(MUTEX, cover)) for cover in Cover] == [5, 6, 7, 4]
    # try-enter, try-flee, enter-leave, leave-try, flee-try; close-open, open-close.
    names = {goal.name for goal in goals_of(MUTEX, Cover.PAIRS)}
    pairs = ["try enter", "try flee", "enter leave", "leave try", "flee try", "close open", "open close"]
    assert names == {f"{ROWS[a]}, then {ROWS[b].partition('.')[2]}" for a, b in (pair.split() for pair in pairs)}


@pytest.mark.parametrize("cover", Cover)
def test_what_can_be_covered_and_how_far_it_is(cover: Cover) -> None:
    suite = generate(MUTEX, {"Process": 2, "Lock": 1}, cover)
    distances = {suite.goals[n].name: steps for n, steps in suite.distances.items()}
    assert distances == distances_by_hand(cover)
    assert {suite.goals[n].name for n in suite.reached} == set(distances)


@pytest.mark.parametrize("cover", Cover)
def test_no_suite_is_below_the_minimum_and_the_shortest_says_so(cover: Cover) -> None:
    suite = generate(MUTEX, {"Process": 2, "Lock": 1}, cover)
    least = fewest_steps_by_hand(cover)
    assert suite.farthest <= least <= suite.steps
    assert not suite.is_shortest or suite.steps == least
    assert suite.steps <= 2 * least  # greedy, but not careless


@each_row("model", [MUTEX, WORKSHOP], ids=lambda m: m.system)
@each_row("cover", Cover)
@each_row("longest", [None, 1, 3, 5])
def test_no_sequence_is_too_long_and_nothing_near_is_left_out(model: Model, cover: Cover, longest: int | None) -> None:
    suite = generate(model, model.default_scope, cover, longest=longest)
    graph = explored(next(instances(model, model.default_scope)))
    assert all(is_run(walk, graph) and walk.states[0] == graph.states[0] for _, walk in suite.walks)
    assert all(longest is None or len(walk.choices) <= longest for _, walk in suite.walks)
    near = {goal for goal, steps in suite.distances.items() if longest is None or steps <= longest}
    assert set(suite.reached) == near
    far = {one.goal.name: one.least for one in unreached(suite, 0) if one.why is Why.TOO_FAR}
    assert far == {suite.goals[n].name: d for n, d in suite.distances.items() if n not in near}


def test_each_walk_records_when_it_covers_each_goal() -> None:
    """Covered again from its states and choices alone, for states and actions."""
    for cover in (Cover.STATES, Cover.ACTIONS):
        suite = generate(REPAIRED, {"PodGroup": 2, "Cell": 2}, cover)
        for _, walk in suite.walks:
            first_covers: dict[str, int] = {}
            for number, state in enumerate(walk.states):
                shown = walk.instance.describe(state)
                names = {f"{sort}.{fields['state']}" for sort, them in shown.items() for fields in them.values()}
                if cover is Cover.ACTIONS:
                    names = {walk.choices[number - 1].action} if number else set()
                for name in names:
                    first_covers.setdefault(name, number)
            assert {suite.goals[n].name: after for n, after in walk.first.items()} == first_covers


def test_trimming_leaves_nothing_uncovered_nor_superfluous() -> None:
    graph = explored(next(instances(REPAIRED, {"PodGroup": 2, "Cell": 2})))
    goals = goals_of(REPAIRED, Cover.TRANSITIONS)
    search = search_for(graph, Cover.TRANSITIONS, goals)
    reachable = set(search.distances())
    made = [walk for goal in sorted(reachable) for walk in walks(search, {goal})]
    assert all(
        len(walk.choices) == search.distances()[goal] for goal, walk in zip(sorted(reachable), made, strict=True)
    )
    kept = trimmed(made, reachable)
    assert set().union(*(walk.first for walk in kept)) == reachable
    assert steps_of(kept) < steps_of(made)
    for walk in kept:
        others = set().union(*(one.first for one in kept if one is not walk))
        last = {goal for goal, after in walk.first.items() if after == len(walk.choices)}
        assert last - others


# Every edge: the postman.


def random_graph(rng: random.Random) -> Graph:
    """Up to four places and six edges, all of them reachable; loops and edges side by side among them."""
    (instance,) = instances(MUTEX, {})
    size = rng.randint(1, 4)
    edges: list[list[Edge]] = [[] for _ in range(size)]
    for node in range(1, size):
        edges[rng.randrange(node)].append(Edge(Choice("tree"), node, {}))
    for _ in range(rng.randint(0 if size > 1 else 1, 6 - (size - 1))):
        edges[rng.randrange(size)].append(Edge(Choice("more"), rng.randrange(size), {}))
    return Graph(instance, [(n,) for n in range(size)], edges, True)


def least_cost(graph: Graph) -> int:
    """By trying: the way with the fewest steps and new beginnings through all sets of edges that were taken."""
    numbers = {at: n for n, at in enumerate((v, n) for v, edges in enumerate(graph.edges) for n in range(len(edges)))}
    every = (1 << len(numbers)) - 1
    best = {(0, 0): 1}
    queue = [(1, 0, 0)]  # the first beginning costs as well
    while queue:
        paid, node, covered = heapq.heappop(queue)
        if covered == every:
            return paid
        if paid > best[node, covered]:
            continue
        ways = [(0, covered)] + [(e.target, covered | 1 << numbers[node, n]) for n, e in enumerate(graph.edges[node])]
        for place in ways:
            if paid + 1 < best.get(place, 1 << 30):
                best[place] = paid + 1
                heapq.heappush(queue, (paid + 1, *place))
    raise AssertionError("not every edge can be taken")


def postman_is_right(graph: Graph) -> bool:
    made = every_edge(graph)
    edges = graph.edge_count
    covered = set().union(*(walk.first for walk in made)) == set(range(edges))
    return covered and all(is_run(walk, graph) for walk in made) and cost(made) == least_cost(graph)


@each_row("seed", range(12))
def test_a_route_over_every_edge_costs_the_least(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(25):
        graph = random_graph(rng)
        assert postman_is_right(graph), graph.edges


def test_the_postman_of_a_machine_costs_the_least() -> None:
    """One process at one lock: three states, four edges (try, enter, leave, flee)."""
    suite = generate(MUTEX, {"Process": 1, "Lock": 1}, Cover.TRANSITIONS, of_graph=True)
    assert (suite.goal_count, len(suite.walks), suite.steps) == (4, 1, 5)  # try, flee, try, enter, leave
    graph = explored(next(instances(MUTEX, {"Process": 1, "Lock": 1})))
    assert least_cost(graph) == 6 == cost([walk for _, walk in suite.walks])


def test_the_steps_of_every_configuration_are_counted_as_covered() -> None:
    """A configuration with more steps than all before it has numbers among its own that are theirs when counted on."""
    suite = generate(YUNIKORN, dict(YUNIKORN.default_scope), Cover.TRANSITIONS, of_graph=True, limit=60)
    edges = [configuration.edges for configuration in suite.configurations]
    assert edges[1] > edges[0] and suite.goal_count == sum(edges)
    assert suite.reached.keys() == set(range(suite.goal_count))
    for goal, (number, after) in suite.reached.items():
        configuration, walk = suite.walks[number]
        first = sum(edges[:configuration])
        assert first <= goal < first + edges[configuration] and 0 < after <= len(walk.choices)


def test_without_edges_there_is_nothing_to_walk() -> None:
    (instance,) = instances(MUTEX, {})
    assert every_edge(Graph(instance, [(0,)], [[]], True)) == []


@pytest.mark.parametrize(
    ("says", "instead"),
    thinned(
        [
            ("flow.add_edge(DEPOT, 0, weight=1)", "flow.add_edge(DEPOT, 0, weight=5)"),
            ("flow.add_edge(node, DEPOT, weight=0)", "flow.add_edge(node, DEPOT, weight=2)"),
            ("Counter({0: 1, DEPOT: -1})", "Counter()"),
            ("if edge.target != node:", "if edge.target > node:"),
        ],
        3,
        first=2,
    ),
)
def test_a_postman_with_a_bug_is_found_out(says: str, instead: str) -> None:
    source = open(postman_module.__file__, encoding="utf-8").read()  # noqa: SIM115
    assert source.count(says) == 1
    spoilt: dict[str, object] = {"__name__": postman_module.__name__, "__package__": postman_module.__package__}
    exec(compile(source.replace(says, instead), "spoilt", "exec"), spoilt)
    rng = random.Random(1)

    def is_wrong(graph: Graph) -> bool:
        try:
            return bool(cost(spoilt["every_edge"](graph)) != least_cost(graph))  # type: ignore[operator]
        except (nx.NetworkXException, AssertionError):
            return True

    assert any(is_wrong(random_graph(rng)) for _ in range(2000))


def test_greedy_routes_over_the_graph_cover_it_too() -> None:
    suite = generate(MUTEX, {"Process": 2, "Lock": 1}, Cover.TRANSITIONS, of_graph=True, longest=4)
    assert len(suite.reached) == suite.goal_count and not suite.is_shortest
    best = generate(MUTEX, {"Process": 2, "Lock": 1}, Cover.TRANSITIONS, of_graph=True)
    assert suite.steps + len(suite.walks) >= best.steps + len(best.walks) and best.is_shortest
    assert best.goal_count == 20  # see the next test


def test_the_edges_of_the_graph_by_hand() -> None:
    """Both away: 2 steps; one trying: 3, twice; both trying: 4; one inside: 2, four times."""
    seen, todo, steps = {START[:2]}, [START], 0
    while todo:
        now = todo.pop()
        for _, _, then in by_hand(now):
            steps += 1
            if then[:2] not in seen:
                seen.add(then[:2])
                todo.append(then)
    assert (len(seen), steps) == (8, 20)


def test_of_the_graph_only_transitions_are_covered() -> None:
    with pytest.raises(ValueError, match="of the graph"):
        generate(MUTEX, {"Process": 1, "Lock": 1}, Cover.STATES, of_graph=True)


def test_a_bystep_search_takes_the_way_that_covers_most() -> None:
    (instance,) = instances(MUTEX, {})
    graph = Graph(instance, [(0,), (1,)], [[Edge(Choice("a"), 0, {}), Edge(Choice("b"), 1, {})], []], True)
    search = ByStep(graph, frozenset(), lambda edge, at: (0,) if edge.choice.action == "a" else (0, 1))
    assert search.nearest(0, {}, {0, 1}, None) == [(0, 1)]


# What cannot be reached.

Light = Sort("Light", "l")
light, other = variables(Light, "light other")


def lights() -> Model:
    """A light goes on; together with another one it gets bright. Nobody ever burns one; Broken lights are never made."""
    burn = Action("burn", [light], [light.is_("Burnt")], [light.fires("glow")], "{light} burns on")
    return Model(
        system="lights",
        variant="toy",
        about="lights",
        document=Document("none.md", "None"),
        machines=[Machine(Light, states=[State("Off"), State("On"), State("Bright"), State("Burnt"), State("Split")])],
        rows=[
            Row(Light, "switch", "Off", "On"),
            Row(Light, "brighten", "On", "Bright"),
            Row(Light, "burst", "On", "Burnt"),
            Row(Light, "glow", "Burnt", "Burnt"),
            Row(Light, "split", "Bright", "Split"),
        ],
        actions=[
            Action("switch", [light], [light.is_("Off")], [light.fires("switch")], "{light} goes on"),
            Action(
                "brighten",
                [light],
                [light.is_("On"), exists(other, other.is_("On") & (other != light))],
                [light.fires("brighten")],
                "{light} gets bright",
            ),
            burn,
        ],
        rules=[Rule("a burnt light splits the bright", burn, [other.is_("Bright")], other.fires("split"))],
        properties=[Invariant(name="never-burnt", says="none is Burnt", over=[light], then=~light.is_("Burnt"))],
        default_scope={"Light": 2},
    )


def unreached_goals(suite: Suite, seconds: float = 60) -> dict[str, tuple[Why, Proof]]:
    return {one.goal.name: (one.why, one.proof) for one in unreached(suite, seconds)}


PROVED, OPEN = (Why.UNREACHABLE, Proof.PROVED), (Why.UNREACHABLE, Proof.OPEN)


def test_what_no_lights_do_is_proved_and_what_two_do_is_not() -> None:
    model = lights()
    one = {"Light": 1}
    assert unreached_goals(generate(model, one, Cover.STATES)) == {
        "Light.Bright": OPEN,
        "Light.Burnt": PROVED,
        "Light.Split": PROVED,
    }
    assert unreached_goals(generate(model, one, Cover.ACTIONS)) == {"brighten": OPEN, "burn": PROVED}
    rows = unreached_goals(generate(model, one, Cover.TRANSITIONS))
    assert rows["Light.brighten: On -> Bright"] == OPEN
    assert {name for name, how in rows.items() if how == PROVED} == {
        "Light.burst: On -> Burnt",
        "Light.glow: Burnt -> Burnt",
        "Light.split: Bright -> Split",
    }
    pairs = unreached_goals(generate(model, one, Cover.PAIRS))
    assert pairs["Light.switch: Off -> On, then brighten: On -> Bright"] == OPEN
    assert pairs["Light.switch: Off -> On, then burst: On -> Burnt"] == PROVED
    two = unreached_goals(generate(model, {"Light": 2}, Cover.TRANSITIONS))
    assert set(two.values()) == {PROVED} and len(two) == 3


def test_without_time_nothing_is_asked() -> None:
    suite = generate(lights(), {"Light": 1}, Cover.STATES)
    assert set(unreached_goals(suite, 0).values()) == {(Why.UNREACHABLE, Proof.NOT_ASKED)}
    assert set(unreached_goals(suite, 1e-9).values()) == {OPEN}


def test_an_exploration_that_was_cut_says_no_more_than_it_knows() -> None:
    suite = generate(AS_WRITTEN, {"PodGroup": 2, "Cell": 2}, Cover.TRANSITIONS, limit=5)
    assert not suite.complete
    left = unreached_goals(suite, 0)
    assert left and set(left.values()) == {(Why.INCOMPLETE, Proof.NOT_ASKED)}
    # What is proved is unreachable, however little was explored.
    assert unreached_goals(generate(lights(), {"Light": 2}, Cover.STATES, limit=1))["Light.Burnt"] == PROVED
    assert unreached_goals(generate(lights(), {"Light": 2}, Cover.STATES, limit=1))["Light.Bright"][0] is Why.INCOMPLETE


@pytest.mark.parametrize(
    "model",
    [MUTEX, WORKSHOP, *[pytest.param(m, marks=pytest.mark.long) for m in (AS_WRITTEN, REPAIRED)]],
    ids=lambda m: f"{m.system} {m.variant}",
)
def test_nothing_that_is_reached_is_proved_unreachable(model: Model) -> None:
    claims = {}
    for cover, claim in (
        (Cover.STATES, lambda goal: _no_state(model, goal)),
        (Cover.TRANSITIONS, lambda goal: _no_row(goal.rows[0])),
        (Cover.ACTIONS, _no_action),
    ):
        suite = generate(model, model.default_scope, cover)
        claims |= {f"{cover} {suite.goals[n].name}": claim(suite.goals[n]) for n in suite.reached}
    assert len(claims) > 10
    assert _proved(model, claims, 60, lambda what: None) == set()


# All configurations.


def test_goals_of_one_configuration_are_not_sought_in_others() -> None:
    """Outranking nobody, a group can preempt nobody: the second configuration is needed for that, and a third one is not."""
    order = [frozenset(), frozenset({0})]
    nobody: list[frozenset[int]] = [frozenset(), frozenset()]
    key = ("PodGroup", "outranks")
    model = replace(AS_WRITTEN, configurations=lambda sizes: [{key: nobody}, {key: order}, {key: order}])
    suite = generate(model, {"PodGroup": 2, "Cell": 1}, Cover.ACTIONS)
    assert len(suite.reached) == suite.goal_count == 9
    assert (len(suite.configurations), suite.skipped) == (2, 1)
    assert {suite.configurations[n].instance.rigid[key] == order for n, _ in suite.walks} >= {True}
    for number, walk in suite.walks:
        assert walk.instance is suite.configurations[number].instance


def distances_jointly(model: Model, sizes: dict[str, int]) -> dict[str, int]:
    """Of pairs: breadth first through the states together with the last rows of all objects at once."""
    (instance,) = instances(model, sizes)
    stepper = stepper_of(instance)
    start = (instance.initial(), frozenset[tuple[str, int, str]]())
    distances: dict[str, int] = {}
    layer, seen, depth = [start], {start}, 0
    while layer:
        depth += 1
        after = []
        for state, last in layer:
            of = {(sort, n): row for sort, n, row in last}
            for step in stepper.steps(state):
                new = dict(of)
                for (sort, event), objects in step.fired.items():
                    names = [s.name for s in model.machine(sort).states]
                    for n in objects:
                        slot = instance.slot(sort) + n
                        moved = f"{event}: {names[state[slot]]} -> {names[step.after[slot]]}"
                        if (sort, n) in of:
                            distances.setdefault(f"{sort}.{of[sort, n]}, then {moved}", depth)
                        new[sort, n] = moved
                then = (step.after, frozenset((sort, n, row) for (sort, n), row in new.items()))
                if then not in seen:
                    seen.add(then)
                    after.append(then)
        layer = after
    return distances


@pytest.mark.parametrize(
    ("model", "sizes"),
    [
        (AS_WRITTEN, {"PodGroup": 2, "Cell": 1}),
        (REPAIRED, {"PodGroup": 2, "Cell": 1}),
        (WORKSHOP, {"Worker": 1, "Tool": 1}),
        (MUTEX, {"Process": 2, "Lock": 2}),
    ],
    ids=lambda each: f"{each.system} {each.variant}" if isinstance(each, Model) else "",
)
def test_following_one_object_finds_the_pairs_of_following_all(model: Model, sizes: dict[str, int]) -> None:
    suite = generate(model, sizes, Cover.PAIRS)
    distances = {suite.goals[n].name: steps for n, steps in suite.distances.items()}
    assert len(distances) >= 5 and distances == distances_jointly(model, sizes)
