"""Transactions of beakerd and of the web server that overlap: each reads first, and writes what follows from that later.

``shipped`` has one step for each transaction. Here another transaction may commit between what one reads and what it
writes. The writes check what Beaker's own do, and no more:

- A system is reserved on the condition that it has no user (1.4).
- The status of a recipe, or of a task, is written on the condition that it is what was read (1.2). Otherwise the
  transaction is rolled back.
- The scheduler status of a system is written without a condition (1.4): idle after a search that found no recipe, and
  pending after a change to a system that was read as idle. Only where a distro tree is added, the web server writes
  pending on the condition that the system is idle; here nothing comes in between.

A person ends the tasks of a recipe. Its status follows in a later transaction of beakerd (1.2).

Beakerd has one transaction at a time, and so has the web server for each system.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from schedproof.model.lang import (
    NONE,
    Action,
    Attribute,
    BoolType,
    Change,
    EnumType,
    Event,
    Invariant,
    Ref,
    Rigid,
    Row,
    Rule,
    StepInvariant,
    Term,
    after,
    exists,
    forall,
    given,
    implies,
    variable,
)
from schedproof.model.lang.terms import both

from . import SHIPPED, patterns
from . import events as ev
from .machines import (
    CONDITION,
    NO_GUEST,
    RECIPE,
    STATUSES,
    SYSTEM,
    UNFINISHED,
    USAGES,
    Recipe,
    System,
    g,
    j,
    q,
    r,
    s,
)

t = variable(System, "t")

ENDED = EnumType(("unfinished", "aborted", "cancelled"))
READ = EnumType(("unread", "idle", "in_use"))

RECIPE_WITH_TASKS = replace(
    RECIPE,
    attributes=[
        *RECIPE.attributes,
        Attribute("tasks", ENDED, durable=True, about="how a person has ended its tasks, until beakerd has followed"),
    ],
    events=[*RECIPE.events, Event("end_tasks", {"to": ENDED})],
)

SYSTEM_IN_TRANSACTIONS = replace(
    SYSTEM,
    attributes=[
        *SYSTEM.attributes,
        Attribute("user", BoolType(), durable=True, about="somebody has reserved it, for a recipe or for themselves"),
        Attribute("chosen", Ref(Recipe), about="the recipe for which beakerd's transaction is to reserve it"),
        Attribute("unwanted", BoolType(), about="beakerd's transaction has found no recipe for it"),
        Attribute("read", READ, about="its scheduler status, as the web server's transaction has read it"),
    ],
    events=[Event("withdraw", {"to": CONDITION}), Event("choose", {"recipe": Ref(Recipe)})],
)

BEAKERD_IS_FREE = ~exists(t, (t.chosen != NONE) | t.unwanted)
TASKS_UNFINISHED = r.tasks == "unfinished"
GUESTS_UNFINISHED = forall(g, implies((g.host == r) & g.is_(*UNFINISHED), g.tasks == "unfinished"))
NO_USER = ~s.user

RECIPE_ROWS = [
    *[Row(Recipe, "end_tasks", now, now, tasks=given("to")) for now in UNFINISHED],
    *[
        Row(Recipe, event, now, status, tasks="unfinished")
        for event, status in (("cancel", "cancelled"), ("abort", "aborted"))
        for now in UNFINISHED
    ],
]

SYSTEM_ROWS = [
    # beakerd
    *[Row(System, "choose", now, now, chosen=given("recipe")) for now in ("idle", "pending")],
    *[Row(System, "roll_back", now, now, chosen=NONE) for now in USAGES],
    *[Row(System, "reserve", now, "reserved", user=True, chosen=NONE) for now in ("idle", "pending")],
    Row(System, "search", "pending", "pending", unwanted=True, unsearched=False),
    *[Row(System, "rest", now, "idle", unwanted=False) for now in USAGES],
    # the web server
    *[Row(System, "take", now, "reserved", user=True) for now in ("idle", "pending")],
    *[Row(System, "release", now, "pending", user=False) for now in USAGES],
    *[Row(System, "read", now, now, read="idle" if now == "idle" else "in_use") for now in USAGES],
    *[Row(System, "flag", now, "pending", read="unread", unsearched=True) for now in USAGES],
    *[Row(System, "alter", now, now, read="unread", unsearched=True) for now in USAGES],
    *[Row(System, "automate", now, "pending", condition="Automated", read="unread", unsearched=True) for now in USAGES],
    *[
        Row(System, "automate_in_use", now, now, condition="Automated", read="unread", unsearched=True)
        for now in USAGES
    ],
]

# --- beakerd: it reads, then writes


def alone(action: Action) -> Action:
    """An action of beakerd, which has no other transaction under way, on a recipe whose tasks nobody has ended."""
    return replace(action, when=[*action.when, BEAKERD_IS_FREE, TASKS_UNFINISHED, GUESTS_UNFINISHED])


process, queue = map(alone, (ev.process, ev.queue))
provision = replace(
    ev.provision,
    when=[*ev.provision.when, BEAKERD_IS_FREE, forall(r, implies(r.recipe_set == j, TASKS_UNFINISHED))],
)

choose_idle = Action(
    "choose_idle",
    [r, s],
    when=[
        *(r.is_("processed"), NO_GUEST, ev.SIBLINGS_PROCESSED, TASKS_UNFINISHED, r.candidates.has(s)),
        *(s.is_("idle"), NO_USER, BEAKERD_IS_FREE),
    ],
    fires=[s.fires("choose", recipe=r)],
    says="beakerd finds {s} idle, and chooses it for {r}",
)
choose_recipe = Action(
    "choose_recipe",
    [s, r],
    when=[
        *(r.is_("queued"), NO_GUEST, TASKS_UNFINISHED, r.candidates.has(s), s.is_("pending")),
        *(s.condition == "Automated", BEAKERD_IS_FREE),
    ],
    fires=[s.fires("choose", recipe=r)],
    says="beakerd finds the queued {r} for pending {s}, which is Automated",
)
reserve_chosen = Action(
    "reserve_chosen",
    [s, r],
    when=[s.chosen == r, NO_USER, r.is_("processed", "queued"), TASKS_UNFINISHED, GUESTS_UNFINISHED],
    fires=[r.fires("schedule", system=s), s.fires("reserve")],
    says="beakerd reserves {s}, which has no user, for {r}",
)
roll_back = Action(
    "roll_back",
    [s],
    when=[s.chosen != NONE],
    fires=[s.fires("roll_back")],
    says="beakerd's transaction on {s} is rolled back",
)
search_in_vain = Action(
    "search_in_vain",
    [s],
    when=[s.is_("pending"), BEAKERD_IS_FREE],
    fires=[s.fires("search")],
    says="beakerd finds no recipe that is runnable on {s}",
)
rest = Action("rest", [s], when=[s.unwanted], fires=[s.fires("rest")], says="beakerd writes that {s} is idle")

# --- people: they end tasks, and beakerd ends the recipes

OF_THE_SET = (r.recipe_set == j) & r.is_(*UNFINISHED) & TASKS_UNFINISHED

abort = replace(
    ev.abort,
    when=[r.is_(*UNFINISHED), TASKS_UNFINISHED],
    fires=[r.fires("end_tasks", to="aborted")],
    says="the tasks of {r} are aborted",
)
abort_guest = replace(
    ev.abort_guest,
    when=[*ev.abort_guest.when, g.tasks == "unfinished"],
    fires=[g.fires("end_tasks", to="aborted")],
    says="the tasks of {g}, whose host is finished, are aborted before it begins",
)
abort_set = replace(ev.abort_set, when=[exists(r, OF_THE_SET)], says="the tasks of {j} are aborted")
cancel_set = replace(ev.cancel_set, when=[exists(r, OF_THE_SET)], says="the tasks of {j} are cancelled")
update = Action(
    "update",
    [j],
    when=[exists(r, (r.recipe_set == j) & ~TASKS_UNFINISHED), BEAKERD_IS_FREE],
    fires=[],
    says="beakerd ends the recipes of {j} whose tasks have ended",
)

# --- people: they change systems

read = Action(
    "read",
    [s],
    when=[s.read == "unread"],
    fires=[s.fires("read")],
    says="the web server reads the scheduler status of {s}",
)
flag = replace(
    ev.flag,
    when=[s.read == "idle"],
    says="the lab or the loan of {s}, which was read as idle, changes: it is marked as pending",
)
alter = replace(
    ev.flag,
    name="alter",
    when=[s.read == "in_use"],
    fires=[s.fires("alter")],
    says="the lab or the loan of {s}, which was read as pending or reserved, changes",
)
automate = replace(
    ev.automate,
    when=[s.condition != "Automated", s.read == "idle"],
    says="the condition of {s}, which was read as idle, becomes Automated: it is marked as pending",
)
automate_in_use = replace(
    ev.automate,
    name="automate_in_use",
    when=[s.condition != "Automated", s.read == "in_use"],
    fires=[s.fires("automate_in_use")],
    says="the condition of {s}, which was read as pending or reserved, becomes Automated",
)
take = replace(ev.take, when=[NO_USER], fires=[s.fires("take")])
give_back = replace(ev.give_back, when=[s.user, ev.NOT_HELD])

ACTIONS = [
    *(process, choose_idle, queue, choose_recipe, reserve_chosen, roll_back, search_in_vain, rest, provision),
    *(replace(action, when=[*action.when, TASKS_UNFINISHED]) for action in ev.EXECUTION),
    *(abort, abort_guest, abort_set, cancel_set, update),
    *(read, flag, alter, automate, automate_in_use, take, give_back),
]

RULES = [
    Rule(
        "reserve_chosen schedules the guests",
        reserve_chosen,
        [g.host == r, g.is_("processed", "queued")],
        g.fires("schedule", system=NONE),
    ),
    Rule("abort_set aborts every recipe", abort_set, [OF_THE_SET], r.fires("end_tasks", to="aborted")),
    Rule("cancel_set cancels every recipe", cancel_set, [OF_THE_SET], r.fires("end_tasks", to="cancelled")),
    Rule("update aborts the recipes", update, [r.recipe_set == j, r.tasks == "aborted"], r.fires("abort")),
    Rule("update cancels the recipes", update, [r.recipe_set == j, r.tasks == "cancelled"], r.fires("cancel")),
]


def follows_its_tasks() -> Term:
    """``r`` ends in this step, as a person has ended its tasks."""
    return ((r.tasks == "aborted") & after(r.is_("aborted"))) | ((r.tasks == "cancelled") & after(r.is_("cancelled")))


PROPERTIES = [
    Invariant(
        name="reserved-has-a-user",
        says="a system that is reserved, or held by a recipe, has a user",
        sentence="section 1.4: a reservation makes the scheduler status reserved, on the condition that nobody has it",
        over=[s],
        given=s.is_("reserved") | exists(r, r.system == s),
        then=s.user,
    ),
    Invariant(
        name="beakerd-follows-once",
        says="the tasks that a person has ended, and beakerd has not followed, are those of an unfinished recipe",
        sentence="section 1.2: beakerd derives the status of a recipe from its tasks, and a finished one stays",
        over=[r],
        given=~TASKS_UNFINISHED,
        then=r.is_(*UNFINISHED),
    ),
    StepInvariant(
        name="ends-as-its-tasks",
        says="a recipe whose tasks a person has ended goes nowhere but to the end that the person asked for",
        sentence="section 1.2: a finished task does not become unfinished, and a recipe has the status of its tasks",
        over=[r],
        given=~TASKS_UNFINISHED,
        then=both([implies(r.is_(now), after(r.is_(now)) | follows_its_tasks()) for now in STATUSES]),
    ),
    Invariant(
        name="chosen-is-a-candidate",
        says="beakerd has one transaction at a time, on a host and one of its candidates",
        sentence="section 1.3: a system is looked for among the candidates of the recipe",
        over=[s, r, t],
        given=s.chosen == r,
        then=r.candidates.has(s) & NO_GUEST & ~t.unwanted & implies(t != s, t.chosen == NONE),
    ),
    Invariant(
        name="chosen-with-a-processed-set",
        says="no recipe is new in the set of a recipe for which beakerd has chosen a system",
        sentence="section 1.3: only sets whose recipes are all processed are queued",
        over=[s, r, q],
        given=(s.chosen == r) & (q.recipe_set == r.recipe_set),
        then=~q.is_("new"),
    ),
]

OVERLAP = Change(
    why=(
        "A transaction reads rows and writes them later, and others commit in between. Of what it has read, a write "
        "checks only the user of a system and the status of a recipe or task."
    ),
    repairs=[],
    drops=[
        *("schedule_processed", "schedule_pending"),
        *("schedule_processed schedules the guests", "schedule_pending schedules the guests"),
    ],
    adds=[*RECIPE_ROWS, *SYSTEM_ROWS, *ACTIONS, *RULES, *PROPERTIES],
)


def of_one_set(sizes: Mapping[str, int]) -> Iterator[Rigid]:
    """Yields those configurations of :func:`patterns` that have one set: two sets are four times the work, and show no more."""
    several = sizes["Recipe"] > 1
    yield from list(patterns(sizes))[1 if several else 0 :]


SHIPPED_CONCURRENT = SHIPPED.amend(
    "shipped-concurrent",
    "shipped, where transactions of beakerd and of the web server overlap",
    [OVERLAP],
    refuted=SHIPPED.refuted
    | {"held-is-reserved", "released-to-pending", "pending-goes-to-automated", "searched-after-a-change"},
    machines=[RECIPE_WITH_TASKS, SYSTEM_IN_TRANSACTIONS],
    configurations=of_one_set,
)
