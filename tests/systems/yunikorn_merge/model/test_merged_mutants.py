"""Every mutant of the merged design is caught by exploration, or stands in a list of those that are not, with the reason.

A mutant is the model less one rule, one condition of a rule, one guard conjunct or one row, or with one word exchanged. The default run
checks a share of them, drawn by name; the long one all of them. Those of the two copies are in ``test_copies_mutants``.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from functools import cache

import pytest

from schedproof.model.lang import Invariant
from schedproof.model.lang.properties import WELL_FORMED
from schedproof.model.systems.yunikorn_merge import MERGED
from schedproof.model.systems.yunikorn_merge.merged_configurations import MERGED_CONFIGURATIONS
from schedproof.proofs.induction import prove
from tests.support.equivalence import unexplained
from tests.support.exchanges import exchanges
from tests.support.mutants import Checker, Mutant, drawn, first_broken, mutants, places
from tests.support.rows import each_row
from tests.support.sample import todays
from tests.systems.beaker.model.test_mutants import claims
from tests.systems.yunikorn_merge.model.mutant_places import place, twice

RECOVERING = "a node is added with what runs on it, while another ask waits"
NEVER_UNDER_WAY = "what is to be sent is never still under way"
ALREADY_SO = "it follows from the other conditions"
SAYS_NOTHING_NEW = {
    "rule with its queues, condition 2": "a partition is added once: its queues are absent then (queues-are-in-what-is-there)",
    "rule its queues are removed, condition 2": "the queues of a partition that is there are (queues-are-in-what-is-there)",
    "rule a rejected ask is reported, condition 1": "of an ask nothing else is sent",
    "rule what runs on a node is added with it, condition 3": ALREADY_SO,
    "rule what runs for nobody is not added, condition 3": ALREADY_SO,
    "rule what runs on a node that is rejected is not added, condition 3": ALREADY_SO,
    **{
        f"rule {name}, condition 3": NEVER_UNDER_WAY
        for name in (
            *("an added application is reported", "a rejected application is reported", "a rejected ask is reported"),
            *("an added node is reported", "a rejected node is reported", "what is not added is reported"),
            *("an allocation is reported", "an end is reported"),
        )
    },
    "action allocate, conjunct 1": ALREADY_SO,
    "action allocate, conjunct 3": "an ask that waits is of an application that is there (asks-are-of-what-is-there)",
}
"""Nothing that can happen is different: proved for any number of objects."""

BREAKS_IF_THERE_ARE_TWO = {
    "rule with its queues, condition 1": (
        "a partition with two applications and a node",
        "queues-are-in-what-is-there",
    ),
    "rule its applications are removed, condition 1": ("an ask and its allocation", "partitions-are-removed-alone"),
    "rule its queues are removed, condition 1": ("an ask and its allocation", "partitions-are-removed-alone"),
    "rule its nodes are removed, condition 1": ("an ask and its allocation", "partitions-are-removed-alone"),
    "rule asks go with their application, condition 1": ("an ask and its allocation", "applications-are-removed-alone"),
    "rule allocations go with their application, condition 1": (
        "an ask and its allocation",
        "applications-are-removed-alone",
    ),
    "rule what runs on a node is added with it, condition 1": (RECOVERING, "allocations-are-on-what-is-there"),
    "rule what runs for nobody is not added, condition 1": (RECOVERING, "what-is-recovered-comes-with-its-node"),
    "rule what runs on a node that is rejected is not added, condition 1": (
        RECOVERING,
        "what-is-recovered-comes-with-its-node",
    ),
}
"""In each configuration there is one partition, one application with asks, and one node with what runs. With the configuration, twice, that
catches it, and the property that is broken there."""

NO_MATTER = "no property depends on the order of messages about different things"
KEEPS_EVERY_PROPERTY = {
    "action ask, conjunct 3": "the resource manager could ask sooner: then it is rejected or not, and hears which",
    "action add_node, conjunct 2": "what is reported too soon is reported to have ended",
    "action give_back, conjunct 2": "the resource manager could give back what it has yet to hear of",
    **{
        f"action deliver_{what}, conjunct 3": NO_MATTER
        for what in (
            *("application_accepted", "application_rejected", "ask_rejected", "new_allocation"),
            *("node_accepted", "node_rejected"),
        )
    },
}
"""More can happen, and all of it is well: the design needs less of the resource manager, and of its queue, than they give."""

ONLY_ORDERS = "which of two messages about different things is first matters to no property"
EXCHANGES_THAT_KEEP_EVERY_PROPERTY = {
    "action ask, conjunct 3, negation: negated": "the resource manager may choose when it asks",
    "action add_node, conjunct 2, attribute: notified for x.ask.recovered": "what is reported too soon is reported to have ended",
    "action give_back, conjunct 2, negation: negated": "the resource manager may choose what it gives back",
    **{
        f"action deliver_{what}, conjunct 3, quantifier: every for some": ONLY_ORDERS
        for what in (
            *("application_accepted", "application_rejected", "ask_rejected", "new_allocation"),
            *("node_accepted", "node_rejected"),
        )
    },
}
"""What happens is different, and all of it is well. Of the requests of the resource manager, and of its queue."""

UNOBSERVED = {*SAYS_NOTHING_NEW, *BREAKS_IF_THERE_ARE_TWO, *KEEPS_EVERY_PROPERTY}


@cache
def check() -> Checker:
    return Checker(MERGED, places(MERGED, [{}]), inductive=False)


def named() -> dict[str, Mutant]:
    return {mutant.name: mutant for mutant in mutants(MERGED)}


def survivors(names: Sequence[str]) -> list[str]:
    """The mutants among ``names`` that nothing catches."""
    return [name for name in names if check().caught(named()[name]) is None]


def test_one_mutant_in_twenty_is_caught() -> None:
    names = [name for name in named() if name not in UNOBSERVED and zlib.crc32(name.encode()) % 20 == 0]
    assert len(names) > 3 and survivors(names) == []


@pytest.mark.long(one_in=12)
def test_all_mutants_are_caught_but_those_that_are_listed() -> None:
    """One in four each day: within four days all."""
    some = todays(named(), 4)
    assert set(survivors(some)) == UNOBSERVED & set(some)


def unexplained_among(some: Sequence[Mutant]) -> set[str]:
    """The exchanges that nothing catches, and that are neither proved to mean the same nor listed."""
    listed = EXCHANGES_THAT_KEEP_EVERY_PROPERTY.keys() & {mutant.name for mutant in some}
    return unexplained(MERGED, some, check().caught) ^ listed


@pytest.mark.long
def test_one_exchange_in_forty_is_caught_or_means_the_same() -> None:
    some = [mutant for mutant in exchanges(MERGED) if drawn(mutant.name, 40)]
    assert len(some) > 8 and unexplained_among(some) == set()


@pytest.mark.long(one_in=9)
def test_exchanges_are_caught_or_mean_the_same() -> None:
    """One in eight; others each day."""
    some = todays(exchanges(MERGED), 8)
    assert len(some) > 60 and unexplained_among(some) == set()


@pytest.mark.long
@each_row("name", BREAKS_IF_THERE_ARE_TWO)
def test_a_mutant_is_caught_where_everything_is_there_twice(name: str) -> None:
    about, prop = BREAKS_IF_THERE_ARE_TWO[name]
    (configuration,) = [s for s in MERGED_CONFIGURATIONS if s.about == about]
    assert first_broken(named()[name].build(), place(MERGED, about, twice(MERGED, configuration.rigid)), [prop]) == prop


DIFFERING = ["rule a node is removed", "action allocate, conjunct 5", "rule an end is reported"]
"""Mutants that are caught: were these proved to say nothing new, the proof would be worth nothing."""


@pytest.mark.long
def test_what_is_said_to_say_nothing_new_is_proved_to() -> None:
    names = [*SAYS_NOTHING_NEW, *DIFFERING]
    claimed = [claim for name in names for claim in claims(MERGED, name)]
    assert [claim.name for claim in claimed] == names
    kept = [p for p in MERGED.properties if isinstance(p, Invariant)]
    more = MERGED.asking([*kept, *claimed])
    # The invariants themselves are proved by ``verify``.
    induction = prove(more, every=False, known={WELL_FORMED, *(p.name for p in kept)})
    assert [name for name in names if not induction.proved(name)] == DIFFERING and survivors(DIFFERING) == []
