"""The words of the requirements: queue jumping, and idle systems."""

from __future__ import annotations

from dataclasses import replace

from schedproof.model.lang import Invariant, Reading, StepInvariant
from schedproof.model.systems.beaker.events import AUTOMATED
from schedproof.model.systems.beaker.machines import r, s
from schedproof.model.systems.beaker.races import RACES
from schedproof.model.systems.beaker.usage import SETTINGS

jumping = next(prop for prop in RACES if isinstance(prop, StepInvariant) and prop.name == "no-queue-jumping")

automated_if_idle = next(prop for prop in SETTINGS if isinstance(prop, Invariant) and prop.name == "idle-is-automated")

WORDS = (
    Reading(
        "any-recipe-can-jump-the-queue",
        21,
        "A recipe jumps the queue when it gets a system before a waiting one of a higher priority, also if it is assigned.",
        "Only new and queued recipes jump the queue. Assigned recipes come first by design (line 203).",
        adds=[replace(jumping, given=jumping.given & r.is_("new", "queued"))],
        rests=["no-queue-jumping"],
        question="Which recipes can jump the queue?",
        why="The abstract has no assigned recipes. A recipe of a higher priority is passed over in both cases.",
    ),
    Reading(
        "idle-is-the-usage",
        85,
        "An idle system is one in the usage state idle.",
        "It is one in the idle pool: in the usage state idle, and Automated.",
        adds=[replace(automated_if_idle, given=s.is_("idle") & AUTOMATED)],
        rests=["idle-is-automated"],
        question="Is an idle system the same as a system whose usage is idle?",
        why="The text has one word for both.",
    ),
)
