"""Nodes release a lock to each other with a time, and take it if that is later than what they know.

Source: ``decentralized-lock`` of SWISS (Hance et al., NSDI 2021). There the first times of the nodes are arbitrary: here all begin
without one, which is before all.
Safety: no two nodes have the lock.
"""

from schedproof.model.lang import (
    NONE,
    Action,
    Attribute,
    BoolType,
    Event,
    Invariant,
    Machine,
    Model,
    Ref,
    Relation,
    Row,
    SetOf,
    Sort,
    State,
    forall,
    given,
    implies,
    me,
    variables,
)
from schedproof.model.lang.orders import ordered, total_order

Node, Time = Sort("Node", "n"), Sort("Time", "t")
n, m = variables(Node, "n m")
(t,) = variables(Time, "t")

MODEL = Model(
    system="decentralized-lock",
    variant="as-published",
    about="nodes release a lock to each other at growing times",
    machines=[
        Machine(
            Node,
            [State("Without"), State("Locked", begins="first")],
            [
                Attribute("first", BoolType(), rigid=True, about="it has the lock at first"),
                Attribute("time", Ref(Time)),
            ],
            [Event("take", {"time": Ref(Time)})],
        ),
        Machine(
            Time,
            [State("There")],
            [Attribute("before", SetOf(Time), rigid=True), Attribute("messages", Relation(Node, Node))],
            [Event("send", {"by": Ref(Node), "to": Ref(Node)})],
        ),
    ],
    rows=[
        Row(Node, "release", "Locked", "Without"),
        *(Row(Node, "take", each, "Locked", time=given("time")) for each in ("Without", "Locked")),
        Row(Time, "send", "There", "There", messages=me.messages.with_(given("by"), given("to"))),
    ],
    actions=[
        Action(
            "release",
            [n, m, t],
            [n.is_("Locked"), (n.time == NONE) | t.before.has(n.time)],
            [n.fires("release"), t.fires("send", by=n, to=m)],
            "{n} releases the lock to {m} at {t}",
        ),
        Action(
            "take",
            [n, m, t],
            [t.messages.has(n, m), (m.time == NONE) | t.before.has(m.time)],
            [m.fires("take", time=t)],
            "{m} takes the lock that {n} released at {t}",
        ),
    ],
    rules=[],
    properties=[
        Invariant(
            name="mutex",
            says="no two nodes have the lock",
            over=[n, m],
            given=n.is_("Locked") & m.is_("Locked"),
            then=n == m,
        ),
    ],
    default_scope={"Node": 2, "Time": 2},
    axioms=[*total_order(Time, "before"), forall([n, m], implies(n.first & m.first, n == m))],
    configurations=lambda sizes: [
        {("Time", "before"): ordered(sizes["Time"]), ("Node", "first"): [each == 0 for each in range(sizes["Node"])]}
    ],
)
