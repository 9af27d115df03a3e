"""A token goes round a ring; a node with it may enter.

Source: Le Lann (Distributed systems: towards a formal approach, IFIP 1977), and ``token ring`` in the suites for parameterized systems.
Safety: one node is in the critical section.
"""

from schedproof.model.lang import (
    Action,
    Attribute,
    BoolType,
    Invariant,
    Machine,
    Model,
    Relation,
    Row,
    Sort,
    State,
    forall,
    implies,
    variables,
)
from schedproof.model.lang.orders import around, ring

Node = Sort("Node", "n")
n, o, p = variables(Node, "n o p")
is_next = ~(n == o) & forall(p, implies(~(p == n) & ~(p == o), n.round.has(o, p)))

MODEL = Model(
    system="token-ring",
    variant="as-published",
    about="a token goes round a ring",
    machines=[
        Machine(
            Node,
            [State("Without"), State("Token", begins="first"), State("Critical")],
            [
                Attribute("round", Relation(Node, Node), rigid=True),
                Attribute("first", BoolType(), rigid=True, about="it has the token at first"),
                Attribute("sent", BoolType()),
            ],
        ),
    ],
    rows=[
        Row(Node, "enter", "Token", "Critical"),
        Row(Node, "leave", "Critical", "Token"),
        Row(Node, "send", "Token", "Without", sent=True),
        *(Row(Node, "arrive", at, at, sent=False) for at in ("Without", "Token", "Critical")),
        *(Row(Node, "get", at, "Token") for at in ("Without", "Token")),
        Row(Node, "get", "Critical", "Critical"),
    ],
    actions=[
        Action("enter", [n], [n.is_("Token")], [n.fires("enter")], "{n} enters"),
        Action("leave", [n], [n.is_("Critical")], [n.fires("leave")], "{n} leaves"),
        Action("send", [n], [n.is_("Token")], [n.fires("send")], "{n} sends the token"),
        Action(
            "receive", [n, o], [n.sent, is_next], [n.fires("arrive"), o.fires("get")], "{o} receives the token of {n}"
        ),
    ],
    rules=[],
    properties=[
        Invariant(
            name="mutex",
            says="one node is in the critical section",
            over=[n, o],
            given=n.is_("Critical") & o.is_("Critical"),
            then=n == o,
        ),
    ],
    default_scope={"Node": 3},
    axioms=[*ring(Node, "round"), forall([n, o], implies(n.first & o.first, n == o))],
    configurations=lambda sizes: [
        {("Node", "round"): around(sizes["Node"]), ("Node", "first"): [each == 0 for each in range(sizes["Node"])]}
    ],
)
