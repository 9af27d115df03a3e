"""Our interpretations of "Scheduler Object States": where its text is silent or ambiguous, and what hangs on the answer.

Each has the question that the text leaves open, the model's answer and another one. ``adds`` and ``drops`` change the
model to the other answer; ``rests`` and ``breaks`` name the properties whose verdict differs then. An element of
``adds`` replaces the one of the same name.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TypeVar

from schedproof.model.lang import (
    Action,
    Invariant,
    Reading,
    Row,
    Rule,
    StepInvariant,
    Term,
    after,
    exists,
    forall,
    implies,
)

from . import alternatives as alt
from . import core_v0_12_2
from . import events as ev
from .configurations import configurations
from .events import FAILS, held, keeps, pending
from .machines import HELD, SCHEDULED, TIMED, a, g, k, n, p, q, u, w, x
from .properties import APPLICATIONS
from .shim_interpretations import WITH_THE_SHIM
from .sorts import Node
from .unlocked_timers import SEVERAL_TIME_OUTS, WAKEUP_UNLOCKED, WITHOUT_THE_LOCK

Guarded = TypeVar("Guarded", Action, Rule)
RULES = {rule.name: rule for rule in ev.CORE_RULES}
GANG_FAILS = next(
    prop for prop in APPLICATIONS if isinstance(prop, StepInvariant) and prop.name == "a-gang-fails-before-it-runs"
)


def guarded(element: Guarded, *conditions: Term) -> Guarded:
    """Returns an action or a rule with more conditions."""
    return replace(element, when=[*element.when, *conditions])


REAL = ~k.placeholder & k.is_(*HELD)
OF_REAL_ALLOCATIONS = [
    Invariant(
        name="accepted-has-no-allocation",
        says="an Accepted application has no real allocation",
        line=19,
        over=[a],
        given=a.is_("Accepted"),
        then=~held(a, placeholder=False),
    ),
    Invariant(
        name="starting-has-one-allocation",
        says="a Starting application has exactly one real allocation",
        line=20,
        over=[a],
        given=a.is_("Starting"),
        then=held(a, placeholder=False)
        & forall(
            [k, x],
            implies(
                (k.application == a) & REAL & (x.application == a) & ~x.placeholder & x.is_(*HELD),
                k == x,
            ),
        ),
    ),
    StepInvariant(
        name="more-allocations-make-it-running",
        says="a Starting application to which a real allocation is added is Running",
        line=20,
        over=[k, a],
        given=~k.placeholder & (k.application == a) & ~k.is_(*HELD) & after(k.is_(*HELD)) & a.is_("Starting"),
        then=after(a.is_("Running")),
    ),
]
"""The requirements of lines 19 and 20, of real allocations only."""

STOPPED_PARTITION = a.queue.partition.is_("Stopped")
UNFINISHED_OR_TRACKED = ("New", *SCHEDULED, "Completing", "Completed", "Failing", "Failed", "Resuming")
TRACKED = exists(a, (a.queue == q) & a.known & a.is_(*UNFINISHED_OR_TRACKED))
CHILDREN = exists(u, (u.parent == q) & ~u.deleted)

OBJECTS = (
    Reading(
        "a-partition-has-its-own-queues-and-nodes",
        44,
        "Queues form trees. Each queue, with its applications, is in one partition, and each node is in one. An allocation is on a node of the "
        "partition of its queue.",
        "Queues are a flat list, and any queue can use any node, here those of a second partition.",
        question="How are queues, partitions and nodes related? The text lists queues and partitions, and lets an application belong to both.",
        why="Line 25 has a partition that an application belongs to, and line 27 a queue. v0.12.2 has trees of queues in each partition.",
        adds=alt.ANY_NODE,
        configurations=alt.flat_queues,
        scope={"Partition": 2},
    ),
    Reading(
        "objects-are-stopped-and-started-at-any-time",
        56,
        "A queue or partition can be stopped at any time when it is Active, and started at any time when it is Stopped.",
        "The core scheduler does so only for a cause. The text names none, so no object is stopped.",
        drops=["stop_queue", "stop_partition"],
        question="What makes the core scheduler fire Start and Stop?",
        why="Line 50 lets an object get re-started, so something stops it. v0.12.2 fires neither event.",
        rests=["stopped-partitions-drain", "stopped-queues-drain"],
        breaks=[
            "life-of-a-partition",
            "life-of-a-queue",
            "started-partitions-are-active",
            "started-queues-are-active",
            "stopped-partitions-are-stopped",
            "stopped-queues-are-stopped",
            "stopped-queues-can-go",
        ],
    ),
    Reading(
        "stopped-objects-are-removed-without-draining",
        50,
        "A Stopped object that is empty is removed as it is.",
        "It has to be Draining before, as line 51 requires. The figure has no arrow from Stopped to Draining, so it has to be started first.",
        adds=[
            replace(ev.delete_queue, when=[ev.delete_queue.when[0], q.is_("Draining"), *ev.delete_queue.when[2:]]),
            replace(
                ev.delete_partition,
                when=[ev.delete_partition.when[0], p.is_("Draining"), *ev.delete_partition.when[2:]],
            ),
        ],
        question="Is a Stopped object removed from Stopped, or from Draining?",
        why="Line 50 calls it ready to be removed, with no other step between.",
        rests=["stopped-partitions-drain", "stopped-queues-drain"],
        breaks=["stopped-queues-can-go"],
    ),
    Reading(
        "a-queue-is-empty-when-its-applications-have-ended",
        50,
        "A queue is empty if every application in it has ended and no queue below it is left. A Completed or Failed application does not count.",
        "Completed and Failed applications count until they are Expired, because they are still tracked (line 24).",
        adds=[
            replace(ev.delete_queue, when=[*ev.delete_queue.when[:2], ~TRACKED & ~CHILDREN]),
        ],
        question="Which applications keep a queue from being empty?",
        why="An application that has ended uses nothing of the queue.",
    ),
    Reading(
        "a-partition-is-empty-without-queues",
        50,
        "A partition is empty if no queue of it is left. Its nodes do not count.",
        "A partition with a node is not empty.",
        adds=[
            replace(
                ev.delete_partition,
                when=[
                    *ev.delete_partition.when,
                    ~exists(n, (n.partition == p) & n.is_("schedulable", "unschedulable")),
                ],
            )
        ],
        question="Which objects keep a partition from being empty?",
        why="Nodes belong to the resource manager (line 66). The partition can end without it.",
    ),
    Reading(
        "a-removed-partition-removes-its-queues",
        51,
        "When a partition is removed, its Active queues are removed too.",
        "The cleanup of a partition does not touch its queues. They are removed separately.",
        drops=["a partition that is removed removes its queues"],
        question="What does the cleanup of a partition consist of?",
        why="A partition with queues is not empty (line 50), and the cleanup is for its removal.",
    ),
    Reading(
        "a-removed-queue-leaves-its-children",
        51,
        "Removing a queue changes no queue below it. It waits until they have been removed.",
        "The queues below it are removed with it.",
        adds=[
            Rule(
                "a queue that is removed removes those below it",
                ev.remove_queue,
                [u.above.has(q), u.is_("Active"), ~u.deleted],
                u.fires("remove"),
                line=51,
            )
        ],
        question="What does the cleanup of a queue do to the queues below it?",
        why="The text names no queue below another. v0.12.2 removes them first.",
    ),
    Reading(
        "only-the-queue-itself-counts",
        51,
        "The state of a queue is about the applications in the queue itself. A queue above it that is Draining or Stopped changes nothing for "
        "them.",
        "What is below a Draining queue accepts no additions. What is below a Stopped queue is not scheduled.",
        adds=[
            guarded(ev.submit, ~exists(u, a.queue.above.has(u) & u.is_("Draining"))),
            guarded(ev.allocate, ~exists(u, k.application.queue.above.has(u) & u.is_("Stopped"))),
        ],
        question="Does the state of a queue extend to the queues below it?",
        why="The text names no queue below another. v0.12.2 does not schedule below a Stopped queue.",
    ),
    Reading(
        "asks-are-no-additions",
        51,
        "A Draining object refuses new applications, and a Draining partition new nodes. An application that is in it already still gets asks.",
        "Asks are additions too, and are refused.",
        adds=[
            guarded(ev.add_ask, ~k.application.queue.is_("Draining"), ~k.application.queue.partition.is_("Draining"))
        ],
        question="What are the additions and changes that a Draining object does not accept?",
        why="The object is still actively being scheduled. An application without new asks cannot end gracefully. The model has no changes of "
        "an object but its events.",
    ),
    Reading(
        "a-stopped-object-accepts-additions",
        50,
        "A Stopped object accepts new applications, and a Stopped partition new nodes.",
        "It accepts neither.",
        adds=[
            guarded(ev.submit, ~a.queue.is_("Stopped"), ~STOPPED_PARTITION),
            guarded(ev.create_node, ~n.partition.is_("Stopped")),
        ],
        question="Does a Stopped object accept additions?",
        why="Only line 51, on Draining, excludes additions. In v0.12.2 a Stopped partition accepts none.",
    ),
    Reading(
        "a-partition-is-removed-when-it-is-marked",
        25,
        "The applications of a partition fail in the step in which the partition gets Remove and begins to drain.",
        "They are scheduled until they end by themselves, since a Draining object is still actively being scheduled (line 51).",
        drops=["a partition that is removed fails its applications"],
        question="Is a partition removed when it gets Remove, or when it is no longer there?",
        why="Line 49 lets an object transition to draining when it is removed. Line 50 lets only an empty one go, and then no application is "
        "left that could fail.",
        breaks=["removed-partitions-fail-applications"],
    ),
)

APPLICATION = (
    Reading(
        "rejected-only-when-it-is-added",
        27,
        "An application object is in New before it is added to the scheduler. It is rejected instead of being added.",
        "The scheduler can reject an application as long as it is New.",
        adds=[replace(ev.reject, when=[a.is_("New")])],
        question="Is a New application one that has been added, or one that is being added?",
        why="Rejection only happens when the resource manager tries to add the application. Line 18 has it submitted or created in New.",
        breaks=["rejected-when-it-is-added"],
    ),
    Reading(
        "an-event-without-an-arrow-is-not-fired",
        10,
        "An event is fired only in a state in which the table has a row for it.",
        "An event can be fired in any state, and has no effect where the table has no row: fail, resume and complete are tried.",
        question="What happens when an event is fired in a state that has no arrow for it?",
        why="An event without an effect changes no run. Line 10 lets an event cause no change at all.",
        adds=alt.FIRED_IN_ANY_STATE,
    ),
    Reading(
        "an-ask-is-for-one-allocation",
        18,
        "An ask stands for one allocation and becomes it. The application lists the ask, until it is removed.",
        "An ask can have several allocations: the real asks of an application are one ask, which is added and removed as one.",
        question="How many allocations can an ask get, and what becomes of it afterwards?",
        why="The text counts asks and allocations of one application only.",
        adds=alt.SEVERAL_ALLOCATIONS,
    ),
    Reading(
        "the-first-ask-is-the-first-that-is-allocated",
        19,
        "The first allocation of any ask moves the application to Starting.",
        "Only the allocation of the ask that was added first does.",
        question="Does 'the first ask' mean the one that was added first, or the one that is allocated first?",
        why="Otherwise an Accepted application could have allocations, and line 20 would count one too few.",
        machines=[alt.ORDERED_ASKS],
        adds=alt.BY_THE_FIRST_ASK,
        breaks=["accepted-has-no-allocation", "applications-can-end"],
    ),
    Reading(
        "placeholders-count-as-allocations",
        19,
        "Placeholders count: the ask of a placeholder is an ask, and its allocation is an allocation.",
        "Only real allocations move an application on.",
        adds=[
            replace(
                RULES["an allocation moves its application on"],
                when=[~k.placeholder, *RULES["an allocation moves its application on"].when],
            ),
            *OF_REAL_ALLOCATIONS,
        ],
        question="Do lines 18 to 22 mean placeholders too?",
        why="Only line 25 says 'real'.",
        breaks=["applications-can-end"],
    ),
    Reading(
        "asks-are-taken-until-completed",
        18,
        "Asks are added to an application that is New, Resuming, Completing or in the scheduling cycle.",
        "Asks are added to every application that has been added.",
        adds=[replace(ev.add_ask, when=[k.is_("to_come"), k.application.known])],
        question="Which states take asks?",
        why="What is failing is cleaned up (line 25), and what has ended never has asks again (lines 23, 26 and 27).",
        breaks=["completed-has-nothing", "failed-has-nothing"],
    ),
    Reading(
        "an-ask-wakes-a-completing-application",
        32,
        "An ask that is added to a Completing application moves it to Running at once, as the arrow of the figure.",
        "The ask is scheduled while the application is Completing, and its allocation moves it to Running.",
        adds=[
            replace(RULES["an ask wakes its application"], when=[k.application.is_("New")]),
            replace(
                ev.allocate,
                when=[
                    k.is_("pending")
                    & k.application.is_(*SCHEDULED, "Completing")
                    & ~k.application.queue.is_("Stopped")
                    & ~k.application.queue.partition.is_("Stopped")
                    & (n.partition == k.application.queue.partition),
                    n.is_("schedulable"),
                ],
            ),
            replace(
                RULES["an allocation moves its application on"],
                when=[k.application.is_("Accepted", "Starting", "Completing")],
            ),
        ],
        question="What moves an application from Completing to Running? The arrow is in the figure only.",
        why="A Completing application has no pending request and is not actively being scheduled (line 22). So it leaves the state before its ask "
        "is allocated.",
        breaks=[
            "an-ask-wakes-what-completes",
            "completed-has-nothing",
            "completing-has-nothing",
            "only-the-cycle-is-scheduled",
        ],
    ),
    Reading(
        "starting-without-its-allocation-stays",
        20,
        "A Starting application whose only container ends stays Starting, if it has a pending ask.",
        "It becomes Completing: the figure has no arrow back to Accepted.",
        adds=[
            Rule(
                "a Starting application without an allocation completes",
                k.fires("gone"),
                [k.application.is_("Starting"), pending(k.application), ~keeps(k.application)],
                k.application.fires("complete"),
                line=20,
            )
        ],
        question="What becomes of a Starting application that loses its allocation while an ask is pending?",
        why="Line 22 requires that no request is pending, and no arrow leads back to Accepted.",
        rests=["starting-has-one-allocation"],
        breaks=["completed-has-nothing", "completing-has-nothing"],
    ),
    Reading(
        "containers-end-in-any-state",
        21,
        "A container can end in every state of its application.",
        "Containers are removed from an application only while it is Running, and when they have been released.",
        adds=[replace(ev.end, when=[k.is_("releasing") | (k.is_("allocated") & k.application.is_("Running"))])],
        question="Can containers be removed from an application that is not Running?",
        why="A container ends by itself, whatever the scheduler's state.",
    ),
    Reading(
        "asks-can-be-removed",
        22,
        "The resource manager can remove an ask at any time. The removal of the last pending ask can end the application.",
        "An ask waits until it is allocated, or its application fails or resumes.",
        drops=["remove_ask"],
        question="How can a pending request go without being allocated?",
        why="Line 26 has pending requests that were removed.",
        breaks=["applications-can-end", "removed-asks-keep-their-allocation"],
    ),
    Reading(
        "applications-complete-at-once",
        22,
        "An application becomes Completing in the step in which its last ask or container goes.",
        "The core scheduler finds an idle application at any later time.",
        adds=[
            Action(
                "complete_idle",
                [a],
                when=[a.is_(*SCHEDULED), ~pending(a), ~held(a)],
                fires=[a.fires("complete")],
                says="nothing of {a} is left, and it completes",
                line=22,
            )
        ],
        drops=["without its last ask an application completes", "without its last container an application completes"],
        question="Does an application complete at once, when it has nothing left, or some time later?",
        why="The text gives no time between the two. The other answer also ends a gang that has resumed with nothing left.",
        rests=["draining-partitions-go", "draining-queues-go"],
    ),
    Reading(
        "time-outs-may-be-late",
        20,
        "A time-out has two steps: the time is over, and the time-out takes effect. It takes effect if the application is then in the state that "
        "the timer was set for, even if it has left the state and come back.",
        "A time-out that has not taken effect is void when the application leaves the state.",
        adds=[
            replace(
                RULES[f"a time-out ends {now}"],
                when=[*RULES[f"a time-out ends {now}"].when, w.application.timer == "ran"],
            )
            for now in TIMED
        ],
        question="Does a time-out belong to the state, or to one stay in it?",
        why="A timer calls a function that may have to wait for the application. The text does not exclude it, and v0.12.2 compares the names of "
        "states.",
        rests=["completed-after-its-time"],
    ),
    Reading(
        "failed-expires-like-completed",
        37,
        "A Failed application expires after a time, as the figure has an arrow for it.",
        "Failed is final, as line 26 says. The arrow of the figure is an error.",
        drops=["a time-out ends Failed", "Application.expire from Failed"],
        question="What moves an application from Failed to Expired? The arrow is in the figure only.",
        why="Expire has one cause in the text, a period of time (line 24). The contradiction failed-is-final-and-expires has the sentences.",
        rests=["failed-is-final", "only-the-completed-expire"],
    ),
    Reading(
        "resuming-is-left-with-nothing",
        37,
        "A Resuming application goes to Accepted when none of its placeholders is left, even if it has nothing else.",
        "It goes to Accepted only with a pending ask.",
        adds=[guarded(ev.resume_ends, pending(a))],
        question="When does an application leave Resuming? The arrow is in the figure only.",
        why="The figure has no other arrow out of Resuming.",
        rests=["nothing-left-completes"],
        breaks=["resuming-ends"],
    ),
)

GANGS = (
    Reading(
        "hard-gangs-fail-and-soft-gangs-resume",
        25,
        "A gang has a style. When the time of its placeholders is over, a Hard gang fails and a Soft one resumes, if it has no real allocation.",
        "Every gang fails then, and nothing fires the figure's resume.",
        adds=[
            replace(RULES["a hard gang fails"], when=RULES["a hard gang fails"].when[1:]),
        ],
        drops=["a soft gang resumes"],
        question="When is an application Failing and when Resuming? The text has only Failing, and the figure has arrows to both.",
        why="Otherwise one of the arrows of the figure has no cause. v0.12.2 has the two styles.",
        rests=["draining-partitions-go", "draining-queues-go", "nothing-left-completes"],
        breaks=["life-resumed", "resuming-ends", "resuming-goes-on-as-accepted", "resuming-has-no-real-allocation"],
    ),
    Reading(
        "the-first-placeholder-ask-starts-the-time",
        25,
        "The processing of placeholders begins with the first ask for one.",
        "It begins with the first allocation of one.",
        adds=[
            replace(
                RULES["the first placeholder arms the gang's timer"],
                on=k.fires("allocate"),
            )
        ],
        question="When does the time for the placeholders begin?",
        why="A gang whose placeholders are never allocated would wait for ever. v0.12.2 has the other answer.",
        rests=["draining-partitions-go", "draining-queues-go", "nothing-left-completes"],
        breaks=["life-resumed", "resuming-ends", "resuming-goes-on-as-accepted", "resuming-has-no-real-allocation"],
    ),
    Reading(
        "the-time-of-a-gang-ends-with-completing",
        25,
        "The timer of the placeholders stops when the application becomes Completing or Completed. Another ask for a placeholder starts it again.",
        "It goes on.",
        drops=["the timer of a gang that is done stops"],
        question="When does the time for the placeholders end, if it is not over?",
        why="A Completing application has no placeholder left.",
    ),
    Reading(
        "a-gang-time-out-may-be-late",
        25,
        "The time-out of the placeholders has two steps, like that of a state. What it does depends on the state in which it takes effect.",
        "It takes effect in the step in which the time is over.",
        adds=[
            replace(RULES["a hard gang fails"], on=g.fires("run_out")),
            replace(RULES["a soft gang resumes"], on=g.fires("run_out")),
            replace(
                GANG_FAILS,
                given=g.fires("run_out") & (g.application == a) & a.is_(*FAILS) & after(a.is_("Failing")),
            ),
        ],
        question="Can anything happen between the end of the time and its effect?",
        why="A timer calls a function that may have to wait for the application.",
    ),
    Reading(
        "a-gang-with-a-real-allocation-keeps-its-placeholders",
        25,
        "If the application has a real allocation when the time of its placeholders is over, nothing happens.",
        "The placeholders that are left are released.",
        adds=[
            Rule(
                "a gang that has begun releases its placeholders",
                g.fires("arrive"),
                [
                    held(g.application, placeholder=False),
                    k.application == g.application,
                    k.placeholder,
                    k.is_("allocated"),
                ],
                k.fires("release", dropped=True),
                line=25,
            )
        ],
        question="What happens to the placeholders of a gang that has a real allocation when their time is over?",
        why="The text has only the case without a real allocation.",
    ),
    Reading(
        "resuming-gives-up-the-placeholders",
        37,
        "A gang that resumes gives up its placeholders and keeps its real asks.",
        "It gives up its real asks too.",
        adds=[
            replace(
                RULES["what resumes drops the placeholders that it has not got"],
                when=[k.application == a, k.is_("pending")],
            )
        ],
        question="What becomes of the asks and placeholders of a Resuming application?",
        why="It goes on without the gang: the figure leads it back to Accepted, where an application has asks. v0.12.2 drops all asks.",
    ),
)

FAILING = (
    Reading(
        "the-resource-manager-fails-nothing",
        34,
        "An application fails for the two causes of line 25 only: its partition is removed, or its placeholders time out.",
        "The resource manager can fail an application at any time.",
        adds=[
            Action(
                "fail_application",
                [a],
                when=[a.known, a.is_(*FAILS)],
                fires=[a.fires("fail")],
                says="{a} is failed by the resource manager",
                line=34,
            )
        ],
        question="When does the resource manager fire Fail? Line 34 has it as a source.",
        why="Line 25 names no such cause, and v0.12.2 has none. The other answer also ends a gang that has resumed with nothing left.",
        rests=["draining-partitions-go", "draining-queues-go"],
        breaks=["applications-fail-for-a-cause"],
    ),
    Reading(
        "no-real-allocation-is-of-gangs-only",
        25,
        "The condition 'no real allocations yet' belongs to the time-out of the placeholders. A removed partition fails every application.",
        "The condition belongs to the removal of the partition too.",
        adds=[
            guarded(RULES["a partition that is removed fails its applications"], ~held(a, placeholder=False)),
        ],
        question="Does the condition at the end of the sentence belong to both causes?",
        why="A removed partition is cleaned up (line 51), with all its applications.",
        breaks=["removed-partitions-fail-applications"],
    ),
    Reading(
        "failing-cleans-up-by-itself",
        25,
        "The core drops the asks of a failing application and releases its allocations in the step in which it fails.",
        "The resource manager removes the asks and ends the containers.",
        drops=["what fails drops its asks", "what fails releases its allocations"],
        question="Who removes what a Failing application still has?",
        why="Line 25 has it cleaned up before the application is Failed, and the resource manager has no part in it.",
        breaks=["failing-begins-the-cleanup"],
    ),
    Reading(
        "a-release-is-confirmed",
        25,
        "To release an allocation takes two steps: the resource manager is notified, and later its container is gone.",
        "The allocation is gone at once.",
        adds=[
            *[
                replace(RULES[name], fires=k.fires("gone"))
                for name in ("what fails releases its allocations", "what resumes releases its placeholders")
            ],
            guarded(
                RULES["without its last container an application completes"],
                ~k.application.fires("fail"),
                ~k.application.fires("resume"),
            ),
        ],
        question="Is an allocation gone in the step in which the core releases it?",
        why="The containers run elsewhere, and Failing lasts as long as some are left (line 25).",
    ),
    Reading(
        "failed-some-time-after-the-last-allocation",
        26,
        "A Failing application with nothing left becomes Failed in a step of its own, at any later time.",
        "It becomes Failed in the step in which its last allocation goes.",
        adds=[
            Rule(
                "without its last container a Failing application has failed",
                k.fires("gone"),
                [k.application.is_("Failing"), ~pending(k.application), ~keeps(k.application)],
                k.application.fires("fail"),
                line=26,
            )
        ],
        drops=["fail_for_good"],
        question="Which step fires the second Fail, and what if an application has nothing left when it begins to fail?",
        why="An application that is New, or has only pending asks, has no last allocation. It would be Failing for ever.",
        breaks=["failing-ends"],
    ),
)

NODES = (
    Reading(
        "nodes-are-added-and-taken-away",
        66,
        "Beside its two states, a node can be not yet added, or taken away.",
        "Nodes are always there: they are schedulable or not schedulable.",
        drops=["decommission_node", "evict"],
        question="Can nodes be added and taken away?",
        why="A resource manager that owns nodes adds and removes them. v0.12.2 does.",
        breaks=["a-lost-node-drops-no-ask", "decommission-is-followed", "nothing-stays-on-a-lost-node"],
    ),
    Reading(
        "a-new-node-is-schedulable",
        64,
        "A node is schedulable when it is added.",
        "It is not schedulable until the resource manager says so.",
        adds=[
            Row(Node, "create", "to_come", "unschedulable", line=66),
            replace(ev.restore_node, when=[n.is_("unschedulable")]),
        ],
        question="In which of the two states is a node at first?",
        why="Line 66 has changes of the status only. v0.12.2 has this answer.",
        breaks=["create-is-followed", "life-of-a-node"],
    ),
    Reading(
        "a-node-is-used-by-what-begins-on-it",
        64,
        "A node that is not schedulable gets no allocation. What is allocated on it stays.",
        "What is allocated on it has to leave.",
        adds=[replace(ev.evict, when=[k.is_(*HELD), k.node.is_("unschedulable", "gone")])],
        question="Does the scheduler use a node on which containers run?",
        why="The scheduler decides on allocations; a running container needs no decision.",
    ),
    Reading(
        "containers-are-lost-with-their-node",
        66,
        "The containers on a node that is taken away are gone without a confirmation of the resource manager.",
        "They are gone when the resource manager says so.",
        drops=["evict"],
        question="What becomes of the containers on a node that is taken away?",
        why="The resource manager has no containers there any more that it could confirm.",
        breaks=["nothing-stays-on-a-lost-node"],
    ),
)

ENDED_TAKES_ASKS = replace(
    core_v0_12_2.add_ask,
    when=[
        k.is_("to_come"),
        k.application.known,
        ~k.application.is_("Expired", "Rejected"),
        core_v0_12_2.PARTITION_EXISTS,
    ],
)

RELEASE = (
    Reading(
        "the-state-is-not-tested-before-an-allocation",
        19,
        "The core of v0.12.2 allocates for every application that has a pending ask, in whatever state.",
        "It allocates for applications in the scheduling cycle only.",
        adds=[
            guarded(core_v0_12_2.allocate, k.application.is_(*SCHEDULED)),
            guarded(core_v0_12_2.swap, k.application.is_(*SCHEDULED)),
        ],
        question="Does v0.12.2 test the state of an application before it allocates? The facts list what fires an event, and no such test.",
        why="The facts have the tests of queues, partitions and nodes. They would have this one.",
        variant="v0.12.2",
        rests=["only-the-cycle-is-scheduled"],
    ),
    Reading(
        "a-time-out-compares-and-acts-at-once",
        20,
        "The function of a state's timer compares the state and fires its event in one step.",
        "It does so in two steps, with other steps between them, as in the variant unlocked-timers.",
        question="Can the state change between the comparison and the event?",
        why="It can: the function holds no lock of the application (fact 1.3). The time between is short, and the variant shows what it does.",
        variant="v0.12.2",
        machines=[WAKEUP_UNLOCKED],
        adds=WITHOUT_THE_LOCK.adds,
        drops=WITHOUT_THE_LOCK.drops,
        configurations=partial(configurations, shipped=True, among=SEVERAL_TIME_OUTS),
        breaks=["time-outs-end-their-own-state", "completing-ends", "completed-expires"],
    ),
    Reading(
        "what-has-ended-takes-no-asks",
        18,
        "An application takes no asks from the step on in which it is Completed or Failed.",
        "It takes asks until it is moved away, which a goroutine of its own does later (fact 1.4).",
        adds=[ENDED_TAKES_ASKS],
        question="Until when does v0.12.2 find an application that has ended?",
        why="The time between is short, and the resource manager has no reason to send an ask then.",
        variant="v0.12.2",
    ),
    Reading(
        "a-swap-is-decided-and-confirmed",
        25,
        "A real ask takes the place of a placeholder in two steps. The core chooses the placeholder and a node, and releases the placeholder. "
        "The real allocation is there when the placeholder is gone. Any real ask of the application can replace any of its placeholders.",
        "A placeholder is replaced in one step.",
        question="How is a placeholder replaced? The facts have the two places where a replacement on a lost node is confirmed or reverted.",
        why="A replacement that can be reverted is not yet an allocation.",
        variant="v0.12.2",
        adds=alt.AT_ONCE,
        # Nothing is swapping then.
        breaks=["swaps-are-for-placeholders", "one-swap-for-a-placeholder", "swaps-release-their-placeholder"],
    ),
    Reading(
        "a-swap-goes-on-without-its-ask",
        25,
        "Removing a real ask does not stop a swap for it. If the swap is lost with its node, no ask is left that could be pending again.",
        "The swap ends with the ask.",
        question="What becomes of a swap whose ask is removed?",
        why="The facts remove asks, and name no effect on what is on its way.",
        variant="v0.12.2",
        adds=alt.ENDS_WITH_ITS_ASK,
    ),
)

INTERPRETATIONS = (*OBJECTS, *APPLICATION, *GANGS, *FAILING, *NODES, *RELEASE, *WITH_THE_SHIM)
