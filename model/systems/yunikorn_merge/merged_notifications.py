"""Properties of the merged design's notifications to the resource manager: they are true, in order, and sent once."""

from schedproof.model.lang import Invariant, Property, StepInvariant, Term, Var, after, forall, implies

from .flows import e, f
from .machines import a, k, n, x

UNDER_WAY = e.is_("under_way")


def is_there(
    name: str, says: str, line: int, sentence: str, over: list[Var], given: Term | None, then: Term
) -> Property:
    """An invariant of the merged objects."""
    return Invariant(name=name, says=says, line=line, sentence=sentence, over=over, given=given, then=then)


# Each of these is about a message. There is one of each kind for each object, unless an exploration leaves it out.

NOTIFICATIONS: list[Property] = [
    is_there(
        "new-allocations-are-news",
        "a notification of a new allocation is true, and the resource manager does not know of the allocation",
        26,
        "| RMNewAllocationsEvent | Cache -> RM | |",
        [e],
        UNDER_WAY & (e.kind == "NewAllocation"),
        ~e.allocation.is_("unknown") & ~e.allocation.ask.recovered & (e.allocation.rm == "unknown"),
    ),
    is_there(
        "ends-are-news",
        "a notification of an end is true, and the resource manager does not know of the end",
        27,
        "| RMReleaseAllocationEvent | Cache -> RM | |",
        [e],
        UNDER_WAY & (e.kind == "AllocationReleased"),
        e.allocation.is_("ended") & (e.allocation.rm != "ended"),
    ),
    is_there(
        "told-of-what-was",
        "the resource manager knows of no allocation that was never made, and of no end that has not happened",
        26,
        "| RMNewAllocationsEvent | Cache -> RM | |",
        [x],
        x.rm != "unknown",
        ~x.is_("unknown") & implies(x.rm == "ended", x.is_("ended")),
    ),
    is_there(
        "told-in-order",
        "the notification that an allocation has ended comes after the one that it was made",
        27,
        "| RMReleaseAllocationEvent | Cache -> RM | |",
        [e, f],
        (UNDER_WAY & (e.kind == "NewAllocation"))
        & (f.is_("under_way") & (f.kind == "AllocationReleased"))
        & (e.allocation == f.allocation),
        f.behind.has(e),
    ),
    is_there(
        "ends-are-told",
        "the resource manager knows that an ended allocation has ended, or the notification is under way",
        320,
        ">> Emit alloc_completed_event to RMProxy",
        [e],
        (e.kind == "AllocationReleased") & e.allocation.is_("ended"),
        (e.allocation.rm == "ended") | UNDER_WAY,
    ),
    is_there(
        "what-is-there-is-told",
        "the resource manager knows of every allocation, or the notification is under way",
        26,
        "| RMNewAllocationsEvent | Cache -> RM | |",
        [e],
        (e.kind == "NewAllocation") & e.allocation.is_("allocated"),
        (e.allocation.rm == "running") | UNDER_WAY,
    ),
    is_there(
        "what-runs-is-there",
        "an allocation that runs according to the resource manager exists, or the notification of its end is under way",
        320,
        ">> Emit alloc_completed_event to RMProxy",
        [e],
        (e.kind == "AllocationReleased") & (e.allocation.rm == "running"),
        e.allocation.is_("allocated") | UNDER_WAY,
    ),
    StepInvariant(
        name="allocations-are-told-once",
        says="the resource manager is not notified of an allocation that it knows already",
        line=26,
        sentence="| RMNewAllocationsEvent | Cache -> RM | |",
        over=[x],
        on=["deliver_new_allocation"],
        given=e.allocation == x,
        then=x.rm == "unknown",
    ),
    StepInvariant(
        name="nothing-is-released-twice",
        says="the resource manager is not notified twice that an allocation is released",
        line=27,
        sentence="| RMReleaseAllocationEvent | Cache -> RM | |",
        over=[x],
        on=["deliver_allocation_released"],
        given=e.allocation == x,
        then=x.rm != "ended",
    ),
    StepInvariant(
        name="told-allocations-were-confirmed",
        says="when the resource manager is notified of an allocation, it exists, or the notification of its end is under way",
        line=26,
        sentence="| RMNewAllocationsEvent | Cache -> RM | |",
        over=[f],
        on=["deliver_new_allocation"],
        given=(f.kind == "AllocationReleased") & (f.allocation == e.allocation),
        then=e.allocation.is_("allocated") | f.is_("under_way"),
    ),
    StepInvariant(
        name="reported-allocations-are-counted",
        says="an allocation of which the resource manager is notified runs according to it until it is notified of the end",
        line=26,
        sentence="| RMNewAllocationsEvent | Cache -> RM | |",
        over=[x],
        on=["deliver_new_allocation"],
        given=e.allocation == x,
        then=after(x.rm == "running"),
    ),
    is_there(
        "rejections-of-asks-are-news",
        "a notification that an ask is rejected is true, and the resource manager does not know of the rejection",
        28,
        "| RMRejectedAllocationAskEvent | Cache/Scheduler -> RM | |",
        [e],
        UNDER_WAY & (e.kind == "AskRejected"),
        e.ask.is_("rejected") & ~e.ask.notified,
    ),
    is_there(
        "told-rejections-of-asks-are-true",
        "an ask that is rejected according to the resource manager is rejected",
        28,
        "| RMRejectedAllocationAskEvent | Cache/Scheduler -> RM | |",
        [k],
        k.notified,
        k.is_("rejected"),
    ),
    StepInvariant(
        name="asks-are-answered-once",
        says="the resource manager is notified once that an ask is rejected, and of no ask of which it has an allocation",
        line=28,
        sentence="| RMRejectedAllocationAskEvent | Cache/Scheduler -> RM | |",
        over=[k],
        on=["deliver_ask_rejected"],
        given=e.ask == k,
        then=~k.notified & forall(x, implies((x.ask == k) & ~x.ask.recovered, x.is_("unknown"))),
    ),
    *[
        is_there(
            f"{verdict}-{what}s-are-news",
            f"a notification that the {what} is {verdict} is true, and the resource manager does not know it",
            line,
            sentence,
            [e],
            UNDER_WAY & (e.kind == kind),
            one.is_(*states) & (one.notified == "nothing"),
        )
        for what, one, line, sentence in (
            (
                "application",
                e.application,
                25,
                "| RMApplicationUpdateEvent (add/remove app) | Cache/Scheduler -> RM | |",
            ),
            ("node", e.node, 29, "| RMNodeUpdateEvent | Cache -> RM | |"),
        )
        for verdict, kind, states in (
            ("accepted", f"{what.capitalize()}Accepted", ("present", "removed")),
            ("rejected", f"{what.capitalize()}Rejected", ("rejected",)),
        )
    ],
    *[
        is_there(
            f"{what}s-are-told-of-when-they-are-there",
            f"the resource manager is notified of no {what} that it has not asked for",
            line,
            sentence,
            [one],
            one.notified != "nothing",
            ~one.is_("unknown"),
        )
        for what, one, line, sentence in (
            ("application", a, 25, "| RMApplicationUpdateEvent (add/remove app) | Cache/Scheduler -> RM | |"),
            ("node", n, 29, "| RMNodeUpdateEvent | Cache -> RM | |"),
        )
    ],
    *[
        StepInvariant(
            name=f"{what}s-are-answered-once",
            says=f"the resource manager is notified once of each {what} whether it is accepted",
            line=line,
            sentence=sentence,
            over=[one],
            on=[f"deliver_{what}_accepted", f"deliver_{what}_rejected"],
            given=getattr(e, what) == one,
            then=one.notified == "nothing",
        )
        for what, one, line, sentence in (
            ("application", a, 25, "| RMApplicationUpdateEvent (add/remove app) | Cache/Scheduler -> RM | |"),
            ("node", n, 29, "| RMNodeUpdateEvent | Cache -> RM | |"),
        )
    ],
    *[
        is_there(
            f"reported-rejections-of-{what}s-are-true",
            f"{article} {what} that is rejected according to the resource manager is rejected",
            line,
            sentence,
            [one],
            one.notified == "rejected",
            one.is_("rejected"),
        )
        for article, what, one, line, sentence in (
            ("an", "application", a, 25, "| RMApplicationUpdateEvent (add/remove app) | Cache/Scheduler -> RM | |"),
            ("a", "node", n, 29, "| RMNodeUpdateEvent | Cache -> RM | |"),
        )
    ],
    is_there(
        "accepted-nodes-are-there",
        "a node that is accepted according to the resource manager was added, and exists until it is removed",
        29,
        "| RMNodeUpdateEvent | Cache -> RM | |",
        [n],
        n.notified == "accepted",
        n.is_("present", "removed"),
    ),
    is_there(
        "accepted-applications-are-there",
        "an application that is accepted according to the resource manager was added, and exists until it is removed",
        25,
        "| RMApplicationUpdateEvent (add/remove app) | Cache/Scheduler -> RM | |",
        [a],
        a.notified == "accepted",
        a.is_("present", "removed"),
    ),
]
