"""``schedproof locks``: a description of locks, checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from schedproof.cli.help_text import ending
from schedproof.cli.options import json_option, refuse_idle
from schedproof.cli.output import Destination, OutputFile, spare
from schedproof.cli.progress import progress
from schedproof.cli.tables import count, seconds, table
from schedproof.cli.verdict_status import code, counted, standing
from schedproof.diagrams.errors import DiagramError
from schedproof.diagrams.locks import deadlock_graph, order_graph
from schedproof.diagrams.render import FORMATS, render
from schedproof.model.locks import read
from schedproof.model.locks.reading import NOTHING
from schedproof.model.registry.errors import UserError
from schedproof.proofs.locks import lanes as sequence
from schedproof.proofs.locks.answer import Answer
from schedproof.proofs.locks.explore import LIMIT, Problem
from schedproof.proofs.locks.kinds import WORDS
from schedproof.proofs.locks.lanes import of_circle, of_problem
from schedproof.proofs.locks.model_check import LocksChecked, interleaving, model_check, standstill
from schedproof.proofs.locks.unchecked import unchecked
from schedproof.proofs.traces.dumps.check import check_locks_log

from .diagram import ENDINGS
from .validate import CODES


@click.command(
    epilog=ending(
        "locks order.yaml",
        "locks order.yaml --picture deadlock.svg",
        "locks order.yaml --log acquisitions.jsonl",
        "locks --log goroutines.txt",
        ok="every verdict is the expected one; the log conforms",
        different="a verdict is not the expected one; the log violates the order, or a dump has a circle",
        undetermined="a verdict is undetermined; no thread of a dump waits for a lock",
        notes="""
Kinds of deadlock:
  AB      two or more locks, acquired in opposite orders
  RR      a read lock acquired a second time while a writer waits
  SELF    a lock acquired by its holder
  CH      a lock held while waiting for a message
  LK      a lock that is never released
  MSG     a message that is never sent
  WAIT    a lock held while waiting for a signal or a counter
  SIGNAL  a signal that is never sent
  COUNT   a counter that never changes
  UNLOCK  a lock released that is not held
  PANIC   a step that ends the program
""",
    )
)
@click.argument("file", type=click.Path(path_type=Path), required=False)
@click.option("--log", type=click.Path(path_type=Path), metavar="FILE",
              help="Check only this log of acquisitions, goroutine dump, thread dump, or report of a lock checker.")  # fmt: skip
@click.option("--max-states", type=click.IntRange(min=1), default=LIMIT, show_default=True, metavar="N",
              help="Stop exploring the threads after N states.")  # fmt: skip
@click.option("--picture", type=OutputFile(), metavar="FILE",
              help="Draw the first deadlock as a cycle of threads; without a deadlock, draw the order.")  # fmt: skip
@click.option(
    "--format", "format_", type=click.Choice(FORMATS), help="Format of the picture.  [default: the suffix of its FILE]"
)
@click.option("--lanes", is_flag=True, help="Show each interleaving as a table with a lane for each thread.")
@click.option("--mermaid", is_flag=True,
              help="Print the first deadlock, or the first circle, as a Mermaid sequence diagram, and nothing else.")  # fmt: skip
@json_option
def locks(
    file: Path | None,
    log: Path | None,
    max_states: int,
    picture: Destination | None,
    format_: str | None,
    lanes: bool,
    mermaid: bool,
    json_file: Destination | None,
) -> int:
    """Check a description of locks and threads for deadlocks.

    FILE says in which order locks may be acquired, and what threads do; docs/reference/lock-files.md describes its format. The
    order is proved acyclic for trees of any depth, or a shortest cycle is shown. Each operation is checked against the
    order and the rules. All interleavings of the threads are explored; mutexes, reader-writer locks and channels behave as
    in Go. Each deadlock is shown with a shortest interleaving. A dump needs no FILE: its types are those that have locks.
    """
    spare([file, log], picture, json_file)
    if log is not None:
        if picture is not None or format_ is not None:
            raise UserError("--picture, --log: a log has no picture; leave out one of them")
        refuse_idle({"--lanes": lanes, "--mermaid": mermaid}, "with --log")
        return _check_log(file, log, json_file)
    if any(d is not None and d.is_stdout for d in (picture, json_file)):
        refuse_idle({"--lanes": lanes, "--mermaid": mermaid}, "beside another result on standard output")
    refuse_idle({"--lanes": lanes and mermaid}, "with --mermaid")
    kind = _format(picture, format_)
    if file is None:
        raise UserError("FILE is missing; name a lock file, or add --log and the dump of a program that hangs")
    description = read(file)
    with progress("locks") as report_progress:
        checked = model_check(
            description,
            limit=max_states,
            progress=lambda done, to_go: report_progress(f"{description.name}: {done} states, {to_go} to go"),
        )
    drawn = _picture(checked, kind) if picture is not None and kind is not None else None
    if picture is not None and drawn is not None:
        picture.write(drawn)
    if json_file is not None:
        json_file.write_json(_as_json(checked))
    if mermaid:
        click.echo("\n".join(_sequence(checked)))
    elif not any(d is not None and d.is_stdout for d in (picture, json_file)):
        _print(checked, lanes)
    return code(standing(a.verdict, checked.expected(a)) for a in checked.answers)


def _check_log(file: Path | None, log: Path, json_file: Destination | None) -> int:
    description = read(file) if file is not None else replace(NOTHING, name=log.stem)
    report = check_locks_log(description, log)
    if json_file is not None:
        json_file.write_json(report.as_json())
    if json_file is None or not json_file.is_stdout:
        click.echo("\n".join(report.text()))
    return CODES[report.verdict]


def _format(picture: Destination | None, format_: str | None) -> str | None:
    if picture is None:
        if format_ is not None:
            raise UserError("--format: has no effect without --picture; add --picture FILE, or leave it out")
        return None
    kind = format_ or ENDINGS.get(Path(picture.path).suffix.lower())
    if kind is None:
        raise UserError(
            f"--picture: {picture.path!r} has no suffix of a format; add --format, and choose from {', '.join(FORMATS)}"
        )
    return kind


def _picture(checked: LocksChecked, kind: str) -> str | bytes:
    name = checked.locks.name
    if checked.explored is not None and checked.explored.problems:
        return render(deadlock_graph(checked.explored.problems[0], name), kind)
    order = next((a.order for a in checked.answers if a.order is not None), None)
    if order is None:
        raise DiagramError(f"{name} has neither a deadlock nor an order to draw; write an order, or threads that wait")
    return render(order_graph(checked.locks, order), kind)


def _sequence(checked: LocksChecked) -> list[str]:
    """The first deadlock, or the first circle of the derived order, as a Mermaid sequence diagram.

    Raises:
        DiagramError: neither was found.
    """
    name = checked.locks.name
    if checked.explored is not None and checked.explored.problems:
        first = checked.explored.problems[0]
        return sequence.mermaid(of_problem(first), f"{name}: {first.headline}", first.stuck or WORDS[first.kind])
    circle = next((a.circles.circles[0] for a in checked.answers if a.circles is not None), None)
    if circle is None:
        raise DiagramError(f"{name} has neither a deadlock nor a circle to draw; leave out --mermaid")
    return sequence.mermaid(of_circle(circle), f"{name}: a circle of locks: {circle.text}", "each waits for the next")


def _print(checked: LocksChecked, lanes: bool) -> None:
    if checked.locks.about:
        click.echo(f"{checked.locks.name}: {checked.locks.about}")
    rows = []
    for answer in checked.answers:
        expected = checked.expected(answer)
        mark = standing(answer.verdict, expected)
        rows.append(
            [answer.check.name, answer.check.kind, _reach(answer), str(expected), mark, seconds(answer.seconds)]
        )
    table("", ["check", "kind", "verdict", "expected", "", "seconds"], rows, right=["seconds"])
    for answer in checked.answers:
        for remark in answer.remarks:
            click.echo(f"{answer.check.name}: {remark}")
    for answer in checked.answers:
        if answer.deadlock is None and answer.problem:
            _print_violation(answer, answer.problem, _steps(answer, lanes))
    if checked.explored is not None:
        for problem in checked.explored.problems:
            click.echo()
            click.echo(problem.headline)
            names = dict.fromkeys([*(step.thread for step in problem.steps), *(each.thread for each in problem.waits)])
            click.echo(f"  Threads: {', '.join(names)}. Locks and channels: {_objects(checked, problem)}.")
            click.echo("  Initial state: no lock is held, and every channel is empty.")
            steps = [f"{number}. {line}" for number, line in enumerate(interleaving(problem), 1)]
            click.echo("\n".join(f"  {line}" for line in (sequence.table(of_problem(problem)) if lanes else steps)))
            for line in standstill(problem):
                click.echo(f"     {line}")
            click.echo(f"  Property no-deadlock is violated: {problem.stuck or WORDS[problem.kind]}.")
        click.echo()
        click.echo(
            f"threads: {count(checked.explored.states, 'state')}, {count(checked.explored.moves, 'move')}, "
            f"{count(len(checked.explored.problems), 'problem')}"
        )
    if left := unchecked(checked.locks):
        click.echo("\n".join(["", "not checked:", *(f"  {phrase}" for phrase in left)]))
    says, how_many = counted([standing(a.verdict, checked.expected(a)) for a in checked.answers], "check")
    click.echo(f"{says}: {how_many}")


def _steps(answer: Answer, lanes: bool) -> list[str]:
    """The steps of a violation, numbered; with ``lanes`` those of a circle are a table."""
    if lanes and answer.circles is not None:
        return sequence.table(of_circle(answer.circles.circles[0]))
    return [f"{number}. {line}" for number, line in enumerate(answer.steps, 1)]


def _print_violation(answer: Answer, problem: str, steps: Sequence[str]) -> None:
    click.echo()
    where = f" (line {answer.check.line})" if answer.check.line is not None else ""
    click.echo(f"{answer.check.name}{where}: {answer.check.says}")
    click.echo("\n".join(f"  {line}" for line in steps))
    click.echo(f"  Property {answer.check.name} is violated: {problem}" + (f" ({answer.note})" if answer.note else ""))
    for number, changes in enumerate(answer.remedies):
        word = "Or" if number else "Remedy"
        if len(changes) == 1:
            click.echo(f"  {word}: {changes[0]}.")
        else:
            click.echo("\n".join([f"  {word}, {len(changes)} changes:", *(f"     {change}" for change in changes)]))


def _objects(checked: LocksChecked, problem: Problem) -> str:
    """The locks, channels, counters and conditions of an interleaving, locks with their classes."""
    locks = checked.locks
    classes = {name: one.of for name, one in locks.objects.items()}
    known = {*classes, *locks.channels, *locks.counters, *locks.conditions}
    on = [*(step.on for step in problem.steps), *(each.on for each in problem.waits)]
    names = dict.fromkeys(word for each in on for word in each.split() if word in known)
    return ", ".join(f"{classes[name]} {name}" if name in classes else name for name in names)


def _reach(answer: Answer) -> str:
    """How far a verdict reaches."""
    return answer.result(answer.check.name).reach


def _as_json(checked: LocksChecked) -> dict[str, Any]:
    entries = []
    for answer in checked.answers:
        entry: dict[str, Any] = {
            "name": answer.check.name,
            "kind": answer.check.kind,
            "line": answer.check.line,
            "expected": str(checked.expected(answer)),
            "verdict": str(answer.verdict),
            "method": str(answer.method),
            "scope": dict(answer.scope) if answer.scope is not None else None,
            "seconds": round(answer.seconds, 4),
        }
        if answer.note:
            entry["note"] = answer.note
        if answer.remarks:
            entry["remarks"] = list(answer.remarks)
        if answer.remedies:
            entry["remedies"] = [list(changes) for changes in answer.remedies]
        if answer.problem:
            entry |= {"problem": answer.problem, "steps": list(answer.steps)}
        entries.append(entry)
    data: dict[str, Any] = {
        "name": checked.locks.name,
        "checks": entries,
        "unchecked": list(unchecked(checked.locks)),
        "ok": checked.ok,
    }
    if checked.explored is not None:
        data |= {"states": checked.explored.states, "moves": checked.explored.moves}
        data["deadlocks"] = [
            {
                "kind": str(problem.kind),
                "threads": list(problem.threads),
                "on": list(problem.on),
                "interleaving": [
                    {
                        **{"thread": s.thread, "does": s.how, "on": s.on, "waits": not s.granted},
                        **({"to": s.other} if s.other else {}),
                        "line": s.place.line,
                    }
                    for s in problem.steps
                ],
                "waits": [{"thread": w.thread, "does": w.how, "on": w.on, "for": list(w.whom)} for w in problem.waits],
                "holds": [{"thread": h.thread, "by": h.how, "lock": h.on} for h in problem.holds],
            }
            for problem in checked.explored.problems
        ]
    return data
