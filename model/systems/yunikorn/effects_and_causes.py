"""What the steps of the repaired core do: a request has its effect, and what changes has a cause.

The properties of the document say what follows from an event. These also say which event an action has to fire, and that nothing
else has the same effect.
"""

from schedproof.model.lang import Property, StepInvariant, after, exists

from .events import FAILS, held, pending
from .machines import FINISHED, HELD, a, g, k, n, p, q, u, w, x
from .possible_steps import ADDED_AND_REMOVED, STARTED, STOPPED
from .repairs import swapping

ALLOCATED = exists(k, (k.application == a) & (k.fires("allocate") | k.fires("confirm")))
ASKED = exists(k, (k.application == a) & k.fires("add"))
TIMED_OUT = exists(w, (w.application == a) & w.fires("arrive"))

EFFECTS_AND_CAUSES: list[Property] = [
    *[
        StepInvariant(
            name=f"{before.lower()}-goes-on-for-a-cause",
            says=f"{'an' if before == 'Accepted' else 'a'} {before} application becomes {state} only {cause}",
            line=line,
            sentence=sentence,
            over=[a],
            given=a.is_(before) & after(a.is_(state)),
            then=then,
        )
        for before, state, cause, then, line, sentence in (
            (
                "New",
                "Accepted",
                "when an ask is added",
                ASKED,
                18,
                "The first ask to be added will trigger the transition.",
            ),
            (
                "Accepted",
                "Starting",
                "when an ask is allocated",
                ALLOCATED,
                19,
                "On allocation of the first ask the application moves into a starting state.",
            ),
            (
                "Starting",
                "Running",
                "when an ask is allocated, or its time is over",
                ALLOCATED | TIMED_OUT,
                20,
                "The application transitions to running if and when more allocations are added to the application.",
            ),
            (
                "Completing",
                "Running",
                "when an ask is added",
                ASKED,
                32,
                "Run: progress an application to the next active state (source: core scheduler)",
            ),
        )
    ],
    StepInvariant(
        name="ended-containers-are-released",
        says="an allocation whose container is gone is released",
        line=21,
        sentence=ADDED_AND_REMOVED,
        on=["end", "evict"],
        over=[],
        then=after(k.is_("released")),
    ),
    StepInvariant(
        name="only-lost-nodes-evict",
        says="the core drops an allocation by itself only if its node is gone",
        line=66,
        on=["evict"],
        over=[],
        then=k.node.is_("gone"),
    ),
    *[
        StepInvariant(
            name=f"nodes-are-{word}",
            says=f"a node that the resource manager has {word} is {state}",
            line=66,
            sentence="The node status changes based on the status provided by the resource manager (shim) that owns the node.",
            on=[action],
            over=[],
            then=after(n.is_(state)),
        )
        for word, action, state in (
            ("drained", "drain_node", "unschedulable"),
            ("restored", "restore_node", "schedulable"),
            ("decommissioned", "decommission_node", "gone"),
        )
    ],
    *[
        StepInvariant(
            name=f"{thing}s-follow-{event}",
            says=f"a {thing} to which {event} is given is {state}",
            line=line,
            sentence=sentence,
            on=[f"{event}_{thing}"],
            over=[],
            then=after(it.is_(state)),
        )
        for thing, it in (("queue", q), ("partition", p))
        for event, state, line, sentence in (("start", "Active", 55, STARTED), ("stop", "Stopped", 56, STOPPED))
    ],
    *[
        StepInvariant(
            name=f"only-adjustable-{thing}s-are-changed",
            says=f"people change only a {thing} that they may change",
            on=[f"{event}_{thing}" for event in events],
            over=[],
            then=it.adjustable,
        )
        for thing, it, events in (
            ("queue", q, ("start", "stop", "remove")),
            ("partition", p, ("start", "stop", "remove")),
            ("node", n, ("drain", "restore", "decommission")),
        )
    ],
    StepInvariant(
        name="queues-are-removed-with-those-above",
        says="when a queue is removed, no queue is removed but this one and those below it",
        line=57,
        sentence="Remove: mark an object for removal (source: core scheduler)",
        on=["remove_queue"],
        over=[u],
        given=u.fires("remove"),
        then=(u == q) | u.above.has(q),
    ),
    StepInvariant(
        name="queues-are-removed-with-their-partition",
        says="when a partition is removed, no queue of another partition is",
        line=57,
        sentence="Remove: mark an object for removal (source: core scheduler)",
        on=["remove_partition"],
        over=[q],
        given=q.fires("remove"),
        then=q.partition == p,
    ),
    StepInvariant(
        name="the-sweep-drains-dynamic-queues",
        says="the sweep makes dynamic queues Draining, and no others",
        line=51,
        on=["drain_queue"],
        over=[],
        then=q.dynamic & after(q.is_("Draining")),
    ),
    StepInvariant(
        name="asks-stay-listed",
        says="an ask stays listed until it is removed, or its application is removed, fails or resumes",
        line=26,
        over=[k],
        given=k.listed & after(~k.listed),
        then=k.fires("remove")
        | k.application.fires("forget")
        | k.application.fires("fail")
        | (k.application.fires("resume") & k.placeholder),
    ),
    StepInvariant(
        name="placeholders-are-released-for-a-cause",
        says="a placeholder is released only if it is replaced, if the time of its gang is over, if its application fails or resumes, "
        "or when the last request or container of its application goes",
        line=22,
        over=[k],
        given=k.placeholder & k.is_("allocated") & after(k.is_("releasing")),
        then=after(exists(x, x.instead == k))
        | exists(g, g.fires("arrive") & (g.application == k.application))
        | k.application.fires("fail")
        | k.application.fires("resume")
        | (
            exists(
                x,
                (x.application == k.application)
                & ((x.fires("remove") & x.is_("pending")) | (x.fires("gone") & ~x.placeholder)),
            )
            & after(~pending(k.application) & ~held(k.application, placeholder=False) & ~swapping(k.application))
        ),
    ),
    StepInvariant(
        name="real-allocations-are-released-by-failing",
        says="the core releases an allocation that is no placeholder only if its application fails",
        line=25,
        over=[k],
        given=~k.placeholder & k.is_("allocated") & after(k.is_("releasing")),
        then=k.application.fires("fail"),
    ),
    StepInvariant(
        name="swaps-end-for-a-cause",
        says="a real ask waits to replace a placeholder until that is gone, its node goes, or its application fails or is removed",
        line=64,
        over=[k],
        given=k.is_("swapping") & after(~k.is_("swapping")),
        then=exists(x, (k.instead == x) & x.fires("gone"))
        | exists(n, (k.node == n) & n.fires("decommission"))
        | k.application.fires("fail")
        | k.application.fires("forget"),
    ),
    StepInvariant(
        name="allocations-end-with-their-container",
        says="an allocation that is released has no container any more, or goes with its application",
        line=22,
        over=[k],
        given=k.is_(*HELD) & after(~k.is_(*HELD)),
        then=k.fires("gone") | k.application.fires("forget"),
    ),
    StepInvariant(
        name="a-gang-that-is-being-replaced-goes-on",
        says="a gang does not fail while a real ask is to replace one of its placeholders: its real allocation is on its way",
        line=25,
        over=[a, g, x],
        given=g.fires("arrive") & (g.application == a) & (x.application == a) & x.is_("swapping"),
        then=after(~a.is_("Failing")),
    ),
    StepInvariant(
        name="stopped-partitions-fail-applications",
        says="when a partition is removed, Active or Stopped, its applications that can fail do",
        line=25,
        on=["remove_partition"],
        over=[a],
        given=(a.queue.partition == p) & a.known & a.is_(*FAILS),
        then=after(a.is_("Failing")),
    ),
    StepInvariant(
        name="what-has-ended-keeps-its-asks",
        says="no ask is removed of an application that has ended: it has been moved away (fact 1.4)",
        line=24,
        on=["remove_ask"],
        over=[],
        then=~k.application.is_(*FINISHED),
    ),
    StepInvariant(
        name="asks-are-listed-when-they-are-added",
        says="an application lists an ask when it is added, and at no other time",
        line=18,
        over=[k],
        given=~k.listed & after(k.listed),
        then=k.fires("add"),
    ),
    StepInvariant(
        name="only-the-failing-fail-for-good",
        says="an application is Failed only after it was Failing",
        line=26,
        sentence="Failed: An application is considered failed when it was marked for failure and all the pending requests and allocations were already removed.",
        over=[a],
        given=~a.is_("Failed") & after(a.is_("Failed")),
        then=a.is_("Failing"),
    ),
    StepInvariant(
        name="stopped-queues-stop-those-below",
        says="nothing is allocated, nor a placeholder replaced, in a Stopped queue or partition, nor below a Stopped queue",
        line=50,
        sentence="Stopped: The object is stopped and no longer actively scheduled.",
        on=["allocate", "swap"],
        over=[],
        then=~k.application.queue.is_("Stopped")
        & ~k.application.queue.partition.is_("Stopped")
        & ~exists(u, k.application.queue.above.has(u) & u.is_("Stopped")),
    ),
    StepInvariant(
        name="draining-partitions-take-no-asks",
        says="no ask is added in a Draining partition",
        line=51,
        sentence="Draining: ... In this state it does not accept additions or changes but is still actively being scheduled.",
        over=[k],
        given=k.fires("add"),
        then=~k.application.queue.partition.is_("Draining"),
    ),
]
