"""All sessions of a server: at most so many, each with a name that nobody can guess."""

from __future__ import annotations

import asyncio
import contextlib
import math
import secrets
from dataclasses import dataclass, field

from .answers import Answer, Kind, problem
from .limits import MOST_EVENTS, Limits
from .nursery import NoProcess, Nursery
from .session import Session

CLOSED = problem(Kind.UNKNOWN, "the session was closed")
ENDED = problem(Kind.ENDING, "the server is ending; its sessions end with it")


@dataclass
class Sessions:
    """What HTTP and JSON-RPC are made of. Its methods are called in one event loop."""

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
        """Sessions can be created, when there are not too many."""
        return self.nursery.alive and not self._ending

    async def create(self, body: bytes) -> Answer:
        """A new session, with its name as ``id``."""
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
        """Hands records to a session: a list, or one a line; ``after`` is how many it should have taken before."""
        return await self._ask(name, {"ask": "records", "lines": lines, "after": after}, body)

    async def report(self, name: str) -> Answer:
        """What ``validate --json`` says of the records so far."""
        return await self._ask(name, {"ask": "report"})

    async def events(self, name: str, most: int | None) -> Answer:
        """What may happen next."""
        return await self._ask(name, {"ask": "events", "most": min(most or MOST_EVENTS, MOST_EVENTS)})

    async def close(self, name: str) -> Answer:
        """Ends a session at once, whatever it does."""
        session = self._open.pop(name, None)
        if session is None:
            return self._unknown()
        await session.close(CLOSED)
        return Answer(Kind.DONE)

    async def end(self) -> None:
        """Ends all of them: whoever waits is told so."""
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
        """Ends sessions that nobody asks anything any more."""
        while True:
            await asyncio.sleep(min(self.limits.idle / 4, 5.0))
            for name, session in list(self._open.items()):
                if session.idle > self.limits.idle:
                    await self.close(name)
