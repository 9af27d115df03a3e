"""The server as an agent in another process sees it: requests over HTTP, asked again when there was no answer.

With the standard library only: the wrapper of every attempt has to be up quickly.
"""

from __future__ import annotations

import json
import time
from http.client import HTTPConnection, HTTPException
from urllib.parse import urlsplit

from .errors import Malformed, Refused, Unreachable
from .requests import Report, Request
from .wire import parsed, plain

FIRST_PAUSE, LONGEST_PAUSE = 0.02, 1.0
TIMEOUT = 30.0
AGAIN = frozenset({500, 502, 503, 504})
"""Answers after which the same may be asked again."""


class Connection:
    """A :class:`.server.Asks` for the server at ``url``, which is asked again for ``patience`` seconds.

    Raises:
        Malformed: the URL is not of the form http://host:port.
    """

    def __init__(self, url: str, *, patience: float = 30.0) -> None:
        where = urlsplit(url)
        try:
            port = where.port
        except ValueError as error:
            raise Malformed(f"{url}: {error}") from error
        if where.scheme != "http" or where.hostname is None or where.path not in ("", "/"):
            raise Malformed(f"{url!r} is no address of a server; give http://host:port")
        self._url = url
        self._patience = patience
        self._http = HTTPConnection(where.hostname, port or 80, timeout=TIMEOUT)

    def ask(self, request: Request) -> Report:
        """Does a request, or refuses it.

        Raises:
            Refused: by the server.
            Malformed: the server does not understand the request.
            Unreachable: there was no answer for so long.
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
            time.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    def _asked(self, name: str, body: str) -> Report:
        self._http.request("POST", f"/{name}", body, {"Content-Type": "application/json"})
        answer = self._http.getresponse()
        said = answer.read()
        if answer.status in AGAIN:
            raise OSError(f"it answers {answer.status}")
        try:
            data = json.loads(said)
        except ValueError as error:
            raise Malformed(f"{self._url} is no server of Jobmon: {said[:80]!r}") from error
        if answer.status == 409:
            raise Refused(data["said"], state=data["state"], for_good=data["for_good"])
        if answer.status != 200:
            raise Malformed(f"{self._url} does not understand {name}: {data}")
        return parsed(Report, data)
