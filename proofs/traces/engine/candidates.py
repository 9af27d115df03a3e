"""Which model states explain a trace so far, record by record.

The engine keeps every model state that agrees with all that was observed. For each record the
format says which states its steps can lead to; those that differ from the observation are dropped.
A record after which none is left departs. The engine knows neither formats nor systems.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from schedproof.model.semantics import Instance, State
from schedproof.proofs.traces.reports.report import Candidate, Departure, Difference, OracleVerdict, Promise

from .broken import broken_invariants, broken_table

MOST_STATES = 10_000
"""More candidate states than this after one record: undetermined."""

MOST_PATHS = 100_000
"""More paths than this for one record: undetermined."""

MOST_SHOWN = 3
"""Candidates shown for a departure."""


class TooManyStates(Exception):
    """The candidate states, or the choices that lead to them, are more than the limit."""


@dataclass(frozen=True)
class Observation:
    """What a record shows of the state: slot -> value, of some or all slots."""

    slots: Mapping[int, int] = field(default_factory=dict)

    def differing(self, state: State) -> list[int]:
        """The slots in which ``state`` is not as observed."""
        return [slot for slot, value in self.slots.items() if state[slot] != value]


@dataclass(frozen=True)
class Path:
    """Steps in words, the state that they lead to and, if they are not allowed, what forbids them.

    ``met`` counts the conditions that held before the one that forbids them: more are closer.
    """

    steps: tuple[str, ...]
    state: State
    refused: tuple[Promise, ...] = ()
    met: int = 0


@dataclass(frozen=True)
class Record:
    """One record of a trace, as a format reads it.

    Args:
        number, line: for messages; ``says`` is the record in a few words.
        successors: the paths that the record allows from a state (all of them that can agree
            with ``observed``; others may be left out).
        attempts: more paths, with what forbids them: only for explaining a departure.
        broken: the record departs in itself, for this reason.
    """

    number: int
    line: int
    says: str
    successors: Callable[[State], Iterable[Path]]
    observed: Observation
    attempts: Callable[[State], Iterable[Path]] = lambda state: ()
    broken: str = ""


@dataclass(frozen=True)
class Judgement:
    """The verdict, how many records were read, and the departure or the reason for none."""

    verdict: OracleVerdict
    departure: Departure | None = None
    note: str = ""


Seen = Callable[[Record, Sequence[State], Sequence[State]], None]
"""Is told of a record that is explained: the states before it, and those after it."""


class Judge:
    """Judges records one after the other; what it keeps does not grow with their number.

    Args:
        instance: the model with its objects. A format whose objects come and go sets it, and ``candidates`` with it.
        starts: the states in which the run may begin; none given: the model's initial state.
        limit: more candidate states than this after one record: undetermined.
        seen: is told of every record that is explained.
    """

    def __init__(
        self, instance: Instance, starts: Sequence[State] = (), limit: int = MOST_STATES, seen: Seen | None = None
    ) -> None:
        self.instance = instance
        self.candidates: Sequence[State] = tuple(dict.fromkeys(starts)) or (instance.initial(),)
        self.judgement = Judgement(OracleVerdict.CONFORMS)
        self._limit, self._seen = limit, seen

    @property
    def open(self) -> bool:
        """Everything so far is explained: only then are further records judged."""
        return self.judgement.verdict is OracleVerdict.CONFORMS

    def take(self, record: Record) -> Judgement:
        """The verdict on everything up to ``record``; once it is not "conforms", it stays."""
        if not self.open:
            return self.judgement
        if record.broken:
            departure = Departure(record.number, record.line, record.broken)
            self.judgement = Judgement(OracleVerdict.DEPARTS, departure)
            return self.judgement
        try:
            found = self._explained(record)
        except TooManyStates as error:
            where = f"record {record.number} (line {record.line})"
            advice = "observe more of the state, or name more parameters"
            self.judgement = Judgement(OracleVerdict.UNDETERMINED, note=f"{where}: {error}; {advice}")
            return self.judgement
        if not found:
            departure = _departure(self.instance, record, self.candidates)
            self.judgement = Judgement(OracleVerdict.DEPARTS, departure)
            return self.judgement
        if self._seen is not None:
            self._seen(record, self.candidates, found)
        self.candidates = found
        return self.judgement

    def _explained(self, record: Record) -> Sequence[State]:
        """The states after the record that agree with it.

        Raises:
            TooManyStates: they, or the ways to them, are more than the limit.
        """
        found: dict[State, None] = {}
        tried = 0
        for state in self.candidates:
            for path in record.successors(state):
                tried += 1
                if tried > MOST_PATHS:
                    raise TooManyStates(f"more than {MOST_PATHS} ways to explain the record")
                if not record.observed.differing(path.state):
                    found[path.state] = None
                    if len(found) > self._limit:
                        raise TooManyStates(f"more than {self._limit} states explain the trace so far")
        return tuple(found)


def judge(
    instance: Instance,
    records: Iterable[Record],
    limit: int = MOST_STATES,
    start: State | None = None,
    seen: Seen | None = None,
) -> Judgement:
    """Whether some run of the model from ``start`` (None: its initial state) explains all of ``records``."""
    judge = Judge(instance, () if start is None else (start,), limit, seen)
    for record in records:
        judge.take(record)
        if not judge.open:
            break
    return judge.judgement


def closure(
    start: Path,
    moves: Callable[[State], Iterable[tuple[str, State]]],
    limit: int = MOST_STATES,
    longest: int | None = None,
) -> Iterable[Path]:
    """``start`` and every path that at most ``longest`` ``moves`` extend it to, one per state, shortest first.

    Raises:
        TooManyStates: more than ``limit`` states.
    """
    paths, seen, at = [start], {start.state}, 0
    while at < len(paths):
        if longest is not None and len(paths[at].steps) - len(start.steps) >= longest:
            break  # the paths after it are no shorter
        for step, after in moves(paths[at].state):
            if after not in seen:
                if len(seen) >= limit:
                    raise TooManyStates(f"the record leads to more than {limit} states")
                seen.add(after)
                paths.append(Path((*paths[at].steps, step), after))
        at += 1
    return paths


def _departure(instance: Instance, record: Record, before: Sequence[State]) -> Departure:
    """The candidates that came closest: the fewest fields differ, the fewest objections, the most conditions met.

    What makes nothing observed come true, and is allowed, comes after every step that is as close: it explains less.
    """
    ranked: list[tuple[tuple[int, bool, int, int, int], State, Path]] = []
    for state in before[:20]:  # enough to show; the verdict does not depend on it
        at_first = len(record.observed.differing(state))
        try:
            paths = [*record.attempts(state), *record.successors(state)]
        except TooManyStates:
            continue  # the verdict stands; what is shown comes from the other states
        for path in paths:
            differing = len(record.observed.differing(path.state))
            idle = not path.refused and differing >= at_first
            ranked.append(((differing, idle, len(path.refused), -path.met, len(path.steps)), state, path))
    ranked.sort(key=lambda entry: entry[0])
    shown: dict[tuple[str, ...], Candidate] = {}
    for _, state, path in ranked:
        what = path.steps[-1:] if path.refused else path.steps  # a refused step is shown once, after the fewest others
        if len(shown) < MOST_SHOWN and what not in shown:
            shown[what] = _candidate(instance, record, state, path)
    promises = broken_invariants(instance, before[0], record.observed.slots)
    candidates = list(shown.values())
    return Departure(record.number, record.line, _reason(record, candidates), promises, candidates)


def _candidate(instance: Instance, record: Record, before: State, path: Path) -> Candidate:
    differing = record.observed.differing(path.state)
    differences = [difference(instance, slot, path.state[slot], record.observed.slots[slot]) for slot in differing]
    if path.refused:
        promise: Promise | None = path.refused[0]
    else:
        broken = broken_invariants(instance, before, record.observed.slots)
        # After several steps nothing is known of where an object was in between.
        table = broken_table(instance, before, path.state, record.observed.slots) if len(path.steps) < 2 else None
        promise = broken[0] if broken else table
    return Candidate(path.steps, instance.describe(path.state), differences, path.refused, promise)


def _reason(record: Record, candidates: Sequence[Candidate]) -> str:
    if not candidates:
        return f"{record.says}: no state of the model explains it"
    best = candidates[0]
    tried = "; ".join(best.steps) or "no step"
    if best.refused:
        why = " and ".join(f"{r.says} (line {r.line})" if r.line else r.says for r in best.refused)
        return f"{record.says}: no sequence of model steps explains what is observed; closest is {tried}, but {why}"
    shown = ", ".join(d.text() for d in best.differs[:4]) + (", ..." if len(best.differs) > 4 else "")
    return f"{record.says}: no sequence of model steps explains what is observed; closest is {tried}: {shown}"


def difference(instance: Instance, slot: int, model: int, observed: int) -> Difference:
    """Two values of one slot, with names."""
    for machine in instance.model.machines:
        sort = machine.sort.name
        fields = ([""] if machine.states else []) + [a.name for a in instance.attributes(sort)]
        for name in fields:
            number = slot - instance.slot(sort, name)
            if not 0 <= number < instance.sizes[sort]:
                continue
            obj = instance.object_names(sort)[number]
            if not name:
                return Difference(obj, "state", machine.states[model].name, machine.states[observed].name)
            attribute = machine.attribute(name)
            assert attribute is not None
            return Difference(obj, name, instance.show(attribute.type, model), instance.show(attribute.type, observed))
    raise AssertionError(f"no slot {slot}")
