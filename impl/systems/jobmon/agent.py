"""What all agents have in common: memory that is one frozen value, and steps that are one request or one act each.

Between any two steps an agent may die. Whoever starts it again starts it without memory.
"""

from __future__ import annotations

from typing import Protocol

from .errors import Refused
from .requests import Report, Request
from .server import Asks


class Agent(Protocol):
    """A client, a distributor, a worker or the reaper."""

    @property
    def over(self) -> str | None:
        """Why it has nothing more to do, if so."""

    def choices(self) -> int:
        """Among how many next steps it can choose; it needs no particular one."""

    def step(self, choice: int = 0) -> str | None:
        """One request, or one act on the cluster; in words, or None if there was nothing to do."""

    def heartbeat(self) -> str | None:
        """Renews its lease, if it has one, in one request; in words, or None."""


def asked(server: Asks, request: Request) -> Report | Refused:
    """The report or the refusal, as a value."""
    try:
        return server.ask(request)
    except Refused as refused:
        return refused
