"""Walks of YuniKorn's core: a RM, a scheduler and timers that do anything that they may, in any order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from schedproof.impl.scheduler_interface import (
    AddApplication,
    AddAsk,
    ApplicationAccepted,
    Control,
    CreateNode,
    ExistingAllocation,
    GangStyle,
    NodeAction,
    ReleaseAllocation,
    RemoveApplication,
    UpdateNode,
)
from schedproof.impl.systems.yunikorn.core import Draft, Kind, ObjectState, State, Wakeup
from tests.systems.yunikorn.core.bench import Bench

T = TypeVar("T")
Pick = Callable[[Sequence[T]], T]
Move = Callable[[], object]

APPS = ("x", "y", "z")
NODES = ("n", "m")
WEIGHTS = {
    "add application": 4, "ask": 10, "schedule": 14, "confirm": 4, "stop allocation": 2, "withdraw": 1, "node": 2,
    "run out": 4, "gang time": 2, "sweep": 1, "deliver": 2, "rare": 1,
}  # fmt: skip
"""How often a kind of move is made, where it can be: enough work for what ends it to matter."""
QUEUES = ("root.default", "root.a", "root.b.c")


class Walker:
    """``pick`` decides everything; what the RM does, it does as the interface allows it."""

    def __init__(self, pick: Callable[[Sequence[object]], object], draft: type[Draft] = Draft) -> None:
        self.bench = Bench(draft)
        self.bench.node("n", 4)
        self._pick = pick
        self._asks = 0
        self._requests: dict[str, AddApplication] = {}
        self.done: list[str] = []

    def choose(self, options: Sequence[T]) -> T:
        """One of the options."""
        return self._pick(options)  # type: ignore[return-value]

    def walk(self, steps: int) -> None:
        """So many moves; each is checked, and at the end nothing may be stuck."""
        for _ in range(steps):
            moves = self.moves()
            kind = self.choose([kind for kind in sorted(moves) for _ in range(WEIGHTS[kind])])
            self.done.append(kind)
            self.choose(moves[kind])()
        self.wind_up()

    def moves(self) -> dict[str, list[Move]]:
        """What can be done now, by kind."""
        b, world = self.bench, self.bench.core.world
        live = [a.name for a in world.applications]
        timers = [t.name for t in b.clock.pending() if isinstance(t.name, Wakeup)]
        confirmed = [a for a in world.allocations if a.confirmed]
        by_kind: dict[str, list[Move]] = {
            "add application": [partial(self.add_application, n) for n in APPS if n not in live],
            "ask": [partial(self.ask, n) for n in live],
            "schedule": [partial(b.schedule, o.ask, o.node, o.replaces) for o in b.core.options()],
            "confirm": [partial(b.confirm, r.allocation) for r in b.owed],
            "stop allocation": [partial(b.stop, a.name, a.application) for a in confirmed],
            "withdraw": [partial(b.withdraw, a.name, a.application) for a in world.asks],
            "node": [self.change_node],
            "run out": [partial(self.run_out, t) for t in timers if t.kind is Kind.STATE],
            "gang time": [partial(self.run_out, t) for t in timers if t.kind is Kind.GANG],
            "sweep": [partial(self.run_out, t) for t in timers if not t.application],
            "deliver": [partial(b.deliver, t.name) for t in b.clock.under_way()],
            "rare": [self.rare],
        }
        return {kind: moves for kind, moves in by_kind.items() if moves}

    def add_application(self, name: str) -> None:
        style = self.choose((GangStyle.SOFT, GangStyle.HARD))
        request = AddApplication(name, self.choose(QUEUES), gang_style=style, placeholders=self.choose((0, 2, 2, 3)))
        if isinstance(self.bench.handle(request)[0], ApplicationAccepted):
            self._requests[name] = request

    def ask(self, app: str) -> None:
        self._asks += 1
        group = self.choose(("g", ""))
        gang = self._requests[app].placeholders > 0
        placeholder = gang and self.choose((True, False))
        node = None if placeholder else self.choose((None, None, None, "n"))
        amount = 1 if placeholder else self.choose((1, 1, 2))
        self.bench.handle(AddAsk(app, f"a{self._asks}", amount, placeholder, "g" if placeholder else group, node))

    def change_node(self) -> None:
        name = self.choose(NODES)
        if all(n.name != name for n in self.bench.core.world.nodes):
            self.bench.node(name, 4)
        else:
            common = (NodeAction.DRAIN_NODE, NodeAction.DRAIN_TO_SCHEDULABLE, NodeAction.DRAIN_TO_SCHEDULABLE)
            self.bench.handle(UpdateNode(name, self.choose((*common, NodeAction.DECOMMISSION))))

    def run_out(self, timer: Wakeup) -> None:
        """A timer runs out; whether it is delivered at once or later is decided then."""
        b = self.bench
        deadline = next(t.deadline for t in b.clock.pending() if t.name == timer)
        b.clock.advance(max(0, deadline - b.clock.now()) / 10**9)
        b.clock.run_out(timer)
        if self.choose((True, False)):
            b.deliver(timer)

    def rare(self) -> None:
        b = self.bench
        partition = next((p for p in b.core.world.partitions if p.name == "default"), None)
        is_going = partition is None or partition.state is ObjectState.DRAINING
        moves: dict[str, Move] = {
            "remove application": lambda: b.handle(RemoveApplication(self.choose(APPS))),
            "withdraw all": lambda: b.withdraw(None, self.choose(APPS)),
            "stop all": self.stop_all,
            "control": lambda: b.control(self.choose(tuple(Control)), self.choose(("root.a", "root.b", "root.b.c"))),
            "stop": lambda: b.control(Control.STOP),
            "start": lambda: b.control(Control.START),
            "crash": self.crash,
            "add again": lambda: self.add_application(self.choose(APPS)),
        }
        if self.choose((False,) * 8 + (True,)) and not is_going:
            moves = {"remove": lambda: b.control(Control.REMOVE)}
        kind = self.choose(sorted(moves))
        self.done[-1] = kind
        moves[kind]()

    def stop_all(self) -> None:
        app = self.choose(APPS)
        self.bench.handle(ReleaseAllocation(app, None))

    def crash(self) -> None:
        """The core dies; the RM brings back what it has: applications, nodes, allocations, asks."""
        b, world, owed = self.bench, self.bench.core.world, self.bench.owed
        b.crash()
        b.register()
        for app in world.applications:
            b.handle(self._requests[app.name])
        assert not b.core.world.tracked, "all queues are as the configuration has them"
        for node in world.nodes:
            running_there = [a for a in world.allocations if a.node == node.name and a.confirmed]
            b.running |= {a.name for a in running_there}
            existing = [
                ExistingAllocation(a.application, a.name, a.amount, a.placeholder, a.task_group) for a in running_there
            ]
            b.handle(CreateNode(node.name, node.capacity, existing=tuple(existing)))
            if not node.schedulable:
                b.drain(node.name)
        waiting = {a.name for a in world.allocations if not a.confirmed}
        for ask in world.asks:
            if ask.pending or ask.name in waiting:
                b.handle(
                    AddAsk(ask.application, ask.name, ask.amount, ask.placeholder, ask.task_group, ask.required_node)
                )
        b.owed = [r for r in owed if r.allocation in b.running]

    def wind_up(self) -> None:
        """Nothing is stuck: when the RM ends all that it has, every application comes to its end."""
        b = self.bench
        while b.clock.under_way():
            b.deliver(b.clock.under_way()[0].name)
        b.confirm_all()
        for app in APPS:
            b.withdraw(None, app)
            for name in sorted(a.name for a in b.core.world.allocations if a.application == app and a.confirmed):
                b.stop(name, app)
        b.confirm_all()
        self.state_timers(State.STARTING, State.COMPLETING)
        left = {a.name: a.state for a in b.core.world.applications if a.state not in ("New", "Accepted")}
        assert not left, f"stuck: {left}"
        for app in APPS:
            b.handle(RemoveApplication(app))
        self.state_timers(State.COMPLETING)
        self.state_timers(State.COMPLETED, State.FAILED, State.REJECTED)
        states = {a.state for a in b.core.world.tracked}
        assert not b.core.world.applications and states <= {State.EXPIRED}, f"not ended: {states}"
        assert not b.core.world.asks and not b.core.world.allocations
        for partition in ("default", "other"):
            b.control(Control.REMOVE, partition=partition)
        self.fire(Wakeup(Kind.QUEUES))
        self.fire(Wakeup(Kind.APPLICATIONS))
        world = b.core.world
        assert (world.partitions, world.queues, world.nodes, world.tracked) == ((), (), (), ())

    def state_timers(self, *states: State) -> None:
        for app in (*self.bench.core.world.applications, *self.bench.core.world.tracked):
            if app.state in states and app.state_timer is not None:
                self.fire(Wakeup(Kind.STATE, app.serial, app.state_timer))

    def fire(self, timer: Wakeup) -> None:
        b = self.bench
        deadline = next(t.deadline for t in b.clock.pending() if t.name == timer)
        b.clock.advance(max(0, deadline - b.clock.now()) / 10**9)
        b.fire(timer)
