"""The sections "Events": what may happen, and which event triggers which.

Pod group and cell influence each other as the operations of the document say; each rule names the
line of the operation that it is.
"""

from schedproof.model.lang import Action, Rule, crash, exists, forall, implies, set_variable

from .machines import CELL, CELL_TABLE, POD_GROUP, POD_GROUP_TABLE, Cell, c, p, q

K = set_variable(Cell, "K")

FREE_OR_RESERVED = c.is_("Free", "Reserved")
USED_OR_RESERVING = c.is_("Used", "Reserving")

# "we assume the cell allocation algorithm has ensured that ... this PG's priority is higher than
# that of the PG currently associated with the cell". Line 63 says so of Used and Reserving cells for
# e1, line 51 of Reserved cells for e0; e1 overwrites Reserved cells too (line 71), so what line 51
# assumes is read into e1. With a Reserving cell two groups are associated; it is the reserver that
# must be outranked: its user then is too, since the reserver outranks it (``preemptor-outranks-victim``).
OUTRANKS_USER = forall(c, implies(K.has(c) & c.is_("Used"), p.outranks.has(c.user)))
OUTRANKS_RESERVER = forall(c, implies(K.has(c) & c.is_("Reserved", "Reserving"), p.outranks.has(c.reserver)))

allocate = Action(
    "allocate",
    [p, K],
    when=[
        p.is_("Pending"),
        exists(c, K.has(c)),  # "fully allocated cells" (line 23): there are some
        forall(c, implies(K.has(c), FREE_OR_RESERVED)),
        OUTRANKS_RESERVER,
    ],
    fires=[p.fires("e0", cells=K)],
    says="{p} is allocated {K}",
    line=51,
)

preempt = Action(
    "preempt",
    [p, K],
    when=[
        p.is_("Pending"),
        exists(c, K.has(c) & USED_OR_RESERVING),  # so K is not empty here either
        OUTRANKS_USER,
        OUTRANKS_RESERVER,
    ],
    fires=[p.fires("e1")],
    says="{p} begins to preempt whoever is on {K}",
    line=63,
)

complete = Action(
    "complete",
    [p],
    when=[
        p.is_("Preempting"),
        # "all the cells that the ... algorithm decided to allocate to this PG" are those reserved for it:
        # e1 reserves all that were decided, and who loses one of them loses them all (e5)
        forall(c, implies(c.reserver == p, c.is_("Reserved"))),
    ],
    fires=[p.fires("e2")],
    says="{p} takes the cells reserved for it: all its preemptions are complete",
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
        # "all pods of this PG are deleted": those on its Reserving cells went by these cells' own e9 before
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

# "The pod on this cell is deleted" (line 247) speaks of one cell, so it may happen to any Reserving
# cell at any time. With the victim's last cell it is a step of its own, and e4 another one: in between
# the victim has no pod left and uses nothing, but is BeingPreempted, since e4's condition ("all pods
# of this PG are deleted", line 95) is about its pods and not triggered by a cell.
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

# A reservation is overwritten: by another preemptor (line 102), or by a group that is allocated the cell (237).
OVERWRITTEN = c.fires("e3") | c.fires("e6") | c.fires("e8")
# "All the other" cells of lines 106 and 108: those that are not being overwritten. A Reserving cell is
# overwritten by e3 only, a Reserved one by e6 or e8.
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
    # (Used: as written, e4's condition leaves the group no other cells; repaired, e9 takes its Reserving ones.)
    Rule("e4 frees its cells", p.fires("e4"), [c.user == p, c.is_("Used")], c.fires("e1"), line=98),
    # PodGroup e5, cancelled by whoever overwrites one of its cells
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
