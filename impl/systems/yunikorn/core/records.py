"""The core's records, as plain values. None is durable: a crash loses all, and recovery rebuilds them.

D: a line of the document; F: a section of the facts.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache

from schedproof.impl.hashed import hashed_once
from schedproof.impl.scheduler_interface import GangStyle, PlacementRule, SortPolicy, TerminationType


class State(StrEnum):
    """The states of an application (D18-27; Resuming: F 1)."""

    NEW = "New"
    ACCEPTED = "Accepted"
    STARTING = "Starting"
    RUNNING = "Running"
    COMPLETING = "Completing"
    COMPLETED = "Completed"
    EXPIRED = "Expired"
    FAILING = "Failing"
    FAILED = "Failed"
    REJECTED = "Rejected"
    RESUMING = "Resuming"


SCHEDULED = frozenset({State.ACCEPTED, State.STARTING, State.RUNNING})
"""The states that are part of the scheduling cycle (D19-21)."""

ENDED = frozenset({State.COMPLETED, State.EXPIRED, State.FAILED, State.REJECTED})
"""The states in which only the application's record is left."""


class ObjectState(StrEnum):
    """The states of a queue or a partition (D49-51)."""

    ACTIVE = "Active"
    STOPPED = "Stopped"
    DRAINING = "Draining"


class Status(StrEnum):
    """The progress of an allocation."""

    SWAPPING = "swapping"
    """Waits for the end of the placeholder that it replaces. It is not confirmed, so it is no allocation yet."""
    ALLOCATED = "allocated"
    RELEASING = "releasing"
    """The RM has been asked to end it, and has not answered."""


@dataclass(frozen=True)
class LogEntry:
    """A state that an application has entered, and when (ns)."""

    state: State
    time: int


@dataclass(frozen=True)
class Application:
    """An application. Names can be used again; ``serial`` numbers cannot.

    ``queue`` is its leaf queue, empty if it never got one. ``real`` and ``reserved`` are the amounts of its real
    allocations and of its placeholders.

    ``state_timer`` and ``gang_timer`` number its armed timers. A wakeup with another number comes from an earlier
    stay, and has no effect (D23).
    """

    name: str
    serial: int
    partition: str
    queue: str
    user: str
    gang_style: GangStyle
    placeholders: int
    gang_timeout: float
    starting_timeout: bool
    state: State = State.NEW
    state_timer: int | None = None
    gang_timer: int | None = None
    real: int = 0
    reserved: int = 0
    reason: str = ""
    log: tuple[LogEntry, ...] = field(default=(), compare=False)


@dataclass(frozen=True)
class Ask:
    """A listed ask; ``pending`` until it is allocated or a swap for it begins. It stays listed after that."""

    name: str
    serial: int
    application: str
    amount: int
    placeholder: bool
    task_group: str
    required_node: str | None
    pending: bool = True


@dataclass(frozen=True)
class Allocation:
    """An allocation, named by its ask. ``replaces`` is the placeholder of a swap, until the placeholder ends.

    A swap on another node than the placeholder's is ``held``: it occupies its room there from the start.
    """

    name: str
    application: str
    node: str
    amount: int
    placeholder: bool
    task_group: str
    status: Status = Status.ALLOCATED
    termination: TerminationType | None = None
    replaces: str | None = None
    held: bool = False

    @property
    def confirmed(self) -> bool:
        """Whether it counts as an allocation."""
        return self.status is not Status.SWAPPING


@lru_cache(1 << 12)
def _above(queue: str) -> str:
    return queue.rpartition(".")[0]


@dataclass(frozen=True)
class Queue:
    """A queue; ``managed`` if it comes from the configuration, otherwise a placement rule created it."""

    name: str
    partition: str
    managed: bool
    leaf: bool
    maximum: int | None
    sort_policy: SortPolicy
    submitters: frozenset[str] | None
    state: ObjectState = ObjectState.ACTIVE
    allocated: int = 0

    @property
    def parent(self) -> str:
        """The full name of the queue above; empty for the root."""
        return _above(self.name)


@dataclass(frozen=True)
class Partition:
    """A partition."""

    name: str
    rules: tuple[PlacementRule, ...]
    state: ObjectState = ObjectState.ACTIVE


@dataclass(frozen=True)
class Node:
    """A node; ``allocated`` includes what swaps from other nodes hold on it."""

    name: str
    partition: str
    capacity: int
    occupied: int = 0
    allocated: int = 0
    schedulable: bool = True

    @property
    def available(self) -> int:
        """The amount that can still be allocated."""
        return self.capacity - self.occupied - self.allocated


@hashed_once
@dataclass(frozen=True)
class World:
    """All records at one moment, each kind in the order of names or numbers.

    ``applications`` are those that the RM can name; ``tracked`` are those that have ended or that the RM has removed.
    ``serial`` is the last number given.
    """

    rm: str | None = None
    partitions: tuple[Partition, ...] = ()
    queues: tuple[Queue, ...] = ()
    nodes: tuple[Node, ...] = ()
    applications: tuple[Application, ...] = ()
    tracked: tuple[Application, ...] = ()
    asks: tuple[Ask, ...] = ()
    allocations: tuple[Allocation, ...] = ()
    serial: int = 0
