"""Which properties ``verify`` checks of a variant, and which verdicts are expected. Light: no engine is loaded for it."""

from __future__ import annotations

from schedproof.model.lang import Model, Property
from schedproof.model.registry.errors import UserError, unknown
from schedproof.model.registry.system import System
from schedproof.proofs.checking.model_check import WELL_FORMEDNESS
from schedproof.proofs.verdict import Verdict

from .auxiliary import auxiliary


def properties_of(system: System, model: Model) -> list[Property]:
    """All that ``verify`` checks of a variant, in the order of the table; also what is required of every model.

    Raises:
        UserError: two have one name, or one that the manifest names cannot be loaded.
    """
    found = [WELL_FORMEDNESS, *model.properties, *(p for each in auxiliary(system, model) for p in each.properties)]
    names = [p.name for p in found]
    if twice := [name for name in dict.fromkeys(names) if names.count(name) > 1]:
        raise UserError(
            f"{system.name} {model.variant}: two properties have the name {twice[0]!r}; give each its own name, "
            "also those of locks and refinements"
        )
    return found


def property_names(system: System, model: Model) -> list[str]:
    """The names of what ``verify`` checks of a variant, in the order of the table."""
    return [p.name for p in properties_of(system, model)]


def expected(system: System, model: Model, prop: str) -> Verdict:
    """The verdict that is expected of a property, which may be of an auxiliary check."""
    stated = system.refuted.get(model.variant, frozenset())
    refuted = prop in stated or any(prop in each.refuted for each in auxiliary(system, model))
    return Verdict.REFUTED if refuted else expected_of_model(model, prop)


def expected_of_model(model: Model, prop: str) -> Verdict:
    """The verdict that is expected of a property of the model itself."""
    return Verdict.REFUTED if prop in model.refuted else Verdict.PROVED


def check_expectations(system: System) -> None:
    """Checks that what the manifest expects to be violated are properties of its variants.

    Raises:
        UserError: one is not.
    """
    for variant, place in system.stated.items():
        model = system.variants[variant]
        known = property_names(system, model)
        for name in sorted(system.refuted[variant] - set(known)):
            raise UserError(f"{place}: {unknown('property', name, known)}")
