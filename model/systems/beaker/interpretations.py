"""Where the proposal is silent or allows two answers: the answer of ``as-written``, and what the other one changes.

Each element of an alternative replaces the rule, action, row or property of the same name. Alternatives that need another
sort, another attribute or an order of objects cannot be tried; they have no elements.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from schedproof.model.lang import (
    NONE,
    Action,
    Invariant,
    Reading,
    Row,
    Rule,
    StepInvariant,
    Term,
    Var,
    exists,
    forall,
    given,
    implies,
    variable,
)

from . import batch
from . import events as ev
from .events import AUTOMATED, MANUAL, QUIET, SCHEDULING, SIBLINGS, suits
from .machines import EXECUTING, IN_USE, UNFINISHED, USAGES, Recipe, RecipeSet, System, g, j, k, q, r, s, t
from .races import RACES
from .usage import SETTINGS

o = variable(Recipe, "o")
x = variable(System, "x")


def at_any_time(actions: Sequence[Action]) -> list[Action]:
    """The actions without the condition that no set is in hand."""
    return [replace(action, when=[part for part in action.when if part is not QUIET]) for action in actions]


def also(action: Action, *conditions: Term) -> Action:
    """The action with more conditions."""
    return replace(action, when=[*action.when, *conditions])


def handled(can_take: Callable[[Var, Var], Term]) -> list[Action]:
    """The five actions of scheduling events, where ``can_take(system, recipe)`` is "suitable"."""

    def outranked(state: str) -> Term:
        return exists(q, q.is_(state) & can_take(s, q) & (q.recipe_set.priority > r.recipe_set.priority))

    open_recipe = (r.recipe_set == j) & r.is_("new", "assigned")
    return [
        replace(
            ev.find_idle,
            when=[r.is_("new", "assigned"), r.recipe_set.is_("in_hand"), s.is_("idle"), AUTOMATED, can_take(s, r)],
        ),
        replace(
            ev.search_ends,
            when=[j.is_("in_hand"), ~exists([r, s], open_recipe & s.is_("idle") & AUTOMATED & can_take(s, r))],
        ),
        replace(
            ev.give_to_assigned,
            when=[s.is_("pending"), r.is_("assigned"), can_take(s, r), ~outranked("assigned"), QUIET],
        ),
        replace(
            ev.give_to_queued,
            when=[
                s.is_("pending"),
                r.is_("queued"),
                can_take(s, r),
                ~exists(q, q.is_("assigned") & can_take(s, q)),
                ~outranked("queued"),
                QUIET,
            ],
        ),
        replace(
            ev.make_idle,
            when=[s.is_("pending"), ~exists(q, q.is_("assigned", "queued") & can_take(s, q)), QUIET],
        ),
    ]


def viable_in_any_lab(system: Var, recipe: Var) -> Term:
    """``system`` is viable for ``recipe``, whatever its lab."""
    return recipe.viable.has(system)


def in_a_lab_for_all(system: Var, recipe: Var) -> Term:
    """``system`` suits ``recipe``, and each sibling has a viable system in the lab of ``system``."""
    sibling = (o.recipe_set == recipe.recipe_set) & (o.host == NONE) & o.is_(*UNFINISHED)
    return suits(system, recipe) & forall(o, implies(sibling, exists(x, o.viable.has(x) & (x.lab == system.lab))))


def leaves_one_for_each_sibling(system: Var, recipe: Var) -> Term:
    """``system`` suits ``recipe``; each sibling without a system has another one in the lab that its set does not hold."""
    sibling = (
        (o.recipe_set == recipe.recipe_set) & (o != recipe) & (o.host == NONE) & o.is_("new", "queued", "assigned")
    )
    held = exists(g, (g.recipe_set == recipe.recipe_set) & g.is_("scheduled") & (g.system == x))
    left = exists(x, (x != system) & (x.lab == system.lab) & o.viable.has(x) & ~held)
    return suits(system, recipe) & forall(o, implies(sibling, left))


def outranked_by(*states: str) -> Term:
    """Another recipe in one of ``states`` that the system suits has a higher priority."""
    return exists(q, q.is_(*states) & suits(s, q) & (q.recipe_set.priority > r.recipe_set.priority))


OF_ONE_RECIPE = ~exists(q, (q.recipe_set == r.recipe_set) & (q != r))
COMPLETE = exists(
    k, exists(o, o.recipe_set == k) & forall(o, implies(o.recipe_set == k, o.is_("scheduled")))
)  # all recipes of some set are scheduled
HAS_NO_RECIPE = ~exists(q, q.system == s)
STAYS = ~s.fires("make_manual") & ~s.fires("break_down")

# "Fewest viable systems first", by inclusion: terms cannot count. In the explored configurations it is the same.
FEWER_FIRST = ~exists(
    q,
    (q.recipe_set == r.recipe_set)
    & q.is_("new", "assigned")
    & forall(x, implies(q.viable.has(x), r.viable.has(x)))
    & exists(x, r.viable.has(x) & ~q.viable.has(x))
    & exists(t, t.is_("idle") & (t.condition == "Automated") & suits(t, q)),
)

LAST_OF_THE_SCHEDULED = r.is_("scheduled") & ~exists(
    o, (o.recipe_set == r.recipe_set) & (o != r) & (o.host != r) & o.is_("scheduled")
)
ENDED_EARLY = ("cancelled", "aborted")
OF_BEFORE = (
    "new",
    "queued",
    "scheduled",
    "waiting",
    "running",
)  # the unfinished states of lines 104 to 109 that remain
BEFORE_IN_J = (r.recipe_set == j) & r.is_(*OF_BEFORE)


def releases(usages: Sequence[str], *conditions: Term) -> list[Rule]:
    """The rules that release a system whose recipe ends, for systems in ``usages`` and with more conditions."""
    return [
        Rule(
            f"{event} releases the system",
            r.fires(event),
            [r.system == s, AUTOMATED, *([s.is_(*usages)] if usages else []), *conditions],
            s.fires("release"),
            line=line,
        )
        for event, line in (("complete", 198), ("cancel", 199), ("abort", 199))
    ]


jumping = next(prop for prop in RACES if isinstance(prop, StepInvariant) and prop.name == "no-queue-jumping")
automated_if_idle = next(prop for prop in SETTINGS if isinstance(prop, Invariant) and prop.name == "idle-is-automated")

AS_WRITTEN_INTERPRETATIONS = (
    # --- The words of the requirements
    Reading(
        "assigned-recipes-jump-the-queue",
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
    # --- Who acts at the same time
    Reading(
        "loops-take-turns",
        65,
        "While the new job loop handles a recipe set, the other loops of the scheduler do nothing.",
        "The other loops also act between the steps of a new job event.",
        adds=at_any_time([ev.give_to_assigned, ev.give_to_queued, ev.make_idle, ev.begin, ev.abort_dead]),
        breaks=["no-lost-wakeup", "no-system-idles-beside-a-waiting-recipe", "the-search-was-complete"],
        question="May the loops of the scheduler act at the same time?",
        why="The text has two additional loops and no lock. The event rules read as if each event were handled alone.",
    ),
    Reading(
        "users-wait-for-the-new-job-loop",
        72,
        "While the new job loop handles a recipe set, no user and no lab changes a recipe, a system or a priority.",
        "The web interface and the labs change them at any time.",
        adds=at_any_time([*ev.PEOPLE, *ev.EXECUTION]),
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
        question="Can something change between the search and the move to scheduled?",
        why=(
            "The text has no state between the two. A database can check the system again when it writes. The variants "
            "concurrent and repaired-concurrent have the other answer."
        ),
    ),
    Reading(
        "pending-systems-in-any-order",
        66,
        "The loop handles pending systems in any order.",
        "It handles them in the order in which they became pending.",
        question="Which of several pending systems comes first?",
        why="The text gives no order, and the loop polls.",
    ),
    # --- New jobs
    Reading(
        "new-sets-in-any-order",
        131,
        "Recipe sets are handled in any order, and sets of different jobs may alternate.",
        "All sets of one job are handled before those of the next job, in the order of submission.",
        question="In which order are the sets of different jobs handled?",
        why="The text gives an order only within a job, an arbitrary one. The model has no jobs, only their sets.",
    ),
    Reading(
        "recipes-in-any-order",
        132,
        "Recipes of a set are handled in any order.",
        "Those with the fewest viable systems come first.",
        adds=[also(ev.find_idle, FEWER_FIRST)],
        question="In which order are the recipes of a set handled?",
        why="The text gives the other answer as an alternative only, with a question mark.",
    ),
    Reading(
        "any-idle-system",
        147,
        "A recipe takes any viable idle system.",
        "It takes the one that the current scheduler prefers: owned, then pooled, then shared.",
        question="Which of several viable idle systems does a recipe take?",
        why="The text keeps the current choice and does not state it.",
    ),
    Reading(
        "the-idle-pool-is-automated",
        89,
        "Only systems whose condition is Automated are in the idle pool.",
        "All systems in the usage state idle are in it, Broken and Manual ones included.",
        adds=[
            replace(ev.find_idle, when=[part for part in ev.find_idle.when if part is not AUTOMATED]),
            replace(
                ev.search_ends,
                when=[
                    j.is_("in_hand"),
                    ~exists(
                        [r, s],
                        (r.recipe_set == j) & r.is_("new", "assigned") & s.is_("idle") & suits(s, r),
                    ),
                ],
            ),
        ],
        breaks=["broken-is-idle", "handed-out-automated"],
        question="Is a Broken or Manual system that is idle in the idle pool?",
        why="Line 85 defines idle systems as configured for automated use. Lines 172 and 176 call Broken and Manual ones idle.",
    ),
    Reading(
        "assigned-recipes-look-in-their-own-event",
        141,
        "An assigned recipe looks for idle systems only while the new job loop handles its set.",
        "Every assigned recipe takes a suitable idle system as soon as there is one.",
        adds=[
            replace(
                ev.find_idle,
                when=[
                    r.recipe_set.is_("in_hand") & r.is_("new", "assigned") | (r.is_("assigned") & QUIET),
                    *ev.find_idle.when[2:],
                ],
            )
        ],
        question="Which assigned recipes does a new job event move to scheduled?",
        why="The sentence is in the list of what a new job event does to the recipes of the job.",
    ),
    Reading(
        "all-recipes-means-the-unfinished",
        138,
        "All other recipes, and every recipe, means those that are not finished.",
        "It also means cancelled and aborted ones: they are assigned or queued again.",
        adds=[
            *[Row(Recipe, "assign", now, "assigned", line=138) for now in ENDED_EARLY],
            *[Row(Recipe, "queue", now, "queued", line=144) for now in ENDED_EARLY],
            *[
                Rule(
                    f"{action.name} assigns the other recipes",
                    action,
                    [q.recipe_set == r.recipe_set, q != r, q.is_(state, *ENDED_EARLY), q.host != r],
                    q.fires("assign"),
                    line=line,
                )
                for action, state, line in SIBLINGS
            ],
            Rule(
                "settle queues the recipes",
                ev.settle,
                [r.recipe_set == j, r.is_("new", *ENDED_EARLY)],
                r.fires("queue"),
                line=144,
            ),
        ],
        breaks=[
            "ended-is-final",
            "guest-in-the-phase-of-its-host",
            "guest-with-its-host",
            "no-lab-before-the-first-system",
            "no-lost-wakeup",
            "no-system-idles-beside-a-waiting-recipe",
            "siblings-of-the-scheduled-are-assigned",
        ],
        question="Does a recipe that was cancelled before count among the other recipes of its set?",
        why="A user who cancels a recipe does not want it to run.",
    ),
    # --- Labs
    Reading(
        "a-set-has-one-lab",
        125,
        "All recipes of a set are assigned to one lab controller.",
        "Recipes of a set may run in different labs.",
        adds=handled(viable_in_any_lab),
        breaks=["one-lab-for-a-set", "system-of-its-lab", "systems-of-begun-sets-are-in-one-lab"],
        question="Is a lab controller assigned to each recipe, or to the set?",
        why="Line 142 has one appropriate lab controller. Recipes of a set run together.",
    ),
    Reading(
        "the-first-system-decides-the-lab",
        138,
        "The set is assigned to the lab of the first system that one of its recipes gets, whatever the others need.",
        "A recipe takes a first system only in a lab where each of its siblings has a viable system.",
        adds=handled(in_a_lab_for_all),
        rests=["lab-can-serve-the-set"],
        breaks=["no-lost-wakeup", "no-system-idles-beside-a-waiting-recipe", "the-search-was-complete"],
        question="To which lab controller are the other recipes assigned?",
        why="The text has no condition on the other recipes.",
    ),
    Reading(
        "suitable-is-viable",
        203,
        "A recipe is suitable if the system is viable for it and in the lab of its set.",
        "It is suitable only if each sibling without a system also keeps one.",
        adds=handled(leaves_one_for_each_sibling),
        rests=["lab-can-serve-the-set", "no-set-blocks-itself"],
        breaks=["no-lost-wakeup", "no-system-idles-beside-a-waiting-recipe", "the-search-was-complete"],
        question="Which recipes are suitable for a system?",
        why="The text defines viable systems, and uses suitable without a definition.",
    ),
    Reading(
        "the-assigned-come-first",
        203,
        "A pending system goes to an assigned recipe before any queued one. Priority orders each of the two groups.",
        "Priority orders assigned and queued recipes together. Assigned ones come first only among equals.",
        adds=[
            replace(
                ev.give_to_assigned,
                when=[s.is_("pending"), r.is_("assigned"), suits(s, r), ~outranked_by("assigned", "queued"), QUIET],
            ),
            replace(
                ev.give_to_queued,
                when=[
                    s.is_("pending"),
                    r.is_("queued"),
                    suits(s, r),
                    ~exists(q, q.is_("assigned") & suits(s, q) & (q.recipe_set.priority >= r.recipe_set.priority)),
                    ~outranked_by("queued"),
                    QUIET,
                ],
            ),
        ],
        rests=["no-queue-jumping"],
        breaks=["assigned-before-queued"],
        question="Does a queued recipe of a higher priority come before an assigned one?",
        why="Lines 203 to 206 give the order of the two searches. Line 213 says solely by priority.",
    ),
    Reading(
        "what-suits-does-not-change",
        80,
        "The requirements of a recipe, the distro trees and the lab of a system never change.",
        "A distro tree may be removed from a lab, and a system may move to another lab.",
        question="Can a viable system stop to be one, other than by its condition?",
        why="The text has one such change, the removal of a distro tree, and only for the retained loop.",
    ),
    # --- Priorities
    Reading(
        "priorities-belong-to-sets",
        213,
        "Each recipe set has a priority.",
        "Each job has one, and its sets have the same.",
        question="What does the overall job priority belong to?",
        why="The model has no jobs. Two sets of one job are two sets of equal priority.",
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
        question="Can a priority change?",
        why="The text does not exclude it, and Beaker allows it.",
    ),
    Reading(
        "equal-priorities-in-any-order",
        213,
        "Among recipes of equal priority, any may be taken.",
        "The one whose set was submitted first is taken.",
        question="Which of several recipes of equal priority is taken?",
        why="The text sorts solely by priority.",
    ),
    # --- Execution
    Reading(
        "a-set-keeps-its-systems",
        204,
        "A set keeps the systems that its recipes have until it begins or they end.",
        "A set that cannot begin yet may return all its systems. Its recipes are queued again, and it has no lab.",
        adds=[
            Action(
                "return_systems",
                [j],
                when=[
                    exists(r, (r.recipe_set == j) & r.is_("scheduled")),
                    exists(r, (r.recipe_set == j) & r.is_("assigned")),
                    QUIET,
                ],
                fires=[j.fires("return_systems")],
                says="{j} returns its systems",
                line=26,
            ),
            *[
                Row(RecipeSet, "return_systems", now, now, line=26, lab=NONE)
                for now in ("at_rest", "in_hand", "searched")
            ],
            *[Row(Recipe, "return_system", now, "queued", line=26, system=NONE) for now in ("assigned", "scheduled")],
            Rule(
                "return_systems queues the recipes",
                j.fires("return_systems"),
                [r.recipe_set == j, r.is_("assigned", "scheduled")],
                r.fires("return_system"),
                line=26,
            ),
            Rule(
                "return_system releases the system",
                r.fires("return_system"),
                [r.system == s, AUTOMATED, s.is_("scheduled")],
                s.fires("release"),
                line=26,
            ),
        ],
        breaks=["no-system-idles-beside-a-waiting-recipe"],
        question="May a set return the systems that it has before it begins?",
        why=(
            "The text has no way from scheduled back to queued. The other answer alone does not end the deadlocks: "
            "no-deadlock then also needs the other answers of finished-recipes-count and suitable-is-viable."
        ),
    ),
    Reading(
        "finished-recipes-count",
        226,
        "A set begins only if all its recipes are scheduled. A cancelled or aborted one is not, so the set never begins.",
        "It begins when all its unfinished recipes are scheduled.",
        adds=[
            replace(
                ev.begin,
                when=[
                    exists(r, (r.recipe_set == j) & r.is_("scheduled")),
                    forall(r, implies((r.recipe_set == j) & r.is_(*UNFINISHED), r.is_("scheduled"))),
                    QUIET,
                ],
            )
        ],
        rests=["no-finished-recipe-blocks-its-set"],
        question="Do the other recipes of a set include those that were cancelled or aborted?",
        why="The sentence says all other recipes.",
    ),
    Reading(
        "a-set-begins-in-its-own-step",
        226,
        "Provisioning begins some time after the last recipe of the set is scheduled.",
        "It begins at once: nothing else comes in between.",
        adds=[
            replace(ev.begin, when=ev.begin.when[:-1]),
            *[also(action, ~COMPLETE) for action in ev.ACTIONS if action is not ev.begin],
        ],
        question="Can a recipe be cancelled, or a condition change, between the last recipe's move and the beginning?",
        why="The two may be transactions of different loops.",
    ),
    Reading(
        "a-set-waits-together",
        227,
        "When provisioning begins, all recipes of the set become waiting in one step.",
        "Each becomes waiting by itself.",
        adds=[
            Action(
                "begin",
                [r],
                when=[
                    r.is_("scheduled"),
                    forall(q, implies(q.recipe_set == r.recipe_set, q.is_("scheduled")))
                    | exists(q, (q.recipe_set == r.recipe_set) & q.is_(*EXECUTING, "completed")),
                    QUIET,
                ],
                fires=[r.fires("provision")],
                says="provisioning of {r} begins",
                line=226,
            )
        ],
        drops=["begin provisions the recipes"],
        breaks=["begins-complete", "begun-together", "guest-in-the-phase-of-its-host", "guest-with-its-host"],
        question="When does a scheduled recipe become waiting?",
        why="The text states no other step from scheduled to waiting. Line 231 configures a host and its guests together.",
    ),
    Reading(
        "a-system-out-of-step-stays",
        239,
        "A system moves with its recipe only from the state that the recipe leaves.",
        "An Automated system takes the state of its recipe, whatever its own was.",
        adds=[
            *[
                Row(System, event, now, target, line=239)
                for event, target in (("provision", "waiting"), ("install", "installing"), ("run", "running"))
                for now in USAGES
            ],
            *[
                Rule(f"{event} moves the system", r.fires(event), [r.system == s, AUTOMATED], s.fires(event), line=239)
                for event, _ in ev.MOVES
            ],
        ],
        question="Where does a system move that is not in the state of its recipe?",
        why="Line 240 moves the system through those same states.",
    ),
    # --- Guests
    Reading(
        "guests-are-in-the-set-of-their-host",
        230,
        "A guest is a recipe of the same set as its host, and its host is not a guest.",
        "A guest is not a recipe of the set, and does not count for its beginning.",
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
        breaks=["guest-in-the-phase-of-its-host", "guest-with-its-host"],
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
        breaks=["guest-ends-with-its-host", "guest-in-the-phase-of-its-host"],
        question="What becomes of the guests when their host ends?",
        why="A guest cannot run without its host.",
    ),
    # --- Ends
    Reading(
        "unchanged-sentences-stay",
        115,
        "What the text says of the current scheduler and does not change also holds for the new one, and for the new states.",
        "A recipe jumps to cancelled or aborted only from states of the current scheduler, not from assigned or installing.",
        adds=[
            *[
                replace(action, when=[r.recipe_set.endable, r.is_(*OF_BEFORE), QUIET])
                for action in (ev.cancel, ev.abort)
            ],
            *[
                replace(action, when=[j.endable, exists(r, BEFORE_IN_J), QUIET])
                for action in (ev.cancel_set, ev.abort_set)
            ],
            Rule("cancel_set cancels the recipes", ev.cancel_set, [BEFORE_IN_J], r.fires("cancel"), line=116),
            Rule("abort_set aborts the recipes", ev.abort_set, [BEFORE_IN_J], r.fires("abort"), line=116),
        ],
        breaks=["guest-ends-with-its-host", "guest-in-the-phase-of-its-host"],
        question="Do the sentences on the current scheduler hold for the proposed one?",
        why="Line 120 lists the changes, and these sentences are not among them.",
    ),
    Reading(
        "finished-recipes-stay",
        116,
        "A cancelled or aborted recipe stays what it is.",
        "Cancelled and aborted are states other than completed, so a recipe may jump from one to the other.",
        adds=[
            Row(Recipe, "cancel", "aborted", "cancelled", line=116, system=NONE),
            Row(Recipe, "abort", "cancelled", "aborted", line=116, system=NONE),
            replace(ev.cancel, when=[r.recipe_set.endable, r.is_(*UNFINISHED, "aborted"), QUIET]),
            replace(ev.abort, when=[r.recipe_set.endable, r.is_(*UNFINISHED, "cancelled"), QUIET]),
        ],
        breaks=["ended-is-final"],
        question="May a cancelled recipe be aborted, and an aborted one be cancelled?",
        why="Line 199 counts cancelled and aborted among the ways in which execution finishes.",
    ),
    Reading(
        "recipes-are-ended-one-by-one",
        116,
        "A recipe may be cancelled or aborted without its siblings, also by the retained loop.",
        "A recipe set is cancelled or aborted as a whole only.",
        adds=[
            also(ev.cancel, OF_ONE_RECIPE),
            also(ev.abort, OF_ONE_RECIPE),
            Rule(
                "abort_dead aborts the guests",
                ev.abort_dead,
                [o.recipe_set == r.recipe_set, o != r, o.is_(*UNFINISHED)],
                o.fires("abort"),
                line=60,
            ),
        ],
        rests=["no-finished-recipe-blocks-its-set"],
        question="Can one recipe of a set be cancelled or aborted?",
        why="The sentence is about a recipe.",
    ),
    Reading(
        "sets-are-also-ended-as-a-whole",
        116,
        "A user may also cancel or abort all unfinished recipes of a set in one step.",
        "A user cancels and aborts recipes one by one only.",
        adds=[
            replace(
                action, when=[*action.when, forall([q, r], implies((q.recipe_set == j) & (r.recipe_set == j), q == r))]
            )
            for action in (ev.cancel_set, ev.abort_set)
        ],
        question="Can a recipe set be cancelled or aborted as a whole?",
        why="Beaker has it, and the text does not exclude it.",
    ),
    Reading(
        "a-scheduled-recipe-returns-its-system-as-pending",
        197,
        "A system is also pending after a recipe that was scheduled on it and never executed.",
        "Such a recipe has executed nothing, so its system is idle as in any other case (line 186).",
        adds=[
            *releases(EXECUTING),
            *[
                Rule(
                    f"{event} frees the system",
                    r.fires(event),
                    [r.system == s, AUTOMATED, s.is_("scheduled")],
                    s.fires("free"),
                    line=186,
                )
                for event in ("cancel", "abort")
            ],
            Row(System, "free", "scheduled", "idle", line=186),
        ],
        breaks=["no-lost-wakeup", "no-system-idles-beside-a-waiting-recipe"],
        question="What becomes of the system of a recipe that ends before it is executed?",
        why="The system has to be offered to other recipes, or it idles beside them.",
    ),
    Reading(
        "only-systems-in-use-become-pending",
        197,
        "A system that is idle when its recipe ends stays idle.",
        "It becomes pending whatever its usage is.",
        adds=[
            *releases(()),
            *[Row(System, "release", now, "pending", line=197) for now in ("idle", "pending")],
        ],
        rests=["pending-after-a-recipe"],
        question="What becomes of an idle system when a recipe that is still on it ends?",
        why="A system that executes a recipe is in use. The text knows no other case.",
    ),
    Reading(
        "assigned-recipes-stay-assigned",
        208,
        "Assigned recipes stay assigned, and keep their lab, when no sibling is scheduled any more.",
        "They are queued again, and the set has no lab.",
        adds=[
            Row(Recipe, "unassign", "assigned", "queued", line=144),
            *[Row(RecipeSet, "unassign", now, now, line=144, lab=NONE) for now in ("at_rest", "in_hand", "searched")],
            *[
                rule
                for action in (ev.cancel, ev.abort)
                for rule in (
                    Rule(
                        f"{action.name} queues the siblings",
                        action,
                        [LAST_OF_THE_SCHEDULED, q.recipe_set == r.recipe_set, q.is_("assigned")],
                        q.fires("unassign"),
                        line=144,
                    ),
                    Rule(
                        f"{action.name} takes the lab",
                        action,
                        [LAST_OF_THE_SCHEDULED],
                        r.recipe_set.fires("unassign"),
                        line=144,
                    ),
                )
            ],
        ],
        question="What becomes of assigned recipes when their only scheduled sibling ends?",
        why=(
            "The text has no way from assigned back to queued. Under the other answer, idle systems of other labs are "
            "not offered to the set again. No explored configuration shows that."
        ),
    ),
    # --- Conditions and reservations
    Reading(
        "the-recipe-stays-on-its-system",
        172,
        "When the condition of a system changes, the recipe on it goes on as if it had the system.",
        "The recipe is aborted, with its guests.",
        adds=[
            *releases(IN_USE, STAYS),
            *[
                rule
                for action in (ev.make_manual, ev.break_down)
                for rule in (
                    Rule(f"{action.name} aborts the recipe", action, [r.system == s], r.fires("abort"), line=199),
                    Rule(
                        f"{action.name} aborts the guests",
                        action,
                        [exists(r, (r.system == s) & (g.host == r)), g.is_(*UNFINISHED)],
                        g.fires("abort"),
                        line=199,
                    ),
                )
            ],
        ],
        rests=[
            "idle-is-not-running",
            "installing-with-its-recipe",
            "manual-is-its-users",
            "one-recipe-per-system",
            "pending-after-a-recipe",
            "pending-runs-nothing",
            "recipe-and-system-in-step",
            "running-with-its-recipe",
            "scheduled-with-its-recipe",
            "waiting-with-its-recipe",
        ],
        question="What becomes of a recipe whose system becomes Broken or Manual?",
        why="The text moves the system to idle and says nothing about the recipe.",
    ),
    Reading(
        "conditions-change-in-use",
        172,
        "The condition of a system may change while a recipe is on it, and the system is idle at once.",
        "It changes only when no recipe is on the system.",
        adds=[also(action, HAS_NO_RECIPE) for action in (ev.make_manual, ev.break_down)],
        rests=[
            "idle-is-not-running",
            "installing-with-its-recipe",
            "manual-is-its-users",
            "one-recipe-per-system",
            "pending-after-a-recipe",
            "pending-runs-nothing",
            "recipe-and-system-in-step",
            "running-with-its-recipe",
            "scheduled-with-its-recipe",
            "waiting-with-its-recipe",
        ],
        question="May the condition of a system change while a recipe is on it?",
        why="A system breaks at any time, and line 172 says always.",
    ),
    Reading(
        "a-reserved-system-may-become-automated",
        196,
        "A system that a user has reserved becomes pending at once when its condition is changed to Automated.",
        "Its condition is changed only after the user has returned it.",
        adds=[also(ev.automate, s.is_("idle"))],
        rests=["reserved-until-given-back"],
        question="May the condition of a reserved system become Automated?",
        why="Line 196 has no exception.",
    ),
    Reading(
        "a-reserved-system-may-break",
        172,
        "A system that a user has reserved may become Broken. It is idle at once, and the reservation is over.",
        "Its condition is changed to Broken only after the user has returned it.",
        adds=[also(ev.break_down, AUTOMATED | s.is_("idle"))],
        question="What becomes of a reservation whose system becomes Broken?",
        why="Line 172 says always, and gives a Broken system no state for a reservation.",
    ),
    Reading(
        "only-manual-systems-are-reserved",
        174,
        "A user reserves a system only while its condition is Manual.",
        "A user may also reserve an idle Automated system.",
        adds=[
            replace(ev.reserve, when=[s.adjustable, MANUAL | AUTOMATED, s.is_("idle"), QUIET]),
            replace(ev.install_reserved, when=[HAS_NO_RECIPE, s.is_("waiting"), QUIET]),
            replace(ev.run_reserved, when=[HAS_NO_RECIPE, s.is_("installing"), QUIET]),
            replace(ev.give_back, when=[HAS_NO_RECIPE, s.is_("running"), QUIET]),
        ],
        breaks=["in-use-by-a-recipe", "no-lost-wakeup", "no-system-idles-beside-a-waiting-recipe"],
        question="Can a user reserve an Automated system?",
        why="Lines 178 to 186 give an Automated system no state for that.",
    ),
    Reading(
        "a-reserved-system-is-provisioned",
        174,
        "A reserved system is always provisioned first: waiting, then installing, then running.",
        "A user may also reserve a system as it is. Then it is running at once.",
        adds=[
            Row(System, "hand_over", "idle", "running", line=174),
            Action(
                "reserve_as_it_is",
                [s],
                when=[s.adjustable, MANUAL, s.is_("idle"), QUIET],
                fires=[s.fires("hand_over")],
                says="a user reserves {s} as it is",
                line=174,
            ),
        ],
        question="Is a system provisioned in response to each reservation?",
        why="The sentence lists the states of provisioning, and not when a reservation goes without it.",
    ),
    Reading(
        "a-reservation-ends-when-running",
        176,
        "A user returns a system only when it is running.",
        "A user may also return it while it is waiting or installing.",
        adds=[
            *[Row(System, "give_back", now, "idle", line=176) for now in ("waiting", "installing")],
            replace(ev.give_back, when=[MANUAL, s.is_(*EXECUTING), QUIET]),
        ],
        question="When does a reservation end?",
        why="The text says nothing about the end. The model has the shortest form.",
    ),
    # --- The retained loop
    Reading(
        "dead-is-without-an-automated-system",
        60,
        "The retained loop aborts a queued or assigned recipe if no system that meets its requirements is Automated.",
        "It aborts one only if no system at all meets its requirements, whatever the conditions.",
        adds=[
            replace(
                ev.abort_dead,
                when=[r.is_("queued", "assigned"), r.host == NONE, ~exists(s, r.viable.has(s)), QUIET],
            )
        ],
        breaks=["dead-recipes-end"],
        question="Which recipes does the retained loop abort?",
        why="The removed distro tree is an example. A recipe without a viable system can never be scheduled.",
    ),
    Reading(
        "systems-of-other-labs-count",
        61,
        "An assigned recipe is not aborted as long as a viable Automated system is in some lab.",
        "It is aborted if none is in the lab of its set.",
        adds=[
            replace(
                ev.abort_dead,
                when=[r.is_("queued", "assigned"), r.host == NONE, ~exists(s, suits(s, r) & AUTOMATED), QUIET],
            )
        ],
        question="Does a viable system in another lab keep an assigned recipe alive?",
        why="The example speaks of all registered lab controllers.",
    ),
    Reading(
        "dead-recipes-are-aborted-alone",
        60,
        "The retained loop aborts the recipe, and not its siblings.",
        "It aborts the whole set.",
        adds=[
            Rule(
                "abort_dead aborts the guests",
                ev.abort_dead,
                [o.recipe_set == r.recipe_set, o != r, o.is_(*UNFINISHED)],
                o.fires("abort"),
                line=60,
            )
        ],
        question="What becomes of the siblings of a recipe that the retained loop aborts?",
        why="The sentence is about recipes.",
    ),
    Reading(
        "the-retained-loop-wakes-no-system",
        59,
        "The retained loop corrects no other discrepancy: it leaves systems as they are.",
        "It also marks an idle system as pending if a waiting recipe suits it.",
        adds=[
            Action(
                "wake",
                [s],
                when=[s.is_("idle"), AUTOMATED, exists(r, r.is_("assigned", "queued") & suits(s, r)), QUIET],
                fires=[s.fires("wake")],
                says="the retained loop marks {s} as pending",
                line=59,
            ),
            Row(System, "wake", "idle", "pending", line=59),
        ],
        question="Which discrepancies does the retained loop correct?",
        why="The text has one example. As written, no wakeup is lost, so there is nothing to correct.",
    ),
)

BATCH_INTERPRETATIONS = (
    Reading(
        "batch-passes-have-four-phases",
        16,
        "A pass moves recipes to processed, then to queued, then gives them systems, then begins sets. Then it starts again.",
        "A pass has more phases, or handles one recipe in several of them before the next recipe.",
        question="In which groups does the current scheduler move recipes?",
        why="The sentence gives two phases and says and so on. The other two follow from the list of states.",
        variant="batch",
    ),
    Reading(
        "batch-a-pass-does-not-look-back",
        22,
        "A pass visits each recipe once, by priority. It does not return to a recipe when a system becomes available.",
        "A system goes to the queued recipe of the highest priority that it suits, whether the pass has visited it or not.",
        adds=[
            replace(
                batch.schedule,
                when=[
                    batch.b.is_("scheduling"),
                    r.is_("queued"),
                    ~exists(q, q.is_("queued") & q.viable.has(s) & (q.recipe_set.priority > r.recipe_set.priority)),
                    s.is_("available"),
                    r.viable.has(s),
                ],
            )
        ],
        rests=["no-queue-jumping"],
        question="In which order does a pass visit the queued recipes, and how often?",
        why="Otherwise no recipe could jump the queue midway through a pass.",
        variant="batch",
    ),
    Reading(
        "batch-jobs-come-at-any-time",
        15,
        "A job is submitted at any moment of a pass.",
        "A job is submitted only while the pass looks for new recipes.",
        adds=[also(batch.submit, exists(batch.b, batch.b.is_("processing")))],
        question="When are jobs submitted?",
        why="The web service does not wait for the scheduler.",
        variant="batch",
    ),
    Reading(
        "batch-priorities-are-fixed",
        213,
        "The priority of a set is fixed when it is submitted.",
        "It may change at any time.",
        adds=[
            replace(batch.reprioritize, when=[j.rankable, j.priority != batch.n]),
            Row(RecipeSet, "reprioritize", "submitted", "submitted", line=213, priority=given("to")),
        ],
        question="Can a priority change in the current scheduler?",
        why="The abstract has queue jumping without it.",
        variant="batch",
    ),
    Reading(
        "batch-sets-begin-together",
        25,
        "A set begins when all its recipes are scheduled, and keeps its systems until then.",
        "Each recipe begins by itself when it is scheduled.",
        adds=[
            replace(
                batch.provision,
                when=[batch.b.is_("provisioning"), exists(r, (r.recipe_set == j) & r.is_("scheduled"))],
            ),
            replace(
                batch.end_provisioning,
                when=[batch.b.is_("provisioning"), ~exists(r, r.is_("scheduled"))],
            ),
            Rule(
                "provisioning begins for all recipes",
                batch.provision,
                [r.recipe_set == j, r.is_("scheduled")],
                r.fires("provision"),
                line=25,
            ),
        ],
        rests=["no-deadlock"],
        breaks=["begins-complete"],
        question="When does a set of several recipes begin?",
        why="Two sets that each have one of two systems deadlock only if a set needs both at once.",
        variant="batch",
    ),
    Reading(
        "batch-a-crash-ends-the-pass",
        15,
        "When the scheduler stops, the pass ends, and all moves that it has made stay. The next pass begins anew.",
        "The current scheduler does not stop.",
        question="What is left of a pass when the scheduler stops?",
        why="The states of recipes are in the database. The text mentions start-up in line 69.",
        variant="batch",
    ),
)

INTERPRETATIONS = (*AS_WRITTEN_INTERPRETATIONS, *BATCH_INTERPRETATIONS)
