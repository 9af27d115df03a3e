"""Each node votes once, a node collects the votes for it, and leads with a majority.

Source: ``majorityset-leader-election`` of IC3PO (Goel and Sakallah, NFM 2021), ``majorityset_leader_election`` of endive. Sets of nodes
are objects there: here a set of voters is an attribute, and majorities are quorums.
Safety: there is one leader.
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

Node, Majority = Sort("Node", "n"), Sort("Majority", "q")
n, m, o = variables(Node, "n m o")
(q,) = variables(Majority, "q")

MODEL = Model(
    system="majorityset-leader-election",
    variant="as-published",
    about="a node that collects a majority of votes leads",
    machines=[
        Machine(
            Node,
            [State("Up")],
            [Attribute("votes", SetOf(Node)), Attribute("voters", SetOf(Node)), Attribute("leads", BoolType())],
            [Event("vote", {"to": Ref(Node)}), Event("count", {"voter": Ref(Node)})],
        ),
        Machine(Majority, attributes=[Attribute("members", SetOf(Node), rigid=True)]),
    ],
    rows=[
        Row(Node, "vote", "Up", "Up", votes=me.votes.with_(given("to"))),
        Row(Node, "count", "Up", "Up", voters=me.voters.with_(given("voter"))),
        Row(Node, "lead", "Up", "Up", leads=True),
    ],
    actions=[
        Action("vote", [n, m], [forall(o, ~n.votes.has(o))], [n.fires("vote", to=m)], "{n} votes for {m}"),
        Action(
            "receive_vote",
            [n, m],
            [m.votes.has(n), ~n.voters.has(m)],
            [n.fires("count", voter=m)],
            "{n} receives the vote of {m}",
        ),
        Action(
            "become_leader",
            [n, q],
            [forall(m, implies(q.members.has(m), n.voters.has(m)))],
            [n.fires("lead")],
            "{n} leads, with the votes of {q}",
        ),
    ],
    rules=[],
    properties=[
        Invariant(name="one-leader", says="there is one leader", over=[n, m], given=n.leads & m.leads, then=n == m),
    ],
    default_scope={"Node": 3, "Majority": 3},
    axioms=[intersecting(Majority, Node)],
    configurations=lambda sizes: [{("Majority", "members"): majorities(sizes["Node"], sizes["Majority"])}],
)
