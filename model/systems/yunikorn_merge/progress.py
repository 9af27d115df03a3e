"""Properties of progress: what cache and scheduler can always reach by themselves, and what can happen at all."""

from schedproof.model.lang import AlwaysCanReach, LifeCycle, Property, Term, Var, exists, forall

from .deliveries import RUNNING
from .machines import a, k, n, p, x, y
from .properties import AGREE, AT_REST, CONTRACT
from .rm import RM_ACTIONS
from .sorts import AllocationInfo, SchedulingAllocation

WISHES = [action.name for action in RM_ACTIONS]


def comes_true(name: str, says: str, line: int, sentence: str, over: list[Var], given: Term, goal: Term) -> Property:
    """A property: cache and scheduler can reach the goal by themselves, unless a full queue has stopped them."""
    return AlwaysCanReach(
        name=name,
        says=says,
        line=line,
        sentence=sentence,
        over=over,
        given=given & RUNNING,
        goal=goal,
        without=WISHES,
    )


PROGRESS: list[Property] = [
    AlwaysCanReach(
        name="copies-can-agree-again",
        says="cache and scheduler can always have the same objects again, with no message under way between them",
        line=42,
        sentence=CONTRACT,
        over=[],
        given=RUNNING,
        goal=AT_REST & AGREE,
        without=WISHES,
    ),
    comes_true(
        "applications-are-answered",
        "an application that was submitted can always still be accepted or rejected",
        54,
        "No matter if failed or not, send RMApplicationUpdateEvent to RM.",
        [a],
        a.is_("submitted"),
        ~a.is_("submitted"),
    ),
    comes_true(
        "nodes-are-answered",
        "a node that was added can always still be accepted or rejected",
        29,
        "| RMNodeUpdateEvent | Cache -> RM | |",
        [n],
        n.is_("registering"),
        ~n.is_("registering"),
    ),
    comes_true(
        "asks-are-answered",
        "an ask that has a node to itself, and whose application and partition stay, can always still get an allocation or be rejected",
        107,
        "- (If succeeded) Update scheduler.",
        [k],
        k.is_("asked")
        & k.application.is_("accepted")
        & k.application.partition.is_("registered")
        & exists(x, (x.ask == k) & x.node.is_("accepted") & ~exists(y, (y.node == x.node) & (y.ask != k))),
        k.is_("rejected") | exists(x, (x.ask == k) & ~x.is_("unknown")),
    ),
    comes_true(
        "withdrawn-asks-go",
        "the scheduler can always still remove an ask that is withdrawn",
        119,
        "- Update local asks.",
        [k],
        k.is_("withdrawn"),
        k.scheduler.is_("absent"),
    ),
    comes_true(
        "allocations-given-back-go",
        "an allocation that is given back can always still be removed from both copies, with a notification to "
        "the resource manager",
        97,
        "Send back to Cache",
        [x],
        x.is_("given_back"),
        x.is_("ended") & x.cache.is_("absent") & x.scheduler.is_("absent"),
    ),
    comes_true(
        "removed-applications-go",
        "an application that is to be removed can always still be removed from both copies, with its allocations",
        55,
        "3.2: Remove app from scheduler",
        [a],
        a.is_("removed"),
        a.cache.is_("absent")
        & a.scheduler.is_("absent")
        & ~exists(x, (x.ask.application == a) & ~(x.cache.is_("absent") & x.scheduler.is_("absent"))),
    ),
    comes_true(
        "decommissioned-nodes-go",
        "a node that is to be decommissioned can always still be removed from both copies, with its allocations",
        157,
        '- When a node to be "decomissioned", cache remove the node first (!!), and then notify scheduler',
        [n],
        n.is_("decommissioned"),
        n.cache.is_("absent")
        & n.scheduler.is_("absent")
        & ~exists(x, (x.node == n) & ~(x.cache.is_("absent") & x.scheduler.is_("absent"))),
    ),
    comes_true(
        "removed-partitions-go",
        "a partition that is to be removed can always still be removed from both copies, with all its objects",
        150,
        "- PartitionManager removes queues, applications, nodes async. (Why async?)",
        [p],
        p.is_("removed"),
        p.cache.is_("absent")
        & p.scheduler.is_("absent")
        & forall(a, (a.partition != p) | (a.cache.is_("absent") & a.scheduler.is_("absent")))
        & forall(n, (n.partition != p) | (n.cache.is_("absent") & n.scheduler.is_("absent"))),
    ),
    LifeCycle(
        name="life-of-a-scheduled-allocation",
        says="the scheduler can propose an allocation, have it confirmed, propose to release it, and drop it",
        line=64,
        sentence="1. Scheduler send AllocationProposals",
        sort=SchedulingAllocation,
        states=["absent", "proposed", "confirmed", "preempting", "absent"],
    ),
    LifeCycle(
        name="life-of-a-dropped-allocation",
        says="the scheduler can propose an allocation, have it confirmed, and drop it",
        line=64,
        sentence="1. Scheduler send AllocationProposals",
        sort=SchedulingAllocation,
        states=["absent", "proposed", "confirmed", "absent"],
    ),
    LifeCycle(
        name="life-of-a-cached-allocation",
        says="an allocation can be added to the cache and removed",
        line=66,
        sentence="2.1 partitionInfo.addNewAllocation:",
        sort=AllocationInfo,
        states=["absent", "present", "absent"],
    ),
]
