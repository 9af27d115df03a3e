"""The abstraction function: from the core's records and timers to a state of the model.

It shares no code with the core. The model keeps what the core discards: records of ended applications, finished asks,
removed nodes and queues. For these the image is as before.
"""

from __future__ import annotations

from collections.abc import Mapping

from schedproof.impl.clock import Times
from schedproof.impl.systems.yunikorn import core as impl
from schedproof.impl.systems.yunikorn.core import Kind, Wakeup, World
from schedproof.model.semantics import Choice, Instance, State
from schedproof.model.semantics.instance import NO_OBJECT
from schedproof.model.systems.yunikorn.machines import FINISHED, TIMED
from schedproof.proofs.refinement.mismatch import Broken
from schedproof.proofs.refinement.modelside import Normal

from .names import Names

KEPT = ("Starting", "Completing", "Completed")
"""The states whose timer the model has. In the final states the timer only deletes the record."""


class Abstraction:
    """Maps states of the core to states of ``instance``; objects have the same names in both."""

    def __init__(self, instance: Instance, names: Names) -> None:
        self.instance, self.names = instance, names
        self.numbers = {
            machine.sort.name: {s.name: n for n, s in enumerate(machine.states)} for machine in instance.model.machines
        }
        # Found once, because an exploration makes an image of every state.
        self.slots = {
            (machine.sort.name, name): instance.slot(machine.sort.name, name)
            for machine in instance.model.machines
            for name in [*([""] if machine.states else []), *(a.name for a in instance.attributes(machine.sort.name))]
        }
        self._names = {
            machine.sort.name: (instance.slot(machine.sort.name), [s.name for s in machine.states])
            for machine in instance.model.machines
            if machine.states
        }

    def label(self, action: str, **parameters: int) -> Choice:
        """Returns the choice that takes a step of the model."""
        return Choice(
            action, tuple((v.name, parameters[v.name]) for v in self.instance.model.action(action).parameters)
        )

    def state_of(self, sort: str, number: int, image: State) -> str:
        """Returns the machine state of an object."""
        slot, names = self._names[sort]
        return names[image[slot + number]]

    def image(self, world: World, times: Times, before: State) -> State:
        """Returns the image of a state of the core.

        Args:
            world: the core's records.
            times: the core's timers.
            before: the image of the core's state one operation before.

        Raises:
            Broken: a record is missing that must exist.
        """
        new = _Image(self, before)
        has_partition = self._partition(new, world)
        for n, name in enumerate(self.names.queues):
            self._queue(new, n, next((q for q in world.queues if q.name == name), None))
        # Nodes are removed with their partition; the model then keeps their last state.
        for n, name in enumerate(self.names.nodes if has_partition else ()):
            self._node(new, n, next((it for it in world.nodes if it.name == name), None))
        pending = {t.name for t in times.pending}
        under_way = {t.name for t in times.under_way}
        wakeups = 0
        for n, name in enumerate(self.names.applications):
            records = [a for a in (*world.tracked, *world.applications) if a.name == name]
            if not records:
                self._forgotten(new, n)
                continue
            # A second record, Rejected because the name has ended, is no other application in the model.
            it = next((a for a in reversed(records) if a.state != "Rejected"), records[-1])
            new.state("Application", n, it.state)
            # An ended application stays known, unless it was removed before.
            is_removed = it in world.tracked and (it.state == "Completing" or not new.got("Application", "known", n))
            new.put("Application", "known", n, it.state != "Rejected" and not is_removed)
            state_wakeup = None if it.state_timer is None else Wakeup(Kind.STATE, it.serial, it.state_timer)
            timer = "off" if it.state not in KEPT else "armed" if state_wakeup in pending else "ran"
            new.put("Application", "timer", n, ("off", "armed", "ran").index(timer))
            if timer == "ran":
                if state_wakeup not in under_way:
                    raise Broken(f"the timer of {name} in {it.state} is neither armed nor under way")
                new.state("Wakeup", wakeups, "under_way")
                new.put("Wakeup", "application", wakeups, n)
                new.put("Wakeup", "of_state", wakeups, TIMED.index(it.state))
                wakeups += 1
            if (gang := self.names.gang(n)) is not None:
                its = None if it.gang_timer is None else Wakeup(Kind.GANG, it.serial, it.gang_timer)
                new.state("GangTimer", gang, "off" if its is None else "armed" if its in pending else "under_way")
        for n in range(wakeups, self.instance.sizes["Wakeup"]):
            new.state("Wakeup", n, "free")
            new.put("Wakeup", "application", n, NO_OBJECT)
            new.put("Wakeup", "of_state", n, 0)
        self._asks(new, world)
        return new.packed

    def _partition(self, new: _Image, world: World) -> bool:
        partition = next((p for p in world.partitions if p.name == self.names.partition), None)
        new.put("Partition", "deleted", 0, partition is None)
        if partition is not None:
            new.state("Partition", 0, partition.state)
        return partition is not None

    def _queue(self, new: _Image, n: int, queue: impl.Queue | None) -> None:
        new.put("Queue", "deleted", n, queue is None)
        if queue is not None:
            new.state("Queue", n, queue.state)

    def _node(self, new: _Image, n: int, node: impl.Node | None) -> None:
        if node is not None:
            new.state("Node", n, "schedulable" if node.schedulable else "unschedulable")
        elif new.was("Node", n) != "to_come":
            new.state("Node", n, "gone")

    def _forgotten(self, new: _Image, n: int) -> None:
        """Checks that an application without a record has ended, or never existed."""
        was = new.was("Application", n)
        if was == "New":
            new.put("Application", "known", n, False)
        elif was not in FINISHED:
            raise Broken(f"the record of {self.names.applications[n]} is gone, which was {was}")
        if was == "Completed":
            raise Broken(f"the record of {self.names.applications[n]} is gone, and it has not expired")

    def _asks(self, new: _Image, world: World) -> None:
        asks: Mapping[str, impl.Ask] = {k.name: k for k in world.asks}
        allocations: Mapping[str, impl.Allocation] = {a.name: a for a in world.allocations}
        for n, name in enumerate(self.names.asks):
            ask, allocation = asks.get(name), allocations.get(name)
            new.put("Ask", "listed", n, ask is not None)
            new.put("Ask", "instead", n, NO_OBJECT)
            new.put("Ask", "node", n, NO_OBJECT)
            if allocation is not None:
                new.state("Ask", n, allocation.status)
                new.put("Ask", "node", n, self.names.nodes.index(allocation.node))
                if allocation.replaces is not None:
                    new.put("Ask", "instead", n, self.names.asks.index(allocation.replaces))
            elif ask is not None and ask.pending:
                new.state("Ask", n, "pending")
            elif (was := new.was("Ask", n)) in ("allocated", "releasing"):
                new.state("Ask", n, "released")
            elif was in ("pending", "swapping"):
                new.state("Ask", n, "removed")


def without_bygones(instance: Instance, names: Names) -> Normal:
    """Returns the function that clears ``listed`` of the asks of ended applications.

    No step depends on it, and the core discards such asks.
    """
    states = [s.name for s in instance.model.machine("Application").states]
    finished = {n for n, name in enumerate(states) if name in FINISHED}
    application, listed = instance.slot("Application"), instance.slot("Ask", "listed")

    def normal(state: State) -> State:
        new = list(state)
        for k, of in enumerate(names.application_of):
            if state[application + of] in finished:
                new[listed + k] = 0
        return tuple(new)

    return normal


class _Image:
    """A model state under construction, from the one before."""

    def __init__(self, of: Abstraction, before: State) -> None:
        self._of, self._before = of, before
        self._new = list(before)

    @property
    def packed(self) -> State:
        return tuple(self._new)

    def was(self, sort: str, n: int) -> str:
        """The state of an object in the image before."""
        return self._of.state_of(sort, n, self._before)

    def got(self, sort: str, attribute: str, n: int) -> int:
        """The value of an attribute in the image before."""
        return self._before[self._of.slots[sort, attribute] + n]

    def state(self, sort: str, n: int, name: str) -> None:
        self._new[self._of.slots[sort, ""] + n] = self._of.numbers[sort][name]

    def put(self, sort: str, attribute: str, n: int, value: int) -> None:
        self._new[self._of.slots[sort, attribute] + n] = int(value)
