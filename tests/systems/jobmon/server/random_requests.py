"""Random requests to Jobmon's server (for tests)."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

from schedproof.impl.systems.jobmon import requests as ask
from schedproof.impl.systems.jobmon.records import (
    ENDED,
    RESUMING,
    UNFINISHED,
    InstanceState,
    Records,
    RunState,
    TaskState,
)
from schedproof.impl.systems.jobmon.requests import Request, TaskSpec

TASKS = (
    TaskSpec("a", "x", resources=(("memory", 1),), max_attempts=2),
    TaskSpec("b", "y", upstream=("a",), resources=(("memory", 1),), max_attempts=1),
    TaskSpec("c", "z", resources=(("memory", 1),), max_attempts=2),
)


def random_requests(seed: int, number: int, now: Callable[[], Records]) -> Iterator[Request]:
    """About a workflow of three tasks, three runs and a few instances: half of them what helps something on."""
    rng = random.Random(seed)
    yield ask.Register("w", TASKS)
    for _ in range(number):
        run, i = rng.randint(1, 3), rng.randint(1, 8)
        job, token, asker = f"j{i}", f"t{i}", f"j{rng.choice([i, i, i, 0])}"
        state = rng.choice(["LINKING", "BOUND", "INSTANTIATED", "LAUNCHED", "RUNNING"])
        choices: list[Request] = [
            ask.CreateRun(1, f"run {run}", rng.random() < 0.5),
            *[ask.AdvanceRun(run, RunState[state])] * 6,
            ask.RenewRun(run, rng.choice(list(RunState))),
            *[ask.QueueTask(run, rng.randint(1, 3), rng.randint(1, 2), rng.choice([None, (("memory", 2),)]))] * 3,
            ask.FinishRun(run, rng.choice([RunState.DONE, RunState.ERROR])),
            ask.ReadWorkflow(1),
            ask.ReadRun(run),
            ask.FindWork(),
            *[ask.Claim(i, "d", token)] * 3,
            *[ask.Launched(i, token, job)] * 3,
            ask.SubmissionFailed(i, token),
            ask.GiveUp(i, token),
            ask.RenewLaunched(tuple(range(1, i)), "d"),
            ask.JobOver(i, rng.choice(list(InstanceState)), rng.random() < 0.5),
            *[ask.Start(i, asker)] * 3,
            ask.RenewInstance(i, asker),
            *[ask.End(i, asker, rng.choice([InstanceState.DONE, InstanceState.ERROR, InstanceState.RESOURCE_ERROR]))]
            * 2,
            ask.Killed(i, asker),
            ask.HandBack(i),
            *[ask.Fence(i)] * 2,
            ask.Lapse(i),
            ask.FindDead(),
            ask.ReapRun(run),
            ask.WindUp(run),
        ]
        if rng.random() < 0.5:
            choices = list(_helpful(rng, now())) or choices
        if rng.random() < 0.03:
            choices = [ask.AskResume(run, rng.random() < 0.5), ask.FinishRun(run, RunState.STOPPED), ask.Clear(run)]
        yield rng.choice(choices)


def _helpful(rng: random.Random, records: Records) -> Iterator[Request]:
    way = [RunState(letter) for letter in "GLBIOR"]
    for run in records.runs:
        if run.status in way[:-1]:
            yield ask.AdvanceRun(run.id, way[way.index(run.status) + 1])
        if run.status in way:
            yield ask.RenewRun(run.id, run.status)
        if run.status is RunState.RUNNING:
            for task in records.tasks:
                resources = (("memory", 2),) if task.status is TaskState.ADJUSTING else None
                yield ask.QueueTask(run.id, task.id, task.num_attempts + 1, resources)
        if run.status in RESUMING:
            yield ask.WindUp(run.id)
    if records.runs and all(run.status in ENDED for run in records.runs):
        yield ask.Clear(len(records.runs))
        yield ask.CreateRun(1, f"run {len(records.runs) + 1}", rng.random() < 0.5)
    for it in records.instances:
        if it.status in UNFINISHED:
            i = it.id
            yield from {
                "Q": [ask.Claim(i, "d", f"t{i}")],
                "I": [ask.GiveUp(i, f"t{i}") if it.doomed else ask.Launched(i, f"t{i}", f"j{i}")],
                "O": [ask.JobOver(i, it.status) if it.doomed else ask.Start(i, f"j{i}")],
                "R": [ask.End(i, f"j{i}", rng.choice([InstanceState.DONE, InstanceState.RESOURCE_ERROR]))],
                "T": [ask.JobOver(i, it.status) if it.fenced else ask.Fence(i)],
            }.get(it.status, [ask.JobOver(i, it.status)])


def goes_on(seed: int, number: int) -> float:
    """By how much the clock goes on before a request."""
    return random.Random(seed * 1000 + number).choice([0.0, 0.1, 0.1, 0.3, 1.0])
