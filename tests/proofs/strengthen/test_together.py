"""Many properties at once: what is shared is proved without any of them, and lemmas of another variant are only candidates."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from schedproof.model.lang import (
    NONE,
    Action,
    Attribute,
    BoolType,
    Invariant,
    Machine,
    Model,
    Row,
    Sort,
    State,
    me,
    variables,
)
from schedproof.proofs.induction import Obligation, prove
from schedproof.proofs.strengthen.prover import Prover, Reply
from schedproof.proofs.strengthen.together import Together, strengthen_each
from tests.proofs.strengthen.protocols import LEASES, LOCK_SERVER

w, lease = LEASES.actions[0].parameters
p, q = LOCK_SERVER.properties[0].over

WORKS = Invariant(name="holder-works", says="x", over=[w, lease], given=lease.holder == w, then=w.is_("Working"))
FREE = Invariant(name="free-none", says="x", over=[lease], given=lease.is_("Free"), then=lease.holder == NONE)
BOTH = replace(LEASES, properties=[*LEASES.properties, WORKS, FREE])
"""Leases with the invariants that a person adds as properties: each of the three needs others."""

NAMES = [each.name for each in BOTH.properties]


@pytest.fixture(scope="module")
def together() -> Together:
    return strengthen_each(BOTH, NAMES)


def test_each_property_is_proved_without_the_others(together: Together) -> None:
    assert [each.prop for each in together.results] == NAMES
    for result in together.results:
        assert result.proved
        assert {p.name for p in result.model.properties} & set(NAMES) == {result.prop}
        proof = prove(result.model)
        assert all(proof.proved(p.name) for p in result.model.properties)


def test_the_solvers_have_one_property_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """What no proof may assume is not there to be assumed, nor to be instantiated."""
    ask, known = Prover.ask, list[tuple[str, set[str]]]()

    def asking(prover: Prover, obligation: Obligation, *arguments: Any, **options: Any) -> Reply:
        known.append((obligation.invariant, prover._proof.assumed.keys() & set(NAMES)))
        return ask(prover, obligation, *arguments, **options)

    monkeypatch.setattr(Prover, "ask", asking)
    strengthen_each(BOTH, NAMES)
    assert {name for name, _ in known} > set(NAMES)
    assert all(len(names) <= 1 for _, names in known)
    assert all(names == {name} for name, names in known if name in NAMES)


def test_shared_lemmas_are_inductive_without_any_property(together: Together) -> None:
    alone = BOTH.asking([lemma.prop for lemma in together.lemmas])
    assert together.lemmas
    assert all(prove(alone).kept(lemma.prop.name) for lemma in together.lemmas)


Cup = Sort("Cup", "c")
(c,) = variables(Cup, "c")

SWAPS = Model(
    system="swaps",
    variant="plain",
    about="two marks that change places",
    machines=[Machine(Cup, [State("There")], [Attribute("red", BoolType()), Attribute("blue", BoolType())])],
    rows=[Row(Cup, "swap", "There", "There", red=me.blue, blue=me.red)],
    actions=[Action("swap", [c], [], [c.fires("swap")], "the marks of {c} change places")],
    rules=[],
    properties=[Invariant(name=f"no-{side}", says=side, over=[c], then=~getattr(c, side)) for side in ("red", "blue")],
    default_scope={"Cup": 2},
)


def test_a_lemma_that_rests_on_its_property_serves_no_other() -> None:
    """Each mark is absent since the other is: the lemma of one property is the other, and rests on it."""
    together = strengthen_each(SWAPS, ["no-red", "no-blue"])
    assert not together.lemmas
    for result in together.results:
        assert result.proved
        assert [each.relative_to for each in result.inferred] == [[result.prop]]


def test_each_is_checked_by_cvc5(together: Together) -> None:
    for result in together.results:
        checked = {each.answer.obligation.invariant for each in result.rechecks}
        assert checked >= {result.prop, *(each.prop.name for each in result.inferred)}
        assert not result.disagreements


def test_properties_apart_are_assumed_by_no_other_proof() -> None:
    model = replace(LOCK_SERVER, properties=strengthened(LOCK_SERVER))
    goal, *lemmas = [each.name for each in model.properties]
    assert prove(model).proved(goal)
    proof = prove(model, apart=lemmas)
    assert not proof.proved(goal)
    assert all(used <= {answer.obligation.invariant} for answer in proof.answers for used in [answer.used])


def strengthened(model: Model) -> list[Invariant]:
    (result,) = strengthen_each(model, [model.properties[0].name]).results
    return [each for each in result.model.properties if isinstance(each, Invariant)]


def test_a_violated_property_leaves_the_others_alone() -> None:
    wrong = Invariant(name="never-in", says="no process is in", over=[p], then=~p.is_("In"))
    model = replace(LOCK_SERVER, properties=[wrong, *LOCK_SERVER.properties])
    bad, good = strengthen_each(model, ["never-in", "mutex"]).results
    assert (bad.proved, bad.why) == (False, "violated at Process=2,Lock=1")
    assert good.proved


def test_candidates_of_another_variant_are_tried() -> None:
    lemmas = strengthen_each(LOCK_SERVER, ["mutex"]).lemmas
    second = strengthen_each(LOCK_SERVER, ["mutex"], candidates=lemmas)
    assert second.from_variants == len(lemmas) > 0
    assert second.results[0].proved


def test_a_candidate_that_is_false_here_is_dropped() -> None:
    """Without its guard, leaving frees no lock: what the ordinary server keeps is not inductive there."""
    lemmas = strengthen_each(LOCK_SERVER, ["mutex"]).lemmas
    free = LOCK_SERVER.actions[-1]
    careless = replace(LOCK_SERVER, actions=[*LOCK_SERVER.actions[:-1], replace(free, when=[])])
    result = strengthen_each(careless, ["mutex"], candidates=lemmas)
    assert result.from_variants < len(lemmas)
    alone = careless.asking([lemma.prop for lemma in result.lemmas])
    assert all(prove(alone).kept(lemma.prop.name) for lemma in result.lemmas)


def test_a_candidate_about_what_the_model_lacks_is_dropped() -> None:
    (sort, *_) = [machine.sort for machine in LEASES.machines if machine.sort.name == "Lease"]
    machines = [
        replace(each, attributes=[*each.attributes, Attribute("dusty", BoolType())]) if each.sort is sort else each
        for each in LEASES.machines
    ]
    clean = Invariant(name="clean", says="no lease is dusty", over=[lease], then=~lease.dusty)
    dusty = replace(LEASES, machines=machines, properties=LEASES.properties)
    (some, *_) = strengthen_each(LEASES, ["one-lease-each"]).lemmas
    other = replace(some, prop=clean)
    assert strengthen_each(dusty, ["one-lease-each"], candidates=[other]).from_variants == 1
    assert strengthen_each(LEASES, ["one-lease-each"], candidates=[other]).from_variants == 0


def test_a_removed_lemma_is_not_assumed_by_its_name() -> None:
    prover = Prover(LOCK_SERVER)
    out = Invariant(name="same", says="no process is in", over=[p], then=~p.is_("In"))
    weak = Invariant(name="same", says="nothing", over=[p], then=p.is_("In") | ~p.is_("In"))
    goals = [each for each in prover.goals if each.invariant == "mutex" and each.action == "enter"]
    assert not prover.ask(goals[0], []).proved  # this makes the solvers
    prover.add("same", prover.translated(out))
    assert prover.ask(goals[0], ["same"]).proved
    prover.remove("same")
    prover.add("same", prover.translated(weak))
    assert not prover.ask(goals[0], ["same"]).proved
