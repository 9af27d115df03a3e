"""What a reader has to know of a run's objects: what never changes of them, and what became of them.

An attribute that is a reference and bears the name of its sort says whose an object is: a recipe of a
recipe set, a system of a lab. What is none, empty or false goes without saying, and so do objects that
their machine does not introduce.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

from schedproof.model.lang import Attribute, Machine, Ref, SetOf
from schedproof.model.semantics import Instance, State
from schedproof.proofs.verdict import ObjectFacts

Object = tuple[str, int]
"""A sort, and the number of an object of it."""


def words(name: str) -> str:
    """A sort or an attribute in words: ``recipe set`` for RecipeSet and for recipe_set."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name).replace("_", " ").lower()


def setting(instance: Instance, moved: Collection[str], named: Iterable[Object]) -> tuple[ObjectFacts, ...]:
    """The rigid facts of the objects of a run (``moved`` by name, or ``named``), and of those that these
    facts speak of, in the model's order."""
    names = {instance.object_names(m.sort.name)[n]: (m.sort.name, n) for m, n in _every(instance)}
    work = [*(names[name] for name in moved if name in names), *named]
    mine: set[Object] = set()
    while work:
        if (now := work.pop()) not in mine:
            mine.add(now)
            work += _referred(instance, *now)
    return tuple(
        ObjectFacts(instance.object_names(m.sort.name)[n], _introduced(instance, m, n), fields)
        for m, n in _every(instance)
        if m.introduced and (m.sort.name, n) in mine and (fields := _rigid(instance, m, n))
    )


def ending(instance: Instance, state: State, named: Iterable[Object]) -> tuple[ObjectFacts, ...]:
    """The fields in ``state`` of the ``named`` objects, of what goes with them, of those whose they are, and of
    those that are theirs or refer to them."""
    first = list(dict.fromkeys(named))
    with_them = [
        other
        for sort, n in first
        for other in _referred(instance, sort, n)
        if not instance.model.machine(other[0]).introduced
    ]
    wanted = [*first, *with_them, *(owner for sort, n in first for owner in _owners(instance, sort, n))]
    wanted += [(m.sort.name, n) for m, n in _every(instance) if m.introduced and _refers(instance, state, m, n, first)]
    found = []
    for sort, n in dict.fromkeys(wanted):
        fields = {k: v for k, v in instance.describe(state)[sort][instance.object_names(sort)[n]].items() if said(v)}
        name = instance.object_names(sort)[n]
        state_name = [str(fields["state"])] if instance.model.machine(sort).states else []
        rest = [_fact(k, v) for k, v in fields.items() if not (k == "state" and state_name)]
        if fields:
            found.append(ObjectFacts(name, f"{name}: " + ", ".join([*state_name, *rest]), fields))
    return tuple(found)


def called(instance: Instance, sort: str, number: int) -> str:
    """What a sentence calls an object: its name, or what it is about if nothing introduces it."""
    about = [] if instance.model.machine(sort).introduced else _referred(instance, sort, number)
    names = [instance.object_names(other)[n] for other, n in about or [(sort, number)]]
    return ", ".join(names)


def said(value: object) -> bool:
    """The value is worth saying: not none, empty or false."""
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
    return {name: value for name, value in values.items() if said(value)}


def _owner(machine: Machine) -> Attribute | None:
    """The attribute that says whose an object is."""
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
    facts = [_fact(k, v) for k, v in fields.items() if owner is None or k != owner.name]
    head = f"{words(machine.sort.name)} {instance.object_names(machine.sort.name)[number]}{whose}"
    return f"{head}: {', '.join(facts)}" if facts else head


def _fact(name: str, value: object) -> str:
    if value is True:
        return words(name)
    shown = "{" + ", ".join(map(str, value)) + "}" if isinstance(value, list) else str(value)
    return f"{words(name)} {shown}"


def _referred(instance: Instance, sort: str, number: int) -> list[Object]:
    """The objects that the rigid facts of an object speak of."""
    found: list[Object] = []
    for a in _rigid_attributes(instance.model.machine(sort)):
        value = instance.rigid_values(sort, a)[number]
        if isinstance(a.type, Ref) and value >= 0:
            found.append((a.type.sort.name, value))
        elif isinstance(a.type, SetOf):
            found += [(a.type.sort.name, n) for n in range(instance.sizes[a.type.sort.name]) if value >> n & 1]
    return found


def _refers(instance: Instance, state: State, machine: Machine, number: int, wanted: Collection[Object]) -> bool:
    """An object belongs to one of the ``wanted``, or refers to one of them in ``state``."""
    sort = machine.sort.name
    return any(owner in wanted for owner in _owners(instance, sort, number)) or any(
        (a.type.sort.name, state[instance.slot(sort, a.name) + number]) in wanted
        for a in instance.attributes(sort)
        if isinstance(a.type, Ref)
    )
