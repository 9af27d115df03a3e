"""The step of a trace in the plain format: objects appear and are collected, then the record is explained."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from schedproof.model.lang import Model, Ref, SetOf
from schedproof.model.semantics import State, Stepper
from schedproof.proofs.traces.errors import TraceError
from schedproof.proofs.traces.files.lines import Line
from schedproof.proofs.traces.files.schema import Shape
from schedproof.proofs.traces.formats.headers import Header, read_rigid
from schedproof.proofs.traces.formats.records import Mentions, Reader, Unlogged

from .appearing import Appearing
from .candidates import MOST_STATES, Nonconformance, step
from .fast_path import ARRIVALS, FastPath, introduces
from .fast_run import FastRun
from .known_steps import KnownSteps
from .object_gc import collectable
from .objects import Axioms, ObjectMap
from .steps import StepPattern, Steps
from .trace_context import MOST_STARTS, Since, TraceCandidates, TraceContext, later
from .unobserved import noticing

SCHEMA = Path(__file__).parents[1] / "formats" / "plain.schema.json"

MOST_SHAPES = 64
"""How many shapes of object maps (numbers of objects, rigid attributes) keep their stepper for reuse."""

MOST_SIZES = 8
"""How many numbers of objects keep their known steps for reuse."""

T = TypeVar("T")

Outcome = TraceCandidates | Nonconformance[TraceCandidates]


class TraceSteps:
    """The steps of traces that begin with one header. The stored values are caches only.

    Args:
        model: the model of the trace.
        header: the header of the trace.
        limit: the limit for states that explain the trace so far. Beyond it the trace is undetermined.
    """

    def __init__(self, model: Model, header: Header, limit: int = MOST_STATES) -> None:
        self.model, self._limit = model, limit
        self._open_sorts, self._unlogged = header.open, header.unlogged
        self._noticing = noticing(model, header.open)
        self._mentions = Mentions(model)
        self._ended = {
            sort: frozenset(i for i, s in enumerate(model.machine(sort).states) if s.name in final)
            for sort, final in collectable(model).items()
        }
        self._steppers: OrderedDict[object, Stepper] = OrderedDict()
        self._known: OrderedDict[object, tuple[KnownSteps, Axioms]] = OrderedDict()
        self._reader: tuple[ObjectMap, Reader] | None = None
        objects = header.objects
        starts = tuple(dict.fromkeys(header.starts)) or (objects.instance.initial(),)
        self.start = TraceCandidates(starts, context=TraceContext(objects, since=Since(objects, starts))).marked()
        self._entered_map = objects
        self._fast_path = FastPath(objects, self._known_of(objects)[0])

    def fast_run(self, now: TraceCandidates) -> FastRun | None:
        """The fast path from here on, if one state explains the trace; else None: records may have other explanations."""
        if len(now.states) != 1 or self._unlogged.most:
            return None
        self._enter(now.context.objects)
        return FastRun(self._fast_path, now, frozenset() if now.context.unobserved else self._noticing)

    def fast_arrival(
        self, now: TraceCandidates, record: Mapping[str, Any], line: Line | None = None
    ) -> TraceCandidates | None:
        """The result of ``step`` if one state explains the trace, and the record is correct and brings objects; else None."""
        arrival = self._fast_arrival(now, record) if self._may_bring(now, record) else None
        if arrival is None:
            return None
        context, after = arrival
        time = now.time if "time" not in record else later(now.time, line or Line("", now.records + 1, record))
        if record.get("action") in self._noticing:
            context = replace(context, unobserved=True)
        return TraceCandidates((after,), now.records + 1, "", time, context=context)

    def _fast_arrival(self, now: TraceCandidates, record: Mapping[str, Any]) -> tuple[TraceContext, State] | None:
        """The context with the objects that the record brings, and the state after it; None if ``step`` must decide."""
        context = now.context
        try:
            if not introduces(record):
                return None
            objects = self._appearing(now).objects_after(
                Line("", 0, record), self._named(context, record), self._fast_rigid
            )
            if objects is context.objects:
                return None
            states, _ = self._moved(now, objects, record)
        except (TraceError, KeyError, TypeError, AttributeError):
            return None  # something is wrong: ``step`` reports what
        if len(states) != 1:
            return None
        self._enter(objects)
        rest = {key: value for key, value in record.items() if key not in ARRIVALS}
        after = self._fast_path.after(rest, states[0]) if rest else states[0]
        if after is None:
            return None
        collected = context.collected.after(context.objects, objects, now.states)
        return TraceContext(objects, collected, context.unobserved), after

    def _fast_rigid(self, objects: ObjectMap, line: Line) -> Mapping[tuple[str, str], Mapping[int, int]]:
        self._enter(objects)
        return self._fast_path.rigid(line.value["rigid"])

    def step(self, now: TraceCandidates, line: Line) -> Outcome:
        """The candidates that also explain the record, or a nonconformance if there are none.

        Raises:
            TraceError: it is not a record.
        """
        shape("record").check(line)
        time, context = later(now.time, line), replace(now.context, since=now.since)
        objects = context.objects
        if self._may_bring(now, line.value):
            objects = self._appearing(now).objects_after(line, self._named(context, line.value), _read_rigid)
        record = self.reader(objects).record(now.records + 1, line)
        # From here on the record is valid.
        value = line.value
        entered = replace(now, time=time, context=context)
        if objects is not context.objects:
            entered, new = self._entered(entered, objects, value)
            if new:
                value = {**value, "objects": new}
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
        self, now: TraceCandidates, objects: ObjectMap, record: Mapping[str, Any]
    ) -> tuple[TraceCandidates, Mapping[str, list[str]]]:
        """The candidates for an object map that changed, and the names of the new objects without those that returned.

        A record that names an object that returned starts ``since`` anew. In a trace without the records before it, the
        name would be a new object's.
        """
        context = now.context
        states, back = self._moved(now, objects, record)
        exceeded = ""
        if not states:
            ended = " and ".join(name for _, name in back)
            exceeded = f"record {now.records + 1} speaks of {ended}, which ended in several ways and was forgotten"
            states = objects.moved(now.states, context.objects)
        since = context.since
        if back:
            since = Since(objects, states) if len(states) <= MOST_STARTS else None
        collected = context.collected.after(context.objects, objects, now.states)
        context = replace(context, objects=objects, collected=collected, since=since)
        new = {
            sort: others
            for sort, names in objects.newer(now.context.objects).items()
            if (others := [name for name in names if (sort, name) not in back])
        }
        return replace(now, states=states, context=context, exceeded=exceeded), new

    def _moved(
        self, now: TraceCandidates, objects: ObjectMap, record: Mapping[str, Any]
    ) -> tuple[tuple[State, ...], Sequence[tuple[str, str]]]:
        """The states for an object map that changed, and the objects that returned.

        A collected name that the record does not introduce means the object that has ended, if there is one.

        Returns:
            The states, and the objects that returned as (sort, name). There are no states if the last values of one of
            them are unknown.
        """
        context, named = now.context, record.get("objects", {})
        states = objects.moved(now.states, context.objects)
        back = [
            (sort, name)
            for sort, names in objects.newer(context.objects).items()
            for name in names
            if (sort, name) in context.collected and name not in named.get(sort, ())
        ]
        if not back:
            return states, back
        return tuple(context.collected.restored(objects, back, states) or ()), back

    def _leaves_unobserved(self, line: Line, objects: ObjectMap) -> bool:
        """Whether objects that no record has named may have taken part in this one."""
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

    def _not_known(self, nonconformance: Nonconformance[TraceCandidates]) -> str:
        """Why the verdict is undetermined and not "violates": unobserved objects may explain the record."""
        at = f"record {nonconformance.record.number} (line {nonconformance.record.line})"
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
            self._ended,
            now.states,
            lambda objects: self._known_of(objects)[1].broken(objects.rigid_state),
        )

    def _named(self, context: TraceContext, record: Mapping[str, Any]) -> Collection[tuple[str, str]]:
        """The objects that a record names, and those that the last values of collected ones among them name."""
        named = dict.fromkeys(self._mentions.of(record))
        if "rigid" in record:
            known = (each for each in self._mentions.in_rigid(record) if self._is_known(context, each))
            named |= dict.fromkeys(known)
        if len(context.collected) == 0:
            return named
        introduced = record.get("objects", {})
        left = list(named)
        while left:
            sort, name = left.pop()
            if name not in introduced.get(sort, ()):
                for each in context.collected.named_by((sort, name)):
                    if each not in named and self._is_known(context, each):
                        named[each] = None
                        left.append(each)
        return named

    def _is_known(self, context: TraceContext, named: tuple[str, str]) -> bool:
        """Whether an object is there, or was collected."""
        sort, name = named
        return named in context.collected or (sort in context.objects.names and context.objects.number(sort, name) >= 0)

    def _may_bring(self, now: TraceCandidates, record: Mapping[str, Any]) -> bool:
        """Whether the record may name new objects. This cheap test saves the search for all other records."""
        return bool(self._open_sorts) or len(now.context.collected) > 0 or "objects" in record or "rigid" in record

    def says(self, objects: ObjectMap, line: Line) -> str:
        """A record in a few words, given the objects after it."""
        return self.reader(objects).record(0, line).says

    def reader(self, objects: ObjectMap) -> Reader:
        """The reader of records about these objects."""
        if self._reader is None or self._reader[0] is not objects:
            self._reader = objects, Reader(Steps(self._stepper_of(objects), objects.instance), self._unlogged)
        return self._reader[1]

    def _enter(self, objects: ObjectMap) -> None:
        """Makes the fast path use these objects."""
        if objects is not self._entered_map:
            self._entered_map = objects
            self._fast_path.enter(objects, self._known_of(objects)[0])

    def _known_of(self, objects: ObjectMap) -> tuple[KnownSteps, Axioms]:
        """What object maps of one size share: the known steps, and the axioms of the model."""
        return _kept(
            self._known,
            tuple(objects.layout.sizes.values()),
            lambda: (KnownSteps(Steps(Stepper(objects.layout))), Axioms(objects.layout)),
            MOST_SIZES,
        )

    def named_stepper(self, objects: ObjectMap) -> Stepper:
        """Computes steps of these objects; its instance has their names."""
        stepper = copy(self._stepper_of(objects))
        stepper.instance = objects.instance
        return stepper

    def _stepper_of(self, objects: ObjectMap) -> Stepper:
        return _kept(self._steppers, objects.shape, lambda: Stepper(objects.unnamed), MOST_SHAPES)


def _kept(kept: OrderedDict[object, T], key: object, make: Callable[[], T], most: int) -> T:
    """The cached value of a key. The cache keeps the ``most`` keys that were used last."""
    if key not in kept:
        kept[key] = make()
        if len(kept) > most:
            kept.popitem(last=False)
    kept.move_to_end(key)
    return kept[key]


def _read_rigid(objects: ObjectMap, line: Line) -> Mapping[tuple[str, str], Mapping[int, int]]:
    return read_rigid(objects, line.value["rigid"], line)


@cache
def shape(definition: str) -> Shape:
    """A definition of the schema of the plain format."""
    return Shape.load(SCHEMA, definition)
