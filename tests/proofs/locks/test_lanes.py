"""Interleavings as a table with lanes, and as a sequence diagram: each step is in the lane of its thread."""

from __future__ import annotations

import re

from schedproof.model.locks import parse
from schedproof.proofs.locks.derived import acquisitions, find_circles
from schedproof.proofs.locks.explore import explore_all
from schedproof.proofs.locks.lanes import LaneStep, mermaid, of_circle, of_problem, table
from schedproof.proofs.locks.model_check import programs_acquire
from tests.proofs.locks.test_kinds import SCENARIOS
from tests.support.rows import each_row

CROSSED = "objects: {a: mutex, b: mutex}\nthreads:\n  one: [lock a: [lock b: []]]\n  two: [lock b: [lock a: []]]\n"


def test_a_deadlock_as_a_table() -> None:
    (problem,) = explore_all(parse(CROSSED, "made.yaml")).problems
    assert table(of_problem(problem)) == [
        "   one         two",
        "-  ----------  ----------",
        "1  lock a",
        "2              lock b",
        "   lock b ...  lock a ...",
    ]


def test_a_circle_as_a_table() -> None:
    (instance,) = programs_acquire(parse(CROSSED, "made.yaml"))
    (circle,) = find_circles(instance.acquisitions).circles
    assert table(of_circle(circle))[2:] == ["1  lock a", "2              lock b", "   lock b ...  lock a ..."]


def test_a_program_of_a_circle_that_occurs_twice_has_two_lanes() -> None:
    text = "classes: {N: {}}\nobjects: {x: N, y: N}\noperations:\n  move(N n, N m): [wlock n: [wlock m: []]]\n"
    every = [one for each in programs_acquire(parse(text, "made.yaml"))[:1] for one in each.acquisitions]
    lanes = {step.thread for step in of_circle(find_circles(every).circles[0])}
    assert lanes == {"move with n = x, m = y", "move with n = y, m = x"}


def test_a_thread_that_would_run_twice_has_two_lanes() -> None:
    text = "objects: {a: mutex, b: mutex}\nthreads: {t: [lock a: [lock b: []], lock b: [lock a: []]]}\n"
    (instance,) = programs_acquire(parse(text, "made.yaml"))
    assert {step.thread for step in of_circle(find_circles(instance.acquisitions).circles[0])} == {"t, 1", "t, 2"}


def test_the_writers_between_readers_have_lanes() -> None:
    """Readers do not wait for readers: without the writers the table would show no deadlock."""
    text = (
        "objects: {r: rw, s: rw}\nthreads:\n  one: [rlock r: [rlock s: []]]\n  two: [rlock s: [rlock r: []]]\n"
        "  three: [wlock s: []]\n"
    )
    (instance,) = programs_acquire(parse(text, "made.yaml"))
    (circle,) = find_circles(instance.acquisitions).circles
    assert table(of_circle(circle)) == [
        "   one          two          three        a writer of r",
        "-  -----------  -----------  -----------  -------------",
        "1  rlock r",
        "2               rlock s",
        "3                            wlock s ...",
        "4                                         wlock r ...",
        "   rlock s ...  rlock r ...  wlock s ...  wlock r ...",
    ]


def test_a_message_that_is_handed_over_is_in_both_lanes() -> None:
    rows = table([LaneStep("one", "send", "c", other="two"), LaneStep("two", "lock", "a", waits=True)])
    assert rows[2:] == ["1  send c  receive c", "2          lock a ..."]


@each_row("name", SCENARIOS)
def test_each_step_is_in_the_lane_of_its_thread(name: str) -> None:
    for problem in explore_all(parse(SCENARIOS[name].text, "made.yaml")).problems:
        lines = table(of_problem(problem))
        starts = [match.start() for match in re.finditer(r"-+", lines[1])][1:]
        lanes = [lines[0][a:b].strip() for a, b in zip(starts, [*starts[1:], None], strict=True)]
        assert len(lines) == 2 + len(problem.steps) + bool(problem.waits)
        for row, step in zip(lines[2:], problem.steps, strict=False):
            cells = [row[a:b].strip() for a, b in zip(starts, [*starts[1:], None], strict=True)]
            expected = f"{step.how} {step.on}{'' if step.granted else ' ...'}"
            assert cells[lanes.index(step.thread)] == expected
            assert sum(map(bool, cells)) == 1 + bool(step.other)


@each_row("name", SCENARIOS)
def test_a_diagram_has_an_arrow_for_each_step(name: str) -> None:
    for problem in explore_all(parse(SCENARIOS[name].text, "made.yaml")).problems:
        steps = of_problem(problem)
        lines = mermaid(steps, problem.headline, problem.stuck)
        names = dict(re.findall(r"participant (\w+) as (.*)", "\n".join(lines)))
        arrows = [m.groups() for line in lines if (m := re.fullmatch(r" +(t\d+)(->>|-x|--x)(l\d+): (.*)", line))]
        assert [(names[a], names[b], arrow) for a, arrow, b, _ in arrows] == [
            (step.thread, step.on, "--x" if step.final else "-x" if step.waits else "->>") for step in steps
        ]
        assert lines[3] == "sequenceDiagram"


def test_a_name_cannot_break_a_diagram() -> None:
    lines = mermaid([LaneStep('a";#\nb', "lock", "x")], 'title "t";', "it ends; so")
    assert not any(character in line for line in lines[4:] for character in '";#\n')
    assert lines[1] == "title: \"title 't' \""


def test_nothing_acquired_has_no_circle() -> None:
    assert find_circles(acquisitions([])).circles == ()


def test_lanes_show_conditions_selects_and_started_threads() -> None:
    text = (
        "objects: {m: mutex}\nchannels: {c: 0}\ncounters: {n: 0}\nconditions: {v: m}\nthreads:\n"
        "  one: [go: [select: [receive c]], send c, lock m: [while n = 0: [wait v]]]\n"
    )
    (problem,) = explore_all(parse(text, "made.yaml")).problems
    steps = of_problem(problem)
    assert [(s.thread, s.text, s.other, s.takes) for s in steps if not s.final] == [
        ("one", "go a thread", "", "receive"),
        ("one", "send c", "one.1", "select"),
        ("one", "lock m", "", "receive"),
        ("one", "while n = 0", "", "receive"),
        ("one", "wait v", "", "receive"),
    ]
    assert [s.text for s in steps if s.final] == ["wait v ..."]
    assert table(steps)[3].split() == ["2", "send", "c", "select", "c"]
    assert "    l1->>t1: select" in mermaid(steps, "a", "b")
