"""Workers without Ray: the objects are in this process, and what travels is pickled."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from schedproof.proofs.cluster.worker import Host
from schedproof.proofs.exploration.limits import LostWorker


@dataclass(frozen=True)
class Failure:
    """What stands for a result that was not reached."""

    error: Exception


class LocalHosts:
    """Workers that are lost at given calls.

    Args:
        workers: how many.
        lost_at: the numbers of calls at which the called worker is lost.
    """

    def __init__(self, workers: int, lost_at: Sequence[int] = ()) -> None:
        self._hosts: list[Host | None] = [Host() for _ in range(workers)]
        self._lost_at = set(lost_at)
        self.calls = self.replaced = 0

    def __len__(self) -> int:
        return len(self._hosts)

    def call(self, worker: int, method: str, *arguments: Any, returns: int = 1) -> list[Any]:
        """Calls at once, and keeps the results or the error."""
        self.calls += 1
        if self.calls in self._lost_at:
            self._hosts[worker] = None
        host = self._hosts[worker]
        if host is None:
            return [Failure(LostWorker(f"worker {worker + 1} of {len(self)} was lost"))] * returns
        if failed := [each for each in arguments if isinstance(each, Failure)]:
            return failed[:1] * returns
        try:
            result = getattr(host, method)(*map(_sent, arguments))
        except Exception as error:
            return [Failure(error)] * returns
        return [_sent(result)] if returns == 1 else [_sent(each) for each in result]

    def are_there(self, refs: Sequence[Any], seconds: float) -> bool:
        """They are: a call is done at once."""
        return True

    def results(self, refs: Sequence[Any]) -> list[Any]:
        """Returns the results, or raises the first error."""
        for ref in refs:
            if isinstance(ref, Failure):
                raise ref.error
        return list(refs)

    def places(self) -> list[str]:
        """All are in this process."""
        return ["here"] * len(self)

    def replace_lost(self) -> None:
        """Puts new workers in place of those that are lost."""
        for n, host in enumerate(self._hosts):
            if host is None:
                self._hosts[n] = Host()
                self.replaced += 1

    def ready(self, refs: Sequence[Any]) -> list[int]:
        """The last one only: workers need not end in their order."""
        return [len(refs) - 1]

    def outcome(self, worker: int, ref: Any) -> Any:
        """The result, or the error."""
        return self.results([ref])[0]

    def replace(self, worker: int) -> None:
        """Puts a new worker in place of one."""
        self._hosts[worker] = Host()
        self.replaced += 1

    def searches(self, worker: int) -> list[int]:
        """The searches of which a worker has states."""
        host = self._hosts[worker]
        return [] if host is None else list(host._searches)


def _sent(value: Any) -> Any:
    """A copy as it arrives: arrays of Ray cannot be written."""
    return _frozen(pickle.loads(pickle.dumps(value)))


def _frozen(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        value.flags.writeable = False
    elif isinstance(value, tuple):
        for each in value:
            _frozen(each)
    return value
