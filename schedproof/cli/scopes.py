"""Checks the properties, variants and scopes that a command's arguments name."""

from __future__ import annotations

import math
import re
from collections.abc import Container, Iterable, Mapping, Sequence

from schedproof.model.lang import BoolType, EnumType, Function, Integer, IntRange, Model, Ref, Relation, SetOf, Type
from schedproof.model.lang.bounds import problem_of
from schedproof.model.lang.types import Sequence as SequenceType
from schedproof.model.registry.errors import UserError, require_known
from schedproof.model.registry.system import System
from schedproof.model.semantics import check_scope, scope_text, with_bound
from schedproof.proofs.verification.properties import require_properties

MOST_CHOICES = 5_000_000
"""The limit for the choices of an action's parameters, all of which are tried in every state.

A scope with more is refused.
"""


def properties(models: Sequence[tuple[System, Model]], names: Sequence[str]) -> None:
    """Checks that each of ``names`` is a property of one of ``models``.

    Raises:
        UserError: one is not.
    """
    require_properties("--property", models, names, listed_by=f"schedproof list {models[0][0].name}")


def checkable(names: Iterable[str], able: Container[str], command: str, instead: str) -> None:
    """Checks that ``command`` can check each property of ``names``.

    Args:
        names: the names of properties.
        able: the names of the properties that it can check.
        command: the name of the command.
        instead: the command line that checks the others, without its ``--property``.

    Raises:
        UserError: it cannot check one of them.
    """
    for name in names:
        if name not in able:
            raise UserError(f"--property {name}: {command!r} cannot check it; write '{instead} --property {name}'")


def variants(models: Sequence[tuple[System, Model]], names: Sequence[str]) -> list[tuple[System, Model]]:
    """Those of ``models`` whose variant is one of ``names``.

    Raises:
        UserError: a name is no variant of them.
    """
    known = list(dict.fromkeys(model.variant for _, model in models))
    require_known("--variant", "variant", names, known)
    return [(system, model) for system, model in models if model.variant in names]


def parameter(kind: Type) -> str:
    """The type of a parameter, in words. A parameter is never "no object", so its sort is enough."""
    return kind.sort.name if isinstance(kind, Ref) else str(kind)


def scope(model: Model, text: str | None) -> dict[str, int]:
    """The complete scope that ``text`` (``SORT=N,...``) specifies.

    Raises:
        UserError: another form, or more objects than can be explored.
        ScopeError: unknown sort, or an impossible number of objects.
    """
    chosen: dict[str, int] = {}
    for part in text.split(",") if text is not None else ():
        match = re.fullmatch(r"\s*(\w+)\s*=\s*([+-]?[0-9]{1,18})\s*", part)
        example = scope_text(model.default_scope)
        if match is None:
            raise UserError(
                f"--scope: {part.strip()!r} is not of the form SORT=N; write, for example, --scope {example}"
            )
        if match[1] in chosen:
            raise UserError(f"--scope: {match[1]} is given twice; write each sort once, for example, --scope {example}")
        chosen[match[1]] = int(match[2])
    sizes = check_scope(model, chosen)
    for action in model.actions:
        choices = math.prod(_values(v.type, sizes) for v in action.parameters)
        if choices > MOST_CHOICES:
            at = scope_text(sizes)
            raise UserError(
                f"--scope: {at} is too big to explore: action {action.name} alone has {choices} choices in every state; "
                f"write smaller numbers"
            )
    return sizes


def bounded(model: Model, texts: Sequence[str]) -> Model:
    """The model with the bounds of integers that ``texts`` (``SORT.ATTRIBUTE=N`` or ``SORT.ATTRIBUTE=LOW..HIGH``) specify.

    Raises:
        UserError: another form, an attribute without such a bound, or one that starts outside of it.
    """
    bound: dict[tuple[str, str], int | tuple[int, int]] = {}
    number = "([+-]?[0-9]{1,15})"
    for part in [part for text in texts for part in text.split(",")]:
        match = re.fullmatch(rf"\s*(\w+)\.(\w+)\s*=\s*(?:{number}\.\.)?{number}\s*", part)
        if match is None:
            example = next((f"{sort}.{name}" for sort, name in model.integers), "Node.term")
            raise UserError(
                f"--bound: {part.strip()!r} is not of the form SORT.ATTRIBUTE=N; write, for example, --bound {example}=3"
            )
        key, high = (match[1], match[2]), int(match[4])
        value = high if match[3] is None else (int(match[3]), high)
        if key in bound:
            raise UserError(f"--bound: {'.'.join(key)} is given twice; write each attribute once")
        if (wrong := problem_of(model, key, value)) is not None:
            raise UserError(f"--bound: {wrong[0]}; {wrong[1]}")
        bound[key] = value
    return with_bound(model, bound)


def _values(kind: Type, sizes: Mapping[str, int]) -> int:
    match kind:
        case Ref(sort):
            return sizes[sort.name]
        case SetOf(sort):
            return int(1 << sizes[sort.name])
        case IntRange(low, high):
            return high - low + 1
        case Integer():
            raise AssertionError("no variable has integers without a bound")
        case Relation() | Function() | SequenceType():
            raise AssertionError("no variable is a relation, a function or a sequence")
        case EnumType(values):
            return len(values)
        case BoolType():
            return 2
