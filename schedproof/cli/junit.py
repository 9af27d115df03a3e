"""The report of ``verify`` as JUnit XML, which CI servers show as tests."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from xml.etree import ElementTree as ET

from schedproof.model.lang import Model
from schedproof.model.registry.system import System
from schedproof.proofs.exploration.counterexample_text import story
from schedproof.proofs.verdict import Verdict
from schedproof.proofs.verification.verdict_cache import versions
from schedproof.proofs.verification.verify import CheckedProperty, VariantReport

_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""The characters that XML cannot contain."""


def junit(reports: Sequence[VariantReport], systems: Mapping[str, System]) -> bytes:
    """The report: one suite for each variant, one case for each property.

    A verdict that is not the expected one is a failure. An undetermined verdict is an error, and so is one that an
    interrupt prevented. A case that an earlier run has checked has the property ``cached``.

    Args:
        systems: the systems of the reports, by name.
    """
    root = ET.Element("testsuites", name="schedproof")
    for report in reports:
        suite = ET.SubElement(
            root,
            "testsuite",
            name=f"{report.system} {report.variant}",
            tests=str(len(report.properties) + len(report.missing)),
            failures=str(sum(_tag(j) == "failure" for j in report.properties)),
            errors=str(sum(_tag(j) == "error" for j in report.properties) + len(report.missing)),
            skipped="0",
            time=f"{report.seconds:.3f}",
        )
        for checked in report.properties:
            _case(suite, report, checked, systems[report.system].variants[report.variant])
        for name in report.missing:
            case = ET.SubElement(suite, "testcase", classname=_class(report), name=name, time="0")
            ET.SubElement(case, "error", type="missing", message="interrupted before there was a verdict")
    ET.indent(root)
    text: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return text + b"\n"


def _tag(checked: CheckedProperty) -> str | None:
    if checked.as_expected:
        return None
    return "error" if checked.result.verdict is Verdict.UNDETERMINED else "failure"


def _case(suite: ET.Element, report: VariantReport, checked: CheckedProperty, model: Model) -> None:
    result = checked.result
    case = ET.SubElement(
        suite,
        "testcase",
        classname=_class(report),
        name=result.name,
        time=f"{result.seconds:.3f}",
    )
    if checked.cached:
        known = ET.SubElement(case, "properties")
        ET.SubElement(known, "property", name="cached", value=versions())
    tag = _tag(checked)
    if tag is None:
        return
    problem = ET.SubElement(
        case, tag, type=str(result.verdict), message=_clean(f"{result.reach}, expected {checked.expected}")
    )
    if result.counterexample is not None:
        problem.text = _clean("\n".join(story(model, result.counterexample)))


def _class(report: VariantReport) -> str:
    return f"schedproof.{report.system}.{report.variant}"


def _clean(text: str) -> str:
    return _FORBIDDEN.sub("?", text)
