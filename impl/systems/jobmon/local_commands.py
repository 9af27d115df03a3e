"""A worker's command on this machine. It dies with its worker, and ends when no process that it started is left."""

from __future__ import annotations

import ctypes
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable

from .cluster import Ending, Granted
from .processes import descendants, processes, send

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
PAGES = os.sysconf("SC_PAGE_SIZE")
MEBIBYTE = 1 << 20
INSTANCE = "JOBMON_TASK_INSTANCE_ID"
"""The environment variable that gives a command the number of its task instance."""


class LocalCommands:
    """Starts the command in the session of this process, which has no other children.

    The resource limits are emulated here: ``memory`` in mebibytes, of all processes together, and ``runtime`` in
    seconds. Processes that the command left behind become children of this process, so that it can end them with
    certainty.
    """

    def __init__(self) -> None:
        self._prctl: Callable[..., int] = ctypes.CDLL(None, use_errno=True).prctl
        self._call(PR_SET_CHILD_SUBREAPER, 1)
        self._pid: int | None = None
        self._status: int | None = None
        self._limits: dict[str, int] = {}
        self._since = 0.0
        self._exceeded = False

    def start(self, granted: Granted) -> None:
        """Starts the command.

        A command that cannot be started ends in error; the cause is printed where its output goes.
        """
        self._limits, self._since = dict(granted.resources), time.monotonic()
        worker = os.getpid()

        def dies_with_its_worker() -> None:
            self._call(PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != worker:  # the worker died before the call
                os._exit(1)

        try:
            child = subprocess.Popen(
                shlex.split(granted.command),
                preexec_fn=dies_with_its_worker,
                stdin=subprocess.DEVNULL,
                env=os.environ | {INSTANCE: str(granted.instance)},
            )
        except (OSError, ValueError, IndexError, subprocess.SubprocessError) as error:
            why = "it is empty" if isinstance(error, IndexError) else error
            print(f"command {granted.command!r} cannot be started: {why}", file=sys.stderr, flush=True)
            self._status = 127
            return
        self._pid = child.pid
        child.returncode = 0  # waitpid below waits for it, as for all others

    def ending(self) -> Ending | None:
        """Returns how the command ended, after all its remaining processes are killed; None while it runs."""
        if self._status is None:
            self._reap()
            if self._status is None:
                if not self._exceeds():
                    return None
                self._exceeded = True
        self.kill()
        if self._exceeded:
            return Ending.RESOURCE_ERROR
        return Ending.DONE if self._status == 0 else Ending.ERROR

    def kill(self) -> None:
        """Kills children until there are none. Orphans become children of this process, and are killed next."""
        while self._reap():
            me = os.getpid()
            for each in processes():
                if each.parent == me:
                    send(each, signal.SIGKILL)  # a process of another user cannot be killed: it is waited for
            time.sleep(0.002)

    def _reap(self) -> bool:
        """Reaps children that have ended.

        Returns:
            Whether others are left.
        """
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            if pid == self._pid:
                self._status = os.waitstatus_to_exitcode(status)

    def _exceeds(self) -> bool:
        runtime, memory = self._limits.get("runtime"), self._limits.get("memory")
        if runtime is not None and time.monotonic() - self._since > runtime:
            return True
        return memory is not None and self._memory() > memory * MEBIBYTE

    def _memory(self) -> int:
        """Returns the resident memory, in bytes, of all processes that the command started, in any group."""
        total = 0
        for each in descendants(os.getpid(), processes()):
            try:
                with open(f"/proc/{each.pid}/statm") as statm:
                    total += int(statm.read().split()[1]) * PAGES
            except (FileNotFoundError, ProcessLookupError, PermissionError):
                continue
        return total

    def _call(self, option: int, value: int) -> None:
        if self._prctl(option, value, 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "prctl failed")
