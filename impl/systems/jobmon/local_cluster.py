"""A cluster of one machine: a job is a worker in its own session, with all processes that come from it."""

from __future__ import annotations

import os
import subprocess
import sys
import uuid
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from .errors import SubmitFailed
from .jobs import TOKEN, Job, is_left, kill, processes_of
from .places import Place, current_place
from .processes import process
from .records import Resources

EXCEEDED = 90
"""The exit status of a worker whose command exceeded its resources, if the worker could not report that to the server.
"""


class LocalCluster:
    """Starts workers as processes of this machine.

    Any distributor of the same place can end a job by its name. Jobs of another place are out of reach.

    Args:
        command: returns the command line of the worker for an instance.
        log: the file that workers and commands write to; None discards their output.
        place: where the jobs run; this process's place by default.
        report: called once for each job with what the cluster cannot do; prints to standard error by default.
    """

    def __init__(
        self,
        command: Callable[[int], Sequence[str]],
        *,
        log: Path | None = None,
        place: Place | None = None,
        report: Callable[[str], None] | None = None,
    ) -> None:
        self._command = command
        self._log = log
        self._given = place
        self._report = report or partial(print, file=sys.stderr, flush=True)
        self._children: dict[str, subprocess.Popen[bytes]] = {}
        self._terminated: set[str] = set()
        self._reported: set[str] = set()

    def submit(self, instance: int, resources: Resources, queue: str) -> str:
        """Starts a worker as the leader of its own session. The worker learns its resources when it may start."""
        token = str(uuid.uuid4())
        try:
            if self._log is None:
                child = self._start(instance, token, subprocess.DEVNULL)
            else:
                with self._log.open("ab") as log:
                    child = self._start(instance, token, log.fileno())
        except OSError as error:
            problem = f"the worker of task instance {instance} cannot be started: {error}"
            self._report(problem)
            raise SubmitFailed(problem) from error
        leader = process(child.pid)  # until this process asks how it ended, it is certainly there
        assert leader is not None
        job = str(Job(self._place(), token, leader.pid, leader.started))
        self._reap()
        self._children[job] = child
        return job

    def reaches(self, job: str) -> bool:
        """Whether the job is in this place, so that it can be ended and its end is certain."""
        named = Job.named(job)
        if named is not None:
            place = self._place()
            if place.is_also(named.place) or place.has_outlived(named.place):
                return True
        where = "an unknown place" if named is None else f"another place, on {named.place.host}"
        self._once(job, f"job {job} is in {where}: a distributor there has to see to it")
        return False

    def terminate(self, job: str) -> None:
        """Kills all processes of the job; :meth:`is_over` repeats that."""
        named = self._local_job(job)
        if named is not None:
            self._terminated.add(job)
            self._kill(job, named)

    def is_over(self, job: str) -> bool:
        """Whether no process of the job acts."""
        if not self.reaches(job):
            return False
        named = self._local_job(job)
        if named is None:
            return True  # the machine was booted since
        if job in self._terminated and is_left(named):
            self._kill(job, named)
        if is_left(named):
            return False
        self._terminated.discard(job)
        return True

    def exceeded(self, job: str) -> bool:
        """Whether the job exceeded its resources.

        Only the process that submitted the job knows its exit status, and answers yes once: nobody asks again.
        """
        child = self._children.get(job)
        if child is None or child.poll() != EXCEEDED:
            return False
        del self._children[job]
        return True

    def _local_job(self, job: str) -> Job | None:
        named = Job.named(job)
        return named if named is not None and self._place().is_also(named.place) else None

    def _place(self) -> Place:
        """Returns the place as its workers see it: the machine's name may change while this process lives."""
        return self._given or current_place()

    def _kill(self, job: str, named: Job) -> None:
        for each in kill(named):
            self._once(job, f"process {each.pid} seems to be of job {job}, and cannot be killed: it is waited for")

    def _once(self, job: str, line: str) -> None:
        if job not in self._reported:
            self._reported.add(job)
            self._report(line)

    def _start(self, instance: int, token: str, log: int) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            self._command(instance),
            start_new_session=True,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=os.environ | {TOKEN: token},
        )

    def _reap(self) -> None:
        """Drops children whose jobs have no process left, so that their numbers may be used again.

        Children that exceeded their resources are kept until :meth:`exceeded` is called for them.
        """
        self._children = {job: child for job, child in self._children.items() if self._is_kept(job, child)}

    def _is_kept(self, job: str, child: subprocess.Popen[bytes]) -> bool:
        if child.returncode is None:
            leader, named = process(child.pid), self._local_job(job)
            if (leader is not None and leader.acting) or (named is not None and processes_of(named).left):
                return True
        return child.poll() in (None, EXCEEDED)
