"""What the arguments of a command name: systems, variants, properties, scopes."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from schedproof.cli.errors import Exit, fail
from schedproof.model.lang import Action, BoolType, EnumType, IntRange, Model, Ref, SetOf, Type
from schedproof.model.registry import discovery
from schedproof.model.registry.errors import UserError, unknown
from schedproof.model.registry.manifest import MANIFEST
from schedproof.model.registry.system import System
from schedproof.model.semantics import check_scope, scope_text
from schedproof.proofs.verification.properties import check_expectations, property_names

MOST_CHOICES = 5_000_000
"""Choices of an action's parameters that are tried in every state; a scope with more is refused."""


def system(name: str) -> System:
    """The system of that name: the user's own, of an installed package, or one that comes with schedproof.

    Raises:
        UserError: there is none, or it cannot be loaded.
    """
    found = discovery.every(Path.cwd())
    if name not in found.entries and name not in found.taken and discovery.find(Path.cwd()) is None:
        error = unknown("system", name, found.entries)
        raise UserError(f"{error}; those of your own are in {MANIFEST}, here or in a folder above")
    loaded = found.system(name)
    check_expectations(loaded)
    return loaded


def systems(names: Sequence[str]) -> list[System]:
    """The systems of those names, each once; if none is named, those of the user's manifest, and without one all of them.

    Raises:
        UserError: there is no such system, or one cannot be loaded.
    """
    return [
        system(name) for name in dict.fromkeys(names or discovery.own(Path.cwd()) or discovery.registered().entries)
    ]


def every() -> list[System]:
    """The user's systems, and the registered ones.

    Raises:
        UserError: one cannot be loaded.
    """
    return [system(name) for name in discovery.every(Path.cwd()).entries]


def problems() -> int:
    """Says on standard error which manifests cannot be used, a line each, and counts them; all other systems can."""
    found = discovery.every(Path.cwd()).problems
    for line in found:
        fail(line, Exit.USAGE)
    return len(found)


def variant(of: System, name: str | None) -> Model:
    """A variant of a system, by default the first.

    Raises:
        UserError: there is no such variant.
    """
    if name is None:
        return of.base
    if name not in of.variants:
        raise unknown(f"variant of {of.name}", name, of.variants)
    return of.variants[name]


def variants(of: System, name: str | None) -> list[Model]:
    """The variant of that name, or all.

    Raises:
        UserError: there is no such variant.
    """
    return list(of.variants.values()) if name is None else [variant(of, name)]


def properties(models: Sequence[tuple[System, Model]], names: Sequence[str]) -> None:
    """Checks that each of ``names`` is a property of one of ``models``.

    Raises:
        UserError: one is not.
    """
    known = list(dict.fromkeys(name for system, model in models for name in property_names(system, model)))
    for name in names:
        if name not in known:
            raise unknown("property", name, known, listed_by=f"schedproof list {models[0][0].name}")


def happening(action: Action) -> str:
    """What an action does, in one sentence about its parameters."""
    return action.says.format(**{v.name: v.name for v in action.parameters})


def parameter(kind: Type) -> str:
    """The type of a parameter: never none, so its sort is enough."""
    return kind.sort.name if isinstance(kind, Ref) else str(kind)


def scope(model: Model, text: str | None) -> dict[str, int]:
    """The complete scope that ``text`` (``Sort=n,...``) asks for.

    Raises:
        UserError: not of that form, or more objects than can be explored.
        ScopeError: unknown sort, or an impossible number of objects.
    """
    chosen: dict[str, int] = {}
    for part in text.split(",") if text is not None else ():
        found = re.fullmatch(r"\s*(\w+)\s*=\s*([+-]?[0-9]{1,18})\s*", part)
        example = scope_text(model.default_scope)
        if found is None:
            raise UserError(
                f"scope {part.strip()!r} is not of the form Sort=number; write, for example, --scope {example}"
            )
        if found[1] in chosen:
            raise UserError(f"the scope names {found[1]} twice; give each sort one number, for example {example}")
        chosen[found[1]] = int(found[2])
    sizes = check_scope(model, chosen)
    for action in model.actions:
        choices = math.prod(_values(v.type, sizes) for v in action.parameters)
        if choices > MOST_CHOICES:
            at = scope_text(sizes)
            raise UserError(
                f"scope {at} is too big to explore: action {action.name} alone has {choices} choices in every state; "
                f"take fewer objects"
            )
    return sizes


def _values(kind: Type, sizes: Mapping[str, int]) -> int:
    match kind:
        case Ref(sort):
            return sizes[sort.name]
        case SetOf(sort):
            return int(1 << sizes[sort.name])
        case IntRange(low, high):
            return high - low + 1
        case EnumType(values):
            return len(values)
        case BoolType():
            return 2
