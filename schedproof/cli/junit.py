"""Reports as JUnit XML, which CI servers show as tests."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from xml.etree import ElementTree as ET

import junitparser

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
    """A test of the report.

    Attributes:
        verdict: how far the verdict reaches, as the table of ``verify`` shows it; "" without a verdict.
        cached: an earlier run has checked it.
        output: what the report says besides.
    """

    name: str
    seconds: float
    problem: Problem | None = None
    verdict: str = ""
    cached: bool = False
    output: str = ""


def junit(reports: Sequence[VariantReport], systems: Mapping[str, System]) -> bytes:
    """The report of ``verify``: one suite for each variant, one case for each property.

    A verdict that is not the expected one is a failure. An undetermined verdict is an error, and so is one that an
    interrupt prevented. Each case has the property ``verdict``, which says for how many objects it is; one that an earlier
    run has checked has the property ``cached``.

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
            Case(
                checked.result.name,
                checked.result.seconds,
                _problem(report, checked, system),
                checked.reach,
                checked.cached,
            )
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
    report = junitparser.JUnitXml("schedproof")
    for system, variant, seconds, cases in suites:
        suite = junitparser.TestSuite(f"{system} {variant}")
        suite.add_testcases([_case(f"schedproof.{system}.{variant}", case) for case in cases])
        suite.time = round(seconds, 3)  # of all processes together, not the sum of the cases
        report.append(suite)
    root = ET.fromstring(report.tostring())
    ET.indent(root)
    text: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return text + b"\n"


def _case(classname: str, case: Case) -> junitparser.TestCase:
    element = junitparser.TestCase(_clean(case.name), classname, round(case.seconds, 3))
    values = {"verdict": _clean(case.verdict), "cached": versions() if case.cached else ""}
    if any(values.values()):
        properties = junitparser.Properties()
        for name, value in values.items():
            if value:
                properties.add_property(junitparser.Property(name, value))
        element.append(properties)
    if case.problem is not None:
        tag = junitparser.Error if case.problem.tag == "error" else junitparser.Failure
        problem = tag(_clean(case.problem.message), case.problem.type)
        if case.problem.text:
            problem.text = _clean(case.problem.text)
        element.result = [problem]
    if case.output:
        element.system_out = _clean(case.output)
    return element


def _clean(text: str) -> str:
    return _FORBIDDEN.sub("?", text)
