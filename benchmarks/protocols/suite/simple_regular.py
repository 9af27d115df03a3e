"""Each process writes x, and then reads the x of its neighbour into y; a read during a write may give the old value.

Source: Lamport's ``SimpleRegular``, ``tla-simpleregular`` of IC3PO, ``SimpleRegular`` of endive. There the neighbours are a circle: here
each process has some neighbour.
Safety: if all are done, some y is set.
"""

from schedproof.model.lang import (
    NONE,
    Action,
    Attribute,
    BoolType,
    Invariant,
    Machine,
    Model,
    Ref,
    Row,
    Sort,
    State,
    exists,
    forall,
    variables,
)

Process = Sort("Process", "p")
(p,) = variables(Process, "p")

MODEL = Model(
    system="simple-regular",
    variant="as-published",
    about="processes read what their neighbours write, or wrote",
    machines=[
        Machine(
            Process,
            [State("First"), State("Writing"), State("Written"), State("Done")],
            [
                Attribute("neighbour", Ref(Process), rigid=True),
                Attribute("maybe_unset", BoolType(), initial=True, about="a read of its x may give the value before"),
                Attribute("maybe_set", BoolType(), about="a read of its x may give the value after"),
                Attribute("y", BoolType()),
            ],
        ),
    ],
    rows=[
        Row(Process, "begin", "First", "Writing", maybe_set=True),
        Row(Process, "end", "Writing", "Written", maybe_unset=False),
        Row(Process, "read_set", "Written", "Done", y=True),
        Row(Process, "read_unset", "Written", "Done", y=False),
    ],
    actions=[
        Action("begin", [p], [p.is_("First")], [p.fires("begin")], "{p} begins to set x"),
        Action("end", [p], [p.is_("Writing")], [p.fires("end")], "{p} has set x"),
        Action(
            "read_set",
            [p],
            [p.is_("Written"), p.neighbour.maybe_set],
            [p.fires("read_set")],
            "{p} reads that the x of {p.neighbour} is set",
        ),
        Action(
            "read_unset",
            [p],
            [p.is_("Written"), p.neighbour.maybe_unset],
            [p.fires("read_unset")],
            "{p} reads that the x of {p.neighbour} is not set",
        ),
    ],
    rules=[],
    properties=[
        Invariant(
            name="some-y",
            says="if all are done, some y is set",
            over=[],
            given=forall(p, p.is_("Done")),
            then=exists(p, p.y),
        ),
    ],
    default_scope={"Process": 3},
    axioms=[forall(p, p.neighbour != NONE)],
    configurations=lambda sizes: [
        {("Process", "neighbour"): [(each - 1) % sizes["Process"] for each in range(sizes["Process"])]}
    ],
)
