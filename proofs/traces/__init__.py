"""Trace validation: does a log of an implementation conform to the model?

``check_trace`` reads a trace from a file. It returns "conforms", or the first record that no run of the model explains.
``check_records`` does the same for records that a program already holds. docs/reference/trace-formats.md describes the
formats.
"""

from __future__ import annotations

from .check import check_records, check_trace
from .errors import TraceError
from .files.following import Following
from .reports.report import (
    Candidate,
    Difference,
    ExplainingRow,
    FieldSince,
    LogVerdict,
    NonconformanceReport,
    Origin,
    Requirement,
    UnexplainedChange,
    ValidationReport,
    Violation,
    Way,
)
from .tally import Tally

__all__ = [
    "Candidate",
    "Difference",
    "ExplainingRow",
    "FieldSince",
    "Following",
    "LogVerdict",
    "NonconformanceReport",
    "Origin",
    "Requirement",
    "Tally",
    "TraceError",
    "UnexplainedChange",
    "ValidationReport",
    "Violation",
    "Way",
    "check_records",
    "check_trace",
]
