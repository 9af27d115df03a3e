"""Induction for any number of objects: obligations, solvers, counterexamples."""

from .obligations import INITIAL, Obligation, Proof, obligations
from .solve import Answer, Induction, prove, summary

__all__ = ["INITIAL", "Answer", "Induction", "Obligation", "Proof", "obligations", "prove", "summary"]
