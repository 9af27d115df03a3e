"""A PostgreSQL server of our own in a temporary directory (for tests)."""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

START_SECONDS = 60
DEBIANS = Path("/usr/lib/postgresql")
"""Where Debian keeps the programs of the server: VERSION/bin, and not in PATH."""


class Unavailable(Exception):
    """There can be no server here, and why."""


@contextmanager
def server() -> Iterator[str]:
    """The URL of an empty database on a server that lives as long as the ``with`` block.

    It listens on a socket in its own directory only, and runs as another user if we are root,
    which PostgreSQL refuses to be.

    Raises:
        Unavailable: no driver, no server program, no user to run it, or it does not start.
    """
    if importlib.util.find_spec("psycopg") is None:
        raise Unavailable("psycopg is not installed; install the extra postgresql")
    initdb, postgres = find_program("initdb"), find_program("postgres")
    user = _user()
    directory = Path(tempfile.mkdtemp(prefix="schedproof-pg-"))
    try:
        if user is not None:
            os.chown(directory, user, -1)
        data = directory / "data"
        make = [initdb, "-D", data, "-U", "beaker", "--auth=trust", "--no-sync", "-E", "UTF8", "--locale=C"]
        made = subprocess.run(make, cwd=directory, user=user, capture_output=True, text=True)
        if made.returncode != 0:
            raise Unavailable(f"initdb failed: {_last(made.stderr)}")
        start = [postgres, "-D", data, "-k", directory, "-c", "listen_addresses=", "-c", "fsync=off"]
        with (directory / "log").open("w") as log:
            process = subprocess.Popen(start, cwd=directory, user=user, stdout=log, stderr=log)
        try:
            _wait(process, directory)
            yield f"postgresql://beaker@/postgres?host={directory}"
        finally:
            process.send_signal(signal.SIGINT)  # "fast": clients are disconnected
            process.wait(START_SECONDS)
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def find_program(name: str) -> str:
    newest = sorted(DEBIANS.glob(f"*/bin/{name}"), key=lambda path: int(path.parts[-3]))
    program = str(newest[-1]) if newest else shutil.which(name)
    if program is None:
        raise Unavailable(f"PostgreSQL's {name} is neither in {DEBIANS} nor in PATH; install postgresql")
    return program


def _user() -> int | None:
    """Who is to run the server: None for ourselves."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name).pw_uid
        except KeyError:
            continue
    raise Unavailable("we are root, which PostgreSQL refuses to be, and there is no user postgres or nobody")


def _wait(process: subprocess.Popen[bytes], directory: Path) -> None:
    import psycopg

    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and process.poll() is None:
        try:
            psycopg.connect(f"postgresql://beaker@/postgres?host={directory}").close()
            return
        except psycopg.OperationalError:
            time.sleep(0.05)
    raise Unavailable(f"the server does not start: {_last((directory / 'log').read_text())}")


def _last(output: str) -> str:
    return output.strip().rpartition("\n")[2] or "it says nothing"
