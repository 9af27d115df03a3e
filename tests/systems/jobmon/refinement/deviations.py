"""Faults of Jobmon's server and agents by which they leave the model (for tests); those of :mod:`tests.systems.jobmon.agents.seeded` come besides."""

from __future__ import annotations

from dataclasses import replace

from schedproof.impl.systems.jobmon import requests as ask
from schedproof.impl.systems.jobmon.cluster import Ending
from schedproof.impl.systems.jobmon.distributor import Act, Distributor, Todo
from schedproof.impl.systems.jobmon.draft import Draft
from schedproof.impl.systems.jobmon.records import (
    InstanceState,
    RunState,
    Task,
    TaskInstance,
    TaskState,
    Workflow,
    WorkflowState,
)
from schedproof.impl.systems.jobmon.requests import Report
from schedproof.impl.systems.jobmon.server import Server
from schedproof.impl.systems.jobmon.worker import Stage, Worker


class LateReportsCount(Server):
    def end(self, draft: Draft, request: ask.End) -> Report:
        it = draft.instance(request.instance)
        if it.status is InstanceState.RUNNING:
            draft.change(it, report_by_date=draft.lease())
        return super().end(draft, request)


class LateKillsCount(Server):
    def killed(self, draft: Draft, request: ask.Killed) -> Report:
        it = draft.instance(request.instance)
        if it.status is InstanceState.RUNNING:
            draft.change(it, report_by_date=draft.lease())
        return super().killed(draft, request)


class WhatIsDoomedStarts(Server):
    def _refuse_lost(self, draft: Draft, it: TaskInstance) -> None:
        self._refuse_overdue(draft, it)


class AnyMayClaim(Server):
    """Without asking whether it is queued still."""

    def claim(self, draft: Draft, request: ask.Claim) -> Report:
        it = draft.instance(request.instance)
        asker = {"distributor": request.distributor, "token": request.token}
        claimed = draft.move(it, InstanceState.INSTANTIATED, **asker, report_by_date=draft.lease())
        return self._done(draft, "claim", claimed, changed=True)


class TasksStayBehind(Server):
    """When an instance starts."""

    def start(self, draft: Draft, request: ask.Start) -> Report:
        report = super().start(draft, request)
        draft.change(draft.task(report.tasks[0].id), status=TaskState.LAUNCHED)
        return report


class AttemptsAreNotCounted(Server):
    def queue_task(self, draft: Draft, request: ask.QueueTask) -> Report:
        report = super().queue_task(draft, request)
        draft.change(draft.task(request.task), num_attempts=0)
        return report


class ResourcesStay(Server):
    def queue_task(self, draft: Draft, request: ask.QueueTask) -> Report:
        before = draft.task(request.task).resources
        report = super().queue_task(draft, request)
        draft.change(draft.task(request.task), resources=before)
        return report


class QueuedOnesOutliveTheirRun(Server):
    def reap_run(self, draft: Draft, request: ask.ReapRun) -> Report:
        run = draft.run(request.run)
        if run.status is not RunState.RUNNING or run.heartbeat_date > draft.now:
            return super().reap_run(draft, request)
        draft.change(draft.workflow(run.workflow_id), status=WorkflowState.FAILED)
        return Report("reap run", True, runs=(draft.change(run, status=RunState.ERROR),))


class ReapedInAnyCase(Server):
    """A run that nobody has begun has its workflow aborted."""

    def reap_run(self, draft: Draft, request: ask.ReapRun) -> Report:
        before = draft.run(request.run).status
        report = super().reap_run(draft, request)
        if before is RunState.REGISTERED:
            draft.change(draft.find(Workflow)[0], status=WorkflowState.ABORTED)
        return report


class DoesNotWaitForTheRest(Server):
    """A run that makes room is over at once."""

    def wind_up(self, draft: Draft, request: ask.WindUp) -> Report:
        run = draft.run(request.run)
        if run.status in (RunState.COLD_RESUME, RunState.HOT_RESUME):
            return self._run(draft, "wind up", draft.move_run(run, RunState.TERMINATED), changed=True)
        return super().wind_up(draft, request)


class SeveralRuns(Server):
    def _refuse_held(self, draft: Draft, workflow: Workflow) -> None:
        """Not at all."""


class AdvancesAreNoHeartbeats(Server):
    def advance_run(self, draft: Draft, request: ask.AdvanceRun) -> Report:
        before = draft.run(request.run)
        report = super().advance_run(draft, request)
        draft.change(draft.run(before.id), heartbeat_date=before.heartbeat_date)
        return report


class FailedTasksStay(Server):
    def create_run(self, draft: Draft, request: ask.CreateRun) -> Report:
        failed = [task.id for task in draft.find(Task) if task.status is TaskState.FAILED]
        report = super().create_run(draft, request)
        for number in failed:
            draft.change(draft.task(number), status=TaskState.FAILED)
        return report


class LeavesTheDoomed(Server):
    """A cold resume forgets what is running."""

    def ask_resume(self, draft: Draft, request: ask.AskResume) -> Report:
        report = super().ask_resume(draft, request)
        for it in draft.find(TaskInstance, status=InstanceState.RUNNING):
            draft.change(it, doomed=False)
        return report


class LateClientsQueue(Server):
    """A run that is over may go on."""

    def queue_task(self, draft: Draft, request: ask.QueueTask) -> Report:
        run = draft.run(request.run)
        if run.status is not RunState.ERROR:
            return super().queue_task(draft, request)
        running = draft.change(run, status=RunState.RUNNING)
        report = super().queue_task(draft, request)
        draft.change(running, status=RunState.ERROR)
        return report


class HandsBackWhatIsLate(Server):
    def hand_back(self, draft: Draft, request: ask.HandBack) -> Report:
        it = draft.instance(request.instance)
        if it.status is InstanceState.TRIAGING:
            draft.change(it, report_by_date=draft.lease())
        return super().hand_back(draft, request)


class TriagedMeansLost(Distributor):
    """It terminates what is triaged, also what has been heard of again."""

    def _find(self, busy_with: tuple[Todo, ...]) -> tuple[Todo, ...]:
        todos = super()._find(busy_with)
        return tuple(replace(it, act=Act.REMOVE) if it.act is Act.HAND_BACK else it for it in todos)


class HandsBackAnything(Distributor):
    """It asks for that also of what is late."""

    def _find(self, busy_with: tuple[Todo, ...]) -> tuple[Todo, ...]:
        todos = super()._find(busy_with)
        return tuple(replace(it, act=Act.HAND_BACK) if it.seen is InstanceState.TRIAGING else it for it in todos)


class LaunchesBeforeItSubmits(Distributor):
    def _submit(self, todo: Todo) -> Todo:
        return Todo(Act.LAUNCH, todo.instance, str(todo.instance - 1))


class AllIsWell(Worker):
    """It says of every command that it is done."""

    def _report(self) -> None:
        self._remember(ending=Ending.DONE)
        super()._report()


class DoesNotAskTwice(Worker):
    """It starts its command before it is launched."""

    def _ask(self) -> str | None:
        description = super()._ask()
        if description is None:
            from schedproof.impl.systems.jobmon.cluster import Granted

            self._remember(stage=Stage.START, granted=Granted(self._instance, "x", ()))
        return description
