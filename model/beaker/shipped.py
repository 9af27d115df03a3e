"""The machine that Beaker shipped: statuses of recipes, scheduler statuses of systems, reservations.

The proposal was never built; this is what ran instead. It is read from the facts about Beaker as
implemented, not from the document, so no element cites a line: each says the section of the facts in
a comment or in its ``sentence``. Its statuses are not monotone: a recipe goes from installing, and
from running, back to waiting.

Which of several systems or recipes the scheduler prefers (priorities, labs, loans, distro trees) is left
out: everywhere it may choose any. So this variant promises safety only: which status follows which, who
holds which system, and when it is given back. Each action is one transaction of beakerd or of the
web server, which change the same rows concurrently.
"""

from collections.abc import Iterator, Mapping

from ..lang import (
    NONE,
    Action,
    AlwaysCanReach,
    Attribute,
    Document,
    EnumType,
    Event,
    Invariant,
    LifeCycle,
    Machine,
    Model,
    Ref,
    Rigid,
    Row,
    Rule,
    SetOf,
    Sort,
    State,
    StepInvariant,
    after,
    exists,
    forall,
    given,
    iff,
    implies,
    variable,
    variables,
)
from ..lang.terms import both

FACTS = Document("beaker.md", "Beaker as implemented")

RecipeSet = Sort("RecipeSet", "j")
Recipe = Sort("Recipe", "r")
System = Sort("System", "s")

j = variable(RecipeSet, "j")
r, q, g = variables(Recipe, "r q g")
s = variable(System, "s")

QUEUED_GROUP = ("new", "processed", "queued", "scheduled")  # 1.1
STARTED = ("waiting", "installing", "running")
EXECUTING = (*STARTED, "reserved")
UNFINISHED = (*QUEUED_GROUP, *EXECUTING)
FINISHED = ("completed", "cancelled", "aborted")
STATUSES = (*UNFINISHED, *FINISHED)
USAGES = ("idle", "pending", "reserved")  # 1.4

SEVERITY = ("running", "installing", "waiting", *QUEUED_GROUP, "reserved", "aborted", "cancelled", "completed")
"""Section 1.1: the status of a set is that of its recipes which comes first here."""

RECIPE_SET = Machine(RecipeSet)  # its status is derived from its recipes

RECIPE = Machine(
    Recipe,
    states=[State(name) for name in STATUSES],
    attributes=[
        Attribute("recipe_set", Ref(RecipeSet), rigid=True),
        # What the search for candidate systems finds (1.3); a guest has none, it runs on its host (1.6).
        Attribute("candidates", SetOf(System), rigid=True),
        Attribute("host", Ref(Recipe), rigid=True),
        # The system that it has reserved: also after its end, until the whole set is finished.
        Attribute("system", Ref(System), durable=True),
    ],
    events=[Event("schedule", {"system": Ref(System)})],
)

CONDITION = EnumType(("Automated", "Manual", "Broken"))  # a removed system counts as Broken

SYSTEM = Machine(
    System,
    states=[State(name) for name in USAGES],
    attributes=[Attribute("condition", CONDITION, durable=True)],
    events=[Event("withdraw", {"to": CONDITION})],
)

MACHINES = [RECIPE_SET, RECIPE, SYSTEM]

# 1.2, "actual recipe edges"
RECIPE_TABLE = [
    Row(Recipe, "process", "new", "processed"),
    Row(Recipe, "queue", "processed", "queued"),
    Row(Recipe, "schedule", "processed", "scheduled", system=given("system")),
    Row(Recipe, "schedule", "queued", "scheduled", system=given("system")),
    Row(Recipe, "provision", "scheduled", "waiting"),
    Row(Recipe, "install", "waiting", "installing"),
    Row(Recipe, "boot", "installing", "waiting"),
    Row(Recipe, "run", "waiting", "running"),
    Row(Recipe, "run", "installing", "running"),
    Row(Recipe, "pause", "running", "waiting"),
    *[Row(Recipe, "hold", now, "reserved") for now in STARTED],
    *[Row(Recipe, "complete", now, "completed") for now in EXECUTING],
    *[Row(Recipe, "cancel", now, "cancelled") for now in UNFINISHED],
    *[Row(Recipe, "abort", now, "aborted") for now in UNFINISHED],
    *[Row(Recipe, "release", now, now, system=NONE) for now in FINISHED],
]

# 1.4: a change of condition alone never frees a system or takes it out of pending
SYSTEM_TABLE = [
    Row(System, "flag", "idle", "pending"),
    Row(System, "reserve", "idle", "reserved"),
    Row(System, "reserve", "pending", "reserved"),
    Row(System, "release", "reserved", "pending"),
    Row(System, "rest", "pending", "idle"),
    Row(System, "automate", "idle", "pending", condition="Automated"),
    Row(System, "automate", "pending", "pending", condition="Automated"),
    Row(System, "automate", "reserved", "reserved", condition="Automated"),
    *[Row(System, "withdraw", now, now, condition=given("to")) for now in USAGES],
]

NO_GUEST = r.host == NONE
SIBLINGS_PROCESSED = ~exists(q, (q.recipe_set == r.recipe_set) & q.is_("new"))
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
    # The candidates were searched when the recipe was processed; whether they are still Automated is
    # not asked again.
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
    when=[s.is_("pending"), s.condition == "Automated", r.is_("queued"), NO_GUEST, r.candidates.has(s)],
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

# --- what a running recipe reports (1.2)


def reported(name: str, sources: tuple[str, ...], says: str) -> Action:
    """A status that follows from what the installation and the tasks of one recipe report."""
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

# --- what people do to systems (1.4)

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
    *(abort, abort_set, cancel_set, clean_up),
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

SAME_SET = r.recipe_set == q.recipe_set

PROPERTIES = [
    StepInvariant(
        name="never-queued-again",
        says="a recipe that has left new, processed, queued and scheduled never comes back to them",
        sentence="section 1.2: a status of the queued group is refused once the recipe has left the group",
        over=[r],
        given=~r.is_(*QUEUED_GROUP),
        then=after(~r.is_(*QUEUED_GROUP)),
    ),
    StepInvariant(
        name="finished-is-final",
        says="a completed, cancelled or aborted recipe stays what it is",
        sentence="section 1.2: no edge leaves a finished status",
        over=[r],
        then=both([implies(r.is_(end), after(r.is_(end))) for end in FINISHED]),
    ),
    Invariant(
        name="reserved-by-one",
        says="no two recipes hold one system",
        sentence="section 1.3: a system is reserved atomically, on the condition that nobody has it",
        over=[r, q, s],
        given=(r.system == s) & (r != q),
        then=q.system != s,
    ),
    Invariant(
        name="held-is-reserved",
        says="a system that a recipe holds is reserved",
        sentence="section 1.4: a reservation makes the scheduler status reserved, whatever it was",
        over=[r, s],
        given=r.system == s,
        then=s.is_("reserved"),
    ),
    StepInvariant(
        name="released-with-the-set",
        says="a recipe gives its system back only when all recipes of its set are finished",
        sentence="section 1.4: systems are released when the whole recipe set is finished, not per recipe",
        over=[r, q, s],
        given=(r.system == s) & after(r.system != s) & SAME_SET,
        then=q.is_(*FINISHED),
    ),
    StepInvariant(
        name="released-together",
        says="all systems of a set are given back in one step",
        sentence="section 1.4: systems are released when the whole recipe set is finished, not per recipe",
        over=[r, q, s],
        given=(r.system == s) & after(r.system != s) & SAME_SET,
        then=after(q.system == NONE),
    ),
    StepInvariant(
        name="released-to-pending",
        says="a reserved system becomes pending, never idle at once",
        sentence="section 1.4: reserved to pending always, whatever the condition",
        over=[s],
        given=s.is_("reserved"),
        then=after(s.is_("reserved", "pending")),
    ),
    Invariant(
        name="scheduled-has-a-system",
        says="every recipe from scheduled to reserved holds a system, unless it is a guest",
        sentence="section 1.3: a recipe is scheduled on a system in the transaction that reserves the system",
        over=[r],
        given=r.is_("scheduled", *EXECUTING) & NO_GUEST,
        then=r.system != NONE,
    ),
    Invariant(
        name="queued-has-none",
        says="a new, processed or queued recipe holds no system",
        sentence="section 1.3: a recipe is scheduled in the transaction that reserves the system",
        over=[r],
        given=r.is_("new", "processed", "queued"),
        then=r.system == NONE,
    ),
    Invariant(
        name="a-candidate-of-its-own",
        says="a recipe holds a system that is one of its candidates",
        sentence="section 1.3: a system is looked for among the candidates of the recipe",
        over=[r, s],
        given=r.system == s,
        then=r.candidates.has(s),
    ),
    StepInvariant(
        name="provisioned-together",
        says="a recipe begins to wait for its installation only together with all of its set",
        sentence="section 1.2: scheduled to waiting, all recipes of the set in one transaction",
        over=[r, q],
        given=r.is_("scheduled") & after(r.is_("waiting")) & SAME_SET,
        then=q.is_("scheduled") & after(q.is_("waiting")),
    ),
    Invariant(
        name="none-waits-when-one-runs",
        says="once a recipe of a set has been provisioned, none of the set is still to be scheduled",
        sentence="section 1.2: scheduled to waiting, all recipes of the set in one transaction",
        over=[r, q],
        given=r.is_(*EXECUTING) & SAME_SET,
        then=~q.is_(*QUEUED_GROUP),
    ),
    Invariant(
        name="processed-together",
        says="no recipe of a set is queued or scheduled while another is new",
        sentence="section 1.3: only sets whose recipes are all processed are queued",
        over=[r, q],
        given=r.is_("queued", "scheduled") & SAME_SET,
        then=~q.is_("new"),
    ),
    Invariant(
        name="guest-follows-host",
        says="until one of the two has started or ended, a guest has the status of its host",
        sentence="section 1.6: a guest follows its host through processed, queued and scheduled",
        over=[g, r],
        given=(g.host == r) & g.is_(*QUEUED_GROUP) & r.is_(*QUEUED_GROUP),
        then=both([iff(g.is_(status), r.is_(status)) for status in QUEUED_GROUP]),
    ),
    Invariant(
        name="guest-has-no-system",
        says="a guest holds no system: it runs on its host",
        sentence="section 1.6: a guest gets an address and no system",
        over=[g],
        given=g.host != NONE,
        then=g.system == NONE,
    ),
    StepInvariant(
        name="condition-frees-nothing",
        says="a system that becomes Manual or Broken keeps its scheduler status",
        sentence="section 1.4: setting Broken or Manual never changes the scheduler status",
        over=[s],
        given=(s.condition == "Automated") & after(s.condition != "Automated"),
        then=both([implies(s.is_(usage), after(s.is_(usage))) for usage in USAGES]),
    ),
    StepInvariant(
        name="pending-goes-to-automated",
        says="a recipe gets a pending system only if its condition is Automated",
        sentence="section 1.3: the candidates of the recipe are checked again, Automated included",
        over=[r, s],
        given=s.is_("pending") & (r.system != s) & after(r.system == s),
        then=s.condition == "Automated",
    ),
    StepInvariant(
        name="only-automated-systems",
        says="a recipe gets a system only if its condition is Automated",
        sentence="section 1.3: a candidate is Automated; when a processed recipe gets an idle one, this is not asked again",
        over=[r, s],
        given=(r.system != s) & after(r.system == s),
        then=s.condition == "Automated",
    ),
    LifeCycle(
        name="life-with-detours",
        says="a recipe can wait again after its installation and between its tasks, and keep its system reserved",
        sentence="section 1.2: installing to waiting, running to waiting, running to reserved",
        sort=Recipe,
        states=[
            *("new", "processed", "queued", "scheduled", "waiting", "installing", "waiting"),
            *("running", "waiting", "running", "reserved", "completed"),
        ],
    ),
    LifeCycle(
        name="life-without-a-queue",
        says="a recipe can be scheduled at once when it has been processed",
        sentence="section 1.2: processed to queued, scheduled or aborted",
        sort=Recipe,
        states=["new", "processed", "scheduled", "waiting", "running", "completed"],
    ),
    AlwaysCanReach(
        name="systems-come-back",
        says="a reserved system can always become idle again",
        sentence="section 1.4: reserved to pending, pending to idle",
        over=[s],
        given=s.is_("reserved"),
        goal=s.is_("idle"),
    ),
]

AXIOMS = [
    forall(r, r.recipe_set != NONE),
    forall([r, q], implies(q.host == r, NO_GUEST & SAME_SET)),
    forall([r, s], implies(r.host != NONE, ~r.candidates.has(s))),
]


def patterns(sizes: Mapping[str, int]) -> Iterator[Rigid]:
    """What explorations choose: every recipe alone in its set (as far as there are sets), then all recipes
    in one set, then the last recipe a guest of the first; every system a candidate of every host."""
    sets, recipes, systems = sizes["RecipeSet"], sizes["Recipe"], frozenset(range(sizes["System"]))
    of_set, host, candidates = (("Recipe", name) for name in ("recipe_set", "host", "candidates"))
    alone = [min(i, sets - 1) for i in range(recipes)]
    together = [0] * recipes
    nobody: list[int | None] = [None] * recipes
    yield {of_set: alone, host: nobody, candidates: [systems] * recipes}
    if recipes > 1:
        yield {of_set: together, host: nobody, candidates: [systems] * recipes}
        guest: list[int | None] = [*nobody[1:], 0]
        yield {of_set: together, host: guest, candidates: [*[systems] * (recipes - 1), frozenset()]}


SHIPPED = Model(
    system="beaker",
    variant="shipped",
    about="what Beaker was when the proposal had been put off: no assigned recipes, systems kept until the set ends",
    document=FACTS,
    machines=MACHINES,
    rows=[*RECIPE_TABLE, *SYSTEM_TABLE],
    actions=ACTIONS,
    rules=RULES,
    properties=PROPERTIES,
    axioms=AXIOMS,
    topologies=patterns,
    default_scope={"RecipeSet": 2, "Recipe": 2, "System": 1},  # two systems: the same verdicts, fifteen times as long
    refuted=frozenset({"only-automated-systems"}),
)
