"""What is proved of a model that is not known to be well-formed: nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from schedproof.model.lang import Invariant, Model
from schedproof.model.lang.properties import WELL_FORMED
from schedproof.model.registry.system import System
from schedproof.proofs.coverage.unreached import _proved
from schedproof.proofs.exploration.counterexample_text import counterexample_lines
from schedproof.proofs.induction import Induction, prove
from schedproof.proofs.verdict import Verdict
from schedproof.proofs.verification.verify import verify_variant
from tests.support.ill_formed import EVEN, KEPT, STEPS, x


def only_kept(model: Model) -> Induction:
    return prove(model, only=["kept"])


@pytest.mark.parametrize("how", [prove, only_kept])
def test_nothing_is_proved_of_a_model_that_may_be_ill_formed(how: object) -> None:
    induction = how(STEPS)  # type: ignore[operator]
    assert induction.kept("kept") and not induction.well_formed
    assert not induction.proved("kept")
    assert induction.why_not("kept").obligation.invariant == WELL_FORMED


@pytest.mark.parametrize("how", [prove, only_kept])
def test_it_is_proved_with_the_lemma_that_well_formedness_needs(how: object) -> None:
    induction = how(replace(STEPS, properties=[KEPT, EVEN]))  # type: ignore[operator]
    assert induction.proved("kept") and induction.why_not("kept") is None
    assert "even" in induction.support("kept"), "its cached verdict depends on this lemma"


def test_well_formedness_may_need_a_lemma_expected_to_fail() -> None:
    induction = prove(replace(STEPS, properties=[KEPT, EVEN], refuted=frozenset({"even"})))
    assert induction.proved("kept") and induction.proved("even") and induction.proved(WELL_FORMED)


def test_well_formedness_may_be_known_from_another_proof() -> None:
    assert prove(STEPS, known={WELL_FORMED}).proved("kept")


@pytest.mark.parametrize("only", [["kept"], ["kept", WELL_FORMED], []])
def test_verify_agrees(only: list[str]) -> None:
    report = verify_variant(System.of(STEPS), STEPS, only=only)
    result = next(each.result for each in report.properties if each.result.name == "kept")
    assert result.verdict is Verdict.UNDETERMINED
    assert result.note.startswith("the model is not proved well-formed: not inductive: well-formed / grow / ")
    assert result.counterexample is not None and not report.ok


def test_an_ill_formed_step_is_called_so() -> None:
    why = prove(STEPS).why_not(WELL_FORMED)
    assert why is not None and why.counterexample is not None
    lines = counterexample_lines(STEPS, why.counterexample)
    assert "      this step is ill-formed: no state follows it" in lines
    assert "nothing changes" not in "\n".join(lines)
    assert "which sets n to 3" in why.counterexample.steps[-1].as_json()["ill_formed"]


def test_an_invariant_that_an_ill_formed_step_fails_says_so() -> None:
    """The step leaves the range of n, so what its state after would be is no violation of the invariant."""
    small = Invariant(name="small", says="n is in its range", over=[x], then=x.n <= 2)
    why = prove(replace(STEPS, properties=[small])).why_not("small")
    assert why is not None and why.counterexample is not None and why.note == "not inductive"
    assert why.counterexample.problem.startswith("property small is not inductive: this step is ill-formed (")
    assert "), so well-formed fails here too, and no assumed" in why.counterexample.problem


def test_nothing_is_unreachable_if_the_model_may_be_ill_formed() -> None:
    """``generate`` says that a goal is unreachable only if steps are proved well-formed."""
    never = {"never 1": replace(KEPT, name="never 1")}
    assert _proved(replace(STEPS, properties=[]), never, 60.0, lambda line: None) == set()
    assert _proved(replace(STEPS, properties=[EVEN]), never, 60.0, lambda line: None) == {"never 1"}


def test_the_initial_state_refutes_and_a_failed_step_does_not() -> None:
    large = Invariant(name="large", says="the number is 2", over=[x], then=x.n == 2)
    small = Invariant(name="small", says="the number is 0", over=[x], then=x.n == 0)
    induction = prove(replace(STEPS, properties=[EVEN, large, small]))
    assert [
        (a.obligation.action, a.verdict, a.note) for a in induction.of("large") if a.verdict is not Verdict.PROVED
    ] == [("(initial)", Verdict.REFUTED, "violated in the initial state")]
    assert [
        (a.obligation.action, a.verdict, a.note) for a in induction.of("small") if a.verdict is not Verdict.PROVED
    ] == [("grow", Verdict.UNDETERMINED, "not inductive")]
