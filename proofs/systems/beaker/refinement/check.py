"""Checks that Beaker's scheduler and its model have the same graph."""

from __future__ import annotations

from collections.abc import Callable

from schedproof.impl.systems.beaker import BeakerStore, MemoryStore
from schedproof.model.semantics import Instance
from schedproof.model.systems.beaker import REPAIRED
from schedproof.model.systems.beaker.configurations import Configuration
from schedproof.proofs.refinement.modelside import ModelGraph
from schedproof.proofs.refinement.property import Progress
from schedproof.proofs.refinement.report import RefinementReport, compared

from .abstraction import Abstraction, without_bygones
from .explore import Exploration
from .operations import Names, operations
from .runner import Runner, Sides, SidesFactory


def check_refinement(
    configuration: Configuration,
    sides: SidesFactory = Sides,
    *,
    store: Callable[[], BeakerStore] = MemoryStore,
    progress: Progress | None = None,
) -> RefinementReport:
    """Explores the scheduler and the model's ``repaired`` variant and compares the two graphs.

    The edges of the implementation must be exactly the model's reachable steps. From every state of the implementation,
    every step of its image must be possible. Model states that differ only in values that no step reads count as one
    (see :func:`.abstraction.without_bygones`).

    Args:
        configuration: recipe sets, systems, and the objects that users may change.
        sides: returns the implementation to explore; called as :class:`.runner.Sides` is.
        store: returns the store that it uses.
        progress: is called now and then with the numbers of explored states and edges.
    """
    return compared(lambda: side_by_side(configuration, sides, store=store, progress=progress), configuration.about)


def side_by_side(
    configuration: Configuration,
    sides: SidesFactory = Sides,
    *,
    store: Callable[[], BeakerStore] = MemoryStore,
    progress: Progress | None = None,
) -> Exploration:
    """Returns the exploration of :func:`check_refinement`, before it begins. The arguments are the same."""
    names = Names(configuration)
    runner = Runner(sides, store(), names.fill)
    instance = instance_of(configuration)
    model = ModelGraph.explore(instance, without_bygones(instance))
    return Exploration(runner, operations(names), Abstraction(instance), model, progress)


def instance_of(configuration: Configuration) -> Instance:
    """Returns the repaired model in a configuration, with all its seatings."""
    rigid = configuration.rigid(with_seatings=True)
    seatings = {sort: len(rigid[sort, name]) for sort, name in (("Seating", "recipe_set"), ("Seat", "seating"))}
    return Instance(REPAIRED, {**configuration.sizes, **seatings}, rigid)
