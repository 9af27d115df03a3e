"""A trace of the plain format, checked record by record: of any system, for as long as it runs.

A watch keeps the candidates, and the records since few states explained the trace. Neither grows with the trace. Nor
does the number of objects grow, if the model lets ended objects be collected.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from schedproof.model.errors import choose_from
from schedproof.model.lang import Model
from schedproof.model.registry.system import System
from schedproof.proofs.traces.errors import TraceError
from schedproof.proofs.traces.files.lines import Line
from schedproof.proofs.traces.formats.headers import read_header
from schedproof.proofs.traces.reports.nonconformance import validation_of
from schedproof.proofs.traces.reports.report import NOTHING, LogVerdict, Validation, ValidationReport

from .candidates import MOST_STATES, Nonconformance, TooManyStates
from .fast_run import FastRun
from .objects import ObjectMap
from .origins import Kept, Origins
from .steps import StepPattern
from .trace_context import Since, TraceCandidates
from .trace_steps import SCHEMA, TraceSteps, shape

__all__ = ["SCHEMA", "Allowed", "Watch"]

CONFORMS = Validation(LogVerdict.CONFORMS)


@dataclass(frozen=True)
class Allowed:
    """The events that may come next, as records of the plain format.

    Some state that explains the trace so far allows each.

    Attributes:
        events: the events.
        complete: whether these are all.
    """

    events: Sequence[Mapping[str, Any]]
    complete: bool


class Watch:
    """A growing trace of the plain format: its candidates, and the verdict so far.

    Args:
        system: the system that the trace is of.
        model: the variant to check against. None: the one that the header names, else the system's.
        header: as docs/reference/trace-formats.md and plain.schema.json define it; a ``Line`` also has its place.
        limit: the limit for states that explain the trace so far. Beyond it the trace is undetermined.
        format: the format of the records, for the report.
        explains: whether a nonconformance says which rows would explain it.

    Raises:
        TraceError: a wrong header.
    """

    def __init__(
        self,
        system: System,
        model: Model | None,
        header: Mapping[str, Any] | Line,
        *,
        limit: int = MOST_STATES,
        format: str = "schedproof",
        explains: bool = True,
    ) -> None:
        self._explains = explains
        first = header if isinstance(header, Line) else Line("", 0, header)
        shape("header").check(first)
        self.system, self.format = system, format
        self.model = model or _variant(system, first)
        self.header = read_header(self.model, first)
        self._steps = TraceSteps(self.model, self.header, limit)
        self._candidates: TraceCandidates = self._steps.start
        self._run: FastRun | None = None
        self._origins = Origins(self.objects, self.candidates.states)
        self.validation = CONFORMS
        """The verdict on everything so far."""

    @property
    def open(self) -> bool:
        """Whether everything so far conforms. Only then are more records checked."""
        return self.validation is CONFORMS

    @property
    def candidates(self) -> TraceCandidates:
        """What explains the trace so far."""
        if self._run is not None:
            self._candidates = self._run.candidates()
        return self._candidates

    @candidates.setter
    def candidates(self, now: TraceCandidates) -> None:
        self._candidates, self._run = now, None

    @property
    def records(self) -> int:
        """How many records were checked, including the one that decided the verdict."""
        return (self._run or self._candidates).records + (self.validation is not CONFORMS)

    @property
    def objects(self) -> ObjectMap:
        """The current objects."""
        return self._candidates.context.objects

    @property
    def since(self) -> Since | None:
        """The last point that few states explained, and the records since then.

        A nonconforming record is the last of them.

        None if the last records have no such point.
        """
        return self.candidates.since

    def take(self, record: Mapping[str, Any], place: int | Line = 0) -> Validation:
        """Checks one more record. A verdict other than "conforms" is final.

        Args:
            record: as docs/reference/trace-formats.md and plain.schema.json define it.
            place: the line of the record or its number, for messages; by default, the number of the record.

        Returns:
            The verdict on everything so far.

        Raises:
            TraceError: it is not a record. The watch is unchanged then, and another record may follow.
        """
        if self.validation is not CONFORMS:
            return self.validation
        line = place if isinstance(place, Line) else Line("", place, record) if place else None
        run = self._run
        if run is None:
            run = self._run = self._steps.fast_run(self._candidates)
        if run is not None:
            change = run.take(record, line)
            if change is not None:
                self._origins.add(run.records, place, record, self.objects, change)
                return CONFORMS
        self.candidates = now = self.candidates  # the run ends: others may use its tables
        arrived = self._steps.fast_arrival(now, record, line) if run is not None else None
        after = arrived or self._steps.step(now, line or Line("", now.records + 1, record))
        self.candidates = after.before if isinstance(after, Nonconformance) else after
        if isinstance(after, Nonconformance) or after.exceeded:
            validation = validation_of(self.objects.instance, after, explains=self._explains)
            self.validation = self._with_origins(validation)
        else:
            self._origins.add(after.records, place, record, after.context.objects, after.states)
        return self.validation

    def take_all(self, records: Sequence[Line]) -> Validation:
        """Checks more records, all or none of them; those after a final verdict do not count.

        Raises:
            TraceError: one of them is not a record. The watch is unchanged then.
        """
        candidates, origins = self.candidates, self._origins.copy() if len(records) > 1 else self._origins
        try:
            for record in records:
                self.take(record.value, record)
        except TraceError:
            self.candidates, self._origins = candidates, origins
            raise
        return self.validation

    def _with_origins(self, validation: Validation) -> Validation:
        """The validation, with the records that brought the objects concerned into their states."""
        if validation.nonconformance is None:
            return validation

        def says(kept: Kept) -> str:
            return self._steps.says(kept.objects, Line("", kept.line, kept.record))

        report = validation.nonconformance.with_origins(lambda fields: self._origins.of(fields, says))
        return replace(validation, nonconformance=report)

    def report(self) -> ValidationReport:
        """The verdict as ``validate`` reports it."""
        validation = self.validation
        if not self.records:
            validation = replace(validation, note=NOTHING)
        return ValidationReport.of(
            self.model.system, self.model.variant, self.format, replace(validation, size=self.records)
        )

    @property
    def kept(self) -> list[Kept]:
        """The last records that were explained, with the states after each; see :mod:`.origins` for the limits."""
        return self._origins.kept

    def allowed(self, most: int = 1000, by: TraceSteps | None = None) -> Allowed:
        """The events that may come next, at most ``most``; none after a nonconformance.

        Args:
            most: the limit for events.
            by: computes the steps; None for the watch's own.
        """
        if self.validation.verdict is LogVerdict.VIOLATES:
            return Allowed((), True)
        distinct: dict[tuple[str, tuple[tuple[str, int], ...]], Mapping[str, Any]] = {}
        steps, complete = (by or self._steps).reader(self.objects).steps, self.open
        for action in self.model.actions:
            types = {v.name: v.type for v in action.parameters}
            for state in self.candidates.states:
                try:
                    for choice, _ in steps.counted_from_zero(state, StepPattern(action)):
                        if len(distinct) >= most:
                            return Allowed(tuple(distinct.values()), False)
                        shown = {n: self.objects.instance.show(types[n], v) for n, v in choice.parameters}
                        distinct[choice.action, choice.parameters] = {"action": choice.action, "parameters": shown}
                except TooManyStates:
                    complete = False
        return Allowed(tuple(distinct.values()), complete)


def _variant(system: System, header: Line) -> Model:
    name = header.value.get("variant", system.validated_by)
    if name not in system.variants:
        raise header.error(f"unknown variant {name!r} of {system.name}; {choose_from(name, system.variants)}")
    return system.variants[name]
