"""Dumps of threads and reports of lock checkers: who waits for whom, as derived by hand from samples of each format."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from itertools import pairwise, permutations
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from schedproof.cli import main
from schedproof.model.locks import parse
from schedproof.proofs.traces.dumps import check, circle, comparison, go_deadlock, goroutines, jstack, lockdep
from schedproof.proofs.traces.dumps.check import check_locks_log
from schedproof.proofs.traces.dumps.circle import find_circles
from schedproof.proofs.traces.dumps.dump import Dump, Hold, Lock, ThreadState, Wait
from schedproof.proofs.traces.dumps.report import DumpReport
from schedproof.proofs.traces.errors import TraceError
from schedproof.proofs.traces.reports.report import LogVerdict
from tests.support.growth import assert_grows_less
from tests.support.rows import each_row
from tests.support.sample import thinned

SAMPLES = Path(__file__).parent / "samples"
CLASSES = parse("classes: {Queue: {}, Node: {}}\n", "classes.yaml")
ORDER = parse("classes: {Partition: {}, Queue: {}, Node: {}}\norder: [Partition > Queue, Queue > Node]\n", "order.yaml")


class Expected(NamedTuple):
    """What a sample says, by hand: its circle with a line for each step, and whether that is certain."""

    names: tuple[str, ...]
    steps: tuple[str, ...]
    certain: bool
    also: tuple[str, ...] = ()


EXPECTED = {
    # SetTemplate waits for the lock of its receiver ...0a0, on which goroutine 77 runs TryAllocate; incPending waits
    # for that of ...000, on which goroutine 41 runs ApplyConf.
    "goroutines": Expected(
        ("goroutine 41", "goroutine 77"),
        (
            "goroutine 41 waits to write Queue 0xc00011c0a0 (queue.go:212), which goroutine 77 may hold (TryAllocate, queue.go:601)",
            "goroutine 77 waits to read Queue 0xc00011c000 (queue.go:655), which goroutine 41 may hold (ApplyConf, queue.go:180)",
        ),
        False,
        ("goroutine 78 waits to lock Node 0xc0000a6000 (node.go:35), which goroutine 79 may hold and waits to send",),
    ),
    "go_deadlock_reversed": Expected(
        ("Node of node.go:34", "Queue of queue.go:179"),
        (
            "another goroutine holds Node n.lock (node.go:48) and acquires Queue q.lock (queue.go:654)",
            "one goroutine holds Queue q.lock (queue.go:179) and acquires Node n.lock (node.go:34)",
        ),
        True,
    ),
    "go_deadlock_timeout": Expected(
        ("goroutine 18", "goroutine 19"),
        (
            "goroutine 18 waits to acquire Queue 0xc00011c0c8 (queue.go:211), which goroutine 19 holds (queue.go:600)",
            "goroutine 19 waits to read Queue 0xc00011c028 (queue.go:655), which goroutine 18 holds (queue.go:178)",
        ),
        True,
    ),
    "go_deadlock_recursive": Expected(
        ("goroutine 7",),
        ("goroutine 7 waits to acquire Node 0xc0000a6018 (node.go:35), which it holds (node.go:48)",),
        True,
    ),
    "jstack": Expected(
        ("config", "scheduler"),
        (
            "config waits to lock Queue 0x000000069ec19d10 (Queue.java:30), which scheduler holds (Queue.java:40)",
            "scheduler waits to lock Node 0x000000069ec19d00 (Node.java:31), which config holds (Queue.java:22)",
        ),
        True,
        (
            # Its own monitor is released while it waits for a signal, and the other's lock is not.
            "pool-1-thread-1 (line 28) waits to acquire ReentrantLock 0x000000069ec19ea8 (Ledger.java:9), "
            "which pool-1-thread-1 (line 40) holds and waits for a signal (Ledger.java:12)",
        ),
    ),
    "lockdep_circular": Expected(
        # Entry 2 was acquired under entry 1, entry 1 under entry 0, and entry 0 under entry 2 by the task.
        ("&node->lock", "&queue->lock", "&part->lock#2"),
        (
            "kworker/3:1/101 holds &node->lock (node_refresh) and acquires &queue->lock (queue_count)",
            "an earlier task holds &queue->lock and acquires &part->lock#2 (partition_update)",
            "an earlier task holds &part->lock#2 and acquires &node->lock (node_add)",
        ),
        True,
    ),
    "lockdep_recursive": Expected(
        ("scheduler/4514",),
        ("scheduler/4514 waits to acquire &queue->lock (queue_count), which it holds (queue_apply)",),
        True,
    ),
}


def report_of(text: str, folder: Path, locks: object = CLASSES) -> DumpReport:
    """The report on a dump."""
    file = folder / "dump.txt"
    file.write_text(text)
    report = check_locks_log(locks, file)  # type: ignore[arg-type]
    assert isinstance(report, DumpReport)
    return report


def check_sample(name: str, folder: Path) -> None:
    """A gate: the sample has the circle that is derived by hand."""
    expected = EXPECTED[name]
    report = report_of((SAMPLES / f"{name}.txt").read_text(), folder)
    assert [(c.names, c.steps, c.certain) for c in report.circles] == [
        (expected.names, expected.steps, expected.certain)
    ], name
    assert report.verdict is LogVerdict.VIOLATES
    for line in expected.also:
        assert any(text.startswith(line) for text in report.text()), line


@each_row("name", EXPECTED)
def test_a_sample_has_the_circle_derived_by_hand(name: str, tmp_path: Path) -> None:
    check_sample(name, tmp_path)


def test_every_sample_is_tested() -> None:
    assert {file.stem for file in SAMPLES.iterdir()} == EXPECTED.keys()


def test_out_of_date_arguments_leave_the_type(tmp_path: Path) -> None:
    """Of an argument with a question mark only the type of the receiver is left: then both may be any queue."""
    text = (SAMPLES / "goroutines.txt").read_text()
    (circle,) = report_of(text.replace("(0xc00011c000", "(0xc00011c000?"), tmp_path).circles
    assert circle.names == ("goroutine 41", "goroutine 77")
    assert "goroutine 77 waits to read some Queue (queue.go:655), which goroutine 41 may hold" in circle.steps[1]
    # A dump in which the last holder is of another type has no circle.
    other = text.replace("(*Queue).ApplyConf(0xc00011c000", "(*Cluster).ApplyConf(0xc00011c000?")
    report = report_of(other, tmp_path)
    assert report.circles == () and report.verdict is LogVerdict.CONFORMS and "no circle" in report.text()


def test_the_address_of_a_lock_identifies_its_object(tmp_path: Path) -> None:
    """The lock of goroutine 78's node is 0x18 after its beginning; so it is in the node of another stack."""
    text = (SAMPLES / "goroutines.txt").read_text()
    block = text[text.index("goroutine 78 [") : text.index("goroutine 79 [")]
    second = block.replace("goroutine 78", "goroutine 90").replace("0xc0000a6018", "0xc0000b7018")
    report = report_of(text + second.replace("(0xc0000a6000)", "(0x0?)"), tmp_path)
    assert any(line.startswith("goroutine 90 waits to lock Node 0xc0000b7000") for line in report.text())


def waiting(number: int, lock: str, *methods: str) -> str:
    """A goroutine that waits in the first method for a lock at an address; each method is ``Type.name(address)``."""
    how = "RWMutex.RLock" if "read" in methods[0] else "RWMutex.Lock" if "write" in methods[0] else "Mutex.Lock"
    calls = [f"sync.(*{how.replace('.', ').')}({lock})\n\t/go/src/sync/lock.go:9 +0x1\n"]
    for line, method in enumerate(methods, 10 * number):
        of, _, name = method.partition(".")
        calls.append(f"example.org/objects.(*{of}).{name}\n\t/src/{of.lower()}.go:{line} +0x1\n")
    return f"goroutine {number} [semacquire]:\n{''.join(calls)}\n"


def the_circle(text: str, folder: Path) -> circle.Circle:
    """The only circle of a dump."""
    circles = report_of(text, folder).circles
    assert len(circles) == 1, circles
    return circles[0]


def test_a_method_may_lock_another_object(tmp_path: Path) -> None:
    """Goroutine 1 is in a method of a node and waits for a queue, whose address is that of goroutine 2's receiver."""
    back = waiting(2, "0xc000020000", "Node.count(0xc000020000)", "Queue.update(0xc000010000)")
    for node in ("0xc000020000", "0xc00000e000"):  # after the queue, and before it on another page
        text = waiting(1, "0xc000010000", f"Node.move({node})") + back.replace("0xc000020000", node)
        circle = the_circle(text, tmp_path)
        assert circle.steps == (
            "goroutine 1 waits to lock Queue 0xc000010000 (node.go:10), which goroutine 2 may hold (update, queue.go:21)",
            f"goroutine 2 waits to lock Node {node} (node.go:20), which goroutine 1 may hold (move, node.go:10)",
        )


def test_a_queue_beside_another_is_another_object(tmp_path: Path) -> None:
    """The child is 0x40 after its parent, which does not contain it; a part of another type in the same page may be in it."""
    text = waiting(1, "0xc000010040", "Queue.apply(0xc000010000)") + waiting(
        2, "0xc000010040", "Queue.count(0xc000010040)"
    )
    lines = report_of(text, tmp_path).text()
    assert sum("waits to lock Queue 0xc000010040" in line for line in lines) == 2
    part = text.replace("Queue).count", "Usage).count")
    assert any("goroutine 1 waits to lock Queue 0xc000010000" in line for line in report_of(part, tmp_path).text())


def test_the_offset_of_its_lock_identifies_another_object(tmp_path: Path) -> None:
    """The lock of a queue is 0x18 after its beginning, as goroutine 2 shows, and goroutine 1 waits for that of queue 3."""
    text = waiting(1, "0xc000030018", "Node.move(0xc000090000)") + waiting(
        2, "0xc000010018", "Queue.count(0xc000010000)"
    )
    text += "goroutine 3 [chan send]:\nexample.org/objects.(*Queue).send(0xc000030000)\n\t/src/queue.go:30 +0x1\n"
    lines = report_of(text, tmp_path).text()
    assert any(line.startswith("goroutine 1 waits to lock Queue 0xc000030000") for line in lines)
    # No object is known that has a lock at this address: the node may have a pointer to it.
    lines = report_of(text.replace("0xc000030018", "0xc000050018"), tmp_path).text()
    assert any(line.startswith("goroutine 1 waits to lock Node 0xc000090000 (node.go:10)") for line in lines)


def test_a_deadlock_of_the_runtime_lists_all_that_wait(tmp_path: Path) -> None:
    """In older versions of Go a wait group has the state of a lock; its waiter may hold the lock of its queue."""
    text = waiting(1, "0xc000010000", "Queue.remove(0xc000010000)")
    text += "goroutine 2 [semacquire]:\nsync.runtime_Semacquire(0x1?)\n\t/go/src/runtime/sema.go:62 +0x1\n"
    text += "sync.(*WaitGroup).Wait(0x1?)\n\t/go/src/sync/waitgroup.go:139 +0x1\n"
    text += "example.org/objects.(*Queue).drain(0xc000010000)\n\t/src/queue.go:30 +0x1\n"
    holder = "which goroutine 2 may hold and waits for a wait group (queue.go:30)"
    lines = report_of(text, tmp_path).text()
    assert f"goroutine 1 waits to lock Queue 0xc000010000 (queue.go:10), {holder}" in lines
    assert not any(line.startswith("goroutine 2 waits") for line in lines)
    lines = report_of(f"fatal error: all goroutines are asleep - deadlock!\n\n{text}", tmp_path).text()
    assert "goroutine 2 waits for a wait group (queue.go:30)" in lines


def test_an_offset_is_that_of_a_type(tmp_path: Path) -> None:
    """A job begins 0x18 before the lock, as a queue would: it is not taken for one, and the node stays."""
    text = waiting(1, "0xc000030018", "Node.move(0xc000090000)") + waiting(
        2, "0xc000010018", "Queue.count(0xc000010000)"
    )
    text += "goroutine 3 [chan send]:\nexample.org/objects.(*Job).send(0xc000030000)\n\t/src/job.go:30 +0x1\n"
    lines = report_of(text, tmp_path).text()
    assert any(line.startswith("goroutine 1 waits to lock Node 0xc000090000") for line in lines)


def test_the_lock_of_another_object_gives_no_offset(tmp_path: Path) -> None:
    """A node is 0x4000 before the queue that it locks; the address of another node is out of date, and stays unknown."""
    text = waiting(1, "0xc000014000", "Node.move(0xc000010000)") + waiting(
        2, "0xc000014000", "Queue.count(0xc000014000)"
    )
    text += waiting(3, "0xc000054000", "Node.move(0xc000050000?)")
    lines = report_of(text, tmp_path).text()
    assert any(line.startswith("goroutine 3 waits to lock some Node (node.go:30)") for line in lines)


def test_a_reader_again_waits_behind_a_writer(tmp_path: Path) -> None:
    reader = waiting(1, "0xc000010000", "Queue.read(0xc000010000)", "Queue.readAll(0xc000010000)")
    writer = waiting(2, "0xc000010000", "Queue.write(0xc000010000)")
    circle = the_circle(reader + writer, tmp_path)
    assert circle.names == ("goroutine 1", "goroutine 2") and not circle.certain
    assert circle.steps == (
        "goroutine 1 waits to read Queue 0xc000010000 (queue.go:10), behind goroutine 2",
        "goroutine 2 waits to write Queue 0xc000010000 (queue.go:20), which goroutine 1 may hold (readAll, queue.go:11)",
    )
    # Nor does another reader keep it out.
    circle = the_circle(reader + waiting(2, "0xc000010000", "Queue.read(0xc000010000)"), tmp_path)
    assert circle.names == ("goroutine 1",)
    # A writer of another queue is no reason to wait, and one that writes again waits for itself.
    for text in (reader + writer.replace("0xc000010000", "0xc000050000"), reader.replace("RLock", "Lock") + writer):
        circle = the_circle(text, tmp_path)
        assert circle.names == ("goroutine 1",)


def test_a_deadlock_of_the_runtime_violates_without_a_circle(tmp_path: Path) -> None:
    """A worker sends under the lock that its receiver wants."""
    text = waiting(1, "0xc000010000", "Queue.remove(0xc000010000)")
    text += "goroutine 2 [chan send]:\nexample.org/objects.(*Queue).send(0xc000010000)\n\t/src/queue.go:30 +0x1\n"
    assert report_of(text, tmp_path).verdict is LogVerdict.CONFORMS
    report = report_of(f"fatal error: all goroutines are asleep - deadlock!\n\n{text}", tmp_path)
    assert report.verdict is LogVerdict.VIOLATES and report.circles == ()
    assert report.text()[1] == "Go's runtime ended the program: all goroutines wait, and none can continue."
    assert report.as_json()["deadlock"] and not report_of(text, tmp_path).as_json()["deadlock"]
    # Without a lock either, and of no thread that waits for one.
    alone = "goroutine 2 [chan receive]:\nmain.main()\n\t/src/main.go:3 +0x1\n"
    report = report_of(f"fatal error: all goroutines are asleep - deadlock!\n\n{alone}", tmp_path)
    assert report.verdict is LogVerdict.VIOLATES


def test_orders_are_compared_with_the_file(tmp_path: Path) -> None:
    report = report_of((SAMPLES / "jstack.txt").read_text(), tmp_path, ORDER)
    lines = report.text()
    # config holds a Node and waits for a Queue, scheduler the other way round; nobody holds a Partition.
    assert any(line.startswith("seen, but not described: Node > Queue: config holds") for line in lines)
    assert "described, but not seen: Partition > Queue (order.yaml:2)" in lines
    assert not any("Queue > Node" in line for line in lines)
    data = report.as_json()
    assert [(o["holding"], o["acquired"]) for o in data["undescribed"]] == [("Node", "Queue")]


def test_programs_describe_orders_too(tmp_path: Path) -> None:
    locks = parse(
        "classes: {Queue: {}, Node: {}}\noperations:\n  go(Queue q, Node n): [wlock q: [wlock n: []]]\n", "ops.yaml"
    )
    lines = report_of((SAMPLES / "lockdep_circular.txt").read_text(), tmp_path, locks).text()
    assert any(line.startswith("seen, but not described: Node > Queue: kworker") for line in lines)
    assert "described, but not seen: Queue > Node (ops.yaml:3)" in lines


def test_a_transitive_order_allows_several_levels(tmp_path: Path) -> None:
    rows = "classes: {Queue: {}, Partition: {}, Node: {}}\norder: [Node > Partition, Partition > Queue]\n"
    text = (SAMPLES / "jstack.txt").read_text()
    closed = report_of(text, tmp_path, parse(rows + "closed: true\n", "order.yaml")).comparison
    assert ("Node", "Queue") not in closed.undescribed and ("Node", "Queue") not in closed.unobserved
    assert ("Node", "Queue") in report_of(text, tmp_path, parse(rows, "order.yaml")).comparison.undescribed


def test_an_undescribed_order_violates_without_a_circle(tmp_path: Path) -> None:
    text = (SAMPLES / "jstack.txt").read_text()
    one = text[: text.index('"scheduler" #13')]
    assert report_of(one, tmp_path).verdict is LogVerdict.CONFORMS
    assert report_of(one, tmp_path, ORDER).verdict is LogVerdict.VIOLATES


def test_a_dump_without_waits_is_undetermined(tmp_path: Path) -> None:
    report = report_of("goroutine 1 [running]:\nmain.main()\n\t/src/main.go:3 +0x1\n", tmp_path)
    assert report.verdict is LogVerdict.UNDETERMINED and "nothing to check" in report.text()[1]


def test_the_command_reads_a_dump_with_only_classes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "classes.yaml"
    file.write_text("classes: {Queue: {}}\n")
    dump = str(SAMPLES / "goroutines.txt")
    assert main(["locks", str(file), "--log", dump]) == 1
    out, err = capsys.readouterr()
    assert "possible circle: goroutine 41 > goroutine 77 > goroutine 41" in out and not err
    assert main(["locks", str(file), "--log", dump, "--json", "-"]) == 1
    assert json.loads(capsys.readouterr().out)["circles"][0]["names"] == ["goroutine 41", "goroutine 77"]
    records = tmp_path / "log.jsonl"
    record = {"thread": "t", "op": "acquire", "class": "Queue", "lock": "q", "mode": "write"}
    records.write_text(json.dumps(record))
    assert main(["locks", str(file), "--log", str(records)]) == 0


def test_a_thread_that_locks_again_after_wait_has_released_it(tmp_path: Path) -> None:
    """Its stack still lists the monitor as locked; another thread holds it now."""
    text = """\
        "notified" #1 prio=5 tid=0x00007f0000000001 nid=0x1 in Object.wait() [0x1]
        at java.lang.Object.wait(java.base@17/Native Method)
        - waiting to re-lock in wait() <0x0000000000000011> (a org.example.Queue)
        at org.example.Queue.take(Queue.java:3)
        - locked <0x0000000000000011> (a org.example.Queue)
        "notifier" #2 prio=5 tid=0x00007f0000000002 nid=0x2 runnable [0x2]
        at org.example.Queue.put(Queue.java:9)
        - locked <0x0000000000000011> (a org.example.Queue)
    """
    report = report_of(text, tmp_path)
    assert report.circles == ()
    assert report.dump.threads[0].holds == () and report.dump.threads[1].holds[0].where == "Queue.java:9"
    assert "notified waits to lock again after wait Queue 0x0000000000000011 (Native Method), which notifier holds" in [
        line.replace("java.base@17/", "") for line in report.text()
    ]


def stack(number: int, state: str, *calls: str) -> str:
    """A goroutine with these calls, the innermost first."""
    frames = "".join(f"{call}\n\t/src/{call.split('.')[0]}.go:{n} +0x1\n" for n, call in enumerate(calls, 1))
    return f"goroutine {number} [{state}]:\n{frames}\n"


LOCKS = ("sync.(*Mutex).lockSlow(0xc000010020)", "sync.(*Mutex).Lock(...)")
VISIT = (*LOCKS, "x.(*Queue).bump(0x0?)", "x.(*Queue).Visit(0xc000010018)")
BUSY = stack(6, "sleep", "time.Sleep(0x1)", "x.(*Queue).Slow(0xc000010018)")


def test_threads_in_the_queue_for_one_lock_are_in_no_circle(tmp_path: Path) -> None:
    """As a real program that is only busy prints it: the receiver is out of date, and the lock's own address is the same."""
    report = report_of(BUSY + "".join(stack(n, "semacquire", *VISIT) for n in (17, 18, 19)), tmp_path)
    assert report.circles == () and report.verdict is LogVerdict.CONFORMS


def test_a_busy_lock_is_not_held_by_who_waits_for_it(tmp_path: Path) -> None:
    """Each may hold the queue that it waits for; but another goroutine may hold it too, and goes on."""
    visit = [call.replace("0x0?", "0xc000010018") for call in VISIT]
    waiting = "".join(stack(n, "sync.Mutex.Lock", *visit) for n in (17, 18))
    assert report_of(BUSY + waiting, tmp_path).circles == ()
    # Without that goroutine, each may have locked it twice.
    assert [circle.names for circle in report_of(waiting, tmp_path).circles] == [("goroutine 17",), ("goroutine 18",)]


def test_the_lock_of_a_wrapper_is_that_of_its_caller(tmp_path: Path) -> None:
    """The program has its own RWMutex around that of package sync, as some projects do."""

    def step(number: int, waited: str, held: str) -> str:
        calls = ("sync.(*RWMutex).Lock(0xc00006a038)", "x/locking.(*RWMutex).Lock(...)")
        return stack(number, "semacquire", *calls, f"x.(*Node).Touch({waited})", f"x.(*Node).Step({held})")

    text = step(9, "0xc00006a030", "0xc00006a000") + step(10, "0xc00006a000", "0xc00006a030").replace("a038", "a008")
    (circle,) = report_of(text, tmp_path).circles
    assert circle.names == ("goroutine 10", "goroutine 9") or circle.names == ("goroutine 9", "goroutine 10")
    assert "waits to write Node 0xc00006a0" in circle.steps[0]


def test_a_goroutine_that_waits_for_a_condition_holds_no_lock(tmp_path: Path) -> None:
    text = stack(5, "sync.Cond.Wait", "sync.(*Cond).Wait(0xc000010050)", "x.(*Queue).Pop(0xc000010018)")
    (thread,) = report_of(text, tmp_path).dump.threads
    assert thread.holds == ()


def test_what_the_runtime_adds_to_a_state_is_left_out(tmp_path: Path) -> None:
    for state in (
        "sync.Mutex.Lock (leaked), 3 minutes",
        "semacquire (scan)",
        "semacquire, 3 minutes, locked to thread",
    ):
        (thread,) = report_of(stack(5, state, *VISIT), tmp_path).dump.threads
        assert thread.waits is not None and thread.waits.how == "to lock", state


def test_idle_threads_of_a_pool_wait_for_no_lock(tmp_path: Path) -> None:
    """They park on a condition; who parks on a lock waits for it, and who parks on what a thread owns does too."""

    def thread(name: str, type_: str, address: int, owns: int = 0) -> str:
        owned = f"        - <0x{owns:016x}> (a org.example.Gate$Sync)\n" if owns else ""
        return (
            f'"{name}" #1 prio=5 tid=0x00007f0000000001 nid=0x1 waiting on condition [0x1]\n'
            f"        - parking to wait for  <0x{address:016x}> (a {type_})\n"
            f"        at org.example.Pool.run(Pool.java:3)\n   Locked ownable synchronizers:\n{owned}"
        )

    condition = "java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject"
    idle = thread("idle", condition, 1) + thread("latch", "java.util.concurrent.CountDownLatch$Sync", 2)
    assert report_of(idle, tmp_path).verdict is LogVerdict.UNDETERMINED
    text = idle + thread("a", "java.util.concurrent.locks.ReentrantLock$NonfairSync", 3, owns=4)
    assert [each.waits.lock is not None for each in report_of(text, tmp_path).dump.threads if each.waits] == [
        *(False, False),
        True,
    ]
    gate = text + thread("b", "org.example.Gate$Sync", 4, owns=3)
    assert [circle.names for circle in report_of(gate, tmp_path).circles] == [("a", "b")]


def test_a_wait_without_an_object_releases_one_monitor(tmp_path: Path) -> None:
    """Compiled code may not say for which object it waits; the dump still lists its monitor as locked."""
    text = """\
        "waiter" #1 prio=5 tid=0x00007f0000000001 nid=0x1 in Object.wait() [0x1]
        at java.lang.Object.wait(java.base@17/Native Method)
        - waiting on <no object reference available>
        at org.example.Queue.take(Queue.java:3)
        - locked <0x0000000000000011> (a org.example.Queue)
        at org.example.Node.run(Node.java:9)
        - locked <0x0000000000000022> (a org.example.Node)
    """
    (thread,) = report_of(text, tmp_path).dump.threads
    assert [hold.lock.of for hold in thread.holds] == ["Node"]
    assert thread.waits is not None and thread.waits.text == "for a signal (Queue.java:3)"


def test_of_several_dumps_the_last_one_counts(tmp_path: Path) -> None:
    """Threads that waited for each other earlier are not in a circle later, in Java and in Go."""
    java = (SAMPLES / "jstack.txt").read_text()
    later = 'Full thread dump OpenJDK:\n\n"main" #1 prio=5 tid=0x00007f0000000001 nid=0x1 runnable [0x1]\n'
    report = report_of(f"{java}\n{later}", tmp_path)
    assert report.circles == () and [one.name for one in report.dump.threads] == ["main"]
    go = (SAMPLES / "goroutines.txt").read_text()
    assert report_of(go + stack(41, "runnable", "x.main()"), tmp_path).circles == ()


def test_the_argument_of_a_closure_is_no_receiver(tmp_path: Path) -> None:
    text = stack(5, "sleep", "time.Sleep(0x1)", "x.(*Queue).Run.func1(0xc000010018)", "x.(*Queue).Run(0xc000010050)")
    (thread,) = report_of(text, tmp_path).dump.threads
    assert [hold.lock.name for hold in thread.holds] == ["", "0xc000010050"]


def test_the_frames_of_the_scheduler_are_passed_over(tmp_path: Path) -> None:
    """As SIGQUIT prints them, with Go 1.19."""
    scheduler = ("runtime.gopark(0x0?)", "runtime.goparkunlock(...)", "runtime.semacquire1(0xc000010024, 0x8?)")
    text = stack(5, "semacquire", *scheduler, "sync.runtime_SemacquireMutex(0x0?)", *VISIT)
    (thread,) = report_of(text, tmp_path).dump.threads
    assert thread.waits is not None and thread.waits.text == "to lock some Queue (x.go:7)"


def node(number: int, lock: str, receiver: str) -> str:
    """A goroutine that waits for the lock of a node."""
    return stack(number, "sync.Mutex.Lock", f"sync.(*Mutex).lockSlow({lock})", f"x.(*Node).Touch({receiver})")


def test_a_lock_before_its_object_gives_no_offset(tmp_path: Path) -> None:
    """The object has a pointer to the lock: how far they are apart says nothing of other objects."""
    text = node(5, "0xc000001000", "0xc000002000") + node(6, "0xc000003000", "0x0?")
    first, second = report_of(text, tmp_path).dump.threads
    assert first.waits is not None and first.waits.lock == Lock("0xc000002000", "Node")
    assert second.waits is not None and second.waits.lock == Lock("", "Node")


def test_two_offsets_of_one_type_are_none(tmp_path: Path) -> None:
    text = node(5, "0xc000002008", "0xc000002000") + node(6, "0xc000003010", "0xc000003000")
    threads = report_of(text + node(7, "0xc000004008", "0x0?"), tmp_path).dump.threads
    assert threads[2].waits is not None and threads[2].waits.lock == Lock("", "Node")


def test_the_first_report_of_a_kernel_counts(tmp_path: Path) -> None:
    """After it lockdep turns itself off; what follows in the log is of another boot."""
    first, second = ((SAMPLES / f"lockdep_{name}.txt").read_text() for name in ("circular", "recursive"))
    for text, name in ((first + second, "kworker/3:1/101"), (second + first, "scheduler/4514")):
        assert [one.name for one in report_of(text, tmp_path).dump.threads] == [name]


def test_a_possible_undescribed_order_does_not_violate(tmp_path: Path) -> None:
    calls = ("sync.(*Mutex).Lock(0xc000010020)", "x.(*Queue).bump(0xc000010018)", "x.(*Node).Visit(0xc000020000)")
    report = report_of(stack(5, "semacquire", *calls), tmp_path, ORDER)
    assert any(line.startswith("seen, but not described: Node > Queue") for line in report.text())
    assert report.verdict is LogVerdict.CONFORMS


def test_the_summary_of_a_java_machine_is_no_thread(tmp_path: Path) -> None:
    """It repeats the stacks of a deadlock after the last thread, which neither holds nor waits for anything."""
    idle = '"VM Thread" os_prio=0 cpu=1.00ms elapsed=2.00s tid=0x00007f00000000ff nid=0x9 runnable\n'
    summary = (
        'Found one Java-level deadlock:\n=============================\n"config":\n'
        "        at org.example.Queue.apply(Queue.java:30)\n"
        "        - waiting to lock <0x0000000000000011> (a org.example.Queue)\n"
        "        - locked <0x0000000000000022> (a org.example.Node)\n"
    )
    (thread,) = report_of(idle + summary, tmp_path).dump.threads
    assert thread.waits is None and thread.holds == ()


AROUND: dict[str, Callable[[str], str]] = {
    "Windows line ends": lambda text: text.replace("\n", "\r\n"),
    "colours": lambda text: "".join(f"\x1b[31m{line}\x1b[0m\n" for line in text.splitlines()),
    "times of docker": lambda text: "".join(f"2026-01-02T03:04:05.000006Z {line}\n" for line in text.splitlines()),
    "a JSON log before it": lambda text: '{"level": "info", "msg": "started"}\n' + text,
}


@pytest.mark.parametrize("around", AROUND)
def test_a_dump_is_read_as_logs_have_it(around: str, tmp_path: Path) -> None:
    for name in EXPECTED:
        text = (SAMPLES / f"{name}.txt").read_text()
        plain, changed = report_of(text, tmp_path), report_of(AROUND[around](text), tmp_path)
        assert changed.circles == plain.circles and changed.circles, name


# --- hostile input


@each_row("name", EXPECTED)
def test_a_dump_that_is_cut_off_is_read_or_refused(name: str, tmp_path: Path) -> None:
    text = (SAMPLES / f"{name}.txt").read_text()
    for length in range(0, len(text), 61):
        problem = ""
        try:
            report_of(text[:length], tmp_path).text()
        except TraceError as error:
            problem = str(error)
        assert "\n" not in problem


REFUSED = {
    "binary": (b"\x7fELF\x02\x01\x01\x00\x90\xff", "is not UTF-8; save the file as UTF-8"),
    "zeros": (b"\0" * 100, "neither a log nor a dump that is known; write records of locks"),
    "empty": (b"", "the file is empty"),
    "prose": (b"it hangs\n", "neither a log nor a dump that is known"),
    "debug=1": (b"goroutine profile: total 4\n1 @ 0x43\n", "take one with debug=2"),
    "too large": (b"goroutine 1 [running]:\n" * 50, "larger than 0 MiB; leave out what is not about locks"),
    "another lockdep report": (
        b"WARNING: inconsistent lock state\n",
        "reports something else than a circle; only circular and recursive locking is read",
    ),
    "lockdep, cut off": (
        b"WARNING: possible circular locking dependency detected\n",
        "line 1: the report of lockdep is cut off; add all of its lines",
    ),
    "go-deadlock, cut off": (b"POTENTIAL DEADLOCK:\n", "line 1: the report of go-deadlock is cut off"),
    "go-deadlock, one order": (
        b"POTENTIAL DEADLOCK: Inconsistent locking. saw this ordering in one goroutine:\nhappened before\n",
        "line 1: the report of go-deadlock is cut off",
    ),
}


@each_row("name", REFUSED)
def test_what_cannot_be_read_ends_with_one_line(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    content, says = REFUSED[name]
    monkeypatch.setattr(check, "LARGEST", 1000)
    (tmp_path / "dump.txt").write_bytes(content)
    (tmp_path / "classes.yaml").write_text("classes: {Queue: {}}\n")
    assert main(["locks", str(tmp_path / "classes.yaml"), "--log", str(tmp_path / "dump.txt")]) == 2
    out, err = capsys.readouterr()
    assert says in err and err.count("\n") == 1 and not out


@each_row("begins, repeats", [("", "("), ("", "a.(*"), ("", '"'), ("-> #1 (", "("), ("", "goroutine 1 [")])
def test_time_is_linear_in_the_length_of_lines(begins: str, repeats: str, tmp_path: Path) -> None:
    for name in ("goroutines", "jstack", "lockdep_circular", "go_deadlock_timeout"):
        sample = (SAMPLES / f"{name}.txt").read_text()

        def read(length: int, sample: str = sample) -> None:
            line = begins + repeats * (length // len(repeats))
            report_of(f"{sample}{line}\n{line}\n", tmp_path)

        assert_grows_less(read, 5_000, 40_000, than=24)


def test_time_is_linear_in_the_goroutines(tmp_path: Path) -> None:
    """All wait for a queue and may hold one: edges between all pairs would be nine million."""
    block = (SAMPLES / "goroutines.txt").read_text()
    block = block[block.index("goroutine 77 [") : block.index("goroutine 78 [")].replace("(0xc00011c0", "(0xc00011c0?")

    def read(count: int) -> None:
        blocks = [block.replace("goroutine 77", f"goroutine {n}") for n in range(count)]
        report = report_of("".join(blocks), tmp_path)
        assert len(report.circles) == 1 and len(report.circles[0].names) == 2
        # All sleep on the semaphore of one lock: they are in no circle.
        asleep = "".join(blocks).replace("runtime.gopark(0x0?", "runtime.semacquire1(0xc00011c034")
        assert asleep.count("semacquire1") == count and report_of(asleep, tmp_path).circles == ()

    assert_grows_less(read, 250, 2_000, than=24)


# --- circles, compared with brute force


def shortest(threads: Sequence[ThreadState], by_type: bool) -> int:
    """The length of a shortest circle of two threads or more, by trying all; 0 if there is none."""

    def waits_for(one: ThreadState, other: ThreadState) -> bool:
        assert one.waits is not None and one.waits.lock is not None
        lock = one.waits.lock
        if in_one_queue(one, other):
            return False
        same = [h.lock.may_be(lock) if by_type else bool(lock.name) and h.lock.name == lock.name for h in other.holds]
        return any(same)

    for length in range(2, len(threads) + 1):
        for ring in permutations(threads, length):
            if all(waits_for(one, other) for one, other in zip(ring, (*ring[1:], ring[0]), strict=True)):
                return length
    return 0


def in_one_queue(one: ThreadState, other: ThreadState) -> bool:
    """Whether both wait for one lock: by its address, or else by the name of its object."""
    assert one.waits is not None and one.waits.lock is not None
    assert other.waits is not None and other.waits.lock is not None
    if one.waits.address and other.waits.address:
        return one.waits.address == other.waits.address
    return bool(one.waits.lock.name) and one.waits.lock.name == other.waits.lock.name


def is_alone(one: ThreadState, threads: Sequence[ThreadState]) -> bool:
    """Whether a thread waits for itself: it holds its lock, or may hold it and no other thread may but those that wait for it."""
    assert one.waits is not None and one.waits.lock is not None
    name = one.waits.lock.name
    certain = [hold.certain for hold in one.holds if name and hold.lock.name == name]
    holders = [each for each in threads if any(hold.lock.name == name for hold in each.holds)]
    return bool(certain) and (certain[0] or all(in_one_queue(one, each) for each in holders))


def circles_agree(seeds: range) -> list[int]:
    """A gate: the circle that is one is as short as by brute force."""
    lengths = []
    for seed in seeds:
        chance = random.Random(seed)
        names = ["", "1", "2", "3", "4", "5"] if seed % 2 else ["1", "2", "3", "4", "5"]

        def lock(chance: random.Random = chance, names: Sequence[str] = names) -> Lock:
            return Lock(chance.choice(names), chance.choice(["A", "B", ""]))

        threads = [
            ThreadState(
                f"t{n}",
                n,
                tuple(Hold(lock(), "", chance.random() < 0.3) for _ in range(chance.randint(0, 2))),
                Wait("to lock", lock(), "", chance.choice(["", "", "x", "y", "z"])),
            )
            for n in range(5)
        ]
        circles = find_circles(Dump("made", tuple(threads)))
        of_threads = [one.names for one in circles if one.names[0].startswith("t")]  # not of orders
        several = [len(names) for names in of_threads if len(names) > 1]
        by_name = shortest(threads, by_type=False)
        alone = {circle.names[0] for circle in circles if len(circle.names) == 1 and circle.names[0].startswith("t")}
        assert alone == {one.name for one in threads if is_alone(one, threads)}, seed
        expected = by_name or (0 if alone else shortest(threads, by_type=True))
        assert min(several, default=0) == expected, seed
        lengths.append(expected)
    return lengths


def test_circles_are_as_short_as_by_brute_force() -> None:
    lengths = circles_agree(range(200))
    assert {0, 2, 3} <= set(lengths)


# --- seeded faults


def keeps_out_of_date(function: str, arguments: str, place: str) -> Any:
    """An argument with a question mark is used."""
    return _frame(function, arguments.replace("?", ""), place)


def keeps_what_wait_released(self: Any, of: Any, names: Any) -> ThreadState:
    """The monitor of a thread in Object.wait is still held."""
    self.released.clear()
    return _state(self, of, names)


def pairs_from_the_top(chain: Sequence[Any]) -> Any:
    """Each entry of a chain was acquired under the next higher one."""
    return pairwise(chain[::-1])


def names_the_first_two(first: Any, second: Any) -> Lock:
    """The lock acquired last in the other goroutine is another one."""
    return Lock(first[3], first[2])


def forgets_the_rest(self: Any, start: int, shorter_than: int) -> list[int]:
    """Only circles of two threads are one."""
    ring = _ring(self, start, shorter_than)
    return ring if len(ring) == 2 else []


def knows_no_address(every: Any) -> goroutines.Known:
    return goroutines.Known()


def has_every_lock(self: Any, owner: Any, address: str) -> bool:
    """A method waits only for the lock of its own object."""
    return True


def waits_for_itself(one: ThreadState, hold: Hold, threads: Any) -> circle.Circle:
    """Who reads again waits for itself only."""
    return _alone(one, hold, [])


def as_it_is(text: str) -> str:
    """Names of types are compared as they are written."""
    return text


def in_no_queue(self: Wait, other: Wait) -> bool:
    """Who waits for a lock keeps others from it."""
    return False


def is_never_busy(self: Any, one: ThreadState) -> bool:
    return False


def is_a_lock(self: Any, owned: Any) -> None:
    """Whatever a thread parks on is a lock."""


def is_the_same(self: Lock, other: Lock) -> bool:
    """Locks of one type are the same."""
    return self.of == other.of


_frame, _state, _ring, _alone = goroutines._frame, jstack._Thread.state, circle._Graph.ring, circle._alone

SEEDED: dict[str, tuple[Any, str, Any, Callable[[Path], object]]] = {
    "old arguments count": (goroutines, "_frame", keeps_out_of_date, test_out_of_date_arguments_leave_the_type),
    "a monitor stays held": (
        jstack._Thread,
        "state",
        keeps_what_wait_released,
        test_a_thread_that_locks_again_after_wait_has_released_it,
    ),
    "a chain is turned": (lockdep, "pairwise", pairs_from_the_top, lambda f: check_sample("lockdep_circular", f)),
    "two locks are three": (
        go_deadlock,
        "_named",
        names_the_first_two,
        lambda f: check_sample("go_deadlock_reversed", f),
    ),
    "circles have two threads": (circle._Graph, "ring", forgets_the_rest, lambda _: circles_agree(range(200))),
    "no address is known": (goroutines, "_known", knows_no_address, test_the_address_of_a_lock_identifies_its_object),
    "methods lock their own objects": (goroutines.Known, "has", has_every_lock, test_a_method_may_lock_another_object),
    "a writer is in no circle": (circle, "_alone", waits_for_itself, test_a_reader_again_waits_behind_a_writer),
    "types are compared as they are": (comparison, "_plain", as_it_is, test_programs_describe_orders_too),
    "a queue is a circle": (Wait, "is_for_the_lock_of", in_no_queue, lambda f: circles_agree(range(200))),
    "a lock is never busy": (
        circle._Holders,
        "are_busy",
        is_never_busy,
        test_a_busy_lock_is_not_held_by_who_waits_for_it,
    ),
    "a condition is a lock": (jstack._Thread, "signals", is_a_lock, test_idle_threads_of_a_pool_wait_for_no_lock),
    "one type is one lock": (Lock, "may_be", is_the_same, lambda _: circles_agree(range(60))),
}


@pytest.mark.parametrize("name", thinned(SEEDED, 3, first=2))
def test_a_seeded_fault_is_caught(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    of, attribute, bug, gate = SEEDED[name]
    gate(tmp_path)
    monkeypatch.setattr(of, attribute, bug)
    with pytest.raises((AssertionError, StopIteration, TraceError)):
        gate(tmp_path)
