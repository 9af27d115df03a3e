"""Jobmon's commands as a worker runs them: how they end, what they may use, and what they leave behind."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from schedproof.impl.systems.jobmon.processes import process
from tests.systems.jobmon.processes.installation import until

COMMANDS = """
import sys, time, json
from schedproof.impl.systems.jobmon.client import WorkflowSpec
from schedproof.impl.systems.jobmon.cluster import Granted
from schedproof.impl.systems.jobmon.local_commands import LocalCommands
mine = LocalCommands()
mine.start(Granted(7, sys.argv[1], tuple(map(tuple, json.loads(sys.argv[2])))))
if sys.argv[3] == "kill":
    time.sleep(1.0)
    mine.kill()
    print("killed", flush=True)
elif sys.argv[3] == "wait":
    while (ending := mine.ending()) is None:
        time.sleep(0.01)
    print(ending, flush=True)
else:
    time.sleep(60)
"""


class TestLocalCommands:
    """Each in a process of its own, as a worker's are."""

    def start(self, command: str, how: str = "wait", resources: object = ()) -> subprocess.Popen[str]:
        words = [sys.executable, "-c", COMMANDS, command, json.dumps(resources), how]
        return subprocess.Popen(words, stdout=subprocess.PIPE, text=True, start_new_session=True)

    @pytest.mark.parametrize(
        ("command", "resources", "ending"),
        [
            ("true", [], "done"),
            pytest.param("false", [], "error", marks=pytest.mark.long(one_in=6)),
            ("sh -c 'kill -9 $$'", [], "error"),
            pytest.param("/nowhere/at/all", [], "error", marks=pytest.mark.long(one_in=6)),
            ("", [], "error"),
            pytest.param("'", [], "error", marks=pytest.mark.long(one_in=6)),
            ("sleep 30", [["runtime", 0]], "resource error"),
            (f"{sys.executable} -c 'import time; x = bytearray(200 << 20); time.sleep(30)'", [["memory", 100]], "resource error"),
            pytest.param(f"{sys.executable} -c 'x = bytearray(20 << 20)'", [["memory", 1000], ["runtime", 60]], "done", marks=pytest.mark.long(one_in=6)),
            pytest.param(f"setsid --fork --wait {sys.executable} -c 'import time; x = bytearray(200 << 20); time.sleep(30)'", [["memory", 100]], "resource error", marks=pytest.mark.long(one_in=6)),
            ("sh -c 'test $JOBMON_TASK_INSTANCE_ID = 7'", [], "done"),
        ],
    )  # fmt: skip
    def test_endings(self, command: str, resources: object, ending: str) -> None:
        assert self.start(command, resources=resources).communicate(timeout=60)[0] == f"{ending}\n"

    @pytest.mark.long
    @pytest.mark.parametrize("how", ["wait", "kill"])
    @pytest.mark.parametrize("detached", ["", "setsid "])
    def test_what_it_leaves_behind_is_ended_first(self, tmp_path: Path, how: str, detached: str) -> None:
        """Even if it has gone into a session of its own."""
        ticks = tmp_path / "ticks"
        loop = f"while true; do echo tick >> {ticks}; sleep 0.02; done"
        command = f"sh -c \"{detached}sh -c '{loop}' & sleep {0.5 if how == 'wait' else 30}\""
        output = self.start(command, how).communicate(timeout=60)[0]
        assert output == ("done\n" if how == "wait" else "killed\n")
        before = ticks.read_text()
        assert before
        time.sleep(0.2)
        assert ticks.read_text() == before

    def test_it_dies_with_its_worker(self, tmp_path: Path) -> None:
        alive = tmp_path / "alive"
        worker = self.start(f"sh -c 'echo $$ > {alive}; exec sleep 60'", "sleep")
        assert until(lambda: alive.exists() and alive.read_text())
        command = int(alive.read_text())
        started = process(command)
        assert started is not None and started.group == worker.pid
        worker.kill()
        worker.wait()
        assert until(lambda: (now := process(command)) is None or not now.acting, 2.0)
        worker.communicate()
