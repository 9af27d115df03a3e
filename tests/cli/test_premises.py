"""``explain`` on what verdicts rest on: interpretations, and assumptions on the environment."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from schedproof.cli import main
from schedproof.model.lang import Reading
from schedproof.model.registry.discovery import systems
from schedproof.model.registry.system import System
from tests.proofs.verification.test_assumptions import jobs
from tests.support.lamps import lamps, system
from tests.support.registry import put

BRIGHT = Reading(
    "lamps-can-be-on",
    3,
    question="Can lamps be on?",
    read="They can.",
    otherwise="They cannot.",
    why="There is a switch.",
    drops=["switch_on"],
    rests=["stays-dark"],
    breaks=["blinks"],
)
MANY = Reading(
    "lamps-are-many",
    2,
    question="How many?",
    read="Many.",
    otherwise="One.",
    why="A plural.",
    untried="a scope has a number",
    variant="gas",
)

Run = Callable[..., tuple[int, list[str], str]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """Runs ``explain`` on lamps whose first interpretation is ``BRIGHT`` with changes, or on jobs that get stuck."""

    def command(of: str, *arguments: str, **changes: Sequence[str]) -> tuple[int, list[str], str]:
        parts = {"interpretations": [replace(BRIGHT, **changes), MANY]}  # type: ignore[arg-type]
        both = replace(system(lamps(), lamps("gas")), load=lambda key, default: parts.get(key, default))
        put(monkeypatch, {"lamps": both, "jobs": System.of(jobs(True, False))})
        code = main(["explain", of, *arguments])
        out, err = capfd.readouterr()
        return code, out.splitlines(), err

    return command


def test_an_interpretation_has_its_question_and_both_answers(run: Run) -> None:
    code, lines, _ = run("lamps", "interpretation.lamps-can-be-on")
    assert code == 0
    assert lines == [
        "interpretation.lamps-can-be-on (lamps plain): holds at Lamp=2, expected proved",
        "Question: Can lamps be on?",
        "The model: They can.",
        "Or: They cannot.",
        "Then: no longer violated: stays-dark; also violated: blinks",
        "Why: There is a switch.",
    ]


def test_an_interpretation_that_cannot_be_tried(run: Run) -> None:
    """It is one of another variant, which need not be named."""
    code, lines, _ = run("lamps", "interpretation.lamps-are-many")
    assert (code, lines[0]) == (0, "interpretation.lamps-are-many (lamps gas): not tried")
    assert lines[-2:] == ["Then: not tried: a scope has a number", "Why: A plural."]


def test_an_interpretation_that_names_other_verdicts(run: Run) -> None:
    code, lines, _ = run("lamps", "interpretation.lamps-can-be-on", breaks=[])
    assert code == 1
    assert lines[4] == "Then: no longer violated: stays-dark; also violated: blinks", "what differs, not what is named"
    assert lines[-1] == (
        "Wrong: interpretation.lamps-can-be-on: blinks does not hold with the other interpretation; add it to breaks"
    )


def test_an_interpretation_as_json(run: Run) -> None:
    code, lines, _ = run("lamps", "interpretation.lamps-can-be-on", "--json", "-")
    data = json.loads("\n".join(lines))
    assert (code, data["question"], data["hangs"]) == (0, "Can lamps be on?", ["stays-dark", "blinks"])
    assert data["checked"]["verdict"] == "proved"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["interpretation.lamps-can-be-of"], "of lamps; did you mean interpretation.lamps-can-be-on? choose from "),
        (
            ["interpretation.lamps-are-many", "--variant", "plain"],
            "interpretation.lamps-are-many is an interpretation of gas; write that variant, or leave --variant out",
        ),
        (["interpretation.lamps-are-mony", "--variant", "plain"], "of lamps plain; did you mean"),
        (["interpretation.lamps-are-many", "--variant", "oil"], "unknown variant of lamps 'oil'"),
        (
            ["interpretation.lamps-can-be-on", "--scope", "Lamp=1"],
            "--scope: has no effect on interpretation.lamps-can-be-on; leave it out",
        ),
        (["assumptions", "--scope", "Lamp=1", "--mermaid"], "--scope, --mermaid: have no effect on assumptions; "),
        (["assumptions"], "lamps plain assumes nothing on which a verdict could rest; 'schedproof list lamps' lists"),
    ],
)
def test_a_wrong_name_is_one_line(run: Run, arguments: list[str], says: str) -> None:
    code, lines, err = run("lamps", *arguments)
    assert (code, lines, err.count("\n")) == (2, [], 1) and says in err


def test_the_name_of_a_defect_is_no_property(capsys: pytest.CaptureFixture[str]) -> None:
    """``findings`` prints it; the change that repairs it says what it violates."""
    assert main(["explain", "hived", "no-way-back-to-allocated"]) == 2
    repairs = [
        each.repairs
        for each in systems()["hived"].variants["repaired"].changes
        if each.name == "no-way-back-to-allocated"
    ]
    assert f"is a defect, not a property; explain what it violates: {', '.join(repairs[0])}" in capsys.readouterr().err


def test_assumptions_and_what_rests_on_them(run: Run) -> None:
    """A stuck job ends only by the reaper, which wants a late heartbeat; a job that is done never runs again."""
    code, lines, _ = run("jobs", "assumptions")
    assert code == 0
    assert lines == [
        "assumptions (jobs as-written): holds at Job=1, expected proved",
        "Assumed, in some configuration:",
        "  Job.punctual = true (punctual: its heartbeats come in time)",
        "Verdicts that rest on it:",
        "  can-end is violated, assuming Job.punctual = true; otherwise it holds",
        "1 other verdict on what can be reached is the same without it.",
    ]
