"""The order that is derived from programs: its circles, its gates, and locks that their holder acquires again.

Two oracles check it. By hand, each case says what is wrong and why. At random, threads that take locks one inside the
other deadlock in the exploration of all interleavings exactly if a circle or a repeated acquisition is derived.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from itertools import combinations, permutations, product
from typing import NamedTuple

import pytest

from schedproof.model.locks import LocksError, parse
from schedproof.proofs.locks import derived
from schedproof.proofs.locks.answer import Answer
from schedproof.proofs.locks.explore import explore_all
from schedproof.proofs.locks.kinds import Kind
from schedproof.proofs.locks.model_check import model_check
from schedproof.proofs.locks.unchecked import unchecked
from schedproof.proofs.verdict import Verdict
from tests.support.rows import each_row

CIRCLES, REACQUIRED, WAITING = "derived-order-is-acyclic", "no-lock-is-acquired-again", "nothing-is-held-while-waiting"
QUEUES = "classes: {Partition: {}, Queue: {in: [Partition, Queue]}, Node: {in: Partition}}\noperations:\n"


class Made(NamedTuple):
    """A description, the check that is looked at, and what its answer must say; "" if it holds."""

    text: str
    check: str
    says: str
    remark: str = ""


def threads(*each: str, objects: str = "g: mutex, a: mutex, b: mutex, c: mutex, r: rw, s: rw, u: rw") -> str:
    """A file with threads, each a list of steps; they are named one, two, three."""
    names = ("one", "two", "three", "four")
    lines = [f"  {name}: {steps}" for name, steps in zip(names, each, strict=False)]
    return "\n".join([f"objects: {{{objects}}}", "threads:", *lines, ""])


CASES = {
    "two locks in opposite orders": Made(
        threads("[lock a: [lock b: []]]", "[lock b: [lock a: []]]"), CIRCLES, "a circle of 2 locks: a > b > a"
    ),
    "three locks, and two that a gate excludes": Made(
        threads(
            "[lock g: [lock a: [lock b: []]]]",
            "[lock g: [lock b: [lock a: []]]]",
            "[lock b: [lock c: []]]",
            "[lock c: [lock a: []]]",
        ),
        CIRCLES,
        "a circle of 3 locks: a > b > c > a",
        "the circle a > b > a cannot close: one and two hold g meanwhile",
    ),
    "three locks": Made(
        threads("[lock a: [lock b: []]]", "[lock b: [lock c: []]]", "[lock c: [lock a: []]]"),
        CIRCLES,
        "a circle of 3 locks: a > b > c > a",
    ),
    "a gate": Made(
        threads("[lock g: [lock a: [lock b: []]]]", "[lock g: [lock b: [lock a: []]]]"),
        CIRCLES,
        "",
        "the circle a > b > a cannot close: one and two hold g meanwhile",
    ),
    "a gate that both read is none": Made(
        threads("[rlock r: [lock a: [lock b: []]]]", "[rlock r: [lock b: [lock a: []]]]"),
        CIRCLES,
        "a circle of 2 locks: a > b > a",
    ),
    "a gate that one reads and one writes": Made(
        threads("[rlock r: [lock a: [lock b: []]]]", "[wlock r: [lock b: [lock a: []]]]"),
        CIRCLES,
        "",
        "hold r meanwhile",
    ),
    "a gate that is released before the second lock is none": Made(
        threads("[lock g, lock a, unlock g, lock b, unlock b, unlock a]", "[lock g: [lock b: [lock a: []]]]"),
        CIRCLES,
        "a circle of 2 locks: a > b > a",
    ),
    "a gate of two threads does not exclude the third": Made(
        threads("[lock g: [lock a: [lock b: []]]]", "[lock g: [lock b: [lock a: []]]]", "[lock b: [lock a: []]]"),
        CIRCLES,
        "a circle of 2 locks: a > b > a",
    ),
    "a thread that runs once closes no circle with itself": Made(
        threads("[lock a: [lock b: []], lock b: [lock a: []]]"), CIRCLES, "one would have to run twice"
    ),
    "readers wait for readers only behind a writer": Made(
        threads("[rlock r: [rlock s: []]]", "[rlock s: [rlock r: []]]", "[wlock r: []]"),
        CIRCLES,
        "three, which acquires wlock r",
    ),
    "readers of which no writer is described": Made(
        threads("[rlock r: [rlock s: []]]", "[rlock s: [rlock r: []]]"),
        CIRCLES,
        "the file describes no writer of r, but one that it leaves out would block",
    ),
    "the writers between readers hold a gate": Made(
        # While one waits to read s, nobody can wait to write it: that takes g, which one holds.
        threads(
            *("[lock g: [rlock r: [rlock s: []]]]", "[rlock s: [rlock r: []]]"),
            *("[lock g: [wlock r: []]]", "[lock g: [wlock s: []]]"),
        ),
        CIRCLES,
        "",
        "one and four, which has to write s in between, hold g meanwhile",
    ),
    "two writers are needed, and exclude each other": Made(
        threads("[rlock r: [rlock s: []]]", "[rlock s: [rlock r: []]]", "[lock g: [wlock r: [], wlock s: []]]"),
        CIRCLES,
        "",
        "three holds it twice at once: it holds g meanwhile",
    ),
    "a writer between readers is one past the gate": Made(
        threads(
            *("[lock g: [rlock r: [rlock s: []]]]", "[rlock s: [rlock r: []]]"),
            *("[lock g: [wlock s: []]]", "[wlock s: [], wlock r: []]"),
        ),
        CIRCLES,
        "four, which acquires wlock s",
    ),
    "a circle of six": Made(
        threads(
            *("[lock a: [lock b: [lock c: []]]]", "[lock c: [lock d: []]]", "[lock d: [lock e: [lock f: []]]]"),
            "[lock f: [lock a: []]]",
            objects="a: mutex, b: mutex, c: mutex, d: mutex, e: mutex, f: mutex",
        ),
        CIRCLES,
        "a circle of 4 locks: a > c > d > f > a",
    ),
    "a circle of six, and no shorter one": Made(
        "objects: {a: mutex, b: mutex, c: mutex, d: mutex, e: mutex, f: mutex}\nthreads:\n"
        + "".join(f"  t{n}: [lock {'abcdef'[n]}: [lock {'bcdefa'[n]}: []]]\n" for n in range(6)),
        CIRCLES,
        "a circle of 6 locks: a > b > c > d > e > f > a",
    ),
    "a lock of a round is held in the next": Made(
        # A round may end with a; the next one acquires b under it.
        "objects: {a: mutex, b: mutex}\nchannels: {c: 1, d: 1}\nthreads:\n"
        "  one: [serve: [either: [[receive c, lock a], [receive d, lock b, unlock b, unlock a]]]]\n"
        "  two: [lock b: [lock a: []]]\n  three: [send c, send d]\n",
        CIRCLES,
        "a circle of 2 locks: a > b > a",
    ),
    "a reader and a writer need no third thread": Made(
        threads("[rlock r: [wlock s: []]]", "[rlock s: [wlock r: []]]"), CIRCLES, "a circle of 2 locks: r > s > r"
    ),
    "one order": Made(threads("[lock a: [lock b: []]]", "[lock a: [lock b: []]]"), CIRCLES, ""),
    "operations in opposite orders": Made(
        QUEUES + "  one(Queue q, Node n): [wlock q: [wlock n: []]]\n  two(Queue q, Node n): [wlock n: [wlock q: []]]\n",
        CIRCLES,
        "a circle of 2 locks: node1 > queue1 > node1",
    ),
    "two objects of one class": Made(QUEUES + "  move(Node n, Node m): [wlock n: [wlock m: []]]\n", CIRCLES, "node"),
    "a tree from both ends": Made(
        QUEUES
        + "  down(Queue q): [wlock q: [each Queue c in q: [wlock c: []]]]\n"
        + "  up(Queue q): [wlock q: [each Queue p around q: [wlock p: []]]]\n",
        CIRCLES,
        "a circle of 2 locks: queue1 > queue2 > queue1",
    ),
    "a tree from both ends, two levels apart": Made(
        QUEUES
        + "  down(Queue q): [wlock q: [each Queue c in q: [each Queue d in c: [wlock d: []]]]]\n"
        + "  up(Queue q): [wlock q: [each Queue p around q: [each Queue o around p: [wlock o: []]]]]\n",
        CIRCLES,
        "a circle of 2 locks: queue1 > queue3 > queue1",
    ),
    "a tree from one end": Made(
        QUEUES + "  down(Queue q): [wlock q: [each Queue c in q: [down(c)]]]\n", REACQUIRED, ""
    ),
    "operations under the lock of their partition": Made(
        # Both hold the lock of the same partition: of two nodes in two partitions, none is in the other's.
        QUEUES
        + "  one(Queue q, Node n in q.Partition): {under: [wlock q.Partition], steps: [wlock q: [wlock n: []]]}\n"
        + "  two(Queue q, Node n in q.Partition): {under: [wlock q.Partition], steps: [wlock n: [wlock q: []]]}\n",
        CIRCLES,
        "",
        "hold partition1 meanwhile",
    ),
    "the lock of a partition is no gate for another": Made(
        QUEUES
        + "  one(Queue q, Node n): [wlock q.Partition: [wlock q: [wlock n: []]]]\n"
        + "  two(Queue q, Node n): [wlock n.Partition: [wlock n: [wlock q: []]]]\n",
        CIRCLES,
        "a circle of 2 locks: node",
    ),
    "an operation and a thread": Made(
        "classes: {Queue: {}, Node: {}}\nobjects: {q: Queue, n: Node}\n"
        "operations:\n  one(Queue q, Node n): [wlock q: [wlock n: []]]\nthreads:\n  t: [wlock n: [wlock q: []]]\n",
        CIRCLES,
        "a circle of 2 locks: n > q > n",
    ),
    "a mutex twice": Made(threads("[lock a: [lock a: []]]"), REACQUIRED, "one holds a, and waits for itself"),
    "a reader that writes": Made(threads("[rlock r: [wlock r: []]]"), REACQUIRED, "one holds r, and waits for itself"),
    "a read lock twice, and a writer": Made(
        threads("[rlock r: [rlock r: []]]", "[wlock r: []]"), REACQUIRED, "two, which acquires wlock r"
    ),
    "a read lock twice, and no writer": Made(
        threads("[rlock r: [rlock r: []]]"), REACQUIRED, "the file describes no writer of r, but one that it leaves out"
    ),
    "a read lock twice, and no writer but itself": Made(
        threads("[rlock r: [rlock r: []], wlock r: []]"), REACQUIRED, "the file describes no other writer of r, but one"
    ),
    "a read lock twice, and writers behind a gate": Made(
        threads("[lock g: [rlock r: [rlock r: []]]]", "[lock g: [wlock r: []]]"),
        REACQUIRED,
        "",
        "every writer of it that the file describes holds g, and so does one",
    ),
    "a read lock twice, and one writer past the gate": Made(
        threads("[lock g: [rlock r: [rlock r: []]]]", "[lock g: [wlock r: []]]", "[wlock r: []]"),
        REACQUIRED,
        "three, which acquires wlock r",
    ),
    "a read lock twice in a call": Made(
        QUEUES + "  get(Queue q): [rlock q: []]\n  count(Queue q): [rlock q: [get(q)]]\n", REACQUIRED, "count"
    ),
    "a read lock once after the other": Made(threads("[rlock r: [], rlock r: []]", "[wlock r: []]"), REACQUIRED, ""),
    "a thread sends under a lock": Made(
        "objects: {a: mutex}\nchannels: {c: 1}\nthreads: {one: [lock a: [send c]], two: [receive c]}\n",
        WAITING,
        "lock a is held meanwhile",
    ),
    "a thread sends where there is always room": Made(
        "objects: {a: mutex}\nchannels: {c: unbounded}\nthreads: {one: [lock a: [send c]], two: [receive c]}\n",
        WAITING,
        "",
    ),
}


def answer_of(made: Made) -> Answer:
    """The answer of the check that a case is about."""
    return next(a for a in model_check(parse(made.text, "made.yaml")).answers if a.check.name == made.check)


def check_case(name: str) -> None:
    """A gate: the case is answered as said."""
    made = CASES[name]
    answer = answer_of(made)
    assert answer.verdict is (Verdict.REFUTED if made.says else Verdict.PROVED), name
    assert made.says in answer.problem
    assert bool(made.remark) == bool(answer.remarks), name
    assert made.remark in "; ".join(answer.remarks)


@each_row("name", CASES)
def test_a_case_is_answered_as_said(name: str) -> None:
    check_case(name)


def by_hand() -> None:
    """A gate: all cases."""
    for name in CASES:
        check_case(name)


def chains(seed: int, kinds: dict[str, str]) -> str:
    """Threads that each take some locks, one inside the other."""
    chance = random.Random(seed)
    lines = []
    for name in ("one", "two", "three")[: chance.randint(2, 3)]:
        nested_locks = chance.sample(sorted(kinds), chance.randint(1, 3))
        hows = ["lock" if kinds[lock] == "mutex" else chance.choice(["rlock", "wlock"]) for lock in nested_locks]
        nested = "[]"
        for how, lock in zip(reversed(hows), reversed(nested_locks), strict=True):
            nested = f"[{how} {lock}: {nested}]"
        lines.append(f"  {name}: {nested}")
    objects = ", ".join(f"{name}: {kind}" for name, kind in kinds.items())
    return "\n".join([f"objects: {{{objects}}}", "threads:", *lines, ""])


def agrees(seeds: range) -> int:
    """A gate: of chains of mutexes, those and only those with a circle deadlock; returns how many do."""
    stuck = 0
    for seed in seeds:
        locks = parse(chains(seed, dict.fromkeys("abcd", "mutex")), f"{seed}.yaml")
        refuted = {a.check.name for a in model_check(locks).answers if a.verdict is Verdict.REFUTED}
        assert (CIRCLES in refuted) == ("no-deadlock" in refuted), seed
        stuck += "no-deadlock" in refuted
    return stuck


def covers(seeds: range) -> int:
    """A gate: every deadlock on reader-writer locks is a circle; a circle without one needs a writer that is not there."""
    more = 0
    for seed in seeds:
        locks = parse(chains(seed, {"a": "rw", "b": "rw", "c": "rw", "d": "mutex"}), f"{seed}.yaml")
        answers = {a.check.name: a for a in model_check(locks).answers}
        deadlock = answers["no-deadlock"].verdict is Verdict.REFUTED
        circles = answers[CIRCLES]
        if deadlock:
            assert circles.verdict is Verdict.REFUTED, seed
        elif circles.verdict is Verdict.REFUTED:
            assert circles.circles is not None and all(each.through_writers for each in circles.circles.circles), seed
            more += 1
    return more


Acquired = tuple[str, tuple[tuple[str, str], ...], str, str]
"""A thread, what it holds as pairs of mode and lock, and the mode and the lock that it acquires."""


def acquired(text: str) -> list[Acquired]:
    """What the threads of :func:`chains` acquire, read anew from the text."""
    result: list[Acquired] = []
    for name, nested in re.findall(r"^  (one|two|three): (.*)$", text, re.MULTILINE):
        steps = re.findall(r"(r?w?lock) (\w+)", nested)
        result += [(name, tuple(steps[:n]), *steps[n]) for n in range(len(steps))]
    return result


def excludes(one: Acquired, other: Acquired) -> bool:
    """Whether both cannot hold what they do."""
    return any((a == b and how != "rlock") or (a == b and way != "rlock") for how, a in one[1] for way, b in other[1])


def closes(ring: Sequence[Acquired], every: Sequence[Acquired]) -> bool:
    """Whether all of a ring can wait at once, each for what the next one holds; threads may run twice."""
    needed = []
    for one, other in zip(ring, (*ring[1:], ring[0]), strict=True):
        hows = [how for how, lock in other[1] if lock == one[3]]
        if not hows or any(lock == one[3] for _, lock in one[1]):
            return False
        if one[2] == "rlock" == hows[0]:
            needed.append([each for each in every if each[3] == one[3] and each[2] != "rlock"])
    choices = product(*(writers for writers in needed if writers))
    return any(not any(excludes(*pair) for pair in combinations([*ring, *chosen], 2)) for chosen in choices)


def same_circles(seeds: range) -> tuple[int, int]:
    """A gate: a circle is derived if and only if some ring can close, by trying all; returns how many do, and do not."""
    counts = [0, 0]
    for seed in seeds:
        text = chains(seed, {"a": "rw", "b": "rw", "c": "rw", "g": "mutex"})
        every = acquired(text)
        rings = (ring for length in (2, 3, 4) for ring in permutations(every, length))
        expected = any(closes(ring, every) for ring in rings)
        answer = next(a for a in model_check(parse(text, f"{seed}.yaml"), only=[CIRCLES]).answers)
        assert (answer.verdict is Verdict.REFUTED) == expected, seed
        counts[expected] += 1
    return counts[1], counts[0]


@pytest.mark.parametrize(
    "seeds", [range(30), pytest.param(range(30, 500), marks=pytest.mark.long(one_in=32))], ids=["few", "many"]
)
def test_a_circle_is_derived_where_a_ring_can_close(seeds: range) -> None:
    refuted, proved = same_circles(seeds)
    assert min(refuted, proved) > len(seeds) / 15


@pytest.mark.parametrize("seeds", [range(40), pytest.param(range(40, 190), marks=pytest.mark.long)])
def test_chains_of_mutexes_deadlock_where_a_circle_is_derived(seeds: range) -> None:
    assert agrees(seeds) > len(seeds) / 8


@pytest.mark.parametrize(
    "seeds", [range(30), pytest.param(range(30, 500), marks=pytest.mark.long(one_in=32))], ids=["few", "many"]
)
def test_deadlocks_of_readers_and_writers_are_derived(seeds: range) -> None:
    assert covers(seeds) > len(seeds) / 100


@pytest.mark.parametrize("seeds", [range(20), pytest.param(range(20, 60), marks=pytest.mark.long)])
def test_what_the_exploration_finds_is_derived(seeds: range) -> None:
    """Of any nesting: a deadlock of the explored threads is in the derived checks."""
    for seed in seeds:
        chance = random.Random(seed)
        bodies = []
        for _ in range(2):
            steps = []
            for _ in range(2):
                first, second = chance.choices("ab", k=2)
                steps.append(
                    f"rlock {first}: [rlock {second}: []]"
                    if chance.random() < 0.3
                    else f"wlock {first}: [rlock {second}: []]"
                )
            bodies.append(f"[{', '.join(steps)}]")
        locks = parse(threads(*bodies, objects="a: rw, b: rw"), "made.yaml")
        refuted = {a.check.name for a in model_check(locks).answers if a.verdict is Verdict.REFUTED}
        kinds = {problem.kind for problem in explore_all(locks).problems}
        assert not kinds & {Kind.REVERSED} or CIRCLES in refuted
        assert not kinds & {Kind.SELF, Kind.READ_AGAIN} or REACQUIRED in refuted


def test_nothing_acquired_is_undetermined() -> None:
    checked = model_check(parse("objects: {a: mutex}\noperations: {go: []}\nthreads: {t: []}\n", "made.yaml"))
    assert {a.verdict for a in checked.answers} == {Verdict.UNDETERMINED}
    assert not checked.ok


def test_threads_that_lock_nothing_do_not_follow_an_order() -> None:
    """An order and threads that only send: no check is about the order, so the file is not as expected."""
    text = "classes: {A: {}, B: {}}\norder: [A > B]\nchannels: {c: 1}\nthreads: {t: [send c], u: [receive c]}\n"
    locks = parse(text, "made.yaml")
    checked = model_check(locks)
    verdicts = {a.check.name: a.verdict for a in checked.answers}
    assert verdicts["threads-follow-the-order"] is Verdict.UNDETERMINED and not checked.ok
    assert unchecked(locks) == ("locks that no program acquires: A, B",)


def verdict_of(text: str, check: str) -> Verdict:
    """The verdict of one check of a file."""
    (answer,) = model_check(parse(text, "made.yaml"), only=[check]).answers
    return answer.verdict


def test_a_search_that_stops_early_is_undetermined(monkeypatch: pytest.MonkeyPatch) -> None:
    gated = CASES["a gate"].text
    assert verdict_of(gated, CIRCLES) is Verdict.PROVED
    monkeypatch.setattr(derived, "MOST", 0)
    assert verdict_of(gated, CIRCLES) is Verdict.UNDETERMINED


def test_circles_that_are_too_long_are_not_excluded() -> None:
    """Of the circles of at most five locks all have a gate; the one of six locks, which has none, is not looked at."""
    ring = "".join(f"  t{n}: [lock {'abcdef'[n]}: [lock {'bcdefa'[n]}: []]]\n" for n in range(1, 6))
    text = (
        "objects: {a: mutex, b: mutex, c: mutex, d: mutex, e: mutex, f: mutex, g: mutex}\nthreads:\n"
        "  t0: [lock g: [lock a: [lock b: []]]]\n  back: [lock g: [lock b: [lock a: []]]]\n"
    )
    assert verdict_of(text + ring, CIRCLES) is Verdict.UNDETERMINED
    assert verdict_of(text, CIRCLES) is Verdict.PROVED


def test_threads_that_run_together_may_run_twice() -> None:
    text = CASES["a thread that runs once closes no circle with itself"].text
    (answer,) = model_check(parse(f"{text}together: 2\n", "made.yaml"), only=[CIRCLES]).answers
    assert answer.verdict is Verdict.REFUTED and "twice" not in answer.problem


def test_to_send_where_there_is_always_room_is_no_wait() -> None:
    text = "channels: {c: unbounded}\nobjects: {a: mutex}\nthreads: {one: [lock a: [send c]]}\n"
    assert verdict_of(text, WAITING) is Verdict.UNDETERMINED
    assert verdict_of(text.replace("unbounded", "1"), WAITING) is Verdict.REFUTED


def test_only_classes_describe_nothing_to_check() -> None:
    with pytest.raises(LocksError, match=r"made.yaml:1: nothing can be checked; write an order, operations or threads"):
        model_check(parse("classes: {Queue: {}}\n", "made.yaml"))


def test_operations_that_cannot_run_are_undetermined() -> None:
    """More runs on the objects that are made than are followed: then no verdict, and no error about them."""
    choices = "".join(f"      - maybe: [wlock q{n}: []]\n" for n in range(3)) * 5
    text = QUEUES + "  op(Queue q0, Queue q1, Queue q2):\n    steps:\n" + choices
    answers = {a.check.name: a for a in model_check(parse(text, "made.yaml")).answers}
    assert answers[CIRCLES].verdict is Verdict.UNDETERMINED and "more than" in answers[CIRCLES].note
