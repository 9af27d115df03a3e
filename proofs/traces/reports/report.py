"""What the validator says: the verdict, and why a record cannot be explained."""

from __future__ import annotations

import enum
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

WIDEST = 160
"""Characters of a line of a log that are shown."""

MOST_BREAKS = 20
"""Violated properties that are shown in words."""


NOTHING = "the trace has no records: nothing contradicts the model, and nothing was checked"
"""The note on an empty trace."""


class LogVerdict(enum.StrEnum):
    """Undetermined never counts as conforming."""

    CONFORMS = "conforms"
    VIOLATES = "violates"
    UNDETERMINED = "undetermined"


@dataclass(frozen=True)
class Requirement:
    """What was broken: a property of the model, or (``property`` None) a guard, a table or a reading rule."""

    property: str | None
    says: str
    document: str
    line: int | None
    sentence: str = ""

    def as_json(self) -> dict[str, Any]:
        return {
            "property": self.property,
            "says": self.says,
            "document": self.document,
            "line": self.line,
            "sentence": self.sentence,
        }

    def text(self) -> str:
        where = f" ({self.document}, line {self.line})" if self.line else ""
        quote = f': "{self.sentence}"' if self.sentence else ""
        return f"{self.property + ': ' if self.property else ''}{self.says}{where}{quote}"


@dataclass(frozen=True)
class Difference:
    """A field that the model has otherwise than the trace observed it."""

    object: str
    field: str
    model: Any
    observed: Any

    def as_json(self) -> dict[str, Any]:
        return {"object": self.object, "field": self.field, "model": self.model, "observed": self.observed}

    def text(self) -> str:
        return f"{self.object}.{self.field}: {_name(self.model)} in the model, {_name(self.observed)} observed"


@dataclass(frozen=True)
class Candidate:
    """Steps that were tried, the state that they reach, what differs there, and what forbids them.

    ``refused`` is empty for steps that the model allows: then the differences alone refute them.
    """

    steps: Sequence[str]
    state: Mapping[str, Any]
    differs: Sequence[Difference]
    refused: Sequence[Requirement]
    requirement: Requirement | None

    def as_json(self) -> dict[str, Any]:
        return {
            "steps": list(self.steps),
            "state": self.state,
            "differs": [d.as_json() for d in self.differs],
            "refused": [r.as_json() for r in self.refused],
            "promise": self.requirement.as_json() if self.requirement else None,
        }

    def text(self) -> list[str]:
        found = [f"tried: {'; '.join(self.steps) or 'no step'}"]
        found += [f"  not possible: {r.text()}" for r in self.refused]
        found += [f"  {d.text()}" for d in self.differs]
        if self.requirement and self.requirement not in self.refused:
            found.append(f"  {'violates' if self.requirement.property else 'but'} {self.requirement.text()}")
        return found


@dataclass(frozen=True)
class NonconformanceReport:
    """The first record that no sequence of model steps explains.

    ``record`` is the record's number, ``line`` its line in the file. ``requirements`` are the
    invariants of the model that the observed state itself violates. ``before`` is a state of the model before the
    record, of the objects that it is about, in words.
    """

    record: int
    line: int
    reason: str
    requirements: Sequence[Requirement] = ()
    candidates: Sequence[Candidate] = ()
    before: str = ""

    def as_json(self) -> dict[str, Any]:
        return {
            "record": self.record,
            "line": self.line,
            "reason": self.reason,
            "promises": [p.as_json() for p in self.requirements],
            "candidates": [c.as_json() for c in self.candidates],
        }

    def text(self) -> list[str]:
        found = [f"record {self.record} (line {self.line}): {self.reason}"]
        if self.before:
            found.append(f"  state before it, in the model: {self.before}")
        found += [f"the observed state violates {p.text()}" for p in self.requirements]
        for candidate in self.candidates:
            found += ["  " + line for line in candidate.text()]
        return found


@dataclass(frozen=True)
class Violation:
    """A record that the model explains, but that violates what the document requires: it conforms to the model."""

    record: int
    line: int
    says: str
    requirement: Requirement

    def as_json(self) -> dict[str, Any]:
        return {"record": self.record, "line": self.line, "says": self.says, "promise": self.requirement.as_json()}

    def text(self) -> str:
        return f"record {self.record} (line {self.line}): {self.says}: violates {self.requirement.text()}"


@dataclass(frozen=True)
class Validation:
    """The verdict on a log, before it is known of which system and format it is.

    Args:
        nonconformance: the first record that nothing explains, if there is one.
        note: why it is undetermined, or what the reading left out.
        size: the number of records.
        breaks: records that are explained but break what the document properties.
        releases: those that explain the whole log, where the format differs between releases.
    """

    verdict: LogVerdict
    nonconformance: NonconformanceReport | None = None
    note: str = ""
    size: int = 0
    breaks: Sequence[Violation] = ()
    releases: Sequence[str] = ()


@dataclass(frozen=True)
class ValidationReport:
    """The verdict on one trace. ``note`` says why it is undetermined, or that there was nothing to check.

    ``breaks``: what the trace shows against the document's properties, although the model explains it.
    ``shortened``: of a nonconformance, a trace of the plain format (header first) that does not conform for the same reason, and says
    no more than it must; ``excerpt``: in a format of its own, the lines of the log (number, text) that matter. ``error``: what could not be read of the trace, so that the report is on what comes before. ``releases``: where a format differs between releases of its system, those that explain all of the trace.
    ``citations``: the facts that the nonconformance cites, in lines for people.
    """

    system: str
    variant: str
    format: str
    verdict: LogVerdict
    records: int
    first_nonconformance: NonconformanceReport | None = None
    note: str = ""
    breaks: Sequence[Violation] = ()
    releases: Sequence[str] = ()
    shortened: Sequence[Mapping[str, Any]] = ()
    excerpt: Sequence[tuple[int, str]] = ()
    error: str = ""
    citations: Sequence[str] = ()

    @staticmethod
    def of(system: str, variant: str, format: str, found: Validation) -> ValidationReport:
        """The report on a log of ``format``, checked by a variant of a system."""
        return ValidationReport(
            system,
            variant,
            format,
            found.verdict,
            found.size,
            found.nonconformance,
            found.note,
            found.breaks,
            found.releases,
        )

    def until(self, error: str) -> ValidationReport:
        """The report on a trace of which only what comes before ``error`` could be checked: that it conforms is not known then."""
        conforms = self.verdict is LogVerdict.CONFORMS
        verdict = LogVerdict.UNDETERMINED if conforms else self.verdict
        note = f"what could be read ({_records(self.records)}) is explained" if conforms else ""
        return replace(self, verdict=verdict, error=error, note="; ".join(part for part in (note, self.note) if part))

    def as_json(self) -> dict[str, Any]:
        """For ``--json``: variant, verdict, records, and first_departure if there is one."""
        found: dict[str, Any] = {
            "system": self.system,
            "variant": self.variant,
            "format": self.format,
            "verdict": self.verdict.value,
            "records": self.records,
        }
        if self.first_nonconformance:
            found["first_departure"] = self.first_nonconformance.as_json()
        if self.error:
            found["error"] = self.error
        if self.note:
            found["note"] = self.note
        if self.releases:
            found["releases"] = list(self.releases)
        if self.shortened:
            found["shortened"] = list(self.shortened)
        if self.excerpt:
            found["excerpt"] = [{"line": number, "text": text} for number, text in self.excerpt]
        if self.breaks:
            found["broken_promises"] = [b.as_json() for b in self.breaks]
        return found

    def text(self) -> list[str]:
        """The report in lines for people."""
        found = [f"{self.system} {self.variant}: {self.verdict} ({_records(self.records)}, format {self.format})"]
        if self.releases:
            found.append(f"explained by {', '.join(self.releases)}")
        if self.note:
            found.append(self.note)
        if self.first_nonconformance:
            found += self.first_nonconformance.text()
        if self.shortened:
            found.append("the part that matters, as a trace whose last record does not conform:")
            found += ["  " + json.dumps(line) for line in self.shortened]
        if self.excerpt:
            found.append("the lines of the log that matter:")
            found += [
                f"  line {number}: {text if len(text) <= WIDEST else text[:WIDEST] + ' ...'}"
                for number, text in self.excerpt
            ]
        if self.breaks:
            found.append(
                f"properties that the document requires and the trace violates, though the model explains it: {len(self.breaks)}"
            )
            found += [f"  {b.text()}" for b in self.breaks[:MOST_BREAKS]]
            if len(self.breaks) > MOST_BREAKS:
                found.append(f"  and {len(self.breaks) - MOST_BREAKS} more; --json has them all")
        found += self.citations
        return [_printable(line) for line in found]


def _records(number: int) -> str:
    return "1 record" if number == 1 else f"{number} records"


def _printable(text: str) -> str:
    """What a log names may hold anything: a terminal is told no more than what can be read."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _name(value: object) -> str:
    return "none" if value is None else str(value)
