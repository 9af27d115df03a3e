"""Test sequences from the explored graph: what they cover, and what cannot be covered.

``goals`` says what there is to be covered, ``graph`` and ``search`` find ways to it, ``walk`` (greedy) and ``postman`` (cheapest)
make sequences of them, ``suite`` does so in all configurations of a scope, ``unreached`` says why a goal is not covered, and
``files`` writes it all down.
"""

from .files import REPORT, as_json, files_of, left_open
from .goals import Cover, Goal
from .suite import Suite, generate
from .unreached import Proof, Unreached, Why, unreached

__all__ = [
    "REPORT",
    "Cover",
    "Goal",
    "Proof",
    "Suite",
    "Unreached",
    "Why",
    "as_json",
    "files_of",
    "generate",
    "left_open",
    "unreached",
]
