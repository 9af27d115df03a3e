"""A search by workers beside the same one in one process."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from functools import partial
from typing import Any

from schedproof.model.lang import Model, Rigid
from schedproof.model.registry.discovery import systems
from schedproof.model.semantics import Choice, Instance, State, instances, stepper_of
from schedproof.proofs import compiled
from schedproof.proofs.checking.engine import Engine, Exploring
from schedproof.proofs.checking.model_check import model_check
from schedproof.proofs.cluster import RemoteWorkers
from schedproof.proofs.compiled import Reached
from schedproof.proofs.verdict import Result

VARIANTS = [(system, variant) for system in systems() for variant in systems()[system].variants]


def smallest(system: str, variant: str) -> tuple[Model, Instance]:
    """A variant in its configuration with the fewest objects only, and the instance."""
    model = systems()[system].variants[variant]
    instance = min(instances(model, dict(model.default_scope)), key=lambda i: sum(i.sizes.values()))
    return dataclasses.replace(model, configurations=partial(_just, instance.rigid)), instance


def _just(rigid: Rigid, sizes: Mapping[str, int]) -> list[Rigid]:
    return [rigid]


def numbers(reached: Reached) -> tuple[Any, ...]:
    """All that is counted."""
    return (
        reached.stopped, reached.state_count, reached.representatives, reached.transition_count, reached.per_action(),
        reached.depth, reached.up_to(), reached.stuck_count, reached.frontier_count,
        reached.ill_formed is None,
    )  # fmt: skip


def assert_same_numbers(instance: Instance, workers: RemoteWorkers, *, symmetry: bool = False) -> Reached:
    """The workers count what one process counts, and their runs are shortest."""
    alone = compiled.explore(instance, symmetry=symmetry)
    reached = compiled.explore(instance, symmetry=symmetry, workers=workers)
    assert numbers(reached) == numbers(alone)
    parts = len(workers)
    for me, part in enumerate(reached.parts):
        for place in range(0, part.count, max(1, part.count // 5)):
            run = reached.path(place * parts + me)
            assert len(run) == reached._depth(place * parts + me)
            end_of(instance, run)
    return reached


def end_of(instance: Instance, run: list[Choice]) -> State:
    """Where a run ends; each of its steps is possible."""
    stepper, now = stepper_of(instance), instance.initial()
    for choice in run:
        now = stepper.step(now, choice).after
    return now


def verdicts(model: Model, **how: Any) -> list[tuple[Any, ...]]:
    """The verdict of each property, and the length of its counterexample."""
    return [_verdict(r) for r in model_check(model, model.default_scope, how=Exploring(Engine.COMPILED, **how))]


def _verdict(r: Result) -> tuple[Any, ...]:
    length = None if r.counterexample is None else len(r.counterexample.steps)
    return r.name, r.verdict, r.vacuous, r.note, length
