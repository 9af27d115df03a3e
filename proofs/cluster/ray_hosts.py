"""The processes of the workers, as Ray's actors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from schedproof.proofs.exploration.limits import LostWorker

from .address import Address
from .crew import ClusterError, Ref
from .worker import Host, fingerprint

SECONDS_TO_START = 90
"""The limit for the start of workers. A cluster that starts machines when they are needed has this time."""

MOST_STARTS = 3
"""A worker is started this often, if it is lost before it answers."""


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
            if missing := self._start(range(len(self)), f"at {address}"):
                raise ClusterError(
                    f"--cluster: {len(self) - len(missing)} of {len(self)} workers started at {address} within {SECONDS_TO_START} s; "
                    "end what else runs there, or choose another cluster"
                )
        except BaseException:
            self.end()
            raise

    def _start(self, workers: Sequence[int], where: str, *, processors: int = 1) -> list[int]:
        """Starts processes for workers, and again for those that are lost before they answer.

        Args:
            processors: to keep for each of them.

        Returns:
            Those that did not start in time, because no processor is free.

        Raises:
            ClusterError: as :meth:`_check`.
            LostWorker: they are lost each time.
        """
        waiting: list[int] = []
        for left in reversed(range(MOST_STARTS)):
            for n in workers:
                # One that only does not answer must not write to the files of its successor.
                self._kill(self._actors[n])
                self._actors[n] = self._kind.options(num_cpus=processors).remote()
            workers, missing = self._check(workers, where)
            waiting += missing
            if not workers:
                return waiting
            lost = " and ".join(f"worker {n + 1} of {len(self)}" for n in workers)
            if left:
                self._report(f"{lost} was lost while it started: it is replaced")
        raise LostWorker(
            f"{lost} {where} was lost each of the {MOST_STARTS} times that it was started; free memory on its machine, or choose "
            "another cluster"
        )

    def _check(self, workers: Sequence[int], where: str) -> tuple[list[int], list[int]]:
        """Waits until workers have started, and compares their code with that of this process.

        Returns:
            Those that were lost, and those that did not start in time.

        Raises:
            ClusterError: they run other code.
        """
        refs = [self._actors[n].introduction.remote() for n in workers]
        started = self._ray.wait(refs, num_returns=len(refs), timeout=SECONDS_TO_START)[0]
        lost, missing, codes = list[int](), list[int](), list[str]()
        for n, ref in zip(workers, refs, strict=True):
            if ref not in started:
                missing.append(n)
                continue
            try:
                code, self._places[n] = self._ray.get(ref)
                codes.append(code)
            except self._ray.exceptions.RayError as error:
                if _fails_to_load(self._ray, error):
                    raise ClusterError(
                        f"--cluster: a worker {where} does not start ({first_line(error)}); "
                        f"install schedproof {_version()} on each machine of the cluster"
                    ) from error
                lost.append(n)
        if different := sum(code != fingerprint() for code in codes):
            raise ClusterError(
                f"--cluster: {different} of {len(codes)} workers {where} run another version of schedproof; "
                f"install schedproof {_version()} on each machine of the cluster"
            )
        return lost, missing

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
            return LostWorker(f"the cluster failed ({first_line(error)})")
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
        self._replace([n for n, actor in enumerate(self._actors) if not self._lives(actor)])

    def replace(self, worker: int) -> None:
        """See :class:`.team.TaskHosts`."""
        self._replace([worker])

    def _replace(self, workers: Sequence[int]) -> None:
        """Starts processes in place of lost ones. If a machine was lost, another one may take its place in time; otherwise they share.

        Raises:
            ClusterError, LostWorker: as :meth:`_start`; or they do not start at all.
        """
        where = "in place of a lost one"
        missing = self._start(workers, where)
        if not missing:
            return
        each = " and ".join(f"worker {n + 1} of {len(self)}" for n in missing)
        self._report(f"no processor was free for {each} within {SECONDS_TO_START} s: it shares one with another worker")
        if self._start(missing, where, processors=0):
            raise ClusterError(
                f"--cluster: {each} did not start {where} within {SECONDS_TO_START} s; see whether the cluster's machines run"
            )

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


def first_line(error: BaseException) -> str:
    """The first line of a message of Ray, which has many."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".:; ")
