"""Asks, allocations, placeholders and their swaps: how they come and go, and what that means for the application.

R: number of a repair (see the package's docstring); the rest as F 1.2 and F 3 have it.
"""

from __future__ import annotations

from dataclasses import replace

from schedproof.impl.errors import Refused
from schedproof.impl.scheduler_interface import (
    AddAsk,
    ExistingAllocation,
    NewAllocation,
    ReleaseAsk,
    ReleasedAllocation,
    ReleasedAsk,
    TerminationType,
)

from .application import Applications
from .records import SCHEDULED, Allocation, Ask, ObjectState, State, Status
from .tables import RUN


class Allocations(Applications):
    """What may happen to asks and allocations."""

    # Asks.

    def add_ask(self, request: AddAsk) -> None:
        """An application asks for something more; in New or Completing that brings it (back) to work (D18, F 1.2).

        Raises:
            Refused: no live application of that name, it is failing or its partition is being removed,
                the ask's name is taken, or the amount is none.
        """
        if self._is_repeated(request):
            self.tell(self.allocations.get(request.ask))
            return
        application = self.applications.get(request.application)
        if application is None:
            raise Refused(f"there is no application {request.application}, or it has ended; add it (again) first")
        if not self.takes_asks(application.state):
            raise Refused(f"application {application.name} is {application.state}: it takes no asks")
        if self.partitions[application.partition].state is ObjectState.DRAINING:
            raise Refused(f"partition {application.partition} is being removed (Draining): it takes no asks")
        self._add(request, pending=True)
        if application.state in (State.NEW, State.COMPLETING):
            self.fire(application.name, RUN)

    def _is_repeated(self, request: AddAsk) -> bool:
        """Whether a RM that has lost its memory asks for what it has asked for before (R11)."""
        allocation, ask = self.allocations.get(request.ask), self.asks.get(request.ask)
        if allocation is not None:
            return allocation.application == request.application
        return ask is not None and ask.pending and ask.application == request.application

    def tell(self, it: Allocation | None) -> None:
        """What the RM has been told of an allocation before; nothing of one that is not confirmed."""
        if it is not None and it.status is Status.ALLOCATED:
            self.say(NewAllocation(it.application, it.name, it.name, it.node, it.placeholder))
        elif it is not None and it.status is Status.RELEASING and it.termination is not None:
            self.say(ReleasedAllocation(it.application, it.name, it.termination))

    def takes_asks(self, state: State) -> bool:
        """Whether an application in this state may ask: not while all of it is being cleaned up (D25)."""
        return state in SCHEDULED | {State.NEW, State.COMPLETING, State.RESUMING}

    def _add(self, request: AddAsk | ExistingAllocation, *, pending: bool) -> Ask:
        if request.ask in self.asks or request.ask in self.allocations:
            raise Refused(f"there is an ask {request.ask} already; asks have names of their own")
        if request.amount <= 0:
            raise Refused(f"ask {request.ask} is for {request.amount}; it must be for more than nothing")
        ask = Ask(
            request.ask,
            self.next_serial(),
            request.application,
            request.amount,
            request.placeholder,
            request.task_group,
            request.required_node,
            pending,
        )
        self.asks[ask.name] = ask
        return ask

    def release_ask(self, request: ReleaseAsk) -> None:
        """One ask, or all, are listed no more. Allocations, and swaps under way, stay (F 1.2).

        Only one that was pending leaves less to do than there was.
        """
        listed = [a for a in self.asks.values() if a.application == request.application]
        gone = [a for a in listed if request.ask in (None, a.name)]
        for ask in gone:
            del self.asks[ask.name]
        if any(ask.pending for ask in gone):
            self.go_on(request.application, idle=True)

    # Allocations come.

    def allocate(self, ask: Ask, node: str) -> None:
        """The ask gets an allocation on the node."""
        self.asks[ask.name] = replace(ask, pending=False)
        self.book(Allocation(ask.name, ask.application, node, ask.amount, ask.placeholder, ask.task_group))
        self.say(NewAllocation(ask.application, ask.name, ask.name, node, ask.placeholder))
        self.allocated(ask.application, placeholder=ask.placeholder)

    def allocated(self, name: str, *, placeholder: bool) -> None:
        """What a new allocation means for its application.

        A real one is progress (D19-20). Placeholders are, when the gang's total is there exactly, and in
        Starting, which is for one allocation only.
        """
        application = self.applications[name]
        if placeholder:
            if len(self.placeholders(name)) == 1:
                self.arm_gang_timer(name)
            if application.reserved != application.placeholders and application.state is not State.STARTING:
                return
        if application.state in SCHEDULED | {State.COMPLETING}:
            self.fire(name, RUN)

    # Placeholders are swapped for real asks.

    def swap(self, ask: Ask, placeholder: Allocation, node: str) -> None:
        """A real ask is to have the place of a placeholder, on its node or another: the RM ends that first."""
        self.asks[ask.name] = replace(ask, pending=False)
        self.book(
            Allocation(
                ask.name,
                ask.application,
                node,
                ask.amount,
                False,
                ask.task_group,
                Status.SWAPPING,
                replaces=placeholder.name,
                held=node != placeholder.node,
            )
        )
        self.release([placeholder], TerminationType.PLACEHOLDER_REPLACED)

    def confirm(self, swap: Allocation) -> None:
        """The placeholder is gone: the real allocation is there (R3), unless its node is out of use by now (R9)."""
        self.unbook(swap)
        if not self.is_usable(swap.node):
            self._ask_again(swap)
            return
        self.book(replace(swap, status=Status.ALLOCATED, replaces=None, held=False))
        self.say(NewAllocation(swap.application, swap.name, swap.name, swap.node))
        self.swapped_in(swap.application)

    def is_usable(self, node: str) -> bool:
        """Whether the scheduler can use the node for something new (D64)."""
        return node in self.nodes and self.nodes[node].schedulable

    def swapped_in(self, name: str) -> None:
        """What a confirmed swap means: progress, as any allocation that is added (D20, R3)."""
        if self.applications[name].state in SCHEDULED:
            self.fire(name, RUN)

    def call_off(self, swap: Allocation) -> None:
        """A swap cannot be confirmed: its ask is pending again."""
        self.unbook(swap)
        self._ask_again(swap)

    def _ask_again(self, swap: Allocation) -> None:
        if swap.name in self.asks:
            self.asks[swap.name] = replace(self.asks[swap.name], pending=True)
            return
        # It was taken off the list meanwhile: there is nothing to go back to.
        self.say(ReleasedAsk(swap.application, swap.name, TerminationType.TIMEOUT))
        self.go_on(swap.application, idle=True)

    # Allocations go.

    def remove(self, allocation: Allocation) -> None:
        """A confirmed allocation is gone. If it was a placeholder that is swapped, its swap is confirmed."""
        name = allocation.application
        self.unbook(allocation)
        if allocation.placeholder and not self.placeholders(name):
            self.stop_gang_timer(self.applications[name])
        self.go_on(name, idle=not allocation.placeholder)
        swap = self.swap_for(allocation.name)
        if swap is not None:
            self.confirm(swap)

    def release_allocation(self, name: str, allocation: str | None, termination: TerminationType) -> None:
        """The RM says that an allocation is gone, or (None) all of an application.

        Placeholders first: so nobody is asked to release what is gone.
        """
        known = self.placeholders(name) + self.real(name)
        for it in [a for a in known if allocation in (None, a.name)]:
            self.gone(it, termination)

    def gone(self, allocation: Allocation, termination: TerminationType) -> None:
        """The RM's allocation is gone; if by itself, it is told that the core knows."""
        if termination is TerminationType.STOPPED_BY_RM:
            self.say(ReleasedAllocation(allocation.application, allocation.name, termination))
        self.remove(allocation)
