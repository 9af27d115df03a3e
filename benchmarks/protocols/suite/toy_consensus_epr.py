"""Each node votes for one value, and what a quorum votes for is decided.

Source: ``toy_consensus_epr`` in the suites of mypyvy, SWISS and endive.
Safety: one value is decided.
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
    system="toy-consensus-epr",
    variant="as-published",
    about="what a quorum votes for is decided",
    machines=[
        Machine(
            Node,
            [State("Up")],
            [Attribute("voted", BoolType()), Attribute("votes", SetOf(Value))],
            [Event("vote", {"value": Ref(Value)})],
        ),
        Machine(Quorum, attributes=[Attribute("members", SetOf(Node), rigid=True)]),
        Machine(Value, [State("Open")], [Attribute("decided", BoolType())]),
    ],
    rows=[
        Row(Node, "vote", "Up", "Up", voted=True, votes=me.votes.with_(given("value"))),
        Row(Value, "decide", "Open", "Open", decided=True),
    ],
    actions=[
        Action("cast_vote", [n, v], [~n.voted], [n.fires("vote", value=v)], "{n} votes for {v}"),
        Action(
            "decide",
            [v, q],
            [forall(n, implies(q.members.has(n), n.votes.has(v)))],
            [v.fires("decide")],
            "{v} is decided by {q}",
        ),
    ],
    rules=[],
    properties=[
        Invariant(name="agreement", says="one value is decided", over=[v, w], given=v.decided & w.decided, then=v == w),
    ],
    default_scope={"Node": 3, "Quorum": 3, "Value": 2},
    axioms=[intersecting(Quorum, Node)],
    configurations=lambda sizes: [{("Quorum", "members"): majorities(sizes["Node"], sizes["Quorum"])}],
)
