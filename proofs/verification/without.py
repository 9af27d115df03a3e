"""An amended variant without one of its changes: what that change alone repairs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import combinations, product

from schedproof.model.lang import Change, Machine, Model, ModelError, Property
from schedproof.model.lang.check import checked
from schedproof.model.registry.system import System

MOST = 2
"""How many changes beside the one in question may be left out because they build on it."""


def without(
    system: System, model: Model, change: Change, names: Collection[str]
) -> tuple[Model, Sequence[Change]] | None:
    """``model`` without ``change``.

    Args:
        system: the system.
        model: an amended variant.
        change: one of its changes.
        names: the properties that the result has.

    Returns:
        The variant, and the changes that are left out as well because they build on ``change``; as few as possible. None
        if more than :data:`MOST` do.
    """
    others = [each for each in model.changes if each is not change]
    base = system.variants[model.amends]
    # A change may replace a property only because it renames or replaces what the property is about.
    choices = [
        {each.name: each for each in reversed(properties) if each.name in names}
        for properties in (base.properties, [*model.properties, *base.properties])
    ]
    for many in range(MOST + 1):
        for left, properties in product(combinations(others, many), choices):
            kept = [each for each in others if each not in left]
            try:
                return _amended(base, model, kept, list(properties.values())), left
            except ModelError:
                continue
    return None


def _amended(base: Model, model: Model, kept: Sequence[Change], properties: Sequence[Property]) -> Model:
    """``base`` with some changes of ``model``, which change rows, actions and rules only."""
    known = {each.name for each in [*base.properties, *_added(kept)]}
    steps = [
        replace(
            change,
            repairs=[],
            weakens={},
            adds=[each for each in change.adds if not isinstance(each, Property)],
            drops=[name for name in change.drops if name not in known],
        )
        for change in kept
    ]
    less = base.asking(properties).amend(
        f"{model.variant}-without",
        model.about,
        steps,
        frozenset(),
        machines=[_together(machine, base) for machine in model.machines],
        configurations=model.configurations,
        default_scope=model.default_scope,
    )
    return checked(
        replace(
            less,
            axioms=model.axioms,
            assuming=model.assuming,
            bound=model.bound,
            machines=[_as_rows_need(each, less) for each in less.machines],
        )
    )


def _added(changes: Sequence[Change]) -> Iterator[Property]:
    for change in changes:
        yield from (each for each in change.adds if isinstance(each, Property))


def _together(machine: Machine, base: Model) -> Machine:
    """A machine with all that it has in the other model as well."""
    former = next((each for each in base.machines if each.sort == machine.sort), machine)
    return replace(
        machine,
        states=[*machine.states, *(each for each in former.states if machine.state(each.name) is None)],
        attributes=[*machine.attributes, *(each for each in former.attributes if machine.attribute(each.name) is None)],
        events=[
            *machine.events,
            *(each for each in former.events if each.name not in {e.name for e in machine.events}),
        ],
    )


def _as_rows_need(machine: Machine, model: Model) -> Machine:
    """A machine whose events have rows, and that says of each state whether a row leads to it."""
    rows = model.table(machine.sort)
    reached = {row.target for row in rows if row.target != row.source}
    first = [state.name for state in machine.states[:1]]
    return replace(
        machine,
        states=[
            replace(each, unreachable=each.name not in [*reached, *first] and not each.begins)
            for each in machine.states
        ],
        events=[each for each in machine.events if any(row.event == each.name for row in rows)],
    )
