"""What the searches that were never made would take: ``python -m tests.systems.beaker.brute_force.estimate``.

Three sets on four systems have many patterns, each with many states. The patterns are counted, by the list itself. The states of one are
estimated from the growth of smaller searches, which the record has: a fourth system multiplies the states of two sets of two recipes by
``g``, so those of a shape with ``n`` recipes by ``g ** (n / 4)``. Systems in one lab and in two count apart: two have far fewer states.
``--sample`` explores some patterns at random, which shows how good that is.

The patterns do not depend on each other, so they can be searched side by side: ``searches --cluster`` does.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass

from tests.systems.beaker.brute_force.patterns import instances, lab_splits, search
from tests.systems.beaker.brute_force.searches import VARIANTS, Record, Search, Unusable, load

SHAPES = [(1, 1, 2), (1, 2, 2), (2, 2, 2)]

STATES_A_SECOND = 6_000
"""By one processor, as ``--sample`` measured it on a busy machine: from 3,800 to 9,500."""

PROCESSORS, HOURS = 32, 24
"""Of a machine, and how long it may take."""


@dataclass(frozen=True)
class Estimate:
    """The patterns of a search, and the states of all of them."""

    search: Search
    patterns: int
    states: float


def mean(record: Record, variant: str, shape: tuple[int, ...], systems: int, labs: int) -> float:
    """The recorded states of a pattern, on the average over patterns and ways to share out the systems among so many labs.

    What was not searched with two labs has as large a share of the states with one lab as 1+2+2 has.
    """
    names = [Search(variant, shape, tuple(split)).name for split in lab_splits(systems, labs)]
    if not all(name in record.finished for name in names):
        both = [mean(record, variant, (1, 2, 2), systems, count) for count in (labs, 1)]
        return mean(record, variant, shape, systems, 1) * both[0] / both[1]
    tallies = [record.finished[name] for name in names]
    return sum(tally.states for tally in tallies) / sum(tally.instances for tally in tallies)


def growth(record: Record, variant: str, labs: int) -> float:
    """What a fourth system multiplies the states of two sets of two recipes by."""
    return mean(record, variant, (2, 2), 4, labs) / mean(record, variant, (2, 2), 3, labs)


def estimated(record: Record, variant: str, shape: tuple[int, ...]) -> Iterator[Estimate]:
    """The estimates for a shape on four systems, for each way to share them out among one or two labs."""
    for labs in (1, 2):
        states = mean(record, variant, shape, 3, labs) * growth(record, variant, labs) ** (sum(shape) / 4)
        for split in lab_splits(4, labs):
            its = Search(variant, shape, tuple(split))
            patterns = sum(1 for _ in its.instances())
            yield Estimate(its, patterns, patterns * states)


def sampled(of: Search, patterns: int, seconds: float, rng: random.Random) -> tuple[int, float, float]:
    """Explores patterns at random for some time: how many, the states of one on the average, and the states a second."""
    chosen = sorted(rng.sample(range(patterns), min(patterns, 1000)))
    keep, began = set(chosen), time.perf_counter()
    its = {n: each for n, each in enumerate(instances(of.shape, list(of.labs))) if n in keep}
    rng.shuffle(chosen)
    began, states, done = time.perf_counter(), 0, 0
    for number in chosen:
        states += search(VARIANTS[of.variant], [its[number]]).states
        done += 1
        if time.perf_counter() - began > seconds:
            break
    return done, states / done, states / (time.perf_counter() - began)


def main(arguments: list[str]) -> int:
    """0, or 2 without a record."""
    parser = argparse.ArgumentParser(description="Estimate three sets on four systems.")
    parser.add_argument(
        "--variant", choices=("as-written", "repaired"), default="repaired", help="the scheduler (repaired)"
    )
    parser.add_argument(
        "--sample", type=float, default=0.0, metavar="SECONDS", help="also explore patterns of each row that long"
    )
    parser.add_argument("--seed", type=int, default=1, help="of the sample (1)")
    options = parser.parse_args(arguments)
    try:
        record = load()
    except Unusable as problem:
        print(problem, file=sys.stderr)
        return 2
    one, two = (growth(record, options.variant, labs) for labs in (1, 2))
    print(f"a fourth system multiplies the states of 2+2 by {one:.1f} in one lab, by {two:.1f} in two")
    total, rng = 0.0, random.Random(options.seed)
    for shape in SHAPES:
        for each in estimated(record, options.variant, shape):
            total += each.states
            print(
                f"{each.search.name}: {each.patterns:,} patterns, {each.states / each.patterns:,.0f} states each, "
                f"{each.states:.1e} in all, {each.states / STATES_A_SECOND / 3600:,.1f} processor hours"
            )
            if options.sample:
                done, states, pace = sampled(each.search, each.patterns, options.sample, rng)
                print(f"  {done} at random: {states:,.0f} states each, {pace:,.0f} states/s")
    hours = total / STATES_A_SECOND / 3600
    print(
        f"all: {total:.1e} states, {hours:,.0f} processor hours at {STATES_A_SECOND:,} states/s: "
        f"{hours / PROCESSORS / HOURS:.2f} machines of {PROCESSORS} processors for {HOURS} hours"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
