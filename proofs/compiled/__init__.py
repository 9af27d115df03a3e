"""The compiled engine: the states and steps of :mod:`schedproof.proofs.exploration.explore`, a hundred times as fast.

``terms``, ``steps`` and ``predicates`` translate a model at a scope into a program in a small imperative language (``code``),
which ``llvm`` compiles. ``layout`` packs states into a few words. ``search`` runs the program on packed states, breadth first,
with inner loops in ``kernel`` and an exact hash table in ``table``. ``safety`` checks safety properties during the search.
For liveness properties, ``graph`` keeps all edges, which ``recorder`` finds during the search, and ``liveness`` and ``paths``
search them. ``walks`` takes random walks through models that are too large to explore.
"""

from . import liveness
from .graph import CHECKED_AGAIN, Graph, graph_of, memory_of
from .safety import watch
from .search import Reached, explore
from .walks import Walked, walk

__all__ = [
    "CHECKED_AGAIN",
    "Graph",
    "Reached",
    "Walked",
    "explore",
    "graph_of",
    "liveness",
    "memory_of",
    "walk",
    "watch",
]
