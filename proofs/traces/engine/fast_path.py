"""The quick way for records that say which step happened: names looked up in tables, steps remembered.

It answers only where the record is right in every respect; whatever else there is to say of a record, the ordinary way
(:mod:`schedproof.proofs.traces.formats.records`, :mod:`.candidates`) says it. Both have to agree.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from schedproof.model.lang.types import BoolType, IntRange, SetOf, Type
from schedproof.model.semantics import Choice, IllFormed, Instance, Moment, State, Undefined
from schedproof.model.semantics.remember import Remembered
from schedproof.model.semantics.step import Writes

from .steps import Steps

MOST_KNOWN = 200_000
"""Steps remembered; then all are forgotten, so that memory stays bounded on an endless trace."""

Codes = tuple[Mapping[Any, int], type | None]
"""The numbers of a type's values, and their Python type where a value of another type might be equal; of a set, of its elements."""

FIELDS = frozenset(("action", "parameters", "state", "time"))
"""What a record may have to go the quick way."""

TIMES = (int, float, str)
"""The types of times; whether one is right, and no earlier than the last, is asked elsewhere."""


class KnownSteps:
    """What steps write, remembered; names play no part in it.

    ``asked`` counts those that had to be found.
    """

    def __init__(self, steps: Steps) -> None:
        self._steps = steps
        self._known: dict[tuple[str, tuple[int, ...]], Remembered[Writes | None]] = {}
        self.asked = 0

    def writes(self, action: str, chosen: tuple[int, ...], state: State) -> Writes | None:
        """What the action writes with these parameters; None if it is not possible."""
        known = self._known.get((action, chosen))
        return (known or self._remember(action, chosen))(state)

    def _remember(self, name: str, chosen: tuple[int, ...]) -> Remembered[Writes | None]:
        if self.asked > MOST_KNOWN:
            self._known.clear()
            self.asked = 0
        parameters = self._steps.instance.model.action(name).parameters
        choice = Choice(name, tuple((v.name, value) for v, value in zip(parameters, chosen, strict=True)))
        found = self._known[name, chosen] = Remembered(partial(self._find, choice))
        return found

    def _find(self, choice: Choice, state: State) -> Writes | None:
        self.asked += 1
        steps = self._steps
        moment = Moment(state, dict(choice.parameters))
        try:
            if not all(conjunct(moment) for conjunct in steps.guard(steps.instance.model.action(choice.action))):
                return None
            return steps.stepper.effect(choice, state)[1]
        except (IllFormed, Undefined):
            return None


class FastPath:
    """Takes the step that a record names, if all of it is as the model has it.

    Args:
        instance: the objects, as the records name them.
        taken: the steps of an instance with as many objects and the same rigid attributes.
    """

    def __init__(self, instance: Instance, taken: KnownSteps) -> None:
        self._taken = taken
        codes: dict[Type, Codes] = {}

        def of(kind: Type) -> Codes:
            if kind not in codes:
                codes[kind] = _codes(instance, kind)
            return codes[kind]

        self._actions = {a.name: [(v.name, *of(v.type)) for v in a.parameters] for a in instance.model.actions}
        self._fields: dict[str, dict[str, dict[str, tuple[int, Mapping[Any, int], type | None]]]] = {}
        for machine in instance.model.machines:
            sort = machine.sort.name
            self._fields[sort] = objects = {}
            states = {s.name: i for i, s in enumerate(machine.states)}
            for i, name in enumerate(instance.object_names(sort)):
                fields = {a.name: (instance.slot(sort, a.name) + i, *of(a.type)) for a in instance.attributes(sort)}
                if machine.states:
                    fields["state"] = (instance.slot(sort) + i, states, None)
                objects[name] = fields

    def after(self, record: Mapping[str, Any], state: State) -> State | None:
        """The state after the record's step; None where the ordinary way has to be asked."""
        try:
            if not record.keys() <= FIELDS or type(record.get("time", 0)) not in TIMES:
                return None
            name, given = record["action"], record["parameters"]
            wanted = self._actions[name]
            if len(given) != len(wanted):
                return None
            chosen = tuple([_code(given[n], codes, kind) for n, codes, kind in wanted])
            writes = self._taken.writes(name, chosen, state)
            if writes is None:
                return None
            result = list(state)
            for slot, value in writes:
                result[slot] = value
            for sort, objects in record["state"].items() if "state" in record else ():
                known = self._fields[sort]
                for obj, fields in objects.items():
                    table = known[obj]
                    for field, shown in fields.items():
                        slot, codes, kind = table[field]
                        if kind is None:
                            if codes[shown] != result[slot]:
                                return None
                        elif _code(shown, codes, kind) != result[slot]:
                            return None
            return tuple(result)
        except (KeyError, TypeError, AttributeError):
            return None  # something is not as it should be: the ordinary way says what


def _code(shown: Any, codes: Mapping[Any, int], kind: type | None) -> int:
    """A value as a state holds it.

    Raises:
        KeyError, TypeError: it is none.
    """
    if kind is None:
        return codes[shown]
    if type(shown) is not kind:
        raise TypeError
    if not isinstance(shown, list):
        return codes[shown]
    found = 0
    for name in shown:
        found |= codes[name]
    return found


def _codes(instance: Instance, kind: Type) -> Codes:
    match kind:
        case SetOf(sort):
            return {name: 1 << i for i, name in enumerate(instance.object_names(sort.name))}, list
        case BoolType():
            return {False: 0, True: 1}, bool
        case IntRange():
            return {value: value for value in instance.domain(kind)}, int
        case _:
            values = [*instance.domain(kind), *([-1] if hasattr(kind, "sort") else [])]
            return {instance.show(kind, value): value for value in values}, None
