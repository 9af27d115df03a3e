"""The core's messages, as events of the shim's objects (F 4: scheduler_callback.go)."""

from __future__ import annotations

from schedproof.impl.scheduler_interface import (
    ApplicationAccepted,
    ApplicationRejected,
    ApplicationUpdated,
    AskRejected,
    NewAllocation,
    NodeAccepted,
    NodeAction,
    NodeRejected,
    ReleaseAllocation,
    ReleasedAllocation,
    ReleasedAsk,
    Request,
    Response,
    RMAccepted,
    RMRejected,
    TerminationType,
    UpdateNode,
)

from .applications import DONE
from .context import Context
from .events import Event, Job, Target, Work
from .records import Application, Task
from .tables import TERMINATED


def events_of(response: Response, context: Context) -> list[Event]:
    """Returns the events that a message of the core leads to now; an empty list if there is nothing to do.

    A message that would move the object to where it is already leads to no event. Examples are a repeated acceptance
    or allocation, and the failure of an application that is failing.
    """
    match response:
        case RMAccepted(rm):
            return [Event(Target.SCHEDULER, rm, "RegisterSchedulerSucceed")]
        case RMRejected(rm, reason):
            return [Event(Target.SCHEDULER, rm, "RegisterSchedulerFailed", reason)]
        case ApplicationAccepted(name) if _application(name, context) in ("Submitted", "Recovering"):
            return [Event(Target.APPLICATION, name, "AcceptApplication")]
        case ApplicationRejected(name, reason) if _application(name, context) in ("Submitted", "Recovering"):
            return [Event(Target.APPLICATION, name, "RejectApplication", reason)]
        case ApplicationUpdated(name, state, message):
            return _updated(context.applications.get(name), state, message)
        case AskRejected(_, ask, reason):
            # Only for a task that has asked since the shim started, and has not ended.
            task = context.tasks.get(ask)
            asked = task is not None and task.state in ("Pending", "Scheduling")
            return [Event(Target.TASK, ask, "TaskRejected", reason)] if asked else []
        case NewAllocation(_, ask, allocation, node):
            # A task that has not asked since the shim started receives it again then; one that is allocated has it
            # already.
            task = context.tasks.get(ask)
            waits = task is not None and task.state not in ("New", "Pending", "Allocated", "Bound")
            return [Event(Target.TASK, ask, "TaskAllocated", allocation=allocation, node=node)] if waits else []
        case ReleasedAllocation(application, allocation, termination, message):
            # STOPPED_BY_RM is the core's answer to a release by the shim (F 4.1:114).
            if termination is TerminationType.STOPPED_BY_RM or application not in context.applications:
                return []
            return [_release(application, "ReleaseAppAllocation", allocation, termination, message)]
        case ReleasedAsk(application, ask, termination, message):
            if termination is not TerminationType.TIMEOUT or application not in context.applications:
                return []
            task = context.tasks.get(ask)
            waits = task is not None and not task.pod.placeholder and task.state in ("New", "Pending", "Scheduling")
            rejected = [Event(Target.TASK, ask, "TaskRejected", message)] if waits else []
            return [_release(application, "ReleaseAppAllocationAsk", ask, termination, message), *rejected]
        case NodeAccepted(name) if _node(name, context) == "Recovering":
            return [Event(Target.NODE, name, "NodeAccepted")]
        case NodeRejected(name, reason) if _node(name, context) in ("New", "Recovering"):
            return [Event(Target.NODE, name, "NodeRejected", reason)]
        case _:
            return []


def given_back(response: Response, context: Context) -> list[Request]:
    """Returns the immediate answers to a message about an object that the shim does not have (R6)."""
    match response:
        case NewAllocation(application, ask, allocation) if ask not in context.tasks:
            return [ReleaseAllocation(application, allocation)]
        case ReleasedAllocation(application, allocation, termination) if application not in context.applications:
            by_us = termination is TerminationType.STOPPED_BY_RM
            return [] if by_us else [ReleaseAllocation(application, allocation, termination)]
        case NodeAccepted(name) if name not in context.nodes:
            return [UpdateNode(name, NodeAction.DECOMMISSION)]
        case _:
            return []


def drop_application(name: str, context: Context) -> None:
    """Discards an application that the core has completed, without an event (F 4.1: 131-135).

    Its placeholders are deleted. A pod that came too late for it belongs to a new application of that name.
    """
    it = context.applications.get(name)
    if it is not None and it.state in ("Failing", "Failed", "Rejected"):
        return  # it has failed here, and was removed in the core
    late = [t for t in context.tasks_of(name) if not t.pod.placeholder and t.state in ("New", "Pending", "Scheduling")]
    old = context.applications.pop(name, None)
    for task in context.tasks_of(name):
        if task.pod.placeholder and task.state != "Completed":
            context.work(Job(Work.DELETE, task.name))
        del context.tasks[task.name]
    if old is not None and late:
        context.applications[name] = Application(name, old.queue, old.gang)
        context.tasks.update({task.name: Task(task.pod) for task in late})


def _application(name: str, context: Context) -> str:
    it = context.applications.get(name)
    return "" if it is None else it.state


def _node(name: str, context: Context) -> str:
    it = context.nodes.get(name)
    return "" if it is None else it.state


def _updated(it: Application | None, state: str, message: str) -> list[Event]:
    if it is None:
        return []
    if state == "Resuming" and it.state == "Reserving":
        return [Event(Target.APPLICATION, it.name, "ResumingApplication")]
    if state in ("Failing", "Failed") and it.state not in DONE | TERMINATED:
        return [Event(Target.APPLICATION, it.name, "FailApplication", message)]
    return []


def _release(application: str, event: str, task: str, termination: TerminationType, message: str) -> Event:
    return Event(Target.APPLICATION, application, event, message, task=task, termination=termination)
