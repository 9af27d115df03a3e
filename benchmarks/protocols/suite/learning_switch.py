"""Switches learn from packets by which neighbour a node is reached.

Source: ``learning_switch`` of Ivy, ``switch`` of DistAI, ``learning_switch_i4`` of endive. There a node reaches itself in each table:
here the tables leave that out.
Safety: the tables of each destination are a tree: no circles.
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
    Rule,
    SetOf,
    Sort,
    State,
    forall,
    given,
    implies,
    me,
    those,
    variables,
)

Node, Packet = Sort("Node", "n"), Sort("Packet", "p")
d, s, t, u, e = variables(Node, "d s t u e")
x, y, z = variables(Node, "x y z")
(p,) = variables(Packet, "p")
before, at = given("before"), given("at")


def leads(node, first, second):
    """In the tables for ``node``, the way from ``first`` leads to ``second``; each leads to itself."""
    return (first == second) | node.table.has(first, second)


def configurations(sizes):
    """Each node is linked to each; packets go from the first node to the last, and back."""
    last = sizes["Node"] - 1
    yield {
        ("Node", "links"): [frozenset(range(sizes["Node"])) - {each} for each in range(sizes["Node"])],
        ("Packet", "begin"): [0 if each % 2 == 0 else last for each in range(sizes["Packet"])],
        ("Packet", "goal"): [last if each % 2 == 0 else 0 for each in range(sizes["Packet"])],
    }


flood = Action(
    "flood",
    [p, s, t, e],
    [p.pending.has(s, t), p.goal == e, ~e.known.has(t)],
    [],
    "{t}, which does not know {e}, sends {p} from {s} to all its neighbours",
)
route = Action(
    "route",
    [p, s, t, u, e],
    [
        p.pending.has(s, t),
        p.goal == e,
        e.known.has(t),
        e.table.has(t, u),
        t != u,
        forall(z, implies(e.table.has(t, z) & (t != z), leads(e, u, z))),
    ],
    [],
    "{t} sends {p} from {s} on to {u}, the way to {e}",
)
learns = [p.begin == d, ~d.known.has(t), d != t]

MODEL = Model(
    system="learning-switch",
    variant="as-published",
    about="switches learn the ways to nodes",
    machines=[
        Machine(
            Node,
            [State("There")],
            [
                Attribute("links", SetOf(Node), rigid=True),
                Attribute("known", SetOf(Node), about="the switches that know a way to it"),
                Attribute("table", Relation(Node, Node), about="the ways to it"),
            ],
            [Event("learn", {"before": Ref(Node), "at": Ref(Node)})],
        ),
        Machine(
            Packet,
            [State("There")],
            [
                Attribute("begin", Ref(Node), rigid=True),
                Attribute("goal", Ref(Node), rigid=True),
                Attribute("pending", Relation(Node, Node), about="from where to where it is under way"),
            ],
            [Event(name, {"before": Ref(Node), "at": Ref(Node)}) for name in ("flood", "send")],
        ),
    ],
    rows=[
        Row(
            Node,
            "learn",
            "There",
            "There",
            known=me.known.with_(at),
            table=those([x, y], me.table.has(x, y) | (leads(me, x, at) & leads(me, before, y) & (x != y))),
        ),
        Row(
            Packet,
            "flood",
            "There",
            "There",
            pending=those([x, y], (me.pending.has(x, y) & (x != at)) | ((x == at) & at.links.has(y) & (y != before))),
        ),
        Row(Packet, "send", "There", "There", pending=me.pending.with_(before, at)),
    ],
    actions=[
        Action("new_packet", [p, s], [p.begin == s], [p.fires("send", before=s, at=s)], "{p} begins at {s}"),
        flood,
        route,
    ],
    rules=[
        Rule("a switch that floods learns the way to the source", flood, learns, d.fires("learn", before=s, at=t)),
        Rule("a switch that routes learns the way to the source", route, learns, d.fires("learn", before=s, at=t)),
        Rule("a packet that is not there yet is flooded", flood, [e != t], p.fires("flood", before=s, at=t)),
        Rule("a packet that is not there yet is sent on", route, [e != t], p.fires("send", before=t, at=u)),
    ],
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
    default_scope={"Node": 3, "Packet": 2},
    axioms=[forall(x, ~x.links.has(x)), forall([x, y], implies(x.links.has(y), y.links.has(x)))],
    configurations=configurations,
)
