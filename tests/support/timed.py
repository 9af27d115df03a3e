"""Timers twice: a model with the library of timers, and a simulator with real time that knows nothing of it.

Both say which *orders* of events can happen. An event is a word: ``arm a``, ``stop a``, ``expire a``, ``run a``, ``late a``. The
simulator gives every event a real time. An order can happen if some times satisfy all of its conditions, which are
differences of two times: a system of difference constraints, solved by shortest paths.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import z3

from schedproof.model.lang import Action, Machine, Model, Row, Sort, State, variable
from schedproof.model.lang.timers import TimerKind, Timers
from schedproof.model.semantics import Instance, Stepper, fitted

Job, Timer, Call = Sort("Job", "j"), Sort("Timer", "t"), Sort("Call", "c")
j = variable(Job, "j")

Order = tuple[str, ...]


@dataclass(frozen=True)
class Setting:
    """The timers of one job.

    Args:
        lasts: of each timer, the shortest and the longest time.
        late: those of which stopping may be too late.
        unpunctual: those whose functions may run at any later time.
        periodic: those whose functions arm them again.
        stops: those that can be stopped.
    """

    lasts: Mapping[str, tuple[int, int]]
    late: Sequence[str] = ()
    unpunctual: Sequence[str] = ()
    periodic: Sequence[str] = ()
    stops: Sequence[str] = ()


def model(setting: Setting, time: str, calls: int = 4) -> Model:
    """One job whose timers are armed and stopped at any time."""
    kinds = list(setting.lasts)
    timers = Timers(Timer, Call, [TimerKind(kind, of="job") for kind in kinds], {"job": Job}, time)
    arm = {kind: Action(f"arm_{kind}", [j], [], [], f"{{j}} arms {kind}") for kind in kinds}
    stop = {kind: Action(f"stop_{kind}", [j], [], [], f"{{j}} stops {kind}") for kind in setting.stops}
    tick = timers.tick() if time == "ticks" else None
    periodic = [
        rule
        for kind in setting.periodic
        for rule in (
            timers.function(f"{kind} beats", kind, [], timers.owner(kind).fires(f"beat_{kind}")),
            timers.arming(f"{kind} is armed by its beat", j.fires(f"beat_{kind}"), [], kind, j),
        )
    ]
    return Model(
        system="timers",
        variant="as-written",
        about="a job with timers",
        machines=[Machine(Job, [State("There")]), *timers.machines],
        rows=[*[Row(Job, f"beat_{kind}", "There", "There") for kind in setting.periodic], *timers.rows],
        actions=[
            *arm.values(),
            *stop.values(),
            *[action for kind in kinds for action in timers.running(kind, "runs")],
            *([tick] if tick else []),
        ],
        rules=[
            *[timers.arming(f"{kind} is armed", arm[kind], [], kind, j) for kind in kinds],
            *[timers.stopping(f"{kind} is stopped", stop[kind], [], kind, j) for kind in stop],
            *periodic,
            *timers.rules(tick),
        ],
        properties=timers.properties,
        default_scope={"Job": 1, "Timer": len(kinds), "Call": calls},
        axioms=timers.axioms,
        bound={("Timer", "remains"): 9} if tick else {},
        configurations=lambda sizes: [
            timers.configuration(
                {"job": sizes["Job"]}, lasts=setting.lasts, late=setting.late, unpunctual=setting.unpunctual
            )
        ],
    )


States = frozenset[tuple[int, ...]]


class Reached:
    """The states that a model can be in after an order of events; ticks are no events."""

    def __init__(self, model: Model) -> None:
        (rigid,) = model.configurations(model.default_scope)
        self._instance = Instance(model, fitted(model.default_scope, rigid), rigid)
        self._stepper = Stepper(self._instance)

    @property
    def initial(self) -> States:
        return self._with_ticks({self._instance.initial()})

    def _with_ticks(self, states: Iterable[tuple[int, ...]]) -> States:
        reached, new = set(states), set(states)
        while new:
            steps = (step for state in new for step in self._stepper.steps(state))
            new = {step.after for step in steps if step.choice.action == "tick"} - reached
            reached |= new
        return frozenset(reached)

    def after(self, states: States) -> dict[str, States]:
        """The states after each event that can happen."""
        longer: dict[str, set[tuple[int, ...]]] = {}
        for state in states:
            for step in self._stepper.steps(state):
                if step.choice.action != "tick":
                    word = _word(step.choice.action)
                    longer.setdefault(word, set()).add(step.after)
        return {word: self._with_ticks(reached) for word, reached in longer.items()}


def orders_of_model(model: Model, most: int) -> set[Order]:
    """The orders of at most ``most`` events that the model has."""
    reached = Reached(model)
    orders: set[Order] = set()
    longest: dict[Order, States] = {(): reached.initial}
    for _ in range(most + 1):
        orders |= longest.keys()
        longest = {
            (*order, word): states
            for order, before in longest.items()
            for word, states in reached.after(before).items()
        }
    return orders


def has(model: Model, order: Order) -> bool:
    """Whether the model has one order of events."""
    reached = Reached(model)
    states = reached.initial
    for word in order:
        states = reached.after(states).get(word, frozenset())
    return bool(states)


def _word(action: str) -> str:
    verb, kind, *late = action.split("_")
    return f"{'late' if late else verb} {kind}"


# --- the simulator


@dataclass
class _Clock:
    """One timer of the simulator: the number of the event that armed it, and the calls of its function."""

    armed: int | None = None
    due: int | None = None
    late: int = 0


@dataclass
class Simulator:
    """Timers in real time; raises nothing, and answers whether an order of events can happen.

    Attributes:
        differences: (i, k, d): event k happens at least d after event i. d is 0, or a kind with ``least``, or a kind with
            ``most``: then event i happens at most so long after event k.
    """

    setting: Setting
    clocks: dict[str, _Clock] = field(default_factory=dict)
    differences: list[tuple[int, int, tuple[str, str] | None]] = field(default_factory=list)
    count: int = 0

    def happens(self, word: str) -> bool:
        """Lets an event happen, if it can whatever the times are."""
        verb, kind = word.split()
        clock, now = self.clocks.setdefault(kind, _Clock()), self.count
        if now:
            self.differences.append((now - 1, now, None))
        self.count += 1
        if verb in ("arm", "stop"):
            self._leave(kind, clock, now)
            clock.armed = now if verb == "arm" else None
        elif verb == "expire":
            if clock.armed is None:
                return False
            self.differences.append((clock.armed, now, (kind, "least")))
            clock.armed, clock.due = None, clock.armed
        elif verb == "run":
            if clock.due is None:
                return False
            self._in_time(kind, clock.due, now)
            clock.due = None
        elif clock.late == 0:
            return False
        else:
            clock.late -= 1
        if verb in ("run", "late") and kind in self.setting.periodic:
            self._leave(kind, clock, now)
            clock.armed = now
        return True

    def _leave(self, kind: str, clock: _Clock, now: int) -> None:
        """Its time has not run out yet. A function that has not run will run late, or never."""
        since = clock.armed if clock.armed is not None else clock.due
        if since is not None:
            self._in_time(kind, since, now)
        if clock.due is not None and kind in self.setting.late:
            clock.late += 1
        clock.armed = clock.due = None

    def _in_time(self, kind: str, since: int, now: int) -> None:
        if kind not in self.setting.unpunctual:
            self.differences.append((now, since, (kind, "most")))

    def all_differences(self) -> list[tuple[int, int, tuple[str, str] | None]]:
        """The differences, also those of what has still to run."""
        pending = Simulator(self.setting, self.clocks, [*self.differences], self.count)
        for kind, clock in self.clocks.items():
            since = clock.armed if clock.armed is not None else clock.due
            if since is not None:
                pending._in_time(kind, since, self.count - 1)
        return pending.differences

    def possible(self) -> bool:
        """Whether some times satisfy all differences: no sum along a circle is positive."""
        numbers = {None: 0}
        for kind, (least, most) in self.setting.lasts.items():
            numbers |= {(kind, "least"): least, (kind, "most"): -most}  # type: ignore[dict-item]
        times = [0] * self.count
        for _ in range(self.count + 1):
            moved = False
            for i, k, d in self.all_differences():
                if times[k] < times[i] + numbers[d]:  # type: ignore[index]
                    times[k], moved = times[i] + numbers[d], True  # type: ignore[index]
            if not moved:
                return True
        return False

    def possible_for_some_durations(self) -> bool:
        """Whether the order is possible for some durations that compare as those of the setting do."""
        solver = z3.Solver()
        numbers = {
            (kind, which): z3.Real(f"{kind} {which}") for kind in self.setting.lasts for which in ("least", "most")
        }
        for one, (_, most) in self.setting.lasts.items():
            solver.add(numbers[one, "least"] >= 0, numbers[one, "least"] <= numbers[one, "most"])
            for other, (other_least, _) in self.setting.lasts.items():
                before = numbers[one, "most"] < numbers[other, "least"]
                solver.add(before if most < other_least else z3.Not(before))
        times = [z3.Real(f"time {number}") for number in range(self.count)]
        for i, k, d in self.all_differences():
            if d is None:
                solver.add(times[k] >= times[i])
            elif d[1] == "least":
                solver.add(times[k] - times[i] >= numbers[d])
            else:
                solver.add(times[i] - times[k] <= numbers[d])
        return bool(solver.check() == z3.sat)


def happens(setting: Setting, order: Order) -> bool:
    """Whether an order of events can happen in real time."""
    simulator = Simulator(setting)
    return all(simulator.happens(word) for word in order) and simulator.possible()


def words_of(setting: Setting) -> list[str]:
    """All events."""
    words = [f"{verb} {kind}" for kind in setting.lasts for verb in ("arm", "expire", "run", "late")]
    return [*words, *[f"stop {kind}" for kind in setting.stops]]


def orders_in_real_time(setting: Setting, most: int) -> set[Order]:
    """The orders of at most ``most`` events that can happen in real time. What begins impossibly is impossible."""
    words = words_of(setting)
    orders: set[Order] = set()
    longest: list[Order] = [()]
    for _ in range(most + 1):
        orders |= set(longest)
        longest = [(*order, word) for order in longest for word in words if happens(setting, (*order, word))]
    return orders


def armed_once(orders: set[Order]) -> Iterator[Order]:
    """The orders in which each timer is armed at most once."""
    for order in orders:
        armed = [word for word in order if word.startswith("arm ")]
        if len(armed) == len(set(armed)):
            yield order
