"""The way between a shim and a core: two queues of messages, delivered one at a time by whoever drives them.

In each direction messages arrive in the order in which they were sent, or in any order. What a shim has sent may
arrive after its death. A registration begins a connection: what was sent before it arrives first, and what the core
has said before it is not heard. That it is a call, which waits its turn, is our reading: F 4.4 has no more than the
events.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from schedproof.impl.scheduler_interface import RegisterRM, Request, Response


class CoreSide(Protocol):
    """What the link needs of a core."""

    def handle(self, request: Request) -> object:
        """Does what it is asked for; its responses go to its listener."""


@dataclass(frozen=True)
class LinkState:
    """All that a :class:`Link` remembers: what is under way in each direction, first sent first."""

    requests: tuple[Request, ...] = ()
    responses: tuple[Response, ...] = ()


class Link:
    """Give :meth:`send` to the shim and :meth:`listen` to the core as its listener; then call :meth:`connect`.

    Args:
        ordered: False lets :meth:`deliver_request` and :meth:`deliver_response` take any message.
    """

    def __init__(self, *, ordered: bool = True) -> None:
        self._ordered = ordered
        self._core: CoreSide | None = None
        self._receive: Callable[[Sequence[Response]], None] | None = None
        self.restore(LinkState())

    def connect(self, core: CoreSide, receive: Callable[[Sequence[Response]], None]) -> None:
        """Who takes the messages: a core, and a shim's ``receive``."""
        self._core, self._receive = core, receive

    @property
    def requests(self) -> list[Request]:
        """What is under way to the core."""
        return list(self._requests)

    @property
    def responses(self) -> list[Response]:
        """What is under way to the shim."""
        return list(self._responses)

    def send(self, request: Request) -> None:
        """The shim sends a request, or registers.

        Raises:
            ValueError: it registers, and nothing is connected.
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
        """The core says something."""
        self._responses += responses

    def deliver_request(self, index: int = 0) -> None:
        """A request arrives at the core.

        Raises:
            ValueError: there is none of that index, or it is not its turn, or nothing is connected.
        """
        core = self._connected()
        core.handle(self._requests.pop(self._turn(index, len(self._requests))))

    def deliver_response(self, index: int = 0) -> None:
        """A response arrives at the shim.

        Raises:
            ValueError: as :meth:`deliver_request`.
        """
        if self._receive is None:
            raise ValueError("nothing is connected: call connect first")
        self._receive([self._responses.pop(self._turn(index, len(self._responses)))])

    def lose(self, *, requests: bool, responses: bool) -> None:
        """What is under way is lost, in a crash of what was to send or to take it."""
        if requests:
            self._requests.clear()
        if responses:
            self._responses.clear()

    def snapshot(self) -> LinkState:
        """What is under way, for :meth:`restore`."""
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
