"""Every word of YuniKorn's ``repaired`` counts: with another one, or without it, a property is violated, or each step stays.

A word that is exchanged, or a rule, condition, conjunct or row that is left out, is decided if the language refuses the mutant,
if the mutant violates a property at a small place (``mutant_places``), or if it is proved to take exactly the model's steps, for
any number of objects. One that is none of these stands in ``OPEN``, with what leaves it open; one that only a larger place shows in
``RUNS``, with a run that violates a property.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from random import Random

import pytest

from schedproof.model.lang import Model, ModelError, StepInvariant
from schedproof.model.lang.check import checked
from schedproof.model.semantics import Moment, State, Stepper
from schedproof.model.systems.yunikorn import REPAIRED
from schedproof.model.systems.yunikorn.configurations import Configuration
from schedproof.model.systems.yunikorn.possible_steps import AT_ONCE
from schedproof.proofs.exploration.safety import Check
from tests.support.exchanges import exchanges
from tests.support.mutants import Mutant, Place, graph_of
from tests.support.sample import seed_of_today
from tests.support.verdicts import Verdicts
from tests.systems.yunikorn.model.mutant_places import WITHOUT_TIME_LAST, idle_rows, small, whole
from tests.systems.yunikorn.model.test_mutants import DIFFERING, named, proved_the_same

LABEL = "f says that a gang has all its placeholders; of a real ask it says nothing, so one step has two names"
REMOVED_AGAIN = "the figure has Remove from Draining to Draining, which changes nothing"
DELETED_AGAIN = "what has been deleted can be deleted again, which changes nothing"
OPEN: Mapping[str, str] = {
    "action allocate, conjunct 5, attribute: listed for k.placeholder": LABEL,
    "action allocate, conjunct 5": LABEL,
    "action remove_queue, conjunct 3": REMOVED_AGAIN,
    "action drain_queue, conjunct 3": REMOVED_AGAIN,
    "action delete_queue, conjunct 1": DELETED_AGAIN,
    "action delete_partition, conjunct 1": DELETED_AGAIN,
    "action remove_application, conjunct 1": "to remove what is not there changes nothing",
}
"""What the document leaves open, or only the encoding has: the same states follow each other."""

GANG_OF_THREE = Configuration(
    "three of more placeholders, and a real ask", [("pppr", "Hard")], wakeups=0, exact=False, adjustable_nodes=True
)
RUNS: Mapping[str, tuple[str, Configuration, Sequence[str]]] = {
    # A swap is called off after the gang's time: it is Accepted then, with a placeholder and without a timer.
    "rule the first placeholder arms the gang's timer, condition 3, state: swapping for allocated of o": (
        "only-the-first-placeholder-starts-the-time",
        GANG_OF_THREE,
        (
            *("create_node 0", "submit 0", "add_ask 0", "add_ask 1", "add_ask 2", "add_ask 3", "allocate 0 0"),
            *("swap 3 0", "gang_times_out 0", "gang_wakes 0", "allocate 1 0", "drain_node 0", "end 0"),
            *("restore_node 0", "allocate 2 0"),
        ),
    ),
}
"""Mutant -> a property, a configuration that is too large to be seen whole, and a run whose last step violates the property."""


@cache
def words() -> Mapping[str, Mutant]:
    """All exchanges and all that can be left out, by name, without rows that nobody uses."""
    idle = tuple(f"row {row.name}," for row in idle_rows(REPAIRED))
    exchanged = {mutant.name: mutant for mutant in exchanges(REPAIRED) if not mutant.name.startswith(idle)}
    return {**exchanged, **named("repaired")}


@cache
def at_small_places() -> Verdicts:
    """Keeps the graphs of the model itself."""
    return Verdicts(REPAIRED, small(REPAIRED))


@cache
def at_larger_places() -> Verdicts:
    """For what no small place shows."""
    return Verdicts(REPAIRED, whole(REPAIRED, WITHOUT_TIME_LAST))


def is_decided(mutant: Mutant) -> bool:
    """Whether ``mutant`` is refused, violates a property, or is proved to change nothing."""
    try:
        other = checked(mutant.build())
    except ModelError:
        return True
    return (
        at_small_places().violated(other) is not None
        or proved_the_same("repaired", mutant)
        or at_larger_places().violated(other) is not None
    )


def undecided(many: int, purpose: str) -> list[str]:
    """The undecided ones among so many that are drawn for today."""
    names = [name for name in words() if name not in OPEN and name not in RUNS]
    return [name for name in Random(seed_of_today(purpose)).sample(names, many) if not is_decided(words()[name])]


@pytest.mark.long(one_in=9)
def test_words_are_noticed_or_mean_the_same() -> None:
    """Others each day."""
    assert undecided(20, "words of YuniKorn") == []


@pytest.mark.long
@pytest.mark.parametrize(
    "name",
    [
        "action end, conjunct 2, negation: negated",  # nothing may hold up what ends
        pytest.param("action swap, firing 2, value: dropped: True for False", marks=pytest.mark.long),
        pytest.param(  # what is New has no asks
            "rule what fails drops its asks, condition 1, state: Rejected for New of a", marks=pytest.mark.long
        ),
    ],
)
def test_these_words_are_decided(name: str) -> None:
    assert is_decided(words()[name])


@pytest.mark.long
def test_no_other_property_notices_what_holds_up_a_request() -> None:
    """It refuses to remove an application, which no property of the document needs to be done."""
    other = checked(words()["action remove_application, conjunct 1, negation: negated"].build())
    place = next(place for place in small(REPAIRED) if place.name.startswith("two placeholders, hard"))
    model = less({prop.name for _, prop in AT_ONCE})
    assert Verdicts(REPAIRED, [place]).violated(other) is not None
    assert Verdicts(model, [place]).violated(replace(other, properties=model.properties)) is None


def less(names: set[str]) -> Model:
    """``repaired`` without some properties."""
    return REPAIRED.asking([prop for prop in REPAIRED.properties if prop.name not in names])


@pytest.mark.long
def test_what_is_open_is_not_proved_to_change_nothing() -> None:
    assert [name for name in (*OPEN, *RUNS) if proved_the_same("repaired", words()[name])] == []
    assert [name for name in DIFFERING if proved_the_same("repaired", named("repaired")[name])] == []


SEEN_FOR_OPEN = ("a soft gang, its queue and partition", "a dynamic queue below a queue", "two placeholders, soft")


@pytest.mark.long
@pytest.mark.parametrize("name", OPEN)
def test_what_is_open_leads_to_the_same_states(name: str) -> None:
    other = checked(words()[name].build())
    places = [place for place in small(REPAIRED) if place.name.removesuffix(", no time-outs") in SEEN_FOR_OPEN]
    assert len(places) == len(SEEN_FOR_OPEN)
    for place in places:
        assert moves(other, place) == moves(REPAIRED, place)


def moves(model: Model, place: Place) -> Mapping[State, set[State]]:
    """The other states that follow each state, whatever the steps are called."""
    return {state: {*steps.values()} - {state} for state, steps in graph_of(model, place).items()}


@pytest.mark.parametrize("name", RUNS)
def test_a_run_shows_what_a_word_changes(name: str) -> None:
    prop, configuration, run = RUNS[name]
    [place] = whole(REPAIRED, [configuration])
    assert violates(words()[name].build(), place, run, prop)
    assert not violates(REPAIRED, place, run, prop)


def violates(model: Model, place: Place, run: Sequence[str], name: str) -> bool:
    """Whether the last step of a run violates a step invariant. The run names actions, and the first of their parameters."""
    instance = place.of(model)
    stepper, state, prop = Stepper(instance), instance.initial(), model.property(name)
    assert isinstance(prop, StepInvariant)
    for words_of_step in run:
        action, *numbers = words_of_step.split()
        step = next(
            step
            for step in stepper.steps(state)
            if step.choice.action == action
            and [number for _, number in step.choice.parameters][: len(numbers)] == list(map(int, numbers))
        )
        moment = Moment(state, dict(step.choice.parameters), step.fired, step.after)
        state = step.after
    return Check(instance, prop).violated(moment) is not None
