"""Seeded faults for Jobmon's server and agents, and the command line with one of them: ``python seeded.py BUG server ...``."""

from __future__ import annotations

import os
import signal
import sys

from schedproof.impl.systems.jobmon import requests as ask
from schedproof.impl.systems.jobmon.distributor import Act, Distributor, Todo
from schedproof.impl.systems.jobmon.draft import Draft
from schedproof.impl.systems.jobmon.records import InstanceState, TaskInstance, TaskState
from schedproof.impl.systems.jobmon.requests import Report
from schedproof.impl.systems.jobmon.server import Server
from schedproof.impl.systems.jobmon.worker import Stage, Worker
from schedproof.impl.systems.jobmon.world import Sides


class StartsInAnyState(Server):
    """The server lets every worker start that asks, and go on."""

    def start(self, draft: Draft, request: ask.Start) -> Report:
        it = draft.instance(request.instance)
        if it.status is InstanceState.LAUNCHED:
            return super().start(draft, request)
        return Report("start", tasks=(draft.task(it.task_id),), instances=(it,))

    def renew_instance(self, draft: Draft, request: ask.RenewInstance) -> Report:
        it = draft.instance(request.instance)
        if it.process_group_id == request.identity:
            return super().renew_instance(draft, request)
        return Report("renew instance", instances=(it,))


class RetriesWhileTriaging(Server):
    """A late instance counts as failed at once: its task may be tried again while nobody knows what it does."""

    def lapse(self, draft: Draft, request: ask.Lapse) -> Report:
        report = super().lapse(draft, request)
        it = draft.instance(request.instance)
        if it.status is InstanceState.TRIAGING:
            draft.move(it, InstanceState.UNKNOWN_ERROR)
        return report


class QueuesWhileTriaging(Server):
    """As before, but the late instance stays in triage."""

    def lapse(self, draft: Draft, request: ask.Lapse) -> Report:
        report = super().lapse(draft, request)
        it = draft.instance(request.instance)
        if it.status is InstanceState.TRIAGING:
            draft.change(draft.task(it.task_id), status=TaskState.REGISTERING)
        return report


class DoesNotWait(Distributor):
    """Says that a job is over as soon as it has asked for that."""

    def _check_job(self, todo: Todo) -> Todo:
        if todo.seen is None:
            return super()._check_job(todo)
        return Todo(Act.SAY_OVER, todo.instance, todo.job, todo.seen)


class DoesNotKill(DoesNotWait):
    """Does not even ask for it."""

    def _remove(self, todo: Todo) -> Todo:
        return Todo(Act.CHECK_JOB, todo.instance, todo.job, todo.seen)


class GivesNoGrace(Server):
    """It takes for dead who could not renew a lease while it was down."""

    def _check(self, draft: Draft, request: ask.Request) -> Report:
        draft.may_reap = lambda late: (  # type: ignore[method-assign]
            draft.is_overdue(late) if isinstance(late, TaskInstance) else late.heartbeat_date <= draft.now
        )
        return super()._check(draft, request)


class DiesBeforeLaunch(Distributor):
    """No bug: it dies when it has submitted a job, and before it says so. For processes."""

    def _launch(self, todo: Todo) -> Todo | None:
        os.kill(os.getpid(), signal.SIGKILL)
        return None


class BreaksDown(Worker):
    """It meets with something unforeseen while its command runs. For processes."""

    def heartbeat(self) -> str | None:
        if self.memory.stage is Stage.WATCH:
            raise RuntimeError("something unforeseen")
        return super().heartbeat()


class StartsUnasked(Worker):
    """Starts its command while it asks."""

    def _ask(self) -> str | None:
        description = super()._ask()
        if self.memory.stage in (Stage.ASK, Stage.OVER) and self.memory.granted is None:
            from schedproof.impl.systems.jobmon.cluster import Granted

            self._remember(stage=Stage.START, over=None, granted=Granted(0, "x", ()))
        return description


BUGS: dict[str, Sides] = {
    "starts in any state": Sides(server=StartsInAnyState),
    "retries while triaging": Sides(server=RetriesWhileTriaging),
    "queues while triaging": Sides(server=QueuesWhileTriaging),
    "does not wait": Sides(distributor=DoesNotWait),
    "does not kill": Sides(distributor=DoesNotKill),
    "starts unasked": Sides(worker=StartsUnasked),
}

FOR_PROCESSES = {
    "gives no grace": Sides(server=GivesNoGrace),
    "dies before launch": Sides(distributor=DiesBeforeLaunch),
    "breaks down": Sides(worker=BreaksDown),
}


if __name__ == "__main__":
    import schedproof.impl.systems.jobmon.distributor as distributor
    import schedproof.impl.systems.jobmon.server as server
    import schedproof.impl.systems.jobmon.worker as worker
    from schedproof.impl.systems.jobmon.__main__ import run

    seeded = (BUGS | FOR_PROCESSES)[sys.argv.pop(1)]
    server.Server = seeded.server  # type: ignore[misc]
    distributor.Distributor = seeded.distributor  # type: ignore[misc]
    worker.Worker = seeded.worker  # type: ignore[misc]
    run()
