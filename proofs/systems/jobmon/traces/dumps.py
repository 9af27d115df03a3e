"""Validates successive dumps of Jobmon's tables ``task``, ``task_instance``, ``workflow_run`` and ``workflow``.

How the dumps are interpreted:

* **A dump is a sample**: any number of steps may lie between two dumps, and no dump need show an intermediate state.
* **A table in a dump is complete**: a row that is not in it does not exist (yet). Rows are never removed. A table or a
  column that is left out gives no information, unless a later dump has it. A task is queued with its instance in one
  transaction (facts 3.1). The coming release writes the instance later; a dump taken in between does not conform.
* **Parts**: a workflow with its runs is checked alone, then each task with its instances. The steps of a task may ask
  which states a run may have had since the dump before, but not in which order. Whatever else they ask (processes,
  jobs, heartbeats) is unobserved: it may hold or not.
* **The first dump is accepted as it is**, except for states that the machine never shows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from schedproof.model.lang import Invariant, Model
from schedproof.proofs.traces.engine.candidates import Nonconformance, TooManyStates, step
from schedproof.proofs.traces.engine.partial import Field, Obj
from schedproof.proofs.traces.files.lines import Line, TextLine, as_objects
from schedproof.proofs.traces.files.schema import Shape
from schedproof.proofs.traces.formats.format import Format, Requested, first_object
from schedproof.proofs.traces.reports.report import LogVerdict, NonconformanceReport, Validation, Violation

from .dump_index import TABLES, Dump, DumpIndex, Row
from .life import with_all_rows
from .part import Part, PartCandidates
from .parts import beginnings, observed, task_part, workflow_part
from .reporting import PartObservation
from .ways import MOST_VALUES, Memory
from .words import SCHEMA, Clock, fits, led_from, led_to, property_of, refuse_release, state_of

NONE_YET = frozenset({"Absent"})
"""The state of a row that does not exist yet."""

ENDED = "Aborted"
"""The state that stands for a run that does nothing: no step of the machine needs a run in this state."""


def _dump(number: int, line: Line, shape: Shape, clock: Clock) -> Dump:
    shape.check(line)
    clock.goes_on(line.value["time"], line, '"time"')
    tables: dict[str, dict[int, Row]] = {}
    for name, sort in TABLES.items():
        if name not in line.value:
            continue
        rows = tables[sort] = {}
        for at, row in enumerate(line.value[name]):
            if row["id"] in rows:
                raise line.error(f'"{name}.{at}": id {row["id"]} is in two rows of one dump; write each row once')
            status = row.get("status")
            state = state_of(sort, status, line, f'"{name}.{at}.status"') if status is not None else ""
            rows[row["id"]] = Row(state, row)
    return Dump(number, line.number, line.value["time"], tables)


@dataclass(frozen=True)
class _Dumps:
    """The parts of the database, checked dump by dump."""

    model: Model
    index: DumpIndex
    memory: Memory = field(default_factory=Memory)

    def check(self) -> Validation:
        """Returns the verdict on all dumps."""
        now = {part: PartCandidates(()) for part in (*self._workflows(), *self._tasks())}
        size, contradiction, breaks = len(self.index.dumps), self.index.contradiction, list[Violation]()
        runs_may_be: Mapping[int, frozenset[str]] = {}
        for dump in self.index.dumps:
            nonconformance = (
                contradiction if contradiction is not None and contradiction.record == dump.number else None
            )
            for part in now if nonconformance is None else ():
                seen = _PartSeen(self.index, part, now[part], dump, runs_may_be)
                after = seen.after()
                if isinstance(after, NonconformanceReport):
                    nonconformance = after
                    break
                now[part], broken = after
                breaks += broken
                runs_may_be = seen.runs_after(now[part])
            if nonconformance is not None:
                return Validation(LogVerdict.VIOLATES, nonconformance, size=size, breaks=tuple(breaks))
        exceeded = next((candidates.exceeded for candidates in now.values() if candidates.exceeded), "")
        verdict = LogVerdict.UNDETERMINED if exceeded else LogVerdict.CONFORMS
        return Validation(verdict, note=exceeded, size=size, breaks=tuple(breaks))

    def _workflows(self) -> list[Part]:
        index, records = self.index, []
        known = {n for n in index.ids["WorkflowRun"] if ("WorkflowRun", n, "workflow_id") in index.belongs}
        numbers = {*index.ids["Workflow"], *(index.belongs["WorkflowRun", n, "workflow_id"] for n in known)}
        for number in sorted(numbers):
            runs = index.of("WorkflowRun", "workflow_id", number)
            records.append(
                workflow_part(self.model, self.memory, index, number if number in index.ids["Workflow"] else None, runs)
            )
        return records + [
            workflow_part(self.model, self.memory, index, None, [n]) for n in index.ids["WorkflowRun"] if n not in known
        ]

    def _tasks(self) -> list[Part]:
        index = self.index
        of = {n: index.belongs.get(("TaskInstance", n, "task_id")) for n in index.ids["TaskInstance"]}
        tasks = sorted({*index.ids["Task"], *(task for task in of.values() if task is not None)})
        records = []
        for task in tasks:
            instances = [n for n, whose in of.items() if whose == task]
            records.append(
                task_part(self.model, self.memory, index, task if task in index.ids["Task"] else None, instances)
            )
        return records + [
            task_part(self.model, self.memory, index, None, [n]) for n, whose in of.items() if whose is None
        ]


@dataclass(frozen=True)
class _PartSeen:
    """What a dump shows of one part.

    Args:
        now: the candidates that explain the part so far.
        runs_may_be: by run, the states that it may have had since the dump before; runs without such knowledge are left
            out.
    """

    index: DumpIndex
    part: Part
    now: PartCandidates
    dump: Dump
    runs_may_be: Mapping[int, frozenset[str]]

    @property
    def is_workflow(self) -> bool:
        """Whether the part is a workflow with its runs, not a task with its instances."""
        return "Workflow" in self.part.rows

    def after(self) -> tuple[PartCandidates, list[Violation]] | NonconformanceReport:
        """Returns the candidates that explain the dump too, with the properties that it breaks; or the nonconformance."""
        now, part = self.now, self.part
        if now.exceeded or (not self.is_workflow and self.stays):
            return now, []
        record, started = part.record(self.sight, (), started=False), now.records > 0
        try:
            states = now.states if started else beginnings(part, self.index, self.dump)
            before = replace(now, states=part.known(states, self.sight), most=self.most)
            record = part.record(self.sight, before.states, started=started)
            after = step(before, record, MOST_VALUES, MOST_VALUES**2)
            if isinstance(after, Nonconformance):
                return part.nonconformance(self.sight, before.states, started=started)
            if after.exceeded:
                return after, []
            return self.with_running(after, list(record.breaks(before.states, after.states)))
        except TooManyStates as error:
            return replace(now, exceeded=record.exceeded(error)), []

    def runs_after(self, after: PartCandidates) -> Mapping[int, frozenset[str]]:
        """Returns the states that each run may have had, with those that this part determines."""
        if not self.is_workflow:
            return self.runs_may_be
        runs = self.part.rows["WorkflowRun"]
        if after.exceeded:
            return {run: states for run, states in self.runs_may_be.items() if run not in runs}
        model, places, possible = self.part.model, self.part.view.places, dict(self.runs_may_be)
        begins = self.now.states or beginnings(self.part, self.index, self.dump)
        for at, run in enumerate(runs):
            were, are = ({v[places["WorkflowRun", "", at]] for v in states} for states in (begins, after.states))
            from_ = {s for state in were for s in led_from(model, "WorkflowRun", state)}
            to = {s for state in are for s in led_to(model, "WorkflowRun", state)}
            possible[run] = frozenset(from_ & to)
        return possible

    @property
    def stays(self) -> bool:
        """Whether no later dump shows the task: it may then stay as it is."""
        shown = (self.index.last(sort) for sort in ("Task", "TaskInstance") if self.part.rows[sort])
        return self.now.records > 0 and self.dump.number > max(shown)

    @cached_property
    def sight(self) -> PartObservation:
        """What the dump shows of the part."""
        part, dump = self.part, self.dump
        none_yet = {obj: NONE_YET for obj in part.unobserved if self.index.knows_all(obj[0], dump)}
        may_be, fixed = ({}, {}) if self.is_workflow else (self._runs(), self._attempts())
        shown = dict(observed(part, self.index, dump))
        return PartObservation(
            dump.number, dump.line, f"{part.title} at {dump.time}", shown, {**may_be, **none_yet}, fixed
        )

    def _runs(self) -> dict[Obj, frozenset[str]]:
        """The states that the runs of a task may have had."""
        runs, known = self.part.rows["WorkflowRun"], self.runs_may_be
        may_be: dict[Obj, frozenset[str]] = {
            ("WorkflowRun", at): known[run] for at, run in enumerate(runs) if run in known
        }
        if self.part.workflow is not None and self.index.knows_all("WorkflowRun", self.dump):
            others = [n for n in self.index.of("WorkflowRun", "workflow_id", self.part.workflow) if n not in runs]
            if all(n in known for n in others):
                states = frozenset(s for n in others for s in known[n])
                may_be["WorkflowRun", self.part.others] = states or frozenset({ENDED})
        return may_be

    def _attempts(self) -> dict[Field, Any]:
        """The maximum of a task's attempts, where known. The maximum may have changed since the dump before."""
        allowed = [n for n in (self._shown_most, self.now.most) if n is not None]
        return {("Task", "most", 0): max(allowed)} if allowed else {}

    @property
    def most(self) -> int | None:
        """The maximum of the task's attempts in the last dump that has it."""
        return self.now.most if self._shown_most is None else self._shown_most

    @property
    def _shown_most(self) -> int | None:
        if not self.part.rows.get("Task"):
            return None
        row = self.dump.tables.get("Task", {}).get(self.part.rows["Task"][0])
        return row.columns.get("max_attempts") if row else None

    def with_running(self, after: PartCandidates, breaks: list[Violation]) -> tuple[PartCandidates, list[Violation]]:
        """Adds the instances that run now, and a violation if they are several.

        The database does not contain commands; by its rows, a command runs as long as its instance.
        """
        if self.is_workflow:
            return after, breaks
        rows = self.dump.tables.get("TaskInstance", {})
        running = frozenset(n for n in self.part.rows["TaskInstance"] if n in rows and rows[n].state == "Running")
        if len(running) > 1 and running - self.now.running:
            properties = self.part.model.properties
            prop = next(p for p in properties if isinstance(p, Invariant) and p.name == "one-live-instance")
            who = " and ".join(f"instance {n}" for n in sorted(running))
            says = f"{self.sight.says}: {who} are Running at once"
            breaks = [*breaks, Violation(self.dump.number, self.dump.line, says, property_of(prop))]
        return replace(after, running=running), breaks


def _read(model: Model, lines: Sequence[TextLine], requested: Requested) -> _Dumps:
    refuse_release(requested.release)
    shape, clock = Shape.load(SCHEMA, "dump"), Clock()
    dumps = [_dump(number, line, shape, clock) for number, line in enumerate(as_objects(lines), start=1)]
    return _Dumps(with_all_rows(model), DumpIndex(dumps))


def _recognises(lines: Sequence[TextLine]) -> bool:
    record = first_object(lines)
    return bool(record.keys() & set(TABLES)) and "schedproof" not in record


DUMPS = Format(
    "jobmon-dumps",
    'a dump of tables {"time": ..., "task": [...], "task_instance": [...]}',
    _recognises,
    _read,
    validated_by="shipped",
    fits=fits,
    by_release=True,
)
"""The format of dumps of tables."""
