"""Assumptions on the environment: what can be reached only after a late heartbeat, on jobs that get stuck."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from schedproof.model.lang import (  # fmt: skip
    Action,
    AlwaysCanReach,
    Attribute,
    BoolType,
    Invariant,
    Machine,
    Model,
    Row,
    Sort,
    State,
    variable,
)
from schedproof.model.registry.system import System
from schedproof.proofs.verdict import Verdict
from schedproof.proofs.verification.assumptions import rests_on, wrong
from schedproof.proofs.verification.findings import findings
from schedproof.proofs.verification.verify import verify_variant

Job = Sort("Job", "j")
j = variable(Job, "j")

CAN_END = AlwaysCanReach(name="can-end", says="a job can end", over=[j], goal=j.is_("Done"), assumes=["Job.punctual"])
CAN_RUN_AGAIN = AlwaysCanReach(
    name="can-run-again", says="a job can run again", over=[j], given=j.is_("Done"), goal=j.is_("Running")
)
NEVER_STUCK = Invariant(name="never-stuck", says="no job is stuck", over=[j], then=~j.is_("Stuck"))


def jobs(
    *punctual: bool, properties: Sequence[AlwaysCanReach | Invariant] = (CAN_END, CAN_RUN_AGAIN, NEVER_STUCK)
) -> Model:
    """Jobs that get stuck; the reaper ends a stuck one whose heartbeat is late. A configuration for each value."""
    return Model(
        system="jobs",
        variant="as-written",
        about="jobs that get stuck",
        machines=[
            Machine(
                Job,
                [State("Running"), State("Stuck"), State("Done")],
                [Attribute("punctual", BoolType(), rigid=True, about="its heartbeats come in time", assumed=True)],
            )
        ],
        rows=[
            Row(Job, "stick", "Running", "Stuck"),
            Row(Job, "end", "Running", "Done"),
            Row(Job, "reap", "Stuck", "Done"),
        ],
        actions=[
            Action("stick", [j], [j.is_("Running")], [j.fires("stick")], "{j} gets stuck"),
            Action("end", [j], [j.is_("Running")], [j.fires("end")], "{j} ends"),
            Action("reap", [j], [j.is_("Stuck"), ~j.punctual], [j.fires("reap")], "the heartbeat of {j} is late"),
        ],
        rules=[],
        properties=properties,
        configurations=lambda sizes: [{("Job", "punctual"): [value]} for value in punctual],
        default_scope={"Job": 1},
        refuted=frozenset(each.name for each in properties),
    )


def test_a_violation_that_shows_only_under_an_assumption() -> None:
    assert rests_on(jobs(True), CAN_END) == {"Job.punctual"}


def test_a_violation_that_shows_without_it_too() -> None:
    assert rests_on(jobs(True), CAN_RUN_AGAIN) == frozenset()
    assert rests_on(jobs(False), CAN_RUN_AGAIN) == frozenset()


def test_one_configuration_without_it_is_enough() -> None:
    """Where nothing is assumed, and the property is violated, the violation rests on nothing."""
    stays = replace(CAN_END, goal=j.is_("Running"))
    assert rests_on(jobs(True, False), stays) == frozenset()


def test_the_list_is_compared() -> None:
    assert wrong(jobs(True)) == []
    (line,) = wrong(jobs(True, properties=[replace(CAN_END, assumes=())]))
    assert line.startswith("can-end (") and line.endswith('write assumes=["Job.punctual"]')
    (line,) = wrong(jobs(True, properties=[replace(CAN_RUN_AGAIN, assumes=["Job.punctual"])]))
    assert line.endswith("write assumes=[]")


@pytest.mark.parametrize(("assumes", "verdict"), [(["Job.punctual"], Verdict.PROVED), ([], Verdict.REFUTED)])
def test_verify_compares_it_if_asked(assumes: list[str], verdict: Verdict) -> None:
    model = jobs(True, properties=[replace(CAN_END, assumes=assumes)])
    report = verify_variant(System.of(model), model, only=["assumptions"])
    assert [(each.result.name, each.result.verdict) for each in report.properties] == [("assumptions", verdict)]


def test_a_finding_names_it() -> None:
    first, *_ = findings(System.of(jobs(True)))
    assert first.assumes == ("Job.punctual",) and first.as_json()["assumes"] == ["Job.punctual"]
    assert "  Assumes: Job.punctual. Otherwise the property holds." in first.text()
