"""The sharded key-value store over a network that loses messages: they have numbers, and are sent until they are acknowledged.

Source: ``sharded-kv-retransmit`` in the suite of mypyvy (from IronFleet's key-value store). There the first owners are arbitrary: here
``place`` gives each key one.
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

Node, Key, Value, Number = Sort("Node", "n"), Sort("Key", "k"), Sort("Value", "v"), Sort("Number", "i")
n, m, a, b = variables(Node, "n m a b")
k, j = variables(Key, "k j")
v, w = variables(Value, "v w")
(i,) = variables(Number, "i")
key, value = given("key"), given("value")
message = (given("by"), given("to"), key, value)
entry = {"key": Ref(Key), "value": Ref(Value)}
ends = {"by": Ref(Node), "to": Ref(Node)}
SENT = {"by": n, "to": m, "key": k, "value": v}

MODEL = Model(
    system="sharded-kv-retransmit",
    variant="as-published",
    about="keys with their values move between nodes, by messages that may be lost",
    machines=[
        Machine(
            Node,
            [State("Up")],
            [Attribute("table", Relation(Key, Value)), Attribute("owns", SetOf(Key))],
            [Event("own", {"key": Ref(Key)}), *(Event(name, entry) for name in ("put", "give", "receive"))],
        ),
        Machine(Key, [State("New"), State("Placed")]),
        Machine(Value),
        Machine(
            Number,
            [State("There")],
            [
                Attribute("used", SetOf(Node), about="by which nodes"),
                Attribute("unacknowledged", Relation(Node, Node, Key, Value)),
                Attribute("transfers", Relation(Node, Node, Key, Value)),
                Attribute("received", Relation(Node, Node)),
                Attribute("acknowledged", Relation(Node, Node)),
            ],
            [
                *(Event(name, {**ends, **entry}) for name in ("send", "repeat", "lose")),
                *(Event(name, ends) for name in ("receive", "acknowledge", "lose_acknowledgement", "finish")),
            ],
        ),
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
        Row(
            Number,
            "send",
            "There",
            "There",
            used=me.used.with_(given("by")),
            transfers=me.transfers.with_(*message),
            unacknowledged=me.unacknowledged.with_(*message),
        ),
        Row(Number, "repeat", "There", "There", transfers=me.transfers.with_(*message)),
        Row(Number, "lose", "There", "There", transfers=me.transfers.without(*message)),
        Row(Number, "receive", "There", "There", received=me.received.with_(given("by"), given("to"))),
        Row(Number, "acknowledge", "There", "There", acknowledged=me.acknowledged.with_(given("by"), given("to"))),
        Row(
            Number,
            "lose_acknowledgement",
            "There",
            "There",
            acknowledged=me.acknowledged.without(given("by"), given("to")),
        ),
        Row(
            Number,
            "finish",
            "There",
            "There",
            unacknowledged=those(
                [a, b, j, w], me.unacknowledged.has(a, b, j, w) & ~((a == given("by")) & (b == given("to")))
            ),
        ),
    ],
    actions=[
        Action(
            "place", [n, k], [k.is_("New")], [k.fires("place"), n.fires("own", key=k)], "{n} is the first owner of {k}"
        ),
        Action("put", [n, k, v], [n.owns.has(k)], [n.fires("put", key=k, value=v)], "{n} writes {v} for {k}"),
        Action(
            "reshard",
            [n, m, k, v, i],
            [n.table.has(k, v), ~i.used.has(n)],
            [n.fires("give", key=k, value=v), i.fires("send", **SENT)],
            "{n} gives {k} with {v} to {m}, by message {i}",
        ),
        Action(
            "retransmit",
            [n, m, k, v, i],
            [i.unacknowledged.has(n, m, k, v)],
            [i.fires("repeat", **SENT)],
            "{n} sends message {i} to {m} again",
        ),
        Action(
            "lose",
            [n, m, k, v, i],
            [i.transfers.has(n, m, k, v)],
            [i.fires("lose", **SENT)],
            "message {i} of {n} to {m} is lost",
        ),
        Action(
            "receive",
            [n, m, k, v, i],
            [i.transfers.has(n, m, k, v), ~i.received.has(n, m)],
            [m.fires("receive", key=k, value=v), i.fires("receive", by=n, to=m)],
            "{m} receives {k} with {v} from {n}, by message {i}",
        ),
        Action(
            "acknowledge",
            [n, m, k, v, i],
            [i.transfers.has(n, m, k, v), i.received.has(n, m)],
            [i.fires("acknowledge", by=n, to=m)],
            "{m} acknowledges message {i} of {n}",
        ),
        Action(
            "lose_acknowledgement",
            [n, m, i],
            [i.acknowledged.has(n, m)],
            [i.fires("lose_acknowledgement", by=n, to=m)],
            "the acknowledgement of message {i} of {n} is lost",
        ),
        Action(
            "receive_acknowledgement",
            [n, m, i],
            [i.acknowledged.has(n, m)],
            [i.fires("finish", by=n, to=m)],
            "{n} sends message {i} to {m} no more",
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
    default_scope={"Node": 2, "Key": 1, "Value": 1, "Number": 1},
)
