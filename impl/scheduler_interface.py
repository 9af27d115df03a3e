"""The scheduler interface: messages between a resource manager (RM, the shim) and the core, as plain values.

A *request* goes from the RM to the core, a *response* from the core to the RM. A response may come without a request,
when a timer has run out or the scheduler has placed something. All are frozen dataclasses of plain values, so that they
can be kept, compared, hashed and sent through any channel.

The RM chooses the names of applications, asks and nodes; they are unique in the core. An ask has at most one allocation
(repeat count 1), so the ask names its allocation. Amounts are of one resource, in whole units. D: the document's line;
F: the facts' section.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum, StrEnum


class TerminationType(IntEnum):
    """The reason why an allocation or an ask ends, with the numbers of the interface (F 7)."""

    UNKNOWN = 0
    STOPPED_BY_RM = 1
    TIMEOUT = 2
    PREEMPTED_BY_SCHEDULER = 3
    PLACEHOLDER_REPLACED = 4


class GangStyle(StrEnum):
    """The handling of an application whose gang is not complete in time (F 1.2)."""

    SOFT = "Soft"
    HARD = "Hard"


class NodeAction(IntEnum):
    """The RM's action on a node that the core knows, with the numbers of the interface (F 3)."""

    DRAIN_NODE = 3
    DECOMMISSION = 4
    DRAIN_TO_SCHEDULABLE = 5


class Control(StrEnum):
    """The events of queues and partitions (D57-59)."""

    START = "Start"
    STOP = "Stop"
    REMOVE = "Remove"


# --- configuration


class SortPolicy(StrEnum):
    """The order in which a leaf queue sorts its applications; a gang needs one of the first two (F 1.2)."""

    FIFO = "fifo"
    STATE_AWARE = "stateaware"
    FAIR = "fair"


ROOT = "root"
"""The name of every partition's root queue; the names of all other queues begin with it."""


@dataclass(frozen=True)
class QueueSpec:
    """A queue of the configuration; one with ``children`` or ``parent`` is not a leaf.

    Args:
        maximum: bounds what is allocated in the queue and below; None is no bound.
        submitters: the users who may submit applications to it and below (the submit ACL). None adds no restriction;
            without any restriction all users may submit.
    """

    name: str
    children: tuple[QueueSpec, ...] = ()
    parent: bool = False
    maximum: int | None = None
    sort_policy: SortPolicy = SortPolicy.FIFO
    submitters: frozenset[str] | None = None


class RuleKind(StrEnum):
    """The queue that a placement rule chooses."""

    PROVIDED = "provided"
    """The queue that the application names."""
    USER = "user"
    """A queue named by the user, below the rule's ``value`` (for example ``root.users``)."""
    FIXED = "fixed"
    """The queue named by the rule's ``value``."""


@dataclass(frozen=True)
class PlacementRule:
    """One placement rule; with ``create`` it creates a missing queue as a dynamic one."""

    kind: RuleKind
    create: bool = False
    value: str = "root"


@dataclass(frozen=True)
class PartitionSpec:
    """A partition of the configuration. Without ``rules``, an application must name an existing leaf queue."""

    name: str = "default"
    root: QueueSpec = QueueSpec("root", (QueueSpec("default"),))
    rules: tuple[PlacementRule, ...] = ()


# --- requests


@dataclass(frozen=True)
class RegisterRM:
    """Registers the RM: the first request after a start of the core.

    RMAccepted or RMRejected answers it. A RM that registers again under its name has lost its memory. The core then
    sends it its nodes and allocations again, and does not read its ``partitions``. The core rejects another RM.
    """

    rm: str = "k8s"
    partitions: tuple[PartitionSpec, ...] = (PartitionSpec(),)


@dataclass(frozen=True)
class UpdateConfiguration:
    """A new configuration. The core removes what is missing from it, as with Control.REMOVE, and adds the rest.

    ConfigurationAccepted or ConfigurationRejected answers it; the latter changes nothing.
    """

    partitions: tuple[PartitionSpec, ...]


@dataclass(frozen=True)
class ControlObject:
    """Starts, stops or removes a queue (full name, like ``root.a``) or, without one, the whole partition.

    ControlAccepted or ControlRejected answers it.
    """

    control: Control
    partition: str = "default"
    queue: str | None = None


@dataclass(frozen=True)
class AddApplication:
    """A new application, or a known one after a crash of the core.

    ApplicationAccepted or ApplicationRejected answers it.

    Args:
        placeholders: the total amount of the gang's placeholders; 0 if it is no gang.
        gang_timeout: for gangs, in seconds; if it is 0, negative or too long for a duration, the default of 15 minutes.
        gang_style: for gangs.
        starting_timeout: False is the tag that sets the timeout of the state Starting to nothing (F 1.3).
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
    """The RM drops an application: its asks and allocations end at once.

    A ReleasedAllocation (STOPPED_BY_RM) answers for each allocation. An unknown application has no effect.
    """

    application: str


@dataclass(frozen=True)
class AddAsk:
    """The application asks for one allocation; AskRejected answers, or a NewAllocation later.

    A real ask of a ``task_group`` gets the place of one of that group's placeholders, if one exists.
    """

    application: str
    ask: str
    amount: int = 1
    placeholder: bool = False
    task_group: str = ""
    required_node: str | None = None


@dataclass(frozen=True)
class ReleaseAsk:
    """Withdraws an ask, or all asks of the application (None). It leaves allocations alone; no answer.

    A NewAllocation for the ask may be under way, or may still come if it replaces a placeholder. The RM gives such an
    allocation back (F 4.2, TaskAllocated in Completed).
    """

    application: str
    ask: str | None = None


@dataclass(frozen=True)
class ReleaseAllocation:
    """An allocation (None: all of the application's) has ended in the RM: by itself, or at the core's request.

    A RM that answers a ReleasedAllocation repeats its termination type. A ReleasedAllocation of that type answers
    STOPPED_BY_RM; unknown or repeated ones have no effect.
    """

    application: str
    allocation: str | None
    termination: TerminationType = TerminationType.STOPPED_BY_RM


@dataclass(frozen=True)
class ExistingAllocation:
    """An allocation that the RM has on a node that it registers (recovery, or pods that existed before)."""

    application: str
    ask: str
    amount: int = 1
    placeholder: bool = False
    task_group: str = ""
    required_node: str | None = None


@dataclass(frozen=True)
class CreateNode:
    """A node with its existing allocations, schedulable from the start; NodeAccepted or NodeRejected answers it.

    The applications of its existing allocations must have been added before. ``occupied`` is the part of its capacity
    that others use.
    """

    node: str
    capacity: int
    partition: str = "default"
    occupied: int = 0
    existing: tuple[ExistingAllocation, ...] = ()


@dataclass(frozen=True)
class UpdateNode:
    """Changes a node's status. An unknown node has no effect. It has no answer of its own.

    DECOMMISSION removes the node; a ReleasedAllocation (STOPPED_BY_RM) answers for each allocation on it.
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

# --- responses


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
    """The new configuration is in effect; the core is removing what is missing from it."""


@dataclass(frozen=True)
class ConfigurationRejected:
    """The configuration is unchanged."""

    reason: str


@dataclass(frozen=True)
class ControlAccepted:
    """The queue, or partition (``queue`` None), is now in ``state``."""

    partition: str
    queue: str | None
    state: str


@dataclass(frozen=True)
class ControlRejected:
    """The queue or partition is unchanged."""

    partition: str
    queue: str | None
    reason: str


@dataclass(frozen=True)
class ApplicationAccepted:
    """The application exists, in the core's state New."""

    application: str


@dataclass(frozen=True)
class ApplicationRejected:
    """The application cannot be added (D27); the core keeps a record of it in its state Rejected."""

    application: str
    reason: str


@dataclass(frozen=True)
class ApplicationUpdated:
    """The application has entered ``state`` (a name of D18-27, or Resuming). Self loops send none.

    ``message`` is the event, or its cause. ``time`` (ns) does not count in comparisons.
    """

    application: str
    state: str
    message: str = ""
    time: int = field(default=0, compare=False)


@dataclass(frozen=True)
class AskRejected:
    """The ask is rejected, and the application is unchanged."""

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
    """The ask is allocated on a node; ``placeholder`` says whether it only holds the place."""

    application: str
    ask: str
    allocation: str
    node: str
    placeholder: bool = False


@dataclass(frozen=True)
class ReleasedAllocation:
    """With STOPPED_BY_RM: the allocation has ended. Otherwise the RM must end it and answer ReleaseAllocation."""

    application: str
    allocation: str
    termination: TerminationType
    message: str = ""


@dataclass(frozen=True)
class NodeAccepted:
    """The node exists, with its existing allocations."""

    node: str


@dataclass(frozen=True)
class NodeRejected:
    """Neither the node nor any part of it exists."""

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
