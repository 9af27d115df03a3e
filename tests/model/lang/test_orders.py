"""The library's axioms describe exactly what their names say: counted for few objects, with numbers that are known."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, permutations, product
from typing import Any

import pytest

from schedproof.model.lang import Attribute, Document, Machine, Model, Relation, SetOf, Sort, Term, variable
from schedproof.model.lang.orders import (
    around,
    below,
    forest,
    is_next,
    is_next_around,
    ordered,
    partial_order,
    ring,
    total_order,
    tree,
)
from schedproof.model.semantics import Instance, Moment, compile_term
from tests.support.sample import thinned

Node = Sort("Node", "n")
Axioms = Callable[[Sort, str], list[Term]]


def meets(axioms: Axioms, values: Sequence[Any]) -> bool:
    """Whether these values of a rigid attribute meet the axioms."""
    kind = Relation(Node, Node) if axioms is ring else SetOf(Node)
    model = Model(
        system="nodes",
        variant="toy",
        about="",
        document=Document("", ""),
        machines=[Machine(Node, attributes=[Attribute("r", kind, rigid=True)])],
        rows=[],
        actions=[],
        rules=[],
        properties=[],
        axioms=axioms(Node, "r"),
        default_scope={"Node": 1},
    )
    instance = Instance(model, {"Node": len(values)}, {("Node", "r"): list(values)})
    return all(compile_term(instance, axiom, {})(Moment(instance.initial())) for axiom in model.axioms)


def subsets(elements: Sequence[Any]) -> Iterator[frozenset[Any]]:
    return (frozenset(some) for n in range(len(elements) + 1) for some in combinations(elements, n))


KNOWN = [(partial_order, [1, 3, 19]), (total_order, [1, 2, 6]), (forest, [1, 3, 16]), (tree, [1, 2, 9])]
"""How many there are on one, two and three labelled objects: partial orders, n!, (n + 1)^(n - 1) forests and n^(n - 1) trees."""


@pytest.mark.parametrize(
    ("axioms", "numbers"), thinned(KNOWN, 3, first=1), ids=[axioms.__name__ for axioms, _ in KNOWN]
)
def test_as_many_relations_meet_the_axioms_as_are_known(axioms: Axioms, numbers: list[int]) -> None:
    for size, number in enumerate(numbers, 1):
        every = product(*[list(subsets(range(size)))] * size)
        assert sum(meets(axioms, values) for values in every) == number, size


def test_a_ring_of_three_goes_round_in_one_of_two_ways() -> None:
    """Of distinct triples, two sets of them meet the axioms; a triple that repeats an object never does."""
    triples = list(permutations(range(3)))
    met = [some for some in subsets(triples) if meets(ring, _by_first(some, 3))]
    assert met == [frozenset({(0, 1, 2), (1, 2, 0), (2, 0, 1)}), frozenset({(0, 2, 1), (1, 0, 2), (2, 1, 0)})]
    for triple in set(product(range(3), repeat=3)) - set(triples):
        assert not any(meets(ring, _by_first({*some, triple}, 3)) for some in [*met, frozenset[Any]()])


def test_a_ring_of_four_goes_round_in_one_of_six_ways() -> None:
    """These are (n - 1)!, as of all rings. Three objects meet the axiom of four in any case."""
    turns = [{(a, b, c), (b, c, a), (c, a, b)} for a, b, c in permutations(range(4), 3) if a < min(b, c)]
    rings = [frozenset[Any]().union(*some) for some in subsets([frozenset(each) for each in turns])]
    met = {some for some in rings if meets(ring, _by_first(some, 4))}
    ways = [(0, *others) for others in permutations(range(1, 4))]
    assert met == {frozenset(t for turn in turns for t in turn if _in_order(t, way)) for way in ways}


def _in_order(triple: tuple[int, int, int], way: Sequence[int]) -> bool:
    """Whether one comes from the first to the second before the third on a way round."""
    first, second, third = map(way.index, triple)
    return (second - first) % len(way) < (third - first) % len(way)


def _by_first(triples: Any, size: int) -> list[frozenset[tuple[int, int]]]:
    return [frozenset((b, c) for a, b, c in triples if a == n) for n in range(size)]


def test_made_values_meet_the_axioms() -> None:
    """Those of the order also after any renaming, and no longer once a pair is missing."""
    for size in range(1, 6):
        assert meets(total_order, ordered(size))
        assert meets(ring, around(size))
    assert meets(tree, below([None, 0, 0, 2]))
    assert meets(forest, below([None, 0, None, 2]))
    assert not meets(tree, below([None, 0, None, 2]))
    assert below([None, 0, 0, 2]) == [frozenset(), {0}, {0}, {0, 2}]
    assert below([None, 0, 1, 2, None]) == [frozenset(), {0}, {0, 1}, {0, 1, 2}, frozenset()]
    assert not meets(forest, below([1, 0]))  # each is the other's parent
    [first, *others] = around(4)
    assert not meets(ring, [first - {(1, 3)}, *others])
    assert not meets(total_order, [*ordered(3)[:2], frozenset({1})])


def neighbours(formula: Term, kind: Any, values: Sequence[Any]) -> set[tuple[int, int]]:
    """The pairs (a, b) for which a formula about them is true, with these values of the attribute."""
    machine = Machine(Node, attributes=[Attribute("r", kind, rigid=True)])
    model = Model("nodes", "toy", "", [machine], [], [], [], [], {"Node": 1}, document=Document("", ""))
    instance = Instance(model, {"Node": len(values)}, {("Node", "r"): list(values)})
    holds = compile_term(instance, formula, {"between": a, "b": b})
    every = product(range(len(values)), repeat=2)
    return {pair for pair in every if holds(Moment(instance.initial(), dict(zip(("between", "b"), pair, strict=True))))}


a, b = variable(Node, "between"), variable(Node, "b")


@pytest.mark.parametrize("size", range(1, 5))
def test_neighbours_are_next_to_each_other(size: int) -> None:
    """A variable of theirs may have the name that the formula would give to its own."""
    one, other = is_next(Node, "r", a, b), is_next_around(Node, "r", a, b)
    assert neighbours(one, SetOf(Node), ordered(size)) == {(n, n + 1) for n in range(size - 1)}
    round_pairs = {(n, (n + 1) % size) for n in range(size)} if size > 1 else set()
    assert neighbours(other, Relation(Node, Node), around(size)) == round_pairs
