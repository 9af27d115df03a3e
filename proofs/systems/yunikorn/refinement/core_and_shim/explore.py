"""The exploration of core and shim together, with the model's steps for each move."""

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
    """Explores every move in every state.

    A state is beyond the model if a name is used a second time: the model has no object for it.
    """

    fails = "the move fails"

    def __init__(self, component: Component, moves: Moves, meanings: Meanings, progress: Progress | None) -> None:
        self._component, self._moves, self._meanings = component, moves, meanings
        super().__init__(ModelSteps(meanings.instance, meanings.normal), progress)

    def begin(self) -> tuple[Snapshot, Steps]:
        """Returns the first snapshot, and no steps."""
        return self._component.take(), NOTHING

    def put(self, at: Snapshot) -> None:
        self._component.put(at)

    def acts(self, at: Snapshot) -> Iterator[Move]:
        """Yields the moves that the configuration allows."""
        return self._moves.possible(self._component, at)

    def do(self, act: Move) -> None:
        act.call(self._component)

    def take(self, before: Snapshot, act: Move) -> Snapshot:
        """Returns the snapshot after a move."""
        return self._component.take(before.repeated)

    def description(self, act: Move) -> str:
        return act.description

    def move(self, at: Snapshot, act: Move, after: Snapshot) -> Steps:
        """Returns the steps that the move may be."""
        return act

    def meanings(self, at: Snapshot, before: Iterable[State]) -> Mapping[State, Meaning]:
        """Returns the values that fit the snapshot; what the shim has not handled fits the state before as well."""
        return {image: self._meanings.read(at, image) for image in before}

    def key(self, at: Snapshot) -> Hashable:
        return at.key

    def is_crash(self, act: Move) -> bool:
        """True if the shim dies."""
        return act.crash

    def is_beyond(self, at: Snapshot, before: Iterable[State]) -> bool:
        """True if a name is used a second time."""
        return any(self._meanings.is_of_a_second_life(at, image) for image in before)

    def doer(self, act: Move) -> str:
        """Returns the action by which a property excludes such moves."""
        return act.who

    def name(self, sort: str, number: int) -> str:
        """Names messages by their kind and subject."""
        return self._meanings.message(number) if sort == Message.name else super().name(sort, number)
