"""Rows of templates: those of each choice of objects, each once, however they are read."""

from __future__ import annotations

from collections import Counter
from itertools import chain, repeat

import numpy as np
import pytest
from numpy.typing import NDArray

from schedproof.model.lang import Model, Ref, ended, exists
from schedproof.model.lang import terms as t
from schedproof.model.semantics import Instance
from schedproof.proofs.strengthen import columns, features, rows
from schedproof.proofs.strengthen.columns import States
from schedproof.proofs.strengthen.features import StateFeature, Template, Vocabulary
from schedproof.proofs.strengthen.rows import ABSENT, Bitmaps, OutOfTime, Rows, at_even_distances, every_row
from schedproof.proofs.strengthen.samples import Samples
from tests.proofs.strengthen.protocols import LEASES, LOCK_SERVER, QUEUE, Lease, Worker
from tests.support.toys import WORKSHOP


def templates(model: Model) -> list[Template]:
    words = [Vocabulary(model, frozenset(), exists) for exists in (False, True)]
    return [template for each in words for cost in range(4) for template in each.templates(cost)]


def explored(model: Model) -> list[States]:
    samples = Samples(model)
    for scope in ({}, {model.sorts[0].name: 3}):
        samples.explore(scope, lambda: "")
    return samples.states


def is_present(template: Template, states: States, bound: dict[str, int]) -> NDArray[np.bool_]:
    """For each state, whether all of the chosen objects are present."""
    absent = [states.truth(ended(v), bound) for v in template.variables if v.type.sort.disposable]  # type: ignore[union-attr]
    return np.array([not any(each[n] for each in absent) for n in range(len(states.matrix))], np.bool_)


def plain_rows(template: Template, states: States) -> list[bytes]:
    """The rows of each choice of objects, one after the other."""
    different: dict[bytes, None] = {}
    for bound in template.assignments(states):
        every = np.stack([each.values(states, bound) for each in template.features], axis=1)
        different.update(dict.fromkeys(row.tobytes() for row in every[is_present(template, states, bound)]))
    return list(different)


@pytest.mark.parametrize(("most_kept", "at_once"), [(columns.MOST_KEPT, rows.AT_ONCE), (0, 1), (100, 7)])
@pytest.mark.parametrize("model", [LEASES, LOCK_SERVER, QUEUE, WORKSHOP], ids=lambda m: m.system)
def test_rows_are_those_of_each_choice(
    model: Model, most_kept: int, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(columns, "MOST_KEPT", most_kept)
    monkeypatch.setattr(rows, "AT_ONCE", at_once)
    several, compared = explored(model), 0
    for template in templates(model):
        together = Rows(template)
        together.extend(several[:1])
        together.extend(several)
        expected = [plain_rows(template, states) for states in several]
        assert together.read == len(several)
        read = [row.tobytes() for row in together.matrix]
        assert sorted(read) == sorted(set(chain(*expected)))
        assert [row.tobytes() for row in every_row(template, several[0])] == expected[0]
        compared += len(read)
    assert compared > 50


def test_some_objects_of_these_models_are_absent() -> None:
    """Also one of two: otherwise the comparison says nothing of them."""
    pairs = [each for each in templates(QUEUE) if len(each.many) == 2 and len(each.sorts) == 1]
    one = [each for each in templates(QUEUE) if len(each.many) == 1 and each.sorts == pairs[0].sorts]
    state, bound = next((s, b) for s in explored(QUEUE) for b in pairs[0].assignments(s))
    first, second = ({one[0].variables[0].name: number} for number in bound.values())
    singly = is_present(one[0], state, first) ^ is_present(one[0], state, second)
    assert singly.any() and not is_present(pairs[0], state, bound)[singly].any()


def test_rows_of_one_state_are_in_the_order_of_choices() -> None:
    state = States.of(Instance(LEASES, {"Worker": 3, "Lease": 2}, {}), [(1, 0, 1, 1, 0, 2, -1)])
    (template,) = (each for each in Vocabulary(LEASES).templates(2) if each.sorts == {"Worker", "Lease"})
    assert [row.tobytes() for row in every_row(template, state)] == plain_rows(template, state)
    assert len(plain_rows(template, state)) > 3


@pytest.mark.parametrize("most_kept", [columns.MOST_KEPT, 0])
def test_values_are_read_once_for_all_templates(most_kept: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "MOST_KEPT", most_kept)
    read, values = [], StateFeature.values

    def noted(self: StateFeature, states: States, bound: dict[str, int]) -> columns.Values:
        read.append((self.key, id(states), *(bound[name] for name in self.names)))
        return values(self, states, bound)

    monkeypatch.setattr(StateFeature, "values", noted)
    states = explored(LEASES)
    for template in templates(LEASES):
        Rows(template).extend(states)
    assert (len(set(read)) == len(read)) == (most_kept > 0) and len(set(read)) > 10


def test_formulas_of_one_text_about_two_sorts() -> None:
    """What is kept of one formula is not the value of the other."""
    same = [exists(x, t.Equal(x, x)) for x in (t.Var("x_", Ref(Worker)), t.Var("x_", Ref(Lease)))]
    template = Template((), tuple(features._truth(each) for each in same))
    states = States.of(Instance(LEASES, {"Worker": 1, "Lease": 0}, {}), [(0,)])
    assert [template.value(n, states, {}).tolist() for n in range(2)] == [[1], [0]]
    assert len({each.key for each in template.features}) == 2


def test_variables_of_one_name_of_two_sorts() -> None:
    """Letters of sorts that differ in a sign become one name."""
    states = States.of(Instance(LEASES, {"Worker": 1, "Lease": 1}, {}), [(0, 1, 0)])
    both = [t.Var("x", Ref(sort)) for sort in (Worker, Lease)]
    alike = [Template((x,), (StateFeature("state of x", ("x",), x, ("A", "B")),)) for x in both]
    assert [each.value(0, states, {"x": 0}).tolist() for each in alike] == [[0], [1]]


def test_what_was_not_read_in_time_is_read_later() -> None:
    states, halted = explored(LEASES), 0
    for template in templates(LEASES):
        whole, part = Rows(template), Rows(template)
        whole.extend(states)
        for steps in range(3):
            halts = chain(repeat("", steps), repeat("over"))
            try:
                part.extend(states, lambda halts=halts: next(halts))  # type: ignore[misc]
            except OutOfTime:
                halted += 1
        part.extend(states)
        assert sorted(r.tobytes() for r in part.matrix) == sorted(r.tobytes() for r in whole.matrix)
    assert halted


@pytest.mark.parametrize("shift", [54, 0])
def test_hashes_are_new_once(shift: int) -> None:
    """Also if all share one slot of the table, since they differ in their low bits only."""
    draw, known, seen = np.random.default_rng(shift), rows._Known(np.array([ABSENT])), {0}
    for _ in range(20):
        hashes = draw.integers(1 << 10, size=500, dtype=np.uint64) << np.uint64(shift)
        places = known.add(hashes)
        assert [int(hashes[n]) for n in places] == [each for each in dict.fromkeys(hashes.tolist()) if each not in seen]
        seen |= set(hashes.tolist())
        assert known.hashes.tolist() == sorted(seen)


def test_of_many_choices_those_at_even_distances_are_looked_at() -> None:
    assert at_even_distances(iter(range(10)), 10) == list(range(10))
    assert at_even_distances(iter(range(11)), 4) == [0, 3, 6, 9]


@pytest.mark.parametrize("model", [LEASES, LOCK_SERVER], ids=lambda m: m.system)
def test_rows_of_other_states_that_are_there_too(model: Model) -> None:
    few, *others = explored(model)
    seen = Counter[bool]()
    for template in templates(model):
        of_template = Rows(template)
        assert not of_template.has(every_row(template, few)).any()
        of_template.extend([few])
        known = {row.tobytes() for row in of_template.matrix}
        for states in (few, *others):
            matrix = every_row(template, states)
            expected = [row.tobytes() in known for row in matrix]
            assert of_template.has(matrix).tolist() == expected
            seen.update(expected)
    assert seen[True] and seen[False]


@pytest.mark.parametrize("seed", range(6))
def test_bitmaps_say_which_rows_have_which_values(seed: int) -> None:
    """As comparing each row does; also of numbers below zero."""
    random = np.random.default_rng(seed)
    matrix = random.integers(-2, 4, size=(int(random.integers(0, 40)), 3)).astype(np.int8)
    bitmaps = Bitmaps(matrix)

    def numbers(bits: NDArray[np.uint8]) -> set[int]:
        return set(np.flatnonzero(np.unpackbits(bits)).tolist())

    assert numbers(bitmaps.every) == set(range(len(matrix)))
    for feature in range(3):
        for values in (frozenset[int](), frozenset({-2}), frozenset({0, 3}), frozenset(range(-2, 4))):
            assert numbers(bitmaps.lacking(feature, values)) == {
                n for n, r in enumerate(matrix) if r[feature] not in values
            }
            rows = bitmaps.lacking((feature + 1) % 3, {0, 1})
            beside = {int(row[feature]) for row in matrix if row[(feature + 1) % 3] not in (0, 1)}
            assert bitmaps.values(feature, values, rows) == values & beside
        for value in range(-2, 4):
            assert numbers(bitmaps.having(feature, value)) == set(np.flatnonzero(matrix[:, feature] == value).tolist())


def test_bitmaps_know_rows_that_were_added() -> None:
    few, more = explored(LEASES)[:2]
    of_template = Rows(max(templates(LEASES), key=lambda each: len(each.features)))
    of_template.extend([few])
    before = of_template.bitmaps
    assert of_template.bitmaps is before and len(before.matrix) == len(of_template.matrix)
    of_template.extend([few, more])
    assert len(of_template.matrix) > len(before.matrix)
    assert of_template.bitmaps.matrix is of_template.matrix
