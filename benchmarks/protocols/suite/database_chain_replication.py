"""Transactions run their operations one after the other, each at the node of its key; those that come too late abort.

Source: ``database_chain_replication`` of I4 (Ma et al., SOSP 2019) and DistAI, ``chain`` of SWISS, from Ivy (Padon et al., PLDI 2016). There a
step takes the last readers and writers of a key as parameters: here it asks whether there are later ones.
Safety: a transaction reads the last value written before it; what is committed is precommitted at each of its nodes.
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
    SetOf,
    Sort,
    State,
    exists,
    forall,
    given,
    implies,
    me,
    variables,
)
from schedproof.model.lang.orders import ordered, partial_order, total_order

Transaction, Node, Key, Operation = (
    Sort("Transaction", "x"),
    Sort("Node", "n"),
    Sort("Key", "k"),
    Sort("Operation", "o"),
)
x, y, z, u, s = variables(Transaction, "x y z u s")
(n,), (k,) = variables(Node, "n"), variables(Key, "k")
o, p = variables(Operation, "o p")


def up_to(a, b):
    """The transaction a is b, or before it."""
    return (a == b) | b.before.has(a)


def committed(x):
    """The transaction is committed, as the first one always is."""
    return x.zero | x.committed


def precommitted(x, n):
    """The transaction is precommitted at the node, as the first one always is."""
    return x.zero | x.precommitted.has(n)


def wrote(x, k):
    """The transaction has written the key, as the first one has written all."""
    return x.zero | x.writes.has(k)


def read(x, k):
    """The transaction has read the key, as the first one has read all."""
    return x.zero | x.reads.has(k)


ready = [
    o.transaction == x,
    ~x.aborted,
    ~committed(x),
    forall(p, implies(o.earlier.has(p), precommitted(x, p.node))),
    ~precommitted(x, o.node),
]
too_late = (o.writes != NONE) & exists(u, up_to(x, u) & ~u.aborted & (wrote(u, o.writes) | read(u, o.writes)))
last_write = (
    wrote(u, o.reads)
    & up_to(u, x)
    & ~u.aborted
    & forall(z, implies(wrote(z, o.reads), up_to(z, u) | up_to(x, z) | z.aborted))
)
last_commit = (
    committed(s)
    & wrote(s, o.reads)
    & up_to(s, x)
    & forall(y, implies(committed(y) & wrote(y, o.reads), up_to(y, s) | up_to(x, y)))
)
reads_uncommitted = (o.reads != NONE) & exists([u, s], last_write & last_commit & (u != s))
reads_committed = exists(u, last_write & (u == s)) & last_commit
done = given("operation")


def configurations(sizes):
    """Each transaction but the first has two operations, of which one writes the key of one node, and one reads that of the other."""
    operations = range(sizes["Operation"])
    keys = [each % sizes["Key"] for each in operations]
    writes = [(each // 2 + each % 2) % 2 == 0 for each in operations]
    yield {
        ("Transaction", "before"): ordered(sizes["Transaction"]),
        ("Transaction", "zero"): [each == 0 for each in range(sizes["Transaction"])],
        ("Key", "node"): [each % sizes["Node"] for each in range(sizes["Key"])],
        ("Operation", "transaction"): [1 + each // 2 for each in operations],
        ("Operation", "node"): [keys[each] % sizes["Node"] for each in operations],
        ("Operation", "writes"): [keys[each] if writes[each] else None for each in operations],
        ("Operation", "reads"): [None if writes[each] else keys[each] for each in operations],
        ("Operation", "earlier"): [frozenset({each - 1} if each % 2 else ()) for each in operations],
    }


MODEL = Model(
    system="database-chain-replication",
    variant="as-published",
    about="transactions run their operations at the nodes of keys",
    machines=[
        Machine(
            Transaction,
            [State("There")],
            [
                Attribute("before", SetOf(Transaction), rigid=True),
                Attribute("zero", BoolType(), rigid=True, about="it is the first, and committed"),
                Attribute("precommitted", SetOf(Node)),
                Attribute("aborted", BoolType()),
                Attribute("committed", BoolType()),
                Attribute("reads", SetOf(Key)),
                Attribute("writes", SetOf(Key)),
                Attribute("depends", Relation(Key, Transaction), about="whose value of a key it has read"),
            ],
            [Event("progress", {"operation": Ref(Operation), "last": Ref(Transaction)})],
        ),
        Machine(Node),
        Machine(Key, attributes=[Attribute("node", Ref(Node), rigid=True)]),
        Machine(
            Operation,
            attributes=[
                Attribute("transaction", Ref(Transaction), rigid=True),
                Attribute("node", Ref(Node), rigid=True),
                Attribute("reads", Ref(Key), rigid=True),
                Attribute("writes", Ref(Key), rigid=True),
                Attribute("earlier", SetOf(Operation), rigid=True, about="those that its transaction runs before it"),
            ],
        ),
    ],
    rows=[
        Row(
            Transaction,
            "progress",
            "There",
            "There",
            precommitted=me.precommitted.with_(done.node),
            reads=me.reads.with_(done.reads),
            writes=me.writes.with_(done.writes),
            depends=me.depends.with_(done.reads, given("last")),
            committed=me.committed | forall(p, ~p.earlier.has(done)),
        ),
        Row(Transaction, "abort", "There", "There", aborted=True),
    ],
    actions=[
        Action("abort", [x, o], [*ready, too_late | reads_uncommitted], [x.fires("abort")], "{x} aborts before {o}"),
        Action(
            "progress",
            [x, o, s],
            [*ready, ~too_late, implies(o.reads != NONE, reads_committed)],
            [x.fires("progress", operation=o, last=s)],
            "{x} runs {o}; if it reads, from {s}",
        ),
    ],
    rules=[],
    properties=[
        Invariant(
            name="reads-the-last-write",
            says="a transaction reads the last value written before it",
            over=[x, y, z, k],
            given=committed(x)
            & committed(y)
            & y.before.has(x)
            & wrote(x, k)
            & ((y.zero & z.zero) | y.depends.has(k, z)),
            then=up_to(x, z),
        ),
        Invariant(
            name="atomic",
            says="what is committed is precommitted at each of its nodes",
            over=[x, o],
            given=committed(x) & (o.transaction == x),
            then=precommitted(x, o.node),
        ),
    ],
    default_scope={"Transaction": 3, "Node": 2, "Key": 2, "Operation": 4},
    axioms=[
        *total_order(Transaction, "before"),
        forall([x, y], implies(x.zero & (x != y), y.before.has(x))),
        forall(o, (o.node != NONE) & ((o.reads == NONE) | (o.reads != o.writes))),
        forall([o, k], implies((o.reads == k) | (o.writes == k), k.node == o.node)),
        *partial_order(Operation, "earlier"),
        forall([o, p], implies(o.earlier.has(p), o.transaction == p.transaction)),
        forall(
            [o, p],
            implies(
                (o.transaction != NONE) & (o.transaction == p.transaction) & (o != p),
                (o.earlier.has(p) | p.earlier.has(o)) & (o.node != p.node),
            ),
        ),
    ],
    configurations=configurations,
)
