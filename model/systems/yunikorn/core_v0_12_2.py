"""The core of v0.12.2: the same machines, and what fires which event in the code (facts 1 to 3).

The core swaps a gang's placeholders for its real asks. The ask is ``swapping`` from the request to release the
placeholder until its confirmation.

In the code an event that a state has no row for is an error without effect; in the model no rule fires it.

The model leaves out removal of an application by the resource manager, and reservations. It also leaves out the
second ``run`` in the step that swaps the last placeholder of a Resuming application: that takes two placeholders and
two real asks.
"""

from dataclasses import replace

from schedproof.model.lang import (
    NONE,
    Action,
    AlwaysCanReach,
    Attribute,
    BoolType,
    Event,
    Invariant,
    Ref,
    Row,
    Rule,
    State,
    StepInvariant,
    after,
    exists,
    forall,
    given,
    iff,
    implies,
    variable,
)

from . import events as ev
from .events import held, keeps, o, pending
from .machines import ASK, HELD, QUEUE, SCHEDULED, UNFINISHED, a, g, k, n, p, q, u, w, x
from .properties import asks_go_on, only_allocations_have_a_node
from .sorts import Application, Ask, Node

TABLE = "1, application_state.go"
TRIGGERS = "1.2, application.go"

BEGUN = ("Starting", "Running", "Completing")
RUNS = ("New", *SCHEDULED, "Completing", "Resuming")
"""The states with a row for ``run``."""

# --- Machines: an ask can be swapped for a placeholder, or need a particular node; a queue can be dynamic

ASK_SHIPPED = replace(
    ASK,
    states=[*ASK.states, State("swapping", about="a placeholder whose node is being given to the real ask")],
    attributes=[
        *ASK.attributes,
        Attribute("required", BoolType(), rigid=True, about="needs one certain node"),
        Attribute("instead", Ref(Ask), about="the placeholder that the ask is swapped for"),
    ],
    events=[*ASK.events, Event("swap", {"node": Ref(Node), "instead": Ref(Ask)})],
)

# A placement rule creates a dynamic queue for its applications. One that has been swept can be created again; in the
# model that is another queue.
QUEUE_SHIPPED = replace(
    QUEUE,
    attributes=[
        *QUEUE.attributes,
        Attribute("dynamic", BoolType(), rigid=True, about="created by a placement rule"),
    ],
)


def clear(source: str, target: str) -> Row:
    """A row that ends an ask and its allocation: its application is taken out of the core."""
    return Row(Ask, "clear", source, target, fact="1.2, partition.go:385", listed=False, node=NONE, instead=NONE)


# With its partition an application is taken out of the core: its timers stop, and nothing of it is left.
DISCARDED = [
    Row(Application, "discard", "Failing", "Failed", fact="1.2, partition_manager.go:150", timer="off"),
    Row(Application, "discard", "Completing", "Completed", fact="1.2, partition.go:385", timer="off"),
]

ROWS = [
    Row(Application, "run", "Running", "Running", fact=f"{TABLE}:92"),
    *[Row(Application, "timer_off", now, now, fact="1.3, application.go:259", timer="off") for now in ("Completing",)],
    Row(Ask, "swap", "pending", "swapping", fact="1.2", node=given("node"), instead=given("instead")),
    Row(Ask, "confirm", "swapping", "allocated", fact="1.2", instead=NONE),
    Row(Ask, "revert", "swapping", "pending", fact="3, partition.go:694", node=NONE, instead=NONE),
    Row(Ask, "remove", "swapping", "swapping", fact="1.2", listed=False),
    Row(Ask, "drop", "swapping", "swapping", fact="1.3, application.go:315", listed=False),
    Row(Ask, "give_up", "swapping", "removed", fact="3, partition.go:694", listed=False, node=NONE, instead=NONE),
    *[clear(now, "removed") for now in ("pending", "swapping", "removed")],
    *[clear(now, "released") for now in (*HELD, "released")],
    *DISCARDED,
    Row(Node, "restore", "schedulable", "schedulable", fact="3"),
]

# --- Actions

PARTITION_EXISTS = ~k.application.queue.partition.deleted
UNKNOWN = a.is_("New") & ~a.known
TERMINATED = ("Completed", "Expired", "Failed", "Rejected")

submit = replace(
    ev.submit,
    when=[
        UNKNOWN,
        ~a.queue.deleted,
        ~a.queue.partition.is_("Draining", "Stopped"),
        ~a.queue.partition.deleted,
    ],
    line=None,
    fact="1.2, partition.go:295",
)

add_ask = replace(
    ev.add_ask,
    when=[
        k.is_("to_come"),
        k.application.known,
        ~k.application.is_(*TERMINATED),
        PARTITION_EXISTS,
    ],
)

remove_ask = replace(ev.remove_ask, when=[*ev.remove_ask.when, PARTITION_EXISTS])
end = replace(ev.end, when=[*ev.end.when, PARTITION_EXISTS])

create_node = replace(
    ev.create_node, when=[*ev.create_node.when, ~n.partition.is_("Stopped")], line=None, fact="2, partition.go:551"
)

# The scheduler visits the queues from the root down, and skips all below a Stopped one (facts 2, queue.go:869). It does
# not test the root's own state; the queues of the model are those below the root.
MAY_BE_SCHEDULED = (
    k.is_("pending")
    & ~k.application.queue.is_("Stopped")
    & ~exists(u, k.application.queue.above.has(u) & u.is_("Stopped"))
    & ~k.application.queue.partition.is_("Stopped")
    & PARTITION_EXISTS
    & (n.partition == k.application.queue.partition)
)

# The gang has the placeholders that it was said to need: "exact" says that it asks for no more and no fewer.
OTHERS_ARE_THERE = ~exists(o, (o.application == k.application) & o.placeholder & (o != k) & ~o.is_(*HELD))
f = variable(BoolType(), "f")

allocate = Action(
    "allocate",
    [k, n, f],
    when=[
        MAY_BE_SCHEDULED,
        n.is_("schedulable") | (k.required & n.is_("unschedulable")),
        implies(f, k.placeholder),
        implies(k.application.exact & k.placeholder, (f & OTHERS_ARE_THERE) | (~f & ~OTHERS_ARE_THERE)),
    ],
    fires=[k.fires("allocate", node=n)],
    says="{k} is allocated on {n} (all placeholders are there: {f})",
    fact="1.2, application.go:1228",
)

swap = Action(
    "swap",
    [k, x, n],
    when=[
        MAY_BE_SCHEDULED,
        ~k.placeholder,
        x.placeholder,
        x.application == k.application,
        x.is_("allocated"),
        n.is_("schedulable") | ((x.node == n) & n.is_("unschedulable")),
    ],
    fires=[k.fires("swap", node=n, instead=x), x.fires("release", dropped=False)],
    says="{k} is to take the place of the placeholder {x}, on {n}",
    fact="3, application.go:834",
)

remove_queue = replace(
    ev.remove_queue,
    when=[q.adjustable, ~q.deleted, q.is_("Active"), ~q.dynamic],
    says="queue {q} is left out of the new configuration",
    line=None,
    fact="2, partition.go:236",
)

# Nothing makes a dynamic queue Draining: the sweep takes it as it is.
delete_queue = replace(
    ev.delete_queue,
    when=[~q.deleted, q.is_("Draining") | (q.is_("Active") & q.dynamic), ev.empty(q)],
    line=None,
    fact="2, partition_manager.go:111",
)

remove_partition = replace(
    ev.remove_partition,
    when=[p.adjustable, ~p.deleted],
    fires=[p.fires("delete")],
    says="partition {p} is left out of the new configuration, and deleted",
    fact="2, partition_manager.go:144",
)

restore_node = replace(ev.restore_node, when=[n.adjustable, n.is_("schedulable", "unschedulable")])

ACTIONS = [
    submit,
    add_ask,
    remove_ask,
    end,
    create_node,
    allocate,
    swap,
    remove_queue,
    delete_queue,
    remove_partition,
    restore_node,
]

NEVER_DONE = [
    # nobody fires these (facts 1.2, 2)
    "reject",
    "start_queue",
    "stop_queue",
    "start_partition",
    "stop_partition",
    "delete_partition",
    # the removal of the last ask or allocation does these
    "fail_for_good",
    "resume_ends",
]

# --- What fires which event of the application (facts 1.2)

REAL = ~k.placeholder
LAST_PLACEHOLDER = k.placeholder & ~keeps(k.application, placeholder=True)
# its timer ran out while placeholders were left, and was cleared
WAITS_FOR_PLACEHOLDERS = k.application.is_("Completing") & (k.application.timer == "off")

# The first case of the gang's time-out (facts 1.3); a late one finds it without placeholders.
HAS_BEGUN = g.application.is_(*BEGUN) & held(g.application, placeholder=True)

RULES = [
    Rule(
        "an ask wakes its application",
        k.fires("add"),
        [k.application.is_("New", "Completing")],
        k.application.fires("run"),
        fact=f"{TRIGGERS}:517",
    ),
    Rule(
        "an allocation moves its application on",
        k.fires("allocate"),
        [REAL, k.application.is_(*RUNS)],
        k.application.fires("run"),
        fact=f"{TRIGGERS}:1246",
    ),
    Rule(
        "the last placeholder of a gang moves its application on",
        allocate,
        [f, k.application.is_(*RUNS)],
        k.application.fires("run"),
        fact=f"{TRIGGERS}:1228",
    ),
    Rule(
        "a swap is confirmed",
        x.fires("gone"),
        [k.instead == x, ~(x.node.is_("gone") & (k.node == x.node))],
        k.fires("confirm"),
        fact="3, application.go:834",
    ),
    Rule(
        "a swap on the placeholder's own node goes with it",
        x.fires("gone"),
        [k.instead == x, x.node.is_("gone"), k.node == x.node, k.listed],
        k.fires("revert"),
        fact="3, partition.go:694",
    ),
    Rule(
        "a swap on the placeholder's own node ends with it if its ask has been removed",
        x.fires("gone"),
        [k.instead == x, x.node.is_("gone"), k.node == x.node, ~k.listed],
        k.fires("give_up"),
        fact="3, partition.go:694",
    ),
    Rule(
        "a swap moves its application on, but not the first",
        k.fires("confirm"),
        [
            k.application.is_(*RUNS),
            held(k.application, placeholder=False),
            ~(k.application.is_("Resuming") & ~keeps(k.application, placeholder=True)),
            ~(WAITS_FOR_PLACEHOLDERS & ~keeps(k.application, placeholder=True)),
        ],
        k.application.fires("run"),
        fact=f"{TRIGGERS}:1246",
    ),
    Rule(
        "without placeholders a Resuming application goes on",
        k.fires("gone"),
        [LAST_PLACEHOLDER, k.application.is_("Resuming")],
        k.application.fires("run"),
        fact=f"{TRIGGERS}:1311",
    ),
    Rule(
        "without its last ask an application completes",
        k.fires("remove"),
        [k.application.is_(*SCHEDULED), ~pending(k.application, k), ~held(k.application, placeholder=False)],
        k.application.fires("complete"),
        fact=f"{TRIGGERS}:473",
    ),
    Rule(
        "without its last container an application completes",
        k.fires("gone"),
        [
            REAL,
            k.application.is_(*SCHEDULED, "Completing"),
            ~pending(k.application),
            ~keeps(k.application, placeholder=False),
        ],
        k.application.fires("complete"),
        fact=f"{TRIGGERS}:1332",
    ),
    Rule(
        "without its last placeholder an application whose time is over is completed",
        k.fires("gone"),
        [LAST_PLACEHOLDER, WAITS_FOR_PLACEHOLDERS],
        k.application.fires("complete"),
        fact=f"{TRIGGERS}:1314",
    ),
    Rule(
        "without its last placeholder a Failing application has failed",
        k.fires("gone"),
        [LAST_PLACEHOLDER, k.application.is_("Failing")],
        k.application.fires("fail"),
        fact=f"{TRIGGERS}:1316",
    ),
    # --- Time-outs (facts 1.3)
    Rule(
        "a time-out ends Completing",
        w.fires("arrive"),
        [w.of_state == "Completing", w.application.is_("Completing"), ~held(w.application, placeholder=True)],
        w.application.fires("complete"),
        fact=f"{TRIGGERS}:251",
    ),
    Rule(
        "a time-out of Completing waits for placeholders",
        w.fires("arrive"),
        [w.of_state == "Completing", w.application.is_("Completing"), held(w.application, placeholder=True)],
        w.application.fires("timer_off"),
        fact=f"{TRIGGERS}:259",
    ),
    Rule(
        "a time-out of Completing releases placeholders",
        w.fires("arrive"),
        [
            w.of_state == "Completing",
            w.application.is_("Completing"),
            k.application == w.application,
            k.placeholder,
            k.is_("allocated"),
        ],
        k.fires("release", dropped=False),
        fact=f"{TRIGGERS}:259",
    ),
    # --- Gangs (facts 1.3)
    Rule(
        "the first placeholder arms the gang's timer",
        k.fires("allocate"),
        [
            k.placeholder,
            k.application.is_("Accepted"),
            ~held(k.application, placeholder=True),
            g.application == k.application,
            g.is_("off"),
        ],
        g.fires("arm"),
        fact="1.3, application.go:294",
    ),
    Rule(
        "the last placeholder stops the gang's timer",
        k.fires("gone"),
        [LAST_PLACEHOLDER, g.application == k.application, g.is_("armed")],
        g.fires("stop"),
        fact="1.3",
    ),
    Rule(
        "the timer of a gang that is done stops",
        a.fires("complete"),
        [a.is_("Completing"), g.application == a, g.is_("armed")],
        g.fires("stop"),
        fact="1.3",
    ),
    Rule(
        "a hard gang fails",
        g.fires("arrive"),
        [g.application.style == "Hard", g.application.is_("New", *SCHEDULED, "Failing"), ~HAS_BEGUN],
        g.application.fires("fail"),
        fact=f"{TRIGGERS}:337",
    ),
    Rule(
        "a soft gang resumes",
        g.fires("arrive"),
        [g.application.style == "Soft", g.application.is_(*ev.RESUMES)],
        g.application.fires("resume"),
        fact=f"{TRIGGERS}:345",
    ),
    Rule(
        "a gang that has not begun drops its asks",
        g.fires("arrive"),
        [
            ~HAS_BEGUN,
            k.application == g.application,
            k.listed,
            ~(k.placeholder & k.is_("allocated")),
        ],
        k.fires("drop"),
        fact="1.3, application.go:315",
    ),
    Rule(
        "a gang that has not begun releases its placeholders",
        g.fires("arrive"),
        [~HAS_BEGUN, k.application == g.application, k.placeholder, k.is_("allocated")],
        k.fires("release", dropped=True),
        fact="1.3, application.go:315",
    ),
    Rule(
        "a gang that has begun releases its placeholders",
        g.fires("arrive"),
        [HAS_BEGUN, k.application == g.application, k.placeholder, k.is_("allocated")],
        k.fires("release", dropped=False),
        fact="1.3, application.go:315",
    ),
    # --- Partitions, queues, nodes
    Rule(
        "a partition that is removed fails its applications",
        p.fires("delete"),
        [a.queue.partition == p, a.known, a.is_(*ev.FAILS)],
        a.fires("fail"),
        fact="1.2, partition_manager.go:150",
    ),
    Rule(
        "a partition that is removed ends what fails or completes",
        p.fires("delete"),
        [a.queue.partition == p, a.is_("Failing", "Completing")],
        a.fires("discard"),
        fact="1.2, partition.go:385",
    ),
    Rule(
        "a partition that is removed clears its asks and allocations",
        p.fires("delete"),
        [k.application.queue.partition == p, k.application.is_(*UNFINISHED), ~k.is_("to_come")],
        k.fires("clear"),
        fact="1.2, partition.go:385",
    ),
    Rule(
        "a partition that is removed stops the timers of its gangs",
        p.fires("delete"),
        [g.application.queue.partition == p, g.is_("armed")],
        g.fires("stop"),
        fact="1.3",
    ),
    Rule(
        "a partition that is removed removes its queues",
        p.fires("delete"),
        [q.partition == p, q.is_("Active"), ~q.deleted, ~q.dynamic],
        q.fires("remove"),
        fact="2, partition_manager.go:144",
    ),
    Rule(
        "a queue that is removed removes those below it",
        remove_queue,
        [u.above.has(q), u.is_("Active"), ~u.deleted, ~u.dynamic],
        u.fires("remove"),
        fact="2, queue.go:672",
    ),
]

NOTHING_IS_STOPPED = Invariant(
    name="no-partition-is-stopped",
    says="no partition is Stopped",
    over=[p],
    then=~p.is_("Stopped"),
)
"""Nothing fires Start and Stop (fact 2)."""

PHASES = [
    NOTHING_IS_STOPPED,
    Invariant(
        name="listed-since-it-was-added",
        says="what an application lists has been added",
        over=[k],
        given=k.listed,
        then=k.is_("pending", "swapping", *HELD, "released"),
    ),
    Invariant(
        name="allocations-have-a-node",
        says="an ask has a node as long as it holds an allocation, or is to get one",
        over=[k],
        given=k.is_(*HELD, "swapping"),
        then=k.node != NONE,
    ),
    Invariant(
        name="swaps-are-for-placeholders",
        says="a real ask replaces only a placeholder of its own application",
        over=[k, x],
        given=k.is_("swapping") & (k.instead == x),
        then=~k.placeholder & x.placeholder & (x.application == k.application) & ~x.is_("to_come", "pending"),
    ),
    Invariant(
        name="swaps-are-for-something",
        says="exactly an ask that replaces a placeholder refers to one",
        over=[k],
        then=iff(k.is_("swapping"), k.instead != NONE),
    ),
    Invariant(
        name="one-swap-for-a-placeholder",
        says="no two asks replace the same placeholder",
        over=[k, o, x],
        given=(k.instead == x) & (o.instead == x),
        then=k == o,
    ),
    Invariant(
        name="swaps-release-their-placeholder",
        says="a placeholder that is being replaced is being released",
        over=[k, x],
        given=k.instead == x,
        then=x.is_("releasing"),
    ),
]

OF_SWAPS = [
    asks_go_on(
        ("pending", ("pending", "swapping", "allocated", "removed")),
        ("swapping", ("swapping", "pending", "allocated", "removed")),
    ),
    only_allocations_have_a_node(*HELD, "swapping"),
]
SWEEP = AlwaysCanReach(
    name="dynamic-queues-can-go",
    says="a dynamic queue that is empty can be taken off the tree",
    over=[q],
    given=q.dynamic & ~q.partition.deleted & ev.empty(q),
    goal=q.deleted,
)
"""What the facts require of queues (2, partition_manager.go:111)."""

FIRST_PLACEHOLDER = (
    k.fires("allocate")
    & k.placeholder
    & (k.application == g.application)
    & k.application.is_("Accepted")
    & ~held(k.application, placeholder=True)
)
GANGS = [
    StepInvariant(
        name="the-first-placeholder-starts-the-time",
        says="the time for placeholders runs when an Accepted application has got its first one",
        over=[k, g],
        given=FIRST_PLACEHOLDER,
        then=after(~g.is_("off")),
    ),
    StepInvariant(
        name="only-the-first-placeholder-starts-the-time",
        says="the time for placeholders begins only when an Accepted application gets its first one",
        over=[g],
        given=g.is_("off") & after(~g.is_("off")),
        then=exists(k, FIRST_PLACEHOLDER),
    ),
    StepInvariant(
        name="a-gang-starts-with-its-last-placeholder",
        says="a gang with exactly the placeholders that it needs is Starting when the last one is allocated, and not before",
        over=[k, a],
        given=k.fires("allocate") & k.placeholder & (k.application == a) & a.is_("Accepted") & a.exact,
        then=iff(
            after(a.is_("Starting")),
            forall(o, implies((o.application == a) & o.placeholder, after(o.is_(*HELD)))),
        ),
    ),
    StepInvariant(
        name="the-time-of-a-gang-gives-its-placeholders-back",
        says="when the time for the placeholders of a gang is over, those that it has are released",
        line=25,
        sentence="The application can be Failing when the partition it belongs to is removed or during gang scheduling, if the placeholder processing times out, and the application has no real allocations yet.",
        over=[g, k],
        given=g.fires("arrive") & (k.application == g.application) & k.placeholder,
        then=after(~k.is_("allocated")),
    ),
]
"""What the facts require of gangs (1.2, application.go:1228; 1.3, application.go:294 and 315)."""

WITH_THE_PARTITION = [
    *[row.name for row in DISCARDED],
    "a partition that is removed ends what fails or completes",
    "a partition that is removed clears its asks and allocations",
    "a partition that is removed stops the timers of its gangs",
]
"""What happens in v0.12.2 to applications that have not ended when their partition is removed."""

REPLACED = [
    "what resumes drops the placeholders that it has not got",
    "what resumes releases its placeholders",
    "what fails drops its asks",
    "what fails releases its allocations",
]
