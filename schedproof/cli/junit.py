"""Reports as JUnit XML, which CI servers show as tests."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from xml.etree import ElementTree as ET

from schedproof.model.registry.system import System
from schedproof.proofs.exploration.counterexample_text import counterexample_lines
from schedproof.proofs.traces import LogVerdict, ValidationReport
from schedproof.proofs.verdict import Verdict
from schedproof.proofs.verification.verdict_cache import versions
from schedproof.proofs.verification.verify import CheckedProperty, VariantReport

_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""The characters that XML cannot contain."""


@dataclass(frozen=True)
class Problem:
    """Why a case does not pass.

    Attributes:
        tag: ``failure`` for a wrong verdict, ``error`` for a missing one.
        type: the verdict.
        message: the problem in a line.
        text: the details.
    """

    tag: str
    type: str
    message: str
    text: str = ""


@dataclass(frozen=True)
class Case:
    """A test of the report."""

    name: str
    seconds: float
    problem: Problem | None = None
    cached: bool = False
    output: str = ""


def junit(reports: Sequence[VariantReport], systems: Mapping[str, System]) -> bytes:
    """The report of ``verify``: one suite for each variant, one case for each property.

    A verdict that is not the expected one is a failure. An undetermined verdict is an error, and so is one that an
    interrupt prevented. A case that an earlier run has checked has the property ``cached``.

    Args:
        systems: the systems of the reports, by name.
    """
    return _xml(
        (report.system, report.variant, report.seconds, _cases(report, systems[report.system])) for report in reports
    )


def junit_of_log(report: ValidationReport, log: str, seconds: float) -> bytes:
    """The report of ``validate``: one case for the log, in a suite for the variant.

    A violation is a failure; an undetermined verdict is an error. What the report on a log that conforms says of skipped
    lines is the output of the case.
    """
    first, *details = report.text()
    tag = {LogVerdict.VIOLATES: "failure", LogVerdict.UNDETERMINED: "error"}.get(report.verdict)
    text = "\n".join(details)
    problem = Problem(tag, report.verdict, first, text) if tag is not None else None
    case = Case(log, seconds, problem, output="" if problem is not None else text)
    return _xml([(report.system, report.variant, seconds, [case])])


def _cases(report: VariantReport, system: System) -> list[Case]:
    missing = Problem("error", "missing", "interrupted before there was a verdict")
    return [
        *(
            Case(checked.result.name, checked.result.seconds, _problem(report, checked, system), checked.cached)
            for checked in report.properties
        ),
        *(Case(name, 0.0, missing) for name in report.missing),
    ]


def _problem(report: VariantReport, checked: CheckedProperty, system: System) -> Problem | None:
    if checked.as_expected:
        return None
    result = checked.result
    tag = "error" if result.verdict is Verdict.UNDETERMINED else "failure"
    run = (
        counterexample_lines(system.variants[report.variant], result.counterexample)
        if result.counterexample is not None
        else []
    )
    return Problem(tag, str(result.verdict), f"{checked.reach}, expected {checked.expected}", "\n".join(run))


def _xml(suites: Iterable[tuple[str, str, float, Sequence[Case]]]) -> bytes:
    """The XML of suites: system, variant, seconds and cases."""
    root = ET.Element("testsuites", name="schedproof")
    for system, variant, seconds, cases in suites:
        tags = [case.problem.tag for case in cases if case.problem is not None]
        suite = ET.SubElement(
            root,
            "testsuite",
            name=f"{system} {variant}",
            tests=str(len(cases)),
            failures=str(tags.count("failure")),
            errors=str(tags.count("error")),
            skipped="0",
            time=f"{seconds:.3f}",
        )
        for case in cases:
            _case(suite, f"schedproof.{system}.{variant}", case)
    ET.indent(root)
    text: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return text + b"\n"


def _case(suite: ET.Element, classname: str, case: Case) -> None:
    element = ET.SubElement(suite, "testcase", classname=classname, name=_clean(case.name), time=f"{case.seconds:.3f}")
    if case.cached:
        known = ET.SubElement(element, "properties")
        ET.SubElement(known, "property", name="cached", value=versions())
    if case.problem is not None:
        of = ET.SubElement(element, case.problem.tag, type=case.problem.type, message=_clean(case.problem.message))
        of.text = _clean(case.problem.text) or None
    if case.output:
        ET.SubElement(element, "system-out").text = _clean(case.output)


def _clean(text: str) -> str:
    return _FORBIDDEN.sub("?", text)
