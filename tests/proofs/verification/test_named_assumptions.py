"""Assumptions with names: what holds only with one is proved with it and refuted without it, and the verdict names it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from schedproof.cli import main
from schedproof.model.lang import (
    Action,
    Attribute,
    Invariant,
    Machine,
    Model,
    ModelError,
    Nat,
    Rigid,
    Row,
    Sort,
    State,
    forall,
    me,
    variable,
)
from schedproof.model.registry.system import System
from schedproof.proofs import cache
from schedproof.proofs.checking.model_check import model_check
from schedproof.proofs.induction import prove, recheck
from schedproof.proofs.traces import LogVerdict, TraceError, check_records
from schedproof.proofs.verdict import Verdict
from schedproof.proofs.verification.parts import Done, Work, check_part_of, parts
from schedproof.proofs.verification.verdict_cache import VerdictCache
from schedproof.proofs.verification.verify import VariantReport, verify_variant
from tests.support.user_repository import imports_undone

Job = Sort("Job", "j")
j = variable(Job, "j")
LOW = {"ranks are low": forall(j, j.rank < 3)}


def ranks(*values: int) -> list[Rigid]:
    return [{("Job", "rank"): list(values)}]


ASSUMING = Model(
    system="jobs",
    variant="as-written",
    about="jobs of all ranks start",
    machines=[Machine(Job, [State("Waiting"), State("Running")], [Attribute("rank", Nat, rigid=True)])],
    rows=[Row(Job, "start", "Waiting", "Running")],
    actions=[Action("start", [j], [j.is_("Waiting")], [j.fires("start")], "{j} starts")],
    rules=[],
    properties=[
        Invariant(name="low-ranks", says="only low ranks run", over=[j], given=j.is_("Running"), then=j.rank + 1 <= 3)
    ],
    default_scope={"Job": 2},
    assuming=LOW,
    configurations=lambda sizes: ranks(0, 2),
)
HIGH = replace(ASSUMING, variant="any-rank", assuming={}, configurations=lambda sizes: ranks(0, 3))


def reach(model: Model, name: str = "low-ranks") -> str:
    report: VariantReport = verify_variant(System.of(model), model)
    return next(each.reach for each in report.properties if each.result.name == name)


def test_a_proof_names_what_it_assumes() -> None:
    assert reach(ASSUMING) == "proved (any number), assuming ranks are low"
    (holds,) = model_check(ASSUMING, {}, only=["low-ranks"])
    assert holds.reach == "holds at Job=2, assuming ranks are low"
    assert holds.as_json()["assuming"] == ["ranks are low"]


def test_what_is_proved_without_it_names_none() -> None:
    assert reach(ASSUMING, "well-formed") == "proved (any number)"


def test_both_solvers_prove_it_with_the_assumption_only() -> None:
    induction = prove(ASSUMING)
    assert induction.proved("low-ranks")
    assert all(each.agrees for each in recheck(induction))
    assert not prove(HIGH).proved("low-ranks")


def test_without_the_assumption_it_is_refuted_and_names_none() -> None:
    (refuted,) = model_check(HIGH, {}, only=["low-ranks"])
    assert refuted.verdict is Verdict.REFUTED
    assert "assuming" not in refuted.reach and "assuming" not in refuted.as_json()


def test_what_is_refuted_with_it_names_none() -> None:
    """A violation in one of the configurations that it allows needs no assumption."""
    idle = Invariant(name="idle", says="no job runs", over=[j], then=j.is_("Waiting"))
    (refuted,) = model_check(replace(ASSUMING, properties=[idle]), {}, only=["idle"])
    assert refuted.verdict is Verdict.REFUTED
    assert "assuming" not in refuted.as_json()


def test_a_configuration_that_violates_it_is_refused() -> None:
    with pytest.raises(ModelError, match=r"assumption ranks are low of jobs .* is false on the configuration"):
        model_check(replace(HIGH, assuming=LOW), {})


def test_a_log_whose_header_violates_it_is_refused() -> None:
    def checked_log(rank: int) -> LogVerdict:
        rigid = {"Job": {"rank": {"a": rank}}}
        header = {"schedproof": 1, "system": "jobs", "objects": {"Job": ["a"]}, "rigid": rigid}
        records = [{"action": "start", "parameters": {"j": "a"}}]
        return check_records(System.of(ASSUMING), header, records).verdict

    assert checked_log(2) is LogVerdict.CONFORMS
    with pytest.raises(TraceError, match=r"violates an axiom of the model: ranks are low \(for every j"):
        checked_log(3)


def test_a_variant_may_give_it_up() -> None:
    assert ASSUMING.amend("same", "", [], frozenset()).assuming == LOW
    without = ASSUMING.amend("any-rank", "", [], frozenset(), assuming={}, configurations=lambda sizes: ranks(7))
    assert model_check(without, {}, only=["low-ranks"])[0].verdict is Verdict.REFUTED


EDITED = {
    "another name": {"no rank is high": LOW["ranks are low"]},
    "another formula": {"ranks are low": forall(j, j.rank < 4)},
    "one more": {**LOW, "ranks are even lower": forall(j, j.rank < 9)},
    "none": {},
}
"""Each leaves a configuration with ranks 0 and 2 as it is."""


def has_verdict(done: Done) -> bool:
    return bool(done.results or done.inducted)


@pytest.mark.parametrize("edit", EDITED)
def test_a_cached_verdict_does_not_survive_an_edit(edit: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path))
    edited = replace(ASSUMING, assuming=EDITED[edit])
    works = set()
    for part in parts(System.of(ASSUMING), ASSUMING, ["low-ranks"]):
        of_this, of_edited = (VerdictCache(System.of(each), each, "here") for each in (ASSUMING, edited))
        done = check_part_of(System.of(ASSUMING), ASSUMING, part, {}, lambda line: None)
        of_this.store(part, done)
        assert has_verdict(of_this.load(part))
        assert not has_verdict(of_edited.load(part))
        works.add(part.work)
    assert works == {Work.EXPLORATION, Work.INDUCTION}


LOAD = Machine(
    Job,
    [State("Waiting"), State("Running")],
    [Attribute("rank", Nat, rigid=True), Attribute("load", Nat), Attribute("item", Nat)],
)
ITEMS = Invariant(name="items", says="an item is small", over=[j], then=j.item <= 1)
LIGHT = Invariant(name="light", says="no load is heavy", over=[j], then=j.load <= 3)
LOADING = replace(
    ASSUMING,
    machines=[LOAD],
    rows=[Row(Job, "start", "Waiting", "Running", item=1), Row(Job, "take", "Running", "Running", load=me.item)],
    actions=[
        *ASSUMING.actions,
        Action("take", [j], [j.is_("Running"), j.rank >= 3], [j.fires("take")], "{j} takes an item"),
    ],
    properties=[LIGHT],
    bound={("Job", "load"): 3, ("Job", "item"): 3},
)
"""Low ranks take nothing, so with the assumption the proof needs no other invariant; without it, it needs ITEMS."""


@pytest.mark.parametrize(("first", "then"), [([ITEMS, LIGHT], [LIGHT]), ([LIGHT], [ITEMS, LIGHT])])
def test_what_a_proof_assumes_depends_on_all_that_it_may_use(
    first: list[Invariant], then: list[Invariant], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path))
    one, two = (replace(LOADING, properties=each) for each in (first, then))
    (part,) = [each for each in parts(System.of(one), one, ["light"]) if each.work is Work.INDUCTION]
    done = check_part_of(System.of(one), one, part, {}, lambda line: None)
    assert done.inducted is not None
    assert done.inducted["light"].assuming == (() if ITEMS in first else ("ranks are low",))
    VerdictCache(System.of(one), one, "here").store(part, done)
    assert VerdictCache(System.of(one), one, "here").load(part).inducted == done.inducted
    assert not has_verdict(VerdictCache(System.of(two), two, "here").load(part))


def test_commands_name_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "schedproof.toml").write_text('[systems.jobs]\nmodel = "jobs_model:ASSUMING"\n')
    (tmp_path / "jobs_model.py").write_text(f"from {__name__} import ASSUMING\n")
    monkeypatch.chdir(tmp_path)
    printed = {}
    with imports_undone():
        for command in (["verify"], ["prove"], ["explain", "low-ranks"], ["explore"]):
            name, *arguments = command
            assert main([name, "jobs", *arguments]) == 0
            printed[name] = capsys.readouterr().out
        assert main(["prove", "jobs", "--json", "-"]) == 0
        (variant,) = json.loads(capsys.readouterr().out)["variants"]
    for name, text in printed.items():
        assert ", assuming ranks are low" in text, name
    assert "ranks are low: " in printed["explain"]  # its formula is among the axioms
    assert variant["assuming"] == ["ranks are low"]
