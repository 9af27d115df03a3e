"""The objects of a run, a lane each."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from schedproof.model.semantics import Instance
from schedproof.proofs.exploration.counterexample_text import shown
from schedproof.proofs.exploration.run_facts import words

from .data import Lane


def lanes_of(instance: Instance, named: Mapping[str, str]) -> tuple[Lane, ...]:
    """A lane for each object, in the model's order.

    Args:
        named: the names of the objects, with their texts; all objects if there is none.
    """
    lanes = []
    for sort, objects in instance.describe(instance.initial()).items():
        for name, fields in objects.items():
            if not named or name in named:
                text = named.get(name) or f"{words(sort)} {name}"
                lanes.append(Lane(name, sort, text, {field: shown(value) for field, value in fields.items()}))
    return tuple(lanes)


def lanes_among(instance: Instance, names: Collection[str]) -> tuple[Lane, ...]:
    """A lane for each object with one of these names."""
    every = [name for sort in instance.sizes for name in instance.object_names(sort)]
    named = {name: "" for name in every if name in names}
    return lanes_of(instance, named) if named else ()
