/* HiveD's document as written, in Promela by hand: what generated text is measured against.
 *
 *   spin -a -DGROUPS=5 -DCELLS=5 hived.pml && gcc -O3 -DSAFETY -DNOREDUCE -o pan pan.c && ./pan -m100000 -w26
 *
 * Groups 0 .. GROUPS-1 (at most 6) and cells 0 .. CELLS-1 (at most 8); a group outranks those before it. What makes it small and
 * quick: a cell is one byte, its user and its reserver, of which its state follows; nothing is in a state but groups, cells and the
 * choice that is being made, which is nothing again when it is; each group has its own options, so that it is a constant in them; and
 * what a group may be given are the subsets of one mask, one after the other, so that no choice is tried that cannot be made.
 */
#ifndef GROUPS
#define GROUPS 3
#endif
#ifndef CELLS
#define CELLS 3
#endif

/* Of pod groups (lines 19 to 27). */
#define PENDING 0
#define PREEMPTING 1
#define ALLOCATED 2
#define BEING_PREEMPTED 3
#define DELETED 4

byte group[GROUPS];

/* Of cells (lines 143 to 149): Free has neither, Used a user, Reserved a reserver, Reserving both. Group g is g + 1 here, nobody 0. */
byte cell[CELLS];

#define USER(c) (cell[c] & 15)
#define RESERVER(c) (cell[c] >> 4)
#define USED(g) ((g) + 1)
#define RESERVED(g) (((g) + 1) << 4)
#define RESERVING(c) (USER(c) && RESERVER(c))

/* Whose priority has to be lower: the reserver's, and where there is none the user's (lines 51 and 63). */
#define HOLDER(c) (RESERVER(c) -> RESERVER(c) : USER(c))
#define BIT(P, c) ((HOLDER(c) <= P) << c)

/* For all cells: something of each, joined. */
#if CELLS == 1
#define EACH(OF, P, JOIN) OF(P, 0)
#elif CELLS == 2
#define EACH(OF, P, JOIN) (OF(P, 0) JOIN OF(P, 1))
#elif CELLS == 3
#define EACH(OF, P, JOIN) (OF(P, 0) JOIN OF(P, 1) JOIN OF(P, 2))
#elif CELLS == 4
#define EACH(OF, P, JOIN) (OF(P, 0) JOIN OF(P, 1) JOIN OF(P, 2) JOIN OF(P, 3))
#elif CELLS == 5
#define EACH(OF, P, JOIN) (OF(P, 0) JOIN OF(P, 1) JOIN OF(P, 2) JOIN OF(P, 3) JOIN OF(P, 4))
#elif CELLS == 6
#define EACH(OF, P, JOIN) (OF(P, 0) JOIN OF(P, 1) JOIN OF(P, 2) JOIN OF(P, 3) JOIN OF(P, 4) JOIN OF(P, 5))
#elif CELLS == 7
#define EACH(OF, P, JOIN) (OF(P, 0) JOIN OF(P, 1) JOIN OF(P, 2) JOIN OF(P, 3) JOIN OF(P, 4) JOIN OF(P, 5) JOIN OF(P, 6))
#else
#define EACH(OF, P, JOIN) (OF(P, 0) JOIN OF(P, 1) JOIN OF(P, 2) JOIN OF(P, 3) JOIN OF(P, 4) JOIN OF(P, 5) JOIN OF(P, 6) JOIN OF(P, 7))
#endif

#define MAY_TAKE(P) EACH(BIT, P, |)
#define NOT_RESERVING_FOR(P, c) !(USER(c) && RESERVER(c) == P + 1)
#define NOT_RESERVING_FROM(P, c) !(RESERVER(c) && USER(c) == P + 1)

/* What the document says of states, and is so (asked for by -DPROPERTIES), by the names of HiveD's properties. Of each cell: used-cell,
 * reserved-cell, reserving-cell, preemptor-outranks-victim; free-cell is so by what a cell is here. */
#define GROUP_OF(g) group[(g) - 1]
#define CELL_IS_RIGHT(P, c) \
    (cell[c] == 0 \
    || (RESERVER(c) == 0 && (GROUP_OF(USER(c)) == ALLOCATED || GROUP_OF(USER(c)) == BEING_PREEMPTED)) \
    || (RESERVER(c) != 0 && USER(c) == 0 && GROUP_OF(RESERVER(c)) == PREEMPTING) \
    || (RESERVER(c) > USER(c) && USER(c) != 0 && GROUP_OF(RESERVER(c)) == PREEMPTING && GROUP_OF(USER(c)) == BEING_PREEMPTED))

/* Of each group: pending-holds-nothing, deleted-holds-nothing, preempting-has-cells, preempting-uses-nothing,
 * allocated-is-not-preempted. */
#define HAS_NOT(P, c) (USER(c) != P + 1 && RESERVER(c) != P + 1)
#define HAS_RESERVED(P, c) (RESERVER(c) == P + 1)
#define USES_NOT(P, c) (USER(c) != P + 1)
#define IS_NOT_PREEMPTED(P, c) (USER(c) != P + 1 || RESERVER(c) == 0)
#define GROUP_IS_RIGHT(P) \
    (group[P] == BEING_PREEMPTED \
    || (group[P] == ALLOCATED && EACH(IS_NOT_PREEMPTED, P, &&)) \
    || (group[P] == PREEMPTING && EACH(HAS_RESERVED, P, ||) && EACH(USES_NOT, P, &&)) \
    || ((group[P] == PENDING || group[P] == DELETED) && EACH(HAS_NOT, P, &&)))

/* Of the step that is taken. */
hidden byte c;
hidden byte at_once;
hidden byte losers;

/* Group P takes the chosen cells: at once if all are Free or Reserved (e0, line 49), else by preempting (e1, line 61). A group that loses a
 * reservation loses all of them (e5, line 100); whose Used cell is taken is BeingPreempted (e6, line 111). */
inline take(P) {
    at_once = 1;
    losers = 0;
    for (c : 0 .. CELLS - 1) {
        if
        :: (chosen >> c) & 1 ->
            at_once = at_once && !USER(c);
            losers = losers | (1 << RESERVER(c))
        :: else
        fi
    }
    losers = losers >> 1; /* nobody loses nothing */
    for (c : 0 .. CELLS - 1) {
        if
        :: (chosen >> c) & 1 ->
            if
            :: at_once -> cell[c] = USED(P)
            :: else ->
                if
                :: USER(c) && !RESERVER(c) -> group[USER(c) - 1] = BEING_PREEMPTED
                :: else
                fi;
                cell[c] = RESERVED(P) | USER(c)
            fi
        :: else ->
            if
            :: RESERVER(c) && ((losers >> (RESERVER(c) - 1)) & 1) -> cell[c] = USER(c)
            :: else
            fi
        fi
    }
    c = 0;
    do
    :: losers == 0 -> break
    :: else ->
        if
        :: losers & 1 -> group[c] = PENDING
        :: else
        fi;
        losers = losers >> 1;
        c++
    od;
    group[P] = (at_once -> ALLOCATED : PREEMPTING);
    chosen = 0
}

/* All cells that P uses become Free (lines 91 and 98). */
inline free_used(P) {
    for (c : 0 .. CELLS - 1) {
        if
        :: cell[c] == USED(P) -> cell[c] = 0
        :: else
        fi
    }
    group[P] = DELETED
}

/* What is reserved for P goes back to its user, or is Free (lines 123 and 125). */
inline give_back(P) {
    for (c : 0 .. CELLS - 1) {
        if
        :: RESERVER(c) == P + 1 -> cell[c] = USER(c)
        :: else
        fi
    }
    group[P] = DELETED
}

/* P uses what is reserved for it (e2, line 77). */
inline use(P) {
    for (c : 0 .. CELLS - 1) {
        if
        :: RESERVER(c) == P + 1 -> cell[c] = USED(P)
        :: else
        fi
    }
    group[P] = ALLOCATED
}

/* Nothing volatile is left (lines 43 and 169). */
inline crash() {
    for (c : 0 .. CELLS - 1) {
        cell[c] = USER(c)
    }
    for (c : 0 .. GROUPS - 1) {
        if
        :: group[c] == PREEMPTING -> group[c] = PENDING
        :: group[c] == BEING_PREEMPTED -> group[c] = ALLOCATED
        :: else
        fi
    }
    c = 0 /* a d_step does not end with a loop */
}

#define OPTIONS_OF_GROUP(P) \
    :: atomic { \
        group[P] == PENDING && MAY_TAKE(P) -> chosen = MAY_TAKE(P); \
        do \
        :: ((chosen - 1) & MAY_TAKE(P)) -> chosen = (chosen - 1) & MAY_TAKE(P) \
        :: break \
        od; \
        d_step { take(P) } \
    } \
    :: d_step { group[P] == PREEMPTING && EACH(NOT_RESERVING_FOR, P, &&) -> use(P) } \
    :: d_step { group[P] == ALLOCATED -> free_used(P) } \
    :: d_step { group[P] == BEING_PREEMPTED && EACH(NOT_RESERVING_FROM, P, &&) -> free_used(P) } \
    :: d_step { group[P] == PREEMPTING -> give_back(P) } \
    :: d_step { group[P] == PENDING -> group[P] = DELETED }

/* The pod on a Reserving cell is deleted (e9, line 245). */
#define OPTIONS_OF_CELL(C) \
    :: d_step { RESERVING(C) -> cell[C] = cell[C] & 240 }

active proctype hived() {
    byte chosen;

    do
#ifdef PROPERTIES
    /* Asked once in each state, and never possible: it adds neither a state nor a step. */
    :: d_step { !(EACH(CELL_IS_RIGHT, 0, &&)) -> assert(false) }
    :: d_step { !GROUP_IS_RIGHT(0) -> assert(false) }
#if GROUPS > 1
    :: d_step { !GROUP_IS_RIGHT(1) -> assert(false) }
#endif
#if GROUPS > 2
    :: d_step { !GROUP_IS_RIGHT(2) -> assert(false) }
#endif
#if GROUPS > 3
    :: d_step { !GROUP_IS_RIGHT(3) -> assert(false) }
#endif
#if GROUPS > 4
    :: d_step { !GROUP_IS_RIGHT(4) -> assert(false) }
#endif
#if GROUPS > 5
    :: d_step { !GROUP_IS_RIGHT(5) -> assert(false) }
#endif
#endif
    OPTIONS_OF_GROUP(0)
#if GROUPS > 1
    OPTIONS_OF_GROUP(1)
#endif
#if GROUPS > 2
    OPTIONS_OF_GROUP(2)
#endif
#if GROUPS > 3
    OPTIONS_OF_GROUP(3)
#endif
#if GROUPS > 4
    OPTIONS_OF_GROUP(4)
#endif
#if GROUPS > 5
    OPTIONS_OF_GROUP(5)
#endif
    OPTIONS_OF_CELL(0)
#if CELLS > 1
    OPTIONS_OF_CELL(1)
#endif
#if CELLS > 2
    OPTIONS_OF_CELL(2)
#endif
#if CELLS > 3
    OPTIONS_OF_CELL(3)
#endif
#if CELLS > 4
    OPTIONS_OF_CELL(4)
#endif
#if CELLS > 5
    OPTIONS_OF_CELL(5)
#endif
#if CELLS > 6
    OPTIONS_OF_CELL(6)
#endif
#if CELLS > 7
    OPTIONS_OF_CELL(7)
#endif
    :: d_step { true -> crash() }
    od
}
