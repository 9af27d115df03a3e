"""The contradictions in the document's text; each names the finding of a run or of a lock that shows it too.

Each contradiction has its lines, their quotation, what contradicts what, and our interpretation.
"""

from schedproof.model.lang import Contradiction

CONTRADICTIONS = (
    Contradiction(
        "registration-has-two-names",
        (
            (17, "RegisterRMEvent                           | RM -> Cache"),
            (138, "RMProxy send RMRegistrationEvent/ConfigUpdateRMEvent to cache."),
        ),
        "The table's RegisterRMEvent is RMRegistrationEvent in the text.",
        "They are one event: RegisterRMEvent, as the table and line 266 have it.",
    ),
    Contradiction(
        "one-name-for-two-flows",
        (
            (14, "RemoveRMPartitionsEvent                   | Scheduler -> Cache    | Remove"),
            (22, "RemoveRMPartitionsEvent                   | RM -> Scheduler       |"),
        ),
        "One name for two events: one is to be removed, the other is to stay.",
        "Two events: a wish of the resource manager, and the scheduler's word to the cache that a partition is gone.",
    ),
    Contradiction(
        "removed-partitions-stay-in-the-cache",
        (
            (14, "RemoveRMPartitionsEvent                   | Scheduler -> Cache"),
            (147, "- RM -> Scheduler"),
            (148, "- Scheduler remove partition reference."),
            (42, "it will remove object from scheduler first, then remove from cache"),
        ),
        "By the text a partition is removed from the scheduler only; the table has an event that notifies the cache, which the text never sends.",
        "The partition's manager sends it when it is done, and the cache removes its copy with all that is in it.",
    ),
    Contradiction(
        "who-drops-a-partition",
        (
            (24, "SchedulerDeletePartitionsConfigEvent      | Cache -> Scheduler"),
            (136, "Add/Update Partition: "),
            (140, "- Cache send to scheduler SchedulerUpdatePartitionsConfigEvent."),
        ),
        "The table has an event for partitions that a new configuration no longer has; the text says only what happens to new and changed ones.",
        "The cache passes it on; it keeps its copy until the scheduler is done, as line 42 wants it.",
    ),
    Contradiction(
        "nodes-leave-the-cache-first",
        (
            (42, "it will remove object from scheduler first, then remove from cache"),
            (157, "cache remove the node first (!!), and then notify scheduler"),
        ),
        "A node is removed in the order that the contract forbids; the author's own marks say so.",
        "As line 157 has it; that it breaks the contract is a finding (nodes-are-removed-from-the-scheduler-first).",
    ),
    Contradiction(
        "preempted-allocations-leave-the-cache-first",
        (
            (42, "it will remove object from scheduler first, then remove from cache"),
            (81, "2.1 partitionInfo.processAllocationReleases:"),
            (84, "- Send to scheduler, notify allocation released."),
        ),
        "The cache removes a preempted allocation, and notifies the scheduler afterwards: the order that the contract forbids.",
        "As lines 81 to 84 have it; that it breaks the contract is a finding (allocations-are-removed-from-the-scheduler-first).",
    ),
    Contradiction(
        "nodes-have-no-event-in-the-text",
        (
            (19, "SchedulerNodeEvent                        | Cache -> Scheduler"),
            (126, "2. Cache handles, and send to Scheduler (via SchedulerAllocationUpdatesEvent)"),
            (157, "and then notify scheduler"),
        ),
        "When a node is added the text sends the scheduler an event about allocations only; the table has one for nodes, which the text never names.",
        "The cache sends both, the node first; and when a node goes it sends the event for nodes.",
    ),
    Contradiction(
        "new-nodes-are-no-event",
        (
            (16, "RMUpdateRequestEvent                      | RM -> Cache"),
            (125, "1. RM send NewSchedulableNode "),
        ),
        "NewSchedulableNode is in the text as if it were an event; the table has none of that name.",
        "It is a part of the update request, as applications and asks are (line 47).",
    ),
    Contradiction(
        "removed-applications-are-not-answered",
        (
            (25, "RMApplicationUpdateEvent (add/remove app) | Cache/Scheduler -> RM"),
            (54, "No matter if failed or not, send RMApplicationUpdateEvent to RM."),
            (56, "Send RemovedApplicationEvent to cache"),
        ),
        "By the table the resource manager is notified of added and of removed applications; by the text of added ones only.",
        "It is notified whether an application is accepted; a removal is its own request.",
    ),
    Contradiction(
        "the-cache-answers-nobody-in-the-text",
        (
            (25, "RMApplicationUpdateEvent (add/remove app) | Cache/Scheduler -> RM"),
            (28, "RMRejectedAllocationAskEvent              | Cache/Scheduler -> RM"),
            (105, "- If yes, send new ask to scheduler. (via SchedulerAllocationUpdatesEvent)"),
            (109, "Why directly send to RM? Because Cache doesn't store asks. "),
        ),
        "By the table the cache rejects applications and asks itself; the text says what becomes of those that pass its checks, and not of the others.",
        "What the cache's checks refuse it rejects, by these events.",
    ),
    Contradiction(
        "which-release-is-again",
        (
            (72, "Send ReleaseAllocationsEvent to Cache *again* to remove from Cache."),
            (82, "When failed: nothing happened. "),
        ),
        "Nothing was sent to release the allocation before, so that nothing is sent *again*; what is again is that the cache hears of it.",
        "The scheduler sends one release, which the cache handles like any other.",
    ),
    Contradiction(
        "the-copies-have-two-names",
        (
            (42, "(such as `app_info` and  `scheduler_app`"),
            (163, "1. `application_info` & `scheduling_application`"),
        ),
        "The two copies of an application are called app_info and scheduler_app, and application_info and scheduling_application.",
        "They are the same; the sorts here have the names of lines 163 to 167.",
    ),
    Contradiction(
        "nodes-are-deleted-by-no-function",
        (
            (276, "- scheduler.delete_all_apps(partition) # See common method below"),
            (278, "- scheduler.delete_nodes(partition) # See common method below"),
            (300, "scheduler.delete_app(app)"),
        ),
        "Of the three common methods that are to be seen below, delete_nodes and delete_all_apps are not there.",
        "All applications and all nodes of the partition are removed, each as by its own removal.",
    ),
    Contradiction(
        "the-end-of-an-allocation-has-two-names",
        (
            (27, "RMReleaseAllocationEvent                  | Cache -> RM"),
            (320, ">> Emit alloc_completed_event to RMProxy"),
        ),
        "The event that stays in the table is RMReleaseAllocationEvent; the pseudo code emits an alloc_completed_event, which no table has.",
        "They are one event.",
    ),
    Contradiction(
        "who-sends-when-there-is-no-cache",
        (
            (26, "RMNewAllocationsEvent                     | Cache -> RM           |          |"),
            (328, "1. Get rid of Cache object (there should have one object for one purpose)"),
        ),
        "Events that stay are sent by the cache, or to it, which is to go.",
        "In the merged design the scheduler sends and handles them (as line 266 has it).",
    ),
    # --- Locks
    Contradiction(
        "what-must-not-both-be-allowed",
        (
            (245, "- Holding A.lock and acquire B's lock. "),
            (246, "- Holding B.lock and acquire B's lock. "),
        ),
        "The second line is about B alone, so the two exclude nothing: an order with A before B and B before A is one that they allow.",
        "Holding B.lock and acquiring A's lock; deadlocks/sentence-245.yaml shows what the words allow.",
    ),
    Contradiction(
        "the-cluster-is-not-in-the-table",
        (
            (248, "(Anything not mentioned here is NOT allowed)"),
            (268, "- Scheduler wlock(cluster): "),
            (271, "- scheduler wlock(partition)"),
        ),
        "The table has no row for the cluster; the pseudo code locks partitions under it.",
        "As the table has it; that the pseudo code breaks it is a finding (locks.update-configuration-follows-the-order).",
    ),
    Contradiction(
        "what-only-needs-rlock",
        (
            (209, "- Scheduler logic to get proposal only needs rlock."),
            (222, "- Read any of the above mentioned fields require rlock(Queue)."),
        ),
        "The search for a proposal needs read locks of queues, applications and nodes as well.",
        "Of the partition it needs no more than rlock.",
    ),
    Contradiction(
        "delete-app-takes-a-queue",
        (
            (296, "**Function: scheduler.delete_app(queue)**"),
            (300, "scheduler.delete_app(app)   "),
        ),
        "The heading gives the function a queue, its text an application.",
        "It takes an application.",
    ),
    Contradiction(
        "two-names-and-no-text",
        (
            (303, "- app.remove_allocation(alloc)"),
            (305, "- app.unreserve_allocation(alloc)"),
            (312, "app.remove_alloc(alloc)"),
        ),
        "remove_allocation is remove_alloc where it is written; unreserve_allocation is written nowhere, and is given an "
        "allocation that its loop (over reserved) has not got.",
        "They are one function; what is reserved is given back like what is allocated.",
    ),
    Contradiction(
        "returns-before-it-emits",
        (
            (319, "- return alloc.resource"),
            (320, ">> Emit alloc_completed_event to RMProxy"),
        ),
        "remove_alloc returns, and emits its event after that: as written it never would.",
        "It emits the event before it returns.",
    ),
    Contradiction(
        "applications-are-deleted-twice",
        (
            (276, "- scheduler.delete_all_apps(partition)"),
            (277, "- scheduler.delete_queue(root)"),
            (291, "for app: queue.apps() "),
            (292, "delete_app(app)"),
        ),
        "With a partition all its applications are deleted, and then those of each queue again, for delete_app takes them out of neither.",
        "What is deleted is in the partition and in its queue no more; the second time there is nothing left to delete.",
    ),
    Contradiction(
        "under-which-locks",
        (
            (187, "- Any (potential) write-operation involves > 1 object"),
            (311, "# Always under wlock(application)"),
        ),
        "remove_alloc writes an application and a node, and its comment guarantees the application's lock only.",
        "As line 311 has it; that it breaks the rule is a finding (locks.several-objects-are-changed-under-the-partition).",
    ),
)
