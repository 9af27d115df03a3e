"""Test suites from the explored graph: which goals they cover, and which goals cannot be covered.

``goals`` lists the goals. ``graph`` and ``search`` find paths to them. ``walk`` (greedy) and ``postman`` (cheapest) make
sequences from paths. ``suite`` does so in all configurations of a scope. ``unreached`` says why a goal is not covered.
``files`` writes the suite.
"""

from .files import REPORT, as_json, description_of, files_of, left_open, texts_of
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
    "description_of",
    "files_of",
    "generate",
    "left_open",
    "texts_of",
    "unreached",
]
