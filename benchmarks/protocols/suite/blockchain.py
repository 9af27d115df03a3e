"""Leaders of growing times broadcast blocks of transactions; dishonest nodes do anything, but the broadcast is reliable.

Source: ``blockchain`` of DistAI (Yao et al., OSDI 2021), "permissioned blockchain". There a broadcast sets what nodes confirm to any
values that honest nodes can agree on: here honest nodes confirm the block, or nothing, and dishonest ones change what they know in
steps of their own. There a block of an honest node has no transactions if there are two times: here it has those that are due.
Safety: honest nodes confirm the same blocks and the same transactions, and what is due when an honest leader broadcasts.
"""

from schedproof.model.lang import (
    NONE,
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
    Rule,
    SetOf,
    Sort,
    State,
    forall,
    given,
    iff,
    implies,
    me,
    those,
    variables,
)
from schedproof.model.lang.orders import ordered, total_order

Node, Block, Transaction, Time = Sort("Node", "n"), Sort("Block", "b"), Sort("Transaction", "x"), Sort("Time", "t")
n, m = variables(Node, "n m")
b, c = variables(Block, "b c")
x, y = variables(Transaction, "x y")
t, u = variables(Time, "t u")
block, time, by = given("block"), given("time"), given("by")
is_own = by == me
is_it = (c == block) & (u == time)
place = {"block": Ref(Block), "time": Ref(Time)}


def due(x, t):
    """The transaction is due at the time."""
    return (x.due == t) | t.before.has(x.due)


complete = forall(y, iff(b.transactions.has(y), due(y, t) & ~n.transactions.has(y)))
agree = Action(
    "broadcast",
    [n, b, t],
    [n.pending.has(b, t), implies(n.honest, complete)],
    [],
    "{n} broadcasts {b} at {t}, and honest nodes confirm it",
)
fail = Action(
    "broadcast_in_vain",
    [n, b, t],
    [~n.honest, n.pending.has(b, t)],
    [],
    "{n} broadcasts {b} at {t}, and no honest node confirms anything",
)

MODEL = Model(
    system="blockchain",
    variant="as-published",
    about="leaders broadcast blocks of transactions",
    machines=[
        Machine(
            Node,
            [State("Up")],
            [
                Attribute("honest", BoolType(), rigid=True),
                Attribute("sent", BoolType()),
                Attribute("blocks", Relation(Block, Time)),
                Attribute("pending", Relation(Block, Time), about="what it may broadcast"),
                Attribute("confirmed", Relation(Block, Time)),
                Attribute("transactions", SetOf(Transaction), about="those that it has confirmed"),
            ],
            [
                *(Event(name, place) for name in ("find", "begin", "pretend", "deny")),
                Event("hear", {**place, "by": Ref(Node)}),
                Event("hear_nothing", {**place, "by": Ref(Node)}),
                *(
                    Event(name, {"transaction": Ref(Transaction)})
                    for name in ("pretend_transaction", "deny_transaction")
                ),
            ],
        ),
        Machine(
            Block,
            [State("There")],
            [Attribute("transactions", SetOf(Transaction))],
            [Event("add", {"transaction": Ref(Transaction)})],
        ),
        Machine(Transaction, attributes=[Attribute("due", Ref(Time), rigid=True)]),
        Machine(
            Time, attributes=[Attribute("before", SetOf(Time), rigid=True), Attribute("leader", Ref(Node), rigid=True)]
        ),
    ],
    rows=[
        Row(Node, "find", "Up", "Up", blocks=me.blocks.with_(block, time)),
        Row(Node, "begin", "Up", "Up", pending=me.pending.with_(block, time)),
        Row(
            Node,
            "hear",
            "Up",
            "Up",
            sent=me.sent | is_own,
            pending=those([c, u], me.pending.has(c, u) & ~(is_own & is_it)),
            confirmed=those([c, u], (me.confirmed.has(c, u) & (~me.honest | (u != time))) | (me.honest & is_it)),
            transactions=those(y, me.transactions.has(y) | (by.honest & block.transactions.has(y))),
        ),
        Row(
            Node,
            "hear_nothing",
            "Up",
            "Up",
            sent=me.sent | is_own,
            pending=those([c, u], me.pending.has(c, u) & ~(is_own & is_it)),
            confirmed=those([c, u], me.confirmed.has(c, u) & (~me.honest | (u != time))),
        ),
        Row(Node, "pretend", "Up", "Up", confirmed=me.confirmed.with_(block, time)),
        Row(Node, "deny", "Up", "Up", confirmed=me.confirmed.without(block, time)),
        Row(Node, "pretend_transaction", "Up", "Up", transactions=me.transactions.with_(given("transaction"))),
        Row(Node, "deny_transaction", "Up", "Up", transactions=me.transactions.without(given("transaction"))),
        Row(Block, "add", "There", "There", transactions=me.transactions.with_(given("transaction"))),
    ],
    actions=[
        Action("find_block", [n, b, t], [t.leader == n], [n.fires("find", block=b, time=t)], "{n} finds {b} at {t}"),
        Action("add_transaction", [x, b], [], [b.fires("add", transaction=x)], "{x} is added to {b}"),
        Action(
            "begin_broadcast",
            [n, b, t],
            [t.leader == n, n.blocks.has(b, t), ~n.sent],
            [n.fires("begin", block=b, time=t)],
            "{n} may broadcast {b} at {t}",
        ),
        Action(
            "begin_broadcast_dishonest",
            [n, b, t],
            [~n.honest],
            [n.fires("begin", block=b, time=t)],
            "{n} may broadcast {b} at {t}, though it does not lead",
        ),
        agree,
        fail,
        Action(
            "pretend",
            [n, b, t],
            [~n.honest],
            [n.fires("pretend", block=b, time=t)],
            "{n} pretends to confirm {b} at {t}",
        ),
        Action("deny", [n, b, t], [~n.honest], [n.fires("deny", block=b, time=t)], "{n} denies {b} at {t}"),
        Action(
            "pretend_transaction",
            [n, x],
            [~n.honest],
            [n.fires("pretend_transaction", transaction=x)],
            "{n} pretends to confirm {x}",
        ),
        Action("deny_transaction", [n, x], [~n.honest], [n.fires("deny_transaction", transaction=x)], "{n} denies {x}"),
    ],
    rules=[
        Rule("a broadcast reaches all nodes", agree, [], m.fires("hear", block=b, time=t, by=n)),
        Rule("a broadcast in vain reaches all nodes", fail, [], m.fires("hear_nothing", block=b, time=t, by=n)),
    ],
    properties=[
        Invariant(
            name="same-blocks",
            says="honest nodes confirm the same blocks",
            over=[n, m, b, t],
            given=n.honest & m.honest & n.confirmed.has(b, t),
            then=m.confirmed.has(b, t),
        ),
        Invariant(
            name="same-transactions",
            says="honest nodes confirm the same transactions",
            over=[n, m, x],
            given=n.honest & m.honest & n.transactions.has(x),
            then=m.transactions.has(x),
        ),
        Invariant(
            name="due-is-confirmed",
            says="what is due when an honest leader broadcasts is confirmed",
            over=[n, m, x, t],
            given=n.honest & (t.leader == n) & due(x, t) & n.sent & m.honest,
            then=m.transactions.has(x),
        ),
    ],
    default_scope={"Node": 2, "Block": 1, "Transaction": 1, "Time": 1},
    axioms=[
        *total_order(Time, "before"),
        forall([t, u], implies((t.leader == u.leader) & (t.leader != NONE), t == u)),
    ],
    configurations=lambda sizes: [
        {
            ("Time", "before"): ordered(sizes["Time"]),
            ("Time", "leader"): [each if each < sizes["Node"] else None for each in range(sizes["Time"])],
            ("Transaction", "due"): [each % sizes["Time"] for each in range(sizes["Transaction"])],
            ("Node", "honest"): [each < honest for each in range(sizes["Node"])],
        }
        for honest in sorted({sizes["Node"] - 1, sizes["Node"]})
    ],
)
