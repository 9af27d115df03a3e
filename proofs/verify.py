"""The main job: every property of every variant, judged by every way there is, against its manifest."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from schedproof.model.lang import Model
from schedproof.model.lang.check import WELL_FORMED
from schedproof.model.systems import System

from .examine import examine
from .induction import Induction, prove
from .refinement import REFINED, Refinement
from .verdict import Counterexample, Disagreement, Method, Result, Verdict

INDUCTIVE = frozenset({"invariant", "step invariant", "recovery", "well-formedness"})
"""The kinds that are wanted for any number of objects."""


@dataclass(frozen=True)
class Judged:
    """A property with the verdict that its variant's manifest expects."""

    result: Result
    expected: Verdict

    @property
    def as_expected(self) -> bool:
        """Undetermined never is."""
        return self.result.verdict is self.expected

    def as_json(self) -> dict[str, Any]:
        """The entry of ``verify --json``."""
        r = self.result
        found: dict[str, Any] = {
            "name": r.name,
            "kind": r.kind,
            "expected": str(self.expected),
            "verdict": str(r.verdict),
            "method": str(r.method),
            "scope": dict(r.scope) if r.scope is not None else None,
            "seconds": round(r.seconds, 4),
        }
        if r.note:
            found["note"] = r.note
        if r.counterexample is not None:
            found["counterexample"] = r.counterexample.as_json()
        return found


@dataclass(frozen=True)
class VariantReport:
    """All properties of one variant."""

    system: str
    variant: str
    properties: Sequence[Judged]
    seconds: float = field(compare=False, default=0.0)

    @property
    def ok(self) -> bool:
        """Every verdict is the expected one, and there is one."""
        return bool(self.properties) and all(j.as_expected for j in self.properties)

    def as_json(self) -> dict[str, Any]:
        """The entry of ``verify --json``."""
        return {
            "system": self.system,
            "variant": self.variant,
            "properties": [j.as_json() for j in self.properties],
        }


def expected(model: Model, prop: str) -> Verdict:
    """What the manifest of ``model`` says of a property."""
    return Verdict.REFUTED if prop in model.refuted else Verdict.PROVED


def refinements(model: Model) -> Sequence[Refinement]:
    """The explorations of a reference implementation that belong to a variant."""
    return REFINED.get((model.system, model.variant), ())


def property_names(model: Model) -> list[str]:
    """What ``verify`` judges of a variant, in the order of the table."""
    return [WELL_FORMED, *(p.name for p in model.properties), *(r.name for r in refinements(model))]


def refinement(prop: Refinement, progress: Callable[[int, int], None] | None = None) -> Result:
    """Explores the reference implementation side by side with its model."""
    report = prop.check(progress)
    verdict = Verdict.PROVED if report.ok else Verdict.REFUTED
    counterexample = Counterexample((), report.mismatch.text) if report.mismatch is not None else None
    note = f"{report.states} states of the scheduler, {report.crash_points} crash points"
    return Result(prop.name, prop.kind, verdict, Method.EXPLORATION, prop.scope, report.seconds, counterexample, note)


def verify_variant(
    model: Model,
    *,
    scope: Mapping[str, int] | None = None,
    only: Sequence[str] = (),
    progress: Callable[[str], None] | None = None,
) -> VariantReport:
    """Judges the properties of one variant by exploration and, where it is wanted, induction.

    Args:
        scope: instead of the model's default.
        only: just these properties, by name.
        progress: called with a line on what is being done.

    Raises:
        Disagreement: exploration refutes what induction proves.
        ScopeError: the scope is impossible.
    """
    start = time.perf_counter()
    say = progress or (lambda line: None)
    at = f"{model.system} {model.variant}"
    explored = examine(
        model,
        scope or {},
        only=only,
        progress=lambda states, done, depth: say(
            f"{at}: exploring, {states} states, {states - done} to go, depth {depth}"
        ),
    )
    induction = None
    if any(r.kind in INDUCTIVE for r in explored):
        induction = prove(model, every=False, progress=lambda done, total: say(f"{at}: induction, {done} of {total}"))
    judged = [Judged(combine(r, induction), expected(model, r.name)) for r in explored]
    for prop in refinements(model):
        if not only or prop.name in only:
            result = refinement(prop, lambda done, edges: say(f"{at}: scheduler, {done} states, {edges} edges"))
            judged.append(Judged(result, Verdict.PROVED))
    return VariantReport(model.system, model.variant, judged, time.perf_counter() - start)


def combine(explored: Result, induction: Induction | None) -> Result:
    """The verdict of both ways.

    A refutation needs a run from the initial state; a proof needs induction, where it is wanted.

    Raises:
        Disagreement: exploration refutes what induction proves.
    """
    if explored.kind not in INDUCTIVE or induction is None:
        return explored
    proved = induction.proved(explored.name)
    seconds = explored.seconds + induction.seconds(explored.name)
    if explored.verdict is Verdict.REFUTED:
        if proved:
            raise Disagreement(
                f"{explored.name}: induction proves it, but exploration finds a run that breaks it; "
                "one of the two engines is wrong"
            )
        return explored
    if explored.verdict is Verdict.UNDETERMINED:
        return explored  # vacuous, or cut short: no proof makes that right
    if proved:
        return Result(explored.name, explored.kind, Verdict.PROVED, Method.INDUCTION, None, seconds)
    open_ = [a for a in induction.of(explored.name) if a.verdict is not Verdict.PROVED]
    example = next((a.counterexample for a in open_ if a.counterexample is not None), None)
    note = f"not inductive: {open_[0].obligation.name}" if open_ else "no obligation"
    return Result(explored.name, explored.kind, Verdict.UNDETERMINED, Method.INDUCTION, None, seconds, example, note)


def verify(
    systems: Sequence[System], *, only: Sequence[str] = (), progress: Callable[[str], None] | None = None
) -> list[VariantReport]:
    """Every variant of ``systems`` that has a property of ``only`` (or any)."""
    reports = []
    for system in systems:
        for model in system.variants.values():
            mine = [n for n in only if n in property_names(model)]
            if mine or not only:
                reports.append(verify_variant(model, only=mine, progress=progress))
    return reports
