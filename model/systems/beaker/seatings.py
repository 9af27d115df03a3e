"""Seatings: a set takes a system only if each of its other recipes still has one.

A seating assigns a system to each of some recipes of a set. The systems are distinct, viable for their recipes and in
one lab. The seatings that exist never change; a scheduler finds one that serves by bipartite matching. A set that is
not assigned yet may change its seating when that no longer serves it.
"""

from dataclasses import replace

from schedproof.model.lang import (
    EMPTY,
    NONE,
    Action,
    Attribute,
    Event,
    Machine,
    Ref,
    Row,
    Sort,
    Term,
    Var,
    exists,
    forall,
    given,
    implies,
    variable,
    variables,
)

from .machines import Recipe, RecipeSet, System, j, o, q, r, s, t
from .order import PLACES, RECIPE_SET_IN_ORDER

Seating = Sort("Seating", "p")
Seat = Sort("Seat", "e")

p = variable(Seating, "p")
e, f = variables(Seat, "e f")
OPEN = ("new", "queued", "assigned")

# Rigid: the seatings that exist follow from viability. A scheduler finds one by bipartite matching.
SEATING = Machine(Seating, attributes=[Attribute("recipe_set", Ref(RecipeSet), rigid=True)])
SEAT = Machine(
    Seat,
    attributes=[
        Attribute(
            "seating",
            Ref(Seating),
            rigid=True,
            about="a system for each open recipe of the set, in one lab and no two the same, that is left to them but not held",
        ),
        Attribute("recipe", Ref(Recipe), rigid=True),
        Attribute("system", Ref(System), rigid=True),
    ],
)

RECIPE_SET_WITH_SEATING = replace(
    RECIPE_SET_IN_ORDER,
    attributes=[
        *RECIPE_SET_IN_ORDER.attributes,
        # a system of one lab for each of its recipes, no two the same: the set does not hold them, others leave them to
        # it
        Attribute(
            "seating",
            Ref(Seating),
            durable=True,
            about="a system for each open recipe of the set, in one lab and no two the same, that is left to them but not held",
        ),
    ],
    events=[*RECIPE_SET_IN_ORDER.events, Event("seat", {"seating": Ref(Seating)})],
)

# A seat is for a host recipe of the set, on a system that is viable for it. Two seats of one seating are for different
# recipes, on different systems of one lab.
SEAT_AXIOMS = [
    forall(e, (e.seating != NONE) & (e.recipe != NONE) & (e.system != NONE)),
    forall(p, p.recipe_set != NONE),
    forall([e, p, r], implies((e.seating == p) & (e.recipe == r), r.recipe_set == p.recipe_set)),
    forall([e, r, s], implies((e.recipe == r) & (e.system == s), r.viable.has(s))),
    forall([e, f], implies((e.seating == f.seating) & (e.system == f.system), e == f)),
    forall([e, f], implies((e.seating == f.seating) & (e.recipe == f.recipe), e == f)),
    forall(
        [e, f, s, t],
        implies((e.seating == f.seating) & (e.system == s) & (f.system == t), s.lab == t.lab),
    ),
]


def has_a_seat(recipe: Var, seating: Term) -> Term:
    """``seating`` has an Automated system for ``recipe``."""
    return exists(e, (e.seating == seating) & (e.recipe == recipe) & (e.system.condition == "Automated"))


def open_recipe(recipe: Var, of: Term) -> Term:
    """``recipe`` is a host recipe of the set ``of``, and has no system yet."""
    return (recipe.recipe_set == of) & recipe.is_(*OPEN) & (recipe.host == NONE)


def leaves_the_seats(system: Var, recipe: Var) -> Term:
    """Each open sibling keeps its seat; when the set gets its lab, each sibling has a seat in that lab."""
    set_of_recipe = recipe.recipe_set
    seats_a_sibling = (e.seating == set_of_recipe.seating) & (e.system == system) & (e.recipe != recipe)
    viable_seat = (e.seating == set_of_recipe.seating) & (e.recipe == o) & (e.system.condition == "Automated")
    return ~exists([e, o], seats_a_sibling & (e.recipe == o) & open_recipe(o, set_of_recipe)) & (
        (set_of_recipe.lab != NONE)
        | ~exists(
            o, open_recipe(o, set_of_recipe) & (o != recipe) & ~exists(e, viable_seat & (e.system.lab == system.lab))
        )
    )


def serves(seating: Term, recipe_set: Var) -> Term:
    """``seating`` has an Automated system for each open recipe of ``recipe_set``."""
    return ~exists(o, open_recipe(o, recipe_set) & ~has_a_seat(o, seating))


CAN_BE_SEATED = (
    (p.recipe_set == j)
    & (j.lab == NONE)
    & exists([q, r], open_recipe(q, j) & open_recipe(r, j) & (q != r))  # a single recipe needs none
    & ((j.seating == NONE) | ~serves(j.seating, j))
    & serves(p, j)
)

seat = Action(
    "seat",
    [j, p],
    when=[CAN_BE_SEATED],
    fires=[j.fires("seat", seating=p)],
    says="other systems are chosen for the recipes of {j}: {p}",
    line=132,
)
SEAT_TABLE = [
    *[Row(RecipeSet, "seat", now, now, line=132, seating=given("seating")) for now in PLACES],
    *[Row(RecipeSet, "begin", now, now, line=226, lab=NONE, behind=EMPTY, seating=NONE) for now in PLACES],
]
