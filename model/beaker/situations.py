"""What explorations look at: small situations, each with what people may touch in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import networkx as nx

from ..lang import Rigid


@dataclass(frozen=True)
class Situation:
    """Recipe sets over systems, in words and numbers.

    Args:
        sets: for each set the systems that are viable for each of its recipes, as letters (A is the
            first); a guest is written as the number of its host in the set.
        labs: the lab of each system.
        endable, rankable: the sets that people may cancel or abort, and whose priority may change.
        adjustable: the systems whose condition may change, and that users may reserve.
    """

    about: str
    sets: Sequence[Sequence[str | int]]
    labs: Sequence[int]
    endable: Sequence[int] = ()
    rankable: Sequence[int] = ()
    adjustable: Sequence[int] = ()

    @property
    def sizes(self) -> dict[str, int]:
        """The number of objects of each sort."""
        recipes = sum(len(each) for each in self.sets)
        return {"Lab": max(self.labs) + 1, "RecipeSet": len(self.sets), "Recipe": recipes, "System": len(self.labs)}

    def rigid(self, *, with_shares: bool = False) -> Rigid:
        """The rigid attributes; with shares where the variant has them."""
        recipe_set: list[int] = []
        viable: list[frozenset[int]] = []
        host: list[int | None] = []
        share: list[frozenset[int]] = []
        for number, recipes in enumerate(self.sets):
            first = len(recipe_set)
            mine = [frozenset() if isinstance(r, int) else frozenset(ord(c) - ord("A") for c in r) for r in recipes]
            recipe_set += [number] * len(recipes)
            viable += mine
            host += [first + r if isinstance(r, int) else None for r in recipes]
            share += shares(mine, [n for n, r in enumerate(recipes) if not isinstance(r, int)], self.labs)
        sets, systems = range(len(self.sets)), range(len(self.labs))
        return {
            ("Recipe", "recipe_set"): recipe_set,
            ("Recipe", "viable"): viable,
            ("Recipe", "host"): host,
            **({("Recipe", "share"): share} if with_shares else {}),
            ("RecipeSet", "endable"): [n in self.endable for n in sets],
            ("RecipeSet", "rankable"): [n in self.rankable for n in sets],
            ("System", "lab"): list(self.labs),
            ("System", "adjustable"): [n in self.adjustable for n in systems],
        }


def shares(viable: Sequence[frozenset[int]], hosts: Sequence[int], labs: Sequence[int]) -> list[frozenset[int]]:
    """Disjoint parts of the viable systems of a set's recipes: in each lab that can serve them all.

    A lab can serve them if a bipartite matching gives each a system of its own; what is viable
    besides goes to the first that it suits.
    """
    found: list[set[int]] = [set() for _ in viable]
    for lab in set(labs):
        graph: nx.Graph[tuple[str, int]] = nx.Graph()
        graph.add_nodes_from(("recipe", r) for r in hosts)
        edges = [(("recipe", r), ("system", s)) for r in hosts for s in sorted(viable[r]) if labs[s] == lab]
        graph.add_edges_from(edges)
        matching = nx.bipartite.maximum_matching(graph, top_nodes=[("recipe", r) for r in hosts])
        if any(("recipe", r) not in matching for r in hosts):
            continue
        for r in hosts:
            found[r].add(matching["recipe", r][1])
        for (_, r), (_, s) in edges:
            if not any(s in part for part in found):
                found[r].add(s)
    return [frozenset(part) for part in found]


SITUATIONS = [
    Situation("one recipe on one system; people do what they can", [["A"]], [0], [0], [0], [0]),
    Situation("a set of two, and either system suits one of them", [["AB", "A"]], [0, 0], [0]),
    Situation("a host with its guest, and a sibling", [["A", 0, "B"]], [0, 0], [0]),
    Situation("a set of two that only one of two labs can serve", [["AC", "AB"]], [0, 0, 1]),
    Situation("two recipes and one system, whose condition changes", [["A"], ["A"]], [0], [], [], [0]),
    Situation("two recipes for two systems; priorities change", [["AB"], ["A"]], [0, 0], [], [0, 1]),
    Situation("two sets of two need the same two systems", [["A", "B"], ["A", "B"]], [0, 0], [], [0]),
    Situation("a set of two and a set of three need the same systems", [["A", "B"], ["A", "B", "C"]], [0, 0, 0]),
    Situation("three recipes, each with its own system", [["A"], ["B"], ["C"]], [0, 0, 0]),
    Situation("a set of two and a single recipe; a condition changes", [["AB", "A"], ["B"]], [0, 0], [], [], [0]),
]

# For the batch scheduler: without labs, guests and conditions.
BATCH_SITUATIONS = [
    Situation("one recipe on one system; people do what they can", [["A"]], [0], [0], [0]),
    Situation("a set of two, and either system suits one of them", [["AB", "A"]], [0, 0], [0]),
    Situation("three recipes for one system; a priority changes", [["A"], ["A"], ["A"]], [0], [], [0]),
    Situation("two sets of two need the same two systems", [["A", "B"], ["A", "B"]], [0, 0]),
]


def situations(sizes: Mapping[str, int], *, with_shares: bool = False) -> Iterator[Rigid]:
    """The situations that need no more objects than ``sizes``."""
    for situation in SITUATIONS:
        if all(n <= sizes[sort] for sort, n in situation.sizes.items()):
            yield situation.rigid(with_shares=with_shares)
