"""What the document requires of an application (lines 14 to 35)."""

from collections.abc import Sequence
from functools import reduce
from operator import and_, or_

from schedproof.model.lang import (
    NONE,
    AlwaysCanReach,
    Invariant,
    LeadsTo,
    LifeCycle,
    StepInvariant,
    after,
    exists,
    forall,
    implies,
)

from .events import FAILS, held, pending
from .machines import APPLICATION, FINISHED, HELD, SCHEDULED, TIMED, UNFINISHED, a, g, k, n, p, w, x
from .sorts import Application

STAYS = reduce(and_, [implies(a.is_(state.name), after(a.is_(state.name))) for state in APPLICATION.states])


def asks_go_on(*moves: tuple[str, Sequence[str]]) -> StepInvariant:
    """The property of the states of an ask.

    Args:
        *moves: states before an allocation, each with the states that can follow in a step.
    """
    from_allocation = [
        ("allocated", ("allocated", "releasing", "released")),
        ("releasing", ("releasing", "released")),
        ("released", ("released",)),
        ("removed", ("removed",)),
    ]
    return StepInvariant(
        name="requests-are-removed-and-containers-released",
        says="an ask ends by its removal; once it is allocated, it ends by its release",
        line=22,
        sentence="Completing: An application that has no pending requests or running containers/pod will be completing.",
        over=[k],
        given=~k.is_("to_come"),
        then=reduce(and_, [implies(k.is_(now), after(k.is_(*then))) for now, then in [*moves, *from_allocation]]),
    )


def only_allocations_have_a_node(*states: str) -> Invariant:
    """The property of an ask's node; ``states`` are those in which it has one."""
    return Invariant(
        name="only-allocations-have-a-node",
        says="an ask has a node only while it has an allocation, or is to get one",
        line=64,
        over=[k],
        given=~k.is_(*states),
        then=k.node == NONE,
    )


APPLICATIONS = [
    # --- New and Accepted
    StepInvariant(
        name="applications-begin-new",
        says="an application that is added is New",
        line=14,
        sentence="An application when created starts ain the new state.",
        over=[a],
        given=a.fires("submit"),
        then=after(a.is_("New") & a.known),
    ),
    Invariant(
        name="new-has-no-asks",
        says="a New application has no ask",
        line=18,
        sentence="The first ask to be added will trigger the transition.",
        over=[a],
        given=a.is_("New"),
        then=~pending(a) & ~held(a),
    ),
    StepInvariant(
        name="first-ask-accepts",
        says="a New application to which an ask is added is Accepted",
        line=18,
        sentence="New: ... The first ask to be added will trigger the transition.",
        over=[k, a],
        given=k.fires("add") & (k.application == a) & a.is_("New"),
        then=after(a.is_("Accepted")),
    ),
    Invariant(
        name="accepted-has-no-allocation",
        says="an Accepted application has no allocation",
        line=19,
        sentence="Accepted: ... On allocation of the first ask the application moves into a starting state.",
        over=[a],
        given=a.is_("Accepted"),
        then=~held(a),
    ),
    StepInvariant(
        name="only-the-cycle-is-scheduled",
        says="only asks of applications in the scheduling cycle get allocations",
        line=19,
        sentence="Accepted: The application is ready and part of the scheduling cycle.",
        over=[k],
        given=k.fires("allocate"),
        then=k.application.is_(*SCHEDULED),
    ),
    AlwaysCanReach(
        name="the-cycle-can-be-scheduled",
        says="a pending ask of an application in the scheduling cycle can be allocated",
        line=21,
        sentence="This state is part of the normal scheduling cycle.",
        over=[k],
        given=k.is_("pending")
        & k.application.is_(*SCHEDULED)
        & k.application.queue.is_("Active")
        & k.application.queue.partition.is_("Active")
        & exists(n, n.is_("schedulable")),
        goal=k.is_(*HELD),
    ),
    # --- Starting
    Invariant(
        name="starting-has-one-allocation",
        says="a Starting application has exactly one allocation",
        line=20,
        sentence="Starting: The application has exactly one allocation confirmed this corresponds to one running container/pod.",
        over=[a],
        given=a.is_("Starting"),
        then=exists(k, (k.application == a) & k.is_(*HELD))
        & forall([k, x], implies((k.application == a) & k.is_(*HELD) & (x.application == a) & x.is_(*HELD), k == x)),
    ),
    StepInvariant(
        name="more-allocations-make-it-running",
        says="a Starting application to which an allocation is added is Running",
        line=20,
        sentence="The application transitions to running if and when more allocations are added to the application.",
        over=[k, a],
        given=(k.application == a) & ~k.is_(*HELD) & after(k.is_(*HELD)) & a.is_("Starting"),
        then=after(a.is_("Running")),
    ),
    LeadsTo(
        name="starting-times-out",
        says="an application does not stay Starting",
        line=20,
        sentence="This state times out automatically to prevent applications that consist of just one allocation from getting stuck in this state.",
        over=[a],
        given=a.is_("Starting") & exists(w, ~w.spare),  # some configurations have no time-outs
        goal=~a.is_("Starting"),
        weak=["run_out", "wake"],
    ),
    Invariant(
        name="timers-are-of-states-with-a-time-out",
        says="an application has a timer only in a state that has a time-out",
        line=20,
        sentence="This state times out automatically to prevent applications that consist of just one allocation from getting stuck in this state.",
        over=[a],
        given=a.timer != "off",
        then=a.is_(*TIMED),
    ),
    StepInvariant(
        name="time-outs-end-their-own-state",
        says="a time-out changes the state of an application only if it is the state that the time-out was set for",
        line=20,
        sentence="This state times out automatically to prevent applications that consist of just one allocation from getting stuck in this state.",
        over=[w, a],
        given=w.fires("arrive") & (w.application == a),
        then=reduce(or_, [(w.of_state == now) & a.is_(now) for now in TIMED]) | STAYS,
    ),
    # --- Completing, Completed, Expired
    Invariant(
        name="completing-has-nothing",
        says="a Completing application has no pending ask and no allocation",
        line=22,
        sentence="Completing: An application that has no pending requests or running containers/pod will be completing.",
        over=[a],
        given=a.is_("Completing"),
        then=~pending(a) & ~held(a),
    ),
    StepInvariant(
        name="an-ask-wakes-what-completes",
        says="a Completing application to which an ask is added is Running",
        line=32,
        sentence="Run: progress an application to the next active state (source: core scheduler)",
        over=[k, a],
        given=k.fires("add") & (k.application == a) & a.is_("Completing"),
        then=after(a.is_("Running")),
    ),
    Invariant(
        name="nothing-left-completes",
        says="an application in the scheduling cycle has a pending ask or an allocation",
        line=22,
        sentence="Completing: An application that has no pending requests or running containers/pod will be completing.",
        over=[a],
        given=a.is_(*SCHEDULED),
        then=pending(a) | held(a),
    ),
    StepInvariant(
        name="completed-after-its-time",
        says="an application is Completed only when the time of this Completing is over",
        line=23,
        sentence="Completed: An application is considered completed when it has been in the completing state for a defined time period.",
        over=[a],
        given=~a.is_("Completed") & after(a.is_("Completed")),
        then=a.is_("Completing") & (a.timer == "ran"),
    ),
    AlwaysCanReach(
        name="completing-ends",
        says="a Completing application can be Completed after its time, without another ask",
        line=23,
        sentence="Completed: An application is considered completed when it has been in the completing state for a defined time period.",
        over=[a],
        given=a.is_("Completing") & exists(w, ~w.spare),
        goal=a.is_("Completed"),
        without=["add_ask", "remove_partition"],
    ),
    Invariant(
        name="completed-has-nothing",
        says="a Completed application has no pending ask and no allocation",
        line=22,
        sentence="An application that has no pending requests or running containers/pod will be completing.",
        over=[a],
        given=a.is_("Completed", "Expired"),
        then=~pending(a) & ~held(a),
    ),
    StepInvariant(
        name="completed-only-expires",
        says="a Completed application stays so, or expires",
        line=23,
        sentence="From this state the application can only move to the Expired state, and it cannot move back into any of scheduling states (Running or Completing)",
        over=[a],
        given=a.is_("Completed"),
        then=after(a.is_("Completed", "Expired")),
    ),
    AlwaysCanReach(
        name="completed-expires",
        says="a Completed application can expire, unless its partition is gone",
        line=24,
        sentence="Expired: The completed application is tracked for a period of time, after that is expired and deleted from the scheduler.",
        over=[a],
        given=a.is_("Completed") & ~a.queue.partition.deleted & exists(w, ~w.spare),
        goal=a.is_("Expired"),
        without=["remove_partition"],
    ),
    StepInvariant(
        name="only-the-completed-expire",
        says="an application that expires was Completed",
        line=24,
        sentence="Expired: The completed application is tracked for a period of time, after that is expired and deleted from the scheduler.",
        over=[a],
        given=~a.is_("Expired") & after(a.is_("Expired")),
        then=a.is_("Completed"),
    ),
    *[
        StepInvariant(
            name=f"{state.lower()}-is-final",
            says=f"an application that is {state} stays so",
            line=line,
            sentence=sentence,
            over=[a],
            given=a.is_(state),
            then=after(a.is_(state)),
        )
        for state, line, sentence in (
            ("Expired", 24, "This is a final state and after this state the application cannot be tracked anymore."),
            ("Failed", 26, "This is a final state."),
            ("Rejected", 27, "This is a final state."),
        )
    ],
    # --- Asks and allocations
    StepInvariant(
        name="allocations-are-confirmed",
        says="an allocation is not released in the step in which it is made",
        line=20,
        sentence="Starting: The application has exactly one allocation confirmed this corresponds to one running container/pod.",
        over=[k],
        given=~k.is_(*HELD) & after(k.is_(*HELD)),
        then=after(k.is_("allocated")),
    ),
    asks_go_on(("pending", ("pending", "allocated", "removed"))),
    only_allocations_have_a_node(*HELD),
    StepInvariant(
        name="removed-asks-are-not-listed",
        says="an application does not list an ask that has been removed or dropped",
        line=26,
        sentence="Failed: An application is considered failed when it was marked for failure and all the pending requests and allocations were already removed.",
        over=[k],
        given=k.fires("remove") | k.fires("drop"),
        then=after(~k.listed),
    ),
    StepInvariant(
        name="removed-asks-keep-their-allocation",
        says="an allocation whose ask is removed is not released by that",
        line=22,
        sentence="Completing: An application that has no pending requests or running containers/pod will be completing.",
        over=[k],
        given=k.fires("remove") & k.is_("allocated"),
        then=after(k.is_("allocated")),
    ),
    # --- Failing, Failed, Rejected
    Invariant(
        name="failing-has-something-left",
        says="a Failing application has an ask or an allocation that is to be cleaned up",
        line=25,
        sentence="Failing: An application marked for failing, what still has some allocations or asks what needs to be cleaned up before entering into the Failed state.",
        over=[a],
        given=a.is_("Failing"),
        then=pending(a) | held(a),
    ),
    StepInvariant(
        name="applications-fail-for-a-cause",
        says="an application becomes Failing only when its partition is removed, or when its placeholders time out",
        line=25,
        sentence="The application can be Failing when the partition it belongs to is removed or during gang scheduling, if the placeholder processing times out, and the application has no real allocations yet.",
        over=[a],
        given=a.is_(*FAILS) & after(a.is_("Failing")),
        then=exists(g, (g.fires("run_out") | g.fires("arrive")) & (g.application == a))
        | exists(p, (a.queue.partition == p) & (p.fires("remove") | p.fires("delete") | p.is_("Draining"))),
    ),
    StepInvariant(
        name="failing-begins-the-cleanup",
        says="when an application becomes Failing, its asks are dropped and its allocations are to be released",
        line=25,
        sentence="Failing: An application marked for failing, what still has some allocations or asks what needs to be cleaned up before entering into the Failed state.",
        over=[a, k],
        given=a.is_(*FAILS) & (k.application == a) & after(a.is_("Failing")),
        then=after(~k.is_("pending", "allocated")),
    ),
    StepInvariant(
        name="removed-partitions-fail-applications",
        says="when a partition is removed, its applications that can fail do",
        line=25,
        sentence="The application can be Failing when the partition it belongs to is removed or during gang scheduling, if the placeholder processing times out, and the application has no real allocations yet.",
        over=[a, p],
        given=p.fires("remove") & p.is_("Active") & (a.queue.partition == p) & a.known & a.is_(*FAILS),
        then=after(a.is_("Failing")),
    ),
    AlwaysCanReach(
        name="failing-ends",
        says="a Failing application can be cleaned up, and Failed",
        line=25,
        sentence="Failing: An application marked for failing, what still has some allocations or asks what needs to be cleaned up before entering into the Failed state.",
        over=[a],
        given=a.is_("Failing"),
        goal=a.is_("Failed"),
        without=["add_ask"],
    ),
    StepInvariant(
        name="a-gang-times-out-once",
        says="the time for the placeholders of a gang does not run on when its time-out has taken effect",
        line=25,
        sentence="The application can be Failing when the partition it belongs to is removed or during gang scheduling, if the placeholder processing times out, and the application has no real allocations yet.",
        over=[g],
        given=g.fires("arrive"),
        then=after(g.is_("off")),
    ),
    StepInvariant(
        name="a-gang-fails-before-it-runs",
        says="the time-out of its placeholders fails an application only if it has no real allocation",
        line=25,
        sentence="The application can be Failing when the partition it belongs to is removed or during gang scheduling, if the placeholder processing times out, and the application has no real allocations yet.",
        over=[a, g],
        given=g.fires("arrive") & (g.application == a) & a.is_(*FAILS) & after(a.is_("Failing")),
        then=~held(a, placeholder=False),
    ),
    Invariant(
        name="failed-has-nothing",
        says="a Failed application has no pending ask and no allocation",
        line=26,
        sentence="Failed: An application is considered failed when it was marked for failure and all the pending requests and allocations were already removed.",
        over=[a],
        given=a.is_("Failed"),
        then=~pending(a) & ~held(a),
    ),
    StepInvariant(
        name="rejected-when-it-is-added",
        says="only a New application that is not yet known is Rejected",
        line=27,
        sentence="Rejected: ... This only happens when a resource manager tries to add a new application, when it gets created in a New state, and the scheduler rejects the creation.",
        over=[a],
        given=~a.is_("Rejected") & after(a.is_("Rejected")),
        then=a.is_("New") & ~a.known,
    ),
    Invariant(
        name="rejected-has-nothing",
        says="a Rejected application has no ask and no allocation",
        line=27,
        sentence="The application was rejected when it was added to the scheduler.",
        over=[a],
        given=a.is_("Rejected"),
        then=~pending(a) & ~held(a),
    ),
    # --- Resuming
    StepInvariant(
        name="resuming-goes-on-as-accepted",
        says="a Resuming application that goes on is Accepted",
        over=[a],
        given=a.is_("Resuming") & after(~a.is_("Resuming")),
        then=after(a.is_("Accepted")),
    ),
    # --- No wedge: an application can always continue
    AlwaysCanReach(
        name="resuming-ends",
        says="a Resuming application can go on",
        over=[a],
        given=a.is_("Resuming"),
        goal=~a.is_("Resuming"),
        without=["add_ask"],
    ),
    AlwaysCanReach(
        name="applications-can-end",
        says="an application that has a pending ask or an allocation can end",
        over=[a],
        given=a.known
        & a.is_(*UNFINISHED)
        & exists(k, (k.application == a) & k.is_("pending", *HELD))
        & exists(w, ~w.spare),
        goal=a.is_(*FINISHED),
    ),
]

PHASES = [
    Invariant(
        name="time-outs-are-of-applications",
        says="a time-out that is under way is of an application",
        over=[w],
        given=w.is_("under_way"),
        then=w.application != NONE,
    ),
    Invariant(
        name="listed-since-it-was-added",
        says="what an application lists has been added",
        over=[k],
        given=k.listed,
        then=k.is_("pending", *HELD, "released"),
    ),
    Invariant(
        name="pending-asks-are-listed",
        says="an application lists its pending asks: what has been removed is not pending",
        over=[k],
        given=k.is_("pending"),
        then=k.listed,
    ),
    Invariant(
        name="unknown-applications-have-not-begun",
        says="an application that has not been added is New or Rejected",
        over=[a],
        given=~a.known,
        then=a.is_("New", "Rejected"),
    ),
    Invariant(
        name="free-time-outs-are-of-nothing",
        says="a time-out that is not under way is of no application",
        over=[w],
        given=w.is_("free"),
        then=(w.application == NONE) & (w.of_state == "Starting"),
    ),
    Invariant(
        name="gang-timers-are-of-known-applications",
        says="the time for placeholders runs only for an application that has been added",
        over=[g],
        given=~g.is_("off"),
        then=g.application.known,
    ),
    Invariant(
        name="asks-are-of-known-applications",
        says="an application that has an ask is known",
        over=[k],
        given=~k.is_("to_come"),
        then=k.application.known,
    ),
    Invariant(
        name="allocations-have-a-node",
        says="an ask has a node as long as it holds an allocation",
        over=[k],
        given=k.is_(*HELD),
        then=k.node != NONE,
    ),
    Invariant(
        name="resuming-has-no-real-allocation",
        says="a Resuming application has no real allocation",
        over=[a],
        given=a.is_("Resuming"),
        then=~held(a, placeholder=False),
    ),
]

LIVES = [
    LifeCycle(
        name="life-of-a-job",
        says="an application can go through its states from New to Expired",
        line=16,
        sort=Application,
        states=["New", "Accepted", "Starting", "Running", "Completing", "Completed", "Expired"],
    ),
    LifeCycle(
        name="life-failed",
        says="an application can fail",
        line=25,
        sort=Application,
        states=["New", "Accepted", "Starting", "Running", "Failing", "Failed"],
    ),
    LifeCycle(
        name="life-rejected",
        says="an application can be rejected",
        line=27,
        sort=Application,
        states=["New", "Rejected"],
    ),
    LifeCycle(
        name="life-resumed",
        says="an application can go on without its placeholders",
        sort=Application,
        states=["New", "Accepted", "Resuming", "Accepted", "Starting"],
    ),
]
