"""The batch scheduler that the abstract describes (lines 14 to 27, 99 to 118).

"Repeatedly looping over the full set of submitted recipes, advancing them through the possible states in groups": a
pass has four phases.

1. It moves recipes from ``new`` to ``processed``.
2. It moves recipes from ``processed`` to ``queued``.
3. It gives systems to the recipes that are queued at that moment, by priority.
4. It begins the sets all of whose recipes are scheduled.

Jobs, cancellations and freed systems come at any time. The model leaves out labs, conditions and guests, which the
abstract does not mention. The abstract also leaves open when a set begins. Our interpretation: it "needs systems A and
B" (line 25) all at once.
"""

from collections.abc import Iterator, Mapping

from schedproof.model.lang import NONE, Model, Rigid, forall
from schedproof.model.systems.beaker.configurations import BATCH_CONFIGURATIONS
from schedproof.model.systems.beaker.machines import DOCUMENT, r

from .events import ACTIONS, RULES
from .machines import RECIPE, RECIPE_SET, SCHEDULER, SYSTEM, TABLE
from .passes import PASSES
from .properties import PROPERTIES

__all__ = ["BATCH"]


def one_scheduler(sizes: Mapping[str, int]) -> Iterator[Rigid]:
    """Yields the configurations, each with one scheduler, without the labs, hosts and conditions that this model lacks."""
    for configuration in BATCH_CONFIGURATIONS:
        if all(n <= sizes[sort] for sort, n in configuration.sizes.items() if sort in sizes):
            rigid = configuration.rigid()
            kept = ("recipe_set", "viable", "endable", "rankable")
            yield {key: values for key, values in rigid.items() if key[1] in kept and key[0] != "System"}


BATCH = Model(
    system="beaker",
    variant="batch",
    about="the scheduler that the abstract describes: passes over all recipes, state by state",
    document=DOCUMENT,
    machines=[SCHEDULER, RECIPE_SET, RECIPE, SYSTEM],
    rows=TABLE,
    actions=ACTIONS,
    rules=RULES,
    properties=[*PROPERTIES, *PASSES],
    axioms=[forall(r, r.recipe_set != NONE)],
    configurations=one_scheduler,
    default_scope={"Scheduler": 1, "RecipeSet": 3, "Recipe": 4, "System": 2},
    refuted=frozenset({"no-queue-jumping", "no-deadlock", "no-abba", "no-set-blocks-itself"}),
)
