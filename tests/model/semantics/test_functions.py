"""Functions as numbers: every value of every type, and the same values with other numbers of objects."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from schedproof.model.lang import (
    Attribute,
    BoolType,
    EnumType,
    Function,
    Int,
    IntRange,
    Machine,
    Model,
    Nat,
    Ref,
    Relation,
    SetOf,
    Sort,
)
from schedproof.model.semantics import Instance, ScopeError, functions

A, B = Sort("A", "a"), Sort("B", "b")
VALUES: list[tuple[Any, range]] = [
    (BoolType(), range(2)),
    (EnumType(("a",)), range(1)),
    (EnumType(("a", "b", "c", "d", "e")), range(5)),
    (Ref(A), range(-1, 3)),
    (IntRange(0, 2), range(3)),
    (IntRange(-3, 4), range(-3, 5)),
    (Int, range(-40, 40)),
    (Nat, range(40)),
]
IDS = [str(kind) for kind, _ in VALUES]


@pytest.mark.parametrize(("to", "values"), VALUES, ids=IDS)
def test_a_number_has_all_values_of_a_function(to: Any, values: range) -> None:
    kind, chance = Function(A, B, to=to), Random(1)
    packing = functions.packing(kind, {"A": 3, "B": 2})
    assert packing.tuples == 6 and packing.places()[3] == (1, 1)
    assert packing.value(0) == (0 if to in (Int, Nat) else values[0]) and packing.all(0) == [packing.value(0)] * 6
    for _ in range(50):
        chosen = [chance.choice(values) for _ in range(6)]
        number = packing.of(chosen)
        assert packing.all(number) == chosen and packing.within(number, kind)
        place, new = chance.randrange(6), chance.choice(values)
        chosen[place] = new
        assert packing.all(packing.put(number, place, new)) == chosen


@pytest.mark.parametrize("to", [IntRange(0, 2), IntRange(0, 3), IntRange(-3, 4), Nat], ids=str)
@pytest.mark.parametrize("off", [-9, -1, 1, 2, 4, 9])
def test_a_value_outside_is_not_within(to: Any, off: int) -> None:
    kind = Function(A, to=to)
    packing = functions.packing(kind, {"A": 3})
    outside = (to.high if off > 0 else to.low) + off if isinstance(to, IntRange) else -abs(off)
    number = packing.put(0, 1, outside)
    assert not packing.within(number, kind)
    assert packing.within(packing.put(number, 1, packing.value(0)), kind)
    assert packing.at(number, 0) == packing.at(number, 2) == packing.value(0)


def test_a_number_of_64_bits_is_refused() -> None:
    packing = functions.packing(Function(A, to=Int), {"A": 2})
    assert packing.all(packing.of([2**63 - 1, -(2**63) + 1])) == [2**63 - 1, -(2**63) + 1]
    with pytest.raises(OverflowError, match="numbers have 63 bits"):
        packing.of([2**63, 0])


@pytest.mark.parametrize(("to", "values"), VALUES, ids=IDS)
def test_the_same_values_with_more_objects(to: Any, values: range) -> None:
    kind, chance = Function(A, B, to=to), Random(2)
    few, many = (functions.packing(kind, {"A": a, "B": b}) for a, b in ((3, 2), (4, 5)))
    for _ in range(20):
        number = few.of([chance.choice(values) for _ in range(6)])
        moved = functions.moved(number, few, many)
        before = dict(zip(few.places(), few.all(number), strict=True))
        after = dict(zip(many.places(), many.all(moved), strict=True))
        assert all(after[at] == before.get(at, many.value(0)) for at in after)
        assert functions.moved(moved, many, few) == number


Server, Client = Sort("Server", "s"), Sort("Client", "c")
WEIGHED = Machine(
    Server,
    attributes=[
        Attribute("weight", Function(Client, to=Nat), rigid=True),
        Attribute("way", Function(Server, Client, to=Nat), rigid=True),
        Attribute("knows", SetOf(Client), rigid=True),
        Attribute("pairs", Relation(Server, Client), rigid=True),
    ],
)
WRONG: list[tuple[str, Any]] = [
    ("weight", {-1: 1}),
    ("weight", {0: 2**63}),
    ("way", {(1, -1): 1}),
    ("knows", frozenset({-1})),
    ("pairs", frozenset({(1, -1)})),
]


@pytest.mark.parametrize(("name", "value"), WRONG)
def test_a_configuration_names_objects_and_small_numbers(name: str, value: Any) -> None:
    """The number -1 encodes none: in a tuple it would be another tuple."""
    model = Model("weights", "toy", "weights", [WEIGHED, Machine(Client)], [], [], [], [], {})
    sizes = {"Server": 2, "Client": 2}
    right = Instance(model, sizes, {("Server", "way"): [{(1, 1): 2**63 - 1}, {}]})
    assert right.width == 0
    with pytest.raises(ScopeError, match=f"a configuration gives Server.{name} the value"):
        Instance(model, sizes, {("Server", name): [value, value]})


def test_a_number_beyond_63_bits_is_refused() -> None:
    packing = functions.packing(Function(Client, to=Int), {"Client": 1})
    assert packing.value(packing.code(-(2**63) + 1)) == -(2**63) + 1
    with pytest.raises(functions.NumberTooGreat, match="whose numbers have 63 bits; write less"):
        packing.code(2**63)
