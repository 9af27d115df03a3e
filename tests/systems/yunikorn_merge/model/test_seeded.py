"""Bugs as a programmer might make them, seeded in the models of cache and scheduler: each violates a property that the model keeps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import pytest

from schedproof.model.lang import Action, Invariant, Model, Rule, Term
from schedproof.model.lang import terms as t
from schedproof.model.lang.properties import WELL_FORMED
from schedproof.model.systems.yunikorn_merge import MERGED, TWO_COPY, TWO_COPY_REPAIRED
from schedproof.model.systems.yunikorn_merge.cache import PRESENT
from schedproof.model.systems.yunikorn_merge.configurations import CONFIGURATIONS, configurations
from schedproof.model.systems.yunikorn_merge.deliveries import DELIVER
from schedproof.model.systems.yunikorn_merge.flows import e, send
from schedproof.model.systems.yunikorn_merge.machines import x
from schedproof.model.systems.yunikorn_merge.merged import allocate
from schedproof.proofs.checking.model_check import model_check
from schedproof.proofs.induction import prove
from schedproof.proofs.verdict import Verdict
from tests.support.sample import thinned

CONFIGURATION = {configuration.about: configuration for configuration in CONFIGURATIONS}


@dataclass(frozen=True)
class Seeded:
    """A bug in a model: rules left out, or put in the place of those of their names; likewise actions.

    ``where`` is the configuration of two copies in which it shows.
    """

    bug: str
    model: Model
    breaks: str
    without: Sequence[str] = ()
    rules: Sequence[Rule] = ()
    actions: Sequence[Action] = ()
    where: str = ""

    @property
    def wrong(self) -> Model:
        """The model with the bug."""
        rules = {rule.name: rule for rule in self.model.rules if rule.name not in self.without}
        assert len(rules) == len(self.model.rules) - len(self.without), "there is no such rule"
        actions = {action.name: action for action in self.model.actions}
        assert {action.name for action in self.actions} <= set(actions), "there is no such action"
        return replace(
            self.model,
            rules=[*(rules | {rule.name: rule for rule in self.rules}).values()],
            actions=[*(actions | {action.name: action for action in self.actions}).values()],
            configurations=partial(configurations, among=[CONFIGURATION[self.where]])
            if self.where
            else self.model.configurations,
        )


def speaks_of(term: Term, *names: str) -> bool:
    """Some part of the term binds a variable of one of these names."""
    bound = {v.name for v in term.variables} if isinstance(term, t.Quantified) else set()
    return bool(bound & {*names}) or any(speaks_of(child, *names) for child in t.children(term))


def without(action: Action, *names: str) -> Action:
    """The action without the conditions that look for other things, bound by these names."""
    less = [c for c in action.when if not speaks_of(c, *names)]
    assert len(less) == len(action.when) - len(names)
    return replace(action, when=less)


FITS_ANYWHERE = e.allocation.ask.application.cache.is_(PRESENT) & e.allocation.node.cache.is_(PRESENT)
propose = TWO_COPY.action("propose")
manager_ends = TWO_COPY.action("manager_ends")

SEEDED = [
    Seeded(
        "the scheduler forgets to remove a withdrawn ask",
        TWO_COPY,
        "withdrawn-asks-go",
        where="an ask and its allocation",
        without=["the scheduler removes an ask"],
    ),
    Seeded(
        "the cache forgets to pass on that a node is gone",
        TWO_COPY,
        "decommissioned-nodes-go",
        where="a node is decommissioned, and another suits the ask as well",
        without=["a removed node"],
    ),
    Seeded(
        "the cache does not look whether a node is full",
        TWO_COPY,
        "cache-nodes-hold-one-allocation",
        where="a node is added with what runs on it, while another ask waits",
        rules=[
            Rule(
                "the cache adds an allocation",
                DELIVER["ProposeAllocation"],
                [FITS_ANYWHERE, e.allocation.cache.is_("absent")],
                e.allocation.cache.fires("add"),
            )
        ],
    ),
    Seeded(
        "the loop does not look whether a node is full",
        TWO_COPY_REPAIRED,
        "scheduler-nodes-hold-one-allocation",
        where="two asks for one node",
        actions=[without(propose, "y")],
    ),
    Seeded(
        "the scheduler does not report to the resource manager an application that it rejects",
        TWO_COPY,
        "applications-are-answered",
        where="an application comes and goes, and another is not taken",
        without=["the scheduler rejects an application: to the resource manager"],
    ),
    Seeded(
        "the scheduler does not report to the cache an application that it rejects",
        TWO_COPY,
        "applications-in-both-copies",
        where="an application comes and goes, and another is not taken",
        without=["the scheduler rejects an application: to the cache"],
    ),
    Seeded(
        "the cache removes an application before the scheduler does",
        TWO_COPY,
        "applications-are-removed-from-the-scheduler-first",
        where="an application is removed with its allocation",
        rules=[
            Rule(
                "a removed application goes at once",
                DELIVER["RemoveApplication"],
                [e.application.cache.is_(PRESENT)],
                e.application.cache.fires("remove"),
            )
        ],
    ),
    Seeded(
        "the scheduler does not send back what is given back",
        TWO_COPY_REPAIRED,
        "allocations-given-back-go",
        where="what runs is preempted or given back, or its node or application goes",
        without=["back to the cache"],
    ),
    Seeded(
        "the cache does not report to the resource manager what it releases",
        TWO_COPY_REPAIRED,
        "what-runs-is-there",
        where="what runs is preempted or given back, or its node or application goes",
        without=["a release is reported to the resource manager"],
    ),
    Seeded(
        "the manager of a partition ends before it is empty",
        TWO_COPY_REPAIRED,
        "removed-partitions-go",
        where="the configuration drops a partition with an allocation",
        actions=[without(manager_ends, "a", "n")],
    ),
    Seeded(
        "the cache keeps what is in a partition that is removed",
        TWO_COPY_REPAIRED,
        "removed-partitions-go",
        where="the configuration drops a partition with an allocation",
        without=["a removed partition's nodes go"],
    ),
    Seeded(
        "the cache does not pass on what is configured",
        TWO_COPY_REPAIRED,
        "partitions-in-both-copies",
        where="a partition is added and removed, with an application and a node",
        without=["ConfigAddsPartition: on to the scheduler"],
    ),
    Seeded(
        "what the scheduler preempts stays in the cache",
        TWO_COPY_REPAIRED,
        "copies-agree-at-rest",
        where="what runs is preempted or given back, or its node or application goes",
        without=["ProposeRelease: the cache removes the allocation"],
    ),
    Seeded(
        "the resource manager is notified as soon as something is proposed",
        TWO_COPY_REPAIRED,
        "told-allocations-were-confirmed",
        where="an ask and its allocation",
        without=["a confirmed allocation: the resource manager is notified"],
        rules=[Rule("notified at once", x.scheduler.fires("propose"), [], send("NewAllocation", x))],
    ),
    Seeded(
        "a node is accepted twice",
        TWO_COPY,
        "nodes-are-answered-once",
        where="a partition is added and removed, with an application and a node",
        rules=[Rule("accepted again", e.fires("arrive"), [e.kind == "NodeAdded"], send("NodeAccepted", e.node))],
    ),
    Seeded(
        "merged: the commit does not look whether a node is full",
        MERGED,
        "scheduler-nodes-hold-one-allocation",
        actions=[without(allocate, "y")],
    ),
    Seeded(
        "merged: an ask is not satisfied by its allocation",
        MERGED,
        "allocated-once",
        actions=[replace(allocate, fires=allocate.fires[:1])],
    ),
    Seeded(
        "merged: a node goes without its allocations",
        MERGED,
        "allocations-are-on-what-is-there",
        without=["allocations go with their node"],
    ),
    Seeded(
        "merged: an application goes without its asks",
        MERGED,
        "asks-are-of-what-is-there",
        without=["asks go with their application"],
    ),
    Seeded(
        "merged: the end of an allocation is not reported", MERGED, "what-runs-is-there", without=["an end is reported"]
    ),
    Seeded(
        "merged: a partition goes without its nodes",
        MERGED,
        "removed-partitions-go",
        without=["its nodes are removed"],
    ),
    Seeded(
        "merged: what is given back is reported twice",
        MERGED,
        "nothing-is-released-twice",
        rules=[
            Rule(
                "reported again",
                e.fires("arrive"),
                [e.kind == "AllocationReleased"],
                send("NodeRejected", e.allocation.node),
            ),
            Rule(
                "heard as an end",
                MERGED.action("deliver_node_rejected"),
                [e.node == x.node, x.is_("ended")],
                x.fires("hear_ended"),
            ),
        ],
    ),
]


@pytest.mark.parametrize("seeded", thinned(SEEDED, 8), ids=lambda seeded: seeded.bug)
def test_a_seeded_bug_breaks_a_property_that_was_kept(seeded: Seeded) -> None:
    assert seeded.breaks not in seeded.model.refuted
    results = {r.name: r for r in model_check(seeded.wrong, {}, only=[seeded.breaks])}
    assert results[seeded.breaks].verdict is Verdict.REFUTED


@pytest.mark.long(one_in=12)
@pytest.mark.parametrize("seeded", [p for p in SEEDED if p.model is MERGED], ids=lambda seeded: seeded.bug)
def test_induction_does_not_prove_what_is_broken(seeded: Seeded) -> None:
    """Only invariants could help: the rest need not be asked."""
    rest = {WELL_FORMED, *(p.name for p in seeded.wrong.properties if not isinstance(p, Invariant))} - {seeded.breaks}
    assert not prove(seeded.wrong, every=False, known=rest).proved(seeded.breaks)
