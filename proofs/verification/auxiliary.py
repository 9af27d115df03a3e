"""Auxiliary checks of a variant, beside its own properties: implementations, locks, and other interpretations."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from schedproof.model.lang import Model, Property, Reading
from schedproof.model.lang.errors import Place
from schedproof.model.locks import Locks, LocksError, read
from schedproof.model.registry.errors import UserError, unknown
from schedproof.model.registry.system import LockFile, System
from schedproof.proofs.locks.checks import checks
from schedproof.proofs.refinement.property import Refinement
from schedproof.proofs.verdict import Counterexample, Method, Result, Verdict

from . import assumptions
from .interpreted import differences, effect, of_variant, wrong
from .interpreted_locks import lock_file

if TYPE_CHECKING:
    from schedproof.proofs.locks.answer import Answer

ReportProgress = Callable[[str], None]


class Auxiliary(ABC):
    """Properties that one auxiliary check covers together.

    Attributes:
        kernel: see :class:`.parts.Part`.
    """

    kernel: ClassVar[str] = ""

    @property
    @abstractmethod
    def properties(self) -> Sequence[Property]:
        """The properties, in the order of the table."""

    @property
    def refuted(self) -> Collection[str]:
        """The names of the properties that are expected to fail."""
        return ()

    @abstractmethod
    def check(self, only: Sequence[str], report_progress: ReportProgress) -> list[Result]:
        """The verdicts on the properties ``only``, or on all of them."""


@dataclass(frozen=True)
class Refined(Auxiliary):
    """A reference implementation, explored in lockstep with the variant."""

    refinement: Refinement

    @property
    def properties(self) -> Sequence[Property]:
        """The refinement: the implementation takes the model's steps."""
        return [self.refinement]

    def check(self, only: Sequence[str], report_progress: ReportProgress) -> list[Result]:
        """Proved if both graphs are equal; else refuted with the first difference."""
        prop = self.refinement
        report = prop.check(lambda done, edges: report_progress(f"scheduler, {done} states, {edges} edges"))
        verdict = Verdict.PROVED if report.ok else Verdict.REFUTED
        mismatch = report.mismatch
        problem = f"property {prop.name} is violated: {mismatch.text}" if mismatch is not None else ""
        counterexample = Counterexample((), problem) if mismatch is not None else None
        note = f"{report.states} states of the scheduler, {report.crash_points} crash points"
        method, scope = Method.EXPLORATION, prop.scope
        return [Result(prop.name, prop.kind, verdict, method, scope, report.seconds, counterexample, note)]


@dataclass(frozen=True, kw_only=True)
class LockProperty(Property):
    """A check of a lock file."""

    kind_: str

    @property
    def kind(self) -> str:  # type: ignore[override]
        """The kind of the check."""
        return self.kind_


@dataclass(frozen=True)
class Locked(Auxiliary):
    """A lock file that the manifest names."""

    kernel = "locks"

    described: LockFile

    @cached_property
    def locks(self) -> Locks:
        """The locks of the file."""
        try:
            return _description(self.described.file)
        except LocksError as error:
            raise UserError(f"{self.described.place}: {error}") from None

    @cached_property
    def properties(self) -> Sequence[Property]:
        """The checks, or the single one that the manifest names.

        Raises:
            UserError: the lock file cannot be read, or the named check does not exist.
        """
        every = checks(self.locks)
        if self.described.only and self.described.only not in (names := [check.name for check in every]):
            raise UserError(f"{self.described.place}: {unknown('check', self.described.only, names)}")
        return [
            LockProperty(
                name=self._name(check.name),
                says=check.says,
                line=check.line or self._line,
                sentence=check.sentence,
                kind_=check.kind,
                place=Place(str(self.described.file), check.place.line),
            )
            for check in every
            if not self.described.only or check.name == self.described.only
        ]

    @property
    def _line(self) -> int | None:
        """The document line of a lock file that is about a single deadlock."""
        return self.locks.order[0].line if self.described.only and self.locks.order else None

    def _name(self, check: str) -> str:
        return self.described.name if self.described.only else f"{self.described.name}.{check}"

    def check_of(self, name: str) -> str:
        """The name of the check that a property stands for."""
        return self.described.only or name.removeprefix(f"{self.described.name}.")

    @property
    def refuted(self) -> Collection[str]:
        """The names of the properties that the lock file or the manifest expects to be violated."""
        return {
            self._name(check)
            for check in [*self.locks.refuted, *([self.described.only] if self.described.refuted else [])]
        }

    def check(self, only: Sequence[str], report_progress: ReportProgress) -> list[Result]:
        """The verdicts of :func:`model_check`."""
        return [answer.result(self._name(answer.check.name)) for answer in self.answers(only, report_progress)]

    def answers(self, only: Sequence[str], report_progress: ReportProgress) -> Sequence[Answer]:
        """The full answers of :func:`model_check`: verdicts with all that is known of each check."""
        selected = [self.check_of(name) for name in only] or ([self.described.only] if self.described.only else [])
        from schedproof.proofs.locks.model_check import (
            model_check,  # loads the solver, which a list of properties does not need
        )

        locks_checked = model_check(
            self.locks,
            only=selected,
            progress=lambda n, to_go: report_progress(f"{self.described.name}, {n} states, {to_go} to go"),
        )
        return locks_checked.answers


@dataclass(frozen=True, kw_only=True)
class Interpretation(Property):
    """That exactly the verdicts that an interpretation names differ under the other one."""

    kind = "interpretation"


@dataclass(frozen=True)
class Interpreted(Auxiliary):
    """An interpretation of a variant whose alternative changes the model."""

    kernel = "states"

    model: Model
    reading: Reading
    file: LockFile | None
    """The lock file that it amends, if it is about locks."""

    @property
    def properties(self) -> Sequence[Property]:
        """The check of its alternative."""
        reading = self.reading
        says = f"with the other interpretation of line {reading.line}: {effect(reading.rests, reading.breaks)}"
        name = f"interpretation.{reading.name}"
        return [Interpretation(name=name, says=says, line=reading.line, place=self.model.place)]

    def check(self, only: Sequence[str], report_progress: ReportProgress) -> list[Result]:
        """Proved if exactly the verdicts differ that the interpretation names."""
        start = time.perf_counter()
        (prop,) = self.properties
        report_progress(f"{prop.name}: the other way")
        held, broken = (self._in_order(names) for names in differences(self.model, self.reading, self.file))
        problems = wrong(self.reading, held, broken)
        verdict = Verdict.REFUTED if problems else Verdict.PROVED
        counterexample = Counterexample((), f"{prop.name}: {'; '.join(problems)}") if problems else None
        method, scope = Method.EXPLORATION, self.model.default_scope
        return [
            Result(
                prop.name,
                prop.kind,
                verdict,
                method,
                scope,
                time.perf_counter() - start,
                counterexample,
                effect(held, broken),
            )
        ]

    def _in_order(self, names: Collection[str]) -> list[str]:
        """Names of properties: first those that the interpretation names, in its order."""
        stated = [*self.reading.rests, *self.reading.breaks]
        return [*(name for name in stated if name in names), *sorted(set(names) - set(stated))]


@dataclass(frozen=True, kw_only=True)
class Assumptions(Property):
    """That verdicts rest on exactly the assumptions that a variant names for them."""

    kind = "assumptions"


@dataclass(frozen=True)
class Assumed(Auxiliary):
    """The assumptions on the environment on which verdicts on what can be reached rest."""

    kernel = "states"

    model: Model

    @property
    def properties(self) -> Sequence[Property]:
        """The check of ``assumes``."""
        says = "verdicts on what can be reached name the assumptions on which they rest"
        return [Assumptions(name="assumptions", says=says, place=self.model.place)]

    def check(self, only: Sequence[str], report_progress: ReportProgress) -> list[Result]:
        """Proved if the variant names exactly the assumptions on which its verdicts rest."""
        start = time.perf_counter()
        (prop,) = self.properties
        report_progress("what can be reached without each assumption")
        note = ""
        try:
            problems = assumptions.wrong(self.model)
            verdict = Verdict.REFUTED if problems else Verdict.PROVED
        except assumptions.Unexplored as unexplored:
            problems, verdict, note = [], Verdict.UNDETERMINED, str(unexplored)
        counterexample = Counterexample((), f"assumptions: {'; '.join(problems)}") if problems else None
        method, scope = Method.EXPLORATION, self.model.default_scope
        return [Result(prop.name, prop.kind, verdict, method, scope, time.perf_counter() - start, counterexample, note)]


@cache
def _description(file: Path) -> Locks:
    return read(file)


def auxiliary(system: System, model: Model, *, interpretations: bool = False) -> Sequence[Auxiliary]:
    """The auxiliary checks that the manifest of ``system`` names for a variant; of interpretations and assumptions only if asked for."""
    refined = [Refined(each) for each in system.refinements if each.variant == model.variant]
    locked = [Locked(each) for each in system.locks.get(model.variant, ())]
    if not interpretations:
        return [*refined, *locked]
    assumed = [Assumed(model)] if assumptions.assumptions(model) and assumptions.concerned(model) else []
    return [
        *refined,
        *locked,
        *(Interpreted(model, each, lock_file(system, model)) for each in of_variant(system, model)),
        *assumed,
    ]
