"""Two-phase commit with messages of a transaction manager.

Source: ``TwoPhase`` of Gray and Lamport (Consensus on Transaction Commit, TODS 2006), ``tla-twophase`` of IC3PO, ``TwoPhase`` of endive.
Safety: no resource manager commits what another one aborts.
"""

from schedproof.model.lang import (
    Action,
    Attribute,
    BoolType,
    Invariant,
    Machine,
    Model,
    Row,
    Sort,
    State,
    forall,
    variables,
)

Resource, Manager = Sort("Resource", "r"), Sort("Manager", "t", single=True)
r, s = variables(Resource, "r s")
(t,) = variables(Manager, "t")
STATES = ("Working", "Prepared", "Committed", "Aborted")

MODEL = Model(
    system="two-phase-tla",
    variant="as-published",
    about="a transaction manager collects messages, and sends its decision",
    machines=[
        Machine(
            Resource,
            [State(each) for each in STATES],
            [Attribute("says_prepared", BoolType()), Attribute("known_prepared", BoolType())],
        ),
        Machine(
            Manager,
            [State("Init"), State("Committed"), State("Aborted")],
            [Attribute("says_commit", BoolType()), Attribute("says_abort", BoolType())],
        ),
    ],
    rows=[
        Row(Resource, "prepare", "Working", "Prepared", says_prepared=True),
        Row(Resource, "give_up", "Working", "Aborted"),
        *(Row(Resource, "commit", each, "Committed") for each in STATES),
        *(Row(Resource, "abort", each, "Aborted") for each in STATES),
        *(Row(Resource, "note", each, each, known_prepared=True) for each in STATES),
        Row(Manager, "commit", "Init", "Committed", says_commit=True),
        Row(Manager, "abort", "Init", "Aborted", says_abort=True),
    ],
    actions=[
        Action("rm_prepare", [r], [r.is_("Working")], [r.fires("prepare")], "{r} is prepared, and says so"),
        Action("rm_abort", [r], [r.is_("Working")], [r.fires("give_up")], "{r} chooses to abort"),
        Action(
            "tm_receive", [t, r], [t.is_("Init"), r.says_prepared], [r.fires("note")], "{t} hears that {r} is prepared"
        ),
        Action("tm_commit", [t], [t.is_("Init"), forall(r, r.known_prepared)], [t.fires("commit")], "{t} commits"),
        Action("tm_abort", [t], [t.is_("Init")], [t.fires("abort")], "{t} aborts"),
        Action("rm_receive_commit", [t, r], [t.says_commit], [r.fires("commit")], "{r} hears that it commits"),
        Action("rm_receive_abort", [t, r], [t.says_abort], [r.fires("abort")], "{r} hears that it aborts"),
    ],
    rules=[],
    properties=[
        Invariant(
            name="consistent",
            says="no resource manager commits what another one aborts",
            over=[r, s],
            given=r.is_("Committed"),
            then=~s.is_("Aborted"),
        ),
    ],
    default_scope={"Resource": 2},
)
