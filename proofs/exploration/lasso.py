"""Lassos: a fair run that never reaches the goal, as a stem and a loop."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Container, Iterable, Sequence
from typing import Protocol

from schedproof.model.lang import LeadsTo
from schedproof.model.semantics import Choice, Instance
from schedproof.proofs.verdict import Counterexample

from .explore import Edge
from .fairness import counted_as
from .runs import counterexample_of


class Graph(Protocol):
    """The explored graph, interpreted or compiled."""

    @property
    def edges(self) -> Edges:
        """The choices of each state that were explored."""

    def enabled(self, state: int, /) -> set[Choice]:
        """The enabled choices of a state, also those that lead beyond the bounds of integers."""


class Edges(Protocol):
    """Edges by the number of their source state."""

    def __getitem__(self, state: int, /) -> Sequence[Edge]: ...


def lasso(
    instance: Instance,
    graph: Graph,
    prop: LeadsTo,
    bound: dict[str, int],
    stem: list[Choice],
    loop: Container[int],
    first: int,
) -> Counterexample:
    """The counterexample: the run ``stem`` to state ``first`` of ``loop``, in which a fair run can stay."""
    cycle = _Tour(graph, prop, loop, first, counted_as(instance.model, prop)).closed()
    names = ", ".join(f"{v.name} = {instance.show(v.type, bound[v.name])}" for v in prop.over)
    problem = f"property {prop.name} is violated{f' for {names}' if names else ''}: " + (
        "the last steps repeat for ever, and what is required never happens"
        if cycle
        else "the run may stay in the final state for ever, because no action that is taken fairly is enabled"
    )
    return counterexample_of(instance, stem + cycle, problem, over=prop.over, bound=bound, loops_from=len(stem))


class _Tour:
    """A closed walk inside a loop that is fair when repeated for ever; each part is a shortest walk.

    It takes every choice of a strongly fair action that is enabled in one of its states. It takes every choice of a weakly
    fair action, or visits a state in which that choice is disabled.
    """

    def __init__(
        self, graph: Graph, prop: LeadsTo, loop: Container[int], first: int, counted: Callable[[Choice], Choice] | None
    ) -> None:
        self._counted = counted
        self._graph, self._prop, self._loop, self._first = graph, prop, loop, first
        self._now = first
        self._enabled = {first: self._choices(first)}
        """By each visited state, its enabled choices."""
        self._walk: list[Choice] = []

    def closed(self) -> list[Choice]:
        """The choices of the walk; empty if staying in the state is fair."""
        while True:
            walked = self._as_counted(self._walk)
            always, sometimes = set.intersection(*self._enabled.values()), set.union(*self._enabled.values())
            weak = frozenset(c for c in always - walked if c.action in self._prop.weak)
            owed = weak | {c for c in sometimes - walked if c.action in self._prop.strong}
            if owed:
                self._go(self._serves(owed, weak))
            elif self._now != self._first:
                self._go(lambda edge: edge.target == self._first)
            else:
                return self._walk

    def _serves(self, owed: frozenset[Choice], weak: frozenset[Choice]) -> Callable[[Edge], bool]:
        """A test of edges: takes an owed choice, or leads to a state in which a weakly owed one is disabled."""
        return lambda edge: (
            not owed.isdisjoint(self._as_counted([edge.choice])) or not weak <= self._choices(edge.target)
        )

    def _choices(self, state: int) -> set[Choice]:
        return self._as_counted(self._graph.enabled(state))

    def _as_counted(self, choices: Iterable[Choice]) -> set[Choice]:
        return set(choices if self._counted is None else map(self._counted, choices))

    def _go(self, is_goal: Callable[[Edge], bool]) -> None:
        """Takes a shortest walk whose last edge satisfies ``is_goal``."""
        whence: dict[int, tuple[int, Choice] | None] = {self._now: None}
        queue = deque([self._now])
        while queue:
            source = queue.popleft()
            for edge in self._graph.edges[source]:
                if edge.target not in self._loop or edge.choice.action in self._prop.without:
                    continue
                if is_goal(edge):
                    steps, at = [(edge.target, edge.choice)], source
                    while (step := whence[at]) is not None:
                        steps.append((at, step[1]))
                        at = step[0]
                    self._walk += [choice for _, choice in reversed(steps)]
                    self._enabled |= {state: self._choices(state) for state, _ in steps}
                    self._now = edge.target
                    return
                if edge.target not in whence:
                    whence[edge.target] = source, edge.choice
                    queue.append(edge.target)
        raise AssertionError("a fair loop is strongly connected, and takes or disables what is owed")
