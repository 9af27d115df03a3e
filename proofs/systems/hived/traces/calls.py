"""Maps the calls of a recorded run of the HiveD algorithm to records of the model.

The state machine document has groups and cells only. A recorded run has pods, calls and names that are used again. The
rules of the trace format, with our interpretation of each:

* **Compared** (rule 1): the state of every group, and the state, user and reserver of every leaf cell, after each call.
  That is the complete state of the model.
* **A group that is not in the table** (rule 2) is Pending before its first pod and while it has pods. It is Deleted
  once it has none (a group that was in the table has had a pod). Deleted stays final: when pods of that name come back,
  the slot of the name starts again as a Pending group. This loses no information. A Deleted group has no cells (checked
  when the slot is reused), and only a new group of its name can be observed later.
* **Pods** (rule 2): e7 and e8 need a group without pods after the call, e3 and e4 one without allocated pods. Waiting
  pods that are left form a new Pending group.
* **Steps of a call** (rule 3): Schedule and AddAllocatedPod take e0, e1, e2 of their group. Deletions take e3, e4, e7,
  e8 of their group, and e9 on cells that it uses. Other calls take no step.
* **Crashes** (rule 4): where ``epoch`` is greater than in the previous record, every object takes ec. A victim is then
  Allocated. An Allocated group that has no bound pod in that record becomes Pending, and its cells Free. The replay
  that follows rebuilds the state that the crash left. Its calls take no step and are not compared, until the first call
  that is not part of it.
* **Outranks** (rule 5) is computed for each call. The group of the call has the priority of its table entry after the
  call, else of the entry before, else of the header. Every other group has the lower of its priorities before and
  after, because the call may first displace it lazily.

Two prunings keep the search small. Neither loses an explanation, because the complete state is observed.

1. No other group acts in the call, so no group takes a cell that e0 or e1 just gave. The cells that the group holds
   afterwards are K, except those that it held before.
2. No step of a deletion makes the group a user again. So e9 fires exactly on the Reserving cells that it used and no
   longer uses. Each e9 changes its own cell only, so one order represents all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations

from schedproof.model.lang import Model
from schedproof.model.lang.rules import Action
from schedproof.model.lang.terms import Fires
from schedproof.model.lang.types import Ref
from schedproof.model.semantics import Choice, IllFormed, Instance, State, Stepper, Undefined
from schedproof.proofs.traces.engine.broken import broken_guard
from schedproof.proofs.traces.engine.candidates import Observation, Path, Record, closure
from schedproof.proofs.traces.files.lines import TextLine, as_objects
from schedproof.proofs.traces.formats.format import Format, ModelLog, Requested, first_object
from schedproof.proofs.traces.reports.report import Requirement
from schedproof.proofs.traces.reports.wording import show_choice

from .calls_reader import Call, HivedTrace, is_hived, read_hived

GROUP, CELL = "PodGroup", "Cell"
TAKING = ("e0", "e1", "e2")
DELETING = ("e3", "e4", "e7", "e8")
OF_THE_CALL = {
    "Schedule": TAKING,
    "AddAllocatedPod": TAKING,
    "DeleteAllocatedPod": DELETING,
    "DeleteUnallocatedPod": DELETING,
}
REPLAYED = ("Restart", "AddNode", "AddUnallocatedPod", "AddAllocatedPod")
MOST_STARTS = 20  # states from which forbidden steps are tried, when a nonconformance is explained
ALL_PODS_DELETED = "Condition: all pods of this PG are deleted."


@dataclass(frozen=True)
class _Event:
    """The event that an action fires first, and the variable whose object fires it."""

    sort: str
    name: str
    who: str


@dataclass
class HivedReading:
    """A trace, interpreted as records of ``model``."""

    model: Model
    trace: HivedTrace
    instance: Instance = field(init=False)
    _steppers: dict[tuple[frozenset[int], ...], Stepper] = field(default_factory=dict)
    events: dict[str, _Event] = field(init=False)
    groups: list[str] = field(init=False)
    states: dict[str, list[str]] = field(init=False)

    def __post_init__(self) -> None:
        self.instance = self.at(tuple(frozenset() for _ in self.trace.groups)).instance
        self.groups = list(self.trace.groups)
        self.states = {m.sort.name: [s.name for s in m.states] for m in self.model.machines}
        self.events = {a.name: _root(a.fires[0]) for a in self.model.actions if a.fires}

    def at(self, outranks: tuple[frozenset[int], ...]) -> Stepper:
        """Returns the stepper for one valuation of outranks; it is built once."""
        if outranks not in self._steppers:
            sizes = {GROUP: len(self.trace.groups), CELL: len(self.trace.cells)}
            names = {GROUP: list(self.trace.groups), CELL: list(self.trace.cells)}
            instance = Instance(self.model, sizes, {(GROUP, "outranks"): list(outranks)}, names=names)
            self._steppers[outranks] = Stepper(instance)
        return self._steppers[outranks]

    def records(self) -> Iterator[Record[State]]:
        """Yields the records, in order."""
        before: Call | None = None
        seen: set[str] = set()
        replaying = False
        for call in self.trace.calls:
            seen |= {name for name, pods in call.pods.items() if pods} | set(call.table)
            crashed = call.epoch > (before.epoch if before else 0)
            replaying = (replaying or crashed) and call.op in REPLAYED
            reading = _Reading(self, call, before, crashed, replaying, frozenset(seen))
            yield reading.record()
            before = call

    def stepper(self, call: Call, before: Call | None) -> Stepper:
        """Returns the stepper at the priorities of ``call``."""
        lowest, acting = [], []
        for name, priority in self.trace.groups.items():
            entries = [c.table[name].priority for c in (call, before) if c is not None and name in c.table]
            acting.append(entries[0] if entries else priority)
            lowest.append(min(entries, default=priority))
        everyone = range(len(self.groups))
        return self.at(
            tuple(
                frozenset(
                    j
                    for j in everyone
                    if j != i and (acting if self.groups[i] == call.group else lowest)[i] > lowest[j]
                )
                for i in everyone
            )
        )


def _root(firing: Fires) -> _Event:
    kind = getattr(firing.of, "type", None)
    assert isinstance(kind, Ref)
    return _Event(kind.sort.name, firing.event, getattr(firing.of, "name", ""))


@dataclass(frozen=True)
class _Reading:
    """One call in its context: the state observed after it, and the steps that may explain it."""

    whole: HivedReading
    call: Call
    before: Call | None
    crashed: bool
    replaying: bool
    seen: frozenset[str]

    def record(self) -> Record[State]:
        call = self.call
        return Record(
            call.number,
            call.line,
            call.says,
            self.successors,
            Observation() if self.replaying else Observation(self.observed),
            self.attempts,
            f"{call.says} {call.panic}" if call.panic else "",
        )

    @cached_property
    def observed(self) -> dict[int, int]:
        """The complete state after the call."""
        instance, call, states = self.whole.instance, self.call, self.whole.states
        slots: dict[int, int] = {}
        for number, name in enumerate(self.whole.groups):
            slots[instance.slot(GROUP) + number] = states[GROUP].index(self.group_state(name))
        for number, address in enumerate(self.whole.trace.cells):
            leaf = call.leaves[address]
            slots[instance.slot(CELL) + number] = states[CELL].index(leaf.state)
            slots[instance.slot(CELL, "user") + number] = self.group_number(leaf.using)
            slots[instance.slot(CELL, "reserver") + number] = self.group_number(leaf.reserving)
        return slots

    def group_number(self, name: str | None) -> int:
        return -1 if name is None else self.whole.groups.index(name)

    def group_state(self, name: str) -> str:
        """A group's state after the call (rule 2)."""
        if name in self.call.table:
            return self.call.table[name].state
        return "Deleted" if name in self.seen and not self.call.pods[name] else "Pending"

    def successors(self, state: State) -> Iterable[Path]:
        """The paths that the rules of the format allow."""
        start = Path((), state)
        if self.crashed:
            start = self.recovered(state)
        start = self.reborn(start)
        if self.replaying:
            return [start]
        return closure(start, self.moves)

    def moves(self, state: State) -> Iterator[tuple[str, State]]:
        """The steps of the call's group, each followed by the return of names."""
        if self.call.group is None:
            return
        stepper, number = self.whole.stepper(self.call, self.before), self.group_number(self.call.group)
        for choice, event in self.choices(state, number, OF_THE_CALL.get(self.call.op, ())):
            if not self.pods_hold(self.call.group, event) and stepper.enabled(state, choice):
                try:
                    after = stepper.step(state, choice).after
                except (IllFormed, Undefined):
                    continue
                path = self.reborn(Path((show_choice(stepper.instance, choice),), after))
                yield "; then ".join(path.steps), path.state

    def recovered(self, state: State) -> Path:
        """The state after a crash (rule 4)."""
        stepper, instance = self.whole.at(tuple(frozenset() for _ in self.whole.groups)), self.whole.instance
        steps = ["crash()"]
        for action in self.whole.model.actions:
            if action.crash:
                state = stepper.step(state, Choice(action.name)).after
        state_after, states = list(state), self.whole.states
        for number, name in enumerate(self.whole.groups):
            slot = instance.slot(GROUP) + number
            bound = any(pod.state == "bound" for pod in self.call.pods[name])
            if states[GROUP][state_after[slot]] == "Allocated" and not bound:
                steps.append(f"{name} was not durable")
                state_after[slot] = states[GROUP].index("Pending")
                for cell in range(len(self.whole.trace.cells)):
                    if state_after[instance.slot(CELL, "user") + cell] == number:
                        state_after[instance.slot(CELL) + cell] = states[CELL].index("Free")
                        state_after[instance.slot(CELL, "user") + cell] = -1
        return Path(tuple(steps), tuple(state_after))

    def reborn(self, path: Path) -> Path:
        """Turns Deleted groups whose names have pods into new Pending groups (rule 2)."""
        instance, states = self.whole.instance, self.whole.states
        state_after, steps = list(path.state), list(path.steps)
        for number, name in enumerate(self.whole.groups):
            slot = instance.slot(GROUP) + number
            if (
                states[GROUP][state_after[slot]] == "Deleted"
                and self.call.pods[name]
                and not self.held(path.state, number)
            ):
                state_after[slot] = states[GROUP].index("Pending")
                steps.append(f"{name} is a new group of that name")
        return Path(tuple(steps), tuple(state_after), path.refused)

    def held(self, state: State | Mapping[int, int], number: int) -> frozenset[int]:
        """The cells with which a group is associated."""
        user, reserver = self.whole.instance.slot(CELL, "user"), self.whole.instance.slot(CELL, "reserver")
        cells = range(len(self.whole.trace.cells))
        return frozenset(c for c in cells if number in (state[user + c], state[reserver + c]))

    def choices(self, state: State, number: int, events: Iterable[str]) -> Iterator[tuple[Choice, str]]:
        """The choices, for one group, of actions that fire one of ``events`` on it first, and of e9."""
        event_names = tuple(events)
        for name, event in self.whole.events.items():
            action = self.whole.model.action(name)
            if event.sort == GROUP and event.name in event_names:
                for parameters in self.parameters(action, state, number):
                    yield Choice(name, parameters), event.name
            elif event.sort == CELL and event.name == "e9" and "e4" in event_names:
                vacated_by = self.vacated(state, number)
                if vacated_by:
                    yield Choice(name, ((event.who, vacated_by[0]),)), event.name

    def parameters(self, action: Action, state: State, number: int) -> Iterator[tuple[tuple[str, int], ...]]:
        """The group, and the sets of cells that it may have been given (see the module's docstring)."""
        sets = [v.name for v in action.parameters if not isinstance(v.type, Ref)]
        who = [v.name for v in action.parameters if isinstance(v.type, Ref)]
        if not sets:
            yield tuple((w, number) for w in who)
            return
        before, after = self.held(state, number), self.held(self.observed, number)
        new_cells, open_cells = after - before, sorted(after & before)
        for size in range(len(open_cells) + 1):
            for more in combinations(open_cells, size):
                mask = sum(1 << c for c in (*new_cells, *more))
                if mask:  # a group is given at least one cell
                    yield tuple((v.name, number if v.name in who else mask) for v in action.parameters)

    def vacated(self, state: State, number: int) -> list[int]:
        """The Reserving cells that the group used and no longer uses."""
        instance, observed = self.whole.instance, self.observed
        user, cell_state = instance.slot(CELL, "user"), instance.slot(CELL)
        reserving = self.whole.states[CELL].index("Reserving")
        return [
            c
            for c in range(len(self.whole.trace.cells))
            if state[cell_state + c] == reserving and state[user + c] == number and observed[user + c] != number
        ]

    def pods_hold(self, group: str, event: str) -> list[Requirement]:
        """The requirements on pods that forbid ``event`` on a group (rule 2)."""
        if event not in DELETING:
            return []
        allocated_only = event in ("e3", "e4")
        left = [pod for pod in self.call.pods[group] if pod.allocated or not allocated_only]
        if not left:
            return []
        action = next(a for a in self.whole.model.actions if [f.event for f in a.fires] == [event])
        which = "allocated pods" if allocated_only else "pods"
        says = f"{event} needs all {which} of {group} deleted, and {left[0].name} is still {left[0].state}"
        return [Requirement(None, says, self.whole.model.document.name, action.line, ALL_PODS_DELETED)]

    def attempts(self, state: State) -> Iterator[Path]:
        """Yields steps that the rules or the model forbid here, each with the requirements that forbid it."""
        stepper = self.whole.stepper(self.call, self.before)
        for start in list(self.successors(state))[:MOST_STARTS]:
            for group in self.concerned(start.state):
                for choice, event in self.choices(start.state, self.group_number(group), (*TAKING, *DELETING)):
                    refused = [*self.not_this_call(group, event), *self.pods_hold(group, event)]
                    refused += broken_guard(stepper.instance, start.state, choice)
                    after = _forced(stepper, start.state, choice) if refused else None
                    if after is not None:
                        steps = (*start.steps, show_choice(stepper.instance, choice))
                        yield Path(steps, after, tuple(refused))

    def concerned(self, state: State) -> Sequence[str]:
        """The group of the call, and the groups whose state differs from the observed one."""
        slot = self.whole.instance.slot(GROUP)
        changed = [n for i, n in enumerate(self.whole.groups) if state[slot + i] != self.observed[slot + i]]
        called = [self.call.group] if self.call.group else []
        return [*called, *(name for name in changed if name not in called)]

    def not_this_call(self, group: str, event: str) -> list[Requirement]:
        """The requirements that forbid ``event`` on ``group`` in a call of this kind (rule 3)."""
        allowed = OF_THE_CALL.get(self.call.op, ())
        if not allowed:
            says = f"a call of {self.call.op} explains no step"
        elif event not in allowed and not (event == "e9" and "e4" in allowed):
            says = f"a call of {self.call.op} explains {', '.join(allowed)} of its group only, not {event}"
        elif group != self.call.group:
            says = f"a call about {self.call.group} explains steps of {self.call.group} only, not of {group}"
        else:
            return []
        return [Requirement(None, says, self.whole.model.document.name, None)]


def _forced(stepper: Stepper, state: State, choice: Choice) -> State | None:
    """The state after a step whose guard does not hold; None if the tables have no row for it."""
    try:
        return stepper.step(state, choice).after
    except (IllFormed, Undefined):
        return None


def _recognises(lines: Sequence[TextLine]) -> bool:
    return is_hived(first_object(lines))


def _read(model: Model, lines: Sequence[TextLine], requested: Requested) -> ModelLog:
    trace = read_hived(as_objects(lines))
    reading = HivedReading(model, trace)
    return ModelLog(reading.instance, reading.records(), len(trace.calls))


HIVED = Format("hived", 'a HiveD trace begins with "header": true', _recognises, _read)
"""Calls of HiveD's scheduling algorithm."""
