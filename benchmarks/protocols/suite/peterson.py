"""Two processes keep each other out by two flags and a turn.

Source: Peterson (Myths about the mutual exclusion problem, IPL 1981), ``peterson`` of endive.
Safety: not both are in the critical section.
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
    Sort,
    State,
    forall,
    given,
    variables,
)

Process, Shared = Sort("Process", "p"), Sort("Shared", "s", single=True)
p, q, r = variables(Process, "p q r")
(s,) = variables(Shared, "s")

MODEL = Model(
    system="peterson",
    variant="as-published",
    about="two processes with two flags and a turn",
    machines=[
        Machine(
            Process,
            [State("Idle"), State("Flags"), State("Turns"), State("Waits"), State("Critical"), State("Leaves")],
            [Attribute("flag", BoolType())],
        ),
        Machine(Shared, [State("There")], [Attribute("turn", Ref(Process))], [Event("turn", {"to": Ref(Process)})]),
    ],
    rows=[
        Row(Process, "begin", "Idle", "Flags"),
        Row(Process, "raise_flag", "Flags", "Turns", flag=True),
        Row(Process, "yield_turn", "Turns", "Waits"),
        Row(Process, "enter", "Waits", "Critical"),
        Row(Process, "leave", "Critical", "Leaves"),
        Row(Process, "lower_flag", "Leaves", "Idle", flag=False),
        Row(Shared, "turn", "There", "There", turn=given("to")),
    ],
    actions=[
        Action("begin", [p], [p.is_("Idle")], [p.fires("begin")], "{p} wants to enter"),
        Action("raise_flag", [p], [p.is_("Flags")], [p.fires("raise_flag")], "{p} raises its flag"),
        Action(
            "yield_turn",
            [p, q, s],
            [p.is_("Turns"), p != q],
            [p.fires("yield_turn"), s.fires("turn", to=q)],
            "{p} gives {q} the turn",
        ),
        Action("enter", [p, q, s], [p.is_("Waits"), p != q, ~q.flag | (s.turn == p)], [p.fires("enter")], "{p} enters"),
        Action("leave", [p], [p.is_("Critical")], [p.fires("leave")], "{p} leaves"),
        Action("lower_flag", [p], [p.is_("Leaves")], [p.fires("lower_flag")], "{p} lowers its flag"),
    ],
    rules=[],
    properties=[
        Invariant(
            name="mutex",
            says="not both are in the critical section",
            over=[p, q],
            given=p.is_("Critical") & q.is_("Critical"),
            then=p == q,
        ),
    ],
    default_scope={"Process": 2},
    axioms=[forall([p, q, r], (p == q) | (q == r) | (p == r))],
)
