"""The election of Raft: nodes stand for election in growing terms, and vote once a term.

Source: Ongaro and Ousterhout (USENIX ATC 2014), as the first part of ``raft_epr`` in the suite of mypyvy, without
logs. A node without a term is in the first one.
Safety: a term has one leader.
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
    Relation,
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
from schedproof.model.lang.orders import ordered, total_order

from .quorums import intersecting, majorities

Node, Quorum, Term = Sort("Node", "n"), Sort("Quorum", "q"), Sort("Term", "t")
n, m = variables(Node, "n m")
(q,), (t,) = variables(Quorum, "q"), variables(Term, "t")
is_later = (n.term == NONE) | t.before.has(n.term)

MODEL = Model(
    system="raft-election",
    variant="as-published",
    about="nodes elect a leader of each term",
    machines=[
        Machine(
            Node,
            [State("Up")],
            [
                Attribute("term", Ref(Term)),
                Attribute("stands", SetOf(Term)),
                Attribute("voted", SetOf(Term)),
                Attribute("votes", Relation(Term, Node), about="for whom it votes"),
                Attribute("leads", SetOf(Term)),
            ],
            [
                Event("stand", {"term": Ref(Term)}),
                Event("vote", {"term": Ref(Term), "to": Ref(Node)}),
                Event("lead", {"term": Ref(Term)}),
            ],
        ),
        Machine(Quorum, attributes=[Attribute("members", SetOf(Node), rigid=True)]),
        Machine(Term, attributes=[Attribute("before", SetOf(Term), rigid=True)]),
    ],
    rows=[
        Row(
            Node,
            "stand",
            "Up",
            "Up",
            term=given("term"),
            stands=me.stands.with_(given("term")),
            voted=me.voted.with_(given("term")),
            votes=me.votes.with_(given("term"), me),
        ),
        Row(
            Node,
            "vote",
            "Up",
            "Up",
            term=given("term"),
            voted=me.voted.with_(given("term")),
            votes=me.votes.with_(given("term"), given("to")),
        ),
        Row(Node, "lead", "Up", "Up", leads=me.leads.with_(given("term"))),
    ],
    actions=[
        Action("timeout", [n, t], [is_later], [n.fires("stand", term=t)], "{n} stands for election in {t}"),
        Action(
            "vote",
            [n, m, t],
            [m.stands.has(t), is_later | (n.term == t), ~n.voted.has(t)],
            [n.fires("vote", term=t, to=m)],
            "{n} votes for {m} in {t}",
        ),
        Action(
            "become_leader",
            [n, t, q],
            [n.term == t, forall(m, implies(q.members.has(m), m.votes.has(t, n)))],
            [n.fires("lead", term=t)],
            "{n} leads in {t}, with the votes of {q}",
        ),
    ],
    rules=[],
    properties=[
        Invariant(
            name="one-leader-a-term",
            says="a term has one leader",
            over=[n, m, t],
            given=n.leads.has(t) & m.leads.has(t),
            then=n == m,
        ),
    ],
    default_scope={"Node": 3, "Quorum": 3, "Term": 1},
    axioms=[intersecting(Quorum, Node), *total_order(Term, "before")],
    configurations=lambda sizes: [
        {("Quorum", "members"): majorities(sizes["Node"], sizes["Quorum"]), ("Term", "before"): ordered(sizes["Term"])}
    ],
)
