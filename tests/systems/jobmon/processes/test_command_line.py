"""Jobmon's command line as a newcomer meets it: its help, and its messages about mistakes."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path

import pytest

from schedproof.impl.systems.jobmon.exits import MEANINGS, Exit
from schedproof.impl.systems.jobmon.resources import Queue
from schedproof.impl.systems.jobmon.workflow_file import Growth, TaskEntry, WorkflowEntry, read_workflow
from tests.support.rows import each_row
from tests.support.sample import thinned
from tests.systems.jobmon.processes.installation import MODULE, Installation, installation, until

pytest.importorskip("fastapi")


def command(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *MODULE, *words], capture_output=True, text=True, timeout=60)


@pytest.fixture(scope="module")
def help_text() -> str:
    return command("client", "--help").stdout


class TestHelp:
    """Its sample and its commands are taken from what it prints."""

    def sample(self, help_text: str) -> str:
        return help_text[help_text.index("{") : help_text.rindex("}") + 1]

    @pytest.mark.long
    def test_its_commands_run_its_sample(self, tmp_path: Path, help_text: str) -> None:
        (tmp_path / "workflow.json").write_text(self.sample(help_text))
        lines = re.findall(r"^ *python (-m schedproof\.impl\.systems\.jobmon .*)$", help_text, re.MULTILINE)
        assert [line.split()[2] for line in lines] == ["server", "distributor", "reaper", "client"]
        port = str(Installation(tmp_path).port)
        words = [[sys.executable, *line.replace("8070", port).split()] for line in lines]
        background = [subprocess.Popen(each, cwd=tmp_path) for each in words[:3]]
        try:
            done = subprocess.run(words[3], cwd=tmp_path, capture_output=True, text=True, timeout=60)
        finally:
            for each in reversed(background):  # who is ended while the server is down waits for its answer
                each.terminate()
                each.wait()
        assert (done.stdout, done.returncode) == ("done\n", 0)
        assert done.stderr.splitlines()[-1] == "workflow w: 2 of 2 tasks done"
        assert (tmp_path / "jobmon.log").read_text() == f"{Path.home()}\n"

    def test_what_it_says_of_growth_and_queues(self, tmp_path: Path, help_text: str) -> None:
        """Half of 500 more is beyond the 600 of the small queue."""
        (tmp_path / "workflow.json").write_text(self.sample(help_text))
        spec = read_workflow(tmp_path / "workflow.json")
        first, second = spec.tasks
        assert (first.max_attempts, second.upstream) == (2, ("a",))
        assert spec.scaling["b"].adjusted(second.resources, "small") == ((("memory", 750), ("runtime", 120)), "large")

    @each_row("word", [f.name for kind in (WorkflowEntry, TaskEntry, Growth, Queue) for f in fields(kind)])
    def test_all_that_can_be_said_is_in_the_sample(self, help_text: str, word: str) -> None:
        assert f'"{word}":' in self.sample(help_text)

    def test_what_has_to_be_known(self, help_text: str) -> None:
        words = " ".join(help_text.split())
        for each in ("memory (MiB)", "runtime (s)", "sh -c '...'", "--resume hot", "--resume cold", "go on"):
            assert each in words

    def test_every_exit_status(self, help_text: str) -> None:
        rows = dict(re.findall(r"^ +(\d+)  (.*)$", help_text[help_text.index("Exit status:") :], re.MULTILINE))
        assert rows == {str(exit.value): MEANINGS[exit] for exit in Exit}


def workflow(directory: Path, *tasks: Mapping[str, object], **more: object) -> Path:
    path = directory / "w.json"
    path.write_text(json.dumps({"name": "w", "tasks": tasks, **more}))
    return path


def errors(output: str) -> list[str]:
    """What is said besides how far a workflow is."""
    return [line for line in output.splitlines() if not line.startswith("workflow w: ")]


def run_client(jobmon: Installation, file: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """What a client says of a workflow."""
    return command("client", f"--url={jobmon.url}", *words, str(file))


class TestFailures:
    @pytest.mark.long
    def test_each_failed_task_and_where_its_output_is(self, tmp_path: Path) -> None:
        tasks: list[Mapping[str, object]] = [
            {"name": "a", "command": "/no/such/cmd", "max_attempts": 2},
            {"name": "b", "command": "true"},
            {"name": "c", "command": "sleep 60", "resources": [["runtime", 0]], "growth": [], "max_attempts": 1},
            {"name": "d", "command": "true", "upstream": ["a"]},
        ]
        with installation(tmp_path, distributors=1, lease=60) as jobmon:
            done = run_client(jobmon, workflow(tmp_path, *tasks))
            last = {task: max(i.id for i in jobmon.records().instances if i.task_id == task) for task in (1, 3)}
        where = f"its output is in the --log of the distributor on {os.uname().nodename}"
        assert done.stdout.splitlines() == [
            "failed",
            f"task a: attempt 2 of 2 ended in error (task instance {last[1]}); {where}",
            f"task c: attempt 1 of 1 exceeded its resources (task instance {last[3]}); {where}",
        ]
        assert done.stderr.splitlines()[-1] == "workflow w: 1 of 4 tasks done, 1 not run, 2 failed (a, c)"
        assert (errors(done.stderr), done.returncode) == ([], Exit.FAILED)
        lines = (tmp_path / "log").read_text().splitlines()
        assert [line for line in lines if "cannot be started" in line] == [
            "command '/no/such/cmd' cannot be started: [Errno 2] No such file or directory: '/no/such/cmd'"
        ] * 2

    @pytest.mark.parametrize(("log", "why"), [("none/log", "No such file or directory"), (".", "Is a directory")])
    def test_a_log_that_cannot_be_written(self, tmp_path: Path, log: str, why: str) -> None:
        done = command("distributor", "--url=http://127.0.0.1:1", "--patience=0", f"--log={tmp_path / log}")
        assert done.returncode == 2
        assert done.stderr.startswith(f"Error: --log {tmp_path / log} cannot be written: {why}; ")
        assert done.stderr.count("\n") == 1

    @pytest.mark.long
    def test_a_submission_that_fails_is_said_by_the_distributor(self, tmp_path: Path) -> None:
        """Its log is gone when the worker is to be started, and the task fails without a job."""
        (tmp_path / "logs").mkdir()
        with installation(tmp_path, distributors=0, lease=60) as jobmon:
            words = [sys.executable, *MODULE, "distributor", f"--url={jobmon.url}", f"--log={tmp_path}/logs/log"]
            distributor = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
            assert until((tmp_path / "logs" / "log").exists)
            (tmp_path / "logs" / "log").unlink()
            (tmp_path / "logs").rmdir()
            done = run_client(jobmon, workflow(tmp_path, {"name": "a", "command": "true", "max_attempts": 1}))
            distributor.terminate()
            output = distributor.communicate(timeout=60)[1]
        assert done.stdout == "failed\ntask a: attempt 1 of 1 could not be launched (task instance 1)\n"
        assert output.startswith("the worker of task instance 1 cannot be started: [Errno 2] No such file or directory")
        assert output.count("\n") == 1


TASK: Mapping[str, object] = {"name": "a", "command": "true"}


class TestMistakes:
    """A mistake of the user gives one line and exit status 2, whether the agent or the server finds it."""

    @pytest.mark.long
    def test_what_the_server_refuses(self, tmp_path: Path) -> None:
        wrong: list[tuple[list[Mapping[str, object]], str]] = [
            (
                [{**TASK, "upstream": ["b"]}],
                "task a comes after b, but no task before it has that name; put b further up, or leave it out of upstream",
            ),
            ([], "a workflow has at least one task; write one"),
            ([{**TASK, "max_attempts": 0}], "task a has 0 attempts; give it 1 or more as max_attempts"),
            (
                [{**TASK, "command": "false"}],
                "there is a workflow w with other tasks: command of its task a is 'true', not 'false'; give this one another name, or the tasks that it has there",
            ),
        ]
        with installation(tmp_path, distributors=1, lease=60) as jobmon:
            assert run_client(jobmon, workflow(tmp_path, TASK)).stdout == "done\n"
            for tasks, says in wrong:
                done = run_client(jobmon, workflow(tmp_path, *tasks))
                assert (done.stdout, done.stderr, done.returncode) == ("", f"Error: {tmp_path}/w.json: {says}\n", 2)

    @pytest.mark.long
    def test_resources_that_cannot_grow(self, tmp_path: Path) -> None:
        task = {"name": "a", "command": "sleep 60", "resources": [["runtime", 0], ["x", 2**62]], "growth": [{"name": "x", "by": 1.0}]}  # fmt: skip
        with installation(tmp_path, distributors=1, lease=60) as jobmon:
            done = run_client(jobmon, workflow(tmp_path, task))
        (error,) = errors(done.stderr)
        assert error.startswith(
            f"Error: {tmp_path}/w.json: the resources of task a cannot be scaled: x cannot go from "
        )
        assert (done.stdout, done.returncode) == ("", 2)

    @pytest.mark.long
    def test_a_database_that_is_none(self) -> None:
        """The forms that the message asks for are accepted."""
        done = command("server", "--database=foo", "--port=1")
        error = "Error: 'foo' is not a database URL; give sqlite:///file or postgresql://user@host/name\n"
        assert (done.stderr, done.returncode) == (error, 2)


@pytest.mark.long
@pytest.mark.parametrize("resume", thinned(["hot", "cold"], 2))
def test_who_runs_a_stopped_workflow_again_learns_how(tmp_path: Path, resume: str) -> None:
    file = workflow(tmp_path, {"name": "a", "command": "sleep 2"})
    with installation(tmp_path, distributors=1, lease=60) as jobmon:
        jobmon.start_client("client", file)
        assert until(lambda: [i.status for i in jobmon.records().instances] == ["R"])
        jobmon.agents["client"].send_signal(signal.SIGINT)
        assert jobmon.agents["client"].communicate(timeout=60)[0] == "stopped\n"
        assert jobmon.agents["client"].returncode == Exit.STOPPED
        done = run_client(jobmon, file)
        (error,) = errors(done.stderr)
        assert error.startswith("Error: task a of workflow w is running (task instance 1); give ")
        assert (done.stdout, done.returncode) == ("", Exit.CUT_OFF)
        (words,) = re.findall(rf"--resume {resume}\b", done.stderr)
        assert run_client(jobmon, file, *words.split()).stdout == "done\n"
        assert len(jobmon.records().instances) == {"hot": 1, "cold": 2}[resume]


@pytest.mark.parametrize("kind", ["client", "distributor", "reaper"])
def test_an_interrupt_while_the_server_is_down_is_answered(tmp_path: Path, kind: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(60)
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        file = [str(workflow(tmp_path, TASK))] if kind == "client" else []
        words = [sys.executable, *MODULE, kind, f"--url={url}", *file]
        agent = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        listening.accept()[0].close()  # it has begun to ask
    try:
        assert agent.stderr is not None
        agent.send_signal(signal.SIGINT)
        assert agent.stderr.readline() == f"waiting for an answer of {url}; Ctrl-C again to end at once\n"
        assert agent.poll() is None
        agent.send_signal(signal.SIGINT)
        rest = agent.communicate(timeout=20)[1]  # by itself it gives up after 30 s
    finally:
        agent.kill()
    assert agent.returncode != 0 and "waiting" not in rest and "Traceback" not in rest
