"""Properties of users: what the document lets them do, they can do at any time, and no other action has to help (lines 116, 172 to 196, 213)."""

from schedproof.model.lang import AlwaysCanReach, StepInvariant, after, exists

from .events import ACTIONS, n
from .machines import UNFINISHED, j, r, s
from .recipes import JUMP
from .usage import MANUAL_SYSTEMS

HANDLING = ("find_idle", "search_ends", "settle")
"""What remains of a scheduling event that is being handled: as written, users wait for its end."""
RESERVING = ("reserve", "install_reserved", "run_reserved")


def others(*actions: str) -> list[str]:
    """Returns the names of all actions but ``actions``, and those that end the scheduling event that is being handled."""
    return [action.name for action in ACTIONS if action.name not in (*actions, *HANDLING)]


POSSIBILITIES = [
    StepInvariant(
        name="priorities-change-as-asked",
        says="a set gets the priority that a user asks for, whether a loop handles it or not",
        line=213,
        over=[],
        on=["reprioritize"],
        then=after(j.priority == n),
    ),
    *[
        AlwaysCanReach(
            name=name,
            says=f"a user can have {what} {end} in any unfinished state, where users may",
            line=116,
            sentence=JUMP,
            over=[r],
            given=r.recipe_set.endable & r.is_(*UNFINISHED),
            goal=r.is_(end),
            without=others(action),
        )
        for name, action, what, end in (
            ("recipes-can-be-cancelled", "cancel", "a recipe", "cancelled"),
            ("recipes-can-be-aborted", "abort", "a recipe", "aborted"),
            ("sets-can-be-cancelled", "cancel_set", "a recipe with its set", "cancelled"),
            ("sets-can-be-aborted", "abort_set", "a recipe with its set", "aborted"),
        )
    ],
    AlwaysCanReach(
        name="priorities-can-be-changed",
        says="a user can give a set that no loop handles either priority as long as one of its recipes waits, where users may",
        line=213,
        over=[j, n],
        given=j.rankable & j.is_("at_rest") & exists(r, (r.recipe_set == j) & r.is_("new", "queued", "assigned")),
        goal=j.priority == n,
        without=others("reprioritize"),
    ),
    *[
        AlwaysCanReach(
            name=f"systems-can-be-made-{condition.lower()}",
            says=f"a user can make a system {condition}, after it was given back if a user has it, where users may",
            line=line,
            over=[s],
            given=s.adjustable,
            goal=s.condition == condition,
            without=others(action, "install_reserved", "run_reserved", "give_back"),
        )
        for action, condition, line in (
            ("automate", "Automated", 196),
            ("make_manual", "Manual", 174),
            ("break_down", "Broken", 172),
        )
    ],
    AlwaysCanReach(
        name="manual-systems-can-be-reserved",
        says="a user can reserve an idle Manual system and have it provisioned, where users may",
        line=174,
        sentence=MANUAL_SYSTEMS,
        over=[s],
        given=s.adjustable & (s.condition == "Manual") & s.is_("idle"),
        goal=(s.condition == "Manual") & s.is_("running"),
        without=others(*RESERVING),
    ),
    AlwaysCanReach(
        name="reserved-systems-can-be-returned",
        says="a user can return a Manual system once it runs",
        line=176,
        sentence=MANUAL_SYSTEMS,
        over=[s],
        given=(s.condition == "Manual") & s.is_("running"),
        goal=(s.condition == "Manual") & s.is_("idle"),
        without=others("give_back"),
    ),
]
