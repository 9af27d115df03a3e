"""What fairness counts as one choice: which free object an action creates makes no difference."""

from __future__ import annotations

from collections.abc import Callable

from schedproof.model.lang import LeadsTo, Model
from schedproof.model.lang.disposable import created_by
from schedproof.model.semantics import Choice


def creating(model: Model, prop: LeadsTo) -> list[str]:
    """The fair actions of a property that create objects of disposable sorts."""
    fair = {*prop.weak, *prop.strong}
    return [action.name for action in model.actions if action.name in fair and created_by(action)]


def counted_as(model: Model, prop: LeadsTo) -> Callable[[Choice], Choice] | None:
    """What a choice counts as for fairness: the same for each object that it may create. None if each choice counts as itself.

    A free object need not stay free. If each counted as a choice of its own, none would be enabled for ever.
    """
    created = {name: created_by(model.action(name)) for name in creating(model, prop)}
    if not created:
        return None

    def counted(choice: Choice) -> Choice:
        new = created.get(choice.action)
        return choice if new is None else Choice(choice.action, tuple(p for p in choice.parameters if p[0] not in new))

    return counted
