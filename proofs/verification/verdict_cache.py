"""Verdicts of earlier runs, by the content of what they depend on.

A verdict depends on the elements of its model, on its property, on the scope and its configurations, on the source of the
tool, and on the versions of what it uses. A proof by induction rests on those invariants only that it assumes, which its
entry lists. An implementation that refines a model is code: of those that come with schedproof the source counts, those of
other packages are checked every time. What no engine computes (:class:`.ByConstruction`) is checked every time as well.
"""

from __future__ import annotations

import hashlib
import platform
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cache, cached_property
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

import msgspec

import schedproof
from schedproof.model.lang import ByConstruction, Invariant, Model, Property, Row
from schedproof.model.lang.digest import Digester
from schedproof.model.registry.discovery import builtin
from schedproof.model.registry.system import System
from schedproof.model.semantics import check_scope
from schedproof.proofs.cache import Cache
from schedproof.proofs.checking.model_check import WELL_FORMEDNESS, reads_history
from schedproof.proofs.verdict import Result, Verdict

from .auxiliary import Locked, Refined, auxiliary
from .parts import Done, Inducted, Part, Work

VERDICTS = Cache("verdicts", most=20_000)

ROOT = Path(schedproof.__file__).parent

PARTS = ("model", "impl", "proofs")
"""Whose source counts."""

SHOWN = ("schedproof", "z3-solver")
"""The packages whose versions are shown with cached verdicts."""


class Entry(msgspec.Struct):
    """What an entry has.

    Attributes:
        invariants: digest by name, of the invariants that a proof rests on, or that a failed one could assume.
    """

    result: Result | None = None
    inducted: Inducted | None = None
    invariants: dict[str, str] = {}


def versions() -> str:
    """What cached verdicts were computed by, for people: they are never those of other versions."""
    return ", ".join(f"{name} {version(name)}" for name in SHOWN)


@cache
def environment() -> str | None:
    """The digest of the tool's source and of the versions of all that it uses; None if they are unknown."""
    try:
        needed = sorted({re.split(r"[^\w.-]", each, maxsplit=1)[0] for each in requires("schedproof") or ()})
        known = [f"{name} {_version(name)}" for name in ("schedproof", *needed)]
    except PackageNotFoundError:
        return None
    known += [f"llvmlite {_version('llvmlite')}", platform.python_version(), platform.machine(), _processor()]
    return hashlib.sha256("\n".join([*known, *_source(*PARTS)]).encode()).hexdigest()


def _version(name: str) -> str:
    """Of a package; those of an extra may be missing."""
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def _processor() -> str:
    """What the processor is and can: compiled explorations run on it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return platform.processor()
    wanted = ("model name", "flags", "Features", "CPU part")
    return " ".join(dict.fromkeys(line for line in lines if line.startswith(wanted)))


def _stamp() -> tuple[int, int]:
    """How many files the tool and the systems that come with it have, and when the last one changed."""
    times = [path.stat().st_mtime_ns for part in PARTS for path in (ROOT / part).rglob("*.py")]
    return len(times), max(times, default=0)


def _source(*folders: str, systems: bool = False) -> Iterator[str]:
    """Each file below folders of schedproof with its digest, but those of systems."""
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
    """

    def __init__(self, system: System, model: Model, environment: str) -> None:
        self._system, self._model, self._environment = system, model, environment
        self._digester = Digester()
        self._keys: dict[tuple[Work, str], str | None] = {}
        self._before = _stamp()

    def load(self, part: Part) -> Done:
        """What is known of the properties of a part, for each the same as if it were checked again."""
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
        """Keeps what was found; what is undetermined is tried again every time.

        Nothing is kept if the source has changed meanwhile: who knows which of it has run.
        """
        if _stamp() != self._before:
            return
        for result in done.results:
            key = self._key(part, result.name)
            if key is not None and result.verdict is not Verdict.UNDETERMINED:
                _keep(key, Entry(result))
        for name, found in (done.inducted or {}).items():
            key = self._key(part, name)
            if key is not None:
                some = {each: self._invariants[each] for each in found.support} if found.proved else self._invariants
                _keep(key, Entry(inducted=found, invariants=dict(some)))

    def remove(self, parts: Iterable[Part]) -> None:
        """Removes what is known of the properties of some parts, right or wrong."""
        for part in parts:
            for name in part.only:
                if (key := self._key(part, name)) is not None:
                    VERDICTS.remove(key)

    def _rests(self, entry: Entry) -> bool:
        """Whether the invariants are as they were that an induction rests on; one that failed could assume any."""
        assert entry.inducted is not None
        if entry.inducted.proved:
            return entry.invariants.items() <= self._invariants.items()
        return entry.invariants == self._invariants

    def _key(self, part: Part, name: str) -> str | None:
        """What a verdict depends on, as it was when this was first asked; None where that is not known in full."""
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
        except TypeError:  # a user's own kind of element has a function in it, say
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
        # Those that are expected to fail are not assumed for others.
        refuted = self._of(frozenset(self._model.refuted & self._invariants.keys()))
        return [self._of(self._property(name)), self._rules, self._of(self._model.axioms), refuted]

    def _auxiliary(self, name: str) -> list[str] | None:
        its = next(each for each in auxiliary(self._system, self._model) if name in {p.name for p in each.properties})
        if isinstance(its, Locked):
            return [its.check_of(name), Digester(places=True).digest(its.locks).hex()]
        assert isinstance(its, Refined)
        own = re.match(r"schedproof\.proofs\.systems\.(\w+)\.", type(its.refinement).__module__)
        if own is None or not _is_builtin(self._system):
            return None
        source = _source(*(f"{part}/systems/{own[1]}" for part in PARTS), systems=True)
        return [self._of(its.refinement), *source]

    def _property(self, name: str) -> Property:
        return WELL_FORMEDNESS if name == WELL_FORMEDNESS.name else self._model.property(name)

    def _of(self, value: object) -> str:
        return self._digester.digest(value).hex()

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
        """No guard and no rule reads history, so that what is not said of it does not depend on it."""
        model = self._model
        history = {(m.sort.name, a.name) for m in model.machines for a in m.attributes if a.history}
        machines = [replace(m, attributes=[a for a in m.attributes if not a.history]) for m in model.machines]
        rows = [_less(row, [name for sort, name in history if sort == row.sort.name]) for row in model.rows]
        return self._of([machines, rows, model.actions, model.rules])

    @cached_property
    def _scope(self) -> str:
        model = self._model
        sizes = check_scope(model, model.verify_scope)
        return self._of([sizes, bool(model.verify_scope), model.axioms, list(model.configurations(sizes))])


def _is_builtin(system: System) -> bool:
    """It is as a manifest of schedproof's own says."""
    found = builtin()
    return system.name in found.entries and found.system(system.name) is system


def _keep(key: str, entry: Entry) -> None:
    with suppress(UnicodeEncodeError):  # a text that no file can have
        VERDICTS.store(key, msgspec.json.encode(entry))


def _less(row: Row, names: Iterable[str]) -> object:
    """The content of a row without its updates of some attributes."""
    left_out = set(names)
    sets = [each for each in row.sets if each[0] not in left_out]
    return [row.sort, row.event, row.source, row.target, sets, row.line, row.fact]
