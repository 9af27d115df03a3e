"""The abstraction function: from snapshots to states of the model. It shares no code with the scheduler."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from schedproof.model.lang import SetOf
from schedproof.model.semantics import Choice, Instance, State
from schedproof.model.systems.yunikorn_merge.merged_configurations import MergedConfiguration

from .component import News, Snapshot

PARTITION, ROOT, LEAF, NOWHERE = "p0", "root", "root.q0", "root.nowhere"


@dataclass(frozen=True)
class Meaning:
    """Maps snapshots to states of ``instance``, a configuration of the merged model."""

    configuration: MergedConfiguration
    instance: Instance

    @cached_property
    def applications(self) -> list[str]:
        """The applications' names, by number."""
        return [f"a{n}" for n in range(self.configuration.applications)]

    @cached_property
    def asks(self) -> list[str]:
        """The asks' names, by number."""
        return [f"k{n}" for n in range(len(self.configuration.asks))]

    @cached_property
    def nodes(self) -> list[str]:
        """The nodes' names, by number."""
        return [f"n{n}" for n in range(self.configuration.nodes)]

    @cached_property
    def allocations(self) -> list[tuple[str, str]]:
        """The allocations (ask, node), by number."""
        return [(self.asks[ask], self.nodes[node]) for ask, node in self.configuration.allocations]

    def application_of(self, ask: str) -> str:
        """Returns the application of an ask."""
        return self.applications[self.configuration.asks[self.asks.index(ask)]]

    def recovered(self, ask: str) -> bool:
        """True if the ask is for an allocation that runs already."""
        return self.asks.index(ask) in self.configuration.recovered

    def label(self, action: str, about: int) -> Choice:
        """Returns the choice that takes a step of the model; each action has one parameter."""
        (parameter,) = self.instance.model.action(action).parameters
        return Choice(action, ((parameter.name, about),))

    # --- Single objects

    def partition(self, at: Snapshot) -> str:
        """Returns the state of the partition."""
        if at.world.partition is not None:
            return "present"
        return "removed" if ("remove_partition", PARTITION) in at.asked else "absent"

    def application(self, at: Snapshot, name: str) -> str:
        """Returns the state of an application."""
        if any(app.name == name for app in at.world.applications):
            return "present"
        if ("ApplicationRejected", name) in at.sent:
            return "rejected"
        return "removed" if ("submit", name) in at.asked else "unknown"

    def ask(self, at: Snapshot, name: str) -> str:
        """Returns the state of an ask; the scheduler discards a satisfied one, the resource manager does not."""
        if any(name in dict(app.asks) for app in at.world.applications):
            return "pending"
        if ("AskRejected", name) in at.sent:
            return "rejected"
        was_held = any(ask == name for ask, _ in at.held)
        if ("ask", name) not in at.asked and not was_held:
            return "unknown"
        without_application = self.application(at, self.application_of(name)) == "removed"
        return "removed" if without_application or ("withdraw", name) in at.asked else "satisfied"

    def node(self, at: Snapshot, name: str) -> str:
        """Returns the state of a node."""
        if any(node.name == name for node in at.world.nodes):
            return "present"
        if ("NodeRejected", name) in at.sent:
            return "rejected"
        return "removed" if ("add_node", name) in at.asked else "unknown"

    def allocation(self, at: Snapshot, ask: str, node: str) -> str:
        """Returns the state of an allocation; one reported with its node that does not exist was not recovered."""
        if (ask, node) in at.world.allocations:
            return "allocated"
        reported = self.recovered(ask) and ("add_node", node) in at.asked
        return "ended" if (ask, node) in at.held or reported else "unknown"

    def known(self, at: Snapshot, ask: str, node: str) -> str:
        """Returns what the resource manager knows of an allocation."""
        was_allocated = (ask, node) in at.held or self.recovered(ask)
        if was_allocated and ("AllocationReleased", ask) in at.heard:
            return "ended"
        reported = self.recovered(ask) and ("add_node", node) in at.asked
        return "running" if reported or (was_allocated and ("NewAllocation", ask) in at.heard) else "unknown"

    # --- Whole states

    @cached_property
    def _numbers(self) -> dict[tuple[str, str], tuple[int, dict[object, int]]]:
        """By sort and attribute ("": the state): the first slot, and the number of each value by the value as shown."""
        instance, numbers = self.instance, dict[tuple[str, str], tuple[int, dict[object, int]]]()
        for machine in instance.model.machines:
            sort = machine.sort.name
            if machine.states:
                numbers[sort, ""] = instance.slot(sort), {s.name: n for n, s in enumerate(machine.states)}
            for a in instance.attributes(sort):
                shown = {instance.show(a.type, v): v for v in instance.domain(a.type) if not isinstance(a.type, SetOf)}
                numbers[sort, a.name] = instance.slot(sort, a.name), shown
        return numbers

    def image(self, at: Snapshot) -> State:
        """Returns the state of the model."""
        new = list(self.instance.initial())

        def put(sort: str, number: int, state: str, **attributes: str | bool) -> None:
            slot, numbers = self._numbers[sort, ""]
            new[slot + number] = numbers[state]
            for name, value in attributes.items():
                slot, numbers = self._numbers[sort, name]
                new[slot + number] = numbers[value]

        def heard(accepted: str, rejected: str, name: str) -> str:
            return (
                "accepted"
                if (accepted, name) in at.heard
                else "rejected"
                if (rejected, name) in at.heard
                else "nothing"
            )

        put("Partition", 0, self.partition(at))
        put("Queue", 0, "present" if any(q.name == LEAF for q in at.world.queues) else self.partition(at))
        for n, name in enumerate(self.applications):
            answer = heard("ApplicationAccepted", "ApplicationRejected", name)
            put("Application", n, self.application(at, name), notified=answer)
        for n, name in enumerate(self.asks):
            put("Ask", n, self.ask(at, name), notified=("AskRejected", name) in at.heard)
        for n, name in enumerate(self.nodes):
            put("Node", n, self.node(at, name), notified=heard("NodeAccepted", "NodeRejected", name))
        for n, (ask, node) in enumerate(self.allocations):
            put("Allocation", n, self.allocation(at, ask, node), rm=self.known(at, ask, node))
        self._messages(at, new)
        return tuple(new)

    def _messages(self, at: Snapshot, new: list[int]) -> None:
        states, behind = self.instance.slot("Message"), self.instance.slot("Message", "behind")
        for n in range(self.instance.sizes["Message"]):
            new[states + n], new[behind + n] = 0, 0
        before = 0
        for batch in at.outbox:
            numbers = [self.message(at, what) for what in batch]
            for n in numbers:
                new[states + n], new[behind + n] = 1, before
            for n in numbers:
                before |= 1 << n

    def message(self, at: Snapshot, what: News) -> int:
        """Returns the number of the message object for a notification."""
        kind, name = what
        rigid = self.instance.rigid

        def is_about(number: int) -> bool:
            about = {sort: rigid["Message", sort][number] for sort in ("application", "ask", "node", "allocation")}
            sort, its = next((sort, n) for sort, n in about.items() if isinstance(n, int))
            if sort != "allocation":
                return {"application": self.applications, "ask": self.asks, "node": self.nodes}[sort][its] == name
            ask, node = self.allocations[its]
            # Of an ask's allocations the one that exists or existed, or that was reported and not recovered.
            meant = (ask, node) in at.held or (self.recovered(ask) and all(a != ask for a, _ in at.held))
            return ask == name and meant

        kinds = rigid["Message", "kind"]
        return next(n for n, its in enumerate(kinds) if its == kind and is_about(n))
