"""What tests of the validator ask of a trace of YuniKorn."""

from __future__ import annotations

from pathlib import Path

from schedproof.proofs.traces import LogVerdict, ValidationReport, check_trace


def check(text: str, tmp_path: Path, **options: str) -> ValidationReport:
    path = tmp_path / "trace"
    path.write_text(text, "utf-8")
    return check_trace("yunikorn", path, **options)


def nonconformance(report: ValidationReport) -> tuple[int, int, str]:
    """The nonconforming record, its line, and the reason."""
    first = report.first_nonconformance
    assert report.verdict is LogVerdict.VIOLATES and first is not None, report.verdict
    return first.record, first.line, first.reason


def releases(report: ValidationReport) -> list[str]:
    assert report.verdict is LogVerdict.CONFORMS, report.text()
    return list(report.releases)


def broken(report: ValidationReport) -> list[tuple[int, str | None, int | None]]:
    return [(b.record, b.requirement.property, b.requirement.line) for b in report.breaks]
