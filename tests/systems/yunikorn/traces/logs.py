"""Logs of YuniKorn written from random runs of the tables that were copied by hand (for tests)."""

from __future__ import annotations

import json
import random
from typing import Any

from tests.systems.yunikorn.traces.brute_force import CODES, MESSAGES, RELEASES, Table, tables

KINDS = {kind: (message, names) for message, (kind, names) in MESSAGES.items()}
CODE_OF = {state: code for code, state in CODES.items()}


ENDS = (
    *("failApplication", "rejectApplication", "KillApplication", "FailApplication", "CompleteTask", "KillTask"),
    *("TaskRejected", "TaskFail"),
)
"""Events that are taken seldom, so that lives get far."""


def _rng(what: str, seed: int) -> tuple[random.Random, str]:
    rng = random.Random(f"{what} {seed}")
    return rng, RELEASES[seed % len(RELEASES)]


def run(table: Table, rng: random.Random, state: str, length: int, *, loops: bool) -> list[tuple[str, str, str]]:
    """Source, event, target, one after the other; ends happen late."""
    steps = []
    for _ in range(length):
        options = [(e, t) for (s, e), t in sorted(table.items()) if s == state and (loops or t != s)]
        if not options:
            break
        weights = [0.3 if event in ENDS else 1 for event, _ in options]
        event, target = rng.choices(options, weights)[0]
        steps.append((state, event, target))
        state = target
    return steps


def statelog(seed: int) -> list[dict[str, Any]]:
    """Applications of a release that has a state log."""
    rng = random.Random(f"statelog {seed}")
    release = rng.choice(RELEASES[1:])
    applications = []
    for number in range(rng.randint(1, 4)):
        changes = run(tables(release)["Application"], rng, "New", rng.randint(0, 9), loops=False)
        time, log = 10**18 + rng.randrange(10**9), []
        for _, _, state in changes:
            time += rng.choice([0, 1, 10**9])
            log.append({"time": time, "applicationState": state})
        last = log[-1]["applicationState"] if log else "New"
        application: dict[str, Any] = {"applicationID": f"app-{number}", "applicationState": last}
        if log or (release == RELEASES[1] and rng.random() < 0.5):
            application["stateLog"] = log
        applications.append(application)
    return applications


def events(seed: int) -> list[dict[str, Any]]:
    """Event records of several applications and a node, in turns; some were forgotten at the beginning."""
    rng = random.Random(f"events {seed}")
    release = rng.choice(RELEASES[1:])
    lives = []
    for number in range(rng.randint(1, 4)):
        states = [
            "New",
            *(t for _, _, t in run(tables(release)["Application"], rng, "New", rng.randint(0, 9), loops=False)),
        ]
        forgotten = rng.choice([0, 0, rng.randrange(len(states))])
        life = [_record(2, f"app-{number}", 1, CODE_OF[state]) for state in states[forgotten:]]
        life[0]["eventChangeType"] = 2 if not forgotten and rng.random() < 0.5 else 1
        lives.append(life)
    node = [
        _record(3, "node-1", 2, 0),
        _record(3, "node-1", 1, 302),
        _record(3, "node-1", 3, 300),
        _record(3, "node-1", 2, 0),
    ]
    lives.append(node[: rng.randint(0, 4)])
    lives.append([_record(4, "root.a", 2, 400), _record(2, "app-0", 2, 200)])
    return _shuffled(lives, rng)


def _record(kind: int, who: str, change: int, detail: int) -> dict[str, Any]:
    return {"type": kind, "objectID": who, "eventChangeType": change, "eventChangeDetail": detail, "timestampNano": 1}


def _shuffled(lives: list[list[Any]], rng: random.Random) -> list[Any]:
    """All of it, each life in its own order."""
    shuffled, left = [], [list(life) for life in lives if life]
    while left:
        life = rng.choice(left)
        shuffled.append(life.pop(0))
        left = [x for x in left if x]
    return shuffled


def log(seed: int) -> list[str]:
    """Lines of core and shim, in text and in JSON, of several objects in turns."""
    rng, release = _rng("log", seed)
    every, lives = tables(release), []
    for kind, count in (("Application", 2), ("object", 1), ("app", 1), ("task", 2), ("node", 1), ("scheduler", 1)):
        for number in range(count if every[kind] else 0):
            begin = "Active" if kind == "object" else "New"
            changes = run(every[kind], rng, begin, rng.randint(1, 8), loops=kind != "Application")
            if rng.random() < 0.2 and kind != "scheduler":
                changes = changes[1:]  # an older log has it
            lives.append([_line(kind, number, change, rng) for change in changes])
    lives.append(["2022-01-01 something else", '{"level":"info","msg":"something else"}'])
    return _shuffled(lives, rng)


def _line(kind: str, number: int, change: tuple[str, str, str], rng: random.Random) -> str:
    message, names = KINDS[kind]
    fields = {name: f"{name}-{number}" for name in names}
    if kind == "task":
        fields["app"] = "app-0"
    source, event, target = change
    fields |= {"source": source, "destination": target, "event": event}
    if rng.random() < 0.4:
        return json.dumps({"level": "debug", rng.choice(["msg", "M"]): message, **fields})
    return f"2022-01-01T00:00:00.000Z\tDEBUG\tx/y.go:1\t{message}\t{json.dumps(fields)}"
