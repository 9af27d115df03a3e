"""The effects of the messages between core and shim; the shim's are those of v0.12.2 (facts 4).

A receiver without a row for a message drops it, and the sender gets no answer (4). In the model such a message
arrives, and no rule fires anything.

The core accepts a message under the guard of its model's own resource manager action. Where a shim speaks for an
object, the core model does not take that action by itself.
"""

from collections.abc import Sequence

from schedproof.model.lang import Action, Rule, Term, variables
from schedproof.model.lang.terms import both

from .channel import CHANNELS, KINDS, TO_SHIM, delivery, e, lose, send
from .machines import a, k, n
from .shim_events import UP, of
from .shim_machines import b, m, t
from .sorts import ShimApplication

c = variables(ShimApplication, "c")[0]

SAYS = {
    "SubmitApplication": "the core hears of an application",
    "RemoveApplication": "the core hears that an application is not of interest any more",
    "AddAsk": "the core hears of an ask",
    "WithdrawAsk": "the core hears that an ask is withdrawn",
    "ReleaseAllocation": "the core hears that an allocation is gone",
    "CreateNode": "the core hears of a node",
    "DrainNode": "the core hears that a node is to drain",
    "RestoreNode": "the core hears that a node is schedulable again",
    "DecommissionNode": "the core hears that a node is gone",
    "ApplicationAccepted": "the shim hears that the core has an application",
    "ApplicationRejected": "the shim hears that the core rejects an application",
    "ApplicationResuming": "the shim hears that an application is Resuming",
    "ApplicationFailing": "the shim hears that an application is Failing",
    "ApplicationFailed": "the shim hears that an application is Failed",
    "AskRejected": "the shim hears that the core rejects an ask",
    "NewAllocation": "the shim hears of an allocation",
    "AskReleased": "the shim hears that the core has dropped an ask",
    "AllocationReleased": "the shim hears that the core wants an allocation back",
    "NodeAccepted": "the shim hears that the core has a node",
    "NodeRejected": "the shim hears that the core rejects a node",
}

DELIVER = {
    kind: delivery(kind, f"{SAYS[kind]} ({{e}})", [UP] if kind in TO_SHIM else [], fact="4, scheduler_callback.go")
    for kind in KINDS
}
"""The action by which a message of each kind arrives."""

DELIVERIES: list[Action] = [*DELIVER.values(), lose]

# --- Messages to the shim


def arrival(kind: str, when: Sequence[Term], fires: Term, fact: str) -> Rule:
    """A rule: the arrival of a message of ``kind`` fires an event of the shim's object.

    Args:
        kind: one of :data:`.channel.KINDS`.
        when: the rule's guards, over the message ``e``.
        fires: the event.
        fact: the section of the facts that says so.
    """
    return Rule(f"{kind} is taken", DELIVER[kind], when, fires, fact=fact)  # type: ignore[arg-type]


RELEASABLE = ("Running", "Failing", "Resuming")
ASK_RELEASABLE = ("Running", "Accepted", "Reserving", "Failing", "Resuming")
FAILABLE = ("Submitted", "Accepted", "Running", "Reserving", "Failing", "Rejected")

TO_SHIM_RULES = [
    arrival(
        "ApplicationAccepted",
        [b.core == e.application, b.is_("Submitted", "Recovering")],
        b.fires("AcceptApplication"),
        "4.1, scheduler_callback.go:102-112",
    ),
    arrival(
        "ApplicationRejected",
        [b.core == e.application, b.is_("Submitted")],
        b.fires("RejectApplication"),
        "4.1, application.go:135",
    ),
    arrival(
        "ApplicationResuming",
        [b.core == e.application, b.is_("Reserving")],
        b.fires("ResumingApplication"),
        "4.1, scheduler_callback.go:136-144",
    ),
    *[
        arrival(
            kind,
            [b.core == e.application, b.is_(*FAILABLE)],
            b.fires("FailApplication"),
            "4.1, application.go:138-141",
        )
        for kind in ("ApplicationFailing", "ApplicationFailed")
    ],
    arrival(
        "AskRejected",
        [t.ask == e.ask, t.is_("New", "Pending", "Scheduling")],
        t.fires("TaskRejected"),
        "4.2, task.go:125",
    ),
    arrival(
        "NewAllocation",
        [t.ask == e.ask, t.is_("Scheduling", "Completed")],
        t.fires("TaskAllocated", host=e.ask.node),
        "4.2, task.go:107-110",
    ),
    arrival(
        "AllocationReleased",
        [t.ask == e.ask, of(t, b), b.is_(*RELEASABLE)],
        b.fires("ReleaseAppAllocation"),
        "4.1, scheduler_callback.go:73-83",
    ),
    arrival(
        "AskReleased",
        [t.ask == e.ask, of(t, b), b.is_(*ASK_RELEASABLE)],
        b.fires("ReleaseAppAllocationAsk"),
        "4.1, scheduler_callback.go:85-93",
    ),
    *[
        Rule(
            f"{event} deletes the {pod} pod",
            DELIVER[kind],
            [t.ask == e.ask, t.application.fires(event), t.pod == pod, *which],
            t.fires("doom", pod=then),
            fact=fact,
        )
        for kind, event, which, fact in (
            ("AllocationReleased", "ReleaseAppAllocation", [], "4.1, application.go:114-122"),
            ("AskReleased", "ReleaseAppAllocationAsk", [t.ask.placeholder], "4.1, application.go:123-131"),
        )
        for pod, then in (("pending", "withdrawn"), ("assigned", "deleting"))
    ],
    arrival("NodeAccepted", [m.core == e.node, m.is_("Recovering")], m.fires("NodeAccepted"), "4.3, node.go:76"),
    arrival("NodeRejected", [m.core == e.node, m.is_("New", "Recovering")], m.fires("NodeRejected"), "4.3, node.go:84"),
]

# --- Messages that the core sends by itself

FROM_CORE_RULES = [
    Rule(
        "an added application is accepted",
        a.fires("submit"),
        [],
        send("ApplicationAccepted", a),
        fact="1.2, context.go:492-509",
    ),
    Rule(
        "Resuming is reported",
        a.fires("resume"),
        [],
        send("ApplicationResuming", a),
        fact="1.4, application.go:213-237",
    ),
    Rule(
        "Failing is reported",
        a.fires("fail"),
        [~a.is_("Failing")],
        send("ApplicationFailing", a),
        fact="1.4, application.go:213-237",
    ),
    Rule(
        "Failed is reported",
        a.fires("fail"),
        [a.is_("Failing")],
        send("ApplicationFailed", a),
        fact="1.4, application.go:213-237",
    ),
    *[
        Rule(f"{event} is reported", k.fires(event), [], send(kind, k), fact=fact)
        for event, kind, fact in (
            ("allocate", "NewAllocation", "4.2, task.go:107"),
            ("confirm", "NewAllocation", "4.2, task.go:107"),
            ("release", "AllocationReleased", "1.3"),
            ("drop", "AskReleased", "1.3"),
        )
    ],
    Rule("an added node is accepted", n.fires("create"), [], send("NodeAccepted", n), fact="4.3, node.go:76"),
]

WITH_THE_PARTITION = Rule(
    "Failed is reported when the partition is removed",
    a.fires("discard"),
    [a.is_("Failing")],
    send("ApplicationFailed", a),
    fact="1.4, application.go:213-237",
)
"""Of v0.12.2 only: see :data:`.core_v0_12_2.DISCARDED`."""


def to_core(
    *,
    submit: Sequence[Term],
    add_ask: Sequence[Term],
    remove_ask: Sequence[Term],
    end: Sequence[Term],
    create: Sequence[Term],
) -> list[Rule]:
    """Returns the rules by which the core acts on the shim's messages.

    Each argument says when the core does what the message asks: the guards of the core model's action, over its
    variables ``a``, ``k`` and ``n``.
    """
    about_a, about_k, about_n = e.application == a, e.ask == k, e.node == n
    return [
        Rule(
            "the core adds an application",
            DELIVER["SubmitApplication"],
            [about_a, *submit],
            a.fires("submit"),
            fact="1.2",
        ),
        Rule(
            "the core rejects an application",
            DELIVER["SubmitApplication"],
            [about_a, ~both(list(submit))],
            send("ApplicationRejected", a),
            fact="1.2, context.go:453-509",
        ),
        Rule("the core adds an ask", DELIVER["AddAsk"], [about_k, *add_ask], k.fires("add"), fact="1.2"),
        Rule(
            "the core rejects an ask",
            DELIVER["AddAsk"],
            [about_k, k.is_("to_come"), ~both(list(add_ask))],
            send("AskRejected", k),
            fact="4.2, task.go:125",
        ),
        Rule("the core removes an ask", DELIVER["WithdrawAsk"], [about_k, *remove_ask], k.fires("remove"), fact="1.2"),
        Rule("the core hears of an end", DELIVER["ReleaseAllocation"], [about_k, *end], k.fires("gone"), fact="1.2"),
        Rule("the core adds a node", DELIVER["CreateNode"], [about_n, *create], n.fires("create"), fact="3"),
        Rule(
            "the core rejects a node",
            DELIVER["CreateNode"],
            [about_n, ~both(list(create))],
            send("NodeRejected", n),
            fact="4.3",
        ),
        Rule(
            "the core drains a node", DELIVER["DrainNode"], [about_n, n.is_("schedulable")], n.fires("drain"), fact="3"
        ),
        Rule(
            "the core restores a node",
            DELIVER["RestoreNode"],
            [about_n, n.is_("unschedulable")],
            n.fires("restore"),
            fact="3",
        ),
        Rule(
            "the core decommissions a node",
            DELIVER["DecommissionNode"],
            [about_n, n.is_("schedulable", "unschedulable")],
            n.fires("decommission"),
            fact="3",
        ),
    ]


MESSAGE_RULES = [*CHANNELS.rules, *TO_SHIM_RULES, *FROM_CORE_RULES]
