"""Jobmon's server over HTTP, the connection that asks it again, and the command line."""

from __future__ import annotations

import http.client
import json
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import pytest

from schedproof.impl.systems.jobmon import requests as ask
from schedproof.impl.systems.jobmon.__main__ import run
from schedproof.impl.systems.jobmon.connection import Connection
from schedproof.impl.systems.jobmon.draft import Draft
from schedproof.impl.systems.jobmon.errors import Contended, IllegalMove, Malformed, StoreError, Unreachable
from schedproof.impl.systems.jobmon.records import Leases, Records
from schedproof.impl.systems.jobmon.requests import Report, Request
from schedproof.impl.systems.jobmon.server import Asks, Server
from schedproof.impl.systems.jobmon.sql_store import SqlStore
from schedproof.impl.systems.jobmon.store import MemoryStore
from schedproof.impl.systems.jobmon.world import ClientSpec, World
from tests.support.rows import each_row
from tests.systems.jobmon.agents.scenarios import Scenario, workflow
from tests.systems.jobmon.processes.installation import installation, until
from tests.systems.jobmon.server.bench import Bench, answer
from tests.systems.jobmon.server.random_requests import goes_on, random_requests

pytest.importorskip("fastapi")
uvicorn = pytest.importorskip("uvicorn")


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


@contextmanager
def served(server: Asks) -> Iterator[str]:
    """Its address."""
    from schedproof.impl.systems.jobmon.web import application

    port = free_port()
    http_server = uvicorn.Server(uvicorn.Config(application(server), host="127.0.0.1", port=port, log_level="error"))
    thread = Thread(target=http_server.run)
    thread.start()
    try:
        assert until(lambda: http_server.started)
        yield f"http://127.0.0.1:{port}"
    finally:
        http_server.should_exit = True
        thread.join()


@pytest.fixture(scope="module")
def served_empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """On a database that refuses what no database can keep."""
    with (
        SqlStore(f"sqlite:///{tmp_path_factory.mktemp('served')}/x.db") as store,
        served(Server(store)) as url,
    ):
        yield url
        assert store.snapshot() == Records()


def post(url: str, path: str, body: str | bytes, method: str = "POST") -> tuple[int, object]:
    connection = http.client.HTTPConnection(url.removeprefix("http://"))
    connection.request(method, path, body, {"Content-Type": "application/json"})
    answer = connection.getresponse()
    content = json.loads(answer.read())
    connection.close()
    return answer.status, content


class TestServer:
    @pytest.mark.long
    def test_it_answers_as_a_direct_call(self) -> None:
        one, other = Bench(MemoryStore()), Bench(MemoryStore())
        with served(other.server) as url:
            connection = Connection(url, patience=0)
            for number, request in enumerate(random_requests(11, 300, one.store.snapshot)):
                one.time = other.time = one.time + goes_on(11, number)
                assert answer(connection, request) == answer(one.server, request), request
        assert one.store.snapshot() == other.store.snapshot()

    @each_row(
        ("path", "body", "status", "says"),
        [
            ("/ReapRun", '{"run": 7}', 409, {"said": "there is no workflow run 7", "state": None, "for_good": True}),
            ("/ReapRun", "{}", 422, {"said": "ReapRun: 'run' is missing"}),
            ("/ReapRun", '{"run": "x"}', 422, {"said": "ReapRun.run: write a whole number, not 'x'"}),
            ("/AdvanceRun", '{"run": 1, "to": "Y"}', 422, {"said": "AdvanceRun.to: write one of G, L, B, I, O, R, D, S, E, C, H, T, A, not 'Y'"}),
            ("/ReapRun", "no JSON", 422, {"said": "it is not JSON: Expecting value: line 1 column 1 (char 0)"}),
            ("/ReapRun", '{"run": 1, "run": 2}', 422, {"said": "it says 'run' twice in one object"}),
            ("/ReapRun", "[" * 10_000, 422, {"said": "it is nested too deep"}),
            ("/ReapRun", b"\xff", 422, {"said": "it is not JSON: 'utf-8' codec can't decode byte 0xff in position 0: invalid start byte"}),
            ("/ReapRun", f'{{"run": {2**63}}}', 422, {"said": f"ReapRun.run: {2**63} is beyond {2**63 - 1}"}),
            ("/ReapRun", f'{{"run": {2**63 - 1}}}', 409, None),
            ("/ReapRun", f'{{"run": {-(2**63) + 1}}}', 409, None),
            ("/ReapRun", f'{{"run": 1{"0" * 5000}}}', 422, None),
            ("/ReapRun", '{"run": NaN}', 422, {"said": "ReapRun.run: write a whole number, not nan"}),
            ("/Register", '{"name": "a\\u0000", "tasks": []}', 422, {"said": "Register.name: 'a\\x00' has a NUL character in it"}),
            ("/Register", '{"name": "a\\ud800", "tasks": []}', 422, {"said": "Register.name: 'a\\ud800' has half of a character (a lone surrogate) in it"}),
            ("/Register", json.dumps({"name": "x" * 501, "tasks": []}), 409, None),
            ("/Nothing", "{}", 404, None),
        ],
    )  # fmt: skip
    def test_what_it_does_not_do(
        self, served_empty: str, path: str, body: str | bytes, status: int, says: object
    ) -> None:
        status_code, content = post(served_empty, path, body)
        assert status_code == status
        assert says in (None, content)

    def test_a_fault_is_said_without_more(self) -> None:
        class Faulty(Server):
            def clear(self, draft: Draft, request: ask.Clear) -> Report:
                raise IllegalMove("task 1 cannot go from D to Q")

        says = "a fault of the server: task 1 cannot go from D to Q"
        with served(Faulty(MemoryStore())) as url, pytest.raises(Malformed, match=says):
            Connection(url).ask(ask.Clear(1))


@contextmanager
def answering(status: str, body: str) -> Iterator[str]:
    """The address of somebody who gives one answer, whatever is asked."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def other() -> None:
            connection, _ = listening.accept()
            connection.recv(65536)
            connection.sendall(f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())
            connection.close()

        Thread(target=other).start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"


class Unlucky:
    """A server whose first answers to each request are lost, after it was done or before."""

    def __init__(self, server: Asks, lost: int, *, done: bool) -> None:
        self._server, self._lost, self._done = server, lost, done
        self._asked: dict[Request, int] = {}
        self.answers = 0

    def ask(self, request: Request) -> Report:
        self._asked[request] = self._asked.get(request, 0) + 1
        if self._asked[request] <= self._lost:
            if self._done:
                self._server.ask(request)
            raise Contended("another transaction came in between")
        self.answers += 1
        return self._server.ask(request)


class TestConnection:
    @pytest.mark.long
    @pytest.mark.parametrize("done", [True, False])
    def test_asks_again_until_there_is_an_answer(self, done: bool) -> None:
        bench = Bench(MemoryStore())
        with served(Unlucky(bench.server, 2, done=done)) as url:
            connection = Connection(url)
            bench.server = connection  # type: ignore[assignment]
            bench.register()
            bench.run()
            bench.queue()
            bench.bring(1, "D")
            assert (bench.instances(), bench.tasks(), bench.runs()) == ("D", "D", "R")
            assert connection.ask(ask.FinishRun(1, ask.RunState.DONE)).runs[0].status == "D"
        assert bench.store.snapshot().tasks[0].num_attempts == 1

    @pytest.mark.long
    def test_a_connection_that_breaks_off(self) -> None:
        """The server dies before it answers, and another one is there a little later."""
        port = free_port()
        listening = socket.create_server(("127.0.0.1", port))
        bench = Bench(MemoryStore())

        def breaks_off() -> None:
            connection, _ = listening.accept()
            connection.recv(10)
            connection.close()
            listening.close()

        Thread(target=breaks_off).start()
        from schedproof.impl.systems.jobmon.web import application

        server = uvicorn.Server(
            uvicorn.Config(application(bench.server), host="127.0.0.1", port=port, log_level="error")
        )
        later = Thread(target=lambda: (time.sleep(0.5), server.run()))
        later.start()
        try:
            assert Connection(f"http://127.0.0.1:{port}").ask(ask.FindDead()).runs == ()
        finally:
            server.should_exit = True
            later.join()

    def test_why_a_server_does_not_answer_is_said(self) -> None:
        class Broken:
            def ask(self, request: Request) -> Report:
                raise StoreError("x.db cannot be used: the disk is full\n(somewhere)")

        says = r"gives no answer: it answers 503: x\.db cannot be used: the disk is full \(somewhere\)$"
        with served(Broken()) as url, pytest.raises(Unreachable, match=says):
            Connection(url, patience=0).ask(ask.FindDead())

    @pytest.mark.parametrize("body", ["<html>", "", '{"detail": "x"}', "[" * 10_000])
    def test_or_by_somebody_else(self, body: str) -> None:
        with answering("503 Service Unavailable", body) as url, pytest.raises(Unreachable, match=r"it answers 503$"):
            Connection(url, patience=0).ask(ask.FindDead())

    def test_nobody_there(self) -> None:
        begin = time.monotonic()
        with pytest.raises(Unreachable, match=r"gives no answer: .*refused"):
            Connection(f"http://127.0.0.1:{free_port()}", patience=0.2).ask(ask.FindDead())
        assert time.monotonic() - begin < 15  # without a word on patience it is 30

    @each_row(
        "url",
        [
            "", "nonsense", "//a:1", "a:1", "ftp://a:1", "https://a:1", "http://", "http://:80", "http://a:b", "http://a:0",
            "http://a:-1", "http://a:99999", "http://a/b", "http://a?b", "http://a#b", "http://u:p@a", "http://[::1",
            "http://a..b:1", "http://a b:1", "http://a\u2100b:1", "http://\ud800:1", f"http://{'a' * 64}:1",
        ],
    )  # fmt: skip
    def test_what_is_no_address(self, url: str) -> None:
        with pytest.raises(Malformed, match=r"is not the address of a server; give http://host:port"):
            Connection(url)

    @pytest.mark.parametrize("url", ["http://127.0.0.1", "HTTP://localhost:1/", "http://[::1]:1", "http://münchen:1"])
    def test_what_is_an_address(self, url: str) -> None:
        Connection(url)

    @each_row(
        ("status", "body"),
        [
            ("200 OK", "<html>"),
            ("200 OK", "{}"),
            ("200 OK", "[" * 10_000),
            ("409 Conflict", '{"detail": "somebody was faster"}'),
            ("409 Conflict", '{"said": "no", "state": 7, "for_good": true}'),
            ("409 Conflict", '"no"'),
            ("404 Not Found", '{"detail": "Not Found"}'),
            ("301 Moved", "[]"),
        ],
    )
    def test_somebody_else_there(self, status: str, body: str) -> None:
        with answering(status, body) as url, pytest.raises(Malformed, match="does not answer as a Jobmon server"):
            Connection(url).ask(ask.FindDead())


def test_agents_over_http_do_as_they_do_directly() -> None:
    """The same scenario, once with direct calls, and once with a server that answers over HTTP."""
    direct = Scenario.of()
    direct.rest()

    class OverHttp(World):
        url = ""

        def server(self) -> Server:
            return Connection(self.url)  # type: ignore[return-value]

    world = OverHttp({"c1": ClientSpec(workflow())})
    real = Server(world.store, clock=lambda: 0.0, leases=Leases(1.0, 1.0), started=-1.0)
    with served(real) as url:
        OverHttp.url = url
        scenario = Scenario(world)
        scenario.rest()
    assert scenario.world.state() == direct.world.state()
    assert scenario.log == direct.log


def command(*words: str, **more: object) -> subprocess.CompletedProcess[str]:
    whole = [sys.executable, "-m", "schedproof.impl.systems.jobmon", *words]
    return subprocess.run(whole, capture_output=True, text=True, timeout=60, **more)  # type: ignore[call-overload,no-any-return]


class TestCommandLine:
    @each_row(
        ("words", "says"),
        [
            (["server", "--database=nonsense", "--port=1"], "Error: 'nonsense' is not a database URL"),
            (["server", "--database=sqlite:////nowhere/x.db", "--port=1"], "cannot be opened"),
            (
                ["server", "--database=sqlite://", "--port=1"],
                "sqlite:// is in memory, and gone with the server; give sqlite:///FILE",
            ),
            (["server", "--database=sqlite:///:memory:", "--port=1"], "is in memory"),
            (["server", "--database=sqlite:///file:x?mode=memory&uri=true", "--port=1"], "is in memory"),
            (["server", "--database=sqlite:///file::memory:?uri=true", "--port=1"], "is in memory"),
            (["server", "--database=sqlite://", "--port=0"], "is not in the range"),
            (["server", "--database=sqlite://", "--port=9", "--run-lease=0"], "is not in the range"),
            (["server", "--database=sqlite://", "--port=9", "--run-lease=nan"], "nan is not a number of seconds"),
            (["reaper", "--url=http://127.0.0.1:1", "--poll=nan"], "nan is not a number of seconds"),
            (["reaper", "--url=http://127.0.0.1:1", "--poll=inf"], "is not in the range"),
            (["reaper", "--url=http://127.0.0.1:1", "--patience=1e30"], "is not in the range"),
            (["worker", "--url=http://127.0.0.1:1", "--patience=0", "--heartbeat=inf", "1"], "is not in the range"),
            (["distributor", "--url=nonsense"], "Error: 'nonsense' is not the address of a server"),
            (["reaper", "--url=http://127.0.0.1:1", "--patience=0"], "Error: http://127.0.0.1:1 gives no answer"),
            (["worker", "--url=http://127.0.0.1:1", "--patience=0", "1"], "Error: http://127.0.0.1:1 gives no answer"),
            (["worker", "--url=http://127.0.0.1:1", "x"], "'x' is not a valid integer"),
            (["client", "--url=http://127.0.0.1:1", "/nowhere"], "does not exist"),
            (["client", "--url=http://127.0.0.1:1", __file__], "cannot be read"),
            (["client", "--resume=warm", "--url=http://127.0.0.1:1", __file__], "is not one of"),
        ],
    )
    def test_what_is_wrong_is_said_in_a_line(
        self, words: list[str], says: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
    ) -> None:
        if "gives no answer" in says:  # agents change the process that they run in
            done = command(*words)
            status, error = done.returncode, done.stderr
        else:
            monkeypatch.setattr(sys, "argv", ["jobmon", *words])
            with pytest.raises(SystemExit) as ended:
                run()
            status, error = ended.value.code, capfd.readouterr().err
        assert status == (1 if "gives no answer" in says else 2)
        assert says in error
        assert "Traceback" not in error
        if error.startswith("Error"):
            assert len(error.splitlines()) == 1

    @pytest.mark.long
    def test_a_port_that_is_taken(self, tmp_path: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as listening:
            port = listening.getsockname()[1]
            done = command("server", f"--database=sqlite:///{tmp_path}/x.db", f"--port={port}")
        error = f"Error: port {port} of 127.0.0.1 cannot be had: Address already in use; give another --port\n"
        assert (done.returncode, done.stderr) == (2, error)

    def test_what_is_not_installed_is_said(self) -> None:
        code = (
            "import sys; sys.modules['fastapi'] = None; from schedproof.impl.systems.jobmon.__main__ import run; run()"
        )
        words = [sys.executable, "-c", code, "server", "--database=sqlite://", "--port=1"]
        done = subprocess.run(words, capture_output=True, text=True)
        assert "install schedproof[jobmon]" in done.stderr and "Traceback" not in done.stderr

    @pytest.mark.parametrize(
        "words", [["distributor", "--url=http://127.0.0.1:1"], ["worker", "--url=http://127.0.0.1:1", "1"]]
    )
    def test_elsewhere_than_on_linux(self, words: list[str]) -> None:
        code = "import sys; sys.platform = 'other'; from schedproof.impl.systems.jobmon.__main__ import run; run()"
        done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True)
        assert done.returncode == 1
        assert "processes of Linux" in done.stderr and "Traceback" not in done.stderr

    @pytest.mark.long
    def test_a_workflow_from_its_file_to_its_end(self, tmp_path: Path) -> None:
        tasks = [
            {"name": "a", "command": "true"},
            {"name": "b", "command": "sleep 0.7", "upstream": ["a"], "resources": [["runtime", 0]], "growth": [{"name": "runtime", "values": [9]}]},
            {"name": "c", "command": "false", "max_attempts": 2},
        ]  # fmt: skip
        (tmp_path / "w.json").write_text(json.dumps({"name": "w", "tasks": tasks}))
        with installation(tmp_path, lease=60) as jobmon:
            jobmon.start_client("client", tmp_path / "w.json")
            output = jobmon.agents["client"].communicate(timeout=60)[0]
            line = f"task c: attempt 2 of 2 ended in error (task instance {max(i.id for i in jobmon.records().instances if i.task_id == 3)}); "
            assert output.splitlines()[0] == "failed" and output.splitlines()[1].startswith(line)
            assert (len(output.splitlines()), jobmon.agents["client"].returncode) == (2, 1)
            records = jobmon.records()
            assert "".join(t.status for t in records.tasks) == "DDF"
            attempts = ["".join(i.status for i in records.instances if i.task_id == n) for n in (1, 2, 3)]
            assert attempts == ["D", "ZD", "EE"]
            # The same again: a new run takes the failed one up.
            jobmon.start_client("client", tmp_path / "w.json", "cold")
            assert jobmon.agents["client"].communicate(timeout=60)[0].startswith("failed\ntask c: attempt 2 of 2 ")
            assert "".join(i.status for i in jobmon.records().instances if i.task_id == 3) == "EEEE"

    @pytest.mark.long
    def test_its_user_stops_it(self, tmp_path: Path) -> None:
        (tmp_path / "w.json").write_text(json.dumps({"name": "w", "tasks": [{"name": "a", "command": "sleep 1"}]}))
        with installation(tmp_path, lease=60) as jobmon:
            jobmon.start_client("client", tmp_path / "w.json")
            assert until(lambda: [i.status for i in jobmon.records().instances] == ["R"])
            jobmon.agents["client"].send_signal(signal.SIGINT)
            output = jobmon.agents["client"].communicate(timeout=60)[0]
            assert (output, jobmon.agents["client"].returncode) == ("stopped\n", 3)
            assert jobmon.records().runs[0].status == "S"
            assert until(lambda: [i.status for i in jobmon.records().instances] == ["D"])
            jobmon.start_client("client", tmp_path / "w.json", "hot")
            assert jobmon.agents["client"].communicate(timeout=60)[0] == "done\n"
