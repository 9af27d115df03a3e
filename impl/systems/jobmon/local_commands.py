"""A worker's command on this machine: it dies with its worker, and is over when nothing that it started is left."""

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
"""The variable by which a command learns which attempt it is."""


class LocalCommands:
    """Starts the command in the session of this process, which has no other children.

    The limits are emulated here: ``memory`` in mebibytes, of all processes together, and ``runtime`` in seconds.
    Whatever the command started and left behind becomes a child of this process, so that it can be ended with certainty.
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
        """Starts the command; one that cannot be started has ended in error, and why is said where its output goes."""
        self._limits, self._since = dict(granted.resources), time.monotonic()
        worker = os.getpid()

        def dies_with_its_worker() -> None:
            self._call(PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != worker:  # it died before the call
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
        child.returncode = 0  # it is waited for below, with all others

    def ending(self) -> Ending | None:
        """How it ended; whatever it left behind is killed before that is said."""
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
        """Kills children until there are none: orphans come to this process, and are next."""
        while self._reap():
            me = os.getpid()
            for each in processes():
                if each.parent == me:
                    send(each, signal.SIGKILL)  # one that became somebody else's is not to be had: it is waited for
            time.sleep(0.002)

    def _reap(self) -> bool:
        """Takes note of children that have ended; whether there are others."""
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
        """The resident memory of all that the command started, in whatever group."""
        total = 0
        for each in descendants(os.getpid(), processes()):
            try:
                with open(f"/proc/{each.pid}/statm") as said:
                    total += int(said.read().split()[1]) * PAGES
            except (FileNotFoundError, ProcessLookupError, PermissionError):
                continue
        return total

    def _call(self, option: int, value: int) -> None:
        if self._prctl(option, value, 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "prctl failed")
