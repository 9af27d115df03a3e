"""Core, shim, the messages between them and the cluster, restored to an earlier snapshot before each move."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from schedproof.impl.clock import ManualClock, Times
from schedproof.impl.scheduler_interface import ControlAccepted, ControlRejected, RegisterRM, Response
from schedproof.impl.systems.yunikorn.core import Core, Draft, Wakeup, canonical
from schedproof.impl.systems.yunikorn.core import World as CoreWorld
from schedproof.impl.systems.yunikorn.shim import Cluster, CoreNews, Link, Pod, Shim
from schedproof.impl.systems.yunikorn.shim import World as ShimWorld
from schedproof.impl.systems.yunikorn.shim.kubernetes import ClusterState
from schedproof.impl.systems.yunikorn.shim.link import LinkState
from schedproof.proofs.systems.yunikorn.refinement.component import every_option

from .messages import MessageKey, message_key
from .names import PodNames


@dataclass(frozen=True)
class Parts:
    """The classes of core and shim; a test replaces one to seed a fault."""

    draft: type[Draft] = Draft
    shim: type[Shim] = Shim


REFERENCE = Parts()


@dataclass(frozen=True)
class Snapshot:
    """The state of core, shim, link, cluster and clock.

    Attributes:
        core_number: equal for cores that differ in nothing relevant, among the snapshots of one component.
        made: the pods that users have made.
        crashes: how often the shim has died.
        repeated: messages that were sent twice and are still under way at least once.
    """

    shim: ShimWorld
    core: CoreWorld
    cluster: ClusterState
    link: LinkState
    times: Times
    core_number: int
    made: frozenset[str] = frozenset()
    crashes: int = 0
    repeated: frozenset[MessageKey] = frozenset()

    @cached_property
    def messages(self) -> list[MessageKey]:
        """The messages under way to the core and to the shim, and those in the shim's queue."""
        return [it for it in map(message_key, [*self.link.requests, *self.responses]) if it is not None]

    @property
    def responses(self) -> list[Response]:
        """The core's responses that the shim has not handled, in the order in which they were sent."""
        return [*(i.response for i in self.shim.queued.queue if isinstance(i, CoreNews)), *self.link.responses]

    @property
    def under_way(self) -> list[Wakeup]:
        """The core's time-outs that have run out and are not delivered."""
        return wakeups(self.times)

    @property
    def key(self) -> object:
        """Equal for snapshots that differ in nothing relevant."""
        return self.shim, self.core_number, self.cluster, self.link, self.made, self.crashes, self.repeated


def wakeups(times: Times) -> list[Wakeup]:
    """Returns the core's time-outs that have run out and are not delivered."""
    return [t.name for t in times.under_way if isinstance(t.name, Wakeup)]


class Component:
    """Core, shim, link and cluster on a clock that stands still."""

    def __init__(self, parts: Parts, names: PodNames, room: int) -> None:
        self.clock = ManualClock(timed=False)
        self.cluster = Cluster()
        self.link = Link()
        every = type(parts.draft.__name__, (parts.draft,), {"options": every_option})
        core = type("Core", (Core,), {"draft_type": every})
        self.core: Core = core(self.clock, listener=self._listen)
        partitions = (names.partition_spec(),)
        self.shim = parts.shim(self.cluster, self.link.send, self.clock, partitions=partitions)
        self.link.connect(self.core, self.shim.receive)
        # An earlier shim has registered, so the core has its partition from the start, as in the model.
        self.link.send(RegisterRM(partitions=partitions))
        self.link.lose(requests=True, responses=True)
        self.made: frozenset[str] = frozenset()
        self.crashes = 0
        self._put: Snapshot | None = None
        self._cores: dict[object, int] = {}
        for node in names.kube_nodes(room):
            self.cluster.add_node(node)

    def _listen(self, responses: Sequence[Response]) -> None:
        """Answers to operators do not go to the shim."""
        self.link.listen([r for r in responses if not isinstance(r, ControlAccepted | ControlRejected)])

    def take(self, repeated: frozenset[MessageKey] = frozenset()) -> Snapshot:
        """Returns the current snapshot; ``repeated`` is that of the snapshot before."""
        core, times = self.core.snapshot(), self.clock.snapshot()
        at = Snapshot(
            self.shim.snapshot(),
            core,
            self.cluster.snapshot(),
            self.link.snapshot(),
            times,
            self._core_number(core, times),
            self.made,
            self.crashes,
        )
        now = frozenset(it for it, n in Counter(at.messages).items() if n > 1 or it in repeated)
        return replace(at, repeated=now) if now else at

    def _core_number(self, core: CoreWorld, times: Times) -> int:
        before = self._put
        if before is not None and core is before.core and times == before.times:
            return before.core_number  # most moves leave the core alone
        return self._cores.setdefault(canonical(core, wakeups(times)), len(self._cores))

    def put(self, at: Snapshot) -> None:
        """Goes back to a snapshot."""
        self._put = at
        self.core.restore(at.core)
        self.cluster.restore(at.cluster)
        self.link.restore(at.link)
        self.clock.restore(at.times)
        self.shim.restore(at.shim)
        self.made, self.crashes = at.made, at.crashes

    def make(self, pod: Pod) -> None:
        """Makes a user's pod."""
        self.made |= {pod.name}
        self.cluster.create_pod(pod)

    def crash(self, *, silently: bool) -> None:
        """The shim dies; its messages to the core are lost, or still arrive."""
        self.crashes += 1
        self.shim.crash()
        self.link.lose(requests=silently, responses=True)
