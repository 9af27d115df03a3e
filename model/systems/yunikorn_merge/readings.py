"""The places where the text on the two copies has two interpretations, and the findings that rest on the chosen one.

These interpretations change a verdict, or could be expected to. An "interpretation" in a comment elsewhere only fills a gap. Each
element replaces the model's rule, action or property of the same name.
"""

from dataclasses import replace

from schedproof.model.lang import Action, AlwaysCanReach, Invariant, Reading, Rule, iff

from .cache import PRESENT
from .deliveries import DELIVER
from .flows import CHANNELS, e
from .machines import k, p, x
from .progress import PROGRESS
from .properties import AT_REST, SAFETY, agree
from .rm import RM_ACTIONS
from .scheduler import HELD

send = CHANNELS.sending


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
        "The scheduler's copy of an allocation begins with the proposal, because the scheduler counts it on a node from there on. Only a confirmed "
        "allocation must be in the cache first.",
        "The scheduler's copy begins when the scheduler confirms the allocation.",
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
        "When the cache is notified that a partition is removed, it also removes the applications and nodes of the partition.",
        "The cache keeps the applications and nodes.",
        drops=["a removed partition's applications go", "a removed partition's nodes go"],
        breaks=["applications-in-both-copies", "nodes-in-both-copies"],
    ),
    Reading(
        "the-cache-is-notified-of-removed-partitions",
        14,
        "The partition's manager notifies the cache when it is done.",
        "The manager sends no notification: no flow of the text has the event.",
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
        "If a new configuration drops a partition, the cache keeps it until the scheduler has removed it.",
        "The cache removes the partition at once.",
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
        "The cache notifies the scheduler of every release that it handles, because one function handles them all.",
        "The cache notifies the scheduler only of releases that the scheduler proposed for preemption.",
        drops=["ReleaseFailed: the scheduler is notified", "ReleaseForRm: the scheduler is notified"],
    ),
    Reading(
        "a-release-is-not-for-proposals",
        84,
        "When the scheduler is notified of a release, or asked for one, it removes a confirmed allocation, and keeps a proposal.",
        "It removes the allocation, and a proposal as well.",
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
        "When the scheduler is asked to release an allocation, it removes its own copy before it sends the request back to the cache.",
        "It only sends the request back, and removes its copy after the cache has removed its own.",
        drops=["ToRelease: the scheduler releases the allocation"],
    ),
    Reading(
        "reserved-resources-are-allocated-ones",
        158,
        "When the scheduler removes a node, it releases all allocations on it.",
        "It releases only reservations, which the model leaves out. Allocations stay until the cache notifies the scheduler of their release.",
        drops=["allocations go with their node in the scheduler"],
        breaks=["decommissioned-nodes-go", "proposals-to-release-are-on-their-way"],
    ),
    Reading(
        "partitions-are-removed-at-any-time",
        147,
        "The resource manager may remove a partition as soon as it has registered it, because no notification says when the scheduler has added it.",
        "The resource manager waits until the scheduler has added the partition.",
        adds=[replace(wish("remove_partition"), when=[*wish("remove_partition").when, p.scheduler.is_(PRESENT)])],
        rests=["removed-partitions-go"],
    ),
    Reading(
        "rejected-asks-wait-again",
        69,
        "An ask whose proposal is rejected waits again.",
        "The ask does not wait again.",
        drops=["the ask of a rejected proposal waits again"],
        breaks=["asks-are-answered"],
    ),
    Reading(
        "the-scheduler-removes-what-is-an-applications",
        55,
        "When the scheduler removes an application, it removes its asks and allocations.",
        "The asks and allocations stay.",
        drops=["asks go with their application", "allocations go with their application in the scheduler"],
        breaks=["removed-applications-go", "withdrawn-asks-go"],
    ),
    Reading(
        "the-cache-removes-what-is-an-applications",
        56,
        "When the cache removes an application, it removes its allocations.",
        "The allocations stay.",
        drops=["allocations go with their application"],
        breaks=["removed-applications-go", "allocations-are-on-what-is-there"],
    ),
    Reading(
        "the-cache-removes-what-is-on-a-node",
        157,
        "When the cache removes a node, it removes the allocations on it.",
        "The allocations stay.",
        drops=["allocations go with their node"],
        rests=["confirmed-allocations-are-there"],
        breaks=["decommissioned-nodes-go", "allocations-are-on-what-is-there"],
    ),
    Reading(
        "asks-follow-acceptance",
        103,
        "The resource manager sends asks for an application after the notification that the application is accepted.",
        "It sends asks as soon as it has submitted the application.",
        adds=[
            replace(
                wish("ask"), when=[k.is_("unknown"), k.application.is_("submitted", "accepted"), *wish("ask").when[2:]]
            )
        ],
    ),
    Reading(
        "nodes-follow-acceptance",
        125,
        "A node is added after all applications with allocations on it are accepted.",
        "A node may be added at any time.",
        adds=[replace(wish("add_node"), when=[*wish("add_node").when[:2], *wish("add_node").when[3:]])],
    ),
    Reading(
        "what-is-not-there-is-not-answered",
        56,
        "If the scheduler does not have an application, it sends no notification of its removal.",
        "It notifies the cache all the same.",
        adds=[
            send(
                "the cache is notified of a removed application",
                DELIVER["ApplicationRemoved"],
                [],
                "RemovedApplication",
                e.application,
                line=56,
            )
        ],
    ),
)
