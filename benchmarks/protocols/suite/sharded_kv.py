"""Keys with their values move between nodes; only the owner of a key writes it.

Source: ``sharded_kv`` in the suites of mypyvy (from IronFleet's key-value store, Hawblitzel et al., SOSP 2015) and endive;
``shard`` of DistAI. There the first owners are arbitrary: here ``place`` gives each key one.
Safety: a key has one value, at one node.
"""

from schedproof.model.lang import (
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
    given,
    me,
    those,
    variables,
)

Node, Key, Value = Sort("Node", "n"), Sort("Key", "k"), Sort("Value", "v")
n, m = variables(Node, "n m")
k, j = variables(Key, "k j")
v, w = variables(Value, "v w")
key, value, node = given("key"), given("value"), given("node")
entry = {"key": Ref(Key), "value": Ref(Value)}

MODEL = Model(
    system="sharded-kv",
    variant="as-published",
    about="keys with their values move between nodes",
    machines=[
        Machine(
            Node,
            [State("Up")],
            [Attribute("table", Relation(Key, Value)), Attribute("owns", SetOf(Key))],
            [Event("own", {"key": Ref(Key)}), Event("put", entry), Event("give", entry), Event("receive", entry)],
        ),
        Machine(
            Key,
            [State("New"), State("Placed")],
            [Attribute("transfers", Relation(Node, Value))],
            [Event(name, {"node": Ref(Node), "value": Ref(Value)}) for name in ("send", "arrive")],
        ),
        Machine(Value),
    ],
    rows=[
        Row(Node, "own", "Up", "Up", owns=me.owns.with_(key)),
        Row(
            Node,
            "put",
            "Up",
            "Up",
            table=those([j, w], (me.table.has(j, w) & ~(j == key)) | ((j == key) & (w == value))),
        ),
        Row(Node, "give", "Up", "Up", table=me.table.without(key, value), owns=me.owns.without(key)),
        Row(Node, "receive", "Up", "Up", table=me.table.with_(key, value), owns=me.owns.with_(key)),
        Row(Key, "place", "New", "Placed"),
        *(Row(Key, "send", at, at, transfers=me.transfers.with_(node, value)) for at in ("New", "Placed")),
        *(Row(Key, "arrive", at, at, transfers=me.transfers.without(node, value)) for at in ("New", "Placed")),
    ],
    actions=[
        Action(
            "place", [n, k], [k.is_("New")], [k.fires("place"), n.fires("own", key=k)], "{n} is the first owner of {k}"
        ),
        Action("put", [n, k, v], [n.owns.has(k)], [n.fires("put", key=k, value=v)], "{n} writes {v} for {k}"),
        Action(
            "reshard",
            [n, m, k, v],
            [n.table.has(k, v)],
            [n.fires("give", key=k, value=v), k.fires("send", node=m, value=v)],
            "{n} gives {k} with {v} to {m}",
        ),
        Action(
            "recv_transfer",
            [n, k, v],
            [k.transfers.has(n, v)],
            [n.fires("receive", key=k, value=v), k.fires("arrive", node=n, value=v)],
            "{n} receives {k} with {v}",
        ),
    ],
    rules=[],
    properties=[
        Invariant(
            name="one-value",
            says="a key has one value, at one node",
            over=[n, m, k, v, w],
            given=n.table.has(k, v) & m.table.has(k, w),
            then=(n == m) & (v == w),
        ),
    ],
    default_scope={"Node": 2, "Key": 1, "Value": 2},
)
