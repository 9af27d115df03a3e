"""The model of the batch scheduler against the hand-written passes: the same states and the same steps."""

from __future__ import annotations

import pytest

from schedproof.model.semantics import Choice, Instance, State
from schedproof.model.systems.beaker.batch import BATCH
from schedproof.model.systems.beaker.batch.machines import PHASES
from schedproof.model.systems.beaker.configurations import BATCH_CONFIGURATIONS, Configuration
from schedproof.proofs.exploration.explore import explore
from tests.support.sample import thinned
from tests.systems.beaker.brute_force import batch as passes
from tests.systems.beaker.brute_force import scheduler as by_hand
from tests.systems.beaker.model.test_brute_force import brute_force_instance

RECIPE_STATES = {
    "new": by_hand.NEW,
    "processed": passes.PROCESSED,
    "queued": by_hand.QUEUED,
    "scheduled": by_hand.SCHEDULED,
    "waiting": by_hand.WAITING,
    "running": by_hand.RUNNING,
    "completed": by_hand.COMPLETED,
    "cancelled": by_hand.CANCELLED,
    "aborted": by_hand.ABORTED,
}
OTHER_NAMES = {
    "submit": "arrive",
    "schedule": "take",
    "provision": "start",
    "reprioritize": "change_priority",
    **dict.fromkeys(("end_processing", "end_queueing", "end_scheduling", "end_provisioning"), "next_phase"),
}
CONFIGURATIONS = [
    *BATCH_CONFIGURATIONS,
    Configuration(
        "a set of two and a single recipe; people do what they can", [["A", "B"], ["B"]], [0, 0], [0], [0, 1]
    ),
    Configuration("a set of two has a choice", [["AB", "B"], ["A"]], [0, 0], [], [1]),
]

Edge = tuple[passes.Batch, tuple[str | int, ...], passes.Batch]


def translate(instance: Instance, state: State) -> passes.Batch:
    """A model's state in terms of the passes: a recipe is absent until its set is submitted."""

    def values(sort: str, attribute: str = "") -> tuple[int, ...]:
        start = instance.slot(sort, attribute)
        return state[start : start + instance.sizes[sort]]

    def names(sort: str) -> list[str]:
        states = [s.name for s in instance.model.machine(sort).states]
        return [states[v] for v in values(sort)]

    set_of = [int(of) for of in instance.rigid["Recipe", "recipe_set"] if isinstance(of, int)]
    arrived = [name == "submitted" for name in names("RecipeSet")]
    recipe = tuple(
        RECIPE_STATES[name] if arrived[of] else passes.ABSENT for name, of in zip(names("Recipe"), set_of, strict=True)
    )
    at = values("Recipe", "system")
    assert [name == "taken" for name in names("System")] == [s in at for s in range(instance.sizes["System"])]
    [phase], [ahead] = names("Scheduler"), values("Scheduler", "ahead")
    # what ends during the pass is not looked at any more
    queued = frozenset(r for r, now in enumerate(recipe) if now == by_hand.QUEUED and ahead >> r & 1)
    return passes.Batch(PHASES.index(phase), recipe, at, queued, values("RecipeSet", "priority"))


def label(choice: Choice) -> tuple[str | int, ...]:
    numbers = [number for name, number in choice.parameters if name not in ("b", "n")]
    return OTHER_NAMES.get(choice.action, choice.action), *numbers


def edges_of_the_model(configuration: Configuration) -> set[Edge]:
    kept = ("recipe_set", "viable", "endable", "rankable")
    rigid = {key: v for key, v in configuration.rigid().items() if key[1] in kept and key[0] != "System"}
    instance = Instance(BATCH, {**configuration.sizes, "Scheduler": 1}, rigid)
    exploration = explore(instance, symmetry=False)
    assert exploration.complete
    assert exploration.ill_formed is None
    states = [translate(instance, state) for state in exploration.states]
    return {
        (states[n], label(e.choice), states[e.target])
        for n, out in enumerate(exploration.edges)
        for e in out
        if e.choice.action != "crash" or n != e.target  # the model has the crash that changes nothing too
    }


def edges_by_hand(inst: by_hand.Instance) -> set[Edge]:
    explored = passes.batch_graph(inst)
    return {
        (state, name, explored.states[after])
        for state, *both in zip(explored.states, explored.scheduler, explored.people, strict=True)
        for out in both
        for name, after in out
    }


@pytest.mark.parametrize("configuration", thinned(CONFIGURATIONS, 3), ids=[s.about for s in CONFIGURATIONS])
def test_the_same_steps(configuration: Configuration) -> None:
    model_edges, brute_force_edges = (
        edges_of_the_model(configuration),
        edges_by_hand(brute_force_instance(configuration)),
    )
    assert min(model_edges - brute_force_edges, key=str, default=None) is None
    assert min(brute_force_edges - model_edges, key=str, default=None) is None


@pytest.mark.parametrize(("missing", "number"), [("cancel", 0), ("abort", 0), ("crash", 1), ("priority", 2)])
def test_a_missing_step_is_seen(missing: str, number: int) -> None:
    inst = brute_force_instance(CONFIGURATIONS[number])
    short = edges_by_hand(inst._replace(moves=inst.moves - {missing}))
    assert edges_of_the_model(CONFIGURATIONS[number]) - short
