"""Induction of some properties only: the same verdicts as of all, with less work."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random

import pytest

from schedproof.model.lang import Action, Invariant, Machine, Model, Row, Sort, State, forall, variables
from schedproof.model.lang.properties import WELL_FORMED
from schedproof.model.registry.discovery import systems
from schedproof.proofs.induction import Induction, prove
from schedproof.proofs.induction.solve import _Prover
from tests.proofs.induction.test_follows import random_toy
from tests.support.sample import thinned
from tests.support.toys import MUTEX, WORKSHOP

HIVED = systems()["hived"].variants["repaired"]


def differing(model: Model, whole: Induction, names: list[str]) -> list[str]:
    """The properties that have another verdict on their own, or a support that is not proved."""
    differing_names = []
    for name in names:
        alone = prove(model, every=False, only=[name])
        if alone.proved(name) != whole.proved(name) or (
            alone.proved(name) and not all(whole.proved(each) and alone.proved(each) for each in alone.support(name))
        ):
            differing_names.append(name)
    return differing_names


@pytest.mark.parametrize("model", thinned([MUTEX, WORKSHOP], 2), ids=["mutex", "workshop"])
def test_one_property_alone_has_the_same_verdict(model: Model) -> None:
    whole = prove(model, every=False)
    names = list(dict.fromkeys(o.invariant for o in whole.proof.obligations))
    assert WELL_FORMED in names and len(names) >= 4
    assert differing(model, whole, names) == []


@pytest.mark.long(seconds=11, one_in=12)
def test_hived_s_properties_alone_have_the_same_verdicts() -> None:
    whole = prove(HIVED, every=False)
    names = list(dict.fromkeys(o.invariant for o in whole.proof.obligations))[::24]
    assert differing(HIVED, whole, names) == []


@pytest.mark.long
def test_only_what_is_assumed_is_asked_as_well() -> None:
    alone = prove(HIVED, every=False, only=["reserving-cell"])
    asked = {answer.obligation.invariant for answer in alone.answers}
    assert asked == {"reserving-cell", WELL_FORMED} | alone.support("reserving-cell")
    assert asked < {obligation.invariant for obligation in alone.proof.obligations}
    assert alone.inductive <= asked


def test_a_proof_without_its_lemmas_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A seeded fault: what a proof assumes is never asked."""
    whole = prove(MUTEX, every=False)
    monkeypatch.setattr(_Prover, "ask_what_is_assumed", lambda self: None)
    names = list(dict.fromkeys(o.invariant for o in whole.proof.obligations))
    assert differing(MUTEX, whole, names) != []


Clerk = Sort("Clerk", "c")
a, b, c = variables(Clerk, "a b c")
CLERK = Machine(Clerk, [State("Idle"), State("Busy"), State("Late")])
STEPS = {"start": ("Idle", "Busy"), "stop": ("Busy", "Idle"), "doze": ("Idle", "Late")}
ROWS = [Row(Clerk, name, *arrow) for name, arrow in STEPS.items()]
NOBODY_LATE = Invariant(name="nobody-late", says="nobody is late", over=[a], then=~a.is_("Late"))
NOT_TWO = Invariant(
    name="not-two", says="no two are busy", over=[a, b], given=a.is_("Busy") & b.is_("Busy"), then=a == b
)
NOT_THREE = Invariant(
    name="not-three",
    says="no three are busy",
    over=[a, b, c],
    then=~(a.is_("Busy") & b.is_("Busy") & c.is_("Busy") & (a != b) & (b != c) & (a != c)),
)


def office(*properties: Invariant, alone: bool, refuted: Sequence[str] = ()) -> Model:
    """Clerks who start, one at a time or as they like."""
    free = [forall(b, ~b.is_("Busy"))] if alone else []
    actions = [
        Action(name, [a], [a.is_(source), *(free if name == "start" else [])], [a.fires(name)], "{a} does it")
        for name, (source, _) in STEPS.items()
    ]
    return Model(
        system="office", variant="one", about="clerks", machines=[CLERK], rows=ROWS, actions=actions, rules=[],
        properties=properties, default_scope={"Clerk": 2}, refuted=frozenset(refuted),
    )  # fmt: skip


def test_a_lemma_is_asked_though_something_else_failed() -> None:
    """The one wanted property fails, the other is proved with a lemma that nobody has asked yet, and that is wrong."""
    model = office(NOT_THREE, NOBODY_LATE, NOT_TWO, alone=False)
    both = prove(model, every=False, only=["not-three", "nobody-late"])
    assert not both.proved("not-three") and not prove(model).proved("not-three")
    assert {name for answer in both.of("not-three") for name in answer.used} <= both.inductive


def test_a_lemma_may_be_expected_to_fail_and_hold() -> None:
    """Who meets another busy clerk is late: nobody is, because no two are busy, which is said to fail."""
    model = office(NOBODY_LATE, NOT_TWO, alone=True, refuted=["not-two"])
    meet = Action("meet", [a, b], [a != b, a.is_("Busy"), b.is_("Busy")], [a.fires("meet")], "{a} meets {b}")
    kept = [each for each in model.actions if each.name != "doze"]
    model = replace(model, actions=[*kept, meet], rows=[*ROWS, Row(Clerk, "meet", "Busy", "Late")])
    whole = prove(model, every=False)
    assert whole.proved("nobody-late") and whole.proved("not-two")
    for only in (["nobody-late"], ["not-two"], ["nobody-late", "not-two"]):
        assert all(prove(model, every=False, only=only).proved(name) for name in only), only


@pytest.mark.parametrize("seed", thinned(range(12), 8))
def test_some_properties_of_random_models_have_the_same_verdicts(seed: int) -> None:
    random = Random(seed)
    toy = random_toy(seed)
    for _ in range(3):
        expected = [name for name in toy.clauses if random.random() < 0.3]
        model = toy.model(refuted=frozenset(expected))
        whole = prove(model, every=False)
        names = sorted({o.invariant for o in whole.proof.obligations})
        some = random.sample(names, random.randint(1, len(names)))
        induction = prove(model, every=False, only=some)
        assert [induction.proved(n) for n in some] == [whole.proved(n) for n in some], (seed, expected, some)
        assert all(induction.support(n) <= induction.inductive for n in some if induction.proved(n))
