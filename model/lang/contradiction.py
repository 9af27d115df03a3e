"""Sentences of a document that cannot all be meant as they stand."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Contradiction:
    """Where a document contradicts itself in words: most often no run shows it.

    Args:
        quotes: (line, words on that line), the words exactly as they stand there.
        problem: what is against what.
        reading: how the model reads it.
    """

    name: str
    quotes: tuple[tuple[int, str], ...]
    problem: str
    reading: str
