"""Life cycles, reachability and leads-to, checked on a complete explored graph.

Each function returns None if the property holds, a counterexample, the text that the property is vacuous, or what is open.

Steps beyond the bounds of integers are missing from the graph. A lasso is a run of the model all the same: the choices that
were cut are enabled, so a fair run does not avoid them for ever. Where no run is found, one may exist beyond the bounds.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

from schedproof.model.lang import AlwaysCanReach, LeadsTo, LifeCycle, Var
from schedproof.model.lang import terms as t
from schedproof.model.semantics import Choice, Instance, Moment, Remembered, bounds_of, compile_term
from schedproof.proofs.verdict import Counterexample

from .explore import Exploration
from .fairness import counted_as
from .lasso import lasso
from .run_facts import words
from .runs import counterexample_of


@dataclass(frozen=True)
class Open:
    """The property is neither refuted nor holds within the bounds of integers.

    Args:
        why: what depends on the states beyond them.
    """

    why: str


Answer = Counterexample | str | Open | None

NEVER = "vacuous: its premise is never true"
ALREADY = "vacuous: wherever its premise is true, its goal is true already"


def life_cycle(instance: Instance, exploration: Exploration, prop: LifeCycle) -> Answer:
    """Checks that some object can go through exactly the given states, by a search over (state, position in the cycle)."""
    names = [s.name for s in instance.model.machine(prop.sort).states]
    life = [names.index(s) for s in prop.states]
    furthest = 0
    for who in range(instance.sizes[prop.sort.name]):
        slot = instance.slot(prop.sort.name) + who
        if exploration.states[0][slot] != life[0]:
            continue
        seen, queue = {(0, 0)}, deque([(0, 0)])
        while queue:
            number, position = queue.popleft()
            furthest = max(furthest, position)
            if position == len(life) - 1:
                return None
            for edge in exploration.edges[number]:
                now = exploration.states[edge.target][slot]
                if now == exploration.states[number][slot]:
                    node = (edge.target, position)
                elif now == life[position + 1]:
                    node = (edge.target, position + 1)
                else:
                    continue
                if node not in seen:
                    seen.add(node)
                    queue.append(node)
    if exploration.frontier_count:
        return not_within(instance, prop)
    return not_that_far(prop, furthest + 1)


GREATER = "try a greater bound"
"""The end of each answer that is open."""


def not_within(instance: Instance, prop: LifeCycle) -> Open:
    """The answer if no object goes through the given states within the bounds of integers."""
    return Open(
        f"within {bounds_of(instance).text} no {words(prop.sort.name)} goes through {' -> '.join(prop.states)}; {GREATER}"
    )


def only_beyond(instance: Instance) -> Open:
    """The answer if some state cannot reach the goal within the bounds of integers, but perhaps beyond them."""
    return Open(f"some state can reach the goal only beyond {bounds_of(instance).text}, if at all; {GREATER}")


def none_arrives(instance: Instance) -> Open:
    """The answer if no fair run avoids the goal, and no run reaches it: all lead beyond the bounds of integers."""
    return Open(f"within {bounds_of(instance).text} no run leads from its premise to its goal; {GREATER}")


def not_that_far(prop: LifeCycle, states: int) -> Counterexample:
    """The counterexample if no object goes through more than the first ``states`` of the given states."""
    reached = " -> ".join(prop.states[:states])
    never = f"no {words(prop.sort.name)} goes through {' -> '.join(prop.states)}"
    at_most = f"the farthest that can happen is {reached}"
    return Counterexample((), f"property {prop.name} is violated: {never}; {at_most}; {NO_RUN}")


NO_RUN = "there is no run to show, and a larger scope may have one that does"
"""The end of the counterexample of a life cycle: that no run has it refutes it, at this scope only."""


def bindings(instance: Instance, over: Sequence[Var]) -> Iterator[dict[str, int]]:
    """All assignments of values to the variables ``over``."""
    if not over:
        yield {}
        return
    for value in instance.domain(over[0].type):
        for rest in bindings(instance, over[1:]):
            yield {over[0].name: value, **rest}


def where(
    instance: Instance, exploration: Exploration, formula: t.Term, over: Sequence[Var], bound: dict[str, int]
) -> set[int]:
    """The numbers of the states in which ``formula`` holds."""
    holds = compile_term(instance, formula, {v.name: v for v in over})
    held = Remembered(lambda state: holds(Moment(state, dict(bound))))
    return {i for i, state in enumerate(exploration.states) if held(state)}


def _predecessors(exploration: Exploration, without: Sequence[str]) -> list[list[int]]:
    back: list[list[int]] = [[] for _ in exploration.states]
    for source, edges in enumerate(exploration.edges):
        for edge in edges:
            if edge.choice.action not in without:
                back[edge.target].append(source)
    return back


def can_reach(goal: Iterable[int], back: Sequence[Sequence[int]]) -> set[int]:
    """The nodes of a graph that can reach ``goal``; ``back`` has the predecessors of each node."""
    reaching = set(goal)
    queue = deque(reaching)
    while queue:
        for source in back[queue.popleft()]:
            if source not in reaching:
                reaching.add(source)
                queue.append(source)
    return reaching


def always_can_reach(instance: Instance, exploration: Exploration, prop: AlwaysCanReach) -> Answer:
    """Checks AG EF by a backward search from the goal."""
    back = _predecessors(exploration, prop.without)
    frontier = {s for s, cut in exploration.cut.items() if any(c.action not in prop.without for c in cut)}
    met = beyond = False
    nearest: tuple[int, dict[str, int]] | None = None
    for bound in bindings(instance, prop.over):
        goal = where(instance, exploration, prop.goal, prop.over, bound)
        reaching = can_reach(goal, back)
        start = (
            where(instance, exploration, prop.given, prop.over, bound)
            if prop.given is not None
            else set(range(len(exploration.states)))
        )
        met = met or bool(start)
        stuck = start - reaching  # numbers follow the distance from the initial state
        if stuck and frontier:
            beyond = True
            stuck -= can_reach(goal | frontier, back)
        if stuck and (nearest is None or min(stuck) < nearest[0]):
            nearest = min(stuck), bound
    if nearest is not None:
        return no_more(instance, exploration.path(nearest[0]), prop, nearest[1])
    if beyond:
        return only_beyond(instance)
    return None if met else NEVER


def no_more(instance: Instance, run: Sequence[Choice], prop: AlwaysCanReach, bound: dict[str, int]) -> Counterexample:
    """The counterexample: a run to a state that cannot reach the goal."""
    names = ", ".join(f"{v.name} = {instance.show(v.type, bound[v.name])}" for v in prop.over)
    problem = f"from this state property {prop.name} can no longer be satisfied{f' for {names}' if names else ''}"
    return counterexample_of(instance, run, problem, over=prop.over, bound=bound)


def leads_to(instance: Instance, exploration: Exploration, prop: LeadsTo) -> Answer:
    """Checks that every fair run from ``given`` reaches ``goal``: no fair loop avoids the goal.

    A run may stay for ever in a state without an enabled fair action, so each state has an implicit self-loop. Fairness
    applies to each choice of an action's parameters separately, whatever free objects it creates.
    """
    met = left = arrives = False
    for bound in bindings(instance, prop.over):
        goal = where(instance, exploration, prop.goal, prop.over, bound)
        given = where(instance, exploration, prop.given, prop.over, bound)
        start = given - goal
        met, left = met or bool(given), left or bool(start)
        region = _avoiding(exploration, start, goal)
        arrives = arrives or any(edge.target in goal for state in region for edge in exploration.edges[state])
        loops = _fair_loops(exploration, set(region), prop)
        if loops:
            # Choose the nearest loop: the order of components is arbitrary.
            first = min(set().union(*loops), key=lambda s: (region[s][0], s))
            loop = next(part for part in loops if first in part)
            return lasso(instance, exploration, prop, bound, _run(exploration, region, first), loop, first)
    return none_arrives(instance) if left and not arrives and exploration.cut else vacuous(met, left)


def vacuous(met: bool, left: bool) -> str | None:
    """Why a LeadsTo is vacuous; ``met`` and ``left``: its premise is true somewhere, and somewhere without its goal."""
    return None if left else ALREADY if met else NEVER


Avoiding = Mapping[int, tuple[int, tuple[int, Choice] | None]]
"""By state number, the length and the last step of a shortest run that passes a start state and no goal afterwards.

The step is None for a start state."""


def _avoiding(exploration: Exploration, start: set[int], goal: set[int]) -> Avoiding:
    region: dict[int, tuple[int, tuple[int, Choice] | None]] = {s: (exploration.depths[s], None) for s in start}
    queue = [(exploration.depths[s], s) for s in start]
    heapq.heapify(queue)
    while queue:
        length, source = heapq.heappop(queue)
        if length > region[source][0]:
            continue
        for edge in exploration.edges[source]:
            known = region.get(edge.target)
            if edge.target not in goal and (known is None or known[0] > length + 1):
                region[edge.target] = (length + 1, (source, edge.choice))
                heapq.heappush(queue, (length + 1, edge.target))
    return region


def _run(exploration: Exploration, region: Avoiding, state: int) -> list[Choice]:
    """The run to a state of the region."""
    run: list[Choice] = []
    while (step := region[state][1]) is not None:
        run.insert(0, step[1])
        state = step[0]
    return exploration.path(state) + run


def _fair_loops(exploration: Exploration, region: set[int], prop: LeadsTo) -> list[set[int]]:
    """The strongly connected components of ``region`` in which a fair run can stay."""
    targets = {
        source: [
            e.target for e in exploration.edges[source] if e.target in region and e.choice.action not in prop.without
        ]
        for source in region
    }
    work = components(targets, region)
    fair = []
    counted = counted_as(exploration.instance.model, prop) or _itself
    while work:
        part = work.pop()
        used = {
            counted(e.choice)
            for s in part
            for e in exploration.edges[s]
            if e.target in part and e.choice.action not in prop.without
        }
        enabled = [{counted(c) for c in exploration.enabled(s)} for s in part]
        always = set.intersection(*enabled)
        if any(c.action in prop.weak and c not in used for c in always):
            continue
        missed = {c for choices in enabled for c in choices if c.action in prop.strong and c not in used}
        if not missed:
            fair.append(part)
            continue
        rest = {s for s, choices in zip(part, enabled, strict=True) if missed.isdisjoint(choices)}
        work += components(targets, rest)
    return fair


def _itself(choice: Choice) -> Choice:
    return choice


def components(targets: Mapping[int, Sequence[int]], nodes: Set[int]) -> list[set[int]]:
    """The strongly connected components of the subgraph of ``nodes``, by Tarjan's algorithm."""
    parts: list[set[int]] = []
    numbers: dict[int, int] = {}
    lowest: dict[int, int] = {}
    open_nodes: list[int] = []  # nodes of incomplete components
    done: set[int] = set()
    for start in nodes:
        if start in numbers:
            continue
        path: list[tuple[int, Iterator[int]]] = []
        entered: int | None = start
        while True:
            if entered is not None:
                numbers[entered] = lowest[entered] = len(numbers)
                open_nodes.append(entered)
                path.append((entered, iter(targets[entered])))
            node, rest = path[-1]
            entered = None
            for target in rest:
                if target not in nodes or target in done:
                    continue
                if target not in numbers:
                    entered = target
                    break
                lowest[node] = min(lowest[node], numbers[target])
            if entered is not None:
                continue
            path.pop()
            if lowest[node] == numbers[node]:
                at = open_nodes.index(node)
                part = set(open_nodes[at:])
                del open_nodes[at:]
                done |= part
                parts.append(part)
            if not path:
                break
            lowest[path[-1][0]] = min(lowest[path[-1][0]], lowest[node])
    return parts
