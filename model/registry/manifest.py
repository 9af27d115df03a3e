"""Reads ``schedproof.toml``: the parts of each system, and where they are. Reading imports no part of a system.

Built-in systems, a user's own and those of installed packages use the same format. A reference to Python is written as
``package.module:OBJECT``. Where a manifest states expected verdicts, verdicts are compared with these. So a change of
the model cannot change the expectation with it.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from .errors import UserError, unknown

MANIFEST = "schedproof.toml"

EXAMPLE = '[systems.NAME] with model = "package.module:OBJECT"'

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")

REFERENCE = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*")

T = TypeVar("T")


class LockDescription(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A description of locks that is checked with a variant.

    Attributes:
        name: the prefix of the names of its checks.
        file: relative to the manifest.
        only: the only check to run, under the name ``name`` alone.
        refuted: that check is expected to fail.
    """

    name: str
    file: str
    only: str = ""
    refuted: bool = False


class VariantTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A variant in a manifest. The model decides what is None here.

    Attributes:
        model: a reference to its model, unless the system's ``model`` names it.
        refuted: the properties that it is expected to violate.
        scope: sort -> number of objects to explore.
        bound: "Sort.attribute" -> the highest value of an integer to explore, or the lowest and the highest.
        locks: descriptions of locks.
    """

    model: str | None = None
    refuted: list[str] | None = None
    scope: dict[str, int] | None = None
    bound: dict[str, int | tuple[int, int]] | None = None
    locks: list[LockDescription] = []


class SystemTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A system in a manifest. All values except names and texts are references to Python.

    Attributes:
        model: a model, or a list of models, or several such references; each model is a variant.
        title, document: for ``list``, which loads no model.
        validated_by: the variant that logs are checked against; by default the first.
        variants: in their order.
        refinements: a list of :class:`schedproof.proofs.refinement.property.Refinement`.
        replays: variant -> function that replays a run of it on the reference implementation.
        traces: formats of its logs; the first that recognises a log reads it.
        wait_for: variant -> the meaning of "holds" and "waits for" in wait-for graphs.
        tables: sort -> the events whose rows are compared between text, figures and implementation.
        flows: variant -> which component sends which events to which.
        charts: variant -> the charts of the document.
        contradictions: the contradictions of the document that are in words only.
        interpretations: the variants' interpretations of the document.
        ledger: the file with the ledger of the document, by its path from the manifest.
    """

    model: str | list[str] = []
    title: str | None = None
    document: str | None = None
    validated_by: str | None = None
    variants: dict[str, Any] = {}
    refinements: str | None = None
    replays: str | None = None
    traces: list[str] = []
    wait_for: str | None = None
    tables: str | None = None
    flows: str | None = None
    charts: str | None = None
    contradictions: str | None = None
    interpretations: str | None = None
    ledger: str | None = None


@dataclass(frozen=True)
class Entry:
    """A system as a manifest describes it. :mod:`.loading` makes a system of it at first use.

    Attributes:
        path: the path of the manifest.
        folder: the folder where Python looks first for the modules it names; None for installed modules.
        models: the references of ``model``.
        variants: by name, in their order; incomplete where ``models`` has lists of models.
    """

    path: Path
    folder: Path | None
    name: str
    table: SystemTable
    models: tuple[str, ...]
    variants: Mapping[str, VariantTable]

    def __hash__(self) -> int:
        return hash((self.path, self.name))

    @property
    def title(self) -> str:
        """A few words that describe the system."""
        return self.table.title or self.name

    @property
    def listed(self) -> bool:
        """True if the manifest names its variants and its document, so that listing them imports nothing."""
        return not self.models and self.table.document is not None

    def where(self, *keys: str) -> str:
        """The place of one of its keys, for messages."""
        return f"{shown(self.path)}: {'.'.join(('systems', self.name, *keys))}"


def shown(path: Path) -> str:
    """A path relative to the current folder, if it is below."""
    try:
        return str(path.relative_to(Path.cwd()))
    except (ValueError, OSError):
        return str(path)


def read(path: Path, *, installed: bool = False) -> Mapping[str, Entry]:
    """The systems that a manifest names, by name, in their order.

    Args:
        installed: Python finds the modules on its own search path; otherwise it looks in the manifest's folder first.

    Raises:
        UserError: it cannot be read, or is not a valid manifest.
    """
    at = shown(path)
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{at}: is not TOML: {error}; write a system as {EXAMPLE}") from None
    except UnicodeDecodeError:
        raise UserError(f"{at}: is not UTF-8; save it as UTF-8") from None
    except RecursionError:
        raise UserError(f"{at}: is nested too deep; write a system as {EXAMPLE}") from None
    except ValueError:  # Python refuses to convert a number of thousands of digits
        raise UserError(f"{at}: has a number of too many digits; write a system as {EXAMPLE}") from None
    except OSError as error:
        raise UserError(f"{at}: cannot be read: {error.strerror or error}; let the file be readable") from None
    for key in data:
        if key != "systems":
            raise UserError(f"{at}: {unknown('key', key, ['systems'])}")
    systems = data.get("systems", {})
    if not isinstance(systems, dict):
        raise UserError(f"{at}: systems is not a table; write a system as {EXAMPLE}")
    if not systems:
        raise UserError(f"{at}: the file names no system; write {EXAMPLE}")
    return {name: _entry(path, None if installed else path.parent, name, table) for name, table in systems.items()}


def _entry(path: Path, folder: Path | None, name: str, value: object) -> Entry:
    at = f"{shown(path)}: systems.{name}"
    if NAME.fullmatch(name) is None:
        raise UserError(f"{at}: the name {name!r} cannot be used; choose letters, digits, '.', '_' and '-'")
    if isinstance(value, dict) and "judged_by" in value:  # the key's former name
        value = {"validated_by" if key == "judged_by" else key: of for key, of in value.items()}
    table = _converted(at, value, SystemTable)
    variants = {
        each: _converted(f"{at}.variants.{each}", described, VariantTable) for each, described in table.variants.items()
    }
    models = (table.model,) if isinstance(table.model, str) else tuple(table.model)
    entry = Entry(path, folder, name, table, models, variants)
    if not models and not (variants and (_each_has_a_model(variants) or _has_only_locks(variants))):
        raise UserError(
            f'{at}.model: write where the model is, as "package.module:OBJECT", or a list of such texts; or locks in each variant, and no model'
        )
    for keys, reference in references(entry):
        if REFERENCE.fullmatch(reference) is None:
            raise UserError(f'{entry.where(*keys)}: {reference!r} is not a reference; write "package.module:OBJECT"')
    if not models and table.validated_by is not None and table.validated_by not in variants:
        raise UserError(f"{entry.where('validated_by')}: {unknown('variant', table.validated_by, variants)}")
    return entry


def _each_has_a_model(variants: Mapping[str, VariantTable]) -> bool:
    return all(each.model is not None for each in variants.values())


def _has_only_locks(variants: Mapping[str, VariantTable]) -> bool:
    """Whether it is a system of lock files, without a model. A variant that lacks one beside others is a mistake."""
    return all(each.model is None and each.locks for each in variants.values())


def references(entry: Entry) -> Sequence[tuple[tuple[str, ...], str]]:
    """Every reference to Python, with its keys."""
    table = entry.table
    single = ("refinements", "replays", "wait_for", "tables", "flows", "charts", "contradictions", "interpretations")
    return [
        *((("model",), each) for each in entry.models),
        *((("variants", name, "model"), v.model) for name, v in entry.variants.items() if v.model is not None),
        *((("traces",), each) for each in table.traces),
        *(((key,), text) for key in single if (text := getattr(table, key)) is not None),
    ]


ADVICE = {
    "model": 'where the model is, as "package.module:OBJECT", or a list of such texts',
    "refuted": 'a list of properties, such as ["one-holder"]; [] if none is violated',
    "scope": "a number of objects for each sort, such as { Worker = 2 }",
    "bound": 'the highest value of each integer, such as { "Node.term" = 3 }',
}

KINDS = {
    "str": "a text in quotes",
    "int": "a whole number",
    "bool": "true or false",
    "array": "a list in [...]",
    "object": "a table",
}


def _converted(at: str, value: object, kind: type[T]) -> T:
    """``value`` as a ``kind``.

    Raises:
        UserError: it has another shape.
    """
    if not isinstance(value, dict):
        keys = at.partition(": ")
        raise UserError(f"{keys[0]}: {keys[2]} is not a table; write a system as {EXAMPLE}")
    try:
        return msgspec.convert(value, kind, strict=True)
    except msgspec.ValidationError as error:
        problem, _, place = str(error).partition(" - at `$")
        where = at + place.rstrip("`").replace("[...]", "")
        if field := re.fullmatch(r"Object contains unknown field `(.*)`", problem, re.DOTALL):
            known = msgspec.structs.fields(LockDescription if "locks" in place else kind)  # type: ignore[arg-type]
            raise UserError(f"{where}: {unknown('key', field[1], [f.name for f in known])}") from None
        if missing := re.fullmatch(r"Object missing required field `(.*)`", problem):
            raise UserError(f"{where}: {missing[1]!r} is missing; write it") from None
        expected = re.match(r"Expected `(.*?)`, got `(.*?)`", problem)
        key = re.match(r"\.(\w+)", place)
        if expected is None:
            known_advice = ADVICE.get(key[1] if key else "")
            raise UserError(f"{where}: {problem}{f'; write {known_advice}' if known_advice else ''}") from None
        advice = ADVICE.get(key[1] if key else "") or " or ".join(
            KINDS[each] for each in expected[1].split(" | ") if each in KINDS
        )
        raise UserError(f"{where}: is {KINDS.get(expected[2], expected[2])}; write {advice}") from None
