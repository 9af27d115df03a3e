"""Proposers ask acceptors to follow them, an acceptor follows one, and a proposer with a quorum of followers leads.

Source: ``simple_election`` of endive (Schultz et al., FMCAD 2022), after the first phase of Paxos.
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

Acceptor, Quorum, Proposer = Sort("Acceptor", "a"), Sort("Quorum", "q"), Sort("Proposer", "p")
(a,), (q,) = variables(Acceptor, "a"), variables(Quorum, "q")
p, o = variables(Proposer, "p o")

MODEL = Model(
    system="simple-election",
    variant="as-published",
    about="a proposer with a quorum of followers leads",
    machines=[
        Machine(
            Acceptor, [State("Up")], [Attribute("follows", SetOf(Proposer))], [Event("follow", {"to": Ref(Proposer)})]
        ),
        Machine(Quorum, attributes=[Attribute("members", SetOf(Acceptor), rigid=True)]),
        Machine(Proposer, [State("Up")], [Attribute("started", BoolType()), Attribute("leads", BoolType())]),
    ],
    rows=[
        Row(Acceptor, "follow", "Up", "Up", follows=me.follows.with_(given("to"))),
        Row(Proposer, "start", "Up", "Up", started=True),
        Row(Proposer, "lead", "Up", "Up", leads=True),
    ],
    actions=[
        Action("send_1a", [p], [], [p.fires("start")], "{p} asks for followers"),
        Action(
            "send_1b",
            [a, p],
            [p.started, forall(o, ~a.follows.has(o))],
            [a.fires("follow", to=p)],
            "{a} follows {p}",
        ),
        Action(
            "decide",
            [p, q],
            [forall(a, implies(q.members.has(a), a.follows.has(p)))],
            [p.fires("lead")],
            "{p} leads, with the followers in {q}",
        ),
    ],
    rules=[],
    properties=[
        Invariant(name="one-leader", says="there is one leader", over=[p, o], given=p.leads & o.leads, then=p == o),
    ],
    default_scope={"Acceptor": 3, "Quorum": 3, "Proposer": 2},
    axioms=[intersecting(Quorum, Acceptor)],
    configurations=lambda sizes: [{("Quorum", "members"): majorities(sizes["Acceptor"], sizes["Quorum"])}],
)
