"""``schedproof report``: verdicts, counterexamples, findings, documents and pictures as pages of HTML."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from schedproof.cli import choose, scopes
from schedproof.cli.errors import Exit, fail
from schedproof.cli.folders import OutputFolder, Replaceable
from schedproof.cli.help_text import ending
from schedproof.cli.options import json_option, variants_option
from schedproof.cli.output import STDOUT, Destination
from schedproof.cli.progress import progress
from schedproof.cli.tables import count
from schedproof.cli.verdict_status import code, conclusion, standings
from schedproof.cli.verifying import SystemFindings, findings_of, work
from schedproof.diagrams.gallery import pictures
from schedproof.diagrams.report.content import Content, SystemContent
from schedproof.diagrams.report.earlier import MADE_BY, changes, is_report, is_report_file, read, verdicts
from schedproof.diagrams.report.one_file import one_file
from schedproof.diagrams.report.pages import Site
from schedproof.diagrams.report.paths import INDEX, require_distinct
from schedproof.model.ledger.gaps import of_system
from schedproof.model.registry.errors import UserError
from schedproof.model.registry.system import System
from schedproof.proofs.cache import refusal
from schedproof.proofs.verification.placed import placed
from schedproof.proofs.verification.verify import Run, VariantReport, plan

FOLDER = "report"
"""Where the pages are written by default."""

FILE = "report.html"
"""The one file by default."""


@click.command(
    epilog=ending(
        "report hived -o report",
        "report --single-file -o report.html --earlier main.html",
        ok="every verdict is the expected one",
        different="a verdict is not the expected one, or two engines disagree",
        undetermined="a verdict is undetermined, or missing after an interrupt",
    )
)
@click.argument("systems", nargs=-1, metavar="[SYSTEM]...")
@click.option("-o", "--output", "output", metavar="DIRECTORY",
              help=f"Write to this directory; with --single-file, to this file.  [default: {FOLDER}, or {FILE}]")  # fmt: skip
@click.option("--single-file", is_flag=True, help="Write one file instead of a directory.")
@click.option("--earlier", "since", metavar="FILE",
              help="Show what changed since this report, a file or a directory, or since this file of verify --json.")  # fmt: skip
@click.option("--no-findings", is_flag=True, help="Leave out the findings: they take longest.")
@variants_option()
@click.option("--jobs", type=click.IntRange(min=1), metavar="N", default=os.cpu_count() or 1, show_default="one for each CPU",
              help="Work in N processes at a time.")  # fmt: skip
@click.option("--no-cache", is_flag=True, envvar="SCHEDPROOF_NO_CACHE",
              help="Check everything, and use no verdicts of earlier runs.")  # fmt: skip
@json_option
def report(
    systems: tuple[str, ...],
    output: str | None,
    single_file: bool,
    since: str | None,
    no_findings: bool,
    variants: tuple[str, ...],
    jobs: int,
    no_cache: bool,
    json_file: Destination | None,
) -> int:
    """Write verdicts, runs, findings, documents and pictures as pages of HTML.

    The pages need no network and no server: open index.html, or the one file. They are an overview of all verdicts with
    filters, a page for each property, a page that plays each counterexample, the findings, each document with what became of
    its statements, and pictures. A report may replace an earlier one, and nothing else. --earlier names the directory or the file of
    an earlier report: the overview then lists the verdicts that differ.
    """
    if single_file and output == STDOUT and json_file is not None and json_file.is_stdout:
        raise UserError("--output, --json: both write to '-'; choose a file for each")
    if output is None:
        output = FILE if single_file else FOLDER
    target = _File(output) if single_file else _Folder(output)
    before = read(since) if since is not None else None
    chosen, unusable = choose.systems(systems)
    if variants:
        scopes.variants([(each, model) for each in chosen for model in each.variants.values()], variants)
    if not no_cache and (refused := refusal()):
        fail(refused, Exit.OK)
    plans = plan(chosen, variants=variants, cached=not no_cache)
    run = Run(plans)
    work(run, plans, jobs=jobs, cached=not no_cache)
    reports = run.reports()
    if run.verdicts < run.total:
        kept = "nothing is kept" if no_cache else "the verdicts so far are kept for the next one"
        fail(
            f"interrupted after {run.verdicts} of {run.total} verdicts: no report is written; {kept}", Exit.UNDETERMINED
        )
        return Exit.UNDETERMINED
    exit_code = code(standings(reports))
    data: dict[str, object] = {
        "made_by": MADE_BY,
        "systems": [each.as_json() for each in reports],
        "ok": exit_code is Exit.OK,
    }
    all_findings = {} if no_findings else findings_of(chosen, variants, jobs=jobs)
    by_name = {each.name: each for each in chosen}
    with progress("report") as report_progress:
        sections = [_section(by_name[name], its, all_findings.get(name)) for name, its in _by_system(reports).items()]
        among = {(each.system, each.variant) for each in reports}
        earlier = changes(before, verdicts(data), among) if before is not None else []
        content = Content(sections, conclusion(reports), data, since or "", earlier)
        made = list(Site(content, drawn=shutil.which("dot") is not None, report_progress=report_progress).pages())
        require_distinct([path for path, _ in made])
        pages = dict(made)
        report_progress("writing")
        place = target.write(pages)
    if json_file is not None:
        json_file.write_json({**data, "report": place, "pages": len(pages) - 1})
    if place != STDOUT and (json_file is None or not json_file.is_stdout):
        if since is not None:
            differing = count(len(earlier), "verdict") if earlier else "No verdict"
            click.echo(f"{differing} {'differ' if len(earlier) > 1 else 'differs'} since {since}")
        click.echo(f"{conclusion(reports)}; {count(len(pages) - 1, 'page')}: {place}")
    return Exit.USAGE if unusable and exit_code is Exit.OK else exit_code


class _Folder:
    """A directory, which may replace an earlier report."""

    def __init__(self, name: str) -> None:
        if name == STDOUT:
            raise UserError(
                "--output: - is standard output, which has no directories; write a name, or add --single-file"
            )
        self._folder = OutputFolder(name, Replaceable("a report", is_report))

    def write(self, pages: Mapping[str, str]) -> str:
        """Writes all pages; returns the path of the first."""
        self._folder.write(pages)
        return os.path.relpath(self._folder.path / INDEX)


class _File:
    """One file."""

    def __init__(self, name: str) -> None:
        if not name:
            raise UserError("--output: the name is empty; write a file's name, or - for standard output")
        self._destination = Destination("--output", name)
        self._destination.check()
        self._check_content()

    def _check_content(self) -> None:
        path = Path(self._destination.path)
        if not self._destination.is_stdout and path.is_file() and not is_report_file(path):
            raise UserError(f"--output: file {str(path)!r} is not a report; write a new name")

    def write(self, pages: Mapping[str, str]) -> str:
        """Writes all pages; returns the name of the file."""
        self._check_content()
        self._destination.write(one_file(pages, "schedproof: report"))
        return self._destination.path


def _by_system(reports: Sequence[VariantReport]) -> dict[str, list[VariantReport]]:
    groups: dict[str, list[VariantReport]] = {}
    for each in reports:
        groups.setdefault(each.system, []).append(each)
    return groups


def _section(system: System, reports: Sequence[VariantReport], its_findings: SystemFindings | None) -> SystemContent:
    """What the report says of a system."""
    shown = {each.variant for each in reports}
    drawn = [each for each in pictures({system.name: system}, explored=False) if each.variant in shown]
    return SystemContent(
        system,
        placed(reports, {system.name: system}),
        its_findings.defects if its_findings is not None else None,
        its_findings.unclear if its_findings is not None else (),
        of_system(system) if system.ledger is not None else None,
        drawn,
    )
