"""The search for clauses that exclude a row: complete, minimal, and true of every row of the samples."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from schedproof.model.lang import Action, Attribute, EnumType, IntRange, Model, Nat, forall, variables
from schedproof.model.lang.terms import Constant
from schedproof.model.semantics import Instance
from schedproof.proofs.induction.obligations import Added
from schedproof.proofs.strengthen import cubes as module
from schedproof.proofs.strengthen import infer
from schedproof.proofs.strengthen.columns import States
from schedproof.proofs.strengthen.cubes import Clause, Difference, least
from schedproof.proofs.strengthen.features import NumberFeature, StateFeature, Template, Vocabulary
from schedproof.proofs.strengthen.infer import DOUBTFUL, Inference, Limits, true_of
from schedproof.proofs.strengthen.prover import Prover
from schedproof.proofs.strengthen.rows import Rows
from schedproof.proofs.strengthen.samples import Samples
from tests.proofs.strengthen.protocols import LEASES, LOCK_SERVER, Worker, w

COUNTS = [Attribute("count", IntRange(0, 3)), Attribute("mood", EnumType(("calm", "busy")))]


def cubes(matrix: np.ndarray, row: np.ndarray, size: int) -> list[tuple[int, ...]]:
    rows = Rows(Template((), ()))
    rows.matrix = matrix
    return Difference(rows, row).cubes(size)


def by_trying(matrix: np.ndarray, row: np.ndarray, size: int) -> set[tuple[int, ...]]:
    """The minimal cubes of a size, by trying all sets of features."""

    def excludes(chosen: tuple[int, ...]) -> bool:
        return not np.all(matrix[:, list(chosen)] == row[list(chosen)], axis=1).any()

    every = combinations(range(matrix.shape[1]), size)
    return {c for c in every if excludes(c) and not any(excludes(less) for less in combinations(c, size - 1))}


@pytest.mark.parametrize("seed", range(12))
def test_cubes_are_all_minimal_ones(seed: int) -> None:
    random = np.random.default_rng(seed)
    matrix = random.integers(3, size=(int(random.integers(2, 40)), 6)).astype(np.int8)
    row = random.integers(3, size=6).astype(np.int8)
    for size in (1, 2, 3):
        assert set(cubes(matrix, row, size)) == by_trying(matrix, row, size)


@pytest.mark.parametrize("seed", range(12))
def test_few_rows_at_first_change_no_cube(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever rows are not looked at first, and whichever size is asked for first."""
    monkeypatch.setattr(module, "NEAREST", 1 + seed % 3)
    random = np.random.default_rng(seed)
    matrix = random.integers(3, size=(60, 7)).astype(np.int8)
    row = random.integers(3, size=7).astype(np.int8)
    for size in (3, 2, 1, 4):
        assert set(cubes(matrix, row, size)) == by_trying(matrix, row, size)


@pytest.mark.parametrize("seed", range(12))
def test_cubes_read_all_variables(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The others are looked at nevertheless, for what seems to be minimal because of them; they take no place of a cube."""
    monkeypatch.setattr(module, "NEAREST", 1 + seed % 3)
    random = np.random.default_rng(seed)
    (template,) = (each for each in Vocabulary(LEASES).templates(2) if each.sorts == {"Worker", "Lease"})
    names = [("w", "l"), ("w",), ("l",), ("w",), ("w",), ("w",), ("l",)]
    features = [StateFeature(str(n), each, w) for n, each in enumerate(names)]
    rows = Rows(Template(template.variables, tuple(features)))
    rows.matrix = random.integers(3, size=(60, 7)).astype(np.int8)
    row = random.integers(3, size=7).astype(np.int8)
    whole = 0
    for size in (3, 1, 2):
        minimal = by_trying(rows.matrix, row, size)
        reading = {cube for cube in minimal if {name for n in cube for name in names[n]} == {"w", "l"}}
        assert set(Difference(rows, row).cubes(size)) == reading
        monkeypatch.setattr(module, "MOST_CUBES", max(1, len(reading)))
        assert set(Difference(rows, row).cubes(size)) == reading
        whole += len(reading)
    assert whole


def test_a_row_of_the_samples_has_no_cube() -> None:
    matrix = np.array([[0, 1, 2], [1, 1, 0]], np.int8)
    assert [cubes(matrix, matrix[0], size) for size in (1, 2, 3)] == [[], [], []]


def test_clauses_hold_in_the_samples_and_exclude_the_row() -> None:
    samples = Samples(LOCK_SERVER)
    samples.explore({"Process": 3}, lambda: "")
    number = 0
    for template in Vocabulary(LOCK_SERVER).templates(2):
        rows = samples.rows(template, False)
        for row in np.array(list(np.ndindex(5, 5, 2)), np.int8)[:, : len(template.features)]:
            for size in (1, 2, 3):
                for clause in Difference(rows, row).clauses(size):
                    assert not clause.fails(rows.matrix).any()
                    assert clause.fails(row[np.newaxis]).all()
                    number += 1
    assert number > 20


@pytest.mark.parametrize("seed", range(8))
def test_each_allowed_value_is_that_of_a_sample(seed: int) -> None:
    """Without the value, a sample would violate the clause."""
    random = np.random.default_rng(seed)
    features = tuple(NumberFeature(f"f{n}", (), Constant(0), None, -2, 2) for n in range(5))
    rows = Rows(Template((), features))
    rows.matrix = random.integers(0, 5, size=(int(random.integers(0, 60)), 5)).astype(np.int8)
    difference = Difference(rows, random.integers(0, 5, size=5).astype(np.int8))
    for size in (1, 2, 3):
        for clause in list(difference.clauses(size))[::2]:
            assert not clause.fails(rows.matrix).any()
            for n, (feature, allowed) in enumerate(clause.literals):
                for value in allowed:
                    less = (*clause.literals[:n], (feature, allowed - {value}), *clause.literals[n + 1 :])
                    assert replace(clause, literals=less).fails(rows.matrix).any()


def test_only_the_least_sets_have_to_be_hit() -> None:
    draw = np.random.default_rng(5)
    sets = draw.integers(0, 2, size=(200, 9)).astype(bool)
    sets = sets[np.argsort(sets.sum(axis=1), kind="stable")]
    few = {frozenset(np.flatnonzero(each)) for each in least(sets)}
    every = {frozenset(np.flatnonzero(each)) for each in sets}
    assert few == {one for one in every if not any(other < one for other in every)}


def test_clauses_about_objects_that_nothing_ties_together() -> None:
    """Two objects of one sort are compared anyway, and a single object belongs to all."""

    def scattered(model: Model, sorts: set[str], *literals: tuple[str, set[int]]) -> bool:
        (template,) = (each for each in Vocabulary(model).templates(2) if each.sorts == sorts)
        features = {feature.key: feature for feature in template.features}
        return Clause(template, tuple((features[key], frozenset(allowed)) for key, allowed in literals)).scattered

    both = {"Worker", "Lease"}
    assert scattered(LEASES, both, ("state of w", {1}), ("state of l", {0}))
    assert scattered(LEASES, both, ("state of w", {1}), ("l.holder = w", {1}), ("state of l", {0}))
    assert not scattered(LEASES, both, ("state of w", {1}), ("l.holder = w", {0}))
    assert not scattered(LEASES, both, ("state of w", {1}), ("l.holder = w", {0}), ("state of l", {0}))
    assert not scattered(LEASES, {"Worker"}, ("state of w", {1}), ("state of w2", {1}))
    assert not scattered(LEASES, both, ("state of l", {0}))
    numbers = replace(LEASES, machines=[replace(m, attributes=[*m.attributes, *COUNTS]) for m in LEASES.machines])
    assert scattered(numbers, both, ("w.count l.count", {0}), ("state of w", {1}))
    assert scattered(numbers, both, ("w.mood l.mood have the same value", {0}))
    (w,) = variables(next(each for each in LEASES.sorts if each.name == "Worker"), "w")
    asleep = forall(w, ~w.is_("Idle"))
    asking = replace(LEASES, actions=[*LEASES.actions, Action("wait", [], [asleep], [], "all wait")])
    (of_none,) = (
        f.key for t in Vocabulary(asking).templates(1) for f in t.features if t.sorts == {"Lease"} and not f.names
    )
    assert scattered(asking, both, (of_none, {0}), ("state of l", {0}))
    assert not scattered(asking, both, (of_none, {0}))


def test_clauses_about_untied_objects_are_given_tied_too() -> None:
    """One worker and one lease suggest that no worker is idle while a lease is held. That is true only of the worker that holds it."""
    few, more = Samples(LEASES), Samples(LEASES)
    few.explore({"Worker": 1, "Lease": 1}, lambda: "")
    more.explore({"Worker": 2, "Lease": 2}, lambda: "")
    (template,) = (each for each in Vocabulary(LEASES).templates(2) if each.sorts == {"Worker", "Lease"})
    at = {feature.key: n for n, feature in enumerate(template.features)}
    row = np.zeros(len(at), np.int8)  # the worker is idle
    row[[at["state of l"], at["l.holder = w"]]] = 1
    difference = Difference(few.rows(template, False), row)
    untied = [each for each in difference.clauses(2) if len(each.groups) == 2]
    assert untied and all(each.fails(more.rows(template, False).matrix).any() for each in untied)
    tied = [
        each
        for each in difference.clauses(3)
        if {f.key for f, _ in each.literals} == {"state of w", "state of l", "l.holder = w"}
    ]
    assert tied and all(len(each.literals) == 3 for each in difference.clauses(3))
    for clause in tied:
        assert len(clause.groups) == 1 and not clause.scattered
        assert clause.fails(row[np.newaxis]).all() and not clause.fails(more.rows(template, False).matrix).any()


def test_clauses_about_numbers_that_never_change_are_doubtful() -> None:
    numbers = [
        Attribute("most", IntRange(0, 5), rigid=True),
        Attribute("size", Nat, rigid=True),
        Attribute("tries", IntRange(0, 5), 0),
    ]
    model = replace(LEASES, machines=[replace(m, attributes=[*m.attributes, *numbers]) for m in LEASES.machines])
    (template,) = (each for each in Vocabulary(model).templates(2) if each.sorts == {"Worker"})
    doubtful = {f.key for f in template.features if Clause(template, ((f, frozenset([0])),)).doubtful}
    compared = {f.key for f in template.features if isinstance(f, NumberFeature)}
    assert doubtful == {key for key in compared if "tries" not in key} and 0 < len(doubtful) < len(compared)
    assert {"w.most", "w2.size", "w.most w2.size"} <= doubtful


def test_doubtful_clauses_count_as_larger() -> None:
    """A clause that is scattered, and one that compares a rigid number and is about one worker only."""
    rigid = [Attribute("most", IntRange(0, 5), rigid=True)]
    model = replace(
        LEASES,
        machines=[
            replace(m, attributes=[*m.attributes, *(rigid if m.sort == Worker else [])]) for m in LEASES.machines
        ],
        configurations=lambda sizes: [{("Worker", "most"): [1] * sizes["Worker"]}],
    )
    samples = Samples(model)
    samples.explore({}, lambda: "")
    inference = Inference(model, samples, Limits(), lambda: "", lambda text: None)
    instance = Instance(model, {"Worker": 2, "Lease": 2}, {("Worker", "most"): [3, 1]})
    larger: dict[tuple[bool, bool], set[int]] = {}
    for level, clause in inference._candidates(States.of(instance, [(0, 1, 1, 0, 0, -1)]), None):
        if clause.template not in inference._vocabularies[1]._made.values():
            kind = clause.scattered, any(feature.rigid for feature, _ in clause.literals)
            larger.setdefault(kind, set()).add(level - len(clause.literals) - clause.template.cost)
    assert larger.pop((False, False)) == {0}
    assert (False, True) in larger and (True, False) in larger
    assert all(each == {DOUBTFUL} for each in larger.values()) and DOUBTFUL > 0


@pytest.mark.parametrize("most", [2, 3])
def test_a_candidate_is_given_up_once_enough_fails(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    asked, failing = [], Prover.failing

    def noted(self: Prover, formulas: Added, assume: Collection[str], limit: int, stop: Callable[[], str]) -> int:
        asked.append(limit)
        return failing(self, formulas, assume, limit, stop)

    monkeypatch.setattr(Prover, "failing", noted)
    monkeypatch.setattr(infer, "MOST_FAILING", most)
    samples = Samples(LOCK_SERVER)
    samples.explore({}, lambda: "")
    inference = Inference(LOCK_SERVER, samples, Limits(), lambda: "", lambda text: None)
    assert inference.run()
    assert max(asked) == most


def test_a_clause_leaves_no_variable_of_its_template_out() -> None:
    """Where there is no lease, the worker may work: rows about a worker and a lease do not show it."""
    alone = States.of(Instance(LEASES, {"Worker": 1, "Lease": 0}, {}), [(0,), (1,)])
    beside = States.of(Instance(LEASES, {"Worker": 1, "Lease": 1}, {}), [(0, 0, -1)])
    samples = Samples(LEASES, states=[alone, beside])
    inference = Inference(LEASES, samples, Limits(), lambda: "", lambda text: None)
    to_exclude = States.of(beside.instance, [(1, 0, -1)])
    choice = inference.choose(to_exclude)
    assert choice is not None
    assert true_of(choice.prop, alone) and true_of(choice.prop, beside) and not true_of(choice.prop, to_exclude)
