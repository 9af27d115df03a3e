"""The summary draws counterexamples of unexpected verdicts."""

from __future__ import annotations

import re
from collections.abc import Sequence

from schedproof.cli.summary import summary
from schedproof.proofs.verdict import Counterexample, FieldChange, Method, Result, TraceStep, Verdict
from schedproof.proofs.verification.verify import CheckedProperty, VariantReport
from tests.cli.ci.conftest import Verify
from tests.support.lamps import system


def diagrams(text: str) -> list[str]:
    assert text.count("```") % 2 == 0
    return re.findall(r"^```mermaid\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def test_an_unexpected_violation_is_drawn(verify: Verify) -> None:
    (diagram,) = diagrams(verify("--summary", "-")[1])
    lines = [line.strip() for line in diagram.splitlines()]
    assert "sequenceDiagram" in lines and "environment->>l0: Lamp.on (line 3)" in lines  # the line of the action
    assert "Note right of l0: state: Off → On" in diagram


def test_an_expected_violation_is_not_drawn(verify: Verify) -> None:
    assert diagrams(verify("--summary", "-", of=system())[1]) == []


def report(steps: Sequence[TraceStep], number: int = 1) -> VariantReport:
    run = Counterexample(steps, "it is on")
    result = Result("stays-dark", "invariant", Verdict.REFUTED, Method.EXPLORATION, {"Lamp": 2}, 0.0, run)
    return VariantReport("lamps", "plain", [CheckedProperty(result, Verdict.PROVED)] * number)


ON = TraceStep(
    "switch_on", {"x": "l0"}, "on", 3, [FieldChange("l0", "state", "Off", "On", "Lamp.on", "action switch_on", 5)]
)


def test_what_mermaid_refuses_is_not_drawn() -> None:
    """A diagram of more than 50,000 characters, or one without objects; the text has it all."""
    systems = {"lamps": system()}
    assert len(diagrams(summary([report([ON] * 20)], systems))) == 1
    long = summary([report([ON] * 1000)], systems)
    assert diagrams(long) == [] and "1000. on" in long
    assert diagrams(summary([report([])], systems)) == []


def test_ten_are_drawn() -> None:
    text = summary([report([ON], 12)], {"lamps": system()})
    assert len(diagrams(text)) == 10 and text.count("### lamps plain: stays-dark") == 12
