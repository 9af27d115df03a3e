"""All sessions of a server. Their number is limited, and nobody can guess their names."""

from __future__ import annotations

import asyncio
import contextlib
import math
import secrets
from dataclasses import dataclass, field
from typing import Any

from .answers import Answer, Kind, problem
from .limits import MOST_EVENTS, Limits
from .nursery import NoProcess, Nursery
from .session import Session

CLOSED = problem(Kind.UNKNOWN, "the session was closed")
ENDED = problem(Kind.ENDING, "the server is ending; its sessions end with it")


@dataclass
class Sessions:
    """The operations behind HTTP and JSON-RPC. Call its methods in one event loop."""

    nursery: Nursery
    limits: Limits
    _open: dict[str, Session] = field(default_factory=dict)
    _opening: int = 0
    _ending: bool = False
    _sweeper: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Sessions:
        self._sweeper = asyncio.create_task(self._sweep())
        return self

    async def __aexit__(self, *ended: object) -> None:
        assert self._sweeper is not None
        self._sweeper.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._sweeper
        await self.end()

    def __len__(self) -> int:
        return len(self._open)

    @property
    def alive(self) -> bool:
        """Whether sessions can be created, while there are not too many."""
        return self.nursery.alive and not self._ending

    async def create(self, body: bytes) -> Answer:
        """Creates a session; the answer has its name as ``id``."""
        if self._ending:
            return ENDED
        if len(self._open) + self._opening >= self.limits.sessions:
            says = f"there are {self.limits.sessions} sessions already; close one, or wait until one that is idle ends"
            return problem(Kind.FULL, says, self._until_one_ends())
        self._opening += 1
        try:
            born = await asyncio.to_thread(self.nursery.start)
            session = Session(born, self.nursery, self.limits)
            await session.connect()
            answer = await session.ask({"ask": "create"}, body)
            if not answer.done or self._ending:
                await session.close(CLOSED)
                return ENDED if self._ending else answer
            name = secrets.token_urlsafe(18)
            self._open[name] = session
            return Answer(Kind.DONE, {"id": name, **answer.body})
        except NoProcess as error:
            return problem(Kind.FULL, str(error), 10)
        finally:
            self._opening -= 1

    async def records(self, name: str, body: bytes, *, lines: bool, after: int | None) -> Answer:
        """Sends records to a session.

        Args:
            name: the name of the session.
            body: the records, a list or one a line.
            lines: whether they are one a line.
            after: how many records the session must have taken before; None: any number.
        """
        return await self._ask(name, {"ask": "records", "lines": lines, "after": after}, body)

    async def report(self, name: str) -> Answer:
        """The report of ``validate --json`` on the records so far."""
        return await self._ask(name, {"ask": "report"})

    async def events(self, name: str, most: int | None) -> Answer:
        """The events that may happen next, at most ``most``."""
        return await self._ask(name, {"ask": "events", "most": min(most or MOST_EVENTS, MOST_EVENTS)})

    def live_name(self, name: str) -> str:
        """The name of a session for viewers; "" if it is no longer open."""
        return self._open[name].live if name in self._open else ""

    def live(self) -> list[dict[str, Any]]:
        """The open sessions by their names for viewers, the one with the latest request first."""
        by_use = sorted(self._open.values(), key=lambda session: session.idle)
        return [{"name": s.live, **s.standing, "idle_seconds": round(s.idle)} for s in by_use]

    def watched(self, live: str) -> Session | None:
        """The session with this name for viewers."""
        return next((session for session in self._open.values() if session.live == live), None)

    async def close(self, name: str) -> Answer:
        """Ends a session at once, even during a request."""
        session = self._open.pop(name, None)
        if session is None:
            return self._unknown()
        await session.close(CLOSED)
        return Answer(Kind.DONE)

    async def end(self) -> None:
        """Ends all sessions. Waiting requests get the answer that the server ends."""
        self._ending = True
        ended, self._open = list(self._open.values()), {}
        await asyncio.gather(*(session.close(ENDED) for session in ended))

    async def _ask(self, name: str, head: dict[str, object], body: bytes = b"") -> Answer:
        session = self._open.get(name)
        return self._unknown() if session is None else await session.ask(head, body)

    def _unknown(self) -> Answer:
        if self._ending:
            return ENDED
        says = f"unknown session; it was closed, or received no request for {self.limits.idle:g} s"
        return problem(Kind.UNKNOWN, says)

    def _until_one_ends(self) -> int:
        longest = max((session.idle for session in self._open.values()), default=0.0)
        return max(1, math.ceil(self.limits.idle - longest))

    async def _sweep(self) -> None:
        """Ends sessions that have been idle for too long."""
        while True:
            await asyncio.sleep(min(self.limits.idle / 4, 5.0))
            for name, session in list(self._open.items()):
                if session.idle > self.limits.idle:
                    await self.close(name)
