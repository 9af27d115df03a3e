"""A part of Jobmon's database, followed from record to record: a task with its instances, or a workflow with its runs.

What the rows show is followed in all states that explain it so far; the processes that write them are guessed (:mod:`.partial_steps`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from schedproof.model.lang import Invariant, Model, StepInvariant
from schedproof.model.lang.types import Ref

from .engine import MOST_SHOWN, Path, TooManyStates, closure
from .jobmon_words import led_from, led_to, letter, promise_of
from .partial import UNKNOWN, Field, Obj, Values, View
from .partial_steps import PartialStep, PartialSteps, Plan
from .report import BrokenPromise, Candidate, Departure, Difference

MOST_VALUES = 4_000
"""States that one part of the database may be in between two records; beyond it the trace is undetermined."""

Allowed = tuple[frozenset[Any] | None, ...]
"""Per field that is followed: the values that it may have on the way; None for any."""

NOT_COUNTED = frozenset({UNKNOWN})
"""Of what may go on without end, and nobody shows, no value is told from another."""


@dataclass
class Memory:
    """Ways that were looked for before: tasks that look alike go alike."""

    plans: dict[Any, Plan] = field(default_factory=dict)
    steps: dict[Any, PartialSteps] = field(default_factory=dict)
    after: dict[Any, list[tuple[str, PartialStep]]] = field(default_factory=dict)
    ways: dict[Any, list[Path]] = field(default_factory=dict)
    broken: dict[Any, Any] = field(default_factory=dict)

    def of(self, view: View) -> PartialSteps:
        """The steps of a view."""
        if view.key not in self.steps:
            plan = Plan.of(view)
            self.steps[view.key] = PartialSteps(view, self.plans.setdefault(plan.fields, plan))
        return self.steps[view.key]

    def steps_from(self, view: View, values: Values) -> list[tuple[str, PartialStep]]:
        """Each step in words, its objects as ``<Sort number>``."""
        key = (view.key, values)
        if key not in self.after:
            self.after[key] = [(_words(step), step) for step in self.of(view).steps(values)]
        return self.after[key]


def _words(step: PartialStep) -> str:
    return f"{step.action}({', '.join(f'<{sort} {number}>' for _, (sort, number) in step.bound)})"


@dataclass(frozen=True)
class Sight:
    """One record as far as a story is concerned.

    Args:
        number, line: for messages; ``says`` is the record in a few words.
        observed: the fields that it shows.
        may_be: of objects that are not followed, the states that they may have had since the record before.
        fixed: fields that do not change on the way.
    """

    number: int
    line: int
    says: str
    observed: Mapping[Field, Any]
    may_be: Mapping[Obj, frozenset[str]] = field(default_factory=dict)
    fixed: Mapping[Field, Any] = field(default_factory=dict)


@dataclass
class Story:
    """A part of the database, and the states that explain what was seen of it.

    Args:
        names: what its objects are called.
        now: the states that explain all records so far.
        in_order: the sort whose objects are made in the order of their numbers.
        started: a record has been seen.
    """

    model: Model
    memory: Memory
    view: View
    names: Mapping[Obj, str]
    now: list[Values]
    in_order: str
    started: bool = False
    breaks: list[BrokenPromise] = field(default_factory=list)

    # --- What is kept, and what is not

    @property
    def _followed(self) -> frozenset[str]:
        return frozenset(sort for sort, _, _ in self.view.follows)

    @property
    def _states_followed(self) -> frozenset[Obj]:
        return frozenset((sort, number) for sort, attribute, number in self.view.follows if not attribute)

    def _sorted_over(self, prop: Invariant | StepInvariant) -> bool:
        return all(isinstance(v.type, Ref) for v in prop.over)

    def invariants(self, kept: bool) -> list[Invariant]:
        """The promises about states that speak of what is followed: those that the machine keeps, or the others."""
        return [
            p
            for p in self.model.properties
            if isinstance(p, Invariant)
            and (p.name not in self.model.refuted) is kept
            and self._sorted_over(p)
            and {v.type.sort.name for v in p.over if isinstance(v.type, Ref)} <= self._followed
        ]

    def promised(self) -> list[StepInvariant]:
        """The promises about steps that the machine does not keep."""
        return [
            p
            for p in self.model.properties
            if isinstance(p, StepInvariant) and p.name in self.model.refuted and self._sorted_over(p)
        ]

    def _violated(self, prop: Invariant, values: Values, view: View) -> tuple[tuple[str, Obj], ...] | None:
        key = (prop.name, view.key, values)
        if key not in self.memory.broken:
            self.memory.broken[key] = self.memory.of(view).violates(prop, values)
        found: tuple[tuple[str, Obj], ...] | None = self.memory.broken[key]
        return found

    # --- The way from one record to the next

    def goes_on(self, sight: Sight) -> Departure | None:
        """Takes the record, unless nothing explains it.

        Raises:
            TooManyStates: there are too many states that may explain it.
        """
        view = replace(self.view, may_be=sight.may_be, fixed={**self.view.fixed, **sight.fixed})
        before = self.now = self._forgotten(sight)
        ends = self._ends(view, sight, before)
        found = [v for v in ends if all(self._violated(p, v, view) is None for p in self.invariants(True))]
        if not found:
            return self._departure(view, sight, before, ends)
        if self.started:
            self._find_broken_steps(view, sight, before, found)
        self._find_broken_states(view, sight, before, found)
        self.now, self.started = found, True
        return None

    def _ends(self, view: View, sight: Sight, before: Sequence[Values]) -> list[Values]:
        """What is as observed, and can be reached from one of ``before``."""
        if not self.started:
            return list(dict.fromkeys(self._settled(v, sight) for v in before if self._agrees(v, sight)))
        if len(before) == 1 and self._shows_all(sight) and self._agrees(before[0], sight):
            return list(before)
        found: dict[Values, None] = {}
        for start in before:
            for path in self._ways(view, start, self._allowed(sight)):
                if self._agrees(path.state, sight):
                    found[self._settled(path.state, sight)] = None
        if len(found) > MOST_VALUES:
            raise TooManyStates(f"more than {MOST_VALUES} states explain the trace so far")
        return list(found)

    def _shows_all(self, sight: Sight) -> bool:
        return all(name in sight.observed for name in self.view.follows if not name[1])

    def _agrees(self, values: Values, sight: Sight) -> bool:
        places = self.view.places
        return all(values[places[name]] in (value, UNKNOWN) for name, value in sight.observed.items())

    def _settled(self, values: Values, sight: Sight) -> Values:
        """With what the record shows in place of what was not known."""
        shown = zip(self.view.follows, values, strict=True)
        return tuple(sight.observed.get(name, UNKNOWN) if value is UNKNOWN else value for name, value in shown)

    def _allowed(self, sight: Sight) -> Allowed:
        """Only the states from which the observed ones can be reached.

        Where not all instances are followed, attempts may be made without end: those that come to nothing are left out.
        """
        endless = self._may_have_more(sight)
        found: list[frozenset[Any] | None] = []
        for at, name in enumerate(self.view.follows):
            sort, attribute, _ = name
            if not attribute:
                found.append(led_to(self.model, sort, sight.observed[name]) if name in sight.observed else None)
            elif attribute == "attempts" and endless and name not in sight.observed:
                found.append(NOT_COUNTED)
            elif attribute == "attempts" and endless:
                counts = [v[at] for v in self.now if v[at] is not UNKNOWN]
                most = max([sight.observed[name], *counts]) + 1
                found.append(frozenset({UNKNOWN, *range(most + 1)}))
            else:
                found.append(None)
        return tuple(found)

    def _may_have_more(self, sight: Sight) -> bool:
        """There may be instances that are not followed, and so any number of them."""
        return any(
            obj not in self._states_followed and sight.may_be.get(obj) != frozenset({"Absent"})
            for obj in (("TaskInstance", number) for number in range(self.view.sizes["TaskInstance"]))
        )

    def _forgotten(self, sight: Sight) -> list[Values]:
        """The states so far; attempts that nobody shows and nobody can count are not known any more."""
        if not self._may_have_more(sight):
            return self.now
        lost = {("Task", "attempts", 0)} - sight.observed.keys()
        return list(
            dict.fromkeys(
                tuple(UNKNOWN if name in lost else value for name, value in zip(self.view.follows, values, strict=True))
                for values in self.now
            )
        )

    def _ways(self, view: View, start: Values, allowed: Allowed, without: Sequence[StepInvariant] = ()) -> list[Path]:
        """The ways from ``start``, one to each state; ``without`` steps that break these promises."""
        key = (view.key, start, allowed, tuple(p.name for p in without))
        if key in self.memory.ways:
            return self.memory.ways[key]
        steps = self.memory.of(view)
        if not self._may_be(start, allowed):
            found: list[Path] = []
        else:

            def moves(values: Values) -> Iterator[tuple[str, Values]]:
                for words, step in self.memory.steps_from(view, values):
                    after = tuple(
                        UNKNOWN if among == NOT_COUNTED else value
                        for value, among in zip(step.after, allowed, strict=True)
                    )
                    if self._may_be(after, allowed) and not any(steps.breaks(p, values, step) for p in without):
                        yield words, after

            found = list(closure(Path((), start), moves, MOST_VALUES))
        self.memory.ways[key] = found
        return found

    def _may_be(self, values: Values, allowed: Allowed) -> bool:
        if any(among is not None and value not in among for value, among in zip(values, allowed, strict=True)):
            return False
        made = [
            v != "Absent"
            for v, (s, a, _) in zip(values, self.view.follows, strict=True)
            if (s, a) == (self.in_order, "")
        ]
        return made == sorted(made, reverse=True)

    # --- Promises that are broken

    def _find_broken_steps(self, view: View, sight: Sight, before: Sequence[Values], after: Sequence[Values]) -> None:
        """Promises that every way from before to after breaks."""
        if set(after) & set(before):
            return
        goals, allowed = set(after), self._allowed(sight)

        def avoided(props: Sequence[StepInvariant]) -> bool:
            return any(
                self._settled(p.state, sight) in goals
                for start in before
                for p in self._ways(view, start, allowed, props)
            )

        every = self.promised()
        if not avoided(every):
            for prop in every:
                if not avoided([prop]):
                    self._name(sight, prop)

    def _find_broken_states(self, view: View, sight: Sight, before: Sequence[Values], after: Sequence[Values]) -> None:
        """Promises that every state after breaks, and not every one before."""
        for prop in self.invariants(False):
            broken = [self._violated(prop, values, view) for values in after]
            known = self.started and all(self._violated(prop, values, view) is not None for values in before)
            if all(broken) and not known:
                who = ", ".join(self.names.get(obj, obj[0]) for _, obj in broken[0] or ())
                self._name(sight, prop, f" ({who})" if who else "")

    def _name(self, sight: Sight, prop: Invariant | StepInvariant, who: str = "") -> None:
        promise = promise_of(prop)
        self.breaks.append(BrokenPromise(sight.number, sight.line, f"{sight.says}{who}", promise))

    # --- Departures

    def _departure(self, view: View, sight: Sight, before: Sequence[Values], ends: Sequence[Values]) -> Departure:
        if ends:
            kept = [(p, v) for p in self.invariants(True) for v in ends if self._violated(p, v, view) is not None]
            promises = list({p.name: promise_of(p) for p, _ in kept}.values())
            reason = f"{sight.says}: the machine never is in such a state: {promises[0].says}"
            shown = [Candidate((), self._shown(v), [], [], promises[0]) for v in ends[:MOST_SHOWN]]
            return Departure(sight.number, sight.line, reason, promises, shown)
        for name in self.view.follows:
            if name[1] or name not in sight.observed:
                continue
            were = {v[self.view.places[name]] for v in before}
            to = sight.observed[name]
            if not any(to in led_from(self.model, name[0], now) for now in were):
                return Departure(
                    sight.number, sight.line, self._no_row(sight, name, were, to), (), self._could(name, were, to)
                )
        paths = self._nearest(view, sight, before)
        candidates = [
            Candidate(
                [self._named(s) for s in p.steps], self._shown(p.state), self._differing(p.state, sight), (), None
            )
            for p in paths
        ]
        reason = f"{sight.says}: no steps of the machine lead here"
        if candidates:
            best = candidates[0]
            differs = ", ".join(d.text() for d in best.differs)
            reason += f"; closest is {'; '.join(best.steps) or 'no step'}: {differs}"
        return Departure(sight.number, sight.line, reason, (), candidates)

    def _no_row(self, sight: Sight, name: Field, were: Iterable[str], to: str) -> str:
        sort, _, number = name
        now = " or ".join(letter(sort, state) for state in sorted(were))
        section = {"TaskInstance": "2.1", "Task": "2.2", "WorkflowRun": "2.3", "Workflow": "2.4"}[sort]
        table = f"no rows of the machine {sort} lead there (facts {section})"
        if to == "Absent":
            return f"{sight.says}: {self.names[sort, number]} was {now} and is gone; no row is ever taken away"
        return f"{sight.says}: {self.names[sort, number]} was {now} and is {letter(sort, to)}; {table}"

    def _could(self, name: Field, were: Iterable[str], to: str) -> list[Candidate]:
        sort, _, number = name
        who = self.names[sort, number]
        found = []
        for now in sorted(were):
            could = sorted(led_from(self.model, sort, now))
            differs = [Difference(who, "state", " or ".join(could), to)]
            found.append(Candidate((), {sort: {who: {"state": now}}}, differs, (), None))
        return found[:MOST_SHOWN]

    def _nearest(self, view: View, sight: Sight, before: Sequence[Values]) -> list[Path]:
        anything: Allowed = (None,) * len(self.view.follows)
        found: list[Path] = []
        for start in before[:5]:
            for allowed in (anything, self._allowed(sight)):
                try:
                    found += self._ways(view, start, allowed)
                    break
                except TooManyStates:
                    continue  # the verdict stands; what is shown is looked for less far
        found.sort(key=lambda p: (len(self._differing(p.state, sight)), len(p.steps)))
        return found[:MOST_SHOWN]

    def _differing(self, values: Values, sight: Sight) -> list[Difference]:
        return [
            Difference(
                self.names[name[0], name[2]],
                name[1] or "state",
                _plain(values[at], self.names),
                _plain(seen, self.names),
            )
            for name, at in self.view.places.items()
            if (seen := sight.observed.get(name)) is not None and values[at] not in (seen, UNKNOWN)
        ]

    def _shown(self, values: Values) -> dict[str, Any]:
        shown: dict[str, Any] = {}
        for (sort, attribute, number), value in zip(self.view.follows, values, strict=True):
            of = shown.setdefault(sort, {}).setdefault(self.names[sort, number], {})
            of[attribute or "state"] = _plain(value, self.names)
        return shown

    def _named(self, words: str) -> str:
        def name(found: re.Match[str]) -> str:
            obj = (found[1], int(found[2]))
            run = self.names.get(("WorkflowRun", obj[1]))
            role = {"Client": "the client of ", "Distributor": "the distributor of "}.get(obj[0])
            return self.names.get(obj) or (f"{role}{run}" if role and run else f"some {obj[0]}")

        return re.sub(r"<(\w+) (\d+)>", name, words)


def _plain(value: Any, names: Mapping[Obj, str]) -> Any:
    if isinstance(value, tuple):
        return names.get(value)
    return str(value) if value is UNKNOWN else value
