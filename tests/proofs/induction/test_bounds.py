"""The sorts that axioms bound: there a proof for any number covers no more objects than the bound."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from schedproof.model.lang import (
    NONE,
    Attribute,
    EnumType,
    Invariant,
    Machine,
    Model,
    Ref,
    SetOf,
    Sort,
    State,
    Term,
    forall,
    implies,
    variables,
)
from schedproof.model.systems.yunikorn.together import COMPONENTS
from schedproof.proofs.induction import prove
from tests.support.rows import each_row

Host, Rack = Sort("Host", "h"), Sort("Rack", "r")
h, g, i = variables(Host, "h g i")
r, s = variables(Rack, "r s")


def hosts(*axioms: Term) -> Model:
    """Hosts in racks, of three colours and with enemies: all of it rigid."""
    attributes = [
        Attribute("rack", Ref(Rack), rigid=True),
        Attribute("colour", EnumType(("red", "green", "blue")), rigid=True),
        Attribute("enemies", SetOf(Host), rigid=True),
    ]
    return Model(
        "hosts", "one", "hosts", [Machine(Host, [State("Up")], attributes), Machine(Rack, [State("There")])], [], [], [],
        [Invariant(name="up", says="", over=[h], then=h.is_("Up"))], {"Host": 2, "Rack": 2}, axioms=axioms,
    )  # fmt: skip


ONE_IN_EACH = [forall(h, h.rack != NONE), forall([h, g], implies(h.rack == g.rack, h == g))]
ONE_RACK = forall([r, s], r == s)

BOUNDED: dict[str, tuple[Sequence[Term], dict[str, int]]] = {
    "no axiom": ([], {}),
    "one object": ([ONE_RACK], {"Rack": 1}),
    "at most two, which the default scope does not exceed": (
        [forall([h, g, i], (h == g) | (g == i) | (h == i))],
        {"Host": 2},
    ),
    "as many as there are colours": ([forall([h, g], implies(h.colour == g.colour, h == g))], {"Host": 3}),
    "one in each of any number of racks": (ONE_IN_EACH, {}),
    "one in the only rack": ([*ONE_IN_EACH, ONE_RACK], {"Host": 1, "Rack": 1}),
    "an order": (
        [
            forall(h, ~h.enemies.has(h)),
            forall([h, g, i], implies(h.enemies.has(g) & g.enemies.has(i), h.enemies.has(i))),
            forall([h, g], h.enemies.has(g) | g.enemies.has(h) | (h == g)),
        ],
        {},
    ),
}


@each_row("name", BOUNDED)
def test_the_bounds_are_those_of_the_axioms(name: str) -> None:
    axioms, bounds = BOUNDED[name]
    induction = prove(hosts(*axioms))
    assert induction.proved("up") and induction.bounds == bounds


@pytest.mark.long
def test_yunikorn_s_single_scheduler_is_named() -> None:
    """Its axiom says that there is one; no other sort of the model is bounded."""
    assert prove(COMPONENTS, only=["well-formed"], every=False).bounds == {"ShimScheduler": 1}
