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
from jobmon_bench import Bench
from jobmon_processes import installation, until
from jobmon_requests import goes_on, random_requests
from jobmon_stories import Story, workflow
from schedproof.impl.jobmon import requests as ask
from schedproof.impl.jobmon.connection import Connection
from schedproof.impl.jobmon.draft import Draft, Leases
from schedproof.impl.jobmon.errors import Contended, IllegalMove, Malformed, Refused, Unreachable
from schedproof.impl.jobmon.memory_store import MemoryStore
from schedproof.impl.jobmon.requests import Report, Request
from schedproof.impl.jobmon.server import Asks, Server
from schedproof.impl.jobmon.world import ClientSpec, World

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
    from schedproof.impl.jobmon.web import application

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


def post(url: str, path: str, body: str, method: str = "POST") -> tuple[int, object]:
    there = http.client.HTTPConnection(url.removeprefix("http://"))
    there.request(method, path, body, {"Content-Type": "application/json"})
    answer = there.getresponse()
    said = json.loads(answer.read())
    there.close()
    return answer.status, said


class TestServer:
    def test_it_answers_as_a_direct_call(self) -> None:
        one, other = Bench(MemoryStore()), Bench(MemoryStore())
        with served(other.server) as url:
            connection = Connection(url, patience=0)
            for number, request in enumerate(random_requests(11, 300, one.store.snapshot)):
                one.time = other.time = one.time + goes_on(11, number)
                expected: object
                found: object
                try:
                    expected = one.ask(request)
                except Refused as refused:
                    expected = vars(refused)
                try:
                    found = connection.ask(request)
                except Refused as refused:
                    found = vars(refused)
                assert found == expected, request
        assert one.store.snapshot() == other.store.snapshot()

    @pytest.mark.parametrize(
        ("path", "body", "status", "says"),
        [
            ("/ReapRun", '{"run": 7}', 409, {"said": "there is no workflow run 7", "state": None, "for_good": True}),
            ("/ReapRun", "{}", 422, {"said": "run: Field required"}),
            ("/ReapRun", '{"run": "x"}', 422, {"said": "run: Input should be a valid integer, unable to parse string as an integer"}),
            ("/AdvanceRun", '{"run": 1, "to": "Y"}', 422, None),
            ("/ReapRun", "no JSON", 422, None),
            ("/Nothing", "{}", 404, None),
        ],
    )  # fmt: skip
    def test_what_it_does_not_do(self, path: str, body: str, status: int, says: object) -> None:
        with served(Bench(MemoryStore()).server) as url:
            found, said = post(url, path, body)
        assert found == status
        assert says in (None, said)

    def test_a_fault_is_said_without_more(self) -> None:
        class Faulty(Server):
            def clear(self, draft: Draft, request: ask.Clear) -> Report:
                raise IllegalMove("task 1 cannot go from D to Q")

        says = "a fault of the server: task 1 cannot go from D to Q"
        with served(Faulty(MemoryStore())) as url, pytest.raises(Malformed, match=says):
            Connection(url).ask(ask.Clear(1))


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

    def test_a_connection_that_breaks_off(self) -> None:
        """The server dies before it answers, and another one is there a little later."""
        port = free_port()
        listening = socket.create_server(("127.0.0.1", port))
        bench = Bench(MemoryStore())

        def breaks_off() -> None:
            there, _ = listening.accept()
            there.recv(10)
            there.close()
            listening.close()

        Thread(target=breaks_off).start()
        from schedproof.impl.jobmon.web import application

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

    def test_nobody_there(self) -> None:
        begin = time.monotonic()
        with pytest.raises(Unreachable, match=r"gives no answer: .*refused"):
            Connection(f"http://127.0.0.1:{free_port()}", patience=0.2).ask(ask.FindDead())
        assert time.monotonic() - begin < 2

    @pytest.mark.parametrize("url", ["nonsense", "ftp://a:1", "http://", "http://a:b", "http://a/b"])
    def test_what_is_no_address(self, url: str) -> None:
        with pytest.raises(Malformed):
            Connection(url)

    def test_somebody_else_there(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as listening:

            def other() -> None:
                there, _ = listening.accept()
                there.recv(65536)
                there.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n<html>")
                there.close()

            Thread(target=other).start()
            with pytest.raises(Malformed, match="is no server of Jobmon"):
                Connection(f"http://127.0.0.1:{listening.getsockname()[1]}").ask(ask.FindDead())


def test_agents_over_http_do_as_they_do_directly() -> None:
    """The same story, once with direct calls, and once with a server that answers over HTTP."""
    direct = Story.of()
    direct.rest()

    class OverHttp(World):
        url = ""

        def server(self) -> Server:
            return Connection(self.url)  # type: ignore[return-value]

    world = OverHttp({"c1": ClientSpec(workflow())})
    real = Server(world.store, clock=lambda: 0.0, leases=Leases(1.0, 1.0))
    with served(real) as url:
        OverHttp.url = url
        story = Story(world)
        story.rest()
    assert story.world.state() == direct.world.state()
    assert story.log == direct.log


def command(*words: str, **more: object) -> subprocess.CompletedProcess[str]:
    whole = [sys.executable, "-m", "schedproof.impl.jobmon", *words]
    return subprocess.run(whole, capture_output=True, text=True, timeout=60, **more)  # type: ignore[call-overload,no-any-return]


class TestCommandLine:
    @pytest.mark.parametrize(
        ("words", "says"),
        [
            (["server", "--database=nonsense", "--port=1"], "Error: 'nonsense' is no database URL"),
            (["server", "--database=sqlite:////nowhere/x.db", "--port=1"], "cannot be opened"),
            (["server", "--database=sqlite://", "--port=0"], "is not in the range"),
            (["server", "--database=sqlite://", "--port=9", "--run-lease=0"], "is not in the range"),
            (["distributor", "--url=nonsense"], "Error: 'nonsense' is no address of a server"),
            (["reaper", "--url=http://127.0.0.1:1", "--patience=0"], "Error: http://127.0.0.1:1 gives no answer"),
            (["worker", "--url=http://127.0.0.1:1", "--patience=0", "1"], "Error: http://127.0.0.1:1 gives no answer"),
            (["worker", "--url=http://127.0.0.1:1", "x"], "'x' is not a valid integer"),
            (["client", "--url=http://127.0.0.1:1", "/nowhere"], "does not exist"),
            (["client", "--url=http://127.0.0.1:1", __file__], "cannot be read"),
            (["client", "--resume=warm", "--url=http://127.0.0.1:1", __file__], "is not one of"),
        ],
    )
    def test_what_is_wrong_is_said_in_a_line(self, words: list[str], says: str) -> None:
        done = command(*words)
        assert done.returncode != 0
        assert says in done.stderr
        assert "Traceback" not in done.stderr

    def test_a_port_that_is_taken(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            done = command("server", "--database=sqlite://", f"--port={taken.getsockname()[1]}")
        assert done.returncode != 0
        assert "address already in use" in done.stderr
        assert "Traceback" not in done.stderr

    def test_what_is_not_installed_is_said(self) -> None:
        code = "import sys; sys.modules['fastapi'] = None; from schedproof.impl.jobmon.__main__ import run; run()"
        words = [sys.executable, "-c", code, "server", "--database=sqlite://", "--port=1"]
        done = subprocess.run(words, capture_output=True, text=True)
        assert "install schedproof[jobmon]" in done.stderr and "Traceback" not in done.stderr

    @pytest.mark.parametrize(
        "words", [["distributor", "--url=http://127.0.0.1:1"], ["worker", "--url=http://127.0.0.1:1", "1"]]
    )
    def test_elsewhere_than_on_linux(self, words: list[str]) -> None:
        code = "import sys; sys.platform = 'other'; from schedproof.impl.jobmon.__main__ import run; run()"
        done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True)
        assert done.returncode == 1
        assert "processes of Linux" in done.stderr and "Traceback" not in done.stderr

    def test_a_workflow_from_its_file_to_its_end(self, tmp_path: Path) -> None:
        tasks = [
            {"name": "a", "command": "true"},
            {"name": "b", "command": "sleep 0.7", "upstream": ["a"], "resources": [["runtime", 0]], "growth": [{"name": "runtime", "values": [9]}]},
            {"name": "c", "command": "false", "max_attempts": 2},
        ]  # fmt: skip
        (tmp_path / "w.json").write_text(json.dumps({"name": "w", "tasks": tasks}))
        with installation(tmp_path, lease=60) as mine:
            mine.start_client("client", tmp_path / "w.json")
            said = mine.agents["client"].communicate(timeout=30)[0]
            assert (said, mine.agents["client"].returncode) == ("failed\n", 1)
            records = mine.records()
            assert "".join(t.status for t in records.tasks) == "DDF"
            attempts = ["".join(i.status for i in records.instances if i.task_id == n) for n in (1, 2, 3)]
            assert attempts == ["D", "ZD", "EE"]
            # The same again: a new run takes the failed one up.
            mine.start_client("client", tmp_path / "w.json", "cold")
            assert mine.agents["client"].communicate(timeout=30)[0] == "failed\n"
            assert "".join(i.status for i in mine.records().instances if i.task_id == 3) == "EEEE"

    def test_its_user_stops_it(self, tmp_path: Path) -> None:
        (tmp_path / "w.json").write_text(json.dumps({"name": "w", "tasks": [{"name": "a", "command": "sleep 1"}]}))
        with installation(tmp_path, lease=60) as mine:
            mine.start_client("client", tmp_path / "w.json")
            assert until(lambda: [i.status for i in mine.records().instances] == ["R"])
            mine.agents["client"].send_signal(signal.SIGINT)
            said = mine.agents["client"].communicate(timeout=30)[0]
            assert (said, mine.agents["client"].returncode) == ("stopped\n", 0)
            assert mine.records().runs[0].status == "S"
            assert until(lambda: [i.status for i in mine.records().instances] == ["D"])
            mine.start_client("client", tmp_path / "w.json", "hot")
            assert mine.agents["client"].communicate(timeout=30)[0] == "done\n"
