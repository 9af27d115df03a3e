"""The changes to v0.12.2 that make it satisfy the document's properties.

``variants`` combines them and says why; ``weakened_properties`` has the properties that the repaired core satisfies in another
form.
"""

from dataclasses import replace

from schedproof.model.lang import (
    NONE,
    Action,
    AlwaysCanReach,
    Invariant,
    Model,
    Row,
    Rule,
    StepInvariant,
    Term,
    after,
    exists,
)
from schedproof.model.lang.model import Element
from schedproof.model.lang.terms import both

from . import core_v0_12_2
from . import events as ev
from .channel import e
from .events import FAILS, held, keeps, o, pending
from .machines import FINISHED, HELD, SCHEDULED, UNFINISHED, a, g, k, move, n, p, q, u, w, x
from .objects import NODES as OF_NODES
from .objects import QUEUES as OF_QUEUES
from .properties import APPLICATIONS
from .shim_messages import DELIVER
from .sorts import Application, GangTimer, Partition, Queue, Wakeup

AS_WRITTEN = {rule.name: rule for rule in ev.CORE_RULES}


def swapping(application: Term) -> Term:
    """True if a real ask of ``application`` waits to replace a placeholder."""
    return exists(o, (o.application == application) & o.is_("swapping"))


# --- A time-out belongs to one stay in a state

LAPSE = Row(Wakeup, "lapse", "under_way", "free", line=23, application=NONE, of_state="Starting")
LAPSES = [
    Rule(
        f"{event} takes back a time-out that is under way",
        a.fires(event),
        [w.application == a, w.is_("under_way"), ~w.fires("arrive")],
        w.fires("lapse"),
        line=23,
    )
    for event in ("run", "complete", "fail", "expire")
]

TAKEN_BACK = ("armed", "under_way")
GANG_LAPSES: list[Element] = [
    StepInvariant(
        name="the-time-of-a-gang-runs-on",
        says="the time for the placeholders of a gang stops only when it has taken effect, or when none is left",
        line=25,
        over=[g],
        given=~g.is_("off") & after(g.is_("off")) & ~g.fires("arrive"),
        then=after(~held(g.application, placeholder=True)),
    ),
    Row(GangTimer, "stop", "under_way", "off", line=25),
    Rule(
        "the last placeholder stops the gang's timer",
        k.fires("gone"),
        [core_v0_12_2.LAST_PLACEHOLDER, g.application == k.application, g.is_(*TAKEN_BACK)],
        g.fires("stop"),
        fact="1.3",
    ),
    Rule(
        "the timer of a gang that is done stops",
        a.fires("complete"),
        [a.is_("Completing"), g.application == a, g.is_(*TAKEN_BACK)],
        g.fires("stop"),
        fact="1.3",
    ),
]

# --- An application completes when nothing of it is left, placeholders included

SWAP_TO_COME = exists(o, (o.application == k.application) & o.is_("swapping") & ~o.fires("give_up"))
NOTHING_TO_COME = k.application.is_(*SCHEDULED) & ~pending(k.application, k) & ~SWAP_TO_COME
LEFT_OVER = (x.application == k.application) & x.placeholder & x.is_("allocated") & ~x.fires("gone")

NOTHING_LEFT: list[Element] = [
    StepInvariant(
        name="leftover-placeholders-are-released",
        says="when an application loses its last request or container, the placeholders that it has are released",
        line=22,
        over=[k, x],
        given=((k.fires("remove") & k.is_("pending")) | (k.fires("gone") & ~k.placeholder))
        & k.application.is_(*SCHEDULED)
        & (x.application == k.application)
        & x.placeholder
        & after(
            ~pending(k.application)
            & ~held(k.application, placeholder=False)
            & ~exists(o, (o.application == k.application) & o.is_("swapping"))
        ),
        then=after(~x.is_("allocated")),
    ),
    Rule(
        "without its last ask an application completes",
        k.fires("remove"),
        [k.is_("pending"), NOTHING_TO_COME, ~held(k.application)],
        k.application.fires("complete"),
        line=22,
    ),
    Rule(
        "without its last container an application completes",
        k.fires("gone"),
        [NOTHING_TO_COME, ~keeps(k.application)],
        k.application.fires("complete"),
        line=22,
    ),
    *[
        Rule(
            f"{event} releases the placeholders that are left over",
            k.fires(event),
            [begun, NOTHING_TO_COME, ~keeps(k.application, placeholder=False), LEFT_OVER],
            x.fires("release", dropped=False),
            line=22,
        )
        for event, begun in (("remove", k.is_("pending")), ("gone", ~k.placeholder))
    ],
    AS_WRITTEN["a time-out ends Completing"],
]
PLACEHOLDERS_IN_COMPLETING = [
    "Application.timer_off from Completing",
    "a time-out of Completing waits for placeholders",
    "a time-out of Completing releases placeholders",
    "without its last placeholder an application whose time is over is completed",
]

# --- A swap for a placeholder counts as an allocation

IN_THE_CYCLE = k.application.is_(*SCHEDULED)
ALLOCATIONS_COUNT = [
    Rule(
        "an allocation moves its application on",
        k.fires("allocate"),
        [~k.placeholder, IN_THE_CYCLE],
        k.application.fires("run"),
        line=20,
    ),
    Rule(
        "a placeholder moves an application on that has begun",
        k.fires("allocate"),
        [k.placeholder, k.application.is_("Starting")],
        k.application.fires("run"),
        line=20,
    ),
    Rule(
        "the last placeholder of a gang moves its application on",
        core_v0_12_2.allocate,
        [core_v0_12_2.f, k.application.is_("Accepted")],
        k.application.fires("run"),
        line=19,
    ),
    Rule(
        "a swap moves its application on",
        k.fires("confirm"),
        [IN_THE_CYCLE],
        k.application.fires("run"),
        line=20,
    ),
]

# --- What fails is cleaned up, and so is a partition

FAILING_ENDS: list[Element] = [
    Invariant(
        name="failing-lists-nothing",
        says="a Failing application lists no ask",
        line=26,
        over=[k],
        given=k.application.is_("Failing"),
        then=~k.listed,
    ),
    Rule(
        "what fails drops its asks",
        a.fires("fail"),
        [a.is_(*FAILS), k.application == a, k.listed, ~k.is_("allocated", "swapping")],
        k.fires("drop"),
        line=25,
    ),
    Rule(
        "what fails gives up its swaps",
        a.fires("fail"),
        [a.is_(*FAILS), k.application == a, k.is_("swapping")],
        k.fires("give_up"),
        line=25,
    ),
    AS_WRITTEN["what fails releases its allocations"],
    ev.fail_for_good,
]

# --- A partition drains before it goes

PARTITIONS_DRAIN: list[Element] = [
    # An application that was Resuming when its partition was removed could not fail then.
    Action(
        "fail_late",
        [a],
        when=[a.known, a.is_(*FAILS), a.queue.partition.is_("Draining")],
        fires=[a.fires("fail")],
        says="{a} fails, since its partition is removed",
        line=25,
    ),
    ev.remove_partition,
    ev.delete_partition,
    Rule(
        "a partition that is removed fails its applications",
        p.fires("remove"),
        [p.is_("Active", "Stopped"), a.queue.partition == p, a.known, a.is_(*FAILS)],
        a.fires("fail"),
        line=25,
    ),
    StepInvariant(
        name="removed-partitions-drain-their-queues",
        says="when a partition is removed, all queues of it that have been configured are Draining",
        line=51,
        over=[p, q],
        given=p.fires("remove") & (q.partition == p) & ~q.deleted & ~q.dynamic,
        then=after(q.is_("Draining")),
    ),
    Rule(
        "a partition that is removed removes its queues",
        p.fires("remove"),
        [q.partition == p, q.is_("Active", "Stopped"), ~q.deleted, ~q.dynamic],
        q.fires("remove"),
        line=51,
    ),
]

# --- The resource manager removes an application, and all of it goes at once

REMOVE_APPLICATION = Action(
    "remove_application",
    [a],
    when=[a.known, a.is_(*UNFINISHED)],
    fires=[a.fires("forget")],
    says="{a} is removed by the resource manager",
    fact="1.2, partition.go:385",
)
QUEUES_GO, PARTITIONS_GO = [
    replace(prop, without=[REMOVE_APPLICATION.name])
    for prop in OF_QUEUES
    if isinstance(prop, AlwaysCanReach) and prop.name in ("draining-queues-go", "draining-partitions-go")
]

REMOVAL: list[Element] = [
    REMOVE_APPLICATION,
    # The document's reachability properties must hold without this action.
    *[
        replace(prop, without=[*prop.without, REMOVE_APPLICATION.name])
        for prop in (*APPLICATIONS, *OF_NODES)
        if isinstance(prop, AlwaysCanReach)
    ],
    QUEUES_GO,
    LAPSE,
    Row(GangTimer, "stop", "under_way", "off", line=25),
    Row(Application, "forget", "New", "New", fact="1.2, partition.go:385", known=False),
    Row(Application, "forget", "Completing", "Completing", fact="1.2, partition.go:385", known=False),
    *[
        Row(Application, "forget", now, "Completing", fact="1.2, partition.go:385", timer="armed", known=False)
        for now in (*SCHEDULED, "Resuming")
    ],
    Row(Application, "forget", "Failing", "Failed", line=26, timer="off"),
    StepInvariant(
        name="what-is-removed-has-nothing",
        says="an application that the resource manager removes has no pending ask and no allocation, and none on its way",
        over=[a],
        given=a.fires("forget"),
        then=after((~a.known | a.is_("Failed")) & ~pending(a) & ~held(a) & ~swapping(a)),
    ),
    Rule(
        "what is removed has no asks and no allocations any more",
        a.fires("forget"),
        [k.application == a, ~k.is_("to_come")],
        k.fires("clear"),
        fact="1.2, partition.go:385",
    ),
    Rule(
        "the gang's timer of what is removed stops",
        a.fires("forget"),
        [g.application == a, g.is_(*TAKEN_BACK)],
        g.fires("stop"),
        fact="1.3",
    ),
    Rule(
        "forget takes back a time-out that is under way",
        a.fires("forget"),
        [~a.is_("Completing"), w.application == a, w.is_("under_way")],
        w.fires("lapse"),
        line=23,
    ),
]
REMOVED = Invariant(
    name="unknown-applications-have-not-begun",
    says="an application that has not been added, or has been removed, is New, Completing or at its end",
    over=[a],
    given=~a.known,
    then=a.is_("New", "Completing", *FINISHED),
)
OPEN_ASKS = Invariant(
    name="open-asks-are-of-known-applications",
    says="an application with pending asks or allocations is known",
    over=[k],
    given=k.listed | k.is_("pending", "swapping", *HELD),
    then=k.application.known,
)

# --- A gang with a real allocation continues

NOT_BEGUN = ~held(g.application, placeholder=False) & ~swapping(g.application)
TIMED_OUT = g.fires("arrive") & (g.application == a) & a.is_("Accepted") & ~held(a, placeholder=False) & ~swapping(a)
GANGS: list[Element] = [
    *[
        StepInvariant(
            name=f"a-{style.lower()}-gang-is-{state.lower()}-after-its-time",
            says=f"a {style} gang that is Accepted and has nothing real when the time of its placeholders is over is {state}",
            line=25,
            sentence="The application can be Failing when the partition it belongs to is removed or during gang scheduling, if the placeholder processing times out, and the application has no real allocations yet.",
            over=[a, g],
            given=TIMED_OUT & (a.style == style),
            then=after(a.is_(state)),
        )
        for style, state in (("Hard", "Failing"), ("Soft", "Resuming"))
    ],
    Rule(
        "a hard gang fails",
        g.fires("arrive"),
        [g.application.style == "Hard", g.application.is_("Accepted"), NOT_BEGUN],
        g.application.fires("fail"),
        line=25,
    ),
    Rule(
        "a soft gang resumes",
        g.fires("arrive"),
        [g.application.style == "Soft", g.application.is_("Accepted"), NOT_BEGUN],
        g.application.fires("resume"),
        fact="1.2, application.go:345",
    ),
    Rule(
        "what resumes releases its placeholders",
        a.fires("resume"),
        [k.application == a, k.placeholder, k.is_("allocated")],
        k.fires("release", dropped=True),
        fact="1.3, application.go:315",
    ),
    Rule(
        "a gang that has begun releases its placeholders",
        g.fires("arrive"),
        [
            ~(g.application.is_("Accepted") & NOT_BEGUN),
            k.application == g.application,
            k.placeholder,
            k.is_("allocated"),
        ],
        k.fires("release", dropped=False),
        line=25,
    ),
]

# --- An application that resumes keeps its real asks

PLACEHOLDERS_ARE_DROPPED = StepInvariant(
    name="resuming-gives-up-its-placeholders",
    says="a gang that resumes lists no placeholder's ask, and those that it has are to be released",
    over=[a, k],
    given=a.fires("resume") & (k.application == a) & k.placeholder,
    then=after(~k.listed & ~k.is_("pending", "allocated")),
)
DROPPED_BY_RESUMING = Rule(
    "what resumes drops its placeholders' asks",
    a.fires("resume"),
    [k.application == a, k.placeholder, k.listed, ~k.is_("allocated")],
    k.fires("drop"),
    fact="1.3, application.go:315",
)

# --- Resuming ends when no placeholder is left, also if there was none

RESUMING_ENDS: list[Element] = [
    StepInvariant(
        name="resuming-waits-for-its-placeholders",
        says="a Resuming application goes on only when it has no placeholder any more",
        over=[a],
        given=a.is_("Resuming") & after(~a.is_("Resuming")),
        then=after(~held(a, placeholder=True)),
    ),
    ev.resume_ends,
]

# --- What resumes with nothing left completes

IS_LEFT = pending(a)
RESUMES_WITH_NOTHING: list[Element] = [
    StepInvariant(
        name="what-has-resumed-is-not-removed",
        says="an application that goes on from Resuming is known",
        on=["resume_ends", "resume_completes"],
        over=[],
        then=after(a.known),
    ),
    StepInvariant(
        name="resuming-goes-on-as-accepted",
        says="a Resuming application that goes on is Accepted, or Completing if nothing of it is left",
        over=[a],
        given=a.is_("Resuming") & after(~a.is_("Resuming")),
        then=after(a.is_("Accepted") | (a.is_("Completing") & ~pending(a) & ~held(a))),
    ),
    move("complete", "Resuming", "Completing", line=22),
    replace(ev.resume_ends, when=[*ev.resume_ends.when, IS_LEFT]),
    replace(
        ev.resume_ends,
        name="resume_completes",
        when=[*ev.resume_ends.when, ~IS_LEFT],
        fires=[a.fires("complete")],
        says="no placeholder of {a} is left, nor anything else: it completes",
        line=22,
    ),
]

# --- Only usable nodes are used

USABLE = k.node.is_("schedulable")
ALLOCATE, SWAP = (
    replace(action, when=[n.is_("schedulable"), *action.when]) for action in (core_v0_12_2.allocate, core_v0_12_2.swap)
)
USABLE_NODES: list[Element] = [
    StepInvariant(
        name="swaps-end-with-their-placeholder",
        says="when a placeholder is gone, the ask that replaces it is allocated if its node can be used, else pending again unless it has been removed",
        line=64,
        over=[k, x],
        given=(k.instead == x) & x.fires("gone"),
        then=after(k.is_("allocated")) & USABLE
        | after(k.is_("pending")) & ~USABLE & k.listed
        | after(k.is_("removed")) & ~USABLE & ~k.listed,
    ),
    Invariant(
        name="swaps-are-to-nodes-that-are-there",
        says="what is to replace a placeholder is to go on a node that has not been taken away",
        line=64,
        over=[k],
        given=k.is_("swapping"),
        then=k.node.is_("schedulable", "unschedulable"),
    ),
    Rule(
        "a swap is confirmed",
        x.fires("gone"),
        [k.instead == x, USABLE],
        k.fires("confirm"),
        line=64,
    ),
    Rule(
        "a swap to a node that can not be used is called off",
        x.fires("gone"),
        [k.instead == x, ~USABLE, k.listed],
        k.fires("revert"),
        line=64,
    ),
    Rule(
        "a swap to a node that can not be used ends if its ask has been removed",
        x.fires("gone"),
        [k.instead == x, ~USABLE, ~k.listed],
        k.fires("give_up"),
        line=64,
    ),
    Rule(
        "a node that goes calls off the swaps to it",
        n.fires("decommission"),
        [k.is_("swapping"), k.node == n, k.listed],
        k.fires("revert"),
        line=64,
    ),
    Rule(
        "a node that goes ends the swaps to it whose ask has been removed",
        n.fires("decommission"),
        [k.is_("swapping"), k.node == n, ~k.listed],
        k.fires("give_up"),
        line=64,
    ),
    ALLOCATE,
    SWAP,
]

# --- The scheduler considers only applications in the scheduling cycle

CYCLE: list[Element] = [
    Invariant(
        name="swaps-are-of-the-cycle",
        says="only an application in the scheduling cycle has an ask that is to replace a placeholder",
        line=19,
        over=[k],
        given=k.is_("swapping"),
        then=k.application.is_(*SCHEDULED),
    ),
    replace(core_v0_12_2.remove_ask, when=[*core_v0_12_2.remove_ask.when, ~k.application.is_(*FINISHED)]),
    replace(
        ev.add_ask, when=[ev.TAKES_ASK, core_v0_12_2.PARTITION_EXISTS, ~k.application.queue.partition.is_("Draining")]
    ),
    *[replace(action, when=[IN_THE_CYCLE, *action.when]) for action in (ALLOCATE, SWAP)],
]


SWAPS_OF_A_NODE = [
    "a swap on the placeholder's own node goes with it",
    "a swap on the placeholder's own node ends with it if its ask has been removed",
]


def rejected(core: Model) -> Rule:
    """A rule: an application that ``core`` refuses to add for the shim is Rejected (line 27)."""
    guard = both(list(core.action("submit").when))
    return Rule(
        "what is not added is rejected",
        DELIVER["SubmitApplication"],
        [e.application == a, a.is_("New"), ~a.known, ~guard],
        a.fires("reject"),
        line=27,
    )


# --- Draining objects refuse additions

SUBMIT = replace(core_v0_12_2.submit, when=[*core_v0_12_2.submit.when, ~a.queue.is_("Draining")], line=51, fact="")

# --- Queues and partitions can be stopped and started again

STOPS = [ev.start_queue, ev.stop_queue, ev.start_partition, ev.stop_partition]

# --- A Stopped object is Draining before it is removed

# A Completing application that the resource manager has removed is in no queue.
ENDED = ~exists(a, (a.queue.partition == p) & a.is_("Completing"))

REMOVE_QUEUE = replace(
    core_v0_12_2.remove_queue, when=[q.adjustable, ~q.deleted, q.is_("Active", "Stopped"), ~q.dynamic]
)
STOPPED_OBJECTS_DRAIN: list[Element] = [
    *[Row(sort, "remove", "Stopped", "Draining", line=50) for sort in (Partition, Queue)],
    REMOVE_QUEUE,
    Rule(
        "a queue that is removed removes those below it",
        REMOVE_QUEUE,
        [u.above.has(q), u.is_("Active", "Stopped"), ~u.deleted, ~u.dynamic],
        u.fires("remove"),
        fact="2, queue.go:672",
    ),
    StepInvariant(
        name="removed-queues-drain-those-below",
        says="when a queue is removed, all queues below it that have been configured are Draining",
        line=51,
        on=[REMOVE_QUEUE.name],
        over=[u],
        given=u.above.has(q) & ~u.deleted & ~u.dynamic,
        then=after(u.is_("Draining")),
    ),
    StepInvariant(
        name="stopped-partitions-refuse-additions",
        says="no application and no node is added to a Stopped partition",
        line=50,
        over=[p],
        given=exists(a, a.fires("submit") & (a.queue.partition == p))
        | exists(n, n.fires("create") & (n.partition == p)),
        then=~p.is_("Stopped"),
    ),
    replace(ev.remove_partition, when=[p.adjustable, ~p.deleted, p.is_("Active", "Stopped")]),
    replace(
        ev.delete_partition, when=[ev.delete_partition.when[0], p.is_("Draining"), ev.delete_partition.when[2], ENDED]
    ),
]

# --- The sweep makes a dynamic queue Draining before it takes it off the tree

DYNAMIC_QUEUES: list[Element] = [
    StepInvariant(
        name="only-empty-dynamic-queues-drain",
        says="a dynamic queue begins to drain only when it is empty",
        line=51,
        over=[q],
        given=q.fires("remove") & q.dynamic,
        then=ev.empty(q),
    ),
    Row(Queue, "remove", "Stopped", "Draining", line=50),
    Action(
        "drain_queue",
        [q],
        when=[q.dynamic, ~q.deleted, q.is_("Active", "Stopped"), ev.empty(q)],
        fires=[q.fires("remove")],
        says="the dynamic queue {q} is empty, and begins to drain",
        line=51,
    ),
    replace(core_v0_12_2.delete_queue, when=[~q.deleted, q.is_("Draining"), ev.empty(q)]),
]
