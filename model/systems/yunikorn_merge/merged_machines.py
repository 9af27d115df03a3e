"""The merged design (lines 161 to 168): one object per thing, and the remaining events, all to the resource manager.

A request of the resource manager is handled in one step, under the partition's lock (lines 187 to 193). Only the
notifications to it are under way for a while.
"""

from schedproof.model.lang import (
    NONE,
    Attribute,
    BoolType,
    EnumType,
    Machine,
    Ref,
    Row,
    Sort,
    State,
    Term,
    forall,
    iff,
    implies,
    variable,
)
from schedproof.model.lang.coalescing import CoalescingChannels
from schedproof.model.lang.rules import Effect

from .flows import ABOUT, CHANNELS, FLOWS, RM, TO_RM, e, r
from .machines import a, k, n, x, y
from .sorts import Allocation, Application, Ask, Message, Node, Partition

Queue = Sort("Queue", "q")
"""A queue of a partition (line 166)."""

q = variable(Queue, "q")

# --- The remaining events

LEFT = {kind for flow in FLOWS if not flow.remove and flow.receiver == RM for kind in flow.kinds}

MERGED_CHANNELS = CoalescingChannels(
    Message,
    kinds=[kind for kind in CHANNELS.kinds if kind.name in LEFT],
    to={TO_RM: [kind.name for kind in CHANNELS.kinds if kind.name in LEFT]},
    line=36,
    fact="6",
)
"""No event between cache and scheduler remains."""


def send(kind: str, about: Term) -> Effect:
    """What a rule fires to send a notification of a kind about an object."""
    return MERGED_CHANNELS.send(kind, message=r, **{ABOUT[kind]: about})


# --- One object per thing

KNOWS_OF_ALLOCATIONS = ("unknown", "running", "ended")

PARTITION = Machine(
    Partition,
    line=167,
    states=[State("absent"), State("present", line=269, begins="standing"), State("removed", line=274)],
    attributes=[Attribute("standing", BoolType(), rigid=True, about="exists from the start")],
)
QUEUE = Machine(
    Queue,
    line=166,
    states=[State("absent"), State("present", line=269, begins="standing"), State("removed", line=277)],
    attributes=[
        Attribute("standing", BoolType(), rigid=True, about="exists from the start"),
        Attribute("partition", Ref(Partition), rigid=True, line=185),
    ],
)
APPLICATION = Machine(
    Application,
    line=163,
    states=[
        State("unknown"),
        State("present", line=163),
        State("rejected", line=25),
        State("removed", line=276),
    ],
    attributes=[
        Attribute("queue", Ref(Queue), rigid=True, line=216),
        # Its queue does not take it.
        Attribute("refused", BoolType(), rigid=True, line=53, about="is refused by the scheduler"),
        # What the resource manager has been notified of.
        Attribute(
            "notified",
            EnumType(("nothing", "accepted", "rejected")),
            line=25,
            about="what the resource manager has heard of it",
        ),
    ],
)
ASK = Machine(
    Ask,
    line=228,
    states=[
        State("unknown"),
        State("pending", line=228),
        State("satisfied", line=191),
        State("rejected", line=28),
        State("removed", line=119),
    ],
    attributes=[
        Attribute("application", Ref(Application), rigid=True, line=228),
        Attribute(
            "recovered",
            BoolType(),
            rigid=True,
            line=128,
            about="is made from an allocation that is recovered; nobody asks for it",
        ),
        Attribute("notified", BoolType(), line=28, about="what the resource manager has heard of it"),
    ],
)
ALLOCATION = Machine(
    Allocation,
    line=164,
    states=[State("unknown"), State("allocated", line=191), State("ended", line=312)],
    attributes=[
        Attribute("ask", Ref(Ask), rigid=True, line=228),
        Attribute("node", Ref(Node), rigid=True, line=314),
        Attribute(
            "rm", EnumType(KNOWS_OF_ALLOCATIONS), line=26, about="what the resource manager knows of the allocation"
        ),
    ],
)
NODE = Machine(
    Node,
    line=165,
    states=[
        State("unknown"),
        State("present", line=165),
        State("rejected", line=29),
        State("removed", line=278),
    ],
    attributes=[
        Attribute("partition", Ref(Partition), rigid=True, line=185),
        Attribute(
            "notified",
            EnumType(("nothing", "accepted", "rejected")),
            line=29,
            about="what the resource manager has heard of it",
        ),
    ],
)

MERGED_MACHINES = [PARTITION, QUEUE, APPLICATION, ASK, ALLOCATION, NODE, *MERGED_CHANNELS.machines]


def hears(sort: Sort, event: str, states: tuple[str, ...], line: int, **sets: str | bool) -> list[Row]:
    """Rows by which the resource manager receives a notification; the object keeps its state."""
    return [Row(sort, event, state, state, line=line, fact="", **sets) for state in states]


ADDED = ("present", "removed")
"""The states of an added object when the resource manager receives the notification."""

MERGED_TABLE = [
    Row(Partition, "add", "absent", "present", line=269),
    Row(Partition, "remove", "present", "removed", line=274),
    Row(Queue, "add", "absent", "present", line=269),
    Row(Queue, "remove", "present", "removed", line=277),
    Row(Application, "add", "unknown", "present", line=163),
    Row(Application, "reject", "unknown", "rejected", line=25),
    Row(Application, "remove", "present", "removed", line=300),
    *hears(Application, "hear_accepted", ADDED, 25, notified="accepted"),
    *hears(Application, "hear_rejected", ("rejected",), 25, notified="rejected"),
    Row(Ask, "add", "unknown", "pending", line=228),
    Row(Ask, "reject", "unknown", "rejected", line=28),
    Row(Ask, "satisfy", "pending", "satisfied", line=191),
    Row(Ask, "recover", "unknown", "satisfied", line=128),
    Row(Ask, "remove", "pending", "removed", line=119),
    Row(Ask, "remove", "satisfied", "removed", line=119),
    *hears(Ask, "hear_rejected", ("rejected",), 28, notified=True),
    Row(Allocation, "allocate", "unknown", "allocated", line=191),
    # It runs already when its node is added, and the resource manager knows of it.
    Row(Allocation, "recover", "unknown", "allocated", line=128, rm="running"),
    Row(Allocation, "not_recovered", "unknown", "ended", line=128, rm="running"),
    Row(Allocation, "end", "allocated", "ended", line=312),
    *hears(Allocation, "hear_allocated", ("allocated", "ended"), 26, rm="running"),
    *hears(Allocation, "hear_ended", ("ended",), 27, rm="ended"),
    Row(Node, "add", "unknown", "present", line=165),
    Row(Node, "reject", "unknown", "rejected", line=29),
    Row(Node, "remove", "present", "removed", line=278),
    *hears(Node, "hear_accepted", ADDED, 29, notified="accepted"),
    *hears(Node, "hear_rejected", ("rejected",), 29, notified="rejected"),
    *MERGED_CHANNELS.rows,
]


MERGED_AXIOMS = [
    # A queue stands with its partition, that is, exists from the start.
    forall(q, (q.partition != NONE) & iff(q.standing, q.partition.standing)),
    forall(a, (a.queue != NONE) & (a.queue.partition != NONE)),
    forall(n, n.partition != NONE),
    forall(k, (k.application != NONE)),
    forall(
        x,
        (x.ask != NONE)
        & (x.ask.application != NONE)
        & (x.ask.application.queue != NONE)
        & (x.node != NONE)
        & (x.ask.application.queue.partition == x.node.partition),
    ),
    # The allocations that run on a node fit on it, and each of their asks has one allocation to recover.
    forall(
        [x, y],
        (x.ask != NONE)
        & (y.ask != NONE)
        & implies(x.ask.recovered & y.ask.recovered & ((x.node == y.node) | (x.ask == y.ask)), x == y),
    ),
    # The one queue to the resource manager keeps its order.
    forall(e, e.ordered),
    *MERGED_CHANNELS.axioms,
]
