"""Every mutant of the merged design is caught by exploration, or stands in the list of those that are not, with the reason.

A mutant is the model less one rule, one condition of a rule, one guard conjunct or one row. The two-copy variants are compared with a
model written by hand instead (``test_brute_merge``), and bugs are planted in them (``test_merge_planted``). The default run judges one
mutant in twenty, drawn by name; the long one all of them.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from functools import cache

import pytest
from mutants import Judge, Mutant, mutants, places
from schedproof.model.yunikorn_merge import MERGED

NEVER_UNDER_WAY = "what is to be sent is never still under way: test_nothing_is_sent_that_is_still_under_way"
ONE_PARTITION = "there is one partition in each situation: partitions-are-removed-alone is proved for any number"
ONE_OF_THEM = (
    "there is one application with asks, and one node with what runs, in each situation (see also the promises -alone)"
)
ALREADY_SO = "it follows from the other conditions"
NO_MATTER = "of what is told about different things the order matters to no promise"

EQUIVALENT = {
    "rule with its queues, condition 1": ONE_PARTITION,
    "rule with its queues, condition 2": "a partition is added once: its queues are absent then (queues-are-in-what-is-there)",
    "rule its applications are removed, condition 1": ONE_PARTITION,
    "rule its queues are removed, condition 1": ONE_PARTITION,
    "rule its queues are removed, condition 2": "the queues of a partition that is there are (queues-are-in-what-is-there)",
    "rule its nodes are removed, condition 1": ONE_PARTITION,
    "rule asks go with their application, condition 1": ONE_OF_THEM,
    "rule allocations go with their application, condition 1": ONE_OF_THEM,
    "rule a rejected ask is told, condition 1": "of an ask nothing else is told",
    "rule what runs on a node is added with it, condition 1": ONE_OF_THEM,
    "rule what runs on a node is added with it, condition 3": ALREADY_SO,
    "rule what runs for nobody is not added, condition 1": ONE_OF_THEM,
    "rule what runs for nobody is not added, condition 3": ALREADY_SO,
    "rule what runs on a node that is rejected is not added, condition 1": ONE_OF_THEM,
    "rule what runs on a node that is rejected is not added, condition 3": ALREADY_SO,
    **{
        f"rule {name}, condition 3": NEVER_UNDER_WAY
        for name in (
            *("an added application is told", "a rejected application is told", "a rejected ask is told"),
            *("an added node is told", "a rejected node is told", "what is not added is told"),
            *("an allocation is told", "an end is told"),
        )
    },
    "action ask, conjunct 3": "the resource manager could ask sooner: then it is rejected or not, and told so",
    "action add_node, conjunct 2": "what is reported too soon is told to have ended",
    "action give_back, conjunct 2": "the resource manager could give back what it is still to be told of",
    "action allocate, conjunct 1": ALREADY_SO,
    "action allocate, conjunct 3": "an ask that waits is of an application that is there (asks-are-of-what-is-there)",
    **{
        f"action deliver_{what}, conjunct 3": NO_MATTER
        for what in (
            *("application_accepted", "application_rejected", "ask_rejected", "new_allocation"),
            *("node_accepted", "node_rejected"),
        )
    },
}


@cache
def judge() -> Judge:
    return Judge(MERGED, places(MERGED, [{}]), inductive=False)


def named() -> dict[str, Mutant]:
    return {mutant.name: mutant for mutant in mutants(MERGED)}


def survivors(names: Sequence[str]) -> list[str]:
    """The mutants among ``names`` that nothing catches."""
    return [name for name in names if judge().caught(named()[name]) is None]


def test_one_mutant_in_twenty_is_caught() -> None:
    names = [name for name in named() if name not in EQUIVALENT and zlib.crc32(name.encode()) % 20 == 0]
    assert len(names) > 3 and survivors(names) == []


@pytest.mark.long
def test_all_mutants_are_caught_but_those_that_are_listed() -> None:
    assert set(survivors(list(named()))) == set(EQUIVALENT)
