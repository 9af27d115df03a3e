"""The merged design: each request of the resource manager, and each decision of the scheduler, is one step.

The model leaves out updates of a partition that stays (lines 270 to 273), which change no object here, and
reservations (line 194). ``merged_proposals`` takes the search for a proposal and its commit apart.
"""

from collections.abc import Sequence

from schedproof.model.lang import Action, Model, Rule, Term, Var, exists, forall, implies

from .flows import e
from .machines import DOCUMENT, a, k, n, p, x, y
from .merged_configurations import MERGED_SCOPE, merged_configurations
from .merged_machines import MERGED_AXIOMS, MERGED_CHANNELS, MERGED_MACHINES, MERGED_TABLE, q, send
from .merged_properties import MERGED_PROPERTIES

PRESENT = "present"


def asks_for(name: str, about: Var, when: Sequence[Term], says: str, line: int) -> Action:
    """A request of the resource manager, handled at once."""
    return Action(name, [about], when, [], f"the resource manager {says}", line)


# --- Partitions: "For new partitions: scheduler add new partition #with queues", "For delete partitions" (269, 274)

register = asks_for("register", p, [p.is_("absent")], "registers, with the partition {p}", 266)
remove_partition = asks_for("remove_partition", p, [p.is_(PRESENT)], "removes the partition {p}", 266)

PARTITIONS = [
    Rule("a partition is added", register, [], p.fires("add"), line=269),
    Rule("with its queues", register, [q.partition == p, q.is_("absent")], q.fires("add"), line=269),
    Rule("a partition is removed", remove_partition, [], p.fires("remove"), line=274),
    Rule(
        "its applications are removed",
        remove_partition,
        [a.queue.partition == p, a.is_(PRESENT)],
        a.fires("remove"),
        line=276,
    ),
    Rule("its queues are removed", remove_partition, [q.partition == p, q.is_(PRESENT)], q.fires("remove"), line=277),
    Rule("its nodes are removed", remove_partition, [n.partition == p, n.is_(PRESENT)], n.fires("remove"), line=278),
]

# --- Applications

submit = asks_for("submit", a, [a.is_("unknown")], "submits the application {a}", 16)
remove_application = asks_for("remove_application", a, [a.is_(PRESENT)], "removes the application {a}", 16)

TAKES = a.queue.is_(PRESENT) & ~a.refused

APPLICATIONS = [
    Rule("an application is added", submit, [TAKES], a.fires("add"), line=163),
    Rule("an application is rejected", submit, [~TAKES], a.fires("reject"), line=25),
    Rule("an application is removed", remove_application, [], a.fires("remove"), line=300),
    Rule("an added application is reported", a.fires("add"), [], send("ApplicationAccepted", a), line=25),
    Rule("a rejected application is reported", a.fires("reject"), [], send("ApplicationRejected", a), line=25),
    Rule(
        "asks go with their application",
        a.fires("remove"),
        [k.application == a, k.is_("pending", "satisfied")],
        k.fires("remove"),
        line=228,
    ),
    # "for alloc : allocated - app.remove_allocation(alloc)"
    Rule(
        "allocations go with their application",
        a.fires("remove"),
        [x.ask.application == a, x.is_("allocated")],
        x.fires("end"),
        line=303,
    ),
]

# --- Asks

ask = asks_for("ask", k, [k.is_("unknown"), ~k.recovered, k.application.notified == "accepted"], "asks for {k}", 16)
withdraw = asks_for("withdraw", k, [k.is_("pending", "satisfied")], "withdraws {k}", 16)

ASKS = [
    Rule("an ask is added", ask, [k.application.is_(PRESENT)], k.fires("add"), line=228),
    Rule("an ask is rejected", ask, [~k.application.is_(PRESENT)], k.fires("reject"), line=28),
    Rule("a rejected ask is reported", k.fires("reject"), [], send("AskRejected", k), line=28),
    Rule("an ask is withdrawn", withdraw, [], k.fires("remove"), line=119),
]

# --- Nodes

add_node = asks_for(
    "add_node",
    n,
    [
        n.is_("unknown"),
        # A node is added with its running allocations, once their applications are accepted (our interpretation).
        forall(x, implies((x.node == n) & x.ask.recovered, x.ask.application.notified == "accepted")),
    ],
    "adds the node {n}",
    16,
)
decommission = asks_for("decommission", n, [n.is_(PRESENT)], "decommissions the node {n}", 16)

RUNS_THERE = x.ask.application.is_(PRESENT) & x.ask.is_("unknown")
ON_NEW_NODE = [x.node == n, x.ask.recovered, x.is_("unknown")]

NODES = [
    Rule("a node is added", add_node, [n.partition.is_(PRESENT)], n.fires("add"), line=165),
    Rule("a node is rejected", add_node, [~n.partition.is_(PRESENT)], n.fires("reject"), line=29),
    Rule("an added node is reported", n.fires("add"), [], send("NodeAccepted", n), line=29),
    Rule("a rejected node is reported", n.fires("reject"), [], send("NodeRejected", n), line=29),
    Rule(
        "what runs on a node is added with it", n.fires("add"), [*ON_NEW_NODE, RUNS_THERE], x.fires("recover"), line=128
    ),
    Rule("an ask for what runs", x.fires("recover"), [], x.ask.fires("recover"), line=128),
    # Its application has ended: the resource manager is notified that it does not run (our interpretation).
    Rule(
        "what runs for nobody is not added",
        n.fires("add"),
        [*ON_NEW_NODE, ~RUNS_THERE],
        x.fires("not_recovered"),
        line=128,
    ),
    Rule(
        "what runs on a node that is rejected is not added",
        n.fires("reject"),
        ON_NEW_NODE,
        x.fires("not_recovered"),
        line=128,
    ),
    Rule("what is not added is reported", x.fires("not_recovered"), [], send("AllocationReleased", x), line=27),
    Rule("a node is removed", decommission, [], n.fires("remove"), line=278),
    Rule(
        "allocations go with their node", n.fires("remove"), [x.node == n, x.is_("allocated")], x.fires("end"), line=278
    ),
]

# --- Decisions of the scheduler: "commit a scheduling/preemption proposal need acquire wlock(Partition)" (193)

allocate = Action(
    "allocate",
    [x],
    when=[
        x.is_("unknown"),
        x.ask.is_("pending"),
        x.ask.application.is_(PRESENT),
        x.node.is_(PRESENT),
        ~exists(y, (y.node == x.node) & y.is_("allocated")),
    ],
    fires=[x.fires("allocate"), x.ask.fires("satisfy")],
    says="the scheduler allocates {x}",
    line=191,
)
preempt = Action(
    "preempt", [x], [x.is_("allocated")], [x.fires("end")], "the scheduler preempts the allocation {x}", line=193
)
give_back = Action(
    "give_back",
    [x],
    when=[x.is_("allocated"), x.rm == "running"],
    fires=[x.fires("end")],
    says="the resource manager gives the allocation {x} back",
    line=16,
)

ALLOCATIONS = [
    Rule("an allocation is reported", x.fires("allocate"), [], send("NewAllocation", x), line=26),
    # "Emit alloc_completed_event to RMProxy"
    Rule("an end is reported", x.fires("end"), [], send("AllocationReleased", x), line=320),
]

# --- Notifications of the resource manager

HEARD = {
    "ApplicationAccepted": ("that an application is accepted", e.application, "hear_accepted"),
    "ApplicationRejected": ("that an application is rejected", e.application, "hear_rejected"),
    "AskRejected": ("that an ask is rejected", e.ask, "hear_rejected"),
    "NewAllocation": ("of an allocation", e.allocation, "hear_allocated"),
    "AllocationReleased": ("that an allocation is released", e.allocation, "hear_ended"),
    "NodeAccepted": ("that a node is accepted", e.node, "hear_accepted"),
    "NodeRejected": ("that a node is rejected", e.node, "hear_rejected"),
}
DELIVERIES = {
    kind: MERGED_CHANNELS.delivery(kind, f"the resource manager hears {what} ({{e}})", line=line)
    for (kind, (what, _, _)), line in zip(HEARD.items(), (25, 25, 28, 26, 27, 29, 29), strict=True)
}
HEARS = [
    Rule(f"{kind} is heard", DELIVERIES[kind], [], about.fires(event), line=DELIVERIES[kind].line)
    for kind, (_, about, event) in HEARD.items()
]

MERGED_ACTIONS = [
    *(register, remove_partition, submit, remove_application, ask, withdraw, add_node, decommission, give_back),
    *(allocate, preempt),
    *DELIVERIES.values(),
]

MERGED = Model(
    system="yunikorn-merge",
    variant="merged",
    about="one object per thing: each operation is one step, and only notifications to the resource manager are under way",
    document=DOCUMENT,
    machines=MERGED_MACHINES,
    rows=MERGED_TABLE,
    actions=MERGED_ACTIONS,
    rules=[*PARTITIONS, *APPLICATIONS, *ASKS, *NODES, *ALLOCATIONS, *HEARS, *MERGED_CHANNELS.rules],
    properties=MERGED_PROPERTIES,
    axioms=MERGED_AXIOMS,
    configurations=merged_configurations,
    default_scope=MERGED_SCOPE,
)
