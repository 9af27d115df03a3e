"""Jobmon as it runs, and repaired, written by hand as plain tuples: the server's records, and who is out there.

Runs and tasks belong to the workflows in turn. It shares no code with the package. The letters are those of the facts; ``-`` is what is not
there yet. ``repaired`` chooses between the two machines: as shipped a move is what a route of the server does, repaired it is what the protocol of
leases allows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple


class Run(NamedTuple):
    state: str = "-"
    overdue: bool = False


class Task(NamedTuple):
    state: str = "G"
    attempts: int = 0
    resources: int = 0
    latest: int | None = None


class Instance(NamedTuple):
    state: str = "-"
    task: int | None = None
    run: int | None = None
    overdue: bool = False
    doomed: bool = False
    fenced: bool = False
    # submitted, running, orphaned, ok, error, resource, stopped; and for good: reported, killed, refused
    job: str = "none"


class Distributor(NamedTuple):
    state: str = "none"
    listed: frozenset[int] = frozenset()
    held: frozenset[int] = frozenset()


class World(NamedTuple):
    flows: tuple[str, ...]
    runs: tuple[Run, ...]
    clients: tuple[str, ...]
    distributors: tuple[Distributor, ...]
    tasks: tuple[Task, ...]
    instances: tuple[Instance, ...]

    def flow(self, run: int) -> str:
        """The workflow of a run."""
        return self.flows[run % len(self.flows)]

    def flow_to(self, run: int, state: str) -> World:
        return self._replace(flows=changed(self.flows, run % len(self.flows), state))

    def together(self, run: int, other: int | None) -> bool:
        """Whether two runs, or a run and a task, belong to one workflow."""
        return other is not None and (run - other) % len(self.flows) == 0

    def run(self, n: int, **new: object) -> World:
        return self._replace(runs=changed(self.runs, n, self.runs[n]._replace(**new)))  # type: ignore[arg-type]

    def client(self, n: int, state: str) -> World:
        return self._replace(clients=changed(self.clients, n, state))

    def distributor(self, n: int, **new: object) -> World:
        return self._replace(distributors=changed(self.distributors, n, self.distributors[n]._replace(**new)))  # type: ignore[arg-type]

    def task(self, n: int, **new: object) -> World:
        return self._replace(tasks=changed(self.tasks, n, self.tasks[n]._replace(**new)))  # type: ignore[arg-type]

    def instance(self, n: int, **new: object) -> World:
        return self._replace(instances=changed(self.instances, n, self.instances[n]._replace(**new)))  # type: ignore[arg-type]


def changed(all_of_them: tuple, n: int, new: object) -> tuple:  # type: ignore[type-arg]
    return (*all_of_them[:n], new, *all_of_them[n + 1 :])


@dataclass(frozen=True)
class Setup:
    runs: int
    tasks: tuple[int, ...] = ()  # the attempts of each
    instances: int = 0
    begun: bool = False
    mortal_clients: frozenset[int] = frozenset()
    mortal_distributors: frozenset[int] = frozenset()
    mortal_jobs: frozenset[int] = frozenset()
    fallible: bool = True
    punctual_runs: bool = False
    punctual_instances: bool = False
    ceiling: int = 5  # no queue has more resources
    unheard: bool = False  # the cluster's answers may be lost
    workflows: int = 1
    repaired: bool = False

    def begin(self) -> World:
        first = self.workflows if self.begun else 0
        others = self.runs - first
        return World(
            ("R" if self.begun else "G",) * self.workflows,
            (Run("R"),) * first + (Run(),) * others,
            ("on",) * first + ("none",) * others,
            (Distributor("on"),) * first + (Distributor(),) * others,
            (Task(),) * len(self.tasks),
            (Instance(),) * self.instances,
        )


Step = tuple[str, World]

FINAL = "DEZUWF"
OPEN = "QIORTXK"
ON_ITS_WAY = "GLBIORCH"
ALIVE = "LBRCH"
COMMAND_OVER = ("ok", "error", "resource")
ACTS = ("running", "orphaned")
NO_JOB = ("none", "reported", "killed", "refused")


def steps(world: World, setup: Setup) -> Iterator[Step]:
    """Everything that can happen next."""
    for n in range(len(world.runs)):
        yield from beginning(world, setup, n)
        yield from queueing(world, setup, n)
        yield from ending(world, setup, n)
        yield from time_and_reaper(world, setup, n)
        if not setup.repaired:
            yield from sync(world, n)
    for n in range(len(world.distributors)):
        yield from (distributor_repaired if setup.repaired else distributor_shipped)(world, setup, n)
    for n in range(len(world.instances)):
        yield from worker(world, setup, n)
        late = "IORT" if setup.repaired else "ORT"
        it = world.instances[n]
        if not setup.punctual_instances and it.state in late and not it.overdue:
            yield "instance_is_late", world.instance(n, overdue=True)
        if setup.repaired:
            yield from server_takes_control(world, setup, n)
    for n, flow in enumerate(world.flows):
        if not setup.repaired and flow == "F" and all(state == "D" for state in tasks_of(world, n)):
            yield "repair_workflow", world.flow_to(n, "D")


def tasks_of(world: World, run: int) -> list[str]:
    """The states of the tasks of a run's workflow."""
    return [task.state for n, task in enumerate(world.tasks) if world.together(run, n)]


# --- Instances and their tasks ------------------------------------------------------------------------------------------


def failed(world: World, setup: Setup, n: int, state: str, **new: object) -> World | None:
    """An instance fails; its task, by the table E from I, O or R only, waits or fails at once. None: refused."""
    of = world.instances[n].task
    assert of is not None
    task = world.tasks[of]
    may = "IORQ" if setup.repaired else "IOR"
    if task.state not in may:
        return None
    if (state == "F" and not setup.repaired) or task.attempts >= setup.tasks[of]:
        after = "F"
    else:
        after = "A" if state == "Z" else "G"
    return world.instance(n, state=state, **new).task(of, state=after)


def happened(name: str, after: World | None) -> Iterator[Step]:
    if after is not None:
        yield name, after


# --- A client begins ----------------------------------------------------------------------------------------------------


def alive(world: World, setup: Setup, n: int) -> bool:
    states = ON_ITS_WAY if setup.repaired else ALIVE
    return any(run.state in states for m, run in enumerate(world.runs) if world.together(n, m))


def beginning(world: World, setup: Setup, n: int) -> Iterator[Step]:
    """It polls until no run is alive, resets tasks, and brings its run up; the workflow's table has to allow each move."""
    me, run, flow = world.clients[n], world.runs[n], world.flow(n)
    free = not alive(world, setup, n)
    if me == "none" and run.state == "-" and free and flow != "D":
        yield "plan_cold", world.client(n, "cold")
        yield "plan_hot", world.client(n, "hot")
    if me in ("cold", "hot"):
        if not setup.repaired:
            yield "register", register_shipped(world, n)
        elif free and flow != "D":
            states = [it.state for it in world.instances if world.together(n, it.run)]
            if not any(state in "QIOX" or (state in "RT" and me == "cold") for state in states):
                yield "register", register_repaired(world, n)
    left = [m for m, it in enumerate(world.instances) if it.state in "RT" and world.together(n, it.run)]
    if setup.repaired and me == "cold" and free and any(not world.instances[m].doomed for m in left):
        yield "clear", doom(world, left)
    if me != "on":
        return
    if run.state == "G" and flow in "GAFH" and (setup.repaired or free):
        yield "link", world.run(n, state="L", overdue=False).flow_to(n, "G")
    for name, now, then, flow_now in (
        ("bind", "L", "B", "G"),
        ("instantiate_run", "B", "I", "Q"),
        ("launch_run", "I", "O", "I"),
        ("start_run", "O", "R", "O"),
    ):
        if run.state == now and flow == flow_now:
            after = world.run(n, state=then, overdue=False).flow_to(n, {"B": "Q"}.get(then, then))
            if then == "I" and world.distributors[n].state == "none":
                after = after.distributor(n, state="on")
            yield name, after
    if run.state in (ON_ITS_WAY if setup.repaired else "LR"):
        yield "beat_run", world.run(n, overdue=False)


def register_shipped(world: World, n: int) -> World:
    """All tasks but those that are done, or wait in G, and of a hot resume those that run."""
    keeps = "DG" if world.clients[n] == "cold" else "DGR"
    after = world.client(n, "on").run(n, state="G")
    for m, task in enumerate(world.tasks):
        if world.together(n, m) and task.state not in keeps:
            after = after.task(m, state="G", attempts=0)
    return after


def register_repaired(world: World, n: int) -> World:
    """What has failed waits again; what waits has all its attempts again."""
    after = world.client(n, "on").run(n, state="G")
    for m, task in enumerate(world.tasks):
        if world.together(n, m) and task.state in "GAF":
            after = after.task(m, state="A" if task.state == "A" else "G", attempts=0)
    return after


# --- It queues tasks ----------------------------------------------------------------------------------------------------


def queueing(world: World, setup: Setup, n: int) -> Iterator[Step]:
    # As shipped nobody asks whether the run is still the client's: what has become of it the client hears later.
    run = world.runs[n].state
    has_run = run == "R" or (not setup.repaired and (run == "E" or (run in "CH" and world.flow(n) == "R")))
    if world.clients[n] != "on" or not has_run:
        return
    for m, task in enumerate(world.tasks):
        if task.state not in "GA" or not world.together(n, m):
            continue
        more = task.state == "A" and task.resources < setup.ceiling
        name = "queue" if task.state == "G" else "queue_with_more" if more else "queue_with_as_much"
        for new, it in enumerate(world.instances):
            if it.state == "-":
                resources = task.resources + more
                queued = {"state": "Q", "attempts": task.attempts + 1, "resources": resources, "latest": new}
                yield name, world.task(m, **queued).instance(new, state="Q", task=m, run=n)


# --- Its sync -----------------------------------------------------------------------------------------------------------


def sync(world: World, n: int) -> Iterator[Step]:
    """Of its own run only, and as long as it has not heard that that is over."""
    if world.clients[n] != "on" or world.runs[n].state not in "RCH":
        return
    for m, it in enumerate(world.instances):
        if it.run == n and it.overdue and it.state == "R":
            yield "miss_running", world.instance(m, state="T")
        if it.run == n and it.overdue and it.state == "O":
            yield "miss_launched", world.instance(m, state="X")


# --- A run ends, or is asked to -----------------------------------------------------------------------------------------


def without_client(world: World, setup: Setup, n: int) -> World:
    """A client ends; as shipped with its distributor, which is its subprocess."""
    after = world.client(n, "gone")
    if not setup.repaired and world.distributors[n].state == "on":
        after = after.distributor(n, state="gone", listed=frozenset(), held=frozenset())
    return after


def doom(world: World, which: list[int]) -> World:
    for m in which:
        world = world.instance(m, doomed=True)
    return world


def taken_along(world: World, setup: Setup, n: int, cold: bool = False) -> World:
    """Repaired: with a run end the instances that have not begun, in the same transaction; if cold, those that run as well."""
    if not setup.repaired:
        return world
    after = world
    for m, it in enumerate(world.instances):
        if it.run != n:
            continue
        if it.state == "Q":
            ended = failed(after, setup, m, "F")
            assert ended is not None
            after = ended
        elif it.state in "IO" or (cold and it.state in "RT"):
            after = after.instance(m, doomed=True)
    return after


def to_be_ended(world: World, n: int) -> list[int]:
    """As shipped, of a run that is to be resumed."""
    states = "QIOR" if world.runs[n].state == "C" else "QIO"
    return [m for m, it in enumerate(world.instances) if it.run == n and it.state in states]


def terminate_instances(world: World, n: int) -> World:
    """Q, I -> F past the table; O, and R if cold, -> K. Tasks stay as they are."""
    for m in to_be_ended(world, n):
        world = world.instance(m, state="F" if world.instances[m].state in "QI" else "K")
    return world


def not_wound_up(world: World, n: int) -> bool:
    """Repaired, of a run that is to be resumed."""
    states = "QIOXRT" if world.runs[n].state == "C" else "QIOX"
    return any(it.run == n and it.state in states for it in world.instances)


def ending(world: World, setup: Setup, n: int) -> Iterator[Step]:
    run, flow = world.runs[n], world.flow(n)
    tasks = tasks_of(world, n)
    if run.state in "BR":
        for name, state in (("ask_cold", "C"), ("ask_hot", "H")):
            yield name, taken_along(world.run(n, state=state), setup, n, cold=state == "C")
    if world.clients[n] != "on":
        return
    if n in setup.mortal_clients:
        yield "client_dies", without_client(world, setup, n)
    if run.state in "ETA":
        yield "leave", without_client(world, setup, n)

    def over(state: str, flow: str) -> World:
        return taken_along(without_client(world, setup, n).run(n, state=state).flow_to(n, flow), setup, n)

    if run.state == "R" and flow == "R":
        if all(state == "D" for state in tasks):
            yield "finish_run", without_client(world, setup, n).run(n, state="D").flow_to(n, "D")
        yield "stop_run", over("S", "F")
        if setup.repaired and "F" in tasks and all(state in "DF" for state in tasks):
            yield "give_up_run", over("E", "F")
    if run.state in "BIOR" and flow in "QIOR":
        yield "err_run", over("E", "F")
    if run.state in "CH":
        if setup.repaired:
            if not not_wound_up(world, n):
                yield "terminate_run", over("T", "H")
        else:
            if to_be_ended(world, n):
                yield "wind_up", terminate_instances(world, n)
            if flow in "QR" and not any(state in "IOR" for state in tasks):
                yield "terminate_run", over("T", "H")


# --- Time, and the reaper -----------------------------------------------------------------------------------------------


def time_and_reaper(world: World, setup: Setup, n: int) -> Iterator[Step]:
    run = world.runs[n]
    looked_at = ON_ITS_WAY if setup.repaired else "LRCH"
    if run.state not in looked_at:
        return
    if not run.overdue:
        if not setup.punctual_runs:
            yield "run_is_late", world.run(n, overdue=True)
        return
    if setup.repaired:
        if run.state in "GL":
            flow = "A" if run.state == "L" else world.flow(n)
            yield "reap", taken_along(world.run(n, state="A").flow_to(n, flow), setup, n)
        elif run.state in "BIOR":
            yield "reap", taken_along(world.run(n, state="E").flow_to(n, "F"), setup, n)
        elif not not_wound_up(world, n):
            yield "reap_terminated", world.run(n, state="T").flow_to(n, "H")
        return
    if run.state == "L":
        yield "reap_linking", world.run(n, state="A").flow_to(n, "A")
    elif run.state == "R":
        yield "reap_running", world.run(n, state="E").flow_to(n, "F")
    elif to_be_ended(world, n):
        yield "reap_resumed", terminate_instances(world, n)
    elif not any(it.run == n and it.state == "K" for it in world.instances):
        yield "reap_terminated", world.run(n, state="T").flow_to(n, "H")


# --- The distributor as shipped -----------------------------------------------------------------------------------------


def dies(world: World, setup: Setup, n: int) -> Iterator[Step]:
    if n in setup.mortal_distributors:
        yield "distributor_dies", world.distributor(n, state="gone", listed=frozenset(), held=frozenset())


def unsubmitted(it: Instance, setup: Setup) -> bool:
    """As far as the distributor has heard."""
    return it.job == "none" or (setup.unheard and it.job == "submitted")


def distributor_shipped(world: World, setup: Setup, n: int) -> Iterator[Step]:
    """It serves the run of its client."""
    me = world.distributors[n]
    if me.state != "on":
        return
    yield from dies(world, setup, n)
    for m, it in enumerate(world.instances):
        if it.task is None:
            continue
        task = world.tasks[it.task].state
        if it.run == n and it.state == "Q" and m not in me.listed:
            yield "list_queued", world.distributor(n, listed=me.listed | {m})
        if m in me.listed and task in "QI":
            # the task goes to I, then every listed instance whose task is I, whatever it is itself
            after = world.distributor(n, listed=me.listed - {m}, held=me.held | {m})
            yield "instantiate", after.instance(m, state="I").task(it.task, state="I")
        if m in me.held:
            dropped = world.distributor(n, held=me.held - {m})
            if it.job == "none":
                yield "submit", world.instance(m, job="submitted")
            if it.state == "I" and unsubmitted(it, setup):
                yield from happened("get_no_id", failed(dropped, setup, m, "W"))
            if it.job != "none" and it.state == "I" and task == "I":
                yield "launch", dropped.instance(m, state="O", overdue=False).task(it.task, state="O")
        if it.run != n:
            continue
        if it.state == "O" and it.job == "submitted":
            yield "beat_launched", world.instance(m, overdue=False)
        if it.state == "T":
            if it.overdue:
                yield from happened("triage_lost", failed(world, setup, m, "U"))
            if it.job == "resource":
                yield from happened("triage_resources", failed(world, setup, m, "Z"))
            if it.job == "error":
                yield from happened("triage_fatal", failed(world, setup, m, "F"))
        if it.state == "X":
            yield from happened("give_up_lost", failed(world, setup, m, "E"))
        if it.state == "K":
            killed = world.instance(m, job="killed") if it.job not in NO_JOB else world
            killed, of = killed.instance(m, state="F"), it.task
            assert of is not None
            # two bulk updates: the task's has its own condition
            yield "kill", killed.task(of, state="F") if world.tasks[of].state in "OR" else killed


# --- The distributor repaired -------------------------------------------------------------------------------------------


def lost_for_good(it: Instance) -> bool:
    """Nobody will have control of it again: what is left of its job may be removed."""
    if it.state == "I":
        return it.doomed or it.overdue
    return (it.state == "O" and it.doomed) or it.state == "X" or (it.state == "T" and it.fenced)


def distributor_repaired(world: World, setup: Setup, n: int) -> Iterator[Step]:
    """It serves all runs, and comes back."""
    me = world.distributors[n]
    if me.state != "on":
        yield "distributor_starts", world.distributor(n, state="on")
        return
    yield from dies(world, setup, n)
    for m, it in enumerate(world.instances):
        if it.task is None or it.run is None:
            continue
        if it.state == "Q" and world.runs[it.run].state == "R":
            claimed = world.distributor(n, held=me.held | {m}).instance(m, state="I", overdue=False)
            yield "instantiate", claimed.task(it.task, state="I")
        has_job = it.job not in NO_JOB
        if m in me.held:
            dropped = world.distributor(n, held=me.held - {m})
            if it.job == "none":
                yield "submit", world.instance(m, job="submitted")
            if it.state == "I" and not it.overdue:
                if unsubmitted(it, setup):
                    yield from happened("get_no_id", failed(dropped, setup, m, "W"))
                if it.job != "none" and not it.doomed:
                    yield "launch", dropped.instance(m, state="O", overdue=False).task(it.task, state="O")
                if it.doomed and not has_job:
                    yield from happened("drop_doomed", failed(dropped, setup, m, "F"))
        if it.state == "O" and it.job == "submitted":
            yield "beat_launched", world.instance(m, overdue=False)
        if (lost_for_good(it) or it.state in FINAL) and has_job:
            yield "take_job", world.instance(m, job="killed")
        if it.state == "T":
            if it.overdue and not it.fenced:
                yield "fence", world.instance(m, fenced=True)
            if not it.overdue:
                yield "hand_back", world.instance(m, state="R")
            if not it.doomed and not has_job:
                yield from happened("triage_lost", failed(world, setup, m, "U"))
            if not it.doomed and it.job == "resource":
                yield from happened("triage_resources", failed(world, setup, m, "Z"))
        if it.state in "TO" and it.doomed and not has_job:
            yield from happened("end_doomed", failed(world, setup, m, "F"))
        if it.state == "X" and not has_job:
            yield from happened("give_up_lost", failed(world, setup, m, "E"))


def server_takes_control(world: World, setup: Setup, n: int) -> Iterator[Step]:
    """Of an instance whose lease has run out, whatever the run."""
    it = world.instances[n]
    if it.overdue:
        if it.state == "I":
            yield from happened("lose_instantiated", failed(world, setup, n, "W"))
        if it.state == "O":
            yield "lose_launched", world.instance(n, state="X")
        if it.state == "R":
            yield "lose_running", world.instance(n, state="T")


# --- The worker ---------------------------------------------------------------------------------------------------------


def worker(world: World, setup: Setup, n: int) -> Iterator[Step]:
    """The wrapper and its command, from when the job is submitted."""
    it = world.instances[n]
    if it.job in NO_JOB or it.task is None:
        return
    if n in setup.mortal_jobs and it.job != "orphaned":
        yield "worker_dies", world.instance(n, job="killed")
    if n in setup.mortal_jobs and it.job == "running":
        yield "wrapper_dies", world.instance(n, job="orphaned")
    if it.job == "orphaned":
        yield "orphan_ends", world.instance(n, job="killed")
        return
    if it.job == "running":
        yield "command_succeeds", world.instance(n, job="ok")
        if setup.fallible:
            yield "command_fails", world.instance(n, job="error")
            yield "command_runs_out", world.instance(n, job="resource")
    yield from (worker_repaired if setup.repaired else worker_shipped)(world, setup, n, it, it.task)


def worker_shipped(world: World, setup: Setup, n: int, it: Instance, of: int) -> Iterator[Step]:
    task = world.tasks[of].state
    if it.job == "submitted":
        if it.state in "IO" and task in "IO":
            yield "start", world.instance(n, state="R", overdue=False, job="running").task(of, state="R")
        if it.state == "K":
            yield from happened("start_to_die", failed(world, setup, n, "F", job="refused"))
        if it.state == "X":
            yield from happened("start_too_late", failed(world, setup, n, "E", job="refused"))
        no_move = (it.state in "IO" and task not in "IO") or (it.state in "KX" and task not in "IOR")
        if it.state in FINAL or no_move:
            yield "start_refused", world.instance(n, job="refused")
    if it.job == "running":
        if it.state == "R":
            yield "beat", world.instance(n, overdue=False)
        if it.state == "T" and task in "IO":
            yield "beat_late", world.instance(n, state="R", overdue=False).task(of, state="R")
        elif it.state == "T":
            # the server extends the deadline and leaves it in T: the wrapper reads that, and gives up
            yield "beat_refused", world.instance(n, overdue=False, job="killed")
        elif it.state in FINAL or (it.state == "K" and task not in "IOR"):
            yield "beat_refused", world.instance(n, job="killed")
        if it.state == "K":
            yield from happened("hear_that_it_is_to_die", failed(world, setup, n, "F", job="killed"))
    if it.job == "ok" and it.state in "RK" and task == "R":
        yield "report_success", world.instance(n, state="D", job="reported").task(of, state="D")
    if it.job == "error" and it.state == "R":
        yield from happened("report_an_error", failed(world, setup, n, "E", job="reported"))
    if it.job == "resource" and it.state in "RT":
        yield from happened("report_too_few_resources", failed(world, setup, n, "Z", job="reported"))


def worker_repaired(world: World, setup: Setup, n: int, it: Instance, of: int) -> Iterator[Step]:
    if it.job == "submitted":
        if it.state == "O" and not it.overdue and not it.doomed:
            yield "start", world.instance(n, state="R", overdue=False, job="running").task(of, state="R")
        if it.state not in "IO" or it.overdue or it.doomed:
            yield "start_refused", world.instance(n, job="refused")
        return
    if it.state in "RT" and not it.fenced:
        yield "beat", world.instance(n, overdue=False)
    if it.state == "T" and it.fenced:
        yield "hear_that_it_is_fenced", world.instance(n, job="killed")
    if it.job == "running" and it.doomed:
        yield "stop_command", world.instance(n, job="stopped")
    if it.state != "R" or it.overdue:
        return
    if it.job == "ok":
        yield "report_success", world.instance(n, state="D", job="reported").task(of, state="D")
    if it.job == "error":
        yield from happened("report_an_error", failed(world, setup, n, "E", job="reported"))
    if it.job == "resource":
        yield from happened("report_too_few_resources", failed(world, setup, n, "Z", job="reported"))
    if it.job == "stopped":
        yield from happened("report_that_it_was_stopped", failed(world, setup, n, "F", job="reported"))


# --- What must not be, by hand as well ----------------------------------------------------------------------------------

IMAGE = {
    # what a task is by its latest instance; where a resume may have reset it, G as well
    **{"Q": "Q", "I": "I", "O": "O", "X": "O", "R": "R", "T": "R", "K": "IOR", "D": "D"},
    **{"E": "GF", "U": "GF", "W": "GF", "Z": "AGF", "F": "GF"},
}
FLOW_OF_RUN = {"L": "G", "B": "Q", "I": "I", "O": "O", "R": "R", "C": "QR", "H": "QR"}


def two_commands(world: World) -> bool:
    of = [it.task for it in world.instances if it.job in ACTS]
    return len(of) > len(set(of))


def done_otherwise(world: World) -> bool:
    return any(
        (task.state == "D") != any(it.task == n and it.state == "D" for it in world.instances)
        for n, task in enumerate(world.tasks)
    )


def no_image(world: World) -> bool:
    return any(
        task.latest is not None and task.state not in IMAGE.get(world.instances[task.latest].state, "GQIORDAF")
        for task in world.tasks
    )


def many_runs(world: World, states: str) -> bool:
    of = [n % len(world.flows) for n, run in enumerate(world.runs) if run.state in states]
    return len(of) > len(set(of))


def no_image_of_its_run(world: World) -> bool:
    return any(world.flow(n) not in FLOW_OF_RUN.get(run.state, "GQIORDHFA") for n, run in enumerate(world.runs))


def without_a_task(world: World) -> bool:
    return any((it.task is None or it.run is None) and it.state != "-" for it in world.instances)


def latest_of_another(world: World) -> bool:
    return any(task.latest is not None and world.instances[task.latest].task != n for n, task in enumerate(world.tasks))


def in_memory_otherwise(world: World) -> bool:
    """As shipped: it has listed what is queued or was ended, it holds what it has taken up, and all of it of its own run."""
    return any(
        world.instances[m].state not in states or world.instances[m].run != n
        for n, distributor in enumerate(world.distributors)
        for which, states in ((distributor.listed, "QF"), (distributor.held, "IOXRTKDEZUWF"))
        for m in which
    )


def run_without_client(world: World) -> bool:
    return any(
        (run.state == "-") != (client in ("none", "cold", "hot"))
        for run, client in zip(world.runs, world.clients, strict=True)
    )


BadState = Callable[[World, Setup], bool]
BAD_STATES: dict[str, BadState] = {
    "one-live-instance": lambda w, s: two_commands(w),
    "done-iff-an-instance-is-done": lambda w, s: done_otherwise(w),
    "task-is-the-image-of-its-instance": lambda w, s: no_image(w),
    "attempts-within-the-maximum": lambda w, s: any(t.attempts > m for t, m in zip(w.tasks, s.tasks, strict=True)),
    "one-live-run": lambda w, s: many_runs(w, "LBIORCH"),
    "workflow-is-the-image-of-its-run": lambda w, s: no_image_of_its_run(w),
    "instances-have-a-task": lambda w, s: without_a_task(w),
    "latest-instances-are-there": lambda w, s: latest_of_another(w),
    "jobs-have-an-instance": lambda w, s: any(it.state == "-" and it.job != "none" for it in w.instances),
    "done-workflows-have-done-tasks": lambda w, s: any(
        flow == "D" and any(state != "D" for state in tasks_of(w, n)) for n, flow in enumerate(w.flows)
    ),
    "waiting-tasks-have-attempts-left": lambda w, s: any(
        t.state in "GA" and t.attempts >= m for t, m in zip(w.tasks, s.tasks, strict=True)
    ),
    "runs-are-their-clients": lambda w, s: run_without_client(w),
}
OF_THE_SHIPPED: dict[str, BadState] = {"distributors-have-what-was-queued": lambda w, s: in_memory_otherwise(w)}
OF_THE_REPAIRED: dict[str, BadState] = {
    "distributors-have-what-was-queued": lambda w, s: any(
        w.instances[m].state in "-Q" for distributor in w.distributors for m in distributor.held
    ),
    "live-jobs-are-running-or-triaged": lambda w, s: any(it.job in ACTS and it.state not in "RT" for it in w.instances),
    "open-instances-are-the-latest": lambda w, s: any(
        it.state in OPEN and (it.task is None or w.tasks[it.task].latest != n) for n, it in enumerate(w.instances)
    ),
    "one-run-on-its-way": lambda w, s: many_runs(w, ON_ITS_WAY),
    "what-is-fenced-is-triaged": lambda w, s: any(
        it.fenced and it.state not in FINAL and (it.state, it.overdue) != ("T", True) for it in w.instances
    ),
    "workflows-rest-without-a-run": lambda w, s: any(
        not any(run.state in "LBIORCH" for m, run in enumerate(w.runs) if w.together(n, m)) and flow not in "GAFHD"
        for n, flow in enumerate(w.flows)
    ),
    "registered-runs-can-be-linked": lambda w, s: any(
        w.flow(n) == "D" and run.state == "G" for n, run in enumerate(w.runs)
    ),
    "queued-by-a-run-that-runs": lambda w, s: any(
        it.state == "Q" and (it.run is None or w.runs[it.run].state != "R") for it in w.instances
    ),
}

AGENTS = {
    # who takes the step; whatever is not the client's, a distributor's or the server's is a worker's
    "server": "run_is_late instance_is_late reap_linking reap_running reap_resumed reap_terminated repair_workflow reap "
    "lose_instantiated lose_launched lose_running",
    "distributor": "list_queued instantiate submit launch get_no_id beat_launched triage_lost triage_resources triage_fatal "
    "give_up_lost kill distributor_dies distributor_starts fence take_job hand_back end_doomed drop_doomed",
    "worker": "start start_to_die start_too_late start_refused beat beat_late beat_refused hear_that_it_is_to_die command_succeeds "
    "command_fails command_runs_out report_success report_an_error report_too_few_resources worker_dies stop_command "
    "report_that_it_was_stopped wrapper_dies orphan_ends hear_that_it_is_fenced",
}
AGENT = {name: agent for agent, names in AGENTS.items() for name in names.split()}

CONTROLLED = {
    "client": lambda it: it.state == "Q",
    "distributor": lambda it: it.state in "QIOTXK",
    "worker": lambda it: it.state in "OR",
    "server": lambda it: it.state == "T",
}
CONTROLLED_BY_LEASE = {
    "client": lambda it: it.state == "Q",
    "distributor": lambda it: (
        it.state in "QTX" or (it.state in "IO" and not it.overdue) or (it.state == "O" and it.doomed)
    ),
    "worker": lambda it: it.state in "OR" and not it.overdue,
    "server": lambda it: (it.state in "IOR" and it.overdue) or it.state == "Q",
}


def bad_step(name: str, before: World, after: World, setup: Setup) -> Iterator[str]:
    """The properties that a step breaks."""
    agent = AGENT.get(name, "client")
    controls = (CONTROLLED_BY_LEASE if setup.repaired else CONTROLLED)[agent]
    for old, new in zip(before.instances, after.instances, strict=True):
        moves = ((old.state, new.state), (old.job, new.job))
        if old.doomed and {("I", "O"), ("O", "R"), ("submitted", "running")} & set(moves):
            yield "what-is-to-end-goes-no-further"
        takes_job = agent == "distributor" and old.job != "killed" == new.job
        if setup.repaired and takes_job and old.state in OPEN and not lost_for_good(old):
            yield "jobs-are-left-to-their-workers"
        if setup.repaired and lost_for_good(old) and not lost_for_good(new) and new.state not in FINAL:
            yield "what-is-lost-stays-lost"
        if old.state == new.state:
            continue
        if old.state != "-" and not controls(old):
            yield f"the-{agent}-moves-only-its-own"
        if old.state in FINAL:
            yield "instances-end-for-good"
    for run, then in zip(before.runs, after.runs, strict=True):
        if run.state in "DSETA" and then.state != run.state:
            yield "runs-end-for-good"
    if any(flow == "D" != then for flow, then in zip(before.flows, after.flows, strict=True)):
        yield "done-is-final"
    for task, to in zip(before.tasks, after.tasks, strict=True):
        if task.state == "D" != to.state:
            yield "done-is-final"
        if task.state == "F" != to.state and name != "register":
            yield "failed-tasks-wait-for-a-resume"
        if task.state != "Q" == to.state and to.attempts <= task.attempts:
            yield "attempts-are-counted"
        if task.resources != to.resources and (task.state, to.state) != ("A", "Q"):
            yield "resources-stay-otherwise"
        left = task.state == "A" != to.state and task.resources < setup.ceiling
        if left and (to.state != "Q" or to.resources <= task.resources):
            yield "resources-grow-on-resource-errors"
    for n, (client, then) in enumerate(zip(before.clients, after.clients, strict=True)):
        act = any(it.job in ACTS and before.together(n, it.run) for it in before.instances)
        if name == "register" and (client, then) == ("cold", "on") and act:
            yield "halted-before-a-new-run"
    if name.startswith("queue"):
        [run] = {
            new.run for old, new in zip(before.instances, after.instances, strict=True) if old.state == "-" != new.state
        }
        assert run is not None
        if before.runs[run].state != "R":
            yield "only-the-live-run-queues"


Of = Callable[[World, int], bool]
GOALS: dict[str, tuple[str, Of, Of]] = {
    # property: of which objects, the premise, what can still be reached
    "signals-can-be-taken-up": (
        "instances",
        lambda w, n: w.instances[n].state in "QO",
        lambda w, n: w.instances[n].state not in "QO",
    ),
    "late-instances-can-run-again": (
        "instances",
        lambda w, n: w.instances[n].state == "T" and w.instances[n].job == "running" and not w.instances[n].fenced,
        lambda w, n: w.instances[n].state == "R" and w.instances[n].job == "running",
    ),
    "finished-work-counts": (
        "instances",
        lambda w, n: w.instances[n].job == "ok" and w.instances[n].state in OPEN and not w.instances[n].fenced,
        lambda w, n: w.instances[n].state == "D",
    ),
    "runs-can-end": ("runs", lambda w, n: w.runs[n].state in ON_ITS_WAY, lambda w, n: w.runs[n].state in "DSETA"),
    "instances-can-end": (
        "instances",
        lambda w, n: w.instances[n].state in OPEN,
        lambda w, n: w.instances[n].state in FINAL,
    ),
    "workflows-can-be-done": (
        "clients",
        lambda w, n: w.clients[n] == "none" and any(it.state == "-" for it in w.instances),
        lambda w, n: w.flow(n) == "D",
    ),
    "workflows-can-be-run": (
        "clients",
        lambda w, n: w.clients[n] == "none" and w.flow(n) != "D",
        lambda w, n: w.flow(n) == "R",
    ),
}
WITHOUT = {"runs-can-end": ("plan_cold", "plan_hot")}


@dataclass
class Explored:
    """All states with their depths, how many steps each action takes, and which properties break after how many steps."""

    depth_of: dict[World, int] = field(default_factory=dict)
    transitions: Counter[str] = field(default_factory=Counter)
    broken: dict[str, int] = field(default_factory=dict)


def explore(setup: Setup, *, properties: bool = True) -> Explored:
    """Breadth first."""
    explored = Explored()
    start = setup.begin()
    explored.depth_of[start] = 0
    before: dict[World, list[tuple[str, World]]] = {}
    waiting = [start]
    bad_states = {**BAD_STATES, **(OF_THE_REPAIRED if setup.repaired else OF_THE_SHIPPED)}
    for world in waiting:
        depth = explored.depth_of[world]
        if properties:
            for name, bad in bad_states.items():
                if name not in explored.broken and bad(world, setup):
                    explored.broken[name] = depth
        for action, after in steps(world, setup):
            explored.transitions[action] += 1
            if properties:
                before.setdefault(after, []).append((action, world))
                for name in bad_step(action, world, after, setup):
                    explored.broken.setdefault(name, depth + 1)
            if after not in explored.depth_of:
                explored.depth_of[after] = depth + 1
                waiting.append(after)
    for name, goal in GOALS.items() if properties else ():
        stuck = _stuck(explored, before, start, name, goal)
        if stuck:
            explored.broken[name] = min(stuck)
    return explored


def _stuck(
    explored: Explored, before: dict[World, list[tuple[str, World]]], start: World, name: str, goal: tuple[str, Of, Of]
) -> list[int]:
    """How deep the states are in which the premise holds of an object, and from which the goal can not be reached."""
    of, premise, conclusion = goal
    depths = []
    for n in range(len(getattr(start, of))):
        good = {world for world in explored.depth_of if conclusion(world, n)}
        reach = list(good)
        for world in reach:
            for action, earlier in before.get(world, []):
                if earlier not in good and action not in WITHOUT.get(name, ()):
                    good.add(earlier)
                    reach.append(earlier)
        depths += [d for w, d in explored.depth_of.items() if w not in good and premise(w, n)]
    return depths
