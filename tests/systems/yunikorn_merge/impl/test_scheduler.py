"""The merged scheduler: what each operation does, what many threads leave behind, and that bugs are noticed."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from schedproof.impl.errors import Refused
from schedproof.impl.scheduler_interface import (
    ApplicationAccepted,
    ApplicationRejected,
    AskRejected,
    NewAllocation,
    NodeAccepted,
    NodeRejected,
    PartitionSpec,
    QueueSpec,
    ReleasedAllocation,
    TerminationType,
)
from schedproof.impl.systems.yunikorn_merge import ORDER, Allocation, MergedScheduler, health
from schedproof.impl.systems.yunikorn_merge.lifecycle import State
from schedproof.model.locks import read
from schedproof.proofs.locks.rank import check_order
from schedproof.proofs.traces import LogVerdict
from schedproof.proofs.traces.formats.lock_log import check_log
from tests.support.independence import dependencies
from tests.support.places import MODELS
from tests.support.sample import thinned
from tests.systems.yunikorn_merge.impl.bench import BASE, Log, hammer, scheduler, wrong_with
from tests.systems.yunikorn_merge.impl.seeded import BUGS, OF_LOCKS

DESCRIPTION = MODELS / "yunikorn_merge" / "locks" / "repaired.yaml"


@pytest.fixture
def switching() -> Iterator[None]:
    """Threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def responses_of(it: MergedScheduler) -> list[object]:
    responses = []
    while not it.outbox.empty():
        responses.append(it.outbox.get())
    return responses


class TestOneThread:
    """An application asks, gets, and gives back; each count is by hand."""

    def test_a_life(self) -> None:
        it = scheduler()
        it.add_node("p", "n", 4)
        it.add_application("p", "a", "root.a.x")
        it.add_ask("p", "a", "k", 3)
        assert responses_of(it) == [NodeAccepted("n"), ApplicationAccepted("a")]
        assert health(it) == []
        assert it.schedule("p")
        assert responses_of(it) == [NewAllocation("a", "k", "k", "n")]
        with it.cluster.lock.read():
            partition = it.cluster.partitions["p"]
        with partition.lock.read():
            root, leaf = partition.queues["root"], partition.queues["root.a.x"]
            application, node = partition.applications["a"], partition.nodes["n"]
        assert (root.allocated, root.pending, leaf.allocated, node.allocated) == (3, 0, 3, 3)
        assert application.state is State.STARTING  # Accepted when it asked, and one allocation after that
        assert it.release("p", "a", "k")
        assert not it.release("p", "a", "k"), "it is gone"
        assert responses_of(it) == [ReleasedAllocation("a", "k", TerminationType.STOPPED_BY_RM)]
        assert (root.allocated, node.allocated, application.state) == (0, 0, State.COMPLETING)
        assert health(it) == []

    def test_what_cannot_be_is_answered(self) -> None:
        it = scheduler()
        it.add_application("p", "a", "root.a")  # no leaf
        it.add_application("p", "a", "root.c")
        it.add_application("x", "a", "root.b")
        it.add_application("p", "a", "root.b")
        it.add_application("p", "a", "root.b")
        it.add_ask("p", "b", "k", 1)
        it.add_ask("p", "a", "k", 0)
        it.add_node("p", "n", 1)
        it.add_node("p", "n", 1)
        it.add_node("p", "m", 1, [Allocation("k", "a", "m", 2)])
        kinds = [type(each) for each in responses_of(it)]
        rejected = [ApplicationRejected] * 3
        assert kinds == [
            *rejected, ApplicationAccepted, ApplicationRejected, AskRejected, AskRejected, NodeAccepted, NodeRejected, NodeRejected,
            ReleasedAllocation,
        ]  # fmt: skip

    def test_a_proposal_can_be_late(self) -> None:
        """The ask has been withdrawn between the search and the commit: nothing is done, and nothing is sent."""
        it = scheduler()
        it.add_node("p", "n", 4)
        it.add_application("p", "a", "root.b")
        it.add_ask("p", "a", "k", 1)
        proposal = it.find("p")
        assert proposal is not None
        it.remove_ask("p", "a", "k")
        responses_of(it)
        assert not it.commit(proposal)
        assert responses_of(it) == [] and health(it) == []

    def test_two_proposals_for_one_place(self) -> None:
        it = scheduler()
        it.add_node("p", "n", 4)
        it.add_application("p", "a", "root.b")
        it.add_ask("p", "a", "k", 3)
        first = it.find("p")
        second = it.find("p")
        assert first == second and first is not None and second is not None
        assert it.commit(first) and not it.commit(second)
        it.add_ask("p", "a", "k2", 3)
        assert it.find("p") is None, "3 of 4 are taken"

    def test_a_maximum_holds_for_all_below(self) -> None:
        """root.a.y may have 6: two asks of 3 fit, a third of 1 does not."""
        it = scheduler()
        it.add_node("p", "n", 20)
        it.add_application("p", "a", "root.a.y")
        for name, amount in (("k", 3), ("l", 3), ("m", 1)):
            it.add_ask("p", "a", name, amount)
        assert [it.schedule("p") for _ in range(3)] == [True, True, False]

    def test_recovery_is_one_step(self) -> None:
        it = scheduler()
        it.add_application("p", "a", "root.b")
        it.add_node("p", "n", 4, [Allocation("k", "a", "n", 2), Allocation("l", "a", "n", 1)])
        assert health(it) == []
        it.remove_node("p", "n")
        released = [each for each in responses_of(it) if isinstance(each, ReleasedAllocation)]
        assert {each.allocation for each in released} == {"k", "l"} and health(it) == []

    def test_asks_of_two_applications_may_have_one_name(self) -> None:
        it = scheduler()
        it.add_node("p", "n", 4)
        for application in ("a", "b"):
            it.add_application("p", application, "root.b")
            it.add_ask("p", application, "k", 1)
        assert it.schedule("p") and it.schedule("p") and health(it) == []
        assert it.release("p", "a", "k") and health(it) == []
        it.remove_node("p", "n")
        released = [each for each in responses_of(it) if isinstance(each, ReleasedAllocation)]
        assert [each.application for each in released] == ["a", "b"] and health(it) == []

    def test_what_is_known_is_not_ended_by_a_second_report(self) -> None:
        it = scheduler()
        it.add_application("p", "a", "root.b")
        running = [Allocation("k", "a", "n", 2)]
        it.add_node("p", "n", 2, running)
        responses_of(it)
        it.add_node("p", "n", 1, running)
        it.add_node("p", "m", 2, running)
        assert responses_of(it) == [NodeRejected("n", "it is there already"), NodeAccepted("m")] and health(it) == []

    def test_what_runs_for_nobody_has_to_end(self) -> None:
        it = scheduler()
        it.add_node("p", "n", 2, [Allocation("k", "a", "n", 2)])
        why = TerminationType.PREEMPTED_BY_SCHEDULER
        assert responses_of(it) == [NodeAccepted("n"), ReleasedAllocation("a", "k", why)] and health(it) == []

    def test_a_configuration_that_cannot_be_changes_nothing(self) -> None:
        """Also not what it begins with: a partition that is new or left out."""
        it = scheduler()
        it.add_application("p", "a", "root.b")
        below = QueueSpec("root", (QueueSpec("b", (QueueSpec("x"),)),))
        responses_of(it)
        for wrong, why in (
            ([BASE, BASE], "two partitions have one name"),
            ([PartitionSpec("q", QueueSpec("top"))], "its queue is 'top'; call it 'root'"),
            ([PartitionSpec("q", QueueSpec("root", (QueueSpec("x"), QueueSpec("x"))))], "a name of its own"),
            ([PartitionSpec("q", QueueSpec("root", (QueueSpec("x.y"),)))], "without a dot"),
            ([PartitionSpec("q"), PartitionSpec("p", below)], "queue root.b has applications"),
            ([PartitionSpec("p", QueueSpec("root", (QueueSpec("b", parent=True),)))], "queue root.b has applications"),
            ([PartitionSpec("p", QueueSpec("root", (QueueSpec("b", maximum=-3),)))], "make it 0 or more"),
            ([PartitionSpec("")], "has no name"),
        ):
            with pytest.raises(Refused, match=why):
                it.configure(wrong)
            with it.cluster.lock.read():
                assert list(it.cluster.partitions) == ["p"]
        assert responses_of(it) == [] and health(it) == []
        it.remove_application("p", "a")
        it.configure([PartitionSpec("p", below)])
        it.add_application("p", "a", "root.b.x")
        assert responses_of(it) == [ApplicationAccepted("a")] and health(it) == []

    def test_a_queue_for_queues_takes_no_applications(self) -> None:
        """Also while there is no queue below."""
        it = scheduler()
        it.configure([PartitionSpec("p", QueueSpec("root", (QueueSpec("b", parent=True),)))])
        it.add_application("p", "a", "root.b")
        assert responses_of(it) == [ApplicationRejected("a", "root.b is no leaf queue")] and health(it) == []

    def test_a_partition_goes_with_all_that_is_in_it(self) -> None:
        it = scheduler()
        it.add_node("p", "n", 4)
        it.add_application("p", "a", "root.b")
        it.add_ask("p", "a", "k", 1)
        it.schedule("p")
        responses_of(it)
        it.configure([])
        assert responses_of(it) == [ReleasedAllocation("a", "k", TerminationType.PREEMPTED_BY_SCHEDULER)]
        it.add_ask("p", "a", "l", 1)
        assert isinstance(responses_of(it)[0], AskRejected)
        it.configure([BASE])
        assert health(it) == []


def test_the_order_is_the_one_that_is_proved() -> None:
    rank = check_order(read(DESCRIPTION)).rank
    assert rank is not None
    assert tuple(sorted(rank.numbers, key=lambda name: rank.numbers[name])) == ORDER
    assert rank.signs["Queue"] == 1, "the outer before the inner"


def test_it_imports_nothing_of_models_and_proofs() -> None:
    """Nor of another system."""
    used = {name for _, name in dependencies("systems/yunikorn_merge")}
    shared = ("errors:", "locks:", "table_machine:", "scheduler_interface:")
    assert used and all(name.startswith(tuple(f"schedproof.impl.{module}" for module in shared)) for name in used)


@pytest.mark.long
@pytest.mark.parametrize("seed", thinned(range(3), 3))
@pytest.mark.usefixtures("switching")
def test_many_threads_leave_all_in_order(seed: int, tmp_path: Path) -> None:
    log = Log()
    it = scheduler(log)
    hammered = hammer(it, threads=6, turns=150, seed=seed)
    assert wrong_with(it, hammered) == []
    assert len(hammered.responses) > 100, "hardly anything has happened"
    file = tmp_path / "locks.jsonl"
    log.write(file)
    report = check_log(read(DESCRIPTION), file)
    assert report.verdict is LogVerdict.CONFORMS and report.records == len(log.records) > 5000
    assert report.note == "", "nothing is held at the end"


@pytest.mark.long(one_in=32)
@pytest.mark.parametrize("seed", range(100, 105))
@pytest.mark.usefixtures("switching")
def test_many_threads_for_longer(seed: int) -> None:
    it = scheduler()
    assert wrong_with(it, hammer(it, threads=12, turns=600, seed=seed)) == []


@pytest.mark.parametrize("bug", thinned(BUGS, 6), ids=lambda b: b.__name__)
@pytest.mark.usefixtures("switching")
def test_a_seeded_bug_is_caught(bug: type[MergedScheduler]) -> None:
    """Within ten hammerings: what depends on who comes first need not show in each."""
    complaints: list[str] = []
    for seed in range(10):
        try:
            it = scheduler(kind=bug)
        except Exception as problem:
            complaints = [f"{type(problem).__name__}: {problem}"]
        else:
            complaints = wrong_with(it, hammer(it, threads=6, turns=150, seed=seed, longest=5))
        if any(BUGS[bug] in complaint for complaint in complaints):
            return
    pytest.fail(f"not caught by {BUGS[bug]!r}: {complaints[:3]}")


@pytest.mark.usefixtures("switching")
def test_a_lock_that_excludes_nobody_is_seen_in_the_log(tmp_path: Path) -> None:
    for seed in range(10):
        log = Log()
        hammer(scheduler(log, OF_LOCKS), threads=6, turns=150, seed=seed, longest=5)
        file = tmp_path / "locks.jsonl"
        log.write(file)
        report = check_log(read(DESCRIPTION), file)
        if report.verdict is LogVerdict.VIOLATES:
            assert (
                report.first_nonconformance is not None
                and "does not exclude them" in report.first_nonconformance.reason
            )
            return
    pytest.fail("the log shows nothing")
