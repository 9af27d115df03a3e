"""Nodes on a ring send their names round; a node passes on the names that rank above its own.

Source: the election of Chang and Roberts (CACM 1979), as ``ring_id`` in the suite of mypyvy, ``leader`` of DistAI and
``leader-election`` of Ivy, I4 and SWISS.
Safety: there is one leader.
"""

from schedproof.model.lang import (
    Action,
    Attribute,
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
from schedproof.model.lang.orders import around, ordered, ring, total_order

Node = Sort("Node", "n")
n, o, p = variables(Node, "n o p")
is_next = ~(n == o) & forall(p, implies(~(p == n) & ~(p == o), n.round.has(o, p)))
name = given("name")
STATES = ("Follower", "Leader")

MODEL = Model(
    system="ring-election",
    variant="as-published",
    about="the node with the highest name on a ring is elected",
    machines=[
        Machine(
            Node,
            [State(each) for each in STATES],
            [
                Attribute("round", Relation(Node, Node), rigid=True),
                Attribute("lower", SetOf(Node), rigid=True),
                Attribute("pending", SetOf(Node)),
            ],
            [Event("get", {"name": Ref(Node)}), Event("drop", {"name": Ref(Node)}), Event("win", {"name": Ref(Node)})],
        ),
    ],
    rows=[
        *(Row(Node, "get", each, each, pending=me.pending.with_(name)) for each in STATES),
        *(Row(Node, "drop", each, each, pending=me.pending.without(name)) for each in STATES),
        *(Row(Node, "win", each, "Leader", pending=me.pending.without(name)) for each in STATES),
    ],
    actions=[
        Action("send", [n, o], [is_next], [o.fires("get", name=n)], "{n} sends its name to {o}"),
        Action(
            "pass",
            [n, o, p],
            [n.pending.has(p), p.lower.has(n), is_next],
            [n.fires("drop", name=p), o.fires("get", name=p)],
            "{n} passes the name of {p} on to {o}",
        ),
        Action(
            "stop", [n, p], [n.pending.has(p), n.lower.has(p)], [n.fires("drop", name=p)], "{n} drops the name of {p}"
        ),
        Action("win", [n], [n.pending.has(n)], [n.fires("win", name=n)], "the name of {n} has come round: it leads"),
    ],
    rules=[],
    properties=[
        Invariant(
            name="one-leader",
            says="there is one leader",
            over=[n, o],
            given=n.is_("Leader") & o.is_("Leader"),
            then=n == o,
        ),
    ],
    default_scope={"Node": 3},
    axioms=[*ring(Node, "round"), *total_order(Node, "lower")],
    configurations=lambda sizes: [
        {("Node", "round"): around(sizes["Node"]), ("Node", "lower"): ordered(sizes["Node"])}
    ],
)
