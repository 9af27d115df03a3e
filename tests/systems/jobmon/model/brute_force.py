"""Jobmon's document once more, written by hand: tasks with their instances and workflows with their runs, as plain tuples.

It shares no code with the package. A move of an instance includes what becomes of its task; who had to know of what, and whether
a process runs, is a value of its own. ``repaired`` has the repairs' rules instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple


class Task(NamedTuple):
    state: str = "Absent"
    latest: int | None = None
    attempts: int = 0
    resources: int = 0


class Instance(NamedTuple):
    state: str = "Absent"
    task: int | None = None
    resources: int = 0
    command: str = "none"
    at_hand: bool = False


class Flow(NamedTuple):
    state: str = "Absent"
    latest: int | None = None
    attempts: int = 0


class Run(NamedTuple):
    state: str = "Absent"
    flow: int | None = None
    process: str = "none"
    at_hand: bool = False


@dataclass(frozen=True)
class World:
    tasks: tuple[Task, ...]
    instances: tuple[Instance, ...]
    flows: tuple[Flow, ...]
    runs: tuple[Run, ...]

    def task(self, n: int, **new: object) -> World:
        return replace(self, tasks=(*self.tasks[:n], self.tasks[n]._replace(**new), *self.tasks[n + 1 :]))  # type: ignore[arg-type]

    def instance(self, n: int, **new: object) -> World:
        instances = self.instances
        return replace(self, instances=(*instances[:n], instances[n]._replace(**new), *instances[n + 1 :]))  # type: ignore[arg-type]

    def flow(self, n: int, **new: object) -> World:
        return replace(self, flows=(*self.flows[:n], self.flows[n]._replace(**new), *self.flows[n + 1 :]))  # type: ignore[arg-type]

    def run(self, n: int, **new: object) -> World:
        return replace(self, runs=(*self.runs[:n], self.runs[n]._replace(**new), *self.runs[n + 1 :]))  # type: ignore[arg-type]


@dataclass(frozen=True)
class Setup:
    tasks: tuple[int, ...] = ()
    flows: tuple[int, ...] = ()
    of_flow: bool = False
    instances: int = 0
    runs: int = 0
    stoppable: int = 0
    stoppable_runs: int = 0
    mortal: bool = False
    losable: bool = False
    hungry: bool = False
    repaired: bool = False

    def begin(self) -> World:
        return World(
            (Task(),) * len(self.tasks),
            (Instance(),) * self.instances,
            (Flow(),) * len(self.flows),
            (Run(),) * self.runs,
        )


Step = tuple[str, World]

ERRORS = ("NoExecutorId", "KillSelf", "UnknownError", "ResourceError", "ApplicationError")
RUN_ERRORS = ("NoExecutorId", "RuntimeError", "UnknownError", "ResourceError", "Halted")


def steps(world: World, setup: Setup) -> Iterator[Step]:
    """Everything that can happen next."""
    for n in range(len(world.tasks)):
        yield from task_steps(world, setup, n)
    for n in range(len(world.instances)):
        yield from instance_steps(world, setup, n)
    if setup.mortal:
        for name, state in (("client_dies", "Registered"), ("scheduler_dies", "Instantiated")):
            hit = [n for n, i in enumerate(world.instances) if i.state == state and i.at_hand]
            after = world
            for n in hit:
                after = after.instance(n, at_hand=False)
            if hit:
                yield name, after
    for n in range(len(world.flows)):
        yield from flow_steps(world, setup, n)
    for n in range(len(world.runs)):
        yield from run_steps(world, setup, n)


def task_steps(world: World, setup: Setup, n: int) -> Iterator[Step]:
    """What client and server do to a task; each of the unused instances may be the new one."""
    task = world.tasks[n]
    unused = [m for m, i in enumerate(world.instances) if i.state == "Absent"]
    if task.state == "Absent":
        for m in unused:
            new = world.instance(m, state="Registered", task=n, at_hand=True)
            yield "register_task", new.task(n, state="Registering", latest=m, attempts=1)
    if task.latest is None:
        return
    last = world.instances[task.latest]
    left = task.attempts < setup.tasks[n]
    over = last.command != "live" or not setup.repaired

    def queued(m: int, more: int) -> World:
        amount = task.resources + more
        new = world.instance(m, state="Queued", task=n, resources=amount)
        return new.task(n, state="Queued", latest=m, attempts=task.attempts + 1, resources=amount)

    def registered(m: int, more: int) -> World:
        amount = task.resources + more
        new = world.instance(m, state="Registered", task=n, resources=amount, at_hand=True)
        return new.task(n, state="Registering", latest=m, attempts=task.attempts + more, resources=amount)

    if task.state == "Triaging":
        if last.state in ("NoExecutorId", "UnknownError", "ApplicationError") and left and over:
            for m in unused:
                yield "retry", queued(m, 0)
        if last.state in ("ResourceError", "AdjustingResources") and left and not setup.repaired:
            for m in unused:
                yield "retry_unchanged", queued(m, 0)
        if last.state == "AdjustingResources" and not setup.repaired:
            for m in unused:
                yield "adjust", queued(m, 1)
        if last.state == "KillSelf" and over:
            yield "halt", world.task(n, state="Halted")
        if last.state == "ResourceError" and left and setup.repaired:
            yield "halt_for_resources", world.task(n, state="Halted")
        if last.state != "KillSelf" and not left:
            yield "give_up", world.task(n, state="Failed")
    if task.state == "Halted":
        for m in unused:
            if last.state == "KillSelf":
                yield "resume", registered(m, 0)
            if last.state == "ResourceError" and setup.repaired:
                yield "adjust", registered(m, 1)


def instance_steps(world: World, setup: Setup, n: int) -> Iterator[Step]:
    """What becomes of an instance, and with it of its task."""
    it = world.instances[n]
    if it.task is None:
        return
    of = it.task

    def both(state: str, task: str, **new: object) -> World:
        return world.instance(n, state=state, **new).task(of, state=task)

    if it.state == "Registered":
        if it.at_hand:
            yield "queue", both("Queued", "Queued", at_hand=False)
        if it.at_hand or setup.repaired:
            yield "abort", both("Aborted", "Aborted", at_hand=False)
    if it.state == "Queued":
        yield "instantiate", both("Instantiated", "Instantiating", at_hand=True)
    if it.state == "Instantiated":
        if it.at_hand:
            yield "launch", both("BatchExecutor", "Launched", at_hand=False)
            yield "get_no_id", both("NoExecutorId", "Triaging", at_hand=False)
        if setup.repaired and (setup.losable or not it.at_hand):
            yield "lose", both("UnknownError", "Triaging", at_hand=False)
    if it.state == "BatchExecutor":
        yield "start", both("Running", "Running", command="live")
        task_state = "Triaging" if setup.repaired else "Launched"
        if setup.losable:
            yield "lose", both("UnknownError", task_state)
        if n < setup.stoppable:
            yield "kill", both("KillSelf", task_state)
    if it.state == "Running":
        if setup.losable or it.command == "gone":
            yield "lose", both("UnknownError", "Triaging")
        if n < setup.stoppable:
            yield "kill", both("KillSelf", "Triaging")
        if it.command == "succeeded":
            yield "report_success", both("Done", "Done")
        if it.command == "failed":
            yield "report_error", both("ApplicationError", "Triaging")
        if it.command == "exceeded":
            yield "report_resources", both("ResourceError", "Triaging")
    task = world.tasks[of]
    if it.state == "ResourceError" and task.latest == n and task.attempts < setup.tasks[of] and not setup.repaired:
        yield "reconcile", world.instance(n, state="AdjustingResources")
    if it.command == "live":
        yield "succeed", world.instance(n, command="succeeded")
        yield "fail", world.instance(n, command="failed")
        if setup.hungry:
            yield "exceed", world.instance(n, command="exceeded")
        if it.state == "KillSelf":
            yield "obey", world.instance(n, command="gone")
        if setup.mortal:
            yield "worker_dies", world.instance(n, command="gone")


def flow_steps(world: World, setup: Setup, n: int) -> Iterator[Step]:
    """What client and server do to a workflow."""
    flow = world.flows[n]
    unused = [m for m, r in enumerate(world.runs) if r.state == "Absent"]

    def begun(m: int, attempts: int) -> World:
        return world.run(m, state="Registered", flow=n, at_hand=True).flow(
            n, state="Registering", latest=m, attempts=attempts
        )

    if flow.state == "Absent":
        yield from (("register_workflow", begun(m, 1)) for m in unused)
    if flow.state == "Halted":
        yield from (("resume_workflow", begun(m, flow.attempts)) for m in unused)
    if flow.state == "Triaging" and flow.latest is not None:
        last = world.runs[flow.latest]
        if last.state == "Halted":
            yield "halt_workflow", world.flow(n, state="Halted")
        elif flow.attempts >= setup.flows[n]:
            yield "give_up_workflow", world.flow(n, state="Failed")
        elif last.process != "live" or not setup.repaired:
            for m in unused:
                new = world.run(m, state="Bound", flow=n)
                yield "retry_workflow", new.flow(n, state="Queued", latest=m, attempts=flow.attempts + 1)


def run_steps(world: World, setup: Setup, n: int) -> Iterator[Step]:
    """What becomes of a run, and with it of its workflow."""
    it = world.runs[n]
    if it.flow is None:
        return
    of = it.flow

    def both(state: str, flow: str, **new: object) -> World:
        return world.run(n, state=state, **new).flow(of, state=flow)

    if it.state == "Registered":
        if it.at_hand:
            yield "bind", both("Bound", "Queued", at_hand=False)
        if it.at_hand or setup.repaired:
            yield "abort_run", both("Aborted", "Aborted", at_hand=False)
    if it.state == "Bound":
        yield "instantiate_run", both("Instantiated", "Instantiating", at_hand=True)
    if it.state == "Instantiated":
        if it.at_hand:
            yield "launch_run", both("BatchExecutor", "Launched", at_hand=False)
            yield "get_no_id_for_run", both("NoExecutorId", "Triaging", at_hand=False)
        if setup.repaired:
            yield "lose_run", both("UnknownError", "Triaging", at_hand=False)
    if it.state in ("Registered", "Instantiated") and it.at_hand and setup.mortal:
        yield "run_forgotten", world.run(n, at_hand=False)
    if it.state == "BatchExecutor":
        workflow_state = "Triaging" if setup.repaired else "Launched"
        yield "start_run", both("Running", "Running", process="live")
        yield "lose_run", both("UnknownError", workflow_state)
        if n < setup.stoppable_runs:
            yield "withdraw", both("Halted", workflow_state)
    if it.state == "Running":
        yield "lose_run", both("UnknownError", "Triaging")
        if n < setup.stoppable_runs:
            yield "ask_to_halt", world.run(n, state="Resume")
        if it.process == "exceeded":
            yield "find_killed", both("ResourceError", "Triaging")
        if it.process == "live":
            yield "fail_run", both("RuntimeError", "Triaging", process="failed")
            if not setup.of_flow or all(task.state == "Done" for task in world.tasks):
                yield "finish_run", both("Done", "Done", process="succeeded")
    if it.state == "Resume":
        if it.process == "live":
            yield "halt_run", both("Halted", "Triaging", process="gone")
        if it.process != "live" or not setup.repaired:
            yield "force", both("Halted", "Triaging")
    if it.process == "live":
        if it.state in ("UnknownError", "Halted"):
            yield "end_unheard", world.run(n, process="gone")
        if setup.mortal:
            yield "exceed_run", world.run(n, process="exceeded")
            yield "run_dies", world.run(n, process="gone")


# --- What must not be, by hand as well -----------------------------------------------------------------------------------


def two_live(world: World) -> bool:
    of = [i.task for i in world.instances if i.command == "live"]
    return len(of) > len(set(of))


def two_live_runs(world: World) -> bool:
    of = [r.flow for r in world.runs if r.process == "live"]
    return len(of) > len(set(of))


def halted_and_live(world: World) -> bool:
    return any(
        i.command == "live" and world.tasks[i.task].state == "Halted" for i in world.instances if i.task is not None
    )


def lagging(world: World) -> bool:
    """An error of the latest instance that the task shows nothing of."""
    return any(
        t.latest is not None
        and world.instances[t.latest].state in (*ERRORS, "AdjustingResources")
        and t.state not in ("Triaging", "Halted", "Failed")
        for t in world.tasks
    )


def lagging_run(world: World) -> bool:
    return any(
        f.latest is not None
        and world.runs[f.latest].state in RUN_ERRORS
        and f.state not in ("Triaging", "Halted", "Failed")
        for f in world.flows
    )


def too_many(world: World, setup: Setup) -> bool:
    return any(t.attempts > most for t, most in zip(world.tasks, setup.tasks, strict=True))


BAD_STATES: dict[str, Callable[[World], bool]] = {
    "one-live-instance": two_live,
    "one-live-run": two_live_runs,
    "halted-tasks-have-halted": halted_and_live,
    "halted-runs-have-halted": lambda world: any(r.state == "Halted" and r.process == "live" for r in world.runs),
    "task-is-the-image-of-its-instance": lagging,
    "workflow-is-the-image-of-its-run": lagging_run,
}


def starved(before: World, after: World) -> bool:
    """After a resource error something new is tried with no more than before."""
    for old, new in zip(before.tasks, after.tasks, strict=True):
        if old.latest is None or new.latest is None or old.latest == new.latest:
            continue
        last = before.instances[old.latest]
        hungry = last.state in ("ResourceError", "AdjustingResources")
        if hungry and after.instances[new.latest].resources <= last.resources:
            return True
    return False


def beside_a_live_run(before: World, after: World) -> bool:
    """A run is made while an earlier one of the workflow lives."""
    return any(
        old.flow is None
        and new.flow is not None
        and any(r.flow == new.flow and r.process == "live" for r in before.runs)
        for old, new in zip(before.runs, after.runs, strict=True)
    )


BAD_STEPS: dict[str, Callable[[World, World], bool]] = {
    "resources-grow-on-resource-errors": starved,
    "halted-before-a-new-run": beside_a_live_run,
}

ENDS = ("Done", "Failed", "Aborted")

DYING = ("client_dies", "scheduler_dies", "worker_dies", "run_forgotten", "run_dies")

GO_ON = "somebody-can-go-on"


def all_ended(world: World) -> bool:
    """There is nothing more to do."""
    return all(one.state in ("Absent", *ENDS) for one in (*world.tasks, *world.flows))


GOALS: dict[str, tuple[Callable[[World], list[str]], Callable[[str], bool], Callable[[str], bool]]] = {
    # property: the states of the objects that it is about, the premise, the goal
    "everything-can-end": (lambda w: [t.state for t in w.tasks], lambda s: s != "Absent", lambda s: s in ENDS),
    "workflows-can-end": (lambda w: [f.state for f in w.flows], lambda s: s != "Absent", lambda s: s in ENDS),
    "registering-ends": (lambda w: [t.state for t in w.tasks], "Registering".__eq__, "Registering".__ne__),
    "instantiating-ends": (lambda w: [t.state for t in w.tasks], "Instantiating".__eq__, "Instantiating".__ne__),
    "running-ends": (lambda w: [t.state for t in w.tasks], "Running".__eq__, "Running".__ne__),
    "signals-can-be-taken-up": (
        lambda w: [t.state for t in w.tasks],
        lambda s: s in ("Queued", "Launched", "Halted"),
        lambda s: s not in ("Queued", "Launched", "Halted"),
    ),
}


@dataclass
class Explored:
    """All states with their depths, how many steps there are, and which properties break after how many steps."""

    depth_of: dict[World, int] = field(default_factory=dict)
    transitions: int = 0
    broken: dict[str, int] = field(default_factory=dict)


def explore(setup: Setup) -> Explored:
    """Breadth first, from what is Absent."""
    explored = Explored()
    start = setup.begin()
    explored.depth_of[start] = 0
    before: dict[World, list[World]] = {}
    waiting = [start]
    for world in waiting:
        depth = explored.depth_of[world]
        for name, bad in BAD_STATES.items():
            if name not in explored.broken and bad(world):
                explored.broken[name] = depth
        assert not too_many(world, setup)
        if all(name in DYING for name, _ in steps(world, setup)) and not all_ended(world):
            explored.broken.setdefault(GO_ON, depth)
        for _, after in steps(world, setup):
            explored.transitions += 1
            before.setdefault(after, []).append(world)
            for name, bad_step in BAD_STEPS.items():
                if name not in explored.broken and bad_step(world, after):
                    explored.broken[name] = depth + 1
            if after not in explored.depth_of:
                explored.depth_of[after] = depth + 1
                waiting.append(after)
    for name, (states_of, premise, goal) in GOALS.items():
        for n in range(len(states_of(start))):
            good = {world for world in explored.depth_of if goal(states_of(world)[n])}
            reach = list(good)
            for world in reach:
                for earlier in before.get(world, []):
                    if earlier not in good:
                        good.add(earlier)
                        reach.append(earlier)
            stuck = [d for w, d in explored.depth_of.items() if premise(states_of(w)[n]) and w not in good]
            if stuck:
                explored.broken[name] = min([*stuck, explored.broken.get(name, 10**6)])
    return explored
