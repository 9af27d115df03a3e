"""The report of ``verify`` as Markdown, for the page of a CI run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from schedproof.proofs.exploration.counterexample_text import story
from schedproof.proofs.verification.verify import Judged, VariantReport

from . import choose
from .judging import conclusion, reached, standing


def summary(reports: Sequence[VariantReport]) -> str:
    """What is not as expected first, with its counterexample; then every variant's table, folded."""
    head, _, counted = conclusion(reports).partition(": ")
    lines = [f"## schedproof: {head}", "", f"{counted}.", ""]
    for report in reports:
        for judged in report.properties:
            if not judged.as_expected:
                lines += _problem(report, judged)
    for report in reports:
        lines += _table(report)
    return "\n".join(lines) + "\n"


def _problem(report: VariantReport, judged: Judged) -> Iterator[str]:
    result = judged.result
    yield f"### {report.system} {report.variant}: {_cell(result.name)}"
    yield ""
    yield f"{_cell(result.reach)}, expected {judged.expected}."
    yield ""
    if result.counterexample is not None:
        model = choose.variant(choose.system(report.system), report.variant)
        yield "```text"
        yield from story(model, result.counterexample)
        yield "```"
        yield ""


def _table(report: VariantReport) -> Iterator[str]:
    yield f"<details><summary>{report.system} {report.variant}: {reached(report.properties)}</summary>"
    yield ""
    yield "| property | verdict | expected | |"
    yield "|---|---|---|---|"
    for judged in report.properties:
        result = judged.result
        mark = standing(result.verdict, judged.expected)
        cells = [result.name, result.reach, str(judged.expected), f"{mark}, cached" if judged.cached else mark]
        yield "| " + " | ".join(_cell(cell) for cell in cells) + " |"
    yield ""
    yield "</details>"
    yield ""


def _cell(text: str) -> str:
    """Safe in a table of Markdown."""
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")
