"""The changes with which no message is dropped and every wait can end: to v0.12.2's shim, and to the core's answers.

Each change replaces the element of the same name in ``shim_machines``, ``shim_events`` and ``shim_messages``.
"""

from collections.abc import Sequence
from dataclasses import replace

from schedproof.model.lang import Action, Change, Row, Rule, Term, exists, forall, implies
from schedproof.model.lang.terms import both

from . import shim_events as was
from .channel import e, send
from .machines import UNFINISHED, a, k, n
from .shim_events import UP, of, one_of, registered
from .shim_machines import APPLICATION_STATES, TERMINATED, b, m, t, u
from .shim_messages import DELIVER, arrival
from .sorts import ShimApplication

NO_POD = ("absent", "ended", "deleted")

REJECTED = Change(
    name="recovering-ends-the-process",
    wrong="A recovered application that the core rejects stays Recovering; the recovery then times out and ends the process.",
    why="A recovered application can be rejected. In v0.12.2 it stays Recovering until the recovery times out (fact 4.1).",
    repairs=["rejections-are-heard"],
    adds=[
        Row(ShimApplication, "RejectApplication", "Recovering", "Rejected", fact="4.1, 380ed375"),
        arrival(
            "ApplicationRejected",
            [b.core == e.application, b.is_("Submitted", "Recovering")],
            b.fires("RejectApplication"),
            "4.1, 380ed375",
        ),
    ],
)

RELEASES = Change(
    name="releases-are-dropped",
    wrong="The shim drops the core's request to release an allocation in several states, and the core waits for ever.",
    shown="released-allocations-are-heard",
    # A release that overtakes its allocation is another cause.
    asks=~exists(e, ~e.ordered),
    why=(
        "The shim handles the core's request to release an allocation in every state of the application, and "
        "the state stays. If there is no pod, it answers at once. v0.12.2 drops the request in Accepted, "
        "Reserving and other states, and the core waits for ever."
    ),
    repairs=[
        "released-allocations-are-heard",
        "dropped-asks-are-heard",
        "dropped-asks-start-nothing",
        "what-is-to-be-released-goes",
    ],
    adds=[
        *[
            Row(ShimApplication, event, now, now, fact="4.1, master")
            for event in ("ReleaseAppAllocation", "ReleaseAppAllocationAsk")
            for now in APPLICATION_STATES
        ],
        arrival("AllocationReleased", [t.ask == e.ask, of(t, b)], b.fires("ReleaseAppAllocation"), "4.1, master"),
        arrival("AskReleased", [t.ask == e.ask, of(t, b)], b.fires("ReleaseAppAllocationAsk"), "4.1, master"),
        # The release of an allocation has its own message; a swap that is given up was an ask.
        Rule("drop is reported", k.fires("drop"), [k.is_("pending")], send("AskReleased", k), fact="1.3"),
        Rule("give_up is reported", k.fires("give_up"), [], send("AskReleased", k), fact="1.3"),
        Rule(
            "what has no pod is released at once",
            DELIVER["AllocationReleased"],
            [t.ask == e.ask, one_of(t.pod, NO_POD)],
            send("ReleaseAllocation", t.ask),
        ),
        # An application that fails drops all asks in the core, real ones too (one that resumes keeps those). Without
        # this rule their tasks would wait for ever.
        replace(
            arrival(
                "AskReleased",
                [t.ask == e.ask, ~t.ask.placeholder, t.is_("New", "Pending", "Scheduling")],
                t.fires("TaskRejected"),
                "4.2, task.go:125",
            ),
            name="a real task whose ask is dropped is rejected",
        ),
    ],
)

STARTED = ~t.is_("New", *TERMINATED)


def deleting(event: str, name: str, *which: Term) -> list[Rule]:
    """Returns the rules by which ``event`` of an application deletes its tasks' pods.

    Args:
        event: the application's event.
        name: of the rules, in the form "NAME deletes the pending pods".
        *which: conditions on the application ``b`` and its task ``t``.
    """
    return [
        Rule(
            f"{name} deletes the {pod} pods",
            b.fires(event),
            [of(t, b), t.pod == pod, *which],
            t.fires("doom", pod=then),
        )
        for pod, then in (("pending", "withdrawn"), ("assigned", "deleting"))
    ]


FOR_GOOD = replace(
    was.fail_rejected,
    name="fail_for_good_in_the_shim",
    when=[b.is_("Failing"), UP, ~exists(t, of(t, b) & STARTED)],
    says="no task of {b} goes on, and it has failed",
)

FAILURES = Change(
    name="failing-needs-a-second-message",
    wrong="The shim's application is Failed only at a second message of the core, which may never come or come too early.",
    shown="failing-can-be-left",
    why=(
        "An application can begin to fail in every state; its pods are deleted, and it is Failed when none of "
        "its tasks goes on. In v0.12.2 it is Failed only at a second message of the core: never if the core "
        "does not know of the failure, and too early if the core sends the message twice (fact 4.1)."
    ),
    repairs=["failures-are-heard", "failing-can-be-left"],
    adds=[
        *[Row(ShimApplication, "FailApplication", now, "Failing", fact="4.1") for now in ("Recovering", "Resuming")],
        *[
            arrival(
                kind,
                [
                    b.core == e.application,
                    b.is_("Submitted", "Recovering", "Accepted", "Reserving", "Resuming", "Running", "Rejected"),
                ],
                b.fires("FailApplication"),
                "4.1",
            )
            for kind in ("ApplicationFailing", "ApplicationFailed")
        ],
        FOR_GOOD,
        *deleting(
            "FailApplication", "failing", ~b.is_("Failing", "Rejected"), STARTED | (t.ask.placeholder & t.is_("New"))
        ),
        # The core's application may still wait for its first ask.
        Rule("what has failed for good is removed", FOR_GOOD, [], send("RemoveApplication", b.core)),
        Rule(
            "the core removes an application",
            DELIVER["RemoveApplication"],
            [e.application == a, a.known, a.is_(*UNFINISHED)],
            a.fires("forget"),
            fact="1.2",
        ),
        Rule(
            "what is removed while it fails has failed",
            a.fires("forget"),
            [a.is_("Failing")],
            send("ApplicationFailed", a),
        ),
        # A task that ends while its allocation is under way is an ask for the core or already an allocation, so both
        # are sent.
        Rule("a completed task releases its allocation", t.fires("CompleteTask"), [], send("ReleaseAllocation", t.ask)),
    ],
)

OVER = ("Bound", *TERMINATED)


def placeholders_are(states: tuple[str, ...], excepted: tuple[str, ...]) -> Term:
    """True if every placeholder of ``b`` is in one of ``states``, except those with ``excepted`` pods."""
    return forall(u, implies(of(u, b) & u.ask.placeholder & ~one_of(u.pod, excepted), u.is_(*states)))


RESERVATIONS = Change(
    name="a-gang-waits-for-a-lost-placeholder",
    wrong="The shim waits for every placeholder to be bound or to end, also for one that failed or was deleted.",
    shown="reserving-can-be-left",
    why=(
        "A reservation ends when every placeholder is bound or gone. An application that resumes goes on when "
        "all placeholders are gone; both are checked at every opportunity. Unused placeholders are deleted. "
        "v0.12.2 waits for ever for a placeholder that failed or was deleted (fact 4.1)."
    ),
    repairs=["reserving-can-be-left", "resuming-can-be-left"],
    adds=[
        replace(
            was.run_when_due,
            when=[
                UP,
                # A resuming application makes no more placeholders.
                (b.is_("Reserving") & placeholders_are(OVER, ("deleted", "ended")))
                | (b.is_("Resuming") & placeholders_are(TERMINATED, NO_POD)),
            ],
            says="{b} runs: every placeholder is bound, or gone",
        ),
        *deleting("ResumingApplication", "resuming", t.ask.placeholder, ~t.is_(*TERMINATED)),
        *deleting("RunApplication", "running", t.ask.placeholder, t.is_("New")),
    ],
)

CORDONS = Change(
    name="a-cordon-is-lost",
    wrong="A node that is cordoned while it registers stays schedulable in the core.",
    why=(
        "The shim checks whether a node is schedulable after the core has accepted it, and reports the result. "
        "In v0.12.2 a cordon during the registration of the node is lost (section 3)."
    ),
    repairs=["a-cordon-is-forwarded"],
    adds=[
        replace(was.node_is_ready, when=[m.is_("Accepted"), ~m.cordoned, ~m.deleted, UP]),
        replace(was.node_is_unschedulable, when=[m.is_("Accepted"), m.cordoned, ~m.deleted, UP]),
        # The core may still have the node as drained, from before a crash of the shim.
        Rule("a node that is ready is schedulable", m.fires("NodeReady"), [], send("RestoreNode", m.core)),
    ],
)


def registers_again(submit: Sequence[Term], create: Sequence[Term]) -> Change:
    """The change: what the core answers to a shim that has crashed.

    Args:
        submit, create: as for :func:`.shim_messages.to_core`.
    """
    known = a.known & a.is_(*UNFINISHED)
    exists_in_core = n.is_("schedulable", "unschedulable")
    return Change(
        why=(
            "When a shim registers again with a core that has gone on, the core reports its nodes, its allocations and "
            "its requests for releases again, and accepts again what the shim adds. v0.12.2 rejects a known "
            "application (fact 1.2), but its core never outlives its shim (fact 4)."
        ),
        repairs=[],
        adds=[
            Rule(
                "the core rejects an application",
                DELIVER["SubmitApplication"],
                [e.application == a, ~both(list(submit)), ~known],
                send("ApplicationRejected", a),
            ),
            *[
                Rule(
                    f"a known application is sent {kind}",
                    DELIVER["SubmitApplication"],
                    [e.application == a, known, *when],
                    send(kind, a),
                )
                for kind, when in (
                    ("ApplicationAccepted", []),
                    ("ApplicationFailing", [a.is_("Failing")]),
                )
            ],
            Rule(
                "the core rejects a node",
                DELIVER["CreateNode"],
                [e.node == n, ~both(list(create)), ~exists_in_core],
                send("NodeRejected", n),
            ),
            Rule(
                "a known node is accepted",
                DELIVER["CreateNode"],
                [e.node == n, exists_in_core],
                send("NodeAccepted", n),
            ),
            Rule("nodes are reported when the shim registers", registered, [exists_in_core], send("NodeAccepted", n)),
            Rule(
                "a node that is gone is taken away",
                DELIVER["NodeAccepted"],
                [m.core == e.node, m.deleted],
                send("DecommissionNode", m.core),
            ),
            *[
                Rule(f"{state} is reported when the shim registers", registered, [k.is_(state)], send(kind, k))
                for state, kind in (("allocated", "NewAllocation"), ("releasing", "AllocationReleased"))
            ],
            *[
                Rule(
                    f"{state} is reported when it is asked for",
                    DELIVER["AddAsk"],
                    [e.ask == k, k.is_(state)],
                    send(kind, k),
                )
                for state, kind in (
                    ("allocated", "NewAllocation"),
                    ("releasing", "AllocationReleased"),
                    ("released", "AskRejected"),
                    ("removed", "AskRejected"),
                )
            ],
            Rule(
                "an allocation without a task is given back",
                DELIVER["NewAllocation"],
                [
                    t.ask == e.ask,
                    t.is_("Rejected", "Failed", "Killing", "Killed") | (t.is_("New") & one_of(t.pod, NO_POD)),
                ],
                send("ReleaseAllocation", t.ask),
            ),
        ],
    )


def shim_repairs(actions: Sequence[Action]) -> list[Change]:
    """Returns all changes.

    Args:
        actions: the core's actions, before :func:`.components.apart`.
    """
    guards = {action.name: action.when for action in actions}
    return [
        REJECTED,
        RELEASES,
        FAILURES,
        RESERVATIONS,
        CORDONS,
        registers_again(guards["submit"], guards["create_node"]),
    ]
