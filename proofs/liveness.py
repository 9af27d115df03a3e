"""What can happen, can always still happen, and must happen: judged on a complete explored graph.

Each function answers None (it holds), a Counterexample, or a text: the property is vacuous.
"""

from __future__ import annotations

import heapq
import itertools
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence

import networkx as nx
from schedproof.model.lang import AlwaysCanReach, LeadsTo, LifeCycle, Var
from schedproof.model.lang import terms as t
from schedproof.model.semantics import Choice, Instance, Moment, Remembered, compile_term

from .explore import Exploration
from .trace import told
from .verdict import Counterexample

Answer = Counterexample | str | None


def life_cycle(instance: Instance, found: Exploration, prop: LifeCycle) -> Answer:
    """Some object can go through exactly the given states: a search over (state, object's position)."""
    names = [s.name for s in instance.model.machine(prop.sort).states]
    wanted = [names.index(s) for s in prop.states]
    furthest = 0
    for who in range(instance.sizes[prop.sort.name]):
        slot = instance.slot(prop.sort.name) + who
        if found.states[0][slot] != wanted[0]:
            continue
        seen, queue = {(0, 0)}, deque([(0, 0)])
        while queue:
            number, position = queue.popleft()
            furthest = max(furthest, position)
            if position == len(wanted) - 1:
                return None
            for edge in found.edges[number]:
                now = found.states[edge.target][slot]
                if now == found.states[number][slot]:
                    node = (edge.target, position)
                elif now == wanted[position + 1]:
                    node = (edge.target, position + 1)
                else:
                    continue
                if node not in seen:
                    seen.add(node)
                    queue.append(node)
    reached = " -> ".join(prop.states[: furthest + 1])
    return Counterexample((), f"{prop.says}: not so; the longest part that can happen is {reached}")


def bindings(instance: Instance, over: Sequence[Var]) -> Iterator[dict[str, int]]:
    """All values of the variables ``over``."""
    if not over:
        yield {}
        return
    for value in instance.domain(over[0].type):
        for rest in bindings(instance, over[1:]):
            yield {over[0].name: value, **rest}


def where(
    instance: Instance, found: Exploration, formula: t.Term, over: Sequence[Var], bound: dict[str, int]
) -> set[int]:
    """The numbers of the states in which ``formula`` holds."""
    holds = compile_term(instance, formula, {v.name: v for v in over})
    held = Remembered(lambda state: holds(Moment(state, dict(bound))))
    return {i for i, state in enumerate(found.states) if held(state)}


def _predecessors(found: Exploration, without: Sequence[str]) -> list[list[int]]:
    back: list[list[int]] = [[] for _ in found.states]
    for source, edges in enumerate(found.edges):
        for edge in edges:
            if edge.choice.action not in without:
                back[edge.target].append(source)
    return back


def can_reach(goal: Iterable[int], back: Sequence[Sequence[int]]) -> set[int]:
    """The nodes of a graph from which ``goal`` can be reached; ``back`` has each node's predecessors."""
    reaching = set(goal)
    queue = deque(reaching)
    while queue:
        for source in back[queue.popleft()]:
            if source not in reaching:
                reaching.add(source)
                queue.append(source)
    return reaching


def always_can_reach(instance: Instance, found: Exploration, prop: AlwaysCanReach) -> Answer:
    """AG EF, by a search backwards from the goal."""
    back = _predecessors(found, prop.without)
    vacuous = True
    nearest: tuple[int, dict[str, int]] | None = None
    for bound in bindings(instance, prop.over):
        reaching = can_reach(where(instance, found, prop.goal, prop.over, bound), back)
        start = (
            where(instance, found, prop.given, prop.over, bound)
            if prop.given is not None
            else set(range(len(found.states)))
        )
        vacuous = vacuous and not start
        stuck = start - reaching  # states are numbered in the order of their distance
        if stuck and (nearest is None or min(stuck) < nearest[0]):
            nearest = min(stuck), bound
    if nearest is not None:
        names = ", ".join(f"{v.name} = {instance.show(v.type, nearest[1][v.name])}" for v in prop.over)
        problem = f"{prop.says}: not so any more for {names or 'the system'}"
        return told(instance, found.path(nearest[0]), problem, over=prop.over, bound=nearest[1])
    return "vacuous: its premise is never true" if vacuous else None


def leads_to(instance: Instance, found: Exploration, prop: LeadsTo) -> Answer:
    """Every fair run from ``given`` reaches ``goal``: no fair loop avoids it.

    A run may also stay in a state for ever where no fair action is enabled, so every state counts as
    having a silent loop. Fairness is per choice of the action's parameters.
    """
    vacuous = True
    for bound in bindings(instance, prop.over):
        goal = where(instance, found, prop.goal, prop.over, bound)
        start = where(instance, found, prop.given, prop.over, bound) - goal
        vacuous = vacuous and not start
        region = _avoiding(found, start, goal)
        loop = _fair_loop(found, set(region), prop)
        if loop is not None:
            return _lasso(instance, found, prop, bound, region, loop)
    return "vacuous: its premise is never true" if vacuous else None


Avoiding = Mapping[int, tuple[int, tuple[int, Choice] | None]]
"""States by number: the length of a shortest run to there that sees a start but from then on no goal,
and its last step; None where a start is."""


def _avoiding(found: Exploration, start: set[int], goal: set[int]) -> Avoiding:
    region: dict[int, tuple[int, tuple[int, Choice] | None]] = {s: (found.depths[s], None) for s in start}
    queue = [(found.depths[s], s) for s in start]
    heapq.heapify(queue)
    while queue:
        length, source = heapq.heappop(queue)
        if length > region[source][0]:
            continue
        for edge in found.edges[source]:
            known = region.get(edge.target)
            if edge.target not in goal and (known is None or known[0] > length + 1):
                region[edge.target] = (length + 1, (source, edge.choice))
                heapq.heappush(queue, (length + 1, edge.target))
    return region


def _fair_loop(found: Exploration, region: set[int], prop: LeadsTo) -> set[int] | None:
    """A strongly connected part of ``region`` in which a fair run can stay, if there is one."""
    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_nodes_from(region)
    for source in region:
        for edge in found.edges[source]:
            if edge.target in region and edge.choice.action not in prop.without:
                graph.add_edge(source, edge.target)
    work = [set(part) for part in nx.strongly_connected_components(graph)]
    while work:
        part = work.pop()
        taken = {
            e.choice for s in part for e in found.edges[s] if e.target in part and e.choice.action not in prop.without
        }
        enabled = [{e.choice for e in found.edges[s]} for s in part]
        always = set.intersection(*enabled)
        if any(c.action in prop.weak and c not in taken for c in always):
            continue
        missed = {c for choices in enabled for c in choices if c.action in prop.strong and c not in taken}
        if not missed:
            return part
        rest = {s for s in part if not any(e.choice in missed for e in found.edges[s])}
        work += [set(p) for p in nx.strongly_connected_components(graph.subgraph(rest))]
    return None


def _lasso(
    instance: Instance,
    found: Exploration,
    prop: LeadsTo,
    bound: dict[str, int],
    region: Avoiding,
    loop: set[int],
) -> Counterexample:
    first = min(loop, key=lambda s: (region[s][0], s))
    stem: list[Choice] = []
    now = first
    while (step := region[now][1]) is not None:
        stem.insert(0, step[1])
        now = step[0]
    stem = found.path(now) + stem
    cycle = _tour(found, prop, loop, first)
    names = ", ".join(f"{v.name} = {instance.show(v.type, bound[v.name])}" for v in prop.over)
    problem = f"{prop.says}: not so for {names}; " + (
        "the last steps repeat for ever" if cycle else "nothing more need happen"
    )
    return told(instance, stem + cycle, problem, over=prop.over, bound=bound, loops_from=len(stem))


def _tour(found: Exploration, prop: LeadsTo, loop: set[int], first: int) -> list[Choice]:
    """A closed walk through all states of ``loop`` and all fair choices inside it."""
    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_node(first)
    for source in sorted(loop):
        for edge in found.edges[source]:
            if edge.target in loop and edge.choice.action not in prop.without:
                graph.add_edge(source, edge.target, choice=edge.choice)
    fair = {
        (s, e.target, e.choice)
        for s in loop
        for e in found.edges[s]
        if e.target in loop and e.choice.action in (*prop.weak, *prop.strong)
    }
    walk: list[Choice] = []

    def go(source: int, target: int) -> None:
        nodes = nx.shortest_path(graph, source, target)
        walk.extend(graph.edges[a, b]["choice"] for a, b in itertools.pairwise(nodes))

    now = first
    for source, target, choice in sorted(fair, key=lambda f: (f[0], f[1], str(f[2]))):
        go(now, source)
        walk.append(choice)
        now = target
    for state in sorted(loop):
        if state != first:
            go(now, state)
            now = state
    go(now, first)
    return walk
