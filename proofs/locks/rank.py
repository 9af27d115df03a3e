"""Decides whether the order of locks is acyclic, for any number of objects and trees of any depth.

A rank proves it, a circle refutes it.
A rank gives each object a pair of numbers: the number of its class, and its position.
The position is the depth for classes whose objects contain each other, else the key; it may count negatively, or not at all.
Pairs are compared lexicographically. If each row of the order leads to a greater pair, no instance has a circle.
z3 searches for the numbers. A second query asks z3 for objects of any depth and key that contradict them.
The other engine builds instances and searches for circles in them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from itertools import product

import networkx as nx
import z3

from schedproof.model.locks import Locks
from schedproof.model.locks.language import OrderRow, Where
from schedproof.proofs.gc_paused import gc_paused
from schedproof.proofs.second_solver import confirm
from schedproof.proofs.verdict import Disagreement

from .solver import solver_in
from .unfold import placed


@dataclass(frozen=True)
class Rank:
    """An order of all objects.

    Args:
        numbers: the number of each class.
        signs: how the position counts in each class: 1 the outer object, or the lower key, is first; -1 the other way; 0 not.
        keyed: the classes whose position is the key, not the depth.
    """

    numbers: Mapping[str, int]
    signs: Mapping[str, int]
    keyed: frozenset[str] = frozenset()

    def direction(self, name: str) -> tuple[str, ...]:
        """Which object of a class is first, and which is last, in words; () if there is no order of them."""
        sign = self.signs[name]
        ends = ("lower key", "higher key") if name in self.keyed else ("outer", "inner")
        return ends[::sign] if sign else ()

    @property
    def text(self) -> str:
        """The classes from the lowest number to the highest, as text."""
        ordered = sorted(self.numbers, key=lambda name: self.numbers[name])
        return " < ".join(
            f"{name} (the {' before the '.join(ends)})" if (ends := self.direction(name)) else name for name in ordered
        )

    def below(self, first: str, first_position: z3.ArithRef, second: str, second_position: z3.ArithRef) -> z3.BoolRef:
        """The formula that an object of class ``first`` comes before one of class ``second``."""
        if self.numbers[first] != self.numbers[second]:
            return z3.BoolVal(self.numbers[first] < self.numbers[second])
        sign = self.signs[first]
        if first != second or sign == 0:
            return z3.BoolVal(False)
        return first_position < second_position if sign > 0 else first_position > second_position


@dataclass(frozen=True)
class Edge:
    """A thread that holds ``holding`` may acquire ``acquired``, by ``row``; both are objects of an instance."""

    holding: str
    acquired: str
    row: OrderRow


@dataclass(frozen=True)
class Order:
    """The result for an order: a proved rank, or a shortest circle."""

    rank: Rank | None
    circle: tuple[Edge, ...]
    instances: int
    """The number of instances that were searched for circles."""


def check_order(locks: Locks) -> Order:
    """Decides whether the order of ``locks`` is acyclic. The result is open if it has neither a rank nor a circle.

    Raises:
        Disagreement: there is both a rank and a circle, or the rank contradicts a row, for z3 or for cvc5.
    """
    with gc_paused():
        rank = find_rank(locks)
    if rank is not None and (row := _contradicts(locks, rank)) is not None:
        raise Disagreement(f"the rank {rank.text} was found for the row {row.text}, which contradicts it")
    circle, looked_at = shortest_circle(locks)
    if rank is not None and circle:
        raise Disagreement(
            f"{locks.name}: both a rank and a circle for the order of locks; one of the engines is wrong"
        )
    return Order(rank, circle, looked_at)


def find_rank(locks: Locks) -> Rank | None:
    """A rank by which each row leads to a greater pair; None if there is none."""
    # Which of several ranks z3 returns depends on what its context has solved before.
    context = z3.Context()
    numbers = {name: z3.Int(f"number of {name}", context) for name in locks.classes}
    signs = {name: z3.Int(f"sign of {name}", context) for name in locks.classes}
    keyed = frozenset(row.holding for row in locks.order if row.where.by_key)
    solver = solver_in(context)
    for name, number in numbers.items():
        solver.add(number >= 0, number < len(numbers), signs[name] >= -1, signs[name] <= 1)
        if not locks.classes[name].is_tree and name not in keyed:
            solver.add(signs[name] == 0)
    # Each class gets a number of its own: a total order of the classes is easier to read, and to log.
    solver.add(z3.Distinct(list(numbers.values())))
    for row in locks.order:
        if row.holding != row.acquired:
            solver.add(numbers[row.holding] < numbers[row.acquired])
        elif row.where is Where.ANYWHERE:
            return None
        else:
            solver.add(signs[row.holding] == (1 if row.where in (Where.IN, Where.AFTER) else -1))
    if solver.check() != z3.sat:
        return None
    model = solver.model()
    return Rank(
        {name: model.eval(number, model_completion=True).as_long() for name, number in numbers.items()},
        {name: model.eval(sign, model_completion=True).as_long() for name, sign in signs.items()},
        keyed,
    )


def _contradicts(locks: Locks, rank: Rank) -> OrderRow | None:
    """A row that does not lead to a greater pair, for some positions of its two objects."""
    first, second = z3.Ints("position_of_the_holding position_of_the_acquired")
    refuted = []
    for row in locks.order:
        facts = [first >= 0, second >= 0]
        if row.where.by_key:
            facts.append(first < second if row.where is Where.AFTER else first > second)
        elif row.holding == row.acquired and row.where is not Where.ANYWHERE:
            inner, outer = (second, first) if row.where is Where.IN else (first, second)
            facts.append(inner == outer + 1)
        facts.append(z3.Not(rank.below(row.holding, first, row.acquired, second)))
        solver = solver_in()
        solver.add(*facts)
        if solver.check() != z3.unsat:
            return row
        refuted.append(z3.And(*facts))
    confirm(refuted, f"{locks.name}: the rank {rank.text}")
    return None


# --- the search in instances

LARGEST = 5
"""The most objects of an instance that is searched for circles; if there are more classes, it has one of each."""


def shortest_circle(locks: Locks) -> tuple[tuple[Edge, ...], int]:
    """A shortest circle in a smallest instance that has one, and the number of instances searched."""
    rows = _circular(locks)
    looked_at = 0
    classes = sorted({row.holding for row in rows})
    for size in sorted({*range(1, LARGEST + 1), max(LARGEST, len(classes))}):
        best: tuple[Edge, ...] = ()
        for inside in _instances(locks, classes, size, most=None if size <= LARGEST else 1):
            looked_at += 1
            edges = list(_edges(rows, inside))
            if not _has_circle(edges):
                continue
            graph: nx.DiGraph[str] = nx.DiGraph()
            for edge in edges:
                graph.add_edge(edge.holding, edge.acquired, edge=edge)
            for circle in nx.simple_cycles(graph, length_bound=(len(best) or size + 1) - 1):
                if not best or len(circle) < len(best):
                    ends = zip(circle, [*circle[1:], circle[0]], strict=True)
                    best = tuple(graph.edges[pair]["edge"] for pair in ends)
        if best:
            return best, looked_at
    return (), looked_at


def _has_circle(edges: Sequence[Edge]) -> bool:
    """Whether the edges have a circle. Most instances have none, and a graph of networkx takes ten times as long as this."""
    following: dict[str, list[str]] = {}
    for edge in edges:
        following.setdefault(edge.holding, []).append(edge.acquired)
    try:
        TopologicalSorter(following).prepare()
    except CycleError:
        return True
    return False


def _circular(locks: Locks) -> list[OrderRow]:
    """The rows that can be part of a circle: those between classes that lead to each other.

    If there are none, all rows: then no circle exists, and the instances confirm it.
    """
    graph: nx.DiGraph[str] = nx.DiGraph((row.holding, row.acquired) for row in locks.order)
    parts = [
        part for part in nx.strongly_connected_components(graph) if len(part) > 1 or graph.has_edge(*(2 * [*part]))
    ]
    rows = [row for row in locks.order if any(row.holding in part and row.acquired in part for part in parts)]
    return rows or list(locks.order)


Inside = Mapping[str, tuple[str, Mapping[str, str]]]
"""Object -> its class, and by class the object that directly contains it."""


def _instances(locks: Locks, classes: Sequence[str], size: int, most: int | None = None) -> Iterator[Inside]:
    """All instances of ``size`` objects of these classes, with at most ``most`` of each class if that is given.

    An object without a container may be in an object outside of the instance.
    """

    def counts(left: int, names: Sequence[str]) -> Iterator[tuple[int, ...]]:
        if not names:
            if left == 0:
                yield ()
            return
        for number in range(min(left, left if most is None else most) + 1):
            for rest in counts(left - number, names[1:]):
                yield (number, *rest)

    for numbers in counts(size, classes):
        objects = {
            f"{name} {n + 1}": name for name, number in zip(classes, numbers, strict=True) for n in range(number)
        }
        choices = []
        for one, name in objects.items():
            for outer in locks.classes[name].inside:
                # Of its own class only an earlier object: so no object contains itself.
                candidates = [o for o, c in objects.items() if c == outer and (c != name or o < one)]
                choices.append([(one, outer, container) for container in [None, *candidates]])
        for chosen in product(*choices):
            inside: dict[str, tuple[str, dict[str, str]]] = {one: (name, {}) for one, name in objects.items()}
            for one, outer, container in chosen:
                if container is not None:
                    inside[one][1][outer] = container
            if _commutes(inside):
                yield inside


def _commutes(inside: Inside) -> bool:
    """Whether containment is consistent: each object has at most one container of each other class."""

    def around(one: str, of: str) -> set[str]:
        name, direct = inside[one]
        if of == name:
            return set()
        return {container for outer, container in direct.items() if outer == of} | {
            outer_container
            for outer, container in direct.items()
            if outer != of
            for outer_container in around(container, of)
        }

    classes = {name for name, _ in inside.values()}
    return all(len(around(one, of)) <= 1 for one in inside for of in classes)


def _edges(rows: Sequence[OrderRow], inside: Inside) -> Iterator[Edge]:
    for row in rows:
        for holding, (name, direct) in inside.items():
            if name != row.holding:
                continue
            for acquired, (other, its) in inside.items():
                if other != row.acquired:
                    continue
                match row.where:
                    case Where.IN:
                        ordered = its.get(name) == holding
                    case Where.AROUND:
                        ordered = direct.get(other) == acquired
                    case Where.AFTER | Where.BEFORE:
                        # The classes by key contain no objects of their own: the numbers are the keys.
                        keys = [*inside]
                        ordered = placed(keys.index(acquired), row.where, keys.index(holding))
                    case Where.ANYWHERE:
                        ordered = True  # also the object itself: the row does not exclude it
                if ordered:
                    yield Edge(holding, acquired, row)
