"""The core's machines: states, attributes and transition tables, as the document's text and figures have them.

``line`` is the document's line. Arrows that only a figure has say ``figure``. ``core_v0_12_2`` has what only the
implementation has.

An ask stands for itself and for its allocation, as its repeat count is 1. The document has no machine for it.
"""

from pathlib import Path

from schedproof.model.lang import (
    NONE,
    Attribute,
    BoolType,
    Document,
    EnumType,
    Event,
    Machine,
    Ref,
    Row,
    SetOf,
    Sort,
    State,
    forall,
    given,
    implies,
    me,
    variable,
    variables,
)

from .sorts import Application, Ask, GangTimer, Node, Partition, Queue, Wakeup

DOCUMENT = Document(
    "yunikorn-object-states-0.12.2.txt",
    "Scheduler Object States",
    Path(__file__).with_name("quotes.json"),
    Path(__file__).with_name("facts.json"),
)
FIGURE = "0, figure of the application"

p = variable(Partition, "p")
q, u, v = variables(Queue, "q u v")
a = variable(Application, "a")
k, x, y = variables(Ask, "k x y")
n = variable(Node, "n")
w = variable(Wakeup, "w")
g = variable(GangTimer, "g")

TIMED = ("Starting", "Completing", "Completed", "Failed")
UNFINISHED = ("New", "Accepted", "Starting", "Running", "Completing", "Failing", "Resuming")
FINISHED = ("Completed", "Expired", "Failed", "Rejected")
SCHEDULED = ("Accepted", "Starting", "Running")  # "part of the normal scheduling cycle" (lines 19 to 21)
HELD = ("allocated", "releasing")

# --- Queues and partitions (lines 40 to 60)

OBJECT_STATES = ("Active", "Stopped", "Draining")


def object_states() -> list[State]:
    """Returns the states that queues and partitions have in common."""
    return [State("Active", line=49), State("Stopped", line=50), State("Draining", line=51)]


def object_table(sort: Sort) -> list[Row]:
    """Returns the arrows of the object state figure: the events of lines 55 to 57."""
    return [
        Row(sort, "start", "Stopped", "Active", line=55),
        Row(sort, "start", "Active", "Active", fact="0, figure of the object"),
        Row(sort, "stop", "Active", "Stopped", line=56),
        Row(sort, "stop", "Stopped", "Stopped", fact="0, figure of the object"),
        Row(sort, "remove", "Active", "Draining", line=57),
        Row(sort, "remove", "Draining", "Draining", fact="0, figure of the object"),
    ]


PARTITION = Machine(
    Partition,
    line=45,
    states=object_states(),
    attributes=[
        Attribute("deleted", BoolType(), durable=True, line=51),
        Attribute("adjustable", BoolType(), rigid=True, about="may be changed by people", assumed=False),
    ],
)

QUEUE = Machine(
    Queue,
    line=44,
    states=object_states(),
    attributes=[
        Attribute("partition", Ref(Partition), rigid=True),
        Attribute("parent", Ref(Queue), rigid=True, about="the queue above it, none for one below the root"),
        Attribute(
            "above", SetOf(Queue), rigid=True, about="the parent of the queue, the parent of that queue, and so on"
        ),
        Attribute("deleted", BoolType(), durable=True, line=51),
        Attribute("adjustable", BoolType(), rigid=True, about="may be changed by people", assumed=False),
    ],
)

# Removed from the tree, or from the cluster. The document has no state for it, so the object keeps its state.
DELETE = [Row(sort, "delete", now, now, line=51, deleted=True) for sort in (Partition, Queue) for now in OBJECT_STATES]

# --- The application (lines 12 to 38)

APPLICATION = Machine(
    Application,
    line=12,
    states=[
        State("New", line=18),
        State("Accepted", line=19),
        State("Starting", line=20),
        State("Running", line=21),
        State("Completing", line=22),
        State("Completed", line=23),
        State("Expired", line=24),
        State("Failing", line=25),
        State("Failed", line=26),
        State("Rejected", line=27),
        State("Resuming"),  # in the figure only, not in the text
    ],
    attributes=[
        Attribute("queue", Ref(Queue), rigid=True, line=27),
        # what happens to a gang whose placeholders are not all there in time
        Attribute(
            "style",
            EnumType(("Hard", "Soft")),
            rigid=True,
            line=25,
            about="what is done for a gang whose placeholders are not all there in time: Hard fails it, Soft schedules it without them",
        ),
        Attribute("exact", BoolType(), rigid=True, about="asks for exactly the placeholders that the gang needs"),
        Attribute("known", BoolType(), line=18, about="the application has been added to the scheduler"),
        # of the current state: armed when the state is entered, off when it is left
        Attribute("timer", EnumType(("off", "armed", "ran")), line=20),
    ],
)


def move(event: str, source: str, target: str, *, line: int | None = None, fact: str = "") -> Row:
    """A row that changes the state; a target state with a time-out arms its timer."""
    timer = "armed" if target in TIMED else "off"
    return Row(Application, event, source, target, line=line, fact=fact, timer=timer)


APPLICATION_TABLE = [
    Row(Application, "submit", "New", "New", line=18, known=True),
    move("reject", "New", "Rejected", line=27),
    move("run", "New", "Accepted", line=18),
    move("run", "Accepted", "Starting", line=19),
    move("run", "Starting", "Running", line=20),
    move("run", "Completing", "Running", fact=FIGURE),
    move("run", "Resuming", "Accepted", fact=FIGURE),
    *[move("complete", now, "Completing", line=22) for now in SCHEDULED],
    move("complete", "Completing", "Completed", line=23),
    move("expire", "Completed", "Expired", line=24),
    move("expire", "Failed", "Expired", fact=FIGURE),
    *[move("fail", now, "Failing", line=25) for now in ("New", *SCHEDULED)],
    move("fail", "Failing", "Failed", line=26),
    *[move("resume", now, "Resuming", fact=FIGURE) for now in ("New", "Accepted")],
    Row(Application, "timer_ran", "Starting", "Starting", line=20, timer="ran"),
    Row(Application, "timer_ran", "Completing", "Completing", line=23, timer="ran"),
    Row(Application, "timer_ran", "Completed", "Completed", line=24, timer="ran"),
    Row(Application, "timer_ran", "Failed", "Failed", fact=FIGURE, timer="ran"),
]

# --- What drives applications: asks and timers

ASK = Machine(
    Ask,
    line=18,
    states=[
        State("to_come", about="not yet added"),
        State("pending", line=22),
        State("allocated", line=20),
        State("releasing", line=25),  # the resource manager has been notified, and has not confirmed yet
        State("released", line=22),
        State("removed", line=26),
    ],
    attributes=[
        Attribute("application", Ref(Application), rigid=True),
        Attribute("placeholder", BoolType(), rigid=True, line=25),
        Attribute("node", Ref(Node), line=64),
        Attribute("listed", BoolType(), line=18, about="the ask is in the list of its application, allocated or not"),
    ],
    events=[
        Event("allocate", {"node": Ref(Node)}),
        Event("release", {"dropped": BoolType()}),  # dropped: whether the ask is dropped with the allocation
    ],
)

ASK_TABLE = [
    Row(Ask, "add", "to_come", "pending", line=18, listed=True),
    Row(Ask, "allocate", "pending", "allocated", line=19, node=given("node")),
    Row(Ask, "remove", "pending", "removed", line=22, listed=False),
    *[Row(Ask, "remove", now, now, line=22, listed=False) for now in ("allocated", "releasing", "released")],
    Row(Ask, "drop", "pending", "removed", line=26, listed=False),
    *[Row(Ask, "drop", now, now, line=26, listed=False) for now in ("allocated", "releasing", "released")],
    Row(Ask, "release", "allocated", "releasing", line=25, listed=me.listed & ~given("dropped")),
    *[Row(Ask, "gone", now, "released", line=22, node=NONE) for now in HELD],
]

WAKEUP = Machine(
    Wakeup,
    line=20,
    states=[State("free"), State("under_way")],
    attributes=[
        Attribute("application", Ref(Application)),
        Attribute("of_state", EnumType(TIMED), about="the state that the timer was set for"),
        Attribute("spare", BoolType(), rigid=True, about="stands for none: the configuration has no time-outs"),
    ],
    events=[Event("set_off", {"application": Ref(Application), "of_state": EnumType(TIMED)})],
)

WAKEUP_TABLE = [
    Row(Wakeup, "set_off", "free", "under_way", line=20, application=given("application"), of_state=given("of_state")),
    Row(Wakeup, "arrive", "under_way", "free", line=20, application=NONE, of_state="Starting"),
]

GANG_TIMER = Machine(
    GangTimer,
    line=25,
    states=[State("off"), State("armed"), State("under_way")],
    attributes=[Attribute("application", Ref(Application), rigid=True)],
)

GANG_TIMER_TABLE = [
    Row(GangTimer, "arm", "off", "armed", line=25),
    Row(GangTimer, "stop", "armed", "off", line=25),
    Row(GangTimer, "run_out", "armed", "under_way", line=25),
    Row(GangTimer, "arrive", "under_way", "off", line=25),
]

# --- Nodes (lines 62 to 66)

NODE = Machine(
    Node,
    line=62,
    states=[
        State("to_come", about="not yet added"),
        State("schedulable", line=64),
        State("unschedulable", line=64),
        State("gone"),
    ],
    attributes=[
        Attribute("partition", Ref(Partition), rigid=True),
        Attribute("adjustable", BoolType(), rigid=True, about="may be changed by people", assumed=False),
    ],
)

NODE_TABLE = [
    Row(Node, "create", "to_come", "schedulable", line=66),
    Row(Node, "drain", "schedulable", "unschedulable", line=66),
    Row(Node, "restore", "unschedulable", "schedulable", line=66),
    *[Row(Node, "decommission", now, "gone", line=66) for now in ("schedulable", "unschedulable")],
]

CORE_MACHINES = [PARTITION, QUEUE, APPLICATION, ASK, WAKEUP, GANG_TIMER, NODE]
CORE_TABLE = [
    *object_table(Partition),
    *object_table(Queue),
    *DELETE,
    *APPLICATION_TABLE,
    *ASK_TABLE,
    *WAKEUP_TABLE,
    *GANG_TIMER_TABLE,
    *NODE_TABLE,
]

# Every queue is in a partition; its parent, and every queue above it, is in the same one. Every application has a
# queue, every ask and every gang timer an application, and every node a partition. An application has at most one
# gang timer.
h = variable(GangTimer, "h")
CORE_AXIOMS = [
    forall(q, q.partition != NONE),
    forall([q, u], implies(q.parent == u, (u.partition == q.partition) & q.above.has(u))),
    forall([q, u], implies(q.above.has(u), (u != q) & (u.partition == q.partition) & ~u.above.has(q))),
    forall([q, u, v], implies(q.above.has(u) & u.above.has(v), q.above.has(v))),
    forall(a, a.queue != NONE),
    forall(k, k.application != NONE),
    forall(g, g.application != NONE),
    forall([g, h], implies(g.application == h.application, g == h)),
    forall(n, n.partition != NONE),
]
