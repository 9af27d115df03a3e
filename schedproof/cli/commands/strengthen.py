"""``schedproof strengthen``: infers the auxiliary invariants that a proof by induction lacks."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import click

from schedproof.cli import choose, scopes
from schedproof.cli.cluster import cluster_option, require_address, require_no_contradiction, workers_at
from schedproof.cli.errors import Exit
from schedproof.cli.help_text import ending
from schedproof.cli.options import json_option, properties_option, variant_option
from schedproof.cli.output import Destination
from schedproof.cli.progress import progress
from schedproof.cli.stopping import stoppable
from schedproof.cli.tables import count
from schedproof.model.lang import Model
from schedproof.model.lang.properties import WELL_FORMED
from schedproof.model.registry.errors import UserError
from schedproof.model.registry.system import System
from schedproof.proofs.exploration.counterexample_text import counterexample_lines, indented, shown
from schedproof.proofs.exploration.explore import Halt
from schedproof.proofs.induction import provable
from schedproof.proofs.strengthen.source import Names, same, text
from schedproof.proofs.verdict import Counterexample, Verdict, any_number, assuming
from schedproof.proofs.verification.strengthening import Outcome, Strengthening, StrengtheningPool, strengthened
from schedproof.proofs.verification.workers import Workers, for_processes


@click.command(
    epilog=ending(
        "strengthen lease --property one-lease-each",
        ok="every property is proved, with what was inferred",
        different="a property is violated, or two solvers disagree",
        undetermined="nothing that was inferred makes a property inductive",
    )
)
@click.argument("system")
@variant_option()
@properties_option("Strengthen", "all that induction can prove and that are expected to hold")
@click.option("--scope", metavar="SORT=N,...",
              help="Learn from this scope only.  [default: scopes grow until they show nothing new]")  # fmt: skip
@click.option("--max-seconds", type=click.FloatRange(min=0.001), default=300.0, show_default=True, metavar="SECONDS",
              help="Stop the work on a property after this time, proofs and cvc5 included.")  # fmt: skip
@click.option("--without-auxiliary", "alone", is_flag=True, help="Assume no other invariant of the model.")
@click.option("--jobs", type=click.IntRange(min=1), metavar="N", default=os.cpu_count() or 1, show_default="one for each CPU",
              help="Work on N properties at a time.")  # fmt: skip
@cluster_option("Work on properties with workers")
@click.option("--write", is_flag=True, help="Append what was inferred to the file of the model.")
@json_option
def strengthen(
    system: str,
    variant: str | None,
    properties: tuple[str, ...],
    scope: str | None,
    max_seconds: float,
    alone: bool,
    jobs: int,
    cluster: str | None,
    write: bool,
    json_file: Destination | None,
) -> int:
    """Infer auxiliary invariants that make properties provable for any number of objects.

    Candidates are learnt from the reachable states of small scopes, led by counterexamples to induction. At the end z3
    proves everything from scratch, and cvc5 checks it again.

    Properties are worked on at the same time. What was inferred for the first one is assumed for the next two, and so on
    for twice as many, whatever the number of processes.
    """
    if cluster is not None:
        require_no_contradiction(click.get_current_context(), ("jobs",))
        require_address(cluster)
    chosen = choose.system(system)
    model = choose.variants(chosen, (variant,) if variant is not None else ())[0]
    choose.require_model(chosen, [model])
    scopes.properties([(chosen, model)], properties)
    able = provable(model)
    scopes.checkable(properties, able, "strengthen", f"schedproof verify {system}")
    names = _names(chosen, model) if write else Names.of(model)
    others = [name for name in able if name != WELL_FORMED and name not in model.refuted]
    goals = list(properties) or others or [WELL_FORMED]
    sizes = scopes.scope(model, scope) if scope is not None else None
    work = Strengthening(model, goals, alone=alone, scope=sizes, seconds=max_seconds)
    jobs = min(jobs, work.most_at_once)
    in_this_process = jobs == 1 and cluster is None
    with (
        stoppable() if in_this_process else nullcontext(None) as halt,
        _pool(chosen, model, jobs, cluster, halt) as pool,
        progress("strengthen") as report,
    ):
        try:
            work.work(pool, report)
        except KeyboardInterrupt:
            if in_this_process:  # it is the second one
                raise
    results = work.outcomes(missing="interrupted")
    exit_code = Exit.worst(_code(each) for each in results)
    if json_file is not None:
        json_file.write_json({"system": system, "variant": model.variant,
                              "properties": [_as_json(model, each) for each in results], "ok": exit_code is Exit.OK})  # fmt: skip
    if json_file is None or not json_file.is_stdout:
        for each in results:
            _print(model, each, names)
    inferred = work.lemmas
    if write and names is not None and inferred:
        path = Path(model.place.file)
        path.write_text(f"{path.read_text().rstrip()}\n\n{text(names, inferred)}")
        click.echo(
            f"appended {count(len(inferred), 'invariant')} to {path.name}; 'schedproof prove {system}' checks them"
        )
    return exit_code


@contextmanager
def _pool(
    system: System, model: Model, jobs: int, cluster: str | None, halt: Halt | None
) -> Iterator[StrengtheningPool]:
    """What works on the properties of a model; ``halt`` is for this process only.

    Raises:
        ClusterError: the workers of the cluster have other code than this process.
    """
    with workers_at(cluster) as remote:
        if remote is not None:
            from schedproof.proofs.verification.on_cluster import ClusterPool  # loads the compiled engine

            variants = [(model.system, model.variant)]
            yield ClusterPool(remote, [system], variants, strengthened, lambda task: task.title)
            return
        function = strengthened if halt is None else partial(strengthened, halt=halt)
        function, jobs = for_processes(function, [system], jobs)
        with Workers(function, jobs) as workers:
            yield workers


def _names(system: System, model: Model) -> Names:
    """How the file of a model calls it.

    Raises:
        UserError: invariants cannot be appended to the file.
    """
    if not os.access(model.place.file, os.W_OK):
        raise UserError(
            f"--write: {Path(model.place.file).name} is read-only; make it writable, or leave out --write, and paste what is printed"
        )
    names = Names.of(model)
    if names is None or not isinstance(model.properties, list):
        raise UserError(
            f"--write: {Path(model.place.file).name} has no name for this model, or its properties are not a list; "
            "leave out --write, and paste what is printed"
        )
    for other in system.variants.values():
        if other.properties is model.properties and not same(other, model):
            raise UserError(
                f"--write: {other.variant} has the same list of properties as {model.variant}, and would get what is inferred, "
                "too; give each variant its own list, or leave out --write"
            )
        if other.amended is not None and same(other.amended.model, model):
            raise UserError(
                f"--write: {other.variant} amends {model.variant}, and takes no invariant that comes later; leave out --write, and "
                "paste what is printed above the call of amend"
            )
    return names


def _verdict(result: Outcome) -> Verdict:
    """An ill-formed step refutes no other property, as in ``verify``."""
    if result.proved:
        return Verdict.PROVED
    violated = result.violation is not None and result.violation.prop == result.prop
    return Verdict.REFUTED if violated else Verdict.UNDETERMINED


def _why(result: Outcome) -> str:
    return f"{result.violation.prop} is {result.why}" if result.violation is not None else result.why


def _code(result: Outcome) -> Exit:
    if result.proved:
        return Exit.OK
    return Exit.DIFFERENT if result.violation is not None or result.disagree else Exit.UNDETERMINED


def _as_json(model: Model, result: Outcome) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "name": result.prop,
        "verdict": str(_verdict(result)),
        "scopes": dict(result.scopes),
        "complete": result.complete,
        "seconds": round(result.seconds, 4),
        "invariants": [
            {"name": each.prop.name, "says": each.prop.says, "relative_to": list(each.relative_to)}
            for each in result.inferred
        ],
    }
    if result.unproved:
        entry["unproved"] = [{"name": each.name, "says": each.says} for each in result.unproved]
    if result.not_rechecked:
        entry["not_rechecked"] = result.not_rechecked
    if result.proved and model.assuming:
        entry["assuming"] = list(model.assuming)
    if result.why:
        entry["note"] = _why(result)
    run = result.violation.counterexample if result.violation is not None else result.left
    if run is not None:
        entry["counterexample"] = run.as_json()
    return entry


def _print(model: Model, result: Outcome, names: Names | None) -> None:
    heading = f"{model.system} {model.variant} {result.prop}"
    took = f"({result.seconds:.1f} s)"
    if result.violation is not None:
        click.echo(f"{heading}: {_verdict(result)}: {_why(result)} {took}")
        click.echo(indented(counterexample_lines(model, result.violation.counterexample)))
        return
    if result.proved:
        rests = f" with {count(len(result.inferred), 'auxiliary invariant')}" if result.inferred else " without any"
        reach = any_number(result.bounds, "any number of objects") + assuming(tuple(model.assuming))
        click.echo(f"{heading}: proved{rests} ({reach}; {result.seconds:.1f} s)")
    else:
        click.echo(f"{heading}: undetermined: {result.why} {took}")
    if result.scopes:
        explored = "; ".join(f"{scope}: {number}" for scope, number in result.scopes.items())
        some = "the" if result.complete else "some of the"
        click.echo(f"  learnt from {some} states at {explored}")
    for each in result.inferred:
        click.echo(f"  {each.prop.name}: {each.prop.says}")
        relative = ", ".join(each.relative_to)
        click.echo(f"    inductive {f'relative to {relative}' if relative else 'by itself'}")
        if each.excludes is not None:
            click.echo(f"    excludes {_state(model, each.excludes)}")
    if result.not_rechecked:
        click.echo(
            f"  cvc5 had no time for {count(result.not_rechecked, 'obligation')} of this proof; z3 proved all of it"
        )
    for prop in result.unproved:
        click.echo(f"  true in these states, but not proved in time: {prop.name}: {prop.says}")
    if result.left is not None:
        click.echo("  what is left:")
        click.echo(indented(counterexample_lines(model, result.left)))
    if result.inferred and names is not None:
        click.echo()
        click.echo(text(names, [each.prop for each in result.inferred]))


def _state(model: Model, run: Counterexample) -> str:
    """The state before a step, on one line, without what is none, empty or false, and without the state of a machine that has only one."""
    alone = {each.object for each in run.objects if len(model.machine(each.sort).states) == 1}
    texts = []
    for name, fields in (run.start or {}).items():
        parts = [
            f"{field} {shown(value)}"
            for field, value in fields.items()
            if value not in (None, False, []) and (field != "state" or name not in alone)
        ]
        texts.append(f"{name}: {', '.join(parts)}" if parts else name)
    return "; ".join(texts)
