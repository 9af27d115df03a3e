"""The report of ``verify`` as GitLab's code quality report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from schedproof.model.registry.system import System
from schedproof.proofs.verification.placed import PlacedVerdict, shown
from schedproof.proofs.verification.verify import VariantReport

from .repository import Repository


def code_quality(
    reports: Sequence[VariantReport], systems: Mapping[str, System], repository: Repository
) -> list[dict[str, Any]]:
    """An issue for each verdict that is not the expected one or missing (``major``), and each expected violation (``info``).

    Args:
        systems: the systems of the reports, by name.
    """
    return [_issue(verdict, repository) for verdict in shown(reports, systems)]


def _issue(verdict: PlacedVerdict, repository: Repository) -> dict[str, Any]:
    at = repository.line(verdict.place)
    return {
        "description": f"{verdict.title}: {verdict.problem}",
        "check_name": verdict.rule,
        "fingerprint": verdict.fingerprint,
        "severity": "info" if verdict.as_expected else "major",
        "location": {"path": at.path, "lines": {"begin": at.line}},
    }
