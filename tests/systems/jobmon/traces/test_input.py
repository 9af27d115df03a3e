"""What is no log of Jobmon is refused in one line that says where it is wrong; the schema says what is read."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from schedproof.cli import main
from schedproof.proofs.systems.jobmon import traces
from schedproof.proofs.traces import TraceError, check_trace
from tests.support import places
from tests.support.rows import each_row
from tests.support.sample import thinned
from tests.systems.jobmon.traces.logs import audit, dumps, events

SCHEMA = Path(traces.__file__).parent / "formats.schema.json"
DATA = places.DATA / "jobmon"
ROW: dict[str, Any] = {"id": 1, "task_id": 7, "workflow_id": 1, "previous_status": None, "new_status": "G", "entered_at": 0, "exited_at": 5}  # fmt: skip
NEXT: dict[str, Any] = {**ROW, "id": 2, "previous_status": "G", "new_status": "Q", "entered_at": 5, "exited_at": None}
TASK: dict[str, Any] = {"id": 7, "workflow_id": 1, "status": "R", "num_attempts": 1, "max_attempts": 2}
INSTANCE: dict[str, Any] = {"id": 12, "task_id": 7, "workflow_run_id": 3, "status": "R"}
DUMP: dict[str, Any] = {"time": 0, "task": [TASK], "task_instance": [INSTANCE]}
EVENT: dict[str, Any] = {"event": "Task instance transitioned to LAUNCHED in database", "task_instance_id": 12}
RUN: dict[str, Any] = {"event": "Workflow run transitioned from R to D", "workflow_run_id": 3, "old_status": "R", "new_status": "D"}  # fmt: skip
REFUSED: dict[str, Any] = {"event": "Untimely transition rejected", "task_instance_id": 12, "current_status": "O", "requested_status": "O"}  # fmt: skip
HEADER = "id,task_id,previous_status,new_status,entered_at,exited_at"


def refused(tmp_path: Path, *lines: Any, **options: Any) -> str:
    """The message; it must be one line."""
    path = tmp_path / "trace"
    path.write_text("\n".join(x if isinstance(x, str) else json.dumps(x) for x in lines), "utf-8")
    with pytest.raises(TraceError) as caught:
        check_trace("jobmon", path, **options)
    message = str(caught.value)
    assert message and "\n" not in message and "Traceback" not in message
    return message


def changed(value: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {k: v for k, v in {**value, **fields}.items() if v is not ...}


@each_row(
    ("lines", "format_"),
    [
        ([ROW, NEXT], "jobmon-audit"),
        ([HEADER, "1,7,,G,2026-02-01 12:00:00,"], "jobmon-audit"),
        ([DUMP], "jobmon-dumps"),
        ([{"workflow": [], "time": 1}], "jobmon-dumps"),
        ([EVENT], "jobmon-events"),
        ([RUN], "jobmon-events"),
        ([{"event": "server starts"}, EVENT], "jobmon-events"),
        (["2026-02-01 [info] server starts", "[info] Task instance 12 transitioned to RUNNING in database task_instance_id=12"], "jobmon-events"),
    ],
)  # fmt: skip
def test_formats_are_recognised_by_content(lines: list[Any], format_: str, tmp_path: Path) -> None:
    path = tmp_path / "trace"
    path.write_text("\n\n".join(x if isinstance(x, str) else json.dumps(x) for x in lines), "utf-8")
    report = check_trace("jobmon", path)
    assert (report.format, report.verdict.value) == (format_, "conforms")


def test_nothing_known(tmp_path: Path) -> None:
    for text in ("a log of something else", {"a": 1}, "[1, 2]"):
        message = refused(tmp_path, text)
        assert "line 1: unknown format; a known one" in message
        assert (
            "task_status_audit" in message
            and '"task_instance": [...]' in message
            and "Task instance transitioned" in message
        )
    assert "unknown format 'csv'; choose from jobmon-audit, jobmon-dumps, jobmon-events, schedproof" in refused(
        tmp_path, DUMP, format="csv"
    )


@pytest.mark.parametrize("first", [ROW, DUMP, EVENT])
def test_what_breaks_off(first: dict[str, Any], tmp_path: Path) -> None:
    """The first line is whole: so it is known what it is."""
    text = json.dumps({**first, **({"id": 2} if first is ROW else {})})
    for end in (len(text) - 1, len(text) // 2, 1):
        assert "line 2: not JSON" in refused(tmp_path, first, text[:end])


@each_row(
    ("change", "message"),
    [
        ({"id": ...}, '"id" is missing; write a row as {"id": 1, "task_id": 7, '),
        ({"id": "2"}, '"id": "2" is not a whole number; write an id'),
        ({"id": 1}, "id 1 after id 1; rows stand in the order of their ids"),
        ({"id": -1}, '"id"'),
        ({"task_id": None}, '"task_id": null is not a whole number'),
        ({"previous_status": ...}, '"previous_status" is missing'),
        ({"new_status": "S"}, "\"new_status\": unknown status 'S' of tasks; choose from G (Registering)"),
        ({"previous_status": "Registering"}, "unknown status"),
        ({"new_status": None}, '"new_status": null is not a text'),
        ({"entered_at": None}, '"entered_at": null is not a text or a number'),
        ({"entered_at": "noon"}, "'noon' is not a time; write a number or a text such as"),
        ({"entered_at": True}, '"entered_at": true is not a text or a number'),
        ({"entered_at": -5}, '"entered_at" is before that of line 1, of the same task'),
        ({"exited_at": "tomorrow"}, "\"exited_at\": 'tomorrow' is not a time"),
        ({"entered_at": 1e30}, "is not a time"),
    ],
)
def test_audit_rows(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    error = refused(tmp_path, ROW, changed(NEXT, **change))
    assert "line 2: " in error and message in error, error


@each_row(
    ("line", "message"),
    [
        ("2,7,G,Q,5", "5 columns where the header has 6"),
        ("two,7,G,Q,5,", "\"id\": 'two' is not a whole number"),
        (",7,G,Q,5,", '"id": null is not a whole number'),
        ("2,7,G,X,5,", "unknown status 'X' of tasks"),
        ('2,7,"G,Q,5,', "not CSV"),
        ("2,7,G,Q,soon,", "'soon' is not a time"),
        ("2,7,G,Q,2026-02-01 12:00:00,2026-02-01 12:0", "'2026-02-01 12:0' is not a time"),  # the file breaks off
        ("2,7,G,Q,2026-02-01 12:00:00,2026-02-01", "'2026-02-01' is not a time"),
        ("2,7,G,Q,3,", '"entered_at" is before that of line 2'),
    ],
)
def test_csv(line: str, message: str, tmp_path: Path) -> None:
    error = refused(tmp_path, HEADER, "1,7,,G,4,5", line)
    assert "line 3: " in error and message in error, error


def test_a_column_that_is_missing(tmp_path: Path) -> None:
    message = refused(tmp_path, "id,task_id,previous_status,new_status,entered_at", "1,7,,G,4")
    assert 'line 1: the header: "exited_at" is missing; write id,task_id,' in message


def test_a_column_that_stands_twice(tmp_path: Path) -> None:
    """Which of the two counts, nobody could say."""
    assert 'line 1: the header: "id" is written twice; write id,task_id,' in refused(
        tmp_path, f"{HEADER},id", "1,7,,G,4,5,9"
    )


def test_csv_may_be_in_quotes(tmp_path: Path) -> None:
    """As databases export it."""
    path = tmp_path / "trace"
    path.write_text("\n".join(",".join(f'"{v}"' for v in line.split(",")) for line in (HEADER, "1,7,,G,4,5")), "utf-8")
    report = check_trace("jobmon", path)
    assert (report.format, report.records, report.verdict.value) == ("jobmon-audit", 1, "conforms")


@each_row(
    ("change", "message"),
    [
        ({"time": ...}, '"time" is missing'),
        ({"time": "2026-02-01T12:00:00"}, "and 0 of line 1 cannot be compared; write all times as numbers, or all as texts"),
        ({"time": ...}, 'write a dump as {"time": 5, "task": [...]'),
        ({"time": -1}, '"time": -1 is before 0 of line 1; records stand in the order of time'),
        ({"time": "later"}, "'later' is not a time"),
        ({"time": None}, '"time": null is not a text or a number'),
        ({"jobs": []}, 'unknown field "jobs"; choose from'),
        ({"task": {}}, '"task": an object is not a list [...]'),
        ({"task": [3]}, '"task.0": 3 is not an object {...}; write a row as'),
        ({"task": [changed(TASK, id=...)]}, '"task.0": "id" is missing'),
        ({"task": [changed(TASK, status="S")]}, "\"task.0.status\": unknown status 'S' of tasks"),
        ({"task": [changed(TASK, num_attempts=-1)]}, '"task.0.num_attempts"'),
        ({"task": [changed(TASK, max_attempts=0)]}, '"task.0.max_attempts"'),
        ({"task": [changed(TASK, num_attempts="1")]}, '"task.0.num_attempts": "1" is not a whole number'),
        ({"task": [TASK, TASK]}, '"task.1": id 7 is in two rows of one dump'),
        ({"task_instance": [changed(INSTANCE, status="B")]}, "\"task_instance.0.status\": unknown status 'B' of instances"),
        ({"task_instance": [changed(INSTANCE, task_id="7")]}, '"task_instance.0.task_id": "7" is not a whole number'),
        ({"workflow_run": [{"id": 3, "status": "Q"}]}, "unknown status 'Q' of runs"),
        ({"workflow": [{"id": 3, "status": ""}]}, '"workflow.0.status"'),
    ],
)  # fmt: skip
def test_dumps(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    error = refused(tmp_path, DUMP, changed(DUMP, **change))
    assert "line 2: " in error and message.replace("an instance", "a instance") in error.replace(
        "an instance", "a instance"
    ), error


@each_row(
    ("line", "message"),
    [
        (changed(EVENT, task_instance_id=...), '"task_instance_id" is missing; write the id'),
        (changed(EVENT, task_instance_id="12"), '"task_instance_id": "12" is not a whole number or null'),
        ({"event": "Task instance 13 transitioned to RUNNING in database", "task_instance_id": 12}, "is 12, but the message speaks of 13"),
        ({"event": "Task instance transitioned to error state", "task_instance_id": 12}, '"error_state" is missing'),
        ({"event": "Task instance transitioned to error state", "task_instance_id": 12, "error_state": "D"}, "D (Done) is not a state of error"),
        ({"event": "Task instance transitioned to error state", "task_instance_id": 12, "error_state": "B"}, "unknown status 'B'"),
        (changed(RUN, workflow_run_id=...), '"workflow_run_id" is missing'),
        (changed(RUN, new_status="E"), '"new_status" is E, but the message says D'),
        (changed(RUN, event="Workflow run transitioned from R to Q", new_status=...), "unknown status 'Q' of runs"),
        (changed(REFUSED, requested_status=...), '"requested_status" is missing'),
        (changed(REFUSED, current_status=3), '"current_status": 3 is not a text'),
        (json.dumps([EVENT, EVENT]), "a list; write each event as a line of its own"),
        ({"message": "no event"}, '"event" is missing'),
        (changed(EVENT, timestamp="soon"), "'soon' is not a time"),
        (changed(EVENT, timestamp=3), '"timestamp": 3 is before 5 of line 1'),
    ],
)  # fmt: skip
def test_events(line: Any, message: str, tmp_path: Path) -> None:
    error = refused(tmp_path, {**EVENT, "timestamp": 5}, line)
    assert "line 2: " in error and message in error, error


def test_on_the_command_line(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "trace"
    path.write_text(json.dumps(DUMP)[:-9], "utf-8")
    assert main(["validate", "jobmon", str(path), "--format", "jobmon-dumps"]) == 2
    out, err = capfd.readouterr()
    assert not out and "line 1: not JSON" in err and err.count("\n") == 1


def test_the_schema_says_what_is_read() -> None:
    """Another program can check the JSON formats by the published schema alone."""
    schema = json.loads(SCHEMA.read_text("utf-8"))

    def fits(value: Any, definition: str) -> bool:
        chosen = {"$defs": schema["$defs"], "$ref": f"#/$defs/{definition}"}
        return not list(jsonschema.Draft202012Validator(chosen).iter_errors(value))

    assert all(fits(row, "audit") for row in audit(3))
    assert all(fits(dump, "dump") for dump in dumps(3))
    assert all(fits(line, "event") for line in events(3))
    for definition in ("audit", "dump", "event"):
        assert not fits([1], definition) and not fits({"status": 1}, definition)


@pytest.mark.long
@pytest.mark.parametrize("chunk", thinned(range(2), 2))
def test_files_with_anything_in_them(chunk: int, tmp_path: Path) -> None:
    """Samples that are cut off, mixed and edited are checked, or refused in one line: nothing else."""
    path, seen = tmp_path / "trace", Counter[str]()
    samples = [p.read_text("utf-8") for p in sorted(DATA.iterdir()) if p.suffix != ".md"]
    for seed in range(chunk * 60, chunk * 60 + 60):
        rng = random.Random(f"anything {seed}")
        text = rng.choice(samples)
        for _ in range(seed % 3):
            at = rng.randrange(len(text))
            match rng.randrange(4):
                case 0:
                    text = text[: at + 1]
                case 1:
                    text = text[:at] + rng.choice(["{", "}", "[", '"', ",", "\x00", "3", "null", "é"]) + text[at + 1 :]
                case 2:
                    values = list(re.finditer(r': *("[^"]*"|\d+|null|true|false)', text))
                    place = rng.choice(values).span(1) if values else (at, at)
                    value = rng.choice(
                        ["null", "-1", "1.5", '"x"', "[]", "{}", "true", '"R"', "1e999", "NaN", "9" * 30]
                    )
                    text = text[: place[0]] + value + text[place[1] :]
                case _:
                    text += "\n" + rng.choice(samples)[:at]
        path.write_text(text, "utf-8")
        try:
            report = check_trace("jobmon", path)
            assert json.dumps(report.as_json()) and report.text()
            seen[report.verdict.value] += 1
        except TraceError as error:
            seen["refused" if "\n" not in str(error) else "several lines"] += 1
    assert seen["conforms"] >= 10 and seen["refused"] >= 10 and not seen["several lines"], seen
