"""The way between a shim and a core: two queues of messages, delivered one at a time by whoever drives them.

In each direction messages arrive in the order in which they were sent, or in any order. A shim that
registers with a core that knows one already makes the core forget everything (R6): the shim rebuilds it from what
Kubernetes lists, so the two never hold different rests of an earlier life.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from ..messages import RegisterRM, Request, Response


class CoreSide(Protocol):
    """What the link needs of a core."""

    def handle(self, request: Request) -> object:
        """Does what it is asked for; its responses go to its listener."""

    def crash(self) -> None:
        """Forgets everything."""


class Link:
    """Give :meth:`send` to the shim and :meth:`listen` to the core as its listener; then call :meth:`connect`.

    Args:
        ordered: False lets :meth:`deliver_request` and :meth:`deliver_response` take any message.
    """

    def __init__(self, *, ordered: bool = True) -> None:
        self._ordered = ordered
        self._core: CoreSide | None = None
        self._receive: Callable[[Sequence[Response]], None] | None = None
        self._registered = False
        self.requests: list[Request] = []
        self.responses: list[Response] = []

    def connect(self, core: CoreSide, receive: Callable[[Sequence[Response]], None]) -> None:
        """Who takes the messages: a core, and a shim's ``receive``."""
        self._core, self._receive = core, receive

    def send(self, request: Request) -> None:
        """The shim sends a request."""
        self.requests.append(request)

    def listen(self, responses: Sequence[Response]) -> None:
        """The core says something."""
        self.responses += responses

    def deliver_request(self, index: int = 0) -> None:
        """A request arrives at the core.

        Raises:
            ValueError: there is none of that index, or it is not its turn, or nothing is connected.
        """
        request = self.requests[self._turn(index, len(self.requests))]
        del self.requests[index]
        if self._core is None:
            raise ValueError("nothing is connected: call connect first")
        if isinstance(request, RegisterRM):
            if self._registered:
                self._core.crash()
            self._registered = True
        self._core.handle(request)

    def deliver_response(self, index: int = 0) -> None:
        """A response arrives at the shim.

        Raises:
            ValueError: as :meth:`deliver_request`.
        """
        response = self.responses[self._turn(index, len(self.responses))]
        del self.responses[index]
        if self._receive is None:
            raise ValueError("nothing is connected: call connect first")
        self._receive([response])

    def lose(self, *, requests: bool, responses: bool) -> None:
        """What is under way is lost, in a crash of what was to send or to take it."""
        if requests:
            self.requests.clear()
        if responses:
            self.responses.clear()

    def _turn(self, index: int, number: int) -> int:
        if not 0 <= index < number:
            raise ValueError(f"there is no message {index}: {number} are under way")
        if self._ordered and index:
            raise ValueError(f"message {index} is not the next: this link keeps the order")
        return index
