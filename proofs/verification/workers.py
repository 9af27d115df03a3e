"""Worker processes that share a list of tasks; none is left behind, however the work ends.

Tasks and results cross between processes, so they are plain data: names, not models or solvers.
"""

from __future__ import annotations

import contextlib
import gc
import multiprocessing
import os
import pickle
import signal
import sys
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.context import BaseContext
from types import TracebackType
from typing import Any, Generic, TypeVar

T = TypeVar("T")
R = TypeVar("R")

Say = Callable[[str], None]

LINE, RESULT, ERROR = "line", "result", "error"
"""What a worker sends: a line of progress, a result, or what was raised instead."""


class WorkerDied(Exception):
    """A worker process ended without an answer: mostly for want of memory."""

    exit_code = 3


class Workers(Generic[T, R]):
    """Up to ``jobs`` processes that call ``function(task, say)``; with one job, this process does it all.

    They are started on entry, because a process that has threads (a progress display) cannot be copied safely,
    and ended on exit. An interrupt is for this process to answer: workers ignore it.
    """

    def __init__(self, function: Callable[[T, Say], R], jobs: int = 1) -> None:
        self.function = function
        self.jobs = jobs
        self._processes: list[tuple[Any, Connection]] = []

    def __enter__(self) -> Workers[T, R]:
        if self.jobs > 1:
            try:
                with _interrupts_blocked():
                    for _ in range(self.jobs):
                        self._start(_context())
            except BaseException:
                self._end()
                raise
        return self

    def _start(self, context: BaseContext) -> None:
        mine, theirs = context.Pipe()
        others = [connection for _, connection in self._processes]
        process = context.Process(  # type: ignore[attr-defined]
            target=_work, args=(self.function, theirs, [*others, mine]), daemon=True
        )
        process.start()
        theirs.close()
        self._processes.append((process, mine))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def _end(self) -> None:
        for process, connection in self._processes:
            process.kill()  # in the middle of a solver's call nothing else is heard
            connection.close()
        for process, _ in self._processes:
            process.join()
            process.close()
        self._processes = []

    def run(self, tasks: Sequence[T], say: Say) -> Iterator[tuple[T, R]]:
        """Each task with its result, as they are finished.

        Raises:
            WorkerDied: a worker process was killed.
            Exception: whatever ``function`` raises.
        """
        if not self._processes:
            for task in tasks:
                yield task, self.function(task, say)
            return
        todo = deque(tasks)
        busy: dict[Connection, T] = {}
        idle = deque(connection for _, connection in self._processes)
        while todo or busy:
            while todo and idle:
                connection = idle.popleft()
                busy[connection] = todo.popleft()
                connection.send(busy[connection])
            for ready in wait(list(busy)):
                assert isinstance(ready, Connection)
                kind, content = self._receive(ready)
                if kind == LINE:
                    say(content)
                elif kind == ERROR:
                    raise content
                else:
                    idle.append(ready)
                    yield busy.pop(ready), content

    def _receive(self, connection: Connection) -> tuple[str, Any]:
        try:
            found: tuple[str, Any] = connection.recv()
            return found
        except EOFError:
            process = next(p for p, c in self._processes if c is connection)
            process.join()
            raise WorkerDied(
                f"a worker process ended early (exit code {process.exitcode}); it may be short of memory: try --jobs 1"
            ) from None


def copied() -> bool:
    """Workers are copies of this process, made where that is safe, and have all that it has."""
    return sys.platform == "linux"


def _context() -> BaseContext:
    """Copies start at once."""
    return multiprocessing.get_context("fork" if copied() else None)


@contextlib.contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Until a new process ignores interrupts, none reaches it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _work(function: Callable[[Any, Say], Any], connection: Connection, others: Sequence[Connection]) -> None:
    """The life of a worker: task after task, until nobody is left to ask."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    for other in others:
        other.close()  # else the end of the parent process would not be seen
    gc.freeze()  # what comes with the copy is not searched for garbage

    def send(kind: str, content: Any) -> None:
        try:
            connection.send((kind, content))
        except OSError:  # the parent process is gone
            os._exit(1)

    while True:
        try:
            task = connection.recv()
        except (EOFError, OSError):
            os._exit(0)
        try:
            send(RESULT, function(task, lambda line: send(LINE, line)))
        except Exception as error:
            send(ERROR, _portable(error))


def _portable(error: Exception) -> Exception:
    """An error that survives the way to another process, with the place where it was raised."""
    trace = "".join(traceback.format_exception(error))
    try:
        copy = pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__} in a worker process:\n{trace}")
    copy.add_note(f"in a worker process:\n{trace}")
    assert isinstance(copy, Exception)
    return copy
