"""The actions: beakerd's pass, reports of recipes, ends of recipes, and actions of users on systems."""

from schedproof.model.lang import NONE, Action, Rule, exists, forall, implies

from .machines import EXECUTING, FINISHED, NO_GUEST, STARTED, UNFINISHED, g, j, q, r, s

# Recipes are queued one by one, but only those of sets all of whose recipes are processed. So the others are processed,
# or were queued or scheduled a moment ago.
SIBLINGS_PROCESSED = forall(q, implies(q.recipe_set == r.recipe_set, q.is_("processed", "queued", "scheduled")))
NOT_HELD = ~exists(q, q.system == s)

# --- beakerd's pass, in its order (1.3)

process = Action(
    "process",
    [r],
    when=[r.is_("new"), NO_GUEST, exists(s, r.candidates.has(s) & (s.condition == "Automated"))],
    fires=[r.fires("process")],
    says="candidate systems are found for {r}",
)

schedule_processed = Action(
    "schedule_processed",
    [r, s],
    # The candidates were found when the recipe was processed. The scheduler does not check again that they are still
    # Automated.
    when=[r.is_("processed"), NO_GUEST, SIBLINGS_PROCESSED, r.candidates.has(s), s.is_("idle")],
    fires=[r.fires("schedule", system=s), s.fires("reserve")],
    says="{r} gets {s}, which is idle",
)

queue = Action(
    "queue",
    [r],
    when=[r.is_("processed"), NO_GUEST, SIBLINGS_PROCESSED],
    fires=[r.fires("queue")],
    says="{r} is left in the queue",
)

schedule_pending = Action(
    "schedule_pending",
    [s, r],
    when=[r.is_("queued"), NO_GUEST, r.candidates.has(s), s.is_("pending"), s.condition == "Automated"],
    fires=[r.fires("schedule", system=s), s.fires("reserve")],
    says="pending {s} goes to the queued {r}",
)

rest = Action(
    "rest",
    [s],
    when=[s.is_("pending")],
    fires=[s.fires("rest")],
    says="no recipe is runnable on {s}: it becomes idle",
)

provision = Action(
    "provision",
    [j],
    when=[exists(r, r.recipe_set == j), forall(r, implies(r.recipe_set == j, r.is_("scheduled")))],
    fires=[],
    says="all of {j} is scheduled and is provisioned in one transaction",
)

# --- reports of a running recipe (1.2)


def reported(name: str, sources: tuple[str, ...], says: str) -> Action:
    """A status change that follows from reports of the installation and the tasks of one recipe."""
    return Action(name, [r], when=[r.is_(*sources)], fires=[r.fires(name)], says=says)


EXECUTION = [
    reported("install", ("waiting",), "{r} begins to install"),
    reported("boot", ("installing",), "the installation of {r} is finished, and no task of it has begun"),
    reported("run", ("waiting", "installing"), "a task of {r} begins"),
    reported("pause", ("running",), "a task of {r} is finished and the next has not begun"),
    reported("hold", STARTED, "all tasks of {r} are finished, and its system is kept reserved"),
    reported("complete", EXECUTING, "all of {r} is finished"),
]

# --- ends: one recipe may be aborted, but only a whole set cancelled (1.7)

abort = Action("abort", [r], when=[r.is_(*UNFINISHED)], fires=[r.fires("abort")], says="{r} is aborted")

# 1.6: the watchdog of a guest has no kill time from scheduling on. The facts do not say until when; here, until the set
# is provisioned.
abort_guest = Action(
    "abort_guest",
    [g],
    when=[g.is_("scheduled"), exists(r, (g.host == r) & r.is_(*FINISHED))],
    fires=[g.fires("abort")],
    says="{g}, whose host is finished, is aborted before it begins",
)

OF_THE_SET = (r.recipe_set == j) & r.is_(*UNFINISHED)

abort_set = Action("abort_set", [j], when=[exists(r, OF_THE_SET)], fires=[], says="all of {j} is aborted")
cancel_set = Action("cancel_set", [j], when=[exists(r, OF_THE_SET)], fires=[], says="all of {j} is cancelled")

clean_up = Action(
    "clean_up",
    [j],
    when=[
        forall(r, implies(r.recipe_set == j, r.is_(*FINISHED))),
        exists(r, (r.recipe_set == j) & (r.system != NONE)),
    ],
    fires=[],
    says="all of {j} is finished: its systems are released",
)

# --- actions of users on systems (1.4)

flag = Action(
    "flag",
    [s],
    when=[s.is_("idle")],
    fires=[s.fires("flag")],
    says="the lab, the loan or a distro tree of {s} changes: it is looked at again",
)
take = Action(
    "take",
    [s],
    when=[s.is_("idle", "pending")],
    fires=[s.fires("reserve")],
    says="a user reserves {s}",
)
give_back = Action(
    "give_back",
    [s],
    when=[s.is_("reserved"), NOT_HELD],
    fires=[s.fires("release")],
    says="the user of {s} gives it back",
)
automate = Action(
    "automate",
    [s],
    when=[s.condition != "Automated"],
    fires=[s.fires("automate")],
    says="the condition of {s} is changed to Automated",
)
make_manual = Action(
    "make_manual",
    [s],
    when=[s.condition != "Manual"],
    fires=[s.fires("withdraw", to="Manual")],
    says="the condition of {s} is changed to Manual",
)
break_down = Action(
    "break_down",
    [s],
    when=[s.condition != "Broken"],
    fires=[s.fires("withdraw", to="Broken")],
    says="the condition of {s} is changed to Broken",
)

ACTIONS = [
    *(process, schedule_processed, queue, schedule_pending, rest, provision),
    *EXECUTION,
    *(abort, abort_guest, abort_set, cancel_set, clean_up),
    *(flag, take, give_back, automate, make_manual, break_down),
]

RULES = [
    # 1.6: a guest follows its host until it is scheduled
    Rule("process takes the guests", process, [g.host == r, g.is_("new")], g.fires("process")),
    Rule("queue takes the guests", queue, [g.host == r, g.is_("processed")], g.fires("queue")),
    *[
        Rule(
            f"{action.name} schedules the guests",
            action,
            [g.host == r, g.is_("processed", "queued")],
            g.fires("schedule", system=NONE),
        )
        for action in (schedule_processed, schedule_pending)
    ],
    Rule("provision starts every recipe", provision, [r.recipe_set == j], r.fires("provision")),
    Rule("abort_set aborts every recipe", abort_set, [OF_THE_SET], r.fires("abort")),
    Rule("cancel_set cancels every recipe", cancel_set, [OF_THE_SET], r.fires("cancel")),
    # 1.4: systems are released when the whole set is finished, not recipe by recipe
    Rule("clean_up ends every reservation", clean_up, [(r.recipe_set == j) & (r.system != NONE)], r.fires("release")),
    Rule("clean_up releases the systems", r.fires("release"), [r.system == s], s.fires("release")),
]
