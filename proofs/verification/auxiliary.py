"""What is judged of a variant beside its own properties: implementations that refine it, and locks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from schedproof.model.lang import Model, Property
from schedproof.model.lang.errors import Place
from schedproof.model.locks import Locks, read
from schedproof.proofs.locks import Answer, checks, examine
from schedproof.proofs.refinement import REFINED, Refinement
from schedproof.proofs.verdict import Counterexample, Method, Result, Verdict

Say = Callable[[str], None]


class Further(ABC):
    """Some properties that are judged together."""

    @property
    @abstractmethod
    def properties(self) -> Sequence[Property]:
        """What is judged, in the order of the table."""

    @property
    def refuted(self) -> Collection[str]:
        """Those that are expected to fail, by name."""
        return ()

    @abstractmethod
    def judge(self, only: Sequence[str], say: Say) -> list[Result]:
        """The verdicts on the properties ``only``, or on all."""


@dataclass(frozen=True)
class Refined(Further):
    """A reference implementation, explored side by side with the variant."""

    refinement: Refinement

    @property
    def properties(self) -> Sequence[Property]:
        """The one that it takes the model's steps."""
        return [self.refinement]

    def judge(self, only: Sequence[str], say: Say) -> list[Result]:
        """The two graphs are the same, or the first difference."""
        prop = self.refinement
        report = prop.check(lambda done, edges: say(f"scheduler, {done} states, {edges} edges"))
        verdict = Verdict.PROVED if report.ok else Verdict.REFUTED
        counterexample = Counterexample((), report.mismatch.text) if report.mismatch is not None else None
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
class Locked(Further):
    """A description of locks.

    Args:
        prefix: what the names of its checks begin with.
        only: of these checks just this one, which is named by the prefix alone.
        deadlocks: it is expected to have a deadlock.
    """

    prefix: str
    file: Path
    only: str = ""
    deadlocks: bool = False

    @cached_property
    def locks(self) -> Locks:
        """What is described."""
        return _description(self.file)

    @cached_property
    def properties(self) -> Sequence[Property]:
        """The checks, or the one that is wanted."""
        return [
            LockProperty(
                name=self._name(check.name),
                says=check.says,
                line=check.line or self._line,
                sentence=check.sentence,
                kind_=check.kind,
                place=Place(str(self.file), check.place.line),
            )
            for check in checks(self.locks)
            if not self.only or check.name == self.only
        ]

    @property
    def _line(self) -> int | None:
        """What a description of a single deadlock is about."""
        return self.locks.order[0].line if self.only and self.locks.order else None

    def _name(self, check: str) -> str:
        return self.prefix if self.only else f"{self.prefix}.{check}"

    def check_of(self, name: str) -> str:
        """The check that a property is named after."""
        return self.only or name.removeprefix(f"{self.prefix}.")

    @property
    def refuted(self) -> Collection[str]:
        """As the description says."""
        return {self._name(check) for check in [*self.locks.refuted, *([self.only] if self.deadlocks else [])]}

    def judge(self, only: Sequence[str], say: Say) -> list[Result]:
        """What :func:`examine` says."""
        return [answer.result(self._name(answer.check.name)) for answer in self.answers(only, say)]

    def answers(self, only: Sequence[str], say: Say) -> Sequence[Answer]:
        """The same, with all that is known of each check."""
        wanted = [self.check_of(name) for name in only] or ([self.only] if self.only else [])
        found = examine(
            self.locks, only=wanted, progress=lambda n, to_go: say(f"{self.prefix}, {n} states, {to_go} to go")
        )
        return found.answers


@cache
def _description(file: Path) -> Locks:
    return read(file)


def _merge() -> Sequence[Further]:
    """The locks of YuniKorn's merged scheduler: the document's, repaired, the reference's; and deadlocks found in YuniKorn."""
    folder = Path(__file__).parents[2] / "model" / "systems" / "yunikorn_merge"
    found: list[Further] = [
        Locked("locks", folder / "locks" / "as-written.yaml"),
        Locked("locks-repaired", folder / "locks" / "repaired.yaml"),
        Locked("locks-reference", folder / "locks" / "reference.yaml"),
    ]
    for file in sorted((folder / "deadlocks").glob("*.yaml")):
        fixed = file.stem.endswith("-fixed")
        found.append(Locked(f"deadlock.{file.stem}", file, only="no-deadlock", deadlocks=not fixed))
    return found


def further(model: Model) -> Sequence[Further]:
    """All that belongs to a variant."""
    return _of(model.system, model.variant)


@cache
def _of(system: str, variant: str) -> Sequence[Further]:
    refinements = [Refined(refinement) for refinement in REFINED.get((system, variant), ())]
    return [*refinements, *(_merge() if (system, variant) == ("yunikorn-merge", "merged") else ())]
