"""Processes as Linux shows them: their numbers, their sessions and their environments."""

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
    """A process at one moment.

    A number may be used again, but not with the same ``started``.

    Attributes:
        started: in clock ticks since the machine was booted.
        acting: whether the process can still run code.
    """

    pid: int
    parent: int
    group: int
    session: int
    started: int
    acting: bool


def process(pid: int) -> Process | None:
    """Returns the process with that number; None if there is none, or if /proc hides it because another user owns it.

    A process that has ended and that its parent has not waited for is not acting.
    """
    try:
        # The name may contain any bytes, parentheses too.
        fields = (PROC / str(pid) / "stat").read_bytes().rpartition(b")")[2].decode()
        state, *rest = fields.split()
        # The first thread of a process may end before the others.
        acting = state not in ENDED or len(os.listdir(PROC / str(pid) / "task")) > 1
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return None
    return Process(pid, int(rest[0]), int(rest[1]), int(rest[2]), int(rest[18]), acting)


def processes() -> Iterator[Process]:
    """Yields all processes that act."""
    for name in os.listdir(PROC):
        if name.isdigit():
            candidate = process(int(name))
            if candidate is not None and candidate.acting:
                yield candidate


def own_process() -> Process:
    me = process(os.getpid())
    assert me is not None
    return me


def descendants(of: int, among: Iterable[Process]) -> list[Process]:
    """Returns the children of process ``of``, their children and so on, as far as no parent in between is missing."""
    children: dict[int, list[Process]] = {}
    for each in among:
        children.setdefault(each.parent, []).append(each)
    below, todo = [], [of]
    while todo:
        born = children.pop(todo.pop(), [])
        below += born
        todo += [each.pid for each in born]
    return below


def carries(pid: int, variable: str) -> bool:
    """Whether the process started with ``variable`` ("NAME=value") in its environment; False if another user owns it."""
    try:
        return variable.encode() in (PROC / str(pid) / "environ").read_bytes().split(b"\0")
    except OSError:
        return False


def send(each: Process, number: signal.Signals) -> bool:
    """Sends a signal to exactly this process, not to a later one with its number.

    Returns:
        False if this process may not send it a signal, else True, even if it has ended.
    """
    try:
        descriptor = os.pidfd_open(each.pid)
    except ProcessLookupError:
        return True
    try:
        now = process(each.pid)
        if now is not None and now.started == each.started:
            signal.pidfd_send_signal(descriptor, number)
    except ProcessLookupError:
        pass
    except PermissionError:
        return False
    finally:
        os.close(descriptor)
    return True
