"""Exhaustive exploration of an instance, breadth first, so that counterexamples are shortest."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Protocol

from schedproof.model.semantics import (
    Choice,
    IllFormed,
    Instance,
    State,
    Step,
    Stepper,
    Undefined,
    bounds_of,
    stepper_of,
)

from .symmetry import Symmetry

Progress = Callable[[int, int, int], None]
"""Called regularly with the numbers of found states and of expanded states, and the depth."""

Halt = Callable[[], str]
"""Called regularly; returns the reason to stop, or the empty string to continue."""

AT_LIMIT = "stopped"
"""The reason for a stop at the limit of states."""

EVERY = 500


@dataclass(frozen=True)
class Edge:
    """An enabled choice of a state, and the number of the state that it leads to."""

    choice: Choice
    target: int


class Runs(Protocol):
    """The part of an exploration from which counterexamples are made."""

    @property
    def instance(self) -> Instance:
        """The explored instance."""

    @property
    def ill_formed(self) -> tuple[int, Choice, str] | None:
        """The first ill-formed step, as (state number, choice, error); None if there is none."""

    def path(self, state: int, /) -> list[Choice]:
        """A run from the initial state to state number ``state``, as choices; an exploration gives a shortest one."""


class ExplorationResult(Runs, Protocol):
    """The result of an exploration by either engine."""

    @property
    def symmetry(self) -> Symmetry | None:
        """The symmetry that was used; None if every state was explored."""

    @property
    def complete(self) -> bool:
        """Whether every reachable state was found."""

    @property
    def stopped(self) -> str:
        """Why the exploration stopped early; empty if every reachable state was found."""

    @property
    def representatives(self) -> int:
        """The number of representatives."""

    @property
    def state_count(self) -> int:
        """The number of reachable states, symmetric ones included."""

    @property
    def transition_count(self) -> int:
        """The number of enabled (state, action, parameters), self-loops included."""

    @property
    def stuck_count(self) -> int:
        """The number of expanded states in which no action is enabled, symmetric ones included."""

    @property
    def frontier_count(self) -> int:
        """The number of representatives with a step that was cut, since it leads beyond the bounds of integers."""

    @property
    def depth(self) -> int:
        """The greatest distance of a state from the initial state."""

    def up_to(self) -> list[int]:
        """The cumulative number of representatives by depth."""

    def per_action(self) -> Counter[str]:
        """The number of transitions of each action, symmetric ones included."""


@dataclass
class Exploration:
    """The result of an interpreted exploration. Lists are indexed by state number, in the order of discovery.

    Attributes:
        parents: the predecessor of each state on a shortest run, and the choice that leads from there.
        cut: by state number, the enabled choices that lead beyond the bounds of integers, which were not explored.
        orbits: the number of states that each representative stands for (1 without symmetry).
        ill_formed: the first ill-formed step, as (state number, choice, error).
        stopped: why the exploration stopped early.
        expanded: the number of states, from the first on, whose edges are known.
    """

    instance: Instance
    symmetry: Symmetry | None
    states: list[State] = field(default_factory=list)
    depths: list[int] = field(default_factory=list)
    parents: list[tuple[int, Choice] | None] = field(default_factory=list)
    edges: list[list[Edge]] = field(default_factory=list)
    cut: dict[int, list[Choice]] = field(default_factory=dict)
    orbits: list[int] = field(default_factory=list)
    ill_formed: tuple[int, Choice, str] | None = None
    stopped: str = ""
    expanded: int = 0

    @property
    def complete(self) -> bool:
        """Whether every reachable state was found."""
        return not self.stopped

    @property
    def state_count(self) -> int:
        """The number of reachable states, symmetric ones included."""
        return sum(self.orbits)

    @property
    def representatives(self) -> int:
        """The number of representatives."""
        return len(self.states)

    @property
    def transition_count(self) -> int:
        """The number of enabled (state, action, parameters), self-loops included."""
        return sum(orbit * len(edges) for orbit, edges in zip(self.orbits, self.edges, strict=True))

    @property
    def stuck_count(self) -> int:
        """The number of expanded states in which no action is enabled, symmetric ones included."""
        return sum(self.orbits[n] for n in range(self.expanded) if not self.edges[n] and n not in self.cut)

    @property
    def frontier_count(self) -> int:
        """The number of representatives with a step that was cut, since it leads beyond the bounds of integers."""
        return len(self.cut)

    def enabled(self, state: int) -> set[Choice]:
        """The enabled choices of a state, also those that were cut."""
        return {edge.choice for edge in self.edges[state]} | set(self.cut.get(state, ()))

    @property
    def depth(self) -> int:
        """The greatest distance of a state from the initial state."""
        return max(self.depths)

    def up_to(self) -> list[int]:
        """The cumulative number of representatives by depth."""
        return [bisect_right(self.depths, depth) for depth in range(self.depth + 1)]

    def per_action(self) -> Counter[str]:
        """The number of transitions of each action, symmetric ones included."""
        totals: Counter[str] = Counter()
        for orbit, edges in zip(self.orbits, self.edges, strict=True):
            for edge in edges:
                totals[edge.choice.action] += orbit
        return totals

    def path(self, state: int) -> list[Choice]:
        """A shortest run from the initial state to state number ``state``, as choices.

        With symmetry, a step may lead to a renaming of the next representative, so the run is reconstructed from real states.
        It then ends in a renaming of the state.
        """
        numbers, choices = [state], []
        while (parent := self.parents[numbers[-1]]) is not None:
            numbers.append(parent[0])
            choices.append(parent[1])
        choices.reverse()
        if self.symmetry is None:
            return choices
        return real(self.symmetry, choices)


def explore(
    instance: Instance,
    *,
    symmetry: bool = True,
    crash: bool = True,
    limit: int | None = None,
    total_limit: int | None = None,
    halt: Halt | None = None,
    progress: Progress | None = None,
    on_step: Callable[[State, int, Step], None] | None = None,
    on_depth: Callable[[Exploration], str] | None = None,
    stepper: Stepper | None = None,
) -> Exploration:
    """Explores all reachable states of ``instance``, within the bounds of its integers.

    Args:
        symmetry: explore interchangeable objects once.
        crash: take crash actions.
        limit: stop after this many representatives.
        total_limit: stop after this many states, symmetric ones included.
        halt: called regularly; stops the exploration if it returns a reason.
        on_step: called for every step with its source state and that state's number.
        on_depth: like ``halt``, but called before each depth is expanded, when all states of that depth are known.
        stepper: takes the steps; by default the instance's own stepper.

    Raises:
        ModelError: an integer has no bound.
    """
    bounds = bounds_of(instance)
    stepper = stepper or stepper_of(instance)
    reducer = Symmetry(instance) if symmetry else None
    if reducer is not None and not reducer.sorts:
        reducer = None
    exploration = Exploration(instance, reducer)
    numbers: dict[State, int] = {}

    total = 0

    def number(state: State, parent: tuple[int, Choice] | None) -> int:
        nonlocal total
        key = reducer.canonical(state) if reducer else state
        known = numbers.get(key)
        if known is None:
            known = numbers[key] = len(exploration.states)
            exploration.states.append(key)
            exploration.depths.append(exploration.depths[parent[0]] + 1 if parent else 0)
            exploration.parents.append(parent)
            exploration.edges.append([])
            exploration.orbits.append(reducer.orbit(key) if reducer else 1)
            total += exploration.orbits[-1]
        return known

    number(instance.initial(), None)
    actions = [a for a in instance.model.actions if crash or not a.crash]
    offers = stepper.offers(actions)
    source = 0
    while source < len(exploration.states):
        if (limit is not None and len(exploration.states) > limit) or (total_limit is not None and total > total_limit):
            exploration.stopped = AT_LIMIT
            break
        if source % EVERY == 0 and progress:
            progress(len(exploration.states), source, exploration.depths[source])
        if halt and (why := halt()):  # the steps of one state may take a tenth of a second
            exploration.stopped = why
            break
        if on_depth is not None and source and exploration.depths[source] > exploration.depths[source - 1]:
            exploration.stopped = on_depth(exploration)
            if exploration.stopped:
                break
        state = exploration.states[source]
        for action, choices in offers(state):
            if isinstance(choices, Undefined):
                if exploration.ill_formed is None:
                    exploration.ill_formed = (source, Choice(actions[action].name), str(choices))
                continue
            for choice in choices:
                try:
                    step = stepper.step(state, choice)
                except (IllFormed, Undefined) as error:
                    if exploration.ill_formed is None:
                        exploration.ill_formed = (source, choice, str(error))
                    continue
                if bounds and not bounds.has(step.after):
                    exploration.cut.setdefault(source, []).append(choice)
                    continue
                if on_step:
                    on_step(state, source, step)
                exploration.edges[source].append(Edge(choice, number(step.after, (source, choice))))
        source += 1
        exploration.expanded = source
    return exploration


def real(symmetry: Symmetry, choices: Sequence[Choice]) -> list[Choice]:
    """A run of real states that corresponds to a run from representative to representative."""
    stepper, run = stepper_of(symmetry.instance), []
    now = symmetry.instance.initial()
    known = symmetry.canonical(now)
    for choice in choices:
        known = symmetry.canonical(stepper.step(known, choice).after)
        alike = proper_steps(stepper, now, choice.action)  # renaming keeps the action
        step = next(s for s in alike if symmetry.canonical(s.after) == known)
        run.append(step.choice)
        now = step.after
    return run


def proper_steps(stepper: Stepper, state: State, action: str) -> Iterator[Step]:
    """The well-formed steps of an action from ``state``."""
    try:
        for choice in stepper.choices(state, stepper.instance.model.action(action)):
            with suppress(IllFormed, Undefined):
                yield stepper.step(state, choice)
    except Undefined:
        return
