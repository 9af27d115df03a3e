"""A cluster of one machine: a job is a process group."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from .errors import SubmitFailed
from .processes import group_is_left, kill_group, process
from .records import Resources

EXCEEDED = 90
"""The exit status of a worker whose command exceeded its resources, and that could not say so to the server."""


class LocalCluster:
    """Starts workers by ``command``, which is asked for the words of the worker of an instance.

    A job's name is the identity of its process group, so that any distributor on this machine can end it. What a
    command puts into a session of its own is out of the group's reach once its worker is killed.
    """

    def __init__(self, command: Callable[[int], Sequence[str]], *, log: Path | None = None) -> None:
        self._command = command
        self._log = log
        self._children: dict[str, subprocess.Popen[bytes]] = {}

    def submit(self, instance: int, resources: Resources, queue: str) -> str:
        """Starts a worker as the leader of its own session; it learns of its resources when it may start."""
        try:
            if self._log is None:
                child = self._start(instance, subprocess.DEVNULL)
            else:
                with self._log.open("ab") as log:
                    child = self._start(instance, log.fileno())
        except OSError as error:
            raise SubmitFailed(f"the worker of task instance {instance} cannot be started: {error}") from error
        there = process(child.pid)  # until we ask how it ended it is there in any case
        assert there is not None
        self._reap()
        self._children[there.identity] = child
        return there.identity

    def terminate(self, job: str) -> None:
        """Kills all that is left of the group."""
        kill_group(job, signal.SIGKILL)

    def is_over(self, job: str) -> bool:
        """Whether nothing of the group acts."""
        return not group_is_left(job)

    def exceeded(self, job: str) -> bool:
        """Only who submitted the job knows how it ended."""
        child = self._children.get(job)
        return child is not None and child.poll() == EXCEEDED

    def _start(self, instance: int, log: int) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            self._command(instance), start_new_session=True, stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )

    def _reap(self) -> None:
        """Forgets children that ended well: nobody will ask."""
        self._children = {job: child for job, child in self._children.items() if child.poll() in (None, EXCEEDED)}
