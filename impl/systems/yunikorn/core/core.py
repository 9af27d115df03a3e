"""The core: it handles the RM's requests, the scheduler's decisions and the timers' wakeups, one at a time."""

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
    """A scheduler core. It stores nothing durably: a new core, or one that has crashed, knows nothing.

    Every operation returns its responses, in order. ``listener`` receives them all, also those that a timer causes,
    so a RM that listens can ignore the returned ones. An operation that raises changes nothing.

    Calls from several threads run one at a time. The listener is called during an operation, so it should only queue
    what it receives.

    After a crash the RM rebuilds the core. It registers, adds its applications, then its nodes with their
    allocations, then the asks without an allocation.
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
        """The current records; later operations do not change this value."""
        return self._world

    def application(self, name: str) -> Application:
        """Returns the record of a live application, or else of the last tracked one of that name.

        Raises:
            Refused: there is none.
        """
        records = [a for a in (*self._world.tracked, *self._world.applications) if a.name == name]
        if not records:
            raise Refused(f"there is no application {name}, and no record of one")
        return records[-1]

    def state_log(self, name: str) -> list[dict[str, object]]:
        """Returns the states that the application has entered, as the REST interface lists them (F 7).

        Raises:
            Refused: there is neither an application of that name nor a record of one.
        """
        return [{"time": entry.time, "applicationState": str(entry.state)} for entry in self.application(name).log]

    # The RM.

    def handle(self, request: Request) -> list[Response]:
        """Does what the RM asks for. A request that cannot be done is answered; it raises nothing.

        Raises:
            TypeError: the argument is not a request.
        """
        return self._do(lambda draft: self._handle(draft, request), partial(_refusal, request))

    def _handle(self, draft: Draft, request: Request) -> None:
        match request:
            case RegisterRM():
                self._register(draft, request)
            case UpdateConfiguration():
                draft.configure(request.partitions)
                draft.send(ConfigurationAccepted())
            case ControlObject():
                state = draft.control(request)
                draft.send(ControlAccepted(request.partition, request.queue, state))
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
                draft.send(NodeAccepted(request.node))
                draft.create_node(request)
            case UpdateNode():
                draft.update_node(request)
            case _:
                raise TypeError(f"{request!r} is no request; see schedproof.impl.scheduler_interface")

    def _register(self, draft: Draft, request: RegisterRM) -> None:
        if draft.rm == request.rm:
            # The RM has lost its memory: its configuration is still here, so the core sends it what it may not know
            # (R11).
            draft.send(RMAccepted(request.rm))
            draft.repeat_all()
            return
        if draft.rm is not None:
            raise Refused(f"RM {draft.rm} is registered; a core serves one")
        draft.rm = request.rm
        draft.configure(request.partitions)
        draft.out.arm(Wakeup(Kind.QUEUES), QUEUE_SWEEP)
        draft.out.arm(Wakeup(Kind.APPLICATIONS), APPLICATION_SWEEP)
        draft.send(RMAccepted(request.rm))

    # The scheduler.

    def options(self) -> list[Option]:
        """Returns what the scheduler can do now."""
        with self._lock:
            return self._draft().options()

    def schedule(self, choose: Choice | None = None) -> list[Response]:
        """Makes one decision, if any is possible: allocates an ask, or begins to swap it for a placeholder.

        Args:
            choose: picks the option; by default the core's own choice.

        Raises:
            Refused: the choice was not among the options.
        """
        return self._do(lambda draft: draft.schedule(choose or self._choose))

    def schedule_all(self) -> list[Response]:
        """Makes decisions until none is left."""
        responses: list[Response] = []
        with self._lock:
            while self.options():
                responses += self.schedule()
        return responses

    # Time.

    def wake(self, wakeup: Wakeup) -> list[Response]:
        """Handles a timer that has run out, now or long ago. It has no effect if the timer's stay is over."""
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
        """The process dies, and a new one starts with no records; the timers of the old one have no effect."""
        with self._lock:
            for wakeup in armed(self._world):
                self._clock.stop(wakeup)
            self._world = EMPTY
            self._process += 1

    # For explorations, which go back to earlier states. They reset the clock separately.

    def snapshot(self) -> World:
        """Returns all that the core remembers."""
        return self._world

    @property
    def process(self) -> int:
        """How often the process has died; timers of another process have no effect."""
        return self._process

    def restore(self, snapshot: World, process: int | None = None) -> None:
        """Goes back to a snapshot, and to the process that it was of."""
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
                draft.send(answer)
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
        """The callback of a timer; it ignores a timer of a process that has died."""
        with self._lock:
            if process == self._process:
                self.wake(wakeup)


def _refusal(request: Request, problem: Exception) -> Response | None:
    """The answer to a request that cannot be done; None if the interface has none for this request."""
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
