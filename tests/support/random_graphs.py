"""Small graphs at random as models, with what can always be reached and what must happen on them, found by hand."""

from __future__ import annotations

from itertools import chain, combinations
from random import Random
from typing import Any

import networkx as nx

from schedproof.model.lang import Action, AlwaysCanReach, Document, LeadsTo, Machine, Model, Row, Sort, State, variables
from schedproof.proofs.verdict import Verdict

Thing = Sort("Thing", "t")


[x] = variables(Thing, "x")


EDGES = tuple[tuple[int, str, int], ...]
"""A graph: (from, action, to). The nodes are the states of one object."""


def model_of(edges: EDGES, size: int, *properties: Any) -> Model:
    """One object that walks about the graph; each action takes it along the edges of that name."""
    names = [f"s{n}" for n in range(size)]
    rows, actions = [], []
    for name in sorted({action for _, action, _ in edges}):
        own_edges = [(a, b) for a, action, b in edges if action == name]
        rows += [Row(Thing, name, f"s{a}", f"s{b}") for a, b in own_edges]
        actions.append(Action(name, [x], [x.is_(*[f"s{a}" for a, _ in own_edges])], [x.fires(name)], ""))
    reached = {0} | nx.descendants(nx.DiGraph([(0, 0), *((a, b) for a, _, b in edges)]), 0)
    states = [State(name, unreachable=n not in reached) for n, name in enumerate(names)]
    return Model(
        system="graph",
        variant="random",
        about="",
        document=Document("", ""),
        machines=[Machine(Thing, states=states)],
        rows=rows,
        actions=actions,
        rules=[],
        properties=properties,
        default_scope={"Thing": 1},
    )


def random_edges(random: Random, size: int) -> EDGES:
    """At most one edge for each (node, action), as a table has it."""
    target_of: dict[tuple[int, str], int] = {}
    for _ in range(random.randrange(3, 12)):
        target_of[random.randrange(size), random.choice("abcd")] = random.randrange(size)
    return tuple((source, action, target) for (source, action), target in target_of.items())


def reachable(edges: EDGES, start: int) -> set[int]:
    """By Warshall's closure, not by a search."""
    size = 1 + max(chain([start], *((a, b) for a, _, b in edges)))
    path = [[a == b or any((a, b) == (s, t) for s, _, t in edges) for b in range(size)] for a in range(size)]
    for k in range(size):
        for i in range(size):
            for j in range(size):
                path[i][j] = path[i][j] or (path[i][k] and path[k][j])
    return {n for n in range(size) if path[start][n]}


def fair_lasso(
    edges: EDGES, given: set[int], goal: set[int], weak: set[str], strong: set[str], without: set[str]
) -> bool:
    """Some fair run goes from a reachable ``given`` node on without a goal.

    What such a run visits and takes for ever is a set of nodes and a set of edges between them that
    connect the nodes strongly (or nothing, if it stands still); all such sets are tried.
    """
    start = (given & reachable(edges, 0)) - goal
    inner = tuple(e for e in edges if e[0] not in goal and e[2] not in goal)
    live: set[int] = set().union(*(reachable(inner, n) for n in start)) - goal if start else set()
    for nodes in chain.from_iterable(combinations(sorted(live), n) for n in range(1, len(live) + 1)):
        able = [{a for s, a, _ in edges if s == n} for n in nodes]
        lasting = [e for e in inner if e[0] in nodes and e[2] in nodes and e[1] not in without]
        for chosen in chain.from_iterable(combinations(lasting, n) for n in range(len(lasting) + 1)):
            graph = nx.DiGraph([(a, b) for a, _, b in chosen])
            graph.add_nodes_from(nodes)
            if not nx.is_strongly_connected(graph):
                continue
            done = {action for _, action, _ in chosen}
            always, sometimes = set.intersection(*able), set.union(*able)
            if weak & always <= done and strong & sometimes <= done:
                return True
    return False


def names(nodes: set[int]) -> list[str]:
    """The states of the nodes."""
    return [f"s{n}" for n in nodes]


def random_without(seed: int) -> tuple[EDGES, int, set[int], set[int], set[str]]:
    """A graph, its size, what is given, the goal, and the actions that are not taken on the way to it."""
    random = Random(1000 + seed)
    size = random.randrange(2, 6)
    edges = random_edges(random, size)
    given = set(random.sample(range(size), random.randrange(1, size + 1)))
    goal = set(random.sample(range(size), random.randrange(1, size)))
    actions = sorted({a for _, a, _ in edges})
    return edges, size, given, goal, set(random.sample(actions, random.randrange(len(actions) + 1)))


def can_reach_without(seed: int) -> Model:
    """The same as a model with its property."""
    edges, size, given, goal, without = random_without(seed)
    start, end = x.is_(*names(given)), x.is_(*names(goal))
    prop = AlwaysCanReach(name="p", says="", over=[x], given=start, goal=end, without=sorted(without))
    return model_of(edges, size, prop)


def stuck_without(seed: int) -> set[int]:
    """The given nodes, reached in any way, from which the goal is reached by no way that avoids the actions."""
    edges, _, given, goal, without = random_without(seed)
    left = tuple(e for e in edges if e[1] not in without)
    return {n for n in reachable(edges, 0) & given if not reachable(left, n) & goal}


def verdict_without(seed: int) -> Verdict:
    """The verdict that the closure gives."""
    edges, _, given, _, _ = random_without(seed)
    if stuck_without(seed):
        return Verdict.REFUTED
    return Verdict.PROVED if reachable(edges, 0) & given else Verdict.UNDETERMINED


SEEDS = range(300)


def random_property(seed: int) -> tuple[EDGES, int, set[int], set[int], dict[str, set[str]]]:
    """A graph, its size, what is given, the goal, and which actions are taken how."""
    random = Random(seed)
    size = random.randrange(2, 5)
    edges = random_edges(random, size)
    given = set(random.sample(range(size), random.randrange(1, size + 1)))
    goal = set(random.sample(range(size), random.randrange(1, size)))
    actions = sorted({a for _, a, _ in edges})
    roles = random.choice([["weak"], ["strong"], ["weak", "strong"], ["weak", "strong", "without", "free"]])
    role = {a: random.choice(roles) for a in actions}
    return edges, size, given, goal, {r: {a for a in actions if role[a] == r} for r in ("weak", "strong", "without")}


def required(seed: int) -> Model:
    """The same as a model with its property."""
    edges, size, given, goal, fair = random_property(seed)
    weak, strong, without = (sorted(fair[role]) for role in ("weak", "strong", "without"))
    start, end = x.is_(*names(given)), x.is_(*names(goal))
    prop = LeadsTo(name="p", says="", over=[x], given=start, goal=end, weak=weak, strong=strong, without=without)
    return model_of(edges, size, prop)


def by_hand(seed: int) -> Verdict:
    """The verdict that the search for lassos gives."""
    edges, _, given, goal, fair = random_property(seed)
    if fair_lasso(edges, given, goal, **fair):
        return Verdict.REFUTED
    return Verdict.PROVED if (given & reachable(edges, 0)) - goal else Verdict.UNDETERMINED
