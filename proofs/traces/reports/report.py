"""The report of trace validation: the verdict, and why no candidate explains a record."""

from __future__ import annotations

import enum
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from schedproof.model.semantics.reasons import Counted, value_text

WIDEST = 160
"""The limit for the characters of a log line that are shown."""

MOST_BREAKS = 20
"""The limit for the violated properties that are shown in words."""


NOTHING = "the log has no records, so nothing was checked"
"""The note on an empty trace."""


class LogVerdict(enum.StrEnum):
    """The verdict on a log. Undetermined never counts as conforming."""

    CONFORMS = "conforms"
    VIOLATES = "violates"
    UNDETERMINED = "undetermined"


@dataclass(frozen=True)
class Requirement:
    """A violated requirement: a property of the model, or (``property`` None) a guard, a table or a rule of the format.

    Attributes:
        property: the name of the property, or None.
        says: the requirement in words.
        document: the name of the document.
        line: its line in the document; None if it has none.
        sentence: the document's sentence, word for word.
        objects: the objects with which a guard does not hold.
    """

    property: str | None
    says: str
    document: str
    line: int | None
    sentence: str = ""
    objects: Sequence[str] = field(default=(), compare=False)

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
        return f"{self.property + ', which requires: ' if self.property else ''}{self.says}{where}{quote}"


@dataclass(frozen=True)
class Difference:
    """A field whose value in the model differs from the observed one.

    Attributes:
        object: the name of the object.
        field: "state", or the name of an attribute.
        model: the value in the model.
        observed: the value in the log.
    """

    object: str
    field: str
    model: Any
    observed: Any

    def as_json(self) -> dict[str, Any]:
        return {"object": self.object, "field": self.field, "model": self.model, "observed": self.observed}

    def text(self) -> str:
        return (
            f"{self.object}.{self.field} is {value_text(self.model)} in the model, {value_text(self.observed)} observed"
        )


@dataclass(frozen=True)
class Candidate:
    """An attempt to explain a record.

    Attributes:
        steps: the steps that were tried, in words.
        state: the state that they reach.
        differs: its differences from the record.
        refused: what forbids the steps; empty if the model allows them, and only the differences refute them.
        requirement: what the differences violate, if anything.
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
        lines = [f"tried: {'; '.join(self.steps) or 'no step'}"]
        lines += [f"  not possible: {r.text()}" for r in self.refused]
        lines += [f"  {d.text()}" for d in self.differs]
        if self.requirement and self.requirement not in self.refused:
            lines.append(f"  {'violates' if self.requirement.property else 'but'} {self.requirement.text()}")
        return lines


@dataclass(frozen=True)
class Origin:
    """The record since which every explanation of the log has the values of some fields.

    Attributes:
        record: its number; 0 for the start of the log.
        line: its line in the file.
        says: the record in words; "" if the values are older than this record, and their record is no longer known.
        fields: the fields, as ``object.field``.
    """

    record: int
    line: int
    says: str
    fields: Sequence[str]

    def as_json(self) -> dict[str, Any]:
        return {"record": self.record, "line": self.line, "says": self.says, "fields": list(self.fields)}

    def text(self) -> str:
        says = f", {self.says}" if self.record and self.says else ""
        return f"{self.when}{says}: {', '.join(self.fields)}"

    @property
    def when(self) -> str:
        """The record in words: ``since record 3 (line 5)``."""
        if not self.record:
            return "since the start"
        return f"since {'' if self.says else 'before '}record {self.record} (line {self.line})"


@dataclass(frozen=True)
class FieldSince:
    """A field that a condition reads, and the record since which every explanation of the log has its value.

    Attributes:
        object: the name of the object.
        field: "state", or the name of an attribute.
        value: its value before the record.
        since: where the value comes from; None if that is unknown.
    """

    object: str
    field: str
    value: Any
    since: Origin | None = None

    def as_json(self) -> dict[str, Any]:
        since = {"record": self.since.record, "line": self.since.line} if self.since is not None else None
        return {"object": self.object, "field": self.field, "value": self.value, "since": since}

    def text(self) -> str:
        since = "" if self.since is None else f" {self.since.when}"
        return f"{self.object}.{self.field} is {value_text(self.value)}{since}"


@dataclass(frozen=True)
class Way:
    """An action that could have fired an event, and why it did not.

    Attributes:
        step: the action with the parameters that meet the most conditions, in words.
        rules: the rules by which it fires the event, in their order; none if it fires the event itself.
        rule: the rule whose condition is false; "" for a condition of the action.
        needs: the first condition that is false, in words; "" if none is.
        reads: the fields that the condition reads.
        objects: the variables of the condition, with their values.
        note: if no condition is false: what the step does that the record does not show; else whether others may be closer.
        others: how many more conditions are false for these values, after the first.
        place: the file and line of the condition; of a way without a false one, those of the action.
        line: the line of the action or rule in the document; None if it has none.
        counted: what the counts of the condition count, in their order.
    """

    step: str
    rules: Sequence[str]
    rule: str
    needs: str
    reads: Sequence[FieldSince]
    objects: Mapping[str, Any]
    note: str
    others: int
    place: str
    line: int | None
    counted: Sequence[Counted] = ()

    def as_json(self) -> dict[str, Any]:
        return {
            "step": self.step,
            "rules": list(self.rules),
            "rule": self.rule,
            "needs": self.needs,
            "reads": [read.as_json() for read in self.reads],
            "objects": dict(self.objects),
            "counted": [each.as_json() for each in self.counted],
            "note": self.note,
            "others": self.others,
            "place": self.place,
            "line": self.line,
        }

    def text(self) -> str:
        whose = f" by the rule {self.rules[-1]!r}" if self.rules and not self.rule else ""
        whose = f", whose rule {self.rule!r}" if self.rule else whose
        if not self.needs:
            return f"{self.step}{whose} {self.note}"
        read = "; ".join([*(each.text() for each in self.reads), *(each.text() for each in self.counted)])
        for_these = ", ".join(f"{name} = {value_text(value)}" for name, value in self.objects.items())
        because = f": {read}" if read else f" ({for_these})" if for_these else ""
        more = f", and {self.others} more condition{'s' if self.others > 1 else ''}" if self.others else ""
        note = f"; {self.note}" if self.note else ""
        return f"{self.step}{whose} needs {self.needs}{because}{more} ({self.place}{note})"


@dataclass(frozen=True)
class ExplainingRow:
    """A row of a table that would explain a change.

    Attributes:
        row: its event and the state that it leads from.
        place: its file and line.
        line: its line in the document; None if it has none.
        ways: what could have fired it, the closest first.
        others: how many ways are not shown.
    """

    row: str
    place: str
    line: int | None
    ways: Sequence[Way]
    others: int = 0

    def as_json(self) -> dict[str, Any]:
        ways = [way.as_json() for way in self.ways]
        return {"row": self.row, "place": self.place, "line": self.line, "ways": ways, "others": self.others}

    def text(self) -> list[str]:
        lines = [f"row {self.row} ({self.place})" + (":" if self.ways else ", which no action fires")]
        lines += [f"  {way.text()}" for way in self.ways]
        return [*lines, *([f"  and {self.others} more"] if self.others else [])]


@dataclass(frozen=True)
class UnexplainedChange:
    """A change that a record shows and its closest steps do not make.

    Attributes:
        object: the name of the object.
        field: "state", or the name of an attribute.
        before: the value before the record, in the model.
        observed: the value in the log.
        rows: the rows that would explain the change.
        without: if no row would: what the table has instead.
    """

    object: str
    field: str
    before: Any
    observed: Any
    rows: Sequence[ExplainingRow]
    without: str = ""

    def as_json(self) -> dict[str, Any]:
        return {
            "object": self.object,
            "field": self.field,
            "before": self.before,
            "observed": self.observed,
            "rows": [row.as_json() for row in self.rows],
            "without": self.without,
        }

    def text(self) -> list[str]:
        return explained([self])

    def body(self) -> list[str]:
        """What would explain it, line by line; what the table has instead, if nothing would."""
        return [line for row in self.rows for line in row.text()] or [self.without]

    def is_like(self, other: UnexplainedChange) -> bool:
        """Whether the other is the same change of another object, and the same would explain it there."""
        if (self.field, self.before, self.observed) != (other.field, other.before, other.observed):
            return False
        return self.body() == other.body() or self._without_name() == other._without_name()

    def _without_name(self) -> str:
        return re.sub(rf"(?<!\w){re.escape(self.object)}(?!\w)", "", "\n".join(self.body()))


def explained(changes: Sequence[UnexplainedChange]) -> list[str]:
    """What would explain changes; several objects with the same have one block."""
    groups: list[list[UnexplainedChange]] = []
    for change in changes:
        alike = next((group for group in groups if group[0].is_like(change)), None)
        if alike is None:
            groups.append([change])
        else:
            alike.append(change)
    lines = []
    for group in groups:
        first, *others = group
        same = [each for each in others if each.body() == first.body()]
        named = " and ".join(f"{each.object}.{first.field}" for each in (first, *same))
        title = f"{named} from {value_text(first.before)} to {value_text(first.observed)}"
        if first.rows:
            lines += [f"what would explain {title}:", *(f"  {line}" for line in first.body())]
        else:
            lines.append(f"nothing would explain {title}: {first.without}")
        if accordingly := [each.object for each in others if each not in same]:
            lines.append(f"  the same for {' and '.join(accordingly)}, in place of {first.object}")
    return lines


@dataclass(frozen=True)
class NonconformanceReport:
    """The first record that no sequence of model steps explains.

    Attributes:
        record: the number of the record.
        line: its line in the file.
        reason: why nothing explains it, in words.
        requirements: the invariants of the model that the observed state violates. What it does not show is as the
            closest steps leave it in the model.
        candidates: the closest attempts to explain it.
        before: a model state before the record, for the objects concerned: object -> field -> value.
        origins: the records that brought these objects into that state, as far as they are known.
        if_taken: if the model forbids the closest step: further invariants that the state after it would violate.
        unexplained: the changes that the record shows and the closest steps do not make, with the rows that would explain
            them, and of each action that could have fired these the first condition that was false.
    """

    record: int
    line: int
    reason: str
    requirements: Sequence[Requirement] = ()
    candidates: Sequence[Candidate] = ()
    before: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    origins: Sequence[Origin] = ()
    if_taken: Sequence[Requirement] = ()
    unexplained: Sequence[UnexplainedChange] = ()

    def with_origins(self, of: Callable[[Mapping[str, Mapping[str, Any]]], Sequence[Origin]]) -> NonconformanceReport:
        """This report, with the records that the values before the record come from.

        Args:
            of: the origins of fields: object -> field -> value.
        """
        read: dict[str, dict[str, Any]] = {}
        for way in self._ways():
            for each in way.reads:
                read.setdefault(each.object, {})[each.field] = each.value
        since = {name: origin for origin in of(read) for name in origin.fields}

        def placed(way: Way) -> Way:
            return replace(way, reads=[replace(r, since=since.get(f"{r.object}.{r.field}")) for r in way.reads])

        changes = [
            replace(change, rows=[replace(row, ways=list(map(placed, row.ways))) for row in change.rows])
            for change in self.unexplained
        ]
        return replace(self, origins=of(self.before), unexplained=changes)

    def _ways(self) -> Iterator[Way]:
        return (way for change in self.unexplained for row in change.rows for way in row.ways)

    def as_json(self) -> dict[str, Any]:
        return {
            "record": self.record,
            "line": self.line,
            "reason": self.reason,
            "promises": [p.as_json() for p in self.requirements],
            "promises_if_taken": [p.as_json() for p in self.if_taken],
            "candidates": [c.as_json() for c in self.candidates],
            "before": self.before,
            "origins": [o.as_json() for o in self.origins],
            "unexplained": [change.as_json() for change in self.unexplained],
        }

    def text(self) -> list[str]:
        lines = [f"record {self.record} (line {self.line}): {self.reason}"]
        if objects := [f"{name}: {_fields(fields)}" for name, fields in self.before.items() if fields]:
            lines.append(f"  state before it, in the model: {'; '.join(objects)}")
            lines += ["    " + origin.text() for origin in self.origins]
        lines += [f"the observed state violates {p.text()}" for p in self.requirements]
        lines += [f"the forbidden step would violate {p.text()}" for p in self.if_taken]
        for candidate in self.candidates:
            lines += ["  " + line for line in candidate.text()]
        return [*lines, *("  " + line for line in explained(self.unexplained))]


@dataclass(frozen=True)
class Violation:
    """A record that conforms to the model, but violates a property that the document requires.

    Attributes:
        record: the number of the record.
        line: its line in the file.
        says: the record in a few words.
        requirement: the violated property.
    """

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
    """The verdict on a log, without its system and format.

    Args:
        verdict: the verdict.
        nonconformance: the first record that nothing explains, if there is one.
        note: why the verdict is undetermined, or what the reading left out.
        size: the number of records.
        breaks: the records that the model explains, but that violate a property of the document.
        releases: the releases that explain the whole log, if the format differs between releases.
    """

    verdict: LogVerdict
    nonconformance: NonconformanceReport | None = None
    note: str = ""
    size: int = 0
    breaks: Sequence[Violation] = ()
    releases: Sequence[str] = ()


@dataclass(frozen=True)
class ValidationReport:
    """The verdict on one trace.

    Attributes:
        system: the name of the system.
        variant: the variant that checked the trace.
        format: the name of the format.
        verdict: the verdict.
        records: the number of records.
        first_nonconformance: the first record that nothing explains, if there is one.
        note: why the verdict is undetermined, or that there was nothing to check.
        breaks: the records that the model explains, but that violate a property of the document; empty in the formats
            that check no properties, as the plain one.
        releases: the releases that explain the whole trace, if its format differs between releases.
        shortened: for a nonconformance, a short plain trace (header first) that does not conform for the same reason.
        excerpt: for a nonconformance, lines of the log (number, text): in a format of one system, the relevant ones; with a
            mapping, the line of the record.
        error: the part of the trace that could not be read; the report is on the records before it.
        citations: the facts that the nonconformance cites, in lines for people.
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
    def of(system: str, variant: str, format: str, validation: Validation) -> ValidationReport:
        """The report on a log of ``format``, checked by a variant of a system."""
        return ValidationReport(
            system,
            variant,
            format,
            validation.verdict,
            validation.size,
            validation.nonconformance,
            validation.note,
            validation.breaks,
            validation.releases,
        )

    def at_end(self) -> ValidationReport:
        """The report on a log that is complete. "Conforms" becomes "undetermined" if nothing was checked."""
        empty = self.verdict is LogVerdict.CONFORMS and not self.records
        return replace(self, verdict=LogVerdict.UNDETERMINED) if empty else self

    def until(self, error: str) -> ValidationReport:
        """The report on a trace that can only be checked up to ``error``. "Conforms" becomes "undetermined"."""
        conforms = self.verdict is LogVerdict.CONFORMS
        verdict = LogVerdict.UNDETERMINED if conforms else self.verdict
        note = "all records before it conform" if conforms and self.records else ""
        return replace(self, verdict=verdict, error=error, note="; ".join(part for part in (note, self.note) if part))

    def as_json(self) -> dict[str, Any]:
        """The report as ``validate --json`` prints it."""
        content: dict[str, Any] = {
            "system": self.system,
            "variant": self.variant,
            "format": self.format,
            "verdict": self.verdict.value,
            "records": self.records,
        }
        if self.first_nonconformance:
            content["first_departure"] = self.first_nonconformance.as_json()
        if self.error:
            content["error"] = self.error
        if self.note:
            content["note"] = self.note
        if self.releases:
            content["releases"] = list(self.releases)
        if self.shortened:
            content["shortened"] = list(self.shortened)
        if self.excerpt:
            content["excerpt"] = [{"line": number, "text": text} for number, text in self.excerpt]
        if self.breaks:
            content["broken_promises"] = [b.as_json() for b in self.breaks]
        return content

    def _reached(self) -> str:
        """The verdict and how far it reaches, in words."""
        if self.error and self.verdict is LogVerdict.UNDETERMINED:
            after = f"what follows {_records(self.records)}"
            why = f"{after} could not be checked" if self.records else "nothing could be checked"
            return f"undetermined, because {why} (format {self.format})"
        if self.first_nonconformance is None:
            return f"{self.verdict} ({_records(self.records)}, format {self.format})"
        number = self.first_nonconformance.record
        read = f" of {self.records}" if self.records > number else ""
        return f"{self.verdict} at record {number}{read} (format {self.format})"

    def text(self, *, error: bool = True) -> list[str]:
        """The report in lines for people; without ``error``, the error of a wrong line is left out."""
        lines = [f"{self.system} {self.variant}: {self._reached()}"]
        if self.releases:
            lines.append(f"explained by {', '.join(self.releases)}")
        if self.error and error:
            lines.append(self.error)
        if self.note:
            lines.append(self.note)
        shown = [
            f"line {number}: {text if len(text) <= WIDEST else text[:WIDEST] + ' ...'}" for number, text in self.excerpt
        ]
        if self.first_nonconformance:
            first, *others = self.first_nonconformance.text()
            itself = [number for number, _ in self.excerpt] == [self.first_nonconformance.line]
            lines += [first, *(f"  the log, {line}" for line in shown if itself), *others]
            shown = [] if itself else shown
        if self.shortened:
            lines.append("the part that matters, as a trace whose last record does not conform:")
            lines += ["  " + json.dumps(line) for line in self.shortened]
        if shown:
            lines += ["the lines of the log that matter:", *(f"  {line}" for line in shown)]
        if self.breaks:
            lines.append(
                f"properties that the document requires and the trace violates, though the model explains it: {len(self.breaks)}"
            )
            lines += [f"  {b.text()}" for b in self.breaks[:MOST_BREAKS]]
            if len(self.breaks) > MOST_BREAKS:
                lines.append(f"  and {len(self.breaks) - MOST_BREAKS} more; --json has them all")
        lines += self.citations
        return [printable(line) for line in lines]


def _records(number: int) -> str:
    return "1 record" if number == 1 else f"{number} records"


def printable(text: str) -> str:
    """Escapes unprintable characters: a log may contain control sequences for the terminal."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _fields(fields: Mapping[str, Any]) -> str:
    return ", ".join(f"{field} {value_text(value)}" for field, value in fields.items())
