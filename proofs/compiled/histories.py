"""The values that history can have in each state, for all points of history at once, on the graph without history.

A condition that reads history at one point (:mod:`schedproof.proofs.exploration.pointwise`) needs the reachable pairs of a
state without history and of a value of that point. Each state gets a set of bits, one for each point and value. A step either
keeps a point's value or writes one that the step determines, so it maps sets of values bit by bit: ``bits & kept | made``.
The least sets that contain the initial values and are closed under all steps are those of the reachable pairs.

This takes one pass over the graph, and further visits of states that got new bits afterwards. A search with the history of one
object has up to a power of two as many states, and needs to be repeated for each object.

The pass also notes, for each state and bit, whether a step from there with that value violates a condition. Conditions on
states are checked afterwards, for the values that a state has.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedproof.model.lang import Property
from schedproof.model.lang import terms as t
from schedproof.model.lang.machine import Row
from schedproof.model.lang.rules import Action
from schedproof.model.lang.triggers import caused
from schedproof.model.lang.types import SetOf
from schedproof.model.semantics import Instance
from schedproof.proofs.exploration.limits import TooWide
from schedproof.proofs.exploration.pointwise import Point, point_of, reads_point
from schedproof.proofs.exploration.safety import Check, Watch, checks_of
from schedproof.proofs.inner_loops import inner_loop

from .carry import SILENT, UNKNOWN, Carried, carry, carry_kept
from .code import Count, Each, Expr, Function, If, Item, Leave, Local, Put, Set, binary, bit, member
from .kernel import TOGETHER, call
from .layout import Layout, Words, layout, span
from .llvm import Machine, assembly
from .safety import condition_of
from .steps import Condition, Program, Steps, first_choices
from .terms import Moment, Terms, supposed

Field = tuple[str, str]
"""A sort and an attribute."""

WIDTH = 64
"""The bits of a number. All bits of an object are in one number."""

MOST_NUMBERS = 4
"""The limit of numbers for each state."""


@dataclass(frozen=True)
class Track:
    """The bits of a history attribute: of each object, for each value, one for each point.

    Args:
        values, low: the number of values of a point, and the lowest.
        elements: the number of points of an object: those of a set are its possible elements, with the values 0 and 1.
        places: by object, its first bit.
        initial: the attribute's initial value.
    """

    values: int
    low: int
    elements: int
    places: tuple[int, ...]
    initial: int
    is_set: bool

    @property
    def every(self) -> int:
        """The mask of an object's bits, at bit 0."""
        return (1 << self.values * self.elements) - 1

    def made(self, value: Expr) -> Expr:
        """The bits of an object whose attribute has a value, at bit 0."""
        if not self.is_set:
            return bit(binary("-", value, self.low))
        absent = binary("^", value, (1 << self.elements) - 1)
        return binary("|", absent, binary("<<", value, self.elements))

    def value(self, number: Expr) -> Expr:
        """The attribute's value at a point, by the value's number; a set then has all elements or none."""
        return binary("-", 0, number) if self.is_set else binary("+", number, self.low)


def tracks(instance: Instance, fields: Collection[Field]) -> dict[Field, Track] | None:
    """The bits of some history attributes; None if there are too many."""
    result: dict[Field, Track] = {}
    at = 0
    for sort, name in sorted(fields):
        attribute = instance.model.machine(sort).attribute(name)
        assert attribute is not None
        kind = attribute.type
        if is_set := isinstance(kind, SetOf):
            elements, low, values = instance.sizes[kind.sort.name], 0, 2
        else:
            elements = 1
            try:
                low, values = span(instance, kind)
            except TooWide:
                return None
        bits, places = elements * values, []
        if bits > WIDTH - 1:
            return None
        for _ in range(instance.sizes[sort]):
            if at % WIDTH + bits > WIDTH:
                at = (at // WIDTH + 1) * WIDTH
            places.append(at)
            at += bits
        result[sort, name] = Track(values, low, elements, tuple(places), instance.default(attribute), is_set)
    return result if at <= WIDTH * MOST_NUMBERS else None


_Watched = tuple[Check, Condition, Point]
"""A condition of a property, also as programs check it, and the point that it reads."""


class _Writer(Steps):
    """The writer of ``steps`` that also writes what each step does to history, to numbers that follow those of ``seen``.

    There is room for ``TOGETHER`` states, by their numbers.

    Attributes:
        effects: the index in ``seen`` of what steps do: for each the bits that it keeps, and the bits that it makes.
        notes: the index of what is noted of conditions: for each the bits with which it is met, and with which it fails.
        room: the length of ``seen``.
    """

    def __init__(
        self,
        instance: Instance,
        where: Layout,
        actions: Sequence[Action],
        points: Mapping[Field, Track],
        numbers: int,
        watched: Sequence[_Watched],
        conditions: Sequence[Condition] = (),
    ) -> None:
        super().__init__(instance, where, actions, conditions)
        self._points, self._numbers, self._watched = points, numbers, watched
        self._choices = first_choices(instance, actions)[-1]
        self._wide = len(watched) * 2 * numbers
        self.effects = self._seen.size
        self.notes = self.effects + TOGETHER * self._choices * 2 * numbers
        self.room = self.notes + TOGETHER * self._wide

    def silent(self, number: int) -> bool:
        """Whether no step of an action writes history."""
        events = caused(self.instance.model, self.actions[number].name)
        rows = [row for row in self.instance.model.rows if (row.sort.name, row.event) in events]
        return not any((row.sort.name, name) in self._points for row in rows for name, _ in row.sets)

    def function(self) -> Function:
        """The function ``steps``, which first clears the notes of a state."""
        written = super().function()
        clear = [Put("seen", binary("+", self._first_note, k), 0) for k in range(self._wide)]
        return replace(written, body=[*clear, *written.body])

    @property
    def _first_note(self) -> Expr:
        """The index of the state's notes."""
        return binary("+", self.notes, binary("*", binary("&", Local("number"), TOGETHER - 1), self._wide))

    def _is_checked_in_step(self, number: int) -> bool:
        watched = any(number in (condition.actions or ()) for _, condition, _ in self._watched)
        return watched or super()._is_checked_in_step(number)

    def _before_updates(self) -> None:
        for field in self._points:
            self.terms.emit(Set(_wrote(field), 0))

    def _set(self, row: Row, who: Expr, moment: Moment) -> None:
        super()._set(row, who, moment)
        terms = self.terms
        sort, sets = row.sort.name, dict(row.sets)
        for (owner, name), track in self._points.items():
            if owner != sort or name not in sets:
                continue
            attribute = self.instance.model.machine(sort).attribute(name)
            assert attribute is not None
            value = terms.value(sets[name], self._of_row(row, who, moment), attribute.type)
            terms.scratch[_written(sort, name)] = len(track.places)
            terms.emit(Put(_written(sort, name), who, value))
            terms.emit(Set(_wrote((sort, name)), binary("|", Local(_wrote((sort, name))), bit(who))))

    def _after_updates(self, number: int, moment: Moment) -> None:
        if not self.silent(number):
            self._write_effects()
        terms = self.terms
        with terms.body() as checked, terms.reading() as read:
            for n, (_, condition, point) in enumerate(self._watched):
                if number in (condition.actions or ()):
                    self._suppose(n, condition, point, moment)
        if checked:
            terms.unpack(read, "after", "next")
            for stmt in checked:
                terms.emit(stmt)

    def _write_effects(self) -> None:
        """Writes which bits the step keeps, and which ones it makes."""
        terms = self.terms
        for k in range(self._numbers):
            terms.emit(Set(f"kept {k}", -1))
            terms.emit(Set(f"made {k}", 0))
        for field, track in self._points.items():
            who = terms.new("writer")
            where = _place(terms, field, track, Local(who))
            made = track.made(Item(_written(*field), Local(who)))
            with terms.body() as body:
                for k in _used(track):
                    in_number = binary("-", 0, binary("==", binary(">>", where, 6), k)) if len(_used(track)) > 1 else -1
                    at = binary("&", where, WIDTH - 1)
                    lost = binary("&", in_number, binary("<<", track.every, at))
                    body.append(Set(f"kept {k}", binary("&", Local(f"kept {k}"), binary("^", lost, -1))))
                    new = binary("&", in_number, binary("<<", made, at))
                    body.append(Set(f"made {k}", binary("|", Local(f"made {k}"), new)))
            if _written(*field) in terms.scratch:
                terms.emit(Each(who, Local(_wrote(field)), body))
        step = binary("+", binary("*", binary("&", Local("number"), TOGETHER - 1), self._choices), Local("steps"))
        at = binary("+", self.effects, binary("*", step, 2 * self._numbers))
        for k in range(self._numbers):
            terms.emit(Put("seen", binary("+", at, k), Local(f"kept {k}")))
            terms.emit(Put("seen", binary("+", at, self._numbers + k), Local(f"made {k}")))

    def _suppose(self, n: int, condition: Condition, point: Point, moment: Moment) -> None:
        """Notes the values of points before the step with which the premise is met, and with which the condition fails."""
        terms, track = self.terms, self._points[point.field]
        at = binary("+", self._first_note, n * 2 * self._numbers)

        def note(place: Expr, failed: bool) -> None:
            index = binary("+", binary("+", at, binary(">>", place, 6)), self._numbers if failed else 0)
            terms.emit(Put("seen", index, binary("|", Item("seen", index), bit(binary("&", place, WIDTH - 1)))))

        def with_value(value: str, who: Expr, element: Expr, place: Expr, another: str) -> None:
            terms.emit(Set(supposed("now"), track.value(Local(value))))
            terms.emit(Set(supposed("after"), Local(supposed("now"))))
            if _written(*point.field) in terms.scratch:
                new: Expr = Item(_written(*point.field), who)
                if track.is_set:
                    new = track.value(member(new, element))
                terms.emit(If(member(Local(_wrote(point.field)), who), [Set(supposed("after"), new)]))

        _for_values(terms, condition, point, track, moment, with_value, note)


def _wrote(field: Field) -> str:
    """The mask of the objects whose history a step writes."""
    return f"wrote {field[0]}.{field[1]}"


def _written(sort: str, name: str) -> str:
    """The array of the values that a step writes, by object."""
    return f"written {sort}.{name}"


def _used(track: Track) -> list[int]:
    """The numbers that hold the bits of an attribute."""
    return sorted({place // WIDTH for place in track.places})


def _place(terms: Terms, field: Field, track: Track, who: Expr) -> Expr:
    """The first bit of an object."""
    name = f"{field[0]}.{field[1]} history"
    terms.tables[name] = track.places
    return Item(name, who)


def _for_values(
    terms: Terms,
    condition: Condition,
    point: Point,
    track: Track,
    moment: Moment,
    with_value: Callable[[str, Expr, Expr, Expr, str], None],
    note: Callable[[Expr, bool], None],
) -> None:
    """Evaluates a condition for each of its bindings and each value of the point.

    What reads no history comes first: nothing here is undefined, so the order does not matter.

    Args:
        with_value: supposes a value, or leaves: its number, the object, the element, the bit, and the label to leave to.
        note: notes a bit with which the premise is met, or with which the condition fails.
    """
    model = terms.instance.model
    given = t.conjuncts(condition.given) if condition.given is not None else []
    before = [part for part in given if not reads_point(model, part)]
    reading = [part for part in given if reads_point(model, part)]

    def on_match(match: Moment) -> None:
        who = match.bound[point.of][1]
        element: Expr = match.bound[point.element][1] if point.element else 0
        first = binary("+", _place(terms, point.field, track, who), element)
        value, another = terms.new("value"), terms.new("another value")
        place = binary("+", first, binary("*", Local(value), track.elements))
        with terms.body() as body, terms.block(another):
            with_value(value, who, element, place, another)
            inner = replace(match, undefined=another)
            for part in reading:
                terms.check(terms.value(part, inner), another)
            note(place, False)
            terms.emit(If(terms.value(condition.then, inner), [Leave(another)]))
            note(place, True)
        terms.emit(Count(value, 0, track.values - 1, body))

    terms.supposed = point.field
    try:
        terms.search(condition.over, before, moment, on_match)
    finally:
        terms.supposed = None


def _states_function(
    instance: Instance, where: Layout, points: Mapping[Field, Track], watched: Sequence[_Watched]
) -> Function:
    """A function with the signature of ``steps``: ``out`` has a state's bits, and ``seen`` receives what is results.

    These are two numbers for each condition: whether its premise is met, and whether it fails.
    """
    terms = Terms(instance, where)
    with terms.body() as body:
        for n, (_, condition, point) in enumerate(watched):
            failed = terms.new("failed")

            def with_value(
                value: str, who: Expr, element: Expr, place: Expr, another: str, track: Track = points[point.field]
            ) -> None:
                terms.check(member(Item("out", binary(">>", place, 6)), binary("&", place, WIDTH - 1)), another)
                terms.emit(Set(supposed("now"), track.value(Local(value))))

            def note(place: Expr, failed: bool, n: int = n) -> None:
                terms.emit(Put("seen", 2 * n + failed, 1))

            with terms.block(failed):
                terms.check(binary("==", Item("seen", 2 * n + 1), 0), failed)
                _for_values(terms, condition, point, points[point.field], Moment(), with_value, note)
    with terms.body() as start:
        terms.unpack(terms.read, "now", "state")
    return Function(
        "bits hold",
        ["state", "out", "chosen", "seen"],
        ["number"],
        [*start, *body],
        0,
        dict(terms.scratch),
        dict(terms.tables),
    )


class Histories:
    """The points of history that some properties read, and which of these properties hold.

    Args:
        actions: the actions of the graph.
        watches: the properties with their conditions.
        points: the bits of the history attributes that they read.
    """

    def __init__(
        self, instance: Instance, actions: Sequence[Action], watches: Sequence[Watch], points: Mapping[Field, Track]
    ) -> None:
        where = layout(instance)
        names = [action.name for action in actions]
        self._watches, self._points, self._words = watches, points, where.words
        self._numbers = max((place for track in points.values() for place in track.places), default=0) // WIDTH + 1
        self._states, self._steps = list[_Watched](), list[_Watched]()
        for check in (check for each in watches for check in each.checks):
            point = point_of(instance.model, check.prop)
            assert point is not None
            condition = condition_of(check, names)
            (self._states if condition.actions is None else self._steps).append((check, condition, point))
        self._instance, self._actions, self._layout = instance, actions, where
        self._writer = writer = self._writes(())
        kinds = [SILENT if writer.silent(number) else UNKNOWN for number in range(len(actions))]
        self._kinds = np.repeat(np.array(kinds, np.int8), np.diff(first_choices(instance, actions)))
        self.room = writer.room
        self._texts = [assembly(writer.function()), assembly(_states_function(instance, where, points, self._states))]
        self._failed: set[int] | None = None

    def _writes(self, conditions: Sequence[Condition]) -> _Writer:
        points, watched = self._points, self._steps
        return _Writer(self._instance, self._layout, self._actions, points, self._numbers, watched, conditions)

    def memory(self, states: int) -> int:
        """The bytes that the values take."""
        return states * (8 * self._numbers * (1 + 2 * len(self._steps)) + 1)

    def begin(self, states: int) -> tuple[Machine, Carried]:
        """The code of ``steps`` that also writes what a step does to history, and the arrays of a pass."""
        return Machine(self._texts, states=states), self._carried(self._writer, states)

    def follow(self, conditions: Sequence[Condition]) -> tuple[Program, Carried]:
        """A program that checks conditions and also writes what a step does to history, and arrays for the initial state."""
        writer = self._writes(conditions)
        steps, more = writer.function(), writer.room - writer.effects
        code = Program(self._instance, self._layout, self._actions, conditions, steps, more)
        return code, self._carried(writer, 1)

    def _carried(self, writer: _Writer, states: int) -> Carried:
        """The arrays of a pass. The initial state has the initial values."""
        notes = [np.zeros((states, len(self._steps), self._numbers), np.int64) for _ in range(2)]
        bits, later = np.zeros((states, self._numbers), np.int64), np.zeros(states, np.bool_)
        for track in self._points.values():
            made = track.made(track.initial)
            assert isinstance(made, int)
            for place in track.places:
                bits.view(np.uint64)[0, place // WIDTH] |= np.uint64(made << place % WIDTH)
        kept = np.zeros((len(self._kinds), self._numbers), np.int64)
        return Carried(bits, later, self._kinds.copy(), kept, writer.effects, writer.notes, *notes)

    def end(
        self,
        machine: Machine | None,
        carried: Carried,
        states: Words,
        offsets: NDArray[np.int64],
        targets: NDArray[np.uint32],
        choices: NDArray[np.uint16],
    ) -> None:
        """Completes the values after the pass, and checks the conditions.

        Args:
            machine: the code of the pass; None after a search, which also checked other conditions.
        """
        machine = machine or Machine(self._texts, states=len(offsets) - 1)
        carried = carried._replace(effects=self._writer.effects, notes=self._writer.notes)
        failed_checks = set[int]()
        out, chosen = (np.empty(len(self._kinds) * each, np.uint64) for each in (self._words, 1))
        seen = np.zeros(self.room, np.int64)
        settle(machine.address("steps"), self._words, states, offsets, targets, choices, carried, out, chosen, seen)
        results = np.zeros(2 * len(self._states) + 1, np.int64)
        hold(machine.address("bits hold"), self._words, states, carried.bits, results)
        for n, (check, _, _) in enumerate(self._states):
            check.met = bool(results[2 * n])
            if results[2 * n + 1]:
                failed_checks.add(id(check))
        for n, (check, _, _) in enumerate(self._steps):
            check.met, failed = (bool((noted[:, n] & carried.bits).any()) for noted in (carried.met, carried.failed))
            if failed:
                failed_checks.add(id(check))
        self._failed = failed_checks

    @property
    def holding(self) -> list[Watch]:
        """The properties of which no condition fails; none before the pass has ended.

        Of the others no violating state is known.
        """
        failed = self._failed
        if failed is None:
            return []
        return [each for each in self._watches if not any(id(check) in failed for check in each.checks)]


def histories_of(
    instance: Instance, actions: Sequence[Action], props: Sequence[Property], *, crash: bool = True
) -> Histories | None:
    """The points of history that properties read, less those with too many; None if there are none.

    Args:
        actions: the actions of the graph.
        props: properties whose conditions all have a point.
        crash: crash actions are taken.
    """
    complete = replace(instance, with_history=True, history=None)
    watches: list[Watch] = []
    fields: frozenset[Field] = frozenset()
    points: Mapping[Field, Track] = {}
    for prop in props:
        checks = checks_of(complete, prop, crash=crash)
        read = {point.field for check in checks if (point := point_of(instance.model, check.prop)) is not None}
        if (more := tracks(instance, fields | read)) is not None:
            watches, fields, points = [*watches, Watch(prop, checks)], fields | read, more
    return Histories(instance, actions, watches, points) if watches else None


@inner_loop
def settle(
    address: int,
    words: int,
    states: Any,
    offsets: Any,
    targets: Any,
    choices: Any,
    c: Any,
    out: Any,
    chosen: Any,
    seen: Any,
) -> int:
    """Visits states again that got bits afterwards, until there are none; returns the number of visits."""
    nodes, visits = len(offsets) - 1, 0
    state_at, out_at, chosen_at, seen_at = states.ctypes.data, out.ctypes.data, chosen.ctypes.data, seen.ctypes.data
    is_settled = False
    while not is_settled:
        is_settled = True
        for n in range(nodes):
            if c.later[n]:
                c.later[n], is_settled = False, False
                visits += 1
                if not carry_kept(c, n, offsets, targets, choices):
                    call(address, state_at + 8 * words * n, out_at, chosen_at, seen_at, n)
                    carry(c, n, n % TOGETHER, offsets, targets, choices, seen, nodes)
    return visits


@inner_loop
def hold(address: int, words: int, states: Any, bits: Any, results: Any) -> None:
    """Checks conditions on all states; arguments as for :func:`_states_function`."""
    state_at, bits_at, found_at = states.ctypes.data, bits.ctypes.data, results.ctypes.data
    none = np.empty(1, np.uint64)
    for n in range(len(bits)):
        call(address, state_at + 8 * words * n, bits_at + 8 * bits.shape[1] * n, none.ctypes.data, found_at, n)
