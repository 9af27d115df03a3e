"""Rows of templates: those of each choice of objects, each once, however they are read."""

from __future__ import annotations

from itertools import chain, repeat

import numpy as np
import pytest

from schedproof.model.lang import Model
from schedproof.model.semantics import Instance
from schedproof.proofs.strengthen import columns, rows
from schedproof.proofs.strengthen.columns import States
from schedproof.proofs.strengthen.features import StateFeature, Template, Vocabulary
from schedproof.proofs.strengthen.rows import ABSENT, OutOfTime, Rows, every_row
from schedproof.proofs.strengthen.samples import Samples
from tests.proofs.strengthen.protocols import LEASES, LOCK_SERVER, QUEUE
from tests.support.toys import WORKSHOP


def templates(model: Model) -> list[Template]:
    words = [Vocabulary(model, frozenset(), exists) for exists in (False, True)]
    return [template for each in words for cost in range(4) for template in each.templates(cost)]


def explored(model: Model) -> list[States]:
    samples = Samples(model)
    for scope in ({}, {model.sorts[0].name: 3}):
        samples.explore(scope, lambda: "")
    return samples.states


def plain_rows(template: Template, states: States) -> list[bytes]:
    """The rows of each choice of objects, one after the other."""
    found: dict[bytes, None] = {}
    for bound in template.assignments(states):
        every = np.stack([each.values(states, bound) for each in template.features], axis=1)
        present = template.present(states, bound)
        found.update(dict.fromkeys(row.tobytes() for row in (every if present is None else every[present])))
    return list(found)


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
        read = [row.tobytes() for row in together.matrix]
        assert sorted(read) == sorted(set(chain(*expected)))
        assert [row.tobytes() for row in every_row(template, several[0])] == expected[0]
        compared += len(read)
    assert compared > 50


def test_absent_objects_have_no_rows() -> None:
    states = explored(QUEUE)
    absent = [
        template
        for template in templates(QUEUE)
        for each in states
        for bound in template.assignments(each)
        if (present := template.present(each, bound)) is not None and not present.all()
    ]
    assert absent


def test_rows_of_one_state_are_in_the_order_of_choices() -> None:
    (state,) = (States.of(Instance(LEASES, {"Worker": 3, "Lease": 2}, {}), [s]) for s in [(1, 0, 1, 1, 0, 2, -1)])
    (template,) = (each for each in Vocabulary(LEASES).templates(2) if each.sorts == {"Worker", "Lease"})
    assert [row.tobytes() for row in every_row(template, state)] == plain_rows(template, state)
    assert len(plain_rows(template, state)) > 3


def test_values_are_read_once_for_all_templates(monkeypatch: pytest.MonkeyPatch) -> None:
    read, values = [], StateFeature.values

    def noted(self: StateFeature, states: States, bound: dict[str, int]) -> columns.Values:
        read.append((self.key, id(states), *(bound[name] for name in self.names)))
        return values(self, states, bound)

    monkeypatch.setattr(StateFeature, "values", noted)
    states = explored(LEASES)
    for template in templates(LEASES):
        Rows(template).extend(states)
    assert len(set(read)) == len(read) > 10


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


@pytest.mark.parametrize("bits", [64, 4])
def test_hashes_are_new_once(bits: int) -> None:
    """Also if many share a slot of the table."""
    draw, known, seen = np.random.default_rng(bits), rows._Known(np.array([ABSENT])), {0}
    for _ in range(20):
        hashes = draw.integers(1 << 10, size=500, dtype=np.uint64) << np.uint64(64 - 10 if bits == 64 else 0)
        places = known.add(hashes)
        assert [int(hashes[n]) for n in places] == [each for each in dict.fromkeys(hashes.tolist()) if each not in seen]
        seen |= set(hashes.tolist())
        assert known.hashes.tolist() == sorted(seen)
