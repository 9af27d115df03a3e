"""Nodes ask all others for permission to enter.

Source: Ricart and Agrawala (An optimal algorithm for mutual exclusion in computer networks, CACM 1981), as ``Ricart-Agrawala`` of DistAI.
Safety: one node is in the critical section.
"""

from schedproof.model.lang import (
    EMPTY,
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
n, m, o = variables(Node, "n m o")

MODEL = Model(
    system="ricart-agrawala",
    variant="as-published",
    about="nodes ask all others before they enter",
    machines=[
        Machine(
            Node,
            [State("Up")],
            [Attribute("requested", SetOf(Node)), Attribute("replies", SetOf(Node)), Attribute("holds", BoolType())],
            [Event("request", {"to": Ref(Node)}), Event("reply", {"by": Ref(Node)})],
        ),
    ],
    rows=[
        Row(Node, "request", "Up", "Up", requested=me.requested.with_(given("to"))),
        Row(
            Node,
            "reply",
            "Up",
            "Up",
            requested=me.requested.without(given("by")),
            replies=me.replies.with_(given("by")),
        ),
        Row(Node, "enter", "Up", "Up", holds=True),
        Row(Node, "leave", "Up", "Up", holds=False, replies=EMPTY),
    ],
    actions=[
        Action("request", [n, m], [n != m, ~n.requested.has(m)], [n.fires("request", to=m)], "{n} asks {m}"),
        Action(
            "reply",
            [n, m],
            [n != m, n.requested.has(m), ~n.replies.has(m), ~m.holds, ~m.replies.has(n)],
            [n.fires("reply", by=m)],
            "{m} lets {n} enter",
        ),
        Action("enter", [n], [forall(o, implies(o != n, n.replies.has(o)))], [n.fires("enter")], "{n} enters"),
        Action("leave", [n], [n.holds], [n.fires("leave")], "{n} leaves"),
    ],
    rules=[],
    properties=[
        Invariant(
            name="mutex", says="one node is in the critical section", over=[n, m], given=n.holds & m.holds, then=n == m
        ),
    ],
    default_scope={"Node": 2},
)
