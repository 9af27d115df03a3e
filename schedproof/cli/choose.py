"""Finds the systems and variants that a command's arguments name. It imports only these."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from schedproof.cli.errors import Exit, fail
from schedproof.model.registry import discovery
from schedproof.model.registry.errors import UserError, unknown
from schedproof.model.registry.loading import load
from schedproof.model.registry.manifest import MANIFEST, read

if TYPE_CHECKING:
    from schedproof.model.lang import Model
    from schedproof.model.registry.system import System


def system(name: str) -> System:
    """The system of that name: the user's own, of an installed package, or one that comes with schedproof.

    Raises:
        UserError: there is none, or it cannot be loaded.
    """
    index = discovery.every(Path.cwd())
    if name not in index.entries and name not in index.ambiguous:
        why = "; ".join([*index.problems, str(unknown("system", name, index.entries))])
        if discovery.find(Path.cwd()) is None:
            why += f"; your own systems are in {MANIFEST}, here or in a folder above"
        raise UserError(why)
    return _as_stated(index.system(name))


def _as_stated(loaded: System) -> System:
    """The system, if its manifest expects violations of properties that there are."""
    if loaded.stated:
        from schedproof.proofs.verification.properties import check_expectations

        check_expectations(loaded)
    return loaded


def systems_of(manifest: Path, names: Sequence[str]) -> list[System]:
    """The systems of those names in one manifest; without names, all of them.

    Raises:
        UserError: there is no such file, it does not name a system, or a system cannot be loaded.
    """
    if not manifest.is_file():
        raise UserError(f"--manifest: no file {str(manifest)!r} here; write the path of your {MANIFEST}")
    entries = read(manifest.absolute())
    for name in names:
        if name not in entries:
            raise unknown(f"system of {manifest}", name, entries)
    return [_as_stated(load(entry)) for name, entry in entries.items() if not names or name in names]


def systems(names: Sequence[str]) -> tuple[list[System], int]:
    """The systems of those names, without duplicates. Without names: those of the user's manifest, else all.

    Returns:
        The systems, and how many systems that were not named cannot be used. Each of these gets one line on standard
        error; the others still work.

    Raises:
        UserError: a name is unknown, or its system cannot be loaded.
    """
    if names:
        return [system(name) for name in dict.fromkeys(names)], 0
    return _working(discovery.systems_of_folder(Path.cwd()) or discovery.registered().entries)


def every() -> tuple[list[System], int]:
    """The user's systems and the registered ones, and how many cannot be used, as :func:`systems`."""
    return _working(discovery.every(Path.cwd()).entries)


def _working(names: Iterable[str]) -> tuple[list[System], int]:
    usable, errors = [], []
    for name in names:
        try:
            loaded = system(name)
            list(loaded.variants.values())  # each access loads one variant
            usable.append(loaded)
        except UserError as error:
            errors.append(error)
    if errors and not usable:
        raise errors[0]
    for each in errors:
        fail(str(each), Exit.USAGE)
    return usable, problems() + len(errors)


def problems() -> int:
    """Writes a line on standard error for each unusable manifest, and returns their number. All other systems work."""
    lines = discovery.every(Path.cwd()).problems
    for line in lines:
        fail(line, Exit.USAGE)
    return len(lines)


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


def model(of: System, name: str | None) -> Model:
    """A variant of a system, as :func:`variant`, that has a model.

    Raises:
        UserError: there is no such variant, or it has only lock files.
    """
    chosen = variant(of, name)
    require_model(of, [chosen])
    return chosen


def require_model(of: System, models: Sequence[Model], options: str = "") -> None:
    """Refuses variants of which none has a model.

    Args:
        of: the system of the variants.
        models: the variants.
        options: what else to write to check the lock files.

    Raises:
        UserError: they have only lock files.
    """
    if any(each.machines for each in models):
        return
    if files := [each.file for one in models for each in of.locks.get(one.variant, ())]:
        locks = os.path.relpath(files[0])
        raise UserError(
            f"{of.name} has lock files and no model; run 'schedproof locks {locks}{options}', or 'schedproof verify {of.name}'"
        )


def variants(of: System, names: Sequence[str]) -> list[Model]:
    """The variants of those names, without duplicates and in the system's order; all, if there are no names.

    Raises:
        UserError: there is no variant of a name.
    """
    chosen = [variant(of, name).variant for name in names]
    return [model for name, model in of.variants.items() if not names or name in chosen]
