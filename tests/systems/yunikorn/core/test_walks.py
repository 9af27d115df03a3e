"""YuniKorn's core under anything that a RM, a scheduler and timers may do, in any order."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from schedproof.impl.scheduler_interface import ApplicationUpdated, ReleasedAllocation, TerminationType
from schedproof.impl.systems.yunikorn.core import State, health
from schedproof.impl.systems.yunikorn.core.records import Allocation, Status, World
from tests.support.rows import each_row
from tests.support.sample import todays
from tests.systems.yunikorn.core.bench import Bench
from tests.systems.yunikorn.core.walks import Walker


@pytest.mark.long
@given(st.data())
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
def test_every_step_keeps_the_properties(data: st.DataObject) -> None:
    def pick(options: Sequence[object]) -> object:
        return options[data.draw(st.integers(0, len(options) - 1))]

    Walker(pick).walk(30)


@pytest.mark.long
def test_the_walks_go_everywhere() -> None:
    """What no walk comes by, no walk checks."""
    states: set[str] = set()
    kinds: set[str] = set()
    terminations: set[TerminationType] = set()
    for seed in range(40):
        walker = Walker(random.Random(seed).choice)
        walker.walk(80)
        kinds |= set(walker.done)
        seen = walker.bench.seen
        states |= {r.state for r in seen if isinstance(r, ApplicationUpdated)}
        terminations |= {r.termination for r in seen if isinstance(r, ReleasedAllocation)}
    # New is where everybody begins; of Rejected the RM hears by another message.
    assert states == set(State) - {"New", "Rejected"}
    assert terminations == set(TerminationType) - {TerminationType.UNKNOWN}
    assert {"crash", "remove", "gang time", "add again", "stop all"} <= kinds


@pytest.mark.long
def test_many_long_walks() -> None:
    """Of the bugs seeded into the core all that any walk catches are caught by the first 80, of 80 steps."""
    for seed in todays(range(400), 4):
        Walker(random.Random(seed).choice).walk(120)


# The health check sees what is wrong.


def spoilt(world: World, **changes: object) -> World:
    return World(**{**{name: getattr(world, name) for name in World.__dataclass_fields__}, **changes})


def busy() -> World:
    b = Bench()
    b.node("n")
    b.node("m")
    b.app(gang=2)
    b.placeholder("p0")
    b.placeholder("p1")
    b.schedule("p0")
    b.schedule("p1")
    b.drain("n")
    b.ask("r0", group="g")
    b.schedule("r0", "m", "p0")
    return b.core.world


def test_a_healthy_world() -> None:
    assert health(busy()) == []


@each_row(
    ("kind", "name", "field", "value", "message"),
    [
        ("nodes", "n", "allocated", 1, "node n: 1 allocated, but its allocations are 2"),
        ("nodes", "m", "allocated", 0, "node m: 0 allocated, but its allocations are 1"),
        ("nodes", "n", "capacity", 1, "has a negative amount"),
        ("nodes", "n", "occupied", -1, "has a negative amount"),
        ("nodes", "n", "partition", "other", "of different partitions"),
        ("nodes", "n", "partition", "nowhere", "no partition nowhere"),
        ("applications", "x", "reserved", 3, "0 real and 3 placeholders, but its allocations are 0 and 2"),
        ("applications", "x", "name", "y", "there is no application x"),
        ("applications", "x", "queue", "root.b", "root.b is no leaf queue"),
        ("applications", "x", "state", State.RUNNING, "the timer of its state is"),
        ("applications", "x", "state", State.FAILED, "still among the live ones"),
        ("applications", "x", "state_timer", None, "the timer of its state is None"),
        ("queues", "root.default", "allocated", 1, "queue root.default: 1 allocated"),
        ("queues", "root", "allocated", 3, "but 3 in its queues"),
        ("queues", "root.b", "name", "root.d", "nothing is above it"),
        ("asks", "r0", "pending", True, "ask r0 is pending, and has an allocation"),
        ("allocations", "p1", "node", "nowhere", "there is no node nowhere"),
        ("allocations", "r0", "replaces", "p1", "p1, which is no placeholder on its way out"),
        ("allocations", "r0", "replaces", None, "is swapping, and replaces None"),
        ("allocations", "r0", "held", False, "holds room on m: False"),
        ("allocations", "p0", "termination", None, "is releasing with termination None"),
        ("allocations", "p0", "termination", TerminationType.STOPPED_BY_RM, "which it ignores"),
    ],
)
def test_an_unhealthy_world(kind: str, name: str, field: str, value: object, message: str) -> None:
    world = busy()
    records = getattr(world, kind)
    changed = tuple(replace(r, **{field: value}) if r.name == name else r for r in records)
    assert changed != records
    wrong = health(spoilt(world, **{kind: changed}))
    assert any(message in line for line in wrong), wrong


def test_two_asks_for_one_placeholder() -> None:
    world = busy()
    other = Allocation("r1", "x", "m", 1, False, "g", Status.SWAPPING, replaces="p0", held=True)
    wrong = health(spoilt(world, allocations=(*world.allocations, other)))
    assert "placeholder p0: 2 asks are to replace it" in wrong
