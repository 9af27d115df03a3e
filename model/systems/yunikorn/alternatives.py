"""What the other answers of the core's interpretations need beside single conditions: rows, rules, configurations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from schedproof.model.lang import NONE, Attribute, BoolType, Rigid, Row, Rule, exists, implies, me
from schedproof.model.lang.model import Element

from . import core_v0_12_2
from . import events as ev
from .configurations import configurations
from .events import RESUMES, held, keeps, o, pending
from .machines import APPLICATION, APPLICATION_TABLE, ASK, SCHEDULED, a, g, k, n, p, x
from .sorts import Application, Ask

RULES = {rule.name: rule for rule in ev.CORE_RULES}

# --- Queues and nodes belong to no partition in particular

ANY_NODE: Sequence[Element] = [
    replace(
        ev.allocate,
        when=[
            k.is_("pending"),
            k.application.is_(*SCHEDULED),
            ~k.application.queue.is_("Stopped"),
            ~k.application.queue.partition.is_("Stopped"),
            n.is_("schedulable"),
        ],
    )
]


def flat_queues(sizes: Mapping[str, int]) -> Iterator[Rigid]:
    """Yields each configuration with its queues side by side, and its nodes in a second partition."""
    for rigid in configurations(sizes):
        yield {
            **rigid,
            ("Partition", "adjustable"): [*rigid["Partition", "adjustable"], False],
            ("Queue", "parent"): [None for _ in rigid["Queue", "parent"]],
            ("Queue", "above"): [frozenset() for _ in rigid["Queue", "above"]],
            ("Node", "partition"): [1 for _ in rigid["Node", "partition"]],
        }


# --- An event without an arrow has no effect

_ROWS = {(row.event, row.source) for row in APPLICATION_TABLE}
FIRED_IN_ANY_STATE: Sequence[Element] = [
    *(
        Row(Application, event, state.name, state.name, line=10)
        for event in ("fail", "resume", "complete")
        for state in APPLICATION.states
        if (event, state.name) not in _ROWS
    ),
    # A second fail would have an effect, so these keep the condition that the first one has not been fired.
    replace(
        RULES["a hard gang fails"],
        when=[g.application.style == "Hard", ~g.application.is_("Failing"), ~held(g.application, placeholder=False)],
    ),
    replace(
        RULES["a partition that is removed fails its applications"],
        when=[p.is_("Active"), a.queue.partition == p, a.known, ~a.is_("Failing")],
    ),
    replace(
        RULES["a soft gang resumes"],
        when=[g.application.style == "Soft", ~held(g.application, placeholder=False)],
    ),
    replace(
        RULES["without its last ask an application completes"],
        when=[~k.application.is_("Completing"), k.is_("pending"), ~pending(k.application, k), ~held(k.application)],
    ),
    replace(
        RULES["without its last container an application completes"],
        when=[~k.application.is_("Completing"), ~pending(k.application), ~keeps(k.application)],
    ),
    *(
        replace(RULES[name], when=[a.is_(*RESUMES), *RULES[name].when])
        for name in (
            "what resumes drops the placeholders that it has not got",
            "what resumes releases its placeholders",
        )
    ),
    replace(
        RULES["the timer of a gang that is done stops"],
        when=[a.is_(*SCHEDULED, "Completing"), g.application == a, g.is_("armed")],
    ),
]

# --- An ask has several allocations

_OF_THE_SAME_ASK = (x != k) & (x.application == k.application) & ~x.placeholder & ~k.placeholder
SEVERAL_ALLOCATIONS: Sequence[Element] = [
    Rule(
        "an ask is added for all its allocations",
        ev.add_ask,
        [_OF_THE_SAME_ASK, x.is_("to_come")],
        x.fires("add"),
        line=18,
    ),
    Rule(
        "an ask is removed for all its allocations",
        ev.remove_ask,
        [_OF_THE_SAME_ASK, x.listed],
        x.fires("remove"),
        line=22,
    ),
    replace(
        RULES["without its last ask an application completes"],
        when=[
            k.application.is_(*SCHEDULED),
            k.is_("pending"),
            ~exists(o, (o.application == k.application) & o.is_("pending") & ~o.fires("remove")),
            ~held(k.application),
        ],
    ),
]
"""The real asks of an application stand for the allocations of one ask: they are added and removed together."""

# --- The first ask is the one that was added first

ORDERED_ASKS = replace(
    ASK, attributes=[*ASK.attributes, Attribute("first", BoolType(), line=19, about="was the first ask that was added")]
)
BY_THE_FIRST_ASK: Sequence[Element] = [
    Row(
        Ask,
        "add",
        "to_come",
        "pending",
        line=18,
        listed=True,
        first=~exists(o, (o.application == me.application) & ~o.is_("to_come")),
    ),
    replace(
        RULES["an allocation moves its application on"],
        when=[*RULES["an allocation moves its application on"].when, implies(k.application.is_("Accepted"), k.first)],
    ),
]

# --- v0.12.2: a placeholder is replaced in one step; a swap ends with its ask

AT_ONCE: Sequence[Element] = [
    replace(core_v0_12_2.swap, fires=[k.fires("allocate", node=n), x.fires("gone")]),
]
ENDS_WITH_ITS_ASK: Sequence[Element] = [
    Row(Ask, event, "swapping", "removed", line=25, listed=False, node=NONE, instead=NONE)
    for event in ("remove", "drop")
]
