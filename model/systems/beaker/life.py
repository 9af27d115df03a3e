"""Life cycles of recipes and of systems that must stay possible."""

from schedproof.model.lang import LifeCycle

from .machines import Recipe, System

FULL = "With the current scheduler, all successfully completed recipes pass through the full sequence of states from ``new`` to ``completed``."

LIVES = [
    LifeCycle(
        name="life-scheduled-at-once",
        says="a new recipe finds an idle system and runs to its end",
        line=137,
        sentence="a recipe will be moved directly from ``new`` to ``scheduled`` if a viable system is found in the idle pool.",
        sort=Recipe,
        states=["new", "scheduled", "waiting", "installing", "running", "completed"],
    ),
    LifeCycle(
        name="life-queued",
        says="a recipe is queued, then given a system, and runs to its end",
        line=206,
        sentence="if the system remains ``pending``, all currently ``queued`` recipes are searched for a suitable recipe. If one is found, both the system and the recipe will be moved to ``scheduled``.",
        sort=Recipe,
        states=["new", "queued", "scheduled", "waiting", "installing", "running", "completed"],
    ),
    LifeCycle(
        name="life-assigned",
        says="a recipe is queued, assigned with its set, given a system, and runs to its end",
        line=208,
        sentence="All other recipes in the same recipe set will be moved to ``assigned``.",
        sort=Recipe,
        states=["new", "queued", "assigned", "scheduled", "waiting", "installing", "running", "completed"],
    ),
    *[
        LifeCycle(
            name=f"life-{end}",
            says=f"a running recipe is {end}",
            line=116,
            sentence="A recipe may jump from any state other than ``completed`` directly to ``cancelled`` or ``aborted``.",
            sort=Recipe,
            states=["new", "scheduled", "waiting", "installing", "running", end],
        )
        for end in ("cancelled", "aborted")
    ],
    LifeCycle(
        name="life-of-a-system",
        says="a system becomes idle, runs a recipe, and is idle again",
        line=163,
        sentence="The proposed set of states for the new usage state machine are as follows:: idle scheduled waiting installing running pending",
        sort=System,
        states=["pending", "idle", "scheduled", "waiting", "installing", "running", "pending", "idle"],
    ),
    LifeCycle(
        name="life-of-a-reserved-system",
        says="a Manual system is reserved, provisioned, used and given back",
        line=174,
        sentence="When the system condition is Manual, systems will be ``running`` when reserved by a user, ``waiting`` and then ``installing`` when being provisioned in response to a reservation request, but otherwise ``idle``.",
        sort=System,
        states=["pending", "idle", "waiting", "installing", "running", "idle"],
    ),
]
