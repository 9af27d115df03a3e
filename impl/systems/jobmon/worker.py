"""The worker: a job's wrapper around its command.

Every attempt starts one, so this module imports no module that is slow to load.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from . import requests as ask
from .agent import asked
from .cluster import Commands, Ending, Granted
from .errors import Refused
from .records import FINAL, InstanceState
from .requests import Report
from .server import Asks

REPORTED = {
    Ending.DONE: InstanceState.DONE,
    Ending.ERROR: InstanceState.ERROR,
    Ending.RESOURCE_ERROR: InstanceState.RESOURCE_ERROR,
}


class Stage(StrEnum):
    """What a worker does next."""

    ASK = "ask to start"
    START = "start the command"
    WATCH = "look how the command is"
    RENEW = "renew before a report"
    REPORT = "report the end"
    KILL = "kill the command"
    SAY_KILLED = "say that it is killed"
    OVER = "over"


@dataclass(frozen=True)
class WorkerMemory:
    """All that a worker remembers.

    Attributes:
        fenced: the worker has lost control, so the command is to be killed.
        killed: the command is killed, because the instance was doomed.
    """

    stage: Stage = Stage.ASK
    granted: Granted | None = None
    ending: Ending | None = None
    fenced: bool = False
    killed: bool = False
    over: str | None = None


class Worker:
    """Runs the command of one instance, if the server lets it; ``identity`` is the job that the worker belongs to."""

    def __init__(self, server: Asks, commands: Commands, instance: int, identity: str) -> None:
        self._server = server
        self._commands = commands
        self._instance = instance
        self._identity = identity
        self.memory = WorkerMemory()

    @property
    def over(self) -> str | None:
        """How the worker ended; None while it goes on."""
        return self.memory.over

    def choices(self) -> int:
        """Returns 1: a worker has no choice."""
        return 1

    def heartbeat(self) -> str | None:
        """Renews the lease while the command may act.

        If the instance is doomed or lost, the worker kills the command next.
        """
        if self.memory.stage not in (Stage.START, Stage.WATCH):
            return None
        self._renew(then=self.memory.stage)
        return "renew instance"

    def step(self, choice: int = 0) -> str | None:
        """Sends one request, or does one act on the command."""
        stage = self.memory.stage
        match stage:
            case Stage.ASK:
                return self._ask()
            case Stage.START:
                assert self.memory.granted is not None
                self._commands.start(self.memory.granted)
                self._remember(stage=Stage.WATCH)
            case Stage.WATCH:
                ending = self._commands.ending()
                if ending is None:
                    return None
                self._remember(stage=Stage.RENEW, ending=ending)
            case Stage.RENEW:
                if not self._renew(then=Stage.SAY_KILLED if self.memory.killed else Stage.REPORT):
                    return None
            case Stage.REPORT:
                self._report()
            case Stage.KILL:
                ended = None if self.memory.fenced else self._commands.ending()
                if ended is not None:  # it ended by itself, before it could be killed
                    self._remember(stage=Stage.RENEW, ending=ended)
                    return str(stage)
                self._commands.kill()
                if self.memory.fenced:
                    self._end("lost control")
                else:
                    self._remember(stage=Stage.SAY_KILLED, killed=True)
            case Stage.SAY_KILLED:
                self._say_killed()
            case Stage.OVER:
                return None
        return str(stage)

    def _ask(self) -> str | None:
        answer = asked(self._server, ask.Start(self._instance, self._identity))
        if isinstance(answer, Report):
            it, task = answer.instances[0], answer.tasks[0]
            following = Stage.KILL if it.doomed else Stage.START
            self._remember(stage=following, granted=Granted(it.id, task.command, it.resources))
        elif answer.for_good:
            self._end(f"not started: {answer.reason}")
        else:
            return None
        return str(Stage.ASK)

    def _renew(self, then: Stage) -> bool:
        """Renews the lease, and goes on with ``then``, or with the kill.

        Returns:
            False if the worker has to wait.
        """
        answer = asked(self._server, ask.RenewInstance(self._instance, self._identity))
        if isinstance(answer, Refused):
            self._remember(stage=Stage.KILL, fenced=True)
        elif answer.instances[0].doomed and self.memory.ending is None and not self.memory.killed:
            self._remember(stage=Stage.KILL)
        elif then in (Stage.REPORT, Stage.SAY_KILLED) and answer.instances[0].status is InstanceState.TRIAGING:
            return False  # the lease is renewed; it waits until a distributor hands back control
        else:
            self._remember(stage=then)
        return True

    def _report(self) -> None:
        assert self.memory.ending is not None
        answer = asked(self._server, ask.End(self._instance, self._identity, REPORTED[self.memory.ending]))
        if isinstance(answer, Report):
            self._end(str(self.memory.ending))
        elif _is_final(answer):
            self._end("lost control")
        else:
            self._remember(stage=Stage.RENEW)

    def _say_killed(self) -> None:
        answer = asked(self._server, ask.Killed(self._instance, self._identity))
        if isinstance(answer, Refused) and not _is_final(answer):
            self._remember(stage=Stage.RENEW)  # it was triaged meanwhile
        else:
            self._end("killed")

    def _end(self, why: str) -> None:
        self._remember(stage=Stage.OVER, over=why)

    def _remember(self, **changes: object) -> None:
        self.memory = replace(self.memory, **changes)  # type: ignore[arg-type]


def _is_final(refused: Refused) -> bool:
    return refused.state in set(FINAL)
