"""Nodes vote for one of them, and a leader with a quorum of votes decides on a value.

Source: ``consensus_epr`` in the suites of mypyvy, SWISS, IC3PO and endive.
Safety: there is one decision.
"""

from dataclasses import replace

from schedproof.model.lang import (
    Action,
    Attribute,
    Event,
    Invariant,
    Machine,
    Model,
    Ref,
    Row,
    SetOf,
    forall,
    given,
    implies,
    me,
)

from .quorums import intersecting
from .voting import ACTIONS, NODE, QUORUM, ROWS, Node, Quorum, Value, m, n, q, quorums, v, w

MODEL = Model(
    system="consensus-epr",
    variant="as-published",
    about="nodes vote for a leader, which decides",
    machines=[
        replace(
            NODE,
            attributes=[*NODE.attributes, Attribute("decided", SetOf(Value))],
            events=[*NODE.events, Event("decide", {"value": Ref(Value)})],
        ),
        QUORUM,
        Machine(Value),
    ],
    rows=[*ROWS, Row(Node, "decide", "Up", "Up", decided=me.decided.with_(given("value")))],
    actions=[
        *ACTIONS,
        Action(
            "become_leader",
            [n, q],
            [forall(m, implies(q.members.has(m), n.votes.has(m)))],
            [n.fires("lead")],
            "{n} leads, with the votes of {q}",
        ),
        Action(
            "decide", [n, v], [n.leads, forall(w, ~n.decided.has(w))], [n.fires("decide", value=v)], "{n} decides {v}"
        ),
    ],
    rules=[],
    properties=[
        Invariant(
            name="agreement",
            says="there is one decision",
            over=[n, m, v, w],
            given=n.decided.has(v) & m.decided.has(w),
            then=v == w,
        ),
    ],
    default_scope={"Node": 2, "Quorum": 1, "Value": 2},
    axioms=[intersecting(Quorum, Node)],
    configurations=quorums,
)
