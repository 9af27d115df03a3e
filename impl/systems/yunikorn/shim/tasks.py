"""The handler of task events (F 4.2)."""

from __future__ import annotations

from dataclasses import replace

from schedproof.impl.scheduler_interface import AddAsk, ReleaseAllocation, ReleaseAsk

from .applications import Applications, answer
from .context import Context
from .events import Event, Job, Target, Work
from .kubernetes import ENDED, Pod
from .records import Application, Task


class Tasks:
    """The handler of task events, and of Kubernetes' changes of pods."""

    def __init__(self, context: Context, applications: Applications) -> None:
        self._context = context
        self._applications = applications

    def handle(self, event: Event) -> None:
        """Handles an event, if the table has a row for it; a task begins only while its application lets it."""
        if event.event == "InitTask" and not self._begins(event.name):
            return
        before = self._context.move(event)
        if before is None:
            return
        it = self._context.tasks[event.name]
        match event.event:
            case "InitTask":
                self._context.post(Target.TASK, it.name, "SubmitTask")
            case "SubmitTask":
                self._ask(it)
            case "TaskAllocated":
                self._allocated(it, event, before)
            case "TaskBound":
                self._noticed(it)
            case "CompleteTask":
                self._released(it, before)
                self._context.tasks[it.name] = replace(it, allocation="")
                self._noticed(it)
            case "TaskRejected":
                self._context.tasks[it.name] = replace(it, reason=event.reason)
                self._context.post(Target.TASK, it.name, "TaskFail", reason=event.reason)
            case "TaskFail":
                self._context.tasks[it.name] = replace(it, reason=it.reason or event.reason, allocation="")
                if it.allocation:
                    self._context.send(ReleaseAllocation(it.pod.application, it.allocation, answer(it)))
                self._noticed(it)

    def _begins(self, name: str) -> bool:
        """True if the task may begin: a placeholder in Reserving, a real pod in Running (F 4.2:101)."""
        task = self._context.tasks.get(name)
        application = None if task is None else self._context.applications.get(task.pod.application)
        if task is None or application is None:
            return True  # there is nothing to begin; the table drops the event
        return application.state == ("Reserving" if task.pod.placeholder else "Running")

    # Pods.

    def appeared(self, pod: Pod) -> None:
        """Makes the task of a pod that has none; also its application, if that is new (F 4.2).

        The task of a pod that is on a node, or has ended, begins in a later state without an event.
        """
        if pod.application not in self._context.applications:
            if pod.placeholder and self._context.scheduler == "Running":
                # It was being made when its application was discarded.
                self._context.work(Job(Work.DELETE, pod.name))
                return
            self._context.applications[pod.application] = Application(pod.application, pod.queue, pod.gang)
        if pod.phase in ENDED:
            task = Task(pod, "Completed")
        elif pod.node is not None:
            task = Task(pod, "Allocated", allocation=pod.name, node=pod.node)
        else:
            task = Task(pod)
        self._context.tasks[pod.name] = task

    def changed(self, pod: Pod, *, deleted: bool) -> None:
        """Handles a change of a pod: it is new, has changed or is gone."""
        task = self._context.tasks.get(pod.name)
        if task is None:
            if not deleted:
                self.appeared(pod)
            return
        self._context.tasks[pod.name] = replace(task, pod=pod)
        if (deleted or pod.phase in ENDED) and task.state != "Completed":
            self._context.post(Target.TASK, pod.name, "CompleteTask")

    # Effects of the events.

    def _ask(self, it: Task) -> None:
        pod = it.pod
        self._context.send(
            AddAsk(pod.application, pod.name, pod.amount, pod.placeholder, pod.task_group, pod.required_node)
        )

    def _allocated(self, it: Task, event: Event, before: str) -> None:
        if before != "Scheduling":
            # Too late: the pod has gone, or the task has failed (F 4.2:110, R6).
            self._context.send(ReleaseAllocation(it.pod.application, event.allocation, answer(it)))
            return
        self._context.tasks[it.name] = replace(it, allocation=event.allocation, node=event.node)
        self._context.work(Job(Work.BIND, it.name, event.node))

    def _released(self, it: Task, before: str) -> None:
        """The pod is gone: gives back its ask, and its allocation, which the core may have from before (R2)."""
        application = it.pod.application
        if before in ("New", "Pending", "Scheduling"):
            self._context.send(ReleaseAsk(application, it.name))
        if before != "Completed":
            self._context.send(ReleaseAllocation(application, it.allocation or it.name, answer(it)))

    def _noticed(self, it: Task) -> None:
        """Lets the application check whether it waited for this (F 4.1:102 and 108; R3, R4 for the rest)."""
        application = self._context.applications.get(it.pod.application)
        if application is None:
            return
        if application.state == "Resuming":
            self._context.post(Target.APPLICATION, application.name, "AppTaskCompleted")
        elif application.state == "Reserving" and it.pod.placeholder:
            self._context.post(Target.APPLICATION, application.name, "UpdateReservation")
        else:
            self._applications.look_again(application.name)
