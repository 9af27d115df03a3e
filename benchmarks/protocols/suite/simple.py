"""Each process sets x, and then y to the x of its neighbour.

Source: Lamport (Teaching concurrency, SIGACT News 2009), ``tla-simple`` of IC3PO, ``Simple`` of endive. There the neighbours are a
circle: here each process has some neighbour.
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
    me,
    variables,
)

Process = Sort("Process", "p")
(p,) = variables(Process, "p")

MODEL = Model(
    system="simple",
    variant="as-published",
    about="processes read what their neighbours wrote",
    machines=[
        Machine(
            Process,
            [State("First"), State("Second"), State("Done")],
            [Attribute("neighbour", Ref(Process), rigid=True), Attribute("x", BoolType()), Attribute("y", BoolType())],
        ),
    ],
    rows=[
        Row(Process, "write", "First", "Second", x=True),
        Row(Process, "read", "Second", "Done", y=me.neighbour.x),
    ],
    actions=[
        Action("write", [p], [p.is_("First")], [p.fires("write")], "{p} sets x"),
        Action("read", [p], [p.is_("Second")], [p.fires("read")], "{p} sets y to the x of {p.neighbour}"),
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
