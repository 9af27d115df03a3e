"""The rules of v0.12.2's shim: which object an event reaches, and what the core receives (facts 4); and its crash."""

from dataclasses import replace

from schedproof.model.lang import Rule, crash, exists
from schedproof.model.lang.model import Element

from .channel import lost_with, send
from .shim_events import all_placeholders, of, one_of, recover_application, register
from .shim_machines import CRASH_TABLE, SHIM_MACHINES_SHIPPED, b, m, t, z

# --- Crash: only what Kubernetes keeps survives; the messages to the shim are lost

MORTAL = exists(z, z.mortal & ~z.is_("New"))
STOPPED = exists(z, z.is_("Stopped"))
_CRASH, _CRASH_RULES = crash("shim_crashes", "crash", SHIM_MACHINES_SHIPPED, CRASH_TABLE)
_SILENT, _SILENT_RULES = crash("shim_crashes_silently", "crash", SHIM_MACHINES_SHIPPED, CRASH_TABLE)
_RESTART, _RESTART_RULES = crash("restart", "crash", SHIM_MACHINES_SHIPPED, CRASH_TABLE)

shim_crashes = replace(_CRASH, when=[MORTAL], says="the shim crashes; what it has sent still arrives")
shim_crashes_silently = replace(_SILENT, when=[MORTAL], says="the shim crashes; what it has sent is lost")
restart = replace(
    _RESTART,
    when=[STOPPED],
    says="the process of the shim, which has ended, is started again",
    crash=False,
    fact="4.1, application.go:356",
)

CRASHES: list[Element] = [
    *(shim_crashes, shim_crashes_silently, restart),
    *(*_CRASH_RULES, *_SILENT_RULES, *_RESTART_RULES),
    # The next process does not receive what the core sent to one that has died.
    *[lost_with(action, to_core=False) for action in (shim_crashes, shim_crashes_silently, restart)],
    lost_with(shim_crashes_silently, to_core=True),
]
"""The crash of a shim that has a process of its own: the core goes on."""

NO_ALLOCATION_YET = ("New", "Pending", "Scheduling")

ALLOCATED = t.identified & ~t.is_(*NO_ALLOCATION_YET)

OWN_RULES = [
    # A task begins in the state of its pod, without an event.
    Rule(
        "a task of a pod with a node begins as allocated",
        recover_application,
        [of(t, b), t.is_("New"), one_of(t.pod, ("assigned", "deleting"))],
        t.fires("restore"),
        fact="4.2, task.go:246-278",
    ),
    Rule(
        "a task of a pod that has ended begins as completed",
        recover_application,
        [of(t, b), t.is_("New"), t.pod == "ended"],
        t.fires("restore_ended"),
        fact="4.2, task.go:246-278",
    ),
    Rule(
        "a bound placeholder counts for the reservation",
        t.fires("TaskBound"),
        [t.ask.placeholder, t.application.is_("Reserving")],
        t.application.fires("UpdateReservation", last=all_placeholders(t.application, "Bound", but=t)),
        fact="4.1, task.go:442-449",
    ),
    Rule(
        "a completed task is noticed by its application",
        t.fires("CompleteTask"),
        [t.application.is_("Resuming")],
        t.application.fires("AppTaskCompleted", last=all_placeholders(t.application, "Completed", but=t)),
        fact="4.1, context.go:513-526",
    ),
    # Messages to the core.
    *[
        Rule(
            f"{event} notifies the core",
            b.fires(event),
            [],
            send("SubmitApplication", b.core),
            fact=f"4.1, application.go:{at}",
        )
        for event, at in (("SubmitApplication", 90), ("RecoverApplication", 93))
    ],
    Rule("SubmitTask asks the core", t.fires("SubmitTask"), [], send("AddAsk", t.ask), fact="4.2, task.go:104"),
    Rule(
        "a completed task withdraws its ask",
        t.fires("CompleteTask"),
        [t.is_(*NO_ALLOCATION_YET)],
        send("WithdrawAsk", t.ask),
        fact="4.2, task.go:116",
    ),
    Rule(
        "a completed task releases its allocation",
        t.fires("CompleteTask"),
        [ALLOCATED],
        send("ReleaseAllocation", t.ask),
        fact="4.2, task.go:116",
    ),
    Rule(
        "a failed task releases its allocation",
        t.fires("TaskFail"),
        [ALLOCATED],
        send("ReleaseAllocation", t.ask),
        fact="4.2, task.go:128",
    ),
    Rule(
        "a late allocation is released",
        t.fires("TaskAllocated"),
        [t.is_("Completed")],
        send("ReleaseAllocation", t.ask),
        fact="4.2, task.go:415-440",
    ),
    *[
        Rule(f"{event} notifies the core", m.fires(event), [], send(kind, m.core), fact=f"4.3, node.go:{at}")
        for event, kind, at in (
            ("RecoverNode", "CreateNode", 72),
            ("DrainNode", "DrainNode", 88),
            ("RestoreNode", "RestoreNode", 92),
        )
    ],
    Rule(
        "a deleted node is decommissioned",
        m.fires("delete"),
        [m.is_("Healthy", "Draining")],
        send("DecommissionNode", m.core),
        fact="3, context.go:598",
    ),
    lost_with(register, to_core=False),
]
