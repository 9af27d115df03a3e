"""The implementation's side: a core, its clock, and what the resource manager remembers over a crash.

The core has nothing durable, and each of its operations is one change of its records. So a process
that dies inside an operation leaves what it would have left just before, or just after: nothing. The
resource manager still has the containers that run, and says so when it registers their node again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from schedproof.impl.clock import ManualClock, Times
from schedproof.impl.scheduler_interface import (
    ApplicationRejected,
    AskRejected,
    ControlRejected,
    NewAllocation,
    NodeRejected,
    ReleasedAllocation,
    Request,
    Response,
    TerminationType,
)
from schedproof.impl.systems.yunikorn.core import Core, Draft, Option, Refused, Wakeup, World, canonical
from schedproof.impl.table_machine import IllegalEvent
from schedproof.model.semantics import Choice, State
from schedproof.proofs.refinement.mismatch import Broken

REFUSALS = (AskRejected, ControlRejected, NodeRejected)


def every_option(draft: Draft) -> list[Option]:
    """All that a scheduler may decide: which of it the core prefers is policy, and not the model's.

    Every pending ask on every node that it may use, and in place of every placeholder that it can replace.
    """
    found: list[Option] = []
    for application in sorted(draft.applications.values(), key=lambda a: a.serial):
        for ask in draft.pending(application.name) if draft.is_in_cycle(application) else ():
            found += draft.plain_options(ask, application)
            nodes = draft.nodes_for(ask, application)
            found += [Option(ask.name, node.name, it.name) for it in draft.replaceable(ask) for node in nodes]
    return found


@dataclass(frozen=True)
class Parts:
    """What a core is made of: a test replaces it to plant a bug."""

    draft: type[Draft] = Draft
    core: type[Core] = Core

    @property
    def unselective(self) -> type[Draft]:
        """The draft, with every decision that may be taken instead of its own preference."""
        return type(self.draft.__name__, (self.draft,), {"options": every_option})


REFERENCE = Parts()


@dataclass(frozen=True)
class Container:
    """An allocation as the resource manager knows it; ``wanted`` says why the core has asked for it back, if it has."""

    ask: str
    node: str
    wanted: TerminationType | None = None


@dataclass(frozen=True)
class Snapshot:
    """All of it: the core's records, its timers, the image in the model, and the containers.

    ``told`` are those that run by what the core has told the resource manager, ``lost`` those that the core
    does not know any more.

    ``process`` tells its timers from those of a process that has died.

    The image is part of it because the core forgets what has ended, and the model does not.
    """

    world: World
    times: Times
    process: int
    image: State
    told: frozenset[Container] = frozenset()
    lost: frozenset[Container] = frozenset()

    @property
    def under_way(self) -> list[Wakeup]:
        """The time-outs that have run out and are not delivered."""
        return [t.name for t in self.times.under_way if isinstance(t.name, Wakeup)]

    @property
    def armed(self) -> list[Wakeup]:
        """The timers of applications that are armed."""
        return [t.name for t in self.times.pending if isinstance(t.name, Wakeup) and t.name.application]

    @cached_property
    def key(self) -> object:
        """The same for all snapshots that differ in nothing that matters."""
        return canonical(self.world, self.under_way), self.image, self.lost


@dataclass(frozen=True)
class Operation:
    """Something that happens to the core.

    Args:
        said: in words.
        call: does it.
        labels: the step of the model that it is, by each of its names; none if it is no step.
        path: the steps of the model, one after the other, if it is several.
        rejected: the step that it is if the core rejects the application that it is about.
        ended: the asks whose containers the resource manager has ended before it says so.
        found: the containers that it tells a core which does not know them.
        again: it may be told what it has been told before.
        must: it may not be refused, nor its application rejected.
        lost: the containers that the core does not know after it.
        crash: it begins where the model begins.
    """

    said: str
    call: Callable[[Component], object]
    labels: tuple[Choice, ...] = ()
    lost: frozenset[Container] = frozenset()
    path: tuple[Choice, ...] = ()
    rejected: tuple[Choice, ...] = ()
    crash: bool = False
    ended: frozenset[str] = frozenset()
    found: frozenset[Container] = frozenset()
    again: bool = False
    must: bool = False

    def names(self, answers: Sequence[Response]) -> tuple[Choice, ...]:
        """The step that it was, as the answers show."""
        return self.rejected if any(isinstance(it, ApplicationRejected) for it in answers) else self.labels


class Component:
    """A core on a clock that stands still, put back to any earlier snapshot before each operation."""

    def __init__(self, parts: Parts) -> None:
        self.clock = ManualClock(timed=False)
        self.answers: list[Response] = []
        kind = type(parts.core.__name__, (parts.core,), {"draft_type": parts.unselective})
        self.core: Core = kind(self.clock, listener=self.answers.extend)

    def run(self, at: Snapshot, operation: Operation) -> tuple[World, Times] | None:
        """An operation from ``at`` to its end; None if it is refused.

        Raises:
            Broken: it fails, or changes something though it was refused.
        """
        self.core.restore(at.world, at.process)
        self.clock.restore(at.times)
        self.answers.clear()
        before = self.core.world
        try:
            operation.call(self)
        except (Refused, IllegalEvent):
            refused = True
        except Exception as error:  # whatever a bug raises
            raise Broken(f"the operation fails: {type(error).__name__}: {error}") from error
        else:
            refused = any(isinstance(answer, REFUSALS) for answer in self.answers)
        rejected = any(isinstance(answer, ApplicationRejected) for answer in self.answers)
        if operation.must and (refused or rejected):
            raise Broken("the core does not take back what it has lost", found=f"{self.answers or 'an exception'}")
        if refused:
            if self.core.world != before:
                raise Broken("the request was refused, but it changed something")
            return None
        return self.core.world, self.clock.snapshot()

    def hears(self, told: frozenset[Container], operation: Operation) -> frozenset[Container]:
        """The containers after an operation, by the core's answers.

        Raises:
            Broken: an answer is about a container that is not there, or is there already.
        """
        if operation.crash:
            return frozenset()
        running = {c.ask: c for c in told | operation.found if c.ask not in operation.ended}
        for answer in self.answers:
            match answer:
                case NewAllocation(_, ask, _, node):
                    if operation.again and running.get(ask) == Container(ask, node):
                        continue
                    if ask in running:
                        raise Broken(f"the resource manager is told of {ask} again")
                    running[ask] = Container(ask, node)
                case ReleasedAllocation(_, ask, termination):
                    if ask not in running:
                        raise Broken(f"the resource manager is told of the end of {ask}, which it has not")
                    if termination is TerminationType.STOPPED_BY_RM:
                        del running[ask]
                    elif operation.again and running[ask].wanted is not termination:
                        raise Broken(f"the resource manager is asked for {ask} as it has not been asked before")
                    else:
                        running[ask] = replace(running[ask], wanted=termination)
        return frozenset(running.values())

    def handle(self, request: Request) -> None:
        """The resource manager, or somebody of the people, asks for something."""
        self.core.handle(request)

    def restart(self, first: Request) -> None:
        """The process dies, and the next one hears the first request. No time-out of before comes any more."""
        self.core.crash()
        self.clock.clear()
        self.core.handle(first)
