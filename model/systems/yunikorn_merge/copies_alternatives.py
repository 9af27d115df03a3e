"""What the other answers of the interpretations of the two copies need beside single conditions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from schedproof.model.lang import Action, Attribute, BoolType, Rigid, Row, Rule, Term, Var, exists, forall, implies
from schedproof.model.lang.model import Configurations, Element
from schedproof.model.lang.terms import both

from .cache import PRESENT, PROPOSALS
from .configurations import (
    ADDING_NODES,
    ALLOCATING,
    CONFIGURATIONS,
    GIVING_BACK,
    RECOVERING,
    REGISTERING,
    RELEASED,
    REMOVING_PARTITIONS,
    Configuration,
    configurations,
)
from .deliveries import DELIVER, RUNNING, sayable
from .flows import CHANNELS, SUBJECTS, e, f, r, send
from .machines import SCHEDULER_MACHINES, n, p, p2, x, y
from .properties import ON_ITS_WAY, under_way
from .readings import invariant, wish
from .scheduler import RECOVERS, known, propose
from .sorts import Allocation, Node, SchedulingAllocation
from .variants import TWO_COPY


def with_also(another: Configuration) -> Configurations:
    """The configurations of the model, and one in which the other answer makes a difference."""
    return partial(configurations, among=[*CONFIGURATIONS, another])


# --- The resource manager does not wait

DECOMMISSIONS_AT_ONCE: Sequence[Element] = [
    Row(Node, "decommission", "registering", "decommissioned", line=156),
    replace(
        wish("decommission"),
        when=[n.is_("registering", "accepted"), *wish("decommission").when[1:]],
    ),
]
GIVES_BACK_WHAT_IT_DOES_NOT_KNOW: Sequence[Element] = [
    Row(Allocation, "give_back", "unknown", "given_back", line=91),
    replace(
        wish("give_back"),
        when=[x.is_("running") | (x.is_("unknown") & x.cache.is_(PRESENT)), *wish("give_back").when[1:]],
    ),
]
RUNS_AGAIN: Sequence[Element] = [
    *(Row(Allocation, "allocated", state, "running", line=26) for state in ("given_back", "ended")),
    Rule("NewAllocation is heard", DELIVER["NewAllocation"], [], e.allocation.fires("allocated"), line=26),
]

GIVEN_BACK_AT_ONCE = with_also(
    Configuration(
        "a node is added with what runs on it, which is given back",
        (*ADDING_NODES, *RECOVERING, *ALLOCATING, *RELEASED, *GIVING_BACK),
        nodes=[False],
        asks=[0],
        recovered=[0],
        allocations=[(0, 0)],
    )
)

# --- Several partitions


def _two_partitions(of: Configuration, *, standing: bool, nodes_in: int) -> Rigid:
    """A configuration with a second partition, whose nodes are in the partition of that number."""
    rigid = of.rigid
    about = {subject: len(rigid.get((sort.name, "standing"), [])) for subject, (sort, _) in SUBJECTS.items()}
    number_of_nodes = len(rigid["Node", "partition"])
    sorts = ("Partition", "PartitionInfo", "SchedulingPartition")
    return {
        **rigid,
        **{(sort, "standing"): [*rigid[sort, "standing"], standing] for sort in sorts},
        ("Partition", "cache"): [0, 1],
        ("Partition", "scheduler"): [0, 1],
        ("Node", "partition"): [nodes_in] * number_of_nodes,
        **CHANNELS.messages({**about, "partition": 2}, kinds=of.kinds, room=of.room),
    }


def nodes_of_another_partition(sizes: Mapping[str, int]) -> Iterator[Rigid]:
    """Yields each configuration with its nodes in a second partition, which stands if the first one does."""
    for of in CONFIGURATIONS:
        yield _two_partitions(of, standing=of.partition, nodes_in=1)


TWO_REGISTRATIONS = Configuration(
    "two partitions are added and removed",
    (*REGISTERING, *REMOVING_PARTITIONS),
    partition=False,
    applications=[],
    nodes=[],
)


def two_registered(sizes: Mapping[str, int]) -> Iterator[Rigid]:
    """Yields the configurations, and one with two partitions that are registered."""
    yield from configurations(sizes)
    yield _two_partitions(TWO_REGISTRATIONS, standing=False, nodes_in=0)


TWO_PARTITIONS = dict.fromkeys(("Partition", "PartitionInfo", "SchedulingPartition"), 2)
ALL_PARTITIONS_AT_ONCE: Sequence[Element] = [
    Rule(
        "the resource manager knows that all its partitions go",
        wish("remove_partition"),
        [p2 != p, p2.is_("registered")],
        p2.fires("remove"),
        line=22,
    ),
    Rule(
        "RemovePartition: the partition is stopped",
        DELIVER["RemovePartition"],
        [p.scheduler.is_(PRESENT)],
        p.scheduler.fires("stop"),
        line=149,
    ),
]

# --- Two equal events

SECOND = replace(
    CHANNELS.machines[0],
    attributes=[
        *CHANNELS.machines[0].attributes,
        Attribute(
            "second", BoolType(), rigid=True, about="is sent only while the first of the same content is under way"
        ),
    ],
)
_EQUAL = both([f.kind == r.kind, *(getattr(f, subject) == getattr(r, subject) for subject in SUBJECTS)])
SENT_AGAIN: Sequence[Element] = [
    replace(rule, when=[*rule.when, ~(r.second & exists(f, _EQUAL & ~f.second & f.is_("free")))])
    for rule in TWO_COPY.rules
    if rule.fires.event == "send"
]


def events_come_twice(sizes: Mapping[str, int]) -> Iterator[Rigid]:
    """Yields each configuration; those of :data:`COME_TWICE` have two messages of each kind about each object."""
    for of in CONFIGURATIONS:
        rigid = of.rigid
        messages = {key: values for key, values in rigid.items() if key[0] == CHANNELS.sort.name}
        many = len(messages[CHANNELS.sort.name, "kind"])
        twice = 2 if of.about in COME_TWICE else 1
        yield {
            **rigid,
            **{key: [*values] * twice for key, values in messages.items()},
            (CHANNELS.sort.name, "second"): [number >= many for number in range(many * twice)],
        }


COME_TWICE = ("an ask and its allocation",)

# --- The scheduling loop reads, and writes later

FINDING = [
    replace(each, attributes=[*each.attributes, Attribute("possible", BoolType(), line=64)])
    for each in SCHEDULER_MACHINES
    if each.sort == SchedulingAllocation
]
find = replace(
    propose,
    name="find",
    when=[*propose.when, ~x.scheduler.possible],
    fires=[x.scheduler.fires("find")],
    says="the scheduler finds the allocation {x} possible",
)
READS_BEFORE_IT_WRITES: Sequence[Element] = [
    find,
    Row(SchedulingAllocation, "find", "absent", "absent", line=64, possible=True),
    Row(SchedulingAllocation, "propose", "absent", "proposed", line=64, possible=False),
    replace(
        propose,
        when=[x.scheduler.possible, x.scheduler.is_("absent"), *propose.when[-2:]],
        fires=[x.scheduler.fires("propose")],
    ),
    Rule(
        "a proposal takes its ask",
        propose,
        [x.ask.scheduler.is_("pending")],
        x.ask.scheduler.fires("allocate"),
        line=64,
    ),
]

# --- A bundle is rejected together


def _fits(message: Var) -> Term:
    """That the cache can accept the proposal of a message."""
    on_it = exists(y, (y.node == message.allocation.node) & y.cache.is_(PRESENT))
    return message.allocation.ask.application.cache.is_(PRESENT) & message.allocation.node.cache.is_(PRESENT) & ~on_it


ALL_FIT = forall(f, implies((f.kind == "ProposeAllocation") & f.is_("under_way"), _fits(f)))
REJECTED_TOGETHER: Sequence[Element] = [
    replace(rule, when=[~ALL_FIT if rule.name == "a rejected proposal" else ALL_FIT, *rule.when[1:]])
    for rule in PROPOSALS
]
"""The first condition of each of these rules is whether the proposal fits."""

TWO_PROPOSALS = with_also(
    Configuration(
        "two asks, each with a node of its own, and nodes are decommissioned",
        (*ALLOCATING, "AllocationReleased", "AddAsk", "NewAsk", "DecommissionNode", "NodeRemoved"),
        nodes=[True, True],
        asks=[0, 0],
        allocations=[(0, 0), (1, 1)],
    )
)

# --- What fails

RELEASE_IS_REFUSED = replace(
    DELIVER["ReleaseForRm"], name="release_is_refused", says="the cache refuses to release what was given back ({e})"
)
NOT_RECOVERED_IS_REPORTED = Rule(
    "what cannot be recovered is reported",
    DELIVER["RecoverAllocation"],
    [~RECOVERS],
    send("AllocationReleased", e.allocation),
    line=27,
)

REMOVED_BEFORE_IT_RECOVERS = with_also(
    Configuration(
        "a node is added with what runs on it, and the partition is removed",
        (*ADDING_NODES, *RECOVERING, *ALLOCATING, *RELEASED, *REMOVING_PARTITIONS),
        nodes=[False],
        asks=[0],
        recovered=[0],
        allocations=[(0, 0)],
    )
)

# --- A rejection has two events


def rejections_come_twice(sizes: Mapping[str, int]) -> Iterator[Rigid]:
    """Yields each configuration with two events for the rejection of a proposal; what sends one sends both."""
    sort = CHANNELS.sort.name
    for of in CONFIGURATIONS:
        rigid = of.rigid
        doubled = [n for n, kind in enumerate(rigid[sort, "kind"]) if kind == "RejectedAllocation"]
        yield {
            key: [*values, *(values[n] for n in doubled)] if key[0] == sort else values for key, values in rigid.items()
        }


# --- One proposal has a release and the allocation for which it makes room

ROOM_IS_MADE = (
    e.allocation.ask.application.cache.is_(PRESENT)
    & e.allocation.node.cache.is_(PRESENT)
    & ~exists(y, (y.node == e.allocation.node) & y.cache.is_(PRESENT) & ~y.scheduler.is_("preempting"))
)
MAKES_ROOM = [x.node == e.allocation.node, x != e.allocation, x.scheduler.is_("preempting")]
RELEASED_FOR_ANOTHER: Sequence[Element] = [
    Action(
        "preempt",
        [x, y],
        when=[
            x.scheduler.is_("confirmed"),
            known(x.ask.application),
            y.node == x.node,
            y.ask.scheduler.is_("pending"),
            known(y.ask.application),
            y.scheduler.is_("absent"),
            sayable("ProposeAllocation", y),
            RUNNING,
        ],
        fires=[x.scheduler.fires("preempt"), y.scheduler.fires("propose"), y.ask.scheduler.fires("allocate")],
        says="the scheduler proposes to release the allocation {x}, and to allocate {y} in its place",
        line=79,
    ),
    *(
        replace(rule, when=[~ROOM_IS_MADE if rule.name == "a rejected proposal" else ROOM_IS_MADE, *rule.when[1:]])
        for rule in PROPOSALS
    ),
    Rule(
        "an accepted proposal: what makes room goes",
        DELIVER["ProposeAllocation"],
        [ROOM_IS_MADE, *MAKES_ROOM, x.cache.is_(PRESENT)],
        x.cache.fires("remove"),
        line=81,
    ),
    Rule(
        "an accepted proposal: the scheduler is notified of the release",
        DELIVER["ProposeAllocation"],
        [ROOM_IS_MADE, *MAKES_ROOM, x.cache.is_(PRESENT)],
        send("ReleasedAllocation", x),
        line=84,
    ),
    Row(SchedulingAllocation, "keep", "preempting", "confirmed", line=68),
    Rule(
        "a rejected proposal: what would make room stays",
        DELIVER["RejectedAllocation"],
        MAKES_ROOM,
        x.scheduler.fires("keep"),
        line=68,
    ),
    # The message is about the allocation for which it makes room.
    replace(
        invariant("proposals-to-release-are-on-their-way"),
        then=ON_ITS_WAY["allocation"] | exists(y, (y.node == x.node) & under_way(r.allocation == y)),
    ),
]
