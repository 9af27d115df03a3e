"""The properties of a variant that ``verify`` checks, and their expected verdicts; loads no engine."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from schedproof.model.lang import Model, Property
from schedproof.model.registry.errors import UserError, require_known, unknown
from schedproof.model.registry.system import System
from schedproof.proofs.checking.model_check import WELL_FORMEDNESS
from schedproof.proofs.verdict import Verdict

from .auxiliary import auxiliary


def of_model(model: Model) -> list[Property]:
    """The properties of a model, with well-formedness; none of an empty one, whose system has lock files only."""
    return [WELL_FORMEDNESS, *model.properties] if model.machines else [*model.properties]


def properties_of(system: System, model: Model, *, interpretations: bool = False) -> list[Property]:
    """All properties of a variant that ``verify`` checks, with well-formedness, in the order of the table.

    Args:
        interpretations: also those that ``verify`` checks only if asked for: of interpretations.

    Raises:
        UserError: two properties have one name, or a check that the manifest names cannot be loaded.
    """
    properties = [
        *of_model(model),
        *(p for each in auxiliary(system, model, interpretations=interpretations) for p in each.properties),
    ]
    names = [p.name for p in properties]
    if twice := [name for name in dict.fromkeys(names) if names.count(name) > 1]:
        raise UserError(
            f"{system.name} {model.variant}: two properties have the name {twice[0]!r}; give each its own name, "
            "also those of locks and refinements"
        )
    return properties


def property_names(system: System, model: Model) -> list[str]:
    """The names of the properties of a variant that ``verify`` knows, in the order of the table."""
    return [p.name for p in properties_of(system, model, interpretations=True)]


def require_properties(
    argument: str, models: Sequence[tuple[System, Model]], names: Iterable[str], *, listed_by: str = "model.properties"
) -> None:
    """Refuses names of ``argument`` that are not properties of one of ``models``; ``listed_by`` has long lists of them.

    Raises:
        ArgumentError: ``names`` is not a list of strings.
        UserError: a name is unknown.
    """
    known = dict.fromkeys(name for system, model in models for name in property_names(system, model))
    of = " and ".join(dict.fromkeys(system.name for system, _ in models))
    require_known(argument, "property", names, list(known), of=of, listed_by=listed_by)


def expected(system: System, model: Model, prop: str) -> Verdict:
    """The expected verdict of a property of the model or of an auxiliary check."""
    stated = system.refuted.get(model.variant, frozenset())
    refuted = prop in stated or any(prop in each.refuted for each in auxiliary(system, model))
    return Verdict.REFUTED if refuted else expected_of_model(model, prop)


def expected_of_model(model: Model, prop: str) -> Verdict:
    """The expected verdict of a property of the model itself."""
    return Verdict.REFUTED if prop in model.refuted else Verdict.PROVED


def check_expectations(system: System) -> None:
    """Checks that each violation that the manifest expects names a property of its variant.

    Raises:
        UserError: a name is unknown.
    """
    for variant, place in system.stated.items():
        model = system.variants[variant]
        known = property_names(system, model)
        for name in sorted(system.refuted[variant] - set(known)):
            raise UserError(f"{place}: {unknown('property', name, known)}")
