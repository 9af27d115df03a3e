"""A configuration of the model as names, configuration and requests for the core."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from schedproof.impl.scheduler_interface import (
    AddApplication,
    AddAsk,
    CreateNode,
    ExistingAllocation,
    GangStyle,
    PartitionSpec,
    QueueSpec,
)
from schedproof.model.systems.yunikorn.configurations import Configuration

PLENTY = 1000
"""A capacity that is never reached: the model has no resources."""

OWNER, STRANGER = "owner", "stranger"


class Names:
    """The objects of a configuration by number: ``asks[0]`` is the model's first ask."""

    def __init__(self, configuration: Configuration) -> None:
        self.configuration = configuration
        self.partition = "p0"
        self.applications = [f"a{n}" for n in range(len(configuration.applications))]
        kinds = [(of, kind) for of, (asks, _) in enumerate(configuration.applications) for kind in asks]
        self.application_of = [of for of, _ in kinds]
        self.kinds = [kind for _, kind in kinds]
        self.asks = [f"k{n}" for n in range(len(kinds))]
        self.nodes = [f"n{n}" for n in range(configuration.nodes)]

    @cached_property
    def queues(self) -> list[str]:
        """The paths of the model's queues; the core's root is above them."""
        return ["root." + ".".join(f"q{i}" for i in self._path(n)) for n in range(len(self.configuration.queues))]

    def _path(self, number: int) -> list[int]:
        parent = self.configuration.queues[number]
        return [number] if parent is None else [*self._path(parent), number]

    def gang(self, application: int) -> int | None:
        """Returns the number of the application's gang timer, None if it has no gang."""
        gangs = [n for n, (kinds, _) in enumerate(self.configuration.applications) if "p" in kinds]
        return gangs.index(application) if application in gangs else None

    def is_placeholder(self, ask: int) -> bool:
        """True if the ask is for a placeholder."""
        return self.kinds[ask] == "p"

    # Requests and configuration.

    def partition_spec(self) -> PartitionSpec:
        """Returns the partition with its queues."""
        return PartitionSpec(
            self.partition,
            QueueSpec("root", tuple(self._below(None)), parent=True, submitters=frozenset({OWNER})),
        )

    def _below(self, parent: int | None) -> Iterator[QueueSpec]:
        for n, above in enumerate(self.configuration.queues):
            if above == parent:
                yield QueueSpec(f"q{n}", tuple(self._below(n)))

    def application(self, n: int, user: str = OWNER) -> AddApplication:
        """Returns the request to add an application; a stranger's is rejected."""
        kinds, style = self.configuration.applications[n]
        return AddApplication(
            self.applications[n],
            self.queues[-1],
            self.partition,
            user,
            GangStyle(style),
            placeholders=kinds.count("p"),
        )

    def _task_group(self, ask: int) -> str:
        return "" if self.gang(self.application_of[ask]) is None else "group"

    def ask(self, n: int) -> AddAsk:
        """Returns the request that adds an ask."""
        return AddAsk(
            self.applications[self.application_of[n]],
            self.asks[n],
            placeholder=self.is_placeholder(n),
            task_group=self._task_group(n),
            required_node=self.nodes[0] if self.kinds[n] == "n" else None,
        )

    def node(self, n: int, running: list[int]) -> CreateNode:
        """Returns the request that registers a node with the allocations that run on it."""
        existing = tuple(
            ExistingAllocation(
                self.applications[self.application_of[k]],
                self.asks[k],
                placeholder=self.is_placeholder(k),
                task_group=self._task_group(k),
            )
            for k in running
        )
        return CreateNode(self.nodes[n], PLENTY, self.partition, existing=existing)
