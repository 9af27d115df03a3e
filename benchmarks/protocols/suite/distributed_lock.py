"""Nodes grant a lock to each other, each time with a greater epoch; old messages have no effect.

Source: the distributed lock of IronFleet (Hawblitzel et al., SOSP 2015), as ``distributed_lock`` of Ivy, I4, DistAI and SWISS.
There the first holder begins with an epoch above all others: here all begin without one, which is below all.
Safety: no two nodes lock in one epoch.
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
    Row,
    SetOf,
    Sort,
    State,
    forall,
    given,
    implies,
    me,
    variables,
)
from schedproof.model.lang.orders import ordered, total_order

Node, Epoch = Sort("Node", "n"), Sort("Epoch", "e")
n, m = variables(Node, "n m")
(e,) = variables(Epoch, "e")
is_later = (n.epoch == NONE) | e.before.has(n.epoch)

MODEL = Model(
    system="distributed-lock",
    variant="as-published",
    about="nodes grant a lock to each other in growing epochs",
    machines=[
        Machine(
            Node,
            [State("Without"), State("Holding", begins="first")],
            [
                Attribute("first", BoolType(), rigid=True, about="it has the lock at first"),
                Attribute("epoch", Ref(Epoch)),
            ],
            [Event("accept", {"epoch": Ref(Epoch)})],
        ),
        Machine(
            Epoch,
            [State("There")],
            [
                Attribute("before", SetOf(Epoch), rigid=True),
                Attribute("transfers", SetOf(Node)),
                Attribute("locked", SetOf(Node)),
            ],
            [Event("transfer", {"to": Ref(Node)}), Event("lock", {"by": Ref(Node)})],
        ),
    ],
    rows=[
        Row(Node, "grant", "Holding", "Without"),
        *(Row(Node, "accept", each, "Holding", epoch=given("epoch")) for each in ("Without", "Holding")),
        Row(Epoch, "transfer", "There", "There", transfers=me.transfers.with_(given("to"))),
        Row(Epoch, "lock", "There", "There", locked=me.locked.with_(given("by"))),
    ],
    actions=[
        Action(
            "grant",
            [n, m, e],
            [n.is_("Holding"), is_later],
            [n.fires("grant"), e.fires("transfer", to=m)],
            "{n} grants the lock to {m}, with {e}",
        ),
        Action(
            "accept",
            [n, e],
            [e.transfers.has(n), is_later],
            [n.fires("accept", epoch=e), e.fires("lock", by=n)],
            "{n} accepts the lock, with {e}",
        ),
    ],
    rules=[],
    properties=[
        Invariant(
            name="one-an-epoch",
            says="no two nodes lock in one epoch",
            over=[n, m, e],
            given=e.locked.has(n) & e.locked.has(m),
            then=n == m,
        ),
    ],
    default_scope={"Node": 2, "Epoch": 2},
    axioms=[*total_order(Epoch, "before"), forall([n, m], implies(n.first & m.first, n == m))],
    configurations=lambda sizes: [
        {("Epoch", "before"): ordered(sizes["Epoch"]), ("Node", "first"): [each == 0 for each in range(sizes["Node"])]}
    ],
)
