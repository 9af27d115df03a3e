"""A deterministic store for explorations: all records as one value in memory."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from threading import RLock
from types import TracebackType
from typing import Any

from schedproof.impl.errors import Contended, StoreError

from .protocol import Condition, Hook, Kind, NotIn, R, S, Schema, Store, Transaction, UpTo, ValuesOf
from .retry import T

Records = dict[type[Any], tuple[Any, ...]]
"""The records of each type, in the order of their keys."""


class MemoryTransaction(Transaction):
    """A transaction that replaces ``records`` when it writes.

    Args:
        results: those of earlier transactions on the same records, for :meth:`once`.
    """

    def __init__(self, schema: Schema[Any], records: Records, results: dict[Any, Any] | None = None) -> None:
        super().__init__(schema)
        self.records = records
        self._results = {} if results is None else results
        self._known: dict[int, tuple[ValuesOf, int, frozenset[Any]]] = {}

    def get(self, kind: type[R], *key: int | str) -> R | None:
        records = self.records[kind]
        at, is_there = _position(self.schema.of[kind], records, key)
        return records[at] if is_there else None

    def find(self, kind: type[R], **conditions: Condition) -> tuple[R, ...]:
        matching = self.records[kind]
        for name, condition in conditions.items():
            if isinstance(condition, ValuesOf):
                condition = self._values(condition)
            meets = _test(condition)
            matching = tuple([record for record in matching if meets(getattr(record, name))])
        return matching

    def once(self, read: Callable[[Transaction], T]) -> T:
        if read not in self._results:
            self._results[read] = read(self)
        result: T = self._results[read]
        return result

    def _values(self, of: ValuesOf) -> frozenset[Any]:
        """The values of a condition, cached as long as nothing is written."""
        known = self._known.get(id(of))
        if known is None or known[0] is not of or known[1] != len(self.written):
            values = frozenset([getattr(each, of.column) for each in self.find(of.kind, **of.conditions)])
            known = self._known[id(of)] = of, len(self.written), values
        return known[2]

    def add(self, record: R) -> R:
        kind, records = self.schema.of[type(record)], self.records[type(record)]
        if kind.is_numbered:
            at, record = len(records), replace(record, id=len(records) + 1)  # type: ignore[type-var]
        else:
            key = kind.key_of(record)
            at, is_there = _position(kind, records, key)
            if is_there:
                raise StoreError(f"there is a {kind.describe(*key)} already")
        if kind.unique and any(getattr(each, kind.unique) == getattr(record, kind.unique) for each in records):
            raise StoreError(
                f"there is a {kind.describe(f'with {kind.unique} {getattr(record, kind.unique)}')} already"
            )
        self._write((*records[:at], record, *records[at:]), record)
        return record

    def update(self, old: R, new: R) -> None:
        kind, records = self.schema.of[type(old)], self.records[type(old)]
        key = kind.key_of(old)
        at, is_there = _position(kind, records, key)
        if not is_there or records[at] != old or kind.key_of(new) != key:
            raise Contended(f"{kind.describe(*key)} is not as it was read; nothing is written, try again")
        self._write((*records[:at], new, *records[at + 1 :]), new)

    def clear(self) -> None:
        self.records = dict.fromkeys(self.records, ())
        self._known.clear()
        self._results = {}

    def _write(self, records: tuple[Any, ...], record: Any) -> None:
        self.records = {**self.records, type(record): records}
        self._results = {}
        self.written.append(record)


class MemoryStore(Store[S]):
    """Records that survive a scheduler but not this object; transactions take turns."""

    transaction_type = MemoryTransaction

    def __init__(self, schema: Schema[S], *, before: Hook | None = None, after: Hook | None = None) -> None:
        super().__init__(schema, before=before, after=after)
        self._records: Records = {kind.record: () for kind in schema.kinds}
        self._results: dict[Any, Any] = {}
        """The results of :meth:`Transaction.once` for these records."""
        self._snapshot: S | None = None
        """The snapshot of these records: most steps that an exploration tries change nothing."""
        self._turn = RLock()

    def _committed(self) -> AbstractContextManager[Transaction]:
        return _Turn(self)

    def _begin(self) -> MemoryTransaction:
        with self._turn:  # not kept if the next line raises
            transaction = self.transaction_type(self.schema, self._records, self._results)
            self._turn.acquire()
        return transaction

    def _commit(self, transaction: MemoryTransaction) -> None:
        if transaction.records is not self._records:
            self._put(transaction.records, None)

    def _put(self, records: Records, snapshot: S | None) -> None:
        self._records, self._snapshot, self._results = records, snapshot, {}

    def crash(self) -> None:
        """Lets the process die. Nothing is lost, because nothing is buffered."""

    def snapshot(self) -> S:
        with self._turn:  # else a snapshot of earlier records could be kept for those of a commit meanwhile
            if self._snapshot is None:
                self._snapshot = self.schema.gather(self._records.__getitem__)
            return self._snapshot

    def restore(self, snapshot: S) -> None:
        """Restores a snapshot, without history."""
        with self._turn:
            records = {k.record: getattr(snapshot, k.field) if k.field else () for k in self.schema.kinds}
            self._put(records, snapshot)


class _Turn:
    """The turn of a transaction. It is no generator, which would cost more than most transactions of explorations."""

    def __init__(self, store: MemoryStore[Any]) -> None:
        self._store = store

    def __enter__(self) -> Transaction:
        self._transaction = self._store._begin()
        return self._transaction

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        try:
            if kind is None:
                self._store._commit(self._transaction)
        finally:
            self._store._turn.release()


def _position(kind: Kind, records: tuple[Any, ...], key: tuple[Any, ...]) -> tuple[int, bool]:
    """The position where the record with that key is or belongs, and whether it is there."""
    if kind.is_numbered:
        at = key[0] - 1
        return at, 0 <= at < len(records)
    at = bisect_left(records, key, key=kind.key_of)
    return at, at < len(records) and kind.key_of(records[at]) == key


def _test(condition: Condition) -> Callable[[Any], bool]:
    match condition:
        case frozenset():
            return condition.__contains__
        case NotIn(values):
            return lambda value: value not in values
        case UpTo(most):
            return lambda value: value is not None and value <= most
    return lambda value: bool(value == condition)
