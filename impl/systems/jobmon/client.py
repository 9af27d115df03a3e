"""The client: it registers a workflow, runs it, and makes room when another client asks for the workflow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from . import requests as ask
from .agent import asked
from .errors import Refused
from .records import (
    ENDED,
    NEXT,
    NOT_YET_RUNNING,
    ON_THEIR_WAY,
    RESUMABLE,
    RESUMING,
    TO_BE_QUEUED,
    InstanceState,
    RunState,
    Task,
    TaskState,
    WorkflowState,
)
from .requests import Report, TaskSpec
from .resources import Scaling
from .server import Asks


class Resume(StrEnum):
    """What the client does about another run of the workflow."""

    NO = "no"
    COLD = "cold"
    HOT = "hot"


RESUMES = "give --resume hot to take over what is running, or --resume cold to end it first"
"""What a user can do about another run, or about the commands that it left."""


@dataclass(frozen=True)
class WorkflowSpec:
    """A workflow to run.

    Attributes:
        name: names the workflow in the database.
        tasks: in an order in which upstream tasks come first.
        scaling: by task name, how resources grow; memory and runtime of any other task grow by half.
    """

    name: str
    tasks: tuple[TaskSpec, ...]
    scaling: Mapping[str, Scaling] = field(default_factory=dict)


class Stage(StrEnum):
    """What a client does next."""

    REGISTER = "register"
    FIND_HOLDER = "look who has the workflow"
    ASK = "ask that run to make room"
    CLEAR = "clear what a dead run left"
    CREATE = "create a run"
    ADVANCE = "advance the run"
    RUN = "run tasks"
    FINISH = "finish the run"
    WIND_UP = "wind up"
    OVER = "over"


@dataclass(frozen=True)
class ClientMemory:
    """All that a client remembers.

    Attributes:
        other: the run that it asks to make room, or whose remaining instances it clears.
        to_queue: tasks to queue, each with ``num_attempts`` as last read.
        failed: why the client cannot go on, if the cause is in what its user wrote.
        over: how the client ended; None while it goes on.
    """

    stage: Stage = Stage.REGISTER
    workflow: int | None = None
    run: int | None = None
    status: RunState | None = None
    other: int | None = None
    to_queue: tuple[Task, ...] = ()
    finish: RunState = RunState.DONE
    failed: str | None = None
    over: str | None = None


class Client:
    """Runs one workflow once, as the run that it creates under ``token``. The token must be unique."""

    def __init__(self, server: Asks, spec: WorkflowSpec, token: str, *, resume: Resume = Resume.NO) -> None:
        self._server = server
        self._spec = spec
        self._token = token
        self._resume = resume
        self.memory = ClientMemory()

    @property
    def over(self) -> str | None:
        """How the client ended; None while it goes on."""
        return self.memory.over

    @property
    def was_reaped(self) -> bool:
        """Whether its run ended in error, although the client did not ask for that."""
        known = self.memory
        return known.over == "failed" and known.run is not None and known.finish is not RunState.ERROR

    def choices(self) -> int:
        """The number of tasks to queue: they may be queued in any order."""
        return max(1, len(self.memory.to_queue))

    def stop(self) -> None:
        """Stops the run for the user, if it is running. A run that already makes room goes on to do so."""
        if self.memory.stage is Stage.WIND_UP:
            return
        if self.memory.stage in (Stage.RUN, Stage.FINISH):
            self._remember(stage=Stage.FINISH, finish=RunState.STOPPED, to_queue=())
        else:
            self._end("stopped before it ran")

    def heartbeat(self) -> str | None:
        """Renews the run's lease."""
        known = self.memory
        if known.run is None or known.status is None or known.over is not None:
            return None
        answer = asked(self._server, ask.RenewRun(known.run, known.status))
        if isinstance(answer, Refused) and answer.state in {*RESUMING, *ENDED}:
            self._fenced(answer)  # else the run advanced by a request whose answer was lost, and the client asks again
        return "renew run"

    def step(self, choice: int = 0) -> str | None:
        """Sends one request."""
        match self.memory.stage:
            case Stage.REGISTER:
                return self._register()
            case Stage.FIND_HOLDER:
                return self._find_holder()
            case Stage.ASK:
                return self._ask()
            case Stage.CLEAR:
                return self._clear()
            case Stage.CREATE:
                return self._create()
            case Stage.ADVANCE:
                return self._advance()
            case Stage.RUN:
                return self._queue(choice) if self.memory.to_queue else self._read()
            case Stage.FINISH:
                return self._finish()
            case Stage.WIND_UP:
                return self._wind_up()
            case Stage.OVER:
                return None

    def _register(self) -> str:
        answer = asked(self._server, ask.Register(self._spec.name, self._spec.tasks))
        if isinstance(answer, Refused):
            self._remember(failed=answer.reason)
            self._end(answer.reason)
        elif answer.workflow is not None:
            first = Stage.CREATE if self._resume is Resume.NO else Stage.FIND_HOLDER
            self._remember(workflow=answer.workflow.id, stage=first)
            if answer.workflow.status is WorkflowState.DONE:
                self._end("done")
        return "register"

    def _find_holder(self) -> str | None:
        report = self._server.ask(ask.ReadWorkflow(self._workflow()))
        if report.workflow is not None and report.workflow.status is WorkflowState.DONE:
            self._end("done")
            return "read workflow"
        latest = report.runs[0] if report.runs else None
        if latest is not None and latest.status not in ENDED:
            if latest.status not in RESUMABLE:
                return None  # it will become resumable, already makes room, or is dead
            self._remember(stage=Stage.ASK, other=latest.id)
            return "read workflow"
        cold = self._resume is Resume.COLD
        left = [i for i in report.instances if cold or i.status in NOT_YET_RUNNING]
        ending = [i for i in left if i.doomed or i.status is InstanceState.NO_HEARTBEAT]
        if not left:
            self._remember(stage=Stage.CREATE)
        elif cold and left != ending and latest is not None:
            self._remember(stage=Stage.CLEAR, other=latest.id)
        else:
            return None
        return "read workflow"

    def _ask(self) -> str:
        assert self.memory.other is not None
        asked(self._server, ask.AskResume(self.memory.other, self._resume is Resume.COLD))
        self._remember(stage=Stage.FIND_HOLDER, other=None)
        return "ask resume"

    def _clear(self) -> str:
        assert self.memory.other is not None
        asked(self._server, ask.Clear(self.memory.other))
        self._remember(stage=Stage.FIND_HOLDER, other=None)
        return "clear"

    def _create(self) -> str:
        answer = asked(self._server, ask.CreateRun(self._workflow(), self._token, self._resume is not Resume.HOT))
        if isinstance(answer, Refused):
            if answer.for_good:
                self._end(answer.reason)
            elif self._resume is Resume.NO:
                self._end(f"{answer.reason}; {RESUMES}")
            else:
                self._remember(stage=Stage.FIND_HOLDER)
        else:
            run = answer.runs[0]
            self._remember(stage=Stage.ADVANCE, run=run.id, status=run.status)
            if run.status not in NEXT:  # an earlier request created it, and it has been given up since
                self._at(run.status)
        return "create run"

    def _advance(self) -> str:
        assert self.memory.run is not None and self.memory.status is not None
        answer = asked(self._server, ask.AdvanceRun(self.memory.run, NEXT[self.memory.status]))
        if isinstance(answer, Refused):
            self._fenced(answer)
        else:
            status = answer.runs[0].status
            self._remember(status=status, stage=Stage.RUN if status is RunState.RUNNING else Stage.ADVANCE)
        return "advance run"

    def _read(self) -> str | None:
        assert self.memory.run is not None
        report = self._server.ask(ask.ReadRun(self.memory.run))
        status = report.runs[0].status
        if status is not RunState.RUNNING:
            self._at(status)
            return "read run"
        tasks = {task.id: task for task in report.tasks}
        states = {task.status for task in report.tasks}
        ready = sorted(
            (t for t in report.tasks if _is_ready(t, tasks)), key=lambda t: t.status is not TaskState.ADJUSTING
        )
        if ready:
            self._remember(to_queue=tuple(ready))
        elif states == {TaskState.DONE}:
            self._remember(stage=Stage.FINISH, finish=RunState.DONE)
        elif TaskState.FAILED in states and not states & ON_THEIR_WAY:
            self._remember(stage=Stage.FINISH, finish=RunState.ERROR)
        else:
            return None
        return "read run"

    def _queue(self, choice: int) -> str:
        assert self.memory.run is not None
        task = self.memory.to_queue[choice]
        rest = (*self.memory.to_queue[:choice], *self.memory.to_queue[choice + 1 :])
        request = ask.QueueTask(self.memory.run, task.id, task.num_attempts + 1)
        if task.status is TaskState.ADJUSTING:
            scaling = self._spec.scaling.get(task.name, Scaling())
            try:
                resources, queue = scaling.adjusted(task.resources, task.queue)
            except Exception as error:  # the user's function may raise anything
                why = f"the resources of task {task.name} cannot be scaled: {error}"
                self._remember(stage=Stage.FINISH, finish=RunState.ERROR, failed=why, to_queue=())
                return "give up"
            request = replace(request, resources=resources, queue=queue)
        answer = asked(self._server, request)
        if isinstance(answer, Refused):
            rest = ()  # the client's data is old: it reads again, and learns why
        self._remember(to_queue=rest)
        return f"queue task {task.id}"

    def _finish(self) -> str:
        assert self.memory.run is not None
        answer = asked(self._server, ask.FinishRun(self.memory.run, self.memory.finish, self.memory.failed is not None))
        if isinstance(answer, Report):
            self._at(answer.runs[0].status)
        elif answer.state == RunState.RUNNING:
            self._remember(stage=Stage.RUN)
        else:
            self._fenced(answer)
        return "finish run"

    def _wind_up(self) -> str | None:
        assert self.memory.run is not None
        answer = asked(self._server, ask.WindUp(self.memory.run))
        if isinstance(answer, Report):
            self._at(answer.runs[0].status)
        elif answer.for_good:
            self._fenced(answer)
        else:
            return None
        return "wind up"

    def _fenced(self, refused: Refused) -> None:
        """Handles a refusal because the run is in another state than the client assumed."""
        try:
            status = RunState(refused.state or "")
        except ValueError:
            status = None
        if status is not None and status in RESUMING | ENDED:
            self._at(status)
        else:
            self._end(refused.reason)

    def _at(self, status: RunState) -> None:
        """Handles a state of the run in which no tasks are to be queued."""
        if status in RESUMING:
            self._remember(status=status, stage=Stage.WIND_UP, to_queue=())
        else:
            words = {RunState.DONE: "done", RunState.STOPPED: "stopped", RunState.TERMINATED: "made room"}
            self._end(words.get(status) or self.memory.failed or "failed")

    def _end(self, why: str) -> None:
        self._remember(stage=Stage.OVER, over=why, to_queue=())

    def _workflow(self) -> int:
        assert self.memory.workflow is not None
        return self.memory.workflow

    def _remember(self, **changes: object) -> None:
        self.memory = replace(self.memory, **changes)  # type: ignore[arg-type]


def _is_ready(task: Task, tasks: Mapping[int, Task]) -> bool:
    if task.status not in TO_BE_QUEUED or task.num_attempts >= task.max_attempts:
        return False
    return all(tasks[number].status is TaskState.DONE for number in task.upstream)
