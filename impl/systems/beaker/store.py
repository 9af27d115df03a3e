"""The database as the scheduler sees it: systems, recipe sets and recipes, read and written together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from schedproof.impl import store
from schedproof.impl.errors import Refused
from schedproof.impl.store import Kind, NotIn, Schema, Store, Transaction, ValuesOf

from .records import FINISHED, Condition, Recipe, RecipeSet, System, Usage, World


@dataclass(frozen=True)
class Changes:
    """The writes of a transaction: pairs of a record as read (None if it is added) and as it will be."""

    recipe_sets: tuple[tuple[RecipeSet | None, RecipeSet], ...] = ()
    recipes: tuple[tuple[Recipe | None, Recipe], ...] = ()
    systems: tuple[tuple[System | None, System], ...] = ()


@dataclass(frozen=True)
class LabEntry:
    """A lab that a system or a recipe set names."""

    name: str


@dataclass(frozen=True)
class UsageEntry:
    """An entry of the "System Usage" table (lines 249-255): how long a system had a usage.

    Attributes:
        finished: when it ended; None in the current entry.
        id: numbers the entries in the order in which they begin.
    """

    system: str
    usage: Usage
    condition: Condition
    started: datetime
    finished: datetime | None = None
    id: int = 0


SCHEMA = Schema(
    World,
    Kind(LabEntry, None, key=("name",), title="lab"),
    Kind(System, "systems", key=("name",), title="system"),
    Kind(RecipeSet, "recipe_sets", key=("name",), title="recipe set"),
    Kind(Recipe, "recipes", key=("name",), title="recipe"),
    Kind(UsageEntry, None),
)

_UNFINISHED = ValuesOf(Recipe, "recipe_set", {"state": NotIn(FINISHED)})


def read_world(transaction: Transaction) -> World:
    """Returns all systems, and each recipe set that has an unfinished recipe with all its recipes."""
    find = transaction.find
    return World(find(RecipeSet, name=_UNFINISHED), find(Recipe, recipe_set=_UNFINISHED), find(System))


def write(transaction: Transaction, changes: Changes) -> None:
    """Writes each change if its record is unchanged since it was read.

    For each system whose usage or condition changes, an entry of system usage is written too.

    Raises:
        Contended: a record has changed since it was read.
        Refused: a record to be added has a name that is in use.
        StoreError: a change cannot be written, for example because the schema forbids it.
    """
    systems: list[System] = [new for old, new in changes.systems if old is None]
    sets: list[RecipeSet] = [new for old, new in changes.recipe_sets if old is None]
    recipes = [new for old, new in changes.recipes if old is None]
    for lab in sorted({system.lab for system in systems} | {each.lab for each in sets if each.lab is not None}):
        if transaction.get(LabEntry, lab) is None:
            transaction.add(LabEntry(lab))
    # Hosts before their guests.
    for kind, added in (
        (System, systems),
        (RecipeSet, sets),
        (Recipe, sorted(recipes, key=lambda r: r.host is not None)),
    ):
        _add(transaction, kind, added)
    for pair in (*changes.recipe_sets, *_leave_seats(transaction, changes), *changes.systems):
        if pair[0] is not None:
            transaction.update(*pair)
    at = now()
    for _, system in changes.systems:
        for entry in transaction.find(UsageEntry, system=system.name, finished=None):
            transaction.update(entry, replace(entry, finished=at))
        transaction.add(UsageEntry(system.name, system.usage, system.condition, at))


def _add(transaction: Transaction, kind: type[Any], added: Sequence[Any]) -> None:
    """Adds records. :func:`read_world` does not read finished objects, but their names stay in use."""
    existing = transaction.find(kind, name=frozenset(record.name for record in added)) if added else ()
    if existing:
        raise Refused(f"there is a {SCHEMA.of[kind].describe(existing[0].name)} already")
    for record in added:
        transaction.add(record)


def _leave_seats(transaction: Transaction, changes: Changes) -> list[tuple[Recipe | None, Recipe]]:
    """Clears every seat that changes, and returns the writes that are left: siblings may exchange seats."""
    left: list[tuple[Recipe | None, Recipe]] = []
    for old, new in changes.recipes:
        if old is not None and old.seat not in (None, new.seat):
            standing = replace(old, seat=None)
            transaction.update(old, standing)
            old = standing
        left.append((old, new))
    return left


def now() -> datetime:
    """Returns the current time in UTC."""
    return datetime.now(UTC)


class BeakerStore(Store[World]):
    """The records, with a history of the usage of systems."""

    def restore(self, snapshot: World) -> None:
        """Restores a snapshot. The system usage starts again, with an entry for each system."""
        changes = Changes(
            tuple((None, recipe_set) for recipe_set in snapshot.recipe_sets),
            tuple((None, recipe) for recipe in snapshot.recipes),
            tuple((None, system) for system in snapshot.systems),
        )
        with self.transaction() as transaction:
            transaction.clear()
            write(transaction, changes)

    def usage(self, system: str | None = None) -> Sequence[UsageEntry]:
        """Returns the usage entries of one system, or of all, oldest first."""
        conditions = {} if system is None else {"system": system}
        return self.transact(lambda transaction: transaction.find(UsageEntry, **conditions))


class MemoryStore(store.MemoryStore[World], BeakerStore):
    """The records as one value in memory, for explorations."""

    def __init__(self) -> None:
        super().__init__(SCHEMA)

    def restore(self, snapshot: World) -> None:
        """Restores a snapshot without a transaction, because explorations do so before every operation."""
        super().restore(snapshot)
        at = now()
        self._records[LabEntry] = tuple(LabEntry(name) for name in sorted({system.lab for system in snapshot.systems}))
        self._records[UsageEntry] = tuple(
            UsageEntry(s.name, s.usage, s.condition, at, id=i) for i, s in enumerate(snapshot.systems, 1)
        )
