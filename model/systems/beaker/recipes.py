"""Properties of recipes and their sets (lines 99 to 145, 203 to 241)."""

from schedproof.model.lang import NONE, Invariant, LeadsTo, StepInvariant, after, exists, forall, implies

from .machines import FINISHED, UNFINISHED, g, j, k, q, r, s, t

ALL_SCHEDULED = forall(r, implies(r.recipe_set == j, r.is_("scheduled")))
SIBLINGS = (r.recipe_set == q.recipe_set) & (r != q)

# Line 116 lets a recipe jump from any other state, also from one of these two to the other. Line 199 counts both among the ways in
# which execution finishes.
ENDED_IS_FINAL = StepInvariant(
    name="ended-is-final",
    says="a cancelled or aborted recipe stays what it is",
    line=199,
    over=[r],
    given=r.is_("cancelled", "aborted"),
    then=(r.is_("cancelled") & after(r.is_("cancelled"))) | (r.is_("aborted") & after(r.is_("aborted"))),
)

JUMP = "A recipe may jump from any state other than ``completed`` directly to ``cancelled`` or ``aborted``."
RETAINED = "The existing scheduling loop will be retained for its secondary role in monitoring database consistency and correcting any discrepancies (for example, by aborting recipes where the requested distro tree has been removed from all registered lab controllers)."

SETS = [
    StepInvariant(
        name="completed-is-final",
        says="a completed recipe is not cancelled or aborted any more",
        line=116,
        sentence=JUMP,
        over=[r],
        given=r.is_("completed"),
        then=after(r.is_("completed")),
    ),
    ENDED_IS_FINAL,
    *[
        StepInvariant(
            name=name,
            says=f"who asks for {what} to be {end} gets that",
            line=line,
            sentence=sentence,
            over=[q],
            on=[action],
            given=of,
            then=after(q.is_(end)),
        )
        for name, action, what, end, of, line, sentence in (
            ("cancelled-as-asked", "cancel", "a recipe", "cancelled", q == r, 116, JUMP),
            ("aborted-as-asked", "abort", "a recipe", "aborted", q == r, 116, JUMP),
            (
                "dead-recipes-are-aborted",
                "abort_dead",
                "a recipe without a viable system",
                "aborted",
                q == r,
                60,
                RETAINED,
            ),
            (
                "sets-are-cancelled-as-asked",
                "cancel_set",
                "a set",
                "cancelled",
                (q.recipe_set == j) & q.is_(*UNFINISHED),
                116,
                JUMP,
            ),
            (
                "sets-are-aborted-as-asked",
                "abort_set",
                "a set",
                "aborted",
                (q.recipe_set == j) & q.is_(*UNFINISHED),
                116,
                JUMP,
            ),
        )
    ],
    StepInvariant(
        name="only-dead-recipes-are-aborted",
        says="the retained loop aborts a recipe only if no viable system is Automated any more, and its guests with it",
        line=60,
        sentence=RETAINED,
        over=[q],
        on=["abort_dead"],
        given=~q.is_("aborted") & after(q.is_("aborted")) & (q.host == NONE),
        then=~exists(s, q.viable.has(s) & (s.condition == "Automated")),
    ),
    Invariant(
        name="assigned-has-a-lab-and-no-system",
        says="an assigned recipe has a lab, but no system yet",
        line=124,
        sentence="A new state ``assigned`` is added to indicate when a recipe has been assigned to a particular lab controller, but not yet scheduled on a specific system.",
        over=[r],
        given=r.is_("assigned"),
        then=(r.recipe_set.lab != NONE) & (r.system == NONE),
    ),
    Invariant(
        name="one-set-at-a-time",
        says="new job processing is at one recipe set at a time",
        line=135,
        sentence="all recipes in one recipe set will be processed before processing the next recipe set",
        over=[j, k],
        given=j.is_("in_hand", "searched") & (j != k),
        then=k.is_("at_rest"),
    ),
    StepInvariant(
        name="taken-up-by-the-new-job-loop",
        says="only the new job loop takes up a set, and only to process it",
        line=129,
        over=[j],
        given=j.is_("at_rest") & after(~j.is_("at_rest")),
        then=j.fires("take_up") & after(j.is_("in_hand")),
    ),
    Invariant(
        name="siblings-of-the-scheduled-are-assigned",
        says="when a recipe is scheduled, its siblings are neither new nor queued",
        line=138,
        sentence="In this case, all other recipes in the same recipe set as the scheduled recipe will be moved to ``assigned``.",
        over=[r, q],
        given=SIBLINGS & r.is_("scheduled"),
        then=~q.is_("new", "queued"),
    ),
    StepInvariant(
        name="siblings-are-assigned",
        says="when a new or queued recipe is scheduled, its new and queued siblings are assigned, other than its guests",
        line=138,
        sentence="In this case, all other recipes in the same recipe set as the scheduled recipe will be moved to ``assigned``.",
        over=[q],
        on=["find_idle", "give_to_queued"],
        given=SIBLINGS & (q.host != r) & q.is_("new", "queued"),
        then=after(q.is_("assigned")),
    ),
    StepInvariant(
        name="queued-with-its-set",
        says="a recipe is queued only when no recipe of its set is scheduled",
        line=144,
        sentence="if no recipes in a recipe set are scheduled, then every recipe in the recipe set will be moved to ``queued``.",
        over=[r, q],
        given=r.is_("new") & after(r.is_("queued")) & SIBLINGS,
        then=~q.is_("scheduled") & after(~q.is_("new", "assigned", "scheduled")),
    ),
    Invariant(
        name="one-lab-for-a-set",
        says="all systems of a set are in one lab",
        line=142,
        sentence="recipes in ``assigned`` will be moved to ``scheduled`` if a suitable idle system controlled by the appropriate lab controller is found.",
        over=[r, q, s, t],
        given=SIBLINGS & (r.system == s) & (q.system == t),
        then=s.lab == t.lab,
        follows_from=[
            "system-of-its-lab",
            "systems-of-begun-sets-are-in-one-lab",
            "begun-together",
            "a-system-while-in-use",
        ],
    ),
    Invariant(
        name="lab-can-serve-the-set",
        says="in the lab that a set is assigned to, each of its assigned recipes has a viable system",
        line=125,
        sentence="A new state ``assigned`` is added to indicate when a recipe has been assigned to a particular lab controller, but not yet scheduled on a specific system.",
        over=[r],
        given=r.is_("assigned") & (r.host == NONE),
        then=exists(s, r.viable.has(s) & (s.lab == r.recipe_set.lab)),
    ),
    StepInvariant(
        name="begins-complete",
        says="provisioning of a recipe begins only when all unfinished recipes of its set are scheduled, and with them",
        line=226,
        sentence="Whenever a recipe is moved to ``scheduled``, if all other recipes in that recipe set are also ``scheduled``, then provisioning of the allocated systems and execution of tasks in those recipes will begin.",
        over=[r, q],
        given=r.is_("scheduled") & after(r.is_("waiting")) & SIBLINGS & q.is_(*UNFINISHED),
        then=q.is_("scheduled") & after(q.is_("waiting")),
    ),
    LeadsTo(
        name="begins-when-all-are-scheduled",
        says="a set does not stay with all its recipes scheduled: it begins, or one of them ends",
        line=226,
        sentence="Whenever a recipe is moved to ``scheduled``, if all other recipes in that recipe set are also ``scheduled``, then provisioning of the allocated systems and execution of tasks in those recipes will begin.",
        over=[j],
        given=exists(r, r.recipe_set == j) & ALL_SCHEDULED,
        goal=~ALL_SCHEDULED,
        weak=["begin", "search_ends", "settle", "find_idle"],
    ),
    Invariant(
        name="guest-with-its-host",
        says="a guest is scheduled and set up with its host",
        line=230,
        sentence="As with the current scheduler, the bootloader configuration for guest recipes will be set up on the TFTP server at the same time as the configuration for the host recipe.",
        over=[g, r],
        given=(g.host == r) & r.is_("scheduled", "waiting"),
        then=(r.is_("scheduled") & g.is_("scheduled"))
        | (r.is_("waiting") & g.is_("waiting"))
        | g.is_("cancelled", "aborted"),
    ),
    Invariant(
        name="guest-ends-with-its-host",
        says="when a host has ended, its guests have",
        line=230,
        over=[g, r],
        given=(g.host == r) & r.is_(*FINISHED),
        then=g.is_(*FINISHED),
    ),
    StepInvariant(
        name="guests-are-aborted-with-their-host",
        says="the unfinished guests of a recipe that ends are aborted, however it ends",
        line=230,
        over=[g],
        on=["complete", "cancel", "abort", "abort_dead"],
        given=(g.host == r) & g.is_(*UNFINISHED),
        then=after(g.is_("aborted")),
    ),
    StepInvariant(
        name="installing-before-running",
        says="a recipe runs only after it has been installing, and installs only after it has been waiting",
        line=234,
        sentence="When running a recipe, a new transient state ``installing`` (between ``waiting`` and ``running``) will be used to explicitly track the time spent at the start of the recipe provisioning the system for use.",
        over=[r],
        given=after(r.is_("installing", "running")),
        then=(r.is_("waiting") & after(r.is_("installing")))
        | (r.is_("installing"))
        | (r.is_("running") & after(r.is_("running"))),
    ),
]
