"""The implementation's side: a core, its clock, and what the resource manager remembers over a crash.

The core stores nothing durably, and each operation changes its records once. So a process that dies inside an
operation leaves no more than one that dies just before or after: nothing. The resource manager still has the running
containers, and reports them when it registers their node again.
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
    """Returns all allowed decisions: every ask on every usable node, and in place of every replaceable placeholder.

    Which of them the core prefers is policy, and not part of the model.
    """
    options: list[Option] = []
    for application in sorted(draft.applications.values(), key=lambda a: a.serial):
        for ask in draft.pending(application.name) if draft.is_in_cycle(application) else ():
            options += draft.plain_options(ask, application)
            nodes = draft.nodes_for(ask, application)
            options += [Option(ask.name, node.name, it.name) for it in draft.replaceable(ask) for node in nodes]
    return options


@dataclass(frozen=True)
class Parts:
    """The classes of a core; a test replaces one to seed a fault."""

    draft: type[Draft] = Draft
    core: type[Core] = Core

    @cached_property
    def unselective(self) -> type[Draft]:
        """The draft class that offers every allowed decision instead of the core's preferred ones."""
        return type(self.draft.__name__, (self.draft,), {"options": every_option})


REFERENCE = Parts()


@dataclass(frozen=True)
class Container:
    """An allocation as the resource manager knows it; ``release_reason`` says why the core has asked for it back, if it has."""

    ask: str
    node: str
    release_reason: TerminationType | None = None


@dataclass(frozen=True)
class Snapshot:
    """The core's records and timers, the image in the model, and the containers.

    The image is part of the snapshot because the core discards what has ended, and the model does not.

    Attributes:
        process: distinguishes its timers from those of a process that has died.
        reported_containers: the running containers, by the core's messages to the resource manager.
        lost: the containers that the core does not know any more.
    """

    world: World
    times: Times
    process: int
    image: State
    reported_containers: frozenset[Container] = frozenset()
    lost: frozenset[Container] = frozenset()

    @property
    def under_way(self) -> list[Wakeup]:
        """The time-outs that have run out and are not delivered."""
        return [t.name for t in self.times.under_way if isinstance(t.name, Wakeup)]

    @property
    def armed(self) -> list[Wakeup]:
        """The armed timers of applications."""
        return [t.name for t in self.times.pending if isinstance(t.name, Wakeup) and t.name.application]

    @cached_property
    def key(self) -> object:
        """Equal for snapshots that differ in nothing relevant."""
        return canonical(self.world, self.under_way), self.image, self.lost


@dataclass(frozen=True)
class Operation:
    """An operation on the core.

    Args:
        description: the operation in words.
        call: does it.
        labels: the model's step that it is, by each of its names; empty if it is no step.
        lost: the containers that the core does not know after it.
        path: the model's steps in sequence, if it is several.
        rejected: the step that it is if the core rejects the application.
        crash: whether the core begins again in the model's initial state.
        ended: the asks whose containers the resource manager has ended before the operation.
        reported: the containers that the resource manager reports to a core that does not know them.
        may_repeat: whether the core may repeat its earlier messages.
        must: whether the core may neither refuse it nor reject its application.
    """

    description: str
    call: Callable[[Component], object]
    labels: tuple[Choice, ...] = ()
    lost: frozenset[Container] = frozenset()
    path: tuple[Choice, ...] = ()
    rejected: tuple[Choice, ...] = ()
    crash: bool = False
    ended: frozenset[str] = frozenset()
    reported: frozenset[Container] = frozenset()
    may_repeat: bool = False
    must: bool = False

    def names(self, answers: Sequence[Response]) -> tuple[Choice, ...]:
        """Returns the step that it was, by the core's answers."""
        return self.rejected if any(isinstance(it, ApplicationRejected) for it in answers) else self.labels


class Component:
    """A core on a clock that stands still, restored to an earlier snapshot before each operation."""

    def __init__(self, parts: Parts) -> None:
        self.clock = ManualClock(timed=False)
        self.answers: list[Response] = []
        kind = type(parts.core.__name__, (parts.core,), {"draft_type": parts.unselective})
        self.core: Core = kind(self.clock, listener=self.answers.extend)

    def run(self, at: Snapshot, operation: Operation) -> tuple[World, Times] | None:
        """Runs an operation from ``at``; returns the records and timers after it, None if it is refused.

        Raises:
            Broken: it fails, or it was refused and changed something.
        """
        self.core.restore(at.world, at.process)
        self.clock.restore(at.times)
        self.answers.clear()
        before = self.core.world
        try:
            operation.call(self)
        except (Refused, IllegalEvent):
            refused = True
        except Exception as error:  # whatever a fault raises
            raise Broken(f"the operation fails: {type(error).__name__}: {error}") from error
        else:
            refused = any(isinstance(answer, REFUSALS) for answer in self.answers)
        rejected = any(isinstance(answer, ApplicationRejected) for answer in self.answers)
        if operation.must and (refused or rejected):
            raise Broken("the core does not take back what it has lost", actual=f"{self.answers or 'an exception'}")
        if refused:
            if self.core.world != before:
                raise Broken("the request was refused, but it changed something")
            return None
        return self.core.world, self.clock.snapshot()

    def hears(self, before: frozenset[Container], operation: Operation) -> frozenset[Container]:
        """Returns the containers after an operation, by the core's answers.

        Raises:
            Broken: an answer is about a container that does not exist, or exists already.
        """
        if operation.crash:
            return frozenset()
        running = {c.ask: c for c in before | operation.reported if c.ask not in operation.ended}
        for answer in self.answers:
            match answer:
                case NewAllocation(_, ask, _, node):
                    if operation.may_repeat and running.get(ask) == Container(ask, node):
                        continue
                    if ask in running:
                        raise Broken(f"the core reports {ask} again")
                    running[ask] = Container(ask, node)
                case ReleasedAllocation(_, ask, termination):
                    if ask not in running:
                        raise Broken(f"the core reports the end of {ask}, which the resource manager does not have")
                    if termination is TerminationType.STOPPED_BY_RM:
                        del running[ask]
                    elif operation.may_repeat and running[ask].release_reason is not termination:
                        raise Broken(f"the resource manager is asked for {ask} as it has not been asked before")
                    else:
                        running[ask] = replace(running[ask], release_reason=termination)
        return frozenset(running.values())

    def handle(self, request: Request) -> None:
        """Sends a request of the resource manager or of people."""
        self.core.handle(request)

    def restart(self, first: Request) -> None:
        """Restarts the process; the next one handles ``first``. No time-out of the old one arrives."""
        self.core.crash()
        self.clock.clear()
        self.core.handle(first)
