"""That core and shim do not wait for ever, on small graphs by hand whose states have one image or several."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from schedproof.model.lang import AlwaysCanReach
from schedproof.model.semantics import instances
from schedproof.proofs.refinement.simulation import BEYOND
from schedproof.proofs.systems.yunikorn.refinement.core_and_shim.waits import waits_for_ever
from tests.proofs.exploration.test_liveness import model_of, x
from tests.support.rows import each_row

OPEN = (0, "a", 1), (1, "b", 0)
"""What the model can do is not asked here: only what is explored."""
PROPERTY = AlwaysCanReach(name="p", over=[x], goal=x.is_("s1"), says="it gets to s1", without=["b"])
IF_BEGUN = AlwaysCanReach(name="p", over=[x], goal=x.is_("s1"), given=x.is_("s0"), says="what is in s0 gets to s1")


def explored(prop: AlwaysCanReach, images: Sequence[str], edges: Sequence[tuple[int, int, str]]) -> Any:
    """An exploration of so many states; ``images`` are the numbers of the model states that each may stand for."""
    [instance] = instances(model_of(OPEN, 2, prop), {"Thing": 1})
    return SimpleNamespace(
        steps=SimpleNamespace(instance=instance),
        nodes=[SimpleNamespace(images=frozenset((int(image),) for image in of)) for of in images],
        edges=list(edges),
        path=lambda number: [f"the way to {number}"],
    )


@each_row(
    ("prop", "images", "edges", "stuck"),
    [
        (PROPERTY, ["0", "1"], [(0, 1, "")], None),
        (PROPERTY, ["0", "1"], [], 0),
        (PROPERTY, ["0", "1", "0"], [(0, 1, ""), (1, 2, "")], 2),
        # It is not enough that it may be there.
        (PROPERTY, ["0", "01"], [(0, 1, "")], 0),
        (PROPERTY, ["0", "01", "1"], [(0, 1, ""), (1, 2, "")], None),
        # And enough that it may have begun.
        (IF_BEGUN, ["1"], [], None),
        (IF_BEGUN, ["1", "01"], [(0, 1, "")], 1),
        # Nobody need do what is left out; after a second life nothing is asked.
        (PROPERTY, ["0", "1"], [(0, 1, "b")], 0),
        (PROPERTY, ["0"], [(0, BEYOND, "")], None),
    ],
)
def test_where_it_waits(
    prop: AlwaysCanReach, images: Sequence[str], edges: Sequence[tuple[int, int, str]], stuck: int | None
) -> None:
    counterexample = waits_for_ever(explored(prop, images, edges))
    assert (None if counterexample is None else list(counterexample.path)) == (
        None if stuck is None else [f"the way to {stuck}"]
    )
