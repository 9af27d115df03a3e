"""Scheduling decisions: the options, and carrying one out."""

from __future__ import annotations

from schedproof.impl.choice import checked_choice

from .choice import Choice, Option
from .partition import Partitions
from .records import SCHEDULED, Allocation, Application, Ask, Node, ObjectState, Status


class Draft(Partitions):
    """A copy of the records with all operations on them; the topmost layer."""

    def options(self) -> list[Option]:
        """Returns what the scheduler can do now, in the order of applications, asks and nodes.

        A real ask of a task group replaces one of the group's placeholders, as long as a large enough one is left.
        Without such a placeholder it is allocated like any other ask.
        """
        possible: list[Option] = []
        for application in sorted(self.applications.values(), key=lambda a: a.serial):
            if self.is_in_cycle(application):
                for ask in self.pending(application.name):
                    possible += self.swap_options(ask, application) or self.plain_options(ask, application)
        return possible

    def schedule(self, choose: Choice) -> Option | None:
        """Makes one decision; returns None if there is nothing to decide.

        Raises:
            Refused: the choice was not among the options.
        """
        option = checked_choice(choose, self.options())
        if option is not None:
            self.take(option)
        return option

    def take(self, option: Option) -> None:
        """Carries out an option."""
        ask = self.asks[option.ask]
        if option.replaces is None:
            self.allocate(ask, option.node)
        else:
            self.swap(ask, self.allocations[option.replaces], option.node)

    def is_in_cycle(self, application: Application) -> bool:
        """True if application, queues and partition are part of the scheduling cycle (D19-21, D49-51)."""
        return (
            application.state in SCHEDULED
            and self.partitions[application.partition].state is not ObjectState.STOPPED
            and self.is_scheduled(self.queues[application.partition, application.queue])
        )

    def plain_options(self, ask: Ask, application: Application) -> list[Option]:
        """Returns the nodes on which the ask can be allocated, if its queues have room for it."""
        room = self.room(self.queues[application.partition, application.queue])
        if room is not None and room < ask.amount:
            return []
        return [Option(ask.name, node.name) for node in self.nodes_for(ask, application)]

    def nodes_for(self, ask: Ask, application: Application) -> list[Node]:
        """Returns the nodes that have room for the ask."""
        return [n for n in self._usable(ask, application) if n.available >= ask.amount]

    def _usable(self, ask: Ask, application: Application) -> list[Node]:
        """The schedulable nodes of the partition; only the required one, if the ask requires one (D64, R9)."""
        nodes = (self.nodes[name] for name in sorted(self.nodes))
        return [
            node
            for node in nodes
            if node.partition == application.partition
            and self.is_usable(node.name)
            and ask.required_node in (None, node.name)
        ]

    def swap_options(self, ask: Ask, application: Application) -> list[Option]:
        """Returns the swaps for the ask: on the placeholders' own nodes, or if none is possible there, on others."""
        replaceable = self.replaceable(ask)
        usable = {node.name for node in self._usable(ask, application)}
        in_place = [Option(ask.name, it.node, it.name) for it in replaceable if it.node in usable]
        if in_place:
            return in_place
        return [Option(ask.name, node.name, it.name) for it in replaceable for node in self.nodes_for(ask, application)]

    def replaceable(self, ask: Ask) -> list[Allocation]:
        """Returns the placeholders of the ask's task group that are large enough and are not being released."""
        if ask.placeholder or not ask.task_group:
            return []
        return [
            it
            for it in sorted(self.placeholders(ask.application), key=lambda a: a.name)
            if it.status is Status.ALLOCATED and it.task_group == ask.task_group and it.amount >= ask.amount
        ]
