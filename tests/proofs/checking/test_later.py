"""Values after a step, compared with those before it: each type of value, in every engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from schedproof.model.lang import (
    NONE,
    Action,
    Attribute,
    BoolType,
    Document,
    EnumType,
    Event,
    Machine,
    Model,
    Nat,
    Ref,
    Relation,
    Row,
    SetOf,
    Sort,
    State,
    StepInvariant,
    Term,
    after,
    count,
    forall,
    given,
    iff,
    implies,
    me,
    those,
    variables,
)
from schedproof.model.lang.wording import show_exactly, show_term
from schedproof.model.semantics import Instance, instances
from schedproof.proofs.checking.engine import Engine, Exploring
from schedproof.proofs.checking.model_check import model_check
from schedproof.proofs.export import tla
from schedproof.proofs.induction import prove, recheck
from schedproof.proofs.verdict import Verdict
from tests.proofs.export import test_promela
from tests.proofs.export.exported import by_exploration
from tests.proofs.export.test_tla import invariants, steps
from tests.proofs.export.tla_reader import Reader, explored
from tests.support.needs import needs_spin

Node = Sort("Node", "n")
n, o, p = variables(Node, "n o p")
ROLE = EnumType(("follower", "leader"))

HOLDS: Mapping[str, Term] = {
    "terms-never-fall": after(n.term) >= n.term,
    "terms-grow-by-one": after(n.term) - n.term <= 1,
    "who-votes-keeps-the-vote": implies(n.vote != NONE, after(n.vote) == n.vote),
    "the-term-of-a-new-vote-is-that-of-the-voter": implies(after(n.vote) != n.vote, after(n.vote).term <= n.term),
    "a-leader-stays": implies(n.role == "leader", after(n.role) == "leader"),
    "what-is-seen-stays-seen": forall(o, implies(n.seen.has(o), after(n.seen).has(o))),
    "pairs-stay": forall([o, p], implies(n.pairs.has(o, p), after(n.pairs).has(o, p))),
    "a-flag-changes-with-the-role": iff(after(n.flag) == n.flag, after(n.role) == n.role),
    "one-more-leads-at-most": implies(count(o, o.role == "leader") == 0, after(count(o, o.role == "leader")) <= 1),
}
FAILS: Mapping[str, Term] = {
    "terms-stay": after(n.term) == n.term,
    "votes-stay": after(n.vote) == n.vote,
    "roles-stay": after(n.role) == n.role,
    "votes-are-for-oneself": implies(after(n.vote) != n.vote, after(n.vote) == n),
    "nothing-is-new": forall(o, implies(after(n.seen).has(o), n.seen.has(o))),
    "no-pair-is-new": forall([o, p], implies(after(n.pairs).has(o, p), n.pairs.has(o, p))),
    "flags-stay": after(n.flag) == n.flag,
    "as-many-lead": implies(count(o, o.role == "leader") == 0, after(count(o, o.role == "leader")) == 0),
}
MODEL = Model(
    system="votes",
    variant="toy",
    about="nodes that vote",
    document=Document("none.md", "None"),
    machines=[
        Machine(
            Node,
            [State("Up")],
            [
                Attribute("term", Nat),
                Attribute("vote", Ref(Node)),
                Attribute("role", ROLE),
                Attribute("flag", BoolType()),
                Attribute("seen", SetOf(Node)),
                Attribute("pairs", Relation(Node, Node)),
            ],
            [Event("vote", {"other": Ref(Node)})],
        )
    ],
    rows=[
        Row(Node, "vote", "Up", "Up", vote=given("other"), pairs=me.pairs.with_(me, given("other"))),
        Row(Node, "hear", "Up", "Up", term=me.term + 1, seen=those(o, me.seen.has(o) | (o == me))),
        Row(Node, "win", "Up", "Up", role="leader", flag=~me.flag),
    ],
    actions=[
        Action("cast", [n, o], [n.vote == NONE, o.term <= n.term], [n.fires("vote", other=o)], ""),
        Action("hear", [n], [], [n.fires("hear")], ""),
        Action("win", [n], [n.role == "follower", n.vote == n], [n.fires("win")], ""),
    ],
    rules=[],
    properties=[StepInvariant(name=name, says=name, over=[n], then=then) for name, then in {**HOLDS, **FAILS}.items()],
    default_scope={"Node": 2},
    bound={("Node", "term"): 1},
    refuted=frozenset(FAILS),
)


@pytest.mark.parametrize("engine", [Engine.INTERPRETED, Engine.COMPILED])
def test_each_type_of_value_is_compared_with_the_one_before(engine: Engine) -> None:
    results = model_check(MODEL, {}, how=Exploring(engine, symmetry=False))[1:]
    assert {r.name for r in results if r.verdict is Verdict.PROVED} == set(HOLDS)
    assert {r.name for r in results if r.verdict is Verdict.REFUTED} == set(FAILS)


def test_proofs_compare_it_too() -> None:
    proof = prove(MODEL)
    assert {name for name in (*HOLDS, *FAILS) if proof.proved(name)} == set(HOLDS)
    assert all(check.agrees for check in recheck(proof) if check.answer.verdict is Verdict.PROVED)


def of_votes() -> Instance:
    [instance] = instances(replace(MODEL, refuted=frozenset()), {})
    return instance


@needs_spin
def test_spin_compares_it_too(tmp_path: Path) -> None:
    test_promela.same(of_votes(), tmp_path)


def test_a_reader_of_tla_compares_it_too() -> None:
    instance, module = of_votes(), tla(of_votes(), only=None)
    read = explored(Reader(module.text), invariants(module), constraint="WithinBounds")
    expected = by_exploration(instance)
    assert (read.states, read.transitions) == (expected.states, expected.transitions)
    broken = steps(read, module, instance)
    # What is first beyond the bound is checked there, too.
    assert all(broken[name] <= depth for name, depth in expected.broken.items())
    assert set(broken) == set(FAILS)


def test_words_say_what_is_read_after_the_step() -> None:
    """Without brackets, "afterwards" would belong to the comparison."""
    term = HOLDS["terms-grow-by-one"]
    assert show_term(term) == "(afterwards n.term) - n.term <= 1"
    assert show_exactly(HOLDS["terms-never-fall"]) == "n.term <= (afterwards n.term)"
    assert show_exactly(after(n.vote).term == 1) == "(afterwards n.vote).term = 1"
