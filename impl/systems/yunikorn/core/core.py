"""The core: requests of the RM, decisions of the scheduler, wakeups of timers, one at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from threading import RLock

from schedproof.impl.choice import first
from schedproof.impl.clock import Clock
from schedproof.impl.errors import Refused
from schedproof.impl.scheduler_interface import (
    AddApplication,
    AddAsk,
    AskRejected,
    ConfigurationAccepted,
    ConfigurationRejected,
    ControlAccepted,
    ControlObject,
    ControlRejected,
    CreateNode,
    NodeAccepted,
    NodeRejected,
    RegisterRM,
    ReleaseAllocation,
    ReleaseAsk,
    RemoveApplication,
    Request,
    Response,
    RMAccepted,
    RMRejected,
    UpdateConfiguration,
    UpdateNode,
)
from schedproof.impl.table_machine import IllegalEvent

from .choice import Choice, Option
from .events import APPLICATION_SWEEP, QUEUE_SWEEP, Kind, Outbox, Wakeup, armed
from .records import Application, World
from .scheduling import Draft

Listener = Callable[[Sequence[Response]], None]

EMPTY = World()


class Core:
    """A scheduler core. It remembers nothing durably: a new one, or one that has crashed, knows nothing.

    Every operation returns its responses, in order; ``listener`` is told of all of them, those that a
    timer brings too, so that a RM that listens need not look at what is returned. Calls from several
    threads are taken one at a time; a listener is called in between, so it should only queue what it
    is told. An operation that raises has changed nothing.

    After a crash the RM rebuilds the core: it registers, adds its applications, then its nodes with
    what is on them, then the asks that have no allocation.
    """

    draft_type: type[Draft] = Draft

    def __init__(self, clock: Clock, *, choose: Choice = first, listener: Listener | None = None) -> None:
        self._clock = clock
        self._choose = choose
        self._listener = listener
        self._world = EMPTY
        self._process = 0
        self._lock = RLock()

    @property
    def world(self) -> World:
        """The records as they are now; a value that later operations do not change."""
        return self._world

    def application(self, name: str) -> Application:
        """The record of a live application, or else of the last one of that name that is tracked.

        Raises:
            Refused: there is none.
        """
        found = [a for a in (*self._world.tracked, *self._world.applications) if a.name == name]
        if not found:
            raise Refused(f"there is no application {name}, and no record of one")
        return found[-1]

    def state_log(self, name: str) -> list[dict[str, object]]:
        """The states that the application has entered, as the REST interface lists them (F 7).

        Raises:
            Refused: there is no application of that name, and no record of one.
        """
        return [{"time": entry.time, "applicationState": str(entry.state)} for entry in self.application(name).log]

    # The RM.

    def handle(self, request: Request) -> list[Response]:
        """Does what the RM asks for. What cannot be done is answered, not raised.

        Raises:
            TypeError: this is no request.
        """
        return self._do(lambda draft: self._handle(draft, request), partial(_refusal, request))

    def _handle(self, draft: Draft, request: Request) -> None:
        match request:
            case RegisterRM():
                self._register(draft, request)
            case UpdateConfiguration():
                draft.configure(request.partitions)
                draft.say(ConfigurationAccepted())
            case ControlObject():
                state = draft.control(request)
                draft.say(ControlAccepted(request.partition, request.queue, state))
            case AddApplication():
                draft.add_application(request)
            case RemoveApplication():
                draft.remove_application(request.application)
            case AddAsk():
                draft.add_ask(request)
            case ReleaseAsk():
                draft.release_ask(request)
            case ReleaseAllocation():
                draft.release_allocation(request.application, request.allocation, request.termination)
            case CreateNode():
                draft.say(NodeAccepted(request.node))
                draft.create_node(request)
            case UpdateNode():
                draft.update_node(request)
            case _:
                raise TypeError(f"{request!r} is no request; see schedproof.impl.scheduler_interface")

    def _register(self, draft: Draft, request: RegisterRM) -> None:
        if draft.rm == request.rm:
            # It has lost its memory: its configuration is here, and it is told what it may not know (R11).
            draft.say(RMAccepted(request.rm))
            draft.tell_all()
            return
        if draft.rm is not None:
            raise Refused(f"RM {draft.rm} is registered; a core serves one")
        draft.rm = request.rm
        draft.configure(request.partitions)
        draft.out.arm(Wakeup(Kind.QUEUES), QUEUE_SWEEP)
        draft.out.arm(Wakeup(Kind.APPLICATIONS), APPLICATION_SWEEP)
        draft.say(RMAccepted(request.rm))

    # The scheduler.

    def options(self) -> list[Option]:
        """What the scheduler could do now."""
        with self._lock:
            return self._draft().options()

    def schedule(self, choose: Choice | None = None) -> list[Response]:
        """One decision: an ask is allocated, or begins to replace a placeholder. Nothing, if none can be.

        Args:
            choose: picks the option; that of the core if not given.

        Raises:
            Refused: the choice was not among the options.
        """
        return self._do(lambda draft: draft.schedule(choose or self._choose))

    def schedule_all(self) -> list[Response]:
        """Decisions until none is left."""
        responses: list[Response] = []
        with self._lock:
            while self.options():
                responses += self.schedule()
        return responses

    # Time.

    def wake(self, wakeup: Wakeup) -> list[Response]:
        """A timer has run out, now or long ago. What it was about may be over; then nothing happens."""
        return self._do(lambda draft: self._wake(draft, wakeup))

    def _wake(self, draft: Draft, wakeup: Wakeup) -> None:
        match wakeup.kind:
            case Kind.STATE:
                draft.state_time_over(wakeup.application, wakeup.serial)
            case Kind.GANG:
                draft.gang_time_over(wakeup.application, wakeup.serial)
            case Kind.QUEUES:
                draft.sweep()
                draft.out.repeat(wakeup, QUEUE_SWEEP)
            case Kind.APPLICATIONS:
                draft.sweep_applications()
                draft.out.repeat(wakeup, APPLICATION_SWEEP)

    # The process.

    def crash(self) -> None:
        """The process dies, and a new one starts: nothing is known, and no timer of before comes any more."""
        with self._lock:
            for wakeup in armed(self._world):
                self._clock.stop(wakeup)
            self._world = EMPTY
            self._process += 1

    # For explorations, which go back to earlier states. The clock goes back by itself.

    def snapshot(self) -> World:
        """All that the core remembers."""
        return self._world

    @property
    def process(self) -> int:
        """How often the process has died: the timers of another one mean nothing."""
        return self._process

    def restore(self, snapshot: World, process: int | None = None) -> None:
        """Goes back to what a snapshot holds, and to the process that it was of."""
        self._world = snapshot
        self._process = self._process if process is None else process

    # The course of every operation.

    def _draft(self) -> Draft:
        return self.draft_type(self._world, self._clock.now())

    def _do(
        self, work: Callable[[Draft], object], refusal: Callable[[Exception], Response | None] | None = None
    ) -> list[Response]:
        with self._lock:
            draft = self._draft()
            try:
                work(draft)
            except (Refused, IllegalEvent) as problem:
                answer = refusal(problem) if refusal is not None else None
                if answer is None:
                    raise
                draft = self._draft()
                draft.say(answer)
            self._world = draft.world()
            self._set_timers(draft.out)
            if self._listener is not None and draft.out.responses:
                self._listener(draft.out.responses)
            return draft.out.responses

    def _set_timers(self, out: Outbox) -> None:
        for wakeup in out.stopped:
            self._clock.stop(wakeup)
        for wakeup, seconds in out.armed.items():
            self._clock.arm(wakeup, seconds, partial(self._come, self._process, wakeup))

    def _come(self, process: int, wakeup: Wakeup) -> None:
        """The callback of a timer; that of a process that has died is nobody's."""
        with self._lock:
            if process == self._process:
                self.wake(wakeup)


def _refusal(request: Request, problem: Exception) -> Response | None:
    """How a request is answered that cannot be done; None if that is no answer to it."""
    reason = str(problem)
    match request:
        case ControlObject():
            return ControlRejected(request.partition, request.queue, reason)
        case _ if isinstance(problem, IllegalEvent):
            return None
        case RegisterRM():
            return RMRejected(request.rm, reason)
        case UpdateConfiguration():
            return ConfigurationRejected(reason)
        case AddAsk():
            return AskRejected(request.application, request.ask, reason)
        case CreateNode():
            return NodeRejected(request.node, reason)
        case _:
            return None
