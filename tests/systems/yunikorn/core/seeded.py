"""YuniKorn cores with a bug each, for the scenarios and the walks to catch.

Each is the reference core with one method spoilt, as a programmer might by mistake, or as version 0.12.2
has it: those are named after the repair (R) that they undo.
"""

from __future__ import annotations

from dataclasses import replace

from schedproof.impl.scheduler_interface import (
    AddAsk,
    CreateNode,
    ExistingAllocation,
    GangStyle,
    NewAllocation,
    PlacementRule,
    ReleaseAsk,
    TerminationType,
)
from schedproof.impl.systems.yunikorn.core import (
    Allocation,
    Application,
    Ask,
    Draft,
    Node,
    ObjectState,
    Option,
    Partition,
    Queue,
    State,
    Status,
)
from schedproof.impl.systems.yunikorn.core.records import SCHEDULED
from schedproof.impl.systems.yunikorn.core.tables import COMPLETE, FAIL, RESUME, RUN

TIMEOUT = TerminationType.TIMEOUT

# As version 0.12.2 has it.


class R1WakeupsOfEarlierStays(Draft):
    """A wakeup does something whenever its application is in a state that has a timer."""

    def is_of_this_stay(self, application: Application, stay: int) -> bool:
        return application.state_timer is not None


class R2CompletesOverItsPlaceholders(Draft):
    def go_on(self, name: str, *, idle: bool = False) -> None:
        application = self.applications[name]
        if application.state in SCHEDULED and self.has_nothing_to_do(name):
            self.fire(name, COMPLETE)
        else:
            super().go_on(name, idle=idle)


class R2CompletesOverASwap(Draft):
    def has_nothing_to_do(self, name: str) -> bool:
        return not (self.pending(name) or self.real(name))


class R3TheFirstSwapIsNone(Draft):
    def swapped_in(self, name: str) -> None:
        if len(self.real(name)) > 1:
            super().swapped_in(name)


class R4FailsWithoutReleasing(Draft):
    """Only placeholders are released by failing."""

    def fail(self, name: str, message: str, termination: TerminationType) -> None:
        self.fire(name, FAIL, message)
        self.drop_asks(name)
        self.call_off_swaps(name)
        self.release_placeholders(name, termination)
        self.go_on(name)


class R4KeepsItsAsks(Draft):
    def drop_asks(self, name: str) -> None:
        if self.applications[name].state is not State.FAILING:
            super().drop_asks(name)


class R4FailedWithTheLastPlaceholder(Draft):
    def is_cleaned_up(self, name: str) -> bool:
        return not self.placeholders(name)


class R4ConfirmsASwapInFailing(Draft):
    def call_off_swaps(self, name: str) -> None:
        pass


class R4ThePartitionDoesNotWait(Draft):
    def is_vacated(self, partition: Partition) -> bool:
        return not any(a.partition == partition.name for a in self.applications.values())


class R4RemovedPartitionTakesAdditions(Draft):
    def takes_applications(self, partition: Partition) -> bool:
        return True

    def is_draining(self, queue: Queue) -> bool:
        return False


class R5HardFailsInAnyCase(Draft):
    """The gang's time fails a Starting application too."""

    def gang_time_over(self, serial: int, armed: int) -> None:
        application = self.numbered(serial)
        if (
            application is not None
            and application.gang_timer == armed
            and application.gang_style is GangStyle.HARD
            and application.state is State.STARTING
        ):
            self.fail(application.name, "ResourceReservationTimeout", TIMEOUT)
        else:
            super().gang_time_over(serial, armed)


class R6StaysResuming(Draft):
    """Resuming is only left by the release of a placeholder."""

    def resume(self, name: str) -> None:
        self.fire(name, RESUME)
        self.drop_asks(name)
        self.release_placeholders(name)


class ResumesWithPlaceholders(Draft):
    """Resuming is left with the first placeholder that goes."""

    def go_on(self, name: str, *, idle: bool = False) -> None:
        application = self.applications[name]
        if application.state is State.RESUMING and any(it.status is Status.ALLOCATED for it in self.placeholders(name)):
            return
        if application.state is State.RESUMING and len(self.placeholders(name)) < application.placeholders:
            self._resumed(name)
        else:
            super().go_on(name, idle=idle)


class R8ADrainingQueueTakesApplications(Draft):
    def is_draining(self, queue: Queue) -> bool:
        return False


class R8OnlyTheQueueItselfDrains(Draft):
    """Whether a queue above is Draining is not asked, for dynamic queues."""

    def is_draining(self, queue: Queue) -> bool:
        return queue.managed and queue.state is ObjectState.DRAINING


class R9RequiredNodesIgnoreTheFlag(Draft):
    def _usable(self, ask: Ask, application: Application) -> list[Node]:
        if ask.required_node in self.nodes and self.nodes[ask.required_node].partition == application.partition:
            return [self.nodes[ask.required_node]]
        return super()._usable(ask, application)


class R9SwapsIgnoreTheFlag(Draft):
    def swap_options(self, ask: Ask, application: Application) -> list[Option]:
        return [Option(ask.name, it.node, it.name) for it in self.replaceable(ask)]


class R9SwapsComeToDrainedNodes(Draft):
    def confirm(self, swap: Allocation) -> None:
        self.unbook(swap)
        self.book(replace(swap, status=Status.ALLOCATED, replaces=None, held=False))
        self.send(NewAllocation(swap.application, swap.name, swap.name, swap.node))
        self.swapped_in(swap.application)


class R10FailedExpires(Draft):
    def drop_application(self, application: Application) -> None:
        if application.state is State.FAILED:
            self._enter(application, State.EXPIRED, "expireApplication")
        else:
            super().drop_application(application)


# Mistakes.


class FailingTakesAsks(Draft):
    def takes_asks(self, state: State) -> bool:
        return True


class CompletingStaysWhenAsked(Draft):
    def add_ask(self, request: AddAsk) -> None:
        super().add_ask(request)
        application = self.applications[request.application]
        if application.state is State.RUNNING and not self.real(application.name) and len(application.log) > 3:
            self.applications[application.name] = replace(application, state=State.COMPLETING)


class AStartingGangsPlaceholdersAreNone(Draft):
    """In Starting a further placeholder is not taken for an allocation."""

    def allocated(self, name: str, *, placeholder: bool) -> None:
        starting = self.applications[name].state is State.STARTING
        if not (placeholder and starting and self.applications[name].reserved != self.applications[name].placeholders):
            super().allocated(name, placeholder=placeholder)


class StartsBeforeTheGangIsThere(Draft):
    def allocated(self, name: str, *, placeholder: bool) -> None:
        super().allocated(name, placeholder=placeholder)
        application = self.applications[name]
        if placeholder and application.reserved < application.placeholders and application.state is State.ACCEPTED:
            self.fire(name, RUN)


class ArmsTheGangTimerAnew(Draft):
    """Every placeholder gives the gang more time."""

    def arm_gang_timer(self, name: str) -> None:
        if self.applications[name].state is State.ACCEPTED:
            self.stop_gang_timer(self.applications[name])
        super().arm_gang_timer(name)

    def allocated(self, name: str, *, placeholder: bool) -> None:
        if placeholder:
            self.arm_gang_timer(name)
        super().allocated(name, placeholder=placeholder)


class GangTimerOutlivesTheGang(Draft):
    def remove(self, allocation: Allocation) -> None:
        application = self.applications[allocation.application]
        self.applications[application.name] = replace(application, gang_timer=None)
        super().remove(allocation)
        if application.name in self.applications and application.gang_timer is not None:
            self.applications[application.name] = replace(
                self.applications[application.name], gang_timer=application.gang_timer
            )


class GangTimeFailsWhatIsFailing(Draft):
    """In version 0.12.2 the time of a Hard gang fires fail in Failing too, which ends it early."""

    def gang_time_over(self, serial: int, armed: int) -> None:
        application = self.numbered(serial)
        super().gang_time_over(serial, armed)
        if application is not None and application.state is State.FAILING and application.gang_timer == armed:
            self.fire(application.name, FAIL)


class RemovalCompletesTheCompleting(Draft):
    """In version 0.12.2 the removal of an application fires complete in Completing too, before its 30 s."""

    def remove_application(self, name: str) -> None:
        if name in self.applications and self.applications[name].state is State.COMPLETING:
            self.fire(name, COMPLETE)
        super().remove_application(name)


class ForgetsToStopTimers(Draft):
    def _stop_state_timer(self, application: Application) -> None:
        pass


class ResumedWithAllocations(Draft):
    """A Resuming application is Accepted again whatever runs of it."""

    def _resumed(self, name: str) -> None:
        application = self.fire(name, RUN)
        if self.partitions[application.partition].state is ObjectState.DRAINING:
            self.fail(name, "PartitionRemoved", TerminationType.PREEMPTED_BY_SCHEDULER)


class ResumesInARemovedPartition(Draft):
    def _resumed(self, name: str) -> None:
        self.fire(name, RUN)
        if self.real(name):
            self.fire(name, RUN)


class SchedulesTheResuming(Draft):
    def is_in_cycle(self, application: Application) -> bool:
        return super().is_in_cycle(application) or application.state is State.RESUMING


class SchedulesInStoppedQueues(Draft):
    def is_scheduled(self, queue: Queue) -> bool:
        return True


class StopsOnlyTheLeaf(Draft):
    def is_scheduled(self, queue: Queue) -> bool:
        return queue.state is not ObjectState.STOPPED


class SweepsQueuesInUse(Draft):
    def is_empty(self, queue: Queue) -> bool:
        return not self.children(queue)


class NeverSweeps(Draft):
    def is_removable(self, queue: Queue) -> bool:
        return False


class OverfillsNodes(Draft):
    def nodes_for(self, ask: Ask, application: Application) -> list[Node]:
        return self._usable(ask, application)


class IgnoresTheMaximum(Draft):
    def room(self, queue: Queue) -> int | None:
        return None


class MaximumOfTheLeafOnly(Draft):
    def room(self, queue: Queue) -> int | None:
        return None if queue.maximum is None else queue.maximum - queue.allocated


class SwapsForAnyGroup(Draft):
    def replaceable(self, ask: Ask) -> list[Allocation]:
        return [
            it for it in self.placeholders(ask.application) if not ask.placeholder and it.status is Status.ALLOCATED
        ]


class SwapsTheSamePlaceholderTwice(Draft):
    def replaceable(self, ask: Ask) -> list[Allocation]:
        if ask.placeholder or not ask.task_group:
            return []
        return [it for it in self.placeholders(ask.application) if it.task_group == ask.task_group]


class SwapHoldsNothing(Draft):
    """A swap to another node does not hold its room there."""

    def swap(self, ask: Ask, placeholder: Allocation, node: str) -> None:
        super().swap(ask, placeholder, node)
        swap = self.allocations[ask.name]
        if swap.held:
            self.unbook(swap)
            self.book(replace(swap, held=False))


class LosesTheSwapOfAStoppedPlaceholder(Draft):
    """In version 0.12.2 a placeholder that ends by itself takes its swap along."""

    def end_allocation(self, allocation: Allocation, termination: TerminationType) -> None:
        swap = self.swap_for(allocation.name)
        if termination is TerminationType.STOPPED_BY_RM and swap is not None:
            self.unbook(swap)
        super().end_allocation(allocation, termination)


class DecommissionForgetsAllocations(Draft):
    def decommission(self, node: Node) -> None:
        del self.nodes[node.name]


class DecommissionConfirmsOnTheNode(Draft):
    """Swaps are not looked at: a swap to the node that goes is left to the placeholder."""

    def decommission(self, node: Node) -> None:
        del self.nodes[node.name]
        for it in [a for a in self.allocations.values() if a.node == node.name and a.confirmed]:
            self.end_allocation(it, TerminationType.STOPPED_BY_RM)


class DecommissionRevertsEverySwap(Draft):
    """A swap whose placeholder goes with its node is reverted, wherever it was to end."""

    def decommission(self, node: Node) -> None:
        for it in [a for a in self.allocations.values() if a.node == node.name and a.placeholder]:
            swap = self.swap_for(it.name)
            if swap is not None:
                self.call_off(swap)
        super().decommission(node)


class WithdrawingEndsTheAllocation(Draft):
    def release_ask(self, request: ReleaseAsk) -> None:
        for it in self.real(request.application):
            if request.ask in (None, it.name):
                self.remove(it)
        super().release_ask(request)


class AnswersNoRelease(Draft):
    def end_allocation(self, allocation: Allocation, termination: TerminationType) -> None:
        self.remove(allocation)


class ReleasesTwice(Draft):
    def release(self, allocations: list[Allocation], termination: TerminationType) -> None:
        super().release([replace(it, status=Status.ALLOCATED) for it in allocations], termination)


class RecoversWithoutCounting(Draft):
    def recover(self, existing: ExistingAllocation, node: CreateNode) -> None:
        super().recover(existing, node)
        self.nodes[node.node] = replace(self.nodes[node.node], allocated=0)


class RecoversAsPending(Draft):
    def recover(self, existing: ExistingAllocation, node: CreateNode) -> None:
        super().recover(existing, node)
        self.asks[existing.ask] = replace(self.asks[existing.ask], pending=True)


class RecoversIntoNew(Draft):
    """The state of an application is not brought up to its recovered allocations."""

    def allocated(self, name: str, *, placeholder: bool) -> None:
        if not any(a.application == name and a.pending is False and a.serial > 3 for a in self.asks.values()):
            super().allocated(name, placeholder=placeholder)


class EverybodyMaySubmit(Draft):
    def may_submit(self, user: str, queue: Queue) -> bool:
        return True


class RejectsWithoutARecord(Draft):
    def reject(self, application: Application, reason: str) -> None:
        super().reject(application, reason)
        self.tracked.pop(application.serial, None)


class RejectsTheOneThatIsThere(Draft):
    def reject(self, application: Application, reason: str) -> None:
        super().reject(application, reason)
        self.applications.pop(application.name, None)


class RemovalLeavesAllocations(Draft):
    def remove_application(self, name: str) -> None:
        application = self.applications.get(name)
        if application is not None:
            self.track(application)


class TakesEveryNameForItsOwn(Draft):
    def owns_its_name(self, application: Application) -> bool:
        return True


class KeepsTheExpired(Draft):
    def sweep_applications(self) -> None:
        pass


class FirstRuleOnly(Draft):
    def place(self, request, rules: tuple[PlacementRule, ...]) -> Queue:  # type: ignore[no-untyped-def]
        return super().place(request, rules[:1])


class CreatesWhatItMayNot(Draft):
    def _by_rules(self, request, rules: tuple[PlacementRule, ...]) -> Queue:  # type: ignore[no-untyped-def]
        return super()._by_rules(request, tuple(replace(rule, create=True) for rule in rules))


def seeded() -> list[type[Draft]]:
    """All of them, in the order of the names."""
    drafts = [it for it in globals().values() if isinstance(it, type) and issubclass(it, Draft) and it is not Draft]
    return sorted(drafts, key=lambda it: it.__name__)
