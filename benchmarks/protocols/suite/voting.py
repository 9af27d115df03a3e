"""What the consensus protocols have in common: a node asks for votes, and each node votes once."""

from schedproof.model.lang import (
    Action,
    Attribute,
    BoolType,
    Event,
    Machine,
    Ref,
    Row,
    SetOf,
    Sort,
    State,
    given,
    me,
    variables,
)

from .quorums import majorities

Node, Quorum, Value = Sort("Node", "n"), Sort("Quorum", "q"), Sort("Value", "v")
n, m, o = variables(Node, "n m o")
q, r = variables(Quorum, "q r")
v, w = variables(Value, "v w")

ATTRIBUTES = [
    Attribute("requests", SetOf(Node), about="whom it asks for a vote"),
    Attribute("voted", BoolType()),
    Attribute("vote", SetOf(Node), about="to whom it sends its vote"),
    Attribute("votes", SetOf(Node), about="whose votes it has received"),
    Attribute("leads", BoolType()),
]
EVENTS = [Event(name, {"node": Ref(Node)}) for name in ("request", "vote", "count")]
NODE = Machine(Node, [State("Up")], ATTRIBUTES, EVENTS)
QUORUM = Machine(Quorum, attributes=[Attribute("members", SetOf(Node), rigid=True)])

ROWS = [
    Row(Node, "request", "Up", "Up", requests=me.requests.with_(given("node"))),
    Row(Node, "vote", "Up", "Up", voted=True, vote=me.vote.with_(given("node"))),
    Row(Node, "count", "Up", "Up", votes=me.votes.with_(given("node"))),
    Row(Node, "lead", "Up", "Up", leads=True),
]

ACTIONS = [
    Action("request_vote", [n, m], [], [n.fires("request", node=m)], "{n} asks {m} for its vote"),
    Action("send_vote", [n, m], [~n.voted, m.requests.has(n)], [n.fires("vote", node=m)], "{n} votes for {m}"),
    Action("receive_vote", [n, m], [m.vote.has(n)], [n.fires("count", node=m)], "{n} receives the vote of {m}"),
]


def quorums(sizes):
    """The quorums are majorities of the nodes."""
    yield {("Quorum", "members"): majorities(sizes["Node"], sizes["Quorum"])}
