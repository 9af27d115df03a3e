"""Paxos with fast rounds, in which nodes vote for any value.

Source: Lamport (Fast Paxos, Distributed Computing 2006), as ``fast_paxos_epr`` of Padon et al. (Paxos Made EPR, OOPSLA 2017), in the suites
of mypyvy and SWISS. There a round ``none`` stands for no vote: here there is no such round.
Safety: one value is decided.
"""

from dataclasses import replace

from schedproof.model.lang import (
    Action,
    Attribute,
    BoolType,
    Machine,
    Row,
    SetOf,
    Sort,
    exists,
    forall,
    implies,
    variables,
)
from schedproof.model.lang.orders import ordered, total_order

from .paxos import JOIN, NODE, ROUND, SEND_1A, Node, Round, Value, all_of, m, n, r, s, t, v, w
from .paxos import MODEL as PAXOS
from .quorums import intersecting, majorities

Classic, Fast = Sort("Classic", "q"), Sort("Fast", "f")
(q,) = variables(Classic, "q")
f, g = variables(Fast, "f g")
(x,) = variables(Value, "x")
MEMBERS = [Attribute("members", SetOf(Node), rigid=True)]

may_propose = [forall(w, ~r.proposed.has(w)), ~r.any_value, all_of(q, n.joined.has(r))]
no_vote = forall([n, t, w], implies(q.members.has(n) & r.before.has(t), ~n.votes.has(t, w)))
latest = [
    r.before.has(s),
    exists(n, q.members.has(n) & n.votes.has(s, v)),
    forall([n, t, w], implies(q.members.has(n) & r.before.has(t) & n.votes.has(t, w), (t == s) | s.before.has(t))),
]


def choosable(value):
    """A fast quorum may have voted for the value in s: of its nodes, those of q did."""
    return exists(f, forall(m, implies(f.members.has(m) & q.members.has(m), m.votes.has(s, value))))


def configurations(sizes):
    """The first round is fast, the others classic; all nodes are the fast quorum."""
    yield {
        ("Classic", "members"): majorities(sizes["Node"], sizes["Classic"]),
        ("Fast", "members"): [frozenset(range(sizes["Node"]))],
        ("Round", "before"): ordered(sizes["Round"]),
        ("Round", "fast"): [each == 0 for each in range(sizes["Round"])],
    }


MODEL = replace(
    PAXOS,
    system="fast-paxos",
    about="Paxos with fast rounds",
    machines=[
        NODE,
        Machine(Classic, attributes=MEMBERS),
        Machine(Fast, attributes=MEMBERS),
        replace(
            ROUND,
            attributes=[
                *ROUND.attributes,
                Attribute("fast", BoolType(), rigid=True),
                Attribute("any_value", BoolType()),
            ],
        ),
        Machine(Value),
    ],
    rows=[*PAXOS.rows, Row(Round, "open", "There", "There", any_value=True)],
    actions=[
        SEND_1A,
        JOIN,
        Action(
            "propose_choosable",
            [r, s, q, v, x],
            [*may_propose, *latest, choosable(x)],
            [r.fires("propose", value=x)],
            "{r} proposes {x}, which may be decided in {s}, by {q}; {v} is a last vote",
        ),
        Action(
            "propose_last",
            [r, s, q, v],
            [*may_propose, *latest, forall(w, ~choosable(w))],
            [r.fires("propose", value=v)],
            "{r} proposes {v}, a last vote in {q}, of {s}",
        ),
        Action(
            "propose_any",
            [r, q],
            [*may_propose, no_vote, r.fast],
            [r.fires("open")],
            "{r} lets all values be voted for: nobody in {q} has voted before",
        ),
        Action(
            "propose",
            [r, q, v],
            [*may_propose, no_vote, ~r.fast],
            [r.fires("propose", value=v)],
            "{r} proposes {v}: nobody in {q} has voted before",
        ),
        Action(
            "cast_vote",
            [n, r, v],
            [~n.past.has(r), forall(w, ~n.votes.has(r, w)), r.proposed.has(v) | r.any_value],
            [n.fires("vote", round=r, value=v)],
            "{n} votes for {v} in {r}",
        ),
        Action(
            "decide_classic",
            [r, q, v],
            [~r.fast, all_of(q, n.votes.has(r, v))],
            [r.fires("decide", value=v)],
            "{v} is decided in {r}, by {q}",
        ),
        Action(
            "decide_fast",
            [r, f, v],
            [r.fast, all_of(f, n.votes.has(r, v))],
            [r.fires("decide", value=v)],
            "{v} is decided in {r}, by {f}",
        ),
    ],
    default_scope={"Node": 2, "Classic": 1, "Fast": 1, "Round": 2, "Value": 2},
    axioms=[
        intersecting(Classic, Node),
        forall([q, f, g], exists(n, q.members.has(n) & f.members.has(n) & g.members.has(n))),
        *total_order(Round, "before"),
    ],
    configurations=configurations,
)
