"""The properties of the merged design: those of the two copies, by the same names, as far as they still apply."""

from collections.abc import Callable

from schedproof.model.lang import (
    AlwaysCanReach,
    ByConstruction,
    LifeCycle,
    Model,
    Property,
    StepInvariant,
    after,
    exists,
    iff,
    implies,
)

from .machines import a, k, n, p, x, y
from .merged_machines import MERGED_CHANNELS, q
from .merged_notifications import NOTIFICATIONS, is_there
from .sorts import Allocation

PRESENT = "present"
SORTS = frozenset({"Partition", "Queue", "Application", "Ask", "Allocation", "Node", "Message"})
"""One sort for each of lines 163 to 167, an application's asks (228), and the messages to the resource manager."""
MERGE = "2. `allocation_info` & `scheduling_allocation`: **merge** to `scheduler.allocation`."


def one_object(model: Model) -> bool:
    """True if each thing has one sort, an allocation is there or not, and all messages go to the resource manager."""
    channel = model.machine("Message").attribute("channel")
    states = [state.name for state in model.machine("Allocation").states]
    one_for_each = {sort.name for sort in model.sorts} == SORTS and states == ["unknown", "allocated", "ended"]
    return one_for_each and channel is not None and str(channel.type) == "{rm}"


def no_proposal(model: Model) -> bool:
    """True if, beside that, nothing is stored of a proposal."""
    stored = {attribute.name for attribute in model.machine("Allocation").attributes}
    return one_object(model) and stored == {"ask", "node", "rm"}


def one_copy(
    name: str,
    says: str,
    because: str = "there is one object, which is there or not",
    holds: Callable[[Model], bool] = one_object,
) -> Property:
    """A property that only two copies, or what ``holds`` excludes, can violate."""
    return ByConstruction(
        name=name,
        says=says,
        line=164,
        sentence=MERGE,
        because=because,
        checked="on the sorts, the channels and an allocation's states and attributes",
        holds=holds,
    )


THINGS = ("partition", "application", "node", "allocation")

NO_COPIES: list[Property] = [
    *[one_copy(f"{what}s-in-both-copies", f"every {what} is in both copies or in neither") for what in THINGS],
    one_copy("copies-agree-at-rest", "the two copies have the same objects"),
    one_copy("copies-can-agree-again", "the two copies can always have the same objects again"),
    *[
        one_copy(f"{what}s-{order}", f"{what}s {order.replace('-', ' ')}")
        for what in THINGS
        for order in ("are-added-to-the-cache-first", "are-removed-from-the-scheduler-first")
        if (what, order)
        != ("allocation", "are-added-to-the-cache-first")  # allocations have confirmed-allocations-are-there
    ],
    *[
        one_copy(name, says, "a proposal is no state, only its commit changes anything", no_proposal)
        for name, says in (
            ("accepted-allocations-are-confirmed", "every accepted allocation is confirmed"),
            ("confirmed-allocations-are-there", "every confirmed allocation exists"),
            ("proposals-are-on-their-way", "no proposal is left without an answer"),
            ("proposals-to-release-are-on-their-way", "no proposal to release is left without an answer"),
            ("cache-nodes-hold-one-allocation", "in the cache no node is given to two allocations"),
        )
    ],
    # Without no-queue-overflows: notifications of the resource manager still wait in a queue.
    one_copy(
        "no-queue-between-copies-overflows",
        "no queue between cache and scheduler overflows",
        "there is no queue between them",
    ),
]


# --- Existing objects


BELONGS = "{Queue, App, Node} belongs to Partition:"

EXISTENCE: list[Property] = [
    is_there(
        "queues-are-in-what-is-there",
        "a queue exists exactly as long as its partition",
        185,
        BELONGS,
        [q],
        None,
        iff(q.is_(PRESENT), q.partition.is_(PRESENT)) & iff(q.is_("absent"), q.partition.is_("absent")),
    ),
    is_there(
        "applications-are-in-what-is-there",
        "the queue of an application exists",
        185,
        BELONGS,
        [a],
        a.is_(PRESENT),
        a.queue.is_(PRESENT),
    ),
    is_there(
        "nodes-are-in-what-is-there",
        "the partition of a node exists",
        185,
        BELONGS,
        [n],
        n.is_(PRESENT),
        n.partition.is_(PRESENT),
    ),
    is_there(
        "asks-are-of-what-is-there",
        "the application of an ask exists",
        228,
        "{ParentQueue, ResourceUsage, (reserved/allocated)Allocations, PendingRequests} belong to application:",
        [k],
        k.is_("pending", "satisfied"),
        k.application.is_(PRESENT),
    ),
    is_there(
        "allocations-are-on-what-is-there",
        "the node and the application of every allocation exist",
        191,
        "- Do new allocation / remove allocation, will change application, queue and node",
        [x],
        x.is_("allocated"),
        x.node.is_(PRESENT) & x.ask.application.is_(PRESENT),
    ),
    is_there(
        "scheduler-nodes-hold-one-allocation",
        "no node is given to two allocations",
        191,
        "- Do new allocation / remove allocation, will change application, queue and node",
        [x, y],
        (x.node == y.node) & x.is_("allocated") & y.is_("allocated"),
        x == y,
    ),
    is_there(
        "allocated-once",
        "no ask has two allocations",
        191,
        "- Do new allocation / remove allocation, will change application, queue and node",
        [x, y],
        (x.ask == y.ask) & x.is_("allocated") & y.is_("allocated"),
        x == y,
    ),
    is_there(
        "what-is-allocated-is-asked-for-no-more",
        "an ask that waits, or was rejected, has had no allocation",
        196,
        "- Change pending request of ask, will change application (pending resource),",
        [x],
        ~x.is_("unknown") & ~x.ask.recovered,
        x.ask.is_("satisfied", "removed"),
    ),
    StepInvariant(
        name="allocations-are-for-asks-that-wait",
        says="an allocation is made for an ask that waits, which is satisfied then; not for one that is withdrawn or satisfied",
        line=193,
        sentence="- So commit a scheduling/preemption proposal need acquire wlock(Partition).",
        over=[x],
        given=x.fires("allocate"),
        then=x.ask.is_("pending") & after(x.ask.is_("satisfied")),
    ),
    is_there(
        "what-is-recovered-is-not-asked-for",
        "an ask for an allocation that runs already never waits",
        128,
        "- Create a new ask based on the (to recover) Allocation",
        [k],
        k.recovered,
        ~k.is_("pending", "rejected"),
    ),
    is_there(
        "what-is-recovered-comes-with-its-node",
        "an allocation, and an ask for one that runs already, are on a node that was added",
        128,
        "- Create a new ask based on the (to recover) Allocation",
        [x],
        x.is_("unknown") | x.node.is_("unknown"),
        x.is_("unknown") & implies(x.ask.recovered, x.ask.is_("unknown")),
    ),
    is_there(
        "removed-applications-go",
        "no allocation of a removed application is left",
        300,
        "scheduler.delete_app(app)",
        [a, x],
        a.is_("removed") & (x.ask.application == a),
        ~x.is_("allocated"),
    ),
    is_there(
        "decommissioned-nodes-go",
        "no allocation on a removed node is left",
        278,
        "- scheduler.delete_nodes(partition) # See common method below",
        [n, x],
        n.is_("removed") & (x.node == n),
        ~x.is_("allocated"),
    ),
    is_there(
        "removed-partitions-go",
        "no application, queue or node of a removed partition is left",
        276,
        "- scheduler.delete_all_apps(partition) # See common method below",
        [p, a, q, n],
        p.is_("removed"),
        implies(a.queue.partition == p, ~a.is_(PRESENT))
        & implies(q.partition == p, ~q.is_(PRESENT))
        & implies(n.partition == p, ~n.is_(PRESENT)),
    ),
    StepInvariant(
        name="applications-are-removed-at-once",
        says="an application that the resource manager removes is gone at once",
        line=300,
        sentence="scheduler.delete_app(app)",
        over=[],
        on=["remove_application"],
        then=after(a.is_("removed")),
    ),
    StepInvariant(
        name="nodes-are-decommissioned-at-once",
        says="a node that is to be decommissioned is gone at once",
        line=278,
        sentence="- scheduler.delete_nodes(partition) # See common method below",
        over=[],
        on=["decommission"],
        then=after(n.is_("removed")),
    ),
    StepInvariant(
        name="partitions-are-removed-alone",
        says="the removal of a partition changes no object of another partition",
        line=274,
        sentence="- For delete partitions:",
        over=[a, q, n],
        on=["remove_partition"],
        then=implies(a.queue.partition != p, ~a.fires("remove"))
        & implies(q.partition != p, ~q.fires("remove"))
        & implies(n.partition != p, ~n.fires("remove")),
    ),
    StepInvariant(
        name="nodes-are-decommissioned-alone",
        says="the decommissioning of a node changes no allocation on another node",
        line=278,
        sentence="- scheduler.delete_nodes(partition) # See common method below",
        over=[x],
        on=["decommission"],
        given=x.node != n,
        then=~x.fires("end"),
    ),
    StepInvariant(
        name="applications-are-removed-alone",
        says="the removal of an application changes no ask or allocation of another application",
        line=300,
        sentence="scheduler.delete_app(app)",
        over=[k, x],
        on=["remove_application"],
        then=implies(k.application != a, ~k.fires("remove")) & implies(x.ask.application != a, ~x.fires("end")),
    ),
    StepInvariant(
        name="what-runs-is-recovered-or-ended",
        says=(
            "an allocation that runs on a node when it is added or rejected exists from then on, or the resource "
            "manager, which counts it, is notified of its end"
        ),
        line=128,
        sentence="- Create a new ask based on the (to recover) Allocation",
        over=[x],
        on=["add_node"],
        given=(x.node == n) & x.ask.recovered & x.is_("unknown"),
        then=after(~x.is_("unknown") & implies(x.is_("allocated"), x.ask.is_("satisfied")) & (x.rm == "running")),
    ),
    StepInvariant(
        name="withdrawn-asks-go",
        says="an ask that is withdrawn is gone at once",
        line=119,
        sentence="- Update local asks.",
        over=[],
        on=["withdraw"],
        then=after(k.is_("removed")),
    ),
    StepInvariant(
        name="allocations-given-back-go",
        says="an allocation that is given back is gone at once",
        line=312,
        sentence="app.remove_alloc(alloc)",
        over=[],
        on=["give_back"],
        then=after(x.is_("ended")),
    ),
    StepInvariant(
        name="recovered-allocations-come-with-their-node",
        says="allocations that run already on a node are added together with it, if their application exists",
        line=128,
        sentence="- Create a new ask based on the (to recover) Allocation",
        over=[x],
        on=["add_node"],
        given=x.ask.recovered & x.node.fires("add") & x.ask.application.is_(PRESENT),
        then=after(x.is_("allocated")),
    ),
]

WISHES = ["register", "remove_partition", "submit", "remove_application", "ask", "withdraw", "add_node"]
WISHES += ["decommission", "give_back"]

PROGRESS: list[Property] = [
    *[
        AlwaysCanReach(
            name=f"{what}s-are-answered",
            says=f"the resource manager can always still be notified of each {what} whether it is accepted",
            line=line,
            sentence=sentence,
            over=[one],
            given=~one.is_("unknown"),
            goal=one.notified != "nothing",
            without=WISHES,
        )
        for what, one, line, sentence in (
            ("application", a, 25, "| RMApplicationUpdateEvent (add/remove app) | Cache/Scheduler -> RM | |"),
            ("node", n, 29, "| RMNodeUpdateEvent | Cache -> RM | |"),
        )
    ],
    AlwaysCanReach(
        name="asks-are-answered",
        says="an ask that waits and has a node to itself can always still get an allocation; the rejection of an ask can always still be reported",
        line=228,
        sentence="{ParentQueue, ResourceUsage, (reserved/allocated)Allocations, PendingRequests} belong to application:",
        over=[k],
        given=k.is_("rejected")
        | (
            k.is_("pending")
            & exists(x, (x.ask == k) & x.node.is_(PRESENT) & ~exists(y, (y.node == x.node) & (y.ask != k)))
        ),
        goal=k.notified | exists(x, (x.ask == k) & (x.rm != "unknown")),
        without=WISHES,
    ),
    LifeCycle(
        name="life-of-an-allocation",
        says="an allocation can be made, and end",
        line=312,
        sentence="app.remove_alloc(alloc)",
        sort=Allocation,
        states=["unknown", "allocated", "ended"],
    ),
]

MERGED_PROPERTIES: list[Property] = [*NO_COPIES, *EXISTENCE, *NOTIFICATIONS, *PROGRESS, *MERGED_CHANNELS.properties]
