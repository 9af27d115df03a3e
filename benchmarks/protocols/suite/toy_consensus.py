"""Each node has one vote, for a value, and what a quorum votes for is decided.

Source: ``toy-consensus`` of IC3PO (Goel and Sakallah, NFM 2021), ``toy_consensus`` of endive. A vote is a function there.
Safety: one value is decided.
"""

from schedproof.model.lang import (
    NONE,
    Action,
    Attribute,
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
    variables,
)

from .quorums import intersecting, majorities

Node, Quorum, Value = Sort("Node", "n"), Sort("Quorum", "q"), Sort("Value", "v")
(n,), (q,) = variables(Node, "n"), variables(Quorum, "q")
v, w = variables(Value, "v w")

MODEL = Model(
    system="toy-consensus",
    variant="as-published",
    about="what a quorum votes for is decided",
    machines=[
        Machine(Node, [State("Up")], [Attribute("vote", Ref(Value))], [Event("cast", {"vote": Ref(Value)})]),
        Machine(Quorum, attributes=[Attribute("members", SetOf(Node), rigid=True)]),
        Machine(Value, [State("Open"), State("Decided")]),
    ],
    rows=[
        Row(Node, "cast", "Up", "Up", vote=given("vote")),
        Row(Value, "decide", "Open", "Decided"),
        Row(Value, "decide", "Decided", "Decided"),
    ],
    actions=[
        Action("cast_vote", [n, v], [n.vote == NONE], [n.fires("cast", vote=v)], "{n} votes for {v}"),
        Action(
            "decide",
            [v, q],
            [forall(n, implies(q.members.has(n), n.vote == v))],
            [v.fires("decide")],
            "{v} is decided by {q}",
        ),
    ],
    rules=[],
    properties=[
        Invariant(
            name="agreement",
            says="one value is decided",
            over=[v, w],
            given=v.is_("Decided") & w.is_("Decided"),
            then=v == w,
        ),
    ],
    default_scope={"Node": 3, "Quorum": 3, "Value": 2},
    axioms=[intersecting(Quorum, Node)],
    configurations=lambda sizes: [{("Quorum", "members"): majorities(sizes["Node"], sizes["Quorum"])}],
)
