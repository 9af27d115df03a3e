"""The places where HiveD's text is silent or ambiguous: our answer, the other answer, and the verdicts that differ.

Where the other answer can be a change of the model, its elements replace those of the same name.
``schedproof verify hived --interpretations`` tries each of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from schedproof.model.lang import (
    NONE,
    Action,
    Invariant,
    LeadsTo,
    Reading,
    Row,
    Rule,
    StepInvariant,
    after,
    exists,
    forall,
    given,
    implies,
    me,
    those,
    variable,
)
from schedproof.model.lang.terms import Term

from .alternatives import (
    A_POD_IS_DELETED_ONCE,
    CELLS_ARE_NOT_RECORDED,
    CELLS_FOLLOW_THE_RECORDS,
    DECIDED_CELLS_ARE_KEPT,
    DECIDING,
    DELETED_IS_NOT_RECORDED,
    GROUPS_HAVE_A_SIZE,
    PODS_ARE_DELETED_ONE_BY_ONE,
    RECORDING,
    RECOVERED,
    SIZED,
    WITH_PODS,
    equal_priorities_too,
    sizes_of_groups,
    with_guard,
)
from .conditions import CONDITIONS
from .events import (
    ACTIONS,
    CRASH,
    OUTRANKS_RESERVER,
    OUTRANKS_USER,
    K,
    allocate,
    complete,
    delete_preempted,
    preempt,
)
from .life import preempting_ends
from .machines import Cell, PodGroup, c, p
from .states import GROUP_STATES
from .variants import VICTIM_IS_FREED, VICTIMS_CELLS_GO_TOGETHER

d = variable(Cell, "d")
r = variable(PodGroup, "r")

BECOMES_ALLOCATED = p.is_("Pending", "Preempting") & after(p.is_("Allocated"))
COMPLETE = exists(r, r.is_("Preempting") & forall(d, implies(d.reserver == r, d.is_("Reserved"))))

VACATE_TOGETHER = Action(
    "vacate",
    [p],
    when=[exists(c, c.is_("Reserving") & (c.user == p))],
    fires=[],
    says="the pods of {p} on its Reserving cells are deleted",
    line=247,
)


def condition(name: str) -> StepInvariant:
    """The step invariant of that name among the properties of "Condition" sentences."""
    return next(prop for prop in CONDITIONS if isinstance(prop, StepInvariant) and prop.name == name)


def from_entry(name: str, given_: Term) -> StepInvariant:
    """The invariant of that name as a requirement on the step that enters the state."""
    state = next(prop for prop in GROUP_STATES if isinstance(prop, Invariant) and prop.name == name)
    return StepInvariant(
        name=name,
        says=state.says,
        line=state.line,
        sentence=state.sentence,
        over=state.over,
        given=given_,
        then=after(state.then),
    )


def of_decided(states: Sequence[str], required: Term) -> Term:
    """That ``required`` holds for each decided cell in one of the states."""
    return forall(c, implies(K.has(c) & c.is_(*states), required))


PRIORITIES = (
    Reading(
        "priorities-never-change",
        51,
        "A group has one priority for its whole life, also after a crash.",
        "A priority may change between two decisions: a decision compares the priorities of that moment.",
        question="May the priority of a group change, and does it survive a crash?",
        why="No event or operation changes the priority of a PG. Only cells get and lose priorities (line 166).",
        adds=[
            with_guard(allocate, without=[OUTRANKS_RESERVER]),
            with_guard(preempt, without=[OUTRANKS_USER, OUTRANKS_RESERVER]),
        ],
        # It compares two groups at the time of a step, with values that no longer stand for that time.
        drops=["overwritten-by-the-outranking"],
        breaks=["preemptor-outranks-victim"],
    ),
    Reading(
        "priorities-are-any-strict-order",
        51,
        "Proofs assume only that no group outranks itself, and that outranking is transitive. Explorations give each group another priority.",
        "Priorities are numbers, and explorations include groups with equal ones: neither may take cells from the other.",
        question="Which relation between groups is 'higher priority'?",
        why="'Higher' excludes equal priorities. The text gives no range of priorities, so proofs assume no more than an order.",
        configurations=equal_priorities_too,
    ),
    Reading(
        "the-reserver-is-outranked",
        63,
        "A group that takes over a Reserving cell outranks the group for which the cell is reserved. It then also outranks the group "
        "that uses the cell, because the reserver does.",
        "It outranks the group that uses the cell; the priority of the reserver does not matter.",
        question="Two PGs are associated with a Reserving cell (line 149). Which one is 'the PG currently associated with the cell'?",
        why="The new preemptor cancels the preemption of the earlier one (line 199), and it must not be the lower one of the two. With fixed "
        "priorities, this answer is the same as that both are outranked.",
        adds=[
            with_guard(
                preempt,
                of_decided(["Used", "Reserving"], p.outranks.has(c.user)),
                of_decided(["Reserved"], p.outranks.has(c.reserver)),
                without=[OUTRANKS_USER, OUTRANKS_RESERVER],
            )
        ],
        breaks=["overwritten-by-the-outranking"],
    ),
    Reading(
        "e1-takes-outranked-reservations-only",
        71,
        "A group that begins to preempt takes over Reserved cells only from groups that it outranks.",
        "It may take over any Reserved cell: the assumption of line 63 is about Used and Reserving cells only.",
        question="Line 71 lets e1 overwrite Reserved cells. Does the assumption on priorities hold for them?",
        why="Line 51 makes the assumption for Reserved cells and e0. e1 also cancels the preemption of the other group.",
        adds=[with_guard(preempt, of_decided(["Reserving"], p.outranks.has(c.reserver)), without=[OUTRANKS_RESERVER])],
        breaks=["overwritten-by-the-outranking"],
    ),
)

DECISIONS = (
    Reading(
        "a-group-is-allocated-at-least-one-cell",
        51,
        "The algorithm decides on at least one cell.",
        "It may decide on none: 'all cells' of none are Free, so e0 occurs, and the group is Allocated without a cell.",
        question="May the set of decided cells be empty?",
        why="An Allocated group is 'fully allocated cells' (line 23). For e1, the condition itself asks for a cell (line 63).",
        adds=[with_guard(allocate, without=[allocate.when[1]])],
        breaks=["allocated-begins-with-cells"],
    ),
    Reading(
        "the-algorithm-may-decide-any-cells",
        51,
        "The algorithm may decide on any set of cells that meets the condition of the event.",
        "It preempts only if it takes every Free cell as well, so it never preempts instead of using a Free cell.",
        question="Which cells may the algorithm decide on?",
        why="The text describes no algorithm; it gives the conditions of e0 and e1 only.",
        adds=[with_guard(preempt, forall(c, implies(c.is_("Free"), K.has(c))))],
    ),
    Reading(
        "a-group-has-no-fixed-size",
        23,
        "A group may be allocated any number of cells, and another number at each decision.",
        "A group needs the same number of cells each time, here one or two, and is 'fully' allocated with no fewer.",
        question="How many cells does a group need?",
        why="No line gives a PG a number of pods or cells. Fewer cells are only counted as missing where a record names them.",
        machines=[SIZED],
        configurations=sizes_of_groups,
        adds=GROUPS_HAVE_A_SIZE,
    ),
    Reading(
        "the-decided-cells-are-the-reserved-ones",
        79,
        "'The cells that the algorithm decided to allocate to this PG' are those that are reserved for it at that time.",
        "The scheduler keeps the cells that the algorithm decided on, until the group is no longer Preempting. e2 needs these to be Reserved.",
        question="Which cells are the decided ones when e2 occurs, some steps after the decision?",
        why="e1 reserves every decided cell (lines 67 to 75). A group that loses one of them loses all (lines 104 to 108). So both are the same "
        "set unless the algorithm decides again, and no event is described for that.",
        machines=[DECIDING],
        adds=DECIDED_CELLS_ARE_KEPT,
    ),
    Reading(
        "conditions-permit-and-do-not-force",
        79,
        "An event may occur while its condition holds. Other events may occur before it, and may take away its cells.",
        "A group whose cells are all Reserved becomes Allocated before any other event; only a crash may come first.",
        question="Does an event occur as soon as its condition holds?",
        why="The cell machine draws e6 and e8, which take over Reserved cells, and line 51 expects Reserved cells of other groups.",
        adds=[with_guard(action, ~COMPLETE) for action in ACTIONS if action not in (complete, CRASH)],
    ),
    Reading(
        "complete-preemptions-are-used",
        21,
        "A group whose preemptions are complete becomes Allocated at some time, if nothing else happens to it.",
        "It may stay Preempting for ever, although all its cells are Reserved.",
        question="Does a group stop waiting when the preemptions that it waits for are complete?",
        why="'Waiting for the completion of preemptions' means that the wait is over with them.",
        adds=[replace(preempting_ends, weak=["vacate"])],
        breaks=["preempting-ends"],
    ),
    Reading(
        "waiting-groups-may-wait-for-ever",
        19,
        "A Pending group can still be Allocated, whatever happened. Nothing says that it will be.",
        "A Pending group does not wait for ever, if the algorithm goes on to decide.",
        question="Does a group that waits to be scheduled become scheduled?",
        why="The text has no sentence on fairness; line 153 names it as a possible later feature.",
        adds=[
            LeadsTo(
                name="pending-can-be-allocated",
                says="a Pending group does not wait for ever",
                line=19,
                sentence="`Pending`: the PG is waiting to be scheduled.",
                over=[p],
                given=p.is_("Pending"),
                goal=~p.is_("Pending"),
                weak=["allocate", "preempt", "vacate", "complete"],
            )
        ],
        breaks=["pending-can-be-allocated"],
    ),
)

PODS = (
    Reading(
        "pods-are-deleted-at-any-time",
        87,
        "The environment deletes the pods of a group. 'All pods of this PG are deleted' is one step, which may occur at any time.",
        "The pods on Used cells are deleted one by one, and the event of the group occurs when none of its cells has a pod.",
        question="When are all pods of a group deleted, and by which step?",
        why="The machines describe cells only, and not the real state of pods (line 31).",
        machines=[WITH_PODS],
        adds=PODS_ARE_DELETED_ONE_BY_ONE,
    ),
    Reading(
        "pods-of-victims-go-one-by-one",
        247,
        "Each pod of a victim is deleted by itself, and its cell is Reserved from then on.",
        "The pods of a victim are deleted together. Until then the victim keeps all its cells; then e9 takes its Reserving cells, and e4 its Used ones.",
        question="A PG is a set of gang-scheduled pods (line 8). Are they also deleted together?",
        why="The condition of e9 is about one pod on one cell. e4 is a separate event about all pods.",
        adds=[
            *(each for each in VICTIMS_CELLS_GO_TOGETHER.adds if each.name != "e9-vacates-with-its-group"),
            replace(preempting_ends, weak=["delete_preempted", "complete"]),
        ],
        drops=VICTIMS_CELLS_GO_TOGETHER.drops,
        rests=[
            "allocated-has-cells",
            "allocated-fully",
            "placement-is-what-it-uses",
            "placements-are-disjoint",
            "recovery-from-durable",
        ],
    ),
    Reading(
        "a-pod-is-on-one-cell",
        247,
        "Each cell has a pod of its own: the e9 of one cell is not the e9 of another.",
        "One pod may be on several cells. If it is deleted, e9 occurs to all of them, here to all Reserving cells of the victim.",
        question="May a pod be on several cells?",
        why="The condition says 'the pod on this cell', and speaks of no other cell.",
        adds=[
            VACATE_TOGETHER,
            Rule("the pods are deleted", VACATE_TOGETHER, [c.is_("Reserving"), c.user == p], c.fires("e9"), line=247),
        ],
    ),
    Reading(
        "e9-may-occur-at-any-time",
        247,
        "The e9 of a Reserving cell may occur at any time, also if the pod on the cell was deleted while the cell was Used.",
        "The deletion of a pod is an event that occurs once. If the cell is reserved after it, e9 never occurs, and the cell stays Reserving.",
        question="A cell stays Used when the pod on it is deleted, until all pods of its PG are. What if the cell is reserved in between?",
        why="The model has no pods, so no state says whether the pod on a cell was deleted already.",
        machines=[WITH_PODS],
        adds=A_POD_IS_DELETED_ONCE,
        breaks=["preempting-ends"],
    ),
    Reading(
        "pods-of-victims-are-deleted",
        247,
        "The pods on Reserving cells are deleted at some time.",
        "They may run for ever: no operation deletes them.",
        question="Who deletes the pods of a victim? The operations of e2 in the cell machine and of e6 in the PG machine do not.",
        why="'The preemption is still ongoing' (line 25) and 'waiting for the completion' (line 21) say that preemptions complete.",
        adds=[replace(preempting_ends, weak=["complete"])],
        breaks=["preempting-ends"],
    ),
    Reading(
        "a-victim-is-deleted-after-its-cells-are-vacated",
        95,
        "e4 occurs after e9 has occurred to each Reserving cell of the victim. It then has Used cells only, or none.",
        "e4 may occur while the victim has Reserving cells. In the same step, e9 occurs to these.",
        question="What becomes of the Reserving cells of a victim whose pods are all deleted? e4 frees its Used cells only (line 98).",
        why="If all pods are deleted, so is the pod on each Reserving cell, and that is the condition of e9 (line 247).",
        adds=[
            with_guard(delete_preempted, without=delete_preempted.when[1:]),
            Rule("e4 vacates its cells", p.fires("e4"), [c.user == p, c.is_("Reserving")], c.fires("e9"), line=98),
        ],
        breaks=["e9-vacates-one-pod-at-a-time"],
    ),
    Reading(
        "e9-and-e4-are-two-steps",
        95,
        "If e9 takes the last cell of a victim, the victim stays Being preempted without cells, until e4 occurs in a later step.",
        "The e9 of the last cell deletes the last pod, so e4 occurs in the same step.",
        question="The last pod of a victim is deleted: its cell has e9, and the victim e4. Is this one step?",
        why="No operation of a cell triggers e4, and the condition of e4 is about the pods. HiveD's code has the other answer: it keeps no group without a pod.",
        adds=[
            Rule(
                "e9 of the last cell deletes the victim",
                c.fires("e9"),
                [forall(d, implies(d.user == c.user, d == c))],
                c.user.fires("e4"),
                line=95,
            )
        ],
        rests=["allocated-has-cells"],
        breaks=["e9-vacates-one-pod-at-a-time"],
    ),
    Reading(
        "deleted-groups-do-not-return",
        27,
        "A Deleted group stays Deleted. If its job is submitted again, this is another group.",
        "The group is submitted again, and is Pending.",
        question="May a Deleted group be used again, under its name?",
        why="The figure has no arrow from Deleted, and the life cycles end there.",
        adds=[
            Row(PodGroup, "submit", "Deleted", "Pending", line=27, record="submitted"),
            Action("submit", [p], [p.is_("Deleted")], [p.fires("submit")], "{p} is submitted again", line=27),
        ],
        breaks=["deleted-is-final"],
    ),
)

CELLS = (
    Reading(
        "one-group-in-each-role",
        149,
        "A cell has at most one group that uses it, and at most one for which it is reserved.",
        "Several groups may use a cell, or have it reserved.",
        question="How many groups may be associated with a cell, and in which roles?",
        why="The states say 'a' PG, and the operations say 'Used (by this PG)' and 'Reserved (by this PG)'.",
        untried="a cell has one user and one reserver in every rule and property; the figure has no event that adds a second one",
    ),
    Reading(
        "a-reserved-cell-keeps-its-user",
        195,
        "'Release the cell' is about the data for scheduling (line 165). The victim stays associated with the cell, until e9.",
        "The victim is no longer associated with the cell.",
        question="e2 releases the cell, and then reserves it. Is the victim still associated with it?",
        why="A Reserving cell has a Being preempted group (line 149), to which e4 gives it back (line 211).",
        adds=[Row(Cell, "e2", "Used", "Reserving", line=187, reserver=given("reserver"), user=NONE)],
        breaks=[
            "crash-undoes-preemption",
            "used-cell",
            "reserving-cell",
            "preemptor-outranks-victim",
            "new-preemptor-keeps-the-victim",
            "e9-vacates-one-pod-at-a-time",
            "cancelled-preemptor-returns-its-reserving-cells",
            "deleted-preemptor-returns-its-reserving-cells",
            "pending-can-be-allocated",
            "cells-can-always-be-free",
        ],
    ),
    Reading(
        "a-step-is-a-whole-cascade",
        10,
        "An event, and all events that it triggers, are one step. Every condition in it is about the state before the step.",
        "The events are steps of their own. For example, a cancelled preemptor is Pending first, and its other cells follow one by one.",
        question="May other events, or a crash, come between an event and the events that it triggers?",
        why="The operations name the state changes of an event, without a state in between. Changes are 'immediately visible' (line 167).",
        adds=[
            Action(
                "return_cell",
                [c],
                when=[c.is_("Reserving"), c.reserver.is_("Pending", "Deleted")],
                fires=[c.fires("e4")],
                says="{c} goes back to its user",
                line=106,
            ),
            Action(
                "free_cell",
                [c],
                when=[c.is_("Reserved"), c.reserver.is_("Pending", "Deleted")],
                fires=[c.fires("e7")],
                says="{c} is Free again",
                line=108,
            ),
        ],
        drops=["e5 returns its Reserving cells", "e5 frees its Reserved cells"],
        breaks=[
            "pending-holds-nothing",
            "deleted-holds-nothing",
            "crash-undoes-preemption",
            "reserved-cell",
            "reserving-cell",
            "returned-only-when-the-preemptor-gives-up",
            "unreserved-only-when-the-preemptor-gives-up",
            "preemption-takes-the-decided-cells",
            "cancelled-preemptor-returns-its-reserving-cells",
            "cancelled-preemptor-frees-its-reserved-cells",
            "deleted-preemptor-returns-its-reserving-cells",
            "deleted-preemptor-frees-its-reserved-cells",
        ],
    ),
    Reading(
        "victims-may-lose-more-cells",
        63,
        "The decided cells may be Used by groups that are already Being preempted at other cells.",
        "Only cells that an Allocated group uses may be reserved by e2.",
        question="May a group that is already being preempted lose more cells?",
        why="Line 63 asks only for Used cells, and a Being preempted group may use them (line 145).",
        adds=[with_guard(preempt, of_decided(["Used"], c.user.is_("Allocated")))],
        rests=["cell-e2-preempts-an-allocated-group"],
    ),
    Reading(
        "victims-stay-being-preempted",
        106,
        "A victim that gets its cells back from a cancelled or deleted preemptor stays Being preempted.",
        "It is Allocated again, when its last preemptor is gone.",
        question="In which state is a victim that nobody preempts any longer?",
        why="The figure has no other arrow from Being preempted to Allocated than that of a crash. Lines 106 and 211 still call it Being preempted.",
        adds=VICTIM_IS_FREED.adds,
        rests=["victim-freed-with-the-preemptor"],
    ),
    Reading(
        "a-preemptor-that-loses-a-cell-is-cancelled",
        241,
        "If e0 takes a Reserved cell of another group, that group goes back to Pending.",
        "It stays Preempting with its other cells, since the condition of e5 does not list e8.",
        question="Is e5 triggered if the only event that overwrites a cell is e8?",
        why="Line 241 says so. The cell's allocation is a decision of the algorithm like e1, and all or none of a gang's cells are allocated.",
        drops=["e8 cancels the preemptor"],
        rests=["cancelled-only-when-overwritten"],
        breaks=[
            "preempting-has-cells",
            "allocated-begins-with-cells",
            "overwritten-preemptor-is-pending",
            "preemptor-of-an-allocated-cell-is-pending",
        ],
    ),
)

CRASHES = (
    Reading(
        "pods-record-the-recovery-points",
        29,
        "The objects of its pods record whether a group is submitted, bound or deleted. They change in the step that changes the state.",
        "The record says of a group only whether it is bound. One that is not bound may be Pending or Deleted.",
        question="Where do the persistent states survive?",
        why="Line 31 names the annotation of pods for Allocated. For Pending and Deleted the text names nothing.",
        adds=DELETED_IS_NOT_RECORDED,
        breaks=["record-follows-state"],
    ),
    Reading(
        "annotations-name-the-cells",
        31,
        "The annotation of its pods names the cells of a group, and survives a crash.",
        "It names the nodes of the pods only, and no cells.",
        question="What does the annotation record?",
        why="Used and Free cells are derived from the PG state machine (line 151), so something durable must name the cells.",
        adds=CELLS_ARE_NOT_RECORDED,
        rests=["allocated-fully"],
        breaks=["binding-records-the-cells"],
    ),
    Reading(
        "records-last-until-all-pods-are-deleted",
        31,
        "The record of a group names all its cells until its last pod is deleted.",
        "Each pod records its own cell only. With the pod, its record is deleted.",
        question="Does the pod that e9 deletes take a part of the record with it?",
        why="No line says that a record shrinks. A group with a smaller record would be Allocated with fewer cells than before a crash (line 23).",
        adds=[
            Row(PodGroup, "e0", "BeingPreempted", "BeingPreempted", line=31, placement=given("cells")),
            Rule(
                "e9 takes the cell from the record",
                c.fires("e9"),
                [],
                c.user.fires("e0", cells=those(d, (d.user == c.user) & (d != c))),
                line=31,
            ),
        ],
        rests=["allocated-fully", "placement-is-what-it-uses", "placements-are-disjoint", "recovery-from-durable"],
    ),
    Reading(
        "annotations-are-written-at-once",
        31,
        "The annotation is written in the step in which the group becomes Allocated.",
        "It is written in a later step: 'Allocated' includes the time before it.",
        question="Is a group Allocated, and so persistent, before its pods are annotated?",
        why="Line 29 calls Allocated persistent, without an exception.",
        adds=[
            Row(PodGroup, "e0", "Pending", "Allocated", line=49),
            Row(PodGroup, "e2", "Preempting", "Allocated", line=77),
            Row(PodGroup, "bind", "Allocated", "Allocated", line=31, record="bound", placement=those(c, c.user == me)),
            Action("bind", [p], [p.is_("Allocated")], [p.fires("bind")], "the pods of {p} are annotated", line=31),
        ],
        breaks=["record-follows-state", "binding-records-the-cells"],
    ),
    Reading(
        "recovery-keeps-what-is-used",
        151,
        "After a crash, a cell that was Used or Reserving is Used by the same group, as the figure draws it. A property compares this with the record.",
        "Recovery computes the cells from the record: a cell that the record of a group names is Used by it again, also if it was Reserved or "
        "Free. If several records name it, the group with the highest priority gets it.",
        question="From what are Free and Used cells derived after a crash?",
        why="The figure draws ec from Reserving to Used and from Reserved to Free. The other states are not said to change.",
        machines=[RECORDING, RECOVERED],
        adds=CELLS_FOLLOW_THE_RECORDS,
        breaks=[
            "free-cell-used-only-at-allocation",
            "reserved-cell-used-only-at-allocation",
            "overwritten-by-the-outranking",
            "cancelled-preemptor-frees-its-reserved-cells",
        ],
    ),
    Reading(
        "victims-without-pods-come-back",
        29,
        "After a crash every Being preempted group is Allocated, also if e9 has taken all its cells.",
        "A Being preempted group without a cell has no pod, so it is Deleted after a crash.",
        question="What becomes of a victim whose last pod is deleted just before a crash?",
        why="The figure draws ec from Being preempted to Allocated, without a condition.",
        adds=[
            Rule(
                "crash takes every PodGroup",
                CRASH,
                [p.is_("Preempting", "BeingPreempted"), p.is_("Preempting") | exists(c, c.user == p)],
                p.fires("ec"),
                line=43,
            ),
            Rule(
                "a crash deletes victims without cells",
                CRASH,
                [p.is_("BeingPreempted"), forall(c, c.user != p)],
                p.fires("e4"),
                line=29,
            ),
        ],
        rests=["allocated-has-cells"],
    ),
)

SENTENCES = (
    Reading(
        "allocated-is-fully-allocated-at-all-times",
        23,
        "An Allocated group has all its cells as long as it is Allocated, also after a crash.",
        "The sentence is about the step in which a waiting group becomes Allocated.",
        question="Does the definition of a state hold in the state, or when an object enters it?",
        why="The sections are called 'States', and define what an object is in each of them.",
        adds=[
            from_entry("allocated-has-cells", BECOMES_ALLOCATED),
            from_entry("allocated-fully", BECOMES_ALLOCATED),
        ],
        rests=["allocated-has-cells", "allocated-fully"],
    ),
    Reading(
        "preemption-is-ongoing-at-all-times",
        25,
        "A Being preempted group has a Reserving cell as long as it is Being preempted.",
        "The preemption goes on until the victim is deleted; only at its beginning must a cell be Reserving.",
        question="How long is a preemption 'still ongoing' without a cell that is Reserving?",
        why="The group is preempted 'via their overlapping cells', and 'still' is about each moment.",
        adds=[from_entry("preemption-ongoing", p.is_("Allocated") & after(p.is_("BeingPreempted")))],
        rests=["preemption-ongoing"],
    ),
    Reading(
        "all-groups-can-end",
        27,
        "In every state, each group can still be Deleted, all cells can become Free, and some event other than a crash can occur.",
        "The sentence defines a state, and requires of no group that it gets there.",
        question="Must the state Deleted stay reachable?",
        why="All life cycles of the document end with Deleted groups and Free cells (lines 36, 39, 158 and 161).",
        drops=[
            "something-can-happen-until-all-is-deleted",
            "group-can-always-be-deleted",
            "cells-can-always-be-free",
        ],
    ),
)

INTERPRETATIONS = (*PRIORITIES, *DECISIONS, *PODS, *CELLS, *CRASHES, *SENTENCES)
