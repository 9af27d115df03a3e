"""Objects on which operations run when a lock file describes none, or too few, of a class."""

from __future__ import annotations

from graphlib import TopologicalSorter

from schedproof.model.locks import Locks
from schedproof.model.locks.language import Object


def made(locks: Locks) -> dict[str, Object]:
    """A small instance of the classes of ``locks``, by name.

    It has two objects of each class in the same containers, and one apart from them. Of a class whose objects contain
    each other there is a tree: a root with two children, one of which has a child; and a root apart. A second object
    is in the child of a tree, so that both kinds of place occur.
    """
    objects: dict[str, Object] = {}
    first: dict[str, str] = {}
    deep: dict[str, str] = {}
    apart: dict[str, str] = {}

    def add(of: str, inside: tuple[str, ...]) -> str:
        number = 1 + sum(one.of == of for one in objects.values())
        name = f"{of[0].lower()}{of[1:]}{number}"
        objects[name] = Object(name, of, inside, locks.classes[of].place)
        return name

    containers = {name: _nearest(locks, name) for name in locks.classes}
    for name in TopologicalSorter(containers).static_order():
        inside = containers[name]
        first[name] = add(name, tuple(first[each] for each in inside))
        if locks.classes[name].is_tree:
            deep[name] = add(name, (first[name],))
            add(name, (deep[name],))
            add(name, (first[name],))
        else:
            deep[name] = first[name]
            add(name, tuple(deep[each] for each in inside))
        apart[name] = add(name, tuple(apart[each] for each in inside))
    return objects


def _nearest(locks: Locks, name: str) -> tuple[str, ...]:
    """The containers of a class that contain no other container of it: through these, an object is in all."""
    direct = [each for each in locks.classes[name].inside if each != name]
    return tuple(each for each in direct if not any(each in locks.around[other] for other in direct))
