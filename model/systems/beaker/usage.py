"""Properties of systems: idle, pending, and in step with their recipes (lines 76 to 199, 238 to 241)."""

from schedproof.model.lang import AlwaysCanReach, Invariant, StepInvariant, after, exists, iff, implies
from schedproof.model.lang.terms import both

from .events import ACTIONS
from .machines import EXECUTING, FINISHED, q, r, s

AUTOMATED = s.condition == "Automated"
ON_S = r.system == s
CONDITION_CHANGES = ("automate", "make_manual", "break_down")
BEFORE_RUNNING = ("scheduled", "waiting", "installing")
EXECUTION = tuple(zip(BEFORE_RUNNING, EXECUTING, strict=True))
"""The steps of execution, each from one state to the next."""
MANUAL_SYSTEMS = "When the system condition is Manual, systems will be ``running`` when reserved by a user, ``waiting`` and then ``installing`` when being provisioned in response to a reservation request, but otherwise ``idle``."

SETTINGS = [
    Invariant(
        name="idle-is-not-running",
        says="a system that runs a recipe is not idle",
        line=87,
        sentence="Systems currently running a recipe are never considered idle.",
        over=[r, s],
        given=ON_S & r.is_("running"),
        then=~s.is_("idle"),
    ),
    Invariant(
        name="idle-is-automated",
        says="an idle system is configured for automation",
        line=85,
        sentence='The phrase "idle system" refers to a system that is configured for automated use and is currently in the pool of systems available to handle new jobs.',
        over=[s],
        given=s.is_("idle"),
        then=AUTOMATED,
    ),
    Invariant(
        name="pending-is-automated",
        says="a pending system is configured for automation",
        line=93,
        sentence='The phrase "pending system" refers to a system that is configured for automation, but is currently neither running a recipe nor part of the idle pool.',
        over=[s],
        given=s.is_("pending"),
        then=AUTOMATED,
    ),
    Invariant(
        name="pending-runs-nothing",
        says="no recipe is on a pending system",
        line=94,
        sentence='The phrase "pending system" refers to a system that is configured for automation, but is currently neither running a recipe nor part of the idle pool.',
        over=[s, r],
        given=s.is_("pending"),
        then=~ON_S,
    ),
    Invariant(
        name="broken-is-idle",
        says="a Broken system is idle",
        line=172,
        sentence="When the system condition is Broken, systems will always be ``idle``.",
        over=[s],
        given=s.condition == "Broken",
        then=s.is_("idle"),
    ),
    Invariant(
        name="manual-is-its-users",
        says="a Manual system is idle, or waiting, installing or running for its user: no recipe is on it",
        line=174,
        sentence=MANUAL_SYSTEMS,
        over=[s, r],
        given=s.condition == "Manual",
        then=s.is_("idle", *EXECUTING) & ~ON_S,
    ),
    StepInvariant(
        name="idle-when-made-manual",
        says="a system whose condition becomes Manual is idle, as no user has reserved it yet",
        line=176,
        sentence=MANUAL_SYSTEMS,
        over=[s],
        given=(s.condition != "Manual") & after(s.condition == "Manual"),
        then=after(s.is_("idle")),
    ),
    StepInvariant(
        name="idle-when-given-back",
        says="a system that its user returns is idle",
        line=176,
        sentence=MANUAL_SYSTEMS,
        over=[],
        on=["give_back"],
        then=after(s.is_("idle")),
    ),
    *[
        StepInvariant(
            name=f"{condition.lower()}-as-asked",
            says=f"a system whose condition is changed to {condition} has that condition",
            line=line,
            over=[],
            on=[action],
            then=after(s.condition == condition),
        )
        for action, condition, line in (
            ("automate", "Automated", 196),
            ("make_manual", "Manual", 174),
            ("break_down", "Broken", 172),
        )
    ],
    StepInvariant(
        name="conditions-change-as-asked",
        says="the condition of a system changes only when a user asks for that, and never when a recipe moves or ends",
        line=196,
        over=[s],
        on=[action.name for action in ACTIONS if action.name not in CONDITION_CHANGES],
        then=both(
            [implies(s.condition == now, after(s.condition == now)) for now in ("Automated", "Manual", "Broken")]
        ),
    ),
    StepInvariant(
        name="reserved-until-given-back",
        says="a system that a user has reserved becomes pending only after the user returns it",
        line=174,
        sentence=MANUAL_SYSTEMS,
        over=[s],
        given=(s.condition == "Manual") & after(s.is_("pending")),
        then=s.is_("idle"),
    ),
    *[
        Invariant(
            name=f"{state}-with-its-recipe",
            says=f"an Automated system is {state} exactly when a recipe on it is {state}",
            line=line,
            sentence=f"When the system condition is Automated, systems will be: ... ``{state}`` when the associated recipe is ``{state}``",
            over=[s],
            given=AUTOMATED,
            then=iff(s.is_(state), exists(r, ON_S & r.is_(state))),
        )
        for state, line in (("running", 180), ("installing", 181), ("waiting", 182), ("scheduled", 183))
    ],
    Invariant(
        name="recipe-and-system-in-step",
        says="a recipe that has a system and its system are in the same state",
        line=239,
        sentence="As the recipe moves through ``waiting``, ``installing`` and ``running``, the associated system is moved through those same states.",
        over=[r, s],
        given=ON_S,
        then=(r.is_("scheduled") & s.is_("scheduled"))
        | (r.is_("waiting") & s.is_("waiting"))
        | (r.is_("installing") & s.is_("installing"))
        | (r.is_("running") & s.is_("running")),
    ),
    StepInvariant(
        name="systems-move-with-their-recipe",
        says="an Automated system that is in the state of its recipe goes on with it to waiting, installing or running",
        line=239,
        over=[r, s],
        given=AUTOMATED & ON_S & r.is_(*BEFORE_RUNNING),
        then=both([implies(r.is_(now) & s.is_(now) & after(r.is_(to)), after(s.is_(to))) for now, to in EXECUTION]),
    ),
    StepInvariant(
        name="systems-move-only-with-their-recipe",
        says="an Automated system goes on to waiting, installing or running only with a recipe on it",
        line=239,
        over=[s],
        given=AUTOMATED & s.is_(*BEFORE_RUNNING),
        then=both(
            [
                implies(s.is_(now) & after(s.is_(to)), exists(r, ON_S & r.is_(now) & after(r.is_(to))))
                for now, to in EXECUTION
            ]
        ),
    ),
    Invariant(
        name="one-recipe-per-system",
        says="a system is not given to two recipes",
        line=204,
        sentence="If one is found, both the system and the recipe will be moved to ``scheduled``.",
        over=[r, q, s],
        given=ON_S & (r != q),
        then=q.system != s,
    ),
    StepInvariant(
        name="handed-out-in-step",
        says="a system and the recipe that it is given to are scheduled, and belong together",
        line=204,
        over=[],
        on=["find_idle", "give_to_assigned", "give_to_queued"],
        then=after(r.is_("scheduled") & s.is_("scheduled") & ON_S),
    ),
    StepInvariant(
        name="handed-out-automated",
        says="only an Automated system that is idle or pending, and viable for the recipe, is given to it",
        line=80,
        sentence='For the purposes of this proposal, the phrase "viable system" refers to a system that is configured for automated use and meets the requirements needed to run a given recipe.',
        over=[r, s],
        given=after(ON_S) & ~ON_S,
        then=AUTOMATED & s.is_("idle", "pending") & r.viable.has(s),
    ),
    StepInvariant(
        name="pending-after-a-change-to-automated",
        says="a system whose condition becomes Automated is pending",
        line=196,
        sentence='Systems will be marked as ``pending`` (triggering a "Pending system" scheduling event) in the following cases: ... The condition of an existing system is changed to Automated',
        over=[s],
        given=~AUTOMATED & after(AUTOMATED),
        then=after(s.is_("pending")),
    ),
    StepInvariant(
        name="pending-after-a-recipe",
        says="an Automated system is pending when the recipe that executed on it has ended",
        line=197,
        sentence='Systems will be marked as ``pending`` (triggering a "Pending system" scheduling event) in the following cases: ... A system with its condition set to Automated finishes execution of a recipe (either because the final task completed successfully, or because the recipe was cancelled or aborted)',
        over=[r, s],
        given=r.is_(*EXECUTING) & after(r.is_(*FINISHED)) & ON_S & AUTOMATED & after(AUTOMATED),
        then=after(s.is_("pending")),
    ),
    AlwaysCanReach(
        name="pending-can-end",
        says="a pending system can be given away or become idle",
        line=210,
        sentence="if the system still remains ``pending``, it will be moved to ``idle``.",
        over=[s],
        given=s.is_("pending"),
        goal=~s.is_("pending"),
        without=[*CONDITION_CHANGES, "crash"],
    ),
]
