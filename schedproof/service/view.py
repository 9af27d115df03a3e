"""What a viewer sees of a session: the verdict, a run that explains its records, and what may come next.

It is made in the session's own process, which must not be lost by it: the work is bounded, and no error leaves it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from string import Formatter
from typing import Any

from schedproof.diagrams.player.live import LiveRuns
from schedproof.proofs.exploration.counterexample_text import shown
from schedproof.proofs.traces.engine.explained import ExplainedRun, Explanations
from schedproof.proofs.traces.engine.watch import Allowed, Watch

from .bounded import bounded

MOST_STEPS_NEXT = 30
"""The limit for the events that a view names."""

MOST_BYTES = 1 << 20
"""The limit for the bytes of a run. Of a longer one a view shows the last records."""

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
            return {**view, **self._run(), "next": bounded(MOST_SECONDS / 3, self._next, None)}
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
        kept, seconds = self._watch.kept, MOST_SECONDS / 3
        bounded(seconds, lambda: self._known()[0].learn(kept), None)
        return bounded(
            seconds, lambda: self._shown(self._known()[0].run(kept)), {"run": None, "note_on_run": "it takes too long"}
        )

    def _shown(self, run: ExplainedRun) -> dict[str, Any]:
        _, runs = self._known()
        for most in (len(run.records), 100, 30, 10, 3, 0):
            part = run.last(most)
            played = runs.played(part).as_json()
            if len(json.dumps(played)) <= MOST_BYTES:
                return {
                    "run": played,
                    "records_before": part.records_before,
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
        named = {field for _, field, _, _ in Formatter().parse(action.says)}
        others = [f"{name} = {value}" for name, value in values.items() if name not in named]
        return action.says.format(**values) + (f", with {', '.join(others)}" if others else "")
