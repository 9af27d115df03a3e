"""The verdicts of ``verify`` with the places of their properties."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from schedproof.model.lang import Model, Property
from schedproof.model.lang.errors import Place
from schedproof.model.lang.properties import WELL_FORMED
from schedproof.model.registry.system import System
from schedproof.proofs.verdict import Verdict

from .properties import properties_of
from .verify import CheckedProperty, VariantReport


@dataclass(frozen=True)
class PlacedVerdict:
    """The verdict on a property of a variant, or that an interrupt prevented it.

    Attributes:
        model: the variant.
        prop: the property.
        checked: the verdict; None if there is none.
    """

    model: Model
    prop: Property
    checked: CheckedProperty | None

    @property
    def place(self) -> Place:
        """Where the model declares the property; of well-formedness, which no model declares, where the model is."""
        return self.model.place if self.prop.name == WELL_FORMED else self.prop.place

    @property
    def rule(self) -> str:
        """The name that the property has in reports, the same for all variants: ``hived/free-cell``."""
        return rule_name(self.model.system, self.prop)

    @property
    def title(self) -> str:
        """The variant and the property: ``hived as-written: free-cell``."""
        return f"{self.model.system} {self.model.variant}: {self.prop.name}"

    @property
    def problem(self) -> str:
        """The verdict and the expected one."""
        if self.checked is None:
            return "interrupted before there was a verdict"
        expected = "as expected" if self.checked.as_expected else f"expected {self.checked.expected}"
        return f"{self.checked.reach}, {expected}"

    @property
    def as_expected(self) -> bool:
        """Whether the verdict is the expected one."""
        return self.checked is not None and self.checked.as_expected

    @property
    def refuted(self) -> bool:
        """Whether the property is violated."""
        return self.checked is not None and self.checked.result.verdict is Verdict.REFUTED

    @property
    def fingerprint(self) -> str:
        """The same for all runs and versions of the model: of the names of system, variant and property."""
        names = "\0".join((self.model.system, self.model.variant, self.prop.name))
        return hashlib.sha256(names.encode()).hexdigest()[:32]


def rule_name(system: str, prop: Property) -> str:
    """The name of a property in reports on several systems."""
    return f"{system}/{prop.name}"


def placed(reports: Sequence[VariantReport], systems: Mapping[str, System]) -> list[PlacedVerdict]:
    """Every verdict of the reports, and the missing ones.

    Args:
        systems: the systems of the reports, by name.
    """
    verdicts = []
    for report in reports:
        system = systems[report.system]
        model = system.variants[report.variant]
        props = {prop.name: prop for prop in properties_of(system, model, interpretations=True)}
        verdicts += [PlacedVerdict(model, props[each.result.name], each) for each in report.properties]
        verdicts += [PlacedVerdict(model, props[name], None) for name in report.missing]
    return verdicts


def shown(reports: Sequence[VariantReport], systems: Mapping[str, System]) -> list[PlacedVerdict]:
    """What a CI server shows: each verdict that is not the expected one or missing, then each expected violation."""
    every = placed(reports, systems)
    return [
        *(each for each in every if not each.as_expected),
        *(each for each in every if each.as_expected and each.refuted),
    ]
