"""The step of trace validation: from the candidates of a log so far to those after one more record.

Candidates are all model states that agree with everything observed. A record says which states its steps can lead to
from each candidate; those that differ from the observation are dropped. If none is left, the log does not conform. This
module knows no format and no system, and does not report nonconformances.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

from schedproof.model.semantics import State
from schedproof.proofs.traces.reports.report import Requirement, Violation

MOST_STATES = 10_000
"""The limit for candidate states after one record. Beyond it the trace is undetermined."""

MOST_PATHS = 100_000
"""The limit for paths of one record. Beyond it the trace is undetermined."""

S = TypeVar("S", bound=Hashable)
"""A candidate: a model state, the values of the observed part of one, or the name of a release."""

C = TypeVar("C", bound="Candidates[Any]")


class TooManyStates(Exception):
    """Raised if the candidate states, or the choices that lead to them, exceed a limit."""


@dataclass(frozen=True)
class Observation:
    """What a record shows of the state: slot -> value, for some or all slots."""

    slots: Mapping[int, int] = field(default_factory=dict)

    def differing(self, state: State) -> list[int]:
        """The slots in which ``state`` differs from the observation."""
        return [slot for slot, value in self.slots.items() if state[slot] != value]


@dataclass(frozen=True)
class Path:
    """Steps in words, the state that they lead to and, if they are not allowed, what forbids them.

    Attributes:
        steps: the steps, in words.
        state: the state after them.
        refused: what forbids them; empty if they are allowed.
        met: how many conditions held before the one that forbids them. A larger number is closer.
        if_taken: the state after a forbidden step, had it been taken all the same; None if it is unknown.
    """

    steps: tuple[str, ...]
    state: Any
    refused: tuple[Requirement, ...] = ()
    met: int = 0
    if_taken: Any = None


@dataclass(frozen=True)
class Record(Generic[S]):
    """One record of a trace, as a format reads it.

    Args:
        number: the number of the record, for messages.
        line: the number of its line, for messages.
        says: the record in a few words, for messages.
        successors: the paths that the record allows from a candidate. It must yield all that can agree with
            ``observed``; it may omit others.
        observed: what the record shows of the state after.
        attempts: paths with what forbids them. They only explain a nonconformance.
        broken: the reason why no candidate explains the record; "" if there is none.
        breaks: for an explained record, the properties of the document that it violates, given the candidates before
            and after it.
    """

    number: int
    line: int
    says: str
    successors: Callable[[S], Iterable[Path]]
    observed: Observation = field(default_factory=Observation)
    attempts: Callable[[S], Iterable[Path]] = lambda state: ()
    broken: str = ""
    breaks: Callable[[Sequence[S], Sequence[S]], Sequence[Violation]] = lambda before, after: ()

    def exceeded(self, why: TooManyStates) -> str:
        """Why the candidates are unknown after the record, which leads to too many states."""
        advice = "observe more of the state, or name more parameters"
        return f"record {self.number} (line {self.line}): {why}; {advice}"


@dataclass(frozen=True)
class Candidates(Generic[S]):
    """The candidates: what explains the log so far.

    Args:
        states: the candidates; at least one.
        records: how many records they explain.
        exceeded: why the candidates are unknown from here on, such as an exceeded limit; "" while they are known.
    """

    states: tuple[S, ...]
    records: int = 0
    exceeded: str = ""


@dataclass(frozen=True)
class Nonconformance(Generic[C]):
    """The first record that no candidate explains, and the candidates before it."""

    record: Record[Any]
    before: C


def step(
    candidates: C, record: Record[Any], limit: int = MOST_STATES, paths: int = MOST_PATHS
) -> C | Nonconformance[C]:
    """The candidates that also explain ``record``, or a nonconformance if there are none.

    Args:
        candidates: those before the record.
        record: the next record.
        limit: the limit for states. Beyond it the candidates become unknown (``exceeded``).
        paths: the limit for paths to states, with the same effect.
    """
    if candidates.exceeded:
        return candidates
    if record.broken:
        return Nonconformance(record, candidates)
    try:
        states = _explained(candidates.states, record, limit, paths)
    except TooManyStates as error:
        return replace(candidates, exceeded=record.exceeded(error))
    if not states:
        return Nonconformance(record, candidates)
    return replace(candidates, states=states, records=candidates.records + 1)


def _explained(states: Sequence[S], record: Record[S], limit: int, paths: int) -> tuple[S, ...]:
    """The states after the record that agree with it.

    Raises:
        TooManyStates: they, or the paths to them, exceed the limit.
    """
    distinct: dict[S, None] = {}
    tried = 0
    for state in states:
        for path in record.successors(state):
            tried += 1
            if tried > paths:
                raise TooManyStates(f"more than {paths} ways to explain the record")
            if not record.observed.differing(path.state):
                distinct[path.state] = None
                if len(distinct) > limit:
                    raise TooManyStates(f"more than {limit} states explain the trace so far")
    return tuple(distinct)


def check_run(
    candidates: C,
    records: Iterable[Record[Any]],
    limit: int = MOST_STATES,
    explained: Callable[[Record[Any], C], None] = lambda record, after: None,
) -> tuple[C | Nonconformance[C], list[Violation]]:
    """The result of a :func:`step` for each of ``records``, and the properties violated on the way.

    Args:
        candidates: those before the first record.
        records: the records.
        limit: as in :func:`step`.
        explained: is called for each record that some candidate explains, with the candidates after it.
    """
    now, breaks = candidates, list[Violation]()
    for record in records:
        after = step(now, record, limit)
        if isinstance(after, Nonconformance) or after.exceeded:
            return after, breaks
        breaks += record.breaks(now.states, after.states)
        now = after
        explained(record, now)
    return now, breaks


def closure(
    start: Path,
    moves: Callable[[Any], Iterable[tuple[str, Any]]],
    limit: int = MOST_STATES,
    longest: int | None = None,
) -> Iterable[Path]:
    """``start`` and its extensions by at most ``longest`` ``moves``: one path per state, shortest first.

    Raises:
        TooManyStates: more than ``limit`` states.
    """
    paths, seen, at = [start], {start.state}, 0
    while at < len(paths):
        if longest is not None and len(paths[at].steps) - len(start.steps) >= longest:
            break  # later paths are at least as long
        for words, after in moves(paths[at].state):
            if after not in seen:
                if len(seen) >= limit:
                    raise TooManyStates(f"the record leads to more than {limit} states")
                seen.add(after)
                paths.append(Path((*paths[at].steps, words), after))
        at += 1
    return paths
