"""Processes as Linux shows them: who they are, in which session, what they carry in their environment."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")
ENDED = frozenset("ZX")


@dataclass(frozen=True)
class Process:
    """A process as it was a moment ago; ``started`` are clock ticks since the machine was booted.

    Numbers are used again, but not with the same start.
    """

    pid: int
    parent: int
    group: int
    session: int
    started: int
    acting: bool


def process(pid: int) -> Process | None:
    """The process of that number; None if there is none, or if it belongs to somebody else and /proc does not show such ones.

    One that has ended, and that nobody has asked after, does not act.
    """
    try:
        # Any bytes may be its name, parentheses too.
        said = (PROC / str(pid) / "stat").read_bytes().rpartition(b")")[2].decode()
        state, *rest = said.split()
        # The first thread of a process may have ended before the others.
        acting = state not in ENDED or len(os.listdir(PROC / str(pid) / "task")) > 1
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return None
    return Process(pid, int(rest[0]), int(rest[1]), int(rest[2]), int(rest[18]), acting)


def processes() -> Iterator[Process]:
    """All processes that act."""
    for name in os.listdir(PROC):
        if name.isdigit():
            found = process(int(name))
            if found is not None and found.acting:
                yield found


def own_process() -> Process:
    """This process."""
    me = process(os.getpid())
    assert me is not None
    return me


def descendants(of: int, among: Iterable[Process]) -> list[Process]:
    """Those that the process of that number started, those that these started, and so on, as far as the line is unbroken."""
    children: dict[int, list[Process]] = {}
    for each in among:
        children.setdefault(each.parent, []).append(each)
    found, todo = [], [of]
    while todo:
        born = children.pop(todo.pop(), [])
        found += born
        todo += [each.pid for each in born]
    return found


def carries(pid: int, variable: str) -> bool:
    """Whether the process was given ``variable`` ("NAME=value") in its environment; no if it belongs to somebody else."""
    try:
        return variable.encode() in (PROC / str(pid) / "environ").read_bytes().split(b"\0")
    except OSError:
        return False


def send(each: Process, number: signal.Signals) -> bool:
    """A signal to that very process, and to none that has its number now; whether it was ours to be sent one."""
    try:
        there = os.pidfd_open(each.pid)
    except ProcessLookupError:
        return True
    try:
        now = process(each.pid)
        if now is not None and now.started == each.started:
            signal.pidfd_send_signal(there, number)
    except ProcessLookupError:
        pass
    except PermissionError:
        return False
    finally:
        os.close(there)
    return True
