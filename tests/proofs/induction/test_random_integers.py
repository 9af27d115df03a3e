"""Random models with integers: z3, cvc5, the interpreter and explorations at several bounds do not contradict each other."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from schedproof.model.lang import Integer, Invariant, StepInvariant
from schedproof.model.lang import terms as t
from schedproof.model.lang.properties import WELL_FORMED
from schedproof.model.semantics import with_bound
from schedproof.proofs.checking.model_check import model_check
from schedproof.proofs.induction import prove, recheck
from schedproof.proofs.verdict import Verdict
from tests.proofs.induction.cross_check import Counts, CrossCheck
from tests.support.random_models import Drawn, IntegerMaker, random_model
from tests.support.sample import thinned

SEEDS = range(40)
PROVABLE = (Invariant, StepInvariant)


def drawn(seed: int) -> Drawn:
    return random_model(seed, IntegerMaker)


def about_integers(model: Drawn) -> set[str]:
    """The properties that read an integer without a bound."""
    names = {a.name for m in model.model.machines for a in m.attributes if isinstance(a.type, Integer)}
    return {
        p.name
        for p in model.model.properties
        if isinstance(p, PROVABLE)
        for term in (p.given, p.then)
        if term is not None
        for part in t.subterms(term)
        if isinstance(part, t.Attr) and part.name in names
    }


def refuted(model: Drawn, low: int, high: int) -> set[str]:
    """What an exploration refutes, if every integer may go from ``low`` to ``high``, and its initial value."""
    bound = {}
    for (sort, name), attribute in model.model.integers.items():
        first, least = int(attribute.initial or 0), getattr(attribute.type, "low", None)
        bound[sort, name] = (min(first, low) if least is None else least, max(first, high))
    results = model_check(with_bound(model.model, bound), dict(model.model.default_scope))
    return {each.name for each in results if each.verdict is Verdict.REFUTED}


@pytest.mark.parametrize("seed", thinned(SEEDS, 20))
def test_what_is_proved_is_refuted_within_no_bound(seed: int) -> None:
    model = drawn(seed)
    proof = prove(model.model, every=False)
    proved = {name for name in proof._by_property if proof.proved(name)}
    for low, high in ((0, 1), (-1, 2), (-3, 3)):
        assert not proved & refuted(model, low, high), (low, high)


@pytest.mark.parametrize("seed", thinned(SEEDS, 20))
def test_z3_and_cvc5_do_not_contradict_each_other(seed: int) -> None:
    checks = list(recheck(prove(drawn(seed).model, every=False), seconds=0.5))
    assert [c.answer.obligation.name for c in checks if c.agrees is False] == []
    assert sum(c.agrees is True for c in checks) >= 0.8 * len(checks)


@pytest.mark.long
def test_some_proofs_are_about_integers() -> None:
    """And some are not: otherwise the comparisons above would say little."""
    kept, lost, formed = 0, 0, 0
    for seed in SEEDS[:16]:
        model = drawn(seed)
        proof = prove(model.model, every=False)
        formed += proof.proved(WELL_FORMED)
        for name in about_integers(model):
            kept += proof.proved(name)
            lost += not proof.proved(name)
    assert min(kept, lost, formed) >= 5


def single(seed: int) -> Iterator[Drawn]:
    """Models without rigid attributes: a comparison of states needs nothing else."""
    for n in range(100):
        model = drawn(1000 * (seed + 1) + n)
        if not any(a.rigid for m in model.model.machines for a in m.attributes):
            yield model


@pytest.mark.parametrize("seed", thinned(range(12), 12))
def test_random_steps_are_read_alike(seed: int) -> None:
    """Formulas of the proof on single states, whose integers may be any, and the interpreter."""
    counts = Counts()
    model = next(single(seed))
    assert list(CrossCheck(model.model, dict(model.model.default_scope), seed).differences(40, counts)) == []
    assert min(counts.true, counts.false) > 20
