"""Shortest runs that show what a property is about: to a state or a step that its premise describes."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace

from schedproof.model.lang import (
    AlwaysCanReach,
    Invariant,
    LeadsTo,
    LifeCycle,
    Model,
    Property,
    StepInvariant,
)
from schedproof.model.lang import terms as t
from schedproof.model.semantics import Instance, instances
from schedproof.proofs.verdict import Counterexample

from .limits import Enough
from .safety import IN_NO_OBJECT, counterexample, watch
from .witness import witness

MOST_STATES = 3_000
"""The limit for the states of a configuration. Symmetric states count once."""

FALSE = t.Constant(False)

MOST_CONFIGURATIONS = 4
"""How many configurations are searched."""

MOST_DENIALS = 2
"""How many properties at most deny one premise."""


def premise_runs(model: Model, props: Sequence[Property]) -> Mapping[str, Counterexample]:
    """Runs at the model's scope on which the premises of properties are met.

    A run ends with a step that makes the premise true; if there is none, where it is true from the start. A life cycle has
    a run through its states. A property without a premise has none, and neither has one whose premise is far from the initial state.

    Returns:
        Name of the property -> run.
    """
    denied = {each.name: _never(each) for each in props}
    with_premise = {name for name, each in denied.items() if each}
    cycles = {each.name: each for each in props if isinstance(each, LifeCycle)}
    runs: dict[str, Counterexample] = {}
    for instance in itertools.islice(instances(model, {}, with_history=True), MOST_CONFIGURATIONS):
        for rank in range(MOST_DENIALS):
            left = [each[rank] for name, each in denied.items() if name not in runs and rank < len(each)]
            runs |= _runs(instance, left)
        for name, cycle in cycles.items():
            if name not in runs and (run := witness(instance, cycle, MOST_STATES)) is not None:
                runs[name] = run
        if len(runs) == len(with_premise) + len(cycles):
            break
    return runs


def _runs(instance: Instance, never: Sequence[Property]) -> dict[str, Counterexample]:
    """Counterexamples of properties that deny premises."""
    if not never:
        return {}
    exploration, watched = watch(instance, never, limit=MOST_STATES, enough=Enough(until_refuted=True))
    runs = {}
    for each in watched:
        check = each.failed()
        if check is None:
            continue
        run = counterexample(exploration, check)
        if not run.problem.startswith(violated := f"property {each.prop.name} is violated"):
            continue
        where = run.problem.removeprefix(violated)
        if where.startswith(" because"):
            continue  # the premise has no value
        what = "in which its premise is met"
        if check.prop.given is None:
            what, where = "of a step that it is about", where.removesuffix(f" {IN_NO_OBJECT}")
        runs[each.prop.name] = replace(run, problem=f"{each.prop.name} holds; the run is an example {what}{where}")
    return runs


def _never(prop: Property) -> Sequence[Invariant | StepInvariant]:
    """Properties that are violated where the premise of another is met, the clearest first; [] for one without a premise."""
    name, says = prop.name, prop.says
    match prop:
        case Invariant() | LeadsTo() | AlwaysCanReach() if (given := prop.given) is not None:
            becomes = t.And((t.Not(given), t.after(given)))
            return [
                StepInvariant(name=name, says=says, over=prop.over, given=becomes, then=FALSE),
                Invariant(name=name, says=says, over=prop.over, given=given, then=FALSE),
            ]
        case StepInvariant() if prop.given is not None or prop.on:
            return [StepInvariant(name=name, says=says, over=prop.over, given=prop.given, on=prop.on, then=FALSE)]
    return []
