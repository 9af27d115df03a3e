"""Every instance of a given size up to renaming, and the search through them.

Run it as a program to search: ``python tests/brute_beaker_patterns.py as-written 2,3 3`` (variant, recipes per set,
systems, then as wanted ``labs=2`` and moves such as ``cancel priority condition crash``).
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterator
from itertools import combinations_with_replacement, islice, permutations, product
from typing import NamedTuple

from brute_beaker import AS_WRITTEN, CRASHING, INTERLEAVED, LEAP, REPAIRED, Instance, Variant, instance
from brute_beaker_deadlocks import has_a_cycle, shortest_by_cause, waiting_for_ever
from brute_beaker_graph import Label
from brute_beaker_steps import graph

VARIANTS = {"as-written": AS_WRITTEN, "crashing": CRASHING, "interleaved": INTERLEAVED, "repaired": REPAIRED}

Masks = tuple[tuple[int, ...], ...]


def lab_splits(systems: int, labs: int) -> list[list[int]]:
    """Each way to share the systems out among exactly so many labs, up to renaming."""
    sizes = {tuple(sorted(c)) for c in product(range(1, systems + 1), repeat=labs) if sum(c) == systems}
    return [[lab for lab, size in enumerate(split) for _ in range(size)] for split in sorted(sizes)]


def patterns(shape: tuple[int, ...], labs: list[int]) -> Iterator[Masks]:
    """Each choice of non-empty viable sets, one of every class under renaming of systems (labs kept), recipes, sets."""
    systems = len(labs)
    images = _images(labs)
    for masks in product(*(combinations_with_replacement(range(1, 1 << systems), size) for size in shape)):
        candidate = _sorted_sets(masks)
        if candidate == masks and all(
            candidate <= _sorted_sets(tuple(tuple(sorted(image[m] for m in of)) for of in masks)) for image in images
        ):
            yield masks


def _sorted_sets(masks: Masks) -> Masks:
    """Sets of equal size in ascending order, sizes in the order that they have."""
    return tuple(sorted(masks, key=lambda of: (len(of), of)))


def _images(labs: list[int]) -> list[list[int]]:
    """For every renaming of the systems that keeps labs together, the image of each mask."""
    systems = range(len(labs))
    kept = [
        p
        for p in permutations(systems)
        if all((labs[a] == labs[b]) == (labs[p[a]] == labs[p[b]]) for a in systems for b in systems)
    ]
    return [[sum(1 << p[s] for s in systems if mask >> s & 1) for mask in range(1 << len(labs))] for p in kept]


class Tally(NamedTuple):
    """What a search saw: instances, states, transitions; per cause the instances with it and the shortest trace."""

    instances: int
    states: int
    transitions: int
    causes: Counter[str]
    shortest: dict[str, tuple[Instance, list[Label]]]
    starved: int
    circles: int


def search(
    variant: Variant,
    shape: tuple[int, ...],
    labs: list[int],
    moves: frozenset[str] = frozenset(),
    pace: str = LEAP,
    ranks: bool = False,
    every: int = 1,
    adjustable: list[int] | None = None,
) -> Tally:
    """All patterns of the shape; `ranks` adds every initial choice of the sets' priorities (0 or 1 each).

    `every` takes only each so-many-th pattern; `adjustable` are the systems that people may touch (all, if not given).
    """
    instances = states = transitions = starved = circles = 0
    causes: Counter[str] = Counter()
    shortest: dict[str, tuple[Instance, list[Label]]] = {}
    for masks in islice(patterns(shape, labs), 0, None, every):
        for rank in product((0, 1), repeat=len(shape)) if ranks else [(0,) * len(shape)]:
            inst = instance([list(of) for of in masks], labs, moves=moves, rank=list(rank), adjustable=adjustable)
            found = graph(inst, variant, pace)
            instances, states, transitions = instances + 1, states + len(found.states), transitions + found.transitions
            for cause, trace in shortest_by_cause(inst, found).items():
                causes[cause] += 1
                if cause not in shortest or len(trace) < len(shortest[cause][1]):
                    shortest[cause] = inst, trace
            starved += any(True for _ in waiting_for_ever(inst, found))
            circles += has_a_cycle(found)
    return Tally(instances, states, transitions, causes, shortest, starved, circles)


def main(arguments: list[str]) -> None:
    variant, shape, systems, *rest = arguments
    labs = next((int(word[5:]) for word in rest if word.startswith("labs=")), 1)
    moves = frozenset(word for word in rest if "=" not in word and word != "ranks")
    for split in lab_splits(int(systems), labs):
        start = time.time()
        tally = search(VARIANTS[variant], tuple(map(int, shape.split(","))), split, moves, ranks="ranks" in rest)
        print(*arguments, split, f"{time.time() - start:.0f} s", flush=True)
        print(f"  {tally.instances} instances, {tally.states} states, {tally.transitions} transitions")
        print(f"  could start but waits for ever: {tally.starved}; with a circle: {tally.circles}")
        for cause, count in tally.causes.items():
            inst, trace = tally.shortest[cause]
            print(f"  {cause}: {count}; sets {inst.set_of} viable {inst.viable}", "; ".join(map(_words, trace)))


def _words(label: Label) -> str:
    return f"{label[0]}({', '.join(map(str, label[1:]))})"


if __name__ == "__main__":
    main(sys.argv[1:])
