"""``schedproof generate``: test sequences, and what they cover."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING

import click

from schedproof.cli import choose, scopes
from schedproof.cli.cluster import cluster_option, require_address, require_no_contradiction, workers_at
from schedproof.cli.errors import Exit
from schedproof.cli.folders import OutputFolder
from schedproof.cli.help_text import ending
from schedproof.cli.options import bound_option, directory_option, json_option, scope_option, variant_option
from schedproof.cli.output import Destination
from schedproof.cli.progress import exploring, progress
from schedproof.cli.tables import count, table
from schedproof.model.lang import Model
from schedproof.model.registry.errors import UserError
from schedproof.model.registry.system import System
from schedproof.model.semantics import scope_text
from schedproof.proofs.coverage import (
    REPORT,
    Cover,
    Goal,
    Proof,
    Suite,
    Unreached,
    Why,
    as_json,
    files_of,
    left_open,
    unreached,
)
from schedproof.proofs.coverage import generate as make
from schedproof.proofs.coverage.unreached import MOST_SECONDS
from schedproof.proofs.refinement.replay import replays_of
from schedproof.proofs.verification.sequences import SequencePool, all_texts, checked, tasks_of, writers

if TYPE_CHECKING:
    from schedproof.proofs.cluster import RemoteWorkers

MOST_STATES = 100_000
"""Of each configuration; sequences need not go far."""

MOST_SHOWN = 50
"""Goals that are not covered, on the screen."""


@click.command(
    epilog=ending(
        "generate hived --cover transitions -o suite",
        "generate hived --cover transitions --of graph --max-length 20 -o suite",
        ok="every goal is covered, or unreachable at the scope",
        different="an implementation or an engine disagrees with the model",
        undetermined="for a goal it is undetermined whether it is reachable",
    )
)
@click.argument("system")
@click.option(
    "--cover", "kind", type=click.Choice([c.value for c in Cover]), required=True, help="What the sequences cover."
)
@click.option("--of", "source", type=click.Choice(["machines", "graph"]), default="machines", show_default=True,
              help="graph: cover each step from each reachable state; only with --cover transitions.")  # fmt: skip
@variant_option()
@scope_option
@bound_option
@click.option(
    "--max-length", type=click.IntRange(min=1), metavar="N", help="Steps of one sequence.  [default: no limit]"
)
@click.option("--max-states", type=click.IntRange(min=1), metavar="N", default=MOST_STATES, show_default=True,
              help="Stop exploring each configuration after N states.")  # fmt: skip
@click.option(
    "--no-prove", is_flag=True, help="Do not prove that unreached goals are unreachable for any number of objects."
)
@click.option("--replay", is_flag=True, help="Replay each sequence on the implementations of this project.")
@click.option("--jobs", type=click.IntRange(min=1), metavar="N", default=os.cpu_count() or 1, show_default="one for each CPU",
              help="Replay sequences in N processes at a time.")  # fmt: skip
@cluster_option("Replay sequences with workers")
@directory_option
@json_option
def generate(
    system: str,
    kind: str,
    source: str,
    variant: str | None,
    scope: str | None,
    bounds: tuple[str, ...],
    max_length: int | None,
    max_states: int,
    no_prove: bool,
    replay: bool,
    jobs: int,
    cluster: str | None,
    directory: str,
    json_file: Destination | None,
) -> int:
    """Generate test sequences that cover a model.

    Each sequence is a run from the initial state, written as JSON Lines and as an ITF trace; 'schedproof validate' reads
    both. Each sequence is replayed by the validator first. DIRECTORY/coverage.json lists the covered goals, and why others are not covered. Sequences are short, but need
    not be the shortest. With --of graph their cost is minimal, unless --max-length limits them: one for each step, and
    one for each sequence.
    """
    if cluster is not None:
        require_no_contradiction(click.get_current_context(), ("jobs",))
        require_address(cluster)
    chosen = choose.system(system)
    model = scopes.bounded(choose.model(chosen, variant), bounds)
    sizes = scopes.scope(model, scope)
    cover, of_graph = Cover(kind), source == "graph"
    if of_graph and cover is not Cover.TRANSITIONS:
        raise UserError(f"--of: graph has no {kind} to cover; write --cover transitions, or leave out --of graph")
    folder = OutputFolder(directory)
    with workers_at(cluster) as remote:
        remote_pool = _pool(remote, chosen, model)
        with progress("generate") as report_progress:
            suite = make(
                model,
                sizes,
                cover,
                of_graph=of_graph,
                longest=max_length,
                limit=max_states,
                progress=exploring(report_progress),
                doing=report_progress,
            )
            missing = unreached(suite, 0 if no_prove else MOST_SECONDS, report_progress)
        tasks = tasks_of(suite, replayed=replay)
        processes = (
            writers(chosen, jobs=max(1, min(jobs, len(tasks)))) if remote_pool is None else nullcontext(remote_pool)
        )
        with processes as pool, progress("generate") as report_progress:
            texts = all_texts(tasks, pool, report_progress)
    replayed = list(replays_of(chosen, model)) if replay else []
    folder.write(files_of(suite, missing, texts))
    result = {**as_json(suite, missing), "scope": dict(sizes), "replayed": replayed}
    if json_file is not None:
        json_file.write_json(result)
    if json_file is None or not json_file.is_stdout:
        at = scope_text(sizes)
        _print(suite, missing, f"{model.system} {model.variant} at {at}", replayed)
        click.echo(f"written to {directory}: {count(len(suite.walks), 'sequence')} and {REPORT}")
    return Exit.UNDETERMINED if left_open(suite, missing) else Exit.OK


def _pool(remote: RemoteWorkers | None, system: System, model: Model) -> SequencePool | None:
    """The workers of a cluster for sequences; None without one.

    Raises:
        ClusterError: they have other code than this process.
    """
    if remote is None:
        return None
    from schedproof.proofs.verification.on_cluster import ClusterPool  # loads the compiled engine

    variants = [(model.system, model.variant)]
    return ClusterPool(remote, [system], variants, checked, lambda task: f"sequences from {task.first} on")


def _print(suite: Suite, missing: Sequence[Unreached], title: str, replayed: Sequence[str]) -> None:
    of = "graph" if suite.of_graph else "machines"
    columns = ["", "goals", "reached", "unreachable", "of these proved", "not reached"]
    click.echo(f"{title}: {suite.cover.value} of the {of}")  # a small table would break it
    table("", columns, _rows(suite, missing), right=columns[1:])
    click.echo()
    if missing:
        rows = [[one.goal.name, one.why.value, _proof(one)] for one in missing[:MOST_SHOWN]]
        table("not covered", ["goal", "why", "for any number of objects"], rows)
        if len(missing) > MOST_SHOWN:
            click.echo(f"... and {len(missing) - MOST_SHOWN} more, in {REPORT}")
        click.echo()
    takers = ["the validator", *replayed]
    last = f" and {takers.pop()}" if len(takers) > 1 else ""
    if suite.walks:
        click.echo(f"replayed: every sequence is green in {', '.join(takers)}{last}")
    click.echo(_summary(suite))


def _proof(one: Unreached) -> str:
    if one.why is Why.TOO_FAR:
        return f"needs {count(one.least or 0, 'step')}"
    return {Proof.PROVED: "proved", Proof.OPEN: "not proved", Proof.NOT_ASKED: ""}[one.proof]


def _rows(suite: Suite, missing: Sequence[Unreached]) -> list[list[object]]:
    """The numbers of each sort, where goals are of sorts."""
    if suite.of_graph:
        reached = len(suite.reached)
        return [["steps of the graph", suite.goal_count, reached, 0, 0, suite.goal_count - reached]]

    def sort(goal: Goal) -> str:
        return str(goal.rows[0].sort) if goal.rows else goal.sort or "actions"

    covered = suite.reached
    goals_of_kind = Counter(sort(goal) for goal in suite.goals)
    reached_of = Counter(sort(goal) for n, goal in enumerate(suite.goals) if n in covered)
    never = Counter(sort(one.goal) for one in missing if one.why is Why.UNREACHABLE)
    proved = Counter(sort(one.goal) for one in missing if one.proof is Proof.PROVED)
    rows: list[list[object]] = [
        [name, n, reached_of[name], never[name], proved[name], n - reached_of[name] - never[name]]
        for name, n in goals_of_kind.items()
    ]
    if len(rows) > 1:
        rows.append(["all", *(sum(int(str(row[i])) for row in rows) for i in range(1, 6))])
    return rows


def _summary(suite: Suite) -> str:
    early = "" if suite.complete else "exploration stopped early: "
    early += f"within {suite.within}: " if suite.within else ""
    covered = f"{early}{len(suite.reached)} of {count(suite.goal_count, 'goal')} covered"
    made = f"{count(len(suite.walks), 'sequence')}, {count(suite.steps, 'step')}"
    if suite.of_graph and suite.longest is None:
        return f"{covered} by {made}: no suite costs less, in steps and one for each sequence"
    if suite.is_shortest:
        return f"{covered} by {made}: no suite has fewer steps"
    return f"{covered} by {made}: greedy, not the shortest; every suite needs {suite.farthest} steps or more"
