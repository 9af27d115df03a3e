"""Guest recipes (line 230)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from schedproof.model.lang import NONE, Action, Reading, Rule, exists, forall, implies
from schedproof.model.systems.beaker import events as ev
from schedproof.model.systems.beaker.events import QUIET, SCHEDULING, SIBLINGS
from schedproof.model.systems.beaker.machines import UNFINISHED, g, j, q, r, s

NO_GUEST = r.host == NONE
UNFINISHED_HOST_IN_J = (r.recipe_set == j) & r.is_(*UNFINISHED) & NO_GUEST

# Every sentence on the recipes of a set, without its guests
WITHOUT_GUESTS: Sequence[Action | Rule] = [
    replace(ev.take_up, when=[j.is_("at_rest"), exists(r, (r.recipe_set == j) & r.is_("new") & NO_GUEST), QUIET]),
    replace(
        ev.begin,
        when=[
            exists(r, (r.recipe_set == j) & NO_GUEST),
            forall(r, implies((r.recipe_set == j) & NO_GUEST, r.is_("scheduled"))),
            QUIET,
        ],
    ),
    *[
        replace(action, when=[j.endable, exists(r, UNFINISHED_HOST_IN_J), QUIET])
        for action in (ev.cancel_set, ev.abort_set)
    ],
    *[
        Rule(
            f"{action.name} assigns the other recipes",
            action,
            [q.recipe_set == r.recipe_set, q != r, q.is_(state), q.host == NONE],
            q.fires("assign"),
            line=line,
        )
        for action, state, line in SIBLINGS
    ],
    Rule(
        "settle queues the recipes", ev.settle, [r.recipe_set == j, r.is_("new"), NO_GUEST], r.fires("queue"), line=144
    ),
    *[
        rule
        for action, event, name in (
            (ev.cancel_set, "cancel", "cancel_set cancels the recipes"),
            (ev.abort_set, "abort", "abort_set aborts the recipes"),
        )
        for rule in (
            Rule(name, action, [UNFINISHED_HOST_IN_J], r.fires(event), line=116),
            Rule(
                f"{action.name} aborts the guests",
                action,
                [UNFINISHED_HOST_IN_J, g.host == r, g.is_(*UNFINISHED)],
                g.fires("abort"),
                line=230,
            ),
        )
    ],
]

GUESTS = (
    Reading(
        "guests-are-in-the-set-of-their-host",
        230,
        "A guest is a recipe of the same set as its host, and its host is not a guest.",
        "A guest is not a recipe of the set, and does not count for its beginning. It only follows its host.",
        adds=WITHOUT_GUESTS,
        breaks=[
            "guest-in-the-phase-of-its-host",
            "no-lab-before-the-first-system",
            "queued-together",
            "queued-with-its-set",
            "sets-are-cancelled-as-asked",
            "sets-can-be-cancelled",
            "siblings-are-assigned",
            "siblings-of-the-scheduled-are-assigned",
        ],
        question="What is a guest recipe to a recipe set?",
        why="The text mentions guest recipes in one sentence. In Beaker they belong to the set.",
    ),
    Reading(
        "a-guest-has-no-system",
        230,
        "A guest has no system of its own, and no system is viable for it.",
        "The system of its host is also that of the guest.",
        adds=[
            Rule(
                f"{action.name} schedules the guests",
                action,
                [g.host == r, g.is_("new", "queued", "assigned")],
                g.fires("schedule", system=s),
                line=230,
            )
            for action in SCHEDULING
        ],
        breaks=["a-system-while-in-use", "handed-out-automated", "system-of-its-lab"],
        question="Which system is associated with a guest?",
        why="A guest runs on its host. With its system, a system would follow two recipes.",
    ),
    Reading(
        "guests-are-scheduled-with-their-host",
        230,
        "A guest is scheduled in the step in which its host is.",
        "A guest is assigned like every other recipe. No system suits it, so it is never scheduled.",
        adds=[
            Rule(
                f"{action.name} assigns the other recipes",
                action,
                [q.recipe_set == r.recipe_set, q != r, q.is_(state)],
                q.fires("assign"),
                line=line,
            )
            for action, state, line in SIBLINGS
        ],
        drops=[f"{action.name} schedules the guests" for action in SCHEDULING],
        breaks=["guest-in-the-phase-of-its-host", "guest-with-its-host", "guests-can-run"],
        question="How does a guest become scheduled?",
        why="Otherwise no set with a guest begins.",
    ),
    Reading(
        "guests-install-on-a-running-host",
        230,
        "A guest installs only while its host runs.",
        "It installs at any time after the set has begun.",
        adds=[replace(ev.install, when=[r.is_("waiting"), QUIET])],
        breaks=["guest-in-the-phase-of-its-host", "guest-with-its-host"],
        question="When is a guest installed?",
        why="The tasks of the host set the guest up.",
    ),
    Reading(
        "guests-end-with-their-host",
        230,
        "When a host ends, its unfinished guests are aborted.",
        "They stay as they are.",
        drops=[f"{action.name} aborts the guests" for action in (ev.complete, ev.cancel, ev.abort, ev.abort_dead)],
        breaks=["guest-ends-with-its-host", "guest-in-the-phase-of-its-host", "guests-are-aborted-with-their-host"],
        question="What becomes of the guests when their host ends?",
        why="A guest cannot run without its host.",
    ),
)
