"""The systems for which sessions can be created."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from schedproof.model.lang import EnumType, Integer, IntRange, Model, Ref, SetOf, Type
from schedproof.model.lang.disposable import least
from schedproof.model.registry import discovery
from schedproof.model.registry.system import System

from .mapped import Mappings


@cache
def systems() -> Mapping[str, System]:
    """The user's systems and the project's, by name, as they were when the service began.

    Raises:
        UserError: one of the user's systems cannot be loaded.
    """
    index = discovery.every(Path.cwd())
    return {name: index.system(name) for name in index.entries}


def catalogue(mappings: Mappings) -> dict[str, Any]:
    """Every system with its variants, of each variant the sorts, the default scope and the actions; and the mappings."""
    return {
        "systems": [_system(system) for system in systems().values()],
        "mappings": {name: mapping.header.value["system"] for name, mapping in mappings.items()},
    }


def _system(system: System) -> dict[str, Any]:
    return {
        "name": system.name,
        "title": system.title,
        "judged_by": system.validated_by,
        "variants": [_variant(model) for model in system.variants.values()],
    }


def _variant(model: Model) -> dict[str, Any]:
    return {
        "name": model.variant,
        "about": model.about,
        "sorts": {sort.name: model.default_scope.get(sort.name, least(model.actions, sort)) for sort in model.sorts},
        "actions": [
            {
                "name": action.name,
                "says": action.sentence,
                "parameters": {v.name: kind(v.type) for v in action.parameters},
            }
            for action in model.actions
        ],
    }


def kind(of: Type) -> str:
    """The type of a parameter, as records write its values."""
    match of:
        case Ref(sort):
            return sort.name
        case SetOf(sort):
            return f"list of {sort.name}"
        case IntRange(low, high):
            return f"{low}..{high}"
        case Integer():
            return str(of)
        case EnumType(values):
            return " | ".join(values)
        case _:
            return "boolean"
