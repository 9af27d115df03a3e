"""Paxos for many instances: a round becomes active once for all of them.

Source: ``multi_paxos_epr`` of Padon et al. (Paxos Made EPR, OOPSLA 2017), in the suites of mypyvy, SWISS and IC3PO. There a sort of maps
has the votes that a node reports: here a round that becomes active reads them. Its last condition, that there is a last
vote if there is a vote, is true of any finite number of rounds.
Safety: one value is decided for an instance.
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
    Relation,
    Row,
    SetOf,
    Sort,
    State,
    exists,
    forall,
    given,
    implies,
    me,
    those,
    variables,
)
from schedproof.model.lang.orders import ordered, total_order

from .quorums import intersecting, majorities

Node, Quorum, Round = Sort("Node", "n"), Sort("Quorum", "q"), Sort("Round", "r")
Instance, Value = Sort("Instance", "i"), Sort("Value", "v")
n, m = variables(Node, "n m")
(q,), (i,) = variables(Quorum, "q"), variables(Instance, "i")
r, s, t = variables(Round, "r s t")
v, w = variables(Value, "v w")


def is_last(s, i, quorum, r):
    """No member of the quorum has voted for the instance in a round after s, and before r."""
    votes = quorum.members.has(m) & r.before.has(t) & m.votes.has(i, t, w)
    return forall([m, t, w], implies(votes, (t == s) | s.before.has(t)))


def last_vote(i, v, quorum, r):
    """The value is that of a last vote for the instance before r, in the quorum."""
    vote = quorum.members.has(n) & r.before.has(s) & n.votes.has(i, s, v)
    return exists([n, s], vote & is_last(s, i, quorum, r))


def no_vote(i, quorum, r):
    """Nobody in the quorum has voted for the instance before r."""
    return forall([m, t, w], implies(quorum.members.has(m) & r.before.has(t), ~m.votes.has(i, t, w)))


MODEL = Model(
    system="multi-paxos",
    variant="as-published",
    about="quorums of nodes decide values of many instances",
    machines=[
        Machine(
            Node,
            [State("Up")],
            [
                Attribute("joined", SetOf(Round)),
                Attribute("past", SetOf(Round)),
                Attribute("votes", Relation(Instance, Round, Value)),
            ],
            [
                Event("join", {"round": Ref(Round)}),
                Event("vote", {"instance": Ref(Instance), "round": Ref(Round), "value": Ref(Value)}),
            ],
        ),
        Machine(Quorum, attributes=[Attribute("members", SetOf(Node), rigid=True)]),
        Machine(
            Round,
            [State("There")],
            [
                Attribute("before", SetOf(Round), rigid=True),
                Attribute("started", BoolType()),
                Attribute("active", BoolType()),
                Attribute("proposed", Relation(Instance, Value)),
                Attribute("decided", Relation(Instance, Value)),
            ],
            [
                Event("activate", {"quorum": Ref(Quorum)}),
                *(Event(name, {"instance": Ref(Instance), "value": Ref(Value)}) for name in ("propose", "decide")),
            ],
        ),
        Machine(Instance),
        Machine(Value),
    ],
    rows=[
        Row(
            Node,
            "join",
            "Up",
            "Up",
            joined=me.joined.with_(given("round")),
            past=those(s, me.past.has(s) | given("round").before.has(s)),
        ),
        Row(Node, "vote", "Up", "Up", votes=me.votes.with_(given("instance"), given("round"), given("value"))),
        Row(Round, "start", "There", "There", started=True),
        Row(
            Round,
            "activate",
            "There",
            "There",
            active=True,
            proposed=those([i, v], me.proposed.has(i, v) | last_vote(i, v, given("quorum"), me)),
        ),
        Row(Round, "propose", "There", "There", proposed=me.proposed.with_(given("instance"), given("value"))),
        Row(Round, "decide", "There", "There", decided=me.decided.with_(given("instance"), given("value"))),
    ],
    actions=[
        Action("send_1a", [r], [], [r.fires("start")], "{r} starts"),
        Action(
            "join_round",
            [n, r],
            [r.started, ~n.past.has(r)],
            [n.fires("join", round=r)],
            "{n} joins {r}, and leaves all before",
        ),
        Action(
            "activate",
            [r, q],
            [
                ~r.active,
                forall(n, implies(q.members.has(n), n.joined.has(r))),
                forall(i, no_vote(i, q, r) | exists(v, last_vote(i, v, q, r))),
            ],
            [r.fires("activate", quorum=q)],
            "{r} is active, and proposes the last votes in {q}",
        ),
        Action(
            "propose",
            [r, i, v],
            [r.active, forall(w, ~r.proposed.has(i, w))],
            [r.fires("propose", instance=i, value=v)],
            "{r} proposes {v} for {i}",
        ),
        Action(
            "cast_vote",
            [n, r, i, v],
            [~n.past.has(r), r.proposed.has(i, v)],
            [n.fires("vote", instance=i, round=r, value=v)],
            "{n} votes for {v} for {i} in {r}",
        ),
        Action(
            "decide",
            [r, q, i, v],
            [forall(n, implies(q.members.has(n), n.votes.has(i, r, v)))],
            [r.fires("decide", instance=i, value=v)],
            "{v} is decided for {i} in {r}, by {q}",
        ),
    ],
    rules=[],
    properties=[
        Invariant(
            name="agreement",
            says="one value is decided for an instance",
            over=[r, s, i, v, w],
            given=r.decided.has(i, v) & s.decided.has(i, w),
            then=v == w,
        ),
    ],
    default_scope={"Node": 2, "Quorum": 1, "Round": 2, "Instance": 1, "Value": 2},
    axioms=[intersecting(Quorum, Node), *total_order(Round, "before")],
    configurations=lambda sizes: [
        {
            ("Quorum", "members"): majorities(sizes["Node"], sizes["Quorum"]),
            ("Round", "before"): ordered(sizes["Round"]),
        }
    ],
)
