"""One session, as the server sees it: its process, the last verdict, and how it ended."""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
import signal
import time
from collections.abc import Mapping
from typing import Any

from .answers import Answer, Kind, problem
from .checking import FAULT, OUT_OF_MEMORY
from .frames import BIGGEST, LENGTH, content, message
from .limits import Limits
from .nursery import Born, Nursery

VIOLATES, UNDETERMINED = "violates", "undetermined"


class Session:
    """A session.

    It answers requests one after the other. Once its process is lost, it answers ``undetermined``, with the reason.
    """

    def __init__(self, born: Born, nursery: Nursery, limits: Limits) -> None:
        self._born, self._nursery, self._limits = born, nursery, limits
        self._lock = asyncio.Lock()
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None
        self._standing: dict[str, Any] = {}
        self.lost = ""
        """Why its process ended, if the client did not end it; else ""."""
        self.closed: Answer | None = None
        """The answer to all requests once the session is closed."""
        self.waiting = 0
        self.used = time.monotonic()
        self.live = secrets.token_urlsafe(18)
        """The session's name for viewers, who cannot send records under it."""
        self.version = 0
        """Counts what viewers can see change."""
        self._changed = asyncio.Event()
        self._seeing: tuple[int, asyncio.Task[bytes]] | None = None

    async def connect(self) -> None:
        """Opens the connection to its process."""
        self._reader, self._writer = await asyncio.open_connection(sock=self._born.connection)

    @property
    def idle(self) -> float:
        """Seconds since the last request; 0 while it answers one."""
        return 0.0 if self.waiting else time.monotonic() - self.used

    async def ask(self, head: Mapping[str, Any], body: bytes = b"") -> Answer:
        """The answer of its process, or a substitute if the process cannot answer."""
        if self.waiting >= self._limits.waiting:
            says = f"{self.waiting} requests to this session are being answered; wait for one of them"
            return problem(Kind.BUSY, says, retry_after=1)
        self.waiting += 1
        try:
            async with self._lock:
                if self.closed is not None:
                    return self.closed
                answer = self._without_process(head) if self.lost else await self._answer(head, body)
                return self.closed or answer
        finally:
            self.waiting -= 1
            self.used = time.monotonic()

    async def close(self, answer: Answer) -> None:
        """Ends its process. Waiting requests get ``answer``."""
        if self.closed is None:
            self.closed = answer
            self._note_change()
            await self._end()

    @property
    def standing(self) -> dict[str, Any]:
        """The system, the variant, the verdict and the number of records, as last known."""
        return self._lost_standing() if self.lost else dict(self._standing)

    async def change(self, seen: int, seconds: float) -> bool:
        """Waits until ``version`` is not ``seen``, for at most so many seconds; whether it is so."""
        if self.version == seen:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._changed.wait()
        return self.version != seen

    def view(self) -> asyncio.Task[bytes]:
        """What viewers see of the present version, as JSON. All viewers of a version share it; none may cancel it.

        It counts as no request: it does not keep the session from being idle, and takes no place of a client's.
        """
        if self._seeing is None or self._seeing[0] != self.version:
            self._seeing = self.version, asyncio.create_task(self._see())
        return self._seeing[1]

    def forget_view(self) -> None:
        """Drops what viewers saw last, because nobody watches."""
        self._seeing = None

    async def _see(self) -> bytes:
        async with self._lock:
            if self.closed is not None or self.lost:
                return json.dumps(self.standing).encode()
            answer = await self._answer({"ask": "view"}, b"")
            if answer.body.get("more"):
                self._note_change()  # the next view has more of the run
            return json.dumps(self.standing if self.closed is not None or self.lost else dict(answer.body)).encode()

    def _note_change(self) -> None:
        self.version += 1
        self._changed.set()
        self._changed = asyncio.Event()

    async def _answer(self, head: Mapping[str, Any], body: bytes) -> Answer:
        assert self._reader is not None and self._writer is not None
        try:
            async with asyncio.timeout(self._limits.patience):
                self._writer.write(message(head, body))
                await self._writer.drain()
                (size,) = LENGTH.unpack(await self._reader.readexactly(LENGTH.size))
                if size > BIGGEST:
                    return await self._lose(head, f"an answer of {size} bytes")
                envelope, _ = content(await self._reader.readexactly(size))
        except TimeoutError:
            return await self._lose(head, f"a request took more than {self._limits.patience:g} s")
        except (OSError, EOFError):
            if self.closed is not None:
                return self.closed
            return await self._lose(
                head, self._how_it_ended(await asyncio.to_thread(self._nursery.reap, self._born.pid))
            )
        except asyncio.CancelledError:
            self.lost = "a request was given up in the middle"
            self._note_change()
            self._writer.close()
            raise
        kind, content_of_answer = Kind(envelope["kind"]), envelope["body"]
        if kind is Kind.FAULT:
            return await self._lose(head, content_of_answer["message"])
        self._standing |= {
            name: content_of_answer[name]
            for name in ("system", "variant", "verdict", "records")
            if name in content_of_answer
        }
        if head["ask"] in ("create", "records"):
            self._note_change()
        return Answer(kind, content_of_answer)

    async def _lose(self, head: Mapping[str, Any], why: str) -> Answer:
        """Gives up the process, which ended or is no longer reliable. The result of its current request is unknown."""
        if self.closed is not None:
            return self.closed
        self.lost = why
        self._note_change()
        await self._end()
        return self._without_process(head)

    async def _end(self) -> None:
        if self._writer is not None:
            self._writer.close()
        await asyncio.to_thread(self._nursery.end, self._born.pid)

    def _how_it_ended(self, code: int | None) -> str:
        limits = self._limits
        match code:
            case _ if code == OUT_OF_MEMORY:
                return f"it needed more than {limits.memory >> 20} MiB of memory"
            case _ if code == -signal.SIGPROF:
                return f"a request took more than {limits.seconds:g} s of processor time"
            case _ if code == -signal.SIGKILL:
                return "its process was killed; the machine may be short of memory"
            case _ if code == FAULT:
                return "an error of the service itself"
            case _:
                return f"its process ended unexpectedly ({code})"

    def _without_process(self, head: Mapping[str, Any]) -> Answer:
        """The answer without a process. The verdict "violates" stays; any other becomes "undetermined"."""
        if head["ask"] == "create":
            return problem(Kind.BAD_SESSION, f"the session cannot be created: {self.lost}; ask for less")
        standing = self._lost_standing()
        match head["ask"]:
            case "records":
                return Answer(Kind.DONE, {"taken": 0, **standing})
            case "report":
                return Answer(Kind.DONE, {**standing, "format": "schedproof"})
            case "view":
                return Answer(Kind.DONE, standing)
            case "events":
                kept = {name: standing[name] for name in ("records", "note")}
                return Answer(Kind.DONE, {"events": [], "complete": False, **kept})
            case other:
                raise AssertionError(f"no request {other!r}")

    def _lost_standing(self) -> dict[str, Any]:
        verdict = VIOLATES if self._standing.get("verdict") == VIOLATES else UNDETERMINED
        return {**self._standing, "verdict": verdict, "note": f"the session was lost: {self.lost}"}
