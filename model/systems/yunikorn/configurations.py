"""The configurations to explore: small ones, each with only the objects that it is about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from schedproof.model.lang import Rigid

from .channel import OF_APPLICATIONS, OF_ASKS, OF_NODES, TO_SHIM
from .components import NO_SHIM, Shim
from .sorts import Message

NOTHING_OF_THE_SHIM: Rigid = {
    ("ShimApplication", "core"): [],
    ("Task", "ask"): [],
    ("ShimNode", "core"): [],
    ("ShimScheduler", "partition"): [],
}


@dataclass(frozen=True)
class Configuration:
    """A configuration: applications with asks, on queues and nodes.

    Args:
        about: one line for reports.
        applications: for each application its asks, a letter each, and its gang's style, "Hard" or "Soft". The
            letters: ``r`` a real ask, ``p`` a placeholder, ``n`` a real ask that requires a particular node.
        wakeups: how many time-outs can be under way at once.
        nodes: how many nodes there are.
        adjustable_nodes: whether people drain, restore and decommission the nodes.
        queues: for each queue the number of its parent, or None; applications are in the last queue.
        dynamic: whether a placement rule has created the last queue.
        people: what people may start, stop and remove: "queues", "partition".
        exact: whether the placeholders asked for are exactly those that the gang was said to need.
        shim: the shim's part; None for a resource manager that may do anything.
    """

    about: str
    applications: Sequence[tuple[str, str]] = ()
    wakeups: int = 1
    nodes: int = 1
    adjustable_nodes: bool = False
    queues: Sequence[int | None] = (None,)
    dynamic: bool = False
    people: Sequence[str] = ()
    exact: bool = True
    shim: Shim | None = None

    def _above(self, queue: int) -> frozenset[int]:
        parent = self.queues[queue]
        return frozenset() if parent is None else self._above(parent) | {parent}

    def rigid(self, *, shipped: bool = False) -> Rigid:
        """Returns the rigid attributes.

        Args:
            shipped: whether to include the attributes of the shipped core and of the shim.
        """
        asks = [(number, kind) for number, (kinds, _) in enumerate(self.applications) for kind in kinds]
        gangs = [number for number, (kinds, _) in enumerate(self.applications) if "p" in kinds]
        return {
            ("Partition", "adjustable"): ["partition" in self.people],
            ("Queue", "partition"): [0 for _ in self.queues],
            ("Queue", "parent"): list(self.queues),
            ("Queue", "above"): [self._above(queue) for queue in range(len(self.queues))],
            ("Queue", "adjustable"): ["queues" in self.people for _ in self.queues],
            ("Application", "queue"): [len(self.queues) - 1 for _ in self.applications],
            ("Application", "style"): [style for _, style in self.applications],
            ("Application", "exact"): [self.exact for _ in self.applications],
            ("Ask", "application"): [number for number, _ in asks],
            ("Ask", "placeholder"): [kind == "p" for _, kind in asks],
            **(self._shipped if shipped else {}),
            ("Wakeup", "spare"): [False] * self.wakeups,
            ("GangTimer", "application"): gangs,
            ("Node", "partition"): [0] * self.nodes,
            ("Node", "adjustable"): [self.adjustable_nodes] * self.nodes,
            **(self._shim if shipped else NOTHING_OF_THE_SHIM),
        }

    @property
    def _shipped(self) -> Rigid:
        """The attributes that only the shipped core has."""
        return {
            ("Queue", "dynamic"): [False] * (len(self.queues) - 1) + [self.dynamic],
            ("Ask", "required"): [kind == "n" for kinds, _ in self.applications for kind in kinds],
        }

    @property
    def _shim(self) -> Rigid:
        """An object for each of the core's, or none; nodes only if messages about nodes take part."""
        if self.shim is None:
            return {key: values for key, values in NO_SHIM.items() if key[0] != Message.name}
        asks = [number for number, (kinds, _) in enumerate(self.applications) for _ in kinds]
        nodes = self.nodes if set(OF_NODES) & set(self.shim.kinds) else 0
        return replace(self.shim, applications=len(self.applications), asks=asks, nodes=nodes).rigid


CONFIGURATIONS = [
    Configuration("an application with two asks", [("rr", "Soft")]),
    Configuration("an application with one ask, and two late time-outs", [("r", "Soft")], wakeups=2),
    Configuration("a gang of one with a real ask, hard", [("pr", "Hard")]),
    Configuration("a gang of one with a real ask, soft", [("pr", "Soft")]),
    Configuration("a gang of two with a real ask, hard", [("ppr", "Hard")]),
    Configuration("a gang of two with a real ask, soft", [("ppr", "Soft")]),
    Configuration("a partition is removed", [("r", "Soft")], people=["partition", "queues"]),
    Configuration("a partition is removed with a gang in it", [("p", "Hard")], people=["partition"]),
    Configuration("a partition is removed with a soft gang in it", [("p", "Soft")], exact=False, people=["partition"]),
    Configuration("a queue is removed with a soft gang in it", [("p", "Soft")], exact=False, people=["queues"]),
    Configuration("queues are removed", [("r", "Soft")], queues=[None, 0], people=["queues"], wakeups=1),
    Configuration("a dynamic queue", [("r", "Soft")], queues=[None, 0], dynamic=True, people=["queues", "partition"]),
    Configuration("a node is drained", [("r", "Soft")], adjustable_nodes=True, nodes=2),
    Configuration("a node is drained that an ask requires", [("n", "Soft")], adjustable_nodes=True),
    Configuration("a node goes with a placeholder", [("pr", "Soft")], adjustable_nodes=True, nodes=2),
]

FAILS_LATE = Configuration(
    "a partition is removed with a soft gang that has a real ask", [("pr", "Soft")], exact=False, people=["partition"]
)
"""Only here an application fails after its partition has been removed; in v0.12.2 none does."""


WORK = (*OF_APPLICATIONS, *OF_ASKS)

# A message that finds the queue of the shim's dispatcher full is sent again later, after others, or is lost (4,
# dispatcher.go:76-171). The core's queue keeps the order, and loses nothing.
WITH_SHIM = [
    Configuration("core and shim: an ask", [("r", "Soft")], shim=Shim(kinds=WORK, troubled=True)),
    Configuration(
        "core and shim: messages to the shim get lost",
        [("r", "Soft")],
        wakeups=0,
        shim=Shim(kinds=WORK, losable=TO_SHIM),
    ),
    Configuration("core and shim: a soft gang", [("pr", "Soft")], wakeups=0, exact=False, shim=Shim(kinds=WORK)),
    Configuration("core and shim: a hard gang", [("pr", "Hard")], wakeups=0, exact=False, shim=Shim(kinds=WORK)),
    Configuration(
        "core and shim: messages to the shim overtake each other",
        [("pr", "Soft")],
        wakeups=0,
        shim=Shim(kinds=WORK, overtaking=TO_SHIM),
    ),
    Configuration(
        "core and shim: the queue is removed",
        [("r", "Soft")],
        wakeups=0,
        queues=[None, 0],
        people=["queues"],
        shim=Shim(kinds=WORK),
    ),
    Configuration(
        "core and shim: the partition is removed when a soft gang has resumed",
        [("pr", "Soft")],
        wakeups=0,
        exact=False,
        people=["partition"],
        shim=Shim(kinds=WORK),
    ),
    Configuration(
        "core and shim: the partition is removed while the shim recovers",
        [("r", "Soft")],
        wakeups=0,
        people=["partition"],
        shim=Shim(kinds=WORK, scheduler=True, overtaking=TO_SHIM),
    ),
    Configuration(
        "core and shim: a gang waits for its second placeholder",
        [("ppr", "Soft")],
        wakeups=0,
        shim=Shim(kinds=("SubmitApplication", "ApplicationAccepted", "AddAsk", "AskReleased")),
    ),
    Configuration(
        "core and shim: a node, and a crash",
        wakeups=0,
        adjustable_nodes=True,
        shim=Shim(kinds=OF_NODES, scheduler=True, mortal=True),
    ),
    Configuration(
        "core and shim: an ask, and a crash",
        [("r", "Soft")],
        wakeups=0,
        shim=Shim(kinds=WORK, scheduler=True, mortal=True),
    ),
]


def configurations(
    sizes: Mapping[str, int], *, shipped: bool = False, among: Sequence[Configuration] = CONFIGURATIONS
) -> Iterator[Rigid]:
    """Yields the rigid attributes of each configuration of ``among`` that fits in ``sizes``.

    Args:
        sizes: the largest number of objects, by sort.
        shipped: as for :meth:`Configuration.rigid`.
        among: the configurations to choose from.
    """
    for configuration in among:
        counts: dict[str, int] = {}
        rigid = configuration.rigid(shipped=shipped)
        for (sort, _), values in rigid.items():
            counts[sort] = len(values)
        if all(number <= sizes[sort] for sort, number in counts.items()):
            yield rigid
