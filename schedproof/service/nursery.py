"""A process that starts the sessions' processes, and ends them all when the server is gone, however it went.

It is a copy of the server made before there are threads, with the models loaded; each session's process is a copy of it,
so that one begins in milliseconds and shares its memory. It holds nothing else of the server: no connection, no token.
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

START, END, REAP = b"s", b"e", b"r"
"""What the nursery is asked: a process, the end of one, and how one ended that ends by itself."""

NUMBER = struct.Struct("!i")
"""A process id in a request; a process id or how it ended in an answer."""

REQUEST = 1 + NUMBER.size

FAILED = -1
"""Instead of a process id: none could be started."""

ENDING = 1.0
"""Seconds that a process may take to end by itself once it has closed its connection."""


class NoProcess(Exception):
    """No process can be had."""


@dataclass(frozen=True)
class Born:
    """A session's process and the connection to it."""

    pid: int
    connection: socket.socket


class Nursery:
    """The server's side. Its calls take milliseconds, and may come from any thread."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.pid = 0
        self._control, self._lock = socket.socket(), Lock()

    def __enter__(self) -> Nursery:
        """Starts the process: to be done before there are threads.

        Raises:
            OSError: no process can be started.
        """
        self._control.close()
        self._control, theirs = socket.socketpair()
        self.pid = os.fork()
        if self.pid == 0:
            _tend(theirs, self.limits)
        theirs.close()
        return self

    def __exit__(self, *ended: object) -> None:
        """Ends all of its processes, and the nursery."""
        with self._lock:
            self._control.close()
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self.pid, 0)

    def start(self) -> Born:
        """A new process.

        Raises:
            NoProcess: there cannot be one more, or the nursery itself is gone.
        """
        try:
            mine, theirs = socket.socketpair()
        except OSError as error:
            raise NoProcess(f"cannot connect to a new process: {error.strerror}; try again") from None
        try:
            pid = self._ask(START, 0, theirs)
        except NoProcess:
            mine.close()
            raise
        finally:
            theirs.close()
        if pid == FAILED:
            mine.close()
            raise NoProcess("the machine has no memory for another process; close a session, or try again later")
        return Born(pid, mine)

    def end(self, pid: int) -> None:
        """Kills a process."""
        with contextlib.suppress(NoProcess):  # if the nursery is gone, so are they
            self._ask(END, pid)

    def reap(self, pid: int) -> int | None:
        """How a process ended that has closed its connection: its exit code, or the negative signal."""
        try:
            return self._ask(REAP, pid)
        except NoProcess:
            return None

    @property
    def alive(self) -> bool:
        """Processes can be started."""
        with self._lock:
            if self._control.fileno() < 0:
                return False
            readable, _, _ = select.select([self._control], [], [], 0)
            return not readable  # it says nothing unless asked: what can be read is its end

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


def _tend(control: socket.socket, limits: Limits) -> NoReturn:
    """The life of the nursery."""
    children: set[int] = set()
    try:
        _forget_the_server(control)
        while True:
            request, passed, _, _ = socket.recv_fds(control, REQUEST, 1)
            if len(request) < REQUEST:
                break
            pid = NUMBER.unpack(request[1:])[0]
            if request[:1] == START:
                found = _copy(control, passed[0], limits)
                children.add(found)
            else:
                found = _ended(pid, kill=request[:1] == END) if pid in children else 0
                children.discard(pid)
            control.sendall(NUMBER.pack(found))
    finally:
        for pid in children - {FAILED}:
            os.kill(pid, signal.SIGKILL)
        os._exit(0)


def _copy(control: socket.socket, connection: int, limits: Limits) -> int:
    try:
        pid = os.fork()
    except OSError:
        pid = FAILED
    if pid == 0:
        try:
            control.close()
            live(socket.socket(fileno=connection), limits)
        finally:
            os._exit(1)
    os.close(connection)
    return pid


def _ended(pid: int, *, kill: bool) -> int:
    """How a child ended; its number is nobody else's until it is asked for here."""
    until = time.monotonic() + ENDING
    while not kill and time.monotonic() < until:
        gone, status = os.waitpid(pid, os.WNOHANG)
        if gone:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    os.kill(pid, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def _forget_the_server(control: socket.socket) -> None:
    """Its files, its connections, its terminal, its signals: the end of ``control`` is the only one that counts."""
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
    gc.freeze()  # what is never looked at stays shared
