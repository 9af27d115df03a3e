"""Threads take tickets from a machine, and enter when their ticket is served.

Source: ``ticket`` in the suite of mypyvy (Padon et al., POPL 2018). There two counters say which ticket is next, and which is served:
here each ticket says that of itself.
Safety: no two threads are in the critical section.
"""

from schedproof.model.lang import (
    NONE,
    Action,
    Attribute,
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
    variables,
)
from schedproof.model.lang.orders import ordered, total_order

Thread, Ticket = Sort("Thread", "t"), Sort("Ticket", "k")
t, u = variables(Thread, "t u")
k, j = variables(Ticket, "k j")

MODEL = Model(
    system="ticket-lock",
    variant="as-published",
    about="threads enter in the order of their tickets",
    machines=[
        Machine(
            Thread,
            [State("Idle"), State("Waiting"), State("Critical")],
            [Attribute("ticket", Ref(Ticket))],
            [Event("take", {"ticket": Ref(Ticket)})],
        ),
        Machine(
            Ticket, [State("Fresh"), State("Taken"), State("Served")], [Attribute("before", SetOf(Ticket), rigid=True)]
        ),
    ],
    rows=[
        Row(Thread, "take", "Idle", "Waiting", ticket=given("ticket")),
        Row(Thread, "enter", "Waiting", "Critical"),
        Row(Thread, "leave", "Critical", "Idle", ticket=NONE),
        Row(Ticket, "take", "Fresh", "Taken"),
        *(Row(Ticket, "pass", each, "Served") for each in ("Fresh", "Taken", "Served")),
    ],
    actions=[
        Action(
            "take",
            [t, k],
            [t.is_("Idle"), k.is_("Fresh"), forall(j, implies(k.before.has(j), ~j.is_("Fresh")))],
            [t.fires("take", ticket=k), k.fires("take")],
            "{t} takes {k}, the next ticket",
        ),
        Action(
            "enter",
            [t, k],
            [t.is_("Waiting"), t.ticket == k, forall(j, implies(k.before.has(j), j.is_("Served")))],
            [t.fires("enter")],
            "{t} enters with {k}, which is served",
        ),
        Action(
            "leave",
            [t, k],
            [t.is_("Critical"), ~k.is_("Served"), forall(j, implies(k.before.has(j), j.is_("Served")))],
            [t.fires("leave"), k.fires("pass")],
            "{t} leaves, and the ticket after {k} is served",
        ),
    ],
    rules=[],
    properties=[
        Invariant(
            name="mutex",
            says="no two threads are in the critical section",
            over=[t, u],
            given=t.is_("Critical") & u.is_("Critical"),
            then=t == u,
        ),
    ],
    default_scope={"Thread": 2, "Ticket": 3},
    axioms=total_order(Ticket, "before"),
    configurations=lambda sizes: [{("Ticket", "before"): ordered(sizes["Ticket"])}],
)
