"""Words that could be exchanged in ``repaired`` without any verdict changing, and the properties that notice each now.

``test_mutants`` compares what mutants do; here a property has to be violated by what they do.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import pytest

from schedproof.model.lang.check import checked
from schedproof.model.systems.yunikorn import REPAIRED
from schedproof.model.systems.yunikorn.configurations import CONFIGURATIONS
from tests.support.exchanges import exchanges
from tests.support.mutants import Mutant, Place, first_broken, mutants
from tests.support.sample import thinned
from tests.systems.yunikorn.model.mutant_places import SEEN_LAST, SEEN_WHOLE, whole

TWO_ASKS, PARTITION, QUEUES = "an application with two asks", "a partition is removed", "queues are removed"
GANG, HARD = "a gang of one with a real ask, soft", "a hard gang that asks for more"
NODE = "a node goes, and no time"

NOTICED: Mapping[str, tuple[str, str]] = {
    "row Application.run from Completing, target: Accepted for Running": ("an-ask-wakes-what-completes", TWO_ASKS),
    "row Application.fail from Starting, update: without timer": ("timers-are-of-states-with-a-time-out", PARTITION),
    "row Application.submit from New, target: Resuming for New": ("applications-begin-new", TWO_ASKS),
    "row Application.run from Resuming, target: Running for Accepted": (
        "resuming-goes-on-as-accepted",
        "a soft gang that asks for more",
    ),
    "row Ask.allocate from pending, target: releasing for allocated": ("allocations-are-confirmed", TWO_ASKS),
    "row Ask.gone from allocated, update: without node": ("only-allocations-have-a-node", TWO_ASKS),
    "row Ask.clear from allocated, target: to_come for released": (
        "requests-are-removed-and-containers-released",
        TWO_ASKS,
    ),
    "row Ask.remove from allocated, update: without listed": ("removed-asks-are-not-listed", TWO_ASKS),
    "row GangTimer.arrive from under_way, target: armed for off": ("a-gang-times-out-once", HARD),
    "row Node.decommission from schedulable, target: unschedulable for gone": (
        "decommission-is-followed",
        "a node is drained",
    ),
    "row Queue.start from Stopped, target: Stopped for Active": ("started-queues-are-active", QUEUES),
    "action fail_for_good, conjunct 1, state: New for Failing of a": ("applications-fail-for-a-cause", PARTITION),
    "action delete_queue, conjunct 3, negation: negated": ("only-empty-queues-go", QUEUES),
    "rule a hard gang fails": ("a-hard-gang-is-failing-after-its-time", HARD),
    "rule the last placeholder stops the gang's timer": ("gang-timers-are-of-placeholders", GANG),
    "rule a node that goes calls off the swaps to it": ("swaps-are-to-nodes-that-are-there", NODE),
    "rule a swap is confirmed, firing, event: give_up for confirm": ("swaps-end-with-their-placeholder", GANG),
    "rule gone releases the placeholders that are left over": ("leftover-placeholders-are-released", GANG),
}
"""Mutant -> a property that it violates, and in which configuration."""


@cache
def places() -> Mapping[str, Place]:
    """The small configurations by name."""
    return {place.name: place for place in whole(REPAIRED, [*CONFIGURATIONS, *SEEN_WHOLE, *SEEN_LAST])}


@cache
def named() -> Mapping[str, Mutant]:
    """All mutants of ``repaired`` by name."""
    return {mutant.name: mutant for mutant in (*mutants(REPAIRED), *exchanges(REPAIRED))}


@pytest.mark.parametrize("name", thinned(NOTICED, 12))
def test_a_word_that_is_exchanged_is_noticed(name: str) -> None:
    prop, configuration = NOTICED[name]
    place = places()[configuration]
    assert first_broken(checked(named()[name].build()), place, [prop]) == prop
    assert first_broken(REPAIRED, place, [prop]) is None
