"""The properties of the two copies: they agree, change in order, and the resource manager can rely on them.

Few of these are sentences of the document, which says what happens, not why. Each cites the line that it follows
from. Where the property is what any reader would expect of that line, ``says`` has it in full.
"""

from schedproof.model.lang import Invariant, Property, Term, exists, forall, iff, implies
from schedproof.model.lang import InvariantAtScope as Invariant_
from schedproof.model.lang import StepInvariantAtScope as Step
from schedproof.model.lang.terms import Var

from .flows import BETWEEN, CHANNELS, e, r
from .machines import a, k, n, p, x, y
from .scheduler import HELD

PRESENT = "present"
CONTRACT = "There's a contract for scheduler and cache: If there's an object exists in both scheduler and cache (such as `app_info` and `scheduler_app`, when add an object, it will add to cache first, then scheduler; Removing the object is reverse: it will remove object from scheduler first, then remove from cache."
ADDED = "There's a contract for scheduler and cache: If there's an object exists in both scheduler and cache (such as `app_info` and `scheduler_app`, when add an object, it will add to cache first, then scheduler; Removing the object is reverse: it will remove object from scheduler first, then remove from cache."
REMOVED = "Removing the object is reverse: it will remove object from scheduler first, then remove from cache."

UNDER_WAY = r.is_("under_way") & CHANNELS.one_of(r, BETWEEN)


def under_way(about: Term) -> Term:
    """True if a message between cache and scheduler satisfies ``about``."""
    return exists(r, UNDER_WAY & about)


ON_ITS_WAY: dict[str, Term] = {
    "partition": under_way(r.partition == p),
    "application": under_way((r.application == a) | (r.partition == a.partition)),
    "node": under_way((r.node == n) | (r.partition == n.partition)),
    "allocation": under_way(
        (r.allocation == x)
        | (r.application == x.ask.application)
        | (r.node == x.node)
        | (r.partition == x.node.partition)
    ),
}
"""Messages that may change one of the two copies: about the object, or about one that it belongs to."""

KINDS: tuple[tuple[str, Var], ...] = (("partition", p), ("application", a), ("node", n), ("allocation", x))


def an(what: str) -> str:
    """Returns the word with its article."""
    return f"{'an' if what[0] == 'a' else 'a'} {what}"


def in_scheduler(one: Var) -> Term:
    """True if the scheduler has its copy.

    Of a stopped partition the scheduler still has some contents to remove. An allocation has a copy from its proposal
    on (readings.py).
    """
    return ~one.scheduler.is_("absent")


# --- Line 42: the object exists in both copies

COPIES: list[Property] = [
    Invariant_(
        name="partitions-in-both-copies",
        says="every partition is in both copies or in neither, or a message about it is under way between them",
        line=42,
        sentence=CONTRACT,
        over=[p],
        given=~ON_ITS_WAY["partition"] & ~p.scheduler.is_("stopped"),
        then=iff(p.cache.is_(PRESENT), in_scheduler(p)),
    ),
    *[
        Invariant_(
            name=f"{what}s-in-both-copies",
            says=f"every {what} is in both copies or in neither, or a message about it is under way between them, "
            "or its partition is being removed",
            line=42,
            sentence=CONTRACT,
            over=[one],
            given=~ON_ITS_WAY[what] & ~partition.scheduler.is_("stopped"),
            then=iff(one.cache.is_(PRESENT), in_scheduler(one)),
        )
        for what, one, partition in (
            ("application", a, a.partition),
            ("node", n, n.partition),
            ("allocation", x, x.node.partition),
        )
    ],
]


def agree(allocation: Term) -> Term:
    """True if the two copies have the same objects; ``allocation`` says that the scheduler has the allocation x."""
    return (
        forall(p, iff(p.cache.is_(PRESENT), in_scheduler(p)))
        & forall(a, iff(a.cache.is_(PRESENT), in_scheduler(a)))
        & forall(n, iff(n.cache.is_(PRESENT), in_scheduler(n)))
        & forall(x, iff(x.cache.is_(PRESENT), allocation))
    )


AGREE = agree(in_scheduler(x))

AT_REST = ~exists(r, UNDER_WAY) & ~exists(p, p.scheduler.is_("stopped"))

COPIES.append(
    Invariant_(
        name="copies-agree-at-rest",
        says=(
            "when no message is under way between cache and scheduler, and no partition is being removed, they have "
            "the same objects"
        ),
        line=42,
        sentence=CONTRACT,
        over=[],
        given=AT_REST,
        then=AGREE,
    )
)

# --- Line 42: objects are added to the cache first, and removed from the scheduler first

CONTRACTS: list[Property] = [
    *[
        Step(
            name=f"{what}s-are-added-to-the-cache-first",
            says=f"when {an(what)} is added to the scheduler, it is in the cache",
            line=42,
            sentence=ADDED,
            over=[one],
            given=one.scheduler.fires("add"),
            then=one.cache.is_(PRESENT),
        )
        for what, one in KINDS
        if what != "allocation"  # for its confirmation: confirmed-allocations-are-there
    ],
    Step(
        name="confirmed-allocations-are-there",
        says="when the scheduler confirms an allocation, it is in the cache",
        line=42,
        sentence=ADDED,
        over=[x],
        given=x.scheduler.fires("confirm"),
        then=x.cache.is_(PRESENT),
    ),
    *[
        Step(
            name=f"{what}s-are-removed-from-the-scheduler-first",
            says=f"when {an(what)} is removed from the cache, it is not in the scheduler",
            line=42,
            sentence=REMOVED,
            over=[one],
            given=one.cache.fires("remove"),
            then=one.scheduler.is_("absent"),
        )
        for what, one in KINDS
    ],
]

# --- Confirmations and releases

ALLOCATIONS: list[Property] = [
    Step(
        name="accepted-allocations-are-confirmed",
        says="the scheduler confirms what the cache has accepted and reported to the resource manager [YUNIKORN-169]",
        line=71,
        sentence="3. Scheduler handles new add, if fails: Send ReleaseAllocationsEvent to Cache *again* to remove from Cache. [YUNIKORN-169]",
        over=[x],
        on=["deliver_accepted_allocation"],
        given=e.allocation == x,
        then=x.scheduler.fires("confirm"),
    ),
    Invariant_(
        name="proposals-are-on-their-way",
        says="the scheduler counts a proposal on its node only while the answer to it is outstanding",
        line=67,
        sentence="Send SchedulerAllocationUpdatesEvent to scheduler for *any* result:",
        over=[x],
        given=x.scheduler.is_("proposed"),
        then=under_way(
            (r.allocation == x) & CHANNELS.one_of(r, ("ProposeAllocation", "AcceptedAllocation", "RejectedAllocation"))
        ),
    ),
    Invariant_(
        name="proposals-to-release-are-on-their-way",
        says="the scheduler counts an allocation as to be preempted only while a message about it is under way",
        line=82,
        sentence="When failed: nothing happened.",
        over=[x],
        given=x.scheduler.is_("preempting") & ~x.node.partition.scheduler.is_("stopped"),
        then=ON_ITS_WAY["allocation"],
    ),
    Step(
        name="nothing-is-released-twice",
        says="the resource manager is not notified twice that an allocation is released",
        line=85,
        sentence="- Send to RM for the same.",
        over=[x],
        on=["deliver_allocation_released"],
        given=e.allocation == x,
        then=~x.is_("ended"),
    ),
    Step(
        name="recovered-allocations-are-kept",
        says="an allocation that runs already when its node is added is not rejected",
        line=130,
        sentence="... After that, same as create a new allocation.",
        over=[x],
        on=["deliver_propose_allocation"],
        given=(e.allocation == x) & x.ask.recovered,
        then=x.cache.fires("add"),
    ),
]

# --- What the resource manager can rely on

NOTIFICATIONS: list[Property] = [
    Step(
        name="told-allocations-are-confirmed",
        says="when the resource manager is notified of an allocation, the scheduler has confirmed it",
        line=26,
        sentence="| RMNewAllocationsEvent | Cache -> RM | |",
        over=[x],
        on=["deliver_new_allocation"],
        given=e.allocation == x,
        then=x.scheduler.is_("confirmed", "preempting"),
    ),
    Step(
        name="allocations-are-told-once",
        says="the resource manager is not notified of an allocation that it knows already",
        line=130,
        sentence="... After that, same as create a new allocation.",
        over=[x],
        on=["deliver_new_allocation"],
        given=e.allocation == x,
        then=x.is_("unknown"),
    ),
    Invariant_(
        name="what-runs-is-there",
        says=(
            "an allocation that runs according to the resource manager is in the cache, or the notification of its "
            "end is under way"
        ),
        line=85,
        sentence="- Send to RM for the same.",
        over=[x],
        given=x.is_("running", "given_back")
        & ~exists(r, r.is_("under_way") & ((r.allocation == x) | (r.node == x.node))),
        then=x.cache.is_(PRESENT),
    ),
    Invariant_(
        name="what-is-there-is-told",
        says="the resource manager knows of every allocation in the cache, or the notification is under way",
        line=26,
        sentence="| RMNewAllocationsEvent | Cache -> RM | |",
        over=[x],
        given=x.cache.is_(PRESENT)
        & ~exists(r, r.is_("under_way") & (r.allocation == x) & CHANNELS.one_of(r, ("NewAllocation",))),
        then=x.is_("running", "given_back"),
    ),
    Step(
        name="asks-are-answered-once",
        says="the resource manager is not notified of the rejection of an ask of which it has an allocation",
        line=108,
        sentence="- (If failed) Send back to *RMProxy* (via RMRejectedAllocationAskEvent)",
        over=[k],
        on=["deliver_ask_rejected"],
        given=e.ask == k,
        then=k.is_("asked", "withdrawn")
        & ~exists(x, (x.ask == k) & ~x.is_("unknown"))
        & ~exists(x, (x.ask == k) & x.cache.is_(PRESENT)),
    ),
    Step(
        name="applications-are-answered-once",
        says="the resource manager is notified once whether an application is accepted",
        line=54,
        sentence="No matter if failed or not, send RMApplicationUpdateEvent to RM.",
        over=[a],
        on=["deliver_application_accepted", "deliver_application_rejected"],
        given=e.application == a,
        then=a.is_("submitted", "removed"),
    ),
    Step(
        name="nodes-are-answered-once",
        says="the resource manager is notified once whether a node is accepted",
        line=29,
        sentence="| RMNodeUpdateEvent | Cache -> RM | |",
        over=[n],
        on=["deliver_node_accepted", "deliver_node_rejected"],
        given=e.node == n,
        then=n.is_("registering"),
    ),
    Invariant_(
        name="accepted-applications-are-there",
        says=(
            "an application that is accepted according to the resource manager is in both copies, or its partition "
            "is to be removed"
        ),
        line=54,
        sentence="No matter if failed or not, send RMApplicationUpdateEvent to RM.",
        over=[a],
        given=a.is_("accepted") & a.partition.is_("registered"),
        then=a.cache.is_(PRESENT) & a.scheduler.is_(PRESENT),
    ),
]

# --- Room


def one_at_a_time(whose: str, line: int, sentence: str, first: Term, second: Term) -> Property:
    """A property: in one component's copies no node is given to two allocations.

    Args:
        whose: the component.
        line, sentence: the document's.
        first, second: that the component has the allocation x, and that it has y.
    """
    return Invariant_(
        name=f"{whose}-nodes-hold-one-allocation",
        says=f"in the {whose}'s copies no node is given to two allocations",
        line=line,
        sentence=sentence,
        over=[x, y],
        given=(x.node == y.node) & first,
        then=implies(second, x == y),
    )


ROOM: list[Property] = [
    one_at_a_time(
        "scheduler",
        84,
        "- Send to scheduler, notify allocation released.",
        x.scheduler.is_(*HELD),
        y.scheduler.is_(*HELD),
    ),
    one_at_a_time("cache", 66, "2.1 partitionInfo.addNewAllocation:", x.cache.is_(PRESENT), y.cache.is_(PRESENT)),
    Invariant_(
        name="allocated-once",
        says="no ask has two allocations, in the cache or in the scheduler",
        line=71,
        sentence="3. Scheduler handles new add, if fails:",
        over=[x, y],
        given=(x.ask == y.ask) & (x.cache.is_(PRESENT) | x.scheduler.is_("confirmed", "preempting")),
        then=implies(y.cache.is_(PRESENT) | y.scheduler.is_("confirmed", "preempting"), x == y),
    ),
    Invariant_(
        name="allocations-are-on-what-is-there",
        says="the node and the application of every allocation in the cache are in the cache",
        line=66,
        sentence="2.1 partitionInfo.addNewAllocation:",
        over=[x],
        given=x.cache.is_(PRESENT),
        then=x.node.cache.is_(PRESENT) & x.ask.application.cache.is_(PRESENT),
    ),
    Invariant_(
        name="no-queue-overflows",
        says="no queue holds more events than it has room for (an event without room stops the process)",
        line=5,
        sentence="Between Cache and Scheduler, they communicate with each other using async events, which causes lots of inconsistent issues.",
        over=[],
        then=~CHANNELS.overflown,
    ),
]

SAFETY: list[Property] = [*COPIES, *CONTRACTS, *ALLOCATIONS, *NOTIFICATIONS, *ROOM]
CHANNEL_PROPERTIES: list[Invariant] = CHANNELS.properties
