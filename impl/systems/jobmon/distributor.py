"""The distributor: it submits instances to the cluster, and handles those that are overdue or are to end there."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from . import requests as ask
from .agent import asked
from .cluster import Cluster
from .errors import Refused, SubmitFailed
from .records import InstanceState, Resources, TaskInstance
from .server import Asks


class Act(StrEnum):
    """What a distributor does in one step."""

    FIND = "find work"
    CLAIM = "claim"
    SUBMIT = "submit"
    SAY_FAILED = "say that the submission failed"
    LAUNCH = "say that it is launched"
    LAPSE = "lapse"
    HAND_BACK = "hand back"
    FENCE = "fence"
    REMOVE = "terminate the job"
    CHECK_JOB = "look whether the job is gone"
    SAY_OVER = "say that the job is over"
    GIVE_UP = "give up"


@dataclass(frozen=True)
class Todo:
    """The next act for an instance, and the data that later acts need.

    Attributes:
        seen: the state of an instance whose job is to be removed; None for a job that this distributor has submitted
            but not reported as launched.
        resource_error: the cluster says that the job exceeded its resources.
    """

    act: Act
    instance: int = 0
    job: str | None = None
    seen: InstanceState | None = None
    resource_error: bool = False
    resources: Resources = ()
    queue: str = ""


@dataclass(frozen=True)
class DistributorMemory:
    """All that a distributor remembers.

    Attributes:
        todo: the acts to do next.
        launched: instance and job of each job that it launched and that may not have started.
        elsewhere: how many jobs the last report listed for removal that are out of its reach.
    """

    todo: tuple[Todo, ...] = (Todo(Act.FIND),)
    launched: tuple[tuple[int, str], ...] = ()
    elsewhere: int = 0


class Distributor:
    """One of any number of distributors. ``name`` belongs to this process, and is never used again."""

    over: str | None = None

    def __init__(self, server: Asks, cluster: Cluster, name: str, *, limit: int = 100) -> None:
        self._server = server
        self._cluster = cluster
        self._name = name
        self._limit = limit
        self.memory = DistributorMemory()

    def choices(self) -> int:
        """The number of acts to do: they may be done in any order."""
        return len(self.memory.todo)

    def heartbeat(self) -> str | None:
        """Renews the leases of the jobs that it launched and that are still there."""
        live = [(number, job) for number, job in self.memory.launched if not self._cluster.is_over(job)]
        if not live:
            self.memory = replace(self.memory, launched=())
            return None
        report = self._server.ask(ask.RenewLaunched(tuple(number for number, _ in live), self._name))
        renewed = {it.id for it in report.instances}
        self.memory = replace(self.memory, launched=tuple(pair for pair in live if pair[0] in renewed))
        return "renew launched"

    def step(self, choice: int = 0) -> str | None:
        """Sends one request, or does one act on the cluster."""
        todo = self.memory.todo[choice]
        rest = (*self.memory.todo[:choice], *self.memory.todo[choice + 1 :])
        if todo.act is Act.FIND:
            more_work = self._find(rest)
            self.memory = replace(self.memory, todo=(*rest, *more_work, todo))
            return str(todo.act) if more_work else None
        following = self._do(todo)
        if following is todo:  # it has to wait: others come first
            self.memory = replace(self.memory, todo=(*rest, todo))
            return None
        after = () if following is None else (following,)
        self.memory = replace(self.memory, todo=(*after, *rest))
        return f"{todo.act} {todo.instance}"

    def _find(self, busy_with: tuple[Todo, ...]) -> tuple[Todo, ...]:
        busy = sorted(todo.instance for todo in busy_with)
        report = self._server.ask(ask.FindWork(self._limit + self.memory.elsewhere, tuple(busy)))
        listed = [
            Todo(_first_act(it, it.id in report.overdue), it.id, it.distributor_id, it.status)
            for it in report.instances
        ]
        reachable = tuple(todo for todo in listed if self._reaches(todo))
        # Jobs that it leaves to other distributors do not count against the limit, so they do not hide the other work.
        self.memory = replace(self.memory, elsewhere=len(listed) - len(reachable))
        return reachable

    def _reaches(self, todo: Todo) -> bool:
        """Whether it can remove the job, if that is the act.

        Jobs of another place are left to the distributors there.
        """
        return todo.act not in (Act.FENCE, Act.REMOVE) or todo.job is None or self._cluster.reaches(todo.job)

    def _do(self, todo: Todo) -> Todo | None:
        """Does the act.

        Returns:
            The next act for the instance; ``todo`` itself if it has to wait; None if nothing follows.
        """
        match todo.act:
            case Act.CLAIM:
                return self._claim(todo)
            case Act.SUBMIT:
                return self._submit(todo)
            case Act.SAY_FAILED:
                asked(self._server, ask.SubmissionFailed(todo.instance, self._token(todo)))
            case Act.LAUNCH:
                return self._launch(todo)
            case Act.LAPSE:
                asked(self._server, ask.Lapse(todo.instance))
            case Act.HAND_BACK:
                asked(self._server, ask.HandBack(todo.instance))
            case Act.FENCE:
                return self._fence(todo)
            case Act.REMOVE:
                return self._remove(todo)
            case Act.CHECK_JOB:
                return self._check_job(todo)
            case Act.SAY_OVER:
                assert todo.seen is not None
                asked(self._server, ask.JobOver(todo.instance, todo.seen, todo.resource_error))
            case Act.GIVE_UP:
                asked(self._server, ask.GiveUp(todo.instance, self._token(todo)))
            case Act.FIND:
                pass
        return None

    def _token(self, todo: Todo) -> str:
        return f"{self._name}/{todo.instance}"

    def _claim(self, todo: Todo) -> Todo | None:
        answer = asked(self._server, ask.Claim(todo.instance, self._name, self._token(todo)))
        if isinstance(answer, Refused):
            return None
        it = answer.instances[0]
        if it.doomed:
            return Todo(Act.GIVE_UP, it.id)
        return Todo(Act.SUBMIT, it.id, resources=it.resources, queue=it.queue)

    def _submit(self, todo: Todo) -> Todo:
        try:
            job = self._cluster.submit(todo.instance, todo.resources, todo.queue)
        except SubmitFailed:
            return Todo(Act.SAY_FAILED, todo.instance)
        return Todo(Act.LAUNCH, todo.instance, job)

    def _launch(self, todo: Todo) -> Todo | None:
        assert todo.job is not None
        answer = asked(self._server, ask.Launched(todo.instance, self._token(todo), todo.job))
        if isinstance(answer, Refused):
            return Todo(Act.REMOVE, todo.instance, todo.job)
        self.memory = replace(self.memory, launched=(*self.memory.launched, (todo.instance, todo.job)))
        return None

    def _fence(self, todo: Todo) -> Todo | None:
        """Fences an instance before its job is removed.

        Without the fence, its worker could renew its lease meanwhile, and get control back shortly before it is killed.
        """
        answer = asked(self._server, ask.Fence(todo.instance))
        return None if isinstance(answer, Refused) else replace(todo, act=Act.REMOVE)

    def _remove(self, todo: Todo) -> Todo:
        if todo.job is not None:
            self._cluster.terminate(todo.job)
        return replace(todo, act=Act.CHECK_JOB)

    def _check_job(self, todo: Todo) -> Todo:
        if todo.job is not None and not self._cluster.is_over(todo.job):
            return todo
        if todo.seen is None:
            return Todo(Act.GIVE_UP, todo.instance)
        exceeded = todo.job is not None and self._cluster.exceeded(todo.job)
        return replace(todo, act=Act.SAY_OVER, resource_error=exceeded)


def _first_act(it: TaskInstance, overdue: bool) -> Act:
    if it.status is InstanceState.QUEUED:
        return Act.CLAIM
    if it.status is InstanceState.TRIAGING:
        if it.fenced:
            return Act.REMOVE
        return Act.FENCE if overdue else Act.HAND_BACK
    if it.status is InstanceState.NO_HEARTBEAT:
        return Act.REMOVE
    if it.status is InstanceState.LAUNCHED and it.doomed:
        return Act.REMOVE
    assert overdue
    return Act.LAPSE
