"""The course of every operation: one transaction that reads, checks and writes, or changes nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from schedproof.impl.store import Transaction

from .draft import Draft
from .store import BeakerStore, read_world, write
from .view import View


class What(StrEnum):
    """What an operation did."""

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
    """What an operation did, to which objects; None for those that it is not about.

    ``to`` is the new priority or condition, ``seats`` the recipes with their new seats, by name.
    """

    what: What
    recipe_set: str | None = None
    recipe: str | None = None
    system: str | None = None
    to: int | str | None = None
    seats: tuple[tuple[str, str], ...] = ()


Observer = Callable[[Report], None]
"""Told of each operation when its transaction has ended."""


class Operations:
    """Base of everything that works on a store: the loops, the web side and the labs.

    Several may work on the same store at a time, in threads or processes of their own.
    ``draft_type`` is what the transactions are worked out on.
    """

    draft_type: type[Draft] = Draft

    def __init__(self, store: BeakerStore, *, observer: Observer | None = None) -> None:
        self.store = store
        self._observer = observer

    def _transact(self, work: Callable[[Draft], Report]) -> Report:
        """Carries ``work`` out in one transaction, again from the start if another one comes in between.

        Raises:
            Refused: by ``work``.
            Contended: others came in between every time.
            StoreError: the store cannot be used.
        """

        def once(transaction: Transaction) -> Report:
            draft = self.draft_type(read_world(transaction))
            report = work(draft)
            write(transaction, draft.changes())
            return report

        report = self.store.transact(once)
        if self._observer is not None:
            self._observer(report)
        return report

    def _view(self) -> View:
        """The records as they are now, to see what there is to do.

        Raises:
            Contended: others came in between every time.
            StoreError: the store cannot be used.
        """
        return self.store.transact(lambda transaction: self.draft_type(read_world(transaction)))
