"""A queue whose entries workers settle: with a reference, a truth value, a rule and a quantifier."""

from __future__ import annotations

from schedproof.model.lang import (
    NONE,
    Action,
    Attribute,
    BoolType,
    Event,
    Machine,
    Model,
    Ref,
    Row,
    Rule,
    Sort,
    State,
    exists,
    given,
    variables,
)
from schedproof.model.registry.system import System

Worker, Entry = Sort("Worker", "w"), Sort("Entry", "e")
v, w = variables(Worker, "v w")
(e,) = variables(Entry, "e")

MODEL = Model(
    system="queue",
    variant="as-written",
    about="workers settle entries of a queue",
    machines=[
        Machine(Worker, [State("Idle"), State("Busy")], [Attribute("old", BoolType()), Attribute("at", Ref(Entry))],
                [Event("take", {"entry": Ref(Entry)})]),
        Machine(Entry, [State("New"), State("Changed"), State("Settled")]),
    ],
    rows=[
        Row(Worker, "take", "Idle", "Busy", at=given("entry")),
        Row(Worker, "age", "Busy", "Busy", old=True),
        Row(Worker, "rest", "Busy", "Idle", at=NONE),
        Row(Entry, "change", "New", "Changed"),
        Row(Entry, "settle", "Changed", "Settled"),
    ],
    actions=[
        Action("take", [w, e], [w.is_("Idle"), e.is_("New")], [w.fires("take", entry=e)], "{w} takes {e}"),
        Action("age", [w], [w.is_("Busy"), ~w.old], [w.fires("age")], "{w} ages"),
        Action("change", [e], [e.is_("New"), exists(w, w.at == e)], [e.fires("change")], "{e} is changed"),
        Action("finish", [w], [w.is_("Busy"), ~w.old], [w.fires("rest")], "{w} finishes"),
    ],
    rules=[Rule("what is finished is settled", w.fires("rest"), [w.at == e, e.is_("Changed")], e.fires("settle"))],
    properties=[],
    default_scope={"Worker": 2, "Entry": 2},
)  # fmt: skip
SYSTEM = System("queue", "The queue", {"as-written": MODEL}, validated_by="as-written")
