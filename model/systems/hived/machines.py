"""The two figures: states, attributes and transition tables of pod groups and cells.

``line`` is the line of the document that states the element. The line of a row is the heading of its event; the event's
conditions and operations follow there. Only the figures (at lines 14 and 138) show from which state to which an arrow
leads. The tables have the arrows of the figures and no others.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

from schedproof.model.lang import (
    EMPTY,
    NONE,
    Attribute,
    Document,
    Durability,
    EnumType,
    Event,
    Machine,
    Ref,
    Rigid,
    Row,
    SetOf,
    Sort,
    State,
    forall,
    given,
    implies,
    me,
    those,
    variable,
    variables,
)

DOCUMENT = Document("hived-state-machines.md", "HiveD State Machines", Path(__file__).with_name("quotes.json"))

PodGroup = Sort("PodGroup", "g")
Cell = Sort("Cell", "c")

c = variable(Cell, "c")
p, q, r = variables(PodGroup, "p q r")

POD_GROUP = Machine(
    PodGroup,
    line=6,
    states=[
        State("Pending", line=19),
        State("Preempting", Durability.VOLATILE, line=21),
        State("Allocated", line=23),
        State("BeingPreempted", Durability.VOLATILE, line=25),
        State("Deleted", line=27),
    ],
    attributes=[
        # "this PG's priority is higher than that of the PG currently associated with the cell"
        Attribute("outranks", SetOf(PodGroup), rigid=True, line=51, about="the groups whose priority is lower"),
        # The objects of the pods record this of their group (line 31: "updating pod annotation"). The document's states
        # do not include it. The model has it so that recovery can be checked.
        Attribute(
            "record",
            EnumType(("submitted", "bound", "deleted")),
            durable=True,
            history=True,
            line=31,
            about="what the objects of its pods record of the group; it survives a crash",
        ),
        Attribute(
            "placement",
            SetOf(Cell),
            durable=True,
            history=True,
            line=31,
            about="the cells that the objects of its pods record; they survive a crash",
        ),
    ],
    events=[Event("e0", {"cells": SetOf(Cell)})],
)

CELL = Machine(
    Cell,
    line=135,
    states=[
        State("Free", Durability.DERIVED, line=143),
        State("Used", Durability.DERIVED, line=145),
        State("Reserved", Durability.VOLATILE, line=147),
        State("Reserving", Durability.VOLATILE, line=149),
    ],
    attributes=[
        # "associated with the cell": as its user, or as the group for which the cell is reserved
        # A Used cell is "derived from the PG state machine" (line 151), and with it its user.
        Attribute("user", Ref(PodGroup), derived=True, line=145),
        Attribute("reserver", Ref(PodGroup), line=147),
    ],
    events=[
        Event("e0", {"user": Ref(PodGroup)}),
        Event("e2", {"reserver": Ref(PodGroup)}),
        Event("e3", {"reserver": Ref(PodGroup)}),
        Event("e5", {"reserver": Ref(PodGroup)}),
        Event("e6", {"reserver": Ref(PodGroup)}),
        Event("e8", {"user": Ref(PodGroup)}),
    ],
)

RESERVED_FOR_ME = those(c, c.reserver == me)

POD_GROUP_TABLE = [
    Row(PodGroup, "e0", "Pending", "Allocated", line=49, record="bound", placement=given("cells")),
    Row(PodGroup, "e1", "Pending", "Preempting", line=61),
    Row(PodGroup, "e2", "Preempting", "Allocated", line=77, record="bound", placement=RESERVED_FOR_ME),
    Row(PodGroup, "e3", "Allocated", "Deleted", line=85, record="deleted", placement=EMPTY),
    Row(PodGroup, "e4", "BeingPreempted", "Deleted", line=93, record="deleted", placement=EMPTY),
    Row(PodGroup, "e5", "Preempting", "Pending", line=100),
    Row(PodGroup, "e6", "Allocated", "BeingPreempted", line=111),
    Row(PodGroup, "e7", "Preempting", "Deleted", line=117, record="deleted"),
    Row(PodGroup, "e8", "Pending", "Deleted", line=127, record="deleted"),
    Row(PodGroup, "ec", "Preempting", "Pending", line=43),
    Row(PodGroup, "ec", "BeingPreempted", "Allocated", line=43),
]

CELL_TABLE = [
    Row(Cell, "e0", "Free", "Used", line=175, user=given("user")),
    Row(Cell, "e1", "Used", "Free", line=181, user=NONE),
    Row(Cell, "e2", "Used", "Reserving", line=187, reserver=given("reserver")),
    Row(Cell, "e3", "Reserving", "Reserving", line=197, reserver=given("reserver")),
    Row(Cell, "e4", "Reserving", "Used", line=207, reserver=NONE),
    Row(Cell, "e5", "Free", "Reserved", line=213, reserver=given("reserver")),
    Row(Cell, "e6", "Reserved", "Reserved", line=219, reserver=given("reserver")),
    Row(Cell, "e7", "Reserved", "Free", line=229, reserver=NONE),
    Row(Cell, "e8", "Reserved", "Used", line=235, user=given("user"), reserver=NONE),
    Row(Cell, "e9", "Reserving", "Reserved", line=245, user=NONE),
    Row(Cell, "ec", "Reserving", "Used", line=169, reserver=NONE),
    Row(Cell, "ec", "Reserved", "Free", line=169, reserver=NONE),
]

# Proofs assume this of priorities and no more: equal ones exist.
AXIOMS = [
    forall(p, ~p.outranks.has(p)),
    forall([p, q, r], implies(p.outranks.has(q) & q.outranks.has(r), p.outranks.has(r))),
]


def total_order(sizes: Mapping[str, int]) -> Iterator[Rigid]:
    """Yields the order that explorations use: a fixed total order in which group i outranks group j when i > j."""
    yield {("PodGroup", "outranks"): [frozenset(range(i)) for i in range(sizes["PodGroup"])]}
