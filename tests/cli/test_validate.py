"""``schedproof validate``: standard input, files that are still being written, mappings, tests made of nonconformances."""

from __future__ import annotations

import json
import os
import re
import runpy
import signal
import subprocess
import sys
import time
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from schedproof.cli.app import run
from schedproof.proofs.traces import Tally, check_trace
from schedproof.proofs.traces.files.lines import TextLine, read_text
from schedproof.proofs.traces.reports.excerpt import excerpt
from tests.proofs.traces.formats.test_plain import HEADER
from tests.support.needs import needs_proc
from tests.support.places import DATA

STEP = {"action": "allocate", "parameters": {"p": "low", "K": ["a"]}}
WRONG = {"action": "complete", "parameters": {"p": "low"}}


def written(path: Path, *lines: object, end: str = "") -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines) + end, "utf-8")
    return path


class TestExitCodes:
    def test_what_came_before_a_bad_line_is_reported(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        log = written(tmp_path / "log", HEADER, STEP, end="{oops\n")
        assert run(["validate", "hived", str(log)]) == 2
        out, err = capsys.readouterr()
        assert (
            out.splitlines()[0]
            == "hived as-written: undetermined, because what follows 1 record could not be checked (format schedproof)"
        )
        assert out.splitlines()[1:] == ["all records before it conform"]
        assert err.count("\n") == 1 and "line 3: not JSON" in err
        assert run(["validate", "hived", str(log), "--json", "-"]) == 2
        output = json.loads(capsys.readouterr().out)
        assert output["verdict"] == "undetermined" and output["records"] == 1 and "line 3" in output["error"]

    def test_a_violation_before_it_exits_with_1(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        """Verdict and exit code agree, in formats that are read as a whole, too."""
        sample = (DATA / "hived" / "s-17-cancel-one-of-two-pods.jsonl").read_text()
        (tmp_path / "log").write_text(sample + "{oops\n")
        assert run(["validate", "hived", str(tmp_path / "log")]) == 1
        out, err = capsys.readouterr()
        assert out.startswith("hived as-written: violates at record 10 of 12 (format hived)\n")
        assert err.count("\n") == 1 and "line 14: not JSON" in err

    def test_idle_goes_with_follow(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert run(["validate", "hived", str(written(tmp_path / "log", HEADER)), "--idle-timeout", "1"]) == 2
        assert "--idle-timeout: has no effect without --follow" in capsys.readouterr().err

    def test_a_mapping_is_named(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        mapping = tmp_path / "m.yaml"
        mapping.write_text("schedproof-mapping: 1\nsystem: hived\nlines:\n- {action: allocate, parameters: {p: job}}\n")
        log = written(tmp_path / "log", {"job": "g"})
        (tmp_path / "cells.yaml").write_text(mapping.read_text() + "header: {objects: {Cell: [c]}}\n")
        assert run(["validate", "hived", str(log), "--mapping", str(tmp_path / "cells.yaml")]) == 0
        assert run(["validate", "hived", str(log), "--mapping", str(tmp_path / "none.yaml")]) == 2
        assert "none.yaml: cannot be read" in capsys.readouterr().err


class TestJUnit:
    """As `verify` has it: a wrong verdict is a failure, a missing one an error."""

    def case(self, log: Path, code: int) -> ET.Element:
        report = log.with_name("report.xml")
        assert run(["validate", "hived", str(log), "--junit", str(report)]) == code
        (suite,) = ET.parse(report).getroot()
        (case,) = suite
        assert (suite.get("name"), case.get("classname"), case.get("name")) == (
            "hived as-written", "schedproof.hived.as-written", str(log)
        )  # fmt: skip
        assert [suite.get("failures"), suite.get("errors")] == [str(len(case.findall(t))) for t in ("failure", "error")]
        return case

    def test_a_log_that_conforms_is_a_test_that_passes(self, tmp_path: Path) -> None:
        assert len(self.case(written(tmp_path / "log", HEADER, STEP), 0)) == 0

    def test_skipped_lines_are_the_output_of_a_test_that_passes(self, tmp_path: Path) -> None:
        """A CI server would show nothing of them otherwise."""
        mapping, out = tmp_path / "m.yaml", tmp_path / "out.xml"
        rule = "- {when: did, action: allocate, parameters: {p: job}}"
        mapping.write_text(
            f"schedproof-mapping: 1\nsystem: hived\nheader: {{objects: {{Cell: [c]}}}}\notherwise: skip\nlines:\n{rule}\n"
        )
        log = written(tmp_path / "log", {"did": 1, "job": "g"}, {"other": 1})
        assert run(["validate", "hived", str(log), "--mapping", str(mapping), "--junit", str(out)]) == 0
        (case,) = ET.parse(out).getroot()[0]
        (output,) = case
        assert output.tag == "system-out" and output.text == f"1 line fits no rule of {mapping}: line 2"

    def test_a_violation_is_a_failure_with_the_report(self, tmp_path: Path) -> None:
        (failure,) = self.case(written(tmp_path / "log", HEADER, STEP, WRONG), 1)
        assert (failure.tag, failure.get("type")) == ("failure", "violates")
        assert failure.text is not None and "record 2 (line 3): complete(p=low)" in failure.text

    def test_nothing_checked_and_an_unreadable_line_are_errors(self, tmp_path: Path) -> None:
        assert [each.tag for each in self.case(written(tmp_path / "log", HEADER), 3)] == ["error"]
        (error,) = self.case(written(tmp_path / "log", HEADER, STEP, end="{oops\n"), 2)
        assert error.tag == "error" and error.text is not None and "line 3: not JSON" in error.text

    def test_a_log_that_cannot_be_read_at_all_is_an_error(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        (error,) = self.case(written(tmp_path / "log", end="{oops\n"), 2)
        assert error.tag == "error" and error.text is not None and "line 1: not JSON" in error.text
        assert (
            error.get("message") == "hived as-written: undetermined, because nothing could be checked (format unknown)"
        )
        (error,) = self.case(tmp_path / "none", 2)
        assert error.text is not None and "none: cannot be read" in error.text
        assert capsys.readouterr().out == ""

    def test_a_wrong_mapping_is_an_error(self, tmp_path: Path) -> None:
        log, mapping, out = written(tmp_path / "log", HEADER), tmp_path / "m.yaml", tmp_path / "out.json"
        mapping.write_text("schedproof-mapping: 1\nsystem: hived\nlines: []\n")
        assert run(["validate", "hived", str(log), "--mapping", str(mapping), "--json", str(out)]) == 2
        report = json.loads(out.read_text())
        assert (report["verdict"], report["format"], report["records"]) == ("undetermined", "mapping", 0)
        assert "m.yaml" in report["error"] and "note" not in report

    def test_on_standard_output_there_is_nothing_else(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        run(["validate", "hived", str(written(tmp_path / "log", HEADER, STEP)), "--junit", "-"])
        assert ET.fromstring(capsys.readouterr().out).tag == "testsuites"


def command(*arguments: str, stdin: int | None = None) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "schedproof", "validate", *arguments],
        stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def wait_for_handler(pid: int) -> None:
    """Waits until the process has a handler of its own for SIGTERM."""
    for _ in range(200):
        caught = next(
            line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("SigCgt")
        )
        if int(caught.split()[1], 16) >> (signal.SIGTERM - 1) & 1:
            return
        time.sleep(0.1)
    raise AssertionError("it never follows")


class TestStreams:
    def test_standard_input_is_checked_as_it_comes(self) -> None:
        """The verdict is there while the writer still holds the pipe open."""
        process = command("hived", "-", stdin=subprocess.PIPE)
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write("".join(json.dumps(line) + "\n" for line in (HEADER, STEP, WRONG)))
        process.stdin.flush()
        assert process.stdout.readline() == "hived as-written: violates at record 2 (format schedproof)\n"
        process.stdin.close()
        process.stdout.close()
        assert process.wait(20) == 1

    @pytest.mark.long
    @needs_proc
    def test_an_interrupt_ends_a_followed_file(self, tmp_path: Path) -> None:
        log = written(tmp_path / "log", HEADER, STEP)
        process = command("hived", str(log), "--follow", "--json", "-")
        wait_for_handler(process.pid)
        with log.open("a") as file:
            file.write(json.dumps({"action": "crash"}) + "\n")
        time.sleep(1.5)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
        assert (process.returncode, err) == (0, "")
        assert json.loads(out)["records"] == 2


class TestProgress:
    @pytest.mark.long
    def test_a_terminal_sees_the_records_that_are_done(self) -> None:
        """While the log's writer pauses, too, the line is written anew; nothing of it is in the output."""
        terminal, stderr = os.openpty()
        process = subprocess.Popen(
            [sys.executable, "-m", "schedproof", "validate", "hived", "-", "--json", "-"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            env={**os.environ, "TERM": "xterm", "COLUMNS": "100"},
        )
        os.close(stderr)
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write("".join(json.dumps(line) + "\n" for line in [HEADER, *1234 * [{"crash": True}]]).encode())
        process.stdin.flush()
        seen, times, began = "", list[float](), time.monotonic()
        while len(times) < 8 and time.monotonic() - began < 60:
            seen += os.read(terminal, 4096).decode()
            if re.search(r"checking: 1,23[34] records, [\d,]+ records/s \(\d+ s\)", seen):
                times.append(time.monotonic())
        process.stdin.close()
        assert len(times) == 8 and times[-1] - times[0] < 7, seen[-300:]
        assert json.loads(process.stdout.read())["records"] == 1234 and process.wait() == 0
        os.close(terminal)

    def test_a_pipe_sees_none(self, tmp_path: Path) -> None:
        with command("hived", str(written(tmp_path / "log", HEADER, STEP))) as process:
            out, err = process.communicate(timeout=60)
        assert (out.count("\n"), err, process.returncode) == (1, "", 0)

    def test_what_is_counted(self, tmp_path: Path) -> None:
        """Of a format that is read as a whole, its lines, and then its records."""
        tally = Tally()
        report = check_trace("hived", written(tmp_path / "log", HEADER, STEP, WRONG), tally=tally)
        assert (report.records, tally.done, tally.unit, tally.doing, tally.counting) == (
            2,
            1,
            "records",
            "checking",
            True,
        )
        check_trace("hived", tmp_path / "log", tally=tally, shorten=True)
        assert (tally.doing, tally.counting) == ("looking for what matters", False)
        sample = DATA / "hived" / "s-02-life-preemption.jsonl"
        report = check_trace("hived", sample, tally=tally)
        assert report.records == tally.done > 0 and tally.counting


class TestWhatMatters:
    def test_a_nonconformance_becomes_a_test(self, tmp_path: Path) -> None:
        emitted = tmp_path / "test_found.py"
        assert run(["validate", "hived", str(DATA / "plain" / "nonconforming.jsonl"), "--emit-test", str(emitted)]) == 1
        module = runpy.run_path(str(emitted))
        assert len(module["TRACE"]) == 2
        module["test_the_last_record_violates"]()
        module["test_the_last_record_violates"].__globals__["TRACE"][1] = json.dumps({"action": "crash"})
        with pytest.raises(AssertionError):  # seeded: a trace that conforms
            module["test_the_last_record_violates"]()

    def test_so_it_does_in_other_formats(self, tmp_path: Path) -> None:
        """By hand: g0 is bound, g1 begins to preempt it, and a pod of g1 goes while another waits."""
        emitted = tmp_path / "test_found.py"
        log = DATA / "hived" / "s-17-cancel-one-of-two-pods.jsonl"
        assert run(["validate", "hived", str(log), "--emit-test", str(emitted)]) == 1
        module = runpy.run_path(str(emitted))
        operations = [json.loads(line).get("op") for line in module["LOG"]]
        assert operations == [None, "AddAllocatedPod", "Schedule", "DeleteUnallocatedPod"]
        module["test_the_last_line_violates"](tmp_path)

    def test_what_conforms_makes_none(self, tmp_path: Path) -> None:
        log = DATA / "hived" / "s-02-life-preemption.jsonl"
        assert run(["validate", "hived", str(log), "--emit-test", str(tmp_path / "test_found.py")]) == 0
        assert not (tmp_path / "test_found.py").exists()

    def test_no_line_of_an_excerpt_can_be_left_out(self) -> None:
        log = DATA / "hived" / "s-17-cancel-one-of-two-pods.jsonl"
        report = check_trace("hived", log, shorten=True)
        assert report.first_nonconformance is not None
        kept = [line for line in read_text(log) if line.number in dict(report.excerpt)]
        for at in range(1, len(kept) - 1):
            text = "\n".join(line.text for line in (*kept[:at], *kept[at + 1 :]))
            assert reason_of(text) != report.first_nonconformance.reason

    def test_what_takes_long_to_check_is_not_cut(self) -> None:
        def slow(lines: list[TextLine]) -> str:
            time.sleep(0.35)
            return "so"

        assert excerpt([TextLine("log", n, "x") for n in range(50)], slow) == []  # type: ignore[arg-type]

    def test_only_what_keeps_the_reason_is_left_out(self) -> None:
        """Seeded fault: lines 3 and 7 matter, together with the last."""
        lines = [TextLine("log", n, str(n)) for n in range(1, 31)]
        kept = excerpt(lines, lambda some: "so" if {3, 7} <= {line.number for line in some} else "otherwise")
        assert [line.number for line in kept] == [3, 7, 30]


def reason_of(text: str) -> str:
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        path = Path(folder) / "log"
        path.write_text(text, "utf-8")
        nonconformance = check_trace("hived", path).first_nonconformance
        return nonconformance.reason if nonconformance is not None else ""
