"""Dumps of threads and reports of lock checkers: who waits for whom, as derived by hand from samples of each format."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from itertools import pairwise, permutations
from pathlib import Path
from time import monotonic
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


@pytest.mark.parametrize("name", EXPECTED)
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


# --- hostile input


@pytest.mark.parametrize("name", EXPECTED)
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


@pytest.mark.parametrize("name", REFUSED)
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


@pytest.mark.parametrize(
    "line", ["(" * 100_000, "a.(*" * 50_000, '"' * 100_000, "-> #1 (" + "(" * 100_000, "goroutine 1 [" * 20_000]
)
def test_long_lines_are_read_in_time(line: str, tmp_path: Path) -> None:
    for name in ("goroutines", "jstack", "lockdep_circular", "go_deadlock_timeout"):
        start = monotonic()
        report_of(f"{(SAMPLES / f'{name}.txt').read_text()}{line}\n{line}\n", tmp_path)
        assert monotonic() - start < 5


def test_many_goroutines_are_read_in_time(tmp_path: Path) -> None:
    """All wait for a queue and may hold one: edges between all pairs would be a hundred million."""
    block = (SAMPLES / "goroutines.txt").read_text()
    block = block[block.index("goroutine 77 [") : block.index("goroutine 78 [")].replace("(0xc00011c0", "(0xc00011c0?")
    start = monotonic()
    report = report_of("".join(block.replace("goroutine 77", f"goroutine {n}") for n in range(10_000)), tmp_path)
    assert len(report.circles) == 1 and len(report.circles[0].names) == 2
    assert monotonic() - start < 20


# --- circles, compared with brute force


def shortest(threads: Sequence[ThreadState], by_type: bool) -> int:
    """The length of a shortest circle of two threads or more, by trying all; 0 if there is none."""

    def waits_for(one: ThreadState, other: ThreadState) -> bool:
        assert one.waits is not None and one.waits.lock is not None
        lock = one.waits.lock
        same = [h.lock.may_be(lock) if by_type else bool(lock.name) and h.lock.name == lock.name for h in other.holds]
        return any(same)

    for length in range(2, len(threads) + 1):
        for ring in permutations(threads, length):
            if all(waits_for(one, other) for one, other in zip(ring, (*ring[1:], ring[0]), strict=True)):
                return length
    return 0


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
                f"t{n}", n, tuple(Hold(lock(), "") for _ in range(chance.randint(0, 2))), Wait("to lock", lock(), "")
            )
            for n in range(5)
        ]
        circles = find_circles(Dump("made", tuple(threads)))
        of_threads = [one.names for one in circles if one.names[0].startswith("t")]  # not of orders
        several = [len(names) for names in of_threads if len(names) > 1]
        by_name = shortest(threads, by_type=False)
        alone = any(len(circle.names) == 1 for circle in circles)
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


def knows_no_offset(every: Any) -> dict[str, int]:
    return {}


def as_it_is(text: str) -> str:
    """Names of types are compared as they are written."""
    return text


def is_the_same(self: Lock, other: Lock) -> bool:
    """Locks of one type are the same."""
    return self.of == other.of


_frame, _state, _ring = goroutines._frame, jstack._Thread.state, circle._Graph.ring

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
    "no offset is known": (goroutines, "_offsets", knows_no_offset, test_the_address_of_a_lock_identifies_its_object),
    "types are compared as they are": (comparison, "_plain", as_it_is, test_programs_describe_orders_too),
    "one type is one lock": (Lock, "may_be", is_the_same, lambda _: circles_agree(range(60))),
}


@pytest.mark.parametrize("name", SEEDED)
def test_a_seeded_fault_is_caught(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    of, attribute, bug, gate = SEEDED[name]
    gate(tmp_path)
    monkeypatch.setattr(of, attribute, bug)
    with pytest.raises((AssertionError, StopIteration, TraceError)):
        gate(tmp_path)
