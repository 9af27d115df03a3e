"""Lives of single objects, judged by transition tables: which state follows which, by which event, in which release.

A log of state changes says all of an object's state, so that a release either explains the log or does
not, and no choice is left to try. What the engine does with states of a whole model is done here
with the releases whose tables explain the log so far: an entry that leaves none departs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from schedproof.model.lang import Model
from schedproof.proofs.traces.engine.candidates import Judgement
from schedproof.proofs.traces.formats.format import Judged
from schedproof.proofs.traces.reports.report import (
    BrokenPromise,
    Candidate,
    Departure,
    Difference,
    OracleVerdict,
    Promise,
)

from .promises import broken_by
from .releases import NAMES, STATE_STRINGS, Table

ENDED: Mapping[str, frozenset[str]] = {
    "Application": frozenset({"Completed", "Expired", "Failed", "Rejected"}),
    "ShimApplication": frozenset({"Completed", "Rejected", "Failed", "Killed"}),
    "Task": frozenset({"Completed", "Rejected", "Failed", "Killed"}),
    "Queue": frozenset({"Draining"}),
}
"""States after which the name of an object may come again, for another one."""

RENEWED = frozenset({"ShimNode", "ShimScheduler"})
"""What may be made anew in any state: a node is taken away and added again, a shim is restarted."""

FIRST = {"Queue": "Active", "Node": "there"}


def first(sort: str) -> str:
    """Where a life begins."""
    return FIRST.get(sort, "New")


@dataclass(frozen=True)
class Entry:
    """One state change as a log tells it.

    Args:
        number, line: for messages.
        who: the object; ``sort``: its sort in the model. Together they say which life goes on.
        source: the state before; "" if the log does not tell it.
        event: what happened, as the log calls it; "" if it does not tell.
        told: the entry in words, where the states do not say it well.
        broken: the entry departs in itself, for this reason.
        only: the releases that can write such an entry, and why only they; empty for all.
        loops: whether a change to the same state is told at all.
        observes: None for a change; else ``target`` is the state that the object is in, and True says that
            the log has told all that led to it.
    """

    number: int
    line: int
    sort: str
    who: str
    target: str
    source: str = ""
    event: str = ""
    told: str = ""
    broken: str = ""
    only: tuple[frozenset[str], str] = (frozenset(), "")
    loops: bool = True
    observes: bool | None = None

    @property
    def says(self) -> str:
        """The entry in a few words."""
        by = f" by {self.event}" if self.event else ""
        change = f"goes from {self.source} to {self.target}{by}" if self.source else f"is {self.target}"
        return self.told or f"{self.who} {change}"


@dataclass
class Lives:
    """The objects of a log as far as it is read, and the releases that explain it so far."""

    model: Model
    tables: Sequence[Table]
    now: dict[tuple[str, str], tuple[str, int]] = field(default_factory=dict)
    """(sort, who) -> the state, and the line that told it."""
    excluded: dict[str, tuple[int, str]] = field(default_factory=dict)
    """Release -> the line that excludes it, and why."""
    breaks: list[BrokenPromise] = field(default_factory=list)
    other_writers: set[str] = field(default_factory=set)
    """The releases that are excluded because they do not write such entries at all."""
    middle: dict[str, str] = field(default_factory=dict)
    """Objects that the log meets in the middle of their lives -> in which state."""

    @property
    def left(self) -> list[Table]:
        """The releases that explain everything so far."""
        return [t for t in self.tables if t.name not in self.excluded]

    def judge(self, entries: Iterable[Entry], note: str = "") -> Judged:
        """The verdict on all ``entries``."""
        size, departure = 0, None
        for entry in entries:
            size += 1
            departure = departure or self.goes_on(entry)
        verdict = OracleVerdict.CONFORMS if departure is None else OracleVerdict.DEPARTS
        releases = tuple(t.name for t in self.left if t.name in NAMES) if departure is None else ()
        notes = "; ".join(part for part in (self.met(), note) if part)
        return Judged(Judgement(verdict, departure), size, notes, tuple(self.breaks), releases)

    def met(self) -> str:
        """Which objects were met in the middle of their lives."""
        shown = [f"{who} in {state}" for who, state in list(self.middle.items())[:3]]
        more = f" and {len(self.middle) - 3} more" if len(self.middle) > 3 else ""
        return f"the log begins when lives have begun: {', '.join(shown)}{more}" if shown else ""

    def goes_on(self, entry: Entry) -> Departure | None:
        """Takes the entry, unless nothing explains it."""
        if entry.broken:
            return self.departure(entry, entry.source, entry.broken)
        key = (entry.sort, entry.who)
        state, told = self.now.get(key, ("", 0))
        if entry.observes:
            state = state or first(entry.sort)
        source = entry.source or state
        if state and self.begins_anew(entry, state):
            state, source = "", entry.source
        if state and source != state:
            why = f"{entry.who} is {state} since line {told}, not {source}"
            return self.departure(entry, state, f"{entry.says}: {why}")
        if entry.observes and entry.target != state:
            ends = f"its stateLog ends with {state}" if told else f"an empty stateLog leaves it {state}"
            return self.departure(entry, "", f"{entry.says}, but {ends}")
        if not state and source and source != first(entry.sort):
            self.middle.setdefault(entry.who, source)
        before, candidates = dict(self.excluded), self.left
        for table in candidates:
            if why := self.against(table, entry, source):
                self.excluded[table.name] = (entry.line, why)
        if not self.left:
            return self.departure(entry, source, self.reason(entry, before, candidates), candidates)
        if source and source != entry.target:
            says = f"{entry.who} goes from {source} to {entry.target}"
            self.breaks += [
                BrokenPromise(entry.number, entry.line, says, p)
                for p in broken_by(self.model, entry.sort, _plain(entry.sort, source), _plain(entry.sort, entry.target))
            ]
        if entry.sort == "ShimScheduler" and entry.source == "New":
            # A new process of the shim: what it knew is gone.
            self.now = {k: v for k, v in self.now.items() if not (k[0] == "Task" or k[0].startswith("Shim"))}
        self.now[key] = (entry.target, entry.line)
        return None

    def begins_anew(self, entry: Entry, state: str) -> bool:
        """The entry speaks of another object of the same name."""
        begins = (entry.source or entry.target) == first(entry.sort) and entry.observes is None
        return begins and (entry.sort in RENEWED or state in ENDED.get(entry.sort, ()))

    def against(self, table: Table, entry: Entry, source: str) -> str:
        """Why the entry cannot be in a log of this release; "" if it can."""
        known, because = entry.only
        if known and table.name in NAMES and table.name not in known:
            self.other_writers.add(table.name)
            return because
        if entry.observes is not None:
            return ""
        source, target = _plain(entry.sort, source), _plain(entry.sort, entry.target)
        for state in (source, target):
            if state and not table.knows(entry.sort, state):
                there = any(key[0] == entry.sort for key in table.rows)
                return f"there is no state {state}" if there else "there is no such machine"
        if not source:
            return ""
        if source == target and not entry.loops:
            return f"{entry.who} was {target} already, and an event that changes no state is not logged"
        events = table.events(entry.sort, source, target)
        if entry.event and entry.event not in events:
            leads = table.leaving(entry.sort, source).get(entry.event)
            return f"{entry.event} takes {source} to {leads}" if leads else f"{entry.event} has no row from {source}"
        return "" if events else f"no event takes {source} to {target}"

    def reason(self, entry: Entry, before: Mapping[str, tuple[int, str]], candidates: Sequence[Table]) -> str:
        """Why no release is left: what the last ones have against the entry, and where the others went."""
        refused: dict[str, list[str]] = {}
        for table in candidates:
            refused.setdefault(self.excluded[table.name][1], []).append(table.name)
        several = len(self.tables) > 1
        parts = [f"{why} ({', '.join(names)})" if several else why for why, names in refused.items()]
        gone: dict[tuple[int, str], list[str]] = {}
        for name, where in before.items():
            if name not in self.other_writers:
                gone.setdefault(where, []).append(name)
        parts += [f"{', '.join(names)} is excluded since line {line}: {why}" for (line, why), names in gone.items()]
        return f"{entry.says}: {'; '.join(parts)}"

    def departure(self, entry: Entry, source: str, reason: str, tables: Sequence[Table] = ()) -> Departure:
        """The departure, with what could have happened instead by ``tables``, or by those that are left."""
        document = self.model.document.name
        promises: list[Promise] = []
        if source and source != entry.target:
            promises = broken_by(self.model, entry.sort, _plain(entry.sort, source), _plain(entry.sort, entry.target))
        possible: dict[str, str] = {}
        for table in tables or self.left:
            possible |= table.leaving(entry.sort, _plain(entry.sort, source)) if source else {}
        candidates = [
            Candidate(
                [f"{event} on {entry.who}"],
                {entry.sort: {entry.who: {"state": after}}},
                [Difference(entry.who, "state", after, entry.target)] if after != entry.target else [],
                [] if after != entry.target else [Promise(None, f"the log says {entry.event}", document, None)],
                None,
            )
            for event, after in sorted(possible.items(), key=lambda row: row[1] != entry.target)[:3]
            if after != entry.target or (entry.event and event != entry.event)
        ]
        return Departure(entry.number, entry.line, reason, promises, candidates)


def _plain(sort: str, state: str) -> str:
    """A state by its name in the model."""
    return STATE_STRINGS.get(sort, {}).get(state, state)
