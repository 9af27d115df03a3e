"""The variants: two copies as the document has them, and the same repaired."""

from schedproof.model.lang import Model

from .cache import CACHE_RULES
from .configurations import configurations
from .deliveries import DELIVER
from .flows import CHANNELS
from .machines import AXIOMS, DOCUMENT, TWO_COPY_MACHINES, TWO_COPY_TABLE
from .progress import PROGRESS
from .properties import CHANNEL_PROPERTIES, SAFETY
from .repairs import REPAIRS
from .rm import RM_ACTIONS, RM_RULES
from .scheduler import SCHEDULER_ACTIONS, SCHEDULER_RULES

SCOPE = {
    **dict.fromkeys(("Partition", "PartitionInfo", "SchedulingPartition"), 1),
    **dict.fromkeys(("Application", "ApplicationInfo", "SchedulingApplication"), 2),
    **dict.fromkeys(("Ask", "SchedulingAsk"), 2),
    **dict.fromkeys(("Allocation", "AllocationInfo", "SchedulingAllocation"), 2),
    **dict.fromkeys(("Node", "NodeInfo", "SchedulingNode"), 2),
    "Message": 40,
    "EventQueue": 1,
}

TWO_COPY = Model(
    system="yunikorn-merge",
    variant="two-copy",
    about="cache and scheduler as two components with a copy each, and the events between them",
    document=DOCUMENT,
    machines=[*TWO_COPY_MACHINES, *CHANNELS.machines],
    rows=[*TWO_COPY_TABLE, *CHANNELS.rows],
    actions=[*RM_ACTIONS, *SCHEDULER_ACTIONS, *DELIVER.values()],
    rules=[*RM_RULES, *CACHE_RULES, *SCHEDULER_RULES, *CHANNELS.rules],
    properties=[*SAFETY, *PROGRESS, *CHANNEL_PROPERTIES],
    axioms=[*AXIOMS, *CHANNELS.axioms],
    configurations=configurations,
    default_scope=SCOPE,
    refuted=frozenset(
        {
            # to the cache first, from the scheduler first: violated for preemption, nodes, and short-lived objects
            "nodes-are-removed-from-the-scheduler-first",
            # a node that the cache has removed before the scheduler hears that it was added
            "nodes-are-added-to-the-cache-first",
            "allocations-are-removed-from-the-scheduler-first",
            # an accepted proposal whose ask is gone, or whose allocation is gone again
            "accepted-allocations-are-confirmed",
            "confirmed-allocations-are-there",
            "proposals-are-on-their-way",
            "allocations-in-both-copies",
            "copies-agree-at-rest",
            "copies-can-agree-again",
            "allocations-given-back-go",
            # the cache notifies the resource manager at once
            "told-allocations-are-confirmed",
            # allocations that run on an added node
            "recovered-allocations-are-kept",
            "allocations-are-told-once",
            "what-runs-is-there",
            "scheduler-nodes-hold-one-allocation",
            # a partition whose removal goes past the cache
            "removed-partitions-go",
            "no-queue-overflows",
        }
    ),
    # an event of the removal that overtakes the one before it is not applied
    assumes=dict.fromkeys(
        ("withdrawn-asks-go", "removed-applications-go", "decommissioned-nodes-go"), ("Message.ordered",)
    ),
)

TWO_COPY_REPAIRED = TWO_COPY.amend(
    "two-copy-repaired",
    "two copies with the changes that their properties need, as far as two copies can keep them",
    REPAIRS,
    refuted=frozenset(),
    assumes=dict.fromkeys(
        (
            *("withdrawn-asks-go", "removed-applications-go", "decommissioned-nodes-go"),
            *("removed-partitions-go", "copies-can-agree-again"),
        ),
        ("Message.ordered",),
    ),
)
