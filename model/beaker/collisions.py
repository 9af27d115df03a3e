"""Pairs of promises that can not be kept together, each shown by a run.

``repaired`` keeps the second of each pair and weakens the first. The variants here are ``repaired`` with
the first as the document has it, in one situation each, and the second falls. They promise nothing else.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from ..lang import Change, LeadsTo, Model, Term, Var, exists
from . import events as ev
from . import repairs as fix
from .events import AUTOMATED, suits
from .machines import q, r, s
from .order import comes_first
from .races import by_priority
from .seatings import leaves_the_seats
from .situations import Situation, situations
from .variants import AS_WRITTEN, REPAIRED


def showing(variant: Model, situation: Situation, kept: Sequence[str], falls: Sequence[str]) -> Model:
    """``variant`` in one situation (and one for what it rests on) with just the promises that are ``kept``, and those that fall with them."""
    rests_on = "guest-in-the-phase-of-its-host"  # without it the steps could not be shown to be well-formed
    a_guest = Situation("a host with its guest", [["A", 0]], [0])
    return replace(
        variant,
        properties=[*map(variant.property, [rests_on, *kept]), *map(AS_WRITTEN.property, falls)],
        refuted=frozenset(falls),
        topologies=partial(situations, with_seatings=True, among=[situation, a_guest]),
    )


# --- By priority (line 212), or no deadlock (line 29)


def can_be_served(system: Var, recipe: Var) -> Term:
    """``system`` suits ``recipe`` and leaves its siblings their seats, whoever was assigned before."""
    return suits(system, recipe) & leaves_the_seats(system, recipe)


def goes_before(one: Var, other: Var) -> Term:
    """The priority of ``one`` is higher, or the same and its set was assigned before."""
    before = other.recipe_set.behind.has(one.recipe_set)
    mine, others = one.recipe_set.priority, other.recipe_set.priority
    return (mine > others) | ((mine == others) & before)


SORTED_BY_PRIORITY = Change(
    why=(
        "Assigned recipes get a pending system by the priority of their jobs (line 212), of equals the one that was "
        "assigned first. Then each of two sets can get what the other waits for."
    ),
    repairs=[],
    adds=[
        replace(
            ev.give_to_assigned,
            when=[
                s.is_("pending"),
                r.is_("assigned"),
                can_be_served(s, r),
                ~exists(q, q.is_("assigned") & can_be_served(s, q) & goes_before(q, r)),
            ],
        ),
        by_priority("assigned", can_be_served),
    ],
)

BY_PRIORITY = showing(
    REPAIRED.amend(
        "by-priority",
        "repaired, but an assigned recipe of a higher priority goes first (line 212)",
        [SORTED_BY_PRIORITY],
        refuted=frozenset(),
    ),
    Situation("a set of two and a set of three; priorities change", [["A", "B"], ["A", "B", "C"]], [0] * 3, [], [0, 1]),
    kept=["assigned-by-priority"],
    falls=["no-abba", "no-deadlock"],
)

# --- No system left idle beside a waiting recipe (lines 54 and 212), or no deadlock (line 29)


def can_take_at_once(system: Var, recipe: Var) -> Term:
    """``system`` suits ``recipe``, which comes first, whatever its siblings then find."""
    return suits(system, recipe) & comes_first(system, recipe)


CAN_BE_TAKEN_AT_ONCE = exists(r, r.is_("assigned", "queued") & can_take_at_once(s, r))
LEFT_IDLE = s.is_("idle") & AUTOMATED & CAN_BE_TAKEN_AT_ONCE

TAKEN_AT_ONCE = Change(
    why=(
        "A pending system is given to a waiting recipe that it suits (lines 203 to 207), the queued one of the highest "
        "priority (line 212), although its siblings then can not be served. Then a set holds for ever what it can not use."
    ),
    repairs=[],
    adds=[
        replace(ev.give_to_assigned, when=[s.is_("pending"), r.is_("assigned"), can_take_at_once(s, r)]),
        replace(
            ev.give_to_queued,
            when=[
                s.is_("pending"),
                r.is_("queued"),
                can_take_at_once(s, r),
                ~exists(q, q.is_("queued") & suits(s, q) & (q.recipe_set.priority > r.recipe_set.priority)),
            ],
        ),
        replace(ev.make_idle, when=[s.is_("pending"), ~CAN_BE_TAKEN_AT_ONCE]),
        replace(fix.wake, when=[s.is_("idle"), AUTOMATED, CAN_BE_TAKEN_AT_ONCE]),
        by_priority("queued", suits),
        LeadsTo(
            name="idle-systems-are-woken",
            says="a system does not stay idle beside a recipe that waits and that it suits",
            line=54,
            sentence='"Pending system" scheduling events will occur when a system is about to be marked as idle and Beaker first scans the recipe queue for a suitable recipe ...',
            over=[s],
            given=LEFT_IDLE,
            goal=~LEFT_IDLE,
            weak=["wake"],
        ),
    ],
)

EAGER = showing(
    REPAIRED.amend(
        "eager",
        "repaired, but a system is given to any waiting recipe that it suits (lines 54 and 212)",
        [TAKEN_AT_ONCE],
        refuted=frozenset(),
    ),
    Situation("a set of two that only one of two labs can serve", [["ABC", "A"]], [0, 0, 1]),
    kept=["idle-systems-are-woken", "queued-by-priority"],
    falls=["no-set-blocks-itself", "lab-can-serve-the-set", "no-deadlock"],
)
