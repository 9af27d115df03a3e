"""Each assumption that a variant names decides a verdict in one of its configurations, and no other does."""

from __future__ import annotations

import pytest

from schedproof.model.registry.discovery import systems
from schedproof.model.semantics import check_scope, configurations
from schedproof.proofs.verification.assumptions import assumptions, concerned, differing
from schedproof.proofs.verification.verify import verify_variant
from tests.support.sample import thinned

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
    ("jobmon", "check-then-write", "WorkflowRun.punctual", 1, ["workflows-can-be-done"]),
    ("jobmon", "read-then-write", "WorkflowRun.punctual", 1, ["workflows-can-be-done"]),
    ("jobmon", "runs-check-then-write", "WorkflowRun.punctual", 2, ["workflows-can-be-done"]),
    ("yunikorn", "parties", "Node.adjustable", 4, ["what-is-to-be-released-goes"]),
    ("yunikorn", "parties", "Partition.adjustable", 2, ["what-is-to-be-released-goes"]),
    ("yunikorn", "parties", "ShimApplication.troubled", 4, ["reserving-can-be-left"]),
    ("yunikorn", "parties-repaired", "Node.adjustable", 4, ["reserving-can-be-left"]),
]
"""The same; each takes seconds."""


@pytest.mark.parametrize(
    ("system", "variant", "assumption", "place", "names"),
    [*thinned(DECIDES, 6), *(pytest.param(*case, marks=pytest.mark.long(seconds=8, one_in=12)) for case in LONGER)],
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


TOO_LARGE = {
    "beaker": {
        "as-written",
        "interleaved",
        "repaired",
        "by-priority",
        "concurrent",
        "concurrent-checked",
        "repaired-concurrent",
    },
    "jobmon": {"repaired", "read-then-write", "check-then-write", "runs-read-then-write", "runs-check-then-write"},
}
"""The variants that without some assumption have millions of states in some configuration: minutes, and up to 20 GB."""


@pytest.mark.long(seconds=12, one_in=32)
@pytest.mark.parametrize(
    ("system", "variant"),
    [
        (system.name, model.variant)
        for system in systems().values()
        for model in system.variants.values()
        if assumptions(model) and concerned(model) and model.variant not in TOO_LARGE.get(system.name, ())
    ],
)
def test_no_other_assumption_decides(system: str, variant: str) -> None:
    """What ``verify --property assumptions`` checks: an assumption that a verdict rests on, and that is not named, fails."""
    loaded = systems()[system]
    report = verify_variant(loaded, loaded.variants[variant], only=["assumptions"])
    assert [(each.reach, each.result.note) for each in report.properties if not each.as_expected] == []
    assert len(report.properties) == 1
