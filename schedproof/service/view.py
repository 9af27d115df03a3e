"""What a viewer sees of a session: the verdict, a run that explains its records, and what may come next.

It is made in the session's own process, which must not be lost by it: the work is bounded, and no error leaves it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from typing import Any

from schedproof.diagrams.player.live import LiveRuns
from schedproof.model.lang.rules import filled, placeholders
from schedproof.proofs.exploration.counterexample_text import shown
from schedproof.proofs.traces.engine.explained import Explanations
from schedproof.proofs.traces.engine.origins import Kept
from schedproof.proofs.traces.engine.watch import Allowed, Watch

from .bounded import bounded

MOST_STEPS_NEXT = 30
"""The limit for the events that a view names."""

MOST_BYTES = 1 << 20
"""The limit for the bytes of a run. Of a longer one a view shows the last records."""

FEW = 10
"""How many records a run explains where it takes too long to explain all that are kept."""

MOST_SECONDS = 0.6
"""The limit for the processor time of a view: the client's own requests wait while it is made."""


class View:
    """Makes the views of one session. It keeps what it has computed for the last records."""

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self._explanations: Explanations | None = None
        self._runs: LiveRuns | None = None

    def content(self) -> Mapping[str, Any]:
        """The view as JSON."""
        watch = self._watch
        report = watch.report().as_json()
        view: dict[str, Any] = {
            name: report[name] for name in ("system", "variant", "verdict", "records", "note") if name in report
        }
        if nonconformance := report.get("first_departure"):
            view["nonconformance"] = {name: nonconformance[name] for name in ("record", "reason")}
        try:
            return {**view, **self._run(), "next": bounded(MOST_SECONDS / 4, self._next, None)}
        except MemoryError:
            self._explanations = self._runs = None
            return {**view, "run": None, "note_on_run": "the run takes too much memory", "next": None}
        except Exception as error:
            self._explanations = self._runs = None
            return {**view, "run": None, "note_on_run": f"an error of the view: {type(error).__name__}", "next": None}

    def _known(self) -> tuple[Explanations, LiveRuns]:
        if self._explanations is None or self._runs is None:
            self._explanations = Explanations.of(self._watch.header)
            self._runs = LiveRuns(self._watch.model, self._explanations)
        return self._explanations, self._runs

    def _run(self) -> dict[str, Any]:
        """The run, and what it leaves out."""
        kept, seconds, before = self._watch.kept, MOST_SECONDS / 4, self._progress()
        start = time.process_time()
        is_learnt = bounded(seconds, lambda: self._learn(kept), False)
        is_expanded = bounded(seconds * 0.6, lambda: self._expand(kept), False)
        left = seconds * 2.4 - (
            time.process_time() - start
        )  # once all is known, a run that is slow to show has the others' time
        shown_run = bounded(max(left, seconds * 0.8), lambda: self._shown(kept, len(kept)), None)
        more = not (is_learnt and is_expanded and shown_run is not None) and self._progress() > before
        shown_run = shown_run or bounded(seconds * 0.6, lambda: self._shown(kept, FEW), None)
        return {**(shown_run or {"run": None, "note_on_run": "it takes too long"}), "more": more}

    def _learn(self, kept: Sequence[Kept]) -> bool:
        self._known()[0].learn(kept)
        return True

    def _expand(self, kept: Sequence[Kept]) -> bool:
        explanations, runs = self._known()
        return runs.expand(explanations.run(kept, len(kept)))

    def _progress(self) -> int:
        """How much is computed; what is left out may be in a later view if it grows."""
        explanations, runs = self._explanations, self._runs
        return -1 if explanations is None or runs is None else explanations.progress + runs.progress

    def _shown(self, kept: Sequence[Kept], most_records: int) -> dict[str, Any]:
        explanations, runs = self._known()
        run = explanations.run(kept, most_records)
        runs.keep(kept[0].number)
        for most in (most_records, 100, 30, 10, 3, 0):
            part = run.last(most)
            played = runs.played(part).as_json()
            if len(json.dumps(played)) <= MOST_BYTES:
                return {
                    "run": played,
                    "records_before": part.records_before,
                    "last_record": kept[-1].number,
                    "is_only_one": part.is_only_one,
                    "states": part.states,
                    "objects": sum(map(len, self._watch.objects.names.values())),
                }
        return {"run": None, "note_on_run": "its objects are too many"}

    def _next(self) -> dict[str, Any]:
        explanations, _ = self._known()
        allowed: Allowed = self._watch.allowed(MOST_STEPS_NEXT, explanations.steps)
        events = [{**event, "says": self._sentence(event)} for event in allowed.events]
        return {"events": events, "complete": allowed.complete}

    def _sentence(self, event: Mapping[str, Any]) -> str:
        """An event in words."""
        action = self._watch.model.action(event["action"])
        values = {name: shown(value) for name, value in event["parameters"].items()}
        named = {each.partition(".")[0] for each in placeholders(action.says)}
        others = [f"{name} = {value}" for name, value in values.items() if name not in named]

        def value_of(placeholder: str) -> str:
            name, dot, fields = placeholder.partition(
                "."
            )  # several states may come before the step: a field has no one value
            return f"{values[name]}{dot}{fields}"

        return filled(action.says, value_of) + (f", with {', '.join(others)}" if others else "")
