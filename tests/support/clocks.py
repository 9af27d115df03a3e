"""Nodes that count: a model with integers that have no upper bound, and one that may be negative.

A node ticks, adopts a greater time, remembers the time that it has seen, and may fall behind by a debt, which is at most 0.
"""

from __future__ import annotations

from schedproof.model.lang import (
    Action,
    Attribute,
    Document,
    Event,
    Int,
    Invariant,
    Machine,
    Model,
    Nat,
    Row,
    Sort,
    State,
    StepInvariant,
    after,
    given,
    me,
    variables,
)

Node = Sort("Node", "n")
a, b = variables(Node, "a b")

NODE = Machine(
    Node,
    states=[State("Up")],
    attributes=[
        Attribute("time", Nat),
        Attribute("seen", Nat),
        Attribute("debt", Int),
    ],
    events=[Event("adopt", {"time": Nat})],
)


ROWS = (
    Row(Node, "tick", "Up", "Up", time=me.time + 1),
    Row(Node, "adopt", "Up", "Up", time=given("time")),
    Row(Node, "note", "Up", "Up", seen=me.time),
    Row(Node, "owe", "Up", "Up", debt=me.debt - 1),
    Row(Node, "lower", "Up", "Up", seen=me.seen - 1),
)

ACTIONS = (
    Action("tick", [a], [], [a.fires("tick")], "{a} ticks"),
    Action("sync", [a, b], [a.time < b.time], [a.fires("adopt", time=b.time)], "{a} adopts the time of {b}"),
    Action("note", [a], [], [a.fires("note")], "{a} notes its time"),
    Action("owe", [a], [], [a.fires("owe")], "{a} falls behind"),
    Action("lower", [a], [a.seen > 0], [a.fires("lower")], "{a} lowers what it has seen"),
)

PROPERTIES = (
    Invariant(
        name="seen-is-past", says="What a node has seen is not later than its time", over=[a], then=a.seen <= a.time
    ),
    Invariant(name="debts-are-not-positive", says="A debt is at most 0", over=[a], then=a.debt <= 0),
    StepInvariant(
        name="times-never-shrink",
        says="A time that has begun stays",
        over=[a],
        given=a.time > 0,
        then=after(a.time > 0),
    ),
)


def clocks(**changes: object) -> Model:
    """The model, with other parts."""
    parts: dict[str, object] = {
        "system": "clocks",
        "variant": "toy",
        "document": Document("none.md", "None"),
        "about": "nodes that count",
        "machines": [NODE],
        "rows": list(ROWS),
        "rules": [],
        "actions": list(ACTIONS),
        "properties": list(PROPERTIES),
        "default_scope": {"Node": 2},
        "bound": {("Node", "time"): 2, ("Node", "seen"): 2, ("Node", "debt"): (-2, 0)},
    }
    return Model(**{**parts, **changes})  # type: ignore[arg-type]


CLOCKS = clocks()
