"""The sections "Events": the actions, and the rules by which one event triggers another.

Pod group and cell trigger each other's events as the document's operations say. Each rule cites the line of its
operation.
"""

from schedproof.model.lang import Action, Rule, crash, exists, forall, implies, set_variable

from .machines import CELL, CELL_TABLE, POD_GROUP, POD_GROUP_TABLE, Cell, c, p, q

K = set_variable(Cell, "K")

FREE_OR_RESERVED = c.is_("Free", "Reserved")
USED_OR_RESERVING = c.is_("Used", "Reserving")

# "we assume the cell allocation algorithm has ensured that ... this PG's priority is higher than that of the PG
# currently associated with the cell". Line 63 says this for e1 of Used and Reserving cells, line 51 for e0 of Reserved
# cells. But e1 overwrites Reserved cells too (line 71), so the model makes line 51's assumption for e1 as well. Two
# groups are associated with a Reserving cell. The model requires that the reserver is outranked. The user is then
# outranked too, because the reserver outranks it (``preemptor-outranks-victim``).
OUTRANKS_USER = forall(c, implies(K.has(c) & c.is_("Used"), p.outranks.has(c.user)))
OUTRANKS_RESERVER = forall(c, implies(K.has(c) & c.is_("Reserved", "Reserving"), p.outranks.has(c.reserver)))

allocate = Action(
    "allocate",
    [p, K],
    when=[
        p.is_("Pending"),
        exists(c, K.has(c)),  # "fully allocated cells" (line 23): at least one
        forall(c, implies(K.has(c), FREE_OR_RESERVED)),
        OUTRANKS_RESERVER,
    ],
    fires=[p.fires("e0", cells=K)],
    says="{p} is allocated {K}",
    by="scheduler",
    line=51,
)

preempt = Action(
    "preempt",
    [p, K],
    when=[
        p.is_("Pending"),
        exists(c, K.has(c) & USED_OR_RESERVING),  # this also excludes an empty K
        OUTRANKS_USER,
        OUTRANKS_RESERVER,
    ],
    fires=[p.fires("e1")],
    says="{p} begins to preempt what runs on {K}",
    by="scheduler",
    line=63,
)

complete = Action(
    "complete",
    [p],
    when=[
        p.is_("Preempting"),
        # "all the cells that the ... algorithm decided to allocate to this PG" are the cells reserved for it. e1
        # reserves all decided cells, and a group that loses one of them loses all of them (e5).
        forall(c, implies(c.reserver == p, c.is_("Reserved"))),
    ],
    fires=[p.fires("e2")],
    says="{p} takes the cells reserved for it: all its preemptions are complete",
    by="scheduler",
    line=79,
)

delete_allocated = Action(
    "delete_allocated",
    [p],
    when=[p.is_("Allocated")],
    fires=[p.fires("e3")],
    says="all pods of {p}, which was allocated, are deleted",
    line=87,
)

delete_preempted = Action(
    "delete_preempted",
    [p],
    when=[
        p.is_("BeingPreempted"),
        # "all pods of this PG are deleted": the e9 of each Reserving cell has already deleted the pod on it
        forall(c, implies(c.is_("Reserving"), c.user != p)),
    ],
    fires=[p.fires("e4")],
    says="all pods of {p}, which was being preempted, are deleted",
    line=95,
)

delete_preempting = Action(
    "delete_preempting",
    [p],
    when=[p.is_("Preempting")],
    fires=[p.fires("e7")],
    says="all pods of {p}, which was preempting, are deleted",
    line=119,
)

delete_pending = Action(
    "delete_pending",
    [p],
    when=[p.is_("Pending")],
    fires=[p.fires("e8")],
    says="all pods of {p}, which was pending, are deleted",
    line=129,
)

# "The pod on this cell is deleted" (line 247) is about one cell, so it can happen to any Reserving cell at any time.
# For the victim's last cell, e9 is one step and e4 another. Between them the victim has no pod and uses no cell, but is
# BeingPreempted: e4's condition ("all pods of this PG are deleted", line 95) is about the group's pods, and no cell
# triggers it.
vacate = Action(
    "vacate",
    [c],
    when=[c.is_("Reserving")],
    fires=[c.fires("e9")],
    says="the pod on {c} is deleted",
    line=247,
)

CRASH, CRASH_RULES = crash("crash", "ec", [POD_GROUP, CELL], [*POD_GROUP_TABLE, *CELL_TABLE], line=45)

ACTIONS = [
    allocate,
    preempt,
    complete,
    delete_allocated,
    delete_preempted,
    delete_preempting,
    delete_pending,
    vacate,
    CRASH,
]

# A reservation is overwritten by another preemptor (line 102), or by a group that is allocated the cell (line 237).
OVERWRITTEN = c.fires("e3") | c.fires("e6") | c.fires("e8")
# "All the other" cells of lines 106 and 108 are the cells that are not being overwritten. Only e3 overwrites a
# Reserving cell; e6 or e8 overwrites a Reserved one.
OTHER_RESERVING = (c.is_("Reserving"), ~c.fires("e3"))
OTHER_RESERVED = (c.is_("Reserved"), ~c.fires("e6"), ~c.fires("e8"))

RULES = [
    # PodGroup e0
    Rule("e0 uses Free cells", allocate, [K.has(c), c.is_("Free")], c.fires("e0", user=p), line=57),
    Rule("e0 uses Reserved cells", allocate, [K.has(c), c.is_("Reserved")], c.fires("e8", user=p), line=59),
    # PodGroup e1
    Rule("e1 reserves Used cells", preempt, [K.has(c), c.is_("Used")], c.fires("e2", reserver=p), line=69),
    Rule("e1 overwrites Reserving cells", preempt, [K.has(c), c.is_("Reserving")], c.fires("e3", reserver=p), line=71),
    Rule("e1 overwrites Reserved cells", preempt, [K.has(c), c.is_("Reserved")], c.fires("e6", reserver=p), line=71),
    Rule("e1 reserves Free cells", preempt, [K.has(c), c.is_("Free")], c.fires("e5", reserver=p), line=75),
    # PodGroup e2
    Rule("e2 uses its cells", p.fires("e2"), [c.reserver == p], c.fires("e8", user=p), line=83),
    # PodGroup e3 and e4
    Rule("e3 frees its cells", p.fires("e3"), [c.user == p], c.fires("e1"), line=91),
    # Used cells only. As written, e4's condition leaves the group no other cells; repaired, e9 takes its Reserving
    # cells.
    Rule("e4 frees its cells", p.fires("e4"), [c.user == p, c.is_("Used")], c.fires("e1"), line=98),
    # PodGroup e5: the group that overwrites one of its cells cancels it
    Rule("e3 cancels the preemptor", c.fires("e3"), [], c.reserver.fires("e5"), line=203),
    Rule("e6 cancels the preemptor", c.fires("e6"), [], c.reserver.fires("e5"), line=225),
    Rule("e8 cancels the preemptor", c.fires("e8", user=p), [c.reserver != p], c.reserver.fires("e5"), line=241),
    Rule(
        "e5 returns its Reserving cells",
        q.fires("e5"),
        [c.reserver == q, *OTHER_RESERVING],
        c.fires("e4"),
        line=106,
    ),
    Rule(
        "e5 frees its Reserved cells",
        q.fires("e5"),
        [c.reserver == q, *OTHER_RESERVED],
        c.fires("e7"),
        line=108,
    ),
    # PodGroup e6
    Rule("e2 preempts the user", c.fires("e2"), [c.user.is_("Allocated")], c.user.fires("e6"), line=193),
    # PodGroup e7
    Rule(
        "e7 returns its Reserving cells",
        q.fires("e7"),
        [c.reserver == q, c.is_("Reserving")],
        c.fires("e4"),
        line=123,
    ),
    Rule("e7 frees its Reserved cells", q.fires("e7"), [c.reserver == q, c.is_("Reserved")], c.fires("e7"), line=125),
    *CRASH_RULES,
]
