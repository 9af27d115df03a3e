"""Priorities (line 213)."""

from __future__ import annotations

from dataclasses import replace

from schedproof.model.lang import Reading, forall, implies
from schedproof.model.systems.beaker import events as ev
from schedproof.model.systems.beaker.events import QUIET
from schedproof.model.systems.beaker.machines import j, r

from .orders import ONE_PRIORITY, RECIPE_SET_IN_TURN, RECIPE_SET_OF_A_JOB, both_orders, equals_in_turn, of_jobs

PRIORITIES = (
    Reading(
        "priorities-belong-to-sets",
        213,
        "Each recipe set has a priority.",
        "Each job has one, and its sets have the same.",
        adds=[ONE_PRIORITY],
        machines=[RECIPE_SET_OF_A_JOB],
        configurations=of_jobs,
        question="What does the overall job priority belong to?",
        why="The model has no jobs. Two sets of one job are two sets of equal priority, which change one after the other.",
    ),
    Reading(
        "priorities-may-change",
        213,
        "Users may change the priority of a set as long as it has recipes that are new, queued or assigned.",
        "The priority is fixed before the set is handled for the first time.",
        adds=[
            replace(
                ev.reprioritize,
                when=[j.rankable, j.priority != ev.n, forall(r, implies(r.recipe_set == j, r.is_("new"))), QUIET],
            )
        ],
        breaks=["priorities-can-be-changed"],
        question="Can a priority change?",
        why="The text does not exclude it, and Beaker allows it.",
    ),
    Reading(
        "equal-priorities-in-any-order",
        213,
        "Among recipes of equal priority, any may be taken.",
        "The one whose set was submitted first is taken.",
        adds=equals_in_turn(),
        machines=[RECIPE_SET_IN_TURN],
        configurations=both_orders,
        question="Which of several recipes of equal priority is taken?",
        why="The text sorts solely by priority.",
    ),
)
