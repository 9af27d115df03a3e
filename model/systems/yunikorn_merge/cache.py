"""The cache's event handlers: one for the resource manager, one for the scheduler.

Where the text does not say what happens, a comment gives our interpretation.
"""

from schedproof.model.lang import Rule, exists

from .deliveries import DELIVER
from .flows import e, send
from .machines import a, n, x, y

PRESENT = "present"

# --- Events from the resource manager

# "Cache update internal partitions/queues accordingly" (139), "send to scheduler" (140). A dropped partition is sent
# by an event that is in the table (24), but in no flow of the text.
PARTITIONS = [
    *[
        rule
        for kind in ("RegisterPartition", "ConfigAddsPartition")
        for rule in (
            Rule(
                f"{kind}: the cache adds the partition",
                DELIVER[kind],
                [e.partition.cache.is_("absent")],
                e.partition.cache.fires("add"),
                line=139,
            ),
            Rule(f"{kind}: on to the scheduler", DELIVER[kind], [], send("PartitionUpdated", e.partition), line=140),
        )
    ],
    Rule("a dropped partition", DELIVER["ConfigDropsPartition"], [], send("PartitionDeleted", e.partition), line=24),
]

# "Add new apps to partition" (49). If there is no such partition, the resource manager gets a rejection (25).
TAKES_APPLICATION = e.application.partition.cache.is_(PRESENT) & e.application.cache.is_("absent")

APPLICATIONS = [
    Rule(
        "the cache adds an application",
        DELIVER["AddApplication"],
        [TAKES_APPLICATION],
        e.application.cache.fires("add"),
        line=49,
    ),
    Rule(
        "a new application",
        DELIVER["AddApplication"],
        [TAKES_APPLICATION],
        send("ApplicationAdded", e.application),
        line=21,
    ),
    Rule(
        "the cache rejects an application",
        DELIVER["AddApplication"],
        [~TAKES_APPLICATION],
        send("ApplicationRejected", e.application),
        line=25,
    ),
    # "but not remove anything from cache"
    Rule("a removed application", DELIVER["RemoveApplication"], [], send("ApplicationRemoved", e.application), line=50),
]

# "Do sanity check (such as existence of partition/app)" (104). An ask that fails it is rejected: our interpretation
# of line 28, as the text covers only the other asks.
SANE = e.ask.application.cache.is_(PRESENT) & e.ask.application.partition.cache.is_(PRESENT)

ASKS = [
    Rule("a sane ask", DELIVER["AddAsk"], [SANE], send("NewAsk", e.ask), line=105),
    Rule("an ask that is not sane", DELIVER["AddAsk"], [~SANE], send("AskRejected", e.ask), line=28),
    Rule("a withdrawn ask", DELIVER["ReleaseAsk"], [], send("RemoveAsk", e.ask), line=116),
    Rule("an allocation given back", DELIVER["ReleaseAllocation"], [], send("ToRelease", e.allocation), line=93),
]

TAKES_NODE = e.node.partition.cache.is_(PRESENT) & e.node.cache.is_("absent")
LEAVES = e.node.cache.is_(PRESENT)

NODES = [
    Rule("the cache adds a node", DELIVER["AddNode"], [TAKES_NODE], e.node.cache.fires("add"), line=126),
    Rule("a new node", DELIVER["AddNode"], [TAKES_NODE], send("NodeAdded", e.node), line=19),
    Rule("the cache accepts a node", DELIVER["AddNode"], [TAKES_NODE], send("NodeAccepted", e.node), line=29),
    Rule("the cache rejects a node", DELIVER["AddNode"], [~TAKES_NODE], send("NodeRejected", e.node), line=29),
    Rule(
        "what runs on a new node",
        DELIVER["AddNode"],
        [TAKES_NODE, x.node == e.node, x.ask.recovered],
        send("RecoverAllocation", x),
        line=126,
    ),
    # "cache remove the node first (!!), and then notify scheduler"
    Rule("the cache removes a node", DELIVER["DecommissionNode"], [LEAVES], e.node.cache.fires("remove"), line=157),
    Rule("a removed node", DELIVER["DecommissionNode"], [LEAVES], send("NodeRemoved", e.node), line=157),
]

# --- Events from the scheduler

# A node has room for one allocation: the smallest node that can be full.
FITS = (
    e.allocation.ask.application.cache.is_(PRESENT)
    & e.allocation.node.cache.is_(PRESENT)
    & ~exists(y, (y.node == e.allocation.node) & y.cache.is_(PRESENT))
)

PROPOSALS = [
    Rule(
        "the cache adds an allocation",
        DELIVER["ProposeAllocation"],
        [FITS],
        e.allocation.cache.fires("add"),
        line=66,
    ),
    # Scheduler and resource manager are notified at the same time (facts 6).
    Rule(
        "an accepted proposal", DELIVER["ProposeAllocation"], [FITS], send("AcceptedAllocation", e.allocation), line=70
    ),
    Rule(
        "an accepted proposal: the resource manager is notified",
        DELIVER["ProposeAllocation"],
        [FITS],
        send("NewAllocation", e.allocation),
        line=26,
        fact="6",
    ),
    Rule(
        "a rejected proposal", DELIVER["ProposeAllocation"], [~FITS], send("RejectedAllocation", e.allocation), line=68
    ),
]

# "processAllocationReleases": a failure has no effect; a success is sent to scheduler and resource manager (81 to
# 85). The text says so of proposals to release. One function handles all releases that the scheduler sends
# (readings.py).
RELEASES = [
    rule
    for kind in ("ProposeRelease", "ReleaseFailed", "ReleaseForRm")
    for rule in (
        Rule(
            f"{kind}: the cache removes the allocation",
            DELIVER[kind],
            [e.allocation.cache.is_(PRESENT)],
            e.allocation.cache.fires("remove"),
            line=81,
        ),
        Rule(
            f"{kind}: the scheduler is notified",
            DELIVER[kind],
            [e.allocation.cache.is_(PRESENT)],
            send("ReleasedAllocation", e.allocation),
            line=84,
        ),
    )
]

REMOVALS = [
    Rule(
        "a rejected application goes",
        DELIVER["RejectedNewApplication"],
        [e.application.cache.is_(PRESENT)],
        e.application.cache.fires("remove"),
        line=53,
    ),
    Rule(
        "a removed application goes",
        DELIVER["RemovedApplication"],
        [e.application.cache.is_(PRESENT)],
        e.application.cache.fires("remove"),
        line=56,
    ),
    Rule(
        "a removed partition goes",
        DELIVER["PartitionRemoved"],
        [e.partition.cache.is_(PRESENT)],
        e.partition.cache.fires("remove"),
        line=14,
    ),
    # A partition's contents are removed with it (readings.py: the text does not cover the cache's part of a removed
    # partition).
    *[
        Rule(
            f"a removed partition's {what}s go",
            DELIVER["PartitionRemoved"],
            [one.partition == e.partition, one.cache.is_(PRESENT)],
            one.cache.fires("remove"),
            line=14,
        )
        for what, one in (("application", a), ("node", n))
    ],
]

# Allocations are removed with their application and with their node (readings.py). The resource manager is notified
# of every removed allocation (27, 85).
ALLOCATIONS = [
    Rule(
        "allocations go with their application",
        a.cache.fires("remove"),
        [x.ask.application == a, x.cache.is_(PRESENT)],
        x.cache.fires("remove"),
        line=56,
    ),
    Rule(
        "allocations go with their node",
        n.cache.fires("remove"),
        [x.node == n, x.cache.is_(PRESENT)],
        x.cache.fires("remove"),
        line=157,
    ),
    Rule(
        "a release is reported to the resource manager",
        x.cache.fires("remove"),
        [],
        send("AllocationReleased", x),
        line=85,
    ),
]

CACHE_RULES = [*PARTITIONS, *APPLICATIONS, *ASKS, *NODES, *PROPOSALS, *RELEASES, *REMOVALS, *ALLOCATIONS]
