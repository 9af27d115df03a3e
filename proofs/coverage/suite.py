"""Test suites: walks over all configurations of a scope, and the goals that they cover.

For goals of the machines, one configuration suffices to cover a goal. The smallest configurations come first, and once every
goal is covered the others are not explored. Walks are greedy (see ``walk.py``); ``farthest`` is a lower bound on the steps.

For goals of the graph, every step from every reachable state of each configuration is a goal. Without a limit of length such a
suite has least cost (see ``postman.py``); with one it is greedy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from schedproof.model.lang import Model
from schedproof.model.semantics import Instance, instances
from schedproof.proofs.exploration.explore import Progress

from .goals import Cover, Goal, Key, goals_of
from .graph import Edge, Graph, explored
from .postman import every_edge
from .search import At, ByStep, search_for
from .walk import Walk, steps_of, trimmed, walks


@dataclass(frozen=True)
class Configuration:
    """The size of one explored configuration."""

    instance: Instance
    states: int
    edges: int
    complete: bool
    within: str = ""


@dataclass(frozen=True)
class Suite:
    """Test sequences, and the goals that they cover; a goal's number is its index in ``goals``.

    Args:
        of_graph: the goals are the steps of the graph, which have numbers but no names.
        longest: the greatest number of steps of a sequence; None for no limit.
        goal_count: the number of goals.
        configurations: the explored configurations.
        skipped: the number of configurations that were not explored, because every goal was covered.
        walks: each with the number of its configuration.
        distances: for each reachable goal, the least number of steps.
        rows: the rows of the tables that some explored step takes.
    """

    model: Model
    cover: Cover
    of_graph: bool
    longest: int | None
    goals: Sequence[Goal]
    goal_count: int
    configurations: Sequence[Configuration]
    skipped: int
    walks: Sequence[tuple[int, Walk]]
    distances: Mapping[int, int]
    rows: frozenset[Key] = field(repr=False)

    @property
    def complete(self) -> bool:
        """Whether every reachable state of each explored configuration is known, with its steps within the bounds of integers."""
        return all(configuration.complete for configuration in self.configurations)

    @property
    def within(self) -> str:
        """The bounds of integers within which all of this holds, in words; "" if none cut a step."""
        return next((configuration.within for configuration in self.configurations if configuration.within), "")

    @property
    def reached(self) -> dict[int, tuple[int, int]]:
        """For each covered goal, the first walk that covers it, and the number of steps after which it does."""
        first_covers: dict[int, tuple[int, int]] = {}
        for number, (_, walk) in enumerate(self.walks):
            for goal, after in walk.first.items():
                first_covers.setdefault(goal, (number, after))
        return first_covers

    @property
    def steps(self) -> int:
        """The number of steps of all walks together."""
        return steps_of([walk for _, walk in self.walks])

    @property
    def farthest(self) -> int:
        """A lower bound on the steps of any suite that covers the same goals."""
        return max((self.distances[goal] for goal in self.reached), default=0)

    @property
    def is_shortest(self) -> bool:
        """Whether the suite is known to have the least cost or the fewest steps."""
        return (self.of_graph and self.longest is None) or self.steps == self.farthest


def generate(
    model: Model,
    sizes: Mapping[str, int],
    cover: Cover,
    *,
    of_graph: bool = False,
    longest: int | None = None,
    limit: int | None = None,
    progress: Progress | None = None,
    doing: Callable[[str], None] = lambda what: None,
) -> Suite:
    """A suite for ``model`` at a scope.

    Args:
        sizes: the numbers of objects; a configuration may have fewer.
        of_graph: cover every step of the graph instead of the machines' rows; requires ``cover`` TRANSITIONS.
        longest: the greatest number of steps of a sequence; None for no limit.
        limit: explore at most this many states of each configuration.
        progress: called during explorations.
        doing: called with a line on other work.

    Raises:
        ValueError: ``of_graph`` with another ``cover``.
        ScopeError: an impossible scope.
        ModelError: an integer has no bound.
    """
    if of_graph and cover is not Cover.TRANSITIONS:
        raise ValueError("of the graph, transitions are covered")
    all_of_them = sorted(instances(model, sizes), key=lambda one: sum(one.sizes.values()))
    making = _Making(model, cover, longest, of_graph)
    for instance in all_of_them:
        if making.done:
            break
        graph = explored(instance, limit, progress)
        doing("choosing sequences")
        making.add(graph)
    return making.suite(len(all_of_them))


class _Making:
    """A suite under construction."""

    def __init__(self, model: Model, cover: Cover, longest: int | None, of_graph: bool) -> None:
        self.model, self.cover, self.longest, self.of_graph = model, cover, longest, of_graph
        self.goals = [] if of_graph else goals_of(model, cover)
        self.goal_count = len(self.goals)
        self.left = set(range(self.goal_count))
        self.configurations: list[Configuration] = []
        self.made: list[tuple[int, Walk]] = []
        self.distances: dict[int, int] = {}
        self.rows: set[Key] = set()

    @property
    def done(self) -> bool:
        return not self.of_graph and not self.left

    def add(self, graph: Graph) -> None:
        number = len(self.configurations)
        self.configurations.append(
            Configuration(graph.instance, len(graph.states), graph.edge_count, graph.complete, graph.within)
        )
        self.rows |= {row for edges in graph.edges for edge in edges for row in edge.rows.values()}
        new_walks = self._graph(graph) if self.of_graph else self._machines(graph)
        self.made += [(number, walk) for walk in new_walks]

    def _machines(self, graph: Graph) -> list[Walk]:
        search = search_for(graph, self.cover, self.goals)
        for goal, steps in search.distances().items():
            self.distances[goal] = min(steps, self.distances.get(goal, steps))
        new_walks = walks(search, self.left, self.longest)
        self.left -= {goal for walk in new_walks for goal in walk.first}
        return new_walks

    def _graph(self, graph: Graph) -> list[Walk]:
        base = self.goal_count
        self.goal_count += graph.edge_count
        starts = [base]
        for edges in graph.edges:
            starts.append(starts[-1] + len(edges))

        def label(edge: Edge, at: At) -> Sequence[int]:
            return (starts[at[0]] + at[1],)

        search = ByStep(graph, frozenset(), label)
        self.distances |= search.distances()
        if self.longest is not None:
            goals = set(range(base, self.goal_count))
            return trimmed(walks(search, goals, self.longest), goals)
        return [
            replace(walk, first={base + goal: after for goal, after in walk.first.items()})
            for walk in every_edge(graph)
        ]

    def suite(self, configurations: int) -> Suite:
        kept = self.made
        if not self.of_graph:
            cut = trimmed([walk for _, walk in self.made], set(range(self.goal_count)))
            # Trimming changes walks, but not the instance, which identifies the configuration.
            number = {id(configuration.instance): n for n, configuration in enumerate(self.configurations)}
            kept = [(number[id(walk.instance)], walk) for walk in cut]
        return Suite(
            self.model,
            self.cover,
            self.of_graph,
            self.longest,
            self.goals,
            self.goal_count,
            self.configurations,
            configurations - len(self.configurations),
            kept,
            self.distances,
            frozenset(self.rows),
        )
