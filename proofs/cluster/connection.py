"""Starts Ray on this machine or joins a cluster, and starts the workers there."""

from __future__ import annotations

import logging
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import psutil

from schedproof.model.registry.errors import UserError

from .address import MOST_LOCAL, Address
from .crew import ClusterError, RemoteWorkers
from .ray_hosts import RayHosts, first_line
from .worker import BATCH

SECONDS_TO_CONNECT, SECONDS_TO_JOIN = 5, 30
"""Limits for a connection to an address, and for Ray's answer there."""

TRIES = 20
"""To remove a folder, of which each takes a tenth of a second."""

STORE = 128 << 20
"""The bytes of Ray's object store on this machine, beside the buckets that are on the way."""

JOIN = """
import sys, logging, ray
ray.init(address=sys.argv[1], log_to_driver=False, logging_level=logging.CRITICAL)
"""
"""Joins a cluster in a process of its own, which can be ended: Ray's own attempt may hang, or end its process."""


@contextmanager
def connected(address: Address, report: Callable[[str], None] = lambda line: None) -> Iterator[RemoteWorkers]:
    """Yields the workers at an address, and ends them at the end. A cluster on this machine ends with them.

    Args:
        address: where the cluster is.
        report: called with one line when a worker was lost and is replaced, and where Ray's dashboard is, if there is one.

    Raises:
        UserError: Ray is not installed.
        ClusterError: no cluster is there, or its workers do not start or run other code.
    """
    try:
        import ray  # takes a second, and is an extra
    except ModuleNotFoundError as error:
        raise UserError(
            "--cluster: needs Ray, which is not installed; install it: pip install 'schedproof[cluster]'"
        ) from error
    with suppress(AttributeError):
        # Ray prints to standard output that a worker died, where results go; no option prevents that.
        ray._private.worker.print_to_stdstream = lambda *_, **__: None
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"  # Ray's processes inherit it, and send nothing elsewhere
    before, folder = signal.getsignal(signal.SIGTERM), None
    try:
        if address.host:
            if dashboard := _join(ray, address):
                report(f"Ray's dashboard is at http://{dashboard}")
        else:
            folder = _start(ray, address)
        # Ray has put its own in place. Without any, a process that is terminated leaves some of Ray's behind.
        signal.signal(signal.SIGTERM, partial(_terminate, folder) if before is signal.SIG_DFL else before)
        hosts = RayHosts(ray, address, report)
        try:
            yield RemoteWorkers(hosts, report)
        finally:
            hosts.end()
    finally:
        ray.shutdown()
        _remove(folder)
        signal.signal(signal.SIGTERM, before)


def _terminate(folder: Path | None, number: int, frame: object) -> None:
    """Ends the processes that were started here, and this one at once, as without a handler.

    After ``ray.shutdown`` the exit code would sometimes be Ray's.
    """
    for each in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            each.kill()
    _remove(folder)
    os._exit(128 + number)


def _remove(folder: Path | None) -> None:
    """Removes Ray's folder of one cluster on this machine, and the link to it."""
    if folder is None:
        return
    for _ in range(TRIES):  # a process that ends may still write to it
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            break
        time.sleep(0.1)
    latest = folder.parent / "session_latest"
    if not latest.exists():
        latest.unlink(missing_ok=True)


def _start(ray: Any, address: Address) -> Path:
    """Starts Ray on this machine, reachable from it only; returns its folder.

    Raises:
        ClusterError: it does not start. Then its folder is left, because its logs say why.
    """
    workers = address.workers or min(MOST_LOCAL, len(psutil.Process().cpu_affinity()))
    buckets = 3 * 2 * BATCH * workers * (workers - 1)
    try:
        context = ray.init(
            address="local",
            num_cpus=workers,
            include_dashboard=False,
            object_store_memory=min(STORE + buckets, int(0.3 * psutil.virtual_memory().total)),
            _node_ip_address="127.0.0.1",
            log_to_driver=False,
            logging_level=logging.CRITICAL,
        )
    except Exception as error:
        raise ClusterError(
            f"--cluster: Ray does not start on this machine ({first_line(error)}); see its logs in /tmp/ray"
        ) from error
    return Path(context.address_info["session_dir"])


def _join(ray: Any, address: Address) -> str:
    """Joins a running cluster, if one answers in time; returns the address of its dashboard, or an empty text.

    Raises:
        ClusterError: none does, or it refuses this process.
    """
    wrong = f"--cluster: no Ray cluster answers at {address}"
    remedy = "start one there with 'ray start --head', or write local:N"
    try:
        socket.create_connection((address.host, address.port), SECONDS_TO_CONNECT).close()
    except OSError as error:
        raise ClusterError(f"{wrong} ({error.strerror or error}); {remedy}") from error
    try:
        tried = subprocess.run(
            [sys.executable, "-c", JOIN, str(address)],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=SECONDS_TO_JOIN, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        raise ClusterError(f"{wrong} within {SECONDS_TO_JOIN} s; {remedy}") from error
    if tried.returncode:
        text = tried.stderr.decode(errors="replace")
        if "AuthenticationError" in text:
            raise ClusterError(
                f"--cluster: the Ray cluster at {address} wants its token; set RAY_AUTH_MODE=token and RAY_AUTH_TOKEN_PATH, "
                "as Ray's documentation says"
            )
        lines = text.strip().splitlines()
        raise ClusterError(f"{wrong} ({lines[-1] if lines else 'it ended'}); {remedy}")
    context = ray.init(address=str(address), log_to_driver=False, logging_level=logging.CRITICAL)
    return str(context.dashboard_url or "")
