"""The database as the scheduler sees it: systems, recipe sets and recipes, read and written together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Self

from schedproof.impl import store
from schedproof.impl.errors import Refused
from schedproof.impl.store import Kind, NotIn, Schema, ValuesOf, retried

from .records import FINISHED, Condition, Recipe, RecipeSet, System, Usage, World


@dataclass(frozen=True)
class Changes:
    """What a transaction writes: pairs of a record as it was read (None: it is added) and as it is to be."""

    recipe_sets: tuple[tuple[RecipeSet | None, RecipeSet], ...] = ()
    recipes: tuple[tuple[Recipe | None, Recipe], ...] = ()
    systems: tuple[tuple[System | None, System], ...] = ()


@dataclass(frozen=True)
class LabEntry:
    """A lab that a system or a recipe set names."""

    name: str


@dataclass(frozen=True)
class UsageEntry:
    """An entry of the "System Usage" table (lines 249-255): how long a system was used for what.

    ``finished`` is None in the entry that still holds. Entries are numbered in the order in which they begin.
    """

    system: str
    usage: Usage
    condition: Condition
    started: datetime
    finished: datetime | None = None
    id: int = 0


@dataclass(frozen=True)
class Database:
    """All records."""

    labs: tuple[LabEntry, ...] = ()
    systems: tuple[System, ...] = ()
    recipe_sets: tuple[RecipeSet, ...] = ()
    recipes: tuple[Recipe, ...] = ()
    usage: tuple[UsageEntry, ...] = ()


SCHEMA = Schema(
    Database,
    Kind(LabEntry, "labs", key=("name",), title="lab"),
    Kind(System, "systems", key=("name",), title="system"),
    Kind(RecipeSet, "recipe_sets", key=("name",), title="recipe set"),
    Kind(Recipe, "recipes", key=("name",), title="recipe"),
    Kind(UsageEntry, "usage", title="entry of system usage"),
)

_UNFINISHED = ValuesOf(Recipe, "recipe_set", {"state": NotIn(FINISHED)})


def now() -> datetime:
    """The time of day, the default clock of the stores."""
    return datetime.now(UTC)


class Transaction:
    """Reads and writes that happen together or not at all."""

    def __init__(self, records: store.Transaction, clock: Callable[[], datetime]) -> None:
        self._records = records
        self._clock = clock

    def read(self) -> World:
        """All systems, and the recipe sets that have an unfinished recipe, with all of their recipes."""
        find = self._records.find
        sets, recipes = find(RecipeSet, name=_UNFINISHED), find(Recipe, recipe_set=_UNFINISHED)
        return World(sets, recipes, find(System))

    def write(self, changes: Changes) -> None:
        """Writes each change if the record still is as it was read, and an entry of system usage for
        each system whose usage or condition changes.

        Raises:
            Contended: a record is not as it was read.
            Refused: a record to be added has a name that is taken.
            StoreError: it cannot be written, for example since the schema forbids it.
        """
        systems: list[System] = [new for old, new in changes.systems if old is None]
        sets: list[RecipeSet] = [new for old, new in changes.recipe_sets if old is None]
        recipes = [new for old, new in changes.recipes if old is None]
        self._add_labs({system.lab for system in systems} | {each.lab for each in sets if each.lab is not None})
        self._add(System, systems)
        self._add(RecipeSet, sets)
        # A host before its guests.
        self._add(Recipe, sorted(recipes, key=lambda recipe: recipe.host is not None))
        for pair in (*changes.recipe_sets, *self._leave_seats(changes), *changes.systems):
            if pair[0] is not None:
                self._records.update(*pair)
        if changes.systems:
            self._note([new for _, new in changes.systems])

    def clear(self) -> None:
        """Removes all records."""
        self._records.clear()

    def _add_labs(self, names: Iterable[str]) -> None:
        for name in sorted(names):
            if self._records.get(LabEntry, name) is None:
                self._records.add(LabEntry(name))

    def _add(self, kind: type[Any], added: Sequence[Any]) -> None:
        """Finished ones are not read by :meth:`read`, but their names are taken."""
        taken = self._records.find(kind, name=frozenset(record.name for record in added)) if added else ()
        if taken:
            raise Refused(f"there is a {SCHEMA.kind(kind).describe(taken[0].name)} already")
        for record in added:
            self._records.add(record)

    def _leave_seats(self, changes: Changes) -> Iterator[tuple[Recipe | None, Recipe]]:
        """What is left to write when every seat that changes is left: siblings may exchange theirs."""
        left: list[tuple[Recipe | None, Recipe]] = []
        for old, new in changes.recipes:
            if old is not None and old.seat not in (None, new.seat):
                standing = replace(old, seat=None)
                self._records.update(old, standing)
                old = standing
            left.append((old, new))
        yield from left

    def _note(self, systems: Sequence[System]) -> None:
        at = self._clock()
        for system in systems:
            for entry in self._records.find(UsageEntry, system=system.name, finished=None):
                self._records.update(entry, replace(entry, finished=at))
            self._records.add(UsageEntry(system.name, system.usage, system.condition, at))


class Store:
    """The records in ``kept``, whose hooks are called around each commit. ``clock`` tells the times of the system usage."""

    transaction_type: type[Transaction] = Transaction

    def __init__(self, kept: store.Store[Database], clock: Callable[[], datetime]) -> None:
        self.kept = kept
        self._clock = clock

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """A transaction, committed at the end of the ``with`` block and rolled back by an exception.

        Raises:
            Contended: another transaction came in between; nothing is written.
            StoreError: the store cannot be used.
        """
        with self.kept.transaction() as transaction:
            yield self.transaction_type(transaction, self._clock)

    def snapshot(self) -> World:
        """All records, those of finished sets too, without the system usage."""
        records = self.kept.snapshot()
        return World(records.recipe_sets, records.recipes, records.systems)

    def restore(self, snapshot: World) -> None:
        """Goes back to a snapshot; the system usage begins anew, with an entry for each system."""
        with self.transaction() as transaction:
            transaction.clear()
            transaction.write(
                Changes(
                    tuple((None, recipe_set) for recipe_set in snapshot.recipe_sets),
                    tuple((None, recipe) for recipe in snapshot.recipes),
                    tuple((None, system) for system in snapshot.systems),
                )
            )

    def usage(self, system: str | None = None) -> Sequence[UsageEntry]:
        """The system usage of one system, or of all, oldest first."""

        def read() -> Sequence[UsageEntry]:
            with self.kept.transaction() as transaction:
                return transaction.find(UsageEntry, **({} if system is None else {"system": system}))

        return retried(read)

    def close(self) -> None:
        """Ends the use of the store."""
        self.kept.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


class MemoryStore(Store):
    """The records as one value, for explorations."""

    def __init__(self, *, clock: Callable[[], datetime] = now) -> None:
        self._in_memory = store.MemoryStore(SCHEMA)
        super().__init__(self._in_memory, clock)

    def restore(self, snapshot: World) -> None:
        """Goes back to a snapshot, without a transaction: explorations do it before every operation."""
        at = self._clock()
        usage = tuple(UsageEntry(s.name, s.usage, s.condition, at, id=i) for i, s in enumerate(snapshot.systems, 1))
        labs = tuple(LabEntry(name) for name in sorted({system.lab for system in snapshot.systems}))
        records = Database(labs, snapshot.systems, snapshot.recipe_sets, snapshot.recipes, usage)
        self._in_memory.restore(records)
