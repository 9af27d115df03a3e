"""What may lie between two dumps of Jobmon's tables, searched by hand: letters as in the database, moves as in the facts.

It shares no code with the package. Each dump has to have all four tables and all columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

State = tuple[Any, ...]

RUN_MOVES = {
    "-": "G", "G": "L", "L": "BA", "B": "IECH", "I": "OE", "O": "RE", "R": "DSECH", "C": "T", "H": "T",
    "D": "", "S": "", "E": "", "T": "", "A": "",
}  # fmt: skip
ALIVE = "LBRCH"


def beyond(run: str) -> set[str]:
    """What a run may come to, itself included."""
    reached, todo = {run}, [run]
    while todo:
        for after in RUN_MOVES[todo.pop()]:
            if after not in reached:
                reached.add(after)
                todo.append(after)
    return reached


def on_the_way(before: str, after: str) -> set[str]:
    return {run for run in beyond(before) if after in beyond(run)}


def flow_moves(flow: str, runs: tuple[str, ...]) -> Iterator[State]:
    """One step of a workflow and its runs."""
    for n, run in enumerate(runs):

        def to(new: str, then: str, n: int = n) -> State:
            return then, (*runs[:n], new, *runs[n + 1 :])

        if run == "-":
            yield to("G", flow)
        if run == "G" and flow in "GAFH" and not any(r in ALIVE for r in runs):
            yield to("L", "G")
        for now, new, needs, then in (("L", "B", "G", "Q"), ("B", "I", "Q", "I"), ("I", "O", "I", "O"), ("O", "R", "O", "R"), ("R", "D", "R", "D"), ("R", "S", "R", "F")):  # fmt: skip
            if run == now and flow == needs:
                yield to(new, then)
        if run in "BIOR" and flow in "QIOR":
            yield to("E", "F")
        if run in "BR":
            yield to("C", flow)
            yield to("H", flow)
        if run in "CH":
            if flow in "QR":
                yield to("T", "H")
            yield to("T", "H")  # the reaper asks no table
        if run == "L":
            yield to("A", "A")
        if run == "R":
            yield to("E", "F")
    if flow == "F":
        yield "D", runs


def flow_is_possible(flow: str, runs: tuple[str, ...]) -> bool:
    on_its_way = [run for run in runs if run in "LBIORCH"]
    image = {"L": "G", "B": "Q", "I": "I", "O": "O", "R": "R", "C": "QR", "H": "QR"}
    return len(on_its_way) < 2 and all(flow in image[run] for run in on_its_way)


def task_moves(state: State, of: tuple[int, ...], may_be: list[set[str]], most: int) -> Iterator[State]:
    """One step of a task and its instances: ``of`` has each instance's run, ``may_be`` what each run may be on the way."""
    task, attempts, instances = state

    def to(n: int, new: str, then: str, count: int | None = None) -> State:
        return then, attempts if count is None else count, (*instances[:n], new, *instances[n + 1 :])

    retried = "G" if attempts < most else "F"
    scaled = "A" if attempts < most else "F"
    for n, now in enumerate(instances):
        run = may_be[of[n]]
        if now == "-" and "-" not in instances[:n] and task in "GA" and run & {"R", "E", "C", "H"}:
            yield to(n, "Q", "Q", attempts + 1)
        if now in "QF" and task in "QI":
            yield to(n, "I", "I")
        if now == "I":
            if task == "I":
                yield to(n, "O", "O")
            if task in "IOR":
                yield to(n, "W", retried)
        if now in "IO" and task in "IO":
            yield to(n, "R", "R")
        if now == "T":
            if task in "IO":  # the table of tasks has no move from R to R (3.6)
                yield to(n, "R", "R")
            if task in "IOR":
                yield from (to(n, "U", retried), to(n, "Z", scaled), to(n, "F", "F"))
        if now == "R" and run & {"R", "C", "H"}:
            yield to(n, "T", task)
        if now == "O" and run & {"R", "C", "H"}:
            yield to(n, "X", task)
        if now in "RK" and task == "R":
            yield to(n, "D", "D")
        if now == "R" and task in "IOR":
            yield from (to(n, "E", retried), to(n, "Z", scaled))
        if now in "QI":
            yield to(n, "K", task)  # the server lets anybody ask for what its table has
        if now in "OR" and task in "IOR":
            yield to(n, "U", retried)
        if now == "O" and task in "IOR":
            yield from (to(n, "Z", scaled), to(n, "F", "F"))
        if now == "X" and task in "IOR":
            yield to(n, "E", retried)
        if now == "K":
            yield to(n, "F", "F" if task in "OR" else task)  # two updates, each with its own condition (3.1)
    if task in "QIORAF" and any({"-", "G"} <= run for run in may_be):
        yield "G", 0, instances
    for r, run in enumerate(may_be):
        for how in run & {"C", "H"}:
            ends = {"Q": "F", "I": "F", "O": "K", **({"R": "K"} if how == "C" else {})}
            yield task, attempts, tuple(ends.get(i, i) if of[n] == r else i for n, i in enumerate(instances))


def task_is_possible(state: State, most: int) -> bool:
    task, attempts, instances = state
    if (task == "D") != ("D" in instances) or attempts > most:
        return False
    return not (task in "GA" and attempts >= most)


def leads(before: State, after: State, moves: Any) -> bool:
    seen, todo = {before}, [before]
    while todo:
        if after in seen:
            return True
        for new in moves(todo.pop()):
            if new not in seen:
                seen.add(new)
                todo.append(new)
    return after in seen


def validate_dumps(records: list[dict[str, Any]]) -> int | None:
    """The number of the first dump that nothing explains."""
    tables = ("workflow", "workflow_run", "task", "task_instance")
    rows = [{t: {row["id"]: row for row in record[t]} for t in tables} for record in records]
    ids = {t: sorted({n for dump in rows for n in dump[t]}) for t in tables}
    owner: dict[tuple[str, int, str], int] = {}
    for k, dump in enumerate(rows):  # who belongs to whom is known from all dumps
        for t, column in (("task", "workflow_id"), ("task_instance", "task_id"), ("task_instance", "workflow_run_id"), ("workflow_run", "workflow_id")):  # fmt: skip
            for n, row in dump[t].items():
                if owner.setdefault((t, n, column), row[column]) != row[column]:
                    first = validate_dumps(records[:k]) if k else None
                    return k + 1 if first is None else first

    def status(k: int, t: str, n: int) -> str:
        if n in rows[k][t]:
            return str(rows[k][t][n]["status"])
        born = next(j for j, dump in enumerate(rows) if n in dump[t])
        return "G" if t in ("task", "workflow") and born > k else "-"

    for k in range(len(rows)):
        may_be: dict[int, set[str]] = {}
        for flow in ids["workflow"]:
            runs = [n for n in ids["workflow_run"] if owner["workflow_run", n, "workflow_id"] == flow]
            now = (status(k, "workflow", flow), tuple(status(k, "workflow_run", n) for n in runs))
            if now[0] == "-" or not flow_is_possible(*now):
                return k + 1
            if k:
                before = (status(k - 1, "workflow", flow), tuple(status(k - 1, "workflow_run", n) for n in runs))
                if any(a not in beyond(b) for a, b in zip(now[1], before[1], strict=True)):
                    return k + 1
                if not leads(before, now, lambda s: flow_moves(*s)):
                    return k + 1
            for n in runs:
                may_be[n] = on_the_way(status(max(k - 1, 0), "workflow_run", n), status(k, "workflow_run", n))
        for task in ids["task"]:
            instances = [n for n in ids["task_instance"] if owner["task_instance", n, "task_id"] == task]
            seen = []
            for j in (max(k - 1, 0), k):
                row = rows[j]["task"].get(task, {"num_attempts": 0})
                seen.append(
                    (
                        status(j, "task", task),
                        row["num_attempts"],
                        tuple(status(j, "task_instance", n) for n in instances),
                    )
                )
            columns = [rows[j]["task"].get(task, {}).get("max_attempts") for j in range(k + 1)]
            known = [m for m in columns if m is not None]
            most = max(
                [known[-1] if columns[-1] is None else columns[-1], *(known[-2:-1] if columns[-1] is not None else [])]
            )
            if seen[1][0] == "-" or not task_is_possible(seen[1], most):
                return k + 1
            runs = sorted(may_be)
            of = tuple(runs.index(owner["task_instance", n, "workflow_run_id"]) for n in instances)
            ways = [may_be[n] for n in runs]
            if k and not leads(seen[0], seen[1], lambda s, o=of, w=ways, m=most: task_moves(s, o, w, m)):  # type: ignore[misc]
                return k + 1
    return None
