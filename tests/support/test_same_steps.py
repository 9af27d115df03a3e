"""A mutant that is proved to take its model's steps has its model's graph; one that differs is not proved to."""

from __future__ import annotations

from copy import copy
from dataclasses import replace

import pytest

from schedproof.model.lang import NONE, Action, Invariant, Model, ModelError, implies
from schedproof.model.lang.check import checked
from tests.support.exchanges import exchanges
from tests.support.mutants import graph_of, mutants, places
from tests.support.same_steps import SameSteps
from tests.support.test_exchanges import BOXES, end, j, take
from tests.support.toys import WORKSHOP

SMALL = {"boxes": {"Job": 2, "Box": 2}, "workshop": {"Worker": 1, "Tool": 1}}


def accepted(model: Model) -> list[tuple[str, Model]]:
    """The mutants that the language accepts."""
    some = []
    for mutant in (*mutants(model), *exchanges(model)):
        try:
            some.append((mutant.name, checked(mutant.build())))
        except ModelError:
            continue
    return some


@pytest.mark.long
@pytest.mark.parametrize(
    "model", [BOXES, pytest.param(WORKSHOP, marks=pytest.mark.long(one_in=32))], ids=["boxes", "workshop"]
)
def test_what_is_proved_the_same_has_the_same_graph(model: Model) -> None:
    same_steps = SameSteps(model, [])
    proved = [(name, mutant) for name, mutant in accepted(model) if same_steps.unproved(mutant) is None]
    assert proved
    for place in places(model, [SMALL[model.system]]):
        right = graph_of(model, place)
        assert [name for name, mutant in proved if graph_of(mutant, place) != right] == []


def test_the_model_itself_is_proved_the_same() -> None:
    copied = replace(BOXES, rows=[copy(row) for row in BOXES.rows], rules=[copy(rule) for rule in BOXES.rules])
    assert SameSteps(BOXES, []).unproved(copied) is None


def with_action(other: Action) -> Model:
    """``BOXES`` with another action of the same name."""
    return replace(BOXES, actions=[other if action.name == other.name else action for action in BOXES.actions])


@pytest.mark.long
def test_what_no_state_shows_is_proved_from_an_invariant() -> None:
    holds = Invariant(name="holds", says="a Busy job has a box", over=[j], given=j.is_("Busy"), then=j.box != NONE)
    mutant = with_action(replace(end, when=[*end.when, j.box != NONE]))
    assert SameSteps(BOXES, []).unproved(mutant) == "end: its guard"
    assert SameSteps(BOXES, [holds]).unproved(mutant) is None


@pytest.mark.parametrize(
    ("mutant", "what"),
    [
        (with_action(replace(take, when=take.when[1:])), "take: its guard"),
        (with_action(replace(end, when=[*end.when, implies(j.uses > 0, j.box.is_("Full"))])), "end: its guard"),
    ],
)
def test_a_difference_is_named(mutant: Model, what: str) -> None:
    assert SameSteps(BOXES, []).unproved(mutant) == what
