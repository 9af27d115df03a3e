"""What tests of the validator ask of a trace of YuniKorn."""

from __future__ import annotations

from pathlib import Path

from schedproof.proofs.traces import LogVerdict, ValidationReport, check_trace


def check(text: str, tmp_path: Path, **told: str) -> ValidationReport:
    path = tmp_path / "trace"
    path.write_text(text, "utf-8")
    return check_trace("yunikorn", path, **told)


def nonconformance(report: ValidationReport) -> tuple[int, int, str]:
    """The nonconforming record, its line, and the reason."""
    found = report.first_nonconformance
    assert report.verdict is LogVerdict.VIOLATES and found is not None, report.verdict
    return found.record, found.line, found.reason


def releases(report: ValidationReport) -> list[str]:
    assert report.verdict is LogVerdict.CONFORMS, report.text()
    return list(report.releases)


def broken(report: ValidationReport) -> list[tuple[int, str | None, int | None]]:
    return [(b.record, b.requirement.property, b.requirement.line) for b in report.breaks]
