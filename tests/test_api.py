"""What ``schedproof.api`` says of a call: nothing looks checked that was not, and objects become JSON whole."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from schedproof import api
from schedproof.api import (
    Engine,
    Exploring,
    LogVerdict,
    Method,
    Saving,
    SchedproofError,
    System,
    UserError,
    Verdict,
    check_records,
    check_trace,
    findings,
    load_system,
    model_check,
    prove,
    verify,
    verify_variant,
)
from schedproof.model.lang import IntRange, InvariantAtScope, variable
from schedproof.model.lang.terms import lift
from schedproof.model.locks.errors import LocksError
from schedproof.model.systems.hived import AS_WRITTEN
from tests.support.lamps import lamps, x
from tests.support.rows import each_row
from tests.support.toys import MUTEX, WORKSHOP

LAMPS = lamps()

UNKNOWN: dict[str, Callable[[], object]] = {
    "model_check": lambda: model_check(LAMPS, {}, only=["nosuch"]),
    "prove": lambda: prove(LAMPS, only=["nosuch"]),
    "prove, known": lambda: prove(LAMPS, known=["nosuch"]),
    "verify": lambda: verify([System.of(LAMPS)], only=["nosuch"]),
    "verify_variant": lambda: verify_variant(System.of(LAMPS), LAMPS, only=["nosuch"]),
    "findings": lambda: findings(System.of(LAMPS), variants=["nosuch"]),
    "Induction.of": lambda: prove(LAMPS).of("nosuch"),
    "Induction.proved": lambda: prove(LAMPS).proved("nosuch"),
    "Induction.support": lambda: prove(LAMPS).support("nosuch"),
    "Induction.seconds": lambda: prove(LAMPS).seconds("nosuch"),
}


@each_row("call", UNKNOWN.values(), ids=UNKNOWN.keys())
def test_an_unknown_name_is_refused(call: Callable[[], object]) -> None:
    """With no property checked, every property would hold."""
    with pytest.raises(UserError, match=r"unknown (property|variant) 'nosuch' of lamps.*; choose from "):
        call()


def test_a_string_is_no_list_of_what_is_known() -> None:
    """A part of a string would count as proved."""
    with pytest.raises(api.ArgumentError, match=r"known is the string 'not-stays-dark'; write a list of names"):
        prove(LAMPS, known="not-stays-dark")


def test_one_unknown_name_among_known_ones_is_refused() -> None:
    with pytest.raises(UserError, match="unknown property 'nosuch'"):
        verify([System.of(LAMPS)], only=["stays-dark", "nosuch"])


def test_a_property_of_one_variant_is_enough_for_verify() -> None:
    other = replace(LAMPS, variant="other", properties=LAMPS.properties[1:], refuted=frozenset())
    system = replace(System.of(LAMPS), variants={"plain": LAMPS, "other": other})
    assert [report.variant for report in verify([system], only=["stays-dark"])] == ["plain"]


def test_induction_has_no_support_for_what_it_does_not_prove() -> None:
    induction = prove(LAMPS)
    assert not induction.proved("stays-dark")
    with pytest.raises(UserError, match="'stays-dark' is not proved"):
        induction.support("stays-dark")


def test_a_property_that_was_not_asked_is_not_proved() -> None:
    induction = prove(LAMPS, only=["on-or-off"])
    assert induction.proved("on-or-off") and not induction.proved("one-state")
    with pytest.raises(UserError, match="is not proved"):
        induction.support("one-state")


def test_induction_refuses_a_property_at_a_scope() -> None:
    prop = InvariantAtScope(name="at-scope", says="", over=[x], then=x.is_("On", "Off"))
    model = replace(LAMPS, properties=[*LAMPS.properties, prop])
    with pytest.raises(UserError, match="of the kind 'invariant at a scope', which induction cannot prove"):
        prove(model, only=["at-scope"])


def test_a_property_about_crashes_is_refused_without_crashes() -> None:
    """Alone, or beside others: without an answer it would pass for checked."""
    for others in ([], ["free-cell"]):
        with pytest.raises(UserError, match=r"'recovery-from-durable' of hived as-written is about crashes only"):
            model_check(AS_WRITTEN, {}, only=["recovery-from-durable", *others], how=Exploring(crash=False))


def test_a_proof_differs_from_an_exploration() -> None:
    [_, explored] = model_check(MUTEX, {}, only=["well-formed", "held"])
    assert (explored.verdict, explored.method, explored.for_any_number) == (Verdict.PROVED, Method.EXPLORATION, False)
    report = verify_variant(System.of(MUTEX), MUTEX)
    results = {each.result.name: each.result for each in report.properties}
    assert results["held"].for_any_number and results["held"].scope is None
    assert not results["leaving"].for_any_number, "liveness is explored only"
    refuted = replace(results["held"], verdict=Verdict.REFUTED)
    assert not refuted.for_any_number


def test_an_engine_may_be_named() -> None:
    assert Exploring("compiled").engine is Engine.COMPILED  # type: ignore[arg-type]


def test_paths_may_be_strings(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text(
        '{"schedproof": 1, "system": "lamps", "objects": {"Lamp": ["a"]}}\n{"action": "switch_on", "parameters": {"x": "a"}}\n'
    )
    assert check_trace(System.of(LAMPS), str(log)).verdict is LogVerdict.CONFORMS
    assert load_system("hived", str(tmp_path)).name == "hived"


HEADER = {"schedproof": 1, "system": "hived", "objects": {"PodGroup": ["g"], "Cell": ["c"]}}
ALLOCATED = {"action": "allocate", "parameters": {"p": "g", "K": ["c"]}}


def test_records_may_be_mappings_and_tuples() -> None:
    record = MappingProxyType({"action": "allocate", "parameters": MappingProxyType({"p": "g", "K": ("c",)})})
    assert check_records("hived", MappingProxyType(HEADER), iter([record])).verdict is LogVerdict.CONFORMS


def test_a_generator_is_read_until_it_does_not_conform() -> None:
    read = []

    def records() -> Iterator[Any]:
        for each in (ALLOCATED, ALLOCATED, ALLOCATED):
            read.append(each)
            yield each

    assert check_records("hived", HEADER, records()).verdict is LogVerdict.VIOLATES
    assert len(read) == 2


def test_an_empty_state_shows_nothing() -> None:
    assert check_records("hived", HEADER, [{"state": {}}]).verdict is LogVerdict.UNDETERMINED
    assert (
        check_records("hived", HEADER, [{"state": {"Cell": {"c": {"state": "Free"}}}}]).verdict is LogVerdict.CONFORMS
    )


def test_a_proof_can_be_printed() -> None:
    """z3 itself cannot print some of the formulas that the answers stand for; their text is left out."""
    assert repr(prove(WORKSHOP)).startswith("Induction(answers=(Answer(obligation=Obligation(invariant=")


def test_a_number_may_come_first() -> None:
    size = variable(IntRange(0, 3), "n")
    assert str(1 + size) == str(lift(1) + size)


def test_a_folder_of_checkpoints_may_be_a_string(tmp_path: Path) -> None:
    assert Saving(str(tmp_path)) == Saving(tmp_path)  # type: ignore[arg-type]


def test_a_variant_that_violates_a_property_explains_such_logs() -> None:
    """Not to one that satisfies it, as docs/reference/trace-formats.md says."""
    [result] = model_check(AS_WRITTEN, {"PodGroup": 2, "Cell": 1}, only=["preemption-ongoing"])
    assert result.counterexample is not None
    hived = load_system("hived")
    names = [each.object for each in result.counterexample.objects]
    groups, cells = ([n for n in names if n.startswith(letter)] for letter in "gc")
    header = {
        "schedproof": 1,
        "system": "hived",
        "objects": {"PodGroup": groups, "Cell": cells},
        "rigid": {"PodGroup": {"outranks": {"g1": ["g0"]}}},
    }
    records: list[dict[str, Any]] = [
        {"action": s.action, "parameters": s.parameters} for s in result.counterexample.steps
    ]
    sorts = {each.object: each.sort for each in result.counterexample.objects}
    for each in result.counterexample.end:
        records[-1].setdefault("state", {}).setdefault(sorts[each.object], {})[each.object] = each.fields
    report = check_records(hived, header, records, "as-written")
    assert (report.verdict, report.breaks) == (LogVerdict.CONFORMS, ())
    assert check_records(hived, header, records, "repaired").verdict is LogVerdict.VIOLATES


@pytest.mark.parametrize("record", [{"action": "allocate", "parameters": {"K": {"c"}}}, ["crash"], {"action": "leap"}])
def test_the_line_of_a_wrong_record_is_its_number(record: Any) -> None:
    with pytest.raises(api.TraceError, match="record 2") as caught:
        check_records("hived", {"schedproof": 1, "system": "hived"}, [{"action": "crash"}, record])
    assert caught.value.line == 2


def test_a_model_without_lambdas_can_be_pickled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also one with the default configurations, which are a function."""
    hived = load_system("hived").variants["as-written"]
    # What validation keeps beside a term; without it the test would depend on what ran before.
    monkeypatch.setitem(vars(hived.actions[0].when[0]), "_partial", lambda: None)
    for model in (MUTEX, hived):
        copied = pickle.loads(pickle.dumps(model))
        assert [r.reach for r in model_check(copied, {})] == [r.reach for r in model_check(model, {})]


@each_row(
    "kind",
    [api.ModelError, api.ScopeError, api.TraceError, api.UserError, api.ArgumentError, api.CheckpointError, LocksError],
)
def test_errors_about_input_have_one_base(kind: type[Exception]) -> None:
    assert issubclass(kind, SchedproofError)
    assert kind.exit_code == 2  # type: ignore[attr-defined]


def test_errors_are_what_they_were() -> None:
    assert issubclass(api.ScopeError, ValueError) and issubclass(api.TraceError, ValueError)
    assert issubclass(api.ArgumentError, TypeError)
    assert not issubclass(api.Disagreement, SchedproofError), "that is no mistake of the user"
    copied = pickle.loads(pickle.dumps(api.ArgumentError("a; b")))
    assert (type(copied), str(copied)) == (api.ArgumentError, "a; b")


def as_json(value: Any) -> Any:
    """What a reader of the JSON gets."""
    return json.loads(json.dumps(value.as_json()))


def test_a_result_as_json_is_its_entry_of_verify() -> None:
    for each in verify_variant(System.of(LAMPS), LAMPS).properties:
        entry = each.as_json()
        assert entry.pop("expected") == each.expected
        assert entry == each.result.as_json()


def test_a_counterexample_as_json_has_its_initial_state() -> None:
    [result] = model_check(AS_WRITTEN, {"PodGroup": 2, "Cell": 2}, only=["preemption-ongoing"])
    content = as_json(result)["counterexample"]
    assert content["objects"]["c0"] == {"sort": "Cell", "rigid": {}}
    groups = [each for each in content["objects"].values() if each["sort"] == "PodGroup"]
    assert any(each["rigid"] == {"outranks": ["g0"]} for each in groups)
    assert content["initial"]["c0"]["state"] == "Free"
    assert set(content["initial"]) == set(content["objects"])
    assert result.counterexample is not None
    step, shown = result.counterexample.steps[0], content["steps"][0]
    assert (shown["says"], shown["line"], shown["fact"]) == (step.says, step.line, step.fact)


def test_an_induction_as_json_has_every_answer() -> None:
    induction = prove(LAMPS)
    content = as_json(induction)
    assert (content["system"], content["variant"]) == ("lamps", "plain")
    assert set(content["proved"]) == {"well-formed", "on-or-off"}
    answers = [(a.obligation.invariant, a.obligation.action, str(a.verdict)) for a in induction.answers]
    assert [(o["invariant"], o["action"], o["verdict"]) for o in content["obligations"]] == answers
    assert any("counterexample" in entry for entry in content["obligations"])
