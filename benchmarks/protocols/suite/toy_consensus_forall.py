"""Each node votes for one value, and a value with the votes of a quorum is decided, which is remembered.

Source: ``toy_consensus_forall`` in the suites of mypyvy, IC3PO and endive. There the first remembered quorum is arbitrary: here none is.
Safety: one value is decided.
"""

from dataclasses import replace

from schedproof.model.lang import (
    Action,
    Attribute,
    Event,
    Machine,
    Ref,
    Row,
    Sort,
    State,
    forall,
    given,
    implies,
    variables,
)

from .toy_consensus_epr import MODEL as EPR
from .toy_consensus_epr import Quorum, n, q, v

Ballot = Sort("Ballot", "b", single=True)
(b,) = variables(Ballot, "b")
CAST_VOTE, _ = EPR.actions

MODEL = replace(
    EPR,
    system="toy-consensus-forall",
    about="what a quorum votes for is decided, and the quorum is remembered",
    machines=[
        *EPR.machines,
        Machine(
            Ballot, [State("Open")], [Attribute("quorum", Ref(Quorum))], [Event("choose", {"quorum": Ref(Quorum)})]
        ),
    ],
    rows=[*EPR.rows, Row(Ballot, "choose", "Open", "Open", quorum=given("quorum"))],
    actions=[
        CAST_VOTE,
        Action(
            "decide",
            [v, q, b],
            [forall(n, implies(q.members.has(n), n.votes.has(v)))],
            [v.fires("decide"), b.fires("choose", quorum=q)],
            "{v} is decided by {q}",
        ),
    ],
)
