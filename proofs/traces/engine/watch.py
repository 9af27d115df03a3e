"""A trace of the plain format, checked record by record as they come: of any system, for as long as it runs.

What is kept are the candidates, and the records since few states explained the trace. Neither grows with the trace; nor
does the number of objects, where the model lets those be collected that have ended.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from schedproof.model.lang import Model
from schedproof.model.registry.system import System
from schedproof.proofs.traces.files.lines import Line
from schedproof.proofs.traces.formats.headers import read_header
from schedproof.proofs.traces.reports.nonconformance import validation_of
from schedproof.proofs.traces.reports.report import NOTHING, LogVerdict, Validation, ValidationReport

from .candidates import MOST_STATES, Nonconformance, TooManyStates
from .objects import ObjectMap
from .steps import StepPattern
from .trace_context import Since, TraceCandidates
from .trace_steps import SCHEMA, TraceSteps, shape

__all__ = ["SCHEMA", "Allowed", "Watch"]

CONFORMS = Validation(LogVerdict.CONFORMS)


@dataclass(frozen=True)
class Allowed:
    """The next events that some state allows which explains everything so far, as records of the plain format.

    ``complete``: these are all.
    """

    events: Sequence[Mapping[str, Any]]
    complete: bool


class Watch:
    """A trace of the plain format that goes on: its candidates, and the verdict so far.

    Args:
        system: the system that the trace is of.
        model: the variant that checks it; None for the one that the header names, or else the system's.
        header: as README.md and plain.schema.json have it, with its place if it has one.
        limit: more states than this that explain the trace so far: undetermined.
        format: the format that the records come in, for the report.

    Raises:
        TraceError: a header that is none.
    """

    def __init__(
        self,
        system: System,
        model: Model | None,
        header: Mapping[str, Any] | Line,
        *,
        limit: int = MOST_STATES,
        format: str = "schedproof",
    ) -> None:
        first = header if isinstance(header, Line) else Line("", 0, header)
        shape("header").check(first)
        self.system, self.format = system, format
        self.model = model or _variant(system, first)
        self._steps = TraceSteps(self.model, read_header(self.model, first), limit)
        self.candidates: TraceCandidates = self._steps.start
        self.validation = CONFORMS
        """The verdict on everything so far."""

    @property
    def open(self) -> bool:
        """Everything so far is explained: only then are further records checked."""
        return self.validation is CONFORMS

    @property
    def records(self) -> int:
        """How many records were taken, with the one that decided the verdict."""
        return self.candidates.records + (self.validation is not CONFORMS)

    @property
    def objects(self) -> ObjectMap:
        """The objects that there are."""
        return self.candidates.context.objects

    @property
    def since(self) -> Since | None:
        """The last point where few states explained the trace, and the records since then; the last one does not conform, if one does.

        None if there was none among the last records.
        """
        return self.candidates.since

    def take(self, record: Mapping[str, Any], place: int | Line = 0) -> Validation:
        """Checks one more record.

        Once the verdict is not "conforms", it stays.

        Args:
            record: as README.md and plain.schema.json have it.
            place: where it stands, for messages: the number of its line, or its line; by default, the number of the record.

        Raises:
            TraceError: it is no record. Nothing has changed then, and another may follow.
        """
        if self.validation is not CONFORMS:
            return self.validation
        now = self.candidates
        line = None if place == 0 else place if isinstance(place, Line) else Line("", place, record)
        quickly = self._steps.fast_step(now, record, line)
        if quickly is not None:
            self.candidates = quickly
            return CONFORMS
        after = self._steps.step(now, line or Line("", now.records + 1, record))
        self.candidates = after.before if isinstance(after, Nonconformance) else after
        if isinstance(after, Nonconformance) or after.exceeded:
            self.validation = validation_of(self.objects.instance, after)
        return self.validation

    def report(self) -> ValidationReport:
        """The verdict as ``validate`` reports it."""
        found = self.validation
        if not self.records:
            found = replace(found, note=NOTHING)
        return ValidationReport.of(
            self.model.system, self.model.variant, self.format, replace(found, size=self.records)
        )

    def allowed(self, most: int = 1000) -> Allowed:
        """The events that may come next, at most so many; none after a nonconformance."""
        if self.validation.verdict is LogVerdict.VIOLATES:
            return Allowed((), True)
        found: dict[tuple[str, tuple[tuple[str, int], ...]], Mapping[str, Any]] = {}
        steps, complete = self._steps.reader(self.objects).steps, self.open
        for action in self.model.actions:
            types = {v.name: v.type for v in action.parameters}
            for state in self.candidates.states:
                try:
                    for choice, _ in steps.counted_from_zero(state, StepPattern(action)):
                        if len(found) >= most:
                            return Allowed(tuple(found.values()), False)
                        shown = {n: self.objects.instance.show(types[n], v) for n, v in choice.parameters}
                        found[choice.action, choice.parameters] = {"action": choice.action, "parameters": shown}
                except TooManyStates:
                    complete = False
        return Allowed(tuple(found.values()), complete)


def _variant(system: System, header: Line) -> Model:
    name = header.value.get("variant", system.validated_by)
    if name not in system.variants:
        raise header.error(f"unknown variant {name!r} of {system.name}; choose from {', '.join(system.variants)}")
    return system.variants[name]
