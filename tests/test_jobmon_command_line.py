"""Jobmon's command line as a newcomer meets it: what its help tells, and what it says of mistakes."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest
from jobmon_processes import MODULE, Installation
from schedproof.impl.jobmon.resources import Queue
from schedproof.impl.jobmon.workflow_file import Growth, TaskEntry, WorkflowEntry, read_workflow

pytest.importorskip("fastapi")


def command(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *MODULE, *words], capture_output=True, text=True, timeout=60)


@pytest.fixture(scope="module")
def told() -> str:
    return command("client", "--help").stdout


class TestHelp:
    """Its sample and its commands are taken from what it prints."""

    def sample(self, told: str) -> str:
        return told[told.index("{") : told.rindex("}") + 1]

    def test_its_commands_run_its_sample(self, tmp_path: Path, told: str) -> None:
        (tmp_path / "workflow.json").write_text(self.sample(told))
        lines = re.findall(r"^ *python (-m schedproof\.impl\.jobmon .*)$", told, re.MULTILINE)
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
        assert (done.stdout, done.stderr, done.returncode) == ("done\n", "", 0)
        assert (tmp_path / "jobmon.log").read_text() == f"{Path.home()}\n"

    def test_what_it_says_of_growth_and_queues(self, tmp_path: Path, told: str) -> None:
        """Half of 500 more is beyond the 600 of the small queue."""
        (tmp_path / "workflow.json").write_text(self.sample(told))
        spec = read_workflow(tmp_path / "workflow.json")
        first, second = spec.tasks
        assert (first.max_attempts, second.upstream) == (2, ("a",))
        assert spec.scaling["b"].adjusted(second.resources, "small") == ((("memory", 750), ("runtime", 120)), "large")

    @pytest.mark.parametrize(
        "word", [f.name for kind in (WorkflowEntry, TaskEntry, Growth, Queue) for f in fields(kind)]
    )
    def test_all_that_can_be_said_is_in_the_sample(self, told: str, word: str) -> None:
        assert f'"{word}":' in self.sample(told)

    def test_what_has_to_be_known(self, told: str) -> None:
        words = " ".join(told.split())
        for each in ("memory (MiB)", "runtime (s)", "sh -c '...'", "--resume hot", "--resume cold", "go on"):
            assert each in words
