"""Explains what verdicts rest on beside the model: an interpretation of the document, or the assumptions on the environment."""

from __future__ import annotations

from collections.abc import Iterator

import click

from schedproof.cli.errors import Exit
from schedproof.cli.output import Destination
from schedproof.cli.progress import progress
from schedproof.cli.verdict_status import code, standing
from schedproof.model.lang import Model
from schedproof.model.quotes import footnotes
from schedproof.model.registry.errors import UserError, unknown
from schedproof.model.registry.system import System
from schedproof.proofs.verification.ambiguities import ambiguities
from schedproof.proofs.verification.assumptions import assumed_text, assumptions, concerned
from schedproof.proofs.verification.properties import property_names
from schedproof.proofs.verification.verify import CheckedProperty, verify_variant

ASSUMPTIONS = "assumptions"
"""The name of the property that verdicts rest on the assumptions that a variant names."""

PREFIX = "interpretation."
"""The beginning of the name of the property that an interpretation decides the verdicts that it names."""


def is_premise(name: str) -> bool:
    """Whether the name of a property is that of an interpretation or of the assumptions."""
    return name == ASSUMPTIONS or name.startswith(PREFIX)


def explain_interpretation(system: System, variant: str | None, name: str, json_file: Destination | None) -> int:
    """Prints an interpretation, and which verdicts differ with the other one; checks that if it can be tried.

    Raises:
        UserError: the variant has no interpretation of that name.
    """
    readings = [each for each in system.interpretations if variant in (None, each.variant or system.base.variant)]
    known = {f"{PREFIX}{each.name}": each for each in readings}
    if name not in known:
        owners = [
            each.variant or system.base.variant for each in system.interpretations if f"{PREFIX}{each.name}" == name
        ]
        if owners:
            raise UserError(
                f"{name} is an interpretation of {', '.join(owners)}; write that variant, or leave --variant out"
            )
        of = system.name if variant is None else f"{system.name} {variant}"
        raise unknown("property", name, known, of=of, listed_by=f"schedproof coverage {system.name} --names")
    reading = known[name]
    model = system.variants[reading.variant or system.base.variant]
    (entry,) = [each for each in ambiguities(system, variants=[model.variant]) if each.about is reading]
    checked = _checked(system, model, name) if reading.is_tried else None
    if json_file is not None:
        json_file.write_json({**entry.as_json(), "checked": checked.as_json() if checked is not None else None})
    if json_file is None or not json_file.is_stdout:
        reach = f"{checked.reach}, expected {checked.expected}" if checked is not None else "not tried"
        then = checked.result.note if checked is not None else ""
        lines = [
            f"{name} ({model.system} {model.variant}): {reach}",
            *(line.strip() for line in entry.text(every=True, then=then)[1:]),
            f"Why: {reading.why}",
            *_problem(checked),
        ]
        click.echo("\n".join([*lines, *footnotes(model.document, [f"line {reading.line}", *lines])]))
    return code([standing(checked.result.verdict, checked.expected)]) if checked is not None else Exit.OK


def explain_assumptions(system: System, model: Model, json_file: Destination | None) -> int:
    """Prints what a variant assumes of its environment, and which verdicts rest on it; checks that.

    Raises:
        UserError: it assumes nothing on which a verdict could rest.
    """
    if ASSUMPTIONS not in property_names(system, model):
        having = [each.variant for each in system.variants.values() if ASSUMPTIONS in property_names(system, each)]
        instead = (
            f"choose a variant of {', '.join(having)}"
            if having
            else f"'schedproof list {system.name}' lists its properties"
        )
        raise UserError(f"{system.name} {model.variant} assumes nothing on which a verdict could rest; {instead}")
    checked = _checked(system, model, ASSUMPTIONS)
    if json_file is not None:
        json_file.write_json({
            "system": model.system,
            "variant": model.variant,
            "assumptions": [{"name": ".".join(key), "value": value} for key, value in assumptions(model).items()],
            "assumes": {name: dict(model.assumptions_of(name)) for name in model.assumes},
            **checked.as_json(),
        })  # fmt: skip
    if json_file is None or not json_file.is_stdout:
        head = f"{ASSUMPTIONS} ({model.system} {model.variant}): {checked.reach}, expected {checked.expected}"
        note = [f"Note: {checked.result.note}."] if checked.result.note else []
        click.echo("\n".join([head, *note, *_assumed(model), *_resting(model), *_problem(checked)]))
    return code([standing(checked.result.verdict, checked.expected)])


def _checked(system: System, model: Model, name: str) -> CheckedProperty:
    with progress("explain") as report_progress:
        (checked,) = verify_variant(system, model, only=[name], progress=report_progress).properties
    return checked


def _problem(checked: CheckedProperty | None) -> Iterator[str]:
    """What the check finds wrong, if anything."""
    if checked is not None and checked.result.counterexample is not None:
        yield f"Wrong: {checked.result.counterexample.problem}"


def _assumed(model: Model) -> Iterator[str]:
    yield "Assumed, in some configuration:"
    for (sort, name), value in assumptions(model).items():
        attribute = model.machine(sort).attribute(name)
        means = f" ({name}: {attribute.about})" if attribute is not None and attribute.about else ""
        yield f"  {assumed_text({f'{sort}.{name}': value})}{means}"


def _resting(model: Model) -> Iterator[str]:
    """The verdicts that are others without an assumption, and how many are not."""
    resting = [prop.name for prop in concerned(model) if model.assumes.get(prop.name)]
    yield "Verdicts that rest on it:" if resting else "No verdict rests on it."
    for name in resting:
        verdict, otherwise = ("is violated", "holds") if name in model.refuted else ("holds", "is violated")
        yield f"  {name} {verdict}, assuming {assumed_text(model.assumptions_of(name))}; otherwise it {otherwise}"
    if rest := len(concerned(model)) - len(resting):
        kept = "other verdict on what can be reached is" if rest == 1 else "other verdicts on what can be reached are"
        yield f"{rest} {kept} the same without it."
