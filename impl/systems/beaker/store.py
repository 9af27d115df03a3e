"""What the scheduler needs of a store: transactions, one after the other as far as anyone can tell."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

from .records import Condition, Recipe, RecipeSet, System, Usage, World


@dataclass(frozen=True)
class Changes:
    """What a transaction writes: pairs of a record as it was read (None: it is added) and as it is to be."""

    recipe_sets: tuple[tuple[RecipeSet | None, RecipeSet], ...] = ()
    recipes: tuple[tuple[Recipe | None, Recipe], ...] = ()
    systems: tuple[tuple[System | None, System], ...] = ()


@dataclass(frozen=True)
class UsageEntry:
    """An entry of the "System Usage" table (lines 249-255): how long a system was used for what.

    ``finished`` is None in the entry that still holds.
    """

    system: str
    usage: Usage
    condition: Condition
    started: datetime
    finished: datetime | None = None


class Transaction(Protocol):
    """Reads and writes that happen together or not at all."""

    def read(self) -> World:
        """All systems, and the recipe sets that have an unfinished recipe, with all of their recipes."""

    def write(self, changes: Changes) -> None:
        """Writes each change if the record still is as it was read, and an entry of system usage for
        each system whose usage or condition changes.

        Raises:
            Contended: a record is not as it was read.
            Refused: a record to be added has a name that is taken.
            StoreError: it cannot be written, for example since the schema forbids it.
        """


class Store(Protocol):
    """Where the records are kept, durably once a transaction has ended."""

    def transaction(self) -> AbstractContextManager[Transaction]:
        """A transaction, committed at the end of the ``with`` block and rolled back by an exception.

        Raises:
            Contended: another transaction came in between; nothing is written.
            StoreError: the store cannot be used.
        """

    def snapshot(self) -> World:
        """All records, those of finished sets too, without the system usage."""

    def restore(self, snapshot: World) -> None:
        """Goes back to a snapshot; the system usage begins anew, with an entry for each system."""

    def usage(self, system: str | None = None) -> Sequence[UsageEntry]:
        """The system usage of one system, or of all, oldest first."""


def now() -> datetime:
    """The time of day, the default clock of the stores."""
    return datetime.now(UTC)
