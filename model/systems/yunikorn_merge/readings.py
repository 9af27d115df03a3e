"""The places where the text on the two copies has two interpretations, and the findings that rest on the chosen one.

They are those that change a verdict, or seem to. An "interpretation" in a comment elsewhere only fills a gap. Each
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
        "The scheduler has its copy of an allocation from the proposal on, which it counts on a node; that it is in the cache first "
        "is asked of its confirmation.",
        "It has one when it has confirmed it.",
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
        "When the cache is notified that a partition is removed, it removes what is in it as well.",
        "It stays.",
        drops=["a removed partition's applications go", "a removed partition's nodes go"],
        breaks=["applications-in-both-copies", "nodes-in-both-copies"],
    ),
    Reading(
        "the-cache-is-notified-of-removed-partitions",
        14,
        "The partition's manager notifies the cache when it is done.",
        "It sends no notification: no flow of the text has the event.",
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
        "A partition that a new configuration drops the cache keeps until the scheduler has removed it.",
        "The cache removes it at once.",
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
        "The cache notifies the scheduler of every release that it has handled: it is one function.",
        "It notifies the scheduler only of the releases that the scheduler has proposed by preemption.",
        drops=["ReleaseFailed: the scheduler is notified", "ReleaseForRm: the scheduler is notified"],
    ),
    Reading(
        "a-release-is-not-for-proposals",
        84,
        "That an allocation is released the scheduler heeds where it has the allocation; a proposal it goes on counting.",
        "It drops what it has, be it a proposal.",
        adds=[
            Rule(
                "ReleasedAllocation: the scheduler releases the allocation",
                DELIVER["ReleasedAllocation"],
                [e.allocation.scheduler.is_(*HELD)],
                e.allocation.scheduler.fires("remove"),
                line=84,
            )
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
        "An allocation that is given back the scheduler removes when it hears of it, before it sends it back to the cache.",
        "It only sends it back to the cache, and removes it when the cache has.",
        drops=["ToRelease: the scheduler releases the allocation"],
    ),
    Reading(
        "reserved-resources-are-allocated-ones",
        158,
        "With a node the scheduler releases what is allocated on it.",
        "It releases reservations only, which the model leaves out; what is allocated stays until the cache says that it is released.",
        drops=["allocations go with their node in the scheduler"],
        breaks=["decommissioned-nodes-go", "proposals-to-release-are-on-their-way"],
    ),
    Reading(
        "partitions-are-removed-at-any-time",
        147,
        "The resource manager may remove a partition as soon as it has registered it: no notification says when the scheduler has it.",
        "It waits until the scheduler has it.",
        adds=[replace(wish("remove_partition"), when=[*wish("remove_partition").when, p.scheduler.is_(PRESENT)])],
        rests=["removed-partitions-go"],
    ),
    Reading(
        "rejected-asks-wait-again",
        69,
        "An ask whose proposal is rejected waits again.",
        "It waits no more.",
        drops=["the ask of a rejected proposal waits again"],
        breaks=["asks-are-answered"],
    ),
    Reading(
        "the-scheduler-removes-what-is-an-applications",
        55,
        "With an application the scheduler removes its asks and allocations.",
        "They stay.",
        drops=["asks go with their application", "allocations go with their application in the scheduler"],
        breaks=["removed-applications-go", "withdrawn-asks-go"],
    ),
    Reading(
        "the-cache-removes-what-is-an-applications",
        56,
        "With an application the cache removes its allocations.",
        "They stay.",
        drops=["allocations go with their application"],
        breaks=["removed-applications-go", "allocations-are-on-what-is-there"],
    ),
    Reading(
        "the-cache-removes-what-is-on-a-node",
        157,
        "With a node the cache removes what is allocated on it.",
        "It stays.",
        drops=["allocations go with their node"],
        rests=["confirmed-allocations-are-there"],
        breaks=["decommissioned-nodes-go", "allocations-are-on-what-is-there"],
    ),
    Reading(
        "asks-follow-acceptance",
        103,
        "The resource manager asks for an application after the notification that the application is accepted.",
        "It asks as soon as it has submitted it.",
        adds=[
            replace(
                wish("ask"), when=[k.is_("unknown"), k.application.is_("submitted", "accepted"), *wish("ask").when[2:]]
            )
        ],
    ),
    Reading(
        "nodes-follow-acceptance",
        125,
        "A node is added when the applications of what runs on it are accepted.",
        "It is added at any time.",
        adds=[replace(wish("add_node"), when=[*wish("add_node").when[:2], *wish("add_node").when[3:]])],
    ),
    Reading(
        "what-is-not-there-is-not-answered",
        56,
        "The removal of an application that the scheduler has not is sent to nobody.",
        "The cache is notified of it all the same.",
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
