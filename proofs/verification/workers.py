"""Worker processes that share a list of tasks; all of them end with the work, however it ends.

Tasks and results cross between processes, so they are plain data: names, not models or solvers. :func:`shared_out` gives tasks to any
:class:`Team`: the processes of :class:`Workers`, or the workers of a cluster.
"""

from __future__ import annotations

import contextlib
import gc
import math
import multiprocessing
import os
import pickle
import signal
import sys
import time
import traceback
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from multiprocessing.connection import Connection, wait
from multiprocessing.context import BaseContext
from types import TracebackType
from typing import Any, Generic, Protocol, TypeVar

from schedproof.model.registry.discovery import is_registered
from schedproof.model.registry.system import System

T = TypeVar("T")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)

ReportProgress = Callable[[str], None]

LINE, RESULT, ERROR, LOST, ENDED = "line", "result", "error", "lost", "ended"
"""The messages of a worker: a line of progress, a result, an exception instead of a result, or why the worker was lost with its task.

After ``LOST`` another worker is in its place, after ``ENDED`` none."""

PAUSE = 0.1
"""A worker sends no line of a task's progress for so many seconds after one: a proof has one for each obligation."""

MOST_TRIES = 3
"""A task is given to a worker this often, if the workers are lost with it."""


class WorkerDied(Exception):
    """A worker process ended without an answer, usually for lack of memory."""

    exit_code = 3


class Pool(Protocol[T, R_co]):
    """What works on a list of tasks."""

    def run(
        self, tasks: Sequence[T], report_progress: ReportProgress, prepares: Callable[[T], str] = lambda task: ""
    ) -> Iterator[tuple[T, R_co]]:
        """See :meth:`Workers.run`."""


class Team(Protocol):
    """Workers that do one task each at a time."""

    def __len__(self) -> int: ...

    def give(self, worker: int, task: Any) -> None:
        """Gives a task to an idle worker."""

    def messages(self, busy: Collection[int]) -> Iterable[tuple[int, str, Any]]:
        """Waits for messages of busy workers: the worker's number, the kind of the message, and its content."""


def shared_out(
    tasks: Sequence[T], team: Team, report_progress: ReportProgress, prepares: Callable[[T], str] = lambda task: ""
) -> Iterator[tuple[T, Any]]:
    """Yields each task with its result, in the order of completion; arguments as for :meth:`Workers.run`.

    Raises:
        WorkerDied: a worker was lost each time that a task was tried.
        Exception: any exception of a task.
    """
    todo = [(task, 1) for task in tasks]
    prepared = {""}
    busy: dict[int, tuple[T, int]] = {}
    idle = deque(range(len(team)))
    while todo or busy:
        while todo and idle:
            in_preparation = {prepares(task) for task, _ in busy.values()} - prepared
            at = next((n for n, (task, _) in enumerate(todo) if prepares(task) not in in_preparation), 0)
            worker = idle.popleft()
            busy[worker] = todo.pop(at)
            team.give(worker, busy[worker][0])
        for worker, kind, content in team.messages(busy.keys()):
            if kind == LINE:
                report_progress(content)
                continue
            if kind == ERROR:
                raise content
            task, tries = busy.pop(worker)
            if kind != ENDED:
                idle.append(worker)
            if kind == RESULT:
                prepared.add(prepares(task))
                yield task, content
            elif tries == MOST_TRIES:
                raise WorkerDied(
                    f"{content}, as each of the {MOST_TRIES} times that this part of the work was tried: {task}"
                )
            elif kind == ENDED and not idle and not busy:
                raise WorkerDied(content)
            else:
                if kind == ENDED:
                    report_progress(f"{content}: another one tries again what it did")
                todo.insert(0, (task, tries + 1))


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
            WorkerDied: all processes were killed, or one each time that a task was tried.
            Exception: any exception of ``function``.
        """
        if not self._processes:
            for task in tasks:
                yield task, self.function(task, report_progress)
            return
        yield from shared_out(tasks, self, report_progress, prepares)

    def __len__(self) -> int:
        return len(self._processes)

    def give(self, worker: int, task: T) -> None:
        """See :class:`Team`."""
        with contextlib.suppress(OSError):  # it was killed while it was idle, as the next message says
            self._processes[worker][1].send(task)

    def messages(self, busy: Collection[int]) -> Iterator[tuple[int, str, Any]]:
        """See :class:`Team`. A process that was killed is not started anew: this one may have threads by now, and is not forked then."""
        numbers = {self._processes[worker][1]: worker for worker in busy}
        for ready in wait(list(numbers)):
            assert isinstance(ready, Connection)
            yield numbers[ready], *self._receive(ready)

    def _receive(self, connection: Connection) -> tuple[str, Any]:
        try:
            message: tuple[str, Any] = connection.recv()
            return message
        except (EOFError, ConnectionError):
            process = next(p for p, c in self._processes if c is connection)
            process.join()
            return (
                ENDED,
                f"a worker process ended early (exit code {process.exitcode}); it may be short of memory: try --jobs 1",
            )


def for_processes(function: Callable[..., R], systems: Sequence[System], jobs: int) -> tuple[Callable[..., R], int]:
    """A function of a task for processes, and their number.

    Args:
        function: called with a task, what reports its progress, and ``others``: by name, the systems that a process does not
            find by their names.
        systems: those that the tasks are about.
        jobs: the number of processes that is asked for.
    """
    others = {each.name: each for each in systems if copied() or not is_registered(each)}
    if others and not copied():
        jobs = 1  # a new process finds registered systems by name, but not these
    return partial(function, others=others), jobs


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
        send(*answered(function, task, now_and_then(lambda line: send(LINE, line))))


def now_and_then(report_progress: ReportProgress) -> ReportProgress:
    """Leaves out the lines of progress that come less than :data:`PAUSE` seconds after another one."""
    earliest = -math.inf

    def reports_some(line: str) -> None:
        nonlocal earliest
        if (now := time.monotonic()) >= earliest:
            earliest = now + PAUSE
            report_progress(line)

    return reports_some


def answered(
    function: Callable[[Any, ReportProgress], Any], task: Any, report_progress: ReportProgress
) -> tuple[str, Any]:
    """The message for what a function answers to a task: its result, or its exception."""
    try:
        return RESULT, function(task, report_progress)
    except Exception as error:
        return ERROR, _portable(error)


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
