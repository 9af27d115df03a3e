"""What a piece of work leads to outside of the core's records: messages to the RM, and timers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from schedproof.impl.scheduler_interface import Response

from .records import World

STARTING_TIMEOUT = 5 * 60.0
COMPLETING_TIMEOUT = 30.0
TRACKING_TIME = 3 * 24 * 3600.0
"""How long the record of an application that has ended is kept."""
GANG_TIMEOUT = 15 * 60.0
LONGEST_TIMEOUT = 2**63 / 10**9
"""What a duration in nanoseconds can hold; a gang that asks for more has the default."""
QUEUE_SWEEP = 10.0
APPLICATION_SWEEP = 24 * 3600.0
"""In seconds (F 1.3)."""


class Kind(StrEnum):
    """What a timer is for (F 1.3)."""

    STATE = "state"
    """The time of a state is over: Starting, Completing, or the tracking of what has ended."""
    GANG = "gang"
    QUEUES = "queue sweep"
    APPLICATIONS = "application sweep"


@dataclass(frozen=True)
class Wakeup:
    """A timer's name, and what it brings when it comes.

    ``serial`` numbers the stay for which it was armed, so that one of an earlier stay is known as such.
    """

    kind: Kind
    application: int = 0
    serial: int = 0


class Outbox:
    """What one piece of work has to say, in order, and the timers that it arms and stops."""

    def __init__(self) -> None:
        self.responses: list[Response] = []
        self.armed: dict[Wakeup, float] = {}
        self.stopped: list[Wakeup] = []

    def say(self, response: Response) -> None:
        """One more message to the RM."""
        self.responses.append(response)

    def arm(self, wakeup: Wakeup, seconds: float) -> None:
        """A timer is armed when the work is done."""
        self.armed[wakeup] = seconds

    def repeat(self, wakeup: Wakeup, seconds: float) -> None:
        """A timer begins anew, also if it has been called before its time."""
        self.stopped.append(wakeup)
        self.armed[wakeup] = seconds

    def stop(self, wakeup: Wakeup) -> None:
        """A timer is stopped when the work is done."""
        if self.armed.pop(wakeup, None) is None:
            self.stopped.append(wakeup)


def armed(world: World) -> list[Wakeup]:
    """The timers that are armed, or have run out and are on their way, by the records of ``world``."""
    wakeups = [] if world.rm is None else [Wakeup(Kind.QUEUES), Wakeup(Kind.APPLICATIONS)]
    for application in (*world.applications, *world.tracked):
        if application.state_timer is not None:
            wakeups.append(Wakeup(Kind.STATE, application.serial, application.state_timer))
        if application.gang_timer is not None:
            wakeups.append(Wakeup(Kind.GANG, application.serial, application.gang_timer))
    return wakeups
