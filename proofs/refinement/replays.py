"""Which implementations a run can be replayed on.

The generated machines take every run of every variant. A reference scheduler takes the runs of the variant that it implements,
where its model's steps are its own; the system's manifest says which (``replays``). An implementation that refines its model in one
direction goes about things in an order of its own, so a run that the model chose need not be one that it can be made to take.
"""

from __future__ import annotations

from schedproof.model.lang import Model
from schedproof.model.registry.system import System

from .replay import Replay, on_machines


def replays_of(system: System, model: Model) -> dict[str, Replay]:
    """The implementations that take a model's runs, each with how it is called."""
    found: dict[str, Replay] = {"the generated machines": on_machines}
    if (scheduler := system.replays.get(model.variant)) is not None:
        found["the reference scheduler"] = scheduler
    return found
