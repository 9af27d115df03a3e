"""Starts Ray on this machine or joins a cluster, and starts the workers there."""

from __future__ import annotations

import logging
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import psutil

from schedproof.model.registry.errors import UserError
from schedproof.proofs.exploration.limits import LostWorker

from .address import MOST_LOCAL, Address
from .crew import ClusterError, Ref, RemoteWorkers
from .worker import BATCH, Host, fingerprint

SECONDS_TO_CONNECT, SECONDS_TO_JOIN, SECONDS_TO_START = 5, 30, 90
"""Limits for a connection to an address, for Ray's answer there, and for the start of workers."""

MOST_STARTS = 3
"""A worker is started this often in place of a lost one, if it is lost in its turn before it answers."""

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
    before = signal.getsignal(signal.SIGTERM)
    try:
        if address.host:
            if dashboard := _join(ray, address):
                report(f"Ray's dashboard is at http://{dashboard}")
        else:
            _start(ray, address)
        # Ray has put its own in place. Without any, a process that is terminated leaves some of Ray's behind.
        signal.signal(signal.SIGTERM, _terminated if before is signal.SIG_DFL else before)
        hosts = RayHosts(ray, address, report)
        try:
            yield RemoteWorkers(hosts, report)
        finally:
            hosts.end()
    finally:
        ray.shutdown()
        signal.signal(signal.SIGTERM, before)


def _terminated(number: int, frame: object) -> None:
    """Ends the processes that were started here, and this one at once, as without a handler.

    After ``ray.shutdown`` the exit code would sometimes be Ray's.
    """
    for each in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            each.kill()
    os._exit(128 + number)


def _start(ray: Any, address: Address) -> None:
    """Starts Ray on this machine, reachable from it only."""
    workers = address.workers or min(MOST_LOCAL, len(psutil.Process().cpu_affinity()))
    buckets = 3 * 2 * BATCH * workers * (workers - 1)
    try:
        ray.init(
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
            f"--cluster: Ray does not start on this machine ({_first_line(error)}); see its logs in /tmp/ray"
        ) from error


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


class RayHosts:
    """The workers as Ray's actors; see :class:`.crew.Hosts`.

    Args:
        ray: the module.
        address: where they are.
        report: called with one line when a worker is lost while it starts.

    Raises:
        ClusterError: they do not start in time, or run other code than this process.
        LostWorker: one is lost each time that it is started.
    """

    def __init__(self, ray: Any, address: Address, report: Callable[[str], None] = lambda line: None) -> None:
        self._ray = ray
        self._report = report
        self._kind = ray.remote(num_cpus=1, max_restarts=0, max_task_retries=0)(Host)
        processors = int(ray.cluster_resources().get("CPU", 0))
        self._actors: list[Any] = [None] * max(1, processors)
        self._places = [""] * len(self)
        try:
            self._start(range(len(self)), f"at {address}")
        except BaseException:
            self.end()
            raise

    def _start(self, workers: Sequence[int], where: str) -> None:
        """Starts processes for workers, and again for those that are lost before they answer.

        Raises:
            ClusterError: as :meth:`_check`.
            LostWorker: they are lost each time.
        """
        for left in reversed(range(MOST_STARTS)):
            for n in workers:
                self._kill(
                    self._actors[n]
                )  # one that only does not answer must not write to the files of its successor
                self._actors[n] = self._kind.remote()
            workers = self._check(workers, where)
            if not workers:
                return
            lost = " and ".join(f"worker {n + 1} of {len(self)}" for n in workers)
            if left:
                self._report(f"{lost} was lost while it started: it is replaced")
        raise LostWorker(
            f"{lost} {where} was lost each of the {MOST_STARTS} times that it was started; free memory on its machine, or choose "
            "another cluster"
        )

    def _check(self, workers: Sequence[int], where: str) -> list[int]:
        """Waits until workers have started, and compares their code with that of this process; returns those that were lost.

        Raises:
            ClusterError: they do not start in time, or run other code.
        """
        refs = [self._actors[n].introduction.remote() for n in workers]
        started, missing = self._ray.wait(refs, num_returns=len(refs), timeout=SECONDS_TO_START)
        if missing:
            raise ClusterError(
                f"--cluster: {len(started)} of {len(refs)} workers started {where} within {SECONDS_TO_START} s; "
                "end what else runs there, or choose another cluster"
            )
        lost, codes = [], list[str]()
        for n, ref in zip(workers, refs, strict=True):
            try:
                code, self._places[n] = self._ray.get(ref)
                codes.append(code)
            except self._ray.exceptions.RayError as error:
                if _fails_to_load(self._ray, error):
                    raise ClusterError(
                        f"--cluster: a worker {where} does not start ({_first_line(error)}); "
                        f"install schedproof {_version()} on each machine of the cluster"
                    ) from error
                lost.append(n)
        if different := sum(code != fingerprint() for code in codes):
            raise ClusterError(
                f"--cluster: {different} of {len(codes)} workers {where} run another version of schedproof; "
                f"install schedproof {_version()} on each machine of the cluster"
            )
        return lost

    def __len__(self) -> int:
        return len(self._actors)

    def call(self, worker: int, method: str, *arguments: Any, returns: int = 1) -> list[Ref]:
        """See ``Hosts``."""
        refs = getattr(self._actors[worker], method).options(num_returns=returns).remote(*arguments)
        return [refs] if returns == 1 else list(refs)

    def are_there(self, refs: Sequence[Ref], seconds: float) -> bool:
        """See ``Hosts``."""
        some = list(refs)
        return not some or not self._ray.wait(some, num_returns=len(some), timeout=seconds, fetch_local=False)[1]

    def results(self, refs: Sequence[Ref]) -> list[Any]:
        """See ``Hosts``."""
        lost = self._ray.exceptions.RayError
        try:
            return list(self._ray.get(list(refs)))
        except self._ray.exceptions.RayTaskError as error:
            # What a worker raised; if that is an error of Ray, a worker on which it waited was lost.
            if isinstance(error.cause, lost):
                raise self._lost(error.cause) from error
            raise error.cause from error
        except lost as error:
            raise self._lost(error) from error

    def _lost(self, error: Exception) -> LostWorker:
        lost = [n for n, actor in enumerate(self._actors) if not self._lives(actor)]
        if not lost:
            return LostWorker(f"the cluster failed ({_first_line(error)})")
        return self._lost_one(lost, error)

    def _lost_one(self, lost: Sequence[int], error: Exception) -> LostWorker:
        which = " and ".join(f"worker {n + 1} of {len(self)} ({self._places[n]})" for n in lost)
        why = "ran out of memory" if isinstance(error, self._ray.exceptions.OutOfMemoryError) else "was lost"
        return LostWorker(f"{which} {why}")

    def _lives(self, actor: Any) -> bool:
        try:
            self._ray.get(actor.fingerprint.remote(), timeout=SECONDS_TO_START)
        except self._ray.exceptions.RayError:
            return False
        return True

    def replace_lost(self) -> None:
        """See ``Hosts``."""
        for n, actor in enumerate(self._actors):
            if not self._lives(actor):
                self.replace(n)

    def replace(self, worker: int) -> None:
        """See :class:`.team.TaskHosts`."""
        self._start([worker], "in place of a lost one")

    def places(self) -> list[str]:
        """See ``Hosts``."""
        return list(self._places)

    def ready(self, refs: Sequence[Ref]) -> list[int]:
        """See :class:`.team.TaskHosts`."""
        ready = set(self._ray.wait(list(refs), num_returns=1, timeout=None)[0])
        return [n for n, ref in enumerate(refs) if ref in ready]

    def outcome(self, worker: int, ref: Ref) -> Any:
        """See :class:`.team.TaskHosts`."""
        try:
            return self._ray.get(ref)
        except self._ray.exceptions.RayTaskError as error:
            raise error.cause from error
        except self._ray.exceptions.RayError as error:
            raise self._lost_one([worker], error) from error

    def end(self) -> None:
        """Ends the workers."""
        for actor in self._actors if self._ray.is_initialized() else ():
            self._kill(actor)

    def _kill(self, actor: Any) -> None:
        with suppress(Exception):  # it may be lost, and the cluster too
            self._ray.kill(actor)


def _fails_to_load(ray: Any, error: Exception) -> bool:
    """Whether a worker raised this because it cannot load its code; otherwise its process was lost."""
    return isinstance(error, ray.exceptions.RayTaskError) or getattr(error, "actor_init_failed", False)


def _version() -> str:
    from schedproof import __version__

    return __version__


def _first_line(error: BaseException) -> str:
    """The first line of a message of Ray, which has many."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".:; ")
