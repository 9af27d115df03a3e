"""Jobs as processes: a worker that leads its own session, and all processes that come from it.

A process belongs to the job if it is in that session, or if it carries the job's token in its environment. It may have
moved anywhere.
"""

from __future__ import annotations

import os
import signal
import time
from dataclasses import astuple, dataclass, fields

from .places import Place, current_place
from .processes import Process, carries, descendants, own_process, process, processes, send

TOKEN = "JOBMON_JOB"
"""The environment variable that all processes of a job have."""

ROUNDS, MOMENT = 100, 0.002


@dataclass(frozen=True)
class Job:
    """The identity of a job.

    Attributes:
        place: where its processes run.
        token: the value of ``JOBMON_JOB`` in their environment.
        pid: the number of its first process, which leads its session.
        started: when that process started, in clock ticks since the machine was booted.
    """

    place: Place
    token: str
    pid: int
    started: int

    def __str__(self) -> str:
        return ":".join([*astuple(self.place), self.token, str(self.pid), str(self.started)])

    @classmethod
    def named(cls, name: str) -> Job | None:
        """Returns the job with that name; None if no job has such a name."""
        parts, size = name.split(":"), len(fields(Place))
        if len(parts) != size + 3:
            return None
        token, pid, started = parts[size:]
        if not (token and pid.isdecimal() and started.isdecimal()):
            return None
        return cls(Place(*parts[:size]), token, int(pid), int(started))

    def leader(self) -> Process | None:
        """Returns the job's first process, even if it has ended and its parent has not yet waited for it.

        As long as it exists, no other session has its number.
        """
        candidate = process(self.pid)
        return candidate if candidate is not None and candidate.started == self.started else None


@dataclass(frozen=True)
class JobProcesses:
    """The processes of a job at one moment.

    Attributes:
        its: those that certainly belong to the job.
        doubtful: those that belong to the job, or to another session with the same number.
    """

    its: tuple[Process, ...]
    doubtful: tuple[Process, ...] = ()

    @property
    def left(self) -> tuple[Process, ...]:
        """All processes that may belong to the job."""
        return self.its + self.doubtful


def own_job() -> Job:
    """Returns the job whose first process is this one.

    If this process was not started as a job, no record has that name.
    """
    me = own_process()
    return Job(current_place(), os.environ.get(TOKEN, ""), me.pid, me.started)


def processes_of(job: Job) -> JobProcesses:
    """Returns the present processes of a job of this place.

    It may miss a process that starts meanwhile, or one whose parent ends meanwhile.
    """
    candidates = [each for each in processes() if each.started >= job.started]
    first_process = process(job.pid)
    its = {each.pid: each for each in candidates if carries(each.pid, f"{TOKEN}={job.token}")}
    inside = [each for each in candidates if each.session == job.pid and each.pid not in its]
    if first_process is None:
        return JobProcesses(tuple(its.values()), tuple(inside))
    if first_process.started != job.started:
        return JobProcesses(tuple(its.values()))  # a number is used again only after its session is empty
    its |= {each.pid: each for each in [*inside, *descendants(job.pid, candidates)]}
    return JobProcesses(tuple(its.values()))


def is_left(job: Job) -> bool:
    """Whether any process of a job of this place acts, or may act."""
    leader = job.leader()
    if leader is not None and leader.acting:
        return True
    if processes_of(job).left:
        return True
    # The second look sees a process that was changing its program, or whose parent was ending.
    time.sleep(MOMENT)
    return bool(processes_of(job).left)


def kill(job: Job) -> tuple[Process, ...]:
    """Kills the processes of a job of this place until nothing is left, for a limited number of rounds.

    The leader is stopped first and killed last, because it identifies the others with certainty.

    Returns:
        The processes that cannot be killed: they belong to another user, or may not be part of the job.
    """
    refused: set[int] = set()
    for _ in range(ROUNDS):
        leader = job.leader()
        if leader is not None and leader.acting:
            send(leader, signal.SIGSTOP)
        seen = processes_of(job)
        next_ones = [each for each in seen.its if each.pid not in refused]
        next_ones = [each for each in next_ones if each.pid != job.pid] or next_ones
        if not next_ones:
            return seen.left
        refused.update(each.pid for each in next_ones if not send(each, signal.SIGKILL))
        time.sleep(MOMENT)
    return ()
