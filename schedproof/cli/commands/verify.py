"""``schedproof verify``: the main job."""

from __future__ import annotations

import os
import time

import click

from schedproof.cli import choose, scopes
from schedproof.cli.errors import Exit, fail
from schedproof.cli.judging import code, conclusion, reached, standing, standings
from schedproof.cli.junit import junit
from schedproof.cli.output import Destination, OutputFile, distinct, json_option
from schedproof.cli.progress import verifying
from schedproof.cli.summary import summary
from schedproof.cli.tables import seconds, table
from schedproof.model.registry.errors import UserError
from schedproof.proofs.cache import refusal
from schedproof.proofs.exploration.counterexample_text import story
from schedproof.proofs.verification.durations import keep_seconds
from schedproof.proofs.verification.verdict_cache import VERDICTS
from schedproof.proofs.verification.verify import Judged, Run, VariantReport, plan, verifiers


@click.command()
@click.argument("systems", nargs=-1, metavar="[SYSTEM]...")
@click.option("--only", multiple=True, metavar="PROPERTY", help="Just this property; may be repeated.")
@click.option("--variant", "variants", multiple=True, metavar="VARIANT", help="Just this variant; may be repeated.")
@click.option("--jobs", type=click.IntRange(min=1), metavar="N", default=os.cpu_count() or 1, show_default="one for each CPU",
              help="Work in N processes at a time; with 1, in this one.")  # fmt: skip
@click.option("--no-cache", is_flag=True, envvar="SCHEDPROOF_NO_CACHE",
              help="Check all anew, also what an earlier run has found for the same model with the same versions.")  # fmt: skip
@json_option
@click.option("--junit", "junit_file", type=OutputFile(), metavar="FILE", help="Write a JUnit report for a CI server.")
@click.option("--summary", "summary_file", type=OutputFile(), metavar="FILE", help="Write Markdown for a CI page.")
def verify(
    systems: tuple[str, ...],
    only: tuple[str, ...],
    variants: tuple[str, ...],
    jobs: int,
    no_cache: bool,
    json_file: Destination | None,
    junit_file: Destination | None,
    summary_file: Destination | None,
) -> int:
    """Check every property of every variant, and compare with what its manifest expects.

    Without SYSTEM: those of your schedproof.toml, and where there is none all of the project. Exits with 0 if every verdict is the expected one.
    An interrupt ends the work. The verdicts that were reached are printed and written, marked incomplete, and the exit code is 3.
    """
    distinct(json_file, junit_file, summary_file)
    chosen, unusable = choose.systems(systems)
    among = [(system, model) for system in chosen for model in system.variants.values()]
    if variants:
        among = scopes.variants(among, variants)
    if only:
        scopes.properties(among, only)
    if not no_cache and (refused := refusal()):
        fail(refused, Exit.OK)
    began = time.perf_counter()
    plans = plan(chosen, only=only, variants=variants, cached=not no_cache)
    run = Run(plans)
    if not run.total:
        raise UserError(
            "nothing can be checked: none of these variants has one of these properties; name other variants or properties"
        )
    try:
        with verifiers(plans, jobs=jobs) as workers, verifying(run, jobs) as (say, complete):
            for report in run.work(workers, say):
                complete(f"{report.system} {report.variant}: {conclusion([report])} ({report.seconds:.1f} s)")
    except KeyboardInterrupt:
        if not run.verdicts:
            raise
    finally:
        if not no_cache:
            keep_seconds(run.seconds)
            VERDICTS.shrink()
    took = time.perf_counter() - began
    reports = run.reports()
    incomplete = run.verdicts < run.total
    found = Exit.worst([code(standings(reports)), Exit.UNDETERMINED if incomplete else Exit.OK])
    if json_file is not None:
        whole = {"incomplete": True} if incomplete else {}
        json_file.write_json({"systems": [r.as_json() for r in reports], "ok": found is Exit.OK, **whole})
    if junit_file is not None:
        junit_file.write(junit(reports))
    if summary_file is not None:
        summary_file.write(summary(reports))
    if not any(d is not None and d.is_stdout for d in (json_file, junit_file, summary_file)):
        _print(reports, took)
    return Exit.USAGE if unusable and found is Exit.OK else found


def _print(reports: list[VariantReport], took: float) -> None:
    for report in reports:
        rows = [_row(judged) for judged in report.properties]
        columns = ["property", "kind", "verdict", "expected", "", "seconds"]
        table(f"{report.system} {report.variant}", columns, rows, right=["seconds"])
        click.echo(f"{report.system} {report.variant}: {reached(report.properties)}")
        click.echo()
    for report in reports:
        model = choose.variant(choose.system(report.system), report.variant)
        for judged in report.properties:
            if not judged.as_expected:
                click.echo(
                    f"{report.system} {report.variant} {judged.result.name}: {judged.result.reach}, expected {judged.expected}"
                )
                if judged.result.counterexample is not None:
                    click.echo("\n".join(f"  {line}" for line in story(model, judged.result.counterexample)))
                click.echo()
    click.echo(f"{conclusion(reports)} ({took:.1f} s)")


def _row(judged: Judged) -> list[str]:
    result = judged.result
    mark = standing(result.verdict, judged.expected)
    took = "cached" if judged.cached else seconds(result.seconds)
    return [result.name, result.kind, result.reach, str(judged.expected), mark, took]
