"""A core on a clock that stands still, with a RM that notes what it hears; every step is checked by the properties."""

from __future__ import annotations

from collections.abc import Sequence

from schedproof.impl.clock import ManualClock, Times
from schedproof.impl.scheduler_interface import (
    AddApplication,
    AddAsk,
    Control,
    ControlObject,
    CreateNode,
    GangStyle,
    NewAllocation,
    NodeAction,
    PartitionSpec,
    QueueSpec,
    RegisterRM,
    ReleaseAllocation,
    ReleaseAsk,
    ReleasedAllocation,
    Request,
    Response,
    TerminationType,
    UpdateNode,
)
from schedproof.impl.systems.yunikorn.core import (
    Application,
    Choice,
    Core,
    Draft,
    Kind,
    Refused,
    State,
    Wakeup,
    World,
    only,
)
from tests.systems.yunikorn.core.properties import ExportedProperties

STOPPED_BY_RM = TerminationType.STOPPED_BY_RM

Snapshot = tuple[World, Times, tuple[ReleasedAllocation, ...], frozenset[str], frozenset[str]]

TREE = QueueSpec("root", (QueueSpec("default"), QueueSpec("a"), QueueSpec("b", (QueueSpec("c"),), maximum=3)))
PARTITIONS = (PartitionSpec("default", TREE), PartitionSpec("other"))


class Bench:
    """``seen`` are all responses, ``owed`` the releases that the RM has not answered."""

    def __init__(
        self,
        draft: type[Draft] = Draft,
        core: type[Core] = Core,
        partitions: Sequence[PartitionSpec] = PARTITIONS,
        *,
        timed: bool = True,
    ) -> None:
        self.clock = ManualClock(timed=timed)
        kind = type("Seeded", (core,), {"draft_type": draft})
        self.core: Core = kind(self.clock, listener=self._hear)
        self.seen: list[Response] = []
        self.owed: list[ReleasedAllocation] = []
        self.running: set[str] = set()
        self._asked: set[str] = set()
        self._news: list[Response] = []
        self._may_repeat = False
        self._properties = ExportedProperties(self.core, timed=timed)
        self._partitions = tuple(partitions)
        self.handle(RegisterRM("k8s", self._partitions))

    def _hear(self, responses: Sequence[Response]) -> None:
        self._news += responses
        for response in responses:
            if isinstance(response, NewAllocation):
                assert response.allocation not in self.running or self._may_repeat, f"{response} is there already"
                self.running.add(response.allocation)
            if isinstance(response, ReleasedAllocation):
                assert response.allocation in self.running, f"{response} was never given, or is gone"
                if response.termination is STOPPED_BY_RM:
                    self.running.discard(response.allocation)
                    self.owed = [r for r in self.owed if r.allocation != response.allocation]
                    self._asked.discard(response.allocation)
                else:
                    assert response.allocation not in self._asked or self._may_repeat, f"{response}: asked for before"
                    self._asked.add(response.allocation)
                    self.owed += [] if response in self.owed else [response]

    def _check(self, request: Request | None = None) -> list[Response]:
        news, self._news = self._news, []
        self.seen += news
        self._properties.check(request, news)
        confirmed = {a.name for a in self.core.world.allocations if a.confirmed}
        assert confirmed == self.running, f"the core has {sorted(confirmed)}, the RM {sorted(self.running)}"
        return news

    # What the RM does.

    def handle(self, request: Request) -> list[Response]:
        if isinstance(request, ReleaseAllocation) and request.termination is not STOPPED_BY_RM:
            self.running.discard(request.allocation or "")
            self._asked.discard(request.allocation or "")
        # The core sends again what a RM may not know or asks for again.
        self._may_repeat = isinstance(request, RegisterRM | AddAsk)
        assert self.core.handle(request) == self._news
        self._may_repeat = False
        return self._check(request)

    def app(
        self, name: str = "x", queue: str = "root.default", gang: int = 0, style: GangStyle = GangStyle.SOFT
    ) -> list[Response]:
        return self.handle(AddApplication(name, queue, placeholders=gang, gang_style=style))

    def ask(
        self, ask: str, app: str = "x", amount: int = 1, node: str | None = None, group: str = ""
    ) -> list[Response]:
        return self.handle(AddAsk(app, ask, amount, task_group=group, required_node=node))

    def placeholder(self, ask: str, app: str = "x", group: str = "g") -> list[Response]:
        return self.handle(AddAsk(app, ask, placeholder=True, task_group=group))

    def withdraw(self, ask: str | None, app: str = "x") -> list[Response]:
        return self.handle(ReleaseAsk(app, ask))

    def stop(self, allocation: str, app: str = "x") -> list[Response]:
        return self.handle(ReleaseAllocation(app, allocation))

    def node(self, name: str = "n", capacity: int = 10, partition: str = "default") -> list[Response]:
        return self.handle(CreateNode(name, capacity, partition))

    def drain(self, node: str = "n") -> None:
        self.handle(UpdateNode(node, NodeAction.DRAIN_NODE))

    def decommission(self, node: str = "n") -> list[Response]:
        return self.handle(UpdateNode(node, NodeAction.DECOMMISSION))

    def control(self, control: Control, queue: str | None = None, partition: str = "default") -> list[Response]:
        return self.handle(ControlObject(control, partition, queue))

    def confirm(self, allocation: str) -> list[Response]:
        """The RM answers one release that it was asked for."""
        owed = next((r for r in self.owed if r.allocation == allocation), None)
        assert owed is not None, f"the RM was not asked to release {allocation}"
        self.owed.remove(owed)
        return self.handle(ReleaseAllocation(owed.application, allocation, owed.termination))

    def confirm_all(self) -> list[Response]:
        news: list[Response] = []
        while self.owed:
            news += self.confirm(self.owed[0].allocation)
        return news

    # What the core does by itself.

    def schedule(self, ask: str = "", node: str = "n", replaces: str | None = None) -> list[Response]:
        """One decision; this one, if an ask is given."""
        choose: Choice | None = only(ask, node, replaces) if ask else None
        self.core.schedule(choose)
        return self._check()

    def schedule_all(self) -> list[Response]:
        news: list[Response] = []
        while self.core.options():
            news += self.schedule()
        return news

    def run(self, seconds: float) -> list[Response]:
        """Time goes by; every timer comes when it is due, and each is checked."""
        news: list[Response] = []
        end = self.clock.now() + round(seconds * 10**9)
        while self.clock.pending() and self.clock.pending()[0].deadline <= end:
            timer = self.clock.pending()[0]
            self.clock.advance(max(0, timer.deadline - self.clock.now()) / 10**9)
            news += self.fire(timer.name)
        self.clock.advance((end - self.clock.now()) / 10**9)
        return news

    def wait(self, seconds: float) -> list[Response]:
        """As :meth:`run`, but what is due comes only at the end, once each: for hours and days."""
        self.clock.advance(seconds)
        due = [t.name for t in self.clock.due()]
        return [response for timer in due for response in self.fire(timer)]

    def fire(self, timer: object) -> list[Response]:
        self.clock.run_out(timer)
        return self.deliver(timer)

    def deliver(self, timer: object) -> list[Response]:
        before = self.core.world
        self.clock.deliver(timer)
        if isinstance(timer, Wakeup) and timer.application:
            it = next((a for a in (*before.applications, *before.tracked) if a.serial == timer.application), None)
            if it is None or timer.serial not in (it.state_timer, it.gang_timer):
                assert self.core.world == before, f"{timer} is of an earlier stay, and does something (D23)"
        return self._check()

    # For explorations.

    def snapshot(self) -> Snapshot:
        return (
            self.core.snapshot(),
            self.clock.snapshot(),
            tuple(self.owed),
            frozenset(self.running),
            frozenset(self._asked),
        )

    def restore(self, snapshot: Snapshot) -> None:
        world, times, owed, running, asked = snapshot
        self.core.restore(world)
        self.clock.restore(times)
        self.owed, self.running, self._asked, self.seen = list(owed), set(running), set(asked), []
        self._properties.start_over()

    def late(self, kind: Kind, app: str = "x") -> Wakeup:
        """An application's timer runs out now, and is not delivered yet."""
        wakeup = self.due(kind, app)
        self.clock.run_out(wakeup)
        return wakeup

    def due(self, kind: Kind, app: str = "x") -> Wakeup:
        """Time goes by until an application's timer is due; other timers do not come meanwhile."""
        wakeup = self.timer(kind, app)
        deadline = next(t.deadline for t in self.clock.pending() if t.name == wakeup)
        self.clock.advance(max(0, deadline - self.clock.now()) / 10**9)
        return wakeup

    def timer(self, kind: Kind, app: str = "x") -> Wakeup:
        it = self.core.application(app)
        number = it.state_timer if kind is Kind.STATE else it.gang_timer
        assert number is not None, f"{app} has no {kind} timer"
        return Wakeup(kind, it.serial, number)

    def crash(self) -> None:
        self.core.crash()
        self.owed, self.running, self._asked = [], set(), set()
        self._properties.start_over()

    def register(self) -> list[Response]:
        return self.handle(RegisterRM("k8s", self._partitions))

    # What can be seen.

    def record(self, app: str = "x") -> Application:
        return self.core.application(app)

    def state(self, app: str = "x") -> State | None:
        try:
            return self.record(app).state
        except Refused:
            return None

    def log(self, app: str = "x") -> str:
        return " ".join(str(entry["applicationState"]) for entry in self.core.state_log(app))
