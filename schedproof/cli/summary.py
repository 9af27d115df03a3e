"""The report of ``verify`` as Markdown, for the page of a CI run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from schedproof.proofs.exploration.counterexample_text import counterexample_lines
from schedproof.proofs.verification.verify import CheckedProperty, VariantReport

from . import choose
from .verdict_status import conclusion, reached, standing


def summary(reports: Sequence[VariantReport]) -> str:
    """The report: first each unexpected verdict with its counterexample, then the folded table of every variant."""
    head, _, counted = conclusion(reports).partition(": ")
    lines = [f"## schedproof: {head}", "", f"{counted}.", ""]
    for report in reports:
        for checked in report.properties:
            if not checked.as_expected:
                lines += _problem(report, checked)
    for report in reports:
        lines += _table(report)
    return "\n".join(lines) + "\n"


def _problem(report: VariantReport, checked: CheckedProperty) -> Iterator[str]:
    result = checked.result
    yield f"### {report.system} {report.variant}: {_cell(result.name)}"
    yield ""
    yield f"{_cell(checked.reach)}, expected {checked.expected}."
    yield ""
    if result.counterexample is not None:
        model = choose.variant(choose.system(report.system), report.variant)
        yield "```text"
        yield from counterexample_lines(model, result.counterexample)
        yield "```"
        yield ""


def _table(report: VariantReport) -> Iterator[str]:
    yield f"<details><summary>{report.system} {report.variant}: {reached(report.properties)}</summary>"
    yield ""
    yield "| property | verdict | expected | |"
    yield "|---|---|---|---|"
    for checked in report.properties:
        result = checked.result
        mark = standing(result.verdict, checked.expected)
        cells = [result.name, checked.reach, str(checked.expected), f"{mark}, cached" if checked.cached else mark]
        yield "| " + " | ".join(_cell(cell) for cell in cells) + " |"
    yield ""
    yield "</details>"
    yield ""


def _cell(text: str) -> str:
    """Escapes text for a Markdown table."""
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")
