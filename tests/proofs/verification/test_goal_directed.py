"""Induction of some properties only: the same verdicts as of all, with less work."""

from __future__ import annotations

import pytest

from schedproof.model.lang import Model
from schedproof.model.lang.properties import WELL_FORMED
from schedproof.model.registry.discovery import systems
from schedproof.proofs.induction import Induction, prove
from schedproof.proofs.induction.solve import _Prover
from tests.support.toys import MUTEX, WORKSHOP

HIVED = systems()["hived"].variants["repaired"]


def differing(model: Model, whole: Induction, names: list[str]) -> list[str]:
    """The properties that have another verdict on their own, or a support that is not proved."""
    found = []
    for name in names:
        alone = prove(model, every=False, only=[name])
        if alone.proved(name) != whole.proved(name) or (
            alone.proved(name) and not all(whole.proved(each) and alone.proved(each) for each in alone.support(name))
        ):
            found.append(name)
    return found


@pytest.mark.parametrize("model", [MUTEX, WORKSHOP], ids=["mutex", "workshop"])
def test_one_property_alone_has_the_same_verdict(model: Model) -> None:
    whole = prove(model, every=False)
    names = list(dict.fromkeys(o.invariant for o in whole.proof.obligations))
    assert WELL_FORMED in names and len(names) >= 4
    assert differing(model, whole, names) == []


def test_hived_s_properties_alone_have_the_same_verdicts() -> None:
    whole = prove(HIVED, every=False)
    names = list(dict.fromkeys(o.invariant for o in whole.proof.obligations))[::24]
    assert differing(HIVED, whole, names) == []


def test_only_what_is_assumed_is_asked_as_well() -> None:
    whole, alone = prove(HIVED, every=False), prove(HIVED, every=False, only=["reserving-cell"])
    asked = {answer.obligation.invariant for answer in alone.answers}
    assert asked == {"reserving-cell"} | alone.support("reserving-cell")
    assert len(alone.answers) * 2 < len(whole.answers)
    assert alone.inductive <= asked


def test_a_proof_without_its_lemmas_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A seeded fault: what a proof assumes is never asked."""
    whole = prove(MUTEX, every=False)
    monkeypatch.setattr(_Prover, "ask_what_is_assumed", lambda self: None)
    names = list(dict.fromkeys(o.invariant for o in whole.proof.obligations))
    assert differing(MUTEX, whole, names) != []
