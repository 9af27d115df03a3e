"""The abstraction function of both components: for each slot of a model state the values that fit a snapshot.

It shares no code with either component. Most slots have one value. The model's pods are as the shim knows them. So
what Kubernetes has done and the shim has not handled fits the state before as well.
"""

from __future__ import annotations

from functools import cache

from schedproof.impl.clock import Times
from schedproof.impl.scheduler_interface import RMAccepted
from schedproof.impl.systems.yunikorn.core import World
from schedproof.impl.systems.yunikorn.shim import Event, Job, Pod, Work
from schedproof.impl.systems.yunikorn.shim.kubernetes import ENDED
from schedproof.model.semantics import Instance, State
from schedproof.model.systems.yunikorn.machines import FINISHED
from schedproof.model.systems.yunikorn.shim_machines import POD
from schedproof.proofs.refinement.simulation import Meaning
from schedproof.proofs.systems.yunikorn.refinement.abstraction import Abstraction, without_bygones

from .component import Snapshot
from .messages import MessageKey
from .names import PodNames

OF_THE_CORE = ("Partition", "Queue", "Application", "Ask", "Wakeup", "GangTimer", "Node")


class Meanings:
    """Reads snapshots of a configuration."""

    def __init__(self, instance: Instance, names: PodNames) -> None:
        self.instance, self.names = instance, names
        self._core = Abstraction(instance, names)
        self._normal = without_bygones(instance, names)
        self._states = {
            machine.sort.name: {s.name: i for i, s in enumerate(machine.states)} for machine in instance.model.machines
        }
        self._core_slots = [
            instance.slot(sort, name) + i
            for sort in OF_THE_CORE
            for name in ("", *(a.name for a in instance.attributes(sort)))
            for i in range(instance.sizes[sort])
        ]
        self._messages = self._message_numbers()
        # The core's values, for each image before: most moves leave the core alone.
        self._known: dict[tuple[World, Times, State], dict[int, frozenset[int]]] = {}
        free = frozenset({self._states["Message"]["free"]})
        self._silence = {instance.slot("Message") + e: free for e in self._messages.values()}

    def _message_numbers(self) -> dict[tuple[str, str], int]:
        """The message objects, by kind and subject."""
        machine = self.instance.model.machine("Message")
        values = {
            name: self.instance.rigid_values("Message", machine.attribute(name))  # type: ignore[arg-type]
            for name in ("kind", "application", "ask", "node")
        }
        kinds = machine.attribute("kind").type.values  # type: ignore[union-attr]
        of = {"application": self.names.applications, "ask": self.names.asks, "node": self.names.nodes}
        return {
            (kinds[kind], of[sort][values[sort][e]]): e
            for e, kind in enumerate(values["kind"])
            for sort in of
            if values[sort][e] >= 0
        }

    def message(self, number: int) -> str:
        """Describes a message object."""
        kind, about = next(key for key, e in self._messages.items() if e == number)
        return f"{kind} of {about}"

    def is_of_a_second_life(self, at: Snapshot, before: State) -> bool:
        """True if a name is used again; the model, in which every object lives once, has no object for it."""
        for n, name in enumerate(self.names.applications):
            ended = self._core.state_of("Application", n, before) in FINISHED
            if ended and any(a.name == name for a in at.core.applications):
                return True
            if ended and any(a.name == name and a.state == "New" for a in at.shim.applications):
                return True
        pods = {p.name for p in at.cluster.pods}
        for t in range(self.instance.sizes["Task"]):
            if self.names.asks[t] in pods and self._was_pod(t, before) == "deleted":
                return True
        asks = {k.name for k in at.core.asks if k.pending} | {a.name for a in at.core.allocations}
        return any(
            self._core.state_of("Ask", k, before) in ("released", "removed") and name in asks
            for k, name in enumerate(self.names.asks)
        )

    def read(self, at: Snapshot, before: State) -> Meaning:
        """Returns the values that fit ``at``.

        Args:
            at: the snapshot.
            before: the image of the snapshot before the move.

        Raises:
            Broken: no state of the model fits the core.
        """
        fits = self._of_the_core(at, before).copy()
        self._scheduler(at, fits)
        self._applications(at, before, fits)
        self._tasks(at, before, fits)
        self._nodes(at, fits)
        fits |= self._silence
        for key in at.messages:
            if key in self._messages:
                # The model has one object for a message that was sent twice; the second copy fits no message.
                also = ["free"] if key in at.repeated or self._is_over(key, before) else []
                self._put(fits, "Message", self._messages[key], "under_way", *also)
        return Meaning(fits)

    def _of_the_core(self, at: Snapshot, before: State) -> dict[int, frozenset[int]]:
        key = at.core, at.times, before
        known = self._known.get(key)
        if known is None:
            image = self._normal(self._core.image(*key))
            known = self._known[key] = {slot: _only(image[slot]) for slot in self._core_slots}
        return known

    def _is_over(self, key: MessageKey, before: State) -> bool:
        """True for a message to the core about a finished ask: it has no effect."""
        kind, name = key
        if kind not in ("WithdrawAsk", "ReleaseAllocation"):
            return False
        return self._core.state_of("Ask", self.names.asks.index(name), before) in ("released", "removed")

    def normal(self, state: State) -> State:
        """Returns the state without what the core discards."""
        return self._normal(state)

    def _put(self, fits: dict[int, frozenset[int]], sort: str, number: int, *names: str) -> None:
        states = self._states[sort]
        fits[self.instance.slot(sort) + number] = frozenset(states[name] for name in names)

    def _scheduler(self, at: Snapshot, fits: dict[int, frozenset[int]]) -> None:
        if not self.instance.sizes["ShimScheduler"]:
            return
        state = at.shim.scheduler
        # The registration is a call: the core has answered it, and the shim has not handled the answer.
        if state == "Registering" and any(isinstance(r, RMAccepted) for r in at.responses):
            state = "Registered"
        self._put(fits, "ShimScheduler", 0, state)

    def _forgotten(self, name: str, n: int, at: Snapshot, before: State) -> bool:
        """True if the core has completed the application and the shim has discarded it; the model discards nothing."""
        is_known = any(a.name == name for a in at.shim.applications)
        return (
            not is_known
            and at.shim.scheduler in ("Recovering", "Running")
            and self._core.state_of("Application", n, before) in ("Completed", "Expired")
        )

    def _applications(self, at: Snapshot, before: State, fits: dict[int, frozenset[int]]) -> None:
        states = {a.name: a.state for a in at.shim.applications}
        for b in range(self.instance.sizes["ShimApplication"]):
            name = self.names.applications[b]
            if not self._forgotten(name, b, at, before):
                self._put(fits, "ShimApplication", b, states.get(name, "New"))

    def _tasks(self, at: Snapshot, before: State, fits: dict[int, frozenset[int]]) -> None:
        pods = {p.name: p for p in at.cluster.pods}
        for t in range(self.instance.sizes["Task"]):
            name, of = self.names.asks[t], self.names.application_of[t]
            if self._forgotten(self.names.applications[of], of, at, before):
                continue
            state = _task_state(name, at)
            self._put(fits, "Task", t, state, *(["New"] if self._may_be_new(t, state, before) else []))
            pod = pods.get(name)
            if pod is not None and pod.node is not None and state in ("Allocated", "Bound"):
                host = self.names.nodes.index(pod.node)
                fits[self.instance.slot("Task", "host") + t] = frozenset({host})
            doomed = Job(Work.DELETE, name) in at.shim.jobs
            now = _pod(pod, self._was_pod(t, before), heard=state == "Completed", doomed=doomed)
            fits[self.instance.slot("Task", "pod") + t] = frozenset(POD.values.index(value) for value in now)

    def _may_be_new(self, t: int, state: str, before: State) -> bool:
        """True if the shim has restored the task; the model restores it later, with its application."""
        restored = state in ("Allocated", "Completed") and self._core.state_of("Task", t, before) == "New"
        of = self.names.application_of[t]
        return restored and self._core.state_of("ShimApplication", of, before) == "New"

    def _was_pod(self, t: int, image: State) -> str:
        return POD.values[image[self.instance.slot("Task", "pod") + t]]

    def _nodes(self, at: Snapshot, fits: dict[int, frozenset[int]]) -> None:
        """Of a removed node the model keeps the state. The model learns of cordons only when the shim does."""
        nodes = {n.name: n for n in at.shim.nodes}
        in_cluster = {n.name: n for n in at.cluster.nodes}
        heard = not at.shim.queued.queue
        for m in range(self.instance.sizes["ShimNode"]):
            name = self.names.nodes[m]
            if name in nodes or name in in_cluster:
                self._put(fits, "ShimNode", m, nodes[name].state if name in nodes else "New")
            if heard:
                self._flag(fits, "deleted", m, name not in in_cluster)
            if heard and name in in_cluster:
                self._flag(fits, "cordoned", m, in_cluster[name].unschedulable)

    def _flag(self, fits: dict[int, frozenset[int]], attribute: str, m: int, value: bool) -> None:
        fits[self.instance.slot("ShimNode", attribute) + m] = frozenset({int(value)})


@cache
def _only(value: int) -> frozenset[int]:
    return frozenset({value})


def _task_state(name: str, at: Snapshot) -> str:
    task = next((t for t in at.shim.tasks if t.name == name), None)
    if task is None:
        return "New"
    waits = any(isinstance(e, Event) and (e.name, e.event) == (name, "TaskBound") for e in at.shim.queued.queue)
    # The pod is bound already.
    return "Bound" if waits and task.state == "Allocated" else task.state


def _pod(pod: Pod | None, was: str, *, heard: bool, doomed: bool) -> tuple[str, ...]:
    """The values that fit a pod in Kubernetes.

    Args:
        pod: None if there is none.
        was: its value in the image before.
        heard: whether the shim knows that it has ended or is gone.
        doomed: whether the shim has yet to delete it.
    """
    if pod is None and was == "absent":
        return ("absent",)
    if heard:
        return ("ended", "deleted") if pod is None or pod.phase in ENDED else ()
    if pod is None:
        return ("withdrawn", "deleting", "deleted")
    if pod.phase in ENDED:
        return ("assigned", "deleting", "ended")
    if pod.node is None:
        return ("withdrawn",) if doomed else ("pending",)
    return ("deleting",) if pod.deleting or doomed else ("assigned",)
