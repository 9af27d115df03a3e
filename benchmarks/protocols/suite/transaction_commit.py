"""What a commit protocol must do, as one step of all.

Source: ``TCommit`` of Gray and Lamport (TODS 2006), ``tla-tcommit`` of IC3PO, ``TCommit`` of endive.
Safety: no resource manager commits what another one aborts.
"""

from schedproof.model.lang import Action, Invariant, Machine, Model, Row, Sort, State, forall, variables

Resource = Sort("Resource", "r")
r, s = variables(Resource, "r s")

MODEL = Model(
    system="transaction-commit",
    variant="as-published",
    about="resource managers decide a transaction, looking at each other",
    machines=[Machine(Resource, [State("Working"), State("Prepared"), State("Committed"), State("Aborted")])],
    rows=[
        Row(Resource, "prepare", "Working", "Prepared"),
        Row(Resource, "commit", "Prepared", "Committed"),
        Row(Resource, "abort", "Working", "Aborted"),
        Row(Resource, "abort", "Prepared", "Aborted"),
    ],
    actions=[
        Action("prepare", [r], [r.is_("Working")], [r.fires("prepare")], "{r} is prepared"),
        Action(
            "commit",
            [r],
            [r.is_("Prepared"), forall(s, s.is_("Prepared", "Committed"))],
            [r.fires("commit")],
            "{r} commits",
        ),
        Action(
            "abort",
            [r],
            [r.is_("Working", "Prepared"), forall(s, ~s.is_("Committed"))],
            [r.fires("abort")],
            "{r} aborts",
        ),
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
