"""All that a core can come to with one application, a few asks and two nodes; every step is checked.

No time is kept: a timer may run out at any moment after it is armed, and be delivered at any later one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import pytest

from schedproof.impl.scheduler_interface import AddAsk, Control, GangStyle, NodeAction, RemoveApplication, UpdateNode
from schedproof.impl.systems.yunikorn.core import Draft, Wakeup, canonical
from tests.support.sample import thinned
from tests.systems.yunikorn.core.bench import Bench, Snapshot
from tests.systems.yunikorn.core.seeded import (
    GangTimeFailsWhatIsFailing,
    LosesTheSwapOfAStoppedPlaceholder,
    R1WakeupsOfEarlierStays,
    R2CompletesOverASwap,
    R2CompletesOverItsPlaceholders,
    R3TheFirstSwapIsNone,
    R4ConfirmsASwapInFailing,
    R4FailedWithTheLastPlaceholder,
    R4FailsWithoutReleasing,
    R5HardFailsInAnyCase,
    R9SwapsComeToDrainedNodes,
)

Move = Callable[[], object]


def moves(b: Bench, asks: Sequence[str]) -> list[tuple[Move, bool]]:
    """What can happen now to the one application, its asks, the node and the timers.

    With each, whether it ends the application by removing it or its partition.
    """
    world = b.core.world
    continuing: list[Move] = []
    ending: list[Move] = []
    if world.applications:
        ending.append(partial(b.handle, RemoveApplication("x")))
        used_names = {a.name for a in world.asks} | {a.name for a in world.allocations}
        new = [AddAsk("x", a, placeholder=a.startswith("p"), task_group="g") for a in asks if a not in used_names]
        continuing += [partial(b.handle, ask) for ask in new]
    continuing += [partial(b.withdraw, a.name) for a in world.asks]
    continuing += [partial(b.schedule, o.ask, o.node, o.replaces) for o in b.core.options()]
    continuing += [partial(b.confirm, r.allocation) for r in b.owed]
    continuing += [partial(b.stop, a.name) for a in world.allocations if a.confirmed]
    for node in world.nodes:
        action = NodeAction.DRAIN_NODE if node.schedulable else NodeAction.DRAIN_TO_SCHEDULABLE
        continuing.append(partial(b.handle, UpdateNode(node.name, action)))
    timers = [t.name for t in b.clock.pending() if isinstance(t.name, Wakeup) and t.name.application]
    continuing += [partial(b.clock.run_out, timer) for timer in timers]
    continuing += [partial(b.deliver, t.name) for t in b.clock.under_way()]
    if any(p.name == "default" and p.state != "Draining" for p in world.partitions):
        ending.append(partial(b.control, Control.REMOVE))
    return [(move, False) for move in continuing] + [(move, True) for move in ending]


def key(b: Bench) -> object:
    """Where the core is, and all that is under way to it."""
    wakeups = [t.name for t in b.clock.under_way() if isinstance(t.name, Wakeup)]
    return canonical(b.core.world, wakeups), frozenset(b.owed)


@dataclass
class Explored:
    """``states``: in how many configurations the application is in which state; ``stuck``: no way to its end from there."""

    configurations: int
    states: Counter[str]
    stuck: list[str]


def explore(asks: Sequence[str], gang: int, style: GangStyle, draft: type[Draft] = Draft) -> Explored:
    """All configurations, breadth first.

    Args:
        asks: those that the application can make; ``p...`` are placeholders.
        gang: how many placeholders its gang has.
        style: the gang's.
        draft: what the core is made of.

    Raises:
        AssertionError: a property is broken on the way.
    """
    b = Bench(draft, timed=False)
    b.node("n", 2)
    b.app(gang=gang, style=style)
    snapshots: list[Snapshot] = [b.snapshot()]
    number = {key(b): 0}
    state = [str(b.state())]
    before: list[set[int]] = [set()]
    for source, place in enumerate(snapshots):
        b.restore(place)
        for move, ends_it in moves(b, asks):
            b.restore(place)
            move()
            target = number.setdefault(key(b), len(snapshots))
            if target == len(snapshots):
                snapshots.append(b.snapshot())
                state.append(str(b.state()))
                before.append(set())
            if not ends_it:
                before[target].add(source)
    ways = [i for i, it in enumerate(state) if it in ENDED]
    reaches = set(ways)
    while ways:
        new = before[ways.pop()] - reaches
        reaches |= new
        ways += new
    return Explored(len(snapshots), Counter(state), [state[i] for i in range(len(snapshots)) if i not in reaches])


ALL = {"New", "Accepted", "Starting", "Running", "Completing", "Completed", "Expired", "Failing", "Failed", "Resuming"}
ENDED = {"Completed", "Expired", "Failed", "None"}


class TestEverything:
    """That no property is broken is checked in every step; here is asked where the steps lead."""

    def check(self, asks: str, gang: int, style: GangStyle, *, resumes: bool, starts: bool = True) -> None:
        explored = explore(asks.split(), gang, style)
        never = {name for name, comes in (("Resuming", resumes), ("Starting", starts)) if not comes}
        assert set(explored.states) - {"None"} == ALL - never
        assert explored.stuck == [], "no way to an end without removing application or partition"

    def test_without_a_gang(self) -> None:
        self.check("r0 r1", 0, GangStyle.SOFT, resumes=False)

    def test_a_gang_that_is_complete(self) -> None:
        self.check("p0", 1, GangStyle.HARD, resumes=False)

    @pytest.mark.parametrize("style", thinned(list(GangStyle), 2, first=1))
    def test_a_gang_that_is_never_complete(self, style: GangStyle) -> None:
        # Running it comes to from Completing only.
        self.check("p0", 2, style, resumes=style is GangStyle.SOFT, starts=False)

    @pytest.mark.long(one_in=18)
    @pytest.mark.parametrize("style", list(GangStyle))
    def test_larger_ones(self, style: GangStyle) -> None:
        self.check("p0 r0", 2, style, resumes=style is GangStyle.SOFT)
        self.check("p0 r0", 1, style, resumes=False)
        self.check("p0 p1", 2, style, resumes=style is GangStyle.SOFT)
        self.check("p0 r0 r1", 2, style, resumes=style is GangStyle.SOFT)


@pytest.mark.parametrize(
    ("draft", "asks", "gang", "message"),
    [
        (R1WakeupsOfEarlierStays, "r0", 0, "of an earlier stay, and does something"),
        (R2CompletesOverASwap, "p0 r0", 1, "no running containers|no pending requests"),
        (R2CompletesOverItsPlaceholders, "p0 r0", 1, "no running containers"),
        (R3TheFirstSwapIsNone, "p0 r0", 2, "it moves on"),
        (R4FailedWithTheLastPlaceholder, "p0 r0", 2, "there is no application x"),
        (R4FailsWithoutReleasing, "r0", 0, "nobody cleans up"),
        (R4ConfirmsASwapInFailing, "p0 r0", 2, "requests are to be gone"),
        (R5HardFailsInAnyCase, "p0 r0", 2, "fails, but has"),
        (R9SwapsComeToDrainedNodes, "p0 r0", 2, "the node is not schedulable"),
        (GangTimeFailsWhatIsFailing, "p0", 2, "there is no application x"),
        (LosesTheSwapOfAStoppedPlaceholder, "p0 r0", 2, "will never hear of r0"),
    ],
    ids=lambda it: it.__name__ if isinstance(it, type) else None,
)
def test_seeded_bugs_are_found(draft: type[Draft], asks: str, gang: int, message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        explore(asks.split(), gang, GangStyle.HARD, draft)


class StaysFailing(Draft):
    def is_cleaned_up(self, name: str) -> bool:
        return not self.real(name) and not self.placeholders(name) and self.applications[name].real < 0


def test_a_wedge_is_a_broken_property() -> None:
    with pytest.raises(AssertionError, match="cleaned up, so it is Failed"):
        explore(["r0"], 0, GangStyle.SOFT, StaysFailing)
