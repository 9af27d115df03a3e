"""Whether each move of an implementation is a few steps of its model, which a search finds.

The model can do more than the implementation: so their graphs are not compared, as :mod:`.graph` does.
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
"""Something that the implementation, or somebody around it, can do in one of its states."""

BEYOND = -1
"""The number of all states that are beyond what is looked at."""

Came = dict[State, tuple[State, Choice] | None]


class Steps(Protocol):
    """What a move may be: at most ``most`` steps of these actions of the model."""

    @property
    def actions(self) -> tuple[str, ...]:
        """Their names."""

    @property
    def most(self) -> int:
        """How many."""


@dataclass(frozen=True)
class Move:
    """At most ``most`` steps of these actions of the model."""

    actions: tuple[str, ...] = ()
    most: int = 1


NOTHING = Move((), 0)


@dataclass(frozen=True)
class Meaning:
    """What a state of the implementation means: the values that fit, by slot; slots that are not here may have any."""

    fits: Mapping[int, frozenset[int]]

    def of(self, image: State) -> bool:
        """The state of the implementation may stand for ``image``."""
        for slot, values in self.fits.items():  # noqa: SIM110 - a generator costs more
            if image[slot] not in values:
                return False
        return True

    def wrong(self, image: State) -> list[int]:
        """The slots in which it does not."""
        return [slot for slot, values in self.fits.items() if image[slot] not in values]


class ModelSteps:
    """Steps of the model, found once.

    Args:
        normal: what stands for a state, and for all that differ from it in nothing that matters.
    """

    def __init__(self, instance: Instance, normal: Callable[[State], State] = lambda state: state) -> None:
        self.instance, self._normal = instance, normal
        self._stepper = Stepper(instance)
        self._known: dict[tuple[State, str], list[tuple[Choice, State]]] = {}
        self.taken: Counter[str] = Counter()
        self.counted: set[tuple[State, Choice]] = set()

    def initial(self) -> State:
        """Where the model begins."""
        return self._normal(self.instance.initial())

    def ways(self, image: State, move: Steps, meaning: Meaning) -> list[State]:
        """The states with this meaning to which the move leads."""
        came = self.reached(image, move)
        found = [state for state in came if meaning.of(state)]
        for state in found:
            self._count(state, came)
        return found

    def reached(self, image: State, move: Steps) -> Came:
        """The states to which the move leads, each with the step by which it was found."""
        came: Came = {image: None}
        layer = [image]
        for _ in range(move.most):
            layer = [after for state in layer for after in self._after(state, move.actions, came)]
        return came

    def _after(self, state: State, actions: tuple[str, ...], came: Came) -> list[State]:
        found = []
        for action in actions:
            for choice, after in self.of(state, action):
                if after not in came:
                    came[after] = (state, choice)
                    found.append(after)
        return found

    def of(self, state: State, action: str) -> list[tuple[Choice, State]]:
        """The steps of an action."""
        if (state, action) not in self._known:
            steps = self._stepper.steps(state, [self.instance.model.action(action)])
            self._known[state, action] = [(step.choice, self._normal(step.after)) for step in steps]
        return self._known[state, action]

    def _count(self, state: State, came: Came) -> None:
        while (step := came[state]) is not None:
            state, choice = step
            if (state, choice) not in self.counted:
                self.counted.add((state, choice))
                self.taken[choice.action] += 1


@dataclass(frozen=True)
class Node(Generic[At]):
    """A state of the implementation with its images, and what happened when it was first reached.

    There are several images where the model may have taken a step or not.
    """

    at: At
    images: frozenset[State]
    by: str
    before: int


class Simulation(ABC, Generic[At, Act]):
    """The implementation explored breadth first; run :meth:`explore` once. A subclass says what the implementation does.

    ``edges`` are the moves: from, to, and by whom (:meth:`doer`). ``beyond`` counts those that lead to states beyond what is
    looked at, which end the exploration there; ``crashes`` counts deaths.
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

    # What a subclass says of the implementation.

    @abstractmethod
    def begin(self) -> tuple[At, Steps]:
        """The state in which it begins, and which steps of the model lead there from the initial state."""

    @abstractmethod
    def put(self, at: At) -> None:
        """Puts the implementation into a state."""

    @abstractmethod
    def acts(self, at: At) -> Iterable[Act]:
        """All that can happen in the state in which it is."""

    @abstractmethod
    def do(self, act: Act) -> None:
        """Lets something happen; a bug may raise whatever it likes."""

    @abstractmethod
    def take(self, before: At, act: Act) -> At | None:
        """The state in which it is after an act; None if the act has changed nothing."""

    @abstractmethod
    def said(self, act: Act) -> str:
        """In words, what has happened last."""

    @abstractmethod
    def move(self, at: At, act: Act, after: At) -> Steps:
        """What the act may be in the model.

        Raises:
            Broken: nothing that the model knows.
        """

    @abstractmethod
    def meanings(self, at: At, before: Iterable[State]) -> Mapping[State, Meaning]:
        """What a state means, by the image of the state before.

        Raises:
            Broken: nothing.
        """

    @abstractmethod
    def key(self, at: At) -> Hashable:
        """The same for states that differ in nothing that matters to what comes."""

    @abstractmethod
    def is_crash(self, act: Act) -> bool:
        """Somebody dies."""

    @abstractmethod
    def is_beyond(self, at: At, before: Iterable[State]) -> bool:
        """The state has objects for which the model's instance has none; ``before`` are the images of the state before."""

    def doer(self, act: Act) -> str:
        """The action of the model by which properties leave out that somebody does such things."""
        return ""

    def restrict(self, at: At, act: Act, after: At, images: frozenset[State]) -> frozenset[State]:
        """Of the images those that allow what the act has led to besides.

        Raises:
            Broken: none of them does.
        """
        return images

    def name(self, sort: str, number: int) -> str:
        """An object of the model as mismatches name it."""
        return self.steps.instance.object_names(sort)[number]

    @property
    def moves(self) -> int:
        """How many moves were explored."""
        return len(self.edges)

    # The exploration.

    def explore(self) -> None:
        """Every act in every state.

        Raises:
            Stopped: at the first mismatch.
        """
        start, move = self.begin()
        initial = self.steps.initial()
        meanings = self.meanings(start, [initial])
        images = self.steps.ways(initial, move, meanings[initial])
        if not images:
            raise Stopped(Mismatch(self.differs_at_start, [], *self._nearest(meanings, move)))
        self._node(start, frozenset(images), "", -1)
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
                way = [*self.path(number), self.said(act)]
                raise Stopped(Mismatch(error.reason, way, error.expected, error.found)) from error

    def _try(self, number: int, node: Node[At], act: Act) -> None:
        try:
            self.do(act)
        except Exception as error:  # whatever a bug raises
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
            expected, found = self._nearest(meanings, move)
            raise Broken("no steps of the model lead there", expected=expected, found=found)
        images = self.restrict(node.at, act, at, images)
        self.edges.append((number, self._node(at, images, self.said(act), number), self.doer(act)))

    def _node(self, at: At, images: frozenset[State], by: str, before: int) -> int:
        new = len(self.nodes)
        number = self._numbers.setdefault((self.key(at), images), new)  # a key is large: it is hashed once
        if number == new:
            self.nodes.append(Node(at, images, by, before))
            self._todo.append(number)
        return number

    def path(self, number: int) -> list[str]:
        """A shortest way to a state, act by act."""
        found: list[str] = []
        while number > 0:
            found.append(self.nodes[number].by)
            number = self.nodes[number].before
        return found[::-1]

    # What is said of a mismatch.

    def _nearest(self, meanings: Mapping[State, Meaning], move: Steps) -> tuple[str, str]:
        """Of the states that the move leads to, that which differs least: what differs, in the model and in the implementation."""
        ends = [(meaning, state) for image, meaning in meanings.items() for state in self.steps.reached(image, move)]
        # Of those that differ least the one that goes farthest: it says what is wrong with it.
        meaning, nearest = min(reversed(ends), key=lambda end: len(end[0].wrong(end[1])))
        expected, found = [], []
        for slot in meaning.wrong(nearest):
            what, show = self._slot(slot)
            expected.append(f"{what} {show(nearest[slot])}")
            found.append(f"{what} {' or '.join(show(value) for value in sorted(meaning.fits[slot]))}")
        return "; ".join(expected), "; ".join(found)

    def _slot(self, slot: int) -> tuple[str, Callable[[int], str]]:
        """Whose slot it is, and how its values are shown."""
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
    """Whether every move was steps of the model, and how much was seen.

    Attributes:
        states, moves: of the implementation.
        crash_points, beyond: as ``crashes`` and ``beyond`` of :class:`Simulation`.
        images, steps: those of the model that the implementation comes by.
        taken: the steps by action.
        words: how the implementation, its moves, its deaths, and what is beyond are called.
    """

    about: str
    mismatch: Mismatch | None
    states: int
    moves: int
    crash_points: int
    beyond: int
    images: int
    steps: int
    taken: Mapping[str, int]
    seconds: float
    words: Words

    @property
    def ok(self) -> bool:
        """All that the implementation does is in the model."""
        return self.mismatch is None

    @property
    def text(self) -> str:
        """The report for a reader."""
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
    """How a report calls things, in the plural."""

    who: str
    moves: str
    deaths: str
    beyond: str


S = TypeVar("S", bound=Simulation)  # type: ignore[type-arg]


def simulate(
    about: str, words: Words, begin: Callable[[], S], also: Callable[[S], Mismatch | None] = lambda simulation: None
) -> SimulationReport:
    """Explores an implementation, and looks for each move for the steps of the model that it is.

    Args:
        about: the configuration, in words.
        begin: makes the simulation, which takes its time, too.
        also: what is asked of a complete exploration.
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
        taken=dict(simulation.steps.taken),
        seconds=time.perf_counter() - started,
        words=words,
    )
