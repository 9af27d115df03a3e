"""What the repaired model of Jobmon requires of every state, asked of the simulated world (for tests).

Written by hand, with the names of the model's properties; ``test_world`` checks that none is left out. Properties of steps and of
final states cannot be asked of one state: the refinement compares steps, and walks come to rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import combinations

from schedproof.impl.systems.jobmon.client import ClientMemory
from schedproof.impl.systems.jobmon.distributor import Act, DistributorMemory
from schedproof.impl.systems.jobmon.records import FINAL, Records
from schedproof.impl.systems.jobmon.world import NOW, World

OPEN, ON_ITS_WAY = "QIORTX", "GLBIORCH"
TASK_OF = {**dict(zip("QIORTXD", "QIORROD", strict=True)), **dict.fromkeys("EUWF", "GF"), "Z": "AGF"}
"""What a task may be when its latest instance is in a state."""
WORKFLOW_OF = {"L": "G", "B": "Q", "I": "I", "O": "O", "R": "R", "C": "QR", "H": "QR"}
"""What a workflow may be when its run is in a state."""
AT_REST = "GAFHD"


def unique(values: Iterable[object]) -> bool:
    items = list(values)
    return len(set(items)) == len(items)


def done_iff_an_instance_is(r: Records) -> bool:
    done = {i.task_id for i in r.instances if i.status == "D"}
    return all((t.status == "D") == (t.id in done) for t in r.tasks)


def images(r: Records) -> bool:
    latest = {i.task_id: i.status for i in r.instances}
    return all(t.status in (TASK_OF[latest[t.id]] if t.id in latest else "G") for t in r.tasks)


def latest_are_open(r: Records) -> bool:
    latest = {i.task_id: i.id for i in r.instances}
    return all(latest[i.task_id] == i.id for i in r.instances if i.status in OPEN)


def one_run(r: Records, states: str) -> bool:
    return unique(run.workflow_id for run in r.runs if run.status in states)


def of_one_workflow(r: Records) -> bool:
    return all(
        i.workflow_id == r.tasks[i.task_id - 1].workflow_id == r.runs[i.workflow_run_id - 1].workflow_id
        for i in r.instances
    )


def at_rest(r: Records) -> bool:
    busy = {run.workflow_id for run in r.runs if run.status in WORKFLOW_OF}
    return all(w.id in busy or w.status in AT_REST for w in r.workflows)


def held(world: World) -> list[set[int]]:
    """What each distributor has claimed and not launched yet, as it remembers."""
    acts = {Act.SUBMIT, Act.LAUNCH, Act.SAY_FAILED, Act.GIVE_UP}
    memories = [slot.memory for slot in world.slots.values() if isinstance(slot.memory, DistributorMemory)]
    return [{todo.instance for todo in memory.todo if todo.act in acts} for memory in memories]


def clients_have_their_runs(world: World, r: Records) -> bool:
    return all(
        slot.memory.run is None or r.runs[slot.memory.run - 1].token == f"{name}.{slot.life}"
        for name, slot in world.slots.items()
        if isinstance(slot.memory, ClientMemory)
    )


PROPERTIES: dict[str, Callable[[World, Records], bool]] = {
    "one-live-instance": lambda world, r: unique(task for task, _ in world.acting()),
    "done-iff-an-instance-is-done": lambda world, r: done_iff_an_instance_is(r),
    "task-is-the-image-of-its-instance": lambda world, r: images(r),
    "attempts-within-the-maximum": lambda world, r: all(t.num_attempts <= t.max_attempts for t in r.tasks),
    "one-live-run": lambda world, r: one_run(r, "LBIORCH"),
    "workflow-is-the-image-of-its-run": lambda world, r: all(
        r.workflows[run.workflow_id - 1].status in WORKFLOW_OF[run.status]
        for run in r.runs
        if run.status in WORKFLOW_OF
    ),
    "done-workflows-have-done-tasks": lambda world, r: all(
        t.status == "D" for t in r.tasks if r.workflows[t.workflow_id - 1].status == "D"
    ),
    "instances-have-a-task": lambda world, r: of_one_workflow(r),
    "latest-instances-are-there": lambda world, r: all(
        t.status in "GF" or any(i.task_id == t.id for i in r.instances) for t in r.tasks
    ),
    "jobs-have-an-instance": lambda world, r: all(1 <= job.instance <= len(r.instances) for job in world.cluster.jobs),
    "distributors-have-what-was-queued": lambda world, r: all(
        r.instances[number - 1].status != "Q" for numbers in held(world) for number in numbers
    ),
    "waiting-tasks-have-attempts-left": lambda world, r: all(
        t.num_attempts < t.max_attempts for t in r.tasks if t.status in "GA"
    ),
    "runs-are-their-clients": clients_have_their_runs,
    "claimed-by-one": lambda world, r: not any(one & other for one, other in combinations(held(world), 2)),
    "live-jobs-are-running-or-triaged": lambda world, r: all(
        r.instances[number - 1].status in "RT" for _, number in world.acting()
    ),
    "open-instances-are-the-latest": lambda world, r: latest_are_open(r),
    "what-is-fenced-is-triaged": lambda world, r: all(
        i.status in FINAL or (i.status == "T" and (i.report_by_date or 0.0) <= NOW) for i in r.instances if i.fenced
    ),
    "queued-by-a-run-that-runs": lambda world, r: all(
        r.runs[i.workflow_run_id - 1].status == "R" for i in r.instances if i.status == "Q"
    ),
    "one-run-on-its-way": lambda world, r: one_run(r, ON_ITS_WAY),
    "workflows-rest-without-a-run": lambda world, r: at_rest(r),
    "registered-runs-can-be-linked": lambda world, r: all(
        r.workflows[run.workflow_id - 1].status != "D" for run in r.runs if run.status == "G"
    ),
}


def broken(world: World) -> str | None:
    """The properties that do not hold in the state that the world is in, if any."""
    records = world.store.snapshot()
    names = [name for name, holds in PROPERTIES.items() if not holds(world, records)]
    return ", ".join(names) or None
