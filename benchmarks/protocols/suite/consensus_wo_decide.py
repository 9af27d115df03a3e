"""Nodes vote for one of them, and one node with the votes of a chosen quorum leads.

Source: ``consensus_wo_decide`` in the suites of mypyvy, IC3PO and endive. There the first chosen quorum is arbitrary: here none is.
Safety: there is one leader.
"""

from schedproof.model.lang import (
    Action,
    Attribute,
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
    implies,
    variables,
)

from .quorums import intersecting
from .voting import ACTIONS, NODE, QUORUM, ROWS, Node, Quorum, m, n, q, quorums

Ballot = Sort("Ballot", "b", single=True)
(b,) = variables(Ballot, "b")
all_votes = forall(m, implies(q.members.has(m), n.votes.has(m)))
BALLOT = Machine(
    Ballot, [State("Open")], [Attribute("quorum", Ref(Quorum))], [Event("choose", {"quorum": Ref(Quorum)})]
)

MODEL = Model(
    system="consensus-wo-decide",
    variant="as-published",
    about="nodes vote for a leader",
    machines=[NODE, QUORUM, BALLOT],
    rows=[*ROWS, Row(Ballot, "choose", "Open", "Open", quorum=given("quorum"))],
    actions=[
        *ACTIONS,
        Action(
            "choose_quorum", [n, q, b], [all_votes], [b.fires("choose", quorum=q)], "{q} is chosen, which voted for {n}"
        ),
        Action(
            "become_leader",
            [n, q, b],
            [b.quorum == q, all_votes],
            [n.fires("lead")],
            "{n} leads, with the votes of {q}",
        ),
    ],
    rules=[],
    properties=[
        Invariant(name="one-leader", says="there is one leader", over=[n, m], given=n.leads & m.leads, then=n == m),
    ],
    default_scope={"Node": 2, "Quorum": 1},
    axioms=[intersecting(Quorum, Node)],
    configurations=quorums,
)
