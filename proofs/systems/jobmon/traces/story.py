"""A part of Jobmon's database, followed from record to record: a task with its instances, or a workflow with its runs.

What the rows show is followed in all states that explain it so far; the processes that write them are guessed (:mod:`.partial_steps`).
Which ways there are is found in :mod:`.jobmon_ways`; what departs is told by :mod:`.jobmon_telling`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from schedproof.model.lang import Invariant, Model, StepInvariant
from schedproof.model.lang.types import Ref
from schedproof.proofs.traces.engine.candidates import Path, TooManyStates
from schedproof.proofs.traces.engine.partial import UNKNOWN, Obj, Values, View
from schedproof.proofs.traces.reports.report import BrokenPromise, Departure

from .telling import Sight, Teller
from .ways import MOST_VALUES, NOT_COUNTED, Allowed, Memory
from .words import led_to, not_kept, over_objects, promise_of


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

    def invariants(self, kept: bool) -> list[Invariant]:
        """The promises about states that speak of what is followed: those that the machine keeps, or the others."""
        return [
            p
            for p in self.model.properties
            if isinstance(p, Invariant)
            and (p.name not in self.model.refuted) is kept
            and over_objects(p)
            and {v.type.sort.name for v in p.over if isinstance(v.type, Ref)} <= self._followed
        ]

    # --- The way from one record to the next

    def goes_on(self, sight: Sight) -> Departure | None:
        """Takes the record, unless nothing explains it.

        Raises:
            TooManyStates: there are too many states that may explain it.
        """
        view = replace(self.view, may_be=sight.may_be, fixed={**self.view.fixed, **sight.fixed})
        before = self.now = self._forgotten(sight)
        ends = self._ends(view, sight, before)
        found = [v for v in ends if all(self.memory.violated(p, v, view) is None for p in self.invariants(True))]
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
            for path in self.memory.ways_from(view, self.in_order, start, self._allowed(sight)):
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
                for p in self.memory.ways_from(view, self.in_order, start, allowed, props)
            )

        every = not_kept(self.model)
        if not avoided(every):
            for prop in every:
                if not avoided([prop]):
                    self._name(sight, prop)

    def _find_broken_states(self, view: View, sight: Sight, before: Sequence[Values], after: Sequence[Values]) -> None:
        """Promises that every state after breaks, and not every one before."""
        for prop in self.invariants(False):
            broken = [self.memory.violated(prop, values, view) for values in after]
            known = self.started and all(self.memory.violated(prop, values, view) is not None for values in before)
            if all(broken) and not known:
                who = ", ".join(self.names.get(obj, obj[0]) for _, obj in broken[0] or ())
                self._name(sight, prop, f" ({who})" if who else "")

    def _name(self, sight: Sight, prop: Invariant | StepInvariant, who: str = "") -> None:
        promise = promise_of(prop)
        self.breaks.append(BrokenPromise(sight.number, sight.line, f"{sight.says}{who}", promise))

    # --- Departures

    def _departure(self, view: View, sight: Sight, before: Sequence[Values], ends: Sequence[Values]) -> Departure:
        teller = Teller(self.model, self.view, self.names)
        if ends:
            broken = [p for p in self.invariants(True) for v in ends if self.memory.violated(p, v, view) is not None]
            return teller.never(sight, broken, ends)
        return teller.no_row(sight, before) or teller.no_way(sight, self._nearest(view, sight, before))

    def _nearest(self, view: View, sight: Sight, before: Sequence[Values]) -> list[Path]:
        """Ways from some of ``before``, as far as can be looked."""
        anything: Allowed = (None,) * len(self.view.follows)
        found: list[Path] = []
        for start in before[:5]:
            for allowed in (anything, self._allowed(sight)):
                try:
                    found += self.memory.ways_from(view, self.in_order, start, allowed)
                    break
                except TooManyStates:
                    continue  # the verdict stands; what is shown is looked for less far
        return found
