"""Places of YuniKorn's core for checking mutants: small ones that are seen whole, and larger ones that are walked in.

In a larger place a few hundred states are visited, by walks that are the same every time, and in each of them every
step of the model is compared with every step of the mutant. What the small places lack is there: two partitions, two
gangs, two real asks for one placeholder.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from schedproof.model.lang import Model, Rigid, Row
from schedproof.model.lang.infer import sort_of
from schedproof.model.systems.yunikorn.configurations import CONFIGURATIONS, Configuration
from tests.support.mutants import Mutant, Place, mutants
from tests.support.walked import Checker

TO_BE_WALKED = {
    "a gang of two with a real ask, hard",
    "a gang of two with a real ask, soft",
    "a node goes with a placeholder",
}
BY_NAME = {s.about: s for s in CONFIGURATIONS}
SEEN_WHOLE = [
    *(s for s in CONFIGURATIONS if s.about not in TO_BE_WALKED),
    *(
        Configuration(f"a {s.lower()} gang that asks for more", [("pr", s)], wakeups=0, exact=False)
        for s in ("Hard", "Soft")
    ),
    Configuration(
        "a partition is removed while a swap is under way", [("pr", "Soft")], wakeups=0, people=["partition"]
    ),
    Configuration(
        "a partition is removed with a gang that fails", [("p", "Hard")], wakeups=0, exact=False, people=["partition"]
    ),
    Configuration("queues in a row, and beside", wakeups=0, queues=[None, 0, 1, 0], people=["queues", "partition"]),
]
SEEN_LAST = [
    Configuration("two gangs, two time-outs", [("p", "Hard"), ("p", "Soft")], wakeups=1),
    Configuration("two applications with an ask each", [("r", "Soft"), ("r", "Hard")], wakeups=2),
    Configuration("two real asks for one placeholder", [("prr", "Soft")], wakeups=1),
    Configuration("a node goes, and no time", [("pr", "Soft")], wakeups=0, adjustable_nodes=True, nodes=2),
]
"""Seen whole too, but only if walks do not catch a mutant: they take seconds."""


def _without_time(about: str, *applications: tuple[str, str], **others: Any) -> Configuration:
    return Configuration(f"{about}, no time-outs", applications, wakeups=0, **others)


QUEUES, PARTITION = ["queues"], ["partition"]
WITHOUT_TIME = [
    _without_time("two placeholders, hard", ("pp", "Hard")),
    _without_time("two placeholders, soft", ("pp", "Soft")),
    _without_time("two of more placeholders", ("pp", "Hard"), exact=False),
    _without_time("three real asks", ("rrr", "Soft")),
    _without_time("a gang below a queue", ("pr", "Soft"), queues=[None, 0], people=QUEUES),
    _without_time(
        "a dynamic queue below a queue", ("r", "Soft"), queues=[None, 0], dynamic=True, people=[*QUEUES, *PARTITION]
    ),
    _without_time("a gang in a dynamic queue", ("pr", "Soft"), dynamic=True, exact=False),
    _without_time("two applications in a dynamic queue", ("r", "Soft"), ("r", "Soft"), dynamic=True),
    _without_time("a gang and its node", ("pr", "Soft"), adjustable_nodes=True),
    _without_time("an ask that requires a node", ("n", "Soft"), adjustable_nodes=True),
    _without_time("an ask and two nodes", ("r", "Soft"), adjustable_nodes=True, nodes=2),
    _without_time("a placeholder and two real asks", ("prr", "Soft")),
    _without_time("two placeholders and a real ask, hard", ("ppr", "Hard")),
    _without_time("two placeholders and a real ask, soft", ("ppr", "Soft")),
    _without_time("two of more placeholders and a real ask", ("ppr", "Hard"), exact=False),
    _without_time("a gang beside an application", ("p", "Hard"), ("r", "Soft"), exact=False),
    _without_time("a gang and two nodes", ("pr", "Soft"), adjustable_nodes=True, nodes=2),
    _without_time("a hard gang and its partition", ("pr", "Hard"), people=PARTITION),
    _without_time("a soft gang, its queue and partition", ("pr", "Soft"), people=[*QUEUES, *PARTITION]),
    _without_time("one of more placeholders, and its partition", ("pr", "Soft"), exact=False, people=PARTITION),
    _without_time(
        "two real asks for one of more placeholders, and the partition", ("prr", "Soft"), exact=False, people=PARTITION
    ),
    _without_time("two applications and their partition", ("r", "Soft"), ("p", "Hard"), people=PARTITION),
    Configuration("an application in a dynamic queue", [("r", "Soft")], dynamic=True),
    _without_time("a gang with an ask that requires a node", ("pn", "Soft"), exact=False, people=PARTITION),
    _without_time("two gangs", ("p", "Hard"), ("p", "Soft"), exact=False),
    Configuration("a gang beside an application that completes", [("p", "Hard"), ("r", "Soft")], exact=False),
    Configuration("two applications with an ask each", [("r", "Soft"), ("r", "Hard")], wakeups=2),
]
"""Small ones with what the others lack: for properties that only some mutants violate."""

WITHOUT_TIME_LAST = [
    _without_time("two gangs, one with a real ask", ("p", "Hard"), ("pr", "Soft"), exact=False),
    _without_time("two placeholders and two real asks", ("pprr", "Soft")),
]
"""With thousands of states: only for what the small ones do not show."""

LARGE = {"a dynamic queue", "a node is drained"}
"""Of those that are seen whole, with the most states; what is seen there is also seen without time-outs."""


@dataclass(frozen=True)
class Walked:
    """A configuration to be walked in, and what every walk begins with."""

    configuration: Configuration
    begin: Sequence[str] = ()


ALL_FOUR = tuple(f"add_ask {k}" for k in range(4))
FOUR_ASKS = ("create_node", "submit", *ALL_FOUR)


def _twice(style: str) -> Configuration:
    """Two placeholders, and a real ask for each: the first swap makes an allocation, the second one finds it."""
    return Configuration(f"placeholders and as many real asks, {style.lower()}", [("pprr", style)])


SECOND_SWAP = (*FOUR_ASKS, "allocate 0", "swap 2 0", "end 0", "allocate 1", "swap 3 1", "gang_times_out", "gang_wakes")

LARGER = [
    *(Walked(s) for s in CONFIGURATIONS if s.about in TO_BE_WALKED),
    Walked(Configuration("two gangs", [("pr", "Hard"), ("pr", "Soft")], wakeups=2)),
    Walked(
        Configuration("two gangs, and the time of the second is over", [("pr", "Hard"), ("pr", "Soft")], exact=False),
        ("create_node", "submit 0", "submit 1", *ALL_FOUR, "allocate 0 0 0", "allocate 2 0 0", "gang_times_out 1"),
    ),
    Walked(Configuration("two applications", [("r", "Soft"), ("rr", "Hard")], wakeups=3)),
    Walked(_twice("Hard"), (*FOUR_ASKS, "allocate 0", "allocate 1", "swap 2 0", "end 0")),
    Walked(_twice("Hard"), SECOND_SWAP),
    Walked(_twice("Soft"), SECOND_SWAP),
    # it resumes, goes on with what is added then, and gets its second placeholder while the first is still there
    Walked(
        BY_NAME["a gang of two with a real ask, soft"],
        ("create_node", "submit", "add_ask 0", "allocate 0", "gang_times_out", "gang_wakes", "add_ask 2", "allocate 2"),
    ),
    # the gang's time is over when its first placeholder has gone and the second one is there
    Walked(
        BY_NAME["a gang of two with a real ask, hard"],
        ("create_node", "submit", "add_ask 0", "add_ask 1", "allocate 0", "end 0", "allocate 1", "gang_times_out"),
    ),
    # the gang's time is over while its first placeholder is swapped, and the second one is not there yet
    *(
        Walked(
            BY_NAME[f"a gang of two with a real ask, {style}"],
            (
                "create_node",
                "submit",
                "add_ask 0",
                "add_ask 1",
                "add_ask 2",
                "allocate 0",
                "swap 2 0",
                "gang_times_out",
            ),
        )
        for style in ("hard", "soft")
    ),
    # it begins to complete while both swaps are under way, and its time is over
    Walked(
        _twice("Soft"),
        (*FOUR_ASKS, "allocate 0", "allocate 1", "swap 2 0", "swap 3 1", "remove_ask 2", "run_out", "wake", "end 0"),
    ),
    Walked(replace(_twice("Hard"), adjustable_nodes=True, nodes=2)),
    Walked(
        Configuration("two real asks for one placeholder, late time-outs", [("prr", "Soft")], exact=False, wakeups=2)
    ),
    # it has completed with an allocation, and its partition is removed
    Walked(
        Configuration("a partition with a gang is removed", [("pr", "Soft")], people=["partition"]),
        (
            *("create_node", "submit", "add_ask 0", "add_ask 1", "allocate 0", "swap 1 0", "remove_ask 0", "end 0"),
            *("run_out", "wake", "remove_partition"),
        ),
    ),
    Walked(
        Configuration(
            "a partition with a gang and nodes is removed",
            [("pr", "Soft")],
            people=["partition", "queues"],
            adjustable_nodes=True,
        )
    ),
]


def two_partitions(*, shipped: bool = True) -> Rigid:
    """Two of everything: people change the first partition and its queue; the second one's queue."""
    one = Configuration("", [("pr", "Hard"), ("pr", "Hard")], wakeups=1, nodes=2, adjustable_nodes=True).rigid(
        shipped=shipped
    )
    return {
        **one,
        ("Partition", "adjustable"): [True, False],
        ("Queue", "partition"): [0, 1],
        ("Queue", "parent"): [None, None],
        ("Queue", "above"): [frozenset(), frozenset()],
        ("Queue", "adjustable"): [False, True],
        **({("Queue", "dynamic"): [False, False]} if shipped else {}),
        ("Application", "queue"): [0, 1],
        ("Node", "partition"): [0, 1],
    }


def _place(model: Model, about: str, rigid: Rigid) -> Place:
    return Place(
        about, {m.sort.name: 1 for m in model.machines} | {sort: len(v) for (sort, _), v in rigid.items()}, rigid
    )


def whole(model: Model, among: Sequence[Configuration]) -> list[Place]:
    """Configurations whose graphs are compared."""
    return [_place(model, s.about, s.rigid(shipped=True)) for s in among]


def large(model: Model) -> list[tuple[Place, Sequence[str]]]:
    """The places that are walked in, and how the walks begin."""
    places = [
        (_place(model, each.configuration.about, each.configuration.rigid(shipped=True)), each.begin) for each in LARGER
    ]
    apart = _place(model, "two partitions", two_partitions())
    begin = ("create_node 0", "create_node 1", "submit 0", "submit 1", "add_ask 2", "add_ask 3", "allocate 2")
    return [*places, (apart, ()), (apart, begin), (apart, (*begin, "swap 3 2"))]


def small(model: Model) -> list[Place]:
    """Where each property that a mutant violates can be seen: small places without time-outs, and those seen whole."""
    gang = _without_time("", ("pr", "Soft"), exact=False, people=PARTITION).rigid(shipped=True)
    two = _without_time("", ("r", "Soft"), ("r", "Soft"), queues=[None, None], nodes=2).rigid(shipped=True)
    apart = {
        **two,
        ("Partition", "adjustable"): [True, False],
        ("Queue", "partition"): [0, 1],
        ("Application", "queue"): [0, 1],
        ("Node", "partition"): [0, 1],
    }
    below = _without_time("", ("r", "Soft"), queues=[None, 0]).rigid(shipped=True)
    return [
        *whole(model, WITHOUT_TIME),
        _place(model, "a placeholder that requires a node", {**gang, ("Ask", "required"): [True, False]}),
        _place(model, "a dynamic queue below a dynamic queue", {**below, ("Queue", "dynamic"): [True, True]}),
        _place(model, "two partitions with an ask each, no time-outs", apart),
        *whole(model, [s for s in SEEN_WHOLE if s.about not in LARGE]),
    ]


def check(model: Model) -> Checker:
    """Catches mutants of ``model``, which is the core's."""
    return Checker(model, whole(model, SEEN_WHOLE), large(model), last=whole(model, SEEN_LAST))


def fired(model: Model) -> set[tuple[str, str]]:
    """The events, with their sorts, that an action or a rule fires."""
    by_actions = [firing for action in model.actions for firing in action.fires]
    return {(sort_of(model, f.of, {}), f.event) for f in [*by_actions, *(rule.fires for rule in model.rules)]}


def idle_rows(model: Model) -> list[Row]:
    """Rows whose event nothing fires: of the shim's machines where the core is alone, and what nobody does in v0.12.2."""
    return [row for row in model.rows if (row.sort.name, row.event) not in fired(model)]


def of_the_core(model: Model) -> dict[str, Mutant]:
    """The mutants by name, without those of idle rows, which are compared with figures and facts instead."""
    idle = {f"row {row.name}" for row in idle_rows(model)}
    return {mutant.name: mutant for mutant in mutants(model) if mutant.name not in idle}
