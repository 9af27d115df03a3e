"""What Jobmon's reference server does with each request about an instance, in each state that it may be in."""

from __future__ import annotations

from dataclasses import replace

import pytest

from schedproof.impl.systems.jobmon import requests as ask
from schedproof.impl.systems.jobmon.errors import Refused
from schedproof.impl.systems.jobmon.records import InstanceState as S
from schedproof.impl.systems.jobmon.records import RunState
from schedproof.impl.systems.jobmon.requests import Request
from schedproof.impl.systems.jobmon.store import MemoryStore
from tests.support.rows import each_row
from tests.systems.jobmon.server.bench import Bench


def requests(i: int) -> dict[str, Request]:
    return {
        "claim": ask.Claim(i, "d", f"t{i}"),
        "claim of another": ask.Claim(i, "e", "t of another"),
        "launched": ask.Launched(i, f"t{i}", f"j{i}"),
        "launched by another": ask.Launched(i, "t of another", "j2"),
        "submission failed": ask.SubmissionFailed(i, f"t{i}"),
        "submission of another failed": ask.SubmissionFailed(i, "t of another"),
        "give up": ask.GiveUp(i, f"t{i}"),
        "given up by another": ask.GiveUp(i, "t of another"),
        "removed when launched": ask.JobOver(i, S.LAUNCHED),
        "removed when not heard of": ask.JobOver(i, S.NO_HEARTBEAT),
        "triaged": ask.JobOver(i, S.TRIAGING),
        "triaged, resources": ask.JobOver(i, S.TRIAGING, resource_error=True),
        "job over while running": ask.JobOver(i, S.RUNNING),
        "hand back": ask.HandBack(i),
        "fence": ask.Fence(i),
        "start": ask.Start(i, f"j{i}"),
        "start of another": ask.Start(i, "j of another"),
        "renew": ask.RenewInstance(i, f"j{i}"),
        "renew by another": ask.RenewInstance(i, "j of another"),
        "done": ask.End(i, f"j{i}", S.DONE),
        "done, says another": ask.End(i, "j of another", S.DONE),
        "error": ask.End(i, f"j{i}", S.ERROR),
        "resource error": ask.End(i, f"j{i}", S.RESOURCE_ERROR),
        "ends as nothing": ask.End(i, f"j{i}", S.UNKNOWN_ERROR),
        "killed": ask.Killed(i, f"j{i}"),
        "another killed": ask.Killed(i, "j of another"),
        "lapse": ask.Lapse(i),
    }


# From state to state; one that stays where it is was answered as if it had been done. All else is refused.
REPEATED = {
    "claim": "I I",
    "submission failed": "W W",
    "triaged": "U U",
    "triaged, resources": "Z Z",
    "hand back": "R R",
    "launched": "O O  R R  T T  X X  D D  E E  Z Z  U U",
    "start": "R R  T T",
    "done": "D D",
    "error": "E E",
    "resource error": "Z Z",
    "lapse": "W W  X X  T T",
}
FRESH = {
    "claim": "Q I",
    "claim of another": "Q I",
    "launched": "I O",
    "submission failed": "I W",
    "removed when not heard of": "X E  E E",
    "fence": "T T",
    "start": "O R",  # of the job that was launched only
    "renew": "R R  T T",
    "done": "R D",
    "error": "R E",
    "resource error": "R Z",
}
OVERDUE = dict.fromkeys(("launched", "submission failed", "start", "done", "error", "resource error"), "") | {
    "lapse": "I W  O X  R T",
}
DOOMED = {
    "claim": "",
    "claim of another": "",
    "launched": "",
    "start": "",
    "give up": "I F",
    "removed when launched": "O F",
    "killed": "R F",
}
LOST = FRESH | DOOMED | OVERDUE | {"give up": "", "killed": ""}
# What is triaged is always overdue here.
FENCED = FRESH | {"triaged": "T U", "triaged, resources": "T Z", "renew": "R R"}
DOOMED_AND_FENCED = FRESH | DOOMED | {"triaged": "T F", "triaged, resources": "T F", "renew": "R R"}
CONDITIONS = {
    "fresh": FRESH,
    "overdue": FRESH | OVERDUE,
    "fenced": FENCED,
    "doomed": FRESH | DOOMED,
    "doomed, overdue": LOST,
    "doomed, fenced": DOOMED_AND_FENCED,
}
CHANGES_WHAT_STAYS = ("renew", "fence")
"""Requests that change more than the state."""


def moves(condition: str, name: str) -> dict[str, str]:
    repeated = REPEATED.get(name, "").split()
    if condition.startswith("doomed") and name.startswith("triaged"):
        repeated = []  # what it comes to is another state then
    if condition.endswith("fenced") and name == "start":
        repeated = ["R", "R"]
    letters = repeated + CONDITIONS[condition].get(name, "").split()
    return dict(zip(letters[::2], letters[1::2], strict=True))


@each_row("condition", CONDITIONS)
@each_row("state", "QIORTXDEZUW")
@pytest.mark.long
def test_every_request_in_every_state(condition: str, state: str) -> None:
    bench = Bench(MemoryStore())
    for i, name in enumerate(requests(0), start=1):
        request = requests(i)[name]
        bench.register(name=f"w{i}")
        bench.run(i, f"run {i}")
        bench.queue(i, i)
        bench.bring(i, state)
        if condition.startswith("doomed"):
            bench.doom(i)
        if condition.endswith("overdue") and state in "IOR":
            bench.let_lapse(i)
        if condition.endswith("fenced") and state == "T":
            bench.ask(ask.Fence(i))
        before = bench.store.snapshot()
        expected = moves(condition, name).get(state)
        if expected is None:
            with pytest.raises(Refused) as refused:
                bench.ask(request)
            assert refused.value.state == state, name
            assert bench.store.snapshot() == before, name
            continue
        report = bench.ask(request)
        assert report.instances[0].status == expected, (name, expected)
        stays = name not in CHANGES_WHAT_STAYS or (name == "fence" and condition.endswith("fenced"))
        if expected == state and stays:
            assert not report.changed, name
            assert bench.store.snapshot() == before, name
        elif expected != state:
            assert report.changed
            assert bench.store.snapshot().instances[i - 1] == report.instances[0]
            assert bench.outcome(request).endswith("as it was") or name == "renew", f"{name} twice"


@each_row(
    ("way", "attempts_left", "task"),
    [
        ("QIORD", True, "D"),
        ("QIORE", True, "G"), ("QIORE", False, "F"),
        ("QIORZ", True, "A"), ("QIORZ", False, "F"),
        ("QIW", True, "G"), ("QIW", False, "F"),
        ("QIORTU", True, "G"), ("QIORTU", False, "F"),
        ("QIORT", True, "R"), ("QIOX", True, "O"), ("QIO", True, "O"), ("QI", True, "I"), ("Q", True, "Q"),
    ],
)  # fmt: skip
def test_the_task_goes_with_its_instance(way: str, attempts_left: bool, task: str) -> None:
    """And each of its states is noted."""
    bench = Bench(MemoryStore())
    bench.register(ask.TaskSpec("a", "true", max_attempts=2 if attempts_left else 1))
    bench.run()
    bench.queue()
    bench.bring(1, way[-1])
    assert bench.tasks() == task
    good = "".join(state for state in way if state in "QIORD")
    assert bench.audits() == "G" + good + (task if task in "AFG" else "")
    audits = bench.store.snapshot().audits
    assert [a.previous_status for a in audits] == [None, *(a.new_status for a in audits[:-1])]
    assert [a.exited_at is None for a in audits] == [False] * (len(audits) - 1) + [True]


def test_a_distributor_renews_what_is_launched_in_time() -> None:
    bench = Bench(MemoryStore())
    bench.register()
    bench.run()
    bench.queue()
    bench.bring(1, "O")
    bench.time = 5.0
    assert bench.ask(ask.RenewLaunched((1,), "e")).instances == ()
    (renewed,) = bench.ask(ask.RenewLaunched((1,), "d")).instances
    assert renewed.report_by_date == 15.0
    bench.time = 15.0
    assert bench.ask(ask.RenewLaunched((1,), "d")).instances == ()
    assert bench.ask(ask.Lapse(1)).instances[0].status is S.NO_HEARTBEAT


def test_leases_run_out_at_their_deadline() -> None:
    bench = Bench(MemoryStore())
    bench.register()
    bench.run()
    bench.queue()
    bench.bring(1, "R")
    bench.time = 9.9
    with pytest.raises(Refused, match="not overdue") as refused:
        bench.ask(ask.Lapse(1))
    assert not refused.value.for_good
    bench.time = 10.0
    with pytest.raises(Refused, match="overdue"):
        bench.ask(ask.End(1, "j1", S.DONE))
    bench.ask(ask.RenewInstance(1, "j1"))
    bench.ask(ask.End(1, "j1", S.DONE))
    assert bench.instances() == "D"


def test_triaged_work_is_handed_back_when_its_worker_is_heard() -> None:
    """A doomed one as well: the answer to its worker says that it is doomed."""
    bench = Bench(MemoryStore())
    bench.register()
    bench.run()
    bench.queue()
    bench.bring(1, "T")
    bench.doom(1)
    with pytest.raises(Refused, match="overdue") as refused:
        bench.ask(ask.HandBack(1))
    assert not refused.value.for_good
    renewed = bench.ask(ask.RenewInstance(1, "j1")).instances[0]
    assert (renewed.status, renewed.doomed) == (S.TRIAGING, True)
    assert bench.ask(ask.FindWork()).overdue == ()
    assert bench.ask(ask.HandBack(1)).instances == (replace(renewed, status=S.RUNNING),)
    bench.ask(ask.Killed(1, "j1"))
    assert bench.instances() == "F"


def test_what_is_fenced_comes_back_no_more() -> None:
    """A distributor that has the answer may remove the job at any time after it."""
    bench = Bench(MemoryStore())
    bench.register()
    bench.run()
    bench.queue()
    bench.bring(1, "T")
    bench.ask(ask.RenewInstance(1, "j1"))
    with pytest.raises(Refused, match="not overdue") as refused:
        bench.ask(ask.Fence(1))
    assert not refused.value.for_good
    with pytest.raises(Refused, match="not fenced"):
        bench.ask(ask.JobOver(1, S.TRIAGING))
    bench.time += 10.0
    bench.ask(ask.Fence(1))
    for request in (ask.RenewInstance(1, "j1"), ask.HandBack(1), ask.Start(1, "j1")):
        with pytest.raises(Refused, match="is fenced") as refused:
            bench.ask(request)
        assert refused.value.for_good
    bench.ask(ask.JobOver(1, S.TRIAGING))
    assert bench.instances() == "U"


def test_a_distributor_hears_of_work_that_it_is_not_busy_with() -> None:
    bench = Bench(MemoryStore())
    bench.register(*[ask.TaskSpec(name, "true") for name in "abc"])
    bench.run()
    for task in (1, 2, 3):
        bench.queue(task=task)

    def work(*busy: int) -> list[int]:
        return [it.id for it in bench.ask(ask.FindWork(limit=2, busy=busy)).instances]

    assert (work(), work(1), work(1, 2), work(1, 2, 3)) == ([1, 2], [2, 3], [3], [])


def test_a_wrapper_before_its_launch_is_known_may_ask_again() -> None:
    bench = Bench(MemoryStore())
    bench.register()
    bench.run()
    bench.queue()
    bench.bring(1, "I")
    with pytest.raises(Refused) as early:
        bench.ask(ask.Start(1, "j1"))
    assert not early.value.for_good
    bench.let_lapse(1)
    with pytest.raises(Refused) as late:
        bench.ask(ask.Start(1, "j1"))
    assert late.value.for_good


def test_only_the_job_that_was_launched_starts() -> None:
    """It is that which triage removes: another one would act on."""
    bench = Bench(MemoryStore())
    bench.register()
    bench.run()
    bench.queue()
    bench.bring(1, "O")
    with pytest.raises(Refused, match="task instance 1 was not launched as j2") as other:
        bench.ask(ask.Start(1, "j2"))
    assert other.value.for_good
    assert bench.ask(ask.Start(1, "j1")).instances[0].process_group_id == "j1"


def test_work_is_found_for_distributors() -> None:
    """Queued ones, what is to be removed, and what is overdue; nothing else."""
    bench = Bench(MemoryStore())
    names = "QIORTXDoir"  # small letters: launched and doomed; claimed, and running, overdue
    bench.register(*(ask.TaskSpec(f"a{n}", "true") for n in range(len(names))))
    bench.run()
    for number, name in enumerate(names, start=1):
        bench.queue(task=number)
        bench.bring(number, name.upper())
    bench.doom(8)
    for number in (9, 10):
        bench.let_lapse(number)
    work = bench.ask(ask.FindWork())
    assert [i.id for i in work.instances] == [1, 5, 6, 8, 9, 10]
    assert work.overdue == (5, 9, 10)
    assert [i.id for i in bench.ask(ask.FindWork(limit=2)).instances] == [1, 5]
    bench.ask(ask.FinishRun(1, RunState.STOPPED))
    assert 1 not in [i.id for i in bench.ask(ask.FindWork()).instances]
