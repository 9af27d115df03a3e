"""A suite of least cost that takes every edge of a graph: the directed Chinese postman problem with restarts.

The cost of a suite is its number of steps plus one for each sequence, since each sequence sets up the implementation anew. A
sequence begins in the initial state and ends anywhere. So a suite is a closed tour through one extra node, the depot: an edge
of cost 1 leads from it to the initial state, and an edge of cost 0 leads to it from every node. A minimum-cost flow gives the
number of times to take each edge. Euler's theorem then gives the tour. No suite that takes every edge costs less.
"""

from __future__ import annotations

from collections import Counter

import networkx as nx

from .graph import Graph
from .search import At
from .walk import Walk, walk_along

DEPOT = -1
"""The extra node between two sequences."""


def cost(made: list[Walk]) -> int:
    """The cost of a suite: its steps, plus one for each sequence."""
    return sum(len(walk.choices) + 1 for walk in made)


def every_edge(graph: Graph) -> list[Walk]:
    """A suite of least cost that takes every edge; goals are the edges, numbered in their order.

    Every state of the graph must be reachable, as in explored graphs.
    """
    numbers: dict[At, int] = {}
    ends: dict[At, int] = {}
    for node, edges in enumerate(graph.edges):
        for n, edge in enumerate(edges):
            numbers[node, n] = len(numbers)
            ends[node, n] = edge.target
    if not numbers:
        return []
    repeats = _taken_again(graph)
    tour: nx.MultiDiGraph[int] = nx.MultiDiGraph()
    alike: dict[tuple[int, int], At] = {}
    for at, target in ends.items():
        tour.add_edge(at[0], target, at=at)
        alike.setdefault((at[0], target), at)
    for (a, b), times in repeats.items():
        for _ in range(times):
            tour.add_edge(a, b, at=alike.get((a, b)))
    tour.add_edge(DEPOT, 0, at=None)
    made: list[list[At]] = []
    for a, b, number in nx.eulerian_circuit(tour, DEPOT, keys=True):
        if a == DEPOT:
            made.append([])
            continue
        at = tour.edges[a, b, number]["at"]
        if at is not None:
            made[-1].append(at)
    routes = []
    for way in made:
        first: dict[int, int] = {}
        for step, at in enumerate(way, start=1):
            first.setdefault(numbers[at], step)
        routes.append(walk_along(graph, way, first))
    return routes


def _taken_again(graph: Graph) -> Counter[tuple[int, int]]:
    """How often to take an edge between two nodes, beyond once for each edge and once from the depot to the initial state."""
    surplus: Counter[int] = Counter({0: 1, DEPOT: -1})
    flow: nx.DiGraph[int] = nx.DiGraph()
    flow.add_edge(DEPOT, 0, weight=1)
    for node, edges in enumerate(graph.edges):
        flow.add_edge(node, DEPOT, weight=0)
        for edge in edges:
            surplus[node] -= 1
            surplus[edge.target] += 1
            if edge.target != node:
                flow.add_edge(node, edge.target, weight=1)
    for node in flow:
        flow.nodes[node]["demand"] = -surplus[node]  # surplus arrivals must leave again
    _, sent = nx.network_simplex(flow)
    return Counter({(a, b): n for a, targets in sent.items() for b, n in targets.items() if n})
