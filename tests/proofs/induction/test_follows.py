"""An invariant that follows from others of the set is not asked step by step: what a wrong shortcut would prove.

The toys have one sort whose objects have a few flags and never meet. So the greatest inductive set can also be
found by trying every state of one object, and what is true is known without any solver.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from itertools import permutations, product
from random import Random
from typing import Any

import pytest
import z3

from schedproof.model.lang import (
    NONE,
    Action,
    Attribute,
    BoolType,
    Document,
    Event,
    IntRange,
    Invariant,
    Machine,
    Model,
    ModelError,
    Ref,
    Row,
    Sort,
    State,
    Term,
    given,
    me,
    variable,
)
from schedproof.model.lang.check import checked
from schedproof.model.registry.system import System
from schedproof.model.systems.beaker import REPAIRED as BEAKER
from schedproof.proofs.checking.model_check import model_check
from schedproof.proofs.induction import Induction, prove, recheck, solve
from schedproof.proofs.induction.obligations import obligations
from schedproof.proofs.induction.recheck import smt
from schedproof.proofs.verdict import Disagreement, Verdict
from schedproof.proofs.verification.verify import verify_variant
from tests.support.rows import each_row
from tests.support.sample import thinned

A = Sort("A", "a")
x, y = variable(A, "x"), variable(A, "y")
FLAGS = "abcd"

Flags = tuple[bool, ...]
Clause = Sequence[tuple[int, bool]]
"""Flags by number with the value that is wanted: one of them must have it."""


@dataclass(frozen=True)
class Toy:
    """What flags objects begin with, what each action copies or sets and when, and clauses that may be true of all."""

    first: Flags
    actions: Sequence[tuple[Clause, Mapping[int, int | bool]]]
    clauses: Mapping[str, Clause]

    def model(self, refuted: frozenset[str] = frozenset()) -> Model:
        """The toy in the language."""
        names = FLAGS[: len(self.first)]
        rows, actions = [], []
        for n, (when, sets) in enumerate(self.actions):
            updates: dict[str, Any] = {
                names[f]: to if isinstance(to, bool) else getattr(me, names[to]) for f, to in sets.items()
            }
            rows.append(Row(A, f"e{n}", "S", "S", **updates))
            actions.append(Action(f"e{n}", [x], [self.term(when)] if when else [], [x.fires(f"e{n}")], "a step"))
        flags = [Attribute(n, BoolType(), initial=first) for n, first in zip(names, self.first, strict=True)]
        return model(
            machines=[Machine(A, states=[State("S")], attributes=flags)],
            rows=rows,
            actions=actions,
            properties=[Invariant(name=n, says=n, over=[x], then=self.term(c)) for n, c in self.clauses.items()],
            refuted=refuted,
        )

    def term(self, clause: Clause) -> Term:
        """A clause in the language."""
        literals = [getattr(x, FLAGS[f]) if is_set else ~getattr(x, FLAGS[f]) for f, is_set in clause]
        clause_term = literals[0]
        for literal in literals[1:]:
            clause_term = clause_term | literal
        return clause_term  # type: ignore[no-any-return]

    def steps(self, flags: Flags) -> Iterator[Flags]:
        """The flags after each step that an object can take."""
        for when, sets in self.actions:
            if not when or holds(when, flags):
                yield tuple(
                    flag if n not in sets else to if isinstance(to := sets[n], bool) else flags[to]
                    for n, flag in enumerate(flags)
                )

    def inductive(self) -> set[str]:
        """The greatest set of clauses that begins true and that every step keeps, by trying every state."""
        kept = {n for n, c in self.clauses.items() if holds(c, self.first)}
        while True:
            before = [f for f in product((False, True), repeat=len(self.first)) if all(holds(self.clauses[n], f) for n in kept)]  # fmt: skip
            after = [later for flags in before for later in self.steps(flags)]
            lost = {n for n in kept if not all(holds(self.clauses[n], f) for f in after)}
            if not lost:
                return kept
            kept -= lost

    def true(self) -> set[str]:
        """The clauses that hold in every state that can be reached."""
        reached, new = {self.first}, [self.first]
        while new:
            later = [f for f in self.steps(new.pop()) if f not in reached]
            reached |= set(later)
            new += later
        return {n for n, c in self.clauses.items() if all(holds(c, f) for f in reached)}


def holds(clause: Clause, flags: Flags) -> bool:
    """One of the flags has the value that is wanted."""
    return any(flags[f] is is_set for f, is_set in clause)


def model(**parts: Any) -> Model:
    """A model of the one sort."""
    whole: dict[str, Any] = {
        "system": "toy",
        "variant": "follows",
        "about": "",
        "document": Document("none.md", "None"),
        "rules": [],
        "default_scope": {"A": 1},
    }
    return Model(**{**whole, **parts})


def proved(induction: Induction) -> set[str]:
    """The invariants that are proved."""
    return {p.name for p in induction.proof.model.properties if induction.proved(p.name)}


def followed(induction: Induction) -> set[str]:
    """The invariants that were proved because they follow from others."""
    return {a.obligation.invariant for a in induction.answers if a.follows}


NOT_A, A_OR_B, NOT_B, NOT_C = [(0, False)], [(0, False), (1, True)], [(1, False)], [(2, False)]
QUIET = (False, False, False)
SET_A, SET_B, NOTHING = ([], {0: True}), ([], {1: True}), ([(0, True)], {2: True})


@contextmanager
def step_by_step() -> Iterator[None]:
    """Without the quick proofs about few objects: they find most of what follows at each step anyway."""
    right = solve.Context.ask_nearby

    def ask_nearby(self: Any, *question: Any) -> Any:
        of_a_step = bool(self._context_facts)
        return (False, frozenset()) if of_a_step else right(self, *question)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(solve.Context, "ask_nearby", ask_nearby)
        yield


# --- By hand ---------------------------------------------------------------------------------------------------------


def test_what_follows_is_proved_and_says_from_what() -> None:
    """b is copied from c: "not b" needs "not c"; "not b, or a" needs "not b" and is not asked of the step."""
    toy = Toy(QUIET, [([], {1: 2})], {"weak": [(1, False), (0, True)], "strong": NOT_B, "source": NOT_C})
    with step_by_step():
        induction = prove(toy.model())
    assert proved(induction) == {"weak", "strong", "source"} == proved(prove(toy.model()))
    assert followed(induction) == {"weak"}
    [answer] = [a for a in induction.of("weak") if a.follows]
    assert answer.used == {"strong"} and answer.note == "follows from strong"


@pytest.mark.parametrize("order", list(permutations(["p", "q"])), ids="-".join)
def test_two_that_follow_from_each_other_do_not_prove_each_other(order: Sequence[str]) -> None:
    """Both say that a is never set, which a step does."""
    toy = Toy(QUIET, [SET_A], dict.fromkeys(order, NOT_A))
    assert proved(prove(toy.model())) == set()
    still = Toy(QUIET, [NOTHING], dict.fromkeys(order, NOT_A))
    assert proved(prove(still.model())) == {"p", "q"}


@each_row("order", list(permutations(["ab", "a", "b"])), ids="-".join)
def test_a_circle_of_three_proves_none_that_is_false(order: Sequence[str]) -> None:
    """ "Neither" follows from "not a" and "not b", and each of these from it; a step sets a."""
    clauses: dict[str, Any] = {"a": NOT_A, "b": NOT_B}
    toy = Toy(QUIET, [SET_A], {n: clauses.get(n, NOT_B) for n in order})
    built = toy.model()
    both = Invariant(name="ab", says="neither", over=[x], then=~x.a & ~x.b)
    induction = prove(replaced(built, [both if p.name == "ab" else p for p in built.properties]))
    assert proved(induction) == {"b"}


@each_row("order", list(permutations(["one", "two", "three"])), ids="-".join)
def test_what_followed_from_a_lost_one_is_lost_too(order: Sequence[str]) -> None:
    """Each follows from the next; the last fails, so all do, in whatever order they are asked."""
    clauses = {"one": [*A_OR_B, (2, True)], "two": A_OR_B, "three": NOT_A}
    toy = Toy(QUIET, [SET_B, ([(1, False)], {0: True})], {n: clauses[n] for n in order})
    assert proved(prove(toy.model())) == set() == toy.true()


def test_what_is_expected_to_fail_supports_nothing() -> None:
    toy = Toy(QUIET, [SET_A], {"strong": NOT_A, "weak": A_OR_B})
    induction = prove(toy.model(refuted=frozenset({"strong"})))
    assert proved(induction) == set() and followed(induction) == set()


def test_what_is_expected_to_fail_but_does_not_supports_again() -> None:
    toy = Toy(QUIET, [([], {1: 2})], {"weak": [(1, False), (0, True)], "strong": NOT_B, "source": NOT_C})
    assert proved(prove(toy.model(refuted=frozenset({"strong"})))) == set(toy.clauses)


def test_what_follows_must_hold_at_first_as_well() -> None:
    """a is set from the beginning, and nothing ever changes."""
    toy = Toy((True, False, False), [NOTHING], {"strong": NOT_A, "weak": A_OR_B})
    assert proved(prove(toy.model())) == set()


# --- Hints: what a model says that an invariant follows from -----------------------------------------------------------


def hinted(toy: Toy, hints: Mapping[str, Sequence[str]]) -> Model:
    """The toy, its invariants with what they are said to follow from."""
    built = toy.model()
    return replaced(built, [replace(p, follows_from=hints.get(p.name, ())) for p in built.properties])  # type: ignore[call-arg]


def test_hints_in_a_circle_prove_nothing_that_is_false() -> None:
    """Three that say the same, each said to follow from the next; a step sets a."""
    circle = {"p": ["q"], "q": ["r"], "r": ["p"]}
    assert proved(prove(hinted(Toy(QUIET, [SET_A], dict.fromkeys("pqr", NOT_A)), circle))) == set()
    assert proved(prove(hinted(Toy(QUIET, [NOTHING], dict.fromkeys("pqr", NOT_A)), circle))) == set("pqr")


def test_a_chain_of_hints_falls_with_its_last_link() -> None:
    chain = {"one": ["two"], "two": ["three"]}
    clauses: dict[str, Clause] = {"one": [*A_OR_B, (2, True)], "two": A_OR_B, "three": NOT_A}
    assert proved(prove(hinted(Toy(QUIET, [SET_B, ([(1, False)], {0: True})], clauses), chain))) == set()
    induction = prove(hinted(Toy(QUIET, [SET_B], clauses), chain))
    assert proved(induction) == set(clauses)


def test_a_wrong_hint_proves_nothing() -> None:
    """That b is never set has nothing to do with a."""
    toy = Toy(QUIET, [SET_B], {"b": NOT_B, "a": NOT_A})
    assert proved(prove(hinted(toy, {"b": ["a"]}))) == {"a"}


@pytest.mark.parametrize("hint", ["nothing", "b"], ids=["unknown", "itself"])
def test_a_hint_names_another_invariant(hint: str) -> None:
    with pytest.raises(
        ModelError, match=f"property b.*follows_from names {hint!r}, which is not another invariant.*choose from a"
    ):
        checked(hinted(Toy(QUIET, [SET_B], {"b": NOT_B, "a": NOT_A}), {"b": [hint]}))


SEEDS = range(30)
SOME = pytest.mark.parametrize(
    "seeds", [SEEDS[:8], pytest.param(SEEDS[8:], marks=pytest.mark.long)], ids=["first", "others"]
)


@SOME
def test_hints_do_not_change_the_greatest_inductive_set(seeds: range) -> None:
    for seed in seeds:
        toy, random = random_toy(seed), Random(seed)
        names = sorted(toy.clauses)
        hints = {
            n: random.sample(others, random.randrange(1, len(others) + 1))
            for n in names
            if (others := [o for o in names if o != n])
        }
        assert proved(prove(hinted(toy, hints))) == toy.inductive(), seed


def replaced(built: Model, properties: Sequence[Any]) -> Model:
    """``built`` with other properties."""
    return model(
        machines=built.machines, rows=built.rows, actions=built.actions, properties=properties, refuted=frozenset()
    )


def test_what_follows_must_read_no_attribute_of_no_object_either() -> None:
    """In T "it is so or it is not so" of the object referred to, which there is none of: false, but a tautology."""
    refers = [Attribute("ref", Ref(A)), Attribute("n", BoolType())]
    toy = model(
        machines=[Machine(A, states=[State("S"), State("T")], attributes=refers)],
        rows=[Row(A, "e", "S", "T")],
        actions=[Action("e", [x], [x.is_("S")], [x.fires("e")], "e")],
        properties=[Invariant(name="p", says="p", over=[x], given=x.is_("T"), then=x.ref.n | ~x.ref.n)],
    )
    assert not prove(toy).proved("p")
    assert {r.name: r.verdict for r in model_check(toy, {})}["p"] is Verdict.REFUTED


def test_the_same_is_proved_where_it_reads_an_object() -> None:
    """T is entered with a reference to oneself."""
    refers = [Attribute("ref", Ref(A)), Attribute("n", BoolType())]
    toy = model(
        machines=[Machine(A, states=[State("S"), State("T")], attributes=refers, events=[Event("e", {"to": Ref(A)})])],
        rows=[Row(A, "e", "S", "T", ref=given("to"))],
        actions=[Action("e", [x], [x.is_("S")], [x.fires("e", to=x)], "e")],
        properties=[
            Invariant(name="p", says="p", over=[x], given=x.is_("T"), then=x.ref.n | ~x.ref.n),
            Invariant(name="some", says="some", over=[x], given=x.is_("T"), then=x.ref != NONE),
        ],
    )
    assert proved(prove(toy)) == {"p", "some"}


def test_numbers_are_not_assumed_in_range_after_a_step() -> None:
    toy = model(
        machines=[Machine(A, states=[State("S")], attributes=[Attribute("n", IntRange(0, 2))])],
        rows=[Row(A, "e", "S", "S", n=me.n + 1)],
        actions=[Action("e", [x], [], [x.fires("e")], "e")],
        properties=[Invariant(name="p", says="p", over=[x], then=x.n <= 2)],
    )
    induction = prove(toy)
    assert not induction.proved("p") and not induction.proved("well-formed")


# --- At random, against trying every state -----------------------------------------------------------------------------


def random_toy(seed: int) -> Toy:
    """Three flags, up to three actions, up to five clauses; most begin true."""
    random = Random(seed)
    first = tuple(random.random() < 0.2 for _ in range(3))

    def clause(length: int) -> Clause:
        return [(f, random.random() < 0.35) for f in random.sample(range(3), length)]

    actions = []
    for _ in range(random.randrange(1, 4)):
        sets: dict[int, int | bool] = {}
        for flag in random.sample(range(3), random.randrange(1, 3)):
            sets[flag] = random.choice([True, False, random.randrange(3), random.randrange(3)])
        actions.append((clause(1) if random.random() < 0.5 else [], sets))
    clauses = {f"i{n}": clause(random.choice([1, 1, 2, 2, 3])) for n in range(random.randrange(2, 6))}
    return Toy(first, actions, clauses)


@cache
def at_random(seed: int) -> Induction:
    """Each is proved once, step by step."""
    with step_by_step():
        return prove(random_toy(seed).model())


@pytest.mark.long
@SOME
def test_the_greatest_inductive_set_is_that_of_trying_all_states(seeds: range) -> None:
    for seed in seeds:
        toy = random_toy(seed)
        assert toy.inductive() <= toy.true()
        assert proved(at_random(seed)) == toy.inductive(), seed
        assert proved(prove(toy.model())) == toy.inductive(), seed


@SOME
def test_it_is_the_same_if_what_has_failed_is_not_asked_again(seeds: range) -> None:
    for seed in seeds:
        induction = prove(random_toy(seed).model(), every=False)
        assert proved(induction) == random_toy(seed).inductive(), seed


@SOME
def test_what_the_manifest_expects_costs_no_other_proof(seeds: range) -> None:
    """And no false one succeeds. Alone, invariants that are expected to fail need not prove each other."""
    for seed in seeds:
        toy = random_toy(seed)
        expected = frozenset(Random(seed).sample(sorted(toy.clauses), len(toy.clauses) // 2))
        kept = proved(prove(toy.model(refuted=expected)))
        assert toy.inductive() - expected <= kept <= toy.inductive(), seed


def test_a_wrong_expectation_changes_no_verdict() -> None:
    """Each needs the next one, and the last the first."""
    circle = [([(1, True)], {0: True}), ([(2, True)], {1: True}), ([(0, True)], {2: True})]
    toy = Toy(QUIET, circle, {"a": NOT_A, "b": NOT_B, "c": NOT_C})
    for name in toy.clauses:
        assert proved(prove(toy.model(refuted=frozenset({name})))) == {"a", "b", "c"} == toy.true()
        assert prove(toy.model(refuted=frozenset({name})), only=[name]).proved(name)


@pytest.mark.long
def test_the_random_toys_have_what_follows_and_what_fails() -> None:
    """Else the comparison would show little."""
    induction = [(random_toy(seed), at_random(seed)) for seed in SEEDS]
    assert sum(bool(followed(f) & proved(f)) for _, f in induction) >= 3
    assert sum(toy.inductive() < toy.true() for toy, _ in induction) >= 3, "true, but not inductive"
    assert sum(set() < toy.inductive() < set(toy.clauses) for toy, _ in induction) >= 10


# --- A solver that does not know ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", thinned(range(6), 6))
def test_what_the_solver_does_not_know_proves_nothing_false(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some of its answers are taken away, at every effort: less is proved, and nothing rests on what is not."""
    right, random = solve.Context.ask, Random(seed)

    def ask(self: Any, *question: Any) -> Any:
        return ("unknown", frozenset()) if random.random() < 0.3 else right(self, *question)

    def ask_nearby(self: Any, *question: Any) -> Any:
        return (False, frozenset()) if random.random() < 0.3 else nearby(self, *question)

    nearby = solve.Context.ask_nearby
    monkeypatch.setattr(solve.Context, "ask", ask)
    monkeypatch.setattr(solve.Context, "ask_nearby", ask_nearby)
    for n in range(4):
        toy = random_toy(100 * seed + n)
        for every in (True, False):
            induction = prove(toy.model(), every=every)
            assert proved(induction) <= toy.inductive()
            for name in proved(induction):
                for answer in induction.of(name):
                    assert answer.used <= proved(induction), f"{name} rests on what is not proved"


# --- The second solver -------------------------------------------------------------------------------------------------


def test_the_second_solver_is_asked_what_was_proved() -> None:
    """What follows does so in one state: of a step it would not be true."""
    toy = Toy(QUIET, [([], {1: 2})], {"weak": [(1, False), (0, True)], "strong": NOT_B, "source": NOT_C})
    with step_by_step():
        induction = prove(toy.model())
    assert followed(induction) == {"weak"}
    assert [r.answer.obligation.name for r in recheck(induction) if not r.agrees] == []
    [answer] = [a for a in induction.answers if a.follows]
    assert "in the state after the step" in smt(induction, answer)
    as_a_step = replace(answer, follows=False)
    assert _check(smt(induction, answer)) == z3.unsat and _check(smt(induction, as_a_step)) == z3.sat


def _check(script: str) -> z3.CheckSatResult:
    solver = z3.Solver()
    solver.from_string(script)
    return solver.check()


# --- Seeded faults: wrong shortcuts ------------------------------------------------------------------------------------


def in_circles(self: Any, obligation: Any) -> Any:
    """What follows from others may support them in turn."""
    return _shortcut(self, obligation, self.inductive - {obligation.invariant}, keep=True)


def without_cores(self: Any, obligation: Any) -> Any:
    """What the proof rests on is forgotten."""
    return _shortcut(self, obligation, self.inductive - {obligation.invariant} - _derived(self), keep=False)


def from_the_doubtful(self: Any, obligation: Any) -> Any:
    """What is expected to fail supports as well."""
    others = set(self.proof.assumed) - {obligation.invariant} - _derived(self)
    return _shortcut(self, obligation, others, keep=True)


def _derived(self: Any) -> set[str]:
    return {name for name, core in self._derived.items() if core is not None}


def _shortcut(self: Any, obligation: Any, others: set[str], *, keep: bool) -> Any:
    name = obligation.invariant
    if name not in self.inductive or not obligation.inductive:
        return None
    if self._derived.get(name) is None:
        status, core = self._alone.ask(self.proof.stated[name], sorted(others), solve.FIRST_EFFORT)
        self._derived[name] = (core if keep else frozenset()) if status == "unsat" else None
    return self._derived[name]


@pytest.mark.parametrize("wrong", [in_circles, without_cores, from_the_doubtful], ids=lambda wrong: wrong.__name__)
def test_a_wrong_shortcut_is_noticed(wrong: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solve._Prover, "_follows", wrong)
    assert any(
        not proved(prove(toy.model(refuted=refuted))) <= toy.true()
        for toy, refuted in [
            (Toy(QUIET, [SET_A], {"p": NOT_A, "q": NOT_A}), frozenset[str]()),
            (Toy(QUIET, [SET_A], {"strong": NOT_A, "weak": A_OR_B}), frozenset({"strong"})),
            (Toy(QUIET, [SET_A], {"weak": A_OR_B, "strong": NOT_A}), frozenset()),
        ]
    )


def test_a_proof_of_what_is_false_is_a_disagreement(monkeypatch: pytest.MonkeyPatch) -> None:
    """The last net: exploration sees what a wrong shortcut proves."""
    monkeypatch.setattr(solve._Prover, "_follows", in_circles)
    with pytest.raises(Disagreement):
        verify_variant(
            System.of(Toy(QUIET, [SET_A], {"p": NOT_A, "q": NOT_A}).model()),
            Toy(QUIET, [SET_A], {"p": NOT_A, "q": NOT_A}).model(),
        )


@pytest.mark.long
def test_no_symbol_of_a_script_is_declared_twice() -> None:
    """SMT-LIB has no two constants of one name, also of different sorts; z3 has."""
    proof = obligations(BEAKER)
    unasked = Induction(proof, (), frozenset())
    for obligation in proof.obligations[::9]:
        script = smt(unasked, solve.Answer(obligation, Verdict.PROVED, 0.0))
        declared = re.findall(r"\(declare-fun (\|[^|]*\||\S+)", script)
        assert len(declared) == len(set(declared)), obligation.name
