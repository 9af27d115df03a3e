"""``schedproof.toml``: the systems of a user's own repository, and the verdicts that are expected of them.

The file names for each system where its models are, in Python; where it says which verdicts are expected, it is what they are
held against, so that no change of a model changes the expectation with it.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from schedproof.model.lang import Model
from schedproof.model.registry import builtin as registry
from schedproof.model.registry.builtin import System
from schedproof.model.semantics import ScopeError, check_scope
from schedproof.proofs.verification.parts import property_names

from .errors import UserError, unknown
from .loading import imported

MANIFEST = "schedproof.toml"

ROOTS = (".git", ".hg", "pyproject.toml")
"""What the root of a repository has."""

EXAMPLE = '[systems.NAME] with model = "package.module:OBJECT"'

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


@dataclass(frozen=True)
class Expectation:
    """What the manifest says of a variant: which promises it is expected to break, and at which scope it is explored.

    What is None is as the model says.
    """

    variant: str
    refuted: frozenset[str] | None = None
    scope: tuple[tuple[str, int], ...] | None = None


@dataclass(frozen=True)
class Entry:
    """A system as the manifest names it. Its models are imported by :func:`load`, when they are needed."""

    path: Path
    name: str
    title: str
    models: tuple[str, ...]
    judged_by: str | None
    variants: tuple[Expectation, ...]

    def where(self, *keys: str) -> str:
        """The place of one of its keys, for messages."""
        return f"{shown(self.path)}: {'.'.join(('systems', self.name, *keys))}"


def find(folder: Path) -> Path | None:
    """The manifest of a folder: there, or in the nearest folder above within the same repository.

    Elsewhere nobody looks above: what a manifest names is imported, and who knows whose that is.
    """
    above = [folder, *folder.parents]
    root = next((n for n, each in enumerate(above) if any((each / name).exists() for name in ROOTS)), 0)
    return next((each / MANIFEST for each in above[: root + 1] if (each / MANIFEST).is_file()), None)


def shown(path: Path) -> str:
    """A path as the user would write it here."""
    try:
        return str(path.relative_to(Path.cwd()))
    except (ValueError, OSError):
        return str(path)


def read(path: Path) -> Mapping[str, Entry]:
    """The systems that a manifest names, by name. Nothing is imported.

    Raises:
        UserError: it cannot be read, or says what a manifest cannot say.
    """
    at = shown(path)
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{at}: is not TOML: {error}; write a system as {EXAMPLE}") from None
    except UnicodeDecodeError:
        raise UserError(f"{at}: is not UTF-8; save it as UTF-8") from None
    except OSError as error:
        raise UserError(f"{at}: cannot be read: {error.strerror or error}") from None
    _known(at, data, ("systems",))
    systems = _table(at, "systems", data.get("systems", {}))
    if not systems:
        raise UserError(f"{at}: names no system; write {EXAMPLE}")
    return {name: _entry(path, name, _table(at, f"systems.{name}", table)) for name, table in systems.items()}


def _entry(path: Path, name: str, table: Mapping[str, Any]) -> Entry:
    at = f"{shown(path)}: systems.{name}"
    if NAME.fullmatch(name) is None:
        raise UserError(f"{at}: a name has letters, digits, '.', '_' and '-' only; choose another")
    if name in registry.SYSTEMS:
        raise UserError(f"{at}: schedproof has a system of that name itself; choose another")
    _known(at, table, ("model", "title", "judged_by", "variants"))
    given = table.get("model")
    models = [given] if isinstance(given, str) else given
    if not isinstance(models, list) or not models or not all(isinstance(m, str) for m in models):
        raise UserError(f'{at}.model: write where the model is, as "package.module:OBJECT", or a list of such texts')
    for model in models:
        if re.fullmatch(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*", model) is None:
            raise UserError(f'{at}.model: {model!r} is not of the form "package.module:OBJECT"')
    for key in ("title", "judged_by"):
        if not isinstance(table.get(key, ""), str):
            raise UserError(f"{at}.{key}: {table[key]!r} is no text; put it in quotes")
    variants = _table(shown(path), f"systems.{name}.variants", table.get("variants", {}))
    expected = tuple(
        _expectation(f"{at}.variants.{each}", each, _table(shown(path), f"systems.{name}.variants.{each}", said))
        for each, said in variants.items()
    )
    return Entry(path, name, table.get("title", name), tuple(models), table.get("judged_by"), expected)


def _expectation(at: str, variant: str, table: Mapping[str, Any]) -> Expectation:
    _known(at, table, ("refuted", "scope"))
    refuted, scope = table.get("refuted"), table.get("scope")
    if refuted is not None and not (isinstance(refuted, list) and all(isinstance(name, str) for name in refuted)):
        raise UserError(f'{at}.refuted: write a list of properties, such as ["one-holder"]; [] if none is broken')
    if scope is not None and not (isinstance(scope, dict) and all(type(n) is int for n in scope.values())):
        raise UserError(f"{at}.scope: write a number of objects for each sort, such as {{ Worker = 2 }}")
    return Expectation(
        variant,
        frozenset(refuted) if refuted is not None else None,
        tuple(scope.items()) if scope is not None else None,
    )


def _table(at: str, keys: str, value: object) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise UserError(f"{at}: {keys} is no table; write a system as {EXAMPLE}")
    return value


def _known(at: str, table: Mapping[str, Any], known: Sequence[str]) -> None:
    for key in table:
        if key not in known:
            raise UserError(f"{at}: {unknown('key', key, known)}")


@cache
def load(entry: Entry) -> System:
    """The system of an entry, its models imported, with what the manifest expects of them.

    Raises:
        UserError: a model cannot be imported, is none, or is not what the manifest says of it.
    """
    models: dict[str, Model] = {}
    for text in entry.models:
        for model in _models(entry, text):
            if model.system != entry.name:
                raise UserError(
                    f"{entry.where('model')}: {text} is a model of the system {model.system!r}; "
                    f"write [systems.{model.system}] here, or Model(system={entry.name!r}) there"
                )
            if model.variant in models:
                raise UserError(
                    f"{entry.where('model')}: two models are the variant {model.variant!r}; give each a name of its own"
                )
            models[model.variant] = model
    for each in entry.variants:
        if each.variant not in models:
            raise UserError(f"{entry.where('variants')}: {unknown('variant', each.variant, models)}")
        models[each.variant] = _expected(entry, models[each.variant], each)
    for model in models.values():
        if model.amends and model.amends not in models:
            raise UserError(
                f"{entry.where('model')}: the variant {model.variant!r} amends {model.amends!r}, which is not named; "
                "name it as well"
            )
    if entry.judged_by is not None and entry.judged_by not in models:
        raise UserError(f"{entry.where('judged_by')}: {unknown('variant', entry.judged_by, models)}")
    return System(entry.name, entry.title, models, judged_by=entry.judged_by or next(iter(models)))


def _models(entry: Entry, text: str) -> Iterator[Model]:
    """The models that an object is, or holds in a list."""
    module_name, _, name = text.partition(":")
    module = imported(entry.path.parent, module_name, entry.where("model"))
    there = [each for each, value in vars(module).items() if not each.startswith("_") and _is_models(value)]
    if not hasattr(module, name):
        listed = unknown(f"object of {module_name}", name, there) if there else f"{module_name} has no model {name!r}"
        raise UserError(f"{entry.where('model')}: {listed}")
    found = getattr(module, name)
    if not _is_models(found):
        instead = (
            f"name one of: {', '.join(there)}" if there else "name a schedproof.model.lang.Model, or a list of them"
        )
        raise UserError(f"{entry.where('model')}: {text} is a {type(found).__name__}, not a Model; {instead}")
    yield from [found] if isinstance(found, Model) else found


def _is_models(value: object) -> bool:
    """A model, or some models."""
    several = isinstance(value, list | tuple) and bool(value) and all(isinstance(each, Model) for each in value)
    return several or isinstance(value, Model)


def _expected(entry: Entry, model: Model, said: Expectation) -> Model:
    """``model`` with the expectations of the manifest.

    Raises:
        UserError: they speak of what it does not have, or the model itself says something else.
    """
    if said.refuted is not None:
        at = entry.where("variants", said.variant, "refuted")
        known = property_names(model)
        for name in sorted(said.refuted - set(known)):
            raise UserError(f"{at}: {unknown('property', name, known)}")
        if model.refuted and model.refuted != said.refuted:
            raise UserError(
                f"{at}: says {_listed(said.refuted)}, but the model ({model.place}) says {_listed(model.refuted)}; "
                "leave one of the two out, or write the same"
            )
        model = replace(model, refuted=said.refuted)
    if said.scope is not None:
        try:
            model = replace(model, default_scope=check_scope(model, dict(said.scope)), verify_scope={})
        except ScopeError as error:
            raise UserError(f"{entry.where('variants', said.variant, 'scope')}: {error}") from None
    return model


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)) or "none"
