"""Creates the check of a session from a client's request."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from schedproof.model.errors import choose_from
from schedproof.model.lang import Model
from schedproof.model.registry.system import System
from schedproof.model.semantics import Instance, ScopeError, check_scope
from schedproof.proofs.traces import TraceError
from schedproof.proofs.traces.engine.watch import Watch

from .catalogue import systems
from .mapped import NO_MAPPINGS, MappedLines, Mappings

KEPT = ("variant", "rigid", "unlogged", "start")
"""The fields of a header that a scope may have beside it.

The objects then have the names that an exploration gives them.
"""


class BadSession(ValueError):
    """No session can be created for the request. The message is one line."""


def opened(asked: object, mappings: Mappings = NO_MAPPINGS) -> tuple[Watch, MappedLines | None]:
    """The check of a session, and the reader of its lines if it has a mapping.

    Args:
        asked: a header of the plain format, a system and a scope, or a mapping of the server.

    Raises:
        BadSession: it is none of these, or has unknown names.
    """
    if not isinstance(asked, dict):
        raise BadSession('a session needs an object; write one such as {"system": "hived", "scope": {"Cell": 2}}')
    if "mapping" in asked:
        return _mapped(asked, mappings)
    return _plain(asked), None


def _mapped(asked: Mapping[str, Any], mappings: Mappings) -> tuple[Watch, MappedLines]:
    """The check of a session whose records are lines of a log."""
    if not mappings:
        raise BadSession(
            "the server has no mappings; start it with --mapping FILE, or send records of the plain format"
        )
    mapping = mappings[_one_of("mapping", asked["mapping"], mappings)]
    if unknown := [name for name in asked if name not in ("mapping", "system", "objects", *KEPT)]:
        fields = ", ".join(("mapping", "objects", *KEPT))
        raise BadSession(f'unknown field "{unknown[0][:60]}" beside a mapping; choose from {fields}')
    header = {**mapping.header.value, **{name: asked[name] for name in ("objects", *KEPT) if name in asked}}
    if asked.get("system", header["system"]) != header["system"]:
        raise BadSession(f"the mapping is for {header['system']}; leave out the system, or name another mapping")
    return _plain(header, format="mapping"), MappedLines(mapping)


def _plain(asked: Mapping[str, Any], format: str = "schedproof") -> Watch:
    """The check of a session whose records are of the plain format."""
    system, model = _variant(asked)
    header = asked if "schedproof" in asked else _header(system, model, asked)
    try:
        return Watch(system, model, header, format=format)
    except (TraceError, ScopeError) as error:
        raise BadSession(str(error)) from None


def _variant(asked: Mapping[str, Any]) -> tuple[System, Model]:
    """The system and the variant that the request names; by default, the variant that checks the system's traces."""
    if "system" not in asked:
        raise BadSession(f'"system" is missing; choose from {", ".join(systems())}')
    system = systems()[_one_of("system", asked["system"], systems())]
    if "variant" not in asked:
        return system, system.variants[system.validated_by]
    return system, system.variants[_one_of(f"variant of {system.name}", asked["variant"], system.variants)]


def _one_of(what: str, name: object, known: Iterable[str]) -> str:
    names = list(known)
    if not isinstance(name, str):
        raise BadSession(f"the {what} is not a text; choose from {', '.join(names)}")
    if name not in names:
        raise BadSession(f"unknown {what} {name[:60]!r}; {choose_from(name, names)}")
    return name


def _header(system: System, model: Model, asked: Mapping[str, Any]) -> dict[str, Any]:
    """The header for the numbers of objects in the scope. Objects are named as in an exploration."""
    if unknown := [name for name in asked if name not in ("system", "scope", *KEPT)]:
        raise BadSession(
            f'unknown field "{unknown[0][:60]}"; write {{"system": ..., "scope": {{sort: number}}}}, or a header of the '
            f'plain format with "schedproof": 1'
        )
    scope = asked.get("scope", {})
    if not isinstance(scope, dict) or not all(type(size) is int for size in scope.values()):
        example = ", ".join(f'"{sort}": {size}' for sort, size in model.default_scope.items())
        raise BadSession(f'"scope" is not an object of numbers; write one such as {{{example}}}')
    try:
        sizes = check_scope(model, scope)
    except ScopeError as error:
        raise BadSession(str(error)) from None
    named = Instance(model, sizes, {})
    objects = {sort: list(named.object_names(sort)) for sort in sizes}
    return {
        "schedproof": 1,
        "system": system.name,
        "objects": objects,
        **{name: asked[name] for name in KEPT if name in asked},
    }
