"""One value is chosen, once: what a consensus protocol must do.

Source: ``Consensus`` of Lamport's specification of Paxos, ``tla-consensus`` of IC3PO, ``Consensus`` of endive.
Safety: one value is chosen.
"""

from schedproof.model.lang import Action, Invariant, Machine, Model, Row, Sort, State, forall, variables

Value = Sort("Value", "v")
v, w = variables(Value, "v w")

MODEL = Model(
    system="consensus-once",
    variant="as-published",
    about="one value is chosen, once",
    machines=[Machine(Value, [State("Open"), State("Chosen")])],
    rows=[Row(Value, "choose", "Open", "Chosen")],
    actions=[Action("choose", [v], [forall(w, w.is_("Open"))], [v.fires("choose")], "{v} is chosen")],
    rules=[],
    properties=[
        Invariant(
            name="agreement",
            says="one value is chosen",
            over=[v, w],
            given=v.is_("Chosen") & w.is_("Chosen"),
            then=v == w,
        ),
    ],
    default_scope={"Value": 3},
)
