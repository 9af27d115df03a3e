"""A deterministic store for explorations: the records as one value, in memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from threading import RLock
from typing import Any

from .errors import Contended, StoreError
from .records import Records, Task, TaskAudit, TaskInstance, Workflow, WorkflowRun
from .store import Condition, R, UpTo

_FIELDS = {
    Workflow: "workflows",
    WorkflowRun: "runs",
    Task: "tasks",
    TaskInstance: "instances",
    TaskAudit: "audits",
}
_UNIQUE: dict[type[Any], str] = {Workflow: "name", WorkflowRun: "token"}


class MemoryStore:
    """Records that live as long as this object; transactions take turns."""

    def __init__(self, records: Records = Records()) -> None:  # noqa: B008 - it is frozen
        self._records = records
        self._turn = RLock()

    @contextmanager
    def transaction(self) -> Iterator[MemoryTransaction]:
        """One transaction (see :class:`.store.Store`)."""
        with self._turn:
            transaction = MemoryTransaction(self._records)
            yield transaction
            self._records = transaction.records

    def snapshot(self) -> Records:
        """All records."""
        return self._records

    def restore(self, records: Records) -> None:
        """Goes back to a snapshot."""
        with self._turn:
            self._records = records


class MemoryTransaction:
    """A :class:`.store.Transaction` that ends with ``records``."""

    def __init__(self, records: Records) -> None:
        self.records = records

    def _all(self, kind: type[R]) -> tuple[R, ...]:
        found: tuple[R, ...] = getattr(self.records, _FIELDS[kind])
        return found

    def get(self, kind: type[R], number: int) -> R | None:
        """The record of that number: numbers are 1, 2, ... here."""
        mine = self._all(kind)
        return mine[number - 1] if 1 <= number <= len(mine) else None

    def find(self, kind: type[R], **conditions: Condition) -> tuple[R, ...]:
        """The records that meet the conditions."""
        return tuple(r for r in self._all(kind) if all(_meets(getattr(r, name), c) for name, c in conditions.items()))

    def add(self, record: R) -> R:
        """Adds a record under the next number."""
        mine: tuple[Any, ...] = self._all(type(record))
        unique = _UNIQUE.get(type(record))
        if unique and any(getattr(r, unique) == getattr(record, unique) for r in mine):
            raise StoreError(f"there is a {type(record).__name__} with {unique} {getattr(record, unique)} already")
        new = replace(record, id=len(mine) + 1)
        self._put(type(record), (*mine, new))
        return new

    def update(self, old: R, new: R) -> None:
        """Writes ``new`` if the record still is as it was read."""
        mine: tuple[Any, ...] = self._all(type(old))
        at: int = old.id - 1
        if not 0 <= at < len(mine) or mine[at] != old or new.id != old.id:
            raise Contended(f"{type(old).__name__} {old.id} is not as it was read; nothing is written, try again")
        self._put(type(old), (*mine[:at], new, *mine[at + 1 :]))

    def _put(self, kind: type[Any], records: tuple[Any, ...]) -> None:
        changed: dict[str, Any] = {_FIELDS[kind]: records}
        self.records = replace(self.records, **changed)


def _meets(value: Any, condition: Condition) -> bool:
    if isinstance(condition, UpTo):
        return value is not None and bool(value <= condition.most)
    if isinstance(condition, frozenset):
        return value in condition
    return bool(value == condition)
