"""Exhaustive exploration of an instance: breadth first, so that counterexamples are shortest."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Protocol

from schedproof.model.semantics import Choice, IllFormed, Instance, State, Step, Stepper, Undefined, stepper_of

from .symmetry import Symmetry

Progress = Callable[[int, int, int], None]
"""Called with (states found, states expanded, depth) every so often."""

Halt = Callable[[], str]
"""Asked every so often whether to stop: why, or the empty string to go on."""

AT_LIMIT = "stopped"
"""Why it stops if there are more states than were asked for."""

EVERY = 500


@dataclass(frozen=True)
class Edge:
    """An enabled choice of a state, and the number of the state that it leads to."""

    choice: Choice
    target: int


class Runs(Protocol):
    """What a counterexample is told from."""

    @property
    def instance(self) -> Instance:
        """What was explored."""

    @property
    def ill_formed(self) -> tuple[int, Choice, str] | None:
        """The first step that the model must not allow, as (state number, choice, what is wrong)."""

    def path(self, state: int, /) -> list[Choice]:
        """A run from the initial state to state number ``state``, as choices; of an exploration it is a shortest one."""


class Found(Runs, Protocol):
    """What an exploration says, whichever way it went."""

    @property
    def symmetry(self) -> Symmetry | None:
        """What was explored once; None: every state for itself."""

    @property
    def complete(self) -> bool:
        """Every reachable state was found."""

    @property
    def stopped(self) -> str:
        """Why it went no further; empty if every reachable state was found."""

    @property
    def representatives(self) -> int:
        """How many states stand for all."""

    @property
    def state_count(self) -> int:
        """The number of reachable states, symmetric ones included."""

    @property
    def transition_count(self) -> int:
        """The number of (state, action, parameters) that are enabled, self-loops included."""

    @property
    def stuck_count(self) -> int:
        """The number of states, of those that were expanded, in which nothing can happen: no action is enabled."""

    @property
    def depth(self) -> int:
        """The greatest distance from the initial state."""

    def up_to(self) -> list[int]:
        """By depth, the number of representatives up to there."""

    def per_action(self) -> Counter[str]:
        """The number of transitions of each action."""


@dataclass
class Exploration:
    """What was found. Lists are indexed by state number, in the order of discovery.

    ``orbits`` says how many states each one stands for (1 without symmetry). ``ill_formed`` is the
    first step that the model must not allow, as (state number, choice, what is wrong).
    ``stopped`` says why it went no further; the first ``expanded`` states have their edges.
    """

    instance: Instance
    symmetry: Symmetry | None
    states: list[State] = field(default_factory=list)
    depths: list[int] = field(default_factory=list)
    parents: list[tuple[int, Choice] | None] = field(default_factory=list)
    edges: list[list[Edge]] = field(default_factory=list)
    orbits: list[int] = field(default_factory=list)
    ill_formed: tuple[int, Choice, str] | None = None
    stopped: str = ""
    expanded: int = 0

    @property
    def complete(self) -> bool:
        """Every reachable state was found."""
        return not self.stopped

    @property
    def state_count(self) -> int:
        """The number of reachable states, symmetric ones included."""
        return sum(self.orbits)

    @property
    def representatives(self) -> int:
        """How many states stand for all."""
        return len(self.states)

    @property
    def transition_count(self) -> int:
        """The number of (state, action, parameters) that are enabled, self-loops included."""
        return sum(orbit * len(edges) for orbit, edges in zip(self.orbits, self.edges, strict=True))

    @property
    def stuck_count(self) -> int:
        """The number of expanded states in which nothing can happen, symmetric ones included."""
        return sum(self.orbits[n] for n in range(self.expanded) if not self.edges[n])

    @property
    def depth(self) -> int:
        """The greatest distance from the initial state."""
        return max(self.depths)

    def up_to(self) -> list[int]:
        """By depth, the number of representatives up to there."""
        return [bisect_right(self.depths, depth) for depth in range(self.depth + 1)]

    def per_action(self) -> Counter[str]:
        """The number of transitions of each action."""
        found: Counter[str] = Counter()
        for orbit, edges in zip(self.orbits, self.edges, strict=True):
            for edge in edges:
                found[edge.choice.action] += orbit
        return found

    def path(self, state: int) -> list[Choice]:
        """A shortest run from the initial state to state number ``state``, as choices.

        With symmetry the representatives of a run are renamings of each other; the run is
        found again among the real states.
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
    """All reachable states of ``instance``.

    Args:
        symmetry: explore interchangeable objects once.
        crash: take crash actions.
        limit: stop after this many states.
        total_limit: the same, symmetric ones included.
        halt: asked every so often.
        on_step: called for every step with its source state and that state's number.
        on_depth: asked at the end of each depth whether to stop, like ``halt``; what was found has all states of the next one.
        stepper: what takes the steps, if not the instance's own one.
    """
    stepper = stepper or stepper_of(instance)
    reducer = Symmetry(instance) if symmetry else None
    if reducer is not None and not reducer.sorts:
        reducer = None
    found = Exploration(instance, reducer)
    numbers: dict[State, int] = {}

    total = 0

    def number(state: State, parent: tuple[int, Choice] | None) -> int:
        nonlocal total
        key = reducer.canonical(state) if reducer else state
        known = numbers.get(key)
        if known is None:
            known = numbers[key] = len(found.states)
            found.states.append(key)
            found.depths.append(found.depths[parent[0]] + 1 if parent else 0)
            found.parents.append(parent)
            found.edges.append([])
            found.orbits.append(reducer.orbit(key) if reducer else 1)
            total += found.orbits[-1]
        return known

    number(instance.initial(), None)
    actions = [a for a in instance.model.actions if crash or not a.crash]
    offers = stepper.offers(actions)
    source = 0
    while source < len(found.states):
        if (limit is not None and len(found.states) > limit) or (total_limit is not None and total > total_limit):
            found.stopped = AT_LIMIT
            break
        if source % EVERY == 0:
            if progress:
                progress(len(found.states), source, found.depths[source])
            found.stopped = halt() if halt else ""
            if found.stopped:
                break
        if on_depth is not None and source and found.depths[source] > found.depths[source - 1]:
            found.stopped = on_depth(found)
            if found.stopped:
                break
        state = found.states[source]
        for action, choices in offers(state):
            if isinstance(choices, Undefined):
                if found.ill_formed is None:
                    found.ill_formed = (source, Choice(actions[action].name), str(choices))
                continue
            for choice in choices:
                try:
                    step = stepper.step(state, choice)
                except (IllFormed, Undefined) as error:
                    if found.ill_formed is None:
                        found.ill_formed = (source, choice, str(error))
                    continue
                if on_step:
                    on_step(state, source, step)
                found.edges[source].append(Edge(choice, number(step.after, (source, choice))))
        source += 1
        found.expanded = source
    return found


def real(symmetry: Symmetry, choices: Sequence[Choice]) -> list[Choice]:
    """A run of real states, of one from representative to representative."""
    stepper, run = stepper_of(symmetry.instance), []
    now = symmetry.instance.initial()
    known = symmetry.canonical(now)
    for choice in choices:
        known = symmetry.canonical(stepper.step(known, choice).after)
        alike = proper_steps(stepper, now, choice.action)  # a renamed choice is of the same action
        step = next(s for s in alike if symmetry.canonical(s.after) == known)
        run.append(step.choice)
        now = step.after
    return run


def proper_steps(stepper: Stepper, state: State, action: str) -> Iterator[Step]:
    """The steps of an action from ``state`` that the model allows, without the ill-formed ones."""
    try:
        for choice in stepper.choices(state, stepper.instance.model.action(action)):
            with suppress(IllFormed, Undefined):
                yield stepper.step(state, choice)
    except Undefined:
        return
