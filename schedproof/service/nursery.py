"""A process that starts the sessions' processes, and ends them all when the server ends for any reason.

It is a copy of the server, made before there are threads, with the models loaded. Each session's process is a copy of
it, so it begins in milliseconds and shares its memory. It holds nothing else of the server: no connection, no token.
"""

from __future__ import annotations

import contextlib
import gc
import os
import select
import signal
import socket
import struct
import time
from dataclasses import dataclass
from threading import Lock
from typing import NoReturn

from .checking import live
from .limits import Limits
from .mapped import NO_MAPPINGS, Mappings

START, END, REAP = b"s", b"e", b"r"
"""The requests: start a process, end one, and return how one ended by itself."""

NUMBER = struct.Struct("!i")
"""A process id in a request; in an answer, a process id or an exit code."""

REQUEST = 1 + NUMBER.size

FAILED = -1
"""The answer instead of a process id: none could be started."""

ENDING = 1.0
"""Seconds in which a process must end by itself after it has closed its connection."""


class NoProcess(Exception):
    """No process is available."""


@dataclass(frozen=True)
class Born:
    """A session's process and the connection to it."""

    pid: int
    connection: socket.socket


class Nursery:
    """The server's side of the nursery. Its calls take milliseconds; any thread may make them."""

    def __init__(self, limits: Limits, mappings: Mappings = NO_MAPPINGS) -> None:
        self.limits, self.mappings = limits, mappings
        self.pid = 0
        self._control, self._lock = socket.socket(), Lock()

    def __enter__(self) -> Nursery:
        """Starts the process. Call this before there are threads.

        Raises:
            OSError: no process can be started.
        """
        self._control.close()
        self._control, nursery_end = socket.socketpair()
        self.pid = os.fork()
        if self.pid == 0:
            _tend(nursery_end, self.limits, self.mappings)
        nursery_end.close()
        return self

    def __exit__(self, *ended: object) -> None:
        """Ends all of its processes, and the nursery."""
        with self._lock:
            self._control.close()
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self.pid, 0)

    def start(self) -> Born:
        """Starts a process.

        Raises:
            NoProcess: no more processes are possible, or the nursery itself has ended.
        """
        try:
            server_end, child_end = socket.socketpair()
        except OSError as error:
            raise NoProcess(f"cannot connect to a new process: {error.strerror}; try again") from None
        try:
            pid = self._ask(START, 0, child_end)
        except NoProcess:
            server_end.close()
            raise
        finally:
            child_end.close()
        if pid == FAILED:
            server_end.close()
            raise NoProcess("the machine has no memory for another process; close a session, or try again later")
        return Born(pid, server_end)

    def end(self, pid: int) -> None:
        with contextlib.suppress(NoProcess):  # if the nursery has ended, so have they
            self._ask(END, pid)

    def reap(self, pid: int) -> int | None:
        """How a process ended that closed its connection: its exit code, or the negative signal; None if unknown."""
        try:
            return self._ask(REAP, pid)
        except NoProcess:
            return None

    @property
    def alive(self) -> bool:
        """Whether processes can be started."""
        with self._lock:
            if self._control.fileno() < 0:
                return False
            readable, _, _ = select.select([self._control], [], [], 0)
            return not readable  # the nursery only answers requests: readable means that it has ended

    def _ask(self, what: bytes, pid: int, passed: socket.socket | None = None) -> int:
        with self._lock:
            try:
                request = what + NUMBER.pack(pid)
                socket.send_fds(self._control, [request], [passed.fileno()] if passed is not None else [])
                answer = self._control.recv(NUMBER.size, socket.MSG_WAITALL)
            except OSError:
                answer = b""
        if len(answer) < NUMBER.size:
            raise NoProcess("the process that starts sessions has ended; start the server again")
        return int(NUMBER.unpack(answer)[0])


def _tend(control: socket.socket, limits: Limits, mappings: Mappings) -> NoReturn:
    """The main loop of the nursery."""
    children: set[int] = set()
    try:
        _forget_the_server(control)
        while True:
            request, passed, _, _ = socket.recv_fds(control, REQUEST, 1)
            if len(request) < REQUEST:
                break
            pid = NUMBER.unpack(request[1:])[0]
            if request[:1] == START:
                number = _copy(control, passed[0], limits, mappings)
                children.add(number)
            else:
                number = _ended(pid, kill=request[:1] == END) if pid in children else 0
                children.discard(pid)
            control.sendall(NUMBER.pack(number))
    finally:
        for pid in children - {FAILED}:
            os.kill(pid, signal.SIGKILL)
        os._exit(0)


def _copy(control: socket.socket, connection: int, limits: Limits, mappings: Mappings) -> int:
    try:
        pid = os.fork()
    except OSError:
        pid = FAILED
    if pid == 0:
        try:
            control.close()
            live(socket.socket(fileno=connection), limits, mappings)
        finally:
            os._exit(1)
    os.close(connection)
    return pid


def _ended(pid: int, *, kill: bool) -> int:
    """The exit code of a child. Until this call has waited for it, the kernel does not reuse its id."""
    until = time.monotonic() + ENDING
    while not kill and time.monotonic() < until:
        ended_pid, status = os.waitpid(pid, os.WNOHANG)
        if ended_pid:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    os.kill(pid, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def _forget_the_server(control: socket.socket) -> None:
    """Drops the server's files, connections, terminal and signals: only the end of ``control`` ends the nursery."""
    os.setsid()
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, signal.SIG_IGN)
    signal.set_wakeup_fd(-1)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nowhere, standard)
    kept = control.fileno()
    os.closerange(3, kept)
    most = os.sysconf("SC_OPEN_MAX")
    os.closerange(kept + 1, most if most > 0 else 1 << 16)
    gc.freeze()  # objects that the collector never visits stay shared
