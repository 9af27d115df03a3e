"""How the server carries out requests about workflows and their runs."""

from __future__ import annotations

from schedproof.impl.store import UpTo

from . import requests as asked
from .draft import Draft
from .errors import Refused
from .records import (
    ENDED,
    LAPSED,
    LONGEST_NAME,
    NEXT,
    NOT_YET_RUNNING,
    ON_THEIR_WAY,
    RESUMABLE,
    RESUMING,
    TO_BE_QUEUED,
    UNFINISHED,
    Resources,
    RunState,
    Task,
    TaskInstance,
    TaskState,
    Workflow,
    WorkflowRun,
    WorkflowState,
)
from .requests import Report, TaskSpec

BEFORE = {after: before for before, after in NEXT.items()}

REAPED = {
    RunState.REGISTERED: RunState.ABORTED,
    RunState.LINKING: RunState.ABORTED,
    RunState.BOUND: RunState.ERROR,
    RunState.INSTANTIATED: RunState.ERROR,
    RunState.LAUNCHED: RunState.ERROR,
    RunState.RUNNING: RunState.ERROR,
    RunState.COLD_RESUME: RunState.TERMINATED,
    RunState.HOT_RESUME: RunState.TERMINATED,
}
"""The state that a run moves to when its client is dead."""


class RunRequests:
    """Checks requests about workflows and runs in a draft.

    Each method carries out its request, or raises Refused. It answers a repeated request as it did the first time.
    """

    def register(self, draft: Draft, request: asked.Register) -> Report:
        """Registers a workflow; one that is already there must have the same tasks."""
        _check_name("a workflow", request.name)
        _check_specs(request.tasks)
        workflows = draft.find(Workflow, name=request.name)
        if workflows:
            tasks = draft.find(Task, workflow_id=workflows[0].id)
            if differs := _difference(request.tasks, tasks):
                raise Refused(
                    f"there is a workflow {request.name} with other tasks: {differs}; "
                    "give this one another name, or the tasks that it has there"
                )
            return self._workflow(draft, "register", workflows[0].id)
        new = draft.add(Workflow(0, request.name, WorkflowState.REGISTERING, draft.now))
        numbers: dict[str, int] = {}
        for spec in request.tasks:
            upstream = tuple(numbers[name] for name in spec.upstream)
            task = Task(
                0, new.id, spec.name, spec.command, upstream, spec.resources, spec.queue,
                0, spec.max_attempts, TaskState.REGISTERING, draft.now,
            )  # fmt: skip
            numbers[spec.name] = draft.add(task).id
        return self._workflow(draft, "register", new.id, changed=True)

    def create_run(self, draft: Draft, request: asked.CreateRun) -> Report:
        """Creates a run of a workflow.

        It is refused while another run is not over, and while an instance is unfinished that the new run has to wait
        for.
        """
        _check_name("the token of a run", request.token)
        workflow = draft.workflow(request.workflow)
        for run in draft.find(WorkflowRun, token=request.token):
            if run.workflow_id != workflow.id:
                raise Refused(f"the token {request.token} is taken by workflow run {run.id}")
            return Report("create run", workflow=workflow, runs=(run,), lease=draft.leases.run)
        if workflow.status is WorkflowState.DONE:
            raise Refused(f"workflow {workflow.id} is done", state=workflow.status)
        self._refuse_held(draft, workflow)
        waits_for = UNFINISHED if request.cold else NOT_YET_RUNNING
        if left := [i for i in draft.unfinished(workflow.id) if i.status in waits_for]:
            it, task = left[0], draft.task(left[0].task_id)
            raise Refused(
                f"task {task.name} of workflow {workflow.name} is {it.status.in_words} (task instance {it.id})",
                state=it.status,
                for_good=False,
            )
        run = WorkflowRun(0, workflow.id, request.token, RunState.REGISTERED, draft.now, draft.now + draft.leases.run)
        run = draft.add(run)
        for task in draft.find(Task, workflow_id=workflow.id):
            if task.status is TaskState.FAILED:
                task = draft.move_task(task, TaskState.REGISTERING)
            if task.status in TO_BE_QUEUED:
                draft.change(task, num_attempts=0)
        return Report("create run", True, workflow=workflow, runs=(run,), lease=draft.leases.run)

    def advance_run(self, draft: Draft, request: asked.AdvanceRun) -> Report:
        """Moves a run to its next state, only from the state before it. This renews the run's lease."""
        run = draft.run(request.run)
        if run.status is request.to:
            return self._run(draft, "advance run", run)
        if request.to not in BEFORE:
            raise Refused(f"a workflow run does not advance to {request.to}", state=run.status)
        self._expect_run(run, BEFORE[request.to])
        advanced = draft.change(draft.move_run(run, request.to), heartbeat_date=draft.now + draft.leases.run)
        return self._run(draft, "advance run", advanced, changed=True)

    def renew_run(self, draft: Draft, request: asked.RenewRun) -> Report:
        """Renews a run's lease, unless the run is over or not in the state that the client believes."""
        run = draft.run(request.run)
        self._expect_run(run, request.status)
        if run.status in ENDED:
            raise Refused(f"workflow run {run.id} is over ({run.status})", state=run.status)
        renewed = draft.change(run, heartbeat_date=draft.now + draft.leases.run)
        return self._run(draft, "renew run", renewed, changed=True)

    def queue_task(self, draft: Draft, request: asked.QueueTask) -> Report:
        """Queues a first attempt or a retry, for the client of a running run."""
        run, task = draft.run(request.run), draft.task(request.task)
        if task.workflow_id != run.workflow_id:
            raise Refused(f"task {task.id} is not of the workflow of run {run.id}")
        self._expect_run(run, RunState.RUNNING)
        latest = draft.find(TaskInstance, task_id=task.id)[-1:]
        if task.num_attempts == request.attempt and latest and latest[0].workflow_run_id == run.id:
            return Report("queue task", runs=(run,), tasks=(task,), instances=latest)
        if task.status not in TO_BE_QUEUED:
            raise Refused(f"task {task.id} is {task.status}", state=task.status)
        if request.attempt != task.num_attempts + 1 or task.num_attempts >= task.max_attempts:
            raise Refused(
                f"task {task.id} was tried {task.num_attempts} times of {task.max_attempts}, "
                f"so attempt {request.attempt} is not to come",
                state=task.status,
            )
        adjusting = task.status is TaskState.ADJUSTING
        if adjusting is (request.resources is None) or (request.queue is not None and not adjusting):
            raise Refused(
                f"task {task.id} is {task.status}: resources are to be given when it is A, and only then",
                state=task.status,
            )
        if request.resources is not None and _names(request.resources) != _names(task.resources):
            raise Refused(f"task {task.id} asks for other resources than these", state=task.status)
        if request.resources is not None:
            for (name, amount), (_, present) in zip(request.resources, task.resources, strict=True):
                if amount < present:
                    raise Refused(f"{name} of task {task.id} is {present} and can only grow", state=task.status)
        for number in task.upstream:
            if draft.task(number).status is not TaskState.DONE:
                raise Refused(f"task {task.id} waits for task {number}", state=task.status, for_good=False)
        if request.resources is not None:
            task = draft.change(task, resources=request.resources, queue=request.queue or task.queue)
        new = draft.queue(task, run)
        return Report("queue task", True, runs=(run,), tasks=(draft.task(task.id),), instances=(new,))

    def finish_run(self, draft: Draft, request: asked.FinishRun) -> Report:
        """Ends a running run.

        Done requires that all tasks are done. Error requires that a task failed and none is active, or that the client
        cannot go on.
        """
        run = draft.run(request.run)
        if request.to not in (RunState.DONE, RunState.ERROR, RunState.STOPPED):
            raise Refused(f"a workflow run does not finish as {request.to}", state=run.status)
        if run.status is request.to:
            return self._run(draft, "finish run", run)
        self._expect_run(run, RunState.RUNNING)
        states = {task.status for task in draft.find(Task, workflow_id=run.workflow_id)}
        if request.to is RunState.DONE and states - {TaskState.DONE}:
            raise Refused(f"workflow run {run.id} has tasks in {_listed(states)}", state=run.status)
        failed = request.failed or (TaskState.FAILED in states and not states & ON_THEIR_WAY)
        if request.to is RunState.ERROR and not failed:
            raise Refused(f"workflow run {run.id} has tasks in {_listed(states)}", state=run.status)
        return self._run(draft, "finish run", draft.move_run(run, request.to), changed=True)

    def ask_resume(self, draft: Draft, request: asked.AskResume) -> Report:
        """Asks a bound or running run to make room."""
        run = draft.run(request.run)
        to = RunState.COLD_RESUME if request.cold else RunState.HOT_RESUME
        if run.status is to:
            return self._run(draft, "ask resume", run)
        if run.status not in RESUMABLE:
            on_its_way = run.status in (RunState.INSTANTIATED, RunState.LAUNCHED)
            raise Refused(f"workflow run {run.id} is {run.status}", state=run.status, for_good=not on_its_way)
        return self._run(draft, "ask resume", draft.move_run(run, to), changed=True)

    def wind_up(self, draft: Draft, request: asked.WindUp) -> Report:
        """Terminates a run that makes room, when no instance is left that the next run has to wait for."""
        run = draft.run(request.run)
        if run.status is RunState.TERMINATED:
            return self._run(draft, "wind up", run)
        self._expect_run(run, *RESUMING)
        if not draft.is_wound_up(run):
            raise Refused(f"workflow run {run.id} has instances on their way", state=run.status, for_good=False)
        return self._run(draft, "wind up", draft.move_run(run, RunState.TERMINATED), changed=True)

    def clear(self, draft: Draft, request: asked.Clear) -> Report:
        """Dooms unfinished instances, if all runs are over and the given run is still the latest."""
        run = draft.run(request.run)
        workflow = draft.workflow(run.workflow_id)
        self._refuse_held(draft, workflow)
        latest = _latest(draft, workflow.id)
        if latest != (run,):
            raise Refused(f"workflow run {latest[0].id} came after run {run.id}", state=latest[0].status)
        changed = draft.doom(draft.unfinished(workflow.id)) > 0
        return self._workflow(draft, "clear", workflow.id, changed=changed)

    def read_workflow(self, draft: Draft, request: asked.ReadWorkflow) -> Report:
        """Reads a workflow."""
        return self._workflow(draft, "read workflow", draft.workflow(request.workflow).id)

    def read_run(self, draft: Draft, request: asked.ReadRun) -> Report:
        """Reads a run; the instances are the last ones of failed tasks."""
        run = draft.run(request.run)
        tasks = draft.find(Task, workflow_id=run.workflow_id)
        failed = [task for task in tasks if task.status is TaskState.FAILED]
        last = tuple(each for task in failed for each in draft.find(TaskInstance, task_id=task.id)[-1:])
        return Report(
            "read run",
            workflow=draft.workflow(run.workflow_id),
            runs=(run,),
            tasks=tasks,
            instances=last,
            lease=draft.leases.run,
        )

    def find_dead(self, draft: Draft, request: asked.FindDead) -> Report:
        """Reads the overdue runs and instances."""
        runs = draft.find(WorkflowRun, status=frozenset(REAPED), heartbeat_date=UpTo(draft.now))
        instances = draft.find(TaskInstance, status=frozenset(LAPSED), report_by_date=UpTo(draft.now))
        instances = tuple(i for i in instances if draft.may_reap(i))
        dead = tuple(r for r in runs if draft.may_reap(r) and (r.status not in RESUMING or draft.is_wound_up(r)))
        return Report("find dead", runs=dead, instances=instances, overdue=tuple(i.id for i in instances))

    def reap_run(self, draft: Draft, request: asked.ReapRun) -> Report:
        """Ends an overdue run; one that makes room only when it is wound up."""
        run = draft.run(request.run)
        if run.status in ENDED:
            if run.status in REAPED.values():
                return self._run(draft, "reap run", run)
            raise Refused(f"workflow run {run.id} is over ({run.status})", state=run.status)
        if not draft.may_reap(run):
            raise Refused(f"workflow run {run.id} is not overdue", state=run.status, for_good=False)
        if run.status in RESUMING and not draft.is_wound_up(run):
            raise Refused(f"workflow run {run.id} has instances on their way", state=run.status, for_good=False)
        return self._run(draft, "reap run", draft.move_run(run, REAPED[run.status]), changed=True)

    def _run(self, draft: Draft, request: str, run: WorkflowRun, *, changed: bool = False) -> Report:
        return Report(request, changed, workflow=draft.workflow(run.workflow_id), runs=(run,), lease=draft.leases.run)

    def _workflow(self, draft: Draft, request: str, number: int, *, changed: bool = False) -> Report:
        return Report(
            request,
            changed,
            workflow=draft.workflow(number),
            runs=_latest(draft, number),
            tasks=draft.find(Task, workflow_id=number),
            instances=draft.unfinished(number),
            lease=draft.leases.run,
        )

    def _expect_run(self, run: WorkflowRun, *states: RunState) -> None:
        if run.status not in states:
            raise Refused(f"workflow run {run.id} is {run.status}, not {_listed(set(states))}", state=run.status)

    def _refuse_held(self, draft: Draft, workflow: Workflow) -> None:
        holder = draft.holder(workflow.id)
        if holder is not None:
            raise Refused(
                f"run {holder.id} has workflow {workflow.name} ({holder.status.in_words})",
                state=holder.status,
                for_good=False,
            )


def _latest(draft: Draft, workflow: int) -> tuple[WorkflowRun, ...]:
    """The latest run of a workflow: if a run is not over, it is this one."""
    return draft.find(WorkflowRun, workflow_id=workflow)[-1:]


def _names(resources: Resources) -> list[str]:
    return [name for name, _ in resources]


def _check_name(what: str, name: str) -> None:
    if len(name) > LONGEST_NAME:
        raise Refused(f"{what} is called by {len(name)} characters: {name[:20]}...; {LONGEST_NAME} are the most")


def _listed(states: set[RunState] | set[TaskState]) -> str:
    return ", ".join(sorted(states)) or "no state"


def _check_specs(specs: tuple[TaskSpec, ...]) -> None:
    if not specs:
        raise Refused("a workflow has at least one task; write one")
    before: set[str] = set()
    for spec in specs:
        _check_name("a task", spec.name)
        if spec.name in before:
            raise Refused(f"there are two tasks {spec.name}; give one of them another name")
        if unknown := sorted(set(spec.upstream) - before):
            raise Refused(
                f"task {spec.name} comes after {unknown[0]}, but no task before it has that name; "
                f"put {unknown[0]} further up, or leave it out of upstream"
            )
        if spec.max_attempts < 1:
            raise Refused(f"task {spec.name} has {spec.max_attempts} attempts; give it 1 or more as max_attempts")
        names = _names(spec.resources)
        if names != sorted(set(names)):
            raise Refused(f"the resources of task {spec.name} are not in the order of their names, each once")
        for name, amount in spec.resources:
            if amount < 0:
                raise Refused(f"task {spec.name} asks for {amount} of {name}; write 0 or more")
        before.add(spec.name)


def _difference(specs: tuple[TaskSpec, ...], tasks: tuple[Task, ...]) -> str | None:
    """How new tasks differ from a workflow's own. Resources and queues are not compared: they may have been adjusted."""
    names = {task.id: task.name for task in tasks}
    registered = {t.name: (t.command, tuple(names[u] for u in t.upstream), t.max_attempts) for t in tasks}
    for spec in specs:
        if spec.name not in registered:
            return f"it has no task {spec.name}"
        pairs = zip(
            ("command", "upstream", "max_attempts"),
            registered[spec.name],
            (spec.command, spec.upstream, spec.max_attempts),
            strict=True,
        )
        for what, known, new in pairs:
            if known != new:
                return f"{what} of its task {spec.name} is {known!r}, not {new!r}"
    if missing := sorted(set(registered) - {spec.name for spec in specs}):
        return f"it has a task {missing[0]} besides"
    return None if list(registered) == [spec.name for spec in specs] else "they are in another order"
