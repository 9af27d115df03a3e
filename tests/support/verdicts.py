"""Which property a mutant violates: its verdicts beside the model's, at places that are seen whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from schedproof.model.lang import Model
from schedproof.model.lang.properties import WELL_FORMED
from schedproof.proofs.checking.engine import Engine, Exploring
from schedproof.proofs.checking.model_check import model_check
from schedproof.proofs.verdict import Verdict
from tests.support.mutants import Caught, Place, concerned, first_broken, graph_of, other_step, seen_at_once

INTERPRETED = Exploring(engine=Engine.INTERPRETED)
"""At a place with few states, to compile takes longer than to explore."""


def verdicts_at(
    model: Model, place: Place, only: Sequence[str] = (), how: Exploring = INTERPRETED
) -> Mapping[str, Verdict]:
    """The verdict on every property (or those named ``only``) at a place; at a small one, without a compiler."""
    some = {sort: size for sort, size in place.sizes.items() if size}  # of the others the configuration has none
    return {r.name: r.verdict for r in model_check(place.alone(model), some, only=only, how=how)}


class Verdicts:
    """Finds a property that a mutant violates and ``model`` does not.

    Args:
        model: what the mutants are mutants of.
        places: where to explore; the one that caught the last mutant comes first for the next.
        how: how the verdicts that need a whole graph are found.
    """

    def __init__(self, model: Model, places: Sequence[Place], how: Exploring = INTERPRETED) -> None:
        self.model, self._how = model, how
        self._places = {place.name: place for place in places}
        self._order = list(self._places)
        self._at_once = {WELL_FORMED, *(p.name for p in seen_at_once(model))}
        self._graph = cache(lambda name: graph_of(model, self._places[name]))
        self._right = cache(lambda name: verdicts_at(model, self._places[name], how=how))

    def violated(self, mutant: Model) -> Caught | None:
        """A property that ``mutant`` violates at a place where ``model`` does not; None if there is none."""
        names = concerned(self.model, mutant)
        for name in list(self._order):
            if other_step(mutant, self._places[name], self._graph(name), names) is None:
                continue  # the graph is the model's, and so are the verdicts
            if (prop := self._violated_at(mutant, name)) is not None:
                self._order.remove(name)
                self._order.insert(0, name)
                return Caught("violated", f"{prop} at {name}")
        return None

    def _violated_at(self, mutant: Model, name: str) -> str | None:
        right, place = self._right(name), self._places[name]
        kept = [prop for prop, verdict in right.items() if verdict is not Verdict.REFUTED]
        broken = first_broken(mutant, place, [prop for prop in kept if prop in self._at_once], vacuous=False)
        if broken is not None:
            return broken
        rest = verdicts_at(mutant, place, [prop for prop in kept if prop not in self._at_once], self._how)
        return next((prop for prop, verdict in rest.items() if verdict is Verdict.REFUTED), None)
