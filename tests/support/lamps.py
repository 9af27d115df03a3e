"""A system so small that everything the command line says of it can be written down by hand.

Lamps are switched on and off; n of them have 2^n states, in each of which every lamp can be switched.
"""

from schedproof.model.lang import (
    Action,
    ByConstruction,
    Change,
    Document,
    Invariant,
    LifeCycle,
    Machine,
    Model,
    Row,
    Sort,
    State,
    variable,
)
from schedproof.model.registry.system import System

Lamp = Sort("Lamp", "l")
x = variable(Lamp, "x")

SWITCH_ON = Action("switch_on", [x], [x.is_("Off")], [x.fires("on")], "{x} is switched on", line=3)
SWITCH_OFF = Action("switch_off", [x], [x.is_("On")], [x.fires("off")], "{x} is switched off", line=4)

PROPERTIES = [
    Invariant(
        name="stays-dark", says="no lamp is ever on", line=7, sentence="Lamps stay dark.", over=[x], then=x.is_("Off")
    ),
    Invariant(name="on-or-off", says="a lamp is on or off", line=8, over=[x], then=x.is_("On", "Off")),
    LifeCycle(name="blinks", says="a lamp can go on and off", line=9, sort=Lamp, states=["Off", "On", "Off"]),
    ByConstruction(name="one-state", says="a lamp has one state", because="it is one variable", checked="nowhere"),
]


def lamps(variant="plain", *, refuted=("stays-dark",), properties=PROPERTIES):
    """The model; its manifest expects ``refuted`` to fail."""
    return Model(
        system="lamps",
        variant=variant,
        about="lamps and switches",
        document=Document("lamps.md", "Lamps"),
        machines=[Machine(Lamp, [State("Off"), State("On")], line=2)],
        rows=[Row(Lamp, "on", "Off", "On", line=5), Row(Lamp, "off", "On", "Off", line=6)],
        actions=[SWITCH_ON, SWITCH_OFF],
        rules=[],
        properties=properties,
        default_scope={"Lamp": 2},
        refuted=frozenset(refuted),
    )


def system(*variants):
    """A system of these variants; the plain one by default."""
    models = variants or (lamps(),)
    return System("lamps", "Lamps and switches", {m.variant: m for m in models}, validated_by=models[0].variant)


VACUOUS = Invariant(
    name="if-broken", says="of broken lamps", over=[x], given=x.is_("On") & x.is_("Off"), then=x.is_("On")
)

BROKEN = Change(
    why="A lamp that cannot be switched on stays dark (line 7).",
    repairs=["stays-dark"],
    drops=["switch_on", "blinks"],
    adds=[],
)
