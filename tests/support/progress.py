"""One line every few seconds instead of thousands of dots: how many tests have run, how many failed, and how long it may take."""

from __future__ import annotations

import time
from typing import Any

import pytest

SECONDS = 10.0
"""Between two lines."""


class Progress:
    """A plugin of the process that prints: with xdist that is the one that runs no tests.

    Args:
        reporter: pytest's terminal reporter. What passes or is skipped leaves no letter in it; failures do, as ever.
    """

    def __init__(self, reporter: Any, seconds: float = SECONDS) -> None:
        self._reporter, self._seconds = reporter, seconds
        self._begun = self._last_report = time.monotonic()
        self._done = self._failed = 0

    def pytest_runtestloop(self) -> None:
        """Says what takes the first seconds."""
        self._reporter.write_line("collecting the tests")

    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, str] | None:
        """Leaves no letter of a test that passed or was skipped; the summary counts both."""
        quiet = report.skipped or (report.passed and report.when == "call")
        return (report.outcome, "", "") if quiet and not hasattr(report, "wasxfail") else None

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Counts a test that is done, and prints a line if the last one was some time ago."""
        self._failed += report.failed
        if report.when != "teardown":
            return
        self._done += 1
        now = time.monotonic()
        if now - self._last_report >= self._seconds:
            self._last_report = now
            self._reporter.ensure_newline()
            self._reporter.write_line(progress_line(self._done, self._total(), self._failed, now - self._begun))

    def _total(self) -> int:
        session = self._reporter._session
        return int(session.testscollected) if session is not None else 0


def progress_line(done: int, total: int, failed: int, seconds: float) -> str:
    """Returns how far the tests are; the rest is expected to take as long for each test as those that are done."""
    share, rest = done / max(total, done), seconds * (max(total, done) - done) / done
    return f"{share:5.0%}  {done:,} of {total:,} tests, {failed} failed, after {seconds:,.0f} s; about {rest:,.0f} s are left"
