"""Finds systems: the user's own, those of installed packages, and those that come with schedproof."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.machinery import PathFinder
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from .errors import UserError, unknown
from .manifest import MANIFEST, Entry, read, shown

if TYPE_CHECKING:
    from .system import System

GROUP = "schedproof.systems"
"""The entry points of installed packages; each names a package with a ``schedproof.toml`` in its folder."""

BUILTIN = Path(__file__).parents[1] / "systems"

ROOTS = (".git", ".hg", "pyproject.toml")
"""Files and folders that mark the root of a repository."""


@dataclass(frozen=True)
class SystemIndex:
    """The systems that manifests describe.

    Attributes:
        entries: by name, without the names that two manifests use.
        problems: one line for each manifest that cannot be read, and for each name that two manifests use.
        ambiguous: the names that two manifests use, each with its error message.
    """

    entries: Mapping[str, Entry]
    problems: Sequence[str] = ()
    ambiguous: Mapping[str, str] = field(default_factory=dict)

    def system(self, name: str) -> System:
        """The system of that name.

        Raises:
            UserError: no manifest or two manifests name it, or it cannot be loaded.
        """
        if name in self.entries:
            from .loading import load  # only loading needs the language

            return load(self.entries[name])
        if name in self.ambiguous:
            raise UserError(self.ambiguous[name])
        error = unknown("system", name, self.entries)
        raise UserError("; ".join([str(error), *self.problems]))


def find(folder: Path) -> Path | None:
    """The manifest of a folder: in it, or in the nearest folder above within the same repository.

    Outside a repository only the folder itself is searched: a manifest names code to import, and a folder above may
    belong to anybody.
    """
    above = [folder, *folder.parents]
    root = next((n for n, each in enumerate(above) if any((each / name).exists() for name in ROOTS)), 0)
    return next((each / MANIFEST for each in above[: root + 1] if (each / MANIFEST).is_file()), None)


@cache
def builtin() -> SystemIndex:
    """The systems that come with schedproof, in alphabetical order."""
    return together([_read(manifest) for manifest in sorted(BUILTIN.glob(f"*/{MANIFEST}"))])


@cache
def installed() -> SystemIndex:
    """The systems of installed packages, cached."""
    return together([_of_package(each) for each in sorted(entry_points(group=GROUP))])


def _read(manifest: Path) -> Mapping[str, Entry] | str:
    try:
        return read(manifest, installed=True)
    except UserError as error:
        return str(error)


def _of_package(point: EntryPoint) -> Mapping[str, Entry] | str:
    at = f"entry point {point.name} = {point.value!r} of {point.dist.name if point.dist else 'a package'} ({GROUP})"
    manifest = next((each / MANIFEST for each in _folders(point.value) if (each / MANIFEST).is_file()), None)
    if manifest is None:
        return f"{at}: no package of that name has a {MANIFEST}; write one, or mend the entry point"
    entries = _read(manifest)
    return f"{at}: {entries}" if isinstance(entries, str) else entries


def _folders(value: str) -> Sequence[Path]:
    """The folders of the package that an entry point names. Neither the package nor its parents are imported."""
    name = value.partition(":")[0].strip()
    if not all(part.isidentifier() for part in name.split(".")):
        return ()
    top, *below = name.split(".")
    spec = find_spec(top)
    for depth in range(1, len(below) + 1):
        if spec is None or spec.submodule_search_locations is None:
            return ()
        above = list(spec.submodule_search_locations)
        spec = PathFinder.find_spec(".".join([top, *below[:depth]]), above)
    return [Path(each) for each in (spec.submodule_search_locations or ())] if spec is not None else ()


def systems_of_folder(folder: Path) -> Mapping[str, Entry]:
    """The systems in the manifest of a folder; empty without a manifest.

    Raises:
        UserError: the manifest is invalid.
    """
    path = find(folder)
    return read(path) if path is not None else {}


def together(sources: Sequence[Mapping[str, Entry] | SystemIndex | str]) -> SystemIndex:
    """The systems of several manifests, with their problems. A name in two manifests stands for neither system."""
    first: dict[str, Entry] = {}
    problems: list[str] = []
    ambiguous: dict[str, str] = {}
    for source in sources:
        if isinstance(source, str):
            problems.append(source)
            continue
        if isinstance(source, SystemIndex):
            problems += source.problems
            ambiguous |= source.ambiguous
            source = source.entries
        for name, entry in source.items():
            if name in first and first[name].path != entry.path:
                first_manifest = shown(first[name].path)
                ambiguous[name] = (
                    f"{entry.where()}: {first_manifest} has a system of that name, too; rename one of the two"
                )
                problems.append(ambiguous[name])
            first.setdefault(name, entry)
    return SystemIndex({name: entry for name, entry in first.items() if name not in ambiguous}, problems, ambiguous)


def every(folder: Path) -> SystemIndex:
    """All systems that can be named in a folder; the user's own come first."""
    try:
        users_systems: Mapping[str, Entry] | str = systems_of_folder(folder)
    except UserError as error:
        users_systems = str(error)
    return together([users_systems, installed(), builtin()])


def system(name: str) -> System:
    """The system of that name, among those that come with schedproof and those of installed packages.

    Raises:
        UserError: no such system exists, or it cannot be loaded.
    """
    return registered().system(name)


def registered() -> SystemIndex:
    """The systems that come with schedproof, and those of installed packages."""
    return together([installed(), builtin()])


def systems() -> Mapping[str, System]:
    """Every registered system by name. The parts of a system are loaded at first use.

    Raises:
        UserError: one cannot be loaded.
    """
    return {name: registered().system(name) for name in registered().entries}


def is_registered(system: System) -> bool:
    """True if another process finds the same system by its name."""
    index = registered()
    return system.name in index.entries and index.system(system.name) is system
