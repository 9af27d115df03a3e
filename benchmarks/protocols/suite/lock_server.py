"""One server lends one lock to nodes, by messages.

Source: the lock server of Verdi (Wilcox et al., PLDI 2015), as ``lockserv`` in the suites of mypyvy and endive.
Safety: no two nodes hold the lock.
"""

from schedproof.model.lang import Action, Attribute, BoolType, Invariant, Machine, Model, Row, Sort, State, variables

Node, Server = Sort("Node", "n"), Sort("Server", "s", single=True)
n, m = variables(Node, "n m")
(s,) = variables(Server, "s")

MODEL = Model(
    system="lock-server",
    variant="as-published",
    about="one server lends one lock by messages",
    machines=[
        Machine(
            Node, [State("Up")], [Attribute(name, BoolType()) for name in ("asks", "granted", "holds", "releases")]
        ),
        Machine(Server, [State("Up")], [Attribute("has_lock", BoolType(), initial=True)]),
    ],
    rows=[
        Row(Node, "ask", "Up", "Up", asks=True),
        Row(Node, "grant", "Up", "Up", asks=False, granted=True),
        Row(Node, "take", "Up", "Up", granted=False, holds=True),
        Row(Node, "release", "Up", "Up", holds=False, releases=True),
        Row(Node, "released", "Up", "Up", releases=False),
        Row(Server, "lend", "Up", "Up", has_lock=False),
        Row(Server, "get_back", "Up", "Up", has_lock=True),
    ],
    actions=[
        Action("send_lock", [n], [], [n.fires("ask")], "{n} asks for the lock"),
        Action("recv_lock", [n, s], [n.asks, s.has_lock], [n.fires("grant"), s.fires("lend")], "{s} grants it to {n}"),
        Action("recv_grant", [n], [n.granted], [n.fires("take")], "{n} takes the lock"),
        Action("unlock", [n], [n.holds], [n.fires("release")], "{n} releases the lock"),
        Action("recv_unlock", [n, s], [n.releases], [n.fires("released"), s.fires("get_back")], "{s} has it from {n}"),
    ],
    rules=[],
    properties=[
        Invariant(name="mutex", says="no two nodes hold the lock", over=[n, m], given=n.holds & m.holds, then=n == m),
    ],
    default_scope={"Node": 2},
)
