"""Tries interpretations the other way: which verdicts differ then, compared with what the interpretation says."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from schedproof.model.lang import Model, ModelError, Reading
from schedproof.model.lang.check import checked
from schedproof.model.lang.properties import WELL_FORMED
from schedproof.model.registry.errors import UserError, unknown
from schedproof.model.registry.system import LockFile, System
from schedproof.proofs.checking.model_check import model_check
from schedproof.proofs.verdict import Verdict

from . import interpreted_locks


def of_variant(system: System, model: Model) -> list[Reading]:
    """The interpretations of a variant that have an alternative to try."""
    return [reading for reading in system.interpretations_of(model) if reading.is_tried]


def otherwise(model: Model, reading: Reading) -> Model:
    """``model`` with the other interpretation. It keeps its expectations, so that the differences show.

    Raises:
        ModelError: the interpretation adds or drops what the model cannot have; names the interpretation and its place.
    """
    name = f"{reading.name}-otherwise"
    try:
        amended = model.amend(
            name,
            reading.otherwise,
            [reading.change],
            model.refuted,
            machines=reading.machines,
            configurations=reading.configurations,
            default_scope=reading.scope,
        )
        axioms = amended.axioms if reading.axioms is None else reading.axioms
        return checked(replace(amended, axioms=axioms, place=reading.place))
    except ModelError as error:
        element = f"interpretation {reading.name}: {error.element}"
        raise ModelError(element, reading.place, error.problem, error.remedy) from None


def differences(model: Model, reading: Reading, file: LockFile | None = None) -> tuple[frozenset[str], frozenset[str]]:
    """The properties that hold with the other interpretation only, and those that hold with this one only.

    A property that nothing meets any more does not hold. The default scope decides. What depends on the states beyond the
    bounds of integers is neither.

    Args:
        model: the variant.
        reading: its interpretation.
        file: the lock file of the variant that an interpretation of locks amends.

    Raises:
        ModelError: the interpretation changes what the model or the lock file does not have.
    """
    if reading.locks:
        return interpreted_locks.differences(interpreted_locks.required(file, model, reading), reading)
    results = model_check(otherwise(model, reading), {})
    kept = {result.name for result in results}
    held = {result.name for result in results if result.verdict is Verdict.PROVED}
    held |= {WELL_FORMED} & {
        result.name for result in results if result.vacuous
    }  # where nothing happens, no step is ill-formed
    open_ = {result.name for result in results if result.verdict is Verdict.UNDETERMINED and not result.vacuous}
    if any(result.name == WELL_FORMED and result.verdict is Verdict.REFUTED for result in results):
        open_ = set()  # nothing holds of a model that is not well-formed
    return frozenset(model.refuted & held), frozenset(kept - held - model.refuted - open_)


def wrong(reading: Reading, held: Collection[str], broken: Collection[str]) -> list[str]:
    """Where an interpretation names other properties than the :func:`differences`, one line each; [] if it is right."""
    return [
        *_surplus("rests", "holds", reading.rests, held),
        *_surplus("breaks", "does not hold", reading.breaks, broken),
    ]


def _surplus(key: str, does: str, stated: Collection[str], actual: Collection[str]) -> Iterator[str]:
    for name in sorted(set(stated) ^ set(actual)):
        if name in stated:
            yield f"{name} does not differ; leave it out of {key}"
        else:
            yield f"{name} {does} with the other interpretation; add it to {key}"


def require_known_names(system: System, model: Model, readings: Iterable[Reading]) -> None:
    """Refuses interpretations of a variant that name properties or elements that there are not.

    Nothing is explored: whether the verdicts of the named properties differ is for :func:`differences`.

    Raises:
        ModelError: one adds or drops what the model cannot have.
        UserError: ``rests`` has a name that is not one of a violated property, or ``breaks`` one that is not of a property that holds.
    """
    for reading in readings:
        violated, holding = _known(system, model, reading)
        for key, what, names, known in (
            ("rests", "violated property", reading.rests, sorted(violated)),
            ("breaks", "property that holds", reading.breaks, holding),
        ):
            for name in names:
                if name not in known:
                    problem = unknown(what, name, known, listed_by=f"schedproof list {system.name}")
                    raise UserError(f"interpretation {reading.name} ({reading.place}): {key}: {problem}")


def _known(system: System, model: Model, reading: Reading) -> tuple[Collection[str], Sequence[str]]:
    """The names of the properties that a variant violates, and of those that hold, or that the other interpretation adds."""
    if reading.locks:
        file = interpreted_locks.required(interpreted_locks.lock_file(system, model), model, reading)
        interpreted_locks.otherwise(file, reading)  # refuses what the file cannot have
        violated, holding = interpreted_locks.properties(file)
        return violated, sorted(holding)
    kept = [WELL_FORMED, *(prop.name for prop in otherwise(model, reading).properties)]
    return model.refuted, [name for name in kept if name not in model.refuted]


def effect(rests: Sequence[str], breaks: Sequence[str]) -> str:
    """What differs with the other interpretation, in words.

    Args:
        rests: properties that are violated, and hold then.
        breaks: properties that hold, and are violated then.
    """
    kept = f"no longer violated: {', '.join(rests)}" if rests else ""
    broken = f"also violated: {', '.join(breaks)}" if breaks else ""
    return "; ".join(filter(None, (kept, broken))) or "the same properties are violated"


def question_and_answers(reading: Reading, *, then: str = "") -> list[str]:
    """What an interpretation is about, as lines for a reader: the question, both answers, and what differs.

    Args:
        reading: the interpretation.
        then: what differs, as a check of it found; "" for what the interpretation names.
    """
    stated = effect(reading.rests, reading.breaks) if reading.is_tried else f"not tried: {reading.untried}"
    return [
        f"Question: {reading.question}",
        f"The model: {reading.read}",
        f"Or: {reading.otherwise}",
        f"Then: {then or stated}",
    ]
