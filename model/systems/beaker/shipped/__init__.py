"""The machine that Beaker shipped: statuses of recipes, scheduler statuses of systems, reservations.

The proposal was never built; this is what ran instead. It is read from the facts about Beaker as
implemented, not from the document, so no element cites a line: each says the section of the facts in
a comment or in its ``sentence``. Its statuses are not monotone: a recipe goes from installing, and
from running, back to waiting.

Which of several systems or recipes the scheduler prefers (priorities, labs, loans, distro trees) is left
out: everywhere it may choose any. So this variant properties safety only: which status follows which, who
holds which system, and when it is given back. Each action is one transaction of beakerd or of the
web server, which change the same rows concurrently.
"""

from collections.abc import Iterator, Mapping

from schedproof.model.lang import Model, Rigid

from .events import ACTIONS, RULES
from .machines import AXIOMS, FACTS, MACHINES, RECIPE_TABLE, SYSTEM_TABLE
from .properties import PROPERTIES

__all__ = ["SHIPPED"]


def patterns(sizes: Mapping[str, int]) -> Iterator[Rigid]:
    """What explorations choose: every recipe alone in its set (as far as there are sets), then all recipes
    in one set, then the last recipe a guest of the first.

    Every system is a candidate of every host, but in the second pattern the first of several is of the first recipe only.
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
    refuted=frozenset({"only-automated-systems"}),
)
