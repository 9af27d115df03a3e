"""Fewer lemmas that say more: what is put together follows, what is narrowed is true, and nothing is taken unproved."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations_with_replacement, product

import numpy as np
import pytest

from schedproof.model.lang import Sort, variables
from schedproof.proofs.induction import prove
from schedproof.proofs.strengthen import generalize as module
from schedproof.proofs.strengthen.cubes import Clause
from schedproof.proofs.strengthen.features import Feature, StateFeature, Template
from schedproof.proofs.strengthen.generalize import generalize, put_together, strongest
from schedproof.proofs.strengthen.infer import Inference, Limits
from schedproof.proofs.strengthen.rows import Bitmaps, every_row
from schedproof.proofs.strengthen.samples import Samples
from tests.proofs.strengthen.protocols import LOCK_SERVER

STATES = ("A", "B", "C", "D")
Thing = Sort("Thing", "x")
THINGS = variables(Thing, "x y z")
FEATURES = tuple(StateFeature(f"state of {v.name}", (v.name,), v, STATES) for v in THINGS)
TEMPLATE = Template(tuple(THINGS), FEATURES)
EVERY_ROW = np.array(list(product(range(len(STATES)), repeat=len(FEATURES))), np.int8)


def clause(*allowed: set[int]) -> Clause:
    """The clause about the first features, each with its allowed values."""
    literals: list[tuple[Feature, frozenset[int]]] = [
        (f, frozenset(its)) for f, its in zip(FEATURES, allowed, strict=False)
    ]
    return Clause(TEMPLATE, tuple(literals))


def random_clause(random: np.random.Generator, literals: int = 3) -> Clause:
    return clause(*({int(n) for n in random.choice(4, random.integers(1, 4), replace=False)} for _ in range(literals)))


@pytest.mark.parametrize("seed", range(20))
def test_what_is_put_together_follows_from_both(seed: int) -> None:
    random = np.random.default_rng(seed)
    one, other = random_clause(random), random_clause(random)
    for each in put_together(one, other):
        assert not (each.fails(EVERY_ROW) & ~one.fails(EVERY_ROW) & ~other.fails(EVERY_ROW)).any()


@pytest.mark.parametrize("forgotten", range(3))
def test_what_differs_in_one_literal_becomes_one(forgotten: int) -> None:
    """No state is forgotten: the clause excludes what one of the two excludes."""
    one, other = clause({0}, {forgotten, 3}, {1, 2}), clause({0}, {(forgotten + 1) % 3, 3}, {1, 2})
    excluded = one.fails(EVERY_ROW) | other.fails(EVERY_ROW)
    assert any((each.fails(EVERY_ROW) == excluded).all() for each in put_together(one, other))


def test_clauses_about_different_features_stay_apart() -> None:
    assert not list(put_together(clause({0}, {1}), clause({0}, {1}, {2})))


@pytest.mark.parametrize("seed", range(20))
def test_a_narrowed_clause_is_true_of_all_rows(seed: int) -> None:
    random = np.random.default_rng(seed)
    wide = random_clause(random)
    rows = EVERY_ROW[~wide.fails(EVERY_ROW)]
    rows = rows[random.choice(len(rows), 8)]
    narrow = wide.narrowed(Bitmaps(rows))
    assert narrow.implies(wide) and not narrow.fails(rows).any()
    for feature, its in narrow.literals:
        for value in its:  # each allowed value is that of a row
            less = {**dict(narrow.literals), feature: its - {value}}
            assert Clause(TEMPLATE, tuple(less.items())).fails(rows).any()


@pytest.mark.parametrize("seed", range(20))
def test_a_clause_implies_what_holds_wherever_it_holds(seed: int) -> None:
    random = np.random.default_rng(seed)
    clauses = [random_clause(random, int(random.integers(1, 4))) for _ in range(30)]
    for one in clauses:
        for other in clauses:
            assert one.implies(other) == (not (other.fails(EVERY_ROW) & ~one.fails(EVERY_ROW)).any())


def test_the_strongest_are_implied_by_no_other() -> None:
    strong, weak, apart = clause({0}, {1}), clause({0, 2}, {1}), clause({3}, {2})
    assert strongest([weak, strong, apart, strong]) == [strong, apart]


OUT, ASKING, GRANTED, IN, LEAVING = range(5)
"""The states of a process of the lock server."""

FREE = 0


def lock_server(*wrong: dict[str, set[int]]) -> Inference:
    """An inference that has proved mutual exclusion with a lemma for each two states, and one for each state beside a free lock.

    Args:
        wrong: the values that further clauses allow; they are added, too, if they are inductive.
    """
    samples = Samples(LOCK_SERVER)
    samples.explore({"Process": 3}, lambda: "")
    one = Inference(LOCK_SERVER, samples, Limits(), lambda: "", lambda text: None)
    processes, holders = set(range(5)), (GRANTED, IN, LEAVING)
    pairs = [
        {"state of p": processes - {first}, "state of p2": processes - {second}}
        for first, second in combinations_with_replacement(holders, 2)
    ]
    beside_free = [{"state of p": processes - {state}, "state of k": {1 - FREE}} for state in holders]
    one.add_inductive(clauses(one, [*pairs, *beside_free, *wrong]))
    assert one.run()
    return one


def clauses(one: Inference, every: Iterable[dict[str, set[int]]]) -> list[Clause]:
    """Clauses, each from the values that it allows of some features."""
    made = []
    for allowed in every:
        (template,) = one._vocabularies[0].templates(sum(key != "state of k" for key in allowed))
        literals = [(f, frozenset(allowed[f.key])) for f in template.features if f.key in allowed]
        made.append(Clause(template, tuple(literals)))
    return made


def proved(one: Inference) -> bool:
    """Whether everything is proved from scratch."""
    model = LOCK_SERVER.asking([*LOCK_SERVER.properties, *(lemma.prop for lemma in one.lemmas.values())])
    return all(prove(model).kept(p.name) for p in model.properties)


def test_lemmas_for_each_state_become_two() -> None:
    one = lock_server()
    assert len(one.lemmas) == 9
    generalize(one, list(one.lemmas))
    assert {lemma.clause.key for lemma in one.lemmas.values()} == {
        "state of k in [1] | state of p in [0, 1]",
        "state of p in [0, 1] | state of p2 in [0, 1]",
    }
    assert proved(one)


def test_other_lemmas_stay() -> None:
    """Even if no proof needs them."""
    needless = {"state of p": {OUT, ASKING, IN}, "state of k": {1}}
    one = lock_server(needless)
    kept = {name for name, lemma in one.lemmas.items() if "state of k" in lemma.clause.key}
    generalize(one, one.lemmas.keys() - kept)
    assert len(kept) == 4 and kept <= one.lemmas.keys()
    assert len(one.lemmas) == len(kept) + 1


WRONG = [
    {"state of p": {OUT, ASKING, GRANTED}},  # it begins, but a process enters
    {"state of p": {ASKING, GRANTED, IN, LEAVING}},  # no process is out at the beginning
]


@pytest.mark.parametrize("wrong", WRONG)
def test_no_clause_is_added_unproved(wrong: dict[str, set[int]]) -> None:
    one = lock_server()
    before = dict(one.lemmas)
    assert one.add_inductive(clauses(one, [wrong])) == set()
    assert one.lemmas == before
    assert one.prover._proof.assumed.keys() == {*before, "mutex"}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_replacement_replaces_nothing(wrong: dict[str, set[int]], monkeypatch: pytest.MonkeyPatch) -> None:
    """Even if the samples that refute it are missing, and all lemmas seem to be covered by it."""
    one = lock_server()
    chosen = iter([clauses(one, [wrong]), []])
    monkeypatch.setattr(module, "_chosen", lambda *given: next(chosen))
    generalize(one, list(one.lemmas))
    assert len(one.lemmas) == 8  # that no two processes are in is the goal
    assert proved(one)


def test_more_lemmas_than_before_are_taken_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """One lemma says all; two that say less each are inductive, too, and come before it."""
    one = lock_server()
    generalize(one, list(one.lemmas))
    before = dict(one.lemmas)
    weak = [
        {"state of p": {OUT, ASKING} | less, "state of k": {1}}
        for less in ({IN, GRANTED}, {LEAVING, IN}, {GRANTED, LEAVING})
    ]
    chosen = iter([clauses(one, weak), []])
    monkeypatch.setattr(module, "_chosen", lambda *given: next(chosen))
    generalize(one, list(one.lemmas))
    assert {name: lemma.clause.key for name, lemma in one.lemmas.items()} == {
        name: lemma.clause.key for name, lemma in before.items()
    }
    assert one.prover._proof.assumed.keys() == {*one.lemmas, "mutex"}
    assert all(each.name in one.proofs for each in one.obligations)
    assert all(one.prover.ask(each, one.lemmas.keys() | {"mutex"}).proved for each in one.obligations)
    assert proved(one)


def test_a_counterexample_is_kept_only_if_it_is_excluded() -> None:
    samples = Samples(LOCK_SERVER)
    samples.explore({"Process": 3}, lambda: "")
    one = Inference(LOCK_SERVER, samples, Limits(), lambda: "", lambda text: None)
    assert one.run()
    weak = [{"state of p": set(range(5)) - {state}, "state of k": {1}} for state in (GRANTED, IN, LEAVING)]
    added = one.add_inductive(clauses(one, weak))
    shown = [one.lemmas[name] for name in added if one.lemmas[name].excludes is not None]
    assert 0 < len(shown) < len(added)
    for lemma in shown:
        assert lemma.excludes is not None
        assert lemma.clause.fails(every_row(lemma.clause.template, lemma.excludes.before)).any()


def test_counterexamples_are_those_of_their_own_lemmas() -> None:
    samples = Samples(LOCK_SERVER)
    samples.explore({"Process": 3}, lambda: "")
    one = Inference(LOCK_SERVER, samples, Limits(), lambda: "", lambda text: None)
    assert one.run()
    steps = {name: lemma.excludes for name, lemma in one.lemmas.items() if lemma.excludes is not None}
    counterexamples = module._Counterexamples(list(one.lemmas.values()))
    sizes = set()
    for clause in (lemma.clause for lemma in one.lemmas.values()):
        rows = {name: every_row(clause.template, step.before) for name, step in steps.items()}
        names = {name for name in rows if clause.fails(rows[name]).any()}
        assert counterexamples.excluded_by(clause) == names
        sizes.add(frozenset(names))
    assert len(sizes) > 1  # one of them excludes less than the others


def test_rounds_end_that_make_lemmas_no_fewer(monkeypatch: pytest.MonkeyPatch) -> None:
    one, rounds = lock_server(), []

    def choose(*given: object) -> list[Clause]:
        rounds.append(given)
        return clauses(one, WRONG) if len(rounds) < 10 else []

    monkeypatch.setattr(module, "_chosen", choose)
    generalize(one, list(one.lemmas))
    assert len(rounds) == module.MOST_IDLE


def test_candidates_read_all_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is left without the literals of one of two processes is a clause of a smaller template."""
    one = lock_server()
    lemmas = [each for each in one.lemmas.values() if len(each.clause.template.many) == 2]
    less = {each.clause: Clause(each.clause.template, each.clause.literals[:1]) for each in lemmas[1:]}
    assert less and not any(each.reads_all_variables for each in less.values())
    monkeypatch.setattr(module, "_narrowed", lambda inference, clause: [less.get(clause, clause)])
    monkeypatch.setattr(module, "put_together", lambda one, other: [])
    assert all(each.reads_all_variables for each in module._candidates(one, lemmas))
