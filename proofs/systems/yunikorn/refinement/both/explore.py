"""All that both parties can come to, and the steps of the model that lead there."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from functools import partial

from schedproof.model.lang import Machine
from schedproof.model.lang.types import Type
from schedproof.model.semantics import Choice, Instance, State, Stepper
from schedproof.model.systems.yunikorn.sorts import Message
from schedproof.proofs.refinement.graph import Progress
from schedproof.proofs.refinement.mismatch import Broken, Mismatch

from .meaning import Meaning, Meanings
from .moves import Move, Moves
from .party import Party, Snapshot

BEYOND = -1
"""The number of all states in which a name has a second life."""

Came = dict[State, tuple[State, Choice] | None]


class Differs(Exception):
    """The exploration met its first mismatch."""

    def __init__(self, mismatch: Mismatch) -> None:
        super().__init__(mismatch.reason)
        self.mismatch = mismatch


class Model:
    """Steps of the model, found once."""

    def __init__(self, instance: Instance, meanings: Meanings) -> None:
        self.instance, self._meanings = instance, meanings
        self._stepper = Stepper(instance)
        self._known: dict[tuple[State, str], list[tuple[Choice, State]]] = {}
        self.taken: Counter[str] = Counter()
        self.steps: set[tuple[State, Choice]] = set()

    def initial(self) -> State:
        """Where the model begins."""
        return self._meanings.normal(self.instance.initial())

    def ways(self, image: State, move: Move, meaning: Meaning) -> list[State]:
        """The states with this meaning to which the move's actions lead."""
        came = self.reached(image, move)
        found = [state for state in came if meaning.of(state)]
        for state in found:
            self._count(state, came)
        return found

    def reached(self, image: State, move: Move) -> Came:
        """The states to which at most so many of the move's actions lead, each with the step by which it was found."""
        came: Came = {image: None}
        layer = [image]
        for _ in range(move.most):
            layer = [after for state in layer for after in self._after(state, move.actions, came)]
        return came

    def _after(self, state: State, actions: tuple[str, ...], came: Came) -> list[State]:
        found = []
        for action in actions:
            for choice, after in self._steps(state, action):
                if after not in came:
                    came[after] = (state, choice)
                    found.append(after)
        return found

    def _steps(self, state: State, action: str) -> list[tuple[Choice, State]]:
        if (state, action) not in self._known:
            steps = self._stepper.steps(state, [self.instance.model.action(action)])
            self._known[state, action] = [(step.choice, self._meanings.normal(step.after)) for step in steps]
        return self._known[state, action]

    def _count(self, state: State, came: Came) -> None:
        while (step := came[state]) is not None:
            state, choice = step
            if (state, choice) not in self.steps:
                self.steps.add((state, choice))
                self.taken[choice.action] += 1


@dataclass(frozen=True)
class Node:
    """A state of both parties with its images, and the move by which it was first reached.

    There are several where the model need not have taken a message that meant nothing.
    """

    at: Snapshot
    images: frozenset[State]
    by: str
    before: int


class Exploration:
    """Breadth first; run :meth:`explore` once.

    ``beyond`` counts the states in which a name is used for a second time, which the model has no object for; what
    comes after them is not looked at. ``edges`` are the moves: from, to, and who of those without whom a promise is kept.
    """

    def __init__(self, party: Party, moves: Moves, meanings: Meanings, model: Model, progress: Progress | None) -> None:
        self._party, self._moves, self._meanings, self.model = party, moves, meanings, model
        self._progress = progress
        self.nodes: list[Node] = []
        self._numbers: dict[Hashable, int] = {}
        self._todo: deque[int] = deque()
        self.edges: list[tuple[int, int, str]] = []
        self.beyond = self.crashes = 0

    def explore(self) -> None:
        """Every move from every state.

        Raises:
            Differs: at the first mismatch.
        """
        initial = self.model.initial()
        start = self._party.take()
        meaning = self._meanings.read(start, initial)
        if not meaning.of(initial):
            raise Differs(Mismatch("the two do not begin where the model does", [], *self._both(meaning, initial)))
        self._node(start, frozenset({initial}), "", -1)
        while self._todo:
            number = self._todo.popleft()
            self._expand(number)
            if self._progress and number % 500 == 0:
                self._progress(len(self.nodes), len(self.edges))

    def _expand(self, number: int) -> None:
        node = self.nodes[number]
        self._party.put(node.at)
        for move in list(self._moves.possible(self._party, node.at)):
            self._party.put(node.at)
            try:
                self._try(number, node, move)
            except Broken as error:
                raise Differs(
                    Mismatch(error.reason, [*self.path(number), move.said], error.expected, error.found)
                ) from error

    def _try(self, number: int, node: Node, move: Move) -> None:
        try:
            move.call(self._party)
        except Exception as error:  # whatever a bug raises
            raise Broken(f"the move fails: {type(error).__name__}: {error}") from error
        self.crashes += move.crash
        at = self._party.take(node.at.repeated)
        if any(self._meanings.is_of_a_second_life(at, image) for image in node.images):
            self.beyond += 1
            self.edges.append((number, BEYOND, move.who))
            return
        meanings = {image: self._meanings.read(at, image) for image in node.images}
        images = frozenset(to for image, meaning in meanings.items() for to in self.model.ways(image, move, meaning))
        if not images:
            expected, found = self._nearest(meanings, move)
            raise Broken("no steps of the model lead there", expected=expected, found=found)
        self.edges.append((number, self._node(at, images, move.said, number), move.who))

    def _node(self, at: Snapshot, images: frozenset[State], by: str, before: int) -> int:
        key = at.key, images
        new = len(self.nodes)
        number = self._numbers.setdefault(key, new)  # a key is large: it is hashed once
        if number == new:
            self.nodes.append(Node(at, images, by, before))
            self._todo.append(number)
        return number

    def path(self, number: int) -> list[str]:
        """A shortest way to a state, move by move."""
        found: list[str] = []
        while number > 0:
            found.append(self.nodes[number].by)
            number = self.nodes[number].before
        return found[::-1]

    # What is said of a mismatch.

    def _nearest(self, meanings: Mapping[State, Meaning], move: Move) -> tuple[str, str]:
        """Of the states that the move's actions lead to, that which differs least, and in what."""
        found = [(meaning, state) for image, meaning in meanings.items() for state in self.model.reached(image, move)]
        # Of those that differ least the one that goes farthest: it says what is wrong with it.
        return self._both(*min(reversed(found), key=lambda it: len(it[0].wrong(it[1]))))

    def _both(self, meaning: Meaning, state: State) -> tuple[str, str]:
        """What differs: in the model, and as the two have it."""
        expected, found = [], []
        for slot in meaning.wrong(state):
            what, show = self._named(slot)
            expected.append(f"{what} {show(state[slot])}")
            found.append(f"{what} {' or '.join(show(value) for value in sorted(meaning.fits[slot]))}")
        return "; ".join(expected), "; ".join(found)

    def _named(self, slot: int) -> tuple[str, Callable[[int], str]]:
        """Whose slot it is, and how its values are shown."""
        instance = self._meanings.instance
        for machine in instance.model.machines:
            sort = machine.sort.name
            kinds = {a.name: a.type for a in instance.attributes(sort)}
            for name in [*([""] if machine.states else []), *kinds]:
                i = slot - instance.slot(sort, name)
                if 0 <= i < instance.sizes[sort]:
                    whose = self._meanings.message(i) if sort == Message.name else instance.object_names(sort)[i]
                    if name:
                        return f"{whose}.{name}", partial(_value, instance, kinds[name])
                    return whose, partial(_state, machine)
        raise AssertionError(f"{slot} is no slot")


def _state(machine: Machine, value: int) -> str:
    return machine.states[value].name


def _value(instance: Instance, kind: Type, value: int) -> str:
    return str(instance.show(kind, value))
