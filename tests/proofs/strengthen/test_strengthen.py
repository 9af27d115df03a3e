"""What is inferred makes the property provable, holds at larger scopes, and is never trusted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from schedproof.model.lang import NONE, Invariant, Model, StepInvariant
from schedproof.model.lang.properties import WELL_FORMED
from schedproof.model.lang.wording import show_exactly
from schedproof.proofs.checking.engine import Exploring
from schedproof.proofs.checking.model_check import model_check
from schedproof.proofs.induction import prove
from schedproof.proofs.strengthen import Strengthened, strengthen, without_auxiliary
from schedproof.proofs.strengthen.infer import Inference, Lemma, Limits
from schedproof.proofs.strengthen.together import strengthen_each
from schedproof.proofs.strengthen.wording import renamed, sentence
from schedproof.proofs.verdict import Verdict
from tests.proofs.strengthen.protocols import FUSES, LEASES, LOCK_SERVER, QUEUE, TWO_PHASE
from tests.support.ill_formed import EVEN, STEPS
from tests.support.random_models import random_model
from tests.support.sample import thinned

MODELS = {"leases": LEASES, "lock-server": LOCK_SERVER, "two-phase": TWO_PHASE}
LARGER = {
    "leases": {"Worker": 4, "Lease": 4},
    "lock-server": {"Process": 6},
    "two-phase": {"Member": 5},
}


@pytest.fixture(scope="module")
def results() -> dict[str, Strengthened]:
    return {name: strengthen(model, model.properties[0].name) for name, model in MODELS.items()}


@pytest.mark.parametrize("name", thinned(MODELS, 3, first=1))
def test_a_property_that_is_not_inductive_is_proved(name: str, results: dict[str, Strengthened]) -> None:
    model, result = MODELS[name], results[name]
    assert not prove(model).proved(result.prop)
    assert result.proved
    assert result.inferred
    assert result.why == ""
    assert not any(each.agrees is False for each in result.rechecks)


@pytest.mark.parametrize("name", MODELS)
def test_a_person_can_prove_it_from_what_is_printed(name: str, results: dict[str, Strengthened]) -> None:
    model, result = MODELS[name], results[name]
    longer = replace(model, properties=[*model.properties, *(each.prop for each in result.inferred)])
    proof = prove(longer)
    assert all(proof.proved(p.name) for p in longer.properties)
    assert proof.well_formed


@pytest.mark.parametrize("name", MODELS)
def test_what_is_inferred_holds_at_a_larger_scope(name: str, results: dict[str, Strengthened]) -> None:
    verdicts = model_check(results[name].model, LARGER[name])
    assert {each.verdict for each in verdicts} == {Verdict.PROVED}


@pytest.mark.parametrize("name", thinned(MODELS, 3))
def test_no_inferred_invariant_can_be_left_out(name: str, results: dict[str, Strengthened]) -> None:
    model, result = MODELS[name], results[name]
    for left_out in result.inferred:
        others = [each.prop for each in result.inferred if each is not left_out]
        assert not prove(replace(model, properties=[*model.properties, *others])).proved(result.prop), (
            left_out.prop.name
        )


@pytest.mark.parametrize("name", MODELS)
def test_each_is_inductive_relative_to_what_it_names(name: str, results: dict[str, Strengthened]) -> None:
    result = results[name]
    for each in result.inferred:
        named = {each.prop.name, *each.relative_to}
        alone = replace(result.model, properties=[p for p in result.model.properties if p.name in named])
        answers = prove(alone, only=[each.prop.name]).of(each.prop.name)
        assert {a.verdict for a in answers if a.used <= named} == {Verdict.PROVED}, each.prop.name


def test_leases_need_what_the_guide_finds(results: dict[str, Strengthened]) -> None:
    """The guide ``lemma.md`` finds by hand that the holder works and that a free lease has none."""
    says = {each.prop.says for each in results["leases"].inferred}
    assert says == {"for every l: if l Free, then l.holder = none", "for every w, l: if l.holder = w, then w Working"}


@pytest.mark.long
def test_a_property_that_is_inductive_needs_nothing() -> None:
    lease = LEASES.actions[0].parameters[1]
    known = Invariant(
        name="free", says="a free lease has no holder", over=[lease], given=lease.is_("Free"), then=lease.holder == NONE
    )
    result = strengthen(replace(LEASES, properties=[known]), "free")
    # Its steps keep it, but well-formedness needs that a holder works.
    assert result.proved
    assert [each.prop.says for each in result.inferred] != []
    assert strengthen(result.model, "free").inferred == ()


def test_a_step_invariant_is_strengthened() -> None:
    lease = LEASES.actions[1].parameters[1]
    frees = StepInvariant(
        name="frees-what-is-held", says="release frees a held lease", over=[], on=["release"], then=lease.is_("Held")
    )
    result = strengthen(replace(LEASES, properties=[frees]), "frees-what-is-held")
    assert result.proved
    assert result.inferred


def test_well_formedness_is_strengthened() -> None:
    """With the model's other invariants, and without them."""
    for model in (STEPS, replace(STEPS, properties=[EVEN]), without_auxiliary(STEPS, WELL_FORMED)):
        result = strengthen(model, WELL_FORMED)
        assert result.proved
        assert len(result.inferred) == (0 if EVEN in model.properties else 1)
        assert prove(result.model).well_formed
    assert not prove(STEPS).well_formed


def test_an_ill_formed_step_is_a_violation_of_it() -> None:
    careless = replace(STEPS, actions=[replace(STEPS.actions[0], when=[])])
    result = strengthen(careless, WELL_FORMED)
    assert not result.proved
    assert result.violation is not None and result.violation.prop == WELL_FORMED


def test_a_violation_is_reported_with_its_run() -> None:
    p = LOCK_SERVER.properties[0].over[0]
    wrong = Invariant(name="never-in", says="no process is in", over=[p], then=~p.is_("In"))
    result = strengthen(replace(LOCK_SERVER, properties=[wrong]), "never-in")
    assert not result.proved
    assert result.violation is not None
    assert len(result.violation.counterexample.steps) == 3
    assert result.why == "violated at Process=2,Lock=1"


def test_no_clause_is_an_honest_end() -> None:
    """Clauses without a literal exclude nothing: the state that is left is one in which a lease is held twice after a step."""
    result = strengthen(LEASES, "one-lease-each", limits=Limits(literals=0))
    assert not result.proved
    assert result.why.startswith("no clause of up to 0 literals")
    assert result.left is not None
    assert len(result.left.steps) == 1


@pytest.mark.parametrize("literals", [4, Limits().literals])
def test_five_switches_need_a_clause_of_five_literals(literals: int) -> None:
    result = strengthen(FUSES, "whole", limits=Limits(literals=literals))
    assert result.proved is (literals == 5)
    assert len(result.inferred) == (literals == 5)


def test_the_time_limit_keeps_what_is_inductive() -> None:
    result = strengthen(LOCK_SERVER, "mutex", seconds=0.001)
    assert not result.proved
    assert result.why == "the time limit of 0.001 s"


def fooled(monkeypatch: pytest.MonkeyPatch, wrong: Sequence[Invariant]) -> Strengthened:
    """The result if the search believes that it is done, with ``wrong`` among its lemmas."""
    run = Inference.run

    def believes(self: Inference) -> bool:
        done = run(self)
        some = next(iter(self.lemmas.values()))
        for prop in wrong:
            formulas = self.prover.translated(prop)
            self.prover.add(prop.name, formulas)
            self.lemmas = {prop.name: Lemma(prop, formulas.obligations, some.clause, some.excludes)}
        return done

    monkeypatch.setattr(Inference, "run", believes)
    monkeypatch.setattr("schedproof.proofs.strengthen.run.generalize", lambda *given: None)
    return strengthen(LOCK_SERVER, "mutex")


def test_a_lemma_that_is_not_inductive_proves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    p, q = LOCK_SERVER.properties[0].over
    wrong = Invariant(name="wrong", says="no two", over=[p, q], given=p.is_("In", "Granted") & q.is_("In"), then=p == q)
    result = fooled(monkeypatch, [wrong])
    assert not result.proved
    assert result.inferred == []


@pytest.mark.long
def test_only_what_a_scope_shows_is_believed() -> None:
    """One process cannot show that two are in: from its scope alone, a clause is learnt that is not inductive."""
    result = strengthen(LOCK_SERVER, "mutex", scope={"Process": 1})
    assert result.scopes["Process=1,Lock=1"] == 5
    for each in result.inferred:
        assert prove(result.model).kept(each.prop.name)


def test_lemmas_of_disposable_sorts_are_those_of_the_model() -> None:
    """An invariant is about objects that are present: what is inferred says so itself, and is what was proved."""
    result = strengthen(QUEUE, "one-server", scope={"Request": 3, "Server": 2})
    assert result.proved
    for each in result.inferred:
        stated = result.model.property(each.prop.name)
        assert isinstance(stated, Invariant)
        assert (show_given(stated), show_exactly(stated.then)) == (show_given(each.prop), show_exactly(each.prop.then))
    assert any("Absent" in show_given(each.prop) for each in result.inferred)


def show_given(prop: Invariant) -> str:
    return show_exactly(prop.given) if prop.given is not None else ""


def test_no_name_of_another_property_is_inferred() -> None:
    w, lease = LEASES.actions[0].parameters
    other = Invariant(name="holder-working", says="x", over=[w, lease], given=lease.holder == w, then=w.is_("Idle"))
    model = replace(LEASES, properties=[*LEASES.properties, other])
    result = strengthen(model, "one-lease-each", scope={"Worker": 2, "Lease": 2})
    assert [each.prop.name for each in result.inferred] == ["free-holder-none", "holder-working-2"]


def test_words_of_negations_have_no_needless_brackets() -> None:
    w, lease = LEASES.actions[0].parameters
    k = LOCK_SERVER.actions[1].parameters[1]
    state, several = ~w.is_("Idle"), ~w.is_("Idle", "Working")
    words = {sentence(each) for each in (state, several, ~k.on, ~k.users.has(w), ~k.links.has(w, lease))}
    assert words == {"w not Idle", "not (w Idle or Working)", "not k.on", "w not in k.users", "(w, l) not in k.links"}


def test_numbers_in_names_only_if_two_have_one_name() -> None:
    one, *_ = LEASES.properties
    assert isinstance(one, Invariant)
    named = [replace(one, name=name) for name in ("free-2", "held", "free-3", "known-7")]
    assert [each.name for each in renamed(named, {"known"})] == ["free", "held", "free-2", "known-2"]


def test_nothing_is_proved_if_two_solvers_disagree(results: dict[str, Strengthened]) -> None:
    result = results["leases"]
    contradicted = replace(result.rechecks[0], verdict=Verdict.REFUTED)
    assert contradicted.agrees is False
    assert not replace(result, rechecks=[*result.rechecks[1:], contradicted]).proved


def test_hints_that_name_what_is_left_out_are_left_out() -> None:
    goal = LEASES.properties[0]
    assert isinstance(goal, Invariant)
    (other,) = replace(LEASES, properties=[replace(goal, name="other")]).properties
    hinted = replace(LEASES, properties=[replace(goal, follows_from=["other"]), other])
    alone = without_auxiliary(hinted, goal.name)
    assert [p.follows_from for p in alone.properties if isinstance(p, Invariant)] == [[]]
    assert [p.follows_from for p in hinted.asking(hinted.properties).properties if isinstance(p, Invariant)] == [
        ["other"],
        (),
    ]
    (together,) = strengthen_each(hinted, [goal.name]).results
    assert strengthen(alone, goal.name).proved and together.proved


def test_without_auxiliary_assumes_no_other_invariant(results: dict[str, Strengthened]) -> None:
    alone = without_auxiliary(results["leases"].model, "one-lease-each")
    assert [p.name for p in alone.properties] == ["one-lease-each"]
    assert prove(results["leases"].model).proved("one-lease-each")
    assert not prove(alone).proved("one-lease-each")


A_PART = Exploring(max_states=4_000)
"""Of a larger scope, the states that are near: a violation there would be enough."""


@pytest.mark.parametrize("seed", [pytest.param(s, marks=pytest.mark.long(one_in=32)) for s in range(64)])
def test_random_models(seed: int) -> None:
    """What is inferred from a small scope of a random model is proved, agrees with cvc5, and holds with one object more of a sort."""
    drawn = random_model(seed)
    model = drawn.model
    provable = [p.name for p in model.properties if type(p) in (Invariant, StepInvariant)]
    refuted = {r.name for r in model_check(model, {}) if r.verdict is Verdict.REFUTED}
    for prop in provable[:2]:
        result = strengthen(model, prop, seconds=8.0, scope=model.default_scope)
        assert not result.disagreements
        if prop in refuted or WELL_FORMED in refuted:
            assert not result.proved
        if result.induction is not None:
            invariants = [each.prop.name for each in result.inferred if result.induction.well_formed]
            for scope in scopes_of(model) if invariants else ():
                verdicts = {r.name: r.verdict for r in model_check(result.model, scope, only=invariants, how=A_PART)}
                assert Verdict.REFUTED not in verdicts.values(), (scope, verdicts)


def scopes_of(model: Model) -> list[dict[str, int]]:
    """The usual scope, and for each sort one that has an object more."""
    usual = {s.name: 1 if s.single else model.default_scope.get(s.name, 2) for s in model.sorts}
    return [usual, *({**usual, s.name: usual[s.name] + 1} for s in model.sorts if not s.single)]
