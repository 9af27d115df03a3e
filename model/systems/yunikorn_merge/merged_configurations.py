"""The configurations of the merged design to explore."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from schedproof.model.lang import Rigid

from .merged_machines import MERGED_CHANNELS

MERGED_SCOPE = {
    "Partition": 1,
    "Queue": 1,
    "Application": 2,
    "Ask": 2,
    "Allocation": 2,
    "Node": 2,
    "Message": 16,
}


@dataclass(frozen=True)
class MergedConfiguration:
    """A configuration: a partition that stands, or is added later, and its contents.

    Args:
        applications, nodes: how many there are.

    The other arguments are as for :class:`.configurations.Configuration`.
    """

    about: str
    partition: bool = True
    applications: int = 1
    nodes: int = 1
    refused: Sequence[int] = ()
    asks: Sequence[int] = ()
    recovered: Sequence[int] = ()
    allocations: Sequence[tuple[int, int]] = ()

    @property
    def rigid(self) -> Rigid:
        """The rigid attributes."""
        apps, nodes = self.applications, self.nodes
        about = {"application": apps, "ask": len(self.asks), "allocation": len(self.allocations), "node": nodes}
        return {
            ("Partition", "standing"): [self.partition],
            ("Queue", "standing"): [self.partition],
            ("Queue", "partition"): [0],
            ("Application", "queue"): [0] * apps,
            ("Application", "refused"): [number in self.refused for number in range(apps)],
            ("Ask", "application"): list(self.asks),
            ("Ask", "recovered"): [number in self.recovered for number in range(len(self.asks))],
            ("Allocation", "ask"): [ask for ask, _ in self.allocations],
            ("Allocation", "node"): [node for _, node in self.allocations],
            ("Node", "partition"): [0] * nodes,
            **MERGED_CHANNELS.messages(about),
        }


MERGED_CONFIGURATIONS = [
    MergedConfiguration("an ask and its allocation", asks=[0], allocations=[(0, 0)]),
    MergedConfiguration("two asks for one node", asks=[0, 0], allocations=[(0, 0), (1, 0)]),
    MergedConfiguration("an ask that two nodes suit", nodes=2, asks=[0], allocations=[(0, 0), (0, 1)]),
    MergedConfiguration("a partition with two applications and a node", partition=False, applications=2, refused=[1]),
    MergedConfiguration(
        "a node is added with what runs on it, while another ask waits",
        asks=[0, 0],
        recovered=[0],
        allocations=[(0, 0), (1, 0)],
    ),
]


PROPOSALS_CONFIGURATIONS = [
    *MERGED_CONFIGURATIONS,
    MergedConfiguration("two asks, each with a node of its own", nodes=2, asks=[0, 0], allocations=[(0, 0), (1, 1)]),
]
"""With proposals that wait for their commit, two asks matter to each other also if only their queue is the same."""


def merged_configurations(
    sizes: Mapping[str, int], *, among: Sequence[MergedConfiguration] = MERGED_CONFIGURATIONS
) -> Iterator[Rigid]:
    """Yields the rigid attributes of each configuration that fits in ``sizes``.

    Args:
        sizes: the largest number of objects, by sort.
        among: the configurations.
    """
    for configuration in among:
        counts: dict[str, int] = {}
        rigid = configuration.rigid
        for (sort, _), values in rigid.items():
            counts[sort] = len(values)
        if all(number <= sizes[sort] for sort, number in counts.items()):
            yield rigid
