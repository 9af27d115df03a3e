"""Traces that are still being written, of formats that are checked line by line and of those that are checked as a whole."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import pytest

from schedproof.proofs.traces import Following, LogVerdict, TraceError, check_trace
from schedproof.proofs.traces.files.following import SHARE, RepeatedCheck
from tests.proofs.traces.formats.test_plain import HEADER
from tests.support.places import DATA
from tests.support.sample import thinned

CONFORMS, VIOLATES = LogVerdict.CONFORMS, LogVerdict.VIOLATES
SAMPLES = [
    *sorted((DATA / "hived").glob("*.jsonl")),
    *sorted((DATA / "beaker").glob("*.*")),
    *sorted(path for path in (DATA / "jobmon").glob("*-*.*") if path.suffix != ".md"),
    *(DATA / "yunikorn" / name for name in (
        "core-and-shim.log", "events-batch-1.6.json", "events-stream-1.5.jsonl", "statelog-1.0.json", "statelog-1.6.json",
        "walks-recorded.jsonl",
    )),
]  # fmt: skip


def lines(*records: Any) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


class TestFollowing:
    @pytest.mark.long
    def test_half_a_line_waits(self, tmp_path: Path) -> None:
        path = tmp_path / "log"
        step = json.dumps({"action": "allocate", "parameters": {"p": "low", "K": ["a"]}})
        path.write_text(lines(HEADER) + step[:20])

        def writer() -> None:
            time.sleep(0.3)
            with path.open("a") as file:
                file.write(step[20:] + "\n" + step[:20])

        thread = threading.Thread(target=writer)
        thread.start()
        following = Following(idle=0.8, every=0.05)
        report = check_trace("hived", path, following=following)
        thread.join()
        assert (report.verdict, report.records, following.half) == (CONFORMS, 1, True)

    def test_it_ends_at_the_first_nonconformance(self, tmp_path: Path) -> None:
        path = tmp_path / "log"
        path.write_text(lines(HEADER, {"action": "complete", "parameters": {"p": "low"}}))
        assert check_trace("hived", path, following=Following()).verdict is VIOLATES

    def test_it_can_be_stopped(self, tmp_path: Path) -> None:
        path = tmp_path / "log"
        path.write_text(lines(HEADER, {"action": "crash"}))
        following = Following(every=0.02)
        threading.Timer(0.2, following.stop).start()
        assert check_trace("hived", path, following=following).records == 1

    def test_a_file_whose_name_another_takes_is_no_longer_followed(self, tmp_path: Path) -> None:
        path, new = tmp_path / "log", tmp_path / "new"
        path.write_text(lines(HEADER, {"action": "crash"}))
        new.write_text(lines(HEADER, {"action": "complete", "parameters": {"p": "low"}}))
        threading.Timer(0.2, lambda: new.rename(path)).start()
        with pytest.raises(TraceError, match="another file has taken its name") as caught:
            check_trace("hived", path, following=Following(idle=3, every=0.02))
        assert caught.value.before is not None and caught.value.before.records == 1

    def test_a_file_that_becomes_shorter_is_another_one(self, tmp_path: Path) -> None:
        path = tmp_path / "log"
        path.write_text(lines(HEADER, {"action": "crash"}))
        threading.Timer(0.2, lambda: path.write_text("")).start()
        with pytest.raises(TraceError, match="has become shorter") as caught:
            check_trace("hived", path, following=Following(idle=5, every=0.05))
        assert caught.value.before is not None and caught.value.before.records == 1


class TestPipes:
    """A writer that is silent keeps nobody from stopping."""

    @pytest.mark.long
    @pytest.mark.parametrize("named", [False, True])
    def test_what_is_there_is_checked_and_it_ends(self, named: bool, tmp_path: Path) -> None:
        path = tmp_path / "pipe"
        os.mkfifo(path)
        holder = os.open(path, os.O_RDWR)  # somebody who writes, and then says nothing
        os.write(holder, (lines(HEADER, {"action": "crash"}) + '{"action":').encode())
        with path.open("rb") as end:
            command = [sys.executable, "-m", "schedproof", "validate", "hived", str(path) if named else "-", "--follow"]
            done = subprocess.run(
                [*command, "--idle-timeout", "0.5"], stdin=end, capture_output=True, text=True, timeout=60, check=False
            )
        os.close(holder)
        assert (done.returncode, done.stderr) == (0, "")
        assert "conforms (1 record" in done.stdout and "the end is half a line, which was not read" in done.stdout

    @pytest.mark.long
    def test_half_a_line_is_noted_beside_lines_that_are_no_step(self, tmp_path: Path) -> None:
        mapping, log = tmp_path / "m.yaml", tmp_path / "log"
        rules = "- {when: did, crash: true}\n- {stutter: true}\n"
        mapping.write_text(f"schedproof-mapping: 1\nsystem: hived\nlines:\n{rules}")
        log.write_text(lines({"other": 1}, {"did": 1}) + '{"did":')
        command = [sys.executable, "-m", "schedproof", "validate", "hived", str(log), "--mapping", str(mapping)]
        done = subprocess.run(
            [*command, "--follow", "--idle-timeout", "0.5"], capture_output=True, text=True, timeout=60, check=False
        )
        assert done.returncode == 0
        assert done.stdout.splitlines()[1] == "1 line is no step; the end is half a line, which was not read"

    @pytest.mark.long
    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
    def test_a_signal_ends_it(self, number: signal.Signals, tmp_path: Path) -> None:
        path = tmp_path / "pipe"
        os.mkfifo(path)
        command = [sys.executable, "-m", "schedproof", "validate", "hived", str(path), "--follow"]
        with (
            subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child,
            os.fdopen(os.open(path, os.O_RDWR), "w") as writer,  # for writing alone, it would wait for the reader
        ):
            writer.write(lines(HEADER, {"action": "crash"}))
            writer.flush()
            poll(child)
            child.send_signal(number)
            out, err = child.communicate(timeout=60)
        assert (child.returncode, err) == (0, "") and "conforms (1 record" in out

    def test_standard_input_that_ends_ends_it(self) -> None:
        """Without a line's end at the end, too; and a line longer than what is read at once."""
        long = {"crash": True, "state": {"Cell": {"a": {"state": "Free"}}}}
        text = lines(HEADER, {"action": "crash"}) + " " * 200_000 + json.dumps(long)
        command = [sys.executable, "-m", "schedproof", "validate", "hived", "-", "--follow"]
        done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=60, check=False)
        assert (done.returncode, done.stderr) == (0, "") and "conforms (2 records" in done.stdout

    @pytest.mark.long
    def test_standard_input_may_be_closed(self) -> None:
        for more in ("", " --follow"):
            command = f"{sys.executable} -m schedproof validate hived -{more} <&-"
            done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=60, check=False)
            assert (done.returncode, done.stderr) == (2, "schedproof: standard input is closed; name a file\n")


def poll(child: subprocess.Popen[str]) -> None:
    """Waits until the child has the signal's handler: it sleeps then, at the end of what it has read."""
    for _ in range(600):
        caught = [line for line in Path(f"/proc/{child.pid}/status").read_text().splitlines() if "SigCgt" in line]
        if int(caught[0].split()[1], 16) >> (signal.SIGTERM - 1) & 1:
            time.sleep(0.5)
            return
        time.sleep(0.05)
    raise AssertionError("it never waits")


class OneLook(Following):
    """Is interrupted after one look at what is there; notes whether that was enough for a verdict."""

    decided = False

    def wait(self, file: BinaryIO, name: str, got: bool) -> bool:
        super().wait(file, name, got)
        self.decided = self.interrupted
        self.stop()
        return False


def cuts(content: bytes) -> Iterator[int]:
    """Where a log may be broken off: at line ends, in a line, in the first one."""
    ends = [i + 1 for i, byte in enumerate(content) if byte == 10]
    some = sorted({ends[len(ends) * k // 8] for k in range(8)})
    yield from some
    yield from (end - 7 for end in some[::3])


class TestCheckedAsAWhole:
    @pytest.mark.parametrize("sample", thinned(SAMPLES, 6), ids=lambda path: path.stem)
    def test_what_is_there_so_far_decides_only_what_all_of_it_does(self, sample: Path, tmp_path: Path) -> None:
        """Every beginning of a log is explained, up to the line where the log does not conform."""
        system = sample.parent.name
        content, part = sample.read_bytes(), tmp_path / sample.name
        checked = check_trace(system, sample)
        nonconformance = checked.first_nonconformance
        compared = 0
        for cut in cuts(content):
            part.write_bytes(content[:cut])
            following = OneLook(every=0.01)
            try:
                report = check_trace(system, part, following=following)
            except TraceError:
                assert not following.decided
                continue
            compared += 1
            if nonconformance is not None and report.first_nonconformance is not None:
                assert following.decided and report.first_nonconformance.line == nonconformance.line
            else:
                assert not following.decided and (report.verdict is CONFORMS or not report.records)
                assert nonconformance is None or content[:cut].count(b"\n") < nonconformance.line
        assert compared or sample.suffix == ".json", "one document is none before its end"

    def test_it_ends_at_the_first_nonconformance(self, tmp_path: Path) -> None:
        """Nothing else ends it: it would wait for ever."""
        sample = DATA / "jobmon" / "does-not-conform-events-running-after-done.jsonl"
        first, *rest = sample.read_text().splitlines(keepends=True)
        log = tmp_path / "log"
        log.write_text(first)

        def write() -> None:
            for line in rest:
                time.sleep(0.1)
                with log.open("a") as file:
                    file.write(line)

        writer = threading.Thread(target=write)
        writer.start()
        report = check_trace("jobmon", log, following=Following(every=0.02))
        writer.join()
        assert report.first_nonconformance == check_trace("jobmon", sample).first_nonconformance is not None

    def test_a_line_that_is_wrong_ends_it(self, tmp_path: Path) -> None:
        sample = DATA / "hived" / "s-02-life-preemption.jsonl"
        first, second, third, *_ = sample.read_text().splitlines(keepends=True)
        log = tmp_path / "log"
        log.write_text(first + second + "{}\n" + third)
        with pytest.raises(TraceError, match="line 3") as caught:
            check_trace("hived", log, following=Following(every=0.02))
        assert caught.value.before is not None and caught.value.before.records == 1

    def test_so_does_a_file_of_no_known_format(self, tmp_path: Path) -> None:
        log = tmp_path / "log"
        log.write_text('{"a": 1}\n{"a": 2}\n')
        with pytest.raises(TraceError, match="unknown format"):
            check_trace("hived", log, following=Following(every=0.02))


class TestRepeatedCheck:
    def test_only_when_there_is_more(self) -> None:
        size, checks = 0, 0

        def decided() -> bool:
            nonlocal checks
            checks += 1
            return size == 3

        stopped: list[bool] = []
        repeated = RepeatedCheck(lambda: size, decided, lambda: stopped.append(True))
        for size, expected in [  # noqa: B007 "decided" reads it
            (0, 0),
            (1, 1),
            (1, 1),
            (2, 2),
            (2, 2),
            (3, 3),
        ]:
            time.sleep(0.01)
            repeated.check_if_due()
            assert checks == expected
        assert stopped == [True]

    @pytest.mark.long
    def test_looking_takes_a_part_of_the_time_only(self) -> None:
        size, spent = 0, 0.0

        def decided() -> bool:
            nonlocal spent
            begun = time.monotonic()
            time.sleep(0.03)
            spent += time.monotonic() - begun
            return False

        repeated = RepeatedCheck(lambda: size, decided, lambda: None)
        begun = time.monotonic()
        while time.monotonic() - begun < 1:
            size += 1
            repeated.check_if_due()
            time.sleep(0.001)
        last = spent
        assert spent > 0 and spent - last / 2 <= (time.monotonic() - begun) / (SHARE + 1) + 0.1
