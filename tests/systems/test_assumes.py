"""Each assumption that a variant names decides a verdict in one of its configurations.

That no other assumption decides is what ``verify --property assumptions`` finds, in minutes for some variants.
"""

from __future__ import annotations

import pytest

from schedproof.model.registry.discovery import systems
from schedproof.model.semantics import check_scope, configurations
from schedproof.proofs.verification.assumptions import differing

# Where it decides: the place of a configuration in the default scope, from 0, chosen for its few states. There the verdict of
# the properties is the opposite, if the assumption alone is dropped.
DECIDES = [
    ("jobmon", "as-written", "TaskInstance.stoppable", 0, ["triaging-ends"]),
    (
        "jobmon",
        "as-written-repaired",
        "TaskInstance.stoppable",
        0,
        ["everything-can-end", "everything-ends", "signals-can-be-taken-up", "triaging-ends"],
    ),
    (
        "jobmon",
        "as-written-repaired",
        "WorkflowRun.stoppable",
        8,
        ["workflow-signals-can-be-taken-up", "workflows-can-end", "workflows-end"],
    ),
    ("yunikorn", "parties", "Node.adjustable", 1, ["no-allocation-without-a-pod"]),
    ("yunikorn", "parties", "Partition.adjustable", 1, ["no-allocation-without-a-pod"]),
    ("yunikorn", "parties", "Partition.adjustable", 10, ["the-shim-gets-to-run"]),
    ("yunikorn", "parties", "Queue.adjustable", 10, ["the-shim-gets-to-run"]),
    ("yunikorn", "parties", "ShimApplication.troubled", 1, ["submitted-can-be-left"]),
    ("yunikorn", "parties", "ShimScheduler.mortal", 7, ["the-shim-gets-to-run"]),
    ("yunikorn", "parties-repaired", "Node.adjustable", 0, ["tasks-do-not-wait-for-ever"]),
    ("yunikorn-merge", "two-copy", "Message.ordered", 10, ["removed-applications-go", "withdrawn-asks-go"]),
    ("yunikorn-merge", "two-copy", "Message.ordered", 14, ["decommissioned-nodes-go"]),
    ("yunikorn-merge", "two-copy-repaired", "Message.ordered", 10, ["removed-applications-go", "withdrawn-asks-go"]),
    ("yunikorn-merge", "two-copy-repaired", "Message.ordered", 14, ["decommissioned-nodes-go"]),
    ("yunikorn-merge", "two-copy-repaired", "Message.ordered", 12, ["copies-can-agree-again", "removed-partitions-go"]),
]
LONGER = [
    ("jobmon", "shipped", "WorkflowRun.punctual", 6, ["workflows-can-be-done"]),
    ("yunikorn", "parties", "Node.adjustable", 4, ["what-is-to-be-released-goes"]),
    ("yunikorn", "parties", "Partition.adjustable", 2, ["what-is-to-be-released-goes"]),
    ("yunikorn", "parties", "ShimApplication.troubled", 4, ["reserving-can-be-left"]),
    ("yunikorn", "parties-repaired", "Node.adjustable", 4, ["reserving-can-be-left"]),
]
"""The same; each takes a second or so."""


@pytest.mark.parametrize(
    ("system", "variant", "assumption", "place", "names"),
    [*DECIDES, *(pytest.param(*case, marks=pytest.mark.long) for case in LONGER)],
)
def test_an_assumption_decides(system: str, variant: str, assumption: str, place: int, names: list[str]) -> None:
    model = systems()[system].variants[variant]
    asked = model.asking([prop for prop in model.properties if prop.name in names])
    sort, _, attribute = assumption.partition(".")
    configuration = configurations(model, check_scope(model, {}))[place]
    assert differing(asked, configuration, [(sort, attribute)]) == set(names)


def test_these_are_all_that_variants_name() -> None:
    named = {
        (system.name, model.variant, assumption, prop)
        for system in systems().values()
        for model in system.variants.values()
        for prop, assumptions in model.assumes.items()
        for assumption in assumptions
    }
    assert {(*each[:3], name) for each in [*DECIDES, *LONGER] for name in each[4]} == named
