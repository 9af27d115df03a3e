"""A server lends many locks to nodes, by messages.

Source: ``multi_lock_server`` of DistAI (Yao et al., OSDI 2021), "asynchronous lock server"; ``lock-server-async`` of SWISS.
Safety: no two nodes hold one lock.
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
    given,
    me,
    variables,
)

Node, Lock = Sort("Node", "n"), Sort("Lock", "k")
n, m = variables(Node, "n m")
(k,) = variables(Lock, "k")
lock = given("lock")

MODEL = Model(
    system="lock-server-async",
    variant="as-published",
    about="a server lends many locks by messages",
    machines=[
        Machine(
            Node,
            [State("Up")],
            [Attribute(name, SetOf(Lock)) for name in ("asks", "granted", "holds", "releases")],
            [Event(name, {"lock": Ref(Lock)}) for name in ("ask", "grant", "take", "release", "released")],
        ),
        Machine(Lock, [State("Up")], [Attribute("at_server", BoolType(), initial=True)]),
    ],
    rows=[
        Row(Node, "ask", "Up", "Up", asks=me.asks.with_(lock)),
        Row(Node, "grant", "Up", "Up", asks=me.asks.without(lock), granted=me.granted.with_(lock)),
        Row(Node, "take", "Up", "Up", granted=me.granted.without(lock), holds=me.holds.with_(lock)),
        Row(Node, "release", "Up", "Up", holds=me.holds.without(lock), releases=me.releases.with_(lock)),
        Row(Node, "released", "Up", "Up", releases=me.releases.without(lock)),
        Row(Lock, "lend", "Up", "Up", at_server=False),
        Row(Lock, "return", "Up", "Up", at_server=True),
    ],
    actions=[
        Action("send_lock", [n, k], [], [n.fires("ask", lock=k)], "{n} asks for {k}"),
        Action(
            "recv_lock",
            [n, k],
            [n.asks.has(k), k.at_server],
            [n.fires("grant", lock=k), k.fires("lend")],
            "the server grants {k} to {n}",
        ),
        Action("recv_grant", [n, k], [n.granted.has(k)], [n.fires("take", lock=k)], "{n} takes {k}"),
        Action("unlock", [n, k], [n.holds.has(k)], [n.fires("release", lock=k)], "{n} releases {k}"),
        Action(
            "recv_unlock",
            [n, k],
            [n.releases.has(k)],
            [n.fires("released", lock=k), k.fires("return")],
            "the server has {k} back from {n}",
        ),
    ],
    rules=[],
    properties=[
        Invariant(
            name="mutex",
            says="a lock has one holder",
            over=[n, m, k],
            given=n.holds.has(k) & m.holds.has(k),
            then=n == m,
        ),
    ],
    default_scope={"Node": 2, "Lock": 1},
)
