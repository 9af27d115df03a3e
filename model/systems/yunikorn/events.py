"""The core's actions and rules, as the document has them: who fires which event of which object.

The document names the events, and says when an application changes its state. The resource manager adds asks,
confirms releases and changes nodes; it may do so at any time.

Of a gang's placeholders the document says only that their processing can time out (line 25). Of Resuming it says
nothing. The model does the least that gives the figure's arrows a meaning; comments mark each such interpretation as
ours.
"""

from schedproof.model.lang import Action, EnumType, Rule, Term, Var, exists, implies, variable

from .machines import FIGURE, HELD, SCHEDULED, TIMED, UNFINISHED, a, g, k, n, p, q, u, w
from .sorts import Ask

o = variable(Ask, "o")

FAILS = ("New", *SCHEDULED)
RESUMES = ("New", "Accepted")


def pending(application: Term, but: Var | None = None) -> Term:
    """True if ``application`` has a pending ask other than ``but``."""
    matches = (o.application == application) & o.is_("pending")
    return exists(o, matches & (o != but) if but is not None else matches)


def held(application: Term, *, placeholder: bool | None = None) -> Term:
    """True if ``application`` has an allocation: of a placeholder, of a real ask, or with None of either."""
    return exists(o, _holds(application, placeholder))


def keeps(application: Term, *, placeholder: bool | None = None) -> Term:
    """True if ``application`` still has an allocation after this step, which ends some."""
    return exists(o, _holds(application, placeholder) & ~o.fires("gone"))


def _holds(application: Term, placeholder: bool | None) -> Term:
    matches = (o.application == application) & o.is_(*HELD)
    return matches if placeholder is None else matches & (o.placeholder if placeholder else ~o.placeholder)


# --- The resource manager adds and removes applications, asks and nodes

ACCEPTS = a.is_("New") & ~a.known & ~a.queue.is_("Draining") & ~a.queue.partition.is_("Draining") & ~a.queue.deleted

submit = Action(
    "submit",
    [a],
    when=[ACCEPTS],
    fires=[a.fires("submit")],
    says="{a} is added to the scheduler",
    line=18,
)

reject = Action(
    "reject",
    [a],
    when=[a.is_("New"), ~a.known],
    fires=[a.fires("reject")],
    says="{a} is rejected: access to its queue is denied, or it can not be placed",
    line=27,
)

TAKES_ASK = k.is_("to_come") & k.application.known & k.application.is_("New", *SCHEDULED, "Completing", "Resuming")

add_ask = Action(
    "add_ask",
    [k],
    when=[TAKES_ASK],
    fires=[k.fires("add")],
    says="ask {k} is added",
    line=18,
)

remove_ask = Action(
    "remove_ask",
    [k],
    when=[k.listed],
    fires=[k.fires("remove")],
    says="ask {k} is removed",
    line=22,
)

end = Action(
    "end",
    [k],
    when=[k.is_(*HELD)],
    fires=[k.fires("gone")],
    says="the container of {k} is gone",
    line=21,
)

# --- The scheduling cycle

SCHEDULABLE = (
    k.is_("pending")
    & k.application.is_(*SCHEDULED)
    & ~k.application.queue.is_("Stopped")
    & ~k.application.queue.partition.is_("Stopped")
    & (n.partition == k.application.queue.partition)
)

allocate = Action(
    "allocate",
    [k, n],
    when=[SCHEDULABLE, n.is_("schedulable")],
    fires=[k.fires("allocate", node=n)],
    says="{k} is allocated on {n}",
    line=19,
)

# --- Timers: a time-out can come late, when the function that it calls has to wait

c = variable(EnumType(TIMED), "c")

run_out = Action(
    "run_out",
    [a, w, c],
    when=[
        a.timer == "armed",
        w.is_("free"),
        *[implies(c == now, a.is_(now)) for now in TIMED],
    ],
    fires=[a.fires("timer_ran"), w.fires("set_off", application=a, of_state=c)],
    says="the time of {a} in {c} is over",
    line=20,
)

wake = Action(
    "wake",
    [w],
    when=[w.is_("under_way")],
    fires=[w.fires("arrive")],
    says="the time-out {w} takes effect",
    line=20,
)

gang_times_out = Action(
    "gang_times_out",
    [g],
    when=[g.is_("armed")],
    fires=[g.fires("run_out")],
    says="the time for the placeholders of the gang {g} is over",
    line=25,
)

gang_wakes = Action(
    "gang_wakes",
    [g],
    when=[g.is_("under_way")],
    fires=[g.fires("arrive")],
    says="the time-out of the gang {g} takes effect",
    line=25,
)

# --- Failing and Resuming end

fail_for_good = Action(
    "fail_for_good",
    [a],
    when=[a.is_("Failing"), ~pending(a), ~held(a)],
    fires=[a.fires("fail")],
    says="nothing of {a} is left, and it has failed",
    line=26,
)

# Our interpretation of an arrow of the figure: a gang that does not start as a gang continues without placeholders.
resume_ends = Action(
    "resume_ends",
    [a],
    when=[a.is_("Resuming"), ~held(a, placeholder=True)],
    fires=[a.fires("run")],
    says="no placeholder of {a} is left, and it goes on",
    fact=FIGURE,
)

# --- Queues and partitions

start_queue = Action(
    "start_queue",
    [q],
    when=[q.adjustable, ~q.deleted, q.is_("Stopped")],
    fires=[q.fires("start")],
    says="queue {q} is started",
    line=55,
)

stop_queue = Action(
    "stop_queue",
    [q],
    when=[q.adjustable, ~q.deleted, q.is_("Active")],
    fires=[q.fires("stop")],
    says="queue {q} is stopped",
    line=56,
)

remove_queue = Action(
    "remove_queue",
    [q],
    when=[q.adjustable, ~q.deleted, q.is_("Active")],
    fires=[q.fires("remove")],
    says="queue {q} is removed",
    line=57,
)


def empty(queue: Var) -> Term:
    """True if ``queue`` has no child and every application in it has ended."""
    unfinished = exists(a, (a.queue == queue) & a.known & a.is_(*UNFINISHED))
    return ~unfinished & ~exists(u, (u.parent == queue) & ~u.deleted)


delete_queue = Action(
    "delete_queue",
    [q],
    when=[~q.deleted, q.is_("Draining", "Stopped"), empty(q)],
    fires=[q.fires("delete")],
    says="queue {q} is empty and taken off the tree",
    line=50,
)

start_partition = Action(
    "start_partition",
    [p],
    when=[p.adjustable, ~p.deleted, p.is_("Stopped")],
    fires=[p.fires("start")],
    says="partition {p} is started",
    line=55,
)

stop_partition = Action(
    "stop_partition",
    [p],
    when=[p.adjustable, ~p.deleted, p.is_("Active")],
    fires=[p.fires("stop")],
    says="partition {p} is stopped",
    line=56,
)

remove_partition = Action(
    "remove_partition",
    [p],
    when=[p.adjustable, ~p.deleted, p.is_("Active")],
    fires=[p.fires("remove")],
    says="partition {p} is removed",
    line=57,
)

delete_partition = Action(
    "delete_partition",
    [p],
    when=[~p.deleted, p.is_("Draining", "Stopped"), ~exists(q, (q.partition == p) & ~q.deleted)],
    fires=[p.fires("delete")],
    says="partition {p} is empty and gone",
    line=50,
)

# --- Nodes (line 66)

create_node = Action(
    "create_node",
    [n],
    when=[n.is_("to_come"), ~n.partition.is_("Draining"), ~n.partition.deleted],
    fires=[n.fires("create")],
    says="node {n} is added",
    line=66,
)

drain_node = Action(
    "drain_node",
    [n],
    when=[n.adjustable, n.is_("schedulable")],
    fires=[n.fires("drain")],
    says="node {n} is made unschedulable",
    line=66,
)

restore_node = Action(
    "restore_node",
    [n],
    when=[n.adjustable, n.is_("unschedulable")],
    fires=[n.fires("restore")],
    says="node {n} is made schedulable",
    line=66,
)

decommission_node = Action(
    "decommission_node",
    [n],
    when=[n.adjustable, n.is_("schedulable", "unschedulable")],
    fires=[n.fires("decommission")],
    says="node {n} is taken away",
    line=66,
)

evict = Action(
    "evict",
    [k],
    when=[k.is_(*HELD), k.node.is_("gone")],
    fires=[k.fires("gone")],
    says="the container of {k} is lost with its node",
    line=66,
)

RESOURCE_MANAGER = [submit, reject, add_ask, remove_ask, end, create_node, drain_node, restore_node, decommission_node]
TIMERS = [run_out, wake, gang_times_out, gang_wakes]
OPERATORS = [
    start_queue,
    stop_queue,
    remove_queue,
    start_partition,
    stop_partition,
    remove_partition,
]
CORE_ACTIONS = [
    *RESOURCE_MANAGER,
    allocate,
    evict,
    *TIMERS,
    fail_for_good,
    resume_ends,
    *OPERATORS,
    delete_queue,
    delete_partition,
]

# --- Rules: which event triggers which

CORE_RULES = [
    # The first ask (line 18), or an ask that arrives before a Completing application has completed (the figure).
    Rule(
        "an ask wakes its application",
        k.fires("add"),
        [k.application.is_("New", "Completing")],
        k.application.fires("run"),
        line=18,
    ),
    Rule(
        "an allocation moves its application on",
        k.fires("allocate"),
        [k.application.is_("Accepted", "Starting")],
        k.application.fires("run"),
        line=20,
    ),
    # "no pending requests or running containers/pod" (line 22)
    Rule(
        "without its last ask an application completes",
        k.fires("remove"),
        [k.application.is_(*SCHEDULED), k.is_("pending"), ~pending(k.application, k), ~held(k.application)],
        k.application.fires("complete"),
        line=22,
    ),
    Rule(
        "without its last container an application completes",
        k.fires("gone"),
        [k.application.is_(*SCHEDULED), ~pending(k.application), ~keeps(k.application)],
        k.application.fires("complete"),
        line=22,
    ),
    # Time-outs (lines 20, 23, 24) have no effect on an application that has left the state that they were set for.
    *[
        Rule(
            f"a time-out ends {now}",
            w.fires("arrive"),
            [w.of_state == now, w.application.is_(now)],
            w.application.fires(event),
            line=line,
        )
        for now, event, line in (
            ("Starting", "run", 20),
            ("Completing", "complete", 23),
            ("Completed", "expire", 24),
            ("Failed", "expire", None),
        )
    ],
    # Our interpretation: "placeholder processing" (line 25) begins with the first ask for a placeholder.
    Rule(
        "the first placeholder arms the gang's timer",
        k.fires("add"),
        [k.placeholder, g.application == k.application, g.is_("off")],
        g.fires("arm"),
        line=25,
    ),
    Rule(
        "the timer of a gang that is done stops",
        a.fires("complete"),
        [g.application == a, g.is_("armed")],
        g.fires("stop"),
        line=25,
    ),
    Rule(
        "a hard gang fails",
        g.fires("arrive"),
        [g.application.style == "Hard", g.application.is_(*FAILS), ~held(g.application, placeholder=False)],
        g.application.fires("fail"),
        line=25,
    ),
    Rule(
        "a soft gang resumes",
        g.fires("arrive"),
        [g.application.style == "Soft", g.application.is_(*RESUMES), ~held(g.application, placeholder=False)],
        g.application.fires("resume"),
        fact=FIGURE,
    ),
    Rule(
        "what resumes drops the placeholders that it has not got",
        a.fires("resume"),
        [k.application == a, k.placeholder, k.is_("pending")],
        k.fires("drop"),
        fact=FIGURE,
    ),
    Rule(
        "what resumes releases its placeholders",
        a.fires("resume"),
        [k.application == a, k.placeholder, k.is_("allocated")],
        k.fires("release", dropped=True),
        fact=FIGURE,
    ),
    # Failing: "what still has some allocations or asks what needs to be cleaned up" (line 25)
    Rule(
        "what fails drops its asks",
        a.fires("fail"),
        [a.is_(*FAILS), k.application == a, k.is_("pending")],
        k.fires("drop"),
        line=25,
    ),
    Rule(
        "what fails releases its allocations",
        a.fires("fail"),
        [a.is_(*FAILS), k.application == a, k.is_("allocated")],
        k.fires("release", dropped=True),
        line=25,
    ),
    # A partition is removed
    Rule(
        "a partition that is removed fails its applications",
        p.fires("remove"),
        [p.is_("Active"), a.queue.partition == p, a.known, a.is_(*FAILS)],
        a.fires("fail"),
        line=25,
    ),
    Rule(
        "a partition that is removed removes its queues",
        p.fires("remove"),
        [p.is_("Active"), q.partition == p, q.is_("Active"), ~q.deleted],
        q.fires("remove"),
        line=51,
    ),
]
