"""The parts of Jobmon's database that are checked alone: a workflow with its runs, a task with its instances.

For each part: how it is built from the rows of all dumps, in which states it may begin, and what a dump shows of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import prod
from typing import Any

from schedproof.model.lang import Model
from schedproof.proofs.traces.engine.candidates import TooManyStates
from schedproof.proofs.traces.engine.partial import NOBODY, UNKNOWN, Field, Obj, Values, View

from .dump_index import Dump, DumpIndex
from .part import Part
from .ways import MOST_VALUES, Memory
from .words import CALLED


def names_of(rows: Mapping[str, Sequence[int]]) -> dict[Obj, str]:
    """Returns the names of the objects in reports."""
    return {
        (sort, at): f"{CALLED[sort]} {number}" for sort, numbers in rows.items() for at, number in enumerate(numbers)
    }


def _processes(runs: int, instances: int) -> dict[Field, Any]:
    """Gives each run a client and a distributor, and each instance a job."""
    values: dict[Field, Any] = {}
    for n in range(runs):
        values |= {("Client", "run", n): ("WorkflowRun", n), ("Distributor", "run", n): ("WorkflowRun", n)}
        values["WorkflowRun", "workflow", n] = ("Workflow", 0)
    return values | {("TaskInstance", "job", n): ("Job", n) for n in range(instances)}


def workflow_part(model: Model, memory: Memory, index: DumpIndex, workflow: int | None, runs: Sequence[int]) -> Part:
    """Returns the part of a workflow (None if it is unknown) with its runs."""
    unobserved = index.unobserved("WorkflowRun", runs)
    many = len(runs) + len(unobserved)
    sizes = {
        **dict.fromkeys(("WorkflowRun", "Client", "Distributor"), many),
        **dict.fromkeys(("Workflow", "Task", "TaskInstance", "Job"), 1),
    }
    follows = (("Workflow", "", 0), *(("WorkflowRun", "", n) for n in range(len(runs))))
    rows = {"Workflow": [] if workflow is None else [workflow], "WorkflowRun": list(runs)}
    names = {("Workflow", 0): "the workflow", **names_of(rows)}
    view = View(model, sizes, follows, _processes(many, 1))
    return Part(model, memory, view, rows, names, "WorkflowRun", workflow, unobserved)


def task_part(model: Model, memory: Memory, index: DumpIndex, task: int | None, instances: Sequence[int]) -> Part:
    """Returns the part of a task (None if it is unknown) with its instances; its last run stands for all other runs."""
    logged = index.logs("TaskInstance")
    known = {
        n: run for n in instances if (run := index.belongs.get(("TaskInstance", n, "workflow_run_id"))) is not None
    }
    runs = sorted(set(known.values()))
    unobserved = index.unobserved("TaskInstance", instances)
    many = len(instances) + len(unobserved)
    sizes = {
        **dict.fromkeys(("WorkflowRun", "Client", "Distributor"), len(runs) + 1),
        **dict.fromkeys(("TaskInstance", "Job"), many),
        **{"Workflow": 1, "Task": 1},
    }
    follows: list[Field] = [("Task", "", 0)]
    if not unobserved or index.counts(task):  # else the attempts cannot be counted
        follows.append(("Task", "attempts", 0))
    if logged:
        follows += [("Task", "instance", 0), *(("TaskInstance", "", n) for n in range(len(instances)))]
    fixed = {**_processes(len(runs) + 1, many), ("Task", "workflow", 0): ("Workflow", 0)}
    fixed |= {("TaskInstance", "task", n): ("Task", 0) for n in range(many)}
    fixed |= {
        ("TaskInstance", "run", at): ("WorkflowRun", runs.index(known[n]))
        for at, n in enumerate(instances)
        if n in known
    }
    rows = {"Task": [] if task is None else [task], "TaskInstance": list(instances), "WorkflowRun": runs}
    names = {("Task", 0): "the task", ("WorkflowRun", len(runs)): "another run", **names_of(rows)}
    view = View(model, sizes, tuple(follows), fixed)
    workflow = None if task is None else index.belongs.get(("Task", task, "workflow_id"))
    return Part(model, memory, view, rows, names, "TaskInstance", workflow, unobserved, len(runs))


def beginnings(part: Part, index: DumpIndex, first: Dump) -> list[Values]:
    """Returns the states in which a part may begin: those in the first dump, and every value of what it does not show.

    Raises:
        TooManyStates: there are more than ``MOST_VALUES``.
    """
    view = part.view
    choices: list[Sequence[Any]] = []
    for sort, attribute, at in view.follows:
        if attribute:
            choices.append([UNKNOWN if attribute == "attempts" else NOBODY])
            continue
        known = [n.name for n in view.model.machine(sort).states if not n.unreachable]
        ids = part.rows[sort]
        shown = index.shows(first, sort, ids[at]) if at < len(ids) else None
        if shown is not None:
            choices.append([shown])
        elif at < len(ids) and ids[at] in first.tables.get(sort, {}):
            choices.append([s for s in known if s != "Absent"])
        else:
            choices.append(known)
    if prod(map(len, choices)) > MOST_VALUES:
        raise TooManyStates(f"what is not shown of {', '.join(part.names.values())} may be in too many states")
    unobserved = [obj for obj in part.unobserved if not index.knows_all(obj[0], first)]
    return [state for values in product(*choices) for state in _with_latest(view, values, unobserved)]


def _with_latest(view: View, values: Values, unobserved: Sequence[Obj]) -> Iterator[Values]:
    """The latest instance is the one with the highest number, or an unobserved one."""
    place = view.places.get(("Task", "instance", 0))
    if place is None:
        yield values
        return
    shown = zip(view.follows, values, strict=True)
    instances = [
        at for (sort, attribute, at), state in shown if (sort, attribute) == ("TaskInstance", "") and state != "Absent"
    ]
    latest: Obj = ("TaskInstance", instances[-1]) if instances else NOBODY
    for obj in (latest, *unobserved):
        yield (*values[:place], obj, *values[place + 1 :])


def observed(part: Part, index: DumpIndex, dump: Dump) -> Iterator[tuple[Field, Any]]:
    """Yields the fields that a dump shows, with their values."""
    for sort, attribute, at in part.view.follows:
        ids = part.rows[sort]
        if at >= len(ids):
            continue
        if not attribute:
            shown = index.shows(dump, sort, ids[at])
            if shown is not None:
                yield (sort, "", at), shown
        elif attribute == "attempts" and sort in dump.tables:
            row = dump.tables[sort].get(ids[at])
            value = 0 if row is None else row.columns.get("num_attempts")
            if value is not None:
                yield (sort, attribute, at), value
