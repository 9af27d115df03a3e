"""Where the text on the two copies is silent, beside the interpretations in ``readings``, and which properties rest on ours.

The text says which function sends which event. It rarely says when a check fails, and what happens then.
"""

from dataclasses import replace

from schedproof.model.lang import Action, Reading, Row, Rule, exists

from . import copies_alternatives as alt
from .cache import PRESENT
from .deliveries import DELIVER, RUNNING
from .flows import CHANNELS, e, f, out_of_turn, send
from .machines import a, n, p, x, y
from .readings import wish
from .repairs import AMOUNT_FROM_THE_PROPOSAL
from .scheduler import known, preempt, propose, removes_node
from .sorts import Application, Partition, SchedulingAsk

IN_THE_SCHEDULER = x.ask.application.scheduler.is_(PRESENT)

WITH_ITS_ASK = (
    known(e.allocation.ask.application)
    & e.allocation.scheduler.is_("proposed")
    & e.allocation.ask.scheduler.is_("pending", "allocating")
)

UNCHECKED_ROOM = e.allocation.ask.application.cache.is_(PRESENT) & e.allocation.node.cache.is_(PRESENT)

ASK_FAILS = replace(DELIVER["NewAsk"], name="ask_fails", says="the scheduler hears of an ask, and fails ({e})")

REQUESTS = (
    Reading(
        "objects-follow-their-partition",
        47,
        question="When does the resource manager submit applications and add nodes?",
        read="It does so after it has registered their partition, and does not wait until the partition is added.",
        otherwise="It does so at any time, also before or after its partition.",
        why="An application and a node belong to a partition (lines 49 and 150). No event says that a partition is added.",
        adds=[
            replace(wish("submit"), when=[a.is_("unknown"), *wish("submit").when[2:]]),
            replace(wish("add_node"), when=[n.is_("unknown"), *wish("add_node").when[2:]]),
        ],
    ),
    Reading(
        "applications-are-removed-unanswered",
        47,
        question="Must the resource manager wait for the answer before it removes an application?",
        read="It need not wait.",
        otherwise="It removes an application after it is notified that the application is accepted.",
        why="No line asks it to wait.",
        adds=[replace(wish("remove_application"), when=[a.is_("accepted"), *wish("remove_application").when[1:]])],
    ),
    Reading(
        "nodes-are-decommissioned-after-acceptance",
        156,
        question="Must the resource manager wait for the answer before it decommissions a node?",
        read="It decommissions a node after it is notified that the node is accepted.",
        otherwise="It need not wait.",
        why="Before that it does not know whether the node is there.",
        adds=alt.DECOMMISSIONS_AT_ONCE,
        breaks=["nodes-are-answered-once"],
    ),
    Reading(
        "only-what-runs-is-given-back",
        91,
        question="Which allocations can the resource manager release?",
        read="It gives back an allocation of which it is notified, and of which it is not notified that it ended.",
        otherwise="It releases allocations of which it is not notified yet.",
        why="It needs the name of an allocation to release it.",
        adds=alt.GIVES_BACK_WHAT_IT_DOES_NOT_KNOW,
    ),
    Reading(
        "names-are-used-once",
        47,
        question="Can the resource manager use the name of a removed object again?",
        read="It uses a name once: it does not register, submit, add or ask for again what it removed.",
        otherwise="It registers with a removed partition again.",
        why="An object of the same name is another object.",
        adds=[
            Row(Partition, "register", "removed", "registered", line=138),
            replace(wish("register"), when=[p.is_("unknown", "removed"), *wish("register").when[1:]]),
        ],
        breaks=[
            "accepted-applications-are-there",
            "applications-are-added-to-the-cache-first",
            "applications-are-removed-from-the-scheduler-first",
            "applications-in-both-copies",
            "nodes-in-both-copies",
            "partitions-are-added-to-the-cache-first",
            "partitions-are-removed-from-the-scheduler-first",
            "partitions-in-both-copies",
        ],
    ),
    Reading(
        "late-answers-have-no-effect",
        54,
        question="What does the resource manager do with an answer about an object that it has removed, or knows to be gone?",
        read="The answer has no effect.",
        otherwise="It takes an application for accepted, although it has requested the removal.",
        why="Its own request is later than the answer.",
        adds=[
            Row(Application, "accepted", "removed", "accepted", line=54),
            Rule(
                "ApplicationAccepted is heard",
                DELIVER["ApplicationAccepted"],
                [e.application.is_("submitted", "removed")],
                e.application.fires("accepted"),
                line=54,
            ),
        ],
        breaks=["accepted-applications-are-there"],
    ),
    Reading(
        "an-allocation-that-runs-is-not-reported-again",
        26,
        question="What does the resource manager do if it is notified of an allocation that it gave back, or that ended?",
        read="A notification of a new allocation has an effect only if the resource manager does not know the allocation, or knows that it runs.",
        otherwise="The allocation runs again, as far as it knows.",
        why="The notification is older than the end.",
        adds=alt.RUNS_AGAIN,
        configurations=alt.GIVEN_BACK_AT_ONCE,
    ),
    Reading(
        "there-is-one-resource-manager",
        22,
        question="The event names the partitions of a resource manager. Are there several resource managers, and does the event remove several partitions?",
        read="There is one resource manager. The event removes one partition.",
        otherwise="The event removes all partitions of the resource manager, here two.",
        why="No line relates a partition to a resource manager.",
        adds=alt.ALL_PARTITIONS_AT_ONCE,
        configurations=alt.two_registered,
        scope=alt.TWO_PARTITIONS,
    ),
    Reading(
        "proxy-and-resource-manager-are-one",
        47,
        question="Are the resource manager and its proxy two components with a queue between them?",
        read="They are one component. Core and resource manager are one process, with one queue for all notifications (facts 4).",
        otherwise="A request waits a second time between them.",
        why="The proxy passes messages on, and no line gives it a state.",
        untried="the two need a queue of their own between them; two queues in a row keep the order, as one does",
    ),
)

CHANNEL = (
    Reading(
        "a-full-queue-stops-the-process",
        5,
        question="What happens to an event if its queue is full?",
        read="A queue may have a size. An event that finds no room stops the process.",
        otherwise="Queues are never full.",
        why="The text does not mention the size. No queue is endless.",
        drops=[f"a queue with room for {room} overflows" for room in (1, 2, 3)],
        rests=["no-queue-overflows"],
    ),
    Reading(
        "equal-events-are-one",
        5,
        question="What if cache or scheduler sends an event again while an equal one is under way?",
        read="There is one event of each kind about each object. A second one is not sent. A request or a proposal waits for the first to arrive.",
        otherwise="There are two, and both arrive.",
        why="The number of messages must be finite. It hides a second event of the same content if the first has not arrived.",
        machines=[alt.SECOND],
        adds=alt.SENT_AGAIN,
        configurations=alt.events_come_twice,
        axioms=(),
        scope={"Message": 60},
    ),
    Reading(
        "a-bundle-has-one-proposal",
        11,
        question="The event is a bundle of proposals. Does the cache accept or reject them together?",
        read="Each proposal is a message of its own, and is accepted or rejected by itself.",
        otherwise="A bundle has all proposals that are under way. The cache rejects them together if one of them fails.",
        why="Lines 66 to 70 describe the result of one allocation.",
        adds=alt.REJECTED_TOGETHER,
        configurations=alt.TWO_PROPOSALS,
    ),
    Reading(
        "one-answer-to-a-proposal",
        67,
        question="An event is sent for any result, and when it fails. Are these two events?",
        read="The scheduler gets one event for each proposal, accepted or rejected.",
        otherwise="It gets one event for any result, and another one if the addition fails.",
        why="Lines 68 to 70 say what is set in the event of line 67.",
        configurations=alt.rejections_come_twice,
        axioms=(),
    ),
    Reading(
        "an-event-is-handled-in-one-step",
        5,
        question="Do the goroutines of a component see what another one has half done?",
        read="A handler handles an event in one step, and the scheduling loop makes a proposal in one step.",
        otherwise="The scheduling loop finds a proposal in one step and makes it in a later one, also if a handler has changed the copies in between.",
        why="The text describes effects of events, not of their parts. The copies have locks.",
        machines=alt.FINDING,
        adds=alt.READS_BEFORE_IT_WRITES,
        breaks=["allocated-once"],
    ),
    Reading(
        "notifications-wait-in-their-order",
        25,
        question="Do notifications to the resource manager arrive in the order in which cache and scheduler send them?",
        read="They wait in one queue and keep their order, whichever component sends them.",
        otherwise="They may overtake each other.",
        why="Core and resource manager are one process, and pass all kinds of events through one queue (facts 4).",
        adds=[out_of_turn(action) for kind, action in DELIVER.items() if CHANNELS.channel_of(kind) == "rm"],
    ),
    Reading(
        "a-node-is-sent-before-what-runs-on-it",
        126,
        question="Does the scheduler hear of a new node before it hears of the allocations that run on it?",
        read="The node is first.",
        otherwise="They arrive in any order.",
        why="A proposal needs its node (line 129).",
        adds=[
            replace(
                DELIVER["RecoverAllocation"],
                when=[
                    e.kind == "RecoverAllocation",
                    e.is_("under_way"),
                    ~exists(f, e.behind.has(f) & (f.kind != "NodeAdded")),
                    RUNNING,
                ],
            )
        ],
    ),
)

CACHE_CHECKS = (
    Reading(
        "the-cache-checks-partitions-of-applications",
        49,
        question="What does the cache do with an application whose partition it does not have?",
        read="It rejects the application, and does not pass it on.",
        otherwise="It adds the application, and passes it on to the scheduler.",
        why="Line 25 has the cache as a sender of RMApplicationUpdateEvent, and line 49 adds applications to a partition.",
        drops=["the cache rejects an application"],
        adds=[
            Rule(
                "the cache adds an application",
                DELIVER["AddApplication"],
                [e.application.cache.is_("absent")],
                e.application.cache.fires("add"),
                line=49,
            ),
            Rule("a new application", DELIVER["AddApplication"], [], send("ApplicationAdded", e.application), line=21),
        ],
    ),
    Reading(
        "the-cache-rejects-asks",
        105,
        question="What happens to an ask that fails the cache's check?",
        read="The cache rejects it, and notifies the resource manager.",
        otherwise="The cache drops it without notice.",
        why="Line 28 has the cache as a sender of RMRejectedAllocationAskEvent.",
        drops=["an ask that is not sane"],
    ),
    Reading(
        "the-cache-checks-partitions-of-nodes",
        126,
        question="What does the cache do with a node whose partition it does not have?",
        read="It rejects the node, and does not pass it on.",
        otherwise="It adds the node all the same.",
        why="A node belongs to a partition (line 150). RMNodeUpdateEvent can say whether a node is accepted (line 29).",
        drops=["the cache rejects a node"],
        adds=[
            Rule(
                "the cache adds a node",
                DELIVER["AddNode"],
                [e.node.cache.is_("absent")],
                e.node.cache.fires("add"),
                line=126,
            ),
            Rule("a new node", DELIVER["AddNode"], [], send("NodeAdded", e.node), line=19),
            Rule("the cache accepts a node", DELIVER["AddNode"], [], send("NodeAccepted", e.node), line=29),
        ],
        breaks=["nodes-in-both-copies"],
    ),
    Reading(
        "the-cache-accepts-nodes-at-once",
        29,
        question="When is a node reported as accepted?",
        read="The cache reports it as soon as it has added the node, before the scheduler has it.",
        otherwise="It is reported when the scheduler has added the node.",
        why="The cache is the sender of RMNodeUpdateEvent, and no event reports a node from the scheduler to the cache.",
        drops=["the cache accepts a node"],
        adds=[Rule("the scheduler accepts a node", n.scheduler.fires("add"), [], send("NodeAccepted", n), line=29)],
        rests=["nodes-are-added-to-the-cache-first"],
        breaks=["nodes-are-answered"],
    ),
    Reading(
        "a-proposal-fails-without-room-or-object",
        68,
        question="When does the cache fail to add a proposed allocation?",
        read="It fails if it does not have the application or the node, or if the node has no room.",
        otherwise="It fails only if it does not have the application or the node. The scheduler counts the room.",
        why="The cache has an own copy of nodes and allocations, so it can count.",
        adds=[
            Rule(
                "the cache adds an allocation",
                DELIVER["ProposeAllocation"],
                [UNCHECKED_ROOM],
                e.allocation.cache.fires("add"),
                line=66,
            ),
            Rule(
                "an accepted proposal",
                DELIVER["ProposeAllocation"],
                [UNCHECKED_ROOM],
                send("AcceptedAllocation", e.allocation),
                line=70,
            ),
            Rule(
                "an accepted proposal: the resource manager is notified",
                DELIVER["ProposeAllocation"],
                [UNCHECKED_ROOM],
                send("NewAllocation", e.allocation),
                line=26,
                fact="6",
            ),
            Rule(
                "a rejected proposal",
                DELIVER["ProposeAllocation"],
                [~UNCHECKED_ROOM],
                send("RejectedAllocation", e.allocation),
                line=68,
            ),
        ],
        rests=["recovered-allocations-are-kept", "what-runs-is-there"],
        breaks=["cache-nodes-hold-one-allocation"],
    ),
    Reading(
        "a-rejected-application-leaves-the-cache",
        53,
        question="What does the cache do when the scheduler rejects an application?",
        read="It removes the application.",
        otherwise="It keeps the application.",
        why="Otherwise the event would have no purpose.",
        drops=["a rejected application goes"],
        breaks=["applications-in-both-copies", "removed-applications-go"],
    ),
    Reading(
        "every-allocation-that-leaves-the-cache-is-reported",
        85,
        question="Is the resource manager notified of an allocation that is removed with its application, node or partition?",
        read="It is notified of every allocation that leaves the cache.",
        otherwise="It is notified only of allocations that are released by themselves.",
        why="Line 27 has the event without a condition.",
        adds=[
            Rule(
                "a release is reported to the resource manager",
                x.cache.fires("remove"),
                [~x.node.cache.fires("remove"), ~x.ask.application.cache.fires("remove")],
                send("AllocationReleased", x),
                line=85,
            )
        ],
    ),
    Reading(
        "a-release-with-the-node-or-application-is-silent",
        81,
        question="Is the scheduler notified of an allocation that leaves the cache with its node or application?",
        read="It is not notified. The event about the node or application removes its copy.",
        otherwise="It is notified of every allocation that leaves the cache.",
        why="Line 84 is a part of the handling of a proposal.",
        adds=[
            Rule(
                "the scheduler is notified of an allocation that goes with its node",
                x.cache.fires("remove"),
                [x.node.cache.fires("remove") | x.ask.application.cache.fires("remove")],
                send("ReleasedAllocation", x),
                line=84,
            )
        ],
    ),
    Reading(
        "one-function-handles-all-releases",
        81,
        question="Does the cache handle a release after a failed addition, and a release for the resource manager, like a preemption?",
        read="It handles all three in one way: it removes the allocation if it has it.",
        otherwise="A release for the resource manager is refused in some cases.",
        why="The text has one function for releases.",
        adds=[alt.RELEASE_IS_REFUSED],
    ),
)

SCHEDULER_CHECKS = (
    Reading(
        "an-application-fails-without-its-partition",
        53,
        question="When does the scheduler fail to add an application?",
        read="It fails if it does not have the partition, if it has the application already, or if it refuses the application, which is fixed for each.",
        otherwise="It fails only if it refuses the application.",
        why="Line 49 adds applications to a partition.",
        adds=[
            Rule(
                "the scheduler adds an application",
                DELIVER["ApplicationAdded"],
                [~e.application.refused, e.application.scheduler.is_("absent")],
                e.application.scheduler.fires("add"),
                line=52,
            ),
            Rule(
                "the scheduler rejects an application: to the cache",
                DELIVER["ApplicationAdded"],
                [e.application.refused],
                send("RejectedNewApplication", e.application),
                line=53,
            ),
            Rule(
                "an added application is accepted",
                DELIVER["ApplicationAdded"],
                [~e.application.refused],
                send("ApplicationAccepted", e.application),
                line=54,
            ),
            Rule(
                "the scheduler rejects an application: to the resource manager",
                DELIVER["ApplicationAdded"],
                [e.application.refused],
                send("ApplicationRejected", e.application),
                line=54,
            ),
        ],
        breaks=[
            "applications-are-added-to-the-cache-first",
            "applications-are-removed-from-the-scheduler-first",
            "applications-in-both-copies",
        ],
    ),
    Reading(
        "nodes-without-a-partition-are-dropped",
        19,
        question="What does the scheduler do with a new node whose partition it does not have?",
        read="It drops the node without notice.",
        otherwise="It adds the node all the same.",
        why="No event reports a node from the scheduler to the cache.",
        adds=[
            Rule(
                "the scheduler adds a node",
                DELIVER["NodeAdded"],
                [e.node.scheduler.is_("absent")],
                e.node.scheduler.fires("add"),
                line=19,
            )
        ],
        breaks=["nodes-in-both-copies"],
    ),
    Reading(
        "an-ask-fails-without-its-application",
        108,
        question="When does the scheduler fail to add an ask?",
        read="It fails if it does not find the application, or its partition.",
        otherwise="It may also fail for another reason.",
        why="Line 118 has the search for partition and application, for the removal of an ask.",
        adds=[
            ASK_FAILS,
            Rule(
                "an ask that fails is rejected",
                ASK_FAILS,
                [e.ask.scheduler.is_("absent")],
                send("AskRejected", e.ask),
                line=108,
            ),
        ],
    ),
    Reading(
        "a-rejected-proposal-is-dropped",
        68,
        question="What does the scheduler do with its proposal when the cache rejects it?",
        read="It drops the proposal.",
        otherwise="It goes on counting the proposal.",
        why="Nothing else would free the node.",
        drops=["a rejected proposal is dropped"],
    ),
    Reading(
        "the-ask-of-an-allocation-is-satisfied",
        71,
        question="Does an ask get more than one allocation?",
        read="An ask whose allocation is confirmed waits no more.",
        otherwise="It waits again at once, for another allocation.",
        why="Line 128 creates one ask for one allocation.",
        adds=[Row(SchedulingAsk, "confirm", "allocating", "pending", line=71)],
        breaks=["allocated-once", "nothing-is-released-twice", "what-is-there-is-told"],
    ),
    Reading(
        "a-confirmation-needs-its-ask",
        71,
        question="When does the scheduler fail to add an allocation that the cache has accepted?",
        read="It fails if the ask, the application or the proposal is gone.",
        otherwise="It fails only if the proposal is gone. An ask that is gone does not matter.",
        why="The line cites YUNIKORN-169, where the ask is gone.",
        adds=[
            Rule(
                "the scheduler confirms an allocation",
                DELIVER["AcceptedAllocation"],
                [e.allocation.scheduler.is_("proposed")],
                e.allocation.scheduler.fires("confirm"),
                line=71,
            ),
            Rule(
                "its ask is satisfied",
                DELIVER["AcceptedAllocation"],
                [e.allocation.scheduler.is_("proposed"), e.allocation.ask.scheduler.is_("allocating")],
                e.allocation.ask.scheduler.fires("confirm"),
                line=71,
            ),
            Rule(
                "the scheduler fails",
                DELIVER["AcceptedAllocation"],
                [~e.allocation.scheduler.is_("proposed")],
                send("ReleaseFailed", e.allocation),
                line=72,
            ),
            Rule(
                "the ask of a failed proposal waits again",
                DELIVER["AcceptedAllocation"],
                [~e.allocation.scheduler.is_("proposed"), e.allocation.ask.scheduler.is_("allocating")],
                e.allocation.ask.scheduler.fires("try_again"),
                line=72,
            ),
        ],
        rests=[
            "allocations-given-back-go",
            "allocations-in-both-copies",
            "copies-agree-at-rest",
            "copies-can-agree-again",
            "proposals-are-on-their-way",
        ],
    ),
    Reading(
        "a-failed-addition-leaves-the-proposal",
        72,
        question="The scheduler fails to add an accepted allocation. What happens to its own proposal?",
        read="The scheduler goes on counting it.",
        otherwise="The scheduler drops it, beside sending the event to the cache.",
        why="The line has the event to the cache only. The scheduler has the amount from the ask, which is gone.",
        adds=list(AMOUNT_FROM_THE_PROPOSAL.adds),
        rests=[
            "allocations-given-back-go",
            "allocations-in-both-copies",
            "copies-agree-at-rest",
            "copies-can-agree-again",
            "proposals-are-on-their-way",
        ],
    ),
    Reading(
        "the-ask-of-a-failed-addition-waits-again",
        72,
        question="What happens to the ask of an allocation that the scheduler fails to add?",
        read="If it is there, it waits again.",
        otherwise="It does not wait again.",
        why="The same is true of a rejected proposal, in our interpretation of line 69.",
        drops=["the ask of a failed proposal waits again"],
    ),
    Reading(
        "what-cannot-be-recovered-is-dropped",
        127,
        question="What does the scheduler do with an allocation to recover, if its application or node is not there?",
        read="It drops the allocation without notice.",
        otherwise="It notifies the resource manager that the allocation has ended.",
        why="The line does not mention a failure.",
        adds=[alt.NOT_RECOVERED_IS_REPORTED],
        configurations=alt.REMOVED_BEFORE_IT_RECOVERS,
    ),
    Reading(
        "a-node-of-the-copies-has-room-for-one-allocation",
        64,
        question="When does the scheduler propose an allocation?",
        read="It proposes it if the ask waits, the node is there, and the node has no other allocation or proposal.",
        otherwise="It proposes it also if the node has another allocation.",
        why="A node with room for one allocation is the smallest that can be full.",
        adds=[replace(propose, when=[*propose.when[:4], *propose.when[5:]])],
    ),
    Reading(
        "an-ask-has-one-proposal-at-a-time",
        64,
        question="Does the scheduler propose another allocation for an ask while it waits for the cache's answer to a proposal?",
        read="An ask has one proposal at a time.",
        otherwise="The ask still waits, and may get another proposal. Only the first one that is accepted is confirmed.",
        why="The scheduler counts a proposal (line 64), so the ask has what it asked for.",
        adds=[
            Row(SchedulingAsk, "allocate", "pending", "pending", line=64),
            Row(SchedulingAsk, "confirm", "pending", "satisfied", line=71),
            Rule(
                "the scheduler confirms an allocation",
                DELIVER["AcceptedAllocation"],
                [WITH_ITS_ASK],
                e.allocation.scheduler.fires("confirm"),
                line=71,
            ),
            Rule(
                "its ask is satisfied",
                DELIVER["AcceptedAllocation"],
                [WITH_ITS_ASK],
                e.allocation.ask.scheduler.fires("confirm"),
                line=71,
            ),
            Rule(
                "the scheduler fails",
                DELIVER["AcceptedAllocation"],
                [~WITH_ITS_ASK],
                send("ReleaseFailed", e.allocation),
                line=72,
            ),
        ],
        breaks=["allocated-once"],
    ),
    Reading(
        "allocations-stay-within-a-partition",
        64,
        question="May an application get a node of another partition?",
        read="The node of an allocation is in the partition of its application.",
        otherwise="They may be in different partitions.",
        why="A partition has its own applications and nodes (lines 49 and 150).",
        configurations=alt.nodes_of_another_partition,
        axioms=(),
        scope=alt.TWO_PARTITIONS,
        breaks=["asks-are-answered"],
    ),
    Reading(
        "every-confirmed-allocation-may-be-preempted",
        79,
        question="Which allocations does the scheduler propose to release?",
        read="It may propose each confirmed allocation, at any time.",
        otherwise="It proposes an allocation only if an ask waits that suits its node.",
        why="The text does not say what is preempted.",
        adds=[
            replace(
                preempt,
                when=[*preempt.when, exists(y, (y.node == x.node) & y.ask.scheduler.is_("pending"))],
            )
        ],
        breaks=["life-of-a-scheduled-allocation"],
    ),
    Reading(
        "nothing-is-proposed-in-a-stopped-partition",
        64,
        question="Does the scheduler go on making proposals in a partition that is stopped?",
        read="It proposes nothing for the applications of a stopped partition: no allocation, and no release.",
        otherwise="It goes on as long as the application is there.",
        why="Line 148 removes the reference to the partition, and the scheduling loop begins at it.",
        adds=[
            replace(propose, when=[propose.when[0], IN_THE_SCHEDULER, *propose.when[2:]]),
            replace(preempt, when=[preempt.when[0], IN_THE_SCHEDULER, *preempt.when[2:]]),
        ],
    ),
    Reading(
        "a-proposal-to-release-is-a-proposal",
        79,
        question="A preemption begins with AllocationProposals, like a new allocation. Is it one proposal of both?",
        read="A proposal to release is a message of its own, about one allocation. Nothing relates it to a new allocation.",
        otherwise="One proposal has the releases and the allocation for which they make room.",
        why="The two flows are separate in the text.",
        adds=alt.RELEASED_FOR_ANOTHER,
        drops=["a proposal to release"],
    ),
    Reading(
        "the-manager-removes-one-object-at-a-time",
        150,
        question="In which order, and in how many steps, does a partition's manager remove applications and nodes?",
        read="It removes one object at a time, in any order.",
        otherwise="It removes all applications before the first node, as the line lists them.",
        why="The line says that it works asynchronously, and gives no order.",
        adds=[
            replace(
                removes_node,
                when=[*removes_node.when, ~exists(a, (a.partition == n.partition) & a.scheduler.is_(PRESENT))],
            )
        ],
    ),
    Reading(
        "the-manager-ends-when-all-is-removed",
        150,
        question="When does a partition's manager end?",
        read="It ends when no application and no node of the partition is left. Then the scheduler's partition is gone.",
        otherwise="It may end earlier.",
        why="Its purpose is to remove them.",
        adds=[
            Action(
                "manager_ends",
                [p],
                [p.scheduler.is_("stopped"), RUNNING],
                [p.scheduler.fires("remove")],
                "the manager of the partition {p} ends",
                150,
            )
        ],
        breaks=[
            "applications-are-removed-from-the-scheduler-first",
            "applications-in-both-copies",
            "nodes-in-both-copies",
            "withdrawn-asks-go",
        ],
    ),
    Reading(
        "a-dropped-partition-is-stopped",
        24,
        question="What does the scheduler do with a partition that the configuration drops?",
        read="It stops the partition, like one that the resource manager removes.",
        otherwise="It keeps the partition.",
        why="No flow of the text has the event. Its name is that of a removal.",
        drops=["PartitionDeleted: the partition is stopped"],
        breaks=["asks-are-answered-once"],
    ),
    Reading(
        "what-the-scheduler-does-not-find-it-does-not-change",
        118,
        question="What does the scheduler do with an event about an object that it does not have, or whose partition is stopped?",
        read="It does nothing, and sends no answer.",
        otherwise="It finds the objects of a stopped partition as long as they are there.",
        why="Line 148 removes the reference to the partition, so a search that begins at the partition fails.",
        adds=[
            Rule(
                "the scheduler removes an application",
                DELIVER["ApplicationRemoved"],
                [e.application.scheduler.is_(PRESENT)],
                e.application.scheduler.fires("remove"),
                line=55,
            ),
            Rule(
                "the cache is notified of a removed application",
                DELIVER["ApplicationRemoved"],
                [e.application.scheduler.is_(PRESENT)],
                send("RemovedApplication", e.application),
                line=56,
            ),
            Rule(
                "the scheduler removes an ask",
                DELIVER["RemoveAsk"],
                [~e.ask.scheduler.is_("absent")],
                e.ask.scheduler.fires("remove"),
                line=119,
            ),
        ],
    ),
)

COPIES_INTERPRETATIONS = (*REQUESTS, *CHANNEL, *CACHE_CHECKS, *SCHEDULER_CHECKS)
"""The interpretations on which the two copies rest, beside those of ``readings``."""
