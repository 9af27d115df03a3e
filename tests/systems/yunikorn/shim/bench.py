"""A shim, a core and a cluster on one bench: tests of all three drive them here."""

from __future__ import annotations

from schedproof.impl.clock import ManualClock
from schedproof.impl.scheduler_interface import GangStyle
from schedproof.impl.systems.yunikorn.core import Core
from schedproof.impl.systems.yunikorn.shim import (
    Cluster,
    Dispatcher,
    Dropped,
    Gang,
    KubeNode,
    Link,
    Phase,
    Pod,
    Shim,
    TaskGroup,
)

ROUNDS = 200
"""More than anything takes that comes to rest."""


class Bench:
    """Everything by hand, or :meth:`settle` until nothing is left to do but to wait for time or people."""

    def __init__(self, *, shim_type: type[Shim] = Shim, capacity: int = 10_000, ordered: bool = True) -> None:
        self.clock = ManualClock()
        self.cluster = Cluster()
        self.link = Link(ordered=ordered)
        self.core = Core(self.clock, listener=self.link.listen)
        self.dropped: list[Dropped] = []
        self.crashes = 0
        self.shim = shim_type(
            self.cluster,
            self.link.send,
            self.clock,
            dispatcher=Dispatcher(capacity=capacity),
            on_drop=self.dropped.append,
        )
        self.link.connect(self.core, self.shim.receive)

    def settle(self, *, reap: bool = True, schedule: bool = True) -> None:
        """Runs everything; kubelets end what was deleted (``reap``), the core allocates (``schedule``)."""
        for _ in range(ROUNDS):
            before = self.everything()
            self.shim.settle()
            if self.link.requests:
                self.link.deliver_request()
            elif self.link.responses:
                self.link.deliver_response()
            elif schedule and self.core.options():
                self.core.schedule()
            elif reap and any(pod.deleting for pod in self.cluster.list_pods()):
                self.cluster.reap_pod(next(p.name for p in self.cluster.list_pods() if p.deleting))
            if self.everything() == before:
                return
        raise AssertionError("it does not come to rest")

    def everything(self) -> object:
        """All that is remembered anywhere."""
        return (
            self.shim.snapshot(),
            self.core.snapshot(),
            self.cluster.snapshot(),
            self.link.snapshot(),
        )

    def crash_shim(self, *, lose: bool = True) -> None:
        """The shim dies, with what is under way to it, and what it has sent is lost or still arrives."""
        self.crashes += 1
        self.shim.crash()
        self.link.lose(requests=lose, responses=True)

    def started(self, *nodes: str, capacity: int = 10) -> Bench:
        """The cluster has nodes, and the shim runs."""
        for name in nodes or ("n1",):
            self.cluster.add_node(KubeNode(name, capacity))
        self.shim.start()
        self.settle()
        return self

    # Short questions.

    def app(self, name: str = "app") -> str:
        """The state of the shim's application, "" without one."""
        return self.shim.applications[name].state if name in self.shim.applications else ""

    def task(self, name: str) -> str:
        """The state of a task, "" without one."""
        return self.shim.tasks[name].state if name in self.shim.tasks else ""

    def core_app(self, name: str = "app") -> str:
        """The state of the core's application."""
        return str(self.core.application(name).state)

    def allocations(self) -> set[str]:
        """What the core has allocated."""
        return {it.name for it in self.core.world.allocations}

    def running(self) -> set[str]:
        """The pods that run."""
        return {pod.name for pod in self.cluster.list_pods() if pod.phase is Phase.RUNNING}


def gang(members: int = 2, style: GangStyle = GangStyle.SOFT, amount: int = 1) -> Gang:
    """One task group."""
    return Gang((TaskGroup("g", members, amount),), style, timeout=60)


def pod(name: str, application: str = "app", of: Gang | None = None, amount: int = 1) -> Pod:
    """A real pod, of a gang's group if there is a gang."""
    return Pod(name, application, amount, gang=of, task_group="g" if of else "")
