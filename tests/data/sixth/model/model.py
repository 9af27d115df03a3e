"""Lamps that are switched on and off, and a fuse that darkens all of them."""

from schedproof.model.lang import Action, Document, Invariant, Machine, Model, Row, Sort, State, variables

Lamp = Sort("Lamp", "x")
x, y = variables(Lamp, "x y")

AS_WRITTEN = Model(
    system="lamps",
    variant="as-written",
    about="the document, read literally",
    document=Document("lamps.md", "Lamps"),
    machines=[Machine(Lamp, states=[State("Off"), State("On")])],
    rows=[Row(Lamp, "light", "Off", "On"), Row(Lamp, "darken", "On", "Off")],
    actions=[
        Action("light", [x], [x.is_("Off")], [x.fires("light")], "{x} is switched on"),
        Action("darken", [x], [x.is_("On")], [x.fires("darken")], "{x} is switched off"),
    ],
    rules=[],
    properties=[
        Invariant(name="on-or-off", says="a lamp is on or off", over=[x], then=x.is_("On") | x.is_("Off")),
        Invariant(name="all-dark", says="no lamp is ever on", over=[x], then=x.is_("Off")),
    ],
    refuted=frozenset({"all-dark"}),
    default_scope={"Lamp": 2},
)
