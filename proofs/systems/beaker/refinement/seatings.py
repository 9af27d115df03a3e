"""Maps the seats in the recipes' rows to the model's seatings, each of which is an object.

The model keeps a whole seating until its set begins or gives back. The scheduler keeps only the seats of recipes that
have no system yet. So several seatings may have the same seats for these recipes. No step distinguishes them, and the
first one represents all.
"""

from __future__ import annotations

from collections.abc import Mapping

from schedproof.model.semantics import Instance, State
from schedproof.model.semantics.instance import NO_OBJECT
from schedproof.proofs.refinement.mismatch import Broken

OPEN = ("new", "queued", "assigned")


class Seatings:
    """The seatings of ``instance``; all objects are numbers."""

    def __init__(self, instance: Instance) -> None:
        self._instance = instance
        self._of = rigid(instance, "Seating", "recipe_set")
        self._seats: list[dict[int, int]] = [{} for _ in self._of]
        seats = (rigid(instance, "Seat", name) for name in ("seating", "recipe", "system"))
        for seating, recipe, system in zip(*seats, strict=True):
            self._seats[seating][recipe] = system
        self._recipe = instance.slot("Recipe")
        self._seating = instance.slot("RecipeSet", "seating")
        states = [s.name for s in instance.model.machine("Recipe").states]
        self._open = frozenset(n for n, name in enumerate(states) if name in OPEN)
        self._hosts: dict[int, list[int]] = {n: [] for n in range(instance.sizes["RecipeSet"])}
        hosts = rigid(instance, "Recipe", "host")
        for n, of in enumerate(rigid(instance, "Recipe", "recipe_set")):
            if hosts[n] == NO_OBJECT:
                self._hosts[of].append(n)

    def of_rows(self, state: State, recipe_set: int, seats: Mapping[int, int]) -> int:
        """Returns the first seating of the set whose seats for its open recipes are exactly ``seats``.

        Args:
            state: has the states of the recipes, and so decides which are open.
            recipe_set: the number of the set.
            seats: the system of each recipe that has a seat.

        Raises:
            Broken: there is no such seating, or a recipe that is not open has a seat.
        """
        recipes = self.open_hosts(state, recipe_set)
        if not set(seats) <= set(recipes):
            raise Broken(
                "a recipe has a seat that is not new, queued or assigned, or a guest", actual=self._described(seats)
            )
        if not seats:
            return NO_OBJECT
        for number, of in enumerate(self._of):
            if of == recipe_set and all(self._seats[number].get(r) == seats.get(r) for r in recipes):
                return number
        raise Broken("the seats of a set are no seating of the model", actual=self._described(seats))

    def normal(self, state: State) -> State:
        """Returns ``state`` with the first of each set's seatings that no step distinguishes."""
        new = list(state)
        for n in self._hosts:
            if state[self._seating + n] != NO_OBJECT:
                seats = self._seats[state[self._seating + n]]
                still = {r: seats[r] for r in self.open_hosts(state, n) if r in seats}
                new[self._seating + n] = self.of_rows(state, n, still)
        return tuple(new)

    def with_seats(self, recipe_set: int, seats: Mapping[int, int]) -> list[int]:
        """Returns all seatings of the set that have at least these seats.

        Raises:
            Broken: there is none.
        """
        numbers = [n for n, of in enumerate(self._of) if of == recipe_set and seats.items() <= self._seats[n].items()]
        if not numbers:
            raise Broken("a set is seated as no seating of the model is", actual=self._described(seats))
        return numbers

    def _described(self, seats: Mapping[int, int]) -> str:
        recipes, systems = self._instance.object_names("Recipe"), self._instance.object_names("System")
        return ", ".join(f"{recipes[r]} on {systems[s]}" for r, s in sorted(seats.items()))

    def open_hosts(self, state: State, recipe_set: int) -> list[int]:
        """Returns the host recipes of the set that need a system."""
        return [r for r in self._hosts[recipe_set] if state[self._recipe + r] in self._open]


def rigid(instance: Instance, sort: str, name: str) -> tuple[int, ...]:
    """Returns the values of a rigid attribute, one for each object of ``sort``."""
    attribute = instance.model.machine(sort).attribute(name)
    assert attribute is not None
    return tuple(instance.rigid_values(sort, attribute))
