"""The election on a ring, and another property of it.

Source: ``ring_id_not_dead`` in the suite of mypyvy.
Safety: there is a leader, or a name is under way, or a node has not sent its name.
"""

from dataclasses import replace

from schedproof.model.lang import Attribute, BoolType, Invariant, Row, exists

from .ring_election import MODEL as ELECTION
from .ring_election import STATES, n, o

(NODE,) = ELECTION.machines
SEND, *OTHERS = ELECTION.actions

MODEL = replace(
    ELECTION,
    system="ring-not-dead",
    about="an election on a ring does not end without a leader",
    machines=[replace(NODE, attributes=[*NODE.attributes, Attribute("sent", BoolType())])],
    rows=[*ELECTION.rows, *(Row(NODE.sort, "send", each, each, sent=True) for each in STATES)],
    actions=[replace(SEND, fires=[n.fires("send"), *SEND.fires]), *OTHERS],
    properties=[
        Invariant(
            name="not-dead",
            says="there is a leader, or a name is under way, or a node has not sent its name",
            over=[],
            then=exists(n, n.is_("Leader")) | exists([n, o], n.pending.has(o)) | exists(n, ~n.sent),
        ),
    ],
)
