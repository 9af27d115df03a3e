"""A firewall lets a message in only from a node to which a message has gone out.

Source: ``firewall`` in the suites of mypyvy, IC3PO and endive (Feldman et al., TACAS 2017).
Safety: who sends to an internal node has received from an internal node.
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
    exists,
    given,
    me,
    variables,
)

Node = Sort("Node", "n")
n, m, i = variables(Node, "n m i")


def inside(sizes):
    """One node is internal; or all but one."""
    nodes = range(sizes["Node"])
    yield {("Node", "internal"): [each == 0 for each in nodes]}
    yield {("Node", "internal"): [each != 0 for each in nodes]}


MODEL = Model(
    system="firewall",
    variant="as-published",
    about="messages go in only as answers",
    machines=[
        Machine(
            Node,
            [State("Up")],
            [
                Attribute("internal", BoolType(), rigid=True, about="it is behind the firewall"),
                Attribute("sent", SetOf(Node)),
                Attribute("allowed", BoolType()),
            ],
            [Event("send", {"to": Ref(Node)})],
        ),
    ],
    rows=[
        Row(Node, "send", "Up", "Up", sent=me.sent.with_(given("to"))),
        Row(Node, "allow", "Up", "Up", allowed=True),
    ],
    actions=[
        Action(
            "send_out",
            [n, m],
            [n.internal, ~m.internal],
            [n.fires("send", to=m), m.fires("allow")],
            "{n} sends to {m}, outside",
        ),
        Action(
            "send_in", [n, m], [~n.internal, m.internal, n.allowed], [n.fires("send", to=m)], "{n} sends to {m}, inside"
        ),
    ],
    rules=[],
    properties=[
        Invariant(
            name="only-answers",
            says="who sends inside has received from inside",
            over=[n, m],
            given=n.sent.has(m) & m.internal,
            then=exists(i, i.internal & i.sent.has(n)),
        ),
    ],
    default_scope={"Node": 3},
    configurations=inside,
)
