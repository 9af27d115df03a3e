"""Does each act once for each part of the world that it can read.

An act of an agent reads the database, the jobs and the agent's own memory, but not the memory of other agents. So it
runs in a world without other agents, where looking for one by its name fails. All states with the same part have the
same outcome.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

from schedproof.impl.systems.jobmon.records import Records
from schedproof.impl.systems.jobmon.requests import Report, Request
from schedproof.impl.systems.jobmon.simulated_cluster import Job
from schedproof.impl.systems.jobmon.world import Act, Slot, State, World

Seen = Sequence[tuple[Request, Report]]
"""The requests of an act that were carried out, with their reports."""

T = TypeVar("T")


Agent = tuple[str, Slot]
"""An agent's name, and its memory."""

Part = tuple[Records, Agent | None, tuple[Job, ...], bool]
"""The database, at most one agent, the jobs, and whether the server has started just now."""

Effect = tuple[Part | None, Seen]
"""What an act does: the part of the world after it, None if it changes nothing; and its requests."""


class Parts:
    """The acts of a world and their effects, computed once each.

    Args:
        world: in any state.
        seen: to which the world's observer adds the requests of an act.
    """

    def __init__(self, world: World, seen: list[tuple[Request, Report]]) -> None:
        self._world, self._seen = world, seen
        self._acts: dict[Part, list[Act]] = {}
        self._effects: dict[tuple[Part, Act], Effect] = {}
        self._one: dict[object, object] = {}

    def acts(self, at: State) -> Iterator[Act]:
        """Yields all possible acts, those of agents first."""
        for agent in (*at.agents, None):
            yield from self._acts_in((at.records, agent, at.jobs, at.grace))

    def _acts_in(self, part: Part) -> list[Act]:
        """The acts of the agent of a part; without an agent, all other acts."""
        acts = self._acts.get(part)
        if acts is None:
            agent = part[1]
            self._restore(part)
            acts = self._acts[part] = [act for act in self._world.acts() if agent is None or act.who == agent[0]]
        return acts

    def do(self, at: State, act: Act) -> tuple[State, Seen]:
        """Returns the state after an act, ``at`` itself if nothing changes, and its requests.

        A bug may raise any exception.
        """
        agent = next((agent for agent in at.agents if agent[0] == act.who), None)
        part = at.records, agent, at.jobs, at.grace
        effect = self._effects.get((part, act))
        if effect is None:
            effect = self._effects[part, act] = self._done(part, act)
        after, seen = effect
        if after is None:
            return at, seen
        records, changed, jobs, grace = after
        agents = at.agents
        if changed is not agent and changed is not None:
            agents = tuple([changed if each is agent else each for each in agents])
        return State(records, agents, jobs, grace), seen

    def _done(self, part: Part, act: Act) -> Effect:
        self._restore(part)
        self._seen.clear()
        self._world.do(act)
        now = self._world.state()
        (agent,) = now.agents or (None,)
        after = self._same(now.records), self._same(agent), self._same(now.jobs), now.grace
        return None if after == part else after, tuple(self._seen)

    def _restore(self, part: Part) -> None:
        records, agent, jobs, grace = part
        self._world.restore(State(records, () if agent is None else (agent,), jobs, grace))

    def _same(self, value: T) -> T:
        """One object for all equal values: it is compared and hashed fast."""
        return self._one.setdefault(value, value)  # type: ignore[return-value]
