"""The validator on audit rows, dumps and events of Jobmon: samples, each kind of nonconformance, properties that are broken."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from schedproof.cli import main
from schedproof.proofs.traces import LogVerdict, ValidationReport, check_trace
from tests.support.places import DATA, REFERENCE
from tests.support.rows import each_row

LOGS = DATA / "jobmon"
AUDIT, DUMPS, EVENTS = "jobmon-audit", "jobmon-dumps", "jobmon-events"
TRIAGE = "the-client-moves-only-its-own"

SAMPLES: dict[str, tuple[str, int, list[tuple[int, str]]]] = {
    "audit-retries.jsonl": (AUDIT, 16, []),
    "audit-resumed.csv": (AUDIT, 7, []),
    "dumps-retry.jsonl": (DUMPS, 5, []),
    "dumps-two-live-instances.jsonl": (DUMPS, 3, [(3, "one-live-instance")]),
    "dumps-an-end-is-left.jsonl": (
        DUMPS,
        3,
        [
            (1, "task-is-the-image-of-its-instance"),
            (3, "the-distributor-moves-only-its-own"),
            (3, "instances-end-for-good"),
        ],
    ),
    "events-two-attempts.jsonl": (EVENTS, 15, [(8, TRIAGE)]),
    "events-console.log": (EVENTS, 5, [(3, TRIAGE)]),
}
NONCONFORMING = {
    "does-not-conform-audit-done-is-left.csv": (
        AUDIT,
        6,
        7,
        "task 7 goes from D (Done) to G (Registering): neither table",
    ),
    "does-not-conform-dumps-two-live-instances.jsonl": (
        DUMPS,
        2,
        2,
        "instance 12.state is Error in the model, Running observed",
    ),
    "does-not-conform-dumps-two-runs.jsonl": (DUMPS, 3, 3, "run 4.state is Registered in the model, Running observed"),
    "does-not-conform-events-running-after-done.jsonl": (EVENTS, 3, 3, "it was D (Done)"),
}


def broken(report: ValidationReport) -> list[tuple[int, str | None]]:
    assert report.verdict is LogVerdict.CONFORMS, report.text()
    return [(b.record, b.requirement.property) for b in report.breaks]


@each_row("name", SAMPLES)
def test_samples(name: str) -> None:
    report = check_trace("jobmon", LOGS / name)
    assert report.variant == "shipped"
    assert (report.format, report.records, broken(report)) == SAMPLES[name]


@pytest.mark.parametrize("name", NONCONFORMING)
def test_samples_that_violate(name: str) -> None:
    report = check_trace("jobmon", LOGS / name)
    format_, record, line, reason = NONCONFORMING[name]
    nonconformance = report.first_nonconformance
    assert nonconformance is not None and report.verdict is LogVerdict.VIOLATES
    assert (report.format, nonconformance.record, nonconformance.line) == (format_, record, line)
    assert reason in nonconformance.reason, nonconformance.reason


def test_every_sample_is_tested() -> None:
    assert {path.name for path in LOGS.iterdir()} == {*SAMPLES, *NONCONFORMING, "README.md"}


def check(records: Sequence[Any], tmp_path: Path) -> ValidationReport:
    path = tmp_path / "trace"
    path.write_text("\n".join(r if isinstance(r, str) else json.dumps(r) for r in records), "utf-8")
    return check_trace("jobmon", path)


def violates(report: ValidationReport) -> tuple[int, str]:
    assert report.verdict is LogVerdict.VIOLATES and report.first_nonconformance is not None, report.text()
    return report.first_nonconformance.record, report.first_nonconformance.reason


# --- Audit rows


def chain(*moves: str, spans: Sequence[tuple[int, int | None]] | None = None) -> list[dict[str, Any]]:
    """The rows of one task: ``-G`` for a new one, ``GQ``, ...; those of E have no length."""
    rows: list[dict[str, Any]] = []
    time = 0
    for at, (source, target) in enumerate(moves):
        entered = time
        time += 0 if target == "E" else 10
        row = {"id": at + 1, "task_id": 7, "previous_status": None if source == "-" else source, "new_status": target}
        rows.append({**row, "entered_at": entered, "exited_at": time})
    for row, (entered, exited) in zip(rows, spans or (), strict=False):
        row.update(entered_at=entered, exited_at=exited)
    return rows


class TestAudit:
    @each_row(
        "moves",
        [
            "-G GQ QI IO OR RD",
            "-G GQ QI IR RE EA AQ QI IO OF FG",
            "RG GQ QI IE EG",  # begins in the middle
            "IE EF FG GQ",  # no row leads from I to F at once
            "RA AF",
            "OE EQ QG GQ QI IG",
        ],
    )
    def test_conforms(self, moves: str, tmp_path: Path) -> None:
        assert broken(check(chain(*moves.split()), tmp_path)) == []

    @each_row(
        ("moves", "record", "reason"),
        [
            ("-Q QI", 1, "a task that is new is G (Registering)"),
            ("-G GI", 2, "neither table of the machine Task has such a row"),
            ("-G GQ IO", 3, "the task is Q (Queued) since line 2"),
            ("RD DG", 2, "goes from D (Done) to G"),
            ("FQ", 1, "neither table"),
            ("IF", 1, "neither table"),
            ("OD", 1, "neither table"),
            ("-G -G", 2, "the task is G (Registering) since line 1"),
            ("IR RE EF", 3, "E (ErrorRecoverable) is written on a retry only"),
            ("OR RG GG", 3, "neither table"),
        ],
    )
    def test_violates(self, moves: str, record: int, reason: str, tmp_path: Path) -> None:
        nonconformance = violates(check(chain(*moves.split()), tmp_path))
        assert nonconformance[0] == record and reason in nonconformance[1], nonconformance

    @pytest.mark.parametrize(
        ("spans", "record", "reason"),
        [
            ([(0, 5), (7, None)], 2, "left G (Registering) at another time"),
            ([(0, None), (7, None)], 2, "by line 1 the task has not left G"),
            ([(5, 4), (5, None)], 1, "it ends before it begins"),
        ],
    )
    def test_times(self, spans: list[tuple[int, int | None]], record: int, reason: str, tmp_path: Path) -> None:
        nonconformance = violates(check(chain("-G", "GQ", spans=spans), tmp_path))
        assert nonconformance[0] == record and reason in nonconformance[1], nonconformance
        assert broken(check(chain("-G", "GQ", spans=[(0, 5), (6, None)]), tmp_path)) == []  # seconds are rounded

    def test_an_error_has_no_length(self, tmp_path: Path) -> None:
        rows = chain("IR", "RE", "EG")
        rows[1]["exited_at"], rows[2]["entered_at"] = 11, 11
        assert "a row of E (ErrorRecoverable) has no length" in violates(check(rows, tmp_path))[1]

    def test_what_is_left_at_the_end(self, tmp_path: Path) -> None:
        assert "1 task has left the last status" in check(chain("-G", "GQ"), tmp_path).note


# --- Dumps


def dump(time: int, task: str = "", *instances: str, run: str = "", flow: str = "", most: int = 2) -> dict[str, Any]:
    """A dump: a task as ``R1`` (status, attempts), its instances as ``12R3`` (number, status, run), runs as ``3R``, the workflow's status."""
    tables: dict[str, Any] = {"time": time}
    if task:
        tables["task"] = [
            {"id": 7, "workflow_id": 1, "status": task[0], "num_attempts": int(task[1:]), "max_attempts": most}
        ]
        tables["task_instance"] = [
            {"id": int(i[:2]), "task_id": 7, "workflow_run_id": int(i[3:]), "status": i[2]} for i in instances
        ]
    if run:
        tables["workflow_run"] = [{"id": int(r[0]), "workflow_id": 1, "status": r[1]} for r in run.split()]
    if flow:
        tables["workflow"] = [{"id": 1, "status": flow}]
    return tables


RUNS = {"run": "3R", "flow": "R"}


class TestDumps:
    @each_row(
        "dumps",
        [
            [dump(0, "G0", **RUNS), dump(1, "D1", "12D3", **RUNS)],
            [dump(0, "R1", "12R3", **RUNS), dump(1, "R2", "12E3", "13T3", **RUNS)],
            [dump(0, "R2", "12E3", "13R3", **RUNS), dump(1, "F2", "12E3", "13U3", **RUNS)],
            # reset by a new run, and queued again
            [
                dump(0, "F2", "12E3", "13U3", run="3E", flow="F"),
                dump(1, "Q1", "12E3", "13U3", "14Q4", run="3E 4R", flow="R"),
            ],
            # a cold resume kills what runs
            [dump(0, "R1", "12R3", **RUNS), dump(1, "R1", "12K3", run="3C", flow="R")],
            [dump(0, run="3R", flow="R"), dump(1, run="3T 4R", flow="R")],
            [dump(0, run="3R", flow="R"), dump(1, run="3E", flow="D")],  # the reaper repairs it
            [dump(0, "R1", "12R3"), dump(1, "R1", "12R3")],
        ],
    )
    def test_conforms(self, dumps: list[dict[str, Any]], tmp_path: Path) -> None:
        assert check(dumps, tmp_path).verdict is LogVerdict.CONFORMS

    @each_row(
        ("dumps", "reason"),
        [
            # an end that is left
            ([dump(0, "D1", "12D3", **RUNS), dump(1, "R1", "12D3", **RUNS)], "task 7 was D (Done) and is R (Running)"),
            ([dump(0, "F2", "12E3", **RUNS), dump(1, "F2", "12R3", **RUNS)], "instance 12 was E (Error) and is R (Running); no rows"),
            ([dump(0, run="3E", flow="F"), dump(1, run="3R", flow="R")], "run 3 was E (Error) and is R (Running)"),
            # attempts: they do not shrink without a new run, they are counted, and they have a limit
            ([dump(0, "R2", "12E3", "13R3", **RUNS), dump(1, "R1", "12E3", "13R3", **RUNS)], "task 7.attempts is 2 in the model, 1 observed"),
            ([dump(0, "R1", "12R3", **RUNS), dump(1, "R2", "12R3", **RUNS)], "task 7.attempts is 1 in the model, 2 observed"),
            ([dump(0, "R3", "12R3", **RUNS)], "no task is attempted more often than it may be"),
            ([dump(0, "F2", "12E3", **RUNS), dump(1, "Q3", "12E3", "13Q3", **RUNS)], "no steps of the machine lead here"),
            # rows
            ([dump(0, "R1", "12R3", **RUNS), dump(1, "R1", **RUNS)], "instance 12 was R (Running) and is gone"),
            ([dump(0, "R1", "12R3", **RUNS), dump(1, "R1", "12R4", run="3R", flow="R")], "instance 12 has workflow_run_id 4, but 3 before"),
            # two of a kind alive
            ([dump(0, "R1", "12R3", **RUNS), dump(1, "R2", "12R3", "13R3", **RUNS)], "no steps of the machine lead here"),
            ([dump(0, run="3R 4R", flow="R")], "a workflow has at most one run under way"),
            ([dump(0, run="3R", flow="R"), dump(1, run="3R 4B", flow="R")], "no steps of the machine lead here"),
            # what does not fit together
            ([dump(0, "D1", "12R3", **RUNS)], "a task is done exactly when an instance of it is"),
            ([dump(0, "R1", "12D3", **RUNS)], "a task is done exactly when an instance of it is"),
            ([dump(0, "R1", "12R3", **RUNS), dump(1, "F1", "12E3", **RUNS)], "task 7.state is Registering in the model, ErrorFatal observed"),
            ([dump(0, "R1", "12R3", **RUNS), dump(1, "G1", "12Z3", **RUNS)], "no steps of the machine lead here"),
            ([dump(0, "R1", "12R3", **RUNS), dump(1, "R1", "12K3", **RUNS)], "no steps of the machine lead here"),  # nobody resumes
            ([dump(0, "G0", run="3S", flow="F"), dump(1, "Q1", "12Q3", run="3S", flow="F")], "no steps of the machine lead here"),
            ([dump(0, run="3R", flow="Q")], "the state of a workflow is the one that its run determines"),
        ],
    )  # fmt: skip
    def test_violates(self, dumps: list[dict[str, Any]], reason: str, tmp_path: Path) -> None:
        nonconformance = violates(check(dumps, tmp_path))
        assert nonconformance[0] == len(dumps) and reason in nonconformance[1], nonconformance

    def test_runs_that_are_not_shown_may_have_done_anything(self, tmp_path: Path) -> None:
        """Without the runs, a resume may have reset the task, or doomed the instance."""
        assert not broken(check([dump(0, "R2", "12E3", "13R3"), dump(1, "R1", "12E3", "13E3", "14R3")], tmp_path))
        assert not broken(check([dump(0, "R1", "12R3"), dump(1, "R1", "12K3")], tmp_path))

    def test_a_task_alone(self, tmp_path: Path) -> None:
        """Its instances are not shown: what may become of it is what some instance makes of it."""
        columns = [
            {"id": 7, "status": "R", "num_attempts": 1, "max_attempts": 2},
            {"id": 7, "status": "D", "num_attempts": 2, "max_attempts": 2},
        ]
        assert not broken(check([{"time": at, "task": [row]} for at, row in enumerate(columns)], tmp_path))
        record, _ = violates(check([{"time": at, "task": [row]} for at, row in enumerate(reversed(columns))], tmp_path))
        assert record == 2

    @pytest.mark.parametrize(
        ("before", "after"),
        [
            # a retry, or a first attempt, whose row no dump has
            (dump(0, "G1", "12E3", **RUNS), {"task": [{"id": 7, "status": "Q", "num_attempts": 2}]}),
            (dump(0, "G0", **RUNS), {"task": [{"id": 7, "status": "Q", "num_attempts": 1}]}),
            # a run that no dump has resumes the workflow, and resets the task
            (dump(0, run="3E", flow="F"), {"workflow": [{"id": 1, "status": "R"}]}),
            (dump(0, "F2", "12E3", "13U3", run="3E", flow="F"), {"task": [{"id": 7, "status": "G", "num_attempts": 0}]}),
            (dump(0, flow="G", run=""), {"workflow": [{"id": 1, "status": "Q"}]}),
            # a row of which no dump says whose it is
            (dump(0, "G1", "12E3", **RUNS), {**dump(1, "Q2", "12E3"), "task_instance": [{"id": 12}, {"id": 13}]}),
            (dump(0, run="3E", flow="F"), {**dump(1, flow="R"), "workflow_run": [{"id": 3}, {"id": 4}]}),
        ],
    )  # fmt: skip
    def test_what_a_dump_does_not_have_may_have_come(
        self, before: dict[str, Any], after: dict[str, Any], tmp_path: Path
    ) -> None:
        assert not broken(check([before, {**after, "time": 1}], tmp_path))

    @pytest.mark.parametrize(
        "dumps",
        [
            # a task is queued with its instance, in one transaction
            [dump(0, "G0", **RUNS), dump(1, "Q1", **RUNS)],
            # the second dump does not have the rows; the third has, and there is none
            [dump(0, "G0", **RUNS), {"time": 1, "task": [{"id": 7, "status": "Q", "num_attempts": 1}]}, dump(2, "Q1")],
            # a workflow is queued by a run
            [{**dump(0, flow="G"), "workflow_run": []}, {**dump(1, flow="Q"), "workflow_run": []}],
        ],
    )
    def test_what_a_later_dump_does_not_have_has_not_come(self, dumps: list[dict[str, Any]], tmp_path: Path) -> None:
        assert violates(check(dumps, tmp_path))[0] == 2

    def test_instances_alone(self, tmp_path: Path) -> None:
        dumps = [{"time": at, "task_instance": [{"id": 12, "status": status}]} for at, status in enumerate("QRTRD")]
        assert [b for _, b in broken(check(dumps, tmp_path))].count(TRIAGE) == 1
        record, reason = violates(check([*dumps, {"time": 9, "task_instance": [{"id": 12, "status": "T"}]}], tmp_path))
        assert record == 6 and "instance 12 was D (Done) and is T (Triaging)" in reason

    def test_a_nonconformance_says_what_could_have_been(self, tmp_path: Path) -> None:
        report = check([dump(0, "R1", "12T3", **RUNS), dump(1, "Q1", "12Q3", **RUNS)], tmp_path)
        assert report.first_nonconformance is not None
        (candidate,) = report.first_nonconformance.candidates
        could = {"Triaging", "Running", "Done", "Error", "ResourceError", "UnknownError", "ErrorFatal", "KillSelf"}
        # what is ErrorFatal may be taken up again, by a bulk update
        taken_up_again = {"Instantiated", "Launched", "NoHeartbeat", "NoDistributorId"}
        assert set(candidate.differs[0].model.split(" or ")) == could | taken_up_again

    def test_a_late_client_still_queues(self, tmp_path: Path) -> None:
        """Its run has been ended, and it has not heard of that."""
        dumps = [dump(0, "G0", run="3E", flow="F"), dump(1, "Q1", "12Q3", run="3E", flow="F")]
        assert broken(check(dumps, tmp_path)) == [(2, "only-the-live-run-queues")]

    def test_too_much_is_left_open(self, tmp_path: Path) -> None:
        """Without any status there are too many states: that is no conformance."""
        rows = [{"id": n, "task_id": 7} for n in range(12, 18)]
        report = check([{"time": 0, "task_instance": rows}, {"time": 1, "task_instance": rows}], tmp_path)
        assert report.verdict is LogVerdict.UNDETERMINED and "too many states" in report.note

    def test_a_nonconformance_counts_where_other_parts_are_open(self, tmp_path: Path) -> None:
        rows = [{"id": n, "task_id": 7} for n in range(12, 18)]
        runs = [[{"id": 3, "status": "D"}], [{"id": 3, "status": "R"}]]
        dumps = [{"time": at, "task_instance": rows, "workflow_run": run} for at, run in enumerate(runs)]
        assert violates(check(dumps, tmp_path))[0] == 2


# --- Events


def events_of(*texts: str) -> list[dict[str, Any]]:
    """Events of instance 12 by letter: a state it comes to, ``!`` and a letter an error, ``~XY`` and ``#XY`` refusals, ``>XY`` a move of run 3."""
    words = {"I": "INSTANTIATED", "O": "LAUNCHED in database", "R": "RUNNING in database", "D": "DONE in database"}
    lines: list[dict[str, Any]] = []
    for text in texts:
        line: dict[str, Any] = {"task_instance_id": 12}
        match text[0]:
            case "!":
                line |= {"event": "Task instance transitioned to error state", "error_state": text[1]}
            case "~" | "#":
                event = "Untimely transition rejected" if text[0] == "~" else "Invalid TaskInstance transition"
                line |= {"event": event, "current_status": text[1], "requested_status": text[2]}
            case ">":
                line = {"event": f"Workflow run transitioned from {text[1]} to {text[2]}", "workflow_run_id": 3}
            case "T":
                line["event"] = "Task instance set to TRIAGING (overdue from RUNNING)"
            case "X":
                line["event"] = "Task instance set to NO_HEARTBEAT (overdue from LAUNCHED)"
            case "K":
                line["event"] = "Task instance killed (KILL_SELF to ERROR_FATAL)"
            case state:
                line["event"] = f"Task instance transitioned to {words[state]}"
        lines.append(line)
    return lines


class TestEvents:
    @each_row(
        "texts",
        [
            "I O R D", "I R ~RO D", "I !W", "I O X !E", "R T R D", "R T !Z", "R T !U ~UD", "R K", "O K !F", "D I ~DU", "R !E #ER",
            "I !F", "O !U", "D", "R T D", "I K", ">GL >LB >BI >IO >OR >RD", ">RC >CT", ">RH", ">LA",
        ],
    )  # fmt: skip
    def test_conforms(self, texts: str, tmp_path: Path) -> None:
        assert check(events_of(*texts.split()), tmp_path).verdict is LogVerdict.CONFORMS

    @each_row(
        ("texts", "record", "reason"),
        [
            ("I O T", 3, "it cannot be R (Running)"),
            ("R D R", 3, "it was D (Done)"),
            ("R R", 2, "it was R (Running)"),
            ("O !W", 2, "it was O (Launched)"),
            ("R !W", 2, "it was R (Running)"),
            ("D K", 2, "it was D (Done)"),
            ("R ~RD", 2, "the table has such a row"),
            ("R #RD", 2, "the table has such a row"),
            ("R #RO", 2, "it is one of those that come too late"),
            ("R ~RQ", 2, "it is none of those that come too late"),
            ("D ~RO", 2, "it cannot be R (Running)"),
            (">GL >BI", 2, "it cannot be B (Bound)"),
            (">GB", 1, "it was G (Registered)"),
            (">IC", 1, "it was I (Instantiated)"),
            (">RD >DR", 2, "it was D (Done)"),
        ],
    )
    def test_violates(self, texts: str, record: int, reason: str, tmp_path: Path) -> None:
        nonconformance = violates(check(events_of(*texts.split()), tmp_path))
        assert nonconformance[0] == record and reason in nonconformance[1], nonconformance

    def test_what_a_worker_does_before_its_time(self, tmp_path: Path) -> None:
        """It reports before the distributor has; the launch that is reported then comes too late."""
        assert broken(check(events_of("I", "R", "~RO", "D"), tmp_path)) == []  # the bulk line leaves open what it was
        events = events_of(
            "#QD", "I", "R"
        )  # the same line, of an instance that was queued: now it was Instantiated when it began to run
        assert broken(check(events, tmp_path)) == [(3, "the-worker-moves-only-its-own")]
        assert broken(check(events_of("O", "R"), tmp_path)) == []

    @pytest.mark.long
    def test_tasks_are_refused_too(self, tmp_path: Path) -> None:
        line = {"event": "Invalid Task transition", "task_id": 7, "current_status": "D", "requested_status": "Q"}
        assert not broken(check([line], tmp_path))
        assert violates(check([{**line, "current_status": "G"}], tmp_path))[0] == 1

    def test_names_of_states_are_words_too(self, tmp_path: Path) -> None:
        line = {
            "event": "Task instance transitioned to error state",
            "task_instance_id": 12,
            "error_state": "UNKNOWN_ERROR",
        }
        assert not broken(check([line, *events_of("~UD")], tmp_path))


# --- What is said of it


def test_the_examples_conform(tmp_path: Path) -> None:
    text = (REFERENCE / "trace-formats.md").read_text("utf-8")
    section = text[text.index("## Logs of Jobmon") : text.index("## Logs of locks")]
    examples = re.findall(r"```\w+\n(.*?)\n```", section, re.S)
    reports = [check([example], tmp_path) for example in examples]
    assert [report.format for report in reports] == [AUDIT, DUMPS, EVENTS]
    assert not [b for report in reports for b in broken(report)]


# --- On the command line


def test_on_the_command_line(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", "jobmon", str(LOGS / "dumps-retry.jsonl")]) == 0
    assert "jobmon shipped: conforms (5 records, format jobmon-dumps)" in capfd.readouterr().out
    assert main(["validate", "jobmon", str(LOGS / "does-not-conform-dumps-two-runs.jsonl"), "--json", "-"]) == 1
    answer = json.loads(capfd.readouterr().out)
    assert answer["verdict"] == "violates" and answer["first_departure"]["record"] == 3


def test_another_variant_does_not_speak_of_this(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", "jobmon", str(LOGS / "dumps-retry.jsonl"), "--variant", "as-written"]) == 2
    assert "does not fit the variant 'as-written'; choose from shipped" in capfd.readouterr().err
    assert main(["validate", "jobmon", str(LOGS / "audit-resumed.csv"), "--log-version", "3.7"]) == 2
    assert "leave the version out" in capfd.readouterr().err
