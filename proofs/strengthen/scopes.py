"""Which scopes are explored: they grow until a larger one shows nothing new."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from schedproof.model.lang import Model, Property
from schedproof.model.semantics import ScopeError, check_scope, scope_text

from .features import Template, Vocabulary
from .rows import OutOfTime
from .samples import Samples, Violation

MOST_OBJECTS = 4
"""The most objects of a sort in a scope that is not asked for."""

SECONDS = 6.0
"""The processor time to explore one scope: another program that runs leaves as many samples."""

GROWING = 10.0
"""The processor time after which no larger scope is begun, if random runs follow."""

LARGE = 20_000
"""A scope with more representatives is the last."""


def first_scope(model: Model) -> dict[str, int]:
    """Two objects of each sort, and one of each single sort."""
    return {s.name: 1 if s.single else 2 for s in model.sorts}


def grow(
    samples: Samples,
    watched: Sequence[Property],
    scope: Mapping[str, int] | None,
    stop: Callable[[], str],
    report: Callable[[str], None],
) -> Violation | None:
    """Explores scopes until a larger one adds no row to any template with two variables.

    Args:
        watched: the properties to check on the way.
        scope: the only scope to explore; by default they grow from two objects of each sort.

    Returns:
        The run that violates a property, if a scope has one.
    """
    model = samples.model
    vocabulary = Vocabulary(model, samples.history)
    templates = [template for cost in range(3) for template in vocabulary.templates(cost)]

    def explore(sizes: Mapping[str, int]) -> Violation | None:
        report(f"explores {scope_text(sizes)}")
        until = time.process_time() + SECONDS
        return samples.explore(sizes, lambda: stop() or ("long" if time.process_time() > until else ""), watched)

    def try_out(sizes: Mapping[str, int]) -> Violation | None:
        """Explores a scope that nobody asked for: the model's configurations may not know it."""
        with suppress(ScopeError):
            return explore(sizes)
        samples.scopes[scope_text(sizes)] = 0
        return None

    if scope is not None:
        return explore(check_scope(model, scope))
    sizes = first_scope(model)
    usual = check_scope(model, {})
    if (violation := explore(usual)) is not None:
        return violation
    if sizes != usual and (violation := try_out(sizes)) is not None:
        return violation
    with suppress(OutOfTime):
        if (violation := _grown(samples, templates, sizes, try_out, stop)) is not None:
            return violation
    report("runs at random")
    samples.run_at_random(stop)
    return None


def _grown(
    samples: Samples,
    templates: Sequence[Template],
    sizes: Mapping[str, int],
    try_out: Callable[[Mapping[str, int]], Violation | None],
    stop: Callable[[], str],
) -> Violation | None:
    """Tries one object more of each sort, until that adds no row."""
    for template in templates:
        samples.rows(template, False)
    growing = [s.name for s in samples.model.sorts if not s.single]
    until = time.process_time() + GROWING if samples.model.rigid_attributes else math.inf
    while growing and samples.complete and not stop() and max(samples.scopes.values()) < LARGE:
        kept = []
        for sort in growing:
            larger = {**sizes, sort: sizes[sort] + 1}
            if larger[sort] > MOST_OBJECTS or scope_text(larger) in samples.scopes:
                continue
            if stop() or time.process_time() > until or not samples.complete:
                return None  # a scope that is too large to explore is the last
            if (violation := try_out(larger)) is not None:
                return violation
            if sum([samples.news(template) for template in templates]):
                kept.append(sort)
        sizes = {sort: size + (sort in kept) for sort, size in sizes.items()}
        growing = kept
    return None
