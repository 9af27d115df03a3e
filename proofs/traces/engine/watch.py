"""Records of the plain format, judged as they come: of any system, for as long as it runs.

What is kept are the model states that explain the trace so far, and the records since they were last one alone. Neither
grows with the trace; nor does the number of objects, where the model lets those be forgotten that have ended.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from schedproof.model.lang import Model, Ref, SetOf
from schedproof.model.registry.system import System
from schedproof.model.semantics import State, Stepper
from schedproof.proofs.traces.files.lines import Line
from schedproof.proofs.traces.files.schema import Shape
from schedproof.proofs.traces.formats.headers import read_header
from schedproof.proofs.traces.formats.records import Reader, Unlogged
from schedproof.proofs.traces.reports.report import NOTHING, OracleReport, OracleVerdict

from .appearing import Appearing
from .candidates import MOST_STATES, Judge, Judgement, TooManyStates
from .collected_names import Gone
from .fast_path import Quick, Taken
from .object_gc import forgettable
from .objects import World
from .steps import Steps, Wanted
from .unobserved import noticing

SCHEMA = Path(__file__).parents[1] / "formats" / "plain.schema.json"

MOST_SHAPES = 64
"""Numbers of objects, and rigid attributes, whose steps are kept for when they come back."""

MOST_SINCE = 200
"""Records kept to tell which of them matter; beyond that, the states that explain all of them take their place."""

MOST_STARTS = 200
"""States that may take their place; if there are more, it is not told which records matter."""


@dataclass(frozen=True)
class Since:
    """Where the trace is explained by few states, and the records since then."""

    world: World
    states: Sequence[State]
    records: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True)
class Allowed:
    """The next events that some state allows which explains everything so far, as records of the plain format.

    ``complete``: these are all.
    """

    events: Sequence[Mapping[str, Any]]
    complete: bool


class Watch:
    """A trace of the plain format, judged record by record.

    Args:
        system: the system that the trace is of.
        model: the variant that judges it; None for the one that the header names, or else the system's.
        header: as README.md and plain.schema.json have it, with its place if it has one.
        limit: more states than this that explain the trace so far: undetermined.
        source: the name of the records' file, for messages; "" if they come from elsewhere.
        format: the format that they come in, for the report.

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
        source: str = "",
        format: str = "schedproof",
    ) -> None:
        first = header if isinstance(header, Line) else Line("", 0, header)
        _shape("header").check(first)
        self.system, self.format, self._source = system, format, source
        self.model = model or _variant(system, first)
        said = read_header(self.model, first)
        self.world, self._open_sorts, self._unlogged = said.world, said.open, said.unlogged
        self._shapes: OrderedDict[object, _Steps] = OrderedDict()
        self._judge = Judge(self.world.instance, said.starts, limit)
        self._gone = Gone()
        self._time: float | datetime | None = None
        self._unsaid = False
        self._noticing = noticing(self.model, self._open_sorts)
        self._since: Since | None = Since(self.world, said.starts)
        self._mark()
        self.records = 0
        self._enter(self.world)

    @property
    def judgement(self) -> Judgement:
        """The verdict on everything so far."""
        return self._judge.judgement

    @property
    def open(self) -> bool:
        """Everything so far is explained: only then are further records judged."""
        return self._judge.open

    def take(self, record: Mapping[str, Any], line: int = 0) -> Judgement:
        """Judges one more record.

        Once the verdict is not "conforms", it stays.

        Args:
            record: as README.md and plain.schema.json have it.
            line: the number of its line, for messages; by default, of the record.

        Raises:
            TraceError: it is no record. Nothing has changed then, and another may follow.
        """
        if not self._judge.open:
            return self._judge.judgement
        candidates = self._judge.candidates
        if len(candidates) == 1 and not self._unlogged.most:  # else there may be other ways to explain the record
            after = self._quick.after(record, candidates[0])
            if after is not None:
                if "time" in record:
                    self._time = self._later(Line(self._source, line or self.records + 1, record))
                self._judge.candidates = (after,)
                self._unsaid = self._unsaid or record.get("action") in self._noticing
                self.records += 1
                self._since = None  # one state explains all so far, so a departure is told from here
                return self._judge.judgement
        return self._slowly(Line(self._source, line or self.records + 1, record))

    def report(self) -> OracleReport:
        """The verdict as ``check`` reports it."""
        judgement = self.judgement
        note = judgement.note
        if not self.records and self._judge.open:
            note = NOTHING
        return OracleReport(
            self.model.system,
            self.model.variant,
            self.format,
            judgement.verdict,
            self.records,
            judgement.departure,
            note,
        )

    def allowed(self, most: int = 1000) -> Allowed:
        """The events that may come next, at most so many; none after a departure."""
        if self.judgement.verdict is OracleVerdict.DEPARTS:
            return Allowed((), True)
        found: dict[tuple[str, tuple[tuple[str, int], ...]], Mapping[str, Any]] = {}
        steps, complete = self._reader.steps, self._judge.open
        for action in self.model.actions:
            types = {v.name: v.type for v in action.parameters}
            for state in self._judge.candidates:
                steps.work = 0
                try:
                    for choice, _ in steps.some(state, Wanted(action)):
                        if len(found) >= most:
                            return Allowed(tuple(found.values()), False)
                        shown = {n: self.world.instance.show(types[n], v) for n, v in choice.parameters}
                        found[choice.action, choice.parameters] = {"action": choice.action, "parameters": shown}
                except TooManyStates:
                    complete = False
        return Allowed(tuple(found.values()), complete)

    @property
    def since(self) -> Since | None:
        """The last point where few states explained the trace, and the records since then; the last one departs, if one does.

        None if there was none among the last records.
        """
        if self._since is None and len(self._judge.candidates) == 1 and self._judge.open:
            return Since(self.world, self._judge.candidates)
        return self._since

    def _slowly(self, line: Line) -> Judgement:
        _shape("record").check(line)
        time, since = self._later(line), self.since
        world = self._appearing.world_of(line) if self._may_bring(line.value) else self.world
        moved = world.moved(self._judge.candidates, self.world) if world is not self.world else self._judge.candidates
        reader = self._reader_of(world) if world is not self.world else self._reader
        record = reader.record(self.records + 1, line)
        # From here on nothing is wrong with it.
        new, value = world.newer(self.world), line.value
        if world is not self.world:
            before = self.world
            self._enter(world)
            if self._again(before, moved, new, value):
                states = self._judge.candidates
                since = Since(world, states) if len(states) <= MOST_STARTS else None
        self._time = time
        self.records += 1
        self._unsaid = self._unsaid or self._leaves_objects_unsaid(line)
        judgement = self._judge.take(record)
        if self._unsaid and judgement.verdict is OracleVerdict.DEPARTS:
            judgement = self._judge.judgement = self._not_known(judgement)
        if any(new.values()):
            value = {**value, "objects": {sort: names for sort, names in new.items() if names}}
        self._since = replace(since, records=(*since.records, value)) if since is not None else None
        if self._judge.open:
            self._mark()
        return judgement

    def _leaves_objects_unsaid(self, line: Line) -> bool:
        """Objects that no record has named might have had a part in it, if there were any."""
        if not self._open_sorts:
            return False
        unlogged = Unlogged.read(self.model, line.value.get("unlogged"), line, self._unlogged)
        steps = [*self._reader.wanted(line), *map(Wanted, unlogged.actions if unlogged.most else ())]
        if any(one.action.name in self._noticing for one in steps):
            return True
        unsaid = [v.type for one in steps for v in one.action.parameters if v.name not in one.given]
        return any(isinstance(kind, Ref | SetOf) and kind.sort.name in self._open_sorts for kind in unsaid)

    def _not_known(self, found: Judgement) -> Judgement:
        """In place of a departure: objects that nobody has named may be why the record is as it is."""
        assert found.departure is not None
        at = f"record {found.departure.record} (line {found.departure.line})"
        sorts = " and ".join(sorted(self._open_sorts))
        note = (
            f"{at}: no step of the objects named so far explains it, but further objects may have had a part in the "
            f"steps up to here; list those of {sorts} in the header"
        )
        return Judgement(OracleVerdict.UNDETERMINED, note=note)

    @property
    def _appearing(self) -> Appearing:
        return Appearing(
            self.world,
            self._open_sorts,
            self._gone,
            forgettable(self.model),
            self._judge.candidates,
            lambda w: self._steps_of(w).broken_axiom,
        )

    def _may_bring(self, record: Mapping[str, Any]) -> bool:
        """The record may name what there has not been: what it costs to find out is spared for all others."""
        return bool(self._open_sorts) or len(self._gone) > 0 or "objects" in record or "rigid" in record

    def _again(
        self, before: World, moved: Sequence[State], new: Mapping[str, list[str]], record: Mapping[str, Any]
    ) -> bool:
        """Takes ``moved``, in which objects have come or gone, as what explains the trace so far.

        A name that was forgotten, and that the record does not introduce, is the object that has ended; whether there is one.
        What matters begins with such a record then: in a trace without those before it, the name would be a new object's.
        """
        said = record.get("objects", {})
        back = [(s, n) for s, names in new.items() for n in names if (s, n) in self._gone and n not in said.get(s, ())]
        restored = self._gone.restored(self.world, back, moved) if back else moved
        self._gone.note(before, self.world, self._judge.candidates)
        self._judge.candidates = moved if restored is None else restored
        if restored is None:
            ended = " and ".join(name for _, name in back)
            note = f"record {self.records + 1} speaks of {ended}, which ended in several ways and was forgotten"
            self._judge.judgement = Judgement(OracleVerdict.UNDETERMINED, note=note)
        for sort, name in back:
            new[sort].remove(name)
        return bool(back)

    def _mark(self) -> None:
        """Moves the point from which records matter on to here, if one state explains all, or there are many records."""
        states = self._judge.candidates
        many = self._since is None or len(self._since.records) > MOST_SINCE
        if len(states) == 1 or (many and len(states) <= MOST_STARTS):
            self._since = Since(self.world, states)
        elif many:
            self._since = None

    def _later(self, line: Line) -> float | datetime | None:
        """The record's time, or that of the record before.

        Raises:
            TraceError: it is earlier, or of another kind.
        """
        shown = line.value.get("time")
        if shown is None:
            return self._time
        time = _time(shown, line)
        if self._time is None:
            return time
        try:
            if time < self._time:  # type: ignore[operator]
                raise line.error(f"time {shown} is before that of an earlier record; put the records in order")
        except TypeError:
            raise line.error(
                f"time {shown!r} cannot be compared with that of an earlier record; write all alike"
            ) from None
        return time

    def _enter(self, world: World) -> None:
        self.world = world
        self._judge.instance = world.instance
        self._reader = self._reader_of(world)
        self._quick = Quick(world.instance, self._steps_of(world).taken)

    def _reader_of(self, world: World) -> Reader:
        return Reader(Steps(self._steps_of(world).stepper, world.instance), self._unlogged)

    def _steps_of(self, world: World) -> _Steps:
        found = self._shapes.get(world.shape)
        if found is None:
            stepper = Stepper(world.unnamed)
            found = self._shapes[world.shape] = _Steps(stepper, Taken(Steps(stepper)), world.broken_axiom())
            if len(self._shapes) > MOST_SHAPES:
                self._shapes.popitem(last=False)
        self._shapes.move_to_end(world.shape)
        return found


@dataclass(frozen=True)
class _Steps:
    """What worlds of one shape have in common: the steps, and what they break of the model's assumptions ("" if nothing)."""

    stepper: Stepper
    taken: Taken
    broken_axiom: str


def _variant(system: System, header: Line) -> Model:
    name = header.value.get("variant", system.judged_by)
    if name not in system.variants:
        raise header.error(f"unknown variant {name!r} of {system.name}; there is {', '.join(system.variants)}")
    return system.variants[name]


def _time(shown: object, line: Line) -> float | datetime:
    if isinstance(shown, str):
        try:
            return datetime.fromisoformat(shown)
        except ValueError:
            raise line.error(f"time {shown!r:.60} is no text in ISO 8601, such as 2026-02-01T12:00:05Z") from None
    assert isinstance(shown, int | float)
    if isinstance(shown, float) and not math.isfinite(shown):
        raise line.error(f"time {shown} is no time")
    return shown


@cache
def _shape(definition: str) -> Shape:
    return Shape.load(SCHEMA, definition)
