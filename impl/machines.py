"""Executable machines of single objects, generated from a model's transition tables.

All objects of a sort share one ``transitions`` machine, which owns the table. Each object is a *model* of it (in the
words of that library) and owns its state and attributes. So objects are cheap to create, to copy
(:meth:`ObjectMachine.snapshot`) and to restore (:meth:`ObjectMachine.restore`).

A single object has no access to others. The rules of the model say which event of one object causes which event of
another; :mod:`schedproof.impl.cascade` executes them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from threading import RLock
from typing import Any

from transitions import EventData, MachineError
from transitions import Machine as TransitionsMachine
from transitions.extensions import LockedMachine

from schedproof.model.lang import Attribute, Machine, Model, Row

from .values import NeedsOthers, checked, initial_value, own_value

Snapshot = tuple[str, tuple[object, ...]]
"""The state and the attribute values of one object."""


class IllegalEvent(Exception):
    """An object was to take an event in a state without a row for it; nothing has been changed."""


class ObjectMachine:
    """One object: a state of its sort's machine, and its attributes.

    :func:`object_machines` creates it. Reading ``state`` and ``values`` is two reads; where other threads fire events,
    take a :meth:`snapshot`.
    """

    state: str
    """The current state; ``transitions`` writes it."""

    def __init__(self, name: str, sort: str, values: dict[str, object], lock: AbstractContextManager[object]) -> None:
        self.name = name
        self.sort = sort
        self._values = values
        self._lock = lock
        self._machine: Any = None

    def __repr__(self) -> str:
        return f"<{self.sort} {self.name}: {self.state}>"

    @property
    def values(self) -> dict[str, object]:
        """The changeable attributes: references as names or None, sets as frozensets of names."""
        return dict(self._values)

    def fire(self, event: str, /, *, sets: Mapping[str, object] | None = None, **payload: object) -> None:
        """Takes the row of the table for ``event`` and the current state: changes the state and the attributes.

        Args:
            event: the event's name in the table.
            sets: attribute name -> value, for attributes whose new value depends on other objects (``those(...)``, for
                example): one object cannot compute it. Only attributes that the row sets are allowed.
            payload: the event's parameters.

        Raises:
            IllegalEvent: the table has no row for this event in this state.
            ValueError: a parameter or value is missing, unknown or of the wrong type.

        After any exception the object is as before.
        """
        self.trigger_event(event, sets or {}, payload)

    def trigger_event(
        self, event: str, sets: Mapping[str, object], payload: Mapping[str, object], *more: object
    ) -> None:
        """:meth:`fire` for callbacks, which get ``(sets, payload, *more)`` in their ``EventData.args``."""
        known = self._machine.events.get(event)
        if known is None:
            names = ", ".join(self._machine.events)
            raise IllegalEvent(f"unknown event {event!r} of {self.name}; choose from {names}")
        known.trigger(self, sets, payload, *more)

    def possible(self) -> list[str]:
        """The events for which the table has a row in the current state, in the table's order."""
        return _possible(self._machine, self.state)

    def snapshot(self) -> Snapshot:
        """State and attributes as one hashable value."""
        with self._lock:
            return self.state, tuple(self._values.values())

    def restore(self, snapshot: Snapshot) -> None:
        """Restores a :meth:`snapshot` of an object of this sort."""
        state, values = snapshot
        with self._lock:
            self.state, self._values = state, dict(zip(self._values, values, strict=True))

    def _update(
        self, row: Row, attributes: Mapping[str, Attribute], parameters: frozenset[str], data: EventData
    ) -> None:
        """The callback before the change of state: computes all new values, then sets them at once.

        If it raises, ``transitions`` leaves the state as it was.
        """
        # fire() gives both as arguments; the library's own spelling, c0.e0(user="g1"), gives keywords only.
        sets, payload = (*data.args, {}, {})[:2]
        payload = {**data.kwargs, **payload}
        what = f"{self.name}: {row.event}"
        if unknown := [n for n in payload if n not in parameters]:
            has = ", ".join(sorted(parameters)) or "none"
            raise ValueError(f"unknown parameter {unknown[0]!r} of {what}; choose from {has}")
        updates = {name: term for name, term in row.sets if name in attributes}
        if unknown := [n for n in sets if n not in updates]:
            has = ", ".join(updates) or "none"
            raise ValueError(f"{what} in {row.source} does not set {unknown[0]!r}; choose from {has}")
        new: dict[str, object] = {}
        for name, term in updates.items():
            try:
                value = sets[name] if name in sets else own_value(term, self.name, self._values, payload)
            except NeedsOthers as problem:
                raise ValueError(f"{what}: {name}: {problem}; pass its value as sets={{{name!r}: ...}}") from None
            except KeyError as missing:
                name = missing.args[0]
                raise ValueError(f"{what} needs its parameter {name}: fire({row.event!r}, {name}=...)") from None
            new[name] = checked(attributes[name].type, value, f"{what}: {name}")
        self._values = {**self._values, **new}


def _possible(machine: Any, state: str) -> list[str]:
    return [name for name, event in machine.events.items() if state in event.transitions]


def _refuse(data: EventData) -> None:
    """Turns a ``transitions`` error into IllegalEvent, inside the lock: the state is the one that caused it."""
    if isinstance(data.error, MachineError) and data.transition is None:
        it: ObjectMachine = data.model  # type: ignore[assignment]
        possible = ", ".join(_possible(data.machine, it.state)) or "no event"
        raise IllegalEvent(
            f"{it.name} cannot take {data.event.name} in state {it.state}; possible there: {possible}"
        ) from None
    assert data.error is not None
    raise data.error


def generate_machine(
    declared: Machine,
    rows: Sequence[Row],
    *,
    history: bool = False,
    lock: AbstractContextManager[object] | None = None,
    after: Mapping[str, Sequence[Callable[[EventData], None]]] | None = None,
) -> TransitionsMachine:
    """The ``transitions`` machine of one sort, without objects.

    Args:
        declared: states and attributes.
        rows: the sort's transition table.
        history: also keeps the history attributes.
        lock: if given, the machine is a ``LockedMachine`` that holds it during every event.
        after: callbacks by event, called when the event has happened to an object.

    Raises:
        ValueError: the sort has no states, or an event has a parameter ``sets``.
    """
    if not declared.states:
        raise ValueError(f"{declared.sort} has no states, and a machine needs some; choose another sort")
    attributes = {a.name: a for a in changeable(declared, history)}
    table = []
    for row in rows:
        parameters = frozenset(declared.parameters(row.event))
        if "sets" in parameters:
            raise ValueError(f"{row.name}: an event cannot have a parameter 'sets'; choose another name")
        update = partial(_update, row, attributes, parameters)
        then = list((after or {}).get(row.event, ()))
        table.append(
            {"trigger": row.event, "source": row.source, "dest": row.target, "before": [update], "after": then}
        )
    kind: Any = TransitionsMachine if lock is None else LockedMachine
    machine: TransitionsMachine = kind(
        model=None,
        states=[s.name for s in declared.states],
        initial=declared.states[0].name,
        transitions=table,
        send_event=True,
        auto_transitions=False,
        on_exception=_refuse,
        **({} if lock is None else {"machine_context": [lock]}),
    )
    return machine


def _update(row: Row, attributes: Mapping[str, Attribute], parameters: frozenset[str], data: EventData) -> None:
    it: ObjectMachine = data.model  # type: ignore[assignment]
    it._update(row, attributes, parameters, data)


def changeable(declared: Machine, history: bool) -> tuple[Attribute, ...]:
    """The attributes that events change; history attributes only if ``history``."""
    return tuple(a for a in declared.attributes if not a.rigid and (history or not a.history))


def create_objects(
    machine: TransitionsMachine,
    declared: Machine,
    names: Iterable[str],
    *,
    history: bool = False,
    lock: AbstractContextManager[object] | None = None,
) -> dict[str, ObjectMachine]:
    """Objects by name, in their initial state, on a machine of :func:`generate_machine` with the same ``lock``."""
    initial = {a.name: initial_value(a) for a in changeable(declared, history)}
    objects: dict[str, ObjectMachine] = {}
    for name in names:
        if name in objects:
            raise ValueError(f"two objects of {declared.sort} are named {name!r}; names must differ")
        objects[name] = ObjectMachine(name, declared.sort.name, dict(initial), lock or nullcontext())
        objects[name]._machine = machine
    machine.add_model(list(objects.values()))
    return objects


def object_machines(
    model: Model, sort_name: str, names: Iterable[str], *, thread_safe: bool = False, history: bool = False
) -> dict[str, ObjectMachine]:
    """The objects of one sort, by name, each in the initial state.

    Args:
        model: the model with the transition tables.
        sort_name: one of the model's sorts.
        names: the objects' names, all different.
        thread_safe: events of these objects from several threads happen one after the other
            (a ``LockedMachine`` of ``transitions.extensions``).
        history: also keeps the history attributes.

    Raises:
        ValueError: the model has no such sort, the sort has no states, or two names are the same.
    """
    known = [s.name for s in model.sorts]
    if sort_name not in known:
        raise ValueError(f"unknown sort {sort_name!r}; choose from {', '.join(known)}")
    declared = model.machine(sort_name)
    lock = RLock() if thread_safe else None
    machine = generate_machine(declared, model.table(sort_name), history=history, lock=lock)
    return create_objects(machine, declared, names, history=history, lock=lock)
