"""A seat for each recipe of a set: a bipartite matching, found with networkx."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import networkx as nx


def seating(viable: Mapping[str, frozenset[str]], lab_of: Mapping[str, str]) -> dict[str, str] | None:
    """A system for each recipe, no two the same, in the first lab by name that has them.

    Args:
        viable: the systems that may be the seat of each recipe.
        lab_of: the lab of each of these systems.

    Returns:
        the system of each recipe; None if no lab has one for each, or there is no system at all.
    """
    for lab in sorted({lab_of[system] for systems in viable.values() for system in systems}):
        found = _matched({recipe: [s for s in systems if lab_of[s] == lab] for recipe, systems in viable.items()})
        if found is not None:
            return found
    return None


def _matched(viable: Mapping[str, list[str]]) -> dict[str, str] | None:
    """A system for each recipe, no two the same; None if there are too few."""
    # Numbers: recipes and systems may have the same names, and what is found depends on no hash of them.
    recipes = sorted(viable)
    systems = sorted({system for those in viable.values() for system in those})
    number = {system: len(recipes) + n for n, system in enumerate(systems)}
    graph: Any = nx.Graph()
    graph.add_nodes_from(range(len(recipes)))
    graph.add_edges_from((n, number[s]) for n, recipe in enumerate(recipes) for s in sorted(viable[recipe]))
    matching = nx.bipartite.hopcroft_karp_matching(graph, range(len(recipes)))
    if any(n not in matching for n in range(len(recipes))):
        return None
    return {recipe: systems[matching[n] - len(recipes)] for n, recipe in enumerate(recipes)}
