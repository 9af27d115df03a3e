"""JSON-RPC over standard input and output: one message a line."""

from __future__ import annotations

import asyncio
import contextlib
import os
import queue
import signal
from collections.abc import Iterator
from dataclasses import replace
from threading import Semaphore, Thread

from .limits import Limits
from .nursery import Nursery
from .rpc import Rpc, too_long
from .sessions import Sessions

UNDER_WAY = 64
"""How many messages are answered at the same time. Later messages are not read before one is done."""

TOO_LONG = None
"""Stands for a line that is longer than allowed, and was dropped."""


def lines(source: int, limit: int) -> Iterator[bytes | None]:
    """Yields the lines of an open file that are not blank; ``TOO_LONG`` for a line of more than ``limit`` bytes."""
    held, dropping = bytearray(), False
    while True:
        part = os.read(source, 1 << 16)
        *complete, rest = part.split(b"\n")
        for piece in complete:
            held += piece
            if dropping or len(held) > limit:
                yield TOO_LONG
            elif held.strip():
                yield bytes(held)
            held, dropping = bytearray(), False
        if not dropping:
            held += rest
        if len(held) > limit:
            held, dropping = bytearray(), True
        if not part:
            if dropping:
                yield TOO_LONG
            elif held.strip():
                yield bytes(held)
            return


class Stdio:
    """Reads and writes in daemon threads, which may block forever without keeping the process alive."""

    def __init__(self, sessions: Sessions, source: int, target: int) -> None:
        self._rpc, self._sessions = Rpc(sessions), sessions
        self._source, self._target = source, target
        self._free = Semaphore(UNDER_WAY)
        self._written: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._tasks: set[asyncio.Task[None]] = set()

    async def talk(self) -> None:
        """Answers until the input ends, the output is closed, or the process gets SIGINT or SIGTERM."""
        self._loop, self._over = asyncio.get_running_loop(), asyncio.Event()
        for each in (signal.SIGINT, signal.SIGTERM):
            self._loop.add_signal_handler(each, self.end)
        writer = Thread(target=self._write, daemon=True)
        writer.start()
        async with self._sessions:
            Thread(target=self._read, daemon=True).start()
            await self._over.wait()
            await self._sessions.end()
            while self._tasks:
                await asyncio.wait(self._tasks)
        self._written.put(None)
        for _ in range(int(self._sessions.limits.ending * 20)):
            if not writer.is_alive():
                break
            await asyncio.sleep(0.05)

    def end(self) -> None:
        """Ends the loop; call it in the event loop. Waiting clients get an answer."""
        self._over.set()

    def _call_in_loop(self, what: object, *more: bytes | None) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(what, *more)  # type: ignore[arg-type]

    def _read(self) -> None:
        with contextlib.suppress(OSError):
            for line in lines(self._source, self._sessions.limits.body):
                self._free.acquire()
                self._call_in_loop(self._begin, line)
        self._call_in_loop(self._finish)

    def _begin(self, line: bytes | None) -> None:
        """Starts the answer to a line. Calls start in the order of their lines, and a session answers in that order."""
        if self._over.is_set():
            return
        task = self._loop.create_task(self._answer(line))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _finish(self) -> None:
        """Ends after all pending answers: the input has ended."""
        task = self._loop.create_task(self._last())
        task.add_done_callback(lambda _: self._over.set())

    async def _last(self) -> None:
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def _answer(self, line: bytes | None) -> None:
        answer = too_long(self._sessions.limits.body) if line is TOO_LONG else await self._rpc.answer(line)
        if answer is None:
            self._free.release()
        else:
            self._written.put(answer)

    def _write(self) -> None:
        while (answer := self._written.get()) is not None:
            data = memoryview(answer + b"\n")
            try:
                while data:
                    data = data[os.write(self._target, data) :]
            except OSError:  # the output is closed
                self._call_in_loop(self.end)
                return
            self._free.release()


def talk(nursery: Nursery, limits: Limits, source: int = 0, target: int = 1) -> None:
    """Answers until the input ends. The limit for messages under way replaces the limit for requests to one session."""
    sessions = Sessions(nursery, replace(limits, waiting=UNDER_WAY))
    asyncio.run(Stdio(sessions, source, target).talk())
