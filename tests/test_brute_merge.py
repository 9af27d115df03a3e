"""The model of cache and scheduler beside one that was written by hand: the same states, steps and shortest runs."""

from __future__ import annotations

import brute_merge as brute
import pytest
from schedproof.model.semantics import Instance, check_scope, fitted
from schedproof.model.yunikorn_merge import TWO_COPY
from schedproof.model.yunikorn_merge.situations import SITUATIONS, Situation
from schedproof.proofs.examine import examine
from schedproof.proofs.explore import explore
from schedproof.proofs.verdict import Verdict

QUEUES = {"scheduler": "scheduler", "cache_from_rm": "rm>cache", "cache_from_scheduler": "scheduler>cache", "rm": "rm"}


def by_hand(situation: Situation) -> brute.Found:
    return brute.explore(
        brute.Setup(
            kinds={*situation.kinds} - {"RemovedNode"},
            partition=situation.partition,
            applications=situation.applications,
            nodes=situation.nodes,
            refused=situation.refused,
            asks=situation.asks,
            recovered=situation.recovered,
            allocations=situation.allocations,
            running=situation.running,
            room={QUEUES[name]: room for name, room in situation.room.items()},
        )
    )


@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda situation: situation.about)
def test_both_have_the_same_states_and_break_the_same_promises(situation: Situation) -> None:
    sizes = fitted(check_scope(TWO_COPY, {}), situation.rigid)
    found = explore(Instance(TWO_COPY, sizes, situation.rigid), symmetry=False)
    hand = by_hand(situation)
    assert (len(found.states), found.transition_count, found.depth) == (hand.states, hand.transitions, hand.depth)

    names = [*brute.BAD_STEPS, *brute.BAD_STATES, "copies-can-agree-again"]
    alone = TWO_COPY.amend("alone", "", [], TWO_COPY.refuted, topologies=lambda sizes: [situation.rigid])
    judged = examine(alone, {}, only=names)
    broken = {r.name: len(r.counterexample.steps) for r in judged if r.verdict is Verdict.REFUTED and r.counterexample}
    assert broken == hand.broken


def test_what_is_broken_by_hand_is_what_the_manifest_says() -> None:
    """Of the promises that are written by hand as well."""
    broken = {name for situation in SITUATIONS for name in by_hand(situation).broken}
    names = {*brute.BAD_STEPS, *brute.BAD_STATES, "copies-can-agree-again"}
    assert broken == TWO_COPY.refuted & names
