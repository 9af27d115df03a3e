"""What is checked of a variant beside its own properties: implementations that refine it, and locks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from schedproof.model.lang import Model, Property
from schedproof.model.lang.errors import Place
from schedproof.model.locks import Locks, LocksError, read
from schedproof.model.registry.errors import UserError, unknown
from schedproof.model.registry.system import LockFile, System
from schedproof.proofs.locks.checks import checks
from schedproof.proofs.refinement.property import Refinement
from schedproof.proofs.verdict import Counterexample, Method, Result, Verdict

if TYPE_CHECKING:
    from schedproof.proofs.locks.model_check import Answer

Say = Callable[[str], None]


class Auxiliary(ABC):
    """Some properties that are checked together."""

    @property
    @abstractmethod
    def properties(self) -> Sequence[Property]:
        """What is checked, in the order of the table."""

    @property
    def refuted(self) -> Collection[str]:
        """Those that are expected to fail, by name."""
        return ()

    @abstractmethod
    def check(self, only: Sequence[str], say: Say) -> list[Result]:
        """The verdicts on the properties ``only``, or on all."""


@dataclass(frozen=True)
class Refined(Auxiliary):
    """A reference implementation, explored side by side with the variant."""

    refinement: Refinement

    @property
    def properties(self) -> Sequence[Property]:
        """The one that it takes the model's steps."""
        return [self.refinement]

    def check(self, only: Sequence[str], say: Say) -> list[Result]:
        """The two graphs are the same, or the first difference."""
        prop = self.refinement
        report = prop.check(lambda done, edges: say(f"scheduler, {done} states, {edges} edges"))
        verdict = Verdict.PROVED if report.ok else Verdict.REFUTED
        mismatch = report.mismatch
        problem = f"property {prop.name} is violated: {mismatch.text}" if mismatch is not None else ""
        counterexample = Counterexample((), problem) if mismatch is not None else None
        note = f"{report.states} states of the scheduler, {report.crash_points} crash points"
        method, scope = Method.EXPLORATION, prop.scope
        return [Result(prop.name, prop.kind, verdict, method, scope, report.seconds, counterexample, note)]


@dataclass(frozen=True, kw_only=True)
class LockProperty(Property):
    """A check of a description of locks."""

    kind_: str

    @property
    def kind(self) -> str:  # type: ignore[override]
        """Of the check."""
        return self.kind_


@dataclass(frozen=True)
class Locked(Auxiliary):
    """A description of locks that the manifest names."""

    described: LockFile

    @cached_property
    def locks(self) -> Locks:
        """What is described."""
        try:
            return _description(self.described.file)
        except LocksError as error:
            raise UserError(f"{self.described.place}: {error}") from None

    @cached_property
    def properties(self) -> Sequence[Property]:
        """The checks, or the one that is wanted.

        Raises:
            UserError: the description cannot be read, or there is no such check.
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
        """What a description of a single deadlock is about."""
        return self.locks.order[0].line if self.described.only and self.locks.order else None

    def _name(self, check: str) -> str:
        return self.described.name if self.described.only else f"{self.described.name}.{check}"

    def check_of(self, name: str) -> str:
        """The check that a property is named after."""
        return self.described.only or name.removeprefix(f"{self.described.name}.")

    @property
    def refuted(self) -> Collection[str]:
        """As the description says."""
        return {
            self._name(check)
            for check in [*self.locks.refuted, *([self.described.only] if self.described.refuted else [])]
        }

    def check(self, only: Sequence[str], say: Say) -> list[Result]:
        """What :func:`model_check` says."""
        return [answer.result(self._name(answer.check.name)) for answer in self.answers(only, say)]

    def answers(self, only: Sequence[str], say: Say) -> Sequence[Answer]:
        """The same, with all that is known of each check."""
        wanted = [self.check_of(name) for name in only] or ([self.described.only] if self.described.only else [])
        from schedproof.proofs.locks.model_check import (
            model_check,  # it needs the solver, a list of properties does not
        )

        found = model_check(
            self.locks, only=wanted, progress=lambda n, to_go: say(f"{self.described.name}, {n} states, {to_go} to go")
        )
        return found.answers


@cache
def _description(file: Path) -> Locks:
    return read(file)


def auxiliary(system: System, model: Model) -> Sequence[Auxiliary]:
    """All that the manifest of ``system`` names for a variant."""
    refined = [Refined(each) for each in system.refinements if each.variant == model.variant]
    return [*refined, *(Locked(each) for each in system.locks.get(model.variant, ()))]
