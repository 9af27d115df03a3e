"""The scheduler: its event handler, its scheduling loop, and the manager of a removed partition."""

from schedproof.model.lang import Action, Rule, Term, Var, exists

from .deliveries import DELIVER, RUNNING, sayable
from .flows import e, send
from .machines import a, k, n, p, x, y

PRESENT = "present"
HELD = ("proposed", "confirmed", "preempting")
"""The states in which the scheduler counts an allocation on its node."""


def known(application: Term) -> Term:
    """True if the scheduler finds the application: "find partition, app" (line 118)."""
    return application.scheduler.is_(PRESENT) & application.partition.scheduler.is_(PRESENT)


# --- Events about partitions, applications and nodes

STOPS = [
    Rule(
        f"{kind}: the partition is stopped",
        DELIVER[kind],
        [e.partition.scheduler.is_(PRESENT)],
        e.partition.scheduler.fires("stop"),
        line=line,
    )
    for kind, line in (("RemovePartition", 149), ("PartitionDeleted", 24))
]

ADDS_APPLICATION = (
    e.application.partition.scheduler.is_(PRESENT) & ~e.application.refused & e.application.scheduler.is_("absent")
)

OBJECTS = [
    Rule(
        "the scheduler adds a partition",
        DELIVER["PartitionUpdated"],
        [e.partition.scheduler.is_("absent")],
        e.partition.scheduler.fires("add"),
        line=141,
    ),
    *STOPS,
    Rule(
        "the scheduler adds an application",
        DELIVER["ApplicationAdded"],
        [ADDS_APPLICATION],
        e.application.scheduler.fires("add"),
        line=52,
    ),
    Rule(
        "the scheduler rejects an application: to the cache",
        DELIVER["ApplicationAdded"],
        [~ADDS_APPLICATION],
        send("RejectedNewApplication", e.application),
        line=53,
    ),
    # "No matter if failed or not, send RMApplicationUpdateEvent to RM."
    Rule(
        "an added application is accepted",
        DELIVER["ApplicationAdded"],
        [ADDS_APPLICATION],
        send("ApplicationAccepted", e.application),
        line=54,
    ),
    Rule(
        "the scheduler rejects an application: to the resource manager",
        DELIVER["ApplicationAdded"],
        [~ADDS_APPLICATION],
        send("ApplicationRejected", e.application),
        line=54,
    ),
    # The scheduler does not remove what it does not find, and then sends nothing (readings.py).
    Rule(
        "the scheduler removes an application",
        DELIVER["ApplicationRemoved"],
        [known(e.application)],
        e.application.scheduler.fires("remove"),
        line=55,
    ),
    Rule(
        "the cache is notified of a removed application",
        DELIVER["ApplicationRemoved"],
        [known(e.application)],
        send("RemovedApplication", e.application),
        line=56,
    ),
    # A node of a missing partition is dropped silently (our interpretation: no line covers it).
    Rule(
        "the scheduler adds a node",
        DELIVER["NodeAdded"],
        [e.node.partition.scheduler.is_(PRESENT), e.node.scheduler.is_("absent")],
        e.node.scheduler.fires("add"),
        line=19,
    ),
    # The scheduler does not remove a node that it does not have (our interpretation; the cache sends NodeRemoved only
    # after NodeAdded, in the same queue).
    Rule(
        "the scheduler removes a node",
        DELIVER["NodeRemoved"],
        [e.node.scheduler.is_(PRESENT)],
        e.node.scheduler.fires("remove"),
        line=158,
    ),
    # "release reserved resources": these are the allocations on it (readings.py); the model has no reservations.
    Rule(
        "allocations go with their node in the scheduler",
        n.scheduler.fires("remove"),
        [x.node == n, x.scheduler.is_(*HELD)],
        x.scheduler.fires("remove"),
        line=158,
    ),
    # Asks and allocations are removed with their application (readings.py).
    Rule(
        "asks go with their application",
        a.scheduler.fires("remove"),
        [k.application == a, ~k.scheduler.is_("absent")],
        k.scheduler.fires("remove"),
        line=55,
    ),
    Rule(
        "allocations go with their application in the scheduler",
        a.scheduler.fires("remove"),
        [x.ask.application == a, x.scheduler.is_(*HELD)],
        x.scheduler.fires("remove"),
        line=55,
    ),
]

# --- Events about asks

ASKS = [
    Rule(
        "the scheduler adds an ask",
        DELIVER["NewAsk"],
        [known(e.ask.application), e.ask.scheduler.is_("absent")],
        e.ask.scheduler.fires("add"),
        line=107,
    ),
    Rule(
        "the scheduler rejects an ask",
        DELIVER["NewAsk"],
        [~known(e.ask.application)],
        send("AskRejected", e.ask),
        line=108,
    ),
    Rule(
        "the scheduler removes an ask",
        DELIVER["RemoveAsk"],
        [known(e.ask.application), ~e.ask.scheduler.is_("absent")],
        e.ask.scheduler.fires("remove"),
        line=119,
    ),
]

# --- Events about allocations

# An accepted proposal is confirmed if its ask still exists.
CONFIRMS = (
    known(e.allocation.ask.application)
    & e.allocation.scheduler.is_("proposed")
    & e.allocation.ask.scheduler.is_("allocating")
)
UNDONE = e.allocation.scheduler.is_("proposed")

ACCEPTED = [
    Rule(
        "the scheduler confirms an allocation",
        DELIVER["AcceptedAllocation"],
        [CONFIRMS],
        e.allocation.scheduler.fires("confirm"),
        line=71,
    ),
    Rule(
        "its ask is satisfied",
        DELIVER["AcceptedAllocation"],
        [CONFIRMS],
        e.allocation.ask.scheduler.fires("confirm"),
        line=71,
    ),
    # "if fails: Send ReleaseAllocationsEvent to Cache *again*". The scheduler takes the amount of a proposal from its
    # ask (facts 6: from the proposal only since 0.9.0). The ask is gone, so the scheduler still counts the proposal.
    Rule(
        "the scheduler fails", DELIVER["AcceptedAllocation"], [~CONFIRMS], send("ReleaseFailed", e.allocation), line=72
    ),
    # An ask that still exists waits again, as after a rejected proposal. This is our interpretation; only in a
    # stopped partition does the ask still exist.
    Rule(
        "the ask of a failed proposal waits again",
        DELIVER["AcceptedAllocation"],
        [~CONFIRMS, e.allocation.ask.scheduler.is_("allocating")],
        e.allocation.ask.scheduler.fires("try_again"),
        line=72,
    ),
]

REJECTED = [
    Rule(
        "a rejected proposal is dropped",
        DELIVER["RejectedAllocation"],
        [UNDONE],
        e.allocation.scheduler.fires("remove"),
        line=68,
    ),
    # The ask waits again (readings.py): the document has only "set RejectedAllocation".
    Rule(
        "the ask of a rejected proposal waits again",
        DELIVER["RejectedAllocation"],
        [e.allocation.ask.scheduler.is_("allocating")],
        e.allocation.ask.scheduler.fires("try_again"),
        line=69,
    ),
]

# This is for an allocation, not for a proposal. One that is given back is removed from the scheduler first
# (readings.py).
RELEASED = [
    *[
        Rule(
            f"{kind}: the scheduler releases the allocation",
            DELIVER[kind],
            [e.allocation.scheduler.is_("confirmed", "preempting")],
            e.allocation.scheduler.fires("remove"),
            line=line,
        )
        for kind, line in (("ReleasedAllocation", 84), ("ToRelease", 94))
    ],
    # "Update ReconcilePlugin" (96) changes neither copy.
    Rule("back to the cache", DELIVER["ToRelease"], [], send("ReleaseForRm", e.allocation), line=97),
]

# An allocation that cannot be recovered, because its application or node is missing, is dropped silently (our
# interpretation: line 127 does not cover it).
RECOVERS = (
    known(e.allocation.ask.application)
    & e.allocation.node.scheduler.is_(PRESENT)
    & e.allocation.scheduler.is_("absent")
    & e.allocation.ask.scheduler.is_("absent")
)

RECOVERED = [
    Rule(
        "an ask for an allocation to recover",
        DELIVER["RecoverAllocation"],
        [RECOVERS],
        e.allocation.ask.scheduler.fires("recover"),
        line=128,
    ),
    Rule(
        "a proposal for an allocation to recover",
        DELIVER["RecoverAllocation"],
        [RECOVERS],
        e.allocation.scheduler.fires("propose"),
        line=129,
    ),
]

# --- The scheduling loop, a goroutine of its own that reads the scheduler's copies

propose = Action(
    "propose",
    [x],
    when=[
        x.ask.scheduler.is_("pending"),
        known(x.ask.application),
        x.scheduler.is_("absent"),
        x.node.scheduler.is_(PRESENT),
        ~exists(y, (y.node == x.node) & y.scheduler.is_(*HELD)),
        sayable("ProposeAllocation", x),
        RUNNING,
    ],
    fires=[x.scheduler.fires("propose"), x.ask.scheduler.fires("allocate")],
    says="the scheduler proposes the allocation {x}",
    line=64,
)

preempt = Action(
    "preempt",
    [x],
    when=[x.scheduler.is_("confirmed"), known(x.ask.application), sayable("ProposeRelease", x), RUNNING],
    fires=[x.scheduler.fires("preempt")],
    says="the scheduler proposes to release the allocation {x}",
    line=79,
)

LOOP = [
    Rule("a proposal", x.scheduler.fires("propose"), [], send("ProposeAllocation", x), line=64),
    Rule("a proposal to release", x.scheduler.fires("preempt"), [], send("ProposeRelease", x), line=79),
]

# --- "PartitionManager removes queues, applications, nodes async." (150)


def manager(name: str, variable: Var, partition: Term, when: list[Term], says: str) -> Action:
    """An action of a stopped partition's manager, which removes one object at a time."""
    guard = [partition.scheduler.is_("stopped"), *when, RUNNING]
    return Action(name, [variable], guard, [variable.scheduler.fires("remove")], says, line=150)


removes_application = manager(
    "manager_removes_application",
    a,
    a.partition,
    [a.scheduler.is_(PRESENT)],
    "the partition's manager removes the application {a}",
)
removes_node = manager(
    "manager_removes_node",
    n,
    n.partition,
    [n.scheduler.is_(PRESENT)],
    "the partition's manager removes the node {n}",
)
ends = manager(
    "manager_ends",
    p,
    p,
    [
        ~exists(a, (a.partition == p) & a.scheduler.is_(PRESENT)),
        ~exists(n, (n.partition == p) & n.scheduler.is_(PRESENT)),
    ],
    "the partition {p} is empty, and its manager ends",
)

# The cache is notified then (readings.py, of line 14; the text does not mention the cache's copy).
MANAGED = [Rule("a partition is removed", p.scheduler.fires("remove"), [], send("PartitionRemoved", p), line=14)]

SCHEDULER_ACTIONS = [propose, preempt, removes_application, removes_node, ends]
SCHEDULER_RULES = [*OBJECTS, *ASKS, *ACCEPTED, *REJECTED, *RELEASED, *RECOVERED, *LOOP, *MANAGED]
