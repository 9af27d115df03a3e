"""Integers without a bound in proofs: none is assumed, a ``Nat`` is at least 0, and counterexamples have small numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from importlib import import_module

import pytest

from schedproof.model.lang import (
    Attribute,
    Int,
    Integer,
    Invariant,
    Machine,
    Model,
    Property,
    StepInvariant,
    Type,
    after,
    exists,
    forall,
)
from schedproof.model.lang.properties import WELL_FORMED
from schedproof.proofs.induction import prove, recheck, solve
from schedproof.proofs.induction.expressions import And, Expression, ForAll
from schedproof.proofs.induction.solve import Answer, Induction
from schedproof.proofs.induction.translate import Translator
from schedproof.proofs.induction.views import Z
from schedproof.proofs.verdict import Verdict
from tests.proofs.induction.cross_check import Counts, CrossCheck
from tests.support.clocks import ACTIONS, CLOCKS, NODE, PROPERTIES, Node, a, b, clocks


def asked(*props: Property, **changes: object) -> Induction:
    """The clocks with other properties."""
    return prove(clocks(properties=list(props), **changes))


def failed(proof: Induction, name: str) -> Answer:
    """The answer with the counterexample of a property that is not proved."""
    assert not proof.proved(name)
    answer = proof.why_not(name)
    assert answer is not None and answer.counterexample is not None
    return answer


def numbers(answer: Answer, name: str) -> list[int]:
    """The values of an attribute in the state before, in order."""
    assert answer.counterexample is not None and answer.counterexample.start is not None
    return sorted(fields[name] for fields in answer.counterexample.start.values())


def always(name: str, then: object) -> Invariant:
    return Invariant(name=name, says=name, over=[a], then=then)  # type: ignore[arg-type]


def pairs(name: str, then: object) -> Invariant:
    return Invariant(name=name, says=name, over=[a, b], then=then)  # type: ignore[arg-type]


# --- What is proved and what is not -----------------------------------------------------------------------------------


def test_invariants_over_all_integers_are_proved() -> None:
    proof = prove(CLOCKS)
    assert {p.name for p in PROPERTIES} | {WELL_FORMED} == {n for n in proof._by_property if proof.proved(n)}


def test_cvc5_agrees_with_every_answer() -> None:
    some_fail = prove(clocks(properties=[*PROPERTIES, always("small", a.time <= 1000), always("even", a.debt != -7)]))
    checks = list(recheck(some_fail))
    assert [c.answer.obligation.name for c in checks if c.agrees is False] == []
    assert all(c.agrees for c in checks if c.answer.verdict is Verdict.PROVED)


@pytest.mark.parametrize("limit", [2, 3, 1000, 10**9, 10**30])
def test_no_upper_bound_is_assumed(limit: int) -> None:
    """Each limit is exceeded by a step from it, wherever the model's explorations end."""
    answer = failed(asked(always("small", a.time <= limit)), "small")
    assert numbers(answer, "time") == [limit]


def test_no_lower_bound_of_an_int_is_assumed() -> None:
    answer = failed(asked(always("deep", a.debt >= -(10**12))), "deep")
    assert numbers(answer, "debt") == [-(10**12)]


def test_a_nat_is_at_least_0() -> None:
    """A step property that nothing but the type makes true."""
    natural = StepInvariant(name="natural", says="", over=[a], then=(a.time >= 0) & after(a.seen >= 0))
    assert asked(natural).proved("natural")
    debt = StepInvariant(name="debt", says="", over=[a], then=a.debt >= 0)
    assert not asked(debt).proved("debt")


def test_after_may_be_about_more_than_an_attribute() -> None:
    """A sum, a comparison and a number have no declared type, and can be compared after the step all the same."""
    ticks, idle = a.fires("tick"), ~a.fires("tick") & ~a.fires("adopt")
    props = {
        "sum": (ticks, after(a.time + 1) == a.time + 2),
        "turned": (ticks, a.time + 2 == after(2 * a.time) - a.time),
        "truth": (idle, after(a.time == 0) == (a.time == 0)),
        "number": (ticks, after(1) == 1),
        "wrong": (ticks, after(a.time + 1) == a.time + 1),
    }
    proof = asked(*[StepInvariant(name=n, says=n, over=[a], given=p, then=q) for n, (p, q) in props.items()])
    assert [name for name in props if proof.proved(name)] == ["sum", "turned", "truth", "number"]


def test_a_nat_that_may_fall_below_0_is_ill_formed() -> None:
    unguarded = [replace(each, when=[]) if each.name == "lower" else each for each in ACTIONS]
    answer = failed(asked(*PROPERTIES, actions=unguarded), WELL_FORMED)
    assert (answer.obligation.action, answer.obligation.detail) == ("lower", "Node.lower keeps seen in Nat")
    assert answer.counterexample is not None
    assert "which sets seen to -1" in answer.counterexample.problem


def test_an_int_may_fall_below_0() -> None:
    """The same steps are well-formed if the attribute may be negative."""
    unguarded = [replace(each, when=[]) if each.name == "lower" else each for each in ACTIONS]
    kinds = [replace(each, type=Int) if each.name == "seen" else each for each in NODE.attributes]
    machine = Machine(Node, NODE.states, kinds, NODE.events)
    assert asked(*PROPERTIES, actions=unguarded, machines=[machine]).well_formed


def test_strict_and_non_strict_comparisons_differ() -> None:
    """``seen <= time`` is inductive, ``seen < time`` false at once, and both solvers know which is which."""
    proof = asked(always("past", a.seen <= a.time), always("strictly-past", a.seen < a.time))
    assert proof.proved("past")
    assert failed(proof, "strictly-past").verdict is Verdict.REFUTED


def test_rigid_integers_may_be_any() -> None:
    """An axiom is all that is known of them."""
    machine = Machine(Node, NODE.states, [*NODE.attributes, Attribute("pace", Int, rigid=True)], NODE.events)
    paced = Invariant(name="paced", says="", over=[a], then=a.pace >= 5)
    model = clocks(machines=[machine], properties=[paced])
    example = failed(prove(model), "paced").counterexample
    assert example is not None
    assert prove(replace(model, axioms=[forall(a, a.pace > 4)])).proved("paced")


def test_an_int_that_starts_elsewhere_starts_there() -> None:
    kinds = [replace(each, initial=7) if each.name == "time" else each for each in NODE.attributes]
    begun = {"machines": [Machine(Node, NODE.states, kinds, NODE.events)], "bound": {}}
    assert asked(always("begun", a.time >= 7), **begun).proved("begun")
    assert failed(asked(always("later", a.time >= 8), **begun), "later").verdict is Verdict.REFUTED


@pytest.mark.parametrize("share", [100, pytest.param(1, marks=pytest.mark.long)], ids=["a little effort", "all effort"])
def test_what_no_finite_system_refutes_may_stay_open(share: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only infinitely many nodes have one ahead of each: there is no proof, and no counterexample with few nodes."""
    for limit in ("EFFORT", "MORE_EFFORT", "FIRST_EFFORT"):
        monkeypatch.setattr(solve, limit, getattr(solve, limit) // share)
    ahead = forall(a, exists(b, a.time < b.time))
    endless = StepInvariant(name="endless", says="", over=[], on=["note"], given=ahead, then=forall(a, a.debt > 0))
    (answer,) = asked(endless).of("endless")
    assert (answer.verdict, answer.counterexample) == (Verdict.UNDETERMINED, None)


# --- Counterexamples --------------------------------------------------------------------------------------------------


def test_numbers_of_a_counterexample_are_small() -> None:
    answer = failed(asked(pairs("near", a.time <= b.time + 1000)), "near")
    assert [numbers(answer, name) for name in ("time", "seen", "debt")] == [[0, 1000], [0, 0], [0, 0]]


# --- Proofs beside the interpreter ---------------------------------------------------------------------------


def test_proofs_read_integers_as_the_interpreter_does() -> None:
    counts = Counts()
    assert list(CrossCheck(CLOCKS, {"Node": 3}, 1).differences(150, counts)) == []
    assert min(counts.steps, counts.true, counts.false) > 50


# --- Seeded faults: the tests above fail --------------------------------------------------------------------------------

TRANSLATE, OBLIGATIONS = (import_module(f"schedproof.proofs.induction.{name}") for name in ("translate", "obligations"))
IN_RANGE = TRANSLATE.in_range


def test_an_assumed_upper_bound_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def assumed(model: Model, before: Translator) -> Iterator[Z]:
        x = before.symbols.constant("x", Node)
        for attribute in NODE.attributes:
            value = before.symbols.value("Node", attribute.name, x)
            yield ForAll([x], And(value >= -3, value <= 3))

    monkeypatch.setattr(OBLIGATIONS, "number_ranges", assumed)
    for test in (partial(test_no_upper_bound_is_assumed, 1000), test_no_lower_bound_of_an_int_is_assumed):
        with pytest.raises(AssertionError):
            test()


def test_a_lost_lower_bound_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def any_integer(kind: Type, value: Z) -> list[Z]:
        return [] if isinstance(kind, Integer) else IN_RANGE(kind, value)

    monkeypatch.setattr(OBLIGATIONS, "in_range", any_integer)
    for test in (test_a_nat_is_at_least_0, test_a_nat_that_may_fall_below_0_is_ill_formed):
        with pytest.raises(AssertionError):
            test()


def test_a_strict_comparison_for_another_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Expression, "__le__", Expression.__lt__)
    for test in (test_strict_and_non_strict_comparisons_differ, test_proofs_read_integers_as_the_interpreter_does):
        with pytest.raises(AssertionError):
            test()
