"""Ordered reader-writer locks: Go's rules, one by one, and the refusal of what goes against the order."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

from schedproof.impl.locks import Acquired, LockOrder, LockOrderError, Mode, NotHeldError, OrderedLock

A_WHILE = 0.15
"""Seconds after which a thread that has not gone on is taken to wait."""


@pytest.fixture
def order() -> LockOrder:
    return LockOrder(("Partition", "Queue", "Node"))


def begin(work: Callable[[], object]) -> tuple[threading.Thread, threading.Event]:
    """Lets a thread do ``work``; the event says that it has."""
    done = threading.Event()

    def run() -> None:
        work()
        done.set()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread, done


def until(condition: Callable[[], bool]) -> None:
    """Waits for what another thread is about to do."""
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline, "it never happens"
        time.sleep(0.001)


class Held:
    """A lock held by a thread of its own, until it is let go."""

    def __init__(self, lock: OrderedLock, mode: Mode) -> None:
        self.go, self.has = threading.Event(), threading.Event()

        def work() -> None:
            lock.acquire(mode)
            self.has.set()
            self.go.wait(20)
            lock.release()

        self.thread, self.done = begin(work)

    def release(self) -> None:
        self.go.set()
        self.thread.join(10)


def test_readers_share_and_writers_do_not(order: LockOrder) -> None:
    lock = OrderedLock(order, "Queue", "root")
    first, second = Held(lock, Mode.READ), Held(lock, Mode.READ)
    assert first.has.wait(10) and second.has.wait(10)
    writer = Held(lock, Mode.WRITE)
    assert not writer.has.wait(A_WHILE)
    first.release()
    assert not writer.has.wait(A_WHILE), "one reader is still inside"
    second.release()
    assert writer.has.wait(10)
    reader, other = Held(lock, Mode.READ), Held(lock, Mode.WRITE)
    assert not reader.has.wait(A_WHILE) and not other.has.is_set()
    writer.release()
    for one in (reader, other):
        one.go.set()
    assert reader.has.wait(10) and other.has.wait(10)


def test_a_writer_that_waits_keeps_new_readers_out(order: LockOrder) -> None:
    lock = OrderedLock(order, "Queue", "root")
    first = Held(lock, Mode.READ)
    assert first.has.wait(10)
    writer = Held(lock, Mode.WRITE)
    until(lambda: lock._announced)
    second = Held(lock, Mode.READ)
    assert not second.has.wait(A_WHILE), "it would starve the writer"
    first.release()
    assert writer.has.wait(10)
    assert not second.has.wait(A_WHILE)
    writer.release()
    assert second.has.wait(10)
    second.release()


def test_readers_that_wait_for_a_writer_precede_the_next_one(order: LockOrder) -> None:
    lock = OrderedLock(order, "Queue", "root")
    first = Held(lock, Mode.WRITE)
    assert first.has.wait(10)
    next_one = Held(lock, Mode.WRITE)
    reader = Held(lock, Mode.READ)
    until(lambda: lock._outside == 1)
    first.release()
    assert reader.has.wait(10)
    assert not next_one.has.wait(A_WHILE)
    reader.release()
    assert next_one.has.wait(10)
    next_one.release()


@pytest.mark.parametrize("first", Mode)
@pytest.mark.parametrize("second", Mode)
def test_a_lock_is_not_acquired_again_by_who_holds_it(order: LockOrder, first: Mode, second: Mode) -> None:
    """Two reads as well: they deadlock as soon as a writer waits between them (YUNIKORN-793)."""
    lock = OrderedLock(order, "Queue", "root")
    lock.acquire(first)
    with pytest.raises(LockOrderError, match="not re-entrant"):
        lock.acquire(second)
    assert order.holds() == [lock]
    lock.release()
    assert order.holds() == []


def test_what_goes_against_the_order_is_refused_before_it_blocks(order: LockOrder) -> None:
    """The queue is held by another thread: without the refusal this one would wait."""
    queue, node = OrderedLock(order, "Queue", "root"), OrderedLock(order, "Node", "n")
    other = Held(queue, Mode.WRITE)
    assert other.has.wait(10)

    def look_for_victims() -> None:
        with queue.read():
            pass

    def place_something() -> None:
        with node.write():
            look_for_victims()

    with pytest.raises(LockOrderError) as refused:
        place_something()
    other.release()
    text = str(refused.value)
    assert "holds Node n and may not acquire Queue root" in text
    assert "Partition < Queue < Node" in text
    held_at, requested_at = text.split("Queue root is requested at:")
    assert "place_something" in held_at and "look_for_victims" not in held_at
    assert "look_for_victims" in requested_at
    assert "impl/locks.py" not in text, "the stacks are the callers'"
    assert order.holds() == []


@pytest.mark.parametrize(
    ("held", "requested", "allowed"),
    [("outer", "inner", True), ("inner", "outer", False), ("inner", "sibling", False), ("outer", "deep", True)],
)
def test_of_one_class_the_outer_comes_first(order: LockOrder, held: str, requested: str, allowed: bool) -> None:
    locks = {
        "outer": OrderedLock(order, "Queue", "root"),
        "inner": OrderedLock(order, "Queue", "root.a", ["root"]),
        "sibling": OrderedLock(order, "Queue", "root.b", ["root"]),
        "deep": OrderedLock(order, "Queue", "root.a.x", ["root", "root.a"]),
    }
    with locks[held].write():
        if allowed:
            with locks[requested].write():
                assert order.holds() == [locks[held], locks[requested]]
        else:
            with pytest.raises(LockOrderError), locks[requested].write():
                pass


def test_all_that_is_held_counts_not_just_the_last(order: LockOrder) -> None:
    """In the order of acquisition the last may come before what is requested, and one before it after."""
    partition, queue, node = (OrderedLock(order, of, of) for of in order.classes)
    partition.acquire(Mode.READ)
    node.acquire(Mode.READ)
    with pytest.raises(LockOrderError, match="holds Node Node"):
        queue.acquire(Mode.READ)
    node.release()
    queue.acquire(Mode.READ)
    queue.release()
    partition.release()


def test_locks_may_be_released_in_any_order(order: LockOrder) -> None:
    partition, queue, node = (OrderedLock(order, of, of) for of in order.classes)
    for lock in (partition, queue, node):
        lock.acquire(Mode.WRITE)
    partition.release()
    assert order.holds() == [queue, node]
    with pytest.raises(LockOrderError):
        partition.acquire(Mode.READ)
    for lock in (queue, node):
        lock.release()


def test_what_is_not_held_is_not_released_and_not_used(order: LockOrder) -> None:
    lock = OrderedLock(order, "Queue", "root")
    with pytest.raises(NotHeldError, match="does not hold Queue root"):
        lock.release()
    with pytest.raises(NotHeldError, match="needs Queue root for read"):
        lock.require(Mode.READ)
    with lock.read():
        lock.require(Mode.READ)
        with pytest.raises(NotHeldError, match="for write"):
            lock.require(Mode.WRITE)
    with lock.write():
        lock.require(Mode.READ)
    other = Held(lock, Mode.WRITE)
    assert other.has.wait(10)
    with pytest.raises(NotHeldError):
        lock.release()
    other.release()


def test_an_error_inside_releases_the_lock(order: LockOrder) -> None:
    lock = OrderedLock(order, "Queue", "root")
    with pytest.raises(ZeroDivisionError), lock.write():
        raise ZeroDivisionError
    assert order.holds() == []
    writer = Held(lock, Mode.WRITE)
    assert writer.has.wait(10)
    writer.release()


def test_an_unknown_class_is_refused(order: LockOrder) -> None:
    with pytest.raises(ValueError, match="unknown class 'Pod' of the order; choose from Partition, Queue, Node"):
        OrderedLock(order, "Pod", "x")


def test_observers_get_the_form_that_the_validator_reads() -> None:
    records: list[Acquired] = []
    order = LockOrder(("Queue",), observer=records.append)
    inner = OrderedLock(order, "Queue", "root.a", ["root"])
    with inner.read():
        pass
    me = threading.current_thread().name
    assert [record.as_json() for record in records] == [
        {"thread": me, "op": "acquire", "class": "Queue", "lock": "root.a", "mode": "read", "in": ["root"]},
        {"thread": me, "op": "release", "class": "Queue", "lock": "root.a", "in": ["root"]},
    ]


@pytest.mark.parametrize("mode", Mode)
def test_an_observer_that_fails_keeps_no_lock(mode: Mode) -> None:
    failing = False

    def observe(record: Acquired) -> None:
        if failing:
            raise ZeroDivisionError

    order = LockOrder(("Queue",), observer=observe)
    lock = OrderedLock(order, "Queue", "root")
    failing = True
    with pytest.raises(ZeroDivisionError):
        lock.acquire(mode)
    assert order.holds() == []
    failing = False
    lock.acquire(mode)
    failing = True
    with pytest.raises(ZeroDivisionError):
        lock.release()
    assert order.holds() == []
    failing = False
    writer = Held(lock, Mode.WRITE)
    assert writer.has.wait(10)
    writer.release()
