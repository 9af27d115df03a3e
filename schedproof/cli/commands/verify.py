"""``schedproof verify``: the main job."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path

import click

from schedproof.cli import choose, scopes
from schedproof.cli.ci.annotations import workflow_commands
from schedproof.cli.ci.code_quality import code_quality
from schedproof.cli.ci.repository import Repository
from schedproof.cli.ci.sarif import sarif
from schedproof.cli.cluster import cluster_option, require_address, require_no_contradiction
from schedproof.cli.errors import Exit, fail, note
from schedproof.cli.help_text import ending
from schedproof.cli.junit import junit
from schedproof.cli.options import json_option, junit_option, properties_option, variants_option
from schedproof.cli.output import Destination, OutputFile, spare
from schedproof.cli.summary import summary
from schedproof.cli.tables import count, table
from schedproof.cli.verdict_rows import COLUMNS, lemma_hint, reasons, rows
from schedproof.cli.verdict_status import code, conclusion, reached, standing, standings
from schedproof.cli.verifying import work
from schedproof.model.registry import discovery
from schedproof.model.registry.errors import UserError
from schedproof.model.registry.manifest import MANIFEST
from schedproof.model.registry.system import System
from schedproof.proofs.cache import refusal
from schedproof.proofs.exploration.counterexample_text import counterexample_lines, indented
from schedproof.proofs.verdict import Verdict
from schedproof.proofs.verification.verify import CheckedProperty, Run, VariantReport, plan


@click.command(
    epilog=ending(
        "verify hived",
        "verify --manifest schedproof.toml --junit verify.xml --summary summary.md",
        ok="every verdict is the expected one",
        different="a verdict is not the expected one, or two engines disagree",
        undetermined="a verdict is undetermined, or missing after an interrupt",
    )
)
@click.argument("systems", nargs=-1, metavar="[SYSTEM]...")
@click.option("--manifest", "manifest", type=click.Path(path_type=Path), metavar="FILE",
              help="Check the systems of this schedproof.toml; fail if there is no such file.")  # fmt: skip
@variants_option()
@properties_option("Check", former=("--only",))
@click.option("--jobs", type=click.IntRange(min=1), metavar="N", default=os.cpu_count() or 1, show_default="one for each CPU",
              help="Work in N processes at a time.")  # fmt: skip
@cluster_option("Work with workers")
@click.option("--no-cache", is_flag=True, envvar="SCHEDPROOF_NO_CACHE",
              help="Check everything, and use no verdicts of earlier runs.")  # fmt: skip
@click.option("--interpretations", is_flag=True,
              help="Also try each interpretation of a document the other way.")  # fmt: skip
@json_option
@junit_option
@click.option("--summary", "summary_file", type=OutputFile(), metavar="FILE",
              help="Write a Markdown summary; - is standard output.")  # fmt: skip
@click.option("--sarif", "sarif_file", type=OutputFile(), metavar="FILE",
              help="Write a SARIF report for code scanning; - is standard output.")  # fmt: skip
@click.option("--code-quality", "quality_file", type=OutputFile(), metavar="FILE",
              help="Write a code quality report of GitLab; - is standard output.")  # fmt: skip
@click.option("--annotations", is_flag=True,
              help="Also print workflow commands: GitHub shows them as errors at lines of the model.")  # fmt: skip
def verify(
    systems: tuple[str, ...],
    manifest: Path | None,
    variants: tuple[str, ...],
    properties: tuple[str, ...],
    jobs: int,
    cluster: str | None,
    no_cache: bool,
    interpretations: bool,
    json_file: Destination | None,
    junit_file: Destination | None,
    summary_file: Destination | None,
    sarif_file: Destination | None,
    quality_file: Destination | None,
    annotations: bool,
) -> int:
    """Check every property, and compare each verdict with the expected one.

    The manifest of a system says which properties each variant is expected to violate. Without SYSTEM, verify checks the
    systems of your schedproof.toml; without a schedproof.toml, all systems. In CI, name the file with --manifest: then a
    job in the wrong directory fails. An interrupt ends the work: the verdicts so far are printed and written, marked
    incomplete.
    """
    if cluster is not None:
        require_no_contradiction(click.get_current_context(), ("jobs",))
        require_address(cluster)
    results = (json_file, junit_file, summary_file, sarif_file, quality_file)
    spare([manifest], *results)
    on_stdout = next((each for each in results if each is not None and each.is_stdout), None)
    if annotations and on_stdout is not None:
        raise UserError(
            f"--annotations, {on_stdout.option}: both write to standard output; write a file's name after {on_stdout.option}"
        )
    chosen, unusable = (choose.systems_of(manifest, systems), 0) if manifest is not None else choose.systems(systems)
    if manifest is None and not systems:
        _note_without_manifest(chosen)
    among = [(system, model) for system in chosen for model in system.variants.values()]
    if variants:
        among = scopes.variants(among, variants)
    if properties:
        scopes.properties(among, properties)
    if not no_cache and (refused := refusal()):
        fail(refused, Exit.OK)
    began = time.perf_counter()
    plans = plan(chosen, only=properties, variants=variants, cached=not no_cache, interpretations=interpretations)
    run = Run(plans)
    if not run.total:
        raise UserError(
            "--variant, --property: no variant of these has a property of these; leave out one of the two options"
        )
    work(run, plans, jobs=jobs, cached=not no_cache, cluster=cluster)
    took = time.perf_counter() - began
    reports = run.reports()
    incomplete = run.verdicts < run.total
    exit_code = Exit.worst([code(standings(reports)), Exit.UNDETERMINED if incomplete else Exit.OK])
    if json_file is not None:
        whole = {"incomplete": True} if incomplete else {}
        json_file.write_json({"systems": [r.as_json() for r in reports], "ok": exit_code is Exit.OK, **whole})
    by_name = {system.name: system for system in chosen}
    repository = Repository.around(Path.cwd())
    if junit_file is not None:
        junit_file.write(junit(reports, by_name))
    if summary_file is not None:
        summary_file.write(summary(reports, by_name))
    if sarif_file is not None:
        sarif_file.write_json(sarif(reports, by_name, repository))
    if quality_file is not None:
        quality_file.write_json(code_quality(reports, by_name, repository))
    if on_stdout is None:
        _print(reports, by_name, took)
    if annotations:
        for line in workflow_commands(reports, by_name, repository):
            click.echo(line)
    return Exit.USAGE if unusable and exit_code is Exit.OK else exit_code


def _note_without_manifest(chosen: list[System]) -> None:
    """Says which systems are checked if nobody named any: in the wrong directory these are not the user's."""
    if discovery.find(Path.cwd()) is None:
        names = ", ".join(system.name for system in chosen)
        note(
            f"no {MANIFEST} in this directory or above it in the repository; checking {count(len(chosen), 'built-in system')}: {names}"
        )


def _print(reports: list[VariantReport], systems: Mapping[str, System], took: float) -> None:
    for report in reports:
        at = f"{report.system} {report.variant}"
        marked = [(each, standing(each.result.verdict, each.expected)) for each in report.properties]
        table(at, COLUMNS, rows(marked), right=["seconds"])
        click.echo(f"{at}: {reached(report.properties)}")
        if idle := _never(report):
            click.echo(idle)
        click.echo()
    for report in reports:
        model = systems[report.system].variants[report.variant]
        printed: dict[tuple[str, ...], str] = {}
        for line, checked in reasons([each for each in report.properties if not each.as_expected]):
            click.echo(f"{report.system} {report.variant} {line}")
            if checked is not None and checked.result.counterexample is not None:
                lines = counterexample_lines(model, checked.result.counterexample)
                first = printed.setdefault(tuple(lines), checked.result.name)
                same = first != checked.result.name
                click.echo(indented([f"The same counterexample as for {first}."] if same else lines))
            click.echo()
        undetermined = {each.result.name: each.result.note for each in report.properties if _is_open(each)}
        for line in lemma_hint(model, undetermined):
            click.echo(f"{line}\n")
    click.echo(f"{conclusion(reports)} ({took:.1f} s)")


def _is_open(checked: CheckedProperty) -> bool:
    return checked.result.verdict is Verdict.UNDETERMINED and not checked.as_expected


def _never(report: VariantReport) -> str:
    """The actions and rules that never happened in the exploration, in one line; "" if all did, or it is unknown."""
    unfired = next((each.result.unfired for each in report.properties if each.result.unfired is not None), None)
    if unfired is None or not unfired.text:
        return ""
    return f"{report.system} {report.variant}: never {unfired.where}: {unfired.text}"
