"""A part of Jobmon's database: a task with its instances, or a workflow with its runs.

Validation follows all states that explain the rows so far. The processes that write the rows are guessed
(:mod:`schedproof.proofs.traces.engine.partial_steps`). :mod:`.ways` finds the paths between states.
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
    """The states that explain a part so far.

    Args:
        most: the maximum of the task's attempts in the last dump that has it.
        running: the instances that ran in the last dump.
    """

    most: int | None = None
    running: frozenset[int] = frozenset()


@dataclass(frozen=True)
class PartRecord(Record[Values]):
    """What a dump shows of one part, which reports call ``title``."""

    title: str = field(kw_only=True)

    def exceeded(self, why: TooManyStates) -> str:
        """Returns why the part's state after the dump is unknown."""
        return f"record {self.number} (line {self.line}), {self.title}: {why}; dump more often, or more columns"


@dataclass(frozen=True, eq=False)
class Part:
    """A part of the database, with its rows.

    Args:
        rows: by sort, the ids of its rows, in the order of the view's numbers.
        names: the names of its objects in reports.
        in_order: the sort whose objects are created in the order of their numbers.
        workflow: the workflow that it belongs to, if known.
        unobserved: the objects that stand for its rows that no dump shows.
        others: the number of the run that stands for all runs without an instance of the part; -1 if there is none.
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
        """Its name in reports: by its task, its workflow, or another of its rows."""
        kinds = {"Task": "task", "Workflow": "workflow", "TaskInstance": "instance", "WorkflowRun": "run"}
        titles = (f"{called} {', '.join(map(str, self.rows[s]))}" for s, called in kinds.items() if self.rows.get(s))
        return next(titles, "the database")

    def record(self, sight: PartObservation, before: Sequence[Values], *, started: bool) -> PartRecord:
        """Returns the record of what a dump shows, after states ``before`` that explain the dumps before it.

        Args:
            started: whether there was a dump before.
        """
        seen = _Seen(self, sight, before, started)
        return PartRecord(sight.number, sight.line, sight.says, seen.successors, breaks=seen.breaks, title=self.title)

    def nonconformance(
        self, sight: PartObservation, before: Sequence[Values], *, started: bool
    ) -> NonconformanceReport:
        """Returns why none of ``before`` explains what a dump shows."""
        return _Seen(self, sight, before, started).nonconformance()

    def known(self, states: Sequence[Values], sight: PartObservation) -> tuple[Values, ...]:
        """Returns the states so far; a number of attempts becomes unknown if no dump shows it and it cannot be counted."""
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
        """Whether there may be instances that are not followed, in any number."""
        followed = {(sort, number) for sort, attribute, number in self.view.follows if not attribute}
        return any(
            obj not in followed and sight.may_be.get(obj) != frozenset({"Absent"})
            for obj in (("TaskInstance", number) for number in range(self.view.sizes["TaskInstance"]))
        )

    def invariants(self, kept: bool) -> list[Invariant]:
        """Returns the invariants about followed objects.

        Args:
            kept: True for those that the machine satisfies, False for those that it violates.
        """
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
        """The view of the part between the dump before and this one."""
        fixed = {**self.part.view.fixed, **self.sight.fixed}
        return replace(self.part.view, may_be=self.sight.may_be, fixed=fixed)

    @cached_property
    def kept(self) -> list[Invariant]:
        """The invariants that the machine satisfies."""
        return self.part.invariants(True)

    def successors(self, start: Values) -> Iterator[Path]:
        """Yields the paths from ``start`` to states that match the dump and satisfy the invariants."""
        return (p for p in self.ends(start) if all(self.violated(prop, p.state) is None for prop in self.kept))

    def ends(self, start: Values) -> Iterator[Path]:
        """Yields the paths from ``start`` to states that match the dump."""
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
        """Returns the paths that this part may take."""
        return self.part.memory.ways_from(self.view, self.part.in_order, start, allowed, without)

    def violated(self, prop: Invariant, values: Values) -> tuple[tuple[str, Obj], ...] | None:
        """Returns the objects for which the property is violated; None if it is satisfied."""
        return self.part.memory.violated(prop, values, self.view)

    @property
    def shows_all(self) -> bool:
        """Whether the dump shows all followed states."""
        return all(name in self.sight.observed for name in self.view.follows if not name[1])

    def agrees(self, values: Values) -> bool:
        """Whether these values match the dump."""
        places = self.view.places
        return all(values[places[name]] in (value, UNKNOWN) for name, value in self.sight.observed.items())

    def settled(self, values: Values) -> Values:
        """Replaces unknown values by those that the record shows."""
        shown = zip(self.view.follows, values, strict=True)
        return tuple(self.sight.observed.get(name, UNKNOWN) if value is UNKNOWN else value for name, value in shown)

    @cached_property
    def allowed(self) -> Allowed:
        """For each field, only the values from which the observed value can be reached.

        Where not all instances are followed, attempts could be created without end: attempts that lead to no observed
        value are left out.
        """
        endless, observed = self.part.may_have_more(self.sight), self.sight.observed
        allowed_values: list[frozenset[Any] | None] = []
        for at, name in enumerate(self.view.follows):
            sort, attribute, _ = name
            if not attribute:
                allowed_values.append(led_to(self.part.model, sort, observed[name]) if name in observed else None)
            elif attribute == "attempts" and endless and name not in observed:
                allowed_values.append(NOT_COUNTED)
            elif attribute == "attempts" and endless:
                counts = [v[at] for v in self.before if v[at] is not UNKNOWN]
                most = max([observed[name], *counts]) + 1
                allowed_values.append(frozenset({UNKNOWN, *range(most + 1)}))
            else:
                allowed_values.append(None)
        return tuple(allowed_values)

    # --- Violated properties

    def breaks(self, before: Sequence[Values], after: Sequence[Values]) -> list[Violation]:
        """Returns the violated properties.

        A step invariant is reported if every path from ``before`` to ``after`` breaks it. An invariant is reported if
        every state in ``after`` breaks it, and not every state in ``before`` did.
        """
        violated = [self.broken(prop) for prop in self.broken_steps(before, after)] if self.started else []
        for prop in self.part.invariants(False):
            objects = [self.violated(prop, values) for values in after]
            known = self.started and all(self.violated(prop, values) is not None for values in before)
            if all(objects) and not known:
                who = ", ".join(self.part.names.get(obj, obj[0]) for _, obj in objects[0] or ())
                violated.append(self.broken(prop, f" ({who})" if who else ""))
        return violated

    def broken_steps(self, before: Sequence[Values], after: Sequence[Values]) -> list[StepInvariant]:
        """Returns the step invariants that every path breaks."""
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
        """Returns the violation of a property by the record."""
        return Violation(self.sight.number, self.sight.line, f"{self.sight.says}{who}", property_of(prop))

    # --- Nonconformance

    def nonconformance(self) -> NonconformanceReport:
        """Returns why no state explains the record."""
        reporter = PartReporter(self.part.model, self.part.view, self.part.names)
        ends = list(dict.fromkeys(path.state for start in self.before for path in self.ends(start)))
        if ends:
            broken = [p for p in self.kept for v in ends if self.violated(p, v) is not None]
            return reporter.never(self.sight, broken, ends)
        return reporter.no_row(self.sight, self.before) or reporter.no_way(self.sight, self.nearest())

    def nearest(self) -> list[Path]:
        """Returns paths from some of the states before, as far as the search can go."""
        anything: Allowed = (None,) * len(self.view.follows)
        paths: list[Path] = []
        for start in self.before[:5]:
            for allowed in (anything, self.allowed):
                try:
                    paths += self.ways_from(start, allowed)
                    break
                except TooManyStates:
                    continue  # the verdict stands; only the report's search is narrower
        return paths
