"""Exploration by compiled code: the same states and steps as :mod:`schedproof.proofs.exploration.explore`, a hundred times as fast.

A model at a scope becomes a program (``terms``, ``steps``, ``predicates``) in a small imperative language (``code``), that
compiled code (``llvm``), and that is run on states that are packed into a few words (``layout``) by a
breadth-first search (``search``, its inner loops in ``kernel``) over an exact hash table (``table``), which checks safety
properties on its way (``safety``). For what is said of whole runs (``liveness``), all edges are kept (``graph``) and searched
(``paths``). What is too large to be explored can be walked through at random (``walks``).
"""

from .graph import CHECKED_AGAIN, Graph, graph_of, memory_of
from .safety import watch
from .search import Reached, explore
from .walks import Walked, walk

__all__ = ["CHECKED_AGAIN", "Graph", "Reached", "Walked", "explore", "graph_of", "memory_of", "walk", "watch"]
