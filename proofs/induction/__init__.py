"""Proof by induction for any number of objects: obligations, solvers, counterexamples to induction."""

from .obligations import INITIAL, Obligation, Proof, obligations, provable
from .recheck import Recheck, emit_smt, recheck
from .solve import Answer, Induction, prove
from .time_limit import NO_LIMIT, TimeLimit

__all__ = [
    "INITIAL",
    "NO_LIMIT",
    "Answer",
    "Induction",
    "Obligation",
    "Proof",
    "Recheck",
    "TimeLimit",
    "emit_smt",
    "obligations",
    "provable",
    "prove",
    "recheck",
]
