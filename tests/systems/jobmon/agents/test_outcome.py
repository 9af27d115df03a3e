"""What a client's user reads of a run: how far it is, what failed, and why it was reaped."""

from __future__ import annotations

import os
import pty
import subprocess
import sys

import pytest

from schedproof.impl.systems.jobmon import progress as module
from schedproof.impl.systems.jobmon import requests as ask
from schedproof.impl.systems.jobmon.cluster import Ending
from schedproof.impl.systems.jobmon.outcome import progress, reaped, shown
from schedproof.impl.systems.jobmon.progress import ProgressLine
from schedproof.impl.systems.jobmon.records import RunState
from schedproof.impl.systems.jobmon.requests import Report, TaskSpec
from schedproof.impl.systems.jobmon.store import MemoryStore
from schedproof.impl.systems.jobmon.world import Kind
from tests.systems.jobmon.agents.scenarios import Scenario
from tests.systems.jobmon.server.bench import Bench


def bench_of(*names: str) -> Bench:
    """A running run of workflow "genomes", whose tasks have one attempt each."""
    bench = Bench(MemoryStore())
    bench.register(*(TaskSpec(name, "x", max_attempts=1) for name in names), name="genomes")
    bench.run()
    return bench


class TestReaped:
    @pytest.mark.parametrize("last", [0.0, 7.0])
    def test_since_when_nobody_was_heard_of(self, last: float) -> None:
        """The reaper comes at 42, and the last heartbeat was at ``last``."""
        bench = bench_of("a")
        bench.time = last
        bench.ask(ask.RenewRun(1, RunState.RUNNING))
        bench.time = 42.0
        report = bench.ask(ask.ReapRun(1))
        says = (
            f"run 1 of workflow genomes was reaped: no heartbeat for {42 - last:.0f} s (its client was taken for dead)"
        )
        assert reaped(report) == says
        bench.time = 100.0
        assert reaped(bench.ask(ask.ReadRun(1))) == says

    def test_a_client_knows_that_it_was(self) -> None:
        scenario = Scenario.of()
        scenario.bring_to("R R G -")
        scenario.do(Kind.RUN_LAPSES, "run 1")
        scenario.settle("reaper")
        scenario.step_until("c1", lambda: scenario.over("c1") is not None)
        assert scenario.over("c1") == "failed" and scenario.world._agent("c1").was_reaped  # type: ignore[union-attr]

    def test_a_client_whose_user_stops_it_too_late(self) -> None:
        scenario = Scenario.of()
        scenario.bring_to("R R G -")
        scenario.do(Kind.RUN_LAPSES, "run 1")
        scenario.settle("reaper")
        scenario.do(Kind.STOP, "c1")
        scenario.step_until("c1", lambda: scenario.over("c1") is not None)
        assert scenario.over("c1") == "failed" and scenario.world._agent("c1").was_reaped  # type: ignore[union-attr]

    def test_a_client_whose_task_failed_was_not(self) -> None:
        scenario = Scenario.of(TaskSpec("a", "x", max_attempts=1))
        scenario.endings = lambda instance: Ending.ERROR
        scenario.settle()
        assert scenario.over("c1") == "failed" and not scenario.world._agent("c1").was_reaped  # type: ignore[union-attr]


class TestProgress:
    def test_tasks_by_how_they_stand(self) -> None:
        bench = bench_of("a", "b", "c", "d", "e", "f")
        for task, state in enumerate("DERQX", 1):
            bench.queue(task=task)
            bench.bring(task, state)
        says = "workflow genomes: 1 of 6 tasks done, 1 running, 2 queued, 1 waiting, 1 failed (b)"
        assert progress(bench.ask(ask.ReadRun(1))) == says

    def test_a_few_failed_tasks_are_named(self) -> None:
        bench = bench_of("a", "b", "c\n", "d", "e")
        for task in range(1, 6):
            bench.queue(task=task)
            bench.bring(task, "E")
        says = r"workflow genomes: 0 of 5 tasks done, 5 failed (a, b, c\n and 2 more)"
        assert progress(bench.ask(ask.ReadRun(1))) == says

    def test_what_a_client_waits_for_that_resumes(self) -> None:
        bench = bench_of("a", "b")
        bench.queue()
        bench.bring(1, "R")
        bench.ask(ask.AskResume(1, cold=True))
        request = ask.ReadWorkflow(1)
        says = "workflow genomes: waiting for run 1 to make room (cold resume)"
        assert progress(bench.ask(request)) == says
        bench.time = 10.0
        bench.let_lapse(1)
        bench.ask(ask.Lapse(1))
        bench.ask(ask.Fence(1))
        assert progress(bench.ask(request)) == says
        bench.ask(ask.JobOver(1, ask.InstanceState.TRIAGING))
        bench.ask(ask.WindUp(1))
        assert progress(bench.ask(request)) == "workflow genomes: 0 of 2 tasks done, 1 not run, 1 failed (a)"

    def test_what_an_earlier_run_left(self) -> None:
        bench = bench_of("a", "b")
        bench.queue(task=2)
        bench.bring(1, "R")
        bench.ask(ask.FinishRun(1, RunState.STOPPED))
        says = "workflow genomes: waiting for what an earlier run left (b)"
        assert progress(bench.ask(ask.ReadWorkflow(1))) == says

    def test_reports_without_tasks_say_nothing(self) -> None:
        bench = bench_of("a")
        assert progress(bench.ask(ask.RenewRun(1, RunState.RUNNING))) is None
        assert progress(bench.ask(ask.FindDead())) is None

    def test_names_that_cannot_be_printed(self) -> None:
        assert (shown("é b"), shown("a\x1b[2J\n")) == ("é b", r"a\x1b[2J\n")


class TestLine:
    """Without a terminal; the clock is set by hand."""

    @pytest.fixture
    def clock(self, monkeypatch: pytest.MonkeyPatch) -> list[float]:
        now = [100.0]
        monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
        return now

    def reports(self) -> list[Report]:
        """Of a run whose two tasks are done one after the other."""
        bench = bench_of("a", "b")
        reports = [bench.ask(ask.ReadRun(1))]
        for task in (1, 2):
            bench.queue(task=task)
            bench.bring(task, "D")
            reports.append(bench.ask(ask.ReadRun(1)))
        return reports

    def test_one_for_each_change(self, capsys: pytest.CaptureFixture[str], clock: list[float]) -> None:
        with ProgressLine() as line:
            for report in self.reports():
                for _ in range(3):
                    line(ask.ReadRun(1), report)
                    clock[0] += 1
        out, err = capsys.readouterr()
        assert (out, err.splitlines()) == (
            "",
            [
                "workflow genomes: 0 of 2 tasks done, 2 waiting",
                "workflow genomes: 1 of 2 tasks done, 1 waiting",
                "workflow genomes: 2 of 2 tasks done",
            ],
        )

    def test_what_changes_at_once_is_one_line(self, capsys: pytest.CaptureFixture[str], clock: list[float]) -> None:
        with ProgressLine() as line:
            for report in self.reports():
                line(ask.ReadRun(1), report)
        assert capsys.readouterr().err.splitlines() == [
            "workflow genomes: 0 of 2 tasks done, 2 waiting",
            "workflow genomes: 2 of 2 tasks done",
        ]

    def test_a_server_that_gives_no_answer(self, capsys: pytest.CaptureFixture[str], clock: list[float]) -> None:
        with ProgressLine() as line:
            line.waits("http://there")
            assert capsys.readouterr().err == ""
            clock[0] += 1
            for _ in range(3):
                line.waits("http://there")
                clock[0] += 1
        assert capsys.readouterr().err == "waiting for http://there, which gives no answer\n"

    def test_forced_colours_make_no_terminal(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("FORCE_COLOR", "1")
        with ProgressLine() as line:
            line(ask.ReadRun(1), self.reports()[0])
        assert capsys.readouterr().err == "workflow genomes: 0 of 2 tasks done, 2 waiting\n"

    def test_nobody_has_to_read_it(self) -> None:
        code = "import sys; sys.stderr.close(); "
        code += "from tests.systems.jobmon.agents.test_outcome import *; "
        code += "line = ProgressLine(); [line(None, r) for r in TestLine().reports()]; line.__exit__(None, None, None); print('on')"
        done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, timeout=30)
        assert (done.stdout, done.returncode) == ("on\n", 0)


@pytest.mark.long
@pytest.mark.parametrize("columns", [100, 20])
def test_on_a_terminal_the_line_changes(columns: int) -> None:
    """Its standard error is a terminal: one line is left, and the lines before are erased, also where they are too long."""
    code = (
        "from tests.systems.jobmon.agents.test_outcome import *; import time\n"
        "with ProgressLine() as line:\n"
        "    for report in TestLine().reports():\n"
        "        line(None, report); time.sleep(0.2)\n"
    )
    reader, terminal = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": str(columns)}
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=terminal, env=environment)
    assert child.stdout is not None
    assert (child.stdout.read(), child.wait(30)) == (b"", 0)
    os.close(terminal)
    written = b""
    try:
        while part := os.read(reader, 65536):
            written += part
    except OSError:  # the other end is closed
        pass
    finally:
        os.close(reader)
        child.stdout.close()
    output = written.decode()
    for number in range(3):
        assert (f"{number} of 2 tasks done" in output) is (columns == 100 or number == 2)
    assert output.endswith("\x1b[2Kworkflow genomes: 2 of 2 tasks done\r\n")
    assert output.count("\n") == 2  # of the line that is erased, and of the one that stays
