"""Switches learn from packets; any packet may get lost, and all links exist.

Source: ``learning_switch`` in the suites of mypyvy, IC3PO and endive. A step keeps the packets of one
source, and sends its own packet to all nodes. There a packet has a target, which no step reads, and a node reaches itself in each
table: both are left out here.
Safety: the tables of each destination are a tree: no circles.
"""

from schedproof.model.lang import (
    EMPTY,
    Action,
    Attribute,
    Event,
    Invariant,
    Machine,
    Model,
    Ref,
    Relation,
    Row,
    Rule,
    Sort,
    State,
    forall,
    given,
    implies,
    me,
    those,
    variables,
)

Node = Sort("Node", "n")
d, s, t, k = variables(Node, "d s t k")
w, x, y, z = variables(Node, "w x y z")
before, at = given("before"), given("at")


def leads(node, first, second):
    """In the tables for ``node``, the way from ``first`` leads to ``second``; each leads to itself."""
    return (first == second) | node.table.has(first, second)


is_new = (me != at) & forall(w, implies(w != at, ~me.table.has(at, w)))
forward = Action(
    "forward",
    [d, s, t, k],
    [d.pending.has(s, t)],
    [d.fires("forward", before=s, at=t, keeps=k)],
    "{t} sends the packet of {d} on, which comes from {s}, and only packets of {k} are not lost",
)

MODEL = Model(
    system="learning-switch-lossy",
    variant="as-published",
    about="switches learn the ways to nodes from packets that get lost",
    machines=[
        Machine(
            Node,
            [State("There")],
            [
                Attribute("table", Relation(Node, Node), about="the ways to it"),
                Attribute(
                    "pending",
                    Relation(Node, Node),
                    about="from where to where its packets are under way",
                ),
            ],
            [
                Event("forward", {"before": Ref(Node), "at": Ref(Node), "keeps": Ref(Node)}),
            ],
        ),
    ],
    rows=[
        Row(Node, "send", "There", "There", pending=me.pending.with_(me, me)),
        Row(
            Node,
            "forward",
            "There",
            "There",
            pending=those([x, y], (me.pending.has(x, y) & (given("keeps") == me)) | (x == at)),
            table=those([x, y], me.table.has(x, y) | (is_new & leads(me, x, at) & leads(me, before, y) & (x != y))),
        ),
        Row(Node, "lose", "There", "There", pending=EMPTY),
    ],
    actions=[
        Action("new_packet", [d], [], [d.fires("send")], "{d} sends a packet"),
        forward,
    ],
    rules=[Rule("the packets of others are lost", forward, [x != d, x != k], x.fires("lose"))],
    properties=[
        Invariant(
            name="transitive",
            says="ways go on",
            over=[d, x, y, z],
            given=d.table.has(x, y) & d.table.has(y, z),
            then=leads(d, x, z),
        ),
        Invariant(
            name="no-circle", says="no way comes back", over=[d, x, y], given=d.table.has(x, y), then=~d.table.has(y, x)
        ),
        Invariant(
            name="one-way",
            says="from a switch there is one way",
            over=[d, x, y, z],
            given=d.table.has(x, y) & d.table.has(x, z),
            then=leads(d, y, z) | leads(d, z, y),
        ),
    ],
    default_scope={"Node": 3},
)
