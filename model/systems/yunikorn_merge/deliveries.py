"""The actions by which events arrive; the rules of cache, scheduler and resource manager define their effects."""

from schedproof.model.lang import Term, exists

from .flows import ABOUT, ADDED, CHANNELS, FLOW_OF, KINDS, r

# A full queue stops the process, and no action is possible any more. This is our interpretation: the document does
# not mention the size of a queue.
RUNNING = ~CHANNELS.overflown


def sayable(kind: str, about: Term) -> Term:
    """True if the configuration has such a message: it can leave out the messages that it is not about."""
    return exists(r, (r.kind == kind) & (getattr(r, ABOUT[kind]) == about) & r.is_("free"))


SAYS = {
    "RegisterPartition": "the cache hears of a partition that the resource manager registers with",
    "ConfigAddsPartition": "the cache hears of a new configuration with a partition more",
    "ConfigDropsPartition": "the cache hears of a new configuration with a partition less",
    "AddApplication": "the cache hears of an application",
    "RemoveApplication": "the cache hears that an application is to be removed",
    "AddAsk": "the cache hears of an ask",
    "ReleaseAsk": "the cache hears that an ask is withdrawn",
    "ReleaseAllocation": "the cache hears that an allocation is given back",
    "AddNode": "the cache hears of a node",
    "DecommissionNode": "the cache hears that a node is to be decommissioned",
    "ProposeAllocation": "the cache hears of a proposal to allocate",
    "ProposeRelease": "the cache hears of a proposal to release",
    "RejectedNewApplication": "the cache hears that the scheduler has rejected an application",
    "ReleaseFailed": "the cache hears that the scheduler failed to add an allocation",
    "ReleaseForRm": "the cache hears that the scheduler has released what was given back",
    "PartitionRemoved": "the cache hears that a partition is removed",
    "RemovedApplication": "the cache hears that an application is removed",
    "NodeAdded": "the scheduler hears of a node",
    "NodeRemoved": "the scheduler hears that a node is gone",
    "AcceptedAllocation": "the scheduler hears that its proposal is accepted",
    "RejectedAllocation": "the scheduler hears that its proposal is rejected",
    "ReleasedAllocation": "the scheduler hears that an allocation is released",
    "ToRelease": "the scheduler hears that an allocation is to be released",
    "NewAsk": "the scheduler hears of an ask",
    "RemoveAsk": "the scheduler hears that an ask is withdrawn",
    "RecoverAllocation": "the scheduler hears of an allocation to recover",
    "ApplicationAdded": "the scheduler hears of an application",
    "ApplicationRemoved": "the scheduler hears that an application is to be removed",
    "RemovePartition": "the scheduler hears that a partition is to be removed",
    "PartitionUpdated": "the scheduler hears of a partition",
    "PartitionDeleted": "the scheduler hears that the configuration has dropped a partition",
    "ApplicationAccepted": "the resource manager hears that an application is accepted",
    "ApplicationRejected": "the resource manager hears that an application is rejected",
    "NewAllocation": "the resource manager hears of an allocation",
    "AllocationReleased": "the resource manager hears that an allocation is released",
    "AskRejected": "the resource manager hears that an ask is rejected",
    "NodeAccepted": "the resource manager hears that a node is accepted",
    "NodeRejected": "the resource manager hears that a node is rejected",
}

DELIVER = {
    kind: CHANNELS.delivery(kind, f"{SAYS[kind]} ({{e}})", [RUNNING], line=FLOW_OF[kind].line, fact="6")
    for kind in KINDS
    if kind not in ADDED
}
"""The action by which a message of each kind arrives."""
