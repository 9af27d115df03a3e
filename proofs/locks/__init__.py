"""Descriptions of locks, judged: order, rules, programs, and the interleavings of threads."""

from .checks import Check, checks
from .examine import Answer, Examined, examine, interleaving, standstill
from .explore import LIMIT, Explored, Problem, explore_all
from .kinds import Kind

__all__ = [
    "LIMIT", "Answer", "Check", "Examined", "Explored", "Kind", "Problem", "checks", "examine", "explore_all",
    "interleaving", "standstill",
]  # fmt: skip
