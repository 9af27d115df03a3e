"""The common course of all operations: one transaction that reads, checks and writes, or changes nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from schedproof.impl.store import Transaction

from .draft import Draft
from .store import BeakerStore, read_world, write
from .view import View


class What(StrEnum):
    """The outcome of an operation."""

    SUBMITTED = "job submitted"
    SYSTEM_ADDED = "system added"
    TAKEN_UP = "taken up"
    SEATED = "seated"
    FOUND_IDLE = "found idle"
    SEARCH_ENDED = "search ended"
    SETTLED = "settled"
    GIVEN_TO_ASSIGNED = "given to assigned"
    GIVEN_TO_QUEUED = "given to queued"
    MADE_IDLE = "made idle"
    BEGUN = "begun"
    WOKEN = "woken"
    DEAD_ABORTED = "dead aborted"
    INSTALLING = "installing"
    RUNNING = "running"
    COMPLETED = "completed"
    CANCELLED = "cancelled"
    ABORTED = "aborted"
    SET_CANCELLED = "set cancelled"
    SET_ABORTED = "set aborted"
    PRIORITY_CHANGED = "priority changed"
    CONDITION_CHANGED = "condition changed"
    RESERVED = "reserved"
    PROVISIONED = "provisioned for its user"
    USED = "used by its user"
    RETURNED = "returned"


@dataclass(frozen=True)
class Report:
    """The outcome of an operation, and its objects. Objects that do not apply are None.

    Attributes:
        to: the new priority or condition.
        seats: recipes and their new seats, ordered by name.
    """

    what: What
    recipe_set: str | None = None
    recipe: str | None = None
    system: str | None = None
    to: int | str | None = None
    seats: tuple[tuple[str, str], ...] = ()


Observer = Callable[[Report], None]
"""Called with the report of each operation when its transaction has ended."""


class Operations:
    """Base of the classes that work on a store: the loops, the web interface and the labs.

    Several instances may use one store at a time, in different threads or processes. Transactions work on a
    ``draft_type``.
    """

    draft_type: type[Draft] = Draft

    def __init__(self, store: BeakerStore, *, observer: Observer | None = None) -> None:
        self.store = store
        self._observer = observer

    def _transact(self, work: Callable[[Draft], Report]) -> Report:
        """Executes ``work`` in one transaction, and again from the start after a conflict with another one.

        Raises:
            Refused: by ``work``.
            Contended: every attempt conflicted with another transaction.
            StoreError: the store cannot be used.
        """

        def once(transaction: Transaction) -> Report:
            draft = self.draft_type(transaction.once(read_world))
            report = work(draft)
            write(transaction, draft.changes())
            return report

        report = self.store.transact(once)
        if self._observer is not None:
            self._observer(report)
        return report

    def _view(self) -> View:
        """Returns the current records, from which a loop finds its work.

        Raises:
            Contended: every attempt conflicted with another transaction.
            StoreError: the store cannot be used.
        """
        return self.store.transact(lambda transaction: self.draft_type(transaction.once(read_world)))
