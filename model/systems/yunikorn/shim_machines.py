"""The k8shim's four machines: states, attributes and two transition tables for each.

The document has a heading and a picture for each machine, and no text (lines 70 to 84). ``..._FIGURE`` is the table
of the picture, by the edges in section 0 of the facts. ``..._SHIPPED`` is the table of v0.12.2 (facts 4.1 to 4.4).

Two pictures differ from the code. That of the application lacks its self loops and two moves to Running; that of the
task lacks two self loops on Completed.

A crash of the shim loses all its objects. It builds them again from the pods and nodes that Kubernetes lists, and
each begins in New. So all other states are volatile; only what Kubernetes keeps (``pod``, ``cordoned``) is durable.
"""

from schedproof.model.lang import (
    Attribute,
    BoolType,
    Durability,
    EnumType,
    Event,
    Machine,
    Ref,
    Row,
    State,
    given,
    me,
    variables,
)

from .sorts import Application, Ask, Node, Partition, ShimApplication, ShimNode, ShimScheduler, Task

b, c = variables(ShimApplication, "b c")
t, u = variables(Task, "t u")
m = variables(ShimNode, "m")[0]
z = variables(ShimScheduler, "z")[0]

APPLICATION_STATES = (
    *("New", "Submitted", "Recovering", "Accepted", "Reserving", "Resuming", "Running"),
    *("Completed", "Rejected", "Failing", "Failed", "Killing", "Killed"),
)
# The string of the state Allocated is "TaskAllocated", which is also the name of an event. The picture shows the
# string.
TASK_STATES = (
    *("New", "Pending", "Scheduling", "Allocated", "Bound"),
    *("Completed", "Killing", "Killed", "Rejected", "Failed"),
)
TERMINATED = ("Rejected", "Killed", "Failed", "Completed")  # states.go:117
NODE_STATES = ("New", "Recovering", "Accepted", "Healthy", "Rejected", "Draining")
# The code also declares a state Draining (states.go:38), which is in no row: section 0.
SCHEDULER_STATES = ("New", "Registering", "Registered", "Stopped", "Recovering", "Running")


def _states(names: tuple[str, ...]) -> list[State]:
    """Objects begin in New, also after a crash; a crash loses all other states."""
    first, *others = names
    return [State(first), *[State(name, Durability.VOLATILE) for name in others]]


SHIM_APPLICATION = Machine(
    ShimApplication,
    line=72,
    states=_states(APPLICATION_STATES),
    attributes=[
        Attribute("core", Ref(Application), rigid=True, line=6, about="what stands for this object in the core")
    ],
)
TASK = Machine(
    Task,
    line=76,
    states=_states(TASK_STATES),
    attributes=[
        Attribute("ask", Ref(Ask), rigid=True, line=6),
        Attribute("application", Ref(ShimApplication), rigid=True),
    ],
)
SHIM_NODE = Machine(
    ShimNode,
    line=80,
    states=_states(NODE_STATES),
    attributes=[Attribute("core", Ref(Node), rigid=True, line=6, about="what stands for this object in the core")],
)
SHIM_SCHEDULER = Machine(
    ShimScheduler,
    line=84,
    states=_states(SCHEDULER_STATES),
    attributes=[
        Attribute("partition", Ref(Partition), rigid=True),
        Attribute("mortal", BoolType(), rigid=True, about="its process may end", assumed=False),
    ],
)

SHIM_MACHINES = [SHIM_APPLICATION, TASK, SHIM_NODE, SHIM_SCHEDULER]
"""The machines of the pictures: states only."""

POD = EnumType(("absent", "pending", "withdrawn", "assigned", "ended", "deleting", "deleted"))
"""The states of a pod in Kubernetes.

In this order: not made yet; without a node; without a node and deletion requested; bound to a node; Succeeded or
Failed; bound and deletion requested; deleted.
"""

SHIM_MACHINES_SHIPPED = [
    Machine(
        ShimApplication,
        line=72,
        states=SHIM_APPLICATION.states,
        attributes=[
            *SHIM_APPLICATION.attributes,
            # The RunApplication was queued when the last placeholder was bound (4.1, line 102) or completed (line 108):
            # that check is made only then.
            Attribute("run_due", BoolType(), about="the dispatcher holds a RunApplication for it"),
            # The shim can find a fault with it: a submit error, or a Spark operator that fails it.
            Attribute("troubled", BoolType(), rigid=True, about="may fail on the side of the shim", assumed=False),
        ],
        events=[Event("UpdateReservation", {"last": BoolType()}), Event("AppTaskCompleted", {"last": BoolType()})],
    ),
    Machine(
        Task,
        line=76,
        states=TASK.states,
        attributes=[
            *TASK.attributes,
            Attribute("pod", POD, durable=True, about="what the resource manager has of the pod"),
            # Without the id CompleteTask releases no allocation (4.2, line 116).
            Attribute("identified", BoolType(), about="the shim knows the id of the allocation"),
            Attribute("host", Ref(Node), durable=True, about="the node where the pod is to run"),
        ],
        events=[
            Event("TaskAllocated", {"host": Ref(Node)}),
            Event("CompleteTask", {"pod": POD}),
            Event("change", {"pod": POD}),
            Event("doom", {"pod": POD}),
        ],
    ),
    Machine(
        ShimNode,
        line=80,
        states=SHIM_NODE.states,
        attributes=[
            *SHIM_NODE.attributes,
            Attribute("cordoned", BoolType(), durable=True),
            # Read when the object is made (section 3: node.go:129-145), and not again when the node is accepted.
            Attribute("schedulable", BoolType()),
            Attribute("deleted", BoolType(), durable=True),
        ],
        events=[
            Event("DrainNode", {"cordoned": BoolType()}),
            Event("RestoreNode", {"cordoned": BoolType()}),
            Event("mark", {"cordoned": BoolType()}),
        ],
    ),
    SHIM_SCHEDULER,
]
"""The machines of v0.12.2: with the attributes that the code keeps beside the state, and with Kubernetes' own."""


# --- The pictures' tables (section 0): without most self loops, and for the application without two moves

APPLICATION_FIGURE = [
    Row(ShimApplication, "SubmitApplication", "New", "Submitted", line=72),
    Row(ShimApplication, "RecoverApplication", "New", "Recovering", line=72),
    *[Row(ShimApplication, "AcceptApplication", now, "Accepted", line=72) for now in ("Submitted", "Recovering")],
    Row(ShimApplication, "TryReserve", "Accepted", "Reserving", line=72),
    Row(ShimApplication, "ResumingApplication", "Reserving", "Resuming", line=72),
    *[Row(ShimApplication, "RunApplication", now, "Running", line=72) for now in ("Accepted", "Reserving", "Resuming")],
    Row(ShimApplication, "CompleteApplication", "Running", "Completed", line=72),
    Row(ShimApplication, "RejectApplication", "Submitted", "Rejected", line=72),
    *[
        Row(ShimApplication, "FailApplication", now, "Failing", line=72)
        for now in ("Submitted", "Accepted", "Reserving", "Running")
    ],
    *[Row(ShimApplication, "FailApplication", now, "Failed", line=72) for now in ("Rejected", "Failing")],
    *[Row(ShimApplication, "KillApplication", now, "Killing", line=72) for now in ("Accepted", "Reserving", "Running")],
    Row(ShimApplication, "KilledApplication", "Killing", "Killed", line=72),
]

TASK_FIGURE = [
    Row(Task, "InitTask", "New", "Pending", line=76),
    Row(Task, "SubmitTask", "Pending", "Scheduling", line=76),
    Row(Task, "TaskAllocated", "Scheduling", "Allocated", line=76),
    Row(Task, "TaskBound", "Allocated", "Bound", line=76),
    *[Row(Task, "CompleteTask", now, "Completed", line=76) for now in TASK_STATES if now != "Completed"],
    *[Row(Task, "KillTask", now, "Killing", line=76) for now in ("Pending", "Scheduling", "Allocated", "Bound")],
    Row(Task, "TaskKilled", "Killing", "Killed", line=76),
    *[Row(Task, "TaskRejected", now, "Rejected", line=76) for now in ("New", "Pending", "Scheduling")],
    *[Row(Task, "TaskFail", now, "Failed", line=76) for now in ("Rejected", "Allocated")],
]

NODE_FIGURE = [
    Row(ShimNode, "RecoverNode", "New", "Recovering", line=80),
    Row(ShimNode, "NodeAccepted", "Recovering", "Accepted", line=80),
    Row(ShimNode, "NodeReady", "Accepted", "Healthy", line=80),
    *[Row(ShimNode, "NodeRejected", now, "Rejected", line=80) for now in ("New", "Recovering")],
    *[Row(ShimNode, "DrainNode", now, "Draining", line=80) for now in ("Healthy", "Accepted")],
    Row(ShimNode, "RestoreNode", "Draining", "Healthy", line=80),
]

SCHEDULER_FIGURE = [
    Row(ShimScheduler, "RegisterScheduler", "New", "Registering", line=84),
    Row(ShimScheduler, "RegisterSchedulerSucceed", "Registering", "Registered", line=84),
    Row(ShimScheduler, "RegisterSchedulerFailed", "Registering", "Stopped", line=84),
    Row(ShimScheduler, "RecoverScheduler", "Registered", "Recovering", line=84),
    Row(ShimScheduler, "RecoverSchedulerSucceed", "Recovering", "Running", line=84),
    Row(ShimScheduler, "RecoverSchedulerFailed", "Recovering", "Stopped", line=84),
]

SHIM_TABLE_FIGURE = [*APPLICATION_FIGURE, *TASK_FIGURE, *NODE_FIGURE, *SCHEDULER_FIGURE]

# --- The tables of v0.12.2

DUE = me.run_due | given("last")

APPLICATION_SHIPPED = [
    Row(ShimApplication, "SubmitApplication", "New", "Submitted", fact="4.1, application.go:90"),
    Row(ShimApplication, "RecoverApplication", "New", "Recovering", fact="4.1, application.go:93"),
    *[
        Row(ShimApplication, "AcceptApplication", now, "Accepted", fact="4.1, application.go:96")
        for now in ("Submitted", "Recovering")
    ],
    Row(ShimApplication, "TryReserve", "Accepted", "Reserving", fact="4.1, application.go:99"),
    Row(ShimApplication, "UpdateReservation", "Reserving", "Reserving", fact="4.1, application.go:102", run_due=DUE),
    Row(ShimApplication, "ResumingApplication", "Reserving", "Resuming", fact="4.1, application.go:105"),
    Row(ShimApplication, "AppTaskCompleted", "Resuming", "Resuming", fact="4.1, application.go:108", run_due=DUE),
    *[
        Row(ShimApplication, "RunApplication", now, "Running", fact="4.1, application.go:111", run_due=False)
        for now in ("Accepted", "Reserving", "Resuming", "Running")
    ],
    Row(ShimApplication, "ReleaseAppAllocation", "Running", "Running", fact="4.1, application.go:114"),
    Row(ShimApplication, "ReleaseAppAllocation", "Failing", "Failing", fact="4.1, application.go:117"),
    Row(ShimApplication, "ReleaseAppAllocation", "Resuming", "Resuming", fact="4.1, application.go:120"),
    # One placeholder whose ask times out is enough to set the whole application running.
    *[
        Row(ShimApplication, "ReleaseAppAllocationAsk", now, "Running", fact="4.1, application.go:123")
        for now in ("Running", "Accepted", "Reserving")
    ],
    Row(ShimApplication, "ReleaseAppAllocationAsk", "Failing", "Failing", fact="4.1, application.go:126"),
    Row(ShimApplication, "ReleaseAppAllocationAsk", "Resuming", "Resuming", fact="4.1, application.go:129"),
    Row(ShimApplication, "CompleteApplication", "Running", "Completed", fact="4.1, application.go:132"),
    Row(ShimApplication, "RejectApplication", "Submitted", "Rejected", fact="4.1, application.go:135"),
    *[
        Row(ShimApplication, "FailApplication", now, "Failing", fact="4.1, application.go:138")
        for now in ("Submitted", "Accepted", "Running", "Reserving")
    ],
    *[
        Row(ShimApplication, "FailApplication", now, "Failed", fact="4.1, application.go:141")
        for now in ("Failing", "Rejected")
    ],
    *[
        Row(ShimApplication, "KillApplication", now, "Killing", fact="4.1, application.go:144")
        for now in ("Accepted", "Running", "Reserving")
    ],
    Row(ShimApplication, "KilledApplication", "Killing", "Killed", fact="4.1, application.go:147"),
]

TASK_SHIPPED = [
    Row(Task, "InitTask", "New", "Pending", fact="4.2, task.go:101"),
    Row(Task, "SubmitTask", "Pending", "Scheduling", fact="4.2, task.go:104"),
    Row(Task, "TaskAllocated", "Scheduling", "Allocated", fact="4.2, task.go:107", identified=True, host=given("host")),
    Row(Task, "TaskAllocated", "Completed", "Completed", fact="4.2, task.go:110", identified=True, host=given("host")),
    Row(Task, "TaskBound", "Allocated", "Bound", fact="4.2, task.go:113", pod="assigned"),
    *[Row(Task, "CompleteTask", now, "Completed", fact="4.2, task.go:116", pod=given("pod")) for now in TASK_STATES],
    *[
        Row(Task, "KillTask", now, "Killing", fact="4.2, task.go:119")
        for now in ("Pending", "Scheduling", "Allocated", "Bound")
    ],
    Row(Task, "TaskKilled", "Killing", "Killed", fact="4.2, task.go:122"),
    *[Row(Task, "TaskRejected", now, "Rejected", fact="4.2, task.go:125") for now in ("New", "Pending", "Scheduling")],
    *[Row(Task, "TaskFail", now, "Failed", fact="4.2, task.go:128") for now in ("Rejected", "Allocated")],
]

NODE_SHIPPED = [
    Row(ShimNode, "RecoverNode", "New", "Recovering", fact="4.3, node.go:72", schedulable=~me.cordoned),
    Row(ShimNode, "NodeAccepted", "Recovering", "Accepted", fact="4.3, node.go:76"),
    Row(ShimNode, "NodeReady", "Accepted", "Healthy", fact="4.3, node.go:80"),
    *[Row(ShimNode, "NodeRejected", now, "Rejected", fact="4.3, node.go:84") for now in ("New", "Recovering")],
    *[
        Row(ShimNode, "DrainNode", now, "Draining", fact="4.3, node.go:88", cordoned=given("cordoned"))
        for now in ("Healthy", "Accepted")
    ],
    Row(ShimNode, "RestoreNode", "Draining", "Healthy", fact="4.3, node.go:92", cordoned=given("cordoned")),
]

SCHEDULER_SHIPPED = [
    Row(ShimScheduler, "RegisterScheduler", "New", "Registering", fact="4.4, scheduler.go:88"),
    Row(ShimScheduler, "RegisterSchedulerSucceed", "Registering", "Registered", fact="4.4, scheduler.go:91"),
    Row(ShimScheduler, "RegisterSchedulerFailed", "Registering", "Stopped", fact="4.4, scheduler.go:94"),
    Row(ShimScheduler, "RecoverScheduler", "Registered", "Recovering", fact="4.4, scheduler.go:97"),
    Row(ShimScheduler, "RecoverSchedulerSucceed", "Recovering", "Running", fact="4.4, scheduler.go:100"),
    Row(ShimScheduler, "RecoverSchedulerFailed", "Recovering", "Stopped", fact="4.4, scheduler.go:103"),
]

SHIM_TABLE = [*APPLICATION_SHIPPED, *TASK_SHIPPED, *NODE_SHIPPED, *SCHEDULER_SHIPPED]

# --- Beside the machines' own events: changes of pods and nodes, and crashes

TASK_BESIDE = [
    # A pod appears: a user's, or a placeholder that the shim makes. A pod also changes while no shim is up to see it.
    Row(Task, "change", "New", "New", pod=given("pod"), fact="4.1, application.go:541-552"),
    *[Row(Task, "doom", now, now, pod=given("pod"), fact="4.1, application.go:114-131") for now in TASK_STATES],
    # The task of a pod that has a node already, or has ended, begins in a later state without an event.
    Row(Task, "restore", "New", "Allocated", identified=True, fact="4.2, task.go:246-278"),
    Row(Task, "restore_ended", "New", "Completed", fact="4.2, task.go:246-278"),
]
NODE_BESIDE = [
    *[Row(ShimNode, "mark", now, now, cordoned=given("cordoned"), fact="3, nodes.go:137-159") for now in NODE_STATES],
    *[Row(ShimNode, "delete", now, now, deleted=True, fact="3, context.go:598-653") for now in NODE_STATES],
]
CRASH_TABLE = [
    *[Row(ShimApplication, "crash", now, "New", run_due=False) for now in APPLICATION_STATES if now != "New"],
    *[Row(Task, "crash", now, "New", identified=False) for now in TASK_STATES if now != "New"],
    *[Row(ShimNode, "crash", now, "New", schedulable=False) for now in NODE_STATES if now != "New"],
    *[Row(ShimScheduler, "crash", now, "New") for now in SCHEDULER_STATES if now != "New"],
]

SHIM_BESIDE = [*TASK_BESIDE, *NODE_BESIDE, *CRASH_TABLE]
