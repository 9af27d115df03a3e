"""A derived order for any number of objects: rows are guessed from runs on a few objects, and then proved as if written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from schedproof.model.locks import Locks
from schedproof.model.locks.language import Kind, OrderRow, Where

from .derived_answers import Instance
from .rank import Rank, check_order
from .symbolic import check_operation
from .unfold import World


@dataclass(frozen=True)
class General:
    """The result for a derived order: a rank of all objects, or why there is none."""

    rank: Rank | None
    why: str


def of_classes(instances: Iterable[Instance]) -> bool:
    """Whether some program acquires, under other locks, a lock of a class that may have any number of objects."""
    return any(
        instance.objects[name].of not in list(Kind)
        for instance in instances
        for one in instance.acquisitions
        if one.held
        for name in (one.lock, *(held for held, _ in one.held))
    )


def for_any_number(locks: Locks, instances: Sequence[Instance]) -> General:
    """Proves the derived order of ``locks`` for any number of objects, if possible.

    Raises:
        Disagreement: two engines or solvers contradict each other.
    """
    if any(one.name.partition(".")[0] in locks.threads for one in instances[0].acquisitions):
        return General(None, "threads run on the objects of the file")
    rows: dict[tuple[str, str], set[Where]] = {}
    for instance in instances:
        world = World(replace(locks, objects=instance.objects))
        for one in instance.acquisitions:
            for held in {name for name, _ in one.held} - {one.lock}:
                pair = (instance.objects[held].of, instance.objects[one.lock].of)
                rows[pair] = rows.get(pair, set(Where)) & _positions(world, held, one.lock)
    if (unordered := next((of for (of, _), where in rows.items() if not where), None)) is not None:
        return General(None, f"two objects of {unordered} have no order, by their keys or by their places")
    place = next(iter(locks.operations.values())).place
    order = [OrderRow(held, acquired, min(where), None, place) for (held, acquired), where in rows.items()]
    written = replace(locks, order=order, closed=True)
    rank = check_order(written).rank
    if rank is None:
        return General(None, "no order of the classes agrees with all operations")
    for operation in locks.operations.values():
        for step in check_operation(written, rank, operation).order:
            if not step.proved:
                return General(
                    None, f"{operation.name} is not proved: {step.step.text} ({step.step.place}): {step.why}"
                )
    return General(rank, "")


def _positions(world: World, held: str, acquired: str) -> set[Where]:
    """How the place of an acquired object may be described, seen from a held one."""
    of, other = world.locks.objects[held].of, world.locks.objects[acquired].of
    if of != other:
        return {Where.ANYWHERE}
    if world.locks.classes[of].is_tree:
        inside, around = _is_inside(world, acquired, held), _is_inside(world, held, acquired)
        return {where for where, holds in ((Where.IN, inside), (Where.AROUND, around)) if holds}
    return {Where.AFTER if world.key(acquired) > world.key(held) else Where.BEFORE}


def _is_inside(world: World, inner: str, outer: str) -> bool:
    """Whether an object of a tree is in another one, at any depth."""
    around = world.around(inner, world.locks.objects[inner].of)
    return around is not None and (around == outer or _is_inside(world, around, outer))
