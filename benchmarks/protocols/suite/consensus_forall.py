"""Nodes vote for one of them, and a leader with the votes of a chosen quorum decides on a value.

Source: ``consensus_forall`` in the suites of mypyvy, SWISS, IC3PO and endive; ``consensus`` of DistAI. There the first chosen quorum
is arbitrary: here none is.
Safety: there is one decision.
"""

from dataclasses import replace

from schedproof.model.lang import Invariant, Machine

from .consensus_epr import MODEL as EPR
from .consensus_wo_decide import BALLOT
from .consensus_wo_decide import MODEL as WITHOUT_DECIDE
from .voting import QUORUM, Value, m, n, v, w

NODE, *_ = EPR.machines
*_, DECIDE_ROW = EPR.rows
*_, DECIDE = EPR.actions

MODEL = replace(
    WITHOUT_DECIDE,
    system="consensus-forall",
    about="nodes vote for a leader with a chosen quorum, which decides",
    machines=[NODE, QUORUM, BALLOT, Machine(Value)],
    rows=[*WITHOUT_DECIDE.rows, DECIDE_ROW],
    actions=[*WITHOUT_DECIDE.actions, DECIDE],
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
)
