"""A directory of caches: clients ask for shared or exclusive access, and the home invalidates others.

Source: the protocol of Steven German, as in Pnueli, Ruah, Zuck (Automatic deductive verification with invisible invariants, TACAS 2001)
and in the suites of Cubicle and MCMT; control only, without data.
Safety: a client with exclusive access is the only one with access.
"""

from schedproof.model.lang import (
    NONE,
    Action,
    Attribute,
    BoolType,
    EnumType,
    Event,
    Invariant,
    Machine,
    Model,
    Ref,
    Row,
    Rule,
    Sort,
    State,
    forall,
    given,
    me,
    variables,
)

Client, Home = Sort("Client", "c"), Sort("Home", "h", single=True)
c, d = variables(Client, "c d")
(h,) = variables(Home, "h")
COMMANDS = EnumType(("none", "shared", "exclusive"))
STATES = ("Invalid", "Shared", "Exclusive")

serve_shared = Action(
    "serve_shared",
    [c, h],
    [h.command == "none", c.request == "shared"],
    [c.fires("served"), h.fires("serve_shared", to=c)],
    "{h} serves the request of {c} for shared access",
)
serve_exclusive = Action(
    "serve_exclusive",
    [c, h],
    [h.command == "none", c.request == "exclusive"],
    [c.fires("served"), h.fires("serve_exclusive", to=c)],
    "{h} serves the request of {c} for exclusive access",
)

MODEL = Model(
    system="german",
    variant="as-published",
    about="a home grants clients shared or exclusive access",
    machines=[
        Machine(
            Client,
            [State(each) for each in STATES],
            [
                Attribute("request", COMMANDS, about="its message to the home"),
                Attribute(
                    "answer", EnumType(("none", "invalidate", "shared", "exclusive")), about="the message of the home"
                ),
                Attribute("invalidated", BoolType(), about="its acknowledgement"),
                Attribute("to_invalidate", BoolType(), about="in the home's list of those to invalidate"),
                Attribute("sharer", BoolType(), about="in the home's list of those with access"),
            ],
        ),
        Machine(
            Home,
            [State("There")],
            [Attribute("command", COMMANDS), Attribute("client", Ref(Client)), Attribute("granted", BoolType())],
            [Event(name, {"to": Ref(Client)}) for name in ("serve_shared", "serve_exclusive")],
        ),
    ],
    rows=[
        *(Row(Client, "ask_shared", at, at, request="shared") for at in STATES),
        *(Row(Client, "ask_exclusive", at, at, request="exclusive") for at in STATES),
        *(Row(Client, "served", at, at, request="none", to_invalidate=me.sharer) for at in STATES),
        *(Row(Client, "list", at, at, to_invalidate=True) for at in STATES),
        *(Row(Client, "unlist", at, at, to_invalidate=False) for at in STATES),
        *(Row(Client, "invalidate", at, at, answer="invalidate", to_invalidate=False) for at in STATES),
        *(Row(Client, "acknowledge", at, "Invalid", answer="none", invalidated=True) for at in STATES),
        *(Row(Client, "acknowledged", at, at, invalidated=False, sharer=False) for at in STATES),
        *(Row(Client, "grant_shared", at, at, answer="shared", sharer=True) for at in STATES),
        *(Row(Client, "grant_exclusive", at, at, answer="exclusive", sharer=True) for at in STATES),
        *(Row(Client, "get_shared", at, "Shared", answer="none") for at in STATES),
        *(Row(Client, "get_exclusive", at, "Exclusive", answer="none") for at in STATES),
        Row(Home, "serve_shared", "There", "There", command="shared", client=given("to")),
        Row(Home, "serve_exclusive", "There", "There", command="exclusive", client=given("to")),
        Row(Home, "free", "There", "There", granted=False),
        Row(Home, "end_shared", "There", "There", command="none", client=NONE),
        Row(Home, "end_exclusive", "There", "There", command="none", client=NONE, granted=True),
    ],
    actions=[
        Action(
            "request_shared",
            [c],
            [c.is_("Invalid"), c.request == "none"],
            [c.fires("ask_shared")],
            "{c} asks for shared access",
        ),
        Action(
            "request_exclusive",
            [c],
            [c.is_("Invalid", "Shared"), c.request == "none"],
            [c.fires("ask_exclusive")],
            "{c} asks for exclusive access",
        ),
        serve_shared,
        serve_exclusive,
        Action(
            "invalidate",
            [c, h],
            [c.to_invalidate, c.answer == "none", (h.command == "exclusive") | ((h.command == "shared") & h.granted)],
            [c.fires("invalidate")],
            "{h} asks {c} to give up its access",
        ),
        Action(
            "acknowledge",
            [c],
            [c.answer == "invalidate", ~c.invalidated],
            [c.fires("acknowledge")],
            "{c} gives up its access",
        ),
        Action(
            "receive_acknowledgement",
            [c, h],
            [h.command != "none", c.invalidated],
            [c.fires("acknowledged"), h.fires("free")],
            "{h} hears that {c} has no access",
        ),
        Action(
            "grant_shared",
            [c, h],
            [h.command == "shared", h.client == c, ~h.granted, c.answer == "none"],
            [c.fires("grant_shared"), h.fires("end_shared")],
            "{h} grants {c} shared access",
        ),
        Action(
            "grant_exclusive",
            [c, h],
            [h.command == "exclusive", h.client == c, ~h.granted, c.answer == "none", forall(d, ~d.sharer)],
            [c.fires("grant_exclusive"), h.fires("end_exclusive")],
            "{h} grants {c} exclusive access",
        ),
        Action("get_shared", [c], [c.answer == "shared"], [c.fires("get_shared")], "{c} has shared access"),
        Action("get_exclusive", [c], [c.answer == "exclusive"], [c.fires("get_exclusive")], "{c} has exclusive access"),
    ],
    rules=[
        Rule("a request for shared access lists those with access", serve_shared, [d.sharer, d != c], d.fires("list")),
        Rule("a request for shared access unlists the others", serve_shared, [~d.sharer, d != c], d.fires("unlist")),
        Rule(
            "a request for exclusive access lists those with access",
            serve_exclusive,
            [d.sharer, d != c],
            d.fires("list"),
        ),
        Rule(
            "a request for exclusive access unlists the others", serve_exclusive, [~d.sharer, d != c], d.fires("unlist")
        ),
    ],
    properties=[
        Invariant(
            name="exclusive",
            says="exclusive access excludes other access",
            over=[c, d],
            given=c.is_("Exclusive") & d.is_("Shared", "Exclusive"),
            then=c == d,
        ),
    ],
    default_scope={"Client": 2},
)
