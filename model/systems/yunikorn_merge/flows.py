"""The table of event flows (lines 11 to 29), and the model's messages for each of its events.

One event of the document carries different things: a proposal to allocate and one to release are both in an
AllocationProposalBundleEvent. In the model each is a kind of message of its own, about one object.
"""

from dataclasses import replace

from schedproof.model.lang import Action, Flow, Term, variables
from schedproof.model.lang.coalescing import CoalescingChannels
from schedproof.model.lang.messages import Kind
from schedproof.model.lang.rules import Effect
from schedproof.model.lang.wording import show_term

from .sorts import Allocation, Application, Ask, EventQueue, Message, Node, Partition

CACHE, SCHEDULER, RM = "Cache", "Scheduler", "RM"


REMOVE, KEEP = True, False

FLOWS = (
    Flow(11, "AllocationProposalBundleEvent", (SCHEDULER,), CACHE, REMOVE, ("ProposeAllocation", "ProposeRelease")),
    Flow(12, "RejectedNewApplicationEvent", (SCHEDULER,), CACHE, REMOVE, ("RejectedNewApplication",)),
    Flow(13, "ReleaseAllocationsEvent", (SCHEDULER,), CACHE, REMOVE, ("ReleaseFailed", "ReleaseForRm")),
    Flow(14, "RemoveRMPartitionsEvent", (SCHEDULER,), CACHE, REMOVE, ("PartitionRemoved",)),
    Flow(15, "RemovedApplicationEvent", (SCHEDULER,), CACHE, REMOVE, ("RemovedApplication",)),
    Flow(
        16,
        "RMUpdateRequestEvent",
        (RM,),
        CACHE,
        KEEP,
        (
            *("AddApplication", "RemoveApplication", "AddAsk", "ReleaseAsk", "ReleaseAllocation"),
            *("AddNode", "DecommissionNode"),
        ),
    ),
    Flow(17, "RegisterRMEvent", (RM,), CACHE, KEEP, ("RegisterPartition",)),
    Flow(18, "ConfigUpdateRMEvent", (RM,), CACHE, KEEP, ("ConfigAddsPartition", "ConfigDropsPartition")),
    Flow(19, "SchedulerNodeEvent", (CACHE,), SCHEDULER, REMOVE, ("NodeAdded", "NodeRemoved")),
    Flow(
        20,
        "SchedulerAllocationUpdatesEvent",
        (CACHE,),
        SCHEDULER,
        REMOVE,
        (
            *("AcceptedAllocation", "RejectedAllocation", "ReleasedAllocation", "ToRelease"),
            *("NewAsk", "RemoveAsk", "RecoverAllocation"),
        ),
    ),
    Flow(
        21,
        "SchedulerApplicationsUpdateEvent",
        (CACHE,),
        SCHEDULER,
        REMOVE,
        ("ApplicationAdded", "ApplicationRemoved"),
    ),
    Flow(22, "RemoveRMPartitionsEvent", (RM,), SCHEDULER, KEEP, ("RemovePartition",)),
    Flow(23, "SchedulerUpdatePartitionsConfigEvent", (CACHE,), SCHEDULER, REMOVE, ("PartitionUpdated",)),
    Flow(24, "SchedulerDeletePartitionsConfigEvent", (CACHE,), SCHEDULER, REMOVE, ("PartitionDeleted",)),
    Flow(
        25,
        "RMApplicationUpdateEvent",
        (CACHE, SCHEDULER),
        RM,
        KEEP,
        ("ApplicationAccepted", "ApplicationRejected"),
        "add/remove app",
    ),
    Flow(26, "RMNewAllocationsEvent", (CACHE,), RM, KEEP, ("NewAllocation",)),
    Flow(27, "RMReleaseAllocationEvent", (CACHE,), RM, KEEP, ("AllocationReleased",)),
    Flow(28, "RMRejectedAllocationAskEvent", (CACHE, SCHEDULER), RM, KEEP, ("AskRejected",)),
    Flow(29, "RMNodeUpdateEvent", (CACHE,), RM, KEEP, ("NodeAccepted", "NodeRejected")),
)

# The rows that remain when the cache is merged: the scheduler takes over what the cache sends or receives (line 36).
MERGED_FLOWS = tuple(
    replace(
        flow,
        senders=tuple(dict.fromkeys(SCHEDULER if sender == CACHE else sender for sender in flow.senders)),
        receiver=SCHEDULER if flow.receiver == CACHE else flow.receiver,
    )
    for flow in FLOWS
    if not flow.remove
)

# --- The queues

# One handler, one queue (facts 6). The scheduler has one, also for what the resource manager sends to it (line 22).
# The cache has two handlers: one for the resource manager's events, one for the scheduler's.
TO_SCHEDULER = "scheduler"
RM_TO_CACHE = "cache_from_rm"
SCHEDULER_TO_CACHE = "cache_from_scheduler"
TO_RM = "rm"

OF_PARTITIONS = (
    *("RegisterPartition", "ConfigAddsPartition", "ConfigDropsPartition", "RemovePartition"),
    *("PartitionUpdated", "PartitionDeleted", "PartitionRemoved"),
)
OF_APPLICATIONS = (
    *("AddApplication", "RemoveApplication", "ApplicationAdded", "ApplicationRemoved"),
    *("RejectedNewApplication", "RemovedApplication", "ApplicationAccepted", "ApplicationRejected"),
)
OF_ASKS = ("AddAsk", "ReleaseAsk", "NewAsk", "RemoveAsk", "AskRejected")
OF_ALLOCATIONS = (
    *("ProposeAllocation", "ProposeRelease", "AcceptedAllocation", "RejectedAllocation", "NewAllocation"),
    *("ReleaseFailed", "ReleaseForRm", "ReleasedAllocation", "AllocationReleased"),
    *("ReleaseAllocation", "ToRelease", "RecoverAllocation"),
)
OF_NODES = (
    *("AddNode", "DecommissionNode", "NodeAdded", "NodeRemoved", "NodeAccepted", "NodeRejected"),
    "RemovedNode",
)

SUBJECTS = {
    "partition": (Partition, OF_PARTITIONS),
    "application": (Application, OF_APPLICATIONS),
    "ask": (Ask, OF_ASKS),
    "allocation": (Allocation, OF_ALLOCATIONS),
    "node": (Node, OF_NODES),
}

# A node and the allocations to recover on it are sent in this order (our interpretation: line 126 gives none).
RANKS = {"RecoverAllocation": 1}


def channel_of(flow: Flow) -> str:
    """Returns the queue that an event passes through."""
    if flow.receiver == CACHE:
        return RM_TO_CACHE if RM in flow.senders else SCHEDULER_TO_CACHE
    return TO_SCHEDULER if flow.receiver == SCHEDULER else TO_RM


ADDED = {"RemovedNode": SCHEDULER_TO_CACHE}
"""Messages that only a repair sends: the document has no event by which the scheduler reports a removed node."""

FLOW_OF = {kind: flow for flow in FLOWS for kind in flow.kinds}
"""The row of the table for each kind of message."""

KINDS = tuple(kind for _, kinds in SUBJECTS.values() for kind in kinds)

CHANNEL_OF = {kind: ADDED.get(kind) or channel_of(FLOW_OF[kind]) for kind in KINDS}
"""The queue of each kind of message."""

ABOUT = {kind: about for about, (_, kinds) in SUBJECTS.items() for kind in kinds}
"""What a message of each kind is about."""

CHANNELS = CoalescingChannels(
    Message,
    kinds=[Kind(kind, **{about: SUBJECTS[about][0]}) for kind, about in ABOUT.items()],
    to={
        queue: [kind for kind in KINDS if CHANNEL_OF[kind] == queue]
        for queue in (RM_TO_CACHE, TO_SCHEDULER, SCHEDULER_TO_CACHE, TO_RM)
    },
    ranks=RANKS,
    queues=EventQueue,
    line=5,
    fact="6",
)

e, f, r = variables(Message, "e f r")


def send(kind: str, about: Term) -> Effect:
    """What a rule fires to send a message of a kind about an object."""
    return CHANNELS.send(kind, message=r, **{ABOUT[kind]: about})


def out_of_turn(delivery: Action) -> Action:
    """The delivery of a message that does not wait for those before it."""
    turn = show_term(CHANNELS.in_turn(e))
    return replace(delivery, when=[term for term in delivery.when if show_term(term) != turn])


BETWEEN = CHANNELS.through(TO_SCHEDULER, SCHEDULER_TO_CACHE)
"""The messages that cache and scheduler have yet to handle, including those past the cache (line 147)."""

FLOWS_OF = {"two-copy": FLOWS, "merged": MERGED_FLOWS}
"""The rows of the table, by variant."""
