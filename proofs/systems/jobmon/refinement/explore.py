"""All that server and agents can come to, and the steps of the model that lead there."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Hashable, Mapping
from dataclasses import dataclass

from schedproof.impl.systems.jobmon.requests import Report, Request
from schedproof.impl.systems.jobmon.world import Act, Kind, Sides, State
from schedproof.model.semantics import Choice, Instance, Stepper
from schedproof.model.semantics import State as Image
from schedproof.proofs.refinement.graph import Progress
from schedproof.proofs.refinement.mismatch import Broken, Mismatch

from .canonical import canonical
from .meaning import Meaning, Meanings
from .moves import TAKEN, Move, Seen, of_act, terminated
from .situations import TROUBLE, Situation

Came = dict[Image, tuple[Image, Choice] | None]

BEGIN = "distributor_starts"
"""In the world all distributors are there from the start."""


class Differs(Exception):
    """The exploration met its first mismatch."""

    def __init__(self, mismatch: Mismatch) -> None:
        super().__init__(mismatch.reason)
        self.mismatch = mismatch


class Steps:
    """Steps of the model, found once."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self._stepper = Stepper(instance)
        self._known: dict[tuple[Image, str], list[tuple[Choice, Image]]] = {}
        self.taken: Counter[str] = Counter()
        self.counted: set[tuple[Image, Choice]] = set()

    def ways(self, image: Image, move: Move, meaning: Meaning) -> list[Image]:
        """The states with this meaning to which the move leads."""
        came = self.reached(image, move)
        found = [to for to in came if meaning.of(to)]
        for to in found:
            self._count(to, came)
        return found

    def reached(self, image: Image, move: Move) -> Came:
        """The states to which the move leads, each with the step by which it was found."""
        came: Came = {image: None}
        layer = [image]
        for _ in range(move.most):
            found = []
            for state in layer:
                for action in move.actions:
                    for choice, after in self.of(state, action):
                        if after not in came:
                            came[after] = (state, choice)
                            found.append(after)
            layer = found
        return came

    def of(self, image: Image, action: str) -> list[tuple[Choice, Image]]:
        """The steps of an action."""
        if (image, action) not in self._known:
            steps = self._stepper.steps(image, [self.instance.model.action(action)])
            self._known[image, action] = [(step.choice, step.after) for step in steps]
        return self._known[image, action]

    def can_take(self, image: Image, action: str, instance: int) -> bool:
        """Whether the action can be taken of this instance."""
        return any(dict(choice.parameters).get("i") == instance for choice, _ in self.of(image, action))

    def _count(self, image: Image, came: Came) -> None:
        while (step := came[image]) is not None:
            image, choice = step
            if (image, choice) not in self.counted:
                self.counted.add((image, choice))
                self.taken[choice.action] += 1


@dataclass(frozen=True)
class Node:
    """A state of the world with its images, how many bad things led there, and the act by which it was first reached."""

    at: State
    images: frozenset[Image]
    bad: int
    by: str
    before: int


class Exploration:
    """Breadth first; run :meth:`explore` once.

    ``beyond`` counts acts after which there are more objects than the model's instance has; what comes then is not
    looked at. ``crashes`` counts the acts by which somebody dies.
    """

    def __init__(self, situation: Situation, sides: Sides, progress: Progress | None = None) -> None:
        self._situation, self._may = situation, situation.may
        self._seen: list[tuple[Request, Report]] = []
        self._world = situation.world(sides, lambda request, report: self._seen.append((request, report)))
        instance = situation.instance()
        self._meanings, self.steps = Meanings(instance), Steps(instance)
        self._progress = progress
        self.nodes: list[Node] = []
        self._numbers: dict[Hashable, int] = {}
        self._todo: deque[int] = deque()
        self.acts = self.beyond = self.crashes = 0

    def explore(self) -> None:
        """Every act in every state.

        Raises:
            Differs: at the first mismatch.
        """
        start = self._world.state()
        initial = self.steps.instance.initial()
        move = Move((BEGIN,), self.steps.instance.sizes["Distributor"])
        images = self.steps.ways(initial, move, self._meanings.read(start))
        if not images:
            raise Differs(Mismatch("the two do not begin alike", [], *self._nearest(start, [initial], move)))
        self._node(start, frozenset(images), 0, "", -1)
        while self._todo:
            number = self._todo.popleft()
            self._expand(number)
            if self._progress and number % 500 == 0:
                self._progress(len(self.nodes), self.acts)

    def _expand(self, number: int) -> None:
        node = self.nodes[number]
        self._world.restore(node.at)
        for act in self._world.acts():
            if self._is_possible(act, node):
                self._world.restore(node.at)
                try:
                    self._try(number, node, act)
                except Broken as error:
                    way = [*self.path(number), _said(act, self._seen)]
                    raise Differs(Mismatch(error.reason, way, error.expected, error.found)) from error

    def _is_possible(self, act: Act, node: Node) -> bool:
        if act.kind is Kind.COMMAND_ENDS:
            return act.ending in self._may.endings
        if self._is_bad(act, node):
            return node.bad < self._may.bad and act.kind in self._may.trouble and act.who.startswith(self._may.whom)
        return True

    def _is_bad(self, act: Act, node: Node) -> bool:
        """Who was killed is started again as a matter of course; who came to an end, since somebody wants it."""
        if act.kind is Kind.RESTART:
            return dict(node.at.agents)[act.who].memory is not None
        return act.kind in TROUBLE

    def _try(self, number: int, node: Node, act: Act) -> None:
        self._seen.clear()
        try:
            self._world.do(act)
        except Exception as error:  # whatever a bug raises
            raise Broken(f"it fails: {type(error).__name__}: {error}") from error
        at = self._world.state()
        if at == node.at:
            return
        self.acts += 1
        self.crashes += act.kind is Kind.CRASH
        seen = tuple(self._seen)
        if self._situation.is_beyond(at.records):
            self.beyond += 1
            return
        images = self._images(node, act, seen, at)
        bad = node.bad + self._is_bad(act, node)
        self._node(at, images, bad, _said(act, seen), number)

    def _images(self, node: Node, act: Act, seen: Seen, at: State) -> frozenset[Image]:
        move, meaning = of_act(act, seen, node.at, at), self._meanings.read(at)
        found = frozenset(to for image in node.images for to in self.steps.ways(image, move, meaning))
        if not found:
            expected, there = self._nearest(at, node.images, move)
            raise Broken("no steps of the model lead there", expected=expected, found=there)
        for instance in terminated(act, node.at, at):
            found = frozenset(image for image in found if self._may_be_taken(image, instance - 1))
            if not found:
                raise Broken(f"the job of TaskInstance {instance - 1} is terminated, which may go on in the model")
        return found

    def _may_be_taken(self, image: Image, instance: int) -> bool:
        return any(self.steps.can_take(image, action, instance) for action in TAKEN)

    def _node(self, at: State, images: frozenset[Image], bad: int, by: str, before: int) -> None:
        key = canonical(at), images, bad
        if key not in self._numbers:
            self._numbers[key] = len(self.nodes)
            self._todo.append(len(self.nodes))
            self.nodes.append(Node(at, images, bad, by, before))

    def path(self, number: int) -> list[str]:
        """A shortest way to a state, act by act."""
        found: list[str] = []
        while number > 0:
            found.append(self.nodes[number].by)
            number = self.nodes[number].before
        return found[::-1]

    def _nearest(
        self, at: State, images: Mapping[Image, object] | frozenset[Image] | list[Image], move: Move
    ) -> tuple[str, str]:
        """Of the states that the move leads to, that which differs least: what differs, in the model and in the world."""
        meaning = self._meanings.read(at)
        ends = [to for image in images for to in self.steps.reached(image, move)]
        # Of those that differ least the one that goes farthest: it says what is wrong with it.
        nearest = min(reversed(ends), key=lambda to: len(meaning.wrong(to)))
        expected, found = [], []
        for slot in meaning.wrong(nearest):
            what, show = self._meanings.named(slot)
            expected.append(f"{what} {show(nearest[slot])}")
            found.append(f"{what} {' or '.join(show(value) for value in sorted(meaning.fits[slot]))}")
        return "; ".join(expected), "; ".join(found)


def _said(act: Act, seen: Seen) -> str:
    how = f" ({act.ending})" if act.ending is not None else ""
    return f"{act.who} {act.kind}{how}" + "".join(f": {_in_words(request)}" for request, _ in seen)


def _in_words(request: Request) -> str:
    values = ", ".join(f"{name} {value}" for name, value in vars(request).items() if name not in ("tasks", "token"))
    return f"{type(request).__name__}({values})"
