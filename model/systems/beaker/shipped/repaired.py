"""The changes with which the Beaker that shipped keeps its rules where transactions overlap."""

from dataclasses import replace

from schedproof.model.lang import NONE, Change, Row, Rule, exists

from . import concurrent as con
from .concurrent import BEAKERD_IS_FREE, SHIPPED_CONCURRENT
from .machines import QUEUED_GROUP, UNFINISHED, System, g, j, q, r, s

CHECK_THE_CONDITION = Change(
    name="the-condition-is-checked-too-early",
    wrong=(
        "The condition of a system is checked when it is found for a recipe, if at all, and not when it is reserved: "
        "a system that has become Manual or Broken by then is still given to the recipe."
    ),
    shown="only-automated-systems",
    why=(
        "The update that reserves a system for a recipe demands that the system is Automated, as it demands that the "
        "system has no user."
    ),
    repairs=["only-automated-systems", "pending-goes-to-automated"],
    adds=[replace(con.reserve_chosen, when=[*con.reserve_chosen.when, s.condition == "Automated"])],
)

LOCK_WHILE_SEARCHING = Change(
    name="idle-is-written-over-what-came-later",
    wrong=(
        "Beakerd writes that a system is idle when it has found no recipe for it, whatever came in between: a "
        "reservation is overwritten, and a change after which a recipe may suit the system is not looked at."
    ),
    shown="released-to-pending",
    why=(
        "Beakerd locks the row of a pending system from its search to its write, as it locks the row of a job whose "
        "status it derives."
    ),
    repairs=["released-to-pending", "searched-after-a-change"],
    drops=["search_in_vain", "System.search from pending", "System.rest from idle", "System.rest from reserved"],
    adds=[
        replace(
            con.rest,
            when=[s.is_("pending"), BEAKERD_IS_FREE],
            says="beakerd finds no recipe that is runnable on {s}, and marks it idle",
        ),
        Row(System, "rest", "pending", "idle", unwanted=False, unsearched=False),
    ],
)

AS_READ_IDLE, AS_READ_IN_USE = s.is_("idle"), ~s.is_("idle")

LOCK_WHILE_CHANGING = Change(
    name="a-change-follows-an-old-status",
    wrong=(
        "The web server marks a system as pending if it was idle when it was read: one that a recipe has reserved "
        "since then is marked, and one that has become idle since then is not."
    ),
    shown="held-is-reserved",
    why="A change of a system marks it as pending on the condition that it is idle at that moment.",
    repairs=["held-is-reserved", "searched-after-a-change"],
    drops=[
        "read",
        *[f"System.read from {now}" for now in ("idle", "pending", "reserved")],
        *[f"System.{event} from {now}" for event in ("flag", "automate") for now in ("pending", "reserved")],
        *[f"System.{event} from idle" for event in ("alter", "automate_in_use")],
    ],
    adds=[
        replace(con.flag, when=[AS_READ_IDLE]),
        replace(con.alter, when=[AS_READ_IN_USE]),
        replace(con.automate, when=[s.condition != "Automated", AS_READ_IDLE]),
        replace(con.automate_in_use, when=[s.condition != "Automated", AS_READ_IN_USE]),
    ],
)

# Without a guest, which ends with its host, and with a system for each recipe
TWO_HOSTS_TWO_SYSTEMS = ~exists(g, (g.recipe_set == j) & (g.host != NONE)) & exists(
    [r, q], (r.recipe_set == j) & (q.recipe_set == j) & exists(s, r.candidates.has(s) & ~q.candidates.has(s))
)

ABORT_THE_SET = Change(
    name="an-aborted-recipe-stops-its-set",
    wrong=(
        "One recipe of a set can be aborted before the set is provisioned. Its siblings then keep their systems, and "
        "are never provisioned."
    ),
    shown="no-finished-recipe-blocks-its-set",
    asks=TWO_HOSTS_TWO_SYSTEMS,
    why=(
        "Until the set is provisioned, a recipe is aborted together with its set, as in all other cases in which "
        "beakerd aborts before that. So no guest is left whose host is finished before it begins."
    ),
    repairs=["no-finished-recipe-blocks-its-set"],
    drops=["abort_guest"],
    adds=[
        Rule(
            "abort aborts the siblings",
            con.abort,
            [
                r.is_(*QUEUED_GROUP),
                q.recipe_set == r.recipe_set,
                q != r,
                q.is_(*UNFINISHED),
                q.tasks == "unfinished",
            ],
            q.fires("end_tasks", to="aborted"),
        )
    ],
)

SHIPPED_REPAIRED = SHIPPED_CONCURRENT.amend(
    "shipped-repaired",
    "shipped, where transactions overlap, with the changes that its rules need",
    [CHECK_THE_CONDITION, LOCK_WHILE_SEARCHING, LOCK_WHILE_CHANGING, ABORT_THE_SET],
    refuted=frozenset(),
)
