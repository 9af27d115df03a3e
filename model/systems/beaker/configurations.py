"""The configurations that are explored: small sets of objects, each with the changes that users may make."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from schedproof.model.lang import Rigid


@dataclass(frozen=True)
class Configuration:
    """Recipe sets and the systems that are viable for them.

    Args:
        sets: for each set and each of its recipes the viable systems, as letters (A is the first). A guest is the
            number of its host in the set.
        labs: the lab of each system.
        endable: the sets that users may cancel or abort.
        rankable: the sets whose priority users may change.
        adjustable: the systems whose condition users may change, and that they may reserve.
    """

    about: str
    sets: Sequence[Sequence[str | int]]
    labs: Sequence[int]
    endable: Sequence[int] = ()
    rankable: Sequence[int] = ()
    adjustable: Sequence[int] = ()

    @property
    def sizes(self) -> dict[str, int]:
        """The number of objects of each sort."""
        recipes = sum(len(each) for each in self.sets)
        return {"Lab": max(self.labs) + 1, "RecipeSet": len(self.sets), "Recipe": recipes, "System": len(self.labs)}

    def rigid(self, *, with_seatings: bool = False) -> Rigid:
        """Returns the rigid attributes, with those of seatings where the variant has them."""
        recipe_set: list[int] = []
        viable: list[frozenset[int]] = []
        host: list[int | None] = []
        for number, recipes in enumerate(self.sets):
            first = len(recipe_set)
            of_set = [frozenset() if isinstance(r, int) else frozenset(ord(c) - ord("A") for c in r) for r in recipes]
            recipe_set += [number] * len(recipes)
            viable += of_set
            host += [first + r if isinstance(r, int) else None for r in recipes]
        sets, systems = range(len(self.sets)), range(len(self.labs))
        facts: Rigid = {
            ("Recipe", "recipe_set"): recipe_set,
            ("Recipe", "viable"): viable,
            ("Recipe", "host"): host,
            ("RecipeSet", "endable"): [n in self.endable for n in sets],
            ("RecipeSet", "rankable"): [n in self.rankable for n in sets],
            ("System", "lab"): list(self.labs),
            ("System", "adjustable"): [n in self.adjustable for n in systems],
        }
        return {**facts, **seating_facts(viable, recipe_set, self.labs)} if with_seatings else facts


def seating_facts(viable: Sequence[frozenset[int]], sets: Sequence[int], labs: Sequence[int]) -> Rigid:
    """Returns the rigid attributes of all seatings. For the arguments see :func:`seatings`."""
    all_of_them = list(seatings(viable, sets, labs))
    seats = [(p, r, s) for p, (_, seats) in enumerate(all_of_them) for r, s in seats.items()]
    return {
        ("Seating", "recipe_set"): [number for number, _ in all_of_them],
        ("Seat", "seating"): [p for p, _, _ in seats],
        ("Seat", "recipe"): [r for _, r, _ in seats],
        ("Seat", "system"): [s for _, _, s in seats],
    }


def seatings(
    viable: Sequence[frozenset[int]], sets: Sequence[int], labs: Sequence[int]
) -> Iterator[tuple[int, dict[int, int]]]:
    """Yields each seating of two or more recipes of a set.

    Args:
        viable: for each recipe the systems that are viable for it; none for guests.
        sets: for each recipe its set.
        labs: for each system its lab.

    Yields:
        The set, and the system of each seated recipe.
    """
    for number in sorted(set(sets)):
        of_set = [r for r, of in enumerate(sets) if of == number and viable[r]]
        for lab in sorted(set(labs)):
            choices = [[None, *sorted(s for s in viable[r] if labs[s] == lab)] for r in of_set]
            for chosen in product(*choices):
                seats = {r: s for r, s in zip(of_set, chosen, strict=True) if s is not None}
                if len(seats) > 1 and len(set(seats.values())) == len(seats):
                    yield number, seats


CONFIGURATIONS = [
    Configuration("one recipe on one system; people do what they can", [["A"]], [0], [0], [0], [0]),
    Configuration("a set of two, and either system suits one of them", [["AB", "A"]], [0, 0], [0]),
    Configuration("a host with its guest, and a sibling", [["A", 0, "B"]], [0, 0], [0]),
    Configuration("a set of two that only one of two labs can serve", [["AC", "AB"]], [0, 0, 1]),
    Configuration("two recipes and one system, whose condition changes", [["A"], ["A"]], [0], [], [], [0]),
    Configuration("two recipes for two systems; priorities change", [["AB"], ["A"]], [0, 0], [], [0, 1]),
    Configuration("two sets of two need the same two systems", [["A", "B"], ["A", "B"]], [0, 0], [], [0]),
    Configuration("a set of two and a set of three need the same systems", [["A", "B"], ["A", "B", "C"]], [0, 0, 0]),
    Configuration("three recipes, each with its own system", [["A"], ["B"], ["C"]], [0, 0, 0]),
    Configuration("a set of two and a single recipe; a condition changes", [["AB", "A"], ["B"]], [0, 0], [], [], [0]),
]

# For the repaired proposal: what its seatings decide shows only there.
SEATED_CONFIGURATIONS = [
    *CONFIGURATIONS,
    Configuration("one of three systems changes", [["AB", "AC"]], [0, 0, 0], [], [], [2]),
    Configuration("a set that its only system cannot serve, and a recipe", [["A", "A"], ["A"]], [0], [0], [0]),
    Configuration("a set may lose a seat beside a recipe", [["A", "AB"], ["A"]], [0, 0], [], [0], [1]),
    Configuration("a set of three, of which two can be served", [["A", "B", "A"]], [0, 0], [0]),
    Configuration("a set may be cancelled beside a recipe", [["A", "AB"], ["A"]], [0, 0], [0], [0]),
]

# For the batch scheduler: without labs, guests and conditions.
BATCH_CONFIGURATIONS = [
    Configuration("one recipe on one system; people do what they can", [["A"]], [0], [0], [0]),
    Configuration("a set of two, and either system suits one of them", [["AB", "A"]], [0, 0], [0]),
    Configuration("three recipes for one system; a priority changes", [["A"], ["A"], ["A"]], [0], [], [0]),
    Configuration("two sets of two need the same two systems", [["A", "B"], ["A", "B"]], [0, 0]),
]


def configurations(
    sizes: Mapping[str, int], *, with_seatings: bool = False, among: Sequence[Configuration] = CONFIGURATIONS
) -> Iterator[Rigid]:
    """Yields the configurations that need no more objects than ``sizes``."""
    for configuration in among:
        if all(n <= sizes[sort] for sort, n in configuration.sizes.items()):
            yield configuration.rigid(with_seatings=with_seatings)
