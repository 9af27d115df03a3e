"""Acts that run once for each part of the world."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from schedproof.impl.systems.jobmon.requests import Report, Request
from schedproof.impl.systems.jobmon.world import Act, Kind, Sides, Slot, State, World
from schedproof.proofs.systems.jobmon.refinement.configurations import Configuration
from schedproof.proofs.systems.jobmon.refinement.parts import Parts

CONFIGURATION = Configuration("a task with two distributors", (1,), distributors=2, instances=1)
RUNS, LONG, CALM = 10, 150, 0.97
TROUBLE = (Kind.CRASH, Kind.STOP, Kind.RUN_LAPSES, Kind.INSTANCE_LAPSES)
"""Acts that end most runs early: few are chosen."""


class Peeks(World):
    """Every step reads the memory of the reaper."""

    def _step(self, act: Act) -> str | None:
        assert self.slots["reaper"].memory is not None
        return super()._step(act)


class Meddles(World):
    """Every step lets the second distributor die."""

    def _step(self, act: Act) -> str | None:
        done = super()._step(act)
        self.slots["d2"] = Slot(None)
        return done


def parts(kind: type[World] = World) -> tuple[Parts, State]:
    seen: list[tuple[Request, Report]] = []
    given: dict[str, Any] = vars(CONFIGURATION.world(Sides(), lambda request, report: seen.append((request, report))))
    names = ("clients", "distributors", "sides", "observer", "server_restarts")
    world = kind(**{name: given[name] for name in names})
    return Parts(world, seen), world.state()


def test_parts_do_what_the_whole_world_does() -> None:
    """Along random runs, in which jobs are submitted and end."""
    seen: list[tuple[Request, Report]] = []
    done, start = parts()
    world = CONFIGURATION.world(Sides(), lambda request, report: seen.append((request, report)))
    random, kinds = Random(1), set[Kind]()
    for _ in range(RUNS):
        at = start
        for _ in range(LONG):
            world.restore(at)
            acts = world.acts()
            assert list(done.acts(at)) == acts
            calm = [act for act in acts if act.kind not in TROUBLE]
            act = random.choice(calm if calm and random.random() < CALM else acts)
            seen.clear()
            world.do(act)
            after, requests = done.do(at, act)
            assert (after, list(requests)) == (world.state(), seen)
            assert (after is at) == (after == at)
            kinds.add(act.kind)
            at = after
    assert kinds >= {Kind.STEP, Kind.LOST, Kind.HEARTBEAT, Kind.COMES_UP, Kind.COMMAND_ENDS, Kind.CRASH}


def test_an_act_that_reads_another_agent_fails() -> None:
    done, start = parts(Peeks)
    with pytest.raises(KeyError, match="reaper"):
        done.do(start, Act(Kind.STEP, "c1"))


def test_an_act_that_changes_another_agent_fails() -> None:
    done, start = parts(Meddles)
    with pytest.raises(ValueError, match="too many values"):
        done.do(start, Act(Kind.STEP, "c1"))
