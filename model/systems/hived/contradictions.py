"""Sentences of HiveD's document that cannot all be true as written. Each has its lines, the problem, and our interpretation."""

from schedproof.model.lang import Contradiction

CONTRADICTIONS = (
    Contradiction(
        "what-cancels-a-preemptor",
        (
            (
                102,
                "Condition: a `Reserving` or `Reserved` cell in this PG is being overwritten by another PG (e<sub>3</sub> or e<sub>6</sub> in cell state machine).",
            ),
            (59, "`Reserved` (by another PG) -> `Used` (by this PG) (e<sub>8</sub> in cell state machine)."),
            (
                241,
                "For (i): the `Preempting` PG on this cell -> `Pending` (e<sub>5</sub> in PG state machine); release the cell and then allocate it to the new `Allocated` PG.",
            ),
        ),
        "The condition of e5 names e3 and e6 as its only triggers. The operation of e8 triggers e5 too.",
        "e3, e6 and e8 trigger e5. The property cancelled-only-when-overwritten keeps the literal condition, and is violated.",
        violates=["cancelled-only-when-overwritten"],
    ),
    Contradiction(
        "whose-deletion-frees-a-cell",
        (
            (183, "Condition: the `Allocated` PG on this is deleted (e<sub>3</sub> in PG state machine)."),
            (98, "all cells `Used` (by this PG) -> `Free` (e<sub>1</sub> in cell state machine)."),
        ),
        "The condition of the cell's e1 names only an Allocated PG and its e3. Line 98 triggers the cell's e1 by e4, the deletion of a Being preempted PG.",
        "e3 and e4 trigger the cell's e1. The property cell-e1-frees-an-allocated-group keeps the literal condition, and is violated.",
        violates=["cell-e1-frees-an-allocated-group"],
    ),
    Contradiction(
        "whose-cell-is-reserved",
        (
            (
                189,
                "Condition: triggered by another PG from `Pending` to `Preempting` (i.e., that PG is preempting the `Allocated` PG currently associated with this cell) (e<sub>1</sub> in PG state machine).",
            ),
            (193, "The `Allocated` PG on this cell -> `Being preempted` (e<sub>6</sub> in PG state machine);"),
            (145, "__`Used`__: only an `Allocated` or a `Being preempted` PG is associated with the cell."),
            (69, "`Used` (by other PGs) -> `Reserving` (by this PG) (e<sub>2</sub> in cell state machine);"),
        ),
        "A Used cell may belong to a Being preempted PG, and e1 reserves it by e2. The condition and the operation of e2 know an Allocated PG only.",
        "e2 occurs to any Used cell. It triggers e6 only if the group that uses the cell is Allocated. The property "
        "cell-e2-preempts-an-allocated-group keeps the literal condition, and is violated.",
        violates=["cell-e2-preempts-an-allocated-group"],
    ),
    Contradiction(
        "a-victim-without-a-preemptor",
        (
            (
                25,
                "__`Being preempted`__: the PG is being preempted by other PGs via their overlapping cells (the preemption is still ongoing).",
            ),
            (
                106,
                "All the other `Reserving` cells (by this PG) -> `Used` (by the `Being preempted` PG currently associated with the cell) (e<sub>4</sub> in cell state machine);",
            ),
            (
                211,
                "Operation: release the cell, and then allocate it to the `Being preempted` PG on this cell (i.e., the preemption victim).",
            ),
        ),
        "The preemptor goes back to Pending, and its victim has its cells again. Its preemption is over, but lines 106 and 211 call it Being preempted, "
        "and the figure has no arrow that it could take.",
        "The victim stays Being preempted. The properties preemption-ongoing and victim-freed-with-the-preemptor are violated.",
        violates=["preemption-ongoing", "victim-freed-with-the-preemptor"],
    ),
    Contradiction(
        "released-but-associated",
        (
            (195, "Release the cell, and then reserve it for the `Preempting` PG."),
            (149, "__`Reserving`__: a `Preempting` and a `Being preempted` PG are associated with the cell."),
            (143, "__`Free`__: no PG is associated with this cell."),
        ),
        "A cell that is released is Free in e1 and e7, and has no PG. In e2 it is released, and its user is still associated with it.",
        "In e2, the cell is released in the data for scheduling only (line 165). Its user stays associated with it until e9.",
    ),
    Contradiction(
        "who-has-a-reserved-cell",
        (
            (
                51,
                "Condition: all cells that the cell allocation algorithm decides to allocate to the PG are in `Free` or `Reserved` states (we assume the cell allocation algorithm has ensured that for every `Reserved` cell this PG's priority is higher than that of the PG currently associated with the cell, e.g., a `Preempting` PG).",
            ),
            (147, "__`Reserved`__: only a `Preempting` PG is associated with the cell."),
        ),
        "'E.g.' says that PGs in other states may be associated with a Reserved cell. Line 147 says that there are none.",
        "Only a Preempting group is associated with a Reserved cell.",
    ),
    Contradiction(
        "persistent-before-it-is-written",
        (
            (
                29,
                "Note that only ``Pending``, `Allocated`, and `Deleted` are persistent, thus they are the recovery points of HiveD.",
            ),
            (31, "Also note that `Allocated` state includes updating pod annotation (pod binding) and pod running."),
        ),
        "Allocated includes the update of the pods' annotations. Before that update no durable data say that the group is Allocated, so "
        "it is not persistent yet.",
        "The annotations are written in the step in which the group becomes Allocated.",
    ),
    Contradiction(
        "lowest-level-cells-are-split",
        (
            (
                135,
                "Note that here cells are _lowest-level physical cells_, e.g., leaf cells in typical configs (we record states only in these cells).",
            ),
            (
                166,
                "Allocating/reserving or releasing a cell in the cell view will modify the free cell list, and split or merge the cell, create or destroy cell bindings, and set or reset the cell priority.",
            ),
        ),
        "Cells are those of the lowest level, which have no parts. Line 166 splits and merges them.",
        "Lines 165 to 167 are about cells of all levels. The model has lowest-level cells only, and no hierarchy.",
    ),
)
