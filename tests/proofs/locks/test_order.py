"""Orders of locks: a rank exists exactly when no instance has a circle, by a search written anew.

The search knows objects by number; what an object is in is a table. It takes every instance of up to four objects of a
description, and looks for a shortest circle by walking.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations_with_replacement, product
from typing import NamedTuple

import pytest

from schedproof.model.locks import Locks, parse
from schedproof.proofs.locks import rank as ranks
from tests.support.rows import each_row


class Rows(NamedTuple):
    """Classes with what they are in, and rows: who is held, who is acquired, where that is ("in", "around", "")."""

    classes: Mapping[str, Sequence[str]]
    rows: Sequence[tuple[str, str, str]]

    def description(self, extra: str = "") -> Locks:
        classes = ", ".join(f"{name}: {{in: [{', '.join(inside)}]}}" for name, inside in self.classes.items())
        rows = "".join(f"  - {a} > {b}{f' {where} it' if where else ''}\n" for a, b, where in self.rows)
        return parse(f"classes: {{{classes}}}\norder:\n{rows}{extra}", "made.yaml")


Inside = Mapping[tuple[int, str], int]


def instances(classes: Mapping[str, Sequence[str]], size: int) -> Iterator[tuple[tuple[str, ...], Inside]]:
    """The classes of objects 0, 1, ... and by object and class what it is directly in."""
    for of in combinations_with_replacement(classes, size):
        slots = [(n, outer) for n in range(size) for outer in classes[of[n]]]
        choices = []
        for n, outer in slots:
            # In one of its own class only if that has a smaller number: each forest is there in some numbering.
            containers = [m for m in range(size) if of[m] == outer and (outer != of[n] or m < n)]
            choices.append([None, *containers])
        for chosen in product(*choices):
            inside = {slot: outer for slot, outer in zip(slots, chosen, strict=True) if outer is not None}
            if all(len(above(n, name, of, inside)) <= 1 for n in range(size) for name in classes if name != of[n]):
                yield of, inside


def above(one: int, name: str, of: Sequence[str], inside: Inside) -> set[int]:
    """Those of class ``name`` that it is in, directly or through another class."""
    outer_ones: set[int] = set()
    for (inner, outer_class), outer in inside.items():
        if inner == one and outer_class == name:
            outer_ones.add(outer)
        elif inner == one and outer_class != of[one]:
            outer_ones |= above(outer, name, of, inside)
    return outer_ones


def circle_length(case: Rows, largest: int) -> int:
    """How long a shortest circle is in a smallest instance that has one; 0 if none of up to ``largest`` objects has."""
    for size in range(1, largest + 1):
        best = 0
        for of, inside in instances(case.classes, size):
            out: dict[int, set[int]] = {n: set() for n in range(size)}
            for held, acquired, where in case.rows:
                for n, m in product(range(size), repeat=2):
                    holds = {
                        "in": inside.get((m, held)) == n,
                        "around": inside.get((n, acquired)) == m,
                        "": True,
                    }
                    if (of[n], of[m]) == (held, acquired) and holds[where]:
                        out[n].add(m)
            for start in range(size):
                far = {start: 0}
                queue = deque([start])
                while queue:
                    node = queue.popleft()
                    for then in out[node]:
                        if then == start and (not best or far[node] + 1 < best):
                            best = far[node] + 1
                        if then not in far:
                            far[then] = far[node] + 1
                            queue.append(then)
        if best:
            return best
    return 0


SHAPES: list[Mapping[str, Sequence[str]]] = [
    {"A": [], "B": ["A"], "C": ["B"]},
    {"A": [], "B": ["A"], "C": ["A", "B"]},
    {"P": [], "Q": ["P", "Q"], "X": ["Q"]},
    {"P": [], "Q": ["P", "Q"], "X": ["P", "Q"]},
    {"Q": ["Q"], "R": ["R"]},
    {"Q": ["Q"], "R": ["R", "Q"]},
    {"A": [], "B": []},
]


def made(seed: int) -> Rows:
    chance = random.Random(seed)
    classes = chance.choice(SHAPES)
    possible = [(a, b, "") for a in classes for b in classes if a != b or chance.random() < 0.1]
    possible += [(outer, inner, "in") for inner, outers in classes.items() for outer in outers] * 3
    possible += [(inner, outer, "around") for inner, outers in classes.items() for outer in outers] * 2
    return Rows(classes, list(dict.fromkeys(chance.sample(possible, chance.randint(1, min(4, len(possible)))))))


def random_orders(seeds: range, largest: int = 4) -> int:
    """A gate for the rank and for its instances: they say what the walk says. Gives how many had a circle."""
    circles = 0
    for seed in seeds:
        case = made(seed)
        order = ranks.check_order(case.description())
        expected = circle_length(case, largest)
        assert (order.rank is None) == (expected > 0), f"seed {seed}: {case}"
        assert len(order.circle) == expected, f"seed {seed}: {case}"
        closes(order)
        circles += expected > 0
    return circles


def closes(order: ranks.Order) -> None:
    """A circle's edges lead from one to the next, by rows of the classes of both."""
    edges = order.circle
    for edge, after in zip(edges, [*edges[1:], *edges[:1]], strict=True):
        assert edge.acquired == after.holding
        assert (edge.holding.split()[0], edge.acquired.split()[0]) == (edge.row.holding, edge.row.acquired)


@pytest.mark.long
def test_a_random_order_has_a_rank_or_a_circle_as_by_brute_force() -> None:
    assert 15 < random_orders(range(70)) < 55


@pytest.mark.long
def test_random_orders_have_a_rank_or_circle_as_by_brute_force() -> None:
    random_orders(range(1000, 1250))


def counts() -> None:
    """A gate: there are as many instances as the walk has."""
    for shape in SHAPES:
        locks = Rows(shape, [("A", "B", "")] if "A" in shape else [("Q", "Q", "in")]).description()
        for size in (1, 2, 3, 4) if len(shape) == 3 and "A" in shape else (1, 2, 3):
            number = sum(1 for _ in ranks._instances(locks, sorted(shape), size))
            assert number == sum(1 for _ in instances(shape, size)), (shape, size)


def test_there_are_as_many_instances_as_by_brute_force() -> None:
    counts()


TREE = {"P": [], "Q": ["P", "Q"], "X": ["Q"]}

BY_HAND = {
    # What is in the order, and the length of a shortest circle (0: none).
    "top down": (Rows(TREE, [("P", "Q", "in"), ("Q", "Q", "in"), ("Q", "X", "in")]), 0),
    "bottom up": (Rows(TREE, [("X", "Q", "around"), ("Q", "Q", "around"), ("Q", "P", "around")]), 0),
    # parent > child > parent
    "down and up": (Rows(TREE, [("Q", "Q", "in"), ("Q", "Q", "around")]), 2),
    # Any queue, so also itself: one that holds its lock may wait for it.
    "any of its own": (Rows(TREE, [("Q", "Q", "")]), 1),
    # q > x > q
    "to and fro": (Rows(TREE, [("Q", "X", "in"), ("X", "Q", "around")]), 2),
    # p > q > x > p: X is in P through its queue, but not directly; so by any P.
    "three classes": (Rows(TREE, [("P", "Q", "in"), ("Q", "X", "in"), ("X", "P", "")]), 3),
    # The child is held, then what is in it, then its queue, then that one's parent, ... and never down again.
    "up from below": (Rows(TREE, [("X", "Q", "around"), ("Q", "Q", "around")]), 0),
    # parent > child > its X > child
    "a circle beside a tree": (Rows(TREE, [("Q", "Q", "in"), ("Q", "X", "in"), ("X", "Q", "around")]), 2),
    "five in a ring": (
        Rows({name: [] for name in "ABCDE"}, [(a, b, "") for a, b in ["AB", "BC", "CD", "DE", "EA"]]),
        5,
    ),
    "five in a row": (Rows({name: [] for name in "ABCDE"}, [(a, b, "") for a, b in ["AB", "BC", "CD", "DE", "AE"]]), 0),
    "two forests": (Rows({"Q": ["Q"], "R": ["R"]}, [("Q", "Q", "in"), ("R", "R", "around"), ("Q", "R", "")]), 0),
    # q > r > q, whatever the forests
    "two forests across": (Rows({"Q": ["Q"], "R": ["R"]}, [("Q", "Q", "in"), ("Q", "R", ""), ("R", "Q", "")]), 2),
}


def by_hand(name: str) -> None:
    """A gate: the order has the circle that was derived by hand, or none."""
    case, length = BY_HAND[name]
    order = ranks.check_order(case.description())
    assert len(order.circle) == length
    assert (order.rank is None) == (length > 0)
    closes(order)
    if order.rank is not None:
        for held, acquired, where in case.rows:
            if held != acquired:
                assert order.rank.numbers[held] < order.rank.numbers[acquired]
            else:
                assert order.rank.signs[held] == (1 if where == "in" else -1)


@each_row("name", BY_HAND)
def test_an_order_has_the_circle_that_was_derived_by_hand(name: str) -> None:
    by_hand(name)


@each_row("deep", range(1, 7))
@each_row("where", ["in", "around"])
def test_a_rank_rises_along_a_tree_of_any_depth(deep: int, where: str) -> None:
    """In a chain of queues, each edge of the order leads to a greater pair of class and depth."""
    order = ranks.check_order(
        Rows(TREE, [("Q", "Q", where), ("P", "Q", "in") if where == "in" else ("Q", "P", "around")]).description()
    )
    assert order.rank is not None
    sign = order.rank.signs["Q"]
    chain = range(deep) if where == "in" else range(deep - 1, -1, -1)
    ranked = [(order.rank.numbers["Q"], sign * depth) for depth in chain]
    partition = [(order.rank.numbers["P"], 0)]
    ranked = partition + ranked if where == "in" else ranked + partition
    assert ranked == sorted(set(ranked))


def test_a_rank_that_contradicts_a_row_is_noticed() -> None:
    locks = Rows(TREE, [("P", "Q", "in"), ("Q", "Q", "in")]).description()
    wrong = [
        ranks.Rank({"P": 1, "Q": 0, "X": 2}, {"P": 0, "Q": 1, "X": 0}),
        ranks.Rank({"P": 0, "Q": 1, "X": 2}, {"P": 0, "Q": -1, "X": 0}),
        ranks.Rank({"P": 0, "Q": 1, "X": 2}, {"P": 0, "Q": 0, "X": 0}),
    ]
    for each in wrong:
        assert ranks._contradicts(locks, each) is not None
    right = ranks.Rank({"P": 0, "Q": 1, "X": 2}, {"P": 0, "Q": 1, "X": 0})
    assert ranks._contradicts(locks, right) is None


def test_six_classes_in_a_ring_have_a_circle_of_six() -> None:
    order = ranks.check_order(
        Rows(
            {name: [] for name in "ABCDEF"}, [(a, b, "") for a, b in ["AB", "BC", "CD", "DE", "EF", "FA"]]
        ).description()
    )
    assert len(order.circle) == 6
