"""The server: every request is one transaction on the store. The server itself keeps only the time when it started.

It can be stopped between any two transactions and started again. An agent that got no answer sends its request again.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol, assert_never

from schedproof.impl.store import Store

from . import requests as asked
from .draft import Draft
from .instance_requests import InstanceRequests
from .records import Leases, Records
from .requests import Report, Request
from .run_requests import RunRequests

Clock = Callable[[], float]

Observer = Callable[[Request, Report], None]
"""Called with each request that was not refused, after its transaction has ended."""


class Asks(Protocol):
    """The server as agents see it: a direct call, or a connection to its process."""

    def ask(self, request: Request) -> Report:
        """Sends a request, and returns the server's report.

        Raises:
            Refused: nothing is changed.
            Unreachable: it is unknown whether the request was carried out.
        """


class Server(RunRequests, InstanceRequests):
    """Checks requests against ``store``, in the same transaction. Several servers may work on one store.

    Args:
        store: keeps the records.
        clock: the time in seconds.
        leases: how long clients and workers count as alive without a heartbeat.
        observer: see :data:`Observer`.
        started: when the server started, by ``clock``; now by default. For the reaper, a lease counts as renewed at
            that time.
    """

    def __init__(
        self,
        store: Store[Records],
        *,
        clock: Clock = time.time,
        leases: Leases = Leases(),  # noqa: B008 - it is frozen
        observer: Observer | None = None,
        started: float | None = None,
    ) -> None:
        self.store = store
        self._observer = observer
        self._clock = clock
        self._leases = leases
        self._started = clock() if started is None else started

    def ask(self, request: Request) -> Report:
        """Carries out a request in one transaction, and starts again if another transaction interferes.

        Raises:
            Refused: nothing is changed.
            Contended: other transactions interfered every time.
            StoreError: the store cannot be used.
        """
        report = self.store.transact(
            lambda t: self._check(Draft(t, self._clock(), self._leases, self._started), request)
        )
        if self._observer is not None:
            self._observer(request, report)
        return report

    def _check(self, draft: Draft, request: Request) -> Report:
        match request:
            case asked.Register():
                return self.register(draft, request)
            case asked.CreateRun():
                return self.create_run(draft, request)
            case asked.AdvanceRun():
                return self.advance_run(draft, request)
            case asked.RenewRun():
                return self.renew_run(draft, request)
            case asked.QueueTask():
                return self.queue_task(draft, request)
            case asked.FinishRun():
                return self.finish_run(draft, request)
            case asked.AskResume():
                return self.ask_resume(draft, request)
            case asked.WindUp():
                return self.wind_up(draft, request)
            case asked.Clear():
                return self.clear(draft, request)
            case asked.ReadWorkflow():
                return self.read_workflow(draft, request)
            case asked.ReadRun():
                return self.read_run(draft, request)
            case asked.FindWork():
                return self.find_work(draft, request)
            case asked.Claim():
                return self.claim(draft, request)
            case asked.Launched():
                return self.launched(draft, request)
            case asked.SubmissionFailed():
                return self.submission_failed(draft, request)
            case asked.GiveUp():
                return self.give_up(draft, request)
            case asked.RenewLaunched():
                return self.renew_launched(draft, request)
            case asked.Fence():
                return self.fence(draft, request)
            case asked.JobOver():
                return self.job_over(draft, request)
            case asked.HandBack():
                return self.hand_back(draft, request)
            case asked.Start():
                return self.start(draft, request)
            case asked.RenewInstance():
                return self.renew_instance(draft, request)
            case asked.End():
                return self.end(draft, request)
            case asked.Killed():
                return self.killed(draft, request)
            case asked.Lapse():
                return self.lapse(draft, request)
            case asked.FindDead():
                return self.find_dead(draft, request)
            case asked.ReapRun():
                return self.reap_run(draft, request)
        assert_never(request)
