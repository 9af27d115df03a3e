"""The HTTP server process: its address, its limits for connections, and how it ends."""

from __future__ import annotations

import asyncio
import ipaddress
import math
import signal
import socket
from collections.abc import Callable
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from .gate import LOOPBACK, Gate
from .limits import Limits
from .sessions import Sessions
from .streams import ALLOW
from .web import application


class Unbound(Exception):
    """The address is not available. The message is one line."""


def bound(host: str, port: int) -> socket.socket:
    """A socket that listens on the address.

    Raises:
        Unbound: the address is not available.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listening = socket.socket(family, kind, protocol)
    except (OSError, UnicodeError) as error:
        raise Unbound(f"cannot listen on the address {host!r}: {_reason(error)}; choose another --host") from None
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(128)
    except OSError as error:
        listening.close()
        raise Unbound(
            f"cannot listen on port {port} of {host}: {_reason(error)}; choose another --port, or 0 for any"
        ) from None
    return listening


def is_loopback(listening: socket.socket) -> bool:
    """Whether only this machine can connect to the socket."""
    return ipaddress.ip_address(listening.getsockname()[0].partition("%")[0]).is_loopback


def url(listening: socket.socket) -> str:
    """The URL of the server."""
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def server(
    sessions: Sessions, listening: socket.socket, *, token: str | None, ready: Callable[[], None] = lambda: None
) -> Server:
    """A server that is ready to run.

    Args:
        sessions: the sessions that it serves.
        listening: the socket.
        token: the token that every request must have; necessary if other machines can connect.
        ready: called when the server answers.
    """
    names = LOOPBACK | {listening.getsockname()[0]} if is_loopback(listening) else None
    limits = sessions.limits
    config = uvicorn.Config(
        Gate(application(sessions, has_token=token is not None), token, names),
        http=type("Patient", (Patient,), {"limits": limits}),
        ws="none",
        loop="asyncio",
        lifespan="on",
        log_level="error",  # errors of clients go to the clients
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=math.ceil(limits.keep),
        timeout_graceful_shutdown=math.ceil(limits.ending),
    )
    return Server(config, sessions, ready)


def serve(
    sessions: Sessions, listening: socket.socket, *, token: str | None, ready: Callable[[], None] = lambda: None
) -> None:
    """Answers until the process gets SIGINT or SIGTERM. Waiting clients get an answer first."""
    served = server(sessions, listening, token=token, ready=ready)

    def end(*_: object) -> None:
        served.should_exit = True

    # uvicorn passes the signal on to the earlier handler when it ends: here, to one that does nothing.
    before = {each: signal.signal(each, end) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        served.run(sockets=[listening])
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


class Server(uvicorn.Server):
    """Calls ``ready`` when it answers.

    At the end it ends the sessions before the connections, so that no client waits in vain.
    """

    def __init__(self, config: uvicorn.Config, sessions: Sessions, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self.sessions, self.ready = sessions, ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await self.sessions.end()
        await super().shutdown(sockets)


class Patient(H11Protocol):
    """A connection with time limits for slow clients, which uvicorn lacks.

    If there are too many connections, it closes the one that has been idle, or sending its request, for the longest
    time.
    """

    limits: Limits

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.since = 0.0
        self._clock: asyncio.TimerHandle | None = None
        self._begun: object = None

    @property
    def sending(self) -> bool:
        """Whether the request is incomplete, so that the client is not waiting for an answer."""
        return self.cycle is None or self.cycle.response_complete or self.cycle.more_body

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._allow(self.limits.head)
        if len(self.connections) > self.limits.connections:
            slow = [c for c in self.connections if isinstance(c, Patient) and c is not self and c.sending]
            min(slow, key=lambda c: c.since, default=self).transport.abort()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._noticed()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._allow(self.limits.reading)
        self._noticed()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._clock is not None:
            self._clock.cancel()
        super().connection_lost(exc)

    def _noticed(self) -> None:
        """Notices when a new request begins."""
        if self.cycle is not self._begun and not self.cycle.response_complete:
            self._begun = self.cycle
            self.scope[ALLOW] = self._allow  # type: ignore[literal-required]
            limits = self.limits
            self._allow(limits.content + limits.waiting * limits.patience + limits.reading)

    def _allow(self, seconds: float) -> None:
        if self._clock is not None:
            self._clock.cancel()
        self.since = self.loop.time()
        self._clock = self.loop.call_later(seconds, self.transport.abort)


def _reason(error: Exception) -> str:
    return str(getattr(error, "strerror", None) or error)
