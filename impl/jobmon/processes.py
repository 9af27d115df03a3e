"""Processes as Linux shows them: who they are, in which group, and whether anything of a group is left."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")
ENDED = frozenset("ZX")


@dataclass(frozen=True)
class Process:
    """A process as it was a moment ago; ``started`` are clock ticks since the machine was booted."""

    pid: int
    parent: int
    group: int
    started: int
    acting: bool

    @property
    def identity(self) -> str:
        """What no other process of this machine ever is: numbers are used again, but not with the same start."""
        return f"{boot()}:{self.pid}:{self.started}"


def boot() -> str:
    """A name for the time since the machine was booted."""
    return (PROC / "sys/kernel/random/boot_id").read_text()[:8]


def process(pid: int) -> Process | None:
    """The process of that number; None if there is none. One that has ended, and that nobody has asked after, does not act."""
    try:
        said = (PROC / str(pid) / "stat").read_text()
        state, *rest = said.rpartition(")")[2].split()
        # The first thread of a process may have ended before the others.
        acting = state not in ENDED or len(os.listdir(PROC / str(pid) / "task")) > 1
    except (FileNotFoundError, ProcessLookupError):
        return None
    return Process(pid, int(rest[0]), int(rest[1]), int(rest[18]), acting)


def processes() -> Iterator[Process]:
    """All processes that act."""
    for name in os.listdir(PROC):
        if name.isdigit():
            found = process(int(name))
            if found is not None and found.acting:
                yield found


def own_identity() -> str:
    """This process."""
    me = process(os.getpid())
    assert me is not None
    return me.identity


def kill_group(identity: str, signal: int) -> None:
    """Sends a signal to all processes of the group that a process of that identity leads, or led.

    Those of somebody else are not to be had: the group is left as long as they are.
    """
    pid = _group_left(identity)
    if pid is not None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal)


def group_is_left(identity: str) -> bool:
    """Whether any process acts in the group of that identity.

    After the group was killed the answer is certain: a process that is to die begets no other one.
    """
    pid = _group_left(identity)
    return pid is not None and any(each.group == pid for each in processes())


def _group_left(identity: str) -> int | None:
    """The group's number if it may be there still."""
    booted, pid, started = identity.split(":")
    if booted != boot():
        return None
    leader = process(int(pid))
    # A number is not given again as long as a group has it: with another leader, it is another group.
    return None if leader is not None and leader.started != int(started) else int(pid)
