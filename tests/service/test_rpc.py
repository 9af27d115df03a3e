"""The service as JSON-RPC 2.0 on standard input and output, and the command that starts either."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from threading import Timer
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import schedproof.service
from schedproof.cli import main
from schedproof.service.limits import Limits
from schedproof.service.mapped import NO_MAPPINGS, Mappings
from schedproof.service.nursery import Nursery
from schedproof.service.rpc import MOST_CALLS, PARAMETERS, Rpc
from schedproof.service.sessions import Sessions
from schedproof.service.stdio import TOO_LONG, UNDER_WAY, Stdio, lines, talk
from schedproof.service.token import SHORTEST, VARIABLE, BadToken, read_token
from tests.service.slow_record import SPIN, spinning
from tests.support.rows import each_row

HIVED = {"system": "hived", "scope": {"PodGroup": 2, "Cell": 2}}
ALLOCATE = {"action": "allocate", "parameters": {"p": "g0", "K": ["c0"]}}
COMPLETE = {"action": "complete", "parameters": {"p": "g1"}}


def call(method: str, name: object = 1, **parameters: object) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": name, "method": method, "params": parameters}


@asynccontextmanager
async def talking(mappings: Mappings = NO_MAPPINGS, **limits: Any) -> AsyncIterator[Callable[[object], Awaitable[Any]]]:
    """Answers as values; None for none."""
    with Nursery(replace(Limits(), **limits), mappings) as nursery:
        async with Sessions(nursery, nursery.limits) as sessions:
            rpc = Rpc(sessions)

            async def ask(what: object) -> Any:
                answer = await rpc.answer(what if isinstance(what, bytes) else json.dumps(what).encode())
                return None if answer is None else json.loads(answer)

            yield ask


def asked(*calls: object, **limits: Any) -> list[Any]:
    """The answers to calls, one after the other; ``{id}`` stands for the session that was created last."""

    async def scenario() -> list[Any]:
        answers: list[Any] = []
        name = ""
        async with talking(**limits) as ask:
            for each in calls:
                text = each if isinstance(each, bytes) else json.dumps(each).replace("{id}", name).encode()
                answers.append(await ask(text))
                if isinstance(answers[-1], dict) and "id" in answers[-1].get("result", {}):
                    name = answers[-1]["result"]["id"]
        return answers

    return asyncio.run(asyncio.wait_for(scenario(), 120))


class TestCalls:
    def test_the_report_says_which_row_would_explain_a_record(self) -> None:
        freed = {"state": {"Cell": {"c0": {"state": "Free"}}}}
        _, violated, report = asked(
            call("session.create", **HIVED),
            call("session.records", session="{id}", records=[ALLOCATE, freed]),
            call("session.report", session="{id}"),
        )
        assert violated["result"]["verdict"] == "violates"
        (change,) = report["result"]["first_departure"]["unexplained"]
        assert [row["row"] for row in change["rows"]] == ["e1 from Used"]
        assert any(way["needs"] == "p BeingPreempted" for way in change["rows"][0]["ways"])

    def test_a_session_from_beginning_to_end(self) -> None:
        created, checked, events, violated, report, closed, after_close = asked(
            call("session.create", **HIVED),
            call("session.records", session="{id}", records=[ALLOCATE], after=0),
            call("session.events", session="{id}", most=2),
            call("session.records", "x", session="{id}", records=[COMPLETE, ALLOCATE]),
            call("session.report", 2.5, session="{id}"),
            call("session.close", None, session="{id}"),
            call("session.report", session="{id}"),
        )
        assert created["jsonrpc"] == "2.0" and created["result"]["verdict"] == "conforms"
        assert (checked["result"]["taken"], checked["result"]["verdict"]) == (1, "conforms")
        assert len(events["result"]["events"]) == 2 and not events["result"]["complete"]
        assert violated["id"] == "x" and violated["result"]["first_departure"]["record"] == 2
        assert report["id"] == 2.5 and report["result"]["first_departure"]["candidates"]
        assert closed == {"jsonrpc": "2.0", "id": None, "result": {}}
        assert after_close["error"]["code"] == -32001

    def test_what_is_wrong_has_the_code_of_the_specification(self) -> None:
        wrong: list[tuple[object, int, str]] = [
            (b"{", -32700, "not JSON"),
            (b"[" * 100_000, -32700, "nested deeper"),
            (b'{"jsonrpc": "2.0", "id": 1e999, "method": "systems"}', -32700, "too big"),
            (b"\xff", -32700, "not UTF-8"),
            (b"[]", -32600, "at least one call"),
            (b"7", -32600, "a call is not an object"),
            (b'{"id": 1, "method": "systems"}', -32600, '"jsonrpc": "2.0"'),
            (b'{"jsonrpc": "2.0", "id": {}, "method": "systems"}', -32600, "a text or a number"),
            (b'{"jsonrpc": "2.0", "id": true, "method": "systems"}', -32600, "a text or a number"),
            (b'{"jsonrpc": "2.0", "id": 1, "method": 7}', -32600, '"method"'),
            (b'{"jsonrpc": "2.0", "id": 1, "method": "systems", "params": 7}', -32600, '"params"'),
            (call("session.fly"), -32601, "choose from systems, session.create"),
            ({**call("session.report"), "params": ["x"]}, -32602, "parameters are not an object"),
            (call("session.report"), -32602, "'session' is not a text"),
            (call("session.report", session="x", more=1), -32602, "unknown parameter 'more'"),
            (call("session.records", session="x"), -32602, "'records' is not a list"),
            (call("session.records", session="x", records=[], after=-1), -32602, "whole number, 0 or more"),
            (call("session.events", session="x", most=True), -32602, "whole number, 1 or more"),
            (call("session.create", system="hivd"), -32602, "did you mean hived?"),
            (call("session.create"), -32602, '"system" is missing'),
            (call("session.report", session="x"), -32001, "unknown session"),
        ]  # fmt: skip
        for (sent, code, says), answer in zip(wrong, asked(*(sent for sent, _, _ in wrong)), strict=True):
            assert answer["error"]["code"] == code, sent
            assert says in answer["error"]["message"] and "\n" not in answer["error"]["message"], sent
            assert answer["id"] == (1 if isinstance(sent, dict) or b'"id": 1,' in sent else None), sent  # type: ignore[operator]

    def test_a_bad_record_says_which_and_what_is_kept(self) -> None:
        _, bad, conflict = asked(
            call("session.create", **HIVED),
            call("session.records", session="{id}", records=[ALLOCATE, {"action": "fly"}]),
            call("session.records", session="{id}", records=[], after=0),
        )
        assert bad["error"]["code"] == -32002
        assert (bad["error"]["data"]["record"], bad["error"]["data"]["taken"]) == (2, 1)
        assert (conflict["error"]["code"], conflict["error"]["data"]["records"]) == (-32003, 1)

    def test_there_are_not_more_sessions_than_allowed(self) -> None:
        _, full = asked(call("session.create", **HIVED), call("session.create", **HIVED), sessions=1)
        assert full["error"]["code"] == -32004 and full["error"]["data"]["retry_after"] >= 1

    def test_a_session_that_takes_too_long_answers_so(self) -> None:
        with spinning():
            _, lost, report = asked(
                call("session.create", **HIVED),
                call("session.records", session="{id}", records=[SPIN]),
                call("session.report", session="{id}"),
                seconds=0.3,
            )
        assert lost["result"]["verdict"] == report["result"]["verdict"] == "undetermined"
        assert "processor time" in report["result"]["note"]

    def test_notifications_are_done_and_not_answered(self) -> None:
        note = {"jsonrpc": "2.0", "method": "session.records", "params": {"session": "{id}", "records": [ALLOCATE]}}
        wrong = {"jsonrpc": "2.0", "method": "session.fly"}
        _, one, two, many, report = asked(
            call("session.create", **HIVED), note, wrong, [wrong, wrong], call("session.report", session="{id}")
        )
        assert (one, two, many) == (None, None, None)
        assert report["result"]["records"] == 1

    def test_a_batch_is_done_in_order_and_answered_at_once(self) -> None:
        _, answers, too_many = asked(
            call("session.create", **HIVED),
            [
                call("session.records", 1, session="{id}", records=[ALLOCATE]),
                {"jsonrpc": "2.0", "method": "systems"},
                7,
                call("session.report", 2, session="{id}"),
            ],
            [7] * (MOST_CALLS + 1),
        )
        assert [a["id"] for a in answers] == [1, None, 2]
        assert answers[1]["error"]["code"] == -32600
        assert answers[2]["result"]["records"] == 1
        assert too_many["error"]["code"] == -32600

    def test_systems_are_all_there_with_what_can_happen(self) -> None:
        (answer,) = asked(call("systems"))
        (hived,) = [s for s in answer["result"]["systems"] if s["name"] == "hived"]
        assert hived["judged_by"] == "as-written"
        (variant,) = [v for v in hived["variants"] if v["name"] == "as-written"]
        assert variant["sorts"] == {"PodGroup": 3, "Cell": 3}
        assert variant["actions"][0]["parameters"] == {"p": "PodGroup", "K": "list of Cell"}


WORDS = st.sampled_from([*PARAMETERS, "2.0", "1.0", "session", "records", "x", "", "\ud800", "a\u0000"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | WORDS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=8,
)
CALLS = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.sampled_from(["2.0", "1.0", 2]),
        "id": VALUES,
        "method": WORDS,
        "params": VALUES
        | st.dictionaries(st.sampled_from(["session", "records", "after", "most", "system", "scope"]), VALUES),
    },
)
LINES = (
    st.binary(max_size=60)
    | st.text(max_size=60).map(lambda text: text.encode("utf-8", "surrogatepass"))
    | (VALUES | CALLS | st.lists(CALLS, max_size=4)).map(lambda value: json.dumps(value).encode())
)


class TestAnyLine:
    @pytest.mark.long
    def test_it_is_answered_as_the_specification_says_or_not_at_all(self) -> None:
        """Hundreds of lines, most of them wrong in one thing, to one server that goes on."""
        with Nursery(replace(Limits(), sessions=2)) as nursery, asyncio.Runner() as runner:

            async def begun() -> Sessions:
                return await Sessions(nursery, nursery.limits).__aenter__()

            sessions = runner.run(begun())
            rpc = Rpc(sessions)

            @settings(max_examples=400, deadline=None, database=None, suppress_health_check=list(HealthCheck))
            @given(LINES)
            def answered(line: bytes) -> None:
                answer = runner.run(rpc.answer(line))
                if answer is None:
                    return
                assert b"\n" not in answer
                response = json.loads(answer, parse_constant=pytest.fail)
                for one in response if isinstance(response, list) else [response]:
                    assert one["jsonrpc"] == "2.0" and "id" in one
                    assert ("result" in one) != ("error" in one)
                    if "error" in one:
                        assert isinstance(one["error"]["code"], int) and one["error"]["message"]
                        assert one["error"]["code"] != -32603, "an error of the service itself"

            answered()
            runner.run(sessions.__aexit__())


class TestLines:
    @each_row(
        ("sent", "expected"),
        [
            (b"", []),
            (b"a\n\n \nb", [b"a", b"b"]),
            (b"12345678\n123456789\n1\n", [b"12345678", TOO_LONG, b"1"]),
            (b"x" * 200_000 + b"\ny\n", [TOO_LONG, b"y"]),
            (b"x" * 200_000, [TOO_LONG]),
            (b"x" * 65_540 + b"\ny\n", [TOO_LONG, b"y"]),  # what is read at once ends a little before the line does
            (b"x\n" * 70_000, [b"x"] * 70_000),
        ],
    )
    def test_lines_are_cut_out_and_none_is_kept_that_is_too_long(
        self, tmp_path: Path, sent: bytes, expected: list[bytes | None]
    ) -> None:
        (tmp_path / "input").write_bytes(sent)
        source = os.open(tmp_path / "input", os.O_RDONLY)
        try:
            assert list(lines(source, 8)) == expected
        finally:
            os.close(source)


@pytest.fixture(scope="module")
def harness() -> Iterator[subprocess.Popen[bytes]]:
    """A server as a process of its own; it gets SIGTERM at the end."""
    words = [sys.executable, "-m", "schedproof", "serve", "--stdio", "--max-body", "1"]
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    watchdog = Timer(180, process.kill)  # who waits for an answer for ever gets none then
    watchdog.start()
    try:
        yield process
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=60)
        assert (process.returncode, out, err) == (0, b"", b"")
    finally:
        watchdog.cancel()
        process.kill()
        process.communicate()


def send(harness: subprocess.Popen[bytes], *messages: object) -> None:
    assert harness.stdin is not None
    for message in messages:
        harness.stdin.write((message if isinstance(message, bytes) else json.dumps(message).encode()) + b"\n")
    harness.stdin.flush()


def heard(harness: subprocess.Popen[bytes]) -> Any:
    assert harness.stdout is not None
    return json.loads(harness.stdout.readline())


class TestStdio:
    def test_sessions_go_on_beside_each_other_and_each_in_order(self, harness: subprocess.Popen[bytes]) -> None:
        send(harness, *[call("session.create", n, **HIVED) for n in (0, 1)])
        names = {answer["id"]: answer["result"]["id"] for answer in (heard(harness), heard(harness))}
        many = UNDER_WAY * 3
        send(harness, *[{"jsonrpc": "2.0", "method": "session.fly"}] * many)
        send(harness, *[call("session.records", n, session=names[n % 2], records=[], after=0) for n in range(many)])
        order = [heard(harness)["id"] for _ in range(many)]
        assert sorted(order) == list(range(many))
        assert [n for n in order if n % 2] == list(range(1, many, 2))
        assert [n for n in order if not n % 2] == list(range(0, many, 2))
        send(harness, *[call("session.close", session=name) for name in names.values()])
        assert heard(harness)["result"] == heard(harness)["result"] == {}

    def test_a_line_that_is_too_long_is_answered_and_the_next_too(self, harness: subprocess.Popen[bytes]) -> None:
        send(harness, b"x" * (3 << 20), call("session.report", 5, session="x"))
        answers = [heard(harness), heard(harness)]
        assert sorted(a["error"]["code"] for a in answers) == [-32007, -32001]

    def test_what_was_asked_before_the_input_ends_is_answered(self, tmp_path: Path) -> None:
        """And input may be a file, without a newline at its end."""
        (tmp_path / "calls").write_text(json.dumps(call("session.create", 8, **HIVED)))
        source, target = (
            os.open(tmp_path / "calls", os.O_RDONLY),
            os.open(tmp_path / "answers", os.O_CREAT | os.O_WRONLY),
        )
        try:
            with Nursery(Limits()) as nursery:
                talk(nursery, nursery.limits, source, target)
        finally:
            os.close(source)
            os.close(target)
        (answer,) = (tmp_path / "answers").read_text().splitlines()
        assert json.loads(answer)["result"]["verdict"] == "conforms"

    def test_a_client_that_still_waits_is_notified_of_the_end(self) -> None:
        (source, sent), (heard, target) = os.pipe(), os.pipe()

        async def scenario(nursery: Nursery) -> list[Any]:
            served = Stdio(Sessions(nursery, nursery.limits), source, target)
            ending = asyncio.create_task(served.talk())

            def ask(what: object) -> None:
                os.write(sent, json.dumps(what).encode() + b"\n")

            ask(call("session.create", **HIVED))
            with os.fdopen(heard) as answers:
                name = json.loads(await asyncio.to_thread(answers.readline))["result"]["id"]
                for _ in range(3):
                    ask(call("session.records", session=name, records=[SPIN]))
                asyncio.get_running_loop().call_later(0.2, served.end)
                await ending
                return [json.loads(await asyncio.to_thread(answers.readline)) for _ in range(3)]

        try:
            with spinning(), Nursery(Limits()) as nursery:
                replies = asyncio.run(asyncio.wait_for(scenario(nursery), 120))
        finally:
            for each in (source, sent, target):
                os.close(each)
        assert {answer["error"]["code"] for answer in replies} == {-32006}

    def test_it_ends_when_nobody_reads_its_answers(self) -> None:
        (source, sent), (heard, target) = os.pipe(), os.pipe()
        os.close(heard)
        os.write(sent, json.dumps(call("systems")).encode() + b"\n")
        try:
            with Nursery(Limits()) as nursery:
                served = Stdio(Sessions(nursery, nursery.limits), source, target)
                asyncio.run(asyncio.wait_for(served.talk(), 120))
        finally:
            for each in (sent, target):
                os.close(each)


class TestOwnSystems:
    def test_those_of_the_manifest_are_served(self, tmp_path: Path) -> None:
        assert main(["init", "lease", "-o", str(tmp_path / "mine")]) == 0
        calls = [
            call("session.create", "created", system="lease", scope={"Worker": 2, "Lease": 1}),
            call("session.create", "refused", system="leas"),
        ]
        process = subprocess.run(
            [sys.executable, "-m", "schedproof", "serve", "--stdio"],
            input="".join(json.dumps(c) + "\n" for c in calls), cwd=tmp_path / "mine", capture_output=True, text=True, timeout=60,
        )  # fmt: skip
        answers = {answer["id"]: answer for answer in map(json.loads, process.stdout.splitlines())}  # in any order
        assert "id" in answers["created"]["result"]
        assert "unknown system 'leas'; did you mean lease?" in answers["refused"]["error"]["message"]


class TestCommand:
    @pytest.mark.parametrize(
        ("words", "says"),
        [
            (["--stdio", "--port", "1"], "--stdio: it listens on no port"),
            (
                ["--host", "0.0.0.0", "--port", "0"],
                "--host: other machines can connect to 0.0.0.0 without a token",
            ),
            (["--host", "no.such.host.invalid"], "cannot listen on the address 'no.such.host.invalid'"),
            (["--token-file", "nowhere", "--port", "0"], "cannot read 'nowhere': No such file or directory"),
            (["--port", "99999"], "99999 is not in the range"),
            (["--max-sessions", "0"], "0 is not in the range"),
        ],
    )
    def test_mistakes_are_one_line(
        self, words: list[str], says: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        pytest.importorskip("uvicorn")
        monkeypatch.delenv(VARIABLE, raising=False)
        assert main(["serve", *words]) == 2
        out, err = capsys.readouterr()
        assert out == "" and err.count("\n") == 1 and says in err

    def test_what_is_missing_can_be_installed(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delitem(sys.modules, "schedproof.service.listening", raising=False)
        monkeypatch.delattr(schedproof.service, "listening", raising=False)
        monkeypatch.setitem(sys.modules, "uvicorn", None)
        assert main(["serve", "--port", "0"]) == 2
        assert "HTTP needs uvicorn" in (stderr := capsys.readouterr().err) and "pip install fastapi uvicorn" in stderr

    def test_the_description_is_written(self, tmp_path: Path) -> None:
        pytest.importorskip("fastapi")
        assert main(["serve", "--openapi", str(tmp_path / "openapi.json")]) == 0
        assert json.loads((tmp_path / "openapi.json").read_text())["openapi"].startswith("3.1")


class TestToken:
    GOOD = "x" * SHORTEST

    def test_a_file_comes_before_the_environment(self, tmp_path: Path) -> None:
        (tmp_path / "token").write_text(f"  {self.GOOD}\n")
        assert read_token(str(tmp_path / "token"), {VARIABLE: "y" * SHORTEST}) == self.GOOD
        assert read_token(None, {VARIABLE: self.GOOD}) == self.GOOD
        assert read_token(None, {}) is None

    @each_row("bad", [b"", b"short", b"two words of some length", b"\xff" * 20, b"x" * 15])
    def test_a_bad_token_is_refused_and_not_printed(self, tmp_path: Path, bad: bytes) -> None:
        (tmp_path / "token").write_bytes(bad)
        with pytest.raises(BadToken, match="at least 16") as caught:
            read_token(str(tmp_path / "token"), {})
        assert not bad or bad.decode("latin-1") not in str(caught.value)
        with pytest.raises(BadToken, match=VARIABLE):
            read_token(None, {VARIABLE: bad.decode("latin-1")})
