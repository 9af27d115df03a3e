"""Logs that Jobmon could have written: random runs of the shipped model, as dumps, audit rows and events."""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from schedproof.model.semantics import Instance, State, Stepper
from schedproof.model.systems.jobmon import REPAIRED, SHIPPED

Described = Mapping[str, Mapping[str, Mapping[str, Any]]]

TASK = {"Registering": "G", "Queued": "Q", "Instantiating": "I", "Launched": "O", "Running": "R", "Done": "D", "AdjustingResources": "A", "ErrorFatal": "F"}  # fmt: skip
INSTANCE = {
    "Queued": "Q", "Instantiated": "I", "Launched": "O", "Running": "R", "Triaging": "T", "Done": "D", "Error": "E", "ResourceError": "Z",
    "UnknownError": "U", "NoDistributorId": "W", "NoHeartbeat": "X", "KillSelf": "K", "ErrorFatal": "F",
}  # fmt: skip
RUN = {
    "Registered": "G", "Linking": "L", "Bound": "B", "Instantiated": "I", "Launched": "O", "Running": "R", "Done": "D", "Stopped": "S",
    "Error": "E", "ColdResume": "C", "HotResume": "H", "Terminated": "T", "Aborted": "A",
}  # fmt: skip
WORKFLOW = {"Registering": "G", "Queued": "Q", "Instantiating": "I", "Launched": "O", "Running": "R", "Done": "D", "Halted": "H", "Failed": "F", "Aborted": "A"}  # fmt: skip

MOST = (2, 1)
"""The attempts that each task may have."""

STATUS_TABLES = ("task", "task_instance", "workflow_run", "workflow")

DULL = {
    "client_dies",
    "distributor_dies",
    "worker_dies",
    "err_run",
    "stop_run",
    "run_is_late",
    "ask_cold",
    "ask_hot",
    "get_no_id",
    "terminate_run",
}
"""What would end most runs before anything has happened."""

LEASES = {"instance_is_late", "give_up_run", "distributor_starts", "plan_cold", "plan_hot"}
"""What is as dull in the repaired machine."""


@dataclass(frozen=True)
class Moment:
    """What the database shows after a step."""

    action: str
    shown: Described


@lru_cache(maxsize=8)
def stepper(variant: str, runs: int, tasks: tuple[int, ...], instances: int, begun: bool) -> Stepper:
    first = [begun and n == 0 for n in range(runs)]
    rigid = {
        ("Workflow", "begun"): [begun],
        ("WorkflowRun", "workflow"): [0] * runs,
        ("WorkflowRun", "begun"): first,
        ("WorkflowRun", "punctual"): [False] * runs,
        **{(sort, "run"): list(range(runs)) for sort in ("Client", "Distributor")},
        **{(sort, "begun"): first for sort in ("Client", "Distributor")},
        **{(sort, "mortal"): [True] * runs for sort in ("Client", "Distributor")},
        ("Task", "workflow"): [0] * len(tasks),
        ("Task", "most"): list(tasks),
        ("TaskInstance", "job"): list(range(instances)),
        ("TaskInstance", "punctual"): [False] * instances,
        ("Job", "mortal"): [True] * instances,
        ("Job", "fallible"): [True] * instances,
    }
    sizes = {
        **{"Workflow": 1, "Task": len(tasks)},
        **dict.fromkeys(("WorkflowRun", "Client", "Distributor"), runs),
        **dict.fromkeys(("TaskInstance", "Job"), instances),
    }
    return Stepper(Instance({"shipped": SHIPPED, "repaired": REPAIRED}[variant], sizes, rigid))


def walk(seed: int, length: int = 70, variant: str = "shipped") -> list[Moment]:
    """A random run; instances and runs are made in the order of their numbers, as a database does."""
    rng = random.Random(f"jobmon {seed}")
    steps = stepper(variant, 2 if seed % 3 else 3, MOST if seed % 2 else MOST[:1], 4, seed % 4 != 0)
    state = steps.instance.initial()
    moments = [Moment("", steps.instance.describe(state))]
    dull = DULL if variant == "shipped" else DULL | LEASES
    calm = 0.98 if seed % 5 else 0.7
    for _ in range(length):
        possible = [s for s in steps.steps(state) if s.after != state]
        possible = [s for s in possible if _in_order(steps.instance, s.after)]
        if not possible:
            break
        logged = [s for s in possible if s.choice.action not in dull]
        step = rng.choice(logged if logged and rng.random() < calm else possible)
        state = step.after
        moments.append(Moment(step.choice.action, steps.instance.describe(state)))
    return moments


def _in_order(instance: Instance, state: State) -> bool:
    for sort in ("TaskInstance", "WorkflowRun"):
        at = instance.slot(sort)
        absent = [each.name for each in SHIPPED.machine(sort).states].index("Absent")
        made = [number != absent for number in state[at : at + instance.sizes[sort]]]
        if made != sorted(made, reverse=True):
            return False
    return True


def number(name: str) -> int:
    return int("".join(c for c in name if c.isdigit()))


def rows(shown: Described) -> dict[str, list[dict[str, Any]]]:
    """The four tables."""
    return {
        "workflow": [{"id": number(n), "status": WORKFLOW[f["state"]]} for n, f in shown["Workflow"].items()],
        "workflow_run": [
            {"id": number(n), "workflow_id": 0, "status": RUN[f["state"]]}
            for n, f in shown["WorkflowRun"].items()
            if f["state"] != "Absent"
        ],
        "task": [
            {
                "id": number(n),
                "workflow_id": 0,
                "status": TASK[f["state"]],
                "num_attempts": f["attempts"],
                "max_attempts": MOST[number(n)],
            }
            for n, f in shown["Task"].items()
        ],
        "task_instance": [
            {
                "id": number(n),
                "task_id": number(f["task"]),
                "workflow_run_id": number(f["run"]),
                "status": INSTANCE[f["state"]],
            }
            for n, f in shown["TaskInstance"].items()
            if f["state"] != "Absent"
        ],
    }


def dumps(seed: int, sparse: int = 6, variant: str = "shipped") -> list[dict[str, Any]]:
    """Dumps of a run, with up to ``sparse`` steps between two of them."""
    rng = random.Random(f"dumps {seed}")
    moments, at, records = walk(seed, variant=variant), 0, []
    while at < len(moments):
        records.append({"time": at, **rows(moments[at].shown)})
        at += rng.randrange(1, sparse + 1)
    return records


def leave_out(records: list[dict[str, Any]], rng: random.Random) -> None:
    """Tables and columns that some dumps do not have; a table that is left out is left out of all."""
    table = rng.choice(["task", "task_instance", "workflow_run", "workflow", ""])
    column = rng.choice(["num_attempts", "max_attempts", "workflow_run_id", ""])
    for record in records:
        record.pop(table, None)
        if rng.random() < 0.2 and record.get("task"):
            record.pop("task")
        for row in (*record.get("task", ()), *record.get("task_instance", ())):
            row.pop(column, None)


def hide(records: list[dict[str, Any]], rng: random.Random) -> None:
    """Tables that any dumps do not have, or all from one on, and columns that any rows do not have."""
    seldom = rng.choice([0, 0.1, 0.3])
    for table in STATUS_TABLES:
        last = rng.randrange(len(records) + 1) if rng.random() < 0.3 else len(records)
        for at, record in enumerate(records):
            if at >= last or rng.random() < seldom:
                record.pop(table, None)
    seldom = rng.choice([0, 0.1, 0.5])
    for row in (row for record in records for table in STATUS_TABLES for row in record.get(table, ())):
        for column in ("task_id", "workflow_run_id", "workflow_id", "status", "num_attempts", "max_attempts"):
            if rng.random() < seldom:
                row.pop(column, None)


def audit(seed: int) -> list[dict[str, Any]]:
    """The rows of the tasks of a run."""
    rng = random.Random(f"audit {seed}")
    moments = walk(seed)
    rows: list[dict[str, Any]] = []
    last: dict[int, dict[str, Any]] = {}

    def add(task: int, source: str | None, target: str, time: int) -> None:
        if task in last and last[task]["exited_at"] is None:
            last[task]["exited_at"] = time
        row = {"id": len(rows) + 1, "task_id": task, "workflow_id": 0, "previous_status": source, "new_status": target}
        last[task] = {**row, "entered_at": time, "exited_at": time if target == "E" else None}
        rows.append(last[task])

    for name in moments[0].shown["Task"]:
        add(number(name), None, "G", 0)
    for time, (before, after) in enumerate(itertools.pairwise(moments), start=1):
        for name, fields in after.shown["Task"].items():
            source, target = TASK[before.shown["Task"][name]["state"]], TASK[fields["state"]]
            if source == target:
                continue
            failed = after.action != "register" and source in "IOR" and target in "GAF"
            direct = (source == "R") if target in "GA" else source in "RO"
            if failed and (not direct or (target != "F" and rng.random() < 0.5)):
                add(number(name), source, "E", time)
                source = "E"
            add(number(name), source, target, time)
    return rows


EVENT_TEXTS = {
    "I": "Task instance transitioned to INSTANTIATED",
    "O": "Task instance transitioned to LAUNCHED in database",
    "R": "Task instance {n} transitioned to RUNNING in database",
    "D": "Task instance {n} transitioned to DONE in database",
    "T": "Task instance set to TRIAGING (overdue from RUNNING)",
    "X": "Task instance set to NO_HEARTBEAT (overdue from LAUNCHED)",
}


def events(seed: int) -> list[dict[str, Any]]:
    """The events of a run, with bulk lines for instances that did not move."""
    rng = random.Random(f"events {seed}")
    moments = walk(seed)
    lines: list[dict[str, Any]] = []
    for time, (before, after) in enumerate(itertools.pairwise(moments), start=1):
        for name, fields in after.shown["TaskInstance"].items():
            n, was, now = number(name), before.shown["TaskInstance"][name]["state"], fields["state"]
            line: dict[str, Any] = {"timestamp": time, "level": "info", "task_instance_id": n}
            if now != "Absent" and now == was and rng.random() < 0.02:
                lines.append({**line, "event": EVENT_TEXTS["I"]})
            if now == was:
                continue
            letter = INSTANCE[now]
            if letter in "EZUWF" and after.action not in ("wind_up", "reap_resumed"):
                how = rng.randrange(3) if was == "KillSelf" else 1
                if how == 0:
                    lines.append({**line, "event": "Task instance killed (KILL_SELF to ERROR_FATAL)"})
                elif how == 1:
                    lines.append({**line, "event": "Task instance transitioned to error state", "error_state": letter})
            elif letter in EVENT_TEXTS and not (letter == "R" and was == "Triaging"):
                lines.append({**line, "event": EVENT_TEXTS[letter].format(n=n)})
        for name, fields in after.shown["WorkflowRun"].items():
            was, now = before.shown["WorkflowRun"][name]["state"], fields["state"]
            if was == now or was == "Absent" or after.action.startswith("reap"):
                continue
            text = f"Workflow run transitioned from {RUN[was]} to {RUN[now]}"
            lines.append(
                {
                    "timestamp": time,
                    "event": text,
                    "workflow_run_id": number(name),
                    "old_status": RUN[was],
                    "new_status": RUN[now],
                }
            )
    return lines
