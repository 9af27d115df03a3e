"""``schedproof locks``: a description of locks, judged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from schedproof.cli.judging import EXPECTED, code, standing
from schedproof.cli.output import Destination, OutputFile, distinct, json_option
from schedproof.cli.progress import progress
from schedproof.cli.tables import count, seconds, table
from schedproof.diagrams.errors import DiagramError
from schedproof.diagrams.locks import deadlock_graph, order_graph
from schedproof.diagrams.render import FORMATS, render
from schedproof.model.locks import read
from schedproof.model.registry.errors import UserError
from schedproof.proofs.locks.examine import Answer, Examined, examine, interleaving, standstill
from schedproof.proofs.locks.explore import LIMIT
from schedproof.proofs.traces.formats.lock_log import check_log

from .check import CODES
from .diagram import ENDINGS


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--max-states", type=click.IntRange(min=1), default=LIMIT, show_default=True, metavar="N",
              help="Stop exploring the threads after N states; then it is undetermined.")  # fmt: skip
@click.option("--picture", type=OutputFile(), metavar="FILE",
              help="Draw the deadlock as a circle of who waits for whom; without one, the order.")  # fmt: skip
@click.option("--format", "format_", type=click.Choice(FORMATS), help="Of the picture; by default what FILE ends in.")
@click.option("--log", type=click.Path(path_type=Path), metavar="LOG",
              help="Instead: hold a log of acquisitions (JSON Lines) against the order in FILE.")  # fmt: skip
@json_option
def locks(
    file: Path,
    max_states: int,
    picture: Destination | None,
    format_: str | None,
    log: Path | None,
    json_file: Destination | None,
) -> int:
    """Look for deadlocks in FILE, which says who may acquire which lock, and what threads do.

    \b
    The order of locks is proved acyclic, for trees of any depth, or a shortest
    circle is told. Each operation is held against the order and the rules, at
    every depth. All interleavings of the threads are explored: mutexes and
    reader-writer locks as Go has them, and channels. Each deadlock is told with
    a shortest interleaving, by kind:
      AB    two locks or more, in reversed order
      RR    a read lock taken again under a waiting writer
      SELF  a lock acquired by who holds it
      CH    a lock held while waiting for a message
      LK    a lock never released
      MSG   a message that never comes
      UNLOCK a lock released that is not held

    proofs/locks/README.md says how FILE is written.
    """
    distinct(picture, json_file)
    if log is not None:
        if picture is not None or format_ is not None:
            raise UserError("--picture draws FILE and --log checks a log; leave out one of them")
        return _check_log(file, log, json_file)
    kind = _format(picture, format_)
    description = read(file)
    with progress("locks") as say:
        found = examine(
            description,
            limit=max_states,
            progress=lambda done, to_go: say(f"{description.name}: {done} states, {to_go} to go"),
        )
    drawn = _picture(found, kind) if picture is not None and kind is not None else None
    if picture is not None and drawn is not None:
        picture.write(drawn)
    if json_file is not None:
        json_file.write_json(_as_json(found))
    if not any(d is not None and d.is_stdout for d in (picture, json_file)):
        _print(found)
    return code(standing(a.verdict, found.expected(a)) for a in found.answers)


def _check_log(file: Path, log: Path, json_file: Destination | None) -> int:
    report = check_log(read(file), log)
    if json_file is not None:
        json_file.write_json(report.as_json())
    if json_file is None or not json_file.is_stdout:
        click.echo("\n".join(report.text()))
    return CODES[report.verdict]


def _format(picture: Destination | None, format_: str | None) -> str | None:
    if picture is None:
        if format_ is not None:
            raise UserError("--format needs --picture FILE; write that as well")
        return None
    kind = format_ or ENDINGS.get(Path(picture.path).suffix.lower())
    if kind is None:
        raise UserError(
            f"the format of {picture.path!r} is unknown; write --format and choose from {', '.join(FORMATS)}"
        )
    return kind


def _picture(found: Examined, kind: str) -> str | bytes:
    name = found.locks.name
    if found.explored is not None and found.explored.problems:
        return render(deadlock_graph(found.explored.problems[0], name), kind)
    order = next((a.order for a in found.answers if a.order is not None), None)
    if order is None:
        raise DiagramError(f"{name} has neither a deadlock nor an order to draw; write an order, or threads that wait")
    return render(order_graph(found.locks, order), kind)


def _print(found: Examined) -> None:
    if found.locks.about:
        click.echo(f"{found.locks.name}: {found.locks.about}")
    rows = []
    for answer in found.answers:
        expected = found.expected(answer)
        mark = standing(answer.verdict, expected)
        rows.append(
            [answer.check.name, answer.check.kind, _reach(answer), str(expected), mark, seconds(answer.seconds)]
        )
    table("", ["check", "kind", "verdict", "expected", "", "seconds"], rows, right=["seconds"])
    for answer in found.answers:
        if answer.deadlock is None and answer.problem:
            _tell(answer, answer.problem, answer.steps)
    if found.explored is not None:
        for problem in found.explored.problems:
            click.echo()
            click.echo(problem.headline)
            click.echo("\n".join(f"  {number}. {line}" for number, line in enumerate(interleaving(problem), 1)))
            for line in standstill(problem):
                click.echo(f"     {line}")
        click.echo()
        click.echo(
            f"threads: {count(found.explored.states, 'state')}, {count(found.explored.moves, 'move')}, "
            f"{count(len(found.explored.problems), 'problem')}"
        )
    marks = [standing(a.verdict, found.expected(a)) for a in found.answers]
    good = marks.count(EXPECTED)
    says = "as expected" if good == len(marks) else "NOT as expected"
    click.echo(f"{says}: {good} of {count(len(marks), 'check')}")


def _tell(answer: Answer, problem: str, steps: tuple[str, ...]) -> None:
    click.echo()
    where = f" (line {answer.check.line})" if answer.check.line is not None else ""
    click.echo(f"{answer.check.name}{where}: {answer.check.says}. Not so:")
    click.echo("\n".join(f"  {number}. {line}" for number, line in enumerate(steps, 1)))
    click.echo(f"  {problem}" + (f" ({answer.note})" if answer.note else ""))


def _reach(answer: Answer) -> str:
    """How far a verdict reaches."""
    return answer.result(answer.check.name).reach


def _as_json(found: Examined) -> dict[str, Any]:
    entries = []
    for answer in found.answers:
        entry: dict[str, Any] = {
            "name": answer.check.name,
            "kind": answer.check.kind,
            "line": answer.check.line,
            "expected": str(found.expected(answer)),
            "verdict": str(answer.verdict),
            "method": str(answer.method),
            "scope": dict(answer.scope) if answer.scope is not None else None,
            "seconds": round(answer.seconds, 4),
        }
        if answer.note:
            entry["note"] = answer.note
        if answer.problem:
            entry |= {"problem": answer.problem, "steps": list(answer.steps)}
        entries.append(entry)
    data: dict[str, Any] = {"name": found.locks.name, "checks": entries, "ok": found.ok}
    if found.explored is not None:
        data |= {"states": found.explored.states, "moves": found.explored.moves}
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
            for problem in found.explored.problems
        ]
    return data
