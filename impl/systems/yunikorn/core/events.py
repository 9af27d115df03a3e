"""The effects of one operation outside the core's records: messages to the RM, and timers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from schedproof.impl.scheduler_interface import Response

from .records import World

STARTING_TIMEOUT = 5 * 60.0
COMPLETING_TIMEOUT = 30.0
TRACKING_TIME = 3 * 24 * 3600.0
"""How long the core keeps the record of an application that has ended, in seconds."""
GANG_TIMEOUT = 15 * 60.0
LONGEST_TIMEOUT = 2**63 / 10**9
"""The longest duration in nanoseconds that fits 64 bits, in seconds; a gang that asks for more gets the default."""
QUEUE_SWEEP = 10.0
APPLICATION_SWEEP = 24 * 3600.0
"""In seconds (F 1.3)."""


class Kind(StrEnum):
    """The kind of a timer (F 1.3)."""

    STATE = "state"
    """Ends Starting or Completing, or deletes the record of an application that has ended."""
    GANG = "gang"
    QUEUES = "queue sweep"
    APPLICATIONS = "application sweep"


@dataclass(frozen=True)
class Wakeup:
    """The identity of a timer, and what it delivers when it runs out.

    ``serial`` numbers the stay for which it was armed, so that the core recognises one of an earlier stay.
    """

    kind: Kind
    application: int = 0
    serial: int = 0


class Outbox:
    """The messages of one operation, in order, and the timers that it arms and stops."""

    def __init__(self) -> None:
        self.responses: list[Response] = []
        self.armed: dict[Wakeup, float] = {}
        self.stopped: list[Wakeup] = []

    def send(self, response: Response) -> None:
        """Adds a message to the RM."""
        self.responses.append(response)

    def arm(self, wakeup: Wakeup, seconds: float) -> None:
        """Arms a timer at the end of the operation."""
        self.armed[wakeup] = seconds

    def repeat(self, wakeup: Wakeup, seconds: float) -> None:
        """Arms a periodic timer anew, also if it was called before its time."""
        self.stopped.append(wakeup)
        self.armed[wakeup] = seconds

    def stop(self, wakeup: Wakeup) -> None:
        """Stops a timer at the end of the operation."""
        if self.armed.pop(wakeup, None) is None:
            self.stopped.append(wakeup)


def armed(world: World) -> list[Wakeup]:
    """Returns the timers that, by the records of ``world``, are armed or have run out and are not delivered."""
    wakeups = [] if world.rm is None else [Wakeup(Kind.QUEUES), Wakeup(Kind.APPLICATIONS)]
    for application in (*world.applications, *world.tracked):
        if application.state_timer is not None:
            wakeups.append(Wakeup(Kind.STATE, application.serial, application.state_timer))
        if application.gang_timer is not None:
            wakeups.append(Wakeup(Kind.GANG, application.serial, application.gang_timer))
    return wakeups
