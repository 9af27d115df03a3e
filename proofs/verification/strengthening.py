"""The properties to strengthen as tasks that processes or the workers of a cluster share.

Tasks are done in rounds of one, two, four, ... properties. A round has what the rounds before inferred, so that the
result does not depend on how many processes there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from schedproof.model.lang import Invariant, Model
from schedproof.model.registry.discovery import system as registered_system
from schedproof.model.registry.system import System
from schedproof.proofs.strengthen import Inferred, Strengthened, strengthen, without_auxiliary
from schedproof.proofs.strengthen.samples import Violation
from schedproof.proofs.strengthen.wording import renamed
from schedproof.proofs.verdict import Counterexample

from .workers import Pool, ReportProgress


@dataclass(frozen=True)
class Task:
    """A property to strengthen.

    Attributes:
        lemmas: what was inferred for other properties, to be assumed like invariants of the model.
        alone: no other invariant of the model is assumed.
        scope: the scope to learn from; None if scopes grow.
        seconds: the time limit.
    """

    system: str
    variant: str
    prop: str
    lemmas: tuple[Invariant, ...] = field(default=(), repr=False)
    alone: bool = False
    scope: Mapping[str, int] | None = None
    seconds: float = 300.0

    @property
    def title(self) -> str:
        """What is reported of it."""
        return f"{self.system} {self.variant} {self.prop}"


@dataclass(frozen=True)
class Outcome:
    """What became of a property, without models and solvers. The attributes are those of :class:`Strengthened`.

    Attributes:
        bounds: the largest number of objects by sort, where the axioms bound it.
        disagree: whether cvc5 contradicts z3.
    """

    prop: str
    proved: bool = False
    inferred: Sequence[Inferred] = ()
    unproved: Sequence[Invariant] = ()
    violation: Violation | None = None
    left: Counterexample | None = None
    why: str = ""
    scopes: Mapping[str, int] = field(default_factory=dict)
    complete: bool = True
    bounds: Mapping[str, int] = field(default_factory=dict)
    not_rechecked: int = 0
    disagree: bool = False
    seconds: float = field(default=0.0, compare=False)

    @classmethod
    def of(cls, result: Strengthened) -> Outcome:
        """The outcome of a result."""
        bounds = result.induction.bounds if result.induction is not None else {}
        return cls(
            result.prop, result.proved, tuple(result.inferred), tuple(result.unproved), result.violation, result.left,
            result.why, dict(result.scopes), result.complete, dict(bounds), result.not_rechecked,
            bool(result.disagreements), result.seconds,
        )  # fmt: skip


StrengtheningPool = Pool[Task, Outcome]
"""What works on the tasks."""


def strengthened(
    task: Task,
    report_progress: ReportProgress,
    *,
    others: Mapping[str, System],
    halt: Callable[[], str] = lambda: "",
) -> Outcome:
    """Does a task.

    Args:
        others: systems that are not found by their names.
        halt: returns why to stop, or "".
    """
    if why := halt():
        return Outcome(task.prop, why=why)
    model = (others.get(task.system) or registered_system(task.system)).variants[task.variant]
    start = without_auxiliary(model, task.prop) if task.alone else model.asking([*model.properties, *task.lemmas])
    return Outcome.of(
        strengthen(
            start,
            task.prop,
            seconds=task.seconds,
            scope=task.scope,
            used_names=[p.name for p in model.properties],
            halt=halt,
            report=lambda doing: report_progress(f"{task.title}: {doing}"),
        )
    )


class Strengthening:
    """The properties of a model that are strengthened, and the outcomes so far.

    Args:
        model: the model.
        goals: the names of the properties.
        alone, scope, seconds: see :class:`Task`.
    """

    def __init__(
        self, model: Model, goals: Sequence[str], *, alone: bool, scope: Mapping[str, int] | None, seconds: float
    ) -> None:
        self._goals, self._alone = list(dict.fromkeys(goals)), alone
        self._first = Task(model.system, model.variant, "", (), alone, scope, seconds)
        self._used_names = {p.name for p in model.properties}
        self._outcomes: dict[str, Outcome] = {}

    @property
    def most_at_once(self) -> int:
        """The number of tasks of the largest round."""
        return max(map(len, self._rounds()))

    def work(self, pool: StrengtheningPool, report_progress: ReportProgress) -> None:
        """Does the tasks. If an exception ends that, the outcomes so far are kept."""
        for goals in self._rounds():
            tasks = [replace(self._first, prop=goal, lemmas=tuple(self.lemmas)) for goal in goals]
            done: dict[str, Outcome] = {}
            try:
                for task, outcome in pool.run(tasks, report_progress):
                    done[task.prop] = outcome
            finally:
                self._outcomes |= {goal: self._named_apart(done[goal]) for goal in goals if goal in done}

    def outcomes(self, missing: str = "") -> list[Outcome]:
        """The outcomes in the order of the properties; ``missing`` is why there is none."""
        return [self._outcomes.get(goal, Outcome(goal, why=missing)) for goal in self._goals]

    @property
    def lemmas(self) -> list[Invariant]:
        """What was inferred so far, once each: without auxiliary invariants, two properties may need the same one."""
        every = [each.prop for outcome in self._outcomes.values() for each in outcome.inferred]
        return list({prop.says: prop for prop in every}.values())

    def _rounds(self) -> Iterator[list[str]]:
        at, size = 0, len(self._goals) if self._alone else 1
        while at < len(self._goals):
            yield self._goals[at : at + size]
            at, size = at + size, 2 * size

    def _named_apart(self, outcome: Outcome) -> Outcome:
        """The outcome, with no name that another one has."""
        props = [each.prop for each in outcome.inferred]
        names = {old.name: new for old, new in zip(props, renamed(props, self._used_names), strict=True)}
        self._used_names |= {each.name for each in names.values()}
        inferred = [
            replace(
                each,
                prop=names[each.prop.name],
                relative_to=[names[name].name if name in names else name for name in each.relative_to],
            )
            for each in outcome.inferred
        ]
        return replace(outcome, inferred=inferred)
