"""Worker processes that share a list of tasks; all of them end with the work, however it ends.

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

ReportProgress = Callable[[str], None]

LINE, RESULT, ERROR = "line", "result", "error"
"""The messages of a worker: a line of progress, a result, or an exception instead of a result."""


class WorkerDied(Exception):
    """A worker process ended without an answer, usually for lack of memory."""

    exit_code = 3


class Workers(Generic[T, R]):
    """Up to ``jobs`` processes that call ``function(task, say)``; with one job, this process does all tasks.

    They start on entry, because a process with threads (a progress display) cannot be forked safely. They end on exit.
    Workers ignore interrupts: this process handles them.
    """

    def __init__(self, function: Callable[[T, ReportProgress], R], jobs: int = 1) -> None:
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
        near_end, far_end = context.Pipe()
        others = [connection for _, connection in self._processes]
        process = context.Process(  # type: ignore[attr-defined]
            target=_work, args=(self.function, far_end, [*others, near_end]), daemon=True
        )
        process.start()
        far_end.close()
        self._processes.append((process, near_end))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def _end(self) -> None:
        for process, connection in self._processes:
            process.kill()  # a solver's call ignores gentler signals
            connection.close()
        for process, _ in self._processes:
            process.join()
            process.close()
        self._processes = []

    def run(
        self, tasks: Sequence[T], report_progress: ReportProgress, prepares: Callable[[T], str] = lambda task: ""
    ) -> Iterator[tuple[T, R]]:
        """Yields each task with its result, in the order of completion.

        Args:
            prepares: what a task prepares for all later tasks with the same name, such as compiled code. While the first
                of them runs, others come first if there are any. Empty for none.

        Raises:
            WorkerDied: a worker process was killed.
            Exception: any exception of ``function``.
        """
        if not self._processes:
            for task in tasks:
                yield task, self.function(task, report_progress)
            return
        todo = list(tasks)
        prepared = {""}
        busy: dict[Connection, T] = {}
        idle = deque(connection for _, connection in self._processes)
        while todo or busy:
            while todo and idle:
                connection = idle.popleft()
                in_preparation = {prepares(task) for task in busy.values()} - prepared
                following = next((task for task in todo if prepares(task) not in in_preparation), todo[0])
                todo.remove(following)
                busy[connection] = following
                connection.send(following)
            for ready in wait(list(busy)):
                assert isinstance(ready, Connection)
                kind, content = self._receive(ready)
                if kind == LINE:
                    report_progress(content)
                elif kind == ERROR:
                    raise content
                else:
                    idle.append(ready)
                    prepared.add(prepares(busy[ready]))
                    yield busy.pop(ready), content

    def _receive(self, connection: Connection) -> tuple[str, Any]:
        try:
            message: tuple[str, Any] = connection.recv()
            return message
        except EOFError:
            process = next(p for p, c in self._processes if c is connection)
            process.join()
            raise WorkerDied(
                f"a worker process ended early (exit code {process.exitcode}); it may be short of memory: try --jobs 1"
            ) from None


def copied() -> bool:
    """Whether workers are forked copies of this process with all its data, on platforms where forking is safe."""
    return sys.platform == "linux"


def _context() -> BaseContext:
    """The start method: fork, which starts at once, where it is safe."""
    return multiprocessing.get_context("fork" if copied() else None)


@contextlib.contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Blocks interrupts until a new process ignores them."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _work(function: Callable[[Any, ReportProgress], Any], connection: Connection, others: Sequence[Connection]) -> None:
    """Runs tasks in a worker until the parent process is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    for other in others:
        other.close()  # an open copy would hide the end of the parent process
    gc.freeze()  # collections skip the forked data

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
    """A copy of an error that can be pickled, with the traceback of the worker as a note."""
    trace = "".join(traceback.format_exception(error))
    try:
        copy = pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__} in a worker process:\n{trace}")
    copy.add_note(f"in a worker process:\n{trace}")
    assert isinstance(copy, Exception)
    return copy
