"""Instances at random that other model checkers can take: no property reads an object that is not, where they stop."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from itertools import count, product
from typing import Any

from schedproof.model.lang import Invariant, Model, StepInvariant, implies
from schedproof.model.lang.model import common_parameters
from schedproof.model.semantics import Instance, Moment, State, Step, Undefined
from schedproof.model.semantics.evaluate import compile_term
from schedproof.proofs.checking.model_check import reads_history
from schedproof.proofs.exploration.explore import explore
from schedproof.proofs.exploration.safety import conditions_of
from tests.support.random_models import (
    DisposableFunctionMaker,
    DisposableMaker,
    DisposableRelationMaker,
    DisposableSequenceMaker,
    Drawn,
    FunctionMaker,
    IntegerMaker,
    LaterMaker,
    Maker,
    RelationMaker,
    SequenceMaker,
    random_model,
)

MAKERS: list[type[Maker]] = [
    Maker,
    IntegerMaker,
    RelationMaker,
    FunctionMaker,
    SequenceMaker,
    LaterMaker,
    DisposableMaker,
    DisposableRelationMaker,
    DisposableSequenceMaker,
    DisposableFunctionMaker,
]
"""Together they make models with all words of the language that are no library."""


@cache
def random_instance(seed: int, make: type[Maker] = Maker, *, with_cuts: bool = False) -> Instance:
    """The first instance of a seed that other model checkers can take.

    Args:
        with_cuts: only one of which steps are beyond the bounds.
    """
    drawn = (random_model(1000 * seed + n, make) for n in count())
    return next(m.instance() for m in drawn if is_comparable(m) and (not with_cuts or explore(m.instance()).cut))


def is_comparable(model: Drawn) -> bool:
    """It is well-formed, and no condition reads an object that is not, in any state or step."""
    instance = model.instance()
    conditions = [(c, undefined(instance, c)) for c in conditions_without_history(model.model)]
    on_steps = [(c, reads) for c, reads in conditions if isinstance(c, StepInvariant)]
    bad = False

    def on_step(state: State, number: int, step: Step) -> None:
        nonlocal bad
        moment = partial(Moment, state, fired=step.fired, after=step.after)
        choice = step.choice
        bad = bad or any(
            reads(moment, dict(choice.parameters)) for c, reads in on_steps if not c.on or choice.action in c.on
        )

    explored = explore(instance, symmetry=False, on_step=on_step)
    if bad or explored.ill_formed is not None:
        return False
    on_states = [reads for c, reads in conditions if isinstance(c, Invariant)]
    return not any(reads(partial(Moment, state), {}) for state in explored.states for reads in on_states)


def conditions_without_history(model: Model) -> list[Invariant | StepInvariant]:
    """The conditions that a text without history attributes checks."""
    return [c for p in model.properties if not reads_history(model, p) for c in conditions_of(model, p)]


def undefined(
    instance: Instance, condition: Invariant | StepInvariant
) -> Callable[[Callable[[dict[str, int]], Moment], Mapping[str, int]], bool]:
    """Whether a condition reads an object that is not, for any objects: also for those after the first that violate it."""
    common = common_parameters(instance.model, getattr(condition, "on", ()))
    term = condition.then if condition.given is None else implies(condition.given, condition.then)
    holds = compile_term(instance, term, {v.name: v for v in [*common, *condition.over]})
    names = [v.name for v in condition.over]
    every: list[tuple[Any, ...]] = [*product(*(instance.domain(v.type) for v in condition.over))]

    def reads(moment: Callable[[dict[str, int]], Moment], bound: Mapping[str, int]) -> bool:
        try:
            for values in every:
                holds(moment({**bound, **dict(zip(names, values, strict=True))}))
        except Undefined:
            return True
        return False

    return reads
