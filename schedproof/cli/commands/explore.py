"""``schedproof explore``: every reachable state at a scope."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from schedproof.cli import choose, scopes
from schedproof.cli.cluster import cluster_option, require_no_contradiction, workers_at
from schedproof.cli.errors import Exit, note
from schedproof.cli.help_text import ending
from schedproof.cli.options import (
    bound_option,
    json_option,
    no_crash_option,
    properties_option,
    scope_option,
    variant_option,
)
from schedproof.cli.output import Destination
from schedproof.cli.progress import exploring, progress
from schedproof.cli.sizes import Size
from schedproof.cli.stopping import stoppable
from schedproof.cli.tables import count, table
from schedproof.cli.verdict_rows import COLUMNS, reasons, rows
from schedproof.cli.verdict_status import EXPECTED, OPEN, code, standing
from schedproof.model.lang import DeadlockFree, LifeCycle, Model
from schedproof.model.lang.properties import WELL_FORMED
from schedproof.model.registry.errors import UserError
from schedproof.model.semantics import bounds_of, instances, range_of, scope_text
from schedproof.proofs.checking.engine import MOST_COMPILED, MOST_INTERPRETED, Engine, Exploring
from schedproof.proofs.checking.model_check import about_crashes, explored
from schedproof.proofs.exploration.counterexample_text import counterexample_lines, indented
from schedproof.proofs.exploration.explore import ExplorationResult
from schedproof.proofs.exploration.limits import Saving
from schedproof.proofs.exploration.liveness import GREATER
from schedproof.proofs.verdict import Result, Verdict
from schedproof.proofs.verification.properties import expected_of_model
from schedproof.proofs.verification.verify import CheckedProperty

if TYPE_CHECKING:
    from schedproof.proofs.cluster import RemoteWorkers

TOO_SMALL = "scope too small"


@dataclass(frozen=True)
class Counts:
    """What is reported of one exploration; its states need not be kept for it."""

    stopped: str
    states: int
    representatives: int
    transitions: int
    stuck: int
    frontier: int
    within: str
    depth: int
    per_action: Counter[str]

    @staticmethod
    def of(exploration: ExplorationResult) -> Counts:
        """Counts what was found."""
        return Counts(
            exploration.stopped,
            exploration.state_count,
            exploration.representatives,
            exploration.transition_count,
            exploration.stuck_count,
            exploration.frontier_count,
            bounds_of(exploration.instance).text if exploration.frontier_count else "",
            exploration.depth,
            exploration.per_action(),
        )


@dataclass(frozen=True)
class Explored:
    """The graphs of one variant at one scope (one for each configuration), and what was checked on them.

    ``declared`` is the variant with its own bounds of integers. ``unchecked`` are the properties that the scope, or the lack of crashes, says nothing about,
    with the reason. ``ended`` says what has ended it all before its time: an interrupt, say.
    """

    model: Model
    declared: Model
    sizes: Mapping[str, int]
    crash: bool
    graphs: Sequence[Counts]
    properties: Sequence[CheckedProperty]
    unchecked: Mapping[str, str]
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
    def within(self) -> str:
        """The bounds of integers, if the exploration took no step beyond them; else empty."""
        return next((graph.within for graph in self.graphs if graph.within), "")

    @property
    def per_action(self) -> Counter[str]:
        """Transitions of each action, in the model's order."""
        counts: Counter[str] = Counter({a.name: 0 for a in self.model.actions if self.crash or not a.crash})
        for graph in self.graphs:
            counts.update(graph.per_action)
        return counts

    def standing(self, checked: CheckedProperty) -> str:
        """How a verdict stands to the manifest, which speaks of the default scope and above."""
        result = checked.result
        held = result.verdict is Verdict.PROVED and checked.expected is Verdict.REFUTED
        return (
            TOO_SMALL
            if held and not _covers(self.model, self.declared, self.sizes, self.crash)
            else standing(result.verdict, checked.expected)
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
            **({"within": self.within, "frontier": sum(g.frontier for g in self.graphs)} if self.within else {}),
            "per_action": dict(self.per_action),
            "properties": [{**j.as_json(), "standing": self.standing(j)} for j in self.properties],
            "not_judged": dict(self.unchecked),
            "ok": self.code is Exit.OK,
        }


def _covers(model: Model, declared: Model, sizes: Mapping[str, int], crash: bool) -> bool:
    """The exploration is at least what the manifest speaks of: as many objects, and bounds of integers as great."""
    for sort, name in declared.bound:
        (low, high), (lowest, highest) = (range_of(each, sort, name) for each in (model, declared))
        if low > lowest or high < highest:
            return False
    return crash and all(sizes[sort] >= n for sort, n in model.default_scope.items())


def _unchecked(
    model: Model, declared: Model, sizes: Mapping[str, int], crash: bool, result: Result, complete: bool
) -> str | None:
    """Why the exploration says nothing of a property, where the manifest's own scope would."""
    if not complete or _covers(model, declared, sizes, crash):
        return None
    if "vacuous" in result.note:
        return "its premise is never true here"
    if result.note.endswith(GREATER):
        return "its goal may lie beyond this bound"
    if result.verdict is Verdict.REFUTED and any(
        isinstance(p, LifeCycle) and p.name == result.name for p in model.properties
    ):
        return "does not happen here; it may need more objects"
    return None


@click.command(
    epilog=ending(
        "explore hived --scope PodGroup=2,Cell=2",
        "explore hived --scope PodGroup=6,Cell=5 --memory 2G --checkpoint progress",
        ok="every verdict is the expected one, or the scope is too small for a counterexample",
        different="a verdict is not the expected one",
        undetermined="a verdict is undetermined, or not all states were found",
    )
)
@click.argument("system")
@variant_option()
@scope_option
@bound_option
@properties_option("Check")
@click.option("--counts-only", is_flag=True, help="Count states and transitions, and check no property.")
@no_crash_option
@click.option(
    "--no-symmetry", is_flag=True, help="Visit every state, also those that differ only by interchangeable objects."
)
@click.option(
    "--engine", type=click.Choice([e.value for e in Engine]), default=Engine.AUTO.value, show_default=True,
    help="Interpret the steps of the model, or compile them; auto compiles where there are many states.",
)  # fmt: skip
@click.option(
    "--threads", type=click.IntRange(1, 64), metavar="N", default=1, show_default=True,
    help="Threads of the compiled engine.",
)  # fmt: skip
@cluster_option("Explore by compiled code with workers")
@click.option(
    "--max-states", type=click.IntRange(min=1), metavar="N",
    help=f"Stop after about N states.  [default: {MOST_INTERPRETED:,} interpreted, {MOST_COMPILED:,} compiled, as many for each worker]",
)  # fmt: skip
@click.option(
    "--memory", type=Size(), metavar="SIZE",
    help="Use at most SIZE of memory, such as 500M or 2G. The compiled engine moves states to files; the interpreter stops. With --cluster: SIZE for each worker.",
)  # fmt: skip
@click.option(
    "--checkpoint", type=click.Path(file_okay=False, path_type=Path), metavar="DIRECTORY",
    help="Save the progress in DIRECTORY, and resume from it. Compiled engine only.",
)  # fmt: skip
@click.option(
    "--checkpoint-every", type=click.FloatRange(min=0), metavar="SECONDS", default=60, show_default=True,
    help="With --checkpoint: the interval between two savings.",
)  # fmt: skip
@json_option
def explore(
    system: str,
    variant: str | None,
    scope: str | None,
    bounds: tuple[str, ...],
    properties: tuple[str, ...],
    counts_only: bool,
    no_crash: bool,
    no_symmetry: bool,
    engine: str,
    threads: int,
    cluster: str | None,
    max_states: int | None,
    memory: int | None,
    checkpoint: Path | None,
    checkpoint_every: float,
    json_file: Destination | None,
) -> int:
    """Explore every reachable state at a scope, and check every property.

    States and transitions are counted in full, symmetric states and self-loops included. An interrupt (Ctrl-C) or SIGTERM
    ends the exploration: the counts so far are printed, and no property counts as proved. With --checkpoint the same
    command resumes it.
    """
    if checkpoint is not None and engine == Engine.INTERPRETED:
        raise UserError("--checkpoint: the interpreter cannot save its progress; leave out --engine interpreted")
    context = click.get_current_context()
    if cluster is not None:
        require_no_contradiction(context, ("threads",))
        if engine == Engine.INTERPRETED:
            raise UserError("--cluster: its workers run compiled code; leave out --engine interpreted")
    if checkpoint is None and context.get_parameter_source("checkpoint_every") is ParameterSource.COMMANDLINE:
        raise UserError(
            "--checkpoint-every: has no effect without --checkpoint; add --checkpoint DIRECTORY, or leave it out"
        )
    if properties and counts_only:
        raise UserError("--property, --counts-only: they contradict each other; leave out one of them")
    chosen = choose.system(system)
    declared = choose.model(chosen, variant)
    model = scopes.bounded(declared, bounds)
    scopes.properties([(chosen, model)], properties)
    able = {WELL_FORMED, *(p.name for p in model.properties)}
    scopes.checkable(properties, able, "explore", f"schedproof verify {system} --variant {model.variant}")
    sizes = scopes.scope(model, scope)
    crash = not no_crash
    requested = properties or tuple(p.name for p in model.properties)
    left_out = [name for name in requested if name in about_crashes(model)] if no_crash else []
    asked = [name for name in requested if name not in left_out]
    graphs: list[Counts] = []
    results: list[Result] = []
    if not math.isfinite(checkpoint_every):
        raise UserError(
            f"--checkpoint-every: {checkpoint_every} is not a finite number of seconds; write, for example, 60"
        )
    saving = Saving(checkpoint, checkpoint_every) if checkpoint is not None else None
    with workers_at(cluster) as workers, stoppable() as halt, progress("explore") as report_progress:
        most = MOST_INTERPRETED if engine == Engine.INTERPRETED else MOST_COMPILED * (len(workers) if workers else 1)
        how = Exploring(
            Engine(engine),
            not no_symmetry,
            crash,
            max_states or most,
            threads,
            memory,
            saving,
            halt,
            progress=exploring(report_progress, lambda: _load(workers)),
            workers=workers,
        )
        if counts_only:
            graphs += [Counts.of(how.watch(instance, [])[0]) for instance in instances(model, sizes)]
        else:
            results = explored(
                model,
                sizes,
                only=[WELL_FORMED, *asked] if properties else (),
                how=how,
                on_found=lambda result: graphs.append(Counts.of(result)),
            )
    complete = not any(g.stopped for g in graphs)
    reasons = {r.name: _unchecked(model, declared, sizes, crash, r, complete) for r in results}
    if results:
        reasons |= dict.fromkeys(left_out, "is about crashes, which were not explored")
    checked = [
        CheckedProperty(r, expected_of_model(model, r.name), assumes=model.assumptions_of(r.name))
        for r in results
        if reasons[r.name] is None
    ]
    unchecked = {name: reason for name, reason in reasons.items() if reason is not None}
    exploration = Explored(model, declared, sizes, crash, graphs, checked, unchecked, halt())
    if exploration.stopped and checkpoint is not None:
        click.echo(f"schedproof: the exploration is kept in {str(checkpoint)!r}; the same command resumes it", err=True)
    if json_file is not None:
        json_file.write_json(exploration.as_json())
    for line in workers.load.slow if workers is not None and workers.load is not None else ():
        note(line)
    if json_file is None or not json_file.is_stdout:
        _print(exploration, _load(workers))
    return exploration.code


def _load(workers: RemoteWorkers | None) -> str:
    """What workers have done in their latest search; empty without any."""
    return "" if workers is None or workers.load is None else f"{len(workers)} workers: {workers.load.text}"


def _print(explored: Explored, load: str) -> None:
    model = explored.model
    at = scope_text(explored.sizes) + (f" within {explored.within}" if explored.within else "")
    title = f"{model.system} {model.variant} at {at}" + ("" if explored.crash else ", without crashes")
    transitions = [[action, model.action(action).sentence, n] for action, n in explored.per_action.items()]
    table(f"{title}: transitions", ["action", "what happens", "transitions"], transitions, right=["transitions"])
    click.echo()
    if explored.properties:
        marked = [(each, explored.standing(each)) for each in explored.properties]
        table(f"{title}: properties", COLUMNS, rows(marked), right=["seconds"])
        click.echo()
    for name, reason in explored.unchecked.items():
        click.echo(f"not checked: {name}: {reason}")
    unexpected = [each for each in explored.properties if explored.standing(each) not in (EXPECTED, TOO_SMALL)]
    for line, checked in reasons(unexpected):
        if checked is not None and checked.result.counterexample is not None:
            click.echo(line)
            click.echo(indented(counterexample_lines(model, checked.result.counterexample)))
        elif checked is None or checked.result.vacuous:  # of others, the last line says why the exploration stopped
            click.echo(line)
    if explored.ended and explored.complete:
        click.echo(f"{explored.ended} while properties were checked")
    if load:
        click.echo(load)
    json = explored.as_json()
    if json["representatives"] != json["states"]:
        click.echo(f"{count(json['representatives'], 'representative')} explored for {json['states']} states")
    if explored.within:
        frontier = count(json["frontier"], "state" if json["representatives"] == json["states"] else "representative")
        click.echo(f"steps from {frontier} lead beyond {explored.within}, and were not explored")
    if json["stuck"]:
        ends = [
            checked.result.name
            for checked in explored.properties
            if checked.result.kind == DeadlockFree.kind and checked.result.verdict is Verdict.PROVED
        ]
        stuck = f"no action is enabled in {count(json['stuck'], 'state')}"
        click.echo(f"{stuck}: in each the system has ended ({ends[0]} holds)" if ends else f"deadlock: {stuck}")
    least = "" if explored.complete else f"{explored.stopped}: at least "
    several = f"in {len(explored.graphs)} configurations together: " if len(explored.graphs) > 1 else ""
    depth = f"greatest depth {json['depth']}" if several else f"depth {json['depth']}"
    click.echo(f"{title}: {several}{least}{count(json['states'], 'state')}, {json['transitions']} transitions, {depth}")
