"""The server as another process reaches it: requests over HTTP, sent again when there is no answer.

It uses the standard library only: the wrapper of every attempt must start fast.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from http.client import HTTPConnection, HTTPException
from urllib.parse import urlsplit

from .errors import Malformed, Refused, Unreachable
from .requests import Report, Request
from .wire import Fault, Refusal, parsed, plain, read_json

FIRST_PAUSE, LONGEST_PAUSE = 0.02, 1.0
TIMEOUT = 30.0
RETRIED = frozenset({500, 502, 503, 504})
"""HTTP statuses after which the same request may be sent again."""


class Connection:
    """A :class:`.server.Asks` for the server at ``url``.

    Args:
        url: http://host:port.
        patience: for how many seconds a request is sent again while no answer comes.
        waits: called with the URL each time before a request is sent again.

    Raises:
        Malformed: the URL is not of the form http://host:port.
    """

    def __init__(self, url: str, *, patience: float = 30.0, waits: Callable[[str], None] = lambda url: None) -> None:
        host, port = _address(url)
        self._url = url
        self._patience = patience
        self._waits = waits
        self._http = HTTPConnection(host, port, timeout=TIMEOUT)

    def ask(self, request: Request) -> Report:
        """Sends a request, and returns the server's report.

        Raises:
            Refused: by the server.
            Malformed: the server does not understand the request.
            Unreachable: no answer came within ``patience`` seconds.
        """
        name, body = type(request).__name__, json.dumps(plain(request))
        end, pause = time.monotonic() + self._patience, FIRST_PAUSE
        while True:
            try:
                return self._asked(name, body)
            except (OSError, HTTPException) as error:
                self._http.close()
                if time.monotonic() + pause > end:
                    raise Unreachable(f"{self._url} gives no answer: {error or type(error).__name__}") from error
            self._waits(self._url)
            time.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    def _asked(self, name: str, body: str) -> Report:
        self._http.request("POST", f"/{name}", body, {"Content-Type": "application/json"})
        answer = self._http.getresponse()
        content = answer.read()
        if answer.status in RETRIED:
            raise OSError(f"it answers {answer.status}{_reason(content)}")
        try:
            data = read_json(content)
            if answer.status == 200:
                return parsed(Report, data)
            if answer.status == 409:
                refusal = parsed(Refusal, data)
                raise Refused(refusal.said, state=refusal.state, for_good=refusal.for_good)
            fault = parsed(Fault, data)
        except Malformed as error:
            raise Malformed(
                f"{self._url} does not answer as a Jobmon server: {answer.status}, {content[:80]!r}; give the --url that the server says"
            ) from error
        raise Malformed(f"{self._url} does not understand {name}: {fault.said}")


def _reason(content: bytes) -> str:
    """The cause that an answer gives; empty if the answer is not from a Jobmon server."""
    try:
        fault = parsed(Fault, read_json(content))
    except Malformed:
        return ""
    return f": {' '.join(fault.said.split())}"


def _address(url: str) -> tuple[str, int]:
    try:
        where = urlsplit(url)
        host, port = where.hostname or "", 80 if where.port is None else where.port
        host.encode("idna")  # as the address lookup does
    except ValueError:
        host, port = "", 0
    more = where.username or where.query or where.fragment if host else None
    if not host or not port or more or where.scheme != "http" or where.path not in ("", "/") or not _is_plain(host):
        raise Malformed(f"{url!r} is not the address of a server; give http://host:port")
    return host, port


def _is_plain(host: str) -> bool:
    return host.isprintable() and " " not in host
