"""The configurations to explore: small ones, each with only the objects and the events that it is about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from schedproof.model.lang import Rigid

from .flows import CHANNELS, TO_SCHEDULER

ASKING = ("AddAsk", "ReleaseAsk", "NewAsk", "RemoveAsk", "AskRejected")
ALLOCATING = ("ProposeAllocation", "AcceptedAllocation", "RejectedAllocation", "NewAllocation", "ReleaseFailed")
RELEASED = ("ReleasedAllocation", "AllocationReleased")
PREEMPTING = ("ProposeRelease",)
GIVING_BACK = ("ReleaseAllocation", "ToRelease", "ReleaseForRm")
ADDING_APPLICATIONS = (
    *("AddApplication", "ApplicationAdded"),
    *("RejectedNewApplication", "ApplicationAccepted", "ApplicationRejected"),
)
REMOVING_APPLICATIONS = ("RemoveApplication", "ApplicationRemoved", "RemovedApplication")
ADDING_NODES = ("AddNode", "NodeAdded", "NodeAccepted", "NodeRejected")
RECOVERING = ("RecoverAllocation",)
REMOVING_NODES = ("DecommissionNode", "NodeRemoved", "RemovedNode")
REGISTERING = ("RegisterPartition", "ConfigAddsPartition", "PartitionUpdated")
REMOVING_PARTITIONS = ("RemovePartition", "PartitionRemoved")
DROPPING_PARTITIONS = ("ConfigDropsPartition", "PartitionDeleted", "PartitionRemoved")


@dataclass(frozen=True)
class Configuration:
    """A configuration: a partition with applications and nodes, asks, and possible allocations for them.

    Args:
        about: one line for reports.
        kinds: the events that take part.
        partition, applications, nodes: whether each stands, that is, exists from the start.
        refused: the applications that the scheduler does not take.
        asks: for each ask the number of its application.
        recovered: the asks that are made for recovered allocations.
        allocations: for each allocation its ask and its node.
        running: the allocations that stand, with their asks.
        room: the capacity of queues, by name; other queues have no limit.
    """

    about: str
    kinds: Sequence[str]
    partition: bool = True
    applications: Sequence[bool] = (True,)
    nodes: Sequence[bool] = (True,)
    refused: Sequence[int] = ()
    asks: Sequence[int] = ()
    recovered: Sequence[int] = ()
    allocations: Sequence[tuple[int, int]] = ()
    running: Sequence[int] = ()
    room: Mapping[str, int] = field(default_factory=dict)

    @property
    def rigid(self) -> Rigid:
        """The rigid attributes."""
        apps, nodes = len(self.applications), len(self.nodes)
        asks, allocations = len(self.asks), len(self.allocations)
        numbers = {"Partition": 1, "Application": apps, "Node": nodes, "Allocation": allocations, "Ask": asks}
        copied = [sort for sort in numbers if sort != "Ask"]  # "Cache doesn't store asks" (109)
        satisfied = [self.allocations[number][0] for number in self.running]
        standing: dict[str, list[bool]] = {
            "Partition": [self.partition],
            "Application": list(self.applications),
            "Node": list(self.nodes),
            "Allocation": [number in self.running for number in range(allocations)],
            "Ask": [number in satisfied for number in range(asks)],
        }
        about = {sort.lower(): number for sort, number in numbers.items()}
        return {
            **{(sort, "cache"): list(range(numbers[sort])) for sort in copied},
            **{(sort, "scheduler"): list(range(number)) for sort, number in numbers.items()},
            **{(sort, "standing"): values for sort, values in standing.items()},
            **{(f"{sort}Info", "standing"): standing[sort] for sort in copied},
            **{(f"Scheduling{sort}", "standing"): values for sort, values in standing.items()},
            ("Application", "partition"): [0] * apps,
            ("Application", "refused"): [number in self.refused for number in range(apps)],
            ("Node", "partition"): [0] * nodes,
            ("Ask", "application"): list(self.asks),
            ("Ask", "recovered"): [number in self.recovered for number in range(asks)],
            ("Allocation", "ask"): [ask for ask, _ in self.allocations],
            ("Allocation", "node"): [node for _, node in self.allocations],
            **CHANNELS.messages(about, kinds=self.kinds, room=self.room),
        }


CONFIGURATIONS = [
    Configuration(
        "an ask and its allocation",
        (*ASKING, *ALLOCATING, *RELEASED, *PREEMPTING, *GIVING_BACK),
        asks=[0],
        allocations=[(0, 0)],
    ),
    Configuration(
        "two asks for one node",
        (*ASKING, *ALLOCATING, *RELEASED),
        asks=[0, 0],
        allocations=[(0, 0), (1, 0)],
    ),
    Configuration(
        "an ask that two nodes suit",
        (*ASKING, *ALLOCATING, *RELEASED, *PREEMPTING),
        nodes=[True, True],
        asks=[0],
        allocations=[(0, 0), (0, 1)],
    ),
    Configuration(
        "an application comes and goes, and another is not taken",
        (*ADDING_APPLICATIONS, *REMOVING_APPLICATIONS),
        applications=[False, False],
        nodes=[],
        refused=[1],
    ),
    Configuration(
        "an application is removed with its allocation",
        (*REMOVING_APPLICATIONS, *ASKING, *ALLOCATING, *RELEASED, *PREEMPTING),
        asks=[0],
        allocations=[(0, 0)],
    ),
    Configuration(
        "a node is decommissioned with an allocation",
        (*REMOVING_NODES, *ASKING, *ALLOCATING, *RELEASED, *GIVING_BACK),
        asks=[0],
        allocations=[(0, 0)],
    ),
    Configuration(
        "a node is decommissioned, and another suits the ask as well",
        (*REMOVING_NODES, "AddAsk", "NewAsk", "AskRejected", *ALLOCATING, *RELEASED),
        nodes=[True, True],
        asks=[0],
        allocations=[(0, 0), (0, 1)],
    ),
    Configuration(
        "what runs is preempted or given back, or its node or application goes",
        (*PREEMPTING, *GIVING_BACK, *RELEASED, *REMOVING_NODES, *REMOVING_APPLICATIONS),
        asks=[0],
        allocations=[(0, 0)],
        running=[0],
    ),
    Configuration(
        "what runs is preempted while an ask waits for its node",
        (*PREEMPTING, *ALLOCATING, *RELEASED, "AddAsk", "NewAsk", "AskRejected"),
        asks=[0, 0],
        allocations=[(0, 0), (1, 0)],
        running=[0],
    ),
    Configuration(
        "a node is added with what runs on it, while another ask waits",
        (*ADDING_NODES, *RECOVERING, *ALLOCATING, *RELEASED, "AddAsk", "NewAsk", "AskRejected"),
        nodes=[False],
        asks=[0, 0],
        recovered=[0],
        allocations=[(0, 0), (1, 0)],
    ),
    Configuration(
        "an application comes with an ask, and goes",
        (*ADDING_APPLICATIONS, *REMOVING_APPLICATIONS, *ASKING, *ALLOCATING, *RELEASED),
        applications=[False],
        asks=[0],
        allocations=[(0, 0)],
    ),
    Configuration(
        "a node is added with what runs on it for an application that comes and goes",
        (*ADDING_APPLICATIONS, *REMOVING_APPLICATIONS, *ADDING_NODES, *RECOVERING, *ALLOCATING, *RELEASED),
        applications=[False],
        nodes=[False],
        asks=[0],
        recovered=[0],
        allocations=[(0, 0)],
    ),
    Configuration(
        "a partition is added and removed, with an application and a node",
        (*REGISTERING, *REMOVING_PARTITIONS, *DROPPING_PARTITIONS, *ADDING_APPLICATIONS, *ADDING_NODES),
        partition=False,
        applications=[False],
        nodes=[False],
    ),
    Configuration(
        "the configuration drops a partition with an allocation",
        (*DROPPING_PARTITIONS, *ASKING, *ALLOCATING, *RELEASED),
        asks=[0],
        allocations=[(0, 0)],
    ),
    Configuration("a node is added, and decommissioned", (*ADDING_NODES, *REMOVING_NODES), nodes=[False]),
    Configuration(
        "two asks, and a queue with room for one event",
        ("AddAsk", "NewAsk", "AskRejected"),
        nodes=[],
        asks=[0, 0],
        room={TO_SCHEDULER: 1},
    ),
]


def configurations(sizes: Mapping[str, int], *, among: Sequence[Configuration] = CONFIGURATIONS) -> Iterator[Rigid]:
    """Yields the rigid attributes of each configuration of ``among`` that fits in ``sizes``.

    Args:
        sizes: the largest number of objects, by sort.
        among: the configurations to choose from.
    """
    for configuration in among:
        counts: dict[str, int] = {}
        rigid = configuration.rigid
        for (sort, _), values in rigid.items():
            counts[sort] = len(values)
        if all(number <= sizes[sort] for sort, number in counts.items()):
            yield rigid
