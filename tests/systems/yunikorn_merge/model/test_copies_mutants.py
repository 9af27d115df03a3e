"""Every mutant of the two copies, and of the two copies repaired, takes other steps, or stands in a list with the reason.

What is other steps than the model's is other steps than those of the models that were written by hand: ``test_brute_force`` compares
them in the same configurations, and where each is there twice. The default run checks one mutant in forty, drawn by their names; the
long one one in twenty, others each day.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from functools import cache

import pytest

from schedproof.model.systems.yunikorn_merge import TWO_COPY, TWO_COPY_REPAIRED
from tests.support.mutants import Mutant
from tests.support.sample import todays
from tests.support.walked import Checker
from tests.systems.yunikorn_merge.model.mutant_places import check as check_part_of
from tests.systems.yunikorn_merge.model.mutant_places import checked

VARIANTS = {model.variant: model for model in (TWO_COPY, TWO_COPY_REPAIRED)}

SWITCH = "a switch of configurations, which is on in all in which the action is possible"
STOPPED = "nothing overflows before it in any configuration, or the overflow was that of the action itself"
STANDS = "what it asks is so whenever the rule is asked: the queues keep their order"
COMES_ONCE = "what is added is added once"
GONE_ONCE = "what is removed is there until then"
HAPPENS_NO_MORE = "the changes leave no run in which it happens"
IN_ORDER = "nothing else can be before it in its queue"

IN_BOTH = {
    "rule what runs on a node is reported with it, condition 3": "a node is added once: what runs on it is unknown until then",
    "rule NewAllocation is heard, condition 1": "the release of an allocation is sent after it",
    "rule AllocationReleased is heard, condition 1": "it is sent once",
    "rule NodeAccepted is heard, condition 1": "the answer comes once, and the node is decommissioned only after it",
    "rule NodeRejected is heard, condition 1": STANDS,
    "rule RegisterPartition: the cache adds the partition, condition 1": COMES_ONCE,
    "rule ConfigAddsPartition: the cache adds the partition, condition 1": COMES_ONCE,
    "rule the cache removes a node, condition 1": GONE_ONCE,
    "rule a removed node, condition 1": GONE_ONCE,
    "rule a removed application goes, condition 1": GONE_ONCE,
    "rule a removed partition goes, condition 1": GONE_ONCE,
    "rule the scheduler adds a partition, condition 1": COMES_ONCE,
    "rule PartitionDeleted: the partition is stopped, condition 1": "a partition is removed once, and only after it was added",
    "rule the scheduler adds a node, condition 2": COMES_ONCE,
    "rule the scheduler removes a node, condition 1": "it is removed once, and after it was added: one queue",
    "rule the scheduler adds an ask, condition 2": COMES_ONCE,
    "rule the scheduler removes an ask, condition 2": "an ask is withdrawn once, after it was asked; with its application it goes otherwise",
    "rule a queue with room for 1 overflows, condition 3": "an overflow stops the process",
    "rule a queue with room for 2 overflows, condition 3": "an overflow stops the process",
    "rule a queue with room for 3 overflows, condition 2": "three others and the room are as many as there is: no queue has more room",
    "rule a queue with room for 3 overflows, condition 3": "an overflow stops the process",
    **dict.fromkeys(
        (
            *("action register, conjunct 2", "action config_adds, conjunct 2", "action submit, conjunct 3"),
            *("action ask, conjunct 4", "action add_node, conjunct 4", "action propose, conjunct 6"),
        ),
        SWITCH,
    ),
    **dict.fromkeys(
        (
            *("action register, conjunct 3", "action config_adds, conjunct 3"),
            *("action deliver_register_partition, conjunct 4", "action deliver_config_adds_partition, conjunct 4"),
            *("action deliver_ask_rejected, conjunct 4", "action deliver_node_rejected, conjunct 4"),
            "action deliver_recover_allocation, conjunct 4",
        ),
        STOPPED,
    ),
    "action deliver_ask_rejected, conjunct 3": IN_ORDER,
    "action propose, conjunct 3": "an ask with a proposal does not wait, and an allocation is one of its ask",
    "action preempt, conjunct 2": "an allocation goes with its application, and a stopped partition removes these first",
}

EQUIVALENT = {
    "two-copy": {
        **IN_BOTH,
        "rule what runs on a new node, condition 1": "the node of what runs is of a partition that stands",
        "rule an ask for an allocation to recover, condition 1": STANDS,
        "rule a proposal for an allocation to recover, condition 1": STANDS,
        "row Allocation.released from unknown": "the cache reports what it accepts, so a release is never the first that is heard",
    },
    "two-copy-repaired": {
        **IN_BOTH,
        **dict.fromkeys(
            (
                *(
                    "rule the cache rejects an application",
                    "rule the cache rejects a node",
                    "rule NodeRejected is heard",
                ),
                *(
                    f"rule the cache rejects {what}, condition {n}"
                    for what in ("an application", "a node")
                    for n in (2, 3)
                ),
                *(
                    "rule a rejected proposal",
                    "rule a rejected proposal, condition 2",
                    "rule a rejected proposal, condition 3",
                ),
                *("rule a rejected proposal is dropped", "rule a rejected proposal is dropped, condition 1"),
                "rule the ask of a rejected proposal waits again",
                "rule the ask of a rejected proposal waits again, condition 1",
                "rule RemovePartition: the partition is stopped",
                "rule RemovePartition: the partition is stopped, condition 1",
                "rule ReleasedAllocation: the scheduler releases the allocation",
                *("action deliver_rejected_allocation, conjunct 3", "action deliver_rejected_allocation, conjunct 4"),
                *("action deliver_remove_partition, conjunct 3", "action deliver_remove_partition, conjunct 4"),
                *("action deliver_node_rejected, conjunct 3", "action deliver_recover_allocation, conjunct 3"),
                *("row Allocation.allocated from running", "row SchedulingAllocation.remove from preempting"),
            ),
            HAPPENS_NO_MORE,
        ),
        **dict.fromkeys(
            (
                *("rule the cache adds an application, condition 1", "rule a new application, condition 1"),
                *("rule the cache adds a node, condition 1", "rule a new node, condition 1"),
                *("rule the cache accepts a node, condition 1", "rule the scheduler adds a node, condition 1"),
                *("rule the cache adds an allocation, condition 1", "rule an accepted proposal, condition 1"),
                *(
                    "rule the cache adds what runs on a node, condition 1",
                    "rule the cache adds what runs on a node, condition 4",
                ),
                "rule the scheduler adds what runs on a node, condition 3",
            ),
            STANDS,
        ),
        **dict.fromkeys(
            (
                "rule the cache adds what runs on a node, condition 5",
                "rule the scheduler adds what runs on a node, condition 4",
                "rule the scheduler adds what runs on a node, condition 5",
            ),
            COMES_ONCE,
        ),
        **dict.fromkeys(
            (
                "rule ProposeRelease: the cache removes the allocation, condition 1",
                "rule ProposeRelease: the scheduler is notified, condition 1",
                "rule a rejected application goes, condition 1",
                "rule the cache is notified of a removed node, condition 1",
            ),
            GONE_ONCE,
        ),
        "action deliver_config_adds_partition, conjunct 3": IN_ORDER,
    },
}


@cache
def check(variant: str) -> Checker:
    """One check a variant: it keeps the graphs of the model itself."""
    return check_part_of(VARIANTS[variant])


@cache
def named(variant: str) -> dict[str, Mutant]:
    return checked(VARIANTS[variant])


def drawn(variant: str, one_in: int) -> list[str]:
    """One of so many mutants, those that are listed included, by a number made of the name."""
    return [name for name in named(variant) if zlib.crc32(f"{variant} {name}".encode()) % one_in == 0]


def survivors(variant: str, names: Sequence[str]) -> set[str]:
    """The mutants among ``names`` that nothing catches."""
    return {name for name in names if check(variant).caught(named(variant)[name]) is None}


def assert_survivors_are_listed(variant: str, names: Sequence[str]) -> None:
    assert len(names) > 5
    assert survivors(variant, names) == {*EQUIVALENT[variant]} & {*names}


@pytest.mark.long(seconds=8)
def test_some_mutants_take_other_steps_but_those_that_are_listed() -> None:
    variant = next(iter(VARIANTS))
    assert_survivors_are_listed(variant, drawn(variant, 40))


@pytest.mark.long(one_in=12)
@pytest.mark.parametrize("variant", VARIANTS)
def test_mutants_take_other_steps_but_those_that_are_listed(variant: str) -> None:
    """One in twenty; others each day."""
    assert_survivors_are_listed(variant, todays(drawn(variant, 1), 20))


def test_each_that_is_listed_is_a_mutant() -> None:
    for variant, listed in EQUIVALENT.items():
        assert set(listed) <= set(named(variant))
