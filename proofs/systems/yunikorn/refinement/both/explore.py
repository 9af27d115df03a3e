"""All that both components can come to, and the steps of the model that lead there."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping

from schedproof.model.semantics import State
from schedproof.model.systems.yunikorn.sorts import Message
from schedproof.proofs.refinement.property import Progress
from schedproof.proofs.refinement.simulation import NOTHING, Meaning, ModelSteps, Simulation, Steps

from .component import Component, Snapshot
from .meaning import Meanings
from .moves import Move, Moves


class Exploration(Simulation[Snapshot, Move]):
    """Every move in every state.

    What is beyond is a state in which a name is used for a second time, which the model has no object for.
    """

    fails = "the move fails"

    def __init__(self, component: Component, moves: Moves, meanings: Meanings, progress: Progress | None) -> None:
        self._component, self._moves, self._meanings = component, moves, meanings
        super().__init__(ModelSteps(meanings.instance, meanings.normal), progress)

    def begin(self) -> tuple[Snapshot, Steps]:
        """Both are new."""
        return self._component.take(), NOTHING

    def put(self, at: Snapshot) -> None:
        """Back to a snapshot."""
        self._component.put(at)

    def acts(self, at: Snapshot) -> Iterator[Move]:
        """What may happen in the configuration."""
        return self._moves.possible(self._component, at)

    def do(self, act: Move) -> None:
        """Lets it happen."""
        act.call(self._component)

    def take(self, before: Snapshot, act: Move) -> Snapshot:
        """Both as they are now."""
        return self._component.take(before.repeated)

    def said(self, act: Move) -> str:
        """The move in words."""
        return act.said

    def move(self, at: Snapshot, act: Move, after: Snapshot) -> Steps:
        """As the move says itself."""
        return act

    def meanings(self, at: Snapshot, before: Iterable[State]) -> Mapping[State, Meaning]:
        """What the shim has not heard means what it was before, too."""
        return {image: self._meanings.read(at, image) for image in before}

    def key(self, at: Snapshot) -> Hashable:
        """As the snapshot says itself."""
        return at.key

    def is_crash(self, act: Move) -> bool:
        """The shim dies."""
        return act.crash

    def is_beyond(self, at: Snapshot, before: Iterable[State]) -> bool:
        """A name has a second life."""
        return any(self._meanings.is_of_a_second_life(at, image) for image in before)

    def doer(self, act: Move) -> str:
        """As the move says itself."""
        return act.who

    def name(self, sort: str, number: int) -> str:
        """Messages by what they say."""
        return self._meanings.message(number) if sort == Message.name else super().name(sort, number)
