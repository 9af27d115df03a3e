"""What the page of a run says of the property that the run violates."""

from __future__ import annotations

from schedproof.model.lang import Model, Property
from schedproof.model.registry.system import System
from schedproof.proofs.verdict import Verdict
from schedproof.proofs.verification.assumptions import assumed_text
from schedproof.proofs.verification.findings import holds_by, rests_on
from schedproof.proofs.verification.verify import CheckedProperty

from .data import About


def about_property(system: System, model: Model, checked: CheckedProperty, prop: Property) -> About:
    """The verdict on a property, what the document requires, and on which interpretations and assumptions the verdict rests.

    Args:
        system: the system.
        model: one of its variants.
        checked: the verdict.
        prop: the property.
    """
    is_refuted = checked.result.verdict is Verdict.REFUTED
    notes = [each.finding_note for each in (rests_on if is_refuted else holds_by)(system, model, prop.name)]
    if checked.assumes:
        otherwise = "the property holds" if is_refuted else "it is violated"
        notes.append(f"Assumes: {assumed_text(checked.assumes)}. Otherwise {otherwise}.")
    title = f"{prop.name} ({model.system} {model.variant})"
    verdict = f"{checked.reach}, expected {checked.expected}"
    return About(title, verdict, prop.says, prop.line, prop.sentence, tuple(notes))
