"""Sequences as numbers: what is written is read again, whatever the type and the length."""

from __future__ import annotations

import json
from random import Random

import orjson
import pytest

from schedproof.model.lang import BoolType, EnumType, Int, IntRange, Nat, Ref, Sequence, SetOf, Sort
from schedproof.model.semantics import instances, sequences
from schedproof.model.semantics.functions import NumberTooGreat
from schedproof.model.semantics.reasons import value_text
from tests.support.logs import RANGES

Job = Sort("Job", "j")
VALUES = {
    BoolType(): [0, 1],
    IntRange(-1, 3): [-1, 0, 3],
    EnumType(("a", "b", "c")): [0, 1, 2],
    Ref(Job): [-1, 0, 2],
    Nat: [0, 1, 1 << 40],
    Int: [0, -1, -(1 << 62), 7],
}


@pytest.mark.parametrize("kind", VALUES, ids=str)
def test_the_operations_are_those_of_lists(kind: object) -> None:
    chance, items = Random(4), sequences.items(Sequence(kind, at_most=2), {"Job": 3})  # type: ignore[arg-type]
    values = VALUES[kind]  # type: ignore[index]
    for many in (0, 1, 2, 3, 16, 17, 33, 200):
        listed = [chance.choice(values) for _ in range(many)]
        number = items.of(listed)
        assert items.all(number) == listed and items.length(number) == many
        assert [items.at(number, index) for index in (-1, many)] == [None, None]
        assert [items.at(number, index) for index in range(many)] == listed
        assert items.appended(number, values[-1]) == items.of([*listed, values[-1]])
        for at in (-3, 0, 1, many - 1, many, many + 5, 1 << 62):
            assert items.all(items.sliced(number, at, first=True)) == listed[: max(at, 0)]
            assert items.all(items.sliced(number, at, first=False)) == listed[max(at, 0) :]
        assert all(items.has(number, value) == (value in listed) for value in values)
        assert items.within(number, Sequence(kind, at_most=2))  # type: ignore[arg-type]


def test_a_value_outside_of_the_range_is_no_other() -> None:
    kind = Sequence(IntRange(0, 2), at_most=2)
    items = sequences.items(kind, {})
    for value in (-1, 3, 4, 8, -7):
        assert not items.within(items.of([1, value, 0]), kind)
        assert items.length(items.of([value])) == 1
    naturals = sequences.items(Sequence(Nat, at_most=1), {})
    assert not naturals.within(naturals.of([0, -1]), Sequence(Nat, at_most=1))
    with pytest.raises(NumberTooGreat, match="is more than a sequence holds"):
        naturals.of([1 << 63])


def test_a_sequence_is_written_as_a_list_and_a_set_in_braces() -> None:
    (instance,) = instances(RANGES, {"Node": 1, "Job": 2})
    jobs, queue = SetOf(Job), Sequence(Ref(Job), at_most=2)
    shown = instance.show(queue, instance.encoded(queue, (1, 0)))
    assert value_text(shown) == "[j1, j0]" and value_text([]) == "{}" and value_text(instance.show(queue, 0)) == "[]"
    assert value_text(instance.show(jobs, instance.encoded(jobs, frozenset({0, 1})))) == "{j0, j1}"
    assert json.loads(orjson.dumps(shown)) == json.loads(json.dumps(shown)) == ["j1", "j0"]
