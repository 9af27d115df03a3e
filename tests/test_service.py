"""The service over HTTP: what it answers, what its limits are, and that nothing one client does hurts another."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from schedproof.model.systems import SYSTEMS

pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")
httpx = pytest.importorskip("httpx")

from schedproof.cli import main  # noqa: E402
from schedproof.service.answers import Kind  # noqa: E402
from schedproof.service.gate import LOOPBACK, Gate  # noqa: E402
from schedproof.service.limits import Limits  # noqa: E402
from schedproof.service.nursery import Nursery  # noqa: E402
from schedproof.service.sessions import Sessions  # noqa: E402
from schedproof.service.strict import NotJson, parse  # noqa: E402
from schedproof.service.web import application, described  # noqa: E402

HIVED = {"system": "hived", "scope": {"PodGroup": 2, "Cell": 2}}
ALLOCATE = {"action": "allocate", "parameters": {"p": "g0", "K": ["c0"]}}
PREEMPT = {"action": "preempt", "parameters": {"p": "g1", "K": ["c0", "c1"]}}
COMPLETE = {"action": "complete", "parameters": {"p": "g1"}}

WIDE = {"system": "hived", "scope": {"PodGroup": 4, "Cell": 10}}
"""Where a record without parameters may be any of 4 x 1023 steps."""
LONG = [{"action": "allocate"}, *[{"state": {"PodGroup": {"g0": {"state": "Pending"}}}}] * 20_000]
"""Thousands of states explain the first; each of the others is held against all of them: a minute of work."""


def together(story: Callable[[], Awaitable[None]]) -> None:
    """Runs ``story`` in an event loop, for a bounded time."""
    asyncio.run(asyncio.wait_for(story(), 30))


@asynccontextmanager
async def sessions(**limits: Any) -> AsyncIterator[Sessions]:
    with Nursery(replace(Limits(), **limits)) as nursery:
        async with Sessions(nursery, nursery.limits) as found:
            yield found


@asynccontextmanager
async def client(token: str | None = None, **limits: Any) -> AsyncIterator[Any]:
    """Of a server without a socket."""
    async with sessions(**limits) as found:
        gate = Gate(application(found), token, LOOPBACK)
        async with httpx.AsyncClient(transport=httpx.ASGITransport(gate), base_url="http://localhost") as asking:
            asking.sessions = found
            yield asking


async def created(asking: Any, what: object = HIVED) -> str:
    answer = await asking.post("/sessions", json=what)
    assert answer.status_code == 201, answer.text
    assert answer.headers["Location"] == f"/sessions/{answer.json()['id']}"
    return str(answer.json()["id"])


class TestSession:
    def test_a_session_from_beginning_to_end(self) -> None:
        async def story() -> None:
            async with client() as asking:
                there = f"/sessions/{await created(asking)}"
                said = (await asking.post(f"{there}/records", json=[ALLOCATE, PREEMPT])).json()
                assert (said["taken"], said["verdict"], said["records"]) == (2, "conforms", 2)
                said = (await asking.get(f"{there}/events")).json()
                # By hand: g0 is BeingPreempted on c0, its pod there goes first (line 95); or the preemptor g1 goes, or a crash comes.
                assert said["complete"]
                assert sorted((e["action"], json.dumps(e["parameters"])) for e in said["events"]) == [
                    ("crash", "{}"),
                    ("delete_preempting", '{"p": "g1"}'),
                    ("vacate", '{"c": "c0"}'),
                ]
                said = (await asking.post(f"{there}/records", json=[COMPLETE, ALLOCATE])).json()
                assert (said["taken"], said["verdict"], said["records"]) == (1, "departs", 3)
                assert said["first_departure"]["record"] == 3
                report = (await asking.get(there)).json()
                assert report["format"] == "schedproof" and report["first_departure"]["candidates"]
                said = (await asking.post(f"{there}/records", json=[ALLOCATE])).json()
                assert (said["taken"], said["verdict"], said["records"]) == (0, "departs", 3), (
                    "nothing changes any more"
                )
                assert (await asking.get(f"{there}/events")).json()["events"] == []
                assert (await asking.delete(there)).status_code == 204
                assert (await asking.get(there)).status_code == 404
                assert len(asking.sessions) == 0

        together(story)

    def test_a_header_names_the_objects(self) -> None:
        async def story() -> None:
            header = {"schedproof": 1, "system": "hived", "objects": {"PodGroup": ["batch"], "Cell": ["gpu0"]}}
            async with client() as asking:
                there = f"/sessions/{await created(asking, {**header, 'variant': 'repaired'})}"
                record = {"action": "allocate", "parameters": {"p": "batch", "K": ["gpu0"]}}
                said = (await asking.post(f"{there}/records", json=[record])).json()
                assert (said["variant"], said["verdict"]) == ("repaired", "conforms")

        together(story)

    def test_records_one_a_line_up_to_the_first_that_is_none(self) -> None:
        async def story() -> None:
            async with client() as asking:
                there = f"/sessions/{await created(asking)}/records"
                lines = {"Content-Type": "application/x-ndjson"}
                for bad, says in [
                    ("{", "record 2: not JSON"),
                    ("7", "record 2: a record is an object"),
                    ('{"action": "fly"}', "record 2: unknown action 'fly'"),
                    ('{"action": "allocate", "parameters": {"p": "g9"}}', "record 2: "),
                ]:
                    body = "\n".join(["", json.dumps(ALLOCATE), " ", bad, json.dumps(PREEMPT)])
                    answer = await asking.post(there, content=body, headers=lines)
                    said = answer.json()
                    assert (answer.status_code, said["error"]) == (422, "bad-record")
                    assert said["message"].startswith(says) and "\n" not in said["message"]
                    assert (said["record"], said["taken"], said["records"], said["verdict"]) == (2, 1, 1, "conforms")
                    there = f"/sessions/{await created(asking)}/records"

        together(story)

    def test_records_are_refused_after_others_than_the_client_counts_on(self) -> None:
        async def story() -> None:
            async with client() as asking:
                there = f"/sessions/{await created(asking)}/records"
                assert (await asking.post(f"{there}?after=0", json=[ALLOCATE])).json()["records"] == 1
                answer = await asking.post(f"{there}?after=0", json=[ALLOCATE])
                assert (answer.status_code, answer.json()["error"], answer.json()["records"]) == (409, "conflict", 1)
                assert (await asking.post(f"{there}?after=1", json=[PREEMPT])).json()["verdict"] == "conforms"

        together(story)

    @pytest.mark.parametrize(
        ("asked", "status", "says"),
        [
            (b"", 400, "not JSON"),
            (b"[" * 100_000, 400, "nested deeper"),
            (b'{"system": "hived", "scope": {"Cell": 1' + b"0" * 5000 + b"}}", 400, "JSON that cannot be read"),
            (b'{"system": "hived", "system": "hived"}', 400, '"system" twice'),
            (b'{"system": NaN}', 400, "NaN is no number"),
            (b"\xff", 400, "byte 1 is not UTF-8"),
            (b"[]", 422, "a session is created with an object"),
            (b"{}", 422, '"system" is missing; there is hived'),
            (b'{"system": 7}', 422, "the system is given by its name"),
            (b'{"system": "hivd"}', 422, "did you mean hived?"),
            (b'{"system": "hived", "variant": "x"}', 422, "there is as-written, repaired"),
            (b'{"system": "hived", "scope": {"Cells": 1}}', 422, "unknown sort 'Cells'"),
            (b'{"system": "hived", "scope": {"Cell": 65}}', 422, "from 1 to 64"),
            (b'{"system": "hived", "scope": {"Cell": true}}', 422, '"scope" says how many objects'),
            (b'{"system": "hived", "objects": {}}', 422, '"objects" is no field here'),
            (b'{"system": "beaker"}', 422, "several topologies are possible"),
            (b'{"system": "hived", "schedproof": 2}', 422, "header: "),
        ],
    )
    def test_what_no_session_is_created_for(self, shared: Bench, asked: bytes, status: int, says: str) -> None:
        found, said = shared.post("/sessions", asked)
        assert (found, said["error"]) == (status, "malformed" if status == 400 else "bad-session")
        assert says in said["message"] and "\n" not in said["message"]
        assert shared.count() == 0, "and nothing is left of it"

    def test_every_system_can_be_judged(self) -> None:
        """Without names of objects at all: they appear as they are named."""

        async def story() -> None:
            async with sessions() as found:
                for system in SYSTEMS.values():
                    asked = {"schedproof": 1, "system": system.name}
                    answer = await found.create(json.dumps(asked).encode())
                    assert answer.done, answer
                    assert answer.body["variant"] == system.judged_by

        together(story)


class TestDescription:
    def test_it_is_one_that_clients_can_be_made_of(self) -> None:
        validator = pytest.importorskip("openapi_spec_validator")
        found = described(Limits())
        validator.validate(found)
        operations = [o for path in found["paths"].values() for o in path.values()]
        names = [o["operationId"] for o in operations]
        assert len(set(names)) == len(names) == 7
        assert all(o["description"] for o in operations)

    def test_its_headers_and_records_are_those_of_the_plain_format(self) -> None:
        schemas = described(Limits())["components"]["schemas"]
        assert {"$ref": "#/components/schemas/Objects"} in schemas["Header"]["properties"].values()
        assert {"action", "event", "parameters", "state"} <= set(schemas["Record"]["properties"])
        assert "$defs" not in json.dumps(schemas)

    def test_what_is_answered_is_as_it_says(self) -> None:
        """Every answer of a session's life, held against the schema of its status."""
        jsonschema = pytest.importorskip("jsonschema")
        document = described(Limits())

        def check(method: str, path: str, answer: Any) -> None:
            said = document["paths"][path][method]["responses"][str(answer.status_code)]
            if "content" in said:
                schema = {**said["content"]["application/json"]["schema"], "components": document["components"]}
                jsonschema.Draft202012Validator(schema).validate(answer.json())

        async def story() -> None:
            async with client(sessions=1) as asking:
                for path in ("/health", "/systems"):
                    check("get", path, await asking.get(path))
                answer = await asking.post("/sessions", json=HIVED)
                check("post", "/sessions", answer)
                for content in (b"", b"{}", b"[]"):
                    headers = {"Content-Type": "application/json"}
                    check("post", "/sessions", await asking.post("/sessions", content=content, headers=headers))
                check("post", "/sessions", await asking.post("/sessions"))
                there, form = f"/sessions/{answer.json()['id']}", "/sessions/{id}"
                for records in ([ALLOCATE], [{}], 7, [COMPLETE]):
                    check("post", f"{form}/records", await asking.post(f"{there}/records", json=records))
                check("post", f"{form}/records", await asking.post(f"{there}/records?after=x", json=[]))
                check("get", form, await asking.get(there))
                check("get", f"{form}/events", await asking.get(f"{there}/events"))
                check("get", f"{form}/events", await asking.get(f"{there}/events?most=0"))
                check("delete", form, await asking.delete(there))
                check("get", form, await asking.get(there))

        together(story)


class TestIsolation:
    def test_a_session_that_takes_too_long_is_lost_and_no_other(self) -> None:
        async def story() -> None:
            async with sessions(seconds=0.4) as found:
                slow, quick = [(await found.create(json.dumps(what).encode())).body["id"] for what in (WIDE, HIVED)]
                work = asyncio.create_task(found.records(slow, json.dumps(LONG).encode(), lines=False, after=None))
                while not work.done():
                    begun = time.monotonic()
                    answer = await found.report(quick)
                    assert answer.body["verdict"] == "conforms"
                    assert time.monotonic() - begun < 0.3, "it is answered while the other one works"
                said = (await work).body
                assert (said["verdict"], said["taken"], said["records"]) == ("undetermined", 0, 0)
                assert "more than 0.4 s of processor time" in said["note"]
                for answer in (await found.report(slow), await found.records(slow, b"[]", lines=False, after=None)):
                    assert answer.done and answer.body["verdict"] == "undetermined", "from then on"
                    assert "processor time" in answer.body["note"]
                answer = await found.events(slow, None)
                assert (answer.body["events"], answer.body["complete"]) == ([], False)
                one = json.dumps([ALLOCATE]).encode()
                assert (await found.records(quick, one, lines=False, after=None)).body["verdict"] == "conforms"

        together(story)

    def test_a_session_that_only_waits_is_given_up_all_the_same(self) -> None:
        """Processor time is not all: a process that is stopped uses none."""

        async def story() -> None:
            async with sessions(patience=0.3) as found:
                name = (await found.create(json.dumps(HIVED).encode())).body["id"]
                pid = found._open[name]._born.pid
                os.kill(pid, signal.SIGSTOP)
                said = (await found.report(name)).body
                assert (said["verdict"], said["note"]) == (
                    "undetermined", "the session was lost: a request took more than 0.3 s",
                )  # fmt: skip
                assert not alive(pid)

        together(story)

    def test_a_session_that_needs_too_much_memory_is_lost_and_no_other(self) -> None:
        async def story() -> None:
            async with sessions(memory=24 << 20) as found:
                greedy, other = [(await found.create(json.dumps(HIVED).encode())).body["id"] for _ in range(2)]
                body = b"[" + b'{"":0},' * 1_000_000 + b"{}]"  # a million of at least 184 bytes
                said = (await found.records(greedy, body, lines=False, after=None)).body
                assert (said["verdict"], said["note"]) == (
                    "undetermined", "the session was lost: it needed more than 24 MiB of memory",
                )  # fmt: skip
                assert (await found.report(other)).body["verdict"] == "conforms"

        together(story)

    def test_what_has_departed_has_departed_though_the_session_is_lost(self) -> None:
        async def story() -> None:
            async with sessions() as found:
                name = (await found.create(json.dumps(HIVED).encode())).body["id"]
                await found.records(name, json.dumps([COMPLETE]).encode(), lines=False, after=None)
                os.kill(found._open[name]._born.pid, signal.SIGKILL)
                said = (await found.report(name)).body
                assert (said["verdict"], said["records"]) == ("departs", 1)
                assert "its process was killed" in said["note"]

        together(story)

    def test_a_session_that_cannot_even_be_created_leaves_nothing(self) -> None:
        async def story() -> None:
            async with sessions(memory=24 << 20) as found:
                body = b'{"system": "hived", "x": [' + b'{"":0},' * 1_000_000 + b"{}]}"
                answer = await found.create(body)
                assert answer.kind is Kind.BAD_SESSION and "24 MiB" in answer.body["message"]
                assert len(found) == 0
                assert (await found.create(json.dumps(HIVED).encode())).done

        together(story)

    def test_many_sessions_at_once_know_nothing_of_each_other(self) -> None:
        async def story() -> None:
            async with client(sessions=24) as asking:

                async def one(number: int) -> tuple[str, int]:
                    there = f"/sessions/{await created(asking)}"
                    for record in [ALLOCATE, PREEMPT][: number % 3]:
                        assert (await asking.post(f"{there}/records", json=[record])).json()["verdict"] == "conforms"
                    if number % 4 == 0:
                        await asking.post(f"{there}/records", json=[COMPLETE])
                    said = (await asking.get(there)).json()
                    return said["verdict"], said["records"]

                found = await asyncio.gather(*map(one, range(24)))
                wanted = [("departs", n % 3 + 1) if n % 4 == 0 else ("conforms", n % 3) for n in range(24)]
                assert found == wanted
                answer = await asking.post("/sessions", json=HIVED)
                assert (answer.status_code, answer.json()["error"]) == (503, "full")
                assert 1 <= int(answer.headers["Retry-After"]) <= Limits().idle

        together(story)

    def test_requests_to_one_session_are_answered_in_order_and_not_too_many_wait(self) -> None:
        async def story() -> None:
            async with client(waiting=3, seconds=0.2) as asking:
                there = f"/sessions/{await created(asking, WIDE)}/records"
                found = await asyncio.gather(*(asking.post(there, json=LONG) for _ in range(5)))
                busy = [answer for answer in found if answer.status_code == 429]
                assert len(busy) == 2 and {a.headers["Retry-After"] for a in busy} == {"1"}
                assert {a.json()["verdict"] for a in found if a not in busy} == {"undetermined"}

        together(story)

    def test_a_session_is_closed_in_the_middle_of_a_request(self) -> None:
        async def story() -> None:
            async with client() as asking:
                there = f"/sessions/{await created(asking, WIDE)}"
                work = asyncio.create_task(asking.post(f"{there}/records", json=LONG))
                await asyncio.sleep(0.1)
                assert (await asking.delete(there)).status_code == 204
                answer = await work
                assert (answer.status_code, answer.json()["message"]) == (404, "the session was closed")

        together(story)

    def test_a_session_that_nobody_asks_anything_ends(self) -> None:
        async def story() -> None:
            async with client(idle=0.5) as asking:
                quiet, asked = [await created(asking) for _ in range(2)]
                pid = asking.sessions._open[quiet]._born.pid
                for _ in range(10):
                    await asyncio.sleep(0.1)
                    assert (await asking.get(f"/sessions/{asked}")).status_code == 200
                answer = await asking.get(f"/sessions/{quiet}")
                assert (answer.status_code, answer.json()["error"]) == (404, "no-such-session")
                assert not alive(pid)

        together(story)

    def test_without_the_process_that_starts_sessions_there_are_no_more_and_health_says_so(self) -> None:
        async def story() -> None:
            async with client() as asking:
                assert (await asking.get("/health")).json()["ok"] is True
                os.kill(asking.sessions.nursery.pid, signal.SIGKILL)
                answer = await asking.post("/sessions", json=HIVED)
                assert (answer.status_code, answer.json()["error"]) == (503, "full")
                assert (await asking.get("/health")).status_code == 503

        together(story)


class TestGate:
    @pytest.mark.parametrize(
        ("headers", "status"),
        [
            ({}, 200),
            ({"Host": "127.0.0.1:8470"}, 200),
            ({"Host": "LOCALHOST:1"}, 200),
            ({"Host": "[::1]:8470"}, 200),
            ({"Host": "evil.example"}, 403),
            ({"Host": "localhost.evil.example"}, 403),
            ({"Host": "evil.example@localhost:x"}, 403),
            ({"Host": ""}, 403),
            ({"Origin": "http://evil.example"}, 403),
            ({"Origin": "null"}, 403),
        ],
    )
    def test_pages_of_the_web_cannot_get_in(self, headers: dict[str, str], status: int) -> None:
        async def story() -> None:
            async with client() as asking:
                answer = await asking.get("/systems", headers=headers)
                assert answer.status_code == status
                assert not [name for name in answer.headers if name.startswith("access-control")]

        together(story)

    @pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""])
    def test_nor_with_what_they_may_send_unasked(self, kind: str) -> None:
        async def story() -> None:
            async with client() as asking:
                answer = await asking.post("/sessions", content=json.dumps(HIVED), headers={"Content-Type": kind})
                assert (answer.status_code, answer.json()["error"]) == (415, "unsupported")

        together(story)

    @pytest.mark.parametrize(
        ("brought", "status"),
        [
            (None, 401),
            ("Bearer a-token-of-some-length", 200),
            ("bearer a-token-of-some-length", 200),
            ("Bearer a-token-of-some-lengtg", 401),
            ("Bearer ", 401),
            ("Basic a-token-of-some-length", 401),
            ("Bearer \xe4", 401),
        ],
    )
    def test_who_brings_no_token_is_heard_of_health_only(self, brought: str | None, status: int) -> None:
        async def story() -> None:
            headers = {} if brought is None else {"Authorization": brought.encode("latin-1")}
            async with client(token="a-token-of-some-length") as asking:
                for path in ("/systems", "/openapi.json"):
                    assert (await asking.get(path, headers=headers)).status_code == status
                assert (await asking.post("/sessions", json=HIVED, headers=headers)).status_code in (201, status)
                assert len(asking.sessions) == (status == 200)
                assert (await asking.get("/health", headers=headers)).status_code == 200

        together(story)


class TestStrict:
    @pytest.mark.parametrize("text", ['{"a": [1, 2.5, -3e2, null, true, "\\ud800"]}', "[" * 40 + "]" * 40])
    def test_what_is_json(self, text: str) -> None:
        assert parse(text.encode()) == json.loads(text)

    @pytest.mark.parametrize(
        "text", ["", "{", "1e999", "-1e999", "Infinity", "[" * 41 + "]" * 41, '{"a":1,"a":1}', "9" * 5000]
    )
    def test_what_is_not_taken(self, text: str) -> None:
        with pytest.raises(NotJson) as found:
            parse(text.encode())
        assert "\n" not in str(found.value)


# With a server of its own


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


def ended(there: socket.socket) -> bool:
    """Nobody is at the other end any more."""
    there.settimeout(0.2)
    try:
        return there.recv(1) == b""
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
        with socket.create_connection(("127.0.0.1", self.port), timeout=10) as there:
            there.sendall(sent)
            found = b""
            while part := there.recv(65536):
                found += part
            return found


@contextmanager
def serving(*options: str, **environment: str) -> Iterator[Bench]:
    words = [sys.executable, "-m", "schedproof", "serve", "--port", "0", "--json", "-", *options]
    process = subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **environment}
    )
    try:
        assert process.stdout is not None
        said = ""
        while not said.rstrip().endswith("}"):
            line = process.stdout.readline()
            assert line, process.stderr.read() if process.stderr is not None else ""
            said += line
        told = json.loads(said)
        assert told["pid"] == process.pid and told["url"] == f"http://127.0.0.1:{told['port']}"
        yield Bench(process, told["port"])
    finally:
        process.kill()
        process.communicate()


@pytest.fixture(scope="module")
def shared() -> Iterator[Bench]:
    with serving("--max-body", "1") as bench:
        yield bench
        bench.process.send_signal(signal.SIGINT)
        out, err = bench.process.communicate(timeout=10)
        assert (bench.process.returncode, out, err) == (0, "", ""), (
            "whatever was asked of it, it ran until it was told to end"
        )


@contextmanager
def listened(**limits: Any) -> Iterator[int]:
    """The port of a server in a thread of this process, with other limits than the default ones."""
    from schedproof.service.listening import bound, server

    with Nursery(replace(Limits(), **limits)) as nursery, bound("127.0.0.1", 0) as listening:
        port = listening.getsockname()[1]
        served = server(Sessions(nursery, nursery.limits), listening, token=None)
        thread = Thread(target=lambda: served.run(sockets=[listening]))
        thread.start()
        try:
            assert until(lambda: served.started)
            yield port
        finally:
            served.should_exit = True
            thread.join()


class TestSlowClients:
    """Each is cut off; the limits that are not meant stay long, so that no other can be the reason."""

    def test_a_head_that_never_ends(self) -> None:
        with listened(head=0.3) as port, socket.create_connection(("127.0.0.1", port)) as slow:
            begun = time.monotonic()
            slow.sendall(b"GET / HTTP/1.1\r\n")
            assert until(lambda: ended(slow), 3)
            assert time.monotonic() - begun > 0.25

    def test_a_body_that_never_ends(self) -> None:
        with listened(content=0.3) as port, socket.create_connection(("127.0.0.1", port)) as slow:
            slow.settimeout(3)
            slow.sendall(
                b"POST /sessions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{"
            )
            assert slow.recv(65536).startswith(b"HTTP/1.1 408")
            assert until(lambda: ended(slow), 3)

    def test_answers_that_nobody_reads(self) -> None:
        with (
            listened(content=0.1, patience=0.1, reading=0.2, waiting=1) as port,
            socket.create_connection(("127.0.0.1", port)) as slow,
        ):
            slow.settimeout(0.5)
            asked, heard = 0, 0
            with suppress(ConnectionError, TimeoutError):  # it is not listened to for ever either
                for _ in range(50):
                    slow.sendall(b"GET /systems HTTP/1.1\r\nHost: localhost\r\n\r\n" * 10)
                    asked += 10
            time.sleep(1)
            with suppress(ConnectionError):
                while part := slow.recv(1 << 20):
                    heard += len(part)
            assert heard < 50_000 * asked, "each of the answers has more than 50 KB"


linux = pytest.mark.skipif(sys.platform != "linux", reason="processes are looked for in /proc")


class TestServer:
    @pytest.mark.parametrize("chunked", [True, False])
    @pytest.mark.parametrize("size", [1 << 20, (1 << 20) + 1, 3 << 20])
    def test_bodies_have_a_limit_however_they_are_sent(self, shared: Bench, chunked: bool, size: int) -> None:
        content = b" " * size
        body = iter([content[i : i + 65536] for i in range(0, size, 65536)]) if chunked else content
        try:
            status, said = shared.post("/sessions", body)
        except httpx.WriteError:
            assert size > 2 << 20, "what is sent regardless is cut off"
            return
        assert (status, said["error"]) == ((400, "malformed") if size == 1 << 20 else (413, "too-big"))

    @pytest.mark.parametrize(
        ("sent", "status"),
        [
            (b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", b"200"),
            (b"GET /health HTTP/1.0\r\n\r\n", b"403"),
            (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"400"),
            (b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"X: " + b"y" * 100_000, b"4"),
            (b"POST /sessions HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n", b"400"),
            (b"POST /sessions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
             b"Content-Length: 99999999999999999999999999\r\n\r\n", b"4"),
            (b"GET /%ff%00/.. HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", b"404"),
        ],
    )  # fmt: skip
    def test_what_no_browser_would_send(self, shared: Bench, sent: bytes, status: bytes) -> None:
        try:
            assert shared.raw(sent).startswith(b"HTTP/1.1 " + status)
        except ConnectionResetError:
            assert len(sent) > 10_000, "it is cut off in the middle of what it sends"
        assert shared.count() == 0

    def test_a_client_that_leaves_in_the_middle_harms_nobody(self, shared: Bench) -> None:
        for _ in range(20):
            with socket.create_connection(("127.0.0.1", shared.port)) as there:
                there.sendall(
                    b"POST /sessions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{"
                )
        assert shared.count() == 0

    def test_slow_clients_do_not_keep_others_out(self, shared: Bench) -> None:
        """More connections than there may be, none of which ever says what it wants."""
        slow = []
        try:
            for _ in range(Limits().connections + 10):
                slow.append(socket.create_connection(("127.0.0.1", shared.port)))
                slow[-1].sendall(b"GET /health HTTP/1.1\r\n")
            assert shared.count() == 0
            assert ended(slow[0]), "the first of them has gone"
            assert not ended(slow[-1])
        finally:
            for each in slow:
                each.close()

    def test_a_port_in_use_is_one_line(self, shared: Bench, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["serve", "--port", str(shared.port)]) == 2
        out, err = capsys.readouterr()
        assert out == "" and err.count("\n") == 1
        assert err.startswith(f"schedproof: port {shared.port} of 127.0.0.1 cannot be had:")

    @linux
    def test_clients_that_wait_are_told_that_it_ends(self) -> None:
        with socket.socket() as waiting:
            waiting.settimeout(10)
            with listened() as port:
                name = Bench(None, port).post("/sessions", json.dumps(WIDE).encode())[1]["id"]
                waiting.connect(("127.0.0.1", port))
                waiting.sendall(posting(name, LONG))
                time.sleep(0.2)
                begun = time.monotonic()
            assert time.monotonic() - begun < 3
            assert (answer := waiting.recv(65536)).startswith(b"HTTP/1.1 503") and b'"error":"ending"' in answer
            assert ended(waiting)

    @linux
    def test_a_server_that_is_killed_leaves_no_process(self) -> None:
        with serving() as bench:
            names = [bench.post("/sessions", json.dumps(WIDE).encode())[1]["id"] for _ in range(3)]
            members = family(bench.process.pid)
            assert len(members) == 4, "three sessions, and what began them"
            with socket.create_connection(("127.0.0.1", bench.port)) as working:  # one is in the middle of work
                working.sendall(posting(names[0], LONG))
                time.sleep(0.2)
                bench.process.kill()
                assert until(lambda: not any(alive(pid) for pid in members), 3)
