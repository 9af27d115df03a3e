"""What a store in memory keeps between transactions."""

from __future__ import annotations

from dataclasses import dataclass
from threading import Thread

import pytest

from schedproof.impl.store import Kind, MemoryStore, Schema, Transaction


@dataclass(frozen=True)
class Row:
    name: str


@dataclass(frozen=True)
class Rows:
    rows: tuple[Row, ...] = ()


SCHEMA = Schema(Rows, Kind(Row, "rows", key=("name",)))


class Reads:
    """A read that counts how often it runs."""

    def __init__(self) -> None:
        self.number = 0

    def __call__(self, transaction: Transaction) -> tuple[Row, ...]:
        self.number += 1
        return transaction.find(Row)


def add(store: MemoryStore[Rows], name: str) -> None:
    store.transact(lambda transaction: transaction.add(Row(name)))


def test_a_read_runs_once_until_something_is_written() -> None:
    store, read = MemoryStore(SCHEMA), Reads()
    for _ in range(3):
        assert store.transact(lambda transaction: transaction.once(read)) == ()
    assert read.number == 1
    add(store, "a")
    assert store.transact(lambda transaction: transaction.once(read)) == (Row("a"),)
    store.restore(Rows())
    assert store.transact(lambda transaction: transaction.once(read)) == ()


def test_a_rollback_leaves_nothing_of_what_a_transaction_reads() -> None:
    store, read = MemoryStore(SCHEMA), Reads()

    def fail(transaction: Transaction) -> None:
        assert transaction.once(read) == ()
        transaction.add(Row("a"))
        assert transaction.once(read) == (Row("a"),)
        transaction.clear()
        assert transaction.once(read) == ()
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        store.transact(fail)
    assert store.transact(lambda transaction: transaction.once(read)) == ()
    assert store.snapshot() == Rows()


def test_a_snapshot_follows_every_write() -> None:
    store = MemoryStore(SCHEMA)
    empty = store.snapshot()
    assert store.snapshot() is empty
    add(store, "a")
    assert store.snapshot() == Rows((Row("a"),))
    store.restore(empty)
    assert store.snapshot() == empty
    with store.transaction() as transaction:
        transaction.add(Row("b"))
        transaction.clear()
    assert store.snapshot() == empty


def test_a_snapshot_is_that_of_the_records_beside_it() -> None:
    """Another thread that writes while a snapshot is gathered waits; else the old one would be kept for the new records."""
    writers: list[Thread] = []

    @dataclass(frozen=True)
    class Gathered(Rows):
        def __post_init__(self) -> None:
            if not writers:
                writers.append(Thread(target=add, args=(store, "a")))
                writers[0].start()
                writers[0].join(0.1)

    store = MemoryStore(Schema(Gathered, Kind(Row, "rows", key=("name",))))
    store.snapshot()
    writers[0].join()
    assert store.snapshot() == Gathered((Row("a"),))
