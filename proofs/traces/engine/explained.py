"""One run of the model that explains the last records of a trace.

A watch keeps the states that explain each of the last records, but no run. The run is found when somebody asks for it:
each record's steps are computed again from the states before it. Several runs may fit; the run is one of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, pairwise

from schedproof.model.semantics import Choice, State, Stepper
from schedproof.proofs.traces.files.lines import Line
from schedproof.proofs.traces.formats.headers import Header
from schedproof.proofs.traces.formats.records import Unlogged
from schedproof.proofs.traces.reports.wording import show_choice

from .candidates import TooManyStates
from .objects import ObjectMap
from .origins import Kept
from .steps import StepPattern, Steps
from .trace_steps import TraceSteps

UNLOGGED = "unlogged "
"""How the words of a path's step begin if the step has no record."""


MOST_RETURNED = 4
"""The limit for objects that one record may name again, or for the first time, to be explained."""


@dataclass(frozen=True)
class RunStep:
    """A step of the model.

    Attributes:
        choice: the step.
        before: the state before it.
        is_unlogged: whether it has no record of its own.
    """

    choice: Choice
    before: State
    is_unlogged: bool


@dataclass(frozen=True)
class ExplainedRecord:
    """A record and the steps that explain it; an observation has none.

    Attributes:
        number: the number of the record.
        objects: the objects after it.
        before: the state before the first step, of these objects.
        steps: the steps.
        after: the state after the last step.
    """

    number: int
    objects: ObjectMap
    before: State
    steps: Sequence[RunStep]
    after: State


@dataclass(frozen=True)
class ExplainedRun:
    """A run that explains the last records of a trace.

    Attributes:
        records_before: how many records of the trace are before the run.
        objects, state: the objects and the state in which the run begins.
        records: the records that it explains.
        is_only_one: whether no other run from this state explains these records.
        states: how many states explain the whole trace; 0 if they are too many to keep.
    """

    records_before: int
    objects: ObjectMap
    state: State
    records: Sequence[ExplainedRecord]
    is_only_one: bool
    states: int

    def last(self, most: int) -> ExplainedRun:
        """The run of the last records, at most ``most``."""
        if len(self.records) <= most:
            return self
        kept = self.records[len(self.records) - most :]
        first = self.records[len(self.records) - most - 1]
        return replace(self, records_before=first.number, objects=first.objects, state=first.after, records=tuple(kept))


@dataclass(frozen=True)
class _Link:
    """The ways from the states before a record to those after it.

    Attributes:
        ways: by the state after: the state before, the same for the objects after, and the words of the steps.
        ambiguous: the states after with more than one way.
    """

    ways: Mapping[State, tuple[State, State, tuple[str, ...]]]
    ambiguous: frozenset[State]


@dataclass
class Explanations:
    """Finds the runs of one trace. It keeps what it has computed of the last records.

    It may be interrupted by an exception at any point, and goes on when it is called again. A record that takes a whole call
    is left unexplained.

    Args:
        steps: computes steps; not those of the watch, whose stored values an interruption could harm.
    """

    steps: TraceSteps
    _links: dict[int, _Link | None] = field(default_factory=dict)
    _steps: dict[tuple[int, State, tuple[str, ...]], tuple[RunStep, ...]] = field(default_factory=dict)

    @staticmethod
    def of(header: Header) -> Explanations:
        """Those of a trace with this header."""
        return Explanations(TraceSteps(header.objects.model, header))

    @property
    def progress(self) -> int:
        """How much is kept: records, and ways that were followed."""
        return len(self._links) + len(self._steps)

    def learn(self, kept: Sequence[Kept]) -> None:
        """Computes how the records were explained, the newest first, if it is not known yet."""
        numbers = {each.number for each in kept}
        self._links = {number: link for number, link in self._links.items() if number in numbers}
        self._steps = {key: steps for key, steps in self._steps.items() if key[0] in numbers}
        unknown = [pair for pair in reversed(list(pairwise(kept))) if pair[1].number not in self._links]
        for position, (earlier, later) in enumerate(unknown):
            if position == 0:
                self._links[later.number] = None  # it has all the time; if it takes longer, it is not tried again
            self._links[later.number] = self._link(earlier, later)

    def run(self, kept: Sequence[Kept], most: int | None = None) -> ExplainedRun:
        """The longest known run that ends with the last record, of at most so many records."""
        last = kept[-1]
        if not last.states:
            return ExplainedRun(last.number, last.objects, (), (), False, 0)
        state, only_one, records = last.states[0], len(last.states) == 1, list[ExplainedRecord]()
        begin = last
        for earlier, later in reversed(list(pairwise(kept))):
            link = self._links.get(later.number)
            if link is None or state not in link.ways or len(records) == most:
                break
            before, moved, words = link.ways[state]
            key = later.number, moved, words
            if key not in self._steps:
                self._steps[key] = tuple(self._steps_of(later, moved, words))
            steps = self._steps[key]
            records.append(ExplainedRecord(later.number, later.objects, moved, steps, state))
            only_one = only_one and state not in link.ambiguous
            state, begin = before, earlier
        return ExplainedRun(begin.number, begin.objects, state, tuple(reversed(records)), only_one, len(last.states))

    def _link(self, earlier: Kept, later: Kept) -> _Link | None:
        """The ways to explain a record; None if they are too many."""
        if not earlier.states or not later.states:
            return None
        moved = later.objects.moved(earlier.states, earlier.objects)
        starts = list(zip(earlier.states, moved, strict=True))
        try:
            every = (starts, *_returned(starts, earlier, later))
            return next((link for each in every if (link := self._from(each, later)) is not None), None)
        except TooManyStates:
            return None

    def _from(self, starts: Sequence[tuple[State, State]], later: Kept) -> _Link | None:
        """The ways from states before a record, each as it is there and with the objects after; None if there is none.

        Raises:
            TooManyStates: the record leaves too much open.
        """
        record, targets = self.steps.reader(later.objects).record(later.number, _line(later)), set(later.states)
        ways: dict[State, tuple[State, State, tuple[str, ...]]] = {}
        ambiguous = set[State]()
        for before, start in starts:
            for path in record.successors(start):
                if path.state not in targets:
                    continue
                if path.state in ways:
                    ambiguous.add(path.state)
                if path.state not in ways or len(path.steps) < len(ways[path.state][2]):
                    ways[path.state] = before, start, path.steps
        return _Link(ways, frozenset(ambiguous)) if ways else None

    def _steps_of(self, later: Kept, state: State, words: Sequence[str]) -> Iterator[RunStep]:
        """The steps that the words of a path mean."""
        line, reader = _line(later), self.steps.reader(later.objects)
        for says in words:
            is_unlogged = says.startswith(UNLOGGED)
            if is_unlogged:
                unlogged = Unlogged.read(reader.model, later.record.get("unlogged"), line, reader.unlogged)
                patterns = [StepPattern(action) for action in unlogged.actions]
            else:
                patterns = reader.patterns(line)
            choice, after = _meant(reader.steps, state, patterns, says.removeprefix(UNLOGGED))
            yield RunStep(choice, state, is_unlogged)
            state = after

    def stepper(self, objects: ObjectMap) -> Stepper:
        """Computes steps of these objects, under their names."""
        return self.steps.named_stepper(objects)


def _returned(
    starts: Sequence[tuple[State, State]], earlier: Kept, later: Kept
) -> Iterator[Sequence[tuple[State, State]]]:
    """The states before a record that names objects again which have ended and were collected, few of them first.

    No step changes such an object, so it has its values from after the record.
    """
    objects, introduced = later.objects, later.record.get("objects", {})
    named = [
        objects.slots(sort, number)
        for sort, numbers in objects.new_places(earlier.objects).items()
        for number in numbers
        if objects.names[sort][number] not in introduced.get(sort, ())
    ]
    for number in range(1, len(named) + 1 if len(named) <= MOST_RETURNED else 0):
        for back in combinations(named, number):
            slots = [slot for each in back for slot in each]
            values = dict.fromkeys(tuple(state[slot] for slot in slots) for state in later.states)
            yield [
                (before, tuple(changed.get(slot, value) for slot, value in enumerate(start)))
                for changed in (dict(zip(slots, each, strict=True)) for each in values)
                for before, start in starts
            ]


def _meant(steps: Steps, state: State, patterns: Sequence[StepPattern], says: str) -> tuple[Choice, State]:
    """The step with these words, and the state after it."""
    steps.work = 0
    for pattern in patterns:
        if says.startswith(f"{pattern.action.name}("):
            for choice, after in steps.some(state, pattern):
                if show_choice(steps.instance, choice) == says:
                    return choice, after
    raise AssertionError(f"the step {says!r} of a path is not among its steps")


def _line(kept: Kept) -> Line:
    return kept.place if isinstance(kept.place, Line) else Line("", kept.line, kept.record)
