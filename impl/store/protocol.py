"""The interface of a store: kinds of records, conditions, transactions, and the crash points around a commit."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

from .retry import T, retried

R = TypeVar("R")
S = TypeVar("S")


class Crash(BaseException):
    """A hook raises this to end the process at that point.

    Not an Exception: a dying process runs no error handling, so no handler may catch this by mistake.
    """


Hook = Callable[[Sequence[Any]], object]
"""Called with the records that a transaction writes, in the order of the writes."""


@dataclass(frozen=True)
class UpTo:
    """A condition on a column: at most this value."""

    most: float


@dataclass(frozen=True)
class NotIn:
    """A condition on a column: none of these values."""

    values: frozenset[str]


@dataclass(frozen=True)
class ValuesOf:
    """A condition on a column: one of the values that ``column`` has in the records of ``kind`` that meet ``conditions``."""

    kind: type[Any]
    column: str
    conditions: Mapping[str, Condition]


Condition = int | str | UpTo | NotIn | ValuesOf | frozenset[str] | None
"""A condition on a column: equal to a value, one of several, or as described; None: no value."""


@dataclass(frozen=True)
class Kind:
    """A kind of records.

    Args:
        record: their type, a frozen dataclass.
        field: the field of the snapshot that has all of them; None for history, which snapshots do not have.
        key: the attributes that identify a record. With ``id`` alone the store chooses the numbers.
        unique: an attribute of which no two records have the same value.
        title: what messages call a record; without one, the name of its type.
    """

    record: type[Any]
    field: str | None
    key: tuple[str, ...] = ("id",)
    unique: str | None = None
    title: str = ""

    @property
    def is_numbered(self) -> bool:
        """True if the store chooses the keys."""
        return self.key == ("id",)

    def key_of(self, record: Any) -> tuple[Any, ...]:
        """The values that identify a record."""
        return self._key_of(record)

    @cached_property
    def _key_of(self) -> Callable[[Any], tuple[Any, ...]]:
        if len(self.key) == 1:
            [name] = self.key
            return lambda record: (getattr(record, name),)
        return attrgetter(*self.key)

    def describe(self, *key: Any) -> str:
        """The record with that key, as messages name it."""
        return f"{self.title or self.record.__name__} {'/'.join(str(value) for value in key)}"


class Schema(Generic[S]):
    """The kinds of a store, each after those it refers to; ``snapshot`` is a dataclass with a field for each kind."""

    def __init__(self, snapshot: type[S], *kinds: Kind) -> None:
        self.snapshot = snapshot
        self.kinds = kinds
        self.of = {kind.record: kind for kind in kinds}

    def gather(self, read: Callable[[type[Any]], tuple[Any, ...]]) -> S:
        """A snapshot of the records that ``read`` returns for each type."""
        return self.snapshot(**{kind.field: read(kind.record) for kind in self.kinds if kind.field})


class Transaction(ABC):
    """Reads and writes that happen together or not at all; ``written`` has the records written so far."""

    def __init__(self, schema: Schema[Any]) -> None:
        self.schema = schema
        self.written: list[Any] = []

    @abstractmethod
    def get(self, kind: type[R], *key: int | str) -> R | None:
        """The record with that key, or None."""

    @abstractmethod
    def find(self, kind: type[R], **conditions: Condition) -> tuple[R, ...]:
        """The records whose columns meet the conditions, in the order of their keys."""

    def once(self, read: Callable[[Transaction], T]) -> T:
        """The result of ``read`` in this transaction; a store may return that of an earlier one on the same records.

        Args:
            read: a function of a module that only reads, and returns a value that nobody changes.
        """
        return read(self)

    @abstractmethod
    def add(self, record: R) -> R:
        """Adds a record and returns it with the number that the store gives it.

        Raises:
            StoreError: its key is taken, or the database forbids it.
        """

    @abstractmethod
    def update(self, old: R, new: R) -> None:
        """Writes ``new`` if the record is still as it was read.

        Raises:
            Contended: it is not.
            StoreError: it cannot be written, for example because the database forbids it.
        """

    @abstractmethod
    def clear(self) -> None:
        """Removes all records."""

    def put(self, record: Any) -> None:
        """Writes a record, replacing one with the same key."""
        old = self.get(type(record), *self.schema.of[type(record)].key_of(record))
        if old is None:
            self.add(record)
        else:
            self.update(old, record)


class Store(ABC, Generic[S]):
    """Records that are durable once their transaction has ended.

    ``before`` is called before each commit, ``after`` when it is durable; either may raise :class:`Crash`.
    """

    def __init__(self, schema: Schema[S], *, before: Hook | None = None, after: Hook | None = None) -> None:
        self.schema = schema
        self.before = before
        self.after = after

    def transaction(self) -> AbstractContextManager[Transaction]:
        """A transaction, committed at the end of the ``with`` block and rolled back by an exception.

        Raises:
            Contended: another transaction came in between; nothing is written.
            StoreError: the store cannot be used.
        """
        return _WithHooks(self)

    def transact(self, work: Callable[[Transaction], T]) -> T:
        """The result of ``work`` in a transaction; ``work`` starts again if another transaction comes in between.

        Raises:
            Contended: others came in between every time.
            StoreError: the store cannot be used.
        """

        def once() -> T:
            with self.transaction() as transaction:
                return work(transaction)

        return retried(once)

    @abstractmethod
    def _committed(self) -> AbstractContextManager[Transaction]:
        """A transaction without the hooks."""

    @abstractmethod
    def snapshot(self) -> S:
        """All records."""

    def close(self) -> None:
        """Closes the store."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


class _WithHooks:
    """A transaction with its hooks. A generator would be shorter, and cost more than most work of an exploration."""

    def __init__(self, store: Store[Any]) -> None:
        self._store = store

    def __enter__(self) -> Transaction:
        self._committed = self._store._committed()
        self._transaction = self._committed.__enter__()
        return self._transaction

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if error is None and self._store.before is not None:
            try:
                self._store.before(self._transaction.written)
            except BaseException as failure:
                self._committed.__exit__(type(failure), failure, failure.__traceback__)
                raise
        self._committed.__exit__(kind, error, at)
        if error is None and self._store.after is not None:
            self._store.after(self._transaction.written)
