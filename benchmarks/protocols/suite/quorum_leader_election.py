"""Each node votes for one node, and a node with a quorum of votes leads.

Source: ``quorum-leader-election`` of IC3PO (Goel and Sakallah, NFM 2021), ``quorum_leader_election`` of endive.
Safety: there is one leader.
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

Node, Quorum = Sort("Node", "n"), Sort("Quorum", "q")
n, m = variables(Node, "n m")
(q,) = variables(Quorum, "q")

MODEL = Model(
    system="quorum-leader-election",
    variant="as-published",
    about="a node with a quorum of votes leads",
    machines=[
        Machine(
            Node,
            [State("Follower"), State("Leader")],
            [Attribute("vote", Ref(Node))],
            [Event("vote", {"to": Ref(Node)})],
        ),
        Machine(Quorum, attributes=[Attribute("members", SetOf(Node), rigid=True)]),
    ],
    rows=[
        *(Row(Node, "vote", each, each, vote=given("to")) for each in ("Follower", "Leader")),
        *(Row(Node, "lead", each, "Leader") for each in ("Follower", "Leader")),
    ],
    actions=[
        Action("vote", [n, m], [n.vote == NONE], [n.fires("vote", to=m)], "{n} votes for {m}"),
        Action(
            "become_leader",
            [n, q],
            [forall(m, implies(q.members.has(m), m.vote == n))],
            [n.fires("lead")],
            "{n} leads, with the votes of {q}",
        ),
    ],
    rules=[],
    properties=[
        Invariant(
            name="one-leader",
            says="there is one leader",
            over=[n, m],
            given=n.is_("Leader") & m.is_("Leader"),
            then=n == m,
        ),
    ],
    default_scope={"Node": 3, "Quorum": 3},
    axioms=[intersecting(Quorum, Node)],
    configurations=lambda sizes: [{("Quorum", "members"): majorities(sizes["Node"], sizes["Quorum"])}],
)
