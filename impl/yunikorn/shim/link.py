"""The way between a shim and a core: two queues of messages, delivered one at a time by whoever drives them.

In each direction messages arrive in the order in which they were sent, or in any order. A shim that
registers begins a *session* (R6): a core that knows an earlier one forgets everything, as the shim is going to
rebuild it from what Kubernetes lists, and what was said in an earlier session is not heard any more. So the
two never hold different rests of an earlier life.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from ..messages import RegisterRM, Request, Response


class CoreSide(Protocol):
    """What the link needs of a core."""

    def handle(self, request: Request) -> object:
        """Does what it is asked for; its responses go to its listener."""

    def crash(self) -> None:
        """Forgets everything."""


@dataclass(frozen=True)
class LinkState:
    """All that a :class:`Link` remembers: each message with its session, and which session each end is in."""

    requests: tuple[tuple[int, Request], ...] = ()
    responses: tuple[tuple[int, Response], ...] = ()
    shim: int = 0
    core: int = 0


class Link:
    """Give :meth:`send` to the shim and :meth:`listen` to the core as its listener; then call :meth:`connect`.

    Args:
        ordered: False lets :meth:`deliver_request` and :meth:`deliver_response` take any message.
    """

    def __init__(self, *, ordered: bool = True) -> None:
        self._ordered = ordered
        self._core: CoreSide | None = None
        self._receive: Callable[[Sequence[Response]], None] | None = None
        self._shim = self._core_session = 0
        self.restore(LinkState())

    def connect(self, core: CoreSide, receive: Callable[[Sequence[Response]], None]) -> None:
        """Who takes the messages: a core, and a shim's ``receive``."""
        self._core, self._receive = core, receive

    @property
    def requests(self) -> list[Request]:
        """What is under way to the core."""
        return [request for _, request in self._requests]

    @property
    def responses(self) -> list[Response]:
        """What is under way to the shim."""
        return [response for _, response in self._responses]

    def send(self, request: Request) -> None:
        """The shim sends a request; a registration begins a session."""
        if isinstance(request, RegisterRM):
            self._shim += 1
        self._requests.append((self._shim, request))

    def listen(self, responses: Sequence[Response]) -> None:
        """The core says something."""
        self._responses += [(self._core_session, response) for response in responses]

    def deliver_request(self, index: int = 0) -> None:
        """A request arrives at the core, which does not hear it if it is of an earlier session.

        Raises:
            ValueError: there is none of that index, or it is not its turn, or nothing is connected.
        """
        if self._core is None:
            raise ValueError("nothing is connected: call connect first")
        session, request = self._requests.pop(self._turn(index, len(self._requests)))
        if isinstance(request, RegisterRM) and session > self._core_session:
            if self._core_session:
                self._core.crash()
            self._core_session = session
        if session == self._core_session:
            self._core.handle(request)

    def deliver_response(self, index: int = 0) -> None:
        """A response arrives at the shim, which does not hear it if it is of an earlier session.

        Raises:
            ValueError: as :meth:`deliver_request`.
        """
        if self._receive is None:
            raise ValueError("nothing is connected: call connect first")
        session, response = self._responses.pop(self._turn(index, len(self._responses)))
        if session == self._shim:
            self._receive([response])

    def lose(self, *, requests: bool, responses: bool) -> None:
        """What is under way is lost, in a crash of what was to send or to take it."""
        if requests:
            self._requests.clear()
        if responses:
            self._responses.clear()

    def snapshot(self) -> LinkState:
        """What is under way, for :meth:`restore`."""
        return LinkState(tuple(self._requests), tuple(self._responses), self._shim, self._core_session)

    def restore(self, state: LinkState) -> None:
        """Goes back to a snapshot."""
        self._requests, self._responses = list(state.requests), list(state.responses)
        self._shim, self._core_session = state.shim, state.core

    def _turn(self, index: int, number: int) -> int:
        if not 0 <= index < number:
            raise ValueError(f"there is no message {index}: {number} are under way")
        if self._ordered and index:
            raise ValueError(f"message {index} is not the next: this link keeps the order")
        return index
