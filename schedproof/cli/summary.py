"""The report of ``verify`` as Markdown, for the page of a CI run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from schedproof.model.lang import Model
from schedproof.model.registry.system import System
from schedproof.proofs.exploration.counterexample_text import counterexample_lines, sequence
from schedproof.proofs.verdict import Counterexample
from schedproof.proofs.verification.verify import CheckedProperty, VariantReport

from .verdict_status import conclusion, reached, standing

MOST_DRAWN = 10
"""A run of a CI server has few unexpected verdicts, or one cause behind many: the first ones are drawn."""

LONGEST_DRAWN = 50_000
"""The characters of a diagram that Mermaid accepts by default."""


def summary(reports: Sequence[VariantReport], systems: Mapping[str, System]) -> str:
    """The report: first each unexpected verdict with its counterexample, then the folded table of every variant.

    The counterexamples of the first ten are also drawn, as Mermaid sequence diagrams.

    Args:
        systems: the systems of the reports, by name.
    """
    head, _, counted = conclusion(reports).partition(": ")
    lines = [f"## schedproof: {head}", "", f"{counted}.", ""]
    drawn = 0
    for report in reports:
        model = systems[report.system].variants[report.variant]
        for checked in report.properties:
            if not checked.as_expected:
                diagram = _diagram(model, checked) if drawn < MOST_DRAWN else []
                drawn += bool(diagram)
                lines += [*_problem(model, checked), *diagram]
    for report in reports:
        lines += _table(report)
    return "\n".join(lines) + "\n"


def _problem(model: Model, checked: CheckedProperty) -> Iterator[str]:
    result = checked.result
    yield f"### {model.system} {model.variant}: {_cell(result.name)}"
    yield ""
    yield f"{_cell(checked.reach)}, expected {checked.expected}."
    yield ""
    if result.counterexample is not None:
        yield "```text"
        yield from counterexample_lines(model, result.counterexample)
        yield "```"
        yield ""


def _diagram(model: Model, checked: CheckedProperty) -> list[str]:
    """The counterexample as a diagram; nothing if no object changes in it, or Mermaid would refuse it."""
    run: Counterexample | None = checked.result.counterexample
    if run is None or not any(step.changes for step in run.steps):
        return []
    text = sequence(model, f"{model.system} {model.variant}: {checked.result.name}", run)
    return [] if len(text) > LONGEST_DRAWN else ["```mermaid", *text.splitlines(), "```", ""]


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
