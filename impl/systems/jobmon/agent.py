"""The interface of all agents: the memory is one frozen value, and a step is one request or one act.

An agent may die between any two steps. When it is started again, it starts without memory.
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
        """Why the agent has finished; None while it has work left."""

    def choices(self) -> int:
        """How many next steps the agent can choose from; any choice is allowed."""

    def step(self, choice: int = 0) -> str | None:
        """Sends one request, or does one act on the cluster.

        Args:
            choice: the step to do, below :meth:`choices`.

        Returns:
            What it did, in words; None if there was nothing to do.
        """

    def heartbeat(self) -> str | None:
        """Renews the agent's lease in one request.

        Returns:
            What it did, in words; None if the agent has no lease.
        """


def asked(server: Asks, request: Request) -> Report | Refused:
    """Sends a request, and returns the server's report or its refusal as a value."""
    try:
        return server.ask(request)
    except Refused as refused:
        return refused
