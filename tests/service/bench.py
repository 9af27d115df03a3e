"""Servers to test: without a socket, in a thread, or as processes of their own."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

import httpx

from schedproof.service.gate import LOOPBACK, Gate
from schedproof.service.limits import Limits
from schedproof.service.mapped import NO_MAPPINGS, Mappings
from schedproof.service.nursery import Nursery
from schedproof.service.sessions import Sessions
from schedproof.service.web import application

if TYPE_CHECKING:
    from schedproof.service.listening import Server

HIVED = {"system": "hived", "scope": {"PodGroup": 2, "Cell": 2}}
ALLOCATE = {"action": "allocate", "parameters": {"p": "g0", "K": ["c0"]}}
PREEMPT = {"action": "preempt", "parameters": {"p": "g1", "K": ["c0", "c1"]}}
COMPLETE = {"action": "complete", "parameters": {"p": "g1"}}

WIDE = {"system": "hived", "scope": {"PodGroup": 4, "Cell": 10}}
"""Where a record without parameters may be any of 4 x 1023 steps."""
LONG = [{"action": "allocate"}, *[{"state": {"PodGroup": {"g0": {"state": "Pending"}}}}] * 20_000]
"""Thousands of states explain the first; each of the others is held against all of them: a minute of work."""


def together(scenario: Callable[[], Awaitable[None]]) -> None:
    """Runs ``scenario`` in an event loop, for a bounded time."""
    asyncio.run(asyncio.wait_for(scenario(), 120))


@asynccontextmanager
async def sessions(mappings: Mappings = NO_MAPPINGS, **limits: Any) -> AsyncIterator[Sessions]:
    with Nursery(replace(Limits(), **limits), mappings) as nursery:
        async with Sessions(nursery, nursery.limits) as opened:
            yield opened


@asynccontextmanager
async def client(token: str | None = None, mappings: Mappings = NO_MAPPINGS, **limits: Any) -> AsyncIterator[Any]:
    """Of a server without a socket."""
    async with sessions(mappings, **limits) as opened:
        gate = Gate(application(opened, has_token=token is not None), token, LOOPBACK)
        async with httpx.AsyncClient(transport=httpx.ASGITransport(gate), base_url="http://localhost") as asking:
            asking.sessions = opened
            yield asking


async def created(asking: Any, what: object = HIVED) -> str:
    answer = await asking.post("/sessions", json=what)
    assert answer.status_code == 201, answer.text
    assert answer.headers["Location"] == f"/sessions/{answer.json()['id']}"
    return str(answer.json()["id"])


def alive(pid: int) -> bool:
    """There is such a process, and it has not ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def until(true: Callable[[], bool], seconds: float = 10) -> bool:
    end = time.monotonic() + seconds
    while not true() and time.monotonic() < end:
        time.sleep(0.02)
    return true()


def posting(name: str, records: object) -> bytes:
    """A request, as it is sent."""
    body = json.dumps(records).encode()
    return (
        f"POST /sessions/{name}/records HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    ).encode() + body


def ended(connection: socket.socket) -> bool:
    """Nobody is at the other end any more."""
    connection.settimeout(0.2)
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True
    except TimeoutError:
        return False


def family(pid: int) -> list[int]:
    """The processes that ``pid`` began, and those that these began."""
    children = [int(p) for t in Path(f"/proc/{pid}/task").iterdir() for p in (t / "children").read_text().split()]
    return [each for child in children for each in (child, *family(child))]


@dataclass(frozen=True)
class Bench:
    """A server that runs as a process of its own."""

    process: subprocess.Popen[str] | None
    port: int

    def post(self, path: str, body: bytes | Iterator[bytes]) -> tuple[int, Any]:
        with httpx.Client(verify=False) as asking:
            kind = {"Content-Type": "application/json"}
            answer = asking.post(f"http://127.0.0.1:{self.port}{path}", content=body, headers=kind)
        return answer.status_code, answer.json()

    def count(self) -> int:
        with httpx.Client(verify=False) as asking:
            return int(asking.get(f"http://127.0.0.1:{self.port}/health").json()["sessions"])

    def raw(self, sent: bytes) -> bytes:
        """What is answered until the connection ends."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=10) as connection:
            connection.sendall(sent)
            received = b""
            while part := connection.recv(65536):
                received += part
            return received


@contextmanager
def serving(*options: str, **environment: str) -> Iterator[Bench]:
    words = [sys.executable, "-m", "schedproof", "serve", "--port", "0", "--json", "-", *options]
    process = subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **environment}
    )
    try:
        assert process.stdout is not None
        announcement = ""
        while not announcement.rstrip().endswith("}"):
            line = process.stdout.readline()
            assert line, process.stderr.read() if process.stderr is not None else ""
            announcement += line
        address = json.loads(announcement)
        assert address["pid"] == process.pid and address["url"] == f"http://127.0.0.1:{address['port']}"
        yield Bench(process, address["port"])
    finally:
        process.kill()
        process.communicate()


@contextmanager
def served(token: str | None = None, **limits: Any) -> Iterator[tuple[int, Server]]:
    """A server in a thread of this process, with other limits than the default ones, and its port."""
    from schedproof.service.listening import bound, server

    with Nursery(replace(Limits(), **limits)) as nursery, bound("127.0.0.1", 0) as listening:
        port = listening.getsockname()[1]
        serving = server(Sessions(nursery, nursery.limits), listening, token=token)
        thread = Thread(target=lambda: serving.run(sockets=[listening]))
        thread.start()
        try:
            assert until(lambda: serving.started)
            yield port, serving
        finally:
            serving.should_exit = True
            thread.join()


@contextmanager
def listened(token: str | None = None, **limits: Any) -> Iterator[int]:
    """The port of such a server."""
    with served(token, **limits) as (port, _):
        yield port
