"""The model of Beaker's event-driven proposal against the brute-force scheduler: the same states and the same steps.

Both were written from the text.  Here every reachable state of small instances is translated and the two graphs are
compared edge by edge; so a guard, an update or a rule that one of them has otherwise is seen.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from schedproof.model.lang import Model
from schedproof.model.semantics import Choice, Instance, State
from schedproof.model.systems.beaker.configurations import Configuration
from schedproof.model.systems.beaker.variants import AS_WRITTEN, INTERLEAVED, REPAIRED
from schedproof.proofs.exploration.explore import explore
from tests.support.sample import thinned
from tests.systems.beaker.brute_force import scheduler as by_hand
from tests.systems.beaker.brute_force.steps import graph

RECIPE_STATES = [
    "new", "queued", "assigned", "scheduled", "waiting", "installing", "running", "completed", "cancelled", "aborted",
]  # fmt: skip
"""In the order in which the brute-force `scheduler` numbers them."""
USAGES = {"idle": 0, "pending": 1, "scheduled": 3, "waiting": 4, "installing": 5, "running": 6}
CONDITIONS = ["Automated", "Manual", "Broken"]
PLACES = ["at_rest", "in_hand", "searched"]

OTHER_NAMES = {
    "reprioritize": "change_priority",
    "automate": "make_automated",
    "break_down": "make_broken",
    "install_reserved": "provision",
    "run_reserved": "provisioned",
    "give_back": "return",
}

VARIANTS = [(AS_WRITTEN, by_hand.AS_WRITTEN), (INTERLEAVED, by_hand.INTERLEAVED), (REPAIRED, by_hand.REPAIRED)]

CONFIGURATIONS = [
    Configuration("people do what they can", [["A"]], [0], [0], [0], [0]),
    Configuration("two single recipes", [["A"], ["AB"]], [0, 0], [0], [1]),
    Configuration("a set that can block itself", [["AB", "A"]], [0, 0], [0]),
    Configuration("a host with its guest", [["A", 0, "B"]], [0, 0], [0]),
    Configuration("two labs, of which one can serve", [["AC", "AB"]], [0, 0, 1]),
    Configuration("a condition changes", [["A", "B"]], [0, 0], [0], [], [0]),
    Configuration("a condition changes, with a guest", [["A", 0]], [0], [], [], [0]),
    Configuration("a condition changes in one of two labs", [["AC", "BC"]], [0, 0, 1], [], [], [0]),
    Configuration("two sets of two", [["A", "B"], ["A", "B"]], [0, 0]),
    Configuration("one of three systems changes", [["AB", "AC"]], [0, 0, 0], [], [], [2]),
    Configuration("priorities of a set and a recipe", [["A", "B"], ["AB"]], [0, 0], [], [0, 1]),
]

LARGER = [
    Configuration("a set gives back while another waits", [["A", "B"], ["B"]], [0, 0], [], [], [1]),
    Configuration("a set of three of which one is cancelled", [["AB", "AC", "A"]], [0, 0, 1], [0]),
    Configuration("two sets of two, one can be cancelled", [["A", "B"], ["A"]], [0, 0], [0]),
    Configuration("a set is seated in either of two labs", [["AC", "BC", 0]], [0, 1, 0], [], [0], [0]),
]

Edge = tuple[by_hand.State, tuple[str | int, ...], by_hand.State]


def brute_force_instance(configuration: Configuration) -> by_hand.Instance:
    """The configuration as an instance of the brute-force scheduler, everything permitted to whom people may touch."""
    guests: dict[int, int] = {}
    masks: list[list[int]] = []
    first = 0
    for recipes in configuration.sets:
        of = [0 if isinstance(r, int) else sum(1 << ord(c) - ord("A") for c in r) for r in recipes]
        guests |= {first + n: first + host for n, host in enumerate(recipes) if isinstance(host, int)}
        masks.append(of)
        first += len(recipes)
    return by_hand.instance(
        masks,
        list(configuration.labs),
        guests=guests,
        moves={"cancel", "abort", "cancel_set", "abort_set", "priority", "condition", "reserve", "crash"},
        endable=list(configuration.endable),
        rankable=list(configuration.rankable),
        adjustable=list(configuration.adjustable),
    )


def translate(instance: Instance, state: State) -> by_hand.State:
    """A model's state in the brute-force scheduler's terms."""

    def values(sort: str, attribute: str = "") -> tuple[int, ...]:
        start = instance.slot(sort, attribute)
        return state[start : start + instance.sizes[sort]]

    def renumbered(sort: str, names: list[str] | dict[str, int]) -> tuple[int, ...]:
        state_names = [s.name for s in instance.model.machine(sort).states]
        number = names if isinstance(names, dict) else {name: n for n, name in enumerate(names)}
        return tuple(number[state_names[v]] for v in values(sort))

    lab = values("RecipeSet", "lab")
    order: tuple[int, ...] = ()
    if any(a.name == "behind" for a in instance.attributes("RecipeSet")):
        behind = values("RecipeSet", "behind")
        placed = [j for j, of in enumerate(lab) if of != by_hand.NONE]
        # what is remembered of sets without a place no longer counts
        order = tuple(sorted(placed, key=lambda j: sum(behind[j] >> k & 1 for k in placed)))
    return by_hand.State(
        renumbered("Recipe", RECIPE_STATES),
        values("Recipe", "system"),
        renumbered("System", USAGES),
        values("System", "condition"),
        lab,
        values("RecipeSet", "priority"),
        renumbered("RecipeSet", PLACES),
        order,
        seats(instance, state),
    )


def seats(instance: Instance, state: State) -> tuple[int, ...]:
    """Per recipe its system in the seating of its set, where the variant has seatings."""
    systems = [by_hand.NONE] * instance.sizes["Recipe"]
    if any(a.name == "seating" for a in instance.attributes("RecipeSet")):
        start = instance.slot("RecipeSet", "seating")
        for seating in state[start : start + instance.sizes["RecipeSet"]]:
            for r, s in in_the_seating(instance, seating).items():
                systems[r] = s
    return tuple(systems)


def in_the_seating(instance: Instance, seating: int) -> dict[int, int]:
    """The system of each recipe that the seating has one for."""
    of, recipe, system = (instance.rigid["Seat", name] for name in ("seating", "recipe", "system"))
    return {
        r: s
        for p, r, s in zip(of, recipe, system, strict=True)
        if p == seating and isinstance(r, int) and isinstance(s, int)
    }


def label(choice: Choice) -> tuple[str | int, ...]:
    """A step in the brute-force scheduler's terms (but for ``seat``, which names a seating)."""
    numbers = [number for name, number in choice.parameters if name != "n"]
    return OTHER_NAMES.get(choice.action, choice.action), *numbers


def with_its_seats(instance: Instance, choice: Choice) -> tuple[str | int, ...]:
    """The step; a seating stands as the system that it has for each recipe of its set."""
    if choice.action != "seat":
        return label(choice)
    of, seating = (number for _, number in choice.parameters)
    at = in_the_seating(instance, seating)
    members = [r for r, its in enumerate(instance.rigid["Recipe", "recipe_set"]) if its == of]
    return "seat", of, *[at.get(r, by_hand.NONE) for r in members]


def edges_of_the_model(model: Model, configuration: Configuration) -> set[Edge]:
    rigid = configuration.rigid(with_seatings=model is REPAIRED)
    sizes = dict(configuration.sizes)
    for sort, attribute in (("Seating", "recipe_set"), ("Seat", "seating")):
        if (sort, attribute) in rigid:
            sizes[sort] = len(rigid[sort, attribute])
    instance = Instance(model, sizes, rigid)
    exploration = explore(instance, symmetry=False)
    assert exploration.complete
    assert exploration.ill_formed is None
    states = [translate(instance, state) for state in exploration.states]
    return {
        (states[n], with_its_seats(instance, e.choice), states[e.target])
        for n, out in enumerate(exploration.edges)
        for e in out
        if e.choice.action != "crash" or n != e.target  # the model has the crash that changes nothing too
    }


def edges_by_hand(inst: by_hand.Instance, variant: by_hand.Variant) -> Iterator[Edge]:
    explored = graph(inst, variant)
    for state, *both in zip(explored.states, explored.scheduler, explored.people, strict=True):
        for out in both:
            for name, after in out:
                yield state, name, explored.states[after]


def agree(model: Model, variant: by_hand.Variant, configuration: Configuration) -> None:
    model_edges, brute_force_edges = (
        edges_of_the_model(model, configuration),
        set(edges_by_hand(brute_force_instance(configuration), variant)),
    )
    assert min(model_edges - brute_force_edges, default=None) is None
    assert min(brute_force_edges - model_edges, default=None) is None


@pytest.mark.parametrize(("model", "variant"), VARIANTS, ids=[model.variant for model, _ in VARIANTS])
@pytest.mark.parametrize("configuration", thinned(CONFIGURATIONS, 4), ids=[s.about for s in CONFIGURATIONS])
def test_the_same_steps(model: Model, variant: by_hand.Variant, configuration: Configuration) -> None:
    agree(model, variant, configuration)


@pytest.mark.long(one_in=32)
@pytest.mark.parametrize(("model", "variant"), VARIANTS, ids=[model.variant for model, _ in VARIANTS])
@pytest.mark.parametrize("configuration", LARGER, ids=[s.about for s in LARGER])
def test_the_same_steps_in_larger_configurations(
    model: Model, variant: by_hand.Variant, configuration: Configuration
) -> None:
    agree(model, variant, configuration)


@pytest.mark.parametrize(
    ("rule", "configuration"),
    thinned(
        [
            (by_hand.SEATS, "a set that can block itself"),
            (by_hand.COUNTS, "a condition changes"),
            (by_hand.RESEAT, "one of three systems changes"),
            (by_hand.FINISHED, "a set that can block itself"),
            (by_hand.WAKE, "two sets of two"),
            (by_hand.GIVE_BACK, "a condition changes"),
            (by_hand.RESERVED, "a condition changes"),
            (by_hand.QUEUE, "priorities of a set and a recipe"),
        ],
        6,
    ),
)
def test_a_missing_rule_is_seen(rule: str, configuration: str) -> None:
    chosen = next(s for s in CONFIGURATIONS if s.about == configuration)
    model_edges = edges_of_the_model(REPAIRED, chosen)
    assert model_edges != set(edges_by_hand(brute_force_instance(chosen), by_hand.REPAIRED.without(rule)))
