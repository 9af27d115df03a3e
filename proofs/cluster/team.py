"""Workers of a cluster that do one task each at a time: each task is a function of the names that it is about."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, Protocol

from schedproof.proofs.exploration.limits import LostWorker

from .graph import Ref


class TaskHosts(Protocol):
    """The processes of the workers; each has a :class:`.worker.Host`."""

    def __len__(self) -> int: ...

    def call(self, worker: int, method: str, *arguments: Any, returns: int = 1) -> list[Ref]:
        """Calls a method, and returns at once."""

    def ready(self, refs: Sequence[Ref]) -> list[int]:
        """Waits until there is a result, or a failure; returns the indices of all that are there."""

    def outcome(self, worker: int, ref: Ref) -> Any:
        """A result that is there.

        Raises:
            LostWorker: the worker was lost before.
        """

    def replace(self, worker: int) -> None:
        """Starts a process in place of a worker that was lost.

        Raises:
            ClusterError: it does not start.
        """


class RemoteTeam:
    """A team for :func:`schedproof.proofs.verification.workers.shared_out`.

    Args:
        hosts: the processes.
        function: called with a task in a worker; returns the kind of a message and its content.
        lost: the kind of the message for a task whose worker was lost.
        on_loss: called with one line when a worker was lost and is replaced.
    """

    def __init__(
        self, hosts: TaskHosts, function: Callable[[Any], tuple[str, Any]], lost: str, on_loss: Callable[[str], None]
    ) -> None:
        self._hosts, self._function, self._lost, self._on_loss = hosts, function, lost, on_loss
        self._refs: dict[int, Ref] = {}

    def __len__(self) -> int:
        return len(self._hosts)

    def give(self, worker: int, task: Any) -> None:
        """Gives a task to an idle worker."""
        [self._refs[worker]] = self._hosts.call(worker, "perform", self._function, task)

    def messages(self, busy: Collection[int]) -> Iterator[tuple[int, str, Any]]:
        """Waits for messages of busy workers."""
        workers = list(busy)
        for n in self._hosts.ready([self._refs[worker] for worker in workers]):
            worker = workers[n]
            try:
                kind, content = self._hosts.outcome(worker, self._refs[worker])
            except LostWorker as error:
                self._on_loss(f"{error}: it is replaced, and what it did is tried again")
                self._hosts.replace(worker)
                kind, content = self._lost, str(error)
            yield worker, kind, content
