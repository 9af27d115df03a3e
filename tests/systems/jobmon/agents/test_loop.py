"""Jobmon's agents as processes: when they renew their leases, and what becomes of an interrupt."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from schedproof.impl.systems.jobmon.client import Client, Stage
from schedproof.impl.systems.jobmon.loop import Heartbeat, Interrupts, Leased, run
from schedproof.impl.systems.jobmon.requests import AdvanceRun, Report, Request
from schedproof.impl.systems.jobmon.server import Asks
from schedproof.impl.systems.jobmon.store import MemoryStore
from tests.support.sample import thinned
from tests.systems.jobmon.agents.scenarios import workflow
from tests.systems.jobmon.processes.installation import Installation, installation, until
from tests.systems.jobmon.server.bench import Bench


@pytest.fixture(autouse=True)
def handlers() -> Iterator[None]:
    """As they were before."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


class Agent:
    """It takes so many steps, and is interrupted in those of these numbers, while it awaits an answer."""

    def __init__(self, steps: int, *interrupted: int) -> None:
        self._steps, self._interrupted = steps, interrupted
        self.answers: list[int] = []
        self.beats = 0

    @property
    def over(self) -> str | None:
        return "over" if len(self.answers) == self._steps else None

    def choices(self) -> int:
        return 1

    def step(self, choice: int = 0) -> str | None:
        number = len(self.answers) + 1
        if number in self._interrupted:
            os.kill(os.getpid(), signal.SIGINT)
        self.answers.append(number)
        return None

    def heartbeat(self) -> str | None:
        self.beats += 1
        return None


class ServerOfLeases:
    """A server whose reports have these leases, one after the other."""

    def __init__(self, *leases: float) -> None:
        self._leases = list(leases)

    def ask(self, request: Request) -> Report:
        return Report("anything", lease=self._leases.pop(0))


class TestInterrupts:
    def test_it_ends_after_the_step(self) -> None:
        agent = Agent(10, 3)
        run(agent, 0.0, interrupts=Interrupts(signal.SIGINT))
        assert agent.answers == [1, 2, 3]

    def test_or_does_what_it_is_to_do_then_and_goes_on(self) -> None:
        agent = Agent(10, 3)
        heard: list[int] = []
        run(agent, 0.0, None, Interrupts(signal.SIGINT), lambda: heard.append(len(agent.answers)))
        assert (heard, len(agent.answers)) == ([3], 10)

    def test_the_second_one_ends_it_at_once(self) -> None:
        agent = Agent(10, 3, 5)
        with pytest.raises(KeyboardInterrupt):
            run(agent, 0.0, None, Interrupts(signal.SIGINT), lambda: None)
        assert agent.answers == [1, 2, 3, 4]

    def test_who_waits_is_not_waited_for(self) -> None:
        agent = Agent(2, 1)
        run(agent, 3600.0, interrupts=Interrupts(signal.SIGINT))
        assert agent.answers == [1]

    def test_a_client_interrupted_in_a_request_heeds_its_answer(self) -> None:
        """Else its run would be left running, and it would not know."""
        bench = Bench(MemoryStore())

        class Slow:
            """It is there that the client is when its user interrupts it."""

            def ask(self, request: Request) -> Report:
                report = bench.ask(request)
                if isinstance(request, AdvanceRun) and request.to == "R":
                    os.kill(os.getpid(), signal.SIGINT)
                return report

        client = Client(Slow(), workflow(), "token")
        run(client, 0.0, None, Interrupts(signal.SIGINT), client.stop)
        assert (client.over, bench.runs()) == ("stopped", "S")
        assert client.memory.stage is Stage.OVER


class TestHeartbeat:
    def test_steps_go_on_however_often_it_is_due(self) -> None:
        agent = Agent(3)
        run(agent, 0.0, Heartbeat(Leased(ServerOfLeases()), 0.0))
        assert (len(agent.answers), agent.beats) == (3, 3)

    @pytest.fixture
    def asked(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> Callable[..., tuple[Heartbeat, Leased, Callable[[float], None]]]:
        """Makes a heartbeat for a server whose reports have these leases, and a function that lets time pass."""
        now = [100.0]
        monkeypatch.setattr("schedproof.impl.systems.jobmon.loop.time.monotonic", lambda: now[0])

        def passes(seconds: float) -> None:
            now[0] += seconds

        def make(given: float | None, *leases: float) -> tuple[Heartbeat, Leased, Callable[[float], None]]:
            server: Asks = ServerOfLeases(*leases)
            leased = Leased(server)
            return Heartbeat(leased, given), leased, passes

        return make

    def test_three_in_a_lease(self, asked: Callable[..., tuple[Heartbeat, Leased, Callable[[float], None]]]) -> None:
        heartbeat, server, passes = asked(None, 0.0, 9.0, 0.0, 30.0)
        assert heartbeat.due_in() is None
        server.ask(None)  # type: ignore[arg-type]
        assert heartbeat.due_in() is None  # the report has none
        for expected in (3.0, 3.0, 10.0):
            server.ask(None)  # type: ignore[arg-type]
            assert heartbeat.due_in() == expected
        passes(4.0)
        assert heartbeat.due_in() == 6.0
        heartbeat.done()
        assert heartbeat.due_in() == 10.0

    def test_as_it_is_given(
        self,
        asked: Callable[..., tuple[Heartbeat, Leased, Callable[[float], None]]],
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        heartbeat, server, _ = asked(5.0, 9.0)
        assert heartbeat.due_in() == 5.0
        server.ask(None)  # type: ignore[arg-type]
        assert heartbeat.due_in() == 5.0
        assert capsys.readouterr().err == ""

    def test_not_if_that_is_no_use(
        self,
        asked: Callable[..., tuple[Heartbeat, Leased, Callable[[float], None]]],
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        heartbeat, server, _ = asked(9.0, 9.0, 30.0)
        server.ask(None)  # type: ignore[arg-type]
        assert heartbeat.due_in() == 3.0
        server.ask(None)  # type: ignore[arg-type]
        assert (heartbeat.due_in(), heartbeat.given) == (10.0, None)
        assert capsys.readouterr().err == (
            "Warning: a heartbeat every 9 seconds comes too late for the server's lease of 9 seconds; "
            "it is one every 3 seconds instead. Give --heartbeat less than 9.\n"
        )


@pytest.mark.long(one_in=9)
@pytest.mark.parametrize("given", [None, "30"])
def test_leases_are_kept_whatever_heartbeat_is_asked_for(tmp_path: Path, given: str | None) -> None:
    """The command goes on for longer than three leases; the client, the distributor and the worker renew."""
    beat = () if given is None else (f"--heartbeat={given}",)

    class OtherHeartbeat(Installation):
        def start(self, name: str, kind: str, *words: str, program: tuple[str, ...] = ()) -> None:
            rest = [word for word in words if not word.startswith("--heartbeat")]
            options = beat if kind in ("client", "distributor") else ()
            super().start(name, kind, *options, *rest, program=program)

    with installation(tmp_path, distributors=0, lease=1.0, kind=OtherHeartbeat) as jobmon:
        jobmon.start_distributor("distributor")
        jobmon.start_client("client", jobmon.write_workflow("w", tasks=1, ticks=160))
        assert jobmon.agents["client"].communicate(timeout=120)[0] == "done\n"
        assert ("".join(i.status for i in jobmon.records().instances), jobmon.records().runs[0].status) == ("D", "D")
        log = (tmp_path / "log").read_text()
        assert log.count("Warning: a heartbeat every 30 seconds comes too late") == (0 if given is None else 2)


@pytest.mark.long
@pytest.mark.parametrize(("kind", "number"), thinned([("distributor", signal.SIGINT), ("reaper", signal.SIGTERM)], 2))
def test_an_agent_that_a_signal_ends_prints_nothing(tmp_path: Path, kind: str, number: signal.Signals) -> None:
    with installation(tmp_path, distributors=0, lease=60) as jobmon:
        jobmon.start("agent", kind, f"--url={jobmon.url}", "--poll=60")
        agent = jobmon.agents["agent"]
        status = Path(f"/proc/{agent.pid}/status")

        def catches() -> bool:
            caught = next(line for line in status.read_text().splitlines() if line.startswith("SigCgt"))
            return bool(int(caught.split()[1], 16) >> (signal.SIGTERM - 1) & 1)

        assert until(catches)
        agent.send_signal(number)
        assert agent.wait(5) == 0
        assert "Traceback" not in (tmp_path / "log").read_text()
