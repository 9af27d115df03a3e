"""The resource manager's requests, and its reactions to messages. Its choices represent the rest of the world.

The resource manager and its RMProxy, which passes its messages on (lines 47, 138), are one component here.
"""

from collections.abc import Sequence

from schedproof.model.lang import Action, Rule, Term, forall, implies
from schedproof.model.lang.terms import Fires, Var

from .deliveries import DELIVER, RUNNING, sayable
from .flows import e, send
from .machines import a, k, n, p, x


def asks_for(
    name: str,
    about: Var,
    kind: str,
    when: Sequence[Term],
    fires: Fires,
    says: str,
    line: int,
    fact: str = "",
) -> tuple[Action, Rule]:
    """A request of the resource manager: the action, and the rule that sends the event."""
    action = Action(name, [about], [*when, sayable(kind, about), RUNNING], [fires], says, line, fact=fact)
    return action, Rule(f"the resource manager: {name}", action, [], send(kind, about), line=line)


WISHES = [
    asks_for(
        "register",
        p,
        "RegisterPartition",
        [p.is_("unknown")],
        p.fires("register"),
        "the resource manager registers, with the partition {p}",
        138,
    ),
    asks_for(
        "config_adds",
        p,
        "ConfigAddsPartition",
        [p.is_("unknown")],
        p.fires("register"),
        "a new configuration has the partition {p}",
        138,
    ),
    asks_for(
        "config_drops",
        p,
        "ConfigDropsPartition",
        [p.is_("registered")],
        p.fires("remove"),
        "a new configuration has the partition {p} no longer",
        18,
    ),
    # It need not wait: no answer to a registration is sent to it (readings.py).
    asks_for(
        "remove_partition",
        p,
        "RemovePartition",
        [p.is_("registered")],
        p.fires("remove"),
        "the resource manager removes the partition {p}",
        147,
    ),
    asks_for(
        "submit",
        a,
        "AddApplication",
        [a.is_("unknown"), a.partition.is_("registered")],
        a.fires("submit"),
        "the resource manager submits the application {a}",
        47,
    ),
    asks_for(
        "remove_application",
        a,
        "RemoveApplication",
        [a.is_("submitted", "accepted")],
        a.fires("remove"),
        "the resource manager removes the application {a}",
        47,
    ),
    # It asks only for an application that it knows to be accepted (readings.py).
    asks_for(
        "ask",
        k,
        "AddAsk",
        [k.is_("unknown"), k.application.is_("accepted"), ~k.recovered],
        k.fires("ask"),
        "the resource manager asks for {k}",
        103,
    ),
    # The facts: "The shim may release an ask at any moment, also one that it has not yet been told about".
    asks_for(
        "withdraw",
        k,
        "ReleaseAsk",
        [k.is_("asked")],
        k.fires("withdraw"),
        "the resource manager withdraws {k}",
        115,
        fact="6",
    ),
    asks_for(
        "give_back",
        x,
        "ReleaseAllocation",
        [x.is_("running")],
        x.fires("give_back"),
        "the resource manager gives the allocation {x} back",
        91,
    ),
    # It adds a node with its running allocations, once their applications are accepted (readings.py).
    asks_for(
        "add_node",
        n,
        "AddNode",
        [
            n.is_("unknown"),
            n.partition.is_("registered"),
            forall(x, implies((x.node == n) & x.ask.recovered, x.ask.application.is_("accepted"))),
        ],
        n.fires("register"),
        "the resource manager adds the node {n}",
        125,
    ),
    asks_for(
        "decommission",
        n,
        "DecommissionNode",
        [n.is_("accepted")],
        n.fires("decommission"),
        "the resource manager decommissions the node {n}",
        156,
    ),
]

REPORTS = Rule(
    "what runs on a node is reported with it",
    n.fires("register"),
    [x.node == n, x.ask.recovered, x.is_("unknown")],
    x.fires("report"),
    line=125,
)

HEARS = [
    Rule(f"{kind} is heard", DELIVER[kind], when, fires, line=line)
    for kind, when, fires, line in (
        ("ApplicationAccepted", [e.application.is_("submitted")], e.application.fires("accepted"), 54),
        ("ApplicationRejected", [e.application.is_("submitted")], e.application.fires("rejected"), 54),
        ("AskRejected", [e.ask.is_("asked")], e.ask.fires("rejected"), 108),
        ("NewAllocation", [e.allocation.is_("unknown", "running")], e.allocation.fires("allocated"), 26),
        ("AllocationReleased", [~e.allocation.is_("ended")], e.allocation.fires("released"), 27),
        ("NodeAccepted", [e.node.is_("registering")], e.node.fires("accepted"), 29),
        ("NodeRejected", [e.node.is_("registering")], e.node.fires("rejected"), 29),
    )
]

RM_ACTIONS = [action for action, _ in WISHES]
RM_RULES = [*[rule for _, rule in WISHES], REPORTS, *HEARS]
