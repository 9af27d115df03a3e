"""The paths of a part of Jobmon's database from one state of the followed fields to others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from schedproof.model.lang import Invariant, StepInvariant
from schedproof.proofs.traces.engine.candidates import Path, closure
from schedproof.proofs.traces.engine.partial import UNKNOWN, Obj, Values, View
from schedproof.proofs.traces.engine.partial_steps import PartialStep, PartialSteps, Plan

MOST_VALUES = 4_000
"""How many states one part of the database may have between two records; with more, the trace is undetermined."""

Allowed = tuple[frozenset[Any] | None, ...]
"""By followed field, the values that it may have on the path; None for any."""

NOT_COUNTED = frozenset({UNKNOWN})
"""For a count that can grow without end and that no dump shows: all its values count as one, the unknown value."""


@dataclass
class Memory:
    """Caches paths that were searched before: parts with equal views share them."""

    plans: dict[Any, Plan] = field(default_factory=dict)
    steps: dict[Any, PartialSteps] = field(default_factory=dict)
    after: dict[Any, list[tuple[str, PartialStep]]] = field(default_factory=dict)
    moves: dict[Any, dict[Values, list[tuple[str, Values]]]] = field(default_factory=dict)
    ways: dict[Any, list[Path]] = field(default_factory=dict)
    broken: dict[Any, tuple[tuple[str, Obj], ...] | None] = field(default_factory=dict)

    def of(self, view: View) -> PartialSteps:
        """Returns the steps of a view."""
        if view.key not in self.steps:
            plan = Plan.of(view)
            self.steps[view.key] = PartialSteps(view, self.plans.setdefault(plan.fields, plan))
        return self.steps[view.key]

    def steps_from(self, view: View, values: Values) -> list[tuple[str, PartialStep]]:
        """Returns each step with its words, in which objects are written ``<Sort number>``."""
        key = (view.key, values)
        if key not in self.after:
            self.after[key] = [(_words(step), step) for step in self.of(view).steps(values)]
        return self.after[key]

    def ways_from(
        self, view: View, in_order: str, start: Values, allowed: Allowed, without: Sequence[StepInvariant] = ()
    ) -> list[Path]:
        """Returns the paths from ``start``, one to each state.

        Args:
            in_order: the sort whose objects are created in the order of their numbers.
            without: leaves out steps that break these properties.

        Raises:
            TooManyStates: there are more than ``MOST_VALUES``.
        """
        key = (view.key, start, allowed, tuple(p.name for p in without))
        if key in self.ways:
            return self.ways[key]
        # Paths from other starts pass through the same states.
        known = self.moves.setdefault((view.key, in_order, *key[2:]), {})

        def moves(values: Values) -> list[tuple[str, Values]]:
            if values not in known:
                known[values] = list(self._moves_from(view, in_order, values, allowed, without))
            return known[values]

        begins = _may_be(view, in_order, start, allowed)
        paths = self.ways[key] = list(closure(Path((), start), moves, MOST_VALUES)) if begins else []
        return paths

    def _moves_from(
        self, view: View, in_order: str, values: Values, allowed: Allowed, without: Sequence[StepInvariant]
    ) -> Iterator[tuple[str, Values]]:
        steps = self.of(view)
        for words, step in self.steps_from(view, values):
            after = tuple(
                UNKNOWN if among == NOT_COUNTED else value for value, among in zip(step.after, allowed, strict=True)
            )
            if _may_be(view, in_order, after, allowed) and not any(steps.breaks(p, values, step) for p in without):
                yield words, after

    def violated(self, prop: Invariant, values: Values, view: View) -> tuple[tuple[str, Obj], ...] | None:
        """Returns the objects for which the property is violated, whatever the unobserved values are; None if none."""
        key = (prop.name, view.key, values)
        if key not in self.broken:
            self.broken[key] = self.of(view).violates(prop, values)
        return self.broken[key]


def _may_be(view: View, in_order: str, values: Values, allowed: Allowed) -> bool:
    if any(among is not None and value not in among for value, among in zip(values, allowed, strict=True)):
        return False
    made = [v != "Absent" for v, (s, a, _) in zip(values, view.follows, strict=True) if (s, a) == (in_order, "")]
    return made == sorted(made, reverse=True)


def _words(step: PartialStep) -> str:
    return f"{step.action}({', '.join(f'<{sort} {number}>' for _, (sort, number) in step.bound)})"
