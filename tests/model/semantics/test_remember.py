"""Remembered functions of states: the same values as asked anew, less often asked, and never one that looks at a state otherwise."""

from __future__ import annotations

import itertools
import random

import pytest

from schedproof.model.registry.discovery import systems
from schedproof.model.semantics import Remembered, State, Stepper, remember
from schedproof.model.semantics.instance import instances
from schedproof.proofs.exploration.explore import explore
from tests.support.rows import each_row

STATES = [tuple(state) for state in itertools.product(range(3), repeat=5)]


def wandering(state: State) -> int:
    """What it reads next depends on what it has read: a slot says which slot is next."""
    slot, steps = 0, 0
    while steps < 4 and state[slot] != 0:
        slot = (slot + state[slot]) % len(state)
        steps += 1
    return 10 * slot + steps


def test_it_has_the_values_of_the_function() -> None:
    states = STATES * 2
    random.Random(1).shuffle(states)
    remembered = Remembered(wandering)
    assert [remembered(state) for state in states] == [wandering(state) for state in states]


def test_what_is_the_same_in_all_that_is_read_is_asked_once() -> None:
    asked = []

    def first_two(state: State) -> int:
        asked.append(state)
        return state[0] + state[1]

    remembered = Remembered(first_two)
    assert [remembered(state) for state in STATES] == [state[0] + state[1] for state in STATES]
    assert len(asked) == 9, "three values of each of the two"


def test_a_function_that_reads_nothing_is_asked_once() -> None:
    asked: list[State] = []
    remembered = Remembered(lambda state: asked.append(state) or 7)  # type: ignore[func-returns-value]
    assert {remembered(state) for state in STATES} == {7} and len(asked) == 1


def test_what_raises_is_not_remembered() -> None:
    def picky(state: State) -> int:
        if state[0] == 1:
            raise ValueError("one")
        return state[1]

    remembered = Remembered(picky)
    for state in STATES * 2:
        if state[0] == 1:
            with pytest.raises(ValueError, match="one"):
                remembered(state)
        else:
            assert remembered(state) == state[1]


def test_what_does_not_pay_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """A function that reads everything: all states are new, and after so many of them nothing is kept."""
    monkeypatch.setattr(remember, "MANY", 50)
    remembered = Remembered(lambda state: sum(state[n] for n in range(5)))
    assert [remembered(state) for state in STATES] == [sum(state) for state in STATES]
    assert remembered._tree is None


@each_row(
    "other",
    [
        lambda state: sum(state),
        lambda state: state[1:3],
        lambda state: state[-1],
        lambda state: 2 in state,
        lambda state: state.count(1),
        lambda state: state.index(1),
        lambda state: state == (0, 0),
        lambda state: state < (0, 0),
        lambda state: hash(state),
        lambda state: (*state, 1),
        lambda state: list(reversed(state)),
    ],
)
def test_to_look_at_a_state_in_another_way_is_an_error(other: object) -> None:
    """It would not be noticed what is read, and so a wrong value be remembered."""
    with pytest.raises(TypeError, match="one slot at a time"):
        Remembered(other)((1, 2, 3, 4))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("system", "variant"),
    [
        ("hived", "as-written"),
        pytest.param("yunikorn-merge", "two-copy", marks=pytest.mark.long),
        pytest.param("yunikorn-merge", "merged", marks=pytest.mark.long(one_in=32)),
    ],
)
def test_steps_are_those_that_are_computed_anew(system: str, variant: str) -> None:
    """By one stepper for all states and by a new one for each."""
    model = systems()[system].variants[variant]
    instance = max(instances(model, {}), key=lambda one: sum(one.sizes.values()))
    states = explore(instance, symmetry=False, limit=20_000).states
    shared = Stepper(instance)
    for state in random.Random(2).sample(states, min(len(states), 60)) * 2:
        anew = Stepper(instance)
        assert [(s.choice, s.fired, s.after) for s in shared.steps(state)] == [
            (s.choice, s.fired, s.after) for s in anew.steps(state)
        ]
