"""Core and shim of v0.12.2 are one process (fact 4): they die as one, and the next core begins with nothing.

The shim adds its applications again, and then its nodes. With a node the core gets the allocations that run on it
(4.3). Queues and partitions come from the configuration, which outlasts the process.

The model recovers no placeholders: no configuration has both a gang and a crash. For the same reason an application
that recovers is Starting, as with one allocation.
"""

from dataclasses import replace

from schedproof.model.lang import NONE, Action, Event, Invariant, Ref, Row, Rule, Sort, Term, Var, crash, exists, given
from schedproof.model.lang.model import Element

from . import core_v0_12_2
from .channel import e, lost_with
from .core_v0_12_2 import RUNS
from .machines import APPLICATION, HELD, a, g, k, n, w
from .shim_events import one_of
from .shim_machines import CRASH_TABLE, SHIM_MACHINES_SHIPPED, t
from .shim_rules import MORTAL, STOPPED
from .sorts import Application, Ask, GangTimer, Node, Wakeup

FACT = "4, main.go"

ASK_RECOVERABLE = replace(
    core_v0_12_2.ASK_SHIPPED, events=[*core_v0_12_2.ASK_SHIPPED.events, Event("recover", {"node": Ref(Node)})]
)

LOST: dict[Sort, tuple[Var, tuple[str, ...]]] = {
    Application: (a, tuple(state.name for state in APPLICATION.states)),
    Ask: (k, ("pending", "swapping", *HELD, "released", "removed")),
    Wakeup: (w, ("under_way",)),
    GangTimer: (g, ("armed", "under_way")),
    Node: (n, ("schedulable", "unschedulable")),
}
"""The core's objects that a crash loses: a variable for each, and the states in which there is something to lose."""

LOSES = [
    *[Row(Application, "crash", now, "New", fact=FACT, known=False, timer="off") for now in LOST[Application][1]],
    *[Row(Ask, "crash", now, "to_come", fact=FACT, listed=False, node=NONE, instead=NONE) for now in LOST[Ask][1]],
    Row(Wakeup, "crash", "under_way", "free", fact=FACT, application=NONE, of_state="Starting"),
    *[Row(GangTimer, "crash", now, "off", fact=FACT) for now in LOST[GangTimer][1]],
    *[Row(Node, "crash", now, "to_come", fact=FACT) for now in LOST[Node][1]],
]

_CRASH, _CRASH_RULES = crash("process_crashes", "crash", SHIM_MACHINES_SHIPPED, CRASH_TABLE)
_RESTART, _RESTART_RULES = crash("restart", "crash", SHIM_MACHINES_SHIPPED, CRASH_TABLE)
process_crashes = replace(_CRASH, when=[MORTAL], says="the process of core and shim crashes", fact=FACT)
restart = replace(
    _RESTART,
    when=[STOPPED],
    says="the process of core and shim, which has ended, is started again",
    crash=False,
    fact="4.1, application.go:356",
)


def with_the_core(action: Action) -> list[Rule]:
    """Returns the rules by which ``action`` also loses the core's objects, and all messages."""
    return [
        *[
            Rule(f"{action.name} takes every {sort}", action, [it.is_(*states)], it.fires("crash"), fact=FACT)
            for sort, (it, states) in LOST.items()
        ],
        *[lost_with(action, to_core=to_core) for to_core in (False, True)],
    ]


RUNS_ON_IT = (t.host == n) & one_of(t.pod, ("assigned", "deleting"))

RECOVERS = [
    Row(Ask, "recover", "to_come", "allocated", fact="1.2, application.go:543", listed=True, node=given("node")),
    Row(Application, "recover", "New", "Starting", fact="1.2, application.go:543", timer="armed"),
]
RECOVERY = [
    Rule(
        "a node comes with the allocations that run on it",
        n.fires("create"),
        [RUNS_ON_IT, t.is_("Allocated", "Bound"), t.ask == k, ~k.placeholder, k.is_("to_come"), k.application.known],
        k.fires("recover", node=n),
        fact="4.3, node.go:72",
    ),
    Rule(
        "an allocation that is recovered starts its application",
        k.fires("recover"),
        [k.application.is_("New")],
        k.application.fires("recover"),
        fact="1.2, application.go:543",
    ),
    Rule(
        "an allocation that is recovered moves its application on",
        k.fires("recover"),
        [k.application.is_(*[state for state in RUNS if state != "New"])],
        k.application.fires("run"),
        fact="1.2, application.go:1246",
    ),
]

# Applications are recovered before nodes (4.4).
APPLICATIONS_ARE_RECOVERED = ~exists(t, RUNS_ON_IT & ~t.ask.application.known)

ONE_PROCESS: list[Element] = [
    *LOSES,
    *RECOVERS,
    process_crashes,
    restart,
    *_CRASH_RULES,
    *_RESTART_RULES,
    *with_the_core(process_crashes),
    *with_the_core(restart),
    *RECOVERY,
]
"""What core and shim have in common in v0.12.2."""

APART = [
    *[row.name for row in LOSES],
    process_crashes.name,
    *[rule.name for rule in (*_CRASH_RULES, *with_the_core(process_crashes), *RECOVERY)],
    *[f"{restart.name} takes every {sort}" for sort in LOST],
    lost_with(restart, to_core=True).name,
]
"""The names of what a core and a shim in processes of their own do not have. Nothing fires :data:`RECOVERS` then."""


def under_way(kind: str) -> Term:
    """True if a message of ``kind`` about the ask of task ``t`` is under way."""
    return exists(e, e.is_("under_way") & (e.kind == kind) & (e.ask == t.ask))


ASKED = t.is_("Scheduling", "Completed")
PHASES = [
    Invariant(
        name="pods-with-a-node-have-been-allocated",
        says="the task of a pod with a node is Allocated or Bound, or New after a crash",
        over=[t],
        given=one_of(t.pod, ("assigned", "deleting")),
        then=t.is_("New", "Allocated", "Bound"),
    ),
    Invariant(
        name="asks-are-of-tasks-that-have-asked",
        says="an ask that its task has not sent, or that is under way, is not in the core",
        over=[t],
        given=t.is_("New", "Pending") | under_way("AddAsk"),
        then=t.ask.is_("to_come"),
    ),
    Invariant(
        name="asks-are-of-tasks-that-wait",
        says="the task of an ask that waits in the core, or is under way to it, waits too or has completed",
        over=[t],
        given=t.ask.is_("pending", "swapping") | under_way("AddAsk"),
        then=ASKED,
    ),
    Invariant(
        name="allocations-are-for-tasks-that-wait",
        says="when an allocation is reported, its task waits for it or has completed",
        over=[t],
        given=under_way("NewAllocation"),
        then=ASKED & ~t.ask.is_("to_come", "pending", "swapping"),
    ),
    Invariant(
        name="rejected-asks-are-not-in-the-core",
        says="an ask whose rejection is reported is not in the core, nor under way to it",
        over=[t],
        given=under_way("AskRejected"),
        then=t.is_("Scheduling", "Completed", "Rejected", "Failed") & t.ask.is_("to_come") & ~under_way("AddAsk"),
    ),
]
"""What holds of tasks and asks because core and shim lose them together."""
