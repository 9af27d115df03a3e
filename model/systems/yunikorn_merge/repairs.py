"""The changes with which two copies satisfy their properties, and the properties that they can satisfy only in part.

The set is minimal: without one of the changes, the properties that it repairs are violated again. The exception is
allocations-given-back-go, which either of two changes repairs. Each element replaces the rule or action of the same
name.
"""

from dataclasses import replace

from schedproof.model.lang import Change, Row, Rule, exists, implies
from schedproof.model.lang import StepInvariantAtScope as Step

from .cache import LEAVES, PRESENT, TAKES_NODE
from .deliveries import DELIVER, RUNNING
from .flows import CHANNELS, e, r, send
from .machines import n, p, x
from .properties import ON_ITS_WAY
from .rm import RM_ACTIONS
from .scheduler import CONFIRMS, UNDONE, known, preempt
from .sorts import SchedulingAllocation, SchedulingAsk

AMOUNT_FROM_THE_PROPOSAL = Change(
    name="a-failed-confirmation-keeps-the-copy",
    wrong="When the scheduler fails to add an allocation that the cache has accepted, its own copy of the proposal stays.",
    shown="allocations-in-both-copies",
    why=(
        "The scheduler takes the amounts of a proposal from the proposal, not from the ask, which may be gone. "
        "So when it fails to add an allocation, it can drop its own copy too, beside sending "
        "ReleaseAllocationsEvent (shipped in 0.9.0, fact 6)."
    ),
    repairs=[
        "allocations-in-both-copies",
        "copies-agree-at-rest",
        "proposals-are-on-their-way",
        "copies-can-agree-again",
        "allocations-given-back-go",
        "allocations-are-removed-from-the-scheduler-first",
    ],
    adds=[
        Rule(
            "the scheduler drops what it failed to add",
            DELIVER["AcceptedAllocation"],
            [~CONFIRMS, UNDONE],
            e.allocation.scheduler.fires("remove"),
            line=72,
            fact="6",
        ),
    ],
)

NOTIFIED_WHEN_CONFIRMED = Change(
    name="the-cache-notifies-too-early",
    wrong="The cache notifies the resource manager of an allocation that the scheduler may still fail to add.",
    shown="told-allocations-are-confirmed",
    why=(
        "The scheduler notifies the resource manager of an allocation after it has confirmed it. The cache, "
        "which only accepts it, does not (line 26; fact 6). If the allocation has ended meanwhile, the next "
        "notification says so."
    ),
    repairs=[],
    weakens={
        "accepted-allocations-are-confirmed": ["refused-allocations-are-not-told"],
        "told-allocations-are-confirmed": ["told-allocations-were-confirmed"],
        "what-is-there-is-told": ["what-is-confirmed-is-told"],
    },
    drops=["an accepted proposal: the resource manager is notified"],
    adds=[
        Rule(
            "a confirmed allocation: the resource manager is notified",
            DELIVER["AcceptedAllocation"],
            [CONFIRMS],
            send("NewAllocation", e.allocation),
            line=71,
        ),
        Step(
            name="refused-allocations-are-not-told",
            says=(
                "the resource manager is not notified of an allocation that the cache has accepted and the "
                "scheduler does not confirm"
            ),
            line=71,
            sentence="3. Scheduler handles new add, if fails: Send ReleaseAllocationsEvent to Cache *again* to remove from Cache. [YUNIKORN-169]",
            over=[x],
            on=["deliver_accepted_allocation"],
            given=(e.allocation == x) & ~x.scheduler.fires("confirm"),
            then=x.is_("unknown", "ended")
            & ~exists(
                r,
                (r.allocation == x) & CHANNELS.one_of(r, ("NewAllocation",)) & (r.is_("under_way") | r.fires("send")),
            ),
        ),
        Step(
            name="told-allocations-were-confirmed",
            says="when the resource manager is notified of an allocation, the scheduler has confirmed it, or the notification of its "
            "end is under way",
            line=26,
            sentence="| RMNewAllocationsEvent | Cache -> RM | |",
            over=[x],
            on=["deliver_new_allocation"],
            given=e.allocation == x,
            then=x.scheduler.is_("confirmed", "preempting")
            | (ON_ITS_WAY["allocation"] & x.cache.is_(PRESENT))
            | x.node.partition.scheduler.is_("stopped")
            | exists(r, r.is_("under_way") & (r.allocation == x) & CHANNELS.one_of(r, ("AllocationReleased",))),
        ),
        Step(
            name="what-is-confirmed-is-told",
            says="the resource manager is notified of every allocation that the scheduler confirms",
            line=26,
            sentence="| RMNewAllocationsEvent | Cache -> RM | |",
            over=[x],
            given=x.scheduler.fires("confirm"),
            then=exists(r, (r.allocation == x) & CHANNELS.one_of(r, ("NewAllocation",)) & r.fires("send")),
        ),
    ],
)

FROM_THE_SCHEDULER_FIRST = Change(
    name="a-preemption-begins-in-the-cache",
    wrong="A preempted allocation leaves the cache first, against the contract of line 42.",
    lines=[81, 84, 42],
    shown="allocations-are-removed-from-the-scheduler-first",
    why=(
        "The scheduler drops a preempted allocation first, and then the cache does, as line 42 requires. The "
        "scheduler does not wait for the cache to agree (lines 79 to 85)."
    ),
    repairs=["allocations-are-removed-from-the-scheduler-first"],
    weakens={
        # The repaired model has no such state.
        "proposals-to-release-are-on-their-way": [],
        "life-of-a-scheduled-allocation": ["life-of-a-dropped-allocation"],
    },
    drops=["a proposal to release"],
    adds=[
        replace(preempt, fires=[x.scheduler.fires("remove")]),
        Rule("a proposal to release", preempt, [], send("ProposeRelease", x), line=79),
    ],
)

REMOVED_NODE = CHANNELS.delivery(
    "RemovedNode", "the cache hears that the scheduler has removed a node ({e})", [RUNNING], line=157, fact="6"
)

NODES_LEAVE_THE_SCHEDULER_FIRST = Change(
    name="a-node-goes-from-the-cache-first",
    wrong="A decommissioned node leaves the cache first (line 157), against the contract of line 42.",
    shown="nodes-are-removed-from-the-scheduler-first",
    lines=[157, 42],
    why=(
        "A decommissioned node is removed from the scheduler first, and then from the cache, like all other "
        "objects (line 42, against line 157). So the scheduler notifies the cache; the table has no event for "
        "that."
    ),
    repairs=[
        "nodes-are-removed-from-the-scheduler-first",
        "nodes-are-added-to-the-cache-first",
        "allocations-are-removed-from-the-scheduler-first",
        "confirmed-allocations-are-there",
        "allocations-are-told-once",
    ],
    drops=["the cache removes a node"],
    adds=[
        REMOVED_NODE,
        Rule(
            "the cache is notified of a removed node",
            DELIVER["NodeRemoved"],
            [e.node.scheduler.is_(PRESENT)],
            send("RemovedNode", e.node),
            line=158,
        ),
        Rule("the cache removes a node", REMOVED_NODE, [LEAVES], e.node.cache.fires("remove"), line=157),
    ],
)

RECOVERED_WITH_THEIR_NODE = Change(
    name="recovered-allocations-are-proposed",
    wrong="An allocation that already runs goes through a new proposal, which may be rejected.",
    shown="recovered-allocations-are-kept",
    why=(
        "The allocations of a new node are added together with it, in one step of the cache and in one of the "
        "scheduler. They are not new allocations, which may be rejected, and of which the resource manager must be "
        "notified (lines 126 to 130)."
    ),
    repairs=["allocations-are-told-once", "what-runs-is-there", "scheduler-nodes-hold-one-allocation"],
    weakens={"recovered-allocations-are-kept": ["recovered-allocations-come-with-their-node"]},
    drops=[
        "what runs on a new node",
        "an ask for an allocation to recover",
        "a proposal for an allocation to recover",
        "SchedulingAsk.recover from absent",
    ],
    adds=[
        Row(SchedulingAsk, "recover", "absent", "satisfied", line=128),
        Row(SchedulingAllocation, "recover", "absent", "confirmed", line=128),
        Rule(
            "the cache adds what runs on a node",
            DELIVER["AddNode"],
            [
                TAKES_NODE,
                x.node == e.node,
                x.ask.recovered,
                x.ask.application.cache.is_(PRESENT),
                x.cache.is_("absent"),
            ],
            x.cache.fires("add"),
            line=126,
        ),
        Rule(
            "the scheduler adds what runs on a node",
            n.scheduler.fires("add"),
            [
                x.node == n,
                x.ask.recovered,
                known(x.ask.application),
                x.scheduler.is_("absent"),
                x.ask.scheduler.is_("absent"),
            ],
            x.scheduler.fires("recover"),
            line=128,
        ),
        Rule(
            "the scheduler adds an ask for what runs on a node",
            x.scheduler.fires("recover"),
            [],
            x.ask.scheduler.fires("recover"),
            line=128,
        ),
        Step(
            name="recovered-allocations-come-with-their-node",
            says=(
                "allocations that run already on a node are added together with it, to the cache and to the "
                "scheduler, if their application exists"
            ),
            line=126,
            sentence="2. Cache handles, and send to Scheduler (via SchedulerAllocationUpdatesEvent)",
            over=[x],
            given=x.ask.recovered & (x.node.cache.fires("add") | x.node.scheduler.fires("add")),
            then=implies(x.node.cache.fires("add") & x.ask.application.cache.is_(PRESENT), x.cache.fires("add"))
            & implies(x.node.scheduler.fires("add") & known(x.ask.application), x.scheduler.fires("recover")),
        ),
    ],
)

REMOVE_PARTITION = next(action for action in RM_ACTIONS if action.name == "remove_partition")

PARTITIONS_GO_BY_THE_CACHE = Change(
    name="a-removal-overtakes-an-addition",
    wrong="A partition is removed past the cache (lines 22 and 147), so its removal can come before its addition, and is lost.",
    lines=[22, 147],
    why=(
        "The removal of a partition goes through the cache, like its addition (as a new configuration that "
        "drops it). A removal that bypasses the cache (lines 22, 147) overtakes the addition, and is lost."
    ),
    repairs=["removed-partitions-go"],
    # The action stays the same: it is possible in the same configurations.
    adds=[
        Rule("the resource manager: remove_partition", REMOVE_PARTITION, [], send("ConfigDropsPartition", p), line=18)
    ],
)

# A sender that waits for room is no repair: the two handlers could then wait for room in each other's queue.
NO_QUEUE_IS_ENDLESS = Change(
    name="a-full-queue-has-no-answer",
    wrong="Cache and scheduler send each other events, and no line says what happens to an event that finds its queue full.",
    why=(
        "No change of the flows bounds the number of events between two copies, so two copies cannot have this property. "
        "The merged design has no queue between copies (variant merged, no-queue-between-copies-overflows)."
    ),
    repairs=[],
    weakens={"no-queue-overflows": []},
)

REPAIRS = [
    AMOUNT_FROM_THE_PROPOSAL,
    NOTIFIED_WHEN_CONFIRMED,
    FROM_THE_SCHEDULER_FIRST,
    NODES_LEAVE_THE_SCHEDULER_FIRST,
    RECOVERED_WITH_THEIR_NODE,
    PARTITIONS_GO_BY_THE_CACHE,
    NO_QUEUE_IS_ENDLESS,
]
