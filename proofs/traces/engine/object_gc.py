"""Object garbage collection: which objects have ended, and can no longer be observed.

An endless log names endlessly many objects. An object that has ended is collected if no guard, rule or update of the
model depends on it. The text of the model alone decides that (:mod:`.unobserved`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from schedproof.model.lang import Model
from schedproof.model.lang.disposable import ABSENT
from schedproof.model.lang.types import Function, Ref, Relation, SetOf
from schedproof.model.lang.types import Sequence as SequenceType
from schedproof.model.semantics import Instance, State, tuples

from .objects import has
from .unobserved import Ended


def collectable(model: Model) -> Mapping[str, frozenset[str]]:
    """By sort, the states in which an unreferenced object can be collected.

    No row leaves them, and the model ignores such an object. Of a disposable sort that is so by declaration.
    """
    known: Mapping[str, frozenset[str]] | None = vars(model).get("_collectable")
    if known is not None:
        return known
    by_sort = {}
    for machine in model.machines:
        sort = machine.sort.name
        if machine.sort.disposable:
            by_sort[sort] = frozenset({ABSENT})
            continue
        final = [s.name for s in machine.states if all(row.source != s.name for row in model.table(sort))]
        by_sort[sort] = frozenset(s for s in final if Ended(model, sort, s).makes_no_difference())
    object.__setattr__(model, "_collectable", by_sort)  # a model never changes, and every trace asks for it
    return by_sort


def refers(instance: Instance, state: State, sort: str, number: int) -> bool:
    """Whether another object refers to this one, or has it in a set. Rigid sets do not count (see ``only_asked``)."""
    for machine in instance.model.machines:
        owner = machine.sort.name
        for attribute in machine.attributes:
            kind = attribute.type
            if attribute.history or (attribute.rigid and isinstance(kind, SetOf | Relation | Function)):
                continue
            if isinstance(kind, Function):
                if _has_entry(instance, state, owner, attribute.name, kind, (sort, number)):
                    return True
                continue
            if isinstance(kind, SequenceType):
                if _has_item(instance, state, owner, attribute.name, kind, (sort, number)):
                    return True
                continue
            if isinstance(kind, Relation):
                start, dimensions = instance.slot(owner, attribute.name), instance.dimensions(kind)
                for i in range(instance.sizes[owner] if any(each.name == sort for each in kind.sorts) else 0):
                    related = tuples.of_mask(state[start + i], dimensions)
                    if (owner, i) != (sort, number) and any(has(kind.sorts, each, sort, number) for each in related):
                        return True
                continue
            if not isinstance(kind, Ref | SetOf) or kind.sort.name != sort:
                continue
            if attribute.rigid and not instance.rigid_in_state:
                values: Sequence[int] = instance.rigid_values(owner, attribute)
            else:
                start = instance.slot(owner, attribute.name)
                values = state[start : start + instance.sizes[owner]]
            if isinstance(kind, Ref) and number not in values:
                continue  # the common case
            for i, value in enumerate(values):
                named = value == number if isinstance(kind, Ref) else bool(value >> number & 1)
                if named and (owner, i) != (sort, number):
                    return True
    return False


def _has_item(instance: Instance, state: State, owner: str, name: str, kind: SequenceType, of: tuple[str, int]) -> bool:
    """Whether a sequence of another object has this one."""
    sort, number = of
    if not isinstance(kind.of, Ref) or kind.of.sort.name != sort:
        return False
    items, start = instance.items(kind), instance.slot(owner, name)
    return any((owner, i) != of and items.has(state[start + i], number) for i in range(instance.sizes[owner]))


def _has_entry(instance: Instance, state: State, owner: str, name: str, kind: Function, of: tuple[str, int]) -> bool:
    """Whether a function of another object has a value at this one, other than the first, or names it."""
    packing, (sort, number) = instance.packing(kind), of
    names_it = isinstance(kind.to, Ref) and kind.to.sort.name == sort
    start = instance.slot(owner, name)
    return any(
        one != packing.value(0) and (has(kind.sorts, objects, sort, number) or (names_it and one == number))
        for i in range(instance.sizes[owner])
        if (owner, i) != of and state[start + i]
        for objects, one in zip(packing.places(), packing.all(state[start + i]), strict=True)
    )
