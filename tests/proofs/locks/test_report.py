"""A counterexample about locks introduces what it is about, and says what is held before its first step."""

from __future__ import annotations

from schedproof.model.lang import Model
from schedproof.model.locks import parse
from schedproof.proofs.exploration.counterexample_text import counterexample_lines
from schedproof.proofs.locks.model_check import model_check

MODEL = Model(
    system="locks",
    variant="plain",
    about="none",
    machines=[],
    rows=[],
    actions=[],
    rules=[],
    properties=[],
    default_scope={},
)

CROSSED = """\
objects: {a: mutex, b: mutex}
channels: {c: 1}
threads:
  one: [send c, lock a: [lock b: []]]
  two: [lock b: [lock a: []]]
"""

UNDER = """\
classes:
  P: {}
  A: {in: P, has: [size]}
  B: {in: P, has: [size]}
rules:
  two: write several of A, B needs wlock P
operations:
  change(A a, B b in a.P):
    under: [wlock a]
    steps:
      - wlock b:
          - write b.size
      - write a.size
objects: {p: P, x: A in p, y: B in p}
"""


def lines(text: str, check: str) -> list[str]:
    """The report on a check that fails."""
    checked = model_check(parse(text, "made.yaml"))
    answer = next(a for a in checked.answers if a.check.name == check)
    example = answer.result(f"locks.{check}").counterexample
    assert example is not None
    return counterexample_lines(MODEL, example)


def test_a_deadlock_begins_with_free_locks_and_empty_channels() -> None:
    report = lines(CROSSED, "no-deadlock")
    assert report[0] == "Objects:"
    assert {"mutex a", "mutex b"} <= set(report[1].strip().split(", "))
    assert "a, b: held by no thread" in report[2] or "b, a: held by no thread" in report[2]
    assert any(line.startswith("Property locks.no-deadlock is violated: AB: ") for line in report)


def test_a_run_of_an_operation_begins_with_what_its_caller_holds() -> None:
    report = lines(UNDER, "two")
    assert report[1:3] == ["    b y, a x", "Initial state: x: held by the caller (wlock)."]
    assert report[-1].startswith("Property locks.two is violated: change")
