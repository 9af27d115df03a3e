"""Our interpretations of how core and shim work together, of which the document has one sentence and four figures.

They are those of the variant ``parties``. The facts say which event of one component has which effect on the other; they
leave open when a message arrives, and what people and pods do meanwhile.
"""

from __future__ import annotations

from dataclasses import replace

from schedproof.model.lang import Action, Reading, Rule, exists

from . import shim_alternatives as alt
from . import shim_events as ev
from .channel import TO_SHIM
from .process import ONE_PROCESS, restart
from .shim_events import HEARD, LISTED, UP, one_of
from .shim_events import of as is_of
from .shim_machines import b, m, u, z
from .shim_messages import DELIVER

VARIANT = "parties"


def less(action: Action, *conditions: object) -> Action:
    """Returns an action without some of its conditions."""
    return replace(action, when=[each for each in action.when if all(each is not one for one in conditions)])


ANY_POD = exists(u, is_of(u, b) & one_of(u.pod, LISTED))
EVERY_APPLICATION_IS_RECOVERED = ~exists(b, b.is_("Recovering") | (b.is_("New") & ev.HAS_PODS)) & ~exists(
    m, ~m.deleted & ~m.is_("Healthy", "Draining", "Rejected")
)
RESTARTS = [
    each.name
    for each in ONE_PROCESS
    if isinstance(each, Rule) and isinstance(each.on, Action) and each.on.name == restart.name
]

WITH_THE_SHIM = (
    Reading(
        "core-and-shim-send-messages",
        6,
        "Core and shim send each other messages, which arrive in later steps and in the order in which they were sent. The core rejects what "
        "it does not take. It reports of its states only Resuming, Failing and Failed.",
        "Each knows at once what the other does: a message arrives before anything else happens, and none is lost.",
        question="How does one component learn what the other does, and what does it learn?",
        why="The state machines are not shared, and each can have its own idea of a state. The shim has one queue (fact 4), and so has the core. The shim "
        "also drops an application that is Completed (fact 4.1); this is left out.",
        variant=VARIANT,
        adds=alt.MESSAGES_COME_FIRST,
        drops=["lose"],
        rests=["submitted-can-be-left", "no-allocation-without-a-pod"],
        breaks=["order-is-an-order", "order-of-what-is-under-way"],
    ),
    Reading(
        "the-shim-keeps-no-state",
        68,
        "A crash of the shim loses the states of all its objects; they are New again.",
        "The shim keeps its states.",
        question="What does the shim remember after a crash? The document has only figures of its machines.",
        why="The figures have states for recovery that begin in New.",
        variant=VARIANT,
        machines=alt.KEEPS_ITS_STATES,
        drops=alt.LOST_STATES,
        breaks=["recovering-can-be-left", "the-shim-gets-to-run"],
    ),
    Reading(
        "the-shim-acts-while-it-recovers-or-runs",
        84,
        "The shim takes messages and acts only while it recovers or runs. Before that, nobody is there who would see a pod or a node change.",
        "It takes messages in every state.",
        adds=[less(DELIVER[kind], UP) for kind in TO_SHIM],
        question="In which states of the scheduler does the shim handle events?",
        why="A shim that has not registered has no applications and nodes yet.",
        variant=VARIANT,
    ),
    Reading(
        "a-registration-waits-its-turn",
        84,
        "A registration waits until everything that the shim's last process sent has arrived. What the core sent to that process is lost.",
        "It does not wait for it.",
        adds=[replace(ev.register, when=[z.is_("New")])],
        question="What becomes of the messages of a process that has ended?",
        why="A registration is a call, which takes its turn in the core.",
        variant=VARIANT,
    ),
    Reading(
        "recovery-is-of-applications-that-run",
        84,
        "The shim has recovered when no application is Recovering, every application with a pod on a node has been recovered, and every node is Healthy, "
        "Draining or Rejected. An application without a pod on a node is submitted later.",
        "It has recovered every application that has a pod.",
        adds=[replace(ev.recovered, when=[z.is_("Recovering"), EVERY_APPLICATION_IS_RECOVERED])],
        question="Which applications does a recovery wait for?",
        why="A pod that is made during the recovery is reported when the informers start (fact 4.4).",
        variant=VARIANT,
        breaks=["the-shim-gets-to-run"],
    ),
    Reading(
        "the-time-of-a-recovery-is-long",
        84,
        "The time for a recovery is over only if an answer never comes.",
        "It can be over at any time.",
        adds=[replace(ev.recovery_fails, when=[z.is_("Recovering")])],
        question="Can the 30 s of a recovery be over while an answer is on its way?",
        why="Core and shim are one process, and 30 s are longer than any answer takes.",
        variant=VARIANT,
    ),
    Reading(
        "an-application-comes-with-a-real-pod",
        72,
        "The shim submits and recovers an application if it has a real pod that has not ended.",
        "A placeholder's pod will do.",
        adds=[
            replace(action, when=[*action.when[:-1], ANY_POD])
            for action in (ev.submit_application, ev.recover_application)
        ],
        question="When does the shim have an application?",
        why="It finds applications by their pods, and makes placeholders only for an application that it has.",
        variant=VARIANT,
    ),
    Reading(
        "a-pod-has-seven-states",
        76,
        "The pod of a task is absent, pending, withdrawn, assigned, ended, deleting or deleted.",
        "A pod is deleted in the step in which its deletion is requested. The shim notices it later.",
        question="Which states of a pod matter to its task? The facts name pods that are bound, have ended or are deleted.",
        why="A pod whose deletion is requested is still there until it is deleted, with or without a node.",
        variant=VARIANT,
        adds=alt.GOES_AT_ONCE,
        drops=alt.STILL_THERE,
    ),
    Reading(
        "a-restored-task-knows-its-allocation",
        76,
        "The task of a pod that has a node knows the id of its allocation.",
        "It learns the id when the core has recovered the node.",
        question="Does the shim know the id of an allocation after a restart?",
        why="Otherwise the shim could never release what it recovered.",
        variant=VARIANT,
        adds=alt.LEARNS_ITS_ALLOCATION,
    ),
    Reading(
        "users-create-and-delete-pods",
        76,
        "Users create and delete pods at any time, and a real pod ends by itself. The pod of a placeholder does not end by itself.",
        "A placeholder's pod can end by itself too.",
        adds=[
            replace(action, when=[each for each in action.when if each is not action.when[at]])
            for action, at in ((ev.end_pod, 1), (ev.end_pod_unobserved, 2))
        ],
        question="Who changes pods?",
        why="A placeholder only waits to be replaced.",
        variant=VARIANT,
        rests=["what-is-to-be-released-goes"],
    ),
    Reading(
        "a-deletion-can-be-lost-with-the-shim",
        76,
        "If the process ends after it has wanted a pod deleted, the pod may stay. A deletion by people can be lost too.",
        "No deletion is lost.",
        drops=["deletion_is_lost", "deletion_of_a_bound_pod_is_lost"],
        question="Does a pod go that was to be deleted when the process ended?",
        why="The process can end before it has asked Kubernetes. Deletions by people look like its own.",
        variant=VARIANT,
    ),
    Reading(
        "people-are-slower-than-messages",
        80,
        "A node is cordoned, uncordoned or deleted only after the core has received the last change of it.",
        "At any time.",
        adds=[less(action, HEARD) for action in (ev.cordon, ev.uncordon, ev.delete_node)],
        question="Can people change a node again while the last change is on its way?",
        why="Two messages of a kind about one object cannot be under way at the same time in the model.",
        variant=VARIANT,
    ),
    Reading(
        "a-node-that-registers-is-not-deleted",
        80,
        "A node is deleted only when it is Healthy or Draining, or while there is no shim. A deleted node is decommissioned.",
        "It can be deleted in every state.",
        adds=[replace(ev.delete_node, when=[ev.delete_node.when[0], UP, HEARD])],
        question="Can a node be deleted while it registers?",
        why="The time between is short.",
        variant=VARIANT,
    ),
    Reading(
        "the-process-is-started-again",
        84,
        "A process that has ended is started again.",
        "It stays ended.",
        drops=[restart.name, *RESTARTS],
        question="What comes after Stopped? The figure has no arrow from it.",
        why="Kubernetes starts it again.",
        variant=VARIANT,
        breaks=["recovering-can-be-left", "the-shim-gets-to-run"],
    ),
)
