"""Sessions of the service: nothing that one client does hurts another."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")
pytest.importorskip("httpx")

from schedproof.service.answers import Kind
from schedproof.service.limits import Limits
from tests.service.bench import ALLOCATE, COMPLETE, HIVED, PREEMPT, alive, client, created, sessions, together
from tests.service.slow_record import SPIN, spinning
from tests.support.places import ROOT


def greed() -> None:
    """One session asks for more memory than it may have; another does not notice."""

    async def scenario() -> None:
        async with sessions(memory=24 << 20) as opened:
            greedy, other = [(await opened.create(json.dumps(HIVED).encode())).body["id"] for _ in range(2)]
            body = b"[" + b'{"":0},' * 600_000 + b"{}]"  # 600,000 of at least 184 bytes
            reply = (await opened.records(greedy, body, lines=False, after=None)).body
            assert (reply["verdict"], reply["note"]) == (
                "undetermined", "the session was lost: it needed more than 24 MiB of memory",
            )  # fmt: skip
            assert (await opened.report(other)).body["verdict"] == "conforms"
            # What goes too far when it is created leaves nothing.
            answer = await opened.create(b'{"system": "hived", "x": [' + b'{"":0},' * 600_000 + b"{}]}")
            assert answer.kind is Kind.BAD_SESSION and "24 MiB" in answer.body["message"]
            assert len(opened) == 2
            assert (await opened.create(json.dumps(HIVED).encode())).done

    together(scenario)


class TestIsolation:
    @pytest.mark.long
    def test_a_session_that_takes_too_long_is_lost_and_no_other(self) -> None:
        async def scenario() -> None:
            async with sessions(seconds=0.4) as opened:
                slow, fast = [(await opened.create(json.dumps(HIVED).encode())).body["id"] for _ in range(2)]
                work = asyncio.create_task(
                    opened.records(slow, json.dumps([ALLOCATE, SPIN]).encode(), lines=False, after=None)
                )
                answered = 0
                while not work.done():
                    assert (await opened.report(fast)).body["verdict"] == "conforms"
                    answered += not work.done()
                assert answered, "it is answered while the other one works"
                reply = (await work).body
                assert (reply["verdict"], reply["taken"], reply["records"]) == ("undetermined", 0, 0)
                assert "more than 0.4 s of processor time" in reply["note"]
                for answer in (await opened.report(slow), await opened.records(slow, b"[]", lines=False, after=None)):
                    assert answer.done and answer.body["verdict"] == "undetermined", "from then on"
                    assert "processor time" in answer.body["note"]
                answer = await opened.events(slow, None)
                assert (answer.body["events"], answer.body["complete"]) == ([], False)
                one = json.dumps([ALLOCATE]).encode()
                assert (await opened.records(fast, one, lines=False, after=None)).body["verdict"] == "conforms"

        with spinning():
            together(scenario)

    @pytest.mark.long
    def test_who_sends_too_much_to_check_in_time_is_asked_for_less(self) -> None:
        async def scenario() -> None:
            records = [{"crash": True}] * 50_000  # not for the fast path: an event, and not an action, is named
            async with client(seconds=1) as asking:
                session_url = f"/sessions/{await created(asking)}/records"
                answer = await asking.post(session_url, json=records)
                reply = answer.json()
                assert (answer.status_code, reply["error"], reply["verdict"]) == (413, "too-big", "conforms")
                assert 0 < reply["taken"] == reply["records"] < 50_000
                answer = await asking.post(f"{session_url}?after={reply['taken']}", json=records[:100])
                assert (answer.status_code, answer.json()["taken"]) == (200, 100), "the session is none the worse"

        together(scenario)

    @pytest.mark.long
    def test_a_session_that_only_waits_is_given_up_all_the_same(self) -> None:
        """Processor time is not all: a process that is stopped uses none."""

        async def scenario() -> None:
            async with sessions(patience=0.7) as opened:
                name = (await opened.create(json.dumps(HIVED).encode())).body["id"]
                pid = opened._open[name]._born.pid
                os.kill(pid, signal.SIGSTOP)
                reply = (await opened.report(name)).body
                assert (reply["verdict"], reply["note"]) == (
                    "undetermined", "the session was lost: a request took more than 0.7 s",
                )  # fmt: skip
                assert not alive(pid)

        together(scenario)

    @pytest.mark.long
    def test_a_session_of_too_much_memory_is_lost_and_no_other(self) -> None:
        """In an interpreter of its own: one that has run tests before has freed memory to give, which no limit counts."""
        script = "from tests.service.test_isolation import greed; greed()"
        done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr

    def test_what_has_violated_stays_so_though_the_session_is_lost(self) -> None:
        async def scenario() -> None:
            async with sessions() as opened:
                name = (await opened.create(json.dumps(HIVED).encode())).body["id"]
                await opened.records(name, json.dumps([COMPLETE]).encode(), lines=False, after=None)
                os.kill(opened._open[name]._born.pid, signal.SIGKILL)
                reply = (await opened.report(name)).body
                assert (reply["verdict"], reply["records"]) == ("violates", 1)
                assert "its process was killed" in reply["note"]

        together(scenario)

    @pytest.mark.long
    def test_many_sessions_at_once_know_nothing_of_each_other(self) -> None:
        async def scenario() -> None:
            async with client(sessions=24) as asking:

                async def one(number: int) -> tuple[str, int]:
                    session_url = f"/sessions/{await created(asking)}"
                    for record in [ALLOCATE, PREEMPT][: number % 3]:
                        assert (await asking.post(f"{session_url}/records", json=[record])).json()[
                            "verdict"
                        ] == "conforms"
                    if number % 4 == 0:
                        await asking.post(f"{session_url}/records", json=[COMPLETE])
                    reply = (await asking.get(session_url)).json()
                    return reply["verdict"], reply["records"]

                outcomes = await asyncio.gather(*map(one, range(24)))
                expected = [("violates", n % 3 + 1) if n % 4 == 0 else ("conforms", n % 3) for n in range(24)]
                assert outcomes == expected
                answer = await asking.post("/sessions", json=HIVED)
                assert (answer.status_code, answer.json()["error"]) == (503, "full")
                assert 1 <= int(answer.headers["Retry-After"]) <= Limits().idle

        together(scenario)

    def test_no_more_are_created_at_once_than_there_may_be(self) -> None:
        async def scenario() -> None:
            async with sessions(sessions=4) as opened:
                answers = await asyncio.gather(*(opened.create(json.dumps(HIVED).encode()) for _ in range(9)))
                assert sorted(a.kind for a in answers) == [Kind.DONE] * 4 + [Kind.FULL] * 5

        together(scenario)

    def test_a_session_answers_in_order_and_not_too_many_wait(self) -> None:
        async def scenario() -> None:
            async with client(waiting=3, seconds=0.2) as asking:
                session_url = f"/sessions/{await created(asking)}/records"
                answers = await asyncio.gather(*(asking.post(session_url, json=[SPIN]) for _ in range(5)))
                busy = [answer for answer in answers if answer.status_code == 429]
                assert len(busy) == 2 and {a.headers["Retry-After"] for a in busy} == {"1"}
                assert {a.json()["verdict"] for a in answers if a not in busy} == {"undetermined"}

        with spinning():
            together(scenario)

    def test_a_session_is_closed_in_the_middle_of_a_request(self) -> None:
        async def scenario() -> None:
            async with client() as asking:
                session_url = f"/sessions/{await created(asking)}"
                work = asyncio.create_task(asking.post(f"{session_url}/records", json=[SPIN]))
                await asyncio.sleep(0.1)
                assert (await asking.delete(session_url)).status_code == 204
                answer = await work
                assert (answer.status_code, answer.json()["message"]) == (404, "the session was closed")

        with spinning():
            together(scenario)

    @pytest.mark.long
    def test_an_idle_session_ends_but_not_one_that_works(self) -> None:
        async def scenario() -> None:
            async with client(idle=3) as asking:
                quiet, asked, works = [await created(asking) for _ in range(3)]
                pids = {name: asking.sessions._open[name]._born.pid for name in (quiet, works)}
                os.kill(pids[works], signal.SIGSTOP)
                work = asyncio.create_task(asking.get(f"/sessions/{works}"))
                for _ in range(10):
                    await asyncio.sleep(0.5)
                    assert (await asking.get(f"/sessions/{asked}")).status_code == 200
                answer = await asking.get(f"/sessions/{quiet}")
                assert (answer.status_code, answer.json()["error"]) == (404, "no-such-session")
                assert not alive(pids[quiet])
                os.kill(pids[works], signal.SIGCONT)
                assert (await work).json()["verdict"] == "conforms"

        together(scenario)

    def test_without_the_process_that_starts_sessions_health_says_so(self) -> None:
        async def scenario() -> None:
            async with client() as asking:
                assert (await asking.get("/health")).json()["ok"] is True
                os.kill(asking.sessions.nursery.pid, signal.SIGKILL)
                answer = await asking.post("/sessions", json=HIVED)
                assert (answer.status_code, answer.json()["error"]) == (503, "full")
                assert (await asking.get("/health")).status_code == 503

        together(scenario)
