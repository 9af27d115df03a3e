"""Proofs about relevant objects: what they prove is so, and what they are for they prove.

What is false is known from systems of a few objects; every proof is also given to cvc5 in its original form
(``prove --solver cvc5``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any

import pytest
import z3

from schedproof.model.systems.hived import REPAIRED
from schedproof.proofs.induction import solve
from schedproof.proofs.induction.expressions import And, ForAll, Implies, Quantified
from schedproof.proofs.induction.relevant import Relevance
from schedproof.proofs.induction.solve import Answer
from schedproof.proofs.induction.views import Symbols
from schedproof.proofs.verdict import Verdict
from tests.proofs.induction.test_induction import induction as checked
from tests.support.sample import thinned

EFFORT = 500_000
VARIANTS = ["as-written", "repaired"]
"""HiveD's: what is refuted has a state of a few objects that shows it."""


def proved_nearby(variant: str) -> Iterator[tuple[Answer, bool]]:
    """Each answer, and whether the same is proved of the relevant objects alone."""
    induction = checked(variant)
    proof = induction.proof
    relevance = Relevance(proof.symbols)
    contexts: dict[int, Any] = {}
    for answer in induction.answers:
        obligation = answer.obligation
        key = id(obligation.context)
        if key not in contexts:
            cascade = proof.cascades.get(obligation.action)
            contexts[key] = solve.Context(proof, relevance, obligation.context, cascade)
        itself = {obligation.invariant} & proof.assumed.keys()
        assume = sorted(induction.inductive | itself) if obligation.inductive else []
        yield answer, contexts[key].ask_nearby(obligation.goal, [assume], EFFORT)[0]


@pytest.mark.long
@pytest.mark.parametrize("variant", thinned(VARIANTS, 2))
def test_what_is_refuted_is_not_proved_of_relevant_objects(variant: str) -> None:
    answers = list(proved_nearby(variant))
    assert not [a.obligation.name for a, proved in answers if proved and a.counterexample is not None]
    right = [proved for a, proved in answers if a.verdict is Verdict.PROVED]
    assert sum(right) > 0.95 * len(right), "it is of use"
    assert variant == "repaired" or sum(a.counterexample is not None for a, _ in answers) > 5


def free_constants(formulas: Iterable[Any]) -> set[str]:
    """The names of the constants that no quantifier binds, also those inside of quantifiers."""
    todo, seen = list(formulas), dict[int, Any]()
    while todo:
        term = todo.pop()
        if term.get_id() not in seen:
            seen[term.get_id()] = term
            todo += [term.body()] if z3.is_quantifier(term) else z3.ExprRef.children(term)
    return {str(t) for t in seen.values() if z3.is_const(t) and t.decl().kind() == z3.Z3_OP_UNINTERPRETED}


@pytest.mark.long
@pytest.mark.parametrize("variant", VARIANTS)
def test_a_denied_claim_is_about_objects_that_nothing_else_names(variant: str) -> None:
    """Else "false for some object" would say "false for the object that the action names", and too much be proved."""
    proof = checked(variant).proof
    relevance, denied, named = Relevance(proof.symbols), 0, set[str]()
    everywhere = free_constants([*proof.assumed.values(), *relevance.references])
    of_context = cache(free_constants)
    for obligation in proof.obligations:
        known = everywhere | of_context(obligation.context)
        fresh = free_constants(relevance.negated(obligation.goal)) - free_constants([obligation.goal])
        assert not fresh & known, obligation.name
        denied += bool(fresh)
        named |= known
    assert denied > 100 and "p!" in named


# --- By hand ---------------------------------------------------------------------------------------------------------


class World:
    """Things that may be good, each with perhaps a next one."""

    def __init__(self) -> None:
        self.symbols = Symbols(REPAIRED)  # for its kinds of objects only
        self.relevance = Relevance(self.symbols)
        self.thing = self.symbols.sorts["Cell"]
        self.good = z3.Function("good", self.thing, z3.BoolSort(self.symbols.context))
        self.c, self.x, self.y = (z3.Const(name, self.thing) for name in "cxy")

    def proves(self, known: list[Any], goal: Any) -> bool:
        """Whether the goal follows from what is known of relevant objects."""
        solver = z3.Solver(ctx=self.symbols.context)
        solver.set("smt.mbqi", False)
        solver.add(*[self.relevance.limited(k) for k in known], *self.relevance.named(known))
        solver.add(*self.relevance.references, *self.relevance.negated(goal))
        return bool(solver.check() == z3.unsat)


def test_what_holds_of_all_holds_of_what_is_named() -> None:
    w = World()
    assert w.proves([z3.ForAll([w.x], w.good(w.x))], w.good(w.c))
    assert not w.proves([z3.Exists([w.x], w.good(w.x))], w.good(w.c))
    assert not w.proves([], z3.Or(w.good(w.c), z3.Exists([w.x], z3.Not(w.good(w.x)))) == w.good(w.c))


def test_what_is_said_to_exist_is_relevant() -> None:
    w = World()
    if_one_then_all = z3.ForAll([w.x, w.y], z3.Implies(w.good(w.x), w.good(w.y)))
    assert w.proves([z3.Exists([w.x], w.good(w.x)), if_one_then_all], z3.ForAll([w.x], w.good(w.x)))
    assert not w.proves([if_one_then_all], z3.ForAll([w.x], w.good(w.x)))


def test_what_a_relevant_object_refers_to_is_relevant() -> None:
    """A cell's user is a group: if all groups are pending, the user of any cell that has one is."""
    w = World()
    group = w.symbols.constant("g", "PodGroup")
    pending = w.symbols.state("PodGroup", group) == w.symbols.states["PodGroup"]["Pending"]
    all_pending = z3.ForAll([group], pending)
    [(has, user)] = [(h, u) for sort, h, u in w.symbols.references() if sort == "Cell" and "user" in str(u)]
    state = w.symbols.state("PodGroup", user(w.c))
    claim = z3.ForAll([w.c], z3.Implies(has(w.c), state == w.symbols.states["PodGroup"]["Pending"]))
    assert w.proves([all_pending], claim)
    assert not w.proves([], claim)


def test_a_claim_of_several_parts_is_false_if_one_is() -> None:
    w = World()
    assert not w.proves([], z3.And(w.good(w.c), z3.ForAll([w.x], w.good(w.x))))
    assert not w.proves([], z3.And(w.good(w.c), z3.Not(w.good(w.c)))), "not both parts need be false"
    assert w.proves([w.good(w.c)], z3.And(w.good(w.c), w.good(w.c)))


# --- Seeded faults: unsound limits -------------------------------------------------------------------------------------


def some_becomes_all(patch: pytest.MonkeyPatch) -> None:
    """ "Some relevant object" is taken for all of them."""
    right = Relevance._limited

    def limited(self: Relevance, formula: Any) -> Any:
        if isinstance(formula, Quantified) and not formula.is_forall():
            values, inner = formula.opened()
            return ForAll(values, Implies(And(*self.conditions(values)), self.limited(inner)))
        return right(self, formula)

    patch.setattr(Relevance, "_limited", limited)


def one_for_several(patch: pytest.MonkeyPatch) -> None:
    """A claim about any two objects is looked at for one in both places."""

    def opened_alike(quantified: Any) -> tuple[list[Any], Any]:
        sorts = [quantified.var_sort(n) for n in range(quantified.num_vars())]
        values = [z3.Const(f"the {sort}", sort) for sort in sorts]
        return values, z3.substitute_vars(quantified.body(), *reversed(values))

    def negated(self: Relevance, goal: Any) -> Iterator[Any]:
        claim = z3.Not(opened_alike(goal)[1] if z3.is_quantifier(goal) else goal)
        yield from [self.limited(claim), *self.named([claim])]

    patch.setattr(Relevance, "negated", negated)


@pytest.mark.parametrize(
    "plant",
    [some_becomes_all, pytest.param(one_for_several, marks=pytest.mark.long(one_in=32))],
    ids=lambda p: p.__name__,
)
def test_an_unsound_limit_is_noticed(
    plant: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    checked("as-written")
    plant(monkeypatch)
    assert any(proved for answer, proved in proved_nearby("as-written") if answer.counterexample is not None)
