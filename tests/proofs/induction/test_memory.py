"""A proof's z3 context is freed with the proof, without a garbage collection."""

from __future__ import annotations

import weakref

import pytest

from schedproof.model.lang import Model
from schedproof.model.systems.hived import AS_WRITTEN as HIVED
from schedproof.proofs.gc_paused import gc_paused
from schedproof.proofs.induction import prove
from schedproof.proofs.induction.recheck import smt
from tests.support.sample import thinned
from tests.support.toys import WORKSHOP


@pytest.mark.parametrize(("model", "only"), thinned([(WORKSHOP, ()), (HIVED, ("used-cell",))], 2))
def test_a_dropped_proof_leaves_no_context(model: Model, only: tuple[str, ...]) -> None:
    with gc_paused():
        induction = prove(model, only=only)
        assert any(cascade.witnesses for cascade in induction.proof.cascades.values()), "an event fires by a predicate"
        answer = induction.answers[0]
        assert smt(induction, answer)
        context = weakref.ref(induction.proof.symbols.context)
        del induction
        assert context() is not None, "the formulas of an answer that is kept stay valid"
        assert str(answer.obligation.goal)
        del answer
        assert context() is None
