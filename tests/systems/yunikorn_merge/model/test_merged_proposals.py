"""The merged design with a proposal and its commit in two steps: what falls, and that checking again brings one step back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from schedproof.model.lang import Model
from schedproof.model.semantics import Instance, State, instances
from schedproof.model.systems.yunikorn_merge import MERGED
from schedproof.model.systems.yunikorn_merge.interpretations import INTERPRETATIONS
from schedproof.model.systems.yunikorn_merge.merged_configurations import PROPOSALS_CONFIGURATIONS
from schedproof.model.systems.yunikorn_merge.merged_proposals import (
    COMMITS_CHECK_AGAIN,
    LIMITED_QUEUE,
    MERGED_PROPOSALS,
    MERGED_PROPOSALS_REPAIRED,
    QUEUES_HAVE_LIMITS,
)
from schedproof.proofs.checking.model_check import model_check
from schedproof.proofs.exploration.explore import Exploration, explore
from schedproof.proofs.verdict import Result, Verdict
from tests.support.equivalence import unexplained
from tests.support.exchanges import exchanges
from tests.support.mutants import Checker, places
from tests.support.sample import todays

ONE_STEP = MERGED.amend(
    "limited",
    "the merged design with limits of queues, where finding and committing a proposal is one step",
    [QUEUES_HAVE_LIMITS],
    machines=[LIMITED_QUEUE],
    configurations=MERGED_PROPOSALS.configurations,
    refuted=frozenset(),
)
DROPPED = {  # they are said of a design in which nothing is stored of a proposal
    *("accepted-allocations-are-confirmed", "confirmed-allocations-are-there", "cache-nodes-hold-one-allocation"),
}


def refuted(model: Model) -> Mapping[str, Result]:
    return {r.name: r for r in model_check(model, {}) if r.verdict is Verdict.REFUTED}


@pytest.mark.long
def test_in_one_step_everything_holds() -> None:
    assert refuted(ONE_STEP) == {}


def test_both_have_the_properties_of_the_one_step() -> None:
    for model in (MERGED_PROPOSALS, MERGED_PROPOSALS_REPAIRED):
        assert {p.name for p in ONE_STEP.properties} - {p.name for p in model.properties} == DROPPED


READY = ["submit", "add_node", "deliver_application_accepted", "ask"]
RUNS: Mapping[str, Sequence[str | set[str]]] = {
    # What is needed for a proposal; then what the proposal needs goes, and it is committed. All goes with the partition.
    "allocations-are-for-asks-that-wait": [
        *READY,
        "propose",
        {"withdraw", "remove_application", "remove_partition"},
        "commit",
    ],
    "allocations-are-on-what-is-there": [
        *READY,
        "propose",
        {"decommission", "remove_application", "remove_partition"},
        "commit",
    ],
    "removed-applications-go": [*READY, "propose", {"remove_application", "remove_partition"}, "commit"],
    "decommissioned-nodes-go": [*READY, "propose", {"decommission", "remove_partition"}, "commit"],
    # Two proposals for one node, for one ask; a limit between two commits.
    "scheduler-nodes-hold-one-allocation": [*READY, "ask", "propose", "propose", "commit", "commit"],
    "allocated-once": [*READY, "add_node", "propose", "propose", "commit", "commit"],
    "queues-keep-their-limit": [*READY, "ask", "propose", "propose", "commit", "limit_queue", "commit"],
}
"""The actions of a shortest run, in any order."""


@pytest.mark.long
def test_in_two_steps_seven_properties_fall() -> None:
    results = refuted(MERGED_PROPOSALS)
    assert results.keys() == RUNS.keys() == MERGED_PROPOSALS.refuted == {*COMMITS_CHECK_AGAIN.repairs}
    for name, expected in RUNS.items():
        counterexample = results[name].counterexample
        assert counterexample is not None
        actions = [step.action for step in counterexample.steps]
        for one in expected:
            actions.remove(one if isinstance(one, str) else next(action for action in actions if action in one))
        assert actions == [], name


def test_the_other_reading_of_the_one_step_breaks_the_same() -> None:
    (reading,) = [each for each in INTERPRETATIONS if each.name == "a-commit-checks-again"]
    assert {*reading.breaks} == MERGED_PROPOSALS.refuted - {"queues-keep-their-limit"}


# --- With the check, two steps are as good as one ------------------------------------------------------------------------


def as_one_step(two: Instance, one: Instance, state: State) -> State:
    """The state without what is stored of proposals."""
    values: list[int] = [0] * len(one.initial())
    for machine in one.model.machines:
        sort, size = machine.sort.name, one.sizes[machine.sort.name]
        kept = [name for name in ("", *(a.name for a in one.attributes(sort))) if name or machine.states]
        for name in kept:
            source, target = (i.slot(sort, name) if name else i.slot(sort) for i in (two, one))
            values[target : target + size] = state[source : source + size]
    return tuple(values)


def explored(model: Model, number: int) -> tuple[Instance, Exploration]:
    instance = list(instances(model, {}))[number]
    return instance, explore(instance, symmetry=False)


@pytest.mark.parametrize(
    "number",
    [pytest.param(n, marks=pytest.mark.long) if c.nodes == 2 else n for n, c in enumerate(PROPOSALS_CONFIGURATIONS)],
)
def test_with_the_check_two_steps_do_what_one_does(number: int) -> None:
    """Each step is one of the one-step design or changes proposals only, and all of its states are reached."""
    (two, repaired), (one, single) = (explored(model, number) for model in (MERGED_PROPOSALS_REPAIRED, ONE_STEP))
    allowed = {
        (before, single.states[edge.target])
        for before, edges in zip(single.states, single.edges, strict=True)
        for edge in edges
    }
    images = [as_one_step(two, one, state) for state in repaired.states]
    assert {*images} == {*single.states}
    for before, edges in zip(images, repaired.edges, strict=True):
        for edge in edges:
            after = images[edge.target]
            if before == after:
                assert edge.choice.action in {"propose", "propose_preemption", "commit", "commit_preemption"}
            else:
                assert (before, after) in allowed, edge.choice


@pytest.mark.long
def test_without_the_check_they_do_more() -> None:
    (two, as_written), (one, single) = explored(MERGED_PROPOSALS, 0), explored(ONE_STEP, 0)
    assert {as_one_step(two, one, state) for state in as_written.states} > {*single.states}


# --- One word exchanged ----------------------------------------------------------------------------------------------------

SAME_STATE = "what is so already becomes so again"
KEEPS_EVERY_PROPERTY = {
    "action give_back, firing 1, event: preempt for end": "a proposal to preempt what is given back is dropped at once",
    "action lift_limit, conjunct 2, negation: negated": SAME_STATE,
    "action propose, conjunct 2, attribute: preempted for x.proposed": SAME_STATE,
    "action propose_preemption, conjunct 2, attribute: proposed for x.preempted": SAME_STATE,
    "action propose, conjunct 7, attribute: standing for x.ask.application.queue.limited": (
        "a queue without a limit is treated as limited; a preemption makes room"
    ),
}


@pytest.mark.long(one_in=9)
def test_exchanges_in_proposals_are_caught_or_mean_the_same() -> None:
    """Of those that the merged design does not have as well, one in eight; others each day."""
    known = {mutant.name for mutant in exchanges(MERGED)}
    some = todays([m for m in exchanges(MERGED_PROPOSALS_REPAIRED) if m.name not in known], 8)
    checker = Checker(MERGED_PROPOSALS_REPAIRED, places(MERGED_PROPOSALS_REPAIRED, [{}]), inductive=False)
    assert len(some) > 20
    listed = KEEPS_EVERY_PROPERTY.keys() & {mutant.name for mutant in some}
    assert unexplained(MERGED_PROPOSALS_REPAIRED, some, checker.caught) == listed
