"""Words for all that threads wait for: both engines agree on random programs, and seeded faults of the core are seen."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pytest

from schedproof.model.locks import Locks, parse
from schedproof.model.locks.language import Kind as LockKind
from schedproof.model.locks.language import Receive
from schedproof.proofs.locks import automata, continuing, kernel, layout, messages, semantics, symbolic, unfold, ways
from schedproof.proofs.locks.explore import Explored, explore_all
from schedproof.proofs.locks.kinds import Kind
from schedproof.proofs.locks.messages import Ring
from schedproof.proofs.locks.model_check import model_check
from schedproof.proofs.locks.semantics import Machine
from schedproof.proofs.verdict import Disagreement, Verdict
from tests.proofs.locks import runtime_table
from tests.proofs.locks.brute_words import Brute
from tests.proofs.locks.made_words import KindMaker, Maker
from tests.proofs.locks.scenarios import GO, JAVA, POSIX
from tests.proofs.locks.test_compiled import as_python  # noqa: F401 - a fixture
from tests.proofs.locks.test_real_words import ALL
from tests.support.places import ROOT
from tests.support.sample import thinned

NEVER = 10**9
MANY = 1500


def same(locks: Locks) -> Explored:
    """What both engines find, with and without the reduction."""
    for reduced in (False, True):
        interpreted = explore_all(locks, reduced=reduced, limit=MANY, pays=NEVER)
        assert explore_all(locks, reduced=reduced, limit=MANY, pays=0) == interpreted
    return interpreted


def agrees(seeds: range) -> set[Kind]:
    """A gate: both engines find the same, and the reduction loses no problem; returns the kinds of problems."""
    seen: set[Kind] = set()
    for seed in seeds:
        locks = Maker(seed).locks()
        explored = same(locks)
        full = explore_all(locks, reduced=False, limit=MANY, pays=NEVER)
        if full.complete and explored.complete:
            assert bool(full.problems) == bool(explored.problems), seed
        seen |= {problem.kind for problem in full.problems}
    return seen


@pytest.mark.long
def test_both_engines_find_the_same_in_random_programs() -> None:
    assert len(agrees(range(25))) > 5


@pytest.mark.long(seconds=20, one_in=32)
@pytest.mark.parametrize("part", range(8))
def test_both_engines_find_the_same_in_many_programs(part: int) -> None:
    agrees(range(1000 + part * 100, 1100 + part * 100))


def as_by_brute_force(seeds: range, maker: Callable[[int], Locks] | None = None) -> int:
    """A gate: random programs stand still, leak and end as by brute force; returns how many are not trivial."""
    various = 0
    for seed in seeds:
        made = maker(seed) if maker is not None else Maker(seed, 4, readers=False).locks()
        locks = replace(made, together=())
        expected = Brute(locks).explore(20_000)
        if expected is None:
            continue
        explored = explore_all(locks, limit=MANY, pays=NEVER)
        if not explored.complete:
            continue
        seen = {problem.kind for problem in explored.problems}
        ends = seen & {Kind.FATAL, Kind.NOT_HELD}
        assert bool(ends) == expected.panics, (seed, seen, expected)
        wrong = expected.stuck or expected.leaks
        assert bool(seen - ends) >= wrong, (seed, seen, expected)
        # A thread that can end the program keeps others from being reported as stuck.
        assert expected.panics or bool(seen - ends) == wrong, (seed, seen, expected)
        various += bool(seen) and expected.states > 20
    return various


def by_kind(seed: int) -> Locks:
    """A random program whose messages have kinds."""
    return KindMaker(seed).locks()


@pytest.mark.parametrize("seeds", [range(10), pytest.param(range(10, 35), marks=pytest.mark.long)])
def test_messages_with_kinds_end_as_by_brute_force(seeds: range) -> None:
    assert as_by_brute_force(seeds, by_kind) > len(seeds) / 10


@pytest.mark.long(seconds=20, one_in=32)
@pytest.mark.parametrize("part", range(8))
def test_many_messages_with_kinds_end_as_by_brute_force(part: int) -> None:
    as_by_brute_force(range(1000 + part * 100, 1100 + part * 100), by_kind)
    for seed in range(1000 + part * 100, 1010 + part * 100):
        same(by_kind(seed))


def test_random_programs_end_as_by_brute_force() -> None:
    assert as_by_brute_force(range(12)) > 3


@pytest.mark.long(seconds=20, one_in=32)
@pytest.mark.parametrize("part", range(8))
def test_many_random_programs_end_as_by_brute_force(part: int) -> None:
    as_by_brute_force(range(1000 + part * 200, 1200 + part * 200))


def test_every_scenario_is_in_the_table_once() -> None:
    rows = [(id(row.program), name) for row in runtime_table.ROWS for name in row.scenarios]
    assert sorted(rows) == sorted((id(table), name) for table in (GO, JAVA, POSIX) for name in table)


def test_the_table_in_the_reference_is_fresh() -> None:
    assert runtime_table.PAGE.read_text("utf-8") == runtime_table.written(), (
        "python -m tests.proofs.locks.runtime_table"
    )


def test_each_scenario_is_in_its_program() -> None:
    programs = ROOT / "tests/proofs/locks/programs"
    for table, name in ((GO, "words.go"), (JAVA, "Words.java"), (POSIX, "words.c")):
        text = (programs / name).read_text("utf-8")
        assert [each for each in table if f'"{each}"' not in text] == []


# --- scenarios


def stands_still() -> None:
    """A gate: every scenario stands still as it says, or never; and so do some in which more than the kind matters."""
    for name, scenario in ALL.items():
        kinds = {problem.kind for problem in explore_all(scenario.locks(), pays=NEVER).problems}
        assert (scenario.kind in kinds) if scenario.kind is not None else not kinds, name
    more()


KINDS = (
    "counters: {n: 0}\nchannels: {b: {capacity: 2, kinds: [x, y]}, z: {capacity: 0, kinds: [x, y]},"
    " f: {capacity: 1, kinds: [x, y]}}\nthreads:\n"
)
MORE = {
    # The text, and the kinds of all problems.
    "who sleeps when a group ends may find it in use again": (
        "counters: {g: group}\nchannels: {c: 1}\nthreads:\n"
        "  one: [add g, go: [done g, add g, send c], wait g, receive c]\n",
        {Kind.NO_COUNT, Kind.FATAL},  # if it comes too late; if it sleeps already, and wakes too late
    ),
    "a thread that is not started yet closes no circle": (
        "objects: {m: mutex}\ncounters: {s: semaphore 1}\nthreads:\n"
        "  one: [lock m: [acquire s, go: [lock m: [], release s], acquire s, go: [release s]]]\n",
        {Kind.HELD},
    ),
    "a signal needs the write lock of Java": (
        "objects: {j: reentrant-rw}\ncounters: {n: 0}\nconditions: {x: wlock j}\nthreads:\n"
        "  one: [wlock j: [while n = 0: [wait x]]]\n  two: [wlock j: [set n 1], signal x]\n",
        {Kind.NOT_HELD},
    ),
    "a round without a step is a wait": (
        "objects: {m: mutex}\ncounters: {n: 0}\nthreads:\n"
        "  one: [lock m: [while n = 0: []]]\n  two: [lock m: [set n 1]]\n",
        {Kind.HELD},
    ),
    "a round that may have no step": (
        "objects: {m: mutex}\ncounters: {n: 0}\nthreads:\n  one: [while n = 0: [maybe: [lock m: []]]]\n  two: [set n 1]\n",
        set(),
    ),
    "a loop in a loop, without steps": (
        "counters: {n: 0, k: 0}\nthreads:\n  one: [while n = 0: [while k = 0: []]]\n  two: [set n 1]\n",
        {Kind.NO_COUNT},
    ),
    "a server that only sends does not rest": (
        "channels: {c: 0}\nthreads:\n  one: [serve: [select: [send c]]]\n",
        {Kind.NO_MESSAGE},
    ),
    "a server that may receive rests": (
        "channels: {c: 0, d: 0}\nthreads:\n  one: [serve: [select: [send c, receive d]]]\n",
        set(),
    ),
    "a group ends with its last thread": (
        "counters: {g: group}\nchannels: {c: 1}\nthreads:\n"
        "  one: [add g 2, go: [done g], go: [send c, done g], wait g, close c]\n",
        set(),
    ),
    "a panic beside a thread that goes on": (
        "objects: {m: mutex}\nchannels: {c: 1}\nthreads:\n  one: [close c, send c]\n  two: [lock m: [], lock m: []]\n",
        {Kind.FATAL},
    ),
    "a lock is released in its mode": (
        "objects: {j: reentrant-rw, r: rw}\nthreads:\n  one: [wlock j, runlock j]\n  two: [rlock r, wunlock r]\n",
        {Kind.NOT_HELD},
    ),
    "a signal wakes one thread that sleeps": (
        "objects: {m: mutex}\nconditions: {v: m}\nthreads:\n"
        "  one: [lock m: [wait v]]\n  two: [lock m: [wait v]]\n  three: [lock m: [broadcast v]]\n",
        {Kind.NO_SIGNAL},
    ),
    "who comes later waits behind one that wants two": (
        "counters: {q: semaphore 2}\nchannels: {c: 1, d: 1}\nthreads:\n"
        "  one: [acquire q, send c, receive d, release q]\n  two: [receive c, acquire q 2, release q 2]\n"
        "  three: [acquire q, send d, release q]\n",
        {Kind.NO_COUNT},
    ),
    "who comes later passes if it may": (
        "counters: {q: semaphore 2 barging}\nchannels: {c: 1, d: 1}\nthreads:\n"
        "  one: [acquire q, send c, receive d, release q]\n  two: [receive c, acquire q 2, release q 2]\n"
        "  three: [acquire q, send d, release q]\n",
        set(),
    ),
    "permits are released together": (
        "counters: {q: semaphore 3}\nthreads:\n  one: [acquire q 3: [], acquire q 3: []]\n  two: [acquire q 2: []]\n",
        set(),
    ),
    "who waits for a time is woken as others are": (
        "objects: {m: mutex}\ncounters: {n: 0}\nconditions: {v: m}\nthreads:\n"
        "  one: [lock m: [timed wait v]]\n  two: [lock m: [while n = 0: [wait v]]]\n"
        "  three: [lock m: [set n 1, broadcast v]]\n",
        set(),
    ),
    "threads that are started again and again": (
        "counters: {g: group}\nchannels: {c: 1}\nthreads:\n"
        "  one: [add g 3, repeat 3: [go: [send c, done g]], receive c, receive c, wait g]\n",
        set(),
    ),
    "one message for each started thread is too few": (
        "counters: {g: group}\nchannels: {c: 0}\nthreads:\n"
        "  one: [add g 3, repeat 3: [go: [send c, done g]], receive c, receive c, wait g]\n",
        {Kind.NO_COUNT},
    ),
    "a condition of readers": (
        "objects: {r: rw}\ncounters: {n: 0}\nconditions: {v: rlock r}\nthreads:\n"
        "  one: [rlock r: [while n = 0: [wait v]]]\n  two: [wlock r: [set n 1, broadcast v]]\n",
        set(),
    ),
    "a condition of a reader that stays": (
        "objects: {r: rw}\ncounters: {n: 0}\nconditions: {v: rlock r}\nthreads:\n"
        "  one: [rlock r: [rlock r: [while n = 0: [wait v]]]]\n  two: [wlock r: [set n 1, broadcast v]]\n",
        {Kind.HELD, Kind.READ_AGAIN},
    ),
    "a default does not pass a message that is there": (
        "channels: {c: 1}\nthreads:\n  one: [send c, select: [receive c, {default: [receive c]}], send c]\n",
        set(),
    ),
    "a select sees the end of a channel": (
        "channels: {c: 0, d: 0}\nthreads:\n  one: [select: [receive c, receive d]]\n  two: [close d]\n",
        set(),
    ),
    "a comparison is false on both sides": (
        "counters: {n: 5}\nthreads:\n  one: [if n != 5: [subtract n 9], if n < 5: [subtract n 9], if n > 5: [subtract n 9], await n >= 5]\n",
        set(),
    ),
    "a swap that fails changes nothing": (
        "counters: {n: 2}\nthreads:\n  one: [swap n 1 7: [subtract n 9], await n = 2, swap n 2 7: [], await n = 7]\n",
        set(),
    ),
    "two threads that differ in a try": (
        "objects: {a: mutex}\nthreads:\n  one: [lock a, try lock a: []]\n  two: [lock a, lock a: []]\n",
        {Kind.SELF, Kind.LEAKED},
    ),
    "a thread that is not started is not stuck": (
        "objects: {m: mutex}\nthreads:\n  one: [maybe: [go: [lock m: [lock m: []]]]]\n",
        {Kind.SELF},
    ),
    "a thread that nobody starts": ("counters: {n: 0}\nthreads:\n  one: [if n = 1: [go: [await n = 3]]]\n", set()),
    "three levels": (
        "objects: {e: reentrant}\nthreads:\n  one: [lock e: [lock e: [lock e: []]]]\ntogether: 2\n",
        set(),
    ),
    "an errorcheck lock is released once": (
        "objects: {k: errorcheck}\nthreads:\n  one: [lock k, lock k, unlock k, unlock k]\n  two: [lock k: []]\n",
        set(),
    ),
    "the first message comes first": (
        KINDS + "  one: [send b x, send b y, receive b: {x: [], y: [await n = 1]}, send b x,\n"
        "    receive b: {x: [await n = 1], y: []}, receive b: {x: [], y: [await n = 1]}]\n",
        set(),
    ),
    "the end comes after the rest, by kind": (
        KINDS + "  one: [send b y, close b, receive b: {x: [await n = 1], y: [], closed: [await n = 1]},\n"
        "    receive b: {x: [await n = 1], y: [await n = 1], closed: []}, receive b]\n",
        set(),
    ),
    "a message is of one kind": (
        KINDS + "  one: [receive z: {x: [await n = 1], y: []}]\n  two: [send z x]\n",
        {Kind.NO_COUNT},
    ),
    "who waits for room is not helped by one that sends": (
        KINDS + "  one: [send f x, send f y]\n  two: [serve: [select: [send f x, default]]]\n",
        {Kind.NO_MESSAGE},
    ),
    "who waits for a message is not helped by one that receives": (
        KINDS + "  one: [receive f]\n  two: [serve: [select: [receive f, default]]]\n",
        {Kind.NO_MESSAGE},
    ),
    "who waits for a plain message is not helped by one that receives": (
        "channels: {c: 1}\nthreads:\n  one: [receive c]\n  two: [serve: [select: [receive c, timeout]]]\n",
        {Kind.NO_MESSAGE},
    ),
    "who waits for the end is not helped by one that receives": (
        "channels: {c: 1, d: 1}\nthreads:\n  one: [receive c]\n"
        "  two: [serve: [select: [receive c, timeout]]]\n  three: [serve: [receive d, close c]]\n",
        {Kind.NO_MESSAGE},
    ),
    "a server by kind rests, and one that sends does not": (
        KINDS + "  one: [serve: [receive b: {x: [], y: []}]]\n  two: [serve: [select: [send f x]]]\n",
        {Kind.NO_MESSAGE},
    ),
    "a lock that one who runs for ever keeps": (
        "objects: {m: mutex}\nchannels: {c: 1}\nthreads:\n  one: [lock m, serve: [select: [receive c, timeout]]]\n"
        "  two: [lock m: []]\n",
        {Kind.LEAKED},
    ),
    "a server with a timeout answers another kind": (
        KINDS
        + "  one: [serve: [select: [receive b: {x: [], y: [send z x]}, timeout]]]\n  two: [send b x, receive z]\n",
        {Kind.NO_MESSAGE},
    ),
    "a server with a timeout answers": (
        KINDS
        + "  one: [serve: [select: [receive b: {x: [], y: [send z x]}, timeout]]]\n  two: [send b y, receive z]\n",
        set(),
    ),
    "one of two equal clients is not answered": (
        "channels: {c: 0, d: 1}\ncounters: {n: 0}\nthreads:\n"
        "  one: [serve: [select: [{receive c: [swap n 0 1: [send d]]}, timeout]]]\n"
        "  two: [send c, receive d]\n  three: [send c, receive d]\n",
        {Kind.NO_MESSAGE},
    ),
    "both of two equal clients are answered": (
        "channels: {c: 0, d: 1}\nthreads:\n  one: [serve: [select: [{receive c: [send d]}, timeout]]]\n"
        "  two: [send c, receive d]\n  three: [send c, receive d]\n",
        set(),
    ),
    "one of two equal threads runs for ever": (
        "objects: {m: mutex}\ncounters: {n: 0, j: 1, k: 0}\nthreads:\n"
        + "".join(
            f"  {name}: [while n = 0: [lock m: [], swap j 1 0: [await k = 1], if n = 1: [set k 1], lock m: []]]\n"
            for name in ("one", "two")
        ),
        {Kind.NO_COUNT},
    ),
    "who spins until a number comes sends nothing": (
        "counters: {n: 0}\nchannels: {c: 0}\nobjects: {m: mutex}\nthreads:\n"
        "  one: [while n = 0: [lock m: []], send c]\n  two: [receive c, set n 1]\n",
        {Kind.NO_MESSAGE},
    ),
    "who spins until a number comes, which comes": (
        "counters: {n: 0}\nchannels: {c: 0}\nobjects: {m: mutex}\nthreads:\n"
        "  one: [while n = 0: [lock m: []], send c]\n  two: [receive c]\n  three: [set n 1]\n",
        set(),
    ),
    "a sender meets the end, by kind": (KINDS + "  one: [send z x]\n  two: [close z]\n", {Kind.FATAL}),
    "an unowned lock is tried": (
        "objects: {u: unowned}\nthreads:\n  one: [lock u: []]\n  two: [try lock u: [lock u]]\n",
        {Kind.NO_COUNT},
    ),
}


def more() -> None:
    """A gate: these files have exactly the kinds of problems that are derived by hand."""
    for name, (text, expected) in MORE.items():
        kinds = {problem.kind for problem in explore_all(parse(text, "made.yaml"), pays=NEVER).problems}
        assert kinds == expected, (name, kinds)


def test_files_have_the_kinds_derived_by_hand() -> None:
    more()


def test_files_have_the_same_kinds_compiled() -> None:
    for text, _ in MORE.values():
        same(parse(text, "made.yaml"))


def test_a_downgrade_in_a_block_releases_the_write_lock() -> None:
    """The block ends the write lock, although the read lock inside is later."""
    text = (
        "classes: {A: {lock: reentrant-rw}, B: {lock: mutex}}\nobjects: {a: A, b: B}\n"
        "operations:\n  down(A a, B b): [{wlock a: [rlock a]}, {lock b: []}, runlock a]\n"
    )
    checked = model_check(parse(text, "made.yaml"))
    assert all(answer.verdict is not Verdict.REFUTED for answer in checked.answers)


# --- the derived order, and what is held while waiting

ORDERS = {
    "a once is a lock": ("objects: {a: mutex, o: once}\nthreads:\n  one: [once o: [lock a: []]]\n  two: [lock a: [once o: []]]\n", True),
    "a lock that waits is acquired under another": (
        "objects: {a: mutex, b: mutex}\nconditions: {v: a}\nthreads:\n  one: [lock a: [lock b: [wait v]]]\n",
        True,
    ),
    "a started thread holds nothing": ("objects: {a: mutex, b: mutex}\nthreads:\n  one: [lock a: [go: [lock b: []]]]\n  two: [lock b: [lock a: []]]\n", False),
    "a started thread has an order too": ("objects: {a: mutex, b: mutex}\nthreads:\n  one: [go: [lock a: [lock b: []]], lock b: [lock a: []]]\n", True),
    "a select has the steps of its cases": (
        "objects: {a: mutex, b: mutex}\nchannels: {c: 1}\nthreads:\n  one: [lock a: [select: [default: [lock b: []]]]]\n  two: [lock b: [lock a: []]]\n",
        True,
    ),
    "a while has its steps": ("objects: {a: mutex, b: mutex}\ncounters: {n: 0}\nthreads:\n  one: [lock a: [while n = 1: [lock b: []]]]\n  two: [lock b: [lock a: []]]\n", True),
    "a reentrant lock is acquired first": ("objects: {e: reentrant, b: mutex}\nthreads:\n  one: [lock e: [lock b: [lock e: []]]]\n", False),
    "no order of locks without an owner": ("objects: {u: unowned, b: mutex}\nthreads:\n  one: [lock u: [lock b: []]]\n  two: [lock b: [lock u: []]]\n", False),
}  # fmt: skip


def orders() -> None:
    """A gate: files have a circle, or none."""
    for name, (text, refuted) in ORDERS.items():
        answers = {a.check.name: a.verdict for a in model_check(parse(text, "made.yaml")).answers}
        assert (answers["derived-order-is-acyclic"] is Verdict.REFUTED) == refuted, name


def test_orders_are_derived_through_every_word() -> None:
    orders()


ONCE_MORE = {
    "reentrant": ("lock x: [lock x: []]", False),
    "mutex": ("lock x: [lock x: []]", True),
    "errorcheck": ("lock x: [lock x: []]", False),
    "reentrant-rw": ("wlock x: [rlock x: [rlock x: []]]", False),
    "stamped": ("rlock x: [rlock x: []]", True),
    "once": ("once x: [once x: []]", True),
}


@pytest.mark.parametrize("kind", ONCE_MORE)
def test_only_some_kinds_are_acquired_again(kind: str) -> None:
    steps, refuted = ONCE_MORE[kind]
    checked = model_check(parse(f"objects: {{x: {kind}}}\nthreads: {{t: [{steps}]}}\n", "made.yaml"))
    answers = {a.check.name: a.verdict for a in checked.answers}
    assert (answers["no-lock-is-acquired-again"] is Verdict.REFUTED) == refuted
    assert (answers["no-deadlock"] is Verdict.REFUTED) == (refuted and kind != "stamped")


def test_an_upgrade_is_an_acquisition_again() -> None:
    text = "objects: {x: reentrant-rw}\nthreads: {t: [rlock x: [wlock x: []]]}\n"
    answers = {a.check.name: a.verdict for a in model_check(parse(text, "made.yaml")).answers}
    assert answers["no-lock-is-acquired-again"] is Verdict.REFUTED


WAITS = {
    "wait v": False, "lock b: [wait v]": True, "await n = 0": True, "wait g": True, "acquire p": True,
    "select: [receive c]": True, "select: [receive c, default]": False, "set n 1": False, "signal v": False,
    "timed wait v": False, "lock b: [timed wait v]": False, "acquire p 2": True,
    "once o: []": False, "go: [await n = 0]": False, "close c": False,
}  # fmt: skip


@pytest.mark.parametrize("step", WAITS)
def test_nothing_is_held_while_something_is_waited_for(step: str) -> None:
    text = (
        "objects: {a: mutex, b: mutex, o: once}\nchannels: {c: 0}\ncounters: {n: 0, g: group, p: semaphore 1}\n"
        f"conditions: {{v: a}}\nthreads: {{t: [lock a: [{step}]]}}\n"
    )
    answers = {a.check.name: a.verdict for a in model_check(parse(text, "made.yaml")).answers}
    assert (answers.get("nothing-is-held-while-waiting") is Verdict.REFUTED) == WAITS[step]


ESCAPES = {"callback f": True, "unlock a, callback f, lock a": False, "go: [callback f]": False}


@pytest.mark.parametrize("steps", ESCAPES)
def test_nothing_is_held_in_callbacks(steps: str) -> None:
    texts = (
        f"objects: {{a: mutex}}\nthreads: {{t: [lock a, {steps}, unlock a]}}\n",
        f"classes: {{C: {{lock: mutex}}}}\nobjects: {{o: C}}\noperations:\n  op(C a): [lock a, {steps}, unlock a]\n",
    )
    for text in texts:
        answers = {a.check.name: a.verdict for a in model_check(parse(text, "made.yaml")).answers}
        expected = Verdict.REFUTED if ESCAPES[steps] else Verdict.PROVED
        assert answers["nothing-is-held-in-callbacks"] is expected


def test_operations_are_proved_with_every_word() -> None:
    text = (
        "classes: {A: {lock: reentrant}, B: {}}\norder: [A > B]\n"
        "operations:\n  op(A a, B b):\n    - lock a:\n        - lock a: [wlock b: []]\n        - if n = 0: [wlock b: []]\n"
        "        - while n = 0: [wlock b: []]\n    - go: [wlock b: []]\n    - await n = 0\n"
        "    - select: [default: [lock a: [wlock b: []]]]\n"
        "counters: {n: 0}\nobjects: {a: A, b: B}\n"
    )
    verdicts = {a.check.name: a.verdict for a in model_check(parse(text, "made.yaml")).answers}
    assert set(verdicts.values()) == {Verdict.PROVED}
    wrong = text.replace("go: [wlock b: []]", "go: [wlock b: [lock a: []]]")
    verdicts = {a.check.name: a.verdict for a in model_check(parse(wrong, "made.yaml")).answers}
    assert verdicts["op-follows-the-order"] is Verdict.REFUTED


WAITS_UNDER = "classes: {A: {lock: mutex}, B: {lock: mutex}}\nobjects: {a: A, b: B}\nconditions: {c: a}\n"


def acquires_after_waiting() -> None:
    """A gate: a thread that has waited for a condition acquires its lock again, under the locks that are held meanwhile."""
    for order, steps, expected in (
        ("A > B", "lock x: [lock y: [wait c]]", Verdict.REFUTED),  # y is held when x is acquired again
        ("B > A", "lock y: [lock x: [wait c]]", Verdict.PROVED),
        ("B > A", "lock x: [wait c]", Verdict.PROVED),
    ):
        text = f"{WAITS_UNDER}order: [{order}]\noperations:\n  op(A x, B y): [{steps}]\n"
        verdicts = {a.check.name: a.verdict for a in model_check(parse(text, "made.yaml")).answers}
        assert verdicts["op-follows-the-order"] is expected, (order, steps)


def test_who_has_waited_acquires_the_lock_again() -> None:
    acquires_after_waiting()


BY_KEY = """\
classes: {S: {lock: KIND}}
objects: {a: S, b: S}
conditions: {c: a}
order: [S > S after it]
operations:
"""

WAITS_UNDER_SEVERAL = {
    "each": "  op(): [lock each S: [timed wait c]]\n",
    "several": "  op(): [lock several S: [timed wait c]]\n",
    "two of the caller": "  op(S x, S y): [if x before y: [lock x: [lock y: [sleep()]]]]\n  sleep(): [timed wait c]\n",
}


@pytest.mark.parametrize("name", WAITS_UNDER_SEVERAL)
def test_a_wait_under_several_locks_is_not_proved(name: str) -> None:
    text = BY_KEY.replace("KIND", "mutex") + WAITS_UNDER_SEVERAL[name]
    arguments = "(a, b)" if "op(S" in text else "()"
    assert {a.check.name: a.verdict for a in model_check(parse(text, "made.yaml")).answers}[
        "op-follows-the-order"
    ] is Verdict.REFUTED
    # Two threads stand still: one has given up its wait, and the other one has acquired a meanwhile.
    text += f"threads:\n  one: ['op{arguments}']\n  two: [lock a: [lock b: []]]\n"
    assert explore_all(parse(text, "made.yaml"), pays=NEVER).problems
    # On one object no run shows it.
    alone = text.partition("threads")[0].replace("objects: {a: S, b: S}", "objects: {a: S}")
    assert {a.check.name: a.verdict for a in model_check(parse(alone, "made.yaml")).answers}[
        "op-follows-the-order"
    ] is Verdict.UNDETERMINED


@pytest.mark.parametrize("kind", ["mutex", "reentrant", "errorcheck"])
def test_a_wait_without_its_lock_acquires_nothing(kind: str) -> None:
    """A thread that holds another lock than that of the condition does not come to wait."""
    text = BY_KEY.replace("KIND", kind) + "  op(S x): [lock x: [timed wait c]]\n"
    answers = {a.check.name: a for a in model_check(parse(text, "made.yaml")).answers}
    assert answers["op-follows-the-order"].verdict is Verdict.PROVED


# --- seeded faults


class Fault(NamedTuple):
    """A slip in the core or in the translation: what is spoilt, by what, and the gate that sees it."""

    of: Any
    name: str
    slip: Any
    gate: Callable[[], object] = stands_still


_enabled, _act, _release, _releases = ways.enabled, Machine._act, Machine._release, Machine.releases
_Unfolding = unfold._Unfolding
_sends, _receives = Ring.sends, Ring.receives
_message, _count, _wait, _once, _close = (
    _Unfolding.message, _Unfolding.count, _Unfolding.wait, _Unfolding.once, _Unfolding.close,
)  # fmt: skip


def _default_always(each: Any, counts: Any) -> list[ways.Way]:
    """A default is taken although a case can proceed."""
    return [way for way in each if way.holds(counts)]


def _wakes_all(self: Any, state: Any, thread: int, instruction: Any) -> Iterator[Any]:
    every = tuple(replace(way, everyone=True) for way in instruction.ways)
    yield from _act(self, state, thread, replace(instruction, ways=every))


def _wakes_one(self: Any, state: Any, thread: int, instruction: Any) -> Iterator[Any]:
    every = tuple(replace(way, everyone=False) for way in instruction.ways)
    yield from _act(self, state, thread, replace(instruction, ways=every))


def _waits_for_a_sleeper(self: Any, state: Any, thread: int, instruction: Any) -> Iterator[Any]:
    """A signal is not lost: it waits for a thread that sleeps."""
    if any(way.wakes is not None and not self._sleepers(state, way.wakes) for way in instruction.ways):
        return
    yield from _act(self, state, thread, instruction)


def _releases_one_level(self: Any, state: Any, thread: int, instruction: Any) -> Iterator[Any]:
    yield from _release(self, state, thread, replace(instruction, whole=False))


def _no_end(self: Any, step: Any, then: Any) -> list[ways.Way]:
    """A receiver does not see the end of a channel."""
    return [way for way in _message(self, step, then) if "end" not in way.says]


def _sends_after_the_end(self: Any, step: Any, then: Any) -> list[ways.Way]:
    return [replace(way, fatal="", then=then) for way in _message(self, step, then)]


def _end_before_the_rest(self: Any, step: Any, then: Any) -> list[ways.Way]:
    """A receiver sees the end although messages are left."""
    each = _message(self, step, then)
    return [replace(way, guards=way.guards[:1]) if "end" in way.says else way for way in each]


def _wakes_too_early(self: Any, step: Any, then: Any) -> list[ways.Way]:
    """Each ``done`` of a group wakes the threads that wait."""
    each = _count(self, step, then)
    wakes = next((way.wakes for way in each if way.wakes is not None), None)
    return [replace(way, wakes=wakes, everyone=True) if wakes is not None and not way.fatal else way for way in each]


def _below_zero(self: Any, step: Any, then: Any) -> list[ways.Way]:
    return [replace(way, fatal="", then=then) for way in _count(self, step, then)]


def _any_kind(self: Any, step: Any, then: Any) -> list[ways.Way]:
    """A branch takes whatever comes."""
    return _message(self, replace(step, kind="") if isinstance(step, Receive) else step, then)


def _other_kind(self: Any, kind: int, then: Any) -> Iterator[ways.Way]:
    return _sends(self, 1 + len(self.kinds) - kind, then)


def _one_place(self: Any, kind: int, then: Any) -> Iterator[ways.Way]:
    """The place of the first message stays where it is."""
    for way in _receives(self, kind, then):
        yield replace(way, changes=way.changes[:2])


def _closes_again(self: Any, step: Any, then: Any) -> Any:
    return _close(self, replace(step, cancels=True), then)


def _once_without_a_lock(self: Any, step: Any, scope: Any, then: Any, deep: int) -> Any:
    """Who comes while the steps run does not wait."""
    return tuple({*then, *self.steps(step.body, scope, then, deep)})


def _never_reacquires(self: Any, held: Any, mode: Any) -> bool:
    return False


def _reacquires_all(self: Any, held: Any, mode: Any) -> bool:
    return self is not LockKind.MUTEX


def _releases_in_any_mode(self: Any, state: Any, thread: int, release: Any) -> bool:
    lock = state.locks[release.target]
    return lock.holder == thread or thread in lock.readers


def _signals_without_a_lock(self: Any, state: Any, thread: int) -> Any:
    instruction = self.instruction(state, thread)
    needed = instruction is not None and instruction.needs_lock >= 0
    return False if needed else _releases(self, state, thread)


def _nothing_is_fatal(self: Any, state: Any, thread: int) -> str:
    return ""


def _gives_nothing(self: Any) -> Iterator[Any]:
    return iter(())


def _no_levels(self: Any, state: Any, thread: int, instruction: Any) -> Iterator[Any]:
    """The first release of several gives the lock away."""
    yield from _release(self, state, thread, replace(instruction, whole=instruction.mode is None))


def _alike_without_ways(self: Any) -> object:
    """Threads with other ways, or that try, count as the same."""
    return (self.kind, self.target, self.mode, self.then)


def _never_barges(self: Any, step: Any, then: Any) -> Any:
    """No thread passes those in line."""
    world, locks = self.world, self.world.locks
    counters = {name: replace(one, barging=False) for name, one in locks.counters.items()}
    self.world = replace(world, locks=replace(locks, counters=counters))
    try:
        return _wait_in_line(self, step, then)
    finally:
        self.world = world


def _any_turn(self: Any, step: Any, then: Any) -> Any:
    """A thread in line need not be the first."""
    first = self.world.layout.counter(layout.line(step.test.on)[0])
    added = len(self.instructions)
    entry = _wait_in_line(self, step, then)
    for number in range(added, len(self.instructions)):
        one = self.instructions[number]
        each = tuple(replace(w, guards=tuple(g for g in w.guards if g.counter != first)) for w in one.ways)
        self.instructions[number] = replace(one, ways=each)
    return entry


def _needs_a_signal(self: Any, step: Any, then: Any) -> Any:
    """Time does not pass."""
    return _wait(self, replace(step, timed=False), then)


def timed_is_compiled() -> None:
    """A gate: both engines agree on threads that wait for a time."""
    for name in ("waits for a time, ends", "waits again and again, ends"):
        same(POSIX[name].locks())


def unlike() -> None:
    """A gate: one thread adds once, so the other one waits for ever, in either order of the two."""
    for one, two in (("add n", "await n = 2"), ("await n = 2", "add n")):
        text = f"counters: {{n: 0}}\nthreads:\n  one: [{one}]\n  two: [{two}]\n"
        assert explore_all(parse(text, "made.yaml"), pays=NEVER).problems, one


def helped() -> None:
    """A gate: a receiver that is stuck waits for no other receiver."""
    for name in (
        "who waits for a message is not helped by one that receives",
        "who waits for a plain message is not helped by one that receives",
    ):
        (problem,) = explore_all(parse(MORE[name][0], "made.yaml"), pays=NEVER).problems
        assert problem.waits[0].whom == (), name


def test_a_stuck_receiver_waits_for_no_receiver() -> None:
    helped()


_wait_in_line = _Unfolding.wait_in_line

FAULTS = {
    "no thread is in line": Fault(layout, "in_line", lambda locks: []),
    "no thread passes those in line": Fault(_Unfolding, "wait_in_line", _never_barges),
    "the line has no order": Fault(_Unfolding, "wait_in_line", _any_turn),
    "no lock is acquired after a wait": Fault(symbolic._Checker, "acquires_after_waiting", lambda *_: None, acquires_after_waiting),
    "time does not pass": Fault(_Unfolding, "wait", _needs_a_signal),
    "compiled time does not pass": Fault(automata, "NAP", automata.PARK, timed_is_compiled),
    "a default is always taken": Fault(semantics, "enabled", _default_always),
    "a signal wakes all": Fault(Machine, "_act", _wakes_all),
    "a broadcast wakes one": Fault(Machine, "_act", _wakes_one),
    "a signal is kept": Fault(Machine, "_act", _waits_for_a_sleeper),
    "wait releases one level": Fault(Machine, "_release", _releases_one_level),
    "the end is not seen": Fault(_Unfolding, "message", _no_end),
    "a closed channel takes messages": Fault(_Unfolding, "message", _sends_after_the_end),
    "the end comes before the rest": Fault(_Unfolding, "message", _end_before_the_rest),
    "a branch takes any kind": Fault(_Unfolding, "message", _any_kind),
    "a message has another kind": Fault(Ring, "sends", _other_kind),
    "the first message stays in its place": Fault(Ring, "receives", _one_place),
    "who receives helps one that receives": Fault(messages, "Guard", lambda *parts, chooses=False: ways.Guard(*parts), helped),
    "who receives plainly helps one that receives": Fault(unfold, "Guard", lambda *parts, chooses=False: ways.Guard(*parts), helped),
    "only one state is looked at": Fault(continuing.Graph, "stuck", lambda self: iter(())),
    "a thread that moves later is stuck": Fault(continuing.Graph, "_gathered", lambda self, first, every: list(first)),
    "threads are not renamed back": Fault(continuing, "_renamed_back", lambda bits, renaming: bits),
    "each done wakes": Fault(_Unfolding, "count", _wakes_too_early),
    "a group falls below zero": Fault(_Unfolding, "count", _below_zero),
    "a channel is closed twice": Fault(_Unfolding, "close", _closes_again),
    "once does not wait": Fault(_Unfolding, "once", _once_without_a_lock),
    "no lock is reentrant": Fault(LockKind, "reacquires", _never_reacquires),
    "every lock is reentrant": Fault(LockKind, "reacquires", _reacquires_all),
    "any mode is released": Fault(Machine, "held", _releases_in_any_mode),
    "a signal needs no lock": Fault(Machine, "releases", _signals_without_a_lock),
    "nothing ends the program": Fault(Machine, "fatal", _nothing_is_fatal),
    "a release has no levels": Fault(Machine, "_release", _no_levels),
    "threads with other ways do the same": Fault(unfold.Instruction, "does", property(_alike_without_ways), unlike),
    "a started thread is in the same thread": Fault(unfold.World, "kind", lambda self, name: LockKind.MUTEX, orders),
}  # fmt: skip


@pytest.mark.parametrize("name", thinned(FAULTS, 10))
def test_a_seeded_fault_is_seen(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fault = FAULTS[name]
    monkeypatch.setattr(fault.of, fault.name, fault.slip)
    with pytest.raises((AssertionError, StopIteration, KeyError, ValueError, Disagreement)):
        fault.gate()


# --- seeded faults of the compiled engine


def compiled_agrees() -> None:
    """A gate: both engines find the same in the files above."""
    with np.errstate(over="ignore"):
        for text, _ in MORE.values():
            same(parse(text, "made.yaml"))
        for name in ("default and full", "sent to a closed one", "one of two, ends", "select under a lock"):
            same(GO[name].locks())
        for name in ("stamped, read again", "upgrade", "reads past a writer, ends", "signal without"):
            if name in JAVA:
                same(JAVA[name].locks())


_acted = kernel.__dict__["_acted"].py_func


def _acts_alone(table: Any, then: Any, fields: Any, nodes: Any, *rest: Any) -> Any:
    """Nobody is woken."""
    asleep = table.copy()
    asleep[:, automata.KIND][asleep[:, automata.KIND] == automata.PARK] = automata.FINISHED
    return _acted(asleep, then, fields, nodes, *rest)


KERNEL: dict[str, Any] = {
    "every guard holds": ("_passes", lambda *arguments: True),
    "a default is always able": ("_able", lambda *arguments: False),
    "no step ends the program": ("_ends", lambda *arguments: False),
    "no counter changes": ("_count", lambda *arguments: None),
    "nobody is woken": ("_acted", _acts_alone),
}


@pytest.mark.usefixtures("as_python")
@pytest.mark.parametrize("name", thinned(KERNEL, 5))
def test_a_seeded_fault_of_the_kernel_is_seen(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    attribute, slip = KERNEL[name]
    monkeypatch.setattr(kernel, attribute, slip)
    with pytest.raises((AssertionError, StopIteration, RuntimeError, IndexError, OverflowError)):
        compiled_agrees()


def test_started_threads_have_names_of_their_own() -> None:
    text = "objects: {a: mutex, b: mutex}\nthreads:\n  one: [go: [lock a: [lock b: []]], lock b: [lock a: []]]\n"
    (problem,) = explore_all(parse(text, "made.yaml")).problems
    assert set(problem.threads) == {"one", "one.1"} and problem.kind is Kind.REVERSED
