"""Streams of live views: server-sent events, one for each change of a session that its reader can take.

A stream holds one event. While its reader is slow, changes add up to the next one; a reader that takes nothing for long is
disconnected.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager

from .limits import Limits
from .session import Session

ALLOW = "schedproof.allow"
"""The key of a connection's function, in the scope of a request, that gives its client so many more seconds."""

END = b"event: end\ndata: {}\n\n"
BEAT = b": \n\n"


class TooManyStreams(Exception):
    """No more streams are possible. The message is one line."""


class Streams:
    """Counts the open streams of a server, and of each session."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._open: list[Session] = []

    def __len__(self) -> int:
        return len(self._open)

    @contextmanager
    def one_more(self, session: Session) -> Iterator[None]:
        """Counts a stream of a session.

        Raises:
            TooManyStreams: there are as many as the limit.
        """
        if len(self._open) >= self.limits.streams:
            raise TooManyStreams(f"{self.limits.streams} live views are open already; close one of them")
        self._open.append(session)
        try:
            yield
        finally:
            self._open.remove(session)
            if session not in self._open:
                session.forget_view()

    async def events(self, session: Session, allow: Callable[[float], None]) -> AsyncIterator[bytes]:
        """Yields the events of a session until it ends, beginning with what it is now.

        Args:
            session: the session.
            allow: gives the client so many seconds to take the next event.
        """
        limits, seen = self.limits, -1
        most = limits.beat + limits.pause + limits.reading
        while session.closed is None:
            if not await session.change(seen, limits.beat):
                allow(most)
                yield BEAT
                continue
            seen = session.version
            viewing = session.view()
            while not (await asyncio.wait({viewing}, timeout=limits.beat))[0]:  # it waits for the client's own requests
                allow(most)
                yield BEAT
            if session.closed is not None:
                break
            allow(most)
            yield b"event: view\ndata: " + viewing.result() + b"\n\n"
            del viewing  # the view is not held while nothing changes
            await asyncio.sleep(limits.pause)
        allow(limits.reading)
        yield END
