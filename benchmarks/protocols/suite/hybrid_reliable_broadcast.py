"""A broadcast that tolerates nodes that crash, omit messages, or send anything.

Source: Widder and Schmid (Distributed Computing 2007), as ``hybrid_reliable_broadcast_cisa`` of Berkovits et al. (CAV 2019), in the suites
of mypyvy and SWISS. There some steps send to a set of nodes, or change several messages at once: here they are several steps.
Safety: if an obedient node accepts, an obedient node had the message at first.
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
    exists,
    forall,
    given,
    implies,
    me,
    those,
    variables,
)

Node, QuorumA, QuorumB = Sort("Node", "n"), Sort("QuorumA", "a"), Sort("QuorumB", "b")
n, m = variables(Node, "n m")
(a,), (b,) = variables(QuorumA, "a"), variables(QuorumB, "b")
KINDS = ("omits_all", "omits_some", "lies_to_all", "lies")


def obedient(node):
    """The node sends no wrong message."""
    return ~node.lies_to_all & ~node.lies


def received_from_all(quorum, node, sender=None):
    """The node has received from all members of some quorum; also from ``sender``, if there is one."""
    received = node.received.has(m) if sender is None else node.received.has(m) | (m == sender)
    return exists(quorum, forall(m, implies(quorum.members.has(m), received)))


sender = given("sender")
accepts_now = me.accepts | received_from_all(b, me, sender)
sends_now = those(n, me.sent.has(n) | received_from_all(a, me, sender))


def configurations(sizes):
    """The last of two or three nodes is faulty; at first nobody has the message, or the first node has it."""
    nodes = range(sizes["Node"])
    faults = {2: [("omits_all", 1, 1)], 3: [("lies_to_all", 2, 2), ("omits_some", 1, 2)]}
    for kind, small, large in faults.get(sizes["Node"], []):
        for begins in (False, True):
            yield {
                ("QuorumA", "members"): [frozenset((each + i) % len(nodes) for i in range(small)) for each in nodes],
                ("QuorumB", "members"): [frozenset((each + i) % len(nodes) for i in range(large)) for each in nodes],
                ("Node", kind): [each == nodes[-1] for each in nodes],
                ("Node", "begins"): [begins and each == 0 for each in nodes],
            }


MODEL = Model(
    system="hybrid-reliable-broadcast",
    variant="as-published",
    about="nodes accept a message that enough others have sent",
    machines=[
        Machine(
            Node,
            [State("Up")],
            [
                *(Attribute(kind, BoolType(), rigid=True) for kind in KINDS),
                Attribute("begins", BoolType(), rigid=True, about="it has the message at first"),
                Attribute("sent", SetOf(Node), about="to whom it has sent"),
                Attribute("received", SetOf(Node), about="from whom it has received"),
                Attribute("accepts", BoolType()),
            ],
            [
                Event("send", {"to": Ref(Node)}),
                *(Event(name, {"sender": Ref(Node)}) for name in ("receive", "receive_only", "imagine", "forget")),
            ],
        ),
        Machine(QuorumA, attributes=[Attribute("members", SetOf(Node), rigid=True)]),
        Machine(QuorumB, attributes=[Attribute("members", SetOf(Node), rigid=True)]),
    ],
    rows=[
        Row(Node, "send_to_all", "Up", "Up", sent=those(n, n == n)),
        Row(Node, "send", "Up", "Up", sent=me.sent.with_(given("to"))),
        Row(Node, "receive", "Up", "Up", received=me.received.with_(sender), accepts=accepts_now, sent=sends_now),
        Row(Node, "receive_only", "Up", "Up", received=me.received.with_(sender), accepts=accepts_now),
        Row(Node, "imagine", "Up", "Up", received=me.received.with_(sender)),
        Row(Node, "forget", "Up", "Up", received=me.received.without(sender)),
        Row(Node, "accept", "Up", "Up", accepts=True),
        Row(Node, "reject", "Up", "Up", accepts=False),
    ],
    actions=[
        Action("begin", [n], [n.begins], [n.fires("send_to_all")], "{n}, which has the message, sends it to all"),
        Action(
            "receive",
            [n, m],
            [m.sent.has(n)],
            [n.fires("receive", sender=m)],
            "{n} receives the message of {m}, and sends its own if it may",
        ),
        Action(
            "receive_only",
            [n, m],
            [n.omits_all | n.omits_some, m.sent.has(n)],
            [n.fires("receive_only", sender=m)],
            "{n} receives the message of {m}",
        ),
        Action(
            "send_some",
            [n, m],
            [n.omits_some, n.begins | received_from_all(a, n)],
            [n.fires("send", to=m)],
            "{n} sends to {m}",
        ),
        Action("lie_to_all", [n], [n.lies_to_all], [n.fires("send_to_all")], "{n} lies to all"),
        Action("lie", [n, m], [n.lies], [n.fires("send", to=m)], "{n} lies to {m}"),
        Action("imagine", [n, m], [~obedient(n)], [n.fires("imagine", sender=m)], "{n} thinks that {m} has sent"),
        Action("forget", [n, m], [~obedient(n)], [n.fires("forget", sender=m)], "{n} thinks that {m} has not sent"),
        Action("accept", [n], [~obedient(n)], [n.fires("accept")], "{n} accepts without reason"),
        Action("reject", [n], [~obedient(n)], [n.fires("reject")], "{n} rejects without reason"),
    ],
    rules=[],
    properties=[
        Invariant(
            name="unforgeable",
            says="what an obedient node accepts, an obedient node had at first",
            over=[n],
            given=obedient(n) & n.accepts,
            then=exists(m, obedient(m) & m.begins),
        ),
    ],
    default_scope={"Node": 3, "QuorumA": 3, "QuorumB": 3},
    axioms=[
        exists(b, forall(n, implies(b.members.has(n), obedient(n) & ~n.omits_all & ~n.omits_some))),
        forall(a, exists(n, a.members.has(n) & obedient(n))),
        forall(b, exists(a, forall(n, implies(a.members.has(n), b.members.has(n) & ~n.lies & ~n.omits_some)))),
        *(forall(n, ~(getattr(n, one) & getattr(n, two))) for one in KINDS for two in KINDS if one < two),
    ],
    configurations=configurations,
)
