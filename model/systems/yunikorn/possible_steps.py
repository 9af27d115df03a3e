"""What must be possible in one step of the repaired core: a request or a decision that nothing may hold up.

A condition that is too strong breaks no property of what happens. It breaks one of these: from each state with ``given`` a single
action leads to ``goal``, whatever the others do.
"""

from collections.abc import Sequence
from dataclasses import replace

from schedproof.model.lang import Action, AlwaysCanReach, Term, Var, exists

from .events import FAILS, empty, held, pending
from .machines import HELD, SCHEDULED, UNFINISHED, a, k, n, p, q, u, x

IN_PARTITION = ~k.application.queue.partition.deleted
IN_THE_CYCLE = (
    k.is_("pending")
    & k.application.is_(*SCHEDULED)
    & k.application.queue.is_("Active", "Draining")
    & ~exists(u, k.application.queue.above.has(u) & u.is_("Stopped"))
    & k.application.queue.partition.is_("Active", "Draining")
)
USABLE = (n.partition == k.application.queue.partition) & n.is_("schedulable")
RESUMED = a.is_("Resuming") & ~held(a, placeholder=True)


def at_once(
    action: str, name: str, says: str, over: Sequence[Var], given: Term, goal: Term, line: int | None, sentence: str
) -> tuple[str, AlwaysCanReach]:
    """A property, and the one action by which its goal is to be reached."""
    return action, AlwaysCanReach(
        name=name, says=says, line=line, sentence=sentence, over=over, given=given, goal=goal, without=[]
    )


ADDED_AND_REMOVED = "Containers/pods can be added to and removed from the application."
STARTED = "Start: make the object active (source: core scheduler)"
STOPPED = "Stop: make the object inactive (source: core scheduler)"
REMOVED = "Remove: mark an object for removal (source: core scheduler)"
AT_ONCE = [
    at_once(
        "submit",
        "applications-can-be-added",
        "a new application of an Active queue can be added",
        [a],
        a.is_("New") & ~a.known & a.queue.is_("Active") & a.queue.partition.is_("Active"),
        a.known,
        18,
        "New: A new application that is being submitted or created, from here the application transitions into the accepted state when it is ready for scheduling.",
    ),
    at_once(
        "add_ask",
        "asks-can-be-added",
        "an application that has not ended and is not failing takes an ask",
        [k],
        k.is_("to_come")
        & k.application.known
        & k.application.is_("New", *SCHEDULED, "Completing", "Resuming")
        & k.application.queue.partition.is_("Active", "Stopped"),
        ~k.is_("to_come"),
        21,
        ADDED_AND_REMOVED,
    ),
    at_once(
        "remove_ask",
        "asks-can-be-removed",
        "an ask that its application lists can be removed until the application has ended",
        [k],
        k.listed & k.application.is_(*UNFINISHED) & IN_PARTITION,
        ~k.listed,
        21,
        ADDED_AND_REMOVED,
    ),
    at_once(
        "end",
        "containers-can-end",
        "the container of an allocation can end",
        [k],
        k.is_(*HELD) & IN_PARTITION,
        k.is_("released"),
        21,
        ADDED_AND_REMOVED,
    ),
    at_once(
        "allocate",
        "asks-can-be-allocated",
        "a pending ask of the scheduling cycle can be allocated on every schedulable node, also in a queue that is Draining",
        [k, n],
        IN_THE_CYCLE & USABLE,
        k.is_("allocated") & (k.node == n),
        21,
        "This state is part of the normal scheduling cycle.",
    ),
    at_once(
        "swap",
        "placeholders-can-be-replaced",
        "a pending real ask of the scheduling cycle can replace each placeholder of its application (fact 3, application.go:834)",
        [k, x],
        ~k.placeholder
        & x.placeholder
        & x.is_("allocated")
        & (x.application == k.application)
        & IN_THE_CYCLE
        & exists(n, USABLE),
        k.instead == x,
        21,
        "This state is part of the normal scheduling cycle.",
    ),
    at_once(
        "remove_application",
        "applications-can-be-removed",
        "an application that has not ended can be removed (fact 1.2, partition.go:385)",
        [a],
        a.known & a.is_(*UNFINISHED),
        ~a.known | a.is_("Failed"),
        None,
        "",
    ),
    at_once(
        "fail_late",
        "removed-partitions-can-fail-applications-late",
        "an application that goes on in a partition that has been removed can fail",
        [a],
        a.known & a.is_(*FAILS) & a.queue.partition.is_("Draining"),
        a.is_("Failing"),
        25,
        "The application can be Failing when the partition it belongs to is removed or during gang scheduling, if the placeholder processing times out, and the application has no real allocations yet.",
    ),
    at_once(
        "resume_ends",
        "resuming-goes-on-at-once",
        "a Resuming application with a pending ask goes on as soon as it has no placeholder",
        [a],
        RESUMED & pending(a),
        a.is_("Accepted"),
        None,
        "",
    ),
    at_once(
        "resume_completes",
        "resuming-completes-at-once",
        "a Resuming application with no pending ask is Completing as soon as it has no placeholder",
        [a],
        RESUMED & ~pending(a),
        a.is_("Completing"),
        None,
        "",
    ),
    *[
        at_once(
            f"{event}_{thing}",
            f"{thing}s-can-be-{'started' if event == 'start' else 'stopped'}",
            f"{'a Stopped' if event == 'start' else 'an Active'} {thing} can be {'started' if event == 'start' else 'stopped'}",
            [it],
            it.is_(before) & it.adjustable & ~it.deleted,
            it.is_(then),
            line,
            sentence,
        )
        for thing, it in (("queue", q), ("partition", p))
        for event, before, then, line, sentence in (
            ("start", "Stopped", "Active", 55, STARTED),
            ("stop", "Active", "Stopped", 56, STOPPED),
        )
    ],
    at_once(
        "remove_queue",
        "queues-can-be-removed",
        "a configured queue that is Active or Stopped can be removed",
        [q],
        q.is_("Active", "Stopped") & q.adjustable & ~q.dynamic,
        q.is_("Draining"),
        57,
        REMOVED,
    ),
    at_once(
        "remove_partition",
        "partitions-can-be-removed",
        "a partition that is Active or Stopped can be removed",
        [p],
        p.is_("Active", "Stopped") & p.adjustable,
        p.is_("Draining"),
        57,
        REMOVED,
    ),
    at_once(
        "decommission_node",
        "nodes-can-be-decommissioned",
        "a node that people may change can be taken away",
        [n],
        n.is_("schedulable", "unschedulable") & n.adjustable,
        n.is_("gone"),
        66,
        "The node status changes based on the status provided by the resource manager (shim) that owns the node.",
    ),
    at_once(
        "drain_queue",
        "empty-dynamic-queues-can-drain",
        "a dynamic queue that is empty can begin to drain",
        [q],
        q.is_("Active", "Stopped") & q.dynamic & empty(q),
        q.is_("Draining"),
        51,
        "Before an object can be removed it needs to be cleaned up. The cleanup starts with placing the object in the draining state.",
    ),
]
"""The document's requests and decisions, each with the action that follows it."""


def possible_steps(actions: Sequence[Action]) -> list[AlwaysCanReach]:
    """Returns the properties of :data:`AT_ONCE` for a model with ``actions``: for each goal all others are left out."""
    names = [action.name for action in actions]
    return [replace(prop, without=[name for name in names if name != only]) for only, prop in AT_ONCE]
