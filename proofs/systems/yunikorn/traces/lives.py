"""Checks the lives of single objects by the releases' tables: which state follows which, by which event.

A log of state changes shows an object's whole state. So a release either explains the log or does not, and no choice
is left to try. The engine's candidates are therefore releases, not states of a model: those whose tables explain the
log so far. An entry that leaves none does not conform.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from schedproof.model.lang import Model
from schedproof.proofs.traces.engine.candidates import Candidates, Nonconformance, Path, Record, step
from schedproof.proofs.traces.reports.report import (
    Candidate,
    Difference,
    LogVerdict,
    NonconformanceReport,
    Requirement,
    Validation,
    Violation,
)

from .properties import broken_by
from .releases import NAMES, STATE_STRINGS, Table

ENDED: Mapping[str, frozenset[str]] = {
    "Application": frozenset({"Completed", "Expired", "Failed", "Rejected"}),
    "ShimApplication": frozenset({"Completed", "Rejected", "Failed", "Killed"}),
    "Task": frozenset({"Completed", "Rejected", "Failed", "Killed"}),
    "Queue": frozenset({"Draining"}),
}
"""States after which another object may have the name."""

RENEWED = frozenset({"ShimNode", "ShimScheduler"})
"""Objects that can be new in any state: a node is removed and added again, a shim is restarted."""

FIRST = {"Queue": "Active", "Node": "there"}


def first(sort: str) -> str:
    """Returns the first state of an object."""
    return FIRST.get(sort, "New")


@dataclass(frozen=True)
class Entry:
    """One state change in a log.

    Args:
        number, line: for messages.
        who: the object; ``sort``: its sort in the model. Together they identify the life.
        source: the state before; "" if the log does not have it.
        event: the event, as the log names it; "" if the log does not have it.
        description: the entry in words, where the states do not describe it well.
        broken: why the entry does not conform in itself.
        only: the releases that write such entries, and why no others; empty for all.
        loops: whether the log has changes to the same state.
        observes: None for a change. Otherwise ``target`` is the current state of the object; True means that the log
            has all changes that led to it.
    """

    number: int
    line: int
    sort: str
    who: str
    target: str
    source: str = ""
    event: str = ""
    description: str = ""
    broken: str = ""
    only: tuple[frozenset[str], str] = (frozenset(), "")
    loops: bool = True
    observes: bool | None = None

    @property
    def says(self) -> str:
        """The entry in a few words."""
        by = f" by {self.event}" if self.event else ""
        change = f"goes from {self.source} to {self.target}{by}" if self.source else f"is {self.target}"
        return self.description or f"{self.who} {change}"


@dataclass(frozen=True)
class LifeRecord(Record[str]):
    """An entry as a record; releases explain it.

    Args:
        source: the state that its object was in; "" if it is unobserved.
    """

    entry: Entry = field(kw_only=True)
    source: str = field(kw_only=True)


@dataclass
class Lives:
    """The entries of a log, explained by the releases whose tables have all of them.

    Args:
        model: the model whose properties are checked.
        tables: the transition tables of the candidate releases.
        entries: in the order of the log.
        left_out: what the reader skipped, for the report.
    """

    model: Model
    tables: Sequence[Table]
    entries: Sequence[Entry]
    left_out: str = ""
    now: dict[tuple[str, str], tuple[str, int]] = field(default_factory=dict)
    """(sort, who) -> the state, and the line that has it."""
    excluded: dict[str, tuple[int, str]] = field(default_factory=dict)
    """Release -> the line that excludes it, and why; without the releases that write no such entries."""
    middle: dict[str, str] = field(default_factory=dict)
    """Objects whose first entry is in the middle of their lives -> their state in it."""

    def check(self) -> Validation:
        """Returns the verdict on all entries."""
        candidates, breaks = Candidates(tuple(t.name for t in self.tables)), list[Violation]()
        nonconformance, releases = None, tuple[str, ...]()
        for entry in self.entries:
            record = self.record(entry)
            after = step(candidates, record)
            if isinstance(after, Nonconformance):
                nonconformance = self.nonconformance(record, self.named(candidates.states))
                break
            breaks += record.breaks(candidates.states, after.states)
            self.goes_on(record, [t for t in self.named(candidates.states) if t.name not in after.states])
            candidates = after
        if nonconformance is None:
            releases = tuple(name for name in candidates.states if name in NAMES)
        verdict = LogVerdict.CONFORMS if nonconformance is None else LogVerdict.VIOLATES
        notes = "; ".join(part for part in (self.met(), self.left_out) if part)
        return Validation(verdict, nonconformance, notes, len(self.entries), tuple(breaks), releases)

    def named(self, names: Sequence[str]) -> list[Table]:
        """Returns the tables of the named releases."""
        return [table for table in self.tables if table.name in names]

    def met(self) -> str:
        """Returns a note on the objects whose first entry is in the middle of their lives."""
        shown = [f"{who} in {state}" for who, state in list(self.middle.items())[:3]]
        more = f" and {len(self.middle) - 3} more" if len(self.middle) > 3 else ""
        return f"the log begins when lives have begun: {', '.join(shown)}{more}" if shown else ""

    def record(self, entry: Entry) -> LifeRecord:
        """Returns the entry as a record; a release explains it if its table does and the log does not contradict it."""

        def record(source: str, broken: str = "") -> LifeRecord:
            def successors(release: str) -> Iterator[Path]:
                if not self.against(self.named([release])[0], entry, source):
                    yield Path((), release)

            return LifeRecord(
                entry.number,
                entry.line,
                entry.says,
                successors,
                broken=broken,
                breaks=lambda before, after: self.broken_by(entry, source),
                entry=entry,
                source=source,
            )

        if entry.broken:
            return record(entry.source, entry.broken)
        state, line = self.now.get((entry.sort, entry.who), ("", 0))
        if entry.observes:
            state = state or first(entry.sort)
        source = entry.source or state
        if state and self.begins_anew(entry, state):
            state, source = "", entry.source
        if state and source != state:
            return record(state, f"{entry.says}: {entry.who} is {state} since line {line}, not {source}")
        if entry.observes and entry.target != state:
            ends = f"its stateLog ends with {state}" if line else f"an empty stateLog leaves it {state}"
            return record("", f"{entry.says}, but {ends}")
        if not state and source and source != first(entry.sort):
            self.middle.setdefault(entry.who, source)
        return record(source)

    def goes_on(self, record: LifeRecord, excluded: Sequence[Table]) -> None:
        """Records the object's new state, and the releases that the entry excludes."""
        entry = record.entry
        for table in excluded:
            if not self.writes_other(table, entry):
                self.excluded[table.name] = (entry.line, self.against(table, entry, record.source))
        if entry.sort == "ShimScheduler" and entry.source == "New":
            # A new process of the shim: it has lost its records.
            self.now = {k: v for k, v in self.now.items() if not (k[0] == "Task" or k[0].startswith("Shim"))}
        self.now[entry.sort, entry.who] = (entry.target, entry.line)

    def broken_by(self, entry: Entry, source: str) -> list[Violation]:
        """Returns the document's properties that the entry violates."""
        if not source or source == entry.target:
            return []
        says = f"{entry.who} goes from {source} to {entry.target}"
        requirements = broken_by(self.model, entry.sort, _plain(entry.sort, source), _plain(entry.sort, entry.target))
        return [Violation(entry.number, entry.line, says, requirement) for requirement in requirements]

    def begins_anew(self, entry: Entry, state: str) -> bool:
        """True if the entry is about another object of the same name."""
        begins = (entry.source or entry.target) == first(entry.sort) and entry.observes is None
        return begins and (entry.sort in RENEWED or state in ENDED.get(entry.sort, ()))

    def writes_other(self, table: Table, entry: Entry) -> bool:
        """True if logs of this release have no such entries."""
        return bool(entry.only[0]) and table.name in NAMES and table.name not in entry.only[0]

    def against(self, table: Table, entry: Entry, source: str) -> str:
        """Returns why the entry cannot be in a log of this release; "" if it can."""
        if self.writes_other(table, entry):
            return entry.only[1]
        if entry.observes is not None:
            return ""
        source, target = _plain(entry.sort, source), _plain(entry.sort, entry.target)
        for state in (source, target):
            if state and not table.knows(entry.sort, state):
                has_machine = any(key[0] == entry.sort for key in table.rows)
                return f"there is no state {state}" if has_machine else "there is no such machine"
        if not source:
            return ""
        if source == target and not entry.loops:
            return f"{entry.who} was {target} already, and an event that changes no state is not logged"
        events = table.events(entry.sort, source, target)
        if entry.event and entry.event not in events:
            leads = table.leaving(entry.sort, source).get(entry.event)
            return f"{entry.event} takes {source} to {leads}" if leads else f"{entry.event} has no row from {source}"
        return "" if events else f"no event takes {source} to {target}"

    def reason(self, record: LifeRecord, tables: Sequence[Table]) -> str:
        """Returns why no release is left: how each of the last contradicts the entry, and what excluded the others."""
        refused: dict[str, list[str]] = {}
        for table in tables:
            refused.setdefault(self.against(table, record.entry, record.source), []).append(table.name)
        several = len(self.tables) > 1
        parts = [f"{why} ({', '.join(names)})" if several else why for why, names in refused.items()]
        excluded: dict[tuple[int, str], list[str]] = {}
        for name, where in self.excluded.items():
            excluded.setdefault(where, []).append(name)
        parts += [f"{', '.join(names)} is excluded since line {line}: {why}" for (line, why), names in excluded.items()]
        return f"{record.says}: {'; '.join(parts)}"

    def nonconformance(self, record: LifeRecord, tables: Sequence[Table]) -> NonconformanceReport:
        """Returns the nonconformance, with what the tables allow instead.

        Args:
            record: the first nonconforming record.
            tables: the tables that explain all records before it.
        """
        entry, source = record.entry, record.source
        document = self.model.document.name
        requirements: list[Requirement] = []
        if source and source != entry.target:
            requirements = broken_by(
                self.model, entry.sort, _plain(entry.sort, source), _plain(entry.sort, entry.target)
            )
        possible: dict[str, str] = {}
        for table in tables:
            possible |= table.leaving(entry.sort, _plain(entry.sort, source)) if source else {}
        candidates = [
            Candidate(
                [f"{event} on {entry.who}"],
                {entry.sort: {entry.who: {"state": after}}},
                [Difference(entry.who, "state", after, entry.target)] if after != entry.target else [],
                [] if after != entry.target else [Requirement(None, f"the log says {entry.event}", document, None)],
                None,
            )
            for event, after in sorted(possible.items(), key=lambda row: row[1] != entry.target)[:3]
            if after != entry.target or (entry.event and event != entry.event)
        ]
        reason = record.broken or self.reason(record, tables)
        return NonconformanceReport(entry.number, entry.line, reason, requirements, candidates)


def _plain(sort: str, state: str) -> str:
    """The name of a state in the model."""
    return STATE_STRINGS.get(sort, {}).get(state, state)
