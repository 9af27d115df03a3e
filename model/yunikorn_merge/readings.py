"""Where the text on the two copies can be read in two ways, and which findings rest on how it is read here."""

from dataclasses import replace

from ..lang import Action, Reading, Rule
from .cache import PRESENT
from .deliveries import DELIVER
from .flows import CHANNELS, e
from .machines import k, p
from .rm import RM_ACTIONS
from .scheduler import HELD

send = CHANNELS.sending


def wish(name: str) -> Action:
    """What the resource manager may ask for."""
    return next(action for action in RM_ACTIONS if action.name == name)


READINGS = (
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
        "The resource manager may remove a partition as soon as it has registered it: it is not told when the scheduler has it.",
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
        "failed-asks-wait-again",
        72,
        "An ask for which the scheduler failed to add an allocation waits again, if it is still there.",
        "It waits no more.",
        drops=["the ask of a failed proposal waits again"],
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
        "The resource manager asks for an application when it was told that the application is accepted.",
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
        "The cache is told of it all the same.",
        adds=[
            send(
                "the cache is told of a removed application",
                DELIVER["ApplicationRemoved"],
                [],
                "RemovedApplication",
                e.application,
                line=56,
            )
        ],
    ),
)
