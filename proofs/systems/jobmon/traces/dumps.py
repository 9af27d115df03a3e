"""Dumps of Jobmon's tables ``task``, ``task_instance``, ``workflow_run`` and ``workflow``, taken one after another.

The choices of the reading:

* **A dump is a sample**: any number of steps may lie between two, and a state that was passed through may not be shown.
* **A table that a dump has is whole**: what is not in it is not there (yet). Rows are never taken away. A table, or a column, that is left out
  says nothing, but when a later dump has it. A task is queued with its instance in one transaction (facts 3.1); the release
  that is to come writes the instance later, and what is dumped in between departs.
* **Parts**: a workflow with its runs is judged by itself, then each task with its instances: its steps may ask what a run may have been
  since the dump before, and not which moment of this was which. What else they ask (processes, jobs, heartbeats) nobody sees: it may be so or not.
* **The first dump is believed**, but for what the machine never shows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from schedproof.model.lang import Invariant, Model
from schedproof.proofs.traces.engine.candidates import Judgement, TooManyStates
from schedproof.proofs.traces.engine.partial import Field, Obj
from schedproof.proofs.traces.files.lines import Line, TextLine, as_objects
from schedproof.proofs.traces.files.schema import Shape
from schedproof.proofs.traces.formats.format import Format, Judged, Told, first_object
from schedproof.proofs.traces.reports.report import BrokenPromise, Departure, OracleVerdict

from .dump_objects import TABLES, Cast, Dump, Row
from .life import with_all_rows
from .parts import Part, beginnings, observed, task_part, workflow_part
from .telling import Sight
from .ways import Memory
from .words import SCHEMA, Clock, fits, led_from, led_to, promise_of, refuse_release, state_of

NONE_YET = frozenset({"Absent"})
"""The state of a row that is not made."""

ENDED = "Aborted"
"""What stands for a run that does nothing: no step of the machine needs one that is in this state."""


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
                raise line.error(f'"{name}.{at}": id {row["id"]} stands twice in one dump; write each row once')
            status = row.get("status")
            state = state_of(sort, status, line, f'"{name}.{at}.status"') if status is not None else ""
            rows[row["id"]] = Row(state, row)
    return Dump(number, line.number, line.value["time"], tables)


@dataclass
class _Dumps:
    """The parts of the database, judged dump by dump."""

    model: Model
    cast: Cast
    memory: Memory = field(default_factory=Memory)
    breaks: list[BrokenPromise] = field(default_factory=list)
    runs_may_be: dict[int, frozenset[str]] = field(default_factory=dict)
    """Run -> the states that it may have been in since the dump before; none where that is not known."""

    def judge(self) -> Judged:
        """The verdict on all dumps."""
        workflows, tasks = self._workflows(), self._tasks()
        size, contradiction = len(self.cast.dumps), self.cast.contradiction
        for dump in self.cast.dumps:
            departure = contradiction if contradiction is not None and contradiction.record == dump.number else None
            for part, sees in [*((p, self._sees_runs) for p in workflows), *((p, self._sees_task) for p in tasks)]:
                departure = departure or self._goes_on(part, dump, sees)
            if departure is not None:
                return Judged(Judgement(OracleVerdict.DEPARTS, departure), size, breaks=tuple(self.breaks))
        lost = [part.lost for part in (*workflows, *tasks) if part.lost]
        if lost:
            note = lost[0]
            return Judged(Judgement(OracleVerdict.UNDETERMINED, note=note), size, note, tuple(self.breaks))
        return Judged(Judgement(OracleVerdict.CONFORMS), size, breaks=tuple(self.breaks))

    def _workflows(self) -> list[Part]:
        cast, found = self.cast, []
        known = {n for n in cast.ids["WorkflowRun"] if ("WorkflowRun", n, "workflow_id") in cast.belongs}
        numbers = {*cast.ids["Workflow"], *(cast.belongs["WorkflowRun", n, "workflow_id"] for n in known)}
        for number in sorted(numbers):
            runs = cast.of("WorkflowRun", "workflow_id", number)
            found.append(
                workflow_part(self.model, self.memory, cast, number if number in cast.ids["Workflow"] else None, runs)
            )
        return found + [
            workflow_part(self.model, self.memory, cast, None, [n]) for n in cast.ids["WorkflowRun"] if n not in known
        ]

    def _tasks(self) -> list[Part]:
        cast = self.cast
        of = {n: cast.belongs.get(("TaskInstance", n, "task_id")) for n in cast.ids["TaskInstance"]}
        tasks = sorted({*cast.ids["Task"], *(task for task in of.values() if task is not None)})
        found = []
        for task in tasks:
            instances = [n for n, whose in of.items() if whose == task]
            found.append(
                task_part(self.model, self.memory, cast, task if task in cast.ids["Task"] else None, instances)
            )
        return found + [task_part(self.model, self.memory, cast, None, [n]) for n, whose in of.items() if whose is None]

    def _goes_on(self, part: Part, dump: Dump, sees: Callable[[Part, Dump], Departure | None]) -> Departure | None:
        if part.lost:
            return None
        before = len(part.story.breaks)
        try:
            if not part.story.started:
                part.story.now = beginnings(part, self.cast, dump)
            departure = sees(part, dump)
        except TooManyStates as error:
            part.lost = (
                f"record {dump.number} (line {dump.line}), {_title(part)}: {error}; dump more often, or more columns"
            )
            for run in part.rows["WorkflowRun"] if "Workflow" in part.rows else ():
                self.runs_may_be.pop(run, None)
            return None
        self.breaks += part.story.breaks[before:]
        return departure

    def _sees_runs(self, part: Part, dump: Dump) -> Departure | None:
        """A workflow and its runs, and what each run may have been since the dump before."""
        story = part.story
        places = story.view.places
        runs = list(enumerate(part.rows["WorkflowRun"]))
        were = {run: {v[places["WorkflowRun", "", at]] for v in story.now} for at, run in runs}
        departure = story.goes_on(self._sight(part, dump))
        if departure is None:
            for at, run in runs:
                are = {v[places["WorkflowRun", "", at]] for v in story.now}
                from_ = {s for state in were[run] for s in led_from(self.model, "WorkflowRun", state)}
                to = {s for state in are for s in led_to(self.model, "WorkflowRun", state)}
                self.runs_may_be[run] = frozenset(from_ & to)
        return departure

    def _sees_task(self, part: Part, dump: Dump) -> Departure | None:
        """A task and its instances; where no dump shows any more of them, they may as well stay as they are."""
        if part.story.started and dump.number > max(
            self.cast.last(sort) for sort in ("Task", "TaskInstance") if part.rows[sort]
        ):
            return None
        runs = part.rows["WorkflowRun"]
        may_be: dict[Obj, frozenset[str]] = {
            ("WorkflowRun", at): self.runs_may_be[run] for at, run in enumerate(runs) if run in self.runs_may_be
        }
        if part.workflow is not None and self.cast.knows_all("WorkflowRun", dump):
            others = [n for n in self.cast.of("WorkflowRun", "workflow_id", part.workflow) if n not in runs]
            if all(n in self.runs_may_be for n in others):
                states = frozenset(s for n in others for s in self.runs_may_be[n])
                may_be["WorkflowRun", part.others] = states or frozenset({ENDED})
        fixed: dict[Field, Any] = {}
        if part.rows["Task"]:
            row = dump.tables.get("Task", {}).get(part.rows["Task"][0])
            now, before = row.columns.get("max_attempts") if row else None, part.most
            if now is not None:
                part.most = now
            allowed = [n for n in (now, before) if n is not None]
            if allowed:
                fixed["Task", "most", 0] = max(allowed)  # it may have been changed on the way
        departure = part.story.goes_on(self._sight(part, dump, may_be, fixed))
        if departure is None:
            self._find_two_alive(part, dump)
        return departure

    def _sight(
        self, part: Part, dump: Dump, may_be: Mapping[Obj, frozenset[str]] = {}, fixed: Mapping[Field, Any] = {}
    ) -> Sight:
        says = f"{_title(part)} at {dump.time}"
        none_yet = {obj: NONE_YET for obj in part.unseen if self.cast.knows_all(obj[0], dump)}
        shown = dict(observed(part, self.cast, dump))
        return Sight(dump.number, dump.line, says, shown, {**may_be, **none_yet}, fixed)

    def _find_two_alive(self, part: Part, dump: Dump) -> None:
        """Commands are not in the database; by its rows they run as long as their instances do."""
        rows = dump.tables.get("TaskInstance", {})
        running = frozenset(n for n in part.rows["TaskInstance"] if n in rows and rows[n].state == "Running")
        new = running - part.running
        if len(running) > 1 and new:
            prop = next(p for p in self.model.properties if isinstance(p, Invariant) and p.name == "one-live-instance")
            who = " and ".join(f"instance {n}" for n in sorted(running))
            self.breaks.append(
                BrokenPromise(
                    dump.number,
                    dump.line,
                    f"{_title(part)} at {dump.time}: {who} are Running at once",
                    promise_of(prop),
                )
            )
        part.running = running


def _title(part: Part) -> str:
    """What a part is called: by its task, its workflow, or what else is there."""
    for sort, called in (
        ("Task", "task"),
        ("Workflow", "workflow"),
        ("TaskInstance", "instance"),
        ("WorkflowRun", "run"),
    ):
        if part.rows.get(sort):
            return f"{called} {', '.join(map(str, part.rows[sort]))}"
    return "the database"


def _judge(model: Model, lines: Sequence[TextLine], told: Told) -> Judged:
    refuse_release(told.release)
    shape, clock = Shape.load(SCHEMA, "dump"), Clock()
    dumps = [_dump(number, line, shape, clock) for number, line in enumerate(as_objects(lines), start=1)]
    return _Dumps(with_all_rows(model), Cast(dumps)).judge()


def _recognises(lines: Sequence[TextLine]) -> bool:
    found = first_object(lines)
    return bool(found.keys() & set(TABLES)) and "schedproof" not in found


DUMPS = Format(
    "jobmon-dumps",
    'a dump of tables {"time": ..., "task": [...], "task_instance": [...]}',
    _recognises,
    judge=_judge,
    judged_by="shipped",
    fits=fits,
)
"""Dumps of tables."""
