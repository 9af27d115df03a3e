"""A whole system of machines. An action starts a cascade, which happens completely or not at all.

The cascade runs in ``transitions`` callbacks. The environment is a machine of its own, with one event per action. The
action's guard is the conditions of that event; its root firings and rules are callbacks after it. Each event of an
object has the rules that it triggers as callbacks after it.

A callback fires nothing itself: it posts a trigger to the cascade's agenda. The agenda runs to completion in the order
of the trigger graph. So a rule that requires that something does *not* fire ("all the other cells") is evaluated after
everything that could fire it. Objects change one after the other, but rules read the state before the cascade.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from threading import RLock
from typing import Any

from transitions import EventData
from transitions import Machine as TransitionsMachine
from transitions.extensions import LockedMachine

from schedproof.model.lang import Action, Model, Rigid, Rule
from schedproof.model.semantics.evaluate import Eval, Firings, Moment, Owner, Undefined, compile_term, compile_value
from schedproof.model.semantics.instance import Instance, State, check_scope, fitted

from .codec import Codec
from .machines import IllegalEvent, ObjectMachine, Snapshot, changeable, create_objects, generate_machine
from .triggers import Trigger, triggers
from .values import needs_others

READY = "ready"


class GuardFailed(Exception):
    """The action is not possible in this state; nothing has been changed."""


@dataclass(frozen=True)
class Fired:
    """One event that happened to one object, with the rule or action that first caused it."""

    sort: str
    name: str
    event: str
    payload: Mapping[str, object]
    cause: Action | Rule


@dataclass
class _Cascade:
    """One run of an action: the state it reads, its agenda, and the snapshots to undo it."""

    action: str
    parameters: dict[str, int]
    state: State = ()
    fired: Firings = field(default_factory=dict)
    agenda: list[tuple[int, int, Trigger, int, Mapping[str, int]]] = field(default_factory=list)
    posted: int = 0
    busy: dict[tuple[str, int], tuple[str, Mapping[str, int]]] = field(default_factory=dict)
    before: list[tuple[ObjectMachine, Snapshot]] = field(default_factory=list)
    log: list[Fired] = field(default_factory=list)

    def moment(self) -> Moment:
        """The values that terms read: the state before the cascade, the action's parameters, the firings so far.

        A new one each time, because evaluating a quantifier leaves its variable bound.
        """
        return Moment(self.state, dict(self.parameters), self.fired)

    def post(self, trigger: Trigger, object_number: int = -1, payload: Mapping[str, int] | None = None) -> None:
        """Puts a trigger on the agenda, behind all others of its rank or lower."""
        self.posted += 1
        heapq.heappush(self.agenda, (trigger.rank, self.posted, trigger, object_number, payload or {}))


class _Environment:
    """The ``transitions`` model that carries the actions."""

    state: str


class System:
    """All objects of a model, with its actions.

    Args:
        model: tables, actions and rules.
        scope: sort name -> number of objects; the model's default for sorts left out.
        rigid: the rigid attributes; by default the first of the model's configurations at this scope.
        names: sort name -> the objects' names; by default the sort's letter and a number.
        thread_safe: runs actions from several threads one after the other.
        history: also keeps the history attributes.

    Raises:
        ScopeError: unknown sort, or an impossible number of objects.
        ValueError: the names do not fit the scope.
    """

    def __init__(
        self,
        model: Model,
        scope: Mapping[str, int] | None = None,
        *,
        rigid: Rigid | None = None,
        names: Mapping[str, Sequence[str]] | None = None,
        thread_safe: bool = False,
        history: bool = False,
    ) -> None:
        sizes = check_scope(model, {**{s: len(n) for s, n in (names or {}).items()}, **(scope or {})})
        for sort, given in (names or {}).items():
            if len(given) != sizes[sort]:
                raise ValueError(f"{len(given)} names for {sizes[sort]} objects of {sort}; give one name per object")
        if rigid is None:
            rigid = next(iter(model.configurations(sizes)))
            sizes = fitted(sizes, rigid)
        self._begin_with(Instance(model, sizes, rigid, history, names or {}), thread_safe)

    @classmethod
    def of(cls, instance: Instance, *, thread_safe: bool = False) -> System:
        """The machines of an instance, in its initial state; a sort may be empty there."""
        it = cls.__new__(cls)
        it._begin_with(instance, thread_safe)
        return it

    def _begin_with(self, instance: Instance, thread_safe: bool) -> None:
        self.instance = instance
        self._codec = Codec(self.instance)
        self._lock: AbstractContextManager[object] = RLock() if thread_safe else nullcontext()
        self._triggers = triggers(self.instance)
        self._objects = self._create(self._lock if thread_safe else None, instance.with_history)
        self._updates = self._joint_updates()
        self._environment = _Environment()
        self._actions: Any = self._create_environment(self._lock if thread_safe else None)

    def do(self, action: str, /, **parameters: object) -> tuple[Fired, ...]:
        """Runs an action and its whole cascade, or changes nothing.

        Args:
            action: the action's name.
            parameters: objects by name, sets as sets of names, other values as they are.

        Returns:
            The events, in the order in which they happened.

        Raises:
            ValueError: unknown action; unknown, missing or wrong parameter.
            GuardFailed: the action is not possible in this state.
            IllegalEvent: an object would take an event in a state without a row for it, or two events.
            Undefined: a guard or rule reads an attribute of NONE.

        After any exception every object is as before.
        """
        cascade = _Cascade(action, self._codec.choice(action, parameters))
        self._actions.events[action].trigger(self._environment, cascade)
        return tuple(cascade.log)

    def describe(self) -> dict[str, dict[str, dict[str, object]]]:
        """All objects: sort -> object -> field -> value; ``state`` is the state, references are names."""
        with self._lock:
            return {
                sort: {it.name: {"state": it.state, **it.values} for it in objects}
                for sort, objects in self._objects.items()
            }

    def snapshot(self) -> tuple[Snapshot, ...]:
        """The states and attributes of all objects, as one hashable value."""
        with self._lock:
            return tuple(it.snapshot() for objects in self._objects.values() for it in objects)

    def restore(self, snapshot: tuple[Snapshot, ...]) -> None:
        """Restores a :meth:`snapshot` of this system, or of one with the same objects."""
        with self._lock:
            everything = [it for objects in self._objects.values() for it in objects]
            for it, was in zip(everything, snapshot, strict=True):
                it.restore(was)

    # --- generation

    def _create(self, lock: AbstractContextManager[object] | None, history: bool) -> dict[str, list[ObjectMachine]]:
        objects = {}
        model, initial = self.instance.model, self.instance.initial()
        for declared in model.machines:
            sort = declared.sort.name
            if not declared.states:
                continue  # rigid attributes only: no events
            after: dict[str, list[Callable[[EventData], None]]] = {}
            for (owner, event), caused in self._triggers.items():
                if owner == sort and event:
                    after[event] = [partial(_post, trigger) for trigger in caused]
            machine = generate_machine(declared, model.table(sort), history=history, lock=lock, after=after)
            names = self.instance.object_names(sort)
            objects[sort] = list(create_objects(machine, declared, names, history=history, lock=lock).values())
            first = self.instance.slot(sort)
            for it, number in zip(objects[sort], initial[first : first + len(names)], strict=True):
                it.state = declared.states[number].name  # some objects may begin in another state
        return objects

    def _joint_updates(self) -> dict[tuple[str, str, str], list[tuple[str, Eval]]]:
        """The updates that an object cannot compute alone: (sort, event, source) -> (attribute, value) pairs."""
        updates_by_row = {}
        for row in self.instance.model.rows:
            declared = self.instance.model.machine(row.sort)
            kept = [a.name for a in changeable(declared, self.instance.with_history)]
            joint = [(n, term) for n, term in row.sets if n in kept and needs_others(term, kept)]
            owner = Owner(row.sort.name, row.event)
            kinds = {a.name: a.type for a in declared.attributes}
            compiled = [(n, compile_value(self.instance, term, kinds[n], {}, owner)) for n, term in joint]
            updates_by_row[row.sort.name, row.event, row.source] = compiled
        return updates_by_row

    def _create_environment(self, lock: AbstractContextManager[object] | None) -> TransitionsMachine:
        kind: Any = TransitionsMachine if lock is None else LockedMachine
        events = []
        for action in self.instance.model.actions:
            scope = {v.name: v for v in action.parameters}
            guard = [(str(c.place), compile_term(self.instance, c, scope)) for c in action.when]
            posts = [partial(_post_root, trigger) for trigger in self._triggers[action.name, ""]]
            events.append(
                {
                    "trigger": action.name,
                    "source": READY,
                    "dest": None,  # an internal transition: the environment has no states of its own
                    "prepare": [self._begin],
                    "conditions": [partial(self._holds, i, place, c) for i, (place, c) in enumerate(guard, 1)],
                    "after": [*posts, self._run],
                }
            )
        machine: TransitionsMachine = kind(
            model=None,
            states=[READY],
            initial=READY,
            transitions=events,
            send_event=True,
            auto_transitions=False,
            on_exception=_undo,
            **({} if lock is None else {"machine_context": [lock]}),
        )
        machine.add_model(self._environment)
        return machine

    # --- one cascade; it runs inside the environment's event, and so inside its lock

    def _begin(self, data: EventData) -> None:
        _cascade(data).state = self._codec.pack(self._objects)

    def _holds(self, number: int, place: str, condition: Eval, data: EventData) -> bool:
        cascade = _cascade(data)
        if not condition(cascade.moment()):
            raise GuardFailed(
                f"{self._action_text(cascade)} is not possible: part {number} of its guard ({place}) does not hold"
            )
        return True

    def _run(self, data: EventData) -> None:
        """Runs the agenda to completion, in the order of the trigger graph."""
        cascade = _cascade(data)
        while cascade.agenda:
            _, _, trigger, object_number, payload = heapq.heappop(cascade.agenda)
            for caused in list(trigger.caused(cascade.moment(), object_number, payload)):
                if caused.who < 0:
                    raise Undefined(f"{trigger} fires {trigger.key[1]} on no {trigger.key[0]}")
                self._fire(cascade, trigger, caused.who, caused.payload)

    def _fire(self, cascade: _Cascade, trigger: Trigger, who: int, payload: dict[str, int]) -> None:
        sort, event = trigger.key
        it = self._objects[sort][who]
        already = cascade.busy.setdefault((sort, who), (event, payload))
        if already != (event, payload):
            raise IllegalEvent(
                f"{self._action_text(cascade)}: {trigger} fires {event} on {it.name}, "
                f"which takes {already[0]} in the same cascade already"
            )
        fired = cascade.fired.setdefault(trigger.key, {})
        if who in fired:
            return  # several causes, one event
        fired[who] = payload
        shown = self._codec.payload(sort, event, payload)
        cascade.before.append((it, it.snapshot()))
        try:
            it.trigger_event(event, self._sets(cascade, it, sort, event, who, payload), shown, cascade, who, payload)
        except IllegalEvent as problem:
            raise IllegalEvent(f"{self._action_text(cascade)}: {trigger} fires {event}, but {problem}") from None
        cascade.log.append(Fired(sort, it.name, event, shown, trigger.cause))

    def _action_text(self, cascade: _Cascade) -> str:
        return self._codec.show(cascade.action, cascade.parameters)

    def _sets(
        self, cascade: _Cascade, it: ObjectMachine, sort: str, event: str, who: int, payload: Mapping[str, int]
    ) -> dict[str, object]:
        """The row's new values that depend on other objects, computed from the state before the cascade."""
        joint = self._updates.get((sort, event, it.state))
        if not joint:
            return {}
        bound = {"me": who, **{f"given {name}": value for name, value in payload.items()}}
        moment = Moment(cascade.state, bound)
        declared = self.instance.model.machine(sort)
        values = {}
        for name, value in joint:
            attribute = declared.attribute(name)
            assert attribute is not None
            values[name] = self._codec.decode(attribute.type, value(moment))
        return values


def _cascade(data: EventData) -> _Cascade:
    cascade: _Cascade = next(iter(data.args))
    return cascade


def _post_root(trigger: Trigger, data: EventData) -> None:
    """Callback after an action: puts a root firing or rule on the agenda."""
    _cascade(data).post(trigger)


def _post(trigger: Trigger, data: EventData) -> None:
    """Callback after an object's event: puts a rule on the agenda."""
    _, _, cascade, object_number, payload = data.args
    cascade.post(trigger, object_number, payload)


def _undo(data: EventData) -> None:
    """Callback on any exception inside an action, before its lock is released: restores all objects."""
    for it, was in reversed(_cascade(data).before):
        it.restore(was)
    assert data.error is not None
    raise data.error
