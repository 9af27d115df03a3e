"""What the server needs of a store: transactions, one after the other as far as anyone can tell."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol, TypeVar

from .records import Records, Task, TaskAudit, TaskInstance, Workflow, WorkflowRun

R = TypeVar("R", Workflow, WorkflowRun, Task, TaskInstance, TaskAudit)


@dataclass(frozen=True)
class UpTo:
    """A condition on a column: a value, and this or less."""

    most: float


Condition = int | str | UpTo | frozenset[str] | None
"""What a column is to be: equal to it, in it, or up to it; None: no value."""


class Transaction(Protocol):
    """Reads and writes that happen together or not at all."""

    def get(self, kind: type[R], number: int) -> R | None:
        """The record of that number."""

    def find(self, kind: type[R], **conditions: Condition) -> tuple[R, ...]:
        """The records whose columns meet the conditions, in the order of their numbers."""

    def add(self, record: R) -> R:
        """Adds a record, and gives it with the number that it has got."""

    def update(self, old: R, new: R) -> None:
        """Writes ``new`` if the record still is as it was read.

        Raises:
            Contended: it is not.
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

    def snapshot(self) -> Records:
        """All records."""
