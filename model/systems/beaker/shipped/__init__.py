"""The machine that Beaker shipped: statuses of recipes, scheduler statuses of systems, reservations.

The proposal was never built; this machine ran instead. It follows the facts about Beaker as implemented, not the
document. So no element cites a line: a comment or the ``sentence`` names the section of the facts. Its statuses are not
monotone: a recipe goes from installing, and from running, back to waiting.

The model leaves out which of several systems or recipes the scheduler prefers (priorities, labs, loans, distro trees):
it may choose any. So the variant has safety properties only: which status follows which, which recipe or user holds a
system, and when it is given back. Each action is one transaction of beakerd or of the web server, which change the same
rows concurrently.
"""

from collections.abc import Iterator, Mapping

from schedproof.model.lang import Model, Rigid

from .events import ACTIONS, RULES
from .machines import AXIOMS, FACTS, MACHINES, RECIPE_TABLE, SYSTEM_TABLE
from .properties import PROPERTIES

__all__ = ["SHIPPED"]


def patterns(sizes: Mapping[str, int]) -> Iterator[Rigid]:
    """Yields the three configurations that explorations use.

    1. Every recipe is alone in its set, as far as there are sets.
    2. All recipes are in one set, and the first of several systems is a candidate of the first recipe only.
    3. All recipes are in one set, and the last is a guest of the first.

    Every system is a candidate of every host, except in 2.
    """
    sets, recipes, systems = sizes["RecipeSet"], sizes["Recipe"], frozenset(range(sizes["System"]))
    of_set, host, candidates = (("Recipe", name) for name in ("recipe_set", "host", "candidates"))
    alone = [min(i, sets - 1) for i in range(recipes)]
    together = [0] * recipes
    nobody: list[int | None] = [None] * recipes
    yield {of_set: alone, host: nobody, candidates: [systems] * recipes}
    if recipes > 1:
        yield {of_set: together, host: nobody, candidates: [systems, *[systems - {0} or systems] * (recipes - 1)]}
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
    configurations=patterns,
    default_scope={"RecipeSet": 2, "Recipe": 2, "System": 1},
    verify_scope={"System": 2},
    refuted=frozenset({"only-automated-systems", "no-finished-recipe-blocks-its-set"}),
)
