"""What a lock file leaves unchecked is listed, and only that."""

from __future__ import annotations

from schedproof.model.locks import parse
from schedproof.proofs.locks.model_check import model_check
from schedproof.proofs.locks.unchecked import unchecked
from schedproof.proofs.verdict import Verdict
from tests.support.rows import each_row

FULL = """\
classes:
  P: {}
  Q: {in: P, has: [f]}
rules: {guarded: write Q.f needs wlock}
operations:
  op(Q q):
    under: [wlock q.P]
    steps:
      - wlock q:
          - write q.f
          - send c
objects: {p: P, q: Q in p, m: mutex}
channels: {c: 1}
threads:
  t:
    - wlock p: [op(q)]
    - lock m: [receive c]
"""

LEFT = {
    "": (),
    "threads:\n  t:\n    - wlock p: [op(q)]\n    - lock m: [receive c]\n|": (
        "the interleavings of threads: the file has no threads",
        "locks that no program acquires: m",
        "callers of operations that demand locks or positions, since the file has none: op",
    ),
    "[op(q)]|[]": (
        "callers of operations that demand locks or positions, since the file has none: op",
        "operations that no thread runs, so only each by itself: op",
    ),
    "    - lock m: [receive c]\n|": ("locks that no program acquires: m",),
    "          - send c\n|    # \n": (),
    "channels: {c: 1}|channels: {c: 1, d: 0}": ("channels that no program uses: d",),
    "has: [f]|has: [f, g]": ("fields that no rule guards: Q.g", "fields that no program accesses: Q.g"),
    "  P: {}|  P: {}\n  R: {}": ("locks that no program acquires: R",),
}


KINDS = """\
channels: {c: {capacity: 1, kinds: [x, y, z]}, unused: {capacity: 1, kinds: [x]}}
threads:
  one: [send c x, select: [send c y, default]]
  two: [receive c: {x: [], y: [], z: []}]
"""


def test_a_kind_of_message_that_is_never_sent_is_listed() -> None:
    """Its branch never runs, so nothing in it is checked; a kind that only a select sends is sent."""
    assert unchecked(parse(KINDS, "made.yaml")) == (
        "kinds of messages that no program sends, so their branches never run: z of c",
        "channels that no program uses: unused",
    )


@each_row("change", LEFT, ids=lambda change: change.replace("\n", " ")[:30].strip())
def test_what_is_left_is_listed(change: str) -> None:
    old, _, new = change.partition("|")
    assert old in FULL
    assert unchecked(parse(FULL.replace(old, new) if old else FULL, "made.yaml")) == LEFT[change]


def test_without_locks_only_threads_are_checked() -> None:
    """No check of locks is undetermined for ever in a file that declares none."""
    threads = "channels: {c: 0}\nthreads:\n  sender: [send c]\n  receiver: [receive c]\n"
    checked = model_check(parse(threads, "made.yaml"))
    assert [a.check.name for a in checked.answers] == ["no-deadlock"] and checked.ok
    # Once it declares a lock that no thread takes, what is about locks is undetermined.
    names = {a.check.name: a.verdict for a in model_check(parse(f"objects: {{a: rw}}\n{threads}", "made.yaml")).answers}
    assert names["derived-order-is-acyclic"] is names["no-lock-is-acquired-again"] is Verdict.UNDETERMINED


ROUNDS = """\
classes: {M: {lock: mutex}}
objects: {m: M}
channels: {c: 1, all: unbounded}
counters: {n: 0}
conditions: {v: m}
operations:
  poll(M m): [STEP]
threads:
  t: [while n = 0: [poll(m)], receive c, send all, lock m: [wait v]]
"""
SPINS = (
    "try lock m: [set n 1]",
    "select: [receive c, default]",
    "send all",
    "maybe: [receive c]",
    "lock m: []",
    "poll(m)",
)
ENDS = ("receive c", "select: [receive c]", "set n 1", "select: [{default: [receive c]}]", "lock m: [wait v]")


def test_loops_that_can_go_round_are_listed() -> None:
    """Loops of which a round can pass without a wait and without a change of their counter."""
    for step in (*SPINS, *ENDS):
        left = unchecked(parse(ROUNDS.replace("STEP", step), "made.yaml"))
        listed = any(line.startswith("whether loops end that can go round without waiting") for line in left)
        assert listed is (step in SPINS), step


def test_unowned_locks_of_a_class_are_listed() -> None:
    text = "classes: {A: {lock: unowned}}\nobjects: {a: A}\nthreads: {t: [lock a: []]}\n"
    checked = model_check(parse(text, "made.yaml"))
    assert [a.check.name for a in checked.answers] == ["no-deadlock"] and checked.ok
    (left,) = unchecked(checked.locks)
    assert left == "locks without an owner, of which only the interleavings of threads are checked: A"


def test_threads_without_locks_may_call() -> None:
    """Operations and callbacks of threads that can hold nothing; operations alone leave a check that is undetermined."""
    text = "channels: {c: 1}\noperations: {put: [send c, callback f]}\n"
    checked = model_check(parse(text + "threads: {a: [put()], b: [receive c]}\n", "made.yaml"))
    assert [a.check.name for a in checked.answers] == ["no-deadlock"] and checked.ok
    alone = model_check(parse(text, "made.yaml"))
    assert alone.answers and not alone.ok


def test_an_order_alone_leaves_all_programs() -> None:
    left = unchecked(parse("classes: {A: {}, B: {in: A}}\norder: [A > B in it]\n", "made.yaml"))
    assert "what programs acquire: the file has no operations or threads" in left


def test_what_is_called_by_what_a_thread_calls_is_run() -> None:
    text = "objects: {a: mutex}\noperations: {x: [y()], y: []}\nthreads: {t: [x(), lock a: []]}\n"
    assert unchecked(parse(text, "made.yaml")) == ()
