"""A sketch: the states and moves of one machine as a file has them, and what of the file is not in them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from schedproof.model.lang import Durability
from schedproof.model.lang.excerpt import Span


@dataclass(frozen=True)
class Note:
    """Something of a file that is not in the model, and what its author can do about it.

    Attributes:
        span: where it is; lines from 1, columns from 0 in bytes.
        problem: what is not in the model, and why.
        remedy: what to write.
        event: the event that it is about; "" if it is about the whole machine.
    """

    span: Span
    problem: str
    remedy: str
    event: str = ""


@dataclass(frozen=True)
class Move:
    """``event`` takes an object from ``source`` to ``target``; ``span`` is where the file says so."""

    event: str
    source: str
    target: str
    span: Span


@dataclass(frozen=True)
class SketchState:
    """A state; ``about`` is what the file says beside its name."""

    name: str
    about: str = ""
    durability: Durability = Durability.PERSISTENT


@dataclass(frozen=True)
class Sketch:
    """One machine.

    Attributes:
        name: as the file has it; "" if it has none.
        states: the initial one first, the others in the order of the file.
        moves: at most one for an event and a source.
        notes: what of the file is not in the model, in the order of the file.
    """

    name: str
    states: Sequence[SketchState]
    moves: Sequence[Move]
    notes: Sequence[Note]

    @cached_property
    def reachable(self) -> Mapping[str, str]:
        """Of each state that moves lead to from the initial one: the state before it on a shortest way there, or ""."""
        targets: dict[str, list[str]] = {}
        for move in self.moves:
            targets.setdefault(move.source, []).append(move.target)
        before = {self.states[0].name: ""}
        for name in (work := [self.states[0].name]):
            for target in targets.get(name, []):
                if target not in before:
                    before[target] = name
                    work.append(target)
        return before

    def way(self, goal: str) -> Sequence[str]:
        """The states of a shortest way from the initial state to one of ``reachable``."""
        states = [goal]
        while before := self.reachable[states[-1]]:
            states.append(before)
        return states[::-1]

    @cached_property
    def ends(self) -> Sequence[str]:
        """The reachable states that nothing leaves, in their order."""
        leaving = {move.source for move in self.moves if move.source != move.target}
        ways = self.reachable
        return [state.name for state in self.states if state.name in ways and state.name not in leaving]

    @cached_property
    def endless(self) -> Sequence[str]:
        """The reachable states from which no state of ``ends`` can be reached, in their order."""
        sources: dict[str, list[str]] = {}
        for move in self.moves:
            sources.setdefault(move.target, []).append(move.source)
        back = set(self.ends)
        work = list(self.ends)
        for name in work:
            for source in sources.get(name, []):
                if source not in back:
                    back.add(source)
                    work.append(source)
        ways = self.reachable
        return [state.name for state in self.states if state.name in ways and state.name not in back]

    @property
    def events(self) -> Sequence[str]:
        """The events, in the order of the file."""
        return list(dict.fromkeys(move.event for move in self.moves))


@dataclass
class Draft:
    """A sketch while its file is read."""

    name: str = ""
    states: dict[str, SketchState] = field(default_factory=dict)
    initials: dict[str, Span] = field(default_factory=dict)
    moves: list[Move] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)

    def state(self, name: str) -> None:
        """Adds a state, unless it is there."""
        self.states.setdefault(name, SketchState(name))

    def move(self, event: str, source: str, target: str, span: Span) -> None:
        """Adds a move and its states."""
        self.state(source)
        self.state(target)
        self.moves.append(Move(event, source, target, span))

    def sketch(self) -> Sketch:
        """The sketch. Of several initial states the first counts; of several targets of an event, each has its own event."""
        first = next(iter(self.initials), next(iter(self.states)))
        for name, span in self.initials.items():
            if name != first:
                problem = f"{name} is a second initial state"
                remedy = f'objects begin in {first}; write State("{name}", begins=...) if some begin there'
                self.notes.append(Note(span, problem, remedy))
        states = [self.states[first], *(state for name, state in self.states.items() if name != first)]
        moves, notes = _one_target(self.moves, self.notes)
        return Sketch(self.name, states, moves, sorted(dict.fromkeys(notes), key=lambda note: note.span))


def _one_target(moves: Iterable[Move], notes: Iterable[Note]) -> tuple[list[Move], list[Note]]:
    """Moves of which an event has one target from each state; where the file has several, each has an event of its own."""
    ordered = list({(m.event, m.source, m.target): m for m in moves}.values())
    targets: dict[tuple[str, str], list[str]] = {}
    for move in ordered:
        targets.setdefault((move.event, move.source), []).append(move.target)
    names = {move.event for move in ordered}
    events: dict[tuple[str, str], str] = {}
    renamed: dict[tuple[str, int], str] = {}
    result: list[Move] = []
    splits: list[Note] = []
    for move in ordered:
        if len(several := targets[move.event, move.source]) == 1:
            result.append(move)
            continue
        event = events.get((move.event, move.target), f"{move.event}_to_{identifier(move.target).lower()}")
        while (move.event, move.target) not in events and event in names:
            event += "_"
        events[move.event, move.target] = event
        names.add(event)
        result.append(replace(move, event=event))
        renamed[move.event, move.span.line] = event
        if move.target == several[-1]:
            problem = f"{move.event} leads from {move.source} to {' and '.join(several)}"
            splits.append(
                Note(move.span, problem, "each has an event of its own; write what decides between them", event)
            )
    remarks = [replace(note, event=renamed.get((note.event, note.span.line), note.event)) for note in notes]
    return result, [*remarks, *splits]


def identifier(text: str) -> str:
    """``text`` as a part of a Python name: letters, digits and underscores."""
    return re.sub(r"\W+", "_", text, flags=re.ASCII).strip("_") or "x"
