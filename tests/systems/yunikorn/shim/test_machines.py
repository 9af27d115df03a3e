"""The shim's machines at work: every event in every state, against the facts' tables and the repairs written out here."""

from itertools import product

from schedproof.impl.clock import ManualClock
from schedproof.impl.scheduler_interface import TerminationType
from schedproof.impl.systems.yunikorn.shim import Application as ShimApplication
from schedproof.impl.systems.yunikorn.shim import Cluster, Dropped, Event, KubeNode, Pod, Shim, Target
from schedproof.impl.systems.yunikorn.shim import Node as ShimNode
from schedproof.impl.systems.yunikorn.shim import Task as ShimTask
from schedproof.impl.systems.yunikorn.shim.records import World
from tests.support.rows import each_row

ALL_TASK_STATES = [
    "New",
    "Pending",
    "Scheduling",
    "Allocated",
    "Bound",
    "Completed",
    "Killing",
    "Killed",
    "Rejected",
    "Failed",
]
ALL_APPLICATION_STATES = [
    "New",
    "Submitted",
    "Recovering",
    "Accepted",
    "Reserving",
    "Resuming",
    "Running",
    "Completed",
    "Rejected",
    "Failing",
    "Failed",
    "Killing",
    "Killed",
]
ALL_NODE_STATES = ["New", "Recovering", "Accepted", "Healthy", "Rejected", "Draining"]
ALL_SCHEDULER_STATES = ["New", "Registering", "Registered", "Stopped", "Recovering", "Running"]

# (event, state) -> state after: the facts' sections 4.1 to 4.4, column by column.
APPLICATION = {
    ("SubmitApplication", "New"): "Submitted",
    ("RecoverApplication", "New"): "Recovering",
    ("AcceptApplication", "Submitted"): "Accepted",
    ("AcceptApplication", "Recovering"): "Accepted",
    ("TryReserve", "Accepted"): "Reserving",
    ("UpdateReservation", "Reserving"): "Reserving",
    ("ResumingApplication", "Reserving"): "Resuming",
    ("AppTaskCompleted", "Resuming"): "Resuming",
    ("RunApplication", "Accepted"): "Running",
    ("RunApplication", "Reserving"): "Running",
    ("RunApplication", "Resuming"): "Running",
    ("RunApplication", "Running"): "Running",
    ("ReleaseAppAllocation", "Running"): "Running",
    ("ReleaseAppAllocation", "Failing"): "Failing",
    ("ReleaseAppAllocation", "Resuming"): "Resuming",
    ("ReleaseAppAllocationAsk", "Running"): "Running",
    ("ReleaseAppAllocationAsk", "Failing"): "Failing",
    ("ReleaseAppAllocationAsk", "Resuming"): "Resuming",
    ("CompleteApplication", "Running"): "Completed",
    ("RejectApplication", "Submitted"): "Rejected",
    ("FailApplication", "Submitted"): "Failing",
    ("FailApplication", "Accepted"): "Failing",
    ("FailApplication", "Running"): "Failing",
    ("FailApplication", "Reserving"): "Failing",
    ("FailApplication", "Failing"): "Failed",
    ("FailApplication", "Rejected"): "Failed",
    ("KillApplication", "Accepted"): "Killing",
    ("KillApplication", "Running"): "Killing",
    ("KillApplication", "Reserving"): "Killing",
    ("KilledApplication", "Killing"): "Killed",
}
# "ReleaseAppAllocationAsk: Running, Accepted, Reserving -> Running" is repaired: it moves nothing.
APPLICATION_REPAIRS = {
    **{("ReleaseAppAllocation", state): state for state in ALL_APPLICATION_STATES},
    **{("ReleaseAppAllocationAsk", state): state for state in ALL_APPLICATION_STATES},
    ("RejectApplication", "Recovering"): "Rejected",
    ("FailApplication", "Recovering"): "Failing",
    ("FailApplication", "Resuming"): "Failing",
}
TASK = {
    ("InitTask", "New"): "Pending",
    ("SubmitTask", "Pending"): "Scheduling",
    ("TaskAllocated", "Scheduling"): "Allocated",
    ("TaskAllocated", "Completed"): "Completed",
    ("TaskBound", "Allocated"): "Bound",
    **{("CompleteTask", state): "Completed" for state in ALL_TASK_STATES},
    ("KillTask", "Pending"): "Killing",
    ("KillTask", "Scheduling"): "Killing",
    ("KillTask", "Allocated"): "Killing",
    ("KillTask", "Bound"): "Killing",
    ("TaskKilled", "Killing"): "Killed",
    ("TaskRejected", "New"): "Rejected",
    ("TaskRejected", "Pending"): "Rejected",
    ("TaskRejected", "Scheduling"): "Rejected",
    ("TaskFail", "Rejected"): "Failed",
    ("TaskFail", "Allocated"): "Failed",
}
TASK_REPAIRS = {
    ("TaskAllocated", "Rejected"): "Rejected",
    ("TaskAllocated", "Killed"): "Killed",
    ("TaskAllocated", "Failed"): "Failed",
}
NODE = {
    ("RecoverNode", "New"): "Recovering",
    ("NodeAccepted", "Recovering"): "Accepted",
    ("NodeReady", "Accepted"): "Healthy",
    ("NodeRejected", "New"): "Rejected",
    ("NodeRejected", "Recovering"): "Rejected",
    ("DrainNode", "Healthy"): "Draining",
    ("DrainNode", "Accepted"): "Draining",
    ("RestoreNode", "Draining"): "Healthy",
}
SCHEDULER = {
    ("RegisterScheduler", "New"): "Registering",
    ("RegisterSchedulerSucceed", "Registering"): "Registered",
    ("RegisterSchedulerFailed", "Registering"): "Stopped",
    ("RecoverScheduler", "Registered"): "Recovering",
    ("RecoverSchedulerSucceed", "Recovering"): "Running",
    ("RecoverSchedulerFailed", "Recovering"): "Stopped",
}


def events(table):
    return sorted({event for event, _ in table})


class Single:
    """A shim with one object in some state, that is given one event."""

    def __init__(self, world: World) -> None:
        self.sent: list[object] = []
        self.dropped: list[Dropped] = []
        self.shim = Shim(Cluster(), self.sent.append, ManualClock(), on_drop=self.dropped.append)
        self.shim.restore(world)

    def take(self, event: Event) -> None:
        self.shim.post(event)
        assert self.shim.step()


POD = Pod("pod", "app")


@each_row(("event", "state"), list(product(events(APPLICATION), ALL_APPLICATION_STATES)))
def test_an_application_takes_what_its_table_has(event, state):
    it = Single(World("Running", applications=(ShimApplication("app", "root.default", state=state),)))
    given = Event(Target.APPLICATION, "app", event, task="pod", termination=TerminationType.TIMEOUT)
    it.take(given)
    after = {**APPLICATION, **APPLICATION_REPAIRS}.get((event, state))
    assert it.shim.applications["app"].state == (after or state)
    assert it.dropped == ([] if after else [Dropped(given, state)])


@each_row(("event", "state"), list(product(events(TASK), ALL_TASK_STATES)))
def test_a_task_takes_what_its_table_has(event, state):
    running = ShimApplication("app", "root.default", state="Running")
    it = Single(World("Running", applications=(running,), tasks=(ShimTask(POD, state),)))
    given = Event(Target.TASK, "pod", event, allocation="pod", node="n1")
    it.take(given)
    after = {**TASK, **TASK_REPAIRS}.get((event, state))
    assert it.shim.tasks["pod"].state == (after or state)
    assert it.dropped == ([] if after else [Dropped(given, state)])


@each_row(("event", "state"), list(product(events(NODE), ALL_NODE_STATES)))
def test_a_node_takes_what_its_table_has(event, state):
    it = Single(World("Running", nodes=(ShimNode(KubeNode("n1", 10), state),)))
    given = Event(Target.NODE, "n1", event)
    it.take(given)
    after = NODE.get((event, state))
    assert it.shim.nodes["n1"].state == (after or state)
    assert it.dropped == ([] if after else [Dropped(given, state)])


@each_row(("event", "state"), list(product(events(SCHEDULER), ALL_SCHEDULER_STATES)))
def test_the_scheduler_takes_what_its_table_has(event, state):
    it = Single(World(state))
    given = Event(Target.SCHEDULER, "scheduler", event, reason="applications")
    it.take(given)
    after = SCHEDULER.get((event, state))
    if after == "Registered":
        after = "Recovering"  # which it begins at once
    assert it.shim.scheduler == (after or state)
    assert it.dropped == ([] if after else [Dropped(given, state)])
    assert bool(it.shim.why_stopped) == (after == "Stopped")


def test_an_event_of_an_unknown_object_is_dropped_and_said():
    it = Single(World("Running"))
    given = Event(Target.TASK, "nobody", "InitTask")
    it.take(given)
    assert it.dropped == [Dropped(given, "")]
