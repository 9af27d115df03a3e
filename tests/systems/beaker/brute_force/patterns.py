"""Every instance of a given size up to renaming, and the search through them for deadlocks.

`patterns` lists the viable sets, `orders` the priorities, `instances` puts them together and `search` explores each.  The
searches that have been made, and the program that makes them, are in `searches`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations_with_replacement, islice, permutations, product
from typing import NamedTuple

from tests.systems.beaker.brute_force.deadlocks import has_a_cycle, shortest_by_cause, waiting_for_ever
from tests.systems.beaker.brute_force.graph import Label
from tests.systems.beaker.brute_force.scheduler import LEAP, NONE, Instance, Variant, instance
from tests.systems.beaker.brute_force.steps import graph

Masks = tuple[tuple[int, ...], ...]


# --- Instances --------------------------------------------------------------------------------------------------------


def lab_splits(systems: int, labs: int) -> list[list[int]]:
    """Each way to share the systems out among exactly so many labs, up to renaming."""
    sizes = {tuple(sorted(c)) for c in product(range(1, systems + 1), repeat=labs) if sum(c) == systems}
    return [[lab for lab, size in enumerate(split) for _ in range(size)] for split in sorted(sizes)]


def orders(sets: int) -> list[tuple[int, ...]]:
    """Each way to order the sets by priority, ties allowed: ranks from 0 without a gap; all equal comes first."""
    return [ranks for ranks in product(range(sets), repeat=sets) if set(ranks) == set(range(max(ranks) + 1))]


def patterns(shape: tuple[int, ...], labs: list[int], marked: int = NONE) -> Iterator[Masks]:
    """Each choice of non-empty viable sets, one of every class under renaming of systems (labs kept), recipes, sets.

    A `marked` system is special and keeps its name.
    """
    systems = len(labs)
    images = _images(labs, marked)
    for masks in product(*(combinations_with_replacement(range(1, 1 << systems), size) for size in shape)):
        candidate = _sorted_sets(masks)
        if candidate == masks and all(
            candidate <= _sorted_sets(tuple(tuple(sorted(image[m] for m in of)) for of in masks)) for image in images
        ):
            yield masks


def _sorted_sets(masks: Masks) -> Masks:
    """Sets of equal size in ascending order, sizes in the order that they have."""
    return tuple(sorted(masks, key=lambda of: (len(of), of)))


def _renamings(labs: list[int]) -> list[tuple[int, ...]]:
    """The renamings of the systems that keep labs together."""
    systems = range(len(labs))
    return [
        p
        for p in permutations(systems)
        if all((labs[a] == labs[b]) == (labs[p[a]] == labs[p[b]]) for a in systems for b in systems)
    ]


def _images(labs: list[int], marked: int) -> list[list[int]]:
    """For every renaming of the systems that keeps labs and the marked system, the image of each mask."""
    kept = [p for p in _renamings(labs) if marked == NONE or p[marked] == marked]
    return [[sum(1 << p[s] for s in range(len(labs)) if mask >> s & 1) for mask in range(1 << len(labs))] for p in kept]


def unlike_systems(labs: list[int]) -> list[int]:
    """One system of each class under the renamings that keep labs together."""
    return sorted({min(p[s] for p in _renamings(labs)) for s in range(len(labs))})


def instances(
    shape: tuple[int, ...],
    labs: list[int],
    *,
    moves: frozenset[str] | set[str] = frozenset(),
    ranks: list[tuple[int, ...]] | None = None,
    adjustable: list[int] | None = None,
    one_adjustable: bool = False,
) -> Iterator[Instance]:
    """Every pattern of the shape with each of the `ranks` (all equal, if none are given).

    `adjustable` are the systems that people may touch: all, if they are not given.  With `one_adjustable` it is one of
    them, each in its turn.
    """
    for marked in unlike_systems(labs) if one_adjustable else [NONE]:
        for masks in patterns(shape, labs, marked):
            for rank in ranks or [(0,) * len(shape)]:
                yield instance(
                    [list(of) for of in masks],
                    labs,
                    moves=moves,
                    rank=list(rank),
                    adjustable=[marked] if one_adjustable else adjustable,
                )


# --- Searching --------------------------------------------------------------------------------------------------------


class Finding(NamedTuple):
    """A cause of deadlocks: how many instances have it, and a shortest trace to it, with the first instance that has one."""

    instances: int
    steps: int
    number: int
    """The instance's place among those that were searched, from 0."""
    given: str
    trace: str


class Tally(NamedTuple):
    """What a search saw: how much, per cause of deadlocks the finding, in how many instances a set starves or steps go round."""

    instances: int
    states: int
    transitions: int
    causes: dict[str, Finding]
    starved: int
    circles: int


def search(variant: Variant, of: Iterable[Instance], part: int = 0, parts: int = 1, pace: str = LEAP) -> Tally:
    """Explore the instances; of those, only each `parts`-th, from the one with the number `part`."""
    tally = Tally(0, 0, 0, {}, 0, 0)
    for number, inst in islice(enumerate(of), part, None, parts):
        explored = graph(inst, variant, pace)
        causes = {
            cause: Finding(1, len(trace), number, described(inst), "; ".join(map(words, trace)))
            for cause, trace in shortest_by_cause(inst, explored).items()
        }
        starved = any(True for _ in waiting_for_ever(inst, explored))
        circles = has_a_cycle(explored)
        tally = joined(tally, Tally(1, len(explored.states), explored.transitions, causes, starved, circles))
    return tally


def joined(one: Tally, other: Tally) -> Tally:
    """Two lots of instances together."""
    causes = dict(one.causes)
    for cause, new in other.causes.items():
        old = causes.get(cause, new)
        shorter = min(old, new, key=lambda finding: (finding.steps, finding.number))
        causes[cause] = shorter._replace(instances=new.instances + (old.instances if cause in causes else 0))
    return Tally(
        one.instances + other.instances,
        one.states + other.states,
        one.transitions + other.transitions,
        causes,
        one.starved + other.starved,
        one.circles + other.circles,
    )


# --- In words ---------------------------------------------------------------------------------------------------------


def _letters(mask: int) -> str:
    return "".join(letter for s, letter in enumerate("ABCDEF") if mask >> s & 1)


def described(inst: Instance) -> str:
    """The instance in a line: the viable systems of each recipe, set by set, then what is not the same everywhere."""
    numbers = range(len(inst.viable))
    sets = [
        ", ".join(f"r{r} on {_letters(inst.viable[r])}" for r in numbers if inst.set_of[r] == of) for of in inst.sets
    ]
    text = "; ".join(f"set {of}: {recipes}" for of, recipes in enumerate(sets))
    text += f"; labs {' and '.join(map(_letters, inst.areas))}"
    if any(inst.rank):
        text += f"; priorities {', '.join(map(str, inst.rank))}"
    if len(inst.adjustable) < len(inst.lab_of):
        text += f"; people touch {_letters(sum(1 << s for s in inst.adjustable))} only"
    return text


_OF_SETS = {"take_up", "search_ends", "settle", "begin", "cancel_set", "abort_set", "change_priority"}
_OF_RECIPES = {"install", "run", "complete", "abort_dead", "cancel", "abort"}


def words(label: Label) -> str:
    """The step and its parameters: "set 0", "r1" for a recipe, a letter for a system."""
    name, *parameters = label
    numbers = [int(number) for number in parameters]
    systems = [_letters(1 << s) if s != NONE else "-" for s in numbers]
    if name in _OF_SETS:
        return f"{name} set {numbers[0]}"
    if name in _OF_RECIPES:
        return f"{name} r{numbers[0]}"
    if name == "seat":
        return f"seat set {numbers[0]} on {' '.join(systems[1:])}"
    if name == "find_idle":
        return f"find_idle r{numbers[0]} {systems[1]}"
    if name in ("give_to_assigned", "give_to_queued"):
        return f"{name} {systems[0]} r{numbers[1]}"
    return " ".join([str(name), *systems])
