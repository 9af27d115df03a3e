"""A system with a document of nine lines, and its ledger."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from schedproof.model.lang import (  # fmt: skip
    Action,
    Attribute,
    Contradiction,
    Document,
    EnumType,
    Invariant,
    Machine,
    Model,
    Reading,
    Row,
    Rule,
    Sort,
    State,
    forall,
    variable,
)
from schedproof.model.ledger.elements import elements
from schedproof.model.ledger.gaps import sentences
from schedproof.model.ledger.ledger import Entry, Ledger, Mark
from schedproof.model.registry.system import System

TEXT = """# Lamps

A lamp is off at first. It never breaks.
A lamp can be pushed.

A pushed lamp is on.
Lamps are nice.
"""

Lamp = Sort("Lamp", "l")
x = variable(Lamp, "x")

PUSH = Action("push", [x], [x.is_("Off"), x.colour == "red"], [x.fires("push")], "{x} is pushed", line=4)
MODEL = Model(
    system="lamps",
    variant="as-written",
    about="lamps",
    document=Document("lamps.md", "Lamps"),
    machines=[
        Machine(
            Lamp,
            [State("Off", line=3), State("On", line=6)],
            [Attribute("colour", EnumType(("red", "blue")), rigid=True)],
            line=1,
        )
    ],
    rows=[Row(Lamp, "push", "Off", "On", line=6), Row(Lamp, "hear", "On", "On", fact="1.2")],
    actions=[PUSH],
    rules=[Rule("a push is heard", x.fires("push"), [x.colour == "blue"], x.fires("hear"), fact="1.2")],
    properties=[Invariant(name="dark", says="lamps are dark", line=6, over=[x], then=x.is_("Off"))],
    axioms=[forall(x, x.colour == "red")],
    default_scope={"Lamp": 1},
    refuted=frozenset({"dark"}),
)
RED = Reading(
    "red-only",
    4,
    question="Which lamps can be pushed?",
    read="Only red lamps can be pushed.",
    otherwise="All lamps can be pushed.",
    why="Line 4 says that a lamp can be pushed, and not that every lamp can.",
    adds=[replace(PUSH, when=PUSH.when[:1])],
)
NEVER = Contradiction("never-nice", ((3, "It never breaks."),), "it does", "nothing breaks")


def system(
    *,
    model: Model = MODEL,
    interpretations: tuple[Reading, ...] = (RED,),
    contradictions: tuple[Contradiction, ...] = (NEVER,),
    ledger: Path | None = None,
) -> System:
    """The system; its manifest names interpretations and contradictions."""
    parts = {"interpretations": interpretations, "contradictions": contradictions}
    return System(
        "lamps",
        "Lamps",
        {model.variant: model},
        model.variant,
        load=lambda key, default: parts.get(key, default),
        ledger=ledger,
    )


STATEMENTS = [
    Entry(1, "# Lamps", modelled=["machine Lamp"]),
    Entry(3, "A lamp is off at first.", modelled=["state Lamp.Off"]),
    Entry(3, "It never breaks.", contradictions=["never-nice"]),
    Entry(4, "A lamp can be pushed.", modelled=["action push"], interpretations=["red-only"]),
    Entry(6, "A pushed lamp is on.", modelled=["state Lamp.On", "row Lamp.push from Off"], required=["dark"]),
    Entry(6, arrow="Off -> On, push", modelled=["row Lamp.push from Off"]),
    Entry(7, "Lamps are nice.", background="an opinion"),
]  # fmt: skip


def mark(name: str, source: str = "", **added: str) -> Mark:
    """A valid mark on an element of ``MODEL``."""
    stated = sentences(Ledger("lamps.md", ["as-written"], STATEMENTS))
    return Mark(elements(MODEL)[name].review_with(stated), source, added)


LEDGER = Ledger(
    document="lamps.md",
    variants=["as-written"],
    statements=STATEMENTS,
    elements={
        "machine Lamp": mark("machine Lamp"),
        "state Lamp.Off": mark("state Lamp.Off"),
        "state Lamp.On": mark("state Lamp.On"),
        "attribute Lamp.colour": mark("attribute Lamp.colour", "interpretation red-only"),
        "row Lamp.push from Off": mark("row Lamp.push from Off"),
        "row Lamp.hear from On": mark("row Lamp.hear from On"),
        "action push": mark("action push", **{"x.colour = red": "interpretation red-only"}),
        "rule a push is heard": mark("rule a push is heard"),
        "axiom 1": mark("axiom 1", "encoding: proofs need a bound"),
        "configurations": mark("configurations", "encoding: both colours"),
    },
)  # fmt: skip
