"""Writes the violation that a log shows as a test file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from schedproof.model.registry.discovery import registered
from schedproof.model.registry.errors import UserError
from schedproof.proofs.traces import TraceError, ValidationReport

MOST_LINES = 5_000
"""The limit for the lines of a log that cannot be shortened, and goes into the test unchanged."""

_RECORDS = '''"""A log that violates {system} {variant}; written by schedproof validate --emit-test.

{reason}

It tests the model, not the program that wrote the log: it fails if a change of the model makes the violation disappear.
To test the program, validate a new log of it.
"""

import json

{imports}from schedproof.proofs.traces import LogVerdict, check_records

TRACE = [
{lines}]


def test_the_last_record_violates() -> None:
    header, *records = map(json.loads, TRACE)
    report = check_records({named}, header, records)
    assert report.verdict is LogVerdict.VIOLATES
    assert report.first_nonconformance is not None and report.first_nonconformance.record == len(records)
'''

_LINES = '''"""A log that violates {system} {variant}; written by schedproof validate --emit-test.

{reason}

It tests the model, not the program that wrote the log: it fails if a change of the model makes the violation disappear.
To test the program, validate a new log of it.
"""

from pathlib import Path

{imports}from schedproof.proofs.traces import LogVerdict, check_trace

LOG = [
{lines}]


def test_the_last_line_violates(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("\\n".join(LOG) + "\\n", "utf-8")
    report = check_trace({named}, log, variant={named_variant!r}, format={format!r})
    assert report.verdict is LogVerdict.VIOLATES
    assert report.first_nonconformance is not None and report.first_nonconformance.line == len(LOG)
'''


def regression_test(report: ValidationReport, log: Path, variant: str | None) -> str:
    """A pytest file that fails if the log no longer violates the model.

    It contains the relevant records, or the log up to the violation.

    Args:
        report: the report on a log that violates the model.
        log: the file of the log.
        variant: the variant that the user has named; None for the format's own.

    Raises:
        UserError: the log cannot be read again, or is too long.
    """
    nonconformance = report.first_nonconformance
    assert nonconformance is not None
    reason = " ".join(nonconformance.reason.split()).replace("\\", "/").replace('"""', "'''")
    is_users_system = (
        report.system not in registered().entries
    )  # a system of the user's manifest: the test finds it as a command does
    about = {
        "system": report.system,
        "variant": report.variant,
        "reason": reason,
        "imports": "from schedproof.cli.choose import system\n" if is_users_system else "",
        "named": f"system({report.system!r})" if is_users_system else repr(report.system),
    }
    if report.shortened:
        return _RECORDS.format(**about, lines=_listed([json.dumps(line) for line in report.shortened]))
    if report.format == "mapping":
        raise UserError(
            "--emit-test: the records that matter were not found in time, and only these of a mapped log make a test; write the test by hand"
        )
    if report.excerpt:
        lines = [text for _, text in report.excerpt]
        return _LINES.format(**about, lines=_listed(lines), named_variant=variant, format=report.format)
    if nonconformance.line > MOST_LINES:
        raise UserError(
            f"--emit-test: the violation is at line {nonconformance.line}, and the log cannot be shortened; cut the log to {MOST_LINES} lines"
        )
    try:
        with log.open(encoding="utf-8-sig") as file:
            lines = [line.rstrip("\n") for line in islice(file, nonconformance.line)]
    except (OSError, ValueError, TraceError):
        raise UserError(f"--emit-test: {str(log)!r} cannot be read a second time; write the log to a file") from None
    return _LINES.format(**about, lines=_listed(lines), named_variant=variant, format=report.format)


def _listed(lines: Sequence[str]) -> str:
    return "".join(f"    {line!r},\n" for line in lines)
