"""A pool of connections: a client borrows one that is idle, and returns it."""

from schedproof.model.lang import (
    NONE,
    Action,
    Attribute,
    DeadlockFree,
    Event,
    Invariant,
    LifeCycle,
    Machine,
    Model,
    Ref,
    Row,
    Sort,
    State,
    given,
    iff,
    variables,
)

Connection, Client = Sort("Connection", "k"), Sort("Client", "c")
(k,) = variables(Connection, "k")
(c,) = variables(Client, "c")

CONNECTION = Machine(
    Connection,
    states=[State("Idle"), State("Borrowed")],
    attributes=[Attribute("by", Ref(Client))],
    events=[Event("borrow", {"by": Ref(Client)})],
)
CLIENT = Machine(Client)

TABLES = [
    Row(Connection, "borrow", "Idle", "Borrowed", by=given("by")),
    Row(Connection, "give_back", "Borrowed", "Idle", by=NONE),
]

borrow = Action("borrow", [c, k], [k.is_("Idle")], [k.fires("borrow", by=c)], "{c} borrows {k}", by=c)
give_back = Action("give_back", [c, k], [k.by == c], [k.fires("give_back")], "{c} gives {k} back", by=c)

PROPERTIES = [
    Invariant(
        name="borrowed-by-a-client",
        says="a connection has a client exactly as long as it is borrowed",
        over=[k],
        then=iff(k.is_("Borrowed"), k.by != NONE),
    ),
    LifeCycle(
        name="used-again",
        says="a connection can be borrowed again",
        sort=Connection,
        states=["Idle", "Borrowed", "Idle", "Borrowed"],
    ),
    DeadlockFree(name="never-stuck", says="some client can always go on"),
]

AS_WRITTEN = Model(
    system="connection-pool",
    variant="as-written",
    about="one client at a time has a connection, and gives it back once",
    machines=[CONNECTION, CLIENT],
    rows=TABLES,
    actions=[borrow, give_back],
    rules=[],
    properties=PROPERTIES,
    default_scope={"Connection": 2, "Client": 2},
)
