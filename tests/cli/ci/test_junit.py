"""JUnit reports, as a reader of XML sees them; tests/cli/test_contract.py has what each verdict becomes."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree as ET

from schedproof.cli.junit import junit
from schedproof.proofs.verdict import Counterexample, Method, Result, TraceStep, Verdict
from schedproof.proofs.verification.verify import CheckedProperty, VariantReport
from tests.support.lamps import lamps, system

RUN = Counterexample([TraceStep("switch_on", {}, "a \x00 <b> ]]> & c\n", 3, [])], "it is on")
RESULT = Result("stays-dark", "invariant", Verdict.REFUTED, Method.EXPLORATION, {"Lamp": 2}, 0.25, RUN)


def report(**changes: object) -> ET.Element:
    given = VariantReport("lamps", "plain", [CheckedProperty(RESULT, Verdict.PROVED)] * 2, 7.5)
    of = system(lamps(), lamps("other"))
    reports = [replace(given, **changes), replace(given, variant="other")]  # type: ignore[arg-type]
    return ET.fromstring(junit(reports, {"lamps": of}))


def test_a_suite_is_a_variant_with_the_time_of_all_its_work() -> None:
    """Explorations serve several properties: the times of the cases need not add up to it."""
    suites = report(missing=["blinks"])
    assert [suite.get("name") for suite in suites] == ["lamps plain", "lamps other"]
    assert [float(suite.get("time", "")) for suite in suites] == [7.5, 7.5]
    counts = [[suite.get(name) for name in ("tests", "failures", "errors", "skipped")] for suite in suites]
    assert counts == [["3", "2", "1", "0"], ["2", "2", "0", "0"]]
    assert [float(case.get("time", "")) for case in suites[1]] == [0.25, 0.25]


def test_what_xml_cannot_contain_is_replaced() -> None:
    failure = report().find("testsuite/testcase/failure")
    assert failure is not None and failure.text is not None and "a ? <b> ]]> & c" in failure.text


def test_a_case_that_passes_says_how_far_its_verdict_reaches() -> None:
    """In a green report, too, a reader sees what was explored only, within which bounds, and with which assumptions."""
    proved = Result("dark", "invariant", Verdict.PROVED, Method.INDUCTION, None, 0.1, assuming=["few <= 2"])
    explored = Result("lit", "invariant", Verdict.PROVED, Method.EXPLORATION, {"Lamp": 2}, 0.1, within="watt <= 3")
    cases = report(properties=[CheckedProperty(each, Verdict.PROVED) for each in (proved, explored)])[0]
    properties = [
        {each.get("name"): each.get("value") for each in case.findall("properties/property")}
        for case in cases.findall("testcase")
    ]
    assert all(
        case.find("failure") is None and list(each) == ["verdict"] for case, each in zip(cases, properties, strict=True)
    )
    first, second = (each["verdict"] or "" for each in properties)
    assert "any number" in first and "assuming few <= 2" in first
    assert second == "holds at Lamp=2 within watt <= 3"
