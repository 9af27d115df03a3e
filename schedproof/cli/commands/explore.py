"""``schedproof explore``: every reachable state at a scope."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from schedproof.cli import choose, scopes
from schedproof.cli.errors import Exit
from schedproof.cli.judging import EXPECTED, OPEN, code, standing
from schedproof.cli.output import Destination, json_option
from schedproof.cli.progress import exploring, progress
from schedproof.cli.sizes import Size
from schedproof.cli.stopping import stoppable
from schedproof.cli.tables import count, seconds, table
from schedproof.model.lang import LifeCycle, Model
from schedproof.model.registry.errors import UserError
from schedproof.model.semantics import instances, scope_text
from schedproof.proofs.checking.engine import MOST_COMPILED, MOST_INTERPRETED, Engine, Exploring
from schedproof.proofs.checking.model_check import examine
from schedproof.proofs.exploration.counterexample_text import story
from schedproof.proofs.exploration.explore import Found
from schedproof.proofs.exploration.limits import Saving
from schedproof.proofs.verdict import Result, Verdict
from schedproof.proofs.verification.properties import expected_of_model
from schedproof.proofs.verification.verify import Judged

TOO_SMALL = "scope too small"


@dataclass(frozen=True)
class Counts:
    """What is told of one exploration; its states need not be kept for it."""

    stopped: str
    states: int
    representatives: int
    transitions: int
    stuck: int
    depth: int
    per_action: Counter[str]

    @staticmethod
    def of(found: Found) -> Counts:
        """Counts what was found."""
        return Counts(
            found.stopped,
            found.state_count,
            found.representatives,
            found.transition_count,
            found.stuck_count,
            found.depth,
            found.per_action(),
        )


@dataclass(frozen=True)
class Explored:
    """The graphs of one variant at one scope (one for each topology), and what was judged on them.

    ``unjudged`` are the properties that the scope, or the lack of crashes, says nothing about,
    with the reason. ``ended`` says what has ended it all before its time: an interrupt, say.
    """

    model: Model
    sizes: Mapping[str, int]
    crash: bool
    graphs: Sequence[Counts]
    properties: Sequence[Judged]
    unjudged: Mapping[str, str]
    ended: str = ""

    @property
    def complete(self) -> bool:
        """Every reachable state was found."""
        return not any(graph.stopped for graph in self.graphs)

    @property
    def stopped(self) -> str:
        """Why it went no further; empty if it has come to its end."""
        return next((graph.stopped for graph in self.graphs if graph.stopped), self.ended)

    @property
    def per_action(self) -> Counter[str]:
        """Transitions of each action, in the model's order."""
        found: Counter[str] = Counter({a.name: 0 for a in self.model.actions if self.crash or not a.crash})
        for graph in self.graphs:
            found.update(graph.per_action)
        return found

    def standing(self, judged: Judged) -> str:
        """How a verdict stands to the manifest, which speaks of the default scope and above."""
        result = judged.result
        held = result.verdict is Verdict.PROVED and judged.expected is Verdict.REFUTED
        return (
            TOO_SMALL
            if held and not _covers(self.model, self.sizes, self.crash)
            else standing(result.verdict, judged.expected)
        )

    @property
    def code(self) -> Exit:
        """The exit code."""
        marks = [EXPECTED if self.complete else OPEN, *(self.standing(j) for j in self.properties)]
        return code(mark for mark in marks if mark != TOO_SMALL)

    def as_json(self) -> dict[str, Any]:
        """The result of ``explore --json``."""
        return {
            "system": self.model.system,
            "variant": self.model.variant,
            "scope": dict(self.sizes),
            "crash": self.crash,
            "complete": self.complete,
            "stopped": self.stopped,
            "topologies": len(self.graphs),
            "states": sum(g.states for g in self.graphs),
            "representatives": sum(g.representatives for g in self.graphs),
            "transitions": sum(g.transitions for g in self.graphs),
            "stuck": sum(g.stuck for g in self.graphs),
            "depth": max(g.depth for g in self.graphs),
            "per_action": dict(self.per_action),
            "properties": [{**j.as_json(), "standing": self.standing(j)} for j in self.properties],
            "not_judged": dict(self.unjudged),
            "ok": self.code is Exit.OK,
        }


def _covers(model: Model, sizes: Mapping[str, int], crash: bool) -> bool:
    """The exploration is at least what the manifest speaks of."""
    return crash and all(sizes[sort] >= n for sort, n in model.default_scope.items())


def _unjudged(model: Model, sizes: Mapping[str, int], crash: bool, result: Result, complete: bool) -> str | None:
    """Why the exploration says nothing of a property, where the manifest's own scope would."""
    if not complete or _covers(model, sizes, crash):
        return None
    if "vacuous" in result.note:
        return "its premise is never true here"
    if result.verdict is Verdict.REFUTED and any(
        isinstance(p, LifeCycle) and p.name == result.name for p in model.properties
    ):
        return "does not happen here; it may need more objects"
    return None


@click.command()
@click.argument("system")
@click.option("--variant", metavar="V", help="By default the document as written.")
@click.option("--scope", metavar="Sort=n,...", help="How many objects; by default what the manifest speaks of.")
@click.option("--no-symmetry", is_flag=True, help="Count without exploring interchangeable objects once; same numbers.")
@click.option("--no-crash", is_flag=True, help="Leave out crashes.")
@click.option(
    "--engine", type=click.Choice([e.value for e in Engine]), default=Engine.AUTO.value, show_default=True,
    help="Interpret the model's steps, or compile them to machine code, which pays for many states.",
)  # fmt: skip
@click.option(
    "--threads", type=click.IntRange(1, 64), metavar="N", default=1, show_default=True,
    help="Threads of the compiled exploration.",
)  # fmt: skip
@click.option(
    "--max-states", type=click.IntRange(min=1), metavar="N",
    help=f"Stop after about N states; then nothing is proved.  [default: {MOST_INTERPRETED:,} interpreted, {MOST_COMPILED:,} "
    "compiled]",
)  # fmt: skip
@click.option(
    "--memory", type=Size(), metavar="SIZE",
    help="Take no more memory than SIZE (500M, 2G): compiled, states that do not fit go to files; interpreted, it stops.",
)  # fmt: skip
@click.option(
    "--checkpoint", type=click.Path(file_okay=False, path_type=Path), metavar="DIR",
    help="Keep in DIR how far it is, and go on from there; compiled.",
)  # fmt: skip
@click.option(
    "--checkpoint-every", type=click.FloatRange(min=0), metavar="SECONDS", default=60, show_default=True,
    help="How often it is kept, with --checkpoint.",
)  # fmt: skip
@click.option("--counts-only", is_flag=True, help="Count, but judge no property.")
@json_option
def explore(
    system: str,
    variant: str | None,
    scope: str | None,
    no_symmetry: bool,
    no_crash: bool,
    engine: str,
    threads: int,
    max_states: int | None,
    memory: int | None,
    checkpoint: Path | None,
    checkpoint_every: float,
    counts_only: bool,
    json_file: Destination | None,
) -> int:
    """Explore every reachable state of a finite number of objects, and judge every property there.

    States and transitions are counted in full, symmetric ones and self-loops included. An interrupt (Ctrl-C) or SIGTERM ends it with
    what was found so far; nothing is proved then. With --checkpoint the same command goes on from there.
    """
    if checkpoint is not None and engine == Engine.INTERPRETED:
        raise UserError("--checkpoint needs the compiled engine; leave out --engine interpreted")
    context = click.get_current_context()
    if checkpoint is None and context.get_parameter_source("checkpoint_every") is ParameterSource.COMMANDLINE:
        raise UserError("--checkpoint-every goes with --checkpoint DIR; write that as well")
    model = choose.variant(choose.system(system), variant)
    sizes = scopes.scope(model, scope)
    crash = not no_crash
    most = max_states or (MOST_INTERPRETED if engine == Engine.INTERPRETED else MOST_COMPILED)
    graphs: list[Counts] = []
    results: list[Result] = []
    if not math.isfinite(checkpoint_every):
        raise UserError(f"--checkpoint-every {checkpoint_every} is not a time; write a number of seconds")
    saving = Saving(checkpoint, checkpoint_every) if checkpoint is not None else None
    with stoppable() as halt, progress("explore") as say:
        how = Exploring(
            Engine(engine), not no_symmetry, crash, most, threads, memory, saving, halt, progress=exploring(say)
        )
        if counts_only:
            graphs += [Counts.of(how.watch(instance, [])[0]) for instance in instances(model, sizes)]
        else:
            results = examine(model, sizes, how=how, on_found=lambda found: graphs.append(Counts.of(found)))
    complete = not any(g.stopped for g in graphs)
    reasons = {r.name: _unjudged(model, sizes, crash, r, complete) for r in results}
    if results and not crash:
        left_out = [p.name for p in model.properties if p.name not in reasons]
        reasons |= dict.fromkeys(left_out, "speaks of crashes, which were not explored")
    judged = [Judged(r, expected_of_model(model, r.name)) for r in results if reasons[r.name] is None]
    unjudged = {name: reason for name, reason in reasons.items() if reason is not None}
    found = Explored(model, sizes, crash, graphs, judged, unjudged, halt())
    if found.stopped and checkpoint is not None:
        click.echo(
            f"schedproof: how far it is, is in {str(checkpoint)!r}; the same command goes on from there", err=True
        )
    if json_file is not None:
        json_file.write_json(found.as_json())
    if json_file is None or not json_file.is_stdout:
        _print(found)
    return found.code


def _print(found: Explored) -> None:
    model = found.model
    at = scope_text(found.sizes)
    title = f"{model.system} {model.variant} at {at}" + ("" if found.crash else ", without crashes")
    rows = [[action, model.action(action).sentence, n] for action, n in found.per_action.items()]
    table(f"{title}: transitions", ["action", "what happens", "transitions"], rows, right=["transitions"])
    click.echo()
    if found.properties:
        columns = ["property", "kind", "verdict", "expected", "", "seconds"]
        table(f"{title}: properties", columns, [_row(found, j) for j in found.properties], right=["seconds"])
        click.echo()
    for name, reason in found.unjudged.items():
        click.echo(f"not judged: {name}: {reason}")
    for judged in found.properties:
        result = judged.result
        if found.standing(judged) not in (EXPECTED, TOO_SMALL) and result.counterexample is not None:
            click.echo(f"{result.name}: {result.reach}, expected {judged.expected}")
            click.echo("\n".join(f"  {line}" for line in story(model, result.counterexample)))
    if found.ended and found.complete:
        click.echo(f"{found.ended} while promises were judged")
    json = found.as_json()
    if json["representatives"] != json["states"]:
        click.echo(f"{count(json['representatives'], 'representative')} explored for {json['states']} states")
    if json["stuck"]:
        click.echo(f"nothing can happen in {count(json['stuck'], 'state')}")
    least = "" if found.complete else f"{found.stopped}: at least "
    several = f"in {len(found.graphs)} topologies together: " if len(found.graphs) > 1 else ""
    depth = f"greatest depth {json['depth']}" if several else f"depth {json['depth']}"
    click.echo(f"{title}: {several}{least}{count(json['states'], 'state')}, {json['transitions']} transitions, {depth}")


def _row(found: Explored, judged: Judged) -> list[str]:
    result = judged.result
    return [
        result.name,
        result.kind,
        result.reach,
        str(judged.expected),
        found.standing(judged),
        seconds(result.seconds),
    ]
