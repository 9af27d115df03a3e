"""Selects the properties of a model that another model checker is to check, with a reason for each of the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from schedproof.model.lang import AlwaysCanReach, ByConstruction, Invariant, LeadsTo, LifeCycle, Property, StepInvariant
from schedproof.model.lang.properties import WELL_FORMED
from schedproof.model.semantics import Instance
from schedproof.proofs.checking.model_check import about_crashes, reads_history

Condition = Invariant | StepInvariant
"""A condition on every state, or on every step."""

Selection = Sequence[str] | None
"""The names of the requested properties; None means all that can be written."""


NO_HISTORY = "it reads what is recorded for properties only, which is left out"


class Unwritable(ValueError):
    """A requested property cannot be written.

    Args:
        says: the message.
        needs_history: whether the property could be written of an instance with history attributes.
    """

    def __init__(self, says: str, *, needs_history: bool = False) -> None:
        super().__init__(says)
        self.needs_history = needs_history


@dataclass(frozen=True)
class ExportedProperties:
    """The properties that the text checks, in the model's order, and those left out, with the reason.

    Args:
        well_formed: whether the text also checks that steps are well-formed.
    """

    checked: Sequence[Property]
    left_out: Mapping[str, str]
    well_formed: bool

    @property
    def names(self) -> list[str]:
        """The names of the checked properties."""
        return [*([WELL_FORMED] if self.well_formed else []), *(p.name for p in self.checked)]


def exported_properties(
    instance: Instance, only: Selection, crash: bool, unwritable: Mapping[type[Property], str]
) -> ExportedProperties:
    """The properties of ``instance`` to check.

    Args:
        instance: the model at a scope.
        only: the names of the requested properties; None means all that can be written.
        crash: whether the text has crash actions.
        unwritable: the kinds of properties that the language cannot express, with the reason.

    Raises:
        Unwritable: a requested property cannot be written, or the model does not have it.
    """
    model = instance.model
    crashes = about_crashes(model)
    checked, left_out = [], {}
    for prop in model.properties:
        reason = next((why for kind, why in unwritable.items() if isinstance(prop, kind)), None)
        if reason is None and not instance.with_history and reads_history(model, prop):
            reason = NO_HISTORY
        if reason is None and not crash and prop.name in crashes:
            reason = "it speaks of crashes, which are left out"
        if reason is not None:
            left_out[prop.name] = reason
        elif only is None or prop.name in only:
            checked.append(prop)
    for name in only or ():
        if name in left_out:
            why = left_out[name]
            lost = why == NO_HISTORY
            remedy = "" if lost else "; choose another"  # an instance with history attributes can write it
            raise Unwritable(f"property {name!r} cannot be written: {why}{remedy}", needs_history=lost)
        if name != WELL_FORMED and all(prop.name != name for prop in checked):
            known = ", ".join(p.name for p in model.properties if p.name not in left_out)
            raise Unwritable(f"unknown property {name!r}; choose from {known}")
    return ExportedProperties(checked, left_out, only is None or WELL_FORMED in only)


BRANCHING: Mapping[type[Property], str] = {
    AlwaysCanReach: "that something can always still be reached (AG EF) is not said of every run: linear time has no word for it",
    LifeCycle: "that something can happen is not said of every run: linear time has no word for it",
    ByConstruction: "it holds because the model cannot say otherwise: there is nothing to check",
}
"""The kinds of properties that are not about single runs."""

LIVENESS: Mapping[type[Property], str] = {
    LeadsTo: "what happens at the end, if actions are taken fairly, is no assertion",
}
"""The kinds of properties that no single state or step refutes."""
