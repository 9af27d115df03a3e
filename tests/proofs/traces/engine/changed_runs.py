"""Runs of random models as logs: as they are, and with one value changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

from schedproof.model.lang import Type
from schedproof.model.registry.system import System
from schedproof.model.semantics import Choice, IllFormed, Instance, Run, Stepper, Undefined
from schedproof.proofs.traces import LogVerdict, check_trace
from tests.support.random_models import Drawn, random_model

Change = Callable[[Instance, Any, int, Random], int]
"""Another value in place of a packed one, of an attribute of this type."""


def walk(model: Drawn, many: int, rng: Random) -> Run:
    """Steps at random."""
    instance = model.instance()
    stepper, states, choices = Stepper(instance), [instance.initial()], list[Choice]()
    with suppress(IllFormed, Undefined):
        while len(choices) < many and (steps := list(stepper.steps(states[-1]))):
            step = rng.choice(steps)
            choices.append(step.choice)
            states.append(step.after)
    return Run(instance, choices, states)


def changes_noticed(
    seeds: Iterable[int], maker: Any, kind: type[Type], change: Change, write: Callable[[Run], str], path: Path
) -> int:
    """How many runs conform, and violate their model with one value of an attribute of ``kind`` changed.

    A record has the action and the whole state, so one step explains it, or none.
    """
    noticed = 0
    for seed in seeds:
        rng, model = Random(seed), random_model(seed, maker)
        run = walk(model, 8, rng)
        changing = [
            (run.instance.slot(machine.sort.name, a.name), a.type)
            for machine in model.model.machines
            for a in run.instance.attributes(machine.sort.name)
            if isinstance(a.type, kind)
        ]
        if not run.choices or not changing:
            continue
        system = System.of(model.model)
        path.write_text(write(run))
        assert check_trace(system, path).verdict is LogVerdict.CONFORMS, seed
        at, (slot, of_type) = rng.randrange(len(run.choices)), rng.choice(changing)
        states = list(run.states)
        changed = change(run.instance, of_type, states[at + 1][slot], rng)
        states[at + 1] = tuple(changed if s == slot else v for s, v in enumerate(states[at + 1]))
        path.write_text(write(replace(run, states=states)))
        assert check_trace(system, path).verdict is LogVerdict.VIOLATES, seed
        noticed += 1
    return noticed
