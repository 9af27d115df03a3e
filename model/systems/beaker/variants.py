"""The proposal as written, the variant that interleaves events, and the changes that its properties need."""

from dataclasses import replace
from functools import partial

from schedproof.model.lang import Change, Invariant, Model

from . import order, seatings
from . import repairs as fix
from .configurations import SEATED_CONFIGURATIONS, configurations
from .events import ACTIONS, QUIET, RULES, take_up
from .life import LIVES
from .loop_steps import AS_ALLOWED, AT_ONCE
from .machines import AXIOMS, DOCUMENT, IN_USE, MACHINES, RECIPE_SET_TABLE, RECIPE_TABLE, SYSTEM_TABLE
from .phases import PHASES
from .possibilities import POSSIBILITIES
from .races import RACES
from .recipes import SETS
from .repaired_steps import GIVEN_BACK, IN_ORDER, LOOPS, SEATED
from .usage import SETTINGS
from .weakened_properties import IDLE, ORDER, SEATS

BROKEN = frozenset(
    {
        # Broken and Manual systems are idle.
        "idle-is-automated",
        # A condition changes while the system is in use. Lines 172 to 186 give the next state of the system only, not
        # of its recipe or its user.
        "idle-is-not-running",
        "pending-runs-nothing",
        "manual-is-its-users",
        "reserved-until-given-back",
        "running-with-its-recipe",
        "installing-with-its-recipe",
        "waiting-with-its-recipe",
        "scheduled-with-its-recipe",
        "recipe-and-system-in-step",
        "one-recipe-per-system",
        "pending-after-a-recipe",
        # Sets that can never begin.
        "no-deadlock",
        "no-abba",
        "no-set-blocks-itself",
        "lab-can-serve-the-set",
        "no-finished-recipe-blocks-its-set",
        # The assigned are searched first.
        "no-queue-jumping",
    }
)

AS_WRITTEN = Model(
    system="beaker",
    variant="as-written",
    about="the event-driven proposal, read literally; a scheduling event is handled alone",
    document=DOCUMENT,
    machines=MACHINES,
    rows=[*RECIPE_SET_TABLE, *RECIPE_TABLE, *SYSTEM_TABLE],
    actions=ACTIONS,
    rules=RULES,
    properties=[*SETTINGS, *SETS, *POSSIBILITIES, *PHASES, *RACES, *LIVES],
    axioms=AXIOMS,
    configurations=configurations,
    default_scope={"Lab": 2, "RecipeSet": 3, "Recipe": 5, "System": 3},
    refuted=BROKEN,
)

ANY_TIME = Change(
    why="Two loops run concurrently (line 65), and so does the web service. The text has no lock.",
    repairs=[],
    adds=[
        replace(action, when=[part for part in action.when if part is not QUIET])
        for action in ACTIONS
        if action is not take_up
    ],
    # What as-written rests on, and a lemma of its proofs.
    drops=["events-are-handled-alone", "the-search-was-complete"],
)

INTERLEAVED = AS_WRITTEN.amend(
    "interleaved",
    "the proposal, and the loops, people and crashes come in between the steps of an event",
    [ANY_TIME],
    refuted=BROKEN
    | {
        "no-system-idles-beside-a-waiting-recipe",
        "no-lost-wakeup",
        "nothing-special-at-start-up",
    },
)


def following(name: str, *others: str) -> Invariant:
    """Returns an invariant of the proposal as written that now follows from the invariants ``others``."""
    prop = AS_WRITTEN.property(name)
    assert isinstance(prop, Invariant)
    return replace(prop, follows_from=others)


FIRST_COME_FIRST_SERVED = Change(
    name="assigned-sets-wait-for-each-other",
    shown="no-abba",
    wrong=(
        "Assigned recipes of several sets compete for each system anew, by job priority. So of two assigned sets, each can "
        "get the system that the other waits for."
    ),
    why=(
        "Assigned recipes get a system in the order in which their sets were assigned, and this order never "
        "changes. By priority (line 213), two sets can each get the system that the other waits for. So an "
        "assigned set goes before queued ones of any priority (line 203)."
    ),
    repairs=["no-deadlock", "no-abba"],
    weakens={
        "assigned-by-priority": ["assigned-first-come-first-served"],
    },
    adds=[
        *order.ORDER_TABLE,
        order.DROP_EARLIER,
        fix.give_to_assigned,
        fix.give_to_queued,
        *ORDER,
        *IN_ORDER,
        following(
            "no-abba",
            "waits-only-for-earlier-sets",
            "assigned-sets-are-in-order",
            "assigned-has-a-lab-and-no-system",
        ),
    ],
)

SEATS_ARE_LEFT = Change(
    name="siblings-take-each-others-systems",
    wrong=(
        "A recipe takes any system that suits it: the only one that suits a sibling, or one of a lab that has none for a "
        "sibling. Its set then holds the system for ever."
    ),
    shown="no-set-blocks-itself",
    why=(
        "A recipe takes a system only if the same lab keeps a viable system for each of its siblings. In arbitrary "
        "order (line 132), a recipe can take its sibling's only system, or a lab without a system for its sibling. "
        "So a queued recipe of a high priority is passed over if its siblings could not get systems (line 213). A "
        "set whose recipes cannot each get a system waits, and holds none."
    ),
    repairs=["no-deadlock", "no-abba", "no-set-blocks-itself", "lab-can-serve-the-set"],
    weakens={
        "queued-by-priority": ["no-queue-jumping-by-the-queued"],
    },
    adds=[
        seatings.seat,
        *seatings.SEAT_TABLE,
        fix.find_idle,
        fix.search_ends,
        fix.make_idle,
        *SEATS,
        *SEATED,
        following(
            "no-set-blocks-itself",
            "assigned-have-a-seat",
            "seats-are-in-the-lab-of-the-set",
            "seats-are-left-free",
        ),
        following("lab-can-serve-the-set", "assigned-have-a-seat", "seats-are-in-the-lab-of-the-set"),
    ],
)

FINISHED_DO_NOT_COUNT = Change(
    name="a-cancelled-recipe-stops-its-set",
    shown="no-finished-recipe-blocks-its-set",
    wrong="A set begins only when all its recipes are scheduled, and a cancelled or aborted recipe never is.",
    why=(
        "A set begins when all its unfinished recipes are scheduled. In the document it needs all recipes, and a "
        "cancelled one is never scheduled (line 226)."
    ),
    repairs=["no-finished-recipe-blocks-its-set", "no-deadlock"],
    adds=[fix.begin],
)

LEAVE_TOGETHER = Change(
    name="conditions-change-under-a-recipe",
    wrong=(
        "A system becomes idle or pending when its condition changes. The text does not say what becomes of the recipe on "
        "it, or of its reservation: the recipe goes on, and the system is given to another."
    ),
    shown="idle-is-not-running",
    why=(
        "When the condition of a system changes from Automated, the recipe on it does not stay. A recipe that "
        "executes is aborted. A set that has not begun returns all its systems, and is queued. A system that a "
        "user has becomes Automated only when it is returned."
    ),
    repairs=[
        "idle-is-not-running",
        "pending-runs-nothing",
        "manual-is-its-users",
        "reserved-until-given-back",
        "running-with-its-recipe",
        "installing-with-its-recipe",
        "waiting-with-its-recipe",
        "scheduled-with-its-recipe",
        "recipe-and-system-in-step",
        "one-recipe-per-system",
        "pending-after-a-recipe",
    ],
    drops=[
        "nothing-queued-in-hand",  # a set in hand may have to give systems back
        # a system in use is Automated, or reserved by a user
        *[f"System.automate from {usage}" for usage in IN_USE],
    ],
    adds=[
        *[
            following(f"{state}-with-its-recipe", "in-use-by-a-recipe", "recipe-and-system-in-step")
            for state in ("running", "installing", "waiting", "scheduled")
        ],
        following("idle-is-not-running", "recipe-and-system-in-step"),
        following("pending-runs-nothing", "recipe-and-system-in-step"),
        fix.automate,
        *fix.REQUEUE_TABLE,
        *fix.RELEASES,
        *fix.LEAVING,
        *GIVEN_BACK,
    ],
)

WAKE_THE_IDLE = Change(
    name="an-idle-system-is-never-looked-at-again",
    wrong=(
        "While the new job loop processes a set, a pending system finds none of its recipes in the queue, and becomes idle. "
        "Then they are queued, and nothing looks at the idle system again."
    ),
    shown="no-lost-wakeup",
    why=(
        "The retained loop (line 58) marks an idle system as pending if a waiting recipe can take it. Without "
        "this, a wakeup is lost if an event comes between the search for a system and its end. With it, no "
        "event must be handled alone, and after a crash the loops find all work that is left."
    ),
    repairs=["no-deadlock"],
    weakens={
        "no-system-idles-beside-a-waiting-recipe": ["idle-systems-are-woken"],
        "no-lost-wakeup": ["idle-systems-are-woken"],
        "nothing-special-at-start-up": ["idle-systems-are-woken", "new-recipes-are-processed"],
    },
    adds=[fix.WAKE, fix.wake, *IDLE, *LOOPS, *AT_ONCE, *AS_ALLOWED],
)

IDLE_IS_A_USAGE = Change(
    name="idle-means-two-things",
    wrong="Line 85 says that an idle system is configured for automated use; lines 172 and 176 make Broken and Manual systems idle.",
    why=(
        "A Broken or Manual system is idle (lines 172 and 176), so an idle system is not always configured for "
        "automated use (line 85). This change weakens the property, and changes no behaviour: only an Automated "
        "system is given to a recipe."
    ),
    repairs=[],
    weakens={"idle-is-automated": ["handed-out-automated"]},
)

ASSIGNED_COME_FIRST = Change(
    name="assigned-recipes-jump-the-queue",
    wrong=(
        "Line 213 sorts solely by priority. Lines 203 to 206 give a system to an assigned recipe before a queued one of a "
        "higher priority. That is a new way to jump the queue."
    ),
    why=(
        "The rule against jumping the queue (line 21) applies to new and queued recipes only. An assigned set holds systems "
        "and has to be served first. A recipe that must not take the system is passed over. This change weakens the "
        "property, and changes no behaviour."
    ),
    repairs=[],
    weakens={"no-queue-jumping": ["no-queue-jumping-by-the-queued"]},
)

REPAIRED = AS_WRITTEN.amend(
    "repaired",
    "the proposal with the changes that its properties need, handled in any order at any time",
    [
        ANY_TIME,
        FIRST_COME_FIRST_SERVED,
        SEATS_ARE_LEFT,
        FINISHED_DO_NOT_COUNT,
        LEAVE_TOGETHER,
        WAKE_THE_IDLE,
        ASSIGNED_COME_FIRST,
        IDLE_IS_A_USAGE,
    ],
    refuted=frozenset(),
    machines=[seatings.RECIPE_SET_WITH_SEATING, seatings.SEATING, seatings.SEAT],
    axioms=seatings.SEAT_AXIOMS,
    configurations=partial(configurations, with_seatings=True, among=SEATED_CONFIGURATIONS),
    default_scope={"Seating": 5, "Seat": 11},
)
