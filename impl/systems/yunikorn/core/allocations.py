"""Asks, allocations, and swaps of placeholders: how they begin and end, and what that does to the application.

R: a repair, by its number in the package's docstring. The rest is as in F 1.2 and F 3.
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
    """The operations on asks and allocations."""

    # Asks.

    def add_ask(self, request: AddAsk) -> None:
        """Adds an ask; an application in New or Completing begins to work (again) (D18, F 1.2).

        Raises:
            Refused: the application is not live or is failing, its partition is being removed, the ask's name is
                taken, or the amount is not positive.
        """
        if self._is_repeated(request):
            self.repeat(self.allocations.get(request.ask))
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
        """True if a RM that has lost its memory repeats an ask (R11)."""
        allocation, ask = self.allocations.get(request.ask), self.asks.get(request.ask)
        if allocation is not None:
            return allocation.application == request.application
        return ask is not None and ask.pending and ask.application == request.application

    def repeat(self, it: Allocation | None) -> None:
        """Repeats to the RM what it was sent about an allocation; sends nothing about an unconfirmed one."""
        if it is not None and it.status is Status.ALLOCATED:
            self.send(NewAllocation(it.application, it.name, it.name, it.node, it.placeholder))
        elif it is not None and it.status is Status.RELEASING and it.termination is not None:
            self.send(ReleasedAllocation(it.application, it.name, it.termination))

    def takes_asks(self, state: State) -> bool:
        """True if an application in this state may ask; one that is being cleaned up may not (D25)."""
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
        """Removes one ask, or all, from the list. Allocations, and swaps under way, stay (F 1.2).

        Only a removed ask that was pending can leave the application idle.
        """
        listed = [a for a in self.asks.values() if a.application == request.application]
        released = [a for a in listed if request.ask in (None, a.name)]
        for ask in released:
            del self.asks[ask.name]
        if any(ask.pending for ask in released):
            self.go_on(request.application, idle=True)

    # Allocations begin.

    def allocate(self, ask: Ask, node: str) -> None:
        """Allocates the ask on the node."""
        self.asks[ask.name] = replace(ask, pending=False)
        self.book(Allocation(ask.name, ask.application, node, ask.amount, ask.placeholder, ask.task_group))
        self.send(NewAllocation(ask.application, ask.name, ask.name, node, ask.placeholder))
        self.allocated(ask.application, placeholder=ask.placeholder)

    def allocated(self, name: str, *, placeholder: bool) -> None:
        """Moves an application on after a new allocation.

        A real allocation moves it on (D19-20). A placeholder does so when it completes the gang's total exactly, or
        in Starting, which is for one allocation only.
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
        """Begins to swap a real ask for a placeholder, on its node or another; the RM first ends the placeholder."""
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
        """Allocates a swap whose placeholder is gone (R3), unless its node has become unusable (R9)."""
        self.unbook(swap)
        if not self.is_usable(swap.node):
            self._ask_again(swap)
            return
        self.book(replace(swap, status=Status.ALLOCATED, replaces=None, held=False))
        self.send(NewAllocation(swap.application, swap.name, swap.name, swap.node))
        self.swapped_in(swap.application)

    def is_usable(self, node: str) -> bool:
        """True if the scheduler can use the node for something new (D64)."""
        return node in self.nodes and self.nodes[node].schedulable

    def swapped_in(self, name: str) -> None:
        """Moves an application on after a confirmed swap, as after any allocation (D20, R3)."""
        if self.applications[name].state in SCHEDULED:
            self.fire(name, RUN)

    def call_off(self, swap: Allocation) -> None:
        """Cancels a swap that cannot be confirmed: its ask is pending again."""
        self.unbook(swap)
        self._ask_again(swap)

    def _ask_again(self, swap: Allocation) -> None:
        if swap.name in self.asks:
            self.asks[swap.name] = replace(self.asks[swap.name], pending=True)
            return
        # The ask was removed from the list meanwhile, so it cannot be pending again.
        self.send(ReleasedAsk(swap.application, swap.name, TerminationType.TIMEOUT))
        self.go_on(swap.application, idle=True)

    # Allocations end.

    def remove(self, allocation: Allocation) -> None:
        """Removes a confirmed allocation. If it was a placeholder in a swap, the swap is confirmed."""
        name = allocation.application
        self.unbook(allocation)
        if allocation.placeholder and not self.placeholders(name):
            self.stop_gang_timer(self.applications[name])
        self.go_on(name, idle=not allocation.placeholder)
        swap = self.swap_for(allocation.name)
        if swap is not None:
            self.confirm(swap)

    def release_allocation(self, name: str, allocation: str | None, termination: TerminationType) -> None:
        """Handles the RM's word that an allocation is gone, or (None) that all of an application are.

        Placeholders go first, so that the RM is not asked to release one that is gone.
        """
        known = self.placeholders(name) + self.real(name)
        for it in [a for a in known if allocation in (None, a.name)]:
            self.end_allocation(it, termination)

    def end_allocation(self, allocation: Allocation, termination: TerminationType) -> None:
        """Removes the RM's allocation; if it ended by itself, the RM gets an acknowledgement."""
        if termination is TerminationType.STOPPED_BY_RM:
            self.send(ReleasedAllocation(allocation.application, allocation.name, termination))
        self.remove(allocation)
