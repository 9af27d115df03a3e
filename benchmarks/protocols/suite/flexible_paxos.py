"""Paxos whose quorums of the first phase need only meet those of the second.

Source: Howard, Malkhi, Spiegelman (Flexible Paxos, OPODIS 2016), as ``flexible_paxos_epr`` of Padon et al. (OOPSLA 2017), in the suites of
mypyvy, SWISS and IC3PO.
Safety: one value is decided.
"""

from dataclasses import replace

from schedproof.model.lang import Attribute, Machine, SetOf, Sort, variables
from schedproof.model.lang.orders import ordered, total_order

from .paxos import CAST_VOTE, JOIN, NODE, ROUND, SEND_1A, Node, Round, Value, deciding, proposing
from .paxos import MODEL as PAXOS
from .quorums import intersecting

First, Second = Sort("First", "p"), Sort("Second", "q")
(p,), (q,) = variables(First, "p"), variables(Second, "q")
MEMBERS = [Attribute("members", SetOf(Node), rigid=True)]


def configurations(sizes):
    """All nodes are the quorum of the first phase, and each node alone is one of the second."""
    yield {
        ("First", "members"): [frozenset(range(sizes["Node"]))],
        ("Second", "members"): [frozenset({each}) for each in range(sizes["Second"])],
        ("Round", "before"): ordered(sizes["Round"]),
    }


MODEL = replace(
    PAXOS,
    system="flexible-paxos",
    about="Paxos with two kinds of quorums",
    machines=[NODE, Machine(First, attributes=MEMBERS), Machine(Second, attributes=MEMBERS), ROUND, Machine(Value)],
    actions=[SEND_1A, JOIN, *proposing(p), CAST_VOTE, deciding(q)],
    default_scope={"Node": 2, "First": 1, "Second": 2, "Round": 2, "Value": 2},
    axioms=[intersecting(First, Node, Second), *total_order(Round, "before")],
    configurations=configurations,
)
