"""Expressions that a reader of a page may write."""

from __future__ import annotations

from collections.abc import Sequence

from schedproof.model.lang.wording import quoted

from .data import Formula, Vocabulary


def examples(vocabulary: Vocabulary, formulas: Sequence[Formula] = ()) -> tuple[str, ...]:
    """Expressions about the first object that a formula names, else about the first one; () if no object has a state."""
    named = [each.value for formula in formulas for each in formula.bound]
    known = {name: (sort, words) for sort, words in vocabulary.sorts.items() for name in words.objects if words.states}
    if not known:
        return ()
    example = next((name for name in named if name in known), next(iter(known)))
    sort, words = known[example]
    name, state, bound = quoted(example), quoted(words.states[0]), f"{quoted(sort)} x"
    return (
        f"{name} {state}",
        f"not ({name} {state})",
        f"for every {bound}: x {state}",
        f"afterwards {name} {state}",
        *[f"{quoted(sort)}.{quoted(event)} on {name}" for event in words.events][:1],
    )
