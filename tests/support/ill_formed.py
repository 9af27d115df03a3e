"""A model whose steps are well-formed, which induction can prove only with a lemma."""

from __future__ import annotations

from schedproof.model.lang import Action, Attribute, IntRange, Invariant, Machine, Model, Row, Sort, State, me, variable

A = Sort("A", "a")
x = variable(A, "x")

KEPT = Invariant(name="kept", says="an object is in its only state", over=[x], then=x.is_("S"))
EVEN = Invariant(name="even", says="the number is even", over=[x], then=x.n != 1)

STEPS = Model(
    system="steps",
    variant="plain",
    about="a number grows by 2 while it is below 2",
    machines=[Machine(A, [State("S")], [Attribute("n", IntRange(0, 2))])],
    rows=[Row(A, "grow", "S", "S", n=me.n + 2)],
    actions=[Action("grow", [x], [x.n < 2], [x.fires("grow")], "{x} grows")],
    rules=[],
    properties=[KEPT],
    default_scope={"A": 1},
)
"""From 1, which is unreachable, a step would leave the range: that steps are well-formed needs the lemma EVEN."""
