"""Who acts at the same time: the loops, people, and crashes (lines 63 to 73, 203)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from schedproof.model.lang import Action, LeadsTo, Property, Reading, Row, exists
from schedproof.model.systems.beaker import concurrent
from schedproof.model.systems.beaker import events as ev
from schedproof.model.systems.beaker.events import QUIET
from schedproof.model.systems.beaker.machines import r, s
from schedproof.model.systems.beaker.recipes import SETS
from schedproof.model.systems.beaker.variants import AS_WRITTEN

from .changes import also
from .orders import SYSTEM_IN_TURN, pending_in_turn


def at_any_time(actions: Sequence[Action]) -> list[Action]:
    """The actions without the condition that no set is in hand."""
    return [replace(action, when=[part for part in action.when if part is not QUIET]) for action in actions]


BEGINS = next(p for p in SETS if isinstance(p, LeadsTo) and p.name == "begins-when-all-are-scheduled")
STILL_IDLE = r.is_("new", "assigned") & exists(s, (r.candidate == s) & s.is_("idle"))
STILL_WAITS = exists(r, (s.chosen == r) & (s.for_queued & r.is_("queued") | ~s.for_queued & r.is_("assigned")))
REASONS_TO_GIVE_UP = {"lose_idle": ~STILL_IDLE, "lose_pending": ~(s.is_("pending") & (s.unwanted | STILL_WAITS))}
"""When a loop gives up what it has found."""

SEARCHES_FIRST: Sequence[Row | Action | Property] = [
    *concurrent.ROWS,
    *[
        also(action, REASONS_TO_GIVE_UP[action.name]) if action.name in REASONS_TO_GIVE_UP else action
        for action in (*concurrent.new_job_loop(AS_WRITTEN), *concurrent.pending_loop(AS_WRITTEN))
    ],
    also(ev.CRASH, concurrent.NEW_JOB_LOOP_IS_FREE, concurrent.PENDING_LOOP_IS_FREE),
    replace(BEGINS, weak=[*BEGINS.weak, "search_idle", "lose_idle"]),
]

CONCURRENCY = (
    Reading(
        "loops-take-turns",
        65,
        "While the new job loop handles a recipe set, the other loops of the scheduler do nothing.",
        "The other loops also act between the steps of a new job event.",
        adds=at_any_time([ev.give_to_assigned, ev.give_to_queued, ev.make_idle, ev.begin, ev.abort_dead]),
        breaks=[
            "events-are-handled-alone",
            "no-lost-wakeup",
            "no-system-idles-beside-a-waiting-recipe",
            "the-search-was-complete",
        ],
        question="May the loops of the scheduler act at the same time?",
        why="The text has two additional loops and no lock. The event rules read as if each event were handled alone.",
    ),
    Reading(
        "users-wait-for-the-new-job-loop",
        72,
        "While the new job loop handles a recipe set, no user and no lab changes a recipe, a system or a priority.",
        "The web interface and the labs change them at any time.",
        adds=at_any_time([*ev.PEOPLE, *ev.EXECUTION]),
        breaks=["events-are-handled-alone"],
        question="May the web interface and the labs change what a scheduling event works on?",
        why="The text describes what an event finds and does as one thing. It mentions the web service only for messages.",
    ),
    Reading(
        "crashes-between-events",
        69,
        "The scheduler stops only between two scheduling events.",
        "It also stops in the middle of a new job event, and the steps already made stay.",
        adds=[ev.CRASH_ANY_TIME],
        breaks=[
            "begins-when-all-are-scheduled",
            "events-are-handled-alone",
            "no-system-idles-beside-a-waiting-recipe",
            "nothing-special-at-start-up",
        ],
        question="What is left over when the scheduler stops in the middle of an event?",
        why="The text speaks of unprocessed events only, and not of events that are partly processed.",
    ),
    Reading(
        "a-search-and-its-move-are-one-step",
        203,
        "A search for a recipe or a system, and the moves that follow from it, are one step.",
        "The search comes first, and another loop may take what it has found.",
        adds=SEARCHES_FIRST,
        machines=[concurrent.RECIPE_IN_A_SEARCH, concurrent.SYSTEM_IN_A_SEARCH],
        breaks=[
            "assigned-before-queued",
            "events-are-handled-alone",
            "no-lost-wakeup",
            "no-system-idles-beside-a-waiting-recipe",
            "queued-by-priority",
            "the-search-was-complete",
        ],
        question="Can something change between the search and the move to scheduled?",
        why=(
            "The text has no state between the two. A database can check the system again when it writes. The variants "
            "concurrent and repaired-concurrent have the other answer, and people and crashes at any time."
        ),
    ),
    Reading(
        "pending-systems-in-any-order",
        66,
        "The loop handles pending systems in any order.",
        "It handles them in the order in which they became pending.",
        adds=pending_in_turn(),
        machines=[SYSTEM_IN_TURN],
        question="Which of several pending systems comes first?",
        why="The text gives no order, and the loop polls.",
    ),
)
