"""The validator: does a log of a real implementation conform to the model?

``check_trace`` reads a trace and says conforms, or names the first record that no sequence of
model steps explains; ``check_records`` does so with records that a program has at hand. See the README of this package for the trace formats.
"""

from __future__ import annotations

from .check import check_records, check_trace
from .errors import TraceError
from .files.following import Following
from .reports.report import Candidate, Difference, LogVerdict, NonconformanceReport, Requirement, ValidationReport
from .tally import Tally

__all__ = [
    "Candidate",
    "Difference",
    "Following",
    "LogVerdict",
    "NonconformanceReport",
    "Requirement",
    "Tally",
    "TraceError",
    "ValidationReport",
    "check_records",
    "check_trace",
]
