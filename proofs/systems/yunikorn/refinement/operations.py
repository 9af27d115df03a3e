"""The operations on the core from a state, each with the step of the model that it is."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from schedproof.impl.scheduler_interface import (
    Control,
    ControlObject,
    NodeAction,
    RegisterRM,
    ReleaseAllocation,
    ReleaseAsk,
    RemoveApplication,
    Request,
    UpdateNode,
)
from schedproof.impl.systems.yunikorn.core import Choice as Pick
from schedproof.impl.systems.yunikorn.core import Kind, Option, Wakeup, only
from schedproof.model.semantics import Choice
from schedproof.model.systems.yunikorn.machines import HELD, TIMED
from schedproof.proofs.refinement.mismatch import Broken
from schedproof.proofs.refinement.modelside import ModelGraph, Urgent

from .abstraction import KEPT, Abstraction
from .component import Component, Container, Operation, Parts, Snapshot
from .names import STRANGER, Names

NODE_ACTIONS = {
    NodeAction.DRAIN_NODE: "drain_node",
    NodeAction.DRAIN_TO_SCHEDULABLE: "restore_node",
    NodeAction.DECOMMISSION: "decommission_node",
}
LIVE = ("pending", "swapping", *HELD)
DELETIONS = frozenset({"delete_queue", "delete_partition"})
URGENT: Urgent = {
    # The operation that removes an application's last ask or allocation also ends Failing or Resuming.
    "": frozenset({"fail_for_good", "resume_ends", "resume_completes", "fail_late", "evict"}),
    # One sweep removes everything that can be removed.
    **dict.fromkeys(DELETIONS, DELETIONS),
}
"""Several steps of the model that the core takes in one operation."""
CONTROLS = {Control.START: "start", Control.STOP: "stop", Control.REMOVE: "remove"}


class Operations:
    """The operations of a configuration, including those that the core refuses."""

    def __init__(self, names: Names, abstraction: Abstraction, parts: Parts, model: ModelGraph) -> None:
        self.names, self._parts, self._model = names, parts, model
        self._abstraction = abstraction
        self._label = abstraction.label

    def possible(self, at: Snapshot) -> Iterator[Operation]:
        """Yields the operations from ``at``.

        While the core does not know all containers, the resource manager only reports them. It submits no pod and
        sends nothing else before that.
        """
        yield self.crash(at)
        yield self._repeated("the resource manager registers again", self.register(), at)
        yield from self._applications(at)
        yield from self._nodes(at)
        if not at.lost:
            yield from self._asks(at)
            yield from self._scheduler(at)
            yield from self._time(at)
            yield from self._people()

    # The process.

    def register(self) -> RegisterRM:
        """Returns the resource manager's first request."""
        return RegisterRM(partitions=(self.names.partition_spec(),))

    def crash(self, at: Snapshot) -> Operation:
        """The process dies, another one starts, and the resource manager registers."""
        running = {Container(c.ask, c.node) for c in at.reported_containers}
        first = self.register()
        description = "the core crashes, and begins anew"
        return Operation(description, lambda component: component.restart(first), lost=at.lost | running, crash=True)

    # The resource manager.

    def _asking(self, description: str, request: Request, at: Snapshot, *steps: Choice) -> Operation:
        return Operation(description, partial(_handle, request), steps, at.lost)

    def _applications(self, at: Snapshot) -> Iterator[Operation]:
        for a, name in enumerate(self.names.applications):
            if not at.lost:
                removal = RemoveApplication(name)
                yield self._asking(f"{name} is removed", removal, at, self._label("remove_application", a=a))
            if any(it.name == name for it in at.world.applications):
                yield self._repeated(f"{name} is added again", self.names.application(a), at)
                continue
            # A name that has ended is not used again.
            if self._state("Application", a, at) != "New":
                continue
            added, rejected = (self._label("submit", a=a),), (self._label("reject", a=a),)
            call = partial(_handle, self.names.application(a))
            yield Operation(f"{name} is added", call, added, at.lost, rejected=rejected, must=bool(at.lost))
            if not at.lost:
                call = partial(_handle, self.names.application(a, STRANGER))
                yield Operation(f"{name} is added by a stranger", call, added, rejected=rejected)

    def _repeated(self, description: str, request: Request, at: Snapshot) -> Operation:
        """A request after a loss of memory: nothing changes, and the core repeats what the RM may not know."""
        return Operation(description, partial(_handle, request), lost=at.lost, may_repeat=True)

    def _asks(self, at: Snapshot) -> Iterator[Operation]:
        held = {it.ask: it for it in at.reported_containers}
        for k, name in enumerate(self.names.asks):
            application = self.names.applications[self.names.application_of[k]]
            if self._state("Ask", k, at) == "to_come":
                yield self._asking(f"{name} is asked for", self.names.ask(k), at, self._label("add_ask", k=k))
            elif self._state("Ask", k, at) in LIVE:
                yield self._repeated(f"{name} is asked for again", self.names.ask(k), at)
            withdrawn = ReleaseAsk(application, name)
            yield self._asking(f"ask {name} is withdrawn", withdrawn, at, self._label("remove_ask", k=k))
            if name in held:
                ends = self._label("end", k=k)
                release = ReleaseAllocation(application, name)
                yield self._asking(f"the container of {name} ends", release, at, ends)
                if (asked_for := held[name].release_reason) is not None:
                    call = partial(_handle, ReleaseAllocation(application, name, asked_for))
                    description = f"the release of {name} is confirmed"
                    yield Operation(description, call, (ends,), ended=frozenset({name}))

    def _nodes(self, at: Snapshot) -> Iterator[Operation]:
        for n, name in enumerate(self.names.nodes):
            if self._state("Node", n, at) == "to_come":
                running = [k for k, ask in enumerate(self.names.asks) if Container(ask, name) in at.lost]
                known = {it.name for it in at.world.applications}
                if all(self.names.applications[self.names.application_of[k]] in known for k in running):
                    yield self._node(n, running, at)
                continue
            if any(it.name == name for it in at.world.nodes):
                yield self._repeated(f"{name} registers again", self.names.node(n, []), at)
            if self.names.configuration.adjustable_nodes and not at.lost:
                for action, step in NODE_ACTIONS.items():
                    request = UpdateNode(name, action)
                    yield self._asking(f"{name}: {action.name}", request, at, self._label(step, n=n))

    def _node(self, n: int, running: list[int], at: Snapshot) -> Operation:
        """The node registers; the allocations on it count as asked for and allocated."""
        steps = [self._label("create_node", n=n)]
        held = {k for k, name in enumerate(self.names.asks) if self._state("Ask", k, at) in HELD}
        for k in running:
            gang = {o for o in range(len(self.names.asks)) if self._same_gang(o, k)}
            last = self.names.is_placeholder(k) and gang <= held | {k}
            steps += [self._label("add_ask", k=k), self._label("allocate", k=k, n=n, f=int(last))]
            held.add(k)
        reported = ", ".join(self.names.asks[k] for k in running)
        description = f"{self.names.nodes[n]} registers" + (f", on which {reported} runs" if reported else "")
        request = self.names.node(n, running)
        left = frozenset(c for c in at.lost if c.node != self.names.nodes[n])
        call = partial(_handle, request)
        if not running:
            return Operation(description, call, tuple(steps), at.lost)
        return Operation(description, call, path=tuple(steps), lost=left, reported=at.lost - left, must=True)

    def _same_gang(self, o: int, k: int) -> bool:
        return self.names.is_placeholder(o) and self.names.application_of[o] == self.names.application_of[k]

    # The core by itself.

    def _scheduler(self, at: Snapshot) -> Iterator[Operation]:
        """Every decision. The core's preferred ones must be among them, and it must prefer one if there is any."""
        every = self._parts.unselective(at.world, at.times.now).options()
        preferred = self._parts.draft(at.world, at.times.now).options()
        if not set(preferred) <= set(every) or bool(preferred) != bool(every):
            text = "the core would choose from other decisions than may be taken"
            raise Broken(text, expected=", ".join(map(str, every)), actual=", ".join(map(str, preferred)) or "nothing")
        for option in every:
            choose = only(option.ask, option.node, option.replaces)
            text, step = f"the scheduler decides: {option}", self._decision(option, at)
            yield Operation(text, partial(_schedule, choose), (step,))

    def _decision(self, option: Option, at: Snapshot) -> Choice:
        k, n = self.names.asks.index(option.ask), self.names.nodes.index(option.node)
        if option.replaces is not None:
            return self._label("swap", k=k, x=self.names.asks.index(option.replaces), n=n)
        gang = [o for o in range(len(self.names.asks)) if self._same_gang(o, k)]
        last = self.names.is_placeholder(k) and all(o == k or self._state("Ask", o, at) in HELD for o in gang)
        return self._label("allocate", k=k, n=n, f=int(last))

    def _time(self, at: Snapshot) -> Iterator[Operation]:
        for timer in at.armed:
            yield Operation(f"{self._named(timer, at)} runs out", partial(_run_out, timer), self._runs_out(timer, at))
        for timer in dict.fromkeys(at.under_way):
            if timer.application:
                yield Operation(
                    f"{self._named(timer, at)} takes effect", partial(_deliver, timer), self._wakes(timer, at)
                )
        for kind in (Kind.QUEUES, Kind.APPLICATIONS):
            yield Operation(f"the {kind}", partial(_wake, Wakeup(kind)), self._sweeps(kind, at))

    def _named(self, timer: Wakeup, at: Snapshot) -> str:
        records = [*at.world.applications, *at.world.tracked]
        name = next((a.name for a in records if a.serial == timer.application), "an application that is forgotten")
        return f"the {timer.kind} timer of {name}"

    def _runs_out(self, timer: Wakeup, at: Snapshot) -> tuple[Choice, ...]:
        a = self._of(timer, at)
        if a is None:
            return ()
        if timer.kind is Kind.GANG:
            return (self._label("gang_times_out", g=self._gang(a)),)
        return (self._label("run_out", a=a, w=0, c=TIMED.index(self._state("Application", a, at))),)

    def _wakes(self, timer: Wakeup, at: Snapshot) -> tuple[Choice, ...]:
        a = self._of(timer, at)
        if a is None:
            return ()
        return (self._label("gang_wakes", g=self._gang(a)) if timer.kind is Kind.GANG else self._label("wake", w=0),)

    def _gang(self, a: int) -> int:
        number = self.names.gang(a)
        assert number is not None, "only a gang has a gang's timer"
        return number

    def _of(self, timer: Wakeup, at: Snapshot) -> int | None:
        """The application of a timer; None if the timer is of an earlier stay or only deletes a record."""
        for it in (*at.world.applications, *at.world.tracked):
            armed_timer = it.gang_timer if timer.kind is Kind.GANG else it.state_timer
            if it.serial == timer.application and timer.serial == armed_timer:
                return self.names.applications.index(it.name) if timer.kind is Kind.GANG or it.state in KEPT else None
        return None

    def _sweeps(self, kind: Kind, at: Snapshot) -> tuple[Choice, ...]:
        """The steps that a sweep is: it removes everything that can be removed."""
        steps = self._model.steps[at.image] if kind is Kind.QUEUES else ()
        return tuple(choice for choice, _ in steps if choice.action in DELETIONS)

    # People.

    def _people(self) -> Iterator[Operation]:
        for control, step in CONTROLS.items():
            if "partition" in self.names.configuration.people:
                request = ControlObject(control, self.names.partition)
                label = self._label(f"{step}_partition", p=0)
                yield Operation(f"{self.names.partition}: {control}", partial(_handle, request), (label,))
            for q, name in enumerate(self.names.queues if "queues" in self.names.configuration.people else ()):
                request = ControlObject(control, self.names.partition, name)
                yield Operation(f"{name}: {control}", partial(_handle, request), (self._label(f"{step}_queue", q=q),))

    def _state(self, sort: str, n: int, at: Snapshot) -> str:
        return self._abstraction.state_of(sort, n, at.image)


def _handle(request: Request, component: Component) -> None:
    component.handle(request)


def _schedule(choose: Pick, component: Component) -> None:
    component.core.schedule(choose)


def _run_out(timer: Wakeup, component: Component) -> None:
    component.clock.run_out(timer)


def _deliver(timer: Wakeup, component: Component) -> None:
    component.clock.deliver(timer)


def _wake(timer: Wakeup, component: Component) -> None:
    component.core.wake(timer)
