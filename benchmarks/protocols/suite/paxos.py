"""Single-decree Paxos: a proposer of a round asks a quorum, and proposes what it may.

Source: Lamport (The Part-Time Parliament, TOCS 1998), as ``paxos_epr`` of Padon et al. (Paxos Made EPR, OOPSLA 2017), in the suites of
mypyvy, SWISS, IC3PO and endive. There a round ``none`` stands for no vote: here there is no such round.
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

Node, Quorum, Round, Value = Sort("Node", "n"), Sort("Quorum", "q"), Sort("Round", "r"), Sort("Value", "v")
n, m = variables(Node, "n m")
(q,) = variables(Quorum, "q")
r, s, t = variables(Round, "r s t")
v, w = variables(Value, "v w")


def all_of(quorum, formula):
    """The formula, which speaks of n, holds for each member of the quorum."""
    return forall(n, implies(quorum.members.has(n), formula))


def proposing(q):
    """The two actions of proposing, after a quorum ``q`` of a sort of quorums has joined."""
    joined = [forall(w, ~r.proposed.has(w)), all_of(q, n.joined.has(r))]
    no_vote = forall([n, t, w], implies(q.members.has(n) & r.before.has(t), ~n.votes.has(t, w)))
    latest = forall(
        [n, t, w], implies(q.members.has(n) & r.before.has(t) & n.votes.has(t, w), (t == s) | s.before.has(t))
    )
    voted = exists(n, q.members.has(n) & n.votes.has(s, v))
    return [
        Action(
            "propose",
            [r, q, v],
            [*joined, no_vote],
            [r.fires("propose", value=v)],
            f"{{r}} proposes {{v}}: nobody in {{{q.name}}} has voted before",
        ),
        Action(
            "propose_again",
            [r, s, q, v],
            [*joined, r.before.has(s), voted, latest],
            [r.fires("propose", value=v)],
            f"{{r}} proposes {{v}}, the last vote in {{{q.name}}}, of {{s}}",
        ),
    ]


def deciding(q):
    """The action of deciding, with the votes of a quorum ``q`` of a sort of quorums."""
    return Action(
        "decide",
        [r, q, v],
        [all_of(q, n.votes.has(r, v))],
        [r.fires("decide", value=v)],
        f"{{v}} is decided in {{r}}, by {{{q.name}}}",
    )


SEND_1A = Action("send_1a", [r], [], [r.fires("start")], "{r} starts")
JOIN = Action(
    "join_round",
    [n, r],
    [r.started, ~n.past.has(r)],
    [n.fires("join", round=r)],
    "{n} joins {r}, and leaves all before",
)
CAST_VOTE = Action(
    "cast_vote",
    [n, r, v],
    [~n.past.has(r), r.proposed.has(v)],
    [n.fires("vote", round=r, value=v)],
    "{n} votes for {v} in {r}",
)

NODE = Machine(
    Node,
    [State("Up")],
    [Attribute("joined", SetOf(Round)), Attribute("past", SetOf(Round)), Attribute("votes", Relation(Round, Value))],
    [Event("join", {"round": Ref(Round)}), Event("vote", {"round": Ref(Round), "value": Ref(Value)})],
)
ROUND = Machine(
    Round,
    [State("There")],
    [
        Attribute("before", SetOf(Round), rigid=True),
        Attribute("started", BoolType()),
        Attribute("proposed", SetOf(Value)),
        Attribute("decided", SetOf(Value)),
    ],
    [Event("propose", {"value": Ref(Value)}), Event("decide", {"value": Ref(Value)})],
)

MODEL = Model(
    system="paxos",
    variant="as-published",
    about="quorums of nodes join rounds, vote and decide",
    machines=[NODE, Machine(Quorum, attributes=[Attribute("members", SetOf(Node), rigid=True)]), ROUND, Machine(Value)],
    rows=[
        Row(
            Node,
            "join",
            "Up",
            "Up",
            joined=me.joined.with_(given("round")),
            past=those(s, me.past.has(s) | given("round").before.has(s)),
        ),
        Row(Node, "vote", "Up", "Up", votes=me.votes.with_(given("round"), given("value"))),
        Row(Round, "start", "There", "There", started=True),
        Row(Round, "propose", "There", "There", proposed=me.proposed.with_(given("value"))),
        Row(Round, "decide", "There", "There", decided=me.decided.with_(given("value"))),
    ],
    actions=[SEND_1A, JOIN, *proposing(q), CAST_VOTE, deciding(q)],
    rules=[],
    properties=[
        Invariant(
            name="agreement",
            says="one value is decided",
            over=[r, s, v, w],
            given=r.decided.has(v) & s.decided.has(w),
            then=v == w,
        ),
    ],
    default_scope={"Node": 2, "Quorum": 1, "Round": 2, "Value": 2},
    axioms=[intersecting(Quorum, Node), *total_order(Round, "before")],
    configurations=lambda sizes: [
        {
            ("Quorum", "members"): majorities(sizes["Node"], sizes["Quorum"]),
            ("Round", "before"): ordered(sizes["Round"]),
        }
    ],
)
