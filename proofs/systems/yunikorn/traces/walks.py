"""Walks of YuniKorn's real Application: calls of its methods, with what an observer sees of it after each.

A line is one walk (``seed``, ``gangStyle``, ``placeholderAsk``: the gang's total, ``steps``); each walk is checked as
its own run of the model. How a walk is interpreted:

* **A step is a call** (``op``), and so one step of the model. The time-out of a timer is two steps: it runs out, and
  its function takes effect at once. Observed after a step are the application's state, two timers, five counts, and
  the messages to the resource manager (``stateUpdates``: a change each, as ``State:event`` or ``State:reason``).
* **A missing ask or allocation cannot be removed**: the removal of an ask that is no longer listed, or of an
  allocation that has ended, is no step. The removal of an allocated ask also checks whether anything is left. Whether
  the removal of an unlisted ask does so is unknown: while other asks are listed, both are allowed.
* **An application that has ended still takes asks**, which the scheduler would never send it. They are counted, but
  are no step of the model, and change nothing of its state.
* **The gang's total** is reached whenever the allocated placeholders are exactly that many; a walk may ask for more
  placeholders than the total.
* **Properties of the document** that a step or the state after it violates are reported. A property that a state
  violates is reported once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from schedproof.model.lang import Model
from schedproof.model.semantics import State
from schedproof.proofs.traces.engine.candidates import Candidates, Observation, Path, Record, check_run
from schedproof.proofs.traces.engine.explain import Complaint
from schedproof.proofs.traces.engine.steps import StepPattern
from schedproof.proofs.traces.errors import TraceError
from schedproof.proofs.traces.files.json_document import read_documents
from schedproof.proofs.traces.files.lines import Line, TextLine
from schedproof.proofs.traces.files.schema import Shape
from schedproof.proofs.traces.formats.format import Format, Requested
from schedproof.proofs.traces.reports.nonconformance import validation_of
from schedproof.proofs.traces.reports.report import LogVerdict, Requirement, Validation, Violation
from schedproof.proofs.traces.reports.wording import show_choice

from .releases import EVENTS, OLDEST, Table, release_named, table_of
from .walk_objects import HELD, WalkAsks, Walker, core_of, trails
from .walk_properties import ExportedProperties
from .words import SCHEMA, Words, keys

ENDED = ("Completed", "Expired", "Failed", "Rejected")
NEEDS_KEY = ("addAsk", "addPlaceholderAsk", "allocate", "removeAllocation", "removeAsk")
COUNTS = ("pending", "allocated", "allocatedPlaceholder", "asks", "allocations")


def _asks(line: Line, words: Words) -> WalkAsks:
    """Returns the asks of a walk.

    Raises:
        TraceError: an ask is added twice, or is allocated before it is added; or a state is unknown.
    """
    asks: dict[str, bool] = {}
    for number, step in enumerate(line.value["steps"], start=1):
        op, key = step["op"], step.get("key", "")
        where = f"step {number}: "
        words.state("Application", step["state"], line, f"steps.{number - 1}.state")
        for update in step.get("stateUpdates") or ():
            words.state("Application", update.partition(":")[0], line, f"steps.{number - 1}.stateUpdates")
        if op in NEEDS_KEY and not key:
            raise line.error(f'{where}"key" is missing; {op} needs it')
        if op in ("addAsk", "addPlaceholderAsk"):
            if key in asks:
                raise line.error(f"{where}ask {key} is added twice; give each ask its own key")
            asks[key] = op == "addPlaceholderAsk" or step.get("placeholder", False)
        elif op == "allocate":
            ask, slash, allocation = key.rpartition("/")
            if not (slash and ask and allocation):
                raise line.error(
                    f'{where}{key!r:.60} is not an allocation; write "ASK/ALLOCATION", such as "ask-0/u-0"'
                )
            if ask not in asks:
                raise line.error(f"{where}ask {ask} is allocated, but was never added")
            if step.get("placeholder", asks[ask]) != asks[ask]:
                raise line.error(
                    f"{where}ask {ask} was {'a placeholder' if asks[ask] else 'a real one'} when it was added"
                )
    return WalkAsks(asks, line.value["gangStyle"], line.value["placeholderAsk"])


def _never(state: State) -> bool:
    return False


def _always(state: State) -> bool:
    return True


def _holds_nothing(walker: Walker, ask: str, state: State) -> bool:
    return not walker.ask_is(state, ask, *HELD)


def _not_listed(walker: Walker, ask: str, state: State) -> bool:
    return not walker.listed(state, ask)


@dataclass(frozen=True)
class Call:
    """The model's steps for a step of a walk.

    Args:
        plan: the steps of the model, in sequence.
        idle: says in which states the call is no step.
        against: says what contradicts a state after the call.
        may_complete: whether a call that is no step may still complete an application that has nothing left.
    """

    plan: Sequence[StepPattern]
    idle: Callable[[State], bool]
    against: Complaint
    may_complete: bool = False


@dataclass
class _Strays:
    """Asks that came after the application had ended: counted here, as the model has no step for them."""

    placeholder: dict[str, bool] = field(default_factory=dict)
    pending: set[str] = field(default_factory=set)
    listed: set[str] = field(default_factory=set)
    allocations: dict[str, str] = field(default_factory=dict)

    def counts(self) -> dict[str, int]:
        """Returns the walk's counts of these asks."""
        held = [self.placeholder[key] for key in self.allocations.values()]
        listed, pending = len(self.listed), len(self.pending)
        return dict(zip(COUNTS, (pending, held.count(False), held.count(True), listed, len(held)), strict=True))

    def takes(self, op: str, key: str, asks: WalkAsks, ended: bool) -> bool:
        """True if the call is about one of these asks; counts it."""
        ask, _, allocation = key.rpartition("/")
        match op:
            case "addAsk" | "addPlaceholderAsk" if ended:
                self.placeholder[key] = asks.asks[key]
                self.pending.add(key)
                self.listed.add(key)
            case "allocate" if ask in self.pending:
                self.pending.remove(ask)
                self.allocations[allocation] = ask
            case "removeAllocation" if key in self.allocations:
                del self.allocations[key]
            case "removeAsk" if key in self.listed:
                self.listed.remove(key)
                self.pending.discard(key)
            case _:
                return False
        return True


@dataclass
class _Reader:
    """Turns the steps of one walk into records."""

    line: Line
    walker: Walker
    asks: WalkAsks
    table: Table
    first: int
    """The number of the first record."""
    added: dict[str, bool] = field(default_factory=dict)
    allocations: dict[str, str] = field(default_factory=dict)
    """Allocation -> its ask."""
    strays: _Strays = field(default_factory=_Strays)
    before: str = "New"

    def records(self) -> Iterator[Record[State]]:
        requirements = ExportedProperties(self.walker)
        for number, step in enumerate(self.line.value["steps"], start=1):
            state = step["state"]
            says = f"{self.title}, step {number}: {step['op']}{' ' + step['key'] if 'key' in step else ''} leaves it {state}"
            call = self.call(step)
            record = self.first + number - 1
            why = self.wrong_updates(step, state)
            yield Record(
                record,
                self.line.number,
                says,
                partial(self.successors, call),
                self.observed(step),
                partial(self.attempts, call),
                f"{says}: {why}" if why else "",
                requirements.breaks(record, self.line.number, says, call.plan),
            )
            self.before = state

    @property
    def title(self) -> str:
        return f"walk {self.line.value['seed']}" if "seed" in self.line.value else f"walk of line {self.line.number}"

    def call(self, step: Mapping[str, Any]) -> Call:
        """Returns the model's steps for a step of the walk."""
        walker, key, strays = self.walker, step.get("key", ""), self.strays
        plan: Sequence[StepPattern]
        idle: Callable[[State], bool] = _never
        match step["op"]:
            case op if strays.takes(op, key, self.asks, self.before in ENDED):
                plan = []
            case "addAsk" | "addPlaceholderAsk":
                self.added[key] = self.asks.asks[key]
                plan = [walker.pattern("add_ask", k=walker.ask(key))]
            case "allocate":
                ask, _, allocation = key.rpartition("/")
                self.allocations[allocation] = ask
                given = {"k": walker.ask(ask), "n": 0}
                if not self.asks.asks[ask]:
                    given["f"] = 0
                elif "allocatedPlaceholder" in step:
                    given["f"] = int(step["allocatedPlaceholder"] == self.asks.total > 0)
                plan = [walker.pattern("allocate", **given)]
            case "removeAllocation":
                its = self.allocations.get(key)
                plan = [] if its is None else [walker.pattern("end", k=walker.ask(its))]
                idle = _never if its is None else partial(_holds_nothing, walker, its)
            case "removeAsk":
                plan = [walker.pattern("remove_ask", k=walker.ask(key))] if key in self.added else []
                idle = partial(_not_listed, walker, key) if plan else _always
            case "stateTimeout":
                plan = [walker.pattern("run_out", a=0, w=0), walker.pattern("wake", w=0)]
            case _:
                plan = [walker.pattern("gang_times_out", g=0), walker.pattern("gang_wakes", g=0)]
        return Call(plan, idle, self.uncounted(step), may_complete=step["op"] == "removeAsk")

    def successors(self, call: Call, state: State) -> Iterator[Path]:
        """Yields the paths of the call from ``state`` that the counts allow."""
        return (path for path, complaint in self.ways(call, state) if not complaint)

    def attempts(self, call: Call, state: State) -> Iterator[Path]:
        """Yields the paths that the counts contradict, or why there is no path."""
        document, reported = self.walker.instance.model.document.name, False
        for path, complaint in self.ways(call, state):
            reported = True
            if complaint:
                yield Path(path.steps, path.state, (Requirement(None, complaint, document, None),))
        for pattern in () if reported else call.plan[:1]:
            yield from self.walker.steps.nearest(state, pattern)

    def ways(self, call: Call, state: State) -> Iterator[tuple[Path, str]]:
        """Yields the call's paths from ``state``, each with what contradicts the state after it."""
        idle = call.idle(state)
        for end, trail in trails(self.walker, state, [] if idle else call.plan):
            steps = tuple(show_choice(self.walker.instance, choice) for _, choice in trail)
            yield Path(steps, end), call.against(end)
        if idle and call.may_complete:
            end = self.walker.looked_at(state, self.added)
            if end != state:
                yield Path(("a look whether anything is left",), end), call.against(end)

    def observed(self, step: Mapping[str, Any]) -> Observation:
        """Returns the observed state of the application and of its timers."""
        walker = self.walker
        slots = {walker.slot("Application"): walker.value("Application", "", step["state"])}
        if "stateTimer" in step:
            armed = "armed" if step["stateTimer"] else "off"
            slots[walker.slot("Application", "timer")] = walker.value("Application", "timer", armed)
        if "placeholderTimer" in step:
            armed = "armed" if step["placeholderTimer"] else "off"
            slots[walker.slot("GangTimer")] = walker.value("GangTimer", "", armed)
        return Observation(slots)

    def uncounted(self, step: Mapping[str, Any]) -> Complaint:
        """Returns a function that finds what contradicts a state after the step: counts other than the walk's."""
        added, walker, strays = dict(self.added), self.walker, self.strays.counts()

        def complaint(state: State) -> str:
            counts = walker.counts(state, added)
            for name in COUNTS:
                model = counts[name] + strays[name]
                if model != step.get(name, model):
                    return f"{name} is {model} in the model, {step[name]} observed"
            return ""

        return complaint

    def wrong_updates(self, step: Mapping[str, Any], state: str) -> str:
        """Returns why the messages to the resource manager cannot be right; "" if they can."""
        if "stateUpdates" not in step:
            return ""
        now = self.before
        for update in step["stateUpdates"] or ():
            after, _, event = update.partition(":")
            events = self.table.events("Application", now, after)
            if after == now or not events or (event in EVENTS["Application"] and event not in events):
                return f"the core sent the resource manager {update}, but the table has no such change of {now}"
            now = after
        if now != state:
            return (
                f"the core notified the resource manager that it is {now}"
                if step["stateUpdates"]
                else (f"it was {now}, and the core did not notify the resource manager")
            )
        return ""


@dataclass(frozen=True)
class _Walks:
    """Walks, each a run of its own."""

    model: Model
    walks: Sequence[tuple[Line, WalkAsks]]

    def check(self) -> Validation:
        """Returns the verdict on all walks: of the first nonconforming one, or else of the first undetermined one."""
        breaks, undetermined, first = list[Violation](), None, 1
        size, core, table = (
            sum(len(line.value["steps"]) for line, _ in self.walks),
            core_of(self.model),
            table_of(self.model),
        )
        for line, asks in self.walks:
            reader = _Reader(line, Walker(asks.instance(core)), asks, table, first)
            records = list(reader.records())
            first += len(records)
            outcome, broken = check_run(Candidates((reader.walker.start,)), records)
            validation = validation_of(reader.walker.instance, outcome)
            breaks += broken
            if validation.verdict is LogVerdict.VIOLATES:
                return replace(validation, size=size, breaks=breaks)
            if validation.verdict is LogVerdict.UNDETERMINED:
                undetermined = undetermined or validation
        return replace(undetermined or Validation(LogVerdict.CONFORMS), size=size, breaks=breaks)


def _read(model: Model, lines: Sequence[TextLine], requested: Requested) -> _Walks:
    if requested.release is not None and release_named(requested.release) != OLDEST:
        raise TraceError(
            f"{lines[0].file}: walks are calls of the Application of 0.12; leave the release {requested.release} out"
        )
    documents, shape, words = read_documents(lines), Shape.load(SCHEMA, "walk"), Words(model)
    walks: list[tuple[Line, WalkAsks]] = []
    for value in documents.values:
        for walk in value if isinstance(value, list) else [value]:
            if not isinstance(walk, dict):
                raise documents.error(f"{walk!r:.60} is not a walk; write an object {{...}}")
            line = documents.line(walk)
            shape.check(line)
            walks.append((line, _asks(line, words)))
    return _Walks(model, walks)


def _recognises(lines: Sequence[TextLine]) -> bool:
    return bool(keys(lines) & {"gangStyle", "placeholderAsk"})


def _fits(model: Model) -> bool:
    return {"Application", "Ask", "Wakeup", "GangTimer", "Node"} <= {m.sort.name for m in model.machines}


WALKS = Format(
    "yunikorn-walks",
    'a walk "gangStyle" and "steps"',
    _recognises,
    _read,
    validated_by="v0.12.2",
    fits=_fits,
    by_release=True,
)
"""Walks of the core's Application."""
