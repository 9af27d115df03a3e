"""The validator on state logs, events and log lines of YuniKorn: samples, releases, each kind of nonconformance, violated properties."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from schedproof.cli import main
from schedproof.proofs.traces import LogVerdict, check_trace
from tests.support.places import DATA, REFERENCE
from tests.support.rows import each_row
from tests.systems.yunikorn.traces.questions import broken, check, nonconformance, releases

LOGS = DATA / "yunikorn"
OLD, MIDDLE, NEW = "0.11-0.12", "1.0-1.5", "1.6+"


SAMPLES = {
    "statelog-1.0.json": ("yunikorn-statelog", 21, [MIDDLE]),
    "statelog-1.6.json": ("yunikorn-statelog", 3, [NEW]),
    "events-batch-1.6.json": ("yunikorn-events", 11, [NEW]),
    "events-stream-1.5.jsonl": ("yunikorn-events", 7, [MIDDLE]),
    "core-and-shim.log": ("yunikorn-log", 23, [OLD, MIDDLE]),
    "walks-recorded.jsonl": ("yunikorn-walks", 72, []),
}


@each_row("name", SAMPLES)
def test_samples(name: str) -> None:
    report = check_trace("yunikorn", LOGS / name)
    assert report.variant == "v0.12.2"
    assert (report.format, report.records, releases(report)) == SAMPLES[name]


def test_every_sample_is_tested() -> None:
    assert {path.name for path in LOGS.iterdir()} == {*SAMPLES, "application-matrix.txt"}


# --- State logs


def statelog(*states: str, last: str | None = None, times: list[int] | None = None) -> str:
    entries = [{"time": t, "applicationState": s} for t, s in zip(times or range(len(states)), states, strict=True)]
    return json.dumps({"applicationID": "app-1", "applicationState": last or states[-1], "stateLog": entries})


class TestStateLog:
    @each_row(
        ("states", "expected"),
        [
            (["Accepted", "Starting", "Running", "Completing", "Completed", "Expired"], [MIDDLE]),
            (["Accepted", "Running", "Completing", "Running", "Failing", "Failed", "Expired"], [NEW]),
            (["Accepted", "Completing", "Completed"], [MIDDLE, NEW]),
            (["Failing", "Failed"], [MIDDLE, NEW]),
            (["Resuming", "Accepted", "Resuming"], [MIDDLE, NEW]),
            (["Rejected", "Expired"], [MIDDLE, NEW]),
        ],
    )
    def test_releases(self, states: list[str], expected: list[str], tmp_path: Path) -> None:
        assert releases(check(statelog(*states), tmp_path)) == expected

    @each_row(
        ("states", "record", "reason"),
        [
            (["New", "Accepted"], 1, "New is never entered"),
            (["Running"], 1, "no event takes New to Running"),
            (["Accepted", "Accepted"], 2, "was Accepted already"),
            (["Accepted", "Completed"], 2, "no event takes Accepted to Completed"),
            (["Accepted", "Completing", "Failing"], 3, "no event takes Completing to Failing"),
            (["Accepted", "Completing", "Completed", "Running"], 4, "no event takes Completed to Running"),
            (["Rejected", "Accepted"], 2, "no event takes Rejected to Accepted"),
            (["Accepted", "Running", "Starting"], 3, "there is no state Starting (1.6+); 1.0-1.5 is excluded since line 1"),
        ],
    )  # fmt: skip
    def test_nonconformances(self, states: list[str], record: int, reason: str, tmp_path: Path) -> None:
        reported = nonconformance(check(statelog(*states), tmp_path))
        assert reported[0] == record and reason in reported[2], reported

    def test_times_do_not_decrease(self, tmp_path: Path) -> None:
        assert releases(check(statelog("Accepted", "Starting", times=[5, 5]), tmp_path)) == [MIDDLE]
        reported = nonconformance(check(statelog("Accepted", "Starting", times=[5, 4]), tmp_path))
        assert reported[0] == 2 and "times do not decrease" in reported[2]

    def test_the_last_entry_is_the_state(self, tmp_path: Path) -> None:
        reported = nonconformance(check(statelog("Accepted", "Starting", last="Running"), tmp_path))
        assert reported[0] == 3 and reported[2] == "app-1 is Running, but its stateLog ends with Starting"

    @pytest.mark.parametrize(
        ("fields", "expected"),
        [
            ({"applicationState": "New"}, [OLD, MIDDLE, NEW]),
            ({"applicationState": "New", "stateLog": []}, [MIDDLE]),
            ({"applicationState": "New", "stateLog": None}, [MIDDLE]),
            ({"applicationState": "Running"}, [OLD]),
        ],
    )
    def test_without_entries(self, fields: dict[str, Any], expected: list[str], tmp_path: Path) -> None:
        report = check(json.dumps({"applicationID": "app-1", **fields}), tmp_path)
        assert releases(report) == expected
        assert ("no stateLog" in report.note) == ("stateLog" not in fields)

    def test_an_empty_log_leaves_it_new(self, tmp_path: Path) -> None:
        text = json.dumps({"applicationID": "app-1", "applicationState": "Running", "stateLog": []})
        assert nonconformance(check(text, tmp_path)) == (1, 1, "app-1 is Running, but an empty stateLog leaves it New")

    def test_applications_of_one_log_have_one_release(self, tmp_path: Path) -> None:
        """Each conforms alone."""
        both = f"[{statelog('Accepted', 'Starting')},\n{statelog('Accepted', 'Running')}]"
        record, line, reason = nonconformance(check(both, tmp_path))
        assert (record, line) == (5, 2)
        assert (
            "no event takes Accepted to Running (1.0-1.5); 1.6+ is excluded since line 1: there is no state Starting"
            in reason
        )

    def test_two_of_one_name_are_two(self, tmp_path: Path) -> None:
        assert releases(check(f"[{statelog('Accepted')},\n{statelog('Accepted')}]", tmp_path)) == [MIDDLE, NEW]

    def test_a_dump_with_applications(self, tmp_path: Path) -> None:
        text = json.dumps({"Timestamp": 1, "Applications": [json.loads(statelog("Accepted", "Starting"))], "Nodes": []})
        assert releases(check(text, tmp_path)) == [MIDDLE]

    def test_what_is_final_in_the_document_and_not_in_the_table(self, tmp_path: Path) -> None:
        assert broken(check(statelog("Rejected", "Expired"), tmp_path)) == [
            (2, "only-the-completed-expire", 24),
            (2, "rejected-is-final", 27),
        ]
        assert not check(statelog("Accepted", "Completing", "Completed", "Expired"), tmp_path).breaks

    def test_a_nonconformance_names_the_property_that_it_would_break(self, tmp_path: Path) -> None:
        report = check(statelog("Accepted", "Completing", "Completed", "Running"), tmp_path)
        assert report.first_nonconformance is not None
        assert [p.property for p in report.first_nonconformance.requirements] == ["completed-only-expires"]
        (candidate,) = report.first_nonconformance.candidates
        assert candidate.steps == ["expireApplication on app-1"]
        assert candidate.differs[0].text() == "app-1.state is Expired in the model, Running observed"


class TestReleases:
    def test_a_release_can_be_given(self, tmp_path: Path) -> None:
        text = statelog("Accepted", "Starting")
        assert releases(check(text, tmp_path, log_version="1.5.2")) == [MIDDLE]
        assert releases(check(text, tmp_path, log_version=MIDDLE)) == [MIDDLE]
        assert "there is no state Starting" in nonconformance(check(text, tmp_path, log_version="v1.6.0"))[2]
        assert "before 1.0 there is no stateLog" in nonconformance(check(text, tmp_path, log_version="0.12.2"))[2]

    def test_a_variant_checks_by_its_own_table(self, tmp_path: Path) -> None:
        text = statelog("Accepted", "Starting", "Running")
        assert releases(check(text, tmp_path, variant="v0.12.2")) == []
        assert nonconformance(check(statelog("Rejected", "Expired"), tmp_path, variant="v0.12.2"))[0] == 2

    def test_on_the_command_line(self, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
        path = tmp_path / "log"
        path.write_text(statelog("Accepted", "Running"), "utf-8")
        assert main(["validate", "yunikorn", str(path)]) == 0
        assert "explained by 1.6+" in capfd.readouterr().out
        assert main(["validate", "yunikorn", str(path), "--log-version", "1.5", "--json", "-"]) == 1
        assert json.loads(capfd.readouterr().out)["first_departure"]["record"] == 2
        for arguments, message in (
            (["--log-version", "0.9"], "0.11 and later can be checked"),
            (["--log-version", "new"], "'new' is not a version of YuniKorn"),
            (["--log-version", "1.5", "--variant", "v0.12.2"], "leave out the variant or the version"),
        ):
            assert main(["validate", "yunikorn", str(path), *arguments]) == 2
            err = capfd.readouterr().err
            assert message in err and err.count("\n") == 1

    def test_where_releases_do_not_differ(self) -> None:
        hived = DATA / "hived" / "s-02-life-preemption.jsonl"
        with pytest.raises(ValueError, match="is the same in every version"):
            check_trace("hived", hived, log_version="1.5")


# --- Events


def event(who: str, detail: int, kind: int = 2, change: int = 1) -> str:
    return json.dumps({"type": kind, "objectID": who, "eventChangeType": change, "eventChangeDetail": detail})


class TestEvents:
    @each_row(
        ("details", "expected"),
        [
            ([203, 204, 205, 206, 207, 208, 212], [MIDDLE]),
            ([204, 206, 207, 206], [NEW]),
            ([203, 202, 212], [MIDDLE, NEW]),
            ([211, 204, 211], [MIDDLE, NEW]),  # met in the middle
            ([208, 203, 204], [MIDDLE, NEW]),  # another one of the same name
            ([209, 210, 212], [MIDDLE, NEW]),
        ],
    )
    def test_applications(self, details: list[int], expected: list[str], tmp_path: Path) -> None:
        assert releases(check("\n".join(event("a", d) for d in details), tmp_path)) == expected

    @each_row(
        ("lines", "record", "reason"),
        [
            ([event("a", 204), event("a", 208)], 2, "a is Completed: no event takes Accepted to Completed"),
            ([event("a", 206), event("a", 206)], 2, "a was Running already"),
            ([event("a", 206), event("a", 203)], 2, "no event takes Running to New"),
            ([event("a", 205), event("b", 204), event("b", 206)], 3, "no event takes Accepted to Running (1.0-1.5)"),
            ([event("n", 300, 3, 3), event("n", 302, 3)], 2, "the flag of n is set: n is gone since line 1"),
            ([event("n", 300, 3, 3), event("n", 300, 3, 3)], 2, "n is decommissioned: n is gone since line 1"),
        ],
    )
    def test_nonconformances(self, lines: list[str], record: int, reason: str, tmp_path: Path) -> None:
        reported = nonconformance(check("\n".join(lines), tmp_path))
        assert reported[:2] == (record, record) and reason in reported[2], reported

    def test_nodes(self, tmp_path: Path) -> None:
        lines = [event("n", 302, 3), event("n", 300, 3, 3), event("n", 0, 3, 2), event("n", 302, 3)]
        report = check("\n".join(lines), tmp_path)
        assert releases(report) == [MIDDLE, NEW] and report.records == 4

    def test_what_carries_no_state_is_counted(self, tmp_path: Path) -> None:
        lines = [event("root.a", 400, 4, 2), event("root.a", 401, 4, 3), event("a", 204), event("a", 200, 2, 2)]
        report = check("\n".join(lines), tmp_path)
        assert report.records == 1 and "3 records carry no state and are not checked" in report.note

    def test_a_batch_over_many_lines_names_the_line(self, tmp_path: Path) -> None:
        records = [json.loads(event("a", d)) for d in (204, 212)]
        text = json.dumps({"InstanceUUID": "x", "EventRecords": records}, indent=1)
        record, line, _ = nonconformance(check(text, tmp_path))
        assert record == 2 and text.splitlines()[line - 1].strip() == "{" and line > 5

    def test_nothing(self, tmp_path: Path) -> None:
        report = check(json.dumps({"InstanceUUID": "x", "EventRecords": []}), tmp_path)
        assert (report.verdict, report.records) == ("undetermined", 0) and "nothing was checked" in report.note


# --- Log lines


def line(message: str, source: str, target: str, by: str, **names: Any) -> str:
    fields = json.dumps({**names, "source": source, "destination": target, "event": by})
    return f"2022-03-01T12:00:00.123Z\tINFO\tx.go:1\t{message}\t{fields}"


def core(source: str, target: str, by: str, who: str = "a") -> str:
    return line("Application state transition", source, target, f"{by}Application", appID=who)


def queue(source: str, target: str, by: str) -> str:
    return line("object transition", source, target, by, object="root.a")


def shim(source: str, target: str, by: str) -> str:
    return line("shim app state transition", source, target, by, app="a")


def task(source: str, target: str, by: str) -> str:
    return line("shim task state transition", source, target, by, app="a", task="t", taskAlias="x/t")


def node(source: str, target: str, by: str) -> str:
    return line("shim node state transition", source, target, by, nodeID="n")


def scheduler(source: str, target: str, by: str) -> str:
    return line("scheduler shim state transition", source, target, by)


class TestLog:
    @each_row(
        ("lines", "expected"),
        [
            ([core("New", "Accepted", "run"), core("Accepted", "Starting", "run")], [OLD, MIDDLE]),
            ([core("New", "Accepted", "run"), core("Accepted", "Running", "run")], [NEW]),
            ([core("Rejected", "Expired", "expire")], [MIDDLE, NEW]),
            ([core("Starting", "Running", "run")], [OLD, MIDDLE]),
            ([core("Failed", "Expired", "expire"), core("New", "Resuming", "resume")], [OLD, MIDDLE, NEW]),
            ([queue("Active", "Draining", "Remove"), queue("Draining", "Draining", "Remove")], [OLD, MIDDLE, NEW]),
            ([queue("Active", "Draining", "Remove"), queue("Draining", "Active", "Start")], [NEW]),
            ([queue("Active", "Draining", "Remove"), queue("Active", "Stopped", "Stop")], [OLD, MIDDLE, NEW]),
            ([shim("Reserving", "Running", "ReleaseAppAllocationAsk"), shim("Running", "Running", "RunApplication")], [OLD, MIDDLE, NEW]),
            ([shim("Recovering", "Rejected", "RejectApplication")], [MIDDLE, NEW]),
            ([task("Scheduling", "TaskAllocated", "TaskAllocated"), task("TaskAllocated", "Failed", "TaskFail")], [OLD, MIDDLE, NEW]),
            ([node("Accepted", "Draining", "DrainNode"), node("New", "Recovering", "RecoverNode")], [OLD, MIDDLE, NEW]),
            ([scheduler("New", "Registering", "RegisterScheduler")], [OLD, MIDDLE]),
            ([task("New", "Pending", "InitTask"), scheduler("New", "Registering", "RegisterScheduler"), task("New", "Pending", "InitTask")], [OLD, MIDDLE]),
        ],
    )  # fmt: skip
    def test_releases(self, lines: list[str], expected: list[str], tmp_path: Path) -> None:
        assert releases(check("\n".join(lines), tmp_path)) == expected

    @each_row(
        ("lines", "reason"),
        [
            ([core("New", "Starting", "run")], "runApplication takes New to Accepted"),
            ([core("New", "Accepted", "complete")], "completeApplication has no row from New"),
            ([core("Running", "Running", "run")], "a was Running already"),
            ([core("New", "Accepted", "run"), core("Running", "Failing", "fail")], "a is Accepted since line 1, not Running"),
            ([core("New", "Accepted", "run"), core("New", "Accepted", "run")], "a is Accepted since line 1, not New"),
            ([core("Accepted", "Running", "run", "b"), core("Accepted", "Starting", "run")], "is excluded since line 1"),
            ([queue("Stopped", "Draining", "Remove")], "Remove has no row from Stopped"),
            ([shim("Recovering", "Failing", "FailApplication")], "FailApplication has no row from Recovering"),
            ([shim("Accepted", "Accepted", "ReleaseAppAllocation")], "ReleaseAppAllocation has no row from Accepted"),
            ([task("Bound", "Failed", "TaskFail")], "TaskFail has no row from Bound"),
            ([task("New", "Pending", "InitTask"), task("New", "Pending", "InitTask")], "t of a is Pending since line 1"),
            ([node("Healthy", "Rejected", "NodeRejected")], "NodeRejected has no row from Healthy"),
            ([scheduler("Running", "Stopped", "RecoverSchedulerFailed")], "RecoverSchedulerFailed has no row from Running"),
            ([scheduler("New", "Registering", "RegisterScheduler"), core("Accepted", "Running", "run")], "runApplication takes Accepted to Starting"),
        ],
    )  # fmt: skip
    def test_nonconformances(self, lines: list[str], reason: str, tmp_path: Path) -> None:
        reported = nonconformance(check("\n".join(["something else", *lines]), tmp_path))
        reason = reason.replace("line 1", "line 2")
        assert reported[:2] == (len(lines), len(lines) + 1) and reason in reported[2], reported

    def test_both_encodings(self, tmp_path: Path) -> None:
        """One change in text, the next in JSON, by either of the logger's names for the message."""
        fields = {"appID": "a", "source": "Accepted", "destination": "Completing", "event": "completeApplication"}
        for key in ("msg", "M"):
            second = json.dumps({"level": "info", "ts": 1.5, key: "Application state transition", **fields})
            report = check(f"{core('New', 'Accepted', 'run')}\nother\n{second}", tmp_path)
            assert report.records == 2 and releases(report) == [OLD, MIDDLE, NEW]
            assert "1 line without a known message skipped" in report.note
            assert nonconformance(check(f"{core('New', 'Failing', 'fail')}\n{second}", tmp_path))[0] == 2

    def test_objects_that_have_no_names(self, tmp_path: Path) -> None:
        lines = [
            line("object transition", *change, object={})
            for change in (("Active", "Stopped", "Stop"), ("Active", "Draining", "Remove"))
        ]
        assert releases(check("\n".join(lines), tmp_path)) == [OLD, MIDDLE, NEW]
        named = "\n".join(lines).replace("{}", '"root.a"')
        assert "root.a is Stopped since line 1, not Active" in nonconformance(check(named, tmp_path))[2]

    def test_a_log_that_begins_in_the_middle_says_so(self, tmp_path: Path) -> None:
        report = check(core("Running", "Completing", "complete"), tmp_path)
        assert "the log begins when lives have begun: a in Running" in report.note

    def test_final_states_that_are_left(self, tmp_path: Path) -> None:
        lines = [core("Failed", "Expired", "expire"), queue("Draining", "Active", "Start")]
        assert broken(check("\n".join(lines), tmp_path)) == [
            (1, "only-the-completed-expire", 24),
            (1, "failed-is-final", 26),
            (2, "draining-queues-are-final", 51),
        ]


def test_the_examples_of_the_readme_conform(tmp_path: Path) -> None:
    text = (REFERENCE / "trace-formats.md").read_text("utf-8")
    text = text.split("## Logs of YuniKorn")[1].split("\n## ")[0]
    reports = [check(example, tmp_path) for example in re.findall(r"```\w+\n(.*?)```", text, re.DOTALL)]
    assert [report.format for report in reports] == [
        f"yunikorn-{name}" for name in ("statelog", "events", "log", "walks")
    ]
    assert all(report.verdict is LogVerdict.CONFORMS and report.records > 1 for report in reports)
