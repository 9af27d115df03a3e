"""The merged design with a proposal and its commit in two steps, as the locks of lines 193, 209 and 210 separate them.

A proposal is found under a read lock, which is released. It is committed under a write lock. In between, the resource manager
may remove the node or the application, withdraw the ask, or change the configuration, and another proposal may be committed.
"""

from dataclasses import replace
from functools import partial

from schedproof.model.lang import (
    Action,
    AlwaysCanReach,
    Attribute,
    BoolType,
    Change,
    Invariant,
    Row,
    Rule,
    StepInvariant,
    Term,
    after,
    exists,
)
from schedproof.model.lang.terms import both

from .machines import x, y
from .merged import MERGED, PRESENT, allocate
from .merged_configurations import PROPOSALS_CONFIGURATIONS, merged_configurations
from .merged_machines import ALLOCATION, QUEUE, Queue, q, send
from .merged_properties import WISHES
from .sorts import Allocation

# --- Queues with a limit: what a new configuration changes (lines 216, 220, 273)

LIMITED_QUEUE = replace(
    QUEUE,
    attributes=[
        *QUEUE.attributes,
        Attribute("limited", BoolType(), line=220, about="has room for one allocation, by its configuration"),
    ],
)
ITS_QUEUE = x.ask.application.queue
FITS_ITS_QUEUE = ~ITS_QUEUE.limited | ~exists(y, (y.ask.application.queue == ITS_QUEUE) & y.is_("allocated"))


CONFIGURES = ("limit_queue", "lift_limit")


def configure(name: str, event: str, when: Term, says: str) -> tuple[Action, Rule]:
    """A new configuration changes a queue of a partition that stays."""
    action = Action(name, [q], [q.is_(PRESENT), when], [], f"a new configuration {says} the queue {{q}}", line=270)
    return action, Rule(f"a queue is configured: {name}", action, [], q.fires(event), line=273)


QUEUES_HAVE_LIMITS = Change(
    why="A new configuration can limit a queue. What a queue uses and how it is configured belongs to the queue (lines 216, 220).",
    repairs=[],
    adds=[
        Row(Queue, "limit", PRESENT, PRESENT, line=273, limited=True),
        Row(Queue, "lift", PRESENT, PRESENT, line=273, limited=False),
        *configure("limit_queue", "limit", ~q.limited, "limits"),
        *configure("lift_limit", "lift", q.limited, "lifts the limit of"),
        replace(allocate, when=[*allocate.when, FITS_ITS_QUEUE]),
        # What can always be reached must not need a new configuration.
        *(replace(p, without=[*p.without, *CONFIGURES]) for p in MERGED.properties if isinstance(p, AlwaysCanReach)),
        StepInvariant(
            name="queues-keep-their-limit",
            says="no allocation is made in a queue that is limited to one and has one",
            line=191,
            sentence="- Do new allocation / remove allocation, will change application, queue and node",
            over=[x],
            given=x.fires("allocate"),
            then=FITS_ITS_QUEUE,
        ),
        *[
            StepInvariant(
                name=name,
                says=f"a queue {says} as soon as a new configuration says so",
                line=273,
                sentence="- update queue configs.",
                over=[],
                on=[action],
                then=after(then),
            )
            for name, action, says, then in (
                ("limits-take-effect", "limit_queue", "is limited", q.limited),
                ("lifted-limits-end", "lift_limit", "has no limit", ~q.limited),
            )
        ],
    ],
)

# --- Proposals that wait for their commit

PROPOSED_ALLOCATION = replace(
    ALLOCATION,
    attributes=[
        *ALLOCATION.attributes,
        Attribute("proposed", BoolType(), line=209, about="is proposed, and the proposal waits for its commit"),
        Attribute("preempted", BoolType(), line=210, about="is to be preempted; the proposal waits for its commit"),
    ],
)
IS_POSSIBLE = [*allocate.when[1:], FITS_ITS_QUEUE]
"""What makes an allocation possible: its ask waits, and application, node and queue are there and have room."""

propose = Action(
    "propose",
    [x],
    [x.is_("unknown"), ~x.proposed, *IS_POSSIBLE],
    [x.fires("propose")],
    "the scheduler proposes the allocation {x}",
    line=209,
)
commit = Action(
    "commit", [x], [x.proposed], [x.fires("allocate")], "the scheduler commits the proposal to allocate {x}", line=193
)
propose_preemption = Action(
    "propose_preemption",
    [x],
    [x.is_("allocated"), ~x.preempted],
    [x.fires("propose_preemption")],
    "the scheduler proposes to preempt the allocation {x}",
    line=210,
)
commit_preemption = Action(
    "commit_preemption", [x], [x.preempted], [], "the scheduler commits the proposal to preempt {x}", line=193
)

PROPOSALS_WAIT = Change(
    why="A proposal is found under a read lock (lines 209, 210), and committed later under a write lock (line 193).",
    repairs=[],
    drops=[
        "allocate",
        "preempt",
        # They hold by construction only if a proposal is no state.
        "accepted-allocations-are-confirmed",
        "confirmed-allocations-are-there",
        "cache-nodes-hold-one-allocation",
    ],
    adds=[
        Row(Allocation, "propose", "unknown", "unknown", line=209, proposed=True),
        Row(Allocation, "allocate", "unknown", "allocated", line=191, proposed=False),
        Row(Allocation, "propose_preemption", "allocated", "allocated", line=210, preempted=True),
        Row(Allocation, "preempt", "allocated", "ended", line=193, preempted=False),
        Row(Allocation, "not_preempted", "ended", "ended", line=313, preempted=False),
        propose,
        commit,
        Rule(
            "the ask of a committed proposal is satisfied",
            commit,
            [x.ask.is_("pending")],
            x.ask.fires("satisfy"),
            line=191,
        ),
        propose_preemption,
        commit_preemption,
        # "if alloc.exist": this commit does check again.
        Rule("a preempted allocation ends", commit_preemption, [x.is_("allocated")], x.fires("preempt"), line=313),
        Rule(
            "a preempted allocation has ended", commit_preemption, [x.is_("ended")], x.fires("not_preempted"), line=313
        ),
        Rule(
            "the end of a preempted allocation is reported",
            x.fires("preempt"),
            [],
            send("AllocationReleased", x),
            line=320,
        ),
        Invariant(
            name="proposals-were-possible",
            says="a proposal is for an ask that was sent and not rejected, on a node that was added, and is committed once",
            line=209,
            sentence="- Scheduler logic to get proposal only needs rlock.",
            over=[x],
            given=x.proposed,
            then=x.is_("unknown")
            & ~x.ask.recovered
            & x.ask.is_("pending", "satisfied", "removed")
            & x.node.is_(PRESENT, "removed"),
        ),
        StepInvariant(
            name="proposals-are-possible-when-found",
            says="a proposal is for an ask that waits, and application, node and queue are there and have room",
            line=209,
            sentence="- Scheduler logic to get proposal only needs rlock.",
            over=[x],
            given=x.fires("propose"),
            then=both(IS_POSSIBLE),
        ),
        *[
            StepInvariant(
                name=f"{what}s-are-committed-once",
                says=f"a {what} that is committed, or dropped, waits no longer",
                line=193,
                sentence="- So commit a scheduling/preemption proposal need acquire wlock(Partition).",
                over=[],
                on=[action],
                then=after(~waits),
            )
            for what, action, waits in (
                ("proposal", "commit", x.proposed),
                ("preemption", "commit_preemption", x.preempted),
            )
        ],
        Invariant(
            name="preemptions-were-possible",
            says="a proposal to preempt is for an allocation that was made",
            line=210,
            sentence="- Preemption logic to get proposal of preemption only need rlock.",
            over=[x],
            given=x.preempted,
            then=x.is_("allocated", "ended"),
        ),
        *[
            AlwaysCanReach(
                name=name,
                says=f"a proposal {what} can always still be committed or dropped",
                line=193,
                sentence="- So commit a scheduling/preemption proposal need acquire wlock(Partition).",
                over=[x],
                given=waits,
                goal=~waits,
                without=[*WISHES, *CONFIGURES],
            )
            for name, what, waits in (
                ("proposals-are-on-their-way", "to allocate", x.proposed),
                ("proposals-to-release-are-on-their-way", "to preempt", x.preempted),
            )
        ],
    ],
)

MERGED_PROPOSALS = MERGED.amend(
    "merged-proposals",
    "the merged design, in which a proposal waits for its commit, and the commit does not check it again",
    [QUEUES_HAVE_LIMITS, PROPOSALS_WAIT],
    machines=[LIMITED_QUEUE, PROPOSED_ALLOCATION],
    configurations=partial(merged_configurations, among=PROPOSALS_CONFIGURATIONS),
    refuted=frozenset(
        {
            "allocated-once",
            "allocations-are-for-asks-that-wait",
            "allocations-are-on-what-is-there",
            "decommissioned-nodes-go",
            "queues-keep-their-limit",
            "removed-applications-go",
            "scheduler-nodes-hold-one-allocation",
        }
    ),
)

# --- The repair

COMMITS_CHECK_AGAIN = Change(
    name="a-commit-does-not-check-again",
    wrong=(
        "A proposal is found under a read lock, and committed later. No line says that the commit checks whether it is still "
        "possible."
    ),
    shown="allocations-are-for-asks-that-wait",
    avoids=["remove_application", "remove_partition", "decommission"],
    why=(
        "The commit checks under the write lock of the partition that the ask still waits, that application and node are still there, "
        "and that node and queue still have room. Otherwise it drops the proposal, and changes nothing else."
    ),
    repairs=[
        "allocations-are-on-what-is-there",
        "scheduler-nodes-hold-one-allocation",
        "allocated-once",
        "allocations-are-for-asks-that-wait",
        "queues-keep-their-limit",
        "decommissioned-nodes-go",
        "removed-applications-go",
    ],
    drops=["the ask of a committed proposal is satisfied"],
    adds=[
        Row(Allocation, "drop", "unknown", "unknown", line=193, proposed=False),
        replace(commit, fires=[]),
        Rule("a committed proposal is an allocation", commit, IS_POSSIBLE, x.fires("allocate"), line=193),
        Rule("an impossible proposal is dropped", commit, [~both(IS_POSSIBLE)], x.fires("drop"), line=193),
        Rule("the ask of an allocation is satisfied", x.fires("allocate"), [], x.ask.fires("satisfy"), line=191),
    ],
)

MERGED_PROPOSALS_REPAIRED = MERGED_PROPOSALS.amend(
    "merged-proposals-repaired",
    "the merged design, in which a proposal waits for its commit, and the commit checks it again",
    [COMMITS_CHECK_AGAIN],
    refuted=frozenset(),
)
