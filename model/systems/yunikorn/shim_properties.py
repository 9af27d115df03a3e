"""What core and shim rely on each other to do: no relied-on message is dropped, and every wait can end.

The document has no such sentence; it says only that the two have states of their own of "a similar object" (line 6).
So each property says what a reader of the tables would expect. Where the facts differ, they say what happens instead.

People who delete pods can end almost any wait. A property that something can continue excludes them.
"""

from collections.abc import Sequence
from dataclasses import replace

from schedproof.model.lang import (
    AlwaysCanReach,
    LifeCycle,
    Property,
    StepInvariant,
    after,
    exists,
    forall,
    iff,
    implies,
)

from .channel import e, r
from .machines import HELD, k, n
from .shim_events import LISTED, one_of
from .shim_machines import SCHEDULER_STATES, TERMINATED, b, m, t, z
from .sorts import ShimApplication, ShimScheduler, Task

PEOPLE = ["delete_pod", "delete_pending_pod"]
SENTENCE = "A resource manager shim, and the core can thus have an independent idea of the state of a similar object."

# The release is sent in this step, or is under way. True where the configuration has no such message.
RELEASE = (r.ask == t.ask) & (r.kind == "ReleaseAllocation")
GIVEN_BACK = forall(r, implies(RELEASE, r.fires("send") | r.is_("under_way")))

HEARD = [
    StepInvariant(
        name="released-allocations-are-heard",
        says="when the core requests the release of an allocation whose pod exists, the shim deletes the pod",
        line=6,
        sentence=SENTENCE,
        on=["deliver_allocation_released"],
        over=[t],
        given=(t.ask == e.ask) & one_of(t.pod, ("pending", "assigned")),
        then=t.fires("doom"),
    ),
    StepInvariant(
        name="dropped-asks-are-heard",
        says="when the core has dropped the ask of a task that waits for its allocation, the task stops waiting",
        line=6,
        sentence=SENTENCE,
        on=["deliver_ask_released"],
        over=[t],
        given=(t.ask == e.ask) & t.is_("Scheduling") & (t.pod == "pending"),
        then=t.fires("doom") | t.fires("TaskRejected"),
    ),
    StepInvariant(
        name="dropped-asks-start-nothing",
        says="a notification that an ask was dropped does not make its application run",
        line=6,
        sentence=SENTENCE,
        on=["deliver_ask_released"],
        over=[b],
        given=b.fires("ReleaseAppAllocationAsk") & ~b.is_("Running"),
        then=after(~b.is_("Running")),
    ),
    StepInvariant(
        name="allocations-are-heard",
        says="when the core has made an allocation, the task takes or returns it, or has not sent its ask yet",
        line=6,
        sentence=SENTENCE,
        on=["deliver_new_allocation"],
        over=[t],
        given=(t.ask == e.ask) & t.ask.is_(*HELD) & ~t.is_("Allocated", "Bound"),
        then=t.fires("TaskAllocated") | t.is_("Pending") | (t.is_("New") & one_of(t.pod, LISTED)) | GIVEN_BACK,
    ),
    StepInvariant(
        name="rejections-are-heard",
        says="when the core rejects an application that waits for an answer, the application stops waiting",
        line=6,
        sentence=SENTENCE,
        on=["deliver_application_rejected"],
        over=[b],
        given=(b.core == e.application) & b.is_("Submitted", "Recovering"),
        then=b.fires("RejectApplication"),
    ),
    StepInvariant(
        name="failures-are-heard",
        says="when an application fails in the core, it fails in the shim, unless it has ended there",
        line=6,
        sentence=SENTENCE,
        on=["deliver_application_failing"],
        over=[b],
        given=(b.core == e.application) & ~b.is_("New", "Completed", "Failing", "Failed", "Killing", "Killed"),
        then=b.fires("FailApplication"),
    ),
    StepInvariant(
        name="rejected-asks-are-heard",
        says="when the core rejects the ask of a task that waits, the task stops waiting",
        line=6,
        sentence=SENTENCE,
        on=["deliver_ask_rejected"],
        over=[t],
        given=(t.ask == e.ask) & t.is_("Scheduling"),
        then=t.fires("TaskRejected"),
    ),
]

# Without the messages of a release, a configuration cannot end the waits that depend on them.
ALL_IS_SAID = exists(r, r.kind == "ReleaseAllocation")

WAITS = [
    AlwaysCanReach(
        name="what-is-to-be-released-goes",
        says="an allocation whose release the core requested can end, without users who delete pods",
        line=6,
        sentence=SENTENCE,
        over=[k],
        given=k.is_("releasing") & ALL_IS_SAID,
        goal=~k.is_("releasing"),
        without=PEOPLE,
    ),
    AlwaysCanReach(
        name="no-allocation-without-a-pod",
        says="an allocation whose pod has gone or ended can be released",
        line=6,
        sentence=SENTENCE,
        over=[t, k],
        given=(t.ask == k) & k.is_(*HELD) & one_of(t.pod, ("ended", "deleted")) & ALL_IS_SAID,
        goal=~k.is_(*HELD),
    ),
    AlwaysCanReach(
        name="tasks-do-not-wait-for-ever",
        says="a task that has sent its ask can get its allocation or end, without users who delete pods",
        line=6,
        sentence=SENTENCE,
        over=[t],
        given=t.is_("Scheduling") & ALL_IS_SAID,
        goal=t.is_("Allocated", "Bound", *TERMINATED),
        without=PEOPLE,
    ),
    *[
        AlwaysCanReach(
            name=f"{state.lower()}-can-be-left",
            says=f"an application of the shim does not stay {state} for ever, without people who delete pods",
            line=72,
            over=[b],
            given=b.is_(state) & ALL_IS_SAID,
            goal=~b.is_(state),
            without=PEOPLE,
        )
        for state in ("Submitted", "Recovering", "Reserving", "Resuming", "Failing")
    ],
    AlwaysCanReach(
        name="the-shim-gets-to-run",
        says="the shim can always get to run",
        line=84,
        over=[z],
        goal=z.is_("Running"),
        without=[*PEOPLE, "end_pod", "end_pod_unseen"],
    ),
]

CORDON = AlwaysCanReach(
    name="a-cordon-is-forwarded",
    says=(
        "the core is notified whether a node that the shim has registered is cordoned, if no user changes that any more"
    ),
    line=66,
    sentence="The node status changes based on the status provided by the resource manager (shim) that owns the node.",
    over=[m, n],
    given=(m.core == n) & m.is_("Healthy", "Draining") & ~m.deleted & n.is_("schedulable", "unschedulable"),
    goal=iff(m.cordoned, n.is_("unschedulable")),
    without=["cordon", "cordon_unheard", "uncordon", "uncordon_unheard"],
)

LIVES = [
    LifeCycle(
        name="life-of-a-gang-in-the-shim",
        says="an application with placeholders can reserve, and run",
        line=72,
        sort=ShimApplication,
        states=["New", "Submitted", "Accepted", "Reserving", "Running"],
    ),
    LifeCycle(
        name="life-of-a-resumed-gang-in-the-shim",
        says="an application whose placeholders are not there in time can run all the same",
        line=72,
        sort=ShimApplication,
        states=["New", "Submitted", "Accepted", "Reserving", "Resuming", "Running"],
    ),
    LifeCycle(
        name="life-of-a-task",
        says="a task can be bound, and complete",
        line=76,
        sort=Task,
        states=["New", "Pending", "Scheduling", "Allocated", "Bound", "Completed"],
    ),
    LifeCycle(
        name="life-of-the-shim",
        says="the shim can register and recover",
        line=84,
        sort=ShimScheduler,
        states=[state for state in SCHEDULER_STATES if state != "Stopped"],
    ),
]


def shim_properties(crashes: Sequence[str]) -> list[Property]:
    """Returns the properties.

    Args:
        crashes: the names of the actions by which a process dies; a shim that dies forwards no cordon.
    """
    return [*HEARD, *WAITS, replace(CORDON, without=[*CORDON.without, *crashes]), *LIVES]
