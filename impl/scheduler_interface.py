"""What passes between a resource manager (RM, the shim) and the core: the scheduler interface, in plain values.

A *request* goes from the RM to the core, a *response* from the core to the RM. A response may come
without a request: a timer has run out, or the scheduler has placed something. All are frozen
dataclasses of plain values, so that they can be kept, compared, hashed and put on any channel.

Names (of applications, asks, nodes) are the RM's, and unique in the core. Since an ask has at most one
allocation (repeat count 1), an allocation is named by its ask. Amounts are of one resource, in whole units.
D: the document's line; F: the facts' section.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum, StrEnum


class TerminationType(IntEnum):
    """Why an allocation or an ask ends, with the numbers of the interface (F 7)."""

    UNKNOWN = 0
    STOPPED_BY_RM = 1
    TIMEOUT = 2
    PREEMPTED_BY_SCHEDULER = 3
    PLACEHOLDER_REPLACED = 4


class GangStyle(StrEnum):
    """What becomes of an application whose gang is not there in time (F 1.2)."""

    SOFT = "Soft"
    HARD = "Hard"


class NodeAction(IntEnum):
    """What the RM says of a node that the core knows, with the numbers of the interface (F 3)."""

    DRAIN_NODE = 3
    DECOMMISSION = 4
    DRAIN_TO_SCHEDULABLE = 5


class Control(StrEnum):
    """The events of queues and partitions (D57-59)."""

    START = "Start"
    STOP = "Stop"
    REMOVE = "Remove"


# The configuration.


class SortPolicy(StrEnum):
    """How a leaf queue sorts its applications; a gang needs one of the first two (F 1.2)."""

    FIFO = "fifo"
    STATE_AWARE = "stateaware"
    FAIR = "fair"


ROOT = "root"
"""The name of every partition's root queue; the names of the others begin with it."""


@dataclass(frozen=True)
class QueueSpec:
    """A queue of the configuration; one with ``children`` or ``parent`` is no leaf.

    ``maximum`` bounds what is allocated in the queue and below, None is no bound. ``submitters`` may
    submit applications to it and below (the submit ACL); None says nothing about it, and where nothing
    is said all users may.
    """

    name: str
    children: tuple[QueueSpec, ...] = ()
    parent: bool = False
    maximum: int | None = None
    sort_policy: SortPolicy = SortPolicy.FIFO
    submitters: frozenset[str] | None = None


class RuleKind(StrEnum):
    """Where a placement rule looks for a queue."""

    PROVIDED = "provided"
    """The queue that the application names."""
    USER = "user"
    """A queue named by the user, below the rule's ``value`` (``root.users``, say)."""
    FIXED = "fixed"
    """The queue named by the rule's ``value``."""


@dataclass(frozen=True)
class PlacementRule:
    """One rule of placement; with ``create`` it creates the queue if it is not there, as a dynamic one."""

    kind: RuleKind
    create: bool = False
    value: str = "root"


@dataclass(frozen=True)
class PartitionSpec:
    """A partition of the configuration. Without ``rules``, an application must name an existing leaf queue."""

    name: str = "default"
    root: QueueSpec = QueueSpec("root", (QueueSpec("default"),))
    rules: tuple[PlacementRule, ...] = ()


# Requests.


@dataclass(frozen=True)
class RegisterRM:
    """The RM makes itself known; the first request after a start of the core.

    Answered by RMAccepted or RMRejected. A RM that registers again under its name has lost its memory, and is told
    again which nodes and allocations there are; its ``partitions`` are not read then. Another one is refused.
    """

    rm: str = "k8s"
    partitions: tuple[PartitionSpec, ...] = (PartitionSpec(),)


@dataclass(frozen=True)
class UpdateConfiguration:
    """A new configuration. What is missing in it is removed, as with Control.REMOVE; what is new is added.

    Answered by ConfigurationAccepted or ConfigurationRejected; the latter changes nothing.
    """

    partitions: tuple[PartitionSpec, ...]


@dataclass(frozen=True)
class ControlObject:
    """Starts, stops or removes a queue (full name, like ``root.a``) or, without one, the whole partition.

    Answered by ControlAccepted or ControlRejected.
    """

    control: Control
    partition: str = "default"
    queue: str | None = None


@dataclass(frozen=True)
class AddApplication:
    """A new application, or a known one after a crash of the core; ApplicationAccepted or ApplicationRejected.

    ``placeholders`` is the total amount of the gang's placeholders, 0 if it is no gang.
    ``gang_timeout`` (seconds; the default of 15 minutes if it is 0, negative or too long for a duration)
    and ``gang_style`` are for gangs only.
    ``starting_timeout`` False is the tag that sets the timeout of the state Starting to nothing (F 1.3).
    """

    application: str
    queue: str = "root.default"
    partition: str = "default"
    user: str = "nobody"
    gang_style: GangStyle = GangStyle.SOFT
    placeholders: int = 0
    gang_timeout: float = 0
    starting_timeout: bool = True


@dataclass(frozen=True)
class RemoveApplication:
    """The RM has no more interest in an application: its asks and allocations go at once.

    Each allocation is answered by a ReleasedAllocation (STOPPED_BY_RM). Unknown: nothing happens.
    """

    application: str


@dataclass(frozen=True)
class AddAsk:
    """The application asks for one allocation; AskRejected, or a NewAllocation in its time.

    A real ask of a ``task_group`` is given the place of one of that group's placeholders, if there is one.
    """

    application: str
    ask: str
    amount: int = 1
    placeholder: bool = False
    task_group: str = ""
    required_node: str | None = None


@dataclass(frozen=True)
class ReleaseAsk:
    """An ask is withdrawn, or all of the application's (None). It leaves allocations alone; no answer.

    A NewAllocation for it may be under way, or still come if it is taking a placeholder's place:
    the RM gives such an allocation back (F 4.2, TaskAllocated in Completed).
    """

    application: str
    ask: str | None = None


@dataclass(frozen=True)
class ReleaseAllocation:
    """An allocation (None: all of the application's) is gone in the RM: by itself, or as the core asked for.

    A RM that answers a ReleasedAllocation repeats its termination type. STOPPED_BY_RM is answered by
    a ReleasedAllocation of that type; unknown or repeated ones do nothing.
    """

    application: str
    allocation: str | None
    termination: TerminationType = TerminationType.STOPPED_BY_RM


@dataclass(frozen=True)
class ExistingAllocation:
    """An allocation that the RM has on a node that it registers (recovery, or pods that were there before)."""

    application: str
    ask: str
    amount: int = 1
    placeholder: bool = False
    task_group: str = ""
    required_node: str | None = None


@dataclass(frozen=True)
class CreateNode:
    """A node, schedulable from the start, with what is on it; answered by NodeAccepted or NodeRejected.

    The applications of its existing allocations must have been added before. ``occupied`` is what
    others use of its capacity.
    """

    node: str
    capacity: int
    partition: str = "default"
    occupied: int = 0
    existing: tuple[ExistingAllocation, ...] = ()


@dataclass(frozen=True)
class UpdateNode:
    """A change of a node's status. Unknown nodes: nothing happens. No answer of its own.

    DECOMMISSION removes the node; each allocation on it is answered by a ReleasedAllocation
    (STOPPED_BY_RM).
    """

    node: str
    action: NodeAction


Request = (
    RegisterRM
    | UpdateConfiguration
    | ControlObject
    | AddApplication
    | RemoveApplication
    | AddAsk
    | ReleaseAsk
    | ReleaseAllocation
    | CreateNode
    | UpdateNode
)

# Responses.


@dataclass(frozen=True)
class RMAccepted:
    """The RM is registered."""

    rm: str


@dataclass(frozen=True)
class RMRejected:
    """The RM is not registered, and nothing has been changed."""

    rm: str
    reason: str


@dataclass(frozen=True)
class ConfigurationAccepted:
    """The new configuration holds from now on; what it lacks is being removed."""


@dataclass(frozen=True)
class ConfigurationRejected:
    """The configuration stays as it was."""

    reason: str


@dataclass(frozen=True)
class ControlAccepted:
    """The queue, or partition (``queue`` None), is in ``state`` now."""

    partition: str
    queue: str | None
    state: str


@dataclass(frozen=True)
class ControlRejected:
    """The queue or partition is as it was."""

    partition: str
    queue: str | None
    reason: str


@dataclass(frozen=True)
class ApplicationAccepted:
    """The application is there, in the core's state New."""

    application: str


@dataclass(frozen=True)
class ApplicationRejected:
    """The application cannot be added (D27); the core keeps a record of it in its state Rejected."""

    application: str
    reason: str


@dataclass(frozen=True)
class ApplicationUpdated:
    """The application has entered ``state`` (a name of D18-27, or Resuming); self loops are not told.

    ``message`` is the event, or what caused it. ``time`` (ns) does not count in comparisons.
    """

    application: str
    state: str
    message: str = ""
    time: int = field(default=0, compare=False)


@dataclass(frozen=True)
class AskRejected:
    """The ask is not taken up, and the application is as it was."""

    application: str
    ask: str
    reason: str


@dataclass(frozen=True)
class ReleasedAsk:
    """The core has dropped an ask that had no allocation."""

    application: str
    ask: str
    termination: TerminationType
    message: str = ""


@dataclass(frozen=True)
class NewAllocation:
    """The ask is allocated on a node; ``placeholder``: whether it only holds the place."""

    application: str
    ask: str
    allocation: str
    node: str
    placeholder: bool = False


@dataclass(frozen=True)
class ReleasedAllocation:
    """With STOPPED_BY_RM: the allocation is gone. Else the RM is to end it, and to answer ReleaseAllocation."""

    application: str
    allocation: str
    termination: TerminationType
    message: str = ""


@dataclass(frozen=True)
class NodeAccepted:
    """The node is there, with its existing allocations."""

    node: str


@dataclass(frozen=True)
class NodeRejected:
    """The node is not there, nor is anything of it."""

    node: str
    reason: str


Response = (
    RMAccepted
    | RMRejected
    | ConfigurationAccepted
    | ConfigurationRejected
    | ControlAccepted
    | ControlRejected
    | ApplicationAccepted
    | ApplicationRejected
    | ApplicationUpdated
    | AskRejected
    | ReleasedAsk
    | NewAllocation
    | ReleasedAllocation
    | NodeAccepted
    | NodeRejected
)
