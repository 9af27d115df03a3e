"""What a proof needs, and what it dropped: invariants that fail are neither asked for nor silently missing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from schedproof.model.lang import NONE, Invariant, Model, iff, variable, variables
from schedproof.model.lang.properties import WELL_FORMED
from schedproof.proofs.induction import Induction, prove
from schedproof.proofs.verdict import Verdict
from tests.proofs.strengthen.protocols import LEASES, Lease, Worker
from tests.support.sample import thinned
from tests.support.toys import MUTEX, WORKSHOP

w = variable(Worker, "w")
k, m = variables(Lease, "k m")

ONE_EACH = Invariant(
    name="one-lease-each",
    says="a worker never holds two leases",
    over=[w, k, m],
    given=(k.holder == w) & (m.holder == w),
    then=k == m,
)
HOLDER_WORKS = Invariant(
    name="holder-works", says="the holder of a lease works", over=[w, k], given=k.holder == w, then=w.is_("Working")
)
HELD = Invariant(
    name="held-by-somebody", says="a held lease has a holder", over=[k], then=iff(k.is_("Held"), k.holder != NONE)
)
NOT_INDUCTIVE = Invariant(
    name="all-free", says="all leases are free", over=[k, m], then=iff(k.is_("Held"), m.is_("Held"))
)


def leases(*properties: Invariant, refuted: frozenset[str] = frozenset()) -> Model:
    """Workers that hold leases; ``release`` frees a lease only if it is held."""
    return replace(LEASES, properties=list(properties), refuted=refuted)


def problem(proof: Induction, name: str) -> str:
    """Why a property is not proved, in the words of its counterexample."""
    why = proof.why_not(name)
    assert why is not None and why.counterexample is not None and why.verdict is Verdict.UNDETERMINED
    return why.counterexample.problem


def test_a_dropped_invariant_that_excludes_the_state_is_named() -> None:
    """A worker that is idle and holds a lease contradicts ``holder-works``, which is true, and not inductive yet."""
    assert "would, but" not in problem(prove(leases(ONE_EACH)), "one-lease-each")
    text = problem(prove(leases(ONE_EACH, HOLDER_WORKS)), "one-lease-each")
    assert text.endswith("; holder-works would, but it is not inductive itself: prove that one first")
    assert prove(leases(ONE_EACH, HOLDER_WORKS, HELD)).proved("one-lease-each")


def test_an_invariant_that_is_expected_to_fail_excludes_nothing() -> None:
    text = problem(prove(leases(ONE_EACH, HOLDER_WORKS, refuted=frozenset({"holder-works"}))), "one-lease-each")
    assert "would, but" not in text


@pytest.mark.parametrize("model", thinned([leases(ONE_EACH, HOLDER_WORKS, HELD, NOT_INDUCTIVE), WORKSHOP, MUTEX], 3))
def test_a_proof_of_one_property_asks_only_for_what_it_uses(model: Model) -> None:
    every = prove(model)
    for name in (p.name for p in model.properties if type(p) is Invariant):
        if every.proved(name):
            proof = prove(model, only=[name])
            asked = {answer.obligation.invariant for answer in proof.answers}
            assert asked == {name, WELL_FORMED} | proof.support(name)


def test_if_the_property_fails_every_failure_is_kept() -> None:
    """One of the others may be the cause."""
    model = replace(leases(ONE_EACH, HOLDER_WORKS), refuted=frozenset())
    proof = prove(model, only=["one-lease-each"])
    assert {answer.obligation.invariant for answer in proof.answers} == {WELL_FORMED, "one-lease-each", "holder-works"}
