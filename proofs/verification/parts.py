"""The work of ``verify`` in parts that do not need each other: explorations, inductions, and auxiliary checks.

A part is named, not held, so that it can be done in another process; so is what comes of it: verdicts and
runs, without the solver's own objects.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from schedproof.model.lang import Model
from schedproof.model.registry.discovery import system as registered_system
from schedproof.model.registry.system import System
from schedproof.proofs.checking.engine import Engine, Exploring
from schedproof.proofs.checking.model_check import WELL_FORMEDNESS, model_check
from schedproof.proofs.gc_paused import collected_seldom
from schedproof.proofs.verdict import Counterexample, Result, Verdict

from .auxiliary import auxiliary
from .properties import property_names

if TYPE_CHECKING:
    from schedproof.proofs.induction import Induction

INDUCTIVE = frozenset({"invariant", "step invariant", "recovery", "well-formedness"})
"""The kinds that are wanted for any number of objects."""

Say = Callable[[str], None]


class Work(enum.StrEnum):
    """What is done in a part."""

    EXPLORATION = "exploration"
    INDUCTION = "induction"
    AUXILIARY = "auxiliary"
    """An implementation that refines the variant, or a description of locks."""


@dataclass(frozen=True)
class Part:
    """One piece of the work on a variant. ``only`` names the properties that are wanted."""

    system: str
    variant: str
    work: Work
    only: tuple[str, ...]


@dataclass(frozen=True)
class Inducted:
    """What induction says of one property.

    Attributes:
        note, counterexample: if it is not proved, why, and a step that shows it.
        support: the invariants that a proof assumes.
    """

    proved: bool
    seconds: float
    note: str = ""
    counterexample: Counterexample | None = None
    support: tuple[str, ...] = ()


@dataclass(frozen=True)
class Done:
    """What came of a part: the results of explorations, or by property what induction says."""

    results: Sequence[Result] = ()
    inducted: Mapping[str, Inducted] | None = None


def parts(system: System, model: Model, only: Sequence[str] = ()) -> list[Part]:
    """What there is to do for the properties ``only`` of a variant, or for all."""
    property_names(system, model)  # two of one name are refused before any work is done
    found = []
    wanted = [p for p in [WELL_FORMEDNESS, *model.properties] if not only or p.name in only]
    inductive = [p for p in wanted if p.kind in INDUCTIVE]
    for work, props in [(Work.EXPLORATION, wanted), (Work.INDUCTION, inductive)]:
        if props:
            found.append(Part(model.system, model.variant, work, tuple(p.name for p in props)))
    for each in auxiliary(system, model):
        if names := tuple(p.name for p in each.properties if not only or p.name in only):
            found.append(Part(model.system, model.variant, Work.AUXILIARY, names))
    return found


def check(part: Part, say: Say, others: Mapping[str, System]) -> Done:
    """Does a part of the work on one of ``others``, or else on a registered system, by name."""
    system = others.get(part.system) or registered_system(part.system)
    model = system.variants[part.variant]
    # A larger scope is there because compiling pays for it: the interpreted exploration need not try first.
    engine = Engine.COMPILED if model.verify_scope else Engine.AUTO
    return check_part_of(system, model, part, model.verify_scope, say, engine)


def check_part_of(
    system: System, model: Model, part: Part, scope: Mapping[str, int], say: Say, engine: Engine = Engine.AUTO
) -> Done:
    """Does a part of the work on ``model``; ``scope`` is for its exploration, instead of the model's default.

    Raises:
        ScopeError: the scope is impossible.
    """
    with collected_seldom():
        return _found(system, model, part, scope, say, engine)


def _found(system: System, model: Model, part: Part, scope: Mapping[str, int], say: Say, engine: Engine) -> Done:
    at = f"{part.system} {part.variant}"
    match part.work:
        case Work.EXPLORATION:
            return Done(
                model_check(
                    model,
                    scope,
                    only=part.only,
                    how=Exploring(
                        engine,
                        progress=lambda states, done, depth: say(
                            f"{at}: exploring, {states} states, {states - done} to go, depth {depth}"
                        ),
                    ),
                )
            )
        case Work.INDUCTION:
            # Once a property has failed, the rest of its obligations changes no verdict.
            proof = prove(
                model,
                every=False,
                only=part.only,
                progress=lambda done, total: say(f"{at}: induction, {done} of {total}"),
            )
            return Done(inducted=inducted(proof, part.only))
        case Work.AUXILIARY:
            its = next(each for each in auxiliary(system, model) if part.only[0] in {p.name for p in each.properties})
            return Done(its.check(part.only, lambda line: say(f"{at}: {line}")))


def prove(model: Model, **options: Any) -> Induction:
    """:func:`schedproof.proofs.induction.prove`, which loads the solver: most commands need none."""
    from schedproof.proofs import induction

    return induction.prove(model, **options)


def inducted(induction: Induction, names: Collection[str]) -> dict[str, Inducted]:
    """What an induction says of the properties ``names``."""
    found = {}
    for name in names:
        if induction.proved(name):
            if missing := induction.support(name) - induction.inductive:
                raise AssertionError(f"the proof of {name} rests on what is not proved: {', '.join(sorted(missing))}")
            found[name] = Inducted(True, induction.seconds(name), support=tuple(sorted(induction.support(name))))
            continue
        open_ = [a for a in induction.of(name) if a.verdict is not Verdict.PROVED]
        example = next((a.counterexample for a in open_ if a.counterexample is not None), None)
        note = f"not inductive: {open_[0].obligation.name}" if open_ else "no obligation"
        found[name] = Inducted(False, induction.seconds(name), note, example)
    return found
