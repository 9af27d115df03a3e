"""Clients connect to servers, one at a time, in atomic steps.

Source: ``lock_server`` of Ivy (Padon et al., PLDI 2016), in the suites of I4, DistAI, IC3PO, SWISS (``lock-server-sync``) and endive.
Safety: no two clients are connected to one server.
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

Client, Server = Sort("Client", "c"), Sort("Server", "s")
c, d = variables(Client, "c d")
(s,) = variables(Server, "s")

MODEL = Model(
    system="lock-server-sync",
    variant="as-published",
    about="clients connect to servers in atomic steps",
    machines=[
        Machine(
            Client,
            [State("Up")],
            [Attribute("links", SetOf(Server))],
            [Event("connect", {"to": Ref(Server)}), Event("disconnect", {"to": Ref(Server)})],
        ),
        Machine(Server, [State("Up")], [Attribute("free", BoolType(), initial=True)]),
    ],
    rows=[
        Row(Client, "connect", "Up", "Up", links=me.links.with_(given("to"))),
        Row(Client, "disconnect", "Up", "Up", links=me.links.without(given("to"))),
        Row(Server, "take", "Up", "Up", free=False),
        Row(Server, "free", "Up", "Up", free=True),
    ],
    actions=[
        Action("connect", [c, s], [s.free], [c.fires("connect", to=s), s.fires("take")], "{c} connects to {s}"),
        Action(
            "disconnect", [c, s], [c.links.has(s)], [c.fires("disconnect", to=s), s.fires("free")], "{c} leaves {s}"
        ),
    ],
    rules=[],
    properties=[
        Invariant(
            name="mutex",
            says="a server has one client",
            over=[c, d, s],
            given=c.links.has(s) & d.links.has(s),
            then=c == d,
        ),
    ],
    default_scope={"Client": 2, "Server": 1},
)
