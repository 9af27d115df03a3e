"""The meaning of a state of the world in the model: for each slot of the model's state, the values that fit.

Objects are numbered by creation: the k-th run of the database is run k of the model, and the client process that
created it is client k. A slot that is left out may have any value. These are the deadlines of objects without a lease,
the clients of runs that are over, and the memory of distributors.
"""

from __future__ import annotations

from schedproof.impl.systems.jobmon.cluster import Ending
from schedproof.impl.systems.jobmon.records import ENDED as ENDED_RUNS
from schedproof.impl.systems.jobmon.records import FINAL, InstanceState, TaskInstance
from schedproof.impl.systems.jobmon.simulated_cluster import Job, Phase
from schedproof.impl.systems.jobmon.world import NOW, State
from schedproof.model.semantics import Instance
from schedproof.model.systems.jobmon.shipped.tables import (
    TASK_INSTANCE_STATES,
    TASK_STATES,
    WORKFLOW_RUN_STATES,
    WORKFLOW_STATES,
)
from schedproof.proofs.refinement.mismatch import Broken
from schedproof.proofs.refinement.simulation import Meaning

from .configurations import ASKED_FOR

NOBODY = -1
OVER = ("Reported", "Killed", "Refused")
ENDED = {Ending.DONE: "Succeeded", Ending.ERROR: "Failed", Ending.RESOURCE_ERROR: "OutOfResources"}
STOPPED = "Stopped"
WITH_A_DEADLINE = frozenset("IORT")


class Meanings:
    """Maps states of the world to an instance of the model."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self._states = {
            machine.sort.name: {state.name: value for value, state in enumerate(machine.states)}
            for machine in instance.model.machines
        }

        self._known: dict[tuple[str, tuple[str, ...]], frozenset[int]] = {}

    def _values(self, sort: str, names: tuple[str, ...]) -> frozenset[int]:
        if (sort, names) not in self._known:
            self._known[sort, names] = frozenset(self._states[sort][name] for name in names)
        return self._known[sort, names]

    def read(self, at: State) -> Meaning:
        """Returns the meaning of the state ``at``.

        Raises:
            Broken: the state has no meaning in the model.
        """
        fits: dict[int, frozenset[int]] = {}
        self._workflow(at, fits)
        self._runs(at, fits)
        self._tasks(at, fits)
        self._instances(at, fits)
        self._jobs(at, fits)
        self._distributors(at, fits)
        return Meaning(fits)

    def _state(self, fits: dict[int, frozenset[int]], sort: str, number: int, *names: str) -> None:
        fits[self.instance.slot(sort) + number] = self._values(sort, names)

    def _value(self, fits: dict[int, frozenset[int]], sort: str, attribute: str, number: int, value: int) -> None:
        fits[self.instance.slot(sort, attribute) + number] = frozenset({value})

    def _workflow(self, at: State, fits: dict[int, frozenset[int]]) -> None:
        status = at.records.workflows[0].status if at.records.workflows else "G"
        self._state(fits, "Workflow", 0, WORKFLOW_STATES[status])

    def _runs(self, at: State, fits: dict[int, frozenset[int]]) -> None:
        for r in range(self.instance.sizes["WorkflowRun"]):
            if r >= len(at.records.runs):
                self._state(fits, "WorkflowRun", r, "Absent")
                continue
            run = at.records.runs[r]
            self._state(fits, "WorkflowRun", r, WORKFLOW_RUN_STATES[run.status])
            if run.status not in ENDED_RUNS:
                self._value(fits, "WorkflowRun", "overdue", r, run.heartbeat_date <= NOW)
                self._state(fits, "Client", r, "Running" if _lives(at, run.token) else "Gone")

    def _tasks(self, at: State, fits: dict[int, frozenset[int]]) -> None:
        for t in range(self.instance.sizes["Task"]):
            if not at.records.tasks:
                self._state(fits, "Task", t, "Registering")
                continue
            task = at.records.tasks[t]
            self._state(fits, "Task", t, TASK_STATES[task.status])
            self._value(fits, "Task", "attempts", t, task.num_attempts)
            self._value(fits, "Task", "resources", t, dict(task.resources)["memory"] - ASKED_FOR)
            latest = max((i.id for i in at.records.instances if i.task_id == task.id), default=0)
            self._value(fits, "Task", "instance", t, latest - 1 if latest else NOBODY)

    def _instances(self, at: State, fits: dict[int, frozenset[int]]) -> None:
        for i in range(self.instance.sizes["TaskInstance"]):
            if i >= len(at.records.instances):
                self._state(fits, "TaskInstance", i, "Absent")
                continue
            it = at.records.instances[i]
            self._state(fits, "TaskInstance", i, TASK_INSTANCE_STATES[it.status])
            self._value(fits, "TaskInstance", "task", i, it.task_id - 1)
            self._value(fits, "TaskInstance", "run", i, it.workflow_run_id - 1)
            if it.status in WITH_A_DEADLINE:
                assert it.report_by_date is not None
                self._value(fits, "TaskInstance", "overdue", i, it.report_by_date <= NOW)
            if it.status not in FINAL and it.status is not InstanceState.NO_HEARTBEAT:
                self._value(fits, "TaskInstance", "doomed", i, it.doomed)
                self._value(fits, "TaskInstance", "fenced", i, it.fenced)

    def _jobs(self, at: State, fits: dict[int, frozenset[int]]) -> None:
        of: dict[int, tuple[str, Job]] = {}
        for number, job in enumerate(at.jobs):
            if job.instance in of:
                raise Broken(f"there are two jobs for instance {job.instance}")
            of[job.instance] = str(number), job
        for i in range(self.instance.sizes["TaskInstance"]):
            if i + 1 not in of:
                self._state(fits, "Job", i, "Absent")
            else:
                identity, job = of[i + 1]
                self._state(fits, "Job", i, *job_states(job, at.records.instances[i], identity))

    def _distributors(self, at: State, fits: dict[int, frozenset[int]]) -> None:
        for d in range(self.instance.sizes["Distributor"]):
            slot = dict(at.agents).get(f"d{d + 1}")
            if slot is not None:
                names = ("Running",) if slot.memory is not None else ("NotStarted", "Gone")
                self._state(fits, "Distributor", d, *names)


def _lives(at: State, token: str) -> bool:
    """Whether the process of the client that chose ``token`` still has work to do."""
    name, _, life = token.rpartition(".")
    slot = dict(at.agents)[name]
    return slot.life == int(life) and slot.memory is not None and getattr(slot.memory, "over", None) is None


def job_states(job: Job, it: TaskInstance, identity: str) -> tuple[str, ...]:
    """Returns the states of the model's job that fit a job of the world.

    The command may act from when it was granted until it has ended. The model's job is over once the report is
    accepted. So it is also over if its wrapper has died since, or waits for the answer to its report.
    """
    granted = it.process_group_id == identity
    if job.phase is Phase.OVER:
        # In the model, a wrapper that has stopped its command does not die, and the cluster knows which jobs ran out of
        # resources.
        known = ("OutOfResources",) if job.ending is Ending.RESOURCE_ERROR else ()
        return (*OVER, STOPPED, *known)
    if job.phase is Phase.DYING:
        return ("Orphaned",)
    if not granted:
        return ("Running",) if job.acts else ("Submitted",)
    killed = job.worker is not None and job.worker.killed
    if job.acts or (job.ending is None and not killed):
        return ("Running",)
    wrapped = STOPPED if killed else ENDED[job.ending]  # type: ignore[index]
    return (wrapped, *OVER) if it.status in FINAL else (wrapped,)
