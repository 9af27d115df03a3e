"""Machines of a Ray cluster as a user starts them, each on a loopback address of its own."""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from tests.support.places import ROOT

SECONDS = 120
"""The limit for a start."""


@dataclass
class Nodes:
    """The machines of a cluster; the first one has its services.

    Attributes:
        address: where a command joins.
        environment: what a command needs to join.
    """

    address: str
    environment: Mapping[str, str]
    _started: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start(self, processors: int, *options: str) -> None:
        """Starts one more machine."""
        host = f"127.0.0.{len(self._started) + 2}"
        arguments = [
            Path(sys.executable).parent / "ray", "start", "--block", f"--node-ip-address={host}", f"--num-cpus={processors}",
            "--object-store-memory=150000000", *options,
        ]  # fmt: skip
        self._started.append(
            subprocess.Popen(
                arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, **self.environment}
            )
        )

    def kill(self, number: int) -> None:
        """Kills all processes of a machine at once, as if its power were off."""
        process = self._started[number]
        with suppress(psutil.Error):
            for part in [*psutil.Process(process.pid).children(recursive=True), psutil.Process(process.pid)]:
                with suppress(psutil.Error):
                    part.kill()
        process.wait()

    def end(self) -> None:
        """Kills all machines."""
        for number in range(len(self._started)):
            self.kill(number)


@contextmanager
def cluster(*processors: int) -> Iterator[Nodes]:
    """Machines with so many processors each, which only this user can join."""
    with socket.create_server(("127.0.0.2", 0)) as server:
        port = server.getsockname()[1]
    token = secrets.token_hex()
    environment = {
        "RAY_USAGE_STATS_ENABLED": "0", "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": token, "PYTHONPATH": str(ROOT),
    }  # fmt: skip
    with ExitStack() as stack:
        folder = tempfile.mkdtemp(dir="/tmp")  # the names of sockets in it must be short
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        nodes = Nodes(f"127.0.0.2:{port}", environment)
        stack.callback(nodes.end)
        nodes.start(processors[0], "--head", "--include-dashboard=false", f"--port={port}", f"--temp-dir={folder}")
        _wait_for("127.0.0.2", port)
        for each in processors[1:]:
            nodes.start(each, f"--address={nodes.address}")
        time.sleep(8)  # it listens before all of it runs
        yield nodes


def _wait_for(host: str, port: int) -> None:
    end = time.monotonic() + SECONDS
    while True:
        with suppress(OSError):
            socket.create_connection((host, port), 1).close()
            return
        assert time.monotonic() < end
        time.sleep(0.1)
