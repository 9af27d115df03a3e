"""A vacuous verdict names the condition that nothing meets, and a model in which nothing happens is not well-formed for free."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from random import Random

import pytest

from schedproof.model.lang import (
    Action,
    AlwaysCanReach,
    Attribute,
    Invariant,
    LeadsTo,
    Machine,
    Model,
    Property,
    Ref,
    Row,
    Sort,
    State,
    StepInvariant,
    Term,
    after,
    exists,
    variables,
)
from schedproof.model.lang.terms import both
from schedproof.model.lang.wording import show_term
from schedproof.model.semantics import Instance, Moment
from schedproof.model.semantics.reasons import conditions, holds
from schedproof.proofs.checking.engine import Engine, Exploring
from schedproof.proofs.checking.model_check import model_check
from schedproof.proofs.checking.vacuity import premise_never_true
from schedproof.proofs.exploration.explore import explore
from schedproof.proofs.verdict import Result, Verdict
from tests.support.random_models import random_model
from tests.support.rows import each_row

Door = Sort("Door", "d")
d, e = variables(Door, "d e")

OPEN_IT = Action("open_it", [d], [d.is_("Closed"), d.behind == d], [d.fires("open")], "{d} opens")


def doors(
    behind: Sequence[int | None], properties: Sequence[Property] = (), when: Sequence[Term] | None = None
) -> Model:
    action = OPEN_IT if when is None else replace(OPEN_IT, when=when)
    return Model(
        system="doors",
        variant="as-written",
        about="doors",
        machines=[Machine(Door, [State("Closed"), State("Open")], [Attribute("behind", Ref(Door), rigid=True)])],
        rows=[Row(Door, "open", "Closed", "Open")],
        actions=[action],
        rules=[],
        properties=properties,
        configurations=lambda sizes: [{("Door", "behind"): tuple(behind)}],
        default_scope={"Door": len(behind)},
    )


def verdicts(model: Model, engine: Engine = Engine.INTERPRETED) -> Mapping[str, Result]:
    return {result.name: result for result in model_check(model, {}, how=Exploring(engine))}


@pytest.mark.parametrize("engine", [Engine.INTERPRETED, Engine.COMPILED])
def test_a_model_in_which_nothing_happens_is_vacuous(engine: Engine) -> None:
    result = verdicts(doors([1, None]), engine)["well-formed"]
    assert (result.verdict, result.vacuous) == (Verdict.UNDETERMINED, True)
    assert result.note == (
        "vacuous: no action is enabled in the initial state, so nothing happens at Door=2: "
        "open_it needs d.behind = d - d0.behind is d1 (d = d0)"
    )


@pytest.mark.parametrize("engine", [Engine.INTERPRETED, Engine.COMPILED])
def test_a_model_in_which_something_happens_is_not(engine: Engine) -> None:
    assert verdicts(doors([0, None]), engine)["well-formed"].verdict is Verdict.PROVED


def test_one_configuration_in_which_something_happens_suffices() -> None:
    model = replace(doors([0]), configurations=lambda sizes: [{("Door", "behind"): (each,)} for each in (None, 0)])
    assert verdicts(model)["well-formed"].verdict is Verdict.PROVED


GIVEN = d.is_("Open") & e.is_("Closed") & (e.behind == d)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (GIVEN, "no state has e.behind = d together with d Open and e Closed"),
        (d.is_("Closed") & d.is_("Open"), "no state has d Open together with d Closed"),
        ((d.behind == e) & (e != d) & d.is_("Open"), "no state has e not d together with d.behind = e"),
    ],
)
def test_a_premise_names_the_condition_that_nothing_meets(given: Term, says: str) -> None:
    invariant = Invariant(name="p", says="", over=[d, e], given=given, then=d.is_("Open"))
    leads = LeadsTo(name="l", says="", over=[d, e], given=given, goal=d.is_("Open"))
    reaches = AlwaysCanReach(name="a", says="", over=[d, e], given=given, goal=d.is_("Open"))
    results = verdicts(doors([0, None], [invariant, leads, reaches]))
    for name in ("p", "l", "a"):
        assert results[name].note == f"vacuous: its premise is never true at Door=2: {says}"


SLAM = Action("slam", [d], [d.is_("Open"), d.is_("Closed")], [d.fires("open")], "{d} is slammed")


@each_row("engine", [Engine.INTERPRETED, Engine.COMPILED])
@each_row(
    ("given", "on", "says"),
    [
        (d.is_("Closed") & d.fires("open") & after(d.is_("Closed")), (), "no step has afterwards d Closed together with d Closed and open on d"),
        (d.is_("Open") & d.fires("open"), (), "no step has open on d together with d Open"),
        (d.behind == e, ("slam",), "no step of slam is taken"),
        (None, ("slam",), "no step of slam is taken"),
        ((d.behind == d) & (d != e) & after(d.is_("Closed")) & d.is_("Open"), ("open_it", "slam"), "no step has d Open together with d.behind = d and d not e and afterwards d Closed"),
    ],
)  # fmt: skip
def test_a_premise_about_steps_names_its_condition(
    given: Term | None, on: tuple[str, ...], says: str, engine: Engine
) -> None:
    steps = StepInvariant(name="s", says="", over=[d, e], given=given, then=d.is_("Open"), on=on)
    model = doors([0, 1], [steps])
    result = verdicts(replace(model, actions=[*model.actions, SLAM]), engine)["s"]
    assert result.note == f"vacuous: its premise is never true at Door=2: {says}"


def test_a_premise_about_the_parameters_of_a_step() -> None:
    """The variable of the property is the parameter of the action: only its value in the step counts."""
    steps = StepInvariant(
        name="s", says="", over=[e], given=e.is_("Open") & (e == d), then=d.is_("Open"), on=["open_it"]
    )
    assert verdicts(doors([0, 1], [steps]))["s"].note.endswith(": no step has e = d together with e Open")


def test_a_first_condition_that_nothing_meets_stands_alone() -> None:
    never = Invariant(name="p", says="", over=[d], given=d.is_("Open") & d.is_("Closed"), then=d.is_("Open"))
    result = verdicts(doors([None, 1], [never]))["p"]
    assert result.note.endswith("no state has d Closed together with d Open")
    stays = replace(never, given=(d.behind == d) & d.is_("Open"))
    assert verdicts(doors([1, 0], [stays]))["p"].note.endswith(": no state has d.behind = d")


def test_of_several_configurations_the_closest_counts() -> None:
    """In the first, no door is behind another."""
    given = (d.behind == e) & (d != e) & e.is_("Open") & e.is_("Closed")
    never = Invariant(name="p", says="", over=[d, e], given=given, then=d.is_("Open"))
    several = [{("Door", "behind"): each} for each in ((None, None), (1, 1), (0, None))]
    result = verdicts(replace(doors([None, None], [never]), configurations=lambda sizes: several))["p"]
    says = "no state has e Closed together with d.behind = e and d not e and e Open"
    assert result.note.endswith(f": in configuration 2 of 3, {says}"), result.note


def test_of_a_condition_without_fields_the_values_are_shown() -> None:
    model = doors([None, None], when=[d.is_("Closed"), exists(e, e.behind == d)])
    assert verdicts(model)["well-formed"].note.endswith(": open_it needs some e: e.behind = d (d = d0)")


@pytest.mark.long
@pytest.mark.parametrize("seeds", [range(3), pytest.param(range(3, 40), marks=pytest.mark.long)], ids=["3", "37"])
def test_the_reason_is_true_of_random_models(seeds: range) -> None:
    """Compared with every state and all values of the variables, evaluated one by one."""
    reasons = 0
    for seed in seeds:
        model = random_model(seed).model
        instance, chance = random_model(seed).instance(with_history=True), Random(seed)
        states = explore(instance, symmetry=False, limit=2_000)
        if not states.complete:
            continue
        for prop in model.properties:
            if not isinstance(prop, Invariant | LeadsTo | AlwaysCanReach) or prop.given is None:
                continue
            parts = conditions([prop.given])
            parts += [~part for part in chance.sample(parts, 1)]  # so that it is never true
            over = {v.name: v for v in prop.over}
            says = premise_never_true([instance], replace(prop, given=both(parts)), 1)
            met = 0
            for state in states.states:
                for values in product(*(instance.domain(v.type) for v in prop.over)):
                    moment = Moment(state, dict(zip(over, values, strict=True)))
                    met = max(met, _met(instance, moment, parts, over))
            assert met < len(parts)
            assert says.startswith(f"no state has {show_term(parts[met])}")
            assert (" together with " in says) == (met > 0)
            reasons += 1
    assert reasons > len(seeds) // 2


@pytest.mark.parametrize(
    "seeds", [range(3), pytest.param(range(3, 40), marks=pytest.mark.long(one_in=32))], ids=["few", "many"]
)
def test_the_reason_of_random_steps_is_true(seeds: range) -> None:
    """Compared with every step and all values of the variables, evaluated one by one."""
    reasons = 0
    for seed in seeds:
        model = random_model(seed).model
        instance, chance = random_model(seed).instance(with_history=True), Random(seed)
        moments: list[Moment] = []
        states = explore(
            instance, symmetry=False, limit=500,
            on_step=lambda state, number, step: moments.append(Moment(state, {}, step.fired, step.after)),  # noqa: B023
        )  # fmt: skip
        for prop in model.properties if states.complete and moments else ():
            if not isinstance(prop, StepInvariant) or prop.given is None or prop.on:
                continue
            parts = conditions([prop.given])
            parts += [~part for part in chance.sample(parts, 1)]  # so that it is never true
            over = {v.name: v for v in prop.over}
            says = premise_never_true([instance], replace(prop, given=both(parts)), 1)
            met = 0
            for moment in moments:
                for values in product(*(instance.domain(v.type) for v in prop.over)):
                    bound = replace(moment, bound=dict(zip(over, values, strict=True)))
                    met = max(met, _met(instance, bound, parts, over))
            assert met < len(parts)
            assert says.startswith(f"no step has {show_term(parts[met])}")
            reasons += 1
    assert reasons > 0


def _met(instance: Instance, moment: Moment, parts: Sequence[Term], over: Mapping[str, object]) -> int:
    return next((n for n, part in enumerate(parts) if not holds(instance, moment, part, over)), len(parts))  # type: ignore[arg-type]
