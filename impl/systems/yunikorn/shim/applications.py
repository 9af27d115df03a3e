"""The handler of application events (F 4.1)."""

from __future__ import annotations

from dataclasses import replace

from schedproof.impl.scheduler_interface import AddApplication, ReleaseAllocation, RemoveApplication, TerminationType

from .context import Context
from .errors import SubmitError
from .events import Event, Job, Target, Work
from .records import Application, Task
from .tables import TERMINATED

DONE = frozenset({"Completed", "Failing", "Failed", "Rejected", "Killing", "Killed"})
"""The states in which an application starts nothing any more."""


class Applications:
    """The handler of application events."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def handle(self, event: Event) -> None:
        """Handles an event, if the table has a row for it.

        A second FailApplication means that no task is active any more (R3); in v0.12.2 any second one counts.
        """
        now = self._context.applications.get(event.name)
        early = now is not None and now.state == "Failing" and self._context.going_on(event.name)
        if now is not None and event.event == "FailApplication" and early:
            self._context.drop(event, now.state)
            return
        if not self._is_due(event):
            return
        before = self._context.move(event)
        if before is None:
            return
        it = self._context.applications[event.name]
        match event.event:
            case "SubmitApplication" | "RecoverApplication":
                self._submit(it)
            case "TryReserve":
                self._create_placeholders(it)
            case "UpdateReservation" | "AppTaskCompleted":
                self.look_again(it.name)
            case "ResumingApplication":
                self._give_up_placeholders(it)
            case "RunApplication":
                self._give_up_placeholders(it, only_new=True)
            case "ReleaseAppAllocation":
                self._release(event)
            case "ReleaseAppAllocationAsk":
                self._drop_ask(event)
            case "RejectApplication":
                self._because(it, event)
                self._context.post(Target.APPLICATION, it.name, "FailApplication", reason=event.reason)
            case "FailApplication":
                self._because(it, event)
                if before == "Failing":
                    self._context.send(RemoveApplication(it.name))  # it may wait there for its first ask
                elif before != "Rejected":
                    self._clean_up(it)

    def _is_due(self, event: Event) -> bool:
        """True if the event is still due: for a submission there is a new pod, for TryReserve all are new."""
        tasks = self._context.tasks_of(event.name)
        if event.event == "SubmitApplication" and tasks:
            return any(not t.pod.placeholder and t.state == "New" for t in tasks)
        return event.event != "TryReserve" or all(t.state == "New" for t in tasks)

    def look_again(self, name: str) -> None:
        """Posts an event if a change has ended a reservation, a resumption or a failure (R3, R4).

        v0.12.2 checks once, and only for bound or completed placeholders.
        """
        it = self._context.applications.get(name)
        if it is None:
            return
        over = False
        if it.state == "Reserving":
            over = all(self._settled(pod.name, "Bound") for pod in it.placeholders)
        elif it.state == "Resuming":
            over = all(t.state in TERMINATED for t in self._context.tasks_of(name, placeholders=True))
        elif it.state == "Failing" and not self._context.going_on(name):
            self._once(name, "FailApplication")
        if over:
            self._once(name, "RunApplication")

    def schedule(self) -> None:
        """Makes one pass of the scheduling loop: submits and runs applications, begins tasks (F 4.1, 4.2)."""
        for it in list(self._context.applications.values()):
            tasks = self._context.tasks_of(it.name)
            match it.state:
                case "New" if any(not t.pod.placeholder and t.state == "New" for t in tasks):
                    self._once(it.name, "SubmitApplication")
                case "Accepted":
                    reserve = it.gang is not None and all(t.state == "New" for t in tasks)
                    self._once(it.name, "TryReserve" if reserve else "RunApplication")
                case "Reserving" | "Running":
                    placeholders = it.state == "Reserving"
                    for task in tasks:
                        if task.state == "New" and task.pod.placeholder == placeholders:
                            self._once(task.name, "InitTask", Target.TASK)

    def _once(self, name: str, event: str, target: Target = Target.APPLICATION) -> None:
        """Posts an event that is not under way already."""
        self._context.post_once(Event(target, name, event))

    def _submit(self, it: Application) -> None:
        gang = it.gang
        request = AddApplication(it.name, it.queue)
        if gang is not None:
            request = replace(request, gang_style=gang.style, placeholders=gang.amount, gang_timeout=gang.timeout)
        try:
            self._context.send(request)
        except SubmitError as problem:
            self._context.post(Target.APPLICATION, it.name, "FailApplication", reason=str(problem))

    def _create_placeholders(self, it: Application) -> None:
        for pod in it.placeholders:
            if pod.name not in self._context.tasks:
                self._context.work(Job(Work.CREATE, pod.name))
        self.look_again(it.name)

    def _settled(self, name: str, state: str) -> bool:
        task = self._context.tasks.get(name)
        return task is not None and (task.state == state or task.state in TERMINATED)

    def _give_up_placeholders(self, it: Application, *, only_new: bool = False) -> None:
        """Does not make placeholders that nobody will use, and deletes those that there are (R4)."""
        names = {pod.name for pod in it.placeholders}
        self._context.jobs = [j for j in self._context.jobs if not (j.work is Work.CREATE and j.task in names)]
        for task in self._context.tasks_of(it.name, placeholders=True):
            if task.state == "New" or (not only_new and task.state not in TERMINATED):
                self._context.work(Job(Work.DELETE, task.name))
        self.look_again(it.name)

    def _release(self, event: Event) -> None:
        """The core wants an allocation back: deletes the pod, or answers at once if it is gone (R2)."""
        task = self._context.tasks.get(event.task)
        if task is None or task.state == "Completed":
            self._context.send(ReleaseAllocation(event.name, event.task, event.termination))
            return
        self._context.tasks[task.name] = replace(task, termination=event.termination)
        self._context.work(Job(Work.DELETE, task.name))

    def _drop_ask(self, event: Event) -> None:
        """The core has dropped an ask: deletes its pod if it is a placeholder (R2)."""
        task = self._context.tasks.get(event.task)
        if task is not None and task.pod.placeholder and task.state not in TERMINATED:
            self._context.work(Job(Work.DELETE, task.name))

    def _because(self, it: Application, event: Event) -> None:
        if event.reason and not it.reason:
            self._context.applications[it.name] = replace(it, reason=event.reason)

    def _clean_up(self, it: Application) -> None:
        """A failing application deletes its pods (R3): so the core also learns of a failure that it did not cause."""
        self._give_up_placeholders(it)
        for task in self._context.going_on(it.name):
            self._context.work(Job(Work.DELETE, task.name))
        self.look_again(it.name)


def answer(task: Task) -> TerminationType:
    """Returns the type with which to release a task's allocation: the core's own type, if the core asked for it."""
    return TerminationType.STOPPED_BY_RM if task.termination is None else task.termination
