"""Time-outs in two steps: what can happen between them, and that the lock makes them one step again.

Facts 1.3 and 5.1: the function of a state's timer reads the state under one lock of the state machine, and fires its event
under another; the resource manager's requests hold the lock of the application.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from schedproof.model.lang import Model
from schedproof.model.registry.discovery import system
from schedproof.model.systems.yunikorn import LOCKED_TIMERS, REPAIRED, UNLOCKED_TIMERS, V0_12_2
from schedproof.model.systems.yunikorn import unlocked_timers as of
from schedproof.model.systems.yunikorn.configurations import Configuration
from schedproof.proofs.checking.model_check import model_check
from schedproof.proofs.verdict import Verdict
from schedproof.proofs.verification.without import without
from tests.support.mutants import Place, graph_of
from tests.systems.yunikorn.model.runs import Run, instance

ASKS = Configuration("two asks", [("rr", "Soft")], wakeups=2)
GANG = Configuration("a gang of one with a real ask", [("pr", "Soft")], wakeups=2)


def compared(configuration: Configuration, *begin: str) -> Run:
    """A run in which the time of the application's state is over, and the function has found that state."""
    return Run(UNLOCKED_TIMERS, configuration).do(*begin, "run_out 0 0", "compare")


def test_an_ask_comes_between_comparison_and_event() -> None:
    """Line 23: complete is fired on the Running application that the ask has made of it (1.2, application.go:517)."""
    run = compared(ASKS, "submit", "add_ask 0", "remove_ask 0").do("add_ask 1")
    assert run.of("Application") == "Running"
    assert run.do("wake").of("Application") == "Completing" and run.of("Ask", 1) == "pending"
    at_once = Run(V0_12_2, ASKS).do("submit", "add_ask 0", "remove_ask 0", "run_out 0 0", "add_ask 1", "wake")
    assert at_once.of("Application") == "Running"


def test_the_only_container_ends_between_comparison_and_event() -> None:
    """Line 22: run takes Completing to Running (1, application_state.go:92), and nothing is left that could complete it."""
    begin = ("create_node", "submit", "add_ask 0", "allocate 0")
    run = compared(ASKS, *begin).do("end 0")
    assert run.of("Application") == "Completing"
    assert run.do("wake").of("Application") == "Running" and not run.possible() & {"run_out 0 0", "wake", "end"}
    assert Run(V0_12_2, ASKS).do(*begin, "run_out 0 0", "end 0", "wake").of("Application") == "Completing"


def test_a_placeholder_goes_between_comparison_and_clean_up() -> None:
    """The timer is cleared for a placeholder that does not come back (1.3, 259-271); its end had found the timer set."""
    begin = ("create_node", "submit", "add_ask 0", "allocate 0", "remove_ask 0")
    run = compared(GANG, *begin).do("end 0", "wake")
    assert run.of("Application") == "Completing" and not run.possible() & {"run_out 0 0", "wake", "end"}
    cleaned_up = compared(GANG, *begin).do("wake")
    assert cleaned_up.of("Ask") == "releasing" and cleaned_up.do("end 0").of("Application") == "Completed"


def test_a_function_that_finds_another_state_does_nothing() -> None:
    run = Run(UNLOCKED_TIMERS, ASKS).do("submit", "add_ask 0", "remove_ask 0", "run_out 0 0", "add_ask 1")
    assert not run.possible() & {"compare", "wake"}
    assert run.do("miss").of("Application") == "Running" and run.of("Wakeup") == "free"


def test_nobody_between_is_one_step() -> None:
    """Where nothing comes between, both variants are in the same state."""
    for begin in (("submit", "add_ask 0", "remove_ask 0"), ("create_node", "submit", "add_ask 0", "allocate 0")):
        one = Run(V0_12_2, ASKS).do(*begin, "run_out 0 0", "wake")
        assert compared(ASKS, *begin).do("wake").of("Application") == one.of("Application")


@pytest.mark.parametrize("configuration", [ASKS, GANG], ids=lambda c: c.about)
def test_with_the_lock_it_is_the_repaired_core(configuration: Configuration) -> None:
    at = instance(REPAIRED, configuration)
    place = Place(configuration.about, at.sizes, at.rigid)
    locked, repaired = (graph_of(model, place) for model in (LOCKED_TIMERS, REPAIRED))
    assert locked == repaired and len(locked) > 200


def unlocked(wakeups: int) -> Model:
    """The variant in two small configurations, with so many time-outs at a time."""
    rigid = [instance(UNLOCKED_TIMERS, replace(each, wakeups=wakeups)).rigid for each in (ASKS, GANG)]
    return replace(UNLOCKED_TIMERS, configurations=lambda sizes: rigid)


@pytest.mark.long
def test_a_third_time_out_makes_no_run_longer_or_shorter() -> None:
    """Two are enough: no run is one only because a later time-out has to wait until an earlier one has acted."""
    names = sorted(UNLOCKED_TIMERS.refuted - V0_12_2.refuted)
    assert names == ["completed-expires", "completing-ends", "time-outs-end-their-own-state"]
    lengths = []
    for wakeups in (2, 3):
        results = model_check(unlocked(wakeups), {"Wakeup": wakeups}, only=names)
        assert {r.name: r.verdict for r in results if r.name in names} == dict.fromkeys(names, Verdict.REFUTED)
        lengths.append({r.name: len(r.counterexample.steps) for r in results if r.counterexample is not None})
    assert lengths[0] == lengths[1]


def test_what_falls_in_the_repaired_core_without_the_lock() -> None:
    """What the lock alone repairs there; the placeholders of a Completing application need another defect too."""
    names = [name for name in of.WITH_THE_LOCK.repairs if name not in ("completing-ends", "completed-expires")]
    less = without(system("yunikorn"), LOCKED_TIMERS, of.WITH_THE_LOCK, names)
    assert less is not None and not less[1]
    rigid = instance(less[0], ASKS).rigid
    results = model_check(replace(less[0], configurations=lambda sizes: [rigid]), {"Wakeup": 2}, only=names)
    assert {r.name for r in results if r.verdict is Verdict.REFUTED} == {*names}
