"""The page on trace formats: the keys of the JSON that it lists are those that `validate --json` writes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from schedproof.model.semantics.reasons import Counted
from schedproof.proofs.traces import (
    Candidate,
    Difference,
    ExplainingRow,
    FieldSince,
    LogVerdict,
    NonconformanceReport,
    Requirement,
    UnexplainedChange,
    ValidationReport,
    Way,
)
from schedproof.proofs.traces.reports.report import Origin, Violation
from tests.support.places import ROOT

PAGE = (ROOT / "docs" / "reference" / "trace-formats.md").read_text("utf-8")
SECTION = PAGE.partition("\n## The report as JSON\n")[2].partition("\n## ")[0]

REQUIREMENT = Requirement("p", "says", "document", 1, "sentence")
CANDIDATE = Candidate(["s"], {}, [Difference("o", "f", 1, 2)], [REQUIREMENT], REQUIREMENT)
ORIGIN = Origin(1, 2, "says", ["o.f"])
WAY = Way(
    "step", ["r"], "r", "needs", [FieldSince("o", "f", 1, ORIGIN)], {"x": "o"}, "", 0, "m.py:1", 1, [Counted(1, ["o"])]
)
CHANGE = UnexplainedChange("o", "f", 1, 2, [ExplainingRow("row", "m.py:2", 2, [WAY])])
NONCONFORMANCE = NonconformanceReport(
    1, 2, "reason", [REQUIREMENT], [CANDIDATE], {"o": {"f": 1}}, [ORIGIN], unexplained=[CHANGE]
)
REPORT = ValidationReport(
    "s", "v", "f", LogVerdict.VIOLATES, 1, NONCONFORMANCE, "note", [Violation(1, 2, "says", REQUIREMENT)], ["r"],
    [{"schedproof": 1}], [(1, "text")], "error",
).as_json()  # fmt: skip
"""A report in which everything is present."""


def listed(of: str) -> set[str]:
    """The keys in the first column of the table with this head."""
    (rows,) = re.findall(rf"^\| {of} \|.*\n\|[-| ]+\n((?:\|.*\n)+)", SECTION, re.MULTILINE)
    return {key for row in rows.splitlines() for key in re.findall(r"`(\w+)`", row.split("|")[1])}


def named(sentence: str, *others: str) -> set[str]:
    """The keys that a line names, without those that it is about."""
    (line,) = (line for line in SECTION.splitlines() if line.startswith(sentence))
    return set(re.findall(r"`(\w+)`", line)) - set(others)


def keys(of: Mapping[str, Any] | Iterable[Mapping[str, Any]]) -> set[str]:
    return set(of) if isinstance(of, Mapping) else {key for each in of for key in each}


def test_the_keys_that_are_listed_are_those_that_are_written() -> None:
    first, violation = REPORT["first_departure"], REPORT["broken_promises"]
    assert listed("key of the report") == keys(REPORT)
    assert listed("key of `first_departure`") == keys(first)
    assert listed("key of a candidate") == keys(first["candidates"])
    assert listed("key of a change") == keys(first["unexplained"])
    assert listed("key of a way") == keys(first["unexplained"][0]["rows"][0]["ways"])
    assert listed("key of a requirement") == keys(first["promises"]) == keys(violation[0]["promise"])


def test_so_are_those_of_lists() -> None:
    first = REPORT["first_departure"]
    assert named("An entry of `broken_promises`", "broken_promises") == keys(REPORT["broken_promises"])
    assert named("| `origins`", "origins") == keys(first["origins"])
    assert named("| `rows`", "rows") == keys(first["unexplained"][0]["rows"])
    (read,) = first["unexplained"][0]["rows"][0]["ways"][0]["reads"]
    assert named("| `reads`", "reads") == keys(read) | keys(read["since"])
    (counted,) = first["unexplained"][0]["rows"][0]["ways"][0]["counted"]
    assert named("| `counted`", "counted") == keys(counted)
    assert named("| `excerpt`", "excerpt") == keys(REPORT["excerpt"])
    assert named("| `differs`", "differs") == keys(first["candidates"][0]["differs"])
