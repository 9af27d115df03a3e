"""The independent parts of ``verify``: explorations, inductions and auxiliary checks.

A part consists of names, so that another process can do it. Its result is plain data too: verdicts and runs, without z3
objects.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from schedproof.model.lang import Model
from schedproof.model.lang.properties import WELL_FORMED
from schedproof.model.registry.discovery import system as registered_system
from schedproof.model.registry.system import System
from schedproof.model.semantics import scope_text
from schedproof.proofs.checking.engine import Engine, Exploring
from schedproof.proofs.checking.model_check import explored
from schedproof.proofs.checking.unfired import Fired
from schedproof.proofs.gc_paused import collected_seldom
from schedproof.proofs.verdict import NOT_WELL_FORMED, Counterexample, Result, Unfired

from .auxiliary import auxiliary
from .properties import of_model, property_names

if TYPE_CHECKING:
    from schedproof.proofs.induction import Induction

INDUCTIVE = frozenset({"invariant", "step invariant", "recovery", "well-formedness"})
"""The kinds of properties that ``verify`` also proves for any number of objects."""

ReportProgress = Callable[[str], None]


class Work(enum.StrEnum):
    """The kind of work of a part."""

    EXPLORATION = "exploration"
    INDUCTION = "induction"
    AUXILIARY = "auxiliary"
    """An implementation that refines the variant, or a lock file."""


@dataclass(frozen=True)
class Part:
    """One piece of work on a variant.

    Attributes:
        only: the names of its properties.
        kernel: the engine that it compiles if no earlier part has; empty for none.
    """

    system: str
    variant: str
    work: Work
    only: tuple[str, ...]
    kernel: str = ""


@dataclass(frozen=True)
class Inducted:
    """The result of induction for one property.

    Attributes:
        note: why the property is not proved.
        counterexample: a step that shows why it is not proved.
        support: the names of the invariants that the proof assumes, directly or through other proofs; also those of the proof
            without assumptions.
        lemmas: the names of those that it uses itself, without its own.
        bounds: the largest number of objects by sort, where the axioms bound it.
        assuming: the names of the assumptions of ``Model.assuming``, if there is no proof without all of them.
    """

    proved: bool
    seconds: float
    note: str = ""
    counterexample: Counterexample | None = None
    support: tuple[str, ...] = ()
    lemmas: tuple[str, ...] = ()
    bounds: Mapping[str, int] = field(default_factory=dict)
    assuming: tuple[str, ...] = ()


@dataclass(frozen=True)
class Done:
    """The result of a part: results of explorations or auxiliary checks, or the results of induction by property."""

    results: Sequence[Result] = ()
    inducted: Mapping[str, Inducted] | None = None


def parts(system: System, model: Model, only: Sequence[str] = (), *, interpretations: bool = False) -> list[Part]:
    """The parts of the work on the properties ``only`` of a variant, or on all; ``interpretations``: on these as well."""
    property_names(system, model)  # refuses two properties of one name before any work
    all_parts = []
    selected = [p for p in of_model(model) if not only or p.name in only]
    inductive = [p for p in selected if p.kind in INDUCTIVE]
    for work, props, kernel in [(Work.EXPLORATION, selected, "states"), (Work.INDUCTION, inductive, "")]:
        if props:
            all_parts.append(Part(model.system, model.variant, work, tuple(p.name for p in props), kernel))
    for each in auxiliary(system, model, interpretations=interpretations or bool(only)):
        if names := tuple(p.name for p in each.properties if not only or p.name in only):
            all_parts.append(Part(model.system, model.variant, Work.AUXILIARY, names, each.kernel))
    return all_parts


def check(part: Part, report_progress: ReportProgress, others: Mapping[str, System]) -> Done:
    """Does a part of the work on the system that it names, from ``others`` or else from the registered systems."""
    system = others.get(part.system) or registered_system(part.system)
    model = system.variants[part.variant]
    # A model declares a larger scope because compiling pays off there: skip the interpreted attempt.
    engine = Engine.COMPILED if model.verify_scope else Engine.AUTO
    return check_part_of(system, model, part, model.verify_scope, report_progress, engine)


def check_part_of(
    system: System,
    model: Model,
    part: Part,
    scope: Mapping[str, int],
    report_progress: ReportProgress,
    engine: Engine = Engine.AUTO,
) -> Done:
    """Does a part of the work on ``model``.

    Args:
        scope: of the exploration, instead of the model's default.

    Raises:
        ScopeError: the scope is impossible.
    """
    with collected_seldom():
        return _results(system, model, part, scope, report_progress, engine)


def _results(
    system: System, model: Model, part: Part, scope: Mapping[str, int], report_progress: ReportProgress, engine: Engine
) -> Done:
    at = f"{part.system} {part.variant}"
    match part.work:
        case Work.EXPLORATION:
            fired = Fired(model)
            results = explored(
                model,
                scope,
                only=part.only,
                how=Exploring(
                    engine,
                    progress=lambda states, done, depth: report_progress(
                        f"{at}: exploring, {states} states, {states - done} to go, depth {depth}"
                    ),
                ),
                on_found=fired.note if WELL_FORMED in part.only else None,
            )
            return Done([replace(r, unfired=_unfired(fired, r)) if r.name == WELL_FORMED else r for r in results])
        case Work.INDUCTION:
            # One failed obligation decides the verdict: skip the property's others.
            proof = prove(
                model,
                every=False,
                only=part.only,
                progress=lambda done, total: report_progress(f"{at}: induction, {done} of {total}"),
            )
            return Done(inducted=_with_assumptions(model, inducted(proof, part.only)))
        case Work.AUXILIARY:
            its = next(
                each
                for each in auxiliary(system, model, interpretations=True)
                if part.only[0] in {p.name for p in each.properties}
            )
            return Done(its.check(part.only, lambda line: report_progress(f"{at}: {line}")))


def _unfired(fired: Fired, formed: Result) -> Unfired | None:
    """What never happened where well-formedness was explored; None if that is unknown."""
    several = f"in {formed.configurations} configurations of up to" if formed.configurations > 1 else "at"
    unfired = fired.unfired()
    return replace(unfired, where=f"{several} {scope_text(formed.scope or {})}") if unfired is not None else None


def prove(model: Model, **options: Any) -> Induction:
    """Calls :func:`schedproof.proofs.induction.prove`; loads the solver only here, since most commands need none."""
    from schedproof.proofs import induction

    return induction.prove(model, **options)


def _with_assumptions(model: Model, results: dict[str, Inducted]) -> dict[str, Inducted]:
    """The results of an induction, with the assumptions of those properties that are not proved without them as well."""
    names = [name for name, result in results.items() if result.proved]
    if not model.assuming or not names:
        return results
    without = prove(replace(model, assuming={}), every=False, only=names)
    together = {}
    for name in names:
        if without.proved(name):
            both = {*results[name].support, *without.support(name)}  # a cached verdict rests on both proofs
            together[name] = replace(results[name], support=tuple(sorted(both)))
        else:
            together[name] = replace(results[name], assuming=tuple(model.assuming))
    return {**results, **together}


def _unproved(induction: Induction, name: str) -> tuple[str, Counterexample | None]:
    """Why a property is not proved, with a step that shows it."""
    why = induction.why_not(name)
    if why is None:
        return "no obligation", None
    note = f"{why.note}: {why.obligation.name}"
    return (f"{NOT_WELL_FORMED}: {note}" if induction.kept(name) else note), why.counterexample


def inducted(induction: Induction, names: Collection[str]) -> dict[str, Inducted]:
    """The results of an induction for the properties ``names``."""
    results = {}
    for name in names:
        if induction.proved(name):
            if missing := induction.support(name) - induction.inductive:
                raise AssertionError(f"the proof of {name} rests on what is not proved: {', '.join(sorted(missing))}")
            results[name] = Inducted(
                True,
                induction.seconds(name),
                support=tuple(sorted(induction.support(name))),
                lemmas=tuple(induction.lemmas(name)),
                bounds=dict(induction.bounds),
            )
            continue
        results[name] = Inducted(False, induction.seconds(name), *_unproved(induction, name))
    return results
