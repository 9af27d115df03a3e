"""What the other answers of the interpretations of the merged design need beside single conditions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from schedproof.model.lang import (
    Action,
    Attribute,
    BoolType,
    EnumType,
    Invariant,
    Machine,
    Rigid,
    Row,
    Rule,
    StepInvariant,
    exists,
)
from schedproof.model.lang.model import Configurations, Element
from schedproof.model.lang.terms import both

from .flows import e, f, r
from .machines import a, k, n, p, p2, x
from .merged import (
    MERGED,
    PRESENT,
    allocate,
    decommission,
    preempt,
    register,
    remove_application,
    remove_partition,
    withdraw,
)
from .merged_configurations import MERGED_CONFIGURATIONS, MergedConfiguration, merged_configurations
from .merged_machines import APPLICATION, ASK, MERGED_CHANNELS, NODE, q
from .merged_notifications import NOTIFICATIONS
from .sorts import Application, Node

# --- A preemption reserves the node first

RESERVED = replace(
    NODE,
    attributes=[
        *NODE.attributes,
        Attribute("reserved", BoolType(), line=195, about="is reserved for another allocation than the one on it"),
    ],
)
RESERVES_FIRST: Sequence[Element] = [
    Row(Node, "reserve", PRESENT, PRESENT, line=195, reserved=True),
    Row(Node, "unreserve", PRESENT, PRESENT, line=195, reserved=False),
    replace(preempt, when=[*preempt.when, ~x.node.reserved], fires=[x.node.fires("reserve")]),
    Action(
        "preempted_ends",
        [x],
        [x.is_("allocated"), x.node.reserved],
        [x.fires("end")],
        "the allocation {x}, whose node is reserved, ends",
        line=195,
    ),
    Rule(
        "a reservation ends with the allocation before it",
        x.fires("end"),
        [x.node.reserved, x.node.is_(PRESENT), ~x.node.fires("remove")],
        x.node.fires("unreserve"),
        line=194,
    ),
]

# --- Several partitions

TWO_PARTITIONS = {"Partition": 2, "Queue": 2}


def _two_partitions(of: MergedConfiguration, *, nodes_in: int) -> Rigid:
    """A configuration with a second partition, which stands if the first one does, and has the nodes if so numbered."""
    rigid = of.rigid
    return {
        **rigid,
        ("Partition", "standing"): [of.partition, of.partition],
        ("Queue", "standing"): [of.partition, of.partition],
        ("Queue", "partition"): [0, 1],
        ("Node", "partition"): [nodes_in] * of.nodes,
    }


def nodes_of_another_partition(sizes: Mapping[str, int]) -> Iterator[Rigid]:
    """Yields each configuration with its nodes in a second partition."""
    for of in MERGED_CONFIGURATIONS:
        yield _two_partitions(of, nodes_in=1)


def with_a_second_partition(sizes: Mapping[str, int]) -> Iterator[Rigid]:
    """Yields each configuration with a second partition that has no applications and nodes."""
    for of in MERGED_CONFIGURATIONS:
        yield _two_partitions(of, nodes_in=0)


ALL_PARTITIONS_AT_ONCE: Sequence[Element] = [
    Rule("all partitions of a configuration are added", register, [p2.is_("absent")], p2.fires("add"), line=269),
    Rule("all queues of a configuration are added", register, [q.is_("absent")], q.fires("add"), line=269),
    Rule(
        "all partitions of a configuration are removed",
        remove_partition,
        [p2.is_(PRESENT)],
        p2.fires("remove"),
        line=274,
    ),
    *(
        Rule(
            f"all {what} of a configuration are removed",
            remove_partition,
            [one.is_(PRESENT)],
            one.fires("remove"),
            line=line,
        )
        for what, one, line in (("applications", a, 276), ("queues", q, 277), ("nodes", n, 278))
    ),
]

# --- Other operations see what is half done


WRITES_ONE_BY_ONE: Sequence[Element] = [
    replace(allocate, fires=[x.fires("allocate")]),
    Action(
        "satisfy",
        [k],
        [k.is_("pending"), exists(x, (x.ask == k) & x.is_("allocated"))],
        [k.fires("satisfy")],
        "the scheduler counts the allocation of {k}",
        line=191,
    ),
    Action(
        "remove_ask_later",
        [k],
        [k.is_("pending", "satisfied"), k.application.is_("removed")],
        [k.fires("remove")],
        "the scheduler removes the ask {k} of an application that is removed",
        line=300,
    ),
    Action(
        "end_later",
        [x],
        [x.is_("allocated"), x.ask.application.is_("removed") | x.node.is_("removed")],
        [x.fires("end")],
        "the scheduler ends the allocation {x} of an application or node that is removed",
        line=303,
    ),
]
WRITTEN_AT_ONCE = [
    "asks go with their application",
    "allocations go with their application",
    "allocations go with their node",
]

# --- A removal by the resource manager is another one

REMOVED_BY_A_MANAGER: Sequence[Element] = [
    Action(
        "rm_removes_partition",
        [p],
        [p.is_(PRESENT)],
        [p.fires("remove")],
        "the resource manager removes the partition {p}, and its manager is stopped",
        line=147,
    ),
    *(
        Action(
            f"manager_removes_{what}",
            [one],
            [one.is_(PRESENT), its.is_("removed")],
            [one.fires("remove")],
            f"the partition's manager removes the {what} {{{one.name}}}",
            line=150,
        )
        for what, one, its in (
            ("application", a, a.queue.partition),
            ("queue", q, q.partition),
            ("node", n, n.partition),
        )
    ),
]

LEAVES_ALLOCATIONS: Sequence[Element] = [
    Rule(
        "allocations go with their application",
        remove_partition,
        [x.ask.application.queue.partition == p, x.is_("allocated")],
        x.fires("end"),
        line=303,
    )
]

# --- Requests wait in a queue, here those that remove something

REQUESTED = [
    replace(
        each,
        attributes=[*each.attributes, Attribute("requested", BoolType(), line=16, about="its removal is requested")],
    )
    for each in (APPLICATION, ASK, NODE)
]
_REMOVED_BY = ((a, remove_application), (k, withdraw), (n, decommission))
WAITING_REQUESTS: Sequence[Element] = [
    *(
        Row(machine.sort, "request", state.name, state.name, line=16, requested=True)
        for machine in REQUESTED
        for state in machine.states
    ),
    *(
        replace(
            action, name=f"request_{action.name}", when=[*action.when, ~one.requested], fires=[one.fires("request")]
        )
        for one, action in _REMOVED_BY
    ),
    *(replace(action, when=[action.when[0], one.requested]) for one, action in _REMOVED_BY),
]
"""Each is handled in a later step, if its object is still there."""

# --- A request has several items

update = Action(
    "update",
    [a, n, k],
    when=[*remove_application.when, *decommission.when, *withdraw.when],
    fires=[],
    says="the resource manager removes {a}, decommissions {n} and withdraws {k} in one request",
    line=16,
)
SEVERAL_ITEMS: Sequence[Element] = [
    update,
    Rule("an application is removed with others", update, [], a.fires("remove"), line=300),
    Rule("a node is removed with others", update, [], n.fires("remove"), line=278),
    Rule("an ask is withdrawn with others", update, [], k.fires("remove"), line=119),
]

# --- A node is reported with more than it has room for

MORE_THAN_FITS: Configurations = partial(
    merged_configurations,
    among=[
        *MERGED_CONFIGURATIONS,
        MergedConfiguration(
            "a node is added with more than it has room for",
            asks=[0, 0],
            recovered=[0, 1],
            allocations=[(0, 0), (1, 0)],
        ),
    ],
)

# --- Equal messages

SECOND = replace(
    MERGED_CHANNELS.machines[0],
    attributes=[
        *MERGED_CHANNELS.machines[0].attributes,
        Attribute(
            "second", BoolType(), rigid=True, about="is sent only while the first of the same content is under way"
        ),
    ],
)
_EQUAL = both([f.kind == r.kind, *(getattr(f, subject) == getattr(r, subject) for subject in MERGED_CHANNELS.subjects)])
# They ask for a message of each kind about each object: for the first one of two.
_ASK_FOR_A_MESSAGE = {
    "ends-are-told": e,
    "what-is-there-is-told": e,
    "what-runs-is-there": e,
    "told-allocations-were-confirmed": f,
}
SENT_AGAIN: Sequence[Element] = [
    *(
        replace(rule, when=[*rule.when, ~(r.second & exists(f, _EQUAL & ~f.second & f.is_("free")))])
        for rule in MERGED.rules
        if rule.fires.event == "send"
    ),
    *(
        replace(prop, given=prop.given & ~_ASK_FOR_A_MESSAGE[prop.name].second)
        for prop in NOTIFICATIONS
        if isinstance(prop, Invariant | StepInvariant) and prop.name in _ASK_FOR_A_MESSAGE and prop.given is not None
    ),
]


def messages_come_twice(sizes: Mapping[str, int]) -> Iterator[Rigid]:
    """Yields each configuration with two messages of each kind about each object."""
    for of in MERGED_CONFIGURATIONS:
        rigid = of.rigid
        sort = MERGED_CHANNELS.sort.name
        many = len(rigid[sort, "kind"])
        yield {
            **{key: [*values, *values] if key[0] == sort else values for key, values in rigid.items()},
            (sort, "second"): [number >= many for number in range(2 * many)],
        }


# --- Removals are answered


def _hears_of_removals(machine: Machine) -> Machine:
    """The machine of an application or node of whose removal the resource manager is notified."""
    notified = Attribute("notified", EnumType(("nothing", "accepted", "rejected", "removed")), line=25)
    return replace(machine, attributes=[notified if each.name == "notified" else each for each in machine.attributes])


HEARING_OF_REMOVALS = [_hears_of_removals(APPLICATION), _hears_of_removals(NODE)]
REMOVALS_ARE_ANSWERED: Sequence[Element] = [
    *(Row(sort, "hear_removed", "removed", "removed", line=25, notified="removed") for sort in (Application, Node)),
    *(
        Action(
            f"hear_{what}_removed",
            [one],
            [
                one.is_("removed"),
                one.notified == "accepted",
                # In the order of the queue: after all that was sent before.
                ~exists(e, e.is_("under_way") & (subject == one)),
            ],
            [one.fires("hear_removed")],
            f"the resource manager hears that {{{one.name}}} is removed",
            line=25,
        )
        for what, one, subject in (("application", a, e.application), ("node", n, e.node))
    ),
]
