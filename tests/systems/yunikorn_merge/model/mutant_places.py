"""Places of cache and scheduler for checking mutants: the configurations, seen whole, and each of them twice, walked in.

In each configuration there is one partition, and of most things one; twice, side by side, it shows what a rule does to other things than
the one that it is about.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from schedproof.model.lang import Model, Ref, Rigid, SetOf
from schedproof.model.lang import terms as t
from schedproof.model.systems.yunikorn_merge.configurations import CONFIGURATIONS, Configuration
from schedproof.model.systems.yunikorn_merge.flows import TO_SCHEDULER
from tests.support.mutants import Mutant, Place, mutants
from tests.support.walked import Checker

WALKS = 5

CROWDS = [
    Configuration(
        f"{room + 1} asks, and a queue with room for {room}",
        ("AddAsk", "NewAsk", "AskRejected"),
        nodes=[],
        asks=[0] * (room + 1),
        room={TO_SCHEDULER: room},
    )
    for room in (2, 3)
]
"""Queues with more room than the configurations have."""

TIGHT = [
    replace(s, about=f"{s.about}, and room for one event", room={TO_SCHEDULER: 1}) for s in CONFIGURATIONS if not s.room
]
"""What a full queue stops."""


def place(model: Model, about: str, rigid: Rigid) -> Place:
    """The place that ``rigid`` describes."""
    sizes = dict.fromkeys((machine.sort.name for machine in model.machines), 0)
    return Place(about, sizes | {sort: len(values) for (sort, _), values in rigid.items()}, rigid)


def twice(model: Model, rigid: Rigid) -> Rigid:
    """Everything two times, and nothing of the one has to do with the other, but for the channels."""
    sizes = {sort: len(values) for (sort, _), values in rigid.items()}
    doubled: dict[tuple[str, str], Sequence[object]] = {}
    for (sort, name), values in rigid.items():
        attribute = model.machine(sort).attribute(name)
        assert attribute is not None
        by = sizes[attribute.type.sort.name] if isinstance(attribute.type, Ref | SetOf) else 0
        doubled[sort, name] = [*values, *(_moved(value, by) if by else value for value in values)]
    return doubled  # type: ignore[return-value]


def _moved(value: object, by: int) -> object:
    if isinstance(value, frozenset):
        return frozenset(number + by for number in value)
    return None if value is None else value + by  # type: ignore[operator]


def seen_whole(model: Model) -> list[Place]:
    """All configurations, without a limit of room and with one."""
    return [place(model, each.about, each.rigid) for each in (*CONFIGURATIONS, *CROWDS, *TIGHT)]


def walked(model: Model) -> list[Place]:
    """All configurations without limits of room, each twice."""
    return [place(model, f"twice: {s.about}", twice(model, s.rigid)) for s in CONFIGURATIONS if not s.room]


def checked(model: Model) -> dict[str, Mutant]:
    """The mutants by name, without those that would send what is still under way: nothing is (``test_document``)."""
    still_under_way = {
        f"rule {rule.name}, condition {number}"
        for rule in model.rules
        for number, condition in enumerate(rule.when, 1)
        if rule.fires.event == "send" and isinstance(condition, t.Is) and condition.states == ("free",)
    }
    return {mutant.name: mutant for mutant in mutants(model) if mutant.name not in still_under_way}


RUNNING = "twice: what runs is preempted or given back, or its node or application goes"
BEGINNINGS = [
    (RUNNING, ("give_back 0", "deliver_release_allocation", "deliver_to_release")),
    (RUNNING, ("remove_application 0", "deliver_remove_application", "deliver_application_removed")),
]
"""Where walks begin as well, for they seldom come there."""


def check(model: Model) -> Checker:
    """Catches mutants of ``model``: in the configurations, and in those that are there twice."""
    where = {each.name: each for each in walked(model)}
    walks = [*((each, ()) for each in where.values()), *((where[name], begin) for name, begin in BEGINNINGS)]
    return Checker(model, seen_whole(model), walks, walks=WALKS)
