"""Who is let in: the name that was asked for, where the request comes from, the token. Before anything is read of it."""

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
"""Names of this machine. A page of the web that has its own name lead here still says its own."""

OPEN = "/health"
"""The one path that needs no token: it says nothing of anybody."""


class Gate:
    """Lets requests through to ``application``, or answers them itself.

    Args:
        token: what every request has to bring; None if none is needed.
        names: the names that the server may be asked for; None for any, which only a token makes safe.
    """

    def __init__(self, application: Application, token: str | None, names: frozenset[str] | None) -> None:
        self.application, self.token, self.names = application, token, names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""
        refusal = self.refusal(scope) if scope["type"] == "http" else None
        await (refusal or self.application)(scope, receive, send)

    def refusal(self, scope: Scope) -> JSONResponse | None:
        """What is answered instead; None if the request may pass."""
        headers: dict[bytes, list[str]] = {b"host": [], b"origin": [], b"authorization": []}
        for name, value in scope["headers"]:
            if name in headers:
                headers[name].append(value.decode("latin-1"))
        host = headers[b"host"]
        if self.names is not None and (len(host) != 1 or _name(f"//{host[0]}") not in self.names):
            return _refused(403, "forbidden", f"this server is asked for as {' or '.join(sorted(self.names))}")
        if any(self.names is None or _name(origin) not in self.names for origin in headers[b"origin"]):
            return _refused(403, "forbidden", "pages of the web may not use this server")
        if self.token is not None and scope["path"] != OPEN and not self._brought(headers[b"authorization"]):
            says = "the token is missing or wrong; send it as 'Authorization: Bearer TOKEN'"
            return _refused(401, "unauthorized", says, {"WWW-Authenticate": "Bearer"})
        return None

    def _brought(self, given: list[str]) -> bool:
        assert self.token is not None
        if len(given) != 1 or given[0][:7].lower() != "bearer ":
            return False
        return secrets.compare_digest(given[0][7:].strip().encode("latin-1"), self.token.encode())


def _name(url: str) -> str:
    """The host's name in a URL, without its port; "" if it has none, or more than that."""
    found = re.fullmatch(r"(?:https?:)?//(\[[0-9a-f:.]+\]|[a-z0-9.-]+)(?::[0-9]{1,5})?", url.lower())
    return found[1].strip("[]") if found is not None else ""


def _refused(status: int, error: str, message: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    # The request's body is not read: the connection ends with the answer.
    return JSONResponse({"error": error, "message": message}, status, {**(headers or {}), "Connection": "close"})
