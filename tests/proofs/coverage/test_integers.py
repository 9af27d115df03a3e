"""Test sequences of models with integers: what lies beyond the bounds is not called unreachable."""

from __future__ import annotations

import json

import pytest

from schedproof.model.lang import Action, Machine, Model, ModelError, Row, State
from schedproof.model.semantics import with_bound
from schedproof.proofs.coverage import REPORT, Cover, Proof, Why, files_of, left_open, unreached
from schedproof.proofs.coverage.files import texts_of
from schedproof.proofs.coverage.suite import generate
from tests.support.clocks import ACTIONS, NODE, ROWS, Node, a, clocks

MACHINE = Machine(Node, [*NODE.states, State("Old"), State("Never", unreachable=True)], NODE.attributes, NODE.events)
AGING = clocks(
    machines=[MACHINE],
    rows=[*ROWS, Row(Node, "age", "Up", "Old"), Row(Node, "stay", "Never", "Never")],
    actions=[
        *[Action(each.name, each.parameters, [*each.when, a.is_("Up")], each.fires, each.says) for each in ACTIONS],
        Action("age", [a], [a.is_("Up"), a.time >= 3], [a.fires("age")], "{a} is old"),
    ],
)  # fmt: skip


def bounded(high: int) -> Model:
    return with_bound(AGING, {("Node", "time"): high, ("Node", "seen"): 1, ("Node", "debt"): (-1, 0)})


def test_a_state_beyond_the_bound_is_not_called_unreachable() -> None:
    suite = generate(bounded(2), {"Node": 1}, Cover.STATES)
    missing = {one.goal.name: one for one in unreached(suite)}
    assert suite.within == "time <= 2, seen <= 1, -1 <= debt <= 0"
    assert {name: (one.why, one.proof) for name, one in missing.items()} == {
        "Node.Old": (Why.BEYOND, Proof.OPEN),
        "Node.Never": (Why.UNREACHABLE, Proof.PROVED),
    }
    assert left_open(suite, list(missing.values()))


def test_with_a_greater_bound_it_is_covered() -> None:
    suite = generate(bounded(3), {"Node": 1}, Cover.STATES)
    missing = unreached(suite, 0)
    assert [one.goal.name for one in missing] == ["Node.Never"]
    assert suite.steps == 4


def test_sequences_conform_as_logs_and_the_report_has_the_bounds() -> None:
    suite = generate(bounded(3), {"Node": 2}, Cover.TRANSITIONS)
    texts = [texts_of(walk.run, "") for _, walk in suite.walks]  # the validator takes each
    files = files_of(suite, unreached(suite, 0), texts)
    assert json.loads(files[REPORT])["within"] == suite.within
    assert len(files) == 1 + 2 * len(suite.walks) > 1


def test_every_step_within_the_bounds_is_covered() -> None:
    suite = generate(bounded(1), {"Node": 1}, Cover.TRANSITIONS, of_graph=True)
    assert suite.complete and len(suite.reached) == suite.goal_count == suite.configurations[0].edges
    states = {state for _, walk in suite.walks for state in walk.run.states}
    assert len(states) == suite.configurations[0].states


def test_an_integer_needs_a_bound() -> None:
    with pytest.raises(ModelError, match=r"--bound Node\.time=3"):
        generate(clocks(bound={}), {"Node": 1}, Cover.STATES)
