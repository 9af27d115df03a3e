"""The places where the text on the two copies has two interpretations, and the findings that rest on the chosen one.

These interpretations change a verdict, or could be expected to. An "interpretation" in a comment elsewhere only fills a gap. Each
element replaces the model's rule, action or property of the same name.
"""

from dataclasses import replace

from schedproof.model.lang import Action, AlwaysCanReach, Invariant, Reading, Rule, iff

from .cache import PRESENT
from .deliveries import DELIVER
from .flows import e, send
from .machines import k, p, x
from .progress import PROGRESS
from .properties import AT_REST, SAFETY, agree
from .rm import RM_ACTIONS
from .scheduler import HELD


def wish(name: str) -> Action:
    """Returns the resource manager's request of that name."""
    return next(action for action in RM_ACTIONS if action.name == name)


def invariant(name: str) -> Invariant:
    """Returns the invariant of the two copies of that name."""
    return next(prop for prop in SAFETY if isinstance(prop, Invariant) and prop.name == name)


def reachable(name: str) -> AlwaysCanReach:
    """Returns the reachability property of the two copies of that name."""
    return next(prop for prop in PROGRESS if isinstance(prop, AlwaysCanReach) and prop.name == name)


CONFIRMED = x.scheduler.is_("confirmed", "preempting")

READINGS = (
    Reading(
        "a-proposal-is-a-copy",
        42,
        question="When does the scheduler's copy of an allocation begin: with the proposal, or with its confirmation?",
        read="The scheduler's copy of an allocation begins with the proposal, because the scheduler counts it on a node from there on. Only a confirmed allocation must be in the cache first.",
        otherwise="The scheduler's copy begins when the scheduler confirms the allocation.",
        why="Every proposal precedes the cache's copy (lines 64 to 66), and a scheduler that did not count it would propose the same room again.",
        adds=[
            replace(invariant("allocations-in-both-copies"), then=iff(x.cache.is_(PRESENT), CONFIRMED)),
            replace(invariant("copies-agree-at-rest"), then=agree(CONFIRMED)),
            replace(reachable("copies-can-agree-again"), goal=AT_REST & agree(CONFIRMED)),
        ],
        rests=["allocations-in-both-copies", "copies-agree-at-rest", "copies-can-agree-again"],
    ),
    Reading(
        "a-removed-partition-takes-all-along",
        14,
        question="What happens to the cache's applications and nodes when the cache is notified that their partition is removed?",
        read="When the cache is notified that a partition is removed, it also removes the applications and nodes of the partition.",
        otherwise="The cache keeps the applications and nodes.",
        why="The scheduler removes a partition's applications and nodes (line 150), and what is removed from the scheduler is then removed from the cache (line 42).",
        drops=["a removed partition's applications go", "a removed partition's nodes go"],
        breaks=["applications-in-both-copies", "nodes-in-both-copies"],
    ),
    Reading(
        "the-cache-is-notified-of-removed-partitions",
        14,
        question="When, if at all, does the scheduler send RemoveRMPartitionsEvent to the cache?",
        read="The partition's manager notifies the cache when it is done.",
        otherwise="The manager sends no notification: no flow of the text has the event.",
        why="An object leaves the scheduler before the cache (line 42), and the manager removes the partition's objects (line 150).",
        drops=["a partition is removed"],
        breaks=[
            "partitions-in-both-copies",
            "applications-in-both-copies",
            "nodes-in-both-copies",
            "partitions-are-removed-from-the-scheduler-first",
        ],
    ),
    Reading(
        "a-dropped-partition-stays-until-then",
        139,
        question="When does the cache remove a partition that a new configuration drops?",
        read="If a new configuration drops a partition, the cache keeps it until the scheduler has removed it.",
        otherwise="The cache removes the partition at once.",
        why="Line 42 removes an object from the scheduler first, and the cache has an event to notify the scheduler of dropped partitions (line 24).",
        adds=[
            Rule(
                "the cache removes a dropped partition",
                DELIVER["ConfigDropsPartition"],
                [e.partition.cache.is_(PRESENT)],
                e.partition.cache.fires("remove"),
                line=139,
            )
        ],
        breaks=["partitions-are-added-to-the-cache-first", "partitions-are-removed-from-the-scheduler-first"],
    ),
    Reading(
        "all-releases-are-answered",
        84,
        question="Does the cache notify the scheduler of a release that is not a preemption?",
        read="The cache notifies the scheduler of every release that it handles, because one function handles them all.",
        otherwise="The cache notifies the scheduler only of releases that the scheduler proposed for preemption.",
        why="Line 81 names the only function for releases from the scheduler, and it notifies the scheduler of each success (lines 83 and 84).",
        drops=["ReleaseFailed: the scheduler is notified", "ReleaseForRm: the scheduler is notified"],
    ),
    Reading(
        "a-release-is-not-for-proposals",
        84,
        question="What does the scheduler do with a proposal when it is notified of a release of the same allocation, or asked for one?",
        read="When the scheduler is notified of a release, or asked for one, it removes a confirmed allocation, and keeps a proposal.",
        otherwise="It removes the allocation, and a proposal as well.",
        why="The flows of lines 76 and 88 release an allocation, and a proposal has its own answer (lines 68 to 70).",
        adds=[
            Rule(
                f"{kind}: the scheduler releases the allocation",
                DELIVER[kind],
                [e.allocation.scheduler.is_(*HELD)],
                e.allocation.scheduler.fires("remove"),
                line=line,
            )
            for kind, line in (("ReleasedAllocation", 84), ("ToRelease", 94))
        ],
        rests=[
            "allocations-in-both-copies",
            "copies-agree-at-rest",
            "copies-can-agree-again",
            "allocations-given-back-go",
        ],
    ),
    Reading(
        "given-back-in-the-scheduler-first",
        94,
        question="Does the scheduler remove its copy of an allocation when it is asked to release it, or after the cache has removed its own?",
        read="When the scheduler is asked to release an allocation, it removes its own copy before it sends the request back to the cache.",
        otherwise="It only sends the request back, and removes its copy after the cache has removed its own.",
        why="Line 42 removes an object from the scheduler first, and the request bypasses the cache before it comes back to it (lines 93 and 97).",
        drops=["ToRelease: the scheduler releases the allocation"],
    ),
    Reading(
        "reserved-resources-are-allocated-ones",
        158,
        question="Which resources does the scheduler release with a removed node: all allocations on it, or its reservations only?",
        read="When the scheduler removes a node, it releases all allocations on it.",
        otherwise="It releases only reservations, which the model leaves out. Allocations stay until the cache notifies the scheduler of their release.",
        why="Line 157 notifies the scheduler of the node only, and no other line of the flow removes the node's allocations from the scheduler.",
        drops=["allocations go with their node in the scheduler"],
        breaks=["decommissioned-nodes-go", "proposals-to-release-are-on-their-way"],
    ),
    Reading(
        "partitions-are-removed-at-any-time",
        147,
        question="Must the resource manager wait until the scheduler has added a partition before it removes the partition?",
        read="The resource manager may remove a partition as soon as it has registered it, because no notification says when the scheduler has added it.",
        otherwise="The resource manager waits until the scheduler has added the partition.",
        why="Line 147 states no condition, and no event of the table notifies the resource manager that a partition is added (lines 25 to 29).",
        adds=[replace(wish("remove_partition"), when=[*wish("remove_partition").when, p.scheduler.is_(PRESENT)])],
        rests=["removed-partitions-go"],
    ),
    Reading(
        "rejected-asks-wait-again",
        69,
        question="What happens to the ask when the cache rejects a proposal for it?",
        read="An ask whose proposal is rejected waits again.",
        otherwise="The ask does not wait again.",
        why="Line 69 rejects the allocation and not the ask, and the flow does not notify the resource manager, which could ask again.",
        drops=["the ask of a rejected proposal waits again"],
        breaks=["asks-are-answered"],
    ),
    Reading(
        "the-scheduler-removes-what-is-an-applications",
        55,
        question="What happens to the asks and allocations of an application when the scheduler removes the application?",
        read="When the scheduler removes an application, it removes its asks and allocations.",
        otherwise="The asks and allocations stay.",
        why="The scheduler finds an ask through its application (line 118), and delete_app of the merged design removes the allocations too (lines 300 to 303).",
        drops=["asks go with their application", "allocations go with their application in the scheduler"],
        breaks=["removed-applications-go", "withdrawn-asks-go"],
    ),
    Reading(
        "the-cache-removes-what-is-an-applications",
        56,
        question="What happens to the allocations of an application in the cache when the cache removes the application?",
        read="When the cache removes an application, it removes its allocations.",
        otherwise="The allocations stay.",
        why="After a removal the scheduler sends the cache RemovedApplicationEvent only (line 56), so no other event of the flow removes the allocations.",
        drops=["allocations go with their application"],
        breaks=["removed-applications-go", "allocations-are-on-what-is-there"],
    ),
    Reading(
        "the-cache-removes-what-is-on-a-node",
        157,
        question="What happens to the allocations on a node in the cache when the cache removes the node?",
        read="When the cache removes a node, it removes the allocations on it.",
        otherwise="The allocations stay.",
        why="No other line of the flow removes them from the cache, and v0.12.2 removes the allocations of a decommissioned node (facts 3).",
        drops=["allocations go with their node"],
        rests=["confirmed-allocations-are-there"],
        breaks=["decommissioned-nodes-go", "allocations-are-on-what-is-there"],
    ),
    Reading(
        "asks-follow-acceptance",
        103,
        question="Must the resource manager wait for the acceptance of an application before it sends asks for it?",
        read="The resource manager sends asks for an application after the notification that the application is accepted.",
        otherwise="It sends asks as soon as it has submitted the application.",
        why="The shim of v0.12.2 sends no ask before the core has accepted the application (facts 4.1 and 4.2).",
        adds=[
            replace(
                wish("ask"), when=[k.is_("unknown"), k.application.is_("submitted", "accepted"), *wish("ask").when[2:]]
            )
        ],
    ),
    Reading(
        "nodes-follow-acceptance",
        125,
        question="Must the resource manager wait for the acceptance of applications before it adds a node with their allocations?",
        read="A node is added after all applications with allocations on it are accepted.",
        otherwise="A node may be added at any time.",
        why="The scheduler creates an ask for each such allocation (line 128), and the shim of v0.12.2 recovers applications before nodes (facts 4.4).",
        adds=[replace(wish("add_node"), when=[*wish("add_node").when[:2], *wish("add_node").when[3:]])],
    ),
    Reading(
        "what-is-not-there-is-not-answered",
        56,
        question="Does the scheduler notify the cache of the removal of an application that it does not have?",
        read="If the scheduler does not have an application, it sends no notification of its removal.",
        otherwise="It notifies the cache all the same.",
        why='Line 56 follows a removal, and lacks the "No matter if failed or not" of line 54.',
        adds=[
            Rule(
                "the cache is notified of a removed application",
                DELIVER["ApplicationRemoved"],
                [],
                send("RemovedApplication", e.application),
                line=56,
            )
        ],
    ),
)
