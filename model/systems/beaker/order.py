"""First come, first served: an order of the assigned sets that never changes."""

from dataclasses import replace

from schedproof.model.lang import (
    EMPTY,
    NONE,
    Attribute,
    Event,
    Ref,
    Row,
    Rule,
    SetOf,
    Term,
    Var,
    exists,
    given,
    me,
    those,
)

from .events import suits
from .machines import RECIPE_SET, RecipeSet, j, k, m, w

PLACES = ("at_rest", "in_hand", "searched")

RECIPE_SET_IN_ORDER = replace(
    RECIPE_SET,
    attributes=[
        *RECIPE_SET.attributes,
        # the sets that were assigned before this one; a set that is assigned again is removed
        Attribute(
            "behind",
            SetOf(RecipeSet),
            durable=True,
            about="the sets that were assigned before this one, of those that are still assigned",
        ),
    ],
    events=[*RECIPE_SET.events, Event("forget", {"earlier": Ref(RecipeSet)})],
)

ORDER_TABLE = [
    *[Row(RecipeSet, "assign", now, now, line=138, lab=given("lab"), behind=those(m, m.lab != NONE)) for now in PLACES],
    *[Row(RecipeSet, "forget", now, now, line=138, behind=me.behind.without(given("earlier"))) for now in PLACES],
    *[Row(RecipeSet, "begin", now, now, line=226, lab=NONE, behind=EMPTY) for now in PLACES],
]

DROP_EARLIER = Rule(
    "the others forget an earlier assignment",
    j.fires("assign"),
    [k.behind.has(j), k != j],
    k.fires("forget", earlier=j),
    line=138,
)


def comes_first(system: Var, recipe: Var) -> Term:
    """``system`` suits no assigned recipe of a set that was assigned before the set of ``recipe``."""
    earlier = ~((recipe.recipe_set.lab != NONE) & w.recipe_set.behind.has(recipe.recipe_set))
    return ~exists(w, w.is_("assigned") & (w.recipe_set != recipe.recipe_set) & suits(system, w) & earlier)
