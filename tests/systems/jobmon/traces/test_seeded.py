"""Seeded faults in the validator for Jobmon: a move less or a move more in the machine that checks, a rule of a format that is not applied.

The checks by hand, which share no code with the validator, must disagree with each of them on some log.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from schedproof.model.lang import Model
from schedproof.model.systems.jobmon import SHIPPED
from schedproof.proofs.systems.jobmon.traces import audit as jobmon_audit
from schedproof.proofs.systems.jobmon.traces import dump_index as jobmon_index
from schedproof.proofs.systems.jobmon.traces import dumps as jobmon_dumps
from schedproof.proofs.systems.jobmon.traces import events as jobmon_events
from schedproof.proofs.systems.jobmon.traces import life as jobmon_life
from schedproof.proofs.traces.files.lines import TextLine
from schedproof.proofs.traces.formats.format import Format, Plain, Requested
from tests.support.sample import thinned
from tests.systems.jobmon.traces.brute_force_dumps import validate_dumps
from tests.systems.jobmon.traces.brute_force_lines import validate_audit, validate_events
from tests.systems.jobmon.traces.logs import audit, dumps, events
from tests.systems.jobmon.traces.test_mutations import mutate_audit, mutate_dumps, mutate_events

Records = list[dict[str, Any]]


def dump(time: int, task: str, attempts: int, instances: str, run: str = "R", flow: str = "R") -> dict[str, Any]:
    """Task 7 in a status, with its instances by status, all of run 3."""
    return {
        "time": time,
        "workflow": [{"id": 1, "status": flow}],
        "workflow_run": [{"id": 3, "workflow_id": 1, "status": run}],
        "task": [{"id": 7, "workflow_id": 1, "status": task, "num_attempts": attempts, "max_attempts": 3}],
        "task_instance": [
            {"id": 12 + n, "task_id": 7, "workflow_run_id": 3, "status": i} for n, i in enumerate(instances)
        ],
    }


def refusal(current: str, requested: str = "R") -> dict[str, Any]:
    return {
        "event": "Invalid TaskInstance transition",
        "task_instance_id": 12,
        "current_status": current,
        "requested_status": requested,
    }


RUNNING = {"event": "Task instance transitioned to RUNNING in database", "task_instance_id": 12}
TRIAGED = {"event": "Task instance set to TRIAGING (overdue from RUNNING)", "task_instance_id": 12}
MOVED = {"id": 1, "task_id": 7, "entered_at": 0, "exited_at": None}
BY_HAND: dict[str, list[Records]] = {
    "dumps": [
        [dump(0, "R", 1, "R"), dump(1, "R", 1, "")],
        [dump(0, "R", 1, "R"), dump(1, "R", 1, "K")],
        [dump(0, "R", 2, "ER"), dump(1, "R", 1, "ER")],
        [dump(0, "R", 1, "R"), dump(1, "D", 1, "D")],
        [dump(0, "O", 1, "O"), dump(1, "R", 1, "R")],
        [dump(0, "R", 1, "R"), dump(1, "R", 1, "R", "E", "F")],
    ],
    "audit": [[{**MOVED, "previous_status": a, "new_status": b}] for a, b in ("AF", "OF", "RA", "RF")],
    "events": [
        [refusal("I", "E"), refusal("F")],
        [refusal("K", "T"), refusal("F")],
        [refusal("O", "D"), refusal("K", "T")],
        [RUNNING, TRIAGED, TRIAGED],
    ],
}
"""Small logs, each of one thing."""


def logs(kind: str) -> Iterator[tuple[Records, int | None]]:
    """Logs of a kind, mutated or not, each with what the check by hand says."""
    make, mutate, check = {
        "dumps": (dumps, mutate_dumps, validate_dumps),
        "audit": (audit, mutate_audit, validate_audit),
        "events": (events, mutate_events, validate_events),
    }[kind]
    yield from ((records, check(records)) for records in BY_HAND[kind])
    for seed in range(3, 33):  # the validator takes seconds for the dumps of run 2
        rng, records = random.Random(f"theta {kind} {seed}"), make(seed)
        for _ in range(seed % 3):
            if records:
                mutate(records, rng)
        if records:
            yield records, check(records)


def caught(kind: str, format_: Format, model: Model = SHIPPED) -> bool:
    """Some log is checked otherwise than by hand."""
    for records, by_hand in logs(kind):
        lines = [TextLine("trace", n, json.dumps(record)) for n, record in enumerate(records, start=1)]
        log = format_.read(model, lines, Requested())
        assert not isinstance(log, Plain)
        nonconformance = log.check().nonconformance
        if (nonconformance.record if nonconformance else None) != by_hand:
            return True
    return False


def without_row(sort: str, event: str, source: str) -> Model:
    rows = [r for r in SHIPPED.rows if (r.sort.name, r.event, r.source) != (sort, event, source)]
    assert len(rows) == len(SHIPPED.rows) - 1
    return plant(rows=rows)


def plant(**changes: Any) -> Model:
    """The model changed past its own checks: some of these it would find by itself."""
    model = object.__new__(Model)
    for name, value in {**vars(SHIPPED), **changes}.items():
        object.__setattr__(model, name, value)
    return model


MODELS: dict[str, Callable[[], Model]] = {
    "nobody starts from Launched": lambda: without_row("TaskInstance", "start", "Launched"),
    "what is done does not end the task": lambda: plant(
        rules=[r for r in SHIPPED.rules if r.name != "finish makes a task Done"]
    ),
    "no resume": lambda: plant(actions=[a for a in SHIPPED.actions if a.name != "register"]),
    "a hot resume resets nothing": lambda: plant(
        rules=[r for r in SHIPPED.rules if not r.name.endswith("resume resets tasks")]
    ),
    "a run does not err": lambda: plant(
        actions=[a for a in SHIPPED.actions if a.name not in ("err_run", "reap_running")]
    ),
    "the workflow stays as it is": lambda: plant(
        rules=[r for r in SHIPPED.rules if not r.name.endswith("moves the workflow")]
    ),
}


@pytest.mark.parametrize("name", thinned(MODELS, 3, first=1))
def test_models(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = MODELS[name]()
    monkeypatch.setattr(jobmon_dumps, "with_all_rows", lambda model: model_with_all(model))
    assert caught("dumps", jobmon_dumps.DUMPS, model)


def model_with_all(model: Model) -> Model:
    """The steps that nobody asks for, also of a model with a bug in it."""
    more = jobmon_life.with_all_rows(SHIPPED).actions[len(SHIPPED.actions) :]
    seeded = plant(**vars(model))
    object.__setattr__(seeded, "actions", [*model.actions, *more])
    return seeded


@pytest.mark.long
@pytest.mark.parametrize(
    "format_", thinned([jobmon_dumps.DUMPS, jobmon_audit.AUDIT, jobmon_events.EVENTS], 3, first=2), ids=lambda f: f.name
)
def test_nothing_is_caught_without_a_bug(format_: Format) -> None:
    assert not caught(format_.name.removeprefix("jobmon-"), format_)


def test_runs_may_have_been_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    """The steps of tasks do not ask for the runs."""

    def anything(model: Model, sort: str, state: str) -> frozenset[str]:
        return frozenset(s.name for s in SHIPPED.machine(sort).states)

    monkeypatch.setattr(jobmon_dumps, "led_from", anything)
    monkeypatch.setattr(jobmon_dumps, "led_to", anything)
    assert caught("dumps", jobmon_dumps.DUMPS)


def test_rows_that_are_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    shows = jobmon_index.DumpIndex.shows

    def blind(self: Any, dump: Any, sort: str, number: int) -> str | None:
        state = shows(self, dump, sort, number)
        return None if state == "Absent" else state

    monkeypatch.setattr(jobmon_index.DumpIndex, "shows", blind)
    assert caught("dumps", jobmon_dumps.DUMPS)


# A resume writes Running to Registering as well: without that row nothing changes.
@pytest.mark.parametrize("move", sorted(jobmon_audit.NEWER - {("Running", "Registering")}))
def test_the_newer_table(move: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobmon_audit, "NEWER", jobmon_audit.NEWER - {move})
    assert caught("audit", jobmon_audit.AUDIT)


def test_rules_of_audit_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(jobmon_audit._Audit, "times", lambda self, last, entry: None)
        assert caught("audit", jobmon_audit.AUDIT)
    monkeypatch.setattr(jobmon_audit, "ERROR", "nothing")
    assert caught("audit", jobmon_audit.AUDIT)


# An instance that is ended at once might as well have been doomed and have died: without that event nothing changes.
@pytest.mark.parametrize("event", sorted(jobmon_life.UNLOGGED["TaskInstance"].keys() - {"end_at_once"}))
def test_what_is_not_logged(event: str, monkeypatch: pytest.MonkeyPatch) -> None:
    known = {k: v for k, v in jobmon_life.UNLOGGED["TaskInstance"].items() if k != event}
    monkeypatch.setattr(jobmon_life, "UNLOGGED", {**jobmon_life.UNLOGGED, "TaskInstance": known})
    assert caught("events", jobmon_events.EVENTS)


@pytest.mark.long
def test_bulk_lines_and_refusals(monkeypatch: pytest.MonkeyPatch) -> None:
    read = jobmon_events._entry
    with monkeypatch.context() as patch:
        patch.setattr(jobmon_events, "_entry", lambda line, n: (e := read(line, n)) and replace(e, stays=False))
        assert caught("events", jobmon_events.EVENTS)
    monkeypatch.setattr(jobmon_events._Events, "_refusal", lambda self, entry: None)
    assert caught("events", jobmon_events.EVENTS)
