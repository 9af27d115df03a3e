"""Pairs of properties that cannot hold together, each with a counterexample.

``repaired`` keeps the second property of each pair and weakens the first. Each variant here is ``repaired`` with the
first property as the document has it, in one configuration; there the second is violated. A variant here has no other
properties. As in all variants, a set keeps its systems until it begins, and takes one system at a time.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from schedproof.model.lang import Change, LeadsTo, Model, Property, Term, Var, exists

from . import events as ev
from . import repairs as fix
from .configurations import Configuration, configurations
from .events import AUTOMATED, suits
from .machines import q, r, s
from .order import comes_first
from .seatings import leaves_the_seats
from .variants import AS_WRITTEN, REPAIRED


def showing(variant: Model, configuration: Configuration, kept: Sequence[Property], falls: Sequence[Property]) -> Model:
    """Returns ``variant`` in one configuration, with the properties ``kept`` and the violated ones, ``falls``.

    A second configuration and one more invariant are added, because the steps are well-formed only with that invariant.
    """
    rests_on = "guest-in-the-phase-of-its-host"  # without it the steps cannot be proved well-formed
    a_guest = Configuration("a host with its guest", [["A", 0]], [0])
    return replace(
        variant,
        properties=[variant.property(rests_on), *kept, *falls],
        refuted=frozenset(prop.name for prop in falls),
        configurations=partial(configurations, with_seatings=True, among=[configuration, a_guest]),
    )


def as_written(*names: str) -> list[Property]:
    """Properties as the document has them."""
    return [AS_WRITTEN.property(name) for name in names]


# --- Assigned recipes by priority (line 212), or no deadlock (line 29)


def goes_before(one: Var, other: Var) -> Term:
    """The priority of ``one`` is higher, or it is equal and the set of ``one`` was assigned before."""
    before = other.recipe_set.behind.has(one.recipe_set)
    own_priority, other_priority = one.recipe_set.priority, other.recipe_set.priority
    return (own_priority > other_priority) | ((own_priority == other_priority) & before)


SORTED_BY_PRIORITY = Change(
    name="assigned-by-priority-or-no-deadlock",
    wrong=(
        "Assigned recipes sorted solely by priority (line 213) and no deadlock (line 29) exclude each other: a set of a "
        "higher priority overtakes an earlier one that already holds what it needs."
    ),
    why=(
        "A pending system goes to the assigned recipe whose job has the highest priority (line 212), and among "
        "equals to the one assigned first. Then each of two sets can get the system that the other waits for."
    ),
    repairs=[],
    adds=[
        replace(
            ev.give_to_assigned,
            when=[
                s.is_("pending"),
                r.is_("assigned"),
                suits(s, r),
                ~exists(q, q.is_("assigned") & suits(s, q) & goes_before(q, r)),
            ],
        ),
    ],
)

BY_PRIORITY = showing(
    REPAIRED.amend(
        "by-priority",
        "repaired, but an assigned recipe of a higher priority goes first (line 212)",
        [SORTED_BY_PRIORITY],
        refuted=frozenset(),
    ),
    Configuration(
        "a set of two and a set of three; priorities change", [["A", "B"], ["A", "B", "C"]], [0] * 3, [], [0, 1]
    ),
    kept=as_written("assigned-by-priority"),
    falls=as_written("no-abba", "no-deadlock"),
)

# --- Queued recipes by priority (line 212), or every set that can be seated begins

STRICTLY = Change(
    name="queued-by-priority-or-every-set-begins",
    wrong=(
        "Queued recipes sorted solely by priority (line 213), and a set that can be served begins, exclude each other: a "
        "set of a high priority that can never be served holds up all others."
    ),
    why=(
        "A queued recipe gets a pending system only if the system is viable for no queued recipe of a higher "
        "priority (line 212), even if that recipe cannot take it. Then a set whose recipes can never each get a "
        "system blocks all others."
    ),
    repairs=[],
    adds=[
        replace(
            ev.give_to_queued,
            when=[
                s.is_("pending"),
                r.is_("queued"),
                fix.can_take(s, r),
                ~exists(q, q.is_("queued") & suits(s, q) & (q.recipe_set.priority > r.recipe_set.priority)),
            ],
        ),
    ],
)

STRICT = showing(
    REPAIRED.amend(
        "strict",
        "repaired, but a queued recipe of a higher priority is never passed over (line 212)",
        [STRICTLY],
        refuted=frozenset(),
    ),
    Configuration("a set that one system can not serve, and a recipe that it can", [["A", "A"], ["A"]], [0], [], [0]),
    kept=as_written("queued-by-priority"),
    falls=[REPAIRED.property("sets-begin")],
)

# --- No system left idle beside a waiting recipe (line 54), or no deadlock (line 29)


def waits(system: Var, recipe: Var) -> Term:
    """``system`` suits ``recipe``, which comes first; systems for its siblings are not considered."""
    return suits(system, recipe) & comes_first(system, recipe)


A_BETTER_ONE = exists(q, q.is_("assigned", "queued") & waits(s, q) & leaves_the_seats(s, q))
TAKES_AT_ONCE = waits(s, r) & (leaves_the_seats(s, r) | ~A_BETTER_ONE)
CAN_BE_TAKEN_AT_ONCE = exists(r, r.is_("assigned", "queued") & waits(s, r))
LEFT_IDLE = s.is_("idle") & AUTOMATED & CAN_BE_TAKEN_AT_ONCE

TAKEN_AT_ONCE = Change(
    name="no-idle-system-or-no-deadlock",
    wrong=(
        "A pending system that is always given to a recipe which suits it (line 204) and no deadlock (line 29) exclude each "
        "other: a set takes a system in a lab that cannot serve its other recipes."
    ),
    why=(
        "A pending system is given to some waiting recipe for which it is viable (lines 203 to 207), if need be to "
        "one whose siblings can no longer get systems. Then a set holds systems for ever that it cannot use."
    ),
    repairs=[],
    adds=[
        replace(ev.give_to_assigned, when=[s.is_("pending"), r.is_("assigned"), TAKES_AT_ONCE]),
        replace(ev.give_to_queued, when=[s.is_("pending"), r.is_("queued"), TAKES_AT_ONCE]),
        replace(ev.make_idle, when=[s.is_("pending"), ~CAN_BE_TAKEN_AT_ONCE]),
        replace(fix.wake, when=[s.is_("idle"), AUTOMATED, CAN_BE_TAKEN_AT_ONCE]),
    ],
)

EAGER = showing(
    REPAIRED.amend(
        "eager",
        "repaired, but no system is left idle beside a waiting recipe that it suits (line 54)",
        [TAKEN_AT_ONCE],
        refuted=frozenset(),
    ),
    Configuration("a set of two that only one of two labs can serve", [["ABC", "A"]], [0, 0, 1]),
    kept=[
        LeadsTo(
            name="idle-systems-are-woken",
            says="a system does not stay idle beside a recipe that waits and that it suits",
            line=54,
            sentence='"Pending system" scheduling events will occur when a system is about to be marked as idle and Beaker first scans the recipe queue for a suitable recipe to schedule on that system.',
            over=[s],
            given=LEFT_IDLE,
            goal=~LEFT_IDLE,
            weak=["wake"],
        )
    ],
    falls=as_written("lab-can-serve-the-set", "no-deadlock"),
)
