"""Proof by induction for any number of objects: obligations, solvers, counterexamples to induction."""

from .obligations import INITIAL, Obligation, Proof, obligations, provable
from .recheck import Recheck, emit_smt, recheck
from .solve import Answer, Induction, prove

__all__ = [
    "INITIAL",
    "Answer",
    "Induction",
    "Obligation",
    "Proof",
    "Recheck",
    "emit_smt",
    "obligations",
    "provable",
    "prove",
    "recheck",
]
