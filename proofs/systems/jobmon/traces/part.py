"""A part of Jobmon's database: a task with its instances, or a workflow with its runs.

What the rows show is followed in all states that explain it so far; the processes that write them are guessed
(:mod:`schedproof.proofs.traces.engine.partial_steps`). Which ways there are is found in :mod:`.ways`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from schedproof.model.lang import Invariant, Model, StepInvariant
from schedproof.model.lang.types import Ref
from schedproof.proofs.traces.engine.candidates import Candidates, Path, Record, TooManyStates
from schedproof.proofs.traces.engine.partial import UNKNOWN, Obj, Values, View
from schedproof.proofs.traces.reports.report import NonconformanceReport, Violation

from .reporting import PartObservation, PartReporter
from .ways import NOT_COUNTED, Allowed, Memory
from .words import led_to, not_kept, over_objects, property_of


@dataclass(frozen=True)
class PartCandidates(Candidates[Values]):
    """What explains a part so far.

    Args:
        most: the attempts that the task may have, as the last dump that says it.
        running: the instances that ran in the last dump.
    """

    most: int | None = None
    running: frozenset[int] = frozenset()


@dataclass(frozen=True)
class PartRecord(Record[Values]):
    """What a dump shows of one part, which is called ``title``."""

    title: str = field(kw_only=True)

    def exceeded(self, why: TooManyStates) -> str:
        """Why nothing is known of the part after the dump."""
        return f"record {self.number} (line {self.line}), {self.title}: {why}; dump more often, or more columns"


@dataclass(frozen=True, eq=False)
class Part:
    """A part of the database, with the rows that it is about.

    Args:
        rows: sort -> their ids, in the order of the view's numbers.
        names: what its objects are called.
        in_order: the sort whose objects are made in the order of their numbers.
        workflow: the workflow that it belongs to, if that is known.
        unobserved: what stands for its rows that no dump shows.
        others: the number of the run that stands for all that have nothing to do with its instances; -1 if there is none.
    """

    model: Model
    memory: Memory
    view: View
    rows: Mapping[str, Sequence[int]]
    names: Mapping[Obj, str]
    in_order: str
    workflow: int | None = None
    unobserved: tuple[Obj, ...] = ()
    others: int = -1

    @property
    def title(self) -> str:
        """What it is called: by its task, its workflow, or what else is there."""
        kinds = {"Task": "task", "Workflow": "workflow", "TaskInstance": "instance", "WorkflowRun": "run"}
        titles = (f"{called} {', '.join(map(str, self.rows[s]))}" for s, called in kinds.items() if self.rows.get(s))
        return next(titles, "the database")

    def record(self, sight: PartObservation, before: Sequence[Values], *, started: bool) -> PartRecord:
        """The record of what a dump shows, where ``before`` explain what came before it.

        Args:
            started: there has been a dump before.
        """
        seen = _Seen(self, sight, before, started)
        return PartRecord(sight.number, sight.line, sight.says, seen.successors, breaks=seen.breaks, title=self.title)

    def nonconformance(
        self, sight: PartObservation, before: Sequence[Values], *, started: bool
    ) -> NonconformanceReport:
        """Why none of ``before`` explains what a dump shows."""
        return _Seen(self, sight, before, started).nonconformance()

    def known(self, states: Sequence[Values], sight: PartObservation) -> tuple[Values, ...]:
        """The states so far; attempts that nobody shows and nobody can count are not known any more."""
        if not self.may_have_more(sight):
            return tuple(states)
        lost = {("Task", "attempts", 0)} - sight.observed.keys()
        return tuple(
            dict.fromkeys(
                tuple(UNKNOWN if name in lost else value for name, value in zip(self.view.follows, values, strict=True))
                for values in states
            )
        )

    def may_have_more(self, sight: PartObservation) -> bool:
        """There may be instances that are not followed, and so any number of them."""
        followed = {(sort, number) for sort, attribute, number in self.view.follows if not attribute}
        return any(
            obj not in followed and sight.may_be.get(obj) != frozenset({"Absent"})
            for obj in (("TaskInstance", number) for number in range(self.view.sizes["TaskInstance"]))
        )

    def invariants(self, kept: bool) -> list[Invariant]:
        """The properties about states that speak of what is followed: those that the machine keeps, or the others."""
        followed = {sort for sort, _, _ in self.view.follows}
        return [
            p
            for p in self.model.properties
            if isinstance(p, Invariant)
            and (p.name not in self.model.refuted) is kept
            and over_objects(p)
            and {v.type.sort.name for v in p.over if isinstance(v.type, Ref)} <= followed
        ]


@dataclass(frozen=True)
class _Seen:
    """What a dump shows of a part, after some states."""

    part: Part
    sight: PartObservation
    before: Sequence[Values]
    started: bool

    @cached_property
    def view(self) -> View:
        """The part on the way from the dump before to this one."""
        fixed = {**self.part.view.fixed, **self.sight.fixed}
        return replace(self.part.view, may_be=self.sight.may_be, fixed=fixed)

    @cached_property
    def kept(self) -> list[Invariant]:
        """What the machine keeps."""
        return self.part.invariants(True)

    def successors(self, start: Values) -> Iterator[Path]:
        """The ways from ``start`` to what is as observed, and as the machine keeps it."""
        return (p for p in self.ends(start) if all(self.violated(prop, p.state) is None for prop in self.kept))

    def ends(self, start: Values) -> Iterator[Path]:
        """The ways from ``start`` to what is as observed."""
        if not self.started:
            if self.agrees(start):
                yield Path((), self.settled(start))
        elif len(self.before) == 1 and self.shows_all and self.agrees(start):
            yield Path((), start)
        else:
            for path in self.ways_from(start, self.allowed):
                if self.agrees(path.state):
                    yield replace(path, state=self.settled(path.state))

    def ways_from(self, start: Values, allowed: Allowed, without: Sequence[StepInvariant] = ()) -> list[Path]:
        """The ways that this part may go."""
        return self.part.memory.ways_from(self.view, self.part.in_order, start, allowed, without)

    def violated(self, prop: Invariant, values: Values) -> tuple[tuple[str, Obj], ...] | None:
        """The objects for which the property is broken; None if there are none."""
        return self.part.memory.violated(prop, values, self.view)

    @property
    def shows_all(self) -> bool:
        """All states that are followed are shown."""
        return all(name in self.sight.observed for name in self.view.follows if not name[1])

    def agrees(self, values: Values) -> bool:
        """These values are as observed."""
        places = self.view.places
        return all(values[places[name]] in (value, UNKNOWN) for name, value in self.sight.observed.items())

    def settled(self, values: Values) -> Values:
        """With what the record shows in place of what was not known."""
        shown = zip(self.view.follows, values, strict=True)
        return tuple(self.sight.observed.get(name, UNKNOWN) if value is UNKNOWN else value for name, value in shown)

    @cached_property
    def allowed(self) -> Allowed:
        """Only the states from which the observed ones can be reached.

        Where not all instances are followed, attempts may be made without end: those that come to nothing are left out.
        """
        endless, observed = self.part.may_have_more(self.sight), self.sight.observed
        found: list[frozenset[Any] | None] = []
        for at, name in enumerate(self.view.follows):
            sort, attribute, _ = name
            if not attribute:
                found.append(led_to(self.part.model, sort, observed[name]) if name in observed else None)
            elif attribute == "attempts" and endless and name not in observed:
                found.append(NOT_COUNTED)
            elif attribute == "attempts" and endless:
                counts = [v[at] for v in self.before if v[at] is not UNKNOWN]
                most = max([observed[name], *counts]) + 1
                found.append(frozenset({UNKNOWN, *range(most + 1)}))
            else:
                found.append(None)
        return tuple(found)

    # --- Properties that are broken

    def breaks(self, before: Sequence[Values], after: Sequence[Values]) -> list[Violation]:
        """The properties that every way from before to after breaks, or every state after and not every one before."""
        found = [self.broken(prop) for prop in self.broken_steps(before, after)] if self.started else []
        for prop in self.part.invariants(False):
            objects = [self.violated(prop, values) for values in after]
            known = self.started and all(self.violated(prop, values) is not None for values in before)
            if all(objects) and not known:
                who = ", ".join(self.part.names.get(obj, obj[0]) for _, obj in objects[0] or ())
                found.append(self.broken(prop, f" ({who})" if who else ""))
        return found

    def broken_steps(self, before: Sequence[Values], after: Sequence[Values]) -> list[StepInvariant]:
        """The properties about steps that every way breaks."""
        if set(after) & set(before):
            return []
        goals = set(after)

        def avoided(props: Sequence[StepInvariant]) -> bool:
            return any(
                self.settled(p.state) in goals for start in before for p in self.ways_from(start, self.allowed, props)
            )

        every = not_kept(self.part.model)
        return [] if avoided(every) else [prop for prop in every if not avoided([prop])]

    def broken(self, prop: Invariant | StepInvariant, who: str = "") -> Violation:
        """That the record violates a property."""
        return Violation(self.sight.number, self.sight.line, f"{self.sight.says}{who}", property_of(prop))

    # --- Departures

    def nonconformance(self) -> NonconformanceReport:
        """Why no state explains the record."""
        reporter = PartReporter(self.part.model, self.part.view, self.part.names)
        ends = list(dict.fromkeys(path.state for start in self.before for path in self.ends(start)))
        if ends:
            broken = [p for p in self.kept for v in ends if self.violated(p, v) is not None]
            return reporter.never(self.sight, broken, ends)
        return reporter.no_row(self.sight, self.before) or reporter.no_way(self.sight, self.nearest())

    def nearest(self) -> list[Path]:
        """Ways from some of the states before, as far as can be looked."""
        anything: Allowed = (None,) * len(self.view.follows)
        found: list[Path] = []
        for start in self.before[:5]:
            for allowed in (anything, self.allowed):
                try:
                    found += self.ways_from(start, allowed)
                    break
                except TooManyStates:
                    continue  # the verdict stands; what is shown is looked for less far
        return found
