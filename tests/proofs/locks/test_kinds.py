"""One scenario for each kind of problem: who takes part, on what, and a shortest interleaving, all derived by hand.

A step of an interleaving is (thread, what it does, on what, whether it goes on). A lock that is got is one step. A
reader that is kept out, and a writer that announces itself to readers, take a step and do not go on; who wants a mutex
that is taken, or to write behind a writer, takes none.
"""

from __future__ import annotations

from itertools import permutations
from typing import NamedTuple

import pytest

from schedproof.model.locks import parse
from schedproof.proofs.locks.explore import Problem, explore_all
from schedproof.proofs.locks.kinds import Kind
from schedproof.proofs.locks.model_check import interleaving, standstill
from tests.support.rows import each_row


class Scenario(NamedTuple):
    """A description, and its one problem of which the threads, the things and the way there are as said.

    ``ways``: every shortest interleaving, if there are several.
    """

    text: str
    kind: Kind
    threads: set[str]
    on: set[str]
    ways: list[str]
    others: set[Kind] = set()  # noqa: RUF012 - never written
    writer: bool = False


SCENARIOS = {
    "AB": Scenario(
        """
        objects: {a: mutex, b: mutex}
        threads:
          one: [lock a: [lock b: []]]
          two: [lock b: [lock a: []]]
        """,
        Kind.REVERSED,
        {"one", "two"},
        {"a", "b"},
        ["one lock a; two lock b", "two lock b; one lock a"],
    ),
    "AB of a reader and a writer": Scenario(
        # The reader of b has to wait, which is a step; the writer of a finds a reader, and announces itself.
        """
        objects: {a: rw, b: rw}
        threads:
          one: [rlock a: [rlock b: []]]
          two: [wlock b: [wlock a: []]]
        """,
        Kind.REVERSED,
        {"one", "two"},
        {"a", "b"},
        [
            f"{first}; {second}"
            for first in ("one rlock a; two wlock b", "two wlock b; one rlock a")
            for second in ("one rlock b waits; two wlock a waits", "two wlock a waits; one rlock b waits")
        ]
        + ["one rlock a; two wlock b; two wlock a waits; one rlock b waits"],
    ),
    "AB through a writer that waits": Scenario(
        # Read and read would go together; the announcement of the third is what stops the second.
        """
        objects: {a: rw, b: mutex}
        threads:
          one: [rlock a: [lock b: []]]
          two: [lock b: [rlock a: []]]
          three: [wlock a: []]
        """,
        Kind.REVERSED,
        {"one", "two", "three"},
        {"a", "b"},
        [
            "one rlock a; two lock b; three wlock a waits; two rlock a waits",
            "two lock b; one rlock a; three wlock a waits; two rlock a waits",
            "one rlock a; three wlock a waits; two lock b; two rlock a waits",
        ],
        writer=True,
    ),
    "three locks in a ring": Scenario(
        """
        objects: {a: mutex, b: mutex, c: mutex}
        threads:
          one: [lock a: [lock b: []]]
          two: [lock b: [lock c: []]]
          three: [lock c: [lock a: []]]
        """,
        Kind.REVERSED,
        {"one", "two", "three"},
        {"a", "b", "c"},
        ["; ".join(order) for order in permutations(["one lock a", "two lock b", "three lock c"])],
    ),
    "RR": Scenario(
        """
        objects: {a: rw}
        threads:
          reader: [rlock a: [rlock a: []]]
          writer: [wlock a: []]
        """,
        Kind.READ_AGAIN,
        {"reader", "writer"},
        {"a"},
        ["reader rlock a; writer wlock a waits; reader rlock a waits"],
    ),
    "SELF, write and read": Scenario(
        """
        objects: {a: rw}
        threads: {one: [wlock a: [rlock a: []]]}
        """,
        Kind.SELF,
        {"one"},
        {"a"},
        ["one wlock a; one rlock a waits"],
    ),
    "SELF, read and write": Scenario(
        # The announcement waits for the reader that is itself.
        """
        objects: {a: rw}
        threads: {one: [rlock a: [wlock a: []]]}
        """,
        Kind.SELF,
        {"one"},
        {"a"},
        ["one rlock a; one wlock a waits"],
    ),
    "SELF, write and write": Scenario(
        """
        objects: {a: rw}
        threads: {one: [wlock a: [wlock a: []]]}
        """,
        Kind.SELF,
        {"one"},
        {"a"},
        ["one wlock a"],
    ),
    "SELF, a mutex": Scenario(
        """
        objects: {a: mutex}
        threads: {one: [lock a: [lock a: []]]}
        """,
        Kind.SELF,
        {"one"},
        {"a"},
        ["one lock a"],
    ),
    "CH, a full channel": Scenario(
        # The first message fits, the second does not, and who would take it wants the lock first.
        """
        objects: {a: mutex}
        channels: {c: 1}
        threads:
          sender: [lock a: [send c, send c]]
          taker: [lock a: [], receive c, receive c]
        """,
        Kind.MESSAGE,
        {"sender", "taker"},
        {"a", "c"},
        ["sender lock a; sender send c"],
    ),
    "CH, a message that is never sent": Scenario(
        """
        objects: {a: mutex}
        channels: {c: 1}
        threads: {one: [lock a: [receive c]]}
        """,
        Kind.MESSAGE,
        {"one"},
        {"a", "c"},
        ["one lock a"],
    ),
    "CH, a rendezvous": Scenario(
        """
        objects: {a: mutex}
        channels: {c: 0}
        threads:
          one: [lock a: [send c]]
          two: [lock a: [receive c]]
        """,
        Kind.MESSAGE,
        {"one", "two"},
        {"a", "c"},
        ["one lock a", "two lock a"],
    ),
    "MSG": Scenario(
        """
        objects: {a: mutex}
        channels: {c: 1}
        threads: {one: [lock a: [], receive c]}
        """,
        Kind.NO_MESSAGE,
        {"one"},
        {"c"},
        ["one lock a; one unlock a"],
    ),
    "LK": Scenario(
        # The next to read it gets in; the next to write it never does.
        """
        objects: {a: rw}
        threads:
          one: [rlock a]
          two: [wlock a: []]
        """,
        Kind.LEAKED,
        {"one"},
        {"a"},
        ["one rlock a; two wlock a waits"],
    ),
    "LK, nobody waits": Scenario(
        """
        objects: {a: mutex}
        threads: {one: [lock a]}
        """,
        Kind.LEAKED,
        {"one"},
        {"a"},
        ["one lock a"],
    ),
    "UNLOCK": Scenario(
        """
        objects: {a: mutex}
        threads: {one: [lock a: [], unlock a]}
        """,
        Kind.NOT_HELD,
        {"one"},
        {"a"},
        ["one lock a; one unlock a; one unlock a"],
    ),
    "UNLOCK of what another holds": Scenario(
        # Go lets anybody unlock a mutex; a description says that a thread releases what it has acquired itself.
        """
        objects: {a: mutex}
        threads:
          one: [lock a: []]
          two: [unlock a]
        """,
        Kind.NOT_HELD,
        {"two"},
        {"a"},
        ["two unlock a"],
    ),
}


def way(problem: Problem) -> str:
    return "; ".join(f"{s.thread} {s.how} {s.on}{'' if s.granted else ' waits'}" for s in problem.steps)


def check_kind(name: str) -> None:
    """A gate: the scenario has its problem and no other."""
    scenario = SCENARIOS[name]
    for reduced in (True, False):
        explored = explore_all(parse(scenario.text, "made.yaml"), reduced=reduced)
        assert {p.kind for p in explored.problems} == {scenario.kind, *scenario.others}
        first = next(p for p in explored.problems if p.kind is scenario.kind)
        assert (set(first.threads), set(first.on)) == (scenario.threads, scenario.on)
        assert way(first) in scenario.ways
        assert first.writer == scenario.writer


@each_row("name", SCENARIOS)
def test_a_scenario_of_each_kind_has_its_problem_and_no_other(name: str) -> None:
    check_kind(name)


HARMLESS = {
    "readers together": "objects: {a: rw}\nthreads:\n  one: [rlock a: [rlock a: []]]\n  two: [rlock a: []]\n",
    "one order": "objects: {a: mutex, b: mutex}\n"
    "threads:\n  one: [lock a: [lock b: []]]\n  two: [lock a: [lock b: []]]\n",
    "reversed, but only to read": "objects: {a: rw, b: rw}\n"
    "threads:\n  one: [rlock a: [rlock b: []]]\n  two: [rlock b: [rlock a: []]]\n",
    "reversed, but under a gate": "objects: {a: mutex, b: mutex, gate: mutex}\n"
    "threads:\n  one: [lock gate: [lock a: [lock b: []]]]\n  two: [lock gate: [lock b: [lock a: []]]]\n",
    "a message for each": "objects: {a: mutex}\nchannels: {c: 0}\nthreads:\n  one: [lock a: [send c]]\n  two: [receive c]\n",
    "an endless channel": "objects: {a: mutex}\nchannels: {c: unbounded}\n"
    "threads:\n  one: [lock a: [send c, send c]]\n  two: [lock a: [], receive c, receive c]\n",
    "a server at rest": "objects: {a: mutex}\nchannels: {c: 1}\n"
    "threads:\n  one: [send c]\n  two: [serve: [receive c, lock a: []]]\n",
    "not nested": "objects: {a: mutex, b: mutex}\n"
    "threads:\n  one: [lock a, lock b, unlock a, unlock b]\n  two: [lock a: [], lock b: []]\n",
}


@each_row("name", HARMLESS)
def test_what_is_harmless_has_no_problem(name: str) -> None:
    for reduced in (True, False):
        explored = explore_all(parse(HARMLESS[name], "made.yaml"), reduced=reduced)
        assert explored.problems == () and explored.complete and explored.states > 1


def test_who_serves_and_holds_something_does_not_rest() -> None:
    # It has taken a, and waits for a message that nobody sends.
    text = "objects: {a: mutex}\nchannels: {c: 1}\nthreads:\n  one: [lock a, serve: [receive c]]\n  two: [lock a: []]\n"
    (problem,) = explore_all(parse(text, "made.yaml")).problems
    assert problem.kind is Kind.MESSAGE


def test_a_problem_is_reported_in_sentences() -> None:
    (problem,) = explore_all(parse(SCENARIOS["RR"].text, "made.yaml")).problems
    assert problem.headline == "RR: a read lock taken again under a waiting writer: reader and writer on a"
    assert interleaving(problem) == (
        "reader: rlock a (made.yaml:4)",
        "writer: wlock a, and has to wait (made.yaml:5)",
        "reader: rlock a, and has to wait (made.yaml:4)",
    )
    assert standstill(problem) == (
        "reader waits: rlock a; writer is about to write it",
        "writer waits: wlock a; reader holds it by rlock",
    )


def test_a_message_that_is_handed_over_names_its_receiver() -> None:
    text = "objects: {a: mutex}\nchannels: {c: 0}\nthreads:\n  one: [send c, lock a]\n  two: [receive c]\n"
    (problem,) = explore_all(parse(text, "made.yaml")).problems
    assert problem.kind is Kind.LEAKED
    assert interleaving(problem) == (
        "one: send c, which two takes (made.yaml:4)",
        "one: lock a (made.yaml:4)",
    )


def test_threads_of_a_choice_run_twice_and_are_numbered() -> None:
    # With two of each kind of thread at once, two that each go from a to b are harmless, and two upgrades are not.
    text = "objects: {a: rw}\nthreads:\n  one: [rlock a: [], wlock a: []]\ntogether: 2\n"
    assert explore_all(parse(text, "made.yaml")).problems == ()
    text = "objects: {a: mutex, b: mutex}\nchannels: {c: 0}\nthreads:\n  one: [either: [[lock a: [lock b: []]], [lock b: [lock a: []]]]]\ntogether: 2\n"
    (problem,) = explore_all(parse(text, "made.yaml")).problems
    assert (problem.kind, set(problem.threads)) == (Kind.REVERSED, {"one 1", "one 2"})


@pytest.mark.parametrize("limit", [1, 5])
def test_an_exploration_that_is_cut_short_says_so(limit: int) -> None:
    explored = explore_all(parse(HARMLESS["one order"], "made.yaml"), limit=limit)
    assert not explored.complete and explored.states <= limit
