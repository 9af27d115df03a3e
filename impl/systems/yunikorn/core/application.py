"""An application's states, and when they change: events, timers, gangs, failing.

R: a repair, by its number in the package's docstring. The rest is as in F 1.2 to F 1.4.
"""

from __future__ import annotations

from dataclasses import replace

from schedproof.impl.scheduler_interface import (
    ApplicationUpdated,
    GangStyle,
    ReleasedAllocation,
    ReleasedAsk,
    TerminationType,
)

from .events import COMPLETING_TIMEOUT, GANG_TIMEOUT, LONGEST_TIMEOUT, STARTING_TIMEOUT, TRACKING_TIME, Kind, Wakeup
from .queues import Queues
from .records import ENDED, SCHEDULED, Allocation, Application, LogEntry, ObjectState, State, Status
from .tables import APPLICATION, COMPLETE, EXPIRE, FAIL, RESUME, RUN

PARTITION_REMOVED = "PartitionRemoved"
GANG_TIMED_OUT = "ResourceReservationTimeout"


class Applications(Queues):
    """The operations on an application, and on its asks and allocations where its state depends on them."""

    # Events.

    def fire(self, name: str, event: str, message: str = "") -> Application:
        """Fires an event of a live application: see :meth:`_fire`."""
        return self._fire(self.applications[name], event, message)

    def _fire(self, application: Application, event: str, message: str = "") -> Application:
        """Fires an event of an application; a self loop of the table enters no state (F 1.1).

        Raises:
            IllegalEvent: the table has no row for it.
        """
        target = State(APPLICATION.target(application.state, event))
        return application if target is application.state else self._enter(application, target, message or event)

    def _enter(self, application: Application, state: State, message: str) -> Application:
        """Moves an application to another state.

        Sets the timer, writes the log, notifies the RM, and tracks an application that has ended.
        """
        self._stop_state_timer(application)
        log = (*application.log, LogEntry(state, self.now))
        application = self.arm_state_timer(replace(application, state=state, state_timer=None, log=log))
        self.keep(application)
        if self.owns_its_name(application):
            self.send(ApplicationUpdated(application.name, state, message, self.now))
        if state in ENDED:
            application = self.stop_gang_timer(application)
            self.track(application)
        return application

    def time_in(self, application: Application) -> float | None:
        """Returns how long the application may stay in its state, in seconds; None if no timer ends it (F 1.3)."""
        match application.state:
            case State.STARTING:
                return STARTING_TIMEOUT if application.starting_timeout else 0
            case State.COMPLETING:
                return COMPLETING_TIMEOUT
            # In a final state the timer ends the record (D24, R10).
            case State.COMPLETED | State.FAILED | State.REJECTED:
                return TRACKING_TIME
            case _:
                return None

    def arm_state_timer(self, application: Application) -> Application:
        """Begins a stay: arms its timer, if the state has one."""
        seconds = self.time_in(application)
        if seconds is None:
            return application
        stay = self.next_serial()
        self.out.arm(Wakeup(Kind.STATE, application.serial, stay), seconds)
        return replace(application, state_timer=stay)

    def track(self, application: Application) -> None:
        """Moves a record from the live applications to the tracked ones; its names become free."""
        if application.serial in self.tracked:
            return
        del self.applications[application.name]
        self.tracked[application.serial] = application
        for ask in [a for a in self.asks.values() if a.application == application.name]:
            del self.asks[ask.name]

    def owns_its_name(self, application: Application) -> bool:
        """True if the RM knows no newer application by this name."""
        live = self.applications.get(application.name)
        return live is None or live.serial == application.serial

    def _stop_state_timer(self, application: Application) -> None:
        if application.state_timer is not None:
            self.out.stop(Wakeup(Kind.STATE, application.serial, application.state_timer))

    # The state timer.

    def state_time_over(self, serial: int, stay: int) -> None:
        """Handles a state timer that has run out; one of an earlier stay does nothing (D23, R1)."""
        application = self.numbered(serial)
        if application is None or not self.is_of_this_stay(application, stay):
            return
        match application.state:
            case State.STARTING:
                self._fire(application, RUN)
            case State.COMPLETING:
                self._fire(application, COMPLETE)
            case State.COMPLETED:
                self._fire(application, EXPIRE)
            case State.FAILED | State.REJECTED:
                self.drop_application(application)
            case _:
                raise AssertionError(f"application {application.name} has a timer in {application.state}")

    def is_of_this_stay(self, application: Application, stay: int) -> bool:
        """True if ``stay`` numbers the timer of the application's current stay."""
        return application.state_timer == stay

    def drop_application(self, application: Application) -> None:
        """Deletes the record of an application in a final state."""
        self.tracked.pop(application.serial, None)

    def sweep_applications(self) -> None:
        """Deletes the records of expired applications (D24, F 1.3)."""
        for application in list(self.tracked.values()):
            if application.state is State.EXPIRED:
                self.drop_application(application)

    # Gangs.

    def arm_gang_timer(self, name: str) -> None:
        """Arms the gang's timer when the first placeholder of an Accepted application is allocated (F 1.3)."""
        application = self.applications[name]
        if application.state is not State.ACCEPTED or application.gang_timer is not None:
            return
        armed = self.next_serial()
        self.keep(replace(application, gang_timer=armed))
        usable = 0 < application.gang_timeout < LONGEST_TIMEOUT
        seconds = application.gang_timeout if usable else GANG_TIMEOUT
        self.out.arm(Wakeup(Kind.GANG, application.serial, armed), seconds)

    def stop_gang_timer(self, application: Application) -> Application:
        if application.gang_timer is not None:
            self.out.stop(Wakeup(Kind.GANG, application.serial, application.gang_timer))
            application = replace(application, gang_timer=None)
            self.keep(application)
        return application

    def gang_time_over(self, serial: int, armed: int) -> None:
        """Handles a gang's time-out (F 1.2): a waiting application resumes or fails, others lose their placeholders.

        The gang has begun once it has a real allocation, or a swap for one is under way (D25, R5). In Resuming,
        Failing or later its placeholders are being released already.
        """
        application = self.numbered(serial)
        if application is None or application.gang_timer != armed:
            return
        application = replace(application, gang_timer=None)
        self.keep(application)
        # With a real allocation it would be Starting or later (R3).
        waits = application.state is State.ACCEPTED and not self.swaps(application.name)
        if waits and application.gang_style is GangStyle.SOFT:
            self.resume(application.name)
        elif waits:
            self.fail(application.name, GANG_TIMED_OUT, TerminationType.TIMEOUT)
        elif application.state in SCHEDULED | {State.COMPLETING}:
            self.release_placeholders(application.name)

    def resume(self, name: str) -> None:
        """Resumes a Soft gang: it gives up its placeholders, and then is Accepted (F 1.2, R12)."""
        self.fire(name, RESUME, GANG_TIMED_OUT)
        self.drop_asks(name, placeholders_only=True)
        self.release_placeholders(name)
        self.go_on(name)

    # Failing.

    def fail(self, name: str, message: str, termination: TerminationType) -> None:
        """Makes the application fail: all its asks and allocations end, and then it is Failed (D25-26, R4)."""
        self.fire(name, FAIL, message)
        self.drop_asks(name)
        self.call_off_swaps(name)
        self.release(self.real(name) + self.placeholders(name), termination)
        self.go_on(name)

    def drop_asks(self, name: str, *, placeholders_only: bool = False) -> None:
        """Drops its asks, or only those for placeholders; notifies the RM of those that were pending."""
        asks_of_application = [a for a in self.asks.values() if a.application == name]
        for ask in [a for a in asks_of_application if a.placeholder or not placeholders_only]:
            del self.asks[ask.name]
            if ask.pending:
                self.send(ReleasedAsk(name, ask.name, TerminationType.TIMEOUT))

    def call_off_swaps(self, name: str) -> None:
        """Cancels its swaps; the release of their placeholders continues."""
        for swap in self.swaps(name):
            self.unbook(swap)
            self.send(ReleasedAsk(name, swap.name, TerminationType.TIMEOUT))

    def release_placeholders(self, name: str, termination: TerminationType = TerminationType.TIMEOUT) -> None:
        """Asks the RM to end the placeholders of an application."""
        self.release(self.placeholders(name), termination)

    def release(self, allocations: list[Allocation], termination: TerminationType) -> None:
        """Asks the RM to end allocations, except those that it has been asked to end before."""
        for it in allocations:
            if it.status is Status.ALLOCATED:
                self.allocations[it.name] = replace(it, status=Status.RELEASING, termination=termination)
                self.send(ReleasedAllocation(it.application, it.name, termination))

    # After an ask or an allocation has gone.

    def go_on(self, name: str, *, idle: bool = False) -> None:
        """Moves an application on after an ask or an allocation has gone.

        Args:
            name: a live application.
            idle: whether to release its placeholders if it has nothing else left.
        """
        application = self.applications[name]
        if application.state is State.FAILING:
            if self.is_cleaned_up(name):
                self.fire(name, FAIL)
        elif application.state is State.RESUMING:
            if not self.placeholders(name):
                self._resumed(name)
        elif application.state in SCHEDULED and self.has_nothing_to_do(name):
            if not self.placeholders(name):
                self.fire(name, COMPLETE)
            elif idle:
                self.release_placeholders(name)

    def is_cleaned_up(self, name: str) -> bool:
        """True if a failing application has no ask and no allocation left (D26)."""
        return not (self.pending(name) or self.swaps(name) or self.real(name) or self.placeholders(name))

    def has_nothing_to_do(self, name: str) -> bool:
        """True if no ask is pending and nothing real runs (D22, R2); allocated placeholders do not count."""
        return not (self.pending(name) or self.swaps(name) or self.real(name))

    def _resumed(self, name: str) -> None:
        """The last placeholder of a Resuming application is gone (R6)."""
        application = self.fire(name, RUN)
        if self.has_nothing_to_do(name):
            self.fire(name, COMPLETE)
        elif self.partitions[application.partition].state is ObjectState.DRAINING:
            # It could not fail while it was Resuming (F 1).
            self.fail(name, PARTITION_REMOVED, TerminationType.PREEMPTED_BY_SCHEDULER)
