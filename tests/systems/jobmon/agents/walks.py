"""Jobmon's simulated world, explored as far as few bad things reach, with the properties checked in every state (for tests)."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from schedproof.impl.systems.jobmon.cluster import Ending
from schedproof.impl.systems.jobmon.errors import IllegalMove
from schedproof.impl.systems.jobmon.world import Act, Kind, Sides, State, World
from tests.systems.jobmon.agents.properties import broken

BAD = frozenset({Kind.LOST, Kind.CRASH, Kind.RESTART, Kind.INSTANCE_LAPSES, Kind.RUN_LAPSES, Kind.SERVER_RESTARTS})


@dataclass(frozen=True)
class Broken(Exception):
    """A property that does not hold, and the acts that lead there."""

    problem: str
    acts: tuple[Act, ...]


def useful(act: Act) -> bool:
    """Not all that may happen is worth a branch of its own here."""
    return act.kind is not Kind.STOP and act.ending is not Ending.ERROR and act.choice == 0


def explore(world: World, *, bad: int, most: int) -> int:
    """Goes through all states with at most so many bad things on the way, at most so many states; how many there were.

    Raises:
        Broken: a property does not hold.
    """
    start = world.state()
    reached: dict[tuple[State, int], tuple[tuple[State, int] | None, Act | None]] = {(start, 0): (None, None)}
    todo = deque(reached)
    while todo and len(reached) < most:
        at = todo.popleft()
        world.restore(at[0])
        for act in world.acts():
            count = at[1] + (act.kind in BAD)
            if count > bad or not useful(act):
                continue
            world.restore(at[0])
            try:
                world.do(act)
            except IllegalMove as error:
                raise Broken(str(error), (*_way(reached, at), act)) from error
            reached_at = (world.state(), count)
            if reached_at in reached:
                continue
            reached[reached_at] = (at, act)
            problem = broken(world)
            if problem is not None:
                raise Broken(problem, tuple(_way(reached, reached_at)))
            todo.append(reached_at)
    return len(reached)


def _way(
    reached: dict[tuple[State, int], tuple[tuple[State, int] | None, Act | None]], to: tuple[State, int]
) -> list[Act]:
    acts = []
    before, act = reached[to]
    while before is not None and act is not None:
        acts.append(act)
        before, act = reached[before]
    return acts[::-1]


def small(sides: Sides | None = None, *, attempts: int = 2) -> World:
    """One task, one client, one distributor."""
    from schedproof.impl.systems.jobmon.requests import TaskSpec
    from schedproof.impl.systems.jobmon.world import ClientSpec
    from tests.systems.jobmon.agents.scenarios import workflow

    spec = workflow(TaskSpec("a", "x", max_attempts=attempts))
    return World({"c1": ClientSpec(spec)}, 1, sides or Sides())
