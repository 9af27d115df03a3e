"""What the document requires of queues and partitions (lines 40 to 60) and of nodes (lines 62 to 66)."""

from schedproof.model.lang import AlwaysCanReach, Invariant, LifeCycle, StepInvariant, after, exists

from .events import empty
from .machines import FINISHED, HELD, a, k, n, p, q
from .sorts import Node, Partition, Queue

QUEUES = [
    StepInvariant(
        name="removal-drains-queues",
        says="a queue that is removed becomes Draining",
        line=49,
        sentence="An active object transitions to draining when it is removed.",
        over=[q],
        given=q.fires("remove"),
        then=after(q.is_("Draining")),
    ),
    StepInvariant(
        name="removal-drains-partitions",
        says="a partition that is removed becomes Draining",
        line=49,
        sentence="An active object transitions to draining when it is removed.",
        over=[p],
        given=p.fires("remove"),
        then=after(p.is_("Draining")),
    ),
    StepInvariant(
        name="removed-queues-drain",
        says="a queue that is taken off the tree was Draining",
        line=51,
        sentence="Before an object can be removed it needs to be cleaned up. The cleanup starts with placing the object in the draining state.",
        over=[q],
        given=~q.deleted & after(q.deleted),
        then=q.is_("Draining"),
    ),
    StepInvariant(
        name="removed-partitions-drain",
        says="a partition that is gone was Draining",
        line=51,
        sentence="Before an object can be removed it needs to be cleaned up. The cleanup starts with placing the object in the draining state.",
        over=[p],
        given=~p.deleted & after(p.deleted),
        then=p.is_("Draining"),
    ),
    StepInvariant(
        name="only-empty-queues-go",
        says="a queue that is taken off the tree has no queue below it, and its applications have ended",
        line=50,
        sentence="Stopped: ... The object if empty is ready to be removed from the scheduler.",
        over=[q],
        given=~q.deleted & after(q.deleted),
        then=empty(q),
    ),
    StepInvariant(
        name="only-empty-partitions-go",
        says="a partition that is gone has no queue, and its applications have ended",
        line=50,
        sentence="Stopped: ... The object if empty is ready to be removed from the scheduler.",
        over=[p],
        given=~p.deleted & after(p.deleted),
        then=~exists(q, (q.partition == p) & ~q.deleted)
        & ~exists(a, (a.queue.partition == p) & ~a.is_("New", *FINISHED)),
    ),
    Invariant(
        name="removed-queues-have-nothing",
        says="the applications of a queue that has been taken off the tree have ended",
        line=51,
        sentence="This allows for a graceful shutdown, cleanup and removal of the object.",
        over=[a],
        given=a.queue.deleted & a.known,
        then=a.is_(*FINISHED),
    ),
    StepInvariant(
        name="removed-queues-get-nothing",
        says="no application is added to a queue that has been taken off the tree",
        line=51,
        sentence="This allows for a graceful shutdown, cleanup and removal of the object.",
        over=[a],
        given=a.fires("submit"),
        then=~a.queue.deleted,
    ),
    StepInvariant(
        name="draining-queues-refuse-additions",
        says="no application is added to a Draining queue",
        line=51,
        sentence="Draining: ... In this state it does not accept additions or changes but is still actively being scheduled.",
        over=[a, q],
        given=a.fires("submit") & (a.queue == q),
        then=~q.is_("Draining"),
    ),
    StepInvariant(
        name="draining-partitions-refuse-additions",
        says="no application and no node is added to a Draining partition",
        line=51,
        sentence="Draining: ... In this state it does not accept additions or changes but is still actively being scheduled.",
        over=[p],
        given=exists(a, a.fires("submit") & (a.queue.partition == p))
        | exists(n, n.fires("create") & (n.partition == p)),
        then=~p.is_("Draining"),
    ),
    StepInvariant(
        name="draining-queues-are-final",
        says="a Draining queue stays so",
        line=51,
        sentence="Draining: ... This is the final state.",
        over=[q],
        given=q.is_("Draining"),
        then=after(q.is_("Draining")),
    ),
    StepInvariant(
        name="draining-partitions-are-final",
        says="a Draining partition stays so",
        line=51,
        sentence="Draining: ... This is the final state.",
        over=[p],
        given=p.is_("Draining"),
        then=after(p.is_("Draining")),
    ),
    AlwaysCanReach(
        name="draining-queues-are-scheduled",
        says="a pending ask of an application in a Draining queue can be allocated",
        line=51,
        sentence="Draining: ... In this state it does not accept additions or changes but is still actively being scheduled.",
        over=[k],
        given=k.is_("pending")
        & k.application.is_("Accepted", "Starting", "Running")
        & k.application.queue.is_("Draining")
        & k.application.queue.partition.is_("Active")
        & exists(n, n.is_("schedulable")),
        goal=k.is_(*HELD),
    ),
    AlwaysCanReach(
        name="draining-queues-go",
        says="a Draining queue can be taken off the tree",
        line=51,
        sentence="This allows for a graceful shutdown, cleanup and removal of the object.",
        over=[q],
        given=q.is_("Draining") & ~q.partition.deleted,
        goal=q.deleted,
    ),
    AlwaysCanReach(
        name="draining-partitions-go",
        says="a Draining partition can be removed",
        line=51,
        sentence="This allows for a graceful shutdown, cleanup and removal of the object.",
        over=[p],
        given=p.is_("Draining"),
        goal=p.deleted,
    ),
    StepInvariant(
        name="stopped-queues-are-not-scheduled",
        says="nothing is allocated in a Stopped queue",
        line=50,
        sentence="Stopped: The object is stopped and no longer actively scheduled.",
        over=[k, q],
        given=k.fires("allocate") & (k.application.queue == q),
        then=~q.is_("Stopped"),
    ),
    StepInvariant(
        name="stopped-partitions-are-not-scheduled",
        says="nothing is allocated in a Stopped partition",
        line=50,
        sentence="Stopped: The object is stopped and no longer actively scheduled.",
        over=[k, p],
        given=k.fires("allocate") & (k.application.queue.partition == p),
        then=~p.is_("Stopped"),
    ),
    AlwaysCanReach(
        name="stopped-queues-can-go",
        says="a Stopped queue that is empty can be taken off the tree, without being started again",
        line=50,
        sentence="Stopped: ... The object if empty is ready to be removed from the scheduler.",
        over=[q],
        given=q.is_("Stopped") & empty(q),
        goal=q.deleted,
        without=["start_queue"],
    ),
    *[
        StepInvariant(
            name=f"{word}-{thing}s-are-{'active' if word == 'started' else 'stopped'}",
            says=f"a {thing} that is {word} is {state}",
            line=line,
            sentence=sentence,
            over=[it],
            given=it.fires("start" if word == "started" else "stop"),
            then=after(it.is_(state)),
        )
        for thing, it in (("queue", q), ("partition", p))
        for word, state, line, sentence in (
            ("started", "Active", 55, "Start: make the object active (source: core scheduler)"),
            ("stopped", "Stopped", 56, "Stop: make the object inactive (source: core scheduler)"),
        )
    ],
    LifeCycle(
        name="life-of-a-queue",
        says="a queue can be stopped and started again",
        line=50,
        sort=Queue,
        states=["Active", "Stopped", "Active", "Draining"],
    ),
    LifeCycle(
        name="life-of-a-partition",
        says="a partition can be stopped and started again",
        line=50,
        sort=Partition,
        states=["Active", "Stopped", "Active", "Draining"],
    ),
]

NODES = [
    *[
        StepInvariant(
            name=f"{event}-is-followed",
            says=f"a node is {state} when the resource manager says so",
            line=66,
            sentence="The node status changes based on the status provided by the resource manager (shim) that owns the node.",
            over=[n],
            given=n.fires(event),
            then=after(n.is_(state)),
        )
        for event, state in (
            ("create", "schedulable"),
            ("drain", "unschedulable"),
            ("restore", "schedulable"),
            ("decommission", "gone"),
        )
    ],
    LifeCycle(
        name="life-of-a-node",
        says="a node can become not schedulable, and schedulable again",
        line=64,
        sentence="A node can have one of two states: schedulable or not schedulable.",
        sort=Node,
        states=["to_come", "schedulable", "unschedulable", "schedulable"],
    ),
    StepInvariant(
        name="unschedulable-nodes-are-not-used",
        says="nothing is allocated on a node that is not schedulable",
        line=64,
        sentence="A node can have one of two states: schedulable or not schedulable. ... The scheduler can either use the node or not.",
        over=[k, n],
        given=(k.node != n) & after(k.node == n),
        then=n.is_("schedulable"),
    ),
    StepInvariant(
        name="unschedulable-nodes-get-nothing",
        says="no container begins on a node that is not schedulable",
        line=64,
        sentence="A node can have one of two states: schedulable or not schedulable. ... The scheduler can either use the node or not.",
        over=[k, n],
        given=~k.is_(*HELD) & after(k.is_(*HELD) & (k.node == n)),
        then=n.is_("schedulable"),
    ),
    StepInvariant(
        name="a-lost-node-drops-no-ask",
        says="a node that goes takes no ask off the list of its application",
        line=64,
        sentence="The scheduler can either use the node or not.",
        over=[k, n],
        given=k.listed & ~n.is_("gone") & after(n.is_("gone")),
        then=after(k.listed),
    ),
    AlwaysCanReach(
        name="nothing-stays-on-a-lost-node",
        says="what is allocated on a node that is gone can be cleaned up without the resource manager",
        line=66,
        sentence="The node status changes based on the status provided by the resource manager (shim) that owns the node.",
        over=[k],
        given=k.is_(*HELD) & k.node.is_("gone"),
        goal=~k.is_(*HELD),
        without=["end"],
    ),
]
