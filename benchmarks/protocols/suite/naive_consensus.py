"""Each node votes for one value, quorums of votes are collected, and then learnt.

Source: ``naive-consensus`` of IC3PO (Goel and Sakallah, NFM 2021), ``naive_consensus`` of endive.
Safety: one value is learnt.
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

from .quorums import intersecting, majorities

Node, Quorum, Value = Sort("Node", "n"), Sort("Quorum", "q"), Sort("Value", "v")
(n,), (q,) = variables(Node, "n"), variables(Quorum, "q")
v, w = variables(Value, "v w")

MODEL = Model(
    system="naive-consensus",
    variant="as-published",
    about="a quorum of votes is collected, and then learnt",
    machines=[
        Machine(Node, [State("Up")], [Attribute("votes", SetOf(Value))], [Event("vote", {"value": Ref(Value)})]),
        Machine(
            Quorum,
            [State("There")],
            [Attribute("members", SetOf(Node), rigid=True), Attribute("collected", SetOf(Value))],
            [Event("collect", {"value": Ref(Value)})],
        ),
        Machine(Value, [State("Open")], [Attribute("learnt", BoolType())]),
    ],
    rows=[
        Row(Node, "vote", "Up", "Up", votes=me.votes.with_(given("value"))),
        Row(Quorum, "collect", "There", "There", collected=me.collected.with_(given("value"))),
        Row(Value, "learn", "Open", "Open", learnt=True),
    ],
    actions=[
        Action("cast_vote", [n, v], [forall(w, ~n.votes.has(w))], [n.fires("vote", value=v)], "{n} votes for {v}"),
        Action(
            "collect_votes",
            [q, v],
            [forall(n, implies(q.members.has(n), n.votes.has(v)))],
            [q.fires("collect", value=v)],
            "the votes of {q} for {v} are collected",
        ),
        Action("learn_value", [q, v], [q.collected.has(v)], [v.fires("learn")], "{v} is learnt from {q}"),
    ],
    rules=[],
    properties=[
        Invariant(name="agreement", says="one value is learnt", over=[v, w], given=v.learnt & w.learnt, then=v == w),
    ],
    default_scope={"Node": 3, "Quorum": 3, "Value": 2},
    axioms=[intersecting(Quorum, Node)],
    configurations=lambda sizes: [{("Quorum", "members"): majorities(sizes["Node"], sizes["Quorum"])}],
)
