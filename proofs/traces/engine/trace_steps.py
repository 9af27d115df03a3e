"""The step of a trace of the plain format: objects appear and are collected, then the record is explained."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from schedproof.model.lang import Model, Ref, SetOf
from schedproof.model.semantics import Stepper
from schedproof.proofs.traces.files.lines import Line
from schedproof.proofs.traces.files.schema import Shape
from schedproof.proofs.traces.formats.headers import Header
from schedproof.proofs.traces.formats.records import Reader, Unlogged

from .appearing import Appearing
from .candidates import MOST_STATES, Nonconformance, step
from .fast_path import FastPath, KnownSteps
from .object_gc import collectable
from .objects import ObjectMap
from .steps import StepPattern, Steps
from .trace_context import MOST_STARTS, Since, TraceCandidates, TraceContext
from .unobserved import noticing

SCHEMA = Path(__file__).parents[1] / "formats" / "plain.schema.json"

MOST_SHAPES = 64
"""Numbers of objects, and rigid attributes, whose steps are kept for when they come back."""

Outcome = TraceCandidates | Nonconformance[TraceCandidates]


class TraceSteps:
    """The steps of traces that begin with one header. What is kept here only makes them faster.

    Args:
        header: what the header says.
        limit: more states than this that explain the trace so far: undetermined.
    """

    def __init__(self, model: Model, header: Header, limit: int = MOST_STATES) -> None:
        self.model, self._limit = model, limit
        self._open_sorts, self._unlogged = header.open, header.unlogged
        self._noticing = noticing(model, header.open)
        self._shapes: OrderedDict[object, _Steps] = OrderedDict()
        objects = header.objects
        starts = tuple(dict.fromkeys(header.starts)) or (objects.instance.initial(),)
        self.start = TraceCandidates(starts, context=TraceContext(objects, since=Since(objects, starts))).marked()
        self._enter(objects)

    def fast_step(
        self, now: TraceCandidates, record: Mapping[str, Any], line: Line | None = None
    ) -> TraceCandidates | None:
        """What ``step`` says, where one state explains all and the record is right in every respect; None elsewhere."""
        states, time, context = now.states, now.time, now.context
        if len(states) != 1 or self._unlogged.most:  # there may be other ways to explain the record
            return None
        if context.objects is not self._entered_map:
            self._enter(context.objects)
        after = self._fast_path.after(record, states[0])
        if after is None:
            return None
        if "time" in record:
            before, time = time, record["time"]
            if type(time) is not int or type(before) is not int or time < before:
                time = _later(before, line or Line("", now.records + 1, record))
        if self._noticing and record["action"] in self._noticing and not context.unobserved:
            context = replace(context, unobserved=True)
        return TraceCandidates((after,), now.records + 1, "", time, context=context)

    def step(self, now: TraceCandidates, line: Line) -> Outcome:
        """The candidates that explain the record as well; or that there are none.

        Raises:
            TraceError: it is no record.
        """
        shape("record").check(line)
        time, context = _later(now.time, line), replace(now.context, since=now.since)
        objects = self._appearing(now).objects_after(line) if self._may_bring(now, line.value) else context.objects
        record = self.reader(objects).record(now.records + 1, line)
        # From here on nothing is wrong with it.
        value = line.value
        entered = replace(now, time=time, context=context)
        if objects is not context.objects:
            new = objects.newer(context.objects)
            entered = self._entered(entered, objects, new, value)
            if any(new.values()):
                value = {**value, "objects": {sort: names for sort, names in new.items() if names}}
        context, since = entered.context, entered.context.since
        context = replace(
            context,
            unobserved=context.unobserved or self._leaves_unobserved(line, objects),
            since=replace(since, records=(*since.records, value)) if since is not None else None,
        )
        after = step(replace(entered, context=context), record, self._limit)
        if isinstance(after, Nonconformance):
            return replace(after.before, exceeded=self._not_known(after)) if context.unobserved else after
        return after if after.exceeded else after.marked()

    def _entered(
        self, now: TraceCandidates, objects: ObjectMap, new: dict[str, list[str]], record: Mapping[str, Any]
    ) -> TraceCandidates:
        """The candidates with these objects, some of which have come or gone.

        A name that was collected, and that the record does not introduce, is the object that has ended; whether there is one.
        What matters begins with such a record then: in a trace without those before it, the name would be a new object's.

        Args:
            new: the objects that are new, by sort; those that are back are taken out.
        """
        context, said = now.context, record.get("objects", {})
        collected = context.collected
        moved = objects.moved(now.states, context.objects)
        back = [(s, n) for s, names in new.items() for n in names if (s, n) in collected and n not in said.get(s, ())]
        restored = collected.restored(objects, back, moved) if back else moved
        exceeded = ""
        if restored is None:
            ended = " and ".join(name for _, name in back)
            exceeded = f"record {now.records + 1} speaks of {ended}, which ended in several ways and was forgotten"
        states = tuple(moved if restored is None else restored)
        for sort, name in back:
            new[sort].remove(name)
        since = context.since
        if back:
            since = Since(objects, states) if len(states) <= MOST_STARTS else None
        after = collected.after(context.objects, objects, now.states)
        context = replace(context, objects=objects, collected=after, since=since)
        return replace(now, states=states, context=context, exceeded=exceeded)

    def _leaves_unobserved(self, line: Line, objects: ObjectMap) -> bool:
        """Objects that no record has named might have had a part in it, if there were any."""
        if not self._open_sorts:
            return False
        unlogged = Unlogged.read(self.model, line.value.get("unlogged"), line, self._unlogged)
        steps = [
            *self.reader(objects).patterns(line),
            *map(StepPattern, unlogged.actions if unlogged.most else ()),
        ]
        if any(one.action.name in self._noticing for one in steps):
            return True
        free = [v.type for one in steps for v in one.action.parameters if v.name not in one.given]
        return any(isinstance(kind, Ref | SetOf) and kind.sort.name in self._open_sorts for kind in free)

    def _not_known(self, found: Nonconformance[TraceCandidates]) -> str:
        """Why it is no nonconformance: objects that nobody has named may be why the record is as it is."""
        at = f"record {found.record.number} (line {found.record.line})"
        sorts = " and ".join(sorted(self._open_sorts))
        return (
            f"{at}: no step of the objects named so far explains it, but further objects may have had a part in the "
            f"steps up to here; list those of {sorts} in the header"
        )

    def _appearing(self, now: TraceCandidates) -> Appearing:
        return Appearing(
            now.context.objects,
            self._open_sorts,
            now.context.collected,
            collectable(self.model),
            now.states,
            lambda objects: self._steps_of(objects).broken_axiom,
        )

    def _may_bring(self, now: TraceCandidates, record: Mapping[str, Any]) -> bool:
        """The record may name what there has not been: what it costs to find out is spared for all others."""
        return bool(self._open_sorts) or len(now.context.collected) > 0 or "objects" in record or "rigid" in record

    def reader(self, objects: ObjectMap) -> Reader:
        """Reads records that speak of these objects."""
        if objects is not self._entered_map:
            self._enter(objects)
        return self._reader

    def _enter(self, objects: ObjectMap) -> None:
        """Keeps what the next records of these objects need."""
        steps = self._steps_of(objects)
        self._entered_map = objects
        self._reader = Reader(Steps(steps.stepper, objects.instance), self._unlogged)
        self._fast_path = FastPath(objects.instance, steps.known)

    def _steps_of(self, objects: ObjectMap) -> _Steps:
        found = self._shapes.get(objects.shape)
        if found is None:
            stepper = Stepper(objects.unnamed)
            found = _Steps(stepper, KnownSteps(Steps(stepper)), objects.broken_axiom())
            self._shapes[objects.shape] = found
            if len(self._shapes) > MOST_SHAPES:
                self._shapes.popitem(last=False)
        self._shapes.move_to_end(objects.shape)
        return found


@dataclass(frozen=True)
class _Steps:
    """What object maps of one shape have in common: the steps, and what they break of the model's assumptions ("" if nothing)."""

    stepper: Stepper
    known: KnownSteps
    broken_axiom: str


def _later(before: float | datetime | None, line: Line) -> float | datetime | None:
    """The record's time, or that of the record before.

    Raises:
        TraceError: it is earlier, or of another kind.
    """
    shown = line.value.get("time")
    if shown is None:
        return before
    time = _time(shown, line)
    if before is None:
        return time
    try:
        if time < before:  # type: ignore[operator]
            raise line.error(f"time {shown} is before that of an earlier record; put the records in order")
    except TypeError:
        raise line.error(f"time {shown!r} cannot be compared with that of an earlier record; write all alike") from None
    return time


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
def shape(definition: str) -> Shape:
    """A definition of the plain format's schema."""
    return Shape.load(SCHEMA, definition)
