"""The axioms of a model as text."""

from __future__ import annotations

from schedproof.model.lang import Model
from schedproof.model.lang.wording import show_term

MOST = 12
"""The number of axioms that a report lists; JSON has all."""


def axiom_texts(model: Model) -> list[str]:
    """Each axiom in words, in the order of the model."""
    named = [f"{name}: {show_term(formula)}" for name, formula in model.assuming.items()]
    return [*(show_term(axiom) for axiom in model.axioms), *named]


def axiom_lines(model: Model) -> list[str]:
    """The axioms as lines of a report, the first :data:`MOST` of them; none for a model without axioms."""
    texts = axiom_texts(model)
    more = [f"... and {len(texts) - MOST} more; --json lists all"] if len(texts) > MOST else []
    return ["axioms that the induction assumes:", *(f"    {text}" for text in [*texts[:MOST], *more])] if texts else []
