"""What tests of the oracle ask of a trace of YuniKorn."""

from __future__ import annotations

from pathlib import Path

from schedproof.proofs.traces import OracleReport, OracleVerdict, check_trace


def check(text: str, tmp_path: Path, **told: str) -> OracleReport:
    path = tmp_path / "trace"
    path.write_text(text, "utf-8")
    return check_trace("yunikorn", path, **told)


def departure(report: OracleReport) -> tuple[int, int, str]:
    """The departing record, its line, and the reason."""
    found = report.first_departure
    assert report.verdict is OracleVerdict.DEPARTS and found is not None, report.verdict
    return found.record, found.line, found.reason


def releases(report: OracleReport) -> list[str]:
    assert report.verdict is OracleVerdict.CONFORMS, report.text()
    return list(report.releases)


def broken(report: OracleReport) -> list[tuple[int, str | None, int | None]]:
    return [(b.record, b.promise.property, b.promise.line) for b in report.breaks]
