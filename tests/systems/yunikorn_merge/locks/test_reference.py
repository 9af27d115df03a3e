"""The description of the reference scheduler's locks beside the scheduler: what is really acquired, and under what.

An acquisition has the classes and modes of what the thread holds and acquires, from the outside in. Those that the scheduler
makes in a run that does everything, on one path of three queues, are those that the description has on its objects, no more
and no less.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from schedproof.impl.locks import LockOrder, Mode
from schedproof.impl.scheduler_interface import PartitionSpec, QueueSpec
from schedproof.impl.systems.yunikorn_merge import ORDER, Allocation, MergedScheduler, Partition
from schedproof.model.locks import Locks, read
from schedproof.model.locks.language import Acquire, Loop
from schedproof.proofs.locks.model_check import model_check
from schedproof.proofs.locks.runs import runs
from schedproof.proofs.locks.unfold import World
from schedproof.proofs.verdict import Verdict
from tests.support.places import MODELS
from tests.systems.yunikorn_merge.impl.bench import Log

FOLDER = MODELS / "yunikorn_merge" / "locks"
DESCRIPTION = read(FOLDER / "reference.yaml")
LEAF = "root.parent.leaf"

Stack = tuple[tuple[str, str], ...]
"""Class and mode of each lock that is held, and last of the one that is acquired."""


def whole() -> PartitionSpec:
    return PartitionSpec("p", QueueSpec("root", (QueueSpec("parent", (QueueSpec("leaf"),)),)))


def everything(it: MergedScheduler) -> None:
    """Each operation, in each way that it locks."""
    it.configure([whole()])
    it.add_application("p", "a", LEAF)
    it.configure([whole()])  # looks whether the queue has applications
    it.add_node("p", "n", 4, [Allocation("old", "a", "n", 1)])
    it.add_ask("p", "a", "k", 1)
    it.add_ask("p", "a", "l", 1)
    it.schedule("p")
    it.remove_ask("p", "a", "l")
    it.release("p", "a", "k")
    it.update_node("p", "n", 5)
    it.remove_node("p", "n")
    it.add_node("p", "n", 4, [Allocation("new", "a", "n", 1)])
    it.remove_application("p", "a")
    it.configure([PartitionSpec("p", QueueSpec("root", (QueueSpec("parent", parent=True),)))])
    it.configure([whole()])
    it.configure([PartitionSpec("p", QueueSpec("root"))])  # looks whether the queues below are empty
    it.configure([whole()])
    it.add_application("p", "a", LEAF)
    it.add_node("p", "m", 4, [Allocation("newer", "a", "m", 1)])
    it.configure([])


def real(kind: type[MergedScheduler]) -> set[Stack]:
    """What a scheduler acquires."""
    log = Log()
    everything(kind(LockOrder(ORDER, observer=log)))
    stacks: set[Stack] = set()
    held: list[tuple[str, str, str]] = []
    for record in log.records:
        if record.mode is None:
            index = max(n for n, (name, _, _) in enumerate(held) if name == record.lock.name)
            del held[index]
        else:
            held.append((record.lock.name, record.lock.of, "write" if record.mode is Mode.WRITE else "read"))
            stacks.add(tuple((of, mode) for _, of, mode in held))
    assert held == []
    return stacks


def described(locks: Locks) -> set[Stack]:
    """What the threads of a description acquire."""
    world = World(locks)
    stacks: set[Stack] = set()
    for thread in locks.threads.values():
        for tried in runs(world, thread.name, thread.steps, {name: name for name in locks.objects}, ()):
            for event in tried.run:
                if isinstance(event.step, Acquire):
                    stack = [*event.held, (event.object, event.step.mode)]
                    stacks.add(tuple((locks.objects[name].of, MODES[str(mode)]) for name, mode in stack))
    return stacks


MODES = {"wlock": "write", "rlock": "read"}


def test_the_scheduler_acquires_just_what_is_described() -> None:
    assert real(MergedScheduler) == described(DESCRIPTION)


class FindsForWriting(MergedScheduler):
    """It looks for a node with the partition locked for writing: more than it needs."""

    _reading = MergedScheduler._changing


class LetsGoOfTheCluster(MergedScheduler):
    """It finds the partition and lets go of the cluster before it locks it: the partition may be gone by then."""

    @contextmanager
    def _changing(self, name: str) -> Iterator[Partition | None]:
        with self.cluster.lock.read():
            partition = self.cluster.partitions.get(name)
        if partition is None:
            yield None
            return
        with partition.lock.write():
            yield partition


@pytest.mark.parametrize("kind", [FindsForWriting, LetsGoOfTheCluster])
def test_a_scheduler_that_locks_otherwise_is_not_as_described(kind: type[MergedScheduler]) -> None:
    """Though it keeps to the order."""
    assert real(kind) != described(DESCRIPTION)


def test_a_description_that_locks_less_is_not_the_schedulers() -> None:
    """One that does not look into queues that may be empty."""
    operation = DESCRIPTION.operations["look_into"]
    (lock,) = operation.steps
    assert isinstance(lock, Acquire) and lock.body is not None
    shallow = replace(lock, body=tuple(step for step in lock.body if not isinstance(step, Loop)))
    less = replace(
        DESCRIPTION, operations={**DESCRIPTION.operations, "look_into": replace(operation, steps=(shallow,))}
    )
    missing = real(MergedScheduler) - described(less)
    assert missing == {
        (("Cluster", "write"), ("Partition", "write"), ("Queue", "write"), ("Queue", "read"), ("Queue", "read"))
    }


@pytest.mark.long
def test_everything_is_proved_of_it() -> None:
    """``verify`` explores choices of three threads as well."""
    answers = model_check(replace(DESCRIPTION, together=(2,))).answers
    assert {answer.verdict for answer in answers} == {Verdict.PROVED} and not DESCRIPTION.refuted
