"""Jobmon's server on one store with a clock that is set by hand, and short ways to bring it somewhere (for tests)."""

from __future__ import annotations

import math
from dataclasses import replace

from schedproof.impl.store import Store
from schedproof.impl.systems.jobmon import requests as ask
from schedproof.impl.systems.jobmon.errors import Refused
from schedproof.impl.systems.jobmon.records import InstanceState, Leases, RunState, TaskInstance
from schedproof.impl.systems.jobmon.requests import Report, Request, TaskSpec
from schedproof.impl.systems.jobmon.server import Asks, Server

LEASE = 10.0
WAY = (RunState.LINKING, RunState.BOUND, RunState.INSTANTIATED, RunState.LAUNCHED, RunState.RUNNING)


def answer(server: Asks, request: Request) -> Report | dict[str, object]:
    """A report, or all that a refusal says."""
    try:
        return server.ask(request)
    except Refused as refused:
        return vars(refused)


class Bench:
    """Instance ``i`` is claimed by distributor "d" under token "t<i>", and launched as job "j<i>", which runs it."""

    def __init__(self, store: Store, server: type[Server] = Server) -> None:
        self.store = store
        self.time = 0.0
        self._kind = server
        self.start_server(-math.inf)

    def start_server(self, at: float | None = None) -> None:
        """It is started at that time, or now; if there was one, that is dead."""
        self.server = self._kind(self.store, clock=lambda: self.time, leases=Leases(LEASE, LEASE), started=at)

    @classmethod
    def at(cls, store: Store, state: str) -> Bench:
        """The first instance of a task is in a state."""
        bench = cls(store)
        bench.register()
        bench.run()
        bench.queue()
        bench.bring(1, state)
        return bench

    def ask(self, request: Request) -> Report:
        return self.server.ask(request)

    def outcome(self, request: Request) -> str:
        """What it did, in words that say nothing of when."""
        try:
            report = self.ask(request)
        except Refused as refused:
            return f"refused ({refused.state}): {refused.reason}"
        return f"{report.request}: {'changed' if report.changed else 'as it was'}"

    def register(self, *tasks: TaskSpec, name: str = "w") -> int:
        """A workflow; with a task "a" of two attempts if none is given."""
        report = self.ask(ask.Register(name, tasks or (TaskSpec("a", "true", max_attempts=2),)))
        assert report.workflow is not None
        return report.workflow.id

    def run(self, workflow: int = 1, token: str = "one", to: RunState = RunState.RUNNING, *, cold: bool = True) -> int:
        """A new run that is brought to a state."""
        run = self.ask(ask.CreateRun(workflow, token, cold)).runs[0].id
        for state in WAY[: WAY.index(to) + 1] if to in WAY else ():
            self.ask(ask.AdvanceRun(run, state))
        return run

    def queue(self, run: int = 1, task: int = 1, **more: object) -> int:
        """The next attempt at a task."""
        attempt = self.store.snapshot().tasks[task - 1].num_attempts + 1
        return self.ask(ask.QueueTask(run, task, attempt, **more)).instances[0].id  # type: ignore[arg-type]

    def bring(self, i: int, to: str) -> None:
        """A queued instance comes to a state.

        Nothing is asked of the server twice, or when it may not be.
        """
        ways: dict[str, list[Request]] = {
            "Q": [],
            "I": [ask.Claim(i, "d", f"t{i}")],
            "O": [ask.Launched(i, f"t{i}", f"j{i}")],
            "R": [ask.Start(i, f"j{i}")],
            "D": [ask.End(i, f"j{i}", InstanceState.DONE)],
            "E": [ask.End(i, f"j{i}", InstanceState.ERROR)],
            "Z": [ask.End(i, f"j{i}", InstanceState.RESOURCE_ERROR)],
            "T": [ask.Lapse(i)],
            "X": [ask.Lapse(i)],
            "U": [ask.Fence(i), ask.JobOver(i, InstanceState.TRIAGING)],
            "W": [ask.SubmissionFailed(i, f"t{i}")],
        }
        before = {"I": "Q", "O": "I", "R": "O", "D": "R", "E": "R", "Z": "R", "T": "R", "X": "O", "U": "T", "W": "I"}
        if to in before:
            self.bring(i, before[to])
        if to in ("T", "X"):
            self.let_lapse(i)
        for request in ways[to]:
            self.ask(request)

    def let_lapse(self, i: int) -> None:
        """The lease of an instance runs out, and that of no other one."""
        self._change(i, report_by_date=self.time)

    def doom(self, i: int) -> None:
        """As if its run were asked to make room, but its run goes on."""
        self._change(i, doomed=True)

    def _change(self, i: int, **columns: object) -> None:
        with self.store.transaction() as transaction:
            instance = transaction.get(TaskInstance, i)
            assert instance is not None
            if getattr(instance, next(iter(columns))) != next(iter(columns.values())):
                transaction.update(instance, replace(instance, **columns))  # type: ignore[arg-type]

    # Reading it.

    def instances(self) -> str:
        """The states of all instances."""
        return "".join(i.status for i in self.store.snapshot().instances)

    def tasks(self) -> str:
        """The states of all tasks."""
        return "".join(t.status for t in self.store.snapshot().tasks)

    def runs(self) -> str:
        """The states of all runs."""
        return "".join(r.status for r in self.store.snapshot().runs)

    def workflow(self) -> str:
        """The state of the first workflow."""
        return str(self.store.snapshot().workflows[0].status)

    def audits(self, task: int = 1) -> str:
        """The states that a task went through, as they are noted."""
        return "".join(a.new_status for a in self.store.snapshot().audits if a.task_id == task)
