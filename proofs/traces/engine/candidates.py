"""The step of trace validation: what explains a log so far, and one more record, to what explains both.

Candidates are all model states that agree with everything observed. A record says which states its steps can lead to
from each of them; those that differ from the observation are dropped. Where none is left, the log does not conform.
Nothing here knows a format, a system, or how a nonconformance is reported.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

from schedproof.model.semantics import State
from schedproof.proofs.traces.reports.report import Requirement, Violation

MOST_STATES = 10_000
"""More candidate states than this after one record: undetermined."""

MOST_PATHS = 100_000
"""More paths than this for one record: undetermined."""

S = TypeVar("S", bound=Hashable)
"""A candidate: a model state, the values of what is followed of one, or the name of a release."""

C = TypeVar("C", bound="Candidates[Any]")


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
    state: Any
    refused: tuple[Requirement, ...] = ()
    met: int = 0


@dataclass(frozen=True)
class Record(Generic[S]):
    """One record of a trace, as a format reads it.

    Args:
        number, line: for messages; ``says`` is the record in a few words.
        successors: the paths that the record allows from a candidate (all of them that can agree
            with ``observed``; others may be left out).
        attempts: more paths, with what forbids them: only to explain a nonconformance.
        broken: no candidate explains the record, for this reason.
        breaks: of a record that is explained, the properties of the document that it breaks, given the candidates
            before and after it.
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
        """Why nothing is known after the record, which leads to too many states."""
        advice = "observe more of the state, or name more parameters"
        return f"record {self.number} (line {self.line}): {why}; {advice}"


@dataclass(frozen=True)
class Candidates(Generic[S]):
    """What explains the log so far.

    Args:
        states: at least one.
        records: how many records they explain.
        exceeded: why nothing is known any more, such as a limit that was exceeded; "" while something is.
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
    """The candidates that explain the record as well; or that there are none.

    Args:
        limit, paths: more states than this, or ways to them: what explains the log is not known any more.
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
        TooManyStates: they, or the ways to them, are more than the limit.
    """
    found: dict[S, None] = {}
    tried = 0
    for state in states:
        for path in record.successors(state):
            tried += 1
            if tried > paths:
                raise TooManyStates(f"more than {paths} ways to explain the record")
            if not record.observed.differing(path.state):
                found[path.state] = None
                if len(found) > limit:
                    raise TooManyStates(f"more than {limit} states explain the trace so far")
    return tuple(found)


def check_run(
    candidates: C, records: Iterable[Record[Any]], limit: int = MOST_STATES
) -> tuple[C | Nonconformance[C], list[Violation]]:
    """What the steps of all ``records`` lead to, one after the other, and the properties that they break on the way."""
    now, breaks = candidates, list[Violation]()
    for record in records:
        after = step(now, record, limit)
        if isinstance(after, Nonconformance) or after.exceeded:
            return after, breaks
        breaks += record.breaks(now.states, after.states)
        now = after
    return now, breaks


def closure(
    start: Path,
    moves: Callable[[Any], Iterable[tuple[str, Any]]],
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
        for words, after in moves(paths[at].state):
            if after not in seen:
                if len(seen) >= limit:
                    raise TooManyStates(f"the record leads to more than {limit} states")
                seen.add(after)
                paths.append(Path((*paths[at].steps, words), after))
        at += 1
    return paths
