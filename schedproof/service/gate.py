"""Access control by host name, origin and token, before any part of the body is read."""

from __future__ import annotations

import re
import secrets
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any

from starlette.responses import JSONResponse

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
"""Names of this machine. A web page whose own name resolves to this machine still sends its own name."""

OPEN = re.compile(r"/health|/live(/[A-Za-z0-9_-]{1,64})?")
"""The paths that need no token: they reveal nothing about any client. The pages of live views ask for the token."""


class Gate:
    """Passes requests to ``application``, or refuses them.

    Args:
        application: the ASGI application.
        token: the token that every request must have; None if none is needed.
        names: the host names that requests may use. None allows any, which is safe only with a token.
    """

    def __init__(self, application: Application, token: str | None, names: frozenset[str] | None) -> None:
        self.application, self.token, self.names = application, token, names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handles one ASGI connection."""
        refusal = self.refusal(scope) if scope["type"] == "http" else None
        await (refusal or self.application)(scope, receive, send)

    def refusal(self, scope: Scope) -> JSONResponse | None:
        """The answer to a refused request; None if the request may pass."""
        headers: dict[bytes, list[str]] = {b"host": [], b"origin": [], b"authorization": []}
        for name, value in scope["headers"]:
            if name in headers:
                headers[name].append(value.decode("latin-1"))
        host = headers[b"host"]
        if self.names is not None and (len(host) != 1 or _name(f"//{host[0]}") not in self.names):
            return _refused(
                403, "forbidden", f"the Host header names another host; send {' or '.join(sorted(self.names))}"
            )
        if any(self.names is None or _name(origin) not in self.names for origin in headers[b"origin"]):
            return _refused(
                403, "forbidden", "the request comes from a web page; send requests without an Origin header"
            )
        if (
            self.token is not None
            and OPEN.fullmatch(scope["path"]) is None
            and not self._brought(headers[b"authorization"])
        ):
            says = "the token is missing or wrong; send it as 'Authorization: Bearer TOKEN'"
            return _refused(401, "unauthorized", says, {"WWW-Authenticate": "Bearer"})
        return None

    def _brought(self, given: list[str]) -> bool:
        assert self.token is not None
        if len(given) != 1 or given[0][:7].lower() != "bearer ":
            return False
        return secrets.compare_digest(given[0][7:].strip().encode("latin-1"), self.token.encode())


def _name(url: str) -> str:
    """The host name in a URL, without its port; "" if the URL has none, or has more parts."""
    match = re.fullmatch(r"(?:https?:)?//(\[[0-9a-f:.]+\]|[a-z0-9.-]+)(?::[0-9]{1,5})?", url.lower())
    return match[1].strip("[]") if match is not None else ""


def _refused(status: int, error: str, message: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    # The request's body is not read, so the connection must close after the answer.
    return JSONResponse({"error": error, "message": message}, status, {**(headers or {}), "Connection": "close"})
