"""Logs of YuniKorn that cannot be checked: one line that says what, where and what to write instead."""

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
from schedproof.proofs.systems.yunikorn import traces
from schedproof.proofs.traces import TraceError, check_trace
from tests.support import places
from tests.support.rows import each_row
from tests.support.sample import thinned
from tests.systems.yunikorn.traces.brute_force_walk import random_walk
from tests.systems.yunikorn.traces.logs import events, log, statelog

SCHEMA = Path(traces.__file__).parent / "formats.schema.json"
DATA = places.DATA / "yunikorn"
FORMATS = ("yunikorn-statelog", "yunikorn-events", "yunikorn-walks", "yunikorn-log", "schedproof", "otel", "itf")
APPLICATION: dict[str, Any] = {
    "applicationID": "a",
    "applicationState": "Accepted",
    "stateLog": [{"time": 1, "applicationState": "Accepted"}],
}
EVENT: dict[str, Any] = {"type": 2, "objectID": "a", "eventChangeType": 1, "eventChangeDetail": 204}
CHANGE: dict[str, Any] = {"appID": "a", "source": "New", "destination": "Accepted", "event": "runApplication"}
STEP: dict[str, Any] = {"op": "addAsk", "key": "ask", "state": "Accepted"}
WALK: dict[str, Any] = {"gangStyle": "Soft", "placeholderAsk": 0, "steps": [STEP]}
LINE = f"x\tApplication state transition\t{json.dumps(CHANGE)}"


def refused(tmp_path: Path, *lines: Any, **options: Any) -> str:
    """The message; it must be one line."""
    path = tmp_path / "trace"
    path.write_text("\n".join(x if isinstance(x, str) else json.dumps(x) for x in lines), "utf-8")
    with pytest.raises(TraceError) as caught:
        check_trace("yunikorn", path, **options)
    message = str(caught.value)
    assert message and "\n" not in message and "Traceback" not in message
    return message


class TestRecognition:
    @each_row(
        ("lines", "format_"),
        [
            ([APPLICATION], "yunikorn-statelog"),
            ([[APPLICATION, APPLICATION]], "yunikorn-statelog"),
            ([{"applicationID": "a", "applicationState": "Running"}], "yunikorn-statelog"),
            ([{"Applications": [APPLICATION]}], "yunikorn-statelog"),
            ([EVENT], "yunikorn-events"),
            ([{"EventRecords": [EVENT]}], "yunikorn-events"),
            ([WALK], "yunikorn-walks"),
            ([LINE], "yunikorn-log"),
            (["2022 INFO begins", LINE], "yunikorn-log"),
            ([{"level": "info", "msg": "begins"}, {"level": "info", "msg": "Application state transition", **CHANGE}], "yunikorn-log"),
        ],
    )  # fmt: skip
    def test_by_content(self, lines: list[Any], format_: str, tmp_path: Path) -> None:
        path = tmp_path / "trace"
        for blank in ("", "\n\n"):
            path.write_text(blank + "\n".join(x if isinstance(x, str) else json.dumps(x) for x in lines), "utf-8")
            report = check_trace("yunikorn", path)
            assert (report.format, report.verdict.value) == (format_, "conforms")

    def test_nothing_known(self, tmp_path: Path) -> None:
        for text in ("a log of something else", {"a": 1}, [], "[1, 2]", '"text"'):
            message = refused(tmp_path, text)
            assert "line 1: unknown format; a known one" in message
            for begin in (
                '"stateLog"',
                '"EventRecords"',
                '"gangStyle"',
                '"Application state transition',
                '"schedproof": 1',
            ):
                assert begin.strip('"') in message
        assert "unknown format 'csv'; choose from " + ", ".join(FORMATS) in refused(tmp_path, EVENT, format="csv")

    def test_what_breaks_off(self, tmp_path: Path) -> None:
        """It is still known what it was to be."""
        for value, key in (
            (APPLICATION, '"stateLog"'),
            ({"EventRecords": [EVENT]}, '"eventChangeDetail"'),
            (WALK, '"steps"'),
        ):
            text = json.dumps(value, indent=1)
            for end in (text.index(key) + len(key) + 2, len(text) - 1, len(text) - 4):
                message = refused(tmp_path, text[:end])
                assert f"line {text[:end].rstrip().count(chr(10)) + 1}: not JSON" in message, message
        assert "line 2: not JSON" in refused(tmp_path, LINE, LINE[:-5])
        assert "line 2: not JSON" in refused(tmp_path, LINE, '{"msg": "Application state transition", "appID"')

    def test_two_formats_in_one_file(self, tmp_path: Path) -> None:
        assert 'line 2: "applicationID" is missing' in refused(tmp_path, APPLICATION, EVENT)
        assert 'line 2: "gangStyle" is missing' in refused(tmp_path, WALK, APPLICATION)
        assert "line 2: not JSON" in refused(tmp_path, EVENT, LINE)
        for other, name in ((APPLICATION, "statelog"), (EVENT, "events"), (WALK, "walks")):
            message = refused(tmp_path, LINE, other)
            assert f"line 2: a line of the format yunikorn-{name} in a log; check each format" in message
        assert 'line 2: "type" is missing' in refused(tmp_path, EVENT, APPLICATION)

    def test_a_forced_format_must_fit(self, tmp_path: Path) -> None:
        assert '"applicationID" is missing' in refused(tmp_path, EVENT, format="yunikorn-statelog")
        assert '"gangStyle" is missing' in refused(tmp_path, EVENT, format="yunikorn-walks")
        assert "a line of the format yunikorn-events" in refused(tmp_path, EVENT, format="yunikorn-log")

    def test_on_the_command_line(self, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
        path = tmp_path / "trace"
        path.write_text(json.dumps(APPLICATION)[:-9], "utf-8")
        assert main(["validate", "yunikorn", str(path)]) == 2
        out, err = capfd.readouterr()
        assert not out and "line 1: not JSON" in err and err.count("\n") == 1


def changed(value: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {k: v for k, v in {**value, **fields}.items() if v is not ...}


ENTRY = {"time": 1, "applicationState": "Accepted"}


@each_row(
    ("change", "message"),
    [
        ({"applicationID": 3}, '"applicationID": 3 is not a text; write a name as a text'),
        ({"applicationID": ""}, "applicationID"),
        ({"applicationState": ...}, '"applicationState" is missing'),
        ({"applicationState": "Runing"}, "unknown state 'Runing'; choose from New, Accepted, Starting, Running"),
        ({"applicationState": 1}, '"applicationState": 1 is not a text; write the state'),
        ({"stateLog": {}}, '"stateLog": an object is not a list [...] or null'),
        ({"stateLog": ["Accepted"]}, '"stateLog.0": "Accepted" is not an object {...}; write an entry as {"time"'),
        ({"stateLog": [{"time": 1}]}, '"applicationState" is missing'),
        ({"stateLog": [changed(ENTRY, time=...)]}, '"time" is missing'),
        ({"stateLog": [changed(ENTRY, time="1")]}, '"stateLog.0.time": "1" is not a whole number; write nanoseconds'),
        ({"stateLog": [changed(ENTRY, time=1.5)]}, "1.5 is not a whole number"),
        ({"stateLog": [changed(ENTRY, time=True)]}, "true is not a whole number"),
        ({"stateLog": [changed(ENTRY, applicationState="Waiting")]}, "unknown state 'Waiting'; choose from New, Accepted"),
    ],
)  # fmt: skip
def test_applications(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    error = refused(tmp_path, APPLICATION, changed(APPLICATION, **change))
    assert "line 2: " in error and message in error, error


def test_what_is_no_application(tmp_path: Path) -> None:
    assert "3 is not an application; write an object {...}" in refused(tmp_path, [APPLICATION, 3])
    assert "'x' is not an application; write an object {...}" in refused(tmp_path, {"Applications": ["x"]})


@each_row(
    ("change", "message"),
    [
        ({"type": "2"}, '"type": "2" is not a whole number; write "type" as a number'),
        ({"eventChangeDetail": "204"}, '"eventChangeDetail": "204" is not a whole number'),
        ({"eventChangeType": None}, '"eventChangeType": null is not a whole number'),
        ({"objectID": 7}, '"objectID": 7 is not a text'),
        ({"objectID": ...}, '"objectID" is missing; write the name of the application or node'),
        ({"timestampNano": "now"}, '"timestampNano": "now" is not a whole number'),
    ],
)
def test_events(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    error = refused(tmp_path, EVENT, changed(EVENT, **change))
    assert "line 2: " in error and message in error, error


def test_what_is_no_event(tmp_path: Path) -> None:
    assert "3 is not an event record; write an object {...}" in refused(tmp_path, EVENT, 3)
    assert '"EventRecords": "x" is not a list [...] or null' in refused(tmp_path, {"EventRecords": "x"})
    assert "'x' is not an event record; write an object {...}" in refused(tmp_path, {"EventRecords": ["x"]})


@each_row(
    ("message", "change", "says"),
    [
        ("Application state transition", {"appID": ...}, '"appID" is missing; write which object changes its state'),
        ("Application state transition", {"appID": 3}, '"appID": 3 is not a text'),
        ("Application state transition", {"source": ...}, '"source" is missing'),
        ("Application state transition", {"source": "Waiting"}, "unknown state 'Waiting'; choose from New, Accepted"),
        ("Application state transition", {"destination": 3}, '"destination": 3 is not a text'),
        ("Application state transition", {"event": "Run"}, "unknown event 'Run'; choose from runApplication, rejectApplication"),
        ("object transition", {}, '"object" is missing'),
        ("object transition", {"object": {}}, "unknown state 'Accepted'; choose from Active, Stopped, Draining"),
        ("shim app state transition", {"app": "a"}, "unknown event 'runApplication'; choose from SubmitApplication"),
        ("shim task state transition", {"app": "a"}, '"task" is missing'),
        ("shim task state transition", {"app": "a", "task": "t"}, "unknown state 'Accepted'; choose from New, Pending, Scheduling, TaskAllocated"),
        ("shim node state transition", {}, '"nodeID" is missing'),
        ("scheduler shim state transition", {"destination": "Draining"}, "unknown state 'Draining'; choose from New, Registering"),
    ],
)  # fmt: skip
def test_log_lines(message: str, change: dict[str, Any], says: str, tmp_path: Path) -> None:
    fields = changed(CHANGE, **change)
    for broken in (f"x\t{message}\t{json.dumps(fields)}", {"level": "info", "msg": message, **fields}):
        error = refused(tmp_path, LINE, broken)
        assert "line 2: " in error and says in error, error


def test_a_log_line_without_fields(tmp_path: Path) -> None:
    assert "line 2: Application state transition without fields" in refused(
        tmp_path, LINE, "x\tApplication state transition"
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"gangStyle": "soft"}, 'unknown value "soft"; choose from Soft, Hard; write "gangStyle"'),
        ({"placeholderAsk": -1}, "placeholderAsk"),
        ({"placeholderAsk": "2"}, '"placeholderAsk": "2" is not a whole number'),
        ({"steps": ...}, '"steps" is missing'),
        ({"steps": [3]}, '"steps.0": 3 is not an object {...}'),
        ({"steps": [changed(STEP, op="swap")]}, 'unknown value "swap"; choose from addAsk, addPlaceholderAsk, allocate'),
        ({"steps": [changed(STEP, key=...)]}, 'step 1: "key" is missing; addAsk needs it'),
        ({"steps": [changed(STEP, state=...)]}, '"state" is missing'),
        ({"steps": [changed(STEP, state="Waiting")]}, "unknown state 'Waiting'; choose from New, Accepted"),
        ({"steps": [changed(STEP, pending=-1)]}, "steps.0.pending"),
        ({"steps": [changed(STEP, stateTimer=1)]}, '"steps.0.stateTimer": 1 is not true or false'),
        ({"steps": [changed(STEP, stateUpdates=["Accepted"])]}, "steps.0.stateUpdates.0"),
        ({"steps": [changed(STEP, stateUpdates=["Waiting:x"])]}, "unknown state 'Waiting'; choose from New"),
        ({"steps": [STEP, STEP]}, "step 2: ask ask is added twice; give each ask its own key"),
        ({"steps": [changed(STEP, op="allocate")]}, "step 1: 'ask' is not an allocation; write \"ASK/ALLOCATION\""),
        ({"steps": [changed(STEP, op="allocate", key="b/u")]}, "step 1: ask b is allocated, but was never added"),
        ({"steps": [STEP, changed(STEP, op="allocate", key="ask/u", placeholder=True)]}, "step 2: ask ask was a real one"),
    ],
)  # fmt: skip
def test_walks(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    error = refused(tmp_path, WALK, changed(WALK, **change))
    assert "line 2: " in error and message in error, error


def test_the_schema_says_what_is_read() -> None:
    """Another program can check the JSON formats by the published schema alone."""
    schema = json.loads(SCHEMA.read_text("utf-8"))

    def fits(value: Any, definition: str) -> bool:
        chosen = {"$defs": schema["$defs"], "$ref": f"#/$defs/{definition}"}
        return not list(jsonschema.Draft202012Validator(chosen).iter_errors(value))

    assert all(fits(application, "application") for application in statelog(3))
    assert all(fits(record, "event") for record in events(3))
    assert fits({"EventRecords": events(3)}, "batch") and fits(random_walk(3), "walk")
    changes = [json.loads(line[line.index("{") :]) for line in log(3) if "transition" in line]
    assert len(changes) > 5 and all(fits(fields, "change") for fields in changes)
    for definition in ("application", "batch", "event", "change", "walk", "step"):
        assert not fits([1], definition) and not fits({"status": 1}, definition)


@pytest.mark.parametrize("chunk", thinned(range(2), 2))
def test_files_with_anything_in_them(chunk: int, tmp_path: Path) -> None:
    """Samples that are cut off, mixed and edited are checked, or refused in one line: nothing else."""
    path, seen = tmp_path / "trace", Counter()
    samples = [
        (DATA / name).read_text("utf-8") for name in ("statelog-1.0.json", "events-batch-1.6.json", "core-and-shim.log")
    ]
    samples.append((DATA / "walks-recorded.jsonl").read_text("utf-8").splitlines()[0])
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
                    value = rng.choice(["null", "-1", "1.5", '"x"', "[]", "{}", "true", '"Running"', "1e999", "NaN"])
                    text = text[: place[0]] + value + text[place[1] :]
                case _:
                    text += "\n" + rng.choice(samples)[:at]
        path.write_text(text, "utf-8")
        try:
            report = check_trace("yunikorn", path)
            assert json.dumps(report.as_json()) and report.text()
            seen[report.verdict.value] += 1
        except TraceError as error:
            seen["refused" if "\n" not in str(error) else "several lines"] += 1
    assert seen["conforms"] >= 20 and seen["refused"] >= 10 and not seen["several lines"], seen
