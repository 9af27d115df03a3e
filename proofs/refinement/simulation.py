"""Checks that each move of an implementation is a short sequence of model steps, which a search finds.

The model can do more than the implementation, so this does not compare their graphs as :mod:`.graph` does.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Generic, Protocol, TypeVar

from schedproof.model.lang import Machine, Type
from schedproof.model.semantics import Choice, Instance, State, Stepper

from .mismatch import Broken, Mismatch, Stopped
from .property import Progress

At = TypeVar("At")
"""A state of the implementation."""

Act = TypeVar("Act")
"""Something that the implementation, or its environment, can do in one of its states."""

BEYOND = -1
"""The number that stands for all states outside of the explored part."""

Came = dict[State, tuple[State, Choice] | None]


class Steps(Protocol):
    """The model steps that a move may be: at most ``most`` steps of these actions."""

    @property
    def actions(self) -> tuple[str, ...]:
        """The names of the actions."""

    @property
    def most(self) -> int:
        """The largest number of steps."""


@dataclass(frozen=True)
class Move:
    """At most ``most`` steps of these actions of the model."""

    actions: tuple[str, ...] = ()
    most: int = 1


NOTHING = Move((), 0)


@dataclass(frozen=True)
class Meaning:
    """The model states that a state of the implementation may stand for.

    ``fits`` has the values that fit, by slot. A slot that is missing may have any value.
    """

    fits: Mapping[int, frozenset[int]]

    def of(self, image: State) -> bool:
        """Whether the state of the implementation may stand for ``image``."""
        for slot, values in self.fits.items():  # noqa: SIM110 - a generator costs more
            if image[slot] not in values:
                return False
        return True

    def wrong(self, image: State) -> list[int]:
        """The slots in which ``image`` does not fit."""
        return [slot for slot, values in self.fits.items() if image[slot] not in values]


class ModelSteps:
    """Steps of the model, computed once each.

    Args:
        normal: maps a state to a representative of all states that differ only in irrelevant values.
    """

    def __init__(self, instance: Instance, normal: Callable[[State], State] = lambda state: state) -> None:
        self.instance, self._normal = instance, normal
        self._stepper = Stepper(instance)
        self._known: dict[tuple[State, str], list[tuple[Choice, State]]] = {}
        self._reached: dict[tuple[State, tuple[str, ...], int], Came] = {}
        self.action_counts: Counter[str] = Counter()
        self.counted: set[tuple[State, Choice]] = set()

    def initial(self) -> State:
        """The initial state of the model."""
        return self._normal(self.instance.initial())

    def ways(self, image: State, move: Steps, meaning: Meaning) -> list[State]:
        """The states after the move that fit ``meaning``."""
        came = self.reached(image, move)
        matching = [state for state in came if meaning.of(state)]
        for state in matching:
            self._count(state, came)
        return matching

    def reached(self, image: State, move: Steps) -> Came:
        """All states after the move, each with the step by which the search found it."""
        key = image, move.actions, move.most
        came = self._reached.get(key)
        if came is None:
            came = self._reached[key] = {image: None}
            layer = [image]
            for _ in range(move.most):
                layer = [after for state in layer for after in self._after(state, move.actions, came)]
        return came

    def _after(self, state: State, actions: tuple[str, ...], came: Came) -> list[State]:
        states = []
        for action in actions:
            for choice, after in self.of(state, action):
                if after not in came:
                    came[after] = (state, choice)
                    states.append(after)
        return states

    def of(self, state: State, action: str) -> list[tuple[Choice, State]]:
        """The steps of an action from a state."""
        if (state, action) not in self._known:
            steps = self._stepper.steps(state, [self.instance.model.action(action)])
            self._known[state, action] = [(step.choice, self._normal(step.after)) for step in steps]
        return self._known[state, action]

    def _count(self, state: State, came: Came) -> None:
        while (step := came[state]) is not None:
            state, choice = step
            if (state, choice) not in self.counted:
                self.counted.add((state, choice))
                self.action_counts[choice.action] += 1


@dataclass(frozen=True)
class Node(Generic[At]):
    """A state of the implementation with its images, and the act that first reached it.

    There are several images if the model may or may not have taken a step.
    """

    at: At
    images: frozenset[State]
    by: str
    before: int


class Simulation(ABC, Generic[At, Act]):
    """The implementation, explored breadth first; run :meth:`explore` once. A subclass defines the implementation.

    Attributes:
        edges: the moves: from, to, and the model action that stands for the act (:meth:`doer`).
        beyond: the number of moves to states outside of the explored part. The exploration does not continue from
            these.
        crashes: the number of crashes.
    """

    differs_at_start = "the two do not begin where the model does"
    fails = "it fails"

    def __init__(self, steps: ModelSteps, progress: Progress | None = None) -> None:
        self.steps = steps
        self._progress = progress
        self.nodes: list[Node[At]] = []
        self.edges: list[tuple[int, int, str]] = []
        self.beyond = self.crashes = 0
        self._numbers: dict[Hashable, int] = {}
        self._todo: deque[int] = deque()

    # A subclass defines the implementation by these methods.

    @abstractmethod
    def begin(self) -> tuple[At, Steps]:
        """The implementation's initial state, and the model steps that lead to it from the model's initial state."""

    @abstractmethod
    def put(self, at: At) -> None:
        """Puts the implementation into a state."""

    @abstractmethod
    def acts(self, at: At) -> Iterable[Act]:
        """All that can happen in the implementation's current state."""

    @abstractmethod
    def do(self, act: Act) -> None:
        """Executes an act. A bug may raise any exception."""

    @abstractmethod
    def take(self, before: At, act: Act) -> At | None:
        """The state of the implementation after an act; None if the act changed nothing."""

    @abstractmethod
    def description(self, act: Act) -> str:
        """The last act in words."""

    @abstractmethod
    def move(self, at: At, act: Act, after: At) -> Steps:
        """The model steps that the act may be.

        Raises:
            Broken: the model has no steps for the act.
        """

    @abstractmethod
    def meanings(self, at: At, before: Iterable[State]) -> Mapping[State, Meaning]:
        """The meaning of a state, by the image of the state before.

        Raises:
            Broken: the state has no meaning in the model.
        """

    @abstractmethod
    def key(self, at: At) -> Hashable:
        """A key that is equal for states with the same future."""

    @abstractmethod
    def is_crash(self, act: Act) -> bool:
        """Whether the act is a crash of a process."""

    @abstractmethod
    def is_beyond(self, at: At, before: Iterable[State]) -> bool:
        """Whether the state has objects that the model's instance lacks; ``before`` are the images before the act."""

    def doer(self, act: Act) -> str:
        """The model action that a property lists in ``without`` to exclude such acts; "" if none does."""
        return ""

    def restrict(self, at: At, act: Act, after: At, images: frozenset[State]) -> frozenset[State]:
        """The images that also allow the act's other effects.

        Raises:
            Broken: none of them does.
        """
        return images

    def name(self, sort: str, number: int) -> str:
        """The name of a model object in mismatches."""
        return self.steps.instance.object_names(sort)[number]

    @property
    def moves(self) -> int:
        """The number of explored moves."""
        return len(self.edges)

    # The exploration.

    def explore(self) -> None:
        """Explores every act in every state.

        Raises:
            Stopped: at the first mismatch.
        """
        start, move = self.begin()
        initial = self.steps.initial()
        meanings = self.meanings(start, [initial])
        images = self.steps.ways(initial, move, meanings[initial])
        if not images:
            raise Stopped(Mismatch(self.differs_at_start, [], *self._nearest(meanings, move)))
        self._node(start, frozenset(images), str, -1)
        while self._todo:
            number = self._todo.popleft()
            self._expand(number)
            if self._progress and number % 500 == 0:
                self._progress(len(self.nodes), len(self.edges))

    def _expand(self, number: int) -> None:
        node = self.nodes[number]
        self.put(node.at)
        for act in list(self.acts(node.at)):
            self.put(node.at)
            try:
                self._try(number, node, act)
            except Broken as error:
                way = [*self.path(number), self.description(act)]
                raise Stopped(Mismatch(error.reason, way, error.expected, error.actual)) from error

    def _try(self, number: int, node: Node[At], act: Act) -> None:
        try:
            self.do(act)
        except Exception as error:  # a bug may raise any exception
            raise Broken(f"{self.fails}: {type(error).__name__}: {error}") from error
        at = self.take(node.at, act)
        if at is None:
            return
        self.crashes += self.is_crash(act)
        if self.is_beyond(at, node.images):
            self.beyond += 1
            self.edges.append((number, BEYOND, self.doer(act)))
            return
        move, meanings = self.move(node.at, act, at), self.meanings(at, node.images)
        images = frozenset(to for image, meaning in meanings.items() for to in self.steps.ways(image, move, meaning))
        if not images:
            expected, actual = self._nearest(meanings, move)
            raise Broken("no steps of the model lead there", expected=expected, actual=actual)
        images = self.restrict(node.at, act, at, images)
        self.edges.append((number, self._node(at, images, lambda: self.description(act), number), self.doer(act)))

    def _node(self, at: At, images: frozenset[State], by: Callable[[], str], before: int) -> int:
        new = len(self.nodes)
        number = self._numbers.setdefault((self.key(at), images), new)  # a key is large: it is hashed once
        if number == new:
            self.nodes.append(Node(at, images, by(), before))
            self._todo.append(number)
        return number

    def path(self, number: int) -> list[str]:
        """A shortest path to a state, act by act."""
        words: list[str] = []
        while number > 0:
            words.append(self.nodes[number].by)
            number = self.nodes[number].before
        return words[::-1]

    # The text of a mismatch.

    def _nearest(self, meanings: Mapping[State, Meaning], move: Steps) -> tuple[str, str]:
        """The slots that differ in the best-fitting state after the move: their values in model and implementation."""
        ends = [(meaning, state) for image, meaning in meanings.items() for state in self.steps.reached(image, move)]
        # Of the states that fit best, take the one after the most steps: it shows best what is wrong.
        meaning, nearest = min(reversed(ends), key=lambda end: len(end[0].wrong(end[1])))
        expected, actual = [], []
        for slot in meaning.wrong(nearest):
            what, show = self._slot(slot)
            expected.append(f"{what} {show(nearest[slot])}")
            actual.append(f"{what} {' or '.join(show(value) for value in sorted(meaning.fits[slot]))}")
        return "; ".join(expected), "; ".join(actual)

    def _slot(self, slot: int) -> tuple[str, Callable[[int], str]]:
        """The name of the object or field in a slot, and a function that shows its values."""
        instance = self.steps.instance
        for machine in instance.model.machines:
            sort = machine.sort.name
            types = {a.name: a.type for a in instance.attributes(sort)}
            for name in [*([""] if machine.states else []), *types]:
                number = slot - instance.slot(sort, name)
                if 0 <= number < instance.sizes[sort]:
                    whose = self.name(sort, number)
                    if name:
                        return f"{whose}.{name}", partial(_shown, instance, types[name])
                    return whose, partial(_state, machine)
        raise AssertionError(f"{slot} is no slot")


def _state(machine: Machine, value: int) -> str:
    return machine.states[value].name


def _shown(instance: Instance, kind: Type, value: int) -> str:
    return str(instance.show(kind, value))


@dataclass(frozen=True)
class SimulationReport:
    """Whether every move was a sequence of model steps, and how much was explored.

    Attributes:
        states, moves: of the implementation.
        crash_points, beyond: as ``crashes`` and ``beyond`` of :class:`Simulation`.
        images, steps: the model states and model steps that the implementation uses.
        action_counts: the number of these steps, by action.
        words: the nouns for the implementation, its moves, its crashes, and the states outside of the explored part.
    """

    about: str
    mismatch: Mismatch | None
    states: int
    moves: int
    crash_points: int
    beyond: int
    images: int
    steps: int
    action_counts: Mapping[str, int]
    seconds: float
    words: Words

    @property
    def ok(self) -> bool:
        """Whether the model can do all that the implementation does."""
        return self.mismatch is None

    @property
    def text(self) -> str:
        """The report as several lines of text."""
        words = self.words
        lines = [
            f"{words.who} {'do what their model does' if self.ok else 'DIFFER from their model'}: {self.about}",
            f"{words.who}: {self.states} states, {self.moves} {words.moves}, {self.crash_points} {words.deaths}, "
            f"{self.beyond} {words.beyond}",
            f"model: {self.images} states and {self.steps} steps come by ({self.seconds:.1f} s)",
        ]
        return "\n".join([*lines, *([self.mismatch.text] if self.mismatch else [])])


@dataclass(frozen=True)
class Words:
    """The plural nouns of a report."""

    who: str
    moves: str
    deaths: str
    beyond: str


S = TypeVar("S", bound=Simulation)  # type: ignore[type-arg]


def simulate(
    about: str, words: Words, begin: Callable[[], S], also: Callable[[S], Mismatch | None] = lambda simulation: None
) -> SimulationReport:
    """Explores an implementation, and searches for the model steps of each move.

    Args:
        about: the configuration, in words.
        words: the nouns of the report.
        begin: makes the simulation. The reported time includes it.
        also: checks a complete exploration further.
    """
    started = time.perf_counter()
    simulation = begin()
    try:
        simulation.explore()
        mismatch = also(simulation)
    except Stopped as stopped:
        mismatch = stopped.mismatch
    return SimulationReport(
        about=about,
        mismatch=mismatch,
        states=len(simulation.nodes),
        moves=simulation.moves,
        crash_points=simulation.crashes,
        beyond=simulation.beyond,
        images=len({image for node in simulation.nodes for image in node.images}),
        steps=len(simulation.steps.counted),
        action_counts=dict(simulation.steps.action_counts),
        seconds=time.perf_counter() - started,
        words=words,
    )
