"""Nodes join a ring, learn their successors, and fail; the ring stays connected.

Source: Zave (Using lightweight modeling to understand Chord, CCR 2012), as ``chord`` of Ivy (Padon et al., PLDI 2016), I4, DistAI and
SWISS. There the ring starts with two nodes: here ``found`` makes them. Which nodes reach the origin is computed by two
actions, as there; their last step, which sets an error, is the property here.
Safety: if the computation is at its end, and all active nodes between a node and the origin reach it, the node does.
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
    Sort,
    State,
    exists,
    forall,
    given,
    implies,
    variables,
)
from schedproof.model.lang.orders import around, ring

Node = Sort("Node", "n")
x, y, z, o = variables(Node, "x y z o")
a, b, c = variables(Node, "a b c")


def active(node):
    """The node is part of the ring."""
    return node.is_("Member")


def reaches(node):
    """The computation has found that the node reaches the origin."""
    return node.origin | node.reach


hears_first = (x.next == y) & active(y) & reaches(y)
hears_second = (x.next == y) & ~active(y) & (x.second == z) & active(z) & reaches(z)

MODEL = Model(
    system="chord",
    variant="as-published",
    about="nodes join a ring, and leave it",
    machines=[
        Machine(
            Node,
            [State("Outside"), State("Member")],
            [
                Attribute("round", Relation(Node, Node), rigid=True),
                Attribute("origin", BoolType(), rigid=True),
                Attribute("next", Ref(Node)),
                Attribute("second", Ref(Node), about="the successor of its successor"),
                Attribute("before", Ref(Node)),
                Attribute("reach", BoolType()),
            ],
            [
                Event("found", {"with": Ref(Node)}),
                Event("join", {"next": Ref(Node)}),
                Event("stabilize", {"next": Ref(Node), "second": Ref(Node)}),
                Event("notify", {"before": Ref(Node)}),
                Event("inherit", {"second": Ref(Node)}),
            ],
        ),
    ],
    rows=[
        Row(Node, "found", "Outside", "Member", next=given("with"), before=given("with")),
        Row(Node, "join", "Outside", "Member", next=given("next"), second=NONE, before=NONE),
        Row(Node, "stabilize", "Member", "Member", next=given("next"), second=given("second")),
        Row(Node, "notify", "Member", "Member", before=given("before")),
        Row(Node, "inherit", "Member", "Member", second=given("second")),
        Row(Node, "fail", "Member", "Outside", next=NONE, second=NONE, before=NONE),
        *(Row(Node, "reach", at, at, reach=True) for at in ("Outside", "Member")),
        *(Row(Node, "lose", at, at, reach=False) for at in ("Outside", "Member")),
    ],
    actions=[
        Action(
            "found",
            [x, y],
            [x.origin, x != y, forall(a, ~active(a))],
            [x.fires("found", **{"with": y}), y.fires("found", **{"with": x})],
            "{x} and {y} found the ring",
        ),
        Action(
            "join",
            [x, y, o],
            [~active(x), active(y), o.origin, ~x.round.has(o, y)],
            [x.fires("join", next=y)],
            "{x} joins before {y}",
        ),
        Action(
            "stabilize",
            [x, y, z],
            [active(x), x.next == y, active(y), y.before == z, x.round.has(z, y)],
            [x.fires("stabilize", next=z, second=y)],
            "{x} learns of {z} before {y}",
        ),
        Action(
            "notify",
            [x, y, z],
            [active(x), x.next == y, active(y), (y.before == z) | (y.before == NONE), z.round.has(x, y)],
            [y.fires("notify", before=x)],
            "{y} learns of {x} before it",
        ),
        Action(
            "inherit",
            [x, y, z],
            [active(x), x.next == y, active(y), y.next == z],
            [x.fires("inherit", second=z)],
            "{x} learns of {z} after {y}",
        ),
        Action(
            "remove",
            [x, y, z],
            [active(x), x.next == y, ~active(y), x.second == z],
            [x.fires("stabilize", next=z, second=NONE)],
            "{x} gives {y} up for {z}",
        ),
        Action(
            "fail",
            [x],
            [
                active(x),
                ~x.origin,
                forall(a, implies(a.next == x, a.second != NONE)),
                forall([a, b], implies((a.next == x) & (a.second == b), active(b))),
                forall([a, b], implies((a.next == b) & (a.second == x), (b != x) & active(b))),
            ],
            [x.fires("fail")],
            "{x} fails",
        ),
        Action(
            "reach_origin", [x, y, z], [hears_first | hears_second], [x.fires("reach")], "{x} reaches the origin by {y}"
        ),
        Action(
            "lose_origin",
            [x, y, z],
            [
                ~x.origin,
                x.next == y,
                ~active(y) | ~reaches(y),
                active(y) | (x.second == NONE) | (x.second == z),
                active(y) | (x.second != z) | ~active(z) | ~reaches(z),
            ],
            [x.fires("lose")],
            "{x} does not reach the origin by {y}",
        ),
    ],
    rules=[],
    properties=[
        Invariant(
            name="connected",
            says="an active node reaches the origin if those between it and the origin do",
            over=[o, x],
            given=o.origin
            & active(x)
            & forall([a, b], implies((a.next == b) & active(b) & reaches(b), reaches(a)))
            & forall(
                [a, b, c], implies((a.next == b) & ~active(b) & (a.second == c) & active(c) & reaches(c), reaches(a))
            )
            & forall(a, implies(x.round.has(a, o) & active(a), reaches(a))),
            then=reaches(x),
        ),
    ],
    default_scope={"Node": 3},
    axioms=[*ring(Node, "round"), exists(x, x.origin), forall([x, y], implies(x.origin & y.origin, x == y))],
    configurations=lambda sizes: [
        {("Node", "round"): around(sizes["Node"]), ("Node", "origin"): [each == 0 for each in range(sizes["Node"])]}
    ],
)
