"""Workflow commands of GitHub: errors that it shows at lines of files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from schedproof.model.registry.system import System
from schedproof.proofs.exploration.counterexample_text import counterexample_lines
from schedproof.proofs.verification.placed import PlacedVerdict, placed
from schedproof.proofs.verification.verify import VariantReport

from .repository import Repository

MESSAGE = {"%": "%25", "\r": "%0D", "\n": "%0A"}
"""How GitHub writes characters of a message that end a command."""

VALUE = {**MESSAGE, ":": "%3A", ",": "%2C"}
"""How it writes characters of a value that end it."""


def workflow_commands(
    reports: Sequence[VariantReport], systems: Mapping[str, System], repository: Repository
) -> Iterator[str]:
    """A command for each verdict that is not the expected one, or is missing.

    Args:
        systems: the systems of the reports, by name.

    Returns:
        Lines to print.
    """
    for verdict in placed(reports, systems):
        if not verdict.as_expected:
            yield _error(verdict, repository)


def _error(verdict: PlacedVerdict, repository: Repository) -> str:
    at = repository.line(verdict.place)
    values = {"title": verdict.title}
    if at.in_repository:
        values = {"file": at.path, "line": str(at.line), **values}
    lines = [verdict.problem]
    if verdict.checked is not None and (run := verdict.checked.result.counterexample) is not None:
        lines += ["", *counterexample_lines(verdict.model, run)]
    written = ",".join(f"{name}={_escaped(value, VALUE)}" for name, value in values.items())
    return f"::error {written}::{_escaped(chr(10).join(lines), MESSAGE)}"


def _escaped(text: str, characters: Mapping[str, str]) -> str:
    return "".join(characters.get(each, each) for each in text)
