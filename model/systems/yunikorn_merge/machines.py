"""The tables: what the resource manager knows of each object, the cache's copies, and the scheduler's copies.

``line`` is the document's line. The document has no machines: a copy exists or not, and the sections "Operations" say
what adds and removes it.
"""

from collections.abc import Sequence
from pathlib import Path

from schedproof.model.lang import (
    NONE,
    Attribute,
    BoolType,
    Document,
    Machine,
    Ref,
    Row,
    Sort,
    State,
    exists,
    forall,
    iff,
    implies,
    variables,
)
from schedproof.model.lang.terms import Term, Var

from .sorts import (
    Allocation,
    AllocationInfo,
    Application,
    ApplicationInfo,
    Ask,
    Node,
    NodeInfo,
    Partition,
    PartitionInfo,
    SchedulingAllocation,
    SchedulingApplication,
    SchedulingAsk,
    SchedulingNode,
    SchedulingPartition,
)

DOCUMENT = Document(
    "yunikorn-cache-scheduler-merge.md",
    "YuniKorn-core: Proposal to combine Cache and Scheduler's implementation",
    Path(__file__).with_name("quotes.json"),
    Path(__file__).with_name("facts.json"),
)

p, p2 = variables(Partition, "p p2")
a, a2 = variables(Application, "a a2")
k, k2 = variables(Ask, "k k2")
x, y = variables(Allocation, "x y")
n, n2 = variables(Node, "n n2")

# --- The resource manager

# A configuration sets it: the object exists from the start, in all copies, so that runs begin where they become
# interesting.
STANDING = Attribute("standing", BoolType(), rigid=True, about="exists from the start, in every copy")


def rm_knows(
    sort: Sort, states: Sequence[State], copies: Sequence[Attribute], *others: Attribute, line: int
) -> Machine:
    """The machine of what the resource manager knows of an object.

    Args:
        sort: the object's sort.
        states: what the resource manager can know.
        copies: the attributes with the objects that cache and scheduler have of it.
        *others: more attributes.
        line: the document's line.
    """
    return Machine(sort, line=line, states=states, attributes=[*copies, *others])


def copy_in(where: str, sort: Sort) -> Attribute:
    """The attribute with the copy of cache or scheduler, which is present or absent."""
    return Attribute(where, Ref(sort), rigid=True, line=42)


PARTITION = rm_knows(
    Partition,
    [State("unknown"), State("registered", line=138, begins="standing"), State("removed", line=147)],
    [copy_in("cache", PartitionInfo), copy_in("scheduler", SchedulingPartition)],
    STANDING,
    line=133,
)
APPLICATION = rm_knows(
    Application,
    [
        State("unknown"),
        State("submitted", line=47),
        State("accepted", line=54, begins="standing"),
        State("rejected", line=54),
        State("removed", line=47),
    ],
    [copy_in("cache", ApplicationInfo), copy_in("scheduler", SchedulingApplication)],
    STANDING,
    Attribute("partition", Ref(Partition), rigid=True, line=49),
    # "when fails" (line 53): the scheduler does not take it, for a reason in its queue or its placement.
    Attribute("refused", BoolType(), rigid=True, line=53, about="is refused by the scheduler"),
    line=44,
)
ASK = rm_knows(
    Ask,
    [
        State("unknown"),
        State("asked", line=103, begins="standing"),
        State("withdrawn", line=115),
        State("rejected", line=108),
    ],
    [copy_in("scheduler", SchedulingAsk)],
    STANDING,
    Attribute("application", Ref(Application), rigid=True, line=104),
    # It is made from an allocation to recover (line 128); the resource manager never sends it.
    Attribute(
        "recovered",
        BoolType(),
        rigid=True,
        line=128,
        about="is made from an allocation that is recovered; nobody asks for it",
    ),
    line=100,
)
ALLOCATION = rm_knows(
    Allocation,
    [
        State("unknown"),
        State("running", line=26, begins="standing"),
        State("given_back", line=91),
        State("ended", line=27),
    ],
    [copy_in("cache", AllocationInfo), copy_in("scheduler", SchedulingAllocation)],
    STANDING,
    Attribute("ask", Ref(Ask), rigid=True, line=64),
    Attribute("node", Ref(Node), rigid=True, line=64),
    line=59,
)
NODE = rm_knows(
    Node,
    [
        State("unknown"),
        State("registering", line=125),
        State("accepted", line=29, begins="standing"),
        State("rejected", line=29),
        State("decommissioned", line=156),
    ],
    [copy_in("cache", NodeInfo), copy_in("scheduler", SchedulingNode)],
    STANDING,
    Attribute("partition", Ref(Partition), rigid=True, line=150),
    line=153,
)

RM_MACHINES = [PARTITION, APPLICATION, ASK, ALLOCATION, NODE]
RM_TABLE = [
    Row(Partition, "register", "unknown", "registered", line=138),
    Row(Partition, "remove", "registered", "removed", line=147),
    Row(Application, "submit", "unknown", "submitted", line=47),
    Row(Application, "accepted", "submitted", "accepted", line=54),
    Row(Application, "rejected", "submitted", "rejected", line=54),
    Row(Application, "remove", "submitted", "removed", line=47),
    Row(Application, "remove", "accepted", "removed", line=47),
    Row(Ask, "ask", "unknown", "asked", line=103),
    Row(Ask, "withdraw", "asked", "withdrawn", line=115),
    Row(Ask, "rejected", "asked", "rejected", line=108),
    # The resource manager reports an allocation that it knows to run, with the node (line 125).
    Row(Allocation, "report", "unknown", "running", line=125),
    Row(Allocation, "allocated", "unknown", "running", line=26),
    Row(Allocation, "allocated", "running", "running", line=26),
    Row(Allocation, "give_back", "running", "given_back", line=91),
    Row(Allocation, "released", "unknown", "ended", line=27),
    Row(Allocation, "released", "running", "ended", line=27),
    Row(Allocation, "released", "given_back", "ended", line=27),
    Row(Node, "register", "unknown", "registering", line=125),
    Row(Node, "accepted", "registering", "accepted", line=29),
    Row(Node, "rejected", "registering", "rejected", line=29),
    Row(Node, "decommission", "accepted", "decommissioned", line=156),
]

# --- The cache


def cache_copy(sort: Sort, line: int) -> Machine:
    """The machine of a copy in the cache: it exists or not."""
    states = [State("absent", line=42), State("present", line=42, begins="standing")]
    return Machine(sort, line=line, introduced=False, states=states, attributes=[STANDING])


CACHE_MACHINES = [
    cache_copy(PartitionInfo, 167),
    cache_copy(ApplicationInfo, 163),
    cache_copy(AllocationInfo, 164),
    cache_copy(NodeInfo, 165),
]
CACHE_TABLE = [
    Row(PartitionInfo, "add", "absent", "present", line=139),
    Row(PartitionInfo, "remove", "present", "absent", line=14),
    Row(ApplicationInfo, "add", "absent", "present", line=49),
    Row(ApplicationInfo, "remove", "present", "absent", line=56),
    Row(AllocationInfo, "add", "absent", "present", line=66),
    Row(AllocationInfo, "remove", "present", "absent", line=81),
    Row(NodeInfo, "add", "absent", "present", line=126),
    Row(NodeInfo, "remove", "present", "absent", line=157),
]

# --- The scheduler

SCHEDULER_MACHINES = [
    Machine(
        SchedulingPartition,
        line=167,
        introduced=False,
        states=[
            State("absent", line=42),
            State("present", line=141, begins="standing"),
            # "Scheduler set partitionManager.stop = true": nobody finds it any more, but its contents have yet to be
            # removed.
            State("stopped", line=149),
        ],
        attributes=[STANDING],
    ),
    Machine(
        SchedulingApplication,
        line=163,
        introduced=False,
        states=[State("absent", line=42), State("present", line=52, begins="standing")],
        attributes=[STANDING],
    ),
    Machine(
        SchedulingAsk,
        line=106,
        introduced=False,
        # Allocating: a proposal for it is under way. Satisfied: the scheduler has confirmed an allocation for it.
        states=[
            State("absent"),
            State("pending", line=107),
            State("allocating", line=64),
            State("satisfied", line=71, begins="standing"),
        ],
        attributes=[STANDING],
    ),
    Machine(
        SchedulingAllocation,
        line=164,
        introduced=False,
        # Preempting: the scheduler has proposed to release it, and waits for the cache (line 79).
        states=[
            State("absent", line=42),
            State("proposed", line=64),
            State("confirmed", line=71, begins="standing"),
            State("preempting", line=79),
        ],
        attributes=[STANDING],
    ),
    Machine(
        SchedulingNode,
        line=165,
        introduced=False,
        states=[State("absent", line=42), State("present", line=19, begins="standing")],
        attributes=[STANDING],
    ),
]
SCHEDULER_TABLE = [
    Row(SchedulingPartition, "add", "absent", "present", line=141),
    Row(SchedulingPartition, "stop", "present", "stopped", line=149),
    Row(SchedulingPartition, "remove", "stopped", "absent", line=150),
    Row(SchedulingApplication, "add", "absent", "present", line=52),
    Row(SchedulingApplication, "remove", "present", "absent", line=55),
    Row(SchedulingAsk, "add", "absent", "pending", line=107),
    Row(SchedulingAsk, "allocate", "pending", "allocating", line=64),
    Row(SchedulingAsk, "recover", "absent", "allocating", line=128),
    Row(SchedulingAsk, "confirm", "allocating", "satisfied", line=71),
    Row(SchedulingAsk, "try_again", "allocating", "pending", line=69),
    *[Row(SchedulingAsk, "remove", source, "absent", line=119) for source in ("pending", "allocating", "satisfied")],
    Row(SchedulingAllocation, "propose", "absent", "proposed", line=64),
    Row(SchedulingAllocation, "confirm", "proposed", "confirmed", line=71),
    Row(SchedulingAllocation, "preempt", "confirmed", "preempting", line=79),
    *[
        Row(SchedulingAllocation, "remove", source, "absent", line=line)
        for source, line in (("proposed", 68), ("confirmed", 84), ("preempting", 84))
    ],
    Row(SchedulingNode, "add", "absent", "present", line=19),
    Row(SchedulingNode, "remove", "present", "absent", line=158),
]

TWO_COPY_MACHINES = [*RM_MACHINES, *CACHE_MACHINES, *SCHEDULER_MACHINES]
TWO_COPY_TABLE = [*RM_TABLE, *CACHE_TABLE, *SCHEDULER_TABLE]

# --- Axioms


def _own_copies(one: Var) -> Term:
    """It has its own copy in the cache and its own in the scheduler, which stand if it does."""
    return (
        (one.cache != NONE)
        & (one.scheduler != NONE)
        & iff(one.standing, one.cache.standing)
        & iff(one.standing, one.scheduler.standing)
    )


AXIOMS = [
    forall(p, _own_copies(p)),
    forall(a, _own_copies(a) & (a.partition != NONE) & implies(a.standing, a.partition.standing)),
    forall(n, _own_copies(n) & (n.partition != NONE) & implies(n.standing, n.partition.standing)),
    forall(
        k,
        (k.scheduler != NONE)
        & iff(k.standing, k.scheduler.standing)
        & (k.application != NONE)
        & implies(k.standing, k.application.standing & ~k.recovered),
    ),
    forall(
        x,
        _own_copies(x)
        & ((x.ask != NONE) & (x.node != NONE))
        & ((x.ask.application != NONE) & (x.ask.application.partition == x.node.partition))
        & implies(x.standing, x.ask.standing & x.node.standing),
    ),
    # A standing ask has a standing allocation. No two standing allocations share an ask or a node.
    forall(k, implies(k.standing, exists(x, x.standing & (x.ask == k)))),
    forall([x, y], implies(x.standing & y.standing & ((x.node == y.node) | (x.ask == y.ask)), x == y)),
    # No two objects share a copy.
    *[
        forall([one, two], implies(one.cache == two.cache, one == two))
        for one, two in ((p, p2), (a, a2), (x, y), (n, n2))
    ],
    *[
        forall([one, two], implies(one.scheduler == two.scheduler, one == two))
        for one, two in ((p, p2), (a, a2), (k, k2), (x, y), (n, n2))
    ],
]
