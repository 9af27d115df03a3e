"""Assumptions on the environment: what can be reached only after a late heartbeat, or only before, on jobs that get stuck."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
    ModelError,
    Row,
    Sort,
    State,
    Term,
    forall,
    variable,
)
from schedproof.model.registry.system import System
from schedproof.proofs.checking.model_check import model_check
from schedproof.proofs.verdict import Result, Verdict
from schedproof.proofs.verification import assumptions
from schedproof.proofs.verification.assumptions import rests_on, wrong
from schedproof.proofs.verification.findings import findings
from schedproof.proofs.verification.parts import parts
from schedproof.proofs.verification.verdict_cache import VerdictCache
from schedproof.proofs.verification.verify import verify_variant

Job = Sort("Job", "j")
j = variable(Job, "j")

CAN_END = AlwaysCanReach(name="can-end", says="a job can end", over=[j], goal=j.is_("Done"))
CAN_RUN_AGAIN = AlwaysCanReach(
    name="can-run-again", says="a job can run again", over=[j], given=j.is_("Done"), goal=j.is_("Running")
)
GOES_ON = AlwaysCanReach(name="goes-on", says="a job can run", over=[j], goal=j.is_("Running"))
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
        assumes={each.name: ["Job.punctual"] for each in properties if each.name == "can-end"},
    )


def mended(*punctual: bool) -> Model:
    """Jobs that get stuck and are mended; the reaper ends a stuck one whose heartbeat is late."""
    stuck = jobs(*punctual)
    return replace(
        stuck,
        rows=[row for row in stuck.rows if row.event != "end"] + [Row(Job, "mend", "Stuck", "Running")],
        actions=[
            *(action for action in stuck.actions if action.name != "end"),
            Action("mend", [j], [j.is_("Stuck")], [j.fires("mend")], "{j} is mended"),
        ],
        properties=[GOES_ON],
        refuted=frozenset(),
        assumes={"goes-on": ["Job.punctual"]},
    )


def test_a_violation_that_shows_only_under_an_assumption() -> None:
    assert rests_on(jobs(True))[1]["can-end"] == {"Job.punctual"}


@pytest.mark.parametrize("punctual", [True, False])
def test_a_violation_that_shows_without_it_too(punctual: bool) -> None:
    assert rests_on(jobs(punctual))[1]["can-run-again"] == frozenset()


def test_one_configuration_without_it_is_enough() -> None:
    """Where nothing is assumed, and the property is violated, the violation rests on nothing."""
    stays = replace(CAN_END, goal=j.is_("Running"))
    assert rests_on(jobs(True, False, properties=[stays])) == ({"can-end"}, {"can-end": frozenset()})


def breaking(*configurations: Mapping[str, bool], when: Term = j.may_end & j.may_break) -> Model:
    """Jobs that run; one that fulfils a condition ends. A configuration may leave an attribute out."""
    return Model(
        system="jobs",
        variant="as-written",
        about="jobs that end if they may",
        machines=[
            Machine(
                Job,
                [State("Running"), State("Done")],
                [Attribute(name, BoolType(), rigid=True, assumed=False) for name in ("may_end", "may_break")],
            )
        ],
        rows=[Row(Job, "end", "Running", "Done")],
        actions=[Action("end", [j], [j.is_("Running"), when], [j.fires("end")], "{j} ends")],
        rules=[],
        properties=[CAN_END],
        configurations=lambda sizes: [
            {("Job", name): [value] for name, value in each.items()} for each in configurations
        ],
        default_scope={"Job": 1},
        refuted=frozenset({"can-end"}),
    )


BOTH = frozenset({"Job.may_end", "Job.may_break"})


def test_configurations_that_rest_on_different_assumptions() -> None:
    one = {"may_end": False, "may_break": True}
    other = {"may_end": True, "may_break": False}
    assert rests_on(breaking(one))[1]["can-end"] == {"Job.may_end"}
    assert rests_on(breaking(one, other))[1]["can-end"] == BOTH


def test_a_violation_that_needs_one_of_two_assumptions() -> None:
    """Each of the two is enough for the violation, so it goes away only without both."""
    neither = {"may_end": False, "may_break": False}
    assert rests_on(breaking(neither))[1]["can-end"] == BOTH
    assert rests_on(breaking(neither, when=j.may_end))[1]["can-end"] == {"Job.may_end"}


def test_what_holds_by_one_of_two_assumptions() -> None:
    model = breaking({"may_end": False, "may_break": False})
    goes_on = replace(model, properties=[GOES_ON], refuted=frozenset())
    assert rests_on(goes_on) == (frozenset(), {"goes-on": BOTH})


def test_axioms_may_forbid_to_be_without_both() -> None:
    model = breaking({"may_end": False, "may_break": False})
    not_both = forall(j, ~(j.may_end & j.may_break))
    for one_of_them in (replace(model, axioms=[not_both]), replace(model, assuming={"not both": not_both})):
        assert rests_on(one_of_them)[1]["can-end"] == frozenset()


def test_what_configurations_leave_out_is_assumed_too() -> None:
    """It has its initial value: false, unless the attribute says otherwise."""
    model = breaking({"may_break": True})
    assert rests_on(model)[1]["can-end"] == {"Job.may_end"}
    named = replace(model, assumes={"can-end": ["Job.may_end"]})
    assert wrong(named) == []
    assert verify_variant(System.of(named), named, only=["can-end"]).ok
    (machine,) = model.machines
    begins_true = [replace(each, initial=True) for each in machine.attributes]
    can = replace(model, machines=[replace(machine, attributes=begins_true)])
    assert rests_on(can) == (frozenset(), {"can-end": frozenset()})


def test_what_holds_only_under_an_assumption() -> None:
    assert rests_on(mended(True)) == (frozenset(), {"goes-on": {"Job.punctual"}})
    assert wrong(mended(True)) == []


def test_what_holds_without_it_too() -> None:
    """Invariants are not asked: without an assumption they are checked by induction."""
    lasting = replace(GOES_ON, goal=j.is_("Running", "Stuck", "Done"))
    assert rests_on(replace(mended(True), properties=[lasting, NEVER_STUCK], assumes={}))[1] == {"goes-on": frozenset()}


def test_the_list_is_compared() -> None:
    assert wrong(jobs(True)) == []
    (line,) = wrong(replace(jobs(True), assumes={}))
    assert line.startswith("can-end (") and line.endswith('write assumes={"can-end": ["Job.punctual"]}')
    (line,) = wrong(replace(jobs(True), assumes={"can-run-again": ["Job.punctual"], "can-end": ["Job.punctual"]}))
    assert line.endswith('write assumes={"can-run-again": []}')
    (line,) = wrong(replace(mended(True), assumes={}))
    assert line.endswith('write assumes={"goes-on": ["Job.punctual"]}')


@pytest.mark.parametrize("build", [jobs, mended])
@pytest.mark.parametrize(("named", "verdict"), [(True, Verdict.PROVED), (False, Verdict.REFUTED)])
def test_verify_compares_it_if_asked(build: Callable[[bool], Model], named: bool, verdict: Verdict) -> None:
    model = build(True) if named else replace(build(True), assumes={})
    report = verify_variant(System.of(model), model, only=["assumptions"])
    assert [(each.result.name, each.result.verdict) for each in report.properties] == [("assumptions", verdict)]


def test_a_cached_verdict_is_of_what_is_named() -> None:
    keys = []
    named = {"goes-on": ["Job.punctual"]}
    edited = [replace(mended(True), assumes=assumes) for assumes in (named, {"goes-on": []}, {})]
    for model in [*edited, replace(mended(True), assuming={"they come in time": forall(j, j.punctual)})]:
        (part,) = parts(System.of(model), model, ["assumptions"])
        keys.append(VerdictCache(System.of(model), model, "here")._key(part, "assumptions"))
    assert None not in keys and len(set(keys)) == 4


@pytest.mark.parametrize(("punctual", "verdict"), [((True, False), "violated"), ((True,), "not violated")])
def test_an_unexpected_verdict_comes_first(punctual: Sequence[bool], verdict: str) -> None:
    model = mended(*punctual)
    (line,) = wrong(replace(model, refuted=frozenset() if verdict == "violated" else frozenset({"goes-on"})))
    assert line.startswith("goes-on (") and f"it is {verdict}, which the model does not expect; correct" in line


def test_an_assumption_that_nothing_makes_is_refused() -> None:
    with pytest.raises(ModelError, match=r"goes-on assumes Job\.punctual, and no configuration has it true for any"):
        verify_variant(System.of(mended(False)), mended(False), only=["goes-on"])


def test_too_many_states_leave_it_undetermined(monkeypatch: pytest.MonkeyPatch) -> None:
    def unexplored(model: Model, scope: Mapping[str, int]) -> list[Result]:
        return [replace(each, verdict=Verdict.UNDETERMINED, note="too many") for each in model_check(model, scope)]

    monkeypatch.setattr(assumptions, "model_check", unexplored)
    report = verify_variant(System.of(mended(True)), mended(True), only=["assumptions"])
    (checked,) = report.properties
    assert checked.result.verdict is Verdict.UNDETERMINED and "too many" in checked.result.reach
    assert not report.ok


def test_a_verdict_says_what_it_assumes() -> None:
    report = verify_variant(System.of(mended(True)), mended(True), only=["goes-on"])
    (checked,) = report.properties
    assert checked.reach == "holds at Job=1, assuming Job.punctual = true"
    assert checked.as_json()["assumes"] == {"Job.punctual": True}


def test_a_finding_names_it() -> None:
    first, *_ = findings(System.of(jobs(True)))
    assert first.assumes == first.as_json()["assumes"] == {"Job.punctual": True}
    assert "  Assumes: Job.punctual = true. Otherwise the property holds." in first.text()
