"""The reaper: it ends runs whose clients are dead, and moves on instances that are overdue."""

from __future__ import annotations

from dataclasses import dataclass, replace

from . import requests as ask
from .agent import asked
from .server import Asks


@dataclass(frozen=True)
class ReaperMemory:
    """All that the reaper remembers: requests for dead runs and overdue instances, not yet sent."""

    todo: tuple[ask.ReapRun | ask.Lapse, ...] = ()


class Reaper:
    """Reaps runs and instances of all clients. One reaper is enough; several do no harm."""

    over: str | None = None

    def __init__(self, server: Asks) -> None:
        self._server = server
        self.memory = ReaperMemory()

    def choices(self) -> int:
        """The number of requests to send: they may be sent in any order."""
        return max(1, len(self.memory.todo))

    def heartbeat(self) -> str | None:
        """Returns None: the reaper has no lease."""
        return None

    def step(self, choice: int = 0) -> str | None:
        """Sends one request."""
        todo = self.memory.todo
        if not todo:
            dead = self._server.ask(ask.FindDead())
            runs = tuple(ask.ReapRun(run.id) for run in dead.runs)
            self.memory = replace(self.memory, todo=(*runs, *(ask.Lapse(it.id) for it in dead.instances)))
            return "find dead" if self.memory.todo else None
        request = todo[choice]
        asked(self._server, request)
        self.memory = replace(self.memory, todo=(*todo[:choice], *todo[choice + 1 :]))
        return f"{type(request).__name__} {request.run if isinstance(request, ask.ReapRun) else request.instance}"
