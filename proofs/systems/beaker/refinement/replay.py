"""Replays a run of Beaker's repaired model on the reference scheduler."""

from __future__ import annotations

from collections.abc import Callable

from schedproof.impl.systems.beaker import BeakerStore, MemoryStore
from schedproof.model.semantics.run import Run
from schedproof.model.systems.beaker import REPAIRED
from schedproof.model.systems.beaker.configurations import CONFIGURATIONS, Configuration
from schedproof.proofs.refinement.mismatch import Mismatch
from schedproof.proofs.refinement.replay import CONFIGURATION_UNKNOWN, along, check_variant, follow

from .abstraction import Abstraction, without_bygones
from .check import instance_of
from .explore import Exploration
from .operations import Names, operations
from .runner import Runner, Sides, SidesFactory


def replay(
    run: Run,
    sides: SidesFactory = Sides,
    *,
    store: Callable[[], BeakerStore] = MemoryStore,
    configuration: Configuration | None = None,
) -> Mismatch | None:
    """Returns the first difference between the scheduler and the model along a run, or None.

    Args:
        run: a run of the repaired model.
        sides: returns the implementation; called as :class:`.runner.Sides` is.
        store: returns the store that it uses.
        configuration: that of the run; by default it is searched among those that are explored.

    Raises:
        ValueError: ``run`` is not a run of the repaired model in one of these configurations.
    """
    check_variant(run, REPAIRED)
    known = CONFIGURATIONS if configuration is None else [configuration]
    chosen = next((each for each in known if each.rigid(with_seatings=True) == run.instance.rigid), None)
    if chosen is None:
        raise ValueError(CONFIGURATION_UNKNOWN)
    names, instance = Names(chosen), instance_of(chosen)
    normal = without_bygones(instance)
    runner = Runner(sides, store(), names.fill)
    model = along(Run(instance, run.choices, run.states), normal)
    exploration = Exploration(runner, operations(names), Abstraction(instance), model)
    return follow(exploration, [(c, normal(s)) for c, s in zip(run.choices, run.states[1:], strict=True)])


REPLAYS = {"repaired": replay}
"""The replay function of the variant whose steps the reference scheduler takes."""
