"""A cache of verdicts, by the content that they depend on.

A verdict depends on the model's elements, the property, the scope, its configurations, the source of schedproof, and the
versions of its dependencies. A proof by induction depends only on the invariants that it assumes, which its entry lists.
A refinement is code. The source of a built-in one is part of the key. One of another package is checked every time.
So is a property that no engine computes (:class:`.ByConstruction`).

The cache also notes of which interpretations it was checked that they name only what the variant has.
"""

from __future__ import annotations

import hashlib
import platform
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache, cached_property
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

import msgspec

import schedproof
from schedproof.model.lang import ByConstruction, Invariant, Model, Property, Reading, Row
from schedproof.model.lang.digest import Digester
from schedproof.model.registry.discovery import builtin
from schedproof.model.registry.system import System
from schedproof.model.semantics import check_scope, configurations
from schedproof.proofs.cache import Cache
from schedproof.proofs.checking.model_check import WELL_FORMEDNESS, reads_history
from schedproof.proofs.verdict import Result, Verdict

from . import interpreted_locks
from .auxiliary import Assumed, Auxiliary, Interpreted, Locked, Refined, auxiliary
from .interpreted import otherwise
from .parts import Done, Inducted, Part, Work

VERDICTS = Cache("verdicts", most=20_000)

ROOT = Path(schedproof.__file__).parent

PARTS = ("model", "impl", "proofs")
"""The folders whose source is part of the key."""

SHOWN = ("schedproof", "z3-solver")
"""The packages whose versions are shown with cached verdicts."""


class Entry(msgspec.Struct):
    """A stored verdict.

    Attributes:
        invariants: digest by name of the invariants that a proof assumes, or that a failed induction could assume.
    """

    result: Result | None = None
    inducted: Inducted | None = None
    invariants: dict[str, str] = {}


def versions() -> str:
    """The versions that computed cached verdicts, for a reader; verdicts of other versions are never used."""
    return ", ".join(f"{name} {version(name)}" for name in SHOWN)


@cache
def environment() -> str | None:
    """The digest of the tool's source and of its dependencies' versions; None if a version is unknown."""
    try:
        needed = sorted({re.split(r"[^\w.-]", each, maxsplit=1)[0] for each in requires("schedproof") or ()})
        known = [f"{name} {_version(name)}" for name in ("schedproof", *needed)]
    except PackageNotFoundError:
        return None
    known += [f"llvmlite {_version('llvmlite')}", platform.python_version(), platform.machine(), _processor()]
    return hashlib.sha256("\n".join([*known, *source_of(*PARTS)]).encode()).hexdigest()


def _version(name: str) -> str:
    """The version of a package; empty if it is missing, as one of an extra may be."""
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def _processor() -> str:
    """The processor's model and features: compiled explorations depend on them."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return platform.processor()
    fields = ("model name", "flags", "Features", "CPU part")
    return " ".join(dict.fromkeys(line for line in lines if line.startswith(fields)))


def stamp() -> tuple[int, int]:
    """The number of source files of schedproof and its built-in systems, and the time of the latest change in nanoseconds."""
    times = [path.stat().st_mtime_ns for part in PARTS for path in (ROOT / part).rglob("*.py")]
    return len(times), max(times, default=0)


def source_of(*folders: str, systems: bool = False) -> Iterator[str]:
    """Each file below folders of schedproof with its digest; files of systems only with ``systems``."""
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*")):
            inside = path.relative_to(ROOT / folder).parts
            if not path.is_file() or "__pycache__" in inside or (inside[0] == "systems" and not systems):
                continue
            yield f"{folder}/{'/'.join(inside)} {hashlib.sha256(path.read_bytes()).hexdigest()}"


class VerdictCache:
    """The cached verdicts of one variant.

    Args:
        environment: see :func:`environment`.
        digester: of several variants, which share most of their elements.
        before: the :func:`stamp` of the source that runs; by default that of now.
    """

    def __init__(
        self,
        system: System,
        model: Model,
        environment: str,
        digester: Digester | None = None,
        before: tuple[int, int] | None = None,
    ) -> None:
        self._system, self._model, self._environment = system, model, environment
        self._digester = digester or Digester()
        self._of_places = Digester(places=True)
        self._keys: dict[tuple[Work, str], str | None] = {}
        self._before = before or stamp()

    def load(self, part: Part) -> Done:
        """The cached verdicts on the properties of a part, equal to those of a new check."""
        results, inducted = [], {}
        for name in part.only:
            key = self._key(part, name)
            data = VERDICTS.load(key) if key is not None else None
            if data is None:
                continue
            try:
                entry = msgspec.json.decode(data, type=Entry)
            except msgspec.DecodeError:
                continue
            if entry.inducted is not None and self._rests(entry):
                inducted[name] = entry.inducted
            elif entry.result is not None and entry.result.name == name:
                results.append(entry.result)
        return Done(results, inducted or None)

    def store(self, part: Part, done: Done) -> None:
        """Stores the verdicts of a part, except explorations without a verdict, which are tried every time.

        An induction that failed is stored: it fails again as long as no invariant changes.

        Stores nothing if the source has changed meanwhile: it is then unknown which version ran.
        """
        if stamp() != self._before:
            return
        for result in done.results:
            key = self._key(part, result.name)
            if key is not None and result.verdict is not Verdict.UNDETERMINED:
                _keep(key, Entry(result))
        for name, inducted in (done.inducted or {}).items():
            key = self._key(part, name)
            if key is not None:
                some = (
                    {each: self._invariants[each] for each in inducted.support}
                    if _settled(inducted)
                    else self._invariants
                )
                _keep(key, Entry(inducted=inducted, invariants=dict(some)))

    def accepts(self, readings: Sequence[Reading]) -> bool:
        """Whether :meth:`accept` was called for these interpretations of a variant of this content."""
        key = self._accepted(readings)
        return key is not None and VERDICTS.load(key) is not None

    def accept(self, readings: Sequence[Reading]) -> None:
        """Notes that these interpretations name only what the variant has."""
        key = self._accepted(readings)
        if key is not None and stamp() == self._before:
            VERDICTS.store(key, b"")

    def _accepted(self, readings: Sequence[Reading]) -> str | None:
        model = self._model
        names = [each.name if isinstance(each, ByConstruction) else each for each in model.properties]
        expected = [model.refuted, sorted(model.assumes.items())]
        bounds = [model.default_scope, model.verify_scope, model.bound]
        locked = [each for each in self._checks.values() if isinstance(each, Locked)]
        locks = [[each.described.name, each.described.only, each.locks] for each in locked]
        try:
            of = [self._rules, self._of([names, model.axioms, expected, bounds, locks]), self._assuming]
        except TypeError:  # as in `_computed_key`
            return None
        these = Digester(functions=True).digest(readings).hex()
        return "\n".join([self._environment, self._system.name, model.variant, "interpretations", *of, these])

    def remove(self, parts: Iterable[Part]) -> None:
        """Removes the entries of the properties of some parts."""
        for part in parts:
            for name in part.only:
                if (key := self._key(part, name)) is not None:
                    VERDICTS.remove(key)

    def _rests(self, entry: Entry) -> bool:
        """Whether the invariants that an induction assumed are unchanged; a failed one could assume any invariant.

        A proof that needs assumptions could do without them by another invariant.
        """
        assert entry.inducted is not None
        if _settled(entry.inducted):
            return entry.invariants.items() <= self._invariants.items()
        return entry.invariants == self._invariants

    def _key(self, part: Part, name: str) -> str | None:
        """What a verdict depends on, computed at the first call; None where it is not known in full."""
        if (part.work, name) not in self._keys:
            self._keys[part.work, name] = self._computed_key(part, name)
        return self._keys[part.work, name]

    def _computed_key(self, part: Part, name: str) -> str | None:
        kinds = {
            Work.EXPLORATION: self._explored,
            Work.INDUCTION: self._inducted,
            Work.AUXILIARY: self._auxiliary,
        }
        try:
            content = kinds[part.work](name)
        except TypeError:  # such as a function inside a user's own kind of element
            return None
        if content is None:
            return None
        return "\n".join([self._environment, part.system, part.variant, str(part.work), name, *content])

    def _explored(self, name: str) -> list[str] | None:
        prop = self._property(name)
        if isinstance(prop, ByConstruction):
            return None
        history = prop is WELL_FORMEDNESS or reads_history(self._model, prop)
        return [self._of(prop), self._rules if history else self._rules_without_history, self._scope]

    def _inducted(self, name: str) -> list[str]:
        # Proofs of others assume the properties that are expected to fail only where they fail without them.
        refuted = self._of(frozenset(self._model.refuted & self._invariants.keys()))
        return [self._of(self._property(name)), self._rules, self._of(self._model.axioms), self._assuming, refuted]

    def _auxiliary(self, name: str) -> list[str] | None:
        its = self._checks[name]
        if isinstance(its, Interpreted):
            if its.reading.locks:
                file = interpreted_locks.required(its.file, self._model, its.reading)
                locks = interpreted_locks.otherwise(file, its.reading)
                expected = sorted(interpreted_locks.properties(file)[0])
                read = Digester(places=True).digest(locks).hex()
                return [read, *expected, "/", *its.reading.rests, "/", *its.reading.breaks]
            other = otherwise(self._model, its.reading)
            scope = configurations(other, check_scope(other, {}))
            elements = [other.machines, other.elements, other.axioms, other.assuming, scope, other.bound]
            return [self._of(elements), self._of(self._model.refuted), *its.reading.rests, "/", *its.reading.breaks]
        if isinstance(its, Assumed):
            model = self._model
            scope = configurations(model, check_scope(model, {}))
            content = [model.machines, model.elements, model.axioms, model.assuming, scope, model.bound]
            return [self._of(content), self._of(model.refuted), self._of(sorted(model.assumes.items()))]
        if isinstance(its, Locked):
            return [its.check_of(name), self._of_places.digest(its.locks).hex()]
        assert isinstance(its, Refined)
        builtin_module = re.match(r"schedproof\.proofs\.systems\.(\w+)\.", type(its.refinement).__module__)
        if builtin_module is None or not _is_builtin(self._system):
            return None
        source = source_of(*(f"{part}/systems/{builtin_module[1]}" for part in PARTS), systems=True)
        return [self._of(its.refinement), *source]

    def _property(self, name: str) -> Property:
        return WELL_FORMEDNESS if name == WELL_FORMEDNESS.name else self._model.property(name)

    def _of(self, value: object) -> str:
        return self._digester.digest(value).hex()

    @cached_property
    def _checks(self) -> Mapping[str, Auxiliary]:
        """The auxiliary check of each property that has one."""
        every = auxiliary(self._system, self._model, interpretations=True)
        return {prop.name: each for each in every for prop in each.properties}

    @cached_property
    def _invariants(self) -> Mapping[str, str]:
        """The digest of each invariant that proofs may assume."""
        return {p.name: self._of(p) for p in self._model.properties if isinstance(p, Invariant)}

    @cached_property
    def _rules(self) -> str:
        model = self._model
        return self._of([model.machines, model.rows, model.actions, model.rules])

    @cached_property
    def _rules_without_history(self) -> str:
        """The digest for properties that read no history: no guard and no rule reads it, so they do not depend on it."""
        model = self._model
        history = {(m.sort.name, a.name) for m in model.machines for a in m.attributes if a.history}
        machines = [replace(m, attributes=[a for a in m.attributes if not a.history]) for m in model.machines]
        rows = [_less(row, [name for sort, name in history if sort == row.sort.name]) for row in model.rows]
        return self._of([machines, rows, model.actions, model.rules])

    @cached_property
    def _assuming(self) -> str:
        """The digest of the assumptions with names, which verdicts name."""
        return self._of([[name, formula] for name, formula in self._model.assuming.items()])

    @cached_property
    def _scope(self) -> str:
        model = self._model
        sizes = check_scope(model, model.verify_scope)
        content = [sizes, bool(model.verify_scope), model.axioms, configurations(model, sizes), model.bound]
        return self._of([*content, self._assuming])


def _is_builtin(system: System) -> bool:
    """Whether the system comes unchanged from schedproof's own manifest."""
    systems = builtin()
    return system.name in systems.entries and systems.system(system.name) is system


def _settled(inducted: Inducted) -> bool:
    """Whether no further invariant can change the result: it is proved, without assumptions that have names."""
    return inducted.proved and not inducted.assuming


def _keep(key: str, entry: Entry) -> None:
    with suppress(UnicodeEncodeError):  # text that no encoding can store
        VERDICTS.store(key, msgspec.json.encode(entry))


def _less(row: Row, names: Iterable[str]) -> object:
    """The content of a row without its updates of the attributes ``names``."""
    left_out = set(names)
    sets = [each for each in row.sets if each[0] not in left_out]
    return [row.sort, row.event, row.source, row.target, sets, row.line, row.fact]
