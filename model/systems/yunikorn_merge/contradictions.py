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
        "Two events have one name. The table removes one of them, and keeps the other.",
        "There are two events: the resource manager requests a removal, and the scheduler notifies the cache that a partition is removed.",
    ),
    Contradiction(
        "removed-partitions-stay-in-the-cache",
        (
            (14, "RemoveRMPartitionsEvent                   | Scheduler -> Cache"),
            (147, "- RM -> Scheduler"),
            (148, "- Scheduler remove partition reference."),
            (42, "it will remove object from scheduler first, then remove from cache"),
        ),
        "In the text, a partition is removed from the scheduler only. The table has an event that notifies the cache; the text never sends it.",
        "The partition's manager sends the event when it is done. The cache then removes its copy of the partition, with its applications and nodes.",
    ),
    Contradiction(
        "who-drops-a-partition",
        (
            (24, "SchedulerDeletePartitionsConfigEvent      | Cache -> Scheduler"),
            (136, "Add/Update Partition: "),
            (140, "- Cache send to scheduler SchedulerUpdatePartitionsConfigEvent."),
        ),
        "The table has an event for partitions that a new configuration drops. The text covers only new and changed partitions.",
        "The cache forwards the event, and keeps its copy until the scheduler is done, as line 42 requires.",
    ),
    Contradiction(
        "nodes-leave-the-cache-first",
        (
            (42, "it will remove object from scheduler first, then remove from cache"),
            (157, "cache remove the node first (!!), and then notify scheduler"),
        ),
        "A node is removed in the order that the contract forbids; the author marks the place with (!!).",
        "The model follows line 157. The violated contract is the finding nodes-are-removed-from-the-scheduler-first.",
        violates=["nodes-are-removed-from-the-scheduler-first"],
    ),
    Contradiction(
        "preempted-allocations-leave-the-cache-first",
        (
            (42, "it will remove object from scheduler first, then remove from cache"),
            (81, "2.1 partitionInfo.processAllocationReleases:"),
            (84, "- Send to scheduler, notify allocation released."),
        ),
        "The cache removes a preempted allocation, and notifies the scheduler afterwards. The contract forbids this order.",
        "The model follows lines 81 to 84. The violated contract is the finding allocations-are-removed-from-the-scheduler-first.",
        violates=["allocations-are-removed-from-the-scheduler-first"],
    ),
    Contradiction(
        "nodes-have-no-event-in-the-text",
        (
            (19, "SchedulerNodeEvent                        | Cache -> Scheduler"),
            (126, "2. Cache handles, and send to Scheduler (via SchedulerAllocationUpdatesEvent)"),
            (157, "and then notify scheduler"),
        ),
        "When a node is added, the text sends the scheduler only an event about allocations. The table has an event for nodes, which the text never names.",
        "The cache sends both events, the one for the node first. When a node is removed, it sends the event for nodes.",
    ),
    Contradiction(
        "new-nodes-are-no-event",
        (
            (16, "RMUpdateRequestEvent                      | RM -> Cache"),
            (125, "1. RM send NewSchedulableNode "),
        ),
        "The text uses NewSchedulableNode like an event; the table has no event of that name.",
        "NewSchedulableNode is a part of the update request, like applications and asks (line 47).",
    ),
    Contradiction(
        "removed-applications-are-not-answered",
        (
            (25, "RMApplicationUpdateEvent (add/remove app) | Cache/Scheduler -> RM"),
            (54, "No matter if failed or not, send RMApplicationUpdateEvent to RM."),
            (56, "Send RemovedApplicationEvent to cache"),
        ),
        "In the table, the resource manager is notified of added and of removed applications. In the text, only of added ones.",
        "It is notified whether an application is accepted. It is not notified of a removal, which it requested itself.",
    ),
    Contradiction(
        "the-cache-answers-nobody-in-the-text",
        (
            (25, "RMApplicationUpdateEvent (add/remove app) | Cache/Scheduler -> RM"),
            (28, "RMRejectedAllocationAskEvent              | Cache/Scheduler -> RM"),
            (105, "- If yes, send new ask to scheduler. (via SchedulerAllocationUpdatesEvent)"),
            (109, "Why directly send to RM? Because Cache doesn't store asks. "),
        ),
        "In the table, the cache rejects applications and asks itself. The text covers only those that pass the cache's checks.",
        "The cache sends these events for applications and asks that fail its checks.",
    ),
    Contradiction(
        "which-release-is-again",
        (
            (72, "Send ReleaseAllocationsEvent to Cache *again* to remove from Cache."),
            (82, "When failed: nothing happened. "),
        ),
        "No event to release the allocation was sent before, so none is sent *again*. Only the cache handles the allocation again.",
        "The scheduler sends one release, and the cache handles it like any other.",
    ),
    Contradiction(
        "the-copies-have-two-names",
        (
            (
                42,
                "If there's an object exists in both scheduler and cache (such as `app_info` and  `scheduler_app`, when add an object, it will add to cache first, then scheduler;",
            ),
            (163, "1. `application_info` & `scheduling_application`"),
        ),
        "The two copies of an application are app_info and scheduler_app in one line, application_info and scheduling_application in another.",
        "The names mean the same copies. The model uses the names of lines 163 to 167.",
    ),
    Contradiction(
        "nodes-are-deleted-by-no-function",
        (
            (276, "- scheduler.delete_all_apps(partition) # See common method below"),
            (278, "- scheduler.delete_nodes(partition) # See common method below"),
            (300, "scheduler.delete_app(app)"),
        ),
        "Three methods are announced as common methods below. Two of them are missing: delete_nodes and delete_all_apps.",
        "They remove all applications and all nodes of the partition, as the removal of a single one does.",
    ),
    Contradiction(
        "the-end-of-an-allocation-has-two-names",
        (
            (27, "RMReleaseAllocationEvent                  | Cache -> RM"),
            (320, ">> Emit alloc_completed_event to RMProxy"),
        ),
        "The table keeps RMReleaseAllocationEvent. The pseudo code emits an alloc_completed_event, which no table has.",
        "The names mean one event.",
    ),
    Contradiction(
        "who-sends-when-there-is-no-cache",
        (
            (26, "RMNewAllocationsEvent                     | Cache -> RM           |          |"),
            (328, "1. Get rid of Cache object (there should have one object for one purpose)"),
        ),
        "The table keeps events that the cache sends or receives, and the text removes the cache.",
        "In the merged design, the scheduler sends and handles them (line 266).",
    ),
    # --- Locks
    Contradiction(
        "what-must-not-both-be-allowed",
        (
            (245, "- Holding A.lock and acquire B's lock. "),
            (246, "- Holding B.lock and acquire B's lock. "),
        ),
        "The second line names B twice. So the two lines exclude nothing: they allow A before B together with B before A.",
        "The second line means: holding B.lock and acquiring A's lock. deadlocks/sentence-245.yaml shows what the literal text allows.",
    ),
    Contradiction(
        "the-cluster-is-not-in-the-table",
        (
            (248, "(Anything not mentioned here is NOT allowed)"),
            (268, "- Scheduler wlock(cluster): "),
            (271, "- scheduler wlock(partition)"),
        ),
        "The table has no row for the cluster; the pseudo code locks partitions under it.",
        "The model follows the table. The pseudo code that breaks it is the finding locks.update-configuration-follows-the-order.",
        violates=["locks.update-configuration-follows-the-order"],
    ),
    Contradiction(
        "delete-app-takes-a-queue",
        (
            (296, "**Function: scheduler.delete_app(queue)**"),
            (300, "scheduler.delete_app(app)   "),
        ),
        "In the heading the function takes a queue, in its text an application.",
        "It takes an application.",
    ),
    Contradiction(
        "two-names-and-no-text",
        (
            (303, "- app.remove_allocation(alloc)"),
            (305, "- app.unreserve_allocation(alloc)"),
            (312, "app.remove_alloc(alloc)"),
        ),
        "The text defines remove_alloc, and calls remove_allocation. It never defines unreserve_allocation, and passes it an "
        "allocation, though the loop is over reservations.",
        "remove_allocation is remove_alloc. A reservation is released like an allocation.",
    ),
    Contradiction(
        "returns-before-it-emits",
        (
            (319, "- return alloc.resource"),
            (320, ">> Emit alloc_completed_event to RMProxy"),
        ),
        "remove_alloc returns before it emits its event, so literally it never emits it.",
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
        "The removal of a partition deletes all its applications, and then those of each queue again, because delete_app removes them neither from the partition nor from the queue.",
        "A deleted application is no longer in its partition and queue. The second time, nothing is left to delete.",
    ),
    Contradiction(
        "under-which-locks",
        (
            (187, "- Any (potential) write-operation involves > 1 object"),
            (311, "# Always under wlock(application)"),
        ),
        "remove_alloc writes an application and a node. Its comment guarantees only the application's lock.",
        "The model follows line 311. The broken rule is the finding locks.several-objects-are-changed-under-the-partition.",
        violates=["locks.several-objects-are-changed-under-the-partition"],
    ),
    Contradiction(
        "removals-leave-the-queue-as-it-is",
        (
            (191, "- Do new allocation / remove allocation, will change application, queue and node"),
            (276, "- scheduler.delete_all_apps(partition)"),
            (293, "update queue's resource_usage for app."),
            (318, "- update app.resource_usage"),
        ),
        "The removal of an allocation changes the usage of a queue. Only delete_queue updates it. delete_all_apps and a single delete_app or remove_alloc do not.",
        "The caller of remove_alloc updates the queue, in locks/as-written.yaml after it has released the application.",
    ),
    Contradiction(
        "a-change-of-an-ask-is-arguable",
        (
            (190, "Here's a list of operation needs wlock(Partition)"),
            (196, "- Change pending request of ask, will change application (pending resource),"),
            (199, "it maybe fine to not make this operation atomic."),
        ),
        "The list says that a change of an ask needs the lock of the partition. A comment in the list says that it may not need it.",
        "It needs the lock. What the comment proposes is an operation of its own, and breaks line 187.",
    ),
    Contradiction(
        "a-preemption-is-a-release-and-a-reservation",
        (
            (76, "**Release allocation initiated by scheduler (preemption)**"),
            (195, "(Preempt container is a special case of reservation)"),
        ),
        "A preemption is the release of an allocation in one line, and a reservation in the other.",
        "It is the release of an allocation.",
    ),
)
