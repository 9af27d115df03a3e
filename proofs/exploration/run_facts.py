"""Facts about a run's objects that a reader needs: rigid attributes, initial fields and final fields.

An attribute names an object's owner if it is a reference and bears the name of its sort: a recipe's recipe set, a
system's lab. Values that are none, empty or false are left out.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping

from schedproof.model.lang import Attribute, BoolType, Machine, Ref, SetOf
from schedproof.model.lang.disposable import ABSENT
from schedproof.model.semantics import Instance, State
from schedproof.model.semantics.reasons import value_text
from schedproof.proofs.verdict import ObjectFacts

Object = tuple[str, int]
"""A sort, and the number of one of its objects."""


def words(name: str) -> str:
    """A sort or an attribute in words: ``recipe set`` for RecipeSet and for recipe_set."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name).replace("_", " ").lower()


def introductions(instance: Instance, moved: Collection[str], named: Iterable[Object]) -> tuple[ObjectFacts, ...]:
    """The sorts and rigid facts of a run's objects, and of the objects that these facts refer to, in the model's order.

    Args:
        moved: names of objects that change or are parameters.
        named: further objects.
    """
    names = {instance.object_names(m.sort.name)[n]: (m.sort.name, n) for m, n in _every(instance)}
    work = [*(names[name] for name in moved if name in names), *named]
    introduced: set[Object] = set()
    while work:
        if (now := work.pop()) not in introduced:
            introduced.add(now)
            work += _referred(instance, *now)
    return tuple(
        ObjectFacts(
            instance.object_names(m.sort.name)[n], _introduced(instance, m, n), _rigid(instance, m, n), m.sort.name
        )
        for m, n in _every(instance)
        if (m.sort.name, n) in introduced
    )


def setting(instance: Instance, objects: Iterable[ObjectFacts]) -> tuple[ObjectFacts, ...]:
    """The ``objects`` that have rigid facts and whose sort is ``introduced``."""
    return tuple(each for each in objects if each.fields and instance.model.machine(each.sort).introduced)


def beginning(instance: Instance, objects: Iterable[ObjectFacts]) -> tuple[ObjectFacts, ...]:
    """The fields of ``objects`` in the initial state, as text without the object's name."""
    state = instance.describe(instance.initial())
    facts = []
    for each in objects:
        fields = {k: v for k, v in state[each.sort][each.object].items() if _is_informative(v)}
        if fields and not instance.model.machine(each.sort).sort.disposable:  # absent, as all of them
            text = ", ".join(_changing(instance.model.machine(each.sort), fields))
            facts.append(ObjectFacts(each.object, text, fields, each.sort))
    return tuple(facts)


def _changing(machine: Machine, fields: Mapping[str, object]) -> list[str]:
    """The state without its field's name, and every other field with its name."""
    state = [str(fields["state"])] if machine.states else []
    return [*state, *(_fact(k, v) for k, v in fields.items() if not (k == "state" and state))]


def ending(instance: Instance, state: State, named: Iterable[Object]) -> tuple[ObjectFacts, ...]:
    """The fields in ``state`` of the ``named`` objects and of objects related to them.

    Related are owners of named objects, and objects that named objects refer to and that are not ``introduced``. Related are
    also introduced objects that belong to a named object or refer to one.
    """
    first = list(dict.fromkeys(named))
    with_them = [
        other
        for sort, n in first
        for other in _referred(instance, sort, n)
        if not instance.model.machine(other[0]).introduced
    ]
    shown_objects = [*first, *with_them, *(owner for sort, n in first for owner in _owners(instance, sort, n))]
    shown_objects += [
        (m.sort.name, n) for m, n in _every(instance) if m.introduced and _refers(instance, state, m, n, first)
    ]
    facts = []
    for sort, n in dict.fromkeys(shown_objects):
        fields = {
            k: v
            for k, v in instance.describe(state)[sort][instance.object_names(sort)[n]].items()
            if _is_informative(v)
        }
        name = instance.object_names(sort)[n]
        if instance.model.machine(sort).sort.disposable and fields["state"] == ABSENT:
            fields = {"state": ABSENT}
        if fields:
            text = f"{name}: " + ", ".join(_changing(instance.model.machine(sort), fields))
            facts.append(ObjectFacts(name, text, fields, sort))
    return tuple(facts)


def called(instance: Instance, sort: str, number: int) -> str:
    """The name of an object in a sentence; the names of the objects that it refers to if its sort is not ``introduced``."""
    about = [] if instance.model.machine(sort).introduced else _referred(instance, sort, number)
    names = [instance.object_names(other)[n] for other, n in about or [(sort, number)]]
    return ", ".join(names)


def _is_informative(value: object) -> bool:
    """Whether a value is shown: it is not none, empty or false."""
    return value is not None and value is not False and value != []


def _every(instance: Instance) -> Iterator[tuple[Machine, int]]:
    for machine in instance.model.machines:
        for number in range(instance.sizes[machine.sort.name]):
            yield machine, number


def _rigid_attributes(machine: Machine) -> list[Attribute]:
    return [a for a in machine.attributes if a.rigid]


def _rigid(instance: Instance, machine: Machine, number: int) -> dict[str, object]:
    sort = machine.sort.name
    values = {
        a.name: instance.show(a.type, instance.rigid_values(sort, a)[number])
        for a in _rigid_attributes(machine)
        if not isinstance(a.type, Ref | SetOf) or instance.model.machine(a.type.sort.name).introduced
    }
    return {name: value for name, value in values.items() if _is_informative(value)}


def _owner(machine: Machine) -> Attribute | None:
    """The attribute that names an object's owner."""
    for a in _rigid_attributes(machine):
        if isinstance(a.type, Ref) and words(a.name) == words(a.type.sort.name):
            return a
    return None


def _owners(instance: Instance, sort: str, number: int) -> list[Object]:
    owner = _owner(instance.model.machine(sort))
    if owner is None or not isinstance(owner.type, Ref):
        return []
    value = instance.rigid_values(sort, owner)[number]
    return [(owner.type.sort.name, value)] if value >= 0 else []


def _introduced(instance: Instance, machine: Machine, number: int) -> str:
    """``recipe r0 of recipe set j0: viable {s0, s1}``."""
    fields = _rigid(instance, machine, number)
    owner = _owner(machine)
    whose = f" of {words(owner.name)} {fields[owner.name]}" if owner is not None and owner.name in fields else ""
    means = {a.name: a.about for a in machine.attributes if a.about and isinstance(a.type, BoolType)}
    facts = [means.get(k) or _fact(k, v) for k, v in fields.items() if owner is None or k != owner.name]
    head = f"{words(machine.sort.name)} {instance.object_names(machine.sort.name)[number]}{whose}"
    return f"{head}: {', '.join(facts)}" if facts else head


def _fact(name: str, value: object) -> str:
    if value is True:
        return words(name)
    return f"{words(name)} {value_text(value)}"


def _referred(instance: Instance, sort: str, number: int) -> list[Object]:
    """The objects that the rigid facts of an object refer to."""
    referred: list[Object] = []
    for a in _rigid_attributes(instance.model.machine(sort)):
        value = instance.rigid_values(sort, a)[number]
        if isinstance(a.type, Ref) and value >= 0:
            referred.append((a.type.sort.name, value))
        elif isinstance(a.type, SetOf):
            referred += [(a.type.sort.name, n) for n in range(instance.sizes[a.type.sort.name]) if value >> n & 1]
    return referred


def _refers(instance: Instance, state: State, machine: Machine, number: int, targets: Collection[Object]) -> bool:
    """Whether one of the ``targets`` owns an object, or the object refers to one in ``state``."""
    sort = machine.sort.name
    return any(owner in targets for owner in _owners(instance, sort, number)) or any(
        (a.type.sort.name, state[instance.slot(sort, a.name) + number]) in targets
        for a in instance.attributes(sort)
        if isinstance(a.type, Ref)
    )
