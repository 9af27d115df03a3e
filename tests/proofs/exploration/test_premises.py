"""Runs on which the premise of a property is met: what they end with is computed from the states, without a search."""

from __future__ import annotations

from dataclasses import replace

import pytest

from schedproof.model.lang import AlwaysCanReach, Invariant, LeadsTo, Model, StepInvariant
from schedproof.model.lang import terms as t
from schedproof.model.semantics import Moment, Undefined, compile_term, stepper_of
from schedproof.model.systems.hived import AS_WRITTEN as HIVED
from schedproof.proofs.exploration.premises import premise_runs
from schedproof.proofs.exploration.recorded_run import instance_of
from schedproof.proofs.verdict import Counterexample
from tests.support.lamps import VACUOUS, lamps, x
from tests.support.toys import MUTEX, WORKSHOP

LIT = Invariant(name="lit", says="a lamp that is on is not off", over=[x], given=x.is_("On"), then=~x.is_("Off"))
DARK = AlwaysCanReach(name="dark", says="a lamp that is off can be on", over=[x], given=x.is_("Off"), goal=x.is_("On"))
SWITCHED = StepInvariant(name="switched", says="it goes off", over=[], on=["switch_off"], then=t.Constant(True))
ALWAYS = StepInvariant(name="always", says="nothing", over=[x], then=t.after(x.is_("On", "Off")))


def met(model: Model, prop: t.Term, over: list[t.Var], run: Counterexample) -> list[bool]:
    """The value of a premise in each state of a run, for the objects that the run names."""
    assert run.recorded is not None
    instance = instance_of(model, run.recorded)
    states = [instance.initial()]
    for choice in run.recorded.choices:
        states.append(stepper_of(instance).step(states[-1], choice).after)
    value = compile_term(instance, prop, {v.name: v for v in over})
    values = []
    for state in states:
        try:
            values.append(bool(value(Moment(state, dict(run.recorded.bound)))))
        except Undefined:
            values.append(False)
    return values


def test_a_run_is_the_shortest_that_makes_the_premise_true() -> None:
    """A lamp is on after one step; off, not from the start, after two."""
    runs = premise_runs(lamps(), [LIT, DARK, SWITCHED])
    actions = {name: [step.action for step in run.steps] for name, run in runs.items()}
    assert actions == {
        "lit": ["switch_on"],
        "dark": ["switch_on", "switch_off"],
        "switched": ["switch_on", "switch_off"],
    }
    assert runs["lit"].problem == "lit holds; the run is an example in which its premise is met for x = l0"
    assert runs["switched"].problem == "switched holds; the run is an example of a step that it is about"


def test_a_premise_that_is_only_true_at_the_start_has_a_run() -> None:
    idle = replace(lamps(), actions=[], properties=[], refuted=frozenset())
    (run,) = premise_runs(idle, [DARK]).values()
    assert run.steps == () and run.problem.endswith("its premise is met for x = l0")


def test_what_has_no_premise_or_never_meets_it_has_no_run() -> None:
    assert premise_runs(lamps(), [VACUOUS, ALWAYS]) == {}


def test_a_life_cycle_has_a_run_through_its_states() -> None:
    cycle = lamps().property("blinks")
    runs = premise_runs(lamps(), [cycle])
    assert [step.action for step in runs["blinks"].steps] == ["switch_on", "switch_off"]


@pytest.mark.parametrize("model", [HIVED, MUTEX, WORKSHOP], ids=["hived", "mutex", "workshop"])
def test_the_premise_is_true_at_the_end_for_its_objects(model: Model) -> None:
    runs = premise_runs(model, model.properties)
    checked = 0
    for prop in model.properties:
        if prop.name in runs and isinstance(prop, Invariant | AlwaysCanReach | LeadsTo):
            assert prop.given is not None
            values = met(model, prop.given, list(prop.over), runs[prop.name])
            assert values[-1], prop.name
            assert len(values) == 1 or not values[-2], prop.name
            checked += 1
    assert checked


def test_a_premise_of_a_step_is_true_in_the_last_step() -> None:
    props = [each for each in HIVED.properties if isinstance(each, StepInvariant) and each.given is not None]
    runs = premise_runs(HIVED, props)
    assert len(runs) > 10
    for prop in props:
        run = runs.get(prop.name)
        if run is None or run.recorded is None:
            continue
        instance = instance_of(HIVED, run.recorded)
        stepper, state = stepper_of(instance), instance.initial()
        *first, last = run.recorded.choices
        for choice in first:
            state = stepper.step(state, choice).after
        step = stepper.step(state, last)
        variables = {v.name: v for v in [*HIVED.action(last.action).parameters, *prop.over]}
        assert prop.given is not None
        value = compile_term(instance, prop.given, variables)
        moment = Moment(state, {**dict(last.parameters), **run.recorded.bound}, step.fired, step.after)
        assert value(moment), prop.name
        assert not prop.on or last.action in prop.on
