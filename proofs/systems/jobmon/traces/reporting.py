"""What a dump shows of a part of Jobmon's database, and the report on a dump that no state explains."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from schedproof.model.lang import Invariant, Model
from schedproof.proofs.traces.engine.candidates import Path
from schedproof.proofs.traces.engine.partial import UNKNOWN, Field, Obj, Values, View
from schedproof.proofs.traces.reports.nonconformance import MOST_SHOWN, but_differs
from schedproof.proofs.traces.reports.report import Candidate, Difference, NonconformanceReport

from .words import led_from, letter, property_of

SECTIONS = {"TaskInstance": "2.1", "Task": "2.2", "WorkflowRun": "2.3", "Workflow": "2.4"}
"""The section of the facts with each machine's table."""


@dataclass(frozen=True)
class PartObservation:
    """What one dump shows of a part of the database.

    Args:
        number, line: for messages.
        says: the record in a few words.
        observed: the fields that the dump shows.
        may_be: for objects that are not followed, the states that they may have had since the record before.
        fixed: fields that do not change between the records.
    """

    number: int
    line: int
    says: str
    observed: Mapping[Field, Any]
    may_be: Mapping[Obj, frozenset[str]] = field(default_factory=dict)
    fixed: Mapping[Field, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class PartReporter:
    """Reports nonconformances of one part of the database; ``names`` are the names of its objects."""

    model: Model
    view: View
    names: Mapping[Obj, str]

    def never(
        self, sight: PartObservation, broken: Sequence[Invariant], ends: Sequence[Values]
    ) -> NonconformanceReport:
        """Reports that steps lead to the observed values, but only in states that the machine is never in.

        Args:
            broken: properties that the machine satisfies; each of these states breaks one.
        """
        requirements = list({p.name: property_of(p) for p in broken}.values())
        reason = f"{sight.says}: the machine never is in such a state: {requirements[0].says}"
        shown = [Candidate((), self._shown(v), [], [], requirements[0]) for v in ends[:MOST_SHOWN]]
        return NonconformanceReport(sight.number, sight.line, reason, requirements, shown)

    def no_row(self, sight: PartObservation, before: Sequence[Values]) -> NonconformanceReport | None:
        """Reports an object in a state to which no rows lead; returns None if there is none."""
        for name in self.view.follows:
            if name[1] or name not in sight.observed:
                continue
            were = {v[self.view.places[name]] for v in before}
            to = sight.observed[name]
            if not any(to in led_from(self.model, name[0], now) for now in were):
                reason = f"{sight.says}: {self._without_row(name, were, to)}"
                return NonconformanceReport(sight.number, sight.line, reason, (), self._could(name, were, to))
        return None

    def no_way(self, sight: PartObservation, paths: Sequence[Path]) -> NonconformanceReport:
        """Reports that no steps lead to the observed values; ``paths`` are the paths that were tried."""
        nearest = sorted(paths, key=lambda p: (len(self._differing(p.state, sight)), len(p.steps)))[:MOST_SHOWN]
        candidates = [
            Candidate(
                [self._named(s) for s in p.steps], self._shown(p.state), self._differing(p.state, sight), (), None
            )
            for p in nearest
        ]
        reason = f"{sight.says}: no steps of the machine lead here"
        if candidates:
            best = candidates[0]
            reason += f"; closest is {'; '.join(best.steps) or 'no step'}{but_differs(best.differs)}"
        return NonconformanceReport(sight.number, sight.line, reason, (), candidates)

    def _without_row(self, name: Field, were: Iterable[str], to: str) -> str:
        sort, _, number = name
        who = self.names[sort, number]
        now = " or ".join(letter(sort, state) for state in sorted(were))
        if to == "Absent":
            return f"{who} was {now} and is gone; no row is ever taken away"
        table = f"no rows of the machine {sort} lead there (fact {SECTIONS[sort]})"
        return f"{who} was {now} and is {letter(sort, to)}; {table}"

    def _could(self, name: Field, were: Iterable[str], to: str) -> list[Candidate]:
        sort, _, number = name
        who = self.names[sort, number]
        candidates = []
        for now in sorted(were):
            could = sorted(led_from(self.model, sort, now))
            differs = [Difference(who, "state", " or ".join(could), to)]
            candidates.append(Candidate((), {sort: {who: {"state": now}}}, differs, (), None))
        return candidates[:MOST_SHOWN]

    def _differing(self, values: Values, sight: PartObservation) -> list[Difference]:
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
        def name(match: re.Match[str]) -> str:
            obj = (match[1], int(match[2]))
            run = self.names.get(("WorkflowRun", obj[1]))
            role = {"Client": "the client of ", "Distributor": "the distributor of "}.get(obj[0])
            return self.names.get(obj) or (f"{role}{run}" if role and run else f"some {obj[0]}")

        return re.sub(r"<(\w+) (\d+)>", name, words)


def _plain(value: Any, names: Mapping[Obj, str]) -> Any:
    if isinstance(value, tuple):
        return names.get(value)
    return str(value) if value is UNKNOWN else value
