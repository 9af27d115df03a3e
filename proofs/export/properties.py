"""Which properties of a model another model checker is to check, and why not the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from schedproof.model.lang import AlwaysCanReach, ByConstruction, Invariant, LeadsTo, LifeCycle, Property, StepInvariant
from schedproof.model.lang.properties import WELL_FORMED
from schedproof.model.semantics import Instance
from schedproof.proofs.checking.model_check import of_crashes, reads_history

Condition = Invariant | StepInvariant
"""What is to hold in every state, or of every step."""

Wanted = Sequence[str] | None
"""The names of the properties that are asked for; None: of all that can be written."""


NO_HISTORY = "it reads what is recorded for properties only, which is left out"


class Unwritable(ValueError):
    """A property is asked for that cannot be written; ``needs_history``: but it could, of an instance with history attributes."""

    def __init__(self, says: str, *, needs_history: bool = False) -> None:
        super().__init__(says)
        self.needs_history = needs_history


@dataclass(frozen=True)
class ExportedProperties:
    """What is checked, in the model's order, and what is not, with the reason.

    Args:
        well_formed: that steps are well-formed is checked, too.
    """

    checked: Sequence[Property]
    left_out: Mapping[str, str]
    well_formed: bool

    @property
    def names(self) -> list[str]:
        """The names of what is checked."""
        return [*([WELL_FORMED] if self.well_formed else []), *(p.name for p in self.checked)]


def exported_properties(
    instance: Instance, only: Wanted, crash: bool, unwritable: Mapping[type[Property], str]
) -> ExportedProperties:
    """The properties of ``instance`` that are checked.

    Args:
        only: those that are asked for.
        unwritable: the kinds that the language has no words for, with the reason.

    Raises:
        Unwritable: one is asked for that cannot be written, or that the model has not.
    """
    model = instance.model
    crashes = {a.name for a in model.actions if a.crash}
    checked, left_out = [], {}
    for prop in model.properties:
        reason = next((why for kind, why in unwritable.items() if isinstance(prop, kind)), None)
        if reason is None and not instance.with_history and reads_history(model, prop):
            reason = NO_HISTORY
        if reason is None and not crash and of_crashes(prop, crashes):
            reason = "it speaks of crashes, which are left out"
        if reason is not None:
            left_out[prop.name] = reason
        elif only is None or prop.name in only:
            checked.append(prop)
    for name in only or ():
        if name in left_out:
            why = left_out[name]
            lost = why == NO_HISTORY
            remedy = "" if lost else "; choose another"  # with history it can be
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
"""What is no matter of single runs."""

LIVENESS: Mapping[type[Property], str] = {
    LeadsTo: "what happens at the end, if actions are taken fairly, is no assertion",
}
"""What no state and no step refutes."""
