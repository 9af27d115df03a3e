"""Jobs as processes: a worker that leads a session of its own, and all that comes of it.

All that is in that session is of the job, and so is all that carries the job's token in its environment, wherever it has gone.
"""

from __future__ import annotations

import os
import signal
import time
from dataclasses import astuple, dataclass, fields

from .places import Place, here
from .processes import Process, carries, descendants, own_process, process, processes, send

TOKEN = "JOBMON_JOB"
"""The variable that all processes of a job have in their environment."""

ROUNDS, MOMENT = 100, 0.002


@dataclass(frozen=True)
class Job:
    """What names a job: where it is, the token that it carries, and the process that it began with, which leads its session."""

    place: Place
    token: str
    pid: int
    started: int

    def __str__(self) -> str:
        return ":".join([*astuple(self.place), self.token, str(self.pid), str(self.started)])

    @classmethod
    def named(cls, name: str) -> Job | None:
        """The job of that name; None if no job has such a name."""
        parts, size = name.split(":"), len(fields(Place))
        if len(parts) != size + 3:
            return None
        token, pid, started = parts[size:]
        if not (token and pid.isdecimal() and started.isdecimal()):
            return None
        return cls(Place(*parts[:size]), token, int(pid), int(started))

    def leader(self) -> Process | None:
        """The process that it began with, even if it has ended, until somebody has asked after it.

        As long as it is there, its number is no other session's.
        """
        found = process(self.pid)
        return found if found is not None and found.started == self.started else None


@dataclass(frozen=True)
class Look:
    """What was seen of a job: ``its`` processes, and some that may be its own or those of another session with its number."""

    its: tuple[Process, ...]
    doubtful: tuple[Process, ...] = ()

    @property
    def left(self) -> tuple[Process, ...]:
        """All that may be of the job."""
        return self.its + self.doubtful


def own_job() -> Job:
    """The job that this process is the first one of. If it was not started as one, nobody has ever noted its name."""
    me = own_process()
    return Job(here(), os.environ.get(TOKEN, ""), me.pid, me.started)


def look(job: Job) -> Look:
    """Who is of a job of this place now. A process that starts, or begets another one and ends, meanwhile may be overlooked."""
    found = [each for each in processes() if each.started >= job.started]
    there = process(job.pid)
    its = {each.pid: each for each in found if carries(each.pid, f"{TOKEN}={job.token}")}
    inside = [each for each in found if each.session == job.pid and each.pid not in its]
    if there is None:
        return Look(tuple(its.values()), tuple(inside))
    if there.started != job.started:
        return Look(tuple(its.values()))  # a number is given again only when nobody is left in the session that had it
    its |= {each.pid: each for each in [*inside, *descendants(job.pid, found)]}
    return Look(tuple(its.values()))


def is_left(job: Job) -> bool:
    """Whether anything of a job of this place acts, or may act."""
    leader = job.leader()
    if leader is not None and leader.acting:
        return True
    if look(job).left:
        return True
    # Whoever was about to become another process, or begot one and ended, is seen the second time.
    time.sleep(MOMENT)
    return bool(look(job).left)


def kill(job: Job) -> tuple[Process, ...]:
    """Kills what is of a job of this place, looks again, and so on until nothing is left, or for a moment.

    Given back is what is not to be killed: it belongs to somebody else, or may be no part of the job. The leader is stopped at
    first and killed at last, since it is by it that the others are known for certain.
    """
    refused: set[int] = set()
    for _ in range(ROUNDS):
        leader = job.leader()
        if leader is not None and leader.acting:
            send(leader, signal.SIGSTOP)
        seen = look(job)
        next_ones = [each for each in seen.its if each.pid not in refused]
        next_ones = [each for each in next_ones if each.pid != job.pid] or next_ones
        if not next_ones:
            return seen.left
        refused.update(each.pid for each in next_ones if not send(each, signal.SIGKILL))
        time.sleep(MOMENT)
    return ()
