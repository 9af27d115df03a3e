"""Nodes hand a lock on by messages; one node starts with it.

Source: ``decentralized_lock`` of DistAI, ``simple-de-lock`` of SWISS, ``simple_decentralized_lock`` of IC3PO and endive.
A node does not send to itself here.
Safety: no two nodes have the lock.
"""

from schedproof.model.lang import (
    Action,
    Attribute,
    BoolType,
    Event,
    Invariant,
    Machine,
    Model,
    Ref,
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

Node = Sort("Node", "n")
n, m = variables(Node, "n m")

MODEL = Model(
    system="simple-decentralized-lock",
    variant="as-published",
    about="nodes hand a lock on by messages",
    machines=[
        Machine(
            Node,
            [State("Without"), State("Locked", begins="first")],
            [
                Attribute("first", BoolType(), rigid=True, about="it has the lock at first"),
                Attribute("messages", SetOf(Node)),
            ],
            [Event("send", {"to": Ref(Node)}), Event("deliver", {"to": Ref(Node)})],
        ),
    ],
    rows=[
        Row(Node, "send", "Locked", "Without", messages=me.messages.with_(given("to"))),
        *(
            Row(Node, "deliver", each, each, messages=me.messages.without(given("to")))
            for each in ("Without", "Locked")
        ),
        *(Row(Node, "lock", each, "Locked") for each in ("Without", "Locked")),
    ],
    actions=[
        Action("send", [n, m], [n.is_("Locked"), n != m], [n.fires("send", to=m)], "{n} sends the lock to {m}"),
        Action(
            "receive",
            [n, m],
            [n.messages.has(m), n != m],
            [n.fires("deliver", to=m), m.fires("lock")],
            "{m} receives the lock from {n}",
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
    default_scope={"Node": 3},
    axioms=[forall([n, m], implies(n.first & m.first, n == m))],
    configurations=lambda sizes: [{("Node", "first"): [each == 0 for each in range(sizes["Node"])]}],
)
