"""Live views: what viewers are sent, who may watch, and that no viewer harms a session."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("httpx")
pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")

import httpx

from schedproof.cli.commands.serve import HOST, PORT
from schedproof.proofs.traces.engine.explained import Explanations
from schedproof.service import view
from schedproof.service.limits import Limits
from schedproof.service.session import Session
from tests.service.bench import ALLOCATE, COMPLETE, HIVED, PREEMPT, listened, served, serving, until
from tests.service.slow_record import SPIN, spinning
from tests.support.needs import needs_curl, needs_proc
from tests.support.places import ROOT

TOKEN = "sixteen-letters-or-more"
FAST: dict[str, Any] = {"pause": 0.01, "beat": 0.1}

MOST_SECONDS = 20
"""The limit for reading one stream."""


class Client:
    """A client of a server in this process."""

    def __init__(self, port: int, token: str | None = None) -> None:
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        self.http = httpx.Client(base_url=f"http://127.0.0.1:{port}", headers=headers, timeout=10)

    def create(self, asked: object = HIVED) -> tuple[str, str]:
        """The id of a new session, and its name for viewers."""
        answer = self.http.post("/sessions", json=asked).json()
        path, _, live = answer["live"].rpartition("/")
        assert path == "/live"
        return answer["id"], live

    def send(self, session: str, *records: object) -> Any:
        return self.http.post(f"/sessions/{session}/records", json=records).json()

    @contextmanager
    def watching(self, live: str) -> Iterator[Iterator[tuple[str, Any]]]:
        """The events of a session: names and contents. A sign of life has the name "beat"."""
        with self.http.stream("GET", f"/views/{live}") as answer:
            assert answer.status_code == 200, answer.read()
            assert answer.headers["content-type"].startswith("text/event-stream")
            yield _events(answer.iter_lines())


def _events(lines: Iterator[str]) -> Iterator[tuple[str, Any]]:
    name, end = "", time.monotonic() + MOST_SECONDS
    for line in lines:
        assert time.monotonic() < end, "what is waited for does not come"
        if line.startswith(":"):
            yield "beat", None
        elif line.startswith("event: "):
            name = line.removeprefix("event: ")
        elif line.startswith("data: "):
            yield name, json.loads(line.removeprefix("data: "))


def seen(events: Iterator[tuple[str, Any]], records: int) -> Any:
    """The first view of so many records."""
    return next(content for name, content in events if name == "view" and content["records"] == records)


@contextmanager
def client(token: str | None = None, **limits: Any) -> Iterator[Client]:
    with listened(token, **{**FAST, **limits}) as port:
        yield Client(port, token)


def test_a_stream_shows_records_as_they_arrive() -> None:
    with client() as asking:
        session, live = asking.create()
        with asking.watching(live) as events:
            first = seen(events, 0)
            assert first["verdict"] == "conforms" and first["run"]["steps"] == []
            assert [lane["name"] for lane in first["run"]["lanes"]] == ["g0", "g1", "c0", "c1"]
            asking.send(session, ALLOCATE)
            one = seen(events, 1)
            assert [step["says"] for step in one["run"]["steps"]] == ["g0 is allocated {c0} (record 1)"]
            assert (one["is_only_one"], one["states"], one["records_before"]) == (True, 1, 0)
            asking.send(session, PREEMPT)
            two = seen(events, 2)
            # As in test_http: the pod on c0 goes (line 95), or the preemptor g1 goes, or a crash comes.
            coming = {each["action"]: each["says"] for each in two["next"]["events"]}
            assert coming == {
                "vacate": "the pod on c0 is deleted",
                "delete_preempting": "all pods of g1, which was preempting, are deleted",
                "crash": "the scheduler crashes and restarts",
            }
            asking.send(session, COMPLETE)
            three = seen(events, 3)
            assert (three["verdict"], three["nonconformance"]["record"]) == ("violates", 3)
            assert "complete needs" in three["nonconformance"]["reason"]
            assert len(three["run"]["steps"]) == 2 and three["next"]["events"] == []


def test_a_viewer_who_comes_later_sees_all_records() -> None:
    with client() as asking:
        session, live = asking.create()
        asking.send(session, ALLOCATE, PREEMPT)
        with asking.watching(live) as events:
            assert len(seen(events, 2)["run"]["steps"]) == 2


def test_signs_of_life_come_while_nothing_happens() -> None:
    with client() as asking, asking.watching(asking.create()[1]) as events:
        seen(events, 0)
        assert [next(events)[0] for _ in range(3)] == ["beat"] * 3


def test_a_stream_outlives_the_time_of_other_requests() -> None:
    with client(content=0.1, patience=1.0, waiting=1, reading=0.2) as asking:
        session, live = asking.create()
        with asking.watching(live) as events:
            begun = time.monotonic()
            while time.monotonic() < begun + 1.5:  # another request has 0.1 + 1 + 0.2 seconds
                next(events)
            asking.send(session, ALLOCATE)
            assert seen(events, 1)


class TestAccess:
    def test_the_pages_are_open_and_the_views_are_not(self) -> None:
        with client(TOKEN) as asking:
            _, live = asking.create()
            stranger = httpx.Client(base_url=asking.http.base_url)
            for path in ("/live", f"/live/{live}", "/live/nobody"):
                page = stranger.get(path)
                assert page.status_code == 200 and page.text == stranger.get("/live").text, (
                    "it says nothing of a session"
                )
                assert page.headers["content-security-policy"] == "frame-ancestors 'none'"
                assert page.headers["referrer-policy"] == "no-referrer"
            for path in (
                "/views",
                f"/views/{live}",
                f"/views/{live}?token={TOKEN}",
                "/live/a/b",
                "/livea",
                "/live/%2e",
            ):
                answer = stranger.get(path)
                assert (answer.status_code, answer.json()["error"]) == (401, "unauthorized"), path
            assert asking.http.get(f"/views/{live}", headers={"Origin": "http://evil.example"}).status_code == 403

    def test_with_a_token_all_sessions_are_listed(self) -> None:
        with client(TOKEN) as asking:
            first, second = asking.create(), asking.create()
            asking.send(first[0], ALLOCATE)
            listed = asking.http.get("/views").json()["views"]
            assert [(each["name"], each["records"], each["verdict"]) for each in listed] == [
                (first[1], 1, "conforms"),
                (second[1], 0, "conforms"),
            ]
            assert first[0] not in json.dumps(listed), "who may watch may not write"

    def test_without_a_token_no_session_is_listed(self) -> None:
        with client() as asking:
            asking.create()
            answer = asking.http.get("/views")
            assert (answer.status_code, answer.json()["error"]) == (403, "forbidden")
            assert "--token-file" in answer.json()["message"] and "\n" not in answer.json()["message"]

    def test_a_viewer_cannot_write(self) -> None:
        with client() as asking:
            session, live = asking.create()
            assert asking.http.post(f"/sessions/{live}/records", json=[ALLOCATE]).status_code == 404
            assert asking.http.delete(f"/sessions/{live}").status_code == 404
            assert asking.http.get(f"/views/{session}").status_code == 404
            assert asking.http.post(f"/views/{live}", json=[]).status_code == 405

    def test_the_token_is_in_no_log(self) -> None:
        with serving(SCHEDPROOF_TOKEN=TOKEN) as bench:
            assert bench.process is not None
            asking = Client(bench.port, TOKEN)
            with asking.watching(asking.create()[1]) as events:
                seen(events, 0)
            bench.process.terminate()
            out, err = bench.process.communicate(timeout=60)
            assert TOKEN not in out + err


class TestLimits:
    def test_one_stream_too_many_is_refused(self) -> None:
        with client(streams=2) as asking:
            _, live = asking.create()
            with asking.watching(live) as one, asking.watching(live) as two:
                assert seen(one, 0) == seen(two, 0)
                answer = asking.http.get(f"/views/{live}")
                assert (answer.status_code, answer.json()["error"]) == (503, "full")
                assert answer.json()["message"] == "2 live views are open already; close one of them"
                assert answer.headers["retry-after"]
            assert until(lambda: _opens(asking, live)), "the two that left make room"

    def test_no_streams_at_all(self) -> None:
        with client(streams=0) as asking:
            assert asking.http.get(f"/views/{asking.create()[1]}").status_code == 503

    @needs_proc
    def test_a_reader_who_takes_nothing_is_cut_off(self, monkeypatch: pytest.MonkeyPatch) -> None:
        made, see = [], Session._see

        async def large(session: Session) -> bytes:
            made.append(session.version)
            return (await see(session))[:-1] + b', "more": "' + b"x" * (1 << 20) + b'"}'

        monkeypatch.setattr(Session, "_see", large)
        with served(**FAST, reading=0.5) as (port, _), socket.socket() as slow:
            asking = Client(port)
            session, live = asking.create()
            slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            slow.connect(("127.0.0.1", port))
            slow.sendall(f"GET /views/{live} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            assert until(lambda: bool(made))
            records, standing, end = 0, 0, time.monotonic() + 20
            while standing < 20 and time.monotonic() < end:
                before, records = len(made), records + 1
                assert asking.send(session, {"action": "crash"})["records"] == records
                time.sleep(0.02)  # longer than the pause between two events
                standing = standing + 1 if len(made) == before else 0
            # 20 changes after which nothing is made: the buffers between the two ends are full.
            assert standing == 20
            assert until(lambda: asking.http.get("/health").status_code == 200 and _is_cut(port, slow), 10)
            with asking.watching(live) as events:
                seen(events, records)

    def test_watching_keeps_no_session(self) -> None:
        with client(idle=0.5) as asking, asking.watching(asking.create()[1]) as events:
            assert [name for name, _ in events if name != "beat"] == ["view", "end"]


def _is_cut(port: int, connection: socket.socket) -> bool:
    """Whether the server has no connection any more to this one."""
    name = connection.getsockname()[1]
    ends = [line.split()[1:4] for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return [f"0100007F:{port:04X}", f"0100007F:{name:04X}", "01"] not in ends  # 01: established


def _opens(asking: Client, live: str) -> bool:
    with asking.http.stream("GET", f"/views/{live}") as answer:
        return bool(answer.status_code == 200)


class TestEnds:
    def test_a_session_that_is_closed_ends_its_streams(self) -> None:
        with client() as asking:
            session, live = asking.create()
            with asking.watching(live) as one, asking.watching(live) as two:
                seen(one, 0), seen(two, 0)
                assert asking.http.delete(f"/sessions/{session}").status_code == 204
                for events in (one, two):
                    assert [name for name, _ in events if name != "beat"] == ["end"]
            answer = asking.http.get(f"/views/{live}")
            assert (answer.status_code, answer.json()["message"]) == (404, "unknown session, or it has ended")

    def test_a_server_that_ends_ends_its_streams(self) -> None:
        with served(**FAST) as (port, server):
            asking = Client(port)
            with asking.watching(asking.create()[1]) as events:
                seen(events, 0)
                server.should_exit = True
                assert [name for name, _ in events if name != "beat"] == ["end"]

    def test_a_lost_session_says_why(self) -> None:
        with spinning(), client(seconds=0.4) as asking:
            session, live = asking.create()
            with asking.watching(live) as events:
                seen(events, 0)
                asking.send(session, ALLOCATE, SPIN)
                lost = next(c for name, c in events if name == "view" and c["verdict"] != "conforms")
            assert lost["verdict"] == "undetermined"
            assert lost["note"] == "the session was lost: a request took more than 0.4 s of processor time"
            with asking.watching(live) as events:
                assert next(events) == ("view", lost), "a viewer who comes later sees the same"


class TestNoHarm:
    """What happens to a view is not the client's concern."""

    def standing(self, **limits: Any) -> Any:
        """What a viewer sees of a session; its client then goes on as if nothing had happened."""
        with client(**limits) as asking:
            session, live = asking.create()
            asking.send(session, ALLOCATE)
            with asking.watching(live) as events:
                content = seen(events, 1)
            assert asking.send(session, PREEMPT)["verdict"] == "conforms"
            return content

    def test_a_run_that_takes_too_long(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def forever(self: object, kept: object, most: object) -> None:
            while True:
                pass

        monkeypatch.setattr(Explanations, "run", forever)  # the session's process is a copy of this one
        content = self.standing(seconds=5)
        assert (content["run"], content["note_on_run"]) == (None, "it takes too long")
        assert content["verdict"] == "conforms" and content["next"]["events"]

    @pytest.mark.parametrize("error", [MemoryError(), ValueError("x"), AssertionError()])
    def test_a_run_that_fails(self, monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
        def fails(self: object, kept: object) -> None:
            raise error

        monkeypatch.setattr(Explanations, "learn", fails)
        content = self.standing()
        assert content["run"] is None and content["note_on_run"] and content["verdict"] == "conforms"

    def test_a_run_that_is_too_large_shows_its_end(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(view, "MOST_BYTES", 15_000)
        with client() as asking:
            session, live = asking.create()
            twice = [ALLOCATE, {"action": "delete_allocated", "parameters": {"p": "g0"}}]
            for record in twice:
                asking.send(session, record)
            asking.send(session, *[{"action": "crash"}] * 100)
            with asking.watching(live) as events:
                content = seen(events, 102)
        assert len(content["run"]["steps"]) == 102 - content["records_before"] < 102
        assert len(json.dumps(content["run"])) <= 15_000

    def test_a_run_that_is_not_complete_goes_on(self, monkeypatch: pytest.MonkeyPatch) -> None:
        calls, in_time = [0], view.bounded

        def once_too_slow(seconds: float, work: Any, otherwise: Any) -> Any:
            calls[0] += 1  # in the session's process, which is a copy of this one: its second call is too slow
            return otherwise if calls[0] == 2 else in_time(seconds, work, otherwise)

        monkeypatch.setattr(view, "bounded", once_too_slow)
        with client() as asking:
            session, live = asking.create()
            asking.send(session, ALLOCATE)
            with asking.watching(live) as events:
                views = [seen(events, 1)]
                while views[-1]["more"]:
                    views.append(seen(events, 1))
        assert [each["more"] for each in views] == [True, False]
        assert len(views[-1]["run"]["steps"]) == 1

    @pytest.mark.long
    def test_a_long_run_is_complete_after_a_while(self) -> None:
        """One that takes longer than a view may: 200 groups of 700 cells, each record with other objects than the last."""
        cells = [f"c{number}" for number in range(700)]
        records = [{"action": "allocate", "parameters": {"p": f"g{n}", "K": [f"c{n}"]}} for n in range(180)]
        with client() as asking:
            session, live = asking.create({"schedproof": 1, "system": "hived", "objects": {"Cell": cells}})
            for at in range(0, len(records), 20):
                assert asking.send(session, *records[at : at + 20])["verdict"] == "conforms"
            with asking.watching(live) as events:
                views = [seen(events, len(records))]
                while views[-1].get("more"):
                    views.append(seen(events, len(records)))
        assert len(views[-1]["run"]["steps"]) == len(records) and views[-1]["records_before"] == 0

    def test_viewers_who_leave_at_once(self) -> None:
        with client() as asking:
            session, live = asking.create()
            for number in range(20):
                with socket.create_connection(("127.0.0.1", asking.http.base_url.port)) as leaving:
                    leaving.sendall(f"GET /views/{live} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
                    assert asking.send(session, {"action": "crash"})["records"] == number + 1
            assert until(lambda: _opens(asking, live))

    def test_viewers_take_no_place_of_a_client(self) -> None:
        with client(waiting=1) as asking:
            session, live = asking.create()
            with asking.watching(live) as events:
                for number in range(20):
                    assert asking.send(session, {"action": "crash"})["records"] == number + 1
                    next(events)

    def test_names_are_data_and_never_events(self) -> None:
        name = "x\n\nevent: end\ndata: {}\n\n\u2028</script>"
        with client() as asking:
            session, live = asking.create(
                {"schedproof": 1, "system": "hived", "objects": {"PodGroup": [name], "Cell": ["c"]}}
            )
            asking.send(session, {"action": "allocate", "parameters": {"p": name, "K": ["c"]}})
            with asking.watching(live) as events:
                assert seen(events, 1)["run"]["lanes"][0]["name"] == name


def test_streams_leave_room_for_clients() -> None:
    """Streams and requests at all sessions together stay below the limit of connections."""
    limits = Limits()
    assert limits.streams + limits.sessions * limits.waiting < limits.connections


@needs_curl
def test_the_commands_of_the_how_to_do_what_it_says() -> None:
    section = (ROOT / "docs" / "howto" / "play.md").read_text("utf-8").split("## Watch a log while it grows")[1]
    serve, *asked = [
        line for block in re.findall(r"```sh\n(.*?)```", section, re.DOTALL) for line in block.splitlines()
    ]
    assert serve == "schedproof serve &" and len(asked) == 3

    with client() as asking:

        def answer(line: str, session: str = "") -> Any:
            assert f"http://{HOST}:{PORT}/" in line
            line = line.replace(str(PORT), str(asking.http.base_url.port)).replace("/ID/", f"/{session}/")
            done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, timeout=20, check=True)
            return json.loads(done.stdout)

        created = answer(asked[0])
        with asking.watching(created["live"].removeprefix("/live/")) as events:
            seen(events, 0)
            answer(asked[1], created["id"])
            assert seen(events, 1)["verdict"] == "conforms"
            answer(asked[2], created["id"])
            content = seen(events, 2)
            assert content["nonconformance"]["record"] == 2 and "c0: Used" in content["nonconformance"]["reason"]
