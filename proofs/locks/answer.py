"""The result of a check of a lock description."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from schedproof.proofs.exploration.run_facts import words
from schedproof.proofs.verdict import Counterexample, Method, ObjectFacts, Result, TraceStep, Verdict

from .checks import Check
from .derived import Circles
from .explore import Problem
from .rank import Order
from .runs import Broken

CHANNEL = "channel"
"""The class of a channel; lock descriptions name none."""


@dataclass(frozen=True)
class Answer:
    """The result of a check.

    Args:
        check: the check.
        steps: the steps until the violation, in words; ``problem`` describes the violation.
        broken, deadlock: the run or the deadlock that shows the violation, if there is one.
        note: why the verdict is undetermined, or what a proof is based on.
        remarks: what the verdict takes into account and a reader must know, one sentence each.
        circles: all circles of a derived order.
        remedies: the smallest sets of changes that remove the violation; each change is one sentence.
    """

    check: Check
    verdict: Verdict
    method: Method
    scope: Mapping[str, int] | None
    seconds: float = field(compare=False, default=0.0)
    note: str = ""
    problem: str = ""
    steps: tuple[str, ...] = ()
    broken: Broken | None = None
    deadlock: Problem | None = None
    order: Order | None = None
    remarks: tuple[str, ...] = ()
    circles: Circles | None = None
    remedies: tuple[tuple[str, ...], ...] = ()
    objects: tuple[tuple[str, str], ...] = ()
    """The names of the objects of the run, and their classes."""

    def result(self, name: str) -> Result:
        """The result as that of a property."""
        shown = self.verdict is Verdict.REFUTED
        steps = [TraceStep(says, {}, says, None, ()) for says in self.steps] if shown else []
        return Result(
            name,
            self.check.kind,
            self.verdict,
            self.method,
            self.scope,
            self.seconds,
            self._counterexample(steps, name) if shown else None,
            self.note,
        )

    def _counterexample(self, steps: Sequence[TraceStep], name: str) -> Counterexample:
        """An interleaving begins with no lock held; a run of an operation begins with the locks of its caller."""
        objects = tuple(ObjectFacts(each, f"{words(of)} {each}", {}) for each, of in self.objects)
        free = tuple(
            ObjectFacts(each, "empty" if of == CHANNEL else "held by no thread", {}) for each, of in self.objects
        )
        held = tuple(ObjectFacts(each, f"held by the caller ({mode})", {}) for each, mode in self._held)
        problem = f"property {name} is violated: {self.problem}"
        return Counterexample(steps, problem, objects=objects, initial=free if self.deadlock is not None else held)

    @property
    def _held(self) -> Sequence[tuple[str, str]]:
        run = self.broken.run if self.broken is not None else ()
        return [(each, str(mode)) for each, mode in run[0].held] if run else []
