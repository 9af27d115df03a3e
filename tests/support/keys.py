"""Clients that lock keys on nodes: a relation that changes, one that does not, and a count in a guard."""

from __future__ import annotations

from schedproof.model.lang import (
    Action,
    Attribute,
    Document,
    Event,
    Invariant,
    Machine,
    Model,
    Ref,
    Relation,
    Rigid,
    Row,
    Rule,
    Sort,
    State,
    count,
    exists,
    given,
    me,
    those,
    variables,
)

Node, Client, Key = Sort("Node", "n"), Sort("Client", "c"), Sort("Key", "k")
n, o = variables(Node, "n o")
c, d = variables(Client, "c d")
k, m = variables(Key, "k m")


def everything(sizes: dict[str, int]) -> list[Rigid]:
    """Every client may lock every key on every node."""
    pairs = frozenset((node, key) for node in range(sizes["Node"]) for key in range(sizes["Key"]))
    return [{("Client", "may"): [pairs] * sizes["Client"]}]


KEYS = Model(
    system="keys",
    variant="toy",
    about="clients that lock keys on nodes",
    document=Document("", ""),
    machines=[
        Machine(
            Node,
            [State("Up")],
            [Attribute("held", Relation(Key, Client))],
            [
                Event("lock", {"by": Ref(Client), "key": Ref(Key)}),
                Event("unlock", {"by": Ref(Client), "key": Ref(Key)}),
                Event("drop", {"by": Ref(Client)}),
            ],
        ),
        Machine(Client, [State("Here"), State("Gone")], [Attribute("may", Relation(Node, Key), rigid=True)]),
        Machine(Key),
    ],
    rows=[
        Row(Node, "lock", "Up", "Up", held=me.held.with_(given("key"), given("by"))),
        Row(Node, "unlock", "Up", "Up", held=me.held.without(given("key"), given("by"))),
        Row(Node, "drop", "Up", "Up", held=those([m, d], me.held.has(m, d) & ~(d == given("by")))),
        Row(Client, "leave", "Here", "Gone"),
    ],
    actions=[
        Action(
            "lock",
            [n, c, k],
            [c.is_("Here"), c.may.has(n, k), count([o, d], o.held.has(k, d)) == 0],
            [n.fires("lock", by=c, key=k)],
            "{c} locks {k} on {n}",
        ),
        Action("unlock", [n, c, k], [n.held.has(k, c)], [n.fires("unlock", by=c, key=k)], "{c} unlocks {k} on {n}"),
        Action("leave", [c], [c.is_("Here")], [c.fires("leave")], "{c} leaves"),
    ],
    rules=[Rule("who leaves drops its keys", c.fires("leave"), [exists(k, n.held.has(k, c))], n.fires("drop", by=c))],
    properties=[
        Invariant(name="one-holder", says="A key has one holder.", over=[k], then=count([n, c], n.held.has(k, c)) <= 1),
        Invariant(
            name="holders-are-here",
            says="Who holds a key is here.",
            over=[n, c, k],
            given=n.held.has(k, c),
            then=c.is_("Here"),
        ),
        Invariant(
            name="one-key", says="(wrong) A client has one key.", over=[c], then=count([n, k], n.held.has(k, c)) <= 1
        ),
    ],
    default_scope={"Node": 2, "Client": 2, "Key": 2},
    configurations=everything,
    refuted=frozenset({"one-key"}),
)
