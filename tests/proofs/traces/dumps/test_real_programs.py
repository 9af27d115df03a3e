"""Dumps of real programs that deadlock, by the runtimes that are installed: their circles are those of the source."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.proofs.traces.dumps.test_dumps import report_of
from tests.support.needs import needs_go, needs_java

PROGRAMS = Path(__file__).parent / "programs"
LIMIT = 120
"""The seconds that a compiler or a program may take."""


@contextmanager
def running(command: list[str]) -> Iterator[subprocess.Popen[str]]:
    """A program that runs until the end of the block."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.communicate(timeout=LIMIT)


@pytest.mark.long
@needs_go
def test_goroutines_of_a_real_program_are_in_a_circle(tmp_path: Path) -> None:
    shutil.copy(PROGRAMS / "queues.go", tmp_path)
    environment = {**os.environ, "GOFLAGS": "", "GO111MODULE": "off", "GOTOOLCHAIN": "local"}
    program = tmp_path / "queues"
    build = ["go", "build", "-o", str(program), str(tmp_path / "queues.go")]
    subprocess.run(build, env=environment, check=True, timeout=LIMIT)
    with running([str(program)]) as process:
        time.sleep(1)
        process.send_signal(signal.SIGQUIT)
        _, dump = process.communicate(timeout=LIMIT)
    (circle,) = report_of(dump, tmp_path).circles
    assert not circle.certain and len(circle.names) == 2
    steps = "\n".join(sorted(circle.steps, key=lambda step: "to read" in step))
    # SetTemplate locks in line 25, called in line 20; incPending reads in line 40, called in line 35.
    assert "waits to write Queue" in steps and "queues.go:25" in steps and "TryAllocate, queues.go:35" in steps
    assert "waits to read" in steps and "queues.go:40" in steps and "ApplyConf, queues.go:20" in steps


@pytest.mark.long
@needs_java
def test_threads_of_a_real_program_are_in_two_circles(tmp_path: Path) -> None:
    subprocess.run(["javac", "-d", str(tmp_path), str(PROGRAMS / "Queues.java")], check=True, timeout=LIMIT)
    with running(["java", "-Xmx64m", "-cp", str(tmp_path), "Queues"]) as process:
        time.sleep(3)
        jstack = ["jstack", "-l", str(process.pid)]
        dump = subprocess.run(jstack, check=True, timeout=LIMIT, capture_output=True, text=True).stdout
    report = report_of(dump, tmp_path)
    assert {frozenset(circle.names) for circle in report.circles} == {
        frozenset({"config", "scheduler"}),
        frozenset({"forwards", "backwards"}),
    }
    assert all(circle.certain for circle in report.circles)
    (waiter,) = [one for one in report.dump.threads if one.name == "waiter"]
    assert waiter.holds == () and waiter.waits is not None and waiter.waits.lock is None
    # What the virtual machine's own detector says of the same threads.
    assert dump.count("Found one Java-level deadlock") == 2
    pairs = {(edge.holding.of, edge.acquired.of) for edge in report.dump.edges}
    assert pairs == {("Queue", "Node"), ("Node", "Queue"), ("ReentrantLock", "ReentrantLock")}
