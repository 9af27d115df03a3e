"""``schedproof verify``: the main job."""

from __future__ import annotations

import os
import time

import click

from schedproof.cli import choose, scopes
from schedproof.cli.errors import Exit
from schedproof.cli.judging import EXPECTED, code, reached, standing, standings
from schedproof.cli.junit import junit
from schedproof.cli.output import Destination, OutputFile, distinct, json_option
from schedproof.cli.progress import progress
from schedproof.cli.summary import summary
from schedproof.cli.tables import count, seconds, table
from schedproof.proofs.exploration.counterexample_text import story
from schedproof.proofs.verification.verify import Judged, VariantReport, verifiers
from schedproof.proofs.verification.verify import verify as verify_systems


@click.command()
@click.argument("systems", nargs=-1, metavar="[SYSTEM]...")
@click.option("--only", multiple=True, metavar="PROPERTY", help="Just this property; may be repeated.")
@click.option("--jobs", type=click.IntRange(min=1), metavar="N", default=os.cpu_count() or 1, show_default="one for each CPU",
              help="Work in N processes at a time; with 1, in this one.")  # fmt: skip
@json_option
@click.option("--junit", "junit_file", type=OutputFile(), metavar="FILE", help="Write a JUnit report for a CI server.")
@click.option("--summary", "summary_file", type=OutputFile(), metavar="FILE", help="Write Markdown for a CI page.")
def verify(
    systems: tuple[str, ...],
    only: tuple[str, ...],
    jobs: int,
    json_file: Destination | None,
    junit_file: Destination | None,
    summary_file: Destination | None,
) -> int:
    """Judge every property of every variant, and compare with what its manifest expects.

    Without SYSTEM: those of your schedproof.toml, and where there is none all of the project. Exits with 0 if every verdict is the expected one.
    """
    distinct(json_file, junit_file, summary_file)
    chosen, unusable = choose.systems(systems)
    if only:
        scopes.properties([(system, model) for system in chosen for model in system.variants.values()], only)
    began = time.perf_counter()
    with verifiers(chosen, only=only, jobs=jobs) as workers, progress("verify") as say:
        reports = verify_systems(chosen, only=only, progress=say, workers=workers)
    took = time.perf_counter() - began
    found = code(standings(reports))
    if json_file is not None:
        json_file.write_json({"systems": [r.as_json() for r in reports], "ok": found is Exit.OK})
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
    marks = standings(reports)
    good = sum(mark == EXPECTED for mark in marks)
    says = "as expected" if good == len(marks) else "NOT as expected"
    click.echo(f"{says}: {good} of {count(len(marks), 'verdict')} are what the manifests say ({took:.1f} s)")


def _row(judged: Judged) -> list[str]:
    result = judged.result
    mark = standing(result.verdict, judged.expected)
    return [result.name, result.kind, result.reach, str(judged.expected), mark, seconds(result.seconds)]
