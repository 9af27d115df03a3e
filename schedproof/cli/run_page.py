"""The option ``--html`` of ``explain``: a page that plays a run."""

from __future__ import annotations

from schedproof.diagrams.errors import DiagramError
from schedproof.diagrams.player.build import DEPTH, OtherRun
from schedproof.diagrams.player.data import About
from schedproof.diagrams.player.page import page
from schedproof.model.lang import Model, Property
from schedproof.model.registry.errors import UserError
from schedproof.proofs.verdict import Counterexample


def run_page(
    model: Model,
    run: Counterexample,
    about: About,
    prop: Property | None = None,
    *,
    depth: int = DEPTH,
    compare_to: Model | OtherRun | None = None,
) -> str:
    """The page of a run, as HTML.

    Args:
        run: the run.
        about: what the page says of it.
        prop: the property that the run violates; None if it violates none.
        depth: the most steps away from the run.
        compare_to: the variant to play the same actions in, beside the run; or another run.

    Raises:
        UserError: a page cannot play the run.
    """
    try:
        return page(model, run, about, prop, depth=depth, compare_to=compare_to)
    except DiagramError as error:
        raise UserError(f"--html: {error}") from None
