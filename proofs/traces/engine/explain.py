"""Records that say little: which steps the log may leave out, and what must hold before and after.

A log seldom names every step of a model. A clue holds what one record says. It has the steps that the record may mean,
or that it means none. It has the steps that may have happened unlogged before it, and at most how many. It has what the
record shows of the states around it. The candidates of a clue are all that the model allows within these limits. This
module knows no system and no format.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from schedproof.model.semantics import State
from schedproof.proofs.traces.reports.nonconformance import difference
from schedproof.proofs.traces.reports.report import Requirement
from schedproof.proofs.traces.reports.wording import show_choice

from .broken import guard_met
from .candidates import Observation, Path, Record, closure
from .steps import StepPattern, Steps

Complaint = Callable[[State], str]
"""An objection to a state; "" if there is none."""

MOST_STARTS = 20
"""The limit for states after unlogged steps from which an explanation of a nonconformance tries refused steps."""


def nothing(state: State) -> str:
    return ""


@dataclass(frozen=True)
class Clue:
    """What a record says.

    Args:
        steps: the steps that the record may mean; exactly one of them happened.
        or_none: whether it may also mean none of them, because the step of an earlier record did what it says.
        unlogged: the steps that may have happened before it without a record of their own.
        longest: the limit for the number of these.
        logged: the slots that no step changes without a record.
        in_order: take only the first possible one of the unlogged steps. A format may set it if other orders lead to
            nothing else that a later record could show.
        before: the objection to a state just before the step.
        after: the objection to a state just after it.
        observed: what it shows of the state after.
        fixed: the slots that its own step does not change.
        must_show_change: accept only steps that change at least one of the observed fields to its observed value.
        suspects: if the record does not conform, the steps whose refusal may explain it; None for ``steps``.
    """

    steps: Sequence[StepPattern] = ()
    or_none: bool = False
    unlogged: Sequence[StepPattern] = ()
    longest: int = 0
    logged: frozenset[int] = frozenset()
    in_order: bool = False
    before: Complaint = nothing
    after: Complaint = nothing
    observed: Observation = field(default_factory=Observation)
    fixed: frozenset[int] = frozenset()
    must_show_change: bool = False
    suspects: Sequence[StepPattern] | None = None


@dataclass(frozen=True)
class Explainer:
    """Turns clues into records of the engine."""

    steps: Steps

    def record(self, number: int, line: int, says: str, clue: Clue) -> Record[State]:
        """The engine's record for ``clue``."""
        return Record(
            number,
            line,
            says,
            self.steps.from_zero(lambda state: self.successors(state, clue)),
            clue.observed,
            self.steps.from_zero(lambda state: self.attempts(state, clue), each=True),
        )

    def starts(self, state: State, clue: Clue) -> Iterable[Path]:
        """The paths of unlogged steps that may come before the record's own step."""

        def moves(at: State) -> Iterator[tuple[str, State]]:
            for pattern in clue.unlogged:
                for choice, after in self.steps.some(at, pattern):
                    if all(at[slot] == after[slot] for slot in clue.logged):
                        yield f"unlogged {show_choice(self.steps.instance, choice)}", after
                        if clue.in_order:
                            return

        return closure(Path((), state), moves, longest=clue.longest)

    def successors(self, state: State, clue: Clue) -> Iterator[Path]:
        """Every path that the clue allows, without an objection to any state."""
        for start in self.starts(state, clue):
            if clue.before(start.state):
                continue
            if (clue.or_none or not clue.steps) and not clue.after(start.state):
                yield start
            for pattern in clue.steps:
                for path in self.steps.paths(start, pattern):
                    if not clue.after(path.state) and self.fits(start.state, path.state, clue):
                        yield path

    def fits(self, before: State, after: State, clue: Clue) -> bool:
        """Whether the clue's own step may make this change."""
        kept = all(before[slot] == after[slot] for slot in clue.fixed)
        return kept and (not clue.must_show_change or self.shows_observed_change(before, after, clue))

    def shows_observed_change(self, before: State, after: State, clue: Clue) -> bool:
        """Whether the step changes one of the observed fields to its observed value."""
        return any(before[slot] != value == after[slot] for slot, value in clue.observed.slots.items())

    def attempts(self, state: State, clue: Clue) -> Iterator[Path]:
        """The forbidden steps that come closest to explaining a record, each with what forbids it."""
        for start in list(self.starts(state, clue))[:MOST_STARTS]:
            if complaint := clue.before(start.state):
                yield Path(start.steps, start.state, (self.requirement(complaint),))
                continue
            if (clue.or_none or not clue.steps) and (complaint := clue.after(start.state)):
                yield Path(start.steps, start.state, (self.requirement(complaint),))
            for pattern in clue.steps if clue.suspects is None else clue.suspects:
                for refused in self.steps.nearest(start.state, pattern):
                    impossible = refused.state == start.state
                    if (
                        not clue.must_show_change
                        or impossible
                        or self.shows_observed_change(start.state, refused.state, clue)
                    ):
                        yield Path(
                            (*start.steps, *refused.steps),
                            refused.state,
                            refused.refused,
                            refused.met,
                            refused.if_taken,
                        )
                yield from self.saying_too_little(start, pattern, clue)
            for pattern in () if clue.must_show_change else clue.steps:
                for path in self.steps.paths(start, pattern):
                    if complaint := clue.after(path.state):
                        yield Path(path.steps, path.state, (self.requirement(complaint),))

    def saying_too_little(self, start: Path, pattern: StepPattern, clue: Clue) -> Iterator[Path]:
        """Steps that the model allows, but that change more than the record says."""
        for choice, after in self.steps.some(start.state, pattern) if clue.fixed else ():
            more = sorted(slot for slot in clue.fixed if after[slot] != start.state[slot])
            if more and self.shows_observed_change(start.state, after, clue):
                d = difference(self.steps.instance, more[0], start.state[more[0]], after[more[0]])
                says = f"it changes {d.object} too ({d.field} from {d.model} to {d.observed}), which the record does not say"
                met = guard_met(self.steps.instance, start.state, choice)[0]
                steps = (*start.steps, show_choice(self.steps.instance, choice))
                yield Path(steps, after, (self.requirement(says),), met)

    def requirement(self, complaint: str) -> Requirement:
        """An objection as a requirement: a violated rule of the format."""
        return Requirement(None, complaint, self.steps.instance.model.document.name, None)
