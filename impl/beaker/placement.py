"""How a recipe set's viable systems are shared out among its recipes, once, at submission.

In a lab that can hold the whole set at a time there is a matching that gives each recipe a system
of its own (found with networkx). A recipe's share is the system that it is matched with, and a part
of the systems left over; the shares of a set are disjoint. As long as no recipe takes a system out
of the share of a sibling that has none yet, every sibling can still be served in that lab.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import networkx as nx

Shares = dict[str, frozenset[str]]
"""The share of each recipe."""


def shares(viable: Mapping[str, frozenset[str]], lab_of: Mapping[str, str]) -> Shares:
    """The shares of one set's recipes in all labs together.

    Args:
        viable: the viable systems of each recipe that is not a guest, whatever their condition.
        lab_of: the lab of each of these systems.

    Returns:
        a share for each recipe, empty if no lab can hold the whole set.
    """
    found: dict[str, set[str]] = {recipe: set() for recipe in viable}
    for lab in sorted({lab_of[system] for systems in viable.values() for system in systems}):
        here = {recipe: {s for s in systems if lab_of[s] == lab} for recipe, systems in viable.items()}
        for recipe, system in _shared_out(here).items():
            found[recipe] |= system
    return {recipe: frozenset(systems) for recipe, systems in found.items()}


def _shared_out(viable: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """The shares in one lab, none of them if the lab cannot hold all of the recipes."""
    graph: Any = nx.Graph()
    # Numbers keep recipes and systems apart, which may have the same names.
    recipes = [(0, recipe) for recipe in sorted(viable)]
    graph.add_nodes_from(recipes)
    graph.add_edges_from(((0, r), (1, s)) for r in sorted(viable) for s in sorted(viable[r]))
    matching = nx.bipartite.hopcroft_karp_matching(graph, recipes)
    if any(recipe not in matching for recipe in recipes):
        return {}
    found = {recipe: {matching[0, recipe][1]} for _, recipe in recipes}
    matched = set().union(*found.values())
    for system in sorted(set().union(*viable.values()) - matched):
        # To the sibling with the fewest, so that no share is as good as empty when systems break.
        suited = [recipe for recipe in found if system in viable[recipe]]
        found[min(suited, key=lambda recipe: (len(found[recipe]), recipe))].add(system)
    return found
