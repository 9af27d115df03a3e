"""The way between a shim and a core: two queues of messages, which the caller delivers one at a time.

In each direction messages arrive in the order in which they were sent, or in any order. A shim's messages may arrive
after its death.

A registration begins a connection. What the shim sent before arrives first; what the core sent before is lost. That a
registration is a call, which waits its turn, is our interpretation: F 4.4 has only the events.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from schedproof.impl.scheduler_interface import RegisterRM, Request, Response


class CoreSide(Protocol):
    """What the link needs of a core."""

    def handle(self, request: Request) -> object:
        """Does what the request asks for; the responses go to the core's listener."""


@dataclass(frozen=True)
class LinkState:
    """The messages of a :class:`Link` under way in each direction, in the order in which they were sent."""

    requests: tuple[Request, ...] = ()
    responses: tuple[Response, ...] = ()


class Link:
    """The two queues between a shim and a core.

    Give :meth:`send` to the shim and :meth:`listen` to the core as its listener; then call :meth:`connect`.

    Args:
        ordered: whether messages arrive in order; with False :meth:`deliver_request` and :meth:`deliver_response`
            take any message.
    """

    def __init__(self, *, ordered: bool = True) -> None:
        self._ordered = ordered
        self._core: CoreSide | None = None
        self._receive: Callable[[Sequence[Response]], None] | None = None
        self.restore(LinkState())

    def connect(self, core: CoreSide, receive: Callable[[Sequence[Response]], None]) -> None:
        """Connects the receivers: a core, and a shim's ``receive``."""
        self._core, self._receive = core, receive

    @property
    def requests(self) -> list[Request]:
        """The requests under way to the core."""
        return list(self._requests)

    @property
    def responses(self) -> list[Response]:
        """The responses under way to the shim."""
        return list(self._responses)

    def send(self, request: Request) -> None:
        """Queues a request or a registration of the shim.

        Raises:
            ValueError: it is a registration, and nothing is connected.
        """
        if not isinstance(request, RegisterRM):
            self._requests.append(request)
            return
        core = self._connected()
        while self._requests:
            core.handle(self._requests.pop(0))
        self._responses.clear()
        core.handle(request)

    def listen(self, responses: Sequence[Response]) -> None:
        """Queues responses of the core."""
        self._responses += responses

    def deliver_request(self, index: int = 0) -> None:
        """Delivers a request to the core.

        Raises:
            ValueError: there is none of that index, it is not its turn, or nothing is connected.
        """
        core = self._connected()
        core.handle(self._requests.pop(self._turn(index, len(self._requests))))

    def deliver_response(self, index: int = 0) -> None:
        """Delivers a response to the shim.

        Raises:
            ValueError: as for :meth:`deliver_request`.
        """
        if self._receive is None:
            raise ValueError("nothing is connected: call connect first")
        self._receive([self._responses.pop(self._turn(index, len(self._responses)))])

    def lose(self, *, requests: bool, responses: bool) -> None:
        """Loses the messages under way, in a crash of their sender or receiver."""
        if requests:
            self._requests.clear()
        if responses:
            self._responses.clear()

    def snapshot(self) -> LinkState:
        """Returns the messages under way, for :meth:`restore`."""
        return LinkState(tuple(self._requests), tuple(self._responses))

    def restore(self, state: LinkState) -> None:
        """Goes back to a snapshot."""
        self._requests, self._responses = list(state.requests), list(state.responses)

    def _connected(self) -> CoreSide:
        if self._core is None:
            raise ValueError("nothing is connected: call connect first")
        return self._core

    def _turn(self, index: int, number: int) -> int:
        if not 0 <= index < number:
            raise ValueError(f"there is no message {index}: {number} are under way")
        if self._ordered and index:
            raise ValueError(f"message {index} is not the next: this link keeps the order")
        return index
