"""Places that are too large to be seen whole are walked in, by walks that are the same every time, to check mutants there."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import cache

from schedproof.model.lang import Model, ModelError
from schedproof.model.lang.check import checked
from schedproof.model.semantics import Choice, State, Stepper
from tests.support.mutants import Caught, Graph, Mutant, Place, Twin, concerned, other_step

WALKS, LENGTH = 80, 40


def visited(model: Model, place: Place, begin: Sequence[str], *, walks: int = WALKS) -> Graph:
    """What so many walks come through, with every step that the model takes there.

    Of the next steps one is drawn among kinds of actions: rare ones are taken.

    A beginning ends where the model does not know its next step: what it is about does not happen there.
    """
    chance, stepper = random.Random(place.name), Stepper(place.of(model))
    known: dict[State, dict[Choice, State]] = {}

    def steps(state: State) -> dict[Choice, State]:
        if state not in known:
            known[state] = {step.choice: step.after for step in stepper.steps(state)}
        return known[state]

    start = stepper.instance.initial()
    for step_text in begin:
        name, *numbers = step_text.split()
        fitting = [
            c for c in steps(start) if c.action == name and _numbers(c)[: len(numbers)] == list(map(int, numbers))
        ]
        if not fitting:
            break
        start = steps(start)[fitting[0]]
    for _ in range(walks):
        state = start
        for _ in range(LENGTH):
            if not (out := steps(state)):
                break
            action = chance.choice(sorted({choice.action for choice in out}))
            state = out[chance.choice([choice for choice in out if choice.action == action])]
    return known


def _numbers(choice: Choice) -> list[int]:
    return [number for _, number in choice.parameters]


class Checker:
    """Distinguishes mutants from ``model``: they are refused, or take other steps in an explored or a walked place.

    Args:
        whole: the places that are seen whole; ``last`` too, but only if walks show no difference.
        walked: the places that are walked in, each with what its walks begin with.
        walks: how many in each.
    """

    def __init__(
        self,
        model: Model,
        whole: Sequence[Place],
        walked: Sequence[tuple[Place, Sequence[str]]],
        *,
        last: Sequence[Place] = (),
        walks: int = WALKS,
    ) -> None:
        self._model, self._walked = model, walked
        self._twin = Twin(model, whole, properties=False)
        self._last = Twin(model, last, properties=False)
        self._visited = cache(lambda n: visited(model, *walked[n], walks=walks))

    def caught(self, mutant: Mutant) -> Caught | None:
        """How it is caught; None if nothing distinguishes it from the model."""
        return self._twin.caught(mutant) or self._in_walks(mutant) or self._last.caught(mutant)

    def _in_walks(self, mutant: Mutant) -> Caught | None:
        try:
            other = checked(mutant.build())
        except ModelError as error:
            return Caught("refused", str(error))
        names = concerned(self._model, other)
        for n, (place, _) in enumerate(self._walked):
            if (what := other_step(other, place, self._visited(n), names)) is not None:
                return Caught("walked", f"{what} at {place.name}")
        return None
