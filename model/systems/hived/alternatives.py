"""What the other answers of HiveD's interpretations need beside single rows and rules: pods, sizes, recovery from records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product

from schedproof.model.lang import (
    EMPTY,
    NONE,
    Action,
    Attribute,
    BoolType,
    Event,
    Invariant,
    Ref,
    Rigid,
    Row,
    Rule,
    SetOf,
    Term,
    exists,
    forall,
    given,
    implies,
    variable,
)
from schedproof.model.lang.model import Element
from schedproof.model.lang.terms import Value

from .events import CRASH, K, allocate, complete, delete_allocated, delete_preempted, preempt, vacate
from .machines import CELL, CELL_TABLE, POD_GROUP, POD_GROUP_TABLE, Cell, PodGroup, c, p, q, total_order

d, e = variable(Cell, "d"), variable(Cell, "e")


def with_guard(action: Action, *conditions: Term, without: Sequence[Term] = ()) -> Action:
    """The action with other conditions in its guard."""
    kept = [each for each in action.when if not any(each is other for other in without)]
    return replace(action, when=[*kept, *conditions])


def with_updates(row: Row, **sets: Term | Value) -> Row:
    """The row with more updates."""
    return Row(row.sort, row.event, row.source, row.target, line=row.line, fact=row.fact, **{**dict(row.sets), **sets})


# Priorities are numbers.


def equal_priorities_too(sizes: Mapping[str, int]) -> Iterator[Rigid]:
    """Yields each order of groups by numbers: each group has the number of the one before it, or the next one."""
    many = sizes["PodGroup"]
    for higher in product((0, 1), repeat=many - 1):
        numbers = [sum(higher[:i]) for i in range(many)]
        yield {
            ("PodGroup", "outranks"): [
                frozenset(j for j in range(many) if numbers[j] < numbers[i]) for i in range(many)
            ]
        }


# A group needs one cell or two.

SIZED = replace(
    POD_GROUP,
    attributes=[
        *POD_GROUP.attributes,
        Attribute("pair", BoolType(), rigid=True, line=23, about="needs two cells; any other group needs one"),
    ],
)


def sizes_of_groups(sizes: Mapping[str, int]) -> Iterator[Rigid]:
    """Yields the order of priorities with each choice of groups that need two cells."""
    for order in total_order(sizes):
        for pairs in product((False, True), repeat=sizes["PodGroup"]):
            yield {**order, ("PodGroup", "pair"): list(pairs)}


def _as_many_as_needed(has: Term, of_second: Term, of_third: Term) -> Term:
    """That a set of cells is as large as the group needs; the set is given by what it has of c, d and e."""
    one = exists(c, has & forall(d, implies(of_second, d == c)))
    two = exists([c, d], (c != d) & has & of_second & forall(e, implies(of_third, (e == c) | (e == d))))
    return (p.pair & two) | (~p.pair & one)


THE_SIZE = _as_many_as_needed(K.has(c), K.has(d), K.has(e))

GROUPS_HAVE_A_SIZE: Sequence[Element] = [
    with_guard(allocate, THE_SIZE),
    with_guard(preempt, THE_SIZE),
    Invariant(
        name="allocated-fully",
        says="an Allocated group uses as many cells as it needs",
        line=23,
        sentence="`Allocated`: the PG is fully allocated cells.",
        over=[p],
        given=p.is_("Allocated"),
        then=_as_many_as_needed(c.user == p, d.user == p, e.user == p),
    ),
]

# The scheduler keeps the cells that the algorithm decided on.

DECIDING = replace(
    POD_GROUP,
    attributes=[*POD_GROUP.attributes, Attribute("decided", SetOf(Cell), line=79)],
    events=[*POD_GROUP.events, Event("e1", {"cells": SetOf(Cell)})],
)

DECIDED_CELLS_ARE_KEPT: Sequence[Element] = [
    replace(preempt, fires=[p.fires("e1", cells=K)]),
    Row(PodGroup, "e1", "Pending", "Preempting", line=61, decided=given("cells")),
    *(with_updates(row, decided=EMPTY) for row in POD_GROUP_TABLE if row.source == "Preempting" or row.event == "ec"),
    replace(complete, when=[p.is_("Preempting"), forall(c, implies(p.decided.has(c), c.is_("Reserved")))]),
]

# Each cell in use has a pod.

WITH_PODS = replace(
    CELL,
    attributes=[
        *CELL.attributes,
        Attribute("pod", BoolType(), durable=True, line=247, about="the pod that was bound to the cell is not deleted"),
    ],
)

delete_pod = Action(
    "delete_pod",
    [c],
    when=[c.is_("Used"), c.pod],
    fires=[c.fires("pod_deleted")],
    says="the pod on {c}, which is Used, is deleted",
    line=87,
)

PODS_OF_USED_CELLS: Sequence[Element] = [
    *(with_updates(row, pod=True) for row in CELL_TABLE if row.event in ("e0", "e8")),
    *(with_updates(row, pod=False) for row in CELL_TABLE if row.event in ("e1", "e9")),
    Row(Cell, "pod_deleted", "Used", "Used", line=87, pod=False),
    delete_pod,
]
"""A pod is bound with the allocation of its cell, and is deleted while the cell is Used, or by e9."""

PODS_ARE_DELETED_ONE_BY_ONE: Sequence[Element] = [
    *PODS_OF_USED_CELLS,
    with_guard(delete_allocated, forall(c, implies(c.user == p, ~c.pod))),
    with_guard(delete_preempted, forall(c, implies(c.user == p, ~c.pod))),
]

A_POD_IS_DELETED_ONCE: Sequence[Element] = [*PODS_OF_USED_CELLS, with_guard(vacate, c.pod)]

# The records say less.

DELETED_IS_NOT_RECORDED: Sequence[Element] = [
    with_updates(row, record="submitted") for row in POD_GROUP_TABLE if row.target == "Deleted"
]

CELLS_ARE_NOT_RECORDED: Sequence[Element] = [
    with_updates(row, placement=EMPTY) for row in POD_GROUP_TABLE if row.event in ("e0", "e2")
]

# After a crash, the cells are computed again.

RECORDING = replace(
    POD_GROUP,
    attributes=[replace(each, history=False) if each.name == "placement" else each for each in POD_GROUP.attributes],
)
RECOVERED = replace(CELL, events=[*CELL.events, Event("recover", {"user": Ref(PodGroup)})])

# Of groups whose records name one cell, one gets it: the model takes the one that the others do not outrank.
ITS_CELL = p.placement.has(c) & forall(q, implies(q.placement.has(c), ~q.outranks.has(p)))

CELLS_FOLLOW_THE_RECORDS: Sequence[Element] = [
    Rule(
        "crash takes every Cell", CRASH, [c.is_("Reserving", "Reserved"), forall(p, ~p.placement.has(c))], c.fires("ec")
    ),
    Rule("crash recovers recorded cells", CRASH, [ITS_CELL, c.user != p], c.fires("recover", user=p), line=151),
    Rule("crash returns recorded cells", CRASH, [ITS_CELL, c.is_("Reserving"), c.user == p], c.fires("ec"), line=151),
    *(
        Row(Cell, "recover", state, "Used", line=151, user=given("user"), reserver=NONE)
        for state in ("Free", "Used", "Reserved", "Reserving")
    ),
]
