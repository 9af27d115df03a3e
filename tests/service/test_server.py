"""The service as a server: what it makes of bad and slow clients, how it ends, and a client in shell."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from schedproof.cli import main
from tests.support.needs import needs_curl, needs_proc
from tests.support.places import REFERENCE, ROOT
from tests.support.rows import each_row

pytest.importorskip("httpx")
pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")

from httpx import WriteError

from schedproof.cli.commands.serve import HOST, PORT
from schedproof.diagrams.player.live import MOST_BRANCHING, MOST_ENABLED
from schedproof.proofs.traces.engine.origins import MOST_RECORDS
from schedproof.service.limits import MOST_EVENTS, Limits
from schedproof.service.rpc import MOST_CALLS
from schedproof.service.stdio import UNDER_WAY
from schedproof.service.strict import DEEPEST
from schedproof.service.token import SHORTEST
from schedproof.service.view import MOST_BYTES, MOST_SECONDS
from tests.service.bench import (
    ALLOCATE,
    COMPLETE,
    LONG,
    PREEMPT,
    WIDE,
    Bench,
    alive,
    ended,
    family,
    listened,
    posting,
    served,
    serving,
    until,
)


@pytest.fixture(scope="module")
def shared() -> Iterator[Bench]:
    with serving("--max-body", "1") as bench:
        yield bench
        bench.process.send_signal(signal.SIGINT)
        out, err = bench.process.communicate(timeout=60)
        assert (bench.process.returncode, out, err) == (0, "", ""), (
            "whatever was asked of it, it ran until the signal to end"
        )


class TestSlowClients:
    """Each is cut off; the limits that are not meant stay long, so that no other can be the reason."""

    @pytest.mark.long
    def test_a_head_that_never_ends(self) -> None:
        with listened(head=0.3) as port, socket.create_connection(("127.0.0.1", port)) as slow:
            begun = time.monotonic()
            slow.sendall(b"GET / HTTP/1.1\r\n")
            assert until(lambda: ended(slow), 3)
            assert time.monotonic() - begun > 0.25

    @pytest.mark.long
    def test_a_body_that_never_ends(self) -> None:
        with listened(content=0.3) as port, socket.create_connection(("127.0.0.1", port)) as slow:
            slow.settimeout(3)
            slow.sendall(
                b"POST /sessions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{"
            )
            assert slow.recv(65536).startswith(b"HTTP/1.1 408")
            assert until(lambda: ended(slow), 3)

    @pytest.mark.long
    def test_answers_that_nobody_reads(self) -> None:
        with (
            served(content=0.1, patience=0.1, reading=0.2, waiting=1) as (port, server),
            socket.create_connection(("127.0.0.1", port)) as slow,
        ):
            assert until(lambda: bool(server.server_state.connections))
            slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 16)  # else some systems take tens of MB for us
            slow.settimeout(0.5)
            asked, heard = 0, 0
            with suppress(ConnectionError, TimeoutError):  # it is not listened to for ever either
                for _ in range(50):
                    slow.sendall(b"GET /systems HTTP/1.1\r\nHost: localhost\r\n\r\n" * 10)
                    asked += 10
            assert until(lambda: not server.server_state.connections, 20), "it is cut off"
            with suppress(ConnectionError):
                while part := slow.recv(1 << 20):
                    heard += len(part)
            assert heard < 50_000 * asked, "each of the answers has more than 50 KB"


class TestServer:
    @each_row("chunked", [True, False])
    @each_row("size", [1 << 20, (1 << 20) + 1, 3 << 20])
    def test_bodies_have_a_limit_however_they_are_sent(self, shared: Bench, chunked: bool, size: int) -> None:
        content = b" " * size
        body = iter([content[i : i + 65536] for i in range(0, size, 65536)]) if chunked else content
        try:
            status, reply = shared.post("/sessions", body)
        except WriteError:
            assert size > 2 << 20, "what is sent regardless is cut off"
            return
        assert (status, reply["error"]) == ((400, "malformed") if size == 1 << 20 else (413, "too-big"))

    @each_row(
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

    def test_a_body_without_end_is_not_listened_to(self, shared: Bench) -> None:
        """Some of what is too much is heard, for those who listen only when they have said all; not 64 MiB of it."""
        with socket.create_connection(("127.0.0.1", shared.port), timeout=5) as connection:
            connection.sendall(
                b"POST /sessions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
            )
            chunk = b"100000\r\n" + b" " * (1 << 20) + b"\r\n"
            with pytest.raises(ConnectionError):
                connection.sendall(chunk * 64)

    def test_a_client_that_leaves_in_the_middle_harms_nobody(self, shared: Bench) -> None:
        for _ in range(20):
            with socket.create_connection(("127.0.0.1", shared.port)) as connection:
                connection.sendall(
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
        assert err.startswith(f"schedproof: cannot listen on port {shared.port} of 127.0.0.1:")

    @needs_proc
    def test_clients_that_wait_are_notified_of_the_end(self) -> None:
        with socket.socket() as waiting:
            waiting.settimeout(10)
            with listened() as port:
                name = Bench(None, port).post("/sessions", json.dumps(WIDE).encode())[1]["id"]
                waiting.connect(("127.0.0.1", port))
                waiting.sendall(posting(name, LONG))
                time.sleep(0.2)
                begun = time.monotonic()
            assert time.monotonic() - begun < 4
            assert (answer := waiting.recv(65536)).startswith(b"HTTP/1.1 503") and b'"error":"ending"' in answer
            assert ended(waiting)

    @pytest.mark.long
    @needs_proc
    def test_a_server_that_is_killed_leaves_no_process(self) -> None:
        with serving() as bench:
            names = [bench.post("/sessions", json.dumps(WIDE).encode())[1]["id"] for _ in range(3)]
            members = family(bench.process.pid)
            assert len(members) == 4, "three sessions, and what began them"
            with socket.create_connection(("127.0.0.1", bench.port)) as working:  # one is in the middle of work
                working.sendall(posting(names[0], LONG))
                time.sleep(0.2)
                bench.process.kill()
                assert until(lambda: not any(alive(pid) for pid in members), 5)


HEADER = {"schedproof": 1, "system": "hived", "objects": {"PodGroup": ["g0", "g1"], "Cell": ["c0", "c1"]}}


@needs_curl
class TestClient:
    """The client of the README, in shell and curl."""

    TOKEN = "a-token-of-some-length"

    def client(self, port: int, trace: Path, token: str = TOKEN) -> tuple[int, list[str], list[str]]:
        words = ["sh", str(ROOT / "examples" / "client.sh"), f"http://127.0.0.1:{port}", str(trace)]
        done = subprocess.run(
            words, capture_output=True, text=True, timeout=60, env={**os.environ, "SCHEDPROOF_TOKEN": token}
        )
        return done.returncode, done.stdout.splitlines(), done.stderr.splitlines()

    @pytest.mark.long(one_in=12)
    def test_it_ends_as_validate_does(self, tmp_path: Path) -> None:
        def trace(*records: object) -> Path:
            (tmp_path / "trace").write_text("\n\n".join(json.dumps(r) for r in [HEADER, *records]))
            return tmp_path / "trace"

        with listened(self.TOKEN) as port:
            assert self.client(port, trace(ALLOCATE, PREEMPT)) == (0, ["conforms after 2 records"], [])
            assert self.client(port, trace()) == (0, ["conforms after 0 records"], [])
            watched = [{"state": {"Cell": {"c0": {"state": "Free"}}}}] * 2500  # more than goes into one request
            assert self.client(port, trace(*watched)) == (0, ["conforms after 2500 records"], [])
            code, out, err = self.client(port, trace(*watched, COMPLETE, ALLOCATE))
            assert (code, out[0], err) == (1, "violates after 2501 records", [])
            assert out[1].startswith("complete(p=g1): no sequence of model steps explains what is observed")
            code, out, err = self.client(port, trace(ALLOCATE, {"action": "fly"}))
            assert (code, out) == (2, []) and err[0].startswith("client.sh: record 2: unknown action 'fly'")
            code, out, err = self.client(port, tmp_path / "nowhere")
            assert (code, out) == (2, []) and "cannot read" in err[0]
            code, out, err = self.client(port, trace(), "another-token-of-some-length")
            assert (code, out) == (2, []) and "the token is missing or wrong" in err[0]
        code, out, err = self.client(port, trace())
        assert (code, out) == (2, []) and err[-1].startswith("client.sh: no answer from")

    def test_what_is_undetermined_is_not_taken_for_conforming(self, tmp_path: Path) -> None:
        wide = {**HEADER, "objects": {"PodGroup": ["g0"], "Cell": [f"c{i}" for i in range(13)]}}
        (tmp_path / "trace").write_text("\n".join(json.dumps(r) for r in [wide, {"action": "allocate"}]))
        with listened() as port:
            code, out, err = self.client(port, tmp_path / "trace", "")
        assert (code, out[0], err) == (3, "undetermined after 1 records", [])
        assert "allocate has more than 4096 choices" in out[1]


class TestReadme:
    def test_it_shows_how_to_run_the_client(self) -> None:
        (shown,) = re.findall(r"```sh\n(schedproof serve &\n.*?)```", (REFERENCE / "service.md").read_text(), re.DOTALL)
        client, server, trace = shown.splitlines()[1].split()
        assert (client, server) == ("examples/client.sh", f"http://{HOST}:{PORT}")
        assert (ROOT / trace).is_file()
        assert os.access(ROOT / "examples" / "client.sh", os.X_OK)

    def test_its_numbers_are_the_limits(self) -> None:
        text = (REFERENCE / "service.md").read_text()
        shown = dict(re.findall(r"^\| ([^|`]+) \| ([^|`]+) \|", text.split("| limit |")[1], re.MULTILINE))
        limits = Limits()
        assert shown.pop("---", None) is None
        assert {name.split(" (")[0]: value for name, value in shown.items()} == {
            "sessions at once": f"{limits.sessions}",
            "a request's body, or a line of JSON-RPC": f"{limits.body >> 20} MiB",
            "processor time of a session for one request": f"{limits.seconds:g} s",
            "wall-clock time for one request": f"{limits.patience:g} s",
            "memory of a session, beyond what all sessions share": f"{limits.memory >> 20} MiB",
            "idle time after which a session ends": f"{limits.idle:g} s",
            "requests to one session at once": f"{limits.waiting}",
            "connections at once": f"{limits.connections}",
            "live views at once": f"{limits.streams}",
            "time between two events of a live view": f"{limits.pause:g} s",
            "time without an event after which a live view sends a sign of life": f"{limits.beat:g} s",
            "records that a live view explains": f"{MOST_RECORDS - 1}",
            "states of which a live view has the enabled steps": f"the last {MOST_BRANCHING}, {MOST_ENABLED} steps each",
            "processor time of a session for one event of a live view": f"{MOST_SECONDS:g} s",
            "size of the run in one event": f"{MOST_BYTES >> 20} MiB",
            "messages of JSON-RPC to one session at once": f"{UNDER_WAY}",
            "time to send the head of a request": f"{limits.head:g} s",
            "time to send its body, and time to read the answer": f"{limits.content:g} s each",
            "idle time after which a connection is closed": f"{limits.keep:g} s",
            "depth of nested lists and objects": f"{DEEPEST}",
            "next events in one answer": f"{MOST_EVENTS}",
            "calls in one batch of JSON-RPC": f"{MOST_CALLS}",
        }
        assert f"at least {SHORTEST} characters" in text
        assert limits.content == limits.reading
        assert limits.patience == 6 * limits.seconds
        assert limits.sessions * limits.waiting < limits.connections, "so that some are left for others"
